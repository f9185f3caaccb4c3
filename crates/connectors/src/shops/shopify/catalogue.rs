//! The catalogue: variants with prices, costs and stock, one product per SKU.

use std::collections::{HashMap, HashSet};

use domain::{
    imports::MAX_NAME_CHARS,
    money::Currency,
    shops::{Access, Product, ProductBatch, Refused, ShopError, Stock},
};
use rust_decimal::Decimal;
use serde_json::json;

use super::{
    client::{Client, Reply},
    queries::{CATALOGUE, LEVELS, MAX_DEPTH, VARIANTS_PAGE},
    sales::sku,
    wire::{CatalogueData, ItemWire, LevelWire, LevelsData, Page, VariantWire},
};
use crate::shops::{amounts::is_importable_cost, wire::clean};

/// Products of one batch.
const BATCH: usize = 500;
/// Variants that are read at most: all products are held until the last is there, as a SKU may come again.
const MAX_VARIANTS: u64 = 1_000_000;
/// Pages of levels of one item.
const MAX_PAGES: usize = 100;

/// All products, each SKU once.
pub(super) async fn read(client: &Client, access: &Access, currency: Currency) -> Result<Vec<ProductBatch>, ShopError> {
    let mut catalogue = Catalogue::new(currency);
    let (mut after, mut query, mut depth) = (None::<String>, None::<String>, 0);
    loop {
        let variables = json!({ "first": VARIANTS_PAGE, "after": after, "query": query });
        let Reply { data: CatalogueData { shop, product_variants }, .. } =
            client.run(access, CATALOGUE, variables).await?;
        depth += product_variants.nodes.len() as u64;
        let Page { page_info, nodes } = product_variants;
        for variant in nodes {
            let levels = levels(client, access, &variant.inventory_item).await?;
            catalogue.add(variant, &shop.currency_code, levels)?;
        }
        let more = page_info.has_next_page;
        match page_info.next() {
            None if more => return Err(ShopError::Malformed("endCursor".to_owned())),
            None => return Ok(catalogue.batches()),
            // Paging ends at a depth; so it begins again behind the last variant. Unverified: the filter `id:>`.
            Some(_) if depth + u64::from(VARIANTS_PAGE) > MAX_DEPTH => {
                (after, query, depth) = (None, Some(format!("id:>{}", catalogue.last)), 0);
            }
            next => after = next,
        }
    }
}

/// Units available and on their way over all active places, or `None` where the shop does not count them.
async fn levels(client: &Client, access: &Access, item: &ItemWire) -> Result<Option<(i64, i64)>, ShopError> {
    if !item.tracked {
        return Ok(None);
    }
    let mut sum = (0, 0);
    add_up(&item.inventory_levels.nodes, &mut sum);
    let (mut more, mut after) =
        (item.inventory_levels.page_info.has_next_page, item.inventory_levels.page_info.end_cursor.clone());
    for _ in 0..MAX_PAGES {
        if !more {
            return Ok(Some(sum));
        }
        let reply: Reply<LevelsData> = client.run(access, LEVELS, json!({ "id": item.id, "after": after })).await?;
        let Page { page_info, nodes } = reply.data.inventory_item.ok_or(ShopError::NotFound)?.inventory_levels;
        add_up(&nodes, &mut sum);
        (more, after) = (page_info.has_next_page, page_info.end_cursor);
    }
    Err(ShopError::Malformed("inventoryLevels without end".to_owned()))
}

fn add_up(levels: &[LevelWire], (available, incoming): &mut (i64, i64)) {
    for level in levels.iter().filter(|level| level.location.is_active) {
        for quantity in &level.quantities {
            match quantity.name.as_str() {
                "available" => *available += quantity.quantity,
                "incoming" => *incoming += quantity.quantity,
                _ => {}
            }
        }
    }
}

struct Catalogue {
    currency: Currency,
    products: Vec<Product>,
    refused: Vec<Refused>,
    /// Where a product stands, by its SKU in lower case: SKUs are compared without regard to case.
    places: HashMap<String, usize>,
    /// Items that were counted: variants may share one.
    counted: HashSet<String>,
    /// The number of the last variant, to go on behind it.
    last: u64,
    read: u64,
}

impl Catalogue {
    fn new(currency: Currency) -> Self {
        let (products, refused, places) = (Vec::new(), Vec::new(), HashMap::new());
        Self { currency, products, refused, places, counted: HashSet::new(), last: 0, read: 0 }
    }

    fn add(&mut self, variant: VariantWire, shop_currency: &str, levels: Option<(i64, i64)>) -> Result<(), ShopError> {
        let id = variant.legacy_resource_id.0.clone();
        let number = id.parse().ok().filter(|number| *number > self.last);
        self.last = number.ok_or_else(|| ShopError::Malformed("variants that are not sorted".to_owned()))?;
        self.read += 1;
        if self.read > MAX_VARIANTS {
            return Err(ShopError::TooMany);
        }
        // What is sold with it is a debt to who holds it, not goods.
        if variant.product.is_gift_card {
            return Ok(());
        }
        // Unverified: variants that share an inventory item share its SKU and stock; these are counted once, and are no clash.
        let is_first = self.counted.insert(variant.inventory_item.id.clone());
        let stock = match levels {
            _ if !is_first => (Stock::Unsaid, None),
            Some((available, incoming)) => (Stock::Units(available), Some(incoming)),
            None => (Stock::NotStocked, None),
        };
        let product = self.product(variant, shop_currency, stock);
        match self.places.get(&product.sku.to_ascii_lowercase()).and_then(|place| self.products.get_mut(*place)) {
            None => {
                self.places.insert(product.sku.to_ascii_lowercase(), self.products.len());
                self.products.push(product);
            }
            Some(first) if is_first => {
                first.stock = first.stock.with(product.stock);
                first.on_order = sum(first.on_order, product.on_order);
                let reason = format!("its SKU {} is another variant's too: their stock was added up", first.sku);
                self.refuse(id, reason);
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn product(
        &mut self,
        variant: VariantWire,
        shop_currency: &str,
        (stock, on_order): (Stock, Option<i64>),
    ) -> Product {
        let id = variant.legacy_resource_id.0;
        let cost = variant.inventory_item.unit_cost;
        let currency = self.currency;
        let ours = currency.as_str();
        if let Some(other) = [Some(shop_currency), cost.as_ref().map(|cost| cost.currency_code.as_str())]
            .into_iter()
            .flatten()
            .find(|code| *code != ours)
        {
            let reason = format!("its price or cost is in {}", other.chars().take(3).collect::<String>());
            self.refuse(id.clone(), reason);
        }
        let known = |amount: Decimal| is_importable_cost(amount).then(|| amount.normalize());
        let title = match variant.title.as_str() {
            // How Shopify calls the only variant of a product.
            "Default Title" => variant.product.title,
            title => format!("{} · {title}", variant.product.title),
        };
        Product {
            sku: sku(variant.sku.as_deref(), Some(&id)),
            name: clean(&title, MAX_NAME_CHARS),
            category: clean(&variant.product.product_type, MAX_NAME_CHARS),
            price: Some(variant.price.0).filter(|_| shop_currency == ours).and_then(known),
            cost: cost.filter(|cost| cost.currency_code == ours).and_then(|cost| known(cost.amount.0)),
            stock,
            on_order,
        }
    }

    fn refuse(&mut self, external_id: String, reason: String) {
        self.refused.push(Refused { kind: "product", external_id, reason });
    }

    fn batches(self) -> Vec<ProductBatch> {
        let mut batches: Vec<ProductBatch> = self
            .products
            .chunks(BATCH)
            .map(|products| ProductBatch { products: products.to_vec(), ..ProductBatch::default() })
            .collect();
        if batches.is_empty() {
            batches.push(ProductBatch::default());
        }
        if let Some(first) = batches.first_mut() {
            (first.read, first.refused) = (self.read, self.refused);
        }
        batches
    }
}

/// The sum of what is known.
fn sum(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one + other),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(number: u64, sku: &str, item: &str) -> VariantWire {
        let wire = json!({
            "legacyResourceId": number, "sku": sku, "title": "Default Title", "price": "10.00",
            "product": {"title": "Mug", "productType": "", "isGiftCard": false},
            "inventoryItem": {
                "id": item, "tracked": true, "unitCost": null,
                "inventoryLevels": {"pageInfo": {"hasNextPage": false, "endCursor": null}, "nodes": []},
            },
        });
        serde_json::from_str(&wire.to_string()).unwrap()
    }

    /// The SKU of a variant, its inventory item, and what of it is available and incoming.
    type Variant<'a> = (&'a str, &'a str, Option<(i64, i64)>);

    /// What the catalogue says of variants.
    fn stocks(variants: &[Variant<'_>]) -> Vec<(String, Stock, Option<i64>)> {
        let mut catalogue = Catalogue::new("EUR".parse().unwrap());
        for ((sku, item, levels), number) in variants.iter().zip(1..) {
            catalogue.add(variant(number, sku, item), "EUR", *levels).unwrap();
        }
        let products = catalogue.batches().remove(0).products;
        products.into_iter().map(|product| (product.sku, product.stock, product.on_order)).collect()
    }

    #[test]
    fn what_is_not_tracked_is_not_stocked() {
        let found = stocks(&[
            ("MUG", "1", None),
            ("CUP", "2", Some((0, 3))),
            ("JAR", "3", None),
            ("jar", "4", Some((5, 1))),
            ("PAN", "5", None),
            ("PAN", "6", None),
        ]);
        let expected = [
            ("MUG", Stock::NotStocked, None),
            ("CUP", Stock::Units(0), Some(3)),
            ("JAR", Stock::Units(5), Some(1)),
            ("PAN", Stock::NotStocked, None),
        ];
        assert_eq!(found, expected.map(|(sku, stock, on_order)| (sku.to_owned(), stock, on_order)));
    }

    #[test]
    fn an_item_that_variants_share_counts_once() {
        let found = stocks(&[
            ("MUG", "1", Some((4, 2))),
            ("MUG", "1", Some((4, 2))),
            ("CUP", "2", None),
            ("CUP", "2", None),
            ("JAR", "1", Some((4, 2))),
        ]);
        let expected =
            [("MUG", Stock::Units(4), Some(2)), ("CUP", Stock::NotStocked, None), ("JAR", Stock::Unsaid, None)];
        assert_eq!(found, expected.map(|(sku, stock, on_order)| (sku.to_owned(), stock, on_order)));
    }
}
