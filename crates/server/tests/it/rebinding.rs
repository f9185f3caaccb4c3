//! A name that is harmless when it is registered and leads inside later.

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use app::deliveries::{Options, Ports};
use async_trait::async_trait;
use delivery::{
    resolver::Resolver,
    seal::KeyRing,
    sender::{DEADLINE, HttpSender, SenderConfig},
};
use domain::{
    AccountId,
    events::{Event, EventKind, Outbox},
    webhooks::address::AllowList,
};
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::{net::TcpListener, sync::mpsc};

use crate::service::{DATA_KEYS, Service};

/// Answers differently every time: first with nothing, as a name that is new, then with an address inside, then with a
/// public one and one inside.
#[derive(Default)]
struct Turning(AtomicUsize);

#[async_trait]
impl Resolver for Turning {
    async fn resolve(&self, _: AccountId, _: &str) -> io::Result<Vec<IpAddr>> {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => Err(io::ErrorKind::NotFound.into()),
            1 => Ok(vec![[127, 0, 0, 1].into()]),
            _ => Ok(vec![[93, 184, 216, 34].into(), [127, 0, 0, 1].into()]),
        }
    }
}

/// The attempts that the log shows, once it has that number of them.
async fn attempts(service: &Service, key: &str, count: usize) -> Vec<Value> {
    let shown = async {
        loop {
            let log = service.process.json("/api/v1/webhooks/1/deliveries", key).await;
            let made = log["data"][0]["attempts"].as_array().cloned().unwrap_or_default();
            if made.len() >= count {
                return made;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), shown).await.unwrap()
}

#[tokio::test]
async fn a_name_that_turns_inside_is_refused_at_the_attempt_with_the_reason_in_the_log() {
    let service = Service::start().await;
    let key = service.key(service.account, "read,write");
    let trap = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://flip.shop.com:{}/hook", trap.local_addr().unwrap().port());
    let registered = service.process.post("/api/v1/webhooks", &key, &json!({ "url": url })).await;
    assert_eq!(registered.status(), 200);

    let store = service.db.store().unwrap();
    store
        .emit(AccountId(service.account), &[Event::sample(EventKind::CreditsLow)], OffsetDateTime::now_utc())
        .await
        .unwrap();
    let config =
        SenderConfig { deadline: DEADLINE, allow_loopback: AllowList::default(), user_agent: "test".to_owned() };
    let ports = Ports {
        queue: Arc::new(store),
        sender: Arc::new(HttpSender::with_parts(config, Arc::new(Turning::default()), Vec::new()).unwrap()),
        sealer: Arc::new(KeyRing::parse(DATA_KEYS).unwrap()),
        clock: Arc::new(OffsetDateTime::now_utc),
        jitter: Arc::new(|| 0.0),
        trials: Arc::default(),
    };
    let (_announce, announced) = mpsc::channel(1);
    let engine = tokio::spawn(app::deliveries::run(ports, Options::default(), announced, std::future::pending()));
    let sql = service.db.client().await.unwrap();
    for count in 1..=3 {
        let made = attempts(&service, &key, count).await;
        let (error, message) = match count {
            1 => ("name_not_resolved", "the name flip.shop.com does not resolve"),
            _ => ("address_refused", "the name flip.shop.com resolves to an address that is not public (loopback)"),
        };
        let last = &made[count - 1];
        assert_eq!((&last["error"], &last["message"]), (&json!(error), &json!(message)));
        assert_eq!((&last["status"], &last["connect_ms"]), (&Value::Null, &Value::Null));
        // The next attempt is not waited for.
        sql.execute("UPDATE deliveries SET due_at = now() WHERE leased_until IS NULL", &[]).await.unwrap();
    }
    engine.abort();
    // No request has ever arrived.
    let knock = tokio::time::timeout(Duration::from_millis(1), trap.accept()).await;
    assert!(knock.is_err());
    let listed = service.process.json("/api/v1/webhooks", &key).await;
    assert_eq!((&listed["data"][0]["last_status"], &listed["data"][0]["active"]), (&json!(0), &json!(true)));
}
