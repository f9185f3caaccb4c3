//! Connections, credits, webhooks and conversations: risks without an amount, of a severity that is fixed.

use rust_decimal::prelude::ToPrimitive;
use time::{Duration, OffsetDateTime};

use crate::{
    InsightId,
    credits::runway::days_left,
    insights::Severity,
    integrations::STALE_AFTER,
    risks::{ConnectedShop, Credits, FailingWebhook, Unanswered},
    webhooks::schedule::DISABLE_AFTER,
};

use super::{Action, Assumption, Evidence, Finding, Kind, Links, Measure, finding, held, number, seen};

/// A connection that is stale for longer is a high risk.
const LONG_STALE: Duration = Duration::hours(72);
/// Credits that last for fewer days are low; for fewer than the second, a high risk.
const LOW_DAYS: f64 = 7.0;
const VERY_LOW_DAYS: f64 = 2.0;
/// A webhook that is switched off within this is a high risk.
const SOON_OFF: Duration = Duration::hours(24);

/// How long a complaint or a VIP may wait for an answer, and how long a question of anybody else.
pub const URGENT_WAITS: Duration = Duration::hours(4);
pub const QUESTION_WAITS: Duration = Duration::hours(24);

/// A connected shop has not been heard of for longer than a day, or will not be until it is connected again. `blind_share` is its
/// part of 90-day orders, `None` where it is not known.
pub fn integration_stale(
    shop: &ConnectedShop,
    blind_share: Option<f64>,
    insight_id: Option<InsightId>,
    now: OffsetDateTime,
) -> Option<Finding> {
    let since = now - shop.last_sync_at;
    let is_stale = since > STALE_AFTER;
    let threshold = is_stale.then_some(hours(STALE_AFTER));
    (is_stale || shop.has_ended).then(|| Finding {
        severity: if since >= LONG_STALE { Severity::High } else { Severity::Medium },
        evidence: vec![
            Evidence { metric: Measure::HoursSinceSync, value: Some(hours(since)), threshold },
            Evidence { metric: Measure::BlindShare, value: blind_share, threshold: None },
        ],
        action: Some(Action::Reconnect),
        links: Links { integration_id: Some(shop.id), insight_id, ..Links::default() },
        ..finding(Kind::IntegrationStale, shop.id, &shop.shop)
    })
}

/// The credits last for a few days only, and nobody recharges them.
pub fn low_credits(credits: Credits) -> Option<Finding> {
    let Credits { balance, used_14d, auto_topup_enabled, auto_topup_failures } = credits;
    let is_recharged = auto_topup_enabled && auto_topup_failures == 0;
    if is_recharged {
        return None;
    }
    let days_left = days_left(balance, used_14d)?.to_f64()?;
    (days_left < LOW_DAYS).then(|| Finding {
        severity: if days_left < VERY_LOW_DAYS { Severity::High } else { Severity::Medium },
        evidence: vec![held(Measure::DaysLeft, days_left, LOW_DAYS), seen(Measure::CreditsUsed14d, number(used_14d))],
        assumptions: vec![Assumption::UseAsLately],
        action: Some(Action::TopUp),
        ..finding(Kind::LowCredits, "balance", "Credits")
    })
}

/// Deliveries to a webhook fail since their last success; it is switched off when they do for five days.
pub fn webhook_failing(webhook: &FailingWebhook, now: OffsetDateTime) -> Finding {
    let since = now - webhook.failing_since;
    let left = (DISABLE_AFTER - since).max(Duration::ZERO);
    Finding {
        severity: if left < SOON_OFF { Severity::High } else { Severity::Medium },
        evidence: vec![
            held(Measure::HoursToDisable, hours(left), hours(SOON_OFF)),
            seen(Measure::HoursFailing, hours(since)),
            seen(Measure::WaitingDeliveries, number(webhook.waiting)),
        ],
        action: Some(Action::FixEndpoint),
        links: Links { webhook_id: Some(webhook.id), ..Links::default() },
        ..finding(Kind::WebhooksFailing, webhook.id, format!("Webhook {}", webhook.id))
    }
}

/// Customers wait for an answer for longer than they should.
pub fn unanswered_conversations(waiting: Unanswered, insight_id: Option<InsightId>, now: OffsetDateTime) -> Finding {
    let Unanswered { urgent, others, since } = waiting;
    let (severity, most) = if urgent > 0 { (Severity::High, URGENT_WAITS) } else { (Severity::Medium, QUESTION_WAITS) };
    Finding {
        severity,
        evidence: vec![
            seen(Measure::WaitingConversations, number(urgent + others)),
            held(Measure::HoursWaiting, hours(now - since), hours(most)),
        ],
        action: Some(Action::Reply),
        links: Links { insight_id, ..Links::default() },
        ..finding(Kind::UnansweredConversations, "inbox", "Conversations")
    }
}

fn hours(duration: Duration) -> f64 {
    duration.as_seconds_f64() / 3_600.0
}
