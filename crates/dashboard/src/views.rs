//! From a model of finished texts to markup. Nothing here computes, compares or formats.

pub mod acts;
pub mod anomalies;
pub mod anomaly;
pub mod ask;
pub mod chart;
pub mod customers;
pub mod enter;
pub mod fault;
pub mod figures;
pub mod insights;
pub mod inventory;
pub mod layout;
pub mod outbox;
pub mod overview;
pub mod panel;
pub mod plain;
pub mod profit;
pub mod profit_day;
pub mod reorder;
pub mod rows;
pub mod settings;
