//! The job `customer_metrics`: what each customer bought, and what is to be expected of them.

use analytics::customers::{Clock, CustomerScore, History, Models, Options, Past, back_test_day};
use domain::{
    StoreError,
    customer_metrics::{Days, KnownCustomer, Metrics, Purchases},
    customers::Segment,
    daily::{DayTotals, without_gaps},
    jobs::WriteOutcome,
    money::{estimate, round},
    profit::DayRange,
    zone::Zone,
};
use rust_decimal::prelude::ToPrimitive;
use time::{Date, Duration};

use super::{Work, demand::number, off_thread};

/// Decimals of money in the database.
const MONEY_DECIMALS: u32 = 6;
const SCORE_DECIMALS: u32 = 4;

pub(super) async fn run(work: &Work<'_>) -> Result<WriteOutcome, StoreError> {
    let (zone, as_of) = (work.account.timezone.clone(), work.claim.as_of);
    let last = end_of_last_week(as_of);
    let range = DayRange { first: Clock::first_day(last), last };
    let known = work.deps.daily.series(work.account.id, range).await?;
    let days = days(as_of, known.iter().find(|day| day.customers > 0).map(|day| day.day));
    let customers = work.deps.customers.customers(work.account.id, days).await?;
    let news = off_thread(move || {
        let clock = clock(&known, &customers, &zone, days.earlier);
        score(&customers, &zone, days, &clock)
    })
    .await?;
    work.deps.customers.write(work.claim, news, (work.clock)()).await
}

/// Customers are seen from the end of `as_of`, of the week before it, and of the day of the back-test. `first`: the first day
/// with a customer, of more than a year ago perhaps a later one.
fn days(as_of: Date, first: Option<Date>) -> Days {
    let earlier = end_of_last_week(as_of);
    Days { last: as_of, earlier, before: back_test_day(first, earlier) }
}

/// The shop's year up to the end of `last`, from its first customer on: days before that with nothing but expenses, visitors
/// or orders of unknown buyers are no dead season. Where there were customers before `known` begins, its quiet days are one.
fn clock(known: &[DayTotals], customers: &[KnownCustomer], zone: &Zone, last: Date) -> Clock {
    let first = customers.iter().filter_map(|customer| customer.purchases.span).map(|(first, _)| first).min();
    let Some(opening) = first.map(|first| zone.day_of(first)) else { return Clock::default() };
    let first = opening.max(Clock::first_day(last));
    let quiet = known.first().is_none_or(|day| day.day > first).then(|| DayTotals::quiet(first));
    let known: Vec<DayTotals> = quiet.into_iter().chain(known.iter().copied()).collect();
    let buyers: Vec<f64> = without_gaps(&known, first, last).iter().map(|day| number(day.customers)).collect();
    Clock::of(&buyers, last)
}

/// The Sunday before the week of a day.
fn end_of_last_week(day: Date) -> Date {
    day.saturating_sub(Duration::days(i64::from(day.weekday().number_days_from_monday()) + 1))
}

/// The figures that are not what they were. Customers are judged together: by the models of their shop and their place
/// among the others.
///
/// The models are those of the end of last week, so that from one run to the next only the figures change of those who
/// bought, gave back or moved to another segment; a shop that opened this week has those of today.
fn score(customers: &[KnownCustomer], zone: &Zone, days: Days, clock: &Clock) -> Vec<Metrics> {
    let Days { last: as_of, earlier: week_ended, before } = days;
    let earlier: Vec<History> = customers.iter().map(|customer| history(&customer.earlier, zone)).collect();
    let histories: Vec<History> = customers.iter().map(|customer| history(&customer.purchases, zone)).collect();
    let past: Vec<History> = customers.iter().map(|customer| history(&customer.before, zone)).collect();
    let past = Past { clock: clock.clone(), earlier: Some((&past, before)) };
    let mut models = Models::fit(&earlier, week_ended, &past);
    if models.purchases.is_err() || models.values.is_err() {
        models = Models::fit(&histories, as_of, &Past::default());
    }
    let scores = models.score(&histories, as_of, &Options::default());
    let figures = customers.iter().zip(&scores).map(|(customer, score)| metrics(customer, score));
    figures
        .zip(customers)
        .filter(|(figures, customer)| *figures != customer.written)
        .map(|(figures, _)| figures)
        .collect()
}

fn history(purchases: &Purchases, zone: &Zone) -> History {
    History {
        orders: u32::try_from(purchases.orders).unwrap_or(u32::MAX),
        purchase_days: u32::try_from(purchases.days).unwrap_or(u32::MAX),
        active: purchases.span.map(|(first, last)| (zone.day_of(first), zone.day_of(last))),
        spend: purchases.revenue().to_f64().unwrap_or_default(),
    }
}

fn metrics(customer: &KnownCustomer, score: &CustomerScore) -> Metrics {
    let purchases = &customer.purchases;
    Metrics {
        customer_id: customer.written.customer_id,
        orders_count: purchases.orders,
        revenue_total: round(purchases.revenue(), MONEY_DECIMALS),
        ltv_estimate: estimate(score.ltv_estimate, MONEY_DECIMALS),
        aov: purchases.revenue_per_order(),
        segment: segment(score.segment),
        churn_score: score.churn_score.map(|churn| estimate(churn.min(1.0), SCORE_DECIMALS)),
        span: purchases.span,
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
    use domain::CustomerId;
    use rust_decimal::{Decimal, dec};
    use time::macros::{date, datetime};

    use super::*;

    /// A Monday.
    const AS_OF: Date = date!(2026 - 03 - 02);

    /// A customer who has not bought this week yet, and of whom nothing was written.
    fn customer(id: i64, orders: i64, gross: Decimal) -> KnownCustomer {
        let span = (orders > 0).then_some((datetime!(2025-06-01 12:00 UTC), datetime!(2026-02-01 12:00 UTC)));
        let purchases = Purchases { orders, days: orders, span, gross, refunds: dec!(0) };
        KnownCustomer { earlier: purchases.clone(), before: Purchases::default(), purchases, written: prospect(id) }
    }

    fn prospect(customer_id: i64) -> Metrics {
        Metrics {
            customer_id: CustomerId(customer_id),
            orders_count: 0,
            revenue_total: dec!(0),
            ltv_estimate: dec!(0),
            aov: dec!(0),
            segment: Segment::Prospect,
            churn_score: None,
            span: None,
        }
    }

    fn scored_on(customers: &[KnownCustomer], as_of: Date) -> Vec<Metrics> {
        score(customers, &"UTC".parse().unwrap(), days(as_of, None), &Clock::default())
    }

    fn scored(customers: &[KnownCustomer]) -> Vec<Metrics> {
        scored_on(customers, AS_OF)
    }

    fn shop() -> Vec<KnownCustomer> {
        (0..40).map(|id| customer(id, 1 + id % 7, Decimal::from(20 * (id + 1)))).collect()
    }

    fn written(mut shop: Vec<KnownCustomer>, figures: Vec<Metrics>) -> Vec<KnownCustomer> {
        for figures in figures {
            let customer = shop.iter_mut().find(|customer| customer.written.customer_id == figures.customer_id);
            customer.unwrap().written = figures;
        }
        shop
    }

    #[test]
    fn weeks_end_on_sunday() {
        let ends = [date!(2026 - 03 - 01), date!(2026 - 03 - 02), date!(2026 - 03 - 08)].map(end_of_last_week);
        assert_eq!(ends, [date!(2026 - 02 - 22), date!(2026 - 03 - 01), date!(2026 - 03 - 01)]);
    }

    #[test]
    fn days_before_the_first_customer_are_no_dead_season() {
        let last = end_of_last_week(AS_OF);
        // Thirteen months of expenses, and buyers on the last 90 days.
        let day = |ago: i64| DayTotals {
            customers: if ago < 90 { 10 } else { 0 },
            extra_expenses: dec!(5),
            ..DayTotals::quiet(last - Duration::days(ago))
        };
        let known: Vec<DayTotals> = (0..392).rev().map(day).collect();
        let of =
            |known: &[DayTotals], customers: &[KnownCustomer]| clock(known, customers, &"UTC".parse().unwrap(), last);
        let since = |known: &[DayTotals], ago: i64| {
            let first = last.midnight().assume_utc() - Duration::days(ago);
            let mut buyer = customer(1, 1, dec!(20));
            buyer.purchases.span = Some((first, first));
            of(known, &[customer(2, 0, dec!(0)), buyer])
        };
        assert_eq!(since(&known, 89), Clock::default(), "90 days tell nothing of the year");
        assert_ne!(since(&known, 800), Clock::default(), "a shop that was open had no buyers then");
        assert_eq!(since(&known[302..], 800), since(&known, 800), "nor expenses");
        assert_eq!(of(&known, &[]), Clock::default());
    }

    #[test]
    fn who_never_bought_is_a_prospect_without_a_score() {
        let former = KnownCustomer { written: Metrics { orders_count: 2, ..prospect(4) }, ..customer(4, 0, dec!(0)) };
        assert_eq!(scored(&[former]), [prospect(4)]);
        assert_eq!(scored(&[customer(4, 0, dec!(0))]), [], "is what it was");
    }

    #[test]
    fn figures_of_buyers_are_within_their_ranges() {
        let shop = shop();
        let found = scored(&shop);
        assert_eq!(found.len(), 40);
        for (metrics, KnownCustomer { purchases, .. }) in found.iter().zip(&shop) {
            let churn = metrics.churn_score.unwrap();
            assert!(churn >= dec!(0) && churn <= dec!(1) && churn.scale() <= 4);
            assert!(metrics.ltv_estimate > dec!(0), "{metrics:?}");
            assert_eq!((metrics.orders_count, metrics.revenue_total), (purchases.orders, purchases.gross));
            assert_ne!(metrics.segment, Segment::Prospect);
        }
    }

    #[test]
    fn within_a_week_only_who_bought_has_news_and_then_everybody() {
        let on_monday = scored(&shop());
        let mut shop = written(shop(), on_monday.clone());
        assert_eq!(scored_on(&shop, date!(2026 - 03 - 05)), [], "nobody bought");
        let came = datetime!(2026-03-04 12:00 UTC);
        let buyer = &mut shop[9].purchases;
        // The third of seven purchases, of a value that leaves the ranks as they are.
        (buyer.orders, buyer.days, buyer.gross) = (buyer.orders + 1, buyer.days + 1, buyer.gross + dec!(1));
        buyer.span = buyer.span.map(|(first, _)| (first, came));
        let news = scored_on(&shop, date!(2026 - 03 - 05));
        assert_eq!(news.iter().map(|metrics| metrics.customer_id).collect::<Vec<_>>(), [CustomerId(9)]);
        assert!(news[0].churn_score < on_monday[9].churn_score, "{news:?} after {:?}", on_monday[9]);
        assert_eq!(scored_on(&shop, date!(2026 - 03 - 09)).len(), 40, "the next week");
    }

    #[test]
    fn a_shop_that_opened_this_week_is_judged_by_this_week() {
        let mut shop = shop();
        for customer in &mut shop {
            customer.earlier = Purchases::default();
            customer.purchases.span = Some((datetime!(2026-03-03 12:00 UTC), datetime!(2026-03-04 12:00 UTC)));
        }
        let found = scored_on(&shop, date!(2026 - 03 - 05));
        assert!(found.iter().all(|metrics| metrics.churn_score.is_some() && metrics.ltv_estimate > dec!(0)));
        assert_eq!(found.len(), 40);
    }

    #[test]
    fn absurd_customers_have_figures_too() {
        let refunded = |mut customer: KnownCustomer| {
            customer.purchases.refunds = Decimal::MAX;
            customer
        };
        let timeless = |mut customer: KnownCustomer| {
            customer.purchases.span = None;
            customer
        };
        let shop = [
            customer(1, i64::MAX, Decimal::MAX),
            customer(2, 1, dec!(0)),
            refunded(customer(3, 5, dec!(1))),
            timeless(customer(5, 5, dec!(1))),
        ];
        assert_eq!(scored(&shop).len(), 4);
    }
}
