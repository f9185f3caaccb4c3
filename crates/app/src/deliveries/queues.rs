//! Fair scheduling of deliveries: a queue per endpoint, served round-robin; the queues of an account share a limit.

use std::collections::{HashMap, VecDeque, hash_map::Entry};

use domain::{
    AccountId,
    webhooks::{
        breaker::{Breaker, Observation},
        delivery::{Capacity, Leased, Receiver},
    },
};
use time::OffsetDateTime;

/// How long an idle queue is remembered after its receiver failed.
const FORGET_AFTER: time::Duration = time::Duration::minutes(15);

#[derive(Debug, Default)]
struct EndpointQueue {
    in_flight: usize,
    /// Something is due, as far as is known.
    waiting: bool,
    /// Whether it stands in line.
    in_line: bool,
    /// Deliveries for it may be leased already, and are not counted yet.
    leasing: bool,
    breaker: Breaker,
}

impl EndpointQueue {
    fn is_idle(&self) -> bool {
        self.in_flight == 0 && !self.waiting && !self.in_line && !self.leasing
    }
}

/// The queues of all endpoints. They are an estimate of the due deliveries in the database, which decides.
#[derive(Debug, Default)]
pub(super) struct EndpointQueues {
    queues: HashMap<Receiver, EndpointQueue>,
    line: VecDeque<Receiver>,
    in_flight: usize,
    /// Of accounts that have any.
    in_flight_of: HashMap<AccountId, usize>,
}

/// How many deliveries may be under way at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// More than there are now, to all receivers.
    pub free: usize,
    /// To all receivers of one account.
    pub per_account: usize,
    /// To one receiver.
    pub per_receiver: usize,
}

impl EndpointQueues {
    /// Something is due for this receiver.
    pub(super) fn announce(&mut self, receiver: Receiver) {
        let queue = self.queues.entry(receiver).or_default();
        queue.waiting = true;
        if !queue.in_line {
            queue.in_line = true;
            self.line.push_back(receiver);
        }
    }

    /// Deliveries under way.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// What to lease now: for each receiver in turn as much as its limit and its account's allow.
    pub(super) fn plan(&mut self, limits: Limits, now: OffsetDateTime) -> Vec<Capacity> {
        let Limits { mut free, per_account, per_receiver } = limits;
        let mut rooms = Vec::new();
        let mut planned: HashMap<AccountId, usize> = HashMap::new();
        // Receivers of accounts that have all they may have. They are few: it takes as many busy accounts to fill the places.
        let mut kept_back = Vec::new();
        while free > 0
            && let Some(receiver) = self.line.pop_front()
        {
            let Some(queue) = self.queues.get_mut(&receiver) else { continue };
            let of_account = planned.entry(receiver.account).or_default();
            let taken = self.in_flight_of.get(&receiver.account).copied().unwrap_or_default() + *of_account;
            if taken >= per_account && queue.waiting {
                kept_back.push(receiver);
                continue;
            }
            queue.in_line = false;
            let room = queue.breaker.allowance(now, per_receiver).saturating_sub(queue.in_flight);
            let room = room.min(per_account.saturating_sub(taken)).min(free);
            // A full queue stands in line again when an attempt ends, one with an open breaker when it closes.
            if room > 0 && queue.waiting {
                queue.waiting = false;
                queue.leasing = true;
                free -= room;
                *of_account += room;
                rooms.push(Capacity { receiver, deliveries: room });
            }
        }
        self.line.extend(kept_back);
        rooms
    }

    /// What was leased of what was asked for. A receiver that got as much as it had room for may have more.
    pub(super) fn leased(&mut self, rooms: &[Capacity], leased: &[Leased]) {
        let mut counts: HashMap<Receiver, usize> = HashMap::new();
        for leased in leased {
            *counts.entry(leased.lease.receiver).or_default() += 1;
        }
        for room in rooms {
            let count = counts.get(&room.receiver).copied().unwrap_or_default();
            self.in_flight += count;
            if count > 0 {
                *self.in_flight_of.entry(room.receiver.account).or_default() += count;
            }
            if let Some(queue) = self.queues.get_mut(&room.receiver) {
                queue.leasing = false;
                queue.in_flight += count;
            }
            if count >= room.deliveries {
                self.announce(room.receiver);
            }
            self.forget_if_idle(room.receiver);
        }
    }

    /// Nothing could be leased of what was asked for: it is due still.
    pub(super) fn not_leased(&mut self, rooms: &[Capacity]) {
        for room in rooms {
            if let Some(queue) = self.queues.get_mut(&room.receiver) {
                queue.leasing = false;
            }
            self.announce(room.receiver);
        }
    }

    /// An attempt ended; `seen` is `None` when nothing was sent.
    pub(super) fn ended(&mut self, receiver: Receiver, seen: Option<Observation>, now: OffsetDateTime) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Entry::Occupied(mut of_account) = self.in_flight_of.entry(receiver.account) {
            *of_account.get_mut() -= 1;
            if *of_account.get() == 0 {
                of_account.remove();
            }
        }
        let Some(queue) = self.queues.get_mut(&receiver) else { return };
        queue.in_flight = queue.in_flight.saturating_sub(1);
        if let Some(seen) = seen {
            queue.breaker.record(seen, now);
        }
        if queue.waiting {
            self.announce(receiver);
        }
        self.forget_if_idle(receiver);
    }

    /// Lets queues whose breaker may have closed stand in line again, and forgets old ones.
    pub(super) fn sweep(&mut self, now: OffsetDateTime) {
        self.queues.retain(|_, queue| {
            let old = queue.breaker.failing_until().is_none_or(|until| until + FORGET_AFTER < now);
            !(queue.is_idle() && old)
        });
        for (receiver, queue) in &mut self.queues {
            if queue.waiting && !queue.in_line {
                queue.in_line = true;
                self.line.push_back(*receiver);
            }
        }
    }

    fn forget_if_idle(&mut self, receiver: Receiver) {
        let forgettable = |queue: &EndpointQueue| queue.is_idle() && !queue.breaker.is_failing();
        if self.queues.get(&receiver).is_some_and(forgettable) {
            self.queues.remove(&receiver);
        }
    }
}
