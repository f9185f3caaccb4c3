//! Profit of a window: the way from gross revenue to it, then day by day.

mod days;
mod way;

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    metrics::Metric,
    periods::{Comparison, days as length},
    profit::{Basis, DayRange, Snapshot},
};
use time::Date;

use super::{
    figures::{change, lacks, lacks_comparison, moved, name, shown, sums, sums_before, told, value},
    html, query,
    shell::shell,
    window::{Window, comparisons, periods, window},
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        figures::Fact,
        layout::Here,
        profit::{self as view, Model},
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Query {
    window: Window,
    compare: Comparison,
    /// Where the list of days goes on: with the days before this one.
    cursor: Option<i64>,
}

impl Query {
    const USUAL: Self = Self { window: Window::USUAL, compare: Comparison::Weekdays, cursor: None };

    fn of(request: &HttpRequest, today: Date) -> Result<Self, PageError> {
        Ok(Self {
            window: Window::of(request, today)?,
            compare: query::one(request, "compare")?.unwrap_or(Self::USUAL.compare),
            cursor: query::cursor(request)?,
        })
    }

    fn address(self) -> String {
        let Self { window, compare, cursor } = self;
        let [period, until] = window.pairs();
        let pairs = [
            period,
            until,
            (compare != Self::USUAL.compare).then(|| format!("compare={compare}")),
            cursor.map(|cursor| format!("cursor={cursor}")),
        ];
        query::address(Here::Profit.address(), pairs)
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let query = Query::of(&request, writer.today())?;
    let (complete, with_today) = (query.window.complete(writer.today()), query.window.with_today(writer.today()));
    let found = state.profit.range(viewer.account(), with_today).await?;
    let before = match query.compare.of(complete) {
        Some(range) => Some((range, state.profit.range(viewer.account(), range).await?.found)),
        None => None,
    };
    let listed = query.window.listed(writer.today());
    let path = format!("/api/v1/profit?{}", query.window.api(length(listed)));
    let source = Source {
        writer: &writer,
        query,
        complete,
        listed,
        found: &found,
        before: before.as_ref().and_then(|(range, found)| sums_before(found, *range)),
        path: &path,
        api: &state.settings.api_url,
    };
    let compared = before.as_ref().map(|(range, _)| *range);
    let uncompared = lacks_comparison(&writer, &found.found, compared, source.before.as_ref());
    let title = writer.say("profit");
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Profit, title.clone()).await?,
        title,
        window: window(&writer, complete),
        period: periods(&writer, query.window, |window| Query { window, cursor: None, ..query }.address()),
        compare: comparisons(&writer, query.compare, complete, |compare| Query { compare, ..query }.address()),
        lacks: lacks(&writer, &found, source.complete).into_iter().chain(uncompared).collect(),
        figures: source.figures(),
        way_head: way::head(&source),
        way: way::panel(&source),
        days_head: days::head(&writer),
        days: days::panel(&source),
    };
    Ok(html(view::page(&model)))
}

struct Source<'a> {
    writer: &'a Writer,
    query: Query,
    /// The days that are added up: today is not over.
    complete: DayRange,
    /// The days that are listed, today among them.
    listed: DayRange,
    found: &'a domain::freshness::Dated<Vec<Snapshot>>,
    before: Option<domain::metrics::Sums>,
    /// The call that gives the same.
    path: &'a str,
    api: &'a url::Url,
}

impl Source<'_> {
    fn complete_days(&self) -> impl Iterator<Item = &Snapshot> {
        let DayRange { first, last } = self.complete;
        self.found.found.iter().filter(move |day| (first..=last).contains(&day.date))
    }

    /// What the estimates of the days rest on.
    fn basis(&self) -> Basis {
        let mut basis = Basis::default();
        self.complete_days().for_each(|day| basis += day.basis);
        basis
    }

    fn figures(&self) -> Vec<Fact> {
        let writer = self.writer;
        let now = sums(&self.found.found, self.complete);
        let metric = |metric: Metric| {
            let current = metric.of(&now);
            let old = self.before.as_ref().and_then(|before| metric.of(before));
            Fact {
                name: name(writer, metric),
                text: current.map_or_else(|| "–".to_owned(), |current| shown(writer, metric, current)),
                value: current.map(|current| value(writer, metric, current)),
                change: self
                    .before
                    .as_ref()
                    .and_then(|before| change(metric, &now, before))
                    .map(|change| moved(writer, metric, change)),
                below: old.map(|old| writer.message("from-before").text("before", shown(writer, metric, old)).say()),
            }
        };
        let basis = self.basis();
        let (mut days, mut estimated) = (0_i64, 0_i64);
        for day in self.complete_days() {
            days += 1;
            estimated += i64::from(day.basis.is_estimated());
        }
        let known = basis.cogs_coverage_pct();
        let revenue = told(writer, Metric::GrossRevenue, basis.goods_revenue);
        let percent = |known| writer.in_percent(known, 1);
        let coverage = Fact {
            name: writer.say("cost-known"),
            text: known.map_or_else(|| "–".to_owned(), percent),
            value: known.map(|known| domain::money::round(known, 2).normalize().to_string()),
            change: None,
            below: Some(writer.message("of-goods").text("revenue", revenue).say()),
        };
        let with_estimates = Fact {
            name: writer.say("days-estimated"),
            text: writer.number(estimated.into(), 0),
            value: Some(estimated.to_string()),
            change: None,
            below: Some(writer.message("of-days").count("days", days).say()),
        };
        vec![metric(Metric::Profit), metric(Metric::NetRevenue), metric(Metric::Margin), coverage, with_estimates]
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        freshness::{Dated, Freshness},
        jobs::JobName,
        metrics::Components,
    };
    use rust_decimal::{Decimal, dec};
    use time::macros::date;

    use super::*;
    use crate::{pages::figures::estimates, text::tests::writer};

    fn day(date: Date, revenue: Decimal, known: Decimal) -> Snapshot {
        let components = Components { gross_revenue: revenue, cogs_estimate: dec!(40), ..Components::default() };
        let basis = Basis { goods_revenue: revenue, cogs_covered_revenue: known, ..Basis::default() };
        Snapshot { date, components, basis, lacks_rates: false }
    }

    fn with<T>(compare: bool, test: impl Fn(&Source<'_>) -> T) -> T {
        let (writer, api) = (writer("en"), url::Url::parse("http://localhost").unwrap());
        let days = vec![
            day(date!(2026 - 11 - 22), dec!(900), dec!(0)),
            day(date!(2026 - 11 - 21), dec!(100), dec!(50)),
            day(date!(2026 - 11 - 20), dec!(100), dec!(100)),
        ];
        let freshness = Freshness { job: JobName::ProfitSnapshots, as_of: None, sources: vec![] };
        let complete = Window::USUAL.complete(writer.today());
        let before = compare.then(|| sums(&[day(complete.first, dec!(160), dec!(0))], complete));
        test(&Source {
            writer: &writer,
            query: Query::USUAL,
            complete,
            listed: Window::USUAL.listed(writer.today()),
            found: &Dated { found: days, freshness },
            before,
            path: "/api/v1/profit?days=31",
            api: &api,
        })
    }

    #[test]
    fn the_day_that_is_not_over_is_listed_and_not_added_up() {
        let figures = with(false, |source| source.figures());
        let shown: Vec<_> = figures.iter().map(|fact| fact.text.as_str()).collect();
        assert_eq!(shown, ["120", "200", "60.0%", "75.0%", "1"]);
        let names: Vec<String> =
            with(false, |source| days::panel(source).items.into_iter().map(|row| row.name).collect());
        assert_eq!(names, ["Sun 22 Nov (so far)", "Sat 21 Nov", "Fri 20 Nov"]);
    }

    #[test]
    fn no_day_is_listed_that_the_call_below_does_not_give() {
        let listed = DayRange { first: date!(2026 - 11 - 21), last: date!(2026 - 11 - 22) };
        let names: Vec<String> = with(false, |source| {
            let source = Source { listed, before: None, ..*source };
            days::panel(&source).items.into_iter().map(|row| row.name).collect()
        });
        assert_eq!(names, ["Sun 22 Nov (so far)", "Sat 21 Nov"]);
    }

    #[test]
    fn what_profit_rests_on_is_told_beside_it() {
        let computed = |share: Decimal, lacks_rates, as_of| {
            let snapshot = Snapshot { lacks_rates, ..day(date!(2026 - 11 - 21), dec!(100), share) };
            let all = DayRange { first: snapshot.date, last: snapshot.date };
            let freshness = Freshness { job: JobName::ProfitSnapshots, as_of, sources: vec![] };
            lacks(&writer("en"), &Dated { found: vec![snapshot], freshness }, all)
        };
        let told = |share: Decimal, lacks_rates| computed(share, lacks_rates, None);
        assert_eq!(told(dec!(100), false), Vec::<String>::new());
        assert!(told(dec!(99.97), false)[0].starts_with("The cost of 99% of the goods sold is known."));
        let rates = "On 1 day profit leaves out ad spend in a currency without a rate of exchange. Import the \
            rates, and it is counted from the next night on.";
        assert_eq!(told(dec!(100), true), [rates]);
        // A day that was not over when it was computed, the last time just after it began.
        let zone = writer("en").zone.clone();
        let begins = |day: Date| Some(zone.start_of(day) + time::Duration::minutes(7));
        let later = computed(dec!(100), false, begins(date!(2026 - 11 - 21)));
        assert!(later.len() == 1 && later[0].starts_with("What came in after"), "{later:?}");
        assert_eq!(computed(dec!(100), false, begins(date!(2026 - 11 - 22))), Vec::<String>::new());
    }

    #[test]
    fn only_what_is_estimated_is_called_so() {
        let told = |basis: Basis| estimates(&writer("en"), &basis).split_off(1);
        let fees = "Estimated here: the payment fees of 1 order for which the shop states none. What is assumed of fees is in \
            the settings of the shop.";
        assert_eq!(told(Basis { fees_estimated_orders: 1, ..Basis::default() }), [fees]);
        let costs = Basis { goods_revenue: dec!(10), ..Basis::default() };
        assert!(told(costs)[0].contains("Import unit costs") && told(costs).len() == 1);
        let returned = Basis { returned_cogs: dec!(3), ..Basis::default() };
        assert!(told(returned)[0].starts_with("Estimated here: what came back.") && told(returned).len() == 1);
        assert_eq!(told(Basis::default()), ["Nothing is estimated here."]);
        let how = with(false, |source| way::panel(source).foot.how);
        assert!(how.len() == 3 && how[2].contains("unit cost"), "{how:?}");
    }

    #[test]
    fn the_way_ends_where_profit_is() {
        use crate::views::rows::Cell;
        let rows = with(true, |source| way::panel(source).items);
        assert_eq!(rows.len(), 10);
        let bar = |index: usize| match &rows[index].cells[0] {
            Cell::Part(part) => (part.from, part.to, part.is_against),
            _ => panic!(),
        };
        assert_eq!(bar(0), (0.0, 1.0, false));
        assert_eq!(bar(3), (1.0, 0.6, true));
        assert_eq!(bar(9), (0.0, 0.6, false));
        let loss = with(false, |source| {
            let found = Dated { found: vec![day(date!(2026 - 11 - 21), dec!(0), dec!(0))], ..source.found.clone() };
            way::panel(&Source { found: &found, before: None, ..*source }).items
        });
        let Cell::Part(part) = &loss[9].cells[0] else { panic!() };
        assert_eq!((part.from, part.to, part.is_against), (1.0, 0.0, true));
        let change = |index: usize| match &rows[index].cells[3] {
            Cell::Change(Some(moved)) => moved.class,
            _ => panic!(),
        };
        // Revenue rose by a quarter, and what was sold cost twice as much.
        assert_eq!((change(0), change(3)), ("up good", "up bad"));
    }
}
