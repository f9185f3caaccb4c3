//! Reading orders: those of a window, page by page, and single ones.

use std::{collections::HashSet, sync::Arc};

use domain::{
    money::Currency,
    shops::{Access, OrderBatch, Purpose, Refused, ShopError, ShopStream, Voided, Window},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use rust_decimal::Decimal;
use serde_json::value::RawValue;
use time::{OffsetDateTime, Time, UtcOffset, format_description::well_known::Rfc3339};

use super::{
    api::Api,
    claims,
    denied::Denied,
    document::{Details, Standing, shop_order, standing},
    refunds::refunded,
    shipments::{self, Shipments},
    wire::{Discounts, Order, Page, WithId},
};

/// Calls for one seller at a time; how many there are in a second, the limits say.
pub(super) const CONCURRENCY: usize = 8;
/// Orders of a page.
const PAGE: usize = 50;
/// Orders that a page has in common with the one before, so that none falls between them when orders leave the window
/// while it is read.
const COMMON: usize = 5;
/// Unverified: orders that a search gives at most.
const CAP: u64 = 10_000;
/// Longer windows hold a few hours at least after they were halved.
const LONG: time::Duration = time::Duration::hours(6);
/// How often a window is begun again.
const PASSES: u32 = 3;
/// Orders that are read one by one and given on together.
const BATCH: usize = 50;

/// The filter of a purpose: from and to. A misspelt one is ignored, so that everything would be found.
fn filters(purpose: Purpose) -> [&'static str; 2] {
    match purpose {
        Purpose::BackFill => ["order.date_created.from", "order.date_created.to"],
        Purpose::Changes => ["order.date_last_updated.from", "order.date_last_updated.to"],
    }
}

/// The full hours around a window: filters drop minutes. Unverified: whether the hour of `to` is inside; orders outside of
/// the window are left out in any case.
fn hours(window: Window) -> Option<Window> {
    let floor = |at: OffsetDateTime| {
        let at = at.to_offset(UtcOffset::UTC);
        Some(at.replace_time(Time::from_hms(at.hour(), 0, 0).ok()?))
    };
    let until = floor(window.until)?;
    let until = if until == window.until { until } else { until + time::Duration::HOUR };
    Some(Window { from: floor(window.from)?, until })
}

/// The most orders that a window may hold. A longer one than an hour can be halved, so some room is left. What a long one holds
/// is read in a quarter of an hour: others wait for its end, and a process that is killed begins it again.
fn most(hours: Window) -> u64 {
    match hours.until - hours.from {
        length if length > LONG => 1_000,
        length if length > time::Duration::HOUR => CAP / 5 * 4,
        _ => CAP,
    }
}

struct Pages {
    api: Arc<Api>,
    access: Access,
    window: Window,
    hours: Window,
    purpose: Purpose,
    currency: Currency,
    offset: usize,
    seen: HashSet<String>,
    /// The last orders of the page before.
    last: Vec<String>,
    passes: u32,
    is_done: bool,
    denied: Denied,
}

pub(super) fn in_window(
    api: Arc<Api>,
    access: Access,
    window: Window,
    purpose: Purpose,
    currency: Currency,
) -> ShopStream<OrderBatch> {
    let Some(hours) = hours(window) else { return stream::empty().boxed() };
    let pages = Pages {
        api,
        access,
        window,
        hours,
        purpose,
        currency,
        offset: 0,
        seen: HashSet::new(),
        last: Vec::new(),
        passes: 1,
        is_done: false,
        denied: Denied::default(),
    };
    stream::try_unfold(pages, |mut pages| async move {
        let batch = pages.next().await?;
        Ok(batch.map(|batch| (batch, pages)))
    })
    .boxed()
}

impl Pages {
    async fn next(&mut self) -> Result<Option<OrderBatch>, ShopError> {
        while !self.is_done {
            let page = self.page().await?;
            if page.paging.total > most(self.hours) {
                return Err(ShopError::TooMany);
            }
            let ids: Vec<Option<String>> = page.results.iter().map(|raw| id_of(raw)).collect();
            if !self.follows(&ids) {
                self.begin_again()?;
                continue;
            }
            let found = page.results.len();
            self.is_done = found == 0 || (self.offset + found) as u64 >= page.paging.total;
            self.offset += found.saturating_sub(COMMON).max(1);
            self.last = ids.iter().rev().take(COMMON).flatten().cloned().collect();
            let mut fresh = Vec::new();
            for (raw, id) in page.results.into_iter().zip(ids) {
                if id.is_none_or(|id| self.seen.insert(id)) && self.holds(&raw) {
                    fresh.push(raw);
                }
            }
            if !fresh.is_empty() {
                return batch(&self.api, &self.access, &self.denied, &fresh, self.currency).await.map(Some);
            }
        }
        Ok(None)
    }

    async fn page(&self) -> Result<Page, ShopError> {
        let [from, to] = filters(self.purpose);
        let text = |at: OffsetDateTime| at.format(&Rfc3339).map_err(|_| ShopError::Rejected("the window".to_owned()));
        let (since, until) = (text(self.hours.from)?, text(self.hours.until)?);
        let (limit, offset) = (PAGE.to_string(), self.offset.to_string());
        let query = [
            ("seller", self.access.shop_id.as_str()),
            (from, &since),
            (to, &until),
            ("sort", "date_asc"),
            ("limit", &limit),
            ("offset", &offset),
        ];
        self.api.get(&self.access, &["orders", "search"], &query).await?.json()
    }

    /// Whether a page goes on where the one before ended.
    fn follows(&self, ids: &[Option<String>]) -> bool {
        self.last.is_empty() || ids.iter().flatten().any(|id| self.last.contains(id))
    }

    /// Too many orders left the window between two pages: from its beginning again, for what was passed over.
    fn begin_again(&mut self) -> Result<(), ShopError> {
        if self.passes == PASSES {
            return Err(ShopError::Unavailable("its orders change faster than they can be read".to_owned()));
        }
        self.passes += 1;
        self.offset = 0;
        self.last.clear();
        Ok(())
    }

    /// Whether the exact window holds an order. One that cannot be read is not left out: it will be refused.
    fn holds(&self, raw: &RawValue) -> bool {
        let Ok(order) = serde_json::from_str::<Order>(raw.get()) else { return true };
        let at = match self.purpose {
            Purpose::BackFill => Some(order.date_created),
            Purpose::Changes => order.changed_at(),
        };
        at.is_none_or(|at| self.window.from <= at.0 && at.0 < self.window.until)
    }
}

fn id_of(raw: &RawValue) -> Option<String> {
    serde_json::from_str::<WithId>(raw.get()).ok().map(|record| record.id.0)
}

/// One by one: there is no multiget of orders.
pub(super) fn by_id(api: Arc<Api>, access: Access, ids: Vec<String>, currency: Currency) -> ShopStream<OrderBatch> {
    let chunks: Vec<Vec<String>> = ids.chunks(BATCH).map(<[String]>::to_vec).collect();
    let denied = Arc::<Denied>::default();
    stream::iter(chunks)
        .then(move |ids| {
            let (api, access, denied) = (api.clone(), access.clone(), denied.clone());
            async move {
                let api = &*api;
                let access = &access;
                let read = stream::iter(ids).map(|id| async move { Ok((order(api, access, &id).await?, id)) });
                let read: Vec<(Found, String)> = read.buffered(CONCURRENCY).try_collect().await?;
                let mut found = Vec::new();
                let mut absent = OrderBatch::default();
                for (order, external_id) in read {
                    match order {
                        Found::Order(raw) => found.push(raw),
                        Found::Absent => {
                            absent.absent += 1;
                            absent.voided.push(Voided { external_id, is_there: false });
                        }
                        Found::Hidden => {
                            absent.absent += 1;
                            absent.refused.push(refused(external_id, "it is not shown to the seller"));
                        }
                        Found::Failing(trouble) => {
                            absent.again.push(external_id.clone());
                            absent.refused.push(Refused::failing("order", external_id, &trouble));
                        }
                    }
                }
                let mut batch = batch(api, access, &denied, &found, currency).await?;
                batch.absent = absent.absent;
                batch.voided.append(&mut absent.voided);
                batch.refused.append(&mut absent.refused);
                batch.again.append(&mut absent.again);
                Ok(batch)
            }
        })
        .boxed()
}

enum Found {
    Order(Box<RawValue>),
    Absent,
    /// Another seller's: anybody can send a notification with any number.
    Hidden,
    /// It is not answered for, while others are.
    Failing(String),
}

async fn order(api: &Api, access: &Access, id: &str) -> Result<Found, ShopError> {
    let path = ["orders", id];
    let answer = match api.get(access, &path, &[]).await {
        Err(ShopError::NotFound) => {
            // An order can be asked for only some time after its notification.
            tokio::time::sleep(api.pause() * 3).await;
            api.get(access, &path, &[]).await
        }
        answer => answer,
    };
    match answer.and_then(|answer| answer.detail()) {
        Ok(raw) => Ok(Found::Order(raw)),
        Err(ShopError::NotFound) => Ok(Found::Absent),
        Err(ShopError::Rejected(_)) => Ok(Found::Hidden),
        Err(error) => api.pass_over(access, error).await.map(Found::Failing),
    }
}

fn refused(external_id: String, reason: impl Into<String>) -> Refused {
    Refused { kind: "order", external_id, reason: reason.into() }
}

/// What orders come to, with what has to be asked about each of them.
async fn batch(
    api: &Api,
    access: &Access,
    denied: &Denied,
    raw: &[Box<RawValue>],
    currency: Currency,
) -> Result<OrderBatch, ShopError> {
    let mut batch = OrderBatch { read: raw.len() as u64, ..OrderBatch::default() };
    let mut sales = Vec::new();
    for raw in raw {
        let order = match serde_json::from_str::<Order>(raw.get()) {
            Ok(order) => order,
            Err(error) => {
                let reason = crate::shops::http::malformed(&error).to_string();
                batch.refused.push(refused(id_of(raw).unwrap_or_else(|| "?".to_owned()), reason));
                continue;
            }
        };
        match standing(&order, &access.shop_id, currency) {
            Standing::Sale => sales.push(order),
            Standing::Void => batch.voided.push(Voided { external_id: order.id.0, is_there: true }),
            Standing::Refused(reason) => batch.refused.push(refused(order.id.0, reason)),
        }
    }
    let shipments = shipments::of_orders(api, access, denied, &sales.iter().collect::<Vec<_>>()).await?;
    let shipments = &shipments;
    let detailed = stream::iter(sales).map(|order| async move {
        let details = details(api, access, denied, &order, shipments, currency).await;
        (order, details)
    });
    let mut detailed = detailed.buffered(CONCURRENCY);
    while let Some((order, details)) = detailed.next().await {
        let refusal = match details {
            Ok((details, failing)) => {
                if !failing.is_empty() {
                    batch.again.push(order.id.0.clone());
                }
                let told = failing.iter().map(|(kind, trouble)| Refused::failing(kind, order.id.0.clone(), trouble));
                batch.refused.extend(told);
                match shop_order(&order, &details, currency) {
                    Ok(order) => {
                        batch.orders.push(order);
                        continue;
                    }
                    Err(reason) => refused(order.id.0, reason),
                }
            }
            // Without them the sale would come in wrong; it is shown instead.
            Err(error @ (ShopError::Malformed(_) | ShopError::Rejected(_))) => refused(order.id.0, error.to_string()),
            Err(error) => {
                let trouble = api.pass_over(access, error).await?;
                batch.again.push(order.id.0.clone());
                Refused::failing("order", order.id.0, &trouble)
            }
        };
        batch.refused.push(refusal);
    }
    batch.missing_scopes = denied.scopes();
    Ok(batch)
}

/// What is not answered for, and what went wrong with it.
type Failing = (&'static str, String);

/// What has to be asked about an order, and what of that stays unknown as it is not answered for.
async fn details(
    api: &Api,
    access: &Access,
    denied: &Denied,
    order: &Order,
    shipments: &Shipments,
    currency: Currency,
) -> Result<(Details, Vec<Failing>), ShopError> {
    let mut failing = Vec::new();
    let shipment = order.shipping.as_ref().and_then(|shipping| shipping.id.as_ref());
    failing.extend(shipment.and_then(|id| Some(("shipment", shipments.failing.get(&id.0)?.clone()))));
    let shipment = shipment.and_then(|id| shipments.read.get(&id.0));
    let shipping = shipment.and_then(|shipment| shipment.share(&order.id.0, currency));
    let discounts =
        if order.has_tag("order_has_discount") { discounts(api, access, &order.id.0).await? } else { vec![] };
    let claimed = match refunded(order).is_zero() {
        true => claims::Claimed::default(),
        false => match claims::of_order(api, access, denied, &order.id.0).await {
            // Which units came back is not known then, as where claims are not shown; the money is.
            Err(ShopError::Unavailable(trouble)) => {
                failing.push(("claim", trouble));
                claims::Claimed::default()
            }
            claimed => claimed?,
        },
    };
    Ok((Details { discounts, shipping, claimed }, failing))
}

/// What the seller bears of coupons, by item: the price of an item is without them, and after all other discounts.
/// Unverified: that the amounts are of all units together.
async fn discounts(api: &Api, access: &Access, order: &str) -> Result<Vec<(String, Decimal)>, ShopError> {
    let discounts = match api.get(access, &["orders", order, "discounts"], &[]).await {
        Ok(answer) => answer.detail::<Discounts>()?,
        Err(ShopError::NotFound) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let coupons = discounts.details.into_iter().filter(|discount| discount.kind.as_deref() == Some("coupon"));
    let items = coupons.flat_map(|coupon| coupon.items);
    Ok(items.filter_map(|item| Some((item.id.0, item.amounts?.seller?.0))).collect())
}

#[cfg(test)]
mod tests;
