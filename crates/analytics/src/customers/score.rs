//! All customers of an account in one pass.

use serde::Serialize;
use time::Date;

use super::rfm::{Activity, Placement, Scores, Segment};
use super::{Fit, Insufficient, bgnbd, churn, gamma_gamma, ltv, rfm};

/// What is known of one customer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct History {
    /// Orders that count (not cancelled); 0 makes a prospect.
    pub orders: u32,
    /// Different days with an order; held within 1 and `orders` for a customer with orders.
    pub purchase_days: u32,
    /// Days of the first and the last order, in the account's time zone. `None` makes a prospect.
    /// Days after the day of scoring count as that day.
    pub active: Option<(Date, Date)>,
    /// Money spent in all orders.
    pub spend: f64,
}

/// What a caller may choose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Discount rate per year, 0.1 = 10 %.
    pub annual_rate: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { annual_rate: ltv::ANNUAL_RATE }
    }
}

/// The figures of one customer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CustomerScore {
    pub segment: Segment,
    /// `None` for a prospect.
    pub scores: Option<Scores>,
    /// Present value of the purchases of the next 52 weeks; 0 for a prospect.
    pub ltv_estimate: f64,
    /// Probability of no purchase in the next 90 days; `None` for a prospect.
    pub churn_score: Option<f64>,
    /// Purchases expected in the next 90 days; 0 for a prospect.
    pub expected_purchases: f64,
}

/// The models of an account.
#[derive(Debug, Clone, PartialEq)]
pub struct Models {
    /// The purchase model, or why there is none (then there are only prospects).
    pub purchases: Result<Fit<bgnbd::Params>, Insufficient>,
    /// The model of values, or why there is none (then every `ltv_estimate` is 0).
    pub values: Result<Fit<gamma_gamma::Params>, Insufficient>,
    /// The day at whose end they were fitted.
    pub as_of: Date,
}

impl Models {
    /// Fits both to the customers as they were at the end of a day. Time grows with the number of customers.
    #[must_use]
    pub fn fit(histories: &[History], as_of: Date) -> Self {
        let buyers: Vec<Buyer> = histories.iter().filter_map(|h| Buyer::of(h, as_of, as_of)).collect();
        let summaries: Vec<_> = buyers.iter().map(|b| b.summary).collect();
        let spends: Vec<_> = buyers.iter().map(|b| b.spend).collect();
        Self { purchases: bgnbd::fit(&summaries), values: gamma_gamma::fit(&spends), as_of }
    }

    /// Scores everybody, in the order given. Segments are as of the end of `as_of`, no earlier than the models; the
    /// estimates of a customer are as of the models or, if that is later, the customer's last order: until there is news,
    /// of the customer or of the models, they stay what they are.
    ///
    /// Time grows with the number of customers: n log n to rank them, linear for the rest.
    #[must_use]
    pub fn score(&self, histories: &[History], as_of: Date, options: &Options) -> Vec<CustomerScore> {
        let buyers: Vec<Option<Buyer>> = histories.iter().map(|h| Buyer::of(h, self.as_of, as_of)).collect();
        let activities: Vec<_> = buyers.iter().map(Buyer::activity).collect();
        let placed = rfm::place(&activities).into_iter().zip(&buyers);
        placed.map(|(place, buyer)| score(place, buyer.as_ref(), &self.purchases, &self.values, options)).collect()
    }
}

fn score(
    place: Placement,
    buyer: Option<&Buyer>,
    purchases: &Result<Fit<bgnbd::Params>, Insufficient>,
    values: &Result<Fit<gamma_gamma::Params>, Insufficient>,
    options: &Options,
) -> CustomerScore {
    let mut figures = CustomerScore {
        segment: place.segment,
        scores: place.scores,
        ltv_estimate: 0.0,
        churn_score: None,
        expected_purchases: 0.0,
    };
    let (Some(buyer), Ok(model)) = (buyer, purchases) else { return figures };
    let expected = model.params.expected_purchases(&buyer.summary, churn::HORIZON_WEEKS);
    figures.expected_purchases = expected;
    figures.churn_score = Some(churn::probability(expected, model.params.shape(&buyer.summary)));
    if let Ok(values) = values {
        let value = values.params.expected_value(&buyer.spend);
        figures.ltv_estimate = ltv::estimate(&model.params, &buyer.summary, value, options.annual_rate);
    }
    figures
}

/// A customer with orders, in the terms of the models.
struct Buyer {
    summary: bgnbd::Summary,
    spend: gamma_gamma::Spend,
    activity: Activity,
}

impl Buyer {
    /// A customer as of the end of a day, seen by models as of the last order or `models`, whichever is later.
    fn of(history: &History, models: Date, as_of: Date) -> Option<Self> {
        let (first, last) = history.active.filter(|_| history.orders > 0)?;
        let first = first.min(last).min(as_of);
        let last = last.max(first).min(as_of);
        let purchases = history.purchase_days.clamp(1, history.orders);
        let summary = bgnbd::Summary::new(purchases - 1, weeks(first, last), weeks(first, last.max(models)));
        let mean = history.spend / f64::from(purchases);
        let days_since_last = u32::try_from((as_of - last).whole_days()).unwrap_or(0);
        Some(Self {
            summary,
            spend: gamma_gamma::Spend { purchases, mean },
            activity: Activity { orders: history.orders, days_since_last, spend: history.spend },
        })
    }

    fn activity(buyer: &Option<Self>) -> Activity {
        let prospect = Activity { orders: 0, days_since_last: 0, spend: 0.0 };
        buyer.as_ref().map_or(prospect, |b| b.activity)
    }
}

fn weeks(from: Date, to: Date) -> f64 {
    (to - from).whole_days() as f64 / 7.0
}
