//! [`ReorderStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    pg::Pg,
    prelude::*,
    result::{DatabaseErrorKind, Error},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, InventoryItemId, StoreError, SuggestionId,
    audit::Entry,
    jobs::JobName,
    page::{Page, PageRequest},
    reorder::{Basis, ChangeError, Listing, ReorderStore, Status, Suggestion},
};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    analytics::freshness::{self, Found, WithFreshness},
    database::{
        error::{parse, store_error},
        query::RunQueryDsl,
        transact::{TransactionError, was_conflict},
    },
    people::audit,
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
    basis: Option<Value>,
    product_name: Option<String>,
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
            basis,
            product_name,
        } = row;
        Ok(Self {
            id: SuggestionId(id),
            inventory_item_id: InventoryItemId(inventory_item_id),
            sku,
            product_name,
            qty_suggested,
            reason,
            confidence,
            forecast_days,
            basis: basis.map(kept_basis).transpose()?,
            computed_at,
            status: parse(&status, "reorder status")?,
        })
    }
}

/// The numbers that a suggestion came from.
pub(super) fn kept_basis(basis: Value) -> Result<Basis, StoreError> {
    serde_json::from_value(basis)
        .map_err(|error| StoreError::Internal(format!("the basis of a suggestion: {error}").into()))
}

#[async_trait]
impl ReorderStore for Store {
    async fn pending_of(&self, account: AccountId, item: InventoryItemId) -> Result<Option<Suggestion>, StoreError> {
        let row: Option<SuggestionRow> = self
            .read(account, async |connection| {
                Ok(reorder_suggestions::table
                    .filter(reorder_suggestions::account_id.eq(account.0))
                    .filter(reorder_suggestions::inventory_item_id.eq(item.0))
                    .filter(reorder_suggestions::status.eq(Status::Pending.as_str()))
                    .select(SuggestionRow::as_select())
                    .first(connection)
                    .await
                    .optional()?)
            })
            .await?;
        row.map(Suggestion::try_from).transpose()
    }

    async fn list(&self, account: AccountId, status: Option<Status>, page: PageRequest) -> Result<Listing, StoreError> {
        const JOB: JobName = JobName::SmartReorder;
        let found = self
            .read(account, async |connection| {
                let mut query = reorder_suggestions::table
                    .filter(reorder_suggestions::account_id.eq(account.0))
                    .order(reorder_suggestions::id.desc())
                    .limit(page.limit + 1)
                    .select(<SuggestionRow as Selectable<Pg>>::construct_selection())
                    .into_boxed();
                if let Some(status) = status {
                    query = query.filter(reorder_suggestions::status.eq(status.as_str()));
                }
                if let Some(cursor) = page.cursor {
                    query = query.filter(reorder_suggestions::id.lt(cursor));
                }
                Ok(WithFreshness::new(JOB, query).load::<Found<SuggestionRow>>(connection).await?)
            })
            .await?;
        let (freshness, _, rows) = freshness::apart(JOB, found);
        let suggestions = rows.into_iter().map(Suggestion::try_from).collect::<Result<_, _>>()?;
        Ok(Listing { page: Page::cut(suggestions, page.limit, |suggestion: &Suggestion| suggestion.id.0), freshness })
    }

    async fn change(
        &self,
        account: AccountId,
        id: SuggestionId,
        to: Status,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Suggestion, ChangeError> {
        let changed = self
            .transact::<_, ChangeFailure>(async |connection| change(connection, account, id.0, to, note, now).await)
            .await;
        changed.map_err(|ChangeFailure(error)| error)
    }
}

/// Reads the suggestion under a lock, so that of two changes at once the second sees what the first made of it.
async fn change(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: i64,
    to: Status,
    note: Option<Entry>,
    now: OffsetDateTime,
) -> Result<Suggestion, ChangeFailure> {
    let target = reorder_suggestions::table.find((account.0, id));
    let row: Option<SuggestionRow> =
        target.select(SuggestionRow::as_select()).for_update().first(connection).await.optional()?;
    let found = Suggestion::try_from(row.ok_or(ChangeFailure(ChangeError::NotFound))?)?;
    if !found.status.may_become(to) {
        return Err(ChangeFailure(ChangeError::Refused(found.status)));
    }
    if found.status != to {
        diesel::update(target).set(reorder_suggestions::status.eq(to.as_str())).execute(connection).await?;
        let change = (Some(json!({ "status": found.status })), Some(json!({ "status": to })));
        audit::changed(connection, note, &found.sku, change, now).await?;
    }
    Ok(Suggestion { status: to, ..found })
}

/// What ends the transaction of a change.
struct ChangeFailure(ChangeError);

impl From<Error> for ChangeFailure {
    fn from(error: Error) -> Self {
        Self(match error {
            // The only unique value that a change touches is that of the item's one pending suggestion.
            Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => ChangeError::OtherPending,
            other => ChangeError::Store(store_error(other)),
        })
    }
}

impl From<StoreError> for ChangeFailure {
    fn from(error: StoreError) -> Self {
        Self(error.into())
    }
}

impl TransactionError for ChangeFailure {
    fn is_conflict(&self) -> bool {
        matches!(&self.0, ChangeError::Store(error) if was_conflict(error))
    }
}
