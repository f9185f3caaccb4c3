//! The command line.

use serde_json::Value;

use crate::service::{Service, run};

#[tokio::test]
async fn keys_are_shown_once_and_listed_without_themselves() {
    let service = Service::start().await;
    let account = service.account.to_string();
    let made: Value = serde_json::from_str(&run(&mut service.api(&[
        "keys",
        "create",
        "--account",
        &account,
        "--mode",
        "test",
        "--scopes",
        "read",
        "--expires",
        "30d",
        "--name",
        "BI",
        "--json",
    ])))
    .unwrap();
    let key = made["key"].as_str().unwrap();
    assert!(key.starts_with("svc_test_"));
    // The sandbox is the user's other account.
    let sandbox = made["account_id"].as_i64().unwrap();
    assert_ne!(sandbox, service.account);
    let listed = run(&mut service.api(&["keys", "list", "--account", &sandbox.to_string(), "--json"]));
    assert!(listed.contains("\"BI\"") && !listed.contains(key), "{listed}");
    let me = service.process.json("/api/v1/me", key).await;
    assert_eq!(me["scopes"], serde_json::json!(["read"]));
    assert_eq!(me["profile"]["timezone"], "Europe/Madrid");
}

#[tokio::test]
async fn a_command_for_an_account_that_is_not_there_says_so() {
    let service = Service::start().await;
    for arguments in [&["keys", "create", "--account", "999"][..], &["jobs", "run", "all", "--account", "999"]] {
        let output = service.api(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.contains("there is no account 999")), (Some(1), true), "{said}");
    }
}

#[tokio::test]
async fn wrong_usage_is_refused_with_code_2_and_names_what_is_allowed() {
    let service = Service::start().await;
    for (arguments, allowed) in [
        (&["keys", "create", "--account", "1", "--scopes", "admin"][..], "read, write"),
        (&["accounts", "create", "--name", "x", "--currency", "euro"], "ISO 4217"),
        (&["accounts", "create", "--name", "x", "--timezone", "Madrid"], "IANA"),
        (&["jobs", "run", "everything"], "profit_snapshots"),
    ] {
        let output = service.api(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(allowed), "{arguments:?}: {said}");
    }
}
