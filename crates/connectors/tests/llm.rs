//! The client of a language model against a provider that answers exactly what a test says.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

use std::{
    sync::{
        Arc, Mutex, Once,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use connectors::llm::{ChatCompletions, Config, InvalidConfig};
use domain::ai::{Completion, LanguageModel, ModelError, Prices, Prompt, Usage};
use rstest::rstest;
use rust_decimal::dec;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// Requests as they came in: head and body.
type Seen = Arc<Mutex<Vec<(String, Value)>>>;

/// Answers the requests one after the other, the last answer for ever.
async fn provider(answers: Vec<String>) -> (String, Seen) {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen = Seen::default();
    let (noted, next) = (seen.clone(), Arc::new(AtomicUsize::new(0)));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (answers, noted, next) = (answers.clone(), noted.clone(), next.clone());
            tokio::spawn(async move {
                let request = read(&mut stream).await;
                noted.lock().unwrap().push(request);
                let at = next.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
                let _ = stream.write_all(answers[at].as_bytes()).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    (url, seen)
}

async fn read(stream: &mut TcpStream) -> (String, Value) {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let n = stream.read(&mut chunk).await.unwrap();
        bytes.extend_from_slice(&chunk[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n")
            && let Ok(body) = serde_json::from_str(body)
        {
            return (head.to_ascii_lowercase(), body);
        }
        assert!(n > 0, "the request broke off");
    }
}

fn http(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}", body.len())
}

fn fine() -> String {
    let body = json!({
        "choices": [{"finish_reason": "stop", "message": {"content": "{\"a\":1}"}}],
        "usage": {"prompt_tokens": 1_000, "completion_tokens": 200},
    });
    http("200 OK", "content-type: application/json\r\n", &body.to_string())
}

fn client(url: &str, timeout: Duration) -> ChatCompletions {
    ChatCompletions::new(Config {
        base_url: url.to_owned(),
        key: Some("sk-hunter2".into()),
        model: "small".to_owned(),
        timeout,
        prices: Prices { input: dec!(1.5), output: dec!(6) },
    })
    .unwrap()
}

fn prompt() -> Prompt {
    Prompt {
        system: "do".into(),
        user: "this".into(),
        schema: json!({"type": "object"}),
        schema_name: "s",
        max_output_tokens: 100,
    }
}

const LONG: Duration = Duration::from_secs(20);

async fn ask(answers: Vec<String>, timeout: Duration) -> (Completion, Vec<(String, Value)>) {
    let (url, seen) = provider(answers).await;
    let completion = client(&url, timeout).complete(&prompt()).await;
    let seen = seen.lock().unwrap().clone();
    (completion, seen)
}

#[tokio::test]
async fn an_answer_costs_what_its_tokens_do() {
    let (completion, seen) = ask(vec![fine()], LONG).await;
    let usage = Usage { prompt_tokens: 1_000, completion_tokens: 200, cost_usd: dec!(0.0027), estimated: false };
    assert_eq!(completion, Completion { answer: Ok(json!({"a": 1})), usage });
    let (head, body) = &seen[0];
    assert!(head.starts_with("post /v1/chat/completions ") && head.contains("authorization: bearer sk-hunter2"));
    assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
    assert_eq!((&body["model"], &body["max_tokens"]), (&json!("small"), &json!(100)));
    assert_eq!((&body["messages"][0]["role"], &body["messages"][1]["content"]), (&json!("system"), &json!("this")));
}

#[rstest]
#[case("", "post /v1/chat/completions ")]
#[case("/", "post /v1/chat/completions ")]
#[case("?api-version=2026-01", "post /v1/chat/completions?api-version=2026-01 ")]
#[case("/?api-version=2026-01", "post /v1/chat/completions?api-version=2026-01 ")]
#[tokio::test]
async fn the_query_of_the_address_stays_behind_the_path(#[case] more: &str, #[case] asked: &str) {
    let (url, seen) = provider(vec![fine()]).await;
    client(&format!("{url}{more}"), LONG).complete(&prompt()).await.answer.unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen[0].0.starts_with(asked), "{}", seen[0].0);
}

#[rstest]
#[case("200 OK", "content-type: text/html\r\n", "{}", ModelError::NotJson, true)]
#[case("200 OK", "", "", ModelError::Empty, true)]
#[case("200 OK", "", "{\"choices\":[{\"mess", ModelError::Truncated, true)]
#[case("500 Internal Server Error", "", "", ModelError::ServerError, true)]
#[case("502 Bad Gateway", "", "", ModelError::ServerError, true)]
#[case("401 Unauthorized", "", "", ModelError::Rejected, false)]
#[case("404 Not Found", "", "", ModelError::Rejected, false)]
#[case("302 Found", "location: http://127.0.0.1:1/\r\n", "", ModelError::Rejected, false)]
#[tokio::test]
async fn what_goes_wrong_has_a_name_and_is_not_tried_again(
    #[case] status: &str,
    #[case] headers: &str,
    #[case] body: &str,
    #[case] error: ModelError,
    #[case] perhaps_charged: bool,
) {
    let (completion, seen) = ask(vec![http(status, headers, body), fine()], LONG).await;
    assert_eq!((completion.answer, completion.usage.estimated, seen.len()), (Err(error), perhaps_charged, 1));
    assert_eq!(completion.usage == Usage::NONE, !perhaps_charged);
}

#[rstest]
#[case("429 Too Many Requests", ModelError::RateLimited)]
#[case("503 Service Unavailable", ModelError::ServerError)]
#[tokio::test]
async fn a_request_that_was_not_taken_up_is_tried_again_when_told_to(#[case] status: &str, #[case] error: ModelError) {
    let busy = http(status, "retry-after: 1\r\n", "");
    let started = Instant::now();
    let (completion, seen) = ask(vec![busy.clone(), fine()], LONG).await;
    assert_eq!((completion.answer, seen.len()), (Ok(json!({"a": 1})), 2));
    assert!(started.elapsed() >= Duration::from_secs(1), "Retry-After is heeded");
    let later = http(status, "retry-after: 3600\r\n", "");
    let (completion, seen) = ask(vec![later, fine()], LONG).await;
    assert_eq!((completion, seen.len()), (Completion { answer: Err(error), usage: Usage::NONE }, 1));
}

#[rstest]
#[case("429 Too Many Requests", ModelError::RateLimited)]
#[case("503 Service Unavailable", ModelError::ServerError)]
#[tokio::test]
async fn the_last_try_says_why_there_is_no_answer(#[case] status: &str, #[case] error: ModelError) {
    // Plainer forms count as tries, and are asked for at once.
    let (refuse, busy) = (http("400 Bad Request", "", "{}"), http(status, "", ""));
    let (completion, seen) = ask(vec![refuse.clone(), refuse.clone(), refuse, busy], LONG).await;
    assert_eq!((completion, seen.len()), (Completion { answer: Err(error), usage: Usage::NONE }, 6));
}

#[rstest]
#[tokio::test]
async fn a_wait_that_no_clock_can_hold_or_until_a_far_date_is_longer_than_the_deadline(
    #[values(
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999999",
        "Tue, 31 Dec 2999 23:59:59 GMT",
        "Tue Dec 31 23:59:59 2999"
    )]
    wait: &str,
    #[values("429 Too Many Requests", "503 Service Unavailable")] status: &str,
) {
    let busy = http(status, &format!("retry-after: {wait}\r\n"), "");
    let (completion, seen) = ask(vec![busy, fine()], LONG).await;
    assert_eq!((completion.answer.is_err(), completion.usage, seen.len()), (true, Usage::NONE, 1));
}

#[rstest]
#[tokio::test]
async fn a_request_that_is_refused_in_every_form_changes_nothing_for_others(
    #[values("400 Bad Request", "422 Unprocessable Entity")] status: &str,
) {
    let refuse = http(status, "", "{}");
    let (url, seen) = provider(vec![refuse.clone(), refuse.clone(), refuse.clone(), refuse, fine()]).await;
    let client = client(&url, LONG);
    let refused = Completion { answer: Err(ModelError::Rejected), usage: Usage::NONE };
    assert_eq!(client.complete(&prompt()).await, refused);
    assert_eq!(client.complete(&prompt()).await.answer, Ok(json!({"a": 1})));
    let seen = seen.lock().unwrap();
    assert_eq!((seen.len(), &seen[4].1["response_format"]["type"]), (5, &json!("json_schema")));
    assert_eq!(seen[4].1["max_tokens"], 100);
}

#[tokio::test]
async fn a_provider_that_does_not_know_the_form_is_asked_plainer_and_remembered() {
    let refuse = http("400 Bad Request", "", "{}");
    let (url, seen) = provider(vec![refuse.clone(), refuse.clone(), refuse, fine()]).await;
    let client = client(&url, LONG);
    for _ in 0..2 {
        assert_eq!(client.complete(&prompt()).await.answer, Ok(json!({"a": 1})));
    }
    let seen = seen.lock().unwrap();
    let shapes: Vec<Value> = seen.iter().map(|(_, body)| body["response_format"]["type"].clone()).collect();
    assert_eq!(shapes, [json!("json_schema"), json!("json_schema"), json!("json_object"), Value::Null, Value::Null]);
    assert_eq!(seen[1].1["max_completion_tokens"], 100);
}

#[tokio::test]
async fn an_answer_that_is_late_too_large_or_broken_off_is_bounded() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = format!("http://{}/v1", listener.local_addr().unwrap());
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = client(&silent, Duration::from_millis(200));
    let completion = client.complete(&prompt()).await;
    assert_eq!((completion.answer, completion.usage), (Err(ModelError::Timeout), client.bound(&prompt())));
    let huge = http("200 OK", "", &" ".repeat(300 * 1024));
    assert_eq!(ask(vec![huge], LONG).await.0.answer, Err(ModelError::TooLarge));
    let broken = "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"choices\"".to_owned();
    assert_eq!(ask(vec![broken], LONG).await.0.answer, Err(ModelError::Truncated));
    drop(listener);
    let nobody = self::client(&silent, LONG).complete(&prompt()).await;
    assert_eq!(nobody, Completion { answer: Err(ModelError::Unreachable), usage: Usage::NONE });
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let config = |base_url: &str, model: &str, key: &str| Config {
        base_url: base_url.into(),
        key: Some(key.into()),
        model: model.into(),
        timeout: LONG,
        prices: Prices { input: dec!(0), output: dec!(0) },
    };
    let refused = |config: Config| ChatCompletions::new(config).err().unwrap();
    assert!(matches!(refused(config("ftp://x/v1", "m", "k")), InvalidConfig::Address));
    assert!(matches!(refused(config("nowhere", "m", "k")), InvalidConfig::Address));
    assert!(matches!(refused(config("http://x/v1", " ", "k")), InvalidConfig::Model));
    let key = refused(config("http://x/v1", "m", "hunter2\n"));
    assert!(matches!(key, InvalidConfig::Key) && !key.to_string().contains("hunter2"));
}
