//! Payments from outside: the real binary with the gateway for development.

mod auto_topup;
mod model;
mod notifications;
mod rig;
