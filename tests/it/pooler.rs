//! Behind a PgBouncer that gives a server's session away after every transaction.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use nix::sys::signal::Signal;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::PgBouncer;

use crate::service::{Process, Service, api, run};

/// Sessions that all clients share: few, so that the statements of one client come on different ones.
const SESSIONS: u32 = 3;
/// Far above what an announcement takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// Requests at a time: more than there are sessions.
const AT_ONCE: usize = 24;

const READS: [&str; 9] =
    ["me", "credits", "customers", "integrations", "webhooks", "insights", "anomalies", "inventory", "reorder"];

fn through(bouncer: &PgBouncer, service: &Service, role: &str, direct: bool) -> std::process::Command {
    let mut command = api(&bouncer.url(), &service.folder);
    command.arg(role).env("BAS_DATABASE_POOLER", "transaction").env("BAS_RATE_LIMIT_PER_MINUTE", "100000");
    if direct {
        command.env("BAS_DATABASE_DIRECT_URL", service.db.url());
    }
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_share_few_sessions_and_none_is_mixed_up() {
    if testkit::skip_on_citus("PgBouncer is put before a socket") {
        return;
    }
    let service = Service::start().await;
    let Some(bouncer) = PgBouncer::start(&service.db.url(), SESSIONS).await.unwrap() else { return };
    let process = Process::start(&mut through(&bouncer, &service, "serve", false));
    let keys = [service.account, service.stranger].map(|account| service.key(account, "read,write"));
    let requests = (0..240).map(async |i: usize| {
        let key = &keys[i % 2];
        if i % 4 < 2 {
            return vec![process.get(&format!("/api/v1/{}", READS[i % READS.len()]), key).await.status()];
        }
        let once = process.post("/api/v1/track", key, &json!({"event": format!("event_{i}")})).await;
        // Sent by several requests under one name, and kept once.
        let named = process.request(Method::POST, "/api/v1/track").bearer_auth(key);
        let named = named.header("Idempotency-Key", format!("k{}", i / 16)).json(&json!({"event": "named"}));
        vec![once.status(), named.send().await.unwrap().status()]
    });
    let answers: Vec<_> = futures_util::stream::iter(requests).buffer_unordered(AT_ONCE).concat().await;
    for status in answers {
        // 409: another request is at work under the same name.
        assert!(status == 200 || status == 409, "{status}");
    }
    let sql = service.db.client().await.unwrap();
    for account in [service.account, service.stranger] {
        let count = "SELECT count(*) FILTER (WHERE name <> 'named'), count(*) FILTER (WHERE name = 'named')
            FROM track_events WHERE account_id = $1";
        let row = sql.query_one(count, &[&account]).await.unwrap();
        assert_eq!((row.get::<_, i64>(0), row.get::<_, i64>(1)), (60, 15));
    }
    assert_eq!(process.end(Signal::SIGTERM).code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_revoked_elsewhere_is_refused_at_once_without_a_direct_way_and_soon_with_one() {
    if testkit::skip_on_citus("PgBouncer is put before a socket") {
        return;
    }
    let service = Service::start().await;
    let Some(bouncer) = PgBouncer::start(&service.db.url(), SESSIONS).await.unwrap() else { return };
    for direct in [false, true] {
        let process = Process::start(&mut through(&bouncer, &service, "serve", direct));
        let key = service.key(service.account, "read");
        assert_eq!(process.get("/api/v1/me", &key).await.status(), 200);
        let account = service.account.to_string();
        let list = run(&mut service.api(&["keys", "list", "--json", "--account", &account]));
        let list: Value = serde_json::from_str(&list).unwrap();
        let id = list.as_array().unwrap().iter().map(|key| key["id"].as_i64().unwrap()).max().unwrap();
        run(&mut service.api(&["keys", "revoke", &id.to_string(), "--account", &account]));
        let revoked = Instant::now();
        while process.get("/api/v1/me", &key).await.status() != 401 {
            assert!(direct && revoked.elapsed() < PATIENCE, "answered after {:?}", revoked.elapsed());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_a_session_asks_for_the_direct_way_and_jobs_need_none() {
    if testkit::skip_on_citus("PgBouncer is put before a socket") {
        return;
    }
    let service = Service::start().await;
    let Some(bouncer) = PgBouncer::start(&service.db.url(), SESSIONS).await.unwrap() else { return };
    let refused = through(&bouncer, &service, "migrate", false).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("BAS_DATABASE_DIRECT_URL"), "{said}");
    assert_eq!(run(&mut through(&bouncer, &service, "migrate", true)).trim(), "The schema is up to date.");

    let account = service.account.to_string();
    run(through(&bouncer, &service, "jobs", false).args(["run", "all", "--account", &account]));
    let sql = service.db.client().await.unwrap();
    let done: i64 = sql
        .query_one("SELECT count(*) FROM job_runs WHERE account_id = $1 AND state = 'done'", &[&service.account])
        .await
        .unwrap()
        .get(0);
    assert!(done >= 6, "{done} jobs were done");
}
