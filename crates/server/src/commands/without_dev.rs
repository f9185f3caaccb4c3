//! What the feature `dev` adds, in a build without it: it says how to get a build that has it.

use std::{ffi::OsString, net::SocketAddr};

use clap::Args;
use domain::accounts::Account;
use store::{Connect, Store};

use super::Misconfigured;
use crate::config::Config;

const HOW: &str = "\
This build has no demo shop and no stand-ins for other people's systems. One that has them is made by
cargo build --release -p server --features dev";

pub(crate) fn refusal() -> Misconfigured {
    Misconfigured(HOW.to_owned())
}

/// Any arguments of the command.
#[derive(Debug, Args)]
#[command(after_help = HOW)]
pub struct Anything {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<OsString>,
}

pub type DemoArgs = Anything;
pub type DevCommand = Anything;

pub fn load_once(_: &Store, _: &Connect, _: bool) -> impl Future<Output = anyhow::Result<Account>> {
    std::future::ready(Err(refusal().into()))
}

/// There is none.
pub enum LocalGateway {}

impl LocalGateway {
    pub fn start(_: &Config) -> anyhow::Result<Self> {
        Err(refusal().into())
    }

    pub fn config(&self) -> &Config {
        match *self {}
    }

    pub fn address(&self) -> SocketAddr {
        match *self {}
    }

    pub fn notify(&self, _: String) {
        match *self {}
    }
}

/// There are none.
pub enum LocalShops {}

impl LocalShops {
    pub fn start(_: &Config) -> anyhow::Result<Self> {
        Err(refusal().into())
    }

    pub fn config(&self) -> &Config {
        match *self {}
    }

    pub fn addresses(&self) -> &[(&'static str, SocketAddr)] {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Alone {
        #[command(flatten)]
        _anything: Anything,
    }

    #[test]
    fn whatever_the_command_is_told_the_answer_is_how_to_get_it() {
        for arguments in
            [&["api"][..], &["api", "gateway", "--at", "127.0.0.1:0"], &["api", "--account", "7", "--json"]]
        {
            Alone::try_parse_from(arguments).unwrap();
        }
        assert!(refusal().to_string().ends_with("cargo build --release -p server --features dev"));
    }
}
