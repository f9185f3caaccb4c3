//! Hooks: signed, escaped as Meta escapes them, sent to an address that confirmed itself, and sent again until they are taken.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ring::hmac;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize as _;
use serde_json::{Serializer, Value, ser::Formatter};

use super::SocialConfig;
use crate::shops::faults::Faults;

const DEADLINE: Duration = Duration::from_secs(5);
const ATTEMPTS: u32 = 8;
/// The hours in which Meta tries again, in short.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const CHALLENGE: &str = "1158201444";

#[derive(Default)]
struct State {
    url: Option<String>,
    is_confirmed: bool,
    /// Held back so that the next one overtakes it.
    held: Option<String>,
}

/// Sends hooks; cloning shares it.
#[derive(Clone)]
pub struct Hooks {
    client: reqwest::Client,
    secret: SecretString,
    verify_token: SecretString,
    state: Arc<Mutex<State>>,
}

impl Hooks {
    pub fn new(config: &SocialConfig) -> anyhow::Result<Self> {
        let client = reqwest::Client::builder().no_proxy().timeout(DEADLINE).build()?;
        let state = State { url: config.notify.clone(), ..State::default() };
        Ok(Self {
            client,
            secret: config.app_secret.clone(),
            verify_token: config.verify_token.clone(),
            state: Arc::new(Mutex::new(state)),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn send_to(&self, url: String) {
        *self.lock() = State { url: Some(url), ..State::default() };
    }

    /// Tells of a change, with the faults that are on.
    pub fn tell(&self, faults: &Faults, event: Value) {
        let Some(body) = escaped(&event) else { return };
        if faults.take("hook_lost").is_some() {
            return;
        }
        let is_forged = faults.take("hook_forged").is_some();
        let times = if faults.take("hook_twice").is_some() { 2 } else { 1 };
        let held = {
            let mut state = self.lock();
            if faults.take("hook_held").is_some() {
                state.held = Some(body);
                return;
            }
            state.held.take()
        };
        for _ in 0..times {
            self.send(body.clone(), is_forged);
        }
        if let Some(held) = held {
            self.send(held, false);
        }
    }

    fn send(&self, body: String, is_forged: bool) {
        let this = self.clone();
        #[expect(clippy::disallowed_methods, reason = "a hook of a network for development")]
        tokio::spawn(async move {
            for attempt in 0..ATTEMPTS {
                if this.is_taken(&body, is_forged).await {
                    return;
                }
                tokio::time::sleep(FIRST_PAUSE * 2_u32.pow(attempt)).await;
            }
        });
    }

    async fn is_taken(&self, body: &str, is_forged: bool) -> bool {
        let Some(url) = self.confirmed().await else { return false };
        let secret = if is_forged { "another secret" } else { self.secret.expose_secret() };
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), body.as_bytes());
        let request = self.client.post(url).header("content-type", "application/json");
        let request = request.header("x-hub-signature-256", format!("sha256={}", hex::encode(tag)));
        request.body(body.to_owned()).send().await.is_ok_and(|answer| answer.status().as_u16() == 200)
    }

    /// The address, once it has given the challenge back.
    async fn confirmed(&self) -> Option<String> {
        let (url, is_confirmed) = {
            let state = self.lock();
            (state.url.clone()?, state.is_confirmed)
        };
        if is_confirmed {
            return Some(url);
        }
        let query = [
            ("hub.mode", "subscribe"),
            ("hub.challenge", CHALLENGE),
            ("hub.verify_token", self.verify_token.expose_secret()),
        ];
        let mut asked = url::Url::parse(&url).ok()?;
        asked.query_pairs_mut().extend_pairs(query);
        let answer = self.client.get(asked).send().await.ok().filter(|answer| answer.status().as_u16() == 200)?;
        if answer.text().await.ok()? != CHALLENGE {
            return None;
        }
        self.lock().is_confirmed = true;
        Some(url)
    }
}

/// JSON with blanks after commas and colons, and every other character than ASCII escaped.
struct Escaped;

impl Formatter for Escaped {
    fn begin_array_value<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: io::Write + ?Sized>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut units = [0; 2];
        for character in fragment.chars() {
            if character.is_ascii() {
                write!(writer, "{character}")?;
                continue;
            }
            for unit in character.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }
}

fn escaped(event: &Value) -> Option<String> {
    let mut body = Vec::new();
    event.serialize(&mut Serializer::with_formatter(&mut body, Escaped)).ok()?;
    String::from_utf8(body).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_come_with_blanks_and_escaped() {
        let event = json!({ "a": ["¿Córdoba? 😍", 1], "b": null });
        let body = r#"{"a": ["\u00bfC\u00f3rdoba? \ud83d\ude0d", 1], "b": null}"#;
        assert_eq!(escaped(&event).as_deref(), Some(body));
    }
}
