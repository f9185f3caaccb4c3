//! [`CustomerStore`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use domain::{
    AccountId, StoreError,
    accounts::Platform,
    customers::{Customer, CustomerStore},
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
    ) -> Result<Page<Customer>, StoreError> {
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
        let rows = self.run::<_, Failure>(async |connection| Ok(query.load(connection).await?)).await?;
        let customers = rows.into_iter().map(Customer::try_from).collect::<Result<_, _>>()?;
        Ok(Page::cut(customers, page.limit, |customer: &Customer| customer.id))
    }

    async fn stream(
        &self,
        account: AccountId,
        source: Option<Platform>,
        cursor: Option<i64>,
    ) -> Result<BoxStream<'static, Result<Customer, StoreError>>, StoreError> {
        // Pages one after the other, so that no connection is held while a slow client reads.
        let first = self.page(account, source, PageRequest { limit: STREAM_BATCH, cursor }).await?;
        let store = self.clone();
        let pages = stream::try_unfold(Some(first), move |page| {
            let store = store.clone();
            async move {
                let Some(Page { items, next_cursor }) = page else { return Ok::<_, StoreError>(None) };
                let next = match next_cursor {
                    Some(_) => {
                        let request = PageRequest { limit: STREAM_BATCH, cursor: next_cursor };
                        Some(store.page(account, source, request).await?)
                    }
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
        Ok(rows.boxed())
    }
}
