//! What becomes of an import that does not end as it should.

use std::{collections::BTreeSet, future::pending, sync::Mutex};

use async_trait::async_trait;
use domain::{
    AccountId, UploadId,
    accounts::{Account, MockAccountStore, Mode, Plan},
    anomalies::MockAnomalyWriter,
    audit::Entry,
    creatives::{MockCreativeSource, MockCreativeWriter},
    customer_metrics::MockCustomerMetricsStore,
    daily::MockDailyStore,
    demand::MockDemandStore,
    insights::{MockInsightSource, MockInsightWriter},
    inventory::MockInventoryWriter,
    jobs::MockJobStore,
    profit::MockProfitWriter,
    reorder::MockReorderWriter,
    risks::{MockRiskSource, MockRiskWriter},
    texts::Locale,
    uploads::{Kind, MockFileImporter, MockUploadStore, Outcome, Preview, Reading, State, Unreadable},
};
use time::{OffsetDateTime, macros::datetime};
use tokio::{sync::mpsc, time::timeout};

use super::*;

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);

fn account(id: AccountId) -> Account {
    Account {
        id,
        user_id: "user_000000000000000000000000".parse().unwrap(),
        mode: Mode::Live,
        name: "shop".into(),
        plan: Plan::Free,
        currency: "EUR".parse().unwrap(),
        timezone: "Europe/Madrid".parse().unwrap(),
        holiday_country: None,
        locale: Locale::ENGLISH,
        created_at: NOW,
    }
}

fn upload(id: UploadId, lost_leases: i64) -> Upload {
    Upload {
        id,
        kind: Kind::Orders,
        name: "orders.csv".into(),
        bytes: 7,
        state: State::Running,
        reading: Reading::default(),
        read_bytes: 0,
        outcome: None,
        error: None,
        is_unreadable: false,
        lost_leases,
        created_at: NOW,
        finished_at: None,
    }
}

/// An upload that is due.
fn due(lost_leases: i64) -> MockUploadStore {
    let mut uploads = MockUploadStore::new();
    uploads.expect_due().returning(|_| Ok(vec![(AccountId(7), UploadId(3))]));
    uploads.expect_lease().returning(move |account, id, _| {
        let lease = UploadLease { account, id, number: 9 };
        Ok(Some((lease, upload(id, lost_leases))))
    });
    uploads.expect_piece().returning(|_, _, _, _| Ok(None));
    uploads.expect_progress().returning(|_, _, _| Ok(true));
    uploads
}

/// The same, which has to end as `wanted`.
fn due_and_ended(lost_leases: i64, wanted: Ended) -> MockUploadStore {
    let mut uploads = due(lost_leases);
    uploads.expect_end().withf(move |_, ended, _| *ended == wanted).times(1).returning(|_, _, _| Ok(true));
    uploads
}

/// No jobs are asked for here. It says when that is looked up.
struct NoRequests(mpsc::UnboundedSender<&'static str>);

#[async_trait]
impl JobRequests for NoRequests {
    async fn request(&self, _: AccountId, _: Option<Entry>, _: OffsetDateTime) -> Result<(), StoreError> {
        unreachable!()
    }

    async fn is_requested(&self, _: AccountId) -> Result<bool, StoreError> {
        unreachable!()
    }

    async fn lease(&self, _: OffsetDateTime, _: i64) -> Result<Option<RequestLease>, StoreError> {
        let _ = self.0.send("jobs");
        Ok(None)
    }

    async fn hold(&self, _: RequestLease, _: i64) -> Result<bool, StoreError> {
        unreachable!()
    }

    async fn done(&self, _: RequestLease) -> Result<(), StoreError> {
        unreachable!()
    }

    async fn put_back(&self, _: RequestLease, _: OffsetDateTime) -> Result<(), StoreError> {
        unreachable!()
    }
}

fn deps() -> Deps {
    Deps {
        accounts: Arc::new(MockAccountStore::new()),
        jobs: Arc::new(MockJobStore::new()),
        daily: Arc::new(MockDailyStore::new()),
        profit: Arc::new(MockProfitWriter::new()),
        customers: Arc::new(MockCustomerMetricsStore::new()),
        demand: Arc::new(MockDemandStore::new()),
        inventory: Arc::new(MockInventoryWriter::new()),
        reorder: Arc::new(MockReorderWriter::new()),
        anomalies: Arc::new(MockAnomalyWriter::new()),
        insight_source: Arc::new(MockInsightSource::new()),
        insights: Arc::new(MockInsightWriter::new()),
        risk_source: Arc::new(MockRiskSource::new()),
        risks: Arc::new(MockRiskWriter::new()),
        creative_source: Arc::new(MockCreativeSource::new()),
        creatives: Arc::new(MockCreativeWriter::new()),
        text_generator: None,
    }
}

fn worker(uploads: MockUploadStore, files: impl FileImporter + 'static, requests: NoRequests) -> UploadWorker {
    let mut accounts = MockAccountStore::new();
    accounts.expect_find().returning(|id| Ok(Some(account(id))));
    UploadWorker {
        uploads: Arc::new(uploads),
        requests: Arc::new(requests),
        accounts: Arc::new(accounts),
        files: Arc::new(files),
        deps: deps(),
        clock: Arc::new(|| NOW),
        jobs_clock: || NOW,
    }
}

/// Imports what is due.
async fn work(uploads: MockUploadStore, files: MockFileImporter) {
    let worker = worker(uploads, files, NoRequests(mpsc::unbounded_channel().0));
    assert!(worker.import_one().await.unwrap());
}

/// A file of which a line is refused.
fn imports() -> MockFileImporter {
    let mut files = MockFileImporter::new();
    files.expect_import().times(1).returning(|_, _, mut job: Job| {
        job.rejects.write_all(b"refused").unwrap();
        Ok(Outcome { lines: 2, rejected: 1, ..Outcome::default() })
    });
    files
}

#[tokio::test]
async fn a_file_that_workers_die_of_is_given_up() {
    let done = Ended::Done(Outcome { lines: 2, rejected: 1, ..Outcome::default() });
    let mut uploads = due_and_ended(MOST_LOST - 1, done);
    uploads.expect_add_rejects().times(1).returning(|_, _, _| Ok(()));
    work(uploads, imports()).await;
    work(due_and_ended(MOST_LOST, Ended::Failed(GIVEN_UP.to_owned())), MockFileImporter::new()).await;
}

#[tokio::test]
async fn what_is_imported_without_its_refused_lines_is_told_apart_from_what_is_not_imported() {
    let mut uploads = due_and_ended(0, Ended::Failed(REJECTS_LOST.to_owned()));
    uploads.expect_add_rejects().times(1).returning(|_, _, _| Err(StoreError::Internal("no room".into())));
    work(uploads, imports()).await;
}

/// It is done again, and keeps them then.
#[tokio::test(start_paused = true)]
async fn an_import_whose_refused_lines_find_no_database_starts_over() {
    let mut uploads = due(0);
    uploads.expect_add_rejects().times(1).returning(|_, _, _| Err(StoreError::Unavailable("away".into())));
    uploads.expect_release().times(1).returning(|_| Ok(()));
    work(uploads, imports()).await;
}

/// Files whose imports do not end. It says whose they are.
struct Endless(mpsc::UnboundedSender<&'static str>);

#[async_trait]
impl FileImporter for Endless {
    fn preview(&self, _: &Account, _: Kind, _: &Reading, _: &[u8]) -> Result<Preview, Unreadable> {
        unreachable!()
    }

    async fn import(&self, _: Target, account: &Account, _: Job) -> Result<Outcome, ImportFailure> {
        let _ = self.0.send(if account.id == AccountId(7) { "a file of 7" } else { "a file of 8" });
        pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_of_one_account_holds_up_neither_those_of_another_nor_jobs() {
    let mut uploads = MockUploadStore::new();
    uploads.expect_due().returning(|_| Ok(vec![(AccountId(7), UploadId(3)), (AccountId(8), UploadId(4))]));
    let held = Mutex::new(BTreeSet::new());
    uploads.expect_lease().returning(move |account, id, _| {
        let is_free = held.lock().unwrap().insert(account);
        Ok(is_free.then(|| (UploadLease { account, id, number: 9 }, upload(id, 0))))
    });
    uploads.expect_piece().returning(|_, _, _, _| Ok(None));
    uploads.expect_progress().returning(|_, _, _| Ok(true));
    uploads.expect_prune().returning(|_| Ok(0));
    let (says, mut begun) = mpsc::unbounded_channel();
    let worker = worker(uploads, Endless(says.clone()), NoRequests(says));
    let all_begin = async move {
        let mut missing = BTreeSet::from(["a file of 7", "a file of 8", "jobs"]);
        while !missing.is_empty() {
            missing.remove(begun.recv().await.unwrap());
        }
    };
    timeout(Duration::from_secs(60), Box::pin(worker.run(all_begin))).await.expect("something is held up");
}
