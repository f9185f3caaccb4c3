//! Insights on demand: a provider with every fault, a worker that is killed.

use std::time::Duration;

use reqwest::Method;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::provider::{PATIENCE, balance, ended, generate, sell_out, start, worker};
use crate::service::run;

#[tokio::test]
async fn a_model_that_goes_wrong_costs_nothing_and_says_nothing() {
    let (service, provider) = start(&["--slow-seconds", "20"]).await;
    let key = service.key(service.account, "read,write");
    let _worker = worker(&service, &provider).await;
    let before = balance(&service, &key).await;
    let faults = [
        ("html", "failed", "not_json"),
        ("half_json", "failed", "truncated"),
        ("empty", "failed", "empty"),
        ("slow", "failed", "timeout"),
        ("rate_limited", "failed", "rate_limited"),
        ("rate_limited_forever", "failed", "rate_limited"),
        ("server_error", "failed", "server_error"),
        ("unauthorized", "failed", "rejected"),
        ("missing", "failed", "malformed"),
        ("invented", "refused", "`987654`"),
        ("causal", "refused", "because"),
        ("other_language", "refused", "`los`"),
    ];
    for (number, (fault, outcome, reason)) in faults.into_iter().enumerate() {
        provider.fault(fault).await;
        sell_out(&service, service.account, &format!("SKU {number}")).await;
        let job = generate(&service, &key).await;
        let job = ended(&service, &key, &job).await;
        assert_eq!(
            (&job["outcome"], &job["refunded"], &job["credits"]),
            (&json!(outcome), &json!(true), &json!(5)),
            "{fault}"
        );
        assert!(job["reason"].as_str().unwrap().contains(reason), "{fault}: {job}");
        let insights = service.process.json("/api/v1/insights?status=open", &key).await;
        assert_eq!(insights["data"].as_array().unwrap().len(), 1, "{fault}");
        assert_eq!(insights["data"][0]["source"], "rules", "{fault}");
        assert!(!insights.to_string().contains("987654"));
        assert_eq!(balance(&service, &key).await, before, "{fault}");
    }
    for (number, fault) in ["none", "no_usage", "no_schema", "rate_limited_once"].into_iter().enumerate() {
        provider.fault(fault).await;
        sell_out(&service, service.account, &format!("SKU {number} again")).await;
        let job = generate(&service, &key).await;
        let job = ended(&service, &key, &job).await;
        assert_eq!((&job["outcome"], &job["refunded"]), (&json!("worded"), &json!(false)), "{fault}: {job}");
        let insights = service.process.json("/api/v1/insights?status=open", &key).await;
        assert_eq!(insights["data"][0]["source"], "model", "{fault}");
        let action = insights["data"][0]["suggested_action"].as_str().unwrap();
        assert!(action.starts_with("Please: "), "{action}");
    }
    assert_eq!(balance(&service, &key).await, before - 4 * 5);
    let job = generate(&service, &key).await;
    let job = ended(&service, &key, &job).await;
    let ended = (&job["outcome"], &job["credits"], &job["refunded"]);
    assert_eq!(ended, (&json!("nothing_new"), &json!(0), &json!(false)), "nothing is worded twice");

    let sql = service.db.client().await.unwrap();
    let exact = "SELECT count(*) FROM ai_calls WHERE NOT estimated AND cost_usd = 0.0027 AND prompt_tokens = 1000";
    assert_eq!(sql.query_one(exact, &[]).await.unwrap().get::<_, i64>(0), 8, "1000 × 1.5 and 200 × 6 per million");
    let total = "SELECT sum(cost_usd)::text, sum(prompt_tokens + completion_tokens)::bigint, count(*) FROM ai_calls";
    let row = sql.query_one(total, &[]).await.unwrap();
    let usage = service.process.json("/api/v1/usage", &key).await;
    let cost: Decimal = row.get::<_, &str>(0).parse().unwrap();
    assert_eq!(usage["ai_cost"]["cost_usd"].to_string().parse::<Decimal>().unwrap(), cost);
    assert_eq!(
        (&usage["ai_cost"]["tokens"], &usage["ai_cost"]["requests"]),
        (&json!(row.get::<_, i64>(1)), &json!(row.get::<_, i64>(2)))
    );
    let asked = provider.calls().await;
    assert!(asked["last"]["messages"][1]["content"].as_str().unwrap().contains("\\\"SKU 0\\\""));
}

#[tokio::test]
async fn a_worker_that_is_killed_in_a_call_leaves_a_run_that_is_refunded() {
    let (service, provider) = start(&["--fault", "slow", "--slow-seconds", "60"]).await;
    let key = service.key(service.account, "read,write");
    let before = balance(&service, &key).await;
    let first = worker(&service, &provider).await;
    sell_out(&service, service.account, "MUG").await;
    let job = generate(&service, &key).await;
    let asked = async {
        while provider.calls().await["count"] == 0 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.expect("the provider was not asked");
    drop(first);
    assert_eq!(balance(&service, &key).await, before - 5);
    let sql = service.db.client().await.unwrap();
    sql.execute("UPDATE ai_runs SET lease_until = now() - interval '1 second' WHERE state = 'running'", &[])
        .await
        .unwrap();
    let _second = worker(&service, &provider).await;
    let job = ended(&service, &key, &job).await;
    assert!(["interrupted", "failed"].contains(&job["outcome"].as_str().unwrap()), "{job}");
    assert_eq!((&job["refunded"], balance(&service, &key).await), (&json!(true), before));
}

#[tokio::test]
async fn a_job_that_was_accepted_before_a_pause_calls_nobody_after_it() {
    let (service, provider) = start(&[]).await;
    let key = service.key(service.account, "read,write");
    let before = balance(&service, &key).await;
    // The jobs of the day are done, so that the next worker has nothing but the run.
    drop(worker(&service, &provider).await);
    sell_out(&service, service.account, "MUG").await;
    let job = generate(&service, &key).await;
    run(&mut service.api(&["ai", "pause", &service.account.to_string(), "--reason", "disputed invoice"]));
    let _worker = worker(&service, &provider).await;
    let job = ended(&service, &key, &job).await;
    assert_eq!((&job["outcome"], &job["reason"]), (&json!("failed"), &json!("paused")));
    assert_eq!((balance(&service, &key).await, &provider.calls().await["count"]), (before, &json!(0)));
    let insights = service.process.json("/api/v1/insights?status=open", &key).await;
    assert_eq!(insights["data"][0]["source"], "rules", "the rules have their say all the same");
}

#[tokio::test]
async fn who_is_paused_or_has_no_credits_is_refused_and_a_sandbox_calls_nobody() {
    let (service, provider) = start(&[]).await;
    let key = service.key(service.account, "read,write");
    let post = async |key: &str, idempotency: &str| {
        let request = service.process.request(Method::POST, "/api/v1/insights/generate").bearer_auth(key);
        let answer = request.header("idempotency-key", idempotency).send().await.unwrap();
        (answer.status().as_u16(), answer.json::<Value>().await.unwrap())
    };
    let account = service.account.to_string();
    run(&mut service.api(&["ai", "pause", &account, "--reason", "disputed invoice", "--by", "ana"]));
    let (status, refused) = post(&key, "k1").await;
    assert_eq!((status, &refused["error"]), (402, &json!("payment_required")));
    let shown: Value = serde_json::from_str(&run(&mut service.api(&["ai", "status", &account, "--json"]))).unwrap();
    assert_eq!(
        (&shown["access"], &shown["pause"]["by"], &shown["critical_usd"]),
        (&json!("paused"), &json!("ana"), &json!("50"))
    );
    run(&mut service.api(&["ai", "resume", &account]));
    run(&mut service.api(&["ai", "limits", &account, "--warning", "1.5", "--auto-pause", "false"]));

    let sql = service.db.client().await.unwrap();
    let rows = "SELECT count(*) FROM credit_transactions WHERE account_id = $1 AND kind <> 'grant'";
    assert_eq!(sql.query_one(rows, &[&service.account]).await.unwrap().get::<_, i64>(0), 0);
    let (status, job) = post(&key, "k1").await;
    assert_eq!((status, &job["state"]), (202, &json!("queued")), "a refusal is not remembered under the key");
    let (_, again) = post(&key, "k1").await;
    assert_eq!(again["id"], job["id"]);

    let poor = service.key(service.stranger, "read,write");
    sql.batch_execute(&format!(
        "UPDATE credit_balances SET balance = 4 WHERE account_id = {0};
         INSERT INTO credit_transactions (account_id, kind, amount, balance_after, created_at)
         VALUES ({0}, 'adjustment', -496, 4, now())",
        service.stranger
    ))
    .await
    .unwrap();
    let (status, refused) = post(&poor, "k2").await;
    assert_eq!((status, &refused["error"]), (402, &json!("insufficient_credits")));
    assert_eq!(balance(&service, &poor).await, 4);

    let sandbox = service.account + 1;
    let test_key = service.key(sandbox, "read,write");
    assert!(test_key.starts_with("svc_test_"));
    let (status, sandboxed) = post(&test_key, "k3").await;
    assert_eq!((status, &sandboxed["credits"]), (202, &json!(0)));
    let _worker = worker(&service, &provider).await;
    assert_eq!(ended(&service, &test_key, &sandboxed).await["outcome"], "rules");
    assert_eq!(ended(&service, &key, &job).await["outcome"], "nothing_new");
    assert_eq!(sql.query_one(rows, &[&service.account]).await.unwrap().get::<_, i64>(0), 0, "it was not debited");
    assert_eq!(provider.calls().await["count"], 0, "neither the sandbox nor a shop with nothing to tell asks anyone");
}
