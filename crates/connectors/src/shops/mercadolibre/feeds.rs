//! Notifications that did not get through. Mercado Libre keeps them for two days, those of all sellers of the app together.
//!
//! Reading what changed finds what most of them tell of, but not that an order was cancelled: it vanishes from the search.

use std::{collections::BTreeSet, sync::Arc};

use domain::{
    money::Currency,
    shops::{Access, OrderBatch, ShopError, ShopStream, Window},
};
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    api::Api,
    hooks::order_of,
    orders,
    wire::{Instant, MissedFeeds},
};
use crate::shops::wire::Id;

/// Messages of a page.
const PAGE: usize = 10;
/// Pages that are read at most. Cancellations beyond them are found when young orders are read one by one.
const MAX_PAGES: usize = 20;
const TOPIC: &str = "orders_v2";

#[derive(Deserialize)]
struct Message {
    resource: String,
    user_id: Id,
    received: Option<Instant>,
    /// Some topics spell it so.
    recieved: Option<Instant>,
}

/// The orders that lost notifications tell of, which Mercado Libre received within `window`.
pub(super) fn orders(
    api: Arc<Api>,
    access: Access,
    app: String,
    window: Window,
    currency: Currency,
) -> ShopStream<OrderBatch> {
    let read = async move {
        let ids = missed(&api, &access, &app, window).await?;
        Ok::<_, ShopError>(orders::by_id(api, access, ids.into_iter().collect(), currency))
    };
    read.into_stream().try_flatten().boxed()
}

/// Unverified: a seller's token is taken, and answered with the messages of all sellers of the app; those of others, and of
/// other times, are passed over.
async fn missed(api: &Api, access: &Access, app: &str, window: Window) -> Result<BTreeSet<String>, ShopError> {
    let mut ids = BTreeSet::new();
    let limit = PAGE.to_string();
    for page in 0..MAX_PAGES {
        let offset = (page * PAGE).to_string();
        let query = [("app_id", app), ("topic", TOPIC), ("limit", &limit), ("offset", &offset)];
        let feeds = match api.get(access, &["missed_feeds"], &query).await {
            Ok(answer) => answer.json::<MissedFeeds>(),
            Err(error) => Err(error),
        };
        let messages = match feeds {
            Ok(feeds) => feeds.messages,
            // It only hastens what is found in the night at the latest.
            Err(error @ (ShopError::Unauthorized | ShopError::Suspended)) => return Err(error),
            // Where nothing is answered, the search that follows says so.
            Err(_) => break,
        };
        ids.extend(messages.iter().filter_map(|message| order(message, &access.shop_id, window)));
        if messages.len() < PAGE {
            break;
        }
    }
    Ok(ids)
}

/// The order that a message is about, if it is the seller's and of the window.
fn order(message: &RawValue, seller: &str, window: Window) -> Option<String> {
    let Message { resource, user_id, received, recieved } = serde_json::from_str(message.get()).ok()?;
    let is_within = |at: Instant| window.from <= at.0 && at.0 < window.until;
    let is_wanted = user_id.0 == seller && received.or(recieved).is_none_or(is_within);
    order_of(&resource).filter(|_| is_wanted).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use domain::shops::Secret;
    use rstest::rstest;
    use time::macros::datetime;

    use super::{super::api::Limits, *};
    use crate::shops::answering::answering;

    #[tokio::test]
    async fn lost_notifications_that_are_not_answered_for_keep_nothing_else_from_being_read() {
        let (base, _) = answering(|_| ("500 Internal Server Error", "{}")).await;
        let limits = Limits { pause: std::time::Duration::from_millis(1), ..Limits::per_second(100_000) };
        let token = Secret::new("token".to_owned());
        let access = Access { shop_id: "5".to_owned(), shop: "5.example.com".to_owned(), token, scopes: vec![] };
        let window = Window { from: datetime!(2026-11-24 10:00 UTC), until: datetime!(2026-11-24 11:00 UTC) };
        let api = Api::new(base, limits).unwrap();
        assert_eq!(missed(&api, &access, "1", window).await, Ok(BTreeSet::new()));
    }

    #[rstest]
    #[case(r#"{"resource":"/orders/12","user_id":5,"received":"2026-11-24T10:00:00.001Z"}"#, Some("12"))]
    #[case(r#"{"resource":"/orders/12","user_id":"5","recieved":"2026-11-24T10:59:59Z"}"#, Some("12"))]
    #[case::says_not_when(r#"{"resource":"/orders/12","user_id":5}"#, Some("12"))]
    #[case::later(r#"{"resource":"/orders/12","user_id":5,"received":"2026-11-24T11:00:00Z"}"#, None)]
    #[case::another_seller(r#"{"resource":"/orders/12","user_id":6,"received":"2026-11-24T10:00:00Z"}"#, None)]
    #[case::no_order(r#"{"resource":"//evil.example/orders/12","user_id":5}"#, None)]
    #[case::no_message(r#"["/orders/12"]"#, None)]
    fn a_message_counts_for_its_seller_and_its_time(#[case] message: &str, #[case] expected: Option<&str>) {
        let message = RawValue::from_string(message.to_owned()).unwrap();
        let window = Window { from: datetime!(2026-11-24 10:00 UTC), until: datetime!(2026-11-24 11:00 UTC) };
        assert_eq!(order(&message, "5", window).as_deref(), expected);
    }
}
