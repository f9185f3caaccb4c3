//! What Google tells of ads is what the answers say, to the cent, whatever happens on the way.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    advertising::{Ads, day, happens},
    platform::Platform,
    rig::Rig,
};
use crate::service::run;

/// Days that the ad account goes back: some windows of a history.
const DAYS: u16 = 130;
/// How long an answer takes, in milliseconds: long enough to be killed before the next.
const SLOW: u64 = 40;
/// The first ad with its campaign, and the campaign of Performance Max.
const AD: u64 = 70_870_000;
const CAMPAIGN: u64 = 20_850_000;
const MAX: u64 = 20_850_002;
/// The network, as lists of ads name it.
const ADS: Ads = Ads { platform: "google", days: DAYS };

#[tokio::test]
async fn advertising_is_what_google_says_also_after_it_was_corrected() {
    let rig = Rig::start(Platform::google_ads(DAYS, &[])).await;
    let file = rig.service.folder.path().join("ads.csv");
    let text = format!("date,platform,campaign,spend\n{},Google Ads,Old,999\n{},TikTok,Other,5\n", day(3), day(3));
    std::fs::write(&file, text).unwrap();
    let account = rig.service.account.to_string();
    run(&mut rig.service.api(&[
        "import",
        "ad-spend",
        file.to_str().unwrap(),
        "--account",
        &account,
        "--nice-ratio",
        "0",
    ]));

    let id = rig.connect().await;
    ADS.wait_for_all(&rig, id).await;
    ADS.compare(&rig).await;
    let connection = rig.connection(id).await;
    assert_eq!((&connection["provider"], &connection["shop"]), (&json!("google_ads"), &json!("1234567890")));

    // Purchases of weeks ago are attributed now, also to a campaign without ads, and clicks turn out to be invalid.
    let late = json!({"action": "attribute", "of": AD, "day": day(20), "purchases": "1.6", "revenue": "31.37"});
    happens(&rig, late).await;
    let later = json!({"action": "attribute", "of": MAX, "day": day(29), "purchases": "2", "revenue": "55.01"});
    happens(&rig, later).await;
    for back in 10..20 {
        credit_if_it_ran(&rig, AD + 2, back).await;
    }
    happens(&rig, json!({"action": "rename", "campaign": CAMPAIGN, "name": "Kettles"})).await;
    happens(&rig, json!({"action": "remove", "ad": AD})).await;
    ADS.next_day(&rig, id).await;
    ADS.compare(&rig).await;

    let list = async |query: &str| {
        let path = format!("/api/v1/ads?platform=google&days=90&{query}");
        rig.service.process.json(&path, &rig.key).await
    };
    let campaigns = list("level=campaign").await;
    let rows = campaigns["data"].as_array().unwrap();
    let of = |id: u64| rows.iter().find(|row| row["external_id"] == json!(id.to_string())).unwrap();
    assert_eq!(
        (rows.len(), &of(CAMPAIGN)["name"]),
        (3, &json!("Kettles")),
        "the file's campaign gave way: {campaigns}"
    );
    assert_eq!(
        campaigns["coverage"],
        json!([{"platform": "google", "days_synced": 90, "provisional_from": day(29).to_string()}])
    );
    let ads = list("level=ad&status=archived").await;
    assert!(ads["data"].as_array().unwrap().iter().any(|row| row["external_id"] == json!(AD.to_string())), "{ads}");

    // Google tells of no ads of Performance Max: the whole campaign is one row.
    let max = list(&format!("level=ad&campaign_id={}", of(MAX)["id"])).await;
    let [row] = max["data"].as_array().unwrap().as_slice() else { panic!("{max}") };
    assert_eq!((&row["external_id"], &row["name"]), (&Value::Null, &json!("Campaign 3")));
    for figure in ["spend", "clicks", "purchases", "revenue"] {
        assert_eq!(row[figure], of(MAX)[figure], "{figure}");
    }
}

/// Takes a part of what an ad cost on a day back, if there is anything.
async fn credit_if_it_ran(rig: &Rig, ad: u64, back: i64) {
    let what = json!({"action": "credit", "of": ad, "day": day(back), "spend": "0.37"});
    rig.platform().tries("act", &what).await;
}

#[tokio::test]
async fn advertising_is_read_whatever_google_refuses() {
    let rig = Rig::start(Platform::google_ads(DAYS, &[])).await;
    let platform = rig.platform();
    let id = rig.connect().await;
    platform.fails("throttle", 2, 1).await;
    ADS.wait_for_all(&rig, id).await;
    ADS.compare(&rig).await;
    let runs = rig.service.process.json(&format!("/api/v1/integrations/{id}/runs"), &rig.key).await;
    assert!(runs["data"].as_array().unwrap().iter().all(|run| run["state"] == "done"), "{runs}");

    platform.fails("server_error", 1, 503).await;
    assert_eq!(rig.post_sync(id).await, 200);
    rig.wait(id, |connection| connection["last_error"]["code"] == "unreachable").await;
    assert_eq!(rig.connection(id).await["status"], "connected");
    platform.fails("suspend", 1, 0).await;
    assert_eq!(rig.post_sync(id).await, 200);
    rig.wait(id, |connection| connection["suspended"] == true).await;
    rig.sync(id).await;
    assert_eq!(rig.connection(id).await["suspended"], false);
    ADS.compare(&rig).await;
}

#[tokio::test]
async fn advertising_on_google_is_read_however_often_the_service_is_killed() {
    let mut rig = Rig::start(Platform::google_ads(DAYS, &[])).await;
    rig.platform().fails("slow", 100_000, SLOW).await;
    let id = rig.connect().await;
    for requests in [1, 4, 7, 12] {
        let before = rig.platform().requests().await.len();
        rig.until("it asks on", async || rig.platform().requests().await.len() >= before + requests).await;
        rig.kill().await;
    }
    rig.platform().fails_no_more().await;
    ADS.wait_for_all(&rig, id).await;
    ADS.compare(&rig).await;
}

#[tokio::test]
async fn a_token_is_renewed_until_the_person_takes_the_access_back() {
    let rig = Rig::start(Platform::google_ads(DAYS, &[])).await;
    let id = rig.connect().await;
    ADS.wait_for_all(&rig, id).await;
    rig.platform().fails("expire", 1, 0).await;
    happens(&rig, json!({"action": "attribute", "of": AD, "day": day(25), "purchases": 1, "revenue": "7.01"})).await;
    ADS.next_day(&rig, id).await;
    assert_eq!(rig.connection(id).await["status"], "connected");
    ADS.compare(&rig).await;

    rig.platform().fails("revoke", 1, 0).await;
    happens(&rig, json!({"action": "attribute", "of": MAX, "day": day(9), "purchases": 1, "revenue": "7.01"})).await;
    rig.ask_for_last_sync(id).await;
    let ended = rig.wait(id, |connection| connection["status"] == "revoked").await;
    assert_eq!(ended["revoke_reason"], "token_expired");
    assert_eq!(rig.connect().await, id, "the same connection again");
    ADS.next_day(&rig, id).await;
    ADS.compare(&rig).await;
    let answer = rig.service.process.request(Method::DELETE, &format!("/api/v1/integrations/{id}"));
    assert_eq!(answer.bearer_auth(&rig.key).send().await.unwrap().status(), 200);
    ADS.compare(&rig).await;
}

#[tokio::test]
async fn of_several_ad_accounts_on_google_one_is_named() {
    let rig = Rig::start(Platform::google_ads(5, &["--accounts", "2"])).await;
    let post = async |path: &str, body: Value| {
        let answer =
            rig.service.process.post(&format!("/api/v1/integrations/google_ads/{path}"), &rig.key, &body).await;
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let (_, begun) = post("authorize", json!({})).await;
    let query = rig.platform().agree(begun["url"].as_str().unwrap()).await;
    let (status, refused) = post("complete", json!({ "query": query })).await;
    assert_eq!((status, &refused["error"]), (400, &json!("authorization_refused")), "{refused}");
    let said = refused["message"].as_str().unwrap();
    assert!(said.contains("1234567890 (Shop 1234567890), 1234567891 (Shop 1234567891)"), "{said}");

    for wrong in ["example.com", "act_1234567891", "123-4567-891", "12345678912"] {
        assert_eq!(post("authorize", json!({ "shop": wrong })).await.0, 400, "{wrong}");
    }
    let (_, begun) = post("authorize", json!({ "shop": "123-456-7891" })).await;
    let query = rig.platform().agree(begun["url"].as_str().unwrap()).await;
    let (status, made) = post("complete", json!({ "query": query })).await;
    assert_eq!((status, &made["shop"]), (200, &json!("1234567891")), "{made}");
}

#[tokio::test]
async fn ad_accounts_are_reached_by_way_of_a_manager_account() {
    let mut platform = Platform::google_ads(DAYS, &["--managed"]);
    platform.settings.push(("BAS_GOOGLE_ADS_DEVELOPER_TOKEN".to_owned(), "developer".to_owned()));
    let rig = Rig::start(platform).await;
    let id = rig.connect().await;
    ADS.wait_for_all(&rig, id).await;
    ADS.compare(&rig).await;
}
