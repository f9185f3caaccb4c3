//! Running a query of the builder, or a declared statement.

use diesel::{
    QueryResult,
    deserialize::FromSqlRow,
    dsl::Limit,
    pg::Pg,
    query_builder::{AsQuery, QueryFragment, QueryId},
    query_dsl::{CompatibleType, methods::LimitDsl},
    result::Error,
    row::Row,
};
use diesel_async::{AsyncConnectionCore, AsyncPgConnection};
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream::BoxStream};

/// What diesel-async's trait of this name does, by futures that do not name the query in their type. One that does has the
/// compiler prove again, in each of its checks of the futures that await it, that the query is one: a third of the time that it took
/// for this crate.
pub(crate) trait RunQueryDsl: Sized {
    /// Runs it, and gives the number of rows that it was about.
    fn execute(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<usize>>
    where
        Self: QueryFragment<Pg> + QueryId,
    {
        AsyncConnectionCore::execute_returning_count(&mut &*connection, self)
    }

    /// All rows.
    fn load<U>(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<Vec<U>>>
    where
        Self: LoadQuery<U>,
    {
        self.all(connection)
    }

    /// The first row that it gives.
    fn get_result<U>(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<U>>
    where
        Self: LoadQuery<U>,
    {
        self.one(connection)
    }

    /// The first row; it asks for no more.
    fn first<U>(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<U>>
    where
        Self: LimitDsl,
        Limit<Self>: LoadQuery<U>,
    {
        self.limit(1).one(connection)
    }
}

impl<T> RunQueryDsl for T {}

/// What gives rows that can be read as `U`.
pub(crate) trait LoadQuery<U> {
    fn all(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<Vec<U>>>;
    fn one(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<U>>;
}

impl<T, U, ST> LoadQuery<U> for T
where
    T: AsQuery,
    T::Query: QueryFragment<Pg> + QueryId,
    T::SqlType: CompatibleType<U, Pg, SqlType = ST>,
    U: FromSqlRow<ST, Pg> + Send + 'static,
    ST: 'static,
{
    fn all(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<Vec<U>>> {
        all::<_, U, ST>(AsyncConnectionCore::load(&mut &*connection, self)).boxed()
    }

    fn one(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<U>> {
        one::<_, U, ST>(AsyncConnectionCore::load(&mut &*connection, self)).boxed()
    }
}

/// The answer to a query.
type Rows<'c, R> = BoxFuture<'c, QueryResult<BoxStream<'static, QueryResult<R>>>>;

/// Room for rows at first: a page of the default size fits.
const TYPICAL_ROWS: usize = 32;

async fn all<R: Row<'static, Pg>, U: FromSqlRow<ST, Pg>, ST>(rows: Rows<'_, R>) -> QueryResult<Vec<U>> {
    let mut rows = rows.await?;
    let mut all = Vec::with_capacity(TYPICAL_ROWS);
    while let Some(row) = rows.next().await {
        all.push(read(row)?);
    }
    Ok(all)
}

async fn one<R: Row<'static, Pg>, U: FromSqlRow<ST, Pg>, ST>(rows: Rows<'_, R>) -> QueryResult<U> {
    rows.await?.next().await.map_or(Err(Error::NotFound), read)
}

fn read<R: Row<'static, Pg>, U: FromSqlRow<ST, Pg>, ST>(row: QueryResult<R>) -> QueryResult<U> {
    U::build_from_row(&row?).map_err(Error::DeserializationError)
}
