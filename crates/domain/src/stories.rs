//! Stories: one event told once, however many metrics it moved.
//!
//! Anomalies of neighbouring days and related metrics that have one driver are one story. A story holds facts and no
//! words: what happened, since when, what it cost or brought, which lever moved, and whether it is over.

mod evidence;
mod folding;
mod grouping;
mod lever;
mod money;
mod shown;
#[cfg(test)]
mod tests;

pub use evidence::{Band, DayEvidence, Gauge, PartBand};
pub use grouping::{Certainties, StockOut, group, untracked};
pub use lever::{Lever, LeverKind, Subject, lever};
pub use money::{Measure, Money, money};
pub use shown::Normal;

use serde::{Deserialize, Serialize};
use time::Date;

use crate::{
    AnomalyId, StoryId,
    anomalies::{Direction, Finding, Kind},
    insights::Severity,
    profit::DayRange,
};

/// Share of a usual day's contribution below which an event is not worth telling by its money.
pub(crate) const WORTH_TELLING: f64 = 0.15;

/// An anomaly of a story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub kind: Kind,
    pub metric: String,
    pub day: Date,
    pub direction: Direction,
}

time::serde::format_description!(iso, Date, "[year]-[month]-[day]");

/// Whether an event goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// On the last days that are known the shop was not back.
    Open,
    /// From this day on everything was as expected.
    Over {
        #[serde(with = "iso")]
        since: Date,
    },
    /// It has lasted for so long that it is what is expected now.
    Usual,
}

/// The figure that shows an event, on the day that departed most: what was observed, and what would be seen on a usual day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    pub gauge: Gauge,
    /// Of this platform, country, product or campaign; `None` for the whole shop.
    pub part: Option<String>,
    pub band: Band,
}

text_enum!(
    /// What to do about a story: one thing, that fits its lever.
    Action {
        CheckCheckout = "check_checkout",
        CheckShop = "check_shop",
        CheckPrices = "check_prices",
        CheckRefunds = "check_refunds",
        CheckTracking = "check_tracking",
        CheckTrafficSources = "check_traffic_sources",
        PauseCampaign = "pause_campaign",
        KeepCampaign = "keep_campaign",
        Reorder = "reorder",
        ServeBulkBuyer = "serve_bulk_buyer",
        CompareCosts = "compare_costs",
        CheckExpenses = "check_expenses",
        CheckProduct = "check_product",
        KeepInStock = "keep_in_stock",
        RepeatIt = "repeat_it",
        AskSupplier = "ask_supplier",
        CheckAds = "check_ads",
        /// Of what is over: what it was about is back.
        PreventIt = "prevent_it",
        LookAtTheDay = "look_at_the_day",
    }
);

/// One event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Story {
    pub subject: Subject,
    /// From its first day to the last one on which it showed.
    pub span: DayRange,
    /// The day that departed most.
    #[serde(with = "iso")]
    pub peak: Date,
    /// Which way the [gauge](Subject::gauge) of the subject went.
    pub direction: Direction,
    pub seen: Seen,
    pub normal: Option<Normal>,
    pub severity: Severity,
    /// `None` when nothing known accounts for it.
    pub lever: Option<Lever>,
    /// `None` where the event moves no money.
    pub money: Option<Money>,
    /// What a usual day brings, in the unit of the money: what the amount is to be seen beside.
    pub usual_day: f64,
    /// Taken off what was refunded for goods that came back, over all of its days: an estimate, in the account's currency.
    #[serde(default)]
    pub returned: f64,
    /// Whether units of the product that ran out are on their way.
    #[serde(default)]
    pub is_on_order: bool,
    /// Its anomalies, by day and metric; none where the stock alone tells it. Kept with each of them.
    #[serde(skip)]
    pub members: Vec<Member>,
    pub phase: Phase,
}

impl Story {
    /// What it is about: with its days this tells a story from run to run, whichever lever was found last.
    pub fn key(&self) -> String {
        match &self.lever {
            Some(Lever { kind: LeverKind::StockOut, part: Some(sku), .. }) => stock_out_key(sku),
            _ => self.subject.key(self.direction),
        }
    }

    /// What it was told as before more was known of it: a stock-out before it was seen that the product had no stock, ads that
    /// brought sales before there were any.
    pub fn earlier_key(&self) -> Option<String> {
        let (subject, direction) = match &self.lever {
            Some(lever) if lever.kind == LeverKind::StockOut => (Subject::Sales, Direction::Down),
            Some(lever) if lever.kind == LeverKind::Campaign && self.subject == Subject::Sales => {
                (Subject::Ads, Direction::Up)
            }
            _ => return None,
        };
        // Where no anomaly is a part of it, none was told.
        (!self.members.is_empty()).then(|| subject.key(direction))
    }

    /// Whether an anomaly, or the cause that was inferred of it, is a part of it.
    pub fn holds(&self, finding: &Finding) -> bool {
        let is_it = |member: &Member| {
            (&member.metric, member.day, member.direction) == (&finding.metric, finding.day, finding.direction)
        };
        self.members.iter().any(is_it)
    }

    pub fn is_good(&self) -> bool {
        self.money.is_some_and(|money| money.expected > 0.0)
    }

    /// The amount at stake, above zero; 0 where the event moves no money.
    pub fn stake(&self) -> f64 {
        self.money.map_or(0.0, |money| money.expected.abs())
    }

    /// Whether the event earns a place among those that are told: it changes what is earned, for certain and by more than a
    /// trifle, or makes the figures wrong.
    pub fn is_worth_telling(&self) -> bool {
        match self.money {
            Some(_) if self.is_as_before() => false,
            Some(money) => {
                let is_fact = self.lever.as_ref().is_some_and(|lever| lever.kind == LeverKind::ClosedDay);
                let is_certain = is_fact || money.low > 0.0 || money.high < 0.0;
                is_certain && self.stake() >= WORTH_TELLING * self.usual_day.abs()
            }
            None => self.subject == Subject::Tracking,
        }
    }

    /// Whether what was paid was within what is expected of it: rent, say, which is paid on the first of every month. Of a part
    /// that is named, it is the whole that was not.
    fn is_as_before(&self) -> bool {
        let is_expense = self.lever.as_ref().is_some_and(|lever| lever.kind == LeverKind::Expense);
        let is_paid = is_expense || matches!(self.subject, Subject::Refunds | Subject::Ads);
        is_paid && self.seen.part.is_none() && self.seen.band.holds()
    }

    pub fn action(&self) -> Action {
        let is_over = matches!(self.phase, Phase::Over { .. });
        match self.action_while_it_lasts() {
            Action::CheckCheckout
            | Action::CheckShop
            | Action::CheckTracking
            | Action::Reorder
            | Action::AskSupplier
            | Action::PauseCampaign
                if is_over =>
            {
                Action::PreventIt
            }
            action => action,
        }
    }

    fn action_while_it_lasts(&self) -> Action {
        let Some(lever) = &self.lever else {
            return if self.is_good() { Action::RepeatIt } else { Action::LookAtTheDay };
        };
        match lever.kind {
            LeverKind::BulkOrder => Action::ServeBulkBuyer,
            LeverKind::Price => Action::CheckPrices,
            LeverKind::Tracking => Action::CheckTracking,
            LeverKind::Refund => Action::CheckRefunds,
            LeverKind::StockOut if self.is_on_order => Action::AskSupplier,
            LeverKind::StockOut => Action::Reorder,
            LeverKind::Campaign if self.subject == Subject::Sales && self.is_good() => Action::KeepCampaign,
            LeverKind::Campaign if self.direction == Direction::Up => Action::PauseCampaign,
            // Less spent is more left of the day, and not what to do again: the ads may have brought more than they cost.
            LeverKind::Campaign => Action::CheckAds,
            LeverKind::Cost => Action::CompareCosts,
            LeverKind::Expense => Action::CheckExpenses,
            LeverKind::Product if self.is_good() => Action::KeepInStock,
            LeverKind::Product => Action::CheckProduct,
            _ if self.is_good() => Action::RepeatIt,
            LeverKind::ClosedDay => Action::CheckShop,
            LeverKind::Platform | LeverKind::Country | LeverKind::Conversion => Action::CheckCheckout,
            LeverKind::Traffic => Action::CheckTrafficSources,
        }
    }
}

/// The [key](Story::key) of the story of a product that is out of stock.
pub fn stock_out_key(sku: &str) -> String {
    format!("stock_out:{sku}")
}

/// A story that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredStory {
    pub id: StoryId,
    pub story: Story,
    /// By day and metric.
    pub members: Vec<StoryMember>,
}

/// An anomaly of a story that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryMember {
    pub anomaly: AnomalyId,
    pub metric: String,
    pub day: Date,
    pub direction: Direction,
}
