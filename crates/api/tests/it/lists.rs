//! The reading endpoints: what they ask their port for, and every field of what they answer.

use std::sync::Arc;

use api::State;
use domain::{
    AccountId, AnomalyId, CustomerId, InsightId, InventoryItemId, RiskId, StoreError, StoryId, SuggestionId,
    accounts::Platform,
    anomalies::{Anomaly, Cause, CorrelatedMetric, Direction, Driver, Kind, MockAnomalyStore, Severity},
    as_of::MockAsOfStore,
    credits::{AutoTopup, Credits, MockCreditLedger, Transaction, TransactionKind},
    customers::{self, Customer, MockCustomerStore, OrderBy, Segment, SegmentFigures},
    daily::Dimension,
    freshness::{Dated, Freshness},
    insights::{Category, Filter, Insight, MockInsightStore, Wording},
    integrations::{Integration, MockIntegrationStore},
    inventory::{self, MockInventoryStore},
    jobs::JobName,
    language::Language,
    metric_days::{Expected, JudgedDay, MockMetricDayStore},
    metrics::Metric,
    page::{Page, PageRequest},
    profit::{Assumptions, Basis, Components, DayRange, MockProfitStore, Snapshot},
    reorder::{self, MockReorderStore},
    risks::{self, MockRiskStore},
    stories::{
        Band, Gauge, Lever, LeverKind, Measure, Money, Normal, Phase, Seen, StoredStory, Story, StoryMember, Subject,
    },
};
use mockall::predicate::{always, eq};
use rstest::rstest;
use rust_decimal::dec;
use serde_json::{Value, json};
use time::{
    Duration,
    macros::{date, datetime},
};

use crate::support::{ACCOUNT, BOTH, NOW, Service, dated, freshness, integration, shown_freshness, state};

pub fn customer(id: i64) -> Customer {
    Customer {
        id: CustomerId(id),
        email: Some("ana@example.com".into()),
        name: Some("Ana".into()),
        source: Platform::Tiendanube,
        external_id: "x-1".into(),
        city: Some("Santos".into()),
        country: Some("BR".into()),
        orders_count: 7,
        revenue_total: dec!(1234.505),
        ltv_estimate: dec!(2100),
        aov: dec!(176.3578571),
        segment: Segment::Vip,
        churn_score: Some(dec!(0.12345)),
        last_purchase_at: Some(datetime!(2026-04-28 14:03:11.9 UTC)),
        first_purchase_at: Some(datetime!(2024-11-02 10:00 UTC)),
        created_at: datetime!(2024-11-02 09:58:40 -3),
    }
}

pub fn prospect(id: i64) -> Customer {
    Customer {
        email: None,
        name: None,
        city: None,
        country: None,
        orders_count: 0,
        revenue_total: dec!(0),
        ltv_estimate: dec!(0),
        aov: dec!(0),
        segment: Segment::Prospect,
        churn_score: None,
        last_purchase_at: None,
        first_purchase_at: None,
        ..customer(id)
    }
}

fn with_customers(expect: impl FnOnce(&mut MockCustomerStore)) -> Service {
    let mut customers = MockCustomerStore::new();
    expect(&mut customers);
    Service::start(State { customers: Arc::new(customers), ..state() })
}

#[test]
fn a_page_of_customers() {
    let service = with_customers(|customers| {
        let filter = customers::Filter {
            source: Some(Platform::Tiendanube),
            segment: Some(Segment::Vip),
            order_by: Some(OrderBy::ChurnScore),
        };
        customers
            .expect_page()
            .with(eq(ACCOUNT), eq(filter), eq(PageRequest { limit: 2, cursor: Some(50) }))
            .returning(|_, _, _| {
                Ok(dated(
                    JobName::CustomerMetrics,
                    Page { items: vec![customer(49), prospect(40)], next_cursor: Some(40) },
                ))
            });
    });
    let answer =
        service.get("/api/v1/customers?limit=2&cursor=50&source=tiendanube&segment=vip&order_by=churn_score", BOTH);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.json(),
        json!({
            "data": [
                {
                    "id": 49, "email": "ana@example.com", "name": "Ana", "source": "tiendanube", "external_id": "x-1",
                    "city": "Santos", "country": "BR", "orders_count": 7, "revenue_total": 1234.5, "ltv_estimate": 2100.0,
                    "aov": 176.36, "segment": "vip", "churn_score": 0.1234,
                    "last_purchase_at": "2026-04-28T14:03:11Z", "first_purchase_at": "2024-11-02T10:00:00Z",
                    "created_at": "2024-11-02T12:58:40Z"
                },
                {
                    "id": 40, "email": null, "name": null, "source": "tiendanube", "external_id": "x-1", "city": null,
                    "country": null, "orders_count": 0, "revenue_total": 0.0, "ltv_estimate": 0.0, "aov": 0.0,
                    "segment": "prospect", "churn_score": null, "last_purchase_at": null, "first_purchase_at": null,
                    "created_at": "2024-11-02T12:58:40Z"
                }
            ],
            "freshness": shown_freshness("customer_metrics"),
            "pagination": {"limit": 2, "next_cursor": 40, "has_more": true},
            "api_version": "v1"
        })
    );
    assert!(answer.text().contains("\"revenue_total\":1234.50,"), "amounts keep the decimals of their currency");
}

#[test]
fn all_nine_segments_with_their_parts_of_the_whole() {
    let service = with_customers(|customers| {
        // Ninety days before the service's clock.
        let since = datetime!(2026-02-01 12:00:30.5 UTC);
        customers.expect_segments().with(eq(ACCOUNT), eq(since)).returning(|_, _| {
            let figures = |segment: &Segment| match segment {
                Segment::Vip => SegmentFigures {
                    segment: Segment::Vip,
                    customers: 1,
                    active: 1,
                    orders_count: 9,
                    revenue_total: dec!(900.005),
                    ltv_estimate: dec!(123.456789),
                    scored: 1,
                    churn_score: dec!(0.05555),
                    churn_parts: [1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                },
                Segment::Lost => SegmentFigures {
                    segment: Segment::Lost,
                    customers: 2,
                    active: 0,
                    orders_count: 2,
                    revenue_total: dec!(99.995),
                    ltv_estimate: dec!(0),
                    scored: 2,
                    churn_score: dec!(1.8),
                    churn_parts: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
                },
                other => SegmentFigures::empty(*other),
            };
            Ok(dated(JobName::CustomerMetrics, Segment::ALL.iter().map(figures).collect()))
        });
    });
    let body = service.get("/api/v1/customers/segments", BOTH).json();
    let names: Vec<_> = body["data"].as_array().unwrap().iter().map(|row| row["segment"].as_str().unwrap()).collect();
    let nine = ["vip", "loyal", "promising", "new", "needs_attention", "at_risk", "dormant", "lost", "prospect"];
    assert_eq!(names, nine);
    assert_eq!(
        [&body["data"][0], &body["data"][1]],
        [
            &json!({
                "segment": "vip", "customers": 1, "share": 0.3333, "active": 1, "orders_count": 9, "revenue_total": 900.0,
                "revenue_share": 0.9, "avg_ltv_estimate": 123.46, "avg_churn_score": 0.0556
            }),
            &json!({
                "segment": "loyal", "customers": 0, "share": 0, "active": 0, "orders_count": 0, "revenue_total": 0.0,
                "revenue_share": 0, "avg_ltv_estimate": null, "avg_churn_score": null
            }),
        ]
    );
    assert_eq!(body["totals"], json!({"customers": 3, "active": 1, "orders_count": 11, "revenue_total": 1000.0}));
    let histogram: Vec<_> = body["churn_histogram"].as_array().unwrap().iter().map(|part| &part["customers"]).collect();
    assert_eq!(histogram, [1, 0, 0, 0, 0, 0, 0, 0, 1, 1].map(|count| json!(count)).iter().collect::<Vec<_>>());
    assert_eq!(body["churn_histogram"][1], json!({"from": 0.1, "to": 0.2, "customers": 0}));
    assert_eq!((&body["freshness"], &body["api_version"]), (&shown_freshness("customer_metrics"), &json!("v1")));
}

#[test]
fn an_account_without_customers_has_segments_without_shares() {
    let service = with_customers(|customers| {
        customers.expect_segments().returning(|_, _| {
            let figures = Segment::ALL.iter().map(|segment| SegmentFigures::empty(*segment)).collect();
            Ok(dated(JobName::CustomerMetrics, figures))
        });
    });
    let body = service.get("/api/v1/customers/segments", BOTH).json();
    let row = &body["data"][8];
    assert_eq!(row["segment"], json!("prospect"));
    assert_eq!((&row["share"], &row["revenue_share"]), (&Value::Null, &Value::Null));
}

#[rstest]
#[case("", 25, None)]
#[case("?limit=100", 100, None)]
#[case("?limit=101", 100, Some(json!([{"code": "limit_clamped", "param": "limit", "requested": 101, "applied": 100}])))]
fn the_limit_has_a_default_and_a_maximum(#[case] query: &str, #[case] applied: i64, #[case] warnings: Option<Value>) {
    let service = with_customers(|customers| {
        customers
            .expect_page()
            .with(eq(ACCOUNT), eq(customers::Filter::default()), eq(PageRequest { limit: applied, cursor: None }))
            .returning(|_, _, _| Ok(dated(JobName::CustomerMetrics, Page { items: vec![], next_cursor: None })));
    });
    let body = service.get(&format!("/api/v1/customers{query}"), BOTH).json();
    assert_eq!(body["pagination"], json!({"limit": applied, "next_cursor": null, "has_more": false}));
    assert_eq!(body.get("warnings"), warnings.as_ref());
}

#[rstest]
#[case("customers?source=amazon", "source", Platform::SHOP_NAMES)]
#[case("customers?segment=best", "segment", Segment::NAMES)]
#[case("customers?order_by=revenue_total", "order_by", OrderBy::NAMES)]
#[case("customers?source=Shopify", "source", Platform::SHOP_NAMES)]
#[case("customers?source=", "source", Platform::SHOP_NAMES)]
#[case("customers?format=CSV", "format", &["json", "csv"])]
#[case("profit?format=xml", "format", &["json", "csv"])]
#[case("insights?status=closed", "status", &["open", "resolved", "dismissed"])]
#[case("insights?severity=ok", "severity", &["low", "medium", "high", "critical"])]
#[case("insights?category=churn", "category", Category::NAMES)]
#[case("anomalies?severity=%20low", "severity", Severity::NAMES)]
#[case("metrics?metric=final_profit", "metric", Metric::NAMES)]
#[case("inventory?status=bogus", "status", &["critical", "low", "ok", "overstocked"])]
#[case("reorder?status=open", "status", &["pending", "ordered", "dismissed"])]
#[case("risks?type=stock_out", "type", risks::Kind::NAMES)]
#[case("risks?severity=", "severity", Severity::NAMES)]
fn an_unknown_value_is_refused_with_the_known_ones(
    #[case] target: &str,
    #[case] param: &str,
    #[case] allowed: &[&str],
) {
    let answer = Service::start(state()).get(&format!("/api/v1/{target}"), BOTH);
    assert_eq!(answer.error(), (400, "invalid_parameter".into()));
    assert_eq!((&answer.json()["param"], &answer.json()["allowed"]), (&json!(param), &json!(allowed)));
}

#[rstest]
#[case("customers?cursor=0", "cursor")]
#[case("customers?cursor=-1", "cursor")]
#[case("customers?limit=1;select%201", "limit")]
#[case("customers?source=shopify&source=shopify", "source")]
#[case("integrations?limit=x", "limit")]
#[case("webhooks?cursor=1.0", "cursor")]
#[case("insights?limit=", "limit")]
#[case("anomalies?days=0", "days")]
#[case("anomalies?days=week", "days")]
#[case("metrics?metric=orders&days=0", "days")]
#[case("profit?days=7&days=7", "days")]
#[case("profit?cursor=2026-05-02", "cursor")]
#[case("inventory?limit=9223372036854775808", "limit")]
#[case("reorder?limit=%00", "limit")]
#[case("risks?cursor=stockout:MUG", "cursor")]
fn a_parameter_that_is_no_positive_number_is_refused(#[case] target: &str, #[case] param: &str) {
    let answer = Service::start(state()).get(&format!("/api/v1/{target}"), BOTH);
    assert_eq!((answer.error(), &answer.json()["param"]), ((400, "invalid_parameter".into()), &json!(param)));
}

#[test]
fn strict_handling_refuses_what_is_over_the_maximum() {
    let service = Service::start(state());
    for target in [
        "customers?limit=101",
        "insights?limit=101",
        "anomalies?days=91",
        "metrics?metric=orders&days=366",
        "profit?days=366",
        "inventory?limit=501",
        "reorder?limit=201",
        "risks?limit=101",
    ] {
        let answer = service.get_with(&format!("/api/v1/{target}"), BOTH, &[("Prefer", "handling=strict")]);
        assert_eq!(answer.error(), (400, "invalid_parameter".into()), "{target}");
    }
}

#[test]
fn credits_and_their_latest_transactions() {
    let mut credits = MockCreditLedger::new();
    let transaction = Transaction {
        id: domain::TransactionId(9),
        kind: TransactionKind::Consume,
        feature: Some("insight_wording".into()),
        amount: -20,
        balance_after: 480,
        created_at: NOW,
        meta: json!({"campaign": 4}).as_object().unwrap().clone(),
    };
    let grant = Transaction {
        kind: TransactionKind::Grant,
        feature: None,
        amount: 500,
        balance_after: 500,
        meta: Default::default(),
        ..transaction.clone()
    };
    credits.expect_summary().with(eq(ACCOUNT)).returning(move |_| {
        Ok(Credits {
            balance: 480,
            total_purchased: 0,
            total_spent: 20,
            updated_at: NOW,
            auto_topup: AutoTopup::default(),
            recent_transactions: vec![transaction.clone(), grant.clone()],
        })
    });
    let body = Service::start(State { credits: Arc::new(credits), ..state() }).get("/api/v1/credits", BOTH).json();
    assert_eq!(
        body,
        json!({
            "user_id": "user_0123456789abcdefghijABCD", "balance": 480, "total_purchased": 0, "total_spent": 20,
            "updated_at": "2026-05-02T12:00:30Z",
            "auto_topup": {"enabled": false, "threshold": 0, "top_up_amount": 0, "last_charged_at": null,
                "monthly_cap": null, "failures": 0, "last_failure": null, "disabled_reason": null},
            "recent_transactions": [
                {"kind": "consume", "feature": "insight_wording", "amount": -20, "balance_after": 480,
                 "created_at": "2026-05-02T12:00:30Z", "meta": {"campaign": 4}},
                {"kind": "grant", "feature": null, "amount": 500, "balance_after": 500,
                 "created_at": "2026-05-02T12:00:30Z", "meta": {}}
            ],
            "api_version": "v1"
        })
    );
}

#[test]
fn integrations_and_how_many_there_are_of_each_kind() {
    let mut integrations = MockIntegrationStore::new();
    let synced = Integration { last_sync_at: Some(datetime!(2026-05-01 11:59 UTC)), ..integration(2) };
    let new = Integration { id: domain::IntegrationId(1), last_sync_at: None, ..synced.clone() };
    integrations.expect_page().with(eq(ACCOUNT), eq(PageRequest { limit: 25, cursor: None }), eq(NOW)).returning(
        move |_, _, _| {
            let totals = domain::integrations::Totals { total: 2, connected: 0, stale: 1, revoked: 0, never_synced: 1 };
            Ok((Page { items: vec![synced.clone(), new.clone()], next_cursor: None }, totals))
        },
    );
    let body = Service::start(State { integrations: Arc::new(integrations), ..state() })
        .get("/api/v1/integrations", BOTH)
        .json();
    let row = |id: i64, status: &str, at: Value, minutes: Value| {
        json!({
            "id": id, "provider": "shopify", "shop": "demo.myshopify.com", "scopes": ["read_orders"], "status": status,
            "connected_at": "2026-01-15T09:31:12Z", "revoked_at": null, "last_sync_at": at, "last_sync_minutes_ago": minutes,
            "missing_scopes": [], "history_from": null, "backfilled_from": "2025-03-01T00:00:00Z", "buyer_data": "full",
            "last_error": null, "suspended": false, "owner_of": ["stock"], "revoke_reason": null, "reconnect_needed": false
        })
    };
    assert_eq!(
        body,
        json!({
            "data": [row(2, "stale", json!("2026-05-01T11:59:00Z"), json!(1441)), row(1, "never_synced", Value::Null, Value::Null)],
            "totals": {"total": 2, "connected": 0, "stale": 1, "revoked": 0, "never_synced": 1},
            "pagination": {"limit": 25, "next_cursor": null, "has_more": false}, "api_version": "v1"
        })
    );
}

/// A platform's outage that has passed.
fn story() -> StoredStory {
    let [first, last, since] = [date!(2026 - 04 - 29), date!(2026 - 04 - 30), date!(2026 - 05 - 01)];
    let part = || Some("shopify".to_owned());
    let story = Story {
        subject: Subject::Sales,
        span: DayRange { first, last },
        peak: first,
        direction: Direction::Down,
        seen: Seen {
            gauge: Gauge::Orders,
            part: part(),
            band: Band { observed: 0.0, expected: 44.2, low: 31.0, high: 58.0 },
        },
        normal: Some(Normal::Others),
        severity: Severity::High,
        lever: Some(Lever { kind: LeverKind::Platform, part: part(), share: 0.971_23, confidence: 0.9 }),
        money: Some(Money { low: -1_700.0, expected: -1_450.125, high: -1_200.0, measure: Measure::Profit }),
        usual_day: 2_000.0,
        returned: 0.0,
        is_on_order: false,
        members: vec![],
        phase: Phase::Over { since },
    };
    let member = StoryMember { anomaly: AnomalyId(5), metric: "orders".into(), day: first, direction: Direction::Down };
    StoredStory { id: StoryId(12), story, members: vec![member] }
}

#[test]
fn insights_by_every_filter() {
    let mut insights = MockInsightStore::new();
    let filter = Filter {
        status: Some(domain::insights::Status::Open),
        severity: Some(Severity::High),
        category: Some(Category::ChurnRisk),
        all: true,
    };
    insights.expect_page().with(eq(ACCOUNT), eq(filter), eq(PageRequest { limit: 25, cursor: None })).returning(
        |_, _, _| {
            let insight = Insight {
                id: InsightId(3),
                severity: Severity::High,
                category: Category::ChurnRisk,
                written: Wording {
                    title: "t".into(),
                    body: "b".into(),
                    suggested_action: "a".into(),
                    impact_estimate: "i".into(),
                },
                language: Language::English,
                told: None,
                is_told: false,
                at_stake: Some(dec!(1450.125)),
                weight: Some(dec!(1450.125)),
                story: Some(story()),
                status: domain::insights::Status::Open,
                source: domain::insights::Source::Rules,
                computed_at: NOW,
                resolved_at: None,
            };
            Ok(dated(JobName::InsightGeneration, Page { items: vec![insight], next_cursor: None }))
        },
    );
    let service = Service::start(State { insights: Arc::new(insights), ..state() });
    let body = service.get("/api/v1/insights?status=open&severity=high&category=churn_risk&all=1", BOTH).json();
    assert_eq!(
        body["data"],
        json!([{
            "id": 3, "severity": "high", "category": "churn_risk", "title": "t", "body": "b", "suggested_action": "a",
            "impact_estimate": "i", "status": "open", "computed_at": "2026-05-02T12:00:30Z", "resolved_at": null, "source": "rules",
            "facts": null, "told": false, "at_stake": 1450.12,
            "story": {
                "id": 12, "subject": "sales", "first_day": "2026-04-29", "last_day": "2026-04-30", "peak_day": "2026-04-29",
                "direction": "down", "lever": {"kind": "platform", "part": "shopify", "share": 0.9712, "confidence": 0.9},
                "money": {"low": -1700.0, "expected": -1450.12, "high": -1200.0, "measure": "profit"},
                "seen": {
                    "gauge": "orders", "part": "shopify", "observed": 0.0, "expected": 44.2, "low": 31.0, "high": 58.0
                },
                "normal": "others", "action": "prevent_it", "phase": "over", "over_since": "2026-05-01",
                "members": [{
                    "anomaly_id": 5, "metric": "orders", "day": "2026-04-29", "direction": "down"
                }]
            }
        }])
    );
    assert_eq!(body["freshness"], shown_freshness("insight_generation"));
}

#[test]
fn anomalies_since_the_first_of_so_many_local_days() {
    let mut anomalies = MockAnomalyStore::new();
    // Seven days that end with 2 May in São Paulo begin on 26 April at 00:00 there.
    let since = datetime!(2026-04-26 03:00 UTC);
    anomalies
        .expect_page()
        .with(eq(ACCOUNT), eq(Some(Severity::Medium)), eq(since), eq(PageRequest { limit: 100, cursor: None }))
        .returning(|_, _, _, _| {
            let anomaly = Anomaly {
                id: AnomalyId(5),
                kind: Kind::Correlated,
                metric: "gross_revenue".into(),
                span: DayRange { first: date!(2026 - 04 - 30), last: date!(2026 - 05 - 02) },
                day: date!(2026 - 05 - 01),
                observed_value: 812.400_04,
                expected_value: 1530.0,
                expected_interval: Some((1180.0, 1910.0)),
                z_score: -4.123_456,
                direction: Direction::Down,
                severity: Severity::Medium,
                detected_at: datetime!(2026-05-02 03:00 UTC),
                inferred_cause: Some("fewer ads".into()),
                confidence: Some(0.8),
                correlated_metrics: vec![CorrelatedMetric {
                    metric: "ad_spend".into(),
                    modz: -3.7,
                    direction: Direction::Down,
                }],
                drivers: vec![Driver {
                    level: 1,
                    metric: "gross_revenue".into(),
                    dimension: Some(Dimension::Platform),
                    part: Some("shopify".into()),
                    effect: -700.123_46,
                    share: 0.975_55,
                    observed: 12.0,
                    expected: 712.123_46,
                    direction: Direction::Down,
                }],
                cause: Some(Cause::Platform),
                is_shift: false,
                story_id: Some(StoryId(12)),
            };
            let alone = Anomaly {
                id: AnomalyId(4),
                kind: Kind::Univariate,
                expected_interval: None,
                inferred_cause: None,
                confidence: None,
                correlated_metrics: vec![],
                drivers: vec![],
                cause: None,
                ..anomaly.clone()
            };
            Ok(dated(JobName::AnomalyDetection, Page { items: vec![anomaly, alone], next_cursor: None }))
        });
    let body = Service::start(State { anomalies: Arc::new(anomalies), ..state() })
        .get("/api/v1/anomalies?severity=medium", BOTH)
        .json();
    assert_eq!((&body["window_days"], &body["api_version"]), (&json!(7), &json!("v1")));
    assert_eq!(body["freshness"], shown_freshness("anomaly_detection"));
    assert_eq!(
        body["data"][0],
        json!({
            "id": 5, "kind": "correlated", "metric": "gross_revenue", "observed_value": 812.4, "expected_value": 1530.0,
            "expected_interval": [1180.0, 1910.0], "z_score": -4.1235, "direction": "down", "severity": "medium",
            "day": "2026-05-01", "first_day": "2026-04-30", "last_day": "2026-05-02",
            "detected_at": "2026-05-02T03:00:00Z", "inferred_cause": "Sales on Shopify were 98% below normal (98% of the difference).", "confidence": 0.8,
            "correlated_metrics": [{"metric": "ad_spend", "modz": -3.7, "direction": "down"}],
            "drivers": [{
                "level": 1, "metric": "gross_revenue", "dimension": "platform", "part": "shopify", "effect": -700.12,
                "share": 0.9756, "observed": 12.0, "expected": 712.12, "direction": "down"
            }],
            "cause": "platform", "is_shift": false, "story_id": 12
        })
    );
    let alone = &body["data"][1];
    assert_eq!(
        (&alone["inferred_cause"], &alone["confidence"], &alone["correlated_metrics"]),
        (&Value::Null, &Value::Null, &json!([]))
    );
}

#[test]
fn the_full_days_of_a_metric_with_what_was_expected_of_them() {
    let mut metric_days = MockMetricDayStore::new();
    // It is 2 May in São Paulo: the two days before it.
    let range = DayRange { first: date!(2026 - 04 - 30), last: date!(2026 - 05 - 01) };
    metric_days.expect_range().with(eq(ACCOUNT), eq(Metric::Aov), eq(range)).returning(|_, _, _| {
        let expected = Some(Expected { value: 48.0, low: 39.5, high: 57.123_456 });
        let days = vec![
            JudgedDay { day: date!(2026 - 05 - 01), observed: Some(22.300_04), expected, anomaly: Some(AnomalyId(77)) },
            JudgedDay { day: date!(2026 - 04 - 30), observed: None, expected: None, anomaly: None },
        ];
        Ok(dated(JobName::AnomalyDetection, days))
    });
    let service = Service::start(State { metric_days: Arc::new(metric_days), ..state() });
    let body = service.get("/api/v1/metrics?metric=aov&days=2", BOTH).json();
    assert_eq!(
        body,
        json!({
            "metric": "aov",
            "data": [
                {"day": "2026-05-01", "observed": 22.3, "expected": 48.0, "low": 39.5, "high": 57.12, "anomaly_id": 77},
                {"day": "2026-04-30", "observed": null, "expected": null, "low": null, "high": null, "anomaly_id": null}
            ],
            "window_days": 2, "freshness": shown_freshness("anomaly_detection"),
            "pagination": {"limit": 2, "next_cursor": null, "has_more": false}, "api_version": "v1"
        })
    );
    let first = service.get("/api/v1/metrics?metric=aov&days=2&limit=1", BOTH).json();
    assert_eq!(first["pagination"], json!({"limit": 1, "next_cursor": 20_260_501, "has_more": true}));
    let second = service.get("/api/v1/metrics?metric=aov&days=2&limit=1&cursor=20260501", BOTH).json();
    assert_eq!((&first["data"][0]["day"], &second["data"][0]["day"]), (&json!("2026-05-01"), &json!("2026-04-30")));
    assert_eq!((first["data"].as_array().unwrap().len(), &second["pagination"]["has_more"]), (1, &json!(false)));
    let file = service.get("/api/v1/metrics?metric=aov&days=2&format=csv", BOTH);
    assert_eq!(file.header("content-disposition"), Some("attachment; filename=\"metrics-2026-05-01.csv\""));
    assert_eq!(
        String::from_utf8(file.body.clone()).unwrap(),
        "day,observed,expected,low,high,anomaly_id\r\n2026-05-01,22.3,48.0,39.5,57.12,77\r\n2026-04-30,,,,,\r\n"
    );
    let answer = service.get("/api/v1/metrics", BOTH);
    assert_eq!(answer.error(), (400, "missing_parameter".into()));
}

#[test]
fn more_days_of_a_metric_than_there_are_are_clamped() {
    let mut metric_days = MockMetricDayStore::new();
    let range = DayRange { first: date!(2025 - 05 - 02), last: date!(2026 - 05 - 01) };
    metric_days
        .expect_range()
        .with(eq(ACCOUNT), eq(Metric::Orders), eq(range))
        .returning(|_, _, _| Ok(dated(JobName::AnomalyDetection, vec![])));
    let service = Service::start(State { metric_days: Arc::new(metric_days), ..state() });
    let body = service.get("/api/v1/metrics?metric=orders&days=1000", BOTH).json();
    assert_eq!((&body["window_days"], &body["warnings"][0]["code"]), (&json!(365), &json!("limit_clamped")));
}

pub fn day(date: time::Date, gross: i64) -> Snapshot {
    let components = Components {
        gross_revenue: gross.into(),
        refunds: dec!(100),
        ad_spend: dec!(120.005),
        cogs_estimate: dec!(400),
        fees_estimate: dec!(29),
        shipping_estimate: dec!(50),
        extra_expenses: dec!(31),
        purchase_count: 12,
    };
    let basis = Basis {
        goods_revenue: dec!(80),
        cogs_covered_revenue: dec!(70),
        fees_estimated_orders: 0,
        shipping_estimated_orders: 3,
        returned_units: 2,
        returned_cogs: dec!(8.5),
        returned_fees: dec!(0.29),
    };
    Snapshot { date, components, basis, lacks_rates: false }
}

#[rstest]
#[case("complete=1", date!(2026 - 04 - 29), date!(2026 - 05 - 01))]
#[case("complete=0", date!(2026 - 04 - 30), date!(2026 - 05 - 02))]
#[case("complete=true&format=csv", date!(2026 - 04 - 29), date!(2026 - 05 - 01))]
fn complete_days_of_profit_end_with_yesterday(
    #[case] query: &str,
    #[case] first: time::Date,
    #[case] last: time::Date,
) {
    let mut profit = MockProfitStore::new();
    let without_orders = Snapshot { components: Components::default(), ..day(last, 0) };
    profit
        .expect_range()
        .with(eq(ACCOUNT), eq(DayRange { first, last }))
        .times(1)
        .returning(move |_, _| Ok(dated(JobName::ProfitSnapshots, vec![without_orders])));
    let service = Service::start(State { profit: Arc::new(profit), ..state() });
    let answer = service.get(&format!("/api/v1/profit?days=3&{query}"), BOTH);
    assert_eq!(answer.status, 200);
    if !query.contains("csv") {
        let body = answer.json();
        assert_eq!((&body["window_days"], &body["totals"]["aov"]), (&json!(3), &Value::Null));
    }
}

/// After midnight, until the night's jobs have run, yesterday is as it was when it was today.
#[rstest]
#[case("", date!(2026 - 04 - 30))]
#[case("&until=2026-05-01", date!(2026 - 04 - 30))]
#[case("&until=2026-04-29", date!(2026 - 04 - 29))]
#[case("&format=csv", date!(2026 - 04 - 30))]
fn a_day_that_was_computed_before_its_end_is_not_complete(#[case] query: &str, #[case] last: time::Date) {
    let mut profit = MockProfitStore::new();
    profit.expect_range().returning(|_, range| {
        // 23:30 of 1 May in São Paulo, where it is 2 May now.
        let freshness =
            Freshness { as_of: Some(datetime!(2026-05-02 02:30 UTC)), ..freshness(JobName::ProfitSnapshots) };
        Ok(Dated { found: vec![day(range.last, 1000), day(range.first, 1000)], freshness })
    });
    let service = Service::start(State { profit: Arc::new(profit), ..state() });
    let answer = service.get(&format!("/api/v1/profit?days=3&complete=1{query}"), BOTH);
    let warning = json!([{"code": "not_yet_computed", "param": "complete"}]);
    let is_earlier = !query.contains("2026-04-29");
    if query.contains("csv") {
        assert!(answer.text().lines().nth(1).unwrap().starts_with("2026-04-30,"));
        assert_eq!(answer.header("x-warnings"), Some(&*warning.to_string()));
        assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"profit-2026-04-30.csv\""));
        return;
    }
    let body = answer.json();
    let dates = (&body["data"][0]["snapshot_date"], &body["data"][1]["snapshot_date"]);
    assert_eq!(dates, (&json!(last.to_string()), &json!((last - Duration::days(2)).to_string())));
    assert_eq!(body.get("warnings"), is_earlier.then_some(&warning));
    // Without `complete` the days are those of the calendar.
    let all = service.get("/api/v1/profit?days=3", BOTH).json();
    assert_eq!((&all["data"][0]["snapshot_date"], all.get("warnings")), (&json!("2026-05-02"), None));
}

#[test]
fn profit_of_the_window_with_totals_and_pages_by_date() {
    let mut profit = MockProfitStore::new();
    let range = DayRange { first: date!(2026 - 04 - 30), last: date!(2026 - 05 - 02) };
    profit.expect_range().with(eq(ACCOUNT), eq(range)).returning(|_, _| {
        let without_rate = Snapshot { lacks_rates: true, ..day(date!(2026 - 05 - 01), 1000) };
        let days = vec![day(date!(2026 - 05 - 02), 1000), without_rate, day(date!(2026 - 04 - 30), 100)];
        Ok(dated(JobName::ProfitSnapshots, days))
    });
    let service = Service::start(State { profit: Arc::new(profit), ..state() });
    let body = service.get("/api/v1/profit?days=3", BOTH).json();
    assert_eq!(
        body["data"][0],
        json!({
            "snapshot_date": "2026-05-02", "gross_revenue": 1000.0, "refunds": 100.0, "ad_spend": 120.0, "cogs_estimate": 400.0,
            "fees_estimate": 29.0, "shipping_estimate": 50.0, "extra_expenses": 31.0, "net_revenue": 900.0,
            "operational_profit": 421.0, "final_profit": 270.0, "margin_pct": 30.0, "margin_defined": true,
            "purchase_count": 12, "cogs_coverage_pct": 87.5, "estimated": true, "returned_units": 2,
            "returned_cogs_estimate": 8.5, "returned_fees_estimate": 0.29, "ad_spend_complete": true
        })
    );
    assert_eq!(body["data"][1]["ad_spend_complete"], false);
    assert_eq!(body["warnings"], json!([{"code": "fx_missing", "param": "ad_spend"}]));
    let margin = (&body["data"][2]["margin_pct"], &body["data"][2]["margin_defined"]);
    assert_eq!(margin, (&json!(0.0), &json!(false)), "no net revenue, no margin");
    // Σ final = 2 × 269.995 − 630.005 = −90.015 and Σ net = 1800.
    let totals = json!({
        "days_returned": 3, "gross_revenue": 2100.0, "refunds": 300.0, "net_revenue": 1800.0, "ad_spend": 360.02,
        "final_profit": -90.02, "purchase_count": 36, "aov": 58.33, "avg_margin_pct": -5.0, "margin_defined": true
    });
    assert_eq!((&body["totals"], &body["window_days"]), (&totals, &json!(3)));
    assert_eq!(body["freshness"], shown_freshness("profit_snapshots"));
    assert_eq!(body["pagination"], json!({"limit": 3, "next_cursor": null, "has_more": false}));

    let first = service.get("/api/v1/profit?days=3&limit=2", BOTH).json();
    assert_eq!(first["pagination"], json!({"limit": 2, "next_cursor": 20_260_501, "has_more": true}));
    assert_eq!(first["totals"], totals);
    let second = service.get("/api/v1/profit?days=3&limit=2&cursor=20260501", BOTH).json();
    assert_eq!(
        (second["data"].as_array().unwrap().len(), &second["data"][0]["snapshot_date"]),
        (1, &json!("2026-04-30"))
    );
    let past = service.get("/api/v1/profit?days=3&cursor=1", BOTH).json();
    assert_eq!((&past["data"], &past["pagination"]["has_more"]), (&json!([]), &json!(false)));
}

#[test]
fn every_figure_of_a_day_is_explained_when_asked() {
    let mut profit = MockProfitStore::new();
    profit.expect_range().returning(|_, _| Ok(dated(JobName::ProfitSnapshots, vec![day(date!(2026 - 05 - 02), 1000)])));
    profit.expect_assumptions().with(eq(ACCOUNT)).returning(|_| {
        Ok(Assumptions {
            fee_rate: dec!(0.02900),
            fee_fixed: dec!(0.3),
            shipping_per_order: dec!(4),
            cogs_ratio: dec!(0.40000),
        })
    });
    let service = Service::start(State { profit: Arc::new(profit), ..state() });
    let body = service.get("/api/v1/profit?days=1&explain=1", BOTH).json();
    let explained = body["data"][0]["explain"].as_array().unwrap();
    let figures: Vec<_> = explained.iter().map(|explanation| explanation["figure"].as_str().unwrap()).collect();
    assert_eq!(
        figures,
        [
            "gross_revenue",
            "refunds",
            "ad_spend",
            "cogs_estimate",
            "fees_estimate",
            "shipping_estimate",
            "extra_expenses",
            "net_revenue",
            "operational_profit",
            "final_profit",
            "margin_pct",
            "purchase_count",
        ]
    );
    let inputs = |figure: &str| explained.iter().find(|known| known["figure"] == figure).unwrap()["inputs"].clone();
    assert_eq!(
        inputs("cogs_estimate"),
        json!({
            "goods_revenue": 80.0, "cogs_covered_revenue": 70.0, "cogs_ratio": 0.4, "returned_units": 2, "returned_cogs": 8.5
        })
    );
    assert_eq!(
        inputs("fees_estimate"),
        json!({
            "purchase_count": 12, "fees_estimated_orders": 0, "fee_rate": 0.029, "fee_fixed": 0.3, "returned_fees": 0.29
        })
    );
    assert_eq!(
        inputs("shipping_estimate"),
        json!({"purchase_count": 12, "shipping_estimated_orders": 3, "shipping_per_order": 4.0})
    );
    assert_eq!(inputs("final_profit"), json!({"operational_profit": 421.0, "ad_spend": 120.0, "extra_expenses": 31.0}));
    assert_eq!(inputs("margin_pct"), json!({"final_profit": 270.0, "net_revenue": 900.0}));
    assert_eq!(explained[7]["formula"], json!("gross_revenue - refunds"));
    let spanish = service.get_with("/api/v1/profit?days=1&explain=1", BOTH, &[("accept-language", "es-AR")]);
    assert_eq!(spanish.json()["data"][0]["explain"][6]["formula"], json!("suma de los gastos del día"));
    assert_eq!(spanish.header("content-language"), Some("es-AR"));
    assert_eq!(service.get("/api/v1/profit?days=1", BOTH).json()["data"][0].get("explain"), None);
}

#[test]
fn profit_as_of_a_day_is_that_of_the_copy_with_the_window_that_ends_there() {
    let mut copies = MockAsOfStore::new();
    let (past, unknown) = (date!(2025 - 03 - 01), date!(2025 - 03 - 02));
    copies.expect_find().with(eq(ACCOUNT), eq(past)).returning(|_, _| Ok(Some(AccountId(99))));
    copies.expect_find().with(eq(ACCOUNT), eq(unknown)).returning(|_, _| Ok(None));
    copies.expect_find().with(eq(ACCOUNT), eq(date!(2024 - 05 - 02))).returning(|_, _| Ok(None));
    let mut profit = MockProfitStore::new();
    let range = DayRange { first: date!(2025 - 02 - 27), last: past };
    profit
        .expect_range()
        .with(eq(AccountId(99)), eq(range))
        .times(1)
        .returning(move |_, _| Ok(dated(JobName::ProfitSnapshots, vec![day(past, 1000)])));
    let service = Service::start(State { profit: Arc::new(profit), as_of: Arc::new(copies), ..state() });
    let body = service.get("/api/v1/profit?days=3&as_of=2025-03-01", BOTH).json();
    assert_eq!((&body["data"][0]["snapshot_date"], body.get("warnings")), (&json!("2025-03-01"), None));
    let refused = service.get("/api/v1/profit?as_of=2025-03-02", BOTH);
    assert_eq!((refused.status, &refused.json()["error"]), (404, &json!("not_found")));
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("api jobs run all --account 7 --as-of 2025-03-02"), "{message}");
    // Today is 2 May 2026: two years ago, then tomorrow, and more than two years ago.
    assert_eq!(service.get("/api/v1/profit?as_of=2024-05-02", BOTH).status, 404);
    for wrong in ["2026-05-03", "2024-05-01", "2025-02-29", "now"] {
        let refused = service.get(&format!("/api/v1/profit?as_of={wrong}"), BOTH);
        assert_eq!((refused.status, &refused.json()["param"]), (400, &json!("as_of")), "{wrong}");
    }
}

#[test]
fn days_over_the_maximum_are_clamped_in_the_window_too() {
    let mut profit = MockProfitStore::new();
    let range = DayRange { first: date!(2025 - 05 - 03), last: date!(2026 - 05 - 02) };
    profit.expect_range().with(eq(ACCOUNT), eq(range)).returning(|_, _| Ok(dated(JobName::ProfitSnapshots, vec![])));
    let body = Service::start(State { profit: Arc::new(profit), ..state() })
        .get("/api/v1/profit?days=2147483648", BOTH)
        .json();
    assert_eq!(body["window_days"], 365);
    assert_eq!(
        body["warnings"],
        json!([{"code": "limit_clamped", "param": "days", "requested": 2_147_483_648_i64, "applied": 365}])
    );
}

#[test]
fn inventory_with_a_summary_of_the_whole_catalogue() {
    let mut inventory = MockInventoryStore::new();
    let request = PageRequest { limit: 100, cursor: None };
    inventory.expect_list().with(eq(ACCOUNT), eq(Some(inventory::Status::Critical)), eq(request)).returning(
        |_, _, _| {
            let item = inventory::Item {
                id: InventoryItemId(55),
                sku: "MUG".into(),
                product_name: "Mug".into(),
                current_stock: 42,
                units_sold_30d: 180,
                units_sold_7d: 63,
                avg_daily_units_30d: dec!(6.0000),
                avg_daily_units_7d: dec!(9.123456),
                days_of_stock: Some(dec!(4.66666666)),
                days_of_stock_range: Some((dec!(3.9), dec!(5.6))),
                velocity: Some(dec!(9.0001)),
                velocity_class: Some(domain::inventory::VelocityClass::Erratic),
                trend: inventory::Trend::Accelerating,
                status: inventory::Status::Critical,
                estimated_stockout_at: Some(date!(2026 - 05 - 06)),
                computed_at: NOW,
            };
            let still = inventory::Item {
                id: InventoryItemId(54),
                days_of_stock: None,
                days_of_stock_range: None,
                velocity: Some(dec!(0)),
                velocity_class: None,
                trend: inventory::Trend::NoSales,
                estimated_stockout_at: None,
                ..item.clone()
            };
            let slow = inventory::Item { id: InventoryItemId(53), velocity: Some(dec!(0.01)), ..still.clone() };
            let summary = inventory::Summary { total: 9, critical: 2, low: 3, ok: 4, overstocked: 0 };
            Ok(inventory::Listing {
                page: Page { items: vec![item, still, slow], next_cursor: None },
                summary,
                freshness: freshness(JobName::InventoryVelocity),
            })
        },
    );
    let body = Service::start(State { inventory: Arc::new(inventory), ..state() })
        .get("/api/v1/inventory?status=critical", BOTH)
        .json();
    assert_eq!(
        body["items"][0],
        json!({
            "id": 55, "sku": "MUG", "product_name": "Mug", "current_stock": 42, "units_sold_30d": 180, "units_sold_7d": 63,
            "avg_daily_units_30d": 6, "avg_daily_units_7d": 9.1235, "days_of_stock": 4.6667,
            "days_of_stock_over": null, "days_of_stock_range": [3.9, 5.6], "velocity": 9.0001, "velocity_class": "erratic", "trend": "accelerating",
            "status": "critical", "estimated_stockout_at": "2026-05-06", "computed_at": "2026-05-02T12:00:30Z"
        })
    );
    assert_eq!(
        [
            &body["items"][1]["days_of_stock"],
            &body["items"][1]["days_of_stock_range"],
            &body["items"][1]["days_of_stock_over"],
            &body["items"][1]["estimated_stockout_at"]
        ],
        [&Value::Null; 4]
    );
    assert_eq!(body["items"][1]["velocity"], 0);
    assert_eq!(body["items"][2]["days_of_stock_over"], 730);
    assert_eq!(body["summary"], json!({"total": 9, "critical": 2, "low": 3, "ok": 4, "overstocked": 0}));
    assert_eq!((&body["generated_at"], &body["api_version"]), (&json!("2026-05-02T12:00:30Z"), &json!("v1")));
    assert_eq!(body["freshness"], shown_freshness("inventory_velocity"));
}

#[test]
fn risks_with_a_summary_of_all_of_them() {
    let mut risks = MockRiskStore::new();
    let filter = risks::Filter { kind: Some(risks::Kind::Stockout), severity: Some(Severity::High) };
    let request = PageRequest { limit: 1, cursor: Some(7) };
    risks.expect_list().with(eq(ACCOUNT), eq(filter), eq(request)).returning(|_, _, _| {
        let found = risks::Finding {
            kind: risks::Kind::Stockout,
            subject: "SKU-9".into(),
            label: "SKU-9".into(),
            severity: Severity::High,
            likelihood: Some(dec!(0.82)),
            exposure: Some(risks::Exposure { low: Some(dec!(410)), expected: Some(dec!(1240.5)), high: None }),
            lacks_costs: false,
            evidence: vec![risks::Evidence {
                metric: risks::Measure::DaysOfStock,
                value: Some(4.123_456),
                threshold: Some(7.0),
            }],
            assumptions: vec![risks::Assumption::BuyersSwitch],
            action: Some(risks::Action::Reorder),
            links: risks::Links {
                sku: Some("SKU-9".into()),
                insight_id: Some(InsightId(31)),
                ..risks::Links::default()
            },
        };
        let risk = risks::Risk { number: RiskId(12), found, detected_at: NOW - Duration::days(3), last_seen_at: NOW };
        Ok(risks::Listing {
            page: Page { items: vec![risk], next_cursor: Some(12) },
            summary: risks::Summary {
                high: 2,
                low: 3,
                largest_expected: Some(dec!(1240.5)),
                lack_costs: 1,
                ..Default::default()
            },
            freshness: freshness(JobName::RiskAssessment),
        })
    });
    let body = Service::start(State { risks: Arc::new(risks), ..state() })
        .get("/api/v1/risks?type=stockout&severity=high&limit=1&cursor=7", BOTH)
        .json();
    assert_eq!(
        body,
        json!({
            "data": [{
                "id": "stockout:SKU-9", "type": "stockout", "severity": "high", "title": "SKU-9 runs out in about 4 days",
                "likelihood": 0.82, "exposure": {"low": 410.00, "expected": 1240.50, "high": null}, "currency": "BRL",
                "horizon_days": 30,
                "evidence": [{"metric": "days_of_stock", "value": 4.1235, "threshold": 7.0, "unit": "days"}],
                "assumptions": ["half of the lost demand may move to another product in the low case"],
                "links": {
                    "sku": "SKU-9", "insight_id": 31, "customer_id": null, "integration_id": null, "webhook_id": null
                },
                "recommended_action": "reorder", "detected_at": "2026-04-29T12:00:30Z",
                "last_seen_at": "2026-05-02T12:00:30Z"
            }],
            "summary": {
                "total": 5, "by_severity": {"low": 3, "medium": 0, "high": 2, "critical": 0},
                "largest_expected": 1240.50, "overlapping": true
            },
            "freshness": shown_freshness("risk_assessment"),
            "pagination": {"limit": 1, "next_cursor": 12, "has_more": true},
            "generated_at": "2026-05-02T12:00:30Z", "api_version": "v1",
            "warnings": [{"code": "costs_missing", "param": "exposure"}]
        })
    );
}

#[test]
fn reorder_suggestions() {
    let mut reorder = MockReorderStore::new();
    let request = PageRequest { limit: 50, cursor: None };
    reorder.expect_list().with(eq(ACCOUNT), eq(Some(reorder::Status::Pending)), eq(request)).returning(|_, _, _| {
        let suggestion = reorder::Suggestion {
            id: SuggestionId(9),
            inventory_item_id: InventoryItemId(55),
            sku: "MUG".into(),
            product_name: Some("Blue mug".into()),
            qty_suggested: 240,
            reason: "r".into(),
            confidence: dec!(0.9),
            forecast_days: 44,
            basis: Some(reorder::Basis {
                on_hand: 20,
                on_order: 5,
                lead_time_days: 14,
                review_days: 7,
                daily_demand: 3.42,
                expected_demand: 71.812_34,
                safety_stock: 24.2,
                reorder_point: 70,
                order_up_to: 96,
                service_level: 0.95,
                pack_size: 12,
                min_order_qty: 1,
                history_days: Some(365),
                unit_contribution: Some(-0.498_76),
                sold_last_year: Some(99.123_45),
                sold_after_arrival: Some(70.25),
                season_of: None,
                season_ends: false,
            }),
            computed_at: NOW,
            status: reorder::Status::Pending,
        };
        let never = Freshness { job: JobName::SmartReorder, as_of: None, sources: vec![] };
        Ok(reorder::Listing { page: Page { items: vec![suggestion], next_cursor: None }, freshness: never })
    });
    let body = Service::start(State { reorder: Arc::new(reorder), ..state() })
        .get("/api/v1/reorder?status=pending", BOTH)
        .json();
    assert_eq!(
        body,
        json!({
            "items": [{
                "id": 9, "inventory_item_id": 55, "sku": "MUG", "product_name": "Blue mug", "qty_suggested": 240, "confidence": 0.9,
                "reason": "Sells about 3.4 a day; 20 in stock and 5 on order. About 72 are expected to sell before an order placed in 7 days \
                    could arrive (14 days of delivery), and 96 cover it with a probability of 90%. But each unit sold loses about 0.50 BRL \
                    after its cost, fees and shipping: raise the price or lower the cost before you order 240 (packs of 12).",
                "forecast_days": 44, "order_by": "2026-04-25", "computed_at": "2026-05-02T12:00:30Z", "status": "pending", "recommended": false, "basis": {
                    "on_hand": 20, "on_order": 5, "lead_time_days": 14, "review_days": 7, "daily_demand": 3.42,
                    "expected_demand": 71.8123, "safety_stock": 24.2, "reorder_point": 70, "order_up_to": 96,
                    "service_level": 0.95, "pack_size": 12, "min_order_qty": 1, "history_days": 365, "unit_contribution": -0.5,
                    "sold_last_year": 99.1235, "sold_after_arrival": 70.25, "season_of": "item", "season_ends": false
                }
            }],
            "generated_at": null, "freshness": {"as_of": null, "job": "smart_reorder", "sources": []},
            "pagination": {"limit": 50, "next_cursor": null, "has_more": false}, "api_version": "v1"
        })
    );
}

/// They were computed today, by what there was then.
#[test]
fn suggestions_as_of_a_day_are_to_be_ordered_as_of_that_day() {
    let past = date!(2025 - 03 - 01);
    let mut copies = MockAsOfStore::new();
    copies.expect_find().with(eq(ACCOUNT), eq(past)).returning(|_, _| Ok(Some(AccountId(99))));
    let mut reorder = MockReorderStore::new();
    reorder.expect_list().with(eq(AccountId(99)), always(), always()).returning(|_, _, _| {
        // Twelve days of stock, and fourteen until an order arrives.
        let basis = json!({
            "on_hand": 12, "on_order": 0, "lead_time_days": 14, "review_days": 7, "daily_demand": 1.0,
            "expected_demand": 21.0, "safety_stock": 4.0, "reorder_point": 18, "order_up_to": 25, "service_level": 0.95,
            "pack_size": 1, "min_order_qty": 1
        });
        let suggestion = reorder::Suggestion {
            id: SuggestionId(9),
            inventory_item_id: InventoryItemId(55),
            sku: "MUG".into(),
            product_name: None,
            qty_suggested: 13,
            reason: "r".into(),
            confidence: dec!(0.9),
            forecast_days: 21,
            basis: Some(serde_json::from_value(basis).unwrap()),
            computed_at: NOW,
            status: reorder::Status::Pending,
        };
        let never = Freshness { job: JobName::SmartReorder, as_of: None, sources: vec![] };
        Ok(reorder::Listing { page: Page { items: vec![suggestion], next_cursor: None }, freshness: never })
    });
    let state = State { reorder: Arc::new(reorder), as_of: Arc::new(copies), ..state() };
    let body = Service::start(state).get("/api/v1/reorder?as_of=2025-03-01", BOTH).json();
    assert_eq!(body["items"][0]["order_by"], "2025-02-27");
}

#[test]
fn a_read_whose_database_fails_is_503_or_500() {
    for (unavailable, expected) in [(true, (503, "no_db")), (false, (500, "internal_error"))] {
        let service = with_customers(|customers| {
            customers.expect_page().returning(move |_, _, _| {
                Err(if unavailable { StoreError::Unavailable("x".into()) } else { StoreError::Internal("x".into()) })
            });
        });
        let answer = service.get("/api/v1/customers", BOTH);
        assert_eq!(answer.error(), (expected.0, expected.1.to_owned()));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
}

/// The account is in São Paulo, three hours behind UTC.
#[rstest]
#[case("from=2026-05-02&to=2026-05-01")]
#[case("from=2026-05-03&to=2026-05-01")]
#[case("from=2026-05-02T03:00:00Z&to=2026-05-01")]
#[case("from=2026-05-02&to=2026-05-02T02:59:59Z")]
fn a_span_that_ends_before_it_begins_is_refused(#[case] query: &str) {
    let answer = Service::start(state()).get(&format!("/api/v1/credits/transactions?{query}"), BOTH);
    assert_eq!((answer.error(), &answer.json()["param"]), ((400, "invalid_parameter".into()), &json!("to")));
}

#[rstest]
#[case("from=9999-12-31T23:59:59-23:59", "from")]
#[case("to=9999-12-31T23:59:59-23:59", "to")]
#[case("from=0000-01-01T00:00:00%2B23:59", "from")]
#[case("from=1970-01-01T00:00:00%2B00:01", "from")]
#[case("to=3000-01-01T00:00:00Z", "to")]
#[case("from=1969-12-31", "from")]
#[case("to=3000-01-01", "to")]
fn an_instant_beyond_what_is_accepted_is_refused(#[case] query: &str, #[case] param: &str) {
    for format in ["", "&format=csv"] {
        let answer = Service::start(state()).get(&format!("/api/v1/credits/transactions?{query}{format}"), BOTH);
        assert_eq!(answer.error(), (400, "invalid_parameter".into()));
        assert_eq!(answer.json()["param"], param);
        assert!(answer.text().contains("between 1970-01-01 and 2999-12-31"), "{}", answer.text());
    }
}
