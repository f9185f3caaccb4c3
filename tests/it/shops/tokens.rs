//! A token is renewed by one process, whichever come upon its end together.

use std::time::{Duration, Instant};

use reqwest::Method;

use super::{platform::Platform, rig::Rig};
use crate::service::{Process, api};

/// How long the platform takes to renew a token, in milliseconds.
const SLOW: u64 = 5_000;

/// How many tokens the platform gave, and how many it refused to give.
async fn given(platform: &Platform) -> (usize, usize) {
    let log = platform.ask("log").await;
    let asked: Vec<_> = log.as_array().unwrap().iter().filter(|entry| entry["path"] == "/oauth/token").collect();
    let given = asked.iter().filter(|entry| entry["status"] == 200).count();
    (given, asked.len() - given)
}

async fn expire(rig: &Rig) {
    let sql = rig.service.db.client().await.unwrap();
    // Both there and here: the token that there is cannot be used on. At once: what was renewed between the two would be over
    // here as well.
    let over = "UPDATE integration_tokens SET access_expires_at = now() - interval '1 minute', lease_until = NULL";
    sql.batch_execute(&format!("BEGIN; {over}")).await.unwrap();
    rig.platform().passes(7 * 3_600).await;
    sql.batch_execute("COMMIT").await.unwrap();
}

/// Mercado Libre takes a refresh token once: the second process that sent it would end the connection.
#[tokio::test]
async fn of_two_workers_that_read_a_shop_one_renews_its_token() {
    let rig = Rig::start(Platform::mercadolibre(10)).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    let _second = super::rig::worker(&rig.service, &rig.settings);
    let sql = rig.service.db.client().await.unwrap();
    let turns = async || {
        let row = sql.query_one("SELECT sum(lease_number)::bigint FROM integration_syncs", &[]).await.unwrap();
        row.get::<_, i64>(0)
    };
    assert_eq!(given(rig.platform()).await, (1, 0));
    expire(&rig).await;
    rig.platform().fails("slow", 1, SLOW).await;
    let (before, begun) = (turns().await, Instant::now());
    // Whoever has the connection, the other takes it over at once, as after a lease that ran out.
    while turns().await - before < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "they did not meet");
        sql.execute("UPDATE integration_syncs SET due_at = now(), lease_until = NULL", &[]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let present = rig.ask_for_sync(id).await;
    rig.wait_for_sync(id, present).await;
    assert_eq!(given(rig.platform()).await, (2, 0));
    assert_eq!(rig.connection(id).await["status"], "connected");
}

/// An owner's click reaches two processes, and each needs the token to give it back.
#[tokio::test]
async fn of_two_servers_that_give_a_shop_back_one_renews_its_token() {
    let rig = Rig::start(Platform::mercadolibre(10)).await;
    let id = rig.connect().await;
    rig.wait_for_history(id).await;
    let settings = rig.settings.iter().filter(|(name, _)| name != "BAS_LISTEN");
    let settings = settings.map(|(name, value)| (name, value));
    let second = Process::start(api(&rig.service.db.url(), &rig.service.folder).arg("serve").envs(settings));
    expire(&rig).await;
    rig.platform().fails("slow", 1, SLOW).await;
    let path = format!("/api/v1/integrations/{id}");
    let give_back = |process: &Process| process.request(Method::DELETE, &path).bearer_auth(&rig.key).send();
    let (one, other) = tokio::join!(give_back(&rig.service.process), give_back(&second));
    assert_eq!([one.unwrap().status(), other.unwrap().status()], [200, 200]);
    // Should a worker have been at it before them, its renewal goes on after both have answered.
    rig.until("the renewal is answered", async || given(rig.platform()).await != (1, 0)).await;
    assert_eq!(given(rig.platform()).await, (2, 0));
    assert_eq!(rig.connection(id).await["status"], "revoked");
}
