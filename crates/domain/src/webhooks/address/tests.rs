use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

/// First and last address of each refused range, and the public neighbours on both sides where there are any.
#[rstest]
#[case("0.0.0.0", "0.255.255.255", None, Some("1.0.0.0"))]
#[case("10.0.0.0", "10.255.255.255", Some("9.255.255.255"), Some("11.0.0.0"))]
#[case("100.64.0.0", "100.127.255.255", Some("100.63.255.255"), Some("100.128.0.0"))]
#[case("127.0.0.0", "127.255.255.255", Some("126.255.255.255"), Some("128.0.0.0"))]
#[case("168.63.129.16", "168.63.129.16", Some("168.63.129.15"), Some("168.63.129.17"))]
#[case("169.254.0.0", "169.254.255.255", Some("169.253.255.255"), Some("169.255.0.0"))]
#[case("172.16.0.0", "172.31.255.255", Some("172.15.255.255"), Some("172.32.0.0"))]
#[case("192.0.0.0", "192.0.0.255", Some("191.255.255.255"), Some("192.0.1.0"))]
#[case("192.0.2.0", "192.0.2.255", Some("192.0.1.255"), Some("192.0.3.0"))]
#[case("192.31.196.0", "192.31.196.255", Some("192.31.195.255"), Some("192.31.197.0"))]
#[case("192.52.193.0", "192.52.193.255", Some("192.52.192.255"), Some("192.52.194.0"))]
#[case("192.88.99.0", "192.88.99.255", Some("192.88.98.255"), Some("192.88.100.0"))]
#[case("192.168.0.0", "192.168.255.255", Some("192.167.255.255"), Some("192.169.0.0"))]
#[case("192.175.48.0", "192.175.48.255", Some("192.175.47.255"), Some("192.175.49.0"))]
#[case("198.18.0.0", "198.19.255.255", Some("198.17.255.255"), Some("198.20.0.0"))]
#[case("198.51.100.0", "198.51.100.255", Some("198.51.99.255"), Some("198.51.101.0"))]
#[case("203.0.113.0", "203.0.113.255", Some("203.0.112.255"), Some("203.0.114.0"))]
#[case("224.0.0.0", "255.255.255.255", Some("223.255.255.255"), None)]
#[case("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", None, Some("2000::"))]
#[case("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Some("2000:ffff::"), Some("2001:200::"))]
#[case("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Some("2001:db7::1"), Some("2001:db9::"))]
#[case("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some("2001:ffff::1"), Some("2003::"))]
#[case("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", Some("2620:4f:7fff::1"), Some("2620:4f:8001::"))]
#[case("3ffe::", "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some("3ffd:ffff::1"), None)]
#[case("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", None, Some("3fff:1000::"))]
#[case("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Some("3fff:1000::1"), None)]
fn a_range_is_refused_from_edge_to_edge(
    #[case] first: &str,
    #[case] last: &str,
    #[case] below: Option<&str>,
    #[case] above: Option<&str>,
) {
    assert!(verdict(ip(first)).is_err(), "{first}");
    assert!(verdict(ip(last)).is_err(), "{last}");
    for neighbour in [below, above].into_iter().flatten() {
        assert_eq!(verdict(ip(neighbour)), Ok(()), "{neighbour}");
    }
}

#[rstest]
#[case("127.0.0.1", "loopback")]
#[case("169.254.169.254", "link-local")]
#[case("100.100.100.200", "carrier-grade NAT")]
#[case("168.63.129.16", "cloud metadata")]
#[case("224.0.0.1", "multicast")]
#[case("255.255.255.255", "broadcast")]
#[case("255.255.255.254", "reserved")]
#[case("::", "unspecified")]
#[case("::1", "loopback")]
#[case("::2", "IPv4-compatible")]
#[case("::ffff:8.8.8.8", "IPv4-mapped")]
#[case("64:ff9b::7f00:1", "NAT64")]
#[case("64:ff9b:1::a9fe:a9fe", "NAT64")]
#[case("100::1", "discard only")]
#[case("2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo")]
#[case("2002:7f00:1::1", "6to4")]
#[case("fd00:ec2::254", "unique local")]
#[case("fe80::1", "link-local")]
#[case("fec0::1", "site-local")]
#[case("ff02::1", "multicast")]
#[case("5f00::1", "reserved")]
#[case("2a00:1450::5efe:7f00:1", "ISATAP")]
#[case("2a00:1450::200:5efe:808:808", "ISATAP")]
fn the_verdict_names_the_range(#[case] address: &str, #[case] range: &str) {
    assert_eq!(verdict(ip(address)), Err(range));
}

#[rstest]
#[case("8.8.8.8")]
#[case("93.184.216.34")]
#[case("2a00:1450:4009:80b::200e")]
#[case("2606:4700:4700::1111")]
// The marker of ISATAP counts at its place only.
#[case("2a00:1450:0:5efe::1")]
fn public_addresses_pass(#[case] address: &str) {
    assert_eq!(verdict(ip(address)), Ok(()));
}

proptest! {
    /// The standard library keeps a list of its own: what it calls private is refused here too.
    #[test]
    fn nothing_the_standard_library_calls_private_passes(bits: u32) {
        let v4 = Ipv4Addr::from_bits(bits);
        if v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast() || v4.is_documentation() {
            prop_assert!(verdict(v4.into()).is_err());
        }
    }

    #[test]
    fn no_way_to_carry_an_ipv4_address_in_ipv6_passes(bits: u32, noise: u32) {
        let (high, low) = ((bits >> 16) as u16, bits as u16);
        let (a, b) = ((noise >> 16) as u16, noise as u16);
        for carrier in [
            v6([0, 0, 0, 0, 0, 0xffff, high, low]),
            v6([0, 0, 0, 0, 0, 0, high, low]),
            v6([0, 0, 0, 0, 0xffff, 0, high, low]),
            v6([0x64, 0xff9b, 0, 0, 0, 0, high, low]),
            v6([0x64, 0xff9b, 1, a, b, 0, high, low]),
            v6([0x2002, high, low, a, b, 0, 0, 1]),
            v6([0x2001, 0, a, b, 0, 0, !high, !low]),
            v6([0x2a00, a, b, 0, 0, 0x5efe, high, low]),
            v6([0x2a00, a, b, 0, 0x200, 0x5efe, high, low]),
        ] {
            prop_assert!(verdict(carrier.into()).is_err(), "{carrier}");
        }
    }

    #[test]
    fn outside_global_unicast_no_ipv6_address_passes(bits: u128) {
        if bits >> 125 != 1 {
            prop_assert!(verdict(Ipv6Addr::from_bits(bits).into()).is_err());
        }
    }
}

#[test]
fn the_allow_list_permits_what_it_names() {
    let list: AllowList = "127.0.0.1:9000, [::1]:9001,127.0.0.2".parse().unwrap();
    assert!(list.permits(ip("127.0.0.1"), 9000));
    assert!(!list.permits(ip("127.0.0.1"), 9001));
    assert!(list.permits(ip("::1"), 9001));
    assert!(list.permits(ip("127.0.0.2"), 1));
    assert!(!list.permits(ip("127.0.0.3"), 9000));
    assert_eq!(list.to_string(), "127.0.0.1:9000,[::1]:9001,127.0.0.2");
    assert!(AllowList::default().is_empty() && "".parse::<AllowList>().unwrap().is_empty());
}

#[rstest]
#[case("10.0.0.1:80")]
#[case("169.254.169.254")]
#[case("0.0.0.0")]
#[case("localhost:9000")]
#[case("127.0.0.1:9000,8.8.8.8")]
#[case("127.0.0.1:")]
#[case("*")]
fn the_allow_list_takes_loopback_addresses_alone(#[case] text: &str) {
    assert!(text.parse::<AllowList>().is_err());
}
