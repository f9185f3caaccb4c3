//! Logs and metrics.

use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

/// Bounds of the latency histograms, seconds.
const LATENCY_BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Starts logging: one JSON object a line on standard error, so that standard output stays a command's result.
pub fn init_logs(filter: &str) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter).map_err(|error| anyhow::anyhow!("log: not a log filter: {error}"))?;
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init()
        .map_err(|error| anyhow::anyhow!("cannot start logging: {error}"))
}

/// How often what was measured is summed up. Until then every value of a histogram is kept by itself, scraped or not.
const SUM_UP_EVERY: Duration = Duration::from_secs(5);

/// Starts collecting metrics; the handle renders them for Prometheus. [`upkeep`] is to run beside it.
pub fn init_metrics() -> anyhow::Result<PrometheusHandle> {
    Ok(builder()?.install_recorder()?)
}

/// Sums up what was measured, again and again; never ends.
pub async fn upkeep(handle: PrometheusHandle) {
    sum_up(handle, SUM_UP_EVERY).await;
}

fn builder() -> anyhow::Result<PrometheusBuilder> {
    Ok(PrometheusBuilder::new().set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &LATENCY_BUCKETS)?)
}

async fn sum_up(handle: PrometheusHandle, every: Duration) {
    loop {
        tokio::time::sleep(every).await;
        handle.run_upkeep();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn values_are_summed_up_though_nobody_asks_for_them() {
        let recorder = builder().unwrap().build_recorder();
        let handle = recorder.handle();
        metrics::with_local_recorder(&recorder, || {
            (0..1_000).for_each(|_| metrics::histogram!("wait_seconds").record(0.3));
        });
        // What renders the metrics would sum them up as well.
        let summed_up = || format!("{handle:?}").contains("count: 1000");
        assert!(!summed_up());
        let task = tokio::spawn(sum_up(handle.clone(), Duration::from_millis(1)));
        let began = std::time::Instant::now();
        while !summed_up() {
            assert!(began.elapsed() < Duration::from_secs(60), "{handle:?}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        task.abort();
    }
}
