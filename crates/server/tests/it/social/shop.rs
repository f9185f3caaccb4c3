//! An account that answers comments: what the tests of all channels have in common.

use std::{collections::HashMap, sync::Arc};

use app::{
    shops::Ports,
    social::{Network, SocialWorker},
};
use domain::{
    AccountId,
    accounts::{AccountStore, NewUser, Plan},
    idempotency::Idempotent,
    page::PageRequest,
    social::{
        Category, Channel, Mode, Reason, ReplyState, Tongue,
        channels::SocialInbox,
        conversations::{Conversation, ConversationFilter, ConversationStore},
        settings::{Settings, SettingsStore},
        templates::{NewTemplate, Step, TemplateChange, TemplateStore},
    },
};
use serde_json::Value;
use store::Store;
use time::{OffsetDateTime, macros::datetime};
use tokio_postgres::Client;

pub const START: OffsetDateTime = datetime!(2026-11-20 10:00 UTC);

pub struct Shop {
    pub db: testkit::TestDb,
    pub store: Arc<Store>,
    pub sql: Client,
    pub account: AccountId,
}

impl Shop {
    /// With an approved template for questions about prices.
    pub async fn start(variations: &[&str]) -> Self {
        let db = testkit::TestDb::new().await.unwrap();
        let (store, sql) = (Arc::new(db.store().unwrap()), db.client().await.unwrap());
        let user = NewUser {
            id: format!("user_{:024}", 1).parse().unwrap(),
            name: "shop".into(),
            currency: "ARS".parse().unwrap(),
            timezone: "UTC".parse().unwrap(),
            locale: domain::texts::Locale::ENGLISH,
            plan: Plan::Free,
            now: START,
        };
        let account = AccountStore::create(&*store, user).await.unwrap()[0].id;
        let shop = Self { db, store, sql, account };
        shop.approve_template(variations).await;
        shop
    }

    async fn approve_template(&self, variations: &[&str]) {
        let new = NewTemplate {
            name: "Prices".into(),
            category: Category::PriceQuestion,
            language: Tongue::Spanish,
            variations: variations.iter().map(|variation| (*variation).to_owned()).collect(),
        };
        let Idempotent { value, .. } =
            TemplateStore::create(&*self.store, self.account, new, None, None, START).await.unwrap();
        let change =
            TemplateChange { step: Some(Step::Approve { by: "Ana".into(), seen: None }), ..TemplateChange::default() };
        TemplateStore::change(&*self.store, self.account, value.id, change, None, START).await.unwrap();
    }

    /// Mode `auto`, which a hundred judgements would have earned.
    pub async fn auto(&self) {
        self.mode(Mode::Approve).await;
        self.sql.execute("UPDATE social_settings SET mode = 'auto'", &[]).await.unwrap();
    }

    pub async fn mode(&self, mode: Mode) {
        let settings = Settings { mode, ..Settings::default() };
        self.store.put(self.account, settings, None, START).await.unwrap();
    }

    pub async fn conversation(&self) -> Conversation {
        let page = PageRequest { limit: 10, cursor: None };
        let filter = ConversationFilter::default();
        let listing = ConversationStore::page(&*self.store, self.account, filter, true, page).await.unwrap();
        listing.page.items.into_iter().next().unwrap()
    }

    pub async fn state(&self) -> (ReplyState, Option<Reason>) {
        let reply = self.conversation().await.reply.unwrap();
        (reply.state, reply.reason)
    }

    /// Events of answers that were sent.
    pub async fn events(&self) -> Vec<Value> {
        let rows = self
            .sql
            .query("SELECT body FROM events WHERE kind = 'social.auto_reply_sent' ORDER BY id", &[])
            .await
            .unwrap();
        rows.iter().map(|row| serde_json::from_slice(row.get(0)).unwrap()).collect()
    }

    /// A worker on these networks, without a language model.
    pub fn worker(
        &self,
        shops: Ports,
        inbox: Option<Arc<dyn SocialInbox>>,
        networks: HashMap<Channel, Network>,
    ) -> SocialWorker {
        let store = &self.store;
        SocialWorker {
            hooks: store.clone(),
            profiles: store.clone(),
            intake: store.clone(),
            queue: store.clone(),
            votes: store.clone(),
            voter: None,
            inbox,
            networks,
            shops,
            is_enabled: true,
            random: Arc::new(|| 0),
        }
    }
}
