//! The engine: what is called when, and what happens to failures.

use domain::{
    RunId,
    accounts::{MockAccountStore, Mode},
    ai::{MockAiRuns, RunClaim},
    anomalies::MockAnomalyWriter,
    as_of::MockAsOfStore,
    creatives::{MockCreativeSource, MockCreativeWriter},
    customer_metrics::MockCustomerMetricsStore,
    daily::{DayTotals, MockDailyStore, RollUp},
    demand::MockDemandStore,
    insights::{MockInsightSource, MockInsightWriter},
    inventory::MockInventoryWriter,
    jobs::MockJobStore,
    profit::MockProfitWriter,
    reorder::MockReorderWriter,
    risks::{MockRiskSource, MockRiskWriter},
};
use mockall::{
    Sequence,
    predicate::{always, eq},
};
use rust_decimal::dec;
use time::macros::{date, datetime};

use super::*;

const AS_OF: Date = date!(2026 - 03 - 02);
/// What ended before the day began where the account is now was of another time zone.
const BEGINNING: Again = Again::EndedBefore(datetime!(2026-03-02 03:00 UTC));

fn clock() -> OffsetDateTime {
    // 23:30 on 1 March in São Paulo.
    datetime!(2026-03-02 02:30 UTC)
}

fn account(id: i64) -> Account {
    Account {
        id: AccountId(id),
        user_id: "user_000000000000000000000000".parse().unwrap(),
        mode: Mode::Live,
        name: "shop".into(),
        plan: domain::accounts::Plan::Free,
        currency: "BRL".parse().unwrap(),
        timezone: "America/Sao_Paulo".parse().unwrap(),
        holiday_country: None,
        locale: domain::texts::Locale::ENGLISH,
        created_at: clock(),
    }
}

fn claim(id: i64, job: JobName) -> Claim {
    Claim { account: AccountId(id), job, as_of: AS_OF, number: 3, input_fingerprint: None }
}

/// Ports that must not be called, to be replaced one by one.
#[derive(Default)]
struct Ports {
    accounts: MockAccountStore,
    jobs: MockJobStore,
    daily: MockDailyStore,
    profit: MockProfitWriter,
    customers: MockCustomerMetricsStore,
    demand: MockDemandStore,
    inventory: MockInventoryWriter,
    reorder: MockReorderWriter,
    anomalies: MockAnomalyWriter,
    insight_source: MockInsightSource,
    insights: MockInsightWriter,
    risk_source: MockRiskSource,
    risks: MockRiskWriter,
}

impl Ports {
    fn deps(self) -> Deps {
        let Self {
            accounts,
            jobs,
            daily,
            profit,
            customers,
            demand,
            inventory,
            reorder,
            anomalies,
            insight_source,
            insights,
            risk_source,
            risks,
        } = self;
        Deps {
            accounts: Arc::new(accounts),
            jobs: Arc::new(jobs),
            daily: Arc::new(daily),
            profit: Arc::new(profit),
            customers: Arc::new(customers),
            demand: Arc::new(demand),
            inventory: Arc::new(inventory),
            reorder: Arc::new(reorder),
            anomalies: Arc::new(anomalies),
            insight_source: Arc::new(insight_source),
            insights: Arc::new(insights),
            risk_source: Arc::new(risk_source),
            risks: Arc::new(risks),
            creative_source: Arc::new(MockCreativeSource::new()),
            creatives: Arc::new(MockCreativeWriter::new()),
            text_generator: None,
        }
    }

    fn claims(mut self) -> Self {
        self.jobs.expect_claim().returning(|account, job, as_of, _, _| {
            Ok(Some(Claim { account, job, as_of, number: 3, input_fingerprint: None }))
        });
        self
    }

    fn rolls_up(mut self) -> Self {
        self.daily.expect_roll_up().returning(|_, _, _| Ok(Some(RollUp::default())));
        self.jobs.expect_end_if_unchanged().returning(|_, _| Ok(false));
        self
    }
}

async fn run_profit(ports: Ports) -> Outcome {
    run(&ports.deps(), &account(7), JobName::ProfitSnapshots, AS_OF, false, clock).await.outcome
}

#[tokio::test]
async fn sums_are_brought_up_to_date_between_claim_and_reading() {
    let mut ports = Ports::default();
    let mut order = Sequence::new();
    ports
        .jobs
        .expect_claim()
        .with(eq(AccountId(7)), eq(JobName::ProfitSnapshots), eq(AS_OF), eq(LEASE_SECONDS), eq(BEGINNING))
        .times(1)
        .in_sequence(&mut order)
        .returning(|_, job, _, _, _| Ok(Some(claim(7, job))));
    let rolled = RollUp { days: 1, version: 4 };
    ports.daily.expect_roll_up().times(1).in_sequence(&mut order).returning(move |_, _, _| Ok(Some(rolled)));
    ports.jobs.expect_end_if_unchanged().times(1).in_sequence(&mut order).returning(|_, _| Ok(false));
    ports.daily.expect_series().times(1).in_sequence(&mut order).returning(|_, range| {
        assert_eq!(range.last, AS_OF);
        Ok(vec![DayTotals { gross_revenue: dec!(10), orders: 1, ..DayTotals::quiet(date!(2026 - 02 - 28)) }])
    });
    ports.profit.expect_replace().times(1).in_sequence(&mut order).returning(|written, days, _| {
        let input_fingerprint = written.input_fingerprint.clone();
        assert!(input_fingerprint.is_some(), "the result is kept with what it was made from");
        assert_eq!(*written, Claim { input_fingerprint, ..claim(7, JobName::ProfitSnapshots) });
        let dates: Vec<_> = days.iter().map(|(date, parts, _)| (*date, parts.purchase_count)).collect();
        assert_eq!(dates, [(date!(2026 - 02 - 28), 1), (date!(2026 - 03 - 01), 0), (AS_OF, 0)]);
        Ok(WriteOutcome::Rows(3))
    });
    assert_eq!(run_profit(ports).await, Outcome::Done { rows: 3 });
}

#[tokio::test]
async fn what_is_done_or_held_elsewhere_is_not_touched() {
    let mut ports = Ports::default();
    ports.jobs.expect_claim().times(1).returning(|_, _, _, _, _| Ok(None));
    assert_eq!(run_profit(ports).await, Outcome::Skipped);
}

#[tokio::test]
async fn a_failure_is_noted_with_the_run() {
    let mut ports = Ports::default().claims();
    ports.daily.expect_roll_up().returning(|_, _, _| Err(StoreError::Internal("numeric field overflow".into())));
    ports
        .jobs
        .expect_fail()
        .withf(|failed, error| {
            *failed == claim(7, JobName::ProfitSnapshots) && error.contains("numeric field overflow")
        })
        .times(1)
        .returning(|_, _| Ok(()));
    assert!(matches!(run_profit(ports).await, Outcome::Failed { .. }));
}

#[tokio::test(start_paused = true)]
async fn a_run_tries_again_while_its_account_is_rolled_up_elsewhere() {
    let mut ports = Ports::default().claims();
    let mut tried = 0;
    ports.daily.expect_roll_up().times(4).returning(move |_, _, _| {
        tried += 1;
        Ok((tried == 4).then(RollUp::default))
    });
    ports.jobs.expect_end_if_unchanged().returning(|_, _| Ok(true));
    let started = tokio::time::Instant::now();
    assert_eq!(run_profit(ports).await, Outcome::Done { rows: 0 });
    assert_eq!(started.elapsed().as_millis(), 500 + 1_000 + 2_000);
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_account_is_rolled_up_elsewhere_for_minutes_fails_and_is_free_to_be_claimed_again() {
    let mut ports = Ports::default().claims();
    ports.daily.expect_roll_up().returning(|_, _, _| Ok(None));
    ports.jobs.expect_fail().withf(|_, error| error.contains("rolled up elsewhere")).times(1).returning(|_, _| Ok(()));
    let started = tokio::time::Instant::now();
    assert!(matches!(run_profit(ports).await, Outcome::Failed { .. }));
    assert!(started.elapsed().as_secs() < LEASE_SECONDS.unsigned_abs() / 2, "the lease is far from its end");
}

#[tokio::test]
async fn a_panic_is_a_failure() {
    let mut ports = Ports::default().claims().rolls_up();
    ports.daily.expect_series().returning(|_, _| panic!("a defect"));
    ports.jobs.expect_fail().times(1).returning(|_, _| Ok(()));
    assert_eq!(run_profit(ports).await, Outcome::Failed { error: "the computation panicked".into(), is_outage: false });
}

#[tokio::test]
async fn an_ai_run_that_panics_fails_and_so_is_refunded() {
    let claim = RunClaim { account: AccountId(7), run: RunId(5), number: 1 };
    let mut runs = MockAiRuns::new();
    runs.expect_claim_next().times(1).returning(move |_| Ok(Some(claim)));
    runs.expect_fail().withf(move |failed, _, _| *failed == claim).times(1).returning(|_, _, _| Ok(true));
    let mut ports = Ports::default();
    ports.accounts.expect_find().returning(|_| panic!("a defect"));
    let price = domain::credits::CreditAmount::new(5).unwrap();
    let text_generator = Some(InsightTextGenerator { runs: Arc::new(runs), model: None, price });
    let deps = Deps { text_generator, ..ports.deps() };
    assert!(crate::ai::carry_out_next(&deps, clock).await.unwrap(), "the next run has its turn");
}

#[tokio::test]
async fn a_run_claimed_elsewhere_meanwhile_is_no_failure() {
    let mut ports = Ports::default().claims().rolls_up();
    ports.daily.expect_series().returning(|_, _| Ok(vec![]));
    ports.profit.expect_replace().returning(|_, _, _| Ok(WriteOutcome::Superseded));
    assert_eq!(run_profit(ports).await, Outcome::Superseded);
}

#[tokio::test]
async fn one_accounts_failure_does_not_stop_the_others() {
    let mut ports = Ports::default().claims();
    ports.accounts.expect_list().returning(|| Ok(vec![account(1), account(2), account(3)]));
    ports.daily.expect_roll_up().returning(|account, _, _| match account {
        AccountId(2) => Err(StoreError::Internal("broken".into())),
        _ => Ok(Some(RollUp::default())),
    });
    ports.jobs.expect_end_if_unchanged().returning(|_, _| Ok(false));
    ports.daily.expect_series().returning(|_, _| Ok(vec![]));
    ports.profit.expect_replace().times(2).returning(|_, _, _| Ok(WriteOutcome::Rows(0)));
    ports.jobs.expect_fail().withf(|failed, _| failed.account == AccountId(2)).times(1).returning(|_, _| Ok(()));
    let selection = Selection { job: Some(JobName::ProfitSnapshots), ..Selection::default() };
    let reports = run_all(&ports.deps(), selection, 2, clock).await.unwrap();
    let mut failed: Vec<_> =
        reports.iter().map(|report| (report.account, matches!(report.outcome, Outcome::Failed { .. }))).collect();
    failed.sort();
    assert_eq!(failed, [(AccountId(1), false), (AccountId(2), true), (AccountId(3), false)]);
}

#[tokio::test]
async fn what_would_be_input_fingerprint_the_same_is_not_made_again() {
    let unchanged = || {
        let mut ports = Ports::default().claims();
        ports.daily.expect_roll_up().returning(|_, _, _| Ok(Some(RollUp::default())));
        ports
    };
    let mut ports = unchanged();
    ports.jobs.expect_end_if_unchanged().times(1).returning(|_, _| Ok(true));
    assert_eq!(run_profit(ports).await, Outcome::Done { rows: 0 }, "nothing is read or written");
    // Unless it is asked for.
    let mut ports = unchanged();
    ports.accounts.expect_list().returning(|| Ok(vec![account(7)]));
    ports.daily.expect_series().times(1).returning(|_, _| Ok(vec![]));
    ports.profit.expect_replace().times(1).returning(|_, _, _| Ok(WriteOutcome::Rows(0)));
    let job = Some(JobName::ProfitSnapshots);
    let selection = Selection { job, recompute: true, ..Selection::default() };
    assert_eq!(run_all(&ports.deps(), selection, 1, clock).await.unwrap()[0].outcome, Outcome::Done { rows: 0 });
}

/// What a job says it is made from.
async fn mark(job: JobName, account: Account, as_of: Date, version: i64, standing: &'static str) -> Option<String> {
    let said = Arc::new(std::sync::Mutex::new(None));
    let mut ports = Ports::default();
    ports.jobs.expect_claim().returning(|account, job, as_of, _, _| {
        Ok(Some(Claim { account, job, as_of, number: 3, input_fingerprint: None }))
    });
    ports.daily.expect_roll_up().returning(move |_, _, _| Ok(Some(RollUp { days: 0, version })));
    ports.reorder.expect_decisions_fingerprint().returning(move |_| Ok(standing.into()));
    let heard = said.clone();
    ports.jobs.expect_end_if_unchanged().returning(move |claim, _| {
        *heard.lock().unwrap() = claim.input_fingerprint.clone();
        Ok(true)
    });
    run(&ports.deps(), &account, job, as_of, false, clock).await;
    said.lock().unwrap().clone()
}

#[tokio::test]
async fn late_data_another_day_other_settings_and_decisions_are_other_input() {
    let next_day = AS_OF.next_day().unwrap();
    let in_lisbon = || Account { timezone: "Europe/Lisbon".parse().unwrap(), ..account(7) };
    let with_holidays = || Account { holiday_country: Some("BR".parse().unwrap()), ..account(7) };
    let by_the_hour = [JobName::InsightGeneration, JobName::RiskAssessment];
    for job in JobName::ALL.iter().copied().filter(|job| !by_the_hour.contains(job)) {
        let usual = mark(job, account(7), AS_OF, 1, "a").await;
        assert!(usual.is_some(), "{job}");
        assert_eq!(mark(job, account(7), AS_OF, 1, "a").await, usual, "{job}");
        for other in [
            mark(job, account(7), AS_OF, 2, "a").await,
            mark(job, account(7), next_day, 1, "a").await,
            mark(job, in_lisbon(), AS_OF, 1, "a").await,
            mark(job, with_holidays(), AS_OF, 1, "a").await,
        ] {
            assert_ne!(other, usual, "{job}");
        }
        let decided = mark(job, account(7), AS_OF, 1, "b").await;
        assert_eq!(decided != usual, job == JobName::SmartReorder, "{job}");
    }
}

#[tokio::test]
async fn jobs_of_a_night_sum_days_up_once_and_read_sales_once() {
    let mut ports = Ports::default().claims();
    ports.daily.expect_roll_up().times(1).returning(|_, _, _| Ok(Some(RollUp::default())));
    ports.jobs.expect_end_if_unchanged().returning(|_, _| Ok(false));
    ports.daily.expect_series().returning(|_, _| Ok(vec![]));
    ports.demand.expect_stocked().times(1).returning(|_, _, _| Ok(vec![]));
    ports.inventory.expect_replace().times(1).returning(|_, _, _| Ok(WriteOutcome::Rows(0)));
    ports.reorder.expect_decisions_fingerprint().returning(|_| Ok(String::new()));
    ports.reorder.expect_replace().times(1).returning(|_, _, _, _| Ok(WriteOutcome::Rows(0)));
    let (deps, account, stop) = (ports.deps(), account(7), Stop::never());
    let run = AccountRun::of(&deps, &account, AS_OF, Selection::default(), clock, &stop);
    for job in [JobName::InventoryVelocity, JobName::SmartReorder] {
        assert_eq!(run.run(job).await.outcome, Outcome::Done { rows: 0 });
    }
}

#[tokio::test]
async fn today_is_the_accounts_own_day() {
    let mut ports = Ports::default();
    ports.accounts.expect_find().returning(|id| Ok(Some(account(id.0))));
    ports.jobs.expect_claim().returning(|_, _, _, _, _| Ok(None));
    let selection = Selection { account: Some(AccountId(5)), ..Selection::default() };
    let reports = run_all(&ports.deps(), selection, 1, clock).await.unwrap();
    let jobs: Vec<_> = reports.iter().map(|report| report.job).collect();
    assert_eq!(jobs, JobName::ALL);
    assert!(reports.iter().all(|report| report.as_of == date!(2026 - 03 - 01)));
}

#[tokio::test]
async fn jobs_as_of_a_day_run_on_a_copy_that_is_given_out_only_when_all_have_succeeded() {
    const COPY: AccountId = AccountId(99);
    let mut ports = Ports::default();
    let rolled_up = ports.daily.expect_roll_up().with(eq(AccountId(7)), always(), always()).times(1);
    rolled_up.returning(|_, _, _| Ok(Some(RollUp::default())));
    let claimed = ports.jobs.expect_claim().with(eq(COPY), always(), eq(AS_OF), always(), eq(Again::All)).times(8);
    claimed.returning(|_, _, _, _, _| Err(StoreError::Internal("broken".into())));
    let mut copies = MockAsOfStore::new();
    let midnight = datetime!(2026-03-03 03:00 UTC);
    let copied = copies.expect_copy().with(eq(AccountId(7)), eq(AS_OF), eq(midnight)).times(1);
    copied.returning(|_, _, _| Ok(Some(account(COPY.0))));
    copies.expect_publish().never();
    let run = run_as_of(&ports.deps(), &copies, &account(7), AS_OF, clock).await.unwrap().unwrap();
    assert_eq!((run.copy, run.reports.len()), (COPY, 8));
    assert!(run.reports.iter().all(|report| report.account == AccountId(7)), "the copy is nobody's account");
}

/// Sums that are never done.
struct Hanging(Arc<tokio::sync::Notify>);

#[async_trait::async_trait]
impl DailyStore for Hanging {
    async fn roll_up(
        &self,
        _: AccountId,
        _: &domain::zone::Zone,
        _: OffsetDateTime,
    ) -> Result<Option<RollUp>, StoreError> {
        self.0.notify_one();
        std::future::pending().await
    }
    async fn roll_up_step(
        &self,
        _: AccountId,
        _: &domain::zone::Zone,
        _: OffsetDateTime,
        _: usize,
        _: bool,
    ) -> Result<Option<bool>, StoreError> {
        unreachable!("jobs sum up all days")
    }
    async fn series(&self, _: AccountId, _: domain::profit::DayRange) -> Result<Vec<DayTotals>, StoreError> {
        unreachable!("nothing is read before the sums are done")
    }
    async fn parts(
        &self,
        _: AccountId,
        _: domain::profit::DayRange,
        _: Vec<Date>,
    ) -> Result<Vec<domain::daily::PartTotals>, StoreError> {
        unreachable!("nothing is read before the sums are done")
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_the_run_under_way_begins_none_and_gives_the_claim_back() {
    let mut ports = Ports::default();
    ports.accounts.expect_list().returning(|| Ok(vec![account(1), account(2)]));
    ports.jobs.expect_claim().times(1).returning(|id, job, _, _, _| Ok(Some(claim(id.0, job))));
    let given_back = |noted: &Claim, error: &str| noted.account == AccountId(1) && error.contains("stopped");
    ports.jobs.expect_fail().withf(given_back).times(1).returning(|_, _| Ok(()));
    let begun = Arc::new(tokio::sync::Notify::new());
    let deps = Deps { daily: Arc::new(Hanging(begun.clone())), ..ports.deps() };
    let (tell, stage) = tokio::sync::watch::channel(Shutdown::Running);
    let stop = Stop::following(stage);
    let running =
        tokio::spawn(async move { run_all_until(&deps, Selection::default(), 1, clock, &stop).await.unwrap() });
    begun.notified().await;
    tell.send(Shutdown::Draining).unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(20)).await;
    assert!(!running.is_finished(), "the run under way may end");
    tell.send(Shutdown::Aborting).unwrap();
    let reports = running.await.unwrap();
    let ended: Vec<_> = reports.iter().map(|report| (report.account, report.outcome.clone())).collect();
    assert_eq!(ended, [(AccountId(1), Outcome::Interrupted)]);
}

#[path = "../../build.rs"]
#[allow(dead_code, reason = "its `main` runs when the crate is built")]
mod build;

/// Another constant of the analytics makes the results of today stale.
#[test]
fn the_fingerprint_of_the_computation_changes_with_its_source() {
    assert_eq!(build::fingerprint(&build::SOURCES).unwrap(), env!("COMPUTATION"));
    let copy = std::env::temp_dir().join(format!("computation-{}.rs", std::process::id()));
    let source = std::fs::read_to_string("../analytics/src/severity.rs").unwrap();
    let of = |text: &str| {
        std::fs::write(&copy, text).unwrap();
        build::fingerprint(&[copy.to_str().unwrap()]).unwrap()
    };
    let (now, stricter) = (of(&source), of(&source.replace("ALARM_Z: f64 = 3.5", "ALARM_Z: f64 = 3.6")));
    assert!(now != stricter && now == of(&source));
    std::fs::remove_file(&copy).unwrap();
}
