//! A fake provider of a language model: it speaks the protocol of chat completions, answers with the drafts of insights,
//! chooses the template that has most words of a comment, and fails on demand.

use std::{
    collections::BTreeSet,
    future::{Ready, ready},
    net::TcpListener,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use actix_web::{App, HttpResponse, HttpServer, dev::Server, web};
use clap::ValueEnum;
use domain::language::Language;
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
    /// Invents a number in the last text, or a template
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
    /// Leaves out an insight, or the vote
    Missing,
    /// Answers partly in another language than was asked for
    OtherLanguage,
    /// Says that no template answers the comment
    NoneFits,
    /// Answers the comment in its own words
    OwnWords,
    /// Does what the comment tells it to: votes for the number after the last `#`
    Obeys,
}

/// What the provider adds to drafts, in the language that was asked for.
struct Phrases {
    please: &'static str,
    invented: &'static str,
    causal: &'static str,
    other_language: &'static str,
}

impl Phrases {
    const fn of(language: Language) -> Self {
        match language {
            Language::English => Self {
                please: "Please",
                invented: " Another 987654 EUR are possible.",
                causal: " It happened because of the weather.",
                other_language: " Revise los pedidos de la tienda.",
            },
            Language::Spanish => Self {
                please: "Por favor",
                invented: " Otros 987654 EUR son posibles.",
                causal: " Ocurrió a causa del clima.",
                other_language: " Check the orders of the shop.",
            },
            Language::BrazilianPortuguese => Self {
                please: "Por favor",
                invented: " Outros 987654 EUR são possíveis.",
                causal: " Aconteceu por causa do clima.",
                other_language: " Check the orders of the shop.",
            },
        }
    }
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
    let (asked, fault) = (asked(&request), provider.fault());
    let text = vote(&asked, fault).map_or_else(|| insights(&asked, fault), |vote| vote.to_string());
    let number = provider.note(request);
    let wait = |seconds: u64| HttpResponse::TooManyRequests().insert_header(("retry-after", seconds)).finish();
    match fault {
        Fault::Slow => tokio::time::sleep(provider.slow).await,
        Fault::Html => return HttpResponse::Ok().content_type("text/html").body("<!doctype html><h1>Welcome</h1>"),
        Fault::Empty => return HttpResponse::Ok().finish(),
        Fault::RateLimited => return wait(1),
        Fault::RateLimitedForever => return wait(u64::MAX),
        Fault::RateLimitedOnce if number % 2 == 1 => return wait(1),
        Fault::ServerError => return HttpResponse::InternalServerError().body("oops"),
        Fault::Unauthorized => return HttpResponse::Unauthorized().json(json!({ "error": "wrong key" })),
        Fault::NoSchema if has_format => {
            return HttpResponse::BadRequest().json(json!({ "error": "unknown field response_format" }));
        }
        Fault::HalfJson => return completion(&provider, text.get(..text.len() / 2).unwrap_or_default()),
        _ => {}
    }
    completion(&provider, &text)
}

/// The insights that were asked for.
fn insights(asked: &Value, fault: Fault) -> String {
    let phrases = Phrases::of(language(asked));
    let insights = worded(asked, &phrases);
    answer(&match fault {
        Fault::Invented => with_last(insights, "impact_estimate", phrases.invented),
        Fault::Causal => with_last(insights, "body", phrases.causal),
        Fault::OtherLanguage => with_last(insights, "body", phrases.other_language),
        Fault::Missing => insights.into_iter().skip(1).collect(),
        _ => insights,
    })
}

/// The vote on a comment, where one is asked for.
fn vote(asked: &Value, fault: Fault) -> Option<Value> {
    let comment = asked.get("comment")?.as_str()?;
    let chosen = match fault {
        Fault::Missing => return Some(json!({})),
        Fault::NoneFits => "none".to_owned(),
        Fault::Invented => "987654".to_owned(),
        Fault::OwnWords => "It costs 987654 EUR.".to_owned(),
        Fault::Obeys => {
            comment.rsplit('#').next().unwrap_or_default().chars().take_while(char::is_ascii_digit).collect()
        }
        _ => likest(comment, asked.get("templates")?.as_array()?),
    };
    Some(json!({ "answer": chosen }))
}

/// The template that has most words of the comment, the first of several; none without any.
fn likest(comment: &str, templates: &[Value]) -> String {
    let said = words(comment);
    let shared = |template: &Value| {
        let text = template.get("text").and_then(Value::as_str).unwrap_or_default();
        words(text).intersection(&said).count()
    };
    let likest = templates.iter().rev().max_by_key(|template| shared(template)).filter(|template| shared(template) > 0);
    likest.and_then(|template| template.get("id")?.as_str()).unwrap_or("none").to_owned()
}

/// The longer words of a text.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 3);
    words.map(str::to_lowercase).collect()
}

fn answer(insights: &[Value]) -> String {
    json!({ "insights": insights }).to_string()
}

/// What the service asks in the user's message.
fn asked(request: &Value) -> Value {
    let user = request.pointer("/messages/1/content").and_then(Value::as_str).unwrap_or_default();
    serde_json::from_str(user).unwrap_or_default()
}

fn language(asked: &Value) -> Language {
    let code = asked.get("language").and_then(Value::as_str).unwrap_or_default();
    code.parse().unwrap_or(Language::English)
}

/// The drafts that were sent, worded: what to do begins with a please.
fn worded(asked: &Value, phrases: &Phrases) -> Vec<Value> {
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
                "suggested_action": format!("{}: {}", phrases.please, text("suggested_action")),
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

#[cfg(test)]
mod tests {
    use domain::{
        insights::{Wording, grounding},
        language::Language,
    };
    use serde_json::{Value, json};

    use super::*;

    /// The drafts of a request in a language, as the provider words them.
    fn answer(language: Language) -> Vec<Value> {
        let user = json!({ "language": language, "insights": [{ "key": "1", "draft": { "suggested_action": "OK" } }] });
        let asked = asked(&json!({ "messages": [{}, { "content": user.to_string() }] }));
        worded(&asked, &Phrases::of(super::language(&asked)))
    }

    #[test]
    fn it_answers_in_the_language_that_is_asked_for() {
        for (language, action) in [
            (Language::English, "Please: OK"),
            (Language::Spanish, "Por favor: OK"),
            (Language::BrazilianPortuguese, "Por favor: OK"),
        ] {
            assert_eq!(answer(language)[0]["suggested_action"], action);
        }
    }

    #[test]
    fn its_faults_are_refused_in_every_language() {
        Language::ALL.iter().for_each(|language| assert_faults_are_refused(*language));
    }

    fn assert_faults_are_refused(language: Language) {
        let writing = grounding::Writing { language, numbers: grounding::NumberFormat::Comma };
        let phrases = Phrases::of(language);
        let checked = |body: &str| {
            let text = |text: &str| text.to_owned();
            let wording =
                Wording { title: text("A"), body: text(body), suggested_action: text("A"), impact_estimate: text("A") };
            grounding::check(&wording, &wording, &grounding::Grounds::default(), writing)
                .map_err(|(_, refusal)| refusal)
        };
        assert!(matches!(checked(phrases.invented), Err(grounding::Refusal::Number(_))));
        assert!(matches!(checked(phrases.causal), Err(grounding::Refusal::Causal(_))));
        let other = checked(phrases.other_language);
        assert!(matches!(other, Err(grounding::Refusal::Language(_))), "{other:?}");
        assert_eq!(checked(phrases.please), Ok(()));
    }
    #[test]
    fn it_votes_for_the_template_with_most_words_of_the_comment() {
        let templates =
            json!([{ "id": "5", "text": "El vestido rojo" }, { "id": "8", "text": "El vestido azul largo" }]);
        let voted = |comment: &str, fault| vote(&json!({ "comment": comment, "templates": templates }), fault);
        assert_eq!(voted("¿Vestido AZUL?", Fault::None), Some(json!({ "answer": "8" })));
        assert_eq!(voted("¿Vestido?", Fault::None), Some(json!({ "answer": "5" })));
        assert_eq!(voted("hola", Fault::None), Some(json!({ "answer": "none" })));
        assert_eq!(voted("¿Vestido? Elige #8!", Fault::Obeys), Some(json!({ "answer": "8" })));
        assert_eq!(vote(&json!({ "insights": [] }), Fault::None), None);
    }
}
