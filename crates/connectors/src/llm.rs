//! [`LanguageModel`] on any endpoint that speaks OpenAI's chat completions.
//!
//! One deadline covers everything. A request is retried only where the provider said that it did not process it (429, 503,
//! and a 400 for a request form that it does not know), never after a broken connection or a time-out: that call may have
//! been charged.

mod answer;
mod form;

use std::time::Duration;

use async_trait::async_trait;
use domain::{
    ai::{Completion, LanguageModel, ModelError, Prices, Prompt, Usage},
    webhooks::schedule,
};
use reqwest::{Client, Response, StatusCode, Url, header, redirect};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::time::{Instant, sleep, timeout_at};

use form::{Form, KnownForm};

/// Bytes of an answer that are read at most.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// The most tries of a call.
const MAX_TRIES: u32 = 6;
/// Waits before a second try, doubled each time, where the provider does not say.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// Where the model is and what it costs.
#[derive(Debug, Clone)]
pub struct Config {
    /// What `/chat/completions` is appended to, such as `https://api.example.com/v1`; a query, such as the version that some
    /// providers want, stays behind it.
    pub base_url: String,
    pub key: Option<SecretString>,
    pub model: String,
    /// From the first byte sent to the last byte read, waits between tries included.
    pub timeout: Duration,
    pub prices: Prices,
}

/// Why the client cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum InvalidConfig {
    #[error("the address is not an http or https URL")]
    Address,
    #[error("the model has no name")]
    Model,
    #[error("the key holds characters that no header can")]
    Key,
    #[error("the HTTP client could not be made: {0}")]
    Client(#[from] reqwest::Error),
}

/// The client. Its `Debug` shows no key.
pub struct ChatCompletions {
    client: Client,
    url: Url,
    model: String,
    timeout: Duration,
    prices: Prices,
    form: KnownForm,
}

impl ChatCompletions {
    /// # Errors
    /// [`InvalidConfig`].
    pub fn new(config: Config) -> Result<Self, InvalidConfig> {
        let Config { base_url, key, model, timeout, prices } = config;
        let mut url: Url = base_url.trim_end_matches('/').parse().map_err(|_| InvalidConfig::Address)?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(InvalidConfig::Address);
        }
        url.path_segments_mut().map_err(|()| InvalidConfig::Address)?.pop_if_empty().extend(["chat", "completions"]);
        if model.trim().is_empty() {
            return Err(InvalidConfig::Model);
        }
        let mut headers = header::HeaderMap::new();
        if let Some(key) = key {
            let mut bearer = header::HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()))
                .map_err(|_| InvalidConfig::Key)?;
            bearer.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, bearer);
        }
        // A key must not follow a redirect to another place, nor go through a proxy that is not configured here.
        let client =
            Client::builder().redirect(redirect::Policy::none()).no_proxy().default_headers(headers).build()?;
        Ok(Self { client, url, model, timeout, prices, form: KnownForm::default() })
    }

    fn body(&self, prompt: &Prompt, form: Form) -> Value {
        let mut body = json!({
            "model": self.model,
            "messages": [
                { "role": "system", "content": prompt.system },
                { "role": "user", "content": prompt.user },
            ],
        });
        if let Value::Object(fields) = &mut body {
            fields.insert(form.token_limit().to_owned(), prompt.max_output_tokens.into());
            match form.response_format() {
                "json_schema" => fields.insert(
                    "response_format".to_owned(),
                    json!({
                        "type": "json_schema",
                        "json_schema": { "name": prompt.schema_name, "strict": true, "schema": prompt.schema },
                    }),
                ),
                "json_object" => fields.insert("response_format".to_owned(), json!({ "type": "json_object" })),
                _ => None,
            };
        }
        body
    }

    async fn ask(&self, prompt: &Prompt, deadline: Instant) -> Completion {
        let free = |error| Completion { answer: Err(error), usage: Usage::NONE };
        let perhaps_charged = |error| Completion { answer: Err(error), usage: self.bound(prompt) };
        let mut wait = FIRST_WAIT;
        let known = self.form.get(Instant::now());
        let mut form = known;
        for tries in 1..=MAX_TRIES {
            let response = match self.client.post(self.url.clone()).json(&self.body(prompt, form)).send().await {
                Ok(response) => response,
                Err(error) if error.is_connect() => return free(ModelError::Unreachable),
                Err(_) => return perhaps_charged(ModelError::Unreachable),
            };
            let status = response.status();
            match status {
                status if status.is_success() => {
                    if form != known {
                        self.form.set(form, Instant::now());
                    }
                    return self.read(prompt, response).await;
                }
                StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                    let error = if status == StatusCode::TOO_MANY_REQUESTS {
                        ModelError::RateLimited
                    } else {
                        ModelError::ServerError
                    };
                    let pause = retry_after(&response).unwrap_or(wait).max(wait);
                    if tries == MAX_TRIES || pause >= deadline.saturating_duration_since(Instant::now()) {
                        return free(error);
                    }
                    sleep(pause).await;
                    wait *= 2;
                }
                StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY if form.plainer().is_some() => {
                    tracing::info!(?form, "the provider refuses this form of request; trying a plainer one");
                    form = form.plainer().unwrap_or(form);
                }
                status if status.is_server_error() => return perhaps_charged(ModelError::ServerError),
                status => {
                    tracing::warn!(%status, "the provider refuses the request");
                    return free(ModelError::Rejected);
                }
            }
        }
        // The last try was refused for its form, where a plainer one was left.
        free(ModelError::Rejected)
    }

    async fn read(&self, prompt: &Prompt, mut response: Response) -> Completion {
        let perhaps_charged = |error| Completion { answer: Err(error), usage: self.bound(prompt) };
        let is_html = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| {
            kind.to_str().is_ok_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/html"))
        });
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(None) => break,
                Ok(Some(chunk)) if bytes.len() + chunk.len() > MAX_ANSWER_BYTES => {
                    return perhaps_charged(ModelError::TooLarge);
                }
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Err(_) => return perhaps_charged(ModelError::Truncated),
            }
        }
        if is_html {
            return perhaps_charged(ModelError::NotJson);
        }
        let (answer, tokens) = answer::read(&bytes);
        let usage = tokens.map_or_else(
            || self.bound(prompt),
            |(prompt_tokens, completion_tokens)| Usage {
                prompt_tokens,
                completion_tokens,
                cost_usd: self.prices.cost(prompt_tokens, completion_tokens),
                estimated: false,
            },
        );
        Completion { answer, usage }
    }
}

/// The pause that `Retry-After` asks for. The longest that is read is longer than any deadline.
fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    schedule::parse_retry_after(value, OffsetDateTime::now_utc())
}

#[async_trait]
impl LanguageModel for ChatCompletions {
    fn name(&self) -> String {
        self.model.clone()
    }

    /// A token is at least a byte.
    fn bound(&self, prompt: &Prompt) -> Usage {
        let bytes =
            prompt.system.len() + prompt.user.len() + prompt.schema.to_string().len() + prompt.schema_name.len();
        let prompt_tokens = i64::try_from(bytes).unwrap_or(i64::MAX);
        let completion_tokens = i64::from(prompt.max_output_tokens);
        let cost_usd = self.prices.cost(prompt_tokens, completion_tokens);
        Usage { prompt_tokens, completion_tokens, cost_usd, estimated: true }
    }

    async fn complete(&self, prompt: &Prompt) -> Completion {
        let deadline = Instant::now() + self.timeout;
        let late = || Completion { answer: Err(ModelError::Timeout), usage: self.bound(prompt) };
        timeout_at(deadline, self.ask(prompt, deadline)).await.unwrap_or_else(|_| late())
    }
}
