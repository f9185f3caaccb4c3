//! A server with mocked ports, and a client that sends exactly the bytes it is told to.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, mpsc},
    time::Duration,
};

use api::{Settings, State, rate_limit::InMemory};
use app::{
    ai::InsightTextGenerator,
    deliveries::Ports,
    shops::{self, Connectors, connect::ConnectService},
    social::profiles::ProfileService,
    status::StatusPages,
};
use domain::{
    AccountId, IntegrationId, KeyId, UserId,
    accounts::{MockAccountStore, Mode, Plan, Platform, Profile},
    ads::MockAdStore,
    ai::{MockAiAccess, MockAiRuns},
    alerts::MockAlertStore,
    anomalies::MockAnomalyStore,
    as_of::MockAsOfStore,
    creatives::MockCreativeStore,
    credits::{MockCreditLedger, MockTransactionLog, auto_topup::MockAutoTopupStore},
    customers::MockCustomerStore,
    freshness::{Dated, Freshness, Newest, Source},
    health::{MockHealth, Schema},
    idempotency::MockAnswerStore,
    incidents::MockIncidentStore,
    insights::MockInsightStore,
    integrations::{BuyerData, Fact, Integration, MockIntegrationStore},
    inventory::MockInventoryStore,
    jobs::JobName,
    keys::{ApiKey, KeyRecord, MockKeyStore, Scope},
    metric_days::MockMetricDayStore,
    positions::RecentWrites,
    profit::MockProfitStore,
    reorder::MockReorderStore,
    risks::MockRiskStore,
    sealing::MockSealer,
    shops::{
        authorizations::MockAuthorizationStore,
        connections::MockConnectionStore,
        inbox::MockInbox,
        sync::{MockSyncRunStore, MockSyncStore},
        tokens::MockTokenStore,
    },
    social::{
        conversations::MockConversationStore,
        profiles::MockProfileConnections,
        replies::{MockHookLog, MockProfileStore},
        settings::MockSettingsStore,
        templates::MockTemplateStore,
    },
    tracking::{Geolocator, Location, MockEventStore},
    uptime::MockProbeStore,
    usage::MockUsageStore,
    webhooks::{
        MockWebhookStore, attempt::MockSender, delivery::MockDeliveryQueue, log::MockDeliveryLog,
        replay::MockReplayStore, settings::MockWebhookSettings,
    },
};
use serde_json::{Value, json};
use time::{
    OffsetDateTime,
    macros::{date, datetime},
};

/// What the service's clock shows.
pub const NOW: OffsetDateTime = datetime!(2026-05-02 12:00:30.5 UTC);
/// The account of every key here.
pub const ACCOUNT: AccountId = AccountId(7);

/// The key numbered `n`, always the same.
pub fn key(n: u8) -> ApiKey {
    ApiKey::generate(Mode::Live, (0..=u8::MAX).cycle().map(move |i| i.wrapping_mul(31).wrapping_add(n)))
}

pub fn bearer(n: u8) -> String {
    format!("Bearer {}", key(n).expose())
}

pub const BOTH: u8 = 1;
pub const READ: u8 = 2;
pub const WRITE: u8 = 3;
pub const REVOKED: u8 = 4;
pub const EXPIRED: u8 = 5;
pub const UNKNOWN: u8 = 6;

/// The stored key numbered `n`.
pub fn record(n: u8) -> Option<KeyRecord> {
    let scopes = match n {
        READ => vec![Scope::Read],
        WRITE => vec![Scope::Write],
        UNKNOWN => return None,
        _ => vec![Scope::Read, Scope::Write],
    };
    Some(KeyRecord {
        id: KeyId(n.into()),
        hash: key(n).hash(),
        account_id: ACCOUNT,
        user_id: "user_0123456789abcdefghijABCD".parse::<UserId>().unwrap(),
        mode: Mode::Live,
        profile: Profile {
            plan: Plan::Pro,
            currency: "BRL".parse().unwrap(),
            timezone: "America/Sao_Paulo".parse().unwrap(),
            locale: domain::texts::Locale::ENGLISH,
            created_at: datetime!(2026-01-15 09:30:00.25 UTC),
        },
        name: "test".into(),
        prefix: key(n).display_prefix().into(),
        scopes,
        created_at: datetime!(2026-01-15 09:30 UTC),
        expires_at: [REVOKED, EXPIRED].contains(&n).then_some(NOW),
        revoked_at: (n == REVOKED).then_some(NOW),
        last_used_at: None,
        made_by: None,
    })
}

/// A key store that knows the keys above.
pub fn keys() -> MockKeyStore {
    let mut keys = MockKeyStore::new();
    keys.expect_known_id().returning(|hash| (BOTH..UNKNOWN).find(|n| key(*n).hash() == hash).map(|n| KeyId(n.into())));
    keys.expect_find().returning(|hash| Ok((BOTH..=UNKNOWN).find(|n| key(*n).hash() == hash).and_then(record)));
    // Those that are refused are not used.
    keys.expect_note_use().withf(|hash, _| (BOTH..REVOKED).any(|n| key(n).hash() == *hash)).return_const(());
    keys
}

/// How fresh the figures of every job are here.
pub fn freshness(job: JobName) -> Freshness {
    let orders = Newest::At(datetime!(2026-05-02 11:00 UTC));
    let ad_spend = Newest::Day(date!(2026 - 05 - 01));
    let sources = vec![(Source::Orders, Some(orders)), (Source::AdSpend, Some(ad_spend)), (Source::Refunds, None)];
    Freshness { job, as_of: Some(NOW), sources }
}

pub fn dated<T>(job: JobName, found: T) -> Dated<T> {
    Dated { found, freshness: freshness(job) }
}

/// [`freshness`] as it is shown: the account's days begin at 03:00 UTC.
pub fn shown_freshness(job: &str) -> Value {
    json!({
        "as_of": "2026-05-02T12:00:30Z", "job": job, "sources": [
            {"source": "orders", "last_at": "2026-05-02T11:00:00Z"},
            {"source": "ad_spend", "last_at": "2026-05-01T03:00:00Z"},
            {"source": "refunds", "last_at": null}
        ]
    })
}

/// Knows one address.
pub struct Atlas;

/// Counts the writes that it is told of.
#[derive(Default)]
pub struct Writes(pub std::sync::atomic::AtomicUsize);

#[async_trait::async_trait]
impl RecentWrites for Writes {
    async fn note(&self, account: AccountId) {
        assert_eq!(account, ACCOUNT);
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}
impl Geolocator for Atlas {
    fn locate(&self, address: std::net::IpAddr) -> Location {
        if address.to_string() == "203.0.113.9" {
            Location { country: Some("BR".into()), region: Some("SP".into()), city: Some("Santos".into()) }
        } else {
            Location::default()
        }
    }
}

/// A database that answers after such a time, and whose schema is such.
pub fn health(latency: Duration, schema: Schema) -> Arc<MockHealth> {
    let mut health = MockHealth::new();
    health.expect_ping().returning(move || Ok(latency));
    health.expect_schema().returning(move || Ok(schema.clone()));
    Arc::new(health)
}

/// Ports of which only the key store and the database's health answer; every other call fails the request.
pub fn state() -> State {
    State {
        keys: Arc::new(keys()),
        health: health(Duration::from_micros(400), Schema::Current),
        status: Arc::new(StatusPages::new(Arc::new(MockProbeStore::new()), Arc::new(MockIncidentStore::new()))),
        credits: Arc::new(MockCreditLedger::new()),
        transactions: Arc::new(MockTransactionLog::new()),
        auto_topup: Arc::new(MockAutoTopupStore::new()),
        usage: Arc::new(MockUsageStore::new()),
        ai_access: Arc::new(MockAiAccess::new()),
        prices: Arc::default(),
        payment_service: None,
        customers: Arc::new(MockCustomerStore::new()),
        integrations: Arc::new(MockIntegrationStore::new()),
        shops: ConnectService { ports: shop_ports(), redirect_uri: "https://dashboard.example/callback".to_owned() },
        sync_runs: Arc::new(MockSyncRunStore::new()),
        inbox: Arc::new(MockInbox::new()),
        webhooks: Arc::new(MockWebhookStore::new()),
        webhook_settings: Arc::new(MockWebhookSettings::new()),
        delivery_log: Arc::new(MockDeliveryLog::new()),
        replays: Arc::new(MockReplayStore::new()),
        deliveries: Ports {
            queue: Arc::new(MockDeliveryQueue::new()),
            sender: Arc::new(MockSender::new()),
            sealer: Arc::new(MockSealer::new()),
            clock: Arc::new(|| NOW),
            jitter: Arc::new(|| 0.0),
            trials: Arc::default(),
        },
        insights: Arc::new(MockInsightStore::new()),
        vote_price: Some(domain::credits::CreditAmount::new(1).unwrap()),
        text_generator: InsightTextGenerator {
            runs: Arc::new(MockAiRuns::new()),
            model: None,
            price: domain::credits::CreditAmount::new(5).unwrap(),
        },
        events: Arc::new(MockEventStore::new()),
        anomalies: Arc::new(MockAnomalyStore::new()),
        metric_days: Arc::new(MockMetricDayStore::new()),
        profit: Arc::new(MockProfitStore::new()),
        inventory: Arc::new(MockInventoryStore::new()),
        reorder: Arc::new(MockReorderStore::new()),
        risks: Arc::new(MockRiskStore::new()),
        ads: Arc::new(MockAdStore::new()),
        creatives: Arc::new(MockCreativeStore::new()),
        as_of: Arc::new(MockAsOfStore::new()),
        alerts: Arc::new(MockAlertStore::new()),
        answers: Arc::new(no_answers()),
        conversations: Arc::new(MockConversationStore::new()),
        reply_templates: Arc::new(MockTemplateStore::new()),
        social_settings: Arc::new(MockSettingsStore::new()),
        social_app: None,
        social_hooks: Arc::new(MockHookLog::new()),
        profiles: ProfileService {
            ports: shop_ports(),
            connections: Arc::new(MockProfileConnections::new()),
            profiles: Arc::new(MockProfileStore::new()),
            networks: None,
            redirect_uri: "https://dashboard.example/callback".to_owned(),
        },
        geolocator: Arc::new(Atlas),
        sealer: Arc::new(MockSealer::new()),
        limiter: Arc::new(InMemory::default()),
        writes: Arc::new(Writes::default()),
        clock: || NOW,
        settings: Settings {
            region: "eu-test".into(),
            env: "test".into(),
            commit: "abc1234".into(),
            ..Settings::default()
        },
    }
}

/// The connection numbered `id`.
pub fn integration(id: i64) -> Integration {
    Integration {
        id: IntegrationId(id),
        provider: Platform::Shopify,
        shop: "demo.myshopify.com".to_owned(),
        scopes: vec!["read_orders".to_owned()],
        connected_at: datetime!(2026-01-15 09:31:12 UTC),
        revoked_at: None,
        last_sync_at: None,
        missing_scopes: vec![],
        history_from: None,
        backfilled_from: Some(datetime!(2025-03-01 0:00 UTC)),
        buyer_data: BuyerData::Full,
        last_error: None,
        suspended: false,
        owner_of: vec![Fact::Stock],
        revoke_reason: None,
    }
}

/// Keeps no answer.
fn no_answers() -> MockAnswerStore {
    let mut answers = MockAnswerStore::new();
    answers.expect_keep().returning(|_, _, _| Ok(()));
    answers.expect_kept().returning(|_, _| Ok(None));
    answers
}

/// No platform, and ports of which none answers.
pub fn shop_ports() -> shops::Ports {
    shops::Ports {
        connectors: Connectors::default(),
        accounts: Arc::new(MockAccountStore::new()),
        integrations: Arc::new(MockIntegrationStore::new()),
        authorizations: Arc::new(MockAuthorizationStore::new()),
        connections: Arc::new(MockConnectionStore::new()),
        tokens: Arc::new(MockTokenStore::new()),
        syncs: Arc::new(MockSyncStore::new()),
        answers: Arc::new(MockAnswerStore::new()),
        sealer: Arc::new(MockSealer::new()),
        clock: Arc::new(|| NOW),
    }
}

/// Ports of which none answers: a request that asks the database, be it for a key, fails.
pub fn without_database() -> State {
    State { keys: Arc::new(MockKeyStore::new()), health: Arc::new(MockHealth::new()), ..state() }
}

/// A running server.
#[derive(Clone, Copy)]
pub struct Service(pub SocketAddr);

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The body ended as it should, not by a broken connection.
    pub complete: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    /// Status and code of an error.
    pub fn error(&self) -> (u16, String) {
        (self.status, self.json()["error"].as_str().unwrap_or("none").to_owned())
    }
}

impl Service {
    pub fn start(state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (ready, started) = mpsc::channel();
        std::thread::spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = api::server(state, |state| state, listener, 1).unwrap();
                ready.send(()).unwrap();
                server.await.unwrap();
            });
        });
        started.recv().unwrap();
        Self(address)
    }

    pub fn connect(self) -> TcpStream {
        let stream = TcpStream::connect(self.0).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends bytes and reads the one answer.
    pub fn raw(self, bytes: &[u8], head_only: bool) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        read_answer(&mut stream, head_only)
    }

    pub fn send(self, method: &str, target: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Answer {
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.0);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = body {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        let bytes = [head.as_bytes(), b"\r\n", body.unwrap_or_default()].concat();
        self.raw(&bytes, method == "HEAD")
    }

    pub fn get(self, target: &str, n: u8) -> Answer {
        self.get_with(target, n, &[])
    }

    pub fn get_with(self, target: &str, n: u8, headers: &[(&str, &str)]) -> Answer {
        let token = bearer(n);
        let all = [&[("Authorization", token.as_str())], headers].concat();
        self.send("GET", target, &all, None)
    }

    pub fn post(self, target: &str, body: &str) -> Answer {
        self.post_with(target, body, &[("Content-Type", "application/json")])
    }

    pub fn post_with(self, target: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        let token = bearer(BOTH);
        let all = [&[("Authorization", token.as_str())], headers].concat();
        self.send("POST", target, &all, Some(body.as_bytes()))
    }
}

/// Reads one answer by its framing.
pub fn read_answer(stream: &mut TcpStream, head_only: bool) -> Answer {
    let mut buffer = Vec::new();
    let head_end = loop {
        if let Some(end) = find(&buffer, b"\r\n\r\n") {
            break end;
        }
        assert!(fill(stream, &mut buffer), "the connection ended in the head: {:?}", String::from_utf8_lossy(&buffer));
    };
    let head = String::from_utf8(buffer[..head_end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(':').unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut answer = Answer { status, headers, body: Vec::new(), complete: true };
    let mut rest = buffer.split_off(head_end + 4);
    if head_only || status == 204 || status == 304 {
        // What follows, if anything, does not belong there.
        while fill(stream, &mut rest) {}
        answer.body = rest;
    } else if answer.header("transfer-encoding") == Some("chunked") {
        (answer.body, answer.complete) = read_chunks(stream, rest);
    } else {
        let length: usize = answer.header("content-length").unwrap().parse().unwrap();
        while rest.len() < length && fill(stream, &mut rest) {}
        answer.complete = rest.len() >= length;
        rest.truncate(length);
        answer.body = rest;
    }
    answer
}

fn read_chunks(stream: &mut TcpStream, mut rest: Vec<u8>) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    loop {
        let Some(end) = find(&rest, b"\r\n") else {
            if fill(stream, &mut rest) {
                continue;
            }
            return (body, false);
        };
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        while rest.len() < end + 2 + size + 2 {
            if !fill(stream, &mut rest) {
                return (body, false);
            }
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest.drain(..end + 2 + size + 2);
        if size == 0 {
            return (body, true);
        }
    }
}

fn fill(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> bool {
    let mut chunk = [0; 16_384];
    match stream.read(&mut chunk) {
        Ok(0) | Err(_) => false,
        Ok(n) => {
            buffer.extend_from_slice(&chunk[..n]);
            true
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
