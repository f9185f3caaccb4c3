use domain::AccountId;
use proptest::prelude::*;
use rstest::rstest;

use super::*;

/// Base64 of 32 bytes of 0x01, and of 0x02.
const KEY_1: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const KEY_2: &str = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";

fn ring(text: &str) -> KeyRing {
    KeyRing::parse(text).unwrap()
}

fn binding(account: i64, row: i64) -> Binding {
    Binding { purpose: "webhook_secret", account: AccountId(account), row }
}

/// Sealed by Python's `cryptography` (AESGCM) with key 1 and the nonce 0, 1, …, 11, in the documented layout.
#[test]
fn the_format_is_the_documented_one() {
    let sealed = hex::decode(SEALED_ELSEWHERE).unwrap();
    assert_eq!(ring(&format!("k1:{KEY_1}")).open(binding(7, 42), &sealed).unwrap(), b"whsec_example");
}

const SEALED_ELSEWHERE: &str =
    "01026b31000102030405060708090a0bcccee64343a163019f0797a8451608fdd25f616fe042c6216bd56373db";

proptest! {
    #[test]
    fn what_is_sealed_opens_in_its_place_alone(
        secret in proptest::collection::vec(any::<u8>(), 0..200),
        account: i64,
        row: i64,
        other: i64,
    ) {
        let keys = ring(&format!("k1:{KEY_1}"));
        let sealed = keys.seal(binding(account, row), &secret).unwrap();
        prop_assert_eq!(sealed.len(), 4 + 12 + secret.len() + 16);
        prop_assert_eq!(keys.open(binding(account, row), &sealed), Ok(secret));
        if other != row {
            prop_assert_eq!(keys.open(binding(account, other), &sealed), Err(SealError::Forged));
        }
        if other != account {
            prop_assert_eq!(keys.open(binding(other, row), &sealed), Err(SealError::Forged));
        }
        let elsewhere = Binding { purpose: "shop_token", ..binding(account, row) };
        prop_assert_eq!(keys.open(elsewhere, &sealed), Err(SealError::Forged));
    }

    #[test]
    fn a_changed_byte_anywhere_is_refused(index: proptest::sample::Index, flip in 1u8..) {
        let keys = ring(&format!("k1:{KEY_1},k2:{KEY_2}"));
        let mut sealed = keys.seal(binding(1, 2), b"whsec_example").unwrap();
        let at = index.index(sealed.len());
        sealed[at] ^= flip;
        prop_assert!(keys.open(binding(1, 2), &sealed).is_err());
    }

    #[test]
    fn a_cut_or_arbitrary_value_is_refused(length in 0usize..45, noise in proptest::collection::vec(any::<u8>(), 0..80)) {
        let keys = ring(&format!("k1:{KEY_1}"));
        let sealed = keys.seal(binding(1, 2), b"whsec_example").unwrap();
        prop_assert_eq!(sealed.len(), 45);
        prop_assert!(keys.open(binding(1, 2), &sealed[..length]).is_err());
        prop_assert!(keys.open(binding(1, 2), &noise).is_err());
    }
}

#[test]
fn the_same_secret_never_looks_the_same() {
    let keys = ring(&format!("k1:{KEY_1}"));
    let sealed = || keys.seal(binding(1, 2), b"whsec_example").unwrap();
    assert_ne!(sealed(), sealed());
}

#[test]
fn keys_are_exchanged_by_sealing_again() {
    let old = ring(&format!("k1:{KEY_1}"));
    let sealed = old.seal(binding(1, 2), b"whsec_example").unwrap();
    assert!(!old.is_outdated(&sealed));

    let both = ring(&format!("k2:{KEY_2},k1:{KEY_1}"));
    assert_eq!(both.newest_id(), "k2");
    assert!(both.is_outdated(&sealed));
    let opened = both.open(binding(1, 2), &sealed).unwrap();
    let again = both.seal(binding(1, 2), &opened).unwrap();
    assert!(!both.is_outdated(&again));

    let new = ring(&format!("k2:{KEY_2}"));
    assert_eq!(new.open(binding(1, 2), &again).unwrap(), b"whsec_example");
    assert_eq!(new.open(binding(1, 2), &sealed), Err(SealError::UnknownKey("k1".into())));
    // Another key under a known id.
    assert_eq!(ring(&format!("k1:{KEY_2}")).open(binding(1, 2), &sealed), Err(SealError::Forged));
    assert!(new.is_outdated(b"") && new.is_outdated(b"\x02\x02k2"));
}

#[rstest]
#[case("", InvalidKeys::Empty)]
#[case(" ", InvalidKeys::Empty)]
#[case("AQEB", InvalidKeys::Form(1))]
#[case("k1:{1},", InvalidKeys::Form(2))]
#[case(":{1}", InvalidKeys::Id(1))]
#[case("k 1:{1}", InvalidKeys::Id(1))]
#[case("abcdefghijklmnopqrstuvwxyz0123456:{1}", InvalidKeys::Id(1))]
#[case("k1:", InvalidKeys::Key(1))]
#[case("k1:AQEB", InvalidKeys::Key(1))]
#[case("k1:{1}AQEB", InvalidKeys::Key(1))]
#[case("k1:{1},k2:nonsense", InvalidKeys::Key(2))]
#[case("k1:{1},k1:{2}", InvalidKeys::Duplicate(2))]
fn unusable_keys_are_named_by_position(#[case] text: &str, #[case] why: InvalidKeys) {
    let text = text.replace("{1}", KEY_1).replace("{2}", KEY_2);
    let refused = KeyRing::parse(&text).unwrap_err();
    assert_eq!(refused, why);
    assert!(!refused.to_string().contains("AQEB"));
}

#[test]
fn a_generated_key_is_read_and_not_shown() {
    let entry = KeyRing::generate_entry("k1").unwrap();
    assert_ne!(entry, KeyRing::generate_entry("k1").unwrap());
    let keys = ring(&format!("{entry},k0:{KEY_1}"));
    assert_eq!(format!("{keys:?}"), r#"KeyRing["k1", "k0"]"#);
}

/// Computed by Python's `hmac` with key 1.
#[test]
fn a_key_is_known_by_a_value_of_its_own() {
    let checks = ring(&format!("k1:{KEY_1},k2:{KEY_2}")).checks();
    assert_eq!(checks.iter().map(|check| check.id.as_str()).collect::<Vec<_>>(), ["k1", "k2"]);
    assert_eq!(hex::encode(&checks[0].value), "805ca92dc8a9aaa5a013a7dfb388098e325f63e78e68a1ac05fa4f7b982be150");
    assert_ne!(ring(&format!("k1:{KEY_2}")).checks()[0].value, checks[0].value);
}
