//! The keys that seal secrets: made for an embedded database only, and never exchanged unnoticed.

use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestDb;

use crate::service::{DATA_KEYS, Process, Service, api, run};

/// 32 bytes, none of them zero.
const OTHER: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";

async fn register(service: &Service) {
    let key = service.key(service.account, "write");
    let registered =
        service.process.post("/api/v1/webhooks", &key, &json!({ "url": "https://example.com/hook" })).await;
    assert_eq!(registered.status(), 200);
}

/// What a process says that must not start.
fn refused(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command.output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

fn with_keys(service: &Service, role: &str, keys: &str) -> Command {
    let mut command = service.api(&[role]);
    command.env("BAS_DATA_KEYS", keys);
    command
}

#[tokio::test]
async fn a_process_with_other_keys_does_not_start_and_says_what_to_do() {
    let service = Service::start().await;
    register(&service).await;
    for role in ["up", "serve", "work"] {
        // The same id, and another key behind it.
        let (code, said) = refused(&mut with_keys(&service, role, &format!("test:{OTHER}")));
        assert_eq!(code, Some(2), "{role}: {said}");
        assert!(said.contains("`test` is another one") && said.contains("needs an id of its own"), "{said}");
        let (code, said) = refused(&mut with_keys(&service, role, &format!("other:{OTHER}")));
        assert_eq!(code, Some(2), "{role}: {said}");
        assert!(said.contains("`test`") && said.contains("api secrets forget test"), "{said}");
    }
    let reseal = service.api(&["secrets", "reseal"]).env("BAS_DATA_KEYS", format!("test:{OTHER}")).output().unwrap();
    assert_eq!(reseal.status.code(), Some(2));
}

#[tokio::test]
async fn keys_without_one_in_common_are_refused_before_anything_is_sealed() {
    let service = Service::start().await;
    let (code, said) = refused(&mut with_keys(&service, "work", &format!("other:{OTHER}")));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`test`"), "{said}");
}

#[tokio::test]
async fn a_rotation_goes_step_by_step_while_other_processes_run() {
    let service = Service::start().await;
    register(&service).await;
    let (old, new) = (DATA_KEYS, format!("new:{OTHER}"));
    let starts = |keys: &str| drop(Process::start(&mut with_keys(&service, "serve", keys)));
    starts(&format!("{old},{new}"));
    starts(old);
    starts(&format!("{new},{old}"));
    // Too early: nothing is resealed yet.
    let (code, said) = refused(&mut with_keys(&service, "serve", &new));
    assert!(code == Some(2) && said.contains("`test`"), "{said}");
    run(service.api(&["secrets", "reseal"]).env("BAS_DATA_KEYS", format!("{new},{old}")));
    starts(&new);
}

#[tokio::test]
async fn a_lost_key_is_given_up_by_name() {
    let service = Service::start().await;
    register(&service).await;
    let keys = format!("other:{OTHER}");
    let asked = service.api(&["secrets", "forget", "test"]).env("BAS_DATA_KEYS", &keys).output().unwrap();
    let said = String::from_utf8(asked.stdout).unwrap();
    assert!(asked.status.code() == Some(1) && said.contains("Subscription 1 "), "{said}");
    assert_eq!(refused(&mut with_keys(&service, "serve", &keys)).0, Some(2));
    let (code, said) = refused(&mut service.api(&["secrets", "forget", "tset", "--yes"]));
    assert!(code == Some(1) && said.contains("no data key `tset`; known: test"), "{said}");
    run(&mut service.api(&["secrets", "forget", "test", "--yes"]));
    drop(Process::start(&mut with_keys(&service, "serve", &keys)));
}

/// An installation of before the keys were recorded: its key is called `local-1`, and secrets are sealed with it.
#[tokio::test]
async fn the_first_start_after_an_upgrade_records_the_key_unless_it_opens_nothing() {
    let service = Service::start().await;
    register(&service).await;
    let sql = service.db.client().await.unwrap();
    sql.execute("DELETE FROM data_keys", &[]).await.unwrap();
    let (code, said) = refused(&mut with_keys(&service, "serve", &format!("test:{OTHER}")));
    assert!(code == Some(2) && said.contains("opens none"), "{said}");
    let recorded = async || -> i64 { sql.query_one("SELECT count(*) FROM data_keys", &[]).await.unwrap().get(0) };
    assert_eq!(recorded().await, 0);
    drop(Process::start(&mut with_keys(&service, "serve", DATA_KEYS)));
    assert_eq!(recorded().await, 1);
    assert_eq!(refused(&mut with_keys(&service, "serve", &format!("test:{OTHER}"))).0, Some(2));
}

/// A replica of a new version that starts before the schema is brought up to date.
#[tokio::test]
async fn a_process_starts_on_a_schema_that_is_not_migrated_yet() {
    let service = Service::start().await;
    let sql = service.db.client().await.unwrap();
    sql.batch_execute("DROP TABLE data_keys").await.unwrap();
    let process = Process::start(&mut with_keys(&service, "serve", DATA_KEYS));
    let key = service.key(service.account, "read");
    assert_eq!(process.get("/api/v1/me", &key).await.status(), 200);
}

/// It compares its keys as soon as there is something to compare them with.
#[tokio::test]
async fn a_process_that_started_unseen_with_other_keys_ends_once_they_are_known() {
    let service = Service::start().await;
    let sql = service.db.client().await.unwrap();
    sql.batch_execute("ALTER TABLE data_keys RENAME TO away").await.unwrap();
    let process = Process::start(&mut with_keys(&service, "work", &format!("other:{OTHER}")));
    sql.batch_execute("ALTER TABLE away RENAME TO data_keys").await.unwrap();
    let status = tokio::task::spawn_blocking(|| process.ended()).await.unwrap();
    assert_eq!(status.code(), Some(2));
}

fn up(db: &TestDb, folder: &TempDir) -> Command {
    let mut command = api(&db.url(), folder);
    command.args(["up", "--no-demo"]);
    command
}

#[tokio::test]
async fn up_on_a_configured_database_works_in_an_empty_folder() {
    let (db, folder) = (TestDb::new().await.unwrap(), tempfile::tempdir().unwrap());
    let process = Process::start(&mut up(&db, &folder));
    let status: Value =
        process.request(reqwest::Method::GET, "/api/v1/status").send().await.unwrap().json().await.unwrap();
    assert_eq!(status["status"], "operational");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "it needs nothing there");
}

#[tokio::test]
async fn without_keys_a_configured_database_is_not_touched_and_the_command_that_makes_one_is_printed() {
    let (db, folder) = (TestDb::new().await.unwrap(), tempfile::tempdir().unwrap());
    let (code, said) = refused(up(&db, &folder).env_remove("BAS_DATA_KEYS"));
    assert_eq!(code, Some(2), "{said}");
    let command =
        said.split_once("export BAS_DATA_KEYS=\"$(api ").and_then(|(_, rest)| rest.split_once(")\"")).unwrap().0;
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // As it is printed.
    let made = run(api(&db.url(), &folder).args(command.split(' ')));
    drop(Process::start(up(&db, &folder).env("BAS_DATA_KEYS", made.trim())));
    let again = run(api(&db.url(), &folder).args(command.split(' ')));
    assert_ne!(made.split_once(':').unwrap().0, again.split_once(':').unwrap().0, "each key has an id of its own");
}

/// Money does not depend on how an environment is called.
#[tokio::test]
async fn nothing_is_sold_on_a_configured_database_unless_a_gateway_is_asked_for_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for (environment, flag, sells) in [("development", None, false), ("production", Some("--dev-gateway"), true)] {
        let db = TestDb::new().await.unwrap();
        let process = Process::start(up(&db, &folder).args(flag).env("BAS_ENV", environment));
        let hook = process.request(reqwest::Method::POST, "/hooks/payments/rebill").body("{}").send().await.unwrap();
        // Without a gateway there is no such place.
        assert_eq!(hook.status() != 404, sells, "{environment}: {}", hook.status());
    }
}
