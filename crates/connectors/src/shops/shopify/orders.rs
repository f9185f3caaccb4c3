//! Orders page by page, and by their identifiers.

use std::sync::Arc;

use domain::{
    money::Currency,
    shops::{Access, OrderBatch, Purpose, Refused, ShopError, ShopStream, Voided, Window},
};
use futures_util::{StreamExt as _, stream};
use serde_json::{json, value::RawValue};
use time::{OffsetDateTime, UtcOffset, format_description::well_known::Rfc3339};

use super::{
    ALL_ORDERS,
    client::{Client, Reply},
    grants,
    queries::{
        IDS, MANY_IDS, MAX_DEPTH, ORDER_NUMBERS, ORDER_SALES, ORDERS, ORDERS_BY_ID, ORDERS_EXIST, ORDERS_PAGE, SHOP,
    },
    sales::{self, Mapped},
    wire::{AgreementWire, Named, NodesData, NumbersData, OrderData, OrderWire, OrdersData, ShopData},
};

/// Agreements of one order, and sales of one agreement, that are read at most.
const MAX_NESTED: usize = 5_000;

/// The filter that selects a window: half open, in UTC, to the microsecond.
pub(super) fn filter(window: Window, purpose: Purpose) -> Result<String, ShopError> {
    let field = match purpose {
        Purpose::BackFill => "created_at",
        Purpose::Changes => "updated_at",
    };
    let text = |at: OffsetDateTime| {
        let text = at.to_offset(UtcOffset::UTC).format(&Rfc3339);
        text.map_err(|_| ShopError::Rejected("no such window".to_owned()))
    };
    Ok(format!("{field}:>='{}' AND {field}:<'{}'", text(window.from)?, text(window.until)?))
}

struct Paging {
    after: Option<String>,
    read: u64,
}

/// The orders of a window, in the order of the instant by which the window selects them.
pub(super) fn paged(
    client: Arc<Client>,
    access: Access,
    window: Window,
    purpose: Purpose,
    currency: Currency,
) -> ShopStream<OrderBatch> {
    let first = Some(Paging { after: None, read: 0 });
    let shop = Arc::new((client, access));
    let next = move |paging: Option<Paging>| {
        let shop = Arc::clone(&shop);
        async move {
            let Some(paging) = paging else { return Ok(None) };
            page(&shop.0, &shop.1, (window, purpose), currency, paging).await.map(Some)
        }
    };
    stream::try_unfold(first, next).boxed()
}

async fn page(
    client: &Client,
    access: &Access,
    (window, purpose): (Window, Purpose),
    currency: Currency,
    Paging { after, read }: Paging,
) -> Result<(OrderBatch, Option<Paging>), ShopError> {
    let sort = match purpose {
        Purpose::BackFill => "CREATED_AT",
        Purpose::Changes => "UPDATED_AT",
    };
    let query = filter(window, purpose)?;
    let variables = json!({ "first": ORDERS_PAGE, "after": after, "query": query, "sort": sort });
    let mut batch = OrderBatch::default();
    let (page_info, found) = match client.run(access, ORDERS, variables.clone()).await {
        Ok(Reply { data: OrdersData { orders }, .. }) => {
            let found = orders.nodes.len();
            for order in orders.nodes {
                take(client, access, currency, &order, &mut batch).await?;
            }
            (orders.page_info, found)
        }
        // It may be one of its orders that the page fails with.
        Err(error @ ShopError::Unavailable(_)) => {
            let numbers = client.run(access, ORDER_NUMBERS, variables).await;
            let Ok(Reply { data: NumbersData { orders }, .. }) = numbers else { return Err(error) };
            let numbers: Vec<String> = orders.nodes.into_iter().map(|order| order.legacy_resource_id.0).collect();
            let found = numbers.len();
            batch = one_by_one(client, access, numbers, currency).await?;
            (orders.page_info, found)
        }
        Err(error) => return Err(error),
    };
    let read = read + found as u64;
    let more = page_info.has_next_page;
    let next = page_info.next().map(|after| Paging { after: Some(after), read });
    match next {
        None if more => Err(ShopError::Malformed("endCursor".to_owned())),
        Some(_) if read + u64::from(ORDERS_PAGE) > MAX_DEPTH => Err(ShopError::TooMany),
        next => Ok((batch, next)),
    }
}

/// Some orders, read directly: search lags behind what just changed.
pub(super) fn by_id(
    client: Arc<Client>,
    access: Access,
    ids: Vec<String>,
    currency: Currency,
) -> ShopStream<OrderBatch> {
    let shop = Arc::new((client, access));
    let chunks: Vec<Vec<String>> = ids.chunks(IDS).map(<[_]>::to_vec).collect();
    let read = move |ids: Vec<String>| {
        let shop = Arc::clone(&shop);
        async move {
            match some(&shop.0, &shop.1, ids.clone(), currency).await {
                Err(ShopError::Unavailable(_)) => one_by_one(&shop.0, &shop.1, ids, currency).await,
                read => read,
            }
        }
    };
    stream::iter(chunks).then(read).boxed()
}

/// Orders one after the other: those that fail again and again, while the shop is answered for, are named and passed over.
async fn one_by_one(
    client: &Client,
    access: &Access,
    ids: Vec<String>,
    currency: Currency,
) -> Result<OrderBatch, ShopError> {
    let mut batch = OrderBatch::default();
    for id in ids {
        match some(client, access, vec![id.clone()], currency).await {
            Ok(one) => batch.append(one),
            Err(error) => {
                let trouble = pass_over(client, access, error).await?;
                batch.leave(id, &trouble);
            }
        }
    }
    Ok(batch)
}

/// Those of some orders that are gone. Only a hook tells that an order was deleted, and a hook may be lost.
pub(super) fn gone(client: Arc<Client>, access: Access, ids: Vec<String>) -> ShopStream<OrderBatch> {
    let shop = Arc::new((client, access));
    let chunks: Vec<Vec<String>> = ids.chunks(MANY_IDS).map(<[_]>::to_vec).collect();
    let read = move |ids: Vec<String>| {
        let shop = Arc::clone(&shop);
        async move {
            let numbers = ids.into_iter().filter(|id| is_number(id)).collect::<Vec<_>>();
            let variables = json!({ "ids": numbers.iter().map(|id| gid(id)).collect::<Vec<_>>() });
            let Reply { data: NodesData { nodes }, .. } = shop.0.run(&shop.1, ORDERS_EXIST, variables).await?;
            let mut batch = OrderBatch { read: nodes.len() as u64, ..OrderBatch::default() };
            for (external_id, _) in paired(numbers, nodes)?.filter(|(_, node)| node.is_none()) {
                batch.voided.push(Voided { external_id, is_there: false });
            }
            Ok(batch)
        }
    };
    stream::iter(chunks).then(read).boxed()
}

fn is_number(id: &str) -> bool {
    (1..=20).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn gid(id: &str) -> String {
    format!("gid://shopify/Order/{id}")
}

/// Each of the identifiers with what it is answered with.
fn paired<T>(ids: Vec<String>, nodes: Vec<Option<T>>) -> Result<impl Iterator<Item = (String, Option<T>)>, ShopError> {
    if nodes.len() == ids.len() {
        Ok(ids.into_iter().zip(nodes))
    } else {
        Err(ShopError::Malformed("nodes".to_owned()))
    }
}

async fn some(client: &Client, access: &Access, ids: Vec<String>, currency: Currency) -> Result<OrderBatch, ShopError> {
    let mut batch = OrderBatch::default();
    let (numbers, others): (Vec<String>, Vec<String>) = ids.into_iter().partition(|id| is_number(id));
    // What is no number was never an order here.
    batch.voided.extend(others.into_iter().map(|external_id| Voided { external_id, is_there: false }));
    if numbers.is_empty() {
        return Ok(batch);
    }
    let gids: Vec<String> = numbers.iter().map(|id| gid(id)).collect();
    let Reply { data: NodesData { nodes }, .. } = client.run(access, ORDERS_BY_ID, json!({ "ids": gids })).await?;
    let mut not_shown = Vec::new();
    for (external_id, node) in paired(numbers, nodes)? {
        match node {
            Some(order) => take(client, access, currency, &order, &mut batch).await?,
            None => not_shown.push(external_id),
        }
    }
    batch.absent = not_shown.len() as u64;
    if !not_shown.is_empty() && shows_all(client, access).await? {
        batch.voided.extend(not_shown.into_iter().map(|external_id| Voided { external_id, is_there: false }));
    }
    Ok(batch)
}

/// Whether the platform shows every order, so that one which it does not show was deleted. Without the right to all orders it may
/// just be too old; what was granted with the token may have been withdrawn since, so it is asked.
async fn shows_all(client: &Client, access: &Access) -> Result<bool, ShopError> {
    let Reply { data: ShopData { current_app_installation, .. }, .. } = client.run(access, SHOP, json!({})).await?;
    Ok(grants(&current_app_installation.scopes(), ALL_ORDERS))
}

/// Reads one order and puts it where it belongs.
async fn take(
    client: &Client,
    access: &Access,
    currency: Currency,
    raw: &RawValue,
    batch: &mut OrderBatch,
) -> Result<(), ShopError> {
    let Ok(mut order) = serde_json::from_str::<OrderWire>(raw.get()) else {
        let named = serde_json::from_str(raw.get()).map(|Named { legacy_resource_id }| legacy_resource_id.0);
        batch.read += 1;
        batch.refused.push(unreadable(named.unwrap_or_else(|_| "?".to_owned())));
        return Ok(());
    };
    if is_cut(&order) {
        match agreements(client, access, &order.id).await {
            Ok(agreements) => order.agreements = Some(whole(agreements)),
            Err(error) => {
                let trouble = pass_over(client, access, error).await?;
                batch.leave(order.legacy_resource_id.0, &trouble);
                return Ok(());
            }
        }
    }
    put(order, currency, batch);
    Ok(())
}

/// Passes over what one order fails with, if the shop is answered for: what fails again and again keeps no other from being read.
/// Gives what went wrong.
async fn pass_over(client: &Client, access: &Access, error: ShopError) -> Result<String, ShopError> {
    let trouble = match &error {
        ShopError::Unavailable(trouble) | ShopError::Malformed(trouble) | ShopError::Rejected(trouble) => {
            trouble.clone()
        }
        ShopError::NotFound => error.to_string(),
        _ => return Err(error),
    };
    let shop: Result<Reply<ShopData>, _> = client.run(access, SHOP, json!({})).await;
    match shop {
        Ok(_) => Ok(trouble),
        Err(_) => Err(error),
    }
}

/// A record whose form is not what the platform documents.
pub(super) fn unreadable(external_id: String) -> Refused {
    Refused { kind: "order", external_id, reason: "it cannot be read".to_owned() }
}

/// Translates a complete order and puts it where it belongs.
pub(super) fn put(order: OrderWire, currency: Currency, batch: &mut OrderBatch) {
    let external_id = order.legacy_resource_id.0.clone();
    batch.read += 1;
    match sales::order(order, currency) {
        Mapped::Taken(order) => batch.orders.push(*order),
        Mapped::Voided => batch.voided.push(Voided { external_id, is_there: true }),
        Mapped::Refused(reason) => batch.refused.push(Refused { kind: "order", external_id, reason }),
    }
}

/// Whether a page of the order's agreements, or of the sales of one, is not the last.
fn is_cut(order: &OrderWire) -> bool {
    order.agreements.as_ref().is_none_or(|agreements| {
        let cut =
            |agreement: &AgreementWire| agreement.sales.as_ref().is_none_or(|sales| sales.page_info.has_next_page);
        agreements.page_info.has_next_page || agreements.nodes.iter().any(cut)
    })
}

/// A connection without a further page.
pub(super) fn whole<T>(nodes: Vec<T>) -> super::wire::Page<T> {
    super::wire::Page { page_info: super::wire::PageInfo { has_next_page: false, end_cursor: None }, nodes }
}

/// All agreements of an order with all of their sales: one agreement after the other, its sales page by page.
async fn agreements(client: &Client, access: &Access, order: &str) -> Result<Vec<AgreementWire>, ShopError> {
    let mut agreements: Vec<AgreementWire> = Vec::new();
    let mut agreement: Option<String> = None;
    let mut sale: Option<String> = None;
    loop {
        let variables = json!({ "id": order, "agreement": agreement, "sale": sale });
        let Reply { data, .. }: Reply<OrderData> = client.run(access, ORDER_SALES, variables).await?;
        let Some(found) = data.order else { return Err(ShopError::NotFound) };
        let (page_info, node) = (found.agreements.page_info, found.agreements.nodes.into_iter().next());
        let Some(mut node) = node else { return Ok(agreements) };
        let next_sale =
            node.sales.as_mut().and_then(|sales| sales.page_info.end_cursor.take_if(|_| sales.page_info.has_next_page));
        match agreements.last_mut().filter(|last| last.id == node.id && sale.is_some()) {
            Some(last) => {
                let more = node.sales.map(|sales| sales.nodes).unwrap_or_default();
                last.sales.get_or_insert_with(|| whole(Vec::new())).nodes.extend(more);
            }
            None => agreements.push(node),
        }
        let most = agreements.last().and_then(|last| last.sales.as_ref()).map_or(0, |sales| sales.nodes.len());
        if agreements.len() > MAX_NESTED || most > MAX_NESTED {
            return Err(ShopError::Malformed("agreements without end".to_owned()));
        }
        sale = next_sale;
        if sale.is_none() {
            match page_info.next() {
                Some(next) => agreement = Some(next),
                None => return Ok(agreements),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::shops::Secret;
    use time::macros::datetime;
    use url::Url;

    use super::*;
    use crate::shops::{answering::answering, http::Http};

    const REFUSED: (&str, &str) = ("200 OK", r#"{"errors":[{"message":"no"}]}"#);
    const SHOP_ANSWER: (&str, &str) = (
        "200 OK",
        r#"{"data":{"shop":{"myshopifyDomain":"a.myshopify.com","currencyCode":"EUR","ianaTimezone":"Europe/Madrid",
            "shopAddress":{"countryCodeV2":null}},"currentAppInstallation":{"accessScopes":[]}},
            "extensions":{"cost":{"requestedQueryCost":1,
            "throttleStatus":{"maximumAvailable":1e9,"currentlyAvailable":1e9,"restoreRate":1e9}}}}"#,
    );
    /// Its sales are still to be asked for.
    const ORDER: &str = r#"{"id":"gid://shopify/Order/1","legacyResourceId":"1","test":false,"currencyCode":"EUR",
        "transactions":[]}"#;

    fn shop(base: Url) -> (Client, Access) {
        let mut client = Client::new(Http::new("test").unwrap(), Some(base));
        client.pauses = [std::time::Duration::ZERO; 3];
        let (name, token) = ("a.myshopify.com".to_owned(), Secret::new("token".to_owned()));
        (client, Access { shop_id: name.clone(), shop: name, token, scopes: vec![] })
    }

    /// A shop whose bucket is known to be large.
    async fn known_shop(answer: fn(&str) -> (&'static str, &'static str)) -> (Client, Access) {
        let (client, access) = shop(answering(answer).await.0);
        let _: Reply<ShopData> = client.run(&access, SHOP, json!({})).await.unwrap();
        (client, access)
    }

    async fn taken(
        answer: fn(&str) -> (&'static str, &'static str),
        order: &str,
    ) -> (Result<(), ShopError>, OrderBatch) {
        let (base, _) = answering(answer).await;
        let (client, access) = shop(base);
        let (raw, mut batch) = (RawValue::from_string(order.to_owned()).unwrap(), OrderBatch::default());
        let taken = take(&client, &access, "EUR".parse().unwrap(), &raw, &mut batch).await;
        (taken, batch)
    }

    #[tokio::test]
    async fn an_order_whose_sales_are_not_shown_keeps_no_other_from_being_read() {
        let shows_shop = |request: &str| if request.contains("query Shop ") { SHOP_ANSWER } else { REFUSED };
        let (read, batch) = taken(shows_shop, ORDER).await;
        assert_eq!(read, Ok(()));
        assert_eq!((batch.read, batch.refused.len(), batch.again), (1, 1, vec!["1".to_owned()]));
        let (read, _) = taken(|_| REFUSED, ORDER).await;
        assert_eq!(read, Err(ShopError::Rejected("no".to_owned())), "it is not of the order");
    }

    /// The platform fails with order 1, alone and among others.
    #[tokio::test]
    async fn an_order_that_its_page_fails_with_keeps_no_other_from_being_read() {
        const NUMBERS: &str = r#"{"data":{"orders":{"pageInfo":{"hasNextPage":false,"endCursor":null},
            "nodes":[{"legacyResourceId":"1"},{"legacyResourceId":"2"}]}}}"#;
        const SECOND: &str = r#"{"data":{"nodes":[{"id":"gid://shopify/Order/2","legacyResourceId":"2","test":true,
            "currencyCode":"EUR","transactions":[],
            "agreements":{"pageInfo":{"hasNextPage":false,"endCursor":null},"nodes":[]}}]}}"#;
        let fails_with_one = |request: &str| match request {
            request if request.contains("query Shop ") => SHOP_ANSWER,
            request if request.contains("query OrderNumbers(") => ("200 OK", NUMBERS),
            request if request.contains("query OrdersById(") && !request.contains("Order/1") => ("200 OK", SECOND),
            _ => ("500 Internal Server Error", ""),
        };
        let window = Window { from: datetime!(2026-10-01 00:00 UTC), until: datetime!(2026-11-01 00:00 UTC) };
        let first = || Paging { after: None, read: 0 };
        let (client, access) = known_shop(fails_with_one).await;
        let eur = "EUR".parse().unwrap();
        let (batch, next) = page(&client, &access, (window, Purpose::Changes), eur, first()).await.unwrap();
        assert_eq!((batch.read, batch.again, batch.voided.len()), (2, vec!["1".to_owned()], 1));
        assert!(next.is_none());
        let ids = vec!["1".to_owned(), "2".to_owned()];
        let batches = by_id(Arc::new(client), access, ids, eur).collect::<Vec<_>>().await;
        let [Ok(batch)] = batches.as_slice() else { panic!("{batches:?}") };
        assert_eq!((&batch.again, batch.voided.len()), (&vec!["1".to_owned()], 1));

        let shows_shop = |request: &str| match request {
            request if request.contains("query Shop ") => SHOP_ANSWER,
            _ => ("500 Internal Server Error", ""),
        };
        let (client, access) = known_shop(shows_shop).await;
        let trouble = page(&client, &access, (window, Purpose::Changes), eur, first()).await;
        assert!(matches!(trouble, Err(ShopError::Unavailable(_))), "it is not of one order");
    }

    #[tokio::test]
    async fn an_order_without_a_number_keeps_no_other_from_being_read() {
        let (read, batch) = taken(|_| REFUSED, "null").await;
        assert_eq!((read, batch.refused), (Ok(()), vec![unreadable("?".to_owned())]));
    }

    #[test]
    fn a_window_is_half_open_and_in_utc() {
        let window = Window { from: datetime!(2026-10-01 00:00 -3), until: datetime!(2026-11-01 00:00:00.5 UTC) };
        assert_eq!(
            filter(window, Purpose::Changes).unwrap(),
            "updated_at:>='2026-10-01T03:00:00Z' AND updated_at:<'2026-11-01T00:00:00.5Z'"
        );
        assert!(filter(window, Purpose::BackFill).unwrap().starts_with("created_at:>="));
    }
}
