//! What is read of a shop goes the way of an imported file: in parts that are imported while the next one is read.
//!
//! A part is one transaction. What is imported before an error stays: it is as true as it would be in a file, and the
//! window is read again.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::Arc,
};

use domain::{
    AccountId, StoreError,
    accounts::Account,
    imports::{
        AdSource, ImportError, ImportStore, MAX_QUANTITY, ProductRow, Rows, ShopCatalogue, ShopDocument, ShopSource,
        Target,
    },
    integrations::Fact,
    shops::{
        AdSpend, Calls, OrderBatch, Product, ProductBatch, Refused, ShopError, ShopOrder, ShopStream, Stock, Voided,
        sync::{Counts, MAX_REFUSALS, Refusal},
    },
};
use futures_util::{StreamExt, stream};
use time::{Date, OffsetDateTime};
use tokio::sync::mpsc;

use super::{
    copies::Copies,
    documents::{check_id, check_optional, documents, make_unknown, shown},
};

/// Orders that are imported at a time: enough to be quick, few enough to be held in memory.
const ORDERS: usize = 500;
/// Products that are imported at a time.
const PRODUCTS: usize = 5_000;

/// Where what is read goes, and what the account makes of it.
#[derive(Clone)]
pub struct Importing {
    pub imports: Arc<dyn ImportStore>,
    pub account: Account,
    pub source: ShopSource,
    /// What does not count here, as it is read where it was sold.
    pub copies: Copies,
    /// What the connection alone says for the account.
    pub owner_of: Vec<Fact>,
    pub now: OffsetDateTime,
}

/// What came of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tally {
    pub counts: Counts,
    /// Orders that were asked for by number and are not there.
    pub absent: u64,
    /// The newest [`MAX_REFUSALS`].
    pub refusals: VecDeque<Refusal>,
    /// Orders to be read again later, as the platform fails to show them whole.
    pub again: BTreeSet<String>,
    /// Permissions that were missed on the way, and without which the rest was read.
    pub missing_scopes: BTreeSet<String>,
}

/// Why a stream was not imported to its end.
#[derive(Debug, thiserror::Error)]
pub enum ImportFailure {
    #[error(transparent)]
    Shop(#[from] ShopError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ImportError> for ImportFailure {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Store(error) => Self::Store(error),
            // A part is complete before it is handed over, and accounts are not removed.
            ImportError::Source(_) | ImportError::UnknownAccount => Self::Store(StoreError::Internal(error.into())),
        }
    }
}

impl Tally {
    /// Both together.
    pub fn with(mut self, other: Self) -> Self {
        let (Counts { read, stored, refused, voided, calls, waited_ms }, mut newer) = (other.counts, other.refusals);
        self.absent += other.absent;
        self.missing_scopes.extend(other.missing_scopes);
        self.again.extend(other.again);
        let counts = &mut self.counts;
        counts.read += read;
        counts.stored += stored;
        counts.refused += refused;
        counts.voided += voided;
        counts.calls += calls;
        counts.waited_ms += waited_ms;
        self.refusals.append(&mut newer);
        self.refusals.drain(..self.refusals.len().saturating_sub(MAX_REFUSALS));
        self
    }

    fn called(&mut self, Calls { made, waited }: Calls) {
        self.counts.calls += i64::try_from(made).unwrap_or(i64::MAX);
        self.counts.waited_ms += i64::try_from(waited.as_millis()).unwrap_or(i64::MAX);
    }

    fn refuse(&mut self, kind: &str, external_id: String, reason: String) {
        self.counts.refused += 1;
        if self.refusals.len() == MAX_REFUSALS {
            self.refusals.pop_front();
        }
        let external_id = shown(external_id).unwrap_or_default();
        self.refusals.push_back(Refusal { kind: kind.to_owned(), external_id, reason });
    }

    fn refuse_all(&mut self, refused: Vec<Refused>) {
        for Refused { kind, external_id, reason } in refused {
            self.refuse(kind, external_id, reason);
        }
    }
}

impl Importing {
    fn target(&self) -> Target {
        let account: AccountId = self.account.id;
        Target { account, now: self.now, dry_run: false }
    }

    /// Imports orders with their refunds.
    pub async fn orders(&self, orders: ShopStream<OrderBatch>) -> Result<Tally, ImportFailure> {
        let (sender, mut receiver) = mpsc::channel(1);
        let storing = async {
            let mut stored = 0;
            while let Some(part) = receiver.recv().await {
                let summary = self.imports.shop_documents(self.target(), self.source, one(part)).await?;
                let (orders, refunds) = (summary.documents.orders, summary.documents.refunds);
                stored += orders.new + orders.changed + refunds.new + refunds.changed;
            }
            Ok::<_, ImportFailure>(stored)
        };
        let (mut tally, stored) = tokio::try_join!(self.read_orders(orders, sender), storing)?;
        tally.counts.stored = stored;
        Ok(tally)
    }

    async fn read_orders(
        &self,
        mut orders: ShopStream<OrderBatch>,
        parts: mpsc::Sender<Vec<ShopDocument>>,
    ) -> Result<Tally, ImportFailure> {
        let (mut tally, mut part) = (Tally::default(), Part::default());
        while let Some(batch) = orders.next().await {
            let OrderBatch { calls, read, orders, voided, absent, refused, again, missing_scopes } = batch?;
            tally.called(calls);
            tally.absent += absent;
            tally.missing_scopes.extend(missing_scopes);
            tally.again.extend(again.into_iter().filter(|id| check_id("", id).is_ok()));
            tally.counts.read += i64::try_from(read).unwrap_or(i64::MAX);
            tally.refuse_all(refused);
            for order in orders {
                self.add_order(order, &mut tally, &mut part);
            }
            let named = |voided: &Voided| check_id("", &voided.external_id).is_ok();
            for Voided { external_id, is_there } in voided.into_iter().filter(named) {
                tally.counts.voided += 1;
                part.add(gone(external_id, is_there));
            }
            // The other end only goes away with an error, which is the one that counts.
            if part.documents.len() >= ORDERS && parts.send(part.take()).await.is_err() {
                return Ok(tally);
            }
        }
        if !part.documents.is_empty() {
            let _ = parts.send(part.take()).await;
        }
        Ok(tally)
    }

    fn add_order(&self, mut order: ShopOrder, tally: &mut Tally, part: &mut Part) {
        let order_id = order.order.external_id.clone();
        if self.copies.hold(&order) {
            tally.counts.voided += 1;
            return part.add(gone(order_id, true));
        }
        let is_whole = !order.refund_unknown;
        if !is_whole {
            let reason = "money went back, and the platform does not say how much";
            tally.refuse("refund", order_id.clone(), reason.to_owned());
        }
        // What a line says a unit cost would overwrite what the connection that owns costs says.
        if !self.owns(Fact::Cost) {
            let refunded = order.refunds.iter_mut().flat_map(|refund| refund.lines.iter_mut());
            order.order.lines.iter_mut().chain(refunded).for_each(|line| line.unit_cost = None);
        }
        match documents(order, &self.account.timezone) {
            Ok(parts) => part.add(ShopDocument { order_id, parts, is_whole, is_there: true }),
            Err(reason) => tally.refuse("order", order_id, reason),
        }
    }

    /// Imports what was spent on ads from the day `first` to `last`: few enough rows to be held in memory. No row is left out, as
    /// the rest of its day would pass for all that was spent; what else it says that cannot be is unknown.
    pub async fn ad_spend(&self, spend: AdSpend, first: Date, last: Date) -> Result<Tally, ImportFailure> {
        let AdSpend { calls, mut rows, refused, account } = spend;
        let mut tally = Tally::default();
        tally.called(calls);
        tally.refuse_all(refused);
        tally.counts.read = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        for row in &mut rows {
            let unknown = make_unknown(row);
            if !unknown.is_empty() {
                let ad = if row.detail.ad.is_empty() { &row.campaign } else { &row.detail.ad };
                let reason = format!("its {} of {} cannot be, and count as unknown", unknown.join(", "), row.day);
                tally.refuse("ad", ad.clone(), reason);
            }
        }
        if let Some(account) = account {
            let source = AdSource::Platform { account, first, last };
            let changes = self.imports.ad_spend(self.target(), source, one(rows)).await?.rows.rows;
            tally.counts.stored = changes.new + changes.changed;
        }
        Ok(tally)
    }

    /// Imports a catalogue, and once it is read to its end what is not stocked (any more).
    pub async fn products(&self, products: ShopStream<ProductBatch>) -> Result<Tally, ImportFailure> {
        let (sender, mut receiver) = mpsc::channel(1);
        let storing = async {
            let mut stored = 0;
            while let Some(rows) = receiver.recv().await {
                let connection = self.source.integration;
                let summary = self.imports.shop_products(self.target(), connection, one(rows)).await?;
                stored += summary.rows.new + summary.rows.changed;
            }
            Ok::<_, ImportFailure>(stored)
        };
        let ((mut tally, catalogue), stored) = tokio::try_join!(self.read_products(products, sender), storing)?;
        tally.counts.stored = stored + self.not_stocked(catalogue).await?;
        Ok(tally)
    }

    /// Ends the stock of what is not stocked, and gives of how many.
    async fn not_stocked(&self, mut catalogue: ShopCatalogue) -> Result<i64, ImportFailure> {
        let ShopCatalogue { closed, uncounted, others, is_whole } = &mut catalogue;
        for skus in [&mut *closed, &mut *uncounted, others] {
            skus.retain(|sku| check_id("", sku).is_ok());
        }
        let ends_any = *is_whole || !closed.is_empty() || !uncounted.is_empty();
        if !ends_any || !self.owns(Fact::Stock) {
            return Ok(0);
        }
        Ok(self.imports.not_stocked(self.target(), self.source.integration, catalogue).await?)
    }

    /// Gives with the tally what is there.
    async fn read_products(
        &self,
        mut products: ShopStream<ProductBatch>,
        parts: mpsc::Sender<Vec<ProductRow>>,
    ) -> Result<(Tally, ShopCatalogue), ImportFailure> {
        let (mut tally, mut rows) = (Tally::default(), Vec::new());
        let (mut catalogue, mut has_missed) = (ShopCatalogue::default(), false);
        while let Some(batch) = products.next().await {
            let ProductBatch { calls, read, products, closed, left_out, has_unread, refused } = batch?;
            tally.called(calls);
            tally.counts.read += i64::try_from(read).unwrap_or(i64::MAX);
            tally.refuse_all(refused);
            catalogue.closed.extend(closed);
            catalogue.others.extend(left_out);
            has_missed |= has_unread;
            for product in products {
                let (sku, stock) = (product.sku.clone(), product.stock);
                match self.row(product) {
                    Ok(row) => rows.push(row),
                    Err(reason) => tally.refuse("product", sku.clone(), reason),
                }
                match stock {
                    Stock::NotStocked => catalogue.uncounted.push(sku),
                    Stock::Units(_) | Stock::Unsaid => catalogue.others.push(sku),
                }
            }
            if rows.len() >= PRODUCTS && parts.send(std::mem::take(&mut rows)).await.is_err() {
                return Ok((tally, catalogue));
            }
        }
        if !rows.is_empty() {
            let _ = parts.send(rows).await;
        }
        // A shop without anything is rather one that shows nothing.
        catalogue.is_whole = !has_missed && tally.counts.read > 0;
        Ok((tally, catalogue))
    }

    /// Whether this connection is the one that says it for the account.
    fn owns(&self, fact: Fact) -> bool {
        self.owner_of.contains(&fact)
    }

    /// A product as the account takes it from this connection.
    fn row(&self, product: Product) -> Result<ProductRow, String> {
        let Product { sku, name, category, price, cost, stock, on_order } = product;
        let stock = stock.units();
        check_id("its SKU", &sku)?;
        check_optional("its price", price)?;
        check_optional("its cost", cost)?;
        let within = |units: &i64| (-MAX_QUANTITY..=MAX_QUANTITY).contains(units);
        if !stock.iter().chain(&on_order).all(within) {
            return Err("its stock is out of range".to_owned());
        }
        let today = self.account.timezone.day_of(self.now);
        Ok(ProductRow {
            sku,
            name: name.and_then(shown),
            category: category.and_then(shown),
            price,
            cost: cost.filter(|_| self.owns(Fact::Cost)).map(|cost| (cost, today)),
            stock: stock.filter(|_| self.owns(Fact::Stock)),
            // Where more came in than was announced, nothing more is on its way.
            on_order: on_order.filter(|_| self.owns(Fact::Stock)).map(|units| units.max(0)),
            lead_time_days: None,
            pack_size: None,
            min_order_qty: None,
        })
    }
}

/// Orders that are imported together, each once: as it was read last.
#[derive(Default)]
struct Part {
    documents: Vec<ShopDocument>,
    places: HashMap<String, usize>,
}

impl Part {
    fn add(&mut self, document: ShopDocument) {
        let place = self.places.get(&document.order_id).and_then(|place| self.documents.get_mut(*place));
        match place {
            Some(known) => *known = document,
            None => {
                self.places.insert(document.order_id.clone(), self.documents.len());
                self.documents.push(document);
            }
        }
    }

    fn take(&mut self) -> Vec<ShopDocument> {
        self.places.clear();
        std::mem::take(&mut self.documents)
    }
}

/// An order that does not count.
const fn gone(order_id: String, is_there: bool) -> ShopDocument {
    ShopDocument { order_id, parts: Vec::new(), is_whole: true, is_there }
}

fn one<T: Send + 'static>(part: Vec<T>) -> Rows<T> {
    stream::once(std::future::ready(Ok(part))).boxed()
}
