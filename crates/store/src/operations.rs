//! What operators keep a database in order by.

pub(crate) mod account_rows;
pub mod backup;
pub(crate) mod depths;
pub(crate) mod eraser;
mod erasures;
mod exports;
pub(crate) mod maintenance;
pub(crate) mod overdue;
mod queues;
