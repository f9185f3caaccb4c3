//! The seller's shop: what is listed, what was sold, and what happened to it since.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rust_decimal::Decimal;
use time::{Duration, OffsetDateTime};

use crate::shops::ledger::{OrderTruth, RefundTruth, State};

/// How far back orders are found.
pub const HISTORY: Duration = Duration::days(365);
pub const CURRENCY: &str = "ARS";
pub const SITE: &str = "MLA";

/// Where a listing says its SKU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkuPlace {
    Attribute,
    CustomField,
    Nowhere,
}

/// A listing without variations, or one of its variations.
#[derive(Debug, Clone)]
pub struct Offer {
    pub listing: String,
    pub variation: Option<u64>,
    pub title: String,
    pub color: Option<&'static str>,
    pub category: &'static str,
    pub sku: String,
    pub place: SkuPlace,
    pub price: Decimal,
    pub currency: &'static str,
    pub is_closed: bool,
    /// Shared by listings of the same goods.
    pub user_product: Option<String>,
    /// What the listing says is available; of a user product, what each of its listings says.
    pub available: i64,
}

impl Offer {
    /// What a reader has to call it.
    pub fn true_sku(&self) -> String {
        match (self.place, self.variation) {
            (SkuPlace::Nowhere, Some(variation)) => format!("mercadolibre:{}:{variation}", self.listing),
            (SkuPlace::Nowhere, None) => format!("mercadolibre:{}", self.listing),
            _ => self.sku.clone(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    PaymentRequired,
    Paid,
    PartiallyRefunded,
    Cancelled,
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PaymentRequired => "payment_required",
            Self::Paid => "paid",
            Self::PartiallyRefunded => "partially_refunded",
            Self::Cancelled => "cancelled",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Payment {
    pub id: u64,
    pub amount: Decimal,
    pub refunded: Decimal,
    pub approved: Option<OffsetDateTime>,
    pub modified: OffsetDateTime,
    pub into_account: bool,
}

/// Goods that a buyer sent back for a claim.
#[derive(Debug, Clone)]
pub struct Return {
    pub units: i64,
    pub is_low_cost: bool,
    pub is_refunded: bool,
}

#[derive(Debug, Clone)]
pub struct Claim {
    pub id: u64,
    pub opened: OffsetDateTime,
    pub settled: Option<OffsetDateTime>,
    pub returned: Option<Return>,
}

#[derive(Debug, Clone)]
pub struct Order {
    pub id: u64,
    pub pack: Option<u64>,
    pub shipment: Option<u64>,
    /// Index into the offers.
    pub offer: usize,
    pub buyer: u64,
    pub quantity: i64,
    pub unit_price: Decimal,
    /// Per unit.
    pub fee: Option<Decimal>,
    pub currency: &'static str,
    pub created: OffsetDateTime,
    pub closed: Option<OffsetDateTime>,
    pub updated: OffsetDateTime,
    pub status: Status,
    pub cancelled: Option<OffsetDateTime>,
    pub payment: Payment,
    /// What the seller gives of a coupon.
    pub coupon: Decimal,
    pub is_test: bool,
    pub is_unfulfilled: bool,
    pub claim: Option<Claim>,
    /// Cannot be asked for before.
    pub hidden_until: Option<OffsetDateTime>,
    /// False where no reader can come to it: older than the history or cancelled when the seller connected.
    pub is_reachable: bool,
    /// What really went back to the buyer.
    pub given_back: Vec<RefundTruth>,
}

impl Order {
    pub fn gross(&self) -> Decimal {
        self.unit_price * Decimal::from(self.quantity) - self.coupon
    }

    /// Money that was given back; the platform adds to what there was and tells the sum with its last date.
    pub fn give_back(&mut self, amount: Decimal, units: i64, at: OffsetDateTime) {
        self.payment.refunded += amount;
        self.payment.modified = at;
        match self.given_back.last_mut() {
            Some(refund) => {
                *refund = RefundTruth { at, amount: refund.amount + amount, units: refund.units + units };
            }
            None => self.given_back.push(RefundTruth { at, amount, units }),
        }
    }

    fn state(&self) -> State {
        if self.is_test || self.payment.approved.is_none() {
            State::Void
        } else if self.currency == CURRENCY {
            State::Taken
        } else {
            State::Foreign
        }
    }
}

#[derive(Debug, Clone)]
pub struct Shipment {
    /// What a unit costs the seller: every order's part is whole.
    pub cost_per_unit: Decimal,
    pub orders: Vec<u64>,
}

/// The shop.
#[derive(Debug, Default)]
pub struct Seller {
    pub id: u64,
    pub offers: Vec<Offer>,
    /// Units by user product: at the seller's address, and in Mercado Libre's warehouses.
    pub user_products: HashMap<String, (i64, i64)>,
    pub orders: BTreeMap<u64, Order>,
    pub by_creation: BTreeSet<(OffsetDateTime, u64)>,
    pub by_change: BTreeSet<(OffsetDateTime, u64)>,
    pub shipments: HashMap<u64, Shipment>,
    pub claims: HashMap<u64, u64>,
    pub last_id: u64,
}

impl Seller {
    pub fn host(&self) -> String {
        format!("{}.mercadolibre.com.ar", self.id)
    }

    pub fn new_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    pub fn add(&mut self, order: Order) {
        self.by_creation.insert((order.created, order.id));
        self.by_change.insert((order.updated, order.id));
        if let Some(claim) = &order.claim {
            self.claims.insert(claim.id, order.id);
        }
        self.orders.insert(order.id, order);
    }

    /// Changes an order at an instant; false when there is none.
    pub fn change(&mut self, id: u64, at: OffsetDateTime, change: impl FnOnce(&mut Order)) -> bool {
        let Some(order) = self.orders.get_mut(&id) else { return false };
        self.by_change.remove(&(order.updated, id));
        order.updated = at;
        change(order);
        self.by_change.insert((at, id));
        if let Some(claim) = &order.claim {
            self.claims.insert(claim.id, id);
        }
        true
    }

    /// What shipping an order cost the seller.
    fn shipping(&self, order: &Order) -> Option<Decimal> {
        let shipment = self.shipments.get(&order.shipment?)?;
        Some(shipment.cost_per_unit * Decimal::from(order.quantity))
    }

    pub fn truth(&self) -> BTreeMap<String, OrderTruth> {
        let reachable = self.orders.values().filter(|order| order.is_reachable);
        reachable
            .map(|order| {
                let truth = OrderTruth {
                    at: order.closed.unwrap_or(order.created),
                    state: order.state(),
                    gross: order.gross(),
                    product_gross: order.gross(),
                    units: order.quantity,
                    fees: order.fee.map(|fee| fee * Decimal::from(order.quantity)),
                    shipping: self.shipping(order),
                    buyer: Some(order.buyer.to_string()),
                    refunds: order.given_back.clone(),
                    refund_unknown: false,
                    copy_of: None,
                };
                (order.id.to_string(), truth)
            })
            .collect()
    }

    /// The stock by SKU in lower case, over what is on sale.
    pub fn stock(&self) -> BTreeMap<String, i64> {
        let mut counted = BTreeSet::new();
        let mut stock = BTreeMap::new();
        for offer in self.offers.iter().filter(|offer| !offer.is_closed && offer.currency == CURRENCY) {
            let units = match &offer.user_product {
                Some(id) if !counted.insert(id.clone()) => 0,
                Some(id) => self.user_products.get(id).map_or(0, |(own, full)| own + full),
                None => offer.available,
            };
            *stock.entry(offer.true_sku().to_ascii_lowercase()).or_insert(0) += units;
        }
        stock
    }
}
