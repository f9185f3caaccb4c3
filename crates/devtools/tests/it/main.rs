//! The fakes from outside, and our clients against them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod google_ads;
mod mercadolibre;
mod meta;
mod shopify;
mod social;
mod tiendanube;
