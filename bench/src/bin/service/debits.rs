//! Debits of the ledger on one account and on many, compared with pgbench running the same transaction. The ledger is called as
//! the service calls it, in this process, so that a second of it and a second of pgbench differ by nothing but the code
//! between the caller and the database.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Context;
use async_trait::async_trait;
use bench::{
    load::Load,
    pgbench::Pgbench,
    report::Row,
    rounds::{Contender, in_turns, percentile},
    statements::{self, Statement},
};
use domain::{
    AccountId,
    credits::{CreditAmount, CreditLedger, Debit, FeatureName, OperationKey},
};
use serde_json::Map;
use store::{Connect, PoolOptions, Store};
use time::OffsetDateTime;
use tokio::task::JoinSet;

use crate::{Bench, contenders::Statements};

const DATABASE: &str = "debits";
const ACCOUNTS: i64 = 1_000;
/// Clients, and connections, of both.
const CLIENTS: u32 = 16;
/// Debits that are there already of two accounts, ten times as many and once.
const GROWTH: &str = "growth debits";
const DEBITED: [(i64, i64); 2] = [(ACCOUNTS - 1, 200_000), (ACCOUNTS - 2, 20_000)];
/// What an account begins with: numbers that are found again among the values of a statement.
const BALANCE: i64 = 1_000_000_000_000;
const SPENT: i64 = 5_000_000;
/// The account and the key of the debits whose statements are taken.
const PROBE: i64 = ACCOUNTS;
const PROBE_KEYS: [&str; 2] = ["probe-1", "probe-2"];

pub async fn run(bench: &mut Bench) -> anyhow::Result<()> {
    let rows = [
        ("debits hot", "debits of one account, an event and a row of the ledger each", 1),
        ("debits spread", "debits of 1,000 accounts", ACCOUNTS),
    ];
    if !rows.iter().any(|(row, ..)| bench.wants(row)) && !bench.wants(GROWTH) {
        return Ok(());
    }
    let made = prepare(bench).await?;
    for (row, what, accounts) in rows {
        if bench.wants(row) {
            let row = measure(bench, row, what, accounts, &made).await?;
            bench.put(row)?;
        }
    }
    if bench.wants(GROWTH) {
        let row = growth(bench).await?;
        bench.put(row)?;
    }
    Ok(())
}

/// The accounts, and what a debit asks the database.
async fn prepare(bench: &Bench) -> anyhow::Result<Vec<Statement>> {
    bench.postgres.create_database(DATABASE).await?;
    let sql = bench.postgres.client(DATABASE).await?;
    sql.batch_execute(&format!(
        "INSERT INTO users (id, created_at) SELECT 'user_' || lpad(n::text, 24, '0'), now() FROM generate_series(1, {ACCOUNTS}) n;
         INSERT INTO accounts (id, user_id, mode, name, plan, currency, timezone, created_at) OVERRIDING SYSTEM VALUE
         SELECT n, 'user_' || lpad(n::text, 24, '0'), 'live', 'bench', 'free', 'USD', 'UTC', now()
         FROM generate_series(1, {ACCOUNTS}) n;
         INSERT INTO credit_balances (account_id, balance, total_spent, updated_at)
         SELECT n, {BALANCE}, {SPENT}, now() FROM generate_series(1, {ACCOUNTS}) n"
    ))
    .await?;
    let [first, second] = PROBE_KEYS;
    // The first debit of a session prepares its statements.
    let begin = async || {
        let store = connect(bench, 1)?;
        debit(&store, PROBE, first).await?;
        Ok(store)
    };
    let (_, made) =
        statements::of_work(&bench.postgres, DATABASE, begin, async |store| debit(store, PROBE, second).await).await?;
    sql.batch_execute("VACUUM ANALYZE").await?;
    Ok(made)
}

fn connect(bench: &Bench, connections: u32) -> anyhow::Result<Store> {
    let options = PoolOptions { max_connections: usize::try_from(connections)?, ..PoolOptions::default() };
    Store::connect(&Connect::parse(&bench.postgres.url(DATABASE))?, options)
}

async fn debit(store: &Store, account: i64, key: &str) -> anyhow::Result<()> {
    let debit = Debit {
        account: AccountId(account),
        amount: CreditAmount::new(1)?,
        feature: FeatureName::new("bench")?,
        key: OperationKey::new(key)?,
        meta: Map::new(),
    };
    store.debit(debit, OffsetDateTime::now_utc()).await?;
    Ok(())
}

/// The debit's transaction: the first statement locks the balance and reads it, and what is written follows from that.
fn script(made: &[Statement], accounts: i64) -> anyhow::Result<String> {
    let (lock, others) = made.split_first().context("a debit that asks nothing")?;
    let [_, key] = PROBE_KEYS;
    let replaced = [
        (format!("'{PROBE}'"), ":account"),
        (format!("'{key}'"), ":key"),
        (format!("'{}'", BALANCE - 2), ":left"),
        (format!("'{}'", SPENT + 2), ":spent"),
    ];
    let mut script = statements::draw_account(accounts);
    script.push_str("\\set key random(1, 1000000000000000)\nBEGIN;\n");
    script.push_str(&lock.with(&replaced)?);
    script.push_str(" \\gset\n\\set left :balance - 1\n\\set spent :total_spent + 1\n");
    for statement in others {
        script.push_str(&statement.with(&replaced)?);
        script.push_str(";\n");
    }
    script.push_str("COMMIT;\n");
    for used in [":key", ":left", ":spent"] {
        anyhow::ensure!(script.matches(used).count() > 0, "{used} is in none of the statements of a debit");
    }
    Ok(script)
}

async fn measure(bench: &Bench, row: &str, what: &str, accounts: i64, made: &[Statement]) -> anyhow::Result<Row> {
    let mut subject = Ledger::of(bench, "ledger", row, 1, u64::try_from(accounts)?)?;
    let script = script(made, accounts)?;
    let pgbench = Pgbench { database: DATABASE.to_owned(), script, clients: CLIENTS, seconds: bench.seconds };
    let mut limit = Statements { name: "pgbench", pgbench, postgres: &bench.postgres };
    let measured = in_turns(bench.rounds, &[], &mut [&mut subject, &mut limit]).await?;
    Ok(Row::of_rates(row, what, "debits/s", &measured)
        .note(&format!("{} statements a debit, with BEGIN and COMMIT", made.len() + 2)))
}

/// A debit of an account with ten times the debits, compared with one of another.
async fn growth(bench: &Bench) -> anyhow::Result<Row> {
    let sql = bench.postgres.client(DATABASE).await?;
    for (account, debits) in DEBITED {
        sql.batch_execute(&format!(
            "INSERT INTO credit_transactions (account_id, operation_key, kind, feature, amount, balance_after, created_at)
             SELECT {account}, 'earlier-' || n, 'consume', 'bench', -1, {BALANCE} - n, now() - n * interval '1 minute'
             FROM generate_series(1, {debits}) n"
        ))
        .await?;
    }
    sql.batch_execute("VACUUM ANALYZE credit_transactions").await?;
    sql.batch_execute("CHECKPOINT").await?;
    let [(large, debits), (small, fewer)] = DEBITED;
    let what = format!("a debit of an account with {debits} debits, and of one with {fewer}");
    let mut large = Ledger::of(bench, "10 × debits", "growth", large, 1)?;
    let mut small = Ledger::of(bench, "1 ×", "growth", small, 1)?;
    let measured = in_turns(bench.rounds, &[], &mut [&mut large, &mut small]).await?;
    Ok(Row::of_growth(GROWTH, &what, 0.0, &measured))
}

/// Clients that debit as fast as they are answered.
struct Ledger {
    name: String,
    store: Store,
    /// The account, or the first of those that are drawn from.
    first: i64,
    accounts: u64,
    seconds: u32,
    postgres: u32,
    /// The number of the next debit, by which keys differ.
    next: Arc<AtomicU64>,
    row: String,
}

impl Ledger {
    fn of(bench: &Bench, name: &str, row: &str, first: i64, accounts: u64) -> anyhow::Result<Self> {
        Ok(Self {
            name: name.to_owned(),
            store: connect(bench, CLIENTS)?,
            first,
            accounts,
            seconds: bench.seconds,
            postgres: bench.postgres.pid(),
            next: Arc::default(),
            row: row.replace(' ', "-"),
        })
    }
}

#[async_trait]
impl Contender for Ledger {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn command(&self) -> String {
        format!("CreditLedger::debit, {CLIENTS} callers for {} s", self.seconds)
    }

    fn processes(&self) -> Vec<u32> {
        vec![std::process::id(), self.postgres]
    }

    async fn run(&mut self) -> anyhow::Result<Load> {
        let began = Instant::now();
        let ends = began + Duration::from_secs(self.seconds.into());
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            let (store, next, row) = (self.store.clone(), self.next.clone(), self.row.clone());
            let (first, accounts) = (self.first, self.accounts);
            clients.spawn(async move {
                let mut waits = Vec::new();
                while Instant::now() < ends {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    // Spread as if drawn at random: a multiplicative hash.
                    let account = i64::try_from((number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) % accounts)? + first;
                    let asked = Instant::now();
                    debit(&store, account, &format!("{row}-{number}")).await?;
                    waits.push(asked.elapsed().as_secs_f64() * 1_000.0);
                }
                anyhow::Ok(waits)
            });
        }
        let mut waits = Vec::new();
        while let Some(client) = clients.join_next().await {
            waits.extend(client??);
        }
        let (requests, seconds) = (waits.len() as f64, began.elapsed().as_secs_f64());
        waits.sort_by(f64::total_cmp);
        let [p50_ms, p99_ms] = [0.5, 0.99].map(|p| Some(percentile(&waits, p)));
        Ok(Load { per_second: requests / seconds, requests, p50_ms, p99_ms, ..Load::default() })
    }
}
