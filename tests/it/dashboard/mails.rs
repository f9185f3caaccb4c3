//! Mails through a server that takes nothing but what the standard allows (RFC 5321, RFC 5322), and what comes of their links.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::Duration,
};

use reqwest::Method;

use super::{Browser, Dashboard};
use crate::service::{free_port, run};

/// A mail that is waited for longer than this does not come.
const WITHIN: Duration = Duration::from_secs(60);

pub struct Mail {
    pub to: String,
    pub subject: String,
    pub text: String,
}

impl Mail {
    /// The path of the link in it.
    pub fn link(&self, dashboard: &Dashboard) -> String {
        let mut links = self.text.lines().filter_map(|line| line.strip_prefix(&dashboard.site()));
        let link = links.next().unwrap_or_else(|| panic!("no link in {}", self.text)).to_owned();
        assert_eq!(links.next(), None);
        link
    }
}

/// A server that takes mails.
pub struct Receiver {
    pub url: String,
    mails: mpsc::Receiver<Mail>,
}

impl Receiver {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let (sender, mails) = mpsc::channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, sender) = (stream.unwrap(), sender.clone());
                thread::spawn(move || talk(stream, &sender));
            }
        });
        Self { url, mails }
    }

    pub fn next(&self) -> Mail {
        self.mails.recv_timeout(WITHIN).expect("no mail came")
    }

    /// Whether nothing has come that was not looked at.
    pub fn is_empty(&self) -> bool {
        self.mails.try_recv().is_err()
    }
}

/// A line, which ends as the standard says.
fn line(reader: &mut impl BufRead) -> String {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).unwrap();
    let line = line.strip_suffix(b"\r\n").unwrap_or_else(|| panic!("a line ends in CRLF: {line:?}"));
    assert!(line.len() <= 998 && !line.contains(&b'\r') && line.is_ascii(), "{line:?}");
    String::from_utf8(line.to_vec()).unwrap()
}

fn path<'a>(line: &'a str, verb: &str) -> &'a str {
    let rest = line.strip_prefix(verb).unwrap_or_else(|| panic!("{verb} is next, and not {line}"));
    let (address, parameters) = rest.strip_prefix('<').unwrap().split_once('>').unwrap();
    assert!(parameters.is_empty() && address.contains('@'), "{line}");
    address
}

fn talk(mut stream: TcpStream, sender: &mpsc::Sender<Mail>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut say = |text: &str| stream.write_all(format!("{text}\r\n").as_bytes()).unwrap();
    say("220 mail.example.com ESMTP");
    assert_eq!(line(&mut reader), "EHLO example.com", "the sender's domain, not an address of this machine");
    say("250 mail.example.com");
    let from = line(&mut reader);
    assert_eq!(path(&from, "MAIL FROM:"), "hello@example.com");
    say("250 OK");
    let rcpt = line(&mut reader);
    let to = path(&rcpt, "RCPT TO:").to_owned();
    say("250 OK");
    assert_eq!(line(&mut reader), "DATA");
    say("354 go on");
    let mut lines = Vec::new();
    loop {
        let next = line(&mut reader);
        if next == "." {
            break;
        }
        lines.push(next.strip_prefix("..").map_or(next.clone(), |rest| format!(".{rest}")));
    }
    let mail = read(&lines);
    assert_eq!(mail.to, to, "the envelope and the letter have one addressee");
    sender.send(mail).unwrap();
    say("250 OK");
}

/// The letter: its headers, each once, and its body.
fn read(lines: &[String]) -> Mail {
    let end = lines.iter().position(String::is_empty).unwrap();
    let header = |name: &str| {
        let of: Vec<_> = lines[..end].iter().filter_map(|line| line.strip_prefix(&format!("{name}: "))).collect();
        assert_eq!(of.len(), 1, "{name}: {of:?}");
        of[0].to_owned()
    };
    for name in ["Date", "MIME-Version"] {
        header(name);
    }
    assert!(header("Message-ID").ends_with("@example.com>"));
    assert_eq!(header("From"), "Example <hello@example.com>");
    assert_eq!(header("Auto-Submitted"), "auto-generated");
    assert!(header("Content-Type").starts_with("text/plain; charset=utf-8"));
    let text = match header("Content-Transfer-Encoding").as_str() {
        "7bit" => lines[end + 1..].join("\n"),
        "quoted-printable" => quoted_printable(&lines[end + 1..].join("\n")),
        other => panic!("{other}"),
    };
    Mail { to: header("To"), subject: header("Subject"), text }
}

fn quoted_printable(text: &str) -> String {
    let text = text.replace("=\n", "");
    let mut parts = text.split('=');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}

/// A dashboard whose mails come here.
pub async fn with_mail(settings: &[(&str, &str)]) -> (Dashboard, Receiver) {
    let receiver = Receiver::start();
    let own = [
        ("BAS_SMTP_URL", receiver.url.as_str()),
        ("BAS_MAIL_FROM", "Example <hello@example.com>"),
        ("BAS_LOG", "debug"),
    ];
    (Dashboard::start_working(&[&own, settings].concat()).await, receiver)
}

pub const PASSWORD: &str = "correct horse battery staple";

/// A text as the value of a field.
pub fn field(text: &str) -> String {
    text.replace('%', "%25").replace('+', "%2B").replace('&', "%26").replace('/', "%2F").replace(' ', "+")
}

/// Signs somebody up, and gives the browser that is logged in then.
pub async fn sign_up(dashboard: &Dashboard, receiver: &Receiver, email: &str, shop: &str) -> Browser {
    let mut browser = dashboard.browser();
    assert_eq!(browser.post("/signup", &format!("email={}", field(email))).await.status, 200);
    let link = receiver.next().link(dashboard);
    let fields = format!("shop={}&currency=ars&zone=America%2FBogota&password={}", field(shop), field(PASSWORD));
    let page = browser.post(&link, &fields).await;
    assert_eq!((page.status, page.header("location")), (303, Some("/")), "{}", page.text);
    browser
}

/// Logs in.
pub async fn log_in(browser: &mut Browser, email: &str, password: &str) -> super::Page {
    browser.post("/login", &format!("email={}&password={}&remember=yes", field(email), field(password))).await
}

#[tokio::test]
async fn somebody_signs_up_by_a_link_from_a_mail() {
    let (dashboard, receiver) = with_mail(&[]).await;
    let mut browser = dashboard.browser();
    let asked = browser.post("/signup", "email=Ana%40Example.com").await;
    assert!(asked.status == 200 && asked.text.contains("Check your email"), "{}", asked.text);
    let mail = receiver.next();
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), ("ana@example.com", "Create your account"));
    let link = mail.link(&dashboard);
    for _ in 0..2 {
        let page = browser.get(&link).await;
        assert!(page.status == 200 && page.text.contains("name=\"shop\""), "{}", page.text);
    }
    for (fields, fault) in [
        ("shop=&currency=ARS&zone=UTC&password=x", "1 to 200 characters"),
        ("shop=Casa&currency=pesos&zone=UTC&password=x", "three letters"),
        ("shop=Casa&currency=ARS&zone=Mars&password=x", "America/Sao_Paulo"),
        ("shop=Casa&currency=ARS&zone=UTC&password=short", "fewer than 15"),
        ("shop=Casaclara&currency=ARS&zone=UTC&password=casaclara+casaclara", "first that would be tried"),
    ] {
        let page = browser.post(&link, fields).await;
        assert!(page.status == 422 && page.text.contains(fault), "{fields}: {} {}", page.status, page.text);
    }
    let fields = format!("shop=Casa+Clara&currency=ars&zone=America%2FBogota&password={}", field(PASSWORD));
    assert_eq!(browser.post(&link, &fields).await.status, 303);
    let overview = browser.get("/").await;
    assert!(overview.status == 200 && overview.text.contains("Casa Clara"), "{}", overview.text);
    let made = "SELECT string_agg(concat_ws(' ', mode, plan, currency, timezone, balance), ', ' ORDER BY mode)
        FROM accounts JOIN credit_balances ON account_id = id WHERE name = 'Casa Clara'";
    let made: String = dashboard.sql.query_one(made, &[]).await.unwrap().get(0);
    assert_eq!(made, "live free ARS America/Bogota 500, test free ARS America/Bogota 500");
    // The link is used up, and nothing of it is left.
    assert!(browser.get(&link).await.text.contains("no longer works"));
    assert_eq!(dashboard.browser().post(&link, &fields).await.header("set-cookie"), None);
    let left = "SELECT (SELECT count(*) FROM links) + (SELECT count(*) FROM mails)";
    assert_eq!(dashboard.sql.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 0);
    let mut elsewhere = dashboard.browser();
    assert_eq!(log_in(&mut elsewhere, "ana@example.com", PASSWORD).await.status, 303);
    assert!(elsewhere.is_in().await);
}

#[tokio::test]
async fn whether_somebody_has_an_address_shows_in_their_mail_alone() {
    let (dashboard, receiver) = with_mail(&[]).await;
    sign_up(&dashboard, &receiver, "ana@example.com", "Casa Clara").await;
    let mut browser = dashboard.browser();
    for path in ["/signup", "/reset"] {
        let known = browser.post(path, "email=ana%40example.com").await;
        let unknown = browser.post(path, "email=eva%40example.com").await;
        assert_eq!((known.status, &known.text), (unknown.status, &unknown.text), "{path}");
    }
    let mut mails = [receiver.next(), receiver.next(), receiver.next()];
    mails.sort_by(|a, b| (&a.to, &a.subject).cmp(&(&b.to, &b.subject)));
    let told: Vec<_> = mails.iter().map(|mail| (mail.to.as_str(), mail.subject.as_str())).collect();
    let expected = [
        ("ana@example.com", "Choose a new password"),
        ("ana@example.com", "You have an account already"),
        ("eva@example.com", "Create your account"),
    ];
    assert_eq!(told, expected);
    assert!(mails[1].link(&dashboard).starts_with("/reset/"));
    // Of the fourth nothing comes: it is looked at and gone.
    dashboard.until("SELECT count(*) = 0 FROM mails").await;
    assert!(receiver.is_empty());
}

#[tokio::test]
async fn a_new_password_ends_all_sessions_and_its_link_works_once() {
    let (dashboard, receiver) = with_mail(&[]).await;
    let mut browser = sign_up(&dashboard, &receiver, "ana@example.com", "Casa Clara").await;
    let mut other = dashboard.browser();
    assert_eq!(other.post("/reset", "email=ana%40example.com").await.status, 200);
    assert_eq!(other.post("/reset", "email=ana%40example.com").await.status, 200);
    let links = [receiver.next(), receiver.next()].map(|mail| mail.link(&dashboard));
    let new = "password=a+whole+new+pass+phrase";
    assert_eq!(other.post(&links[0], "password=ana%40example.com").await.status, 422);
    assert_eq!(other.post(&links[0], new).await.header("location"), Some("/login"));
    assert!(!browser.is_in().await && !other.is_in().await);
    for link in &links {
        assert!(other.get(link).await.text.contains("no longer works"), "{link}");
    }
    assert_eq!(receiver.next().subject, "Your password was changed");
    assert_eq!(log_in(&mut other, "ana@example.com", PASSWORD).await.status, 422);
    assert_eq!(log_in(&mut other, "ana@example.com", "a whole new pass phrase").await.status, 303);
}

#[tokio::test]
async fn a_new_address_is_confirmed_before_it_counts() {
    let (dashboard, receiver) = with_mail(&[]).await;
    let mut browser = sign_up(&dashboard, &receiver, "ana@example.com", "Casa Clara").await;
    let sent = browser.post("/settings/address", "email=ana.ruiz%40example.com").await;
    // A reload of what comes next sends nothing again.
    assert_eq!((sent.status, sent.header("location")), (303, Some("/settings/security?done=address")));
    let page = browser.get("/settings/security?done=address").await.text;
    assert!(page.contains("on its way to the new address"), "{page}");
    let mail = receiver.next();
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), ("ana.ruiz@example.com", "Confirm your new email address"));
    assert_eq!(log_in(&mut dashboard.browser(), "ana.ruiz@example.com", PASSWORD).await.status, 422);
    let link = mail.link(&dashboard);
    assert!(dashboard.browser().get(&link).await.text.contains("<form"));
    assert_eq!(dashboard.browser().post(&link, "").await.header("location"), Some("/login"));
    let told = receiver.next();
    assert_eq!((told.to.as_str(), told.subject.as_str()), ("ana@example.com", "Your email address was changed"));
    assert!(!browser.is_in().await);
    assert_eq!(log_in(&mut browser, "ana@example.com", PASSWORD).await.status, 422);
    assert_eq!(log_in(&mut browser, "ana.ruiz@example.com", PASSWORD).await.status, 303);
}

#[tokio::test]
async fn nobody_keeps_another_from_a_new_password() {
    let (dashboard, receiver) = with_mail(&[("BAS_TRUSTED_PROXIES", "127.0.0.1")]).await;
    let mut ana = sign_up(&dashboard, &receiver, "ana@example.com", "Casa Clara").await;
    let fields = "email=eva%40example.com&role=viewer";
    for path in ["/settings/people", "/settings/address"] {
        let mut waits = false;
        for _ in 0..8 {
            waits |= ana.post(path, fields).await.text.contains("Too many emails were asked for");
        }
        assert!(waits, "{path}");
    }
    let mut browser = dashboard.browser();
    let mut ask = async |from: &str, path: &str| {
        let headers = [("sec-fetch-site", "same-origin"), ("x-forwarded-for", from)];
        browser.send(Method::POST, path, &headers, "email=eva%40example.com").await.status
    };
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(ask("203.0.113.9", "/signup").await);
    }
    assert!(statuses.contains(&429), "{statuses:?}");
    assert_eq!(ask("203.0.113.7", "/reset").await, 200);
    drop(receiver);
}

#[tokio::test]
async fn who_asks_for_many_mails_has_to_wait() {
    let (dashboard, receiver) = with_mail(&[]).await;
    let mut browser = dashboard.browser();
    let mut statuses = Vec::new();
    for _ in 0..8 {
        statuses.push(browser.post("/signup", "email=ana%40example.com").await.status);
    }
    assert_eq!(statuses[..5], [200; 5]);
    assert!(statuses.contains(&429), "{statuses:?}");
    drop(receiver);
}

#[tokio::test]
async fn without_a_way_to_send_mails_it_is_said_and_the_command_line_helps() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.browser();
    for path in ["/signup", "/reset"] {
        let page = browser.get(path).await;
        assert!(page.text.contains("sends no email") && !page.text.contains("<form"), "{}", page.text);
        assert!(browser.post(path, "email=ana%40example.com").await.text.contains("sends no email"));
    }
    assert_eq!(browser.get("/outbox").await.status, 404);
    let account = dashboard.service.account.to_string();
    let printed = dashboard.api(&["people", "invite", "ana@example.com", "--account", &account, "--role", "owner"]);
    let link = printed.trim().strip_prefix(&dashboard.site()).unwrap().to_owned();
    let joined = browser.post(&link, &format!("password={}", field(PASSWORD))).await;
    assert_eq!((joined.status, joined.header("location")), (303, Some("/")), "{}", joined.text);
    assert!(browser.is_in().await);
    assert!(dashboard.api(&["people", "list", "--account", &account]).contains("owner   ana@example.com"));
    assert!(dashboard.api(&["sessions", "end", "ana@example.com"]).contains("logged out"));
    assert!(!browser.is_in().await);
    let printed = dashboard.api(&["people", "reset", "ana@example.com"]);
    let link = printed.trim().strip_prefix(&dashboard.site()).unwrap().to_owned();
    assert_eq!(browser.post(&link, "password=a+whole+new+pass+phrase").await.header("location"), Some("/login"));
    assert_eq!(log_in(&mut browser, "ana@example.com", "a whole new pass phrase").await.status, 303);
    dashboard.api(&["people", "disable", "ana@example.com"]);
    assert!(!browser.is_in().await);
    assert_eq!(log_in(&mut browser, "ana@example.com", "a whole new pass phrase").await.status, 422);
    dashboard.api(&["people", "disable", "ana@example.com", "--undo"]);
    assert_eq!(log_in(&mut browser, "ana@example.com", "a whole new pass phrase").await.status, 303);
}

#[tokio::test]
async fn who_is_not_invited_cannot_sign_up_where_that_is_closed() {
    let (dashboard, receiver) = with_mail(&[("BAS_SIGNUP", "invite")]).await;
    let page = dashboard.browser().post("/signup", "email=ana%40example.com").await;
    assert!(page.text.contains("by invitation"), "{}", page.text);
    assert!(!dashboard.browser().get("/login").await.text.contains("/signup"));
    let queued = "SELECT count(*) FROM mails";
    assert_eq!(dashboard.sql.query_one(queued, &[]).await.unwrap().get::<_, i64>(0), 0);
    drop(receiver);
}

impl Dashboard {
    /// A service with everything that works in the background.
    async fn start_working(settings: &[(&str, &str)]) -> Self {
        Self::start_as(&["up", "--no-demo"], format!("127.0.0.1:{}", free_port()), settings).await
    }

    /// What a command prints.
    pub fn api(&self, arguments: &[&str]) -> String {
        run(self.service.api(arguments).env("BAS_DASHBOARD_LISTEN", &self.listen))
    }

    /// Waits until the database says so.
    pub async fn until(&self, question: &str) {
        let asked = async {
            while !self.sql.query_one(question, &[]).await.unwrap().get::<_, bool>(0) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(WITHIN, asked).await.unwrap_or_else(|_| panic!("{question} did not come about"));
    }
}
