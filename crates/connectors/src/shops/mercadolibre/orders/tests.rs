use std::sync::atomic::{AtomicUsize, Ordering};

use domain::shops::Secret;
use proptest::prelude::*;
use serde_json::json;
use time::macros::datetime;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{super::api::Limits, *};

/// A Mercado Libre that answers so to the head of a request, and how often it did.
async fn answering(answer: fn(&str) -> (&'static str, &'static str)) -> (Api, Arc<AtomicUsize>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let answers = Arc::new(AtomicUsize::new(0));
    let count = answers.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let count = count.clone();
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                count.fetch_add(1, Ordering::SeqCst);
                let (status, body) = answer(&String::from_utf8_lossy(&head));
                let head = format!("content-length: {}\r\nconnection: close", body.len());
                let text = format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}");
                stream.write_all(text.as_bytes()).await.unwrap();
            });
        }
    });
    let limits = Limits { pause: std::time::Duration::from_millis(1), ..Limits::per_second(100_000) };
    (Api::new(base.parse().unwrap(), limits).unwrap(), answers)
}

fn access() -> Access {
    let token = Secret::new("token".to_owned());
    Access { shop_id: "5".to_owned(), shop: "5.example.com".to_owned(), token, scopes: vec![] }
}

/// A sale that was shipped, and of which some money went back.
fn sold(id: u32) -> Box<RawValue> {
    let order = json!({
        "id": id, "status": "paid", "date_created": "2026-11-24T10:00:00.000-04:00", "currency_id": "ARS",
        "order_items": [{"item": {"id": "MLA1", "title": "Mug"}, "quantity": 1, "unit_price": 10}],
        "payments": [{"status": "approved", "transaction_amount": 10, "transaction_amount_refunded": 4}],
        "shipping": {"id": 1_000 + id},
    });
    RawValue::from_string(order.to_string()).unwrap()
}

#[tokio::test]
async fn orders_are_read_without_what_the_app_may_not_read_and_it_is_soon_asked_no_more() {
    // The app lacks every permission.
    let refusal = |_: &str| ("403 Forbidden", r#"{"error":"PA_UNAUTHORIZED_RESULT_FROM_POLICIES"}"#);
    let (api, refused) = answering(refusal).await;
    let (access, denied, currency) = (access(), Denied::default(), "ARS".parse().unwrap());
    let raw: Vec<_> = (0..40).map(sold).collect();
    let first = batch(&api, &access, &denied, &raw, currency).await.unwrap();
    assert_eq!((first.orders.len(), first.refused.len()), (40, 0));
    assert!(first.orders.iter().all(|order| order.order.shipping.is_none() && order.refunds.len() == 1));
    assert_eq!(first.missing_scopes, ["post-purchase", "shipments"]);
    let calls = refused.load(Ordering::SeqCst);
    assert!(calls <= 2 * CONCURRENCY, "{calls}");
    let second = batch(&api, &access, &denied, &raw, currency).await.unwrap();
    assert_eq!((second.orders.len(), second.missing_scopes), (40, first.missing_scopes));
    assert_eq!(refused.load(Ordering::SeqCst), calls);
}

#[tokio::test]
async fn what_one_order_lacks_for_good_keeps_no_other_from_being_read() {
    const BROKEN: (&str, &str) = ("500 Internal Server Error", r#"{"error":"internal_error"}"#);
    let one_is_broken = |head: &str| {
        let is_broken = head.starts_with("GET /shipments/1003/") || head.starts_with("GET /post-purchase/");
        if is_broken { BROKEN } else { ("200 OK", r#"{"senders":[{"cost":3}]}"#) }
    };
    let (access, currency) = (access(), "ARS".parse().unwrap());
    let raw: Vec<_> = (0..10).map(sold).collect();
    let (api, _) = answering(one_is_broken).await;
    let read = batch(&api, &access, &Denied::default(), &raw, currency).await.unwrap();
    assert_eq!((read.orders.len(), read.refused.len()), (10, 0));
    assert!(read.orders.iter().all(|order| order.refunds.len() == 1));
    let unknown = read.orders.iter().filter(|order| order.order.shipping.is_none());
    assert_eq!(unknown.map(|order| order.order.external_id.as_str()).collect::<Vec<_>>(), ["3"]);

    let (api, _) = answering(|_| BROKEN).await;
    let trouble = batch(&api, &access, &Denied::default(), &raw, currency).await;
    assert!(matches!(trouble, Err(ShopError::Unavailable(_))), "nothing answers: it is not of one shipment");
}

#[test]
fn filters_are_of_full_hours() {
    let window = Window { from: datetime!(2026-11-24 10:59:59 -3), until: datetime!(2026-11-24 14:00:01 UTC) };
    let hours = hours(window).unwrap();
    assert_eq!(hours.from, datetime!(2026-11-24 13:00 UTC));
    assert_eq!(hours.until, datetime!(2026-11-24 15:00 UTC));
}

#[test]
fn an_hour_cannot_be_halved_and_may_be_full() {
    let at = |minutes| datetime!(2026-11-24 10:00 UTC) + time::Duration::minutes(minutes);
    let most = |from, until| most(hours(Window { from: at(from), until: at(until) }).unwrap());
    assert_eq!(most(0, 60), 10_000);
    assert_eq!(most(15, 30), 10_000);
    assert_eq!(most(0, 61), 8_000);
}

/// At two calls a second, and two for an order, a month of a large seller would take hours.
#[test]
fn a_long_window_holds_no_more_than_is_soon_read() {
    let at = |hours| datetime!(2026-11-24 10:00 UTC) + time::Duration::hours(hours);
    let most = |until| most(hours(Window { from: at(0), until: at(until) }).unwrap());
    assert_eq!((most(6), most(7), most(720)), (8_000, 1_000, 1_000));
}

proptest! {
    #[test]
    fn the_hours_hold_the_window(from in 0_i64..2_000_000_000, length in 0_i64..10_000_000) {
        let at = |seconds| OffsetDateTime::from_unix_timestamp(seconds).unwrap();
        let window = Window { from: at(from), until: at(from + length) };
        let hours = hours(window).unwrap();
        prop_assert!(hours.from <= window.from && window.until <= hours.until);
        prop_assert!(window.from - hours.from < time::Duration::HOUR && hours.until - window.until < time::Duration::HOUR);
        prop_assert_eq!(hours.from.unix_timestamp() % 3600 + hours.until.unix_timestamp() % 3600, 0);
    }
}
