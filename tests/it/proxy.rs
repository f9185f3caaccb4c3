//! The limits that docs/operations.md leaves to a proxy, with the configuration that it names.

use std::{
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use reqwest::StatusCode;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::service::{Service, free_port};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../packaging/haproxy.cfg");
const PATH: &str = "/api/v1/me";
/// Far above what a start takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// `timeout tarpit` of the configuration.
const TARPIT: Duration = Duration::from_secs(1);

struct Proxy {
    process: Child,
    address: String,
    client: reqwest::Client,
}

impl Proxy {
    /// None where HAProxy is not installed.
    async fn start(service: &Service) -> Option<Self> {
        let program = testkit::program("haproxy")?;
        let address = format!("127.0.0.1:{}", free_port());
        let mut command = Command::new(program);
        command.args(["-db", "-q", "-f", FILE]).env("LISTEN", &address).env("API", service.process.address());
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap();
        let proxy = Self { process, address, client };
        let began = Instant::now();
        while TcpStream::connect(&proxy.address).await.is_err() {
            assert!(began.elapsed() < PATIENCE, "the proxy does not listen");
        }
        Some(proxy)
    }

    /// What a request with the key is answered, and how long that took.
    async fn get(&self, key: &str) -> (StatusCode, Value, Duration) {
        let began = Instant::now();
        let answer = self.client.get(format!("http://{}{PATH}", self.address)).bearer_auth(key).send().await.unwrap();
        let status = answer.status();
        (status, answer.json().await.unwrap(), began.elapsed())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_slows_down_whoever_goes_on_after_refusals_and_nobody_else() {
    let settings = [("BAS_TRUSTED_PROXIES", "127.0.0.1"), ("BAS_RATE_LIMIT_PER_MINUTE", "2")];
    let service = Service::start_with(&settings).await;
    let Some(proxy) = Proxy::start(&service).await else {
        eprintln!("SKIPPED: haproxy is not on this machine");
        return;
    };
    let (over, other) = (service.key(service.account, "read"), service.key(service.account, "read"));
    assert_eq!(proxy.get(&other).await.0, StatusCode::OK);
    for _ in 0..2 {
        assert_eq!(proxy.get(&over).await.0, StatusCode::OK);
    }
    for _ in 0..101 {
        assert_eq!(proxy.get(&over).await.0, StatusCode::TOO_MANY_REQUESTS);
    }
    let (status, said, took) = proxy.get(&over).await;
    assert_eq!((status, said["error"].as_str()), (StatusCode::TOO_MANY_REQUESTS, Some("rate_limit_exceeded")));
    assert!(took >= TARPIT, "{took:?}");
    // The address has had as many refusals, so that keys which were never accepted wait as well.
    let (status, _, took) = proxy.get("svc_live_nothing").await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    assert!(took >= TARPIT, "{took:?}");
    assert_eq!(proxy.get(&other).await.0, StatusCode::OK);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_gives_up_a_head_that_stalls_on_a_kept_connection() {
    let service = Service::start_with(&[("BAS_TRUSTED_PROXIES", "127.0.0.1")]).await;
    let Some(proxy) = Proxy::start(&service).await else {
        eprintln!("SKIPPED: haproxy is not on this machine");
        return;
    };
    let mut stream = TcpStream::connect(&proxy.address).await.unwrap();
    stream
        .write_all(b"GET /api/v1/status HTTP/1.1\r\nHost: x\r\n\r\nGET /api/v1/status HTTP/1.1\r\nX-Half")
        .await
        .unwrap();
    let mut text = String::new();
    tokio::time::timeout(PATIENCE, stream.read_to_string(&mut text)).await.unwrap().unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    assert!(text.contains("HTTP/1.1 408 "), "{text}");
}
