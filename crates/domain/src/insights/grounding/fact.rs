//! Figures that the service computed, as they may be printed.

use std::fmt;

use rust_decimal::Decimal;
use time::Date;

use super::{NumberFormat, Writing};
use crate::{anomalies::Direction, language::Language, money::Currency};

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Money(Currency),
    Percent,
    /// Percentage points: the difference of two percentages.
    Points,
    /// A count.
    Plain,
    /// A quotient of amounts: how many times one is the other.
    Times,
    Days,
}

/// A figure that the service computed, or which way one went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    Number {
        value: Decimal,
        unit: Unit,
        /// Decimals that it is printed with.
        decimals: u32,
    },
    Day(Date),
    /// Something that the texts are about went or stands that way.
    Moved(Direction),
}

impl Fact {
    pub fn money(value: Decimal, currency: Currency) -> Self {
        Self::Number { value, unit: Unit::Money(currency), decimals: currency.exponent() }
    }
    /// `value` in percent.
    pub const fn percent(value: Decimal, decimals: u32) -> Self {
        Self::Number { value, unit: Unit::Percent, decimals }
    }
    /// `value` in percentage points.
    pub const fn points(value: Decimal, decimals: u32) -> Self {
        Self::Number { value, unit: Unit::Points, decimals }
    }
    pub fn count(value: impl Into<Decimal>) -> Self {
        Self::Number { value: value.into(), unit: Unit::Plain, decimals: 0 }
    }
    pub const fn ratio(value: Decimal) -> Self {
        Self::Number { value, unit: Unit::Times, decimals: 2 }
    }
    pub fn days(value: impl Into<Decimal>) -> Self {
        Self::Number { value: value.into(), unit: Unit::Days, decimals: 0 }
    }

    /// The way from `was` to `is`; `None` when there is none.
    pub fn moved(was: Decimal, is: Decimal) -> Option<Self> {
        match is.cmp(&was) {
            std::cmp::Ordering::Greater => Some(Self::Moved(Direction::Up)),
            std::cmp::Ordering::Less => Some(Self::Moved(Direction::Down)),
            std::cmp::Ordering::Equal => None,
        }
    }

    /// The fact as a text in `writing` may say it.
    pub fn written(&self, writing: Writing) -> String {
        self.with(&Words::of(writing.language), |number| writing.numbers.written(number))
    }

    fn with(&self, words: &Words, number: impl Fn(&str) -> String) -> String {
        match self {
            Self::Day(day) => day.to_string(),
            Self::Moved(Direction::Up) => words.rose.to_owned(),
            Self::Moved(Direction::Down) => words.fell.to_owned(),
            Self::Number { value, unit, decimals } => {
                let mut shown = crate::money::round(*value, *decimals);
                shown.rescale(*decimals);
                if shown.is_zero() {
                    shown.set_sign_positive(true);
                }
                let number = number(&shown.to_string());
                let one_or_more = |[one, more]: [&'static str; 2]| if shown == Decimal::ONE { one } else { more };
                match unit {
                    Unit::Money(currency) => format!("{number} {currency}"),
                    Unit::Percent => format!("{number} %"),
                    Unit::Points => format!("{number} {}", one_or_more(words.points)),
                    Unit::Days => format!("{number} {}", one_or_more(words.days)),
                    Unit::Plain | Unit::Times => number,
                }
            }
        }
    }
}

/// In English, without separators between groups of digits.
impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with(&Words::of(Language::English), str::to_owned))
    }
}

impl NumberFormat {
    /// Puts the separators of the format into a number with a decimal point.
    fn written(self, number: &str) -> String {
        let (point, separator) = match self {
            Self::Point => ('.', ','),
            Self::Comma => (',', '.'),
        };
        let (whole, fraction) =
            number.split_once('.').map_or((number, None), |(whole, fraction)| (whole, Some(fraction)));
        let digits = whole.trim_start_matches('-');
        let mut written = whole.strip_suffix(digits).unwrap_or_default().to_owned();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                written.push(separator);
            }
            written.push(digit);
        }
        if let Some(fraction) = fraction {
            written.push(point);
            written.push_str(fraction);
        }
        written
    }
}

/// Words of a fact.
struct Words {
    days: [&'static str; 2],
    points: [&'static str; 2],
    rose: &'static str,
    fell: &'static str,
}

impl Words {
    const fn of(language: Language) -> Self {
        match language {
            Language::English => Self {
                days: ["day", "days"],
                points: ["percentage point", "percentage points"],
                rose: "rose",
                fell: "fell",
            },
            Language::Spanish => Self {
                days: ["día", "días"],
                points: ["punto porcentual", "puntos porcentuales"],
                rose: "subió",
                fell: "cayó",
            },
            Language::BrazilianPortuguese => Self {
                days: ["dia", "dias"],
                points: ["ponto percentual", "pontos percentuais"],
                rose: "subiu",
                fell: "caiu",
            },
        }
    }
}
