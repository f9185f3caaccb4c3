//! Bulk imports.

mod documents;
mod fixture;
mod rows;
mod shop_documents;
