//! Refunds and margins of the whole shop, by its daily sums.

use std::path::Path;

use analytics::exposure::{Counts, DayRatio, Spread, change_of_ratio, spike};
use time::Date;

use super::{Raised, Score, UNIT_COST, mondays};
use crate::{daily::parse_date, skus::Skus, table::Table};

const WEEK: usize = 7;
const MONTH: usize = 30;
const RECENT: usize = 14;
const PAST: usize = 56;

/// The sums of one day.
#[derive(Clone, Copy, Default)]
struct Day {
    gross: f64,
    orders: f64,
    refunds: f64,
    refund_count: f64,
}

/// Every day from the first to the last but one, which is cut off in such files.
fn days(data: &Path) -> anyhow::Result<(Vec<Date>, Vec<Day>)> {
    let table = Table::open(&data.join("online_retail/daily.csv"))?;
    let columns = ["date", "gross_revenue", "orders", "refunds", "cancel_invoices"];
    let at = columns.iter().map(|name| table.column(name)).collect::<anyhow::Result<Vec<_>>>()?;
    let (mut dates, mut days): (Vec<Date>, Vec<Day>) = (Vec::new(), Vec::new());
    table.each(|row| {
        let cell = |column: usize| at.get(column).and_then(|at| row.get(*at)).unwrap_or_default();
        let number = |column: usize| cell(column).parse::<f64>().unwrap_or_default();
        let date = parse_date(cell(0))?;
        while let Some(next) = dates.last().and_then(|day| day.next_day()).filter(|next| *next < date) {
            dates.push(next);
            days.push(Day::default());
        }
        dates.push(date);
        days.push(Day { gross: number(1), orders: number(2), refunds: number(3).abs(), refund_count: number(4) });
        Ok(())
    })?;
    dates.pop();
    days.pop();
    Ok((dates, days))
}

fn counts(days: &[Day]) -> Counts {
    Counts { events: days.iter().map(|day| day.refund_count).sum(), trials: days.iter().map(|day| day.orders).sum() }
}

/// Refunds beyond the usual part of the orders.
pub fn refunds(data: &Path) -> anyhow::Result<Score> {
    let (dates, days) = days(data)?;
    let mut score = Score::default();
    for at in mondays(&dates, PAST + WEEK, MONTH) {
        let span = |from: usize, to: usize| days.get(from..to).unwrap_or_default();
        let (past, week, next) = (span(at - WEEK - PAST, at - WEEK), span(at - WEEK, at), span(at, at + MONTH));
        let before: Vec<Counts> = past.rchunks_exact(WEEK).map(counts).collect();
        let Some(found) = spike(&before, counts(week)) else { continue };
        let known = span(at - WEEK - PAST, at);
        let mean_refund = known.iter().map(|day| day.refunds).sum::<f64>() / counts(known).events.max(1.0);
        let rate = counts(past).events / counts(past).trials.max(1.0);
        let beyond = |days: &[Day]| {
            let usual = rate * counts(days).trials * mean_refund;
            (days.iter().map(|day| day.refunds).sum::<f64>() - usual).max(0.0)
        };
        score.raised(Raised {
            range: found.excess.times(mean_refund * MONTH as f64 / WEEK as f64),
            lost: beyond(next),
            lost_before: beyond(span(at.saturating_sub(MONTH), at)),
        });
    }
    Ok(score)
}

/// Margin below that of the weeks before: goods at their assumed cost, refunds taken off.
pub fn margins(data: &Path, skus: &Skus) -> anyhow::Result<Score> {
    let (dates, days) = days(data)?;
    let ratios: Vec<DayRatio> = dates
        .iter()
        .zip(&days)
        .map(|(date, day)| {
            let cost = skus.until(*date).map_or(0.0, |at| {
                skus.items
                    .iter()
                    .map(|item| UNIT_COST * item.price * item.units.get(at).copied().unwrap_or_default())
                    .sum()
            });
            let net = day.gross - day.refunds;
            DayRatio { part: net - cost, whole: net }
        })
        .collect();
    let ratio = |days: &[DayRatio]| {
        let (part, whole) = days.iter().fold((0.0, 0.0), |(part, whole), day| (part + day.part, whole + day.whole));
        (whole > 0.0).then(|| (part / whole, whole))
    };
    let mut score = Score::default();
    for at in mondays(&dates, PAST + RECENT, MONTH) {
        let span = |from: usize, to: usize| ratios.get(from..to).unwrap_or_default();
        let (past, recent) = (span(at - RECENT - PAST, at - RECENT), span(at - RECENT, at));
        let Some(found) = change_of_ratio(past, recent).filter(|found| found.interval.1 < 0.0) else { continue };
        let (month, next) = (ratio(span(at - MONTH, at)), ratio(span(at, at + MONTH)));
        let (Some((margin_before, net_before)), Some((margin_next, net_next))) = (month, next) else { continue };
        let Spread { low, expected, high } = found.fall;
        score.raised(Raised {
            range: Spread { low, expected, high }.times(net_before),
            lost: (found.before - margin_next).max(0.0) * net_next,
            lost_before: (found.before - margin_before).max(0.0) * net_before,
        });
    }
    Ok(score)
}
