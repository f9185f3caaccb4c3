//! From what the creatives of a campaign did to what can be said of each.

use std::collections::{BTreeMap, BTreeSet};

use super::{Contrast, Lift, Outcome, Stratum};

/// Evidence from which a creative is a winner, after it was divided by how many are compared.
pub const THRESHOLD: f64 = 10.0;
/// A winner whose evidence falls below this has faded. Who would have faded without the newest day is named neither a winner
/// nor a loser: one good day, at one of many looks, is most often chance.
pub const FADED_BELOW: f64 = 2.0;
/// The shrunk rate of a winner, by that of the others, is at least this; that of a loser at most its reciprocal.
pub const LEAST_LIFT: f64 = 1.1;
/// What a verdict takes: purchases of the creative and of its campaign, days, and clicks where purchases are too few.
pub const LEAST_PURCHASES: f64 = 10.0;
pub const LEAST_GROUP_PURCHASES: f64 = 100.0;
pub const LEAST_DAYS: usize = 3;
pub const LEAST_CLICKS: f64 = 30.0;

/// What creatives are compared by, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Revenue by spend.
    Roas,
    /// Purchases by impressions.
    PurchasesPerMille,
    /// Clicks by impressions: no more than a hint.
    Ctr,
}

/// What can be said of a creative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Winner,
    /// It is clicked on more, and too few have bought to say that it sells more.
    Leading,
    /// There is enough to judge it, and no clear difference.
    Testing,
    InsufficientData,
    /// It was a winner, and is no more.
    Faded,
    Losing,
}

/// What a creative did in an ad set on a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// Its place among the creatives of the campaign.
    pub creative: usize,
    pub ad_set: i64,
    /// Counted from any day.
    pub day: i64,
    pub spend: f64,
    pub impressions: f64,
    pub clicks: f64,
    pub purchases: f64,
    pub revenue: f64,
}

/// What a campaign's source tells of every cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told {
    pub impressions: bool,
    pub clicks: bool,
    pub purchases: bool,
    pub revenue: bool,
}

/// A campaign's creatives.
#[derive(Debug, Clone, Copy)]
pub struct Group<'a> {
    pub cells: &'a [Cell],
    /// By creative, whether it has been a winner.
    pub won: &'a [bool],
    pub told: Told,
    /// The squared coefficient of variation of what an order is worth.
    pub order_spread: f64,
    pub tau: f64,
}

/// What is still missing to judge a creative; nothing where all that is missing are sales of others to compare it with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// Of itself or of the whole campaign, whichever lacks more.
    pub purchases: f64,
    pub days: usize,
    /// Up to the median of the campaign's creatives.
    pub spend: f64,
}

impl Needs {
    fn is_nothing(self) -> bool {
        self.purchases <= 0.0 && self.days == 0 && self.spend <= 0.0
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    pub status: Status,
    /// With what it is compared by; none without enough data, or where nothing can be compared.
    pub metric: Option<Metric>,
    /// The e-value, divided by how many creatives are compared.
    pub evidence: Option<f64>,
    pub lift: Option<Lift>,
    /// The other creatives.
    pub compared_with: usize,
    /// On which it ran.
    pub days: usize,
    /// None where it is judged by what was sold.
    pub needs: Option<Needs>,
}

/// Judges every creative of a campaign, by place.
pub fn judge(group: &Group<'_>) -> Vec<Verdict> {
    let sums = sums(group);
    let running = sums.iter().filter(|sum| !sum.days.is_empty()).count();
    let purchases = sums.iter().map(|sum| sum.purchases).sum();
    let median = median(sums.iter().filter(|sum| !sum.days.is_empty()).map(|sum| sum.spend).collect());
    let strata = Strata::of(group.cells);
    let judged = sums.iter().zip(group.won).enumerate();
    judged
        .map(|(creative, (own, won))| {
            let needs = needs(own, purchases, median);
            One { group, strata: &strata, creative, running, own, needs, won: *won }.verdict()
        })
        .collect()
}

/// Every comparison of a creative with the others of its campaign that there is enough for: what an account's own spread is
/// estimated by.
pub fn contrasts(group: &Group<'_>) -> Vec<Contrast> {
    let (Some(metric), sums, strata) = (metric_of(group.told), sums(group), Strata::of(group.cells)) else {
        return Vec::new();
    };
    let enough = sums.iter().enumerate().filter(|(_, own)| own.purchases >= LEAST_PURCHASES);
    enough.filter_map(|(creative, _)| strata.contrast(creative, metric, group.order_spread, Days::All)).collect()
}

#[derive(Debug, Clone, Default)]
struct Sum {
    days: BTreeSet<i64>,
    spend: f64,
    clicks: f64,
    purchases: f64,
}

fn sums(group: &Group<'_>) -> Vec<Sum> {
    let mut sums = vec![Sum::default(); group.won.len()];
    for cell in group.cells {
        let Some(sum) = sums.get_mut(cell.creative) else { continue };
        sum.days.insert(cell.day);
        sum.spend += cell.spend;
        sum.clicks += cell.clicks;
        sum.purchases += cell.purchases;
    }
    sums
}

fn median(mut spends: Vec<f64>) -> f64 {
    spends.sort_unstable_by(f64::total_cmp);
    let (low, high) = (spends.len().saturating_sub(1) / 2, spends.len() / 2);
    let at = |place: usize| spends.get(place).copied().unwrap_or_default();
    0.5 * (at(low) + at(high))
}

fn needs(own: &Sum, group_purchases: f64, median: f64) -> Needs {
    Needs {
        purchases: (LEAST_PURCHASES - own.purchases).max(LEAST_GROUP_PURCHASES - group_purchases).max(0.0),
        days: LEAST_DAYS.saturating_sub(own.days.len()),
        spend: (median - own.spend).max(0.0),
    }
}

/// By what a campaign's creatives are compared.
const fn metric_of(told: Told) -> Option<Metric> {
    match told {
        Told { purchases: true, revenue: true, .. } => Some(Metric::Roas),
        Told { purchases: true, impressions: true, .. } => Some(Metric::PurchasesPerMille),
        _ => None,
    }
}

/// The cells of each ad set and day.
struct Strata<'a>(BTreeMap<(i64, i64), Vec<&'a Cell>>);

/// Which days are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Days {
    All,
    WithoutTheNewest,
}

impl<'a> Strata<'a> {
    fn of(cells: &'a [Cell]) -> Self {
        let mut strata: BTreeMap<_, Vec<&Cell>> = BTreeMap::new();
        for cell in cells {
            strata.entry((cell.ad_set, cell.day)).or_default().push(cell);
        }
        Self(strata)
    }

    /// What a creative and the others did in each of them.
    fn sides(&self, creative: usize, metric: Metric, days: Days) -> impl Iterator<Item = Stratum> {
        let newest = self.0.keys().map(|(_, day)| *day).max().filter(|_| days == Days::WithoutTheNewest);
        let compared = self.0.iter().filter(move |((_, day), _)| Some(*day) != newest);
        compared.map(move |(_, cells)| {
            let mut stratum = Stratum::default();
            for cell in cells {
                let side = if cell.creative == creative { &mut stratum.own } else { &mut stratum.others };
                let Outcome { exposure, amount, events } = outcome(cell, metric);
                side.exposure += exposure;
                side.amount += amount;
                side.events += events;
            }
            stratum
        })
    }

    fn contrast(&self, creative: usize, metric: Metric, order_spread: f64, days: Days) -> Option<Contrast> {
        let spread = if metric == Metric::Roas { order_spread } else { 0.0 };
        Contrast::of(self.sides(creative, metric, days), spread)
    }

    /// Whether a creative brought nothing where it ran beside others, and these brought something.
    fn is_outdone(&self, creative: usize, metric: Metric) -> bool {
        let beside = |side: &Stratum| side.own.exposure > 0.0 && side.others.exposure > 0.0;
        let both = self.sides(creative, metric, Days::All).filter(beside);
        let (own, others) =
            both.fold((0.0, 0.0), |(own, others), side| (own + side.own.amount, others + side.others.amount));
        own <= 0.0 && others > 0.0
    }
}

const fn outcome(cell: &Cell, metric: Metric) -> Outcome {
    match metric {
        Metric::Roas => Outcome { exposure: cell.spend, amount: cell.revenue, events: cell.purchases },
        Metric::PurchasesPerMille => {
            Outcome { exposure: cell.impressions, amount: cell.purchases, events: cell.purchases }
        }
        Metric::Ctr => Outcome { exposure: cell.impressions, amount: cell.clicks, events: cell.clicks },
    }
}

/// A creative that is being judged.
struct One<'a> {
    group: &'a Group<'a>,
    strata: &'a Strata<'a>,
    creative: usize,
    running: usize,
    own: &'a Sum,
    needs: Needs,
    won: bool,
}

impl One<'_> {
    /// Who has won is judged by the evidence alone: a paused winner spends and sells less than it takes to become one, and when
    /// the others are paused there is none against it.
    fn verdict(&self) -> Verdict {
        let sold = metric_of(self.group.told).filter(|_| self.won || self.needs.is_nothing());
        if let Some(verdict) = sold.and_then(|metric| self.compare(metric)) {
            return Verdict { needs: None, ..verdict };
        }
        if self.won {
            let is_outdone = sold.is_some_and(|metric| self.strata.is_outdone(self.creative, metric));
            let status = if is_outdone { Status::Faded } else { Status::Winner };
            return Verdict { status, needs: None, ..self.unjudged() };
        }
        let Told { impressions, clicks, .. } = self.group.told;
        // Clicks are a hint where too few have bought, and none against what many have bought.
        let have_bought = metric_of(self.group.told).is_some() && self.needs.purchases <= 0.0;
        let is_hint = impressions && clicks && !(have_bought && self.needs.spend > 0.0);
        let is_clicked = is_hint && self.own.clicks >= LEAST_CLICKS && self.own.days.len() >= LEAST_DAYS;
        let hint = if is_clicked { self.compare(Metric::Ctr) } else { None };
        let needs = Some(self.needs).filter(|needs| !needs.is_nothing());
        let leading = hint.filter(|hint| hint.status == Status::Leading).map(|hint| Verdict { needs, ..hint });
        leading.unwrap_or_else(|| self.unjudged())
    }

    fn unjudged(&self) -> Verdict {
        Verdict {
            status: Status::InsufficientData,
            metric: None,
            evidence: None,
            lift: None,
            compared_with: self.running.saturating_sub(1),
            days: self.own.days.len(),
            needs: Some(self.needs),
        }
    }

    fn compare(&self, metric: Metric) -> Option<Verdict> {
        let over = |days| self.strata.contrast(self.creative, metric, self.group.order_spread, days);
        let contrast = over(Days::All)?;
        let tau = self.group.tau;
        let of = |contrast: Contrast| libm::exp(contrast.ln_evidence(tau)) / self.running as f64;
        let (better, worse) = (of(contrast), of(contrast.mirrored()));
        let lasts = |side: fn(&Contrast) -> Contrast| {
            over(Days::WithoutTheNewest).is_some_and(|before| of(side(&before)) >= FADED_BELOW)
        };
        let (least, shrunk) = (libm::log(LEAST_LIFT), contrast.shrunk(tau));
        let status = match metric {
            Metric::Ctr if better >= THRESHOLD && shrunk >= least => Status::Leading,
            Metric::Ctr => Status::Testing,
            _ if self.won && better >= FADED_BELOW => Status::Winner,
            _ if self.won => Status::Faded,
            _ if better >= THRESHOLD && shrunk >= least && lasts(Contrast::clone) => Status::Winner,
            _ if worse >= THRESHOLD && shrunk <= -least && lasts(Contrast::mirrored) => Status::Losing,
            _ => Status::Testing,
        };
        let evidence = if status == Status::Losing { worse } else { better };
        let (metric, evidence, lift) = (Some(metric), Some(evidence), Some(contrast.lift(tau)));
        Some(Verdict { status, metric, evidence, lift, ..self.unjudged() })
    }
}
