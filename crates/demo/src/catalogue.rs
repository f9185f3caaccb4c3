//! The shop's products: eight categories of ten things, each in four colours.

use super::draw::{Draw, Stream};

/// A category with what its supplier asks for.
#[derive(Debug, Clone, Copy)]
struct Category {
    code: &'static str,
    name: &'static str,
    lead_time_days: i32,
    pack_size: i32,
    /// Of the price, in percent.
    cost: i64,
    /// Things and their prices in cents.
    things: [(&'static str, i64); 10],
}

const COLOURS: [(char, &str); 4] = [('C', "clay"), ('I', "indigo"), ('S', "sage"), ('N', "sand")];

const CATEGORIES: [Category; 8] = [
    Category {
        code: "KIT",
        name: "Kitchen",
        lead_time_days: 14,
        pack_size: 6,
        cost: 44,
        things: [
            ("Tea towel set", 1_890),
            ("Enamel mug", 1_450),
            ("Serving bowl", 3_290),
            ("Cutting board", 3_900),
            ("Spice jars", 2_450),
            ("Mate gourd", 2_790),
            ("Bread basket", 2_190),
            ("Apron", 3_190),
            ("Salad servers", 1_690),
            ("Oil bottle", 1_990),
        ],
    },
    Category {
        code: "TEX",
        name: "Home textiles",
        lead_time_days: 28,
        pack_size: 4,
        cost: 42,
        things: [
            ("Cushion cover", 2_490),
            ("Throw blanket", 5_900),
            ("Linen napkins", 2_690),
            ("Table runner", 2_990),
            ("Door mat", 2_890),
            ("Curtain panel", 4_490),
            ("Chair pad", 2_290),
            ("Wall hanging", 3_990),
            ("Bed runner", 4_900),
            ("Floor cushion", 5_490),
        ],
    },
    Category {
        code: "LIG",
        name: "Lighting",
        lead_time_days: 35,
        pack_size: 2,
        cost: 48,
        things: [
            ("Paper pendant", 3_490),
            ("Desk lamp", 5_900),
            ("Clip lamp", 2_990),
            ("Lantern", 2_690),
            ("String lights", 1_990),
            ("Candle holder", 1_590),
            ("Night light", 1_890),
            ("Lamp shade", 3_290),
            ("Tea light set", 1_290),
            ("Garden torch", 2_390),
        ],
    },
    Category {
        code: "BAT",
        name: "Bath",
        lead_time_days: 12,
        pack_size: 6,
        cost: 43,
        things: [
            ("Hand towel", 1_690),
            ("Bath towel", 2_990),
            ("Soap dish", 1_290),
            ("Tumbler", 1_190),
            ("Bath mat", 2_790),
            ("Laundry bag", 2_390),
            ("Soap bar trio", 1_590),
            ("Shower curtain", 3_490),
            ("Wash cloths", 1_390),
            ("Bathrobe", 5_900),
        ],
    },
    Category {
        code: "GAR",
        name: "Garden",
        lead_time_days: 18,
        pack_size: 3,
        cost: 45,
        things: [
            ("Plant pot", 1_990),
            ("Hanging planter", 2_490),
            ("Watering can", 2_890),
            ("Herb kit", 1_890),
            ("Garden gloves", 1_490),
            ("Bird feeder", 2_690),
            ("Plant stand", 4_290),
            ("Seed tin", 1_290),
            ("Picnic rug", 4_900),
            ("Hammock strap", 1_790),
        ],
    },
    Category {
        code: "STA",
        name: "Stationery",
        lead_time_days: 9,
        pack_size: 12,
        cost: 38,
        things: [
            ("Notebook", 1_390),
            ("Weekly planner", 1_890),
            ("Pencil case", 1_690),
            ("Card set", 1_190),
            ("Desk tray", 2_290),
            ("Wrapping paper", 1_090),
            ("Photo album", 2_990),
            ("Address book", 1_590),
            ("Wall calendar", 1_990),
            ("Ink pen", 1_790),
        ],
    },
    Category {
        code: "KID",
        name: "Kids",
        lead_time_days: 25,
        pack_size: 4,
        cost: 46,
        things: [
            ("Wooden animals", 2_490),
            ("Stacking rings", 1_990),
            ("Play mat", 5_490),
            ("Cuddle bear", 2_690),
            ("Puzzle", 1_790),
            ("Bib set", 1_490),
            ("Growth chart", 1_890),
            ("Toy basket", 3_290),
            ("Crayon roll", 1_590),
            ("Kite", 2_190),
        ],
    },
    Category {
        code: "BAG",
        name: "Bags",
        lead_time_days: 30,
        pack_size: 5,
        cost: 44,
        things: [
            ("Market tote", 2_290),
            ("Wash bag", 1_990),
            ("Backpack", 5_900),
            ("Belt bag", 2_990),
            ("Laptop sleeve", 3_490),
            ("Coin purse", 1_390),
            ("Weekender", 6_900),
            ("Bottle sling", 1_890),
            ("Cosmetics pouch", 1_690),
            ("Key ring", 990),
        ],
    },
];

/// A product as the shop lists it.
#[derive(Debug, Clone)]
pub(super) struct Product {
    pub(super) sku: String,
    pub(super) name: String,
    pub(super) category: &'static str,
    pub(super) price_cents: i64,
    pub(super) cost_cents: i64,
    pub(super) lead_time_days: i32,
    pub(super) pack_size: i32,
    pub(super) min_order_qty: i32,
}

/// The products, by how well they sell.
#[derive(Debug, Clone)]
pub(super) struct Catalogue {
    /// Best seller first.
    pub(super) products: Vec<Product>,
    /// Running sums of the products' shares in demand.
    shares: Vec<u64>,
}

impl Catalogue {
    pub(super) fn new() -> Self {
        let mut products: Vec<Product> = CATEGORIES.iter().flat_map(category_products).collect();
        let mut places: Vec<(u64, Product)> = Vec::with_capacity(products.len());
        for (number, product) in products.drain(..).enumerate() {
            places.push((Draw::new(Stream::Popularity, number as u64).next(), product));
        }
        places.sort_by_key(|(place, _)| *place);
        let shares = (0..places.len()).map(share).scan(0, |sum, share| {
            *sum += share;
            Some(*sum)
        });
        Self { shares: shares.collect(), products: places.into_iter().map(|(_, product)| product).collect() }
    }

    pub(super) fn product(&self, rank: usize) -> Option<&Product> {
        self.products.get(rank)
    }

    /// The rank of a product that a customer wants.
    pub(super) fn wanted(&self, draw: &mut Draw) -> usize {
        let total = self.shares.last().copied().unwrap_or_default();
        let drawn = draw.below(total);
        self.shares.partition_point(|sum| *sum <= drawn)
    }

    /// Units of a product that sell while `units` of all products do.
    pub(super) fn part_of(&self, rank: usize, units: i64) -> i64 {
        let total = self.shares.last().copied().unwrap_or(1).max(1);
        units * i64::try_from(share(rank)).unwrap_or_default() / i64::try_from(total).unwrap_or(i64::MAX)
    }
}

/// Zipf-like: few products sell much, many sell a little.
fn share(rank: usize) -> u64 {
    1_000_000 / (rank as u64 + 8)
}

fn category_products(category: &Category) -> Vec<Product> {
    let things = category.things.iter().zip(1..);
    let coloured = things.flat_map(|(thing, number)| COLOURS.iter().map(move |colour| (thing, number, colour)));
    coloured
        .map(|((name, price_cents), number, (letter, colour))| Product {
            sku: format!("{}-{number:02}{letter}", category.code),
            name: format!("{name}, {colour}"),
            category: category.name,
            price_cents: *price_cents,
            cost_cents: price_cents * category.cost / 100,
            lead_time_days: category.lead_time_days,
            pack_size: category.pack_size,
            min_order_qty: category.pack_size * 2,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn skus_differ() {
        let catalogue = Catalogue::new();
        let skus: BTreeSet<&str> = catalogue.products.iter().map(|product| product.sku.as_str()).collect();
        assert_eq!((skus.len(), catalogue.products.len()), (320, 320));
    }

    #[test]
    fn the_best_seller_is_wanted_twice_as_often_as_the_ninth() {
        let catalogue = Catalogue::new();
        let mut draw = Draw::new(Stream::Customer, 1);
        let mut wanted = vec![0_i64; catalogue.products.len()];
        for _ in 0..200_000 {
            wanted[catalogue.wanted(&mut draw)] += 1;
        }
        assert!((wanted[0] - 2 * wanted[8]).abs() < 700, "{} {}", wanted[0], wanted[8]);
    }
}
