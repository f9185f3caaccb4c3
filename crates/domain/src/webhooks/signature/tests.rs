use rstest::rstest;
use time::macros::datetime;
use uuid::uuid;

use super::*;

/// Test cases 1, 2 and 6 of RFC 4231.
#[rstest]
#[case(&[0x0b; 20], b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")]
#[case(b"Jefe", b"what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")]
#[case(
    &[0xaa; 131],
    b"Test Using Larger Than Block-Size Key - Hash Key First",
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
)]
fn the_mac_is_hmac_sha256(#[case] key: &[u8], #[case] message: &[u8], #[case] mac: &str) {
    assert_eq!(hex::encode(tag(key, [message])), mac);
    let (head, tail) = message.split_at(3);
    assert_eq!(hex::encode(tag(key, [head, b"", tail])), mac);
}

/// The example that Standard Webhooks and its libraries are tested with.
#[test]
fn the_standard_signature_is_that_of_standard_webhooks() {
    let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    assert_eq!(
        secret.sign_standard("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#),
        "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    );
}

const BODY: &str = r#"{"event":"credits.low","data":{"balance":"99.50","name":"Café"}}"#;

/// The expected values come from Python's `hmac` (and, for the first, `openssl dgst -sha256 -hmac`), with the secrets
/// `whsec_` + base64 of the bytes 0…31 and 32…63.
#[test]
fn the_headers_carry_both_signatures() {
    let secret = Secret::generate(std::array::from_fn(|i| i as u8));
    let envelope = Envelope {
        delivery_id: DeliveryId(uuid!("019b76da-a800-7000-8000-000000000001")),
        event_id: "019b76da-a800-7000-8000-000000000002",
        attempt: 3,
        now: datetime!(2026-01-01 00:00:00.9 UTC),
        secret: &secret,
        previous: None,
        body: BODY.as_bytes(),
    };
    let ours = "d3dd9275935606058b47b1df01b8b64a826f3ba1413287e34714262ba69ed6e8";
    let standard = "v1,bS6EmjbvyL42ERWKtrxLOraafr89V6ELqAPP+UDBBvQ=";
    let expected = [
        ("content-type", "application/json"),
        ("x-svc-signature", ours),
        ("x-svc-timestamp", "1767225600"),
        ("x-svc-delivery-id", "019b76da-a800-7000-8000-000000000001"),
        ("x-svc-event-id", "019b76da-a800-7000-8000-000000000002"),
        ("x-svc-attempt", "3"),
        ("webhook-id", "019b76da-a800-7000-8000-000000000001"),
        ("webhook-timestamp", "1767225600"),
        ("webhook-signature", standard),
    ];
    assert_eq!(envelope.headers(), expected.map(|(name, value)| (name, value.to_owned())));

    let previous = Secret::generate(std::array::from_fn(|i| 32 + i as u8));
    let headers = Envelope { previous: Some(&previous), ..envelope }.headers();
    let value = |name| headers.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str());
    assert_eq!(value("x-svc-signature"), Some(ours));
    assert_eq!(
        value("x-svc-signature-previous"),
        Some("fac9ee6d7918ca1137fee3ca708e1dc18a790dc7c27ff0abed7289a09a2c96c2")
    );
    let both = format!("{standard} v1,GRXRqN+6C39BMYIQzIzEs06Fp6Xkx4u21nWhbFbMgQc=");
    assert_eq!(value("webhook-signature"), Some(both.as_str()));
}

#[test]
fn a_secret_is_prefixed_base64_of_its_32_bytes() {
    let secret = Secret::generate(std::array::from_fn(|i| i as u8));
    assert_eq!(secret.expose(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
    assert_eq!(Secret::parse(secret.expose()), Ok(secret));
}

#[rstest]
#[case("", InvalidSecret::Prefix)]
#[case("AAECAwQF", InvalidSecret::Prefix)]
#[case("WHSEC_AAECAwQF", InvalidSecret::Prefix)]
#[case("whsec_", InvalidSecret::Base64)]
#[case("whsec_AAECAwQ", InvalidSecret::Base64)]
#[case("whsec_AAEC_wQF", InvalidSecret::Base64)]
#[case("whsec_AAECAwQF\n", InvalidSecret::Base64)]
fn what_is_no_secret_is_refused(#[case] text: &str, #[case] why: InvalidSecret) {
    assert_eq!(Secret::parse(text), Err(why));
}

#[test]
fn debug_keeps_the_secret() {
    let shown = format!("{:?}", Secret::generate([7; 32]));
    assert_eq!(shown, "Secret(whsec_…)");
}

const SENT: &str = "1767225600";
const SIGNATURE: &str = "d3dd9275935606058b47b1df01b8b64a826f3ba1413287e34714262ba69ed6e8";
const NOW: OffsetDateTime = datetime!(2026-01-01 00:00:10 UTC);

fn secret() -> Secret {
    Secret::generate(std::array::from_fn(|i| i as u8))
}

#[rstest]
#[case::right(SENT, SIGNATURE, BODY, Ok(()))]
#[case::no_number("soon", SIGNATURE, BODY, Err(VerifyFault::TimestampForm))]
#[case::signed("+1767225600", SIGNATURE, BODY, Err(VerifyFault::TimestampForm))]
#[case::empty("", SIGNATURE, BODY, Err(VerifyFault::TimestampForm))]
#[case::other_time("1767225601", SIGNATURE, BODY, Err(VerifyFault::Mismatch))]
#[case::other_body(SENT, SIGNATURE, "{}", Err(VerifyFault::Mismatch))]
#[case::other_signature(
    SENT,
    "00dd9275935606058b47b1df01b8b64a826f3ba1413287e34714262ba69ed6e8",
    BODY,
    Err(VerifyFault::Mismatch)
)]
#[case::capitals(
    SENT,
    "D3DD9275935606058B47B1DF01B8B64A826F3BA1413287E34714262BA69ED6E8",
    BODY,
    Err(VerifyFault::SignatureForm)
)]
#[case::cut(SENT, "d3dd", BODY, Err(VerifyFault::SignatureForm))]
fn our_signature_is_verified(
    #[case] timestamp: &str,
    #[case] signature: &str,
    #[case] body: &str,
    #[case] verdict: Result<(), VerifyFault>,
) {
    assert_eq!(secret().verify(timestamp, signature, body.as_bytes(), NOW), verdict);
}

#[test]
fn five_minutes_off_is_the_most() {
    let at = |offset: i64| {
        secret().verify(
            SENT,
            SIGNATURE,
            BODY.as_bytes(),
            datetime!(2026-01-01 0:00 UTC) + time::Duration::seconds(offset),
        )
    };
    assert_eq!((at(300), at(-300)), (Ok(()), Ok(())));
    assert_eq!((at(301), at(-301)), (Err(VerifyFault::Age(301)), Err(VerifyFault::Age(-301))));
}

#[rstest]
#[case::right("v1,bS6EmjbvyL42ERWKtrxLOraafr89V6ELqAPP+UDBBvQ=", Ok(()))]
#[case::one_of_two("v1,GRXRqN+6C39BMYIQzIzEs06Fp6Xkx4u21nWhbFbMgQc= v1,bS6EmjbvyL42ERWKtrxLOraafr89V6ELqAPP+UDBBvQ=", Ok(()))]
#[case::of_another("v1,GRXRqN+6C39BMYIQzIzEs06Fp6Xkx4u21nWhbFbMgQc=", Err(VerifyFault::Mismatch))]
#[case::of_another_version("v2,bS6EmjbvyL42ERWKtrxLOraafr89V6ELqAPP+UDBBvQ=", Err(VerifyFault::SignatureForm))]
#[case::empty_value("v1,", Err(VerifyFault::Mismatch))]
#[case::nothing("", Err(VerifyFault::SignatureForm))]
fn the_standard_signature_is_verified(#[case] signatures: &str, #[case] verdict: Result<(), VerifyFault>) {
    let id = "019b76da-a800-7000-8000-000000000001";
    assert_eq!(secret().verify_standard(id, SENT, signatures, BODY.as_bytes(), NOW), verdict);
}
