//! Mails: by SMTP, or put aside in a folder on a developer's machine.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod outbox;
mod smtp;

pub use outbox::Folder;
pub use smtp::{InvalidServer, Smtp};
