//! Bulk imports.

mod ads;
mod documents;
mod fixture;
mod rows;
mod shop_documents;
