//! How fresh the figures of a job are: a look at the end of an index for each source, in the statement that reads the figures
//! or, where there are none, in one of its own.

use std::mem::take;

use diesel::{
    Queryable,
    pg::Pg,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    sql_types::{Array, BigInt, Date as SqlDate, Nullable, SqlType, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId,
    freshness::{Freshness, Newest, Source},
    jobs::JobName,
};
use time::{Date, OffsetDateTime};

use crate::database::query::RunQueryDsl;

type Instant = Nullable<Timestamptz>;
type Day = Nullable<SqlDate>;

/// When the job last ended, and the newest of each source.
type ReachColumns = (Instant, Instant, Instant, Day, Day, Day, Instant);

/// A row of [`WithFreshness`].
#[derive(Queryable)]
pub(crate) struct Found<R> {
    reach: Reach,
    counts: Vec<i64>,
    row: Option<R>,
}

/// A row of [`ReachColumns`].
#[derive(Clone, Copy, Default, Queryable)]
pub(crate) struct Reach {
    as_of: Option<OffsetDateTime>,
    orders: Option<OffsetDateTime>,
    refunds: Option<OffsetDateTime>,
    ad_spend: Option<Date>,
    expenses: Option<Date>,
    stock_levels: Option<Date>,
    track_events: Option<OffsetDateTime>,
}

/// The newest of a source, or when a job last ended, as a value in SQL; `$1` is the account.
macro_rules! newest {
    (job, $name:literal) => {
        concat!(newest!(before_job), $name, newest!(after_job))
    };
    (before_job) => {
        "(SELECT max(finished_at) FROM job_runs WHERE account_id = $1 AND finished_at IS NOT NULL AND job = '"
    };
    (after_job) => {
        "')"
    };
    ($table:ident . $column:ident) => {
        concat!("(SELECT max(", stringify!($column), ") FROM ", stringify!($table), " WHERE account_id = $1)")
    };
}
pub(crate) use newest;

/// Writes [`ReachColumns`]. Sources that the job does not use are not looked at. `$1` is the account.
fn push_reach(out: &mut AstPass<'_, '_, Pg>, job: JobName) {
    for text in [newest!(before_job), job.as_str(), newest!(after_job), " AS as_of"] {
        out.push_sql(text);
    }
    for (source, newest, nothing) in [
        (Source::Orders, newest!(orders.placed_at), "NULL::timestamptz"),
        (Source::Refunds, newest!(refunds.refunded_at), "NULL::timestamptz"),
        (Source::AdSpend, newest!(ad_spend.day), "NULL::date"),
        (Source::Expenses, newest!(expenses.day), "NULL::date"),
        (Source::StockLevels, newest!(stock_levels.day), "NULL::date"),
        (Source::TrackEvents, newest!(track_events.occurred_at), "NULL::timestamptz"),
    ] {
        out.push_sql(", ");
        out.push_sql(if job.sources().contains(&source) { newest } else { nothing });
        out.push_sql(" AS ");
        out.push_sql(source.as_str());
    }
}

fn freshness(job: JobName, reach: Reach) -> Freshness {
    let Reach { as_of, orders, refunds, ad_spend, expenses, stock_levels, track_events } = reach;
    assemble(job, as_of, |source| match source {
        Source::Orders => orders.map(Newest::At),
        Source::Refunds => refunds.map(Newest::At),
        Source::AdSpend => ad_spend.map(Newest::Day),
        Source::Expenses => expenses.map(Newest::Day),
        Source::StockLevels => stock_levels.map(Newest::Day),
        Source::TrackEvents => track_events.map(Newest::At),
    })
}

/// A look at the freshness alone.
struct Alone {
    account: i64,
    job: JobName,
}

impl QueryId for Alone {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Alone {
    type SqlType = ReachColumns;
}

impl QueryFragment<Pg> for Alone {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> diesel::QueryResult<()> {
        out.push_sql("SELECT ");
        push_reach(&mut out, self.job);
        out.push_sql(" FROM (VALUES (");
        out.push_bind_param::<BigInt, _>(&self.account)?;
        out.push_sql(")) AS account");
        Ok(())
    }
}

/// A query of a job's figures, together with how fresh they are. The account must be its first parameter.
pub(crate) struct WithFreshness<Q> {
    job: JobName,
    /// A query, or a value, in SQL: numbers about all of the figures, whatever the query finds of them.
    counts: &'static str,
    query: Q,
}

impl<Q> QueryId for WithFreshness<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q> Query for WithFreshness<Q>
where
    Q: Query,
    Q::SqlType: SqlType,
{
    type SqlType = (ReachColumns, Array<BigInt>, Nullable<Q::SqlType>);
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for WithFreshness<Q> {
    /// One row at least, so that there is one to say how fresh nothing is. A nested loop is the only way to join without a
    /// condition, and keeps the order of the rows.
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> diesel::QueryResult<()> {
        out.push_sql("SELECT ");
        push_reach(&mut out, self.job);
        out.push_sql(", (");
        out.push_sql(self.counts);
        out.push_sql("), found.* FROM (VALUES (1)) AS once LEFT JOIN LATERAL (");
        self.query.walk_ast(out.reborrow())?;
        out.push_sql(") AS found ON true");
        Ok(())
    }
}

impl<Q> WithFreshness<Q> {
    pub fn new(job: JobName, query: Q) -> Self {
        Self::with_counts(job, "'{}'::bigint[]", query)
    }

    /// With a list of numbers beside the rows, by a declared statement whose parameter is the account.
    pub fn with_counts(job: JobName, counts: &'static str, query: Q) -> Self {
        Self { job, counts, query }
    }
}

/// Takes apart what [`WithFreshness`] found for `job`: how fresh it is, the counts, the rows.
pub(crate) fn apart<Row>(job: JobName, mut found: Vec<Found<Row>>) -> (Freshness, Vec<i64>, Vec<Row>) {
    let (reach, counts) = found.first_mut().map(|found| (found.reach, take(&mut found.counts))).unwrap_or_default();
    (freshness(job, reach), counts, found.into_iter().filter_map(|found| found.row).collect())
}

/// How fresh the figures of `job` are, read before they are: they are then as fresh as it says, or fresher.
pub(crate) async fn of(
    connection: &AsyncPgConnection,
    account: AccountId,
    job: JobName,
) -> diesel::QueryResult<Freshness> {
    let reach = Alone { account: account.0, job }.get_result(connection).await?;
    Ok(freshness(job, reach))
}

/// What a statement found that looked at the sources of `job` along with the figures.
pub(crate) fn assemble(
    job: JobName,
    as_of: Option<OffsetDateTime>,
    newest: impl Fn(Source) -> Option<Newest>,
) -> Freshness {
    Freshness { job, as_of, sources: job.sources().iter().map(|source| (*source, newest(*source))).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::statement::check::{check, oid};

    #[test]
    fn the_look_of_each_job_has_the_columns_that_are_read() {
        let (instant, day) = (oid::<Instant>(), oid::<Day>());
        let columns = [
            ("as_of", instant),
            ("orders", instant),
            ("refunds", instant),
            ("ad_spend", day),
            ("expenses", day),
            ("stock_levels", day),
            ("track_events", instant),
        ];
        for job in JobName::ALL {
            let look = Alone { account: 1, job: *job };
            let text = diesel::debug_query::<Pg, _>(&look).to_string();
            let (text, _) = text.split_once(" -- binds").unwrap();
            check("", text, &[("account", oid::<BigInt>())], &columns);
        }
    }
}
