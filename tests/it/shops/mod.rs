//! Connected shops, against fakes of their platforms in processes of their own: what the service says is what the
//! platforms' ledgers say, to the cent.

mod changes;
mod history;
mod kills;
mod ledger;
mod platform;
mod random;
mod rig;
mod together;
mod tokens;
