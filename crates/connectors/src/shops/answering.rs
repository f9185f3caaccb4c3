//! A platform for tests that answers as it is told.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use url::Url;

/// The address of a platform that answers a request so, with status and body, and how often it did.
pub async fn answering(answer: fn(&str) -> (&'static str, &'static str)) -> (Url, Arc<AtomicUsize>) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let answers = Arc::new(AtomicUsize::new(0));
    let count = answers.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let count = count.clone();
            tokio::spawn(async move {
                let mut request = Vec::new();
                while !is_whole(&request) {
                    if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                count.fetch_add(1, Ordering::SeqCst);
                let (status, body) = answer(&String::from_utf8_lossy(&request));
                let head = format!(
                    "date: Tue, 24 Nov 2026 06:08:13 GMT\r\nx-total-count: 2\r\ncontent-length: {}\r\nconnection: close",
                    body.len()
                );
                let text = format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}");
                stream.write_all(text.as_bytes()).await.unwrap();
            });
        }
    });
    (base.parse().unwrap(), answers)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}
