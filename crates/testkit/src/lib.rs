//! Test databases from a template, builders, receivers.
