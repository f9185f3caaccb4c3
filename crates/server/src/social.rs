//! Wires up the networks of conversations.

use std::{collections::HashMap, sync::Arc};

use anyhow::Context;
use app::{
    ai::InsightTextGenerator,
    social::{SocialWorker, Voter},
};
use connectors::social::meta::{Meta, MetaHooks};
use domain::{
    sealing::Sealer,
    social::channels::{SocialInbox, SocialReplies},
};
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

/// The worker behind conversations, which asks the model that also words insights; `None` where there is no app.
pub fn worker(
    config: &Config,
    store: &Arc<Store>,
    text_generator: &InsightTextGenerator,
    sealer: Arc<dyn Sealer>,
) -> anyhow::Result<Option<SocialWorker>> {
    let Some(inbox) = app(config)? else { return Ok(None) };
    let price = ai::vote_price(config)?;
    let voter = |model: &Arc<_>| Voter { runs: store.clone(), model: model.clone(), price };
    let own = config.meta_base_url.trim();
    let base: Url = if own.is_empty() { GRAPH_API } else { own }.parse().context("meta_base_url is no address")?;
    let networks = Meta::both(base)?.into_iter().map(|network| {
        let network: Arc<dyn SocialReplies> = Arc::new(network);
        (network.channel(), network)
    });
    Ok(Some(SocialWorker {
        hooks: store.clone(),
        profiles: store.clone(),
        intake: store.clone(),
        queue: store.clone(),
        votes: store.clone(),
        voter: text_generator.model.as_ref().map(voter),
        accounts: store.clone(),
        sealer,
        inbox,
        networks: networks.collect::<HashMap<_, _>>(),
        is_stand_in: !own.is_empty(),
        is_enabled: config.social_replies,
        clock: Arc::new(OffsetDateTime::now_utc),
        random: Arc::new(|| random::bytes().next().unwrap_or_default()),
    }))
}
