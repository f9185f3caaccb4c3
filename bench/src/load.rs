//! HTTP load by wrk.

use std::{fmt::Write, path::Path, process::Stdio, time::Duration};

use anyhow::Context;
use serde::Deserialize;
use tokio::process::Command;

/// The share of failures from which on a run says nothing; a run with fewer counts as disturbed.
const FAILED_AT_MOST: f64 = 0.001;

/// What a load generator saw.
#[derive(Debug, Clone, Copy, Default)]
pub struct Load {
    pub per_second: f64,
    /// Requests in all.
    pub requests: f64,
    /// Requests without a good answer among them: a few on a machine that is busy with other things.
    pub failed: f64,
    pub p50_ms: Option<f64>,
    pub p99_ms: Option<f64>,
    /// What the generator itself was late to send, where it says so.
    pub late_p99_ms: Option<f64>,
}

/// Requests that are sent over and over, by keys in turn.
#[derive(Debug, Clone)]
pub struct Wrk {
    pub method: &'static str,
    pub path: String,
    /// Sent with every request.
    pub body: Option<String>,
    pub keys: Vec<String>,
    pub connections: u32,
    pub seconds: u32,
    /// What a client waits before it asks again, in the mean; each time anything from none to twice as long.
    pub think: Option<Duration>,
}

impl Wrk {
    /// A GET with these keys.
    #[must_use]
    pub fn get(path: &str, keys: &[&str], connections: u32, seconds: u32) -> Self {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Self { method: "GET", path: path.to_owned(), body: None, keys, connections, seconds, think: None }
    }

    /// The command as it is written in the report.
    #[must_use]
    pub fn shown(&self) -> String {
        let think = self.think.map(|think| format!(", each after {:.1} ms", ms(think))).unwrap_or_default();
        format!("wrk -t1 -c{} -d{}s {} {}{think}", self.connections, self.seconds, self.method, self.path)
    }

    /// Runs it against the server at `base_url`; the script is kept in `scratch`.
    ///
    /// # Errors
    /// When wrk is missing or an answer was no success.
    pub async fn run(&self, base_url: &str, scratch: &Path) -> anyhow::Result<Load> {
        let script = tempfile::Builder::new().suffix(".lua").tempfile_in(scratch)?;
        std::fs::write(script.path(), self.script())?;
        let output = Command::new("wrk")
            .args(["-t1", "--latency", "--timeout", "10s"])
            .args([format!("-c{}", self.connections), format!("-d{}s", self.seconds)])
            .arg("-s")
            .arg(script.path())
            .arg(format!("{base_url}{}", self.path))
            .stdin(Stdio::null())
            .output()
            .await
            .context("wrk cannot be run: scripts/setup-bench.sh installs it")?;
        anyhow::ensure!(output.status.success(), "wrk: {}", String::from_utf8_lossy(&output.stderr));
        read(&String::from_utf8_lossy(&output.stdout)).with_context(|| self.shown())
    }

    fn script(&self) -> String {
        let mut script = String::from("local requests, at = {}, 0\nlocal keys = {\n");
        for key in &self.keys {
            let _ = writeln!(script, "  \"{key}\",");
        }
        let body = self.body.as_deref().unwrap_or_default();
        let _ = write!(
            script,
            "}}
function init()
  for _, key in ipairs(keys) do
    local headers = {{ [\"Authorization\"] = \"Bearer \" .. key, [\"Content-Type\"] = \"application/json\" }}
    local body = [==[{body}]==]
    if body == \"\" then body = nil; headers[\"Content-Type\"] = nil end
    requests[#requests + 1] = wrk.format(\"{}\", \"{}\", headers, body)
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  print(string.format('{{\"requests\":%d,\"micros\":%d,\"failed\":%d,\"p50\":%d,\"p99\":%d}}',
    summary.requests, summary.duration, failed, latency:percentile(50), latency:percentile(99)))
end
",
            self.method, self.path
        );
        if let Some(think) = self.think {
            let _ = writeln!(script, "function delay()\n  return math.random(0, {:.0})\nend", ms(think) * 2.0);
        }
        script
    }
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// The line that the script prints at the end.
#[derive(Deserialize)]
struct Summary {
    requests: f64,
    micros: f64,
    failed: f64,
    p50: f64,
    p99: f64,
}

fn read(output: &str) -> anyhow::Result<Load> {
    let line = output.lines().rev().find(|line| line.starts_with('{')).context("wrk said nothing")?;
    let Summary { requests, micros, failed, p50, p99 } = serde_json::from_str(line)?;
    anyhow::ensure!(failed <= requests * FAILED_AT_MOST, "{failed} of {requests} requests failed");
    let per_second = requests / (micros / 1e6);
    Ok(Load { per_second, requests, failed, p50_ms: Some(p50 / 1e3), p99_ms: Some(p99 / 1e3), ..Load::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_read() {
        let output = "Running 5s test\n  1 threads\n{\"requests\":1000,\"micros\":2000000,\"failed\":0,\"p50\":800,\"p99\":2500}\n";
        let load = read(output).unwrap();
        assert_eq!((load.per_second, load.p50_ms, load.p99_ms), (500.0, Some(0.8), Some(2.5)));
    }

    #[test]
    fn a_run_with_failures_counts_for_nothing() {
        assert_eq!(read("{\"requests\":1000,\"micros\":1,\"failed\":1,\"p50\":1,\"p99\":1}").unwrap().failed, 1.0);
        assert!(read("{\"requests\":10,\"micros\":1,\"failed\":1,\"p50\":1,\"p99\":1}").is_err());
    }
}
