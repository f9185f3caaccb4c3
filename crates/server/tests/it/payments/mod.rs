//! Payments from outside: the real binary beside the gateway for development.

mod auto_topup;
mod model;
mod notifications;
mod rig;
