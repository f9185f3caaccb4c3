//! [`Health`] on Postgres.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use diesel::{
    migration::{Migration as _, MigrationSource},
    pg::Pg,
    prelude::*,
    sql_types::{Bool, Integer, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    StoreError,
    health::{Health, Migration, Requirement, Schema},
};

use crate::{
    MIGRATIONS, Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::schema_requirements as requirements,
};

statement!(
    Ping() -> Scalar<Integer> = "SELECT 1"
);

statement!(
    IsThere<'a>(table: &'a str => Text) -> Scalar<Bool> = "SELECT to_regclass($1) IS NOT NULL"
);

statement!(
    /// Diesel's own table, of which no other query knows.
    Applied() -> Scalar<Text> = "SELECT version::text FROM __diesel_schema_migrations"
);

#[async_trait]
impl Health for Store {
    async fn ping(&self) -> Result<Duration, StoreError> {
        let started = Instant::now();
        self.run::<_, Failure>(async |connection| Ok(Ping {}.get_result::<i32>(connection).await?)).await?;
        Ok(started.elapsed())
    }

    async fn schema(&self) -> Result<Schema, StoreError> {
        let known = migrations()?;
        let own = parse(env!("CARGO_PKG_VERSION"), "version")?;
        let (applied, requirements) = self
            .run::<_, Failure>(async |connection| Ok((versions(connection).await?, required(connection).await?)))
            .await?;
        Ok(Schema::compare(&known, &applied, requirements, own))
    }
}

/// The migrations that are compiled in.
pub(crate) fn migrations() -> Result<Vec<Migration>, StoreError> {
    let all = MigrationSource::<Pg>::migrations(&MIGRATIONS);
    let all = all.map_err(StoreError::Internal)?;
    let each = all.iter().map(|migration| migration.name());
    Ok(each.map(|name| Migration { version: name.version().to_string(), name: name.to_string() }).collect())
}

/// The migrations that have run. A database that knows of none has no table of them.
async fn versions(connection: &mut AsyncPgConnection) -> Result<BTreeSet<String>, Failure> {
    if !is_there(connection, "__diesel_schema_migrations").await? {
        return Ok(BTreeSet::new());
    }
    let versions: Vec<String> = Applied {}.load(connection).await?;
    Ok(versions.into_iter().collect())
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = requirements, check_for_backend(diesel::pg::Pg))]
struct RequirementRow {
    migration: String,
    min_version: String,
}

async fn required(connection: &mut AsyncPgConnection) -> Result<Vec<Requirement>, Failure> {
    if !is_there(connection, "schema_requirements").await? {
        return Ok(Vec::new());
    }
    let rows: Vec<RequirementRow> = requirements::table.select(RequirementRow::as_select()).load(connection).await?;
    let rows = rows.into_iter().map(|RequirementRow { migration, min_version }| {
        parse(&min_version, "minimum version").map(|minimum| Requirement { migration, minimum })
    });
    Ok(rows.collect::<Result<_, _>>()?)
}

async fn is_there(connection: &mut AsyncPgConnection, table: &str) -> QueryResult<bool> {
    IsThere { table }.get_result(connection).await
}
