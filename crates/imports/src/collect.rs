//! A store that keeps what it is given, to see what a file gives.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use domain::{
    AccountId, IntegrationId,
    accounts::Platform,
    imports::{
        AdSource, AdSpendRow, AdSpendSummary, DocumentPart, ExpenseRow, FileDocument, FileSummary, ImportError,
        ImportStore, ProductRow, RateRow, RowSummary, Rows, ShopCatalogue, ShopDocument, ShopSource, ShopSummary,
        StockRow, StockSummary, Target,
    },
};
use futures_util::{StreamExt, TryStreamExt};
use time::macros::datetime;

use super::{Audience, Counts, Failure, FileOptions, Form, OrderOptions, Reject, Rejects, import_orders};

#[derive(Default)]
pub struct Collect {
    pub parts: Mutex<Vec<DocumentPart>>,
    /// Orders, with the numbers that their platform knows them by.
    pub numbers: Mutex<Vec<(String, String)>>,
    pub products: Mutex<Vec<ProductRow>>,
    pub stock: Mutex<Vec<StockRow>>,
    pub ad_spend: Mutex<Vec<AdSpendRow>>,
    pub rates: Mutex<Vec<RateRow>>,
    pub expenses: Mutex<Vec<ExpenseRow>>,
}

async fn collect<T>(into: &Mutex<Vec<T>>, mut rows: Rows<T>) -> Result<(), ImportError> {
    while let Some(batch) = rows.next().await {
        into.lock().unwrap().extend(batch?);
    }
    Ok(())
}

#[async_trait]
impl ImportStore for Collect {
    async fn documents(
        &self,
        _: Target,
        _: Platform,
        documents: Rows<FileDocument>,
    ) -> Result<FileSummary, ImportError> {
        let all = Mutex::default();
        collect(&all, documents).await?;
        let (mut parts, mut refused, mut told) = (Vec::new(), Vec::new(), BTreeMap::<String, i64>::new());
        for document in all.into_inner().unwrap() {
            match document {
                FileDocument::Part(part) => parts.push(part),
                FileDocument::Refused(order_id) => refused.push((order_id, 0)),
                FileDocument::Numbered { order_id, number, lines } => {
                    *told.entry(order_id.clone()).or_default() += lines;
                    self.numbers.lock().unwrap().push((order_id, number));
                }
            }
        }
        for (order_id, lines) in &mut refused {
            let is_of = |part: &DocumentPart| {
                part.external_id == *order_id || part.external_id.starts_with(&format!("{order_id}/"))
            };
            let counted = || parts.iter().filter(|part| is_of(part)).map(|part| part.lines.len() as i64).sum::<i64>();
            *lines = told.get(order_id.as_str()).copied().unwrap_or_else(counted);
            parts.retain(|part| !is_of(part));
        }
        self.parts.lock().unwrap().extend(parts);
        Ok(FileSummary { refused, ..FileSummary::default() })
    }

    async fn shop_documents(
        &self,
        _: Target,
        _: ShopSource,
        documents: Rows<ShopDocument>,
    ) -> Result<ShopSummary, ImportError> {
        let parts = documents.map_ok(|batch| batch.into_iter().flat_map(|document| document.parts).collect());
        collect(&self.parts, parts.boxed()).await.map(|()| ShopSummary::default())
    }

    async fn products(&self, _: Target, rows: Rows<ProductRow>) -> Result<RowSummary, ImportError> {
        collect(&self.products, rows).await.map(|()| RowSummary::default())
    }

    async fn shop_products(
        &self,
        _: Target,
        _: IntegrationId,
        rows: Rows<ProductRow>,
    ) -> Result<RowSummary, ImportError> {
        collect(&self.products, rows).await.map(|()| RowSummary::default())
    }

    async fn not_stocked(&self, _: Target, _: IntegrationId, _: ShopCatalogue) -> Result<i64, ImportError> {
        Ok(0)
    }

    async fn stock(&self, _: Target, rows: Rows<StockRow>) -> Result<StockSummary, ImportError> {
        collect(&self.stock, rows).await.map(|()| StockSummary::default())
    }

    async fn ad_spend(&self, _: Target, _: AdSource, rows: Rows<AdSpendRow>) -> Result<AdSpendSummary, ImportError> {
        collect(&self.ad_spend, rows).await.map(|()| AdSpendSummary::default())
    }

    async fn rates(&self, _: Target, rows: Rows<RateRow>) -> Result<RowSummary, ImportError> {
        collect(&self.rates, rows).await.map(|()| RowSummary::default())
    }

    async fn expenses(&self, _: Target, rows: Rows<ExpenseRow>) -> Result<RowSummary, ImportError> {
        collect(&self.expenses, rows).await.map(|()| RowSummary::default())
    }
}

/// What an order file gives.
#[derive(Debug)]
pub struct Outcome {
    pub parts: Vec<DocumentPart>,
    pub numbers: Vec<(String, String)>,
    pub counts: Counts,
    pub rejects: Vec<Reject>,
}

pub const TARGET: Target = Target { account: AccountId(1), now: datetime!(2027-01-01 0:00 UTC), dry_run: false };

pub fn file() -> FileOptions {
    FileOptions {
        map: BTreeMap::new(),
        delimiter: None,
        date_order: None,
        decimal_comma: false,
        latin1: false,
        zone: "Europe/London".parse().unwrap(),
        account_zone: "Europe/London".parse().unwrap(),
        currency: "GBP".parse().unwrap(),
        audience: Audience::Command,
    }
}

pub fn order_options(prefix: Option<&str>) -> OrderOptions {
    OrderOptions {
        source: Platform::Shopify,
        cancellation_prefix: prefix.map(str::to_owned),
        non_products: vec!["post".to_owned()],
        currency: "GBP".parse().unwrap(),
    }
}

/// Collects refused lines.
pub fn rejects() -> (Arc<Mutex<Vec<Reject>>>, Rejects) {
    let list = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&list);
    let take = move |_: &Form, reject| {
        sink.lock().unwrap().push(reject);
        Ok(())
    };
    (list, Box::new(take))
}

pub async fn read_orders(
    data: impl Into<Vec<u8>>,
    file: FileOptions,
    orders: OrderOptions,
) -> Result<Outcome, Failure> {
    let store = Collect::default();
    let (list, sink) = rejects();
    let reader = std::io::Cursor::new(data.into());
    let report = import_orders(&store, TARGET, file, orders, reader, sink).await?;
    let rejects = list.lock().unwrap().clone();
    let (parts, numbers) = (store.parts.into_inner().unwrap(), store.numbers.into_inner().unwrap());
    Ok(Outcome { parts, numbers, counts: report.read, rejects })
}
