//! Nothing is lost and nothing is invented, whichever process is killed: real workers and a real, durable Postgres, both killed
//! with -9 again and again while events keep coming.
//!
//! The run of `make test` is small; `CRASH_EVENTS`, `CRASH_WORKER_KILLS` and `CRASH_DATABASE_KILLS` make it larger.

use std::{
    collections::{HashMap, HashSet},
    process::{Child, Stdio},
    sync::Arc,
    time::Duration,
};

use delivery::seal::KeyRing;
use domain::{
    AccountId, SubscriptionId,
    events::{CreditsLow, Outbox},
    sealing::Sealer,
    webhooks::{secret_binding, signature::Secret},
};
use ring::hmac;
use serde_json::Value;
use store::{Connect, Store};
use time::OffsetDateTime;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::{
    crashes::{account, connect, durable_cluster, kill_database, setting},
    service::{DATA_KEYS, Process, api},
};

/// Far above what any wait here takes.
const PATIENCE: Duration = Duration::from_secs(300);
const ACCOUNTS: i64 = 3;

fn secret() -> Secret {
    Secret::generate([7; 32])
}

/// What came in: per event number the delivery ids, and the ids that were answered 200.
#[derive(Default, Clone)]
struct Received {
    requests: usize,
    ids_by_event: HashMap<i64, HashSet<String>>,
    accepted: HashSet<String>,
}

/// Answers 503 to the first request for every tenth event, and 200 to the others.
async fn receive(listener: TcpListener, received: Arc<watch::Sender<Received>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let received = received.clone();
        let mut stream = BufReader::new(stream);
        tokio::spawn(async move { while serve(&mut stream, &received).await.is_some() {} });
    }
}

async fn serve(stream: &mut BufReader<TcpStream>, received: &watch::Sender<Received>) -> Option<()> {
    let (headers, body) = read_request(stream).await?;
    let id = headers.get("x-svc-delivery-id")?.clone();
    let attempt: u32 = headers.get("x-svc-attempt")?.parse().ok()?;
    verify(&headers, &body);
    let event: Value = serde_json::from_slice(&body).unwrap();
    let number = event["data"]["balance"].as_i64().unwrap();
    let accept = attempt > 1 || number % 10 != 0;
    received.send_modify(|received| {
        received.requests += 1;
        received.ids_by_event.entry(number).or_default().insert(id.clone());
        if accept {
            received.accepted.insert(id);
        }
    });
    let answer = if accept { "200 OK" } else { "503 Service Unavailable" };
    stream.write_all(format!("HTTP/1.1 {answer}\r\ncontent-length: 0\r\n\r\n").as_bytes()).await.ok()
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<(HashMap<String, String>, Vec<u8>)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?;
    let headers: HashMap<_, _> = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    stream.read_exact(&mut body).await.ok()?;
    Some((headers, body))
}

/// The documented scheme, written down a second time.
fn verify(headers: &HashMap<String, String>, body: &[u8]) {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret().expose().strip_prefix("whsec_").unwrap().as_bytes());
    let message = [headers["x-svc-timestamp"].as_bytes(), b".", body].concat();
    let signature: Vec<u8> = headers["x-svc-signature"]
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    hmac::verify(&key, &message, &signature).unwrap();
}

/// A worker process; killed when it is dropped.
struct Worker(Child);

impl Worker {
    fn start(database: &str, folder: &tempfile::TempDir) -> Self {
        let mut command = api(database, folder);
        command.arg("work").env("BAS_WEBHOOK_ALLOW_LOOPBACK", "127.0.0.1").env("BAS_LOG", "warn");
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Accounts with a subscription each to the receiver.
async fn subscribe(url: &str, receiver: &str) -> Vec<AccountId> {
    let client = connect(url).await;
    let keys = KeyRing::parse(DATA_KEYS).unwrap();
    let mut accounts = Vec::new();
    for number in 0..ACCOUNTS {
        let account = account(&client, number as usize).await;
        let binding = secret_binding(account, SubscriptionId(number + 1));
        let sealed = keys.seal(binding, secret().expose().as_bytes()).unwrap();
        client
            .execute(
                "INSERT INTO webhook_subscriptions (account_id, id, url, events, sealed_secret, created_at)
                 VALUES ($1, $2, $3, '{*}', $4, now())",
                &[&account.0, &(number + 1), &receiver, &sealed],
            )
            .await
            .unwrap();
        accounts.push(account);
    }
    accounts
}

/// Emits events in their number's order, over and over until the database takes each. An event whose commit was not
/// heard of may so be there twice, as two events.
async fn emit(store: Store, accounts: Vec<AccountId>, count: usize) {
    for number in 0..count as i64 {
        let account = accounts[number as usize % accounts.len()];
        let event =
            CreditsLow { balance: number, threshold: 100, last_feature: "crash".to_owned(), crossed: false }.into();
        while store.emit(account, std::slice::from_ref(&event), OffsetDateTime::now_utc()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_when_workers_and_the_database_are_killed() {
    let count = setting("CRASH_EVENTS", 200);
    let worker_kills = setting("CRASH_WORKER_KILLS", 3);
    let database_kills = setting("CRASH_DATABASE_KILLS", 1);

    let folder = tempfile::tempdir().unwrap();
    let cluster = durable_cluster(&folder).await;
    let url = cluster.url();
    let target = Connect::parse(&url).unwrap();

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let receiver = format!("http://{}/hook", listener.local_addr().unwrap());
    let received = Arc::new(watch::Sender::new(Received::default()));
    tokio::spawn(receive(listener, received.clone()));
    let accounts = subscribe(&url, &receiver).await;
    let store = Store::connect(&target, testkit::patient()).unwrap();
    let emitting = tokio::spawn(emit(store, accounts, count));

    // A kill each time another part of the events has come in, so most often in the middle of something.
    let kills = worker_kills + database_kills;
    let mut progress = received.subscribe();
    let mut worker = Worker::start(&url, &folder);
    for number in 1..=kills {
        let wanted = number * count / (kills + 1);
        let some = progress.wait_for(|received| received.accepted.len() >= wanted);
        tokio::time::timeout(PATIENCE, some).await.unwrap().unwrap();
        if database_kills > 0 && number % (kills / database_kills) == 0 {
            kill_database(&url).await;
        } else {
            drop(worker);
            worker = Worker::start(&url, &folder);
        }
    }
    tokio::time::timeout(PATIENCE, emitting).await.unwrap().unwrap();
    let client = connect(&url).await;
    let left = async {
        while client
            .query_one("SELECT count(*) FROM deliveries WHERE state <> 'delivered'", &[])
            .await
            .unwrap()
            .get::<_, i64>(0)
            > 0
        {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(PATIENCE, left).await.expect("deliveries were left over");
    drop(worker);

    let rows = client
        .query(
            "SELECT d.id::text, (convert_from(e.body, 'UTF8')::jsonb -> 'data' ->> 'balance')::bigint
             FROM deliveries d JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id",
            &[],
        )
        .await
        .unwrap();
    let received = received.borrow().clone();
    let mut known: HashMap<i64, HashSet<String>> = HashMap::new();
    for row in &rows {
        let (id, number): (String, i64) = (row.get(0), row.get(1));
        assert!(received.accepted.contains(&id), "{id} is recorded as delivered and was never answered 200");
        known.entry(number).or_default().insert(id);
    }
    assert_eq!(known.len(), count, "events that were taken and are gone");
    assert_eq!(received.ids_by_event, known, "received and recorded ids differ");
    let duplicates = received.requests - rows.len() - count.div_ceil(10);
    println!(
        "{count} events, {worker_kills} workers and {database_kills} servers killed: {} deliveries, 0 lost, {duplicates} \
         requests more than needed, all under a known id",
        rows.len()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_send_every_delivery_once() {
    const EVENTS: usize = 300;
    let (db, folder) = (testkit::TestDb::new().await.unwrap(), tempfile::tempdir().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let receiver = format!("http://{}/hook", listener.local_addr().unwrap());
    let received = Arc::new(watch::Sender::new(Received::default()));
    tokio::spawn(receive(listener, received.clone()));
    let accounts = subscribe(&db.url(), &receiver).await;
    // Both are there before there is anything to send, so that they go for it at the same moment.
    let work = || Process::start(api(&db.url(), &folder).arg("work").env("BAS_WEBHOOK_ALLOW_LOOPBACK", "127.0.0.1"));
    let _workers = [(); 2].map(|()| work());
    emit(db.store().unwrap(), accounts, EVENTS).await;
    let mut progress = received.subscribe();
    let all = progress.wait_for(|received| received.accepted.len() >= EVENTS);
    tokio::time::timeout(PATIENCE, all).await.unwrap().unwrap();
    // Every tenth was refused once, and so asked for again.
    let received = received.borrow().clone();
    assert_eq!((received.requests, received.accepted.len()), (EVENTS + EVENTS.div_ceil(10), EVENTS));
    assert!(received.ids_by_event.values().all(|ids| ids.len() == 1));
}
