//! Bodies that are not read to their end.

use std::{
    cell::RefCell,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
};

use actix_web::{
    Error, HttpMessage,
    body::{BodySize, BoxBody, EitherBody, MessageBody},
    dev::{Payload, ServiceRequest, ServiceResponse},
    error::PayloadError,
    middleware::Next,
    web::Bytes,
};
use futures_util::{Stream, StreamExt};

/// Keeps a body of unknown length until the request is answered. The server waits for the end of one that nobody keeps, so that
/// the connection can serve on, however long that takes; for one that is kept, it closes the connection after the answer.
pub async fn around<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B, Kept>>, Error> {
    if !request.request().chunked().unwrap_or(false) {
        return next.call(request).await.map(ServiceResponse::map_into_left_body);
    }
    let body = Rc::new(RefCell::new(request.take_payload()));
    request.set_payload(Payload::Stream { payload: Box::pin(Reader(body.clone())) });
    let response = next.call(request).await?;
    Ok(response.map_body(|_, answer| EitherBody::right(Kept { answer: answer.boxed(), _request: body })))
}

type Shared = Rc<RefCell<Payload>>;

/// Reads the body of a request, of which the answer holds a share.
struct Reader(Shared);

impl Stream for Reader {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.borrow_mut().poll_next_unpin(cx)
    }
}

/// An answer, and the body of its request.
pub struct Kept {
    answer: BoxBody,
    _request: Shared,
}

impl MessageBody for Kept {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.answer.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.answer).poll_next(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, time::Duration};

    use actix_web::{App, HttpResponse, web};
    use rstest::rstest;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
        time::timeout,
    };

    use super::*;
    use crate::server::{Limits, serve};

    async fn refuse() -> HttpResponse {
        HttpResponse::Unauthorized().body("who?")
    }

    async fn echo(body: Bytes) -> Bytes {
        body
    }

    /// What a server says to the bytes, until it closes the connection.
    async fn answers(bytes: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let second = Duration::from_secs(1);
        let limits = Limits { connections: 10, head_timeout: second, shutdown_timeout: second };
        let app = || App::new().route("/refuse", web::post().to(refuse)).route("/echo", web::post().to(echo));
        let server = serve(app, limits, listener, 1).unwrap();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        let mut text = String::new();
        timeout(Duration::from_secs(30), stream.read_to_string(&mut text)).await.expect("the end").unwrap();
        handle.stop(false).await;
        text
    }

    #[rstest]
    #[case::chunks("Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n")]
    #[case::a_length("Content-Length: 9\r\n\r\na")]
    #[actix_web::test]
    async fn a_body_that_nobody_reads_and_that_does_not_end_ends_the_connection(#[case] rest: &str) {
        let text = answers(&format!("POST /refuse HTTP/1.1\r\nHost: x\r\n{rest}")).await;
        assert!(text.starts_with("HTTP/1.1 401 ") && text.ends_with("who?"), "{text}");
    }

    #[actix_web::test]
    async fn a_connection_serves_on_after_chunks_that_were_read() {
        let request = |headers| format!("POST /echo HTTP/1.1\r\nHost: x\r\n{headers}\r\n1\r\na\r\n0\r\n\r\n");
        let first = request("Transfer-Encoding: chunked\r\n");
        let last = request("Transfer-Encoding: chunked\r\nConnection: close\r\n");
        let text = answers(&(first + &last)).await;
        assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 2, "{text}");
    }
}
