//! Connected shops, against fakes of their platforms in processes of their own: what the service says is what the
//! platform's ledger says, to the cent.

mod ads;
mod changes;
mod history;
mod kills;
mod ledger;
mod rig;
