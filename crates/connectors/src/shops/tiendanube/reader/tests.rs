use domain::shops::Secret;
use futures_util::TryStreamExt;
use time::macros::datetime;

use super::{
    super::{TiendanubeConfig, client::Client},
    *,
};
use crate::shops::{AppCredentials, answering::answering};

const BROKEN: (&str, &str) = ("500 Internal Server Error", "{}");
const STORE: (&str, &str) = ("200 OK", r#"{"id":7}"#);
/// All of it went back; when, its history says.
const REFUNDED: (&str, &str) = (
    "200 OK",
    r#"{"id":1,"created_at":"2026-11-02T23:59:30+0000","updated_at":"2026-11-09T08:00:00+0000","payment_status":"refunded",
        "currency":"BRL","total":"10.00",
        "products":[{"product_id":7,"variant_id":71,"name":"Caneca","price":"10.00","quantity":1}]}"#,
);

async fn read(answer: fn(&str) -> (&'static str, &'static str)) -> Result<OrderBatch, ShopError> {
    let (base, _) = answering(answer).await;
    let client = Arc::new(Client::new("Example (hello@example.com)", base).unwrap());
    let token = Secret::new("token".to_owned());
    let access = Access { shop_id: "7".to_owned(), shop: "7.example.com".to_owned(), token, scopes: vec![] };
    order_by_id(&Session::new(&client, &access), "1".to_owned(), "BRL".parse().unwrap()).await
}

/// Whatever fails for good, later orders are read, and this one again.
#[tokio::test]
async fn what_is_not_answered_for_is_passed_over_where_the_store_is() {
    let (history, order, all) = tokio::join!(
        read(|request| match request {
            request if request.contains("/history/") => BROKEN,
            request if request.contains("/store ") => STORE,
            _ => REFUNDED,
        }),
        read(|request| if request.contains("/store ") { STORE } else { BROKEN }),
        read(|_| BROKEN),
    );
    let told = |batch: &OrderBatch| batch.refused.iter().map(|refused| refused.kind).collect::<Vec<_>>();

    let history = history.unwrap();
    assert_eq!((told(&history), &history.again), (vec!["refund"], &vec!["1".to_owned()]));
    let refunded: Vec<_> = history.orders.iter().flat_map(|order| &order.refunds).map(|refund| refund.at).collect();
    assert_eq!(refunded, [datetime!(2026-11-09 08:00 UTC)], "as where no history is shown");

    let order = order.unwrap();
    assert_eq!((told(&order), &order.again), (vec!["order"], &vec!["1".to_owned()]));
    assert_eq!((order.absent, order.voided), (0, vec![]), "it may be there");

    assert!(matches!(all, Err(ShopError::Unavailable(_))), "{all:?}");
}

#[tokio::test]
async fn an_order_that_its_page_fails_with_keeps_no_other_from_being_read() {
    const PAID: (&str, &str) = (
        "200 OK",
        r#"{"id":2,"created_at":"2026-11-02T23:59:30+0000","payment_status":"paid","currency":"BRL","total":"10.00",
            "products":[{"product_id":7,"variant_id":71,"name":"Caneca","price":"10.00","quantity":1}]}"#,
    );
    let (base, _) = answering(|request| match request {
        request if request.contains("/orders?") && request.contains("fields=id&") => {
            ("200 OK", r#"[{"id":1},{"id":2}]"#)
        }
        request if request.contains("/orders/2?") => PAID,
        request if request.contains("/store ") => STORE,
        _ => BROKEN,
    })
    .await;
    let app = AppCredentials { client_id: "1".to_owned(), client_secret: "secret".into(), previous_secret: None };
    let user_agent = "Example (hello@example.com)".to_owned();
    let shop = Tiendanube::new(TiendanubeConfig { app, user_agent, address: Some(base) }).unwrap();
    let token = Secret::new("token".to_owned());
    let access = Access { shop_id: "7".to_owned(), shop: "7.example.com".to_owned(), token, scopes: vec![] };
    let window = Window { from: datetime!(2026-11-01 0:00 UTC), until: datetime!(2026-12-01 0:00 UTC) };
    let read = shop.orders(&access, window, Purpose::Changes, "BRL".parse().unwrap()).try_collect::<Vec<_>>();
    let batches = read.await.unwrap();
    let [batch] = batches.as_slice() else { panic!("{batches:?}") };
    let taken: Vec<_> = batch.orders.iter().map(|order| order.order.external_id.as_str()).collect();
    assert_eq!((taken, &batch.again, batch.read), (vec!["2"], &vec!["1".to_owned()], 2));
}
