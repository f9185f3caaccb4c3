//! Bulk imports.

mod ads;
mod documents;
mod fixture;
mod not_stocked;
mod rows;
mod shop_documents;
