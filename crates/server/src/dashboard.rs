//! Wires up the dashboard: its listener, and links that open it.

use std::{
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use actix_web::dev::Server;
use analytics::holidays;
use anyhow::Context;
use app::{ai::InsightTextGenerator, deliveries::Ports, passwords::Passwords, payments::PaymentService};
use dashboard::{Parts, Settings, State};
use delivery::seal::KeyRing;
use domain::{
    accounts::Account,
    keys::ApiKey,
    people::{EmailAddress, NewMember, PersonStore, Role},
    sessions::{Link, LinkPurpose, LinkStore, Token},
};
use serde_json::json;
use store::{Connect, Store};
use time::{Duration, OffsetDateTime};
use url::Url;

use crate::{
    addresses::is_local,
    ai,
    config::{Config, SignUp},
    connections,
    mails::Mails,
    random,
    services::SHUTDOWN,
    shops, social, uploads,
};

/// A page asks for a handful of lists at once, so few threads draw many.
const THREADS: usize = 2;
/// How long a link that opens the dashboard is good for.
const LINK_LASTS: Duration = Duration::hours(1);
/// Who looks at an account by such a link.
pub const LOCAL_OWNER: &str = "owner@localhost.localdomain";
const LOCAL_OWNER_NAME: &str = "Owner";

/// What the pages need beside the configuration and the database.
pub struct Needs<'a> {
    pub keys: Arc<KeyRing>,
    pub mails: &'a Mails,
    pub connect: &'a Connect,
    pub payments: Option<PaymentService>,
    pub deliveries: Ports,
    /// The API's address, and what answers the reads that panels link to.
    pub api: (SocketAddr, api::State),
}

/// The server on `listener`, not yet running.
pub fn server(config: &Config, store: &Arc<Store>, needs: Needs<'_>, listener: TcpListener) -> anyhow::Result<Server> {
    let Needs { keys, mails, connect, payments, deliveries, api: (api, reads) } = needs;
    let settings = Settings {
        public_url: public_url(config, listener.local_addr()?)?,
        api_url: Url::parse(&format!("http://{api}"))?,
        has_mail: mails.mailer.is_some(),
        is_open: config.signup == SignUp::Open,
        holiday_countries: holidays::countries(),
        vote_price: ai::shown_vote_price(config)?,
        webhook_allow_loopback: config.webhook_allow_loopback.parse().context("webhook_allow_loopback")?,
        rate_limit_per_minute: config.rate_limit_per_minute,
        trusted_proxies: config.trusted_proxies()?,
        connections: connections::allowed()? / 10,
        shutdown_timeout: SHUTDOWN,
    };
    let shops = shops::ports(shops::connectors(config)?, store, keys.clone());
    let parts = Parts {
        sealer: keys.clone(),
        passwords: Passwords::new()?,
        text_generator: InsightTextGenerator { runs: store.clone(), ..reads.text_generator.clone() },
        outbox: mails.outbox.clone(),
        profiles: social::profile_service(config, shops.clone(), store)?,
        shops: shops::connect_service(config, shops),
        payments,
        files: Arc::new(uploads::files(config, connect)),
        clock: OffsetDateTime::now_utc,
        token: || Token::generate(random::bytes()),
        deliveries,
        limiter: reads.limiter.clone(),
        key: |mode| ApiKey::generate(mode, random::bytes()),
        secret: random::secret,
        settings,
    };
    let reads = api::reads(reads, dashboard::READS);
    Ok(dashboard::server(State::of(store, parts), reads, listener, THREADS)?)
}

/// The address that browsers know the dashboard by.
///
/// # Errors
/// When the setting is no address of a site by http or https.
pub fn public_url(config: &Config, listens: SocketAddr) -> anyhow::Result<Url> {
    if config.public_url.is_empty() {
        return Ok(Url::parse(&format!("http://{listens}"))?);
    }
    let url = Url::parse(&config.public_url).context("public_url is no address, such as https://shop.example.com")?;
    anyhow::ensure!(matches!(url.scheme(), "http" | "https"), "public_url begins with http:// or https://");
    anyhow::ensure!(
        url.path() == "/" && url.query().is_none(),
        "public_url has no path: the dashboard is all of its site"
    );
    anyhow::ensure!(
        url.scheme() == "https" || is_local(&url) || config.env != "production",
        "public_url has to be https in production: a session's cookie would be readable on the way"
    );
    Ok(url)
}

/// A link that logs its first opener in to the account, as an owner of its user, for an hour.
pub async fn link(store: &Store, account: &Account, dashboard: &Url) -> anyhow::Result<Url> {
    let now = OffsetDateTime::now_utc();
    let email: EmailAddress = LOCAL_OWNER.parse()?;
    let member = NewMember {
        user: account.user_id.clone(),
        role: Role::Owner,
        email,
        name: LOCAL_OWNER_NAME.to_owned(),
        language: None,
    };
    let person = store.enroll(member, now).await?;
    let token = Token::generate(random::bytes());
    let link = Link {
        purpose: LinkPurpose::Enter,
        person: Some(person.id),
        user: Some(account.user_id.clone()),
        details: json!({ "mode": account.mode, "shop": account.name }),
    };
    store.make(token.hash(), link, now, now + LINK_LASTS).await?;
    Ok(dashboard.join(&format!("/enter/{}", token.expose()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_know_the_dashboard_by_a_site_of_its_own() {
        let of = |public_url: &str, env: &str| {
            let config = Config { public_url: public_url.into(), env: env.into(), ..Config::default() };
            public_url_text(&config)
        };
        fn public_url_text(config: &Config) -> Option<String> {
            public_url(config, SocketAddr::from(([127, 0, 0, 1], 8081))).ok().map(String::from)
        }
        assert_eq!(of("", "production").as_deref(), Some("http://127.0.0.1:8081/"));
        assert_eq!(of("https://shop.example.com", "production").as_deref(), Some("https://shop.example.com/"));
        assert_eq!(of("http://localhost:8081", "production").as_deref(), Some("http://localhost:8081/"));
        for refused in ["http://shop.example.com", "ftp://shop.example.com", "https://example.com/shop", "shop"] {
            assert_eq!(of(refused, "production"), None, "{refused}");
        }
    }
}
