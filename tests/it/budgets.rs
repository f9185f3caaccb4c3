//! Requests do not wait behind what the background holds.

use std::time::Duration;

use serde_json::{Value, json};

use crate::service::{Process, Service};

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Rows that say that the background has met both locks: its sessions wait for them, or have gone on without them.
const MET: &str = "
    SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted) >= 4
        OR (EXISTS (SELECT FROM ai_runs WHERE finished_at IS NOT NULL)
            AND (SELECT count(*) FROM job_runs WHERE state = 'running') >= $1)";

async fn until_met(sql: &tokio_postgres::Client, accounts_at_once: i64) {
    let looked = async {
        while !sql.query_one(MET, &[&accounts_at_once]).await.unwrap().get::<_, bool>(0) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, looked).await.expect("the background did not get to the roll-ups");
}

/// Two accounts are rolled up for as long as the test takes, as after an import. What is asked for by a third, by keys that
/// this process has not seen before, is answered nevertheless, with pools of any size.
async fn a_third_account_is_served(pool: &str, accounts_at_once: i64) {
    let service = Service::start().await;
    let (busy, also_busy) = (service.account, service.stranger);
    let [key, other_key] = [busy, also_busy].map(|account| service.key(account, "read,write"));
    // Of the third account, one for each try.
    let third = ["accounts", "create", "--name", "Third", "--currency", "EUR", "--timezone", "UTC", "--json"];
    let third: Value = serde_json::from_str(&crate::service::run(&mut service.api(&third))).unwrap();
    let unseen: Vec<_> = (0..8).map(|_| service.key(third[0]["id"].as_i64().unwrap(), "read,write")).collect();
    let sql = service.db.client().await.unwrap();
    let rule = json!({
        "name": "Sign-ups", "metric": "event:sign_up", "comparator": "gte", "threshold": 2, "window_hours": 1,
        "severity": "critical", "cooldown_hours": 0
    });
    assert!(service.process.post("/api/v1/alerts", &key, &rule).await.status().is_success());
    let queued = service.process.post("/api/v1/insights/generate", &other_key, &json!({})).await;
    assert!(queued.status().is_success(), "{}", queued.status());

    let mut blocker = service.db.client().await.unwrap();
    let roll_ups = blocker.transaction().await.unwrap();
    for account in [busy, also_busy] {
        roll_ups.execute("SELECT pg_advisory_xact_lock(726300, hashint8($1))", &[&account]).await.unwrap();
    }
    let settings = [
        ("BAS_DATABASE_POOL", pool),
        ("BAS_HTTP_WORKERS", "2"),
        ("BAS_ENV", "test"),
        ("BAS_RATE_LIMIT_PER_MINUTE", "1000"),
    ];
    let process = Process::start(service.api(&["up", "--no-demo"]).envs(settings));
    until_met(&sql, accounts_at_once).await;
    for key in unseen {
        let me = process.get("/api/v1/me", &key).await;
        assert_eq!(me.status(), 200, "a key that is looked up, with {pool} connections");
        assert_eq!(process.get("/api/v1/customers", &key).await.status(), 200);
        assert_eq!(process.post("/api/v1/track", &key, &json!({"event": "a"})).await.status(), 200);
    }
    roll_ups.rollback().await.unwrap();
}

#[tokio::test]
async fn keys_and_requests_do_not_wait_for_roll_ups_of_others() {
    a_third_account_is_served("16", 2).await;
}

#[tokio::test]
async fn nor_do_they_where_connections_are_few() {
    a_third_account_is_served("2", 1).await;
}

#[tokio::test]
async fn everything_works_with_as_few_connections_as_there_may_be() {
    let service = Service::start().await;
    let key = service.key(service.account, "read,write");
    for pool in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let settings = [
            ("BAS_DATABASE_POOL", pool),
            ("BAS_HTTP_WORKERS", "3"),
            ("BAS_ENV", "test"),
            ("BAS_ALERTS_INTERVAL_SECONDS", "1"),
        ];
        let process = Process::start(service.api(&["up", "--no-demo"]).envs(settings));
        // With a single connection a request may come while the upkeep of the tables has it.
        let served = async {
            while process.get("/api/v1/customers", &key).await.status() != 200 {}
            let run = loop {
                let answer = process.post("/api/v1/insights/generate", &key, &json!({})).await;
                if answer.status().is_success() {
                    break answer.json::<Value>().await.unwrap()["id"].as_i64().unwrap();
                }
            };
            let sql = service.db.client().await.unwrap();
            let ended = "SELECT count(*) FROM ai_runs WHERE id = $1 AND finished_at IS NOT NULL";
            while sql.query_one(ended, &[&run]).await.unwrap().get::<_, i64>(0) == 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(PATIENCE, served).await.unwrap_or_else(|_| panic!("nothing works with {pool}"));
    }
}
