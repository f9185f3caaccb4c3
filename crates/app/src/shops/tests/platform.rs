//! A platform that holds orders and answers as it is told.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use domain::{
    accounts::Platform,
    imports::{AdAccount, AdDetail, AdSpendRow, DocumentKind, DocumentPart, Line},
    money::Currency,
    shops::{
        Access, AdSpend, AdTiming, Authorization, AuthorizeError, Callback, CompleteError, Grant, OrderBatch, Product,
        ProductBatch, Purpose, RefreshError, Refund, Refused, Secret, ShopAuth, ShopError, ShopInfo, ShopOrder,
        ShopReader, ShopStream, Stock, Timing, Tokens, Voided, Window,
        hooks::{Hook, HookHeaders, HookRefused, HookVerifier},
    },
};
use futures_util::{StreamExt, stream};
use rust_decimal::{Decimal, dec};
use time::{Date, Duration, OffsetDateTime};

/// An order that a shop has: when it was made, and when it last changed.
#[derive(Clone)]
pub struct Placed {
    pub order: ShopOrder,
    pub changed_at: OffsetDateTime,
}

#[derive(Default)]
pub struct Answers {
    pub orders: Vec<Placed>,
    pub products: Vec<Product>,
    /// What comes of the catalogue beside the products.
    pub catalogue: ProductBatch,
    /// What ends the catalogue after the products.
    pub broken_catalogue: Option<ShopError>,
    pub refused: Vec<Refused>,
    /// Orders that are not shown whole.
    pub again: Vec<String>,
    /// Permissions that reading orders misses.
    pub missing_scopes: Vec<String>,
    /// What the next calls of the readers answer instead, first to last.
    pub errors: VecDeque<ShopError>,
    /// What the next renewals answer instead; `None` answers as usual.
    pub refreshes: VecDeque<Option<RefreshError>>,
    /// How long a renewal takes.
    pub renewal_takes: std::time::Duration,
    /// Refresh tokens that were sent.
    pub refreshed_with: Vec<String>,
    /// Access tokens that are accepted; empty: all.
    pub accepted: Vec<String>,
    /// How long a call of the readers takes.
    pub takes: Duration,
    /// When access tokens end, as far as that is known.
    pub ends: BTreeMap<String, OffsetDateTime>,
    pub windows: Vec<(Window, Purpose)>,
    pub subscribed: Vec<String>,
    pub given_back: u32,
    pub authorizations: Vec<Authorization>,
    /// Orders of a window beyond which it holds too many.
    pub most: Option<usize>,
    pub currency: Option<Currency>,
    pub suspended: bool,
    pub reread: Option<Duration>,
    /// What was spent on a day, where the platform sells ads.
    pub ads: Option<Result<Decimal, ShopError>>,
    /// How often ads were clicked on a day.
    pub clicks: Option<i64>,
    pub ads_asked_for: Vec<(Date, Date)>,
    pub asked_for: Vec<Vec<String>>,
    /// What the next readings of orders by number answer instead; `None` answers as usual.
    pub by_number: VecDeque<Option<ShopError>>,
    pub catalogue_passes: u32,
    /// What the catalogue answers, always.
    pub refused_catalogue: Option<ShopError>,
    /// How far the platform's clock is ahead.
    pub ahead: Duration,
    /// Whether buyers are shown, where that can be asked.
    pub shows_buyers: Option<bool>,
    /// Whether the next call of the readers panics.
    pub panics: bool,
}

pub struct FakePlatform {
    provider: Platform,
    now: Arc<Mutex<OffsetDateTime>>,
    pub answers: Mutex<Answers>,
}

impl FakePlatform {
    pub fn new(provider: Platform, now: Arc<Mutex<OffsetDateTime>>) -> Self {
        Self { provider, now, answers: Mutex::default() }
    }

    /// Puts an order there, or changes it.
    pub fn place(&self, id: &str, at: OffsetDateTime, price: Decimal) {
        self.place_order(order(id, at, price));
    }

    pub fn place_order(&self, order: ShopOrder) {
        let changed_at = *self.now.lock().unwrap();
        let mut answers = self.answers.lock().unwrap();
        answers.orders.retain(|placed| placed.order.order.external_id != order.order.external_id);
        answers.orders.push(Placed { order, changed_at });
    }

    pub fn fail(&self, errors: impl IntoIterator<Item = ShopError>) {
        self.answers.lock().unwrap().errors.extend(errors);
    }

    fn check(&self, access: &Access) -> Result<(), ShopError> {
        // Not while the answers are locked.
        let panics = std::mem::take(&mut self.answers.lock().unwrap().panics);
        assert!(!panics, "as it was told");
        let mut answers = self.answers.lock().unwrap();
        if let Some(error) = answers.errors.pop_front() {
            return Err(error);
        }
        if answers.suspended {
            return Err(ShopError::Suspended);
        }
        let now = {
            let mut now = self.now.lock().unwrap();
            *now += answers.takes;
            *now
        };
        if answers.ends.get(access.token.expose()).is_some_and(|ends| *ends <= now) {
            return Err(ShopError::Unauthorized);
        }
        let is_accepted =
            answers.accepted.is_empty() || answers.accepted.iter().any(|known| known == access.token.expose());
        if is_accepted { Ok(()) } else { Err(ShopError::Unauthorized) }
    }
}

pub fn line(sku: &str, quantity: i64, unit_price: Decimal) -> Line {
    Line { sku: sku.to_owned(), is_product: true, name: None, category: None, quantity, unit_price, unit_cost: None }
}

pub fn order(id: &str, at: OffsetDateTime, price: Decimal) -> ShopOrder {
    let order = DocumentPart {
        kind: DocumentKind::Order,
        external_id: id.to_owned(),
        at,
        buyer: None,
        country: None,
        fees: None,
        shipping: None,
        lines: vec![line("A", 1, price)],
    };
    ShopOrder { order, refunds: vec![], refund_unknown: false, copy_of: None }
}

pub fn refund(at: OffsetDateTime, price: Decimal) -> Refund {
    Refund { at, lines: vec![line("A", 1, price)] }
}

fn tokens(generation: usize, now: OffsetDateTime) -> Tokens {
    Tokens {
        access: Secret::new(format!("access-{generation}")),
        access_expires_at: Some(now + Duration::HOUR),
        refresh: Some(Secret::new(format!("refresh-{generation}"))),
        refresh_expires_at: None,
        scopes: vec!["read_orders".to_owned()],
    }
}

#[async_trait]
impl ShopAuth for FakePlatform {
    fn platform(&self) -> Platform {
        self.provider
    }

    fn shop_name(&self, given: Option<&str>) -> Result<Option<String>, AuthorizeError> {
        Ok(Some(given.ok_or(AuthorizeError::ShopRequired)?.to_lowercase()))
    }

    fn authorize_url(&self, authorization: &Authorization) -> Result<String, AuthorizeError> {
        self.answers.lock().unwrap().authorizations.push(authorization.clone());
        Ok(format!("https://platform.example/?state={}", authorization.state.expose()))
    }

    async fn complete(
        &self,
        callback: &Callback,
        authorization: &Authorization,
        now: OffsetDateTime,
    ) -> Result<Grant, CompleteError> {
        self.answers.lock().unwrap().authorizations.push(authorization.clone());
        let _ = callback.one("code").ok_or(CompleteError::Malformed("code"))?;
        Ok(Grant { shop_id: authorization.shop.clone().unwrap_or_default(), tokens: tokens(1, now) })
    }

    async fn refresh(&self, _: &str, refresh: &Secret, now: OffsetDateTime) -> Result<Tokens, RefreshError> {
        let (answer, generation, takes) = {
            let mut answers = self.answers.lock().unwrap();
            answers.refreshed_with.push(refresh.expose().to_owned());
            (answers.refreshes.pop_front().flatten(), answers.refreshed_with.len() + 1, answers.renewal_takes)
        };
        // Others have their turn while the reply is on its way.
        tokio::task::yield_now().await;
        if !takes.is_zero() {
            tokio::time::sleep(takes).await;
        }
        let renewed = tokens(generation, now);
        let ends = renewed.access_expires_at.unwrap();
        self.answers.lock().unwrap().ends.insert(renewed.access.expose().to_owned(), ends);
        answer.map_or(Ok(renewed), Err)
    }

    async fn revoke(&self, _: &Access) -> Result<(), ShopError> {
        self.answers.lock().unwrap().given_back += 1;
        Ok(())
    }
}

impl FakePlatform {
    fn batches(
        &self,
        access: &Access,
        found: Result<Vec<ShopOrder>, ShopError>,
        gone: Vec<Voided>,
    ) -> ShopStream<OrderBatch> {
        let checked = self.check(access).and(found);
        let mut answers = self.answers.lock().unwrap();
        let (refused, missing_scopes) = (std::mem::take(&mut answers.refused), answers.missing_scopes.clone());
        let again = std::mem::take(&mut answers.again);
        let batch = checked.map(|orders| OrderBatch {
            read: (orders.len() + refused.len()) as u64,
            orders,
            absent: gone.len() as u64,
            voided: gone,
            refused,
            again,
            missing_scopes,
            ..OrderBatch::default()
        });
        stream::iter([batch]).boxed()
    }
}

#[async_trait]
impl ShopReader for FakePlatform {
    fn platform(&self) -> Platform {
        self.provider
    }

    fn timing(&self) -> Timing {
        let answers = self.answers.lock().unwrap();
        Timing {
            overlap: Duration::minutes(10),
            lag: Duration::minutes(2),
            window: Duration::days(30),
            longest_window: Duration::days(30),
            history: Duration::days(90),
            reread: answers.reread,
            ads: answers.ads.as_ref().map(|_| AdTiming {
                history: Duration::days(89),
                settles: Duration::days(3),
                permission: Some("advertising"),
            }),
            token_lifetime: Duration::HOUR,
        }
    }

    async fn shop(&self, access: &Access) -> Result<(ShopInfo, OffsetDateTime), ShopError> {
        self.check(access)?;
        let (currency, ahead, shows_buyers) = {
            let answers = self.answers.lock().unwrap();
            (answers.currency.unwrap_or("EUR".parse().unwrap()), answers.ahead, answers.shows_buyers)
        };
        let info = ShopInfo {
            shop_id: access.shop_id.clone(),
            shop: "example.myshopify.com".to_owned(),
            currency,
            timezone: None,
            country: None,
            history_from: None,
            shows_buyers,
            missing_scopes: vec![],
        };
        Ok((info, *self.now.lock().unwrap() + ahead))
    }

    fn orders(&self, access: &Access, window: Window, purpose: Purpose, _: Currency) -> ShopStream<OrderBatch> {
        let found = {
            let mut answers = self.answers.lock().unwrap();
            answers.windows.push((window, purpose));
            let within = |at: OffsetDateTime| window.from <= at && at < window.until;
            let selected = |placed: &&Placed| match purpose {
                Purpose::BackFill => within(placed.order.order.at),
                Purpose::Changes => within(placed.changed_at),
            };
            let found: Vec<_> = answers.orders.iter().filter(selected).map(|placed| placed.order.clone()).collect();
            if answers.most.is_some_and(|most| found.len() > most) { Err(ShopError::TooMany) } else { Ok(found) }
        };
        self.batches(access, found, vec![])
    }

    fn orders_by_id(&self, access: &Access, ids: Vec<String>, _: Currency) -> ShopStream<OrderBatch> {
        let (found, gone) = {
            let mut answers = self.answers.lock().unwrap();
            answers.asked_for.push(ids.clone());
            let is_there = |id: &String| answers.orders.iter().any(|placed| placed.order.order.external_id == *id);
            let gone = ids
                .iter()
                .filter(|id| !is_there(id))
                .map(|id| Voided { external_id: id.clone(), is_there: false })
                .collect();
            let asked = |placed: &&Placed| ids.contains(&placed.order.order.external_id);
            let found = answers.orders.iter().filter(asked).map(|placed| placed.order.clone()).collect();
            (answers.by_number.pop_front().flatten().map_or(Ok(found), Err), gone)
        };
        self.batches(access, found, gone)
    }

    fn products(&self, access: &Access, _: Currency) -> ShopStream<ProductBatch> {
        let checked = self.check(access);
        let mut answers = self.answers.lock().unwrap();
        answers.catalogue_passes += 1;
        let products = answers.products.clone();
        let checked = answers.refused_catalogue.clone().map_or(checked, Err);
        let read = products.len() as u64;
        let batch = checked.map(|()| ProductBatch { read, products, ..answers.catalogue.clone() });
        stream::iter([batch].into_iter().chain(answers.broken_catalogue.clone().map(Err))).boxed()
    }

    async fn ad_spend(&self, access: &Access, from: Date, until: Date) -> Result<AdSpend, ShopError> {
        self.check(access)?;
        let mut answers = self.answers.lock().unwrap();
        answers.ads_asked_for.push((from, until));
        let (spend, clicks) = (answers.ads.clone().unwrap()?, answers.clicks);
        let row = |day| AdSpendRow {
            day,
            platform: "mercadolibre".to_owned(),
            campaign: "1".to_owned(),
            spend,
            impressions: None,
            clicks,
            detail: AdDetail::default(),
            line: 0,
            record: Vec::new(),
        };
        let days = std::iter::successors(Some(from), |day| day.next_day()).take_while(|day| *day <= until);
        let account = AdAccount { name: "mercadolibre".to_owned(), zone: None, tells_all: !self.provider.is_shop() };
        Ok(AdSpend { rows: days.map(row).collect(), account: Some(account), ..AdSpend::default() })
    }

    async fn subscribe(&self, _: &Access, address: &str) -> Result<(), ShopError> {
        self.answers.lock().unwrap().subscribed.push(address.to_owned());
        Ok(())
    }
}

impl HookVerifier for FakePlatform {
    fn platform(&self) -> Platform {
        self.provider
    }

    fn verify(&self, _: &dyn HookHeaders, _: &[u8], _: OffsetDateTime) -> Result<Hook, HookRefused> {
        Err(HookRefused::Forged)
    }
}

pub fn product(sku: &str) -> Product {
    Product {
        sku: sku.to_owned(),
        name: Some("Mug".to_owned()),
        category: None,
        price: Some(dec!(9.5)),
        cost: Some(dec!(4)),
        stock: Stock::Units(-3),
        on_order: None,
    }
}
