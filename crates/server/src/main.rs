//! The `api` binary.

use std::process::ExitCode;

use clap::Parser;
use server::{cli::Cli, commands};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    commands::run(Cli::parse())
}
