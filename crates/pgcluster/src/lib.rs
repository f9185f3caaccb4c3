//! A private Postgres cluster under a directory, made and run with the installed server programs.
//!
//! The server runs as an ordinary user even when this process is root, listens on a Unix socket only, and lets in the
//! accounts that could read its files anyway, as the kernel names them: there is no password that could leak. It
//! stops with the process, whichever way the process ends, and two processes never run the same directory.

mod account;
mod binaries;
mod error;
mod place;
mod server;

pub use error::Error;
pub use server::{Cluster, Options};

/// Names the directories that the clusters and downloaded programs of this project are in.
pub(crate) const PROJECT: &str = "business-analytics";
