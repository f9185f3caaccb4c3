//! `api demo`.

use std::{io::IsTerminal, process::ExitCode, sync::Arc};

use anyhow::Context;
use app::jobs::{self, Deps, Outcome, Selection};
use demo::{Loaded, Ports, STEPS, Step};
use domain::{
    AccountId,
    accounts::{Account, AccountStore, Mode, Plan},
    texts::Locale,
};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use store::{Connect, Importer, Store};
use time::OffsetDateTime;

use crate::{
    commands::{PARTLY, accounts},
    database::Database,
};

/// Name of the account that holds the demo shop, unless another one is named.
const NAME: &str = "Demo shop";
pub const CURRENCY: &str = "USD";
pub const TIMEZONE: &str = "America/Argentina/Buenos_Aires";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The shop has two years of orders, refunds, stock, ad spend, expenses and visits, the same on every machine. Loading it
again adds what has happened since.

Examples:
  api demo
  api demo --account 7 --json")]
pub struct DemoArgs {
    /// An account without data that is to hold the shop [default: a new one named Demo shop, or the one made before]
    #[arg(long, value_name = "ID")]
    account: Option<i64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was done, for the command's answer.
struct Done {
    account: AccountId,
    loaded: Loaded,
    jobs: Vec<jobs::Report>,
}

pub async fn run(args: DemoArgs, store: &Store, database: &Database) -> anyhow::Result<ExitCode> {
    let loader = Loader::new(store, database.session().await?);
    let account = match args.account {
        Some(id) => AccountStore::find(store, AccountId(id))
            .await?
            .with_context(|| format!("there is no account {id}; `api accounts list` shows which there are"))?,
        None => loader.find_or_create().await?,
    };
    let done = loader.load(account, std::io::stderr().is_terminal()).await?;
    print(&done, args.json)?;
    let failed: Vec<&str> = done.jobs.iter().filter(|run| has_failed(run)).map(|run| run.job.as_str()).collect();
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("Jobs failed: {}. `api jobs run all --account {}` runs them again.", failed.join(", "), done.account);
    Ok(ExitCode::from(PARTLY))
}

/// Loads the demo shop into an account of its own, or adds what has happened since to the one that holds it, and runs
/// the jobs. Killed anywhere, the next call ends with the same rows. Jobs that fail are in the log.
pub async fn load_once(store: &Store, connect: &Connect, progress: bool) -> anyhow::Result<Account> {
    let loader = Loader::new(store, connect);
    let account = loader.find_or_create().await?;
    loader.load(account.clone(), progress).await?;
    Ok(account)
}

struct Loader<'a> {
    store: &'a Store,
    importer: Importer,
}

impl<'a> Loader<'a> {
    fn new(store: &'a Store, connect: &Connect) -> Self {
        // Whoever tries the service out waits for it, and has no other tenants.
        Self { store, importer: Importer::new(connect.clone()).with_nice_ratio(0) }
    }

    fn ports(&self) -> Ports<'_> {
        let store = self.store;
        Ports { imports: &self.importer, integrations: store, events: store, customers: store }
    }

    /// The oldest live account of the demo shop's name that holds the shop, or nothing yet; else a new one.
    async fn find_or_create(&self) -> anyhow::Result<Account> {
        let now = OffsetDateTime::now_utc();
        for account in AccountStore::list(self.store).await? {
            let named = account.name == NAME && account.mode == Mode::Live;
            if named && demo::fits(&self.ports(), &account, now).await? {
                return Ok(account);
            }
        }
        let (currency, timezone) = (CURRENCY.parse()?, TIMEZONE.parse()?);
        let created =
            accounts::create(self.store, NAME.to_owned(), currency, timezone, Plan::Free, Locale::ENGLISH).await?;
        created.into_iter().next().context("no account was created")
    }

    async fn load(&self, account: Account, progress: bool) -> anyhow::Result<Done> {
        let bar = if progress { ProgressBar::new(STEPS + 1) } else { ProgressBar::hidden() };
        bar.set_style(ProgressStyle::with_template("{bar:24} {pos}/{len} {msg}")?);
        let step = |step: Step| {
            bar.set_message(words(step));
            bar.inc(1);
        };
        let loaded = demo::load(&self.ports(), &account, OffsetDateTime::now_utc(), &step).await?;
        bar.set_message("running the jobs");
        bar.inc(1);
        let deps = Deps::of(&Arc::new(self.store.clone()));
        // What came in today is not in the results of today's earlier runs.
        let selection = Selection { account: Some(account.id), again: true, ..Selection::default() };
        let jobs = jobs::run_all(&deps, selection, 1, OffsetDateTime::now_utc).await?;
        bar.finish_and_clear();
        Ok(Done { account: account.id, loaded, jobs })
    }
}

fn words(step: Step) -> &'static str {
    match step {
        Step::Inventing => "making up two years",
        Step::Products => "products",
        Step::Orders(_) => "orders and refunds",
        Step::Stock => "stock levels",
        Step::Spending => "ad spend and expenses",
        Step::Visits => "visits",
    }
}

fn has_failed(report: &jobs::Report) -> bool {
    matches!(report.outcome, Outcome::Failed { .. })
}

fn print(done: &Done, json: bool) -> anyhow::Result<()> {
    let Done { account, loaded, jobs } = done;
    if json {
        let jobs: Vec<_> = jobs
            .iter()
            .map(|report| json!({ "job": report.job, "failed": has_failed(report), "ms": report.milliseconds }))
            .collect();
        println!("{}", serde_json::to_string_pretty(&json!({ "account": account, "loaded": loaded, "jobs": jobs }))?);
        return Ok(());
    }
    let Loaded { products, customers, orders, refunds, stock_levels, ad_spend_rows, expenses, events } = loaded;
    println!("The demo shop is in account {account}. New in it:");
    println!("  {customers} customers, {orders} orders, {refunds} refunds");
    println!("  {products} products, {stock_levels} stock levels");
    println!("  {ad_spend_rows} rows of ad spend, {expenses} expenses, {events} events");
    println!("`api keys create --account {account}` makes a key to it.");
    Ok(())
}
