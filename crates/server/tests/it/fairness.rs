//! What one tenant does within its rate limit, others do not notice: its receivers hang, its streams are not read, its
//! log is full of large answers, and others are answered and get their deliveries nevertheless.

use std::{sync::Arc, time::Duration};

use domain::{
    AccountId,
    events::{CreditsLow, Outbox},
};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use store::Store;
use time::OffsetDateTime;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::service::{Process, Service, api};

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(120);
/// Deliveries under way at once of one account: an eighth of all.
const SHARE: usize = 64;
/// Subscriptions of an account, up to the limit. This number of deliveries of each is answered at once, for which a
/// receiver is given more and more at a time, and as many are not answered: more than all places.
const SUBSCRIPTIONS: usize = 16;
const ANSWERED_AT_ONCE: usize = 40;

/// What the receiver of the tests has seen.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Requests that are waiting for their answer, and the most there have been at a time.
    held: usize,
    most_held: usize,
    answered: usize,
    /// Requests for the account that behaves.
    of_others: usize,
}

/// Answers that number at once and then none; what comes to `/others` is always answered.
async fn receive(listener: TcpListener, at_once: usize, seen: Arc<watch::Sender<Seen>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let seen = seen.clone();
        let mut stream = BufReader::new(stream);
        tokio::spawn(async move { while serve(&mut stream, at_once, &seen).await.is_some() {} });
    }
}

async fn serve(stream: &mut BufReader<TcpStream>, at_once: usize, seen: &watch::Sender<Seen>) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
    stream.read_exact(&mut vec![0; length]).await.ok()?;
    let mut hangs = false;
    seen.send_modify(|seen| {
        if head.starts_with("POST /others") {
            seen.of_others += 1;
        } else if seen.answered < at_once {
            seen.answered += 1;
        } else {
            hangs = true;
            seen.held += 1;
            seen.most_held = seen.most_held.max(seen.held);
        }
    });
    if hangs {
        // Until the service gives up and closes the connection.
        let _ = stream.read_u8().await;
        seen.send_modify(|seen| seen.held -= 1);
        return None;
    }
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.ok()
}

async fn subscribe(service: &Service, key: &str, url: &str) {
    let created =
        service.process.post("/api/v1/webhooks", key, &json!({ "url": url, "events": ["credits.low"] })).await;
    assert_eq!(created.status(), 200, "{:?}", created.text().await);
}

/// Events of which each subscription of the account gets one.
async fn emit(store: &Store, account: i64, count: usize) {
    let event =
        |balance| CreditsLow { balance, threshold: 100, last_feature: "test".to_owned(), crossed: false }.into();
    let events: Vec<_> = (0..i64::try_from(count).unwrap()).map(event).collect();
    store.emit(AccountId(account), &events, OffsetDateTime::now_utc()).await.unwrap();
}

async fn until(seen: &watch::Sender<Seen>, holds: impl FnMut(&Seen) -> bool) -> Seen {
    let mut progress = seen.subscribe();
    *tokio::time::timeout(PATIENCE, progress.wait_for(holds)).await.expect("it never came to that").unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_whose_receivers_all_hang_does_not_keep_deliveries_of_others_waiting() {
    let service =
        Service::start_with(&[("BAS_RATE_LIMIT_PER_MINUTE", "100000"), ("BAS_WEBHOOK_ALLOW_LOOPBACK", "127.0.0.1")])
            .await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let receiver = format!("http://{}", listener.local_addr().unwrap());
    // A user's live account and its sandbox, and a shop of another user.
    let misbehaving = [service.account, service.account + 1];
    let seen = Arc::new(watch::Sender::new(Seen::default()));
    let at_once = misbehaving.len() * SUBSCRIPTIONS * ANSWERED_AT_ONCE;
    tokio::spawn(receive(listener, at_once, seen.clone()));
    for account in misbehaving {
        let key = service.key(account, "read,write");
        for number in 0..SUBSCRIPTIONS {
            subscribe(&service, &key, &format!("{receiver}/{number}")).await;
        }
    }
    subscribe(&service, &service.key(service.stranger, "read,write"), &format!("{receiver}/others")).await;
    let store = service.db.store().unwrap();
    for account in misbehaving {
        emit(&store, account, 2 * ANSWERED_AT_ONCE).await;
    }
    let mut work = api(&service.db.url(), &service.folder);
    let _worker = Process::start(work.arg("work").env("BAS_WEBHOOK_ALLOW_LOOPBACK", "127.0.0.1"));

    until(&seen, |seen| seen.held >= misbehaving.len() * SHARE).await;
    for sent in 1..=5 {
        emit(&store, service.stranger, 1).await;
        let now = until(&seen, |seen| seen.of_others == sent).await;
        assert!(now.most_held <= misbehaving.len() * SHARE, "{} deliveries of one user under way", now.most_held);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_that_does_not_read_its_streams_does_not_keep_others_from_an_answer() {
    let settings = [("BAS_RATE_LIMIT_PER_MINUTE", "100000"), ("BAS_DATABASE_POOL", "4"), ("BAS_HTTP_WORKERS", "1")];
    let service = Service::start_with(&settings).await;
    let sql = service.db.client().await.unwrap();
    // More than the buffers of a connection hold.
    let customers = "INSERT INTO customers (account_id, source, external_id, email, name, created_at)
        SELECT $1, 'shopify', n::text, repeat('a', 200) || n || '@example.com', repeat('n', 200), now()
        FROM generate_series(1, 20000) AS n";
    sql.execute(customers, &[&service.account]).await.unwrap();
    let (mine, theirs) = (service.key(service.account, "read"), service.key(service.stranger, "read"));
    let streams = join_all((0..32).map(|_| service.process.get("/api/v1/customers?format=csv", &mine))).await;
    // None of them is read. Those that were refused say why, and when to come back.
    let refused: Vec<_> = streams.iter().filter(|answer| answer.status() != 200).collect();
    assert!(!refused.is_empty() && refused.len() < streams.len());
    for answer in refused {
        assert_eq!((answer.status().as_u16(), answer.headers().contains_key("retry-after")), (503, true));
    }
    for path in ["customers", "profit", "webhooks", "inventory", "credits", "me"] {
        assert_eq!(service.process.get(&format!("/api/v1/{path}"), &theirs).await.status(), 200, "{path}");
    }
    assert_eq!(
        service.process.get("/api/v1/customers?format=csv", &theirs).await.text().await.unwrap().lines().count(),
        1
    );
    drop(streams);
}

#[tokio::test]
async fn a_tenant_that_asks_for_what_has_not_changed_is_refused_and_others_are_not() {
    let service = Service::start_with(&[("BAS_RATE_LIMIT_PER_MINUTE", "10")]).await;
    let (mine, theirs) = (service.key(service.account, "read"), service.key(service.stranger, "read"));
    let tag = service.process.get("/api/v1/me", &mine).await.headers()["etag"].clone();
    let mut statuses = Vec::new();
    for _ in 0..110 {
        let request = service.process.request(Method::GET, "/api/v1/me").bearer_auth(&mine);
        statuses.push(request.header("if-none-match", &tag).send().await.unwrap().status().as_u16());
    }
    let unchanged = statuses.iter().take_while(|status| **status == 304).count();
    assert_eq!(unchanged, 100, "ten times the limit are free");
    assert!(statuses[unchanged..].iter().all(|status| *status == 429), "{statuses:?}");
    let profile: Value = service.process.json("/api/v1/me", &theirs).await;
    assert_eq!(profile["profile"]["currency"], "EUR");
}
