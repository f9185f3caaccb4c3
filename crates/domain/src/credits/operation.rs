//! What is asked of the ledger. A value of these types is valid; whether the balance allows it is decided elsewhere.

use std::fmt;

use serde_json::{Map, Value, json};

use super::{Change, RechargeSource, TransactionKind};
use crate::AccountId;

/// A number of credits from 1 to [`CreditAmount::MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CreditAmount(i64);

/// A number is no amount of credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an amount of credits is a whole number from 1 to {}", CreditAmount::MAX)]
pub struct InvalidAmount;

impl CreditAmount {
    /// The largest amount of one operation: nine million of them fit into a balance.
    pub const MAX: i64 = 1_000_000_000_000;

    /// # Errors
    /// Below 1 or above [`Self::MAX`].
    pub const fn new(credits: i64) -> Result<Self, InvalidAmount> {
        if 1 <= credits && credits <= Self::MAX { Ok(Self(credits)) } else { Err(InvalidAmount) }
    }

    pub const fn get(self) -> i64 {
        self.0
    }
}

impl std::str::FromStr for CreditAmount {
    type Err = InvalidAmount;
    fn from_str(text: &str) -> Result<Self, InvalidAmount> {
        text.parse().map_err(|_| InvalidAmount).and_then(Self::new)
    }
}

impl fmt::Display for CreditAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The name of what is done, chosen by the client, unique in its account for ever: 1 to 255 visible ASCII
/// characters. Doing it again under the same name has no further effect.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationKey(String);

/// A text is no operation key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an operation key is 1 to 255 visible ASCII characters")]
pub struct InvalidOperationKey;

impl OperationKey {
    /// # Errors
    /// Empty, too long, or with a character that is not visible ASCII.
    pub fn new(key: impl Into<String>) -> Result<Self, InvalidOperationKey> {
        let key = key.into();
        let visible = key.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (1..=255).contains(&key.len()) { Ok(Self(key)) } else { Err(InvalidOperationKey) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for OperationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Characters of the name of a feature.
pub const MAX_FEATURE_CHARS: usize = 64;

/// The name of an AI feature, such as `insight_generation`: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureName(String);

/// A text is no feature name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a feature is named by 1 to 64 of a-z, 0-9, `.`, `_` and `-`")]
pub struct InvalidFeature;

impl FeatureName {
    /// # Errors
    /// Empty, too long, or with another character.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidFeature> {
        let name = name.into();
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
        if (1..=MAX_FEATURE_CHARS).contains(&name.len()) && name.bytes().all(allowed) {
            Ok(Self(name))
        } else {
            Err(InvalidFeature)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for FeatureName {
    type Err = InvalidFeature;
    fn from_str(text: &str) -> Result<Self, InvalidFeature> {
        Self::new(text)
    }
}

impl fmt::Display for FeatureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Credits to be taken for an AI feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Debit {
    pub account: AccountId,
    pub amount: CreditAmount,
    pub feature: FeatureName,
    pub key: OperationKey,
    /// Free-form; part of what a repetition has to repeat.
    pub meta: Map<String, Value>,
}

/// A debit to be refunded in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refund {
    pub account: AccountId,
    /// The key of the debit.
    pub debit_key: OperationKey,
    /// The key of the refund itself.
    pub key: OperationKey,
    /// Why, as receivers of `credit.refunded` read it.
    pub reason: String,
}

/// Credits to be granted.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    pub account: AccountId,
    pub amount: CreditAmount,
    pub key: OperationKey,
    /// Free-form: who, and why.
    pub meta: Map<String, Value>,
}

/// A correction of the balance.
#[derive(Debug, Clone, PartialEq)]
pub struct Adjust {
    pub account: AccountId,
    pub amount: CreditAmount,
    /// Whether the amount is taken away instead of added.
    pub take: bool,
    pub key: OperationKey,
    /// Free-form: who, and why.
    pub meta: Map<String, Value>,
}

impl Debit {
    /// The SHA-256 of what is asked, by which a repetition is told from another operation under the same key.
    pub fn fingerprint(&self) -> [u8; 32] {
        let Self { account: _, amount, feature, key: _, meta } = self;
        fingerprint(&json!([TransactionKind::Consume, amount.get(), feature.as_str(), meta]))
    }

    pub fn change(&self) -> Change {
        Change::Debit { amount: self.amount, feature: self.feature.clone() }
    }
}

impl Refund {
    /// See [`Debit::fingerprint`]. The reason is not part of it: a reaper that repeats a refund may word it otherwise.
    pub fn fingerprint(&self) -> [u8; 32] {
        let Self { account: _, debit_key, key: _, reason: _ } = self;
        fingerprint(&json!([TransactionKind::Refund, debit_key.as_str()]))
    }
}

impl Grant {
    /// See [`Debit::fingerprint`].
    pub fn fingerprint(&self) -> [u8; 32] {
        let Self { account: _, amount, key: _, meta } = self;
        fingerprint(&json!([TransactionKind::Grant, amount.get(), meta]))
    }
}

impl Adjust {
    /// See [`Debit::fingerprint`].
    pub fn fingerprint(&self) -> [u8; 32] {
        let Self { account: _, amount, take, key: _, meta } = self;
        fingerprint(&json!([TransactionKind::Adjustment, amount.get(), take, meta]))
    }
}

impl RechargeSource {
    /// The kind of the top-up's row.
    pub const fn kind(self) -> TransactionKind {
        match self {
            Self::Manual => TransactionKind::Topup,
            Self::Auto => TransactionKind::AutoTopup,
        }
    }
}

/// Equal values have equal digests, in whatever order the names of their objects came.
fn fingerprint(asked: &Value) -> [u8; 32] {
    let digest = ring::digest::digest(&ring::digest::SHA256, sorted(asked).to_string().as_bytes());
    digest.as_ref().try_into().unwrap_or_default()
}

/// The order of a map depends on how serde_json was built.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            fields.into_iter().map(|(name, value)| (name.clone(), sorted(value))).collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("1", Some(1))]
    #[case("1000000000000", Some(1_000_000_000_000))]
    #[case("0", None)]
    #[case("-5", None)]
    #[case("1.5", None)]
    #[case("1000000000001", None)]
    #[case("9223372036854775808", None)]
    #[case("", None)]
    fn an_amount_is_a_positive_whole_number(#[case] text: &str, #[case] amount: Option<i64>) {
        assert_eq!(text.parse().ok().map(CreditAmount::get), amount);
    }

    #[rstest]
    #[case("insight_wording", true)]
    #[case("Insight", false)]
    #[case("", false)]
    #[case("a b", false)]
    #[case("a\0", false)]
    fn a_feature_has_a_plain_name(#[case] name: &str, #[case] valid: bool) {
        assert_eq!(FeatureName::new(name).is_ok(), valid);
        assert!(FeatureName::new("a".repeat(65)).is_err());
    }

    #[rstest]
    #[case("insight:7", true)]
    #[case("", false)]
    #[case("a b", false)]
    #[case("ü", false)]
    fn a_key_is_visible_ascii(#[case] key: &str, #[case] valid: bool) {
        assert_eq!(OperationKey::new(key).is_ok(), valid);
        assert!(OperationKey::new("k".repeat(256)).is_err());
    }

    fn debit(amount: i64, meta: Value) -> Debit {
        let Value::Object(meta) = meta else { panic!("an object") };
        Debit {
            account: AccountId(1),
            amount: CreditAmount::new(amount).unwrap(),
            feature: FeatureName::new("chat").unwrap(),
            key: OperationKey::new("k").unwrap(),
            meta,
        }
    }

    #[test]
    fn a_repetition_has_the_same_fingerprint_and_another_operation_has_not() {
        let asked = debit(5, json!({"b": 1, "a": {"d": 1, "c": 2}})).fingerprint();
        assert_eq!(asked, debit(5, json!({"a": {"c": 2, "d": 1}, "b": 1})).fingerprint());
        assert_ne!(asked, debit(6, json!({"b": 1, "a": {"d": 1, "c": 2}})).fingerprint());
        assert_ne!(asked, debit(5, json!({})).fingerprint());
    }
}
