//! One tenant doing its worst within its rate limit: on its live and its sandbox account it fills a delivery log with
//! large answers, replays and resends it, reads it, streams CSV that it does not take in, asks again for what has not
//! changed, sends batches of events and asks for insights. Its receiver answers at once, then hangs.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    time::{MissedTickBehavior, interval, sleep},
};

/// Subscriptions of an account: the limit.
const SUBSCRIPTIONS: usize = 16;
/// Deliveries that are answered at once on a connection, before the receiver hangs.
const ANSWERED_AT_ONCE: u32 = 40;
const HANGS: Duration = Duration::from_secs(8);
/// Bytes of an answer: the most that are kept. In JSON each of them takes six.
const ANSWER: usize = 16 * 1_024;
/// Lists as CSV that an account reads at a time, a byte a second.
const STREAMS: usize = 8;
/// Answers after which it is under way.
const UNDER_WAY: u64 = 60;

/// What an account asks for over and over, each a number of times a minute: below 60 in all, with the two requests that a resend
/// takes, and the 304s, which are free.
const WORST: [(Request, u32); 7] = [
    (Request::Test, 14),
    (Request::Log, 14),
    (Request::Replay, 8),
    (Request::Resend, 6),
    (Request::Batch, 6),
    (Request::Generate, 2),
    (Request::Unchanged, 560),
];

#[derive(Clone, Copy)]
enum Request {
    Test,
    Log,
    Replay,
    Resend,
    Batch,
    Generate,
    Unchanged,
}

/// Starts it; gives the count of answers from which on it is under way.
pub async fn start(base_url: &str, keys: &[&str], receiver: SocketAddr, done: &Arc<AtomicU64>) -> anyhow::Result<u64> {
    let listener = TcpListener::bind(receiver).await?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer_and_hang(stream));
        }
    });
    let client = Client::builder().timeout(Duration::from_secs(60)).build()?;
    for key in keys {
        let account = Arc::new(Account {
            client: client.clone(),
            base_url: base_url.to_owned(),
            key: (*key).to_owned(),
            subscriptions: subscribe(&client, base_url, key, receiver).await?,
            done: done.clone(),
        });
        for (request, per_minute) in WORST {
            let account = account.clone();
            tokio::spawn(async move { account.repeat(request, per_minute).await });
        }
        let address: SocketAddr = base_url.strip_prefix("http://").context("no http:// address")?.parse()?;
        for _ in 0..STREAMS {
            let key = account.key.clone();
            tokio::spawn(async move {
                loop {
                    read_slowly(address, &key).await.ok();
                    sleep(Duration::from_secs(1)).await;
                }
            });
        }
    }
    Ok(UNDER_WAY)
}

/// The account's subscriptions, made where there are none yet.
async fn subscribe(client: &Client, base_url: &str, key: &str, receiver: SocketAddr) -> anyhow::Result<Vec<i64>> {
    let url = format!("{base_url}/api/v1/webhooks");
    for number in 0..SUBSCRIPTIONS {
        let body = json!({ "url": format!("http://{receiver}/{number}") });
        client.post(&url).bearer_auth(key).json(&body).send().await?;
    }
    let listed: Value = client.get(format!("{url}?limit=100")).bearer_auth(key).send().await?.json().await?;
    let rows = listed.get("data").and_then(Value::as_array).into_iter().flatten();
    let ids: Vec<i64> = rows.filter_map(|row| row.get("id")?.as_i64()).collect();
    // A server that does nothing has none.
    Ok(if ids.is_empty() { (1..=16).collect() } else { ids })
}

struct Account {
    client: Client,
    base_url: String,
    key: String,
    subscriptions: Vec<i64>,
    done: Arc<AtomicU64>,
}

impl Account {
    /// Sends a request at its rate, whether the one before has been answered or not.
    async fn repeat(self: Arc<Self>, request: Request, per_minute: u32) {
        let mut pace = interval(Duration::from_secs(60) / per_minute);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut number = 0;
        loop {
            pace.tick().await;
            number += 1;
            let account = self.clone();
            tokio::spawn(async move {
                if account.ask(request, number).await.is_ok() {
                    account.done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    }

    async fn ask(&self, request: Request, number: usize) -> anyhow::Result<()> {
        let id = self.subscriptions.get(number % self.subscriptions.len()).context("no subscription")?;
        let sent = match request {
            Request::Test => self.request(Method::POST, &format!("webhooks/{id}/test")).body("{}"),
            Request::Log => self.request(Method::GET, &format!("webhooks/{id}/deliveries?limit=100")),
            Request::Replay => self
                .request(Method::POST, &format!("webhooks/{id}/replay"))
                .json(&json!({ "since": "2026-01-01T00:00:00Z", "status": ["delivered", "failed"] })),
            Request::Resend => {
                let log = self.request(Method::GET, &format!("webhooks/{id}/deliveries?limit=1")).send().await?;
                let log: Value = log.json().await?;
                let delivery = log.pointer("/data/0/id").and_then(Value::as_str).unwrap_or("0").to_owned();
                self.request(Method::POST, &format!("webhooks/{id}/deliveries/{delivery}/resend"))
            }
            Request::Batch => {
                let event = json!({ "event": "view", "props": { "page": "x".repeat(1_900) } });
                self.request(Method::POST, "track/batch").json(&json!({ "events": vec![event; 500] }))
            }
            Request::Generate => self.request(Method::POST, "insights/generate"),
            Request::Unchanged => {
                self.request(Method::GET, "inventory?limit=500").header("if-none-match", "\"other\", *")
            }
        };
        sent.send().await?.bytes().await?;
        Ok(())
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}/api/v1/{path}", self.base_url)).bearer_auth(&self.key)
    }
}

/// Asks for every customer and reads a byte a second.
async fn read_slowly(address: SocketAddr, key: &str) -> anyhow::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4_096)?;
    let mut stream = socket.connect(address).await?;
    let head = format!(
        "GET /api/v1/customers?format=csv HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer {key}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    let mut byte = [0];
    while stream.read(&mut byte).await? > 0 {
        sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

async fn answer_and_hang(mut stream: TcpStream) -> anyhow::Result<()> {
    let answer =
        [format!("HTTP/1.1 200 OK\r\ncontent-length: {ANSWER}\r\n\r\n").into_bytes(), vec![1; ANSWER]].concat();
    let mut buffer = Vec::new();
    for number in 0.. {
        buffer.clear();
        while !is_whole(&buffer) {
            anyhow::ensure!(stream.read_buf(&mut buffer).await? > 0, "the connection ended");
        }
        if number >= ANSWERED_AT_ONCE {
            sleep(HANGS).await;
        }
        stream.write_all(&answer).await?;
    }
    Ok(())
}

/// Whether a request is there with its body; deliveries are not pipelined.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(head) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let text = String::from_utf8_lossy(bytes.get(..head).unwrap_or_default()).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
    bytes.len() >= head + 4 + length.and_then(|length| length.parse().ok()).unwrap_or(0)
}
