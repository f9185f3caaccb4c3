//! Every list is read as a range of an index, whatever is asked for: a page costs as much as it holds, not as much as the
//! account has.

use std::{collections::BTreeSet, future::Future, pin::Pin, sync::Arc};

use domain::{
    AccountId, AdEntityId, UserId,
    ads::{self, AdStore},
    alerts::AlertStore,
    anomalies::AnomalyStore,
    audit::AuditLog,
    creatives::{self, CreativeStore},
    credits::{FeatureName, TransactionFilter, TransactionLog},
    customers::{self, CustomerStore, OrderBy, Segment},
    insights::{self, InsightStore},
    integrations::IntegrationStore,
    inventory::InventoryStore,
    keys::KeyStore,
    metric_days::MetricDayStore,
    page::PageRequest,
    profit::{DayRange, ProfitStore},
    reorder::ReorderStore,
    risks::{self, RiskStore},
    search::Prefix,
    shops::sync::SyncRunStore,
    social::{
        conversations::{ConversationFilter, ConversationStore},
        profiles::ProfileConnections,
        templates::{TemplateFilter, TemplateStore},
    },
    tracking::{EventName, EventStore, Location, NewEvent},
    uploads::UploadStore,
    webhooks::{
        WebhookStore,
        delivery::DeliveryState,
        log::{DeliveryLog, Filter},
    },
};
use serde_json::{Map, Value};
use store::{PoolOptions, Store};
use time::{
    OffsetDateTime,
    macros::{date, datetime},
};
use tokio_postgres::Client;

use crate::database::{Database, fresh};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

/// Forty accounts, each with so much that no other way than by an index pays.
const FILL: &str = "
    INSERT INTO users SELECT 'user_' || lpad(a::text, 24, '0'), now() FROM generate_series(1, 40) a;
    INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at)
        SELECT 'user_' || lpad(a::text, 24, '0'), 'live', 'shop', 'free', 'USD', 'UTC', now() FROM generate_series(1, 40) a;
    CREATE TEMPORARY VIEW rows AS SELECT id AS account_id, n, timestamptz '2026-03-01' - n * interval '1 hour' AS at
        FROM accounts CROSS JOIN generate_series(1, 500) n;
    INSERT INTO customers (account_id, source, external_id, name, email, created_at)
        SELECT account_id, (ARRAY['shopify', 'tiendanube'])[1 + n % 2], n, n, n || '@example.com', at FROM rows;
    INSERT INTO credit_transactions (account_id, kind, feature, amount, balance_after, created_at)
        SELECT account_id, (ARRAY['grant', 'topup'])[1 + n % 2], (ARRAY['chat', 'story'])[1 + n % 2], 1, 1, at FROM rows;
    INSERT INTO products (account_id, sku, name, created_at) SELECT account_id, n, n, at FROM rows;
    INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d, units_sold_7d,
            avg_daily_units_30d, avg_daily_units_7d, days_of_stock, trend, status, computed_at)
        SELECT account_id, id, sku, name, 1, 0, 0, 0, 0, id % 90, 'stable',
            (ARRAY['critical', 'low', 'ok', 'overstocked'])[1 + id % 4], now() FROM products;
    INSERT INTO reorder_suggestions (account_id, inventory_item_id, sku, qty_suggested, reason, confidence, forecast_days,
            status, computed_at)
        SELECT account_id, id, sku, 1, '', 1, 1, (ARRAY['pending', 'ordered', 'dismissed'])[1 + id % 3], now()
        FROM inventory_items;
    INSERT INTO anomalies (account_id, kind, metric, day, observed_value, expected_value, z_score, direction, severity,
            detected_at)
        SELECT account_id, 'univariate', 'orders', date '2020-01-01' + n, 1, 1, 4, 'up',
            (ARRAY['low', 'medium', 'high', 'critical'])[1 + n % 4], at FROM rows;
    INSERT INTO metric_days (account_id, metric, day, observed)
        SELECT account_id, (ARRAY['orders', 'aov'])[1 + n % 2], date '2026-03-01' - n, 1 FROM rows;
    INSERT INTO insights (account_id, fingerprint, severity, category, title, body, suggested_action, impact_estimate,
            source, status, computed_at)
        SELECT account_id, n, (ARRAY['low', 'medium', 'high', 'critical'])[1 + n % 4],
            (ARRAY['ads', 'inventory', 'profit'])[1 + n % 3], '', '', '', '', 'rules',
            (ARRAY['open', 'resolved', 'dismissed'])[1 + n % 3], at FROM rows;
    INSERT INTO risks (account_id, kind, subject, label, severity, exposure_expected, lacks_costs, evidence, assumptions,
            found_on, detected_at, last_seen_at)
        SELECT account_id, (ARRAY['stockout', 'dead_stock', 'churn'])[1 + n % 3], n, n,
            (ARRAY['low', 'medium', 'high', 'critical'])[1 + n % 4], nullif(n % 90, 0), n % 5 = 0, '[]', '[]',
            '2026-03-01', at, at FROM rows;
    INSERT INTO profit_snapshots (account_id, snapshot_date, gross_revenue, refunds, ad_spend, cogs_estimate,
            fees_estimate, shipping_estimate, extra_expenses, purchase_count, computed_at)
        SELECT account_id, date '2026-03-01' - n, 1, 0, 0, 0, 0, 0, 0, 1, now() FROM rows;
    INSERT INTO orders (account_id, source, external_id, placed_at, gross, units, content_hash)
        SELECT account_id, 'shopify', n, at, 1, 1, '' FROM rows;
    INSERT INTO refunds (account_id, source, external_id, refunded_at, amount, units, content_hash)
        SELECT account_id, 'shopify', n, at, 1, 1, '' FROM rows;
    INSERT INTO ad_spend (account_id, day, platform, campaign, spend)
        SELECT account_id, date '2026-03-01' - n, 'meta', 'all', 1 FROM rows;
    INSERT INTO expenses (account_id, day, category, description, occurrence, amount)
        SELECT account_id, date '2026-03-01' - n, 'rent', '', 1, 1 FROM rows;
    INSERT INTO stock_levels (account_id, product_id, day, stock)
        SELECT account_id, id, date '2026-03-01' - (id % 500)::integer, 1 FROM products;
    INSERT INTO track_events (account_id, name, props, occurred_at, received_at)
        SELECT account_id, 'a', '{}', at, timestamptz '2026-03-02' - n * interval '1 second' FROM rows;
    INSERT INTO job_runs (account_id, job, as_of, state, claim, lease_until, started_at, finished_at)
        SELECT account_id, (ARRAY['customer_metrics', 'profit_snapshots', 'inventory_velocity', 'smart_reorder',
            'anomaly_detection', 'insight_generation', 'risk_assessment', 'creative_winners'])[1 + n % 8],
            date '2026-03-01' - n, 'done', 1, at, at, at FROM rows;
    INSERT INTO webhook_subscriptions (account_id, url, events, sealed_secret, created_at)
        SELECT account_id, 'https://example.com', '{*}', '', at FROM rows WHERE n <= 50;
    INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
        SELECT account_id, 1, n, gen_random_uuid(), (ARRAY['pending', 'delivered', 'failed'])[1 + n % 3], at, at FROM rows;
    INSERT INTO alert_rules (account_id, name, metric, comparator, threshold, window_hours, severity, cooldown_hours,
            due_at, created_at, updated_at)
        SELECT account_id, n, 'orders', 'gt', 1, 24, 'low', 1, at, at, at FROM rows WHERE n <= 50;
    INSERT INTO alert_firings (account_id, rule_id, fired_at, observed, threshold, event_id)
        SELECT account_id, 1 + n % 50, at, 1, 1, n FROM rows;
    INSERT INTO integrations (account_id, provider, shop, connected_at)
        SELECT account_id, 'shopify', n, at FROM rows WHERE n <= 50;
    INSERT INTO integrations (account_id, id, provider, shop, connected_at) OVERRIDING SYSTEM VALUE
        SELECT id, 100000, 'shopify', 'read', now() FROM accounts;
    INSERT INTO sync_runs (account_id, integration_id, stream, state, read, stored, refused, voided, calls, waited_ms,
            refusals, started_at, finished_at)
        SELECT account_id, 100000 + n % 5, 'changes', 'done', 0, 0, 0, 0, 0, 0, '[]', at, at FROM rows;
    INSERT INTO uploads (account_id, kind, name, state, created_at, finished_at)
        SELECT account_id, 'orders', 'orders.csv', (ARRAY['ready', 'done'])[1 + n % 2], at,
            CASE WHEN n % 2 = 1 THEN at END FROM rows;
    INSERT INTO ad_accounts (account_id, id, platform, external_id, source, last_synced_at) OVERRIDING SYSTEM VALUE
        SELECT id, id, 'meta', 'meta', 'file', now() FROM accounts;
    INSERT INTO ad_entities (account_id, id, ad_account_id, level, parent_id, campaign_id, external_id, name, status)
        OVERRIDING SYSTEM VALUE
        SELECT id, e.number, id, e.level, e.parent, e.campaign, '', '', 'active' FROM accounts CROSS JOIN (VALUES
            (498, 'campaign', 0, NULL), (499, 'ad_set', 498, 498), (500, 'ad', 499, 498)) e (number, level, parent, campaign);
    INSERT INTO ad_days (account_id, day, ad_id, currency, native_spend, fx, spend)
        SELECT account_id, date '2026-03-01' - n, 500, 'USD', n, 1, n FROM rows;
    INSERT INTO social_accounts (account_id, channel, external_id, connected_at)
        SELECT account_id, 'instagram', n, at FROM rows;
    INSERT INTO conversations (account_id, channel, external_id, social_account_id, status, handling, position, messages_count,
            waiting_since, created_at, updated_at)
        SELECT account_id, (ARRAY['instagram', 'facebook'])[1 + n % 2], n, 1, (ARRAY['open', 'closed'])[1 + n % 2], 'bot', 0, 1,
            CASE WHEN n % 3 = 0 THEN at END, at, at FROM rows;
    INSERT INTO conversation_messages (account_id, conversation_id, channel, external_id, direction, author, body, fingerprint,
            sent_at)
        SELECT account_id, id, channel, external_id, 'in', 'customer', '', sha256(''), created_at FROM conversations;
    UPDATE conversations c SET position = m.id FROM conversation_messages m
        WHERE m.account_id = c.account_id AND m.conversation_id = c.id;
    INSERT INTO reply_templates (account_id, name, category, language, state, version, created_at, updated_at)
        SELECT account_id, n, 'price_question', (ARRAY['es', 'pt'])[1 + n % 2], (ARRAY['draft', 'approved'])[1 + n % 2], 1, at, at
        FROM rows WHERE n <= 200;
    INSERT INTO reply_template_versions (account_id, template_id, version, category, language, variations, created_at)
        SELECT account_id, id, 1, category, language, '{x}', created_at FROM reply_templates;
    INSERT INTO audit_entries (account_id, at, actor_kind, action)
        SELECT account_id, at, 'operator', 'key_made' FROM rows;
    INSERT INTO api_keys (hash, account_id, name, prefix, scopes, created_at)
        SELECT sha256((account_id || ' ' || n)::bytea), account_id, n, n, '{read}', at FROM rows WHERE n <= 50";

/// The tables that lists are of, and those in which it is looked up how fresh they are.
const TABLES: [&str; 30] = [
    "audit_entries",
    "orders",
    "refunds",
    "ad_spend",
    "expenses",
    "stock_levels",
    "job_runs",
    "social_accounts",
    "ad_days",
    "customers",
    "credit_transactions",
    "inventory_items",
    "reorder_suggestions",
    "anomalies",
    "metric_days",
    "insights",
    "risks",
    "profit_snapshots",
    "webhook_subscriptions",
    "deliveries",
    "alert_rules",
    "alert_firings",
    "integrations",
    "sync_runs",
    "uploads",
    "api_keys",
    "products",
    "conversations",
    "conversation_messages",
    "reply_templates",
];

/// Lists that are given as a whole, and searches, which find a limited number: their rows are put in order after they were found
/// by an index.
const WHOLE: [&str; 11] = [
    "subscriptions",
    "integrations",
    "keys",
    "days of profit",
    "days of a metric",
    "anomalies of a day",
    "ads",
    "the advertising of a window",
    "creatives",
    "customers that are searched for",
    "inventory that is searched for",
];

/// A list that is merged of a few ranges, whose beginnings are put in order together.
const BY_FIGURE: &str = "customers by a figure";

type Reading = Pin<Box<dyn Future<Output = ()>>>;

fn reading<T, E: std::fmt::Debug>(list: impl Future<Output = Result<T, E>> + 'static) -> Reading {
    Box::pin(async move {
        list.await.unwrap();
    })
}

/// Every list with each filter that the API documents; each as a first page and as one behind a cursor.
fn lists(store: &Arc<Store>, account: AccountId, cursor: Option<i64>) -> Vec<(&'static str, Reading)> {
    let page = PageRequest { limit: 25, cursor };
    let mut lists: Vec<(&'static str, Reading)> = Vec::new();
    let mut add = |name: &'static str, reading: Reading| lists.push((name, reading));
    macro_rules! list {
        ($name:expr, $port:ident::$method:ident($($argument:expr),*)) => {{
            let store = Arc::clone(store);
            add($name, reading(async move { $port::$method(store.as_ref(), account, $($argument),*).await }));
        }};
    }
    let (source, segment) = (Some("shopify".parse().unwrap()), Some(Segment::Prospect));
    list!("customers", CustomerStore::page(customers::Filter::default(), page));
    let any = customers::Filter::default();
    list!("customers of a source", CustomerStore::page(customers::Filter { source, ..any }, page));
    list!("customers of a segment", CustomerStore::page(customers::Filter { segment, ..any }, page));
    list!("customers of both", CustomerStore::page(customers::Filter { source, segment, ..any }, page));
    list!("customers that are searched for", CustomerStore::search(&Prefix::new("ana").unwrap(), page));
    for (name, filter) in [
        ("transactions", TransactionFilter::default()),
        ("transactions of a kind", TransactionFilter { kind: Some("grant".parse().unwrap()), ..Default::default() }),
        (
            "transactions of a feature",
            TransactionFilter { feature: Some(FeatureName::new("chat").unwrap()), ..Default::default() },
        ),
        (
            "transactions of a time",
            TransactionFilter {
                from: Some(datetime!(2026-02-01 0:00 UTC)),
                to: Some(datetime!(2026-02-20 0:00 UTC)),
                ..Default::default()
            },
        ),
    ] {
        list!(name, TransactionLog::page(&filter, page));
    }
    list!("inventory", InventoryStore::list(None, page));
    list!("inventory of a status", InventoryStore::list(Some("low".parse().unwrap()), page));
    list!("inventory that is searched for", InventoryStore::search(&Prefix::new("mug").unwrap(), page));
    list!("suggestions", ReorderStore::list(None, page));
    list!("suggestions of a status", ReorderStore::list(Some("pending".parse().unwrap()), page));
    list!("anomalies", AnomalyStore::page(None, datetime!(2026-01-01 0:00 UTC), page));
    list!(
        "anomalies of a severity",
        AnomalyStore::page(Some("high".parse().unwrap()), datetime!(2026-01-01 0:00 UTC), page)
    );
    list!("an anomaly with those of its day", AnomalyStore::find(domain::AnomalyId(1)));
    list!("anomalies of a day", AnomalyStore::of_day(date!(2026 - 02 - 10)));
    let any = insights::Filter::default();
    let (open, high, ads) = ("open".parse().unwrap(), "high".parse().unwrap(), "ads".parse().unwrap());
    list!("insights", InsightStore::page(any, page));
    list!("insights of a status", InsightStore::page(insights::Filter { status: Some(open), ..any }, page));
    list!("insights of a severity", InsightStore::page(insights::Filter { severity: Some(high), ..any }, page));
    list!("insights of a category", InsightStore::page(insights::Filter { category: Some(ads), ..any }, page));
    list!(
        "insights by all",
        InsightStore::page(
            insights::Filter { status: Some(open), severity: Some(high), category: Some(ads), all: false },
            page
        )
    );
    let (stockout, critical) = ("stockout".parse().unwrap(), "critical".parse().unwrap());
    let any = risks::Filter::default();
    list!("risks", RiskStore::list(any, page));
    list!("risks of a type", RiskStore::list(risks::Filter { kind: Some(stockout), ..any }, page));
    list!("risks of a severity", RiskStore::list(risks::Filter { severity: Some(critical), ..any }, page));
    list!("deliveries", DeliveryLog::page(domain::SubscriptionId(1), Filter::default(), page));
    let failed = Filter { state: Some(DeliveryState::Failed), ..Filter::default() };
    list!("deliveries of a state", DeliveryLog::page(domain::SubscriptionId(1), failed, page));
    let of_event = Filter { event: Some("credits.low".parse().unwrap()), ..Filter::default() };
    list!("deliveries of an event", DeliveryLog::page(domain::SubscriptionId(1), of_event, page));
    let (since, until) = (Some(datetime!(2026-02-10 0:00 UTC)), Some(datetime!(2026-02-20 0:00 UTC)));
    let of_time = Filter { since, until, ..Filter::default() };
    list!("deliveries of a time", DeliveryLog::page(domain::SubscriptionId(1), of_time, page));
    list!("alert rules", AlertStore::page(page));
    list!("firings of an alert rule", AlertStore::firings(domain::RuleId(1), page));
    list!("subscriptions", WebhookStore::list());
    list!("integrations", IntegrationStore::page(page, NOW));
    list!("runs of an integration", SyncRunStore::page(domain::IntegrationId(100_000), page));
    let any = ConversationFilter::default();
    list!("conversations", ConversationStore::page(any, true, page));
    let waiting = ConversationFilter { waiting: Some(true), status: Some("open".parse().unwrap()), ..any };
    list!("conversations that wait", ConversationStore::page(waiting, false, page));
    let known = ConversationFilter { vip: Some(false), channel: Some("instagram".parse().unwrap()), ..any };
    list!("conversations of a channel", ConversationStore::page(known, false, page));
    let lately = ConversationFilter { updated_since: Some(datetime!(2026-02-20 0:00 UTC)), ..any };
    list!("conversations of late", ConversationStore::page(lately, false, page));
    list!("messages of a conversation", ConversationStore::find(domain::ConversationId(1), page));
    list!("templates", TemplateStore::page(TemplateFilter::default(), page));
    let drafts = TemplateFilter { state: Some("draft".parse().unwrap()), ..TemplateFilter::default() };
    list!("templates of a state", TemplateStore::page(drafts, page));
    list!("profiles", ProfileConnections::page(page));
    list!("uploads", UploadStore::page(page));
    list!("keys", KeyStore::list());
    let range = DayRange { first: date!(2026 - 01 - 01), last: date!(2026 - 01 - 31) };
    list!("days of profit", ProfitStore::range(range));
    list!("days of a metric", MetricDayStore::range("orders".parse().unwrap(), range));
    lists.extend(others(store, account, page));
    lists
}

/// Those of advertising, the audit log, and customers in an order.
fn others(store: &Arc<Store>, account: AccountId, page: PageRequest) -> Vec<(&'static str, Reading)> {
    let range = DayRange { first: date!(2026 - 01 - 01), last: date!(2026 - 01 - 31) };
    let query = ads::Query {
        range,
        platform: Some("meta".parse().unwrap()),
        campaign: Some(AdEntityId(498)),
        status: Some("active".parse().unwrap()),
        level: "ad".parse().unwrap(),
        group: "total".parse().unwrap(),
    };
    let shown = creatives::Query {
        range,
        platform: Some("meta".parse().unwrap()),
        status: Some("winner".parse().unwrap()),
        winner: Some(true),
        campaign: Some(AdEntityId(498)),
    };
    let of = || Arc::clone(store);
    let (by_page, overview, by_creative) = (of(), of(), of());
    let mut lists = vec![
        ("ads", reading(async move { AdStore::page(by_page.as_ref(), account, query, page).await })),
        (
            "the advertising of a window",
            reading(async move { AdStore::overview(overview.as_ref(), account, query).await }),
        ),
        ("creatives", reading(async move { CreativeStore::page(by_creative.as_ref(), account, shown, page).await })),
    ];
    for (name, area) in [("audit log", None), ("audit log of an area", Some("keys".parse().unwrap()))] {
        let store = of();
        let user: UserId = format!("user_{:0>24}", 1).parse().unwrap();
        lists.push((name, reading(async move { AuditLog::page(store.as_ref(), &user, area, page).await })));
    }
    for order_by in OrderBy::ALL {
        let store = of();
        let filter = customers::Filter { order_by: Some(*order_by), ..customers::Filter::default() };
        let page = async move { CustomerStore::page(store.as_ref(), account, filter, page).await };
        lists.push((BY_FIGURE, reading(page)));
    }
    lists
}

/// Has the only session of the store write down which statements it has prepared: it looks when it stores an event.
const LOOK: &str = "
    CREATE TABLE seen AS SELECT statement, parameter_types::text[] AS types FROM pg_prepared_statements WHERE false;
    CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
        INSERT INTO seen SELECT statement, parameter_types::text[] FROM pg_prepared_statements;
        RETURN NULL;
    END';
    CREATE TRIGGER look AFTER INSERT ON track_events FOR EACH ROW EXECUTE FUNCTION look();";

fn event() -> NewEvent {
    NewEvent {
        name: EventName::parse("look".to_owned()).unwrap(),
        props: Map::new(),
        visitor_id: None,
        session_id: None,
        url: None,
        location: Location { country: None, region: None, city: None },
        occurred_at: NOW,
        received_at: NOW,
    }
}

/// What one list prepared.
async fn prepared(
    db: &Database,
    store: &Store,
    account: AccountId,
    known: &mut BTreeSet<String>,
) -> Vec<(String, Vec<String>)> {
    store.insert_many(account, vec![event()]).await.unwrap();
    let rows = db.sql.query("SELECT DISTINCT statement, types FROM seen", &[]).await.unwrap();
    let all = rows.iter().map(|row| (row.get::<_, String>(0), row.get(1)));
    all.filter(|(statement, _)| known.insert(statement.clone())).collect()
}

/// The plan for whatever values, which is the one that the service has Postgres use.
async fn plan(sql: &Client, statement: &str, types: &[String]) -> Value {
    let (types, values) = match types {
        [] => (String::new(), String::new()),
        _ => (format!("({})", types.join(", ")), format!("({})", vec!["NULL"; types.len()].join(", "))),
    };
    sql.batch_execute(&format!("PREPARE probe {types} AS {statement}")).await.unwrap();
    let explained = sql.query_one(&format!("EXPLAIN (FORMAT JSON) EXECUTE probe {values}"), &[]).await.unwrap();
    sql.batch_execute("DEALLOCATE probe").await.unwrap();
    explained.get(0)
}

/// The ranges that a plan merges: what stands below its only sort.
fn merged(plan: &Value) -> &Value {
    let inner = |node: &'static str| move |one: &&Value| one["Node Type"] == node;
    let sort = plan["Plans"].as_array().unwrap().iter().find(inner("Sort")).expect("what is merged is put in order");
    sort["Plans"].as_array().unwrap().iter().find(inner("Nested Loop")).expect("a range after the other")
}

/// The conditions by which a plan reads customers.
fn conditions(node: &Value, found: &mut Vec<String>) {
    if node["Relation Name"] == "customers" {
        found.push(node["Index Cond"].as_str().unwrap_or_default().to_owned());
    }
    for inner in node["Plans"].as_array().into_iter().flatten() {
        conditions(inner, found);
    }
}

/// What in a plan grows with more than what the list gives.
fn faults(node: &Value, is_whole: bool, found: &mut Vec<String>) {
    let kind = node["Node Type"].as_str().unwrap_or_default();
    let table = node["Relation Name"].as_str().unwrap_or_default();
    let is_listed = TABLES.contains(&table);
    let condition = node["Index Cond"].as_str().unwrap_or_default();
    // How a text begins is what an index is looked up by: as a filter it would be asked of all rows of the account.
    if let Some(filter) = node["Filter"].as_str().filter(|filter| filter.contains("lower(")) {
        found.push(format!("{kind} on {table} filtered by {filter}"));
    }
    match kind {
        "Sort" | "Bitmap Heap Scan" if is_whole => {}
        // It has no table of its own.
        "Bitmap Index Scan" if !condition.contains("account_id") => found.push(format!("{kind} by {condition}")),
        "Sort" | "Incremental Sort" => found.push(format!("{kind} by {}", node["Sort Key"])),
        "Seq Scan" | "Bitmap Heap Scan" if is_listed => found.push(format!("{kind} on {table}")),
        "Index Scan" | "Index Only Scan" if is_listed && !condition.contains("account_id") => {
            found.push(format!("{kind} on {table} by {condition}"));
        }
        _ => {}
    }
    for inner in node["Plans"].as_array().into_iter().flatten() {
        faults(inner, is_whole, found);
    }
}

#[tokio::test]
async fn every_list_is_a_range_of_an_index() {
    if testkit::skip_on_citus("its plans say which node they are for, and not how that one reads") {
        return;
    }
    let db = fresh().await;
    db.sql.batch_execute(FILL).await.unwrap();
    // The summary of the inventory counts all of it, by the index alone.
    db.sql.batch_execute("VACUUM ANALYZE").await.unwrap();
    db.sql.batch_execute(LOOK).await.unwrap();
    db.sql
        .batch_execute("SET plan_cache_mode = force_generic_plan; SET jit = off; SET work_mem = '64MB'")
        .await
        .unwrap();
    let account = AccountId(db.sql.query_one("SELECT min(id) FROM accounts", &[]).await.unwrap().get(0));
    let store = Arc::new(db.store_with(PoolOptions { max_connections: 1, ..testkit::patient() }));
    let mut known = BTreeSet::new();
    prepared(&db, &store, account, &mut known).await;
    let mut wrong = Vec::new();
    for cursor in [None, Some(500)] {
        for (name, read) in lists(&store, account, cursor) {
            read.await;
            for (statement, types) in prepared(&db, &store, account, &mut known).await {
                // Of the deliveries of a page the newest attempts are put in order: as many as a page shows.
                if statement.contains("delivery_attempts") {
                    continue;
                }
                let plan = plan(&db.sql, &statement, &types).await;
                let mut found = Vec::new();
                let mut read = &plan[0]["Plan"];
                if name == BY_FIGURE && statement.contains("FROM customers") {
                    read = merged(read);
                    // Each range begins behind the customer before, and is of one segment and one platform.
                    let mut by = Vec::new();
                    conditions(read, &mut by);
                    let is_range = |by: &String| ["segment", "source", "ROW("].iter().all(|part| by.contains(part));
                    assert!(by.iter().any(is_range), "{by:?}");
                }
                faults(read, WHOLE.contains(&name), &mut found);
                if !found.is_empty() {
                    wrong.push(format!("{name}, cursor {cursor:?}: {found:?}\n{statement}"));
                }
            }
        }
    }
    assert!(known.len() > 30, "only {} statements were seen", known.len());
    assert_eq!(known.iter().filter(|statement| statement.contains("lower(")).count(), 2, "a search was not seen");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
