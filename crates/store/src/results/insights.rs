//! [`InsightWriter`] on Postgres.

mod facts;

use std::collections::BTreeSet;

use async_trait::async_trait;
use diesel::{
    result::Error,
    sql_types::{Array, BigInt, Binary, Jsonb, Nullable, Text, Timestamptz},
};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, StoreError,
    ai::Ending,
    insights::{Ended, InsightWriter, LONGEST_QUIET, Source, Worded, Wording, is_left_alone},
    jobs::Written,
};
use serde_json::Value;
use time::OffsetDateTime;

use crate::{Store, ai::end_run, database::error::parse};

statement!(
    /// One at a time an account, until the end of the transaction: the nightly job and a run on demand may meet.
    Lock(account: i64 => BigInt) -> () = "SELECT FROM pg_advisory_xact_lock(726302, hashint8($1))"
);

statement!(
    /// How the insights ended that were written, ended or decided on after an instant.
    EndedSince(account: i64 => BigInt, since: OffsetDateTime => Timestamptz) -> EndedRow = "
    SELECT fingerprint, status, decided_at, coalesce(resolved_at, computed_at) AS ended_at FROM insights
    WHERE account_id = $1 AND status <> 'open' AND greatest(decided_at, resolved_at, computed_at) > $2"
);

row!(
    struct EndedRow {
        fingerprint: String => Text,
        status: String => Text,
        decided_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        ended_at: OffsetDateTime => Timestamptz,
    }
);

impl TryFrom<EndedRow> for (String, Ended) {
    type Error = StoreError;
    fn try_from(row: EndedRow) -> Result<Self, StoreError> {
        let EndedRow { fingerprint, status, decided_at, ended_at } = row;
        Ok((fingerprint, Ended { status: parse(&status, "status of an insight")?, decided_at, ended_at }))
    }
}

statement!(
    ResolveOthers(
        account: i64 => BigInt,
        fingerprints: Vec<String> => Array<Text>,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE insights SET status = 'resolved', resolved_at = $3
    WHERE account_id = $1 AND status = 'open' AND fingerprint <> ALL ($2)"
);

statement!(
    Upsert(
        account: i64 => BigInt,
        fingerprints: Vec<String> => Array<Text>,
        severities: Vec<&'static str> => Array<Text>,
        categories: Vec<&'static str> => Array<Text>,
        titles: Vec<String> => Array<Text>,
        bodies: Vec<String> => Array<Text>,
        actions: Vec<String> => Array<Text>,
        impacts: Vec<String> => Array<Text>,
        sources: Vec<&'static str> => Array<Text>,
        bases: Vec<Option<Vec<u8>>> => Array<Nullable<Binary>>,
        languages: Vec<&'static str> => Array<Text>,
        facts: Vec<Value> => Array<Jsonb>,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO insights AS old (account_id, fingerprint, severity, category, title, body, suggested_action,
        impact_estimate, source, basis, language, facts, status, computed_at)
    SELECT $1, v.*, 'open', $13 FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS v
    ON CONFLICT (account_id, fingerprint) WHERE status = 'open' DO UPDATE SET
        severity = excluded.severity, category = excluded.category, title = excluded.title, body = excluded.body,
        suggested_action = excluded.suggested_action, impact_estimate = excluded.impact_estimate,
        source = excluded.source, basis = excluded.basis, language = excluded.language, facts = excluded.facts,
        computed_at = excluded.computed_at
    WHERE (old.severity, old.category, old.title, old.body, old.suggested_action, old.impact_estimate, old.source,
            old.language, old.facts)
            IS DISTINCT FROM (excluded.severity, excluded.category, excluded.title, excluded.body,
                excluded.suggested_action, excluded.impact_estimate, excluded.source,
                excluded.language, excluded.facts)"
);

statement!(
    /// A run on demand makes the newest results of the job newer.
    Refresh(account: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> () = "
    UPDATE job_runs SET finished_at = $2 WHERE account_id = $1 AND job = 'insight_generation' AND finished_at = (
        SELECT max(finished_at) FROM job_runs WHERE account_id = $1 AND job = 'insight_generation')"
);

/// The situations that are left alone at `now`.
async fn left_alone(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    now: OffsetDateTime,
) -> Result<BTreeSet<String>, Error> {
    let since = now - LONGEST_QUIET;
    let rows: Vec<EndedRow> = EndedSince { account: account.0, since }.load(connection).await?;
    let ended = rows.into_iter().map(TryInto::try_into).collect::<Result<Vec<(String, Ended)>, _>>().map_err(broken)?;
    Ok(ended.into_iter().filter(|(_, ended)| is_left_alone(ended, now)).map(|(fingerprint, _)| fingerprint).collect())
}

#[async_trait]
impl InsightWriter for Store {
    async fn replace(
        &self,
        account: AccountId,
        ending: Ending,
        insights: Vec<Worded>,
        now: OffsetDateTime,
    ) -> Result<Written, StoreError> {
        let Ending { job, run } = ending;
        let write_all = async |connection: &mut AsyncPgConnection| {
            Lock { account: account.0 }.execute(connection).await?;
            if let Some((claim, outcome, reason)) = &run {
                let ended = end_run(connection, claim, *outcome, reason.as_deref(), now).await.map_err(broken)?;
                if !ended {
                    return Err(broken(StoreError::Internal("the AI run was ended elsewhere".into())));
                }
            }
            write(connection, account, insights, now).await
        };
        match job {
            Some(claim) => self.finish(&claim, now, write_all).await,
            None => {
                let written = self
                    .job_transaction(async |connection| {
                        let rows = write_all(connection).await?;
                        Refresh { account: account.0, now }.execute(connection).await?;
                        Ok(rows)
                    })
                    .await?;
                Ok(Written::Rows(written))
            }
        }
    }
}

/// Each statement names the account, so that on a cluster it stays on the account's node.
async fn write(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    mut insights: Vec<Worded>,
    now: OffsetDateTime,
) -> Result<u64, Error> {
    let fingerprints: Vec<String> = insights.iter().map(|Worded { draft, .. }| draft.fingerprint.clone()).collect();
    let resolved = ResolveOthers { account: account.0, fingerprints, now }.execute(connection).await?;
    let left_alone = left_alone(connection, account, now).await?;
    insights.retain(|Worded { draft, .. }| !left_alone.contains(&draft.fingerprint));
    let written = Upsert::new(account, insights, now)?.execute(connection).await?;
    Ok(u64::try_from(resolved + written).unwrap_or(u64::MAX))
}

fn internal(error: serde_json::Error) -> StoreError {
    StoreError::Internal(error.into())
}

/// Ends the transaction like an error of the database.
fn broken(error: StoreError) -> Error {
    Error::DeserializationError(error.into())
}

impl Upsert {
    /// The rows column by column.
    fn new(account: AccountId, insights: Vec<Worded>, now: OffsetDateTime) -> Result<Self, Error> {
        let mut columns = Self {
            account: account.0,
            fingerprints: Vec::new(),
            severities: Vec::new(),
            categories: Vec::new(),
            titles: Vec::new(),
            bodies: Vec::new(),
            actions: Vec::new(),
            impacts: Vec::new(),
            sources: Vec::new(),
            bases: Vec::new(),
            languages: Vec::new(),
            facts: Vec::new(),
            now,
        };
        for Worded { draft, template, model, language } in insights {
            let source = if model.is_some() { Source::Model } else { Source::Rules };
            let basis = model.as_ref().map(|_| template.basis().to_vec());
            let Wording { title, body, suggested_action, impact_estimate } = model.unwrap_or(template);
            columns.facts.push(serde_json::to_value(&draft.told).map_err(|error| broken(internal(error)))?);
            columns.languages.push(language.as_str());
            columns.fingerprints.push(draft.fingerprint);
            columns.severities.push(draft.severity.as_str());
            columns.categories.push(draft.category.as_str());
            columns.titles.push(title);
            columns.bodies.push(body);
            columns.actions.push(suggested_action);
            columns.impacts.push(impact_estimate);
            columns.sources.push(source.as_str());
            columns.bases.push(basis);
        }
        Ok(columns)
    }
}
