//! What went back of an order. The platform has no refunds that an app may read, so they are inferred from what it does
//! say, and never guessed.

use domain::{imports::Line, shops::Refund};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::{
    orders::charge,
    wire::{OrderWire, ValueChangeWire},
};

/// Money that the platform says went back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Returned {
    pub at: OffsetDateTime,
    pub amount: Decimal,
}

/// Where the money of an order that counts is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Paid,
    /// All of it went back, at that time where the order says.
    Reversed {
        at: Option<OffsetDateTime>,
    },
    PartlyReturned,
}

/// `None`: the order was not paid. An order that is cancelled after it was paid keeps its payment status: all of it is
/// reversed.
pub(super) fn standing(payment_status: &str, cancelled_at: Option<OffsetDateTime>) -> Result<Option<Standing>, String> {
    let paid = match payment_status {
        "authorized" | "pending" | "abandoned" | "voided" => return Ok(None),
        "paid" | "partially_paid" => Standing::Paid,
        "refunded" => Standing::Reversed { at: None },
        "partially_refunded" => Standing::PartlyReturned,
        other => {
            let shown: String = other.chars().filter(|c| c.is_ascii_lowercase() || *c == '_').take(32).collect();
            return Err(format!("its payment status `{shown}` is not known"));
        }
    };
    Ok(Some(if cancelled_at.is_some() { Standing::Reversed { at: cancelled_at } } else { paid }))
}

/// Whether the order itself does not say how much went back, or when.
pub(super) fn needs_history(wire: &OrderWire) -> bool {
    let status = wire.payment_status.clone().ok();
    let cancelled_at = wire.cancelled_at.clone().ok().map(|cancelled| cancelled.0);
    let standing = status.and_then(|status| standing(&status, cancelled_at).ok().flatten());
    matches!(standing, Some(Standing::PartlyReturned | Standing::Reversed { at: None }))
}

/// Unverified: that an entry of the history with less paid than before is money that went back.
pub(super) fn returned(history: Vec<ValueChangeWire>) -> Vec<Returned> {
    let entry = |change: ValueChangeWire| {
        let amount = -change.total_paid_diff.ok()?.0;
        (amount > Decimal::ZERO).then_some(Returned { at: change.happened_at.ok()?.0, amount })
    };
    history.into_iter().filter_map(entry).collect()
}

/// The refunds of an order with these lines. `None`: money went back, and it is not known how much.
///
/// What is reversed without a date has that of the last money that went back, and else of the order's last change.
pub(super) fn of(
    standing: Standing,
    lines: &[Line],
    total: Decimal,
    returned: &[Returned],
    updated_at: OffsetDateTime,
) -> Option<Vec<Refund>> {
    match standing {
        Standing::Paid => Some(Vec::new()),
        Standing::Reversed { at } => {
            let at = at.or_else(|| returned.iter().map(|returned| returned.at).max()).unwrap_or(updated_at);
            Some(vec![Refund { at, lines: lines.to_vec() }])
        }
        Standing::PartlyReturned => {
            let sum: Decimal = returned.iter().map(|returned| returned.amount).sum();
            let refund =
                |returned: &Returned| Some(Refund { at: returned.at, lines: vec![charge("refund", returned.amount)?] });
            (sum > Decimal::ZERO && sum <= total).then(|| returned.iter().filter_map(refund).collect())
        }
    }
}
