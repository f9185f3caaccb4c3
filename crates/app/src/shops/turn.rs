//! A connection's turn: what is due of each stream is read and stored, window by window, while the lease holds.
//!
//! A cursor moves after its window is stored, so a process that is killed at any line leaves a window that is read again, to
//! the same rows.

mod ads;

use std::{
    collections::{BTreeSet, VecDeque},
    sync::Arc,
};

use domain::{
    IntegrationId, StoreError,
    accounts::{Account, Platform},
    error::Chain,
    imports::ShopSource,
    integrations::{ErrorCode, Integration, RevokeReason},
    shops::{
        Purpose, ShopError, ShopInfo, ShopReader, Timing, Window,
        connections::Description,
        hooks::{Hook, Topic},
        inbox,
        known_orders::Position,
        sync::{
            Counts, Cursor, EndedRun, INTERVAL, LeasedSync, MAX_PAUSE, Outcome, Progress, Refusal, RunError, Stream,
            SyncLease, next_due,
        },
    },
    zone::Zone,
};
use time::{Date, Duration, OffsetDateTime};
use tokio::time::{Instant, timeout};

use super::{
    connect::description,
    copies::Copies,
    imports::{ImportFailure, Importing, Tally},
    sync::Syncer,
    tokens::{AccessError, Held},
    windows::Windows,
};

/// Orders that are read again by their numbers at a time: the most that Shopify is asked for at once. On Mercado Libre they take
/// some minutes.
const REREAD_AT_ONCE: i64 = 250;
/// How long after a read that found nothing wrong an ad account is due again: its figures are not of the minute.
const AD_INTERVAL: Duration = Duration::HOUR;
/// How far a platform's clock may be ahead of ours.
const MAX_AHEAD: Duration = Duration::DAY;
/// How soon a connection is looked at again whose token another process is renewing.
const BUSY_PAUSE: Duration = Duration::seconds(10);
/// How soon an order is read again that the platform failed to show whole. That it fails may last: it is not asked for often.
pub(super) const AGAIN_AFTER: Duration = Duration::hours(6);
/// How soon a connection is looked at again after trouble here.
const TROUBLE_PAUSE: Duration = Duration::minutes(1);
/// How long the platform has to take the address of hooks.
const SUBSCRIBED_WITHIN: std::time::Duration = std::time::Duration::from_secs(30);

/// A connection that this process reads.
pub(super) struct Turn<'a> {
    syncer: &'a Syncer,
    lease: SyncLease,
    integration: Integration,
    cursors: Vec<Cursor>,
    /// When each of the streams that failed before this turn failed last.
    last_failures: Vec<Cursor>,
    /// Where the reading of young orders goes on.
    rereading: Option<Progress>,
    account: Account,
    /// The clock of the days of ads.
    zone: Zone,
    reader: Arc<dyn ShopReader>,
    timing: Timing,
    held: Held,
    /// Whether the token was renewed for not being accepted, and nothing was read since: that helps once.
    is_renewed: bool,
    copies: Copies,
    /// How often in a row what is read in every turn has failed: what is read every night makes nothing late.
    failures: i64,
}

/// Why a turn ends before everything is read.
#[derive(Debug)]
pub(super) enum Stopped {
    /// Nobody has the right to read the connection any more, or another process has.
    Lost,
    /// There is nothing to be done before that instant.
    Wait(OffsetDateTime),
    /// A stream failed, and is noted.
    Failed,
    Store(StoreError),
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// What is read of a stream in one run.
enum Reading {
    Window(Window, Purpose),
    Orders(Vec<String>),
    /// Known ones, in the night.
    Again(Vec<String>),
    Catalogue,
    /// Both days are read.
    Ads {
        from: Date,
        until: Date,
    },
}

impl<'a> Turn<'a> {
    /// Prepares to read a connection.
    pub async fn new(syncer: &'a Syncer, leased: LeasedSync) -> Result<Self, Stopped> {
        let (ports, lease) = (&syncer.ports, leased.lease);
        let account = ports.accounts.find(lease.account).await?.ok_or(Stopped::Lost)?;
        let provider = leased.integration.provider;
        let later = || Stopped::Wait(ports.now() + MAX_PAUSE);
        let connector = ports.connectors.for_mode(provider, account.mode).map_err(|error| {
            tracing::warn!(%error, "a connection cannot be read");
            later()
        })?;
        let reader = connector.reader.clone();
        let held = match ports.access(lease.account, lease.integration).await {
            Ok(held) => held,
            Err(AccessError::Shop(error)) => return Err(unread(syncer, &leased, error).await),
            Err(error) => return Err(no_access(ports.now(), error)),
        };
        let copies = Copies::of(ports, lease.account, provider).await?;
        Ok(Self {
            syncer,
            lease,
            integration: leased.integration,
            cursors: leased.cursors,
            last_failures: leased.failed,
            rereading: leased.rereading,
            zone: account.timezone.clone(),
            account,
            timing: reader.timing(),
            reader,
            held,
            is_renewed: false,
            copies,
            failures: 0,
        })
    }

    /// Reads what is due, until `until`. Gives when the connection is due again.
    pub async fn read(&mut self, until: Instant) -> Result<OffsetDateTime, Stopped> {
        let present = match self.look_at_shop().await {
            // It is noted with the stream that is read first, and makes its pauses longer as that one's failures do.
            Err(Stopped::Failed) => return Err(Stopped::Wait(next_due(self.failures, self.now()))),
            looked => looked?,
        };
        self.measure_age();
        if self.is_shop() {
            self.read_sales(present).await?;
        }
        // What fails on and on of the past alone keeps no order of today waiting.
        let fails_now = self.failures > 0;
        // Where young orders take several turns, the history goes on first in each but the first one: there may be no end of them.
        let (mut is_filled, goes_first) = (false, self.rereading.is_some());
        if goes_first {
            is_filled = self.fill(until).await?;
        }
        let is_reread = !self.is_shop() || self.reread_if_due(until).await?;
        if !goes_first {
            is_filled = self.fill(until).await?;
        }
        if let Some(timing) = self.timing.ads.filter(|_| !self.is_shop() || self.is_due(Stream::Ads)) {
            go_on(self.ads(timing, present).await)?;
        }
        let now = self.now();
        let due = match self.failures {
            0 if !is_filled || !is_reread => now,
            0 if !self.is_shop() => now + AD_INTERVAL,
            failures => next_due(failures, now),
        };
        if fails_now { Err(Stopped::Wait(due)) } else { Ok(due) }
    }

    /// What happened in the shop since the last time, and the catalogue every night.
    async fn read_sales(&mut self, present: OffsetDateTime) -> Result<(), Stopped> {
        go_on(self.changes(present).await)?;
        if self.is_due(Stream::Catalogue) {
            go_on(self.nightly().await)?;
        }
        Ok(())
    }

    /// Young orders every night. False when they are left for the next turn.
    async fn reread_if_due(&mut self, until: Instant) -> Result<bool, Stopped> {
        let Some(age) = self.timing.reread.filter(|_| self.is_due(Stream::Reread)) else { return Ok(true) };
        match self.reread(age, until).await {
            Err(Stopped::Failed) => Ok(true),
            read => read,
        }
    }

    /// The history. True when all of it is read.
    async fn fill(&mut self, until: Instant) -> Result<bool, Stopped> {
        match self.back_fill(until).await {
            Err(Stopped::Failed) => Ok(false),
            filled => filled,
        }
    }

    /// Whether anything is sold there; else all that is read is advertising.
    fn is_shop(&self) -> bool {
        self.integration.provider.is_shop()
    }

    /// What is read first in every turn.
    fn first(&self) -> Stream {
        first_of(self.integration.provider)
    }

    /// Whether a stream is what the connection is there for, read in every turn as far as there is anything to read.
    fn is_of_every_turn(&self, stream: Stream) -> bool {
        stream == Stream::BackFill || stream == self.first()
    }

    /// Whether an error of one stream is one of the others as well: a catalogue that cannot be reached keeps no orders from
    /// being read.
    fn ends_turn(&self, stream: Stream, error: &ShopError) -> bool {
        *error == ShopError::Suspended || (matches!(error, ShopError::Unavailable(_)) && self.is_of_every_turn(stream))
    }

    /// When the connection is due again that was read for the sake of a hook: as it was before.
    pub fn due_again(&self) -> OffsetDateTime {
        let read_at = self.cursor(Stream::Changes).unwrap_or(self.integration.connected_at);
        if self.is_filled() { read_at + INTERVAL } else { self.now() }
    }

    fn is_filled(&self) -> bool {
        self.history_left(self.cursor(Stream::BackFill)).current().is_none()
    }

    /// What of the history is to be read next, which has come down to `filled_from`.
    fn history_left(&self, filled_from: Option<OffsetDateTime>) -> Windows {
        let connected_at = self.integration.connected_at;
        let oldest = connected_at - self.timing.history;
        let floor = self.integration.history_from.map_or(oldest, |from| from.max(oldest));
        Windows::of_back_fill((connected_at, filled_from.unwrap_or(connected_at)), floor, &self.timing)
    }

    /// When the last pass over the catalogue began.
    pub fn catalogue_read_at(&self) -> Option<OffsetDateTime> {
        self.cursor(Stream::Catalogue)
    }

    fn now(&self) -> OffsetDateTime {
        self.syncer.ports.now()
    }

    fn cursor(&self, stream: Stream) -> Option<OffsetDateTime> {
        at(&self.cursors, stream)
    }

    fn failed_at(&self, stream: Stream) -> Option<OffsetDateTime> {
        at(&self.last_failures, stream)
    }

    pub fn id(&self) -> IntegrationId {
        self.integration.id
    }

    fn measure_age(&self) {
        let cursor = self.cursor(self.first()).unwrap_or(self.integration.connected_at);
        let age = (self.now() - cursor).as_seconds_f64().max(0.0);
        metrics::gauge!("shop_cursor_age_seconds", "provider" => self.integration.provider.as_str()).set(age);
    }

    /// Once per day of the account. What failed is tried with each turn, but not while turns follow each other at once.
    fn is_due(&self, stream: Stream) -> bool {
        let day = |at| self.account.timezone.day_of(at);
        let is_old = self.cursor(stream).is_none_or(|at| day(at) < day(self.now()));
        let may_be_tried = self.failed_at(stream).is_none_or(|at| at + INTERVAL <= self.now()) || self.is_filled();
        (is_old && may_be_tried) || (stream == Stream::Catalogue && self.copies_changed())
    }

    /// Notes what the shop says of itself, and gives the platform's present.
    async fn look_at_shop(&mut self) -> Result<OffsetDateTime, Stopped> {
        let (info, present) = loop {
            match self.reader.shop(&self.held.access).await {
                Ok(found) => break found,
                Err(error) => {
                    if let Err(error) = self.renew_once(error).await? {
                        return Err(self.failed(self.first(), None, self.now(), Tally::default(), error).await);
                    }
                }
            }
        };
        self.is_renewed = false;
        // Cursors would move there, and nothing be read until then, nor ever what happened before.
        if present > self.now() + MAX_AHEAD {
            let error = ShopError::Malformed("its clock is more than a day ahead of ours".to_owned());
            return Err(self.failed(self.first(), None, self.now(), Tally::default(), error).await);
        }
        let ports = &self.syncer.ports;
        if self.integration.suspended {
            ports.connections.suspend(self.lease.account, self.id(), false, self.now()).await?;
        }
        if let Some(zone) = &info.timezone {
            self.zone = zone.clone();
        }
        if self.is_shop() && info.currency != self.account.currency {
            let error = ShopError::Rejected(format!("the shop's currency is {} now", info.currency));
            return Err(self.failed(self.first(), None, self.now(), Tally::default(), error).await);
        }
        self.describe(&info).await?;
        Ok(present)
    }

    async fn describe(&mut self, info: &ShopInfo) -> Result<(), StoreError> {
        let mut new = description(info, self.held.access.scopes.clone());
        let old = &self.integration;
        if info.shows_buyers.is_none() {
            new.buyer_data = old.buyer_data;
        }
        // Some permissions are known to be missing from a refusal alone: they are so while what was granted is the same.
        if old.scopes == new.scopes {
            let is_learnt = |scope: &&String| !new.missing_scopes.contains(scope) && !new.scopes.contains(scope);
            let learnt: Vec<String> = old.missing_scopes.iter().filter(is_learnt).cloned().collect();
            new.missing_scopes.extend(learnt);
        }
        // A platform that keeps a year keeps it from a moment later on each time: a day later is worth a write.
        let day = |from: Option<OffsetDateTime>| from.map(OffsetDateTime::date);
        let is_known = old.scopes == new.scopes
            && old.missing_scopes == new.missing_scopes
            && day(old.history_from) == day(new.history_from)
            && old.buyer_data == new.buyer_data;
        if is_known {
            return Ok(());
        }
        self.integration.missing_scopes = new.missing_scopes.clone();
        self.integration.history_from = new.history_from;
        self.integration.buyer_data = new.buyer_data;
        self.syncer.ports.connections.describe(self.lease.account, self.id(), new).await
    }

    async fn changes(&mut self, present: OffsetDateTime) -> Result<(), Stopped> {
        let cursor = self.cursor(Stream::Changes).unwrap_or(self.integration.connected_at);
        let mut windows = Windows::of_changes(cursor, present, &self.timing);
        while let Some(window) = windows.current() {
            let is_last = windows.is_last();
            let reading = Reading::Window(window, Purpose::Changes);
            let done = Outcome::Done {
                cursor: window.until.max(cursor),
                reached: is_last.then_some(present),
                run_jobs: false,
            };
            self.window(Stream::Changes, &mut windows, &reading, done).await?;
        }
        Ok(())
    }

    /// Reads the history, newest first, until it is read or `until`. True when all of it is read.
    async fn back_fill(&mut self, until: Instant) -> Result<bool, Stopped> {
        let connected_at = self.integration.connected_at;
        let mut filled_from = self.cursor(Stream::BackFill);
        // The newest window reaches the present of the connection's beginning.
        let mut reached = filled_from.is_none().then_some(connected_at);
        loop {
            let mut windows = self.history_left(filled_from);
            let Some(whole) = windows.current() else { return Ok(true) };
            while let Some(window) = windows.current() {
                if Instant::now() >= until {
                    return Ok(false);
                }
                let reading = Reading::Window(window, Purpose::BackFill);
                // The newest days are worth showing before the rest has come.
                let run_jobs = reached.is_some() || self.history_left(Some(window.from)).current().is_none();
                let done = Outcome::Done { cursor: window.from, reached, run_jobs };
                if self.window(Stream::BackFill, &mut windows, &reading, done).await? {
                    (filled_from, reached) = (Some(window.from), None);
                    // What follows holds as much: to find that out again would cost a read each time.
                    if window != whole {
                        self.timing.longest_window = window.until - window.from;
                    }
                }
            }
        }
    }

    /// Reads the current window, or halves it. True when it is stored.
    async fn window(
        &mut self,
        stream: Stream,
        windows: &mut Windows,
        reading: &Reading,
        done: Outcome,
    ) -> Result<bool, Stopped> {
        let (window, started_at) = (windows.current(), self.now());
        match self.import(reading).await? {
            Ok(tally) => {
                self.record(stream, window, started_at, tally, done).await?;
                windows.advance();
                Ok(true)
            }
            Err(ShopError::TooMany) if windows.halve() => Ok(false),
            Err(error) => Err(self.failed(stream, window, started_at, Tally::default(), error).await),
        }
    }

    /// The catalogue, after telling where hooks are to be sent: in a later turn, where other catalogues have all the places for
    /// them, as all places would then be held for an hour. Who connects a shop waits for its first one.
    async fn nightly(&mut self) -> Result<(), Stopped> {
        let syncer = self.syncer;
        let place = syncer.catalogues.place();
        if place.is_none() && self.catalogue_read_at().is_some() {
            return Ok(());
        }
        self.subscribe().await;
        self.catalogue().await
    }

    /// Whether a connection that decides what counts here came or went since the last look at the catalogue, which may have
    /// failed: else the history would begin again with each turn.
    fn copies_changed(&self) -> bool {
        let looked_at = self.cursor(Stream::Catalogue).max(self.failed_at(Stream::Catalogue));
        self.copies.changed_at.zip(looked_at).is_some_and(|(changed, looked)| changed > looked)
    }

    /// The catalogue, after whether copies of other platforms' sales count: its cursor says when that was looked at last.
    pub async fn catalogue(&mut self) -> Result<(), Stopped> {
        let started_at = self.now();
        let read = self.read_catalogue(started_at).await;
        self.syncer.catalogues.was_read(self.id(), started_at, self.now());
        read
    }

    async fn read_catalogue(&mut self, started_at: OffsetDateTime) -> Result<(), Stopped> {
        if self.copies_changed() && self.cursor(Stream::BackFill).is_some() {
            // The history is read again: what counts of it is another part now.
            let restarted = Outcome::Restarted { cursor: started_at };
            self.record(Stream::BackFill, None, started_at, Tally::default(), restarted).await?;
        }
        match self.import(&Reading::Catalogue).await? {
            Ok(tally) => {
                let done = Outcome::Done { cursor: started_at, reached: None, run_jobs: false };
                self.record(Stream::Catalogue, None, started_at, tally, done).await
            }
            Err(error) => Err(self.failed(Stream::Catalogue, None, started_at, Tally::default(), error).await),
        }
    }

    /// Platforms drop addresses that failed for a while, so it is told every night.
    async fn subscribe(&self) {
        let Some(base) = &self.syncer.hooks_url else { return };
        let address = format!("{}/hooks/{}", base.trim_end_matches('/'), self.integration.provider);
        let subscribed = timeout(SUBSCRIBED_WITHIN, self.reader.subscribe(&self.held.access, &address)).await;
        match subscribed {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "hooks could not be subscribed to; changes are found by polling"),
            Err(_) => tracing::warn!("hooks could not be subscribed to in time; changes are found by polling"),
        }
    }

    /// Reads orders again one by one that are younger than `age`, until all are read or `until`, from where an earlier turn
    /// stopped: thousands take hours, in which others have their turn, and what is new comes first. True when all are read.
    async fn reread(&mut self, age: Duration, until: Instant) -> Result<bool, Stopped> {
        let started_at = self.now();
        let oldest = Position::before(started_at - age);
        let left = self.rereading.filter(|left| left.after.placed_at >= oldest.placed_at);
        let Progress { begun_at, after: first } = left.unwrap_or(Progress { begun_at: started_at, after: oldest });
        let (mut all, mut after) = (Tally::default(), first);
        let trouble = loop {
            let known = &self.syncer.known_orders;
            let orders = known.orders_after(self.lease.account, self.id(), after, REREAD_AT_ONCE).await?;
            let Some(last) = orders.last().map(|order| order.position) else {
                let done = Outcome::Done { cursor: begun_at, reached: None, run_jobs: false };
                self.record(Stream::Reread, None, started_at, all, done).await?;
                return Ok(true);
            };
            let ids = orders.into_iter().map(|order| order.external_id).collect();
            match self.import(&Reading::Again(ids)).await? {
                Ok(tally) => (all, after) = (all.with(tally), last),
                Err(error) => break Some(error),
            }
            if Instant::now() >= until {
                break None;
            }
        };
        // What was read is not read again, also after trouble.
        if after != first {
            let in_part = Outcome::InPart(Progress { begun_at, after });
            self.record(Stream::Reread, None, started_at, all, in_part).await?;
        }
        match trouble {
            Some(error) => Err(self.failed(Stream::Reread, None, started_at, Tally::default(), error).await),
            None => Ok(false),
        }
    }

    /// Which of some orders are stored here.
    pub async fn known(&self, ids: &[String]) -> Result<BTreeSet<String>, StoreError> {
        let (known, source) = (&self.syncer.known_orders, self.integration.provider);
        Ok(known.known(self.lease.account, source, ids).await?.into_iter().collect())
    }

    /// Some orders by their numbers: what hooks ask for. Gives how many of them are not there.
    pub async fn read_orders(&mut self, ids: Vec<String>) -> Result<u64, Stopped> {
        let started_at = self.now();
        match self.import(&Reading::Orders(ids)).await? {
            Ok(tally) => Ok(tally.absent),
            Err(error) => Err(self.failed(Stream::Changes, None, started_at, Tally::default(), error).await),
        }
    }

    /// Imports what is read; a token that is not accepted is renewed once.
    async fn import(&mut self, reading: &Reading) -> Result<Result<Tally, ShopError>, Stopped> {
        loop {
            match self.try_import(reading).await {
                Ok(tally) => {
                    self.is_renewed = false;
                    self.measure(&tally.counts);
                    for scope in &tally.missing_scopes {
                        self.miss(scope).await?;
                    }
                    self.read_later(&tally.again).await?;
                    return Ok(Ok(tally));
                }
                Err(ImportFailure::Store(error)) => return Err(error.into()),
                Err(ImportFailure::Shop(error)) => {
                    if let Err(error) = self.renew_once(error).await? {
                        return Ok(Err(error));
                    }
                }
            }
        }
    }

    /// Has orders read again in some hours: as if a hook named them then.
    async fn read_later(&self, orders: &BTreeSet<String>) -> Result<(), StoreError> {
        let at = self.now() + AGAIN_AFTER;
        let moment = at.unix_timestamp().div_euclid(AGAIN_AFTER.whole_seconds());
        for order in orders {
            let hook = Hook {
                shop_id: self.held.access.shop_id.clone(),
                topic_name: inbox::AGAIN.to_owned(),
                topic: Topic::Order(Some(order.clone())),
                dedup_key: format!("again/{order}/{moment}"),
            };
            self.syncer.inbox.receive(self.integration.provider, hook, at).await?;
        }
        Ok(())
    }

    async fn try_import(&self, reading: &Reading) -> Result<Tally, ImportFailure> {
        let (access, currency) = (&self.held.access, self.account.currency);
        let importing = Importing {
            imports: self.syncer.imports.clone(),
            account: self.account.clone(),
            source: ShopSource { platform: self.integration.provider, integration: self.id() },
            copies: self.copies.clone(),
            owner_of: self.integration.owner_of.clone(),
            now: self.now(),
        };
        match reading {
            Reading::Window(window, _) if !self.is_shop() => {
                let (from, until) = (self.zone.day_of(window.from), self.zone.day_of(window.until));
                importing.ad_spend(self.reader.ad_spend(access, from, until).await?, from, until).await
            }
            Reading::Window(window, purpose) => {
                importing.orders(self.reader.orders(access, *window, *purpose, currency)).await
            }
            Reading::Orders(ids) => importing.orders(self.reader.orders_by_id(access, ids.clone(), currency)).await,
            Reading::Again(ids) => importing.orders(self.reader.reread(access, ids.clone(), currency)).await,
            Reading::Catalogue => importing.products(self.reader.products(access, currency)).await,
            Reading::Ads { from, until } => {
                importing.ad_spend(self.reader.ad_spend(access, *from, *until).await?, *from, *until).await
            }
        }
    }

    /// Renews the token where that may mend `error`; gives it back where it may not.
    async fn renew_once(&mut self, error: ShopError) -> Result<Result<(), ShopError>, Stopped> {
        if error != ShopError::Unauthorized {
            return Ok(Err(error));
        }
        // A token that is refused at its own end was not taken back: what was read takes longer than one lasts. That fails, and
        // what is read next has a new one.
        let is_over = self.is_renewed && self.held.expires_at.is_some_and(|ends| ends <= self.now());
        if self.is_renewed && !is_over {
            return Ok(Err(error));
        }
        self.is_renewed = !is_over;
        let ports = &self.syncer.ports;
        match ports.access_after(self.lease.account, self.id(), self.held.generation).await {
            Ok(held) => {
                self.held = held;
                let ended = || ShopError::Unavailable("the token ended before all was read".to_owned());
                Ok(if is_over { Err(ended()) } else { Ok(()) })
            }
            Err(AccessError::Shop(error)) => Ok(Err(error)),
            Err(error) => Err(no_access(ports.now(), error)),
        }
    }

    fn measure(&self, counts: &Counts) {
        let provider = self.integration.provider.as_str();
        metrics::counter!("shop_calls_total", "provider" => provider).increment(unsigned(counts.calls));
        let waited = unsigned(counts.waited_ms);
        metrics::counter!("shop_waited_milliseconds_total", "provider" => provider).increment(waited);
        metrics::counter!("shop_records_refused_total", "provider" => provider).increment(unsigned(counts.refused));
    }

    async fn record(
        &mut self,
        stream: Stream,
        window: Option<Window>,
        started_at: OffsetDateTime,
        tally: Tally,
        outcome: Outcome,
    ) -> Result<(), Stopped> {
        let Tally { counts, refusals, absent: _, again: _, missing_scopes: _ } = tally;
        let moved = match &outcome {
            Outcome::Done { cursor, .. } | Outcome::Restarted { cursor } => Some(Cursor { stream, at: *cursor }),
            Outcome::InPart(_) | Outcome::Failed(_) => None,
        };
        let run = ended(stream, window, counts, refusals, (started_at, self.now()), outcome);
        let failing = self.syncer.ports.syncs.record(self.lease, run).await?.ok_or(Stopped::Lost)?;
        if self.is_of_every_turn(stream) {
            self.failures = self.failures.max(failing.failures);
        }
        if moved.is_some() {
            self.cursors.retain(|cursor| cursor.stream != stream);
            self.cursors.extend(moved);
        }
        Ok(())
    }

    /// Notes that a stream failed, and what that says of the connection.
    async fn failed(
        &mut self,
        stream: Stream,
        window: Option<Window>,
        started_at: OffsetDateTime,
        tally: Tally,
        error: ShopError,
    ) -> Stopped {
        let noted = self.note(&error).await;
        match noted {
            Ok(None) => {}
            Ok(Some(stopped)) => return stopped,
            Err(error) => return error.into(),
        }
        tracing::warn!(%stream, %error, "a shop could not be read");
        let outcome = Outcome::Failed(RunError { code: code(&error), message: error.to_string() });
        match self.record(stream, window, started_at, tally, outcome).await {
            Err(stopped) => stopped,
            Ok(()) if self.ends_turn(stream, &error) => Stopped::Wait(next_due(self.failures, self.now())),
            Ok(()) => Stopped::Failed,
        }
    }

    /// What an error says of the connection as a whole; where that is all there is to it, the end of the turn.
    async fn note(&mut self, error: &ShopError) -> Result<Option<Stopped>, StoreError> {
        let (ports, account, id) = (&self.syncer.ports, self.lease.account, self.integration.id);
        match error {
            ShopError::Unauthorized => {
                ports.end(account, id, RevokeReason::TokenExpired, Some(self.held.generation)).await?;
                Ok(Some(Stopped::Lost))
            }
            ShopError::Throttled(until) => Ok(Some(Stopped::Wait((*until).max(self.now())))),
            ShopError::Suspended => {
                ports.connections.suspend(account, id, true, self.now()).await?;
                Ok(None)
            }
            ShopError::MissingScope(scope) => {
                self.miss(scope).await?;
                Ok(None)
            }
            ShopError::NotFound
            | ShopError::TooMany
            | ShopError::Rejected(_)
            | ShopError::Unavailable(_)
            | ShopError::Malformed(_) => Ok(None),
        }
    }

    async fn miss(&mut self, scope: &str) -> Result<(), StoreError> {
        if self.lacks(scope) {
            return Ok(());
        }
        self.integration.missing_scopes.push(scope.to_owned());
        self.tell_missing().await
    }

    /// Whether a permission is known to be missing.
    fn lacks(&self, scope: &str) -> bool {
        self.integration.missing_scopes.iter().any(|missing| missing == scope)
    }

    /// Something was read that takes a permission which was missing.
    async fn has(&mut self, scope: &str) -> Result<(), StoreError> {
        self.integration.missing_scopes.retain(|missing| missing != scope);
        self.tell_missing().await
    }

    async fn tell_missing(&self) -> Result<(), StoreError> {
        let integration = &self.integration;
        let description = Description {
            scopes: self.held.access.scopes.clone(),
            missing_scopes: integration.missing_scopes.clone(),
            history_from: integration.history_from,
            buyer_data: integration.buyer_data,
        };
        self.syncer.ports.connections.describe(self.lease.account, integration.id, description).await
    }
}

/// Where a stream stands among `cursors`.
fn at(cursors: &[Cursor], stream: Stream) -> Option<OffsetDateTime> {
    cursors.iter().find(|cursor| cursor.stream == stream).map(|cursor| cursor.at)
}

/// What is read of a platform in every turn: what keeps it from being read at all is noted with it.
const fn first_of(provider: Platform) -> Stream {
    if provider.is_shop() { Stream::Changes } else { Stream::Ads }
}

/// A stream that failed does not keep the others from being read.
fn go_on(read: Result<(), Stopped>) -> Result<(), Stopped> {
    match read {
        Err(Stopped::Failed) => Ok(()),
        read => read,
    }
}

/// The token could not be renewed: noted with the stream that is read first.
async fn unread(syncer: &Syncer, leased: &LeasedSync, error: ShopError) -> Stopped {
    if let ShopError::Throttled(until) = error {
        return Stopped::Wait(until);
    }
    let now = syncer.ports.now();
    let outcome = Outcome::Failed(RunError { code: code(&error), message: error.to_string() });
    let first = first_of(leased.integration.provider);
    let run = ended(first, None, Counts::default(), VecDeque::new(), (now, now), outcome);
    match syncer.ports.syncs.record(leased.lease, run).await {
        Ok(Some(failing)) => Stopped::Wait(next_due(failing.failures, now)),
        Ok(None) => Stopped::Lost,
        Err(error) => error.into(),
    }
}

fn no_access(now: OffsetDateTime, error: AccessError) -> Stopped {
    match error {
        AccessError::Ended => Stopped::Lost,
        AccessError::Busy => Stopped::Wait(now + BUSY_PAUSE),
        AccessError::Store(error) => error.into(),
        AccessError::Shop(ShopError::Throttled(until)) => Stopped::Wait(until),
        error @ (AccessError::Shop(_) | AccessError::NotConfigured(_) | AccessError::Seal(_)) => {
            tracing::warn!(error = %Chain(&error), "there is no access to a shop");
            Stopped::Wait(now + TROUBLE_PAUSE)
        }
    }
}

fn ended(
    stream: Stream,
    window: Option<Window>,
    counts: Counts,
    refusals: VecDeque<Refusal>,
    (started_at, finished_at): (OffsetDateTime, OffsetDateTime),
    outcome: Outcome,
) -> EndedRun {
    EndedRun { stream, window, counts, refusals: refusals.into(), started_at, finished_at, outcome }
}

/// What an error is called in `last_error` and `integration.broken`.
const fn code(error: &ShopError) -> ErrorCode {
    match error {
        ShopError::Unauthorized => ErrorCode::TokenRefused,
        ShopError::MissingScope(_) => ErrorCode::PermissionLost,
        ShopError::Suspended => ErrorCode::Blocked,
        ShopError::Throttled(_) | ShopError::Unavailable(_) => ErrorCode::Unreachable,
        ShopError::NotFound | ShopError::TooMany | ShopError::Rejected(_) | ShopError::Malformed(_) => {
            ErrorCode::NotDelivering
        }
    }
}

fn unsigned(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}

/// How soon a connection is due again after a turn that stopped; `None` when it is not this process's any more.
pub(super) fn due_after(stopped: Stopped, now: OffsetDateTime) -> Option<OffsetDateTime> {
    match stopped {
        Stopped::Lost => None,
        Stopped::Wait(until) => Some(until),
        Stopped::Failed => Some(next_due(1, now)),
        Stopped::Store(error) => {
            crate::outage::warn(&error, "a shop's data could not be stored");
            Some(now + TROUBLE_PAUSE)
        }
    }
}
