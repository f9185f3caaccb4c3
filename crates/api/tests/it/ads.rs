//! Advertising: what the port is asked for, every field of the answers, and what is refused.

use std::sync::Arc;

use api::State;
use domain::{
    AdEntityId, AdRowId, CampaignCreativeId,
    ads::{
        AdListError, AdPlatform, AdRow, Coverage, Format, Group, Level, MockAdStore, Overview, Paired, Query, Status,
        Sums,
    },
    creatives::{self, Creative, Fatigue, Lift, Metric, MockCreativeStore, Needs, Verdict},
    jobs::JobName,
    page::{Page, PageRequest},
    profit::{Basis, Components, DayRange, MockProfitStore, Snapshot},
};
use futures_util::{StreamExt, stream};
use mockall::predicate::eq;
use rstest::rstest;
use rust_decimal::dec;
use serde_json::{Value, json};
use time::macros::{date, datetime};

use crate::support::{ACCOUNT, BOTH, Service, dated, freshness, shown_freshness, state};

const QUERY: Query = Query {
    range: DayRange { first: date!(2026 - 04 - 03), last: date!(2026 - 05 - 02) },
    platform: None,
    campaign: None,
    status: None,
    level: Level::Campaign,
    group: Group::Total,
};

fn sums() -> Sums {
    Sums {
        spend: Some(dec!(120.50)),
        impressions: Some(50_211),
        clicks: Some(911),
        purchases: Some(14),
        revenue: Some(dec!(980)),
        paired: Paired {
            clicks_of_shown: 911,
            shown_of_clicked: 50_211,
            spend_of_shown: dec!(120.50),
            spend_of_clicked: dec!(120.50),
            spend_of_purchased: dec!(120.50),
            spend_of_returned: dec!(120.50),
            shown_of_spent: 50_211,
            clicks_of_spent: 911,
            purchases_of_spent: 14,
        },
    }
}

pub fn row(id: i64) -> AdRow {
    AdRow {
        id: AdRowId(id),
        external_id: Some("2385".into()),
        platform: AdPlatform::Meta,
        level: Level::Campaign,
        parent_id: None,
        name: "=Prospecting".into(),
        status: Status::Active,
        date: None,
        sums: sums(),
        native: Some((dec!(120.50), "EUR".parse().unwrap())),
        last_synced_at: datetime!(2026-05-02 9:00:00.5 UTC),
    }
}

fn overview() -> Overview {
    Overview {
        totals: sums(),
        lacks_rates: true,
        attribution: Some("7d_click,1d_view".into()),
        coverage: vec![Coverage { platform: AdPlatform::Meta, days: 30, is_synced: true }],
        sources: vec![(AdPlatform::Meta, Some("Asia/Tokyo".into()))],
    }
}

fn profit() -> MockProfitStore {
    let mut profit = MockProfitStore::new();
    profit.expect_range().returning(|_, range| {
        let components = Components { gross_revenue: dec!(1400), refunds: dec!(50.40), ..Components::default() };
        let day = Snapshot { date: range.last, components, basis: Basis::default(), lacks_rates: false };
        Ok(dated(JobName::ProfitSnapshots, vec![day]))
    });
    profit
}

fn service(ads: MockAdStore) -> Service {
    Service::start(State { ads: Arc::new(ads), profit: Arc::new(profit()), ..state() })
}

/// One that answers whatever it is asked for.
fn any() -> MockAdStore {
    let mut ads = MockAdStore::new();
    ads.expect_overview().returning(|_, _| Ok(overview()));
    ads.expect_page().returning(|_, _, _| Ok(Page { items: vec![row(238)], next_cursor: None }));
    ads
}

const METRICS: &str = r#""spend":120.50,"impressions":50211,"clicks":911,"purchases":14,"revenue":980.00,"ctr":0.0181,"cpc":0.13,"cpm":2.40,"cpa":8.61,"roas":8.1328"#;

#[test]
fn advertising_with_totals_and_what_it_lacks() {
    let mut ads = MockAdStore::new();
    ads.expect_overview().with(eq(ACCOUNT), eq(QUERY)).returning(|_, _| Ok(overview()));
    let request = PageRequest { limit: 1, cursor: Some(7) };
    let page = Page { items: vec![row(238)], next_cursor: Some(238) };
    ads.expect_page().with(eq(ACCOUNT), eq(QUERY), eq(request)).returning(move |_, _, _| Ok(page.clone()));
    let answer = service(ads).get("/api/v1/ads?limit=1&cursor=7", BOTH);
    assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
    assert!(answer.header("etag").is_some());
    let metrics: Value = serde_json::from_str(&format!("{{{METRICS}}}")).unwrap();
    let with = |more: Value| {
        let mut all = metrics.as_object().unwrap().clone();
        all.extend(more.as_object().unwrap().clone());
        Value::Object(all)
    };
    assert_eq!(
        answer.json(),
        json!({
            "data": [with(json!({
                "id": 238, "external_id": "2385", "platform": "meta", "level": "campaign", "parent_id": null,
                "name": "=Prospecting", "status": "active", "date": null, "currency": "BRL",
                "native": {"spend": 120.50, "currency": "EUR"}, "last_synced_at": "2026-05-02T09:00:00Z"
            }))],
            // The spend without a rate brought orders, too.
            "totals": with(json!({"store_revenue": 1349.60, "mer": null, "tacos": null})),
            "attribution": {"source": "platform", "window": "7d_click,1d_view"},
            "window_days": 30, "from": "2026-04-03", "to": "2026-05-02",
            "coverage": [{"platform": "meta", "days_synced": 30, "provisional_from": "2026-04-05"}],
            "freshness": shown_freshness("profit_snapshots"),
            "pagination": {"limit": 1, "next_cursor": 238, "has_more": true},
            "api_version": "v1",
            "warnings": [{"code": "fx_missing", "param": "spend"}, {"code": "timezone_mismatch", "param": "date"}]
        })
    );
}

#[test]
fn the_shops_own_revenue_is_set_beside_all_that_was_spent() {
    let mut ads = MockAdStore::new();
    ads.expect_overview().returning(|_, _| Ok(Overview { lacks_rates: false, ..overview() }));
    ads.expect_page().returning(|_, _, _| Ok(Page { items: vec![], next_cursor: None }));
    let body = service(ads).get("/api/v1/ads", BOTH).json();
    // 1,400 less 50.40 by 120.50, and the reverse.
    assert_eq!((&body["totals"]["mer"], &body["totals"]["tacos"]), (&json!(11.2), &json!(0.0893)));
    assert_eq!(body["warnings"], json!([{"code": "timezone_mismatch", "param": "date"}]));
}

#[test]
fn filters_reach_the_port_and_a_part_has_no_share_of_the_shops_revenue() {
    let query = Query {
        range: DayRange { first: date!(2026 - 01 - 01), last: date!(2026 - 03 - 31) },
        platform: Some(AdPlatform::Google),
        campaign: Some(AdEntityId(238)),
        status: Some(Status::Paused),
        level: Level::AdSet,
        group: Group::Day,
    };
    let mut ads = MockAdStore::new();
    ads.expect_overview().with(eq(ACCOUNT), eq(query)).returning(|_, _| Ok(Overview::default()));
    let dated = AdRow { date: Some(date!(2026 - 03 - 02)), native: None, sums: Sums::default(), ..row(5) };
    ads.expect_page()
        .with(eq(ACCOUNT), eq(query), eq(PageRequest { limit: 200, cursor: None }))
        .returning(move |_, _, _| Ok(Page { items: vec![dated.clone()], next_cursor: None }));
    let path = "/api/v1/ads?from=2026-01-01&to=2026-03-31&platform=google&level=ad_set&group=day&campaign_id=238\
        &status=paused&limit=201";
    let body = service(ads).get(path, BOTH).json();
    let row = &body["data"][0];
    assert_eq!((&row["date"], &row["spend"], &row["native"]), (&json!("2026-03-02"), &Value::Null, &Value::Null));
    let totals = &body["totals"];
    assert_eq!(
        (&totals["mer"], &totals["tacos"], &totals["store_revenue"]),
        (&Value::Null, &Value::Null, &json!(1349.60))
    );
    assert_eq!((&body["window_days"], &body["coverage"]), (&json!(90), &json!([])));
    let codes: Vec<_> = body["warnings"].as_array().unwrap().iter().map(|warning| warning["code"].clone()).collect();
    assert_eq!(codes, ["limit_clamped", "no_ad_source"]);
}

#[test]
fn as_a_file() {
    let answer = service(any()).get("/api/v1/ads?format=csv&limit=5", BOTH);
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"ads-2026-05-02.csv\""));
    let header = "id,external_id,platform,level,parent_id,name,status,date,spend,impressions,clicks,purchases,revenue,ctr,cpc,\
        cpm,cpa,roas,currency,native_spend,native_currency,last_synced_at";
    let line = "238,2385,meta,campaign,,'=Prospecting,active,,120.50,50211,911,14,980.00,0.0181,0.13,2.40,8.61,8.1328,BRL,120.50,\
        EUR,2026-05-02T09:00:00Z";
    assert_eq!(answer.text(), format!("{header}\r\n{line}\r\n"));
    let mut ads = MockAdStore::new();
    ads.expect_overview().returning(|_, _| Ok(overview()));
    ads.expect_stream()
        .with(eq(ACCOUNT), eq(QUERY), eq(Some(9)))
        .returning(|_, _, _| Ok(stream::iter([Ok(row(238)), Ok(row(7))]).boxed()));
    let whole = service(ads).get("/api/v1/ads?format=csv&cursor=9", BOTH);
    assert_eq!(whole.text().lines().count(), 3);
}

#[rstest]
#[case("days=0", "days", None)]
#[case("days=-3", "days", None)]
#[case("days=x", "days", None)]
#[case("from=2026-01-01", "to", None)]
#[case("to=2026-01-01", "from", None)]
#[case("from=2026-01-01&to=2026-04-01", "to", None)]
#[case("from=2026-01-02&to=2026-01-01", "to", None)]
#[case("from=2026-02-30&to=2026-03-01", "from", None)]
#[case("from=yesterday&to=2026-03-01", "from", None)]
#[case("from=0000-01-01&to=2026-03-01", "from", None)]
#[case("from=2026-01-01&to=2026-01-02&days=3", "days", None)]
#[case("platform=tiktok", "platform", Some(4))]
#[case("level=adset", "level", Some(4))]
#[case("group=week", "group", Some(2))]
#[case("status=deleted", "status", Some(3))]
#[case("format=xml", "format", Some(2))]
#[case("campaign_id=0", "campaign_id", None)]
#[case("campaign_id=-1", "campaign_id", None)]
#[case("campaign_id=a", "campaign_id", None)]
#[case("campaign_id=9223372036854775808", "campaign_id", None)]
#[case("limit=0", "limit", None)]
#[case("cursor=0", "cursor", None)]
#[case("cursor=1.5", "cursor", None)]
#[case("platform=meta%00", "platform", None)]
#[case("platform=meta&platform=google", "platform", None)]
fn what_is_wrong_is_named(#[case] query: &str, #[case] param: &str, #[case] allowed: Option<usize>) {
    let answer = service(any()).get(&format!("/api/v1/ads?{query}"), BOTH);
    assert_eq!(answer.status, 400, "{query}");
    let body = answer.json();
    assert_eq!(body["param"], param, "{body}");
    assert_eq!(body["allowed"].as_array().map(Vec::len), allowed, "{body}");
}

#[rstest]
#[case(AdListError::NoSuchCampaign, 404, "not_found", "campaign_id")]
fn what_names_nothing_is_refused(
    #[case] error: AdListError,
    #[case] status: u16,
    #[case] code: &str,
    #[case] param: &str,
) {
    let mut ads = MockAdStore::new();
    ads.expect_overview().returning(|_, _| Ok(overview()));
    let error = std::sync::Mutex::new(Some(error));
    ads.expect_page().returning(move |_, _, _| Err(error.lock().unwrap().take().unwrap()));
    let answer = service(ads).get("/api/v1/ads?campaign_id=9&cursor=3", BOTH);
    assert_eq!(answer.status, status);
    assert_eq!((&answer.json()["error"], &answer.json()["param"]), (&json!(code), &json!(param)));
}

pub fn creative() -> Creative {
    Creative {
        id: CampaignCreativeId(12),
        key: "meta:video:99".into(),
        platform: AdPlatform::Meta,
        campaign_id: AdEntityId(238),
        campaign: "Prospecting".into(),
        format: Format::Video,
        headline: Some("Blue".into()),
        body: None,
        ad_ids: vec![AdEntityId(991), AdEntityId(992)],
        sums: sums(),
        video_3s: Some(310),
        shown_of_watched: 1_000,
        verdict: Verdict {
            status: creatives::Status::Winner,
            metric: Some(Metric::Roas),
            evidence: Some(dec!(11.97998)),
            lift: Some(Lift {
                observed: dec!(1.5133),
                shrunk: dec!(0.641873),
                low: dec!(0.176795),
                high: dec!(1.290752),
            }),
            compared_with: 7,
            days: 9,
            needs: None,
        },
        fatigue: Some(Fatigue { ctr_ratio: dec!(0.94), is_fatigued: false }),
        won_at: Some(datetime!(2026-05-01 3:00 UTC)),
        first_seen: date!(2026 - 04 - 10),
        last_seen: date!(2026 - 05 - 02),
        tau: dec!(0.25),
    }
}

fn creative_service(creatives: MockCreativeStore) -> Service {
    Service::start(State { creatives: Arc::new(creatives), ..state() })
}

#[test]
fn creatives_with_verdicts_and_how_they_are_made() {
    let query = creatives::Query {
        range: DayRange { first: date!(2026 - 04 - 26), last: date!(2026 - 05 - 02) },
        platform: Some(AdPlatform::Meta),
        status: Some(creatives::Status::Winner),
        winner: Some(true),
        campaign: Some(AdEntityId(238)),
    };
    let mut store = MockCreativeStore::new();
    store.expect_freshness().with(eq(ACCOUNT)).returning(|_| Ok(freshness(JobName::CreativeWinners)));
    store.expect_page().with(eq(ACCOUNT), eq(query), eq(PageRequest { limit: 25, cursor: Some(9) })).returning(
        |_, _, _| {
            let verdict = Verdict {
                status: creatives::Status::InsufficientData,
                metric: None,
                evidence: None,
                lift: None,
                compared_with: 7,
                days: 2,
                needs: Some(Needs { purchases: 6, days: 1, spend: dec!(40) }),
            };
            let new = Creative {
                id: CampaignCreativeId(11),
                format: Format::Image,
                verdict,
                fatigue: None,
                won_at: None,
                ..creative()
            };
            Ok(Page { items: vec![creative(), new], next_cursor: None })
        },
    );
    let path = "/api/v1/creatives?days=7&platform=meta&status=winner&winner=true&campaign_id=238&cursor=9";
    let body = creative_service(store).get(path, BOTH).json();
    assert_eq!(
        body["data"][0],
        json!({
            "id": 12, "key": "meta:video:99", "platform": "meta", "campaign_id": 238, "campaign": "Prospecting",
            "format": "video", "headline": "Blue", "body": null, "thumbnail_url": null, "ad_ids": [991, 992],
            "spend": 120.50, "impressions": 50211, "clicks": 911, "purchases": 14, "revenue": 980.00, "ctr": 0.0181,
            "roas": 8.1328, "hook_rate": 0.31, "status": "winner", "is_winner": true,
            "verdict": {
                "metric": "roas", "evidence": 11.98, "threshold": 10, "lift_observed": 1.5133, "lift": 0.6419,
                "lift_low": 0.1768, "lift_high": 1.2908, "compared_with": 7, "days": 9, "needs": null
            },
            "fatigue": {"ctr_ratio": 0.94, "is_fatigued": false}, "won_at": "2026-05-01T03:00:00Z",
            "first_seen_at": "2026-04-10", "last_seen_at": "2026-05-02"
        })
    );
    let new = &body["data"][1];
    assert_eq!((&new["hook_rate"], &new["fatigue"], &new["is_winner"]), (&Value::Null, &Value::Null, &json!(false)));
    assert_eq!(new["verdict"]["needs"], json!({"purchases": 6, "days": 1, "spend": 40.00}));
    assert_eq!((&new["verdict"]["lift"], &new["verdict"]["evidence"]), (&Value::Null, &Value::Null));
    assert_eq!(
        body["method"],
        json!({"name": "half_normal_mixture_e_value", "tau": 0.25, "unscored_days": 3, "observational": true})
    );
    assert_eq!((&body["generated_at"], &body["window_days"]), (&json!("2026-05-02T12:00:30Z"), &json!(7)));
    assert_eq!(body["freshness"], shown_freshness("creative_winners"));
}

#[test]
fn creatives_as_a_file() {
    let mut store = MockCreativeStore::new();
    store.expect_freshness().returning(|_| Ok(freshness(JobName::CreativeWinners)));
    store.expect_stream().returning(|_, _, _| Ok(stream::iter([Ok(creative())]).boxed()));
    let answer = creative_service(store).get("/api/v1/creatives?format=csv", BOTH);
    let text = answer.text();
    let (header, line) = text.split_once("\r\n").unwrap();
    assert!(header.contains(",verdict_metric,verdict_evidence,") && !header.contains("ad_ids"), "{header}");
    assert!(line.starts_with("12,meta:video:99,meta,238,Prospecting,video,Blue,,,120.50,"), "{line}");
    assert_eq!(header.split(',').count(), line.trim_end().split(',').count());
}

#[rstest]
#[case("days=6", "days", None)]
#[case("days=0", "days", None)]
#[case("status=best", "status", Some(6))]
#[case("winner=yes", "winner", Some(4))]
#[case("platform=bing", "platform", Some(4))]
#[case("campaign_id=1%00", "campaign_id", None)]
#[case("campaign_id=-2", "campaign_id", None)]
#[case("cursor=-1", "cursor", None)]
fn what_is_wrong_with_creatives_is_named(#[case] query: &str, #[case] param: &str, #[case] allowed: Option<usize>) {
    let answer = creative_service(MockCreativeStore::new()).get(&format!("/api/v1/creatives?{query}"), BOTH);
    let body = answer.json();
    assert_eq!((answer.status, &body["param"]), (400, &json!(param)), "{body}");
    assert_eq!(body["allowed"].as_array().map(Vec::len), allowed, "{body}");
}
