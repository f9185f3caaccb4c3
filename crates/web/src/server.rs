//! The listener, and the limits of its connections.

use std::{io, net::TcpListener, time::Duration};

use actix_web::{
    App, Error, HttpServer,
    body::MessageBody,
    dev::{Server, ServiceFactory, ServiceRequest, ServiceResponse},
    middleware::from_fn,
};

use crate::unread;

/// How long an idle connection is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a closing connection may linger, so that a client that still sends gets to read the answer.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// What a server allows its clients.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once, over all threads. Beyond them new ones wait to be accepted.
    pub connections: usize,
    /// How long the first head of a connection may take to arrive.
    pub head_timeout: Duration,
    /// How long a shutdown waits for requests in flight, in whole seconds.
    pub shutdown_timeout: Duration,
}

/// The server on `listener` with so many threads, not yet running: await it, within a runtime of tokio. It handles no signal.
/// `app` is called once on each thread.
///
/// # Errors
/// When the listener cannot be used.
pub fn serve<T, B>(
    app: impl Fn() -> App<T> + Clone + Send + 'static,
    limits: Limits,
    listener: TcpListener,
    threads: usize,
) -> io::Result<Server>
where
    T: ServiceFactory<ServiceRequest, Config = (), Response = ServiceResponse<B>, Error = Error, InitError = ()>
        + 'static,
    T::Future: 'static,
    B: MessageBody + 'static,
{
    let Limits { connections, head_timeout, shutdown_timeout } = limits;
    let server = HttpServer::new(move || app().wrap(from_fn(unread::around)))
        .workers(threads)
        .max_connections(connections.div_ceil(threads.max(1)))
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(head_timeout)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        .shutdown_timeout(shutdown_timeout.as_secs())
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}
