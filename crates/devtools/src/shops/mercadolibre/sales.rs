//! Orders, shipments and claims, as Mercado Libre shows them.

use std::{collections::BTreeSet, str::FromStr};

use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, Time, UtcOffset, format_description::well_known::Rfc3339, macros::offset};

use super::{
    answer::Answer,
    seller::{Claim, HISTORY, Order, SITE, Seller, Status},
};

/// Orders that a search gives at most.
const CAP: usize = 10_000;
const MAX_LIMIT: usize = 50;

/// A JSON number.
pub fn number(amount: Decimal) -> Value {
    serde_json::from_str(&amount.to_string()).unwrap_or_default()
}

/// With the offset that Mercado Libre gives dates.
fn date(at: OffsetDateTime) -> Value {
    at.to_offset(offset!(-4)).format(&Rfc3339).unwrap_or_default().into()
}

fn maybe(at: Option<OffsetDateTime>) -> Value {
    at.map_or(Value::Null, date)
}

/// The parameters of a query, as they came.
pub struct Query(pub Vec<(String, String)>);

impl Query {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn whole(&self, name: &str, default: usize) -> Result<usize, Answer> {
        let parse = |text: &str| usize::from_str(text).map_err(|_| Answer::refused(400, "bad_request", name));
        self.get(name).map_or(Ok(default), parse)
    }

    /// A filter by date. Minutes are dropped.
    fn hour(&self, name: &str) -> Result<Option<OffsetDateTime>, Answer> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let at = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| Answer::refused(400, "bad_request", name))?;
        let at = at.to_offset(UtcOffset::UTC);
        let hour = Time::from_hms(at.hour(), 0, 0).map_err(|_| Answer::refused(400, "bad_request", name))?;
        Ok(Some(at.replace_time(hour)))
    }
}

impl Seller {
    /// `GET /orders/search`. What is cancelled is not found, nor what is older than a year or changed less than `lag` ago.
    /// A filter that is not known is ignored.
    pub fn search(&self, query: &Query, lag: Duration, now: OffsetDateTime) -> Result<Answer, Answer> {
        if query.get("seller") != Some(self.id.to_string().as_str()) {
            return Err(Answer::refused(403, "forbidden", "The caller is not the seller"));
        }
        let (limit, offset) = (query.whole("limit", MAX_LIMIT)?, query.whole("offset", 0)?);
        if limit == 0 || limit > MAX_LIMIT || offset + limit > CAP {
            return Err(Answer::refused(400, "bad_request", "limit or offset is not valid"));
        }
        let created = self.within(&self.by_creation, query, "order.date_created")?;
        let changed = self.within(&self.by_change, query, "order.date_last_updated")?;
        let all = || self.by_creation.iter().map(|(_, id)| *id).collect::<Vec<_>>();
        let mut ids = match (created, changed) {
            (Some(created), None) => created,
            (None, Some(changed)) => changed,
            (None, None) => all(),
            (Some(created), Some(changed)) => created.into_iter().filter(|id| changed.contains(id)).collect(),
        };
        // Identifiers grow with the date of creation, by which results are sorted whatever they are filtered by.
        ids.sort_unstable();
        let is_found = |order: &&Order| {
            order.status != Status::Cancelled && order.created >= now - HISTORY && order.updated <= now - lag
        };
        let status = query.get("order.status");
        let is_asked = |order: &&Order| status.is_none_or(|status| order.status.as_str() == status);
        let mut found: Vec<&Order> =
            ids.iter().filter_map(|id| self.orders.get(id)).filter(is_found).filter(is_asked).collect();
        if query.get("sort") != Some("date_asc") {
            found.reverse();
        }
        let results: Vec<Value> = found.iter().skip(offset).take(limit).map(|order| self.found(order)).collect();
        Ok(Answer::ok(json!({
            "query": "",
            "paging": {"total": found.len(), "offset": offset, "limit": limit},
            "results": results,
            "sort": {"id": "date_asc"},
        })))
    }

    fn within(
        &self,
        index: &BTreeSet<(OffsetDateTime, u64)>,
        query: &Query,
        name: &str,
    ) -> Result<Option<Vec<u64>>, Answer> {
        let (from, to) = (query.hour(&format!("{name}.from"))?, query.hour(&format!("{name}.to"))?);
        if from.is_none() && to.is_none() {
            return Ok(None);
        }
        let from = from.unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let range = index.range((from, 0)..).take_while(|(at, _)| to.is_none_or(|to| *at <= to));
        Ok(Some(range.map(|(_, id)| *id).collect()))
    }

    /// An order in a search.
    fn found(&self, order: &Order) -> Value {
        let mut json = self.order(order);
        if let Some(fields) = json.as_object_mut() {
            let updated = fields.remove("last_updated").unwrap_or_default();
            fields.insert("date_last_updated".to_owned(), updated);
        }
        json
    }

    /// `GET /orders/{id}`
    pub fn order_by_id(&self, id: &str, now: OffsetDateTime) -> Result<Answer, Answer> {
        let order = self.find(id).filter(|order| order.hidden_until.is_none_or(|until| until <= now));
        order.map(|order| Answer::ok(self.order(order))).ok_or_else(Answer::not_found)
    }

    fn find(&self, id: &str) -> Option<&Order> {
        self.orders.get(&id.parse::<u64>().ok()?)
    }

    fn order(&self, order: &Order) -> Value {
        let Some(offer) = self.offers.get(order.offer) else { return Value::Null };
        let flags = [
            ("test_order", order.is_test),
            ("unfulfilled", order.is_unfulfilled),
            ("pack_order", order.pack.is_some()),
            ("order_has_discount", !order.coupon.is_zero() || order.id.is_multiple_of(20)),
            ("paid", order.payment.approved.is_some()),
        ];
        let tags: Vec<&str> = flags.iter().filter(|(_, is)| *is).map(|(tag, _)| *tag).collect();
        let shows_sku = offer.place != super::seller::SkuPlace::Nowhere;
        let in_custom_field = offer.place == super::seller::SkuPlace::CustomField;
        let sku = |shown: bool| if shows_sku && shown { Value::from(offer.sku.clone()) } else { Value::Null };
        json!({
            "id": order.id,
            "status": order.status.as_str(),
            "status_detail": null,
            "date_created": date(order.created),
            "date_closed": maybe(order.closed),
            "last_updated": date(order.updated),
            "pack_id": order.pack,
            "total_amount": number(order.unit_price * Decimal::from(order.quantity)),
            "order_items": [{
                "item": {
                    "id": offer.listing,
                    "title": offer.title,
                    "category_id": offer.category,
                    "variation_id": offer.variation,
                    "seller_sku": sku(!in_custom_field),
                    "seller_custom_field": sku(in_custom_field),
                    "user_product_id": offer.user_product,
                },
                "quantity": order.quantity,
                "unit_price": number(order.unit_price),
                "full_unit_price": number(order.unit_price + Decimal::ONE),
                "currency_id": order.currency,
                "sale_fee": order.fee.map(number),
            }],
            "currency_id": order.currency,
            "payments": [payment(order)],
            "shipping": {"id": order.shipment},
            "tags": tags,
            "buyer": {"id": order.buyer, "nickname": format!("COMPRADOR{}", order.buyer)},
            "seller": {"id": self.id},
            "cancel_detail": order.cancelled.map(|at| json!({
                "group": "buyer", "code": "buyer_cancel_express", "description": null, "requested_by": "buyer", "date": date(at),
            })),
            "context": {"channel": "marketplace", "site": SITE, "flows": []},
        })
    }

    /// `GET /orders/{id}/discounts`
    pub fn discounts(&self, id: &str) -> Result<Answer, Answer> {
        let order = self.find(id).ok_or_else(Answer::not_found)?;
        let listing = self.offers.get(order.offer).map(|offer| offer.listing.clone());
        let item = |total: Decimal, seller: Decimal| json!([{"id": listing, "quantity": order.quantity, "amounts": {"total": number(total), "seller": number(seller)}}]);
        // The price of the item is after this one already.
        let mut details = vec![json!({"type": "discount", "items": item(Decimal::ONE, Decimal::ONE)})];
        if !order.coupon.is_zero() {
            details.push(json!({"type": "coupon", "items": item(order.coupon + Decimal::ONE, order.coupon)}));
        }
        Ok(Answer::ok(json!({"order_id": order.id, "details": details})))
    }

    /// `GET /shipments/{id}/costs`
    pub fn shipment_costs(&self, id: &str) -> Result<Answer, Answer> {
        let shipment = id.parse::<u64>().ok().and_then(|id| self.shipments.get(&id)).ok_or_else(Answer::not_found)?;
        let units: i64 = shipment.orders.iter().filter_map(|id| self.orders.get(id)).map(|order| order.quantity).sum();
        let cost = shipment.cost_per_unit * Decimal::from(units);
        Ok(Answer::ok(json!({
            "gross_amount": number(cost + Decimal::TEN),
            "receiver": {"user_id": 74_425_755, "cost": 10, "compensation": 0, "save": 0, "discounts": []},
            "senders": [{"user_id": self.id, "cost": number(cost), "compensation": 0, "save": 0, "discounts": []}],
        })))
    }

    /// `GET /shipments/{id}/items`
    pub fn shipment_items(&self, id: &str) -> Result<Answer, Answer> {
        let shipment = id.parse::<u64>().ok().and_then(|id| self.shipments.get(&id)).ok_or_else(Answer::not_found)?;
        let item = |order: &Order| {
            let offer = self.offers.get(order.offer)?;
            Some(json!({
                "item_id": offer.listing, "description": offer.title, "quantity": order.quantity,
                "variation_id": offer.variation, "order_id": order.id, "sender_id": self.id,
            }))
        };
        let orders = shipment.orders.iter().rev().filter_map(|id| self.orders.get(id));
        Ok(Answer::ok(orders.filter_map(item).collect()))
    }

    /// `GET /post-purchase/v1/claims/search`
    pub fn claims(&self, query: &Query) -> Result<Answer, Answer> {
        let (limit, offset) = (query.whole("limit", 30)?, query.whole("offset", 0)?);
        if limit > 100 || offset > 9_999 {
            return Err(Answer::refused(400, "bad_request", "limit or offset is not valid"));
        }
        let (Some("order"), Some(id)) = (query.get("resource"), query.get("resource_id")) else {
            return Err(Answer::refused(400, "bad_request", "at least one filter is required"));
        };
        let claims: Vec<Value> =
            self.find(id).into_iter().filter_map(|order| Some((order, order.claim.as_ref()?))).map(claim).collect();
        Ok(Answer::ok(json!({"paging": {"total": claims.len(), "offset": offset, "limit": limit}, "data": claims})))
    }

    fn claim_by_id(&self, id: &str) -> Result<(&Order, &Claim), Answer> {
        let order = id.parse::<u64>().ok().and_then(|id| self.orders.get(self.claims.get(&id)?));
        order.and_then(|order| Some((order, order.claim.as_ref()?))).ok_or_else(Answer::not_found)
    }

    /// `GET /post-purchase/v1/claims/{id}`
    pub fn claim(&self, id: &str) -> Result<Answer, Answer> {
        let found = self.claim_by_id(id)?;
        let mut json = claim(found);
        if let Some(fields) = json.as_object_mut() {
            let entities = if found.1.returned.is_some() { json!(["return"]) } else { json!([]) };
            fields.insert("related_entities".to_owned(), entities);
        }
        Ok(Answer::ok(json))
    }

    /// `GET /post-purchase/v2/claims/{id}/returns`: numbers as texts, and `refund_at` is no date.
    pub fn returns(&self, id: &str) -> Result<Answer, Answer> {
        let (order, claim) = self.claim_by_id(id)?;
        let returned = claim.returned.as_ref().ok_or_else(Answer::not_found)?;
        let offer = self.offers.get(order.offer).ok_or_else(Answer::not_found)?;
        let is_total = returned.units == order.quantity;
        Ok(Answer::ok(json!({
            "id": claim.id + 1,
            "last_updated": maybe(claim.settled),
            "refund_at": "delivered",
            "date_closed": maybe(claim.settled),
            "resource_type": "order",
            "claim_id": claim.id,
            "status_money": if returned.is_refunded { "refunded" } else { "retained" },
            "orders": [{
                "order_id": order.id,
                "item_id": offer.listing,
                "variation_id": offer.variation,
                "context_type": if is_total { "total" } else { "partial" },
                "total_quantity": format!("{}.0", order.quantity),
                "return_quantity": format!("{}.0", returned.units),
            }],
            "subtype": match (returned.is_low_cost, is_total) {
                (true, _) => "low_cost",
                (false, true) => "return_total",
                (false, false) => "return_partial",
            },
            "status": "delivered",
        })))
    }
}

fn payment(order: &Order) -> Value {
    let payment = &order.payment;
    let status = match (payment.approved, order.status) {
        (None, _) => "pending",
        (Some(_), Status::Cancelled) => "refunded",
        (Some(_), _) => "approved",
    };
    json!({
        "id": payment.id,
        "order_id": order.id,
        "status": status,
        "currency_id": order.currency,
        "transaction_amount": number(payment.amount),
        "transaction_amount_refunded": number(payment.refunded),
        "date_approved": maybe(payment.approved),
        "date_last_modified": date(payment.modified),
        "marketplace_fee": 0,
        "tags": if payment.into_account { json!(["refund_account_money"]) } else { Value::Null },
    })
}

/// In a search, related entities are not shown.
fn claim((order, claim): (&Order, &Claim)) -> Value {
    let resolution = claim.settled.map(|at| json!({"reason": "payment_refunded", "date_created": date(at)}));
    json!({
        "id": claim.id,
        "resource_id": order.id,
        "resource": "order",
        "status": if claim.settled.is_some() { "closed" } else { "opened" },
        "type": "mediations",
        "resolution": resolution,
        "date_created": date(claim.opened),
        "last_updated": date(claim.settled.unwrap_or(claim.opened)),
    })
}
