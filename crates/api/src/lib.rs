//! The HTTP edge: handlers, extractors, DTOs, errors, OpenAPI.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod auth;
mod body;
mod client;
mod compression;
mod csv;
mod edge;
mod endpoint;
mod error;
mod exact;
mod freshness;
mod input;
mod lookups;
mod meter;
mod names;
mod notifications;
mod openapi;
mod path;
mod query;
pub mod rate_limit;
mod request_id;
mod respond;
mod state;
mod streams;
mod v1;
mod warnings;
mod window;
mod write;

use std::{io, net::TcpListener, sync::Arc, time::Duration};

use actix_web::{
    App, HttpServer,
    dev::Server,
    middleware::{Compress, from_fn},
    web,
};

pub use client::{InvalidNetwork, Network};
pub use state::{PUBLIC_FACTOR, Settings, State};

/// How long an idle connection is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a closing connection may linger, so that a client that still sends gets to read the answer.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// The OpenAPI 3.1 document of the API.
pub fn openapi() -> utoipa::openapi::OpenApi {
    openapi::document(&v1::TABLE)
}

/// The paths that are served, those that the document leaves out included.
pub fn mounted() -> Vec<&'static str> {
    v1::TABLE.paths().collect()
}

/// The server on `listener`, not yet running: await it, within a runtime of tokio. It handles no signal;
/// `Server::handle().stop(true)` stops accepting and waits for requests in flight. `for_worker` makes the state of each
/// HTTP thread: it may replace ports by ones that belong to the thread.
///
/// # Errors
/// When the listener cannot be used.
pub fn server(
    state: State,
    for_worker: impl Fn(State) -> State + Clone + Send + 'static,
    listener: TcpListener,
    workers: usize,
) -> io::Result<Server> {
    let shutdown = state.settings.shutdown_timeout.as_secs();
    let last_check = web::Data::new(v1::status::LastCheck::default());
    let document = web::Data::new(v1::openapi::Served::default());
    let limited = web::Data::new(lookups::LimitedAddresses::default());
    let streams = web::Data::new(streams::Streams::default());
    let (connections, head_timeout) = (state.settings.connections, state.settings.head_timeout);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(web::Data::from(Arc::new(for_worker(state.clone()))))
            .app_data(last_check.clone())
            .app_data(document.clone())
            .app_data(limited.clone())
            .app_data(streams.clone())
            .app_data(&*v1::TABLE)
            .wrap(from_fn(edge::edge))
            .wrap(Compress::default())
            .wrap(from_fn(compression::around))
            .configure(|config| v1::TABLE.configure(config))
    })
    .workers(workers)
    .max_connections(connections.div_ceil(workers.max(1)))
    .keep_alive(KEEP_ALIVE)
    .client_request_timeout(head_timeout)
    .client_disconnect_timeout(DISCONNECT_TIMEOUT)
    .shutdown_timeout(shutdown)
    .disable_signals()
    .listen(listener)?;
    Ok(server.run())
}
