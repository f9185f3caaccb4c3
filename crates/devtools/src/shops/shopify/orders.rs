//! Search among orders: filters, sorting, pages. What the index does not know yet is not found.

use std::time::Instant;

use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};

use super::{ShopifyStub, State, query::MAX_DEPTH, shop::Order, view};

/// What can be seen without `read_all_orders`.
const RECENT: Duration = Duration::days(60);

/// What is asked of a search.
pub struct Search {
    pub first: usize,
    pub after: Option<String>,
    pub sort: String,
    pub reverse: bool,
    pub query: Option<String>,
}

/// A page, and warnings about the filter.
pub struct Found {
    pub nodes: Vec<Value>,
    pub end_cursor: Option<String>,
    pub more: bool,
    pub warnings: Vec<Value>,
}

/// Orders with `updatedAt` as the index knows it, and warnings about the filter.
pub type Matching<'a> = (Vec<(&'a Order, OffsetDateTime)>, Vec<Value>);

/// A comparison: field, operator, value.
pub type Term = (String, &'static str, String);

/// The terms of a filter, and warnings for the fields that there are none of: such a term matches everything.
pub fn terms(query: Option<&str>, fields: &[&str]) -> (Vec<Term>, Vec<Value>) {
    let (mut terms, mut warnings) = (Vec::new(), Vec::new());
    for part in query.unwrap_or_default().split(" AND ").filter(|part| !part.trim().is_empty()) {
        let (field, rest) = part.trim().split_once(':').unwrap_or((part, ""));
        let operator = [">=", "<=", ">", "<"].into_iter().find(|operator| rest.starts_with(operator)).unwrap_or("");
        let value = rest.strip_prefix(operator).unwrap_or_default().trim_matches('\'').to_owned();
        if fields.contains(&field) && !value.is_empty() {
            terms.push((field.to_owned(), operator, value));
        } else {
            let message = "Invalid search field for this query.";
            warnings.push(json!({ "field": field, "message": message, "code": "invalid_field" }));
        }
    }
    (terms, warnings)
}

/// Whether values compare as an operator says.
pub fn compares<T: PartialOrd>(one: &T, operator: &str, other: &T) -> bool {
    match operator {
        ">=" => one >= other,
        "<=" => one <= other,
        ">" => one > other,
        "<" => one < other,
        _ => one == other,
    }
}

impl ShopifyStub {
    /// Whether the app may see an order at all.
    pub(super) fn is_visible(&self, state: &State, order: &Order) -> bool {
        let all = state.scopes.iter().any(|scope| scope == "read_all_orders");
        !order.is_deleted && (all || order.created >= self.now() - RECENT)
    }

    /// `updatedAt` as the index knows it; `None` when it does not know the order.
    fn indexed(&self, order: &Order) -> Option<OffsetDateTime> {
        match order.touched {
            Some((at, before)) if Instant::now().duration_since(at) < self.0.config.index_lag => before,
            _ => Some(order.updated),
        }
    }

    /// The orders that a filter selects.
    pub(super) fn matching<'a>(&self, state: &'a State, query: Option<&str>) -> Result<Matching<'a>, String> {
        let (terms, warnings) = terms(query, &["created_at", "updated_at", "processed_at"]);
        let mut instants = Vec::new();
        for (field, operator, value) in &terms {
            let at = OffsetDateTime::parse(value, &Rfc3339).map_err(|_| format!("`{value}` is no date"))?;
            instants.push((field == "updated_at", *operator, at));
        }
        let found = state.shop.orders.iter().filter(|order| self.is_visible(state, order)).filter_map(|order| {
            let updated = self.indexed(order)?;
            let fits = instants.iter().all(|(by_update, operator, at)| {
                compares(if *by_update { &updated } else { &order.created }, operator, at)
            });
            fits.then_some((order, updated))
        });
        Ok((found.collect(), warnings))
    }

    /// A page of orders.
    pub(super) fn search(&self, state: &State, search: &Search) -> Result<Found, String> {
        let (found, warnings) = self.matching(state, search.query.as_deref())?;
        let key = |(order, updated): &(&Order, OffsetDateTime)| match search.sort.as_str() {
            "UPDATED_AT" => (updated.unix_timestamp_nanos(), order.id),
            "ID" => (i128::from(order.id), order.id),
            _ => (order.created.unix_timestamp_nanos(), order.id),
        };
        let mut keyed: Vec<_> = found.iter().map(|found| (key(found), found.0)).collect();
        keyed.sort_unstable_by_key(|(key, _)| *key);
        if search.reverse {
            keyed.reverse();
        }
        let cursor = |(instant, id): (i128, u64)| format!("{instant}.{id}");
        let start = match &search.after {
            None => 0,
            Some(after) => {
                let key = after.split_once('.').and_then(|(at, id)| Some((at.parse().ok()?, id.parse().ok()?)));
                let key: (i128, u64) = key.ok_or_else(|| format!("`{after}` is not a valid cursor"))?;
                keyed.partition_point(|(other, _)| if search.reverse { *other >= key } else { *other <= key })
            }
        };
        if start as u64 + search.first as u64 > MAX_DEPTH {
            return Err(format!("Cannot page through more than {MAX_DEPTH} objects"));
        }
        let page: Vec<_> = keyed.iter().skip(start).take(search.first).collect();
        Ok(Found {
            nodes: page.iter().map(|(_, order)| view::order(&state.shop, order, self.0.config.shows_buyers)).collect(),
            end_cursor: page.last().map(|(key, _)| cursor(*key)),
            more: start + page.len() < keyed.len(),
            warnings,
        })
    }
}
