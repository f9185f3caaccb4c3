//! Lists as CSV.

use std::{
    io::{Read, Write},
    sync::Arc,
};

use api::{Settings, State};
use domain::{
    AccountId, StoreError,
    customers::{Customer, MockCustomerStore},
    jobs::JobName,
    keys::{KeyRecord, MockKeyStore},
    page::Page,
    profit::{Basis, DayRange, MockProfitStore, Snapshot},
};
use futures_util::{StreamExt, stream};
use mockall::predicate::{always, eq};
use rstest::rstest;
use serde_json::Value;
use time::macros::date;

use crate::{
    lists::{customer, day, prospect},
    support::{ACCOUNT, Answer, BOTH, READ, Service, bearer, dated, key, record, shown_freshness, state},
};

const HEADER: &str = "id,email,name,source,external_id,city,country,orders_count,revenue_total,ltv_estimate,aov,segment,\
    churn_score,last_purchase_at,first_purchase_at,created_at\r\n";

fn streaming(rows: impl Fn() -> Vec<Result<Customer, StoreError>> + Send + Sync + 'static) -> Service {
    let mut customers = MockCustomerStore::new();
    customers
        .expect_stream()
        .with(eq(ACCOUNT), always(), always())
        .returning(move |_, _, _| Ok(dated(JobName::CustomerMetrics, stream::iter(rows()).boxed())));
    customers.expect_page().returning(|_, _, page| {
        Ok(dated(JobName::CustomerMetrics, Page { items: vec![customer(9)], next_cursor: Some(page.limit) }))
    });
    Service::start(State { customers: Arc::new(customers), ..state() })
}

fn is_csv(answer: &Answer) -> bool {
    answer.header("content-type") == Some("text/csv; charset=utf-8")
}

#[test]
fn the_whole_list_is_streamed() {
    let service = streaming(|| vec![Ok(customer(2)), Ok(prospect(1))]);
    let answer = service.get("/api/v1/customers?format=csv", BOTH);
    assert!(is_csv(&answer) && answer.complete);
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"customers-2026-05-02.csv\""));
    assert_eq!(answer.header("x-next-cursor"), None);
    assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
    let freshness: Value = serde_json::from_str(answer.header("x-freshness").unwrap()).unwrap();
    assert_eq!(freshness, shown_freshness("customer_metrics"));
    let rows = "2,ana@example.com,Ana,tiendanube,x-1,Santos,BR,7,1234.50,2100.00,176.36,vip,0.1234,2026-04-28T14:03:11Z,\
        2024-11-02T10:00:00Z,2024-11-02T12:58:40Z\r\n\
        1,,,tiendanube,x-1,,,0,0.00,0.00,0.00,prospect,,,,2024-11-02T12:58:40Z\r\n";
    assert_eq!(answer.text(), format!("{HEADER}{rows}"));
}

#[test]
fn an_account_has_four_streams_at_a_time() {
    let mut customers = MockCustomerStore::new();
    customers.expect_stream().returning(|_, _, _| {
        Ok(dated(JobName::CustomerMetrics, stream::once(async { Ok(customer(2)) }).chain(stream::pending()).boxed()))
    });
    let service = Service::start(State { customers: Arc::new(customers), ..state() });
    let request =
        format!("GET /api/v1/customers?format=csv HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\n\r\n", bearer(BOTH));
    let mut clients: Vec<_> = (0..4).map(|_| service.connect()).collect();
    for client in &mut clients {
        client.write_all(request.as_bytes()).unwrap();
        // It is under way when its first byte comes.
        client.read_exact(&mut [0]).unwrap();
    }
    let refused = service.get("/api/v1/customers?format=csv", BOTH);
    assert_eq!((refused.error(), refused.header("retry-after")), ((503, "overloaded".into()), Some("2")));
    assert_eq!(refused.header("x-ratelimit-remaining"), Some("55"));
    // These streams never end: what asks for the headers alone reads none.
    let head = service.send("HEAD", "/api/v1/customers?format=csv", &[("Authorization", &bearer(BOTH))], None);
    assert_eq!((head.status, is_csv(&head), head.body.len()), (200, true, 0));
}

#[test]
fn an_account_at_its_worst_costs_another_neither_requests_nor_streams() {
    let mut keys = MockKeyStore::new();
    keys.expect_known_id().return_const(None);
    keys.expect_note_use().return_const(());
    keys.expect_find().returning(|hash| {
        let of = |n: u8| (key(n).hash() == hash).then(|| record(n).unwrap());
        Ok(of(BOTH).or(of(READ).map(|record| KeyRecord { account_id: AccountId(8), ..record })))
    });
    let mut customers = MockCustomerStore::new();
    customers.expect_stream().returning(|_, _, _| {
        Ok(dated(JobName::CustomerMetrics, stream::once(async { Ok(customer(2)) }).chain(stream::pending()).boxed()))
    });
    let settings = Settings { rate_limit_per_minute: 20, ..Settings::default() };
    let service = Service::start(State { keys: Arc::new(keys), customers: Arc::new(customers), settings, ..state() });
    let begin = |n| {
        let mut client = service.connect();
        let request =
            format!("GET /api/v1/customers?format=csv HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\n\r\n", bearer(n));
        client.write_all(request.as_bytes()).unwrap();
        let mut status = [0; 12];
        client.read_exact(&mut status).unwrap();
        (client, String::from_utf8(status.to_vec()).unwrap())
    };
    let worst: Vec<_> = (0..8).map(|_| begin(BOTH)).collect();
    let begun = worst.iter().filter(|(_, status)| status == "HTTP/1.1 200").count();
    assert_eq!((begun, worst[7].1.as_str()), (4, "HTTP/1.1 503"));
    let tag = service.get("/api/v1/me", BOTH).header("etag").unwrap().to_owned();
    let flood: Vec<u16> =
        (0..260).map(|_| service.get_with("/api/v1/me", BOTH, &[("If-None-Match", &tag)]).status).collect();
    assert_eq!((flood.iter().filter(|status| **status == 304).count(), flood[259]), (200, 429));

    let other = service.get("/api/v1/me", READ);
    assert_eq!((other.status, other.header("x-ratelimit-remaining")), (200, Some("19")));
    assert_eq!(begin(READ).1, "HTTP/1.1 200");
}

#[test]
fn a_stream_that_has_ended_leaves_its_place() {
    let service = streaming(|| vec![Ok(customer(2))]);
    for _ in 0..6 {
        assert!(service.get("/api/v1/customers?format=csv", BOTH).complete);
    }
}

#[test]
fn with_a_limit_it_is_one_page() {
    let answer = streaming(Vec::new).get("/api/v1/customers?format=csv&limit=101", BOTH);
    assert_eq!((answer.header("x-next-cursor"), answer.text().lines().count()), (Some("100"), 2));
    assert_eq!(
        answer.header("x-warnings"),
        Some("[{\"code\":\"limit_clamped\",\"param\":\"limit\",\"requested\":101,\"applied\":100}]")
    );
}

#[test]
fn warnings_in_a_header_are_ascii() {
    let answer = streaming(Vec::new).get("/api/v1/customers?format=csv&limit=100&%C3%A9%7F%F0%9F%98%80=1", BOTH);
    let noted = r#"[{"code":"unknown_parameter","param":"\u00e9\u007f\ud83d\ude00"}]"#;
    assert_eq!(answer.header("x-warnings"), Some(noted));
}

#[rstest]
#[case("=1+1", "'=1+1")]
#[case("+1", "'+1")]
#[case("-1", "'-1")]
#[case("@x", "'@x")]
#[case("\tx", "'\tx")]
#[case("\rx", "\"'\rx\"")]
#[case("a,b", "\"a,b\"")]
#[case("say \"x\"", "\"say \"\"x\"\"\"")]
#[case("two\r\nlines", "\"two\r\nlines\"")]
#[case("João", "João")]
fn a_text_is_a_text_to_spreadsheets(#[case] name: &'static str, #[case] cell: &str) {
    let service = streaming(move || {
        vec![Ok(Customer { name: Some(name.into()), email: None, revenue_total: (-5).into(), ..customer(1) })]
    });
    let text = service.get("/api/v1/customers?format=csv", BOTH).text();
    assert!(text.contains(&format!("\r\n1,,{cell},tiendanube,")), "{text:?}");
    assert!(text.contains(",-5.00,"), "numbers are left alone");
}

#[rstest]
#[case("text/csv", true)]
#[case("text/csv, application/json;q=0.5", true)]
#[case("TEXT/CSV; q=0.9, */*;q=0.1", true)]
#[case("text/csv, */*", true)]
#[case("*/*, application/json;q=0.2, text/csv;q=0.4", true)]
#[case("application/json, text/csv;q=0.9", false)]
#[case("text/csv;Q=0.5, */*", false)]
#[case("application/*, text/csv;q=0.9", false)]
#[case("text/csv;q=0", false)]
#[case("*/*", false)]
#[case("text/*", false)]
#[case("application/xml", false)]
fn the_header_accept_asks_for_a_file_too(#[case] accept: &str, #[case] csv: bool) {
    let service = streaming(|| vec![Ok(customer(1))]);
    let answer = service.get_with("/api/v1/customers", BOTH, &[("Accept", accept)]);
    assert_eq!((answer.status, is_csv(&answer)), (200, csv));
    assert!(!is_csv(&service.get_with("/api/v1/customers?format=json", BOTH, &[("Accept", "text/csv")])));
}

#[test]
fn a_stream_that_fails_midway_does_not_pass_for_a_whole_file() {
    let service = streaming(|| {
        let mut rows: Vec<_> = (0..5_000).map(|id| Ok(customer(id))).collect();
        rows.push(Err(StoreError::Unavailable("gone".into())));
        rows
    });
    let answer = service.get("/api/v1/customers?format=csv", BOTH);
    assert_eq!((answer.status, answer.complete), (200, false));
    assert!(answer.text().starts_with(HEADER));
    let coded = service.get_with("/api/v1/customers?format=csv", BOTH, &[("Accept-Encoding", "gzip")]);
    assert!(!coded.complete);
}

#[test]
fn a_stream_that_does_not_begin_is_an_error() {
    let mut customers = MockCustomerStore::new();
    customers.expect_stream().returning(|_, _, _| Err(StoreError::Unavailable("gone".into())));
    let service = Service::start(State { customers: Arc::new(customers), ..state() });
    assert_eq!(service.get("/api/v1/customers?format=csv", BOTH).error(), (503, "no_db".into()));
}

#[test]
fn profit_is_a_file_of_its_window() {
    let mut profit = MockProfitStore::new();
    let range = DayRange { first: date!(2026 - 05 - 01), last: date!(2026 - 05 - 02) };
    profit.expect_range().with(eq(ACCOUNT), eq(range)).returning(|_, _| {
        let unknown = Snapshot { basis: Basis::default(), lacks_rates: true, ..day(date!(2026 - 05 - 01), 1000) };
        Ok(dated(JobName::ProfitSnapshots, vec![day(date!(2026 - 05 - 02), 1000), unknown]))
    });
    let service = Service::start(State { profit: Arc::new(profit), ..state() });
    let answer = service.get("/api/v1/profit?format=csv&days=2", BOTH);
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"profit-2026-05-02.csv\""));
    assert_eq!(
        answer.text(),
        "snapshot_date,gross_revenue,refunds,ad_spend,cogs_estimate,fees_estimate,shipping_estimate,extra_expenses,\
         net_revenue,operational_profit,final_profit,margin_pct,margin_defined,purchase_count,cogs_coverage_pct,estimated,\
         returned_units,returned_cogs_estimate,returned_fees_estimate,ad_spend_complete\r\n\
         2026-05-02,1000.00,100.00,120.00,400.00,29.00,50.00,31.00,900.00,421.00,270.00,30.00,true,12,87.50,true,2,8.50,0.29,true\r\n\
         2026-05-01,1000.00,100.00,120.00,400.00,29.00,50.00,31.00,900.00,421.00,270.00,30.00,true,12,,false,0,0.00,0.00,false\r\n"
    );
    let freshness: Value = serde_json::from_str(answer.header("x-freshness").unwrap()).unwrap();
    assert_eq!(freshness, shown_freshness("profit_snapshots"));
    let page = service.get("/api/v1/profit?format=csv&days=2&limit=1", BOTH);
    assert_eq!((page.header("x-next-cursor"), page.text().lines().count()), (Some("20260502"), 2));

    // A file has no explanations: that they were asked for is not passed over in silence.
    assert_eq!(answer.header("x-warnings").map(|noted| noted.contains("explain")), Some(false));
    for (query, headers) in [("&format=csv", None), ("", Some(("Accept", "text/csv")))] {
        let path = format!("/api/v1/profit?days=2&explain=1{query}");
        let noted = service.get_with(&path, BOTH, headers.as_slice());
        let warning = r#"{"code":"parameter_ignored","param":"explain"}"#;
        assert!(noted.header("x-warnings").is_some_and(|noted| noted.contains(warning)), "{path}");
        let strict: Vec<_> = headers.into_iter().chain([("Prefer", "handling=strict")]).collect();
        assert_eq!(service.get_with(&path, BOTH, &strict).error(), (400, "invalid_parameter".into()), "{path}");
    }
}

#[test]
fn head_of_a_file_is_its_headers() {
    let service = streaming(|| vec![Ok(customer(1))]);
    let head = service.send("HEAD", "/api/v1/customers?format=csv", &[("Authorization", &bearer(BOTH))], None);
    assert_eq!((head.status, is_csv(&head), head.body.len()), (200, true, 0));
}
