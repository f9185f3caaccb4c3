use std::sync::atomic::{AtomicUsize, Ordering};

use domain::shops::Secret;
use proptest::prelude::*;
use serde_json::json;
use time::macros::datetime;

use super::{super::api::Limits, *};
use crate::shops::answering;

/// A Mercado Libre that answers so, and how often it did.
async fn answering(answer: fn(&str) -> (&'static str, &'static str)) -> (Api, Arc<AtomicUsize>) {
    let (base, answers) = answering::answering(answer).await;
    let limits = Limits { pause: std::time::Duration::from_millis(1), ..Limits::per_second(100_000) };
    (Api::new(base, limits).unwrap(), answers)
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

const BROKEN: (&str, &str) = ("500 Internal Server Error", r#"{"error":"internal_error"}"#);

#[tokio::test]
async fn what_one_order_lacks_for_good_keeps_no_other_from_being_read() {
    let one_is_broken = |head: &str| {
        let is_broken = head.starts_with("GET /shipments/1003/") || head.starts_with("GET /post-purchase/");
        if is_broken { BROKEN } else { ("200 OK", r#"{"senders":[{"cost":3}]}"#) }
    };
    let (access, currency) = (access(), "ARS".parse().unwrap());
    let raw: Vec<_> = (0..10).map(sold).collect();
    let (api, _) = answering(one_is_broken).await;
    let read = batch(&api, &access, &Denied::default(), &raw, currency).await.unwrap();
    assert_eq!((read.orders.len(), read.again.len()), (10, 10));
    assert!(read.orders.iter().all(|order| order.refunds.len() == 1));
    let unknown = read.orders.iter().filter(|order| order.order.shipping.is_none());
    assert_eq!(unknown.map(|order| order.order.external_id.as_str()).collect::<Vec<_>>(), ["3"]);
    let told = |kind| read.refused.iter().filter(|told| told.kind == kind).count();
    assert_eq!((told("shipment"), told("claim"), read.refused.len()), (1, 10, 11));

    let (api, _) = answering(|_| BROKEN).await;
    let trouble = batch(&api, &access, &Denied::default(), &raw, currency).await;
    assert!(matches!(trouble, Err(ShopError::Unavailable(_))), "nothing answers: it is not of one shipment");
}

/// Of a shop that sold one thing, nothing else may be answered.
#[tokio::test]
async fn the_only_order_may_lack_something_for_good_as_well() {
    let (api, _) = answering(|head| if head.starts_with("GET /users/me ") { ("200 OK", "{}") } else { BROKEN }).await;
    let read = batch(&api, &access(), &Denied::default(), &[sold(1)], "ARS".parse().unwrap()).await.unwrap();
    assert_eq!((read.orders.len(), read.again), (1, vec!["1".to_owned()]));
}

/// Young orders are read by number every night, in the same order.
#[tokio::test]
async fn an_order_that_is_not_answered_for_keeps_no_other_from_being_read_by_number() {
    let one_is_broken = |head: &str| match head {
        head if head.starts_with("GET /orders/2 ") => BROKEN,
        head if head.starts_with("GET /orders/3 ") => ("200 OK", "<html>"),
        head if head.starts_with("GET /orders/4 ") => ("404 Not Found", "{}"),
        _ => ("200 OK", r#"{"id":1}"#),
    };
    let ids: Vec<String> = (1..=4).map(|id| id.to_string()).collect();
    let read = async |api: Api| {
        let batches = by_id(Arc::new(api), access(), ids.clone(), "ARS".parse().unwrap()).try_collect::<Vec<_>>();
        batches.await
    };
    let batches = read(answering(one_is_broken).await.0).await.unwrap();
    let [batch] = batches.as_slice() else { panic!("{batches:?}") };
    assert_eq!(batch.again, ["2", "3"]);
    assert_eq!((batch.absent, batch.voided[0].external_id.as_str()), (1, "4"));
    assert!(matches!(read(answering(|_| BROKEN).await.0).await, Err(ShopError::Unavailable(_))));
}

/// A coupon decides on the price.
#[tokio::test]
async fn a_sale_whose_discount_is_not_answered_for_is_named() {
    let answers = |head: &str| if head.contains("/discounts ") { BROKEN } else { ("200 OK", "{}") };
    let sale = sold(1).get().replacen('{', r#"{"tags":["order_has_discount"],"#, 1);
    let (api, _) = answering(answers).await;
    let raw = [RawValue::from_string(sale).unwrap(), sold(2)];
    let read = batch(&api, &access(), &Denied::default(), &raw, "ARS".parse().unwrap()).await.unwrap();
    let taken: Vec<_> = read.orders.iter().map(|order| order.order.external_id.as_str()).collect();
    let told: Vec<_> = read.refused.iter().map(|told| (told.kind, told.external_id.as_str())).collect();
    assert_eq!((taken, told, read.again), (vec!["2"], vec![("order", "1")], vec!["1".to_owned()]));
}

/// Pages that say that a platform is being maintained come with 200, too.
#[tokio::test]
async fn what_is_no_json_is_no_answer_and_the_sale_is_read_again() {
    let answers = |head: &str| match head {
        head if head.contains("/discounts ") => ("200 OK", "<html>"),
        head if head.starts_with("GET /post-purchase/") => ("200 OK", r#"{"data":["#),
        _ => ("200 OK", "{}"),
    };
    let sale = sold(1).get().replacen('{', r#"{"tags":["order_has_discount"],"#, 1);
    let (api, _) = answering(answers).await;
    let raw = [RawValue::from_string(sale).unwrap(), sold(2)];
    let read = batch(&api, &access(), &Denied::default(), &raw, "ARS".parse().unwrap()).await.unwrap();
    let taken: Vec<_> = read.orders.iter().map(|order| order.order.external_id.as_str()).collect();
    let told: Vec<_> = read.refused.iter().map(|told| (told.kind, told.external_id.as_str())).collect();
    assert_eq!((taken, told), (vec!["2"], vec![("order", "1"), ("claim", "2")]));
    assert_eq!(read.again, ["1", "2"]);
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
