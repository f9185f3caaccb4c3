//! Forecasts at a day in the past against what came after it.

use analytics::customers::{Basis, bgnbd, churn, gamma_gamma};
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

/// A day of the past, the customers known by then and what they did within the horizon.
pub struct Case {
    pub as_of: Date,
    pub days: i64,
    pub customers: Vec<Split>,
}

impl Case {
    /// The horizon ends with the last day of the data. `None` without a buyer before its beginning.
    pub fn new(purchases: &[Purchase], days: i64) -> Option<Self> {
        let end = purchases.iter().map(|p| p.day).max()?;
        let as_of = end - Duration::days(days);
        let one = |all: &[Purchase]| {
            let (before, after) = all.split_at(all.partition_point(|p| p.day <= as_of));
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
        let customers: Vec<_> = purchases.chunk_by(|l, r| l.customer == r.customer).filter_map(one).collect();
        (!customers.is_empty()).then_some(Self { as_of, days, customers })
    }

    fn weeks(&self) -> f64 {
        self.days as f64 / 7.0
    }

    fn summary(&self, customer: &Split) -> bgnbd::Summary {
        let weeks = |from: Date, to: Date| (to - from).whole_days() as f64 / 7.0;
        let Split { first, last, .. } = *customer;
        bgnbd::Summary::new(customer.purchases - 1, weeks(first, last), weeks(first, self.as_of))
    }

    fn describe(&self, protocol: &str, shop: &str, figures: Value) -> Value {
        let mut line = json!({
            "protocol": protocol, "data": shop, "as_of": self.as_of.to_string(), "horizon_days": self.days,
            "customers": self.customers.len(),
        });
        if let (Some(line), Value::Object(figures)) = (line.as_object_mut(), figures) {
            line.extend(figures);
        }
        line
    }
}

/// Fits to what was known and compares probabilities, counts and values with what happened.
pub fn measure(shop: &str, case: &Case) -> anyhow::Result<Vec<Value>> {
    let customers = &case.customers;
    let summaries: Vec<_> = customers.iter().map(|c| case.summary(c)).collect();
    let spends: Vec<_> = customers
        .iter()
        .map(|c| gamma_gamma::Spend { purchases: c.purchases, mean: c.spend / f64::from(c.purchases) })
        .collect();
    let (model, values) = (bgnbd::fit(&summaries)?, gamma_gamma::fit(&spends)?);
    let expected: Vec<f64> = summaries.iter().map(|s| model.params.expected_purchases(s, case.weeks())).collect();
    let worth: Vec<f64> = expected.iter().zip(&spends).map(|(e, s)| e * values.params.expected_value(s)).collect();
    Ok(vec![
        case.describe("fit", shop, json!({"purchases": model, "values": values})),
        case.describe("churn", shop, churn_figures(case, &model.params, &summaries)),
        case.describe("value", shop, value_figures(case, &expected, &worth)),
    ])
}

fn churn_figures(case: &Case, params: &bgnbd::Params, summaries: &[bgnbd::Summary]) -> Value {
    let active = active(&case.customers);
    let rate = mean(active.iter().map(|a| f64::from(u8::from(*a))));
    let returns: Vec<f64> = summaries.iter().map(|s| returns(params, s, case.weeks())).collect();
    // What the model says without the detour over an expected count: gone, or alive without a purchase.
    let exact = |s: &bgnbd::Summary| {
        let silent = -params.shape(s) * (case.weeks() / (params.alpha() + s.age())).ln_1p();
        params.p_alive(s) * -silent.exp_m1()
    };
    let exact: Vec<f64> = summaries.iter().map(exact).collect();
    let alive: Vec<f64> = summaries.iter().map(|s| params.p_alive(s)).collect();
    let recency: Vec<f64> = summaries.iter().map(|s| s.recency() - s.age()).collect();
    json!({
        "auc": round(auc(&active, &returns)), "brier": round(brier(&active, &returns)),
        "calibration_error": round(calibration_error(&active, &returns)),
        "base_brier": round(rate * (1.0 - rate)), "predicted_active": round(mean(returns.iter().copied())),
        "active": round(rate), "recency_auc": round(auc(&active, &recency)),
        "exact_auc": round(auc(&active, &exact)), "exact_brier": round(brier(&active, &exact)),
        "exact_calibration_error": round(calibration_error(&active, &exact)),
        "p_alive_auc": round(auc(&active, &alive)),
    })
}

fn value_figures(case: &Case, expected: &[f64], worth: &[f64]) -> Value {
    let customers = &case.customers;
    let later: Vec<f64> = customers.iter().map(|c| c.later_spend).collect();
    let past: Vec<f64> = customers.iter().map(|c| c.spend).collect();
    let purchases: f64 = customers.iter().map(|c| f64::from(c.later_purchases)).sum();
    json!({
        "purchases_predicted_to_actual": round(expected.iter().sum::<f64>() / purchases),
        "value_predicted_to_actual": round(worth.iter().sum::<f64>() / later.iter().sum::<f64>()),
        "top_tenth_share": round(top_tenth_share(&later, worth)),
        "top_tenth_share_perfect": round(top_tenth_share(&later, &later)),
        "top_tenth_share_by_past_spend": round(top_tenth_share(&later, &past)),
    })
}

/// The shop cut into shops of `size` customers, each fitted for itself; Brier scores over all of them, next to those
/// of one fit to all customers and of the pooled parameters as they are.
pub fn few(shop: &str, case: &Case, size: usize) -> anyhow::Result<Value> {
    let parts = case.customers.len().div_ceil(size);
    let summaries: Vec<_> = case.customers.iter().map(|c| case.summary(c)).collect();
    let active = active(&case.customers);
    let everybody = bgnbd::fit(&summaries)?.params;
    let (mut own, mut all, mut pooled, mut outcome) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut alone = 0;
    for part in 0..parts {
        let members: Vec<_> = summaries.iter().copied().skip(part).step_by(parts).collect();
        let fit = bgnbd::fit(&members)?;
        alone += usize::from(fit.basis == Basis::Account);
        own.extend(members.iter().map(|s| returns(&fit.params, s, case.weeks())));
        all.extend(members.iter().map(|s| returns(&everybody, s, case.weeks())));
        pooled.extend(members.iter().map(|s| returns(&bgnbd::Params::POOLED, s, case.weeks())));
        outcome.extend(active.iter().copied().skip(part).step_by(parts));
    }
    Ok(case.describe(
        "few_customers",
        shop,
        json!({
            "shops": parts, "size": size, "fitted_alone": alone, "pooled": parts - alone,
            "brier": round(brier(&outcome, &own)), "auc": round(auc(&outcome, &own)),
            "brier_of_everybody": round(brier(&outcome, &all)), "brier_of_pooled_parameters": round(brier(&outcome, &pooled)),
        }),
    ))
}

/// Probability of a purchase within the horizon.
fn returns(params: &bgnbd::Params, customer: &bgnbd::Summary, weeks: f64) -> f64 {
    1.0 - churn::probability(params.expected_purchases(customer, weeks), params.shape(customer))
}

fn active(customers: &[Split]) -> Vec<bool> {
    customers.iter().map(|c| c.later_purchases > 0).collect()
}
