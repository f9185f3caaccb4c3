//! Networks on which people comment: one folder each.

pub mod meta;
