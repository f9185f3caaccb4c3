//! Every sentence of the service, in every [`Language`]: one catalogue of templates in the syntax of Project Fluent, filled from
//! figures. The templates are files beside the source (`texts/<language>/*.ftl`) and part of the program.
//!
//! A template says how figures are put into words and nothing else: which figures there are, and what is worth telling, is
//! decided where the figures are made.

mod catalogue;
mod figures;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt::Display;

pub use catalogue::Catalogue;
use fluent_bundle::FluentArgs;
use icu_decimal::DecimalFormatter;
use rust_decimal::{Decimal, prelude::ToPrimitive};
use time::Date;

use crate::{
    imports::CountryCode,
    insights::grounding::{NumberFormat, Writing},
    language::Language,
    money::Currency,
};

/// What texts are written in: a language, and the country whose way of writing numbers, amounts and dates they follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locale {
    pub language: Language,
    /// `None` for the way that is usual in the language.
    pub region: Option<CountryCode>,
}

impl Locale {
    pub const ENGLISH: Self = Self { language: Language::English, region: None };

    /// The BCP 47 tag, such as `es-MX`.
    pub fn tag(&self) -> String {
        let language = self.language.as_str();
        let base = language.split_once('-').map_or(language, |(base, _)| base);
        self.region.map_or_else(|| language.to_owned(), |region| format!("{base}-{}", region.as_str()))
    }
}

/// The catalogue, as it is read in one locale.
pub struct Texts {
    locale: Locale,
    numbers: Option<DecimalFormatter>,
    /// The day that texts are read from: dates far from it are written with their year.
    today: Option<Date>,
    /// Looked through in this order.
    catalogues: Vec<&'static Catalogue>,
}

impl Texts {
    pub fn of(locale: Locale) -> Self {
        Self { locale, numbers: figures::formatter(&locale), today: None, catalogues: vec![&catalogue::SERVICE] }
    }

    /// Dates within ten months of `today` are written without their year.
    #[must_use]
    pub fn as_of(self, today: Date) -> Self {
        Self { today: Some(today), ..self }
    }

    /// Whether a code is that of a country by ISO 3166-1: then it has a name.
    pub fn knows_country(&self, code: &str) -> bool {
        self.message("country").text("code", code).say() != code
    }

    /// Looks through `catalogue` for what the others do not have.
    #[must_use]
    pub fn with(mut self, catalogue: &'static Catalogue) -> Self {
        self.catalogues.push(catalogue);
        self
    }

    pub const fn locale(&self) -> Locale {
        self.locale
    }

    /// A number as the locale writes it, rounded half-even to a number of decimals.
    pub fn number(&self, value: Decimal, decimals: u32) -> String {
        self.written(figures::rounded(value, decimals))
    }

    /// A number that is written already, of percent.
    pub fn percent(&self, number: &str) -> String {
        // As CLDR has it: of the Spanish ones that of Spain alone has a space.
        let is_spain = self.locale.region.is_none_or(|region| region.as_str() == "ES");
        let space = if self.locale.language == Language::Spanish && is_spain { "\u{a0}" } else { "" };
        self.message("percent").text("number", number).text("space", space).say()
    }

    /// The language and the form of the numbers, by which a model's text is asked for and checked.
    pub fn writing(&self) -> Writing {
        let is_comma = self.written(Decimal::new(15, 1)).contains(',');
        let numbers = if is_comma { NumberFormat::Comma } else { NumberFormat::Point };
        Writing { language: self.locale.language, numbers }
    }

    /// A message of the catalogue, to be filled.
    pub fn message(&self, id: impl Into<String>) -> Message<'_> {
        Message { texts: self, id: id.into(), args: FluentArgs::new() }
    }
}

/// A message and what is filled in. A figure `x` is `$x` in the template, written as the locale does; where the form of a word
/// depends on it, it is selected by `$x_n`.
pub struct Message<'a> {
    texts: &'a Texts,
    id: String,
    args: FluentArgs<'a>,
}

impl<'a> Message<'a> {
    /// A number with as many decimals as are given.
    #[must_use]
    pub fn number(mut self, name: &str, value: Decimal, decimals: u32) -> Self {
        let value = figures::rounded(value, decimals);
        self.args.set(format!("{name}_n"), value.to_f64().unwrap_or_default());
        let written = self.texts.written(value);
        self.text(name, written)
    }

    #[must_use]
    pub fn count(self, name: &str, count: impl Into<Decimal>) -> Self {
        self.number(name, count.into(), 0)
    }

    /// An amount, with its minor unit below a hundred and without from there on.
    #[must_use]
    pub fn money(mut self, name: &str, amount: Decimal, currency: Currency) -> Self {
        let amount = figures::rounded(amount, figures::decimals_of(amount, currency));
        self.args.set(format!("{name}_n"), amount.to_f64().unwrap_or_default());
        let number = self.texts.written(amount);
        let money = self.texts.message("money").text("number", number).text("currency", currency).say();
        self.text(name, money)
    }

    /// A part of a whole, in percent.
    #[must_use]
    pub fn percent(self, name: &str, share: Decimal, decimals: u32) -> Self {
        let percent = share.saturating_mul(Decimal::ONE_HUNDRED);
        let percent = self.texts.percent(&self.texts.number(percent, decimals));
        self.text(name, percent)
    }

    /// The difference of two parts of a whole, in percentage points.
    #[must_use]
    pub fn points(self, name: &str, difference: Decimal, decimals: u32) -> Self {
        let points = difference.saturating_mul(Decimal::ONE_HUNDRED);
        let points = self.texts.message("points").number("number", points, decimals).say();
        self.text(name, points)
    }

    /// A day: `$x` is its name, `$x_on` says that something was on it.
    #[must_use]
    pub fn day(self, name: &str, day: Date) -> Self {
        let [plain, on] = ["day", "day-on"].map(|id| self.texts.written_day(id, day));
        self.text(&format!("{name}_on"), on).text(name, plain)
    }

    /// A country by its code: `$x` is its name, `$x_in` and `$x_from` say that something was there or came from there.
    #[must_use]
    pub fn country(self, name: &str, code: &str) -> Self {
        let of_code = |id| self.texts.message(id).text("code", code).say();
        let (country, article) = (of_code("country"), of_code("country-article"));
        let [within, from] = ["in-country", "from-country"]
            .map(|id| self.texts.message(id).text("article", &article).text("name", &country).say());
        self.text(&format!("{name}_in"), within).text(&format!("{name}_from"), from).text(name, country)
    }

    /// A name, a code to select by, or a text that is written already.
    #[must_use]
    pub fn text(mut self, name: &str, text: impl Display) -> Self {
        self.args.set(name.to_owned(), text.to_string());
        self
    }

    /// Names one after the other: `$x` is all of them, `$x_listed` those that are followed by more.
    #[must_use]
    pub fn list(self, name: &str, names: &[String]) -> Self {
        let list = match names {
            [] => String::new(),
            [only] => only.clone(),
            [others @ .., last] => {
                self.texts.message("list").text("others", others.join(", ")).text("last", last).say()
            }
        };
        self.text(&format!("{name}_listed"), names.join(", ")).text(name, list)
    }

    /// The text.
    pub fn say(&self) -> String {
        catalogue::filled(&self.texts.catalogues, self.texts.locale.language, &self.id, None, &self.args)
    }

    /// One of several texts of the message.
    pub fn attribute(&self, name: &str) -> String {
        catalogue::filled(&self.texts.catalogues, self.texts.locale.language, &self.id, Some(name), &self.args)
    }
}
