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

    /// The name of a country; the code itself where it is none.
    pub fn country(&self, code: &str) -> String {
        self.message("country").text("code", code).say()
    }

    /// A message to be filled.
    pub fn message(&self, id: impl Into<String>) -> Message<'_> {
        self.texts.message(id)
    }

    /// A number, with the minus sign of typography (U+2212).
    pub fn number(&self, value: Decimal, decimals: u32) -> String {
        minus(self.texts.number(value, decimals))
    }

    /// A number as a field of a form has it: with the decimal sign of the language, and nothing between thousands.
    pub fn field(&self, value: Decimal) -> String {
        value.normalize().to_string().replace('.', self.decimal_sign())
    }

    /// The number that a field of a form has. Both signs are taken for what they are where that is clear; one sign with three
    /// digits behind it is what it is in the language: 1.000 is a thousand in Spanish and one in English.
    pub fn read(&self, text: &str) -> Option<Decimal> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let last = text.rfind(['.', ',']);
        let decimals = last.filter(|at| {
            let (whole, rest) = text.split_at(*at);
            let is_only = !whole.contains(['.', ',']);
            let groups = rest.len() == 4
                && (1..=3).contains(&whole.trim_start_matches('-').len())
                && !whole.trim_start_matches('-').starts_with('0');
            let is_sign_of_decimals = rest.starts_with(self.decimal_sign());
            if is_only { !groups || is_sign_of_decimals } else { !whole.contains(&rest[..1]) }
        });
        let (whole, rest) = text.split_at(decimals.unwrap_or(text.len()));
        let groups: Vec<&str> = whole.trim_start_matches('-').split(['.', ',']).collect();
        let (first, others) = groups.split_first()?;
        let is_grouped =
            others.iter().all(|group| group.len() == 3) && (others.is_empty() || (1..=3).contains(&first.len()));
        let is_one_sign = !(whole.contains('.') && whole.contains(','));
        let plain = format!("{}{}", whole.replace(['.', ','], ""), rest.replace(',', "."));
        (is_grouped && is_one_sign).then(|| plain.parse().ok()).flatten()
    }

    fn decimal_sign(&self) -> &'static str {
        if self.texts.number(Decimal::new(15, 1), 1).contains(',') { "," } else { "." }
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
        self.in_percent(share.saturating_mul(Decimal::ONE_HUNDRED), decimals)
    }

    /// A number of percent.
    pub fn in_percent(&self, value: Decimal, decimals: u32) -> String {
        self.texts.percent(&self.number(value, decimals))
    }

    /// How much more or less, without a sign: that is for a mark beside it to say.
    pub fn change(&self, change: Change) -> String {
        match change {
            Change::Relative(share) => self.percent(share.abs(), 1),
            Change::Points(difference) => {
                let points = difference.abs().saturating_mul(Decimal::ONE_HUNDRED);
                self.message("points-short").number("number", points, 1).say()
            }
        }
    }

    /// `20 Nov`, or `Nov 20` where the month comes first.
    pub fn short_day(&self, day: Date) -> String {
        self.dated("date-short", day)
    }

    /// The same, with its year where that is not near.
    pub fn day(&self, day: Date) -> String {
        if self.texts.is_near(day) { self.short_day(day) } else { self.day_of_year(day) }
    }

    /// `Fri 20 Nov`.
    pub fn short_weekday(&self, day: Date) -> String {
        self.dated("date-weekday", day)
    }

    /// The same, with its year where that is not near.
    pub fn weekday(&self, day: Date) -> String {
        let short = self.short_weekday(day);
        if self.texts.is_near(day) { short } else { self.with_year(short, day) }
    }

    /// `Friday 20 November`, with its year where that is not near.
    pub fn full_day(&self, day: Date) -> String {
        self.message("date-full").day("day", day).say()
    }

    /// `20 Nov 2026`.
    pub fn day_of_year(&self, day: Date) -> String {
        self.with_year(self.short_day(day), day)
    }

    /// From one day to another, with the year of the last, and of the first where it is another.
    pub fn days(&self, first: Date, last: Date) -> String {
        let is_one_year = first.year() == last.year();
        self.message("date-range")
            .text("first", if is_one_year { self.short_day(first) } else { self.day_of_year(first) })
            .text("last", self.short_day(last))
            .text("year", last.year())
            .text("order", self.texts.first_of_dates())
            .say()
    }

    /// `19:36`, in the account's zone.
    pub fn time(&self, at: OffsetDateTime) -> String {
        let local = self.zone.local(at);
        format!("{:02}:{:02}", local.hour(), local.minute())
    }

    /// A time of today, or of a day, with its year where that is not near.
    pub fn moment(&self, at: OffsetDateTime) -> String {
        let (day, time) = (self.zone.day_of(at), self.time(at));
        if day == self.today() {
            time
        } else {
            self.message("moment-day").text("time", time).text("day", self.day(day)).say()
        }
    }

    fn with_year(&self, written: String, day: Date) -> String {
        let order = self.texts.first_of_dates();
        self.message("day-of-year").text("day", written).text("year", day.year()).text("order", order).say()
    }

    fn dated(&self, id: &str, day: Date) -> String {
        self.message(id)
            .count("weekday", day.weekday().number_from_monday())
            .count("month", u8::from(day.month()))
            .text("date", day.day())
            .text("order", self.texts.first_of_dates())
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
    use rstest::rstest;
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

    /// The figures that a pattern uses; those by which a form is selected are the same. What comes first in a date is told to
    /// English alone, which has both ways.
    fn variables(pattern: &str) -> Vec<String> {
        let mut names: Vec<_> = pattern
            .split("VariableReference { id: Identifier { name: \"")
            .skip(1)
            .filter_map(|rest| rest.split_once('"'))
            .map(|(name, _)| name.trim_end_matches("_n").to_owned())
            .filter(|name| name != "order")
            .collect();
        names.sort();
        names.dedup();
        names
    }

    #[rstest]
    #[case("en", "1,000", Some(dec!(1000)))]
    #[case("en", "1.000", Some(dec!(1)))]
    #[case("es-AR", "1.000", Some(dec!(1000)))]
    #[case("es-AR", "1,000", Some(dec!(1)))]
    #[case("pt-BR", "100.000", Some(dec!(100000)))]
    #[case("es-MX", "1,000.5", Some(dec!(1000.5)))]
    #[case("pt-BR", "1.234,50", Some(dec!(1234.50)))]
    #[case("en", "1.234,50", Some(dec!(1234.50)))]
    #[case("en", "1,234,567", Some(dec!(1234567)))]
    #[case("es-AR", "2.9", Some(dec!(2.9)))]
    #[case("en", "2,9", Some(dec!(2.9)))]
    #[case("pt-BR", "0.125", Some(dec!(0.125)))]
    #[case("en", " 1 000 ", Some(dec!(1000)))]
    #[case("en", "-1,5", Some(dec!(-1.5)))]
    #[case("en", "1,23,456", None)]
    #[case("en", "1.2.3", None)]
    #[case("en", "1,000,00", None)]
    #[case("en", "", None)]
    #[case("en", ".", None)]
    #[case("en", "ten", None)]
    fn a_number_is_read_as_it_is_written_there(
        #[case] locale: &str,
        #[case] text: &str,
        #[case] number: Option<Decimal>,
    ) {
        assert_eq!(writer(locale).read(text), number);
    }

    #[test]
    fn a_field_reads_what_it_has_written() {
        for locale in ["en", "es-AR", "es-MX", "pt-BR"] {
            for number in [dec!(0.95), dec!(1.234), dec!(-12.5), dec!(1000), dec!(1234567.125), dec!(0)] {
                let writer = writer(locale);
                assert_eq!(writer.read(&writer.field(number)), Some(number), "{locale}");
            }
        }
        assert_eq!((writer("en").field(dec!(2.90)), writer("pt-BR").field(dec!(2.90))), ("2.9".into(), "2,9".into()));
    }

    #[test]
    fn days_of_two_years_name_both() {
        let days = |first| writer("en").days(first, date!(2026 - 11 - 25));
        assert_eq!(days(date!(2026 - 11 - 01)), "1 Nov – 25 Nov 2026");
        assert_eq!(days(date!(2025 - 11 - 26)), "26 Nov 2025 – 25 Nov 2026");
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
    fn the_largest_shares_are_written() {
        let writer = writer("en");
        let largest = writer.percent(Decimal::MAX, 1);
        assert_eq!(largest, "79,228,162,514,264,337,593,543,950,335%");
        assert_eq!(writer.change(Change::Relative(Decimal::MIN)), largest);
        assert!(writer.change(Change::Points(Decimal::MAX)).starts_with("79,228,"));
    }

    #[test]
    fn figures_are_written_as_the_region_does() {
        let at = |tag| {
            let writer = writer(tag);
            [writer.exact(dec!(-2469.1)), writer.percent(dec!(0.129), 1), writer.weekday(date!(2026 - 11 - 20))]
        };
        assert_eq!(at("en"), ["\u{2212}2,469.10", "12.9%", "Fri 20 Nov"]);
        assert_eq!(at("es-AR"), ["\u{2212}2.469,10", "12,9%", "vie 20 nov"]);
        assert_eq!(at("es-MX"), ["\u{2212}2,469.10", "12.9%", "vie 20 nov"]);
        assert_eq!(at("pt-BR"), ["\u{2212}2.469,10", "12,9%", "sex 20 nov"]);
    }

    #[test]
    fn the_month_comes_first_where_it_does() {
        let (writer, day) = (writer("en-US"), date!(2026 - 11 - 20));
        assert_eq!([writer.short_day(day), writer.weekday(day)], ["Nov 20", "Fri, Nov 20"]);
        assert_eq!([writer.day_of_year(day), writer.full_day(day)], ["Nov 20, 2026", "Friday, November 20"]);
        assert_eq!(writer.days(date!(2025 - 11 - 26), day), "Nov 26, 2025 – Nov 20, 2026");
        assert_eq!(writer.days(date!(2026 - 11 - 01), day), "Nov 1 – Nov 20, 2026");
    }

    #[test]
    fn a_day_that_is_not_near_has_its_year() {
        let (writer, far) = (writer("en"), date!(2025 - 11 - 20));
        assert_eq!([writer.day(far), writer.weekday(far)], ["20 Nov 2025", "Thu 20 Nov 2025"]);
        assert_eq!([writer.short_day(far), writer.short_weekday(far)], ["20 Nov", "Thu 20 Nov"]);
        assert_eq!(writer.moment(datetime!(2025-11-20 15:00 UTC)), "20 Nov 2025, 12:00");
        assert_eq!([writer.day(date!(2027 - 10 - 01)), writer.day(date!(2026 - 03 - 01))], ["1 Oct 2027", "1 Mar"]);
    }

    #[test]
    fn times_are_of_the_account() {
        let writer = writer("en");
        assert_eq!(writer.today(), date!(2026 - 11 - 22));
        assert_eq!(writer.moment(datetime!(2026-11-22 22:36 UTC)), "19:36");
        assert_eq!(writer.moment(datetime!(2026-11-22 02:00 UTC)), "21 Nov, 23:00");
    }
}
