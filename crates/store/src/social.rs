//! Conversations and automatic answers: one file per port.

mod conversations;
mod hooks;
mod intake;
mod profiles;
mod queue;
mod settings;
mod templates;
mod votes;

pub(crate) mod retention;
