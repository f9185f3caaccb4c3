//! The overview: what the figures are, what happened, what will run out, what may be lost, and where all of it comes from.

mod chart;
mod figures;
mod news;
mod panels;
mod query;

use actix_web::{HttpRequest, HttpResponse, web::Data};
use domain::{
    insights,
    metrics::Metric,
    page::PageRequest,
    people::Act,
    periods::shifted,
    profit::{DayRange, Snapshot},
    risks,
};

use tokio::try_join;

use self::query::Query;
use super::{
    figures::{lacks, lacks_comparison, sums, sums_before},
    html,
    shell::shell,
    window::{comparisons, periods, window},
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    views::{
        layout::Here,
        overview::{self as view, Model},
    },
};

/// Insights come newest first: all that are told are read, and ranked.
const STORIES: i64 = insights::MOST_TOLD as i64;
/// Rows of each list at most. No page lists all risks: each leads to what it is about.
const STOCKOUTS: i64 = 40;
const RISKS: i64 = 10;
const CONNECTIONS: i64 = 20;

const fn first(limit: i64) -> PageRequest {
    PageRequest { limit, cursor: None }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let query = Query::of(&request, writer.today())?;
    let account = viewer.account();
    let (complete, with_today) = (query.window.complete(writer.today()), query.window.with_today(writer.today()));
    let listed = query.window.listed(writer.today());
    let before = query.compare.of(complete);
    // A day longer than what is added up: the chart has a day that today is compared with.
    let of_before = async {
        match before.map(|range| DayRange { last: shifted(range.last, 1), ..range }) {
            Some(range) => state.profit.range(account, range).await.map(Some),
            None => Ok(None),
        }
    };
    let open = insights::Filter { status: Some(insights::Status::Open), ..insights::Filter::default() };
    let (profit, compared, expected, stories, stock, risks, (connections, _), notes, news) = try_join!(
        state.profit.range(account, with_today),
        of_before,
        state.metric_days.range(account, query.metric, listed),
        state.insights.page(account, open, first(STORIES)),
        state.inventory.list(account, None, first(STOCKOUTS)),
        state.risks.list(account, risks::Filter::default(), first(RISKS)),
        state.integrations.page(account, first(CONNECTIONS), writer.now),
        state.notes.of_days(account, listed),
        news::since_before(&viewer, &state, &writer),
    )?;
    let compared: Vec<Snapshot> = compared.map(|dated| dated.found).unwrap_or_default();
    let now_sums = sums(&profit.found, complete);
    let before_sums = before.and_then(|before| sums_before(&compared, before));
    let uncompared = lacks_comparison(&writer, &profit.found, before, before_sums.as_ref());
    let title = writer.say("overview");
    let model = Model {
        shell: shell(&viewer, &state, &writer, Here::Overview, title.clone()).await?,
        title,
        window: window(&writer, complete),
        period: periods(&writer, query.window, |window| Query { window, ..query }.address()),
        compare: comparisons(&writer, query.compare, complete, |compare| Query { compare, ..query }.address()),
        lacks: lacks(&writer, &profit, complete).into_iter().chain(uncompared).collect(),
        news,
        figures_label: writer.say("figures"),
        figures: figures::all(&writer, query, &now_sums, before_sums.as_ref()),
        chart: chart::panel(&chart::Source {
            writer: &writer,
            query,
            range: listed,
            complete,
            profit: &profit,
            compared: &compared,
            expected: &expected,
            notes: &notes,
            sums: (&now_sums, before_sums.as_ref()),
            may_change: viewer.may(Act::Change),
            api: &state.settings.api_url,
        }),
        stories: panels::stories(&writer, &stories, &state.settings.api_url),
        stockouts: panels::stockouts(&writer, &stock, &state.settings.api_url),
        stock_head: panels::stock_head(&writer),
        risks: panels::risks(&writer, &risks, &stock, &state.settings.api_url),
        sources: panels::sources(&writer, &connections.items, &profit.freshness, &state.settings.api_url),
        source_head: panels::source_head(&writer),
    };
    Ok(html(view::page(&model)))
}

/// The figures that the overview shows, in their order.
const METRICS: [Metric; 6] =
    [Metric::Profit, Metric::NetRevenue, Metric::Orders, Metric::Aov, Metric::Margin, Metric::AdSpend];
