//! AI features: the provider from the configuration, and the loop that carries runs out.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use app::{
    ai::{InsightTextGenerator, carry_out_next},
    jobs::Deps,
    outage,
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

use crate::config::Config;

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
    let client = ChatCompletions::new(ModelConfig {
        base_url: config.llm_base_url.trim().to_owned(),
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

/// Carries runs out as they come, ends those whose process died, and lets the quota guard look at every account, until
/// cancelled; the run under way ends first. Any number of processes may do this.
pub async fn run(store: Arc<Store>, deps: Deps, cancelled: CancellationToken) {
    let mut guarded: Option<tokio::time::Instant> = None;
    while !cancelled.is_cancelled() {
        if guarded.is_none_or(|last| last.elapsed() >= GUARD_EVERY) {
            guarded = Some(tokio::time::Instant::now());
            if let Err(error) = look_after(&store).await {
                outage::warn(&error, "AI runs and costs could not be looked after");
            }
        }
        match carry_out_next(&deps, OffsetDateTime::now_utc).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => outage::warn(&error, "AI runs could not be looked up"),
        }
        tokio::select! {
            () = cancelled.cancelled() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

async fn look_after(store: &Store) -> Result<(), StoreError> {
    let now = OffsetDateTime::now_utc();
    let reaped = store.reap(now).await?;
    metrics::counter!("ai_runs_reaped_total").increment(reaped);
    let crossed = store.guard(now).await?;
    metrics::counter!("ai_cost_thresholds_crossed_total").increment(crossed);
    Ok(())
}
