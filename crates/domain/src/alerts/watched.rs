//! What a rule may watch, and how finely time can be cut for it.

use std::{fmt, str::FromStr};

use rust_decimal::Decimal;

use crate::{
    error::UnknownValue,
    metrics::{Metric, Unit},
    money::{Currency, round},
    tracking::EventName,
};

use super::MAX_WINDOW_HOURS;

/// What a rule watches over a window of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watched {
    /// A figure of the shop.
    Figure(Metric),
    /// Products that would sell and are out of stock.
    Stockouts,
    /// Tracked events of a name.
    Event(EventName),
}

/// The figures that may be watched, by the names that rules have for them.
const FIGURES: [(&str, Metric); 8] = [
    ("revenue", Metric::GrossRevenue),
    ("orders", Metric::Orders),
    ("refunds", Metric::Refunds),
    ("aov", Metric::Aov),
    ("ad_spend", Metric::AdSpend),
    ("roas", Metric::Roas),
    ("profit", Metric::Profit),
    ("margin", Metric::Margin),
];

const STOCKOUTS: &str = "stockouts";

/// The fixed names, and how an event is named.
const NAMES: &[&str] =
    &["revenue", "orders", "refunds", "aov", "ad_spend", "roas", "profit", "margin", STOCKOUTS, "event:<name>"];

/// What stands before the name of an event.
const EVENT: &str = "event:";

/// How finely time can be cut for a metric: the data does not tell more than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution {
    /// Rows with an instant each: any number of hours back from now.
    Instants { max_hours: i64 },
    /// Sums per day of the account's time zone: the last full days.
    Days,
    /// What stands now, computed once a day.
    Current,
}

impl Resolution {
    /// Whether a window may have this length.
    pub const fn allows(self, window_hours: i64) -> bool {
        match self {
            Self::Instants { max_hours } => 1 <= window_hours && window_hours <= max_hours,
            Self::Days => window_hours % 24 == 0 && 24 <= window_hours && window_hours <= MAX_WINDOW_HOURS,
            Self::Current => window_hours == 24,
        }
    }

    /// Which windows there are, to complete "`window_hours` …".
    pub fn windows(self) -> String {
        match self {
            Self::Instants { max_hours } => format!("must be a whole number from 1 to {max_hours} for this metric"),
            Self::Days => format!(
                "must be a multiple of 24 from 24 to {MAX_WINDOW_HOURS} for this metric, which is known per day"
            ),
            Self::Current => "must be 24 for this metric, which is computed once a day".to_owned(),
        }
    }
}

/// Events come by the million: a week of them is counted at most.
const MAX_EVENT_HOURS: i64 = 7 * 24;

impl Watched {
    pub const fn resolution(&self) -> Resolution {
        match self {
            Self::Figure(Metric::GrossRevenue | Metric::Orders | Metric::Refunds | Metric::Aov) => {
                Resolution::Instants { max_hours: MAX_WINDOW_HOURS }
            }
            Self::Figure(_) => Resolution::Days,
            Self::Event(_) => Resolution::Instants { max_hours: MAX_EVENT_HOURS },
            Self::Stockouts => Resolution::Current,
        }
    }

    /// What its values count.
    pub const fn unit(&self) -> Unit {
        match self {
            Self::Figure(metric) => metric.unit(),
            Self::Stockouts | Self::Event(_) => Unit::Count,
        }
    }

    /// A value as it is shown, which is also what is compared: money in the currency's minor unit, a ratio with four
    /// decimals, a share in percent with two, counts as they are. `None` where it does not fit a decimal.
    pub fn shown(&self, value: Decimal, currency: Currency) -> Option<Decimal> {
        let shown = match self.unit() {
            Unit::Money => currency.round(value),
            Unit::Ratio => round(value, 4),
            Unit::Share => round(value.checked_mul(Decimal::ONE_HUNDRED)?, 2),
            Unit::Count => value,
        };
        Some(shown.normalize())
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Figure(metric) => {
                let named = FIGURES.iter().find(|(_, figure)| figure == metric);
                f.write_str(named.map_or(metric.as_str(), |(name, _)| name))
            }
            Self::Stockouts => f.write_str(STOCKOUTS),
            Self::Event(name) => write!(f, "{EVENT}{name}"),
        }
    }
}

impl FromStr for Watched {
    type Err = UnknownValue;
    fn from_str(text: &str) -> Result<Self, UnknownValue> {
        if text == STOCKOUTS {
            return Ok(Self::Stockouts);
        }
        if let Some((_, metric)) = FIGURES.iter().find(|(name, _)| *name == text) {
            return Ok(Self::Figure(*metric));
        }
        let name = text.strip_prefix(EVENT).and_then(|name| EventName::parse(name.to_owned()).ok());
        name.map(Self::Event).ok_or(UnknownValue { allowed: NAMES })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for name in NAMES.iter().filter(|name| !name.contains('<')).chain(&["event:sign_up", "event:a.b-C9"]) {
            assert_eq!(name.parse::<Watched>().unwrap().to_string(), **name);
        }
    }

    #[test]
    fn the_names_are_those_of_the_figures_and_two_more() {
        let named: Vec<&str> = FIGURES.iter().map(|(name, _)| *name).chain([STOCKOUTS, "event:<name>"]).collect();
        assert_eq!(NAMES, named);
    }

    #[rstest]
    #[case("")]
    #[case("Revenue")]
    #[case("event:")]
    #[case("event:a b")]
    #[case("event:<name>")]
    #[case("events:a")]
    fn another_name_is_refused(#[case] name: &str) {
        assert_eq!(name.parse::<Watched>().unwrap_err().allowed, NAMES);
    }

    #[rstest]
    #[case("orders", 1, true)]
    #[case("orders", 2160, true)]
    #[case("orders", 0, false)]
    #[case("orders", -1, false)]
    #[case("orders", 2161, false)]
    #[case("event:x", 168, true)]
    #[case("event:x", 169, false)]
    #[case("profit", 1, false)]
    #[case("profit", 24, true)]
    #[case("profit", 36, false)]
    #[case("ad_spend", 0, false)]
    #[case("roas", 2160, true)]
    #[case("margin", 2184, false)]
    #[case("stockouts", 24, true)]
    #[case("stockouts", 48, false)]
    fn a_window_is_as_fine_as_the_data(#[case] metric: Watched, #[case] hours: i64, #[case] allowed: bool) {
        assert_eq!(metric.resolution().allows(hours), allowed);
    }
}
