//! Conversations and automatic answers: one file per port.

mod conversations;
mod hooks;
mod intake;
mod profile_connections;
mod queue;
mod settings;
mod templates;
mod votes;

pub(crate) mod profiles;
pub(crate) mod retention;
