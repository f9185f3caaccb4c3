//! Notifications of the database: a connection of its own that LISTENs.

use std::{future::poll_fn, time::Duration};

use domain::StoreError;
use tokio::{sync::mpsc, time::timeout};
use tokio_postgres::{AsyncMessage, Client};

use crate::database::{
    error::driver_text,
    pool::{Connect, Driver},
};

/// How long the server may take to answer on the connection before it counts as gone.
const CHECK_TIMEOUT: Duration = Duration::from_millis(400);

/// Notifications that wait to be taken; the connection is given up when a reader is that far behind.
const BACKLOG: usize = 10_000;

/// A notification: the channel it came on and its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    pub channel: String,
    pub payload: String,
}

/// A connection that listens. Dropping it closes the connection.
pub struct Listener {
    client: Client,
    notifications: mpsc::Receiver<Notification>,
}

impl Listener {
    /// Connects and listens on the channels.
    #[expect(clippy::disallowed_methods, reason = "it ends with its connection, which its user notices")]
    pub async fn connect(connect: &Connect, channels: &[&str]) -> Result<Self, StoreError> {
        let (sender, notifications) = mpsc::channel(BACKLOG);
        let (client, driver) = connect.open().await.map_err(|error| away(&error))?;
        tokio::spawn(forward(driver, sender));
        let listen: String = channels.iter().map(|channel| format!("LISTEN {channel};")).collect();
        client.batch_execute(&listen).await.map_err(|error| away(&error))?;
        Ok(Self { client, notifications })
    }

    /// The next notification; none when the connection is gone.
    pub async fn next(&mut self) -> Option<Notification> {
        self.notifications.recv().await
    }

    /// A notification that has arrived already.
    pub fn pending(&mut self) -> Option<Notification> {
        self.notifications.try_recv().ok()
    }

    /// Asks the server to answer. Every notification sent before the answer has been received by then.
    pub async fn check(&self) -> Result<(), StoreError> {
        match timeout(CHECK_TIMEOUT, self.client.batch_execute("")).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(away(&error)),
            Err(_) => Err(StoreError::Unavailable("the notification connection does not answer".into())),
        }
    }
}

/// Whatever is wrong, nothing is heard.
fn away(error: &tokio_postgres::Error) -> StoreError {
    StoreError::Unavailable(driver_text(error).into())
}

/// Drives the connection and passes notifications on until one side is gone.
async fn forward(mut driver: Driver, sender: mpsc::Sender<Notification>) {
    while let Some(Ok(message)) = poll_fn(|context| driver.poll_message(context)).await {
        if let AsyncMessage::Notification(notification) = message {
            let notification =
                Notification { channel: notification.channel().to_owned(), payload: notification.payload().to_owned() };
            if sender.try_send(notification).is_err() {
                return;
            }
        }
    }
}
