//! [`RiskWriter`] on Postgres.

mod source;

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Date as SqlDate, Jsonb, Nullable, Numeric, Text, Timestamptz};
use domain::{
    StoreError,
    jobs::{Claim, WriteOutcome},
    risks::{Action, Exposure, FORGOTTEN_AFTER_DAYS, Finding, Kind, Links, RiskWriter},
};
use rust_decimal::Decimal;
use serde_json::Value;
use time::{Date, Duration, OffsetDateTime};

use crate::{
    Store,
    analytics::places,
    database::{query::RunQueryDsl, statement::Scalar},
};

statement!(
    /// A risk that is known keeps its row and `detected_at`.
    Upsert(
        account: i64 => BigInt,
        kinds: Vec<&'static str> => Array<Text>,
        subjects: Vec<String> => Array<Text>,
        labels: Vec<String> => Array<Text>,
        severities: Vec<&'static str> => Array<Text>,
        likelihoods: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        lows: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        expecteds: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        highs: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        lack_costs: Vec<bool> => Array<Bool>,
        evidences: Vec<Value> => Array<Jsonb>,
        assumptions: Vec<Value> => Array<Jsonb>,
        actions: Vec<Option<&'static str>> => Array<Nullable<Text>>,
        skus: Vec<Option<String>> => Array<Nullable<Text>>,
        insight_ids: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        customer_ids: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        integration_ids: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        webhook_ids: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        found_on: Date => SqlDate,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO risks (account_id, kind, subject, label, severity, likelihood, exposure_low, exposure_expected,
        exposure_high, lacks_costs, evidence, assumptions, action, sku, insight_id, customer_id, integration_id, webhook_id,
        found_on, detected_at, last_seen_at)
    SELECT $1, v.*, $19, $20, $20
    FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) AS v
    ON CONFLICT (account_id, kind, subject) DO UPDATE SET
        label = excluded.label, severity = excluded.severity, likelihood = excluded.likelihood,
        exposure_low = excluded.exposure_low, exposure_expected = excluded.exposure_expected,
        exposure_high = excluded.exposure_high, lacks_costs = excluded.lacks_costs, evidence = excluded.evidence,
        assumptions = excluded.assumptions, action = excluded.action, sku = excluded.sku,
        insight_id = excluded.insight_id, customer_id = excluded.customer_id, integration_id = excluded.integration_id,
        webhook_id = excluded.webhook_id, found_on = excluded.found_on, last_seen_at = excluded.last_seen_at"
);

statement!(
    /// What was last found before `first` or, by a run for a later day, after `last`, and of the standing kinds what was not
    /// found `now`.
    Forgotten(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        standing: Vec<&'static str> => Array<Text>,
        now: OffsetDateTime => Timestamptz,
    ) -> Scalar<BigInt> = "
    SELECT id FROM risks
    WHERE account_id = $1 AND (found_on NOT BETWEEN $2 AND $3 OR (kind = ANY($4) AND last_seen_at <> $5))"
);

#[async_trait]
impl RiskWriter for Store {
    async fn replace(
        &self,
        claim: &Claim,
        found: Vec<Finding>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError> {
        let (account, last) = (claim.account.0, claim.as_of);
        let upsert = Upsert::new(claim, found, now).map_err(|error| StoreError::Internal(error.into()))?;
        let first = last.saturating_sub(Duration::days(FORGOTTEN_AFTER_DAYS - 1));
        self.finish(claim, now, async |connection| {
            let written = upsert.execute(connection).await?;
            let standing = Kind::STANDING.iter().map(|kind| kind.as_str()).collect();
            let forgotten: Vec<i64> = Forgotten { account, first, last, standing, now }.load(connection).await?;
            let removed = places::remove_risks(connection, account, &forgotten).await?;
            Ok(u64::try_from(written + removed).unwrap_or(u64::MAX))
        })
        .await
    }
}

impl Upsert {
    /// The rows as arrays, one per column.
    fn new(claim: &Claim, found: Vec<Finding>, now: OffsetDateTime) -> Result<Self, serde_json::Error> {
        let mut upsert = Self::empty(claim, now);
        for finding in found {
            let Finding {
                kind,
                subject,
                label,
                severity,
                likelihood,
                exposure,
                lacks_costs,
                evidence,
                assumptions,
                action,
                links,
            } = finding;
            let Links { sku, insight_id, customer_id, integration_id, webhook_id } = links;
            let Exposure { low, expected, high } = exposure.unwrap_or_default();
            upsert.kinds.push(kind.as_str());
            upsert.subjects.push(subject);
            upsert.labels.push(label);
            upsert.severities.push(severity.as_str());
            upsert.likelihoods.push(likelihood);
            upsert.lows.push(low);
            upsert.expecteds.push(expected);
            upsert.highs.push(high);
            upsert.lack_costs.push(lacks_costs);
            upsert.evidences.push(serde_json::to_value(evidence)?);
            upsert.assumptions.push(serde_json::to_value(assumptions)?);
            upsert.actions.push(action.map(Action::as_str));
            upsert.skus.push(sku);
            upsert.insight_ids.push(insight_id.map(|id| id.0));
            upsert.customer_ids.push(customer_id.map(|id| id.0));
            upsert.integration_ids.push(integration_id.map(|id| id.0));
            upsert.webhook_ids.push(webhook_id.map(|id| id.0));
        }
        Ok(upsert)
    }

    fn empty(claim: &Claim, now: OffsetDateTime) -> Self {
        Self {
            account: claim.account.0,
            kinds: Vec::new(),
            subjects: Vec::new(),
            labels: Vec::new(),
            severities: Vec::new(),
            likelihoods: Vec::new(),
            lows: Vec::new(),
            expecteds: Vec::new(),
            highs: Vec::new(),
            lack_costs: Vec::new(),
            evidences: Vec::new(),
            assumptions: Vec::new(),
            actions: Vec::new(),
            skus: Vec::new(),
            insight_ids: Vec::new(),
            customer_ids: Vec::new(),
            integration_ids: Vec::new(),
            webhook_ids: Vec::new(),
            found_on: claim.as_of,
            now,
        }
    }
}
