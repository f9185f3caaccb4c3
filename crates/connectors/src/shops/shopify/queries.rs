//! The texts that are sent, one file per query. That they agree with the published schemas is for
//! `scripts/check-shopify-schemas.sh` to say, and a test for the part of the schema that they use.

/// The version of the Admin API; one lives for 12 months at least.
pub const VERSION: &str = "2026-07";

/// A text to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Query {
    pub name: &'static str,
    pub text: &'static str,
    /// Points that it is expected to cost at most, as it is used here; each reply tells what it did cost.
    pub cost: u16,
    /// Whether it may be sent again when no answer came.
    pub repeatable: bool,
}

macro_rules! text {
    ($($file:literal),+) => { concat!($(include_str!(concat!("queries/", $file, ".graphql"))),+) };
}

macro_rules! queries {
    ($($name:ident = $kind:ident $cost:literal $($file:literal),+;)+) => {
        $(pub const $name: Query = Query {
            name: stringify!($name),
            text: text!($($file),+),
            cost: $cost,
            repeatable: queries!(@ $kind),
        };)+
        /// All of them, and the one that a bulk operation runs.
        pub const ALL: &[Query] = &[$($name,)+ Query { name: "BULK_ORDERS", text: BULK_ORDERS, cost: 0, repeatable: false }];
    };
    (@ read) => { true };
    (@ write) => { false };
}

queries! {
    ORDERS = read 650 "orders", "order_fields", "sale_fields";
    ORDER_NUMBERS = read 20 "order_numbers";
    ORDERS_BY_ID = read 900 "orders_by_id", "order_fields", "sale_fields";
    ORDERS_EXIST = read 260 "orders_exist";
    ORDER_SALES = read 60 "order_sales", "sale_fields";
    CATALOGUE = read 250 "catalogue", "level_fields";
    LEVELS = read 50 "levels", "level_fields";
    SHOP = read 10 "shop";
    BUYERS = read 30 "buyers";
    BULK_RUN = write 20 "bulk_run";
    BULK_STATE = read 10 "bulk_state";
    BULK_CANCEL = write 20 "bulk_cancel";
    SUBSCRIPTIONS = read 30 "subscriptions";
    SUBSCRIBE = write 20 "subscribe";
    UNINSTALL = write 20 "uninstall";
}

/// Orders of a page of [`ORDERS`].
pub const ORDERS_PAGE: u32 = 50;
/// Identifiers of one [`ORDERS_BY_ID`]: each costs as much as an order without the discount that a page has.
pub const IDS: usize = 10;
/// Variants of a page of [`CATALOGUE`].
pub const VARIANTS_PAGE: u32 = 250;
/// Identifiers of one [`ORDERS_EXIST`]: the most that a list takes.
pub const MANY_IDS: usize = 250;
/// Paging beyond this number of objects is refused.
pub const MAX_DEPTH: u64 = 25_000;

/// What a bulk operation runs: one pair of `edges { node }` per connection, no variables.
const BULK_ORDERS: &str = text!("bulk_orders");

/// The query of a bulk operation for the orders that a filter selects.
pub fn bulk_orders(filter: &str) -> String {
    BULK_ORDERS.replace("$FILTER", filter)
}
