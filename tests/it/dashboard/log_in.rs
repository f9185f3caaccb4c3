//! Logging in by password: what it tells nobody, and how it slows down who guesses.

use futures_util::future::join_all;

use super::{
    Dashboard,
    mails::{PASSWORD, field, log_in},
};

const EMAIL: &str = "ana@example.com";

/// A dashboard with a person who has a password, and the browser that they chose it with.
pub async fn with_person(dashboard: &Dashboard, email: &str, role: &str) -> super::Browser {
    let account = dashboard.service.account.to_string();
    let printed = dashboard.api(&["people", "invite", email, "--account", &account, "--role", role]);
    let link = printed.trim().strip_prefix(&dashboard.site()).unwrap().to_owned();
    let mut browser = dashboard.browser();
    let joined = browser.post(&link, &format!("password={}", field(PASSWORD))).await;
    assert_eq!(joined.status, 303, "{}", joined.text);
    browser
}

async fn failures(dashboard: &Dashboard, tries: i32) {
    let set = "UPDATE throttles SET tries = $1, last_at = now() - interval '1 hour', expires_at = now() + interval '1 day' WHERE tries > 0";
    assert_eq!(dashboard.sql.execute(set, &[&tries]).await.unwrap(), 2, "of the address and of the network");
}

#[tokio::test]
async fn a_wrong_address_and_a_wrong_password_are_answered_alike() {
    let dashboard = Dashboard::start().await;
    with_person(&dashboard, EMAIL, "viewer").await;
    let mut browser = dashboard.browser();
    let page = async |browser: &mut super::Browser, email: &str, password: &str| {
        let page = log_in(browser, email, password).await;
        let text = page.text.replace(email, "somebody");
        (page.status, text, page.header("set-cookie").map(str::to_owned))
    };
    let wrong = page(&mut browser, EMAIL, "wrong horse battery staple").await;
    assert!(wrong.0 == 422 && wrong.1.contains("don’t match") && wrong.2.is_none(), "{wrong:?}");
    assert_eq!(page(&mut browser, "eva@example.com", PASSWORD).await, wrong);
    assert_eq!(page(&mut browser, EMAIL, "").await, wrong);
    assert_eq!(page(&mut browser, EMAIL, &"x".repeat(200)).await, wrong);
    dashboard.sql.execute("UPDATE people SET disabled_at = now()", &[]).await.unwrap();
    assert_eq!(page(&mut dashboard.browser(), EMAIL, PASSWORD).await, wrong, "a person who is disabled");
}

#[tokio::test]
async fn logging_in_leads_on_and_to_no_other_site() {
    let dashboard = Dashboard::start().await;
    with_person(&dashboard, EMAIL, "viewer").await;
    for (next, expected) in [("%2Fprofit%3Fperiod%3D7d", "/profit?period=7d"), ("%2F%2Fevil.example", "/"), ("", "/")] {
        let mut browser = dashboard.browser();
        let fields = format!("email={}&password={}&next={next}", field(EMAIL), field(PASSWORD));
        let page = browser.post("/login", &fields).await;
        assert_eq!((page.status, page.header("location")), (303, Some(expected)));
        let cookies: Vec<_> = page.headers.get_all("set-cookie").iter().map(|line| line.to_str().unwrap()).collect();
        let session = cookies.iter().find(|line| line.starts_with("session=")).unwrap();
        assert!(!session.contains("Max-Age"), "not remembered: {session}");
    }
    let lasts = "SELECT bool_and(expires_at - created_at = interval '24 hours') FROM sessions WHERE id > 1";
    assert!(dashboard.sql.query_one(lasts, &[]).await.unwrap().get::<_, bool>(0));
}

#[tokio::test]
async fn who_guesses_waits_longer_and_longer_and_shuts_nobody_out() {
    let dashboard = Dashboard::start().await;
    let mut owner = with_person(&dashboard, EMAIL, "owner").await;
    let mut stranger = dashboard.browser();
    for _ in 0..5 {
        assert_eq!(log_in(&mut stranger, EMAIL, "wrong horse battery staple").await.status, 422);
    }
    failures(&dashboard, 9).await;
    assert_eq!(log_in(&mut stranger, EMAIL, "wrong horse battery staple").await.status, 422);
    // Half a minute to wait, even with the right one, and for every address from there.
    let refused = log_in(&mut stranger, EMAIL, PASSWORD).await;
    assert!(refused.status == 429 && refused.header("set-cookie").is_none(), "{}", refused.text);
    let wait: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((25..=33).contains(&wait), "{wait}");
    assert_eq!(log_in(&mut stranger, "eva@example.com", PASSWORD).await.status, 429);
    // A device that is known has its own counter.
    owner.post("/logout", "").await;
    assert_eq!(log_in(&mut owner, EMAIL, PASSWORD).await.status, 303);
    // After a hundred in a row only a link from a mail helps, but on that device.
    failures(&dashboard, 100).await;
    let ended = log_in(&mut stranger, EMAIL, PASSWORD).await;
    assert!(ended.status == 429 && ended.text.contains("by email"), "{}", ended.text);
    owner.post("/logout", "").await;
    assert_eq!(log_in(&mut owner, EMAIL, PASSWORD).await.status, 303);
    let printed = dashboard.api(&["people", "reset", EMAIL]);
    let link = printed.trim().strip_prefix(&dashboard.site()).unwrap().to_owned();
    assert_eq!(stranger.post(&link, "password=a+whole+new+pass+phrase").await.status, 303);
    let set = "UPDATE throttles SET last_at = now() - interval '1 hour'";
    dashboard.sql.execute(set, &[]).await.unwrap();
    assert_eq!(log_in(&mut stranger, EMAIL, "a whole new pass phrase").await.status, 303);
}

#[tokio::test]
async fn of_guesses_that_come_at_once_few_are_looked_at() {
    let dashboard = Dashboard::start().await;
    with_person(&dashboard, EMAIL, "owner").await;
    let guess = |number: usize| {
        let mut browser = dashboard.browser();
        async move { log_in(&mut browser, EMAIL, &format!("wrong horse battery {number}")).await.status }
    };
    let statuses = join_all((0..200).map(guess)).await;
    let count = |status: u16| statuses.iter().filter(|of| **of == status).count();
    assert_eq!(count(422) + count(429) + count(503), 200, "{statuses:?}");
    let tries = "SELECT max(tries) FROM throttles";
    let tries: i32 = dashboard.sql.query_one(tries, &[]).await.unwrap().get(0);
    assert!((5..=9).contains(&tries), "{tries} were looked at");
    assert!(count(429) >= 190, "{statuses:?}");
}

#[tokio::test]
async fn a_session_has_a_new_id_at_every_log_in_and_after_every_proof() {
    let dashboard = Dashboard::start().await;
    let mut browser = with_person(&dashboard, EMAIL, "owner").await;
    let planted = "session=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    let mut victim = dashboard.browser();
    victim.cookie = Some(planted.to_owned());
    assert_eq!(log_in(&mut victim, EMAIL, PASSWORD).await.status, 303);
    assert_ne!(victim.cookie.as_deref(), Some(planted));

    assert_eq!(browser.get("/settings/people").await.status, 200);
    dashboard.sql.execute("UPDATE sessions SET confirmed_at = now() - interval '15 minutes'", &[]).await.unwrap();
    for path in ["/settings/people", "/settings/security", "/settings/second-factor"] {
        let asked = browser.get(path).await;
        let expected = format!("/confirm?next={}", path.replace('/', "%2F"));
        assert_eq!((asked.status, asked.header("location")), (303, Some(&*expected)));
    }
    for (path, fields) in [
        ("/settings/people", "email=e%40example.com&role=owner"),
        ("/settings/people/withdraw", "email=e%40example.com"),
        ("/settings/people/1", "role=viewer"),
    ] {
        assert_eq!(browser.post(path, fields).await.header("location"), Some("/confirm?next=%2Fsettings%2Fpeople"));
    }
    let mut thief = browser.clone();
    let wrong = browser.post("/confirm", "password=wrong+horse+battery+staple&next=%2Fsettings%2Fpeople").await;
    assert_eq!((wrong.status, wrong.header("set-cookie")), (422, None));
    let fields = format!("password={}&next=%2Fsettings%2Fpeople", field(PASSWORD));
    let proved = browser.post("/confirm", &fields).await;
    assert_eq!((proved.status, proved.header("location")), (303, Some("/settings/people")));
    assert_ne!(browser.cookie, thief.cookie);
    assert!(browser.get("/settings/people").await.status == 200 && !thief.is_in().await);
}

#[tokio::test]
async fn a_new_password_logs_all_others_out() {
    let dashboard = Dashboard::start().await;
    let mut browser = with_person(&dashboard, EMAIL, "viewer").await;
    let mut other = dashboard.browser();
    assert_eq!(log_in(&mut other, EMAIL, PASSWORD).await.status, 303);
    let refused = browser.post("/settings/password", "password=too+short").await;
    assert!(refused.text.contains("fewer than 15") && other.is_in().await);
    let saved = browser.post("/settings/password", "password=a+whole+new+pass+phrase").await;
    assert_eq!((saved.status, saved.header("location")), (303, Some("/settings/security?done=password")));
    let page = browser.get("/settings/security?done=password").await.text;
    assert!(page.contains("password is changed"), "{page}");
    assert!(browser.is_in().await && !other.is_in().await);
    assert_eq!(log_in(&mut other, EMAIL, PASSWORD).await.status, 422);
}

#[tokio::test]
async fn no_password_address_or_code_is_in_the_log() {
    let dashboard = Dashboard::start_with(&[("BAS_LOG", "debug")]).await;
    let mut browser = with_person(&dashboard, EMAIL, "owner").await;
    log_in(&mut browser, EMAIL, "wrong horse battery staple").await;
    log_in(&mut browser, EMAIL, PASSWORD).await;
    browser.post("/reset", "email=ana%40example.com").await;
    browser.post("/settings/password", "password=a+whole+new+pass+phrase").await;
    browser.post("/login/code", "code=123456").await;
    let (session, device) = (browser.token().to_owned(), browser.others["device"].clone());
    let last = [("x-request-id", "the-last-request")];
    browser.send(reqwest::Method::GET, "/login", &last, "").await;
    let lines = dashboard.service.process.lines_until(|line| {
        line["message"] == "request" && line["request_id"] == "the-last-request" && line["route"] == "/login"
    });
    assert!(lines.len() > 6);
    let device = device.strip_prefix("device=").unwrap();
    for secret in ["ana@", "example.com", "horse", "pass phrase", "pass+phrase", "argon2id", "123456", &session, device]
    {
        let told: Vec<_> = lines.iter().filter(|line| line.contains(secret)).collect();
        assert!(told.is_empty(), "{secret} is in {told:?}");
    }
}
