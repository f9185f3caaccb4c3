//! Clients who guess passwords on the dashboard, 200 times a second.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpSocket, TcpStream},
    time::{Instant, MissedTickBehavior, interval_at, sleep},
};

use super::attack::{Attack, read_answer};

/// Guesses a second, of as many clients.
pub const RATE: u32 = 200;
/// Tries that nobody waits for: from the next one on an address and an account are slowed down.
const FREE: u64 = 5;
/// People who can be guessed at.
pub const PEOPLE: u64 = 100_000;
/// Guesses after which they count as under way.
const UNDER_WAY: u64 = 200;

/// The address of a person.
pub fn email(number: u64) -> String {
    format!("person{number}@shop.example")
}

/// Starts the clients; gives the count from which on they are under way. Those of another process guess at others, who nobody
/// guessed at before.
pub fn start(
    attack: Attack,
    base_url: &str,
    done: &Arc<AtomicU64>,
    refused: &'static AtomicU64,
) -> anyhow::Result<u64> {
    let address: SocketAddr = base_url.strip_prefix("http://").context("no http:// address")?.parse()?;
    let first = u64::from(std::process::id()) * 1_000;
    for client in 0..RATE {
        let done = done.clone();
        tokio::spawn(async move {
            // A client a second, one after the other.
            let mut pace =
                interval_at(Instant::now() + Duration::from_secs(client.into()) / RATE, Duration::from_secs(1));
            pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
            for turn in 0.. {
                let whom = match attack {
                    Attack::OneLogin => 0,
                    // Another one of whom nobody has been guessed at, once this one is slowed down.
                    _ => first + u64::from(client) + turn * u64::from(RATE),
                };
                for _ in 0..FREE {
                    pace.tick().await;
                    match guess(address, whom).await {
                        Ok(status) => {
                            refused.fetch_add(u64::from(status == *b"503"), Ordering::Relaxed);
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(_) => sleep(Duration::from_millis(10)).await,
                    }
                }
            }
        });
    }
    Ok(UNDER_WAY)
}

/// Tries a password of a person's, from an address that nobody else tries from; the status of the answer.
async fn guess(address: SocketAddr, whom: u64) -> anyhow::Result<[u8; 3]> {
    let socket = TcpSocket::new_v4()?;
    let from = Ipv4Addr::from_bits(0x7f01_0000 + u32::try_from(whom % 0x1_0000)?);
    socket.bind((from, 0).into())?;
    let mut stream: TcpStream = socket.connect(address).await?;
    let body = format!("email={}&password=not+the+right+password", email(whom % PEOPLE).replace('@', "%40"));
    let head = format!(
        "POST /login HTTP/1.1\r\nHost: shop.example\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    let mut answer = Vec::new();
    read_answer(&mut stream, &mut answer).await?;
    Ok(answer.get(9..12).context("no status")?.try_into()?)
}
