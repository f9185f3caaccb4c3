//! What Meta tells of ads is what the answers say, to the cent, whatever happens on the way.

use reqwest::Method;
use rust_decimal::Decimal;
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
/// The first ad and its campaign.
const AD: u64 = 23_870_000;
const CAMPAIGN: u64 = 23_850_000;

/// The network, as lists of ads name it.
const ADS: Ads = Ads { platform: "meta", days: DAYS };

#[tokio::test]
async fn advertising_is_what_the_network_says_also_after_it_was_corrected() {
    let rig = Rig::start(Platform::meta(DAYS, 1, "EUR")).await;
    let file = rig.service.folder.path().join("ads.csv");
    let text = format!("date,platform,campaign,spend\n{},Meta Ads,Old,999\n{},TikTok,Other,5\n", day(3), day(3));
    std::fs::write(&file, text).unwrap();
    let account = rig.service.account.to_string();
    let import = || {
        let arguments = ["import", "ad-spend", file.to_str().unwrap(), "--account", &account, "--nice-ratio", "0"];
        rig.service.api(&arguments)
    };
    run(&mut import());

    let id = rig.connect().await;
    ADS.wait_for_all(&rig, id).await;
    ADS.compare(&rig).await;
    let connection = rig.connection(id).await;
    assert_eq!((&connection["provider"], &connection["shop"]), (&json!("meta"), &json!("act_1048576")));

    // A purchase of weeks ago is attributed now, another one is withdrawn, and one is found on a day of which nothing was told.
    happens(&rig, json!({"action": "attribute", "ad": AD, "day": day(20), "purchases": 2, "revenue": "31.37"})).await;
    happens(&rig, json!({"action": "withdraw", "ad": AD + 1, "day": day(27)})).await;
    happens(&rig, json!({"action": "rename", "campaign": CAMPAIGN, "name": "Kettles"})).await;
    happens(&rig, json!({"action": "archive", "ad": AD})).await;
    ADS.next_day(&rig, id).await;
    ADS.compare(&rig).await;
    let campaigns = rig.service.process.json("/api/v1/ads?level=campaign&platform=meta&days=90", &rig.key).await;
    let of = |id: u64| {
        let id = json!(id.to_string());
        campaigns["data"].as_array().unwrap().iter().find(|row| row["external_id"] == id)
    };
    assert_eq!(of(CAMPAIGN).unwrap()["name"], "Kettles");
    assert_eq!(
        campaigns["coverage"],
        json!([{"platform": "meta", "days_synced": 90, "provisional_from": day(27).to_string()}])
    );
    assert_eq!(campaigns["data"].as_array().unwrap().len(), 3, "the file's campaign gave way: {campaigns}");
    let ads = rig.service.process.json("/api/v1/ads?level=ad&status=archived&days=90&platform=meta", &rig.key).await;
    let archived = json!(AD.to_string());
    assert!(ads["data"].as_array().unwrap().iter().any(|row| row["external_id"] == archived), "{ads}");

    let printed = import().output().unwrap();
    assert!(String::from_utf8_lossy(&printed.stdout).contains("1 refused"), "{printed:?}");
    let said = std::fs::read_to_string(file.with_extension("csv.rejects.csv")).unwrap();
    assert!(said.contains("Meta Ads is connected and has already reported"), "{said}");
    ADS.compare(&rig).await;
}

#[tokio::test]
async fn advertising_is_read_whatever_the_network_refuses() {
    let rig = Rig::start(Platform::meta(DAYS, 1, "EUR")).await;
    let platform = rig.platform();
    platform.fails("too_much", 6, 9).await;
    platform.fails("report_fails", 1, 0).await;
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
    rig.sync(id).await;
    ADS.compare(&rig).await;
}

#[tokio::test]
async fn advertising_is_read_however_often_the_service_is_killed() {
    let mut rig = Rig::start(Platform::meta(DAYS, 1, "EUR")).await;
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
async fn a_token_that_died_asks_for_a_new_connection_which_reads_on() {
    let rig = Rig::start(Platform::meta(DAYS, 1, "EUR")).await;
    let id = rig.connect().await;
    ADS.wait_for_all(&rig, id).await;
    rig.platform().fails("revoke", 1, 0).await;
    happens(&rig, json!({"action": "attribute", "ad": AD, "day": day(9), "purchases": 1, "revenue": "7.01"})).await;
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
async fn an_ad_account_in_another_currency_counts_once_there_are_rates() {
    let rig = Rig::start(Platform::meta(40, 1, "USD")).await;
    let id = rig.connect().await;
    let sql = rig.service.db.client().await.unwrap();
    rig.until("the newest days are read", async || {
        let read = "SELECT count(*) FROM sync_streams WHERE stream = 'ads' AND cursor_at IS NOT NULL";
        sql.query_one(read, &[]).await.unwrap().get::<_, i64>(0) == 1
    })
    .await;
    assert_eq!(rig.connection(id).await["last_error"], Value::Null);
    let path = "/api/v1/ads?level=account&days=20";
    let answer = rig.service.process.json(path, &rig.key).await;
    let row = &answer["data"][0];
    assert_eq!((&row["spend"], &row["native"]["currency"]), (&Value::Null, &json!("USD")), "{answer}");
    assert!(answer["warnings"].to_string().contains("fx_missing"), "{answer}");

    let file = rig.service.folder.path().join("rates.csv");
    let rates: String = (0..60).map(|back| format!("{},USD,0.5\n", day(back))).collect();
    std::fs::write(&file, format!("date,currency,rate\n{rates}")).unwrap();
    let account = rig.service.account.to_string();
    run(&mut rig.service.api(&["import", "rates", file.to_str().unwrap(), "--account", &account]));
    let ledger = rig.platform().ask("ledger").await;
    let spent =
        |back: i64| ledger["days"][day(back).to_string()]["spend"].as_str().unwrap().parse::<Decimal>().unwrap();
    let row = &rig.service.process.json(path, &rig.key).await["data"][0];
    let spend = row["spend"].to_string().parse::<Decimal>().unwrap();
    let expected: Decimal = (0..20).map(spent).sum::<Decimal>() / Decimal::TWO;
    assert!((spend - expected).abs() < Decimal::new(1, 2), "{spend} {expected}");
}

#[tokio::test]
async fn of_several_ad_accounts_one_is_named() {
    let rig = Rig::start(Platform::meta(5, 2, "EUR")).await;
    let post = async |path: &str, body: Value| {
        let answer = rig.service.process.post(&format!("/api/v1/integrations/meta/{path}"), &rig.key, &body).await;
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let (_, begun) = post("authorize", json!({})).await;
    let query = rig.platform().agree(begun["url"].as_str().unwrap()).await;
    let (status, refused) = post("complete", json!({ "query": query })).await;
    assert_eq!((status, &refused["error"]), (400, &json!("authorization_refused")), "{refused}");
    let said = refused["message"].as_str().unwrap();
    assert!(said.contains("1048576 (Shop 1048576), 1048577 (Shop 1048577)"), "{said}");

    assert_eq!(post("authorize", json!({ "shop": "example.com" })).await.0, 400);
    let (_, begun) = post("authorize", json!({ "shop": "act_1048577" })).await;
    let query = rig.platform().agree(begun["url"].as_str().unwrap()).await;
    let (status, made) = post("complete", json!({ "query": query })).await;
    assert_eq!((status, &made["shop"]), (200, &json!("act_1048577")), "{made}");
}
