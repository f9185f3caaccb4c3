//! [`CreativeSource`] and [`CreativeWriter`] on Postgres.

use std::collections::HashMap;

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Date as SqlDate, Nullable, Numeric, Text, Timestamptz};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, AdEntityId, CreativeId, StoreError,
    creatives::{CreativeDay, CreativeSource, CreativeWriter, Judged, Record, Status, Verdicts},
    events::{Amount, CreativeWinnerDetected, Event},
    jobs::{Claim, WriteOutcome},
    money::round,
    profit::DayRange,
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{Store, analytics::ads::campaigns, database::query::RunQueryDsl, webhooks::outbox};

statement!(
    /// By creative, ad set and day. What one of the ads does not tell is not known of them together.
    Days(account: i64 => BigInt, first: Date => SqlDate, last: Date => SqlDate) -> DayRow = "
    SELECT ad.campaign_id, ad.creative_id, ad.parent_id AS ad_set_id, d.day,
        CASE WHEN bool_and(d.spend IS NOT NULL) THEN sum(d.spend) END AS spend,
        CASE WHEN bool_and(d.impressions IS NOT NULL) THEN least(sum(d.impressions), 9223372036854775807)::bigint END
            AS impressions,
        CASE WHEN bool_and(d.clicks IS NOT NULL) THEN least(sum(d.clicks), 9223372036854775807)::bigint END AS clicks,
        CASE WHEN bool_and(d.purchases IS NOT NULL)
            THEN least(sum(coalesce(d.purchases_exact, d.purchases)), 9223372036854775807) END AS purchases,
        CASE WHEN bool_and(d.revenue IS NOT NULL) THEN sum(d.revenue) END AS revenue
    FROM ad_days d JOIN ad_entities ad ON ad.account_id = $1 AND ad.id = d.ad_id
    WHERE d.account_id = $1 AND d.day BETWEEN $2 AND $3 AND ad.creative_id IS NOT NULL
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
);

row!(
    struct DayRow {
        campaign_id: i64 => BigInt,
        creative_id: i64 => BigInt,
        ad_set_id: i64 => BigInt,
        day: Date => SqlDate,
        spend: Option<Decimal> => Nullable<Numeric>,
        impressions: Option<i64> => Nullable<BigInt>,
        clicks: Option<i64> => Nullable<BigInt>,
        purchases: Option<Decimal> => Nullable<Numeric>,
        revenue: Option<Decimal> => Nullable<Numeric>,
    }
);

statement!(
    Won(account: i64 => BigInt) -> PairRow = "
    SELECT campaign_id, creative_id FROM campaign_creatives WHERE account_id = $1 AND won_at IS NOT NULL
    ORDER BY campaign_id, creative_id"
);

row!(
    struct PairRow {
        campaign_id: i64 => BigInt,
        creative_id: i64 => BigInt,
    }
);

statement!(
    /// A creative that has won keeps when it did, and one that has faded since is no winner again without evidence.
    Upsert(
        account: i64 => BigInt,
        campaigns: Vec<i64> => Array<BigInt>,
        creatives: Vec<i64> => Array<BigInt>,
        firsts: Vec<Date> => Array<SqlDate>,
        lasts: Vec<Date> => Array<SqlDate>,
        statuses: Vec<&'static str> => Array<Text>,
        metrics: Vec<Option<&'static str>> => Array<Nullable<Text>>,
        evidences: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        observed: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        lifts: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        lows: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        highs: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        compared: Vec<i64> => Array<BigInt>,
        days: Vec<i64> => Array<BigInt>,
        needs_purchases: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        needs_days: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        needs_spends: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        ctr_ratios: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        fatigued: Vec<Option<bool>> => Array<Nullable<Bool>>,
        tau: Decimal => Numeric,
        now: OffsetDateTime => Timestamptz,
    ) -> WrittenRow = "
    WITH written AS (
        INSERT INTO campaign_creatives AS old (account_id, campaign_id, creative_id, first_seen, last_seen, status, metric,
            evidence, lift_observed, lift, lift_low, lift_high, compared_with, days, needs_purchases, needs_days, needs_spend,
            ctr_ratio, is_fatigued, tau, won_at)
        SELECT $1, v.*, $20, CASE WHEN v.status = 'winner' THEN $21 END
        FROM unnest($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
            AS v (campaign_id, creative_id, first_seen, last_seen, status)
        ON CONFLICT (account_id, campaign_id, creative_id) DO UPDATE SET
            first_seen = least(old.first_seen, excluded.first_seen), last_seen = greatest(old.last_seen, excluded.last_seen),
            status = CASE WHEN old.status = 'faded' AND excluded.status = 'winner' AND excluded.evidence IS NULL
                THEN old.status ELSE excluded.status END, metric = excluded.metric, evidence = excluded.evidence,
            lift_observed = excluded.lift_observed, lift = excluded.lift, lift_low = excluded.lift_low,
            lift_high = excluded.lift_high, compared_with = excluded.compared_with, days = excluded.days,
            needs_purchases = excluded.needs_purchases, needs_days = excluded.needs_days,
            needs_spend = excluded.needs_spend, ctr_ratio = excluded.ctr_ratio, is_fatigued = excluded.is_fatigued,
            tau = excluded.tau, won_at = coalesce(old.won_at, excluded.won_at)
        RETURNING id, campaign_id, creative_id
    )
    SELECT written.id, written.campaign_id, written.creative_id, c.platform,
        coalesce(nullif(campaign.name, ''), c.platform) AS campaign, coalesce(c.headline, c.key) AS creative
    FROM written JOIN creatives c ON c.account_id = $1 AND c.id = written.creative_id
        JOIN ad_entities campaign ON campaign.account_id = $1 AND campaign.id = written.campaign_id
    ORDER BY written.id"
);

row!(
    struct WrittenRow {
        id: i64 => BigInt,
        campaign_id: i64 => BigInt,
        creative_id: i64 => BigInt,
        platform: String => Text,
        campaign: String => Text,
        creative: String => Text,
    }
);

#[async_trait]
impl CreativeSource for Store {
    async fn record(&self, account: AccountId, range: DayRange) -> Result<Record, StoreError> {
        let (id, DayRange { first, last }) = (account.0, range);
        let record = self.job_transaction(async |connection| {
            let days: Vec<DayRow> = Days { account: id, first, last }.load(connection).await?;
            let won: Vec<PairRow> = Won { account: id }.load(connection).await?;
            Ok(Record {
                days: days.into_iter().map(CreativeDay::from).collect(),
                won: won.into_iter().map(|row| (AdEntityId(row.campaign_id), CreativeId(row.creative_id))).collect(),
                order_value: campaigns::order_value(connection, account, last).await?,
            })
        });
        record.await
    }
}

impl From<DayRow> for CreativeDay {
    fn from(row: DayRow) -> Self {
        let DayRow { campaign_id, creative_id, ad_set_id, day, spend, impressions, clicks, purchases, revenue } = row;
        Self {
            campaign_id: AdEntityId(campaign_id),
            creative_id: CreativeId(creative_id),
            ad_set_id: AdEntityId(ad_set_id),
            day,
            spend,
            impressions,
            clicks,
            purchases,
            revenue,
        }
    }
}

#[async_trait]
impl CreativeWriter for Store {
    async fn replace(
        &self,
        claim: &Claim,
        verdicts: Verdicts,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError> {
        let account = claim.account;
        self.finish(claim, now, async |connection| {
            let won: Vec<PairRow> = Won { account: account.0 }.load(connection).await?;
            let written: Vec<WrittenRow> = Upsert::new(account, &verdicts, now).load(connection).await?;
            let count = written.len();
            announce(connection, account, &verdicts, &won, written, now).await?;
            Ok(u64::try_from(count).unwrap_or(u64::MAX))
        })
        .await
    }
}

/// Emits an event for each creative that has won for the first time.
async fn announce(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    verdicts: &Verdicts,
    won: &[PairRow],
    written: Vec<WrittenRow>,
    now: OffsetDateTime,
) -> diesel::QueryResult<()> {
    let winners = verdicts.judged.iter().filter(|judged| judged.verdict.status == Status::Winner);
    let mut new: HashMap<(AdEntityId, CreativeId), &Judged> =
        winners.map(|judged| ((judged.campaign_id, judged.creative_id), judged)).collect();
    for row in won {
        new.remove(&(AdEntityId(row.campaign_id), CreativeId(row.creative_id)));
    }
    let events: Vec<Event> = written
        .into_iter()
        .filter_map(|row| {
            new.get(&(AdEntityId(row.campaign_id), CreativeId(row.creative_id)))
                .map(|judged| event(row, judged, verdicts))
        })
        .collect();
    outbox::emit(connection, account, &events, now).await
}

fn event(row: WrittenRow, judged: &Judged, verdicts: &Verdicts) -> Event {
    let WrittenRow { id, campaign_id: _, creative_id: _, platform, campaign, creative } = row;
    let money = |amount| Amount(verdicts.currency.round(amount));
    let lift = |part: fn(&domain::creatives::Lift) -> Decimal| {
        Amount(round(judged.verdict.lift.as_ref().map(part).unwrap_or_default(), 4))
    };
    CreativeWinnerDetected {
        platform,
        campaign,
        creative,
        spend: money(judged.spend),
        revenue: judged.revenue.map(money),
        currency: verdicts.currency.to_string(),
        window_days: verdicts.window_days,
        creative_id: id,
        metric: judged.verdict.metric.map_or("", |metric| metric.as_str()).to_owned(),
        lift: lift(|lift| lift.shrunk),
        lift_low: lift(|lift| lift.low),
        lift_high: lift(|lift| lift.high),
        evidence: Amount(round(judged.verdict.evidence.unwrap_or_default(), 4)),
    }
    .into()
}

impl Upsert {
    /// The rows as arrays, one per column.
    fn new(account: AccountId, verdicts: &Verdicts, now: OffsetDateTime) -> Self {
        fn column<T>(verdicts: &Verdicts, of: impl Fn(&Judged) -> T) -> Vec<T> {
            verdicts.judged.iter().map(of).collect()
        }
        Self {
            account: account.0,
            campaigns: column(verdicts, |judged| judged.campaign_id.0),
            creatives: column(verdicts, |judged| judged.creative_id.0),
            firsts: column(verdicts, |judged| judged.first_seen),
            lasts: column(verdicts, |judged| judged.last_seen),
            statuses: column(verdicts, |judged| judged.verdict.status.as_str()),
            metrics: column(verdicts, |judged| judged.verdict.metric.map(|metric| metric.as_str())),
            evidences: column(verdicts, |judged| judged.verdict.evidence),
            observed: column(verdicts, |judged| judged.verdict.lift.map(|lift| lift.observed)),
            lifts: column(verdicts, |judged| judged.verdict.lift.map(|lift| lift.shrunk)),
            lows: column(verdicts, |judged| judged.verdict.lift.map(|lift| lift.low)),
            highs: column(verdicts, |judged| judged.verdict.lift.map(|lift| lift.high)),
            compared: column(verdicts, |judged| judged.verdict.compared_with),
            days: column(verdicts, |judged| judged.verdict.days),
            needs_purchases: column(verdicts, |judged| judged.verdict.needs.map(|needs| needs.purchases)),
            needs_days: column(verdicts, |judged| judged.verdict.needs.map(|needs| needs.days)),
            needs_spends: column(verdicts, |judged| judged.verdict.needs.map(|needs| needs.spend)),
            ctr_ratios: column(verdicts, |judged| judged.fatigue.map(|fatigue| fatigue.ctr_ratio)),
            fatigued: column(verdicts, |judged| judged.fatigue.map(|fatigue| fatigue.is_fatigued)),
            tau: verdicts.tau,
            now,
        }
    }
}
