//! Automatic top-up: the settings, and when a charge may be made.

use std::fmt;

use async_trait::async_trait;
use time::{Duration, Month, OffsetDateTime};

use crate::{
    AccountId, ChargeId, StoreError,
    audit::Entry,
    money::Currency,
    payments::{CreditPack, PaymentId, Price, PriceList},
};

/// The highest threshold, credits.
pub const MAX_THRESHOLD: i64 = 1_000_000;
/// The highest cap of a month, credits: above what anybody buys, and a number that every client can hold.
pub const MAX_MONTHLY_CAP: i64 = 1_000_000_000;
/// Failed charges in a row that switch it off.
pub const MAX_FAILURES: i64 = 3;
/// Why a charge is canceled that the balance does not call for any more.
pub const BALANCE_RESTORED: &str = "balance_restored";
/// How often a charge that exceeds the monthly cap is looked at again.
pub const CAP_INTERVAL: Duration = Duration::hours(1);
/// The least pause after a charge that did not reach the gateway: its attempts are not counted, so the pauses do not grow.
pub const UNSENT_PAUSE: Duration = Duration::MINUTE;
/// How long after it was first sent a charge may be sent again. Gateways keep idempotency keys for a day: one that is
/// sent later would be a second charge.
pub const SENT_AGAIN_FOR: Duration = Duration::hours(23);
/// How often a charge whose outcome stays unknown is reported.
pub const UNKNOWN_INTERVAL: Duration = Duration::HOUR;

/// When and how the account is topped up automatically.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AutoTopup {
    pub enabled: bool,
    /// Credits; a balance below this is recharged.
    pub threshold: i64,
    /// Credits that a recharge adds.
    pub top_up_amount: i64,
    pub last_charged_at: Option<OffsetDateTime>,
    /// Credits that may be bought automatically in a calendar month (UTC); `None` means [`Rules::monthly_cap`].
    pub monthly_cap: Option<i64>,
    /// Charges that failed since the last that succeeded.
    pub failures: i64,
    /// Why the last of them failed.
    pub last_failure: Option<String>,
    /// Why it was switched off by the service; `None` when it was not.
    pub disabled_reason: Option<String>,
}

/// Why the service switched it off: kept, and told by the API, as an English sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchedOff {
    ChargedBack,
    DeletionAsked,
    UnknownOutcome,
    /// A charge was paid and not credited, for this reason.
    NotCredited(String),
    /// This number of charges in a row failed, the last for this reason.
    Failed {
        charges: i64,
        last: String,
    },
}

const CHARGED_BACK: &str = "a payment was charged back";
const DELETION_ASKED: &str = "the deletion of the account was asked for";
const OUTCOME_UNKNOWN: &str = "for a day it was not known whether a charge was made";
const NOT_CREDITED: &str = "a charge was paid but could not be credited: ";
const CHARGES_FAILED: &str = " charges failed, the last one: ";

impl SwitchedOff {
    /// What a sentence says; none of one that another version wrote.
    pub fn read(sentence: &str) -> Option<Self> {
        match sentence {
            CHARGED_BACK => Some(Self::ChargedBack),
            DELETION_ASKED => Some(Self::DeletionAsked),
            OUTCOME_UNKNOWN => Some(Self::UnknownOutcome),
            other => match other.strip_prefix(NOT_CREDITED) {
                Some(reason) => Some(Self::NotCredited(reason.to_owned())),
                None => {
                    let (charges, last) = other.split_once(CHARGES_FAILED)?;
                    Some(Self::Failed { charges: charges.parse().ok()?, last: last.to_owned() })
                }
            },
        }
    }
}

impl fmt::Display for SwitchedOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChargedBack => f.write_str(CHARGED_BACK),
            Self::DeletionAsked => f.write_str(DELETION_ASKED),
            Self::UnknownOutcome => f.write_str(OUTCOME_UNKNOWN),
            Self::NotCredited(reason) => write!(f, "{NOT_CREDITED}{reason}"),
            Self::Failed { charges, last } => write!(f, "{charges}{CHARGES_FAILED}{last}"),
        }
    }
}

/// New settings. What is none stays as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoTopupChange {
    pub enabled: bool,
    pub threshold: Option<i64>,
    pub top_up_amount: Option<i64>,
    /// `Some(None)` goes back to the service's own.
    pub monthly_cap: Option<Option<i64>>,
}

/// Settings as somebody asks for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Asked {
    pub enabled: bool,
    pub threshold: Option<i64>,
    pub top_up_amount: Option<i64>,
    pub monthly_cap: Option<i64>,
}

/// Why settings cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSettings {
    /// Needed to switch it on.
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error("the threshold is 1 to {MAX_THRESHOLD} credits")]
    Threshold,
    /// No pack has that size; those that have one.
    #[error("no pack has that size")]
    Size(Vec<i64>),
    /// Less than one top-up, or than 1, or too high.
    #[error("the monthly cap is {0} to {MAX_MONTHLY_CAP}")]
    Cap(i64),
}

/// The change that is asked for. Switching on sets everything, switching off only what is said.
///
/// # Errors
/// [`InvalidSettings`], the first of them.
pub fn checked(asked: Asked, prices: &PriceList) -> Result<AutoTopupChange, InvalidSettings> {
    let Asked { enabled, threshold, top_up_amount, monthly_cap } = asked;
    if top_up_amount.is_some_and(|credits| !prices.sizes().contains(&credits)) {
        return Err(InvalidSettings::Size(prices.sizes()));
    }
    if threshold.is_some_and(|credits| !(1..=MAX_THRESHOLD).contains(&credits)) {
        return Err(InvalidSettings::Threshold);
    }
    if enabled {
        threshold.ok_or(InvalidSettings::Missing("threshold"))?;
        top_up_amount.ok_or(InvalidSettings::Missing("top_up_amount"))?;
    }
    let least = top_up_amount.unwrap_or(1);
    if monthly_cap.is_some_and(|cap| !(least..=MAX_MONTHLY_CAP).contains(&cap)) {
        return Err(InvalidSettings::Cap(least));
    }
    let monthly_cap = if enabled { Some(monthly_cap) } else { monthly_cap.map(Some) };
    Ok(AutoTopupChange { enabled, threshold, top_up_amount, monthly_cap })
}

/// What holds for every account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Between the end of one charge and the start of the next.
    pub cooldown: Duration,
    /// Credits a month, for accounts that set none.
    pub monthly_cap: i64,
}

/// A charge that waits, held by one worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub charge: ChargeRef,
    /// Credits to be added.
    pub credits: i64,
    /// How often it has been sent. From the first time on the price is fixed and the payer may have been charged.
    pub attempts: i64,
    pub sent: Option<Sent>,
    /// The gateway's name for who paid last by hand; `None` when nobody has.
    pub customer_id: Option<String>,
    /// The account's.
    pub currency: Currency,
    pub enabled: bool,
    /// Credits; those that AI runs under way were debited count as still there.
    pub balance: i64,
    pub threshold: i64,
    pub monthly_cap: Option<i64>,
    /// The end of the last charge, successful or not.
    pub last_ended_at: Option<OffsetDateTime>,
    /// Credits bought automatically since the month began (UTC).
    pub bought_this_month: i64,
}

/// A charge as it was sent, answered or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    pub terms: Terms,
    pub first_at: OffsetDateTime,
    /// Its payment, once the gateway has named it.
    pub payment: Option<PaymentId>,
}

/// What the gateway is asked for. The same every time a charge is sent, or the gateway would take it for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    pub customer_id: String,
    pub item: String,
    pub price: Price,
}

/// When and by how much an account that has switched it on is recharged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trigger {
    /// Credits.
    pub threshold: i64,
    /// Credits to be added.
    pub credits: i64,
}

impl Trigger {
    /// Whether the balance calls for a recharge.
    pub const fn is_met(self, balance: i64) -> bool {
        balance < self.threshold && self.credits > 0
    }
}

/// Names a charge and proves that the caller still holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChargeRef {
    pub account: AccountId,
    pub id: ChargeId,
    /// Rises with every lease.
    pub claim: i64,
}

impl ChargeRef {
    /// The key under which the gateway charges once.
    pub fn idempotency_key(&self) -> String {
        format!("auto-topup-{}-{}", self.account, self.id)
    }
}

/// What to do about a charge that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Send it, or look up its payment if that is known.
    Send(Terms),
    /// Leave it to the gateway's notification, or to a person, until then: nobody knows whether the payer was charged,
    /// and to send it again might charge a second time.
    LeaveOpen { until: OffsetDateTime },
    /// Not before then.
    Wait { until: OffsetDateTime },
    /// It is not wanted any more.
    Cancel { reason: &'static str },
    /// It cannot be sent.
    Fail { reason: &'static str },
}

/// Decides about a charge. One that was sent before is sent again whatever has changed, as long as the gateway knows
/// its key: the payer may have been charged, and only the gateway knows.
pub fn plan(waiting: &Waiting, prices: &PriceList, rules: Rules, now: OffsetDateTime) -> Plan {
    if let Some(Sent { terms, first_at, payment }) = &waiting.sent {
        if payment.is_none() && now - *first_at >= SENT_AGAIN_FOR {
            return Plan::LeaveOpen { until: now + UNKNOWN_INTERVAL };
        }
        return Plan::Send(terms.clone());
    }
    if !waiting.enabled {
        return Plan::Cancel { reason: "switched_off" };
    }
    if waiting.balance >= waiting.threshold {
        return Plan::Cancel { reason: BALANCE_RESTORED };
    }
    if let Some(until) = waiting.last_ended_at.map(|ended| ended + rules.cooldown).filter(|until| *until > now) {
        return Plan::Wait { until };
    }
    let cap = waiting.monthly_cap.unwrap_or(rules.monthly_cap);
    if waiting.bought_this_month.saturating_add(waiting.credits) > cap {
        // Not until the month ends: the service's own cap may be raised before.
        return Plan::Wait { until: next_month(now).min(now + CAP_INTERVAL) };
    }
    let Some(customer_id) = waiting.customer_id.clone() else { return Plan::Fail { reason: "no_payment_method" } };
    match prices.pack_of(waiting.credits, waiting.currency) {
        Some(CreditPack { key, price, .. }) => Plan::Send(Terms { customer_id, item: key.clone(), price: *price }),
        None => Plan::Fail { reason: "no_such_pack" },
    }
}

/// How long to wait before an unanswered charge is sent again: 5 s, doubling, at most 15 min.
pub fn backoff(attempts: i64) -> Duration {
    let doublings = u32::try_from(attempts.clamp(0, 8)).unwrap_or(8);
    Duration::seconds(5 * 2_i64.pow(doublings)).min(Duration::minutes(15))
}

/// The first instant of the month, UTC.
pub fn month_start(now: OffsetDateTime) -> OffsetDateTime {
    let day = now.to_offset(time::UtcOffset::UTC).date();
    day.replace_day(1).unwrap_or(day).midnight().assume_utc()
}

fn next_month(now: OffsetDateTime) -> OffsetDateTime {
    let first = month_start(now);
    let year = if first.month() == Month::December { first.year() + 1 } else { first.year() };
    let next = time::Date::from_calendar_date(year, first.month().next(), 1);
    next.map_or(first + Duration::days(31), |day| day.midnight().assume_utc())
}

/// How a worker leaves a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// To be looked at again.
    Waiting { until: OffsetDateTime },
    /// The same, with the payment to be looked up from now on.
    Undecided { payment: PaymentId, until: OffsetDateTime },
    /// Nobody knows whether the payer was charged: its payment counts as unnamed, it keeps all others waiting, and automatic
    /// top-ups are switched off.
    Unknown { until: OffsetDateTime },
    /// For [`BALANCE_RESTORED`] another one is queued if the balance calls for it by now.
    Canceled { reason: &'static str },
    /// The attempt is taken back: the gateway has not heard of it. If it was the first, the settings apply again.
    Unsent { until: OffsetDateTime },
    /// Counts towards [`MAX_FAILURES`]; tried again then, unless that was the last.
    Failed { reason: String, retry_at: OffsetDateTime },
    /// The payer was charged and got nothing for it: nothing is charged again before a person has switched it on.
    Stopped { reason: String },
}

/// Where settings and charges are kept. A charge is queued in the transaction that leaves the balance below the
/// threshold, one at a time per account; its success is written as any payment's is.
#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait AutoTopupStore: Send + Sync {
    /// Changes the settings; switching on forgets earlier failures. A charge that waits and was not sent yet follows
    /// them: it is due at once with the new size, or canceled when it is not wanted any more. Below the threshold a
    /// charge is queued.
    async fn change(
        &self,
        account: AccountId,
        change: AutoTopupChange,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<AutoTopup, StoreError>;

    /// Takes charges that are due, for this worker alone until `until`.
    async fn lease(&self, now: OffsetDateTime, until: OffsetDateTime, limit: i64) -> Result<Vec<Waiting>, StoreError>;

    /// Fixes the terms and counts the attempt, before the charge is sent. False: it is no longer the caller's.
    async fn sending(&self, charge: ChargeRef, terms: &Terms, now: OffsetDateTime) -> Result<bool, StoreError>;

    /// Leaves a charge that was not paid. Nothing when it is no longer the caller's.
    async fn leave(&self, charge: ChargeRef, left: Left, now: OffsetDateTime) -> Result<(), StoreError>;

    /// Cancels the account's charge of unknown outcome, which an operator has looked for at the gateway in vain. False:
    /// there is none, or it may still be sent again. Should it have been paid after all, its notification adds the
    /// credits.
    async fn not_charged(&self, account: AccountId, now: OffsetDateTime) -> Result<bool, StoreError>;
}

#[cfg(test)]
mod tests {

    use rstest::rstest;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-12-10 12:00 UTC);
    const RULES: Rules = Rules { cooldown: Duration::minutes(10), monthly_cap: 2_000 };

    fn waiting() -> Waiting {
        Waiting {
            charge: ChargeRef { account: AccountId(3), id: ChargeId(8), claim: 1 },
            credits: 500,
            attempts: 0,
            sent: None,
            customer_id: Some("cus_1".to_owned()),
            currency: "USD".parse().unwrap(),
            enabled: true,
            balance: 40,
            threshold: 100,
            monthly_cap: None,
            last_ended_at: None,
            bought_this_month: 1_500,
        }
    }

    fn prices() -> PriceList {
        PriceList::parse("small:500:9.00:USD", "").unwrap()
    }

    fn terms(item: &str, customer_id: &str) -> Terms {
        Terms { customer_id: customer_id.to_owned(), item: item.to_owned(), price: prices().packs()[0].price }
    }

    #[rstest]
    #[case(SwitchedOff::ChargedBack, "a payment was charged back")]
    #[case(SwitchedOff::DeletionAsked, "the deletion of the account was asked for")]
    #[case(SwitchedOff::UnknownOutcome, "for a day it was not known whether a charge was made")]
    #[case(
        SwitchedOff::NotCredited("amount_mismatch".to_owned()),
        "a charge was paid but could not be credited: amount_mismatch"
    )]
    #[case(
        SwitchedOff::Failed { charges: 3, last: "card_declined".to_owned() },
        "3 charges failed, the last one: card_declined"
    )]
    fn why_it_was_switched_off_is_a_sentence_that_can_be_read(#[case] why: SwitchedOff, #[case] sentence: &str) {
        assert_eq!((why.to_string().as_str(), SwitchedOff::read(sentence)), (sentence, Some(why)));
        assert_eq!(SwitchedOff::read("the moon was full"), None);
    }

    #[test]
    fn what_is_wanted_and_allowed_is_sent() {
        assert_eq!(plan(&waiting(), &prices(), RULES, NOW), Plan::Send(terms("small", "cus_1")));
        assert_eq!(waiting().charge.idempotency_key(), "auto-topup-3-8");
    }

    #[rstest]
    #[case(Waiting { enabled: false, ..waiting() }, Plan::Cancel { reason: "switched_off" })]
    #[case(Waiting { balance: 100, ..waiting() }, Plan::Cancel { reason: "balance_restored" })]
    #[case(Waiting { customer_id: None, ..waiting() }, Plan::Fail { reason: "no_payment_method" })]
    #[case(Waiting { credits: 400, ..waiting() }, Plan::Fail { reason: "no_such_pack" })]
    #[case(Waiting { bought_this_month: 1_501, ..waiting() }, Plan::Wait { until: datetime!(2026-12-10 13:00 UTC) })]
    #[case(Waiting { monthly_cap: Some(1_999), ..waiting() }, Plan::Wait { until: datetime!(2026-12-10 13:00 UTC) })]
    #[case(
        Waiting { last_ended_at: Some(NOW - Duration::minutes(9)), ..waiting() },
        Plan::Wait { until: NOW + Duration::minutes(1) }
    )]
    fn what_is_not_is_not(#[case] waiting: Waiting, #[case] expected: Plan) {
        assert_eq!(plan(&waiting, &prices(), RULES, NOW), expected);
    }

    #[test]
    fn a_cap_is_looked_at_again_when_the_month_begins() {
        let (waiting, last) = (Waiting { monthly_cap: Some(1_999), ..waiting() }, datetime!(2026-12-31 23:30 UTC));
        let until = datetime!(2027-01-01 0:00 UTC);
        assert_eq!(plan(&waiting, &prices(), RULES, last), Plan::Wait { until });
    }

    #[test]
    fn a_balance_below_the_threshold_calls_for_a_recharge() {
        let trigger = Trigger { threshold: 100, credits: 500 };
        assert_eq!([0, 99, 100, 101].map(|balance| trigger.is_met(balance)), [true, true, false, false]);
        assert!(!Trigger { credits: 0, ..trigger }.is_met(0));
    }

    #[rstest]
    #[case::just_now(Duration::ZERO, None, true)]
    #[case::before_the_day_is_over(Duration::hours(23) - Duration::SECOND, None, true)]
    #[case::when_the_key_may_be_forgotten(Duration::hours(23), None, false)]
    #[case::long_ago(Duration::days(400), None, false)]
    #[case::a_known_payment_is_only_looked_up(Duration::days(400), Some("pay_1"), true)]
    fn what_was_sent_is_sent_again_as_it_was_for_less_than_a_day(
        #[case] age: Duration,
        #[case] payment: Option<&str>,
        #[case] again: bool,
    ) {
        let payment = payment.map(|id| id.parse().unwrap());
        let sent = Some(Sent { terms: terms("old", "cus_0"), first_at: NOW - age, payment });
        let waiting = Waiting { sent, enabled: false, balance: 900, ..waiting() };
        let until = datetime!(2026-12-10 13:00 UTC);
        let expected = if again { Plan::Send(terms("old", "cus_0")) } else { Plan::LeaveOpen { until } };
        assert_eq!(plan(&waiting, &PriceList::default(), RULES, NOW), expected);
    }

    #[test]
    fn the_pause_between_attempts_grows_to_a_quarter_of_an_hour() {
        let pauses: Vec<_> = [0, 1, 4, 8, 1_000].map(|attempts| backoff(attempts).whole_seconds()).into();
        assert_eq!(pauses, [5, 10, 80, 900, 900]);
    }
}
