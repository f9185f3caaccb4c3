//! The store that the stub begins with: the same for the same seed. All that is odd on the platform is in it.

use std::collections::BTreeMap;

use domain::{money::Currency, zone::Zone};
use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

use super::store::{Customer, Order, OrderLine, PartReturned, Product, Store, Variant};

/// What the store is to be.
#[derive(Debug, Clone)]
pub struct Seed {
    pub seed: u64,
    pub orders: u64,
    /// Days before now over which the orders are spread.
    pub days: u32,
    pub currency: Currency,
    pub zone: Zone,
    pub now: OffsetDateTime,
}

const STORE: u64 = 4_512_001;
const HOST: &str = "lojaexemplo.lojavirtualnuvem.com.br";
const LANGUAGE: &str = "pt";
const COUNTRY: &str = "BR";
const CITIES: [&str; 5] = ["Santos", "Recife", "Porto Alegre", "Belém", "São Paulo"];
const VALUES: [&str; 3] = ["Azul", "Verde", "Preto"];
const CUSTOMERS: u64 = 40;
const PRODUCTS: u64 = 12;

/// Finalizer of SplitMix64 (Steele, Lea and Flood 2014): the same figure for the same numbers.
fn mix(seed: u64, of: u64, what: u64) -> u64 {
    let mut z = seed ^ of.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ what.wrapping_mul(0xd1b5_4a32_d192_ed03);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn below(seed: u64, of: u64, what: u64, bound: u64) -> i64 {
    i64::try_from(mix(seed, of, what) % bound.max(1)).unwrap_or_default()
}

fn cents(cents: i64) -> Decimal {
    Decimal::new(cents, 2)
}

impl Seed {
    pub fn store(&self) -> Store {
        let Self { seed, orders, days: _, currency, zone, now: _ } = self;
        let products: Vec<_> = (0..PRODUCTS).map(|index| product(*seed, index)).collect();
        let customers = (1..=CUSTOMERS).map(|id| (id, customer(id))).collect();
        let sold: Vec<_> =
            products.iter().flat_map(|product| product.variants.iter().map(move |v| (product, v))).collect();
        let sold: Vec<_> = sold.into_iter().filter(|(_, variant)| variant.price.is_some()).collect();
        let orders = (0..*orders).map(|index| self.order(index, &sold)).map(|order| (order.id, order)).collect();
        Store {
            id: STORE,
            host: HOST.to_owned(),
            currency: *currency,
            zone: zone.clone(),
            country: COUNTRY,
            language: LANGUAGE,
            customers,
            orders,
            products,
        }
    }

    fn order(&self, index: u64, sold: &[(&Product, &Variant)]) -> Order {
        let at = |what, bound| below(self.seed, index, what, bound);
        let span = u64::from(self.days).saturating_mul(86_400);
        // Not in the last hour, and in order, as the platform numbers them.
        let step = span / self.orders_or_one();
        let created_at = self.now - Duration::seconds(3_600 + i64::try_from(span).unwrap_or(i64::MAX))
            + Duration::seconds(i64::try_from(step * index).unwrap_or_default() + at(1, step.max(1)));
        let paid_at = created_at + Duration::seconds(at(2, 600));
        let line = |line: u64| {
            let (product, variant) =
                sold.get(usize::try_from(mix(self.seed, index, 10 + line)).unwrap_or(0) % sold.len())?;
            Some(OrderLine {
                product: product.id,
                variant: variant.id,
                name: product.names.get(LANGUAGE)?.clone(),
                sku: variant.sku.clone(),
                price: variant.selling_price()?,
                quantity: 1 + at(20 + line, 4),
                cost: variant.cost,
            })
        };
        let lines: Vec<_> = (0..1 + mix(self.seed, index, 3) % 3).filter_map(line).collect();
        let subtotal: Decimal = lines.iter().map(|line| line.price * Decimal::from(line.quantity)).sum();
        let mut order = Order {
            id: 100_000_001 + index,
            created_at,
            updated_at: paid_at,
            paid_at: Some(paid_at),
            cancelled_at: None,
            refunded_at: None,
            payment_status: "paid",
            currency: self.currency,
            storefront: "store",
            customer: (at(4, 8) > 0).then(|| 1 + mix(self.seed, index, 5) % CUSTOMERS),
            discount: match at(6, 3) {
                0 => Decimal::ZERO,
                // Divides by nothing.
                1 => cents(1 + at(7, 997)).min(subtotal),
                _ => (subtotal * Decimal::new(1, 1)).round_dp(2),
            },
            shipping: cents(at(8, 4) * 590),
            shipping_cost: (at(9, 3) > 0).then(|| cents(1_250 + at(9, 500))),
            lines,
            parts_returned: Vec::new(),
        };
        self.oddity(&mut order, index);
        order
    }

    fn orders_or_one(&self) -> u64 {
        self.orders.max(1)
    }

    /// One order in four is not simply paid.
    fn oddity(&self, order: &mut Order, index: u64) {
        let later = |seconds| (order.created_at + Duration::seconds(seconds)).min(self.now - Duration::seconds(1_800));
        let (soon, late) = (later(86_400), later(5 * 86_400));
        match index % 40 {
            3 => (order.payment_status, order.paid_at) = ("pending", None),
            7 => (order.payment_status, order.paid_at) = ("abandoned", None),
            11 => (order.payment_status, order.paid_at, order.cancelled_at) = ("voided", None, Some(soon)),
            13 => (order.payment_status, order.paid_at) = ("authorized", None),
            // Cancelled, but paid.
            15 | 35 => order.cancelled_at = Some(soon),
            17 => (order.payment_status, order.refunded_at) = ("refunded", Some(late)),
            19 | 21 => {
                order.payment_status = "partially_refunded";
                let amount = (order.total() / Decimal::from(3)).round_dp(2);
                order.parts_returned.push(PartReturned { at: soon, amount, told: index % 40 == 19 });
            }
            23 => order.storefront = "meli",
            29 => {
                order.currency =
                    if self.currency.as_str() == "USD" { "EUR" } else { "USD" }.parse().unwrap_or(self.currency)
            }
            // Paid later than ordered, perhaps on another day.
            31 => order.paid_at = Some(soon),
            37 => order.payment_status = "partially_paid",
            _ => {}
        }
        let times =
            [order.paid_at, order.cancelled_at, order.refunded_at, order.parts_returned.first().map(|part| part.at)];
        order.updated_at = times.into_iter().flatten().max().unwrap_or(order.created_at);
    }
}

fn customer(id: u64) -> Customer {
    let city = CITIES.get(usize::try_from(id).unwrap_or(0) % CITIES.len()).copied().unwrap_or_default();
    Customer { id: 5_000 + id, name: format!("Cliente {id}"), email: format!("cliente{id}@example.com"), city }
}

fn product(seed: u64, index: u64) -> Product {
    let at = |what, bound| below(seed, 1_000_000 + index, what, bound);
    let price = cents(1_990 + at(1, 9_000));
    let variant = |number: u64| Variant {
        id: 7_000 + index * 10 + number,
        value: VALUES.get(usize::try_from(number).unwrap_or(0)).copied().filter(|_| index % 3 == 1),
        sku: Some(format!("SKU-{index:02}-{number}")),
        price: Some(price + cents(at(2, 300))),
        promotional_price: (index % 4 == 2).then(|| price - cents(500)),
        cost: (index % 5 != 4).then(|| (price / Decimal::from(3)).round_dp(2)),
        stock: Some(if index % 3 == 2 { vec![at(3, 80), at(4, 40)] } else { vec![at(3, 120)] }),
    };
    let mut variants: Vec<_> = (0..if index % 3 == 1 { 3 } else { 1 }).map(variant).collect();
    for variant in &mut variants {
        match (index, variant.id % 10) {
            // No SKU, a SKU twice, a price on request, stock that is not managed.
            (1, 0) => variant.sku = None,
            (4, 1) => variant.sku = Some("sku-04-0".to_owned()),
            (7, 2) => (variant.price, variant.promotional_price) = (None, None),
            (10, _) => variant.stock = None,
            _ => {}
        }
    }
    Product {
        id: 900 + index,
        names: BTreeMap::from([(LANGUAGE, format!("Produto {index}")), ("es", format!("Producto {index}"))]),
        category: (index.is_multiple_of(2)).then_some("Cozinha"),
        variants,
    }
}
