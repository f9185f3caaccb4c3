//! What the service tells of a window of days, held against what was planted in it.

use std::collections::{BTreeMap, BTreeSet};

use app::jobs::{Parts, Shop};
use domain::{
    anomalies::{Cause, Finding, Kind as Found, drivers::chain, is_notable},
    daily::PartTotals,
    metrics::Metric,
    stories::{LeverKind, Money, StockOut, Story, Subject},
};
use serde_json::{Value, json};
use time::Date;

use super::{
    LEAD, WINDOW,
    plant::{Incident, Kind},
    world::{Book, World, range},
};
use crate::{daily::round, skus::mean};

/// The first day on which the demo shop counts its visitors.
pub const FIRST_TRACKED: usize = demo::HISTORY_DAYS - 42;
/// Products that brought most in a window, and on each of its striking days.
const PRODUCTS: (usize, usize) = (25, 5);
/// Days after an incident on which what is told may still be about it.
const AFTER: usize = 2;

/// How the anomalies are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// An insight for each metric and direction.
    Anomalies,
    Stories,
}

impl Method {
    pub const ALL: [Self; 2] = [Self::Anomalies, Self::Stories];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Anomalies => "an_insight_per_metric",
            Self::Stories => "stories",
        }
    }
}

/// Something that is told.
struct Told {
    /// What it is about, and the day that departed most: the same in the shop without an incident, it is the shop's own.
    key: Key,
    first: Date,
    last: Date,
    lever: Option<(LeverKind, Option<String>)>,
    money: Option<Money>,
    moves_money: bool,
}

/// What became of an incident.
struct Outcome {
    kind: Kind,
    told: usize,
    right: bool,
    within: bool,
}

/// A window.
pub struct Judged {
    methods: [(Vec<Outcome>, usize); 2],
}

/// Judges a window of `days`, and of each incident what the same days without it do not tell.
pub fn judge(world: &World, days: &[Book], window: usize, incidents: &[Incident]) -> anyhow::Result<Judged> {
    let (told, _) = told(world, days, window, incidents)?;
    let mut own: Vec<[Own; 2]> = Vec::new();
    for incident in incidents {
        let mut without = days.to_vec();
        let range = incident.first..=incident.last;
        if let Some((books, clean)) = without.get_mut(range.clone()).zip(world.days.get(range)) {
            books.clone_from_slice(clean);
        }
        let others: Vec<Incident> = incidents.iter().filter(|other| other.first != incident.first).cloned().collect();
        let of_method = |told: Vec<Told>| told.into_iter().map(|told| (told.key, told.money)).collect();
        let (told, cancelled) = self::told(world, &without, window, &others)?;
        let mut told = told.map(of_method);
        told.iter_mut().for_each(|own: &mut Own| own.extend(cancelled.iter().cloned().map(|key| (key, None))));
        own.push(told);
    }
    let [by_metric, stories] = told;
    let own_of = |method: Method| own.iter().filter_map(|own| own.get(method as usize)).collect::<Vec<_>>();
    Ok(Judged {
        methods: [
            outcomes(world, &by_metric, incidents, &own_of(Method::Anomalies)),
            outcomes(world, &stories, incidents, &own_of(Method::Stories)),
        ],
    })
}

/// What is told of a window, by method, and the refunds that are a part of another story: of orders that were cancelled.
/// These are to be expected where an incident hides that order.
fn told(
    world: &World,
    days: &[Book],
    window: usize,
    incidents: &[Incident],
) -> anyhow::Result<([Vec<Told>; 2], Vec<Key>)> {
    let (start, end) = (window - LEAD, window + WINDOW - 1);
    let books = days.get(start..=end).unwrap_or_default();
    let totals = books.iter().enumerate().map(|(i, book)| world.totals(start + i, book)).collect();
    let scored = range(world, window, end);
    let (shop, events) = Shop::judged(totals, world.holidays.clone(), scored, "UTC".parse()?);
    let striking: BTreeSet<Date> = events.iter().map(|(_, event)| event.peak).collect();
    let products = products(world, books, start, &striking);
    let parts: Vec<PartTotals> =
        books.iter().enumerate().flat_map(|(i, book)| world.parts(start + i, book, &products)).collect();
    let findings = shop.findings(&events, &parts);
    let stock_outs: Vec<StockOut> = incidents.iter().filter_map(|incident| incident.stock_out.clone()).collect();
    // All that earn it, most money first: how many are told at a time is a matter of the evening, a window holds many.
    let mut stories = shop.stories(&findings, &Parts::new(&parts), stock_outs);
    let of_sales = stories.iter().filter(|story| story.subject == Subject::Sales).flat_map(|story| &story.members);
    let refunds = of_sales.filter(|member| member.metric == Metric::Refunds.as_str());
    let cancelled = refunds.map(|member| (Subject::Refunds.key(member.direction), member.day)).collect();
    stories.retain(Story::is_worth_telling);
    stories.sort_by(|a, b| b.stake().total_cmp(&a.stake()));
    let of_stories = stories.iter().map(of_story).collect();
    Ok(([by_metric(&findings), of_stories], cancelled))
}

fn products(world: &World, books: &[Book], start: usize, striking: &BTreeSet<Date>) -> BTreeSet<u32> {
    let largest = |books: &[&Book], count: usize| -> Vec<u32> {
        let mut brought: BTreeMap<u32, f64> = BTreeMap::new();
        for line in books.iter().flat_map(|book| &book.orders).flat_map(|order| &order.lines) {
            if let Some(sku) = line.sku {
                *brought.entry(sku).or_default() += line.units as f64 * line.price;
            }
        }
        let mut ranked: Vec<(f64, u32)> = brought.into_iter().map(|(sku, brought)| (brought, sku)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().take(count).map(|(_, sku)| sku).collect()
    };
    let all: Vec<&Book> = books.iter().collect();
    let mut products: BTreeSet<u32> = largest(&all, PRODUCTS.0).into_iter().collect();
    for (i, book) in books.iter().enumerate() {
        if striking.contains(&world.date(start + i)) {
            products.extend(largest(&[book], PRODUCTS.1));
        }
    }
    products
}

fn of_story(story: &Story) -> Told {
    Told {
        key: (story.key(), story.peak),
        first: story.span.first,
        last: story.span.last,
        lever: story.lever.as_ref().map(|lever| (lever.kind, lever.part.clone())),
        money: story.money,
        moves_money: story.money.is_some(),
    }
}

/// As insights were made of anomalies before there were stories: one for every metric and direction that is told, each with
/// the cause that was found for it, and no range of money.
fn by_metric(findings: &[Finding]) -> Vec<Told> {
    const TOLD: [&str; 9] =
        ["gross_revenue", "refunds", "profit", "ad_spend", "roas", "cac", "new_customers", "conversion", "aov"];
    let notable = findings.iter().filter(|f| f.kind == Found::Univariate && is_notable(f.severity));
    let mut told: Vec<(domain::insights::Severity, Told)> = notable
        .filter(|finding| TOLD.contains(&finding.metric.as_str()) || finding.cause == Some(Cause::ClosedDay))
        .map(|finding| {
            let same =
                |f: &&Finding| f.kind == Found::Correlated && (f.day, &f.metric) == (finding.day, &finding.metric);
            let cause = lever(finding).or_else(|| findings.iter().find(same).and_then(lever));
            let (first, last) = (finding.span.first, finding.span.last);
            let key = (format!("{}:{}", finding.metric, finding.direction), finding.day);
            (finding.severity, Told { key, first, last, lever: cause, money: None, moves_money: true })
        })
        .collect();
    told.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    told.into_iter().map(|(_, told)| told).collect()
}

/// The cause of an anomaly as a lever of a story.
fn lever(finding: &Finding) -> Option<(LeverKind, Option<String>)> {
    let kind = match finding.cause? {
        Cause::Platform => LeverKind::Platform,
        Cause::Country => LeverKind::Country,
        Cause::Product => LeverKind::Product,
        Cause::Campaign => LeverKind::Campaign,
        Cause::Price => LeverKind::Price,
        // Visits that were not counted are as near to it as an anomaly comes.
        Cause::Traffic => LeverKind::Tracking,
        Cause::Conversion => LeverKind::Conversion,
        Cause::Customers => LeverKind::Traffic,
        Cause::Basket => LeverKind::BulkOrder,
        Cause::Refund => LeverKind::Refund,
        Cause::Cost => LeverKind::Cost,
        Cause::ClosedDay => LeverKind::ClosedDay,
    };
    Some((kind, chain(&finding.drivers).last().and_then(|driver| driver.part.clone())))
}

/// What something that is told is about, and the day that departed most.
type Key = (String, Date);

/// What is told of the same days without an incident, with its money.
type Own = BTreeMap<Key, Option<Money>>;

/// Part of an incident's money by which a story has changed that is about it as well.
const CHANGED: f64 = 0.5;

/// Whether a story is told without the incident as well: of the same subject, direction and peak, and by as much money.
fn is_own(told: &Told, incident: &Incident, own: &Own) -> bool {
    let Some(money) = own.get(&told.key) else { return false };
    let change = told.money.zip(*money).map(|(with, without)| (with.expected - without.expected).abs());
    change.is_none_or(|change| change < CHANGED * incident.money.abs() || change == 0.0)
}

/// What became of each incident, and how much is told of other days. What is told of an incident's days without it as well
/// is the shop's own.
fn outcomes(world: &World, told: &[Told], incidents: &[Incident], own: &[&Own]) -> (Vec<Outcome>, usize) {
    let is_about = |told: &Told, incident: &Incident| {
        told.first <= world.date(incident.last + AFTER) && told.last >= world.date(incident.first)
    };
    let outcome = |(incident, own): (&Incident, &&Own)| {
        let adds = |told: &&Told| is_about(told, incident) && !is_own(told, incident, own);
        let about: Vec<&Told> = told.iter().filter(adds).collect();
        let first = about.first();
        let right = first.is_some_and(|told| {
            told.lever.as_ref().is_some_and(|(kind, part)| {
                // Without its stock known, a product that is missing is all that can be said.
                let same =
                    *kind == incident.lever || (*kind, incident.lever) == (LeverKind::Product, LeverKind::StockOut);
                same && (incident.part.is_none() || *part == incident.part)
            })
        });
        let within = first.is_some_and(|told| match told.money {
            Some(money) => (money.low..=money.high).contains(&incident.money),
            None => !told.moves_money && incident.money.abs() < 1e-6,
        });
        Outcome { kind: incident.kind, told: about.len(), right, within }
    };
    let others = told.iter().filter(|told| !incidents.iter().any(|incident| is_about(told, incident))).count();
    (incidents.iter().zip(own).map(outcome).collect(), others)
}

/// What was found in several windows.
#[derive(Default)]
pub struct Tally {
    pub days: usize,
    outcomes: [Vec<Outcome>; 2],
    others: [usize; 2],
}

impl Tally {
    pub fn add(&mut self, judged: Judged) {
        self.days += WINDOW;
        for (((outcomes, others), all), sum) in judged.methods.into_iter().zip(&mut self.outcomes).zip(&mut self.others)
        {
            all.extend(outcomes);
            *sum += others;
        }
    }

    /// What is told of other days, per 30 days.
    pub fn quiet(&self, method: Method) -> f64 {
        let others = self.others.get(method as usize).copied().unwrap_or_default();
        round(30.0 * others as f64 / self.days.max(1) as f64)
    }

    /// All incidents together, then each kind.
    pub fn figures(&self, method: Method) -> Vec<Value> {
        let all = self.outcomes.get(method as usize).map(Vec::as_slice).unwrap_or_default();
        let kinds: BTreeSet<Kind> = all.iter().map(|outcome| outcome.kind).collect();
        let of = |name: &str, outcomes: Vec<&Outcome>| {
            let share = |holds: &dyn Fn(&Outcome) -> bool| {
                round(mean(&outcomes.iter().map(|o| f64::from(u8::from(holds(o)))).collect::<Vec<_>>()))
            };
            json!({"kind": name, "incidents": outcomes.len(), "one": share(&|o| o.told == 1),
                "none": share(&|o| o.told == 0), "right_lever": share(&|o| o.right),
                "money_within": share(&|o| o.within)})
        };
        let mut figures = vec![of("all", all.iter().collect())];
        figures.extend(kinds.into_iter().map(|kind| of(kind.name(), all.iter().filter(|o| o.kind == kind).collect())));
        figures.push(json!({"days": self.days, "told_without_an_incident_per_30_days": self.quiet(method)}));
        figures
    }
}
