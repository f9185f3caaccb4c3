//! The job `customer_metrics`: what each customer bought, and what is to be expected of them.

use analytics::customers::{CustomerScore, History, Options, score_account};
use domain::{
    StoreError,
    customer_metrics::{Metrics, Purchases},
    customers::Segment,
    jobs::Written,
    money::{estimate, round},
    zone::Zone,
};
use rust_decimal::prelude::ToPrimitive;
use time::Date;

use super::{Work, off_thread};

/// Decimals of money in the database.
const MONEY_DECIMALS: u32 = 6;
const SCORE_DECIMALS: u32 = 4;

pub(super) async fn run(work: &Work<'_>) -> Result<Written, StoreError> {
    let (zone, as_of) = (work.account.timezone.clone(), work.claim.as_of);
    let purchases = work.deps.customers.purchases(work.account.id, &zone, as_of).await?;
    let metrics = off_thread(move || score(&purchases, &zone, as_of)).await?;
    work.deps.customers.write(work.claim, metrics, (work.clock)()).await
}

/// The figures of all customers, who are judged together: by the models of their shop and their place among the others.
fn score(purchases: &[Purchases], zone: &Zone, as_of: Date) -> Vec<Metrics> {
    let histories: Vec<History> = purchases.iter().map(|customer| history(customer, zone)).collect();
    let scores = score_account(&histories, as_of, &Options::default());
    purchases.iter().zip(&scores.customers).map(|(customer, score)| metrics(customer, score)).collect()
}

fn history(customer: &Purchases, zone: &Zone) -> History {
    History {
        orders: u32::try_from(customer.orders).unwrap_or(u32::MAX),
        purchase_days: u32::try_from(customer.days).unwrap_or(u32::MAX),
        active: customer.span.map(|(first, last)| (zone.day_of(first), zone.day_of(last))),
        spend: customer.revenue().to_f64().unwrap_or_default(),
    }
}

fn metrics(customer: &Purchases, score: &CustomerScore) -> Metrics {
    Metrics {
        customer_id: customer.customer_id,
        orders_count: customer.orders,
        revenue_total: round(customer.revenue(), MONEY_DECIMALS),
        ltv_estimate: estimate(score.ltv_estimate, MONEY_DECIMALS),
        aov: customer.average_order_value(),
        segment: segment(score.segment),
        churn_score: score.churn_score.map(|churn| estimate(churn.min(1.0), SCORE_DECIMALS)),
        span: customer.span,
    }
}

const fn segment(place: analytics::customers::rfm::Segment) -> Segment {
    use analytics::customers::rfm::Segment as Place;
    match place {
        Place::Vip => Segment::Vip,
        Place::Loyal => Segment::Loyal,
        Place::Promising => Segment::Promising,
        Place::New => Segment::New,
        Place::NeedsAttention => Segment::NeedsAttention,
        Place::AtRisk => Segment::AtRisk,
        Place::Dormant => Segment::Dormant,
        Place::Lost => Segment::Lost,
        Place::Prospect => Segment::Prospect,
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::{Decimal, dec};
    use time::macros::{date, datetime};

    use super::*;

    fn customer(id: i64, orders: i64, gross: Decimal) -> Purchases {
        let span = (orders > 0).then_some((datetime!(2025-06-01 12:00 UTC), datetime!(2026-02-01 12:00 UTC)));
        Purchases { customer_id: id, orders, days: orders, span, gross, refunds: dec!(0) }
    }

    fn scored(purchases: &[Purchases]) -> Vec<Metrics> {
        score(purchases, &"UTC".parse().unwrap(), date!(2026 - 03 - 02))
    }

    #[test]
    fn who_never_bought_is_a_prospect_without_a_score() {
        let found = scored(&[customer(4, 0, dec!(0))]);
        let nothing = Metrics {
            customer_id: 4,
            orders_count: 0,
            revenue_total: dec!(0),
            ltv_estimate: dec!(0),
            aov: dec!(0),
            segment: Segment::Prospect,
            churn_score: None,
            span: None,
        };
        assert_eq!(found, [nothing]);
    }

    #[test]
    fn figures_of_buyers_are_within_their_ranges() {
        let shop: Vec<_> = (0..40).map(|id| customer(id, 1 + id % 7, Decimal::from(20 * (id + 1)))).collect();
        for (metrics, customer) in scored(&shop).iter().zip(&shop) {
            let churn = metrics.churn_score.unwrap();
            assert!(churn >= dec!(0) && churn <= dec!(1) && churn.scale() <= 4);
            assert!(metrics.ltv_estimate > dec!(0), "{metrics:?}");
            assert_eq!((metrics.orders_count, metrics.revenue_total), (customer.orders, customer.gross));
            assert_ne!(metrics.segment, Segment::Prospect);
        }
    }

    #[test]
    fn absurd_customers_have_figures_too() {
        let shop = [
            customer(1, i64::MAX, Decimal::MAX),
            customer(2, 1, dec!(0)),
            Purchases { refunds: Decimal::MAX, ..customer(3, 5, dec!(1)) },
            Purchases { span: None, ..customer(5, 5, dec!(1)) },
        ];
        assert_eq!(scored(&shop).len(), 4);
    }
}
