//! Clients that misbehave, in a process of their own. It says `ready` once it is under way, goes on until its standard
//! input ends, and then says what it has done.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use clap::ValueEnum;
use domain::{accounts::Mode, keys::ApiKey};
use ring::digest::{SHA256, digest};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{MissedTickBehavior, interval, sleep, timeout},
};

use super::{guesses, tenant};

/// Connections that never send a whole head.
const HALF_OPEN: u64 = 10_000;
/// Clients that hardly read, and how many bytes of an answer each may hold.
const SLOW: u64 = 1_000;
const SLOW_BUFFER: u32 = 4_096;
/// Addresses that half-open connections come from.
const ADDRESSES: u64 = 100;
/// Connections of those who ask as fast as they can.
const FAST: u64 = 256;
/// Requests a second of those who ask for what is open to everyone, and what that is.
const PUBLIC_RATE: u32 = 2_000;
const PUBLIC: [&str; 4] = ["/api/v1/uptime", "/api/v1/incidents", "/api/v1/index", "/api/v1/health"];
/// Answers after which those count as under way: a key is over its limit then.
const OVER_THE_LIMIT: u64 = 1_300;
/// Answers 503 to guesses.
static REFUSED: AtomicU64 = AtomicU64::new(0);
/// How long it may take until an attack is under way.
const PATIENCE: Duration = Duration::from_secs(90);

/// A way to misbehave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Attack {
    HalfOpen,
    SlowReaders,
    LimitedKey,
    UnknownKeys,
    ManyAddresses,
    Public,
    Tenant,
    OneLogin,
    ManyLogins,
}

impl Attack {
    pub const fn name(self) -> &'static str {
        match self {
            Self::HalfOpen => "half-open",
            Self::SlowReaders => "slow-readers",
            Self::LimitedKey => "limited-key",
            Self::UnknownKeys => "unknown-keys",
            Self::ManyAddresses => "many-addresses",
            Self::Public => "public",
            Self::Tenant => "tenant",
            Self::OneLogin => "one-login",
            Self::ManyLogins => "many-logins",
        }
    }

    /// Whether the service leaves it to a proxy before it to bound such clients.
    pub const fn is_left_to_the_proxy(self) -> bool {
        matches!(self, Self::HalfOpen | Self::LimitedKey | Self::UnknownKeys | Self::ManyAddresses)
    }

    /// What is counted.
    pub const fn counted(self) -> &'static str {
        match self {
            Self::HalfOpen | Self::SlowReaders => "connections",
            Self::LimitedKey
            | Self::UnknownKeys
            | Self::ManyAddresses
            | Self::Public
            | Self::Tenant
            | Self::OneLogin
            | Self::ManyLogins => "answers",
        }
    }
}

/// Misbehaves until standard input ends. `receiver` is where the webhooks of [`Attack::Tenant`] go.
pub async fn run(attack: Attack, base_url: &str, keys: &str, receiver: Option<SocketAddr>) -> anyhow::Result<()> {
    let done = Arc::new(AtomicU64::new(0));
    let keys: Vec<&str> = keys.split(',').collect();
    let at_least = match attack {
        Attack::Tenant => tenant::start(base_url, &keys, receiver.context("no receiver")?, &done).await?,
        Attack::OneLogin | Attack::ManyLogins => guesses::start(attack, base_url, &done, &REFUSED)?,
        _ => start(attack, base_url, &keys, &done)?,
    };
    let under_way = timeout(PATIENCE, async {
        while done.load(Ordering::Relaxed) < at_least {
            sleep(Duration::from_millis(10)).await;
        }
    });
    under_way.await.with_context(|| format!("only {} of {at_least} are under way", done.load(Ordering::Relaxed)))?;
    println!("ready");
    tokio::task::spawn_blocking(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink())).await??;
    println!("{} {}", done.load(Ordering::Relaxed), REFUSED.load(Ordering::Relaxed));
    // The tasks end with the process.
    std::process::exit(0);
}

/// Starts the clients; gives the count from which on they are under way.
fn start(attack: Attack, base_url: &str, keys: &[&str], done: &Arc<AtomicU64>) -> anyhow::Result<u64> {
    let address: SocketAddr = base_url.strip_prefix("http://").context("no http:// address")?.parse()?;
    let clients = match attack {
        Attack::HalfOpen => HALF_OPEN,
        Attack::SlowReaders => SLOW,
        _ => FAST,
    };
    let largest = keys.first().context("no key")?;
    for client in 0..clients {
        // Every other one reads the largest account; those over a limit all have that key.
        let turn = usize::try_from(client)? % keys.len();
        let key = if attack == Attack::SlowReaders && client % 2 == 1 { keys.get(turn) } else { None };
        let (done, key) = (done.clone(), (*key.unwrap_or(largest)).to_owned());
        tokio::spawn(async move {
            loop {
                let broken = match attack {
                    Attack::HalfOpen => half_open(address, client, &done).await,
                    Attack::SlowReaders => slow_reader(address, &key, &done).await,
                    Attack::Public => public(address, &done).await,
                    _ => fast(attack, address, &key, client, &done).await,
                };
                // Those who ask as fast as they can do not wait; a server that is not there is not asked again at once.
                if clients != FAST || broken.is_err() {
                    sleep(Duration::from_millis(10)).await;
                }
            }
        });
    }
    Ok(match attack {
        // Until then none of them has been closed and reopened, though all came at once.
        Attack::HalfOpen => clients * 3 / 2,
        Attack::SlowReaders => clients,
        _ => OVER_THE_LIMIT,
    })
}

/// Sends half a head and waits for the server to give up.
async fn half_open(address: SocketAddr, client: u64, done: &AtomicU64) -> anyhow::Result<()> {
    let mut stream = connect_from(client % ADDRESSES, address).await?;
    stream.write_all(b"GET /api/v1/customers HTTP/1.1\r\nHost: shop.example\r\nX-Half").await?;
    done.fetch_add(1, Ordering::Relaxed);
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await?;
    Ok(())
}

/// Connects from one of 65,536 addresses of this machine that nothing else connects from.
async fn connect_from(number: u64, address: SocketAddr) -> anyhow::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let from = Ipv4Addr::from_bits(0x7f01_0000 + u32::try_from(number % 0x1_0000)?);
    socket.bind((from, 0).into())?;
    Ok(socket.connect(address).await?)
}

/// Asks for everything and reads a byte of it a second.
async fn slow_reader(address: SocketAddr, key: &str, done: &AtomicU64) -> anyhow::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(SLOW_BUFFER)?;
    let mut stream = socket.connect(address).await?;
    let head = format!(
        "GET /api/v1/customers?format=csv HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer {key}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    done.fetch_add(1, Ordering::Relaxed);
    let mut byte = [0];
    while stream.read(&mut byte).await? > 0 {
        sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

/// Asks and asks, with one key or with another each time, in the end from another address each time.
async fn fast(attack: Attack, address: SocketAddr, key: &str, client: u64, done: &AtomicU64) -> anyhow::Result<()> {
    let number = || done.load(Ordering::Relaxed) * FAST + client;
    let mut stream = match attack {
        Attack::ManyAddresses => connect_from(number(), address).await?,
        _ => TcpStream::connect(address).await?,
    };
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        let head = match attack {
            Attack::UnknownKeys | Attack::ManyAddresses => head(&unknown(number())),
            _ => head(key),
        };
        stream.write_all(head.as_bytes()).await?;
        read_answer(&mut stream, &mut buffer).await?;
        done.fetch_add(1, Ordering::Relaxed);
        if client % 2 == 1 || attack == Attack::ManyAddresses {
            return Ok(());
        }
    }
}

/// Asks for what is open to everyone, all from one address, at its share of the rate. An answer 503 is the end of it all.
async fn public(address: SocketAddr, done: &AtomicU64) -> anyhow::Result<()> {
    let mut pace = interval(Duration::from_secs(FAST) / PUBLIC_RATE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut stream = connect_from(0, address).await?;
    let mut buffer = Vec::new();
    for path in PUBLIC.iter().cycle() {
        pace.tick().await;
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: shop.example\r\n\r\n").as_bytes()).await?;
        read_answer(&mut stream, &mut buffer).await?;
        if buffer.starts_with(b"HTTP/1.1 503") {
            eprintln!("503 to {path}");
            std::process::exit(1);
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

fn head(key: &str) -> String {
    format!("GET /api/v1/customers HTTP/1.1\r\nHost: shop.example\r\nAuthorization: Bearer {key}\r\n\r\n")
}

/// A well-formed key that does not exist.
fn unknown(number: u64) -> String {
    let process = std::process::id();
    let blocks = (0u32..2).flat_map(|block| {
        let seed = format!("unknown {process} {number} {block}");
        digest(&SHA256, seed.as_bytes()).as_ref().to_vec()
    });
    ApiKey::generate(Mode::Live, blocks).expose().to_owned()
}

/// Reads one answer, by its length.
pub async fn read_answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> anyhow::Result<()> {
    buffer.clear();
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        anyhow::ensure!(stream.read_buf(buffer).await? > 0, "the connection ended");
    };
    let head = String::from_utf8_lossy(buffer.get(..end).unwrap_or_default()).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).context("no length")?;
    let whole = end + length.trim().parse::<usize>()?;
    while buffer.len() < whole {
        anyhow::ensure!(stream.read_buf(buffer).await? > 0, "the connection ended");
    }
    Ok(())
}
