//! A node of a Citus cluster that is away stops the accounts on it, and no other.

use std::time::{Duration, Instant};

use domain::{
    AccountId, StoreError,
    credits::{CreditAmount, CreditLedger, Debit, DebitError, FeatureName, OperationKey},
    events::{CreditsLow, Outbox},
    jobs::JobName,
};
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Map, Value, json};
use store::{Connect, Store};
use time::OffsetDateTime;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_postgres::Client;

use crate::{
    service::{Process, Service, api, run},
    walk::{Walk, fill},
};

/// Far above what anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Files for every importer, each with rows that are new, and then with some that changed or are gone.
const IMPORTS: [(&str, &str); 9] = [
    ("orders", "order_id,sku,quantity,date,price,customer_id\n2001,MUG,2,2026-03-03 10:00:00,10.50,c1\n"),
    ("orders", "order_id,sku,quantity,date,price,customer_id\n2001,MUG,3,2026-03-03 10:00:00,10.50,c3\n"),
    ("products", "sku,name,cost,cost_date,stock\nMUG,Mug,4,2026-03-01,7\nPEN,Pen,1,2026-03-01,0\n"),
    ("products", "sku,name,cost,cost_date,stock\nMUG,Tall mug,5,2026-03-01,6\n"),
    ("stock", "sku,stock,date\nMUG,3,2026-03-03\n"),
    ("ad-spend", "date,platform,spend\n2026-03-03,meta,12.50\n"),
    ("ad-spend", "date,platform,spend\n2026-03-03,meta,13.50\n"),
    ("expenses", "date,category,amount\n2026-03-03,rent,100\n2026-03-03,rent,200\n"),
    ("expenses", "date,category,amount\n2026-03-03,rent,150\n"),
];

/// Answers every delivery with 200 and says which account's it was, by the path.
async fn receive(listener: TcpListener, received: mpsc::UnboundedSender<String>) {
    while let Ok((stream, _)) = listener.accept().await {
        let received = received.clone();
        tokio::spawn(async move { answer(stream, &received).await });
    }
}

async fn answer(mut stream: TcpStream, received: &mpsc::UnboundedSender<String>) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let path = String::from_utf8(head).ok()?.split(' ').nth(1)?.to_owned();
    received.send(path).ok()?;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await.ok()
}

/// The accounts with the port of the node that each is on.
async fn placed(sql: &Client) -> Vec<(i64, i32)> {
    let query = "SELECT a.id, n.nodeport FROM accounts a, pg_dist_placement p JOIN pg_dist_node n USING (groupid)
        WHERE p.shardid = get_shard_id_for_distribution_column('deliveries', a.id) ORDER BY 1";
    sql.query(query, &[]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// Lets the address of a node lead somewhere else, for this database alone: to a port without a listener, and back.
async fn move_node(sql: &Client, from: i32, to: i32) {
    let moved = sql.execute("UPDATE pg_dist_node SET nodeport = $2 WHERE nodeport = $1", &[&from, &to]).await.unwrap();
    assert_eq!(moved, 1);
}

struct Shop {
    account: i64,
    key: String,
}

impl Shop {
    fn new(service: &Service, account: i64) -> Self {
        Self { account, key: service.key(account, "read,write") }
    }

    async fn subscribe(&self, process: &Process, receiver: &str) {
        let url = format!("http://{receiver}/{}", self.account);
        assert_eq!(process.post("/api/v1/webhooks", &self.key, &json!({ "url": url })).await.status(), 200);
    }

    async fn track(&self, process: &Process) -> u16 {
        process.post("/api/v1/track", &self.key, &json!({ "event": "seen" })).await.status().as_u16()
    }

    /// Something happens that is sent to the subscription.
    async fn emit(&self, store: &Store) -> Result<(), StoreError> {
        let event = CreditsLow { balance: 1, threshold: 100, last_feature: "chat".to_owned(), crossed: false };
        store.emit(AccountId(self.account), &[event.into()], OffsetDateTime::now_utc()).await
    }

    async fn debit(&self, store: &Store, key: &str) -> Result<(), DebitError> {
        let debit = Debit {
            account: AccountId(self.account),
            amount: CreditAmount::new(60).unwrap(),
            feature: FeatureName::new("chat").unwrap(),
            key: OperationKey::new(key).unwrap(),
            meta: Map::new(),
        };
        store.debit(debit, OffsetDateTime::now_utc()).await.map(|_| ())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_away_stops_its_own_accounts_and_no_other() {
    if !testkit::is_citus() {
        eprintln!("SKIPPED without Citus: a node of a cluster is away");
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let receiver = listener.local_addr().unwrap().to_string();
    let (sender, mut received) = mpsc::unbounded_channel();
    tokio::spawn(receive(listener, sender));
    let settings = [("BAS_RATE_LIMIT_PER_MINUTE", "100000"), ("BAS_WEBHOOK_ALLOW_LOOPBACK", receiver.as_str())];
    let service = Service::start_with(&settings).await;
    let sql = service.db.client().await.unwrap();
    let (mine, port) = loop {
        let accounts = placed(&sql).await;
        if let Some((other, port)) = accounts.iter().find(|(_, port)| *port != accounts[0].1) {
            break ([accounts[0].0, *other], *port);
        }
        run(&mut service.api(&["accounts", "create", "--name", "One more"]));
    };
    let [here, away] = mine.map(|account| Shop::new(&service, account));
    // It has done its first round of jobs before there is anything to compute; the next is months away.
    let _worker = Process::start(
        api(&service.db.url(), &service.folder)
            .arg("work")
            .env("BAS_WEBHOOK_ALLOW_LOOPBACK", &receiver)
            .env("BAS_JOBS_CRON", "0 0 1 1 *"),
    );
    let accounts: i64 = sql.query_one("SELECT count(*) FROM accounts", &[]).await.unwrap().get(0);
    let done = "SELECT count(*) FROM job_runs WHERE state = 'done'";
    let jobs = i64::try_from(JobName::ALL.len()).unwrap();
    let began = Instant::now();
    while sql.query_one(done, &[]).await.unwrap().get::<_, i64>(0) < accounts * jobs {
        assert!(began.elapsed() < PATIENCE, "the jobs do not end");
    }
    for shop in [&here, &away] {
        fill(&service.db.url(), &service.folder, shop.account).await;
        shop.subscribe(&service.process, &receiver).await;
        sql.execute("UPDATE credit_balances SET balance = 100 WHERE account_id = $1", &[&shop.account]).await.unwrap();
    }
    let options = testkit::patient();
    let store = Store::connect(&Connect::parse(&service.db.url()).unwrap(), options).unwrap();
    let mut hears = async |shop: &Shop| {
        let path = tokio::time::timeout(PATIENCE, received.recv()).await.expect("no delivery").unwrap();
        assert_eq!(path, format!("/{}", shop.account));
    };
    for shop in [&here, &away] {
        shop.emit(&store).await.unwrap();
        hears(shop).await;
    }

    move_node(&sql, port, 1).await;
    let tracked =
        join_all((0..200).map(|n| if n % 2 == 0 { &here } else { &away }).map(|shop| shop.track(&service.process)));
    for (n, status) in tracked.await.into_iter().enumerate() {
        assert_eq!(status, if n % 2 == 0 { 200 } else { 503 }, "event {n}");
    }
    here.debit(&store, "one").await.unwrap();
    let refused = away.debit(&store, "one").await;
    assert!(matches!(refused, Err(DebitError::Store(StoreError::Unavailable(_)))), "{refused:?}");
    here.emit(&store).await.unwrap();
    assert!(away.emit(&store).await.is_err());
    hears(&here).await;
    hears(&here).await;
    // All that it may ask for, its imports, and its jobs.
    let mut walk = Walk::new(&service.process, &here.key, &receiver).await;
    walk.make_and_read().await;
    walk.remove().await;
    let account = here.account.to_string();
    for (kind, rows) in IMPORTS {
        let file = service.folder.path().join(format!("{kind}.csv"));
        std::fs::write(&file, rows).unwrap();
        let arguments = ["import", kind, file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"];
        run(&mut service.api(&arguments));
        run(&mut service.api(&["jobs", "run", "all", "--account", &account, "--clock", "2026-03-04"]));
    }
    for (method, path, body) in [
        (Method::GET, "customers", Value::Null),
        (Method::GET, "usage", Value::Null),
        (Method::GET, "webhooks", Value::Null),
        (Method::POST, "webhooks", json!({ "url": "https://example.com/" })),
        (Method::POST, "webhooks/1/test", json!({ "event": "credits.low" })),
        (Method::POST, "track/batch", json!({ "events": [{ "event": "seen" }] })),
    ] {
        let request = service.process.request(method, &format!("/api/v1/{path}")).bearer_auth(&away.key);
        let request = if body.is_null() { request } else { request.json(&body) };
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let body: Value = response.json().await.unwrap();
        assert_eq!((status, &body["error"]), (503, &json!("no_db")), "{path}");
    }

    move_node(&sql, 1, port).await;
    let back = Instant::now();
    while away.track(&service.process).await != 200 {
        assert!(back.elapsed() < PATIENCE, "its accounts stay away");
    }
    away.debit(&store, "one").await.unwrap();
}
