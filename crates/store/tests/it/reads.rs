//! Lists: in order, cut into pages that meet, and never with a row of another account.

use domain::{
    anomalies::{AnomalyStore, Severity},
    customers::{CustomerStore, Filter as CustomerFilter, OrderBy, Segment},
    insights::{Filter, InsightStore, Status as InsightStatus},
    integrations::IntegrationStore,
    inventory::{InventoryStore, Status, Summary},
    page::PageRequest,
    reorder::ReorderStore,
    search::Prefix,
};
use futures_util::TryStreamExt;
use time::{
    OffsetDateTime,
    macros::{date, datetime},
};

use crate::{database::fresh, shop};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

fn page(limit: i64, cursor: Option<i64>) -> PageRequest {
    PageRequest { limit, cursor }
}

/// Walks all pages and gives the keys in the order they came.
async fn walk<T>(
    limit: i64,
    mut next: impl AsyncFnMut(PageRequest) -> domain::page::Page<T>,
    key: impl Fn(&T) -> String,
) -> Vec<String> {
    let (mut cursor, mut keys) = (None, Vec::new());
    loop {
        let found = next(page(limit, cursor)).await;
        assert!(found.items.len() <= usize::try_from(limit).unwrap());
        keys.extend(found.items.iter().map(&key));
        cursor = found.next_cursor;
        if cursor.is_none() {
            return keys;
        }
    }
}

#[tokio::test]
async fn customers_come_newest_first_by_source_and_segment_and_page_and_stream_agree() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.sql
        .execute(
            "INSERT INTO customers (account_id, source, segment, external_id, created_at)
             SELECT a, CASE n % 2 WHEN 0 THEN 'shopify' ELSE 'tiendanube' END,
                CASE n % 3 WHEN 0 THEN 'vip' ELSE 'prospect' END, n::text, now()
             FROM unnest(ARRAY[$1, $2]::bigint[]) a, generate_series(1, 7) n ORDER BY n, a",
            &[&mine.0, &theirs.0],
        )
        .await
        .unwrap();
    let all = walk(
        3,
        async |page| CustomerStore::page(&*db.store, mine, CustomerFilter::default(), page).await.unwrap().found,
        |c| c.external_id.clone(),
    )
    .await;
    assert_eq!(all, ["7", "6", "5", "4", "3", "2", "1"]);
    let (shopify, vip) = (Some("shopify".parse().unwrap()), Some(Segment::Vip));
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    for (source, segment, expected) in [
        (None, None, all),
        (shopify, None, vec!["6", "4", "2"]),
        (None, vip, vec!["6", "3"]),
        (shopify, vip, vec!["6"]),
    ] {
        let filter = CustomerFilter { source, segment, order_by: None };
        let found = CustomerStore::page(&*db.store, mine, filter, page(10, None)).await.unwrap().found;
        assert_eq!(found.items.iter().map(|c| c.external_id.as_str()).collect::<Vec<_>>(), expected, "{filter:?}");
        let streamed: Vec<_> =
            CustomerStore::stream(&*db.store, mine, filter, None).await.unwrap().found.try_collect().await.unwrap();
        assert_eq!(streamed.iter().map(|c| c.external_id.as_str()).collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

#[tokio::test]
async fn customers_come_by_churn_or_value_with_those_without_a_score_last_and_page_and_stream_agree() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    // Every other one has a score like the one before; the last two have none.
    db.sql
        .execute(
            "INSERT INTO customers (account_id, source, segment, external_id, created_at, churn_score, ltv_estimate)
             SELECT a, CASE n % 2 WHEN 0 THEN 'shopify' ELSE 'tiendanube' END,
                CASE n % 3 WHEN 0 THEN 'vip' ELSE 'lost' END, n::text, now(), s.score, 100 - n
             FROM unnest(ARRAY[$1, $2]::bigint[]) a, (VALUES (1, 0), (2, 0.5), (3, 0.5), (4, 1), (5, 0.9999), (6, NULL), (7, NULL))
                AS s (n, score) ORDER BY n, a",
            &[&mine.0, &theirs.0],
        )
        .await
        .unwrap();
    let (churn, value) = (Some(OrderBy::ChurnScore), Some(OrderBy::LtvEstimate));
    let (shopify, vip) = (Some("shopify".parse().unwrap()), Some(Segment::Vip));
    for (order_by, source, segment, expected) in [
        (churn, None, None, vec!["4", "5", "3", "2", "1", "7", "6"]),
        (churn, shopify, None, vec!["4", "2", "6"]),
        (churn, None, vip, vec!["3", "6"]),
        (value, None, None, vec!["1", "2", "3", "4", "5", "6", "7"]),
        (value, shopify, vip, vec!["6"]),
    ] {
        let filter = CustomerFilter { source, segment, order_by };
        let paged = walk(
            2,
            async |page| CustomerStore::page(&*db.store, mine, filter, page).await.unwrap().found,
            |c| c.external_id.clone(),
        )
        .await;
        assert_eq!(paged, expected, "{filter:?}");
        let streamed: Vec<_> =
            CustomerStore::stream(&*db.store, mine, filter, None).await.unwrap().found.try_collect().await.unwrap();
        assert_eq!(streamed.iter().map(|c| c.external_id.as_str()).collect::<Vec<_>>(), expected, "{filter:?}");
    }
}

#[tokio::test]
async fn a_stream_by_churn_goes_on_where_it_was_when_its_last_customer_moves() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    db.sql
        .execute(
            "INSERT INTO customers (account_id, source, segment, external_id, created_at, churn_score)
             SELECT $1, 'shopify', 'lost', n::text, now(), n / 10000.0 FROM generate_series(1, 4001) n",
            &[&account.0],
        )
        .await
        .unwrap();
    let by_churn = CustomerFilter { order_by: Some(OrderBy::ChurnScore), ..CustomerFilter::default() };
    let mut streamed = CustomerStore::stream(&*db.store, account, by_churn, None).await.unwrap().found;
    let mut seen = vec![streamed.try_next().await.unwrap().unwrap().external_id];
    // Whoever has been read is moved to the end.
    db.sql.execute("UPDATE customers SET churn_score = 0 WHERE churn_score > 0.3", &[]).await.unwrap();
    while let Some(customer) = streamed.try_next().await.unwrap() {
        if !seen.contains(&customer.external_id) {
            seen.push(customer.external_id);
        }
    }
    assert_eq!(seen.len(), 4001);
}

#[tokio::test]
async fn what_begins_with_a_text_is_found_whatever_the_case_of_its_letters() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    db.sql
        .execute(
            "INSERT INTO customers (account_id, source, external_id, name, email, created_at) VALUES
                ($1, 'shopify', '1', 'Ángela Núñez', NULL, now()), ($1, 'shopify', '2', 'ÁNGELA NÚÑEZ', NULL, now()),
                ($1, 'shopify', '3', 'Angela', NULL, now()), ($1, 'shopify', '4', NULL, 'ÁNGELA@example.com', now())",
            &[&account.0],
        )
        .await
        .unwrap();
    for (text, expected) in [("ángela", vec!["4", "2", "1"]), ("ÁNGELA NÚ", vec!["2", "1"]), ("Angela", vec!["3"])] {
        let found =
            CustomerStore::search(&*db.store, account, &Prefix::new(text).unwrap(), page(10, None)).await.unwrap();
        let ids: Vec<_> = found.found.items.iter().map(|customer| customer.external_id.as_str()).collect();
        assert_eq!(ids, expected, "{text}");
    }
    for (sku, name) in [("CAÑA-1", "Árbol"), ("cana", "ÁRBOL"), ("other", "arbol")] {
        let product = shop::product(&db.sql, account, sku, None).await;
        db.sql
            .execute(
                "INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d,
                    units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, trend, status, computed_at)
                 VALUES ($1, $2, $3, $4, 1, 0, 0, 0, 0, 'stable', 'ok', now())",
                &[&account.0, &product, &sku, &name],
            )
            .await
            .unwrap();
    }
    for (text, expected) in [("árbol", vec!["CAÑA-1", "cana"]), ("caña", vec!["CAÑA-1"])] {
        let found =
            InventoryStore::search(&*db.store, account, &Prefix::new(text).unwrap(), page(10, None)).await.unwrap();
        let mut skus: Vec<_> = found.page.items.iter().map(|item| item.sku.as_str()).collect();
        skus.sort_unstable();
        assert_eq!(skus, expected, "{text}");
    }
}

#[tokio::test]
async fn a_stream_longer_than_its_batches_is_whole() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    db.sql
        .execute(
            "INSERT INTO customers (account_id, source, external_id, created_at)
             SELECT $1, 'shopify', n::text, now() FROM generate_series(1, 4001) n",
            &[&account.0],
        )
        .await
        .unwrap();
    let streamed: Vec<_> = CustomerStore::stream(&*db.store, account, CustomerFilter::default(), None)
        .await
        .unwrap()
        .found
        .try_collect()
        .await
        .unwrap();
    assert_eq!(streamed.len(), 4001);
    assert!(streamed.is_sorted_by(|a, b| a.id > b.id));
}

#[tokio::test]
async fn integrations_count_their_states_over_all_pages() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.sql
        .execute(
            "INSERT INTO integrations (account_id, provider, shop, connected_at, revoked_at, last_sync_at) VALUES
             ($1, 'shopify', 'a', $3, NULL, $3), ($1, 'shopify', 'b', $3, NULL, $3 - interval '25 hours'),
             ($1, 'shopify', 'c', $3, $3, $3), ($1, 'shopify', 'd', $3, NULL, NULL), ($2, 'shopify', 'e', $3, NULL, $3)",
            &[&mine.0, &theirs.0, &NOW],
        )
        .await
        .unwrap();
    let (found, totals) = IntegrationStore::page(&*db.store, mine, page(2, None), NOW).await.unwrap();
    assert_eq!(found.items.iter().map(|i| i.shop.as_str()).collect::<Vec<_>>(), ["d", "c"]);
    assert_eq!((totals.total, totals.connected, totals.stale, totals.revoked, totals.never_synced), (4, 1, 1, 1, 1));
}

#[tokio::test]
async fn inventory_is_listed_by_urgency_with_a_summary_of_the_whole_catalogue() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let items = [
        ("ok-null", "ok", None),
        ("crit-3", "critical", Some("3")),
        ("low-9", "low", Some("9")),
        ("ok-40-b", "ok", Some("40")),
        ("ok-40-a", "ok", Some("40")),
        ("over", "overstocked", Some("200")),
        ("crit-0", "critical", Some("0")),
    ];
    for account in [mine, theirs] {
        for (sku, status, days) in items {
            let product = shop::product(&db.sql, account, sku, None).await;
            db.sql
                .execute(
                    "INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock,
                        units_sold_30d, units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, days_of_stock, trend,
                        status, computed_at)
                     VALUES ($1, $2, $3, $3, 1, 0, 0, 0, 0, $4::text::numeric, 'stable', $5, now())",
                    &[&account.0, &product, &sku, &days, &status],
                )
                .await
                .unwrap();
        }
    }
    let listed = walk(
        2,
        async |page| InventoryStore::list(&*db.store, mine, None, page).await.unwrap().page,
        |item: &domain::inventory::Item| item.sku.clone(),
    )
    .await;
    assert_eq!(listed, ["crit-0", "crit-3", "low-9", "ok-40-a", "ok-40-b", "ok-null", "over"]);
    let low = InventoryStore::list(&*db.store, mine, Some(Status::Low), page(10, None)).await.unwrap();
    assert_eq!(low.page.items.len(), 1);
    assert_eq!(low.summary, Summary { total: 7, critical: 2, low: 1, ok: 3, overstocked: 1 });
    assert_eq!(low.freshness.as_of, None);
}

#[tokio::test]
async fn suggestions_tell_when_their_job_last_ended() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let ended = datetime!(2026-03-01 04:00 UTC);
    for (day, state, finished_at) in [
        ("2026-02-28", "done", Some(datetime!(2026-02-28 04:00 UTC))),
        ("2026-03-01", "done", Some(ended)),
        ("2026-03-02", "running", None),
    ] {
        db.sql
            .execute(
                "INSERT INTO job_runs (account_id, job, as_of, state, claim, lease_until, started_at, finished_at)
                 VALUES ($1, 'smart_reorder', $2::text::date, $3, 1, now(), now(), $4)",
                &[&account.0, &day, &state, &finished_at],
            )
            .await
            .unwrap();
    }
    let listing = ReorderStore::list(&*db.store, account, None, page(10, None)).await.unwrap();
    assert_eq!((listing.page.items.len(), listing.freshness.as_of), (0, Some(ended)));
}

#[tokio::test]
async fn anomalies_are_those_of_the_window_newest_first() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.sql
        .execute(
            "INSERT INTO anomalies (account_id, kind, metric, day, observed_value, expected_value, z_score, direction,
                severity, detected_at)
             SELECT a, 'univariate', m, '2026-03-01'::date - n, 1, 2, -4, 'down',
                CASE n WHEN 0 THEN 'high' ELSE 'low' END, $3::timestamptz - make_interval(days => n)
             FROM unnest(ARRAY[$1, $2]::bigint[]) a, unnest(ARRAY['orders', 'aov']) m, generate_series(0, 9) n",
            &[&mine.0, &theirs.0, &NOW],
        )
        .await
        .unwrap();
    let since = NOW - time::Duration::days(6);
    let days = walk(
        3,
        async |page| AnomalyStore::page(&*db.store, mine, None, since, page).await.unwrap().found,
        |a| a.day.day().to_string(),
    )
    .await;
    assert_eq!(days, ["1", "1", "28", "28", "27", "27", "26", "26", "25", "25", "24", "24", "23", "23"]);
    let high = AnomalyStore::page(&*db.store, mine, Some(Severity::High), since, page(10, None)).await.unwrap().found;
    assert_eq!(high.items.len(), 2);

    let asked = high.items[0].id;
    let found = AnomalyStore::find(&*db.store, mine, asked).await.unwrap().unwrap().found;
    assert_eq!((found.anomaly.id, found.anomaly.day.day()), (asked, 1));
    let others: Vec<_> = found.others.iter().map(|other| (other.day.day(), other.id == high.items[1].id)).collect();
    assert_eq!(others, [(1, true)], "the other of its day, and none of another account");
    assert_eq!(AnomalyStore::find(&*db.store, theirs, asked).await.unwrap(), None);
}

#[tokio::test]
async fn the_anomalies_of_a_day_are_all_that_span_it() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.sql
        .execute(
            "INSERT INTO anomalies (account_id, kind, metric, day, first_day, last_day, observed_value, expected_value,
                z_score, direction, severity, detected_at)
             SELECT a, 'univariate', metric, day::date, first_day::date, last_day::date, 1, 2, -4, 'down', 'low', $3::timestamptz
             FROM unnest(ARRAY[$1, $2]::bigint[]) a, (VALUES
                ('orders', '2026-03-10', '2026-03-08', '2026-03-12'), ('aov', '2026-03-12', NULL, NULL),
                ('profit', '2026-03-13', NULL, NULL), ('net_revenue', '2026-04-20', '2026-03-12', '2026-04-20'),
                ('ad_spend', '2026-03-10', '2026-03-09', '2026-03-11')
             ) found (metric, day, first_day, last_day)",
            &[&mine.0, &theirs.0, &NOW],
        )
        .await
        .unwrap();
    let of_day = async |day| {
        let found = AnomalyStore::of_day(&*db.store, mine, day).await.unwrap().found;
        let mut metrics: Vec<_> = found.into_iter().map(|anomaly| anomaly.metric).collect();
        metrics.sort_unstable();
        metrics
    };
    assert_eq!(of_day(date!(2026 - 03 - 12)).await, ["aov", "net_revenue", "orders"]);
    assert_eq!(of_day(date!(2026 - 03 - 08)).await, ["orders"]);
    assert!(of_day(date!(2026 - 03 - 07)).await.is_empty());
}

#[tokio::test]
async fn insights_are_filtered_by_what_is_asked() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.sql
        .execute(
            "INSERT INTO insights (account_id, fingerprint, severity, category, title, body, suggested_action,
                impact_estimate, source, status, computed_at)
             SELECT a, s || c, 'low', c, s || ' ' || c, '', '', '', 'rules', s, now()
             FROM unnest(ARRAY[$1, $2]::bigint[]) a, unnest(ARRAY['open', 'resolved']) s, unnest(ARRAY['ads', 'profit']) c",
            &[&mine.0, &theirs.0],
        )
        .await
        .unwrap();
    let filter = Filter { status: Some(InsightStatus::Open), ..Filter::default() };
    let open = InsightStore::page(&*db.store, mine, filter, page(10, None)).await.unwrap().found;
    assert_eq!(open.items.iter().map(|i| i.written.title.as_str()).collect::<Vec<_>>(), ["open profit", "open ads"]);
    let filter = Filter { category: Some("ads".parse().unwrap()), ..Filter::default() };
    assert_eq!(InsightStore::page(&*db.store, mine, filter, page(10, None)).await.unwrap().found.items.len(), 2);
}
