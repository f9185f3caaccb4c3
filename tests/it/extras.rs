//! What the demo shop lacks, made by the forms of the pages: an alert rule, a webhook with a delivery that failed, an API key,
//! files, lines of one of which were refused, and a comment whose answer waits for a person.

use std::time::{Duration, Instant};

use reqwest::{Response, redirect::Policy};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_postgres::Client;

use crate::service::{Process, Service, api, run};

/// Far above what an import and its jobs take on a busy machine.
const WITHIN: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(100);

/// A receiver of webhooks that answers each request with the next status, and the last one for ever; its port.
pub async fn receiver(statuses: &'static [u16]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut made = 0;
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut read = Vec::new();
            while !String::from_utf8_lossy(&read).ends_with("}}") {
                let mut chunk = [0; 4096];
                let count = stream.read(&mut chunk).await.unwrap();
                read.extend_from_slice(&chunk[..count]);
                if count == 0 {
                    break;
                }
            }
            let status = statuses[made.min(statuses.len() - 1)];
            made += 1;
            let answer =
                format!("HTTP/1.1 {status} X\r\ncontent-length: 14\r\nconnection: close\r\n\r\n<b>answer</b>\n");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    port
}

/// The body of the form that sends a file, whose parts `edge` parts.
pub fn file_form(kind: &str, name: &str, content: &[u8]) -> Vec<u8> {
    let part = |about: &str| format!("--edge\r\ncontent-disposition: form-data; name={about}\r\n");
    let mut body = format!("{}\r\n{kind}\r\n", part("\"kind\""));
    body += &part(&format!("\"file\"; filename=\"{name}\""));
    body += "content-type: text/csv\r\n\r\n";
    [body.as_bytes(), content, b"\r\n--edge--\r\n"].concat()
}

/// An owner of an account, logged in.
pub struct Owner<'a> {
    pub service: &'a Service,
    pub sql: &'a Client,
    pub site: &'a str,
    pub account: i64,
    /// `name=value`.
    pub cookie: &'a str,
}

impl Owner<'_> {
    /// Adds everything, called `name` where it has a name; the webhook's requests go to this port of the machine, which the
    /// service has to allow. Gives the addresses that no link leads to, each with the cookie that it is opened with.
    pub async fn add_extras(&self, name: &str, receiver: u16) -> Vec<(String, String)> {
        let mut found = self.files(name).await;
        let rule = format!("name={name}&metric=orders&comparator=lt&threshold=2&window=24&severity=high&cooldown=0");
        found.push(format!("/alerts?{rule}"));
        let made = location(&self.post("/alerts", &rule).await);
        found.push(made.split('?').next().unwrap().to_owned());
        found.extend(self.webhook(receiver).await);
        found.extend(self.conversation(name).await);
        assert_eq!(self.post("/keys", &format!("name={name}&ends=90&read=on")).await.status(), 200);
        let mut found: Vec<_> = found.into_iter().map(|address| (address, self.cookie.to_owned())).collect();
        found.push(("/confirm?next=%2Fkeys".to_owned(), self.late_session().await));
        found
    }

    /// One that is imported without one of its lines, one that nothing of is known yet, and one that cannot be read.
    async fn files(&self, name: &str) -> Vec<String> {
        let products = "sku,name,price\nEXTRA-1,Extra,5.20\nEXTRA-2,Extra,dear\n";
        let imported = self.send_file("products", &format!("{name}-products.csv"), products.as_bytes()).await;
        let columns = "map-sku=sku&map-name=name&map-price=price";
        assert_eq!(self.post(&imported, columns).await.status(), 303);
        let worker = Process::start(api(&self.service.db.url(), &self.service.folder).arg("work"));
        let begun = Instant::now();
        // It is looked at again by itself until its jobs have run.
        while self.get(&imported).await.headers().contains_key("refresh") {
            assert!(begun.elapsed() < WITHIN, "the file is not imported");
            tokio::time::sleep(PAUSE).await;
        }
        drop(worker);
        let orders = "Pedido;Producto;Unidades;Cuando;Precio\nP1;MUG;2;never;10,50\n";
        let unknown = self.send_file("orders", &format!("{name}-pedidos.csv"), orders.as_bytes()).await;
        let unreadable = self.send_file("stock", &format!("{name}-utf16.csv"), b"\xFF\xFEs\0k\0u\0").await;
        vec![format!("{imported}/rejects.csv"), imported, unknown, unreadable]
    }

    /// The address of a delivery that failed, and of a period to send again.
    async fn webhook(&self, receiver: u16) -> [String; 2] {
        let fields = format!("url=http%3A%2F%2F127.0.0.1%3A{receiver}%2Fhook&which=all");
        assert_eq!(self.post("/webhooks", &fields).await.status(), 200);
        let newest = "SELECT max(id) FROM webhook_subscriptions WHERE account_id = $1";
        let id: i64 = self.sql.query_one(newest, &[&self.account]).await.unwrap().get(0);
        let mut deliveries = Vec::new();
        for event in ["credits.low", "ai.paused"] {
            let sent = self.post(&format!("/webhooks/{id}/test"), &format!("event={event}")).await;
            deliveries.push(location(&sent));
        }
        [deliveries.swap_remove(0), format!("/webhooks/{id}/replay?from=2020-01-01&to=2099-01-01&which=all")]
    }

    /// A profile, a template with a version in use and a draft, and a conversation that the bot would answer with it.
    async fn conversation(&self, name: &str) -> [String; 2] {
        let profile = "INSERT INTO social_accounts (account_id, channel, external_id, handle, connected_at)
            VALUES ($1, 'instagram', '17841400000000009', $2, now())";
        self.sql.execute(profile, &[&self.account, &name]).await.unwrap();
        let limits = "threshold=0.95&per_user_day=3&per_post_hour=30&per_account_hour=60&auto=price_question";
        let set = format!("mode=approve&{limits}&opt_out_words={name}&mon=09:00-13:00,15:00-19:00");
        assert_eq!(self.post("/conversations/settings", &set).await.status(), 303);
        let about = format!("name={name}&category=price_question&language=es");
        let made = location(&self.post("/conversations/templates", &format!("{about}&variation1=Hola")).await);
        let template = made.split('?').next().unwrap().to_owned();
        location(&self.post(&format!("{template}/state"), "state=approved&version=1").await);
        location(&self.post(&template, &format!("{about}&variation1=Hola&variation2=Buenas")).await);
        let begun = "WITH began AS (
                INSERT INTO conversations (account_id, channel, external_id, social_account_id, author_external_id, username,
                    category, language, decided_comment_id, position, messages_count, waiting_since, created_at, updated_at)
                VALUES ($1, 'instagram', $2, 1, '1000001', $2, 'price_question', 'es', $2, 0, 1, now(), now(), now())
                RETURNING account_id, id),
            said AS (
                INSERT INTO conversation_messages (account_id, conversation_id, channel, external_id, direction, author, body,
                    fingerprint, sent_at)
                SELECT account_id, id, 'instagram', $2, 'in', 'customer', '<b>precio</b>', sha256(''), now() FROM began),
            decided AS (
                INSERT INTO auto_replies (account_id, channel, comment_id, conversation_id, state, reason, author, actor, mode,
                    category, language, confidence, hits, comment_hash, template_id, template_version, message, decided_at)
                SELECT account_id, 'instagram', $2, id, 'held', 'needs_approval', 'bot', 'bot', 'approve', 'price_question',
                    'es', 0.97, '{precio}', sha256(''), $3, 1, 'Hola', now() FROM began)
            SELECT id FROM began";
        let template_id: i64 = template.rsplit('/').next().unwrap().parse().unwrap();
        let id: i64 = self.sql.query_one(begun, &[&self.account, &name, &template_id]).await.unwrap().get(0);
        let newest = "UPDATE conversations SET position = (SELECT max(id) FROM conversation_messages
            WHERE account_id = $1 AND conversation_id = $2) WHERE account_id = $1 AND id = $2";
        assert_eq!(self.sql.execute(newest, &[&self.account, &id]).await.unwrap(), 1);
        [template, format!("/conversations/{id}")]
    }

    /// The cookie of a session whose owner has to prove again who it is.
    async fn late_session(&self) -> String {
        let listen = self.site.strip_prefix("http://").unwrap();
        let mut open = self.service.api(&["dashboard", "open", "--account", &self.account.to_string()]);
        let link = run(open.env("BAS_DASHBOARD_LISTEN", listen));
        let entered = self.post(link.trim().strip_prefix(self.site).unwrap(), "").await;
        let late = "UPDATE sessions SET confirmed_at = now() - interval '16 minutes'
            WHERE created_at = (SELECT max(created_at) FROM sessions)";
        assert_eq!(self.sql.execute(late, &[]).await.unwrap(), 1);
        let cookie = entered.headers().get("set-cookie").unwrap().to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    async fn get(&self, path: &str) -> Response {
        let request = client().get(format!("{}{path}", self.site)).header("cookie", self.cookie);
        request.header("sec-fetch-site", "same-origin").header("sec-fetch-mode", "navigate").send().await.unwrap()
    }

    async fn post(&self, path: &str, fields: &str) -> Response {
        self.send(path, "application/x-www-form-urlencoded", fields.as_bytes().to_vec()).await
    }

    /// Gives the address of its page.
    async fn send_file(&self, kind: &str, name: &str, content: &[u8]) -> String {
        let form = file_form(kind, name, content);
        location(&self.send("/data", "multipart/form-data; boundary=edge", form).await)
    }

    async fn send(&self, path: &str, kind: &str, body: Vec<u8>) -> Response {
        let request = client().post(format!("{}{path}", self.site)).header("content-type", kind).body(body);
        request.header("cookie", self.cookie).header("sec-fetch-site", "same-origin").send().await.unwrap()
    }
}

fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().redirect(Policy::none()).build().unwrap()
}

fn location(response: &Response) -> String {
    assert_eq!(response.status(), 303);
    response.headers().get("location").unwrap().to_str().unwrap().to_owned()
}
