//! Connections whose first request has not arrived: how long they may take, and which go first when places run out.
//!
//! A client that has opened a connection and sent no whole head costs its place and some memory. Closing it costs
//! processor time, and so does the next one that it opens instead: whoever opens thousands of them wants just that. So
//! they are held for a while, are not all closed at once even when they came at once, and are closed early only when
//! places are short, those that have waited longest first. The HTTP library has one time limit for all of them.

use std::{
    any::Any,
    cell::Cell,
    collections::{BTreeMap, HashMap},
    net::{IpAddr, SocketAddr},
    os::fd::{AsRawFd, RawFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use actix_web::{dev::Extensions, rt::net::TcpStream};
use nix::sys::socket::{MsgFlags, Shutdown, SockaddrStorage, getpeername, send, shutdown};

use crate::{client::Network, state::Settings};

/// How often it is looked whose time is over.
const SWEEP_EVERY: Duration = Duration::from_millis(50);
/// The share of all places that one address may have, in tenths. Proxies that are known may have all.
const OF_ADDRESS: usize = 5;
/// The share of all places, in tenths, from which on a new connection takes the place of one that has sent no request.
const CROWDED: usize = 9;
/// What a client is told whose time is over.
const TIMED_OUT: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// All connections of the process.
#[derive(Debug)]
pub struct Connections {
    places: usize,
    /// How long the first head may take at least; at most twice as long.
    head_timeout: Duration,
    trusted_proxies: Vec<Network>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: usize,
    of_address: HashMap<IpAddr, usize>,
    /// By when their time is over: the connections that have sent no request.
    silent: BTreeMap<Turn, Socket>,
    opened: u64,
}

/// When the time of a connection is over, and its number.
type Turn = (Instant, u64);

impl Connections {
    /// None yet, with the limits of these settings. [`sweep`](Self::sweep) is to run beside it.
    pub fn new(settings: &Settings) -> Arc<Self> {
        let Settings { connections: places, head_timeout, ref trusted_proxies, .. } = *settings;
        Arc::new(Self { places, head_timeout, trusted_proxies: trusted_proxies.clone(), state: Mutex::default() })
    }

    /// Closes the connections whose time is over as they come up; never ends.
    pub async fn sweep(&self) {
        let mut ticks = tokio::time::interval(SWEEP_EVERY);
        loop {
            ticks.tick().await;
            self.end(Instant::now());
        }
    }

    /// The most that may be open at once.
    pub(crate) const fn places(&self) -> usize {
        self.places
    }

    /// To be told of every connection. One that is too many is closed.
    pub(crate) fn opened(self: &Arc<Self>, io: &dyn Any, data: &mut Extensions) {
        let Some(stream) = io.downcast_ref::<TcpStream>() else { return };
        // One that is gone already is noticed by the library.
        let Ok(peer) = stream.peer_addr() else { return };
        let socket = Socket { handle: stream.as_raw_fd(), peer };
        data.insert(self.admit(peer.ip().to_canonical(), socket, Instant::now()));
    }

    fn admit(self: &Arc<Self>, address: IpAddr, socket: Socket, now: Instant) -> Connection {
        let mut state = self.lock();
        state.open += 1;
        state.opened += 1;
        let of_address = state.of_address.entry(address).or_default();
        *of_address += 1;
        let is_greedy = *of_address * 10 > self.places * OF_ADDRESS && !self.is_proxy(address);
        let longest_silent = if state.open * 10 > self.places * CROWDED { state.silent.pop_first() } else { None };
        let turn = (now + self.patience(state.opened), state.opened);
        if is_greedy {
            socket.close();
        } else {
            state.silent.insert(turn, socket);
        }
        if let Some((_, socket)) = longest_silent {
            socket.close();
        }
        drop(state);
        Connection { all: Arc::clone(self), address, turn, is_silent: Cell::new(!is_greedy) }
    }

    /// Between one and two times the limit, evenly spread among connections that come after one another.
    fn patience(&self, number: u64) -> Duration {
        // Steps of the golden ratio, in thousandths, fall evenly.
        let thousandths = number.wrapping_mul(618) % 1_000;
        self.head_timeout + self.head_timeout * u32::try_from(thousandths).unwrap_or_default() / 1_000
    }

    fn is_proxy(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(address))
    }

    /// Closes those whose time is over.
    fn end(&self, now: Instant) {
        let mut state = self.lock();
        let rest = state.silent.split_off(&(now, u64::MAX));
        for socket in std::mem::replace(&mut state.silent, rest).into_values() {
            socket.say(TIMED_OUT);
            socket.close();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that may panic runs under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The socket of a connection that is open: it is in [`State`], and the library drops what belongs to a connection
/// before it closes it. Nothing is done to it but under the lock of the state.
#[derive(Debug)]
struct Socket {
    handle: RawFd,
    peer: SocketAddr,
}

impl Socket {
    /// Should the library ever close first, the number of the handle may be another connection's by now.
    fn is_still_its_own(&self) -> bool {
        let peer = getpeername::<SockaddrStorage>(self.handle);
        let same = |peer: &SockaddrStorage| match self.peer {
            SocketAddr::V4(own) => peer.as_sockaddr_in().is_some_and(|peer| own == (*peer).into()),
            SocketAddr::V6(own) => peer.as_sockaddr_in6().is_some_and(|peer| own == (*peer).into()),
        };
        peer.is_ok_and(|peer| same(&peer))
    }

    fn say(&self, text: &[u8]) {
        if self.is_still_its_own() {
            // One that takes nothing in goes without.
            send(self.handle, text, MsgFlags::MSG_DONTWAIT).ok();
        }
    }

    /// What is read from it from now on is the end, so that the library gives it up.
    fn close(&self) {
        if self.is_still_its_own() {
            shutdown(self.handle, Shutdown::Both).ok();
        }
    }
}

/// A connection, for as long as it is open.
#[derive(Debug)]
pub struct Connection {
    all: Arc<Connections>,
    address: IpAddr,
    turn: Turn,
    is_silent: Cell<bool>,
}

impl Connection {
    /// A request has arrived.
    pub fn spoke(&self) {
        if self.is_silent.replace(false) {
            self.all.lock().silent.remove(&self.turn);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut state = self.all.lock();
        state.open -= 1;
        if self.is_silent.get() {
            state.silent.remove(&self.turn);
        }
        if let Some(count) = state.of_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                state.of_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use std::{
        io::Read,
        net::{Ipv4Addr, TcpListener, TcpStream},
    };

    use super::*;

    const ONE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const PROXY: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

    fn connections(places: usize) -> Arc<Connections> {
        let trusted_proxies = vec!["10.0.0.0/8".parse().unwrap()];
        Arc::new(Connections {
            places,
            head_timeout: Duration::from_secs(10),
            trusted_proxies,
            state: Mutex::default(),
        })
    }

    /// The client's end of a connection, and the server's.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_nonblocking(true).unwrap();
        (client, listener.accept().unwrap().0)
    }

    fn socket(server: &TcpStream) -> Socket {
        Socket { handle: server.as_raw_fd(), peer: server.peer_addr().unwrap() }
    }

    /// What the client has been sent when the connection has ended; nothing while it has not.
    fn ended(client: &mut TcpStream) -> Option<String> {
        let mut text = String::new();
        client.read_to_string(&mut text).ok().map(|_| text)
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, last))
    }

    #[test]
    fn the_silent_are_told_and_closed_and_those_who_spoke_are_not() {
        let (all, start) = (connections(100), Instant::now());
        let ((mut silent, one), (mut speaking, other)) = (pair(), pair());
        let _silent = all.admit(ONE, socket(&one), start);
        let speaker = all.admit(ONE, socket(&other), start);
        speaker.spoke();
        all.end(start + Duration::from_millis(9_900));
        assert_eq!(ended(&mut silent), None);
        all.end(start + Duration::from_secs(20));
        assert!(ended(&mut silent).unwrap().starts_with("HTTP/1.1 408 "));
        assert_eq!(ended(&mut speaking), None);
    }

    #[test]
    fn a_handle_that_is_another_connections_by_now_is_left_alone() {
        let (all, start) = (connections(100), Instant::now());
        let ((_gone, was), (mut client, server)) = (pair(), pair());
        let reused = Socket { handle: server.as_raw_fd(), peer: was.peer_addr().unwrap() };
        let _connection = all.admit(ONE, reused, start);
        all.end(start + Duration::from_secs(20));
        assert_eq!(ended(&mut client), None);
    }

    #[test]
    fn those_who_come_at_once_are_not_closed_at_once() {
        let (all, start) = (connections(1_000), Instant::now());
        let (_client, server) = pair();
        let _open: Vec<_> = (0..100).map(|_| all.admit(ONE, socket(&server), start)).collect();
        let left = [10, 12, 15, 20].map(|seconds| {
            all.end(start + Duration::from_secs(seconds));
            all.lock().silent.len()
        });
        assert_eq!(left, [100, 80, 50, 0]);
    }

    #[test]
    fn when_places_are_short_the_longest_silent_goes() {
        let (all, start) = (connections(10), Instant::now());
        let (mut clients, mut servers, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..10u8 {
            let (client, server) = pair();
            clients.push(client);
            open.push(all.admit(
                address(number),
                socket(&server),
                start + Duration::from_secs(100 * u64::from(number)),
            ));
            servers.push(server);
            // The first to come has sent a request.
            open[0].spoke();
        }
        let closed: Vec<bool> = clients.iter_mut().map(|client| ended(client).is_some()).collect();
        assert_eq!(closed, [false, true, false, false, false, false, false, false, false, false]);
    }

    #[test]
    fn an_address_has_half_of_the_places_and_a_proxy_all() {
        let (all, start) = (connections(20), Instant::now());
        let admit = |address| {
            let (client, server) = pair();
            let connection = all.admit(address, socket(&server), start);
            (client, server, connection)
        };
        let mut of_one: Vec<_> = (0..11).map(|_| admit(ONE)).collect();
        assert_eq!(
            of_one.iter_mut().filter(|(client, ..)| ended(&mut client.try_clone().unwrap()).is_some()).count(),
            1
        );
        of_one.truncate(4);
        let mut of_proxy: Vec<_> = (0..12).map(|_| admit(PROXY)).collect();
        assert!(of_proxy.iter_mut().all(|(client, ..)| ended(client).is_none()));
        drop((of_one, of_proxy));
        let state = all.lock();
        assert_eq!((state.open, state.of_address.len(), state.silent.len()), (0, 0, 0));
    }
}
