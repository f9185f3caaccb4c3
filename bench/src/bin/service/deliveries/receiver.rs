//! A receiver on this machine: answers 200 at once and notes when each event came first.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
/// What is posted here is never answered.
const HANGING: &[u8] = b"POST /hanging ";

/// A listening receiver; closes with this value.
pub struct Receiver {
    pub address: SocketAddr,
    noted: Arc<Noted>,
    accepting: JoinHandle<()>,
}

/// Arrivals by the number of the event: microseconds since the beginning, plus one; 0 for those that have not come.
struct Noted {
    began: Instant,
    arrivals: Vec<AtomicU64>,
    count: AtomicUsize,
}

impl Receiver {
    /// For events with numbers below `events`.
    pub async fn start(events: usize) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let arrivals = std::iter::repeat_with(AtomicU64::default).take(events).collect();
        let noted = Arc::new(Noted { began: Instant::now(), arrivals, count: AtomicUsize::new(0) });
        let (address, shared) = (listener.local_addr()?, noted.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, shared.clone()));
            }
        });
        Ok(Self { address, noted, accepting })
    }

    /// Events that have come.
    pub fn count(&self) -> usize {
        self.noted.count.load(Ordering::Relaxed)
    }

    /// When an event came first.
    pub fn arrival(&self, number: usize) -> Option<Instant> {
        let micros = self.noted.arrivals.get(number)?.load(Ordering::Relaxed).checked_sub(1)?;
        Some(self.noted.began + std::time::Duration::from_micros(micros))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, noted: Arc<Noted>) -> Option<()> {
    stream.set_nodelay(true).ok();
    let mut buffer = Vec::new();
    loop {
        let (length, number) = loop {
            if let Some(found) = request(&buffer) {
                break found;
            }
            if stream.read_buf(&mut buffer).await.ok()? == 0 {
                return None;
            }
        };
        if buffer.starts_with(HANGING) {
            std::future::pending::<()>().await;
        }
        noted.note(number);
        buffer.drain(..length);
        stream.write_all(ANSWER).await.ok()?;
    }
}

impl Noted {
    fn note(&self, number: usize) {
        let Some(arrival) = self.arrivals.get(number) else { return };
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX - 1) + 1;
        if arrival.compare_exchange(0, micros, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The length of the request at the beginning of the bytes, once it is whole, and the number of its event.
fn request(bytes: &[u8]) -> Option<(usize, usize)> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(bytes.get(..head)?).ok()?;
    let length: usize = text.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
    let body = std::str::from_utf8(bytes.get(head..head + length)?).ok()?;
    let (_, rest) = body.split_once("\"balance\":")?;
    let number = rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()?;
    Some((head + length, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_when_it_is_whole() {
        let text = "POST / HTTP/1.1\r\ncontent-length: 24\r\n\r\n{\"data\":{\"balance\":417}}POST";
        assert_eq!(request(text.as_bytes()), Some((text.len() - 4, 417)));
        assert_eq!(request(&text.as_bytes()[..50]), None);
    }
}
