//! Receivers, resolvers and senders for the tests.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use delivery::resolver::Resolver;
use delivery::sender::{HttpSender, SenderConfig};
use domain::AccountId;
use domain::webhooks::attempt::{Attempt, Failure, FailureCode, Outcome, Request};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Long enough for a busy machine; only what never ends gets here.
pub const SHORT: Duration = Duration::from_millis(400);

/// A listener that passes every connection to a script, and counts them.
pub struct Receiver {
    pub address: SocketAddr,
    accepted: Arc<AtomicUsize>,
}

impl Receiver {
    pub async fn start<F: Future<Output = ()> + Send + 'static>(
        script: impl Fn(TcpStream) -> F + Send + 'static,
    ) -> Self {
        Self::start_at("127.0.0.1:0", script).await
    }

    pub async fn start_at<F: Future<Output = ()> + Send + 'static>(
        address: &str,
        script: impl Fn(TcpStream) -> F + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&accepted);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(script(stream));
            }
        });
        Self { address, accepted }
    }

    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook?x=1", self.address)
    }
}

/// Reads one request, head and body, by its `content-length`. None at the end of the connection.
pub async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        bytes.push(stream.read_u8().await.ok()?);
        if bytes.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    let head = String::from_utf8(bytes).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(head + &String::from_utf8(body).unwrap())
}

pub fn config(allow: &str, deadline: Duration) -> SenderConfig {
    SenderConfig { deadline, allow_loopback: allow.parse().unwrap(), user_agent: "tests/1".into() }
}

/// A sender that may call all of 127.0.0.1, and resolves no name.
pub fn sender(deadline: Duration) -> HttpSender {
    HttpSender::with_parts(config("127.0.0.1", deadline), Arc::new(Script::default()), vec![]).unwrap()
}

/// For receivers that end the attempt themselves.
pub fn patient_sender() -> HttpSender {
    sender(Duration::from_secs(10))
}

pub fn request(url: impl Into<String>) -> Request {
    Request {
        account: AccountId(1),
        url: url.into(),
        headers: vec![("x-svc-attempt", "1".into())],
        body: b"{\"event\":\"a\"}".to_vec(),
    }
}

pub fn failure(attempt: &Attempt) -> &Failure {
    match &attempt.outcome {
        Outcome::Failed(failure) => failure,
        Outcome::Status(status) => panic!("answered with {status}"),
    }
}

pub fn code(attempt: &Attempt) -> FailureCode {
    failure(attempt).code
}

/// A resolver that answers from a list, one entry a question, and then says that the name is unknown.
#[derive(Default)]
pub struct Script {
    answers: Mutex<Vec<Vec<IpAddr>>>,
    pub asked: AtomicUsize,
}

impl Script {
    pub fn new(answers: &[&[&str]]) -> Arc<Self> {
        let answers = answers.iter().rev().map(|ips| ips.iter().map(|ip| ip.parse().unwrap()).collect()).collect();
        Arc::new(Self { answers: Mutex::new(answers), asked: AtomicUsize::new(0) })
    }
}

#[async_trait]
impl Resolver for Script {
    async fn resolve(&self, _: AccountId, _name: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.answers.lock().unwrap().pop().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// A self-signed certificate for a name, and the server side that shows it.
pub fn identity(name: &str) -> (CertificateDer<'static>, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    (certificate, TlsAcceptor::from(Arc::new(config)))
}
