//! Payments and automatic top-ups against a model of their own: random price lists, checkouts, reports, refunds,
//! chargebacks, lost answers, declined cards, debits, settings and pauses. After every step balance, plan, settings and the
//! charge that waits are what the model says.
//!
//! `PAYMENT_SEQUENCES` says how many sequences are tried.

mod expected;
mod gateway;

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use app::{
    auto_topup::Recharger,
    payments::{PaymentOutcome, PaymentService},
};
use domain::{
    AccountId,
    accounts::{AccountStore, NewUser, Plan},
    credits::{
        CreditAmount, CreditLedger, Debit, DebitError, FeatureName, OperationKey,
        auto_topup::{AutoTopupChange, AutoTopupStore, Rules},
    },
    payments::{PaymentStatus, PaymentStore, PriceList, Settled},
};
use proptest::{prelude::*, test_runner::TestRunner};
use serde_json::Map;
use store::Store;
use testkit::TestDb;
use time::{Duration, OffsetDateTime};
use tokio_postgres::Client;

use self::{
    expected::{Expected, LISTS, Outcome, Pending, Settings},
    gateway::{FakeGateway, Fault},
};

/// Credits that the account begins with.
const START_BALANCE: i64 = 500;
const COOLDOWN: Duration = Duration::minutes(10);
const MONTHLY_CAP: i64 = 2_000;

#[derive(Debug, Clone)]
enum Step {
    /// Another price list, as after a restart.
    List(usize),
    /// A person pays what an item cost in one of the lists.
    Checkout {
        item: usize,
        list: usize,
        pending: bool,
    },
    /// The gateway reports one of its payments.
    Report(prop::sample::Index),
    /// One of the gateway's payments changes.
    Change {
        payment: prop::sample::Index,
        to: PaymentStatus,
    },
    Debit(i64),
    Settings {
        enabled: bool,
        threshold: i64,
        credits: usize,
        cap: Option<i64>,
    },
    /// How the next charges go.
    Fault(Fault),
    Pass(Duration),
    /// The worker looks at what is due.
    Tick,
}

fn step() -> impl Strategy<Value = Step> {
    let minutes = prop::sample::select(vec![1, 3, 11, 61, 24 * 60, 8 * 24 * 60, 32 * 24 * 60]);
    let fault = prop::sample::select(vec![Fault::None, Fault::None, Fault::Decline, Fault::LoseAnswer, Fault::Pending]);
    let to = prop::sample::select(vec![
        PaymentStatus::Approved,
        PaymentStatus::Approved,
        PaymentStatus::Refunded,
        PaymentStatus::ChargedBack,
        PaymentStatus::Rejected,
    ]);
    let credits = prop::sample::select(vec![0usize, 1]);
    prop_oneof![
        1 => (0..LISTS.len()).prop_map(Step::List),
        3 => (0..4usize, 0..LISTS.len(), any::<bool>())
            .prop_map(|(item, list, pending)| Step::Checkout { item, list, pending }),
        5 => any::<prop::sample::Index>().prop_map(Step::Report),
        3 => (any::<prop::sample::Index>(), to).prop_map(|(payment, to)| Step::Change { payment, to }),
        4 => (1..600i64).prop_map(Step::Debit),
        3 => (prop::bool::weighted(0.8), 1..900i64, credits, prop::option::of(500..3_000i64))
            .prop_map(|(enabled, threshold, credits, cap)| Step::Settings { enabled, threshold, credits, cap }),
        2 => fault.prop_map(Step::Fault),
        4 => minutes.prop_map(|minutes| Step::Pass(Duration::minutes(minutes))),
        7 => Just(Step::Tick),
    ]
}

/// The time of the sequence, for the worker's clock; one sequence runs at a time.
static NOW: AtomicI64 = AtomicI64::new(0);

fn now() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(NOW.load(Ordering::SeqCst)).unwrap()
}

struct World {
    store: Arc<Store>,
    sql: Client,
    account: AccountId,
    gateway: Arc<FakeGateway>,
    list: usize,
    debits: usize,
}

impl World {
    async fn new(db: &TestDb, store: &Arc<Store>) -> Self {
        let sql = db.client().await.unwrap();
        sql.batch_execute(
            "DELETE FROM price_offers; UPDATE auto_topups SET state = 'canceled' WHERE state = 'pending'",
        )
        .await
        .unwrap();
        let id = format!("user_{}", &uuid::Uuid::new_v4().simple().to_string()[..24]);
        let user = NewUser {
            id: id.parse().unwrap(),
            name: "shop".into(),
            currency: "USD".parse().unwrap(),
            timezone: "UTC".parse().unwrap(),
            locale: domain::texts::Locale::ENGLISH,
            plan: Plan::Free,
            now: now(),
        };
        let account = store.create(user).await.unwrap()[0].id;
        let gateway = Arc::new(FakeGateway::new(account));
        Self { store: store.clone(), sql, account, gateway, list: 0, debits: 0 }
    }

    fn payment_service(&self) -> PaymentService {
        let (packs, plans) = LISTS[self.list];
        PaymentService {
            gateway: self.gateway.clone(),
            payments: self.store.clone(),
            accounts: self.store.clone(),
            prices: Arc::new(PriceList::parse(packs, plans).unwrap()),
        }
    }

    async fn publish(&self) {
        self.store.publish(&self.payment_service().prices, now()).await.unwrap();
    }

    async fn tick(&self) {
        let rules = Rules { cooldown: COOLDOWN, monthly_cap: MONTHLY_CAP };
        let recharger =
            Recharger { payment_service: self.payment_service(), charges: self.store.clone(), rules, clock: now };
        recharger.tick().await.unwrap();
    }

    async fn debit(&mut self, amount: i64) -> bool {
        self.debits += 1;
        let debit = Debit {
            account: self.account,
            amount: CreditAmount::new(amount).unwrap(),
            feature: FeatureName::new("chat").unwrap(),
            key: OperationKey::new(format!("debit-{}", self.debits)).unwrap(),
            meta: Map::new(),
        };
        match self.store.debit(debit, now()).await {
            Ok(_) => true,
            Err(DebitError::Insufficient { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Balance, plan, settings and the charge that waits, read by SQL of the test's own.
    async fn found(&self) -> (i64, String, Settings, Option<Pending>) {
        let row = self
            .sql
            .query_one(
                "SELECT b.balance, a.plan, b.auto_topup_enabled, b.auto_topup_threshold, b.auto_topup_amount,
                    b.auto_topup_monthly_cap, b.auto_topup_failures, b.auto_topup_disabled_reason IS NOT NULL,
                    t.credits, t.due_at, t.attempts,
                    (SELECT coalesce(sum(amount), 0)::bigint FROM credit_transactions WHERE account_id = a.id)
                 FROM accounts a JOIN credit_balances b ON b.account_id = a.id
                    LEFT JOIN auto_topups t ON t.account_id = a.id AND t.state = 'pending'
                 WHERE a.id = $1",
                &[&self.account.0],
            )
            .await
            .unwrap();
        let settings = Settings {
            enabled: row.get(2),
            threshold: row.get(3),
            credits: row.get(4),
            cap: row.get(5),
            failures: row.get(6),
            switched_off: row.get(7),
        };
        let pending =
            row.get::<_, Option<i64>>(8).map(|credits| Pending { credits, due: row.get(9), attempts: row.get(10) });
        assert_eq!(row.get::<_, i64>(0), row.get::<_, i64>(11), "the sum of the ledger");
        (row.get(0), row.get(1), settings, pending)
    }
}

async fn take(world: &mut World, model: &mut Expected, step: &Step) {
    NOW.fetch_add(1, Ordering::SeqCst);
    let now = now();
    match step {
        Step::List(list) => {
            world.list = *list;
            world.publish().await;
            model.publish(*list, now);
        }
        Step::Checkout { item, list, pending } => {
            if let Some((item, amount)) = expected::price_of(*list, *item) {
                world.gateway.checkout(item, amount, *pending);
            }
        }
        Step::Report(index) => {
            let Some(payment) = world.gateway.pick(index) else { return };
            let taken = world.payment_service().take(&payment.id, now).await.unwrap();
            assert_eq!(outcome(&taken), model.report(&payment, now));
        }
        Step::Change { payment, to } => world.gateway.change(payment, *to),
        Step::Debit(amount) => assert_eq!(world.debit(*amount).await, model.debit(*amount, now)),
        Step::Settings { enabled, threshold, credits, cap } => {
            let credits = [500, 1_000][*credits];
            let change = AutoTopupChange {
                enabled: *enabled,
                threshold: Some(*threshold),
                top_up_amount: Some(credits),
                monthly_cap: Some(*cap),
            };
            AutoTopupStore::change(&*world.store, world.account, change, None, now).await.unwrap();
            model.change(*enabled, *threshold, credits, *cap, now);
        }
        Step::Fault(fault) => world.gateway.set_fault(*fault),
        Step::Pass(time) => {
            NOW.fetch_add(time.whole_seconds(), Ordering::SeqCst);
        }
        Step::Tick => {
            let before = world.gateway.snapshot();
            world.tick().await;
            model.tick(world.list, before, now);
        }
    }
}

fn outcome(taken: &PaymentOutcome) -> Outcome {
    match taken {
        PaymentOutcome::Settled(Settled::Credited(_)) => Outcome::Credited,
        PaymentOutcome::Settled(Settled::Reversed(_)) => Outcome::Reversed,
        PaymentOutcome::Settled(Settled::Noted) => Outcome::Noted,
        PaymentOutcome::Settled(Settled::Unchanged) => Outcome::Unchanged,
        PaymentOutcome::Refused(_) => Outcome::Refused,
    }
}

#[test]
fn payments_do_what_the_model_does() {
    let sequences = std::env::var("PAYMENT_SEQUENCES").map_or(24, |number| number.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let db = runtime.block_on(TestDb::new()).unwrap();
    let store = Arc::new(runtime.block_on(async { db.store() }).unwrap());
    let config = ProptestConfig { cases: sequences, failure_persistence: None, ..ProptestConfig::default() };
    let steps = std::cell::Cell::new(0usize);
    let tried = TestRunner::new(config).run(&prop::collection::vec(step(), 1..60), |sequence| {
        runtime.block_on(async {
            NOW.store(time::macros::datetime!(2026-11-05 12:00 UTC).unix_timestamp(), Ordering::SeqCst);
            let mut world = World::new(&db, &store).await;
            world.publish().await;
            let mut model = Expected::new(START_BALANCE);
            for step in &sequence {
                take(&mut world, &mut model, step).await;
                steps.set(steps.get() + 1);
                let found = world.found().await;
                prop_assert_eq!(found, model.shown(), "after {:?}", step);
            }
            Ok(())
        })
    });
    println!("{sequences} sequences of payments, {} steps", steps.get());
    runtime.block_on(async { drop(db) });
    tried.unwrap();
}
