//! Forecasts at a day in the past against what came after it.

use analytics::customers::{bgnbd, churn, gamma_gamma};
use serde_json::{Value, json};
use time::{Date, Duration};

use super::{
    measures::{auc, brier, calibration_error, mean, round, top_tenth_share},
    purchases::Purchase,
};

/// One customer before and after a day.
pub struct Split {
    pub orders: u32,
    pub purchases: u32,
    pub spend: f64,
    pub first: Date,
    pub last: Date,
    pub later_purchases: u32,
    pub later_spend: f64,
}

/// Customers with a purchase up to `as_of`, with their later purchases up to `end`. Purchases are sorted by customer
/// and day.
pub fn split(purchases: &[Purchase], as_of: Date, end: Date) -> Vec<Split> {
    let one = |all: &[Purchase]| {
        let (before, after) = all.split_at(all.partition_point(|p| p.day <= as_of));
        let after = after.get(..after.partition_point(|p| p.day <= end)).unwrap_or_default();
        Some(Split {
            orders: before.iter().map(|p| p.orders).sum(),
            purchases: u32::try_from(before.len()).ok()?,
            spend: before.iter().map(|p| p.value).sum(),
            first: before.first()?.day,
            last: before.last()?.day,
            later_purchases: u32::try_from(after.len()).ok()?,
            later_spend: after.iter().map(|p| p.value).sum(),
        })
    };
    purchases.chunk_by(|l, r| l.customer == r.customer).filter_map(one).collect()
}

/// Fits up to `days` before the last day and compares probabilities, counts and values with what happened.
pub fn measure(name: &str, purchases: &[Purchase], days: i64) -> anyhow::Result<Vec<Value>> {
    let Some(end) = purchases.iter().map(|p| p.day).max() else { return Ok(Vec::new()) };
    let as_of = end - Duration::days(days);
    let customers = split(purchases, as_of, end);
    let weeks = |from: Date, to: Date| (to - from).whole_days() as f64 / 7.0;
    let summary = |c: &Split| bgnbd::Summary::new(c.purchases - 1, weeks(c.first, c.last), weeks(c.first, as_of));
    let summaries: Vec<_> = customers.iter().map(summary).collect();
    let spends: Vec<_> = customers
        .iter()
        .map(|c| gamma_gamma::Spend { purchases: c.purchases, mean: c.spend / f64::from(c.purchases) })
        .collect();
    let (model, values) = (bgnbd::fit(&summaries)?, gamma_gamma::fit(&spends)?);
    let params = model.params;
    let horizon = days as f64 / 7.0;
    let expected: Vec<f64> = summaries.iter().map(|s| params.expected_purchases(s, horizon)).collect();
    let stays: Vec<f64> =
        summaries.iter().zip(&expected).map(|(s, e)| 1.0 - churn::probability(*e, params.shape(s))).collect();
    let alive: Vec<f64> = summaries.iter().map(|s| params.p_alive(s)).collect();
    let recency: Vec<f64> = customers.iter().map(|c| -weeks(c.last, as_of)).collect();
    let active: Vec<bool> = customers.iter().map(|c| c.later_purchases > 0).collect();
    let rate = mean(active.iter().map(|a| f64::from(u8::from(*a))));
    let later: Vec<f64> = customers.iter().map(|c| c.later_spend).collect();
    let worth: Vec<f64> = expected.iter().zip(&spends).map(|(e, s)| e * values.params.expected_value(s)).collect();
    let actual: f64 = customers.iter().map(|c| f64::from(c.later_purchases)).sum();
    let case = |protocol: &str| json!({"protocol": protocol, "data": name, "as_of": as_of.to_string(), "horizon_days": days, "customers": customers.len()});
    Ok(vec![
        with(case("fit"), json!({"purchases": model, "values": values})),
        with(
            case("churn"),
            json!({
                "auc": round(auc(&active, &stays)), "brier": round(brier(&active, &stays)),
                "calibration_error": round(calibration_error(&active, &stays)),
                "base_brier": round(rate * (1.0 - rate)), "predicted_active": round(mean(stays.iter().copied())),
                "active": round(rate), "recency_auc": round(auc(&active, &recency)),
                "p_alive_auc": round(auc(&active, &alive)),
            }),
        ),
        with(
            case("value"),
            json!({
                "purchases_predicted_to_actual": round(expected.iter().sum::<f64>() / actual),
                "value_predicted_to_actual": round(worth.iter().sum::<f64>() / later.iter().sum::<f64>()),
                "top_tenth_share": round(top_tenth_share(&later, &worth)),
                "top_tenth_share_perfect": round(top_tenth_share(&later, &later)),
                "top_tenth_share_by_past_spend":
                    round(top_tenth_share(&later, &customers.iter().map(|c| c.spend).collect::<Vec<_>>())),
            }),
        ),
    ])
}

fn with(mut case: Value, figures: Value) -> Value {
    if let (Some(case), Value::Object(figures)) = (case.as_object_mut(), figures) {
        case.extend(figures);
    }
    case
}
