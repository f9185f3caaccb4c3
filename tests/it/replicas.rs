//! Two `api serve` and two `api work` behind HAProxy, with the counters in Redis.

use std::{
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use base64::Engine;
use nix::sys::signal::Signal;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{Redis, TestDb};

use crate::service::{Process, Service, api, free_port, run};

const PATIENCE: Duration = Duration::from_secs(60);
/// Jobs of an account.
const JOBS: i64 = 8;
/// Seconds that a replica goes on answering after its signal: longer than the proxy takes to notice.
const DRAIN: &str = "5";

#[derive(Clone, Copy)]
struct Ports {
    api: u16,
    admin: u16,
}

struct Proxy {
    process: Child,
    address: String,
    statistics: String,
    client: Client,
    _folder: TempDir,
}

impl Proxy {
    /// The configuration of docs/scaling.md, with this test's ports and shorter intervals.
    fn start(replicas: &[Ports]) -> Option<Self> {
        let program = testkit::program("haproxy")?;
        let (folder, port, statistics) = (tempfile::tempdir().unwrap(), free_port(), free_port());
        let servers: String = replicas
            .iter()
            .enumerate()
            .map(|(n, Ports { api, admin })| format!("    server replica{n} 127.0.0.1:{api} check port {admin}\n"))
            .collect();
        let settings = format!(
            "defaults\n    mode http\n    timeout connect 30s\n    timeout client 30s\n    timeout server 30s\n    \
             timeout check 30s\n    retries 3\n    retry-on conn-failure empty-response\n    option redispatch\n\
             frontend statistics\n    bind 127.0.0.1:{statistics}\n    stats enable\n    stats uri /\n\
             frontend in\n    bind 127.0.0.1:{port}\n    option forwardfor\n    default_backend api\n\
             backend api\n    balance roundrobin\n    option httpchk GET /ready\n    \
             default-server inter 200ms fall 2 rise 1\n{servers}"
        );
        let file = folder.path().join("haproxy.cfg");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(program);
        command.arg("-db").arg("-f").arg(file).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().unwrap();
        // Only plain HTTP is spoken here, but the client requires a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap();
        let [address, statistics] = [port, statistics].map(|port| format!("http://127.0.0.1:{port}"));
        Some(Self { process, address, statistics, client, _folder: folder })
    }

    fn request(&self, method: Method, path: &str, key: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("{}{path}", self.address)).bearer_auth(key)
    }

    /// Waits until the proxy sends requests to every replica.
    async fn settled(&self, key: &str) {
        let began = Instant::now();
        let mut in_a_row = 0;
        while in_a_row < 20 {
            let answer = self.request(Method::GET, "/api/v1/me", key).send().await;
            let is_answered = answer.is_ok_and(|answer| answer.status() == 200);
            in_a_row = if is_answered && self.up().await == 2 { in_a_row + 1 } else { 0 };
            assert!(began.elapsed() < PATIENCE, "the proxy finds no replica");
        }
    }

    /// The replicas whose health checks succeed.
    async fn up(&self) -> usize {
        let Ok(answer) = self.client.get(format!("{}/;csv", self.statistics)).send().await else { return 0 };
        let lines = answer.text().await.unwrap();
        lines.lines().filter(|line| line.starts_with("api,replica") && line.contains(",UP,")).count()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The replicas and what they share. A service of the usual kind makes accounts and keys.
struct Fleet {
    proxy: Proxy,
    replicas: [Option<Process>; 2],
    ports: [Ports; 2],
    redis: Redis,
    service: Service,
    folder: TempDir,
    limit: &'static str,
}

impl Fleet {
    /// None where a server that it needs is not installed.
    async fn start(limit: &'static str) -> Option<Self> {
        let redis = Redis::start().unwrap()?;
        let ports = [0, 1].map(|_| Ports { api: free_port(), admin: free_port() });
        let proxy = Proxy::start(&ports)?;
        let (service, folder) = (Service::start().await, tempfile::tempdir().unwrap());
        let mut fleet = Self { proxy, replicas: [None, None], ports, redis, service, folder, limit };
        fleet.replicas = [Some(fleet.serve(0)), Some(fleet.serve(1))];
        Some(fleet)
    }

    fn command(&self, role: &str) -> Command {
        let mut command = api(&self.service.db.url(), &self.folder);
        command.arg(role).env("REDIS_URL", self.redis.url());
        command
    }

    fn serve(&self, n: usize) -> Process {
        let Ports { api, admin } = self.ports[n];
        Process::start(
            self.command("serve")
                .env("BAS_LISTEN", format!("127.0.0.1:{api}"))
                .env("BAS_ADMIN_LISTEN", format!("127.0.0.1:{admin}"))
                .env("BAS_TRUSTED_PROXIES", "127.0.0.1/32")
                .env("BAS_RATE_LIMIT_PER_MINUTE", self.limit)
                .env("BAS_DRAIN_SECONDS", DRAIN),
        )
    }

    fn key(&self) -> String {
        self.service.key(self.service.account, "read,write")
    }

    async fn count(&self, query: &str) -> i64 {
        self.service.db.client().await.unwrap().query_one(query, &[]).await.unwrap().get(0)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rolling_restart_fails_no_request_and_loses_no_write() {
    let Some(mut fleet) = Fleet::start("1000000").await else { return };
    let key = fleet.key();
    fleet.proxy.settled(&key).await;
    let (stop, written) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let clients: Vec<_> = (0..8).map(|n| tokio::spawn(keep_asking(n, &fleet.proxy, &key, &stop, &written))).collect();
    for n in [0, 1] {
        let before = written.load(Ordering::SeqCst);
        let process = fleet.replicas[n].take().unwrap();
        let ended = tokio::task::spawn_blocking(|| process.end(Signal::SIGTERM)).await.unwrap();
        assert_eq!(ended.code(), Some(0));
        fleet.replicas[n] = Some(fleet.serve(n));
        let began = Instant::now();
        // The other is not stopped before this one is seen to be back.
        while !found(&fleet.proxy.client, fleet.ports[n]).await || written.load(Ordering::SeqCst) < before + 50 {
            assert!(began.elapsed() < PATIENCE, "no progress");
            tokio::task::yield_now().await;
        }
        fleet.proxy.settled(&key).await;
    }
    stop.store(true, Ordering::SeqCst);
    for client in clients {
        assert_eq!(client.await.unwrap(), Vec::<String>::new());
    }
    let stored = fleet.count("SELECT count(*) FROM track_events").await;
    assert_eq!(usize::try_from(stored).unwrap(), written.load(Ordering::SeqCst));
}

async fn found(client: &Client, ports: Ports) -> bool {
    let answer = client.get(format!("http://127.0.0.1:{}/ready", ports.admin)).send().await;
    answer.is_ok_and(|answer| answer.status() == 200)
}

/// Reads and writes by turns until stopped. Gives what went wrong.
fn keep_asking(
    n: usize,
    proxy: &Proxy,
    key: &str,
    stop: &Arc<AtomicBool>,
    written: &Arc<AtomicUsize>,
) -> impl Future<Output = Vec<String>> + use<> {
    let (client, key, stop, written) = (proxy.client.clone(), key.to_owned(), stop.clone(), written.clone());
    let address = proxy.address.clone();
    async move {
        let mut faults = Vec::new();
        while !stop.load(Ordering::SeqCst) {
            let read = client.get(format!("{address}/api/v1/customers")).bearer_auth(&key).send().await;
            let write = client.post(format!("{address}/api/v1/track")).bearer_auth(&key);
            let write = write.json(&json!({"event": format!("client_{n}")})).send().await;
            for (what, answer) in [("read", read), ("write", write)] {
                match answer.map(|answer| answer.status()) {
                    Ok(StatusCode::OK) if what == "write" => drop(written.fetch_add(1, Ordering::SeqCst)),
                    Ok(StatusCode::OK) => {}
                    other => faults.push(format!("{what}: {other:?}")),
                }
            }
        }
        faults
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_the_idempotency_and_a_revocation_hold_over_all_replicas() {
    let Some(fleet) = Fleet::start("60").await else { return };
    let (first, second) = (fleet.key(), fleet.key());
    // Found by a key of its own, whose requests count as well.
    fleet.proxy.settled(&fleet.key()).await;

    let burst = (0..61).map(|_| fleet.proxy.request(Method::GET, "/api/v1/me", &first).send());
    let answers = futures_util::future::join_all(burst).await;
    let statuses: Vec<u16> = answers.into_iter().map(|answer| answer.unwrap().status().as_u16()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 60, "{statuses:?}");

    let same = (0..20).map(|_| {
        let request = fleet.proxy.request(Method::POST, "/api/v1/track", &second).header("Idempotency-Key", "once");
        request.json(&json!({"event": "once"})).send()
    });
    let mut ids = Vec::new();
    for answer in futures_util::future::join_all(same).await {
        let answer = answer.unwrap();
        // 409: another replica is at work under the same name.
        if answer.status() != 409 {
            assert_eq!(answer.status(), 200);
            ids.push(answer.json::<Value>().await.unwrap()["event_id"].clone());
        }
    }
    ids.dedup();
    assert_eq!((ids.len(), fleet.count("SELECT count(*) FROM track_events").await), (1, 1));

    let account = fleet.service.account.to_string();
    let id = fleet.count("SELECT max(id) - 1 FROM api_keys").await;
    run(&mut fleet.service.api(&["keys", "revoke", &id.to_string(), "--account", &account]));
    let revoked = Instant::now();
    let mut refused = 0;
    while refused < 4 {
        let answer = fleet.proxy.request(Method::GET, "/api/v1/me", &second).send().await.unwrap();
        // In turn, so four in a row are two of each replica.
        refused = if answer.status() == 401 { refused + 1 } else { 0 };
        assert!(revoked.elapsed() < Duration::from_secs(20), "still answered");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_run_every_job_once() {
    let service = Service::start().await;
    let folder = tempfile::tempdir().unwrap();
    let workers = [0, 1].map(|_| Process::start(api(&service.db.url(), &folder).arg("work")));
    let sql = service.db.client().await.unwrap();
    let accounts: i64 = sql.query_one("SELECT count(*) FROM accounts", &[]).await.unwrap().get(0);
    let began = Instant::now();
    loop {
        let done = "SELECT count(*) FROM job_runs WHERE state = 'done'";
        if sql.query_one(done, &[]).await.unwrap().get::<_, i64>(0) == accounts * JOBS {
            break;
        }
        if began.elapsed() > PATIENCE {
            let left = "SELECT string_agg(concat_ws(' ', account_id, job, as_of, state, error), ', ') FROM job_runs";
            let left: Option<String> = sql.query_one(left, &[]).await.unwrap().get(0);
            panic!("the jobs do not end: {}", left.unwrap_or_default());
        }
        tokio::task::yield_now().await;
    }
    for worker in workers {
        assert_eq!(worker.end(Signal::SIGTERM).code(), Some(0));
    }
    let again: i64 = sql.query_one("SELECT count(*) FROM job_runs WHERE claim <> 1", &[]).await.unwrap().get(0);
    assert_eq!(again, 0, "a job was run twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn five_replicas_that_migrate_at_once_do_it_once() {
    if testkit::skip_on_citus("the schema is made before it is distributed") {
        return;
    }
    let db = TestDb::new().await.unwrap();
    let sql = db.client().await.unwrap();
    sql.batch_execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let started: Vec<Child> =
        (0..5).map(|_| api(&db.url(), &folder).arg("migrate").stdout(Stdio::piped()).spawn().unwrap()).collect();
    let said: Vec<String> = started
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            String::from_utf8(output.stdout).unwrap()
        })
        .collect();
    assert_eq!(said.iter().filter(|said| said.starts_with("Migrated: ")).count(), 1, "{said:?}");
    assert_eq!(said.iter().filter(|said| said.trim() == "The schema is up to date.").count(), 4, "{said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_count_together_over_tls_with_a_password() {
    let certificates = tempfile::tempdir().unwrap();
    let place = |name: &str| certificates.path().join(name).display().to_string();
    let authority = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let pem = |label: &str, der: &[u8]| {
        format!(
            "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
            base64::engine::general_purpose::STANDARD.encode(der)
        )
    };
    std::fs::write(place("cert.pem"), pem("CERTIFICATE", authority.cert.der())).unwrap();
    std::fs::write(place("key.pem"), pem("PRIVATE KEY", &authority.signing_key.serialize_der())).unwrap();
    let port = free_port().to_string();
    let (certificate, key) = (place("cert.pem"), place("key.pem"));
    let settings = [
        &["--requirepass", "open sesame", "--tls-port", &port, "--tls-auth-clients", "no"][..],
        &["--tls-cert-file", &certificate, "--tls-key-file", &key],
    ];
    let Some(_redis) = Redis::start_with(&settings.concat()).unwrap() else { return };

    let (service, folder) = (Service::start().await, tempfile::tempdir().unwrap());
    let serve = |password: &str| {
        let url = format!("rediss://:{password}@localhost:{port}/0");
        Process::start(
            api(&service.db.url(), &folder)
                .arg("serve")
                .env("REDIS_URL", url)
                .env("SSL_CERT_FILE", &certificate)
                .env("BAS_RATE_LIMIT_PER_MINUTE", "1"),
        )
    };
    let key = service.key(service.account, "read");
    let status = async |replica: &Process| replica.get("/api/v1/me", &key).await.status().as_u16();
    let [one, other] = ["open%20sesame", "open%20sesame"].map(serve);
    assert_eq!((status(&one).await, status(&other).await), (200, 429));
    // With a password that does not open it, the process counts alone.
    let apart = serve("wrong");
    assert_eq!((status(&apart).await, status(&apart).await), (200, 429));
}
