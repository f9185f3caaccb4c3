//! A back-up and what is restored from it: the same rows, the same figures, and secrets that open.

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::TestDb;
use time::{Duration, OffsetDateTime};

use crate::{
    service::{Process, Service, api, free_port, run},
    webhook_tools::{listen_at, printed},
};

const FIGURES: [&str; 7] = [
    "/api/v1/anomalies",
    "/api/v1/profit?days=90",
    "/api/v1/customers",
    "/api/v1/inventory",
    "/api/v1/reorder",
    "/api/v1/insights",
    "/api/v1/webhooks",
];

/// The binary on the embedded database of the folder.
fn embedded(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = api("", folder);
    command.args(arguments).env_remove("BAS_DATA_KEYS").env("BAS_RATE_LIMIT_PER_MINUTE", "100000");
    command
}

/// A shop with sales, stock and a webhook; its key, and the webhook's secret.
async fn fill(folder: &TempDir, process: &Process, receiver: &str) -> (String, String) {
    run(&mut embedded(folder, &["accounts", "create", "--name", "Shop", "--currency", "EUR"]));
    let key = run(&mut embedded(folder, &["keys", "create", "--account", "1"])).trim().to_owned();
    let today = OffsetDateTime::now_utc().date();
    let mut orders = "order_id,sku,name,quantity,date,unit_price,customer_id\n".to_owned();
    for back in 1..=60 {
        writeln!(
            orders,
            "O{back},MUG,Mug,2,{} 11:00:00,10.1{},ana{}",
            today - Duration::days(back),
            back % 10,
            back % 7
        )
        .unwrap();
    }
    let stock = format!("sku,stock,date\nMUG,5,{}\n", today - Duration::DAY);
    for (what, text) in [("orders", orders), ("stock", stock)] {
        let file = folder.path().join(format!("{what}.csv"));
        fs::write(&file, text).unwrap();
        let arguments = ["import", what, file.to_str().unwrap(), "--account", "1", "--nice-ratio", "0"];
        run(&mut embedded(folder, &arguments));
    }
    run(&mut embedded(folder, &["jobs", "run", "all", "--account", "1"]));
    let created = process.post("/api/v1/webhooks", &key, &json!({ "url": receiver })).await;
    let created: Value = created.json().await.unwrap();
    (key, created["secret"].as_str().unwrap().to_owned())
}

async fn figures(process: &Process, key: &str) -> Vec<Value> {
    let mut all = Vec::new();
    for path in FIGURES {
        let mut answer = process.json(path, key).await;
        // How new the newest event is: events keep coming during the back-up.
        answer.as_object_mut().unwrap().remove("freshness");
        all.push(answer);
    }
    all
}

async fn assert_same_figures(process: &Process, key: &str, before: &[Value]) {
    for ((now, before), path) in figures(process, key).await.iter().zip(before).zip(FIGURES) {
        assert_eq!(now, before, "{path}");
    }
}

/// Has a test delivery sent, and gives what a receiver with the secret says of its signatures.
async fn delivered(process: &Process, folder: &TempDir, port: u16, key: &str, secret: &str) -> Value {
    let (listener, _) = listen_at(folder, &port.to_string(), secret, &["--count", "1"]);
    let sent = process.post("/api/v1/webhooks/1/test", key, &json!({ "event": "credits.low" })).await;
    assert_eq!(sent.json::<Value>().await.unwrap()["delivered"], true);
    let (received, code) = printed(listener);
    assert_eq!(code, Some(0));
    received[0]["valid"].clone()
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

/// An empty database in the same cluster as another, dropped with it.
async fn empty_database(db: &TestDb) -> String {
    let name = format!("empty_{}", db.url().rsplit_once('/').unwrap().1);
    db.client().await.unwrap().batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
    format!("{}/{name}", db.url().rsplit_once('/').unwrap().0)
}

async fn drop_database(db: &TestDb, url: &str) {
    let name = url.rsplit_once('/').unwrap().1;
    db.client().await.unwrap().batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
}

/// Unpacks one part with the program that everyone has.
fn part(file: &str, name: &str) -> Option<String> {
    let output = Command::new("tar").args(["-xOf", file, name]).output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

fn refused(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    assert!(!status.success(), "{said}");
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_backed_up_while_the_service_worked_is_restored_with_its_figures_and_its_secrets() {
    if testkit::skip_on_citus("a cluster is backed up by the means of PostgreSQL") {
        return;
    }
    let [source, fresh] = [(), ()].map(|()| testkit::reachable_folder().unwrap());
    let port = free_port();
    let receiver = format!("http://127.0.0.1:{port}/");
    let up = |folder: &TempDir, database: &str| {
        let mut command = embedded(folder, &["up", "--no-demo"]);
        command.env("DATABASE_URL", database).env("BAS_WEBHOOK_ALLOW_LOOPBACK", format!("127.0.0.1:{port}"));
        Process::start(&mut command)
    };
    let process = up(&source, "");
    let (key, secret) = fill(&source, &process, &receiver).await;
    assert_eq!(delivered(&process, &source, port, &key, &secret).await, true);
    let before = figures(&process, &key).await;

    // Rows keep coming meanwhile: the counts and the dump are of one snapshot nevertheless.
    let file = path(&source, "shop.backup");
    let backup = {
        let mut command = embedded(&source, &["backup", &file]);
        tokio::task::spawn_blocking(move || run(&mut command))
    };
    let mut sent = 0;
    while !backup.is_finished() {
        assert_eq!(process.post("/api/v1/track", &key, &json!({ "event": "visit" })).await.status(), 200);
        sent += 1;
    }
    let said = backup.await.unwrap();
    assert!(sent > 0 && said.contains("It holds the data keys"), "{said}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!Path::new(&format!("{file}.new")).exists());
    assert!(refused(&mut embedded(&source, &["backup", &file])).contains("is there already"));
    let manifest: Value = serde_json::from_str(&part(&file, "manifest.json").unwrap()).unwrap();
    assert_eq!((&manifest["tables"]["orders"], &manifest["tables"]["webhook_subscriptions"]), (&json!(60), &json!(1)));
    assert_eq!(part(&file, "data_keys"), fs::read_to_string(source.path().join("data/data_keys")).ok());
    // What the manifest says of the key is not the key.
    let sealing = part(&file, "data_keys").unwrap();
    assert!(!manifest.to_string().contains(sealing.trim().split_once(':').unwrap().1));
    process.end(Signal::SIGTERM);

    // A running service, or rows that are there, are not written over.
    let said = refused(&mut embedded(&source, &["restore", &file, "--yes"]));
    assert!(said.contains("is not empty"), "{said}");
    // There is no terminal to ask on.
    let said = refused(&mut embedded(&fresh, &["restore", &file]));
    assert!(said.contains("rows in") && said.contains("--yes"), "{said}");
    assert!(!fresh.path().join("data/data_keys").exists());
    let said = run(&mut embedded(&fresh, &["restore", &file, "--yes"]));
    assert!(said.contains("as many as were backed up") && said.contains("The data keys are those"), "{said}");
    let mode = fs::metadata(fresh.path().join("data/data_keys")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // Stopped after the rows had come and before anything else, it is run again.
    run(&mut embedded(&fresh, &["restore", &file, "--yes"]));
    let restored = up(&fresh, "");
    assert_same_figures(&restored, &key, &before).await;
    assert_eq!(delivered(&restored, &fresh, port, &key, &secret).await, true);
    restored.end(Signal::SIGTERM);

    // The same file into a database elsewhere; the keys lie in the data folder, or come from the environment.
    let (db, elsewhere) = (TestDb::new().await.unwrap(), tempfile::tempdir().unwrap());
    let external = empty_database(&db).await;
    run(embedded(&elsewhere, &["restore", &file, "--yes"])
        .env("DATABASE_URL", &external)
        .env("BAS_DATA_KEYS", sealing.trim()));
    assert!(!elsewhere.path().join("data").exists());
    let mut command = embedded(&elsewhere, &["up", "--no-demo"]);
    command.env("DATABASE_URL", &external).env("BAS_DATA_KEYS", sealing.trim());
    let restored = Process::start(command.env("BAS_WEBHOOK_ALLOW_LOOPBACK", format!("127.0.0.1:{port}")));
    assert_same_figures(&restored, &key, &before).await;
    assert_eq!(delivered(&restored, &elsewhere, port, &key, &secret).await, true);
    restored.end(Signal::SIGTERM);
    drop_database(&db, &external).await;
}

/// A back-up of a service on a configured database, and a folder for it.
async fn external() -> (Service, PathBuf) {
    let service = Service::start().await;
    let key = service.key(service.account, "write");
    let registered = service.process.post("/api/v1/webhooks", &key, &json!({ "url": "https://example.com/a" })).await;
    assert_eq!(registered.status(), 200);
    let file = service.folder.path().join("shop.backup");
    let said = run(&mut service.api(&["backup", file.to_str().unwrap()]));
    assert!(said.contains("does not hold the data keys test"), "{said}");
    (service, file)
}

#[tokio::test]
async fn keys_of_the_environment_are_named_and_not_written_and_others_are_refused() {
    if testkit::skip_on_citus("a cluster is backed up by the means of PostgreSQL") {
        return;
    }
    let (service, file) = external().await;
    let file = file.to_str().unwrap();
    assert_eq!(part(file, "data_keys"), None);
    let manifest: Value = serde_json::from_str(&part(file, "manifest.json").unwrap()).unwrap();
    assert_eq!(
        (&manifest["data_keys"][0]["id"], &manifest["data_keys"][0]["included"]),
        (&json!("test"), &json!(false))
    );
    let target = empty_database(&service.db).await;
    let restore = |keys: &str| {
        let mut command = api(&target, &service.folder);
        command.args(["restore", file, "--yes"]).env("BAS_DATA_KEYS", keys);
        command
    };
    let said = refused(&mut restore("test:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="));
    assert!(said.contains("`test` is another one"), "{said}");
    let without = restore("").output().unwrap();
    let said = String::from_utf8(without.stderr).unwrap();
    assert!(without.status.code() == Some(3) && said.contains("test is missing"), "{said}");
    // Its rows are there: with the key, the rest is done.
    run(&mut restore(crate::service::DATA_KEYS));
    drop_database(&service.db, &target).await;
}

#[tokio::test]
async fn what_cannot_be_restored_whole_is_refused_and_leaves_nothing() {
    if testkit::skip_on_citus("a cluster is backed up by the means of PostgreSQL") {
        return;
    }
    let (service, file) = external().await;
    let target = empty_database(&service.db).await;
    let restore = |file: &Path| {
        let mut command = api(&target, &service.folder);
        command.args(["restore", file.to_str().unwrap(), "--yes"]);
        command
    };
    let whole = fs::read(&file).unwrap();
    let cut = service.folder.path().join("cut.backup");
    fs::write(&cut, &whole[..whole.len() / 2]).unwrap();
    let said = refused(&mut restore(&cut));
    assert!(said.contains("not a whole back-up"), "{said}");

    // One of a later version.
    let sql = service.db.client().await.unwrap();
    sql.batch_execute("INSERT INTO __diesel_schema_migrations VALUES ('29990101000000', now())").await.unwrap();
    let newer = service.folder.path().join("newer.backup");
    run(&mut service.api(&["backup", newer.to_str().unwrap()]));
    let said = refused(&mut restore(&newer));
    assert!(said.contains("made by a newer version"), "{said}");
    sql.batch_execute("DELETE FROM __diesel_schema_migrations WHERE version = '29990101000000'").await.unwrap();

    // One of an earlier version is brought up to date.
    sql.batch_execute("DROP TABLE data_keys; DELETE FROM __diesel_schema_migrations WHERE version = '20261123000060'")
        .await
        .unwrap();
    let older = service.folder.path().join("older.backup");
    run(&mut service.api(&["backup", older.to_str().unwrap()]));
    // Killed in the middle of its migrations, which have added a table, it goes on with them when it is run again.
    let (holder, driver) = tokio_postgres::connect(&target, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(driver);
    holder.batch_execute("SELECT pg_advisory_lock(7203441926)").await.unwrap();
    let mut interrupted = restore(&older).stdout(Stdio::null()).spawn().unwrap();
    let waits = "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database
        WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()";
    while holder.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        assert!(interrupted.try_wait().unwrap().is_none(), "it ended before its migrations");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    interrupted.kill().unwrap();
    interrupted.wait().unwrap();
    holder.batch_execute("CREATE TABLE added_meanwhile (); SELECT pg_advisory_unlock(7203441926)").await.unwrap();
    let said = run(&mut restore(&older));
    assert!(said.contains("are in the database") && said.contains("Migrated: "), "{said}");
    let said = refused(&mut restore(&older));
    assert!(said.contains("is not empty"), "{said}");
    drop_database(&service.db, &target).await;
}

/// As is done before an upgrade, by the new program.
#[tokio::test]
async fn a_database_that_lacks_migrations_is_backed_up_and_restored_up_to_date() {
    if testkit::skip_on_citus("a cluster is backed up by the means of PostgreSQL") {
        return;
    }
    let (db, folder) = (TestDb::new().await.unwrap(), tempfile::tempdir().unwrap());
    let old = empty_database(&db).await;
    let (sql, driver) = tokio_postgres::connect(&old, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(driver);
    sql.batch_execute(include_str!("../../crates/store/tests/fixtures/schema/0.2.0.sql")).await.unwrap();
    let secret = "UPDATE public.webhook_subscriptions
        SET revoked_at = NULL, sealed_secret = '\\x01'::bytea || '\\x04'::bytea || 'test'::bytea || 'sealed'::bytea";
    sql.batch_execute(secret).await.unwrap();
    let file = path(&folder, "shop.backup");
    run(api(&old, &folder).args(["backup", &file]));
    let manifest: Value = serde_json::from_str(&part(&file, "manifest.json").unwrap()).unwrap();
    assert!(manifest["data_keys"].as_array().unwrap().iter().any(|key| key["id"] == "test"), "{manifest}");
    drop_database(&db, &old).await;
    let new = empty_database(&db).await;
    let restored = api(&new, &folder).args(["restore", &file, "--yes"]).output().unwrap();
    let said = String::from_utf8(restored.stdout).unwrap();
    assert!(said.contains("Migrated: "), "{said}");
    let listed: Value = serde_json::from_str(&run(api(&new, &folder).args(["accounts", "list", "--json"]))).unwrap();
    assert_eq!(listed[0]["name"], "Shop");
    drop_database(&db, &new).await;
}

#[tokio::test]
async fn an_older_pg_dump_than_the_server_is_refused_and_no_file_is_left() {
    let service = Service::start().await;
    let folder = service.folder.path();
    for program in ["pg_dump", "pg_restore"] {
        let path = folder.join(program);
        fs::write(&path, format!("#!/bin/sh\necho '{program} (PostgreSQL) 13.9'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let file = folder.join("shop.backup");
    let mut command = service.api(&["backup", file.to_str().unwrap()]);
    let said = refused(command.env("PG_BIN_DIR", folder));
    if !testkit::is_citus() {
        assert!(said.contains("only version 13 was found") && said.contains("postgresql-client-"), "{said}");
    }
    assert!(
        fs::read_dir(folder).unwrap().all(|entry| !entry.unwrap().file_name().to_string_lossy().contains("backup"))
    );
}

#[test]
fn a_folder_without_a_database_is_not_backed_up_and_stays_empty() {
    let folder = tempfile::tempdir().unwrap();
    let said = refused(&mut embedded(&folder, &["backup", "shop.backup"]));
    assert!(said.contains("there is no database in data"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
