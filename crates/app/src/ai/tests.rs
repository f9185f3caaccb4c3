//! Runs on demand: when the model is asked and the run is paid for, and what a panic leaves behind.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicI64, Ordering},
};

use async_trait::async_trait;
use domain::{
    RunId,
    accounts::MockAccountStore,
    ai::{CallId, MockAiRuns, MockLanguageModel, Usage},
    anomalies::MockAnomalyWriter,
    creatives::{MockCreativeSource, MockCreativeWriter},
    customer_metrics::MockCustomerMetricsStore,
    daily::MockDailyStore,
    demand::MockDemandStore,
    insights::{CriticalItem, InsightSource, Kind, MockInsightWriter, Stored, Told, Value},
    inventory::MockInventoryWriter,
    jobs::{MockJobStore, WriteOutcome},
    language::Language,
    profit::{DayRange, MockProfitWriter},
    reorder::MockReorderWriter,
    risks::{MockRiskSource, MockRiskWriter},
    texts::Locale,
};
use rstest::rstest;
use rust_decimal::dec;
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
        locale: domain::texts::Locale::ENGLISH,
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
    let item = |sku: &&str| CriticalItem {
        sku: (*sku).to_owned(),
        current_stock: 0,
        units_sold_30d: 1,
        ..CriticalItem::default()
    };
    let stored = Stored { critical: sold_out.iter().map(item).collect(), ..Stored::default() };
    let mut accounts = MockAccountStore::new();
    accounts.expect_find().returning(|id| Ok(Some(account(id))));
    let mut daily = MockDailyStore::new();
    daily.expect_roll_up_step().returning(|_, _, _, _, _| Ok(Some(true)));
    daily.expect_series().returning(|_, _| Ok(vec![]));
    let ended = Ended::default();
    let noted = ended.clone();
    let mut insights = MockInsightWriter::new();
    insights.expect_replace().returning(move |_, ending, _, _| {
        let (_, outcome, reason) = ending.run.unwrap();
        noted.lock().unwrap_or_else(PoisonError::into_inner).push((outcome, reason));
        Ok(WriteOutcome::Rows(1))
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
        creative_source: Arc::new(MockCreativeSource::new()),
        creatives: Arc::new(MockCreativeWriter::new()),
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
async fn a_run_goes_by_the_sums_as_they_stand_where_it_would_use_up_its_lease() {
    static PASSED: AtomicI64 = AtomicI64::new(0);
    let late = || clock() + Duration::seconds(PASSED.fetch_add(10, Ordering::SeqCst));
    let mut daily = MockDailyStore::new();
    daily.expect_series().returning(|_, _| Ok(vec![]));
    // Each step ends 20 s after the one before.
    daily.expect_roll_up_step().times(1..=3).returning(|_, _, _, _, _| Ok(Some(false)));
    let (deps, ended) = deps(queued([7]), MockLanguageModel::new(), &[]);
    assert!(carry_out_next(&Deps { daily: Arc::new(daily), ..deps }, late).await.unwrap());
    assert_eq!(outcomes(&ended), [(Outcome::NothingNew, None)]);
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

/// What a model is asked and how its answer ends where texts are asked for in Portuguese and the stock of two products ran out.
async fn worded_in_portuguese(answer: serde_json::Value) -> (domain::ai::Prompt, Texts) {
    let locale = Locale { language: Language::BrazilianPortuguese, region: Some("BR".parse().unwrap()) };
    let account = Account { locale, currency: "BRL".parse().unwrap(), ..account(AccountId(7)) };
    let mut runs = MockAiRuns::new();
    runs.expect_open_call().returning(|_, _, _, _, _| Ok(CallPermit::Granted(CallId(1))));
    runs.expect_close_call().returning(|_, _, _, _, _| Ok(()));
    let asked = Arc::new(Mutex::new(None));
    let noted = asked.clone();
    let mut model = MockLanguageModel::new();
    model.expect_name().return_const("m".to_owned());
    model.expect_bound().return_const(Usage::NONE);
    model.expect_complete().times(1).returning(move |prompt| {
        *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(prompt.clone());
        Completion { answer: Ok(answer.clone()), usage: Usage::NONE }
    });
    let told = Told::new(Kind::SoldOut)
        .with("revenue", Value::Money(dec!(1234.5)))
        .with("days", Value::Days(30))
        .with("skus", Value::Names(vec!["CANECA".into()]));
    let severity = domain::insights::Severity::Critical;
    let draft = Draft::new("inventory:sold_out", severity, domain::insights::Category::Inventory, told);
    let template = Wording {
        title: "Estoque".into(),
        body: "b".into(),
        suggested_action: "a".into(),
        impact_estimate: "i".into(),
    };
    let worded = Worded { draft, template, model: None, language: locale.language };
    let generator = InsightTextGenerator { runs: Arc::new(runs), model: None, price: CreditAmount::new(5).unwrap() };
    let model: Arc<dyn LanguageModel> = Arc::new(model);
    let known = KnownTexts::default();
    let texts = word(&generator, &model, &claim(7), &account, vec![worded], &known, clock).await.unwrap().unwrap();
    let prompt = asked.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap();
    (prompt, texts)
}

fn answer(body: &str) -> serde_json::Value {
    serde_json::json!({ "insights": [{
        "key": "1", "title": "Produtos sem estoque", "body": body, "suggested_action": "Reponha os produtos.",
        "impact_estimate": "R$ 1.234,50 em vendas",
    }] })
}

#[tokio::test]
async fn texts_are_asked_for_and_checked_in_the_language_and_the_numbers_of_the_account() {
    let body = "Não resta estoque de \"CANECA\", que vendeu R$ 1.234,50 nos últimos 30 dias.";
    let (prompt, texts) = worded_in_portuguese(answer(body)).await;
    assert!(
        prompt.system.contains("Write in Brazilian Portuguese") && prompt.system.contains("1.234,56"),
        "{prompt:?}"
    );
    let user: serde_json::Value = serde_json::from_str(&prompt.user).unwrap();
    assert_eq!(user["language"], "pt-BR");
    assert_eq!(user["insights"][0]["facts"], serde_json::json!(["1.234,50 BRL", "30 dias"]));
    assert_eq!((texts.outcome, texts.reason), (Outcome::Worded, None));
    assert_eq!(texts.worded[0].model.as_ref().map(|wording| wording.body.as_str()), Some(body));
}

#[rstest]
#[case::another_language("No stock is left of \"CANECA\".", "`is` is not of the language that was asked for")]
#[case::numbers_of_another_region("Vendeu R$ 1,234.50.", "`1,234.50` is none of the facts")]
#[case::a_cause("Vendeu R$ 1.234,50 por causa da chuva.", "`por causa` tells a cause that is not known")]
#[case::a_lever("O checkout custou R$ 1.234,50.", "`checkout` is not what the draft speaks of")]
#[tokio::test]
async fn a_text_that_is_not_grounded_in_its_language_is_refused(#[case] body: &str, #[case] refusal: &str) {
    let (_, texts) = worded_in_portuguese(answer(body)).await;
    assert_eq!(texts.outcome, Outcome::Refused);
    assert_eq!(texts.reason, Some(format!("body of inventory:sold_out: {refusal}")));
    assert_eq!(texts.worded[0].model, None);
}
