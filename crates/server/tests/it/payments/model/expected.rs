//! What payments and automatic top-ups come to, written down a second time, without a database and without the rules of
//! the service.

use std::collections::BTreeMap;

use domain::payments::{Payment, PaymentStatus};
use rust_decimal::{Decimal, dec};
use time::{Duration, OffsetDateTime};

use super::{
    COOLDOWN, MONTHLY_CAP,
    gateway::{Book, Fault},
};

/// Packs and plans of each list, as they are configured.
pub const LISTS: [(&str, &str); 4] = [
    ("small:500:9.00:USD,big:1000:16.00:USD", "pro:month:3000:49.00:USD,scale:year:9000:490.00:USD"),
    ("small:500:10.00:USD,big:1000:16.00:USD", "pro:month:3000:59.00:USD"),
    ("small:600:9.00:USD,big:1000:15.00:USD", "scale:year:8000:490.00:USD"),
    ("big:1000:16.00:USD", ""),
];

/// The same, item by item: credits, price, plan.
fn offer(list: usize, item: &str) -> Option<(i64, Decimal, Option<&'static str>)> {
    Some(match (list, item) {
        (0, "small") => (500, dec!(9), None),
        (1, "small") => (500, dec!(10), None),
        (2, "small") => (600, dec!(9), None),
        (0 | 1 | 3, "big") => (1_000, dec!(16), None),
        (2, "big") => (1_000, dec!(15), None),
        (0, "pro_month") => (3_000, dec!(49), Some("pro")),
        (1, "pro_month") => (3_000, dec!(59), Some("pro")),
        (0, "scale_year") => (9_000, dec!(490), Some("scale")),
        (2, "scale_year") => (8_000, dec!(490), Some("scale")),
        _ => return None,
    })
}

const ITEMS: [&str; 4] = ["small", "big", "pro_month", "scale_year"];

pub fn price_of(list: usize, item: usize) -> Option<(&'static str, Decimal)> {
    offer(list, ITEMS[item]).map(|(_, amount, _)| (ITEMS[item], amount))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Credited,
    Reversed,
    Noted,
    Unchanged,
    Refused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settings {
    pub enabled: bool,
    pub threshold: i64,
    pub credits: i64,
    pub cap: Option<i64>,
    pub failures: i64,
    /// By the service.
    pub switched_off: bool,
}

/// The charge that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    pub credits: i64,
    pub due: OffsetDateTime,
    pub attempts: i64,
}

/// The pending charge as it was sent.
struct Sent {
    first_at: OffsetDateTime,
    /// Its payment, if it was made without an answer that decides.
    payment: Option<String>,
    /// Whether the service has heard of that payment.
    is_named: bool,
}

/// What was bought, as it was when the payment was first seen.
#[derive(Clone)]
struct Bought {
    credits: i64,
    plan: Option<&'static str>,
    is_charge: bool,
    /// Last reported.
    status: PaymentStatus,
    /// When that was.
    at: OffsetDateTime,
}

pub struct Expected {
    balance: i64,
    plan: &'static str,
    settings: Settings,
    pending: Option<Pending>,
    /// Once sent, it stays.
    sent: Option<Sent>,
    has_card: bool,
    bought: BTreeMap<String, Bought>,
    /// The credits of charges whose payment was made without an answer that says so, by the payment.
    unanswered: BTreeMap<String, i64>,
    /// When a charge last ended, and what charges added when.
    ended: Option<OffsetDateTime>,
    charged: Vec<(OffsetDateTime, i64)>,
    /// When each list was replaced; none for the one in force.
    list: usize,
    replaced: Vec<(usize, OffsetDateTime)>,
}

impl Expected {
    pub fn new(balance: i64) -> Self {
        Self {
            balance,
            plan: "free",
            settings: Settings::default(),
            pending: None,
            sent: None,
            has_card: false,
            bought: BTreeMap::new(),
            unanswered: BTreeMap::new(),
            ended: None,
            charged: Vec::new(),
            list: 0,
            replaced: Vec::new(),
        }
    }

    pub fn shown(&self) -> (i64, String, Settings, Option<Pending>) {
        (self.balance, self.plan.to_owned(), self.settings, self.pending)
    }

    pub fn publish(&mut self, list: usize, now: OffsetDateTime) {
        self.replaced.push((self.list, now));
        self.list = list;
    }

    fn is_low(&self) -> bool {
        self.settings.enabled && self.settings.credits > 0 && self.balance < self.settings.threshold
    }

    fn queue(&mut self, due: OffsetDateTime) {
        if self.is_low() && self.pending.is_none() {
            self.pending = Some(Pending { credits: self.settings.credits, due, attempts: 0 });
            self.sent = None;
        }
    }

    pub fn debit(&mut self, amount: i64, now: OffsetDateTime) -> bool {
        let made = amount <= self.balance;
        if made {
            self.balance -= amount;
        }
        self.queue(now);
        made
    }

    pub fn change(&mut self, enabled: bool, threshold: i64, credits: i64, cap: Option<i64>, now: OffsetDateTime) {
        let failures = if enabled { 0 } else { self.settings.failures };
        self.settings = Settings { enabled, threshold, credits, cap, failures, switched_off: false };
        if self.sent.is_none() {
            self.pending = None;
        }
        self.queue(now);
    }

    /// The offers of an item that stand, or ended at most a week ago; of those with that price the best.
    fn quote(&self, item: &str, amount: Decimal, now: OffsetDateTime) -> Option<(i64, Option<&'static str>)> {
        let recent = self.replaced.iter().filter(|(_, at)| *at >= now - Duration::days(7)).map(|(list, _)| *list);
        let offers = recent.chain([self.list]).filter_map(|list| offer(list, item));
        let matching = offers.filter(|(_, price, _)| *price == amount);
        matching.map(|(credits, _, plan)| (credits, plan)).max_by_key(|(credits, _)| *credits)
    }

    /// The status of a payment that the gateway confirms.
    pub fn report(&mut self, payment: &Payment, now: OffsetDateTime) -> Outcome {
        use PaymentStatus::{Approved, ChargedBack, Pending, Refunded, Rejected};
        let id = payment.id.to_string();
        let order = payment.order.clone().unwrap();
        let before = self.bought.get(&id).map(|bought| bought.status);
        let bought = match self.bought.get(&id) {
            Some(bought) => bought.clone(),
            None => {
                // A charge is what it was sent as.
                let quote = match order.charge {
                    Some(_) => self.unanswered.get(&id).map(|credits| (*credits, None)),
                    None => self.quote(&order.item, payment.amount, now),
                };
                let Some((credits, plan)) = quote else { return Outcome::Refused };
                Bought { credits, plan, is_charge: order.charge.is_some(), status: payment.status, at: now }
            }
        };
        let outcome = match (before, payment.status) {
            (None | Some(Pending | Rejected), Approved) => Outcome::Credited,
            (Some(Approved), Refunded | ChargedBack) => Outcome::Reversed,
            (None, _) | (Some(Pending), Rejected) | (Some(Pending | Rejected), Refunded | ChargedBack) => {
                Outcome::Noted
            }
            (Some(Refunded), ChargedBack) => Outcome::Noted,
            _ => return Outcome::Unchanged,
        };
        if payment.status == ChargedBack {
            self.switch_off();
            if self.sent.is_none() {
                self.pending = None;
            }
        }
        match outcome {
            Outcome::Credited => self.credit(&bought, now),
            Outcome::Reversed => self.balance -= bought.credits.min(self.balance),
            _ => {
                if let Some(sent) = self.sent.as_mut().filter(|sent| sent.payment.as_ref() == Some(&id)) {
                    sent.is_named = true;
                }
            }
        }
        let plan = bought.plan;
        self.bought.insert(id, Bought { status: payment.status, at: now, ..bought });
        if outcome == Outcome::Reversed && plan == Some(self.plan) {
            let standing = self.bought.values().filter(|bought| bought.status == Approved && bought.plan.is_some());
            self.plan = standing.max_by_key(|bought| bought.at).and_then(|bought| bought.plan).unwrap_or("free");
        }
        outcome
    }

    fn credit(&mut self, bought: &Bought, now: OffsetDateTime) {
        self.balance += bought.credits;
        if let Some(plan) = bought.plan {
            self.plan = plan;
        }
        if bought.is_charge {
            self.pending = None;
            self.ended = Some(now);
            self.charged.push((now, bought.credits));
            self.settings.failures = 0;
        } else {
            self.has_card = true;
            if self.settings.enabled {
                self.settings.failures = 0;
            }
        }
        self.queue(now);
    }

    /// Who switched it off before knows why.
    const fn switch_off(&mut self) {
        if self.settings.enabled {
            self.settings.enabled = false;
            self.settings.switched_off = true;
        }
    }

    fn fail(&mut self, now: OffsetDateTime) {
        self.pending = None;
        self.ended = Some(now);
        self.settings.failures += 1;
        if self.settings.failures >= 3 {
            self.switch_off();
        }
        self.queue(now + COOLDOWN);
    }

    /// The worker's look. `book` is the gateway's before it.
    pub fn tick(&mut self, list: usize, book: Book, now: OffsetDateTime) {
        let Some(pending) = self.pending.filter(|pending| pending.due <= now) else { return };
        if self.sent.as_ref().is_some_and(|sent| !sent.is_named && now - sent.first_at >= Duration::hours(23)) {
            self.pending = Some(Pending { due: now + Duration::HOUR, ..pending });
            self.switch_off();
            return;
        }
        if self.sent.is_none() {
            let put_off = |until| Some(Pending { due: until, ..pending });
            if !self.is_low() {
                self.pending = None;
                return;
            }
            if let Some(until) = self.ended.map(|ended| ended + COOLDOWN).filter(|until| *until > now) {
                self.pending = put_off(until);
                return;
            }
            let month = |at: OffsetDateTime| (at.year(), at.month());
            let added: i64 =
                self.charged.iter().filter(|(at, _)| month(*at) == month(now)).map(|(_, credits)| credits).sum();
            if added + pending.credits > self.settings.cap.unwrap_or(MONTHLY_CAP) {
                self.pending = put_off(next_month(now).min(now + Duration::HOUR));
                return;
            }
            let item = ["small", "big"].into_iter().filter_map(|item| offer(list, item));
            let is_sold = item.map(|(credits, ..)| credits).any(|credits| credits == pending.credits);
            if !is_sold || !self.has_card {
                return self.fail(now);
            }
            self.sent = Some(Sent { first_at: now, payment: None, is_named: false });
        }
        self.pending = Some(Pending { attempts: pending.attempts + 1, ..pending });
        self.answer(pending, &book, now);
    }

    /// What the gateway answers to the charge that was sent.
    fn answer(&mut self, pending: Pending, book: &Book, now: OffsetDateTime) {
        // Charges are numbered by the service; the model has one at a time, whose payment, if it was made, is the newest.
        let made = book
            .payments
            .iter()
            .rev()
            .find(|payment| payment.order.as_ref().is_some_and(|order| order.charge.is_some()));
        let asked_before = pending.attempts > 0;
        let later = Pending {
            attempts: pending.attempts + 1,
            due: now + Duration::seconds(5 << pending.attempts.min(8)).min(Duration::minutes(15)),
            ..pending
        };
        match made.filter(|_| asked_before) {
            Some(payment) => match payment.status {
                PaymentStatus::Pending => self.pending = Some(later),
                PaymentStatus::Rejected => {
                    self.report(payment, now);
                    self.fail(now);
                }
                _ => {
                    if self.report(payment, now) != Outcome::Credited {
                        self.pending = None;
                    }
                }
            },
            None => match book.fault {
                Fault::Decline => self.fail(now),
                Fault::LoseAnswer | Fault::Pending => {
                    self.unanswered.insert(self.id(book), pending.credits);
                    self.pending = Some(later);
                    let payment = Some(self.id(book));
                    let is_named = book.fault == Fault::Pending;
                    self.sent = self.sent.take().map(|sent| Sent { payment, is_named, ..sent });
                }
                Fault::None => {
                    let bought = Bought {
                        credits: pending.credits,
                        plan: None,
                        is_charge: true,
                        status: PaymentStatus::Approved,
                        at: now,
                    };
                    self.credit(&bought, now);
                    self.bought.insert(self.id(book), bought);
                }
            },
        }
    }

    /// The payment that the gateway makes next.
    fn id(&self, book: &Book) -> String {
        let account = book.payments[0].order.as_ref().unwrap().account;
        format!("pay_{account}_{}", book.payments.len())
    }
}

/// The beginning of the next month.
fn next_month(now: OffsetDateTime) -> OffsetDateTime {
    let mut day = now.date();
    while day.day() != 1 || day <= now.date() {
        day = day.next_day().unwrap();
    }
    day.midnight().assume_utc()
}
