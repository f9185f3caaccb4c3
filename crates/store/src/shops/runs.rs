//! [`SyncRunStore`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, IntegrationId, StoreError, SyncRunId,
    page::{Page, PageRequest},
    shops::{
        Window,
        sync::{Counts, EndedRun, MAX_REFUSALS, Outcome, RunError, RunState, SyncLease, SyncRun, SyncRunStore},
    },
};
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, corrupt, parse},
        query::RunQueryDsl,
    },
    schema::{integrations, sync_runs},
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = sync_runs, check_for_backend(diesel::pg::Pg))]
struct RunRow {
    id: i64,
    stream: String,
    window_from: Option<OffsetDateTime>,
    window_until: Option<OffsetDateTime>,
    state: String,
    read: i64,
    stored: i64,
    refused: i64,
    voided: i64,
    calls: i64,
    waited_ms: i64,
    refusals: Value,
    error_code: Option<String>,
    error_message: Option<String>,
    started_at: OffsetDateTime,
    finished_at: OffsetDateTime,
}

impl TryFrom<RunRow> for SyncRun {
    type Error = StoreError;
    fn try_from(row: RunRow) -> Result<Self, StoreError> {
        let RunRow {
            id,
            stream,
            window_from,
            window_until,
            state,
            read,
            stored,
            refused,
            voided,
            calls,
            waited_ms,
            refusals,
            error_code,
            error_message,
            started_at,
            finished_at,
        } = row;
        let error = error_code
            .zip(error_message)
            .map(|(code, message)| Ok::<_, StoreError>(RunError { code: parse(&code, "error code")?, message }))
            .transpose()?;
        Ok(Self {
            id: SyncRunId(id),
            stream: parse(&stream, "stream")?,
            window: window_from.zip(window_until).map(|(from, until)| Window { from, until }),
            state: parse(&state, "state of a run")?,
            counts: Counts { read, stored, refused, voided, calls, waited_ms },
            refusals: serde_json::from_value(refusals).map_err(|_| corrupt("list of refused records"))?,
            error,
            started_at,
            finished_at,
        })
    }
}

/// Writes a run into the log.
pub(super) async fn insert(
    connection: &mut AsyncPgConnection,
    lease: SyncLease,
    run: &EndedRun,
) -> Result<(), Failure> {
    let EndedRun { stream, window, counts, refusals, started_at, finished_at, outcome } = run;
    let Counts { read, stored, refused, voided, calls, waited_ms } = *counts;
    let (state, error) = match outcome {
        Outcome::Done { .. } | Outcome::InPart(_) | Outcome::Restarted { .. } => (RunState::Done, None),
        Outcome::Failed(error) => (RunState::Failed, Some(error)),
    };
    let newest = refusals.get(refusals.len().saturating_sub(MAX_REFUSALS)..).unwrap_or_default();
    let refusals = serde_json::to_value(newest).map_err(|_| corrupt("list of refused records"))?;
    let row = (
        (
            sync_runs::account_id.eq(lease.account.0),
            sync_runs::integration_id.eq(lease.integration.0),
            sync_runs::stream.eq(stream.as_str()),
            sync_runs::window_from.eq(window.map(|window| window.from)),
            sync_runs::window_until.eq(window.map(|window| window.until)),
            sync_runs::state.eq(state.as_str()),
            sync_runs::started_at.eq(started_at),
            sync_runs::finished_at.eq(finished_at),
        ),
        (
            sync_runs::read.eq(read),
            sync_runs::stored.eq(stored),
            sync_runs::refused.eq(refused),
            sync_runs::voided.eq(voided),
            sync_runs::calls.eq(calls),
            sync_runs::waited_ms.eq(waited_ms),
            sync_runs::refusals.eq(refusals),
            sync_runs::error_code.eq(error.map(|error| error.code.as_str())),
            sync_runs::error_message.eq(error.map(|error| error.message.as_str())),
        ),
    );
    diesel::insert_into(sync_runs::table).values(row).execute(connection).await?;
    Ok(())
}

#[async_trait]
impl SyncRunStore for Store {
    async fn page(
        &self,
        account: AccountId,
        id: IntegrationId,
        page: PageRequest,
    ) -> Result<Option<Page<SyncRun>>, StoreError> {
        let PageRequest { limit, cursor } = page;
        let rows = self
            .run::<_, Failure>(async |connection| {
                let known = integrations::table.find((account.0, id.0)).select(integrations::id);
                let known: Option<i64> = known.first(connection).await.optional()?;
                if known.is_none() {
                    return Ok(None);
                }
                let runs = sync_runs::table
                    .filter(sync_runs::account_id.eq(account.0))
                    .filter(sync_runs::integration_id.eq(id.0))
                    .filter(sync_runs::id.lt(cursor.unwrap_or(i64::MAX)))
                    .order(sync_runs::id.desc())
                    .limit(limit.saturating_add(1));
                let rows: Vec<RunRow> = runs.select(RunRow::as_select()).load(connection).await?;
                Ok(Some(rows))
            })
            .await?;
        let Some(rows) = rows else { return Ok(None) };
        let runs = rows.into_iter().map(SyncRun::try_from).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Page::cut(runs, limit, |run| run.id.0)))
    }

    async fn prune(&self, before: OffsetDateTime) -> Result<u64, StoreError> {
        let pruned = self
            .run::<_, Failure>(async |connection| {
                let old = sync_runs::table.filter(sync_runs::finished_at.lt(before));
                Ok(diesel::delete(old).execute(connection).await?)
            })
            .await?;
        Ok(u64::try_from(pruned).unwrap_or(u64::MAX))
    }
}
