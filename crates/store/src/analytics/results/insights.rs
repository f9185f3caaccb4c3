//! [`InsightWriter`] on Postgres.

mod facts;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use diesel::{
    QueryResult,
    result::Error,
    sql_types::{Array, BigInt, Binary, Bool, Double, Jsonb, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    ai::Ending,
    insights::{Chosen, Ended, InsightWriter, LONGEST_QUIET, Source, Worded, Wording, choose, is_left_alone},
    jobs::WriteOutcome,
};
use rust_decimal::prelude::ToPrimitive;
use serde_json::Value;
use time::OffsetDateTime;

use super::changed;
use crate::{
    Store,
    ai::end_run,
    database::{error::parse, query::RunQueryDsl, statement::Scalar},
};

statement!(
    /// One at a time an account, until the end of the transaction: the nightly job, a run on demand and a decision may meet.
    Lock(account: i64 => BigInt) -> () = "SELECT FROM pg_advisory_xact_lock(726302, hashint8($1))"
);

statement!(
    /// How the insights ended that were written, ended or decided on after an instant. What a person has opened again since,
    /// be it an older insight of the situation, goes on.
    EndedSince(account: i64 => BigInt, since: OffsetDateTime => Timestamptz) -> EndedRow = "
    SELECT fingerprint, status, decided_at, coalesce(resolved_at, computed_at) AS ended_at FROM insights i
    WHERE account_id = $1 AND status <> 'open' AND greatest(decided_at, resolved_at, computed_at) > $2
        AND NOT EXISTS (
            SELECT FROM insights o WHERE o.account_id = $1 AND o.fingerprint = i.fingerprint AND o.status = 'open')"
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
    Open(account: i64 => BigInt) -> OpenRow =
        "SELECT fingerprint, is_told FROM insights WHERE account_id = $1 AND status = 'open'"
);

row!(
    struct OpenRow {
        fingerprint: String => Text,
        is_told: bool => Bool,
    }
);

statement!(
    ResolveOthers(
        account: i64 => BigInt,
        fingerprints: Vec<String> => Array<Text>,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE insights SET status = 'resolved', resolved_at = $3, decided_at = NULL
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
        told: Vec<bool> => Array<Bool>,
        stakes: Vec<Option<f64>> => Array<Nullable<Double>>,
        stories: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        weights: Vec<Option<f64>> => Array<Nullable<Double>>,
        now: OffsetDateTime => Timestamptz,
    ) -> Scalar<Bool> = "
    INSERT INTO insights AS old (account_id, fingerprint, severity, category, title, body, suggested_action,
        impact_estimate, source, basis, language, facts, is_told, at_stake, story_id, weight, status, computed_at)
    SELECT $1, v.*, 'open', $17 FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) AS v
    ON CONFLICT (account_id, fingerprint) WHERE status = 'open' DO UPDATE SET
        severity = excluded.severity, category = excluded.category, title = excluded.title, body = excluded.body,
        suggested_action = excluded.suggested_action, impact_estimate = excluded.impact_estimate,
        source = excluded.source, basis = excluded.basis, language = excluded.language, facts = excluded.facts,
        is_told = excluded.is_told, at_stake = excluded.at_stake, story_id = excluded.story_id,
        weight = excluded.weight, computed_at = excluded.computed_at,
        told_at = coalesce(old.told_at, CASE WHEN old.is_told THEN old.recorded_at
            WHEN excluded.is_told THEN excluded.computed_at END)
    WHERE (old.severity, old.category, old.title, old.body, old.suggested_action, old.impact_estimate, old.source,
            old.basis, old.language, old.facts, old.is_told, old.at_stake, old.story_id, old.weight)
            IS DISTINCT FROM (excluded.severity, excluded.category, excluded.title, excluded.body,
                excluded.suggested_action, excluded.impact_estimate, excluded.source, excluded.basis,
                excluded.language, excluded.facts, excluded.is_told, excluded.at_stake, excluded.story_id,
                excluded.weight)
    RETURNING true AS written"
);

statement!(
    /// A run on demand makes the newest results of the job newer.
    Refresh(account: i64 => BigInt, now: OffsetDateTime => Timestamptz) -> () = "
    UPDATE job_runs SET finished_at = $2 WHERE account_id = $1 AND job = 'insight_generation' AND finished_at = (
        SELECT max(finished_at) FROM job_runs WHERE account_id = $1 AND job = 'insight_generation')"
);

/// Keeps every run and every decision away that would write insights of the account: what either has read stays so until the
/// end of its transaction.
pub(crate) async fn lock(connection: &mut AsyncPgConnection, account: AccountId) -> QueryResult<()> {
    Lock { account: account.0 }.execute(connection).await?;
    Ok(())
}

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
    ) -> Result<WriteOutcome, StoreError> {
        let Ending { job, run } = ending;
        let write_all = async |connection: &mut AsyncPgConnection| {
            lock(connection, account).await?;
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
                Ok(WriteOutcome::Rows(written))
            }
        }
    }
}

/// Each statement names the account, so that on a cluster it stays on the account's node.
async fn write(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    insights: Vec<Worded>,
    now: OffsetDateTime,
) -> Result<u64, Error> {
    let goes_on = insights.iter().filter(|worded| !worded.draft.is_over);
    let fingerprints: Vec<String> = goes_on.map(|worded| worded.draft.fingerprint.clone()).collect();
    let left_alone = left_alone(connection, account, now).await?;
    let open: Vec<OpenRow> = Open { account: account.0 }.load(connection).await?;
    let open: BTreeMap<String, bool> = open.into_iter().map(|row| (row.fingerprint, row.is_told)).collect();
    let chosen = choose(insights, &left_alone, &open);
    // What is over is written first: it ends with what is told of its end.
    let written = changed(Upsert::new(account, chosen, now)?.load(connection).await?);
    let resolved = ResolveOthers { account: account.0, fingerprints, now }.execute(connection).await?;
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
    fn new(account: AccountId, chosen: Vec<Chosen>, now: OffsetDateTime) -> Result<Self, Error> {
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
            told: Vec::new(),
            stakes: Vec::new(),
            stories: Vec::new(),
            weights: Vec::new(),
            now,
        };
        // The first has the highest id: lists begin with it.
        for Chosen { worded, is_told } in chosen.into_iter().rev() {
            let Worded { draft, template, model, language } = worded;
            let source = if model.is_some() { Source::Model } else { Source::Rules };
            let basis = model.as_ref().map(|_| template.basis().to_vec());
            let Wording { title, body, suggested_action, impact_estimate } = model.unwrap_or(template);
            columns.facts.push(serde_json::to_value(&draft.told).map_err(|error| broken(internal(error)))?);
            columns.told.push(is_told);
            columns.stakes.push(draft.stake.and_then(|stake| stake.to_f64()));
            columns.stories.push(draft.story.map(|id| id.0));
            columns.weights.push(draft.weight.to_f64());
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
