//! `GET /api/v1/profit`: what each day brought in and cost.

mod explain;

use ::web::row;
use actix_web::web;
use domain::{
    freshness::Dated,
    language::Language,
    metrics::ratios,
    money::Currency,
    page::PageRequest,
    profit::{Assumptions, Components, Snapshot, Totals, page_of_days},
    texts::Texts,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use validator::Validate;

use self::explain::Explanation;
use crate::{
    as_of::{AsOf, Results},
    auth::Caller,
    csv::{self, Csv, CsvMetadata, Format, Listing},
    error::{ApiError, Code},
    freshness::FreshnessBody,
    input::Input,
    language::Accepted,
    names,
    query::{Days, Limit},
    respond::{API_VERSION, JsonDecimal, Pagination, Reply, Warnings, date},
    state::State,
    warnings::Warning,
    window::{self, Until},
};

/// The profit of one day. Net revenue is gross revenue less refunds; operational profit is net revenue less the
/// estimates of cost of goods, fees and shipping; final profit is operational profit less ad spend and extra expenses.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ProfitSnapshot)]
struct SnapshotBody {
    /// In the account's time zone.
    #[schema(format = Date, example = "2026-05-02")]
    snapshot_date: String,
    #[schema(value_type = f64, example = 1530.00)]
    gross_revenue: JsonDecimal,
    /// On the date of the refund.
    #[schema(value_type = f64, example = 45.90)]
    refunds: JsonDecimal,
    #[schema(value_type = f64, example = 210.00)]
    ad_spend: JsonDecimal,
    #[schema(value_type = f64, example = 612.00)]
    cogs_estimate: JsonDecimal,
    #[schema(value_type = f64, example = 44.37)]
    fees_estimate: JsonDecimal,
    #[schema(value_type = f64, example = 96.00)]
    shipping_estimate: JsonDecimal,
    #[schema(value_type = f64, example = 30.00)]
    extra_expenses: JsonDecimal,
    #[schema(value_type = f64, example = 1484.10)]
    net_revenue: JsonDecimal,
    #[schema(value_type = f64, example = 731.73)]
    operational_profit: JsonDecimal,
    #[schema(value_type = f64, example = 491.73)]
    final_profit: JsonDecimal,
    /// Final profit in percent of net revenue; 0 when that is not above zero.
    #[schema(value_type = f64, example = 33.13)]
    margin_pct: JsonDecimal,
    /// Whether there is a margin: false when net revenue is not above zero.
    #[schema(example = true)]
    margin_defined: bool,
    #[schema(example = 18)]
    purchase_count: i64,
    /// The part of the revenue of goods whose cost is known, in percent; null on a day without such revenue.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 100, example = 87.50)]
    cogs_coverage_pct: Option<JsonDecimal>,
    /// Whether cost of goods, fees or shipping are an estimate for a part of the day, because the shop does not state them or
    /// goods came back, which are taken to be fit for sale.
    #[schema(example = true)]
    estimated: bool,
    /// Units that came back with refunds and cancellations: of orders that these name, or of what the same customer ordered on
    /// the same day.
    #[schema(example = 1)]
    returned_units: i64,
    /// What these units had cost, already taken off `cogs_estimate`, which is below 0 where more came back than was sold.
    #[schema(value_type = f64, example = 18.00)]
    returned_cogs_estimate: JsonDecimal,
    /// Fees that platforms give back with them, already taken off `fees_estimate`.
    #[schema(value_type = f64, example = 0.00)]
    returned_fees_estimate: JsonDecimal,
    /// Whether `ad_spend` holds all that was spent: false where no rate of exchange is known for the currency of a part, which
    /// is left out until rates are imported and, with the next night, the day is computed again.
    #[schema(example = true)]
    ad_spend_complete: bool,
    /// How each figure came about; only with `explain=1`, and not in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    explain: Option<Vec<Explanation>>,
}

impl SnapshotBody {
    fn new(snapshot: Snapshot, currency: Currency, explained: Option<&(Assumptions, Texts)>) -> Self {
        let explain = explained.map(|(assumed, texts)| explain::day(&snapshot, assumed, currency, texts));
        let Snapshot { date: day, components, basis, lacks_rates } = snapshot;
        let Components {
            gross_revenue,
            refunds,
            ad_spend,
            cogs_estimate,
            fees_estimate,
            shipping_estimate,
            extra_expenses,
            purchase_count,
        } = components;
        let money = |amount| JsonDecimal::money(amount, currency);
        let margin_pct = components.margin_pct();
        Self {
            snapshot_date: date(day),
            gross_revenue: money(gross_revenue),
            refunds: money(refunds),
            ad_spend: money(ad_spend),
            cogs_estimate: money(cogs_estimate),
            fees_estimate: money(fees_estimate),
            shipping_estimate: money(shipping_estimate),
            extra_expenses: money(extra_expenses),
            net_revenue: money(components.net_revenue()),
            operational_profit: money(components.operational_profit()),
            final_profit: money(components.final_profit()),
            margin_pct: JsonDecimal::percent(margin_pct.unwrap_or_default()),
            margin_defined: margin_pct.is_some(),
            purchase_count,
            cogs_coverage_pct: basis.cogs_coverage_pct().map(JsonDecimal::percent),
            estimated: basis.is_estimated(),
            returned_units: basis.returned_units,
            returned_cogs_estimate: money(basis.returned_cogs),
            returned_fees_estimate: money(basis.returned_fees),
            ad_spend_complete: !lacks_rates,
            explain,
        }
    }
}

row!(SnapshotBody {
    snapshot_date,
    gross_revenue,
    refunds,
    ad_spend,
    cogs_estimate,
    fees_estimate,
    shipping_estimate,
    extra_expenses,
    net_revenue,
    operational_profit,
    final_profit,
    margin_pct,
    margin_defined,
    purchase_count,
    cogs_coverage_pct,
    estimated,
    returned_units,
    returned_cogs_estimate,
    returned_fees_estimate,
    ad_spend_complete;
    explain
});

type File = Csv<SnapshotBody>;

/// Sums over the whole window, whatever the page.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ProfitTotals)]
struct TotalsBody {
    /// Days of the window that have a snapshot.
    #[schema(example = 30)]
    days_returned: i64,
    #[schema(value_type = f64, example = 45900.00)]
    gross_revenue: JsonDecimal,
    #[schema(value_type = f64, example = 1377.00)]
    refunds: JsonDecimal,
    /// Gross revenue less refunds.
    #[schema(value_type = f64, example = 44523.00)]
    net_revenue: JsonDecimal,
    #[schema(value_type = f64, example = 6300.00)]
    ad_spend: JsonDecimal,
    #[schema(value_type = f64, example = 14751.90)]
    final_profit: JsonDecimal,
    #[schema(example = 540)]
    purchase_count: i64,
    /// Average order value: gross revenue per order; null without orders.
    #[schema(value_type = Option<f64>, example = 85.00)]
    aov: Option<JsonDecimal>,
    /// Sum of final profit in percent of the sum of net revenue; 0 when that is not above zero.
    #[schema(value_type = f64, example = 33.13)]
    avg_margin_pct: JsonDecimal,
    /// Whether there is such a margin: false when the sum of net revenue is not above zero.
    #[schema(example = true)]
    margin_defined: bool,
}

impl TotalsBody {
    fn new(snapshots: &[Snapshot], currency: Currency) -> Self {
        let mut totals = Totals::default();
        for snapshot in snapshots {
            totals.add(snapshot.components);
        }
        let Totals { days_returned, components: sums } = totals;
        let avg_margin_pct = sums.margin_pct();
        let money = |amount| JsonDecimal::money(amount, currency);
        Self {
            days_returned,
            gross_revenue: money(sums.gross_revenue),
            refunds: money(sums.refunds),
            net_revenue: money(sums.net_revenue()),
            ad_spend: money(sums.ad_spend),
            final_profit: money(sums.final_profit()),
            purchase_count: sums.purchase_count,
            aov: ratios::average_order_value(sums.gross_revenue, sums.purchase_count).map(money),
            avg_margin_pct: JsonDecimal::percent(avg_margin_pct.unwrap_or_default()),
            margin_defined: avg_margin_pct.is_some(),
        }
    }
}

/// Daily profit of a window.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Profit)]
pub struct Body {
    data: Vec<SnapshotBody>,
    totals: TotalsBody,
    /// Days looked back, as applied.
    #[schema(example = 30)]
    window_days: i64,
    freshness: FreshnessBody,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Which days to list, and how.
#[derive(Deserialize, Validate, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListParams {
    #[validate(nested)]
    #[param(inline, required = false)]
    days: Days<30, 365>,
    #[validate(nested)]
    #[param(inline, required = false)]
    limit: Limit<365, 365>,
    /// `next_cursor` of the page before: the digits of a date.
    #[param(minimum = 1, example = 20260502)]
    cursor: Option<i64>,
    /// `1` adds the formula and the inputs of each figure to every day, as JSON.
    #[param(value_type = names::Flag, inline, required = false)]
    explain: Option<bool>,
    /// `1` ends the window with the last complete day: one that was over when it was computed. That is yesterday, but from
    /// midnight until the night's jobs have run (and while they fail) an earlier one, with the warning `not_yet_computed`.
    #[param(value_type = names::Flag, inline, required = false)]
    complete: Option<bool>,
    #[param(inline, required = false)]
    until: Option<Until>,
    #[param(inline, required = false)]
    as_of: Option<AsOf>,
    #[param(value_type = names::LanguageName, inline, required = false)]
    lang: Option<Language>,
}

impl Input for ListParams {
    fn not_in_files(&self) -> Option<&'static str> {
        (self.explain == Some(true)).then_some("explain")
    }
}

/// Profit per day.
///
/// Lists the profit of each day of the window, newest first. As CSV the days come with the same fields, and `freshness` in the
/// header `X-Freshness`.
#[utoipa::path(
    get, path = "/api/v1/profit", tag = "analytics", operation_id = "list_profit",
    params(ListParams),
    responses((status = 200, description = "The days of the window.", content(
        (Body = "application/json"),
        (inline(File) = "text/csv")
    ))),
    security(("api_key" = ["read"])),
    extensions(("x-errors" = json!([Code::NotFound])))
)]
pub async fn get(
    caller: Caller,
    accepted: Accepted,
    query: Listing<ListParams>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let Listing { params, format, mut warnings } = query;
    let ListParams { days, limit, cursor, explain, complete, until, as_of, lang } = params;
    let Results { account, now } = Results::of(&caller, as_of, &state).await?;
    let days = days.get();
    let currency = caller.currency();
    let window = if complete == Some(true) { window::before_today } else { window::ending_today };
    let mut range = Until::window(until, window(caller.zone(), now, days), days)?;
    let mut dated = state.profit.range(account, range).await?;
    let last_complete = dated.freshness.last_complete(caller.zone()).filter(|last| *last < range.last);
    if let Some(last) = last_complete.filter(|_| complete == Some(true)) {
        range = window::ending(last, days);
        dated = state.profit.range(account, range).await?;
        warnings.push(Warning::about("not_yet_computed", "complete"));
    }
    let Dated { found: snapshots, freshness } = dated;
    let totals = TotalsBody::new(&snapshots, currency);
    if snapshots.iter().any(|day| day.lacks_rates) {
        warnings.push(Warning::about("fx_missing", "ad_spend"));
    }
    let page = PageRequest { limit: limit.requested().unwrap_or(days), cursor };
    let found = page_of_days(snapshots, page, |snapshot| snapshot.date);
    let pagination = Pagination::new(page, &found);
    let freshness = FreshnessBody::new(freshness, caller.zone(), now);
    if format == Format::Csv {
        let day = |snapshot| SnapshotBody::new(snapshot, currency, None);
        let data: Vec<_> = found.items.into_iter().map(day).collect();
        let about = CsvMetadata { name: "profit", day: range.last, freshness: Some(freshness), warnings: &warnings };
        return csv::page(&about, &data, pagination.next_cursor);
    }
    let explained = match explain {
        Some(true) => Some((state.profit.assumptions(account).await?, accepted.texts(lang, &caller, now))),
        _ => None,
    };
    let day = |snapshot| SnapshotBody::new(snapshot, currency, explained.as_ref());
    let data = found.items.into_iter().map(day).collect();
    let body = Body { data, totals, window_days: days, freshness, pagination, api_version: API_VERSION, warnings };
    let reply = Reply::listed(&body)?;
    Ok(match &explained {
        Some((_, texts)) => reply.in_language(texts),
        None => reply,
    })
}

#[cfg(test)]
mod tests {
    use domain::profit::Basis;
    use time::macros::date;

    use super::*;
    use ::web::csv::Row as _;

    #[test]
    fn the_columns_are_the_fields_in_their_order() {
        let day = Snapshot {
            date: date!(2026 - 05 - 02),
            components: Components::default(),
            basis: Basis::default(),
            lacks_rates: false,
        };
        let body = SnapshotBody::new(day, "USD".parse().unwrap(), None);
        let json = serde_json::to_string(&body).unwrap();
        let places: Vec<_> = SnapshotBody::COLUMNS.iter().map(|name| json.find(&format!("\"{name}\":"))).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted());
        assert_eq!(json.matches("\":").count(), SnapshotBody::COLUMNS.len());
    }
}
