//! `GET /api/v1/credits/transactions`: the ledger.

use actix_web::{Either, HttpRequest, HttpResponse, web};
use domain::{
    credits::{FeatureName, Transaction, TransactionFilter, TransactionKind},
    instants::{self, InvalidInstant},
    page::PageRequest,
    zone::Zone,
};
use serde::Serialize;
use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime};
use utoipa::ToSchema;

use crate::{
    auth::Caller,
    csv::{self, About, Format, Row},
    error::ApiError,
    names,
    query::Query,
    respond::{List, Reply, Warnings, instant},
    state::State,
    streams::Streams,
};

/// A row of the ledger. Rows are never changed or removed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LedgerTransaction)]
pub struct RowBody {
    #[schema(example = 9001)]
    id: i64,
    #[schema(schema_with = names::transaction_kind)]
    kind: TransactionKind,
    /// The AI feature charged; null when none was.
    #[schema(example = "insight_wording")]
    feature: Option<String>,
    /// Negative when credits were taken.
    #[schema(example = -20)]
    amount: i64,
    #[schema(example = 420)]
    balance_after: i64,
    #[schema(format = DateTime, example = "2026-05-02T11:58:03Z")]
    created_at: String,
    /// Free-form.
    meta: Map<String, Value>,
}

impl From<Transaction> for RowBody {
    fn from(transaction: Transaction) -> Self {
        let Transaction { id, kind, feature, amount, balance_after, created_at, meta } = transaction;
        Self { id, kind, feature, amount, balance_after, created_at: instant(created_at), meta }
    }
}

impl Row for RowBody {
    const COLUMNS: &'static [&'static str] =
        &["id", "kind", "feature", "amount", "balance_after", "created_at", "meta"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.id.to_string(),
            self.kind.to_string(),
            csv::optional(self.feature.as_deref()),
            self.amount.to_string(),
            self.balance_after.to_string(),
            self.created_at.clone(),
            csv::text(&serde_json::to_string(&self.meta).unwrap_or_default()),
        ]
    }
}

const DEFAULT_LIMIT: i64 = 25;
const MAX_LIMIT: i64 = 100;

/// What is asked for.
struct Asked {
    format: Format,
    filter: TransactionFilter,
    limit: Option<i64>,
    cursor: Option<i64>,
    warnings: Warnings,
}

impl Asked {
    fn read(mut query: Query, request: &HttpRequest, zone: &Zone) -> Result<Self, ApiError> {
        let feature = query.text("feature")?.map(FeatureName::new).transpose();
        let filter = TransactionFilter {
            kind: query.one_of("kind")?,
            feature: feature.map_err(|fault| ApiError::parameter("feature", &format!("is not valid: {fault}")))?,
            from: query.text("from")?.map(|text| moment("from", &text, zone, false)).transpose()?,
            to: query.text("to")?.map(|text| moment("to", &text, zone, true)).transpose()?,
        };
        if filter.from.zip(filter.to).is_some_and(|(from, to)| from > to) {
            return Err(ApiError::parameter("to", "must not be before `from`"));
        }
        Ok(Self {
            format: csv::format(&mut query, request)?,
            filter,
            limit: query.limit_if_given(MAX_LIMIT)?,
            cursor: query.positive("cursor")?,
            warnings: query.finish()?,
        })
    }
}

/// An instant, or a day of the account's zone: its beginning, or the beginning of the next for the end of a span.
fn moment(name: &str, text: &str, zone: &Zone, end: bool) -> Result<OffsetDateTime, ApiError> {
    let of_day = || {
        let day = instants::parse_day(text)?;
        Ok(zone.start_of(if end { day.saturating_add(Duration::DAY) } else { day }))
    };
    let read = match instants::parse(text) {
        Err(InvalidInstant::Form) => of_day(),
        read => read,
    };
    read.map_err(|invalid| match invalid {
        InvalidInstant::Form => ApiError::parameter(name, "must be a date such as 2026-05-01 or an RFC 3339 instant"),
        InvalidInstant::Range => ApiError::parameter(name, &invalid.to_string()),
    })
}

/// Credit transactions, newest first.
///
/// Lists every movement of the balance, newest first. As CSV without `limit` all of them are streamed.
#[utoipa::path(
    get, path = "/api/v1/credits/transactions", tag = "account", operation_id = "list_credit_transactions",
    params(
        ("limit" = Option<i64>, Query, description = "Rows per page; more than 100 is read as 100.", minimum = 1, example = 25),
        ("cursor" = Option<i64>, Query, description = "`next_cursor` of the page before.", minimum = 1),
        ("kind" = Option<String>, Query, description = "Only transactions of this kind: `consume`, `refund`, `topup`, `auto_topup`, `grant` or `adjustment`."),
        ("feature" = Option<String>, Query, description = "Only debits and refunds of this feature.", pattern = "^[a-z0-9._-]{1,64}$"),
        ("from" = Option<String>, Query, description = "Not before this day (of the account's time zone) or RFC 3339 instant."),
        ("to" = Option<String>, Query, description = "Not after this day, or before this RFC 3339 instant."),
        ("format" = Option<String>, Query, description = "`json`, or `csv` for a file; `Accept: text/csv` does the same."),
    ),
    responses((status = 200, description = "A page of transactions.", content(
        (List<RowBody> = "application/json"),
        (String = "text/csv")
    ))),
    security(("api_key" = ["read"]))
)]
pub async fn list(
    caller: Caller,
    query: Query,
    request: HttpRequest,
    state: web::Data<State>,
    streams: web::Data<Streams>,
) -> Result<Either<Reply, HttpResponse>, ApiError> {
    let Asked { format, filter, limit, cursor, warnings } = Asked::read(query, &request, caller.zone())?;
    let account = caller.account();
    let about = |warnings| {
        let day = caller.zone().day_of((state.clock)());
        About { name: "credit-transactions", day, freshness: None, warnings }
    };
    if format == Format::Csv && limit.is_none() {
        let streaming = streams.into_inner().begin(account)?;
        let rows = state.transactions.stream(account, filter, cursor).await?;
        return Ok(Either::Right(csv::stream(&about(&warnings), rows, RowBody::from, streaming)));
    }
    let page = PageRequest { limit: limit.unwrap_or(DEFAULT_LIMIT), cursor };
    let found = state.transactions.page(account, &filter, page).await?;
    let list = List::new(page, found, RowBody::from, warnings);
    match format {
        Format::Json => Reply::found(&list).map(Either::Left),
        Format::Csv => csv::page(&about(&list.warnings), &list.data, list.pagination.next_cursor).map(Either::Right),
    }
}
