//! What stands for the definitions of the sums.

use std::sync::LazyLock;

use domain::metrics::cost::golden;
use ring::digest::{Context, SHA256};

use super::{
    costs::{DailyMetrics, GoodsByCategory, OrdersByPlatform, RefundedGoods},
    customers::{CustomerDays, CustomerTotals, DropCustomers, FirstOrdersMoved, NewCustomers},
    sums::{Breakdowns, DropEmptyDays, ProductDays, Visitors, VisitorsByCountry},
};

/// Stands for the definitions of the sums: the statements that make them, and the rule of what a day costs. Another of
/// either gives other sums for the same data.
pub(super) static DEFINITIONS: LazyLock<String> = LazyLock::new(|| {
    fingerprint(&[
        ProductDays::TEXT,
        Breakdowns::TEXT,
        VisitorsByCountry::TEXT,
        OrdersByPlatform::TEXT,
        GoodsByCategory::TEXT,
        RefundedGoods::TEXT,
        DailyMetrics::TEXT,
        Visitors::TEXT,
        CustomerDays::TEXT,
        FirstOrdersMoved::TEXT,
        DropCustomers::TEXT,
        CustomerTotals::TEXT,
        NewCustomers::TEXT,
        DropEmptyDays::TEXT,
        &golden(),
    ])
});

/// The first 64 bits of SHA-256 of the texts, however their lines are broken, as 16 hexadecimal digits.
fn fingerprint(texts: &[&str]) -> String {
    let mut context = Context::new(&SHA256);
    for text in texts {
        for word in text.split_whitespace() {
            context.update(word.as_bytes());
            context.update(b" ");
        }
        context.update(b"\0");
    }
    hex::encode(context.finish().as_ref().get(..8).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_definitions_have_another_fingerprint_and_other_line_breaks_do_not() {
        let of = |statement: &str| fingerprint(&[statement, "rule"]);
        let rate = DailyMetrics::TEXT.replace("sum(spend)", "max(spend)");
        assert_ne!(of(DailyMetrics::TEXT), of(&rate));
        assert_eq!(of(DailyMetrics::TEXT), of(&DailyMetrics::TEXT.replace("\n    ", " ")));
        assert_ne!(of(DailyMetrics::TEXT), fingerprint(&[DailyMetrics::TEXT, "another rule"]));
        assert_eq!(DEFINITIONS.len(), 16);
    }
}
