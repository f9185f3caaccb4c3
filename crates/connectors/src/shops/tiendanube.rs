//! Tiendanube, in Brazil Nuvemshop: REST with a token that never expires
//! (<https://tiendanube.github.io/api-documentation/intro>, version 2025-03).

mod auth;
mod catalogue;
mod client;
mod hooks;
mod orders;
mod reader;
mod refunds;
mod wire;

use std::sync::Arc;

use domain::{imports::CountryCode, shops::ShopError};
use url::Url;

use self::client::Client;
pub use self::hooks::{SIGNATURE_HEADER, TiendanubeHooks};
use super::AppCredentials;

/// The version of the API: they are dated, and one is stable for a year.
const VERSION: &str = "2025-03";
const API: &str = "https://api.tiendanube.com";
const LOGIN: &str = "https://www.tiendanube.com";
const LOGIN_IN_BRAZIL: &str = "https://www.nuvemshop.com.br";

/// The app, and where the platform is.
#[derive(Debug, Clone)]
pub struct TiendanubeConfig {
    pub app: AppCredentials,
    /// The app's name and a mail address, without which no call is answered: `Example (hello@example.com)`.
    pub user_agent: String,
    /// Where all of the platform is instead: a stub.
    pub address: Option<Url>,
}

/// [`ShopAuth`](domain::shops::ShopAuth) and [`ShopReader`](domain::shops::ShopReader) of an app.
pub struct Tiendanube {
    client_id: String,
    client_secret: secrecy::SecretString,
    client: Arc<Client>,
    address: Option<Url>,
}

impl Tiendanube {
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub fn new(config: TiendanubeConfig) -> Result<Self, ShopError> {
        let TiendanubeConfig { app, user_agent, address } = config;
        let AppCredentials { client_id, client_secret, previous_secret: _ } = app;
        let client = Arc::new(Client::new(&user_agent, at(address.as_ref(), API)?)?);
        Ok(Self { client_id, client_secret, client, address })
    }

    /// Where owners log in: Brazil has a name of its own.
    fn login(&self, country: Option<CountryCode>) -> Result<Url, ShopError> {
        let is_brazil = country.is_some_and(|country| country.as_str() == "BR");
        at(self.address.as_ref(), if is_brazil { LOGIN_IN_BRAZIL } else { LOGIN })
    }
}

fn at(address: Option<&Url>, platform: &str) -> Result<Url, ShopError> {
    match address {
        Some(address) => Ok(address.clone()),
        None => platform.parse().map_err(|_| ShopError::Rejected("no address".to_owned())),
    }
}

/// The address with these parts added to its path.
fn join<'a>(mut base: Url, parts: impl IntoIterator<Item = &'a str>) -> Result<Url, ShopError> {
    let takes_none = |()| ShopError::Rejected("the address takes no path".to_owned());
    base.path_segments_mut().map_err(takes_none)?.pop_if_empty().extend(parts);
    Ok(base)
}
