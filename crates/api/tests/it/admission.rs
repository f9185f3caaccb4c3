//! Who is let in, in which order it is checked, and what every answer carries.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

use api::{Settings, State};
use domain::{
    KeyId, StoreError,
    idempotency::Idempotent,
    keys::{KeyStore, MockKeyStore},
};
use futures_util::FutureExt;
use rstest::rstest;

use crate::support::{Answer, BOTH, EXPIRED, READ, REVOKED, Service, UNKNOWN, WRITE, bearer, key, keys, state};

fn assert_framed(answer: &Answer) {
    let number = |name: &str| answer.header(name).and_then(|value| value.parse::<u32>().ok());
    assert!(answer.header("x-request-id").is_some_and(|id| (8..=64).contains(&id.len())), "{answer:?}");
    assert!(number("x-ratelimit-limit").is_some() && number("x-ratelimit-remaining").is_some(), "{answer:?}");
    assert!(number("x-ratelimit-reset").is_some_and(|seconds| (1..=60).contains(&seconds)), "{answer:?}");
}

#[rstest]
#[case::none(None, "missing_authorization")]
#[case::empty(Some(""), "invalid_token_format")]
#[case::scheme_alone(Some("Bearer"), "invalid_token_format")]
#[case::no_token(Some("Bearer "), "invalid_token_format")]
#[case::basic(Some("Basic svc_live_x"), "invalid_token_format")]
#[case::prefix(Some("Bearer sk_live_0123456789"), "invalid_token_format")]
#[case::case_of_prefix(Some("Bearer SVC_LIVE_0123456789"), "invalid_token_format")]
#[case::checksum(Some("Bearer svc_live_%00%0a"), "key_not_found")]
#[case::token_alone(Some("svc_live_x"), "invalid_token_format")]
fn a_request_without_a_valid_key_is_401(#[case] value: Option<&str>, #[case] code: &str) {
    let headers: Vec<(&str, &str)> = value.iter().map(|value| ("Authorization", *value)).collect();
    let service = Service::start(state());
    for path in ["/api/v1/me", "/api/v1/nothing", "/"] {
        let answer = service.send("GET", path, &headers, None);
        assert_eq!(answer.error(), (401, code.to_owned()));
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.json()["request_id"].as_str(), answer.header("x-request-id"));
        assert_framed(&answer);
    }
}

#[rstest]
#[case::a_browser("GET", "/", Some("text/html,application/xhtml+xml,*/*;q=0.8"), true)]
#[case::its_head("HEAD", "/", Some("text/html"), true)]
#[case::anything("GET", "/", Some("*/*"), false)]
#[case::a_client("GET", "/", Some("application/json"), false)]
#[case::nothing("GET", "/", None, false)]
#[case::a_change("POST", "/", Some("text/html"), false)]
#[case::elsewhere("GET", "/api/v1/me", Some("text/html"), false)]
fn a_browser_that_opens_the_api_is_sent_to_the_dashboard(
    #[case] method: &str,
    #[case] path: &str,
    #[case] accept: Option<&str>,
    #[case] sent: bool,
) {
    let dashboard = Some("https://shop.example.com/".to_owned());
    let settings = Settings { dashboard, ..Settings::default() };
    let service = Service::start(State { settings, ..state() });
    let headers: Vec<_> = accept.iter().map(|accept| ("Accept", *accept)).collect();
    let answer = service.send(method, path, &headers, None);
    let expected = if sent { (302, Some("https://shop.example.com/")) } else { (401, None) };
    assert_eq!((answer.status, answer.header("location")), expected);
    assert_framed(&answer);
    // Who has no dashboard sends nobody there.
    assert_eq!(Service::start(state()).send(method, path, &headers, None).status, 401);
}

#[rstest]
#[case(REVOKED, "key_revoked")]
#[case(EXPIRED, "key_expired")]
#[case(UNKNOWN, "key_not_found")]
fn a_key_that_is_not_valid_is_401(#[case] n: u8, #[case] code: &str) {
    assert_eq!(Service::start(state()).get("/api/v1/me", n).error(), (401, code.to_owned()));
}

#[test]
fn a_mistyped_key_is_refused_without_asking_the_database() {
    let service = Service::start(api::State { keys: Arc::new(MockKeyStore::new()), ..state() });
    let mut token = bearer(BOTH);
    let last = if token.ends_with('0') { "1" } else { "0" };
    token.replace_range(token.len() - 1.., last);
    assert_eq!(
        service.send("GET", "/api/v1/me", &[("Authorization", &token)], None).error(),
        (401, "key_not_found".into())
    );
    let long = format!("Bearer svc_live_{}", "a".repeat(10_000));
    assert_eq!(
        service.send("GET", "/api/v1/me", &[("Authorization", &long)], None).error(),
        (401, "key_not_found".into())
    );
}

#[test]
fn the_scheme_is_read_in_any_case() {
    let token = format!("bEARER   {}", key(BOTH).expose());
    assert_eq!(Service::start(state()).send("GET", "/api/v1/me", &[("Authorization", &token)], None).status, 200);
}

#[test]
fn two_authorization_headers_are_refused() {
    let (service, token) = (Service::start(state()), bearer(BOTH));
    let headers = [("Authorization", token.as_str()), ("Authorization", token.as_str())];
    assert_eq!(service.send("GET", "/api/v1/me", &headers, None).error(), (401, "invalid_token_format".into()));
}

#[test]
fn a_key_elsewhere_than_in_the_header_is_no_key() {
    let service = Service::start(state());
    let cookie = format!("api_key={}", key(BOTH).expose());
    assert_eq!(service.send("GET", "/api/v1/me", &[("Cookie", &cookie)], None).error().1, "missing_authorization");
    let target = format!("/api/v1/me?access_token={}", key(BOTH).expose());
    assert_eq!(service.send("GET", &target, &[], None).error().1, "missing_authorization");
}

#[rstest]
#[case(WRITE, "GET", "/api/v1/me", "scope_required:read")]
#[case(WRITE, "HEAD", "/api/v1/nothing", "scope_required:read")]
#[case(READ, "POST", "/api/v1/me", "scope_required:write")]
#[case(READ, "DELETE", "/api/v1/webhooks?id=abc", "scope_required:write")]
#[case(READ, "PATCH", "/api/v1/nothing", "scope_required:write")]
fn the_scope_is_checked_before_path_method_and_parameters(
    #[case] n: u8,
    #[case] method: &str,
    #[case] target: &str,
    #[case] code: &str,
) {
    let token = bearer(n);
    let answer = Service::start(state()).send(method, target, &[("Authorization", &token)], None);
    assert_eq!(answer.status, 403);
    assert_framed(&answer);
    if method != "HEAD" {
        assert_eq!(answer.error().1, code);
    }
}

#[test]
fn a_path_that_does_not_exist_is_404() {
    let service = Service::start(state());
    for path in ["/api/v1/nothing", "/", "/api/v1/me/", "/API/V1/ME", "/api/v1/me%00", "/api/v1/../../etc/passwd"] {
        let answer = service.get(path, BOTH);
        assert_eq!(answer.error(), (404, "not_found".into()), "{path}");
        assert_framed(&answer);
    }
}

#[test]
fn a_method_that_is_not_offered_is_405_and_says_which_are() {
    let (service, token) = (Service::start(state()), bearer(BOTH));
    for method in ["POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
        let answer = service.send(method, "/api/v1/me", &[("Authorization", &token)], None);
        assert_eq!(answer.error(), (405, "method_not_allowed".into()), "{method}");
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS"));
        assert_framed(&answer);
    }
}

#[test]
fn options_need_no_key() {
    let service = Service::start(state());
    let answer = service.send("OPTIONS", "/api/v1/me", &[], None);
    assert_eq!((answer.status, answer.header("allow"), answer.body.len()), (204, Some("GET, HEAD, OPTIONS"), 0));
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_framed(&answer);
    let status = service.send("OPTIONS", "/api/v1/status", &[], None);
    assert_eq!((status.status, status.header("access-control-allow-origin")), (204, Some("*")));
}

#[test]
fn head_is_get_without_the_body() {
    let (service, token) = (Service::start(state()), bearer(BOTH));
    let get = service.get("/api/v1/me", BOTH);
    let head = service.send("HEAD", "/api/v1/me", &[("Authorization", &token)], None);
    assert_eq!((head.status, head.body.len()), (200, 0));
    for name in ["content-type", "content-length", "etag", "cache-control", "vary"] {
        assert_eq!(head.header(name), get.header(name), "{name}");
        assert!(head.header(name).is_some(), "{name}");
    }
}

#[test]
fn the_sixty_first_request_of_a_key_is_refused() {
    let service = Service::start(state());
    for left in (0..60).rev() {
        let answer = service.get("/api/v1/me", BOTH);
        assert_eq!((answer.status, answer.header("x-ratelimit-remaining")), (200, Some(left.to_string().as_str())));
    }
    let refused = service.get("/api/v1/nothing", BOTH);
    assert_eq!(refused.error(), (429, "rate_limit_exceeded".into()));
    assert_eq!(refused.header("x-ratelimit-limit"), Some("60"));
    assert_eq!(refused.header("x-ratelimit-remaining"), Some("0"));
    assert_eq!(refused.header("retry-after"), refused.header("x-ratelimit-reset"));
    assert_framed(&refused);
    assert_eq!(service.get("/api/v1/me", READ).status, 200, "another key has a count of its own");
    assert_eq!(service.get("/api/v1/me", WRITE).status, 403, "and so does one that lacks the scope");
}

#[test]
fn refused_requests_count_by_address_and_do_not_touch_keys() {
    let service = Service::start(state());
    for _ in 0..60 {
        assert_eq!(service.send("GET", "/api/v1/me", &[], None).status, 401);
    }
    let refused = service.send("GET", "/api/v1/me", &[], None);
    assert_eq!(
        (refused.error(), refused.header("x-ratelimit-limit")),
        ((429, "rate_limit_exceeded".into()), Some("60"))
    );
    assert_eq!(service.get("/api/v1/me", BOTH).status, 200);
    assert_eq!(service.send("GET", "/api/v1/status", &[], None).header("x-ratelimit-limit"), Some("300"));
}

/// Settings with so few requests that a test can use them up.
fn two_requests() -> Settings {
    Settings { rate_limit_per_minute: 2, ..Settings::default() }
}

#[test]
fn an_address_over_its_limit_gets_keys_looked_up_only_now_and_then() {
    let lookups = Arc::new(AtomicU32::new(0));
    let mut keys = MockKeyStore::new();
    let counted = lookups.clone();
    keys.expect_known_id().return_const(None);
    keys.expect_find().returning(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(None)
    });
    let service = Service::start(api::State { keys: Arc::new(keys), settings: two_requests(), ..state() });
    let statuses = [(); 3].map(|()| service.get("/api/v1/me", UNKNOWN).status);
    assert_eq!((statuses, lookups.load(Ordering::SeqCst)), ([401, 401, 429], 3));
    let began = Instant::now();
    for _ in 0..50 {
        let refused = service.get("/api/v1/me", UNKNOWN);
        assert_eq!(
            (refused.error(), refused.header("x-ratelimit-remaining")),
            ((429, "rate_limit_exceeded".into()), Some("0"))
        );
        assert_eq!(refused.header("retry-after"), refused.header("x-ratelimit-reset"));
        assert_framed(&refused);
    }
    // One at once, then one in each tenth of a second.
    let turns = 1 + began.elapsed().as_millis() / 100;
    assert!(u128::from(lookups.load(Ordering::SeqCst)) <= 3 + turns, "{lookups:?} look-ups");
}

#[test]
fn a_valid_key_passes_though_its_address_is_over_the_limit_of_refusals() {
    let mut strangers = MockKeyStore::new();
    strangers.expect_known_id().return_const(None);
    strangers.expect_note_use().return_const(());
    let known = keys();
    strangers.expect_find().returning(move |hash| known.find(hash).now_or_never().unwrap());
    for keys in [keys(), strangers] {
        let service = Service::start(api::State { keys: Arc::new(keys), settings: two_requests(), ..state() });
        let statuses = [(); 4].map(|()| service.send("GET", "/api/v1/me", &[], None).status);
        assert_eq!(statuses, [401, 401, 429, 429]);
        assert_eq!(service.get("/api/v1/me", BOTH).status, 200);
    }
}

#[test]
fn the_status_is_never_refused() {
    let settings = Settings { rate_limit_per_minute: 1, ..Settings::default() };
    let service = Service::start(api::State { settings, ..state() });
    for _ in 0..7 {
        assert_eq!(service.send("GET", "/api/v1/status", &[], None).status, 200);
    }
    let options = service.send("OPTIONS", "/api/v1/me", &[], None);
    assert_eq!((options.status, options.header("x-ratelimit-limit")), (429, Some("5")));
}

#[test]
fn a_304_is_free() {
    let service = Service::start(state());
    let first = service.get("/api/v1/me", BOTH);
    let tag = first.header("etag").unwrap();
    assert!(tag.starts_with('"'), "{tag} is not strong");
    for sent in [tag.to_owned(), format!("W/{tag}"), format!("\"other\", {tag}")] {
        let answer = service.get_with("/api/v1/me", BOTH, &[("If-None-Match", &sent)]);
        assert_eq!((answer.status, answer.body.len(), answer.header("etag")), (304, 0, Some(tag)));
        assert_eq!(answer.header("x-ratelimit-remaining"), Some("59"));
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
        assert_framed(&answer);
    }
    let other = service.get_with("/api/v1/me", BOTH, &[("If-None-Match", "\"other\"")]);
    assert_eq!((other.status, other.header("x-ratelimit-remaining")), (200, Some("58")));
}

#[test]
fn a_304_to_if_none_match_star_counts_as_a_request() {
    let service = Service::start(api::State { settings: two_requests(), ..state() });
    let tag = service.get("/api/v1/me", BOTH).header("etag").unwrap().to_owned();
    let sent = format!("{tag}, *");
    let paid = service.get_with("/api/v1/me", BOTH, &[("If-None-Match", &sent)]);
    assert_eq!((paid.status, paid.header("x-ratelimit-remaining")), (304, Some("0")));
    let refused = service.get_with("/api/v1/me", BOTH, &[("If-None-Match", "*")]);
    assert_eq!(refused.error(), (429, "rate_limit_exceeded".into()));
}

#[test]
fn a_304_is_free_up_to_ten_times_the_limit_and_then_refused() {
    let service = Service::start(api::State { settings: two_requests(), ..state() });
    let tag = |n| service.get("/api/v1/me", n).header("etag").unwrap().to_owned();
    let (of_both, of_read) = (tag(BOTH), tag(READ));
    let again = |n, tag: &str| service.get_with("/api/v1/me", n, &[("If-None-Match", tag)]);
    for _ in 0..20 {
        let answer = again(BOTH, &of_both);
        assert_eq!((answer.status, answer.header("x-ratelimit-remaining")), (304, Some("1")));
    }
    // The first beyond is found out by reading, and counts as a request; after it nothing is read any more.
    for _ in 0..3 {
        let refused = again(BOTH, &of_both);
        assert_eq!(refused.error(), (429, "rate_limit_exceeded".into()));
        assert_eq!(
            (refused.header("x-ratelimit-limit"), refused.header("x-ratelimit-remaining")),
            (Some("2"), Some("0"))
        );
        assert_eq!(refused.header("retry-after"), refused.header("x-ratelimit-reset"));
        assert_eq!((refused.header("etag"), refused.header("cache-control")), (None, Some("no-store")));
        assert_framed(&refused);
    }
    assert_eq!(service.get("/api/v1/me", BOTH).status, 429, "the refused ones were counted");
    assert_eq!(again(READ, &of_read).status, 304, "another key has a count of its own");
}

#[test]
fn a_304_of_a_public_endpoint_has_the_same_bound_and_the_status_is_never_refused() {
    let settings = Settings { rate_limit_per_minute: 1, ..Settings::default() };
    let service = Service::start(api::State { settings, ..state() });
    let tag = |path| service.send("GET", path, &[], None).header("etag").unwrap().to_owned();
    let (openapi, status) = (tag("/api/v1/openapi.json"), tag("/api/v1/status"));
    let again = |path, tag: &str| service.send("GET", path, &[("If-None-Match", tag)], None).status;
    for _ in 0..50 {
        assert_eq!(again("/api/v1/openapi.json", &openapi), 304);
    }
    assert_eq!(again("/api/v1/openapi.json", &openapi), 429);
    // What it says may change meanwhile.
    for _ in 0..10 {
        assert_ne!(again("/api/v1/status", &status), 429);
    }
}

#[test]
fn a_request_id_is_echoed_when_logs_can_hold_it() {
    let service = Service::start(state());
    let sent = |id: &str| {
        service.get_with("/api/v1/me", BOTH, &[("X-Request-Id", id)]).header("x-request-id").unwrap().to_owned()
    };
    assert_eq!(sent("abc_DEF-123"), "abc_DEF-123");
    for id in ["short", "has space", "quote\"quote", &"a".repeat(65)] {
        assert_ne!(sent(id), id);
    }
}

#[rstest]
#[case("gzip")]
#[case("br")]
#[case("zstd")]
fn answers_are_compressed_when_asked_and_tagged_apart(#[case] coding: &str) {
    let service = Service::start(state());
    let plain = service.get("/api/v1/me", BOTH);
    let coded = service.get_with("/api/v1/me", BOTH, &[("Accept-Encoding", coding)]);
    assert_eq!(coded.header("content-encoding"), Some(coding));
    let varies =
        coded.headers.iter().filter(|(name, value)| name == "vary" && value.eq_ignore_ascii_case("accept-encoding"));
    assert_eq!(varies.count(), 1);
    assert_ne!(coded.header("etag"), plain.header("etag"));
    let tag = coded.header("etag").unwrap();
    let again = service.get_with("/api/v1/me", BOTH, &[("Accept-Encoding", coding), ("If-None-Match", tag)]);
    assert_eq!((again.status, again.header("etag")), (304, Some(tag)));
}

#[test]
fn a_compressed_body_is_the_plain_body() {
    let service = Service::start(state());
    let coded = service.get_with("/api/v1/me", BOTH, &[("Accept-Encoding", "gzip")]);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(coded.body.as_slice()), &mut text).unwrap();
    assert_eq!(text, service.get("/api/v1/me", BOTH).text());
}

#[rstest]
#[case("identity;q=0")]
#[case("*;q=0")]
#[case("compress, identity;q=0")]
#[case(";;;=")]
fn a_coding_that_does_not_exist_gets_the_plain_body(#[case] accepted: &str) {
    let answer = Service::start(state()).get_with("/api/v1/me", BOTH, &[("Accept-Encoding", accepted)]);
    assert_eq!((answer.status, answer.header("content-encoding")), (200, None));
    assert_framed(&answer);
}

#[test]
fn a_database_that_is_down_is_503_and_says_when_to_come_back() {
    let mut keys = MockKeyStore::new();
    keys.expect_find().returning(|_| Err(StoreError::Unavailable("password for 10.1.2.3".into())));
    keys.expect_known_id().return_const(None);
    let answer = Service::start(api::State { keys: Arc::new(keys), ..state() }).get("/api/v1/me", BOTH);
    assert_eq!((answer.error(), answer.header("retry-after")), ((503, "no_db".into()), Some("5")));
    assert!(!answer.text().contains("10.1.2.3"));
    assert_framed(&answer);
}

#[test]
fn a_failure_before_authentication_shows_the_count_of_the_key_where_it_is_known() {
    let mut keys = MockKeyStore::new();
    keys.expect_find().returning(|_| Err(StoreError::Unavailable("away".into())));
    keys.expect_known_id().returning(|hash| (key(BOTH).hash() == hash).then_some(KeyId(BOTH.into())));
    let service = Service::start(api::State { keys: Arc::new(keys), ..state() });
    let shown = |n| {
        let answer = service.get("/api/v1/me", n);
        assert_eq!(answer.error(), (503, "no_db".into()));
        let number = |name: &str| answer.header(name).unwrap().parse::<u32>().unwrap();
        (number("x-ratelimit-limit"), number("x-ratelimit-remaining"))
    };
    assert_eq!([shown(BOTH), shown(BOTH)], [(60, 59), (60, 58)]);
    // Nothing is counted for one that is not.
    assert_eq!([shown(UNKNOWN), shown(UNKNOWN)], [(60, 60), (60, 60)]);
}

#[test]
fn overload_is_503_with_a_code_and_a_retry_after_of_its_own() {
    let mut keys = MockKeyStore::new();
    keys.expect_find().returning(|_| Err(StoreError::Overloaded("too many look-ups".into())));
    keys.expect_known_id().return_const(None);
    let answer = Service::start(api::State { keys: Arc::new(keys), ..state() }).get("/api/v1/me", BOTH);
    assert_eq!((answer.error(), answer.header("retry-after")), ((503, "overloaded".into()), Some("2")));
    assert!(!answer.text().contains("look-ups"));
    assert_framed(&answer);
}

#[test]
fn a_failure_inside_shows_nothing_of_its_cause() {
    let mut keys = MockKeyStore::new();
    keys.expect_find().returning(|_| Err(StoreError::Internal("relation \"api_keys\" does not exist".into())));
    keys.expect_known_id().return_const(None);
    let answer = Service::start(api::State { keys: Arc::new(keys), ..state() }).get("/api/v1/me", BOTH);
    assert_eq!(answer.error(), (500, "internal_error".into()));
    assert!(!answer.text().contains("api_keys"));
    assert_framed(&answer);
}

#[test]
fn unknown_parameters_are_named_or_refused() {
    let service = Service::start(state());
    let lenient = service.get("/api/v1/me?foo=1&foo=2&b%61r=", BOTH).json();
    assert_eq!(
        lenient["warnings"],
        serde_json::json!([{"code": "unknown_parameter", "param": "foo"}, {"code": "unknown_parameter", "param": "bar"}])
    );
    let strict = service.get_with("/api/v1/me?foo=1", BOTH, &[("Prefer", "handling=strict")]);
    assert_eq!((strict.error(), strict.json()["param"].as_str()), ((400, "invalid_parameter".into()), Some("foo")));
    assert_eq!(service.get("/api/v1/me?foo=%ff", BOTH).error(), (400, "invalid_parameter".into()));
}

#[test]
fn a_write_is_noted_before_its_answer_and_a_read_or_a_refusal_is_not() {
    let writes = std::sync::Arc::new(crate::support::Writes::default());
    let mut events = domain::tracking::MockEventStore::new();
    events.expect_insert().returning(|_, _, _| Ok(Idempotent { value: domain::TrackingEventId(1), replayed: false }));
    let events = std::sync::Arc::new(events);
    let service = Service::start(api::State { writes: writes.clone(), events, ..state() });
    let noted = || writes.0.load(std::sync::atomic::Ordering::SeqCst);
    let track = |n: u8| {
        let token = bearer(n);
        service.send("POST", "/api/v1/track", &[("Authorization", &token)], Some(br#"{"event":"a"}"#)).status
    };
    assert_eq!(service.get("/api/v1/me", BOTH).status, 200);
    assert_eq!((service.post("/api/v1/track", "{}").status, track(READ)), (400, 403));
    assert_eq!(noted(), 0);
    assert_eq!(track(BOTH), 200);
    assert_eq!(noted(), 1);
}
