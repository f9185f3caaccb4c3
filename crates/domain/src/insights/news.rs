//! Good news, and the week in short.

use rust_decimal::Decimal;
use time::{Date, Duration, Weekday};

use super::{
    Category, Draft, Severity,
    facts::{Facts, StoryFact},
    rules::count,
    stories,
    told::{Kind, Told, Value},
};
use crate::{
    daily::DayTotals,
    metrics::{Metric, Sums},
};

/// Days of sales that a day must be the best of to be called a record.
const RECORD_OF_DAYS: usize = 90;
/// Days from which on those that are looked at may not be all that there were.
const YEAR_DAYS: usize = 365;
/// Days for which a record is news.
const RECORD_NEWS: usize = 7;
/// Stories that a week is told by.
const STORIES_OF_WEEK: usize = 3;

/// A day that was the best of all that are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    pub day: Date,
    sales: Decimal,
    orders: i64,
    before: (Date, Decimal),
    is_of_year: bool,
}

impl Record {
    /// How far back it is the best: of a year, or of all that ever were.
    pub const fn reach(self) -> &'static str {
        if self.is_of_year { "year" } else { "ever" }
    }

    pub fn draft(self) -> Draft {
        let Self { day, sales, orders, before: (record_day, record), .. } = self;
        let told = Told::new(Kind::RecordDay)
            .with("day", Value::Date(day))
            .with("sales", Value::Money(sales))
            .with("orders", count(orders))
            .with("record", Value::Money(record))
            .with("record_day", Value::Date(record_day))
            .with("reach", Value::Code(self.reach().to_owned()));
        let stake = Some(sales - record);
        Draft { stake, ..Draft::new("record:day", Severity::Low, Category::Revenue, told) }
    }
}

/// What counts of a day's sales: nothing where half of them or more was given back on the day, such as a bulk order that was
/// cancelled.
fn sales(day: &DayTotals) -> Decimal {
    if day.refunds * Decimal::TWO < day.gross_revenue { day.gross_revenue } else { Decimal::ZERO }
}

/// The best day of all that are known, if it was one of the last. Days are one after the other.
pub(super) fn record(days: &[DayTotals]) -> Option<Record> {
    let since_first = days.iter().position(|day| !day.gross_revenue.is_zero())?;
    let known = days.get(since_first..)?;
    let (before, news) = known.split_at(known.len().checked_sub(RECORD_NEWS)?);
    // Of equal ones the first: the next is no record.
    let best = news.iter().rev().max_by_key(|day| sales(day))?;
    let old = before.iter().map(sales).max()?;
    if before.len() < RECORD_OF_DAYS || sales(best) <= old {
        return None;
    }
    // It may have been beaten before, on another of the last days.
    let record = known.iter().take_while(|day| day.day < best.day).max_by_key(|day| sales(day))?;
    Some(Record {
        day: best.day,
        sales: best.gross_revenue,
        orders: best.orders,
        before: (record.day, record.gross_revenue),
        is_of_year: known.len() >= YEAR_DAYS,
    })
}

/// The last full week, from Monday on: five figures beside those of the week before, what happened, and one thing to do.
pub(super) fn digest(facts: &Facts, record: Option<Record>) -> Option<Draft> {
    let last = facts.days.last()?.day;
    let sunday = match last.weekday() {
        Weekday::Sunday => last,
        other => last.checked_sub(Duration::days(i64::from(other.number_days_from_sunday())))?,
    };
    let week = |sunday: Date| {
        let monday = sunday.checked_sub(Duration::days(6))?;
        let days = facts.days.iter().filter(|day| (monday..=sunday).contains(&day.day));
        Some((monday, Sums::of_days(&days.copied().collect::<Vec<_>>())))
    };
    let ((monday, is), (before, was)) = (week(sunday)?, week(sunday.checked_sub(Duration::days(7))?)?);
    // Of a week in which the shop opened, less is known than of the next.
    let was_open = facts.days.iter().any(|day| day.day <= before && day.orders > 0);
    if is.components.purchase_count == 0 || was.components.purchase_count == 0 || !was_open {
        return None;
    }
    let told = Told::new(Kind::WeeklyDigest).with("first", Value::Date(monday)).with("last", Value::Date(sunday));
    let told = FIGURES.iter().fold(told, |told, metric| {
        let (is, was) = (metric.of(&is).unwrap_or_default(), metric.of(&was).unwrap_or_default());
        let value = |value| match metric {
            Metric::Orders | Metric::NewCustomers => count(value),
            _ => Value::Money(value),
        };
        told.with(metric.as_str(), value(is)).with(&format!("{metric}_before"), value(was)).with_moved(
            &format!("{metric}_moved"),
            was,
            is,
        )
    });
    let mut parts: Vec<&StoryFact> =
        facts.stored.stories.iter().filter(|fact| is_of_week(fact, monday, sunday)).collect();
    parts.sort_by(|a, b| b.story.stake().total_cmp(&a.story.stake()).then(a.id.cmp(&b.id)));
    let parts: Vec<Told> =
        parts.into_iter().take(STORIES_OF_WEEK).map(|fact| stories::draft(fact, record).told).collect();
    let told = told.with("happened", Value::Code(if parts.is_empty() { "no" } else { "yes" }.to_owned()));
    let draft = Draft::new(format!("digest:{monday}"), Severity::Low, Category::Profit, Told { parts, ..told });
    Some(Draft { comes_first: true, ..draft })
}

const FIGURES: [Metric; 5] =
    [Metric::NetRevenue, Metric::Orders, Metric::Profit, Metric::AdSpend, Metric::NewCustomers];

/// What happened in the week, or went on in it.
fn is_of_week(fact: &StoryFact, monday: Date, sunday: Date) -> bool {
    let StoryFact { story, .. } = fact;
    story.is_worth_telling() && story.span.first <= sunday && story.span.last >= monday
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;

    #[rstest]
    #[case::one(&[(98, 250)], Some((98, 40, 180)))]
    #[case::one_of_them_after_the_other(&[(95, 200), (98, 250)], Some((98, 95, 200)))]
    #[case::less_than_the_record_after_it(&[(95, 250), (98, 200)], Some((95, 40, 180)))]
    #[case::as_much_again(&[(95, 250), (98, 250)], Some((95, 40, 180)))]
    #[case::none(&[(95, 170), (98, 180)], None)]
    fn a_record_is_told_beside_the_best_day_before_it(
        #[case] news: &[(i64, i64)],
        #[case] expected: Option<(i64, i64, i64)>,
    ) {
        let first = date!(2025 - 11 - 20);
        let sales = |at: i64| match news.iter().find(|(day, _)| *day == at) {
            Some((_, sales)) => Decimal::from(*sales),
            None if at == 40 => dec!(180),
            None => dec!(100),
        };
        let day = |at: i64| DayTotals { gross_revenue: sales(at), ..DayTotals::quiet(first + Duration::days(at)) };
        let mut days: Vec<DayTotals> = (0..100).map(day).collect();
        let told = |days: &[DayTotals]| {
            let of = |day: Date| (day - first).whole_days();
            record(days).map(|found| (of(found.day), of(found.before.0), found.before.1))
        };
        let expected = expected.map(|(day, before, sales)| (day, before, Decimal::from(sales)));
        assert_eq!(told(&days), expected);
        // Days on which most was cancelled again are no record, and none to beat.
        for cancelled in [20, 97] {
            (days[cancelled].gross_revenue, days[cancelled].refunds) = (dec!(9000), dec!(8800));
        }
        assert_eq!(told(&days), expected);
    }
}
