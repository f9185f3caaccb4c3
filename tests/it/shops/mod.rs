//! Connected shops, against fakes of their platforms in processes of their own: what the service says is what the
//! platforms' ledgers say, to the cent.

mod ads;
mod advertising;
mod changes;
mod google_ads;
mod history;
mod kills;
mod ledger;
mod meta;
pub mod platform;
mod questions;
mod random;
pub mod rig;
mod together;
mod tokens;
