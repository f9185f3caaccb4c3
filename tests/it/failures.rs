//! When the database is not there.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use pgcluster::{Cluster, Options};
use reqwest::Method;
use serde_json::{Value, json};

use crate::service::{Process, Service, api, free_port, run};

const READS: [&str; 10] = [
    "me",
    "credits",
    "customers",
    "integrations",
    "webhooks",
    "insights",
    "anomalies",
    "profit",
    "inventory",
    "reorder",
];

/// An answer is promised within two seconds. The rest is for a busy machine; without a limit it would never come.
const PROMISE: Duration = Duration::from_secs(20);

/// The server's processes: the postmaster, which its file names, and its children.
fn processes(folder: &Path) -> Vec<Pid> {
    let file = std::fs::read_to_string(folder.join("db/data/postmaster.pid")).unwrap();
    let postmaster: i32 = file.lines().next().unwrap().parse().unwrap();
    let children =
        std::fs::read_to_string(format!("/proc/{postmaster}/task/{postmaster}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|pid| pid.parse().ok());
    std::iter::once(postmaster).chain(children).map(Pid::from_raw).collect()
}

async fn assert_unavailable(process: &Process, key: &str) {
    // For less than a second the key is still answered from memory, which is all that /me needs.
    let gone = Instant::now();
    while process.get("/api/v1/me", key).await.status() == 200 {
        assert!(gone.elapsed() < PROMISE, "still answered from memory");
    }
    let mut answers = Vec::new();
    for path in READS {
        let asked = Instant::now();
        let response = process.get(&format!("/api/v1/{path}"), key).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let body: Value = response.json().await.unwrap();
        answers.push((path, status.as_u16(), body["error"].clone(), asked.elapsed()));
        assert_eq!(headers["retry-after"], "5", "{path}");
        assert_eq!(headers["cache-control"], "no-store", "{path}");
    }
    for (path, body) in [("track", json!({"event": "a"})), ("webhooks", json!({"url": "https://example.com/"}))] {
        let asked = Instant::now();
        let response = process.post(&format!("/api/v1/{path}"), key, &body).await;
        let status = response.status().as_u16();
        let body: Value = response.json().await.unwrap();
        answers.push((path, status, body["error"].clone(), asked.elapsed()));
    }
    for (path, status, error, took) in answers {
        assert_eq!((status, error), (503, json!("no_db")), "{path}");
        assert!(took < PROMISE, "{path} took {took:?}");
    }
    let response = process.request(Method::GET, "/api/v1/status").send().await.unwrap();
    assert_eq!((response.status().as_u16(), &response.headers()["cache-control"]), (503, &"no-store".parse().unwrap()));
    let report: Value = response.json().await.unwrap();
    assert_eq!(
        (&report["status"], &report["error"], &report["checks"]["database"]["status"]),
        (&json!("outage"), &json!("no_db"), &json!("down"))
    );
    assert!(report["meta"]["region"].is_string() && report["ts"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_halted_and_a_missing_database_are_answered_with_503_and_a_returned_one_with_rows() {
    let folder = reachable_folder();
    let start = || cluster(folder.path());
    let database = start();
    let url = database.url();
    run(api(&url, &folder).arg("migrate"));
    run(api(&url, &folder).args(["accounts", "create", "--name", "Shop"]));
    let key = run(api(&url, &folder).args(["keys", "create", "--account", "1"])).trim().to_owned();
    let process = Process::start(
        api(&url, &folder)
            .arg("serve")
            .env_remove("BAS_DATABASE_TIMEOUT_MS")
            .env("BAS_RATE_LIMIT_PER_MINUTE", "100000"),
    );
    assert_eq!(process.get("/api/v1/me", &key).await.status(), 200);

    // Halted: connections stay open and nothing answers on them.
    let stopped = processes(folder.path());
    stopped.iter().for_each(|pid| kill(*pid, Signal::SIGSTOP).unwrap());
    assert_unavailable(&process, &key).await;
    stopped.iter().for_each(|pid| kill(*pid, Signal::SIGCONT).unwrap());

    // The receiver is gone.
    database.stop().unwrap();
    assert_unavailable(&process, &key).await;

    let _database = start();
    let back = Instant::now();
    while process.get("/api/v1/customers", &key).await.status() != 200 {
        assert!(back.elapsed() < Duration::from_secs(20), "the service did not find the database again");
    }
}

/// All processes share the database: not to be ready would take the reads away as well.
#[tokio::test]
async fn a_database_that_takes_no_writes_is_told_by_a_metric_and_its_reads_are_answered() {
    if testkit::skip_on_citus("each node has its own settings") {
        return;
    }
    let admin = format!("127.0.0.1:{}", free_port());
    let service = Service::start_with(&[("BAS_ADMIN_LISTEN", &admin), ("BAS_RATE_LIMIT_PER_MINUTE", "100000")]).await;
    let key = service.key(service.account, "read,write");
    let sql = service.db.client().await.unwrap();
    let set = async |setting: &str| {
        let alter = format!("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I {setting}', current_database()); END $$");
        sql.batch_execute(&alter).await.unwrap();
    };
    let write = async || {
        let body = json!({"url": "https://example.com/"});
        service.process.post("/api/v1/webhooks", &key, &body).await.status().as_u16()
    };
    set("SET default_transaction_read_only = on").await;
    let others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    sql.execute(others, &[]).await.unwrap();
    let began = Instant::now();
    loop {
        assert_eq!(write().await, 503);
        let (_, metrics) = service.process.get_from(&admin, "/metrics").await;
        let count = metrics.lines().find_map(|line| line.strip_prefix("database_writes_refused_total "));
        if count.unwrap() != "0" {
            break;
        }
        assert!(began.elapsed() < PROMISE, "{metrics}");
    }
    assert_eq!(service.process.get("/api/v1/customers", &key).await.status(), 200);
    assert_eq!(service.process.get_from(&admin, "/ready").await.0, 200);
    set("RESET default_transaction_read_only").await;
    let back = Instant::now();
    while write().await != 200 {
        assert!(back.elapsed() < PROMISE, "sessions that take no writes are kept");
    }
}

pub fn reachable_folder() -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    tempfile::Builder::new().permissions(std::fs::Permissions::from_mode(0o711)).tempdir().unwrap()
}

/// A cluster of the test's own, started on a thread that lives as long as the process: it ends with its thread.
fn cluster(folder: &Path) -> Cluster {
    let options = Options { root: folder.join("db"), durable: false, max_connections: 50, bin_dir: None };
    let (sender, started) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        sender.send(Cluster::start(&options)).unwrap();
        loop {
            std::thread::park();
        }
    });
    started.recv().unwrap().unwrap()
}
