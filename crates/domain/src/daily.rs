//! What happened on each day of a shop: the sums that everything per day is derived from.

use async_trait::async_trait;
use rust_decimal::Decimal;
use time::Date;

use crate::{
    AccountId, StoreError,
    profit::{Basis, Components, DayRange},
    zone::Zone,
};

/// The sums of one calendar day in the account's time zone. Money is in the account's currency, not rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayTotals {
    pub day: Date,
    pub gross_revenue: Decimal,
    /// Positive; counted on the day of the refund.
    pub refunds: Decimal,
    pub orders: i64,
    pub units: i64,
    /// Different known customers who ordered.
    pub customers: i64,
    /// Those of them who never ordered before.
    pub new_customers: i64,
    pub refund_count: i64,
    /// Cost of the goods sold less that of goods that came back, known or estimated.
    pub cogs: Decimal,
    pub fees: Decimal,
    pub shipping: Decimal,
    /// How far these three are known.
    pub basis: Basis,
    pub ad_spend: Decimal,
    pub ad_clicks: i64,
    pub extra_expenses: Decimal,
    /// Different visitors among the tracking events.
    pub visitors: i64,
}

impl DayTotals {
    /// A day on which nothing happened.
    pub const fn quiet(day: Date) -> Self {
        Self {
            day,
            gross_revenue: Decimal::ZERO,
            refunds: Decimal::ZERO,
            orders: 0,
            units: 0,
            customers: 0,
            new_customers: 0,
            refund_count: 0,
            cogs: Decimal::ZERO,
            fees: Decimal::ZERO,
            shipping: Decimal::ZERO,
            basis: Basis {
                goods_revenue: Decimal::ZERO,
                cogs_covered_revenue: Decimal::ZERO,
                fees_estimated_orders: 0,
                shipping_estimated_orders: 0,
                returned_units: 0,
                returned_cogs: Decimal::ZERO,
                returned_fees: Decimal::ZERO,
            },
            ad_spend: Decimal::ZERO,
            ad_clicks: 0,
            extra_expenses: Decimal::ZERO,
            visitors: 0,
        }
    }

    /// What the day's orders cost: goods, fees and shipping, with what was taken back of these for goods that came back.
    pub fn order_costs(&self) -> Decimal {
        self.cogs + self.fees + self.shipping + self.returned_costs()
    }

    /// What was taken off goods and fees for goods that came back: an estimate.
    pub fn returned_costs(&self) -> Decimal {
        self.basis.returned_cogs + self.basis.returned_fees
    }

    /// The parts of the day's profit.
    pub const fn components(&self) -> Components {
        Components {
            gross_revenue: self.gross_revenue,
            refunds: self.refunds,
            ad_spend: self.ad_spend,
            cogs_estimate: self.cogs,
            fees_estimate: self.fees,
            shipping_estimate: self.shipping,
            extra_expenses: self.extra_expenses,
            purchase_count: self.orders,
        }
    }
}

/// Every day from the first of `known` (or `earliest`, if that is later) to `last`, days without an entry as quiet ones.
/// `known` is in the order of days; entries after `last` are left out.
pub fn without_gaps(known: &[DayTotals], earliest: Date, last: Date) -> Vec<DayTotals> {
    let Some(first) = known.first().map(|totals| totals.day.max(earliest)) else { return Vec::new() };
    let mut known = known.iter().skip_while(|totals| totals.day < first).peekable();
    let mut days = Vec::new();
    let mut next = Some(first);
    while let Some(day) = next.filter(|day| *day <= last) {
        let totals = known.next_if(|totals| totals.day == day);
        days.push(totals.copied().unwrap_or(DayTotals::quiet(day)));
        next = day.next_day();
    }
    days
}

text_enum!(
    /// What a day is broken down by: the platform that orders came from and ads were paid to, the country of buyer and
    /// visitor, the product by its SKU, the campaign as `platform/campaign`, and country and platform together as
    /// `country/platform`.
    Dimension {
        Platform = "platform",
        Product = "product",
        Country = "country",
        Campaign = "campaign",
        CountryPlatform = "country_platform",
    }
);

/// The sums of a part of one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartTotals {
    pub day: Date,
    pub dimension: Dimension,
    pub value: String,
    pub gross_revenue: Decimal,
    /// Of products only: positive, at the prices of the refunds' lines.
    pub refunds: Decimal,
    pub orders: i64,
    pub units: i64,
    pub ad_spend: Decimal,
    /// Of countries only.
    pub visitors: i64,
}

/// How much the roll-up had to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RollUp {
    /// Days that were summed up again.
    pub days: u64,
    /// Rises with every roll-up that found anything changed: as long as it stays, so did everything that imports and
    /// tracking write.
    pub version: i64,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait DailyStore: Send + Sync {
    /// Sums up the dirty days, and those alone, or all days after a change of the account's rates or of its time zone, which is
    /// `zone`: the newest first, in steps of which each is kept. Whatever the order in which data came in, the same data gives
    /// the same sums. `now` is noted as the time up to which tracking events have been looked at. `None`, at once, while another
    /// task or process rolls the same account up: the caller decides whether to try again later.
    async fn roll_up(
        &self,
        account: AccountId,
        zone: &Zone,
        now: time::OffsetDateTime,
    ) -> Result<Option<RollUp>, StoreError>;
    /// Makes a step of [`Self::roll_up`]: about `days` days that are dirty or stale, and in the first step (`is_first`) those of
    /// new tracking events. Gives whether it was the last. `None` as there.
    async fn roll_up_step(
        &self,
        account: AccountId,
        zone: &Zone,
        now: time::OffsetDateTime,
        days: usize,
        is_first: bool,
    ) -> Result<Option<bool>, StoreError>;
    /// The days of the range on which anything happened, oldest first.
    async fn series(&self, account: AccountId, range: DayRange) -> Result<Vec<DayTotals>, StoreError>;
    /// The parts of the days of the range, by day, dimension and value. Of the products, those that brought most in the
    /// whole range, or brought or were refunded most on one of the days `looked_at`; they have no orders of their own.
    async fn parts(
        &self,
        account: AccountId,
        range: DayRange,
        looked_at: Vec<Date>,
    ) -> Result<Vec<PartTotals>, StoreError>;
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;

    fn busy(day: Date) -> DayTotals {
        DayTotals { gross_revenue: dec!(1000), visitors: 200, ..DayTotals::quiet(day) }
    }

    #[test]
    fn gaps_are_filled_and_both_ends_are_cut() {
        let known = [busy(date!(2026 - 02 - 20)), busy(date!(2026 - 02 - 27)), busy(date!(2026 - 03 - 02))];
        let days = without_gaps(&known, date!(2026 - 02 - 26), date!(2026 - 03 - 01));
        let expected = [
            DayTotals::quiet(date!(2026 - 02 - 26)),
            known[1],
            DayTotals::quiet(date!(2026 - 02 - 28)),
            DayTotals::quiet(date!(2026 - 03 - 01)),
        ];
        assert_eq!(days, expected);
    }

    #[test]
    fn no_activity_gives_no_days() {
        assert_eq!(without_gaps(&[], date!(2026 - 01 - 01), date!(2026 - 03 - 01)), []);
    }

    #[test]
    fn activity_after_the_last_day_alone_gives_no_days() {
        assert_eq!(without_gaps(&[busy(date!(2026 - 03 - 02))], Date::MIN, date!(2026 - 03 - 01)), []);
    }
}
