//! The command line.

use clap::{Parser, Subcommand};

#[cfg(not(feature = "dev"))]
use crate::commands::without_dev::{DemoArgs, DevCommand};
#[cfg(feature = "dev")]
use crate::commands::{demo::DemoArgs, dev::DevCommand};
use crate::{
    commands::{
        accounts::AccountsCommand,
        ai::AiCommand,
        backup::BackupArgs,
        credits::CreditsCommand,
        customers::CustomersCommand,
        dashboard::DashboardCommand,
        import::ImportCommand,
        incidents::IncidentsCommand,
        integrations::IntegrationsCommand,
        jobs::JobsCommand,
        keys::KeysCommand,
        people::{PeopleCommand, SessionsCommand},
        restore::RestoreArgs,
        secrets::SecretsCommand,
        social::SocialCommand,
        up::UpArgs,
        webhooks::WebhooksCommand,
    },
    config::Flags,
};

/// Business analytics for shops: orders, spend and events in; profit, anomalies, stock-outs and insights out.
#[derive(Debug, Parser)]
#[command(name = "api", version, propagate_version = true, after_help = EXAMPLES)]
pub struct Cli {
    #[command(flatten)]
    pub flags: Flags,
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  api up                                       everything, on an embedded Postgres
  api accounts create --name 'My shop' --currency EUR --timezone Europe/Madrid
  api keys create --account 1 --scopes read,write
  api import orders orders.csv --account 1
  api jobs run all --account 1

Without DATABASE_URL a command uses the embedded Postgres of the data folder; it starts it when no `api up` runs there.
Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 done in part (some lines or runs were refused).";

/// What `api migrate` does in addition.
#[derive(Debug, clap::Args)]
pub struct MigrateArgs {
    /// Then distribute the tables over the nodes of a Citus cluster, by account
    #[arg(long)]
    pub citus: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs everything in one process, on an embedded Postgres unless DATABASE_URL is set
    Up(UpArgs),
    /// Answers HTTP only
    Serve,
    /// Runs jobs and deliveries only
    Work,
    /// Brings the database schema up to date
    Migrate(MigrateArgs),
    /// Writes the database and its keys into one file, while the service goes on
    Backup(BackupArgs),
    /// Loads what `api backup` wrote into an empty database
    Restore(RestoreArgs),
    /// Prints the OpenAPI document
    Openapi,
    /// Creates and lists accounts
    #[command(subcommand)]
    Accounts(AccountsCommand),
    /// Creates, lists and revokes API keys
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Opens the dashboard
    #[command(subcommand)]
    Dashboard(DashboardCommand),
    /// Invites, lists and disables the people of a shop, and resets what they log in with
    #[command(subcommand)]
    People(PeopleCommand),
    /// Ends sessions of the dashboard
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Imports CSV files
    #[command(subcommand)]
    Import(ImportCommand),
    /// Lists and runs the background jobs
    #[command(subcommand)]
    Jobs(JobsCommand),
    /// Keeps the secrets at rest
    #[command(subcommand)]
    Secrets(SecretsCommand),
    /// Receives deliveries and makes samples, for writing a receiver
    #[command(subcommand)]
    Webhooks(WebhooksCommand),
    /// Shows, pauses, resumes and limits an account's AI features
    #[command(subcommand)]
    Ai(AiCommand),
    /// Shows and forgets customers who ask for it
    #[command(subcommand)]
    Customers(CustomersCommand),
    /// Shows and corrects credits
    #[command(subcommand)]
    Credits(CreditsCommand),
    /// Connects shops, reads them, and shows what is due of privacy requests
    #[command(subcommand)]
    Integrations(IntegrationsCommand),
    /// Connects profiles on social networks, where the bot may answer comments
    #[command(subcommand)]
    Social(SocialCommand),
    /// Tells everyone what goes wrong with the service
    #[command(subcommand)]
    Incidents(IncidentsCommand),
    /// Stands in for other systems on a developer's machine
    #[cfg_attr(feature = "dev", command(subcommand))]
    Dev(DevCommand),
    /// Loads the demo shop
    Demo(DemoArgs),
}

impl Command {
    /// As it is typed, without what belongs to it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Up(_) => "up",
            Self::Serve => "serve",
            Self::Work => "work",
            Self::Migrate(_) => "migrate",
            Self::Backup(_) => "backup",
            Self::Restore(_) => "restore",
            Self::Openapi => "openapi",
            Self::Accounts(_) => "accounts",
            Self::Keys(_) => "keys",
            Self::Dashboard(_) => "dashboard",
            Self::People(_) => "people",
            Self::Sessions(_) => "sessions",
            Self::Import(_) => "import",
            Self::Jobs(_) => "jobs",
            Self::Secrets(_) => "secrets",
            Self::Webhooks(_) => "webhooks",
            Self::Ai(_) => "ai",
            Self::Customers(_) => "customers",
            Self::Credits(_) => "credits",
            Self::Integrations(_) => "integrations",
            Self::Social(_) => "social",
            Self::Incidents(_) => "incidents",
            Self::Dev(_) => "dev",
            Self::Demo(_) => "demo",
        }
    }
}
