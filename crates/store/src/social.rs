//! Conversations and automatic answers: one file per port.

mod conversations;
mod hooks;
mod intake;
mod profile_connections;
mod profiles;
mod queue;
mod settings;
mod templates;

pub(crate) mod retention;
