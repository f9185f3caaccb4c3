//! The ledger and its usage as their owner reads them over HTTP, compared with what SQL says about the rows.

use domain::{
    AccountId,
    credits::{CreditAmount, CreditLedger, Debit, FeatureName, OperationKey, Refund},
};
use serde_json::{Map, Value, json};
use time::{Duration, OffsetDateTime};
use tokio_postgres::Client;

use crate::service::{Service, run, zone};

const FEATURES: [&str; 3] = ["insight_generation", "chat", "images"];

/// Debits every seven hours of 200 days, so that whatever the season one of them is next to a change of the clock, and a
/// refund of every fifth of them two days later.
async fn spend(service: &Service, sql: &Client, now: OffsetDateTime) {
    let (account, store) = (AccountId(service.account), service.db.store().unwrap());
    let begin = now - Duration::days(200);
    sql.execute("UPDATE credit_balances SET updated_at = $1", &[&begin]).await.unwrap();
    sql.execute("UPDATE credit_transactions SET created_at = $1", &[&begin]).await.unwrap();
    run(&mut service.api(&["credits", "grant", &account.to_string(), "100000", "--reason", "test"]));
    sql.execute("UPDATE credit_balances SET updated_at = $1", &[&begin]).await.unwrap();
    sql.execute("UPDATE credit_transactions SET created_at = $1", &[&begin]).await.unwrap();
    let mut steps: Vec<(OffsetDateTime, i64, bool)> = Vec::new();
    for number in 0..200 * 24 / 7 {
        let at = begin + Duration::hours(7 * number + 1);
        steps.push((at, number, false));
        if number % 5 == 0 && at + Duration::days(2) < now {
            steps.push((at + Duration::days(2), number, true));
        }
    }
    steps.sort();
    for (at, number, undo) in steps {
        let key = OperationKey::new(format!("job-{number}")).unwrap();
        if undo {
            let undo = OperationKey::new(format!("undo-{number}")).unwrap();
            let refund = Refund { account, debit_key: key, key: undo, reason: "it failed".to_owned() };
            store.refund(refund, at).await.unwrap();
        } else {
            let feature = FEATURES[usize::try_from(number % 3).unwrap()];
            let debit = Debit {
                account,
                amount: CreditAmount::new(1 + number % 11).unwrap(),
                feature: FeatureName::new(feature).unwrap(),
                key,
                meta: Map::from_iter([("note".to_owned(), json!("=1+1, \"quoted\""))]),
            };
            store.debit(debit, at).await.unwrap();
        }
    }
}

/// Credits debited and refunded, debits and refunds of the rows that a condition picks.
async fn sums(sql: &Client, account: i64, condition: &str) -> Value {
    let text = format!(
        "SELECT coalesce(-sum(amount) FILTER (WHERE kind = 'consume'), 0)::bigint,
            coalesce(sum(amount) FILTER (WHERE kind = 'refund'), 0)::bigint,
            count(*) FILTER (WHERE kind = 'consume'), count(*) FILTER (WHERE kind = 'refund')
         FROM (SELECT *, (created_at AT TIME ZONE '{zone}')::date AS day FROM credit_transactions) AS t
         WHERE account_id = $1 AND {condition}",
        zone = zone()
    );
    let row = sql.query_one(&text, &[&account]).await.unwrap();
    let [consumed, refunded, debits, refunds] = std::array::from_fn::<i64, 4, _>(|column| row.get(column));
    json!([consumed, refunded, consumed - refunded, debits, refunds])
}

fn shown(figures: &Value) -> Value {
    json!(["consumed", "refunded", "spent", "debits", "refunds"].map(|name| figures[name].clone()))
}

#[tokio::test]
async fn usage_agrees_with_the_ledger_to_the_credit() {
    let service = Service::start().await;
    let sql = service.db.client().await.unwrap();
    spend(&service, &sql, OffsetDateTime::now_utc()).await;
    let key = service.key(service.account, "read");
    let usage = service.process.json("/api/v1/usage", &key).await;
    let ledger = service.process.json("/api/v1/credits", &key).await;
    assert_eq!(usage["balance"], ledger["balance"]);
    let periods = usage["periods"].as_array().unwrap();
    assert_eq!(periods.len(), 3);
    for (period, days) in periods.iter().zip([7, 30, 90]) {
        let (from, to) = (period["from"].as_str().unwrap(), period["to"].as_str().unwrap());
        let length: i32 = sql.query_one(&format!("SELECT date '{to}' - date '{from}' + 1"), &[]).await.unwrap().get(0);
        assert_eq!((length, &period["period"]), (days, &json!(format!("{days}d"))));
        let within = format!("day BETWEEN '{from}' AND '{to}'");
        assert_eq!(shown(period), sums(&sql, service.account, &within).await, "{days} days");
        let before = format!("day >= date '{from}' - {days} AND day < '{from}'");
        let before = sums(&sql, service.account, &before).await[2].clone();
        assert_eq!(period["previous_spent"], before);
        let (now, before) = (period["spent"].as_f64().unwrap(), before.as_f64().unwrap());
        let change = period["change_pct"].as_f64().unwrap();
        assert!((change - (now - before) / before * 100.0).abs() < 0.006, "{change}");
        let features = period["by_feature"].as_array().unwrap();
        assert_eq!(features.len(), 3);
        for feature in features {
            let name = feature["feature"].as_str().unwrap();
            let expected = sums(&sql, service.account, &format!("{within} AND feature = '{name}'")).await;
            assert_eq!(shown(feature), expected, "{days} days, {name}");
        }
    }
    let daily = usage["daily"].as_array().unwrap();
    assert_eq!((daily.len(), &daily[89]["date"]), (90, &periods[2]["to"]));
    for day in daily {
        let date = day["date"].as_str().unwrap();
        assert_eq!(shown(day), sums(&sql, service.account, &format!("day = '{date}'")).await, "{date}");
    }
    let stranger = service.process.json("/api/v1/usage", &service.key(service.stranger, "read")).await;
    assert_eq!((&stranger["balance"], &stranger["periods"][2]["debits"]), (&json!(500), &json!(0)));
}

#[tokio::test]
async fn the_ledger_is_listed_filtered_paged_and_exported() {
    let service = Service::start().await;
    let sql = service.db.client().await.unwrap();
    let now = OffsetDateTime::now_utc();
    spend(&service, &sql, now).await;
    let key = service.key(service.account, "read");
    let path = "/api/v1/credits/transactions";
    // All pages of a query, newest first.
    let all = async |query: &str| {
        let (mut rows, mut cursor) = (Vec::new(), None::<i64>);
        loop {
            let next = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
            let page = service.process.json(&format!("{path}?limit=100{query}{next}"), &key).await;
            rows.extend(page["data"].as_array().unwrap().clone());
            cursor = page["pagination"]["next_cursor"].as_i64();
            assert_eq!(page["pagination"]["has_more"], cursor.is_some());
            if cursor.is_none() {
                return rows;
            }
        }
    };
    let ids = async |condition: &str| -> Vec<i64> {
        let text = format!(
            "SELECT id FROM (SELECT *, (created_at AT TIME ZONE '{zone}')::date AS day FROM credit_transactions) t
             WHERE account_id = $1 AND {condition} ORDER BY id DESC",
            zone = zone()
        );
        sql.query(&text, &[&service.account]).await.unwrap().iter().map(|row| row.get(0)).collect()
    };
    let day = |ago: i64| (now - Duration::days(ago)).date();
    let (first, last) = (day(60), day(31));
    let instant = format!("{}T03:30:00Z", day(45));
    let cases = [
        (String::new(), "true".to_owned()),
        ("&kind=refund".to_owned(), "kind = 'refund'".to_owned()),
        ("&kind=grant".to_owned(), "kind = 'grant'".to_owned()),
        ("&feature=chat&kind=consume".to_owned(), "feature = 'chat' AND kind = 'consume'".to_owned()),
        (format!("&from={first}&to={last}"), format!("day BETWEEN '{first}' AND '{last}'")),
        (format!("&from={first}&to={first}&feature=images"), format!("day = '{first}' AND feature = 'images'")),
        (format!("&from={instant}"), format!("created_at >= '{instant}'")),
        (format!("&to={instant}"), format!("created_at < '{instant}'")),
        ("&from=2999-01-01".to_owned(), "false".to_owned()),
        ("&kind=topup".to_owned(), "false".to_owned()),
    ];
    for (query, condition) in cases {
        let found: Vec<i64> = all(&query).await.iter().map(|row| row["id"].as_i64().unwrap()).collect();
        let expected = ids(&condition).await;
        assert_eq!(found, expected, "{query}");
        assert!(!expected.is_empty() || condition == "false", "{query} finds nothing");
    }
    let default = service.process.json(path, &key).await;
    assert_eq!((&default["pagination"]["limit"], default["data"].as_array().unwrap().len()), (&json!(25), 25));
    let most = service.process.json(&format!("{path}?limit=100000"), &key).await;
    assert_eq!((&most["pagination"]["limit"], most["data"].as_array().unwrap().len()), (&json!(100), 100));

    // A file has the same rows, all of them.
    let rows = all("").await;
    let file = service.process.get(&format!("{path}?format=csv"), &key).await;
    assert!(file.headers()["content-type"].to_str().unwrap().starts_with("text/csv"));
    let text = file.text().await.unwrap();
    let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let columns = ["id", "kind", "feature", "amount", "balance_after", "created_at", "meta"];
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), columns);
    let records: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(&rows) {
        let plain = |name: &str| row[name].as_str().map_or_else(|| row[name].to_string(), str::to_owned);
        let feature = row["feature"].as_str().unwrap_or_default().to_owned();
        let expected =
            [plain("id"), plain("kind"), feature, plain("amount"), plain("balance_after"), plain("created_at")];
        assert_eq!(record.iter().take(6).collect::<Vec<_>>(), expected);
        assert_eq!(serde_json::from_str::<Value>(&record[6]).unwrap(), row["meta"]);
    }

    let stranger = service.process.json(path, &service.key(service.stranger, "read")).await;
    assert_eq!(stranger["data"].as_array().unwrap().len(), 1, "its own grant");
}

#[tokio::test]
async fn what_cannot_be_asked_of_the_ledger_is_refused_by_name() {
    let service = Service::start().await;
    let key = service.key(service.account, "read");
    let wrong = [
        ("kind=spent", "kind"),
        ("kind=", "kind"),
        ("feature=Chat", "feature"),
        ("from=2026-02-30", "from"),
        ("from=yesterday", "from"),
        ("from=9999-12-31T23:59:59-23:59", "from"),
        ("to=9999-12-31T23:59:59-23:59", "to"),
        ("from=0000-01-01T00:00:00%2B23:59", "from"),
        ("to=2026-05-01T12:00:00", "to"),
        ("from=2026-05-02&to=2026-04-30", "to"),
        ("cursor=0", "cursor"),
        ("cursor=x", "cursor"),
        ("limit=0", "limit"),
        ("limit=1.5", "limit"),
        ("format=xml", "format"),
    ];
    for (query, name) in wrong {
        let answer = service.process.get(&format!("/api/v1/credits/transactions?{query}"), &key).await;
        let status = answer.status();
        let body: Value = answer.json().await.unwrap();
        assert_eq!((status.as_u16(), &body["param"]), (400, &json!(name)), "{query}: {body}");
    }
}
