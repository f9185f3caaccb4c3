//! What a person should know or do, and what was decided on it.

mod now;

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form},
};
use domain::{
    InsightId,
    audit::Action,
    freshness::Dated,
    insights::{Filter, Insight, Kind, Severity, Status},
    page::{Page, PageRequest},
    people::Act,
};
use rust_decimal::Decimal;
use serde::Deserialize;
use url::Url;

pub use now::generate;

use super::{html, look_again, panel, query, see, shell::shell, window};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        acts::{Acts, Decided},
        insights::{self as view, Item, Model},
        layout::{Choice, Here},
        panel::{Panel, Way},
        rows::Badge,
    },
};

/// Insights of a page.
const LIMIT: i64 = 25;

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Query {
    status: Status,
    cursor: Option<i64>,
    /// The insight that was just decided on, and how: it can be undone.
    decided: Option<(i64, Status)>,
    /// The run that makes them, or why there is none.
    run: Option<i64>,
    refused: Option<now::Refused>,
}

impl Query {
    const fn of_status(status: Status) -> Self {
        Self { status, cursor: None, decided: None, run: None, refused: None }
    }

    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let decided: Option<i64> = query::one(request, "decided")?;
        Ok(Self {
            status: query::one(request, "status")?.unwrap_or(Status::Open),
            cursor: query::cursor(request)?,
            decided: decided.zip(query::one(request, "as")?),
            run: query::one(request, "run")?,
            refused: query::one(request, "refused")?,
        })
    }

    fn address(self) -> String {
        let Self { status, cursor, decided, run, refused } = self;
        let pairs = [
            (status != Status::Open).then(|| format!("status={status}")),
            cursor.map(|cursor| format!("cursor={cursor}")),
            decided.map(|(id, to)| format!("decided={id}&as={to}")),
            run.map(|run| format!("run={run}")),
            refused.map(|refused| format!("refused={}", refused.as_str())),
        ];
        query::address(Here::Insights.address(), pairs)
    }

    /// The call that gives the same.
    fn api(self) -> String {
        let cursor = self.cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        format!("/api/v1/insights?status={}{cursor}", self.status)
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let query = Query::of(&request)?;
    let filter = Filter { status: Some(query.status), ..Filter::default() };
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    // First: what a run that has ended made is then in the list.
    let run = now::run(&state, viewer.account(), query).await?;
    let found = state.insights.page(viewer.account(), filter, page).await?;
    let is_under_way = run.as_ref().is_some_and(|run| run.outcome.is_none());
    let title = writer.say("insights");
    let source = Source { writer: &writer, query, may_decide: viewer.may(Act::Change), api: &state.settings.api_url };
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Insights, title.clone()).await?,
        title,
        place: window::place(&writer),
        statuses: source.statuses(),
        decided: query.decided.filter(|_| source.may_decide).map(|decided| source.decided(decided)),
        asked: now::asked(&writer, query.refused, run.as_ref()),
        told: source.panel(&found),
        now: (source.may_decide && query.status == Status::Open && !is_under_way)
            .then(|| now::form(&writer, state.text_generator.price_for(viewer.session().account.mode))),
    };
    let mut response = html(view::page(&model));
    if is_under_way {
        look_again(&mut response);
    }
    Ok(response)
}

/// What the form of an insight sends.
#[derive(Deserialize)]
pub struct Decision {
    status: Status,
    /// What was looked at.
    from: Status,
}

/// Decides, and goes back to where that was done.
pub async fn decide(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Decision>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let id = query::id(&request)?;
    let Decision { status, from } = fields.into_inner();
    let note = Some(viewer.note(Action::InsightDecided));
    state.insights.decide(viewer.account(), InsightId(id), status, note, (state.clock)()).await?;
    let decided = (status != Status::Open).then_some((id, status));
    Ok(see(&Query { decided, ..Query::of_status(from) }.address()))
}

/// The week first, then what is critical, then by weight, the most first, then by severity.
pub fn ranked(insights: &[Insight]) -> Vec<&Insight> {
    let mut ranked: Vec<&Insight> = insights.iter().collect();
    let is_week = |insight: &Insight| insight.told.as_ref().is_some_and(|told| told.kind == Kind::WeeklyDigest);
    let is_critical = |insight: &Insight| insight.severity == Severity::Critical;
    let weight = |insight: &Insight| insight.weight.or(insight.at_stake);
    ranked.sort_by(|a, b| {
        let by_weight = || weight(b).cmp(&weight(a));
        let by_urgency = || is_critical(b).cmp(&is_critical(a));
        let by_severity = || b.severity.cmp(&a.severity);
        is_week(b).cmp(&is_week(a)).then_with(by_urgency).then_with(by_weight).then_with(by_severity)
    });
    ranked
}

/// What is at stake, as the API gives it; none where it is not known or comes to nothing.
pub fn at_stake(writer: &Writer, insight: &Insight) -> Option<Decimal> {
    insight.at_stake.map(|amount| writer.currency.round(amount)).filter(|amount| !amount.is_zero())
}

/// Where the event that an insight tells is explained.
pub fn why(writer: &Writer, insight: &Insight) -> Option<Way> {
    let member = insight.story.as_ref()?.members.first()?;
    Some(Way { text: writer.say("see-why"), address: format!("/anomalies/{}", member.anomaly) })
}

/// How a severity looks: its words, with a sign where it is bad.
pub fn severity(writer: &Writer, severity: Severity) -> Badge {
    let words = writer.say(&format!("severity-{severity}"));
    match severity {
        Severity::Critical | Severity::High => Badge { class: "bad", text: format!("! {words}") },
        Severity::Medium => Badge { class: "warn", text: words },
        Severity::Low => Badge { class: "", text: words },
    }
}

struct Source<'a> {
    writer: &'a Writer,
    query: Query,
    may_decide: bool,
    api: &'a Url,
}

impl Source<'_> {
    fn statuses(&self) -> (String, Vec<Choice>) {
        let choice = |status: &Status| Choice {
            address: Query::of_status(*status).address(),
            text: self.writer.say(&format!("insights-{status}")),
            is_chosen: *status == self.query.status,
        };
        (self.writer.say("show"), Status::ALL.iter().map(choice).collect())
    }

    fn decided(&self, (id, status): (i64, Status)) -> Decided {
        Decided {
            text: self.writer.say(&format!("insight-now-{status}")),
            acts: self.acts(id, &[(Status::Open, "undo")]),
        }
    }

    fn acts(&self, id: i64, buttons: &[(Status, &str)]) -> Acts {
        Acts {
            address: format!("/insights/{id}"),
            hidden: vec![("from", self.query.status.to_string())],
            name: "status",
            buttons: buttons.iter().map(|(to, words)| (to.as_str(), self.writer.say(words))).collect(),
        }
    }

    fn panel(&self, found: &Dated<Page<Insight>>) -> Panel<Item> {
        let Self { writer, query, .. } = *self;
        let next = found.found.next_cursor;
        let next = next.map(|cursor| Query { cursor: Some(cursor), ..Query::of_status(query.status) });
        let how = vec![writer.say("how-stories"), writer.say("how-insights")];
        Panel {
            id: "h-insights",
            title: writer.say(&format!("insights-{}-title", query.status)),
            items: ranked(&found.found.items).into_iter().map(|insight| self.item(insight)).collect(),
            nothing: match (query.status, found.freshness.as_of) {
                (Status::Open, None) => writer.say("not-computed"),
                (status, _) => writer.say(&format!("insights-{status}-none")),
            },
            all: None,
            next: panel::next(writer, next.map(Query::address)),
            foot: panel::foot(writer, &found.freshness, how, &query.api(), false, self.api),
        }
    }

    fn item(&self, insight: &Insight) -> Item {
        let writer = self.writer;
        let (wording, _) = insight.wording(writer.texts(), writer.currency);
        let amount = at_stake(writer, insight);
        let buttons: &[(Status, &str)] = match insight.status {
            Status::Open => &[(Status::Resolved, "done"), (Status::Dismissed, "dismiss")],
            Status::Resolved | Status::Dismissed => &[(Status::Open, "reopen")],
        };
        let when = match insight.resolved_at {
            Some(at) => writer.message(format!("insight-ended-{}", insight.status)).text("at", writer.moment(at)).say(),
            // Its figures are of then; the situation may be older.
            None => writer.message("insight-as-of").text("at", writer.moment(insight.computed_at)).say(),
        };
        Item {
            anchor: format!("insight-{}", insight.id),
            title: wording.title,
            text: wording.body,
            action: Some(wording.suggested_action).filter(|text| !text.is_empty()),
            severity: severity(writer, insight.severity),
            about: [writer.say(&format!("category-{}", insight.category)), wording.impact_estimate, when]
                .into_iter()
                .filter(|text| !text.is_empty())
                .collect::<Vec<_>>()
                .join(" · "),
            amount: amount.map(|amount| (writer.whole(amount), as_answered(amount), writer.say("at-stake"))),
            why: why(writer, insight),
            acts: self.may_decide.then(|| self.acts(insight.id.0, buttons)),
        }
    }
}

/// An estimate as the API has it.
pub fn as_answered(amount: Decimal) -> String {
    domain::money::round(amount, 4).normalize().to_string()
}

#[cfg(test)]
mod tests {
    use domain::{
        freshness::Freshness,
        insights::{Category, Source as Writing, Wording},
        jobs::JobName,
        language::Language,
    };
    use rust_decimal::dec;
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    fn insight(id: i64, at_stake: Option<Decimal>, status: Status) -> Insight {
        let text = |text: &str| text.to_owned();
        Insight {
            id: InsightId(id),
            severity: Severity::High,
            category: Category::Ads,
            written: Wording {
                title: text("Ads cost more"),
                body: text("They rose."),
                suggested_action: text(""),
                impact_estimate: text("About 120 a day"),
            },
            status,
            source: Writing::Rules,
            language: Language::English,
            told: None,
            is_told: true,
            at_stake,
            weight: at_stake,
            story: None,
            computed_at: datetime!(2026-11-22 5:00 UTC),
            resolved_at: None,
        }
    }

    fn panel(items: Vec<Insight>, next_cursor: Option<i64>, may_decide: bool) -> Panel<Item> {
        let (writer, api) = (writer("en"), Url::parse("https://api.example.com").unwrap());
        let freshness = Freshness { job: JobName::InsightGeneration, as_of: None, sources: vec![] };
        let query = Query::of_status(Status::Open);
        let source = Source { writer: &writer, query, may_decide, api: &api };
        source.panel(&Dated { found: Page { items, next_cursor }, freshness })
    }

    #[test]
    fn what_is_critical_comes_before_what_has_more_at_stake() {
        let of = |id, at_stake, severity| Insight { severity, ..insight(id, at_stake, Status::Open) };
        let found = [
            of(1, Some(dec!(900)), Severity::Medium),
            of(2, None, Severity::Critical),
            of(3, Some(dec!(5)), Severity::Critical),
            of(4, None, Severity::Low),
            of(5, None, Severity::High),
        ];
        assert_eq!(ranked(&found).iter().map(|one| one.id.0).collect::<Vec<_>>(), [3, 2, 1, 5, 4]);
    }

    #[test]
    fn what_has_no_amount_stands_where_its_severity_puts_it() {
        let of = |id, at_stake, weight| Insight { weight, ..insight(id, at_stake, Status::Open) };
        let found = [of(1, Some(dec!(20)), Some(dec!(20))), of(2, None, Some(dec!(50))), of(3, Some(dec!(90)), None)];
        assert_eq!(ranked(&found).iter().map(|one| one.id.0).collect::<Vec<_>>(), [3, 2, 1]);
    }

    #[test]
    fn what_has_most_at_stake_is_first() {
        let open = |id, at_stake| insight(id, at_stake, Status::Open);
        let panel = panel(vec![open(3, None), open(2, Some(dec!(20.5))), open(1, Some(dec!(1450)))], Some(1), true);
        let order: Vec<_> = panel.items.iter().map(|item| item.anchor.as_str()).collect();
        assert_eq!(order, ["insight-1", "insight-2", "insight-3"]);
        let amounts: Vec<_> =
            panel.items.iter().map(|item| item.amount.as_ref().map(|(_, value, _)| value.as_str())).collect();
        assert_eq!(amounts, [Some("1450"), Some("20.5"), None]);
        assert_eq!(panel.next.map(|next| next.address).as_deref(), Some("/insights?cursor=1"));
    }

    #[test]
    fn before_the_first_night_it_does_not_say_that_nothing_needs_anybody() {
        assert!(panel(vec![], None, true).nothing.starts_with("Nothing was computed yet"));
    }

    #[test]
    fn an_open_insight_says_when_its_figures_were_made() {
        let about = panel(vec![insight(7, None, Status::Open)], None, false).items.remove(0).about;
        assert_eq!(about, "Ads · About 120 a day · as of 02:00");
    }

    #[test]
    fn only_who_may_change_is_offered_to_decide() {
        let offered = |status, may| {
            let acts = panel(vec![insight(7, None, status)], None, may).items.remove(0).acts;
            acts.map(|acts| acts.buttons.iter().map(|(to, _)| *to).collect::<Vec<_>>())
        };
        assert_eq!(offered(Status::Open, true), Some(vec!["resolved", "dismissed"]));
        assert_eq!(offered(Status::Dismissed, true), Some(vec!["open"]));
        assert_eq!(offered(Status::Open, false), None);
    }

    #[test]
    fn the_address_keeps_what_can_be_undone() {
        let query = Query { decided: Some((318, Status::Dismissed)), ..Query::of_status(Status::Open) };
        assert_eq!(query.address(), "/insights?decided=318&as=dismissed");
        let request = actix_web::test::TestRequest::with_uri(&query.address()).to_http_request();
        assert_eq!(Query::of(&request).ok(), Some(query));
    }
}
