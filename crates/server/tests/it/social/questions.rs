//! Questions on Mercado Libre have one answer each, whatever the platform does: real Postgres, the real worker and connector,
//! and the stand-in of the platform, which knows what was really answered.

use std::{collections::HashMap, net::TcpListener, ops::Deref, sync::Arc, time::Duration as Pause};

use app::{
    deliveries::Clock,
    shops::{Connector, Connectors, Ports},
    social::{Network, SocialWorker},
};
use connectors::shops::{
    AppCredentials,
    budget::Rate,
    mercadolibre::{Limits, Mercadolibre, MercadolibreConfig},
};
use delivery::seal::KeyRing;
use devtools::shops::{
    Stub as _,
    clock::Change as ClockChange,
    mercadolibre::{App, Config, Deed, Mercadolibre as Platform},
};
use domain::{
    AccountId, IntegrationId,
    integrations::{BuyerData, RevokeReason},
    sealing::Sealer,
    shops::{
        Authorization, Callback, Grant, Secret, ShopAuth as _,
        connections::{ConnectionStore, Description, NewConnection, Revocation, Revoked},
        tokens::{SealedTokens, access_binding, refresh_binding},
    },
    social::{
        Channel, Mode, Reason, ReplyState,
        conversations::{Act, ActError, ConversationStore},
        replies::PollHints,
    },
};
use rstest::rstest;
use serde_json::{Value, json};
use store::Store;
use time::{Duration, OffsetDateTime};
use url::Url;

use super::shop::{START, Shop};

const REDIRECT: &str = "https://example.com/connected";
const ANSWER: &str = "Es el precio publicado.";
const ASKED: &str = "¿Cuánto cuesta este vestido?";

/// An account with a template and a connected shop; the clock of all is the platform's, and is moved by hand.
struct Rig {
    own: Shop,
    shop: IntegrationId,
    platform: Platform,
    worker: SocialWorker,
}

impl Deref for Rig {
    type Target = Shop;
    fn deref(&self) -> &Shop {
        &self.own
    }
}

/// The platform's stand-in and the app on it.
fn platform() -> (Platform, Mercadolibre) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let secret = "secret".to_owned();
    let app = App { client_id: "1".to_owned(), client_secret: secret.clone(), redirect_uri: REDIRECT.to_owned() };
    let zone = "America/Argentina/Buenos_Aires".parse().unwrap();
    let config = Config { app, seed: 1, orders: 0, days: 1, is_limited: false, now: Some(START), notify: None, zone };
    let stub = Platform::new(config).unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base: Url = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    tokio::spawn(stub.server(listener).unwrap());
    let rate = Rate { cap: 1e9, restore: 1e9 };
    let config = MercadolibreConfig {
        app: AppCredentials { client_id: "1".to_owned(), client_secret: secret.into(), previous_secret: None },
        authorize_url: Some(base.join("/authorization").unwrap()),
        api_url: base,
        limits: Limits { app: rate, seller: rate, pause: Pause::from_millis(2) },
    };
    (stub, Mercadolibre::new(config).unwrap())
}

/// What the seller grants.
async fn granted(app: &Mercadolibre) -> Grant {
    let authorization = Authorization {
        state: Secret::new("state".to_owned()),
        redirect_uri: REDIRECT.to_owned(),
        shop: None,
        verifier: Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".to_owned()),
        country: Some("AR".parse().unwrap()),
    };
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let answer = client.get(app.authorize_url(&authorization).unwrap()).send().await.unwrap();
    let location: Url = answer.headers()["location"].to_str().unwrap().parse().unwrap();
    let query = location.query_pairs().map(|(key, value)| (key.into_owned(), Secret::new(value.into_owned())));
    app.complete(&Callback(query.collect()), &authorization, START).await.unwrap()
}

/// Connects the shop that was granted, as its owner's click does.
async fn connect(store: &Store, keys: &KeyRing, account: AccountId, grant: Grant) -> IntegrationId {
    let provider = domain::accounts::Platform::Mercadolibre;
    let shop = format!("{}.mercadolibre.com.ar", grant.shop_id);
    let id = ConnectionStore::reserve(store, account, provider, &shop).await.unwrap();
    let seal = |binding, secret: &Secret| keys.seal(binding, secret.expose().as_bytes()).unwrap();
    let tokens = SealedTokens {
        access: seal(access_binding(account, id), &grant.tokens.access),
        access_expires_at: grant.tokens.access_expires_at,
        refresh: grant.tokens.refresh.as_ref().map(|secret| seal(refresh_binding(account, id), secret)),
        refresh_expires_at: grant.tokens.refresh_expires_at,
    };
    let description = Description {
        scopes: grant.tokens.scopes,
        missing_scopes: vec![],
        history_from: None,
        buyer_data: BuyerData::Full,
    };
    let new = NewConnection { id, provider, shop_id: grant.shop_id, shop, description, tokens, key: None, note: None };
    ConnectionStore::connect(store, account, new, START).await.unwrap().id
}

impl Rig {
    async fn start() -> Self {
        let own = Shop::start(&["¡Hola {username}! Mira en {link}", ANSWER]).await;
        let keys = KeyRing::parse(crate::service::DATA_KEYS).unwrap();
        let (platform, app) = platform();
        let shop = connect(&own.store, &keys, own.account, granted(&app).await).await;
        let worker = worker(&own, &platform, Arc::new(app), Arc::new(keys));
        Self { own, shop, platform, worker }
    }

    fn now(&self) -> OffsetDateTime {
        self.platform.common().clock.now()
    }

    fn pass(&self, time: Duration) {
        let change = ClockChange { advance_seconds: Some(time.whole_seconds()), ..ClockChange::default() };
        self.platform.common().clock.change(&change);
    }

    async fn tick(&self) {
        self.worker.tick().await.unwrap();
    }

    /// Somebody asks, and the answer is reserved.
    async fn asked(&self) -> u64 {
        let id = self.platform.ask(ASKED);
        self.tick().await;
        self.tick().await;
        assert_eq!(self.state().await, (ReplyState::Reserved, None));
        id
    }

    /// Goes on for two hours, a look a minute.
    async fn settle(&self) {
        for _ in 0..120 {
            self.pass(Duration::MINUTE);
            self.tick().await;
        }
    }

    /// What a worker begins and does not end: it is killed once the platform has the answer.
    async fn tick_killed(&self) {
        let worker = self.worker.clone();
        let task = tokio::spawn(async move { worker.tick().await });
        while self.really()["answer"].is_null() {
            tokio::time::sleep(Pause::from_millis(5)).await;
        }
        task.abort();
        let _ = task.await;
    }

    /// The newest question, as the platform has it.
    fn really(&self) -> Value {
        self.platform.asked().as_array().unwrap().last().unwrap().clone()
    }

    async fn answers_told(&self) -> Vec<Value> {
        let events = self.events().await.into_iter();
        events.filter(|event| event["event"] == "social.auto_reply_sent").collect()
    }

    async fn act(&self, act: Act) -> Result<(), ActError> {
        let id = self.conversation().await.id;
        self.store.act(self.account, id, act, "ana".to_owned().into(), None, self.now()).await.map(|_| ())
    }
}

fn worker(own: &Shop, platform: &Platform, app: Arc<Mercadolibre>, sealer: Arc<dyn Sealer>) -> SocialWorker {
    let of_platform = platform.clone();
    let clock: Clock = Arc::new(move || of_platform.common().clock.now());
    let connector = Connector {
        auth: app.clone(),
        reader: app.clone(),
        verifier: None,
        replies: Some(app.clone()),
        is_stand_in: true,
    };
    let ports = Ports::of(&own.store, Connectors::new([connector]), sealer, clock);
    own.worker(ports, None, HashMap::from([(Channel::Mercadolibre, Network { replies: app, is_stand_in: true })]))
}

#[tokio::test]
async fn a_question_becomes_a_conversation_and_is_answered_once() {
    let rig = Rig::start().await;
    rig.auto().await;
    let id = rig.asked().await;
    assert!(rig.really()["answer"].is_null(), "an answer is no reflex");
    rig.settle().await;
    assert_eq!((rig.state().await, &rig.really()["answer"]), ((ReplyState::Sent, None), &json!(ANSWER)));
    let conversation = rig.conversation().await;
    assert_eq!((conversation.channel, conversation.external_id), (Channel::Mercadolibre, id.to_string()));
    assert_eq!((conversation.messages_count, conversation.waiting_since, conversation.username), (2, None, None));
    assert!(conversation.post.unwrap().external_id.starts_with("MLA"), "the listing");
    let told = rig.answers_told().await;
    let [event] = told.as_slice() else { panic!("{told:?}") };
    let data = &event["data"];
    assert_eq!((&data["channel"], &data["message"]), (&json!("mercadolibre"), &json!(ANSWER)));
    assert_eq!((&data["reply_id"], &data["recovered"]), (&json!(format!("answer/{id}")), &json!(false)));
}

/// What the app wrote, and where the answer stands, under each fault. The platform takes one answer, so there is no second.
#[rstest]
#[case::breaks_off_after_the_write(&[("answer_lost", 0)], true, (ReplyState::Sent, None))]
#[case::written_and_503(&[("answer_error", 503)], true, (ReplyState::Sent, None))]
#[case::written_and_400(&[("answer_error", 400)], true, (ReplyState::Sent, None))]
#[case::not_written_and_503(&[("answer_unwritten", 503)], true, (ReplyState::Sent, None))]
#[case::not_written_and_400(&[("answer_unwritten", 400)], false, (ReplyState::Held, Some(Reason::NeedsApproval)))]
#[case::token_refused(&[("answer_unwritten", 401)], true, (ReplyState::Sent, None))]
#[case::shown_after_90_seconds(&[("answer_lost", 0), ("answer_lag", 90)], true, (ReplyState::Sent, None))]
#[case::shown_after_an_hour(&[("answer_lost", 0), ("answer_lag", 3_600)], true, (ReplyState::Sent, None))]
#[case::cannot_be_read(&[("server_error", 503)], true, (ReplyState::Sent, None))]
#[tokio::test]
async fn an_answer_is_written_once_under_every_fault(
    #[case] faults: &[(&'static str, u64)],
    #[case] is_written: bool,
    #[case] state: (ReplyState, Option<Reason>),
) {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.asked().await;
    for (fault, value) in faults {
        rig.platform.common().faults.set(fault, 1, *value);
    }
    rig.settle().await;
    assert_eq!(rig.state().await, state, "{faults:?}");
    let expected = if is_written { json!(ANSWER) } else { Value::Null };
    assert_eq!(rig.really()["answer"], expected, "{faults:?}");
    let accepted = |entry: &devtools::shops::log::Entry| entry.path == "/answers" && entry.status == 200;
    assert!(rig.platform.common().log.entries().iter().filter(|entry| accepted(entry)).count() <= 1);
    assert_eq!(rig.answers_told().await.len(), usize::from(is_written));
    assert_eq!(rig.conversation().await.messages_count, if is_written { 2 } else { 1 });
}

#[tokio::test]
async fn a_worker_that_is_killed_after_the_write_leaves_no_second_answer() {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.asked().await;
    rig.platform.common().faults.set("answer_slow", 1, 60_000);
    rig.pass(Duration::MINUTE);
    rig.tick_killed().await;
    rig.settle().await;
    assert_eq!((rig.state().await, rig.really()["by_app"].clone()), ((ReplyState::Sent, None), json!(true)));
    let told = rig.answers_told().await;
    assert_eq!((told.len(), &told[0]["data"]["recovered"]), (1, &json!(true)));
}

#[tokio::test]
async fn a_token_that_ran_out_is_renewed_and_one_that_was_taken_back_ends_it() {
    let rig = Rig::start().await;
    rig.auto().await;
    rig.asked().await;
    assert!(rig.platform.act("expire", 0));
    rig.settle().await;
    assert_eq!((rig.state().await, rig.really()["by_app"].clone()), ((ReplyState::Sent, None), json!(true)));

    let rig = Rig::start().await;
    rig.auto().await;
    rig.asked().await;
    assert!(rig.platform.act("revoke", 0));
    rig.settle().await;
    assert_eq!(rig.state().await, (ReplyState::Held, Some(Reason::TokenDead)));
    assert!(rig.really()["answer"].is_null());
    let ended = "SELECT count(*) FROM social_accounts a JOIN integrations i ON i.id = a.integration_id
        WHERE a.ended_at IS NOT NULL AND a.poll_due_at IS NULL AND i.revoked_at IS NOT NULL";
    assert_eq!(rig.sql.query_one(ended, &[]).await.unwrap().get::<_, i64>(0), 1);
}

/// Whether it is seen before the own answer is sent or not.
#[rstest]
#[case::seen(0)]
#[case::refused_by_the_platform(90)]
#[tokio::test]
async fn a_question_that_was_answered_by_hand_gets_no_other_answer(#[case] lag: u64) {
    let rig = Rig::start().await;
    rig.auto().await;
    let id = rig.asked().await;
    if lag > 0 {
        rig.platform.common().faults.set("answer_lag", 1, lag);
    }
    assert!(rig.platform.happen(id, Deed::Answer("Ya te digo".into())));
    rig.settle().await;
    assert_eq!(rig.really()["by_app"], json!(false));
    let conversation = rig.conversation().await;
    let reply = conversation.reply.unwrap();
    assert!(matches!(reply.state, ReplyState::Skipped | ReplyState::Held), "{reply:?}");
    assert_eq!((reply.reason, conversation.waiting_since), (Some(Reason::HumanActive), None));
    assert_eq!(conversation.last_message.body.as_deref(), Some("Ya te digo"));
    assert_eq!(rig.answers_told().await, [] as [Value; 0]);
}

#[rstest]
#[case(Deed::Delete, Reason::Deleted)]
#[case(Deed::Ban, Reason::Hidden)]
#[case(Deed::Close, Reason::Hidden)]
#[case(Deed::Review, Reason::Hidden)]
#[tokio::test]
async fn what_is_not_shown_any_more_is_not_answered(#[case] deed: Deed, #[case] reason: Reason) {
    let rig = Rig::start().await;
    rig.auto().await;
    let id = rig.asked().await;
    assert!(rig.platform.happen(id, deed));
    rig.settle().await;
    assert_eq!((rig.state().await, rig.really()["answer"].clone()), ((ReplyState::Held, Some(reason)), Value::Null));
    let updated = "SELECT max(updated_at) FROM conversations";
    let before: OffsetDateTime = rig.sql.query_one(updated, &[]).await.unwrap().get(0);
    rig.settle().await;
    let after: OffsetDateTime = rig.sql.query_one(updated, &[]).await.unwrap().get(0);
    assert_eq!(before, after, "hearing so again is no news");
}

#[tokio::test]
async fn what_was_answered_before_waits_for_nobody() {
    let rig = Rig::start().await;
    rig.mode(Mode::Approve).await;
    let id = rig.platform.ask(ASKED);
    assert!(rig.platform.happen(id, Deed::Answer("Ya te digo".into())));
    rig.tick().await;
    rig.tick().await;
    let conversation = rig.conversation().await;
    assert_eq!((conversation.messages_count, conversation.waiting_since), (2, None));
    assert_eq!(conversation.reply, None, "there is nothing to decide");
}

#[tokio::test]
async fn a_hook_has_the_shop_polled_at_once_and_the_end_of_the_connection_ends_it() {
    let rig = Rig::start().await;
    rig.tick().await;
    rig.platform.ask(ASKED);
    rig.tick().await;
    let known = "SELECT count(*) FROM conversations";
    let known = async || rig.sql.query_one(known, &[]).await.unwrap().get::<_, i64>(0);
    assert_eq!(known().await, 0, "the next poll is minutes away");
    rig.store.poll_soon(rig.account, rig.shop, rig.now()).await.unwrap();
    rig.tick().await;
    assert_eq!(known().await, 1);

    let revocation = Revocation { reason: RevokeReason::Manual, generation: None, now: rig.now() };
    let ended = ConnectionStore::revoke(&*rig.store, rig.account, rig.shop, revocation, None).await.unwrap();
    assert_eq!(ended, Revoked::Now);
    rig.store.poll_soon(rig.account, rig.shop, rig.now()).await.unwrap();
    let due = "SELECT count(*) FROM social_accounts WHERE poll_due_at IS NOT NULL OR ended_at IS NULL";
    assert_eq!(rig.sql.query_one(due, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_person_says_nothing_that_leads_away() {
    let rig = Rig::start().await;
    rig.platform.ask("Nunca me llegó");
    rig.tick().await;
    rig.tick().await;
    for words in ["Escribinos a ventas@shop.example", "En www.shop.example", "Al 11 4555-1234", "Somos @tienda"] {
        assert!(matches!(rig.act(Act::Send(words.into())).await, Err(ActError::Contact)), "{words}");
    }
    assert!(matches!(rig.act(Act::Send("a".repeat(2_001))).await, Err(ActError::TooLong(2_000))));
    rig.act(Act::Send("Lo sentimos, ya lo vemos.".into())).await.unwrap();
    rig.settle().await;
    assert_eq!((rig.state().await.0, &rig.really()["answer"]), (ReplyState::Sent, &json!("Lo sentimos, ya lo vemos.")));
}
