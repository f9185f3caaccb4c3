//! Reads a store.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    money::Currency,
    shops::{
        Access, AdSpend, OrderBatch, ProductBatch, Purpose, Refused, ShopError, ShopInfo, ShopReader, ShopStream,
        Timing, Voided, Window,
    },
};
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use time::{Date, Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    super::calls::counted,
    Tiendanube,
    catalogue::Catalogue,
    client::{Session, grants},
    orders, refunds,
    wire::{Field, Number, OrderWire, ProductWire, StoreWire, SubscriptionWire, is_number},
};

const READ_ORDERS: &str = "read_orders";
const READ_PRODUCTS: &str = "read_products";
/// Orders of a page, the most that the platform gives.
const ORDERS_PER_PAGE: u64 = 200;
/// Products of a page: with a thousand variants each, more would be a long answer.
const PRODUCTS_PER_PAGE: u64 = 100;
/// Orders that a window may hold: 80 % of what the platform gives for one query, as some may come while it is read.
const MAX_ORDERS: u64 = 8_000;
/// What is read of an order: nothing that we do not keep.
const ORDER_FIELDS: &str = "id,created_at,updated_at,paid_at,cancelled_at,payment_status,currency,total,\
    shipping_cost_customer,shipping_cost_owner,fulfillment_orders,storefront,customer,shipping_address,products";
const PRODUCT_FIELDS: &str = "id,name,categories,variants";
/// The events that are subscribed to, with the permission that each takes.
const EVENTS: [(&str, Option<&str>); 13] = [
    ("app/uninstalled", None),
    ("app/suspended", None),
    ("app/resumed", None),
    ("order/created", Some(READ_ORDERS)),
    ("order/updated", Some(READ_ORDERS)),
    ("order/paid", Some(READ_ORDERS)),
    ("order/pending", Some(READ_ORDERS)),
    ("order/voided", Some(READ_ORDERS)),
    ("order/cancelled", Some(READ_ORDERS)),
    ("order/edited", Some(READ_ORDERS)),
    ("product/created", Some(READ_PRODUCTS)),
    ("product/updated", Some(READ_PRODUCTS)),
    ("product/deleted", Some(READ_PRODUCTS)),
];

async fn store(session: &Session) -> Result<(StoreWire, OffsetDateTime), ShopError> {
    let answer = session.get(&["store"], &[], "").await?;
    let date = answer.date().ok_or(ShopError::Malformed("Date".to_owned()))?;
    Ok((answer.json()?, date))
}

/// A record of a list with its number, or what is refused.
fn record<T: for<'a> Deserialize<'a>>(kind: &'static str, raw: &RawValue) -> Result<T, Refused> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Named {
        id: Field<Number>,
    }
    serde_json::from_str(raw.get()).map_err(|_| {
        let id = serde_json::from_str::<Named>(raw.get()).ok().and_then(|named| named.id.ok());
        let external_id = id.map_or_else(|| "?".to_owned(), |id| id.0);
        Refused { kind, external_id, reason: "it is not in the form that the platform documents".to_owned() }
    })
}

/// The pages of a list, from the last to the first. What leaves the list meanwhile (an order that changes leaves its
/// window) moves later records to earlier pages, which are still to be read: nothing is skipped, in whatever order the
/// platform sorts. What comes twice counts once.
struct Pages {
    session: Session,
    path: &'static str,
    scope: &'static str,
    query: Vec<(&'static str, String)>,
    per_page: u64,
    max: Option<u64>,
    next: Next,
    seen: HashSet<String>,
    /// How many records the list has, by each of its pages so far.
    totals: HashSet<u64>,
}

enum Next {
    /// The first page, which tells how many there are.
    Count,
    Page(u64),
    End,
}

impl Pages {
    /// `None` at the end.
    async fn next(&mut self) -> Result<Option<Vec<Box<RawValue>>>, ShopError> {
        let number = match self.next {
            Next::Count => 1,
            Next::Page(number) => number,
            Next::End => return Ok(None),
        };
        let page = self.session.page(&[self.path], &self.query, number, self.scope).await?;
        self.totals.insert(page.total);
        if matches!(self.next, Next::Count) {
            if self.max.is_some_and(|max| page.total > max) {
                return Err(ShopError::TooMany);
            }
            let pages = page.total.div_ceil(self.per_page);
            if pages > 1 {
                self.next = Next::Page(pages);
                return Ok(Some(Vec::new()));
            }
        }
        self.next = if number > 1 { Next::Page(number - 1) } else { Next::End };
        Ok(Some(page.records))
    }

    /// The numbers of what is on the next page, of which nothing else is asked.
    async fn numbers(&mut self) -> Result<Option<Vec<String>>, ShopError> {
        let numbers_alone = self.query.iter().filter(|(name, _)| !matches!(*name, "fields" | "aggregates")).cloned();
        let numbers_alone = numbers_alone.chain([("fields", "id".to_owned())]).collect();
        let query = std::mem::replace(&mut self.query, numbers_alone);
        let read = self.next().await;
        self.query = query;
        let number = |raw: Box<RawValue>| record::<OrderWire>("order", &raw).ok()?.id.ok().map(|id| id.0);
        Ok(read?.map(|records| records.into_iter().filter_map(number).collect()))
    }

    /// Whether a record comes for the first time.
    fn is_new(&mut self, id: &Field<Number>) -> bool {
        match id {
            Field::Is(Number(id)) => self.seen.insert(id.clone()),
            Field::Absent | Field::Unreadable => true,
        }
    }
}

async fn orders(mut pages: Pages, currency: Currency) -> Result<Option<(OrderBatch, Pages)>, ShopError> {
    let records = match pages.next().await {
        // It may be one of its orders that the page fails with.
        Err(error @ ShopError::Unavailable(_)) => {
            return match pages.numbers().await {
                Ok(Some(numbers)) => Ok(Some((one_by_one(&mut pages, numbers, currency).await?, pages))),
                Ok(None) => Ok(None),
                Err(ShopError::TooMany) => Err(ShopError::TooMany),
                Err(_) => Err(error),
            };
        }
        records => records?,
    };
    let Some(records) = records else { return Ok(None) };
    let mut batch = OrderBatch::default();
    for raw in records {
        match record::<OrderWire>("order", &raw) {
            Ok(wire) if pages.is_new(&wire.id) => {
                batch.read += 1;
                add_order(&pages.session, &mut batch, wire, currency).await?;
            }
            Ok(_) => {}
            Err(refused) => {
                batch.read += 1;
                batch.refused.push(refused);
            }
        }
    }
    Ok(Some((batch, pages)))
}

/// Orders of a page one after the other.
async fn one_by_one(pages: &mut Pages, numbers: Vec<String>, currency: Currency) -> Result<OrderBatch, ShopError> {
    let mut batch = OrderBatch::default();
    for number in numbers {
        if pages.is_new(&Field::Is(Number(number.clone()))) {
            batch.append(order_by_id(&pages.session, number, currency).await?);
        }
    }
    Ok(batch)
}

async fn add_order(
    session: &Session,
    batch: &mut OrderBatch,
    wire: OrderWire,
    currency: Currency,
) -> Result<(), ShopError> {
    let mut returned = Vec::new();
    if refunds::needs_history(&wire)
        && let Field::Is(Number(id)) = &wire.id
    {
        let history = session.get_patiently(&["orders", id, "history", "values"], &[], READ_ORDERS).await;
        match refunds::of_history(history) {
            Ok(known) => returned = known,
            // What went back stays unknown, as where it is not shown.
            Err(error) => {
                let trouble = pass_over(session, error).await?;
                batch.refused.push(Refused::failing("refund", id.clone(), &trouble));
                batch.again.push(id.clone());
            }
        }
    }
    orders::sort(batch, wire, &returned, currency);
    Ok(())
}

/// Passes over what is not answered for, if the store is: what fails again and again keeps nothing else from being read. Gives
/// what went wrong.
async fn pass_over(session: &Session, error: ShopError) -> Result<String, ShopError> {
    let trouble = match &error {
        ShopError::Unavailable(trouble) | ShopError::Malformed(trouble) => trouble.clone(),
        _ => return Err(error),
    };
    match store(session).await {
        Ok(_) => Ok(trouble),
        Err(_) => Err(error),
    }
}

async fn order_by_id(session: &Session, id: String, currency: Currency) -> Result<OrderBatch, ShopError> {
    let mut batch = OrderBatch { read: 1, ..OrderBatch::default() };
    if !is_number(&id) {
        batch.voided.push(Voided { external_id: id, is_there: false });
        return Ok(batch);
    }
    let query = [("fields", ORDER_FIELDS.to_owned()), ("aggregates", "fulfillment_orders".to_owned())];
    let answer = session.get_patiently(&["orders", &id], &query, READ_ORDERS).await;
    match answer.and_then(|answer| answer.detail::<Box<RawValue>>()) {
        Ok(raw) => match record::<OrderWire>("order", &raw) {
            Ok(wire) => add_order(session, &mut batch, wire, currency).await?,
            Err(refused) => batch.refused.push(refused),
        },
        Err(ShopError::NotFound) => {
            batch.absent = 1;
            batch.voided.push(Voided { external_id: id, is_there: false });
        }
        Err(error) => {
            let trouble = pass_over(session, error).await?;
            batch.again.push(id.clone());
            batch.refused.push(Refused::failing("order", id, &trouble));
        }
    }
    Ok(batch)
}

async fn catalogue(mut pages: Pages, currency: Currency) -> Result<Vec<ProductBatch>, ShopError> {
    let (store, _) = store(&pages.session).await?;
    let its_currency =
        store.main_currency.required("main_currency").map_err(|field| ShopError::Malformed(field.0.into()))?;
    let foreign = (its_currency != currency.as_str()).then_some(its_currency);
    let mut catalogue = Catalogue::new(store.main_language.ok().unwrap_or_default(), foreign);
    while let Some(records) = pages.next().await? {
        for raw in records {
            match record::<ProductWire>("product", &raw) {
                Ok(wire) if pages.is_new(&wire.id) => catalogue.add(wire),
                Ok(_) => {}
                Err(refused) => catalogue.miss(refused.external_id, refused.reason),
            }
        }
    }
    catalogue.compare(&pages.totals);
    Ok(catalogue.batches())
}

fn instant(at: OffsetDateTime) -> Result<String, ShopError> {
    at.to_offset(time::UtcOffset::UTC).format(&Rfc3339).map_err(|_| ShopError::Rejected("no such instant".to_owned()))
}

impl Tiendanube {
    fn session(&self, access: &Access) -> Session {
        Session::new(&self.client, access)
    }

    fn pages(&self, access: &Access, path: &'static str, scope: &'static str, per_page: u64) -> Pages {
        Pages {
            session: self.session(access),
            path,
            scope,
            query: vec![("per_page", per_page.to_string())],
            per_page,
            max: None,
            next: Next::Count,
            seen: HashSet::new(),
            totals: HashSet::new(),
        }
    }

    fn order_pages(&self, access: &Access, window: Window, purpose: Purpose) -> Result<Pages, ShopError> {
        let (min, max) = match purpose {
            Purpose::BackFill => ("created_at_min", "created_at_max"),
            Purpose::Changes => ("updated_at_min", "updated_at_max"),
        };
        let mut pages = self.pages(access, "orders", READ_ORDERS, ORDERS_PER_PAGE);
        pages.max = Some(MAX_ORDERS);
        pages.query.extend([
            // Unverified: whether the bounds belong to the window. A second more does no harm: an order that is read twice
            // is the same order.
            (min, instant(window.from - Duration::SECOND)?),
            (max, instant(window.until + Duration::SECOND)?),
            ("fields", ORDER_FIELDS.to_owned()),
            ("aggregates", "fulfillment_orders".to_owned()),
        ]);
        Ok(pages)
    }
}

fn failed<T: Send + 'static>(error: ShopError) -> BoxStream<'static, Result<T, ShopError>> {
    stream::once(async { Err(error) }).boxed()
}

#[async_trait]
impl ShopReader for Tiendanube {
    fn platform(&self) -> Platform {
        Platform::Tiendanube
    }

    fn timing(&self) -> Timing {
        Timing {
            overlap: Duration::minutes(10),
            lag: Duration::MINUTE,
            window: Duration::days(30),
            longest_window: Duration::days(30),
            history: Duration::days(2 * 365),
            // An order is cancelled or archived there, not deleted: the API has no call and no event for it.
            // Unverified: that every change of an order moves its `updated_at`.
            reread: None,
            ads: None,
            token_lifetime: Duration::ZERO,
        }
    }

    async fn shop(&self, access: &Access) -> Result<(ShopInfo, OffsetDateTime), ShopError> {
        let malformed = |name: &str| ShopError::Malformed(name.to_owned());
        let (store, date) = store(&self.session(access)).await?;
        let id = store.id.required("id").map_err(|field| malformed(field.0))?;
        if id.0 != access.shop_id {
            return Err(malformed("id"));
        }
        let host = store.original_domain.ok().map(|host| host.to_ascii_lowercase());
        let is_host = |host: &String| {
            host.len() <= 255
                && host.contains('.')
                && host.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.')
        };
        let currency = store.main_currency.ok().and_then(|currency| currency.parse().ok());
        let info = ShopInfo {
            shop_id: id.0,
            shop: host.filter(is_host).ok_or(malformed("original_domain"))?,
            currency: currency.ok_or(malformed("main_currency"))?,
            timezone: store.timezone.ok().and_then(|zone| zone.parse().ok()),
            country: store.country.ok().and_then(|country| country.parse().ok()),
            history_from: None,
            shows_buyers: Some(true),
            missing_scopes: [READ_ORDERS, READ_PRODUCTS]
                .into_iter()
                .filter(|scope| !grants(access, scope))
                .map(str::to_owned)
                .collect(),
        };
        Ok((info, date))
    }

    fn orders(&self, access: &Access, window: Window, purpose: Purpose, currency: Currency) -> ShopStream<OrderBatch> {
        match self.order_pages(access, window, purpose) {
            Ok(pages) => counted(stream::try_unfold(pages, move |pages| orders(pages, currency)).boxed()),
            Err(error) => failed(error),
        }
    }

    fn orders_by_id(&self, access: &Access, ids: Vec<String>, currency: Currency) -> ShopStream<OrderBatch> {
        let (client, access) = (Arc::clone(&self.client), access.clone());
        let unique: HashSet<String> = ids.into_iter().collect();
        let read = stream::iter(unique).then(move |id| {
            let session = Session::new(&client, &access);
            async move { order_by_id(&session, id, currency).await }
        });
        counted(read.boxed())
    }

    fn products(&self, access: &Access, currency: Currency) -> ShopStream<ProductBatch> {
        let mut pages = self.pages(access, "products", READ_PRODUCTS, PRODUCTS_PER_PAGE);
        pages.query.push(("fields", PRODUCT_FIELDS.to_owned()));
        let read = stream::once(catalogue(pages, currency)).flat_map(|read| match read {
            Ok(batches) => stream::iter(batches).map(Ok).boxed(),
            Err(error) => failed(error),
        });
        counted(read.boxed())
    }

    /// The platform sells no ads of its own.
    async fn ad_spend(&self, _: &Access, _: Date, _: Date) -> Result<AdSpend, ShopError> {
        Ok(AdSpend::default())
    }

    async fn subscribe(&self, access: &Access, address: &str) -> Result<(), ShopError> {
        let query = [("per_page", "200".to_owned()), ("url", address.to_owned())];
        let session = self.session(access);
        let page = match session.get(&["webhooks"], &query, "").await {
            Ok(answer) => answer.json::<Vec<SubscriptionWire>>()?,
            Err(ShopError::NotFound) => Vec::new(),
            Err(error) => return Err(error),
        };
        let there: HashSet<&str> =
            page.iter().filter(|subscription| subscription.url == address).map(|found| found.event.as_str()).collect();
        let mut asked = Ok(());
        for (event, scope) in EVENTS {
            let is_granted = scope.is_none_or(|scope| grants(access, scope));
            if !is_granted || there.contains(event) {
                continue;
            }
            let body = json!({ "event": event, "url": address });
            match session.post(&["webhooks"], &body, scope.unwrap_or("")).await {
                // An event that is refused keeps no other from being subscribed to.
                Err(refused @ (ShopError::Rejected(_) | ShopError::MissingScope(_))) => asked = asked.and(Err(refused)),
                done => drop(done?),
            }
        }
        asked
    }
}

#[cfg(test)]
mod tests;
