//! Every operation answers, in every documented way to reach the database.

use serde_json::Value;
use testkit::{Pair, PgBouncer, TestDb};

use crate::{
    service::{Process, Service, api, free_port, run},
    walk::{Walk, answer, fill},
};

/// Sessions of the server that all clients of a pooler share.
const SESSIONS: u32 = 3;

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_answers() {
    let receiver = format!("127.0.0.1:{}", free_port());
    let settings = [("BAS_RATE_LIMIT_PER_MINUTE", "100000"), ("BAS_WEBHOOK_ALLOW_LOOPBACK", &receiver)];
    let service = Service::start_with(&settings).await;
    fill(&service.db.url(), &service.folder, service.account).await;
    let key = service.key(service.account, "read,write");
    let mut walk = Walk::new(&service.process, &key, &receiver).await;
    walk.make_and_read().await;
    walk.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_answers_the_same_through_a_pooler() {
    if testkit::skip_on_citus("PgBouncer is put before a socket") {
        return;
    }
    let service = Service::start().await;
    let Some(bouncer) = PgBouncer::start(&service.db.url(), SESSIONS).await.unwrap() else { return };
    // What a session is not told, it takes from its database: nothing may depend on that.
    let sql = service.db.client().await.unwrap();
    sql.batch_execute(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone = ''Pacific/Auckland''', current_database()); END $$",
    )
    .await
    .unwrap();
    fill(&service.db.url(), &service.folder, service.account).await;
    let receiver = format!("127.0.0.1:{}", free_port());
    let process = Process::start(
        api(&bouncer.url(), &service.folder)
            .arg("serve")
            .env("BAS_DATABASE_POOLER", "transaction")
            .env("BAS_RATE_LIMIT_PER_MINUTE", "100000")
            .env("BAS_WEBHOOK_ALLOW_LOOPBACK", &receiver),
    );
    let key = service.key(service.account, "read,write");
    let mut walk = Walk::new(&process, &key, &receiver).await;
    for path in walk.make_and_read().await {
        assert_eq!(answer(&process, &path, &key).await, answer(&service.process, &path, &key).await, "{path}");
    }
    walk.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_answers_the_same_with_a_standby() {
    let pair = Pair::start().await.unwrap();
    let (url, folder) = (pair.primary.url(), tempfile::tempdir().unwrap());
    run(api(&url, &folder).arg("migrate"));
    let printed = run(api(&url, &folder).args(["accounts", "create", "--name", "Shop", "--json"]));
    let printed: Value = serde_json::from_str(&printed).unwrap();
    let account = printed[0]["id"].as_i64().unwrap();
    fill(&url, &folder, account).await;
    let key =
        run(api(&url, &folder).args(["keys", "create", "--account", &account.to_string(), "--scopes", "read,write"]));
    let (key, receiver) = (key.trim(), format!("127.0.0.1:{}", free_port()));
    let admin = format!("127.0.0.1:{}", free_port());
    let serve = || {
        let mut command = api(&url, &folder);
        command.arg("serve").env("BAS_RATE_LIMIT_PER_MINUTE", "100000").env("BAS_WEBHOOK_ALLOW_LOOPBACK", &receiver);
        command
    };
    let alone = Process::start(&mut serve());
    let process =
        Process::start(serve().env("BAS_DATABASE_READ_URL", pair.standby.url()).env("BAS_ADMIN_LISTEN", &admin));
    let mut walk = Walk::new(&process, key, &receiver).await;
    for path in walk.make_and_read().await {
        // On a busy machine the standby may not be relied on for a moment; a read that it cannot answer, it never does.
        let began = std::time::Instant::now();
        loop {
            let before = reads_of_primary(&process, &admin).await;
            let answered = answer(&process, &path, key).await;
            if reads_of_primary(&process, &admin).await == before {
                assert_eq!(answered, answer(&alone, &path, key).await, "{path}");
                break;
            }
            assert!(began.elapsed().as_secs() < 60, "the standby never answers {path}");
        }
    }
    walk.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_of_another_server_answers_nothing() {
    let pair = Pair::start().await.unwrap();
    let service = Service::start_with(&[("BAS_DATABASE_READ_URL", &pair.standby.url())]).await;
    let said = |line: &Value| line["message"].as_str().is_some_and(|said| said.contains("of another database"));
    assert_eq!(service.process.line(said)["level"], "ERROR");
}

#[tokio::test]
async fn a_direct_way_to_another_database_is_refused() {
    let (service, other) = (Service::start().await, TestDb::new().await.unwrap());
    let account = service.account.to_string();
    for arguments in [&["serve"][..], &["migrate"], &["import", "stock", "stock.csv", "--account", &account]] {
        let output = service.api(arguments).env("BAS_DATABASE_DIRECT_URL", other.url()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains("leads to another database"), "{arguments:?}: {said}");
    }
    run(service.api(&["migrate"]).env("BAS_DATABASE_DIRECT_URL", service.db.url()));
}

/// Reads that the standby might have answered and did not.
async fn reads_of_primary(process: &Process, admin: &str) -> u64 {
    let (_, metrics) = process.get_from(admin, "/metrics").await;
    let line = metrics.lines().find_map(|line| line.strip_prefix("database_reads_total{server=\"primary\"} "));
    line.map_or(0, |count| count.parse().unwrap())
}
