//! Where deliveries go, and where they do not.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use delivery::resolver::Resolver;
use delivery::sender::{DEADLINE, HttpSender};
use domain::AccountId;
use domain::webhooks::attempt::{FailureCode, Sender};
use rstest::rstest;
use rustls::pki_types::CertificateDer;
use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;

use crate::receiver::{Receiver, SHORT, Script, code, config, failure, identity, read_request, request};

/// A receiver that answers every request over TLS with 200.
async fn tls_receiver(address: &str, acceptor: TlsAcceptor) -> Receiver {
    Receiver::start_at(address, move |stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            while read_request(&mut stream).await.is_some() {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.unwrap();
            }
        }
    })
    .await
}

fn sender(allow: &str, resolver: Arc<dyn Resolver>, authority: Option<CertificateDer<'static>>) -> HttpSender {
    HttpSender::with_parts(config(allow, DEADLINE), resolver, authority.into_iter().collect()).unwrap()
}

#[tokio::test]
async fn the_checked_address_is_the_one_that_is_dialled() {
    let (certificate, acceptor) = identity("flip.shop.com");
    let receiver = tls_receiver("127.0.0.2:0", acceptor.clone()).await;
    let port = receiver.address.port();
    let trap = tls_receiver(&format!("127.0.0.1:{port}"), acceptor).await;
    // The first answer is harmless; a second question would lead inside.
    let resolver = Script::new(&[&["127.0.0.2"], &["127.0.0.1"], &["127.0.0.2", "127.0.0.1"], &["127.0.0.2"]]);
    let sender = sender(&format!("127.0.0.2:{port}"), resolver.clone(), Some(certificate));
    let url = format!("https://flip.shop.com:{port}/hook");

    let first = sender.send(request(&url)).await;
    assert!(first.is_success(), "{first:?}");
    assert!(first.timings.dns.is_some() && first.timings.tls.is_some());
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 1);
    // Every attempt asks again, and the connection kept from before does not help.
    assert_eq!(code(&sender.send(request(&url)).await), FailureCode::AddressRefused);
    // One bad address among good ones refuses them all.
    assert_eq!(code(&sender.send(request(&url)).await), FailureCode::AddressRefused);
    let last = sender.send(request(&url)).await;
    assert!(last.is_success() && last.timings.connect.is_none());
    assert_eq!((receiver.accepted(), trap.accepted()), (1, 0));
}

#[rstest]
#[case(&["127.0.0.1"], "loopback")]
#[case(&["93.184.216.34", "10.0.0.1"], "private network")]
#[case(&["fd00:ec2::254"], "unique local")]
#[case(&["64:ff9b::7f00:1"], "NAT64")]
#[case(&["::ffff:8.8.8.8"], "IPv4-mapped")]
#[case(&["168.63.129.16"], "cloud metadata")]
#[case(&["0.0.0.0"], "this network")]
#[tokio::test]
async fn an_answer_with_a_bad_address_is_refused(#[case] answer: &[&str], #[case] range: &str) {
    let sender = sender("", Script::new(&[answer]), None);
    let attempt = sender.send(request("https://hooks.shop.com/s3cr3t")).await;
    assert_eq!(code(&attempt), FailureCode::AddressRefused);
    let message = format!("the name hooks.shop.com resolves to an address that is not public ({range})");
    assert_eq!(failure(&attempt).message, message);
    assert_eq!(attempt.timings.connect, None);
}

#[rstest]
#[case("http://169.254.169.254/latest/meta-data/")]
#[case("https://127.0.0.1/")]
#[case("https://[::1]/")]
#[case("https://2130706433/")]
#[case("https://metadata.google.internal/")]
#[case("nonsense")]
#[tokio::test]
async fn the_text_is_judged_again_at_every_attempt(#[case] url: &str) {
    let resolver = Script::new(&[]);
    let attempt = sender("", resolver.clone(), None).send(request(url)).await;
    assert_eq!(code(&attempt), FailureCode::UrlRefused);
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_without_an_address_is_a_failed_attempt() {
    for resolver in [Script::new(&[]), Script::new(&[&[]])] {
        let attempt = sender("", resolver, None).send(request("https://hooks.shop.com/")).await;
        assert_eq!(code(&attempt), FailureCode::NameNotResolved);
        assert!(attempt.timings.dns.is_some());
    }
}

struct Silent;

#[async_trait]
impl Resolver for Silent {
    async fn resolve(&self, _: AccountId, _name: &str) -> io::Result<Vec<IpAddr>> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn the_deadline_covers_the_name_service() {
    let sender = HttpSender::with_parts(config("", SHORT), Arc::new(Silent), vec![]).unwrap();
    let attempt = sender.send(request("https://hooks.shop.com/")).await;
    assert_eq!(code(&attempt), FailureCode::TimedOut);
    assert_eq!(failure(&attempt).message, "the name service did not answer in time");
    assert!(attempt.timings.dns.unwrap() >= SHORT - SHORT / 10);
}

#[tokio::test]
async fn the_deadline_covers_the_tls_handshake() {
    let receiver = Receiver::start(|stream| async move {
        let _open = stream;
        std::future::pending().await
    })
    .await;
    let sender = HttpSender::with_parts(config("127.0.0.1", SHORT), Script::new(&[]), vec![]).unwrap();
    let attempt = sender.send(request(format!("https://{}/", receiver.address))).await;
    assert_eq!(code(&attempt), FailureCode::TimedOut);
    assert!(attempt.timings.connect.is_some() && attempt.timings.tls.is_some());
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_refuses() {
    let (certificate, acceptor) = identity("hooks.shop.com");
    let receiver = tls_receiver("127.0.0.2:0", acceptor).await;
    let port = receiver.address.port();
    let resolver = Script::new(&[&["127.0.0.3", "127.0.0.2"]]);
    let sender = sender("127.0.0.2,127.0.0.3", resolver, Some(certificate));
    assert!(sender.send(request(format!("https://hooks.shop.com:{port}/"))).await.is_success());
}

#[rstest]
#[case::self_signed("hooks.shop.com", false)]
#[case::of_another_name("other.shop.com", true)]
#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_refused(#[case] name: &str, #[case] known: bool) {
    let (certificate, acceptor) = identity(name);
    let receiver = tls_receiver("127.0.0.1:0", acceptor).await;
    let port = receiver.address.port();
    let sender = sender("127.0.0.1", Script::new(&[&["127.0.0.1"]]), known.then_some(certificate));
    let attempt = sender.send(request(format!("https://hooks.shop.com:{port}/"))).await;
    assert_eq!(code(&attempt), FailureCode::TlsFailed);
    assert!(failure(&attempt).message.contains("certificate"), "{attempt:?}");
    assert_eq!(attempt.timings.first_byte, None);
}
