//! What ads did, day by day: at once for a few days, as a report that Meta makes in the background for more.

use std::{collections::BTreeMap, time::Duration};

use domain::shops::ShopError;
use reqwest::Method;
use serde_json::json;
use time::Date;
use tokio::time::{Instant, sleep};

use super::{
    act,
    api::{Api, Caller},
    wire::{Insight, Report, ReportState},
};

/// Days that are asked for at once; more are a report's.
const AT_ONCE: i64 = 7;
/// Rows of a page.
const PAGE: &str = "500";
const FIELDS: &str = "campaign_id,campaign_name,adset_id,adset_name,ad_id,ad_name,spend,impressions,clicks,actions,\
                      action_values";
/// States of ads of which figures are told. Those of archived and deleted ones come only where they are asked for.
pub(super) const STATES: [&str; 12] = [
    "ACTIVE",
    "PAUSED",
    "DELETED",
    "ARCHIVED",
    "CAMPAIGN_PAUSED",
    "ADSET_PAUSED",
    "PENDING_REVIEW",
    "DISAPPROVED",
    "PREAPPROVED",
    "PENDING_BILLING_INFO",
    "IN_PROCESS",
    "WITH_ISSUES",
];
/// The first and the longest pause between two looks at a report.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// How long a report may take: some hang.
const DEADLINE: Duration = Duration::from_secs(600);

/// The figures of the days from `from` to `until`. Days that hold more than Meta gives for one query are asked for in two
/// halves.
pub(super) async fn of_days(
    api: &Api,
    caller: &Caller<'_>,
    from: Date,
    until: Date,
) -> Result<Vec<Insight>, ShopError> {
    let (mut waiting, mut all) = (vec![(from, until)], Vec::new());
    while let Some((from, until)) = waiting.pop() {
        let is_long = (until - from).whole_days() >= AT_ONCE;
        let parameters = parameters(from, until);
        let query: Vec<_> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let found = if is_long {
            report(api, caller, &query).await
        } else {
            api.pages(caller, &[&act(caller.account), "insights"], &query, PAGE).await
        };
        match found {
            Ok(found) => all.extend(found),
            Err(ShopError::TooMany) if from < until => {
                let middle: Date = from + (until - from) / 2;
                let next = middle.next_day().unwrap_or(until);
                waiting.extend([(next, until), (from, middle)]);
            }
            // A report holds more than an answer.
            Err(ShopError::TooMany) => all.extend(report(api, caller, &query).await.map_err(|error| match error {
                ShopError::TooMany => ShopError::Rejected(format!("the day {from} holds more than it gives")),
                error => error,
            })?),
            Err(error) => return Err(error),
        }
    }
    Ok(each_once(all))
}

/// Each ad and day once, as it was told last. Pages are cut by place, and figures of today change while they are read: a row that
/// moves to the next page comes again.
fn each_once(told: Vec<Insight>) -> Vec<Insight> {
    let by_day = told.into_iter().map(|insight| ((insight.date_start.clone(), insight.ad_id.0.clone()), insight));
    by_day.collect::<BTreeMap<_, _>>().into_values().collect()
}

/// The parameters of a query. Purchases are attributed as Meta does where nothing is said: to clicks of seven days and views of
/// one.
fn parameters(from: Date, until: Date) -> [(&'static str, String); 5] {
    let states = json!([{ "field": "ad.effective_status", "operator": "IN", "value": STATES }]);
    [
        ("level", "ad".to_owned()),
        ("time_increment", "1".to_owned()),
        // Days are written as ISO 8601 has them.
        ("time_range", json!({ "since": from.to_string(), "until": until.to_string() }).to_string()),
        ("filtering", states.to_string()),
        ("fields", FIELDS.to_owned()),
    ]
}

async fn report(api: &Api, caller: &Caller<'_>, query: &[(&str, &str)]) -> Result<Vec<Insight>, ShopError> {
    let begun = api.call(caller, Method::POST, &[&act(caller.account), "insights"], query).await?;
    let Report { report_run_id } = begun.json()?;
    let (started, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        let query = [("fields", "async_status")];
        let state: ReportState = api.call(caller, Method::GET, &[&report_run_id.0], &query).await?.json()?;
        match state.async_status.as_str() {
            "Job Completed" => return api.pages(caller, &[&report_run_id.0, "insights"], &[], PAGE).await,
            // Nothing says why; shorter ones succeed where long ones fail.
            "Job Failed" | "Job Skipped" => return Err(ShopError::TooMany),
            _ if started.elapsed() > DEADLINE => {
                return Err(ShopError::Unavailable("a report was not made in time".to_owned()));
            }
            _ => sleep(pause).await,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insight(ad: &str, day: &str, spend: &str) -> Insight {
        let told = json!({ "campaign_id": "7", "adset_id": "8", "ad_id": ad, "date_start": day, "spend": spend });
        serde_json::from_str(&told.to_string()).unwrap()
    }

    #[test]
    fn an_ad_that_is_told_of_twice_counts_once() {
        let told = vec![
            insight("2", "2026-11-20", "1.50"),
            insight("1", "2026-11-20", "4"),
            insight("2", "2026-11-20", "1.75"),
            insight("2", "2026-11-19", "3"),
        ];
        let once = each_once(told);
        let shown = |insight: &Insight| {
            let spend = insight.spend.map(|spend| spend.0.to_string());
            (insight.date_start.clone(), insight.ad_id.0.clone(), spend.unwrap_or_default())
        };
        let expected = [("2026-11-19", "2", "3"), ("2026-11-20", "1", "4"), ("2026-11-20", "2", "1.75")];
        let expected = expected.map(|(day, ad, spend)| (day.to_owned(), ad.to_owned(), spend.to_owned()));
        assert_eq!(once.iter().map(shown).collect::<Vec<_>>(), expected);
    }
}
