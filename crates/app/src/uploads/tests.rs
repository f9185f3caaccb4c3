//! What becomes of an import that does not end as it should.

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
    uploads::{Kind, MockFileImporter, MockUploadStore, Outcome, Reading, State},
};
use time::{OffsetDateTime, macros::datetime};

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

/// No jobs are asked for here.
struct NoRequests;

#[async_trait]
impl JobRequests for NoRequests {
    async fn request(&self, _: AccountId, _: Option<Entry>, _: OffsetDateTime) -> Result<(), StoreError> {
        unreachable!()
    }

    async fn is_requested(&self, _: AccountId) -> Result<bool, StoreError> {
        unreachable!()
    }

    async fn lease(&self, _: OffsetDateTime, _: i64) -> Result<Option<RequestLease>, StoreError> {
        unreachable!()
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

/// Imports what is due.
async fn work(uploads: MockUploadStore, files: MockFileImporter) {
    let mut accounts = MockAccountStore::new();
    accounts.expect_find().returning(|id| Ok(Some(account(id))));
    let worker = UploadWorker {
        uploads: Arc::new(uploads),
        requests: Arc::new(NoRequests),
        accounts: Arc::new(accounts),
        files: Arc::new(files),
        deps: deps(),
        clock: Arc::new(|| NOW),
        jobs_clock: || NOW,
    };
    assert!(worker.tick().await.unwrap());
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
