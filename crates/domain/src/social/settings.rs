//! What an account lets the bot do.

use async_trait::async_trait;
use rust_decimal::{Decimal, dec};
use time::{Duration, OffsetDateTime, Time};

use super::{Category, Gate, Mode, templates::Links};
use crate::{AccountId, StoreError, audit::Entry, text, zone::Zone};

/// Words that make the bot leave a person alone, at most.
pub const MAX_OPT_OUT_WORDS: usize = 50;
/// Characters of each.
pub const MAX_OPT_OUT_CHARS: usize = 50;
/// Hosts that answers may lead to, at most.
pub const MAX_OWN_HOSTS: usize = 10;
/// Opening hours, at most: two a day and more.
pub const MAX_HOURS: usize = 28;
/// Characters of the link.
pub const MAX_LINK_CHARS: usize = 500;
/// The lowest confidence that may be asked for.
pub const MIN_THRESHOLD: Decimal = dec!(0.5);

text_enum!(
    /// A day of the week.
    Weekday { Monday = "mon", Tuesday = "tue", Wednesday = "wed", Thursday = "thu", Friday = "fri", Saturday = "sat", Sunday = "sun" }
);

impl From<time::Weekday> for Weekday {
    fn from(day: time::Weekday) -> Self {
        match day {
            time::Weekday::Monday => Self::Monday,
            time::Weekday::Tuesday => Self::Tuesday,
            time::Weekday::Wednesday => Self::Wednesday,
            time::Weekday::Thursday => Self::Thursday,
            time::Weekday::Friday => Self::Friday,
            time::Weekday::Saturday => Self::Saturday,
            time::Weekday::Sunday => Self::Sunday,
        }
    }
}

/// Hours of a day in which the bot answers, by the account's clock; the end is left out, and 00:00 there is midnight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hours {
    pub day: Weekday,
    pub from: Time,
    pub to: Time,
}

/// How much the bot answers at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    pub per_user_day: i64,
    pub per_post_hour: i64,
    pub per_account_hour: i64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { per_user_day: 3, per_post_hour: 30, per_account_hour: 60 }
    }
}

/// The settings. Valid by construction: see [`Settings::checked`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub mode: Mode,
    /// Below it an answer is held.
    pub threshold: Decimal,
    /// Empty: at any time.
    pub business_hours: Vec<Hours>,
    pub caps: Caps,
    /// What is answered without a person in mode `auto`.
    pub categories_auto: Vec<Category>,
    pub opt_out_words: Vec<String>,
    pub links: Links,
    /// Whether a language model is asked, for credits, where the rules are in doubt.
    pub model_vote: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mode: Mode::DryRun,
            threshold: dec!(0.95),
            business_hours: Vec::new(),
            caps: Caps::default(),
            categories_auto: vec![Category::PriceQuestion, Category::ShippingQuestion, Category::StockQuestion],
            opt_out_words: Vec::new(),
            links: Links::default(),
            model_vote: false,
        }
    }
}

/// Which setting cannot be, and why. The message completes "`field` …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct InvalidSettings {
    pub field: &'static str,
    pub fault: String,
}

fn invalid(field: &'static str, fault: impl Into<String>) -> InvalidSettings {
    InvalidSettings { field, fault: fault.into() }
}

impl Settings {
    /// # Errors
    /// [`InvalidSettings`] names the first field that cannot be.
    pub fn checked(self) -> Result<Self, InvalidSettings> {
        let Self { threshold, business_hours, caps, categories_auto, opt_out_words, links, .. } = &self;
        if !(MIN_THRESHOLD..=Decimal::ONE).contains(threshold) || threshold.normalize().scale() > 4 {
            return Err(invalid("threshold", "must be from 0.5 to 1, with at most 4 decimals"));
        }
        if business_hours.len() > MAX_HOURS {
            return Err(invalid("business_hours", format!("may hold at most {MAX_HOURS} entries")));
        }
        if business_hours.iter().any(|hours| hours.to != Time::MIDNIGHT && hours.from >= hours.to) {
            return Err(invalid("business_hours", "must have each `from` before its `to`; 00:00 as `to` is midnight"));
        }
        for (cap, most) in [(caps.per_user_day, 20), (caps.per_post_hour, 200), (caps.per_account_hour, 500)] {
            if !(0..=most).contains(&cap) {
                return Err(invalid(
                    "caps",
                    "must be whole numbers: per_user_day 0 to 20, per_post_hour 0 to 200, per_account_hour 0 to 500",
                ));
            }
        }
        if !categories_auto.iter().all(|category| category.is_question()) {
            return Err(invalid(
                "categories_auto",
                "may name price_question, shipping_question and stock_question; people answer the others",
            ));
        }
        check_words(opt_out_words)?;
        check_links(links)?;
        Ok(self)
    }

    /// Whether the bot may answer now, by the account's clock.
    pub fn is_open(&self, zone: &Zone, now: OffsetDateTime) -> bool {
        let local = zone.local(now);
        let (day, clock) = (Weekday::from(local.weekday()), local.time());
        self.business_hours.is_empty()
            || self.business_hours.iter().any(|hours| {
                hours.day == day && hours.from <= clock && (clock < hours.to || hours.to == Time::MIDNIGHT)
            })
    }

    /// When the bot may answer next: `now` if it may, `None` if not within eight days.
    pub fn opens_at(&self, zone: &Zone, now: OffsetDateTime) -> Option<OffsetDateTime> {
        if self.is_open(zone, now) {
            return Some(now);
        }
        let today = zone.day_of(now);
        let days = (0..8).filter_map(|ahead| today.checked_add(Duration::days(ahead)));
        let openings = days.flat_map(|day| {
            let of_day = move |hours: &&Hours| hours.day == Weekday::from(day.weekday());
            self.business_hours.iter().filter(of_day).map(move |hours| zone.instant_of(day.with_time(hours.from)))
        });
        openings.filter(|opening| *opening > now).min()
    }
}

fn check_words(words: &[String]) -> Result<(), InvalidSettings> {
    if words.len() > MAX_OPT_OUT_WORDS {
        return Err(invalid("opt_out_words", format!("may hold at most {MAX_OPT_OUT_WORDS} texts")));
    }
    for word in words {
        text::check(word, MAX_OPT_OUT_CHARS)
            .map_err(|why| invalid("opt_out_words", format!("holds a text that is refused: {why}")))?;
        if super::classify::words(word).is_empty() || word.chars().any(char::is_control) {
            return Err(invalid("opt_out_words", "must hold texts of letters or digits, without control characters"));
        }
    }
    Ok(())
}

fn check_links(links: &Links) -> Result<(), InvalidSettings> {
    let Links { own_hosts, link } = links;
    if own_hosts.len() > MAX_OWN_HOSTS {
        return Err(invalid("own_hosts", format!("may hold at most {MAX_OWN_HOSTS} host names")));
    }
    for host in own_hosts {
        let is_canonical = url::Url::parse(&format!("https://{host}/")).is_ok_and(|url| url.domain() == Some(host));
        if !is_canonical || host.len() > 253 || !host.contains('.') || !host.split('.').all(is_label) {
            return Err(invalid("own_hosts", "must hold host names in small letters, such as shop.example.com"));
        }
    }
    let Some(link) = link else { return Ok(()) };
    let is_long = text::check(link, MAX_LINK_CHARS).is_err();
    if is_long
        || link.chars().any(|c| c.is_control() || c.is_whitespace())
        || !super::templates::is_own(link, own_hosts)
    {
        return Err(invalid("link", "must be an https address of at most 500 characters on one of `own_hosts`"));
    }
    Ok(())
}

/// Whether it can be a part of a host name (RFC 1123, section 2.1).
fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Why settings were not changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("`auto` has not been earned yet")]
    GateClosed(Gate),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The settings of an account, and whether `auto` was earned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    pub settings: Settings,
    pub gate: Gate,
    /// Since when the platform refuses answers as abusive: mode `auto` has to be chosen again.
    pub blocked_at: Option<OffsetDateTime>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait SettingsStore: Send + Sync {
    /// The defaults where nothing was set.
    async fn setup(&self, account: AccountId) -> Result<Setup, StoreError>;
    /// Puts settings in the place of those before. `auto` only while the gate is open. `note` goes into the audit log with it.
    async fn put(
        &self,
        account: AccountId,
        settings: Settings,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Setup, SettingsError>;
    /// Sets mode `off` and leaves the rest, whatever else is being set meanwhile.
    async fn stop(&self, account: AccountId, note: Option<Entry>, now: OffsetDateTime) -> Result<Setup, StoreError>;
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use time::macros::{datetime, time};

    use super::*;

    fn nine_to_six() -> Settings {
        let hours = |day| Hours { day, from: time!(09:00), to: time!(18:00) };
        Settings { business_hours: vec![hours(Weekday::Friday), hours(Weekday::Monday)], ..Settings::default() }
    }

    /// São Paulo is 3 hours behind UTC; 2026-11-20 is a Friday.
    #[rstest]
    #[case(datetime!(2026-11-20 12:00 UTC), datetime!(2026-11-20 12:00 UTC))]
    #[case(datetime!(2026-11-20 11:59:59 UTC), datetime!(2026-11-20 12:00 UTC))]
    #[case(datetime!(2026-11-20 20:59:59 UTC), datetime!(2026-11-20 20:59:59 UTC))]
    #[case(datetime!(2026-11-20 21:00 UTC), datetime!(2026-11-23 12:00 UTC))]
    fn hours_are_the_accounts(#[case] now: OffsetDateTime, #[case] opens: OffsetDateTime) {
        let zone = "America/Sao_Paulo".parse().unwrap();
        assert_eq!(nine_to_six().opens_at(&zone, now), Some(opens));
        assert_eq!(nine_to_six().is_open(&zone, now), now == opens);
    }

    #[test]
    fn without_hours_it_is_always_open_and_midnight_ends_a_day() {
        let now = datetime!(2026-11-20 23:59:59 UTC);
        assert!(Settings::default().is_open(&Zone::utc(), now));
        let late = Hours { day: Weekday::Friday, from: time!(20:00), to: Time::MIDNIGHT };
        let late = Settings { business_hours: vec![late], ..Settings::default() }.checked().unwrap();
        assert!(late.is_open(&Zone::utc(), now) && !late.is_open(&Zone::utc(), datetime!(2026-11-21 00:00 UTC)));
    }

    fn hosts(host: &str) -> Settings {
        Settings { links: Links { own_hosts: vec![host.into()], link: None }, ..Settings::default() }
    }

    #[rstest]
    #[case("threshold", Settings { threshold: dec!(0.4999), ..Settings::default() })]
    #[case("threshold", Settings { threshold: dec!(1.0001), ..Settings::default() })]
    #[case("threshold", Settings { threshold: dec!(0.95001), ..Settings::default() })]
    #[case("caps", Settings { caps: Caps { per_user_day: -1, ..Caps::default() }, ..Settings::default() })]
    #[case("caps", Settings { caps: Caps { per_account_hour: 501, ..Caps::default() }, ..Settings::default() })]
    #[case("categories_auto", Settings { categories_auto: vec![Category::Praise], ..Settings::default() })]
    #[case("opt_out_words", Settings { opt_out_words: vec!["…".into()], ..Settings::default() })]
    #[case("opt_out_words", Settings { opt_out_words: vec!["a\0".into()], ..Settings::default() })]
    #[case("own_hosts", Settings { links: Links { own_hosts: vec!["Shop.example.com".into()], link: None }, ..Settings::default() })]
    #[case("own_hosts", Settings { links: Links { own_hosts: vec!["127.0.0.1".into()], link: None }, ..Settings::default() })]
    #[case("own_hosts", Settings { links: Links { own_hosts: vec!["a.b/c".into()], link: None }, ..Settings::default() })]
    #[case("own_hosts", hosts("*.example.com"))]
    #[case("own_hosts", hosts(".example.com"))]
    #[case("own_hosts", hosts("a..com"))]
    #[case("own_hosts", hosts("$.com"))]
    #[case("own_hosts", hosts("-a.com"))]
    #[case("own_hosts", hosts("example.com."))]
    #[case("own_hosts", hosts("tienda.рф"))]
    #[case("link", Settings { links: Links { own_hosts: vec!["example.com".into()], link: Some(r"https://example.com\\@evil.example/".into()) }, ..Settings::default() })]
    #[case("link", Settings { links: Links { own_hosts: vec![], link: Some("https://a.example/".into()) }, ..Settings::default() })]
    #[case("business_hours", Settings { business_hours: vec![Hours { day: Weekday::Monday, from: time!(10:00), to: time!(09:00) }], ..Settings::default() })]
    fn what_cannot_be_is_named(#[case] field: &str, #[case] settings: Settings) {
        assert_eq!(settings.checked().unwrap_err().field, field);
    }

    #[test]
    fn the_defaults_are_valid_and_send_nothing() {
        assert_eq!(Settings::default().checked().unwrap().mode, Mode::DryRun);
    }
}
