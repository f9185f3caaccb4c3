//! Search among variants.

use super::{
    State,
    orders::{Found, Search, compares, terms},
    query::MAX_DEPTH,
    view,
};

/// A page of variants, by their numbers.
pub fn search(state: &State, search: &Search) -> Result<Found, String> {
    let (terms, warnings) = terms(search.query.as_deref(), &["id"]);
    let after: u64 = match &search.after {
        None => 0,
        Some(after) => after.parse().map_err(|_| format!("`{after}` is not a valid cursor"))?,
    };
    let found = state.shop.variants.iter().filter(|variant| {
        terms
            .iter()
            .all(|(_, operator, value)| value.parse::<u64>().is_ok_and(|value| compares(&variant.id, operator, &value)))
    });
    let found: Vec<_> = found.collect();
    let start = found.partition_point(|variant| variant.id <= after);
    if start as u64 + search.first as u64 > MAX_DEPTH {
        return Err(format!("Cannot page through more than {MAX_DEPTH} objects"));
    }
    let page: Vec<_> = found.iter().skip(start).take(search.first).collect();
    Ok(Found {
        nodes: page.iter().map(|variant| view::variant(variant, state.shop.currency.as_str())).collect(),
        end_cursor: page.last().map(|variant| variant.id.to_string()),
        more: start + page.len() < found.len(),
        warnings,
    })
}
