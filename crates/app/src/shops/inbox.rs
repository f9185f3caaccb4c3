//! Acts on hooks that were taken in: what they name is read again with our own token.

use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
    future::Future,
    sync::Arc,
    time::Duration as Pause,
};

use domain::{
    AccountId, InboxId, StoreError,
    integrations::{Integration, RevokeReason},
    shops::{
        ShopError,
        hooks::{PrivacyRequest, Topic, TriggeredAt},
        inbox::{InboxEntry, Taken, Waiting},
        privacy::{NewRequest, PrivacyStore},
        sync::{DueSync, LeasedSync},
    },
    social::replies::PollHints,
};
use time::{Duration, OffsetDateTime};
use tokio::{
    sync::Semaphore,
    task::{Id, JoinSet},
    time::sleep,
};
use tracing::Instrument;

use super::{
    sync::{HEARTBEAT, LEASE_SECONDS, Syncer},
    tokens::AccessError,
    turn::{AGAIN_AFTER, Stopped, Turn},
    unknown_orders::UnknownOrders,
};
use crate::{outage, worker};

/// How often it is looked whether hooks wait.
const EVERY: Pause = Pause::from_secs(1);
/// Connections whose hooks are looked at.
const LOOKED_AT: i64 = 1_000;
/// Hooks of a connection that are acted on together.
const TAKEN: i64 = 200;
/// How long a process keeps hooks to itself without saying so again, which it does every [`HEARTBEAT`]: what one that dies had taken
/// waits for no longer, and with it all later hooks of the connection.
const HELD: Duration = Duration::minutes(2);
/// Attempts after which a hook is given up: the changes that it stands for are found by polling. Those of our own, which are
/// not, are put off for longer.
const MAX_ATTEMPTS: i64 = 12;

/// Acts on hooks.
#[derive(Clone)]
pub struct HookWorker {
    syncer: Syncer,
    privacy: Arc<dyn PrivacyStore>,
    questions: Arc<dyn PollHints>,
    unknown_orders: Arc<UnknownOrders>,
}

/// Connections whose hooks are acted on, or will be as soon as there is a place.
struct Acting {
    running: JoinSet<()>,
    connections: HashMap<Id, Waiting>,
    places: Arc<Semaphore>,
}

impl Acting {
    fn new(at_once: usize) -> Self {
        Self { running: JoinSet::new(), connections: HashMap::new(), places: Arc::new(Semaphore::new(at_once)) }
    }

    fn forget_ended(&mut self) {
        while let Some(ended) = self.running.try_join_next_with_id() {
            let id = match ended {
                Ok((id, ())) => id,
                Err(error) => {
                    tracing::error!(%error, "acting on hooks of a shop panicked");
                    error.id()
                }
            };
            self.connections.remove(&id);
        }
    }
}

/// What is to become of hooks.
#[derive(Default)]
struct Settled {
    done: Vec<InboxId>,
    /// To be acted on later, by themselves.
    later: Vec<(InboxId, OffsetDateTime)>,
}

impl HookWorker {
    pub fn new(syncer: Syncer, privacy: Arc<dyn PrivacyStore>, questions: Arc<dyn PollHints>) -> Self {
        Self { syncer, privacy, questions, unknown_orders: Arc::default() }
    }

    /// Acts on hooks until `stop`; those under way may end then, for some seconds: with them, a token would be lost that is being
    /// renewed, and they are held for [`HELD`].
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (mut stop, mut acting) = (std::pin::pin!(stop), Acting::new(self.syncer.at_once));
        loop {
            if let Err(error) = self.start_waiting(&mut acting).await {
                outage::warn(&error, "hooks of shops could not be looked up");
            }
            tokio::select! {
                () = &mut stop => break,
                () = sleep(EVERY) => {}
            }
        }
        // What waits for a place begins nothing any more.
        acting.places.close();
        worker::finish(acting.running).await;
    }

    /// Begins to act on what waits. A connection whose hooks take long, such as those of a large catalogue, keeps no other one
    /// waiting.
    async fn start_waiting(&self, acting: &mut Acting) -> Result<(), StoreError> {
        acting.forget_ended();
        let waiting = self.syncer.inbox.waiting(self.syncer.ports.now(), LOOKED_AT).await?;
        metrics::gauge!("shop_connections_with_hooks_waiting").set(u32::try_from(waiting.len()).unwrap_or(u32::MAX));
        for waiting in waiting {
            if acting.connections.values().any(|known| *known == waiting) {
                continue;
            }
            let (this, places) = (self.clone(), Arc::clone(&acting.places));
            let task = acting.running.spawn(async move {
                if let Ok(_place) = places.acquire().await {
                    this.act_in_span(waiting).await;
                }
            });
            acting.connections.insert(task.id(), waiting);
        }
        Ok(())
    }

    /// Acts on what waits now, to the end. For tests.
    ///
    /// # Errors
    /// Trouble with the database; what was taken is acted on again later.
    pub async fn tick(&self) -> Result<(), StoreError> {
        let mut acting = Acting::new(self.syncer.at_once);
        self.start_waiting(&mut acting).await?;
        acting.running.join_all().await;
        Ok(())
    }

    async fn act_in_span(&self, waiting: Waiting) {
        let Waiting { account, integration } = waiting;
        let span = tracing::error_span!("shop_hooks", account_id = account.0, integration = integration.0);
        if let Err(error) = self.act(waiting).instrument(span).await {
            outage::warn(&error, "hooks of a shop could not be acted on; trying again");
        }
    }

    async fn act(&self, waiting: Waiting) -> Result<(), StoreError> {
        let (ports, now) = (&self.syncer.ports, self.syncer.ports.now());
        let taken = self.syncer.inbox.take(waiting, now, now + HELD, TAKEN).await?;
        if taken.entries.is_empty() {
            return Ok(());
        }
        let settled = match ports.integrations.find(taken.account, taken.integration).await? {
            Some(integration) => tokio::select! {
                settled = self.settle(&taken, &integration) => settled?,
                never = self.hold(&taken) => match never {},
            },
            None => Settled { done: taken.entries.iter().map(|entry| entry.id).collect(), later: Vec::new() },
        };
        for (id, until) in settled.later {
            self.syncer.inbox.postpone(taken.account, &[id], until).await?;
        }
        self.syncer.inbox.done(taken.account, &settled.done, ports.now()).await
    }

    /// Keeps hooks from other processes while they are acted on: a large catalogue takes hours.
    async fn hold(&self, taken: &Taken) -> Infallible {
        let ids: Vec<_> = taken.entries.iter().map(|entry| entry.id).collect();
        loop {
            sleep(HEARTBEAT).await;
            let until = self.syncer.ports.now() + HELD;
            if let Err(error) = self.syncer.inbox.hold(taken.account, &ids, until).await {
                outage::warn(&error, "hooks of a shop could not be held; trying again");
            }
        }
    }

    /// First what needs no access to the shop, then what does.
    async fn settle(&self, taken: &Taken, integration: &Integration) -> Result<Settled, StoreError> {
        let mut settled = Settled::default();
        let mut to_read = Vec::new();
        for entry in &taken.entries {
            if needs_access(&entry.topic) && integration.revoked_at.is_none() {
                to_read.push(entry);
            } else if entry.is_ours() {
                // A shop that is connected again is read on from where it ended.
                settled.later.push((entry.id, self.syncer.ports.now() + AGAIN_AFTER));
            } else {
                self.note(taken, integration, entry).await?;
                settled.done.push(entry.id);
            }
        }
        self.read(taken, &to_read, &mut settled).await?;
        Ok(settled)
    }

    /// Acts on a hook that names nothing to be read.
    async fn note(&self, taken: &Taken, integration: &Integration, entry: &InboxEntry) -> Result<(), StoreError> {
        let (ports, Taken { account, integration: id, .. }) = (&self.syncer.ports, taken);
        match &entry.topic {
            Topic::Privacy(request) => self.respect(taken, entry, request.clone()).await?,
            // Should the clocks differ and the token be dead, the next call finds out.
            Topic::Uninstalled(at) if is_from_before(*at, entry, integration) => {
                ports.syncs.hint(*account, *id, ports.now()).await?;
            }
            Topic::Uninstalled(Some(_)) => ports.end(*account, *id, RevokeReason::Uninstalled, None).await?,
            Topic::Uninstalled(None) => self.verify_removal(*account, integration).await?,
            Topic::Suspended | Topic::Resumed => {
                let suspended = entry.topic == Topic::Suspended;
                ports.connections.suspend(*account, *id, suspended, ports.now()).await?;
            }
            Topic::ScopesChanged => {
                ports.syncs.hint(*account, *id, ports.now()).await?;
            }
            Topic::Order(None) => ports.syncs.hint_of_change(*account, *id, ports.now()).await?,
            Topic::Question => self.questions.poll_soon(*account, *id, ports.now()).await?,
            Topic::Order(Some(_)) | Topic::Catalogue | Topic::Other => {}
        }
        Ok(())
    }

    /// Ends a connection that is said to be removed, without when, if its token is dead: it may be the removal of before the
    /// shop was connected again that is told once more.
    async fn verify_removal(&self, account: AccountId, integration: &Integration) -> Result<(), StoreError> {
        let (ports, id) = (&self.syncer.ports, integration.id);
        let Ok(connector) = ports.connectors.get(integration.provider) else { return Ok(()) };
        let held = match ports.access(account, id).await {
            Ok(held) => held,
            Err(AccessError::Ended) => return Ok(()),
            Err(AccessError::Store(error)) => return Err(error),
            Err(_) => return ports.syncs.hint(account, id, ports.now()).await.map(drop),
        };
        match connector.reader.shop(&held.access).await {
            Err(ShopError::Unauthorized) => {
                ports.end(account, id, RevokeReason::Uninstalled, Some(held.generation)).await
            }
            // Should the platform have been too early with its hook, the next run finds out.
            _ => ports.syncs.hint(account, id, ports.now()).await.map(drop),
        }
    }

    /// Logs a privacy request, and does it at once where that needs nobody.
    async fn respect(&self, taken: &Taken, entry: &InboxEntry, request: PrivacyRequest) -> Result<(), StoreError> {
        let is_for_data = matches!(request, PrivacyRequest::Data { .. });
        let new = NewRequest { hook: entry.id, request, received_at: entry.received_at };
        let id = self.privacy.log(taken.account, taken.integration, new).await?;
        if is_for_data {
            tracing::warn!(request = id.0, "a buyer asks for their data: see `api integrations privacy`");
            return Ok(());
        }
        let done = self.privacy.redact(taken.account, id, self.syncer.ports.now()).await?.unwrap_or_default();
        tracing::info!(request = id.0, customers = done.customers, orders = done.orders, "buyers were forgotten");
        Ok(())
    }

    /// Reads what hooks name.
    async fn read(&self, taken: &Taken, entries: &[&InboxEntry], settled: &mut Settled) -> Result<(), StoreError> {
        if entries.is_empty() {
            return Ok(());
        }
        let (ports, Taken { account, integration, .. }) = (&self.syncer.ports, taken);
        let due = DueSync { account: *account, integration: *integration };
        let Some(leased) = ports.syncs.lease(due, LEASE_SECONDS).await? else {
            postpone(entries, ports.now(), settled);
            return Ok(());
        };
        let (lease, due_at) = (leased.lease, leased.due_at);
        if let Some(until) = pause_of(&leased, ports.now()) {
            postpone(entries, until, settled);
            return ports.syncs.pause(lease, until).await;
        }
        let reading = async {
            let mut turn = Turn::new(&self.syncer, leased).await?;
            let orders = self.read_orders(&mut turn, entries, settled).await;
            let catalogue = self.read_catalogue(&mut turn, entries, settled).await;
            // What made it due meanwhile, such as being asked for, is still to be done.
            orders.and(catalogue).map(|()| due_at.min(turn.due_again()))
        };
        let read = self.syncer.holding(lease, reading).await;
        match &read {
            Ok(_) => {
                let postponed: BTreeSet<_> = settled.later.iter().map(|(id, _)| *id).collect();
                settled.done.extend(entries.iter().map(|entry| entry.id).filter(|id| !postponed.contains(id)));
            }
            Err(stopped) => {
                tracing::info!(?stopped, "hooks of a shop are acted on later");
                settled.later.clear();
                postpone(entries, ports.now(), settled);
            }
        }
        // What hooks name may fail for itself: it makes nothing else late.
        let read = if matches!(read, Err(Stopped::Failed)) { Ok(due_at) } else { read };
        self.syncer.release(lease, read).await;
        Ok(())
    }

    /// Reads the orders that hooks name, each once; of those that are not known here, no more than may turn out to be none.
    async fn read_orders(
        &self,
        turn: &mut Turn<'_>,
        entries: &[&InboxEntry],
        settled: &mut Settled,
    ) -> Result<(), Stopped> {
        let (now, connection) = (self.syncer.ports.now(), turn.id());
        let mut ids: Vec<String> = entries.iter().filter_map(|entry| named(entry)).cloned().collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(());
        }
        let (mut known, mut left) = (turn.known(&ids).await?, self.unknown_orders.left(connection, now));
        // The platform itself named them.
        known.extend(entries.iter().filter(|entry| entry.is_ours()).filter_map(|entry| named(entry)).cloned());
        let is_full = left == 0;
        let (asked, put_off): (Vec<String>, Vec<String>) = ids.into_iter().partition(|id| {
            let (is_known, has_room) = (known.contains(id), left > 0);
            left -= usize::from(has_room && !is_known);
            is_known || has_room
        });
        if is_full && !put_off.is_empty() {
            tracing::warn!(
                orders = put_off.len(),
                "hooks name too many orders that are not there; polling finds those that are"
            );
        } else {
            let waiting = entries.iter().filter(|entry| named(entry).is_some_and(|id| put_off.contains(id)));
            settled.later.extend(waiting.map(|entry| (entry.id, now)));
        }
        if asked.is_empty() {
            return Ok(());
        }
        let absent = turn.read_orders(asked).await?;
        self.unknown_orders.were_absent(connection, usize::try_from(absent).unwrap_or(usize::MAX), now);
        Ok(())
    }

    /// Reads the catalogue, unless that was done a moment ago.
    async fn read_catalogue(
        &self,
        turn: &mut Turn<'_>,
        entries: &[&InboxEntry],
        settled: &mut Settled,
    ) -> Result<(), Stopped> {
        let hooks = || entries.iter().filter(|entry| entry.topic == Topic::Catalogue);
        let Some(newest) = hooks().map(|entry| entry.received_at).max() else { return Ok(()) };
        let (read_at, now) = (turn.catalogue_read_at(), self.syncer.ports.now());
        // The last pass saw what they tell of.
        if read_at.is_some_and(|at| at >= newest) {
            return Ok(());
        }
        if let Some(until) = self.syncer.catalogues.rests_until(turn.id(), read_at, now) {
            settled.later.extend(hooks().map(|entry| (entry.id, until)));
            return Ok(());
        }
        turn.catalogue().await
    }
}

/// Whether the app was removed before the shop was connected last: such a hook says nothing of now, however late it comes.
fn is_from_before(at: Option<TriggeredAt>, entry: &InboxEntry, integration: &Integration) -> bool {
    at.map_or(entry.received_at, |TriggeredAt(at)| at.min(entry.received_at)) < integration.connected_at
}

const fn needs_access(topic: &Topic) -> bool {
    matches!(topic, Topic::Order(Some(_)) | Topic::Catalogue)
}

/// How long hooks that anybody may have sent lead to no call, since the platform asked for a pause or failed. Not at all when
/// somebody asked for the shop to be read.
fn pause_of(leased: &LeasedSync, now: OffsetDateTime) -> Option<OffsetDateTime> {
    let is_signed = leased.integration.provider.signs_hooks();
    leased.paused_until.filter(|until| !is_signed && now < *until && *until <= leased.due_at)
}

/// The order that a hook names.
const fn named(entry: &InboxEntry) -> Option<&String> {
    match &entry.topic {
        Topic::Order(order) => order.as_ref(),
        _ => None,
    }
}

/// Puts hooks back, each time for twice as long; after many attempts polling has found what they tell of, but for our own.
fn postpone(entries: &[&InboxEntry], now: OffsetDateTime, settled: &mut Settled) {
    for entry in entries {
        if entry.attempts >= MAX_ATTEMPTS {
            if entry.is_ours() {
                settled.later.push((entry.id, now + AGAIN_AFTER));
            } else {
                settled.done.push(entry.id);
            }
            continue;
        }
        let doublings = u32::try_from(entry.attempts.saturating_sub(1)).unwrap_or_default().min(10);
        settled.later.push((entry.id, now + Duration::seconds(5) * 2_i32.pow(doublings)));
    }
}
