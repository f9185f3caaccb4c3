//! Connecting shops, and what is told of them.

use std::sync::Arc;

use app::shops::{Connector, Connectors, Ports, connect::ConnectService};
use domain::{
    IntegrationId, SyncRunId,
    accounts::{Account, MockAccountStore, Mode, Plan, Platform},
    idempotency::Idempotent,
    integrations::{ErrorCode, Integration, LastError, MockIntegrationStore, RevokeReason, Totals},
    page::{Page, PageRequest},
    sealing::MockSealer,
    shops::{
        AuthorizeError, MockShopAuth, MockShopReader, Window,
        authorizations::MockAuthorizationStore,
        connections::{MockConnectionStore, Revoked},
        hooks::{Hook, HookHeaders, HookRefused, HookVerifier},
        sync::{Counts, MockSyncRunStore, MockSyncStore, Refusal, RunError, RunState, Stream, SyncRun},
    },
};
use mockall::predicate::eq;
use serde_json::{Value, json};
use time::{OffsetDateTime, macros::datetime};

use crate::support::{ACCOUNT, BOTH, NOW, READ, Service, bearer, integration, shop_ports, state};
use api::State;

struct NoHooks;

impl HookVerifier for NoHooks {
    fn platform(&self) -> Platform {
        Platform::Shopify
    }

    fn verify(&self, _: &dyn HookHeaders, _: &[u8], _: OffsetDateTime) -> Result<Hook, HookRefused> {
        Err(HookRefused::Unsigned)
    }
}

/// Shopify, which knows how shops are called and where owners go.
fn shopify() -> Connectors {
    let mut auth = MockShopAuth::new();
    auth.expect_platform().return_const(Platform::Shopify);
    auth.expect_shop_name().returning(|given| match given {
        Some("example.myshopify.com") => Ok(given.map(str::to_owned)),
        Some(_) => Err(AuthorizeError::InvalidShop),
        None => Err(AuthorizeError::ShopRequired),
    });
    auth.expect_authorize_url().returning(|authorization| {
        assert_eq!(authorization.redirect_uri, "https://dashboard.example/callback");
        Ok("https://example.myshopify.com/admin/oauth/authorize".to_owned())
    });
    Connectors::new([Connector {
        auth: Arc::new(auth),
        reader: Arc::new(MockShopReader::new()),
        verifier: Some(Arc::new(NoHooks)),
        replies: None,
        is_stand_in: false,
    }])
}

fn accounts() -> Arc<MockAccountStore> {
    let account = Account {
        id: ACCOUNT,
        user_id: "user_0123456789abcdefghijABCD".parse().unwrap(),
        mode: Mode::Live,
        name: "shop".to_owned(),
        plan: Plan::Pro,
        currency: "BRL".parse().unwrap(),
        timezone: "America/Sao_Paulo".parse().unwrap(),
        holiday_country: None,
        locale: domain::texts::Locale::ENGLISH,
        created_at: NOW,
    };
    let mut accounts = MockAccountStore::new();
    accounts.expect_find().with(eq(ACCOUNT)).returning(move |_| Ok(Some(account.clone())));
    Arc::new(accounts)
}

fn with_shops(ports: Ports) -> State {
    State { shops: ConnectService { ports, ..state().shops }, ..state() }
}

/// Shopify is configured; the store keeps what is begun and knows no state.
fn connecting() -> State {
    connecting_beside(&[])
}

/// The same of an account that has these connections.
fn connecting_beside(known: &[Integration]) -> State {
    let (mut integrations, known) = (MockIntegrationStore::new(), known.to_vec());
    integrations
        .expect_page()
        .returning(move |_, _, _| Ok((Page { items: known.clone(), next_cursor: None }, Totals::default())));
    let mut authorizations = MockAuthorizationStore::new();
    authorizations.expect_begin().returning(|account, _, pending, _| {
        assert_eq!((account, pending.by.user.as_str()), (ACCOUNT, "user_0123456789abcdefghijABCD"));
        assert_eq!(pending.by.session, None);
        Ok(())
    });
    authorizations.expect_take().returning(|_, _, _, _, _| Ok(None));
    let mut sealer = MockSealer::new();
    sealer.expect_seal().returning(|_, _| Ok(vec![1]));
    with_shops(Ports {
        connectors: shopify(),
        accounts: accounts(),
        integrations: Arc::new(integrations),
        authorizations: Arc::new(authorizations),
        sealer: Arc::new(sealer),
        ..shop_ports()
    })
}

#[test]
fn an_owner_is_sent_to_the_platform() {
    let service = Service::start(connecting());
    let answer = service.post("/api/v1/integrations/shopify/authorize", r#"{"shop": "example.myshopify.com"}"#);
    let expected = json!({
        "url": "https://example.myshopify.com/admin/oauth/authorize", "state_expires_at": "2026-05-02T12:10:30Z",
        "api_version": "v1"
    });
    assert_eq!((answer.status, answer.json()), (200, expected));
    for (body, error) in [("", "missing_parameter"), (r#"{"shop": "example.com"}"#, "invalid_parameter")] {
        let refused = service.post("/api/v1/integrations/shopify/authorize", body);
        assert_eq!(
            (refused.error(), refused.json()["param"].clone()),
            ((400, error.to_owned()), json!("shop")),
            "{body}"
        );
    }
}

/// The owner would agree for nothing, and a token that nobody keeps stay at the platform.
#[test]
fn an_owner_is_sent_nowhere_for_a_second_shop_of_the_platform() {
    let another = integration(12);
    let ended = Integration { revoked_at: Some(NOW), ..another.clone() };
    let same = Integration { shop: "example.myshopify.com".to_owned(), ..another.clone() };
    let elsewhere = Integration { provider: Platform::Tiendanube, ..another.clone() };
    let begin = |known: &[Integration]| {
        let body = r#"{"shop": "example.myshopify.com"}"#;
        Service::start(connecting_beside(known)).post("/api/v1/integrations/shopify/authorize", body)
    };
    assert_eq!(begin(&[ended, same, elsewhere]).status, 200);
    assert_eq!(begin(&[another]).error(), (409, "shop_already_connected".to_owned()));
}

#[test]
fn without_an_app_on_the_platform_no_shop_is_connected() {
    let service = Service::start(connecting());
    for step in ["authorize", "complete"] {
        let body = r#"{"query": "code=c&state=s"}"#;
        let refused = service.post(&format!("/api/v1/integrations/tiendanube/{step}"), body);
        assert_eq!(refused.error(), (409, "provider_not_configured".to_owned()));
        let unknown = service.post(&format!("/api/v1/integrations/etsy/{step}"), body);
        assert_eq!(unknown.error(), (404, "not_found".to_owned()));
    }
}

#[test]
fn a_state_that_the_caller_did_not_begin_connects_nothing() {
    let service = Service::start(connecting());
    for query in ["code=c&state=stolen", "code=c"] {
        let body = json!({ "query": query }).to_string();
        let refused = service.post("/api/v1/integrations/shopify/complete", &body);
        assert_eq!(refused.error(), (400, "invalid_state".to_owned()), "{query}");
    }
    for (body, error) in [("{}", "missing_parameter"), (r#"{"query": ""}"#, "invalid_parameter")] {
        assert_eq!(service.post("/api/v1/integrations/shopify/complete", body).error(), (400, error.to_owned()));
    }
}

#[test]
fn a_connection_is_told_in_full() {
    let mut integrations = MockIntegrationStore::new();
    integrations.expect_find().with(eq(ACCOUNT), eq(IntegrationId(12))).returning(|_, _| {
        Ok(Some(Integration {
            revoked_at: Some(NOW),
            revoke_reason: Some(RevokeReason::TokenExpired),
            missing_scopes: vec!["read_customers".to_owned()],
            last_error: Some(LastError { code: ErrorCode::Unreachable, message: "away".to_owned(), at: NOW }),
            ..integration(12)
        }))
    });
    integrations.expect_find().returning(|_, _| Ok(None));
    let service = Service::start(State { integrations: Arc::new(integrations), ..state() });
    let body = service.get("/api/v1/integrations/12", READ).json();
    assert_eq!(
        (&body["id"], &body["status"], &body["reconnect_needed"]),
        (&json!(12), &json!("revoked"), &json!(true))
    );
    assert_eq!(
        (&body["revoke_reason"], &body["missing_scopes"]),
        (&json!("token_expired"), &json!(["read_customers"]))
    );
    assert_eq!(body["last_error"], json!({"code": "unreachable", "message": "away", "at": "2026-05-02T12:00:30Z"}));
    for unknown in ["13", "0", "x"] {
        let refused = service.get(&format!("/api/v1/integrations/{unknown}"), READ);
        assert_eq!(refused.error(), (404, "not_found".to_owned()), "{unknown}");
    }
}

#[test]
fn runs_are_listed_with_what_was_left_out() {
    let window = Window { from: datetime!(2026-05-02 11:30 UTC), until: datetime!(2026-05-02 11:58 UTC) };
    let run = SyncRun {
        id: SyncRunId(4),
        stream: Stream::Changes,
        window: Some(window),
        state: RunState::Failed,
        counts: Counts { read: 9, stored: 2, refused: 1, voided: 3, calls: 4, waited_ms: 50 },
        refusals: vec![Refusal { kind: "order".into(), external_id: "7".into(), reason: "its currency is USD".into() }],
        error: Some(RunError { code: ErrorCode::NotDelivering, message: "odd".into() }),
        started_at: NOW,
        finished_at: NOW,
    };
    let mut runs = MockSyncRunStore::new();
    let page = PageRequest { limit: 2, cursor: Some(5) };
    runs.expect_page()
        .with(eq(ACCOUNT), eq(IntegrationId(12)), eq(page))
        .return_once(move |_, _, _| Ok(Some(Page { items: vec![run], next_cursor: Some(4) })));
    runs.expect_page().returning(|_, _, _| Ok(None));
    let service = Service::start(State { sync_runs: Arc::new(runs), ..state() });
    let body = service.get("/api/v1/integrations/12/runs?limit=2&cursor=5", READ).json();
    let expected = json!({
        "id": 4, "stream": "changes", "window": {"from": "2026-05-02T11:30:00Z", "until": "2026-05-02T11:58:00Z"},
        "state": "failed", "read": 9, "stored": 2, "refused": 1, "voided": 3, "calls": 4, "waited_ms": 50,
        "refusals": [{"kind": "order", "external_id": "7", "reason": "its currency is USD"}],
        "error": {"code": "not_delivering", "message": "odd"},
        "started_at": "2026-05-02T12:00:30Z", "finished_at": "2026-05-02T12:00:30Z"
    });
    assert_eq!((&body["data"], &body["pagination"]["next_cursor"]), (&json!([expected]), &json!(4)));
    assert_eq!(service.get("/api/v1/integrations/13/runs", READ).status, 404);
}

#[test]
fn a_connection_is_read_now_and_ended() {
    let mut syncs = MockSyncStore::new();
    syncs.expect_ask().returning(|_, id, key, _, _| {
        Ok(Idempotent { value: id == IntegrationId(12), replayed: key.is_some_and(|key| key.key == "again") })
    });
    let mut connections = MockConnectionStore::new();
    connections.expect_revoke().returning(|_, _, revocation, _| {
        assert_eq!((revocation.reason, revocation.generation), (RevokeReason::Manual, None));
        Ok(Revoked::Unchanged)
    });
    let mut integrations = MockIntegrationStore::new();
    integrations.expect_find().returning(|_, id| {
        let known = Integration { revoked_at: (id.0 != 15).then_some(NOW), ..integration(id.0) };
        Ok((id.0 != 14).then_some(known))
    });
    let service = Service::start(with_shops(Ports {
        syncs: Arc::new(syncs),
        connections: Arc::new(connections),
        integrations: Arc::new(integrations),
        ..shop_ports()
    }));
    let done: Value = json!({"ok": true, "api_version": "v1"});
    let first = service.post("/api/v1/integrations/12/sync", "");
    assert_eq!((first.header("idempotent-replayed"), first.json()), (None, done.clone()));
    let again = service.post_with("/api/v1/integrations/12/sync", "", &[("Idempotency-Key", "again")]);
    assert_eq!((again.header("idempotent-replayed"), again.json()), (Some("true"), done.clone()));
    let invalid = service.post_with("/api/v1/integrations/12/sync", "", &[("Idempotency-Key", "a b")]);
    assert_eq!(invalid.error(), (400, "invalid_idempotency_key".to_owned()));
    for (id, said) in [(13, "has ended"), (15, "demo shop")] {
        let refused = service.post(&format!("/api/v1/integrations/{id}/sync"), "");
        assert_eq!(refused.error(), (409, "invalid_transition".to_owned()));
        assert!(refused.text().contains(said), "{refused:?}");
    }
    assert_eq!(service.post("/api/v1/integrations/14/sync", "").status, 404);
    let delete = |id: i64| {
        let token = bearer(BOTH);
        service.send("DELETE", &format!("/api/v1/integrations/{id}"), &[("Authorization", token.as_str())], None)
    };
    assert_eq!((delete(13).json(), delete(14).status), (done, 404));
}
