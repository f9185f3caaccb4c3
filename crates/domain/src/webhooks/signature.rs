//! What makes a delivery verifiable: the secret of a subscription and the headers computed with it.
//!
//! Two schemes ride on every request. `x-svc-signature` is ours; the three `webhook-…` headers follow
//! [Standard Webhooks](https://www.standardwebhooks.com), so that its libraries verify a delivery as it is.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;
use subtle::{Choice, ConstantTimeEq};
use time::OffsetDateTime;

use crate::DeliveryId;

/// What the text of a secret starts with.
pub const SECRET_PREFIX: &str = "whsec_";

/// The signing secret of a subscription: `whsec_` and the base64 of 32 random bytes. Its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    text: String,
    decoded: Vec<u8>,
}

/// A text is not a signing secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidSecret {
    #[error("a signing secret starts with whsec_")]
    Prefix,
    #[error("a signing secret is base64 of at least one byte after whsec_")]
    Base64,
}

impl Secret {
    /// Makes a secret from 32 bytes of a cryptographic random generator.
    pub fn generate(random: [u8; 32]) -> Self {
        Self { text: format!("{SECRET_PREFIX}{}", STANDARD.encode(random)), decoded: random.to_vec() }
    }

    /// Reads a secret of any length.
    ///
    /// # Errors
    /// [`InvalidSecret`] without the prefix or when the rest is not padded standard base64.
    pub fn parse(text: &str) -> Result<Self, InvalidSecret> {
        let encoded = text.strip_prefix(SECRET_PREFIX).ok_or(InvalidSecret::Prefix)?;
        let decoded = STANDARD.decode(encoded).map_err(|_| InvalidSecret::Base64)?;
        if decoded.is_empty() {
            return Err(InvalidSecret::Base64);
        }
        Ok(Self { text: text.to_owned(), decoded })
    }

    /// The text as the integrator has it, with the prefix.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// `x-svc-signature`: HMAC-SHA256 over `timestamp.body` in 64 lower-case hex digits. The key is the text after the
    /// prefix as it stands, *not* base64-decoded.
    pub fn sign(&self, timestamp: &str, body: &[u8]) -> String {
        hex::encode(self.svc_tag([timestamp.as_bytes(), b".", body]))
    }

    /// One value of `webhook-signature`: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. The key is the
    /// text after the prefix, base64-decoded.
    pub fn sign_standard(&self, id: &str, timestamp: &str, body: &[u8]) -> String {
        let message = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body];
        format!("v1,{}", STANDARD.encode(tag(&self.decoded, message)))
    }

    /// Checks `x-svc-signature` as a receiver must, in constant time; says which part is wrong.
    ///
    /// # Errors
    /// The first [`VerifyFault`]; [`VerifyFault::Age`] only when everything else is right.
    pub fn verify(
        &self,
        timestamp: &str,
        signature: &str,
        body: &[u8],
        now: OffsetDateTime,
    ) -> Result<(), VerifyFault> {
        let sent = unix_seconds(timestamp)?;
        let lower = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if signature.len() != 64 || !signature.bytes().all(lower) {
            return Err(VerifyFault::SignatureForm);
        }
        let given = hex::decode(signature).map_err(|_| VerifyFault::SignatureForm)?;
        let expected = self.svc_tag([timestamp.as_bytes(), b".", body]);
        check(&[given], &expected)?;
        check_age(sent, now)
    }

    /// Checks the three Standard Webhooks headers; one right `v1,` value of several is enough.
    ///
    /// # Errors
    /// The first [`VerifyFault`]; [`VerifyFault::Age`] only when everything else is right.
    pub fn verify_standard(
        &self,
        id: &str,
        timestamp: &str,
        signatures: &str,
        body: &[u8],
        now: OffsetDateTime,
    ) -> Result<(), VerifyFault> {
        let sent = unix_seconds(timestamp)?;
        let values = signatures.split(' ').filter_map(|value| value.strip_prefix("v1,"));
        let given: Vec<_> = values.filter_map(|value| STANDARD.decode(value).ok()).collect();
        if given.is_empty() {
            return Err(VerifyFault::SignatureForm);
        }
        let expected = tag(&self.decoded, [id.as_bytes(), b".", timestamp.as_bytes(), b".", body]);
        check(&given, &expected)?;
        check_age(sent, now)
    }

    fn svc_tag(&self, message: [&[u8]; 3]) -> hmac::Tag {
        let key = self.text.strip_prefix(SECRET_PREFIX).unwrap_or(&self.text);
        tag(key.as_bytes(), message)
    }
}

/// Why a delivery does not verify.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyFault {
    #[error("the timestamp is not a whole number of Unix seconds")]
    TimestampForm,
    #[error("the signature is not in the form of its header")]
    SignatureForm,
    #[error("the signature is of another secret, timestamp, id or body: sign the raw bytes as they were received")]
    Mismatch,
    #[error("the signature is right, but {0} s away from now; more than {MAX_AGE_SECONDS} s may be a replay")]
    Age(i64),
}

/// How far the timestamp of a delivery may be from the receiver's clock, in seconds.
pub const MAX_AGE_SECONDS: i64 = 300;

fn unix_seconds(timestamp: &str) -> Result<i64, VerifyFault> {
    let digits = timestamp.bytes().all(|b| b.is_ascii_digit());
    timestamp.parse().ok().filter(|_| digits).ok_or(VerifyFault::TimestampForm)
}

fn check(given: &[Vec<u8>], expected: &hmac::Tag) -> Result<(), VerifyFault> {
    // No early end: how many values are wrong must not show in the time taken.
    let right = given.iter().fold(Choice::from(0), |right, value| right | value.as_slice().ct_eq(expected.as_ref()));
    if bool::from(right) { Ok(()) } else { Err(VerifyFault::Mismatch) }
}

fn check_age(sent: i64, now: OffsetDateTime) -> Result<(), VerifyFault> {
    let age = now.unix_timestamp().saturating_sub(sent);
    if age.saturating_abs() > MAX_AGE_SECONDS { Err(VerifyFault::Age(age)) } else { Ok(()) }
}

fn tag<const N: usize>(key: &[u8], message: [&[u8]; N]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, key));
    for part in message {
        context.update(part);
    }
    context.sign()
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(whsec_…)")
    }
}

/// What one attempt of a delivery signs and says about itself.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'a> {
    /// The same over all attempts and resends: receivers de-duplicate by it.
    pub delivery_id: DeliveryId,
    pub event_id: &'a str,
    /// From 1.
    pub attempt: u32,
    /// When this attempt is made, so that old requests cannot be replayed.
    pub now: OffsetDateTime,
    pub secret: &'a Secret,
    /// The secret before a rotation, while both are valid.
    pub previous: Option<&'a Secret>,
    pub body: &'a [u8],
}

impl Envelope<'_> {
    /// All headers of the attempt that depend on the delivery, signatures included.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let id = self.delivery_id.to_string();
        let timestamp = self.now.unix_timestamp().to_string();
        let mut standard = self.secret.sign_standard(&id, &timestamp, self.body);
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("x-svc-signature", self.secret.sign(&timestamp, self.body)),
        ];
        if let Some(previous) = self.previous {
            headers.push(("x-svc-signature-previous", previous.sign(&timestamp, self.body)));
            standard.push(' ');
            standard.push_str(&previous.sign_standard(&id, &timestamp, self.body));
        }
        headers.extend([
            ("x-svc-timestamp", timestamp.clone()),
            ("x-svc-delivery-id", id.clone()),
            ("x-svc-event-id", self.event_id.to_owned()),
            ("x-svc-attempt", self.attempt.to_string()),
            ("webhook-id", id),
            ("webhook-timestamp", timestamp),
            ("webhook-signature", standard),
        ]);
        headers
    }
}

#[cfg(test)]
mod tests;
