//! Which IP addresses must not be called for any client.
//!
//! The rule is the same wherever an address comes from, a literal in the URL or an answer of the name service. The
//! ranges are those of the IANA special-purpose registries for [IPv4] and [IPv6], and in IPv6 everything that is not
//! global unicast. An address that carries another one inside (mapped, NAT64, 6to4, Teredo, ISATAP) is refused
//! whatever it carries: no public receiver needs to be reached that way.
//!
//! [IPv4]: https://www.iana.org/assignments/iana-ipv4-special-registry
//! [IPv6]: https://www.iana.org/assignments/iana-ipv6-special-registry

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// Refused IPv4 ranges: first address, prefix length, name. The first match names the reason.
const REFUSED_V4: [(Ipv4Addr, u32, &str); 20] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8, "this network"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private network"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "carrier-grade NAT"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    // Holds the metadata services of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private network"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "IETF protocol assignment"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "AS112"),
    (Ipv4Addr::new(192, 52, 193, 0), 24, "multicast tunnel"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4 relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private network"),
    (Ipv4Addr::new(192, 175, 48, 0), 24, "AS112"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarking"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    // Looks public, but from inside Azure it is the host's own agent (WireServer).
    (Ipv4Addr::new(168, 63, 129, 16), 32, "cloud metadata"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(255, 255, 255, 255), 32, "broadcast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// Refused IPv6 ranges. The last entries say "all but 2000::/3", which is the only block that IANA has opened for
/// global unicast; those before them name the well-known parts of the rest.
const REFUSED_V6: [(Ipv6Addr, u32, &str); 25] = [
    (v6([0; 8]), 128, "unspecified"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1]), 128, "loopback"),
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0]), 96, "IPv4-mapped"),
    (v6([0; 8]), 96, "IPv4-compatible"),
    (v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0]), 96, "NAT64"),
    (v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0]), 48, "NAT64"),
    (v6([0x100, 0, 0, 0, 0, 0, 0, 0]), 64, "discard only"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 32, "Teredo"),
    (v6([0x2001, 2, 0, 0, 0, 0, 0, 0]), 48, "benchmarking"),
    (v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0]), 28, "ORCHID"),
    (v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0]), 28, "ORCHID"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0]), 23, "IETF protocol assignment"),
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0]), 32, "documentation"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0]), 16, "6to4"),
    (v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0]), 48, "AS112"),
    (v6([0x3ffe, 0, 0, 0, 0, 0, 0, 0]), 16, "6bone"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0]), 20, "documentation"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0]), 7, "unique local"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0]), 10, "link-local"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0]), 10, "site-local"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0]), 8, "multicast"),
    (v6([0, 0, 0, 0, 0, 0, 0, 0]), 3, "reserved"),
    (v6([0x4000, 0, 0, 0, 0, 0, 0, 0]), 3, "reserved"),
    (v6([0x6000, 0, 0, 0, 0, 0, 0, 0]), 3, "reserved"),
    (v6([0x8000, 0, 0, 0, 0, 0, 0, 0]), 1, "reserved"),
];

const fn v6(s: [u16; 8]) -> Ipv6Addr {
    let [a, b, c, d, e, f, g, h] = s;
    Ipv6Addr::new(a, b, c, d, e, f, g, h)
}

/// Whether a request may go to this address; if not, the name of the range it lies in.
///
/// # Errors
/// The range, in a few words that are safe to show: `loopback`, `private network`, `link-local`, …
pub fn verdict(address: IpAddr) -> Result<(), &'static str> {
    let refused = match address {
        IpAddr::V4(v4) => range_of_v4(v4),
        IpAddr::V6(v6) => range_of_v6(v6).or_else(|| is_isatap(v6).then_some("ISATAP")),
    };
    refused.map_or(Ok(()), Err)
}

fn range_of_v4(address: Ipv4Addr) -> Option<&'static str> {
    REFUSED_V4
        .iter()
        .find(|(first, prefix, _)| (address.to_bits() ^ first.to_bits()) >> (32 - prefix) == 0)
        .map(|&(_, _, name)| name)
}

fn range_of_v6(address: Ipv6Addr) -> Option<&'static str> {
    REFUSED_V6
        .iter()
        .find(|(first, prefix, _)| (address.to_bits() ^ first.to_bits()) >> (128 - prefix) == 0)
        .map(|&(_, _, name)| name)
}

/// ISATAP (RFC 5214) hides an IPv4 address behind the interface identifier `[02]00:5efe`, under any prefix.
fn is_isatap(address: Ipv6Addr) -> bool {
    let marker = (address.to_bits() >> 32) as u32;
    marker & !0x0200_0000 == 0x0000_5efe
}

/// Loopback receivers that may be called nevertheless, for tests and development.
///
/// Set by the operator at start and never by a caller of the API. Written as addresses with or without a port,
/// separated by commas: `127.0.0.1:9000,[::1]:9000` or `127.0.0.1` for all ports of it. Only loopback addresses can be
/// listed. The default is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList(Vec<(IpAddr, Option<u16>)>);

/// An entry of the allow-list is not a loopback address, with or without a port.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a loopback address with or without a port, such as 127.0.0.1:9000")]
pub struct NotLoopback(pub String);

impl AllowList {
    /// Whether this address and port are listed.
    pub fn permits(&self, address: IpAddr, port: u16) -> bool {
        self.0.iter().any(|&(listed, only)| listed == address && only.is_none_or(|only| only == port))
    }

    /// Whether nothing is listed, as it must be in production.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromStr for AllowList {
    type Err = NotLoopback;

    fn from_str(text: &str) -> Result<Self, NotLoopback> {
        text.split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
            .map(|entry| {
                let (address, port) = match entry.parse::<SocketAddr>() {
                    Ok(socket) => (socket.ip(), Some(socket.port())),
                    Err(_) => {
                        let bare = entry.trim_start_matches('[').trim_end_matches(']');
                        let address = bare.parse().map_err(|_| NotLoopback(entry.to_owned()))?;
                        (address, None)
                    }
                };
                if !address.is_loopback() {
                    return Err(NotLoopback(entry.to_owned()));
                }
                Ok((address, port))
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl fmt::Display for AllowList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (address, port)) in self.0.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            match port {
                Some(port) => write!(f, "{comma}{}", SocketAddr::new(*address, *port))?,
                None => write!(f, "{comma}{address}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
