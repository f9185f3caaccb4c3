//! Whatever a run is killed at, it is paid for exactly when it ended `worded`: real Postgres, the real use case, and a
//! kill before and after every call of a port, and anywhere between.
//!
//! The run of `make test` is small; `AI_KILLS=500` makes it whole.

use std::{sync::Arc, time::Duration};

use app::{
    ai::{InsightTextGenerator, carry_out_next},
    jobs::Deps,
};
use async_trait::async_trait;
use domain::{
    AccountId, StoreError,
    accounts::{AccountStore, Mode, NewUser, Plan},
    ai::{AiRuns, Completion, Ending, LanguageModel, ModelError, Prompt, Usage},
    credits::CreditAmount,
    insights::{InsightWriter, Worded},
    jobs::WriteOutcome,
};
use serde_json::{Value, json};
use store::Store;
use time::OffsetDateTime;

use crate::steps::{SteppingRuns, Steps, USAGE};

const PRICE: i64 = 1;

/// Ports with a step before and after each call.
struct Stepping {
    store: Arc<Store>,
    steps: Arc<Steps>,
}

#[async_trait]
impl InsightWriter for Stepping {
    async fn replace(
        &self,
        account: AccountId,
        ending: Ending,
        insights: Vec<Worded>,
        now: OffsetDateTime,
    ) -> Result<WriteOutcome, StoreError> {
        self.steps.around(self.store.replace(account, ending, insights, now)).await
    }
}

#[async_trait]
impl LanguageModel for Stepping {
    fn name(&self) -> String {
        "test".to_owned()
    }
    fn bound(&self, _: &Prompt) -> Usage {
        USAGE
    }
    /// Every fourth answer invents a number, every fourth is none.
    async fn complete(&self, prompt: &Prompt) -> Completion {
        self.steps.step().await;
        let asked: Value = serde_json::from_str(&prompt.user).unwrap();
        let kind = asked["insights"][0]["draft"]["body"].as_str().unwrap().len() + self.steps.stop_at;
        let insights: Vec<Value> = asked["insights"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| {
                let mut worded = finding["draft"].clone();
                worded["key"] = finding["key"].clone();
                if kind % 4 == 1 {
                    worded["title"] = json!("987654 EUR are missing");
                }
                worded
            })
            .collect();
        let answer = if kind % 4 == 2 { Err(ModelError::Timeout) } else { Ok(json!({ "insights": insights })) };
        self.steps.step().await;
        Completion { answer, usage: USAGE }
    }
}

async fn account(store: &Store) -> AccountId {
    let user = NewUser {
        id: format!("user_{:024}", 1).parse().unwrap(),
        name: "shop".into(),
        currency: "EUR".parse().unwrap(),
        timezone: "UTC".parse().unwrap(),
        locale: domain::texts::Locale::ENGLISH,
        plan: Plan::Free,
        now: OffsetDateTime::now_utc(),
    };
    store.create(user).await.unwrap()[0].id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_killed_anywhere_is_paid_for_exactly_when_it_was_worded() {
    let runs: usize = std::env::var("AI_KILLS").ok().and_then(|value| value.parse().ok()).unwrap_or(60);
    let db = testkit::TestDb::new().await.unwrap();
    let (store, sql) = (Arc::new(db.store().unwrap()), db.client().await.unwrap());
    let account = account(&store).await;
    sql.batch_execute(&format!(
        "INSERT INTO products (account_id, sku, name, created_at) VALUES ({account}, 'p', 'p', now());
         INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d,
            units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, trend, status, computed_at)
         SELECT account_id, id, 'p', 'p', 0, 9, 0, 0, 0, 'stable', 'critical', now() FROM products"
    ))
    .await
    .unwrap();
    let mut killed = 0;
    for number in 0..runs {
        // A fact that no run before had, so that there is something to write.
        sql.execute("UPDATE inventory_items SET sku = $1", &[&format!("SKU {number}")]).await.unwrap();
        let steps = Steps::new(number % 16);
        // A process of its own: its connections go with it.
        let victim = Arc::new(db.store().unwrap());
        let stepping = Arc::new(Stepping { store: victim.clone(), steps: steps.clone() });
        let price = CreditAmount::new(PRICE).unwrap();
        let runs = Arc::new(SteppingRuns { store: victim.clone(), steps: steps.clone() });
        let text_generator = InsightTextGenerator { runs, model: Some(stepping.clone()), price };
        let deps =
            Deps { text_generator: Some(text_generator.clone()), insights: stepping.clone(), ..Deps::of(&victim) };
        text_generator.request(account, Mode::Live, None, None, OffsetDateTime::now_utc()).await.unwrap();
        let mut run = tokio::spawn(async move { carry_out_next(&deps, OffsetDateTime::now_utc).await });
        // There are ten steps: some runs are killed at one of them, some anywhere in between, the others end.
        let somewhere = Duration::from_micros(u64::try_from(number * 7919 % 20_000).unwrap());
        let at_random = number % 3 == 2;
        tokio::select! {
            // Nothing was there to be claimed when a process that is dead by now claimed it: its statement went through.
            ended = &mut run => {
                ended.unwrap().unwrap();
            }
            () = steps.stopped.notified() => {}
            () = tokio::time::sleep(somewhere), if at_random => {}
        }
        if !run.is_finished() {
            run.abort();
            killed += 1;
            let _ = run.await;
        }
        victim.close();
        // What was in the middle of a statement is still at it on the server; a lease outlives that.
        sql.execute("UPDATE ai_runs SET lease_until = now() - interval '1 second' WHERE state = 'running'", &[])
            .await
            .unwrap();
        store.reap(OffsetDateTime::now_utc()).await.unwrap();
    }
    let left = "SELECT count(*) FROM ai_runs WHERE state = 'running'";
    while sql.query_one(left, &[]).await.unwrap().get::<_, i64>(0) > 0 {
        sql.execute("UPDATE ai_runs SET lease_until = now() - interval '1 second' WHERE state = 'running'", &[])
            .await
            .unwrap();
        store.reap(OffsetDateTime::now_utc()).await.unwrap();
    }
    // One that was killed before anyone claimed it may wait; it has no debit.
    let row = sql
        .query_one(
            "SELECT count(*) FILTER (WHERE kind = 'consume'), count(*) FILTER (WHERE kind = 'refund'), sum(amount)::bigint,
                (SELECT balance FROM credit_balances WHERE account_id = $1),
                (SELECT count(*) FROM ai_runs WHERE outcome = 'worded'), (SELECT count(*) FROM ai_runs WHERE credits > 0),
                (SELECT count(*) FROM ai_runs)
             FROM credit_transactions WHERE account_id = $1",
            &[&account.0],
        )
        .await
        .unwrap();
    let [debits, refunds, sum, balance, worded, paid, made] =
        std::array::from_fn::<i64, 7, _>(|column| row.get(column));
    assert_eq!(debits, paid, "a run has one debit at most");
    assert_eq!(debits - refunds, worded, "paid for are those that were worded");
    assert_eq!((sum, balance), (500 - PRICE * worded, 500 - PRICE * worded));
    assert!(worded > 0 && refunds > 0 && killed > 0, "{worded} worded, {refunds} refunded, {killed} killed");
    println!("{runs} requests, {made} runs, {killed} killed: {debits} debits - {refunds} refunds = {worded} worded");
}
