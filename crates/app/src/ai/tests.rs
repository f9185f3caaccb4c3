//! Runs on demand: when the model is asked and the run is paid for, and what a panic leaves behind.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use domain::{
    RunId,
    accounts::MockAccountStore,
    ai::{CallId, MockAiRuns, MockLanguageModel, Usage},
    anomalies::MockAnomalyWriter,
    customer_metrics::MockCustomerMetricsStore,
    daily::{MockDailyStore, RollUp},
    demand::MockDemandStore,
    insights::{CriticalItem, InsightSource, KnownTexts, MockInsightWriter, Stored},
    inventory::MockInventoryWriter,
    jobs::{MockJobStore, Written as JobWritten},
    profit::{DayRange, MockProfitWriter},
    reorder::MockReorderWriter,
    risks::{MockRiskSource, MockRiskWriter},
};
use rstest::rstest;
use time::macros::datetime;

use super::*;

fn clock() -> OffsetDateTime {
    datetime!(2026-03-02 02:30 UTC)
}

fn account(id: AccountId) -> Account {
    Account {
        id,
        user_id: "user_000000000000000000000000".parse().unwrap(),
        mode: Mode::Live,
        name: "shop".into(),
        plan: domain::accounts::Plan::Free,
        currency: "BRL".parse().unwrap(),
        timezone: "UTC".parse().unwrap(),
        holiday_country: None,
        created_at: clock(),
    }
}

fn claim(account: i64) -> RunClaim {
    RunClaim { account: AccountId(account), run: RunId(10 + account), number: 1 }
}

/// How the runs ended that wrote insights.
type Ended = Arc<Mutex<Vec<(Outcome, Option<String>)>>>;

/// What is known of every shop; to read that of account 13 panics, which a mock would not survive.
struct Situation(Stored);

#[async_trait]
impl InsightSource for Situation {
    async fn stored(&self, account: AccountId, _: DayRange, _: OffsetDateTime) -> Result<Stored, StoreError> {
        assert_ne!(account, AccountId(13), "data that nobody thought of");
        Ok(self.0.clone())
    }
    async fn worded(&self, _: AccountId, _: OffsetDateTime) -> Result<KnownTexts, StoreError> {
        Ok(KnownTexts::default())
    }
}

/// Ports of shops in which these products are out of stock.
fn deps(runs: MockAiRuns, model: MockLanguageModel, sold_out: &[&str]) -> (Deps, Ended) {
    let item = |sku: &&str| CriticalItem { sku: (*sku).to_owned(), current_stock: 0, units_sold_30d: 1 };
    let stored = Stored { critical: sold_out.iter().map(item).collect(), ..Stored::default() };
    let mut accounts = MockAccountStore::new();
    accounts.expect_find().returning(|id| Ok(Some(account(id))));
    let mut daily = MockDailyStore::new();
    daily.expect_roll_up().returning(|_, _, _| Ok(Some(RollUp::default())));
    daily.expect_series().returning(|_, _| Ok(vec![]));
    let ended = Ended::default();
    let noted = ended.clone();
    let mut insights = MockInsightWriter::new();
    insights.expect_replace().returning(move |_, ending, _, _| {
        let (_, outcome, reason) = ending.run.unwrap();
        noted.lock().unwrap_or_else(PoisonError::into_inner).push((outcome, reason));
        Ok(JobWritten::Rows(1))
    });
    let text_generator = InsightTextGenerator {
        runs: Arc::new(runs),
        model: Some(Arc::new(model)),
        price: CreditAmount::new(5).unwrap(),
    };
    let deps = Deps {
        accounts: Arc::new(accounts),
        jobs: Arc::new(MockJobStore::new()),
        daily: Arc::new(daily),
        profit: Arc::new(MockProfitWriter::new()),
        customers: Arc::new(MockCustomerMetricsStore::new()),
        demand: Arc::new(MockDemandStore::new()),
        inventory: Arc::new(MockInventoryWriter::new()),
        reorder: Arc::new(MockReorderWriter::new()),
        anomalies: Arc::new(MockAnomalyWriter::new()),
        insight_source: Arc::new(Situation(stored)),
        insights: Arc::new(insights),
        risk_source: Arc::new(MockRiskSource::new()),
        risks: Arc::new(MockRiskWriter::new()),
        text_generator: Some(text_generator),
    };
    (deps, ended)
}

/// Runs of these accounts wait, one after the other.
fn queued<const N: usize>(accounts: [i64; N]) -> MockAiRuns {
    let mut runs = MockAiRuns::new();
    let waiting = Mutex::new(accounts.into_iter());
    runs.expect_claim_next()
        .returning(move |_| Ok(waiting.lock().unwrap_or_else(PoisonError::into_inner).next().map(claim)));
    runs
}

fn outcomes(ended: &Ended) -> Vec<(Outcome, Option<String>)> {
    ended.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[tokio::test]
async fn a_run_with_nothing_to_word_is_neither_debited_nor_asks_the_model() {
    // A port that is not expected to be called panics.
    let (deps, ended) = deps(queued([7]), MockLanguageModel::new(), &[]);
    assert!(carry_out_next(&deps, clock).await.unwrap());
    assert_eq!(outcomes(&ended), [(Outcome::NothingNew, None)]);
}

#[rstest]
#[case(CallPermit::Paused, "paused")]
#[case(CallPermit::Insufficient, "insufficient_credits")]
#[tokio::test]
async fn a_run_that_may_not_call_ends_with_the_rules_texts(#[case] permit: CallPermit, #[case] reason: &str) {
    let mut runs = queued([7]);
    runs.expect_open_call().times(1).returning(move |_, price, _, _, _| {
        assert_eq!(price.get(), 5);
        Ok(permit)
    });
    let mut model = MockLanguageModel::new();
    model.expect_name().return_const("m".to_owned());
    model.expect_bound().return_const(Usage::NONE);
    let (deps, ended) = deps(runs, model, &["MUG"]);
    assert!(carry_out_next(&deps, clock).await.unwrap());
    assert_eq!(outcomes(&ended), [(Outcome::Failed, Some(reason.to_owned()))]);
}

#[tokio::test]
async fn a_run_that_panics_is_ended_and_the_next_is_carried_out() {
    let mut runs = queued([13, 7]);
    runs.expect_fail().times(1).returning(|failed, reason, _| {
        assert_eq!((failed, reason), (&claim(13), "internal"));
        Ok(true)
    });
    runs.expect_open_call().returning(|_, _, _, _, _| Ok(CallPermit::Granted(CallId(1))));
    runs.expect_close_call().returning(|_, _, _, _, _| Ok(()));
    let mut model = MockLanguageModel::new();
    model.expect_name().return_const("m".to_owned());
    model.expect_bound().return_const(Usage::NONE);
    model.expect_complete().times(1).returning(|_| Completion { answer: Err(ModelError::Timeout), usage: Usage::NONE });
    let (deps, ended) = deps(runs, model, &["MUG"]);
    assert!(carry_out_next(&deps, clock).await.unwrap());
    assert!(carry_out_next(&deps, clock).await.unwrap());
    assert_eq!(outcomes(&ended), [(Outcome::Failed, Some("timeout".to_owned()))]);
    assert!(!carry_out_next(&deps, clock).await.unwrap());
}
