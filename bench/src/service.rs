//! The service under test: the release binary as a child process.

use std::{
    net::TcpListener,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::Context;
use tokio::{
    process::{Child, Command},
    time::Instant,
};

/// How long the service may take to answer.
const START: Duration = Duration::from_secs(30);

/// Seals the secrets of generated subscriptions, which protect nothing.
pub const DATA_KEYS: &str = "bench:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// A running `api serve`; ends with this value.
pub struct Service {
    child: Child,
    pub base_url: String,
    pub admin_url: String,
    /// The command that started it, for the report.
    pub command: String,
}

impl Service {
    /// Starts the binary on a database, with `environment` in addition to what every run needs.
    ///
    /// # Errors
    /// When it does not start, or does not answer in time.
    pub async fn start(
        binary: &Path,
        arguments: &[&str],
        database_url: &str,
        environment: &[(&str, &str)],
    ) -> anyhow::Result<Self> {
        let (listen, admin) = (free_address()?, free_address()?);
        // The policy of packaging/business-analytics.service.
        let mut command = Command::new("chrt");
        command
            .args(["--batch", "0"])
            .arg(binary)
            .args(arguments)
            .args(["--listen", &listen, "--admin-listen", &admin, "--log", "warn"])
            .env("DATABASE_URL", database_url)
            .env("BAS_DATA_KEYS", DATA_KEYS)
            .env("BAS_RATE_LIMIT_PER_MINUTE", "1000000000")
            .env("BAS_DASHBOARD_LISTEN", "127.0.0.1:0")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true);
        // Ports differ from run to run; the app on a fake platform says nothing.
        let shown = environment.iter().map(|(name, value)| match *name {
            name if ["_CLIENT_ID", "_CLIENT_SECRET", "_USER_AGENT", "_REDIRECT_URL"]
                .iter()
                .any(|end| name.ends_with(end)) =>
            {
                String::new()
            }
            "BAS_DASHBOARD_LISTEN" => String::new(),
            "BAS_WEBHOOK_ALLOW_LOOPBACK" => format!("{name}=… "),
            name if name.ends_with("_BASE_URL") => format!("{name}=… "),
            _ => format!("{name}={value} "),
        });
        let shown: String = shown.collect();
        let child = command.spawn().with_context(|| format!("chrt or {} cannot be run", binary.display()))?;
        let mut service = Self {
            child,
            base_url: format!("http://{listen}"),
            admin_url: format!("http://{admin}"),
            command: format!("{shown}chrt -b 0 api {}", arguments.join(" ")),
        };
        service.wait_until_ready().await?;
        Ok(service)
    }

    async fn wait_until_ready(&mut self) -> anyhow::Result<()> {
        let (began, url) = (Instant::now(), format!("{}/ready", self.admin_url));
        loop {
            if let Some(status) = self.child.try_wait()? {
                anyhow::bail!("the service ended at its start: {status}");
            }
            if reqwest::get(&url).await.is_ok_and(|answer| answer.status().is_success()) {
                return Ok(());
            }
            anyhow::ensure!(began.elapsed() < START, "the service does not answer on {url}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The process.
    ///
    /// # Errors
    /// When it has ended.
    pub fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("the service has ended")
    }

    /// What a request is answered.
    ///
    /// # Errors
    /// When the answer is not a success.
    pub async fn get(&self, path: &str, key: &str) -> anyhow::Result<Vec<u8>> {
        let request = reqwest::Client::new().get(format!("{}{path}", self.base_url)).bearer_auth(key);
        let answer = request.send().await?.error_for_status()?;
        Ok(answer.bytes().await?.to_vec())
    }

    /// Ends the service as an operator would.
    ///
    /// # Errors
    /// When it does not end on its own.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        let pid = self.pid()?.to_string();
        Command::new("kill").args(["-TERM", &pid]).status().await?;
        let ended = tokio::time::timeout(Duration::from_secs(40), self.child.wait()).await;
        ended.context("the service does not end")??;
        Ok(())
    }
}

/// An address of this machine without a listener.
///
/// # Errors
/// When there is none.
pub fn free_address() -> anyhow::Result<String> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string())
}

/// The `api` binary in the folder of this one, unless another is named.
///
/// # Errors
/// When it is not there.
pub fn binary(named: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let path = match named {
        Some(path) => path,
        None => std::env::current_exe()?.with_file_name("api"),
    };
    anyhow::ensure!(path.is_file(), "there is no {}: run `cargo build --release --bin api`", path.display());
    Ok(path)
}
