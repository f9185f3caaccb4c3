//! The HTML face: pages that are whole without a script, made from the ports and formulas that the JSON face uses.
//!
//! `pages` go from the URL over the ports to a model of finished texts, `views` from the model to markup. A view computes
//! nothing, and knows neither ports nor figures; `text` is the only place that writes them.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod assets;
mod body;
mod csrf;
mod edge;
mod error;
mod headers;
mod pages;
mod parts;
mod receivers;
mod routes;
mod session;
mod state;
mod text;
mod views;

use std::{io, net::TcpListener, time::Duration};

use ::web::{
    compression,
    server::{Limits, serve},
};
use actix_web::{
    App,
    dev::Server,
    error::{PayloadError, UrlencodedError},
    middleware::{Compress, from_fn},
    web::{Data, FormConfig, QueryConfig, ServiceConfig},
};
use error::PageError;

pub use routes::READS;
pub use state::{Parts, Settings, State};

/// How long the head of a request may take to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of a form.
const MAX_FORM: usize = 64 * 1024;

/// A form that cannot be read is answered with a page.
fn form() -> FormConfig {
    FormConfig::default().limit(MAX_FORM).error_handler(|fault, _| match fault {
        UrlencodedError::Payload(PayloadError::Io(cause)) if cause.kind() == io::ErrorKind::TimedOut => {
            PageError::TooSlow.into()
        }
        _ => PageError::Invalid("form").into(),
    })
}

/// So is an address that cannot be read.
fn query() -> QueryConfig {
    QueryConfig::default().error_handler(|_, _| PageError::Invalid("query").into())
}

/// The server on `listener` with so many threads, not yet running: await it, within a runtime of tokio. It handles no signal.
/// `reads` mounts what answers at [`READS`]: it finds the member who asks among the extensions of a request, as `Rc<Session>`.
///
/// # Errors
/// When the listener cannot be used.
pub fn server(
    state: State,
    reads: impl Fn(&mut ServiceConfig) + Clone + Send + 'static,
    listener: TcpListener,
    threads: usize,
) -> io::Result<Server> {
    let Settings { connections, shutdown_timeout, .. } = state.settings;
    let state = Data::new(state);
    let app = move || {
        App::new()
            .app_data(state.clone())
            .app_data(form())
            .app_data(query())
            .wrap(from_fn(edge::edge))
            .wrap(Compress::default())
            .wrap(from_fn(compression::around))
            .configure(&reads)
            .configure(routes::configure)
    };
    serve(app, Limits { connections, head_timeout: HEAD_TIMEOUT, shutdown_timeout }, listener, threads)
}
