//! From a model of finished texts to markup. Nothing here computes, compares or formats.

pub mod enter;
pub mod fault;
pub mod layout;
pub mod login;
pub mod overview;
pub mod plain;
