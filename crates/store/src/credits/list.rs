//! [`TransactionLog`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    credits::{Transaction, TransactionFilter, TransactionLog},
    page::{Page, PageRequest},
};
use futures_util::stream::BoxStream;
use time::OffsetDateTime;

use super::rows::TransactionRow;
use crate::{
    Store,
    database::{
        error::Failure,
        query::RunQueryDsl,
        streams::{self, STREAM_BATCH},
    },
    schema::credit_transactions,
};

#[async_trait]
impl TransactionLog for Store {
    async fn page(
        &self,
        account: AccountId,
        filter: &TransactionFilter,
        page: PageRequest,
    ) -> Result<Page<Transaction>, StoreError> {
        Ok(self.run::<_, Failure>(async |connection| rows(connection, account, filter, page).await).await?)
    }

    async fn stream(
        &self,
        account: AccountId,
        filter: TransactionFilter,
        cursor: Option<i64>,
    ) -> Result<BoxStream<'static, Result<Transaction, StoreError>>, StoreError> {
        let first = {
            let _turn = self.first_turn().await?;
            self.page(account, &filter, PageRequest { limit: STREAM_BATCH, cursor }).await?
        };
        let store = self.clone();
        Ok(streams::rows(first, move |cursor| {
            let (store, filter) = (store.clone(), filter.clone());
            async move {
                let _turn = store.turn().await?;
                store.page(account, &filter, PageRequest { limit: STREAM_BATCH, cursor: Some(cursor) }).await
            }
        }))
    }
}

async fn rows(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    filter: &TransactionFilter,
    page: PageRequest,
) -> Result<Page<Transaction>, Failure> {
    let TransactionFilter { kind, feature, from, to } = filter;
    let Some((first, last)) = span(connection, account, *from, *to).await? else {
        return Ok(Page { items: Vec::new(), next_cursor: None });
    };
    let mut query = credit_transactions::table
        .filter(credit_transactions::account_id.eq(account.0))
        .order(credit_transactions::id.desc())
        .limit(page.limit + 1)
        .select(TransactionRow::as_select())
        .into_boxed();
    if let Some(kind) = kind {
        query = query.filter(credit_transactions::kind.eq(kind.as_str()));
    }
    if let Some(feature) = feature {
        query = query.filter(credit_transactions::feature.eq(feature.as_str()));
    }
    if from.is_some() {
        query = query.filter(credit_transactions::id.ge(first));
    }
    if to.is_some() {
        query = query.filter(credit_transactions::id.le(last));
    }
    if let Some(cursor) = page.cursor {
        query = query.filter(credit_transactions::id.lt(cursor));
    }
    let rows = query.load(connection).await?;
    let found = rows.into_iter().map(Transaction::try_from).collect::<Result<_, _>>()?;
    Ok(Page::cut(found, page.limit, |transaction: &Transaction| transaction.id.0))
}

/// The ids that a span of time begins and ends with; none when it is empty. Time and ids rise together in a ledger, so
/// the list can stay a range of its key.
async fn span(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    from: Option<OffsetDateTime>,
    to: Option<OffsetDateTime>,
) -> Result<Option<(i64, i64)>, Failure> {
    if from.is_none() && to.is_none() {
        return Ok(Some((1, i64::MAX)));
    }
    let (from, to) = (from.unwrap_or(OffsetDateTime::UNIX_EPOCH), to.unwrap_or(FAR));
    let within = || {
        credit_transactions::table
            .filter(credit_transactions::account_id.eq(account.0))
            .filter(credit_transactions::created_at.ge(from))
            .filter(credit_transactions::created_at.lt(to))
            .select(credit_transactions::id)
    };
    let rising = (credit_transactions::created_at.asc(), credit_transactions::id.asc());
    let first: Option<i64> = within().order(rising).first(connection).await.optional()?;
    let falling = (credit_transactions::created_at.desc(), credit_transactions::id.desc());
    let last: Option<i64> = within().order(falling).first(connection).await.optional()?;
    Ok(first.zip(last))
}

/// Later than every transaction.
const FAR: OffsetDateTime = time::macros::datetime!(9999-12-31 0:00 UTC);
