//! Profiles against the stand-in of the Graph API: connected by who began it alone, told of by hooks, answered, disconnected.

use std::time::{Duration, Instant};

use reqwest::{Method, redirect};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::service::{Process, Service, api};

/// Where people are sent back to; nobody listens there, as the test takes the query from the redirect.
const REDIRECT: &str = "http://127.0.0.1:9/connected";
const PAGES: [&str; 2] = ["10158000000000001", "10158000000000002"];
const PROFILES: [&str; 2] = ["17841400000000001", "17841400000000002"];
const AUTHORIZE: &str = "/api/v1/social/profiles/authorize";
const COMPLETE: &str = "/api/v1/social/profiles/complete";
/// Far above what any wait here takes.
const WITHIN: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(100);

/// The stand-in in a process of its own.
pub struct Network {
    process: Process,
    client: reqwest::Client,
    _folder: TempDir,
}

impl Network {
    pub fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = api("", &folder);
        command.args(["dev", "social", "--at", "127.0.0.1:0"]).args(arguments);
        let process = Process::start(&mut command);
        let client = reqwest::Client::builder().no_proxy().redirect(redirect::Policy::none()).build().unwrap();
        Self { process, client, _folder: folder }
    }

    /// The settings by which the service finds it.
    pub fn settings(&self) -> Vec<(String, String)> {
        let base = format!("http://{}/v25.0", self.process.address());
        let settings = [
            ("BAS_META_APP_ID", "1234"),
            ("BAS_META_APP_SECRET", "dev-secret"),
            ("BAS_META_VERIFY_TOKEN", "dev-token"),
            ("BAS_META_BASE_URL", &base),
            ("BAS_INTEGRATION_REDIRECT_URL", REDIRECT),
        ];
        settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    pub async fn tell(&self, path: &str, what: Value) -> Value {
        let answer = self.process.request(Method::POST, &format!("/_stub/{path}")).json(&what).send().await.unwrap();
        assert!(answer.status().is_success(), "{path} {what}: {}", answer.status());
        serde_json::from_str(&answer.text().await.unwrap()).unwrap_or_default()
    }

    pub async fn ledger(&self) -> Value {
        self.process.request(Method::GET, "/_stub/ledger").send().await.unwrap().json().await.unwrap()
    }

    /// The person agrees; the address that they are sent back to.
    pub async fn agreed(&self, url: &str) -> String {
        let answer = self.client.get(url).send().await.unwrap();
        assert_eq!(answer.status(), 302, "{url}");
        answer.headers()["location"].to_str().unwrap().to_owned()
    }
}

struct Rig {
    network: Network,
    service: Service,
    _worker: Process,
    key: String,
    stranger: String,
}

impl Rig {
    async fn start(arguments: &[&str]) -> Self {
        let network = Network::start(&[&["--redirect-uri", REDIRECT, "--comments", "0"], arguments].concat());
        let settings = network.settings();
        let borrowed: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let service = Service::start_with(&borrowed).await;
        let worker = Process::start(service.api(&["work"]).envs(settings.iter().map(|(name, value)| (name, value))));
        network.tell("notify", json!({"url": format!("http://{}/hooks/social/meta", service.process.address())})).await;
        let (key, stranger) = (service.key(service.account, "read,write"), service.key(service.stranger, "read,write"));
        Self { network, service, _worker: worker, key, stranger }
    }

    async fn send(&self, method: Method, path: &str, key: &str, body: Value) -> (u16, Value) {
        let answer = self.service.process.request(method, path).bearer_auth(key).json(&body).send().await.unwrap();
        (answer.status().as_u16(), answer.json().await.unwrap())
    }

    /// The query that a person comes back with who agreed.
    async fn agree(&self, key: &str, asked: Value) -> String {
        let (status, begun) = self.send(Method::POST, AUTHORIZE, key, asked).await;
        assert_eq!(status, 200, "{begun}");
        let target = self.network.agreed(begun["url"].as_str().unwrap()).await;
        let (page, query) = target.split_once('?').unwrap();
        assert_eq!(page, REDIRECT);
        query.to_owned()
    }

    async fn complete(&self, key: &str, query: &str) -> (u16, Value) {
        self.send(Method::POST, COMPLETE, key, json!({ "query": query })).await
    }

    async fn connect(&self, key: &str, asked: Value) -> (u16, Value) {
        let query = self.agree(key, asked).await;
        self.complete(key, &query).await
    }

    async fn until(&self, what: &str, mut holds: impl AsyncFnMut() -> bool) {
        let begun = Instant::now();
        while !holds().await {
            assert!(begun.elapsed() < WITHIN, "{what}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The conversation that began with a comment, once its answer stands so.
    async fn conversation(&self, comment: &str, state: &str) -> Value {
        let mut found = Value::Null;
        self.until(&format!("the answer to {comment} is {state}"), async || {
            let listed = self.service.process.json("/api/v1/conversations", &self.key).await;
            let row = listed["data"].as_array().unwrap().iter().find(|row| row["external_id"] == comment).cloned();
            found = row.unwrap_or_default();
            found["auto_reply"]["state"] == state
        })
        .await;
        found
    }

    async fn template(&self) {
        let template =
            json!({"name": "Prices", "category": "price_question", "language": "es", "variations": ["¡Hola!"]});
        let made = self.send(Method::POST, "/api/v1/reply-templates", &self.key, template).await.1;
        let path = format!("/api/v1/reply-templates/{}", made["id"]);
        let approve = json!({"state": "approved", "approved_by": "Ana"});
        assert_eq!(self.send(Method::PATCH, &path, &self.key, approve).await.0, 200);
        let mode = json!({"mode": "approve"});
        assert_eq!(self.send(Method::PUT, "/api/v1/social/settings", &self.key, mode).await.0, 200);
    }
}

#[tokio::test]
async fn a_profile_is_connected_answered_and_disconnected() {
    let rig = Rig::start(&["--pages", "2", "--analysed-pages", "1"]).await;
    rig.template().await;
    let (status, several) = rig.connect(&rig.key, json!({"channel": "instagram"})).await;
    assert_eq!((status, &several["error"]), (409, &json!("profile_required")));
    let said = several["message"].as_str().unwrap();
    assert!(said.contains("17841400000000001 (shop), 17841400000000002 (shop2)."), "{said}");
    let (status, made) = rig.connect(&rig.key, json!({"channel": "instagram", "profile": PROFILES[1]})).await;
    assert_eq!((status, &made["handle"], &made["status"]), (200, &json!("shop2"), &json!("connected")), "{made}");
    assert_eq!((&made["missing_scopes"], &made["external_id"]), (&json!([]), &json!(PROFILES[1])));
    assert_ne!(made["subscribed_at"], Value::Null);
    assert_eq!(rig.network.ledger().await["subscribed"][PAGES[1]], json!(["feed"]));
    let path = format!("/api/v1/social/profiles/{}", made["id"]);

    // A comment comes by a hook, is approved, and the answer is at the network.
    let asked = json!({"channel": "instagram", "profile": PROFILES[1], "text": "¿Cuánto cuesta este vestido?"});
    let comment = rig.network.tell("comment", asked).await["id"].as_str().unwrap().to_owned();
    let held = rig.conversation(&comment, "held").await;
    let reply = format!("/api/v1/conversations/{}/reply", held["id"]);
    assert_eq!(rig.send(Method::POST, &reply, &rig.key, json!({"action": "approve"})).await.0, 200);
    rig.conversation(&comment, "sent").await;
    let answers = rig.network.ledger().await["answers"].clone();
    let [answer] = answers.as_array().unwrap().as_slice() else { panic!("{answers}") };
    assert_eq!((&answer["comment"], &answer["text"]), (&json!(comment), &json!("¡Hola!")));
    assert_eq!(answer["is_from_app"], json!(true));
    let shown = rig.service.process.json(&path, &rig.key).await;
    assert!(shown["last_event_at"].is_string() && shown["last_poll_at"].is_string(), "{shown}");

    // Nobody else sees or ends it, and it is nobody else's.
    assert_eq!(rig.service.process.json("/api/v1/social/profiles", &rig.stranger).await["data"], json!([]));
    for method in [Method::GET, Method::DELETE] {
        assert_eq!(rig.send(method, &path, &rig.stranger, Value::Null).await.0, 404);
    }
    let asked = json!({"channel": "instagram", "profile": PROFILES[1]});
    let (status, refused) = rig.connect(&rig.stranger, asked.clone()).await;
    assert_eq!((status, &refused["error"]), (409, &json!("profile_already_connected")));

    assert_eq!(rig.send(Method::DELETE, &path, &rig.key, Value::Null).await.0, 200);
    let ended = rig.service.process.json(&path, &rig.key).await;
    assert_eq!((&ended["status"], &ended["end_reason"]), (&json!("revoked"), &json!("manual")));
    assert_eq!((&ended["subscribed_at"], &ended["reconnect_needed"]), (&Value::Null, &json!(false)));
    assert_eq!(rig.network.ledger().await["subscribed"][PAGES[1]], json!([]));
    let sql = rig.service.db.client().await.unwrap();
    let left = "SELECT count(*) FROM social_accounts WHERE sealed_token IS NOT NULL OR poll_due_at IS NOT NULL";
    assert_eq!(sql.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
    // A hook of it is nobody's from now on.
    let value = json!({"id": "1", "text": "hola", "from": {"id": "9", "username": "ana"}, "media": {"id": "18"}});
    let entry = json!({"id": PROFILES[1], "changes": [{"field": "comments", "value": value}]});
    let body = json!({"object": "instagram", "entry": [entry]}).to_string();
    assert_eq!(crate::conversations::hook(&rig.service, &body, "dev-secret").await, 200);
    let waiting = "SELECT count(*) FROM social_hooks WHERE done_at IS NULL";
    rig.until("the hook is read", async || sql.query_one(waiting, &[]).await.unwrap().get::<_, i64>(0) == 0).await;
    let listed = rig.service.process.json("/api/v1/conversations", &rig.key).await;
    assert_eq!(listed["data"].as_array().unwrap().len(), 1, "{listed}");
    // Its owner may be another from now on.
    assert_eq!(rig.connect(&rig.stranger, asked).await.0, 200);
}

#[tokio::test]
async fn a_state_is_good_once_for_who_began_it() {
    let rig = Rig::start(&[]).await;
    let asked = json!({"channel": "facebook"});
    let invalid = |answer: (u16, Value)| assert_eq!((answer.0, &answer.1["error"]), (400, &json!("invalid_state")));
    let query = rig.agree(&rig.key, asked.clone()).await;
    invalid(rig.complete(&rig.stranger, &query).await);
    invalid(rig.complete(&rig.key, &query.replace("state=", "state=x")).await);
    invalid(rig.complete(&rig.key, &format!("{query}&state=2")).await);
    invalid(rig.complete(&rig.key, "code=c").await);
    let (status, _) =
        rig.send(Method::POST, "/api/v1/integrations/meta/complete", &rig.key, json!({"query": query})).await;
    assert!([400, 409].contains(&status), "an ad account is another authorization");
    let (status, made) = rig.complete(&rig.key, &query).await;
    assert_eq!((status, &made["external_id"]), (200, &json!(PAGES[0])));
    invalid(rig.complete(&rig.key, &query).await);

    let sql = rig.service.db.client().await.unwrap();
    let query = rig.agree(&rig.key, asked.clone()).await;
    let later = "UPDATE oauth_states SET expires_at = now() - interval '1 second'";
    assert_eq!(sql.execute(later, &[]).await.unwrap(), 1);
    invalid(rig.complete(&rig.key, &query).await);

    // Under a key it is completed once, and told again.
    let query = rig.agree(&rig.key, asked.clone()).await;
    let again = async || {
        let request = rig.service.process.request(Method::POST, COMPLETE).bearer_auth(&rig.key);
        let answer = request.header("idempotency-key", "k").json(&json!({"query": query})).send().await.unwrap();
        (answer.headers().contains_key("idempotent-replayed"), answer.json::<Value>().await.unwrap())
    };
    let (first, second) = (again().await, again().await);
    assert_eq!((first.0, second.0, &first.1), (false, true, &second.1));
    assert_eq!(first.1["id"], made["id"], "the same profile again");

    for (fault, value, said) in [("decline", 1, "did not agree"), ("withhold", 3, "pages_read_user_content")] {
        rig.network.tell("fault", json!({"fault": fault, "value": value})).await;
        let (status, refused) = rig.connect(&rig.key, asked.clone()).await;
        assert_eq!((status, &refused["error"]), (400, &json!("authorization_refused")));
        assert!(refused["message"].as_str().unwrap().contains(said), "{refused}");
    }
    rig.network.tell("fault", json!({"fault": "withhold", "value": 5})).await;
    let (status, made) = rig.connect(&rig.key, asked.clone()).await;
    assert_eq!((status, &made["missing_scopes"]), (200, &json!(["pages_manage_metadata"])), "{made}");
    assert_eq!(made["subscribed_at"], Value::Null);
    let query = rig.agree(&rig.key, asked.clone()).await;
    rig.network.tell("fault", json!({"fault": "server_error", "value": 503})).await;
    let (status, refused) = rig.complete(&rig.key, &query).await;
    assert_eq!((status, &refused["error"]), (503, &json!("provider_unavailable")));

    for (body, error) in [
        (json!({}), "missing_parameter"),
        (json!({"channel": "mercadolibre"}), "invalid_parameter"),
        (json!({"channel": "tiktok"}), "invalid_parameter"),
        (json!({"channel": "facebook", "profile": "my-shop"}), "invalid_parameter"),
    ] {
        let (status, refused) = rig.send(Method::POST, AUTHORIZE, &rig.key, body.clone()).await;
        assert_eq!((status, &refused["error"]), (400, &json!(error)), "{body}");
    }
    // No token or state is in what was logged or kept.
    let kept = "SELECT count(*) FROM social_accounts WHERE position('EAAB'::bytea IN sealed_token) > 0";
    assert_eq!(sql.query_one(kept, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_token_that_died_asks_for_a_new_connection_of_the_same_profile() {
    let rig = Rig::start(&[]).await;
    let (_, made) = rig.connect(&rig.key, json!({"channel": "instagram"})).await;
    let path = format!("/api/v1/social/profiles/{}", made["id"]);
    rig.network.tell("fault", json!({"fault": "revoke"})).await;
    let sql = rig.service.db.client().await.unwrap();
    sql.execute("UPDATE social_accounts SET poll_due_at = now()", &[]).await.unwrap();
    rig.until("the profile has ended", async || rig.service.process.json(&path, &rig.key).await["status"] == "revoked")
        .await;
    let ended = rig.service.process.json(&path, &rig.key).await;
    assert_eq!((&ended["end_reason"], &ended["reconnect_needed"]), (&json!("token_expired"), &json!(true)));
    let (status, again) = rig.connect(&rig.key, json!({"channel": "instagram"})).await;
    assert_eq!((status, &again["id"], &again["status"]), (200, &made["id"], &json!("connected")));
    // Both profiles of a page: its hooks go on while one of them is connected.
    let (_, page) = rig.connect(&rig.key, json!({"channel": "facebook"})).await;
    let page = format!("/api/v1/social/profiles/{}", page["id"]);
    assert_eq!(rig.send(Method::DELETE, &path, &rig.key, Value::Null).await.0, 200);
    assert_eq!(rig.network.ledger().await["subscribed"][PAGES[0]], json!(["feed"]));
    assert_eq!(rig.send(Method::DELETE, &page, &rig.key, Value::Null).await.0, 200);
    assert_eq!(rig.network.ledger().await["subscribed"][PAGES[0]], json!([]));
    assert_eq!(rig.send(Method::DELETE, &page, &rig.key, Value::Null).await.0, 200, "it has ended already");
}

#[tokio::test]
async fn without_an_app_no_profile_is_connected() {
    let service = Service::start().await;
    let key = service.key(service.account, "read,write");
    let answer = service.process.post(AUTHORIZE, &key, &json!({"channel": "instagram"})).await;
    assert_eq!(answer.status(), 409);
    assert_eq!(answer.json::<Value>().await.unwrap()["error"], json!("provider_not_configured"));
    let answer = service.process.post(COMPLETE, &key, &json!({"query": "code=c&state=s"})).await;
    assert_eq!(answer.json::<Value>().await.unwrap()["error"], json!("invalid_state"));
}
