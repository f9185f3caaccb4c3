//! One file per command, and what they have in common.

pub mod accounts;
pub mod ai;
pub mod backup;
pub mod credits;
pub mod customers;
pub mod dashboard;
#[cfg(feature = "dev")]
pub mod demo;
#[cfg(feature = "dev")]
pub mod dev;
pub mod import;
pub mod incidents;
pub mod integrations;
pub mod jobs;
pub mod keys;
pub mod people;
pub mod restore;
pub mod secrets;
pub mod social;
pub mod up;
pub mod webhooks;
#[cfg(any(test, not(feature = "dev")))]
#[cfg_attr(feature = "dev", allow(dead_code, reason = "tested where it has no use"))]
pub mod without_dev;

use std::{process::ExitCode, sync::Arc};

use anyhow::Context;
use domain::{
    AccountId,
    accounts::{Account, AccountStore},
    health::Health,
};
use pgcluster::Error;
use store::Store;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};
use uuid::Uuid;

use crate::{
    cli::{Cli, Command, MigrateArgs},
    commands::secrets::SecretsCommand,
    config::{self, Config},
    database::Database,
    output,
    services::{self, Roles},
    settings, telemetry,
};

/// Wrong usage or configuration: the same code that the argument parser uses.
const USAGE: u8 = 2;
/// Done in part.
pub(crate) const PARTLY: u8 = 3;

/// Runs a command and gives the process's exit code. Errors go to standard error, as a sentence a cause.
pub fn run(cli: Cli) -> ExitCode {
    let config = match Config::load(&cli.flags) {
        Ok(config) => config,
        Err(error) => return fail(&error, ExitCode::from(USAGE)),
    };
    let stays = matches!(cli.command, Command::Up(_) | Command::Serve | Command::Work | Command::Dev(_));
    // A command that ends prints its own messages; its log is for errors underneath.
    let filter = if stays || cli.flags.log.is_some() { config.log.as_str() } else { "error" };
    let logged = telemetry::init_logs(filter, stays).inspect(|()| warn_of_variables());
    match logged.and_then(|()| in_span(cli.command, &config, stays)) {
        // Of a service's output nobody makes use but at its start.
        Ok(_) if !stays && output::is_incomplete() => ExitCode::FAILURE,
        Ok(code) => code,
        Err(error) if error.is::<Misconfigured>() => fail(&error, ExitCode::from(USAGE)),
        Err(error) => fail(&error, ExitCode::FAILURE),
    }
}

fn warn_of_variables() {
    for name in config::deprecated_variables() {
        tracing::warn!(name, "this environment variable is called BAS_{name} now; the old name is read until 0.3.0");
    }
    for name in config::unknown_variables() {
        tracing::warn!(name, "this environment variable names no setting (docs/operations.md lists every one)");
    }
}

/// Runs a command. What one that ends logs carries its name and an id of its own; of a service each request, job and
/// delivery does.
fn in_span(command: Command, config: &Config, stays: bool) -> anyhow::Result<ExitCode> {
    let span = if stays {
        Span::none()
    } else {
        tracing::error_span!("command", command = command.name(), command_id = %Uuid::now_v7().simple())
    };
    span.in_scope(|| run_command(command, config))
}

/// The configuration is not one to work with; says what to do.
#[derive(Debug)]
pub(crate) struct Misconfigured(pub String);

impl std::fmt::Display for Misconfigured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misconfigured {}

/// The account, or a sentence that there is none.
async fn find_account(store: &Store, id: i64) -> anyhow::Result<Account> {
    let found = AccountStore::find(store, AccountId(id)).await?;
    found.with_context(|| format!("there is no account {id}; `api accounts list` shows which there are"))
}

fn fail(error: &anyhow::Error, code: ExitCode) -> ExitCode {
    eprintln!("api: {error:#}");
    code
}

fn run_command(command: Command, config: &Config) -> anyhow::Result<ExitCode> {
    if let Command::Openapi = command {
        println!("{}", api::openapi().to_pretty_json()?);
        return Ok(ExitCode::SUCCESS);
    }
    let command = match command {
        Command::Webhooks(command) => return webhooks::run(command),
        Command::Secrets(SecretsCommand::NewKey) => return secrets::new_key(),
        #[cfg(not(feature = "dev"))]
        Command::Dev(_) | Command::Demo(_) => return Err(without_dev::refusal().into()),
        other => other,
    };
    install_crypto()?;
    #[cfg(feature = "dev")]
    let command = match command {
        Command::Dev(command) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            return runtime.block_on(dev::run(command, config));
        }
        other => other,
    };
    settings::check(config, matches!(command, Command::Up(_) | Command::Serve))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let stop = match command {
        Command::Up(_) | Command::Serve | Command::Work => services::stop_token(&runtime),
        _ => CancellationToken::new(),
    };
    let opened = match command {
        Command::Up(_) => Database::own(config, &stop),
        Command::Backup(_) => backup::database(config, &stop),
        Command::Restore(ref args) => restore::database(args, config, &stop),
        _ => Database::open(config, &stop),
    };
    let database = match opened {
        Err(error) if stop.is_cancelled() && matches!(error.downcast_ref::<Error>(), Some(Error::GivenUp)) => {
            return Ok(ExitCode::SUCCESS);
        }
        opened => opened?,
    };
    let code = runtime.block_on(with_database(command, config, &database, &stop).in_current_span());
    // Connections must be closed before the server stops, else it waits for them.
    runtime.shutdown_timeout(std::time::Duration::from_secs(2));
    database.close()?;
    code
}

/// One implementation of TLS's cryptography in the whole process.
fn install_crypto() -> anyhow::Result<()> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("another cryptography provider is installed already"))
}

async fn with_database(
    command: Command,
    config: &Config,
    database: &Database,
    stop: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    match command {
        Command::Up(args) => up::up(args, config, database, stop).await?,
        Command::Serve => up::part(Roles { http: true, work: false }, config, database, stop).await?,
        Command::Work => up::part(Roles { http: false, work: true }, config, database, stop).await?,
        Command::Migrate(args) => migrate(&args, database).await?,
        Command::Openapi | Command::Webhooks(_) | Command::Dev(_) => {}
        Command::Backup(args) => return backup::run(args, config, database).await,
        Command::Restore(args) => return restore::run(args, config, database).await,
        Command::Accounts(command) => accounts::run(command, &store(database).await?).await?,
        Command::Dashboard(command) => dashboard::run(command, &store(database).await?, config).await?,
        Command::Customers(command) => customers::run(command, &store(database).await?).await?,
        Command::People(command) => people::run(command, &store(database).await?, config).await?,
        Command::Sessions(command) => people::run_sessions(command, &store(database).await?).await?,
        Command::Import(command) => {
            return import::run(command, database.session().await?, &store(database).await?).await;
        }
        #[cfg(not(feature = "dev"))]
        Command::Demo(_) => {}
        #[cfg(feature = "dev")]
        Command::Demo(args) => return demo::run(args, &store(database).await?, database).await,
        Command::Ai(command) => ai::run(command, &store(database).await?).await?,
        Command::Credits(command) => credits::run(command, &store(database).await?, config).await?,
        Command::Integrations(command) => {
            integrations::run(command, &Arc::new(store(database).await?), config, database.is_embedded()).await?
        }
        Command::Social(command) => {
            social::run(command, &store(database).await?, config, database.is_embedded()).await?
        }
        Command::Incidents(command) => incidents::run(command, &store(database).await?).await?,
        Command::Keys(command) => keys::run(command, &store(database).await?).await?,
        Command::Secrets(command) => return secrets::run(command, &store(database).await?, config).await,
        Command::Jobs(command) => return jobs::run(command, config, store(database).await?).await,
    }
    Ok(ExitCode::SUCCESS)
}

async fn migrate(args: &MigrateArgs, database: &Database) -> anyhow::Result<()> {
    let session = database.session().await?;
    let run = store::migrate(session).await?;
    match run.as_slice() {
        [] => println!("The schema is up to date."),
        names => println!("Migrated: {}", names.join(", ")),
    }
    if args.citus {
        store::citus::distribute(session).await?;
        println!("The tables are distributed.");
    }
    Ok(())
}

/// A store for a command. An embedded database is brought up to date first; any other is its operator's to migrate, and is
/// refused until then: what it lacks would be told as tables that are not there.
async fn store(database: &Database) -> anyhow::Result<Store> {
    if database.is_embedded() {
        store::migrate(database.session().await?).await?;
    }
    let store = Store::connect(&database.connect, database.pool(4)).context("cannot use the database")?;
    if let Some(problem) = store.schema().await.context("cannot use the database")?.problem() {
        anyhow::bail!(problem);
    }
    Ok(store)
}
