//! Starting, stopping, and being killed.

use std::{
    io::Write,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};
use testkit::TestDb;

use crate::{
    failures::reachable_folder,
    service::{Process, Service, api, free_port, run},
};

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn a_terminated_service_exits_with_zero_and_keeps_what_it_acknowledged() {
    let service = Service::start().await;
    let key = service.key(service.account, "write");
    let sent = (0..50).map(|_| {
        let request = service.process.request(reqwest::Method::POST, "/api/v1/track").bearer_auth(&key);
        tokio::spawn(request.json(&json!({"event": "signup"})).send())
    });
    for sent in futures_util::future::join_all(sent).await {
        let response = sent.unwrap().unwrap();
        let status = response.status();
        let answer: Value = response.json().await.unwrap();
        assert!(status == 200 && answer["ok"] == true, "{status} {answer}");
    }
    let Service { process, db, .. } = service;
    assert_eq!(process.end(Signal::SIGTERM).code(), Some(0));
    let sql = db.client().await.unwrap();
    let stored: i64 = sql.query_one("SELECT count(*) FROM track_events", &[]).await.unwrap().get(0);
    assert_eq!(stored, 50);
}

#[tokio::test]
async fn what_was_acknowledged_before_a_kill_is_there_after_it() {
    let service = Service::start().await;
    let key = service.key(service.account, "read,write");
    let body: Value =
        service.process.post("/api/v1/track", &key, &json!({"event": "signup"})).await.json().await.unwrap();
    let Service { process, db, folder, .. } = service;
    process.end(Signal::SIGKILL);
    let sql = db.client().await.unwrap();
    let stored: i64 = sql.query_one("SELECT id FROM track_events", &[]).await.unwrap().get(0);
    assert_eq!(body["event_id"], json!(stored));
    let again = Process::start(api(&db.url(), &folder).arg("serve"));
    assert_eq!(again.get("/api/v1/me", &key).await.status(), 200);
}

/// The first start of an embedded Postgres takes seconds.
#[test]
fn a_service_that_is_told_to_stop_while_its_database_starts_ends_with_zero() {
    let folder = reachable_folder();
    let mut starting = quiet(api("", &folder).args(["up", "--no-demo"]));
    let began = Instant::now();
    while !folder.path().join("data/postgres").exists() {
        assert!(began.elapsed() < PATIENCE && starting.try_wait().unwrap().is_none(), "the start did not begin");
        std::thread::yield_now();
    }
    assert_eq!(terminated(starting).code(), Some(0));
}

#[tokio::test]
async fn a_service_that_is_told_to_stop_while_it_waits_for_migrations_ends_with_zero() {
    let (db, folder) = (TestDb::new().await.unwrap(), tempfile::tempdir().unwrap());
    let sql = db.client().await.unwrap();
    // The lock of whoever migrates (`MIGRATION_LOCK`).
    sql.batch_execute("SELECT pg_advisory_lock(7203441926)").await.unwrap();
    let starting = quiet(api(&db.url(), &folder).args(["up", "--no-demo"]));
    let waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let began = Instant::now();
    while sql.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        assert!(began.elapsed() < PATIENCE, "nobody waits");
    }
    assert_eq!(terminated(starting).code(), Some(0));
}

/// As of a collector of logs that hangs.
#[tokio::test]
async fn a_log_that_nobody_reads_holds_up_neither_requests_nor_the_end() {
    let service = Service::start().await;
    let (reader, mut others) = std::io::pipe().unwrap();
    let log = others.try_clone().unwrap();
    // Keeps the pipe full, until its reader ends.
    std::thread::spawn(move || others.write_all(&vec![b'\n'; 1 << 20]));
    let address = format!("127.0.0.1:{}", free_port());
    let mut process = service.api(&["serve", "--listen", &address]).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let (began, mut answered) = (Instant::now(), 0);
    while answered < 100 {
        assert!(began.elapsed() < PATIENCE, "{answered} answers");
        let asked = tokio::time::timeout(PATIENCE, reqwest::get(format!("http://{address}/api/v1/health"))).await;
        answered += usize::from(asked.unwrap().is_ok());
    }
    kill(Pid::from_raw(process.id().cast_signed()), Signal::SIGTERM).unwrap();
    let ended = loop {
        if let Some(status) = process.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > 2 * PATIENCE {
            process.kill().unwrap();
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(ended.code(), Some(0));
    drop(reader);
}

fn quiet(command: &mut Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn terminated(mut process: Child) -> ExitStatus {
    kill(Pid::from_raw(process.id().cast_signed()), Signal::SIGTERM).unwrap();
    process.wait().unwrap()
}

#[tokio::test]
async fn a_port_in_use_is_said_with_what_to_do() {
    let service = Service::start().await;
    let output = service.api(&["serve", "--listen", service.process.address()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot listen on") && said.contains("listen"), "{said}");
}

#[tokio::test]
async fn an_unknown_setting_is_refused_with_code_2() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("api.toml"), "rate_limit = 10\n").unwrap();
    let output = api("postgres://nobody@localhost/none", &folder).arg("migrate").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("rate_limit"));
}

/// Whatever is wrong with the configuration, nothing is started or migrated before it is found out.
#[test]
fn a_wrong_configuration_is_refused_with_code_2_before_a_database_is_started() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value, named) in [
        ("DATABASE_URL", "foo", "DATABASE_URL"),
        ("BAS_DATABASE_READ_URL", "postgres://standby/shop", "database_read_url"),
        ("BAS_AI_INSIGHTS_PRICE", "0", "ai_insights_price"),
        ("BAS_LOG", "a=b=c", "log"),
        ("BAS_JOBS_CRON", "daily", "jobs_cron"),
        ("BAS_JOBS_CRON", "0 0 30 2 *", "jobs_cron"),
        ("BAS_LLM_BASE_URL", "http://llm.example.com/v1", "llm_base_url"),
        ("BAS_PAYMENT_GATEWAY_URL", "https://pay.example.com", "payment_gateway_key"),
        ("BAS_GEOIP_DATABASE", "nowhere.mmdb", "geoip_database"),
        ("BAS_TRACK_RETENTION_MONTHS", "0", "track_retention_months"),
        ("BAS_HTTP_WORKERS", "many", "BAS_HTTP_WORKERS"),
    ] {
        let output = api("", &folder).args(["up", "--no-demo"]).env(name, value).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(named), "{name}: {said}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn the_openapi_command_needs_no_database() {
    let folder = tempfile::tempdir().unwrap();
    let printed = run(api("postgres://nobody@127.0.0.1:1/none", &folder).arg("openapi"));
    let document: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
}
