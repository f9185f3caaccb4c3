//! Ending before the work is done.

use tokio::sync::watch;

/// How far a stop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shutdown {
    /// Nobody has asked to stop.
    Running,
    /// No run begins; those that are under way may end.
    Draining,
    /// Runs that are still under way are broken off and give their claims back.
    Aborting,
}

/// Tells runs to stop.
#[derive(Debug, Clone)]
pub struct Stop(Option<watch::Receiver<Shutdown>>);

impl Stop {
    /// Nobody will ask to stop.
    pub fn never() -> Self {
        Self(None)
    }

    /// Follows what a sender says. When the sender goes away, its last word stands.
    pub fn following(stage: watch::Receiver<Shutdown>) -> Self {
        Self(Some(stage))
    }

    /// Whether no run is to begin any more.
    pub fn is_asked(&self) -> bool {
        self.0.as_ref().is_some_and(|stage| *stage.borrow() > Shutdown::Running)
    }

    /// Waits until runs are to be broken off.
    pub async fn over(&self) {
        if let Some(stage) = &self.0
            && stage.clone().wait_for(|stage| *stage == Shutdown::Aborting).await.is_ok()
        {
            return;
        }
        std::future::pending().await
    }
}
