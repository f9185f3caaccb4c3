//! AI features: the provider from the configuration, and the loop that carries runs out.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use app::{
    ai::{InsightTextGenerator, carry_out_next},
    jobs::Deps,
    worker,
};
use connectors::llm::{ChatCompletions, Config as ModelConfig};
use domain::{
    StoreError,
    ai::{AiAccess, AiRuns, LANGUAGE_MODEL_LIMIT_SECONDS, LanguageModel, Prices},
    credits::CreditAmount,
};
use rust_decimal::Decimal;
use store::Store;
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

use crate::{addresses, config::Config};

/// Interval of looking for queued runs.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often runs whose process died are looked for, and costs are held against limits.
const GUARD_EVERY: Duration = Duration::from_secs(15);

/// The generator of insight texts, as configured.
pub fn text_generator(config: &Config, store: &Arc<Store>) -> anyhow::Result<InsightTextGenerator> {
    Ok(InsightTextGenerator { runs: store.clone(), model: model(config)?, price: insights_price(config)? })
}

/// Credits that a run costs in which a model writes insights.
pub fn insights_price(config: &Config) -> anyhow::Result<CreditAmount> {
    CreditAmount::new(config.ai_insights_price).context("ai_insights_price")
}

/// Credits that a model's vote on a comment costs.
pub fn vote_price(config: &Config) -> anyhow::Result<CreditAmount> {
    CreditAmount::new(config.ai_social_reply_price).context("ai_social_reply_price")
}

/// The same, as it is shown: `None` where there is no model to ask.
pub fn shown_vote_price(config: &Config) -> anyhow::Result<Option<CreditAmount>> {
    let price = vote_price(config)?;
    Ok((!config.llm_base_url.trim().is_empty()).then_some(price))
}

/// The ports of the jobs, with the generator of insight texts.
pub fn deps(config: &Config, store: &Arc<Store>) -> anyhow::Result<Deps> {
    Ok(deps_on(&text_generator(config, store)?, store))
}

/// The same on another store, with the same client of the provider.
pub fn deps_on(text_generator: &InsightTextGenerator, store: &Arc<Store>) -> Deps {
    let text_generator = InsightTextGenerator { runs: store.clone(), ..text_generator.clone() };
    Deps { text_generator: Some(text_generator), ..Deps::of(store) }
}

/// The client of the model's provider; `None`: there is none.
pub fn model(config: &Config) -> anyhow::Result<Option<Arc<dyn LanguageModel>>> {
    if config.llm_base_url.trim().is_empty() {
        return Ok(None);
    }
    let price = |text: &str, setting: &'static str| -> anyhow::Result<Decimal> {
        let price: Decimal = text.trim().parse().context(setting)?;
        anyhow::ensure!(!price.is_sign_negative() && price <= Decimal::from(1_000_000), "{setting}: out of range");
        Ok(price)
    };
    let seconds = config.llm_timeout_seconds;
    anyhow::ensure!(
        (1..=LANGUAGE_MODEL_LIMIT_SECONDS).contains(&seconds),
        "llm_timeout_seconds must be from 1 to {LANGUAGE_MODEL_LIMIT_SECONDS}"
    );
    let base_url = addresses::private_or_near("llm_base_url", &config.llm_base_url)?;
    let client = ChatCompletions::new(ModelConfig {
        base_url: base_url.into(),
        key: config.llm_key.clone(),
        model: config.llm_model.clone(),
        timeout: Duration::from_secs(seconds.into()),
        prices: Prices {
            input: price(&config.llm_input_usd, "llm_input_usd")?,
            output: price(&config.llm_output_usd, "llm_output_usd")?,
        },
    });
    Ok(Some(Arc::new(client.context("the settings llm_…")?)))
}

/// Carries runs out as they come, and meanwhile ends those whose process died and lets the quota guard look at every account,
/// until cancelled; the run under way ends first. Any number of processes may do this.
pub async fn run(store: Arc<Store>, deps: Deps, cancelled: CancellationToken) {
    run_guarded(&store, &deps, GUARD_EVERY, &cancelled).await;
}

/// A run may wait for its provider for minutes, without a connection to the database: the guard does not wait for it.
async fn run_guarded(store: &Store, deps: &Deps, guard_every: Duration, cancelled: &CancellationToken) {
    let carry_out = || carry_out_next(deps, OffsetDateTime::now_utc);
    let failed = "interrupted AI runs and AI costs could not be checked";
    tokio::join!(
        worker::run_to_the_end(cancelled.cancelled(), LOOK_EVERY, "AI runs could not be looked up", carry_out),
        worker::run_to_the_end(cancelled.cancelled(), guard_every, failed, || guard(store)),
    );
}

/// Ends runs whose process died, and holds costs against their limits. Nothing is left to do at once then.
async fn guard(store: &Store) -> Result<bool, StoreError> {
    let now = OffsetDateTime::now_utc();
    let reaped = store.reap(now).await;
    // The costs are checked though a run could not be ended.
    let crossed = store.guard(now).await?;
    metrics::counter!("ai_cost_thresholds_crossed_total").increment(crossed);
    metrics::counter!("ai_runs_reaped_total").increment(reaped?);
    Ok(false)
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use domain::{
        AccountId,
        accounts::{AccountStore, Mode, NewUser, Plan},
        ai::{Completion, Prompt, Usage},
        texts::Locale,
    };
    use testkit::TestDb;
    use tokio::sync::Notify;

    use super::*;

    /// Far above what any wait here takes.
    const TIME_LIMIT: Duration = Duration::from_secs(120);

    /// A provider that never answers.
    #[derive(Default)]
    struct Unanswering {
        asked: Notify,
    }

    #[async_trait]
    impl LanguageModel for Unanswering {
        fn name(&self) -> String {
            "unanswering".to_owned()
        }
        fn bound(&self, _: &Prompt) -> Usage {
            Usage::NONE
        }
        async fn complete(&self, _: &Prompt) -> Completion {
            self.asked.notify_one();
            std::future::pending().await
        }
    }

    async fn account(store: &Store, number: u8) -> AccountId {
        let user = NewUser {
            id: format!("user_{number:024}").parse().unwrap(),
            name: "shop".into(),
            currency: "EUR".parse().unwrap(),
            timezone: "UTC".parse().unwrap(),
            locale: Locale::ENGLISH,
            plan: Plan::Free,
            now: OffsetDateTime::now_utc(),
        };
        store.create(user).await.unwrap()[0].id
    }

    #[tokio::test]
    async fn a_run_whose_process_died_is_refunded_while_another_waits_for_its_provider() {
        let db = TestDb::new().await.unwrap();
        let (store, sql) = (Arc::new(db.store().unwrap()), db.client().await.unwrap());
        let (waits, died) = (account(&store, 1).await, account(&store, 2).await);
        // A fact that a text can be generated from.
        sql.batch_execute(&format!(
            "INSERT INTO products (account_id, sku, name, created_at) VALUES ({waits}, 'p', 'p', now());
             INSERT INTO inventory_items (account_id, product_id, sku, product_name, current_stock, units_sold_30d,
                units_sold_7d, avg_daily_units_30d, avg_daily_units_7d, trend, status, computed_at)
             SELECT account_id, id, 'p', 'p', 0, 9, 0, 0, 0, 'stable', 'critical', now() FROM products"
        ))
        .await
        .unwrap();
        let (model, price) = (Arc::new(Unanswering::default()), CreditAmount::new(5).unwrap());
        let text_generator = InsightTextGenerator { runs: store.clone(), model: Some(model.clone()), price };
        let deps = deps_on(&text_generator, &store);
        text_generator.request(waits, Mode::Live, None, None, OffsetDateTime::now_utc()).await.unwrap();
        let refunded = async {
            model.asked.notified().await;
            store.start(died, price, OffsetDateTime::now_utc()).await.unwrap().unwrap();
            let over = "UPDATE ai_runs SET lease_until = now() - interval '1 second' WHERE account_id = $1";
            sql.execute(over, &[&died.0]).await.unwrap();
            let ended = "SELECT count(*) FROM ai_runs WHERE account_id = $1 AND outcome = 'interrupted' AND refunded";
            while sql.query_one(ended, &[&died.0]).await.unwrap().get::<_, i64>(0) == 0 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let cancelled = CancellationToken::new();
        let seen = async {
            tokio::select! {
                () = run_guarded(&store, &deps, Duration::from_millis(20), &cancelled) => panic!("nobody cancelled it"),
                () = refunded => {}
            }
        };
        tokio::time::timeout(TIME_LIMIT, seen).await.expect("the run was not refunded");
    }
}
