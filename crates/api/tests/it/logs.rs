//! What is written about a request, and what is not.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, OnceLock},
};

use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{BOTH, Service, bearer, key, state};

/// All that the process logs, of all tests.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn lines() -> Lines {
    static LINES: OnceLock<Lines> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let lines = Lines::default();
        tracing_subscriber::fmt().json().with_writer(lines.clone()).init();
        lines
    });
    lines.clone()
}

/// The lines about the request `id`.
fn about(lines: &Lines, id: &str) -> Vec<Value> {
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    text.lines().filter(|line| line.contains(id)).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn one_line_a_request_with_ids_and_without_secrets() {
    let lines = lines();
    let service = Service::start(state());
    let answer = service.get_with("/api/v1/me?email=ana%40example.com", BOTH, &[("X-Request-Id", "log-test-1")]);
    assert_eq!(answer.status, 200);
    let found = about(&lines, "log-test-1");
    assert_eq!(found.len(), 1);
    let fields = &found[0]["fields"];
    assert_eq!(
        (&fields["method"], &fields["route"], &fields["status"]),
        (&"GET".into(), &"/api/v1/me".into(), &200.into())
    );
    assert_eq!((&fields["account_id"], &fields["bytes"]), (&7.into(), &answer.body.len().into()));
    assert!(fields["ms"].is_number());
    let text = found[0].to_string();
    assert!(!text.contains("ana") && !text.contains(key(BOTH).expose()), "{text}");
}

#[test]
fn a_path_made_up_by_a_stranger_is_not_logged() {
    let lines = lines();
    let service = Service::start(state());
    service.send("GET", "/secret-path", &[("X-Request-Id", "log-test-2")], None);
    service.send(
        "POST",
        "/api/v1/track",
        &[("X-Request-Id", "log-test-3"), ("Authorization", &bearer(BOTH))],
        Some(b"{\"event\":\"my secret\"}"),
    );
    let stranger = about(&lines, "log-test-2");
    assert_eq!(stranger[0]["fields"]["route"], "unmatched");
    assert!(stranger[0]["fields"].get("account_id").is_none_or(Value::is_null));
    let refused = about(&lines, "log-test-3").remove(0);
    assert_eq!((&refused["fields"]["status"], &refused["fields"]["error"]), (&400.into(), &"invalid_event".into()));
    assert!(refused["fields"].get("cause").is_none());
    assert!(!refused.to_string().contains("secret"));
}
