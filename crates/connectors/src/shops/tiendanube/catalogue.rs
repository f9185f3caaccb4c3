//! Products of Tiendanube as products of ours: one per SKU.

use std::collections::{BTreeMap, HashSet, btree_map::Entry};

use domain::{
    imports::MAX_NAME_CHARS,
    shops::{Product, ProductBatch, Refused, Stock},
};
use rust_decimal::Decimal;

use super::{
    orders::sku,
    wire::{BadField, CategoryWire, Field, LevelWire, ProductWire, VariantWire},
};
use crate::shops::{
    amounts::is_importable_cost,
    wire::{Amount, Count, clean},
};

/// Products in a batch.
const BATCH: usize = 1_000;

/// The catalogue as it is being read. It is held until its end, since a SKU may come again on the last page.
pub(super) struct Catalogue {
    /// Of names.
    language: String,
    /// The currency of the prices, where it is not the account's: no product can be taken then.
    foreign: Option<String>,
    read: u64,
    /// By SKU in small letters.
    products: BTreeMap<String, Product>,
    refused: Vec<Refused>,
    /// SKUs of variants that cannot be taken.
    left_out: Vec<String>,
    /// Whether there may be variants of which not even the SKU is known.
    has_unread: bool,
}

impl Catalogue {
    pub fn new(language: String, foreign: Option<String>) -> Self {
        let (products, refused, left_out) = (BTreeMap::new(), Vec::new(), Vec::new());
        Self { language, foreign, read: 0, products, refused, left_out, has_unread: false }
    }

    pub fn add(&mut self, wire: ProductWire) {
        self.read += 1;
        let external_id = wire.id.ok().map_or_else(|| "?".to_owned(), |id| id.0);
        let name = wire.name.ok();
        let name = name.as_ref().and_then(|name| name.in_language(&self.language)).unwrap_or_default().to_owned();
        let category = wire.categories.ok().and_then(|categories| self.category(categories));
        match wire.variants.required("variants") {
            Ok(variants) => {
                for variant in variants {
                    self.add_variant(&external_id, &name, category.as_deref(), variant);
                }
            }
            Err(field) => self.miss(external_id, field.reason()),
        }
    }

    /// A record that cannot be read at all.
    pub fn miss(&mut self, external_id: String, reason: String) {
        self.has_unread = true;
        self.refuse(external_id, reason);
    }

    /// Notes how many products there are by each of the pages. Where that is not what was read, goods came or went meanwhile,
    /// or a page was not shown: some may have been missed.
    pub fn compare(&mut self, totals: &HashSet<u64>) {
        self.has_unread |= *totals != HashSet::from([self.read]);
    }

    fn refuse(&mut self, external_id: String, reason: String) {
        self.refused.push(Refused { kind: "product", external_id, reason });
    }

    fn category(&self, categories: Vec<CategoryWire>) -> Option<String> {
        let first = categories.into_iter().next()?.name.ok()?;
        clean(first.in_language(&self.language)?, MAX_NAME_CHARS)
    }

    fn add_variant(&mut self, product: &str, name: &str, category: Option<&str>, wire: VariantWire) {
        let Some(id) = wire.id.clone().ok() else {
            return self.miss(product.to_owned(), BadField("variants.id").reason());
        };
        if let Some(currency) = &self.foreign {
            let reason = format!("its prices are in {}", clean(currency, 3).unwrap_or_default());
            return self.miss(id.0, reason);
        }
        // Without its SKU it is taken for another product than the one that it is.
        self.has_unread |= wire.sku == Field::Unreadable;
        let own = sku(wire.sku.clone(), Some(&id.0));
        match self.variant(&id.0, name, category, wire) {
            Ok(variant) => match self.products.entry(variant.sku.to_ascii_lowercase()) {
                Entry::Vacant(free) => {
                    free.insert(variant);
                }
                Entry::Occupied(mut first) => {
                    let first = first.get_mut();
                    first.stock = first.stock.with(variant.stock);
                    let reason =
                        format!("its SKU is also another variant's: both count as one product `{}`", first.sku);
                    self.refuse(id.0, reason);
                }
            },
            Err(field) => {
                self.left_out.extend(own);
                self.refuse(id.0, field.reason());
            }
        }
    }

    fn variant(&self, id: &str, name: &str, category: Option<&str>, wire: VariantWire) -> Result<Product, BadField> {
        let values = wire.values.ok().unwrap_or_default();
        let values = values.iter().filter_map(|value| value.in_language(&self.language));
        let name = std::iter::once(name).chain(values).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
        let regular = price(wire.price, "variants.price")?;
        let reduced = price(wire.promotional_price, "variants.promotional_price")?.filter(|price| !price.is_zero());
        Ok(Product {
            sku: sku(wire.sku, Some(id)).ok_or(BadField("variants.sku"))?,
            name: clean(&name, MAX_NAME_CHARS),
            category: category.map(str::to_owned),
            price: reduced.or(regular),
            cost: price(wire.cost, "variants.cost")?,
            stock: match wire.stock_management {
                Field::Is(false) => Stock::NotStocked,
                _ => stock(wire.inventory_levels, wire.stock)?.map_or(Stock::Unsaid, Stock::Units),
            },
            on_order: None,
        })
    }

    /// The catalogue in batches; the first has what was not taken.
    pub fn batches(self) -> Vec<ProductBatch> {
        let Self { language: _, foreign: _, read, products, refused, left_out, has_unread } = self;
        let mut products = products.into_values();
        let mut batches = vec![ProductBatch {
            read,
            refused,
            left_out,
            has_unread,
            products: products.by_ref().take(BATCH).collect(),
            ..ProductBatch::default()
        }];
        loop {
            let batch: Vec<_> = products.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return batches;
            }
            batches.push(ProductBatch { products: batch, ..ProductBatch::default() });
        }
    }
}

/// `None`: no price is shown, which is not 0.
fn price(field: Field<Amount>, name: &'static str) -> Result<Option<Decimal>, BadField> {
    let Some(Amount(price)) = field.optional(name)? else { return Ok(None) };
    if is_importable_cost(price) { Ok(Some(price)) } else { Err(BadField(name)) }
}

/// The stock of all places, where the platform gives each; `None` where it says none.
fn stock(levels: Field<Vec<LevelWire>>, total: Field<Count>) -> Result<Option<i64>, BadField> {
    let levels = levels.optional("variants.inventory_levels")?.unwrap_or_default();
    let known = levels.into_iter().map(|level| level.stock.optional("variants.inventory_levels.stock"));
    let known = known.collect::<Result<Option<Vec<_>>, _>>()?;
    match known.filter(|levels| !levels.is_empty()) {
        Some(levels) => Ok(Some(levels.iter().fold(0, |sum, Count(units)| sum.saturating_add(*units)))),
        None => Ok(total.optional("variants.stock")?.map(|Count(units)| units)),
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;
    use serde_json::{Value, json};

    use super::*;

    fn catalogue(products: Value) -> ProductBatch {
        let mut catalogue = Catalogue::new("pt".to_owned(), None);
        for product in products.as_array().unwrap() {
            catalogue.add(serde_json::from_str(&product.to_string()).unwrap());
        }
        catalogue.batches().remove(0)
    }

    #[test]
    fn a_variant_is_a_product() {
        let batch = catalogue(json!([{
            "id": 1, "name": {"es": "Taza", "pt": "Caneca"}, "categories": [{"name": {"pt": "Cozinha"}}],
            "variants": [{"id": "11", "sku": " MUG ", "values": [{"pt": "Azul"}, {"es": "Grande"}], "price": "25.00",
                          "promotional_price": "19.00", "cost": "7.5", "stock": 3, "stock_management": true}],
        }]));
        let product = Product {
            sku: "MUG".into(),
            name: Some("Caneca · Azul · Grande".into()),
            category: Some("Cozinha".into()),
            price: Some(dec!(19)),
            cost: Some(dec!(7.5)),
            stock: Stock::Units(3),
            on_order: None,
        };
        assert_eq!((batch.read, batch.products, batch.refused), (1, vec![product], vec![]));
    }

    #[test]
    fn what_the_shop_does_not_say_is_not_zero() {
        let batch = catalogue(json!([{
            "id": 1, "name": [], "variants": [
                {"id": 11, "sku": null, "price": null, "promotional_price": null, "cost": null, "stock": null},
                {"id": 12, "sku": "", "price": "5", "stock": "7", "stock_management": false},
            ],
        }]));
        let [first, second] = batch.products.as_slice() else { panic!("{batch:?}") };
        assert_eq!((first.sku.as_str(), first.price, first.cost), ("tiendanube:11", None, None));
        assert_eq!((second.sku.as_str(), second.price), ("tiendanube:12", Some(dec!(5))));
        assert_eq!((first.stock, second.stock), (Stock::Unsaid, Stock::NotStocked));
    }

    #[test]
    fn stock_is_added_up_over_places_and_over_variants_with_the_same_sku() {
        let batch = catalogue(json!([
            {"id": 1, "name": "A", "variants": [
                {"id": 11, "sku": "x-1", "stock": 9, "inventory_levels": [{"stock": 4}, {"stock": "-1"}]}]},
            {"id": 2, "name": "B", "variants": [
                {"id": 21, "sku": "X-1", "stock": 2}, {"id": 22, "sku": "x-1", "stock": null}]},
        ]));
        assert_eq!((batch.products[0].sku.as_str(), batch.products[0].stock), ("x-1", Stock::Units(5)));
        assert_eq!(batch.products[0].name.as_deref(), Some("A"));
        let reported: Vec<_> = batch.refused.iter().map(|refused| refused.external_id.as_str()).collect();
        assert_eq!(reported, ["21", "22"]);
    }

    #[test]
    fn prices_in_another_currency_are_not_taken() {
        let mut catalogue = Catalogue::new("es".to_owned(), Some("ARS".to_owned()));
        catalogue.add(serde_json::from_str(r#"{"id":1,"variants":[{"id":11,"price":"1","sku":"A"}]}"#).unwrap());
        let batch = catalogue.batches().remove(0);
        assert!(batch.products.is_empty());
        assert_eq!(batch.refused[0].reason, "its prices are in ARS");
    }

    #[test]
    fn a_bad_variant_is_named_and_the_others_are_taken() {
        let batch = catalogue(json!([
            {"id": 1, "name": "A", "variants": [{"id": 11, "price": "-1"}, {"id": 12, "price": "1"}, {}]},
            {"id": 2, "variants": 5},
        ]));
        assert_eq!(batch.products.len(), 1);
        let refused: Vec<_> =
            batch.refused.iter().map(|refused| (refused.external_id.as_str(), refused.reason.as_str())).collect();
        assert_eq!(
            refused,
            [
                ("11", "its `variants.price` is missing or cannot be read"),
                ("1", "its `variants.id` is missing or cannot be read"),
                ("2", "its `variants` is missing or cannot be read"),
            ]
        );
    }

    #[test]
    fn a_variant_that_cannot_be_taken_is_there_where_its_sku_can_be_read() {
        let batch = catalogue(json!([
            {"id": 1, "variants": [{"id": 11, "sku": "MUG", "price": "-1"}, {"id": 12, "sku": "CUP", "stock": {}}]},
            {"id": 2, "variants": [{"id": 21, "price": {}}]},
        ]));
        assert_eq!((batch.products, batch.has_unread), (vec![], false));
        assert_eq!(batch.left_out, ["MUG", "CUP", "tiendanube:21"]);
    }

    #[test]
    fn what_may_be_any_product_is_told() {
        for unread in [json!([{"id": 1, "variants": 5}]), json!([{"id": 1, "variants": [{"sku": "MUG"}]}])] {
            assert!(catalogue(unread).has_unread);
        }
        let batch = catalogue(json!([{"id": 1, "variants": [{"id": 11, "sku": {}}]}]));
        assert_eq!((batch.products[0].sku.as_str(), batch.has_unread), ("tiendanube:11", true));
        let mut foreign = Catalogue::new("es".to_owned(), Some("ARS".to_owned()));
        foreign.add(serde_json::from_str(r#"{"id":1,"variants":[{"id":11,"sku":"MUG"}]}"#).unwrap());
        assert!(foreign.batches().remove(0).has_unread, "nothing of the shop is read");
    }

    #[test]
    fn a_list_that_changed_while_it_was_read_may_have_hidden_products() {
        for (totals, has_unread) in [(vec![1], false), (vec![2], true), (vec![1, 2], true), (vec![0, 1], true)] {
            let mut catalogue = Catalogue::new("es".to_owned(), None);
            catalogue.add(serde_json::from_str(r#"{"id":1,"variants":[{"id":11,"sku":"MUG"}]}"#).unwrap());
            catalogue.compare(&totals.iter().copied().collect());
            assert_eq!(catalogue.batches().remove(0).has_unread, has_unread, "{totals:?}");
        }
    }
}
