//! [`IntegrationStore`] on Postgres.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId, IntegrationId, StoreError,
    integrations::{Connection, Integration, IntegrationStore, Status, Totals},
    page::{Page, PageRequest},
};
use time::OffsetDateTime;

use crate::{
    Store,
    database::error::{Failure, parse},
    schema::integrations,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = integrations, check_for_backend(diesel::pg::Pg))]
pub(crate) struct IntegrationRow {
    id: i64,
    provider: String,
    shop: String,
    scopes: Vec<String>,
    connected_at: OffsetDateTime,
    revoked_at: Option<OffsetDateTime>,
    last_sync_at: Option<OffsetDateTime>,
}

impl TryFrom<IntegrationRow> for Integration {
    type Error = StoreError;
    fn try_from(row: IntegrationRow) -> Result<Self, StoreError> {
        let IntegrationRow { id, provider, shop, scopes, connected_at, revoked_at, last_sync_at } = row;
        Ok(Self {
            id: IntegrationId(id),
            provider: parse(&provider, "platform")?,
            shop,
            scopes,
            connected_at,
            revoked_at,
            last_sync_at,
        })
    }
}

/// The account's shops, newest first: it has a handful.
pub(crate) async fn all(connection: &mut AsyncPgConnection, account: AccountId) -> QueryResult<Vec<IntegrationRow>> {
    integrations::table
        .filter(integrations::account_id.eq(account.0))
        .order(integrations::id.desc())
        .select(IntegrationRow::as_select())
        .load(connection)
        .await
}

#[async_trait]
impl IntegrationStore for Store {
    async fn connect(&self, account: AccountId, connection: Connection) -> Result<(), StoreError> {
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
