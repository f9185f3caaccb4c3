//! What a shop's days looked like beside what was expected of them: the input of [`lever`](super::lever) and
//! [`money`](super::money).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use time::Date;

use crate::daily::Dimension;

text_enum!(
    /// A daily sum or ratio that tells levers apart.
    Gauge {
        GrossRevenue = "gross_revenue",
        Orders = "orders",
        UnitsPerOrder = "units_per_order",
        PricePerUnit = "price_per_unit",
        Visitors = "visitors",
        Refunds = "refunds",
        AdSpend = "ad_spend",
        /// Goods, fees and shipping per unit.
        CostPerUnit = "cost_per_unit",
        /// What is left of gross revenue after goods, fees and shipping.
        Contribution = "contribution",
        ExtraExpenses = "extra_expenses",
        Profit = "profit",
    }
);

/// A value of a day and the range that about 95 % of ordinary days fall into, as expected on the days before the event.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Band {
    pub observed: f64,
    pub expected: f64,
    pub low: f64,
    pub high: f64,
}

impl Band {
    pub fn deviation(&self) -> f64 {
        self.observed - self.expected
    }

    /// The deviation in half-widths of the band on its side: 1 is its edge. 0 where the band has no width and nothing
    /// departed from it.
    pub fn departure(&self) -> f64 {
        let deviation = self.deviation();
        let half = if deviation < 0.0 { self.expected - self.low } else { self.high - self.expected };
        // A band that ends at its expected value (zero refunds) has the width of its other side.
        let half = if half > 0.0 { half } else { (self.high - self.low).max(f64::MIN_POSITIVE) };
        (deviation / half).clamp(-1e6, 1e6)
    }

    pub fn holds(&self) -> bool {
        (self.low..=self.high).contains(&self.observed)
    }

    /// ln(observed / expected); `None` where there is no ratio.
    pub(super) fn log_change(&self) -> Option<f64> {
        (self.observed > 0.0 && self.expected > 0.0).then(|| (self.observed / self.expected).ln())
    }
}

/// A part of the shop: a platform, country, product or campaign.
#[derive(Debug, Clone, PartialEq)]
pub struct PartBand {
    pub dimension: Dimension,
    pub value: String,
    pub gauge: Gauge,
    pub band: Band,
}

/// What is known of one day.
#[derive(Debug, Clone, PartialEq)]
pub struct DayEvidence {
    pub day: Date,
    pub whole: BTreeMap<Gauge, Band>,
    pub parts: Vec<PartBand>,
    /// What is left of gross revenue after goods, fees and shipping, as a rule; `None` where no cost is known.
    pub contribution: Option<f64>,
}

impl DayEvidence {
    pub fn band(&self, gauge: Gauge) -> Option<&Band> {
        self.whole.get(&gauge)
    }

    /// The gauge's [departure](Band::departure); 0 where it is not known.
    pub(super) fn departure(&self, gauge: Gauge) -> f64 {
        self.band(gauge).map_or(0.0, Band::departure)
    }

    pub(super) fn deviation(&self, gauge: Gauge) -> f64 {
        self.band(gauge).map_or(0.0, Band::deviation)
    }

    pub(super) fn parts_of(&self, dimension: Dimension, gauge: Gauge) -> impl Iterator<Item = &PartBand> {
        self.parts.iter().filter(move |part| part.dimension == dimension && part.gauge == gauge)
    }

    pub(super) fn part(&self, dimension: Dimension, value: &str, gauge: Gauge) -> Option<&Band> {
        self.parts_of(dimension, gauge).find(|part| part.value == value).map(|part| &part.band)
    }
}
