//! [`AccountStore`] on Postgres.

pub(crate) mod data_keys;
pub(crate) mod keys;

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, StoreError,
    accounts::{Account, AccountChange, AccountStore, Mode, NewUser, STARTING_CREDITS},
    audit::Entry,
    credits::TransactionKind,
    imports::CountryCode,
    language::Language,
    texts::Locale,
    zone::Zone,
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    people::audit,
    schema::{accounts, credit_balances, credit_transactions, users},
};

statement!(
    /// Days that wait to be summed up were cut in the zone of before. The same instant is on days up to two apart in different
    /// zones.
    WidenTouchedDays(account: i64 => BigInt) -> () = "
    INSERT INTO touched_days (account_id, day)
    SELECT DISTINCT $1, day + near AS day FROM touched_days CROSS JOIN generate_series(-2, 2) AS near
    WHERE account_id = $1 ORDER BY day
    ON CONFLICT (account_id, day) DO NOTHING"
);

#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::pg::Pg))]
pub(crate) struct AccountRow {
    id: i64,
    user_id: String,
    mode: String,
    name: String,
    plan: String,
    currency: String,
    timezone: String,
    holiday_country: Option<String>,
    language: String,
    country: Option<String>,
    created_at: OffsetDateTime,
}

impl TryFrom<AccountRow> for Account {
    type Error = StoreError;
    fn try_from(row: AccountRow) -> Result<Self, StoreError> {
        let AccountRow {
            id,
            user_id,
            mode,
            name,
            plan,
            currency,
            timezone,
            holiday_country,
            language,
            country,
            created_at,
        } = row;
        Ok(Self {
            id: AccountId(id),
            user_id: parse(&user_id, "user id")?,
            mode: parse(&mode, "account mode")?,
            name,
            plan: parse(&plan, "plan")?,
            currency: parse(&currency, "currency")?,
            timezone: parse(&timezone, "time zone")?,
            holiday_country: holiday_country.map(|code| parse(&code, "country code")).transpose()?,
            locale: locale(&language, country.as_deref())?,
            created_at,
        })
    }
}

/// What an account's texts are written in.
pub(crate) fn locale(language: &str, country: Option<&str>) -> Result<Locale, StoreError> {
    let region = country.map(|code| parse(code, "country code")).transpose()?;
    Ok(Locale { language: parse(language, "language")?, region })
}

#[async_trait]
impl AccountStore for Store {
    async fn create(&self, user: NewUser) -> Result<Vec<Account>, StoreError> {
        let rows = self.transact::<_, Failure>(async |connection| Ok(create(connection, &user).await?)).await?;
        rows.into_iter().map(Account::try_from).collect()
    }

    async fn list(&self) -> Result<Vec<Account>, StoreError> {
        let rows = self
            .run::<_, Failure>(async |connection| {
                Ok(real().order(accounts::id).select(AccountRow::as_select()).load(connection).await?)
            })
            .await?;
        rows.into_iter().map(Account::try_from).collect()
    }

    async fn find(&self, account: AccountId) -> Result<Option<Account>, StoreError> {
        let row = self
            .run::<_, Failure>(async |connection| {
                Ok(real()
                    .filter(accounts::id.eq(account.0))
                    .select(AccountRow::as_select())
                    .first(connection)
                    .await
                    .optional()?)
            })
            .await?;
        row.map(Account::try_from).transpose()
    }

    async fn change(
        &self,
        account: AccountId,
        change: AccountChange,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Option<Account>, StoreError> {
        let changes = Changes::of(&change);
        if changes == Changes::default() {
            return self.find(account).await;
        }
        let row = self
            .transact::<_, Failure>(async |connection| {
                let changed = diesel::update(accounts::table.find(account.0))
                    .set(changes)
                    .returning(AccountRow::as_returning())
                    .get_result(connection)
                    .await
                    .optional()?;
                if let (Some(note), true) = (&note, changed.is_some()) {
                    audit::add(connection, note, now).await?;
                }
                if changes.timezone.is_some() {
                    WidenTouchedDays { account: account.0 }.execute(connection).await?;
                }
                keys::announce_account(connection, account).await?;
                Ok(changed)
            })
            .await?;
        row.map(Account::try_from).transpose()
    }
}

/// The accounts that are no copies of others as of a day.
#[diesel::dsl::auto_type]
fn real() -> _ {
    accounts::table.filter(accounts::copy_of.is_null())
}

/// The columns to be written; those that are none are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Default, AsChangeset)]
#[diesel(table_name = accounts)]
struct Changes<'a> {
    name: Option<&'a str>,
    timezone: Option<&'a str>,
    holiday_country: Option<Option<&'a str>>,
    language: Option<&'a str>,
    country: Option<Option<&'a str>>,
    fee_rate: Option<Decimal>,
    fee_fixed: Option<Decimal>,
    shipping_per_order: Option<Decimal>,
    cogs_ratio: Option<Decimal>,
}

impl<'a> Changes<'a> {
    fn of(change: &'a AccountChange) -> Self {
        let AccountChange {
            name,
            timezone,
            holiday_country,
            language,
            country,
            fee_rate,
            fee_fixed,
            shipping_per_order,
            cogs_ratio,
        } = change;
        let code = |country: &'a Option<CountryCode>| country.as_ref().map(CountryCode::as_str);
        Self {
            name: name.as_deref(),
            timezone: timezone.as_ref().map(Zone::name),
            holiday_country: holiday_country.as_ref().map(code),
            language: language.map(Language::as_str),
            country: country.as_ref().map(code),
            fee_rate: *fee_rate,
            fee_fixed: *fee_fixed,
            shipping_per_order: *shipping_per_order,
            cogs_ratio: *cogs_ratio,
        }
    }
}

/// The user with both accounts: live, then sandbox.
pub(crate) async fn create(connection: &mut AsyncPgConnection, user: &NewUser) -> QueryResult<[AccountRow; 2]> {
    diesel::insert_into(users::table)
        .values((users::id.eq(user.id.as_str()), users::created_at.eq(user.now)))
        .execute(connection)
        .await?;
    Ok([insert(connection, user, Mode::Live).await?, insert(connection, user, Mode::Test).await?])
}

async fn insert(
    connection: &mut AsyncPgConnection,
    user: &NewUser,
    mode: Mode,
) -> Result<AccountRow, diesel::result::Error> {
    let account = diesel::insert_into(accounts::table)
        .values((
            accounts::user_id.eq(user.id.as_str()),
            accounts::mode.eq(mode.as_str()),
            accounts::name.eq(&user.name),
            accounts::plan.eq(user.plan.as_str()),
            accounts::currency.eq(user.currency.as_str()),
            accounts::timezone.eq(user.timezone.name()),
            accounts::language.eq(user.locale.language.as_str()),
            accounts::country.eq(user.locale.region.as_ref().map(CountryCode::as_str)),
            accounts::created_at.eq(user.now),
        ))
        .returning(AccountRow::as_returning())
        .get_result(connection)
        .await?;
    diesel::insert_into(credit_balances::table)
        .values((
            credit_balances::account_id.eq(account.id),
            credit_balances::balance.eq(STARTING_CREDITS),
            credit_balances::updated_at.eq(user.now),
        ))
        .execute(connection)
        .await?;
    diesel::insert_into(credit_transactions::table)
        .values((
            credit_transactions::account_id.eq(account.id),
            credit_transactions::kind.eq(TransactionKind::Grant.as_str()),
            credit_transactions::amount.eq(STARTING_CREDITS),
            credit_transactions::balance_after.eq(STARTING_CREDITS),
            credit_transactions::created_at.eq(user.now),
        ))
        .execute(connection)
        .await?;
    Ok(account)
}

statement!(
    /// Not the account's row: that is on every node of a cluster, and would be locked on one that may be away.
    Lock(account: i64 => BigInt) -> Scalar<Bool> = "SELECT pg_advisory_xact_lock(726310, hashint8($1)) IS NULL"
);

/// Keeps others who lock the same account waiting until the transaction ends: for what is counted before it is added to.
pub(crate) async fn lock(connection: &mut AsyncPgConnection, account: AccountId) -> QueryResult<()> {
    Lock { account: account.0 }.execute(connection).await.map(|_| ())
}
