//! Comments are answered by pages alone: templates, the queue, judgements, the gate, and what stops the bot.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Browser, Dashboard};
use crate::conversations::{APP, PROFILE, SECRET, comment, connect, hook, work};

/// Far above what a worker takes on a busy machine.
const WITHIN: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(100);

/// What the form of the settings sends, but for the mode.
const LIMITS: &str = "&threshold=0.95&per_user_day=3&per_post_hour=30&per_account_hour=60&auto=price_question";

/// A dashboard with a connected profile and an approved template, whose bot holds every answer.
async fn start() -> (Dashboard, Browser) {
    let dashboard = Dashboard::start_with(&APP).await;
    let account = dashboard.service.account;
    assert!(connect(&dashboard.service, account, PROFILE));
    let mut browser = dashboard.owner(account).await;
    let template =
        made(&mut browser, "name=Prices&category=price_question&language=es&variation1=Hola+%7Busername%7D").await;
    let draft = browser.get(&template).await.text;
    assert!(draft.contains("<blockquote>Hola ana</blockquote>"), "{draft}");
    assert_eq!(browser.post(&format!("{template}/state"), "state=approved&version=1").await.status, 303);
    assert_eq!(browser.post("/conversations/settings", &format!("mode=approve{LIMITS}")).await.status, 303);
    (dashboard, browser)
}

/// Makes a template; the path of its page.
async fn made(browser: &mut Browser, fields: &str) -> String {
    let page = browser.post("/conversations/templates", fields).await;
    assert_eq!(page.status, 303, "{}", page.text);
    page.header("location").unwrap().split('?').next().unwrap().to_owned()
}

/// The path of the conversation that began with this comment, once its answer waits for a person.
async fn held(dashboard: &Dashboard, browser: &mut Browser, number: &str, text: &str) -> String {
    assert_eq!(hook(&dashboard.service, &comment(number, text), SECRET).await, 200);
    let begun = Instant::now();
    loop {
        let queue = browser.get("/conversations?reply_state=held").await.text;
        // The newest is first.
        let first = queue.split("<h3><a href=\"").nth(1).filter(|item| item.contains(text));
        if let Some(item) = first {
            return item.split('"').next().unwrap().to_owned();
        }
        assert!(begun.elapsed() < WITHIN, "no answer to {text:?} waits: {queue}");
        tokio::time::sleep(PAUSE).await;
    }
}

async fn reply(dashboard: &Dashboard, path: &str) -> Value {
    let key = dashboard.service.key(dashboard.service.account, "read");
    dashboard.service.process.json(&format!("/api/v1{path}"), &key).await["auto_reply"].clone()
}

#[tokio::test]
async fn the_queue_is_decided_on_and_the_bot_is_stopped() {
    let (dashboard, mut browser) = start().await;
    let other = made(&mut browser, "name=Other&category=price_question&language=es&variation1=Buenas").await;
    let worker = work(&dashboard.service);

    let path = held(&dashboard, &mut browser, "1", "precio por favor").await;
    let page = browser.get(&path).await.text;
    for shown in ["precio por favor", "Hola ana", "A person decides, and has not yet.", "Prices", "“precio por favor”"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let unused = format!("act=choose&template={}", other.rsplit('/').next().unwrap());
    let refused = browser.post(&format!("{path}/answer"), &unused).await;
    assert!(
        refused.status == 400 && refused.text.contains("No version of this template is in use"),
        "{}",
        refused.text
    );
    for (version, status) in [("", 400), ("&version=2", 409), ("&version=1", 303)] {
        let approved = browser.post(&format!("{other}/state"), &format!("state=approved{version}")).await;
        assert_eq!(approved.status, status, "{version}");
    }
    let contradicted = browser.post(&format!("{path}/judgement"), "correct=true&category=other").await;
    assert!(
        contradicted.status == 400 && contradicted.text.contains("something else than the bot says"),
        "{}",
        contradicted.text
    );
    assert_eq!(browser.post(&format!("{path}/judgement"), "correct=false&category=other").await.status, 303);
    assert!(browser.get(&path).await.text.contains("Somebody judged this wrong."));
    assert_eq!(browser.post(&format!("{path}/answer"), &unused).await.status, 303);
    let sent = reply(&dashboard, &path).await;
    assert_eq!((&sent["message"], &sent["judged_correct"]), (&"Buenas".into(), &false.into()), "{sent}");
    assert_ne!(sent["decided_by"], "bot");
    assert_eq!(browser.post(&format!("{path}/answer"), "act=approve").await.status, 409, "it is on its way");

    let path = held(&dashboard, &mut browser, "2", "¿Cuánto cuesta?").await;
    let list = browser.post(&format!("{path}/answer"), "act=skip&from=list").await;
    assert_eq!(list.header("location"), Some("/conversations?reply_state=held&done=skipped"));
    assert_eq!(reply(&dashboard, &path).await["state"], "skipped");
    assert_eq!(browser.post(&format!("{path}/answer"), "act=write&message=").await.status, 400);
    assert_eq!(browser.post(&format!("{path}/answer"), "act=write&message=Hola%0D%0Aana").await.status, 303);
    assert!(browser.get(&path).await.text.contains("a person"), "the conversation is a person's");
    for (fields, status) in
        [("status=snoozed&until=soon", 400), ("status=closed", 303), ("status=snoozed&until=2999-01-01", 409)]
    {
        assert_eq!(browser.post(&path, fields).await.status, status, "{fields}");
    }
    drop(worker);

    assert_eq!(
        browser.post("/conversations/stop", "").await.header("location"),
        Some("/conversations/settings?done=stopped")
    );
    for page in ["/conversations", &path, "/conversations/templates", &other, "/conversations/settings"] {
        let text = browser.get(page).await.text;
        assert!(text.contains("The bot is off.") && !text.contains("action=\"/conversations/stop\""), "{page}: {text}");
    }
    let activity = browser.get("/settings/activity").await.text;
    for done in [
        "Approved a template",
        "Judged a decision of the bot",
        "Approved an answer",
        "Answered a comment",
        "Stopped the bot",
    ] {
        assert!(activity.contains(done), "{done}: {activity}");
    }
}

#[tokio::test]
async fn the_mode_that_sends_is_earned_and_texts_that_go_stale_are_refused() {
    let (dashboard, mut browser) = start().await;
    let refused = browser.post("/conversations/settings", &format!("mode=auto{LIMITS}")).await;
    assert!(refused.status == 400 && refused.text.contains("100 judgements are missing"), "{}", refused.text);
    let wrong = browser.post("/conversations/settings", &format!("mode=approve{LIMITS}&fri=18:00-09:00")).await;
    assert!(wrong.status == 400 && wrong.text.contains("the beginning before the end"), "{}", wrong.text);
    let about = "name=%3Cb%3E&category=price_question&language=es";
    for (text, why) in [
        ("Sale+10+USD", "they go stale"),
        ("Ver+https%3A%2F%2Fb.example", "your own hosts"),
        ("Hola+%40otro", "Leave @ out"),
    ] {
        let page = browser.post("/conversations/templates", &format!("{about}&variation1={text}")).await;
        assert!(page.status == 400 && page.text.contains(why) && page.text.contains("&lt;b&gt;"), "{}", page.text);
    }
    let template = made(&mut browser, &format!("{about}&variation1=Hola")).await;
    assert_eq!(browser.post(&template, &format!("{about}&variation1=Buenas")).await.status, 303);
    let page = browser.get(&template).await.text;
    assert!(page.contains(">Buenas<") && page.contains(">Hola<"), "both versions are shown: {page}");
    assert_eq!(browser.post(&format!("{template}/delete"), "").await.status, 303);
    assert_eq!(browser.get(&template).await.status, 404);

    dashboard.set_role("viewer").await;
    let page = browser.get("/conversations/settings").await;
    assert!(page.status == 200 && !page.text.contains("action=\"/conversations/s"), "{}", page.text);
    assert!(!browser.get("/conversations/templates").await.text.contains("method=\"post\" action=\"/conversations"));
    let mut stranger = dashboard.owner(dashboard.service.stranger).await;
    dashboard.set_role("owner").await;
    assert!(stranger.get("/conversations/settings").await.text.contains("Dry run"), "settings are the account's own");
}
