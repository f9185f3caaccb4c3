//! What those who use the API notice of passwords being guessed on the dashboard of the same process.

use app::passwords::{Passwords, SALT_BYTES};
use bench::{
    from_memory::FromMemory,
    paced::{Paced, Requests},
    process,
    report::{Row, Target},
    rounds::{Contender as _, in_turns},
    service::{Service, free_address},
};
use domain::passwords::Password;

use super::{
    CLIENTS, ELSEWHERE, STEADY, Under,
    attack::Attack,
    guesses::{PEOPLE, email},
    row_of_p99,
};
use crate::{Bench, DATABASE, contenders::Steady, reads};

/// The rows, what is measured, the attack, and how many times its p99 a client of the API may wait.
const LOGINS: [(&str, &str, Attack, f64); 2] = [
    ("logins one account", "200 wrong passwords a second for one account, from one address", Attack::OneLogin, 1.1),
    (
        "logins spread",
        "200 wrong passwords a second for 200 accounts, each from an address of its own, and for others after 5 tries",
        Attack::ManyLogins,
        2.0,
    ),
];
/// How much memory they may take, MB.
const MEMORY: f64 = 80.0;

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    if !LOGINS.iter().any(|(row, ..)| bench.wants(row)) {
        return Ok(());
    }
    people(bench).await?;
    for (row, what, attack, bound) in LOGINS {
        if bench.wants(row) {
            let row = measure(bench, row, what, (attack, bound)).await?;
            bench.put(row)?;
        }
    }
    Ok(())
}

/// People with passwords, all of one shop.
async fn people(bench: &Bench) -> anyhow::Result<()> {
    let password = Password::entered("the right password of everybody").ok_or_else(|| anyhow::anyhow!("too long"))?;
    let hash = Passwords::new()?.hash(password, [7; SALT_BYTES]).await?;
    let sql = bench.postgres.client(DATABASE).await?;
    let everybody = format!(
        "INSERT INTO people (email, name, theme, created_at, password)
            SELECT replace($1, '#', n::text), 'Person ' || n, 'system', now(), $2 FROM generate_series(0, {PEOPLE} - 1) AS n"
    );
    let pattern = email(0).replace('0', "#");
    sql.execute(&everybody, &[&pattern, &hash]).await?;
    sql.batch_execute(
        "INSERT INTO memberships (user_id, person_id, role, created_at)
            SELECT (SELECT user_id FROM accounts ORDER BY id LIMIT 1), id, 'viewer', now() FROM people",
    )
    .await?;
    // By itself: several statements at once are a transaction, which has no room for it.
    sql.batch_execute("VACUUM ANALYZE people, memberships").await?;
    Ok(())
}

async fn measure(bench: &Bench, row: &str, what: &str, (attack, bound): (Attack, f64)) -> anyhow::Result<Row> {
    let (pool, listen) = (reads::POOL.to_string(), free_address()?);
    let settings = [("BAS_DATABASE_POOL", pool.as_str()), ("BAS_DASHBOARD_LISTEN", listen.as_str())];
    let service = Service::start(&bench.api, &["serve"], &bench.postgres.url(DATABASE), &settings).await?;
    let (pid, idle) = (service.pid()?, FromMemory::start(b"{}".to_vec())?);
    let keys: Vec<String> = bench.data.keys().into_iter().map(str::to_owned).collect();
    let requests = Requests::get("/api/v1/customers", keys);
    let paced = Paced { requests, connections: CLIENTS, seconds: bench.seconds * 2, rate: STEADY };
    let steady = |name| Steady {
        name,
        paced: paced.clone(),
        highest: None,
        base_url: service.base_url.clone(),
        processes: vec![pid, bench.postgres.pid()],
    };
    let under = |name, target: String| Under::new(steady(name), attack, target, String::new());
    let mut alone = steady("without");
    // Every key is held before anything is measured.
    alone.run().await?;
    let before = process::memory(pid)?.resident;
    process::forget_peak(pid)?;
    let dashboard = format!("http://{listen}");
    let (mut with, mut elsewhere) = (under("with", dashboard), under(ELSEWHERE, idle.base_url.clone()));
    let measured = in_turns(bench.many_rounds(), &[], &mut [&mut with, &mut alone, &mut elsewhere]).await?;
    let memory = process::memory(pid)?;
    let command = service.command.clone();
    service.stop().await?;
    idle.stop().await;
    let note = format!(
        "{} answers, {} of them 503; memory {before:.0} to {:.0} MB, {:.0} at most",
        with.done.answers, with.done.refused, memory.resident, memory.peak
    );
    let row = row_of_p99(row, what, &command, &measured, bound).note(&note);
    Ok(row.target(Target::at_most("MB more", memory.peak - before, MEMORY)))
}
