//! A fake provider of a language model: it speaks the protocol of chat completions, answers with the drafts of insights,
//! and fails on demand.

use std::{
    future::{Ready, ready},
    net::TcpListener,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use actix_web::{App, HttpResponse, HttpServer, dev::Server, web};
use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

/// The fault to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Fault {
    /// Not at all
    None,
    /// Answers with a page
    Html,
    /// Answers with half of the JSON
    HalfJson,
    /// Invents a number in the last text
    Invented,
    /// Tells a cause that was not found
    Causal,
    /// Answers with nothing
    Empty,
    /// Answers after `slow-seconds`
    Slow,
    /// 429 with Retry-After to every request
    RateLimited,
    /// 429 with a Retry-After of more seconds than any clock holds
    RateLimitedForever,
    /// 429 to every second request
    RateLimitedOnce,
    /// 500
    ServerError,
    /// 401
    Unauthorized,
    /// Does not say how many tokens it used
    NoUsage,
    /// Does not know `response_format`
    NoSchema,
    /// Leaves out an insight
    Missing,
}

/// Its configuration, and the requests that it got.
pub struct Provider {
    fault: Mutex<Fault>,
    slow: Duration,
    /// Tokens that it says it used: for the prompt and for the answer.
    tokens: (u64, u64),
    calls: Mutex<Calls>,
}

#[derive(Debug, Default, Clone)]
struct Calls {
    count: u64,
    last: Value,
}

impl Provider {
    pub fn new(fault: Fault, slow: Duration, tokens: (u64, u64)) -> Self {
        Self { fault: Mutex::new(fault), slow, tokens, calls: Mutex::default() }
    }

    fn fault(&self) -> Fault {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a request and gives its number.
    fn note(&self, request: Value) -> u64 {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.count += 1;
        calls.last = request;
        calls.count
    }
}

/// The server, on one thread.
pub fn server(provider: Provider, listener: TcpListener) -> std::io::Result<Server> {
    let provider = web::Data::from(Arc::new(provider));
    let server = HttpServer::new(move || {
        App::new()
            .app_data(provider.clone())
            .route("/v1/chat/completions", web::post().to(complete))
            .route("/dev/fault/{fault}", web::put().to(set_fault))
            .route("/dev/calls", web::get().to(calls))
    });
    Ok(server.listen(listener)?.workers(1).disable_signals().shutdown_timeout(1).run())
}

fn set_fault(provider: web::Data<Provider>, fault: web::Path<Fault>) -> Ready<HttpResponse> {
    *provider.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault.into_inner();
    ready(HttpResponse::NoContent().finish())
}

fn calls(provider: web::Data<Provider>) -> Ready<HttpResponse> {
    let Calls { count, last } = provider.calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
    ready(HttpResponse::Ok().json(json!({ "count": count, "last": last })))
}

async fn complete(provider: web::Data<Provider>, request: web::Json<Value>) -> HttpResponse {
    let request = request.into_inner();
    let has_format = request.get("response_format").is_some();
    let insights = worded(&request);
    let number = provider.note(request);
    let wait = |seconds: u64| HttpResponse::TooManyRequests().insert_header(("retry-after", seconds)).finish();
    let too_many = || wait(1);
    let fault = provider.fault();
    let insights = match fault {
        Fault::None | Fault::NoUsage => insights,
        Fault::Slow => {
            tokio::time::sleep(provider.slow).await;
            insights
        }
        Fault::Html => return HttpResponse::Ok().content_type("text/html").body("<!doctype html><h1>Welcome</h1>"),
        Fault::Empty => return HttpResponse::Ok().finish(),
        Fault::RateLimited => return too_many(),
        Fault::RateLimitedForever => return wait(u64::MAX),
        Fault::RateLimitedOnce if number % 2 == 1 => return too_many(),
        Fault::RateLimitedOnce => insights,
        Fault::ServerError => return HttpResponse::InternalServerError().body("oops"),
        Fault::Unauthorized => return HttpResponse::Unauthorized().json(json!({ "error": "wrong key" })),
        Fault::NoSchema if has_format => {
            return HttpResponse::BadRequest().json(json!({ "error": "unknown field response_format" }));
        }
        Fault::NoSchema => insights,
        Fault::Invented => with_last(insights, "impact_estimate", " Another 987654 EUR are possible."),
        Fault::Causal => with_last(insights, "body", " It happened because of the weather."),
        Fault::Missing => insights.into_iter().skip(1).collect(),
        Fault::HalfJson => {
            let text = answer(&insights);
            return completion(&provider, text.get(..text.len() / 2).unwrap_or_default());
        }
    };
    completion(&provider, &answer(&insights))
}

fn answer(insights: &[Value]) -> String {
    json!({ "insights": insights }).to_string()
}

/// The drafts of the request, worded: what to do begins with a please.
fn worded(request: &Value) -> Vec<Value> {
    let user = request.pointer("/messages/1/content").and_then(Value::as_str).unwrap_or_default();
    let asked: Value = serde_json::from_str(user).unwrap_or_default();
    let findings = asked.get("insights").and_then(Value::as_array).cloned().unwrap_or_default();
    findings
        .iter()
        .map(|finding| {
            let text = |name: &str| {
                finding.pointer(&format!("/draft/{name}")).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            json!({
                "key": finding.get("key"),
                "title": text("title"),
                "body": text("body"),
                "suggested_action": format!("Please: {}", text("suggested_action")),
                "impact_estimate": text("impact_estimate"),
            })
        })
        .collect()
}

/// The insights with a sentence more in a text of the last.
fn with_last(mut insights: Vec<Value>, field: &str, more: &str) -> Vec<Value> {
    if let Some(Value::Object(last)) = insights.last_mut() {
        let text = last.get(field).and_then(Value::as_str).unwrap_or_default();
        let text = format!("{text}{more}");
        last.insert(field.to_owned(), text.into());
    }
    insights
}

fn completion(provider: &Provider, content: &str) -> HttpResponse {
    let mut body = json!({
        "id": "chatcmpl-dev",
        "object": "chat.completion",
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": content } }],
    });
    if provider.fault() != Fault::NoUsage
        && let Value::Object(fields) = &mut body
    {
        let (prompt, completion) = provider.tokens;
        let usage = json!({
            "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion
        });
        fields.insert("usage".to_owned(), usage);
    }
    HttpResponse::Ok().json(body)
}
