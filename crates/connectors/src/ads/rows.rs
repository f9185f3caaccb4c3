//! What networks tell of a day, as it can be imported.

use domain::{
    ads::Format,
    shops::{Refused, ShopError},
};
use rust_decimal::Decimal;
use time::{Date, macros::format_description};

use crate::shops::{amounts::is_importable_cost, wire::clean};

/// Characters of a name.
const MAX_NAME: usize = 200;
/// Characters of a text of a creative.
const MAX_TEXT: usize = 500;

/// What a creative is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub format: Format,
    /// What identifies it wherever it runs.
    pub key: String,
    pub headline: Option<String>,
    pub body: Option<String>,
}

/// A day as ISO 8601 writes it.
pub fn day(text: &str, field: &str) -> Result<Date, ShopError> {
    Date::parse(text, format_description!("[year]-[month]-[day]")).map_err(|_| ShopError::Malformed(field.to_owned()))
}

/// What was spent. Where it cannot be read, nothing is: without it the rest of the day would pass for all that was spent. What ads
/// did is not checked here: what of it cannot be is unknown, and keeps no spend from being read.
pub fn spent(amount: Decimal, field: &str) -> Result<Decimal, ShopError> {
    if is_importable_cost(amount) { Ok(amount) } else { Err(ShopError::Malformed(field.to_owned())) }
}

/// Asks what ads show, some at a time, and in halves where that is refused: one ad that fails keeps no other from being shown, and
/// nothing of what they did from being read.
#[derive(Debug)]
pub struct Asking<'a> {
    waiting: Vec<&'a [&'a str]>,
    failed: Vec<(&'a [&'a str], ShopError)>,
    /// Whether anything was answered since the last of them failed.
    is_answered: bool,
    /// One that was shown.
    shown: Option<&'a [&'a str]>,
}

impl<'a> Asking<'a> {
    pub fn new(ads: &'a [&'a str], at_once: usize) -> Self {
        Self { waiting: ads.chunks(at_once).rev().collect(), failed: Vec::new(), is_answered: false, shown: None }
    }

    /// Those that are asked for next. In the end, where the last ones failed, one again that was shown: an outage may have begun on
    /// the way.
    pub fn take(&mut self) -> Option<&'a [&'a str]> {
        let next = self.waiting.pop();
        if next.is_none() && !self.is_answered && !self.failed.is_empty() { self.shown.take() } else { next }
    }

    pub fn answered(&mut self, ads: &'a [&'a str]) {
        self.is_answered = true;
        self.shown = self.shown.or_else(|| ads.get(..1));
    }

    /// # Errors
    /// `error`, where it is trouble of the ad account.
    pub fn failed(&mut self, ads: &'a [&'a str], error: ShopError) -> Result<(), ShopError> {
        use ShopError::{MissingScope, Suspended, Throttled, Unauthorized};
        if matches!(error, Unauthorized | Suspended | MissingScope(_) | Throttled(_)) {
            return Err(error);
        }
        // Where one alone failed and none was shown since, it may be of none of them: then the others are asked for as they are.
        if ads.len() > 1 && (self.is_answered || self.failed.is_empty()) {
            let (first, second) = ads.split_at(ads.len() / 2);
            self.waiting.extend([second, first]);
        } else {
            self.is_answered = false;
            self.failed.push((ads, error));
        }
        Ok(())
    }

    /// What is said of ads that are not shown.
    ///
    /// # Errors
    /// Trouble of the network, where it answers for no ad (any more): that passes, and nobody asks for days again that are long over.
    pub fn end(self) -> Result<Vec<Refused>, ShopError> {
        if !self.is_answered
            && let Some((_, trouble)) = self.failed.iter().find(|(_, error)| matches!(error, ShopError::Unavailable(_)))
        {
            return Err(trouble.clone());
        }
        let refused = self.failed.into_iter().filter_map(|(ads, error)| {
            let (first, others) = ads.split_first()?;
            let reason = match others.len() {
                0 => format!("what it shows is not told: {error}"),
                others => format!("what it and {others} others show is not told: {error}"),
            };
            Some(Refused { kind: "ad", external_id: (*first).to_owned(), reason })
        });
        Ok(refused.collect())
    }
}

/// A text of a creative, as it is kept.
pub fn text_of(text: &str) -> Option<String> {
    clean(text, MAX_TEXT)
}

/// How something is called, else its number.
pub fn named(name: Option<&str>, number: &str) -> String {
    name.and_then(|name| clean(name, MAX_NAME)).unwrap_or_else(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADS: [&str; 8] = ["1", "2", "3", "4", "5", "6", "7", "8"];

    fn trouble() -> ShopError {
        ShopError::Unavailable("it answered with 503".to_owned())
    }

    /// What is shown where a query with one of `failing` fails, what is said of the others, and how many queries that took.
    fn asked(failing: &[&str], error: &ShopError) -> (Vec<&'static str>, Result<Vec<String>, ShopError>, usize) {
        let (mut asking, mut shown, mut queries) = (Asking::new(&ADS, 4), Vec::new(), 0);
        while let Some(some) = asking.take() {
            queries += 1;
            if some.iter().any(|ad| failing.contains(ad)) {
                asking.failed(some, error.clone()).unwrap();
            } else {
                asking.answered(some);
                shown.extend(some);
            }
        }
        let refused = asking.end().map(|refused| refused.into_iter().map(|refused| refused.external_id).collect());
        (shown, refused, queries)
    }

    #[test]
    fn one_ad_that_fails_keeps_no_other_from_being_shown() {
        for error in [trouble(), ShopError::TooMany, ShopError::Rejected("code 100".to_owned())] {
            for ad in ADS {
                let (shown, refused, queries) = asked(&[ad], &error);
                // After the last one it is made sure that others are still shown.
                let again = (ad == "8").then_some("1");
                let others: Vec<_> = ADS.into_iter().filter(|other| *other != ad).chain(again).collect();
                assert_eq!(
                    (shown, refused, queries),
                    (others, Ok(vec![ad.to_owned()]), 6 + usize::from(again.is_some()))
                );
            }
        }
    }

    #[test]
    fn an_outage_is_trouble_of_no_ad_and_a_refusal_of_all_keeps_no_spend_from_being_read() {
        let (shown, refused, queries) = asked(&ADS, &trouble());
        assert_eq!((shown, refused, queries), (vec![], Err(trouble()), 6));
        let (shown, refused, queries) = asked(&ADS, &ShopError::Rejected("code 100".to_owned()));
        assert_eq!((shown.len(), refused.map(|refused| refused.len()), queries), (0, Ok(4), 6));
        let mut asking = Asking::new(&ADS, 4);
        let some = asking.take().unwrap();
        asking.answered(some);
        let mut queries = 1;
        while let Some(some) = asking.take() {
            asking.failed(some, trouble()).unwrap();
            queries += 1;
        }
        assert_eq!((asking.end(), queries), (Err(trouble()), 7), "it began on the way");
        let mut asking = Asking::new(&ADS, 4);
        let some = asking.take().unwrap();
        assert_eq!(asking.failed(some, ShopError::Unauthorized), Err(ShopError::Unauthorized));
    }
}
