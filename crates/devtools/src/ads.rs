//! Fakes of advertising networks. Each is as strict as the network, and has what [fakes of shops](crate::shops) share below
//! `/_stub`; what a reader must come to is its own `/_stub/ledger`.

pub mod google_ads;
pub mod meta;
