//! Wires up the networks of conversations.

use std::{collections::HashMap, sync::Arc};

use anyhow::Context;
use app::{
    ai::InsightTextGenerator,
    shops::Ports,
    social::{
        Network, SocialWorker, Voter,
        profiles::{ProfileNetworks, ProfileService},
    },
};
use connectors::{
    shops::AppCredentials,
    social::meta::{Login, LoginConfig, Meta, MetaHooks, VERSION},
};
use domain::{
    ai::LanguageModel,
    social::{
        Channel,
        channels::{SocialInbox, SocialReplies},
    },
};
use store::Store;
use url::Url;

use crate::{addresses, ai, config::Config, random};

/// Where the Graph API is, and where people grant access.
const GRAPH_API: &str = "https://graph.facebook.com";
const FACEBOOK: &str = "https://www.facebook.com";

/// The app that Meta sends hooks to; `None`: there is none.
pub fn app(config: &Config) -> anyhow::Result<Option<Arc<dyn SocialInbox>>> {
    let Some(secret) = &config.meta_app_secret else { return Ok(None) };
    let token = config.meta_verify_token.as_ref().context("meta_verify_token is not set")?;
    Ok(Some(Arc::new(MetaHooks::new(secret, token))))
}

/// The app as it calls Meta; `None`: there is none.
fn login(config: &Config) -> anyhow::Result<Option<Login>> {
    let Some(secret) = config.meta_app_secret.clone() else { return Ok(None) };
    let own = config.meta_base_url.trim();
    let address = |real: &str| -> anyhow::Result<Url> {
        if own.is_empty() { Ok(format!("{real}/{VERSION}").parse()?) } else { addresses::private("meta_base_url", own) }
    };
    let client_id = config.meta_app_id.clone();
    let app = AppCredentials { client_id, client_secret: secret, previous_secret: None };
    Ok(Some(Login::new(LoginConfig { app, api_url: address(GRAPH_API)?, login_url: address(FACEBOOK)? })?))
}

fn networks(config: &Config, login: Login) -> HashMap<Channel, Network> {
    let is_stand_in = !config.meta_base_url.trim().is_empty();
    let networks = Meta::both(login).into_iter().map(|network| {
        let replies: Arc<dyn SocialReplies> = Arc::new(network);
        (replies.channel(), Network { replies, is_stand_in })
    });
    networks.collect()
}

/// The networks that people connect profiles of; `None` where there is no app that they grant access to.
pub fn profile_networks(config: &Config) -> anyhow::Result<Option<ProfileNetworks>> {
    if config.meta_app_id.is_empty() {
        return Ok(None);
    }
    let login = login(config)?.context("meta_app_secret is not set")?;
    Ok(Some(ProfileNetworks { auth: Arc::new(login.clone()), networks: networks(config, login) }))
}

/// What people connect profiles with.
pub fn profile_service(config: &Config, ports: Ports, store: &Arc<Store>) -> anyhow::Result<ProfileService> {
    Ok(ProfileService {
        ports,
        connections: store.clone(),
        profiles: store.clone(),
        networks: profile_networks(config)?,
        redirect_uri: config.integration_redirect_url.clone(),
    })
}

/// The worker behind conversations, which asks the model that also words insights; `None` where there is no network.
pub fn worker(
    config: &Config,
    store: &Arc<Store>,
    text_generator: &InsightTextGenerator,
    shops: Ports,
) -> anyhow::Result<Option<SocialWorker>> {
    let inbox = app(config)?;
    let mut networks = login(config)?.map(|login| networks(config, login)).unwrap_or_default();
    for connector in shops.connectors.iter() {
        if let Some(replies) = connector.replies.clone() {
            networks.insert(replies.channel(), Network { replies, is_stand_in: connector.is_stand_in });
        }
    }
    if networks.is_empty() {
        return Ok(None);
    }
    let price = ai::vote_price(config)?;
    let voter = |model: &Arc<dyn LanguageModel>| Voter { runs: store.clone(), model: model.clone(), price };
    Ok(Some(SocialWorker {
        hooks: store.clone(),
        profiles: store.clone(),
        intake: store.clone(),
        queue: store.clone(),
        votes: store.clone(),
        voter: text_generator.model.as_ref().map(voter),
        inbox,
        networks,
        shops,
        is_enabled: config.social_replies,
        random: Arc::new(|| random::bytes().next().unwrap_or_default()),
    }))
}
