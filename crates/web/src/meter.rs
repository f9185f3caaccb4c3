//! The metrics of requests.

use std::{cell::RefCell, collections::HashMap, time::Duration};

use metrics::{Counter, Histogram};

/// Of a route, and of the status of its answers.
type Meters = HashMap<(&'static str, u16), (Counter, Histogram)>;

thread_local! {
    /// Looked up once a thread for each route and status, of which there are few.
    static METERS: RefCell<Meters> = RefCell::default();
}

/// Counts an answered request.
pub fn count(route: &'static str, status: u16, took: Duration) {
    METERS.with_borrow_mut(|meters| {
        let (requests, seconds) = meters.entry((route, status)).or_insert_with(|| {
            let requests = metrics::counter!("http_requests_total", "route" => route, "status" => status.to_string());
            (requests, metrics::histogram!("http_request_duration_seconds", "route" => route))
        });
        requests.increment(1);
        seconds.record(took.as_secs_f64());
    });
}
