//! What risks are found in, how they are kept from run to run, and how they are listed.

use domain::{
    AccountId, AdEntityId, CreativeId, CustomerId, InsightId, IntegrationId, ProductId, SubscriptionId,
    ads::CampaignSums,
    daily::DailyStore,
    insights::Severity,
    integrations::RevokeReason,
    jobs::{Again, Claim, JobName, JobStore, WriteOutcome},
    metrics::returns::OrderValue,
    page::PageRequest,
    queues::MOST_COUNTED,
    risks::{
        Action, Assumption, ChannelRevenue, Credits, CustomerRevenue, Evidence, Exposure, FailingWebhook, Filter,
        Finding, Kind, Links, Listing, Measure, OpenInsight, ProductSales, Risk, RiskSource, RiskStore, RiskWriter,
        Summary, TiredAd, Unanswered,
    },
    shops::connections::{ConnectionStore, Revocation, Revoked},
    webhooks::WebhookStore,
};
use rust_decimal::{Decimal, dec};
use time::{
    Date, Duration, OffsetDateTime,
    macros::{date, datetime},
};

use crate::{
    database::{Database, fresh},
    shop::{self, Order},
};

const DAY: Date = date!(2026 - 03 - 02);
const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

async fn claim(db: &Database, account: AccountId, as_of: Date) -> Claim {
    db.store.claim(account, JobName::RiskAssessment, as_of, 60, Again::All).await.unwrap().unwrap()
}

fn finding(subject: &str, severity: Severity, expected: Option<Decimal>) -> Finding {
    Finding {
        kind: Kind::Stockout,
        subject: subject.into(),
        label: subject.to_uppercase(),
        severity,
        likelihood: Some(dec!(0.8200)),
        exposure: expected.map(|expected| Exposure {
            low: Some(expected / dec!(2)),
            expected: Some(expected),
            high: Some(expected * dec!(2)),
        }),
        lacks_costs: expected.is_none(),
        evidence: vec![
            Evidence { metric: Measure::DaysOfStock, value: Some(4.1), threshold: Some(7.0) },
            Evidence { metric: Measure::Stock, value: None, threshold: None },
        ],
        assumptions: vec![Assumption::BuyersSwitch],
        action: Some(Action::Reorder),
        links: Links { sku: Some(subject.into()), insight_id: Some(InsightId(31)), ..Links::default() },
    }
}

/// Writes what was found as of a day, at 03:00 of it.
async fn found(db: &Database, account: AccountId, as_of: Date, found: Vec<Finding>) -> WriteOutcome {
    let run = claim(db, account, as_of).await;
    RiskWriter::replace(&*db.store, &run, found, at(as_of)).await.unwrap()
}

fn at(day: Date) -> OffsetDateTime {
    day.with_hms(3, 0, 0).unwrap().assume_utc()
}

async fn list(db: &Database, account: AccountId, filter: Filter, limit: i64, cursor: Option<i64>) -> Listing {
    RiskStore::list(&*db.store, account, filter, PageRequest { limit, cursor }).await.unwrap()
}

async fn all(db: &Database, account: AccountId) -> Vec<Risk> {
    list(db, account, Filter::default(), 100, None).await.page.items
}

#[tokio::test]
async fn what_was_found_is_read_as_it_was_written() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let never = list(&db, account, Filter::default(), 9, None).await;
    assert_eq!((never.page.items, never.summary, never.freshness.as_of), (vec![], Summary::default(), None));

    let exact = finding("mug", Severity::High, Some(dec!(1240.5)));
    let partly = Finding {
        kind: Kind::CustomerConcentration,
        exposure: Some(Exposure { low: Some(dec!(0)), expected: None, high: Some(dec!(9)) }),
        likelihood: None,
        links: Links { customer_id: Some(CustomerId(5)), ..Links::default() },
        action: None,
        ..finding("5", Severity::Medium, None)
    };
    assert_eq!(found(&db, account, DAY, vec![exact.clone(), partly.clone()]).await, WriteOutcome::Rows(2));
    let listed = list(&db, account, Filter::default(), 9, None).await;
    let read: Vec<Finding> = listed.page.items.iter().map(|risk| risk.found.clone()).collect();
    assert_eq!(read, [exact, partly]);
    let summary =
        Summary { medium: 1, high: 1, largest_expected: Some(dec!(1240.5)), lack_costs: 1, ..Summary::default() };
    assert_eq!((listed.summary, listed.freshness.as_of), (summary, Some(NOW)));
    assert!(listed.page.items.iter().all(|risk| (risk.detected_at, risk.last_seen_at) == (NOW, NOW)));
}

#[tokio::test]
async fn a_risk_keeps_its_number_while_it_lasts_and_is_forgotten_after_three_days() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let other = shop::account(&db.sql, "UTC").await;
    found(&db, other, DAY, vec![finding("mug", Severity::Low, None)]).await;
    let (mug, cup) = (finding("mug", Severity::Low, None), finding("cup", Severity::High, Some(dec!(5))));
    found(&db, account, DAY, vec![mug.clone(), cup.clone()]).await;
    let first = all(&db, account).await;

    let next = |days: i64| DAY + Duration::days(days);
    let worse = finding("mug", Severity::Critical, Some(dec!(70)));
    found(&db, account, next(1), vec![worse.clone()]).await;
    let second = all(&db, account).await;
    assert_eq!((second[0].number, second[0].detected_at, &second[0].found), (first[1].number, NOW, &worse));
    assert_eq!((second[0].last_seen_at, second[1].last_seen_at), (at(next(1)), NOW), "the cup was not found again");
    assert_eq!(second[1].found, cup);

    found(&db, account, next(2), vec![worse.clone()]).await;
    assert_eq!(all(&db, account).await.len(), 2);
    found(&db, account, next(2), vec![worse.clone()]).await;
    assert_eq!(all(&db, account).await.len(), 2, "a day counts once, however often it is run");
    assert_eq!(found(&db, account, next(3), vec![worse.clone()]).await, WriteOutcome::Rows(2));
    assert_eq!(all(&db, account).await.len(), 1);
    found(&db, account, next(4), vec![worse, cup]).await;
    let again = all(&db, account).await;
    assert_eq!((again[0].number, again[0].detected_at), (first[1].number, NOW));
    assert!(again[1].number > first[0].number && again[1].detected_at == at(next(4)), "a new risk: {again:?}");
    assert_eq!(all(&db, other).await.len(), 1);
}

#[tokio::test]
async fn what_stands_otherwise_now_is_no_risk_from_the_next_run_on() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let standing = Kind::STANDING.map(|kind| Finding { kind, ..finding("1", Severity::High, None) });
    let mug = finding("mug", Severity::Low, None);
    let first: Vec<Finding> = standing.into_iter().chain([mug]).collect();
    found(&db, account, DAY, first).await;
    assert_eq!(all(&db, account).await.len(), 5);

    let credits = Finding { kind: Kind::LowCredits, ..finding("1", Severity::High, None) };
    found(&db, account, DAY + Duration::DAY, vec![credits]).await;
    let left: Vec<Kind> = all(&db, account).await.iter().map(|risk| risk.found.kind).collect();
    assert_eq!(left, [Kind::LowCredits, Kind::Stockout]);
}

#[tokio::test]
async fn a_list_goes_on_behind_a_risk_that_is_gone() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let risk = |subject: &str, expected| Finding {
        kind: Kind::LowCredits,
        ..finding(subject, Severity::High, Some(expected))
    };
    let subjects =
        |listing: Listing| -> Vec<String> { listing.page.items.into_iter().map(|risk| risk.found.subject).collect() };
    found(&db, account, DAY, vec![risk("a", dec!(90)), risk("b", dec!(60)), risk("c", dec!(30))]).await;
    let first = list(&db, account, Filter::default(), 2, None).await;
    let cursor = first.page.next_cursor;
    assert_eq!(subjects(first), ["a", "b"]);
    found(&db, account, DAY + Duration::DAY, vec![risk("a", dec!(90)), risk("c", dec!(30))]).await;
    assert_eq!(subjects(list(&db, account, Filter::default(), 2, cursor).await), ["c"]);
    let never = cursor.map(|id| id + 100);
    assert_eq!(subjects(list(&db, account, Filter::default(), 2, never).await), [""; 0]);
    // Places are kept for two days.
    db.sql.execute("UPDATE gone_places SET gone_at = now() - interval '49 hours'", &[]).await.unwrap();
    found(&db, account, DAY + Duration::days(2), vec![risk("c", dec!(30))]).await;
    let kept = shop::rows(&db.sql, account, "list, amount", "gone_places").await;
    assert_eq!(kept, ["(risks,-90.0000)"]);
}

#[tokio::test]
async fn the_risk_of_a_webhook_or_shop_goes_when_its_owner_ends_it() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let id = async |sql: &str| -> i64 { db.sql.query_one(sql, &[&account.0]).await.unwrap().get(0) };
    let webhook = "INSERT INTO webhook_subscriptions (account_id, url, events, sealed_secret, created_at)
        VALUES ($1, 'https://a.example', '{*}', '', now()) RETURNING id";
    let integration = "INSERT INTO integrations (account_id, provider, shop, connected_at)
        VALUES ($1, 'shopify', 'a.example', now()) RETURNING id";
    let (webhook, shop) = (SubscriptionId(id(webhook).await), IntegrationId(id(integration).await));
    let linked = |kind, subject: &str, links| Finding { kind, links, ..finding(subject, Severity::High, None) };
    let failing = linked(Kind::WebhooksFailing, "1", Links { webhook_id: Some(webhook), ..Links::default() });
    let other = SubscriptionId(webhook.0 + 1);
    let other = linked(Kind::WebhooksFailing, "2", Links { webhook_id: Some(other), ..Links::default() });
    let stale = linked(Kind::IntegrationStale, "1", Links { integration_id: Some(shop), ..Links::default() });
    found(&db, account, DAY, vec![failing, other.clone(), stale]).await;

    assert!(WebhookStore::revoke(&*db.store, account, webhook, None, NOW).await.unwrap());
    let manual = Revocation { reason: RevokeReason::Manual, generation: None, now: NOW };
    assert_eq!(ConnectionStore::revoke(&*db.store, account, shop, manual, None).await.unwrap(), Revoked::Now);
    let left: Vec<Finding> = all(&db, account).await.into_iter().map(|risk| risk.found).collect();
    assert_eq!(left, [other]);
}

/// As when the owner ends a webhook while the night's run finds that it works.
#[tokio::test]
async fn what_another_removes_meanwhile_is_removed_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let low = Finding { kind: Kind::LowCredits, ..finding("credits", Severity::High, None) };
    found(&db, account, DAY, vec![low]).await;
    let next = DAY + Duration::DAY;
    let (store, run) = (db.store.clone(), claim(&db, account, next).await);
    let other = db.session().await;
    let removal = format!(
        "BEGIN; WITH gone AS (DELETE FROM risks WHERE account_id = {} RETURNING account_id, id)
         INSERT INTO gone_places (account_id, list, id) SELECT account_id, 'risks', id FROM gone",
        account.0
    );
    other.batch_execute(&removal).await.unwrap();
    let writing = tokio::spawn(async move { RiskWriter::replace(&*store, &run, vec![], at(next)).await });
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while db.sql.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::task::yield_now().await;
    }
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(writing.await.unwrap().unwrap(), WriteOutcome::Rows(0));
}

#[tokio::test]
async fn a_run_claimed_elsewhere_writes_nothing_and_the_next_one_all() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let (first, second) = (claim(&db, account, DAY).await, {
        db.sql.execute("UPDATE job_runs SET lease_until = now() - interval '1 second'", &[]).await.unwrap();
        claim(&db, account, DAY).await
    });
    let mug = vec![finding("mug", Severity::Low, None)];
    let written = RiskWriter::replace(&*db.store, &first, mug.clone(), NOW).await.unwrap();
    assert_eq!((written, all(&db, account).await), (WriteOutcome::Superseded, vec![]));
    assert_eq!(RiskWriter::replace(&*db.store, &second, mug, NOW).await.unwrap(), WriteOutcome::Rows(1));
    assert_eq!(all(&db, account).await.len(), 1);
}

#[tokio::test]
async fn a_walk_goes_by_severity_then_amount_with_the_unknown_last() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let risks = [
        ("a", Severity::Low, Some(dec!(900))),
        ("b", Severity::Critical, None),
        ("c", Severity::Critical, Some(dec!(0))),
        ("d", Severity::Medium, Some(dec!(7))),
        ("e", Severity::Critical, Some(dec!(80))),
        ("f", Severity::Medium, Some(dec!(7))),
    ];
    let findings = risks.iter().map(|(subject, severity, expected)| finding(subject, *severity, *expected));
    found(&db, account, DAY, findings.collect()).await;
    let (mut subjects, mut cursor) = (Vec::new(), None);
    loop {
        let page = list(&db, account, Filter::default(), 2, cursor).await.page;
        subjects.extend(page.items.into_iter().map(|risk| risk.found.subject));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(subjects, ["e", "c", "b", "d", "f", "a"]);
    let medium = Filter { severity: Some(Severity::Medium), ..Filter::default() };
    let listed = list(&db, account, medium, 9, None).await;
    assert_eq!(listed.page.items.len(), 2);
    assert_eq!((listed.summary.total(), listed.summary.largest_expected), (6, Some(dec!(900))), "whatever the filter");
    let none = Filter { kind: Some(Kind::AdWaste), ..Filter::default() };
    assert_eq!(list(&db, account, none, 9, None).await.page.items, []);
    let stockouts = Filter { kind: Some(Kind::Stockout), ..Filter::default() };
    assert_eq!(list(&db, account, stockouts, 9, None).await.page.items.len(), 6);
}

#[tokio::test]
async fn the_situation_is_what_the_account_has() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let product = shop::product(&db.sql, account, "mug", None).await;
    let (ana, bob) = (shop::customer(&db.sql, account, "ana").await, shop::customer(&db.sql, account, "bob").await);
    let lines = [(Some(product), 3, "10")];
    let ordered = datetime!(2026-02-27 09:00 UTC);
    for (id, customer, at) in [
        ("1", ana, ordered),
        ("2", ana, ordered),
        ("3", bob, ordered),
        ("long ago", bob, datetime!(2025-06-01 09:00 UTC)),
        ("after", bob, datetime!(2026-03-02 09:00 UTC)),
    ] {
        shop::order(&db.sql, account, Order { customer: Some(customer), ..Order::new(id, at, &lines) }, at.date())
            .await;
    }
    shop::refund(&db.sql, account, "C", Some(ana), ordered, (Some(product), 1, "10"), ordered.date()).await;
    db.store.roll_up(account, &"UTC".parse().unwrap(), NOW).await.unwrap();
    let sql = format!(
        "UPDATE products SET created_at = '2026-02-20';
         INSERT INTO stock_levels VALUES ({0}, {product}, '2026-01-05', 4), ({0}, {product}, '2026-02-05', 4);
         UPDATE customers SET segment = 'vip', churn_score = CASE id WHEN {ana} THEN 0.4999 ELSE 0.5 END;
         INSERT INTO integrations (account_id, provider, shop, connected_at, revoked_at, last_sync_at, revoke_reason) VALUES
            ({0}, 'shopify', 'a.example', now(), NULL, '2026-03-01', NULL),
            ({0}, 'shopify', 'b.example', now(), '2026-03-01', '2026-03-01', 'manual'),
            ({0}, 'shopify', 'c.example', now(), NULL, NULL, NULL),
            ({0}, 'shopify', 'd.example', now(), '2026-03-01', '2026-03-01', 'token_expired'),
            ({0}, 'shopify', 'e.example', now(), '2026-01-20', '2026-01-20', 'token_expired');
         INSERT INTO credit_balances (account_id, balance, total_purchased, total_spent, auto_topup_enabled,
            auto_topup_threshold, auto_topup_amount, updated_at, auto_topup_failures)
            VALUES ({0}, 70, 0, 0, true, 10, 10, now(), 2);
         INSERT INTO credit_transactions (account_id, kind, amount, balance_after, created_at) VALUES
            ({0}, 'consume', -20, 1, '2026-03-01'), ({0}, 'refund', 5, 1, '2026-03-01'),
            ({0}, 'grant', 900, 1, '2026-03-01'), ({0}, 'consume', -20, 1, '2026-02-16');
         INSERT INTO stories (account_id, id, key, first_day, last_day, facts) OVERRIDING SYSTEM VALUE VALUES
            ({0}, 12, 'stock_out:mug', '2026-02-27', '2026-03-01', '{{}}');
         INSERT INTO insights (account_id, fingerprint, severity, category, title, body, suggested_action, impact_estimate,
            source, status, computed_at, story_id) VALUES
            ({0}, 'open', 'low', 'ads', '', '', '', '', 'rules', 'open', now(), NULL),
            ({0}, 'story:12', 'low', 'ads', '', '', '', '', 'rules', 'open', now(), 12),
            ({0}, 'ended', 'low', 'ads', '', '', '', '', 'rules', 'resolved', now(), 12);
         INSERT INTO webhook_subscriptions (account_id, url, events, sealed_secret, created_at, active, failing_since) VALUES
            ({0}, 'https://a.example', '{{*}}', '', now(), true, '2026-03-01'),
            ({0}, 'https://b.example', '{{*}}', '', now(), true, NULL),
            ({0}, 'https://c.example', '{{*}}', '', now(), false, '2026-03-01')",
        account.0
    );
    db.sql.batch_execute(&sql).await.unwrap();
    db.sql
        .execute(
            "INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
             SELECT account_id, id, n, gen_random_uuid(), (ARRAY['pending', 'held', 'delivered'])[n], now(), now()
             FROM webhook_subscriptions, generate_series(1, 3) n WHERE url = 'https://a.example'",
            &[],
        )
        .await
        .unwrap();

    let last = date!(2026 - 03 - 01);
    let found = db.store.situation(account, last, NOW).await.unwrap();
    let mug = ProductSales {
        product_id: ProductId(product),
        sku: "mug".into(),
        revenue_90d: dec!(90),
        units_90d: 9,
        known_since: date!(2026 - 01 - 05),
    };
    assert_eq!(found.products, [mug]);
    let customer = |customer_id, net, churn| CustomerRevenue { customer_id, net, churn: Some(churn) };
    assert_eq!(found.customers.largest, Some(customer(CustomerId(ana), dec!(50), dec!(0.4999))));
    assert_eq!((found.customers.net_90d, found.customers.squares_90d, found.customers.scored), (dec!(80), 3_400.0, 2));
    assert_eq!(
        found.customers.leaving,
        [customer(CustomerId(bob), dec!(60), dec!(0.5))],
        "with the order of last June"
    );
    assert_eq!(found.channels, [ChannelRevenue { platform: "shopify".into(), revenue: dec!(90), orders: 3 }]);
    let shops: Vec<_> = found.shops.iter().map(|shop| (shop.shop.as_str(), shop.has_ended)).collect();
    assert_eq!(shops, [("d.example", true), ("a.example", false)]);
    assert!(found.shops.iter().all(|shop| shop.last_sync_at == datetime!(2026-03-01 00:00 UTC)));
    let credits = Credits { balance: 70, used_14d: 15, auto_topup_enabled: true, auto_topup_failures: 2 };
    assert_eq!(found.credits, credits);
    let of = |OpenInsight { id: _, fingerprint, story }: OpenInsight| (fingerprint, story);
    let insights: Vec<_> = found.insights.into_iter().map(of).collect();
    assert_eq!(insights, [("open".into(), None), ("story:12".into(), Some("stock_out:mug".into()))]);
    let FailingWebhook { failing_since, waiting, .. } = found.webhooks[0];
    assert_eq!((found.webhooks.len(), failing_since, waiting), (1, datetime!(2026-03-01 00:00 UTC), 2));

    let nothing = db.store.situation(other, last, NOW).await.unwrap();
    assert_eq!(nothing, domain::risks::Situation::default());
}

/// A count of millions would not end in time.
#[tokio::test]
async fn deliveries_that_wait_are_counted_up_to_a_bound() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let sql = format!(
        "INSERT INTO webhook_subscriptions (account_id, id, url, events, sealed_secret, created_at, active, failing_since)
            VALUES ({0}, 1, 'https://a.example', '{{*}}', '', now(), true, '2026-03-01');
         INSERT INTO deliveries (account_id, subscription_id, event_id, id, state, due_at, created_at)
            SELECT {0}, 1, n, gen_random_uuid(), 'pending', now(), now() FROM generate_series(0, {MOST_COUNTED}) AS n",
        account.0
    );
    db.sql.batch_execute(&sql).await.unwrap();
    let found = db.store.situation(account, date!(2026 - 03 - 01), NOW).await.unwrap();
    assert_eq!(found.webhooks[0].waiting, MOST_COUNTED);
}

/// Two campaigns, one of which no longer spends; each with an ad of a creative that people tired of.
const ADS: &str = "
    INSERT INTO ad_accounts (account_id, id, platform, external_id, source, last_synced_at) OVERRIDING SYSTEM VALUE
        VALUES ($1, 1, 'meta', 'Meta', 'file', now());
    INSERT INTO creatives (account_id, id, platform, key, format, headline) OVERRIDING SYSTEM VALUE
        VALUES ($1, 1, 'meta', 'meta:video:1', 'video', 'Blue'), ($1, 2, 'meta', 'meta:image:2', 'image', NULL);
    INSERT INTO ad_entities (account_id, id, ad_account_id, level, parent_id, campaign_id, external_id, name, status,
        creative_id) OVERRIDING SYSTEM VALUE
        VALUES ($1, 10, 1, 'campaign', 0, NULL, 'c', 'Spring', 'active', NULL),
            ($1, 11, 1, 'ad_set', 10, 10, 's', 's', 'active', NULL), ($1, 12, 1, 'ad', 11, 10, 'a', 'a', 'active', 1),
            ($1, 20, 1, 'campaign', 0, NULL, 'd', '', 'active', NULL),
            ($1, 21, 1, 'ad_set', 20, 20, 's', 's', 'active', NULL), ($1, 22, 1, 'ad', 21, 20, 'a', 'Kettle', 'active', 2);
    INSERT INTO ad_days (account_id, day, ad_id, currency, native_spend, fx, spend, native_revenue, revenue, purchases)
        SELECT $1, date '2026-01-20' + n, ad, 'USD', 10, 1, 10, 30, 30, 2
        FROM generate_series(0, 40) n CROSS JOIN (VALUES (12), (22)) ads (ad)
        WHERE ad = 12 OR n < 30;
    INSERT INTO campaign_creatives (account_id, campaign_id, creative_id, first_seen, last_seen, status, compared_with, days,
        ctr_ratio, is_fatigued, tau)
        SELECT $1, campaign, creative, '2026-01-20', '2026-02-26', 'testing', 0, 30, 0.6, true, 0.25
        FROM (VALUES (10, 1), (20, 2)) judged (campaign, creative);";

#[tokio::test]
async fn campaigns_are_judged_until_the_last_day_that_is_settled() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.sql.batch_execute(&ADS.replace("$1", &account.0.to_string())).await.unwrap();
    let orders = "INSERT INTO orders (account_id, source, external_id, placed_at, gross, units, content_hash) VALUES
        ($1, 'shopify', '1', '2026-02-20', 10, 1, ''), ($1, 'shopify', '2', '2026-02-21', 30, 1, ''),
        ($1, 'shopify', 'free', '2026-02-21', 0, 1, ''), ($1, 'shopify', 'long ago', '2025-11-01', 900, 1, ''),
        ($1, 'shopify', 'after', '2026-03-03', 900, 1, '')";
    db.sql.batch_execute(&orders.replace("$1", &account.0.to_string())).await.unwrap();
    let last = date!(2026 - 03 - 01);
    let found = db.store.situation(account, last, NOW).await.unwrap();
    // Until 26 February; the second has not spent since the 18th, eight days before.
    let spring = CampaignSums {
        id: AdEntityId(10),
        platform: "Meta".into(),
        name: "Spring".into(),
        is_active: true,
        last_spent: Some(date!(2026 - 02 - 26)),
        spend: Some(dec!(300)),
        purchases: Some(60),
        revenue: Some(dec!(900)),
    };
    assert_eq!(found.campaigns, [spring]);
    // 10 and 30: a mean of 20 and a variance of 100.
    assert_eq!(found.order_value, OrderValue { mean: 20.0, spread: 0.25 });
    let blue = TiredAd {
        campaign_id: AdEntityId(10),
        creative_id: CreativeId(1),
        label: "Blue".into(),
        ctr_ratio: dec!(0.6),
        spend: Some(dec!(300)),
    };
    assert_eq!(found.tired_ads, [blue]);
    let earlier = db.store.situation(account, date!(2026 - 02 - 21), NOW).await.unwrap();
    let names: Vec<_> = earlier.campaigns.iter().map(|campaign| campaign.name.as_str()).collect();
    assert_eq!(names, ["Spring", "Meta"], "one without a name has its platform's");
    let labels: Vec<_> = earlier.tired_ads.iter().map(|ad| ad.label.as_str()).collect();
    assert_eq!(labels, ["Blue", "Kettle"], "one without a headline has its own name");
    // A day that does not tell makes the sum unknown.
    let untold =
        "UPDATE ad_days SET revenue = NULL, native_revenue = NULL WHERE account_id = $1 AND day = '2026-02-10'";
    db.sql.execute(untold, &[&account.0]).await.unwrap();
    let found = db.store.situation(account, last, NOW).await.unwrap();
    assert_eq!((found.campaigns[0].revenue, found.campaigns[0].spend), (None, Some(dec!(300))));
    assert_eq!(db.store.situation(other, last, NOW).await.unwrap().campaigns, []);
}

#[tokio::test]
async fn a_complaint_and_a_vip_wait_for_four_hours_and_a_question_for_a_day() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let (vip, new) = (shop::customer(&db.sql, account, "ana").await, shop::customer(&db.sql, account, "bob").await);
    db.sql.execute("UPDATE customers SET segment = 'vip' WHERE id = $1", &[&vip]).await.unwrap();
    let waiting = "WITH profile AS (
            INSERT INTO social_accounts (account_id, channel, external_id, connected_at)
            VALUES ($1, 'instagram', '7', now()) RETURNING id)
        INSERT INTO conversations (account_id, channel, external_id, social_account_id, category, status, snoozed_until,
            customer_id, position, messages_count, waiting_since, created_at, updated_at)
        SELECT $1, 'instagram', n::text, profile.id, category, status, CASE status WHEN 'snoozed' THEN now() END, customer, n,
            1, $2::timestamptz - hours * interval '1 hour', now(), now()
        FROM profile, (VALUES (1, 5, 'complaint', 'open', NULL), (2, 3, 'complaint', 'open', NULL),
            (3, 5, 'price_question', 'open', $3::bigint), (4, 5, 'price_question', 'open', $4), (5, 30, NULL, 'open', $4),
            (6, 99, 'praise', 'open', $3), (7, 99, 'spam', 'open', NULL), (8, 99, 'complaint', 'snoozed', NULL),
            (9, 99, 'complaint', 'closed', NULL)) AS t (n, hours, category, status, customer)";
    db.sql.execute(waiting, &[&account.0, &NOW, &vip, &new]).await.unwrap();
    let found = async |now| db.store.situation(account, date!(2026 - 03 - 01), now).await.unwrap().unanswered;
    assert_eq!(found(NOW).await, Some(Unanswered { urgent: 2, others: 1, since: NOW - Duration::hours(30) }));
    let before = NOW - Duration::hours(7);
    assert_eq!(found(before).await, None, "none of them for so long");
}
