//! What ads show, which of it sells better, and what is missing to say so.

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    creatives::{self, Creative, Lift, Needs, Status},
    freshness::Freshness,
    page::{Page, PageRequest},
    periods::shifted,
    profit::DayRange,
};
use rust_decimal::{Decimal, dec, prelude::ToPrimitive};
use url::Url;

use super::{html, panel, query, shell::shell, window};
use crate::{
    error::PageError,
    parts::chart::RangeBar,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        creatives::{self as view, Model},
        layout::{Choice, Here},
        panel::Panel,
        rows::{Badge, Beside, Cell, Head, Row},
    },
};

/// Creatives of a page.
const LIMIT: i64 = 50;
/// How many days are looked back, today included.
const DAYS: [i64; 3] = [7, 30, 90];
const USUAL_DAYS: i64 = 30;
/// The axis goes from a third of the others' rate to three times it, with the same rate in its middle: on logarithms, by which
/// intervals are symmetric.
const AXIS: f64 = 3.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Query {
    days: i64,
    status: Option<Status>,
    cursor: Option<i64>,
}

impl Query {
    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let days = query::one(request, "days")?.unwrap_or(USUAL_DAYS);
        if !DAYS.contains(&days) {
            return Err(PageError::Invalid("days"));
        }
        Ok(Self { days, status: query::one(request, "status")?, cursor: query::cursor(request)? })
    }

    fn address(self) -> String {
        query::address(Here::Creatives.address(), self.pairs((self.days != USUAL_DAYS).then_some(self.days)))
    }

    fn pairs(self, days: Option<i64>) -> [Option<String>; 3] {
        [
            days.map(|days| format!("days={days}")),
            self.status.map(|status| format!("status={status}")),
            self.cursor.map(|cursor| format!("cursor={cursor}")),
        ]
    }

    /// The call that gives the same.
    fn api(self) -> String {
        let [days, status, cursor] = self.pairs(Some(self.days));
        query::address("/api/v1/creatives", [days, status, Some(format!("limit={LIMIT}")), cursor])
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (query, account) = (Query::of(&request)?, viewer.account());
    let range = DayRange { first: shifted(writer.today(), 1 - query.days), last: writer.today() };
    let asked = creatives::Query { range, platform: None, status: query.status, winner: None, campaign: None };
    let freshness = state.creatives.freshness(account).await?;
    let found = state.creatives.page(account, asked, PageRequest { limit: LIMIT, cursor: query.cursor }).await?;
    let title = writer.say("creatives");
    let source = Source { writer: &writer, query };
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Creatives, title.clone()).await?,
        title,
        place: window::place(&writer),
        statuses: source.statuses(),
        days: source.days(),
        caveat: writer.say("creatives-caveat"),
        head: source.head(),
        found: source.panel(&found, &freshness, &state.settings.api_url),
    };
    Ok(html(view::page(&model)))
}

struct Source<'a> {
    writer: &'a Writer,
    query: Query,
}

impl Source<'_> {
    /// All of them, then each status.
    fn statuses(&self) -> (String, Vec<Choice>) {
        let choice = |status: Option<Status>| Choice {
            address: Query { status, cursor: None, ..self.query }.address(),
            text: status.map_or_else(
                || self.writer.say("creatives-all"),
                |status| self.writer.say(&format!("creative-{status}")),
            ),
            is_chosen: status == self.query.status,
        };
        let each = Status::ALL.iter().copied().map(Some);
        (self.writer.say("show"), std::iter::once(None).chain(each).map(choice).collect())
    }

    fn days(&self) -> (String, Vec<Choice>) {
        let choice = |days: i64| Choice {
            address: Query { days, cursor: None, ..self.query }.address(),
            text: self.writer.message("last-days").count("days", days).say(),
            is_chosen: days == self.query.days,
        };
        (self.writer.say("period"), DAYS.into_iter().map(choice).collect())
    }

    fn head(&self) -> Vec<Head> {
        let writer = self.writer;
        let axis = [dec!(-0.67), Decimal::ZERO, dec!(2)].map(|lift| self.signed(lift));
        vec![
            Head::Text(writer.say("creative")),
            Head::Text(writer.say("creative-verdict")),
            Head::Text(writer.say("creative-lift")),
            Head::Axis(axis),
            Head::Number(writer.say("creative-evidence")),
            Head::Number(writer.say("ads-spend")),
            Head::Number(writer.say("ads-roas")),
        ]
    }

    fn panel(&self, found: &Page<Creative>, freshness: &Freshness, api: &Url) -> Panel<Row> {
        let writer = self.writer;
        let next = found.next_cursor.map(|cursor| Query { cursor: Some(cursor), ..self.query }.address());
        let how = ["how-creatives", "how-creatives-lift", "how-creatives-needs"].map(|words| writer.say(words));
        Panel {
            id: "h-creatives",
            title: writer.say("creatives-title"),
            items: found.items.iter().map(|creative| self.row(creative)).collect(),
            nothing: writer.say(if freshness.as_of.is_some() { "creatives-none" } else { "creatives-not-yet" }),
            all: None,
            next: panel::next(writer, next),
            foot: panel::foot(writer, freshness, how.to_vec(), &self.query.api(), !found.items.is_empty(), api),
        }
    }

    fn row(&self, creative: &Creative) -> Row {
        let writer = self.writer;
        let format = writer.say(&format!("creative-{}", creative.format));
        let lift = creative.verdict.lift;
        let number = |known: Option<(String, Decimal)>| match known {
            Some((text, value)) => Cell::Number { text, value: Some(value.normalize().to_string()) },
            None => Cell::Number { text: "–".to_owned(), value: None },
        };
        let rounded = |value: Decimal, decimals| (writer.number(value, decimals), domain::money::round(value, 4));
        Row {
            name: creative.headline.clone().unwrap_or_else(|| creative.key.clone()),
            address: None,
            below: Some(Beside(vec![creative.campaign.clone(), format])),
            cells: vec![
                Cell::Badge(Some(badge(writer, creative.verdict.status))),
                self.lift(creative),
                lift.map_or(Cell::Text(String::new()), |lift| Cell::Range(bar(&lift))),
                number(creative.verdict.evidence.map(|evidence| (self.evidence(evidence), rounded(evidence, 1).1))),
                number(creative.sums.spend.map(|spend| (writer.exact(spend), writer.currency.round(spend)))),
                number(creative.sums.roas().map(|roas| rounded(roas, 2))),
            ],
        }
    }

    /// Beyond a thousand times the odds how much more there is says nothing, and takes a whole row.
    fn evidence(&self, evidence: Decimal) -> String {
        const MOST: Decimal = dec!(1000);
        if evidence > MOST { format!("> {}", self.writer.number(MOST, 0)) } else { self.writer.number(evidence, 1) }
    }

    /// The lift with its interval, or what is missing to tell it.
    fn lift(&self, creative: &Creative) -> Cell {
        let needs = creative.verdict.needs.map(|needs| self.needs(needs));
        match creative.verdict.lift {
            Some(lift) => {
                let range = self
                    .writer
                    .message("range")
                    .text("low", self.signed(lift.low))
                    .text("high", self.signed(lift.high));
                let below = [Some(range.say()), needs].into_iter().flatten().collect::<Vec<_>>().join(" · ");
                Cell::Texts { text: self.signed(lift.shrunk), below: Some(below), is_bad: false }
            }
            None => Cell::Texts { text: "–".to_owned(), below: needs, is_bad: false },
        }
    }

    fn needs(&self, needs: Needs) -> String {
        let writer = self.writer;
        let Needs { purchases, days, spend } = needs;
        let parts = [
            (purchases > 0).then(|| writer.message("needs-purchases").count("purchases", purchases).say()),
            (days > 0).then(|| writer.message("needs-days").count("days", days).say()),
            (spend > Decimal::ZERO).then(|| {
                let amount = writer.exact(spend);
                let money = writer.message("money").text("number", amount).text("currency", writer.currency).say();
                writer.message("needs-spend").text("amount", money).say()
            }),
        ];
        let mut parts: Vec<_> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            parts.push(writer.say("needs-others"));
        }
        let all = parts.join(", ");
        writer.message("needs").text("what", all).say()
    }

    /// A lift in percent, with a sign.
    fn signed(&self, lift: Decimal) -> String {
        let share = self.writer.percent(lift, 0);
        if lift > Decimal::ZERO { format!("+{share}") } else { share }
    }
}

/// Where a lift and its interval lie on the axis.
fn bar(lift: &Lift) -> RangeBar {
    let part = |lift: Decimal| 0.5 + lift.to_f64().unwrap_or_default().ln_1p() / (2.0 * AXIS.ln());
    RangeBar::Between { early: part(lift.low), likely: part(lift.shrunk), late: part(lift.high) }
}

fn badge(writer: &Writer, status: Status) -> Badge {
    let (class, sign) = match status {
        Status::Winner => ("good", "✓ "),
        Status::Losing => ("bad", "! "),
        Status::Leading | Status::Testing | Status::InsufficientData | Status::Faded => ("", ""),
    };
    Badge { class, text: format!("{sign}{}", writer.say(&format!("creative-{status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn a_lift_is_written_with_its_interval_and_drawn_on_the_axis() {
        let writer = writer("en");
        let source = Source { writer: &writer, query: Query { days: 30, status: None, cursor: None } };
        assert_eq!([dec!(0.6419), dec!(-0.2), dec!(0)].map(|lift| source.signed(lift)), ["+64%", "−20%", "0%"]);
        let lift = Lift { observed: dec!(9), shrunk: dec!(2), low: dec!(0), high: dec!(8) };
        let RangeBar::Between { early, likely, late } = bar(&lift) else { panic!("it lies on the axis") };
        let is_near = |left: f64, right: f64| (left - right).abs() < 1e-12;
        assert!(is_near(early, 0.5) && is_near(likely, 1.0) && is_near(late, 1.5), "{early} {likely} {late}");
    }

    #[test]
    fn what_is_missing_is_told_in_words() {
        let writer = writer("en");
        let source = Source { writer: &writer, query: Query { days: 30, status: None, cursor: None } };
        let needs = source.needs(Needs { purchases: 6, days: 1, spend: Decimal::ZERO });
        assert!(needs.contains("6 purchases") && needs.contains("1 day") && !needs.contains("spend"), "{needs}");
        let nothing = source.needs(Needs { purchases: 0, days: 0, spend: Decimal::ZERO });
        assert!(nothing.contains("of other creatives"), "{nothing}");
    }

    #[test]
    fn all_creatives_are_called_as_each_of_them_is() {
        let first = |locale| {
            let writer = writer(locale);
            let source = Source { writer: &writer, query: Query { days: 30, status: None, cursor: None } };
            let (_, choices) = source.statuses();
            choices.into_iter().take(2).map(|choice| choice.text).collect::<Vec<_>>()
        };
        assert_eq!(first("es"), ["Todas", "Ganadora"]);
        assert_eq!(first("pt-BR"), ["Todos", "Vencedor"]);
    }
}
