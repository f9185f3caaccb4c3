//! The connection to the server, and whether it is there.
//!
//! One task ([`Link::keep`]) pings the server every [`CHECK_EVERY`] and reconnects. Requests share the connection
//! and never wait for one: while there is none they fail at once, and a server that stops answering costs the
//! requests under way [`ANSWER_WITHIN`], and no other.

use std::{
    future::Future,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use redis::{AsyncConnectionConfig, Client, FromRedisValue, RedisResult, aio::MultiplexedConnection};
use tokio::{
    select,
    sync::Notify,
    time::{sleep, timeout},
};

/// Time limit of an answer, after which the server counts as away.
const ANSWER_WITHIN: Duration = Duration::from_millis(100);
/// How long connecting may take: a name, TLS and a password.
const CONNECT_WITHIN: Duration = Duration::from_millis(1_000);
/// How often an idle connection is checked, and how long a failed attempt to connect is rested from.
const CHECK_EVERY: Duration = Duration::from_millis(500);

/// `REDIS_URL` is none. The text is left out: it holds a password.
#[derive(Debug, thiserror::Error)]
#[error("REDIS_URL is not an address such as redis://host:6379/0 or rediss://user:password@host/0")]
pub struct InvalidAddress;

/// The way to the server.
pub struct Link {
    client: Client,
    connection: RwLock<Option<MultiplexedConnection>>,
    lost: Notify,
}

impl Link {
    /// Looks at an address, and connects nowhere.
    ///
    /// # Errors
    /// For one that [`connect`](Self::connect) would refuse.
    pub fn check(url: &str) -> Result<(), InvalidAddress> {
        Client::open(url).map(|_| ()).map_err(|_| InvalidAddress)
    }

    /// Tries to connect once; [`keep`](Self::keep) goes on from there.
    ///
    /// # Errors
    /// Only for an address that is none: a server that is away is waited for, and said in the log.
    pub async fn connect(url: &str) -> Result<Arc<Self>, InvalidAddress> {
        let client = Client::open(url).map_err(|_| InvalidAddress)?;
        let first = connect(&client).await.ok();
        let link = Arc::new(Self { client, connection: RwLock::new(None), lost: Notify::new() });
        link.set(first);
        if link.is_up() {
            tracing::info!("counting requests with the other replicas");
        } else {
            say_away();
        }
        Ok(link)
    }

    /// Connects when there is no connection and checks it when there is; never ends.
    pub async fn keep(&self) {
        let mut up = self.is_up();
        loop {
            if self.is_up() {
                // A failed check gives the connection up on its own.
                let _alive: Option<String> =
                    self.ask(async |mut connection| redis::cmd("PING").query_async(&mut connection).await).await;
            } else if let Ok(connection) = connect(&self.client).await {
                self.set(Some(connection));
                if !up {
                    tracing::info!("Redis is back: requests are counted with the other replicas");
                }
            }
            up = self.is_up();
            select! {
                () = self.lost.notified() => { up = false; }
                () = sleep(CHECK_EVERY) => {}
            }
        }
    }

    /// Whether the server answered when it was last asked.
    pub fn is_up(&self) -> bool {
        self.connection().is_some()
    }

    /// Asks the server; none when it is away, or does not answer in time.
    pub async fn ask<T, F>(&self, question: impl FnOnce(MultiplexedConnection) -> F) -> Option<T>
    where
        T: FromRedisValue,
        F: Future<Output = RedisResult<T>>,
    {
        let connection = self.connection()?;
        match timeout(ANSWER_WITHIN, question(connection)).await {
            Ok(Ok(answer)) => Some(answer),
            Ok(Err(error)) => {
                self.lose(&error.to_string());
                None
            }
            Err(_) => {
                self.lose("no answer in time");
                None
            }
        }
    }

    fn connection(&self) -> Option<MultiplexedConnection> {
        self.connection.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, connection: Option<MultiplexedConnection>) {
        metrics::gauge!("redis_up").set(if connection.is_some() { 1.0 } else { 0.0 });
        *self.connection.write().unwrap_or_else(PoisonError::into_inner) = connection;
    }

    /// Gives the connection up; the first who notices says why.
    fn lose(&self, why: &str) {
        let held = self.connection.write().unwrap_or_else(PoisonError::into_inner).take();
        if held.is_some() {
            metrics::gauge!("redis_up").set(0.0);
            tracing::warn!(why, "Redis is gone: requests are counted per process until it is back");
            self.lost.notify_one();
        }
    }
}

fn say_away() {
    tracing::warn!("Redis is not there: requests are counted per process until it is");
}

/// A connection that has answered.
async fn connect(client: &Client) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_WITHIN))
        // `Link::ask` has the limit of a question; this one is for the questions that connecting asks.
        .set_response_timeout(Some(CONNECT_WITHIN));
    let mut connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    redis::cmd("PING").query_async::<()>(&mut connection).await?;
    Ok(connection)
}
