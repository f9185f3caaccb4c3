//! The service is killed while it reads, and goes on.

use std::time::{Duration, Instant};

use super::{
    ledger::compare,
    rig::{Platform, Rig},
};

/// Requests of the platform after which the service is killed: while the shop is described, in the catalogue, and in
/// several windows of the history.
const KILLED_AFTER: [usize; 6] = [5, 18, 21, 24, 29, 34];

#[tokio::test]
async fn killed_anywhere_it_comes_to_the_same() {
    let mut rig = Rig::start(Platform::tiendanube(600)).await;
    let id = rig.connect().await;
    let slow = serde_json::json!({ "fault": "slow", "times": 1000, "value": 40 });
    rig.platform.happens("fault", &slow).await;
    let mut killed = 0;
    for after in KILLED_AFTER {
        let begun = Instant::now();
        while rig.platform.requests().await < after && begun.elapsed() < Duration::from_secs(60) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        rig.kill().await;
        killed += 1;
    }
    rig.wait_for_history(id).await;
    compare(&rig).await;
    println!("{killed} kills survived");
}
