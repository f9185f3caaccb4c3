//! Bulk imports.

mod documents;
mod fixture;
mod rows;
