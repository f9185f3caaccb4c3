//! The connector to Shopify against the fake one: whatever the platform does on the way, what was read is the ledger's truth.

mod read;
mod strict;
mod tokens;
mod world;
