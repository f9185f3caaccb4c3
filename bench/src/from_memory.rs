//! The limit that the HTTP framework sets: the same bytes, answered from memory.

use std::net::TcpListener;

use actix_web::{App, HttpResponse, HttpServer, dev::ServerHandle, web};

/// A server of this process that answers every request with the same bytes.
pub struct FromMemory {
    handle: ServerHandle,
    pub base_url: String,
}

impl FromMemory {
    /// # Errors
    /// When no address is free.
    pub fn start(body: Vec<u8>) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let body = web::Bytes::from(body);
        let server = HttpServer::new(move || {
            let body = body.clone();
            // A body is read: a connection with one that was not would be closed.
            let answer = move |_: web::Bytes| {
                let body = body.clone();
                async move { HttpResponse::Ok().content_type("application/json").body(body) }
            };
            App::new().default_service(web::to(answer))
        });
        let server = server.workers(workers()).disable_signals().listen(listener)?.run();
        let handle = server.handle();
        tokio::spawn(server);
        Ok(Self { handle, base_url })
    }

    pub async fn stop(self) {
        self.handle.stop(false).await;
    }
}

fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
