//! Use cases that span several ports.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod ai;
pub mod alerts;
pub mod auto_topup;
pub mod deliveries;
pub mod erasures;
pub mod exports;
pub mod jobs;
pub mod log_in;
pub mod mails;
pub mod outage;
pub mod passwords;
pub mod payments;
pub mod replays;
pub mod second_factor;
pub mod secrets;
pub mod shops;
pub mod social;
pub mod status;
pub mod uploads;
pub mod webhooks;
pub mod worker;
