//! What operators keep a database in order by.

pub mod backup;
pub(crate) mod depths;
pub(crate) mod maintenance;
pub(crate) mod overdue;
