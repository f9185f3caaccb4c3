//! What was spent on advertising, and what the platforms claim came of it.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    ads::{self, AdRow, Group, Level, Overview, Sums},
    freshness::Freshness,
    page::{Page, PageRequest},
    periods::complete_days,
    profit::{DayRange, net_revenue},
};
use rust_decimal::Decimal;
use url::Url;

use super::{html, panel, query, shell::shell, window};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        ads::{self as view, Model},
        layout::{Choice, Here},
        panel::Panel,
        rows::{Cell, Head, Row},
    },
};

/// Rows of a page.
const LIMIT: i64 = 50;
/// How many complete days are looked back.
const DAYS: [i64; 3] = [7, 30, 90];
const USUAL_DAYS: i64 = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Query {
    days: i64,
    level: Level,
    cursor: Option<i64>,
}

impl Query {
    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let days = query::one(request, "days")?.unwrap_or(USUAL_DAYS);
        if !DAYS.contains(&days) {
            return Err(PageError::Invalid("days"));
        }
        let level = query::one(request, "level")?.unwrap_or(Level::Campaign);
        Ok(Self { days, level, cursor: query::cursor(request)? })
    }

    fn address(self) -> String {
        let Self { days, level, cursor } = self;
        let pairs = [
            (days != USUAL_DAYS).then(|| format!("days={days}")),
            (level != Level::Campaign).then(|| format!("level={level}")),
            cursor.map(|cursor| format!("cursor={cursor}")),
        ];
        query::address(Here::Ads.address(), pairs)
    }

    /// The call that gives the same.
    fn api(self, range: DayRange) -> String {
        let Self { days: _, level, cursor } = self;
        let DayRange { first, last } = range;
        let pairs = [
            Some(format!("from={first}")),
            Some(format!("to={last}")),
            Some(format!("level={level}")),
            Some(format!("limit={LIMIT}")),
            cursor.map(|cursor| format!("cursor={cursor}")),
        ];
        query::address("/api/v1/ads", pairs)
    }

    fn asked(self, range: DayRange) -> ads::Query {
        ads::Query { range, platform: None, campaign: None, status: None, level: self.level, group: Group::Total }
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (query, account) = (Query::of(&request)?, viewer.account());
    // What is spent on the unfinished day is known before what it brings.
    let range = complete_days(query.days, writer.today());
    let overview = state.ads.overview(account, query.asked(range)).await?;
    let own = state.profit.range(account, range).await?;
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    let found = state.ads.page(account, query.asked(range), page).await?;
    let source = Source { writer: &writer, query, range, freshness: &own.freshness, api: &state.settings.api_url };
    let title = writer.say("ads");
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Ads, title.clone()).await?,
        title,
        place: format!("{} · {}", writer.days(range.first, range.last), window::place(&writer)),
        levels: source.levels(),
        days: source.days(),
        lacks: source.lacks(&overview),
        totals_head: vec![Head::Text(writer.say("column-figure")), Head::Number(writer.say("column-value"))],
        totals: source.totals(&overview, net_revenue(&own.found)),
        head: source.head(),
        found: source.rows(&found, !overview.sources.is_empty()),
    };
    Ok(html(view::page(&model)))
}

struct Source<'a> {
    writer: &'a Writer,
    query: Query,
    range: DayRange,
    freshness: &'a Freshness,
    api: &'a Url,
}

impl Source<'_> {
    fn levels(&self) -> (String, Vec<Choice>) {
        let choice = |level: &Level| Choice {
            address: Query { level: *level, cursor: None, ..self.query }.address(),
            text: self.writer.say(&format!("ads-{level}")),
            is_chosen: *level == self.query.level,
        };
        (self.writer.say("show"), Level::ALL.iter().map(choice).collect())
    }

    fn days(&self) -> (String, Vec<Choice>) {
        let choice = |days: i64| Choice {
            address: Query { days, cursor: None, ..self.query }.address(),
            text: self.writer.message("last-days").count("days", days).say(),
            is_chosen: days == self.query.days,
        };
        (self.writer.say("period"), DAYS.into_iter().map(choice).collect())
    }

    fn lacks(&self, overview: &Overview) -> Vec<String> {
        let other = |zone: &Option<String>| zone.as_deref().is_some_and(|zone| zone != self.writer.zone.name());
        let clocks = overview.sources.iter().any(|(_, zone)| other(zone));
        let lacks = [(overview.lacks_rates, "ads-lack-rates"), (clocks, "ads-other-clock")];
        lacks.into_iter().filter(|(is_so, _)| *is_so).map(|(_, words)| self.writer.say(words)).collect()
    }

    /// Everything together, beside what the shop itself took.
    fn totals(&self, overview: &Overview, own: Option<Decimal>) -> Panel<Row> {
        let (writer, totals, beside_spend) = (self.writer, overview.totals, overview.beside_spend(own));
        let row =
            |words: &str, cell: Cell| Row { name: writer.say(words), address: None, below: None, cells: vec![cell] };
        let items = vec![
            row("ads-spend", self.money(totals.spend)),
            row("ads-revenue", self.money(totals.revenue)),
            row("ads-roas", self.ratio(totals.roas())),
            row("ads-own-revenue", self.money(own)),
            row("ads-mer", self.ratio(beside_spend.and_then(|own| totals.mer(own)))),
            row("ads-tacos", self.ratio(beside_spend.and_then(|own| totals.tacos(own)))),
        ];
        Panel {
            id: "h-ads-totals",
            title: writer.say("ads-totals-title"),
            items: if overview.sources.is_empty() { vec![] } else { items },
            nothing: writer.say("ads-none"),
            all: None,
            next: None,
            foot: panel::foot(
                writer,
                self.freshness,
                vec![writer.say("how-ads"), writer.say("how-ads-own")],
                &self.query.api(self.range),
                false,
                self.api,
            ),
        }
    }

    fn head(&self) -> Vec<Head> {
        let number = |words: &str| Head::Number(self.writer.say(words));
        let name = Head::Text(self.writer.say(&format!("ads-{}", self.query.level)));
        let figures = ["ads-spend", "ads-clicks", "ads-purchases", "ads-revenue", "ads-cpa", "ads-roas"];
        std::iter::once(name).chain(figures.map(number)).collect()
    }

    /// The rows; without any ad account there is more to say than that nothing ran.
    fn rows(&self, found: &Page<AdRow>, has_accounts: bool) -> Panel<Row> {
        let writer = self.writer;
        let next = found.next_cursor.map(|cursor| Query { cursor: Some(cursor), ..self.query }.address());
        Panel {
            id: "h-ads",
            title: writer.say(&format!("ads-{}-title", self.query.level)),
            items: found.items.iter().map(|row| self.row(row)).collect(),
            nothing: writer.say(if has_accounts { "ads-rows-none" } else { "ads-none" }),
            all: None,
            next: panel::next(writer, next),
            foot: panel::foot(
                writer,
                self.freshness,
                vec![writer.say("how-ads")],
                &self.query.api(self.range),
                !found.items.is_empty(),
                self.api,
            ),
        }
    }

    fn row(&self, row: &AdRow) -> Row {
        let writer = self.writer;
        let Sums { spend, clicks, purchases, revenue, .. } = row.sums;
        let below = writer
            .message("ads-about")
            .text("platform", writer.say(&format!("ads-on-{}", row.platform)))
            .text("status", writer.say(&format!("ads-{}", row.status)));
        Row {
            name: row.name.clone(),
            address: None,
            below: Some(below.say().into()),
            cells: vec![
                self.money(spend),
                self.count(clicks),
                self.count(purchases),
                self.money(revenue),
                self.money(row.sums.cpa()),
                self.ratio(row.sums.roas()),
            ],
        }
    }

    fn money(&self, amount: Option<Decimal>) -> Cell {
        self.number(amount.map(|amount| (self.writer.exact(amount), self.writer.currency.round(amount))))
    }

    fn count(&self, count: Option<i64>) -> Cell {
        self.number(count.map(|count| (self.writer.number(count.into(), 0), count.into())))
    }

    fn ratio(&self, ratio: Option<Decimal>) -> Cell {
        self.number(ratio.map(|ratio| (self.writer.number(ratio, 2), domain::money::round(ratio, 4))))
    }

    /// A figure as it is written and as the API has it; what is not told is a dash.
    fn number(&self, known: Option<(String, Decimal)>) -> Cell {
        match known {
            Some((text, value)) => Cell::Number { text, value: Some(value.normalize().to_string()) },
            None => Cell::Number { text: "–".to_owned(), value: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::{
        AdRowId,
        ads::{AdPlatform, Paired, Status},
        jobs::JobName,
    };
    use rust_decimal::dec;
    use time::macros::{date, datetime};

    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn where_only_the_choice_is_empty_nobody_is_told_to_import() {
        let (writer, api) = (writer("en"), Url::parse("http://localhost").unwrap());
        let freshness = Freshness { job: JobName::ProfitSnapshots, as_of: None, sources: vec![] };
        let query = Query { days: 7, level: Level::Ad, cursor: None };
        let range = complete_days(query.days, writer.today());
        let source = Source { writer: &writer, query, range, freshness: &freshness, api: &api };
        let nothing = |has_accounts| source.rows(&Page { items: vec![], next_cursor: None }, has_accounts).nothing;
        assert!(nothing(false).contains("Import a file"), "{}", nothing(false));
        assert!(nothing(true).starts_with("Nothing at this level ran"), "{}", nothing(true));
    }

    #[test]
    fn a_row_has_its_figures_as_written_and_as_the_api_has_them_and_dashes_for_what_is_not_told() {
        let (writer, api) = (writer("es-AR"), Url::parse("http://localhost").unwrap());
        let freshness = Freshness { job: JobName::ProfitSnapshots, as_of: None, sources: vec![] };
        let query = Query { days: 30, level: Level::Ad, cursor: None };
        let range = DayRange { first: date!(2026 - 10 - 21), last: date!(2026 - 11 - 19) };
        let source = Source { writer: &writer, query, range, freshness: &freshness, api: &api };
        let paired = Paired { spend_of_returned: dec!(1234.5), ..Paired::default() };
        let sums =
            Sums { spend: Some(dec!(1234.5)), revenue: Some(dec!(2469)), clicks: Some(7), paired, ..Sums::default() };
        let row = AdRow {
            id: AdRowId(1),
            external_id: None,
            platform: AdPlatform::Meta,
            level: Level::Ad,
            parent_id: None,
            name: "Blue".into(),
            status: Status::Active,
            date: None,
            sums,
            native: None,
            last_synced_at: datetime!(2026-11-22 7:10 UTC),
        };
        let cells: Vec<_> = source
            .row(&row)
            .cells
            .into_iter()
            .map(|cell| match cell {
                Cell::Number { text, value } => (text, value),
                _ => panic!("no number"),
            })
            .collect();
        let told = |text: &str, value: &str| (text.to_owned(), Some(value.to_owned()));
        assert_eq!(
            cells,
            [
                told("1.234,50", "1234.5"),
                told("7", "7"),
                ("–".to_owned(), None),
                told("2.469,00", "2469"),
                ("–".to_owned(), None),
                told("2,00", "2")
            ]
        );
        let call = "/api/v1/ads?from=2026-10-21&to=2026-11-19&level=ad&limit=50";
        assert_eq!((complete_days(30, date!(2026 - 11 - 20)), query.api(range)), (range, call.to_owned()));
    }
}
