//! `GET /api/v1/credits/transactions`: the ledger.

use ::web::row;
use actix_web::{Either, HttpResponse, http::Method, web};
use domain::{
    credits::{FeatureName, Transaction, TransactionFilter, TransactionKind},
    instants::{self, InvalidInstant},
    zone::Zone,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::{Duration, OffsetDateTime};
use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{RefOr, Schema, Type, schema::ObjectBuilder},
};
use validator::Validate;

use crate::{
    auth::Caller,
    csv::{self, Csv, CsvMetadata, Format, Listing},
    error::ApiError,
    input::Input,
    names,
    query::Limit,
    respond::{List, Reply, instant},
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
    #[schema(example = "insight_generation")]
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
        Self { id: id.0, kind, feature, amount, balance_after, created_at: instant(created_at), meta }
    }
}

row!(RowBody { id, kind, feature, amount, balance_after, created_at, meta });

type File = Csv<RowBody>;

/// Which transactions to list, and how.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<25, 100>,
    /// `next_cursor` of the page before.
    #[param(minimum = 1)]
    cursor: Option<i64>,
    /// Only transactions of this kind: `consume`, `refund`, `topup`, `auto_topup`, `grant` or `adjustment`.
    #[param(value_type = names::TransactionKindName, inline, required = false)]
    kind: Option<TransactionKind>,
    /// Only debits and refunds of this feature.
    #[param(pattern = "^[a-z0-9._-]{1,64}$")]
    feature: Option<String>,
    /// Not before this day (of the account's time zone) or RFC 3339 instant.
    #[param(value_type = Moment, inline, required = false)]
    from: Option<Moment>,
    /// Not after this day, or before this RFC 3339 instant.
    #[param(value_type = Moment, inline, required = false)]
    to: Option<Moment>,
}

impl Input for ListParams {}

/// A day or an instant.
#[derive(Deserialize)]
struct Moment(String);

/// The days that there are from 1970 to 2999, and a time of the day if one is given.
const MOMENT: &str = "^((19[7-9][0-9]|2[0-9]{3})-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)\
    |02-(0[1-9]|1[0-9]|2[0-8]))|(19(7[26]|8[048]|9[26])|2[0-9](0[48]|[2468][048]|[13579][26])|2[048]00)-02-29)\
    (T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$";

impl PartialSchema for Moment {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).pattern(Some(MOMENT)).into()
    }
}

impl ToSchema for Moment {}

fn filter(
    kind: Option<TransactionKind>,
    feature: Option<String>,
    span: [Option<Moment>; 2],
    zone: &Zone,
) -> Result<TransactionFilter, ApiError> {
    let feature = feature.map(FeatureName::new).transpose();
    let days = span.each_ref().map(|moment| instants::parse_day(&moment.as_ref()?.0).ok());
    let [from, to] = span;
    let filter = TransactionFilter {
        kind,
        feature: feature.map_err(|fault| ApiError::parameter("feature", &format!("is not valid: {fault}")))?,
        from: from.map(|Moment(text)| moment("from", &text, zone, false)).transpose()?,
        to: to.map(|Moment(text)| moment("to", &text, zone, true)).transpose()?,
    };
    // The end of a day is the beginning of the next, which is none of the span.
    let is_turned = match days {
        [Some(first), Some(last)] => first > last,
        [None, Some(_)] => filter.from.zip(filter.to).is_some_and(|(from, to)| from >= to),
        _ => filter.from.zip(filter.to).is_some_and(|(from, to)| from > to),
    };
    if is_turned {
        return Err(ApiError::parameter("to", "must not be before `from`"));
    }
    Ok(filter)
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
    params(ListParams),
    responses((status = 200, description = "A page of transactions.", content(
        (List<RowBody> = "application/json"),
        (inline(File) = "text/csv")
    ))),
    security(("api_key" = ["read"]))
)]
pub async fn list(
    caller: Caller,
    query: Listing<ListParams>,
    state: web::Data<State>,
    streams: web::Data<Streams>,
    method: Method,
) -> Result<Either<Reply, HttpResponse>, ApiError> {
    let Listing { params: ListParams { limit, cursor, kind, feature, from, to }, format, warnings } = query;
    let filter = filter(kind, feature, [from, to], caller.zone())?;
    let account = caller.account();
    let about = |warnings| {
        let day = caller.zone().day_of((state.clock)());
        CsvMetadata { name: "credit-transactions", day, freshness: None, warnings }
    };
    if format == Format::Csv && limit.requested().is_none() {
        let streaming = streams.into_inner().begin(account, &method)?;
        let rows = state.transactions.stream(account, filter, cursor).await?;
        return Ok(Either::Right(csv::stream(&about(&warnings), rows, RowBody::from, streaming)));
    }
    let page = limit.page(cursor);
    let found = state.transactions.page(account, &filter, page).await?;
    let list = List::new(page, found, RowBody::from, warnings);
    match format {
        Format::Json => Reply::listed(&list).map(Either::Left),
        Format::Csv => csv::page(&about(&list.warnings), &list.data, list.pagination.next_cursor).map(Either::Left),
    }
}
