//! A shop: what is on sale, what was ordered, and what happened to orders since. Amounts are cents; beside what the API
//! shows, every action writes down what it means in the ledger of truth.

use std::{collections::BTreeMap, time::Instant};

use domain::{accounts::Platform, money::Currency, zone::Zone};
use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

use crate::shops::{
    ledger::{OrderTruth, ProductTruth, RefundTruth, State, StockDays, Truth},
    random::Random,
};

/// How a shop is made up.
#[derive(Debug, Clone)]
pub struct Seed {
    pub seed: u64,
    /// Orders of the history.
    pub orders: u32,
    pub variants: u32,
    /// How far back they go.
    pub days: u32,
}

impl Default for Seed {
    fn default() -> Self {
        Self { seed: 1, orders: 400, variants: 60, days: 400 }
    }
}

pub struct Level {
    pub is_active: bool,
    pub available: i64,
    pub incoming: i64,
}

pub struct Variant {
    pub id: u64,
    pub sku: Option<String>,
    pub title: String,
    pub product: String,
    pub is_gift_card: bool,
    pub price: i64,
    pub cost: Option<i64>,
    pub tracked: bool,
    pub levels: Vec<Level>,
}

pub struct Sale {
    pub id: u64,
    pub action: &'static str,
    pub kind: &'static str,
    pub quantity: Option<i64>,
    /// Without tax.
    pub net: i64,
    pub tax: i64,
    /// Which line of the order, and which variant.
    pub line: Option<(u64, usize)>,
}

pub struct Agreement {
    pub id: u64,
    pub at: OffsetDateTime,
    pub reason: &'static str,
    pub sales: Vec<Sale>,
}

pub struct Transaction {
    pub id: u64,
    pub kind: &'static str,
    pub status: &'static str,
    pub gateway: &'static str,
    pub fee: Option<i64>,
}

/// A line of goods or gift cards as it stands.
struct Goods {
    kind: &'static str,
    line: u64,
    variant: usize,
    units: i64,
    net: i64,
}

pub struct Order {
    pub id: u64,
    pub created: OffsetDateTime,
    pub updated: OffsetDateTime,
    /// When it was last touched in real time, and what `updated` was before: search lags behind.
    pub touched: Option<(Instant, Option<OffsetDateTime>)>,
    pub cancelled: Option<OffsetDateTime>,
    pub test: bool,
    pub status: &'static str,
    pub currency: Currency,
    pub customer: Option<u64>,
    pub transactions: Vec<Transaction>,
    pub agreements: Vec<Agreement>,
    pub is_deleted: bool,
    goods: Vec<Goods>,
    shipping: i64,
    truth: OrderTruth,
}

pub struct Shop {
    pub host: String,
    pub currency: Currency,
    pub zone: Zone,
    pub variants: Vec<Variant>,
    pub orders: Vec<Order>,
    /// Places of orders by their numbers.
    places: BTreeMap<u64, usize>,
    stock_days: StockDays,
    random: Random,
    last_id: u64,
}

/// Per cent of tax on everything.
const TAX: i64 = 21;
const SHIPPING: i64 = 495;
const DUTY: i64 = 350;
const PRODUCT: &str = "PRODUCT";
const GIFT_CARD: &str = "GIFT_CARD";
/// The only gateway that tells its fees.
const OWN_PAYMENTS: &str = "shopify_payments";
const PAYPAL: &str = "paypal";

/// What is odd about an order.
#[derive(Default)]
struct Oddity {
    is_test: bool,
    is_foreign: bool,
    is_unpaid: bool,
}

fn cents(cents: i64) -> Decimal {
    Decimal::new(cents, 2)
}

impl Shop {
    /// A shop whose history ends at `now`.
    pub fn new(host: &str, seed: &Seed, (currency, zone): (Currency, Zone), now: OffsetDateTime) -> Self {
        let mut shop = Self {
            host: host.to_owned(),
            currency,
            zone,
            variants: Vec::new(),
            orders: Vec::new(),
            places: BTreeMap::new(),
            stock_days: StockDays::new(),
            random: Random::new(seed.seed),
            last_id: 1_000,
        };
        for number in 0..seed.variants.max(10) {
            let variant = shop.variant(i64::from(number));
            shop.variants.push(variant);
        }
        let span = i64::from(seed.days) * 86_400;
        let count = i64::from(seed.orders);
        for number in 0..count {
            let at = now - Duration::seconds(span - number * span / count.max(1) + shop.random.below(60));
            let id = shop.place(at);
            shop.live(id, at, now);
        }
        for order in &mut shop.orders {
            order.touched = None;
        }
        shop.count_stock(now);
        shop
    }

    fn id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn variant(&mut self, number: i64) -> Variant {
        let price = 500 + self.random.below(20_000);
        let sku = match number % 10 {
            3 => None,
            4 => Some("  ".to_owned()),
            // The variant before, in other letters.
            6 => Some(format!("sku-{}", number - 1)),
            _ => Some(format!("SKU-{number}")),
        };
        let levels = (0..1 + self.random.below(3)).map(|place| Level {
            is_active: place != 2,
            available: self.random.below(200) - 5,
            incoming: self.random.below(3) * 10,
        });
        let levels: Vec<Level> = levels.collect();
        let cost = (number % 5 != 1).then_some(price * 4 / 10);
        let title = if number % 2 == 0 { "Default Title".to_owned() } else { format!("Size {number}") };
        let product = format!("Product {number}");
        let is_gift_card = number == 9;
        Variant { id: self.id(), sku, title, product, is_gift_card, price, cost, tracked: number % 7 != 2, levels }
    }

    /// What a buyer does first.
    fn place(&mut self, at: OffsetDateTime) -> u64 {
        let mut sales = Vec::new();
        for _ in 0..1 + self.random.below(4) {
            let variant = usize::try_from(self.random.below(self.variants.len() as i64)).unwrap_or(0);
            sales.push(self.purchase(variant));
        }
        if self.random.percent(50) {
            sales.push(self.sale("ORDER", "SHIPPING", None, SHIPPING, None));
        }
        if self.random.percent(5) {
            sales.push(self.sale("ORDER", "TIP", None, 200, None));
        }
        if self.random.percent(5) {
            sales.push(self.sale("ORDER", "DUTY", None, DUTY, None));
        }
        let oddity = Oddity {
            is_test: self.random.percent(1),
            is_foreign: self.random.percent(1),
            is_unpaid: self.random.percent(4),
        };
        self.order_of(sales, &oddity, at)
    }

    /// An order of these sales.
    fn order_of(&mut self, sales: Vec<Sale>, oddity: &Oddity, at: OffsetDateTime) -> u64 {
        let id = self.id();
        let Oddity { is_test, is_foreign, is_unpaid } = *oddity;
        let state = match (is_test || is_unpaid, is_foreign) {
            (true, _) => State::Void,
            (false, true) => State::Foreign,
            (false, false) => State::Taken,
        };
        let paid: i64 = sales.iter().map(|sale| sale.net).sum();
        let gross: i64 = sales.iter().filter(|sale| sale.is_revenue()).map(|sale| sale.net).sum();
        let lines: Vec<Goods> = sales.iter().filter_map(Goods::of).collect();
        let goods = || lines.iter().filter(|line| line.kind == PRODUCT);
        let product_gross: i64 = goods().map(|goods| goods.net).sum();
        let units: i64 = goods().map(|goods| goods.units).sum();
        let shipping: i64 = sales.iter().filter(|sale| sale.kind == "SHIPPING").map(|sale| sale.net).sum();
        let fee = (!self.random.percent(30)).then_some(paid * 3 / 100 + 30);
        let (kind, status) = if is_unpaid { ("AUTHORIZATION", "FAILURE") } else { ("SALE", "SUCCESS") };
        let gateway = if fee.is_some() { OWN_PAYMENTS } else { PAYPAL };
        let mut transactions = vec![Transaction { id: self.id(), kind, status, gateway, fee }];
        // Now and then a part is paid in another way: by a gift card, which costs nothing, or without telling the fee.
        let other = [(3, "gift_card"), (7, PAYPAL)].into_iter().find(|(digit, _)| id % 10 == *digit && !is_unpaid);
        let other = other.map(|(_, gateway)| gateway);
        if let Some(gateway) = other {
            transactions.push(Transaction { id: self.id(), kind, status, gateway, fee: None });
        }
        let fees = fee.filter(|_| !is_unpaid && other != Some(PAYPAL));
        let customer = (!self.random.percent(20)).then(|| 500 + self.random.below(150).unsigned_abs());
        let truth = OrderTruth {
            at: at.replace_nanosecond(0).unwrap_or(at),
            state,
            gross: cents(gross),
            product_gross: cents(product_gross),
            units,
            fees: fees.map(cents),
            shipping: None,
            buyer: customer.map(|id| id.to_string()),
            refunds: Vec::new(),
            refund_unknown: false,
            copy_of: None,
        };
        let agreements = vec![Agreement { id: self.id(), at, reason: "ORDER", sales }];
        self.places.insert(id, self.orders.len());
        self.orders.push(Order {
            id,
            created: at,
            updated: at,
            touched: Some((Instant::now(), None)),
            cancelled: None,
            test: is_test,
            status: if is_unpaid { "PENDING" } else { "PAID" },
            currency: if is_foreign { self.foreign() } else { self.currency },
            customer,
            transactions,
            agreements,
            is_deleted: false,
            goods: lines,
            shipping,
            truth,
        });
        id
    }

    /// Some units of a variant, sometimes with a discount that no price per unit comes to.
    fn purchase(&mut self, variant: usize) -> Sale {
        let (price, is_gift_card) =
            self.variants.get(variant).map_or((0, false), |variant| (variant.price, variant.is_gift_card));
        let units = 1 + self.random.below(4);
        let discount = if self.random.percent(30) { self.random.below(price) } else { 0 };
        let kind = if is_gift_card { GIFT_CARD } else { PRODUCT };
        let line = (self.id(), variant);
        self.sale("ORDER", kind, Some(units), price * units - discount, Some(line))
    }

    fn sale(
        &mut self,
        action: &'static str,
        kind: &'static str,
        quantity: Option<i64>,
        net: i64,
        line: Option<(u64, usize)>,
    ) -> Sale {
        Sale { id: self.id(), action, kind, quantity, net, tax: net * TAX / 100, line }
    }

    /// What becomes of an order of the history.
    fn live(&mut self, id: u64, at: OffsetDateTime, now: OffsetDateTime) {
        let later =
            |random: &mut Random, days: i64| (at + Duration::seconds(60 + random.below(days * 86_400))).min(now);
        if self.random.percent(8) {
            let at = later(&mut self.random, 2);
            self.edit(id, at);
        }
        if self.random.percent(12) {
            let at = later(&mut self.random, 30);
            self.refund(id, at);
        }
        if self.random.percent(3) {
            let at = later(&mut self.random, 40);
            self.cancel(id, at);
        }
    }

    fn order_mut(&mut self, id: u64) -> Option<&mut Order> {
        let place = *self.places.get(&id)?;
        self.orders.get_mut(place).filter(|order| !order.is_deleted)
    }

    pub fn order(&self, id: u64) -> Option<&Order> {
        self.orders.get(*self.places.get(&id)?).filter(|order| !order.is_deleted)
    }

    /// Sells at `now`.
    pub fn sell(&mut self, now: OffsetDateTime) -> u64 {
        let id = self.place(now);
        self.clear_shelves(id, now);
        id
    }

    /// Sells a gift card, alone or with goods; `None` where there are no gift cards.
    pub fn sell_gift_card(&mut self, with_goods: bool, now: OffsetDateTime) -> Option<u64> {
        let card = self.variants.iter().position(|variant| variant.is_gift_card)?;
        let mut sales = vec![self.purchase(card)];
        if with_goods {
            sales.push(self.purchase(0));
        }
        let id = self.order_of(sales, &Oddity::default(), now);
        self.clear_shelves(id, now);
        Some(id)
    }

    /// What was ordered leaves the shelves.
    fn clear_shelves(&mut self, id: u64, now: OffsetDateTime) {
        let sold: Vec<(usize, i64)> = self
            .order(id)
            .map(|order| order.goods.iter().map(|goods| (goods.variant, goods.units)).collect())
            .unwrap_or_default();
        for (variant, units) in sold {
            if let Some(level) = self.variants.get_mut(variant).and_then(|variant| variant.levels.first_mut()) {
                level.available -= units;
            }
        }
        self.count_stock(now);
    }

    /// Takes a unit out of the order's first line that has two, and adds another variant.
    pub fn edit(&mut self, id: u64, at: OffsetDateTime) -> bool {
        let variant = usize::try_from(self.random.below(8)).unwrap_or(0);
        let added = self.purchase(variant);
        let Some(place) = self.places.get(&id).copied() else { return false };
        let Some(order) = self.orders.get_mut(place).filter(|order| !order.is_deleted) else { return false };
        let mut out = None;
        if let Some(goods) = order.goods.iter_mut().find(|goods| goods.units > 1) {
            let (kind, net, line) = goods.give_one();
            if kind == PRODUCT {
                (order.truth.units, order.truth.gross) = (order.truth.units - 1, order.truth.gross - cents(net));
                order.truth.product_gross -= cents(net);
            }
            out = Some((kind, net, line));
        }
        order.add(&added);
        let out = out.map(|(kind, net, line)| self.sale("RETURN", kind, Some(-1), -net, Some(line)));
        let sales = out.into_iter().chain([added]).collect();
        self.agree(id, at, "ORDER_EDIT", sales);
        true
    }

    /// Gives one unit of the first line back, and a little money.
    pub fn refund(&mut self, id: u64, at: OffsetDateTime) -> bool {
        let goodwill = if self.random.percent(30) { 100 } else { 0 };
        let Some(order) = self.order_mut(id) else { return false };
        let Some(goods) = order.goods.iter_mut().find(|goods| goods.units > 0) else { return false };
        let (kind, net, line) = goods.give_one();
        if order.status == "PAID" {
            order.status = "PARTIALLY_REFUNDED";
        }
        let mut sales = vec![self.sale("RETURN", kind, Some(-1), -net, Some(line))];
        if goodwill > 0 && kind == PRODUCT {
            sales.push(self.sale("RETURN", "ADJUSTMENT", None, -goodwill, None));
        }
        self.give_back(id, at, sales);
        true
    }

    /// Takes one unit of the first line back, in a return, for one of another variant.
    pub fn exchange(&mut self, id: u64, at: OffsetDateTime) -> bool {
        let variant = usize::try_from(self.random.below(8)).unwrap_or(0);
        let given = self.purchase(variant);
        let Some(order) = self.order_mut(id) else { return false };
        let Some(goods) = order.goods.iter_mut().find(|goods| goods.units > 0) else { return false };
        let (kind, net, line) = goods.give_one();
        let at = at.replace_nanosecond(0).unwrap_or(at);
        if kind == PRODUCT {
            order.truth.refunds.push(RefundTruth { at, amount: cents(net), units: 1 });
        }
        order.add(&given);
        let back = self.sale("RETURN", kind, Some(-1), -net, Some(line));
        self.agree(id, at, "RETURN", vec![back, given]);
        true
    }

    /// The customer's orders stay, without a customer.
    pub fn forget(&mut self, customer: u64) {
        for order in self.orders.iter_mut().filter(|order| order.customer == Some(customer)) {
            (order.customer, order.truth.buyer) = (None, None);
        }
    }

    /// The orders of a customer.
    pub fn orders_of(&self, customer: u64) -> Vec<u64> {
        self.orders.iter().filter(|order| order.customer == Some(customer)).map(|order| order.id).collect()
    }

    /// Another currency than the shop's.
    fn foreign(&self) -> Currency {
        let other = if self.currency.as_str() == "USD" { "EUR" } else { "USD" };
        other.parse().unwrap_or(self.currency)
    }

    /// Gives everything back that is left.
    pub fn cancel(&mut self, id: u64, at: OffsetDateTime) -> bool {
        let Some(order) = self.order_mut(id) else { return false };
        order.cancelled = Some(at);
        order.status = if order.status == "PENDING" { "VOIDED" } else { "REFUNDED" };
        let shipping = std::mem::take(&mut order.shipping);
        let left: Vec<_> = order.goods.drain(..).filter(|goods| goods.units > 0).collect();
        let mut sales: Vec<Sale> = left
            .into_iter()
            .map(|goods| {
                let line = Some((goods.line, goods.variant));
                self.sale("RETURN", goods.kind, Some(-goods.units), -goods.net, line)
            })
            .collect();
        if shipping > 0 {
            sales.push(self.sale("RETURN", "SHIPPING", None, -shipping, None));
        }
        self.give_back(id, at, sales);
        true
    }

    fn give_back(&mut self, id: u64, at: OffsetDateTime, sales: Vec<Sale>) {
        let refunded = || sales.iter().filter(|sale| sale.is_revenue());
        let amount: i64 = refunded().map(|sale| -sale.net).sum();
        let units = refunded().filter_map(|sale| sale.quantity).sum::<i64>();
        if let Some(order) = self.order_mut(id).filter(|_| amount != 0 || units != 0) {
            let at = at.replace_nanosecond(0).unwrap_or(at);
            order.truth.refunds.push(RefundTruth { at, amount: cents(amount), units: -units });
        }
        self.agree(id, at, "REFUND", sales);
    }

    fn agree(&mut self, id: u64, at: OffsetDateTime, reason: &'static str, sales: Vec<Sale>) {
        let agreement = Agreement { id: self.id(), at, reason, sales };
        if let Some(order) = self.order_mut(id) {
            order.agreements.push(agreement);
            order.touch(at);
        }
    }

    /// The payment of an order that waited for it comes in.
    pub fn pay(&mut self, id: u64, at: OffsetDateTime) -> bool {
        let transaction = Transaction { id: self.id(), kind: "SALE", status: "SUCCESS", gateway: "manual", fee: None };
        let currency = self.currency;
        let Some(order) = self.order_mut(id) else { return false };
        order.transactions.push(transaction);
        (order.status, order.truth.fees) = ("PAID", None);
        if !order.test && order.truth.state == State::Void {
            order.truth.state = if order.currency == currency { State::Taken } else { State::Foreign };
        }
        order.touch(at);
        true
    }

    pub fn delete(&mut self, id: u64) -> bool {
        let Some(order) = self.order_mut(id) else { return false };
        (order.is_deleted, order.truth.state) = (true, State::Void);
        true
    }

    /// Writes down the stock of the day.
    fn count_stock(&mut self, now: OffsetDateTime) {
        let products = self.products();
        let levels = products.into_iter().filter_map(|(sku, product)| Some((sku, product.stock?))).collect();
        self.stock_days.insert(self.zone.day_of(now), levels);
    }

    /// By SKU in lower case: the first variant's name, price and cost, and the stock of all of them.
    fn products(&self) -> BTreeMap<String, ProductTruth> {
        let mut products: BTreeMap<String, ProductTruth> = BTreeMap::new();
        for variant in self.variants.iter().filter(|variant| !variant.is_gift_card) {
            let sku = variant.sku.as_deref().map(str::trim).filter(|sku| !sku.is_empty());
            let sku = sku.map_or_else(|| format!("shopify:{}", variant.id), str::to_lowercase);
            let active = variant.levels.iter().filter(|level| level.is_active && variant.tracked);
            let stock = variant.tracked.then(|| active.clone().map(|level| level.available).sum::<i64>());
            let on_order = variant.tracked.then(|| active.map(|level| level.incoming).sum::<i64>());
            let known = products.entry(sku).or_insert_with(|| ProductTruth {
                name: Some(match variant.title.as_str() {
                    "Default Title" => variant.product.clone(),
                    title => format!("{} · {title}", variant.product),
                }),
                price: Some(cents(variant.price).normalize()),
                cost: variant.cost.map(|cost| cents(cost).normalize()),
                stock: None,
                on_order: None,
            });
            known.stock = stock.map(|stock| stock + known.stock.unwrap_or(0)).or(known.stock);
            known.on_order = on_order.map(|units| units + known.on_order.unwrap_or(0)).or(known.on_order);
        }
        products
    }

    pub fn truth(&self) -> Truth {
        let orders = self.orders.iter().map(|order| (order.id.to_string(), order.truth())).collect();
        let (zone, stock) = ((self.currency, &self.zone), self.stock_days.clone());
        Truth::new(Platform::Shopify, self.host.clone(), zone, orders, self.products(), stock)
    }
}

impl Sale {
    /// What is paid for a gift card is owed to its holder, until something is bought with it.
    fn is_revenue(&self) -> bool {
        self.kind != GIFT_CARD
    }
}

impl Goods {
    fn of(sale: &Sale) -> Option<Self> {
        let (line, variant) = sale.line?;
        Some(Self { kind: sale.kind, line, variant, units: sale.quantity.unwrap_or(0), net: sale.net })
    }

    /// Takes one unit out; its kind, what was paid for it, and its line and variant.
    fn give_one(&mut self) -> (&'static str, i64, (u64, usize)) {
        let net = self.net / self.units;
        (self.units, self.net) = (self.units - 1, self.net - net);
        (self.kind, net, (self.line, self.variant))
    }
}

impl Order {
    /// Sells something more.
    fn add(&mut self, sale: &Sale) {
        let goods = Goods::of(sale);
        if sale.is_revenue() {
            self.truth.gross += cents(sale.net);
            self.truth.units += goods.as_ref().map_or(0, |goods| goods.units);
            self.truth.product_gross += cents(goods.as_ref().map_or(0, |goods| goods.net));
        }
        self.goods.extend(goods);
    }

    /// An order of nothing but gift cards does not count.
    fn truth(&self) -> OrderTruth {
        let truth = self.truth.clone();
        let is_empty = truth.gross.is_zero() && truth.units == 0 && truth.refunds.is_empty();
        let state = if is_empty && truth.state == State::Taken { State::Void } else { truth.state };
        OrderTruth { state, ..truth }
    }

    fn touch(&mut self, at: OffsetDateTime) {
        self.touched = Some((Instant::now(), Some(self.updated)));
        self.updated = self.updated.max(at);
    }
}
