//! A running service, its keys, and a client for it.

use std::{
    io::{BufRead, BufReader},
    net::TcpListener,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicU16, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use reqwest::{Method, Response};
use serde_json::Value;
use tempfile::TempDir;
use testkit::TestDb;
use time::{Date, OffsetDateTime};

/// Far above what a start takes on a busy machine, with the demo shop too; a service that does not start fails its test here.
const START_WITHIN: Duration = Duration::from_secs(300);

/// The time zone of the tests' accounts and of the stand-ins of their platforms, whose clocks may go before, and the day that it
/// is there. Midnight is two hours away at least, so that it is the same day until the tests are over.
static CLOCK: LazyLock<(&str, Date)> = LazyLock::new(|| {
    let now = OffsetDateTime::now_utc();
    if (1..19).contains(&now.hour()) {
        ("Europe/Madrid", now.date())
    } else {
        ("America/Argentina/Buenos_Aires", (now - time::Duration::hours(3)).date())
    }
});

/// The time zone of the tests' accounts.
pub fn zone() -> &'static str {
    CLOCK.0
}

/// The current day of the tests' accounts.
pub fn today() -> Date {
    CLOCK.1
}

/// 32 bytes of zeros, which seal nothing of value.
pub const DATA_KEYS: &str = "test:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// The binary with an environment of its own; `database` is its address.
pub fn api(database: &str, folder: &TempDir) -> Command {
    let mut command = Command::new(crate::API);
    command
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("DATABASE_URL", database)
        .env("BAS_DATA_KEYS", DATA_KEYS)
        // Only who tests what comes of a database that does not answer is to see it.
        .env("BAS_DATABASE_TIMEOUT_MS", "60000")
        .env("BAS_LISTEN", "127.0.0.1:0")
        .env("BAS_ADMIN_LISTEN", "127.0.0.1:0")
        .env("BAS_DASHBOARD_LISTEN", "127.0.0.1:0");
    command
}

/// Runs a command to its end and gives what it printed. Fails when the command does.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A process that serves HTTP.
pub struct Process {
    child: Child,
    address: String,
    /// The line of its log that says it is ready.
    said: Value,
    /// The lines that it has logged since.
    log: Mutex<mpsc::Receiver<String>>,
    client: reqwest::Client,
}

impl Process {
    /// Starts the command and waits until it says where it listens.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, said) = mpsc::channel();
        let (logged, log) = mpsc::channel();
        thread::spawn(move || {
            let mut log = String::new();
            for line in lines.map_while(Result::ok) {
                if let Ok(entry) = serde_json::from_str::<Value>(&line)
                    && entry["message"] == "ready"
                {
                    let _ = sender.send(Ok(entry));
                }
                log.push_str(&line);
                log.push('\n');
                let _ = logged.send(line);
            }
            let _ = sender.send(Err(log));
        });
        let said: Value = said.recv_timeout(START_WITHIN).unwrap().unwrap();
        let address = said["address"].as_str().unwrap_or_default().to_owned();
        // Only plain HTTP is spoken here, but the client requires a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap();
        Self { child, address, said, log: Mutex::new(log), client }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn said(&self) -> &Value {
        &self.said
    }

    /// Waits for a line of the log; those before it are gone.
    pub fn line(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        self.lines_until(wanted).pop().and_then(|line| serde_json::from_str(&line).ok()).unwrap()
    }

    /// The lines of the log that nobody has taken yet, up to one that is waited for.
    pub fn lines_until(&self, wanted: impl Fn(&Value) -> bool) -> Vec<String> {
        let log = self.log.lock().unwrap();
        let mut lines = Vec::new();
        loop {
            let line = log.recv_timeout(START_WITHIN).expect("there is no such line");
            let is_last = serde_json::from_str(&line).is_ok_and(|line| wanted(&line));
            lines.push(line);
            if is_last {
                return lines;
            }
        }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    pub fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    pub async fn get(&self, path: &str, key: &str) -> Response {
        self.request(Method::GET, path).bearer_auth(key).send().await.unwrap()
    }

    /// What another listener of the process says, such as that for operators.
    pub async fn get_from(&self, address: &str, path: &str) -> (u16, String) {
        let response = self.client.get(format!("http://{address}{path}")).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    }

    pub async fn json(&self, path: &str, key: &str) -> Value {
        let response = self.get(path, key).await;
        assert_eq!(response.status(), 200, "{path}");
        response.json().await.unwrap()
    }

    pub async fn post(&self, path: &str, key: &str, body: &Value) -> Response {
        self.request(Method::POST, path).bearer_auth(key).json(body).send().await.unwrap()
    }

    /// Waits until it ends on its own.
    pub fn ended(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// Sends the signal and waits for the end.
    pub fn end(mut self, signal: Signal) -> ExitStatus {
        kill(self.pid(), signal).unwrap();
        self.child.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A service on a database of its own, with two shops in it.
pub struct Service {
    pub process: Process,
    pub db: TestDb,
    pub folder: TempDir,
    /// The shop that a test works with, and another whose rows must never show.
    pub account: i64,
    pub stranger: i64,
}

impl Service {
    pub async fn start() -> Self {
        Self::start_with(&[("BAS_RATE_LIMIT_PER_MINUTE", "100000")]).await
    }

    pub async fn start_with(settings: &[(&str, &str)]) -> Self {
        Self::start_as(&["serve"], settings).await
    }

    /// With another command than `serve`.
    pub async fn start_as(command: &[&str], settings: &[(&str, &str)]) -> Self {
        let db = TestDb::new().await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [account, stranger] = ["Shop", "Stranger"].map(|name| create_account(&db, &folder, name));
        let process = Process::start(api(&db.url(), &folder).args(command).envs(settings.iter().copied()));
        Self { process, db, folder, account, stranger }
    }

    /// A command of the same binary on the same database.
    pub fn api(&self, arguments: &[&str]) -> Command {
        let mut command = api(&self.db.url(), &self.folder);
        command.args(arguments);
        command
    }

    /// A key of the account.
    pub fn key(&self, account: i64, scopes: &str) -> String {
        run(&mut self.api(&["keys", "create", "--account", &account.to_string(), "--scopes", scopes])).trim().to_owned()
    }
}

fn create_account(db: &TestDb, folder: &TempDir, name: &str) -> i64 {
    let arguments = ["accounts", "create", "--name", name, "--currency", "EUR", "--timezone", zone(), "--json"];
    let printed: Value = serde_json::from_str(&run(api(&db.url(), folder).args(arguments))).unwrap();
    printed[0]["id"].as_i64().unwrap()
}

/// A port without a listener, another one each time. It is below those that the system gives to connections, so that
/// none of them takes it while its process is being started again.
pub fn free_port() -> u16 {
    static TRIED: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 8_000).unwrap();
    loop {
        let port = 16_000 + first.wrapping_add(TRIED.fetch_add(1, Ordering::Relaxed)) % 16_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
