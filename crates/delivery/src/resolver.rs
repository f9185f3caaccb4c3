//! Asking the name service.

use std::io;
use std::net::IpAddr;

use async_trait::async_trait;

/// Looks up the addresses of a name. A port, so that tests can script the answers.
#[async_trait]
pub trait Resolver: Send + Sync {
    /// All addresses of a name, the preferred ones first.
    ///
    /// # Errors
    /// When the name is unknown or the name service fails.
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl Resolver for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        // The trailing dot keeps the search list of resolv.conf out: `api.default` must not become a cluster's service.
        let absolute = format!("{}.", name.strip_suffix('.').unwrap_or(name));
        let addresses = tokio::net::lookup_host((absolute, 0)).await?;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}
