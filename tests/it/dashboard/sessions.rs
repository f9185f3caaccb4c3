//! How a session begins and ends.

use super::{Dashboard, ROUTES};

#[tokio::test]
async fn a_link_opens_once_and_by_its_button_alone() {
    let dashboard = Dashboard::start().await;
    let link = dashboard.link(dashboard.service.account);
    let mut browser = dashboard.browser();
    for _ in 0..3 {
        let page = browser.get(&link).await;
        assert!(page.status == 200 && page.text.contains("<form method=\"post\">"), "{}", page.text);
        assert!(page.text.contains("<h1>Open the shop Shop</h1>"), "{}", page.text);
        assert_eq!(page.header("set-cookie"), None);
    }
    let entered = browser.post(&link, "").await;
    assert_eq!((entered.status, entered.header("location")), (303, Some("/")));
    let (_, attributes) = entered.header("set-cookie").unwrap().split_once("; ").unwrap();
    assert_eq!(attributes, "HttpOnly; SameSite=Lax; Path=/; Max-Age=2592000");
    assert!(browser.cookie.as_ref().unwrap().starts_with("session="));
    let overview = browser.get("/").await;
    assert!(overview.status == 200 && overview.text.contains("Shop"), "{}", overview.text);

    let mut second = dashboard.browser();
    let page = second.get(&link).await;
    assert!(page.status == 200 && !page.text.contains("<form"), "{}", page.text);
    let again = second.post(&link, "").await;
    assert_eq!((again.status, again.header("location"), again.header("set-cookie")), (303, Some(&*link), None));
    assert!(!second.get("/enter/nonsense").await.text.contains("<form"));
    assert_eq!(second.post("/enter/nonsense", "").await.status, 404);
    assert!(!second.is_in().await && browser.is_in().await);
}

#[tokio::test]
async fn a_link_opens_the_account_that_it_was_made_for() {
    let dashboard = Dashboard::start().await;
    let sandbox = "SELECT s.id FROM accounts s JOIN accounts a USING (user_id) WHERE s.mode = 'test' AND a.id = $1";
    let sandbox: i64 = dashboard.sql.query_one(sandbox, &[&dashboard.service.account]).await.unwrap().get(0);
    for (account, expected) in [(dashboard.service.account, "live"), (sandbox, "test")] {
        dashboard.owner(account).await;
        let newest = "SELECT mode FROM sessions ORDER BY id DESC LIMIT 1";
        let mode: String = dashboard.sql.query_one(newest, &[]).await.unwrap().get(0);
        assert_eq!(mode, expected);
    }
}

#[tokio::test]
async fn a_link_that_is_too_old_opens_nothing() {
    let dashboard = Dashboard::start().await;
    let link = dashboard.link(dashboard.service.account);
    dashboard.sql.execute("UPDATE links SET expires_at = now()", &[]).await.unwrap();
    let mut browser = dashboard.browser();
    assert!(!browser.get(&link).await.text.contains("<form"));
    assert_eq!(browser.post(&link, "").await.header("set-cookie"), None);
}

#[tokio::test]
async fn a_link_lets_nobody_in_who_may_not_log_in() {
    let dashboard = Dashboard::start().await;
    let owner = "owner@localhost.localdomain";
    let before = dashboard.link(dashboard.service.account);
    let mut browser = dashboard.browser();
    let mut refused = async |link: &str| {
        let refused = browser.post(link, "").await;
        assert_eq!((refused.status, refused.header("location"), refused.header("set-cookie")), (303, Some(link), None));
    };
    // While the right to log in is being taken.
    let during = dashboard.link(dashboard.service.account);
    dashboard.sql.execute("UPDATE people SET disabled_at = now()", &[]).await.unwrap();
    refused(&during).await;
    dashboard.api(&["people", "disable", owner]);
    refused(&before).await;
    let open = dashboard.service.api(&["dashboard", "open"]).output().unwrap();
    let said = String::from_utf8(open.stderr).unwrap();
    assert!(!open.status.success() && open.stdout.is_empty(), "{said}");
    assert!(said.contains(&format!("api people disable {owner} --undo")), "{said}");
    dashboard.api(&["people", "disable", owner, "--undo"]);
    assert!(!browser.get(&before).await.text.contains("<form"), "it ended with the right to log in");
    let begun = "SELECT count(*) FROM sessions";
    assert_eq!(dashboard.sql.query_one(begun, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_cookie_that_was_planted_never_becomes_a_session() {
    let dashboard = Dashboard::start().await;
    let planted = "session=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    let mut browser = dashboard.browser();
    browser.cookie = Some(planted.to_owned());
    let mut planter = browser.clone();
    assert!(!browser.is_in().await);
    assert_eq!(browser.post(&dashboard.link(dashboard.service.account), "").await.status, 303);
    assert!(browser.is_in().await);
    assert_ne!(browser.cookie.as_deref(), Some(planted), "the id of a session is the server's");
    assert!(!planter.is_in().await);
    // Nor does the stored form of an id open anything.
    let hash = "SELECT rtrim(translate(encode(hash, 'base64'), '+/', '-_'), '=') FROM sessions";
    let stored: String = dashboard.sql.query_one(hash, &[]).await.unwrap().get(0);
    planter.cookie = Some(format!("session={stored}"));
    assert!(!planter.is_in().await);
}

#[tokio::test]
async fn logging_out_ends_the_session_on_the_server() {
    let dashboard = Dashboard::start().await;
    let account = dashboard.service.account;
    let (mut browser, mut other) = (dashboard.owner(account).await, dashboard.owner(account).await);
    let mut thief = browser.clone();
    assert!(thief.is_in().await);
    let out = browser.post("/logout", "").await;
    assert_eq!((out.status, out.header("location")), (303, Some("/login")));
    assert_eq!(out.header("clear-site-data"), Some("\"cache\""));
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0") && browser.cookie.is_none());
    assert!(!thief.is_in().await && other.is_in().await);
}

#[tokio::test]
async fn a_session_ends_with_its_time_its_person_and_its_membership() {
    let dashboard = Dashboard::start().await;
    for (change, undone) in [
        ("UPDATE sessions SET expires_at = now()", "UPDATE sessions SET expires_at = now() + interval '1 day'"),
        ("UPDATE sessions SET seen_at = now() - interval '14 days'", "UPDATE sessions SET seen_at = now()"),
        ("UPDATE people SET disabled_at = now()", "UPDATE people SET disabled_at = NULL"),
        ("DELETE FROM memberships", ""),
    ] {
        let mut browser = dashboard.owner(dashboard.service.account).await;
        assert!(browser.is_in().await);
        dashboard.sql.batch_execute(change).await.unwrap();
        assert!(!browser.is_in().await, "{change}");
        dashboard.sql.batch_execute(undone).await.unwrap();
        assert_eq!(browser.is_in().await, !undone.is_empty(), "{change}");
    }
}

#[tokio::test]
async fn a_page_is_gone_on_to_after_the_log_in_and_no_other_site() {
    let dashboard = Dashboard::start().await;
    let asked = dashboard.browser().get("/?period=7d").await;
    assert_eq!((asked.status, asked.header("location")), (303, Some("/login?next=%2F%3Fperiod%3D7d")));
    // A form leads back to its page.
    for (page, expected) in [
        ("/alerts?cursor=7", "/login?next=%2Falerts%3Fcursor%3D7"),
        ("/settings/password", "/login"),
        (".evil.example/alerts", "/login"),
    ] {
        let referer = format!("{}{page}", dashboard.site());
        let headers = [("sec-fetch-site", "same-origin"), ("referer", referer.as_str())];
        let sent = dashboard.browser().send(reqwest::Method::POST, "/alerts", &headers, "name=x").await;
        assert_eq!((sent.status, sent.header("location")), (303, Some(expected)), "{page}");
    }
    let mut browser = dashboard.owner(dashboard.service.account).await;
    for (next, expected) in [
        ("%2F%3Fperiod%3D7d", "/?period=7d"),
        ("%2F%2Fevil.example", "/"),
        ("https%3A%2F%2Fevil.example", "/"),
        ("%2F%5Cevil.example", "/"),
    ] {
        let page = browser.get(&format!("/login?next={next}")).await;
        assert_eq!((page.status, page.header("location")), (303, Some(expected)), "{next}");
    }
}

#[tokio::test]
async fn who_is_not_logged_in_reads_the_browsers_language() {
    let dashboard = Dashboard::start().await;
    for (accepted, language, title) in [
        ("en-US,en;q=0.9", "en", "Log in"),
        ("es-AR,es;q=0.9,en;q=0.8", "es", "Iniciar sesión"),
        ("pt-BR,pt;q=0.9,en;q=0.5", "pt-BR", "Entrar"),
        ("de-DE,pt;q=0.4", "pt-BR", "Entrar"),
        ("de-DE", "en", "Log in"),
    ] {
        let mut browser = dashboard.browser();
        browser.language = accepted;
        let page = browser.get("/login").await.text;
        assert!(page.contains(&format!("<html lang=\"{language}\">")), "{accepted}: {page}");
        assert!(page.contains(&format!("<h1>{title}</h1>")), "{accepted}: {page}");
    }
}

#[tokio::test]
async fn no_cookie_link_name_or_address_of_a_person_is_in_the_log() {
    let dashboard = Dashboard::start_with(&[("BAS_LOG", "debug")]).await;
    let link = dashboard.link(dashboard.service.account);
    let mut browser = dashboard.browser();
    browser.get(&link).await;
    browser.post(&link, "").await;
    browser.post(&link, "").await;
    let person = "UPDATE people SET name = 'Ana Ruiz', email = 'ana.ruiz@example.com'";
    dashboard.sql.execute(person, &[]).await.unwrap();
    let name = "UPDATE accounts SET name = 'Marked shop'";
    dashboard.sql.execute(name, &[]).await.unwrap();
    for (method, path, _) in ROUTES.iter().filter(|(_, path, _)| *path != "/logout") {
        let site = [("sec-fetch-site", "same-origin")];
        browser.send(method.parse().unwrap(), path, &site, "mode=live&q=of-a-form").await;
    }
    let cookie = browser.token().to_owned();
    browser.post("/logout", "").await;
    let last = [("x-request-id", "the-last-request")];
    browser.send(reqwest::Method::GET, "/login?next=%2Fof-a-query", &last, "").await;
    let lines = dashboard.service.process.lines_until(|line| {
        line["message"] == "request" && line["request_id"] == "the-last-request" && line["route"] == "/login"
    });
    assert!(lines.iter().filter(|line| line.contains("\"request\"")).count() > ROUTES.len());
    let token = link.strip_prefix("/enter/").unwrap();
    for secret in [token, &cookie, "Ana Ruiz", "ana.ruiz", "Marked shop", "of-a-form", "of-a-query", "owner@localhost"]
    {
        let told: Vec<_> = lines.iter().filter(|line| line.contains(secret)).collect();
        assert!(told.is_empty(), "{secret} is in {told:?}");
    }
}
