//! API keys: their text, what is stored of it, and what a key allows.
//!
//! A key is a prefix that names the mode, 32 random base-62 characters, and six base-62 digits of the CRC-32 (IEEE)
//! over everything before them, so that a typing error or a cut-off key is told apart without asking the database.

use std::{fmt, str::FromStr};

use async_trait::async_trait;
use ring::digest::{SHA256, digest};
use time::{Duration, OffsetDateTime};

use crate::{
    AccountId, KeyId, StoreError, UserId,
    accounts::{Mode, Profile},
    audit::Entry,
    mail::Outgoing,
};

const RANDOM_CHARS: usize = 32;
const CHECKSUM_CHARS: usize = 6;
/// How many characters of a key are kept in clear for display.
pub const DISPLAY_CHARS: usize = 12;
/// Characters of a key's name.
pub const MAX_NAME_CHARS: usize = 100;
/// Keys of an account that work at a time, as each has a limit of requests of its own; the operator may make more.
pub const MOST_WORKING: i64 = 100;
/// For how long a key is good unless it is said.
pub const DEFAULT_LIFETIME: Duration = Duration::days(90);
/// The longest time for which a key goes on working after another took its place.
pub const MAX_OVERLAP: Duration = Duration::days(7);
/// That time unless it is said.
pub const DEFAULT_OVERLAP: Duration = Duration::hours(24);
/// When a key was last used is written at most this often.
pub const USED_EVERY: Duration = Duration::minutes(5);

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

text_enum!(
    /// What a key may do. `write` does not imply `read`.
    Scope { Read = "read", Write = "write" }
);

/// A well-formed key: prefix, length, alphabet and checksum are right. Its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// Why a token is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    #[error("a key starts with svc_live_ or svc_test_")]
    Prefix,
    #[error("the key is incomplete or mistyped")]
    Checksum,
}

impl ApiKey {
    /// Makes a key from random bytes (unbiased: bytes that do not map evenly onto base 62 are skipped).
    pub fn generate(mode: Mode, random: impl Iterator<Item = u8>) -> Self {
        let body = format!("{}{}", prefix(mode), base62(random, RANDOM_CHARS));
        let sum = checksum(&body);
        Self(body + &sum)
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What is stored and looked up: SHA-256 of the whole key. The key has 190 bits of entropy, so no salt is needed.
    pub fn hash(&self) -> KeyHash {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, self.0.as_bytes()).as_ref());
        KeyHash(hash)
    }

    /// The first characters, for display.
    pub fn display_prefix(&self) -> &str {
        self.0.get(..DISPLAY_CHARS).unwrap_or(&self.0)
    }
}

impl FromStr for ApiKey {
    type Err = InvalidKey;
    fn from_str(token: &str) -> Result<Self, InvalidKey> {
        let mode = Mode::ALL.iter().find(|mode| token.starts_with(prefix(**mode))).ok_or(InvalidKey::Prefix)?;
        let body_len = prefix(*mode).len() + RANDOM_CHARS;
        let well_formed = token.len() == body_len + CHECKSUM_CHARS
            && token.bytes().skip(prefix(*mode).len()).all(|b| b.is_ascii_alphanumeric());
        match token.split_at_checked(body_len) {
            Some((body, sum)) if well_formed && checksum(body) == sum => Ok(Self(token.to_owned())),
            _ => Err(InvalidKey::Checksum),
        }
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({}…)", self.display_prefix())
    }
}

const fn prefix(mode: Mode) -> &'static str {
    match mode {
        Mode::Live => "svc_live_",
        Mode::Test => "svc_test_",
    }
}

fn checksum(body: &str) -> String {
    let mut rest = crc32fast::hash(body.as_bytes());
    let mut digits = [b'0'; CHECKSUM_CHARS];
    for digit in digits.iter_mut().rev() {
        *digit = base62_digit(rest % 62);
        rest /= 62;
    }
    digits.iter().map(|b| char::from(*b)).collect()
}

fn base62_digit(value: u32) -> u8 {
    usize::try_from(value).ok().and_then(|index| BASE62.get(index)).copied().unwrap_or(b'0')
}

/// `len` base-62 characters from random bytes; fewer only when `random` ends.
pub(crate) fn base62(random: impl Iterator<Item = u8>, len: usize) -> String {
    // 248 = 4 × 62: larger bytes would make the first characters of the alphabet likelier.
    random.filter(|b| *b < 248).take(len).map(|b| char::from(base62_digit(u32::from(b) % 62))).collect()
}

/// SHA-256 of a key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// A stored key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    pub id: KeyId,
    pub hash: KeyHash,
    pub account_id: AccountId,
    pub user_id: UserId,
    pub mode: Mode,
    /// Of the account that the key opens.
    pub profile: Profile,
    pub name: String,
    /// The first [`DISPLAY_CHARS`] characters.
    pub prefix: String,
    pub scopes: Vec<Scope>,
    pub created_at: OffsetDateTime,
    pub expires_at: Option<OffsetDateTime>,
    pub revoked_at: Option<OffsetDateTime>,
    /// When it last opened its account, up to [`USED_EVERY`] later; `None` if it never did. In memory it may be older.
    pub last_used_at: Option<OffsetDateTime>,
    /// Who made it, by the name of that time; `None` where it was the command line.
    pub made_by: Option<String>,
}

/// Why a known key opens nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefused {
    #[error("the key is revoked")]
    Revoked,
    #[error("the key has expired")]
    Expired,
}

impl KeyRecord {
    /// Whether the key opens its account at `now`. A revocation counts whenever it is dated: the clock that dated it may be
    /// ahead of this one. A key that is both revoked and expired is reported as revoked.
    pub fn check(&self, now: OffsetDateTime) -> Result<(), KeyRefused> {
        if self.revoked_at.is_some() {
            Err(KeyRefused::Revoked)
        } else if self.expires_at.is_some_and(|at| at <= now) {
            Err(KeyRefused::Expired)
        } else {
            Ok(())
        }
    }

    pub fn allows(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

/// Why there is no new key.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    #[error("the account has as many working keys as it may have")]
    LimitReached,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A key to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    pub hash: KeyHash,
    pub account_id: AccountId,
    pub name: String,
    pub prefix: String,
    pub scopes: Vec<Scope>,
    pub created_at: OffsetDateTime,
    pub expires_at: Option<OffsetDateTime>,
    /// For the audit log, which says who makes it.
    pub note: Option<Entry>,
    /// Tells the person who makes it.
    pub notice: Option<Outgoing>,
}

/// A key that takes the place of another, with its name and scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Successor {
    pub hash: KeyHash,
    pub prefix: String,
    pub now: OffsetDateTime,
    pub expires_at: Option<OffsetDateTime>,
    /// When the replaced key ends, unless it ends before.
    pub overlap_until: OffsetDateTime,
    /// For the audit log, which says who makes it.
    pub note: Option<Entry>,
    /// Tells the person who makes it.
    pub notice: Option<Outgoing>,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait KeyStore: Send + Sync {
    /// The id of a key that was found lately and not revoked since, as far as this process has heard. It opens nothing:
    /// it only says whose requests these are likely to be, and waits for nothing itself.
    fn known_id(&self, hash: KeyHash) -> Option<KeyId>;
    async fn find(&self, hash: KeyHash) -> Result<Option<KeyRecord>, StoreError>;
    /// Notes that a key opened its account. It waits for nothing; what is noted is written later, each key at most every
    /// [`USED_EVERY`], and may be lost with the process.
    fn note_use(&self, hash: KeyHash, at: OffsetDateTime);
    /// Stores a key, unless `most` of the account's work already.
    async fn create(&self, key: NewKey, most: Option<i64>) -> Result<KeyRecord, MakeError>;
    /// Puts a key in the place of another, and tells every process when that one ends. `None` when the account has no such
    /// key, or it works no longer. Refused where `most` others work: a key goes on working for the overlap, and could be
    /// rotated time and again.
    async fn rotate(
        &self,
        account: AccountId,
        id: KeyId,
        successor: Successor,
        most: Option<i64>,
    ) -> Result<Option<KeyRecord>, MakeError>;
    /// The account's keys, newest first.
    async fn list(&self, account: AccountId) -> Result<Vec<KeyRecord>, StoreError>;
    /// Revokes a key and tells every process. `None` when the account has no such key; a second revocation keeps the
    /// first instant.
    async fn revoke(
        &self,
        account: AccountId,
        id: KeyId,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Option<KeyRecord>, StoreError>;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::macros::datetime;

    use super::*;

    fn key(mode: Mode) -> ApiKey {
        ApiKey::generate(mode, (0u8..=255).cycle().map(|b| b.wrapping_mul(37)))
    }

    #[test]
    fn the_checksum_is_the_crc_32_of_the_ieee_in_base_62() {
        // CRC-32 of "123456789" is 0xCBF43926 (the check value of the CRC catalogue) = 3421780262 = "3jZSPq" in base 62.
        let mut rest = 3_421_780_262_u64;
        let mut digits = Vec::new();
        while rest > 0 {
            digits.push(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[(rest % 62) as usize]);
            rest /= 62;
        }
        digits.reverse();
        assert_eq!(checksum("123456789").as_bytes(), digits);
    }

    #[test]
    fn a_generated_key_has_the_documented_form_and_is_read_back() {
        let live = key(Mode::Live);
        assert!(live.expose().starts_with("svc_live_"));
        assert_eq!(live.expose().len(), 9 + 32 + 6);
        assert_eq!(live.expose().parse::<ApiKey>().unwrap(), live);
    }

    #[test]
    fn a_key_of_the_other_mode_does_not_verify() {
        let swapped = key(Mode::Live).expose().replacen("live", "test", 1);
        assert_eq!(swapped.parse::<ApiKey>(), Err(InvalidKey::Checksum));
    }

    #[test]
    fn a_key_does_not_show_in_debug_output() {
        let live = key(Mode::Live);
        assert!(!format!("{live:?} {:?}", live.hash()).contains(live.expose().get(12..).unwrap()));
    }

    #[test]
    fn revoked_is_reported_before_expired() {
        let now = datetime!(2026-05-01 0:00 UTC);
        let record = KeyRecord {
            id: KeyId(1),
            hash: key(Mode::Live).hash(),
            account_id: AccountId(1),
            user_id: UserId::generate((0..=255).cycle()),
            mode: Mode::Live,
            profile: Profile {
                plan: crate::accounts::Plan::Free,
                currency: "USD".parse().unwrap(),
                timezone: "UTC".parse().unwrap(),
                locale: crate::texts::Locale::ENGLISH,
                created_at: now,
            },
            name: String::new(),
            prefix: String::new(),
            scopes: vec![Scope::Write],
            created_at: now,
            expires_at: Some(now),
            revoked_at: Some(now),
            last_used_at: None,
            made_by: None,
        };
        assert_eq!(record.check(now), Err(KeyRefused::Revoked));
        let dated_ahead = KeyRecord { revoked_at: Some(now + time::Duration::seconds(30)), ..record.clone() };
        assert_eq!(dated_ahead.check(now), Err(KeyRefused::Revoked));
        assert!(!record.allows(Scope::Read));
        let expired = KeyRecord { revoked_at: None, ..record };
        assert_eq!(expired.check(now), Err(KeyRefused::Expired));
    }

    proptest! {
        #[test]
        fn any_single_change_of_a_character_is_noticed(at in 9usize..47, to in "[0-9A-Za-z]") {
            let good = key(Mode::Live);
            let mut changed = good.expose().to_owned();
            changed.replace_range(at..=at, &to);
            prop_assume!(changed != good.expose());
            prop_assert_eq!(changed.parse::<ApiKey>(), Err(InvalidKey::Checksum));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".*") {
            let _ = text.parse::<ApiKey>();
        }
    }
}
