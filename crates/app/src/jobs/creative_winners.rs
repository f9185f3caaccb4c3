//! The job `creative_winners`: which creatives of a campaign do better than the others.

use std::collections::BTreeMap;

use analytics::creatives::{self, Cell, Contrast, Group, Shown, Told};
use domain::{
    AdEntityId, CreativeId, StoreError,
    creatives::{
        CreativeDay, Fatigue, HISTORY_DAYS, Judged, Lift, Metric, Needs, Record, Status, UNSCORED_DAYS, Verdict,
        Verdicts,
    },
    jobs::WriteOutcome,
    money::{Currency, estimate, round},
    profit::DayRange,
};
use rust_decimal::{
    Decimal,
    prelude::{FromPrimitive, ToPrimitive},
};
use time::{Date, Duration};

use super::{Work, off_thread};

/// The squared coefficient of variation of orders is taken to be at least this: an estimate from few of them may be too low.
const LEAST_ORDER_SPREAD: f64 = 0.2;
/// No stored lift is larger: beyond any use, within what can be stored.
const LARGEST_LIFT: f64 = 1e6;

pub(super) async fn run(work: &Work<'_>) -> Result<WriteOutcome, StoreError> {
    let (account, last, now) = (work.account, work.claim.last_full_day(), (work.clock)());
    let first = last.saturating_sub(Duration::days(HISTORY_DAYS - 1));
    let record = work.deps.creative_source.record(account.id, DayRange { first, last }).await?;
    let currency = account.currency;
    let verdicts = off_thread(move || judge(&record, last, currency)).await?;
    work.deps.creatives.replace(work.claim, verdicts, now).await
}

fn judge(record: &Record, last: Date, currency: Currency) -> Verdicts {
    let mut campaigns: BTreeMap<AdEntityId, Vec<&CreativeDay>> = BTreeMap::new();
    for day in &record.days {
        campaigns.entry(day.campaign_id).or_default().push(day);
    }
    let order_spread = record.order_value.spread.max(LEAST_ORDER_SPREAD);
    let campaigns: Vec<Campaign> =
        campaigns.into_iter().map(|(id, days)| Campaign::of(id, days, record, last, order_spread)).collect();
    let contrasts: Vec<Contrast> =
        campaigns.iter().flat_map(|campaign| creatives::contrasts(&campaign.group(creatives::TAU))).collect();
    let tau = creatives::own_tau(&contrasts);
    Verdicts {
        judged: campaigns.iter().flat_map(|campaign| campaign.judged(tau)).collect(),
        tau: estimate(tau, 4),
        window_days: HISTORY_DAYS,
        currency,
    }
}

/// A campaign with its creatives, by place.
struct Campaign<'a> {
    id: AdEntityId,
    creatives: Vec<(CreativeId, Vec<&'a CreativeDay>)>,
    cells: Vec<Cell>,
    won: Vec<bool>,
    told: Told,
    last: Date,
    scored_until: Date,
    order_spread: f64,
}

impl<'a> Campaign<'a> {
    fn of(id: AdEntityId, days: Vec<&'a CreativeDay>, record: &Record, last: Date, order_spread: f64) -> Self {
        let mut creatives: BTreeMap<CreativeId, Vec<&CreativeDay>> = BTreeMap::new();
        for day in days {
            creatives.entry(day.creative_id).or_default().push(day);
        }
        let creatives: Vec<_> = creatives.into_iter().collect();
        let scored_until = last.saturating_sub(Duration::days(UNSCORED_DAYS));
        let scored = || {
            let each =
                creatives.iter().enumerate().flat_map(|(place, (_, days))| days.iter().map(move |day| (place, *day)));
            // A day in a currency without a rate cannot be compared with others.
            each.filter(|(_, day)| day.day <= scored_until && day.spend.is_some())
        };
        let all = |is_told: fn(&CreativeDay) -> bool| scored().all(|(_, day)| is_told(day));
        let told = Told {
            impressions: all(|day| day.impressions.is_some()),
            clicks: all(|day| day.clicks.is_some()),
            purchases: all(|day| day.purchases.is_some()),
            revenue: all(|day| day.revenue.is_some()),
        };
        let cells = scored().map(|(place, day)| cell(place, day)).collect();
        let won = creatives.iter().map(|(creative, _)| record.won.contains(&(id, *creative))).collect();
        Self { id, creatives, cells, won, told, last, scored_until, order_spread }
    }

    fn group(&self, tau: f64) -> Group<'_> {
        Group { cells: &self.cells, won: &self.won, told: self.told, order_spread: self.order_spread, tau }
    }

    fn judged(&self, tau: f64) -> Vec<Judged> {
        let verdicts = creatives::judge(&self.group(tau));
        let both = self.creatives.iter().zip(verdicts);
        both.filter_map(|((creative, days), verdict)| self.one(*creative, days, &verdict)).collect()
    }

    fn one(&self, creative_id: CreativeId, days: &[&CreativeDay], verdict: &creatives::Verdict) -> Option<Judged> {
        let scored = || days.iter().filter(|day| day.day <= self.scored_until);
        Some(Judged {
            campaign_id: self.id,
            creative_id,
            first_seen: days.iter().map(|day| day.day).min()?,
            last_seen: days.iter().map(|day| day.day).max()?,
            verdict: stored(verdict),
            fatigue: fatigue(days, self.last),
            spend: scored().filter_map(|day| day.spend).sum(),
            revenue: self.told.revenue.then(|| scored().filter_map(|day| day.revenue).sum()),
        })
    }
}

fn cell(creative: usize, day: &CreativeDay) -> Cell {
    let amount = |amount: Option<Decimal>| amount.and_then(|amount| amount.to_f64()).unwrap_or_default();
    let count = |count: Option<i64>| count.and_then(|count| count.to_f64()).unwrap_or_default();
    Cell {
        creative,
        ad_set: day.ad_set_id.0,
        day: day.day.to_julian_day().into(),
        spend: amount(day.spend),
        impressions: count(day.impressions),
        clicks: count(day.clicks),
        purchases: amount(day.purchases),
        revenue: amount(day.revenue),
    }
}

/// A verdict as it is kept: rounded, and within what can be stored.
fn stored(verdict: &creatives::Verdict) -> Verdict {
    let lift = |part: f64| round(Decimal::from_f64(part.clamp(-1.0, LARGEST_LIFT)).unwrap_or_default(), 6);
    let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    Verdict {
        status: status(verdict.status),
        metric: verdict.metric.map(metric),
        evidence: verdict.evidence.map(|evidence| estimate(evidence, 4)),
        lift: verdict.lift.map(|found| Lift {
            observed: lift(found.observed),
            shrunk: lift(found.shrunk),
            low: lift(found.low),
            high: lift(found.high),
        }),
        compared_with: count(verdict.compared_with),
        days: count(verdict.days),
        needs: verdict.needs.map(|needs| Needs {
            purchases: needs.purchases.ceil().to_i64().unwrap_or(i64::MAX),
            days: count(needs.days),
            spend: estimate(needs.spend, 6),
        }),
    }
}

const fn status(status: creatives::Status) -> Status {
    match status {
        creatives::Status::Winner => Status::Winner,
        creatives::Status::Leading => Status::Leading,
        creatives::Status::Testing => Status::Testing,
        creatives::Status::InsufficientData => Status::InsufficientData,
        creatives::Status::Faded => Status::Faded,
        creatives::Status::Losing => Status::Losing,
    }
}

const fn metric(metric: creatives::Metric) -> Metric {
    match metric {
        creatives::Metric::Roas => Metric::Roas,
        creatives::Metric::PurchasesPerMille => Metric::PurchasesPerMille,
        creatives::Metric::Ctr => Metric::Ctr,
    }
}

/// Of all days with impressions and clicks, the unscored ones included: clicks are not attributed later.
fn fatigue(days: &[&CreativeDay], last: Date) -> Option<Fatigue> {
    let mut by_day: BTreeMap<Date, (f64, f64)> = BTreeMap::new();
    for day in days {
        let (clicks, shown) = (day.clicks?.to_f64()?, day.impressions?.to_f64()?);
        let sums = by_day.entry(day.day).or_default();
        *sums = (sums.0 + clicks, sums.1 + shown);
    }
    let number = |day: Date| i64::from(day.to_julian_day());
    let shown = by_day.into_iter().map(|(day, (clicks, impressions))| Shown { day: number(day), clicks, impressions });
    let creatives::Fatigue { ctr_ratio, is_fatigued } = creatives::fatigue(&shown.collect::<Vec<_>>(), number(last))?;
    Some(Fatigue { ctr_ratio: estimate(ctr_ratio, 6), is_fatigued })
}

#[cfg(test)]
mod tests {
    use domain::metrics::returns::OrderValue;
    use rust_decimal::dec;
    use time::macros::date;

    use super::*;

    const LAST: Date = date!(2026 - 03 - 01);

    /// A creative on the day as many days before the last as said, at 10 of spend a day, each purchase worth 20.
    fn day(creative_id: i64, back: i64, purchases: i64) -> CreativeDay {
        CreativeDay {
            campaign_id: AdEntityId(1),
            creative_id: CreativeId(creative_id),
            ad_set_id: AdEntityId(5),
            day: LAST - Duration::days(back),
            spend: Some(dec!(10)),
            impressions: Some(1_000),
            clicks: Some(40),
            purchases: Some(purchases.into()),
            revenue: Some(Decimal::from(purchases * 20)),
        }
    }

    fn record(days: i64, purchases: &[i64]) -> Record {
        let all = (0..days).flat_map(|back| purchases.iter().zip(11..).map(move |(count, id)| day(id, back, *count)));
        Record { days: all.collect(), won: vec![], order_value: OrderValue { mean: 20.0, spread: 0.64 } }
    }

    fn statuses(record: &Record) -> Vec<(i64, Status)> {
        let found = judge(record, LAST, Currency::USD).judged;
        found.iter().map(|judged| (judged.creative_id.0, judged.verdict.status)).collect()
    }

    #[test]
    fn who_sells_more_wins() {
        let record = record(33, &[6, 4, 4]);
        assert_eq!(statuses(&record), [(11, Status::Winner), (12, Status::Testing), (13, Status::Testing)]);
        let Verdicts { judged, tau, .. } = judge(&record, LAST, Currency::USD);
        let best = &judged[0];
        // Thirty of the days are scored.
        assert_eq!((best.spend, best.revenue, best.verdict.days), (dec!(300), Some(dec!(3600)), 30));
        assert_eq!((best.first_seen, best.last_seen), (LAST - Duration::days(32), LAST));
        assert_eq!((best.verdict.lift.unwrap().observed, tau), (dec!(0.5), dec!(0.25)));
        assert_eq!(best.fatigue.unwrap(), Fatigue { ctr_ratio: dec!(1), is_fatigued: false });
    }

    #[test]
    fn nobody_tires_of_what_is_not_shown_any_more() {
        let mut paused = record(40, &[6, 4]);
        paused.days.retain(|day| day.creative_id != CreativeId(11) || day.day <= LAST - Duration::days(7));
        let Verdicts { judged, .. } = judge(&paused, LAST, Currency::USD);
        assert_eq!((judged[0].fatigue, judged[1].fatigue.is_some()), (None, true));
    }

    #[test]
    fn who_has_won_stays_a_winner_without_others() {
        let mut alone = Record { won: vec![(AdEntityId(1), CreativeId(11))], ..record(33, &[6, 4]) };
        alone.days.retain(|day| day.creative_id == CreativeId(11));
        assert_eq!(statuses(&alone), [(11, Status::Winner)]);
    }

    #[test]
    fn the_last_three_days_do_not_count() {
        let mut lucky = record(33, &[2, 2, 2]);
        for day in
            lucky.days.iter_mut().filter(|day| day.creative_id == CreativeId(11) && day.day > LAST - Duration::days(3))
        {
            day.purchases = Some(dec!(500));
            day.revenue = Some(dec!(10000));
        }
        assert_eq!(statuses(&lucky)[0].1, Status::Testing);
        assert_eq!(statuses(&record(3, &[50, 1]))[0].1, Status::InsufficientData, "nothing is scored yet");
    }

    #[test]
    fn without_revenue_purchases_are_compared_and_campaigns_apart() {
        let mut mixed = record(33, &[6, 2, 2]);
        mixed.days[50].revenue = None;
        let unsold = mixed.days.iter().map(|day| CreativeDay {
            campaign_id: AdEntityId(2),
            purchases: None,
            revenue: None,
            ..*day
        });
        let unsold: Vec<_> = unsold.collect();
        mixed.days.extend(unsold);
        let Verdicts { judged, .. } = judge(&mixed, LAST, Currency::USD);
        assert_eq!((judged[0].verdict.metric, judged[0].revenue), (Some(Metric::PurchasesPerMille), None));
        assert_eq!((judged[3].campaign_id, judged[3].verdict.status), (AdEntityId(2), Status::InsufficientData));
        assert_eq!(judged[3].verdict.needs.unwrap().purchases, 100);
    }

    #[test]
    fn days_without_a_rate_are_left_out() {
        let mut some = record(33, &[6, 2]);
        some.days.iter_mut().filter(|day| day.creative_id == CreativeId(11)).for_each(|day| day.spend = None);
        let Verdicts { judged, .. } = judge(&some, LAST, Currency::USD);
        assert_eq!((judged[0].verdict.status, judged[0].verdict.days), (Status::InsufficientData, 0));
        assert_eq!(judged[1].verdict.compared_with, 0);
    }
}
