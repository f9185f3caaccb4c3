//! Connected shops: one file per port.

mod authorizations;
mod connections;
mod inbox;
mod known_orders;
mod privacy;
mod runs;
mod sync;
mod tokens;
