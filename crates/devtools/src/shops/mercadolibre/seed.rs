//! A shop made of a number: the same number, the same shop.

use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

use super::seller::{CURRENCY, Claim, Offer, Order, Payment, Return, SITE, Seller, Shipment, SkuPlace, Status};

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 up to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// An amount of `from` to below `to` cents.
    fn cents(&mut self, from: u64, to: u64) -> Decimal {
        Decimal::new(i64::try_from(from + self.below(to - from)).unwrap_or_default(), 2)
    }
}

const COLORS: [&str; 3] = ["Rojo", "Azul", "Verde"];
const CATEGORIES: [&str; 3] = ["MLA1055", "MLA1574", "MLA3530"];
/// Listings, but for those of a special kind.
const LISTINGS: u64 = 30;

/// A seller with `count` sales, evenly over the `days` before `now`; a little more than a year of them is out of reach.
pub fn seller(seed: u64, count: u64, days: u64, now: OffsetDateTime) -> Seller {
    let mut random = Random(seed);
    let mut seller = Seller { id: 468_424_240 + seed, last_id: 2_000_000_000_000, ..Seller::default() };
    offers(&mut seller, &mut random);
    let step = Duration::days(i64::try_from(days).unwrap_or_default()).whole_seconds()
        / i64::try_from(count.max(1)).unwrap_or(1);
    let mut left = count;
    while left > 0 {
        let size = if random.is(15) { (2 + random.below(2)).min(left) } else { 1 };
        let at = now - Duration::seconds(step * i64::try_from(left).unwrap_or_default());
        let at = at.truncate_to_second();
        purchase(&mut seller, &mut random, size, at);
        left -= size;
    }
    history(&mut seller, &mut random, now);
    seller
}

fn offers(seller: &mut Seller, random: &mut Random) {
    for number in 0..LISTINGS {
        let category = CATEGORIES.get(usize::try_from(random.below(3)).unwrap_or(0)).copied().unwrap_or("MLA1055");
        let place = match number % 3 {
            0 => SkuPlace::Attribute,
            1 => SkuPlace::CustomField,
            _ => SkuPlace::Nowhere,
        };
        let offer = Offer {
            listing: format!("{SITE}{}", 600_000_000 + number),
            variation: None,
            title: format!("Artículo {number}"),
            color: None,
            category,
            sku: format!("Art-{number}"),
            place,
            price: random.cents(50_000, 9_000_000),
            currency: CURRENCY,
            is_closed: number == 7,
            user_product: None,
            available: i64::try_from(random.below(60)).unwrap_or_default(),
        };
        match number % 6 {
            // Variations, each with a SKU of its own or none.
            3 => seller.offers.extend(COLORS.iter().zip(1..).map(|(color, index)| Offer {
                variation: Some(number * 10 + index),
                color: Some(color),
                sku: format!("Art-{number}-{color}"),
                ..offer.clone()
            })),
            // Two listings of the same goods; the second spells the SKU in capitals.
            4 => {
                let id = format!("{SITE}U{}", 900_000_000 + number);
                let (own, full) = (random.below(40), random.below(40));
                let stock = (i64::try_from(own).unwrap_or_default(), i64::try_from(full).unwrap_or_default());
                seller.user_products.insert(id.clone(), stock);
                let offer = Offer { user_product: Some(id), place: SkuPlace::Attribute, ..offer };
                let again = Offer {
                    listing: format!("{SITE}{}", 700_000_000 + number),
                    sku: offer.sku.to_uppercase(),
                    ..offer.clone()
                };
                seller.offers.extend([offer, again]);
            }
            _ => seller.offers.push(offer),
        }
    }
    let foreign = Offer {
        listing: format!("{SITE}800000000"),
        variation: None,
        title: "Importado".to_owned(),
        color: None,
        category: "MLA1055",
        sku: "USD-1".to_owned(),
        place: SkuPlace::Attribute,
        price: Decimal::TEN,
        currency: "USD",
        is_closed: false,
        user_product: None,
        available: 3,
    };
    seller.offers.push(foreign);
}

/// A purchase of one buyer: `size` orders in a pack, with one shipment.
pub fn purchase(seller: &mut Seller, random: &mut Random, size: u64, at: OffsetDateTime) -> Vec<u64> {
    let pack = random.is(90).then(|| seller.new_id());
    let shipment = random.is(90).then(|| seller.new_id());
    let buyer = 10_000_000 + random.below(5_000);
    let mut ids = Vec::new();
    for _ in 0..size {
        let index = usize::try_from(random.below(seller.offers.len() as u64)).unwrap_or_default();
        let Some(offer) = seller.offers.get(index) else { continue };
        let (unit_price, currency) = (offer.price - random.cents(0, 500), offer.currency);
        let quantity = 1 + i64::try_from(random.below(4)).unwrap_or_default();
        let coupon = if random.is(5) { random.cents(1, 300) } else { Decimal::ZERO };
        let closed = at + Duration::seconds(44);
        let id = seller.new_id();
        let payment = Payment {
            id: seller.new_id(),
            amount: unit_price * Decimal::from(quantity) - coupon,
            refunded: Decimal::ZERO,
            approved: Some(closed),
            modified: closed,
            into_account: false,
        };
        seller.add(Order {
            id,
            pack: pack.or((size > 1).then_some(id)),
            shipment,
            offer: index,
            buyer,
            quantity,
            unit_price,
            fee: (!random.is(2)).then(|| (unit_price * Decimal::new(13, 2)).round_dp(2)),
            currency,
            created: at,
            closed: Some(closed),
            updated: closed,
            status: Status::Paid,
            cancelled: None,
            payment,
            coupon,
            is_test: random.is(1),
            is_unfulfilled: false,
            claim: None,
            hidden_until: None,
            is_reachable: true,
            given_back: Vec::new(),
        });
        ids.push(id);
    }
    if let Some(shipment) = shipment {
        let cost_per_unit = if random.is(20) { Decimal::ZERO } else { random.cents(100, 90_000) };
        seller.shipments.insert(shipment, Shipment { cost_per_unit, orders: ids.clone() });
    }
    ids
}

/// What happened to the sales up to now.
fn history(seller: &mut Seller, random: &mut Random, now: OffsetDateTime) {
    let ids: Vec<u64> = seller.orders.keys().copied().collect();
    for id in ids {
        let Some(order) = seller.orders.get(&id) else { continue };
        let later = order.updated + Duration::minutes(i64::try_from(random.below(30 * 24 * 60)).unwrap_or_default());
        let at = later.min(now);
        let is_old = order.created < now - super::seller::HISTORY;
        match random.below(100) {
            0..=3 => cancel(seller, id, at),
            4..=5 => unpaid(seller, id),
            6..=9 => {
                let amount =
                    seller.orders.get(&id).map_or(Decimal::ONE, |order| (order.gross() / Decimal::TEN).round_dp(2));
                refund(seller, id, amount, at);
            }
            10..=13 => {
                let low_cost = random.is(20);
                let claim = (seller.new_id(), low_cost);
                take_back(seller, id, 1, claim, at);
            }
            14..=15 => into_account(seller, id, at),
            _ => {}
        }
        if let Some(order) = seller.orders.get_mut(&id) {
            order.is_reachable = !is_old && order.status != Status::Cancelled;
        }
    }
}

fn unpaid(seller: &mut Seller, id: u64) {
    let Some(at) = seller.orders.get(&id).map(|order| order.updated) else { return };
    seller.change(id, at, |order| {
        order.status = Status::PaymentRequired;
        order.closed = None;
        order.payment.approved = None;
    });
}

/// The sale is called off, and the money goes back the way it came.
pub fn cancel(seller: &mut Seller, id: u64, at: OffsetDateTime) {
    seller.change(id, at, |order| {
        let left = order.gross() - order.payment.refunded;
        let units = order.quantity - order.given_back.iter().map(|refund| refund.units).sum::<i64>();
        order.status = Status::Cancelled;
        order.cancelled = Some(at);
        order.give_back(left, units, at);
    });
}

/// Money without goods, from the seller.
pub fn refund(seller: &mut Seller, id: u64, amount: Decimal, at: OffsetDateTime) {
    seller.change(id, at, |order| {
        order.give_back(amount, 0, at);
        order.status = Status::PartiallyRefunded;
    });
}

/// The buyer claims, sends units back and gets what was paid for them; at low cost the buyer keeps them.
pub fn take_back(seller: &mut Seller, id: u64, units: i64, (claim, is_low_cost): (u64, bool), at: OffsetDateTime) {
    seller.change(id, at, |order| {
        let units = units.min(order.quantity);
        let amount = (order.gross() * Decimal::from(units) / Decimal::from(order.quantity)).round_dp(2);
        order.give_back(amount, if is_low_cost { 0 } else { units }, at);
        order.status = Status::PartiallyRefunded;
        let returned = Return { units, is_low_cost, is_refunded: true };
        order.claim = Some(Claim { id: claim, opened: order.created, settled: Some(at), returned: Some(returned) });
    });
}

/// The sale is called off and the buyer gets the money into an account: the order stays paid.
pub fn into_account(seller: &mut Seller, id: u64, at: OffsetDateTime) {
    seller.change(id, at, |order| {
        let left = order.gross() - order.payment.refunded;
        let units = order.quantity - order.given_back.iter().map(|refund| refund.units).sum::<i64>();
        order.give_back(left, units, at);
        order.is_unfulfilled = true;
        order.payment.into_account = true;
    });
}
