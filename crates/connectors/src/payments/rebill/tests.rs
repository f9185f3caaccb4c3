use domain::{
    AccountId, ChargeId,
    payments::{Order, Price},
};
use rstest::rstest;
use serde_json::json;
use time::macros::datetime;

use super::*;

const NOW: OffsetDateTime = datetime!(2026-05-01 12:00 UTC);
const BODY: &[u8] = br#"{"event":"payment.updated","payment":{"id":"pay_1"}}"#;

fn gateway() -> Rebill {
    // Only plain HTTP is spoken here, but the client requires a provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Rebill::new(RebillConfig {
        base_url: "http://127.0.0.1:1/base/".parse().unwrap(),
        api_key: "key".into(),
        webhook_secret: "secret".into(),
    })
    .unwrap()
}

#[tokio::test]
async fn a_charge_without_a_connection_is_not_sent() {
    let charge = Charge {
        idempotency_key: "auto-topup-3-8".to_owned(),
        customer_id: "cus_1".to_owned(),
        price: Price { amount: rust_decimal::dec!(9), currency: "USD".parse().unwrap() },
        order: Order { account: AccountId(3), item: "small".to_owned(), charge: Some(ChargeId(8)) },
    };
    // Nobody listens there.
    let refused = gateway().charge(&charge).await;
    assert!(matches!(refused, Err(ChargeError::NotSent(_))), "{refused:?}");
}

#[rstest]
#[case(401, true)]
#[case(403, true)]
#[case(429, true)]
#[case(404, false)]
#[case(409, false)]
#[case(500, false)]
#[case(503, false)]
fn who_is_turned_away_was_not_charged(#[case] status: u16, #[case] is_unsent: bool) {
    let error = unanswered(StatusCode::from_u16(status).unwrap());
    assert_eq!(matches!(error, ChargeError::NotSent(_)), is_unsent, "{error:?}");
}

#[test]
fn the_signature_is_the_documented_one() {
    // printf '1777636800.{"payment":{"id":"pay_1"}}' | openssl dgst -sha256 -hmac secret
    assert_eq!(
        sign("secret", 1_777_636_800, br#"{"payment":{"id":"pay_1"}}"#),
        "t=1777636800,v1=2b618507ba138047cfc32ca9250f2748fc5b0a291cce6f1b9ebef0eece606c3c"
    );
}

#[test]
fn a_signed_notification_names_its_payment() {
    let signature = sign("secret", NOW.unix_timestamp(), BODY);
    assert_eq!(gateway().notified(&signature, BODY, NOW).unwrap().as_str(), "pay_1");
    assert_eq!(gateway().payments.as_str(), "http://127.0.0.1:1/base/v1/payments");
}

#[rstest]
#[case(300, None)]
#[case(-300, None)]
#[case(301, Some(NotificationRefused::Stale))]
#[case(-301, Some(NotificationRefused::Stale))]
fn the_window_is_five_minutes_to_either_side(#[case] seconds: i64, #[case] refused: Option<NotificationRefused>) {
    let signature = sign("secret", NOW.unix_timestamp() - seconds, BODY);
    assert_eq!(gateway().notified(&signature, BODY, NOW).err(), refused);
}

#[test]
fn another_key_body_or_time_is_forged() {
    let at = NOW.unix_timestamp();
    let good = sign("secret", at, BODY);
    let later = good.replace(&at.to_string(), &(at + 1).to_string());
    for (signature, body) in
        [(sign("other", at, BODY), BODY), (good, b"{\"payment\":{\"id\":\"pay_2\"}}"), (later, BODY)]
    {
        assert_eq!(gateway().notified(&signature, body, NOW), Err(NotificationRefused::Forged));
    }
}

#[rstest]
#[case("")]
#[case("v1=00")]
#[case("t=1,v1=")]
#[case("t=1,v1=zz")]
#[case("t=-1,v1=0000000000000000000000000000000000000000000000000000000000000000")]
#[case("t=99999999999999999999,v1=0000000000000000000000000000000000000000000000000000000000000000")]
#[case("t=1,v1=0000000000000000000000000000000000000000000000000000000000000000,v1=00")]
fn a_header_of_another_form_is_malformed(#[case] signature: &str) {
    assert_eq!(gateway().notified(signature, BODY, NOW), Err(NotificationRefused::Malformed));
}

#[rstest]
#[case(b"{}".as_slice())]
#[case(b"[]")]
#[case(b"not json")]
#[case(b"{\"payment\":{\"id\":7}}")]
#[case(b"{\"payment\":{\"id\":\"../admin\"}}")]
#[case(b"{\"payment\":{\"id\":\"\"}}")]
fn a_signed_body_without_a_payment_is_unreadable(#[case] body: &[u8]) {
    let signature = sign("secret", NOW.unix_timestamp(), body);
    assert_eq!(gateway().notified(&signature, body, NOW), Err(NotificationRefused::Unreadable));
}

fn wire(change: impl FnOnce(&mut serde_json::Value)) -> Result<Payment, FetchError> {
    let mut wire = json!({
        "id": "pay_1", "status": "SUCCEEDED", "amount": "9.00", "currency": "USD", "invoiceId": "inv_1",
        "customer": {"id": "cus_1", "email": "a@example.com"},
        "metadata": {"account_id": "3", "item": "small", "charge_id": "8", "other": 1}, "createdAt": "whenever",
    });
    change(&mut wire);
    payment(&serde_json::to_vec(&wire).unwrap())
}

#[test]
fn a_payment_is_read() {
    let payment = wire(|_| {}).unwrap();
    let order = payment.order.clone().unwrap();
    assert_eq!((order.account.0, order.item.as_str(), order.charge), (3, "small", Some(ChargeId(8))));
    assert_eq!((payment.status, payment.amount.to_string().as_str()), (PaymentStatus::Approved, "9.00"));
    assert!(!format!("{payment:?}").contains("example.com"));
}

#[rstest]
#[case("/status", "WON".into())]
#[case("/amount", 9.0.into())]
#[case("/amount", "nine".into())]
#[case("/currency", "usd".into())]
#[case("/id", "a/b".into())]
#[case("/currency", serde_json::Value::Null)]
fn what_cannot_be_read_is_no_payment(#[case] field: &str, #[case] value: serde_json::Value) {
    let read = wire(|wire| *wire.pointer_mut(field).unwrap() = value);
    assert!(matches!(read, Err(FetchError::Unreadable(_))), "{read:?}");
}

#[rstest]
#[case("<html>")]
#[case(r#"{"id":"pay_1","status":"SUCC"#)]
#[case("")]
fn what_is_no_json_is_no_answer(#[case] body: &str) {
    let read = payment(body.as_bytes());
    assert!(matches!(read, Err(FetchError::Unavailable(_))), "{read:?}");
}

/// As in the JSON of names that were cut within an emoji.
#[test]
fn half_a_surrogate_pair_keeps_no_payment_from_being_read() {
    let body = r#"{"id":"pay_1","status":"SUCCEEDED","amount":"9.00","currency":"USD","invoiceId":"\ud83d","note":"\ud83d",
        "customer":{"id":"cus_1","name":"Ana \ud83d","email":"\ud83d"},
        "metadata":{"account_id":"3","item":"small","name":"\ud83d"}}"#;
    let Payment { invoice_id, payer, order, .. } = payment(body.as_bytes()).unwrap();
    assert_eq!((invoice_id, payer.customer_id.as_deref(), payer.email), (None, Some("cus_1"), None));
    assert_eq!(order.unwrap().item, "small");
}

/// Who has paid is credited, whatever else the gateway says or does not say.
#[rstest]
fn what_a_payment_is_not_judged_by_may_be_anything(
    #[values("/invoiceId", "/customer", "/customer/id", "/customer/email", "/createdAt", "/metadata/other")]
    field: &str,
    #[values(json!(null), json!(""), json!(7), json!([]), json!({}), json!("a\u{0}b"), json!("x".repeat(321)))]
    value: serde_json::Value,
) {
    let read = wire(|wire| *wire.pointer_mut(field).unwrap() = value).unwrap();
    let whole = wire(|_| {}).unwrap();
    assert_eq!((read.status, read.amount, &read.currency), (whole.status, whole.amount, &whole.currency));
    assert_eq!(read.order, whole.order);
    let told = [&read.invoice_id, &read.payer.customer_id, &read.payer.email];
    let all = [&whole.invoice_id, &whole.payer.customer_id, &whole.payer.email];
    assert!(told.iter().zip(all).all(|(told, all)| told.is_none() || *told == all), "{told:?}");
    let missing = match field {
        "/createdAt" | "/metadata/other" => 0,
        "/customer" => 2,
        _ => 1,
    };
    assert_eq!(told.iter().filter(|told| told.is_none()).count(), missing);
}

#[test]
fn a_payment_that_says_no_more_than_it_is_judged_by_is_read() {
    let read = wire(|wire| {
        let fields = wire.as_object_mut().unwrap();
        fields.retain(|name, _| !["invoiceId", "customer", "createdAt"].contains(&name.as_str()));
    });
    let Payment { invoice_id, payer, order, .. } = read.unwrap();
    assert_eq!((invoice_id, payer.customer_id, payer.email, order.is_some()), (None, None, None, true));
}

#[rstest]
#[case("/metadata", json!({}))]
#[case("/metadata", json!(null))]
#[case("/metadata", json!("another shop's"))]
#[case("/metadata/account_id", json!([3]))]
#[case("/metadata/charge_id", 8.into())]
#[case("/metadata/item", json!(null))]
#[case("/metadata/account_id", "-3".into())]
#[case("/metadata/account_id", "99999999999999999999".into())]
#[case("/metadata/charge_id", "x".into())]
#[case("/metadata/item", "".into())]
fn a_payment_for_something_else_has_no_order(#[case] field: &str, #[case] value: serde_json::Value) {
    assert_eq!(wire(|wire| *wire.pointer_mut(field).unwrap() = value).unwrap().order, None);
}

#[rstest]
#[case(r#"{"id":"chk_1","url":"https://pay.example.com/c/1"}"#, Some("https://pay.example.com/c/1"))]
#[case(r#"{"url":"http://127.0.0.1:1/checkout/1"}"#, Some("http://127.0.0.1:1/checkout/1"))]
#[case(r#"{"url":"http://pay.example.com/c/1"}"#, None)]
#[case(r#"{"url":"javascript:alert(1)"}"#, None)]
#[case(r#"{"url":"/c/1"}"#, None)]
#[case("{}", None)]
fn a_person_is_sent_to_pages_of_the_gateway_only(#[case] body: &str, #[case] url: Option<&str>) {
    let found = opened(body.as_bytes(), &gateway().checkouts);
    assert_eq!(found.ok().as_ref().map(Url::as_str), url);
}
