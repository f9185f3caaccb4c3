//! Connections from end to end, on a store in memory and a platform that does as it is told.

mod connect;
mod inbox;
mod platform;
pub(super) mod store;
mod sync;
mod tokens;

use std::sync::{Arc, Mutex};

use domain::{
    AccountId, IntegrationId, UserId,
    accounts::{Account, MockAccountStore, Mode, Plan, Platform},
    sealing::{Binding, MockSealer, SealError},
    texts::Locale,
};
use time::{Duration, OffsetDateTime, macros::datetime};

use self::{platform::FakePlatform, store::FakeStore};
use super::{Connector, Connectors, Ports, catalogues::Catalogues, sync::Syncer};

pub(crate) const ACCOUNT: AccountId = AccountId(7);
const SHOP: IntegrationId = IntegrationId(12);
const START: OffsetDateTime = datetime!(2026-05-20 12:00 UTC);

fn user() -> UserId {
    "user_0123456789abcdefghijABCD".parse().unwrap()
}

/// Everything that connections are kept with, in memory.
pub(crate) struct World {
    store: Arc<FakeStore>,
    platform: Arc<FakePlatform>,
    now: Arc<Mutex<OffsetDateTime>>,
    pub(crate) mode: Mode,
}

impl World {
    /// A shop of `provider` that was connected at [`START`].
    fn connected(provider: Platform) -> Self {
        let world = Self::empty(provider);
        world.store.connect_now(provider, START, "access-1", Some("refresh-1"));
        world
    }

    pub(crate) fn empty(provider: Platform) -> Self {
        let now = Arc::new(Mutex::new(START));
        let platform = Arc::new(FakePlatform::new(provider, now.clone()));
        Self { store: Arc::default(), platform, now, mode: Mode::Live }
    }

    fn pass(&self, time: Duration) {
        *self.now.lock().unwrap() += time;
    }

    fn now(&self) -> OffsetDateTime {
        *self.now.lock().unwrap()
    }

    pub(crate) fn ports(&self) -> Ports {
        let (mode, clock) = (self.mode, self.now.clone());
        let mut accounts = MockAccountStore::new();
        accounts.expect_find().returning(move |id| Ok((id.0 < 100).then(|| account(id, mode))));
        let connector = Connector {
            auth: self.platform.clone(),
            reader: self.platform.clone(),
            verifier: Some(self.platform.clone()),
            replies: None,
            is_stand_in: false,
        };
        Ports {
            connectors: Connectors::new([connector]),
            accounts: Arc::new(accounts),
            integrations: self.store.clone(),
            authorizations: self.store.clone(),
            connections: self.store.clone(),
            tokens: self.store.clone(),
            syncs: self.store.clone(),
            answers: self.store.clone(),
            sealer: Arc::new(sealer()),
            clock: Arc::new(move || *clock.lock().unwrap()),
        }
    }

    fn syncer(&self) -> Syncer {
        Syncer {
            ports: self.ports(),
            imports: self.store.clone(),
            known_orders: self.store.clone(),
            runs: self.store.clone(),
            inbox: self.store.clone(),
            jitter: Arc::new(|| 0.0),
            hooks_url: Some("https://api.example.com/".to_owned()),
            at_once: 4,
            catalogues: Catalogues::new(4),
        }
    }
}

fn account(id: AccountId, mode: Mode) -> Account {
    Account {
        id,
        user_id: user(),
        mode,
        name: "shop".to_owned(),
        plan: Plan::Free,
        currency: "EUR".parse().unwrap(),
        timezone: "Europe/Madrid".parse().unwrap(),
        holiday_country: None,
        locale: Locale::ENGLISH,
        created_at: START,
    }
}

/// Seals by writing the binding in front.
fn sealer() -> MockSealer {
    let mark = |binding: Binding| format!("{binding}: ").into_bytes();
    let mut sealer = MockSealer::new();
    sealer.expect_seal().returning(move |binding, secret| Ok([mark(binding).as_slice(), secret].concat()));
    sealer.expect_open().returning(move |binding, sealed| {
        sealed.strip_prefix(mark(binding).as_slice()).map(<[u8]>::to_vec).ok_or(SealError::Forged)
    });
    sealer
}
