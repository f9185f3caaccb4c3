//! Which `Host` and `Origin` the admin listener accepts. It checks no credentials, so a page in an operator's browser must
//! not reach it: neither by a name that resolves to the listener's address (DNS rebinding), nor by sending a form to the
//! right address.

use std::net::IpAddr;

use actix_web::{
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::{
        StatusCode,
        header::{HOST, HeaderName, HeaderValue, ORIGIN},
    },
    middleware::Next,
    web,
};

/// The names by which the listener is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// Reads names that are separated by commas.
    ///
    /// # Errors
    /// Where one is no host name.
    pub fn parse(names: &str) -> anyhow::Result<Self> {
        let names: Vec<String> =
            names.split(',').map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()).collect();
        let is_name =
            |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_'));
        anyhow::ensure!(names.iter().all(is_name), "admin_hosts: names of hosts, without ports, separated by commas");
        Ok(Self(names))
    }

    /// Whether a `Host`, with a port or without, is one of the listener's. Any address is: a browser sends one only to
    /// where it leads, while a name leads wherever its owner says.
    fn contain(&self, host: &str) -> bool {
        if host.starts_with('[') {
            let address = host.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            return address.is_some_and(|(address, port)| {
                address.parse::<IpAddr>().is_ok_and(|address| address.is_ipv6()) && (port.is_empty() || is_port(port))
            });
        }
        let name = match host.find(':').map(|at| host.split_at(at)) {
            Some((name, port)) if is_port(port) => name,
            Some(_) => return false,
            None => host,
        };
        let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
        name == "localhost" || name.parse::<IpAddr>().is_ok() || self.0.contains(&name)
    }
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Why a request is not let through.
struct Refusal {
    status: StatusCode,
    code: &'static str,
    reason: &'static str,
}

const WRONG_HOST: Refusal = Refusal {
    status: StatusCode::MISDIRECTED_REQUEST,
    code: "wrong_host",
    reason: "no such host is here; admin_hosts lists the names of the admin listener",
};

const WRONG_ORIGIN: Refusal = Refusal {
    status: StatusCode::FORBIDDEN,
    code: "wrong_origin",
    reason: "requests from pages of another origin are refused",
};

/// Lets requests through that are meant for the listener, and answers the others.
pub(super) async fn guard(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    match check(&request) {
        Ok(()) => Ok(next.call(request).await?.map_into_boxed_body()),
        Err(Refusal { status, code, reason }) => Ok(request.into_response(super::error(status, code, reason))),
    }
}

/// Whether every host that a request names is one of the listener's, and an `Origin` says the same. What names no host at all
/// comes from no browser.
fn check(request: &ServiceRequest) -> Result<(), Refusal> {
    let hosts = request.app_data::<web::Data<Hosts>>().ok_or(WRONG_HOST)?;
    let all =
        |name: HeaderName| request.headers().get_all(name).map(HeaderValue::to_str).collect::<Result<Vec<_>, _>>();
    let mut named = all(HOST).map_err(|_| WRONG_HOST)?;
    named.extend(request.uri().authority().map(|authority| authority.as_str()));
    if !named.iter().all(|host| hosts.contain(host)) {
        return Err(WRONG_HOST);
    }
    let own = |origin: &&str| origin.split_once("://").is_some_and(|(_, authority)| named.first() == Some(&authority));
    if !all(ORIGIN).map_err(|_| WRONG_ORIGIN)?.iter().all(own) {
        return Err(WRONG_ORIGIN);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_the_listeners_own_or_not() {
        let hosts = Hosts::parse(" Metrics.shop.svc ,").unwrap();
        let own = [
            "localhost",
            "LOCALHOST:9090",
            "localhost.",
            "127.0.0.1:9090",
            "10.4.0.7",
            "[::1]:9090",
            "[::1]",
            "metrics.shop.svc:9090",
        ];
        for host in own {
            assert!(hosts.contain(host), "{host}");
        }
        let others = [
            "evil.example",
            "evil.example:9090",
            "localhost.evil.example:9090",
            "127.0.0.1.evil.example",
            "localhost:9090@evil.example",
            "[::1].evil.example",
            "[evil.example]",
            "0x7f.1",
            "",
        ];
        for host in others {
            assert!(!hosts.contain(host), "{host}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for names in ["a:9090", "https://a", "a b", "*"] {
            assert!(Hosts::parse(names).is_err(), "{names}");
        }
    }
}
