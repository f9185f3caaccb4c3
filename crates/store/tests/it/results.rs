//! What the jobs read and where they put it.

use domain::{
    AccountId, CustomerId, ProductId,
    customer_metrics::{CustomerMetricsStore, Days, Metrics, Purchases},
    customers::Segment,
    daily::DailyStore,
    demand::{DemandStore, SalesDay, StockAt},
    inventory::{Figures, InventoryStore, InventoryWriter, Status, Trend, VelocityClass},
    jobs::{Again, Claim, JobName, JobStore, WriteOutcome},
    page::PageRequest,
    profit::DayRange,
    reorder::{Basis, Draft, ReorderStore, ReorderWriter, SeasonOf},
};
use rust_decimal::dec;
use time::{
    Date, OffsetDateTime,
    macros::{date, datetime},
};

use crate::{
    database::{Database, fresh},
    shop::{self, Order},
};

const AS_OF: Date = date!(2026 - 03 - 02);
const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

async fn claim(db: &Database, account: AccountId, job: JobName) -> Claim {
    db.store.claim(account, job, AS_OF, 60, Again::All).await.unwrap().unwrap()
}

#[tokio::test]
async fn customers_are_known_as_of_the_ends_of_three_days() {
    let db = fresh().await;
    let zone = "America/Sao_Paulo";
    let account = shop::account(&db.sql, zone).await;
    let (ana, bob) = (shop::customer(&db.sql, account, "ana").await, shop::customer(&db.sql, account, "bob").await);
    let lines = [(None, 2, "10.25")];
    // The first two are on one local day, 28 February; the last is just after the end of 2 March.
    for (id, at, day) in [
        ("1", datetime!(2026-02-28 04:00 UTC), date!(2026 - 02 - 28)),
        ("2", datetime!(2026-03-01 02:00 UTC), date!(2026 - 02 - 28)),
        ("3", datetime!(2026-03-03 02:59:59 UTC), AS_OF),
        ("4", datetime!(2026-03-03 03:00 UTC), date!(2026 - 03 - 03)),
    ] {
        shop::order(&db.sql, account, Order { customer: Some(ana), ..Order::new(id, at, &lines) }, day).await;
    }
    shop::refund(&db.sql, account, "C", Some(ana), datetime!(2026-03-02 12:00 UTC), (None, 1, "0.5"), AS_OF).await;
    db.store.roll_up(account, &zone.parse().unwrap(), NOW).await.unwrap();
    let days = Days { last: AS_OF, earlier: date!(2026 - 02 - 28), before: date!(2026 - 02 - 28) };
    let found = db.store.customers(account, days).await.unwrap();
    let purchases: Vec<_> = found.iter().map(|customer| (customer.written.customer_id, &customer.purchases)).collect();
    let span = (datetime!(2026-02-28 04:00 UTC), datetime!(2026-03-03 02:59:59 UTC));
    let anas = Purchases { orders: 3, days: 2, span: Some(span), gross: dec!(61.5), refunds: dec!(0.5) };
    assert_eq!(purchases, [(CustomerId(ana), &anas), (CustomerId(bob), &Purchases::default())]);
    let span = (datetime!(2026-02-28 04:00 UTC), datetime!(2026-03-01 02:00 UTC));
    let earlier = Purchases { orders: 2, days: 1, span: Some(span), gross: dec!(41), refunds: dec!(0) };
    assert_eq!(found[0].earlier, earlier, "at the end of 28 February");
    let known = Purchases { gross: dec!(0), ..earlier };
    assert_eq!(found[0].before, known, "at the end of the day of the back-test");
    let days = Days { last: date!(2026 - 02 - 27), earlier: date!(2026 - 02 - 01), before: date!(2025 - 09 - 01) };
    let found = &db.store.customers(account, days).await.unwrap()[0];
    for purchases in [&found.purchases, &found.earlier, &found.before] {
        assert_eq!(purchases, &Purchases::default());
    }
}

#[tokio::test]
async fn figures_of_customers_are_read_as_they_were_written() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let (ana, bob) = (shop::customer(&db.sql, account, "ana").await, shop::customer(&db.sql, account, "bob").await);
    let buyer = Metrics {
        customer_id: CustomerId(ana),
        orders_count: 3,
        revenue_total: dec!(61),
        ltv_estimate: dec!(12.345678),
        aov: dec!(20.333333),
        segment: Segment::Vip,
        churn_score: Some(dec!(0.1234)),
        span: Some((datetime!(2026-02-28 04:00 UTC), NOW)),
    };
    let run = claim(&db, account, JobName::CustomerMetrics).await;
    assert_eq!(db.store.write(&run, vec![buyer.clone()], NOW).await.unwrap(), WriteOutcome::Rows(1));
    let prospect = Metrics {
        customer_id: CustomerId(bob),
        orders_count: 0,
        revenue_total: dec!(0),
        ltv_estimate: dec!(0),
        aov: dec!(0),
        segment: Segment::Prospect,
        churn_score: None,
        span: None,
    };
    let known = db.store.customers(account, Days { last: AS_OF, earlier: AS_OF, before: AS_OF }).await.unwrap();
    let written: Vec<_> = known.into_iter().map(|customer| customer.written).collect();
    assert_eq!(written, [buyer, prospect], "prospects start as what they are");
    let columns = "id, orders_count, revenue_total::float, ltv_estimate::float, segment, churn_score::float";
    let expected = [format!("({ana},3,61,12.345678,vip,0.1234)"), format!("({bob},0,0,0,prospect,)")];
    assert_eq!(shop::rows(&db.sql, account, columns, "customers").await, expected);
}

#[tokio::test]
async fn stocked_products_come_with_their_sales_and_the_stock_of_the_day() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let product = shop::product(&db.sql, account, "p", Some("mugs")).await;
    shop::product(&db.sql, account, "without stock", None).await;
    db.sql
        .execute(
            "UPDATE products SET current_stock = 9, on_order = 4, lead_time_days = 10, pack_size = 6 WHERE id = $1",
            &[&product],
        )
        .await
        .unwrap();
    db.sql
        .execute(
            "INSERT INTO stock_levels VALUES ($1, $2, '2026-01-05', 0), ($1, $2, '2026-02-20', 0), ($1, $2, '2026-02-25', 7),
                ($1, $2, '2026-03-09', 9)",
            &[&account.0, &product],
        )
        .await
        .unwrap();
    let lines = [(Some(product), 3, "1")];
    for (id, at) in [("1", datetime!(2026-02-27 09:00 UTC)), ("2", datetime!(2026-02-27 10:00 UTC))] {
        shop::order(&db.sql, account, Order::new(id, at, &lines), at.date()).await;
    }
    let returned = datetime!(2026-02-28 12:00 UTC);
    shop::refund(&db.sql, account, "C", None, returned, (Some(product), 1, "1"), returned.date()).await;
    db.store.roll_up(account, &"UTC".parse().unwrap(), NOW).await.unwrap();

    let range = DayRange { first: date!(2026 - 02 - 01), last: date!(2026 - 03 - 01) };
    let found = db.store.stocked(account, range, StockAt::Day(AS_OF)).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].stock, found[0].on_order, found[0].lead_time_days, found[0].pack_size),
        (7, 4, Some(10), Some(6))
    );
    let sales = [
        SalesDay { day: date!(2026 - 02 - 27), sold: 6, cancelled: 0 },
        SalesDay { day: date!(2026 - 02 - 28), sold: 0, cancelled: 1 },
    ];
    assert_eq!((found[0].sales.as_slice(), found[0].sold_before), (sales.as_slice(), false));
    let later = DayRange { first: date!(2026 - 02 - 28), ..range };
    assert!(db.store.stocked(account, later, StockAt::Now).await.unwrap()[0].sold_before);
    // Thirty days after 5 January, and until the next stock was told.
    let without = (1..=4).chain(20..=24).map(|day| date!(2026 - 02 - 01).replace_day(day).unwrap());
    assert_eq!(found[0].days_without_stock, without.collect::<Vec<_>>());
    let now = db.store.stocked(account, range, StockAt::Now).await.unwrap();
    assert_eq!(now[0].stock, 9);
    let long_ago = db.store.stocked(account, range, StockAt::Day(date!(2025 - 01 - 01))).await.unwrap();
    assert_eq!(long_ago[0].stock, 9, "none is known so far back");
}

fn item(product_id: i64, stock: i64) -> Figures {
    Figures {
        product_id: ProductId(product_id),
        sku: format!("S{product_id}"),
        product_name: "A product".into(),
        current_stock: stock,
        units_sold_30d: 30,
        units_sold_7d: 7,
        avg_daily_units_30d: dec!(1),
        avg_daily_units_7d: dec!(1),
        days_of_stock: Some(dec!(12.5)),
        days_of_stock_range: Some((dec!(10.1), dec!(15))),
        velocity: Some(dec!(1.2345)),
        velocity_class: Some(VelocityClass::Lumpy),
        trend: Trend::Stable,
        status: Status::Low,
        estimated_stockout_at: Some(date!(2026 - 03 - 14)),
        unit_contribution: Some(2.5),
        missed_units: 3.75,
    }
}

async fn inventory(db: &Database, account: AccountId, items: Vec<Figures>) {
    let run = claim(db, account, JobName::InventoryVelocity).await;
    InventoryWriter::replace(&*db.store, &run, items, NOW).await.unwrap();
}

#[tokio::test]
async fn inventory_items_keep_their_ids_and_vanish_with_their_product() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let (first, second) =
        (shop::product(&db.sql, account, "a", None).await, shop::product(&db.sql, account, "b", None).await);
    inventory(&db, account, vec![item(first, 5), item(second, 6)]).await;
    let before = shop::rows(&db.sql, account, "product_id, id", "inventory_items").await;
    let columns = "product_id, velocity, velocity_class, days_of_stock_low, days_of_stock_high, unit_contribution,
        missed_units";
    let written = shop::rows(&db.sql, account, columns, "inventory_items").await;
    assert_eq!(written[0], format!("({first},1.2345,lumpy,10.1,15.0,2.5,3.75)"));
    let nothing_sells = Figures {
        days_of_stock: None,
        days_of_stock_range: None,
        velocity: None,
        velocity_class: None,
        estimated_stockout_at: None,
        ..item(first, 4)
    };
    inventory(&db, account, vec![nothing_sells]).await;
    assert_eq!(shop::rows(&db.sql, account, "product_id, id", "inventory_items").await, before[..1]);
    let kept = shop::rows(&db.sql, account, "current_stock, days_of_stock, status", "inventory_items").await;
    assert_eq!(kept, ["(4,,low)"]);
}

#[tokio::test]
async fn the_inventory_goes_on_behind_an_item_that_is_gone_or_back() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let mut products = Vec::new();
    for sku in ["a", "b", "c"] {
        products.push(shop::product(&db.sql, account, sku, None).await);
    }
    let items = |chosen: &[usize]| chosen.iter().map(|at| item(products[*at], 5)).collect::<Vec<_>>();
    let page = async |cursor| {
        let page = PageRequest { limit: 2, cursor };
        let page = InventoryStore::list(&*db.store, account, None, page).await.unwrap().page;
        (page.items.into_iter().map(|item| item.sku).collect::<Vec<_>>(), page.next_cursor)
    };
    let [first, second, third] = [0, 1, 2].map(|at| item(products[at], 5).sku);
    inventory(&db, account, items(&[0, 1, 2])).await;
    let (read, cursor) = page(None).await;
    assert_eq!(read, [first.clone(), second.clone()]);
    inventory(&db, account, items(&[0, 2])).await;
    assert_eq!(page(cursor).await, (vec![third.clone()], None));
    assert_eq!(page(cursor.map(|id| id + 100)).await, (vec![], None), "what was never there has no place");

    // Decisions on its product have it come back under the number that it had.
    let back =
        "INSERT INTO inventory_items (account_id, id, product_id, sku, product_name, current_stock, units_sold_30d,
            units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, days_of_stock, trend, status, computed_at)
        OVERRIDING SYSTEM VALUE
        VALUES ($1, $2, $3, $4, 'A product', 5, 30, 7, 1, 1, 12.5, 'stable', 'low', now())";
    db.sql.execute(back, &[&account.0, &cursor, &products[1], &second]).await.unwrap();
    assert_eq!(page(cursor).await, (vec![third.clone()], None));
    inventory(&db, account, items(&[0, 2])).await;
    assert_eq!(page(cursor).await, (vec![third], None));
}

#[tokio::test]
async fn an_item_that_becomes_more_urgent_is_told_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let product = shop::product(&db.sql, account, "a", None).await;
    let told = async || {
        shop::rows(&db.sql, account, "id, convert_from(body, 'UTF8')::jsonb #>> '{data,status}'", "events").await
    };
    let run = async |status| inventory(&db, account, vec![Figures { status, ..item(product, 5) }]).await;
    // What is new is not told, nor what gets better.
    for status in [Status::Low, Status::Ok, Status::Overstocked] {
        run(status).await;
    }
    assert!(told().await.is_empty());
    for status in [Status::Ok, Status::Low, Status::Low, Status::Critical, Status::Critical, Status::Low] {
        run(status).await;
    }
    assert_eq!(told().await, ["(1,low)", "(2,critical)"]);
}

const BASIS: Basis = Basis {
    on_hand: 3,
    on_order: 4,
    lead_time_days: 14,
    review_days: 7,
    daily_demand: 1.25,
    expected_demand: 26.25,
    safety_stock: 9.75,
    reorder_point: 28,
    order_up_to: 36,
    service_level: 0.95,
    pack_size: 6,
    min_order_qty: 12,
    history_days: Some(200),
    unit_contribution: Some(-1.5),
    sold_last_year: Some(40.0),
    sold_after_arrival: Some(25.5),
    season_of: Some(SeasonOf::Category),
    season_ends: true,
};

fn draft(product_id: i64, qty: i64) -> Draft {
    Draft {
        product_id: ProductId(product_id),
        qty_suggested: qty,
        reason: "because".into(),
        confidence: dec!(0.91),
        forecast_days: 21,
        basis: BASIS,
        decision_stands_days: 14,
    }
}

#[tokio::test]
async fn pending_suggestions_are_replaced_and_decisions_stand_for_a_while() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let (a, b, c) = (
        shop::product(&db.sql, account, "a", None).await,
        shop::product(&db.sql, account, "b", None).await,
        shop::product(&db.sql, account, "c", None).await,
    );
    inventory(&db, account, vec![item(a, 1), item(b, 1), item(c, 1)]).await;
    let suggest = async |drafts: Vec<Draft>, now: OffsetDateTime| {
        let run = claim(&db, account, JobName::SmartReorder).await;
        ReorderWriter::replace(&*db.store, &run, drafts, now, now).await.unwrap()
    };
    let found = async |columns: &str| shop::rows(&db.sql, account, columns, "reorder_suggestions").await;

    assert_eq!(suggest(vec![draft(a, 10), draft(b, 20), draft(c, 30)], NOW).await, WriteOutcome::Rows(3));
    let ids = found("sku, id").await;
    suggest(vec![draft(a, 11), draft(b, 21), draft(c, 31)], NOW).await;
    assert_eq!(found("sku, id").await, ids, "an item's pending suggestion keeps its id");

    db.sql.execute("UPDATE reorder_suggestions SET status = 'ordered' WHERE qty_suggested = 11", &[]).await.unwrap();
    db.sql.execute("UPDATE reorder_suggestions SET status = 'dismissed' WHERE qty_suggested = 21", &[]).await.unwrap();
    suggest(vec![draft(a, 12), draft(b, 22)], NOW + time::Duration::days(13)).await;
    let sku = |product: i64| format!("S{product}");
    let decided = [format!("({},11,ordered)", sku(a)), format!("({},21,dismissed)", sku(b))];
    assert_eq!(found("sku, qty_suggested, status").await, decided, "what is no longer suggested is gone");

    suggest(vec![draft(a, 13)], NOW + time::Duration::days(15)).await;
    let expected =
        [format!("({},11,ordered)", sku(a)), format!("({},13,pending)", sku(a)), format!("({},21,dismissed)", sku(b))];
    assert_eq!(found("sku, qty_suggested, status").await, expected);
    let pending = ReorderStore::list(&*db.store, account, None, PageRequest { limit: 1, cursor: None }).await.unwrap();
    assert_eq!(pending.page.items[0].basis, Some(BASIS));
}

#[tokio::test]
async fn a_decision_stands_while_the_stock_of_its_product_is_not_known() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let (a, b) = (shop::product(&db.sql, account, "a", None).await, shop::product(&db.sql, account, "b", None).await);
    let suggest = async |drafts: Vec<Draft>, now: OffsetDateTime| {
        let run = claim(&db, account, JobName::SmartReorder).await;
        ReorderWriter::replace(&*db.store, &run, drafts, now, now).await.unwrap();
    };
    let found = async |columns: &str| shop::rows(&db.sql, account, columns, "reorder_suggestions").await;
    let items = async || shop::rows(&db.sql, account, "product_id, id", "inventory_items").await;
    inventory(&db, account, vec![item(a, 1), item(b, 1)]).await;
    let before = items().await;
    suggest(vec![draft(a, 10), draft(b, 20)], NOW).await;
    db.sql.execute("UPDATE reorder_suggestions SET status = 'ordered' WHERE qty_suggested = 10", &[]).await.unwrap();

    inventory(&db, account, vec![]).await;
    let decided = [format!("(S{a},10,ordered)")];
    assert_eq!(found("sku, qty_suggested, status").await, decided, "what nobody decided on goes with its item");
    suggest(vec![], NOW).await;
    inventory(&db, account, vec![item(a, 1), item(b, 1)]).await;
    assert_eq!(items().await[..1], before[..1], "the item that was decided on is the same");
    suggest(vec![draft(a, 11)], NOW + time::Duration::days(1)).await;
    assert_eq!(found("sku, qty_suggested, status").await, decided, "it is not brought up again");
    suggest(vec![draft(a, 12)], NOW + time::Duration::days(15)).await;
    assert_eq!(found("qty_suggested, status").await, ["(10,ordered)", "(12,pending)"]);
}
