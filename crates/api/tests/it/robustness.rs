//! What clients and handlers do that they should not: stall, vanish, send too much, panic.

use std::{
    io::Write,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use api::{Settings, State};
use async_trait::async_trait;
use domain::{
    AccountId, StoreError, TrackingEventId,
    credits::MockCreditLedger,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    tracking::{EventStore, MockEventStore, NewEvent, Refusal},
};
use rstest::rstest;
use time::OffsetDateTime;

use crate::support::{BOTH, Service, bearer, read_answer, state};

#[test]
fn a_panic_ends_its_own_request_with_500() {
    // A mock without expectations panics when it is called.
    let service = Service::start(State { credits: Arc::new(MockCreditLedger::new()), ..state() });
    for _ in 0..3 {
        let answer = service.get("/api/v1/credits", BOTH);
        assert_eq!(answer.error(), (500, "internal_error".into()));
        assert!(answer.header("x-request-id").is_some() && answer.header("x-ratelimit-remaining").is_some());
        assert!(!answer.text().contains("MockCreditLedger"));
    }
    assert_eq!(service.get("/api/v1/me", BOTH).status, 200);
}

#[test]
fn a_panic_in_a_write_is_500_too() {
    let service = Service::start(State { events: Arc::new(MockEventStore::new()), ..state() });
    assert_eq!(service.post("/api/v1/track", "{\"event\":\"a\"}").error(), (500, "internal_error".into()));
}

#[rstest]
#[case::declared(70_000, true)]
#[case::declared_much(5_000_000, true)]
#[case::chunked(70_000, false)]
#[case::chunked_much(2_000_000, false)]
fn a_body_that_is_too_large_is_413(#[case] bytes: usize, #[case] declared: bool) {
    let service = Service::start(state());
    let framing = if declared { format!("Content-Length: {bytes}") } else { "Transfer-Encoding: chunked".to_owned() };
    let head = format!(
        "POST /api/v1/track HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: {}\r\n{framing}\r\n\r\n",
        bearer(BOTH)
    );
    let mut stream = service.connect();
    stream.write_all(head.as_bytes()).unwrap();
    let body = vec![b' '; bytes];
    let sent = if declared {
        stream.write_all(&body)
    } else {
        body.chunks(10_000).try_for_each(|chunk| {
            stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes())?;
            stream.write_all(chunk)?;
            stream.write_all(b"\r\n")
        })
    };
    // The service may stop reading, but not without having answered.
    drop(sent);
    assert_eq!(read_answer(&mut stream, false).error(), (413, "payload_too_large".into()));
}

#[test]
fn a_body_of_exactly_the_limit_is_read() {
    let service = Service::start(state());
    let body = format!("{{\"event\":\"a b\"{}}}", " ".repeat(65_536 - 15));
    assert_eq!(body.len(), 65_536);
    assert_eq!(service.post("/api/v1/track", &body).error(), (400, "invalid_event".into()));
    assert_eq!(service.post("/api/v1/track", &format!("{body} ")).error(), (413, "payload_too_large".into()));
}

/// The HTTP library counts from a clock that it reads every half second, so a shorter one may be over at once.
const SHORT_HEAD_TIMEOUT: Duration = Duration::from_secs(1);

#[test]
fn a_head_that_stalls_is_408_and_the_next_connection_is_served() {
    let settings = Settings { head_timeout: SHORT_HEAD_TIMEOUT, ..Settings::default() };
    let service = Service::start(State { settings, ..state() });
    let mut stream = service.connect();
    stream.write_all(b"GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX-Half").unwrap();
    let answer = read_answer(&mut stream, false);
    assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
    // And nothing after it.
    assert_eq!(std::io::Read::read(&mut stream, &mut [0]).unwrap(), 0);
    assert_eq!(service.get("/api/v1/me", BOTH).status, 200);
}

#[test]
fn a_connection_that_has_asked_once_may_wait_longer_than_a_head() {
    let settings = Settings { head_timeout: SHORT_HEAD_TIMEOUT, ..Settings::default() };
    let service = Service::start(State { settings, ..state() });
    let request = format!("GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\n\r\n", bearer(BOTH));
    let mut stream = service.connect();
    stream.write_all(request.as_bytes()).unwrap();
    assert_eq!(read_answer(&mut stream, false).status, 200);
    // One that came later is over by now, and so would be this one.
    let mut silent = service.connect();
    assert_eq!(read_answer(&mut silent, false).status, 408);
    stream.write_all(request.as_bytes()).unwrap();
    assert_eq!(read_answer(&mut stream, false).status, 200);
}

#[test]
fn a_body_that_stalls_is_408() {
    let settings = Settings { body_timeout: Duration::from_millis(300), ..Settings::default() };
    let service = Service::start(State { settings, ..state() });
    let mut stream = service.connect();
    let head = format!(
        "POST /api/v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\nContent-Length: 13\r\n\r\n{{\"event\"",
        bearer(BOTH)
    );
    stream.write_all(head.as_bytes()).unwrap();
    let answer = read_answer(&mut stream, false);
    assert_eq!(answer.error(), (408, "request_timeout".into()));
    assert_eq!(answer.header("connection"), Some("close"));
}

#[test]
fn a_broken_chunk_is_400() {
    let service = Service::start(state());
    let request = format!(
        "POST /api/v1/track HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: {}\r\nTransfer-Encoding: chunked\r\n\r\n\
         ffffffffffffffffff\r\n{{\"event\":\"a\"}}\r\n0\r\n\r\n",
        bearer(BOTH)
    );
    assert_eq!(service.raw(request.as_bytes(), false).status, 400);
}

#[test]
fn a_body_that_nobody_reads_leaves_the_connection_in_step() {
    let service = Service::start(state());
    let mut stream = service.connect();
    let authorization = bearer(BOTH);
    let first = format!(
        "POST /api/v1/nothing HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\nContent-Length: 39\r\n\r\n"
    );
    let hidden = "GET /api/v1/hidden HTTP/1.1\r\nHost: x\r\n\r\n";
    stream.write_all(first.as_bytes()).unwrap();
    stream.write_all(&hidden.as_bytes()[..39]).unwrap();
    assert_eq!(read_answer(&mut stream, false).error(), (404, "not_found".into()));
    let second =
        format!("GET /api/v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: {authorization}\r\n\r\n");
    // Either the connection is closed or the next request is answered; the hidden one never is.
    if stream.write_all(second.as_bytes()).is_ok() {
        let mut rest = Vec::new();
        let _ = std::io::Read::read_to_end(&mut stream, &mut rest);
        let rest = String::from_utf8_lossy(&rest);
        assert!(rest.is_empty() || rest.contains("\"user_id\"") || rest.starts_with("HTTP/1.1 400"), "{rest}");
        assert!(!rest.contains("401"), "{rest}");
    }
}

/// Stores an event as soon as it is told to.
struct Waiting {
    reached: Mutex<mpsc::Sender<()>>,
    go: tokio::sync::Semaphore,
    done: Mutex<mpsc::Sender<()>>,
}

#[async_trait]
impl EventStore for Waiting {
    async fn insert(
        &self,
        _: AccountId,
        _: NewEvent,
        _: Option<IdempotencyKey>,
    ) -> Result<Idempotent<TrackingEventId>, IdempotencyError> {
        self.reached.lock().unwrap().send(()).unwrap();
        self.go.acquire().await.unwrap().forget();
        self.done.lock().unwrap().send(()).unwrap();
        Ok(Idempotent { value: TrackingEventId(1), replayed: false })
    }

    async fn stored_under(
        &self,
        _: AccountId,
        _: &IdempotencyKey,
        _: OffsetDateTime,
    ) -> Result<Option<Vec<Result<TrackingEventId, Refusal>>>, IdempotencyError> {
        unreachable!("the event has no key")
    }

    async fn insert_batch(
        &self,
        _: AccountId,
        _: Vec<Result<NewEvent, Refusal>>,
        _: Option<IdempotencyKey>,
        _: OffsetDateTime,
    ) -> Result<Idempotent<Vec<Result<TrackingEventId, Refusal>>>, IdempotencyError> {
        unreachable!("one event is sent")
    }

    async fn insert_many(&self, _: AccountId, _: Vec<NewEvent>) -> Result<(), StoreError> {
        unreachable!("the endpoint stores one event")
    }

    async fn latest(&self, _: AccountId) -> Result<Option<OffsetDateTime>, StoreError> {
        unreachable!("the endpoint reads no event")
    }
}

#[test]
fn a_write_is_done_even_when_its_client_has_gone() {
    let (reached, was_reached) = mpsc::channel();
    let (done, was_done) = mpsc::channel();
    let events =
        Arc::new(Waiting { reached: Mutex::new(reached), go: tokio::sync::Semaphore::new(0), done: Mutex::new(done) });
    let service = Service::start(State { events: Arc::clone(&events) as Arc<dyn EventStore>, ..state() });
    let mut stream = service.connect();
    let token = bearer(BOTH);
    let requests = format!(
        "GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n\r\n\
         POST /api/v1/track HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\nContent-Length: 13\r\n\r\n{{\"event\":\"a\"}}"
    );
    stream.write_all(requests.as_bytes()).unwrap();
    was_reached.recv_timeout(Duration::from_secs(10)).unwrap();
    // A connection that is closed with something unread is reset, which the service notices at once.
    assert!(stream.peek(&mut [0]).unwrap() > 0);
    drop(stream);
    // The one worker answers others, so it has seen the connection end; only then may the write go on.
    for _ in 0..5 {
        assert_eq!(service.get("/api/v1/me", BOTH).status, 200);
    }
    events.go.add_permits(1);
    was_done.recv_timeout(Duration::from_secs(10)).unwrap();
}

#[test]
fn many_requests_share_a_connection() {
    let service = Service::start(state());
    let mut stream = service.connect();
    for _ in 0..5 {
        let request = format!("GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: {}\r\n\r\n", bearer(BOTH));
        stream.write_all(request.as_bytes()).unwrap();
        assert_eq!(read_answer(&mut stream, false).status, 200);
    }
}
