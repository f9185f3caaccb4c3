//! Addresses of other systems, as settings name them.

use anyhow::Context;
use url::{Host, Url};

/// The address of a system that keys, and figures of shops, are sent to: by https, or on this machine.
///
/// # Errors
/// When the setting is no such address.
pub fn private(setting: &str, address: &str) -> anyhow::Result<Url> {
    let url: Url = address.trim().parse().with_context(|| format!("{setting} is no address"))?;
    let is_private = match url.scheme() {
        "https" => true,
        "http" => is_local(&url),
        _ => false,
    };
    anyhow::ensure!(
        is_private,
        "{setting} must begin with https://: what is sent there, keys included, could be read on the way. http:// is for \
         127.0.0.1, [::1] and localhost only"
    );
    Ok(url)
}

/// Whether an address is one of this machine.
pub fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_go_by_https_or_stay_on_this_machine() {
        for taken in [
            "https://pay.example.com",
            " https://10.0.0.7:8443/v1 ",
            "http://127.0.0.1:9000",
            "http://127.9.9.9/v1",
            "http://[::1]:9000",
            "http://LOCALHOST:9000/v25.0",
        ] {
            private("payment_gateway_url", taken).unwrap();
        }
        for refused in [
            "http://pay.example.com",
            "http://10.0.0.7:9000",
            "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "http://localhost@pay.example.com",
            "http://0.0.0.0:9000",
            "ftp://127.0.0.1",
            "file:///v1",
            "localhost:9000",
            "pay.example.com",
            "",
        ] {
            let said = format!("{:#}", private("payment_gateway_url", refused).unwrap_err());
            assert!(said.contains("payment_gateway_url"), "{refused}: {said}");
        }
    }
}
