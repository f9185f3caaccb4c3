//! Our client against the fake of the Graph API for comments, and what that refuses as the network does.

use std::{
    net::TcpListener,
    sync::{Arc, Mutex},
};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use connectors::{
    shops::{AppCredentials, signature},
    social::meta::{Login, LoginConfig, Meta, MetaHooks, VERSION},
};
use devtools::{
    shops::{Stub as _, clock::Change},
    social::{NewComment, Seed, Social, SocialConfig},
};
use domain::{
    shops::{Authorization, Callback, CompleteError, Secret},
    social::{
        Channel,
        channels::{Change as Happened, ChannelError, Comment, Profile, SocialInbox as _, SocialReplies as _},
        profiles::{Granted, ProfileAuth as _, Reached},
    },
};
use reqwest::{Client, Method, redirect};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, macros::datetime};
use url::Url;

const NOW: OffsetDateTime = datetime!(2026-11-24 15:30:20 UTC);
const SECRET: &str = "app-secret";
const TOKEN: &str = "verify-token";
const BACK: &str = "https://example.com/connected";
const PAGE: &str = "10158000000000001";
const INSTAGRAM: &str = "17841400000000001";

struct Network {
    stub: Social,
    base: Url,
    login: Login,
    client: Client,
}

fn seed(comments: u8) -> Seed {
    Seed { pages: 1, analysed_pages: 0, comments, now: NOW }
}

fn authorization() -> Authorization {
    Authorization {
        state: Secret::new("state-1".to_owned()),
        redirect_uri: BACK.to_owned(),
        shop: None,
        verifier: Secret::new(String::new()),
        country: None,
    }
}

/// Comments that were posted, as the network lists them.
async fn comments(meta: &Meta, profile: &Profile, since: OffsetDateTime) -> Result<Vec<Comment>, ChannelError> {
    let posted = |change| match change {
        Happened::Posted(comment) => comment,
        other => panic!("{other:?}"),
    };
    Ok(meta.changes(profile, since).await?.into_iter().map(posted).collect())
}

impl Network {
    fn open(seed: Seed) -> Self {
        Self::limited(seed, 4_800)
    }

    fn limited(seed: Seed, calls_per_hour: usize) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let stub = Social::new(SocialConfig {
            app_id: "1234".into(),
            app_secret: SECRET.into(),
            verify_token: TOKEN.into(),
            redirect_uris: vec![BACK.into()],
            notify: None,
            calls_per_hour,
            seed,
        })
        .unwrap();
        stub.common().clock.change(&Change { at: Some(NOW), ..Change::default() });
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let base: Url = format!("http://{}/{VERSION}", listener.local_addr().unwrap()).parse().unwrap();
        tokio::spawn(stub.server(listener).unwrap());
        let app = AppCredentials { client_id: "1234".into(), client_secret: SECRET.into(), previous_secret: None };
        let login = Login::new(LoginConfig { app, api_url: base.clone(), login_url: base.clone() }).unwrap();
        let client = Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
        Self { stub, base, login, client }
    }

    fn meta(&self, channel: Channel) -> Meta {
        Meta::both(self.login.clone()).into_iter().find(|network| network.channel() == channel).unwrap()
    }

    async fn agree(&self, channel: Channel) -> Callback {
        let url = self.login.authorize_url(channel, &authorization()).unwrap();
        let answer = self.client.get(url).send().await.unwrap();
        let target: Url = answer.headers()["location"].to_str().unwrap().parse().unwrap();
        let pairs = target.query_pairs();
        Callback(pairs.map(|(name, value)| (name.into_owned(), Secret::new(value.into_owned()))).collect())
    }

    async fn granted(&self, channel: Channel) -> Result<Granted, CompleteError> {
        let callback = self.agree(channel).await;
        self.login.complete(channel, &callback, &authorization(), NOW).await
    }

    /// The first profile of a channel, after its person agreed to everything.
    async fn profile(&self, channel: Channel) -> Profile {
        let granted = self.granted(channel).await.unwrap();
        let Reached { external_id, handle, token, .. } = granted.profiles.into_iter().next().unwrap();
        Profile { channel, external_id, app_scoped_id: None, handle, token }
    }

    /// What a call is answered with that has all that every call needs.
    async fn asks(&self, method: Method, path: &str, token: &Secret, form: &[(&str, &str)]) -> Value {
        let mut url: Url = format!("{}/{path}", self.base).parse().unwrap();
        let proof = hex::encode(signature::sign(&SECRET.into(), token.expose().as_bytes()));
        url.query_pairs_mut().append_pair("appsecret_proof", &proof);
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = self.client.request(method, url).bearer_auth(token.expose()).body(body);
        request.send().await.unwrap().json().await.unwrap()
    }

    fn comment(&self, channel: Channel, text: &str) -> String {
        self.stub.comment(NewComment::of(channel, text)).unwrap()
    }
}

fn code(answer: &Value) -> Option<i64> {
    answer["error"]["code"].as_i64()
}

#[tokio::test]
async fn a_person_grants_a_page_and_its_account_and_no_token_of_theirs_ends() {
    let network = Network::open(Seed { pages: 2, analysed_pages: 1, ..seed(0) });
    for (channel, first) in [(Channel::Instagram, INSTAGRAM), (Channel::Facebook, PAGE)] {
        let Granted { profiles, missing_scopes, .. } = network.granted(channel).await.unwrap();
        assert_eq!((profiles.len(), missing_scopes.len()), (2, 0), "a page that may only be analysed is not offered");
        assert_eq!((profiles[0].external_id.as_str(), profiles[0].page_id.as_str()), (first, PAGE));
    }
    let profile = network.profile(Channel::Instagram).await;
    network.stub.pass(Duration::days(400));
    assert!(comments(&network.meta(Channel::Instagram), &profile, NOW).await.is_ok());
}

#[tokio::test]
async fn who_declines_withholds_or_comes_twice_is_told_so() {
    let network = Network::open(seed(0));
    network.stub.fail_next("decline", 1);
    assert!(matches!(network.granted(Channel::Instagram).await, Err(CompleteError::Denied(_))));
    network.stub.fail_next("withhold", 4);
    let refused = network.granted(Channel::Instagram).await;
    assert!(
        matches!(&refused, Err(CompleteError::Denied(said)) if said.contains("instagram_manage_comments")),
        "{refused:?}"
    );
    network.stub.fail_next("withhold", 5);
    let granted = network.granted(Channel::Instagram).await.unwrap();
    assert_eq!(granted.missing_scopes, ["pages_manage_metadata"]);
    // What was withheld is asked for again.
    let callback = network.agree(Channel::Instagram).await;
    let complete = async || network.login.complete(Channel::Instagram, &callback, &authorization(), NOW).await;
    assert_eq!(complete().await.unwrap().missing_scopes, [] as [&str; 0]);
    assert!(matches!(complete().await, Err(CompleteError::Denied(_))), "a code is good once");
    let other = Authorization { redirect_uri: "https://evil.example/".into(), ..authorization() };
    let callback = network.agree(Channel::Instagram).await;
    let elsewhere = network.login.complete(Channel::Instagram, &callback, &other, NOW).await;
    assert!(matches!(elsewhere, Err(CompleteError::Denied(_))), "a code is good for one address");
    let refused = network.client.get(network.login.authorize_url(Channel::Instagram, &other).unwrap()).send().await;
    assert_eq!(refused.unwrap().status(), 400);
}

#[tokio::test]
async fn comments_are_listed_answered_and_found_on_both_channels() {
    let network = Network::open(seed(6));
    for channel in [Channel::Instagram, Channel::Facebook] {
        let (meta, profile) = (network.meta(channel), network.profile(channel).await);
        let all = comments(&meta, &profile, NOW - Duration::DAY).await.unwrap();
        assert_eq!(all.len(), 6, "{channel}");
        assert!(all.is_sorted_by_key(|comment| comment.posted_at));
        let recent = comments(&meta, &profile, NOW - Duration::minutes(61)).await.unwrap();
        assert_eq!(recent.len(), 3);
        let id = &recent[0].external_id;
        let reply = meta.reply(&profile, id, "¡Hola!").await.unwrap();
        let shown = meta.replies(&profile, id).await.unwrap();
        assert_eq!((shown[0].external_id.as_str(), shown[0].text.as_str()), (reply.as_str(), "¡Hola!"));
        assert!(profile.is_own(shown[0].author_id.as_deref(), shown[0].username.as_deref()));
        let read = meta.read(&profile, &reply).await.unwrap();
        assert_eq!(read.parent_id.as_deref(), Some(id.as_str()));
        assert_eq!(meta.read(&profile, "17890000000099999").await, Err(ChannelError::NotFound));
    }
    assert!(network.stub.written().iter().all(|written| written.is_from_app));
}

#[tokio::test]
async fn a_post_whose_comments_are_not_shown_hides_those_of_no_other() {
    let network = Network::open(seed(6));
    for channel in [Channel::Instagram, Channel::Facebook] {
        let (meta, profile) = (network.meta(channel), network.profile(channel).await);
        let read = async || comments(&meta, &profile, NOW - Duration::DAY).await;
        network.stub.fail_next("post_refused", 0);
        assert_eq!(read().await.unwrap().len(), 3, "{channel}");
        network.stub.common().faults.set("post_refused", 2, 0);
        let none = read().await;
        assert!(matches!(none, Err(ChannelError::Rejected(_))), "{none:?}");
        assert_eq!(read().await.unwrap().len(), 6);
    }
}

#[tokio::test]
async fn what_is_written_is_known_whatever_is_answered() {
    let network = Network::open(seed(0));
    let (meta, profile) = (network.meta(Channel::Instagram), network.profile(Channel::Instagram).await);
    let cases =
        [("write_then_400", 1), ("refuse_400", 0), ("lost_before", 0), ("lost_after", 1), ("lag", 1), ("blocked", 0)];
    for (fault, written) in cases {
        let id = network.comment(Channel::Instagram, "hola");
        network.stub.fail_next(fault, 90);
        assert!(meta.reply(&profile, &id, "Hola").await.is_err(), "{fault}");
        let below = network.stub.written().into_iter().filter(|answer| answer.comment == id).count();
        assert_eq!(below, written, "{fault}");
        let is_listed = written == 1 && fault != "lag";
        assert_eq!(meta.replies(&profile, &id).await.unwrap().len(), usize::from(is_listed), "{fault}");
    }
    let id = network.comment(Channel::Instagram, "hola");
    network.stub.fail_next("token_dead", 1);
    assert_eq!(meta.reply(&profile, &id, "Hola").await, Err(ChannelError::TokenDead));
    assert_eq!(meta.read(&profile, &id).await, Err(ChannelError::TokenDead), "for good");
}

#[tokio::test]
async fn an_answer_to_an_answer_goes_to_the_thread_on_instagram_and_hidden_comments_take_none() {
    let network = Network::open(seed(0));
    let (meta, profile) = (network.meta(Channel::Instagram), network.profile(Channel::Instagram).await);
    let thread = network.comment(Channel::Instagram, "hola");
    let below = NewComment { parent: Some(thread.clone()), ..NewComment::of(Channel::Instagram, "yo también") };
    let below = network.stub.comment(below).unwrap();
    meta.reply(&profile, &below, "Hola").await.unwrap();
    assert_eq!(network.stub.written()[0].comment, thread);
    let hidden = network.asks(Method::POST, &thread, &profile.token, &[("hide", "true")]).await;
    assert_eq!(hidden, json!({"success": true}));
    assert!(meta.read(&profile, &thread).await.unwrap().is_hidden);
    assert!(matches!(meta.reply(&profile, &thread, "Hola").await, Err(ChannelError::Rejected(_))));

    let (facebook, page) = (network.meta(Channel::Facebook), network.profile(Channel::Facebook).await);
    let id = network.comment(Channel::Facebook, "hola");
    // A message in the place of an answer edits the comment.
    let edited = network.asks(Method::POST, &id, &page.token, &[("message", "otra cosa")]).await;
    assert_eq!(edited, json!({"success": true}));
    assert_eq!(facebook.read(&page, &id).await.unwrap().text, "otra cosa");
    let deleted = network.asks(Method::DELETE, &id, &page.token, &[]).await;
    assert_eq!(deleted, json!({"success": true}));
    assert_eq!(facebook.read(&page, &id).await, Err(ChannelError::NotFound));
}

#[tokio::test]
async fn the_fake_refuses_what_the_network_refuses() {
    let network = Network::open(Seed { pages: 2, ..seed(1) });
    let (profile, page) = (network.profile(Channel::Instagram).await, network.profile(Channel::Facebook).await);
    let token = &profile.token;
    let thread = network.comment(Channel::Instagram, "hola");
    let get = async |path: &str| {
        let mut url: Url = format!("{}/{path}", network.base).parse().unwrap();
        let proof = hex::encode(signature::sign(&SECRET.into(), token.expose().as_bytes()));
        url.query_pairs_mut().append_pair("appsecret_proof", &proof);
        network.client.get(url).bearer_auth(token.expose()).send().await.unwrap().json::<Value>().await.unwrap()
    };
    assert_eq!(code(&get(&format!("{thread}?fields=text")).await), None);
    for path in [
        format!("{thread}?fields=message"),
        format!("{thread}?field=text"),
        format!("{thread}/comments?fields=text"),
        format!("{thread}/replies?fields=text&limit=51"),
        format!("{thread}/replies?fields=text&order=reverse_chronological"),
        format!("{INSTAGRAM}/media?fields=caption"),
        format!("{INSTAGRAM}/posts?fields=id"),
        "17841400000000002/media?fields=id".to_owned(),
        "1/nothing?fields=id".to_owned(),
    ] {
        assert_eq!(code(&get(&path).await), Some(100), "{path}");
    }
    let posts = [
        (format!("{thread}/replies"), vec![("message", " ")]),
        (format!("{thread}/replies"), vec![("message", "hola"), ("fields", "id")]),
        (format!("{thread}/replies"), vec![]),
        (thread.clone(), vec![("hide", "maybe")]),
        (format!("{PAGE}/subscribed_apps"), vec![("subscribed_fields", "comments")]),
    ];
    for (path, form) in posts {
        assert_eq!(code(&network.asks(Method::POST, &path, &page.token, &form).await), Some(100), "{path} {form:?}");
    }
    let long = "a".repeat(2_201);
    let posted = network.asks(Method::POST, &format!("{thread}/replies"), token, &[("message", &long)]).await;
    assert_eq!(code(&posted), Some(100));
    assert_eq!(network.stub.written(), []);

    let bare = async |path: String, token: Option<&str>| {
        let request = network.client.get(path);
        let request = if let Some(token) = token { request.bearer_auth(token) } else { request };
        code(&request.send().await.unwrap().json::<Value>().await.unwrap())
    };
    assert_eq!(
        bare(format!("{}/{thread}?fields=text", network.base), Some(token.expose())).await,
        Some(100),
        "no proof"
    );
    assert_eq!(bare(format!("{}/{thread}?fields=text", network.base), None).await, Some(2_500), "no token");
    let old = network.base.join("/v12.0/me/permissions").unwrap();
    assert_eq!(bare(old.into(), None).await, Some(2_635), "an old version");
}

#[tokio::test]
async fn permissions_are_asked_for_by_every_call() {
    let network = Network::open(seed(1));
    // On Facebook: list, read, read people, answer, subscribe.
    for (withheld, what) in [(4, "answer"), (5, "subscribe")] {
        network.stub.fail_next("withhold", withheld);
        let page = network.profile(Channel::Facebook).await;
        let meta = network.meta(Channel::Facebook);
        let comment = &comments(&meta, &page, NOW - Duration::DAY).await.unwrap()[0].external_id;
        let answered = meta.reply(&page, comment, "Hola").await.map(|_| ());
        let subscribed = meta.subscribe(&page, PAGE).await;
        let (refused, done) = if what == "answer" { (answered, subscribed) } else { (subscribed, answered) };
        assert_eq!((refused, done), (Err(ChannelError::Forbidden), Ok(())), "{what}");
    }
}

#[tokio::test]
async fn a_budget_that_is_used_up_stops_the_calls() {
    let network = Network::limited(seed(0), 3);
    let profile = network.profile(Channel::Instagram).await;
    let meta = network.meta(Channel::Instagram);
    let mut stopped = None;
    for _ in 0..6 {
        if let Err(error) = comments(&meta, &profile, NOW).await {
            stopped = Some(error);
        }
    }
    assert!(matches!(stopped, Some(ChannelError::Throttled(until)) if until > OffsetDateTime::now_utc()));
    let made = network.stub.common().log.entries().iter().filter(|entry| entry.path.contains(INSTAGRAM)).count();
    assert!(made <= 4, "what is refused is not asked for again: {made}");
}

/// A body with its signature.
type Came = (Vec<u8>, String);

/// A receiver of hooks: the bodies that came with their signatures, and how often it was asked for the challenge.
#[derive(Clone, Default)]
struct Receiver {
    came: Arc<Mutex<Vec<Came>>>,
    asked: Arc<Mutex<usize>>,
}

impl Receiver {
    fn listen(&self, confirms: bool) -> String {
        let (this, listener) = (self.clone(), TcpListener::bind(("127.0.0.1", 0)).unwrap());
        let url = format!("http://{}/hooks", listener.local_addr().unwrap());
        let server = HttpServer::new(move || {
            let (get, post) = (this.clone(), this.clone());
            App::new()
                .route(
                    "/hooks",
                    web::get().to(move |request: HttpRequest| {
                        *get.asked.lock().unwrap() += 1;
                        let query: Vec<_> =
                            url::form_urlencoded::parse(request.query_string().as_bytes()).into_owned().collect();
                        let one =
                            |name: &str| query.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
                        let is_known = one("hub.verify_token").as_deref() == Some(TOKEN);
                        let challenge = one("hub.challenge").filter(|_| confirms && is_known);
                        async move {
                            challenge.map_or_else(
                                || HttpResponse::Forbidden().finish(),
                                |text| HttpResponse::Ok().body(text),
                            )
                        }
                    }),
                )
                .route(
                    "/hooks",
                    web::post().to(move |request: HttpRequest, body: web::Bytes| {
                        let signature =
                            request.headers().get("x-hub-signature-256").unwrap().to_str().unwrap().to_owned();
                        post.came.lock().unwrap().push((body.to_vec(), signature));
                        async { HttpResponse::Ok().finish() }
                    }),
                )
        });
        tokio::spawn(server.workers(1).listen(listener).unwrap().disable_signals().run());
        url
    }

    async fn until(&self, count: usize) -> Vec<(Vec<u8>, String)> {
        for _ in 0..600 {
            let came = self.came.lock().unwrap().clone();
            if came.len() >= count {
                return came;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        panic!("{} of {count} hooks came", self.came.lock().unwrap().len());
    }
}

#[tokio::test]
async fn hooks_are_signed_and_sent_to_who_confirmed_and_subscribed() {
    let network = Network::open(seed(0));
    let receiver = Receiver::default();
    let hooks = MetaHooks::new(&SECRET.into(), &TOKEN.into());
    let client = &network.client;
    let url = network.base.join("/_stub/notify").unwrap();
    let notify = async |to: String| client.post(url.clone()).json(&json!({"url": to})).send().await.unwrap().status();
    assert_eq!(notify(receiver.listen(true)).await, 204);
    let page = network.profile(Channel::Facebook).await;
    let facebook = network.meta(Channel::Facebook);
    network.comment(Channel::Facebook, "nobody is told");
    facebook.subscribe(&page, PAGE).await.unwrap();
    let id = network.comment(Channel::Facebook, "¿Cuánto cuesta?");
    let (body, signature) = receiver.until(1).await.remove(0);
    assert_eq!(hooks.verify(&body, Some(&signature)), Ok(()));
    assert!(String::from_utf8(body.clone()).unwrap().contains(r#""message": "\u00bfCu\u00e1nto cuesta?""#));
    let batch = hooks.parse(&body).batches.remove(0);
    assert_eq!((batch.channel, batch.profile.as_str()), (Channel::Facebook, PAGE));
    let Happened::Posted(comment) = &batch.changes[0] else { panic!("{batch:?}") };
    assert_eq!((comment.external_id.as_str(), comment.text.as_str()), (id.as_str(), "¿Cuánto cuesta?"));

    // Its account on Instagram is told of as well, and own answers are.
    let instagram = network.profile(Channel::Instagram).await;
    let thread = network.comment(Channel::Instagram, "hola");
    receiver.until(2).await;
    network.meta(Channel::Instagram).reply(&instagram, &thread, "Hola").await.unwrap();
    let (body, _) = receiver.until(3).await.remove(2);
    let Happened::Posted(own) = &hooks.parse(&body).batches.remove(0).changes[0] else { panic!() };
    assert!(instagram.is_own(own.author_id.as_deref(), own.username.as_deref()));
    assert_eq!(*receiver.asked.lock().unwrap(), 1);

    network.stub.fail_next("hook_forged", 1);
    network.comment(Channel::Facebook, "forged");
    let (body, signature) = receiver.until(4).await.remove(3);
    assert!(hooks.verify(&body, Some(&signature)).is_err());
    network.stub.fail_next("hook_lost", 1);
    network.comment(Channel::Facebook, "lost");
    network.stub.fail_next("hook_twice", 1);
    network.comment(Channel::Facebook, "twice");
    let came = receiver.until(6).await;
    assert_eq!(came[4].0, came[5].0);

    facebook.unsubscribe(&page, PAGE).await.unwrap();
    network.comment(Channel::Facebook, "nobody is told");
    facebook.subscribe(&page, PAGE).await.unwrap();
    let stranger = Receiver::default();
    assert_eq!(notify(stranger.listen(false)).await, 204);
    network.comment(Channel::Facebook, "who does not confirm is not told");
    for _ in 0..600 {
        if *stranger.asked.lock().unwrap() > 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(*stranger.asked.lock().unwrap() > 0 && stranger.came.lock().unwrap().is_empty());
    assert_eq!(receiver.came.lock().unwrap().len(), 6);
}
