//! Secrets at rest: AES-256-GCM under keys from the configuration.
//!
//! A sealed value is `version (1) ‖ length of key id ‖ key id ‖ nonce (12) ‖ ciphertext ‖ tag (16)`. All before the
//! nonce, and the row it belongs to, are authenticated too. Nonces are random: a key is good for 2³² values.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    data_keys::KeyCheck,
    sealing::{Binding, SealError, Sealer},
};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

const VERSION: u8 = 1;
const KEY_BYTES: usize = 32;
const MAX_ID_CHARS: usize = 32;
/// The check value of a key is computed from this; nothing is ever sealed with it.
const CHECKED: &[u8] = b"data key check 1:";

/// The data keys: the first seals, all open. Its `Debug` shows the ids only.
pub struct KeyRing {
    newest: DataKey,
    older: Vec<DataKey>,
    random: SystemRandom,
}

struct DataKey {
    id: String,
    key: LessSafeKey,
    /// HMAC-SHA-256 under the key of [`CHECKED`] and the id.
    check: Vec<u8>,
}

/// The configured data keys cannot be used. Says which entry by its position, never what is in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKeys {
    #[error("no data key is configured")]
    Empty,
    #[error("data key {0} is not written as id:base64")]
    Form(usize),
    #[error("the id of data key {0} is not 1 to {MAX_ID_CHARS} letters, digits, hyphens or underscores")]
    Id(usize),
    #[error("data key {0} is not the base64 of {KEY_BYTES} bytes")]
    Key(usize),
    #[error("data key {0} has the id of another one")]
    Duplicate(usize),
}

impl KeyRing {
    /// Reads `id:base64,id2:base64`: ids of 1 to 32 letters, digits, hyphens or underscores, keys of 32 bytes.
    ///
    /// # Errors
    /// [`InvalidKeys`] naming the position, from 1, of the first entry that is wrong.
    pub fn parse(text: &str) -> Result<Self, InvalidKeys> {
        if text.trim().is_empty() {
            return Err(InvalidKeys::Empty);
        }
        let mut keys: Vec<DataKey> = Vec::new();
        for (entry, position) in text.split(',').zip(1..) {
            let key = parse_entry(entry.trim(), position)?;
            if keys.iter().any(|other| other.id == key.id) {
                return Err(InvalidKeys::Duplicate(position));
            }
            keys.push(key);
        }
        let newest = keys.remove(0);
        Ok(Self { newest, older: keys, random: SystemRandom::new() })
    }

    /// Makes one key in the form that [`KeyRing::parse`] reads.
    ///
    /// # Errors
    /// [`SealError::Random`] when the system's random generator fails.
    pub fn generate_entry(id: &str) -> Result<String, SealError> {
        let mut key = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut key).map_err(|_| SealError::Random)?;
        Ok(format!("{id}:{}", STANDARD.encode(key)))
    }

    /// What each key is known by, in the order of the configuration: 32 bytes that only this key gives, and that reveal
    /// nothing of it.
    pub fn checks(&self) -> Vec<KeyCheck> {
        let keys = std::iter::once(&self.newest).chain(&self.older);
        keys.map(|DataKey { id, key: _, check }| KeyCheck { id: id.clone(), value: check.clone() }).collect()
    }

    /// The id of the key that seals.
    pub fn newest_id(&self) -> &str {
        &self.newest.id
    }

    fn key(&self, id: &str) -> Option<&DataKey> {
        std::iter::once(&self.newest).chain(&self.older).find(|key| key.id == id)
    }
}

fn parse_entry(entry: &str, position: usize) -> Result<DataKey, InvalidKeys> {
    let (id, encoded) = entry.split_once(':').ok_or(InvalidKeys::Form(position))?;
    let valid = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if !(1..=MAX_ID_CHARS).contains(&id.len()) || !id.bytes().all(valid) {
        return Err(InvalidKeys::Id(position));
    }
    let bytes = STANDARD.decode(encoded).map_err(|_| InvalidKeys::Key(position))?;
    // Refuses every other length than that of the algorithm.
    let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| InvalidKeys::Key(position))?;
    let check = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &bytes), &[CHECKED, id.as_bytes()].concat());
    Ok(DataKey { id: id.to_owned(), key: LessSafeKey::new(key), check: check.as_ref().to_vec() })
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = std::iter::once(&self.newest).chain(&self.older).map(|key| &key.id);
        f.write_str("KeyRing")?;
        f.debug_list().entries(ids).finish()
    }
}

impl Sealer for KeyRing {
    fn seal(&self, binding: Binding, secret: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).map_err(|_| SealError::Random)?;
        let head = head(&self.newest.id);
        let aad = associated_data(&head, binding);
        let mut text = secret.to_vec();
        self.newest
            .key
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::from(aad), &mut text)
            // Only a plaintext of gigabytes is refused.
            .map_err(|_| SealError::Format)?;
        Ok([head.as_slice(), &nonce, &text].concat())
    }

    fn open(&self, binding: Binding, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        let (id, rest) = split_head(sealed).ok_or(SealError::Format)?;
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_LEN>().ok_or(SealError::Format)?;
        let key = self.key(id).ok_or_else(|| SealError::UnknownKey(id.to_owned()))?;
        let aad = associated_data(&head(id), binding);
        let mut text = ciphertext.to_vec();
        let opened = key
            .key
            .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(aad), &mut text)
            .map_err(|_| SealError::Forged)?;
        Ok(opened.to_vec())
    }

    fn is_outdated(&self, sealed: &[u8]) -> bool {
        split_head(sealed).is_none_or(|(id, _)| id != self.newest.id)
    }
}

/// Version, length of the key id, key id.
fn head(id: &str) -> Vec<u8> {
    // Ids have at most 32 characters.
    let length = u8::try_from(id.len()).unwrap_or(u8::MAX);
    [&[VERSION, length], id.as_bytes()].concat()
}

/// The key id and what follows the head, if it is one of this version.
fn split_head(sealed: &[u8]) -> Option<(&str, &[u8])> {
    let (&[version, length], rest) = sealed.split_first_chunk::<2>()?;
    let (id, rest) = rest.split_at_checked(usize::from(length))?;
    let id = std::str::from_utf8(id).ok()?;
    (version == VERSION).then_some((id, rest))
}

/// What must be the same at opening. Head and numbers have fixed places, so no two bindings give the same bytes.
fn associated_data(head: &[u8], binding: Binding) -> Vec<u8> {
    let Binding { purpose, account, row } = binding;
    [head, &account.0.to_be_bytes(), &row.to_be_bytes(), purpose.as_bytes()].concat()
}

#[cfg(test)]
mod tests;
