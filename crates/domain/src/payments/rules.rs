//! Whether a payment is what was for sale, and what its status means after what was known before.

use time::Duration;

use super::{Entitlement, Offer, Payment, PaymentStatus, Price};

text_enum!(
    /// Why a payment brings nothing, and never will. The money is with the gateway: an operator has to look.
    Refusal {
        /// It was not made for this service.
        NoOrder = "no_order",
        UnknownAccount = "unknown_account",
        /// Nothing is sold to a development account.
        SandboxAccount = "sandbox_account",
        /// Not on the price list.
        UnknownItem = "unknown_item",
        CurrencyMismatch = "currency_mismatch",
        /// Another amount than the item costs.
        AmountMismatch = "amount_mismatch",
        /// It is recorded for another account.
        OtherAccount = "other_account",
    }
);

/// How long an offer is honoured after it was withdrawn: a checkout may have been open at that time.
pub const OFFER_HONOURED: Duration = Duration::days(7);

/// Compares a payment with the offers of its item, those of now and those that are still honoured. Where several match,
/// the payer gets the most that was offered for the amount.
///
/// # Errors
/// [`Refusal`].
pub fn quote(payment: &Payment, offers: &[Offer]) -> Result<Entitlement, Refusal> {
    if offers.is_empty() {
        return Err(Refusal::UnknownItem);
    }
    if offers.iter().all(|offer| offer.price.currency != payment.currency) {
        return Err(Refusal::CurrencyMismatch);
    }
    let matching = offers.iter().filter(|offer| matches(payment, offer.price).is_ok());
    matching.map(|offer| offer.entitlement).max_by_key(|entitlement| entitlement.credits).ok_or(Refusal::AmountMismatch)
}

/// Compares a payment with the price that was fixed for it.
///
/// # Errors
/// [`Refusal`].
pub fn matches(payment: &Payment, price: Price) -> Result<(), Refusal> {
    if payment.currency != price.currency {
        Err(Refusal::CurrencyMismatch)
    } else if payment.amount != price.amount {
        Err(Refusal::AmountMismatch)
    } else {
        Ok(())
    }
}

/// What is to be done about a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Add the credits.
    Credit,
    /// Take them away again.
    Reverse,
    /// Note the status.
    Note,
    /// Nothing: it is known, or older than what is known.
    Ignore,
}

/// The next step, from the status known before and the one the gateway says now.
///
/// Money arrives once (`approved`) and leaves once (`refunded` or `charged_back`). Whatever would undo a later status is
/// old news that arrived late. A payment that was never seen approved and is already refunded brings nothing.
pub const fn step(known: Option<PaymentStatus>, now: PaymentStatus) -> Step {
    use PaymentStatus::{Approved, ChargedBack, Pending, Refunded, Rejected};
    match (known, now) {
        (None | Some(Pending | Rejected), Approved) => Step::Credit,
        (None, Pending | Rejected | Refunded | ChargedBack)
        | (Some(Pending), Rejected)
        | (Some(Pending | Rejected), Refunded | ChargedBack)
        | (Some(Refunded), ChargedBack) => Step::Note,
        (Some(Approved), Refunded | ChargedBack) => Step::Reverse,
        (Some(Pending | Rejected), Pending)
        | (Some(Rejected), Rejected)
        | (Some(Approved), Pending | Rejected | Approved)
        | (Some(Refunded), Pending | Rejected | Approved | Refunded)
        | (Some(ChargedBack), _) => Step::Ignore,
    }
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::payments::{Payer, PaymentStatus::*, PriceList};

    fn payment(amount: &str, currency: &str) -> Payment {
        Payment {
            id: "pay_1".parse().unwrap(),
            status: Approved,
            amount: amount.parse().unwrap(),
            currency: currency.parse().unwrap(),
            invoice_id: None,
            payer: Payer::default(),
            order: None,
        }
    }

    #[rstest]
    #[case("small", "9.00", "USD", Ok(500))]
    #[case("small", "9", "USD", Ok(500))]
    #[case("small", "8.99", "USD", Err(Refusal::AmountMismatch))]
    #[case("small", "9.01", "USD", Err(Refusal::AmountMismatch))]
    #[case("small", "-9", "USD", Err(Refusal::AmountMismatch))]
    #[case("small", "9.00", "ARS", Err(Refusal::CurrencyMismatch))]
    #[case("large", "9.00", "USD", Err(Refusal::UnknownItem))]
    fn a_payment_must_be_the_price(
        #[case] item: &str,
        #[case] amount: &str,
        #[case] currency: &str,
        #[case] credits: Result<i64, Refusal>,
    ) {
        let prices = PriceList::parse("small:500:9.00:USD", "").unwrap();
        let entitlement = quote(&payment(amount, currency), &prices.offers_of(item));
        assert_eq!(entitlement.map(|entitlement| entitlement.credits.get()), credits);
    }

    #[test]
    fn a_payer_gets_the_most_that_was_offered_for_the_amount() {
        let lists = ["small:500:9.00:USD", "small:400:9.00:USD", "small:900:10.00:USD,small:950:9.00:EUR"];
        let offers = lists.map(|list| PriceList::parse(list, "").unwrap().offers_of("small")).concat();
        let entitlement = |amount| quote(&payment(amount, "USD"), &offers).map(|entitlement| entitlement.credits.get());
        assert_eq!([entitlement("9.00"), entitlement("10.00")], [Ok(500), Ok(900)]);
        assert_eq!(entitlement("8.00"), Err(Refusal::AmountMismatch));
    }

    proptest! {
        /// Whatever the gateway says in whatever order and however often: credits come at most once, go at most once,
        /// and never go without having come.
        #[test]
        fn money_comes_once_and_goes_once(told in prop::collection::vec(prop::sample::select(PaymentStatus::ALL), 0..12)) {
            let (mut known, mut came, mut went) = (None, 0, 0);
            for now in told {
                match step(known, now) {
                    Step::Credit => came += 1,
                    Step::Reverse => went += 1,
                    Step::Note => {}
                    Step::Ignore => continue,
                }
                known = Some(now);
                prop_assert!(came <= 1 && went <= came);
            }
        }

        /// The last word of a payment that was approved and then taken back is that nothing is left.
        #[test]
        fn late_news_change_nothing(late in prop::collection::vec(prop::sample::select(PaymentStatus::ALL), 0..6)) {
            for last in [Refunded, ChargedBack] {
                let mut known = last;
                for now in &late {
                    match step(Some(known), *now) {
                        Step::Ignore => {}
                        Step::Note => known = *now,
                        other => prop_assert!(false, "{other:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn pending_then_approved_then_refunded() {
        assert_eq!(step(None, Pending), Step::Note);
        assert_eq!(step(Some(Pending), Approved), Step::Credit);
        assert_eq!(step(Some(Approved), Pending), Step::Ignore);
        assert_eq!(step(Some(Approved), Refunded), Step::Reverse);
        assert_eq!(step(Some(Refunded), Approved), Step::Ignore);
        assert_eq!(step(None, Refunded), Step::Note);
    }
}
