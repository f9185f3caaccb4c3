//! Numbers and dates as a country writes them. Those of numbers are the rules of CLDR, by ICU4X.

use icu_decimal::{DecimalFormatter, options::DecimalFormatterOptions};
use icu_locale_core::Locale as Tag;
use rust_decimal::Decimal;
use time::Date;

use super::{Locale, Texts};
use crate::{language::Language, money::Currency};

/// From this amount on its minor unit is left out: nobody decides by it.
const WITHOUT_MINOR_UNIT: Decimal = Decimal::ONE_HUNDRED;
/// Days from which on a date is written with its year.
const WITH_YEAR_DAYS: u64 = 300;
/// Countries where English dates begin with the month (CLDR 47, `dateFormats` of `en-US`, `en-CA`, `en-PH` and `en-PR`).
const MONTH_FIRST: [&str; 4] = ["US", "CA", "PH", "PR"];

/// `None` where the locale is unknown to CLDR; numbers are written plainly then.
pub(super) fn formatter(locale: &Locale) -> Option<DecimalFormatter> {
    // Without a country, Spanish would follow Spain, which writes 1400 beside 20.464. With the same signs Argentina, as others in
    // America, writes 1.400; a strategy of grouping does not change that.
    let is_of_no_country = locale.language == Language::Spanish && locale.region.is_none();
    let tag = if is_of_no_country { "es-AR".to_owned() } else { locale.tag() };
    let tag: Tag = tag.parse().ok()?;
    DecimalFormatter::try_new(tag.into(), DecimalFormatterOptions::default()).ok()
}

/// Half-even, with exactly this number of decimals, and never as less than nothing when it is nothing.
pub(super) fn rounded(value: Decimal, decimals: u32) -> Decimal {
    let mut rounded = crate::money::round(value, decimals);
    rounded.rescale(decimals);
    if rounded.is_zero() {
        rounded.set_sign_positive(true);
    }
    rounded
}

pub(super) fn decimals_of(amount: Decimal, currency: Currency) -> u32 {
    if amount.abs() < WITHOUT_MINOR_UNIT { currency.exponent() } else { 0 }
}

impl Texts {
    /// A number with the decimals that it has.
    pub(super) fn written(&self, value: Decimal) -> String {
        let plain = value.to_string();
        match (&self.numbers, plain.parse::<icu_decimal::input::Decimal>()) {
            (Some(formatter), Ok(number)) => formatter.format(&number).to_string(),
            _ => plain,
        }
    }

    /// Whether a date is written without its year.
    pub fn is_near(&self, day: Date) -> bool {
        self.today.is_some_and(|today| (today - day).whole_days().unsigned_abs() < WITH_YEAR_DAYS)
    }

    /// What dates begin with: `day` or `month`.
    pub fn first_of_dates(&self) -> &'static str {
        let is_month = self.locale.language == Language::English
            && self.locale.region.is_some_and(|region| MONTH_FIRST.contains(&region.as_str()));
        if is_month { "month" } else { "day" }
    }

    pub(super) fn written_day(&self, id: &str, day: Date) -> String {
        self.message(id)
            .text("order", self.first_of_dates())
            .text("with_year", if self.is_near(day) { "no" } else { "yes" })
            .count("weekday", day.weekday().number_from_monday())
            .count("month", u8::from(day.month()))
            .text("date", day.day())
            .text("year", day.year())
            .say()
    }
}
