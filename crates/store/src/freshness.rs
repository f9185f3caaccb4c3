//! How fresh the figures of a job are, in one statement: a look at the end of an index for each source. The reads that
//! are asked for most look along with the figures instead, in the statement that reads them.

use diesel::sql_types::{BigInt, Bool, Date as SqlDate, Nullable, Text, Timestamptz};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use domain::{
    AccountId,
    freshness::{Freshness, Newest, Source},
    jobs::JobName,
};
use time::{Date, OffsetDateTime};

type Instant = Nullable<Timestamptz>;
type Day = Nullable<SqlDate>;

statement!(
    /// Sources that are not asked for are not looked at. `$1` is the account throughout.
    Reach(
        account: i64 => BigInt,
        job: &'static str => Text,
        orders: bool => Bool,
        refunds: bool => Bool,
        ad_spend: bool => Bool,
        expenses: bool => Bool,
        stock_levels: bool => Bool,
        track_events: bool => Bool,
    ) -> (Instant, Instant, Instant, Day, Day, Day, Instant) = "
    SELECT
        (SELECT max(finished_at) FROM job_runs WHERE account_id = ? AND job = ? AND finished_at IS NOT NULL),
        CASE WHEN ? THEN (SELECT max(placed_at) FROM orders WHERE account_id = $1) END,
        CASE WHEN ? THEN (SELECT max(refunded_at) FROM refunds WHERE account_id = $1) END,
        CASE WHEN ? THEN (SELECT max(day) FROM ad_spend WHERE account_id = $1) END,
        CASE WHEN ? THEN (SELECT max(day) FROM expenses WHERE account_id = $1) END,
        CASE WHEN ? THEN (SELECT max(day) FROM stock_levels WHERE account_id = $1) END,
        CASE WHEN ? THEN (SELECT max(occurred_at) FROM track_events WHERE account_id = $1) END"
);

type Row = (
    Option<OffsetDateTime>,
    Option<OffsetDateTime>,
    Option<OffsetDateTime>,
    Option<Date>,
    Option<Date>,
    Option<Date>,
    Option<OffsetDateTime>,
);

/// Outside a snapshot it is read before the figures: they are then as fresh as it says, or fresher.
pub(crate) async fn of(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    job: JobName,
) -> diesel::QueryResult<Freshness> {
    let sources = job.sources();
    let reach = Reach {
        account: account.0,
        job: job.as_str(),
        orders: sources.contains(&Source::Orders),
        refunds: sources.contains(&Source::Refunds),
        ad_spend: sources.contains(&Source::AdSpend),
        expenses: sources.contains(&Source::Expenses),
        stock_levels: sources.contains(&Source::StockLevels),
        track_events: sources.contains(&Source::TrackEvents),
    };
    let (as_of, orders, refunds, ad_spend, expenses, stock_levels, track_events): Row =
        reach.get_result(connection).await?;
    let newest = |source| match source {
        Source::Orders => orders.map(Newest::At),
        Source::Refunds => refunds.map(Newest::At),
        Source::AdSpend => ad_spend.map(Newest::Day),
        Source::Expenses => expenses.map(Newest::Day),
        Source::StockLevels => stock_levels.map(Newest::Day),
        Source::TrackEvents => track_events.map(Newest::At),
    };
    Ok(assemble(job, as_of, newest))
}

/// What a statement found that looked at the sources of `job` along with the figures.
pub(crate) fn assemble(
    job: JobName,
    as_of: Option<OffsetDateTime>,
    newest: impl Fn(Source) -> Option<Newest>,
) -> Freshness {
    Freshness { job, as_of, sources: job.sources().iter().map(|source| (*source, newest(*source))).collect() }
}
