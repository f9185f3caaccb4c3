//! Dirty days are summed up exactly, whatever the order in which data came in.

use domain::{
    AccountId,
    accounts::{AccountChange, AccountStore},
    daily::{DailyStore, DayTotals, Dimension},
    profit::{Basis, DayRange},
};
use rust_decimal::dec;
use store::Retention;
use time::{
    Date, OffsetDateTime,
    macros::{date, datetime},
};
use tokio_postgres::Client;

use crate::{
    database::{Database, fresh},
    shop::{self, Order},
};

const NOW: OffsetDateTime = datetime!(2026-03-10 12:00 UTC);
const EVERY_DAY: DayRange = DayRange { first: date!(2000 - 01 - 01), last: date!(2100 - 01 - 01) };

async fn roll_up(db: &Database, account: AccountId, zone: &str) -> u64 {
    db.store.roll_up(account, &zone.parse().unwrap(), NOW).await.unwrap().expect("nobody else rolls up").days
}

async fn series(db: &Database, account: AccountId) -> Vec<DayTotals> {
    db.store.series(account, EVERY_DAY).await.unwrap()
}

/// Two orders and a refund of one day, worked out by hand.
#[tokio::test]
async fn a_day_is_summed_up_by_the_printed_definitions() {
    let db = fresh().await;
    let sql = &db.sql;
    let account = shop::account(sql, "UTC").await;
    let day = date!(2026 - 03 - 01);
    let ana = shop::customer(sql, account, "ana").await;
    let known = shop::product(sql, account, "known", Some("mugs")).await;
    let like_known = shop::product(sql, account, "like-known", Some("mugs")).await;
    let unlike = shop::product(sql, account, "unlike", Some("hats")).await;
    for (from, cost) in [(date!(2026 - 02 - 01), "2"), (date!(2026 - 03 - 01), "3"), (date!(2026 - 03 - 05), "9")] {
        sql.execute(
            "INSERT INTO product_costs VALUES ($1, $2, $3, $4::text::numeric)",
            &[&account.0, &known, &from, &cost],
        )
        .await
        .unwrap();
    }
    // 10 × 6 at a cost of 3 (cost ratio of mugs: 0.5), 4 × 5 of the same category, postage of 8.
    let lines = [(Some(known), 10, "6"), (Some(like_known), 4, "5"), (None, 1, "8")];
    let first = Order {
        customer: Some(ana),
        country: Some("BR"),
        fees: Some("4.40"),
        shipping: Some("7.5"),
        ..Order::new("1", datetime!(2026-03-01 09:00 UTC), &lines)
    };
    shop::order(sql, account, first, day).await;
    // A hat of 50 without cost: the account's ratio of 0.5. Another platform that states no fees: 3 % and 0.30.
    let lines = [(Some(unlike), 1, "50")];
    let second = Order { source: "tiendanube", ..Order::new("2", datetime!(2026-03-01 23:59:59 UTC), &lines) };
    shop::order(sql, account, second, day).await;
    // The same platform as the first, whose order paid 5 % (4.40 of 88).
    let lines = [(Some(unlike), 2, "10")];
    shop::order(sql, account, Order::new("3", datetime!(2026-03-01 00:00 UTC), &lines), day).await;
    shop::refund(sql, account, "C1", Some(ana), datetime!(2026-03-01 20:00 UTC), (Some(known), 2, "6"), day).await;
    sql.execute(
        "INSERT INTO ad_spend VALUES ($1, $2, 'google', 'brand', 11, 100, 7), ($1, $2, 'meta', 'brand', 4, NULL, NULL)",
        &[&account.0, &day],
    )
    .await
    .unwrap();
    sql.execute("INSERT INTO expenses VALUES ($1, $2, 'rent', '', 1, 6.25)", &[&account.0, &day]).await.unwrap();

    assert_eq!(roll_up(&db, account, "UTC").await, 1);
    let expected = DayTotals {
        day,
        gross_revenue: dec!(158), // 60 + 20 + 8, 50, 20
        refunds: dec!(12),
        orders: 3,
        units: 18,
        customers: 1,
        new_customers: 1,
        refund_count: 1,
        cogs: dec!(69),       // 10 × 3, 20 × 0.5, 70 × 0.5, less 2 × 3 that came back
        fees: dec!(7.2),      // 4.40, 50 × 0.03 + 0.30, 20 × 0.05
        shipping: dec!(15.5), // 7.5, 4, 4
        ad_spend: dec!(15),
        ad_clicks: 7,
        extra_expenses: dec!(6.25),
        visitors: 0,
        basis: Basis {
            goods_revenue: dec!(150), // 60 + 20, 50, 20: the postage of 8 is no product
            cogs_covered_revenue: dec!(60),
            fees_estimated_orders: 2,
            shipping_estimated_orders: 2,
            returned_units: 2,
            returned_cogs: dec!(6),
            returned_fees: dec!(0),
        },
    };
    assert_eq!(series(&db, account).await, [expected]);
    let parts = shop::rows(
        sql,
        account,
        "dimension, value, gross_revenue::float, orders, units, ad_spend::float",
        "daily_breakdowns",
    )
    .await;
    assert_eq!(
        parts,
        [
            "(campaign,google/brand,0,0,0,11)",
            "(campaign,meta/brand,0,0,0,4)",
            "(country,BR,88,1,15,0)",
            "(country,unknown,70,2,3,0)",
            "(country_platform,BR/shopify,88,1,15,0)",
            "(country_platform,unknown/shopify,20,1,2,0)",
            "(country_platform,unknown/tiendanube,50,1,1,0)",
            "(platform,google,0,0,0,11)",
            "(platform,meta,0,0,0,4)",
            "(platform,shopify,108,2,17,0)",
            "(platform,tiendanube,50,1,1,0)",
        ]
    );
    let columns = "product_id, purchases, units, largest_line, cancelled_units, revenue::float, refunded::float";
    let sold = shop::rows(sql, account, columns, "product_days").await;
    let expected = [
        format!("({known},1,10,10,2,60,12)"),
        format!("({like_known},1,4,4,0,20,0)"),
        format!("({unlike},2,3,2,0,70,0)"),
    ];
    assert_eq!(sold, expected);
}

/// Documents of the customers `ana` and `bob` on two days, worked out by hand: a product of 10 that costs 3.
#[tokio::test]
async fn what_came_back_takes_its_cost_back_on_its_own_day() {
    let db = fresh().await;
    let sql = &db.sql;
    let account = shop::account(sql, "UTC").await;
    let (first, second) = (date!(2026 - 03 - 01), date!(2026 - 03 - 02));
    let (ana, bob) = (shop::customer(sql, account, "ana").await, shop::customer(sql, account, "bob").await);
    let product = shop::product(sql, account, "p", None).await;
    let other = shop::product(sql, account, "other", None).await;
    sql.execute("INSERT INTO product_costs VALUES ($1, $2, '2026-01-01', 3)", &[&account.0, &product]).await.unwrap();
    let lines = [(Some(product), 8, "10"), (Some(other), 2, "10")];
    let order = Order {
        source: "mercadolibre",
        customer: Some(ana),
        fees: Some("10"),
        ..Order::new("1", datetime!(2026-03-01 09:00 UTC), &lines)
    };
    shop::order(sql, account, order, first).await;
    let refund = async |id: &str, customer, hour, line, day: Date| {
        let at = day.with_hms(hour, 0, 0).unwrap().assume_utc();
        shop::refund(sql, account, id, customer, at, line, day).await;
    };
    // Of the 8 that ana ordered, 5 and 5 are cancelled by two documents: no more than 8 come back. Bob ordered nothing.
    refund("C1", Some(ana), 10, (Some(product), 5, "10"), first).await;
    refund("C2", Some(ana), 11, (Some(product), 5, "10"), first).await;
    refund("C3", Some(bob), 11, (Some(product), 1, "10"), first).await;
    refund("C4", None, 11, (Some(product), 1, "10"), first).await;
    // Without a known cost: the account's ratio of 0.5.
    refund("C5", Some(ana), 12, (Some(other), 1, "10"), first).await;
    // A day later only the document that names the order says that goods came back.
    refund("C6", Some(ana), 10, (Some(product), 1, "10"), second).await;
    refund("1/2026-03-02", Some(ana), 10, (Some(product), 2, "10"), second).await;
    sql.execute("UPDATE refunds SET source = 'mercadolibre' WHERE external_id = 'C5'", &[]).await.unwrap();

    roll_up(&db, account, "UTC").await;
    let days = series(&db, account).await;
    let returned = |day: &DayTotals| (day.basis.returned_units, day.basis.returned_cogs, day.basis.returned_fees);
    // 8 × 3 and 10 × 0.5; Mercado Libre gives 10 % of the 10 back, as the order paid 10 of 100.
    assert_eq!(returned(&days[0]), (9, dec!(29), dec!(1)));
    assert_eq!((days[0].cogs, days[0].fees), (dec!(5), dec!(9)), "8 × 3 + 20 × 0.5 less 29, 10 less 1");
    assert_eq!(returned(&days[1]), (2, dec!(6), dec!(0)));
    assert_eq!((days[1].cogs, days[1].refunds), (dec!(-6), dec!(30)));
}

/// As after an upgrade: the rows are there, made by other definitions.
#[tokio::test]
async fn days_of_other_definitions_are_summed_up_again() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let day = date!(2026 - 03 - 01);
    let ana = shop::customer(&db.sql, account, "ana").await;
    let product = shop::product(&db.sql, account, "p", None).await;
    let at = datetime!(2026-03-01 09:00 UTC);
    let lines = [(Some(product), 3, "10")];
    shop::order(&db.sql, account, Order { customer: Some(ana), ..Order::new("1", at, &lines) }, day).await;
    shop::refund(&db.sql, account, "C1", Some(ana), at, (Some(product), 3, "10"), day).await;
    roll_up(&db, account, "UTC").await;
    let before = series(&db, account).await;
    assert_eq!((before[0].cogs, before[0].basis.returned_cogs), (dec!(0), dec!(15)));

    let forget = "UPDATE daily_metrics SET cogs = 15, returned_units = 0, returned_cogs = 0";
    db.sql.execute(forget, &[]).await.unwrap();
    assert_eq!(roll_up(&db, account, "UTC").await, 0, "nothing has changed");
    let other = "UPDATE roll_ups SET made_by = regexp_replace(made_by, '^[0-9a-f]{16}', 'ffffffffffffffff')";
    assert_eq!(db.sql.execute(other, &[]).await.unwrap(), 1);
    roll_up(&db, account, "UTC").await;
    assert_eq!(series(&db, account).await, before);
}

#[tokio::test]
async fn a_cost_known_only_later_counts_before_it_too() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let day = date!(2026 - 03 - 01);
    let product = shop::product(&db.sql, account, "p", None).await;
    for (from, cost) in [(date!(2026 - 03 - 05), "3"), (date!(2026 - 03 - 09), "4")] {
        db.sql
            .execute(
                "INSERT INTO product_costs VALUES ($1, $2, $3, $4::text::numeric)",
                &[&account.0, &product, &from, &cost],
            )
            .await
            .unwrap();
    }
    let lines = [(Some(product), 2, "10")];
    shop::order(&db.sql, account, Order::new("1", datetime!(2026-03-01 09:00 UTC), &lines), day).await;
    roll_up(&db, account, "UTC").await;
    assert_eq!(series(&db, account).await[0].cogs, dec!(6));
}

/// Each number is one that a file may have; the product of the second day is more than a decimal holds, of the first more than
/// its column does.
#[tokio::test]
async fn the_largest_units_at_the_largest_unit_cost_are_summed_up() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let product = shop::product(&db.sql, account, "p", None).await;
    let cost = "INSERT INTO product_costs VALUES ($1, $2, '2026-01-01', 999999999999.999999)";
    db.sql.execute(cost, &[&account.0, &product]).await.unwrap();
    for (id, at, count) in [("1", datetime!(2026-03-01 09:00 UTC), 1), ("2", datetime!(2026-03-02 09:00 UTC), 100)] {
        let lines = vec![(Some(product), 1_000_000_000, "0.000001"); count];
        shop::order(&db.sql, account, Order::new(id, at, &lines), at.date()).await;
    }
    roll_up(&db, account, "UTC").await;
    let costs: Vec<_> = series(&db, account).await.iter().map(|day| day.cogs).collect();
    assert_eq!(costs, [dec!(1_000_000_000_000_000); 2]);
}

/// In São Paulo the day of 4 November 2018 started at 01:00 (03:00 UTC), as clocks skipped midnight.
#[tokio::test]
async fn days_are_cut_at_the_accounts_midnight_even_where_it_is_skipped() {
    let db = fresh().await;
    let zone = "America/Sao_Paulo";
    let account = shop::account(&db.sql, zone).await;
    let (saturday, sunday) = (date!(2018 - 11 - 03), date!(2018 - 11 - 04));
    let lines = [(None, 1, "1")];
    for (id, at, day) in [
        ("1", datetime!(2018-11-04 02:59:59 UTC), saturday),
        ("2", datetime!(2018-11-04 03:00 UTC), sunday),
        ("3", datetime!(2018-11-05 01:59:59 UTC), sunday),
    ] {
        shop::order(&db.sql, account, Order::new(id, at, &lines), day).await;
    }
    roll_up(&db, account, zone).await;
    let orders: Vec<_> = series(&db, account).await.iter().map(|day| (day.day, day.orders)).collect();
    assert_eq!(orders, [(saturday, 1), (sunday, 2)]);
}

#[tokio::test]
async fn a_late_order_moves_a_new_customer_to_its_own_day() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let customer = shop::customer(&db.sql, account, "ana").await;
    let lines = [(None, 1, "1")];
    let order = |id, at| Order { customer: Some(customer), ..Order::new(id, at, &lines) };
    let (first, second) = (date!(2026 - 03 - 01), date!(2026 - 03 - 04));
    let new_customers =
        async || -> Vec<_> { series(&db, account).await.iter().map(|day| (day.day, day.new_customers)).collect() };

    shop::order(&db.sql, account, order("2", datetime!(2026-03-04 09:00 UTC)), second).await;
    roll_up(&db, account, "UTC").await;
    assert_eq!(new_customers().await, [(second, 1)]);

    let late = shop::order(&db.sql, account, order("1", datetime!(2026-03-01 09:00 UTC)), first).await;
    assert_eq!(roll_up(&db, account, "UTC").await, 1, "only the day of the late order is summed up");
    assert_eq!(new_customers().await, [(first, 1), (second, 0)]);

    shop::remove_order(&db.sql, account, late, first).await;
    roll_up(&db, account, "UTC").await;
    assert_eq!(new_customers().await, [(second, 1)], "the empty day is gone");
}

#[tokio::test]
async fn an_order_that_turns_out_to_be_another_customers_counts_for_them_alone() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let (ana, bob) = (shop::customer(&db.sql, account, "ana").await, shop::customer(&db.sql, account, "bob").await);
    let (first, second) = (date!(2026 - 03 - 01), date!(2026 - 03 - 04));
    let lines = [(None, 1, "10")];
    let order = |id, at| Order { customer: Some(ana), ..Order::new(id, at, &lines) };
    shop::order(&db.sql, account, order("1", datetime!(2026-03-01 09:00 UTC)), first).await;
    shop::order(&db.sql, account, order("2", datetime!(2026-03-01 10:00 UTC)), first).await;
    let moved = shop::order(&db.sql, account, order("3", datetime!(2026-03-04 09:00 UTC)), second).await;
    roll_up(&db, account, "UTC").await;
    let totals = "customer_id, days, orders, gross::float, refunds::float, first_at::date, last_at::date";
    let of_ana = format!("({ana},2,3,30,0,2026-03-01,2026-03-04)");
    assert_eq!(shop::rows(&db.sql, account, totals, "customer_totals").await, [of_ana]);

    db.sql.execute("UPDATE orders SET customer_id = $2 WHERE id = $1", &[&moved, &bob]).await.unwrap();
    shop::touch(&db.sql, account, second).await;
    roll_up(&db, account, "UTC").await;
    let (of_ana, of_bob) =
        (format!("({ana},1,2,20,0,2026-03-01,2026-03-01)"), format!("({bob},1,1,10,0,2026-03-04,2026-03-04)"));
    assert_eq!(shop::rows(&db.sql, account, totals, "customer_totals").await, [of_ana, of_bob]);

    shop::remove_order(&db.sql, account, moved, second).await;
    roll_up(&db, account, "UTC").await;
    let left = shop::rows(&db.sql, account, "customer_id", "customer_totals").await;
    assert_eq!(left, [format!("({ana})")], "bob has no order any more");
}

/// A view of a page.
struct View<'a> {
    visitor: Option<&'a str>,
    session: &'a str,
    country: Option<&'a str>,
    at: OffsetDateTime,
    received: OffsetDateTime,
}

async fn event(sql: &Client, account: AccountId, view: View<'_>) {
    let View { visitor, session, country, at, received } = view;
    sql.execute(
        "INSERT INTO track_events (account_id, name, props, visitor_id, session_id, country, occurred_at, received_at)
         VALUES ($1, 'page_view', '{}', $2, $3, $4, $5, $6)",
        &[&account.0, &visitor, &session, &country, &at, &received],
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn visitors_are_counted_as_events_come_in_and_stay_when_old_events_are_dropped() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let visitors =
        async || -> Vec<_> { series(&db, account).await.iter().map(|day| (day.day, day.visitors)).collect() };
    let by_country = async || shop::rows(&db.sql, account, "day, value, orders, visitors", "daily_breakdowns").await;
    let (at, received) = (datetime!(2026-03-09 10:00 UTC), datetime!(2026-03-09 10:00:01 UTC));
    let view = |visitor, session, country| View { visitor, session, country, at, received };
    event(&db.sql, account, view(Some("v1"), "s1", Some("BR"))).await;
    event(&db.sql, account, view(Some("v1"), "s2", Some("BR"))).await;
    event(&db.sql, account, view(None, "s3", None)).await;
    assert_eq!(roll_up(&db, account, "UTC").await, 1);
    assert_eq!(visitors().await, [(date!(2026 - 03 - 09), 2)]);
    assert_eq!(by_country().await, ["(2026-03-09,BR,0,1)", "(2026-03-09,unknown,0,1)"]);
    assert_eq!(roll_up(&db, account, "UTC").await, 0, "nothing came in since");

    let late = View { at: datetime!(2026-03-08 10:00 UTC), received: NOW, ..view(Some("v2"), "s4", Some("AR")) };
    event(&db.sql, account, late).await;
    assert_eq!(roll_up(&db, account, "UTC").await, 1);
    assert_eq!(visitors().await, [(date!(2026 - 03 - 08), 1), (date!(2026 - 03 - 09), 2)]);

    db.sql.execute("DELETE FROM track_events", &[]).await.unwrap();
    let lines = [(None, 1, "1")];
    let order = Order { country: Some("BR"), ..Order::new("1", at, &lines) };
    shop::order(&db.sql, account, order, date!(2026 - 03 - 09)).await;
    roll_up(&db, account, "UTC").await;
    assert_eq!(visitors().await, [(date!(2026 - 03 - 08), 1), (date!(2026 - 03 - 09), 2)]);
    let kept = ["(2026-03-08,AR,0,1)", "(2026-03-09,BR,1,1)", "(2026-03-09,BR/shopify,1,0)"];
    let kept = [&kept[..], &["(2026-03-09,shopify,1,0)", "(2026-03-09,unknown,0,1)"]].concat();
    assert_eq!(by_country().await, kept);
    db.sql.execute("DELETE FROM orders", &[]).await.unwrap();
    shop::touch(&db.sql, account, date!(2026 - 03 - 09)).await;
    roll_up(&db, account, "UTC").await;
    assert_eq!(by_country().await, ["(2026-03-08,AR,0,1)", "(2026-03-09,BR,0,1)", "(2026-03-09,unknown,0,1)"]);
}

/// What jobs go by to tell whether there is anything new.
#[tokio::test]
async fn the_version_rises_with_what_changes_past_days_and_stays_otherwise() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let zone = "UTC".parse().unwrap();
    let mut version = 0;
    let mut rises = async || {
        let before = version;
        version = db.store.roll_up(account, &zone, NOW).await.unwrap().unwrap().version;
        version > before
    };
    assert!(!rises().await);
    let lines = [(None, 1, "1")];
    let late = datetime!(2026-03-01 09:00 UTC);
    shop::order(&db.sql, account, Order::new("1", late, &lines), late.date()).await;
    assert!(rises().await, "a late order");
    assert!(!rises().await);
    let seen = |visitor: &'static str, at: OffsetDateTime| View {
        visitor: Some(visitor),
        session: "s",
        country: None,
        at,
        received: NOW,
    };
    event(&db.sql, account, seen("v1", late)).await;
    assert!(rises().await, "a late visitor");
    assert!(!rises().await, "the same event, looked at once more");
    event(&db.sql, account, seen("v2", NOW)).await;
    assert!(!rises().await, "today is judged by nothing yet");
    db.sql.execute("UPDATE accounts SET fee_rate = 0.1 WHERE id = $1", &[&account.0]).await.unwrap();
    assert!(rises().await, "other rates");
}

/// A day that an import is still writing to is left for the next time, and is not lost.
#[tokio::test]
async fn a_day_that_is_being_written_to_is_summed_up_afterwards() {
    let mut db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let day = date!(2026 - 03 - 01);
    let lines = [(None, 1, "1")];
    shop::order(&db.sql, account, Order::new("1", datetime!(2026-03-01 09:00 UTC), &lines), day).await;
    let import = db.sql.transaction().await.unwrap();
    shop::order(import.client(), account, Order::new("2", datetime!(2026-03-01 10:00 UTC), &lines), day).await;
    let zone = "UTC".parse().unwrap();
    assert_eq!(db.store.roll_up(account, &zone, NOW).await.unwrap().unwrap().days, 0);
    import.commit().await.unwrap();
    assert_eq!(roll_up(&db, account, "UTC").await, 1);
    assert_eq!(series(&db, account).await[0].orders, 2);
}

#[tokio::test]
async fn the_products_that_sold_best_at_large_or_on_a_day_looked_at_are_parts_too() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let at = datetime!(2026-03-01 09:00 UTC);
    let mut products = Vec::new();
    for n in 0..30 {
        products.push(shop::product(&db.sql, account, &format!("P{n:02}"), None).await);
    }
    // The first sells most every day, the last one only once.
    for (id, day) in [("1", at), ("2", at + time::Duration::DAY)] {
        let lines: Vec<_> = products[..29].iter().map(|product| (Some(*product), 1, "9")).collect();
        shop::order(&db.sql, account, Order::new(id, day, &lines), day.date()).await;
    }
    shop::order(&db.sql, account, Order::new("3", at, &[(Some(products[0]), 5, "9")]), at.date()).await;
    shop::order(&db.sql, account, Order::new("4", at, &[(Some(products[29]), 2, "5")]), at.date()).await;
    roll_up(&db, account, "UTC").await;
    let of_products = async |looked_at: Vec<Date>| -> Vec<_> {
        let parts = db.store.parts(account, EVERY_DAY, looked_at).await.unwrap();
        assert_eq!(parts.iter().filter(|part| part.dimension == Dimension::Country).count(), 2);
        parts.into_iter().filter(|part| part.dimension == Dimension::Product).collect()
    };
    let at_large = of_products(vec![]).await;
    assert_eq!(at_large.len(), 48, "24 products on two days");
    assert_eq!((&*at_large[0].value, at_large[0].gross_revenue, at_large[0].units), ("P00", dec!(54), 6));
    assert!(at_large.iter().all(|part| part.value != "P29"));
    let with_day = of_products(vec![at.date()]).await;
    let rare: Vec<_> = with_day.iter().filter(|part| part.value == "P29").map(|part| (part.day, part.units)).collect();
    assert_eq!(rare, [(at.date(), 2)]);
    // The last one was sold little and refunded most.
    let later = at + time::Duration::DAY;
    shop::refund(&db.sql, account, "R", None, later, (Some(products[29]), 3, "5"), later.date()).await;
    roll_up(&db, account, "UTC").await;
    let refunded = of_products(vec![later.date()]).await;
    let refunded: Vec<_> =
        refunded.iter().filter(|part| part.value == "P29").map(|part| (part.day, part.refunds)).collect();
    assert_eq!(refunded, [(at.date(), dec!(0)), (later.date(), dec!(15))]);
}

/// What all days depend on changes all of them, and nothing else does.
#[tokio::test]
async fn other_rates_or_another_time_zone_make_all_days_anew() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let lines = [(None, 1, "100")];
    for (id, at) in [("1", datetime!(2026-02-01 02:00 UTC)), ("2", datetime!(2026-03-01 12:00 UTC))] {
        shop::order(&db.sql, account, Order::new(id, at, &lines), at.date()).await;
    }
    let days = async |zone: &str| -> Vec<_> {
        roll_up(&db, account, zone).await;
        series(&db, account).await.iter().map(|day| (day.day, day.orders, day.fees)).collect()
    };
    let [first, second] = [date!(2026 - 02 - 01), date!(2026 - 03 - 01)];
    assert_eq!(days("UTC").await, [(first, 1, dec!(3.30)), (second, 1, dec!(3.30))]);
    assert_eq!(roll_up(&db, account, "UTC").await, 0);
    db.sql.execute("UPDATE accounts SET fee_rate = 0.05 WHERE id = $1", &[&account.0]).await.unwrap();
    assert_eq!(days("UTC").await, [(first, 1, dec!(5.30)), (second, 1, dec!(5.30))]);
    assert_eq!(roll_up(&db, account, "UTC").await, 0);
    // At two in the morning of UTC it is the day before in São Paulo.
    let earlier = date!(2026 - 01 - 31);
    assert_eq!(days("America/Sao_Paulo").await, [(earlier, 1, dec!(5.30)), (second, 1, dec!(5.30))]);
    assert_eq!(roll_up(&db, account, "America/Sao_Paulo").await, 0);
}

/// Puts in an order of the customer `ana` at a distance of `every` days, the first on 1 January 2025, at an hour of UTC.
async fn history(sql: &Client, account: AccountId, orders: i32, every: i32, hour: i32) {
    let ana = shop::customer(sql, account, "ana").await;
    sql.execute(
        "INSERT INTO orders (account_id, source, external_id, customer_id, placed_at, gross, units, content_hash)
         SELECT $1::bigint, 'shopify', n::text, $2::bigint,
            (timestamp '2025-01-01' + make_interval(days => n * $4::int, hours => $5::int)) AT TIME ZONE 'UTC', 100, 1, ''
         FROM generate_series(0, $3::int - 1) AS n",
        &[&account.0, &ana, &orders, &every, &hour],
    )
    .await
    .unwrap();
    sql.execute(
        "INSERT INTO touched_days (account_id, day)
         SELECT $1::bigint, date '2025-01-01' + n * $3::int FROM generate_series(0, $2::int - 1) AS n",
        &[&account.0, &orders, &every],
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn steps_of_a_week_add_up_to_the_same() {
    let db = fresh().await;
    let zone = "UTC".parse().unwrap();
    let (whole, by_week) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    for account in [whole, by_week] {
        history(&db.sql, account, 15, 1, 12).await;
    }
    assert_eq!(roll_up(&db, whole, "UTC").await, 15);
    let mut steps = Vec::new();
    for is_first in [true, false, false] {
        steps.push(db.store.roll_up_step(by_week, &zone, NOW, 7, is_first).await.unwrap());
    }
    assert_eq!(steps, [Some(false), Some(false), Some(true)], "7, 7 and 1");
    assert_eq!(series(&db, by_week).await, series(&db, whole).await);
    assert_eq!(roll_up(&db, by_week, "UTC").await, 0);
}

/// 92 days at a time: what is done stays, and is not done again.
#[tokio::test]
async fn many_days_are_summed_up_in_steps_of_which_each_is_kept() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let zone = "UTC".parse().unwrap();
    history(&db.sql, account, 200, 1, 12).await;
    let first = db.store.roll_up(account, &zone, NOW).await.unwrap().unwrap();
    assert_eq!((first.days, first.version), (200, 3), "92, 92 and 16 dirty days, each with a version");
    let days = series(&db, account).await;
    let new_customers: Vec<_> = days.iter().filter(|day| day.new_customers > 0).map(|day| day.day).collect();
    assert_eq!((days.len(), new_customers), (200, vec![date!(2025 - 01 - 01)]), "ana is new once, in the last step");
    let totals = async || shop::rows(&db.sql, account, "days, orders, gross::float", "customer_totals").await;
    assert_eq!(totals().await, ["(200,200,20000)"]);

    db.sql.execute("UPDATE accounts SET fee_rate = 0.05 WHERE id = $1", &[&account.0]).await.unwrap();
    let refuse = "ALTER TABLE daily_metrics ADD CONSTRAINT refused CHECK (day <> '2025-01-01' OR fees < 5)";
    db.sql.batch_execute(refuse).await.unwrap();
    db.store.roll_up(account, &zone, NOW).await.unwrap_err();
    // With the two days after the last order and the two before the first there are 204: 92, 92 and 20.
    let summed_again = async || -> Vec<_> {
        series(&db, account).await.iter().filter(|day| day.fees == dec!(5.30)).map(|day| day.day).collect()
    };
    let newest: Vec<_> = days.iter().skip(18).map(|day| day.day).collect();
    assert_eq!(summed_again().await, newest, "the steps before the one that failed");
    db.store.roll_up(account, &zone, NOW).await.unwrap_err();
    assert_eq!(summed_again().await, newest);

    db.sql.batch_execute("ALTER TABLE daily_metrics DROP CONSTRAINT refused").await.unwrap();
    let rest = db.store.roll_up(account, &zone, NOW).await.unwrap().unwrap();
    assert_eq!((rest.days, rest.version), (20, first.version + 3), "only what was left");
    assert_eq!(summed_again().await.len(), 200);
    assert_eq!(totals().await, ["(200,200,20000)"]);
    assert_eq!(roll_up(&db, account, "UTC").await, 0);
}

/// Days far apart, all of which become the day before: wherever a step ends, the orders of a day that goes are found.
#[tokio::test]
async fn another_time_zone_moves_every_order_of_a_long_history_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    history(&db.sql, account, 150, 6, 1).await;
    roll_up(&db, account, "UTC").await;
    let before = series(&db, account).await;
    assert_eq!(before.len(), 150);
    let zone = "America/Sao_Paulo";
    roll_up(&db, account, zone).await;
    let days: Vec<_> = series(&db, account).await.iter().map(|day| (day.day, day.orders, day.new_customers)).collect();
    let moved = before.iter().map(|day| (day.day.previous_day().unwrap(), 1, day.new_customers));
    assert_eq!(days, moved.collect::<Vec<_>>());
    let totals = shop::rows(&db.sql, account, "days, orders", "customer_totals").await;
    assert_eq!(totals, ["(150,150)"]);
    assert_eq!(roll_up(&db, account, zone).await, 0);
}

/// Ten in the morning of one zone is the evening before in the other.
#[tokio::test]
async fn visitors_are_counted_once_when_the_time_zone_changes() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let days = async |zone: &str| -> Vec<_> {
        roll_up(&db, account, zone).await;
        series(&db, account).await.iter().map(|day| (day.day, day.visitors)).collect()
    };
    let seen = |session, at| View { visitor: None, session, country: Some("BR"), at, received: NOW };
    event(&db.sql, account, seen("s0", datetime!(2026-03-02 12:00 UTC))).await;
    for session in ["s1", "s2"] {
        event(&db.sql, account, seen(session, datetime!(2026-03-08 01:00 UTC))).await;
    }
    let first = (date!(2026 - 03 - 02), 1);
    assert_eq!(days("UTC").await, [first, (date!(2026 - 03 - 08), 2)]);
    assert_eq!(days("America/Sao_Paulo").await, [first, (date!(2026 - 03 - 07), 2)]);
    let countries = shop::rows(&db.sql, account, "day, value, visitors", "daily_breakdowns").await;
    assert_eq!(countries, ["(2026-03-02,BR,1)", "(2026-03-07,BR,2)"]);
}

/// Also those of the oldest day, unless months were dropped before it: then they may have been counted from what is gone.
#[tokio::test]
async fn visitors_of_the_oldest_day_are_counted_once_where_no_event_is_gone() {
    let db = fresh().await;
    let (young, old) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let made = "UPDATE accounts SET created_at = $2 WHERE id = $1";
    for (account, at) in [(young, datetime!(2026-03-01 0:00 UTC)), (old, datetime!(2026-02-28 23:59 UTC))] {
        db.sql.execute(made, &[&account.0, &at]).await.unwrap();
    }
    let retention = Retention { track_months: 12, delivery_months: 3 };
    db.store.maintain_at(datetime!(2026-03-01 0:00 UTC), retention).await.unwrap();
    let days = async |account: AccountId, zone: &str| -> Vec<_> {
        roll_up(&db, account, zone).await;
        series(&db, account).await.iter().map(|day| (day.day, day.visitors)).collect()
    };
    for (session, at) in [("s1", datetime!(2026-03-01 01:00 UTC)), ("s2", datetime!(2026-03-08 01:00 UTC))] {
        for account in [young, old] {
            event(&db.sql, account, View { visitor: None, session, country: Some("BR"), at, received: at }).await;
        }
    }
    let first = (date!(2026 - 03 - 01), 1);
    for account in [young, old] {
        assert_eq!(days(account, "UTC").await, [first, (date!(2026 - 03 - 08), 1)]);
    }
    let moved = [(date!(2026 - 02 - 28), 1), (date!(2026 - 03 - 07), 1)];
    assert_eq!(days(young, "America/Sao_Paulo").await, moved);
    assert_eq!(days(old, "America/Sao_Paulo").await, [moved[0], first, moved[1]]);
}

#[tokio::test]
async fn days_that_wait_to_be_summed_up_are_cut_by_the_zone_that_the_account_has_then() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let at = datetime!(2026-03-02 01:00 UTC);
    shop::order(&db.sql, account, Order::new("1", at, &[(None, 1, "100")]), at.date()).await;
    let change = AccountChange { timezone: Some("America/Sao_Paulo".parse().unwrap()), ..AccountChange::default() };
    AccountStore::change(&*db.store, account, change, None, NOW).await.unwrap();
    roll_up(&db, account, "America/Sao_Paulo").await;
    let days: Vec<_> = series(&db, account).await.iter().map(|day| (day.day, day.orders)).collect();
    assert_eq!(days, [(date!(2026 - 03 - 01), 1)]);
}

/// What happens in the shop below: orders of two customers on three days, and what goes with them.
#[derive(Clone, Copy)]
enum Step {
    Order(&'static str, &'static str, OffsetDateTime),
    Refund(&'static str, &'static str, OffsetDateTime),
    Spend(Date),
    RollUp,
}

async fn play(sql: &Client, db: &Database, account: AccountId, product: i64, steps: &[Step]) {
    let lines = [(Some(product), 3, "9.99")];
    for step in steps {
        match *step {
            Step::Order(id, name, at) => {
                let customer = Some(shop::customer(sql, account, name).await);
                let order = Order { customer, ..Order::new(id, at, &lines) };
                shop::order(sql, account, order, at.date()).await;
            }
            Step::Refund(id, name, at) => {
                let customer = Some(shop::customer(sql, account, name).await);
                shop::refund(sql, account, id, customer, at, (Some(product), 1, "9.99"), at.date()).await;
            }
            Step::Spend(day) => {
                sql.execute("INSERT INTO ad_spend VALUES ($1, $2, 'google', 'c', 5, 1, 1)", &[&account.0, &day])
                    .await
                    .unwrap();
                shop::touch(sql, account, day).await;
            }
            Step::RollUp => {
                roll_up(db, account, "UTC").await;
            }
        }
    }
    roll_up(db, account, "UTC").await;
}

#[tokio::test]
async fn any_order_of_arrival_gives_the_same_rows() {
    let db = fresh().await;
    let steps = [
        Step::Order("1", "ana", datetime!(2026-03-01 09:00 UTC)),
        Step::Order("2", "ana", datetime!(2026-03-02 09:00 UTC)),
        Step::Order("3", "bob", datetime!(2026-03-02 10:00 UTC)),
        Step::Order("4", "bob", datetime!(2026-03-03 10:00 UTC)),
        Step::Refund("C1", "ana", datetime!(2026-03-03 12:00 UTC)),
        Step::Refund("C2", "eve", datetime!(2026-03-05 12:00 UTC)),
        Step::Spend(date!(2026 - 03 - 02)),
        Step::Spend(date!(2026 - 03 - 04)),
    ];
    let mut found = Vec::new();
    for round in 0..12 {
        let account = shop::account(&db.sql, "UTC").await;
        let product = shop::product(&db.sql, account, "p", Some("c")).await;
        // A different order each round, with roll-ups in between.
        let mut shuffled: Vec<Step> = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            shuffled.insert((index * 7 + round * 5) % (shuffled.len() + 1), *step);
        }
        if round > 0 {
            shuffled.insert(round % shuffled.len(), Step::RollUp);
            shuffled.insert((round * 3) % shuffled.len(), Step::RollUp);
        }
        play(&db.sql, &db, account, product, &shuffled).await;
        let mut rows = shop::rows(
            &db.sql,
            account,
            "day, gross_revenue, refunds, orders, units, customers, new_customers, refund_count, cogs, fees, shipping,
                ad_spend, ad_clicks, cogs_covered_revenue",
            "daily_metrics",
        )
        .await;
        rows.extend(
            shop::rows(&db.sql, account, "day, dimension, value, gross_revenue, orders, ad_spend", "daily_breakdowns")
                .await,
        );
        rows.extend(
            shop::rows(
                &db.sql,
                account,
                "day, units, largest_line, cancelled_units, revenue, refunded",
                "product_days",
            )
            .await,
        );
        let of_customers = "day, orders, gross, refunds, first_at, last_at";
        rows.extend(shop::rows(&db.sql, account, of_customers, "customer_days").await);
        let in_all = "days, orders, gross, refunds, first_at, last_at";
        rows.extend(shop::rows(&db.sql, account, in_all, "customer_totals").await);
        found.push(rows);
    }
    // 5 days; platform, country and both on 3 days, ad platform and campaign on 2; the product on 4; ana and bob on two days
    // each, refunds of ana and eve, who never bought and has no totals.
    assert_eq!(found[0].len(), 5 + 13 + 4 + 6 + 2);
    for (round, rows) in found.iter().enumerate() {
        assert_eq!(rows, &found[0], "round {round}");
    }
}

#[tokio::test]
async fn another_accounts_rows_are_not_seen() {
    let db = fresh().await;
    let (mine, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let lines = [(None, 1, "1")];
    let day = date!(2026 - 03 - 01);
    for account in [mine, other] {
        shop::order(&db.sql, account, Order::new("1", datetime!(2026-03-01 09:00 UTC), &lines), day).await;
    }
    assert_eq!(roll_up(&db, mine, "UTC").await, 1);
    assert_eq!(series(&db, mine).await[0].orders, 1);
    assert_eq!(series(&db, other).await, []);
}

/// Waiting for the lock would hold a connection for as long as the roll-up that has it.
#[tokio::test]
async fn an_account_that_is_rolled_up_elsewhere_is_left_at_once() {
    let mut db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    // A wait would be an error.
    let no_waits = "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET lock_timeout = 100', current_database()); END $$";
    db.sql.batch_execute(no_waits).await.unwrap();
    let elsewhere = db.sql.transaction().await.unwrap();
    elsewhere.execute("SELECT pg_advisory_xact_lock(726300, hashint8($1))", &[&mine.0]).await.unwrap();
    let zone = "UTC".parse().unwrap();
    assert_eq!(db.store.roll_up(mine, &zone, NOW).await.unwrap(), None);
    assert!(db.store.roll_up(theirs, &zone, NOW).await.unwrap().is_some(), "the lock is of one account");
    elsewhere.rollback().await.unwrap();
    assert!(db.store.roll_up(mine, &zone, NOW).await.unwrap().is_some());
}
