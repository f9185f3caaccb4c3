//! Where shop platforms tell that something changed.

use std::{sync::Arc, time::Duration};

use api::{Settings, State};
use app::shops::{Connector, Connectors, Ports, connect::ConnectService};
use async_trait::async_trait;
use domain::{
    AccountId, InboxId, StoreError,
    accounts::Platform,
    shops::{
        MockShopAuth, MockShopReader,
        hooks::{Hook, HookHeaders, HookRefused, HookVerifier, Topic},
        inbox::{Inbox, MockInbox, Received, Taken, Waiting},
    },
};
use time::OffsetDateTime;

use crate::support::{Answer, NOW, Service, shop_ports, state};

/// Takes what is signed `right`, and passes the body on as the number of an order.
struct Verifier(Platform);

impl HookVerifier for Verifier {
    fn platform(&self) -> Platform {
        self.0
    }

    fn verify(&self, headers: &dyn HookHeaders, body: &[u8], now: OffsetDateTime) -> Result<Hook, HookRefused> {
        assert_eq!(now, NOW);
        match headers.one("x-signature") {
            Some("right") => {}
            Some("foreign") => return Err(HookRefused::Foreign),
            Some("unreadable") => return Err(HookRefused::Unreadable),
            Some(_) => return Err(HookRefused::Forged),
            None => return Err(HookRefused::Unsigned),
        }
        Ok(Hook {
            shop_id: "example.myshopify.com".to_owned(),
            topic_name: "orders/updated".to_owned(),
            topic: Topic::Order(Some(body.len().to_string())),
            dedup_key: "1".to_owned(),
        })
    }
}

fn connectors() -> Connectors {
    let connector = |platform| {
        let mut auth = MockShopAuth::new();
        auth.expect_platform().return_const(platform);
        Connector {
            auth: Arc::new(auth),
            reader: Arc::new(MockShopReader::new()),
            verifier: Some(Arc::new(Verifier(platform))),
            replies: None,
            is_stand_in: false,
        }
    };
    Connectors::new([connector(Platform::Shopify), connector(Platform::Mercadolibre)])
}

fn with_inbox(inbox: impl Inbox + 'static) -> State {
    let ports = Ports { connectors: connectors(), ..shop_ports() };
    State { shops: ConnectService { ports, ..state().shops }, inbox: Arc::new(inbox), ..state() }
}

fn taking(received: Received) -> MockInbox {
    let mut inbox = MockInbox::new();
    inbox.expect_receive().returning(move |_, _, _| Ok(received));
    inbox
}

fn hook(service: Service, provider: &str, signature: &[&str], body: &[u8]) -> Answer {
    let headers: Vec<_> = signature.iter().map(|value| ("X-Signature", *value)).collect();
    service.send("POST", &format!("/hooks/{provider}"), &headers, Some(body))
}

#[test]
fn a_signed_hook_is_stored_and_answered() {
    let mut inbox = MockInbox::new();
    inbox.expect_receive().times(1).returning(|platform, hook, now| {
        assert_eq!((platform, hook.topic, now), (Platform::Shopify, Topic::Order(Some("12".to_owned())), NOW));
        Ok(Received::Stored)
    });
    let answer = hook(Service::start(with_inbox(inbox)), "shopify", &["right"], b"raw, not JS\0");
    assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"ok":true,"api_version":"v1"}"#));
}

#[test]
fn what_is_known_or_of_nobody_or_too_much_is_answered_alike() {
    for received in [Received::Stored, Received::Duplicate, Received::UnknownShop, Received::TooMany] {
        let answer = hook(Service::start(with_inbox(taking(received))), "mercadolibre", &["right"], b"{}");
        assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"ok":true,"api_version":"v1"}"#));
    }
}

/// The mock panics when anything is stored.
#[test]
fn what_is_not_signed_by_the_platform_is_not_stored() {
    let service = Service::start(with_inbox(MockInbox::new()));
    let refused: [(&str, &[&str], u16, &str); 7] = [
        ("shopify", &[], 401, "invalid_signature"),
        ("shopify", &["wrong"], 401, "invalid_signature"),
        ("shopify", &["right", "right"], 401, "invalid_signature"),
        ("shopify", &["unreadable"], 400, "invalid_body"),
        ("tiendanube", &["right"], 404, "not_found"),
        ("etsy", &["right"], 404, "not_found"),
        ("payments", &["right"], 404, "not_found"),
    ];
    for (provider, signature, status, error) in refused {
        let answer = hook(service, provider, signature, b"{}");
        assert_eq!(answer.error(), (status, error.to_owned()), "{provider} {signature:?}");
    }
    assert_eq!(hook(service, "mercadolibre", &["foreign"], b"{}").status, 200, "dropped");
}

#[test]
fn a_body_may_have_a_mebibyte() {
    let service = Service::start(with_inbox(taking(Received::Stored)));
    assert_eq!(hook(service, "shopify", &["right"], &vec![b' '; 1 << 20]).status, 200);
    assert_eq!(hook(service, "shopify", &["right"], &vec![b' '; (1 << 20) + 1]).status, 413);
}

#[test]
fn signed_hooks_are_never_too_many_and_unsigned_ones_are() {
    let state = with_inbox(taking(Received::Stored));
    let settings = Settings { rate_limit_per_minute: 1, ..state.settings };
    let service = Service::start(State { settings, ..state });
    let wrong: Vec<_> = (0..7).map(|_| hook(service, "shopify", &["wrong"], b"{}").status).collect();
    assert_eq!(wrong, [401, 401, 401, 401, 401, 429, 429]);
    assert!((0..150).all(|_| hook(service, "shopify", &["right"], b"{}").status == 200));
}

/// An inbox of a database that does not answer.
struct Stuck;

#[async_trait]
impl Inbox for Stuck {
    async fn receive(&self, _: Platform, _: Hook, _: OffsetDateTime) -> Result<Received, StoreError> {
        tokio::time::sleep(Duration::from_secs(30)).await;
        Ok(Received::Stored)
    }

    async fn waiting(&self, _: OffsetDateTime, _: i64) -> Result<Vec<Waiting>, StoreError> {
        unreachable!()
    }

    async fn take(&self, _: Waiting, _: OffsetDateTime, _: OffsetDateTime, _: i64) -> Result<Taken, StoreError> {
        unreachable!()
    }

    async fn hold(&self, _: AccountId, _: &[InboxId], _: OffsetDateTime) -> Result<(), StoreError> {
        unreachable!()
    }

    async fn done(&self, _: AccountId, _: &[InboxId], _: OffsetDateTime) -> Result<(), StoreError> {
        unreachable!()
    }

    async fn postpone(&self, _: AccountId, _: &[InboxId], _: OffsetDateTime) -> Result<(), StoreError> {
        unreachable!()
    }

    async fn prune(&self, _: OffsetDateTime) -> Result<u64, StoreError> {
        unreachable!()
    }
}

#[test]
fn what_is_not_stored_in_time_is_to_be_sent_again() {
    let answer = hook(Service::start(with_inbox(Stuck)), "shopify", &["right"], b"{}");
    assert_eq!(answer.error(), (503, "overloaded".to_owned()));
    let mut away = MockInbox::new();
    away.expect_receive().returning(|_, _, _| Err(StoreError::Unavailable("away".into())));
    let answer = hook(Service::start(with_inbox(away)), "shopify", &["right"], b"{}");
    assert_eq!(answer.error(), (503, "no_db".to_owned()));
}
