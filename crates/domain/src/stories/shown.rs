//! Where an event shows best: the figure that its lever moved, and what was as usual beside it.

use super::{
    Seen,
    evidence::{Band, DayEvidence, Gauge},
    lever::{Lever, LeverKind, Subject},
};
use crate::daily::Dimension;

text_enum!(
    /// What was as usual on the day that departed most.
    Normal {
        /// The other platforms, countries, products or campaigns, taken together.
        Others = "others",
        Visitors = "visitors",
        Orders = "orders",
    }
);

const fn dimension(subject: Subject, kind: LeverKind) -> Option<(Dimension, Gauge)> {
    match kind {
        // Of ads that brought sales, it is the sales that are shown.
        LeverKind::Campaign if matches!(subject, Subject::Sales) => None,
        LeverKind::Platform => Some((Dimension::Platform, Gauge::Orders)),
        LeverKind::Country => Some((Dimension::Country, Gauge::Orders)),
        LeverKind::Product | LeverKind::StockOut => Some((Dimension::Product, Gauge::GrossRevenue)),
        LeverKind::Campaign => Some((Dimension::Campaign, Gauge::AdSpend)),
        LeverKind::Refund => Some((Dimension::Product, Gauge::Refunds)),
        _ => None,
    }
}

const fn gauge(subject: Subject, kind: LeverKind) -> Gauge {
    match kind {
        LeverKind::ClosedDay | LeverKind::Conversion => Gauge::Orders,
        LeverKind::Price => Gauge::PricePerUnit,
        LeverKind::Traffic | LeverKind::Tracking => Gauge::Visitors,
        LeverKind::Cost => Gauge::CostPerUnit,
        LeverKind::Expense => Gauge::ExtraExpenses,
        _ => subject.gauge(),
    }
}

/// The figure that shows the event on a day: that of the part which the lever names, else the shop's.
pub(super) fn seen(subject: Subject, lever: Option<&Lever>, day: &DayEvidence) -> Seen {
    let of_part = lever.and_then(|lever| {
        let (part, (dimension, gauge)) = (lever.part.as_deref()?, dimension(subject, lever.kind)?);
        let band = *day.part(dimension, part, gauge)?;
        Some(Seen { gauge, part: Some(part.to_owned()), band })
    });
    of_part.unwrap_or_else(|| {
        let own = lever.map_or(subject.gauge(), |lever| gauge(subject, lever.kind));
        let holds = |gauge| day.band(gauge).is_some_and(Band::holds);
        // Where sales were as usual, it is what they left that was not.
        let shows_in_profit =
            own == Gauge::GrossRevenue && holds(own) && day.band(Gauge::Profit).is_some() && !holds(Gauge::Profit);
        let gauge = if shows_in_profit { Gauge::Profit } else { own };
        let known = day.band(gauge).map(|band| (gauge, band));
        let (gauge, band) = known.or_else(|| Some((subject.gauge(), day.band(subject.gauge())?))).unzip();
        let nothing = Band { observed: 0.0, expected: 0.0, low: 0.0, high: 0.0 };
        Seen { gauge: gauge.unwrap_or(subject.gauge()), part: None, band: band.copied().unwrap_or(nothing) }
    })
}

/// What was as usual beside the lever, if anything was that tells it from others.
pub(super) fn normal(subject: Subject, lever: Option<&Lever>, day: &DayEvidence) -> Option<Normal> {
    let lever = lever?;
    let holds = |gauge| day.band(gauge).is_some_and(Band::holds);
    let among: &[(Normal, bool)] = match lever.kind {
        LeverKind::Platform | LeverKind::Country | LeverKind::Product | LeverKind::StockOut => {
            &[(Normal::Others, others_hold(subject, lever, day))]
        }
        // What more or less ads changed, or did not, is told by the orders.
        LeverKind::Campaign => &[
            (Normal::Orders, subject == Subject::Ads && holds(Gauge::Orders)),
            (Normal::Others, others_hold(subject, lever, day)),
        ],
        LeverKind::Conversion | LeverKind::ClosedDay => &[(Normal::Visitors, holds(Gauge::Visitors))],
        LeverKind::Traffic => &[],
        LeverKind::Price
        | LeverKind::BulkOrder
        | LeverKind::Refund
        | LeverKind::Cost
        | LeverKind::Expense
        | LeverKind::Tracking => &[(Normal::Orders, holds(Gauge::Orders))],
    };
    among.iter().find(|(_, holds)| *holds).map(|(normal, _)| *normal)
}

/// Whether all but the named part were together what was expected of them.
fn others_hold(subject: Subject, lever: &Lever, day: &DayEvidence) -> bool {
    let of_part = || {
        let (dimension, gauge) = dimension(subject, lever.kind)?;
        let (whole, part) = (day.band(gauge)?, day.part(dimension, lever.part.as_deref()?, gauge)?);
        let others = whole.deviation() - part.deviation();
        // As much of the shop's range as the others are of the shop.
        let share = ((whole.expected - part.expected) / whole.expected).clamp(0.0, 1.0);
        let (below, above) = ((whole.expected - whole.low) * share, (whole.high - whole.expected) * share);
        Some((-below..=above).contains(&others))
    };
    of_part().unwrap_or(false)
}
