//! A queue, a sender and a sealer in memory.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use async_trait::async_trait;
use domain::{
    AccountId, DeliveryId, EventId, StoreError, SubscriptionId,
    sealing::{MockSealer, Sealer},
    webhooks::{
        attempt::{Attempt, Outcome, Request, Sender, Timings},
        delivery::{Capacity, DeliveryQueue, Due, Failing, Lease, Leased, Receiver, Report},
        signature::Secret,
    },
};
use time::{OffsetDateTime, macros::datetime};
use tokio::{
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
    time::timeout,
};
use uuid::Uuid;

use crate::deliveries::{Options, Ports, run};

pub const NOW: OffsetDateTime = datetime!(2026-05-01 12:00 UTC);

pub fn receiver(account: i64) -> Receiver {
    Receiver { account: AccountId(account), subscription: SubscriptionId(account + 10) }
}

pub fn leased(account: i64, event: i64) -> Leased {
    Leased {
        lease: Lease { receiver: receiver(account), event: EventId(event), claim: 1 },
        id: DeliveryId(Uuid::from_u64_pair(account as u64, event as u64)),
        attempt: 1,
        attempt_of_round: 1,
        url: format!("https://receiver-{account}.example.com/"),
        sealed_secret: vec![1],
        sealed_previous: None,
        body: b"{}".to_vec(),
    }
}

pub fn secret(seed: u8) -> Secret {
    Secret::generate([seed; 32])
}

pub fn answered(status: u16) -> Attempt {
    Attempt {
        outcome: Outcome::Status(status),
        timings: Timings { total: Duration::from_millis(5), ..Timings::default() },
        answer: Vec::new(),
        retry_after: None,
        location: None,
    }
}

#[derive(Default)]
pub struct State {
    pub due: Vec<Leased>,
    pub recorded: Vec<Report>,
    pub released: Vec<Lease>,
    pub in_hands: usize,
    pub most_in_hands: usize,
    pub looks: usize,
    /// What the looks that go back began after.
    pub looked_since: Vec<Option<OffsetDateTime>>,
    /// How many receivers one of them takes in; none: all.
    pub receivers_in_look: Option<usize>,
    /// Whether steps in bulk fail, or never end.
    pub bulk: Bulk,
    /// How many calls fail before one succeeds.
    pub failing_leases: usize,
    pub failing_records: usize,
}

/// What becomes of steps in bulk.
#[derive(Debug, Clone, Copy, Default)]
pub enum Bulk {
    #[default]
    NothingToDo,
    Fails,
    Hangs,
}

/// The queue. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Queue(Arc<(Mutex<State>, watch::Sender<()>)>);

impl Queue {
    /// With deliveries due, as (account, event).
    pub fn with(due: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let due = due.into_iter().map(|(account, event)| leased(account, event)).collect();
        Self(Arc::new((Mutex::new(State { due, ..State::default() }), watch::Sender::new(()))))
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap()
    }

    /// Those with something due, each once.
    fn receivers(&self) -> Vec<Receiver> {
        let mut state = self.state();
        state.looks += 1;
        let mut receivers: Vec<_> = state.due.iter().map(|leased| leased.lease.receiver).collect();
        receivers.sort_unstable();
        receivers.dedup();
        receivers
    }

    fn changed(&self) {
        self.0.1.send_replace(());
    }
}

fn down() -> StoreError {
    StoreError::Unavailable("down".into())
}

#[async_trait]
impl DeliveryQueue for Queue {
    async fn due(&self, since: Option<OffsetDateTime>, _: OffsetDateTime) -> Result<Due, StoreError> {
        let receivers = self.receivers();
        let mut state = self.state();
        state.looked_since.push(since);
        let Some(at_once) = state.receivers_in_look else { return Ok(Due { receivers, cut_at: None }) };
        // Here the receivers became due in the order of their accounts, a second apart.
        let due_at = |receiver: &Receiver| NOW - time::Duration::DAY + time::Duration::seconds(receiver.account.0);
        let mut left: Vec<_> =
            receivers.into_iter().filter(|receiver| since.is_none_or(|since| due_at(receiver) > since)).collect();
        let is_cut = left.len() > at_once;
        left.truncate(at_once);
        let cut_at = left.last().filter(|_| is_cut).map(due_at);
        Ok(Due { receivers: left, cut_at })
    }

    async fn just_due(&self, _: OffsetDateTime, _: OffsetDateTime) -> Result<Vec<Receiver>, StoreError> {
        Ok(if self.state().receivers_in_look.is_none() { self.receivers() } else { Vec::new() })
    }

    async fn lease(&self, rooms: &[Capacity], _: Duration, _: OffsetDateTime) -> Result<Vec<Leased>, StoreError> {
        let mut state = self.state();
        if state.failing_leases > 0 {
            state.failing_leases -= 1;
            return Err(down());
        }
        let mut taken = Vec::new();
        for room in rooms {
            let of_receiver = |leased: &Leased| leased.lease.receiver == room.receiver;
            let (mut mine, others): (Vec<_>, Vec<_>) =
                std::mem::take(&mut state.due).into_iter().partition(of_receiver);
            state.due = others;
            state.due.extend(mine.split_off(mine.len().min(room.deliveries)));
            taken.extend(mine);
        }
        state.in_hands += taken.len();
        state.most_in_hands = state.most_in_hands.max(state.in_hands);
        drop(state);
        self.changed();
        Ok(taken)
    }

    async fn record(&self, reports: &[Report], _: OffsetDateTime) -> Result<Vec<Failing>, StoreError> {
        {
            let mut state = self.state();
            if state.failing_records > 0 {
                state.failing_records -= 1;
                return Err(down());
            }
            state.in_hands -= reports.len();
            state.recorded.extend_from_slice(reports);
        }
        self.changed();
        Ok(Vec::new())
    }

    async fn release(&self, leases: &[Lease], _: OffsetDateTime) -> Result<(), StoreError> {
        self.state().released.extend_from_slice(leases);
        Ok(())
    }

    async fn advance_bulk(&self, _: OffsetDateTime) -> Result<Option<Receiver>, StoreError> {
        let bulk = self.state().bulk;
        match bulk {
            Bulk::NothingToDo => Ok(None),
            Bulk::Fails => Err(down()),
            Bulk::Hangs => std::future::pending().await,
        }
    }
}

#[derive(Clone, Copy)]
pub enum Behaviour {
    /// With this status, in 5 ms.
    Answers(u16),
    /// Never for receivers of this one's account; 200 in 5 ms for others.
    HangsFor(Receiver),
    /// A defect of the sender itself.
    Panics,
}

#[async_trait]
impl Sender for Behaviour {
    async fn send(&self, request: Request) -> Attempt {
        let status = match self {
            Self::Answers(status) => *status,
            Self::HangsFor(hanging) if request.url.contains(&format!("receiver-{}.", hanging.account)) => {
                std::future::pending::<u16>().await
            }
            Self::HangsFor(_) => 200,
            Self::Panics => panic!("a defect"),
        };
        tokio::time::sleep(Duration::from_millis(5)).await;
        answered(status)
    }
}

/// Ports whose clock goes with the tokio time of the test.
pub fn ports(
    queue: impl DeliveryQueue + 'static,
    sender: impl Sender + 'static,
    sealer: impl Sealer + 'static,
) -> Ports {
    let start = tokio::time::Instant::now();
    Ports {
        queue: Arc::new(queue),
        sender: Arc::new(sender),
        sealer: Arc::new(sealer),
        clock: Arc::new(move || NOW + start.elapsed()),
        jitter: Arc::new(|| 0.0),
        trials: Arc::default(),
    }
}

/// An engine at work.
pub struct Running {
    queue: Queue,
    pub announce: mpsc::Sender<Receiver>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    pub fn start(queue: &Queue, behaviour: Behaviour, options: Options) -> Self {
        let mut sealer = MockSealer::new();
        sealer.expect_open().returning(|_, sealed| Ok(secret(sealed[0]).expose().as_bytes().to_vec()));
        let (announce, announced) = mpsc::channel(100);
        let (stop, stopped) = oneshot::channel();
        let ports = ports(queue.clone(), behaviour, sealer);
        let stopped = async { drop(stopped.await) };
        let task = tokio::spawn(run(ports, options, announced, stopped));
        Self { queue: queue.clone(), announce, stop, task }
    }

    /// Waits until the state of the queue is as wanted, at most ten minutes.
    pub async fn until(&self, wanted: impl Fn(&State) -> bool) {
        let mut changes = self.queue.0.1.subscribe();
        let waiting = async {
            while !wanted(&self.queue.state()) {
                changes.changed().await.unwrap();
            }
        };
        timeout(Duration::from_secs(600), waiting).await.expect("the state never came");
    }

    pub async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap();
    }
}
