//! Notifications of deliveries that become due.

use std::time::Duration;

use domain::{error::Chain, webhooks::delivery::Receiver};
use tokio::sync::mpsc;

use super::receiver;
use crate::{Connect, Listener, webhooks::outbox::DELIVERIES_CHANNEL};

/// How long to wait before the connection is opened again.
const RECONNECT: Duration = Duration::from_secs(1);

/// Passes on which receivers have something due, until there is no listener. What is missed while there is no
/// connection, or while the other side is behind, is found by polling.
pub async fn forward_due(connect: Connect, due: mpsc::Sender<Receiver>) {
    let mut warned = String::new();
    while !due.is_closed() {
        match Listener::connect(&connect, &[DELIVERIES_CHANNEL]).await {
            Ok(listener) => {
                warned.clear();
                forward(listener, &due).await;
            }
            Err(error) => {
                let error = Chain(&error).to_string();
                if warned != error {
                    tracing::warn!(error, "cannot listen for deliveries; they are found by polling");
                    warned = error;
                }
            }
        }
        tokio::select! {
            () = due.closed() => {}
            () = tokio::time::sleep(RECONNECT) => {}
        }
    }
}

async fn forward(mut listener: Listener, due: &mpsc::Sender<Receiver>) {
    loop {
        let notification = tokio::select! {
            () = due.closed() => return,
            notification = listener.next() => notification,
        };
        let Some(notification) = notification else { return };
        for receiver in receivers(&notification.payload) {
            if let Err(mpsc::error::TrySendError::Closed(_)) = due.try_send(receiver) {
                return;
            }
        }
    }
}

/// Reads `account:subscription,subscription`; anything else names no receiver.
fn receivers(payload: &str) -> impl Iterator<Item = Receiver> {
    let (account, subscriptions) = payload.split_once(':').unwrap_or_default();
    let account = account.parse::<i64>().ok();
    subscriptions.split(',').filter_map(move |subscription| Some(receiver(account?, subscription.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_names_receivers() {
        assert_eq!(receivers("7:1,22").collect::<Vec<_>>(), [receiver(7, 1), receiver(7, 22)]);
        for other in ["", "7", "7:", "x:1", ":1"] {
            assert_eq!(receivers(other).count(), 0, "{other}");
        }
    }
}
