//! Wires up the networks of conversations.

use std::{collections::HashMap, sync::Arc};

use anyhow::Context;
use app::{
    ai::InsightTextGenerator,
    shops::Ports,
    social::{Network, SocialWorker, Voter},
};
use connectors::social::meta::{Meta, MetaHooks};
use domain::social::channels::{SocialInbox, SocialReplies};
use store::Store;
use time::OffsetDateTime;
use url::Url;

use crate::{ai, config::Config, random};

/// Where the Graph API is.
const GRAPH_API: &str = "https://graph.facebook.com/v23.0";

/// The app that Meta sends hooks to; `None`: there is none.
pub fn app(config: &Config) -> anyhow::Result<Option<Arc<dyn SocialInbox>>> {
    let Some(secret) = &config.meta_app_secret else { return Ok(None) };
    let token = config.meta_verify_token.as_ref().context("meta_verify_token is not set")?;
    Ok(Some(Arc::new(MetaHooks::new(secret, token))))
}

/// The worker behind conversations, which asks the model that also words insights; `None` where there is no network.
pub fn worker(
    config: &Config,
    store: &Arc<Store>,
    text_generator: &InsightTextGenerator,
    shops: Ports,
) -> anyhow::Result<Option<SocialWorker>> {
    let inbox = app(config)?;
    let mut networks = HashMap::new();
    if inbox.is_some() {
        let own = config.meta_base_url.trim();
        let base: Url = if own.is_empty() { GRAPH_API } else { own }.parse().context("meta_base_url is no address")?;
        for network in Meta::both(base)? {
            let replies: Arc<dyn SocialReplies> = Arc::new(network);
            networks.insert(replies.channel(), Network { replies, is_stand_in: !own.is_empty() });
        }
    }
    for connector in shops.connectors.iter() {
        if let Some(replies) = connector.replies.clone() {
            networks.insert(replies.channel(), Network { replies, is_stand_in: connector.is_stand_in });
        }
    }
    if networks.is_empty() {
        return Ok(None);
    }
    let price = ai::vote_price(config)?;
    let voter = |model: &Arc<_>| Voter { runs: store.clone(), model: model.clone(), price };
    Ok(Some(SocialWorker {
        hooks: store.clone(),
        profiles: store.clone(),
        intake: store.clone(),
        queue: store.clone(),
        votes: store.clone(),
        voter: text_generator.model.as_ref().map(voter),
        accounts: store.clone(),
        sealer: shops.sealer.clone(),
        inbox,
        networks,
        shops,
        is_enabled: config.social_replies,
        clock: Arc::new(OffsetDateTime::now_utc),
        random: Arc::new(|| random::bytes().next().unwrap_or_default()),
    }))
}
