//! Insights by the nightly job: written by the model where credits suffice, else by the rules; and what it logs.

use std::fs::{self, File};

use serde_json::{Value, json};

use super::provider::{KEY, Provider, balance, ended, generate, sell_out, start, worker_that_logs};
use crate::service::{DATA_KEYS, Service, run};

/// Runs the job for an account now.
fn nightly(service: &Service, provider: &Provider, account: i64) {
    let mut command = service.api(&["jobs", "run", "insight_generation", "--account", &account.to_string()]);
    run(command.envs(provider.settings()));
}

/// The account's only insight.
async fn insight(service: &Service, key: &str) -> Value {
    let insights = service.process.json("/api/v1/insights?status=open", key).await;
    assert_eq!(insights["data"].as_array().unwrap().len(), 1);
    insights["data"][0].clone()
}

/// Trigger, outcome and credits kept of every AI run of the account.
async fn runs(service: &Service, account: i64) -> Vec<String> {
    let sql = service.db.client().await.unwrap();
    let rows = "SELECT trigger || ' ' || outcome || ' ' || CASE WHEN refunded THEN 0 ELSE credits END
        FROM ai_runs WHERE account_id = $1 ORDER BY id";
    sql.query(rows, &[&account]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn the_nightly_job_pays_for_words_and_falls_back_to_the_rules() {
    let service = Service::start().await;
    let provider = Provider::start(&service, &[]);
    let account = service.account;
    let key = service.key(account, "read,write");
    let before = balance(&service, &key).await;
    sell_out(&service, account, "MUG").await;
    nightly(&service, &provider, account);
    let worded = insight(&service, &key).await;
    assert_eq!(worded["source"], "model");
    assert!(worded["suggested_action"].as_str().unwrap().starts_with("Please: "), "{worded}");
    assert_eq!(balance(&service, &key).await, before - 5);

    // The same facts again cost nothing and keep their texts.
    nightly(&service, &provider, account);
    assert_eq!(insight(&service, &key).await["source"], "model");
    assert_eq!((balance(&service, &key).await, &provider.calls().await["count"]), (before - 5, &json!(1)));

    for (sku, fault) in [("CUP", "html"), ("PEN", "invented")] {
        provider.fault(fault).await;
        sell_out(&service, account, sku).await;
        nightly(&service, &provider, account);
        let shown = insight(&service, &key).await;
        assert_eq!((&shown["source"], &shown["id"]), (&json!("rules"), &worded["id"]), "{fault}");
        assert!(!shown.to_string().contains("987654"), "{shown}");
        assert_eq!(balance(&service, &key).await, before - 5, "{fault}");
    }
    let made = ["schedule worded 5", "schedule failed 0", "schedule refused 0"];
    assert_eq!(runs(&service, account).await, made);

    // Neither a pause nor an empty purse keeps the insights from being written.
    provider.fault("none").await;
    run(&mut service.api(&["ai", "pause", &account.to_string(), "--reason", "disputed invoice"]));
    sell_out(&service, account, "CAP").await;
    nightly(&service, &provider, account);
    assert!(insight(&service, &key).await.to_string().contains("CAP"));
    run(&mut service.api(&["ai", "resume", &account.to_string()]));
    let all_but_four = (4 - balance(&service, &key).await).to_string();
    run(&mut service.api(&["credits", "adjust", &account.to_string(), &all_but_four, "--reason", "test"]));
    sell_out(&service, account, "HAT").await;
    nightly(&service, &provider, account);
    let shown = insight(&service, &key).await;
    assert!(shown["source"] == "rules" && shown.to_string().contains("HAT"), "{shown}");
    assert_eq!((balance(&service, &key).await, runs(&service, account).await.len()), (4, 3));

    // A sandbox calls no provider.
    let (sandbox, asked) = (account + 1, provider.calls().await["count"].clone());
    sell_out(&service, sandbox, "MUG").await;
    nightly(&service, &provider, sandbox);
    assert_eq!(insight(&service, &service.key(sandbox, "read")).await["source"], "rules");
    assert_eq!((provider.calls().await["count"].clone(), runs(&service, sandbox).await.len()), (asked, 0));
}

#[tokio::test]
async fn what_runs_log_holds_no_secret_and_nothing_of_the_shop() {
    let (service, provider) = start(&[]).await;
    let key = service.key(service.account, "read,write");
    let path = service.folder.path().join("worker.log");
    // Everything that this project has to say.
    let own = ["app", "connectors", "delivery", "domain", "server", "store"].map(|name| format!("{name}=trace"));
    let filter = format!("info,{}", own.join(","));
    let _worker = worker_that_logs(&service, &provider, &filter, File::create(&path).unwrap().into()).await;
    for (number, fault) in ["none", "invented", "html", "unauthorized"].into_iter().enumerate() {
        provider.fault(fault).await;
        // A product may be called anything.
        sell_out(&service, service.account, &format!("jane{number}@example.com")).await;
        let job = generate(&service, &key).await;
        ended(&service, &key, &job).await;
    }
    assert!(insight(&service, &key).await.to_string().contains("@example.com"));
    let log = fs::read_to_string(&path).unwrap();
    assert!(log.contains("insight_generation"), "{log}");
    for secret in [KEY, "@example.com", "jane", "987654", DATA_KEYS, "Please: ", &key] {
        assert!(!log.contains(secret), "{secret} is in {log}");
    }
}
