//! How many connections clients may hold, and when one with an idle client is closed.

use std::{net::TcpListener, time::Duration};

use anyhow::Context;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use socket2::{SockRef, TcpKeepalive};

/// Files that are kept for what is no client: the database, receivers of webhooks, logs.
const RESERVED: u64 = 1_024;
/// Connections at most, however many files may be open: each holds about 20 kB.
const AT_MOST: u64 = 25_000;
/// How long a client may read nothing of an answer, or not acknowledge what it was sent.
const SILENCE: Duration = Duration::from_secs(30);
/// Connections that may wait to be accepted; the system may have a lower limit.
const BACKLOG: i32 = 4_096;
/// Of what a client has not taken in yet, the bytes that the kernel holds unsent. Left to itself it takes megabytes of a
/// list from us at once, all of it work done for clients who read slowly, and for nothing when they leave.
#[cfg(target_os = "linux")]
const UNSENT: u32 = 128 * 1_024;
/// After how long an idle connection is asked whether its client is still there.
const PROBE_AFTER: Duration = Duration::from_secs(60);

/// Raises the limit of open files as far as this process may, and says how many clients it can have at a time.
pub fn allowed() -> anyhow::Result<usize> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).context("the limit of open files")?;
    // What macOS allows beyond its own constant it refuses to set; what there is then stays.
    let files = if soft < hard && setrlimit(Resource::RLIMIT_NOFILE, hard, hard).is_ok() { hard } else { soft };
    let clients = clients(files);
    if clients < AT_MOST {
        tracing::debug!(files, clients, "the limit of open files bounds the connections of clients");
    }
    Ok(usize::try_from(clients)?)
}

fn clients(files: u64) -> u64 {
    files.saturating_sub(RESERVED.min(files / 2)).min(AT_MOST)
}

/// Sets a listener up for many clients. It has the kernel close the connections of those that have vanished, or that stop
/// reading in the middle of an answer: nothing in the process would notice the latter. The connections accepted from
/// `listener` take it over.
pub fn prepare(listener: &TcpListener) -> std::io::Result<()> {
    let socket = SockRef::from(listener);
    // Those that come at once wait in line; the standard library makes room for 128.
    socket.listen(BACKLOG)?;
    // The last part of an answer goes out without waiting for the client to confirm the one before.
    socket.set_tcp_nodelay(true)?;
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(PROBE_AFTER))?;
    #[cfg(target_os = "linux")]
    {
        socket.set_tcp_user_timeout(Some(SILENCE))?;
        socket.set_tcp_notsent_lowat(UNSENT)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_left_for_the_rest() {
        assert_eq!([256, 1_024, 20_000, 1_000_000].map(clients), [128, 512, 18_976, 25_000]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn accepted_connections_take_it_over() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        prepare(&listener).unwrap();
        let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let socket = SockRef::from(&accepted);
        assert_eq!((socket.tcp_user_timeout().unwrap(), socket.keepalive().unwrap()), (Some(SILENCE), true));
        assert_eq!((socket.tcp_nodelay().unwrap(), socket.tcp_notsent_lowat().unwrap()), (true, UNSENT));
    }
}
