//! [`AdStore`] on Postgres.

/// The days of ads that match; `$1` to `$6` as in [`Rows`].
macro_rules! matching {
    () => {
        "
    FROM ad_days d
        JOIN ad_entities ad ON ad.account_id = $1 AND ad.id = d.ad_id
        JOIN ad_accounts a ON a.account_id = $1 AND a.id = ad.ad_account_id
    WHERE d.account_id = $1 AND d.day BETWEEN $2 AND $3 AND ($4::text IS NULL OR a.platform = $4)
        AND ($5::bigint IS NULL OR ad.campaign_id = $5) AND ($6::text IS NULL OR ad.status = $6)"
    };
}

pub(super) mod campaigns;
mod overview;

use std::str::FromStr;

use async_trait::async_trait;
use diesel::sql_types::{BigInt, Bool, Date as SqlDate, Nullable, Numeric, Text, Timestamptz};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, AdEntityId, AdRowId, StoreError,
    ads::{AdListError, AdRow, AdRows, AdStore, Group, Level, Overview, Paired, Query, Status, Sums, place_by_day},
    page::{Page, PageRequest},
};
use rust_decimal::Decimal;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
        streams::{self, SUMMED_BATCH},
    },
};

statement!(
    /// A page of rows: behind the row `$9` of the day `$10` or with the spend `$11`, if there is one. `own` is joined for accounts
    /// as well, which have none: Citus finds no row at all where a join has a condition that is false for all of them.
    Rows(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        platform: Option<&'static str> => Nullable<Text>,
        campaign: Option<i64> => Nullable<BigInt>,
        status: Option<&'static str> => Nullable<Text>,
        level: &'static str => Text,
        by_day: bool => Bool,
        after: Option<i64> => Nullable<BigInt>,
        after_day: Option<Date> => Nullable<SqlDate>,
        after_spend: Option<Decimal> => Nullable<Numeric>,
        limit: i64 => BigInt,
    ) -> SumRow = concat!("
    WITH entries AS (
        SELECT d.*, a.platform, a.external_id AS ad_account, a.last_synced_at, ad.status, ad.campaign_id,
            ad.parent_id AS ad_set_id,
            CASE $7 WHEN 'account' THEN a.id WHEN 'campaign' THEN ad.campaign_id WHEN 'ad_set' THEN ad.parent_id
                ELSE ad.id END AS row_id,
            CASE WHEN $8 THEN d.day END AS row_day", matching!(), "), rows AS (
        SELECT row_id, row_day, min(platform) AS platform, min(ad_account) AS ad_account, max(last_synced_at) AS last_synced_at,
            min(ad_set_id) AS ad_set_id, min(campaign_id) AS campaign_id,
            bool_or(status = 'active') AS any_active, bool_or(status = 'paused') AS any_paused,
            CASE WHEN min(currency) = max(currency) THEN sum(native_spend) END AS native_spend,
            CASE WHEN min(currency) = max(currency) THEN min(currency) END AS native_currency,", ad_sums!(), "
        FROM entries GROUP BY row_id, row_day
    ), page AS (
        SELECT * FROM rows
        WHERE CASE
            WHEN $9 IS NULL THEN true
            WHEN $8 THEN (row_day, row_id) < ($10::date, $9)
            ELSE (coalesce(spend, -1), row_id) < ($11::numeric, $9)
        END
        ORDER BY row_day DESC, CASE WHEN NOT $8 THEN coalesce(spend, -1) END DESC, row_id DESC LIMIT $12
    )
    SELECT page.row_id, page.row_day, page.platform, page.ad_account, page.last_synced_at,
        CASE $7 WHEN 'ad' THEN page.ad_set_id WHEN 'ad_set' THEN page.campaign_id END AS parent_id,
        CASE WHEN $7 <> 'account' THEN own.external_id END AS external_id, CASE WHEN $7 <> 'account' THEN own.name END AS name,
        page.any_active, page.any_paused,
        CASE WHEN $7 = 'ad' THEN ad_set.name END AS ad_set_name,
        CASE WHEN $7 <> 'account' THEN campaign.name END AS campaign_name,
        page.native_spend, page.native_currency, page.spend, page.impressions, page.clicks, page.purchases, page.revenue,
        page.clicks_of_shown, page.shown_of_clicked, page.spend_of_shown, page.spend_of_clicked, page.spend_of_purchased,
        page.spend_of_returned, page.shown_of_spent, page.clicks_of_spent, page.purchases_of_spent
    FROM page
        LEFT JOIN ad_entities own ON own.account_id = $1 AND own.id = page.row_id
        LEFT JOIN ad_entities ad_set ON ad_set.account_id = $1 AND ad_set.id = page.ad_set_id
        LEFT JOIN ad_entities campaign ON campaign.account_id = $1 AND campaign.id = page.campaign_id
    ORDER BY page.row_day DESC, CASE WHEN NOT $8 THEN coalesce(page.spend, -1) END DESC, page.row_id DESC")
);

row!(
    struct SumRow {
        row_id: i64 => BigInt,
        row_day: Option<Date> => Nullable<SqlDate>,
        platform: String => Text,
        ad_account: String => Text,
        last_synced_at: OffsetDateTime => Timestamptz,
        parent_id: Option<i64> => Nullable<BigInt>,
        external_id: Option<String> => Nullable<Text>,
        name: Option<String> => Nullable<Text>,
        any_active: bool => Bool,
        any_paused: bool => Bool,
        /// Of what is above, from the level below that of accounts on.
        ad_set_name: Option<String> => Nullable<Text>,
        campaign_name: Option<String> => Nullable<Text>,
        native_spend: Option<Decimal> => Nullable<Numeric>,
        native_currency: Option<String> => Nullable<Text>,
        spend: Option<Decimal> => Nullable<Numeric>,
        impressions: Option<i64> => Nullable<BigInt>,
        clicks: Option<i64> => Nullable<BigInt>,
        purchases: Option<i64> => Nullable<BigInt>,
        revenue: Option<Decimal> => Nullable<Numeric>,
        clicks_of_shown: i64 => BigInt,
        shown_of_clicked: i64 => BigInt,
        spend_of_shown: Decimal => Numeric,
        spend_of_clicked: Decimal => Numeric,
        spend_of_purchased: Decimal => Numeric,
        spend_of_returned: Decimal => Numeric,
        shown_of_spent: i64 => BigInt,
        clicks_of_spent: i64 => BigInt,
        purchases_of_spent: i64 => BigInt,
    }
);

statement!(
    /// The spend by which the row `$8` has its place in the list. One that the filters have left out since the page before, such as
    /// an ad that was paused, keeps the place that all of its days in the window give it.
    SpendOf(
        account: i64 => BigInt,
        first: Date => SqlDate,
        last: Date => SqlDate,
        platform: Option<&'static str> => Nullable<Text>,
        campaign: Option<i64> => Nullable<BigInt>,
        status: Option<&'static str> => Nullable<Text>,
        level: &'static str => Text,
        row: i64 => BigInt,
    ) -> Scalar<Numeric> = "
    SELECT spend FROM (
        SELECT ($4::text IS NULL OR a.platform = $4) AND ($5::bigint IS NULL OR ad.campaign_id = $5)
                AND ($6::text IS NULL OR ad.status = $6) AS is_listed,
            CASE WHEN bool_and(d.spend IS NOT NULL) THEN sum(d.spend) ELSE -1 END AS spend
        FROM ad_days d
            JOIN ad_entities ad ON ad.account_id = $1 AND ad.id = d.ad_id
            JOIN ad_accounts a ON a.account_id = $1 AND a.id = ad.ad_account_id
        WHERE d.account_id = $1 AND d.day BETWEEN $2 AND $3
            AND CASE $7 WHEN 'account' THEN a.id WHEN 'campaign' THEN ad.campaign_id WHEN 'ad_set' THEN ad.parent_id
                ELSE ad.id END = $8
        GROUP BY 1
    ) parts ORDER BY is_listed DESC LIMIT 1"
);

statement!(
    HasCampaign(account: i64 => BigInt, id: i64 => BigInt) -> Scalar<Bool> = "
    SELECT EXISTS (SELECT FROM ad_entities WHERE account_id = $1 AND id = $2 AND level = 'campaign')"
);

impl SumRow {
    fn into_row(self, level: Level) -> Result<AdRow, StoreError> {
        let Self {
            row_id: id,
            row_day: date,
            platform,
            ad_account,
            last_synced_at,
            parent_id,
            external_id,
            name,
            any_active,
            any_paused,
            ad_set_name,
            campaign_name,
            native_spend,
            native_currency,
            spend,
            impressions,
            clicks,
            purchases,
            revenue,
            clicks_of_shown,
            shown_of_clicked,
            spend_of_shown,
            spend_of_clicked,
            spend_of_purchased,
            spend_of_returned,
            shown_of_spent,
            clicks_of_spent,
            purchases_of_spent,
        } = self;
        let told = |text: Option<String>| text.filter(|text| !text.is_empty());
        let external_id = if level == Level::Account { Some(ad_account.clone()) } else { told(external_id) };
        let currency = native_currency.map(|text| parse_as(&text, "currency")).transpose()?;
        let paired = Paired {
            clicks_of_shown,
            shown_of_clicked,
            spend_of_shown,
            spend_of_clicked,
            spend_of_purchased,
            spend_of_returned,
            shown_of_spent,
            clicks_of_spent,
            purchases_of_spent,
        };
        Ok(AdRow {
            id: AdRowId(id),
            external_id,
            platform: parse(&platform, "platform of ads")?,
            level,
            parent_id: parent_id.map(AdEntityId),
            name: told(name).or(told(ad_set_name)).or(told(campaign_name)).unwrap_or(ad_account),
            status: Status::of_ads(any_active, any_paused),
            date,
            sums: Sums { spend, impressions, clicks, purchases, revenue, paired },
            native: native_spend.zip(currency),
            last_synced_at,
        })
    }
}

fn parse_as<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    text: &str,
    what: &str,
) -> Result<T, StoreError> {
    text.parse().map_err(|error: T::Err| StoreError::Internal(format!("{what}: {error}").into()))
}

/// The place of a row in a list, by what that is in the order of.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// The spend is -1 where it is unknown.
    Spend(Decimal, AdRowId),
    Day(Date, AdRowId),
}

impl Place {
    fn of(row: &AdRow) -> Self {
        match row.date {
            None => Self::Spend(row.sums.spend.unwrap_or(Decimal::NEGATIVE_ONE), row.id),
            Some(day) => Self::Day(day, row.id),
        }
    }
}

/// The place of the row that a cursor names; none for a cursor that is none of the list.
async fn place_of(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    query: Query,
    cursor: i64,
) -> Result<Option<Place>, Failure> {
    let Query { range, platform, campaign, status, level, group } = query;
    if group == Group::Day {
        return Ok(place_by_day(cursor).map(|(day, row)| Place::Day(day, row)));
    }
    let spend = SpendOf {
        account: account.0,
        first: range.first,
        last: range.last,
        platform: platform.map(|platform| platform.as_str()),
        campaign: campaign.map(|id| id.0),
        status: status.map(|status| status.as_str()),
        level: level.as_str(),
        row: cursor,
    };
    let found: Vec<Decimal> = spend.load(connection).await?;
    Ok(found.into_iter().next().map(|spend| Place::Spend(spend, AdRowId(cursor))))
}

/// The rows behind a place, or the first ones.
async fn page(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    query: Query,
    after: Option<Place>,
    limit: i64,
) -> Result<Page<AdRow>, Failure> {
    let Query { range, platform, campaign, status, level, group } = query;
    let (after, after_day, after_spend) = match after {
        None => (None, None, None),
        Some(Place::Day(day, AdRowId(id))) => (Some(id), Some(day), None),
        Some(Place::Spend(spend, AdRowId(id))) => (Some(id), None, Some(spend)),
    };
    let rows = Rows {
        account: account.0,
        first: range.first,
        last: range.last,
        platform: platform.map(|platform| platform.as_str()),
        campaign: campaign.map(|id| id.0),
        status: status.map(|status| status.as_str()),
        level: level.as_str(),
        by_day: group == Group::Day,
        after,
        after_day,
        after_spend,
        limit: limit.saturating_add(1),
    };
    let found: Vec<SumRow> = rows.load(connection).await?;
    let rows = found.into_iter().map(|row| row.into_row(level)).collect::<Result<_, _>>()?;
    Ok(Page::cut(rows, limit, AdRow::cursor))
}

/// The rows behind the one that the cursor names, or the first ones.
async fn page_from(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    query: Query,
    request: PageRequest,
) -> Result<Page<AdRow>, Failure> {
    let after = match request.cursor {
        None => None,
        Some(cursor) => match place_of(connection, account, query, cursor).await? {
            // Behind a row that is none there is nothing.
            None => return Ok(Page { items: Vec::new(), next_cursor: None }),
            place => place,
        },
    };
    page(connection, account, query, after, request.limit).await
}

impl Store {
    /// The campaign that a list is narrowed to has to be the account's.
    pub(super) async fn check_campaign(
        &self,
        account: AccountId,
        campaign: Option<AdEntityId>,
    ) -> Result<(), AdListError> {
        let Some(AdEntityId(id)) = campaign else { return Ok(()) };
        let known = HasCampaign { account: account.0, id };
        let known = self.read(account, async |connection| Ok(known.clone().get_result::<bool>(connection).await?));
        if known.await.map_err(StoreError::from)? { Ok(()) } else { Err(AdListError::NoSuchCampaign) }
    }
}

#[async_trait]
impl AdStore for Store {
    async fn page(&self, account: AccountId, query: Query, request: PageRequest) -> Result<Page<AdRow>, AdListError> {
        self.check_campaign(account, query.campaign).await?;
        let read = async |connection: &mut AsyncPgConnection| page_from(connection, account, query, request).await;
        Ok(self.read(account, read).await.map_err(StoreError::from)?)
    }

    async fn stream(&self, account: AccountId, query: Query, cursor: Option<i64>) -> Result<AdRows, AdListError> {
        let first = PageRequest { limit: SUMMED_BATCH, cursor };
        let first = {
            let _turn = self.first_turn().await?;
            AdStore::page(self, account, query, first).await?
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

    async fn overview(&self, account: AccountId, query: Query) -> Result<Overview, StoreError> {
        Ok(self.read(account, async |connection| overview::read(connection, account, query).await).await?)
    }
}
