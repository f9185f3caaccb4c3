//! [`Health`] on Postgres.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use diesel::{dsl::sql, sql_types::Integer};
use diesel_async::RunQueryDsl;
use domain::{StoreError, health::Health};

use crate::{Store, error::Failure};

#[async_trait]
impl Health for Store {
    async fn ping(&self) -> Result<Duration, StoreError> {
        let started = Instant::now();
        self.run::<_, Failure>(async |connection| {
            Ok(diesel::select(sql::<Integer>("1")).get_result::<i32>(connection).await?)
        })
        .await?;
        Ok(started.elapsed())
    }
}
