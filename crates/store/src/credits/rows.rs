//! Rows of the ledger.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Jsonb, Nullable, Text, Timestamptz},
};
use domain::{StoreError, TransactionId, credits::Transaction};
use serde_json::Value;
use time::OffsetDateTime;

use crate::{
    database::error::{corrupt, parse},
    schema::credit_transactions,
};

#[derive(Queryable, Selectable)]
#[diesel(table_name = credit_transactions, check_for_backend(diesel::pg::Pg))]
pub(crate) struct TransactionRow {
    id: i64,
    kind: String,
    feature: Option<String>,
    amount: i64,
    balance_after: i64,
    meta: Value,
    created_at: OffsetDateTime,
}

columns!(TransactionRow {
    id: BigInt,
    kind: Text,
    feature: Nullable<Text>,
    amount: BigInt,
    balance_after: BigInt,
    meta: Jsonb,
    created_at: Timestamptz,
});

impl TryFrom<TransactionRow> for Transaction {
    type Error = StoreError;
    fn try_from(row: TransactionRow) -> Result<Self, StoreError> {
        let TransactionRow { id, kind, feature, amount, balance_after, meta, created_at } = row;
        let Value::Object(meta) = meta else { return Err(corrupt("transaction meta")) };
        Ok(Self {
            id: TransactionId(id),
            kind: parse(&kind, "transaction kind")?,
            feature,
            amount,
            balance_after,
            created_at,
            meta,
        })
    }
}
