//! A process whose migrations have not run, or that is too old for those that have, says so and takes no traffic.

use nix::sys::signal::Signal;
use reqwest::Method;
use serde_json::Value;

use crate::service::{Process, Service, api, free_port};

/// What `/ready` and `/status` say: status and body of the one, status and state of the schema of the other.
async fn looks(process: &Process, admin: &str) -> (u16, String, u16, String) {
    let (ready, said) = process.get_from(admin, "/ready").await;
    let status = process.request(Method::GET, "/api/v1/status").send().await.unwrap();
    let code = status.status().as_u16();
    let report: Value = status.json().await.unwrap();
    (ready, said, code, report["checks"]["schema"]["status"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_is_ready_when_its_migrations_have_run_and_none_needs_a_later_version() {
    let service = Service::start().await;
    let sql = service.db.client().await.unwrap();
    let serve = |admin: &str| {
        let mut command = api(&service.db.url(), &service.folder);
        Process::start(command.arg("serve").env("BAS_ADMIN_LISTEN", admin))
    };
    let admin = || format!("127.0.0.1:{}", free_port());

    // It starts before its migrations, as in a deployment of both at once, and is ready as soon as they have run.
    let newest = "DELETE FROM __diesel_schema_migrations
        WHERE version = (SELECT max(version) FROM __diesel_schema_migrations) RETURNING version::text";
    let newest: String = sql.query_one(newest, &[]).await.unwrap().get(0);
    let listen = admin();
    let early = serve(&listen);
    let (ready, said, status, schema) = looks(&early, &listen).await;
    assert_eq!((ready, status, schema.as_str()), (503, 503, "outdated"), "{said}");
    assert!(said.contains("`api migrate`"), "{said}");
    let run = "INSERT INTO __diesel_schema_migrations (version) VALUES ($1)";
    sql.execute(run, &[&newest]).await.unwrap();
    assert_eq!(early.get_from(&listen, "/ready").await, (200, "ok\n".to_owned()));
    assert_eq!(early.end(Signal::SIGTERM).code(), Some(0));

    // A later version adds to the schema, and is deployed; then it drops what this one needs.
    sql.execute(run, &[&"29990101000000"]).await.unwrap();
    let listen = admin();
    let old = serve(&listen);
    assert_eq!(looks(&old, &listen).await, (200, "ok\n".to_owned(), 200, "ok".to_owned()));
    sql.batch_execute("INSERT INTO schema_requirements VALUES ('29990101000000', '999.0.0')").await.unwrap();
    let (ready, said) = old.get_from(&listen, "/ready").await;
    assert!(ready == 503 && said.contains("999.0.0"), "{ready}: {said}");
    assert_eq!(old.end(Signal::SIGTERM).code(), Some(0));
    let listen = admin();
    let (ready, _, status, schema) = looks(&serve(&listen), &listen).await;
    assert_eq!((ready, status, schema.as_str()), (503, 503, "too_new"));
}
