//! What went back of an order. The platform has no refunds that an app may read, so they are inferred from what it does
//! say, and never guessed.

use domain::{
    imports::Line,
    shops::{Refund, ShopError},
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::{
    orders::charge,
    wire::{OrderWire, ValueChangeWire},
};
use crate::shops::http::Answer;

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

/// What an order's history says of money that went back. Where a store has none, does not show it, or shows one that cannot be
/// read, the amount stays unknown: that keeps no other order from being read.
pub(super) fn of_history(history: Result<Answer, ShopError>) -> Result<Vec<Returned>, ShopError> {
    match history.and_then(|answer| answer.detail()) {
        Ok(changes) => Ok(returned(changes)),
        Err(ShopError::NotFound | ShopError::MissingScope(_) | ShopError::Rejected(_) | ShopError::Malformed(_)) => {
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
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

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::datetime;

    use super::*;

    #[rstest]
    #[case(r#"[{"total_paid_diff":"-4.00","happened_at":"2026-11-06T10:00:00+0000"}]"#, Some(dec!(4)))]
    #[case::in_another_form(r#"{"values":[]}"#, None)]
    fn a_history_that_cannot_be_read_says_nothing(#[case] body: &str, #[case] amount: Option<Decimal>) {
        let at = datetime!(2026-11-06 10:00 UTC);
        let expected: Vec<_> = amount.map(|amount| Returned { at, amount }).into_iter().collect();
        assert_eq!(of_history(Ok(Answer::example(200, &[], body))), Ok(expected));
    }

    #[test]
    fn trouble_with_a_history_is_trouble_with_its_order() {
        assert_eq!(of_history(Err(ShopError::Unauthorized)), Err(ShopError::Unauthorized));
        let not_shown =
            [ShopError::NotFound, ShopError::MissingScope("read_orders".into()), ShopError::Rejected("422 id".into())];
        for error in not_shown {
            assert_eq!(of_history(Err(error)), Ok(vec![]));
        }
        for body in ["<html>", r#"[{"total_paid"#] {
            let read = of_history(Ok(Answer::example(200, &[], body)));
            assert!(matches!(read, Err(ShopError::Unavailable(_))), "{body}");
        }
    }
}
