use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use rstest::rstest;

use super::UrlReason::{CredentialsInUrl, Malformed, NotHttps, PortNotAllowed, PrivateHost};
use super::*;

fn reason(text: &str) -> Option<UrlReason> {
    WebhookUrl::parse(text).err().map(|refused| refused.reason)
}

#[rstest]
#[case("https://example.com")]
#[case("https://example.com/")]
#[case("HTTPS://Hooks.Example.COM/a/../b")]
#[case("https://example.com:443/h")]
#[case("https://example.com:8443/h?token=a%20b&c=%00")]
#[case("https://example.com./h")]
#[case("https://example.com/https://10.0.0.1/@x")]
#[case("https://example.com?next=//localhost/")]
#[case("https://my_shop.example.com/h")]
#[case("https://r3---sn-h5q7dn7s.example.com/h")]
#[case("https://8.8.8.8/h")]
#[case("https://[2606:4700:4700::1111]:8443/h")]
#[case("https://xn--bcher-kva.de/h")]
// Words of networks inside names that are public.
#[case("https://localhost.shop.com/")]
#[case("https://internal.shop.com/")]
#[case("https://corp.com/")]
#[case("https://metadata.shop.com/")]
#[case("https://notmetadata.goog/")]
#[case("https://10.0.0.1.shop.com/")]
#[case("https://0x7f.shop.com/")]
fn public_receivers_pass_and_keep_their_text(#[case] text: &str) {
    assert_eq!(WebhookUrl::parse(text).unwrap().as_str(), text);
}

#[rstest]
#[case("https://bücher.de/straße?q=ä", "https://xn--bcher-kva.de/stra%C3%9Fe?q=%C3%A4")]
#[case("https://BÜCHER.de/", "https://xn--bcher-kva.de/")]
#[case("https://пример.рф", "https://xn--e1afmkfd.xn--p1ai/")]
#[case("https://例え.テスト.jp/h", "https://xn--r8jz45g.xn--zckzah.jp/h")]
fn other_alphabets_are_kept_encoded(#[case] text: &str, #[case] kept: &str) {
    assert_eq!(WebhookUrl::parse(text).unwrap().as_str(), kept);
}

#[rstest]
#[case("http://example.com/")]
#[case("http://169.254.169.254/latest/meta-data/")]
#[case("http://[::1]/")]
#[case("ftp://example.com/")]
#[case("file:///etc/passwd")]
#[case("gopher://127.0.0.1:6379/_PING")]
#[case("javascript:alert(1)")]
#[case("data:text/plain,x")]
#[case("wss://example.com/")]
#[case("unix:/run/docker.sock")]
#[case("blob:https://example.com/1")]
#[case("httpss://example.com/")]
fn other_schemes_are_refused(#[case] text: &str) {
    assert_eq!(reason(text), Some(NotHttps));
}

#[rstest]
#[case("localhost")]
#[case("LocalHost.")]
#[case("api.localhost")]
#[case("localhost.localdomain")]
#[case("ip6-localhost")]
#[case("kubernetes")]
#[case("com")]
#[case("metadata.google.internal")]
#[case("METADATA.google.INTERNAL.")]
#[case("instance-data.ec2.internal")]
#[case("host.docker.internal")]
#[case("metadata.goog")]
#[case("metadata.tencentyun.com.")]
#[case("x.metadata.tencentyun.com")]
#[case("printer.local")]
#[case("api.default.svc.cluster.local")]
#[case("api.default.svc")]
#[case("vault.service.consul")]
#[case("wiki.corp")]
#[case("nas.home")]
#[case("router.home.arpa")]
#[case("1.0.0.127.in-addr.arpa")]
#[case("router.lan")]
#[case("x.private")]
#[case("x.intranet")]
#[case("shop.test")]
#[case("shop.example")]
#[case("shop.invalid")]
#[case("abcdefghij.onion")]
#[case("x.alt")]
// Letters that only look foreign.
#[case("ｌｏｃａｌｈｏｓｔ")]
#[case("ⓛⓞⓒⓐⓛⓗⓞⓢⓣ")]
#[case("local\u{ad}host")]
#[case("local\u{200b}host")]
#[case("metadata。google。internal")]
#[case("loc%61lhost")]
fn names_inside_networks_are_refused(#[case] host: &str) {
    assert_eq!(reason(&format!("https://{host}/h")), Some(PrivateHost), "{host}");
    assert_eq!(reason(&format!("https://{host}:8443?x")), Some(PrivateHost), "{host}");
}

#[rstest]
#[case("https://user:pass@example.com/")]
#[case("https://user@example.com/")]
#[case("https://:pass@example.com/")]
#[case("https://@example.com/")]
#[case("https://:@example.com/")]
#[case("https://example.com@127.0.0.1/")]
#[case("https://example.com%2f@127.0.0.1/")]
#[case("https://a@b@example.com/")]
fn user_info_is_refused(#[case] text: &str) {
    assert_eq!(reason(text), Some(CredentialsInUrl));
}

#[rstest]
#[case("")]
#[case("not a url")]
#[case("example.com/h")]
#[case("//example.com/h")]
#[case("https:")]
#[case("https://")]
#[case("https:///")]
#[case("https://?q=1")]
#[case("https://#x")]
#[case("https://:443/")]
#[case("https:example.com/")]
#[case("https:/example.com/")]
#[case("https:///example.com/")]
#[case("https:/8.8.8.8/://8.8.8.8/")]
#[case("https://example.com/#")]
#[case("https://example.com/#part")]
#[case("https://example.com#part")]
#[case("https://example.com:/")]
#[case("https://example.com:0443/")]
#[case("https://example.com:65536/")]
#[case("https://example.com:-1/")]
#[case("https://example.com:80a/")]
#[case("https://example.com:４４３/")]
#[case("https://.example.com/")]
#[case("https://example..com/")]
#[case("https://example.com../")]
#[case("https://./")]
#[case("https://-/")]
#[case("https://-a.example.com/")]
#[case("https://a-.example.com/")]
#[case("https://exa~mple.com/")]
#[case("https://exa*mple.com/")]
#[case("https://exa,mple.com/")]
#[case("https://xn--a.com/")]
#[case("https://%65xample.com/")]
#[case("https://example%2ecom/")]
#[case("https://ｅｘａｍｐｌｅ.com/")]
#[case("https://exam\u{ad}ple.com/")]
#[case("https://example。com/")]
#[case("https://[::1/")]
#[case("https://::1/")]
#[case("https://[::1::]/")]
#[case("https://[::1%lo]/")]
#[case("https://[fe80::1%25eth0]/")]
#[case("https://[v1.fe80::a]/")]
#[case("https://[127.0.0.1]/")]
#[case("https://[]/")]
#[case("https://[example.com]/")]
#[case("https://256.256.256.256/")]
#[case("https://1.1.1.1.1/")]
#[case("https://4294967296/")]
#[case("https://127.0.0.08/")]
#[case("https://example.0x7f/")]
#[case("https://example.1/")]
fn what_is_no_plain_url_is_refused(#[case] text: &str) {
    assert_eq!(reason(text), Some(Malformed));
}

#[rstest]
#[case("134744072")]
#[case("0x08080808")]
#[case("01002004010")]
#[case("8.8.2056")]
#[case("8.526344")]
#[case("0x8.8.8.8")]
#[case("010.8.8.8")]
#[case("8.8.8.8.")]
#[case("%38.8.8.8")]
#[case("８.８.８.８")]
#[case("8。8。8。8")]
#[case("8.8.8.8\u{200b}")]
#[case("[2606:4700:4700:0:0:0:0:1111]")]
#[case("[2606:4700:4700::0:1111]")]
#[case("[2606:4700:4700::01111]")]
#[case("[2606:4700:4700:0000::1111]")]
#[case("[2A00:1450::1]")]
#[case("[2606:4700:4700::0.0.17.17]")]
fn a_public_address_has_one_spelling(#[case] host: &str) {
    assert_eq!(reason(&format!("https://{host}/h")), Some(Malformed), "{host}");
}

#[rstest]
#[case("https://exa mple.com/")]
#[case(" https://example.com/")]
#[case("https://example.com/\n")]
#[case("https://127.0.\n0.1/")]
#[case("https://exam\tple.com/")]
#[case("https://example.com/\r\nX-Injected: 1")]
#[case("https://example.com/\0")]
#[case("https://example.com/\u{7f}")]
#[case("https://example.com/\u{85}")]
#[case("https://example.com/\u{a0}")]
#[case("https://example.com/\u{3000}")]
#[case("ht\ntps://example.com/")]
#[case("https:\\\\example.com\\")]
#[case("https://127.0.0.1\\@example.com/")]
#[case("https://example.com/a\\b")]
fn characters_that_parsers_drop_or_turn_are_refused(#[case] text: &str) {
    assert_eq!(reason(text), Some(Malformed));
}

#[test]
fn the_ports_of_other_protocols_are_refused() {
    for port in [0, 1, 22, 25, 53, 110, 143, 389, 465, 587, 636, 993, 995, 2049, 5060, 6000, 6667, 6679, 10080] {
        assert_eq!(reason(&format!("https://example.com:{port}/")), Some(PortNotAllowed), "{port}");
    }
    for port in [80, 443, 3000, 4443, 5432, 6379, 8080, 8443, 65535] {
        assert_eq!(reason(&format!("https://example.com:{port}/")), None, "{port}");
    }
}

#[test]
fn lengths_have_their_limits() {
    let url = |chars: usize| format!("https://example.com/{}", "a".repeat(chars - 20));
    assert_eq!(reason(&url(2048)), None);
    assert_eq!(reason(&url(2049)), Some(Malformed));
    // Encoded, each of these letters takes six characters.
    assert_eq!(reason(&format!("https://example.com/{}", "ä".repeat(300))), None);
    assert_eq!(reason(&format!("https://example.com/{}", "ä".repeat(400))), Some(Malformed));
    assert_eq!(reason(&format!("https://{}.com/", "a".repeat(63))), None);
    assert_eq!(reason(&format!("https://{}.com/", "a".repeat(64))), Some(Malformed));
    // 62 labels of four characters and "a.com" make 253.
    assert_eq!(reason(&format!("https://{}a.com/", "abc.".repeat(62))), None);
    assert_eq!(reason(&format!("https://{}ab.com/", "abc.".repeat(62))), Some(Malformed));
}

#[test]
fn the_parts_are_those_of_the_request() {
    let url = WebhookUrl::parse("https://Hooks.Example.com:8443/a/../b c".replace(' ', "%20").as_str()).unwrap();
    assert_eq!(url.host(), &Host::Name("hooks.example.com".into()));
    assert_eq!((url.port(), url.is_tls()), (8443, true));
    assert_eq!(url.host_header(), "hooks.example.com:8443");
    assert_eq!(url.path_and_query(), "/b%20c");
    let url = WebhookUrl::parse("https://[2606:4700:4700::1111]:443?q=1").unwrap();
    assert_eq!(url.host(), &Host::Address("2606:4700:4700::1111".parse().unwrap()));
    assert_eq!((url.port(), url.host_header(), url.path_and_query()), (443, "[2606:4700:4700::1111]", "/?q=1"));
}

#[test]
fn debug_keeps_the_secrets_of_the_receiver() {
    let url = WebhookUrl::parse("https://example.com/hook/s3cr3t?sig=s3cr3t").unwrap();
    assert_eq!(format!("{url:?}"), "WebhookUrl(https://example.com:443/…)");
    let refused = WebhookUrl::parse("https://user:s3cr3t@example.com/s3cr3t").unwrap_err();
    assert!(!format!("{refused} {refused:?}").contains("s3cr3t"));
}

#[rstest]
#[case("http://127.0.0.1:9000/h", true)]
#[case("https://127.0.0.1:9000/h", true)]
#[case("http://127.0.0.1:9001/h", false)]
#[case("http://127.0.0.2:9000/h", false)]
#[case("http://localhost:9000/h", false)]
#[case("http://127.1:9000/h", false)]
#[case("http://user@127.0.0.1:9000/h", false)]
#[case("ftp://127.0.0.1:9000/h", false)]
#[case("http://example.com/h", false)]
fn the_allow_list_opens_what_it_names(#[case] text: &str, #[case] passes: bool) {
    let allowed = "127.0.0.1:9000".parse().unwrap();
    assert_eq!(WebhookUrl::parse_allowing(text, &allowed).is_ok(), passes);
    assert!(WebhookUrl::parse(text).is_err());
}

/// The ways to write an IPv4 address that a URL parser understands, the plain one first.
fn spellings(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let n = address.to_bits();
    let wide = |text: &str| {
        text.chars().map(|digit| digit.to_digit(10).map_or('。', |n| char::from_u32(0xff10 + n).unwrap())).collect()
    };
    vec![
        address.to_string(),
        format!("{n}"),
        format!("{n:#x}"),
        format!("0{n:o}"),
        format!("0X{n:08X}"),
        format!("{a}.{}", n & 0xff_ffff),
        format!("{a}.{b}.{}", n & 0xffff),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("0000{a:o}.{b}.{c}.0x{d:x}"),
        format!("{a}.{b}.{c}.{d}."),
        address.to_string().replace('.', "%2e"),
        format!("{address}").bytes().map(|byte| format!("%{byte:02X}")).collect(),
        wide(&address.to_string()),
        format!("{address}\u{ad}"),
        format!("[::ffff:{address}]"),
        format!("[::{address}]"),
        format!("[64:ff9b::{address}]"),
    ]
}

fn refused_v4() -> impl Strategy<Value = Ipv4Addr> {
    let range = |first: u32, prefix: u32| (Just(first), 0..=(u32::MAX >> prefix)).prop_map(|(first, i)| first | i);
    prop_oneof![
        range(0x0000_0000, 8),
        range(0x0a00_0000, 8),
        range(0x6440_0000, 10),
        range(0x7f00_0000, 8),
        range(0xa9fe_0000, 16),
        range(0xac10_0000, 12),
        range(0xc0a8_0000, 16),
        range(0xc612_0000, 15),
        range(0xc000_0200, 24),
        range(0xe000_0000, 3),
    ]
    .prop_map(Ipv4Addr::from_bits)
}

proptest! {
    #[test]
    fn a_refused_ipv4_address_is_refused_in_every_spelling(address in refused_v4()) {
        for host in spellings(address) {
            prop_assert_eq!(reason(&format!("https://{host}/h")), Some(PrivateHost), "{}", host);
        }
    }

    #[test]
    fn a_public_ipv4_address_passes_in_its_plain_spelling_alone(bits: u32) {
        let address = Ipv4Addr::from_bits(bits);
        prop_assume!(address::verdict(address.into()).is_ok());
        for (i, host) in spellings(address).into_iter().enumerate() {
            prop_assert_eq!(reason(&format!("https://{host}/h")).is_none(), i == 0, "{}", host);
        }
    }

    #[test]
    fn an_ipv6_literal_is_judged_as_its_address(bits: u128) {
        let address = Ipv6Addr::from_bits(bits);
        let judged = address::verdict(address.into()).map_err(|_| PrivateHost);
        prop_assert_eq!(reason(&format!("https://[{address}]/h")), judged.err());
    }

    #[test]
    fn no_text_panics_and_what_passes_reads_the_same_again(text in "(https://)?\\PC{0,60}") {
        if let Ok(url) = WebhookUrl::parse(&text) {
            let again = WebhookUrl::parse(url.as_str());
            prop_assert_eq!(again.as_ref().map(WebhookUrl::host), Ok(url.host()));
            prop_assert!(url.is_tls() && url.path_and_query().starts_with('/'));
        }
    }

    #[test]
    fn no_text_near_a_url_panics(text in "https?:/{0,3}[a-z0-9.@:%#?\\[\\]\\\\/ \u{ad}①。ｌä_-]{0,40}") {
        if let Ok(url) = WebhookUrl::parse(&text)
            && let Host::Address(address) = url.host()
        {
            prop_assert!(address::verdict(*address).is_ok());
        }
    }
}
