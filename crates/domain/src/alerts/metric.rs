//! What a rule may watch, and how finely time can be cut for it.

use std::{fmt, str::FromStr};

use rust_decimal::Decimal;

use crate::{
    error::UnknownValue,
    money::{Currency, round},
    tracking::EventName,
};

use super::MAX_WINDOW_HOURS;

/// A metric of an account over a window of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Metric {
    /// Value of the orders placed: gross revenue, in the account's currency.
    Revenue,
    /// Orders placed.
    Orders,
    /// Money refunded, in the account's currency.
    Refunds,
    /// Value of an order on average; none without orders.
    Aov,
    /// Money spent on ads.
    AdSpend,
    /// Gross revenue per unit of ad spend; none without ad spend.
    Roas,
    /// Final profit.
    Profit,
    /// Final profit in percent of net revenue; none when net revenue is not above zero.
    Margin,
    /// Products without stock that sold in the last 30 days.
    Stockouts,
    /// Tracked events of a name.
    Event(EventName),
}

/// The fixed names, and how an event is named.
const NAMES: &[&str] =
    &["revenue", "orders", "refunds", "aov", "ad_spend", "roas", "profit", "margin", "stockouts", "event:<name>"];

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
    /// Whether a window of so many hours can be answered for.
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

impl Metric {
    pub const fn resolution(&self) -> Resolution {
        match self {
            Self::Revenue | Self::Orders | Self::Refunds | Self::Aov => {
                Resolution::Instants { max_hours: MAX_WINDOW_HOURS }
            }
            Self::Event(_) => Resolution::Instants { max_hours: MAX_EVENT_HOURS },
            Self::AdSpend | Self::Roas | Self::Profit | Self::Margin => Resolution::Days,
            Self::Stockouts => Resolution::Current,
        }
    }
}

impl Metric {
    /// A value as it is shown, which is also what is compared: money in the currency's minor unit, a ratio with four
    /// decimals, percent with two, counts as they are.
    pub fn shown(&self, value: Decimal, currency: Currency) -> Decimal {
        let shown = match self {
            Self::Revenue | Self::Refunds | Self::Aov | Self::AdSpend | Self::Profit => currency.round(value),
            Self::Roas => round(value, 4),
            Self::Margin => round(value, 2),
            Self::Orders | Self::Stockouts | Self::Event(_) => value,
        };
        shown.normalize()
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revenue => f.write_str("revenue"),
            Self::Orders => f.write_str("orders"),
            Self::Refunds => f.write_str("refunds"),
            Self::Aov => f.write_str("aov"),
            Self::AdSpend => f.write_str("ad_spend"),
            Self::Roas => f.write_str("roas"),
            Self::Profit => f.write_str("profit"),
            Self::Margin => f.write_str("margin"),
            Self::Stockouts => f.write_str("stockouts"),
            Self::Event(name) => write!(f, "{EVENT}{name}"),
        }
    }
}

impl FromStr for Metric {
    type Err = UnknownValue;
    fn from_str(text: &str) -> Result<Self, UnknownValue> {
        let unknown = UnknownValue { allowed: NAMES };
        Ok(match text {
            "revenue" => Self::Revenue,
            "orders" => Self::Orders,
            "refunds" => Self::Refunds,
            "aov" => Self::Aov,
            "ad_spend" => Self::AdSpend,
            "roas" => Self::Roas,
            "profit" => Self::Profit,
            "margin" => Self::Margin,
            "stockouts" => Self::Stockouts,
            _ => {
                let name = text.strip_prefix(EVENT).and_then(|name| EventName::parse(name.to_owned()).ok());
                Self::Event(name.ok_or(unknown)?)
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        for name in NAMES.iter().filter(|name| !name.contains('<')).chain(&["event:sign_up", "event:a.b-C9"]) {
            assert_eq!(name.parse::<Metric>().unwrap().to_string(), **name);
        }
    }

    #[rstest]
    #[case("")]
    #[case("Revenue")]
    #[case("event:")]
    #[case("event:a b")]
    #[case("event:<name>")]
    #[case("events:a")]
    fn another_name_is_refused(#[case] name: &str) {
        assert_eq!(name.parse::<Metric>().unwrap_err().allowed, NAMES);
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
    fn a_window_is_as_fine_as_the_data(#[case] metric: Metric, #[case] hours: i64, #[case] allowed: bool) {
        assert_eq!(metric.resolution().allows(hours), allowed);
    }
}
