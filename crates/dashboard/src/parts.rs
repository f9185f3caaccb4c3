//! Pieces of pages that know nothing of the shop: charts, icons.

pub mod chart;
pub mod icons;
pub mod qr;
