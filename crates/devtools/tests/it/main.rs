//! The connectors of shop platforms against the fakes of these platforms, over HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, reason = "a test may fail by panicking")]

mod mercadolibre;
