//! The admin listener: metrics and health, for operators. It is not meant to be reachable from outside.

use std::net::TcpListener;

use actix_web::{App, HttpResponse, HttpServer, dev::Server, get, web};
use domain::health::Health;
use metrics_exporter_prometheus::PrometheusHandle;
use store::{Depths, Store};
use time::OffsetDateTime;

struct Admin {
    metrics: PrometheusHandle,
    store: Store,
}

/// Is the process there?
#[get("/live")]
async fn live() -> HttpResponse {
    HttpResponse::Ok().body("ok\n")
}

/// Can it do its work?
#[get("/ready")]
async fn ready(admin: web::Data<Admin>) -> HttpResponse {
    match admin.store.ping().await {
        Ok(_) => HttpResponse::Ok().body("ok\n"),
        Err(_) => HttpResponse::ServiceUnavailable().body("the database does not answer\n"),
    }
}

/// Metrics in the Prometheus text format.
#[get("/metrics")]
async fn scrape(admin: web::Data<Admin>) -> HttpResponse {
    let (in_use, open) = admin.store.pool_usage();
    metrics::gauge!("database_connections", "state" => "in_use").set(count(in_use));
    metrics::gauge!("database_connections", "state" => "open").set(count(open));
    match admin.store.depths(OffsetDateTime::now_utc()).await {
        Ok(depths) => publish(depths),
        Err(error) => tracing::debug!(%error, "the queues cannot be counted"),
    }
    HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(admin.metrics.render())
}

/// The queues. Every process of a database says the same of them.
fn publish(depths: Depths) {
    let Depths { due, in_flight, waiting, held, oldest_due_seconds, running_jobs, abandoned_jobs, failed_jobs } =
        depths;
    for (state, value) in [("due", due), ("in_flight", in_flight), ("waiting", waiting), ("held", held)] {
        metrics::gauge!("webhook_deliveries", "state" => state).set(value as f64);
    }
    metrics::gauge!("webhook_deliveries_oldest_due_seconds").set(oldest_due_seconds);
    for (state, value) in [("running", running_jobs), ("abandoned", abandoned_jobs), ("failed", failed_jobs)] {
        metrics::gauge!("job_runs", "state" => state).set(value as f64);
    }
}

fn count(connections: usize) -> f64 {
    u32::try_from(connections).map_or(f64::MAX, f64::from)
}

/// The server of the admin listener, on one thread.
pub fn server(listener: TcpListener, metrics: PrometheusHandle, store: Store) -> std::io::Result<Server> {
    let admin = web::Data::new(Admin { metrics, store });
    let server =
        HttpServer::new(move || App::new().app_data(admin.clone()).service(live).service(ready).service(scrape));
    Ok(server.listen(listener)?.workers(1).disable_signals().shutdown_timeout(1).run())
}
