//! Addresses of other systems, as settings name them.

use anyhow::Context;
use url::{Host, Url};

/// The address of a system that keys, and figures of shops, are sent to: by https, or on this machine.
///
/// # Errors
/// When the setting is no such address.
pub fn private(setting: &str, address: &str) -> anyhow::Result<Url> {
    by_https_unless(is_local, "127.0.0.1, [::1] and localhost only", setting, address)
}

/// The same of a system that operators run beside the service: by https, or in their own network.
///
/// # Errors
/// When the setting is no such address.
pub fn private_or_near(setting: &str, address: &str) -> anyhow::Result<Url> {
    let allowed = "this machine and private networks only: their addresses, names without a dot, and names that end in .local, \
                   .internal or .svc";
    by_https_unless(is_near, allowed, setting, address)
}

fn by_https_unless(
    is_allowed: impl Fn(&Url) -> bool,
    allowed: &str,
    setting: &str,
    address: &str,
) -> anyhow::Result<Url> {
    let url: Url = address.trim().parse().with_context(|| format!("{setting} is no address"))?;
    let is_private = match url.scheme() {
        "https" => true,
        "http" => is_allowed(&url),
        _ => false,
    };
    anyhow::ensure!(
        is_private,
        "{setting} must begin with https://: what is sent there, keys included, could be read on the way. http:// is for \
         {allowed}"
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

/// Whether an address is one of this machine or of a private network.
fn is_near(url: &Url) -> bool {
    let is_near = match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            !name.contains('.') || [".local", ".internal", ".svc"].iter().any(|end| name.ends_with(end))
        }
        Some(Host::Ipv4(address)) => address.is_private() || address.is_link_local(),
        Some(Host::Ipv6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
        None => false,
    };
    is_near || is_local(url)
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

    #[test]
    fn what_is_run_beside_the_service_may_be_in_a_private_network() {
        for taken in [
            "https://llm.example.com/v1",
            "http://127.0.0.1:8000/v1",
            "http://[::1]:8000/v1",
            "http://10.1.2.3:8000/v1",
            "http://172.16.0.1/v1",
            "http://172.31.255.254/v1",
            "http://192.168.1.20:11434/v1",
            "http://169.254.7.7/v1",
            "http://[fd00::7]:8000/v1",
            "http://[fe80::1]/v1",
            "http://ollama:11434/v1",
            "http://LLM.local./v1",
            "http://llm.corp.internal/v1",
            "http://llm.models.svc:8000/v1",
            "http://llm.models.svc.cluster.local/v1",
        ] {
            private_or_near("llm_base_url", taken).unwrap();
        }
        for refused in [
            "http://llm.example.com/v1",
            "http://llm.local.example.com/v1",
            "http://notlocal.com/v1",
            "http://11.1.2.3/v1",
            "http://172.32.0.1/v1",
            "http://192.169.1.20/v1",
            "http://0.0.0.0:8000/v1",
            "http://[2001:db8::1]/v1",
            "http://10.1.2.3@llm.example.com/v1",
            "ftp://ollama/v1",
            "ollama:11434/v1",
            "",
        ] {
            let said = format!("{:#}", private_or_near("llm_base_url", refused).unwrap_err());
            assert!(said.contains("llm_base_url"), "{refused}: {said}");
        }
    }
}
