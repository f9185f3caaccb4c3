//! The field `freshness` of computed answers.

use domain::{
    freshness::{Freshness, Newest, Source},
    jobs::JobName,
    zone::Zone,
};
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;

use crate::{
    names,
    respond::{List, Pagination, instant},
    warnings::{Warning, Warnings},
};

/// When the figures were computed, and how far what they are computed from reaches. Records that are newer than `as_of` are
/// in the figures of the next run.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Freshness)]
pub struct FreshnessBody {
    /// The end of the job's last run; null before that.
    #[schema(format = DateTime, example = "2026-05-02T04:00:05Z")]
    as_of: Option<String>,
    /// The job that computes the figures.
    #[schema(schema_with = names::job)]
    job: JobName,
    /// What the job computes them from.
    sources: Vec<SourceBody>,
}

/// The newest record of a source.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FreshnessSource)]
struct SourceBody {
    #[schema(schema_with = names::source)]
    source: Source,
    /// When it happened, or the start of its day where the source comes by day, of today at the latest; null without any record.
    #[schema(format = DateTime, example = "2026-05-02T03:52:11Z")]
    last_at: Option<String>,
}

impl FreshnessBody {
    pub fn new(freshness: Freshness, zone: &Zone, now: OffsetDateTime) -> Self {
        let Freshness { job, as_of, sources } = freshness;
        let last_at = |newest: Newest| match newest.until(now, zone) {
            Newest::At(at) => instant(at),
            Newest::Day(day) => instant(zone.start_of(day)),
        };
        let sources =
            sources.into_iter().map(|(source, newest)| SourceBody { source, last_at: newest.map(last_at) }).collect();
        Self { as_of: as_of.map(instant), job, sources }
    }
}

/// A page of a list of computed figures.
#[derive(Debug, Serialize, ToSchema)]
pub struct DatedList<T> {
    data: Vec<T>,
    freshness: FreshnessBody,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl<T> DatedList<T> {
    pub fn new(list: List<T>, freshness: FreshnessBody) -> Self {
        let List { data, pagination, api_version, warnings } = list;
        Self { data, freshness, pagination, api_version, warnings }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use time::macros::{date, datetime};

    use super::*;

    #[test]
    fn a_day_is_shown_by_its_start_in_the_accounts_zone() {
        let freshness = Freshness {
            job: JobName::ProfitSnapshots,
            as_of: Some(datetime!(2026-05-02 04:00:05.7 UTC)),
            sources: vec![
                (Source::Orders, Some(Newest::At(datetime!(2026-05-02 00:52:11 -3)))),
                (Source::AdSpend, Some(Newest::Day(date!(2026 - 05 - 01)))),
                (Source::Expenses, Some(Newest::Day(date!(2027 - 01 - 01)))),
                (Source::StockLevels, None),
            ],
        };
        let now = datetime!(2026-05-03 01:00 UTC);
        let body = FreshnessBody::new(freshness, &"America/Sao_Paulo".parse().unwrap(), now);
        assert_eq!(
            serde_json::to_value(&body).unwrap(),
            json!({
                "as_of": "2026-05-02T04:00:05Z", "job": "profit_snapshots", "sources": [
                    {"source": "orders", "last_at": "2026-05-02T03:52:11Z"},
                    {"source": "ad_spend", "last_at": "2026-05-01T03:00:00Z"},
                    {"source": "expenses", "last_at": "2026-05-02T03:00:00Z"},
                    {"source": "stock_levels", "last_at": null}
                ]
            })
        );
    }
}
