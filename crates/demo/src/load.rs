//! Feeds the shop to the ports that real data goes through.

use std::sync::Arc;

use domain::{
    StoreError,
    accounts::{Account, Platform},
    customers::{CustomerStore, Filter},
    imports::{AdSource, FileDocument, ImportError, ImportStore, Rows, Target},
    integrations::{Connection, Integration, IntegrationStore},
    page::PageRequest,
    tracking::EventStore,
};
use futures_util::{StreamExt, stream};
use time::{Duration, OffsetDateTime};

use super::{calendar::Calendar, shop::Shop, spend, visits};

/// The connection by which a loaded shop is known. It was made when the shop was loaded for the first time, and its last
/// synchronisation is the instant up to which everything has been loaded.
const HOME: (Platform, &str) = (Platform::Shopify, "demo-shop.myshopify.com");
/// Rows handed over at once.
const BATCH: usize = 1_000;

/// Where the shop goes.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    pub imports: &'a dyn ImportStore,
    pub integrations: &'a dyn IntegrationStore,
    pub events: &'a dyn EventStore,
    pub customers: &'a dyn CustomerStore,
}

/// A part of the work, in the order in which they are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Inventing,
    Products,
    Orders(Platform),
    Stock,
    Spending,
    Visits,
}

/// How many steps there are.
pub const STEPS: u64 = 8;

/// What came in with this load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Loaded {
    pub products: i64,
    pub customers: i64,
    pub orders: i64,
    pub refunds: i64,
    pub stock_levels: i64,
    pub ad_spend_rows: i64,
    pub expenses: i64,
    pub events: u64,
}

/// Why the shop was not loaded. What was loaded before the failure stays, and the next load goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("the account has data of its own; the demo shop goes into an empty account")]
    NotEmpty,
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the demo shop could not be generated: {0}")]
    Worker(#[from] tokio::task::JoinError),
}

/// Where a load begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    opened_at: OffsetDateTime,
    /// Everything up to here is there.
    since: Option<OffsetDateTime>,
    /// When the shop's connection was revoked, which a load leaves as it is.
    revoked_at: Option<OffsetDateTime>,
}

/// True when the account holds the demo shop, a part of it, or nothing at all.
pub async fn fits(ports: &Ports<'_>, account: &Account, now: OffsetDateTime) -> Result<bool, StoreError> {
    Ok(home(ports, account, now).await?.is_some() || is_empty(ports, account, now).await?)
}

async fn is_empty(ports: &Ports<'_>, account: &Account, now: OffsetDateTime) -> Result<bool, StoreError> {
    let first = PageRequest { limit: 1, cursor: None };
    let (connections, _) = ports.integrations.page(account.id, first, now).await?;
    let customers = ports.customers.page(account.id, Filter::default(), first).await?;
    Ok(connections.items.is_empty() && customers.found.items.is_empty())
}

/// Loads the shop as it is at `now`: all of it into an empty account, what has happened since into one that was loaded
/// before. Killed anywhere, the next load ends with the same rows.
///
/// # Errors
/// [`LoadError::NotEmpty`] for an account with other data; failures of the ports.
pub async fn load(
    ports: &Ports<'_>,
    account: &Account,
    now: OffsetDateTime,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Loaded, LoadError> {
    let now = now.replace_nanosecond(0).unwrap_or(now);
    let stretch = begin(ports, account, now).await?;
    let since = stretch.since.map_or(i64::MIN, OffsetDateTime::unix_timestamp);
    if since >= now.unix_timestamp() {
        return Ok(Loaded::default());
    }
    progress(Step::Inventing);
    let calendar = Calendar::new(account.timezone.day_of(stretch.opened_at), &account.timezone, now);
    let first_day = stretch.since.map_or(0, |since| calendar.number(account.timezone.day_of(since)));
    let shop = Arc::new(tokio::task::spawn_blocking(|| Shop::run(calendar)).await?);
    let target = Target { account: account.id, now, dry_run: false };
    let mut loaded = import(ports.imports, target, &shop, since, first_day, progress).await?;
    progress(Step::Visits);
    loaded.events = visit(ports.events, account, &shop, since, first_day).await?;
    if stretch.since.is_none() {
        connect_others(ports, account, stretch.opened_at).await?;
    }
    connect(ports, account, HOME, stretch.opened_at, Some(now), stretch.revoked_at).await?;
    Ok(loaded)
}

/// Finds where an earlier load ended, or notes that the first one begins.
async fn begin(ports: &Ports<'_>, account: &Account, now: OffsetDateTime) -> Result<Stretch, LoadError> {
    if let Some(home) = home(ports, account, now).await? {
        return Ok(Stretch { opened_at: home.connected_at, since: home.last_sync_at, revoked_at: home.revoked_at });
    }
    if !is_empty(ports, account, now).await? {
        return Err(LoadError::NotEmpty);
    }
    connect(ports, account, HOME, now, None, None).await?;
    Ok(Stretch { opened_at: now, since: None, revoked_at: None })
}

async fn home(ports: &Ports<'_>, account: &Account, now: OffsetDateTime) -> Result<Option<Integration>, StoreError> {
    let all = PageRequest { limit: 1_000, cursor: None };
    let (connections, _) = ports.integrations.page(account.id, all, now).await?;
    Ok(connections.items.into_iter().find(|known| (known.provider, known.shop.as_str()) == HOME))
}

async fn import(
    imports: &dyn ImportStore,
    target: Target,
    shop: &Arc<Shop>,
    since: i64,
    first_day: usize,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Loaded, ImportError> {
    progress(Step::Products);
    let products = imports.products(target, rows(shop.products().into_iter())).await?;
    let mut loaded = Loaded { products: products.rows.new, ..Loaded::default() };
    for platform in Platform::SHOPS {
        progress(Step::Orders(platform));
        let documents = shop.documents(platform, since).map(FileDocument::from);
        let documents = imports.documents(target, platform, rows(documents)).await?.documents;
        loaded.customers += documents.new_customers;
        loaded.orders += documents.orders.new;
        loaded.refunds += documents.refunds.new;
    }
    progress(Step::Stock);
    loaded.stock_levels = imports.stock(target, rows(shop.stock(first_day))).await?.rows.rows.new;
    progress(Step::Spending);
    let ads = spend::ads(&shop.calendar, first_day);
    loaded.ad_spend_rows = imports.ad_spend(target, AdSource::File, rows(ads.into_iter())).await?.rows.rows.new;
    let expenses = spend::expenses(&shop.calendar, first_day);
    loaded.expenses = imports.expenses(target, rows(expenses.into_iter())).await?.rows.new;
    Ok(loaded)
}

/// Events have no numbers of their own to know them by: those are left out that are not later than all that is there.
async fn visit(
    events: &dyn EventStore,
    account: &Account,
    shop: &Shop,
    since: i64,
    first_day: usize,
) -> Result<u64, StoreError> {
    let latest = events.latest(account.id).await?.map_or(i64::MIN, OffsetDateTime::unix_timestamp);
    let mut stored = 0;
    for day in first_day..shop.calendar.len() {
        // A day is stored whole or not at all.
        let happened = visits::events(shop, day, since.max(latest));
        stored += happened.len() as u64;
        events.insert_many(account.id, happened).await?;
    }
    Ok(stored)
}

/// Connections in the other states: one without a sync for days, one that never had any, one that was revoked.
async fn connect_others(ports: &Ports<'_>, account: &Account, opened_at: OffsetDateTime) -> Result<(), StoreError> {
    let days = |days: i64| opened_at - Duration::days(days);
    let stale = (Platform::Tiendanube, "demo-shop.mitiendanube.com");
    connect(ports, account, stale, days(400), Some(days(3)), None).await?;
    connect(ports, account, (Platform::Mercadolibre, "DEMO-SHOP"), days(1), None, None).await?;
    let revoked = (Platform::Shopify, "demo-outlet.myshopify.com");
    connect(ports, account, revoked, days(600), Some(days(61)), Some(days(60))).await
}

async fn connect(
    ports: &Ports<'_>,
    account: &Account,
    (provider, shop): (Platform, &str),
    connected_at: OffsetDateTime,
    last_sync_at: Option<OffsetDateTime>,
    revoked_at: Option<OffsetDateTime>,
) -> Result<(), StoreError> {
    let scopes: &[&str] = match provider {
        Platform::Shopify => &["read_orders", "read_products", "read_customers", "read_inventory"],
        Platform::Tiendanube => &["read_orders", "read_products", "read_customers"],
        Platform::Mercadolibre => &["read", "offline_access"],
        Platform::Meta => &["ads_read"],
        Platform::GoogleAds => &["https://www.googleapis.com/auth/adwords"],
    };
    let connection = Connection {
        provider,
        shop: shop.to_owned(),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        connected_at,
        last_sync_at,
        revoked_at,
    };
    ports.integrations.record(account.id, connection).await
}

fn rows<T: Send + 'static>(mut all: impl Iterator<Item = T> + Send + 'static) -> Rows<T> {
    let batches = std::iter::from_fn(move || {
        let batch: Vec<T> = all.by_ref().take(BATCH).collect();
        (!batch.is_empty()).then_some(Ok(batch))
    });
    stream::iter(batches).boxed()
}
