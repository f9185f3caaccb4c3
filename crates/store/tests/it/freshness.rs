//! How fresh figures are, and what customers are by segment.

use domain::{
    AccountId,
    customers::{CustomerStore, Filter, Segment, SegmentFigures},
    freshness::{Freshness, Newest, Source},
    inventory::InventoryStore,
    jobs::JobName,
    page::PageRequest,
    profit::{DayRange, ProfitStore},
};
use rust_decimal::dec;
use time::{
    OffsetDateTime,
    macros::{date, datetime},
};

use crate::{
    database::{Database, fresh},
    shop::{self, Order},
};

const ENDED: OffsetDateTime = datetime!(2026-03-02 04:00 UTC);
const PAGE: PageRequest = PageRequest { limit: 10, cursor: None };

/// Two orders, the newer of which came first, two days of spend and of stock, and a run of the job.
async fn seed(db: &Database, account: AccountId, job: JobName) {
    let day = date!(2026 - 03 - 01);
    for (id, at) in [("2", datetime!(2026-03-01 20:15 UTC)), ("1", datetime!(2026-02-01 8:00 UTC))] {
        shop::order(&db.sql, account, Order::new(id, at, &[(None, 1, "5")]), day).await;
    }
    let product = shop::product(&db.sql, account, "p", None).await;
    let text = "WITH spend AS (
            INSERT INTO ad_spend (account_id, day, platform, campaign, spend)
            SELECT $1, d, 'meta', 'c', 1 FROM unnest(ARRAY['2026-02-27', '2026-02-28']::date[]) d),
        stock AS (
            INSERT INTO stock_levels SELECT $1, $2, d, 1 FROM unnest(ARRAY['2026-02-25', '2026-02-26']::date[]) d)
        INSERT INTO job_runs (account_id, job, as_of, state, claim, lease_until, started_at, finished_at)
        VALUES ($1, $3, '2026-03-02', 'done', 1, now(), now(), $4)";
    db.sql.execute(text, &[&account.0, &product, &job.as_str(), &ENDED]).await.unwrap();
}

#[tokio::test]
async fn a_job_and_its_sources_and_no_others_are_told() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    seed(&db, account, JobName::ProfitSnapshots).await;
    let range = DayRange { first: date!(2026 - 03 - 01), last: date!(2026 - 03 - 02) };
    let orders = Some(Newest::At(datetime!(2026-03-01 20:15 UTC)));
    let expected = Freshness {
        job: JobName::ProfitSnapshots,
        as_of: Some(ENDED),
        sources: vec![
            (Source::Orders, orders),
            (Source::Refunds, None),
            (Source::AdSpend, Some(Newest::Day(date!(2026 - 02 - 28)))),
            (Source::Expenses, None),
        ],
    };
    // Whether no day has a snapshot, only an earlier one, or the last one too.
    for day in [None, Some(range.first), Some(range.last)] {
        let snapshot = "INSERT INTO profit_snapshots (account_id, snapshot_date, gross_revenue, refunds, ad_spend,
                cogs_estimate, fees_estimate, shipping_estimate, extra_expenses, purchase_count, computed_at)
            SELECT $1, day, 1, 0, 0, 0, 0, 0, 0, 1, now() FROM (SELECT $2::date) AS one (day) WHERE day IS NOT NULL";
        db.sql.execute(snapshot, &[&account.0, &day]).await.unwrap();
        let profit = db.store.range(account, range).await.unwrap();
        assert_eq!(profit.freshness, expected, "{day:?}");
        assert_eq!(profit.found.first().map(|snapshot| snapshot.date), day);
    }
    let inventory = InventoryStore::list(&*db.store, account, None, PAGE).await.unwrap().freshness;
    let stock = Some(Newest::Day(date!(2026 - 02 - 26)));
    assert_eq!(
        (inventory.as_of, inventory.sources),
        (None, vec![(Source::Orders, orders), (Source::Refunds, None), (Source::StockLevels, stock)])
    );
}

#[tokio::test]
async fn another_accounts_data_makes_nothing_fresher() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    seed(&db, theirs, JobName::CustomerMetrics).await;
    let found = CustomerStore::page(&*db.store, mine, Filter::default(), PAGE).await.unwrap().freshness;
    let nothing = vec![(Source::Orders, None), (Source::Refunds, None)];
    assert_eq!(found, Freshness { job: JobName::CustomerMetrics, as_of: None, sources: nothing });
}

#[tokio::test]
async fn customers_are_summed_up_in_all_nine_segments() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let text = "INSERT INTO customers (account_id, source, external_id, created_at, segment, orders_count, revenue_total,
            ltv_estimate, churn_score, last_purchase_at)
        SELECT a, 'shopify', v.id, now(), v.segment, v.orders, v.revenue, v.ltv, v.churn, v.last_at::timestamptz
        FROM unnest(ARRAY[$1, $2]::bigint[]) a, (VALUES
            ('1', 'vip', 3, 90.5, 10, 0.1, '2026-03-01T00:00:00Z'), ('2', 'vip', 2, 9.5, 5, 0.2, '2025-01-01T00:00:00Z'),
            ('3', 'prospect', 0, 0, 0, NULL, NULL)) AS v(id, segment, orders, revenue, ltv, churn, last_at)";
    db.sql.execute(text, &[&mine.0, &theirs.0]).await.unwrap();
    let found = db.store.segments(mine, datetime!(2026-03-01 0:00 UTC)).await.unwrap();
    let vip = SegmentFigures {
        segment: Segment::Vip,
        customers: 2,
        active: 1,
        orders_count: 5,
        revenue_total: dec!(100),
        ltv_estimate: dec!(15),
        scored: 2,
        churn_score: dec!(0.3),
        // A score on the border of two parts is in the upper one.
        churn_parts: [0, 1, 1, 0, 0, 0, 0, 0, 0, 0],
    };
    let prospect = SegmentFigures { customers: 1, ..SegmentFigures::empty(Segment::Prospect) };
    let mut expected: Vec<_> = Segment::ALL.iter().map(|segment| SegmentFigures::empty(*segment)).collect();
    expected[0] = vip;
    expected[8] = prospect;
    assert_eq!((found.found, found.freshness.job), (expected, JobName::CustomerMetrics));
}
