//! The texts of the pages, in three languages, and how figures, days and times are written on them.

use std::sync::LazyLock;

use domain::{
    language::Language,
    money::Currency,
    periods::Change,
    texts::{Catalogue, Locale, Message, Texts},
    zone::Zone,
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

macro_rules! files {
    ($language:literal: $($file:literal),+ $(,)?) => {
        &[$(include_str!(concat!("../texts/", $language, "/", $file, ".ftl"))),+]
    };
}

/// The files of a language.
pub const fn files(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => {
            files!("en": "common", "figures", "people", "access", "overview", "insights", "anomalies", "profit", "inventory", "reorder", "ads", "conversations", "customers", "integrations", "profiles", "data", "status", "keys", "webhooks", "alerts", "credits", "account")
        }
        Language::Spanish => {
            files!("es": "common", "figures", "people", "access", "overview", "insights", "anomalies", "profit", "inventory", "reorder", "ads", "conversations", "customers", "integrations", "profiles", "data", "status", "keys", "webhooks", "alerts", "credits", "account")
        }
        Language::BrazilianPortuguese => {
            files!("pt-BR": "common", "figures", "people", "access", "overview", "insights", "anomalies", "profit", "inventory", "reorder", "ads", "conversations", "customers", "integrations", "profiles", "data", "status", "keys", "webhooks", "alerts", "credits", "account")
        }
    }
}

static PAGES: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::of(files));

/// How a page is written: its texts, and the day, the zone and the currency of what is on it.
pub struct Writer {
    texts: Texts,
    pub zone: Zone,
    pub currency: Currency,
    pub now: OffsetDateTime,
}

impl Writer {
    pub fn new(locale: Locale, zone: Zone, currency: Currency, now: OffsetDateTime) -> Self {
        let texts = Texts::of(locale).with(&PAGES).as_of(zone.day_of(now));
        Self { texts, zone, currency, now }
    }

    /// For who is not logged in, whose account is not known: no page for them has a time or an amount.
    pub fn anonymous(locale: Locale, now: OffsetDateTime) -> Self {
        Self::new(locale, Zone::utc(), Currency::USD, now)
    }

    pub const fn texts(&self) -> &Texts {
        &self.texts
    }

    pub fn locale(&self) -> Locale {
        self.texts.locale()
    }

    /// The account's day that is not over yet.
    pub fn today(&self) -> Date {
        self.zone.day_of(self.now)
    }

    /// A message without figures.
    pub fn say(&self, id: &str) -> String {
        self.texts.message(id).say()
    }

    /// A message to be filled.
    pub fn message(&self, id: impl Into<String>) -> Message<'_> {
        self.texts.message(id)
    }

    /// A number, with the minus sign of typography (U+2212).
    pub fn number(&self, value: Decimal, decimals: u32) -> String {
        minus(self.texts.number(value, decimals))
    }

    /// An amount to the minor unit, without its currency.
    pub fn exact(&self, amount: Decimal) -> String {
        self.number(amount, self.currency.exponent())
    }

    /// An amount without its minor unit and its currency.
    pub fn whole(&self, amount: Decimal) -> String {
        self.number(amount, 0)
    }

    /// A share in percent.
    pub fn percent(&self, share: Decimal, decimals: u32) -> String {
        let number = self.number(share * Decimal::ONE_HUNDRED, decimals);
        self.message("percent").text("number", number).say()
    }

    /// How much more or less, without a sign: that is for a mark beside it to say.
    pub fn change(&self, change: Change) -> String {
        match change {
            Change::Relative(share) => self.percent(share.abs(), 1),
            Change::Points(difference) => {
                self.message("points-short").number("number", difference.abs() * Decimal::ONE_HUNDRED, 1).say()
            }
        }
    }

    /// `20 Nov`.
    pub fn day(&self, day: Date) -> String {
        self.dated("date-short", day)
    }

    /// `Fri 20 Nov`.
    pub fn weekday(&self, day: Date) -> String {
        self.dated("date-weekday", day)
    }

    /// `Friday 20 November`, with its year where that is not near.
    pub fn full_day(&self, day: Date) -> String {
        self.message("date-full").day("day", day).say()
    }

    /// `20 Nov 2026`.
    pub fn day_of_year(&self, day: Date) -> String {
        self.message("day-of-year").text("day", self.day(day)).text("year", day.year()).say()
    }

    /// From one day to another, with the year of the last.
    pub fn days(&self, first: Date, last: Date) -> String {
        self.message("date-range")
            .text("first", self.day(first))
            .text("last", self.day(last))
            .text("year", last.year())
            .say()
    }

    /// `19:36`, in the account's zone.
    pub fn time(&self, at: OffsetDateTime) -> String {
        let local = self.zone.local(at);
        format!("{:02}:{:02}", local.hour(), local.minute())
    }

    /// A time of today, or a day.
    pub fn moment(&self, at: OffsetDateTime) -> String {
        let (day, time) = (self.zone.day_of(at), self.time(at));
        if day == self.today() {
            time
        } else {
            self.message("moment-day").text("time", time).text("day", self.day(day)).say()
        }
    }

    fn dated(&self, id: &str, day: Date) -> String {
        self.message(id)
            .count("weekday", day.weekday().number_from_monday())
            .count("month", u8::from(day.month()))
            .text("date", day.day())
            .say()
    }
}

/// CLDR writes the hyphen; a figure among others reads better with the sign of its width.
fn minus(number: String) -> String {
    match number.strip_prefix('-') {
        Some(rest) => format!("\u{2212}{rest}"),
        None => number,
    }
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeMap;

    use fluent_syntax::{ast::Entry, parser};
    use rust_decimal::dec;
    use time::macros::{date, datetime};

    use super::*;

    pub fn writer(tag: &str) -> Writer {
        let (base, region) = tag.split_once('-').map_or((tag, None), |(base, region)| (base, Some(region)));
        let language = match base {
            "en" => Language::English,
            "es" => Language::Spanish,
            _ => Language::BrazilianPortuguese,
        };
        let locale = Locale { language, region: region.map(|region| region.parse().unwrap()) };
        let zone = "America/Argentina/Buenos_Aires".parse().unwrap();
        Writer::new(locale, zone, "USD".parse().unwrap(), datetime!(2026-11-22 22:36 UTC))
    }

    /// Every message with its text, by language.
    fn messages(language: Language) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        for file in files(language) {
            let resource = parser::parse(*file).unwrap_or_else(|(_, errors)| panic!("{language}: {errors:?}"));
            for entry in resource.body {
                if let Entry::Message(message) = entry {
                    let variables: Vec<_> = variables(&format!("{:?}", message.value));
                    assert!(
                        found.insert(message.id.name.to_owned(), variables.join(" ")).is_none(),
                        "{}",
                        message.id.name
                    );
                }
            }
        }
        found
    }

    /// The figures that a pattern uses; those by which a form is selected are the same.
    fn variables(pattern: &str) -> Vec<String> {
        let mut names: Vec<_> = pattern
            .split("VariableReference { id: Identifier { name: \"")
            .skip(1)
            .filter_map(|rest| rest.split_once('"'))
            .map(|(name, _)| name.trim_end_matches("_n").to_owned())
            .collect();
        names.sort();
        names.dedup();
        names
    }

    #[test]
    fn every_language_has_the_same_messages_with_the_same_figures() {
        let english = messages(Language::English);
        assert!(english.len() > 50);
        for language in Language::ALL {
            assert_eq!(messages(*language), english, "{language}");
        }
    }

    /// Else the service's text would be shown in place of the page's.
    #[test]
    fn no_message_has_the_name_of_one_of_the_service() {
        let service = Texts::of(Locale::ENGLISH);
        for name in messages(Language::English).into_keys() {
            assert_eq!(service.message(&name).say(), name);
        }
    }

    #[test]
    fn figures_are_written_as_the_region_does() {
        let at = |tag| {
            let writer = writer(tag);
            [writer.exact(dec!(-2469.1)), writer.percent(dec!(0.129), 1), writer.weekday(date!(2026 - 11 - 20))]
        };
        assert_eq!(at("en"), ["\u{2212}2,469.10", "12.9%", "Fri 20 Nov"]);
        assert_eq!(at("es-AR"), ["\u{2212}2.469,10", "12,9\u{a0}%", "vie 20 nov"]);
        assert_eq!(at("es-MX"), ["\u{2212}2,469.10", "12.9\u{a0}%", "vie 20 nov"]);
        assert_eq!(at("pt-BR"), ["\u{2212}2.469,10", "12,9%", "sex 20 nov"]);
    }

    #[test]
    fn times_are_of_the_account() {
        let writer = writer("en");
        assert_eq!(writer.today(), date!(2026 - 11 - 22));
        assert_eq!(writer.moment(datetime!(2026-11-22 22:36 UTC)), "19:36");
        assert_eq!(writer.moment(datetime!(2026-11-22 02:00 UTC)), "21 Nov, 23:00");
    }
}
