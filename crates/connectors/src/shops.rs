//! Shops on other people's platforms: one folder per platform, and what they share.

#[cfg(test)]
pub(crate) mod answering;
pub mod budget;
pub(crate) mod calls;
pub mod http;
pub mod mercadolibre;
pub mod shopify;
pub mod signature;
pub mod tiendanube;
pub mod wire;

pub(crate) use domain::imports::amounts;
use secrecy::SecretString;

/// The app as it is registered with a platform.
#[derive(Debug, Clone)]
pub struct AppCredentials {
    pub client_id: String,
    pub client_secret: SecretString,
    /// The secret before the present one: while secrets are changed, hooks are signed with either.
    pub previous_secret: Option<SecretString>,
}
