//! A fresh database with two accounts, rows to import, and plain SQL to look at the outcome.

use domain::{
    AccountId, UserId,
    accounts::{AccountStore, NewUser, Plan, Platform},
    imports::{
        BrokenSource, Buyer, DocumentKind, DocumentPart, DocumentSummary, FileDocument, FileSummary, ImportError,
        ImportStore, Line, Rows, Target,
    },
};
use futures_util::{StreamExt, stream};
use rust_decimal::Decimal;
use store::Importer;
use testkit::TestDb;
use time::{OffsetDateTime, macros::datetime};
use tokio_postgres::{Client, types::FromSqlOwned};

pub const NOW: OffsetDateTime = datetime!(2026-05-01 12:00 UTC);

pub struct Shop {
    pub database: TestDb,
    pub importer: Importer,
    pub client: Client,
    pub account: AccountId,
    pub other: AccountId,
}

impl Shop {
    /// Accounts in São Paulo, three hours behind UTC.
    pub async fn open() -> Self {
        let database = TestDb::new().await.unwrap();
        let store = database.store().unwrap();
        let user = NewUser {
            id: UserId::generate((0..=255).cycle()),
            name: "A shop".to_owned(),
            currency: "BRL".parse().unwrap(),
            timezone: "America/Sao_Paulo".parse().unwrap(),
            locale: domain::texts::Locale::ENGLISH,
            plan: Plan::Free,
            now: NOW,
        };
        let accounts = store.create(user).await.unwrap();
        let client = database.client().await.unwrap();
        Self {
            importer: Importer::new(database.connect().unwrap()).with_nice_ratio(0),
            client,
            account: accounts[0].id,
            other: accounts[1].id,
            database,
        }
    }

    pub fn target(&self) -> Target {
        Target { account: self.account, now: NOW, dry_run: false }
    }

    pub async fn import(&self, parts: Vec<DocumentPart>) -> DocumentSummary {
        self.importer.documents(self.target(), Platform::Shopify, documents(parts)).await.unwrap().documents
    }

    pub async fn try_import(&self, parts: Rows<FileDocument>) -> Result<FileSummary, ImportError> {
        self.importer.documents(self.target(), Platform::Shopify, parts).await
    }

    /// The one value that a query over this account (`$1`) gives.
    pub async fn one<T: FromSqlOwned>(&self, sql: &str) -> T {
        self.client.query_one(sql, &[&self.account.0]).await.unwrap().get(0)
    }

    /// The rows of a query over this account, one text each.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let rows = self.client.query(sql, &[&self.account.0]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    /// Every table of the account that an import may write, as text: two equal images are two equal states. Row
    /// versions are in it, so a row that was written again with the same values shows.
    pub async fn image(&self) -> String {
        let mut image = String::new();
        for table in [
            "customers",
            "products",
            "product_costs",
            "stock_levels",
            "orders",
            "order_lines",
            "refunds",
            "refund_lines",
            "ad_spend",
            "ad_entities",
            "ad_days",
            "ad_coverage",
            "creatives",
            "fx_rates",
            "expenses",
        ] {
            let sql = format!(
                "SELECT coalesce(string_agg(t.xmin || ' ' || t::text, E'\\n' ORDER BY t::text), '') \
                FROM {table} t WHERE account_id = $1"
            );
            image += &format!("{table}\n{}\n", self.one::<String>(&sql).await);
        }
        image
    }

    pub async fn days(&self) -> Vec<String> {
        self.texts("SELECT day::text FROM touched_days WHERE account_id = $1 ORDER BY day").await
    }

    /// What the jobs do once they have summed the days up.
    pub async fn forget_days(&self) {
        self.client.execute("DELETE FROM touched_days WHERE account_id = $1", &[&self.account.0]).await.unwrap();
    }
}

/// The rows in batches of two.
pub fn rows<T: Clone + Send + 'static>(rows: Vec<T>) -> Rows<T> {
    let batches: Vec<Result<Vec<T>, BrokenSource>> = rows.chunks(2).map(|batch| Ok(batch.to_vec())).collect();
    stream::iter(batches).boxed()
}

pub fn documents(parts: Vec<DocumentPart>) -> Rows<FileDocument> {
    rows(parts.into_iter().map(FileDocument::from).collect())
}

pub fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

pub fn line(sku: &str, quantity: i64, unit_price: &str) -> Line {
    Line {
        sku: sku.to_owned(),
        is_product: true,
        name: Some(format!("Name of {sku}")),
        category: None,
        quantity,
        unit_price: decimal(unit_price),
        unit_cost: None,
    }
}

pub fn order(id: &str, at: OffsetDateTime, buyer: &str, lines: Vec<Line>) -> DocumentPart {
    let buyer = (!buyer.is_empty()).then(|| Buyer { external_id: buyer.to_owned(), ..Buyer::default() });
    DocumentPart {
        kind: DocumentKind::Order,
        external_id: id.to_owned(),
        at,
        buyer,
        country: None,
        fees: None,
        shipping: None,
        lines,
    }
}

pub fn refund(id: &str, at: OffsetDateTime, buyer: &str, lines: Vec<Line>) -> DocumentPart {
    DocumentPart { kind: DocumentKind::Refund, ..order(id, at, buyer, lines) }
}
