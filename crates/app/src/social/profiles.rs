//! Connecting a profile whose comments are read, and disconnecting it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::{
    AccountId, SocialAccountId, StoreError,
    accounts::{Mode, Platform},
    audit::Entry,
    idempotency::{IdempotencyError, IdempotencyKey, Idempotent},
    sealing::SealError,
    shops::{Authorization, AuthorizeError, Callback, CompleteError, authorizations::StateHash},
    social::{
        Channel,
        channels::{ChannelError, Profile, SocialReplies},
        profiles::{
            Ended, Granted, NewProfile, ProfileAuth, ProfileConnections, ProfileError, Reached, SocialProfile,
            is_number,
        },
        replies::{ProfileStore, SocialAccount, token_binding},
    },
};
use tracing::Instrument;

use super::{Network, within};
use crate::shops::{
    NotConfigured, Ports,
    authorizations::{callback, state_of},
    connect::{AuthorizeFailure, Begun, Owner, Randomness},
};

/// How long the network has to begin or end sending hooks, while somebody waits.
const SUBSCRIBED_WITHIN: Duration = Duration::from_secs(10);
/// Profiles that are named where one has to be chosen.
const NAMED: usize = 50;

/// The networks that people connect profiles of.
#[derive(Clone)]
pub struct ProfileNetworks {
    pub auth: Arc<dyn ProfileAuth>,
    pub networks: HashMap<Channel, Network>,
}

impl ProfileNetworks {
    /// The network of a channel for an account of that mode: behind a sandbox there is no real one.
    fn for_mode(&self, channel: Channel, mode: Mode) -> Result<&Arc<dyn SocialReplies>, NotConfigured> {
        let network = self.networks.get(&channel).ok_or(NotConfigured::NoApp)?;
        if network.is_open_to(mode) { Ok(&network.replies) } else { Err(NotConfigured::Sandbox) }
    }
}

/// Connects profiles for the owners of accounts.
#[derive(Clone)]
pub struct ProfileService {
    pub ports: Ports,
    pub connections: Arc<dyn ProfileConnections>,
    pub profiles: Arc<dyn ProfileStore>,
    /// `None`: this service has no app.
    pub networks: Option<ProfileNetworks>,
    /// Where people are sent back to, as it is registered with the app.
    pub redirect_uri: String,
}

/// A profile that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub external_id: String,
    pub handle: Option<String>,
}

/// Why no profile was connected.
#[derive(Debug, thiserror::Error)]
pub enum ConnectFailure {
    #[error(transparent)]
    NotConfigured(#[from] NotConfigured),
    /// The state is unknown, used, expired, or of another initiator or account.
    #[error("the authorization is unknown, used, expired or somebody else's")]
    InvalidState,
    #[error(transparent)]
    Network(#[from] CompleteError),
    /// Who agreed reaches none of the channel that may be moderated.
    #[error("who agreed may moderate no profile of this channel")]
    NoProfile(Channel),
    /// Who agreed does not reach the profile that was named.
    #[error("who agreed does not reach that profile, or may not moderate it")]
    OtherProfile(Channel),
    /// Who agreed reaches these, and has not said which is meant.
    #[error("who agreed reaches several profiles")]
    Several(Channel, Vec<Candidate>),
    #[error("the profile is connected to another account")]
    ConnectedElsewhere,
    #[error(transparent)]
    Idempotency(#[from] IdempotencyError),
    #[error(transparent)]
    Seal(#[from] SealError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ProfileError> for ConnectFailure {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::ConnectedElsewhere => Self::ConnectedElsewhere,
            ProfileError::Store(error) => Self::Store(error),
        }
    }
}

impl ProfileService {
    /// Whether an account of that mode can connect profiles of a channel.
    ///
    /// # Errors
    /// [`NotConfigured`].
    pub fn usable(&self, channel: Channel, mode: Mode) -> Result<(), NotConfigured> {
        self.networks(channel, mode).map(|_| ())
    }

    fn networks(
        &self,
        channel: Channel,
        mode: Mode,
    ) -> Result<(&ProfileNetworks, &Arc<dyn SocialReplies>), NotConfigured> {
        let networks = self.networks.as_ref().ok_or(NotConfigured::NoApp)?;
        Ok((networks, networks.for_mode(channel, mode)?))
    }

    /// Begins an authorization for the owner, under a key once. `profile` is the number of one, for people who reach several.
    ///
    /// # Errors
    /// [`AuthorizeFailure`].
    pub async fn authorize(
        &self,
        owner: &Owner,
        channel: Channel,
        profile: Option<String>,
        random: Randomness,
        key: Option<IdempotencyKey>,
    ) -> Result<Idempotent<Begun>, AuthorizeFailure> {
        self.ports.begun_once(owner.account, key, self.begun(owner, channel, profile, random)).await
    }

    async fn begun(
        &self,
        owner: &Owner,
        channel: Channel,
        profile: Option<String>,
        random: Randomness,
    ) -> Result<(Begun, StateHash), AuthorizeFailure> {
        let account = self.ports.account(owner.account).await?;
        let (networks, _) = self.networks(channel, account.mode)?;
        if profile.as_ref().is_some_and(|number| !is_number(number)) {
            return Err(AuthorizeError::InvalidShop.into());
        }
        let authorization = random.authorization(self.redirect_uri.clone(), profile, None);
        let url = networks.auth.authorize_url(channel, &authorization)?;
        self.ports.begin(owner, Platform::Meta, Some(channel), authorization, url).await
    }

    /// Connects the profile that the query of a callback stands for, if the owner began it; under a key once.
    ///
    /// # Errors
    /// [`ConnectFailure`].
    pub async fn complete(
        &self,
        owner: &Owner,
        query: &str,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
    ) -> Result<Idempotent<SocialProfile>, ConnectFailure> {
        let span = tracing::error_span!("connect_profile", account_id = owner.account.0);
        let work = self.completed(owner, query, key.clone(), note).instrument(span);
        self.ports.completed_once(owner.account, key.as_ref(), work).await
    }

    async fn completed(
        &self,
        owner: &Owner,
        query: &str,
        key: Option<IdempotencyKey>,
        note: Option<Entry>,
    ) -> Result<SocialProfile, ConnectFailure> {
        let account = self.ports.account(owner.account).await?;
        let callback = callback(query);
        let (channel, authorization) = self.taken(owner, &callback).await?;
        let (networks, network) = self.networks(channel, account.mode)?;
        let granted = networks.auth.complete(channel, &callback, &authorization, self.ports.now()).await?;
        let Granted { profiles, scopes, missing_scopes } = granted;
        let Reached { external_id, handle, page_id, token } = chosen(channel, profiles, authorization.shop.as_deref())?;
        let id = self.connections.reserve(owner.account, channel, &external_id).await?;
        let sealed_token = self.ports.sealer.seal(token_binding(owner.account, id), token.expose().as_bytes())?;
        let profile =
            Profile { channel, external_id: external_id.clone(), app_scoped_id: None, handle: handle.clone(), token };
        let is_subscribed = subscribe(network, &profile, id, &page_id).await;
        let new = NewProfile {
            id,
            channel,
            external_id,
            handle,
            page_id,
            scopes,
            missing_scopes,
            sealed_token,
            is_subscribed,
            key,
            note,
        };
        let made = self.connections.connect(owner.account, new, self.ports.now()).await?;
        tracing::info!(profile = id.0, "a profile was connected");
        Ok(made)
    }

    /// The authorization of the callback's state, which is used up, and what it is for.
    async fn taken(&self, owner: &Owner, callback: &Callback) -> Result<(Channel, Authorization), ConnectFailure> {
        let (state, hash) = state_of(callback).ok_or(ConnectFailure::InvalidState)?;
        let pending = self.ports.authorizations.take_profile(owner.account, &owner.by, hash, self.ports.now()).await?;
        let pending = pending.ok_or(ConnectFailure::InvalidState)?;
        let channel = pending.channel.ok_or(ConnectFailure::InvalidState)?;
        Ok((channel, self.ports.begun_before(owner.account, state, pending, None)?))
    }

    /// Ends a profile: its hooks, as far as that can be done and no other profile of the page needs them, and its token here.
    /// False when the account has no such profile.
    ///
    /// # Errors
    /// Trouble with the database; then nothing is forgotten.
    pub async fn disconnect(
        &self,
        account: AccountId,
        id: SocialAccountId,
        note: Option<Entry>,
    ) -> Result<bool, StoreError> {
        let Some(held) = self.profiles.profile(account, id).await? else { return Ok(false) };
        if let Some(page) = held.page_id.as_deref().filter(|_| held.sealed_token.is_some())
            && !self.connections.shares_page(account, id).await?
            && let Err(error) = within(SUBSCRIBED_WITHIN, self.unsubscribe(&held, page)).await
        {
            tracing::warn!(%error, profile = id.0, "a network goes on sending hooks of a profile that has ended");
        }
        Ok(self.connections.end(account, id, note, self.ports.now()).await? != Ended::Unknown)
    }

    async fn unsubscribe(&self, held: &SocialAccount, page: &str) -> Result<(), ChannelError> {
        let network = self.networks.as_ref().and_then(|networks| networks.networks.get(&held.channel));
        let opened = super::opened(&*self.ports.sealer, held);
        let (Some(network), Some(profile)) = (network, opened) else { return Ok(()) };
        match network.replies.unsubscribe(&profile, page).await {
            // What no longer opens anything is not told of either.
            Err(ChannelError::TokenDead) => Ok(()),
            other => other,
        }
    }
}

/// Has a network send hooks of a page. Whether it agreed: comments are polled as well, and it is tried again.
pub(super) async fn subscribe(
    network: &Arc<dyn SocialReplies>,
    profile: &Profile,
    id: SocialAccountId,
    page: &str,
) -> bool {
    let subscribed = within(SUBSCRIBED_WITHIN, network.subscribe(profile, page)).await;
    if let Err(error) = &subscribed {
        tracing::warn!(%error, profile = id.0, "a network does not send hooks of a profile");
    }
    subscribed.is_ok()
}

/// The profile that was asked for, or the only one.
fn chosen(channel: Channel, reached: Vec<Reached>, asked: Option<&str>) -> Result<Reached, ConnectFailure> {
    if let Some(asked) = asked {
        let found = reached.into_iter().find(|profile| profile.external_id == asked);
        return found.ok_or(ConnectFailure::OtherProfile(channel));
    }
    if reached.len() > 1 {
        let candidates = reached.into_iter().take(NAMED);
        let candidates =
            candidates.map(|Reached { external_id, handle, .. }| Candidate { external_id, handle }).collect();
        return Err(ConnectFailure::Several(channel, candidates));
    }
    reached.into_iter().next().ok_or(ConnectFailure::NoProfile(channel))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use domain::{
        SessionId, UserId,
        shops::{Secret, authorizations::Initiator},
        social::{
            channels::MockSocialReplies,
            profiles::{MockProfileAuth, MockProfileConnections},
            replies::MockProfileStore,
        },
    };

    use super::*;
    use crate::shops::tests::{ACCOUNT, World};

    fn reached(external_id: &str) -> Reached {
        Reached {
            external_id: external_id.to_owned(),
            handle: Some(format!("shop {external_id}")),
            page_id: "101".to_owned(),
            token: Secret::new("EAAB1".to_owned()),
        }
    }

    /// A profile that is held, if any.
    fn holding(held: Option<SocialAccount>) -> Arc<MockProfileStore> {
        let mut profiles = MockProfileStore::new();
        profiles.expect_profile().returning(move |_, _| Ok(held.clone()));
        Arc::new(profiles)
    }

    fn held() -> SocialAccount {
        SocialAccount {
            account: ACCOUNT,
            id: SocialAccountId(5),
            channel: Channel::Instagram,
            external_id: "178".to_owned(),
            app_scoped_id: None,
            handle: None,
            integration: None,
            sealed_token: Some(format!("{}: EAAB1", token_binding(ACCOUNT, SocialAccountId(5))).into_bytes()),
            last_poll_at: None,
            blocked_until: None,
            page_id: Some("101".to_owned()),
            subscribe_due_at: None,
        }
    }

    fn owner(session: Option<i64>) -> Owner {
        let user = UserId::generate(std::iter::repeat(1));
        Owner { account: ACCOUNT, by: Initiator { user, session: session.map(SessionId) } }
    }

    fn random() -> Randomness {
        Randomness { state: [1; 32], verifier: [2; 32] }
    }

    /// What was written, and what it was written with.
    type Made = Arc<Mutex<Vec<NewProfile>>>;

    fn service(
        world: &World,
        reached: Vec<Reached>,
        subscribe: Result<(), ChannelError>,
        is_stand_in: bool,
    ) -> (ProfileService, Made) {
        let mut auth = MockProfileAuth::new();
        auth.expect_authorize_url()
            .returning(|channel, begun| Ok(format!("https://login.example/{channel}?state={}", begun.state.expose())));
        auth.expect_complete().returning(move |_, callback, _, _| {
            callback.code(100)?;
            Ok(Granted {
                profiles: reached.clone(),
                scopes: vec!["a".to_owned()],
                missing_scopes: vec!["b".to_owned()],
            })
        });
        let mut network = MockSocialReplies::new();
        network.expect_subscribe().withf(|_, page| page == "101").return_const(subscribe);
        let network: Arc<dyn SocialReplies> = Arc::new(network);
        let made = Made::default();
        let mut connections = MockProfileConnections::new();
        connections.expect_reserve().returning(|_, _, _| Ok(SocialAccountId(5)));
        connections.expect_connect().returning({
            let made = made.clone();
            move |_, new, now| {
                made.lock().unwrap().push(new.clone());
                Ok(SocialProfile {
                    id: new.id,
                    channel: new.channel,
                    external_id: new.external_id,
                    handle: new.handle,
                    scopes: new.scopes,
                    missing_scopes: new.missing_scopes,
                    connected_at: now,
                    ended_at: None,
                    end_reason: None,
                    last_event_at: None,
                    last_poll_at: None,
                    subscribed_at: new.is_subscribed.then_some(now),
                })
            }
        });
        let network = Network { replies: network, is_stand_in };
        let networks = [Channel::Instagram, Channel::Facebook].map(|channel| (channel, network.clone()));
        let service = ProfileService {
            ports: world.ports(),
            connections: Arc::new(connections),
            profiles: holding(None),
            networks: Some(ProfileNetworks { auth: Arc::new(auth), networks: HashMap::from(networks) }),
            redirect_uri: "https://dashboard.example/callback".to_owned(),
        };
        (service, made)
    }

    /// Begins an authorization and gives the query of its callback.
    async fn begin(service: &ProfileService, by: &Owner, profile: Option<&str>) -> String {
        let profile = profile.map(str::to_owned);
        let begun = service.authorize(by, Channel::Instagram, profile, random(), None).await.unwrap().value;
        format!("code=c&{}", begun.url.split_once('?').unwrap().1)
    }

    #[tokio::test]
    async fn a_profile_is_connected_with_its_token_sealed_and_what_is_missing_said() {
        let world = World::empty(Platform::Meta);
        let (service, made) = service(&world, vec![reached("178")], Ok(()), false);
        let query = begin(&service, &owner(None), None).await;
        let profile = service.complete(&owner(None), &query, None, None).await.unwrap().value;
        assert_eq!((profile.external_id.as_str(), profile.missing_scopes.as_slice()), ("178", &["b".to_owned()][..]));
        {
            let made = made.lock().unwrap();
            assert_eq!(made[0].sealed_token, b"social_token of row 5 of account 7: EAAB1");
            assert!(made[0].is_subscribed);
        }
        let again = service.complete(&owner(None), &query, None, None).await;
        assert!(matches!(again, Err(ConnectFailure::InvalidState)), "a state is good once");
    }

    #[tokio::test]
    async fn what_the_network_does_not_tell_of_is_polled() {
        let world = World::empty(Platform::Meta);
        let (service, made) = service(&world, vec![reached("178")], Err(ChannelError::Forbidden), false);
        let query = begin(&service, &owner(None), None).await;
        let profile = service.complete(&owner(None), &query, None, None).await.unwrap().value;
        assert_eq!((profile.subscribed_at, made.lock().unwrap()[0].is_subscribed), (None, false));
    }

    #[tokio::test]
    async fn nobody_else_completes_what_was_begun_and_no_shop_is_made_of_it() {
        let world = World::empty(Platform::Meta);
        let (service, made) = service(&world, vec![reached("178")], Ok(()), false);
        let query = begin(&service, &owner(Some(1)), None).await;
        let stranger = Owner { account: AccountId(8), ..owner(Some(1)) };
        for other in [owner(None), owner(Some(2)), stranger] {
            let completed = service.complete(&other, &query, None, None).await;
            assert!(matches!(completed, Err(ConnectFailure::InvalidState)));
        }
        for query in ["", "code=c", "code=c&state=1&state=2", &query.replace("state=", "state=x")] {
            let completed = service.complete(&owner(Some(1)), query, None, None).await;
            assert!(matches!(completed, Err(ConnectFailure::InvalidState)), "{query}");
        }
        let shops = crate::shops::connect::ConnectService { ports: world.ports(), redirect_uri: String::new() };
        let shop = shops.complete(&owner(Some(1)), Platform::Meta, &query, None, None).await;
        assert!(matches!(shop, Err(crate::shops::connect::CompleteFailure::InvalidState)));
        assert!(made.lock().unwrap().is_empty());
        assert!(service.complete(&owner(Some(1)), &query, None, None).await.is_ok(), "none of them used it up");
    }

    #[tokio::test]
    async fn of_several_one_is_chosen() {
        let world = World::empty(Platform::Meta);
        let (service, made) = service(&world, vec![reached("178"), reached("179")], Ok(()), false);
        let query = begin(&service, &owner(None), None).await;
        let several = service.complete(&owner(None), &query, None, None).await;
        let Err(ConnectFailure::Several(Channel::Instagram, candidates)) = several else { panic!("{several:?}") };
        let names: Vec<_> = candidates.iter().map(|one| one.external_id.as_str()).collect();
        assert_eq!(names, ["178", "179"]);
        let query = begin(&service, &owner(None), Some("179")).await;
        assert_eq!(service.complete(&owner(None), &query, None, None).await.unwrap().value.external_id, "179");
        let query = begin(&service, &owner(None), Some("180")).await;
        let other = service.complete(&owner(None), &query, None, None).await;
        assert!(matches!(other, Err(ConnectFailure::OtherProfile(_))));
        assert_eq!(made.lock().unwrap().len(), 1);
        let wrong = service.authorize(&owner(None), Channel::Instagram, Some("shop".into()), random(), None).await;
        assert!(matches!(wrong, Err(AuthorizeFailure::Refused(AuthorizeError::InvalidShop))));
    }

    #[tokio::test]
    async fn a_sandbox_connects_to_stand_ins_only_and_not_every_channel_is_granted() {
        let mut world = World::empty(Platform::Meta);
        world.mode = Mode::Test;
        let (service, _) = service(&world, vec![], Ok(()), false);
        let begun = service.authorize(&owner(None), Channel::Instagram, None, random(), None).await;
        assert!(matches!(begun, Err(AuthorizeFailure::NotConfigured(NotConfigured::Sandbox))));
        let world = World::empty(Platform::Meta);
        let (service, _) = self::service(&world, vec![], Ok(()), false);
        let begun = service.authorize(&owner(None), Channel::Mercadolibre, None, random(), None).await;
        assert!(matches!(begun, Err(AuthorizeFailure::NotConfigured(NotConfigured::NoApp))));
        let query = begin(&service, &owner(None), None).await;
        let none = service.complete(&owner(None), &query, None, None).await;
        assert!(matches!(none, Err(ConnectFailure::NoProfile(Channel::Instagram))));
    }

    /// How often the network was asked to end its hooks.
    async fn ended(held: Option<SocialAccount>, shares: bool, answer: Result<(), ChannelError>) -> (bool, usize) {
        let world = World::empty(Platform::Meta);
        let asked = Arc::new(Mutex::new(0));
        let mut network = MockSocialReplies::new();
        network.expect_unsubscribe().returning({
            let asked = asked.clone();
            move |profile, page| {
                assert_eq!((profile.token.expose(), page), ("EAAB1", "101"));
                *asked.lock().unwrap() += 1;
                answer.clone()
            }
        });
        let mut connections = MockProfileConnections::new();
        connections.expect_shares_page().returning(move |_, _| Ok(shares));
        connections.expect_end().times(usize::from(held.is_some())).returning(|_, _, _, _| Ok(Ended::Now));
        let network: Arc<dyn SocialReplies> = Arc::new(network);
        let service = ProfileService {
            ports: world.ports(),
            connections: Arc::new(connections),
            profiles: holding(held),
            networks: Some(ProfileNetworks {
                auth: Arc::new(MockProfileAuth::new()),
                networks: HashMap::from([(Channel::Instagram, Network { replies: network, is_stand_in: true })]),
            }),
            redirect_uri: String::new(),
        };
        let done = service.disconnect(ACCOUNT, SocialAccountId(5), None).await.unwrap();
        let asked = *asked.lock().unwrap();
        (done, asked)
    }

    #[tokio::test]
    async fn it_is_disconnected_whatever_the_network_says_and_hooks_of_others_stay() {
        assert_eq!(ended(Some(held()), false, Ok(())).await, (true, 1));
        assert_eq!(ended(Some(held()), false, Err(ChannelError::TokenDead)).await, (true, 1));
        assert_eq!(
            ended(Some(held()), false, Err(ChannelError::Unavailable("no answer in time".to_owned()))).await,
            (true, 1)
        );
        assert_eq!(ended(Some(held()), true, Ok(())).await, (true, 0), "another profile of the page needs them");
        let dead = SocialAccount { sealed_token: None, ..held() };
        assert_eq!(ended(Some(dead), false, Ok(())).await, (true, 0));
        assert_eq!(ended(None, false, Ok(())).await, (false, 0));
    }
}
