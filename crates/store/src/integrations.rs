//! [`IntegrationStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, IntegrationId, StoreError,
    integrations::{Connection, Integration, IntegrationStore, LastError, Status, Totals},
    page::{Page, PageRequest},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    schema::integrations,
};

/// A connection with how far its history has been read, and the newest failure of those of its streams that fail.
macro_rules! integration_columns {
    () => {
        "
    SELECT i.id, i.provider, i.shop, i.scopes, i.connected_at, i.revoked_at, i.last_sync_at, i.missing_scopes,
        i.history_from, history.cursor_at AS backfilled_from, i.buyer_data, failing.error_code, failing.error_message,
        failing.failed_at, i.suspended_at IS NOT NULL AS suspended, i.owner_of, i.revoke_reason
    FROM integrations i
    LEFT JOIN sync_streams history ON history.account_id = i.account_id AND history.integration_id = i.id
        AND history.stream = 'back_fill'
    LEFT JOIN LATERAL (SELECT error_code, error_message, failed_at FROM sync_streams s
        WHERE s.account_id = i.account_id AND s.integration_id = i.id AND s.failures > 0
        ORDER BY failed_at DESC LIMIT 1) failing ON true
    WHERE i.account_id = $1"
    };
}

statement!(
    All(account: i64 => BigInt) -> IntegrationRow = concat!(integration_columns!(), " ORDER BY i.id DESC")
);

statement!(
    One(account: i64 => BigInt, id: i64 => BigInt) -> IntegrationRow = concat!(integration_columns!(), " AND i.id = $2")
);

row!(
    pub(crate) struct IntegrationRow {
        id: i64 => BigInt,
        provider: String => Text,
        shop: String => Text,
        scopes: Vec<String> => Array<Text>,
        connected_at: OffsetDateTime => Timestamptz,
        revoked_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        last_sync_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        missing_scopes: Vec<String> => Array<Text>,
        history_from: Option<OffsetDateTime> => Nullable<Timestamptz>,
        backfilled_from: Option<OffsetDateTime> => Nullable<Timestamptz>,
        buyer_data: String => Text,
        error_code: Option<String> => Nullable<Text>,
        error_message: Option<String> => Nullable<Text>,
        failed_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        suspended: bool => Bool,
        owner_of: Vec<String> => Array<Text>,
        revoke_reason: Option<String> => Nullable<Text>,
    }
);

impl TryFrom<IntegrationRow> for Integration {
    type Error = StoreError;
    fn try_from(row: IntegrationRow) -> Result<Self, StoreError> {
        let IntegrationRow {
            id,
            provider,
            shop,
            scopes,
            connected_at,
            revoked_at,
            last_sync_at,
            missing_scopes,
            history_from,
            backfilled_from,
            buyer_data,
            error_code,
            error_message,
            failed_at,
            suspended,
            owner_of,
            revoke_reason,
        } = row;
        let last_error = match (error_code, error_message, failed_at) {
            (Some(code), Some(message), Some(at)) => Some(LastError { code: parse(&code, "error code")?, message, at }),
            _ => None,
        };
        Ok(Self {
            id: IntegrationId(id),
            provider: parse(&provider, "platform")?,
            shop,
            scopes,
            connected_at,
            revoked_at,
            last_sync_at,
            missing_scopes,
            history_from,
            backfilled_from,
            buyer_data: parse(&buyer_data, "way of showing buyers")?,
            last_error,
            suspended,
            owner_of: owner_of.iter().map(|fact| parse(fact, "fact")).collect::<Result<_, _>>()?,
            revoke_reason: revoke_reason.map(|reason| parse(&reason, "reason of a revocation")).transpose()?,
        })
    }
}

/// The account's shops, newest first: it has a handful.
pub(crate) async fn all(connection: &mut AsyncPgConnection, account: AccountId) -> QueryResult<Vec<IntegrationRow>> {
    All { account: account.0 }.load(connection).await
}

/// One of the account's shops.
pub(crate) async fn one(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: IntegrationId,
) -> QueryResult<Option<IntegrationRow>> {
    One { account: account.0, id: id.0 }.get_result(connection).await.optional()
}

#[async_trait]
impl IntegrationStore for Store {
    async fn record(&self, account: AccountId, connection: Connection) -> Result<(), StoreError> {
        let Connection { provider, shop, scopes, connected_at, last_sync_at, revoked_at } = connection;
        let state = (
            integrations::scopes.eq(scopes),
            integrations::connected_at.eq(connected_at),
            integrations::last_sync_at.eq(last_sync_at),
            integrations::revoked_at.eq(revoked_at),
        );
        let key = (
            integrations::account_id.eq(account.0),
            integrations::provider.eq(provider.as_str()),
            integrations::shop.eq(shop),
        );
        self.run::<_, Failure>(async |connection| {
            diesel::insert_into(integrations::table)
                .values((key, state.clone()))
                .on_conflict((integrations::account_id, integrations::provider, integrations::shop))
                .do_update()
                .set(state)
                .execute(connection)
                .await?;
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn find(&self, account: AccountId, id: IntegrationId) -> Result<Option<Integration>, StoreError> {
        let row = self.run::<_, Failure>(async |connection| Ok(one(connection, account, id).await?)).await?;
        row.map(Integration::try_from).transpose()
    }

    async fn page(
        &self,
        account: AccountId,
        page: PageRequest,
        now: OffsetDateTime,
    ) -> Result<(Page<Integration>, Totals), StoreError> {
        // One read of all gives the page and the totals of the same moment.
        let rows = self.read(account, async |connection| Ok(all(connection, account).await?)).await?;
        let all = rows.into_iter().map(Integration::try_from).collect::<Result<Vec<_>, _>>()?;
        let mut totals = Totals::default();
        for integration in &all {
            totals.total += 1;
            *match integration.status(now) {
                Status::Connected => &mut totals.connected,
                Status::Stale => &mut totals.stale,
                Status::Revoked => &mut totals.revoked,
                Status::NeverSynced => &mut totals.never_synced,
            } += 1;
        }
        let below = all.into_iter().filter(|integration| page.cursor.is_none_or(|cursor| integration.id.0 < cursor));
        Ok((Page::cut(below.collect(), page.limit, |integration| integration.id.0), totals))
    }
}
