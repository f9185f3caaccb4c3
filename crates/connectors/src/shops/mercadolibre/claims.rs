//! Claims on an order: whether and when one was settled with money, and what came back.

use domain::shops::{Access, ShopError};
use time::OffsetDateTime;

use super::{
    api::Api,
    denied::Denied,
    wire::{Claim, Claims, Return},
};

/// What claims are called where the permission for them is missing.
const RESOURCE: &str = "post-purchase";
/// Claims that are read of an order.
const LIMIT: &str = "100";

/// Units of an item that came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Units {
    pub item: Option<String>,
    pub variation: Option<String>,
    pub quantity: i64,
}

impl Units {
    /// An order is of one item, so what the return leaves out is as the order says.
    pub fn is_of(&self, item: &str, variation: Option<&str>) -> bool {
        self.item.as_deref().is_none_or(|own| own == item)
            && (self.variation.is_none() || self.variation.as_deref() == variation)
    }
}

/// What the claims on an order come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Claimed {
    /// When the first of them was settled with the buyer's money back.
    pub refunded_at: Option<OffsetDateTime>,
    pub returned: Vec<Units>,
}

/// Reads the claims on an order and their returns. What Mercado Libre does not show of them is not known.
pub(super) async fn of_order(api: &Api, access: &Access, denied: &Denied, order: &str) -> Result<Claimed, ShopError> {
    let query = [("resource", "order"), ("resource_id", order), ("limit", LIMIT)];
    let mut claimed = Claimed::default();
    let path = [RESOURCE, "v1", "claims", "search"];
    let found = match denied.ask(RESOURCE, api.get(access, &path, &query)).await {
        Err(ShopError::NotFound) => return Ok(claimed),
        found => found?,
    };
    for claim in found.detail::<Claims>()?.data {
        claimed.add_settlement(&claim);
        if has_return(api, access, denied, &claim).await? {
            let path = [RESOURCE, "v2", "claims", &claim.id.0, "returns"];
            match denied.ask(RESOURCE, api.get(access, &path, &[])).await {
                Ok(answer) => claimed.add_return(&answer.detail()?, order),
                Err(ShopError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(claimed)
}

/// Whether goods are sent back for a claim. The search may not say so; asking for a return that is not there would be
/// answered with an error, and too many of these block the app.
async fn has_return(api: &Api, access: &Access, denied: &Denied, claim: &Claim) -> Result<bool, ShopError> {
    let names_return = |entities: &[String]| entities.iter().any(|entity| entity == "return");
    if let Some(entities) = &claim.related_entities {
        return Ok(names_return(entities));
    }
    let path = [RESOURCE, "v1", "claims", &claim.id.0];
    match denied.ask(RESOURCE, api.get(access, &path, &[])).await {
        Ok(answer) => Ok(names_return(&answer.detail::<Claim>()?.related_entities.unwrap_or_default())),
        Err(ShopError::NotFound) => Ok(false),
        Err(error) => Err(error),
    }
}

impl Claimed {
    fn add_settlement(&mut self, claim: &Claim) {
        let settled =
            claim.resolution.as_ref().filter(|resolution| resolution.reason.as_deref() == Some("payment_refunded"));
        let at = settled.and_then(|resolution| resolution.date_created).map(|date| date.0);
        self.refunded_at = self.refunded_at.into_iter().chain(at).min();
    }

    /// Goods came back when the buyer has the money: before that they are on their way. In a return at low cost the buyer
    /// keeps them, and `incomplete` are units that never arrived.
    fn add_return(&mut self, returned: &Return, order: &str) {
        let is_settled = returned.status_money.as_deref() == Some("refunded");
        if !is_settled || returned.subtype.as_deref() == Some("low_cost") {
            return;
        }
        let of_order = returned.orders.iter().filter(|part| part.order_id.0 == order);
        let came_back = of_order.filter(|part| matches!(part.context_type.as_deref(), Some("total" | "partial")));
        self.returned.extend(came_back.map(|part| Units {
            item: part.item_id.as_ref().map(|id| id.0.clone()),
            variation: part.variation_id.as_ref().map(|id| id.0.clone()),
            quantity: part.return_quantity.map_or(0, |quantity| quantity.0),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use time::macros::datetime;

    /// The documentation's sample with another state of the money.
    fn returned(change: &str, to: &str) -> Return {
        let sample = r#"{"status_money":"refunded","subtype":"return_total","orders":[{"order_id":2000009229357366,
            "item_id":"MLB3840513395","variation_id":null,"context_type":"total","total_quantity":"1.0","return_quantity":"1.0"}]}"#;
        serde_json::from_str(&sample.replace(change, to)).unwrap()
    }

    #[rstest]
    #[case("", "", 1)]
    #[case("\"total\"", "\"partial\"", 1)]
    #[case("\"total\"", "\"incomplete\"", 0)]
    #[case("refunded", "retained", 0)]
    #[case("return_total", "low_cost", 0)]
    #[case("2000009229357366", "1", 0)]
    #[case("\"1.0\"", "\"2.0\"", 2)]
    fn units_come_back_with_the_buyers_money(#[case] change: &str, #[case] to: &str, #[case] units: i64) {
        let sample = if change.is_empty() { returned("\u{0}", "") } else { returned(change, to) };
        let mut claimed = Claimed::default();
        claimed.add_return(&sample, "2000009229357366");
        assert_eq!(claimed.returned.iter().map(|units| units.quantity).sum::<i64>(), units);
    }

    #[test]
    fn the_first_settlement_with_money_counts() {
        let mut claimed = Claimed::default();
        for (reason, date) in [
            ("item_returned", "2026-01-01T00:00:00Z"),
            ("payment_refunded", "2026-03-02T00:00:00Z"),
            ("payment_refunded", "2026-03-01T00:00:00Z"),
        ] {
            let claim = format!(r#"{{"id":1,"resolution":{{"reason":"{reason}","date_created":"{date}"}}}}"#);
            claimed.add_settlement(&serde_json::from_str(&claim).unwrap());
        }
        assert_eq!(claimed.refunded_at, Some(datetime!(2026-03-01 00:00 UTC)));
    }
}
