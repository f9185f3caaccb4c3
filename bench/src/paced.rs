//! Load at a steady rate, each request timed from the instant that it was due.
//!
//! A load generator that waits for an answer before it asks again does not ask while it waits, and what it does not ask
//! it does not time. Here the requests are due at instants drawn beforehand, as those of many clients who know nothing
//! of each other; one that cannot be sent because its connection still waits is late, and its wait counts.

use std::{
    fmt,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;

use crate::{load::Load, rounds::percentile};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// From the start of the threads to the first instant.
const BEFORE: Duration = Duration::from_millis(100);

/// Requests at a rate, over connections that take them in turn.
#[derive(Debug, Clone)]
pub struct Paced {
    pub requests: Requests,
    pub connections: usize,
    pub seconds: u32,
    /// Requests a second.
    pub rate: f64,
}

/// What is asked: the n-th request as it is sent.
#[derive(Clone)]
pub struct Requests {
    shown: String,
    message: Arc<dyn Fn(usize) -> Vec<u8> + Send + Sync>,
}

impl Requests {
    /// GETs of a path, by keys in turn.
    #[must_use]
    pub fn get(path: &str, keys: Vec<String>) -> Self {
        let target = path.to_owned();
        Self::of(&format!("GET {path}"), move |number| {
            let key = keys.get(number % keys.len().max(1)).map_or("", String::as_str);
            format!("GET {target} HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer {key}\r\n\r\n").into_bytes()
        })
    }

    /// Whole messages of HTTP, called `shown` in the report.
    #[must_use]
    pub fn of(shown: &str, message: impl Fn(usize) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self { shown: shown.to_owned(), message: Arc::new(message) }
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// What a connection did.
#[derive(Debug, Default)]
struct Seen {
    /// From due to answered, ms.
    took: Vec<f64>,
    /// From due to sent, where nothing was waited for, ms: what the generator itself is late.
    late: Vec<f64>,
    failed: f64,
}

impl Paced {
    /// The command as it is written in the report.
    #[must_use]
    pub fn shown(&self) -> String {
        let Self { requests: Requests { shown, .. }, connections, seconds, rate } = self;
        format!("{shown} at {rate:.0}/s for {seconds} s over {connections} connections")
    }

    /// Runs it against the server at `base_url`, on threads of its own, and blocks meanwhile.
    ///
    /// # Errors
    /// When the server cannot be connected to.
    pub fn run(&self, base_url: &str) -> anyhow::Result<Load> {
        let address: SocketAddr = base_url.strip_prefix("http://").context("no http:// address")?.parse()?;
        let clients = (0..self.connections).map(|_| Client::connect(address)).collect::<Result<Vec<_>, _>>()?;
        let began = Instant::now() + BEFORE;
        let due = self.due();
        let seen: Vec<Seen> = thread::scope(|scope| {
            let threads: Vec<_> = clients
                .into_iter()
                .enumerate()
                .map(|(index, client)| {
                    let mine = due.iter().enumerate().skip(index).step_by(self.connections);
                    scope.spawn(move || self.ask(client, began, mine))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect()
        });
        let mut took: Vec<f64> = seen.iter().flat_map(|seen| seen.took.iter().copied()).collect();
        let mut late: Vec<f64> = seen.iter().flat_map(|seen| seen.late.iter().copied()).collect();
        took.sort_unstable_by(f64::total_cmp);
        late.sort_unstable_by(f64::total_cmp);
        Ok(Load {
            per_second: took.len() as f64 / began.elapsed().as_secs_f64(),
            requests: due.len() as f64,
            failed: seen.iter().map(|seen| seen.failed).sum(),
            p50_ms: Some(percentile(&took, 0.5)),
            p99_ms: Some(percentile(&took, 0.99)),
            late_p99_ms: Some(percentile(&late, 0.99)),
        })
    }

    /// The instants after the beginning: the gaps are those of a Poisson process, the same in every run.
    fn due(&self) -> Vec<Duration> {
        let (mut at, mut state, end) = (0.0, 0x9e37_79b9_7f4a_7c15_u64, f64::from(self.seconds));
        let mut due = Vec::new();
        loop {
            // Xorshift: good enough to look like chance.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let uniform = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            at -= uniform.ln() / self.rate;
            if at >= end {
                return due;
            }
            due.push(Duration::from_secs_f64(at));
        }
    }

    fn ask<'a>(&self, mut client: Client, began: Instant, due: impl Iterator<Item = (usize, &'a Duration)>) -> Seen {
        let mut seen = Seen::default();
        let ms = |since: Instant| since.elapsed().as_secs_f64() * 1_000.0;
        for (number, after) in due {
            let due = began + *after;
            let wait = due.saturating_duration_since(Instant::now());
            if !wait.is_zero() {
                thread::sleep(wait);
                seen.late.push(ms(due));
            }
            match client.ask(&(self.requests.message)(number)) {
                Ok(true) => seen.took.push(ms(due)),
                Ok(false) | Err(_) => seen.failed += 1.0,
            }
        }
        seen
    }
}

/// A connection that is kept, and reopened when it is lost.
struct Client {
    address: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self { address, stream: connect(address)?, buffer: Vec::new() })
    }

    /// Whether the answer was a success.
    fn ask(&mut self, message: &[u8]) -> anyhow::Result<bool> {
        let asked = self.try_ask(message);
        if asked.is_err() {
            self.stream = connect(self.address)?;
        }
        asked
    }

    fn try_ask(&mut self, message: &[u8]) -> anyhow::Result<bool> {
        self.stream.write_all(message)?;
        self.buffer.clear();
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            self.fill()?;
        };
        let head = String::from_utf8_lossy(self.buffer.get(..end).unwrap_or_default()).to_ascii_lowercase();
        let is_success = head.get(..10).is_some_and(|status| status == "http/1.1 2");
        let Some(length) = head.lines().find_map(|line| line.strip_prefix("content-length: ")) else {
            anyhow::ensure!(head.contains("\r\ntransfer-encoding: chunked\r\n"), "no length");
            self.read_chunks(end)?;
            return Ok(is_success);
        };
        self.fill_to(end + length.trim().parse::<usize>()?)?;
        Ok(is_success)
    }

    /// Reads what comes in chunks (RFC 9112, section 7.1), without a trailer, from there on.
    fn read_chunks(&mut self, mut at: usize) -> anyhow::Result<()> {
        loop {
            let rest = self.buffer.get(at..).unwrap_or_default();
            let Some(line) = rest.windows(2).position(|window| window == b"\r\n") else {
                self.fill()?;
                continue;
            };
            let size = std::str::from_utf8(rest.get(..line).unwrap_or_default())?;
            let size = usize::from_str_radix(size, 16)?;
            // With the end of the line before it and that behind it.
            at += line + 2 + size + 2;
            self.fill_to(at)?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    fn fill_to(&mut self, length: usize) -> anyhow::Result<()> {
        while self.buffer.len() < length {
            self.fill()?;
        }
        Ok(())
    }

    fn fill(&mut self) -> anyhow::Result<()> {
        let mut piece = [0; 16_384];
        let read = self.stream.read(&mut piece)?;
        anyhow::ensure!(read > 0, "the connection ended");
        self.buffer.extend_from_slice(piece.get(..read).unwrap_or_default());
        Ok(())
    }
}

fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn paced(rate: f64) -> Paced {
        Paced { requests: Requests::get("/x", vec!["key".into()]), connections: 1, seconds: 1, rate }
    }

    #[test]
    fn instants_are_as_many_as_the_rate_says_and_not_regular() {
        let due = paced(10_000.0).due();
        assert!((9_700..10_300).contains(&due.len()), "{}", due.len());
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]).as_secs_f64() * 10_000.0).collect();
        // Of exponential gaps, 1 in e is longer than the mean.
        let long = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / gaps.len() as f64;
        assert!((long - (-1.0_f64).exp()).abs() < 0.02, "{long}");
    }

    /// Answers each request on the connections that come, with a status and after a pause.
    fn server(status: &'static str, pause: Duration) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut piece = [0; 4_096];
            while stream.read(&mut piece).unwrap_or(0) > 0 {
                thread::sleep(pause);
                let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{{}}");
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        url
    }

    #[test]
    fn a_wait_for_the_request_before_counts() {
        // Twenty requests of 50 ms each within one second, one after the other: half of them wait for others.
        let load = paced(40.0).run(&server("200 OK", Duration::from_millis(50))).unwrap();
        assert_eq!(load.failed, 0.0);
        assert!(load.p99_ms.unwrap() > 300.0, "{load:?}");
    }

    #[test]
    fn an_answer_in_chunks_is_read_to_its_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut piece = [0; 4_096];
            for pieces in [["5\r\nhe", "llo\r\n0\r\n\r", "\n"], ["1", "0\r\n0123456789abcdef\r\n0", "\r\n\r\n"]] {
                assert!(stream.read(&mut piece).unwrap() > 0);
                stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
                for part in pieces {
                    stream.write_all(part.as_bytes()).unwrap();
                }
            }
        });
        let mut client = Client::connect(address).unwrap();
        for expected in ["hello", "0123456789abcdef"] {
            assert!(client.ask(b"GET / HTTP/1.1\r\n\r\n").unwrap());
            let read = String::from_utf8_lossy(&client.buffer).into_owned();
            assert!(read.contains(expected) && read.ends_with("0\r\n\r\n"), "{read}");
        }
    }

    #[test]
    fn refusals_are_failures() {
        let load = paced(40.0).run(&server("503 Service Unavailable", Duration::ZERO)).unwrap();
        assert_eq!(load.failed, load.requests);
    }
}
