//! The HTTP edge: handlers, extractors, DTOs, errors, OpenAPI.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod as_of;
mod auth;
mod body;
mod csv;
mod edge;
mod endpoint;
mod error;
mod exact;
mod freshness;
mod input;
mod language;
mod lookups;
mod names;
mod notifications;
mod openapi;
mod path;
mod query;
pub mod rate_limit;
mod reads;
mod respond;
mod state;
mod streams;
mod v1;
mod warnings;
mod window;
mod write;

use std::{io, net::TcpListener, sync::Arc};

use ::web::{
    compression,
    server::{Limits, serve},
};
use actix_web::{
    App,
    dev::Server,
    middleware::{Compress, from_fn},
    web::Data,
};

pub use reads::reads;
pub use state::{PUBLIC_FACTOR, Parts, Settings, State};

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
    let Settings { connections, head_timeout, shutdown_timeout, .. } = state.settings;
    let last_check = Data::new(v1::status::LastCheck::default());
    let document = Data::new(v1::openapi::Served::default());
    let limited = Data::new(lookups::LimitedAddresses::default());
    let streams = Data::new(streams::Streams::default());
    let app = move || {
        App::new()
            .app_data(Data::from(Arc::new(for_worker(state.clone()))))
            .app_data(last_check.clone())
            .app_data(document.clone())
            .app_data(limited.clone())
            .app_data(streams.clone())
            .app_data(&*v1::TABLE)
            .wrap(from_fn(edge::edge))
            .wrap(Compress::default())
            .wrap(from_fn(compression::around))
            .configure(|config| v1::TABLE.configure(config))
    };
    serve(app, Limits { connections, head_timeout, shutdown_timeout }, listener, workers)
}
