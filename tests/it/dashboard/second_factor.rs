//! The second factor: turned on by its first code, asked for beside the password, each code once.

use std::time::{SystemTime, UNIX_EPOCH};

use ring::hmac;

use super::{
    Browser, Dashboard,
    log_in::with_person,
    mails::{PASSWORD, log_in},
};

const EMAIL: &str = "ana@example.com";

fn base32(text: &str) -> Vec<u8> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for letter in text.bytes() {
        let value = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter().position(|of| *of == letter).unwrap();
        (bits, count) = (bits << 5 | u32::try_from(value).unwrap(), count + 5);
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 255).unwrap());
        }
    }
    bytes
}

/// The code of a step from now (RFC 6238 with RFC 4226, section 5.3).
fn code(secret: &str, from_now: i64) -> String {
    let seconds = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap();
    let step = seconds / 30 + from_now;
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &base32(secret));
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let offset = usize::from(tag[19] & 15);
    let number = u32::from_be_bytes(tag[offset..offset + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap_or_else(|| panic!("{start} is not in {text}")).1.split_once(end).unwrap().0
}

/// Turns it on, and gives the secret and the recovery codes. The code is of the step before, so that the present one is left.
async fn turn_on(browser: &mut Browser) -> (String, Vec<String>) {
    assert_eq!(browser.post("/settings/second-factor", "act=propose").await.status, 303);
    let page = browser.get("/settings/second-factor").await.text;
    assert!(page.contains("class=\"qr\"") && page.contains("aria-label=\"QR code of the secret\""), "{page}");
    let secret = between(&page, "<code>", "</code>").to_owned();
    assert_eq!(base32(&secret).len(), 20);
    let wrong = browser.post("/settings/second-factor", "act=on&code=000000").await;
    assert!(wrong.status == 400 && wrong.text.contains("That code does not work now"), "{}", wrong.text);
    let on = browser.post("/settings/second-factor", &format!("act=on&code={}", code(&secret, -1))).await;
    assert!(on.text.contains("second factor is on"), "{}", on.text);
    let codes: Vec<_> = between(&on.text, "<pre>", "</pre>").lines().map(ToOwned::to_owned).collect();
    assert_eq!(codes.len(), 10);
    assert!(codes.iter().all(|code| code.len() == 19), "{codes:?}");
    (secret, codes)
}

/// Shows the password; the code is asked for next.
async fn half(browser: &mut Browser) {
    let page = log_in(browser, EMAIL, PASSWORD).await;
    assert_eq!((page.status, page.header("location")), (303, Some("/login/code?next=%2F")));
    assert!(browser.cookie.is_none() && !browser.clone().is_in().await);
}

#[tokio::test]
async fn codes_that_were_shown_stay_those_when_their_form_is_sent_again() {
    let dashboard = Dashboard::start().await;
    let mut ana = with_person(&dashboard, EMAIL, "owner").await;
    turn_on(&mut ana).await;
    let kept = async || {
        let kept = "SELECT string_agg(encode(hash, 'hex'), ' ' ORDER BY hash) FROM recovery_codes";
        dashboard.sql.query_one(kept, &[]).await.unwrap().get::<_, String>(0)
    };
    let first = kept().await;
    let again = ana.post("/settings/second-factor", "act=on&code=000000").await;
    assert_eq!((again.status, again.header("location")), (303, Some("/settings/second-factor")), "{}", again.text);
    let page = ana.get("/settings/second-factor").await.text;
    let fields = format!("act=codes&form={}", between(&page, "name=\"form\" value=\"", "\""));
    assert_eq!(ana.post("/settings/second-factor", &fields).await.status, 200);
    let renewed = kept().await;
    assert_ne!(renewed, first);
    assert_eq!(ana.post("/settings/second-factor", &fields).await.status, 303);
    assert_eq!(kept().await, renewed);
}

#[tokio::test]
async fn a_code_is_asked_for_and_works_once() {
    let dashboard = Dashboard::start().await;
    let mut ana = with_person(&dashboard, EMAIL, "owner").await;
    let mut other = dashboard.browser();
    assert_eq!(log_in(&mut other, EMAIL, PASSWORD).await.status, 303);
    let (secret, codes) = turn_on(&mut ana).await;
    assert!(ana.is_in().await && !other.is_in().await);
    let stored = "SELECT encode(sealed_secret, 'hex') FROM second_factors";
    let stored: String = dashboard.sql.query_one(stored, &[]).await.unwrap().get(0);
    let plain: String = base32(&secret).iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(!stored.contains(&plain), "sealed");

    let mut browser = dashboard.browser();
    half(&mut browser).await;
    let now = code(&secret, 0);
    let entered = browser.post("/login/code", &format!("code={now}&next=%2Fprofit")).await;
    assert_eq!((entered.status, entered.header("location")), (303, Some("/profit")), "{}", entered.text);
    assert!(browser.is_in().await);
    let mut thief = dashboard.browser();
    half(&mut thief).await;
    assert_eq!(thief.post("/login/code", &format!("code={now}")).await.status, 422, "a code that was used");

    let mut lost = dashboard.browser();
    half(&mut lost).await;
    assert_eq!(lost.post("/login/code", &format!("code={}", codes[3])).await.status, 303);
    assert!(lost.is_in().await);
    let mut again = dashboard.browser();
    half(&mut again).await;
    assert_eq!(again.post("/login/code", &format!("code={}", codes[3])).await.status, 422, "a code that was used");
    let left = "SELECT count(*) FROM recovery_codes";
    assert_eq!(dashboard.sql.query_one(left, &[]).await.unwrap().get::<_, i64>(0), 9);
}

#[tokio::test]
async fn five_codes_may_be_tried_before_the_password_is_asked_for_again() {
    let dashboard = Dashboard::start().await;
    let mut ana = with_person(&dashboard, EMAIL, "owner").await;
    let (secret, _) = turn_on(&mut ana).await;
    // Both have given the password before the tries, for a log-in may take longer than what has to be waited after them.
    let (mut browser, mut other) = (dashboard.browser(), dashboard.browser());
    half(&mut browser).await;
    half(&mut other).await;
    for _ in 0..5 {
        assert_eq!(browser.post("/login/code", "code=000000").await.status, 422);
    }
    let over = browser.post("/login/code", &format!("code={}", code(&secret, 0))).await;
    assert_eq!((over.status, over.header("location")), (303, Some("/login?next=%2F")));
    // The next five have to wait: the tries of the person are counted as well.
    assert_eq!(other.post("/login/code", "code=000000").await.status, 429);
    // Without the password first there is nothing to try a code at.
    let mut stranger = dashboard.browser();
    let none = stranger.post("/login/code", &format!("code={}", code(&secret, 0))).await;
    assert_eq!(none.header("location"), Some("/login?next=%2F"));
}

#[tokio::test]
async fn a_new_password_by_link_does_not_turn_it_off() {
    let dashboard = Dashboard::start().await;
    let mut ana = with_person(&dashboard, EMAIL, "owner").await;
    let (secret, _) = turn_on(&mut ana).await;
    let printed = dashboard.api(&["people", "reset", EMAIL]);
    let link = printed.trim().strip_prefix(&dashboard.site()).unwrap().to_owned();
    let set = ana.post(&link, "password=correct+horse+battery+staple").await;
    assert_eq!((set.status, set.header("set-cookie")), (303, None));
    assert!(!ana.is_in().await);
    let mut browser = dashboard.browser();
    half(&mut browser).await;
    assert_eq!(browser.post("/login/code", &format!("code={}", code(&secret, 0))).await.status, 303);
    // Who has lost everything is helped by the operator of the service.
    assert!(dashboard.api(&["people", "reset", EMAIL, "--second-factor"]).contains("is off"));
    assert!(!browser.is_in().await);
    assert_eq!(log_in(&mut browser, EMAIL, PASSWORD).await.header("location"), Some("/"));
}

#[tokio::test]
async fn an_owner_may_ask_all_members_for_one() {
    let dashboard = Dashboard::start().await;
    let mut ana = with_person(&dashboard, EMAIL, "owner").await;
    let mut eva = with_person(&dashboard, "eva@example.com", "viewer").await;
    assert_eq!(ana.post("/settings/second-factor", "act=require").await.status, 403, "who has none asks nobody");
    turn_on(&mut ana).await;
    assert_eq!(eva.post("/settings/second-factor", "act=require").await.status, 403);
    assert!(eva.is_in().await);
    assert_eq!(ana.post("/settings/second-factor", "act=require").await.status, 303);
    let sent = eva.get("/").await;
    assert_eq!((sent.status, sent.header("location")), (303, Some("/settings/second-factor")));
    assert!(eva.get("/settings/second-factor").await.text.contains("Add one to go on"));
    assert_eq!(eva.get("/api/v1/profit").await.status, 303, "nor what the API answers");
    assert_eq!(eva.get("/settings/second-factor").await.status, 200, "nothing wrong was sent");
    turn_on(&mut eva).await;
    assert!(eva.is_in().await);
    assert_eq!(ana.post("/settings/second-factor", "act=optional").await.status, 303);
    assert_eq!(ana.post("/settings/second-factor", "act=off").await.status, 303);
    assert!(ana.is_in().await);
}
