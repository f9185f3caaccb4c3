//! Sends a delivery: never to internal addresses, never by a redirect, never past its deadline.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use domain::AccountId;
use domain::webhooks::address::{self, AllowList};
use domain::webhooks::attempt::{Attempt, Failure, FailureCode, MAX_ANSWER_BYTES, Request, Sender};
use domain::webhooks::url::{Host, WebhookUrl};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;

use crate::connection::{Connection, Unanswered};
use crate::pool::{Peer, Pool};
use crate::record::{Phase, Record, failure, timed_out};
use crate::resolver::{BoundedResolver, Resolver, SystemResolver};

/// The time one attempt has, from the name service to the last byte of the answer that is kept.
pub const DEADLINE: Duration = Duration::from_secs(10);
/// How long the beginning of the answer's body is waited for, once the status is there: the delivery is judged by the
/// status alone.
const BODY_WAIT: Duration = Duration::from_secs(1);
/// Addresses of one receiver that are tried.
const MAX_ADDRESSES: usize = 4;
/// The longest header value that is recorded, in characters.
const MAX_RECORDED_CHARS: usize = 2_048;

/// How a sender works.
#[derive(Debug, Clone)]
pub struct SenderConfig {
    /// [`DEADLINE`], but in tests.
    pub deadline: Duration,
    /// Empty in production.
    pub allow_loopback: AllowList,
    /// Visible ASCII.
    pub user_agent: String,
}

/// A sender could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SenderError {
    #[error("the user agent is not visible ASCII")]
    UserAgent,
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
}

/// Sends over HTTP/1.1 and keeps connections open between deliveries. Proxies named in the environment are not used:
/// a proxy would resolve the names again, unchecked.
pub struct HttpSender {
    deadline: Duration,
    allowed: AllowList,
    user_agent: HeaderValue,
    resolver: Arc<dyn Resolver>,
    tls: TlsConnector,
    pool: Pool,
}

impl HttpSender {
    /// A sender that trusts the certificate authorities of the system.
    ///
    /// # Errors
    /// [`SenderError`] when the configuration cannot be used.
    pub fn new(config: SenderConfig) -> Result<Self, SenderError> {
        let found = rustls_native_certs::load_native_certs();
        if found.certs.is_empty() {
            tracing::warn!(errors = found.errors.len(), "no certificate authorities found: no delivery will succeed");
        }
        let resolver = BoundedResolver::new(Arc::new(SystemResolver));
        Self::with_parts(config, Arc::new(resolver), found.certs)
    }

    /// A sender that asks this resolver and trusts these certificate authorities.
    ///
    /// # Errors
    /// [`SenderError`] when the configuration cannot be used.
    pub fn with_parts(
        config: SenderConfig,
        resolver: Arc<dyn Resolver>,
        authorities: Vec<CertificateDer<'static>>,
    ) -> Result<Self, SenderError> {
        let mut roots = RootCertStore::empty();
        // Systems carry a few certificates that rustls does not read; the others still count.
        roots.add_parsable_certificates(authorities);
        let mut tls = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            deadline: config.deadline,
            allowed: config.allow_loopback,
            user_agent: HeaderValue::from_str(&config.user_agent).map_err(|_| SenderError::UserAgent)?,
            resolver,
            tls: TlsConnector::from(Arc::new(tls)),
            pool: Pool::default(),
        })
    }

    async fn attempt(&self, request: Request, record: &mut Record) -> Result<(), Failure> {
        let url = WebhookUrl::parse_allowing(&request.url, &self.allowed)
            .map_err(|refused| failure(FailureCode::UrlRefused, refused.message))?;
        let addresses = self.addresses(request.account, &url, record).await?;
        let message = self.message(&url, request)?;
        if let Some((peer, mut connection)) = self.kept(&url, &addresses) {
            match self.exchange(&mut connection, message.clone(), record).await {
                Ok(body) => {
                    self.finish(peer, connection, body, record).await;
                    return Ok(());
                }
                // The receiver may have closed it while it was idle: that is no failure of this delivery.
                Err(Unanswered { closed: true, .. }) => {}
                Err(Unanswered { failure, .. }) => return Err(failure),
            }
        }
        let (peer, mut connection) = self.connect(&url, &addresses, record).await?;
        let body = self.exchange(&mut connection, message, record).await.map_err(|unanswered| unanswered.failure)?;
        self.finish(peer, connection, body, record).await;
        Ok(())
    }

    /// The addresses to connect to, all of them checked. Literals never reach the resolver.
    async fn addresses(
        &self,
        account: AccountId,
        url: &WebhookUrl,
        record: &mut Record,
    ) -> Result<Vec<SocketAddr>, Failure> {
        let name = match url.host() {
            // Checked with the text, by the same rule.
            Host::Address(address) => return Ok(vec![SocketAddr::new(*address, url.port())]),
            Host::Name(name) => name,
        };
        let unresolved = || failure(FailureCode::NameNotResolved, format!("the name {name} does not resolve"));
        let answer = record.timed(Phase::Dns, self.resolver.resolve(account, name)).await.map_err(|_| unresolved())?;
        if answer.is_empty() {
            return Err(unresolved());
        }
        for address in &answer {
            self.check(name, *address, url.port())?;
        }
        Ok(answer.into_iter().take(MAX_ADDRESSES).map(|address| SocketAddr::new(address, url.port())).collect())
    }

    fn check(&self, name: &str, address: IpAddr, port: u16) -> Result<(), Failure> {
        if self.allowed.permits(address, port) {
            return Ok(());
        }
        address::verdict(address).map_err(|range| {
            let message = format!("the name {name} resolves to an address that is not public ({range})");
            failure(FailureCode::AddressRefused, message)
        })
    }

    /// The request as it is sent. No `Accept-Encoding`: the answer is kept as it comes.
    fn message(&self, url: &WebhookUrl, request: Request) -> Result<hyper::Request<Full<Bytes>>, Failure> {
        let invalid = |_| failure(FailureCode::UrlRefused, "the request cannot be put into HTTP");
        let mut message = hyper::Request::post(url.path_and_query())
            .header(header::HOST, url.host_header())
            .header(header::USER_AGENT, &self.user_agent)
            .body(Full::new(Bytes::from(request.body)))
            .map_err(invalid)?;
        for (name, value) in request.headers {
            let value = HeaderValue::try_from(value).map_err(|error| invalid(error.into()))?;
            message.headers_mut().insert(HeaderName::from_static(name), value);
        }
        Ok(message)
    }

    fn kept(&self, url: &WebhookUrl, addresses: &[SocketAddr]) -> Option<(Peer, Connection)> {
        addresses.iter().find_map(|address| {
            let peer = peer(url, *address);
            self.pool.take(&peer).map(|connection| (peer, connection))
        })
    }

    /// Opens a connection to the first address that accepts one, then speaks TLS.
    async fn connect(
        &self,
        url: &WebhookUrl,
        addresses: &[SocketAddr],
        record: &mut Record,
    ) -> Result<(Peer, Connection), Failure> {
        let (stream, address) = record.timed(Phase::Connect, self.dial(addresses)).await?;
        // A request is one small write: waiting to fill a packet only delays it.
        stream.set_nodelay(true).ok();
        let connection = if url.is_tls() {
            let refused =
                |error: &dyn std::fmt::Display| failure(FailureCode::TlsFailed, format!("TLS failed: {error}"));
            let name = server_name(url.host()).map_err(|error| refused(&error))?;
            let stream =
                record.timed(Phase::Tls, self.tls.connect(name, stream)).await.map_err(|error| refused(&error))?;
            Connection::start(TokioIo::new(stream)).await?
        } else {
            Connection::start(TokioIo::new(stream)).await?
        };
        Ok((peer(url, address), connection))
    }

    /// Tries the addresses in turn; each gets an equal part of the deadline.
    async fn dial(&self, addresses: &[SocketAddr]) -> Result<(TcpStream, SocketAddr), Failure> {
        let mut last = failure(FailureCode::ConnectionFailed, "the receiver has no address");
        let part = self.deadline / u32::try_from(addresses.len()).unwrap_or(1).max(1);
        for address in addresses {
            match timeout(part, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok((stream, *address)),
                Ok(Err(error)) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                    last = failure(FailureCode::ConnectionRefused, format!("{address} refuses connections"));
                }
                Ok(Err(_)) => last = failure(FailureCode::ConnectionFailed, format!("{address} cannot be reached")),
                Err(_) => last = timed_out(Phase::Connect),
            }
        }
        Err(last)
    }

    /// Sends the request and records the head of the answer. From there on the attempt has its status.
    async fn exchange(
        &self,
        connection: &mut Connection,
        message: hyper::Request<Full<Bytes>>,
        record: &mut Record,
    ) -> Result<Incoming, Unanswered> {
        let (head, body) = record.timed(Phase::Answer, connection.send(message)).await?.into_parts();
        record.status = Some(head.status.as_u16());
        record.retry_after = recorded(&head.headers, &header::RETRY_AFTER);
        record.location = recorded(&head.headers, &header::LOCATION);
        Ok(body)
    }

    /// Reads the beginning of the body for a while. The connection is kept if that was all of it; otherwise it is closed.
    async fn finish(&self, peer: Peer, connection: Connection, body: Incoming, record: &mut Record) {
        timeout(BODY_WAIT, self.read(peer, connection, body, record)).await.ok();
    }

    async fn read(&self, peer: Peer, mut connection: Connection, mut body: Incoming, record: &mut Record) {
        loop {
            match body.frame().await {
                Some(Ok(frame)) => {
                    let Some(data) = frame.data_ref() else { continue };
                    let room = MAX_ANSWER_BYTES - record.answer.len();
                    record.answer.extend_from_slice(data.get(..room).unwrap_or(data));
                    if data.len() > room {
                        return;
                    }
                }
                Some(Err(_)) => return,
                None => break,
            }
        }
        if connection.is_reusable().await {
            self.pool.put(peer, connection);
        }
    }
}

#[async_trait]
impl Sender for HttpSender {
    async fn send(&self, request: Request) -> Attempt {
        let started = Instant::now();
        let mut record = Record::default();
        let ended = timeout_at(started + self.deadline, self.attempt(request, &mut record)).await;
        let failed = match ended {
            Ok(Ok(())) => None,
            Ok(Err(failure)) => Some(failure),
            Err(_) => Some(timed_out(record.stop())),
        };
        record.timings.total = started.elapsed();
        record.into_attempt(failed)
    }
}

fn peer(url: &WebhookUrl, address: SocketAddr) -> Peer {
    Peer { host: url.host().to_string(), address, tls: url.is_tls() }
}

fn server_name(host: &Host) -> Result<ServerName<'static>, rustls::pki_types::InvalidDnsNameError> {
    match host {
        Host::Address(address) => Ok(ServerName::from(*address)),
        Host::Name(name) => ServerName::try_from(name.strip_suffix('.').unwrap_or(name).to_owned()),
    }
}

/// A header as text, cut to a length that can be stored; bytes that are not visible ASCII are replaced.
fn recorded(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?.as_bytes();
    let visible = |b: &u8| if (b' '..=b'~').contains(b) { char::from(*b) } else { '\u{fffd}' };
    Some(value.iter().take(MAX_RECORDED_CHARS).map(visible).collect())
}
