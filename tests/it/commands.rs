//! The command line.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    time::{Duration, Instant},
};

use serde_json::Value;
use testkit::TestDb;

use crate::service::{Service, api, run, zone};

/// `api … | head`: who has seen enough closes the pipe.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut api = std::process::Command::new(crate::API);
    let mut child = api.arg("openapi").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // More than fits into the pipe.
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!((first.as_str(), ended.status.code()), ("{\n", Some(0)));
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}

/// A full disk under the log, or a reader of it that has gone, ends nothing; what was printed and did not get out was not done.
#[test]
fn what_cannot_be_written_ends_no_command_and_is_told_by_the_exit_code() {
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else { return };
    let folder = tempfile::tempdir().unwrap();
    let command = |arguments: &[&str]| {
        let mut command = api("", &folder);
        command.args(arguments);
        command
    };
    let mut logging = command(&["openapi", "--log", "warn"]);
    let logged = logging.env("BAS_REGOIN", "typo").stderr(full.try_clone().unwrap()).output().unwrap();
    assert_eq!(logged.status.code(), Some(0));
    serde_json::from_slice::<Value>(&logged.stdout).unwrap();
    let refused = command(&["openapi", "--config", "none.toml"]).stderr(full.try_clone().unwrap()).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let printed = command(&["openapi"]).stdout(full).output().unwrap();
    assert_eq!(printed.status.code(), Some(1));
    let said = String::from_utf8(printed.stderr).unwrap();
    assert_eq!(said.matches("standard output cannot be written").count(), 1, "{said}");
}

#[tokio::test]
async fn a_command_on_a_database_that_is_not_up_to_date_says_what_to_do() {
    let (db, folder) = (TestDb::new().await.unwrap(), tempfile::tempdir().unwrap());
    let newest = "DELETE FROM __diesel_schema_migrations
        WHERE version = (SELECT max(version) FROM __diesel_schema_migrations)";
    assert_eq!(db.client().await.unwrap().execute(newest, &[]).await.unwrap(), 1);
    let output = api(&db.url(), &folder).args(["accounts", "list"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("`api migrate`"), "{said}");
}

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
    assert_eq!(me["profile"]["timezone"], zone());
}

#[tokio::test]
async fn a_rotated_key_goes_on_for_the_overlap_and_says_when_it_was_used() {
    let service = Service::start().await;
    let account = service.account.to_string();
    let create = ["keys", "create", "--account", &account, "--scopes", "read", "--name", "BI", "--json"];
    let old: Value = serde_json::from_str(&run(&mut service.api(&create))).unwrap();
    let id = old["id"].to_string();
    let rotate = |hours: &str| -> Value {
        let arguments =
            ["keys", "rotate", &id, "--account", &account, "--expires", "90d", "--overlap-hours", hours, "--json"];
        serde_json::from_str(&run(&mut service.api(&arguments))).unwrap()
    };
    let new = rotate("48");
    assert_eq!((&new["name"], &new["scopes"]), (&old["name"], &old["scopes"]));
    for key in [&old, &new] {
        service.process.json("/api/v1/me", key["key"].as_str().unwrap()).await;
    }
    let listed = || -> Value {
        let listed = run(&mut service.api(&["keys", "list", "--account", &account, "--json"]));
        let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
        listed.into_iter().find(|key| key["id"] == old["id"]).unwrap()
    };
    assert!(listed()["expires_at"].is_string());
    // It is written beside the requests.
    while listed()["last_used_at"].is_null() {
        tokio::task::yield_now().await;
    }
    // Rotated again without an overlap, it ends at once.
    rotate("0");
    let rotated = Instant::now();
    // The service hears of it from the database a moment later.
    while service.process.get("/api/v1/me", old["key"].as_str().unwrap()).await.status() != 401 {
        assert!(rotated.elapsed() < Duration::from_secs(20), "still accepted");
    }
    let again = service.api(&["keys", "rotate", &id, "--account", &account]).output().unwrap();
    assert!(String::from_utf8_lossy(&again.stderr).contains("no key"), "{again:?}");
}

#[tokio::test]
async fn a_command_for_an_account_that_is_not_there_says_so() {
    let service = Service::start().await;
    for arguments in [
        &["keys", "create", "--account", "999"][..],
        &["keys", "list", "--account", "999"],
        &["credits", "show", "999"],
        &["jobs", "run", "all", "--account", "999"],
        &["jobs", "list", "--account", "999"],
        &["integrations", "list", "--account", "999"],
    ] {
        let output = service.api(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.contains("there is no account 999")), (Some(1), true), "{said}");
    }
}

#[tokio::test]
async fn a_privacy_request_of_whom_nothing_is_kept_is_not_answered_with_null() {
    let service = Service::start().await;
    let sql = service.db.client().await.unwrap();
    sql.batch_execute(&format!(
        "INSERT INTO integrations (account_id, provider, shop, connected_at)
            VALUES ({}, 'shopify', 'example.myshopify.com', now());
        INSERT INTO privacy_requests (account_id, integration_id, inbox_id, kind, customer, received_at, due_at)
            SELECT account_id, id, 1, 'data', 'nobody', now(), now() FROM integrations",
        service.account
    ))
    .await
    .unwrap();
    let shown = service.api(&["integrations", "privacy", "--show", "1"]).output().unwrap();
    let said = String::from_utf8(shown.stderr).unwrap();
    assert!(shown.status.code() == Some(1) && said.contains("nothing is kept"), "{said}");
    assert!(shown.stdout.is_empty());
}

#[tokio::test]
async fn wrong_usage_is_refused_with_code_2_and_names_what_is_allowed() {
    let service = Service::start().await;
    let account = service.account.to_string();
    for (arguments, allowed) in [
        (&["keys", "create", "--account", "1", "--scopes", "admin"][..], "read, write"),
        (&["accounts", "create", "--name", "x", "--currency", "euro"], "ISO 4217"),
        (&["accounts", "create", "--name", "x", "--timezone", "Madrid"], "IANA"),
        (&["accounts", "create", "--name", "x", "--country", "ZZ"], "ISO 3166-1"),
        (&["accounts", "set", "1", "--country", "br"], "two capital letters"),
        (&["jobs", "run", "everything"], "profit_snapshots"),
        (&["jobs", "run", "all", "--as-of", "3000-01-01"], "1970 to 2999"),
        (&["jobs", "run", "all", "--account", &account, "--as-of", "2020-01-01"], "a day from 20"),
        (&["jobs", "run", "all", "--account", &account, "--as-of", "2999-01-01"], "a day from 20"),
        (&["keys", "create", "--account", "1", "--expires", "9999-12-31T23:59:59-23:59"], "1970 to 2999"),
        (&["keys", "create", "--account", "1", "--expires", "2020-01-01"], "in the future"),
        (&["keys", "rotate", "1", "--account", "1", "--expires", "2020-01-01"], "in the future"),
        (&["import", "stock", "x.csv", "--account", "1", "--date", "1969-12-31"], "1970 to 2999"),
    ] {
        let output = service.api(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(allowed), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn refused_lines_come_back_as_they_were_and_go_in_when_they_are_mended() {
    let service = Service::start().await;
    let folder = tempfile::tempdir().unwrap();
    let import = |what: &str, name: &str, data: &[u8]| {
        let file = folder.path().join(name);
        std::fs::write(&file, data).unwrap();
        let account = service.account.to_string();
        let arguments =
            ["import", what, file.to_str().unwrap(), "--account", &account, "--latin1", "--nice-ratio", "0"];
        let output = service.api(&arguments).output().unwrap();
        let kept = std::fs::read(folder.path().join(format!("{name}.rejects.csv"))).unwrap_or_default();
        (output.status.code().unwrap(), kept)
    };
    assert_eq!(import("products", "products.csv", b"sku,price\nMUG,10\n").0, 0);
    let stock = b"sku;stock;note\r\nMUG;5;\r\n GHOST ;\"7\";caf\xE9\r\nMUG;many;\"a;b\"\r\n";
    let (code, kept) = import("stock", "stock.csv", stock);
    let expected = b"sku;stock;note;rejected_line;rejected_reason\r\n\
        MUG;many;\"a;b\";4;stock is not a number\r\n GHOST ;\"7\";caf\xE9;3;no product has this sku\r\n";
    assert_eq!((code, kept.as_slice()), (3, expected.as_slice()), "{}", String::from_utf8_lossy(&kept));

    assert_eq!(import("products", "ghost.csv", b"sku,price\nGHOST,10\n").0, 0);
    let at = kept.windows(4).position(|window| window == b"many").unwrap();
    let mended = [&kept[..at], b"9", &kept[at + 4..]].concat();
    assert_eq!(import("stock", "mended.csv", &mended), (0, Vec::new()));
}

#[tokio::test]
async fn what_goes_wrong_with_the_file_of_refused_lines_is_said_as_it_is() {
    let service = Service::start().await;
    let (folder, account) = (tempfile::tempdir().unwrap(), service.account.to_string());
    let file = folder.path().join("products.csv");
    let text = "sku,price\nMUG,10\nCUP,dear\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let import = |rejects: &str| {
        let output = service
            .api(&["import", "products", file, "--account", &account, "--nice-ratio", "0", "--rejects", rejects])
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, _, said) = import(file);
    assert!(code == Some(2) && said.contains("is the file that is read"), "{said}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    if std::path::Path::new("/dev/full").exists() {
        let (code, printed, said) = import("/dev/full");
        assert!(code == Some(1) && said.contains("the other lines went in") && !said.contains("nothing"), "{said}");
        assert!(printed.contains("1 accepted, 1 refused"), "{printed}");
        let sql = service.db.client().await.unwrap();
        let products: i64 = sql.query_one("SELECT count(*) FROM products", &[]).await.unwrap().get(0);
        assert_eq!(products, 1);
    }
}
