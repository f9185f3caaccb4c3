//! Wires up mails: where they go, and what sends them.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use app::mails::Postman;
use domain::{
    mail::{Mailer, Outbox},
    sessions::Token,
};
use mail::{Folder, Smtp};
use secrecy::ExposeSecret;
use store::Store;
use time::OffsetDateTime;
use url::Url;

use crate::{commands::Misconfigured, config::Config, random};

/// The folder of mails that are put aside, in the data folder.
const OUTBOX: &str = "outbox";

/// Where mails go.
#[derive(Clone, Default)]
pub struct Mails {
    pub mailer: Option<Arc<dyn Mailer>>,
    /// Where they are put aside instead of sent.
    pub outbox: Option<Arc<dyn Outbox>>,
}

/// By the server that is configured. Without one a development build puts them aside where only this machine can look at them:
/// whoever reads them can take every account over. Elsewhere there are none.
///
/// # Errors
/// [`Misconfigured`] when the settings name no server.
pub fn mails(config: &Config, is_embedded: bool) -> Result<Mails, Misconfigured> {
    if let Some(url) = &config.smtp_url {
        let smtp = Smtp::new(url.expose_secret(), &config.mail_from);
        let smtp = smtp.map_err(|error| Misconfigured(error.to_string()))?;
        return Ok(Mails { mailer: Some(Arc::new(smtp)), outbox: None });
    }
    // Behind a proxy every client comes from this machine.
    let is_seen_from_here_only = config.dashboard_listen.ip().is_loopback()
        && config.trusted_proxies.trim().is_empty()
        && (config.public_url.is_empty()
            || Url::parse(&config.public_url).is_ok_and(|url| crate::addresses::is_local(&url)));
    if !cfg!(feature = "dev") || !is_embedded || !is_seen_from_here_only || config.env == "production" {
        return Ok(Mails::default());
    }
    let folder = Arc::new(outbox(config));
    Ok(Mails { mailer: Some(folder.clone()), outbox: Some(folder) })
}

/// The folder that mails are put aside in.
pub fn outbox(config: &Config) -> Folder {
    Folder::new(&folder(config))
}

fn folder(config: &Config) -> PathBuf {
    config.data_dir.join(OUTBOX)
}

/// What sends what is queued, where anything does. Links lead to the dashboard of this process, else to where it is said to be.
pub fn postman(
    config: &Config,
    store: &Arc<Store>,
    mails: &Mails,
    dashboard: Option<&Url>,
) -> anyhow::Result<Option<Postman>> {
    let Some(mailer) = mails.mailer.clone() else { return Ok(None) };
    let elsewhere: SocketAddr = config.dashboard_listen;
    let public_url = match dashboard {
        Some(url) => url.clone(),
        None => crate::dashboard::public_url(config, elsewhere)?,
    };
    Ok(Some(Postman {
        queue: store.clone(),
        people: store.clone(),
        links: store.clone(),
        mailer,
        public_url,
        clock: OffsetDateTime::now_utc,
        token: || Token::generate(random::bytes()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_put_aside_on_a_developers_machine_only() {
        let of = |is_embedded, config: Config| {
            let mails = mails(&config, is_embedded).unwrap();
            (mails.mailer.is_some(), mails.outbox.is_some())
        };
        let at = |listen: &str, env: &str| Config {
            dashboard_listen: listen.parse().unwrap(),
            env: env.into(),
            ..Config::default()
        };
        let behind = |public_url: &str, trusted_proxies: &str| Config {
            public_url: public_url.into(),
            trusted_proxies: trusted_proxies.into(),
            ..at("127.0.0.1:8081", "development")
        };
        assert_eq!(of(true, at("127.0.0.1:8081", "development")), (true, true));
        assert_eq!(of(false, at("127.0.0.1:8081", "development")), (false, false));
        assert_eq!(of(true, at("0.0.0.0:8081", "development")), (false, false));
        assert_eq!(of(true, at("127.0.0.1:8081", "production")), (false, false));
        assert_eq!(of(true, behind("http://localhost:8081", "")), (true, true));
        assert_eq!(of(true, behind("https://shop.example.com", "")), (false, false));
        assert_eq!(of(true, behind("", "127.0.0.1")), (false, false));
    }
}
