//! [`CustomerStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    accounts::Platform,
    customers::{Customer, CustomerStore, Segment, SegmentFigures},
    freshness::Dated,
    jobs::JobName,
    page::{Page, PageRequest},
};
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    Store,
    error::{Failure, parse},
    freshness,
    schema::customers,
};

/// Rows that a stream reads at a time: enough to make the round trips cheap, few enough to keep memory flat.
const STREAM_BATCH: i64 = 2_000;

#[derive(Queryable, Selectable)]
#[diesel(table_name = customers, check_for_backend(diesel::pg::Pg))]
struct CustomerRow {
    id: i64,
    email: Option<String>,
    name: Option<String>,
    source: String,
    external_id: String,
    city: Option<String>,
    country: Option<String>,
    orders_count: i64,
    revenue_total: Decimal,
    ltv_estimate: Decimal,
    aov: Decimal,
    segment: String,
    churn_score: Option<Decimal>,
    last_purchase_at: Option<OffsetDateTime>,
    first_purchase_at: Option<OffsetDateTime>,
    created_at: OffsetDateTime,
}

impl TryFrom<CustomerRow> for Customer {
    type Error = StoreError;
    fn try_from(row: CustomerRow) -> Result<Self, StoreError> {
        let CustomerRow {
            id,
            email,
            name,
            source,
            external_id,
            city,
            country,
            orders_count,
            revenue_total,
            ltv_estimate,
            aov,
            segment,
            churn_score,
            last_purchase_at,
            first_purchase_at,
            created_at,
        } = row;
        Ok(Self {
            id,
            email,
            name,
            source: parse(&source, "platform")?,
            external_id,
            city,
            country,
            orders_count,
            revenue_total,
            ltv_estimate,
            aov,
            segment: parse(&segment, "segment")?,
            churn_score,
            last_purchase_at,
            first_purchase_at,
            created_at,
        })
    }
}

#[async_trait]
impl CustomerStore for Store {
    async fn page(
        &self,
        account: AccountId,
        source: Option<Platform>,
        page: PageRequest,
    ) -> Result<Dated<Page<Customer>>, StoreError> {
        let (freshness, found) = self
            .read(account, async |connection| {
                let freshness = freshness::of(connection, account, JobName::CustomerMetrics).await?;
                Ok((freshness, rows(connection, account, source, page).await?))
            })
            .await?;
        Ok(Dated { found, freshness })
    }

    async fn stream(
        &self,
        account: AccountId,
        source: Option<Platform>,
        cursor: Option<i64>,
    ) -> Result<Dated<BoxStream<'static, Result<Customer, StoreError>>>, StoreError> {
        // Pages one after the other, so that no connection is held while a slow client reads.
        let first = PageRequest { limit: STREAM_BATCH, cursor };
        let Dated { found: first, freshness } = self.page(account, source, first).await?;
        let store = self.clone();
        let pages = stream::try_unfold(Some(first), move |page| {
            let store = store.clone();
            async move {
                let Some(Page { items, next_cursor }) = page else { return Ok::<_, StoreError>(None) };
                let next = match next_cursor {
                    Some(_) => Some(store.batch(account, source, next_cursor).await?),
                    None => None,
                };
                Ok(Some((items, next)))
            }
        });
        let rows = pages.flat_map(|page| {
            let (items, error) = match page {
                Ok(items) => (items, None),
                Err(error) => (Vec::new(), Some(error)),
            };
            stream::iter(items.into_iter().map(Ok).chain(error.map(Err)))
        });
        Ok(Dated { found: rows.boxed(), freshness })
    }

    async fn segments(
        &self,
        account: AccountId,
        active_since: OffsetDateTime,
    ) -> Result<Dated<Vec<SegmentFigures>>, StoreError> {
        let (freshness, rows) = self
            .read(account, async |connection| {
                let freshness = freshness::of(connection, account, JobName::CustomerMetrics).await?;
                let rows: Vec<SegmentRow> = Segments { active_since, account: account.0 }.load(connection).await?;
                Ok((freshness, rows))
            })
            .await?;
        let mut figures = rows.into_iter().map(figures_of).collect::<Result<Vec<_>, StoreError>>()?;
        let absent = Segment::ALL.iter().filter(|segment| figures.iter().all(|known| known.segment != **segment));
        figures.extend(absent.map(|segment| SegmentFigures::empty(*segment)).collect::<Vec<_>>());
        figures.sort_unstable_by_key(|figures| figures.segment);
        Ok(Dated { found: figures, freshness })
    }
}

impl Store {
    /// The next rows of a stream.
    async fn batch(
        &self,
        account: AccountId,
        source: Option<Platform>,
        cursor: Option<i64>,
    ) -> Result<Page<Customer>, StoreError> {
        let page = PageRequest { limit: STREAM_BATCH, cursor };
        Ok(self.read(account, async |connection| rows(connection, account, source, page).await).await?)
    }
}

async fn rows(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    source: Option<Platform>,
    page: PageRequest,
) -> Result<Page<Customer>, Failure> {
    let mut query = customers::table
        .filter(customers::account_id.eq(account.0))
        .order(customers::id.desc())
        .limit(page.limit + 1)
        .select(CustomerRow::as_select())
        .into_boxed();
    if let Some(source) = source {
        query = query.filter(customers::source.eq(source.as_str()));
    }
    if let Some(cursor) = page.cursor {
        query = query.filter(customers::id.lt(cursor));
    }
    let rows = query.load(connection).await?;
    let customers = rows.into_iter().map(Customer::try_from).collect::<Result<_, _>>()?;
    Ok(Page::cut(customers, page.limit, |customer: &Customer| customer.id))
}

statement!(
    /// The customers of each segment, summed up. Segments without any are not there.
    Segments(active_since: OffsetDateTime => Timestamptz, account: i64 => BigInt)
        -> (Text, BigInt, BigInt, BigInt, Numeric, Nullable<Numeric>, Nullable<Numeric>) = "
    SELECT segment, count(*), count(*) FILTER (WHERE last_purchase_at >= ?), sum(orders_count)::bigint,
        sum(revenue_total), round(avg(ltv_estimate), 6), round(avg(churn_score), 6)
    FROM customers WHERE account_id = ? GROUP BY segment"
);

type SegmentRow = (String, i64, i64, i64, Decimal, Option<Decimal>, Option<Decimal>);

fn figures_of(row: SegmentRow) -> Result<SegmentFigures, StoreError> {
    let (segment, customers, active, orders_count, revenue_total, avg_ltv_estimate, avg_churn_score) = row;
    Ok(SegmentFigures {
        segment: parse(&segment, "segment")?,
        customers,
        active,
        orders_count,
        revenue_total,
        avg_ltv_estimate,
        avg_churn_score,
    })
}
