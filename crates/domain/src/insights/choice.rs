//! Which insights are told unasked: a few, those with most at stake.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use super::{Draft, Severity, Worded};

/// Open insights that are told at a time, at most.
pub const MOST_TOLD: usize = 7;

/// What an insight without an amount counts as, in parts of what a usual day leaves.
const fn parts_of_a_day(severity: Severity) -> Decimal {
    match severity {
        Severity::Critical => Decimal::ONE,
        Severity::High => Decimal::from_parts(5, 0, 0, false, 1),
        Severity::Medium => Decimal::from_parts(2, 0, 0, false, 1),
        Severity::Low => Decimal::from_parts(5, 0, 0, false, 2),
    }
}

/// Weighs the drafts and puts them in the order in which they are told: what comes first whatever is at stake, then by weight.
/// `usual_day` is what a day leaves.
pub(super) fn rank(drafts: &mut [Draft], usual_day: Decimal) {
    for draft in &mut *drafts {
        draft.weight = draft.stake.unwrap_or_else(|| parts_of_a_day(draft.severity) * usual_day);
    }
    drafts.sort_by_cached_key(|draft| {
        (
            !draft.comes_first,
            std::cmp::Reverse(draft.weight),
            std::cmp::Reverse(draft.severity),
            draft.fingerprint.clone(),
        )
    });
}

/// An insight that is to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    pub worded: Worded,
    /// Whether it is among the few that are told unasked.
    pub is_told: bool,
}

/// Of insights in their order those that are kept: not what a person wants to hear no more of for a while, and of what is
/// over only what was open. `open` says of each open one whether it was told.
pub fn choose(insights: Vec<Worded>, left_alone: &BTreeSet<String>, open: &BTreeMap<String, bool>) -> Vec<Chosen> {
    let mut free = MOST_TOLD;
    let kept = insights.into_iter().filter_map(|worded| {
        let Draft { fingerprint, is_over, earns_place, .. } = &worded.draft;
        if left_alone.contains(fingerprint) {
            return None;
        }
        let is_told = match (*is_over, open.get(fingerprint)) {
            (true, was_told) => *was_told?,
            (false, _) => *earns_place && free > 0,
        };
        if is_told && !*is_over {
            free -= 1;
        }
        Some(Chosen { worded, is_told })
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_decimal::dec;

    use super::*;
    use crate::{
        insights::{Category, Kind, Told, Value},
        texts::{Locale, Texts},
    };

    fn draft(name: &str, stake: Option<i64>) -> Draft {
        let draft = Draft::new(name, Severity::High, Category::Revenue, Told::new(Kind::Reorders));
        Draft { stake: stake.map(Decimal::from), ..draft }
    }

    fn worded(draft: Draft) -> Worded {
        let told =
            Told::new(Kind::Reorders).with("items", Value::Count(dec!(1))).with("due", Value::Code("unknown".into()));
        Worded::new(Draft { told, ..draft }, &Texts::of(Locale::ENGLISH), "USD".parse().unwrap())
    }

    #[test]
    fn what_has_no_amount_stands_among_the_others_by_its_severity() {
        let mut drafts =
            [draft("little", Some(400)), draft("shop", None), draft("much", Some(600)), draft("digest", Some(0))];
        drafts[3].comes_first = true;
        rank(&mut drafts, dec!(1000));
        let ranked: Vec<_> = drafts.iter().map(|draft| (draft.fingerprint.as_str(), draft.weight)).collect();
        let expected = [("digest", dec!(0)), ("much", dec!(600)), ("shop", dec!(500.0)), ("little", dec!(400))];
        assert_eq!(ranked, expected);
    }

    #[test]
    fn what_is_over_is_kept_where_it_was_open_and_takes_no_place() {
        let over = |name| worded(Draft { is_over: true, ..draft(name, Some(9)) });
        let mut insights = vec![over("known"), over("never_told"), worded(draft("quiet", Some(8)))];
        insights.extend((0..8).map(|at| worded(draft(&format!("{at}"), Some(7)))));
        let chosen = choose(
            insights,
            &["quiet".to_owned()].into(),
            &[("known".to_owned(), true), ("0".to_owned(), false)].into(),
        );
        let told: Vec<_> = chosen.iter().map(|c| (c.worded.draft.fingerprint.as_str(), c.is_told)).collect();
        assert_eq!(told[0], ("known", true));
        assert_eq!(told.iter().filter(|(_, told)| *told).count(), 1 + MOST_TOLD);
        assert_eq!(told[8], ("7", false));
    }

    proptest! {
        /// At most seven are told, each of them worth it, and none that is not told has more at stake.
        #[test]
        fn the_seven_with_most_at_stake_are_told(found in proptest::collection::vec((0i64..2_000, any::<bool>()), 0..30)) {
            let mut drafts: Vec<Draft> = found
                .iter()
                .enumerate()
                .map(|(at, (stake, earns))| Draft { earns_place: *earns, ..draft(&at.to_string(), Some(*stake)) })
                .collect();
            rank(&mut drafts, dec!(1000));
            let chosen = choose(drafts.into_iter().map(worded).collect(), &BTreeSet::new(), &BTreeMap::new());
            prop_assert_eq!(chosen.len(), found.len());
            let (told, others): (Vec<_>, Vec<_>) = chosen.iter().partition(|chosen| chosen.is_told);
            let worth = found.iter().filter(|(_, earns)| *earns).count();
            prop_assert_eq!(told.len(), worth.min(MOST_TOLD));
            prop_assert!(told.iter().all(|chosen| chosen.worded.draft.earns_place));
            let least = told.iter().filter_map(|chosen| chosen.worded.draft.stake).min().unwrap_or_default();
            let is_in_place = |c: &&Chosen| !c.worded.draft.earns_place || c.worded.draft.stake <= Some(least);
            prop_assert!(others.iter().all(is_in_place));
        }
    }
}
