//! AI features from outside: the real binary and a provider that goes wrong.

mod admin;
mod nightly;
mod on_demand;
mod provider;
