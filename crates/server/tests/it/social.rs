//! An answer is sent once, whatever the network does and wherever the worker is killed: real Postgres, the real worker and
//! client, and the stand-in of the network, which keeps a ledger of what was really written.

mod questions;
mod shop;
mod votes;

use std::{net::TcpListener, ops::Deref, sync::Arc};

use app::{
    deliveries::Clock,
    shops::{Connectors, Ports},
    social::SocialWorker,
};
use connectors::{
    shops::AppCredentials,
    social::meta::{Login, LoginConfig, Meta, MetaHooks, VERSION},
};
use delivery::seal::KeyRing;
use devtools::{
    shops::{Stub as _, clock::Change},
    social::{Deed, NewComment, Seed, Social, SocialConfig},
};
use domain::{
    sealing::Sealer,
    social::{
        Channel, Mode, Reason, ReplyState,
        channels::SocialReplies,
        conversations::{Act, ConversationStore},
        replies::{Connected, HookLog, NewSocialAccount, ProfileStore, token_binding},
        settings::SettingsStore,
    },
};
use rstest::rstest;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use self::shop::{START, Shop};

const COMMENT: &str = "17890001112223334";
const PROFILE: &str = "17841400000000001";
const POST: &str = "18000000000000001";
const SECRET: &str = "secret";

/// The stand-in, whose clock is moved by hand.
struct Network(Social);

impl Network {
    /// The network with its address.
    fn start() -> (Self, String) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = SocialConfig {
            app_id: "1234".into(),
            app_secret: SECRET.into(),
            verify_token: "token".into(),
            redirect_uris: vec![],
            notify: None,
            calls_per_hour: 100_000,
            seed: Seed { pages: 1, analysed_pages: 0, comments: 0, now: START },
        };
        let stub = Social::new(config).unwrap();
        stub.common().clock.change(&Change { at: Some(START), ..Change::default() });
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}/{VERSION}", listener.local_addr().unwrap());
        tokio::spawn(stub.server(listener).unwrap());
        (Self(stub), address)
    }

    fn now(&self) -> OffsetDateTime {
        self.0.now()
    }

    fn pass(&self, time: Duration) {
        self.0.pass(time);
    }

    /// The next answer that is posted fails so.
    fn fail_next(&self, fault: &'static str, value: u64) {
        self.0.fail_next(fault, value);
    }

    fn comment(&self, id: &str, text: &str) {
        let new = NewComment { id: Some(id.into()), ..NewComment::of(Channel::Instagram, text) };
        assert_eq!(self.0.comment(new).as_deref(), Some(id));
    }

    fn happens(&self, deed: Deed) {
        assert!(self.0.happens(deed));
    }

    /// Answers that were written.
    fn written(&self) -> usize {
        self.0.written().len()
    }

    /// Those that the service wrote.
    fn bots(&self) -> usize {
        self.0.written().iter().filter(|written| written.is_from_app).count()
    }
}

/// An account with a template, a profile and a worker whose clock is moved by hand.
struct Rig {
    shop: Shop,
    network: Arc<Network>,
    worker: SocialWorker,
}

impl Deref for Rig {
    type Target = Shop;
    fn deref(&self) -> &Shop {
        &self.shop
    }
}

impl Rig {
    async fn start() -> Self {
        let shop = Shop::start(&["¡Hola {username}! Te contamos por privado."]).await;
        let (store, account) = (&shop.store, shop.account);
        let keys = KeyRing::parse(crate::service::DATA_KEYS).unwrap();
        let new = NewSocialAccount {
            account,
            channel: Channel::Instagram,
            external_id: PROFILE.into(),
            app_scoped_id: None,
            handle: Some("shop".into()),
        };
        let Connected::Done(profile) = ProfileStore::connect(&**store, new, START).await.unwrap() else { panic!() };
        let (network, address) = Network::start();
        let token = network.0.page_token(Channel::Instagram, PROFILE).unwrap();
        let sealed = keys.seal(token_binding(account, profile), token.as_bytes()).unwrap();
        ProfileStore::give_token(&**store, account, profile, sealed, START).await.unwrap();
        let network = Arc::new(network);
        let worker = worker(&shop, &network, &address, keys);
        Self { shop, network, worker }
    }

    /// A hook that says that somebody asked.
    async fn hook(&self, text: &str) {
        self.hook_of(COMMENT, text).await;
    }

    async fn hook_of(&self, id: &str, text: &str) {
        self.network.comment(id, text);
        self.told_of(id, text).await;
    }

    /// A hook that tells of a comment that is there already.
    async fn told_of(&self, id: &str, text: &str) {
        let value =
            json!({"id": id, "text": text, "from": {"id": "1000001", "username": "ana"}, "media": {"id": POST}});
        let entry = json!({"id": PROFILE, "changes": [{"field": "comments", "value": value}]});
        let body = json!({"object": "instagram", "entry": [entry]}).to_string();
        self.store.receive(body.as_bytes(), self.network.now()).await.unwrap();
    }

    async fn tick(&self) {
        self.worker.tick().await.unwrap();
    }

    /// Goes on for two hours, a look a minute.
    async fn settle(&self) {
        for _ in 0..120 {
            self.network.pass(Duration::MINUTE);
            self.tick().await;
        }
    }

    /// What a worker begins and does not end: it is killed when the network hangs.
    async fn tick_killed(&self) {
        let worker = self.worker.clone();
        let task = tokio::spawn(async move { worker.tick().await });
        self.network.0.hung().await;
        task.abort();
        let _ = task.await;
    }
}

fn worker(shop: &Shop, network: &Arc<Network>, address: &str, keys: KeyRing) -> SocialWorker {
    let app = AppCredentials { client_id: "1234".into(), client_secret: SECRET.into(), previous_secret: None };
    let url = || address.parse().unwrap();
    let login = Login::new(LoginConfig { app, api_url: url(), login_url: url() }).unwrap();
    let networks = Meta::both(login).map(|network| {
        let replies: Arc<dyn SocialReplies> = Arc::new(network);
        (replies.channel(), app::social::Network { replies, is_stand_in: true })
    });
    let clock = network.clone();
    let (clock, sealer): (Clock, Arc<dyn Sealer>) = (Arc::new(move || clock.now()), Arc::new(keys));
    let inbox = Arc::new(MetaHooks::new(&SECRET.to_owned().into(), &"token".to_owned().into()));
    let ports = Ports::of(&shop.store, Connectors::default(), sealer, clock);
    shop.worker(ports, Some(inbox), networks.into_iter().collect())
}

#[tokio::test]
async fn a_question_is_answered_once_and_receivers_are_told() {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    // Told twice, and polled besides.
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.tick().await;
    assert_eq!(rig.state().await, (ReplyState::Reserved, None));
    assert_eq!(rig.network.written(), 0, "an answer is no reflex");
    rig.settle().await;
    assert_eq!((rig.state().await.0, rig.network.written()), (ReplyState::Sent, 1));
    let conversation = rig.conversation().await;
    assert_eq!((conversation.messages_count, conversation.waiting_since), (2, None));
    let events = rig.events().await;
    let [event] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(event["event"], "social.auto_reply_sent");
    let data = &event["data"];
    assert_eq!((&data["comment_id"], &data["username"]), (&json!(COMMENT), &json!("ana")));
    assert_eq!(
        (&data["category"], &data["message"]),
        (&json!("price_question"), &json!("¡Hola ana! Te contamos por privado."))
    );
    assert_eq!(
        (&data["is_vip"], &data["recovered"], &data["channel"]),
        (&json!(false), &json!(false), &json!("instagram"))
    );
}

/// How often an answer is written under each fault. Only where the network takes what it could not be seen to have taken, for
/// as long as anyone looks, is there a second one.
#[rstest]
#[case::none("none", 0, 1, ReplyState::Sent)]
#[case::write_then_400("write_then_400", 0, 1, ReplyState::Sent)]
#[case::write_then_timeout("lost_after", 0, 1, ReplyState::Sent)]
#[case::refused_with_400("refuse_400", 0, 0, ReplyState::Held)]
#[case::lost_before_it_was_written("lost_before", 0, 1, ReplyState::Sent)]
#[case::listing_lags_90_seconds("lag", 90, 1, ReplyState::Sent)]
#[case::listing_lags_for_an_hour("lag", 3_600, 2, ReplyState::Sent)]
#[case::killed_before_the_write("hang_before", 0, 1, ReplyState::Sent)]
#[case::killed_after_the_write("hang_after", 0, 1, ReplyState::Sent)]
#[case::token_dead("token_dead", 0, 0, ReplyState::Held)]
#[case::blocked("blocked", 0, 0, ReplyState::Held)]
#[tokio::test]
async fn an_answer_is_written_once_under_every_fault(
    #[case] fault: &'static str,
    #[case] value: u64,
    #[case] written: usize,
    #[case] state: ReplyState,
) {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.tick().await;
    rig.network.fail_next(fault, value);
    rig.network.pass(Duration::MINUTE);
    if fault.starts_with("hang") {
        rig.tick_killed().await;
    }
    rig.settle().await;
    assert_eq!((rig.network.written(), rig.state().await.0), (written, state), "{fault}");
    let sent = rig.events().await.len();
    assert_eq!(sent, usize::from(state == ReplyState::Sent), "one event for an answer, whatever the network wrote");
}

#[tokio::test]
async fn what_the_network_takes_for_abuse_stops_the_bot() {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.tick().await;
    rig.network.fail_next("blocked", 0);
    rig.settle().await;
    let setup = rig.store.setup(rig.account).await.unwrap();
    assert_eq!(setup.settings.mode, Mode::Approve);
    assert!(setup.blocked_at.is_some());
    assert_eq!(rig.state().await, (ReplyState::Held, Some(Reason::Blocked)));
}

#[tokio::test]
async fn a_dead_token_ends_the_polling_and_holds_what_comes() {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.tick().await;
    rig.network.fail_next("token_dead", 0);
    rig.settle().await;
    assert_eq!(rig.state().await, (ReplyState::Held, Some(Reason::TokenDead)));
    let due = "SELECT count(*) FROM social_accounts WHERE poll_due_at IS NOT NULL OR sealed_token IS NOT NULL";
    assert_eq!(rig.sql.query_one(due, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[rstest]
#[case::deleted("deleted", Reason::Deleted)]
#[case::hidden("hidden", Reason::Hidden)]
#[case::edited("edited", Reason::Complaint)]
#[case::answered_by_a_person("answered", Reason::HumanActive)]
#[tokio::test]
async fn the_comment_is_read_again_before_it_is_answered(#[case] what: &str, #[case] reason: Reason) {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.tick().await;
    match what {
        "deleted" => rig.network.happens(Deed::Delete { id: COMMENT.into() }),
        "hidden" => rig.network.happens(Deed::Hide { id: COMMENT.into() }),
        "edited" => rig.network.happens(Deed::Edit { id: COMMENT.into(), text: "Son unos estafadores".into() }),
        _ => rig.network.happens(Deed::Answer { id: COMMENT.into(), text: "Ya te escribo".into() }),
    }
    rig.settle().await;
    assert_eq!(rig.state().await, (ReplyState::Held, Some(reason)));
    assert_eq!(rig.network.bots(), 0);
}

/// Instagram tells of no edits: until the comment is read again, a person sees what it said before.
#[tokio::test]
async fn an_answer_to_an_edited_comment_is_sent_once_a_person_has_seen_what_it_says_now() {
    let rig = Rig::start().await;
    rig.mode(Mode::Approve).await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.settle().await;
    rig.network.happens(Deed::Edit { id: COMMENT.into(), text: "¿Cuánto cuesta el rojo?".into() });
    let approve = async || {
        let (id, now) = (rig.conversation().await.id, rig.network.now());
        rig.store.act(rig.account, id, Act::Approve(None), "ana".to_owned().into(), None, now).await.unwrap();
        rig.settle().await;
    };
    approve().await;
    assert_eq!((rig.state().await, rig.network.written()), ((ReplyState::Held, Some(Reason::NeedsApproval)), 0));
    let shown = rig.conversation().await.last_message;
    assert_eq!(shown.body.as_deref(), Some("¿Cuánto cuesta el rojo?"));
    approve().await;
    assert_eq!((rig.state().await.0, rig.network.written()), (ReplyState::Sent, 1));
}

#[tokio::test]
async fn a_page_is_subscribed_to_again_every_day_because_a_network_drops_what_it_was_asked_for() {
    let rig = Rig::start().await;
    let page = "UPDATE social_accounts SET page_id = '10158000000000001', subscribe_due_at = $1";
    rig.sql.execute(page, &[&START]).await.unwrap();
    let is_told = || rig.network.0.is_told(Channel::Instagram, PROFILE);
    assert!(!is_told());
    rig.tick().await;
    assert!(is_told());

    rig.network.0.forget_subscriptions();
    rig.network.pass(Duration::hours(23));
    rig.tick().await;
    assert!(!is_told(), "it was asked for less than a day ago");
    rig.network.pass(Duration::hours(1));
    rig.tick().await;
    assert!(is_told());
}

#[tokio::test]
async fn a_comment_of_which_a_hook_tells_a_day_late_is_not_answered() {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.network.comment(COMMENT, "¿Cuánto cuesta este vestido?");
    rig.network.pass(Duration::hours(25));
    rig.told_of(COMMENT, "¿Cuánto cuesta este vestido?").await;
    rig.settle().await;
    assert_eq!(rig.state().await, (ReplyState::Held, Some(Reason::TooOld)));
    assert_eq!(rig.network.written(), 0);
}

#[rstest]
#[case::nothing_changed("SELECT", 1, ReplyState::Sent, None)]
#[case::not_to_be_answered_any_more(
    "UPDATE social_settings SET categories_auto = '{}'",
    0,
    ReplyState::Held,
    Some(Reason::NeedsApproval)
)]
#[tokio::test]
async fn an_answer_that_waited_for_hours_is_decided_about_again(
    #[case] meanwhile: &str,
    #[case] written: usize,
    #[case] state: ReplyState,
    #[case] reason: Option<Reason>,
) {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.tick().await;
    assert_eq!(rig.state().await, (ReplyState::Reserved, None));
    rig.sql.execute(meanwhile, &[]).await.unwrap();
    rig.network.pass(Duration::hours(2));
    rig.settle().await;
    assert_eq!((rig.state().await, rig.network.written()), ((state, reason), written));
}

#[tokio::test]
async fn who_asks_to_be_left_alone_gets_no_answer_that_was_on_its_way() {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.sql.execute("UPDATE social_settings SET opt_out_words = '{basta}'", &[]).await.unwrap();
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.tick().await;
    assert_eq!(rig.state().await, (ReplyState::Reserved, None));
    rig.hook_of("17890001112223335", "Basta de mensajes").await;
    rig.settle().await;
    let held = "SELECT count(*) FROM auto_replies WHERE state = 'held' AND reason = 'opted_out'";
    assert_eq!(rig.sql.query_one(held, &[]).await.unwrap().get::<_, i64>(0), 2);
    assert_eq!(rig.network.written(), 0);
}

#[tokio::test]
async fn switched_off_meanwhile_nothing_is_sent() {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.tick().await;
    rig.mode(Mode::Off).await;
    rig.settle().await;
    assert_eq!((rig.network.written(), rig.state().await.0), (0, ReplyState::Held));
}

#[tokio::test]
async fn a_dry_run_sends_nothing_and_an_approved_answer_is_sent() {
    let rig = Rig::start().await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.settle().await;
    assert_eq!((rig.network.written(), rig.state().await.0), (0, ReplyState::DryRun));

    let rig = Rig::start().await;
    rig.mode(Mode::Approve).await;
    rig.hook("¿Cuánto cuesta este vestido?").await;
    rig.settle().await;
    assert_eq!(rig.state().await, (ReplyState::Held, Some(Reason::NeedsApproval)));
    let id = rig.conversation().await.id;
    rig.store.act(rig.account, id, Act::Approve(None), "ana".to_owned().into(), None, rig.network.now()).await.unwrap();
    let twice =
        rig.store.act(rig.account, id, Act::Approve(None), "ana".to_owned().into(), None, rig.network.now()).await;
    assert!(twice.is_err(), "it is not held any more");
    rig.settle().await;
    assert_eq!((rig.network.written(), rig.state().await.0), (1, ReplyState::Sent));
    assert_eq!(rig.events().await.len(), 1);
}

#[tokio::test]
async fn a_person_answers_in_own_words_and_the_bot_is_silent_from_then_on() {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.hook("Nunca me llegó").await;
    rig.settle().await;
    assert_eq!(rig.state().await, (ReplyState::Held, Some(Reason::Complaint)));
    let id = rig.conversation().await.id;
    let words = Act::Send("Lo sentimos, ya lo vemos.".into());
    rig.store.act(rig.account, id, words, "ana".to_owned().into(), None, rig.network.now()).await.unwrap();
    rig.settle().await;
    assert_eq!((rig.network.written(), rig.state().await.0), (1, ReplyState::Sent));
    assert_eq!(rig.events().await, [] as [Value; 0], "no template, no event");
    assert_eq!(rig.conversation().await.handling, domain::social::Handling::Human);
}

#[tokio::test]
async fn what_no_hook_told_of_is_polled() {
    let rig = Rig::start().await;
    rig.network.comment(COMMENT, "¿Cuánto cuesta este vestido?");
    rig.tick().await;
    rig.tick().await;
    assert_eq!(rig.conversation().await.external_id, COMMENT);
    assert_eq!(rig.state().await.0, ReplyState::DryRun);
}

#[tokio::test]
async fn a_profile_that_nobody_connected_is_dropped() {
    let rig = Rig::start().await;
    let body = json!({"object": "instagram", "entry": [{"id": "9", "changes": [{"field": "comments",
        "value": {"id": "1", "text": "hola"}}]}]});
    rig.store.receive(body.to_string().as_bytes(), START).await.unwrap();
    rig.store.receive(b"no json", START).await.unwrap();
    rig.tick().await;
    let left = "SELECT count(*) FROM social_hooks WHERE done_at IS NULL";
    assert_eq!(rig.sql.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
    assert_eq!(rig.sql.query_one("SELECT count(*) FROM conversations", &[]).await.unwrap().get::<_, i64>(0), 0);
}
