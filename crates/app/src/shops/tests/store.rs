//! The ports of the database, in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use domain::{
    AccountId, InboxId, IntegrationId, PrivacyRequestId, StoreError,
    accounts::Platform,
    audit::Entry,
    idempotency::{AnswerStore, IdempotencyError, IdempotencyKey, Idempotent},
    imports::{
        AdSource, AdSpendRow, AdSpendSummary, Changes, DocumentSummary, ExpenseRow, FileDocument, FileSummary,
        ImportError, ImportStore, ProductRow, RateRow, RowSummary, Rows, ShopCatalogue, ShopDocument, ShopSource,
        ShopSummary, StockRow, StockSummary, Target,
    },
    integrations::{BuyerData, Connection, Fact, Integration, IntegrationStore, RevokeReason, Totals},
    page::{Page, PageRequest},
    shops::{
        authorizations::{AuthorizationStore, Initiator, PendingAuthorization, StateHash},
        connections::{ConnectError, ConnectionStore, Description, NewConnection, Revocation, Revoked},
        hooks::Hook,
        inbox::{Inbox, InboxEntry, Received, Taken, Waiting},
        known_orders::{KnownOrder, KnownOrders, Position},
        privacy::{CustomerData, LoggedRequest, NewRequest, PrivacyStore, Redacted},
        sync::{
            Cursor, DueSync, EndedRun, Failing, LeasedSync, Outcome, Progress, Stream, SyncLease, SyncRun,
            SyncRunStore, SyncStore,
        },
        tokens::{RefreshLease, SealedTokens, StoredTokens, TokenStore, access_binding, refresh_binding},
    },
    social::replies::PollHints,
};
use futures_util::{FutureExt, StreamExt};
use rust_decimal::Decimal;
use serde_json::Value;
use time::{Date, Duration, OffsetDateTime};

use super::{ACCOUNT, SHOP};

#[derive(Default)]
pub struct Database {
    pub integration: Option<Integration>,
    pub others: Vec<Integration>,
    pub pending: Vec<(AccountId, StateHash, PendingAuthorization)>,
    pub tokens: Option<StoredTokens>,
    pub refresh_lease: Option<i64>,
    pub leases: i64,
    pub sync_lease: Option<i64>,
    pub cursors: Vec<Cursor>,
    /// How far young orders were read again.
    pub rereading: Option<Progress>,
    /// How often in a row each of the streams that fail has failed, and when last.
    pub failing: BTreeMap<Stream, (i64, OffsetDateTime)>,
    pub runs: Vec<EndedRun>,
    pub due_at: Option<OffsetDateTime>,
    pub paused_until: Option<OffsetDateTime>,
    pub hints: u32,
    pub hints_of_change: u32,
    pub orders: BTreeMap<String, ShopDocument>,
    pub imports: u32,
    pub products: BTreeMap<String, ProductRow>,
    /// What the passes over the catalogue said of goods without a stock.
    pub catalogues: Vec<ShopCatalogue>,
    pub ad_spend: BTreeMap<Date, Decimal>,
    pub entries: Vec<InboxEntry>,
    /// Whose hooks they are, if not the shop's.
    pub entries_of: Option<IntegrationId>,
    /// Other connections of the account that are due.
    pub also_due: Vec<IntegrationId>,
    pub lease_asked_for: BTreeSet<IntegrationId>,
    /// Hooks that were received, and when.
    pub received: Vec<(Hook, OffsetDateTime)>,
    /// Until when hooks were taken, and then held.
    pub held: Vec<OffsetDateTime>,
    pub done: Vec<InboxId>,
    pub postponed: Vec<(InboxId, OffsetDateTime)>,
    pub logged: Vec<NewRequest>,
    pub redacted: Vec<PrivacyRequestId>,
    /// When questions were said to be there.
    pub questions_at: Vec<OffsetDateTime>,
    /// Answers of the next attempts to store renewed tokens: false fails.
    pub renewals: Vec<bool>,
    pub connect_refusal: Option<ConnectError>,
    /// Answers under idempotency keys, and keys whose writes were refused.
    pub answers: Vec<(IdempotencyKey, Value)>,
    pub given_up: Vec<IdempotencyKey>,
}

#[derive(Default)]
pub struct FakeStore {
    database: Mutex<Database>,
    /// Whether recording a run never comes back, as in a process that is killed there.
    pub dies_before_recording: AtomicBool,
}

impl Database {
    fn place_cursor(&mut self, stream: Stream, at: OffsetDateTime) {
        self.cursors.retain(|known| known.stream != stream);
        self.cursors.push(Cursor { stream, at });
    }
}

impl FakeStore {
    pub fn database(&self) -> MutexGuard<'_, Database> {
        self.database.lock().unwrap()
    }

    pub fn connect_now(&self, provider: Platform, at: OffsetDateTime, access: &str, refresh: Option<&str>) {
        let seal = |binding, text: &str| format!("{binding}: {text}").into_bytes();
        let mut database = self.database();
        database.integration = Some(integration(SHOP, provider, at));
        database.due_at = Some(at);
        database.tokens = Some(StoredTokens {
            provider,
            shop_id: "shop-1".to_owned(),
            shop: "example.myshopify.com".to_owned(),
            scopes: vec!["read_orders".to_owned()],
            tokens: SealedTokens {
                access: seal(access_binding(ACCOUNT, SHOP), access),
                access_expires_at: refresh.map(|_| at + Duration::HOUR),
                refresh: refresh.map(|text| seal(refresh_binding(ACCOUNT, SHOP), text)),
                refresh_expires_at: None,
            },
            generation: 1,
        });
    }

    pub fn revoke_reason(&self) -> Option<RevokeReason> {
        self.database().integration.as_ref().and_then(|integration| integration.revoke_reason)
    }
}

pub fn integration(id: IntegrationId, provider: Platform, at: OffsetDateTime) -> Integration {
    Integration {
        id,
        provider,
        shop: "example.myshopify.com".to_owned(),
        scopes: vec!["read_orders".to_owned()],
        connected_at: at,
        revoked_at: None,
        last_sync_at: None,
        missing_scopes: vec![],
        history_from: None,
        backfilled_from: None,
        buyer_data: BuyerData::Full,
        last_error: None,
        suspended: false,
        owner_of: vec![Fact::Stock],
        revoke_reason: None,
    }
}

#[async_trait]
impl IntegrationStore for FakeStore {
    async fn record(&self, _: AccountId, _: Connection) -> Result<(), StoreError> {
        unreachable!()
    }

    async fn find(&self, account: AccountId, id: IntegrationId) -> Result<Option<Integration>, StoreError> {
        let found = self.database().integration.clone();
        Ok(found.filter(|integration| account == ACCOUNT && integration.id == id))
    }

    async fn page(
        &self,
        _: AccountId,
        _: PageRequest,
        _: OffsetDateTime,
    ) -> Result<(Page<Integration>, Totals), StoreError> {
        let database = self.database();
        let items = database.integration.iter().chain(&database.others).cloned().collect();
        Ok((Page { items, next_cursor: None }, Totals::default()))
    }
}

#[async_trait]
impl AuthorizationStore for FakeStore {
    async fn begin(
        &self,
        account: AccountId,
        state: StateHash,
        authorization: PendingAuthorization,
        _: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.database().pending.push((account, state, authorization));
        Ok(())
    }

    async fn take(
        &self,
        account: AccountId,
        by: &Initiator,
        provider: Platform,
        state: StateHash,
        now: OffsetDateTime,
    ) -> Result<Option<PendingAuthorization>, StoreError> {
        let mut database = self.database();
        let place = database.pending.iter().position(|(of, hash, pending)| {
            (*of, *hash, &pending.by, pending.provider) == (account, state, by, provider)
                && pending.channel.is_none()
                && now < pending.expires_at
        });
        Ok(place.map(|place| database.pending.remove(place).2))
    }

    async fn take_profile(
        &self,
        account: AccountId,
        by: &Initiator,
        state: StateHash,
        now: OffsetDateTime,
    ) -> Result<Option<PendingAuthorization>, StoreError> {
        let mut database = self.database();
        let place = database.pending.iter().position(|(of, hash, pending)| {
            (*of, *hash, &pending.by) == (account, state, by) && pending.channel.is_some() && now < pending.expires_at
        });
        Ok(place.map(|place| database.pending.remove(place).2))
    }

    async fn prune(&self, _: OffsetDateTime) -> Result<u64, StoreError> {
        Ok(0)
    }
}

#[async_trait]
impl ConnectionStore for FakeStore {
    async fn reserve(&self, _: AccountId, _: Platform, _: &str) -> Result<IntegrationId, StoreError> {
        Ok(SHOP)
    }

    async fn connect(
        &self,
        _: AccountId,
        new: NewConnection,
        now: OffsetDateTime,
    ) -> Result<Integration, ConnectError> {
        let mut database = self.database();
        if let Some(refusal) = database.connect_refusal.take() {
            return Err(refusal);
        }
        let made = integration(new.id, new.provider, now);
        if let Some(key) = new.key {
            database.answers.push((key, serde_json::to_value(&made).unwrap()));
        }
        database.integration = Some(made.clone());
        database.tokens = Some(StoredTokens {
            provider: new.provider,
            shop_id: new.shop_id,
            shop: new.shop,
            scopes: new.description.scopes,
            tokens: new.tokens,
            generation: 1,
        });
        Ok(made)
    }

    async fn revoke(
        &self,
        _: AccountId,
        id: IntegrationId,
        revocation: Revocation,
        _: Option<Entry>,
    ) -> Result<Revoked, StoreError> {
        let mut database = self.database();
        let generation = database.tokens.as_ref().map(|tokens| tokens.generation);
        let Some(integration) = database.integration.as_mut().filter(|integration| integration.id == id) else {
            return Ok(Revoked::Unknown);
        };
        if integration.revoked_at.is_some() || revocation.generation.is_some_and(|of| Some(of) != generation) {
            return Ok(Revoked::Unchanged);
        }
        integration.revoked_at = Some(revocation.now);
        integration.revoke_reason = Some(revocation.reason);
        database.tokens = None;
        database.sync_lease = None;
        Ok(Revoked::Now)
    }

    async fn suspend(&self, _: AccountId, _: IntegrationId, to: bool, _: OffsetDateTime) -> Result<bool, StoreError> {
        self.database().integration.as_mut().unwrap().suspended = to;
        Ok(true)
    }

    async fn describe(&self, _: AccountId, _: IntegrationId, said: Description) -> Result<(), StoreError> {
        let mut database = self.database();
        let integration = database.integration.as_mut().unwrap();
        (integration.missing_scopes, integration.buyer_data) = (said.missing_scopes, said.buyer_data);
        Ok(())
    }
}

#[async_trait]
impl TokenStore for FakeStore {
    async fn find(&self, _: AccountId, _: IntegrationId) -> Result<Option<StoredTokens>, StoreError> {
        Ok(self.database().tokens.clone())
    }

    async fn lease(
        &self,
        account: AccountId,
        integration: IntegrationId,
        generation: i64,
        _: i64,
    ) -> Result<Option<RefreshLease>, StoreError> {
        let mut database = self.database();
        let is_present = database.tokens.as_ref().is_some_and(|tokens| tokens.generation == generation);
        if database.refresh_lease.is_some() || !is_present {
            return Ok(None);
        }
        database.leases += 1;
        database.refresh_lease = Some(database.leases);
        Ok(Some(RefreshLease { account, integration, generation, number: database.leases }))
    }

    async fn renew(&self, lease: RefreshLease, tokens: SealedTokens, scopes: Vec<String>) -> Result<bool, StoreError> {
        let mut database = self.database();
        if !database.renewals.is_empty() && !database.renewals.remove(0) {
            return Err(StoreError::Unavailable("away".into()));
        }
        if database.refresh_lease != Some(lease.number) {
            return Ok(false);
        }
        database.refresh_lease = None;
        let stored = database.tokens.as_mut().unwrap();
        stored.generation += 1;
        (stored.tokens, stored.scopes) = (tokens, scopes);
        Ok(true)
    }

    async fn release(&self, _: RefreshLease) -> Result<(), StoreError> {
        self.database().refresh_lease = None;
        Ok(())
    }
}

#[async_trait]
impl SyncStore for FakeStore {
    async fn due(&self, now: OffsetDateTime, _: i64) -> Result<Vec<DueSync>, StoreError> {
        let database = self.database();
        let is_due = database.due_at.is_some_and(|due| due <= now);
        let due = is_due.then_some(SHOP).into_iter().chain(database.also_due.iter().copied());
        Ok(due.map(|integration| DueSync { account: ACCOUNT, integration }).collect())
    }

    async fn lease(&self, due: DueSync, _: i64) -> Result<Option<LeasedSync>, StoreError> {
        let mut database = self.database();
        database.lease_asked_for.insert(due.integration);
        let Some(integration) = database.integration.clone().filter(|known| known.revoked_at.is_none()) else {
            return Ok(None);
        };
        if database.sync_lease.is_some() {
            return Ok(None);
        }
        database.leases += 1;
        database.sync_lease = Some(database.leases);
        let DueSync { account, integration: id } = due;
        let lease = SyncLease { account, integration: id, number: database.leases };
        let due_at = database.due_at.unwrap_or(integration.connected_at);
        let failed = database.failing.iter().map(|(stream, (_, at))| Cursor { stream: *stream, at: *at }).collect();
        let (paused_until, cursors, rereading) = (database.paused_until, database.cursors.clone(), database.rereading);
        Ok(Some(LeasedSync { lease, due_at, paused_until, integration, cursors, failed, rereading }))
    }

    async fn heartbeat(&self, lease: SyncLease, _: i64) -> Result<bool, StoreError> {
        Ok(self.database().sync_lease == Some(lease.number))
    }

    async fn record(&self, lease: SyncLease, run: EndedRun) -> Result<Option<Failing>, StoreError> {
        if self.dies_before_recording.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        let mut database = self.database();
        if database.sync_lease != Some(lease.number) {
            return Ok(None);
        }
        let (stream, mut failures) = (run.stream, 0);
        match &run.outcome {
            Outcome::Done { cursor, reached, run_jobs: _ } => {
                database.failing.remove(&stream);
                let known =
                    database.cursors.iter().find(|known| known.stream == stream).map_or(*cursor, |known| known.at);
                // Of its own the back-fill goes backwards, and all else forwards.
                let at = if stream == Stream::BackFill { known.min(*cursor) } else { known.max(*cursor) };
                database.place_cursor(stream, at);
                if stream == Stream::Reread {
                    database.rereading = None;
                }
                if reached.is_some() {
                    database.integration.as_mut().unwrap().last_sync_at = *reached;
                }
            }
            Outcome::InPart(progress) => {
                database.failing.remove(&stream);
                database.rereading = Some(*progress);
            }
            Outcome::Restarted { cursor } => database.place_cursor(stream, *cursor),
            Outcome::Failed(_) => {
                failures = database.failing.get(&stream).map_or(0, |(failures, _)| *failures) + 1;
                database.failing.insert(stream, (failures, run.finished_at));
            }
        }
        database.runs.push(run);
        Ok(Some(Failing { failures, became_broken: false }))
    }

    async fn release(&self, lease: SyncLease, next_due: OffsetDateTime) -> Result<(), StoreError> {
        let mut database = self.database();
        if database.sync_lease == Some(lease.number) {
            database.sync_lease = None;
            database.due_at = Some(next_due);
            database.paused_until = None;
        }
        Ok(())
    }

    async fn pause(&self, lease: SyncLease, until: OffsetDateTime) -> Result<(), StoreError> {
        SyncStore::release(self, lease, until).await?;
        self.database().paused_until = Some(until);
        Ok(())
    }

    async fn hint(&self, _: AccountId, id: IntegrationId, _: OffsetDateTime) -> Result<bool, StoreError> {
        let mut database = self.database();
        let known = database.integration.as_ref();
        let is_there = known.is_some_and(|known| known.id == id && known.revoked_at.is_none());
        database.hints += u32::from(is_there);
        Ok(is_there)
    }

    async fn hint_of_change(&self, _: AccountId, _: IntegrationId, _: OffsetDateTime) -> Result<(), StoreError> {
        self.database().hints_of_change += 1;
        Ok(())
    }

    async fn ask(
        &self,
        account: AccountId,
        id: IntegrationId,
        _: Option<IdempotencyKey>,
        _: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<bool>, IdempotencyError> {
        Ok(Idempotent { value: self.hint(account, id, now).await?, replayed: false })
    }
}

#[async_trait]
impl SyncRunStore for FakeStore {
    async fn page(&self, _: AccountId, _: IntegrationId, _: PageRequest) -> Result<Option<Page<SyncRun>>, StoreError> {
        unreachable!()
    }

    async fn prune(&self, _: OffsetDateTime) -> Result<u64, StoreError> {
        Ok(0)
    }
}

#[async_trait]
impl KnownOrders for FakeStore {
    async fn orders_after(
        &self,
        _: AccountId,
        integration: IntegrationId,
        after: Position,
        limit: i64,
    ) -> Result<Vec<KnownOrder>, StoreError> {
        assert_eq!(integration, SHOP);
        let database = self.database();
        let known = database.orders.iter().zip(1i64..).filter_map(|((id, document), number)| {
            let placed_at = document.parts.first()?.at;
            Some(KnownOrder { external_id: id.clone(), position: Position { placed_at, number } })
        });
        let mut known: Vec<_> = known.collect();
        known.sort_by_key(|order| (order.position.placed_at, order.position.number));
        known.retain(|order| (order.position.placed_at, order.position.number) > (after.placed_at, after.number));
        known.truncate(usize::try_from(limit).unwrap());
        Ok(known)
    }

    async fn known(&self, _: AccountId, _: Platform, ids: &[String]) -> Result<Vec<String>, StoreError> {
        let database = self.database();
        Ok(ids.iter().filter(|id| database.orders.contains_key(*id)).cloned().collect())
    }
}

#[async_trait]
impl ImportStore for FakeStore {
    async fn documents(&self, _: Target, _: Platform, _: Rows<FileDocument>) -> Result<FileSummary, ImportError> {
        unreachable!()
    }

    async fn shop_documents(
        &self,
        target: Target,
        source: ShopSource,
        mut documents: Rows<ShopDocument>,
    ) -> Result<ShopSummary, ImportError> {
        assert_eq!((target.account, source.integration, target.dry_run), (ACCOUNT, SHOP, false));
        let mut orders = Changes::default();
        while let Some(batch) = documents.next().await {
            let mut database = self.database();
            database.imports += 1;
            for document in batch? {
                orders.new += 1;
                if document.parts.is_empty() {
                    database.orders.remove(&document.order_id);
                } else {
                    database.orders.insert(document.order_id.clone(), document);
                }
            }
        }
        let documents = DocumentSummary { orders, ..DocumentSummary::default() };
        Ok(ShopSummary { documents, ..ShopSummary::default() })
    }

    async fn products(&self, _: Target, _: Rows<ProductRow>) -> Result<RowSummary, ImportError> {
        unreachable!()
    }

    async fn shop_products(
        &self,
        target: Target,
        connection: IntegrationId,
        mut rows: Rows<ProductRow>,
    ) -> Result<RowSummary, ImportError> {
        assert_eq!((target.account, connection), (ACCOUNT, SHOP));
        while let Some(batch) = rows.next().await {
            self.database().products.extend(batch?.into_iter().map(|row| (row.sku.clone(), row)));
        }
        Ok(RowSummary::default())
    }

    async fn not_stocked(
        &self,
        target: Target,
        connection: IntegrationId,
        catalogue: ShopCatalogue,
    ) -> Result<i64, ImportError> {
        assert_eq!((target.account, connection), (ACCOUNT, SHOP));
        self.database().catalogues.push(catalogue);
        Ok(0)
    }

    async fn stock(&self, _: Target, _: Rows<StockRow>) -> Result<StockSummary, ImportError> {
        unreachable!()
    }

    async fn ad_spend(
        &self,
        _: Target,
        _: AdSource,
        mut rows: Rows<AdSpendRow>,
    ) -> Result<AdSpendSummary, ImportError> {
        let mut database = self.database();
        while let Some(batch) = rows.next().now_or_never().unwrap() {
            database.ad_spend.extend(batch?.into_iter().map(|row| (row.day, row.spend)));
        }
        Ok(AdSpendSummary::default())
    }

    async fn rates(&self, _: Target, _: Rows<RateRow>) -> Result<RowSummary, ImportError> {
        unreachable!()
    }

    async fn expenses(&self, _: Target, _: Rows<ExpenseRow>) -> Result<RowSummary, ImportError> {
        unreachable!()
    }
}

#[async_trait]
impl Inbox for FakeStore {
    async fn receive(&self, provider: Platform, hook: Hook, now: OffsetDateTime) -> Result<Received, StoreError> {
        let mut database = self.database();
        assert_eq!(database.integration.as_ref().map(|known| known.provider), Some(provider));
        database.received.push((hook, now));
        Ok(Received::Stored)
    }

    async fn waiting(&self, _: OffsetDateTime, _: i64) -> Result<Vec<Waiting>, StoreError> {
        let database = self.database();
        let waiting = Waiting { account: ACCOUNT, integration: database.entries_of.unwrap_or(SHOP) };
        Ok(if database.entries.is_empty() { vec![] } else { vec![waiting] })
    }

    async fn take(
        &self,
        waiting: Waiting,
        _: OffsetDateTime,
        until: OffsetDateTime,
        _: i64,
    ) -> Result<Taken, StoreError> {
        let Waiting { account, integration } = waiting;
        let mut database = self.database();
        database.held.push(until);
        let entries = std::mem::take(&mut database.entries);
        Ok(Taken { account, integration, entries })
    }

    async fn hold(&self, account: AccountId, ids: &[InboxId], until: OffsetDateTime) -> Result<(), StoreError> {
        assert_eq!((account, ids), (ACCOUNT, [InboxId(1)].as_slice()));
        self.database().held.push(until);
        Ok(())
    }

    async fn done(&self, _: AccountId, ids: &[InboxId], _: OffsetDateTime) -> Result<(), StoreError> {
        self.database().done.extend(ids);
        Ok(())
    }

    async fn postpone(&self, _: AccountId, ids: &[InboxId], until: OffsetDateTime) -> Result<(), StoreError> {
        self.database().postponed.extend(ids.iter().map(|id| (*id, until)));
        Ok(())
    }

    async fn prune(&self, _: OffsetDateTime) -> Result<u64, StoreError> {
        Ok(0)
    }
}

#[async_trait]
impl PollHints for FakeStore {
    async fn poll_soon(&self, account: AccountId, shop: IntegrationId, now: OffsetDateTime) -> Result<(), StoreError> {
        assert_eq!((account, shop), (ACCOUNT, SHOP));
        self.database().questions_at.push(now);
        Ok(())
    }
}

#[async_trait]
impl PrivacyStore for FakeStore {
    async fn log(&self, _: AccountId, _: IntegrationId, request: NewRequest) -> Result<PrivacyRequestId, StoreError> {
        let mut database = self.database();
        database.logged.push(request);
        Ok(PrivacyRequestId(i64::try_from(database.logged.len()).unwrap()))
    }

    async fn redact(
        &self,
        _: AccountId,
        id: PrivacyRequestId,
        _: OffsetDateTime,
    ) -> Result<Option<Redacted>, StoreError> {
        self.database().redacted.push(id);
        Ok(Some(Redacted::default()))
    }

    async fn forget(
        &self,
        _: AccountId,
        _: Platform,
        _: &str,
        _: Entry,
        _: OffsetDateTime,
    ) -> Result<Redacted, StoreError> {
        unreachable!()
    }

    async fn answered(&self, _: AccountId, _: PrivacyRequestId, _: OffsetDateTime) -> Result<bool, StoreError> {
        unreachable!()
    }

    async fn data_of(&self, _: AccountId, _: Platform, _: &str) -> Result<Option<CustomerData>, StoreError> {
        unreachable!()
    }

    async fn open(&self) -> Result<Vec<LoggedRequest>, StoreError> {
        unreachable!()
    }
}

#[async_trait]
impl AnswerStore for FakeStore {
    async fn claim(
        &self,
        _: AccountId,
        key: &IdempotencyKey,
        _: OffsetDateTime,
    ) -> Result<Option<Value>, IdempotencyError> {
        let answers = &self.database().answers;
        Ok(answers.iter().find(|(known, _)| known == key).map(|(_, answer)| answer.clone()))
    }

    async fn answered(
        &self,
        _: AccountId,
        key: &IdempotencyKey,
        answer: Value,
        _: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.database().answers.push((key.clone(), answer));
        Ok(())
    }

    async fn keep(&self, _: AccountId, _: &IdempotencyKey, _: &str) -> Result<(), StoreError> {
        unreachable!()
    }

    async fn kept(&self, _: AccountId, _: &IdempotencyKey) -> Result<Option<String>, StoreError> {
        unreachable!()
    }

    async fn failed(&self, _: AccountId, key: &IdempotencyKey) -> Result<(), StoreError> {
        self.database().given_up.push(key.clone());
        Ok(())
    }
}
