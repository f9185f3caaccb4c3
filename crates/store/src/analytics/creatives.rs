//! [`CreativeStore`] on Postgres.

use async_trait::async_trait;
use diesel::sql_types::{Array, BigInt, Bool, Date as SqlDate, Nullable, Numeric, Text, Timestamptz};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, AdEntityId, CampaignCreativeId, StoreError,
    ads::{AdListError, Paired, Sums},
    creatives::{Creative, CreativeStore, Creatives, Fatigue, Lift, Needs, Query, Verdict},
    freshness::Freshness,
    jobs::JobName,
    page::{Page, PageRequest},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use super::freshness;
use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        streams::{self, SUMMED_BATCH},
    },
};

statement!(
    /// A page of what ran in the window: behind the row `$8`, a winner or not (`$9`) and with the spend `$10`, if there is one.
    Rows(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        platform: Option<&'static str> => Nullable<Text>,
        status: Option<&'static str> => Nullable<Text>,
        winner: Option<bool> => Nullable<Bool>,
        campaign: Option<i64> => Nullable<BigInt>,
        after: Option<i64> => Nullable<BigInt>,
        after_won: Option<bool> => Nullable<Bool>,
        after_spend: Option<Decimal> => Nullable<Numeric>,
        limit: i64 => BigInt,
    ) -> CreativeRow = concat!("
    WITH ran AS (
        SELECT ad.campaign_id, ad.creative_id, array_agg(DISTINCT ad.id ORDER BY ad.id) AS ad_ids,
            min(d.day) AS first_day, max(d.day) AS last_day,
            CASE WHEN count(d.video_3s) > 0 THEN least(sum(d.video_3s), 9223372036854775807)::bigint END AS video_3s,
            least(coalesce(sum(d.impressions) FILTER (WHERE d.video_3s IS NOT NULL), 0), 9223372036854775807)::bigint
                AS shown_of_watched,", ad_sums!(), "
        FROM ad_days d JOIN ad_entities ad ON ad.account_id = $1 AND ad.id = d.ad_id
        WHERE d.account_id = $1 AND d.day BETWEEN $2 AND $3 AND ad.creative_id IS NOT NULL
            AND ($7::bigint IS NULL OR ad.campaign_id = $7)
        GROUP BY ad.campaign_id, ad.creative_id
    ), rows AS (
        SELECT j.*, c.platform, c.key, c.format, c.headline, c.body, (j.status = 'winner')::int AS won_rank,
            coalesce(ran.spend, -1) AS spend_rank, ran.ad_ids, ran.shown_of_watched, ran.spend, ran.revenue,
            ARRAY[ran.impressions, ran.clicks, ran.purchases, ran.video_3s] AS counts, ran.clicks_of_shown,
            ran.shown_of_clicked, ran.spend_of_returned, least(j.first_seen, ran.first_day) AS ran_from,
            greatest(j.last_seen, ran.last_day) AS ran_until
        FROM campaign_creatives j
            JOIN ran ON ran.campaign_id = j.campaign_id AND ran.creative_id = j.creative_id
            JOIN creatives c ON c.account_id = $1 AND c.id = j.creative_id
        WHERE j.account_id = $1 AND ($4::text IS NULL OR c.platform = $4) AND ($5::text IS NULL OR j.status = $5)
            AND ($6::bool IS NULL OR (j.status = 'winner') = $6)
    )
    SELECT rows.id, rows.key, rows.platform, rows.campaign_id, coalesce(nullif(campaign.name, ''), rows.platform) AS campaign,
        rows.format, rows.headline, rows.body, rows.ad_ids, rows.status, rows.metric, rows.evidence,
        ARRAY[rows.lift_observed, rows.lift, rows.lift_low, rows.lift_high] AS lifts, rows.compared_with, rows.days,
        ARRAY[rows.needs_purchases, rows.needs_days] AS needs, rows.needs_spend, rows.ctr_ratio, rows.is_fatigued, rows.tau,
        rows.won_at, rows.ran_from AS first_seen, rows.ran_until AS last_seen, rows.counts, rows.shown_of_watched, rows.spend, rows.revenue,
        rows.clicks_of_shown, rows.shown_of_clicked, rows.spend_of_returned
    FROM rows JOIN ad_entities campaign ON campaign.account_id = $1 AND campaign.id = rows.campaign_id
    WHERE $8 IS NULL OR (won_rank, spend_rank, rows.id) < ($9::bool::int, $10::numeric, $8)
    ORDER BY won_rank DESC, spend_rank DESC, rows.id DESC LIMIT $11")
);

statement!(
    /// The place of the row `$6` in the list. One that the filters have left out since the page before, as its verdict is another
    /// one now, keeps it: whether it was a winner is what the filters say.
    PlaceOf(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        status: Option<&'static str> => Nullable<Text>,
        winner: Option<bool> => Nullable<Bool>,
        row: i64 => BigInt,
    ) -> PlaceRow = "
    SELECT coalesce($5::bool, $4::text = 'winner', j.status = 'winner') AS is_winner,
        CASE WHEN bool_and(d.spend IS NOT NULL) THEN sum(d.spend) ELSE -1 END AS spend
    FROM campaign_creatives j
        JOIN ad_entities ad ON ad.account_id = $1 AND ad.campaign_id = j.campaign_id AND ad.creative_id = j.creative_id
        JOIN ad_days d ON d.account_id = $1 AND d.ad_id = ad.id AND d.day BETWEEN $2 AND $3
    WHERE j.account_id = $1 AND j.id = $6 GROUP BY j.status"
);

row!(
    struct PlaceRow {
        is_winner: bool => Bool,
        spend: Decimal => Numeric,
    }
);

row!(
    struct CreativeRow {
        id: i64 => BigInt,
        key: String => Text,
        platform: String => Text,
        campaign_id: i64 => BigInt,
        campaign: String => Text,
        format: String => Text,
        headline: Option<String> => Nullable<Text>,
        body: Option<String> => Nullable<Text>,
        ad_ids: Vec<i64> => Array<BigInt>,
        status: String => Text,
        metric: Option<String> => Nullable<Text>,
        evidence: Option<Decimal> => Nullable<Numeric>,
        /// Observed, shrunk, and the ends of its interval.
        lifts: Vec<Option<Decimal>> => Array<Nullable<Numeric>>,
        compared_with: i64 => BigInt,
        days: i64 => BigInt,
        /// Purchases and days.
        needs: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        needs_spend: Option<Decimal> => Nullable<Numeric>,
        ctr_ratio: Option<Decimal> => Nullable<Numeric>,
        is_fatigued: Option<bool> => Nullable<Bool>,
        tau: Decimal => Numeric,
        won_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        first_seen: Date => SqlDate,
        last_seen: Date => SqlDate,
        /// Impressions, clicks, purchases and views of three seconds.
        counts: Vec<Option<i64>> => Array<Nullable<BigInt>>,
        shown_of_watched: i64 => BigInt,
        spend: Option<Decimal> => Nullable<Numeric>,
        revenue: Option<Decimal> => Nullable<Numeric>,
        clicks_of_shown: i64 => BigInt,
        shown_of_clicked: i64 => BigInt,
        spend_of_returned: Decimal => Numeric,
    }
);

impl TryFrom<CreativeRow> for Creative {
    type Error = StoreError;
    fn try_from(row: CreativeRow) -> Result<Self, StoreError> {
        let lift = match *row.lifts {
            [Some(observed), Some(shrunk), Some(low), Some(high)] => Some(Lift { observed, shrunk, low, high }),
            _ => None,
        };
        let needs = match (&*row.needs, row.needs_spend) {
            (&[Some(purchases), Some(days)], Some(spend)) => Some(Needs { purchases, days, spend }),
            _ => None,
        };
        let count = |place: usize| row.counts.get(place).copied().flatten();
        let verdict = Verdict {
            status: parse(&row.status, "status of a creative")?,
            metric: row.metric.map(|metric| parse(&metric, "metric of a creative")).transpose()?,
            evidence: row.evidence,
            lift,
            compared_with: row.compared_with,
            days: row.days,
            needs,
        };
        let paired = Paired {
            clicks_of_shown: row.clicks_of_shown,
            shown_of_clicked: row.shown_of_clicked,
            spend_of_returned: row.spend_of_returned,
            ..Paired::default()
        };
        Ok(Self {
            id: CampaignCreativeId(row.id),
            key: row.key,
            platform: parse(&row.platform, "platform of ads")?,
            campaign_id: AdEntityId(row.campaign_id),
            campaign: row.campaign,
            format: parse(&row.format, "format of a creative")?,
            headline: row.headline,
            body: row.body,
            ad_ids: row.ad_ids.into_iter().map(AdEntityId).collect(),
            sums: Sums {
                spend: row.spend,
                impressions: count(0),
                clicks: count(1),
                purchases: count(2),
                revenue: row.revenue,
                paired,
            },
            video_3s: count(3),
            shown_of_watched: row.shown_of_watched,
            verdict,
            fatigue: row
                .ctr_ratio
                .zip(row.is_fatigued)
                .map(|(ctr_ratio, is_fatigued)| Fatigue { ctr_ratio, is_fatigued }),
            won_at: row.won_at,
            first_seen: row.first_seen,
            last_seen: row.last_seen,
            tau: row.tau,
        })
    }
}

/// The place of a creative in the list, by what that is in the order of.
#[derive(Debug, Clone, Copy)]
struct Place {
    is_winner: bool,
    /// -1 where it is unknown.
    spend: Decimal,
    id: i64,
}

impl Place {
    fn of(creative: &Creative) -> Self {
        let spend = creative.sums.spend.unwrap_or(Decimal::NEGATIVE_ONE);
        Self { is_winner: creative.is_winner(), spend, id: creative.id.0 }
    }
}

/// The creatives behind a place, or the first ones.
async fn page(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    query: Query,
    after: Option<Place>,
    limit: i64,
) -> Result<Page<Creative>, Failure> {
    let Query { range, platform, status, winner, campaign } = query;
    let rows = Rows {
        account: account.0,
        first: range.first,
        last: range.last,
        platform: platform.map(|platform| platform.as_str()),
        status: status.map(|status| status.as_str()),
        winner,
        campaign: campaign.map(|id| id.0),
        after: after.map(|place| place.id),
        after_won: after.map(|place| place.is_winner),
        after_spend: after.map(|place| place.spend),
        limit: limit.saturating_add(1),
    };
    let found: Vec<CreativeRow> = rows.load(connection).await?;
    let rows = found.into_iter().map(Creative::try_from).collect::<Result<_, _>>()?;
    Ok(Page::cut(rows, limit, |creative: &Creative| creative.id.0))
}

/// The creatives behind the one that the cursor names, or the first ones.
async fn page_from(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    query: Query,
    request: PageRequest,
) -> Result<Page<Creative>, Failure> {
    let Some(id) = request.cursor else { return page(connection, account, query, None, request.limit).await };
    let place = PlaceOf {
        account: account.0,
        first: query.range.first,
        last: query.range.last,
        status: query.status.map(|status| status.as_str()),
        winner: query.winner,
        row: id,
    };
    let found: Vec<PlaceRow> = place.load(connection).await?;
    // Behind a row that is none there is nothing.
    let Some(PlaceRow { is_winner, spend }) = found.into_iter().next() else {
        return Ok(Page { items: Vec::new(), next_cursor: None });
    };
    page(connection, account, query, Some(Place { is_winner, spend, id }), request.limit).await
}

#[async_trait]
impl CreativeStore for Store {
    async fn page(
        &self,
        account: AccountId,
        query: Query,
        request: PageRequest,
    ) -> Result<Page<Creative>, AdListError> {
        self.check_campaign(account, query.campaign).await?;
        let read = async |connection: &mut AsyncPgConnection| page_from(connection, account, query, request).await;
        Ok(self.read(account, read).await.map_err(StoreError::from)?)
    }

    async fn stream(&self, account: AccountId, query: Query, cursor: Option<i64>) -> Result<Creatives, AdListError> {
        let first = {
            let _turn = self.first_turn().await?;
            CreativeStore::page(self, account, query, PageRequest { limit: SUMMED_BATCH, cursor }).await?
        };
        let store = self.clone();
        Ok(streams::rows_behind(first, Place::of, move |place| {
            let store = store.clone();
            async move {
                let _turn = store.turn().await?;
                let read = async |connection: &mut AsyncPgConnection| {
                    page(connection, account, query, Some(place), SUMMED_BATCH).await
                };
                Ok(store.read(account, read).await?)
            }
        }))
    }

    async fn freshness(&self, account: AccountId) -> Result<Freshness, StoreError> {
        let found = self
            .read(account, async |connection| Ok(freshness::of(connection, account, JobName::CreativeWinners).await?));
        Ok(found.await?)
    }
}
