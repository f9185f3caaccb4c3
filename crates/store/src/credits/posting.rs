//! The one way in which a row gets into the ledger: lock the balance, look the key up, decide, write row and events.

use diesel::{
    prelude::*,
    result::Error,
    sql_types::{BigInt, Bytea, Jsonb, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId,
    credits::{Change, OperationKey, Refused, Totals, Transaction, auto_topup::Trigger, post},
};
use serde_json::{Map, Value};
use time::OffsetDateTime;

use super::rows::TransactionRow;
use crate::{
    database::{query::RunQueryDsl, statement::Scalar, transact::Rollback},
    schema::{ai_access, credit_balances, credit_transactions},
    webhooks::outbox,
};

/// An operation of the ledger, as far as its row goes.
pub(crate) struct Operation<'a> {
    pub account: AccountId,
    pub key: &'a OperationKey,
    pub fingerprint: [u8; 32],
    pub meta: &'a Map<String, Value>,
    /// The debit that is refunded.
    pub refunds: Option<i64>,
    pub now: OffsetDateTime,
}

/// What the ledger knows under a key.
pub(crate) enum Earlier {
    /// Nothing.
    None { ai_paused: bool },
    /// The same operation: this is its result.
    Same(Transaction),
    /// Another operation.
    Other,
}

/// A locked balance.
pub(crate) struct Locked {
    pub totals: Totals,
    /// When and by how much the account is recharged; none while that is off.
    pub auto_topup: Option<Trigger>,
}

statement!(
    /// The row of an account that never had one: an empty balance, as old as the account.
    Open(account: i64 => BigInt) -> Scalar<BigInt> = "
    INSERT INTO credit_balances (account_id, balance, updated_at)
    SELECT $1, 0, a.created_at FROM accounts a WHERE a.id = $1
    ON CONFLICT (account_id) DO NOTHING
    RETURNING account_id"
);

/// Locks the account's balance until the transaction ends. Whatever is read after this is not changed by others.
///
/// Every transaction that locks several of an account's rows begins with this one, so that no two wait for each other.
///
/// # Errors
/// [`Error::NotFound`] when there is no such account.
pub(crate) async fn lock(connection: &mut AsyncPgConnection, account: AccountId) -> Result<Locked, Error> {
    if let Some(locked) = try_lock(connection, account).await? {
        return Ok(locked);
    }
    Open { account: account.0 }.execute(connection).await?;
    try_lock(connection, account).await?.ok_or(Error::NotFound)
}

async fn try_lock(connection: &mut AsyncPgConnection, account: AccountId) -> Result<Option<Locked>, Error> {
    let row: Option<LockedRow> = credit_balances::table
        .find(account.0)
        .select(LockedRow::as_select())
        .for_no_key_update()
        .first(connection)
        .await
        .optional()?;
    Ok(row.map(Locked::from))
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = credit_balances, check_for_backend(diesel::pg::Pg))]
struct LockedRow {
    balance: i64,
    total_purchased: i64,
    total_spent: i64,
    auto_topup_enabled: bool,
    auto_topup_threshold: i64,
    auto_topup_amount: i64,
}

impl From<LockedRow> for Locked {
    fn from(row: LockedRow) -> Self {
        let LockedRow {
            balance,
            total_purchased,
            total_spent,
            auto_topup_enabled,
            auto_topup_threshold: threshold,
            auto_topup_amount: credits,
        } = row;
        Self {
            totals: Totals { balance, total_purchased, total_spent },
            auto_topup: auto_topup_enabled.then_some(Trigger { threshold, credits }),
        }
    }
}

/// What is joined to a balance under a key.
#[derive(Queryable)]
struct EarlierRow {
    paused_at: Option<OffsetDateTime>,
    operation_hash: Option<Vec<u8>>,
    transaction: Option<TransactionRow>,
}

/// Looks the key up, and in passing whether AI access is paused. A statement after the lock's own: that one sees the
/// other tables as they were before it waited.
pub(crate) async fn earlier<E>(
    connection: &mut AsyncPgConnection,
    operation: &Operation<'_>,
) -> Result<Earlier, Rollback<E>> {
    let same_key = credit_transactions::account_id
        .eq(credit_balances::account_id)
        .and(credit_transactions::operation_key.eq(operation.key.as_str()));
    let EarlierRow { paused_at, operation_hash, transaction } = credit_balances::table
        .left_join(ai_access::table.on(ai_access::account_id.eq(credit_balances::account_id)))
        .left_join(credit_transactions::table.on(same_key))
        .filter(credit_balances::account_id.eq(operation.account.0))
        .select((
            ai_access::paused_at.nullable(),
            credit_transactions::operation_hash.nullable(),
            Option::<TransactionRow>::as_select(),
        ))
        .first(connection)
        .await?;
    Ok(match transaction {
        None => Earlier::None { ai_paused: paused_at.is_some() },
        Some(row) if operation_hash.as_deref() == Some(&operation.fingerprint) => Earlier::Same(row.try_into()?),
        Some(_) => Earlier::Other,
    })
}

statement!(
    /// The new balance and the row. Time never runs backwards in a ledger, even if the clocks of its writers differ.
    Write(
        balance: i64 => BigInt,
        total_purchased: i64 => BigInt,
        total_spent: i64 => BigInt,
        now: OffsetDateTime => Timestamptz,
        account: i64 => BigInt,
        kind: &'static str => Text,
        feature: Option<String> => Nullable<Text>,
        amount: i64 => BigInt,
        operation_key: String => Text,
        operation_hash: Vec<u8> => Bytea,
        refunds_id: Option<i64> => Nullable<BigInt>,
        meta: Value => Jsonb,
    ) -> TransactionRow = "
    WITH changed AS (
        UPDATE credit_balances
        SET balance = $1, total_purchased = $2, total_spent = $3, updated_at = greatest(updated_at, $4)
        WHERE account_id = $5
        RETURNING account_id, balance, updated_at
    )
    INSERT INTO credit_transactions (account_id, kind, feature, amount, balance_after, operation_key, operation_hash,
        refunds_id, meta, created_at)
    SELECT account_id, $6, $7, $8, balance, $9, $10, $11, $12, updated_at FROM changed
    RETURNING id, kind, feature, amount, balance_after, meta, created_at"
);

/// Decides about a change of the locked balance and writes it: balance, row and events.
pub(crate) async fn apply<E: From<Refused>>(
    connection: &mut AsyncPgConnection,
    operation: &Operation<'_>,
    totals: Totals,
    change: Change,
) -> Result<Transaction, Rollback<E>> {
    let posting = post(totals, change).map_err(|refused| Rollback::Refused(refused.into()))?;
    let statement = Write {
        balance: posting.after.balance,
        total_purchased: posting.after.total_purchased,
        total_spent: posting.after.total_spent,
        now: operation.now,
        account: operation.account.0,
        kind: posting.entry.kind.as_str(),
        feature: posting.entry.feature.clone(),
        amount: posting.entry.amount,
        operation_key: operation.key.as_str().to_owned(),
        operation_hash: operation.fingerprint.to_vec(),
        refunds_id: operation.refunds,
        meta: Value::Object(operation.meta.clone()),
    };
    let row: TransactionRow = statement.get_result(connection).await?;
    let transaction = Transaction::try_from(row)?;
    outbox::emit(connection, operation.account, &posting.events(transaction.id), operation.now).await?;
    Ok(transaction)
}
