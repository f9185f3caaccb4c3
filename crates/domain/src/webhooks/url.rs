//! The URL of a receiver: what its text alone decides.
//!
//! The host is found the way browsers and HTTP clients find it ([WHATWG URL]), because that is where a request would
//! go; so `https://0x7f.1/` is seen for the loopback address it is. Then one spelling is insisted on: what reads
//! differently from where it leads is refused even if it leads to a public place. What the name service answers is
//! judged at every attempt, by what connects.
//!
//! [WHATWG URL]: https://url.spec.whatwg.org/

use std::fmt;
use std::net::IpAddr;

use url::Url;

use super::address::{self, AllowList};
use super::names;

/// The longest URL taken, in characters.
pub const MAX_URL_CHARS: usize = 2_048;

/// Ports no web client connects to, because they speak protocols that a request body could be mistaken for
/// ([WHATWG Fetch, bad ports](https://fetch.spec.whatwg.org/#port-blocking)).
const BAD_PORTS: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531,
    532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
    5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Why a URL was refused, as the API names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UrlReason {
    /// Another scheme than `https`.
    NotHttps,
    /// An address or a name that is private, local, reserved or a metadata service.
    PrivateHost,
    /// A user name or a password before the host, even an empty one.
    CredentialsInUrl,
    /// Not a URL, or one with a second way to read it.
    Malformed,
    /// A port that web clients do not connect to.
    PortNotAllowed,
}

impl UrlReason {
    /// The word used in answers of the API.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotHttps => "not_https",
            Self::PrivateHost => "private_host",
            Self::CredentialsInUrl => "credentials_in_url",
            Self::Malformed => "malformed",
            Self::PortNotAllowed => "port_not_allowed",
        }
    }
}

impl fmt::Display for UrlReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// A URL that deliveries cannot go to. The message never repeats the URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UrlRefused {
    /// For programs.
    pub reason: UrlReason,
    /// For people: one sentence in lower case without a full stop.
    pub message: String,
}

fn refuse<T>(reason: UrlReason, message: impl Into<String>) -> Result<T, UrlRefused> {
    Err(UrlRefused { reason, message: message.into() })
}

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// A public-looking name in lower-case ASCII, perhaps with a trailing dot.
    Name(String),
    /// A literal address.
    Address(IpAddr),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V4(v4)) => v4.fmt(f),
            Self::Address(IpAddr::V6(v6)) => write!(f, "[{v6}]"),
        }
    }
}

/// The URL of a receiver whose text has been found harmless.
///
/// Printed by `Debug` without path and query, which often hold a receiver's secret.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WebhookUrl {
    text: String,
    url: Url,
    host: Host,
    port: u16,
}

impl WebhookUrl {
    /// Reads the URL of a receiver on the public Internet.
    ///
    /// # Errors
    /// [`UrlRefused`] with the first fault found.
    pub fn parse(text: &str) -> Result<Self, UrlRefused> {
        Self::parse_allowing(text, &AllowList::default())
    }

    /// Like [`WebhookUrl::parse`]; the listed loopback addresses pass too, over `http` as well.
    ///
    /// # Errors
    /// [`UrlRefused`] with the first fault found.
    pub fn parse_allowing(text: &str, allowed: &AllowList) -> Result<Self, UrlRefused> {
        check_characters(text)?;
        let Ok(url) = Url::parse(text) else {
            return refuse(UrlReason::Malformed, "this is not an absolute URL with a valid host and port");
        };
        let authority = authority(text, &url)?;
        let Some(host) = host_of(&url) else {
            return refuse(UrlReason::Malformed, "the URL has no host");
        };
        let Some(port) = url.port_or_known_default() else {
            return refuse(UrlReason::Malformed, "the URL has no port");
        };
        let listed = matches!(host, Host::Address(address) if allowed.permits(address, port));
        if !listed {
            if url.scheme() != "https" {
                return refuse(UrlReason::NotHttps, "the URL must start with https://");
            }
            check_host(&host)?;
            if BAD_PORTS.contains(&port) {
                return refuse(UrlReason::PortNotAllowed, format!("port {port} belongs to another protocol"));
            }
        }
        check_spelling(authority, &host)?;
        // Stored as the client sent it, so that clients find their own URL again in lists; other alphabets are encoded.
        let text = if text.is_ascii() { text.to_owned() } else { url.as_str().to_owned() };
        if text.len() > MAX_URL_CHARS {
            return too_long();
        }
        Ok(Self { text, url, host, port })
    }

    /// The URL as registered. One with other letters than ASCII is in its encoded form, the host in punycode.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Where the request goes.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The port, 443 unless written.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the connection is encrypted: always, but for receivers on the allow-list.
    pub fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Path and query, encoded, as they go into the request line.
    pub fn path_and_query(&self) -> &str {
        &self.url[url::Position::BeforePath..url::Position::AfterQuery]
    }

    /// The value of the `Host` header: the host, with the port unless it is the default one.
    pub fn host_header(&self) -> &str {
        &self.url[url::Position::BeforeHost..url::Position::AfterPort]
    }
}

impl fmt::Display for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for WebhookUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookUrl({}://{}:{}/…)", self.url.scheme(), self.host, self.port)
    }
}

fn too_long<T>() -> Result<T, UrlRefused> {
    refuse(UrlReason::Malformed, format!("the URL is longer than {MAX_URL_CHARS} characters"))
}

/// Characters that a URL parser drops or turns into others, so that people and programs read different URLs.
fn check_characters(text: &str) -> Result<(), UrlRefused> {
    if text.chars().nth(MAX_URL_CHARS).is_some() {
        return too_long();
    }
    if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return refuse(UrlReason::Malformed, "the URL holds a space or a control character");
    }
    if text.contains('\\') {
        return refuse(UrlReason::Malformed, "the URL holds a backslash");
    }
    Ok(())
}

/// The part between `://` and the path as it was written, once it is known to hold a host and a port alone.
fn authority<'a>(text: &'a str, url: &Url) -> Result<&'a str, UrlRefused> {
    if !matches!(url.scheme(), "https" | "http") {
        return refuse(UrlReason::NotHttps, "the URL must start with https://");
    }
    let Some(rest) = text.get(url.scheme().len()..).and_then(|rest| rest.strip_prefix("://")) else {
        return refuse(UrlReason::Malformed, "the scheme must be followed by two slashes and the host");
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    if authority.is_empty() {
        return refuse(UrlReason::Malformed, "the URL has no host");
    }
    if authority.contains('@') {
        return refuse(UrlReason::CredentialsInUrl, "credentials do not belong into the URL");
    }
    if rest.contains('#') {
        return refuse(UrlReason::Malformed, "the URL has a fragment, which is never sent");
    }
    Ok(authority)
}

fn host_of(url: &Url) -> Option<Host> {
    Some(match url.host()? {
        url::Host::Domain(name) => Host::Name(name.to_owned()),
        url::Host::Ipv4(v4) => Host::Address(v4.into()),
        url::Host::Ipv6(v6) => Host::Address(v6.into()),
    })
}

fn check_host(host: &Host) -> Result<(), UrlRefused> {
    match host {
        Host::Address(address) => address::verdict(*address).or_else(|range| {
            refuse(UrlReason::PrivateHost, format!("the host is an address that is not public ({range})"))
        }),
        Host::Name(name) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            if !names::is_well_formed(name) {
                return refuse(UrlReason::Malformed, "the host is not a valid name");
            }
            names::private_name(name).map_or(Ok(()), |why| refuse(UrlReason::PrivateHost, why))
        }
    }
}

/// Insists on the one plain spelling of host and port, that is on the text saying where the request goes.
fn check_spelling(authority: &str, host: &Host) -> Result<(), UrlRefused> {
    let (written, port) = match authority.rfind(':') {
        // The colons of an IPv6 literal are inside its brackets.
        Some(colon) if !authority.ends_with(']') => {
            let (written, port) = authority.split_at(colon);
            (written, port.strip_prefix(':'))
        }
        _ => (authority, None),
    };
    if port.is_some_and(|port| port.is_empty() || (port.starts_with('0') && port != "0")) {
        return refuse(UrlReason::Malformed, "the port is not written as a plain number");
    }
    let plain = match host {
        Host::Address(_) => written == host.to_string(),
        Host::Name(name) => is_plain_name(written, name),
    };
    if !plain {
        return refuse(UrlReason::Malformed, "the host is not in its plain spelling");
    }
    Ok(())
}

/// Whether a host as written and the ASCII name it stands for agree label by label. A label in another alphabet must
/// need that alphabet: full-width letters, soft hyphens and the like vanish in the ASCII form and are refused.
fn is_plain_name(written: &str, name: &str) -> bool {
    let mut labels = name.split('.');
    let agree = written.split('.').all(|label| {
        labels.next().is_some_and(|ascii| {
            if label.is_ascii() { label.eq_ignore_ascii_case(ascii) } else { ascii.starts_with("xn--") }
        })
    });
    agree && labels.next().is_none()
}

#[cfg(test)]
mod tests;
