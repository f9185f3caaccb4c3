//! A profile is connected and disconnected by pages alone, against the stand-in of the network.

use super::{Browser, Dashboard, Page};
use crate::{service::free_port, social_profiles::Network};

async fn start(pages: &str) -> (Dashboard, Network) {
    let listen = format!("127.0.0.1:{}", free_port());
    let back = format!("http://{listen}/integrations/profiles/callback");
    let network = Network::start(&["--redirect-uri", &back, "--pages", pages, "--comments", "0"]);
    let settings = network.settings();
    let settings: Vec<_> = settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    (Dashboard::start_as(&["serve"], listen, &settings).await, network)
}

/// Presses the button and follows the link of the page to where the network sends the person back to; the path there.
async fn granted(browser: &mut Browser, network: &Network, fields: &str) -> String {
    let page = browser.post("/integrations/profiles/connect", fields).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let (_, link) = page.text.split_once("class=\"btn main\" href=\"").unwrap();
    let url = link.split_once('"').unwrap().0.replace("&amp;", "&");
    let back = network.agreed(&url).await;
    back.strip_prefix(&browser.site).unwrap().to_owned()
}

/// The network's page leads back: a navigation from another site.
async fn comes_back(browser: &mut Browser, path: &str) -> Page {
    let headers = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    browser.send(reqwest::Method::GET, path, &headers, "").await
}

#[tokio::test]
async fn a_profile_is_chosen_connected_and_disconnected() {
    let (dashboard, network) = start("2").await;
    let mut browser = dashboard.owner(dashboard.service.account).await;
    let offers = browser.get("/integrations").await.text;
    assert!(offers.contains("No profile is connected yet") && offers.contains("Connect Facebook"), "{offers}");
    let wrong = browser.post("/integrations/profiles/connect", "channel=instagram&profile=my+shop").await;
    assert!(wrong.status == 400 && wrong.text.contains("That is no number of a profile"), "{}", wrong.text);

    let back = granted(&mut browser, &network, "channel=instagram&profile=").await;
    let choice = comes_back(&mut browser, &back).await;
    assert!(choice.text.contains("Connect shop2 (17841400000000002)"), "{}", choice.text);
    assert!(choice.text.contains("name=\"profile\" value=\"17841400000000002\""), "{}", choice.text);
    let back = granted(&mut browser, &network, "channel=instagram&profile=17841400000000002").await;
    let page = comes_back(&mut browser, &back).await;
    assert_eq!(page.status, 303, "{}", page.text);
    let target = page.header("location").unwrap().to_owned();
    let shown = browser.get(&target).await.text;
    for wanted in [
        "shop2",
        "Its comments of the last 24 hours are being read",
        "instagram_manage_comments",
        "Disconnect this profile",
    ] {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
    assert_eq!(comes_back(&mut browser, &back).await.status, 400, "an answer is good once");
    let path = target.strip_suffix("?done=connected").unwrap();
    assert!(browser.get("/integrations").await.text.contains(&format!("href=\"{path}\"")));
    let activity = browser.get("/settings/activity").await.text;
    assert!(activity.contains("Connected a profile"), "{activity}");

    assert_eq!(browser.post(&format!("{path}/disconnect"), "").await.status, 303);
    let ended = browser.get(path).await.text;
    assert!(ended.contains("It was disconnected here") && !ended.contains("/disconnect"), "{ended}");
    assert!(ended.contains("Connect it again"), "{ended}");
    assert_eq!(network.ledger().await["subscribed"]["10158000000000002"], serde_json::json!([]));
    assert!(browser.get("/settings/activity").await.text.contains("Disconnected a profile"));
}

/// Somebody's answer in another's browser would draw a profile into the wrong account, or the wrong profile into one's own.
#[tokio::test]
async fn an_answer_completes_only_in_the_session_that_asked_for_it() {
    let (dashboard, network) = start("1").await;
    let mut asked = dashboard.owner(dashboard.service.account).await;
    let back = granted(&mut asked, &network, "channel=facebook").await;
    let same_account = dashboard.owner(dashboard.service.account).await;
    let stranger = dashboard.owner(dashboard.service.stranger).await;
    for mut other in [same_account, stranger] {
        let page = comes_back(&mut other, &back).await;
        assert_eq!(page.status, 400, "{}", page.text);
        assert!(page.text.contains("not one that you asked for in this session"), "{}", page.text);
    }
    let anonymous = comes_back(&mut dashboard.browser(), &back).await;
    assert!(anonymous.header("location").unwrap().starts_with("/login"));
    let as_an_ad_account = comes_back(&mut asked, &back.replace("/profiles/", "/meta/")).await;
    assert!([400, 409].contains(&as_an_ad_account.status), "{}", as_an_ad_account.text);
    let count = "SELECT count(*) FROM social_accounts";
    assert_eq!(dashboard.sql.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 0);
    // None of them used it up.
    assert_eq!(comes_back(&mut asked, &back).await.status, 303);
    assert_eq!(dashboard.sql.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 1);
}
