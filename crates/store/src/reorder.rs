//! [`ReorderStore`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use domain::{
    AccountId, StoreError,
    jobs::JobName,
    page::{Page, PageRequest},
    reorder::{Listing, ReorderStore, Status, Suggestion},
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    Store,
    error::{Failure, parse},
    inventory::last_run,
    schema::reorder_suggestions,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = reorder_suggestions, check_for_backend(diesel::pg::Pg))]
struct SuggestionRow {
    id: i64,
    inventory_item_id: i64,
    sku: String,
    qty_suggested: i64,
    reason: String,
    confidence: Decimal,
    forecast_days: i64,
    status: String,
    computed_at: OffsetDateTime,
}

impl TryFrom<SuggestionRow> for Suggestion {
    type Error = StoreError;
    fn try_from(row: SuggestionRow) -> Result<Self, StoreError> {
        let SuggestionRow {
            id,
            inventory_item_id,
            sku,
            qty_suggested,
            reason,
            confidence,
            forecast_days,
            status,
            computed_at,
        } = row;
        Ok(Self {
            id,
            inventory_item_id,
            sku,
            qty_suggested,
            reason,
            confidence,
            forecast_days,
            computed_at,
            status: parse(&status, "reorder status")?,
        })
    }
}

#[async_trait]
impl ReorderStore for Store {
    async fn list(&self, account: AccountId, status: Option<Status>, page: PageRequest) -> Result<Listing, StoreError> {
        let mut query = reorder_suggestions::table
            .filter(reorder_suggestions::account_id.eq(account.0))
            .order(reorder_suggestions::id.desc())
            .limit(page.limit + 1)
            .select(SuggestionRow::as_select())
            .into_boxed();
        if let Some(status) = status {
            query = query.filter(reorder_suggestions::status.eq(status.as_str()));
        }
        if let Some(cursor) = page.cursor {
            query = query.filter(reorder_suggestions::id.lt(cursor));
        }
        let (rows, generated_at) = self
            .run::<_, Failure>(async |connection| {
                connection
                    .build_transaction()
                    .read_only()
                    .repeatable_read()
                    .run(async |connection| {
                        let rows = query.load(connection).await?;
                        Ok::<_, Failure>((rows, last_run(connection, account, JobName::SmartReorder).await?))
                    })
                    .await
            })
            .await?;
        let suggestions = rows.into_iter().map(Suggestion::try_from).collect::<Result<_, _>>()?;
        Ok(Listing { page: Page::cut(suggestions, page.limit, |suggestion: &Suggestion| suggestion.id), generated_at })
    }
}
