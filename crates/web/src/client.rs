//! Who is at the other end: the client's address behind proxies that are known.

use std::{net::IpAddr, str::FromStr};

use actix_web::http::header::HeaderMap;
use ipnet::IpNet;

/// A network whose hosts are proxies of ours: an address, or an address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network(IpNet);

/// A text is not a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a network: write 10.0.0.0/8, fd00::/8 or one address")]
pub struct InvalidNetwork(String);

impl FromStr for Network {
    type Err = InvalidNetwork;

    fn from_str(text: &str) -> Result<Self, InvalidNetwork> {
        let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
        network.map(Self).map_err(|_| InvalidNetwork(text.to_owned()))
    }
}

impl Network {
    /// Whether `address` belongs to the network. IPv4 written as IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.contains(&address.to_canonical())
    }
}

/// The client's address: the peer's, or the nearest hop of `X-Forwarded-For`, read from the right, that is not a
/// trusted proxy. What a client writes further left can therefore not change the result, and a hop that cannot be read
/// ends the walk at the proxy that reported it.
pub fn address(peer: IpAddr, headers: &HeaderMap, trusted: &[Network]) -> IpAddr {
    let is_proxy = |address: IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut client = peer.to_canonical();
    let lines: Vec<&str> = headers.get_all("x-forwarded-for").filter_map(|line| line.to_str().ok()).collect();
    for hop in lines.iter().rev().flat_map(|line| line.rsplit(',')) {
        if !is_proxy(client) {
            break;
        }
        match parse_hop(hop.trim()) {
            Some(address) => client = address.to_canonical(),
            None => break,
        }
    }
    client
}

/// An address with or without a port: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`.
fn parse_hop(hop: &str) -> Option<IpAddr> {
    if let Ok(address) = hop.parse::<IpAddr>() {
        return Some(address);
    }
    if let Ok(socket) = hop.parse::<std::net::SocketAddr>() {
        return Some(socket.ip());
    }
    hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};
    use rstest::rstest;

    use super::*;

    fn client(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(HeaderName::from_static("x-forwarded-for"), HeaderValue::from_str(line).unwrap());
        }
        let trusted: Vec<Network> = trusted.iter().map(|text| text.parse().unwrap()).collect();
        address(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[rstest]
    #[case::no_proxy_is_trusted("192.0.2.1", &["203.0.113.9"], &[], "192.0.2.1")]
    #[case::through_one_proxy("10.0.0.1", &["203.0.113.9"], &["10.0.0.0/8"], "203.0.113.9")]
    #[case::what_the_client_wrote_is_left_of_the_truth("10.0.0.1", &["1.1.1.1, 203.0.113.9"], &["10.0.0.0/8"], "203.0.113.9")]
    #[case::through_two_proxies("10.0.0.1", &["1.1.1.1, 203.0.113.9, 10.9.9.9"], &["10.0.0.0/8"], "203.0.113.9")]
    #[case::lines_are_one_list("10.0.0.1", &["1.1.1.1", "203.0.113.9"], &["10.0.0.0/8"], "203.0.113.9")]
    #[case::all_hops_are_proxies("10.0.0.1", &["10.0.0.2"], &["10.0.0.0/8"], "10.0.0.2")]
    #[case::no_header("10.0.0.1", &[], &["10.0.0.0/8"], "10.0.0.1")]
    #[case::garbage("10.0.0.1", &[", ,unknown,\"_hidden\",[::1]:99999,999.1.1.1"], &["10.0.0.0/8"], "10.0.0.1")]
    #[case::with_a_port("10.0.0.1", &["203.0.113.9:4711"], &["10.0.0.1"], "203.0.113.9")]
    #[case::v6_with_a_port("fd00::1", &["[2a00::9]:4711"], &["fd00::/8"], "2a00::9")]
    #[case::v6_in_brackets("fd00::1", &["[2a00::9]"], &["fd00::/8"], "2a00::9")]
    #[case::v4_written_as_v6("::ffff:10.0.0.1", &["::ffff:203.0.113.9"], &["10.0.0.0/8"], "203.0.113.9")]
    #[case::every_address_is_a_proxy("192.0.2.1", &["203.0.113.9"], &["0.0.0.0/0"], "203.0.113.9")]
    fn the_address_is_the_nearest_that_is_no_proxy(
        #[case] peer: &str,
        #[case] forwarded: &[&str],
        #[case] trusted: &[&str],
        #[case] expected: &str,
    ) {
        assert_eq!(client(peer, forwarded, trusted), expected);
    }

    #[rstest]
    #[case("10.0.0.0/33")]
    #[case("10.0.0/8")]
    #[case("10.0.0.0/-1")]
    #[case("proxy")]
    fn other_texts_are_no_networks(#[case] text: &str) {
        assert!(text.parse::<Network>().is_err());
    }

    #[test]
    fn a_network_ends_where_its_prefix_says() {
        let network: Network = "10.64.0.0/10".parse().unwrap();
        assert!(network.contains("10.127.255.255".parse().unwrap()));
        assert!(!network.contains("10.128.0.0".parse().unwrap()));
        assert!(!network.contains("fd00::1".parse().unwrap()));
    }
}
