//! What every answer has, and who is refused.

use futures_util::{StreamExt, stream};
use reqwest::Method;

use super::{Browser, Dashboard, FIELDS, Needs, Page, ROUTES};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

fn assert_guarded(page: &Page, what: &str) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
    ] {
        assert_eq!(page.header(name), Some(value), "{what}: {name}");
    }
    assert!(page.header("permissions-policy").is_some_and(|policy| policy.contains("camera=()")), "{what}");
    assert!(page.header("x-request-id").is_some(), "{what}");
    assert_eq!(page.header("access-control-allow-origin"), None, "{what}");
    let kept = if what.contains("/assets/") && page.status == 200 {
        "public, max-age=31536000, immutable"
    } else {
        "no-store"
    };
    assert_eq!(page.header("cache-control"), Some(kept), "{what}");
}

/// What a page of ours refers to by this attribute.
fn references<'a>(text: &'a str, attribute: &str) -> Vec<&'a str> {
    let mark = format!("{attribute}=\"");
    text.split(&*mark).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[tokio::test]
async fn the_head_of_a_page_is_answered_without_its_body() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.browser();
    for path in ["/login", "/status"] {
        let (head, whole) = (browser.send(Method::HEAD, path, &[], "").await, browser.get(path).await);
        assert_eq!((head.status, head.text.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("content-type"), whole.header("content-type"));
    }
}

#[tokio::test]
async fn every_answer_has_the_headers_that_guard_it() {
    let dashboard = Dashboard::start().await;
    let mut statuses = Vec::new();
    let mut looked = async |browser: &mut Browser, method: &str, path: &str, site: &str| {
        let headers = [("sec-fetch-site", site), ("sec-fetch-mode", "navigate")];
        let page = browser.send(method.parse().unwrap(), path, &headers, FIELDS).await;
        assert_guarded(&page, &format!("{method} {path}: {}", page.status));
        statuses.push(page.status);
    };
    let mut member = dashboard.owner(dashboard.service.account).await;
    let links = member.get("/").await.text;
    let assets: Vec<_> = ["href", "src"].iter().flat_map(|attribute| references(&links, attribute)).collect();
    let assets: Vec<_> = assets.into_iter().filter(|address| address.starts_with("/assets/")).collect();
    assert_eq!(assets.len(), 3, "{assets:?}");
    for browser in [&mut dashboard.browser(), &mut member.clone()] {
        for asset in assets.iter().copied().chain(["/assets/none.css"]) {
            looked(browser, "GET", asset, "same-origin").await;
        }
        for (method, path, _) in ROUTES.iter().filter(|(_, path, _)| *path != "/logout") {
            looked(browser, method, path, "same-origin").await;
            looked(browser, method, path, "cross-site").await;
        }
        for (method, path) in [("HEAD", "/"), ("GET", "/nothing"), ("POST", "/nothing"), ("GET", "/?metric=nonsense")] {
            looked(browser, method, path, "same-origin").await;
        }
    }
    looked(&mut member, "POST", "/logout", "same-origin").await;
    dashboard.sql.batch_execute("ALTER TABLE sessions RENAME TO mislaid").await.unwrap();
    let mut late = dashboard.browser();
    late.cookie = Some("session=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8".to_owned());
    looked(&mut late, "GET", "/", "same-origin").await;
    statuses.sort_unstable();
    statuses.dedup();
    assert_eq!(statuses, [200, 303, 400, 403, 404, 409, 500]);
}

#[tokio::test]
async fn nothing_inline_and_nothing_of_another_host_is_on_a_page() {
    let dashboard = Dashboard::start().await;
    let mut member = dashboard.owner(dashboard.service.account).await;
    for (_, path, _) in ROUTES.iter().filter(|(method, ..)| *method == "GET") {
        let text = member.get(path).await.text;
        for forbidden in [" style=\"", "<style", " onclick=", " onload=", " onerror=", "javascript:"] {
            assert!(!text.contains(forbidden), "{path} has {forbidden}");
        }
        assert!(!text.contains("<script>"), "{path}");
        for attribute in ["src", "href", "action"] {
            for address in references(&text, attribute) {
                let is_ours = address.starts_with(['/', '#', '?']) && !address.starts_with("//") || address.is_empty();
                assert!(is_ours, "{path}: {attribute}={address}");
            }
        }
    }
}

#[tokio::test]
async fn a_person_who_asks_for_too_much_is_told_when_to_come_back() {
    let dashboard = Dashboard::start_with(&[("BAS_RATE_LIMIT_PER_MINUTE", "1")]).await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    for _ in 0..60 {
        assert_eq!(browser.post("/mode", FIELDS).await.status, 303);
    }
    for (language, said) in
        [("en", "Too many requests"), ("es", "Demasiadas peticiones"), ("pt-BR", "Requisições demais")]
    {
        dashboard.sql.execute("UPDATE people SET language = $1", &[&language]).await.unwrap();
        let page = browser.post("/mode", FIELDS).await;
        assert!(page.status == 429 && page.text.contains(said), "{}: {}", page.status, page.text);
        assert_guarded(&page, "POST /mode: 429");
        let seconds: u64 = page.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds), "{seconds}");
    }
    // Pages and what the API answers are counted together, and not with what changes something.
    assert_eq!(browser.get("/keys").await.status, 200);
    // Side by side, so that they are of the same minute.
    let statuses: Vec<u16> = stream::iter(0..599)
        .map(|_| {
            let mut browser = browser.clone();
            async move { browser.get("/api/v1/credits").await.status }
        })
        .buffer_unordered(16)
        .collect()
        .await;
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    let refused = browser.get("/api/v1/credits").await;
    let body: serde_json::Value = serde_json::from_str(&refused.text).unwrap();
    assert_eq!((refused.status, &body["error"]), (429, &serde_json::json!("rate_limit_exceeded")));
    assert!(refused.header("retry-after").is_some());
    assert_eq!(browser.get("/keys").await.status, 429);
}

#[tokio::test]
async fn what_another_site_sends_is_refused_and_changes_nothing() {
    let dashboard = Dashboard::start().await;
    let site = dashboard.site();
    let mut member = dashboard.owner(dashboard.service.account).await;
    let link = dashboard.link(dashboard.service.account);
    let strange: [&[(&str, &str)]; 7] = [
        &[("sec-fetch-site", "cross-site"), ("origin", &site)],
        &[("sec-fetch-site", "same-site"), ("origin", &site)],
        &[("sec-fetch-site", "none")],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "http://127.0.0.1:1")],
        &[],
    ];
    for headers in strange {
        for path in ["/logout", "/mode", &link] {
            let page = member.send(Method::POST, path, headers, "mode=test").await;
            assert_eq!((page.status, page.header("set-cookie")), (403, None), "{path} {headers:?}");
        }
    }
    let modes = "SELECT string_agg(mode, ' ') FROM sessions";
    assert_eq!(dashboard.sql.query_one(modes, &[]).await.unwrap().get::<_, String>(0), "live");
    assert!(member.is_in().await && dashboard.browser().get(&link).await.text.contains("<form"));

    // A browser that knows no fetch metadata says where it was.
    assert_eq!(member.send(Method::POST, "/mode", &[("origin", &site)], "mode=test").await.status, 303);
    assert_eq!(dashboard.sql.query_one(modes, &[]).await.unwrap().get::<_, String>(0), "test");
    // A page may be gone to from anywhere, and fetched into another from nowhere.
    for (mode, status) in [("navigate", 200), ("cors", 403), ("no-cors", 403)] {
        let headers = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode)];
        assert_eq!(member.send(Method::GET, "/", &headers, "").await.status, status, "{mode}");
    }
}

/// The same path with its first letter percent-encoded.
fn spelled(path: &str) -> String {
    let mut letters = path.trim_start_matches('/').chars();
    letters.next().map_or_else(|| path.to_owned(), |first| format!("/%{:02x}{}", u32::from(first), letters.as_str()))
}

#[tokio::test]
async fn a_role_may_what_its_routes_ask_for() {
    let dashboard = Dashboard::start().await;
    for role in ["viewer", "editor", "owner"] {
        for (method, path, needs) in ROUTES {
            let mut browser = dashboard.owner(dashboard.service.account).await;
            dashboard.set_role(role).await;
            let headers = [("sec-fetch-site", "same-origin")];
            let page = browser.send(method.parse().unwrap(), path, &headers, FIELDS).await;
            let may = match needs {
                Needs::Nothing => true,
                Needs::Role(roles) => roles.contains(&role),
            };
            assert_eq!(page.status != 403, may, "{role}: {method} {path} is {}", page.status);
            if !may {
                let spelled = spelled(path);
                let page = browser.send(method.parse().unwrap(), &spelled, &headers, FIELDS).await;
                assert_eq!(page.status, 403, "{role}: {method} {spelled}");
            }
            let anonymous = dashboard.browser().send(method.parse().unwrap(), path, &headers, FIELDS).await;
            let is_sent = anonymous.header("location").is_some_and(|location| location.starts_with("/login"));
            assert_eq!(is_sent, *needs != Needs::Nothing, "{method} {path} is {}", anonymous.status);
        }
    }
}

#[tokio::test]
async fn a_browser_that_opens_the_api_comes_to_the_dashboard() {
    let dashboard = Dashboard::start().await;
    let mut browser = dashboard.browser();
    browser.site = format!("http://{}", dashboard.service.process.address());
    let opened = browser.send(Method::GET, "/", &[("accept", "text/html,*/*;q=0.8")], "").await;
    assert_eq!((opened.status, opened.header("location")), (302, Some(&*format!("{}/", dashboard.site()))));
    assert_eq!(browser.send(Method::GET, "/", &[("accept", "*/*")], "").await.status, 401);
}
