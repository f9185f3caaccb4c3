//! `GET /api/v1/credits`: the balance and what moved it last.

use actix_web::web;
use domain::credits::{Credits, Transaction, TransactionKind};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::auto_topup::AutoTopupBody;
use crate::{
    auth::Caller,
    error::ApiError,
    names,
    query::{NoParams, Query},
    respond::{API_VERSION, Reply, Warnings, instant},
    state::State,
    warnings::Warning,
};

/// The account's credits.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Credits)]
pub struct Body {
    #[schema(example = "user_3kTq9ZxW1mB7LfR0uYcVa2Hd")]
    user_id: String,
    /// Credits now.
    #[schema(example = 420)]
    balance: i64,
    /// Sum of all top-ups.
    #[schema(example = 1000)]
    total_purchased: i64,
    /// Sum of all debits less refunds.
    #[schema(example = 1080)]
    total_spent: i64,
    #[schema(format = DateTime, example = "2026-05-02T11:58:03Z")]
    updated_at: String,
    auto_topup: AutoTopupBody,
    /// The five newest, newest first.
    recent_transactions: Vec<TransactionBody>,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// One movement of the balance.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Transaction)]
struct TransactionBody {
    #[schema(schema_with = names::transaction_kind)]
    kind: TransactionKind,
    /// The AI feature charged; null when none was.
    #[schema(example = "insight_generation")]
    feature: Option<String>,
    /// Negative for a debit.
    #[schema(example = -20)]
    amount: i64,
    #[schema(example = 420)]
    balance_after: i64,
    #[schema(format = DateTime, example = "2026-05-02T11:58:03Z")]
    created_at: String,
    /// Free-form.
    meta: Map<String, Value>,
}

impl From<Transaction> for TransactionBody {
    fn from(transaction: Transaction) -> Self {
        let Transaction { id: _, kind, feature, amount, balance_after, created_at, meta } = transaction;
        Self { kind, feature, amount, balance_after, created_at: instant(created_at), meta }
    }
}

/// Balance and latest transactions.
///
/// Shows the balance, the totals, the automatic recharge and the latest transactions.
#[utoipa::path(
    get, path = "/api/v1/credits", tag = "account", operation_id = "get_credits",
    responses((status = 200, description = "The account's credits.", body = Body)),
    security(("api_key" = ["read"]))
)]
pub async fn get(caller: Caller, query: Query<NoParams>, state: web::Data<State>) -> Result<Reply, ApiError> {
    let warnings = query.warnings;
    let credits = state.credits.summary(caller.account()).await?;
    let Credits { balance, total_purchased, total_spent, updated_at, auto_topup, recent_transactions } = credits;
    Reply::found(&Body {
        user_id: caller.user().to_string(),
        balance,
        total_purchased,
        total_spent,
        updated_at: instant(updated_at),
        auto_topup: auto_topup.into(),
        recent_transactions: recent_transactions.into_iter().map(Into::into).collect(),
        api_version: API_VERSION,
        warnings,
    })
}
