//! `api webhooks`: for integrators, without a database.

mod listen;
mod sample;

use std::process::ExitCode;

use clap::Subcommand;
use domain::webhooks::signature::Secret;

#[derive(Debug, Subcommand)]
pub enum WebhooksCommand {
    /// Receives deliveries on this machine, prints them, and says what is wrong with their signatures
    #[command(after_help = listen::EXAMPLES)]
    Listen(listen::ListenArgs),
    /// Prints a signed sample of an event, or posts it to a receiver
    #[command(after_help = sample::EXAMPLES)]
    Sample(sample::SampleArgs),
}

pub fn run(command: WebhooksCommand) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(tokio::task::LocalSet::new().run_until(async {
        match command {
            WebhooksCommand::Listen(args) => listen::listen(args).await,
            WebhooksCommand::Sample(args) => sample::sample(args).await,
        }
    }))
}

fn parse_secret(text: &str) -> Result<Secret, String> {
    Secret::parse(text).map_err(|invalid| invalid.to_string())
}
