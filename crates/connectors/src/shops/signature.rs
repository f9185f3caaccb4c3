//! Signatures of what platforms send: HMAC-SHA256 (RFC 2104) with the app's secret, compared in constant time.

use ring::hmac;
use secrecy::{ExposeSecret, SecretString};

use super::AppCredentials;

/// The keys that a signature may be made with: the app's present secret and, while it is changed, the one before.
#[derive(Debug, Clone)]
pub struct Keys {
    present: hmac::Key,
    previous: Option<hmac::Key>,
}

impl Keys {
    pub fn new(app: &AppCredentials) -> Self {
        Self { present: key(&app.client_secret), previous: app.previous_secret.as_ref().map(key) }
    }

    /// Whether one of the keys made the tag. Both are tried whatever the first one says.
    pub fn accept(&self, message: &[u8], tag: &[u8]) -> bool {
        let with = |key: &hmac::Key| hmac::verify(key, message, tag).is_ok();
        with(&self.present) | self.previous.as_ref().is_some_and(with)
    }
}

fn key(secret: &SecretString) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes())
}

/// The tag of a message with a secret.
pub fn sign(secret: &SecretString, message: &[u8]) -> Vec<u8> {
    hmac::sign(&key(secret), message).as_ref().to_vec()
}
