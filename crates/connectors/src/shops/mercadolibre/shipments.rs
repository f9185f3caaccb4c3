//! What shipping cost the seller. A shipment holds all orders of a pack, so its cost is divided among them.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    pin::pin,
};

use domain::{
    money::Currency,
    shops::{Access, ShopError},
};
use futures_util::{StreamExt, stream};
use rust_decimal::Decimal;

use super::{
    api::{Api, shown},
    denied::Denied,
    orders::CONCURRENCY,
    wire::{Order, ShipmentCosts, ShippedItem},
};
use crate::shops::amounts;

/// What shipments are called where the permission for them is missing.
const RESOURCE: &str = "shipments";
/// Without it the resource answers in an older form.
const NEW_FORMAT: [(&str, &str); 1] = [("x-format-new", "true")];

/// What a shipment cost the seller, and the units in it by order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Shipment {
    cost: Option<Decimal>,
    /// Empty: all of it is one order's.
    units: BTreeMap<String, i64>,
}

impl Shipment {
    /// The part of the cost that falls to an order, by its units. Always the same, whichever order of the pack is read: the
    /// shares follow the order of identifiers.
    pub fn share(&self, order: &str, currency: Currency) -> Option<Decimal> {
        let cost = self.cost?;
        if self.units.is_empty() {
            return Some(cost);
        }
        let index = self.units.keys().position(|own| own == order)?;
        let weights: Vec<Decimal> = self.units.values().map(|units| (*units).into()).collect();
        amounts::shares(cost, &weights, currency.exponent()).get(index).copied()
    }
}

/// Shipments by their identifiers.
#[derive(Debug, Default)]
pub(super) struct Shipments {
    pub read: HashMap<String, Shipment>,
    /// What went wrong with those that are not answered for.
    pub failing: HashMap<String, String>,
}

/// The shipments of orders, each read once.
pub(super) async fn of_orders(
    api: &Api,
    access: &Access,
    denied: &Denied,
    orders: &[&Order],
) -> Result<Shipments, ShopError> {
    let id = |order: &&Order| order.shipping.as_ref().and_then(|shipping| shipping.id.as_ref()).map(|id| id.0.clone());
    let packed: HashSet<String> = orders.iter().filter(|order| order.pack_id.is_some()).filter_map(id).collect();
    let all: HashSet<String> = orders.iter().filter_map(id).collect();
    let read = |id: String| {
        let is_pack = packed.contains(&id);
        async move { (read(api, access, denied, &id, is_pack).await, id) }
    };
    let mut reading = pin!(stream::iter(all).map(read).buffer_unordered(CONCURRENCY));
    let mut shipments = Shipments::default();
    while let Some((shipment, id)) = reading.next().await {
        match shipment {
            Ok(shipment) => {
                shipments.read.insert(id, shipment);
            }
            Err(error) => {
                let trouble = api.pass_over(access, error).await?;
                shipments.failing.insert(id, trouble);
            }
        }
    }
    Ok(shipments)
}

/// A shipment that Mercado Libre does not show has no known cost.
async fn read(api: &Api, access: &Access, denied: &Denied, id: &str, is_pack: bool) -> Result<Shipment, ShopError> {
    let path = |what| [RESOURCE, id, what];
    let costs = denied.ask(RESOURCE, api.get_with(access, &path("costs"), &[], &NEW_FORMAT)).await;
    let Some(costs) = shown::<ShipmentCosts>(costs)? else { return Ok(Shipment::default()) };
    let cost = cost(&costs, &access.shop_id);
    if cost.is_none_or(|cost| cost.is_zero()) || !is_pack {
        return Ok(Shipment { cost, units: BTreeMap::new() });
    }
    let items = denied.ask(RESOURCE, api.get_with(access, &path("items"), &[], &NEW_FORMAT)).await;
    Ok(shown::<Vec<ShippedItem>>(items)?.map_or_else(Shipment::default, |items| Shipment { cost, units: units(items) }))
}

/// Unverified: that `cost` is what is charged in the end; a `compensation` is not taken off it.
fn cost(costs: &ShipmentCosts, seller: &str) -> Option<Decimal> {
    let own = costs.senders.iter().filter(|sender| sender.user_id.as_ref().is_none_or(|id| id.0 == seller));
    let costs: Vec<Decimal> = own.filter_map(|sender| sender.cost.map(|cost| cost.0)).collect();
    let cost = (!costs.is_empty()).then(|| costs.iter().sum::<Decimal>())?;
    amounts::is_importable_cost(cost).then_some(cost)
}

fn units(items: Vec<ShippedItem>) -> BTreeMap<String, i64> {
    let mut units = BTreeMap::new();
    for item in items {
        if let Some(order) = item.order_id {
            *units.entry(order.0).or_insert(0) += item.quantity.0.clamp(0, domain::imports::MAX_QUANTITY);
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rust_decimal::dec;

    fn currency() -> Currency {
        "ARS".parse().unwrap()
    }

    #[test]
    fn only_the_sellers_own_cost_counts() {
        let costs = r#"{"gross_amount":24.55,"receiver":{"user_id":74425755,"cost":3},"senders":[
            {"user_id":81387353,"cost":8.19,"compensation":0,"save":0},{"user_id":5,"cost":1}]}"#;
        let costs = serde_json::from_str(costs).unwrap();
        assert_eq!(cost(&costs, "81387353"), Some(dec!(8.19)));
        assert_eq!(cost(&costs, "9"), None);
    }

    #[test]
    fn an_order_that_is_not_in_the_shipment_has_no_known_cost() {
        let shipment = Shipment { cost: Some(dec!(10)), units: [("1".to_owned(), 1)].into() };
        assert_eq!(shipment.share("1", currency()), Some(dec!(10)));
        assert_eq!(shipment.share("2", currency()), None);
        assert_eq!(Shipment { units: BTreeMap::new(), ..shipment }.share("2", currency()), Some(dec!(10)));
    }

    proptest! {
        #[test]
        fn the_shares_of_a_pack_add_up_to_its_cost(
            cents in 0_i64..100_000_000,
            units in prop::collection::btree_map("[0-9]{1,9}", 0_i64..100, 1..8),
        ) {
            let cost = Decimal::new(cents, 2);
            let shipment = Shipment { cost: Some(cost), units };
            let shares: Vec<_> = shipment.units.keys().map(|order| shipment.share(order, currency()).unwrap()).collect();
            prop_assert_eq!(shares.iter().sum::<Decimal>(), cost);
            prop_assert!(shares.iter().all(|share| *share >= Decimal::ZERO));
        }
    }
}
