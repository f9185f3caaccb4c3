//! Connecting profiles, and what is told of them.

use std::{collections::HashMap, sync::Arc};

use api::State;
use app::social::{
    Network,
    profiles::{ProfileNetworks, ProfileService},
};
use domain::{
    SocialAccountId,
    accounts::{Account, MockAccountStore, Mode, Plan},
    page::{Page, PageRequest},
    sealing::MockSealer,
    shops::authorizations::MockAuthorizationStore,
    social::{
        Channel,
        channels::MockSocialReplies,
        profiles::{EndReason, MockProfileAuth, MockProfileConnections, SocialProfile},
        replies::MockProfileStore,
    },
};
use mockall::predicate::eq;
use serde_json::{Value, json};
use time::macros::datetime;

use crate::support::{ACCOUNT, BOTH, NOW, READ, Service, bearer, shop_ports, state};

fn profile() -> SocialProfile {
    SocialProfile {
        id: SocialAccountId(3),
        channel: Channel::Instagram,
        external_id: "17841400000000001".into(),
        handle: Some("myshop".into()),
        scopes: vec!["instagram_basic".into()],
        missing_scopes: vec!["pages_manage_metadata".into()],
        connected_at: datetime!(2026-05-01 10:00 UTC),
        ended_at: None,
        end_reason: None,
        last_event_at: None,
        last_poll_at: Some(datetime!(2026-05-02 12:00 UTC)),
        subscribed_at: None,
    }
}

fn shown() -> Value {
    json!({
        "id": 3, "channel": "instagram", "external_id": "17841400000000001", "handle": "myshop", "status": "connected",
        "scopes": ["instagram_basic"], "missing_scopes": ["pages_manage_metadata"], "connected_at": "2026-05-01T10:00:00Z",
        "ended_at": null, "end_reason": null, "reconnect_needed": false, "subscribed_at": null, "last_event_at": null,
        "last_poll_at": "2026-05-02T12:00:00Z",
    })
}

fn with(connections: MockProfileConnections) -> State {
    let state = state();
    State { profiles: ProfileService { connections: Arc::new(connections), ..state.profiles.clone() }, ..state }
}

#[test]
fn profiles_are_listed_and_told_in_full() {
    let mut connections = MockProfileConnections::new();
    let first = PageRequest { limit: 25, cursor: None };
    connections
        .expect_page()
        .with(eq(ACCOUNT), eq(first))
        .returning(|_, _| Ok(Page { items: vec![profile()], next_cursor: None }));
    connections.expect_find().with(eq(ACCOUNT), eq(SocialAccountId(3))).returning(|_, _| {
        let ended = Some(datetime!(2026-05-02 11:00 UTC));
        Ok(Some(SocialProfile { ended_at: ended, end_reason: Some(EndReason::TokenExpired), ..profile() }))
    });
    connections.expect_find().returning(|_, _| Ok(None));
    let service = Service::start(with(connections));
    let listed = service.get("/api/v1/social/profiles", READ).json();
    assert_eq!(listed["data"], json!([shown()]));
    assert_eq!(listed["pagination"], json!({"limit": 25, "next_cursor": null, "has_more": false}));
    let one = service.get("/api/v1/social/profiles/3", READ).json();
    assert_eq!((&one["status"], &one["end_reason"]), (&json!("revoked"), &json!("token_expired")));
    assert_eq!(one["reconnect_needed"], json!(true));
    for unknown in ["4", "0", "x", "3.0"] {
        let refused = service.get(&format!("/api/v1/social/profiles/{unknown}"), BOTH);
        assert_eq!(refused.error(), (404, "not_found".to_owned()), "{unknown}");
    }
}

#[test]
fn who_only_reads_connects_and_ends_nothing() {
    let service = Service::start(state());
    for (method, path) in [("POST", "authorize"), ("POST", "complete"), ("DELETE", "3")] {
        let path = format!("/api/v1/social/profiles/{path}");
        let refused = service.send(method, &path, &[("authorization", &bearer(READ))], None);
        assert_eq!(refused.error(), (403, "scope_required:write".to_owned()), "{path}");
    }
    let ended = service.send("DELETE", "/api/v1/social/profiles/x", &[("authorization", &bearer(BOTH))], None);
    assert_eq!(ended.error(), (404, "not_found".to_owned()));
}

/// An app whose people go to a page of their own; no state is known.
fn connecting(is_configured: bool) -> State {
    let mut accounts = MockAccountStore::new();
    accounts.expect_find().with(eq(ACCOUNT)).returning(|id| {
        Ok(Some(Account {
            id,
            user_id: "user_0123456789abcdefghijABCD".parse().unwrap(),
            mode: Mode::Live,
            name: "shop".to_owned(),
            plan: Plan::Pro,
            currency: "BRL".parse().unwrap(),
            timezone: "America/Sao_Paulo".parse().unwrap(),
            holiday_country: None,
            locale: domain::texts::Locale::ENGLISH,
            created_at: NOW,
        }))
    });
    let mut authorizations = MockAuthorizationStore::new();
    authorizations.expect_begin().returning(|account, _, pending, _| {
        assert_eq!((account, pending.by.session, pending.channel), (ACCOUNT, None, Some(Channel::Facebook)));
        assert_eq!(pending.shop.as_deref(), Some("101"));
        Ok(())
    });
    authorizations.expect_take_profile().returning(|_, _, _, _| Ok(None));
    let mut sealer = MockSealer::new();
    sealer.expect_seal().returning(|_, _| Ok(vec![1]));
    let mut auth = MockProfileAuth::new();
    auth.expect_authorize_url().returning(|_, authorization| {
        assert_eq!(authorization.redirect_uri, "https://dashboard.example/callback");
        Ok("https://www.facebook.com/v25.0/dialog/oauth".to_owned())
    });
    let network = Network { replies: Arc::new(MockSocialReplies::new()), is_stand_in: false };
    let networks = ProfileNetworks { auth: Arc::new(auth), networks: HashMap::from([(Channel::Facebook, network)]) };
    let ports = app::shops::Ports {
        accounts: Arc::new(accounts),
        authorizations: Arc::new(authorizations),
        sealer: Arc::new(sealer),
        ..shop_ports()
    };
    let profiles = ProfileService {
        ports,
        connections: Arc::new(MockProfileConnections::new()),
        profiles: Arc::new(MockProfileStore::new()),
        networks: is_configured.then_some(networks),
        ..state().profiles
    };
    State { profiles, ..state() }
}

#[test]
fn a_person_is_sent_to_the_network() {
    let service = Service::start(connecting(true));
    let path = "/api/v1/social/profiles/authorize";
    let answer = service.post(path, r#"{"channel": "facebook", "profile": "101"}"#);
    let expected = json!({
        "url": "https://www.facebook.com/v25.0/dialog/oauth", "state_expires_at": "2026-05-02T12:10:30Z",
        "api_version": "v1"
    });
    assert_eq!((answer.status, answer.json()), (200, expected));
    for (body, param) in [
        (r#"{"channel": "facebook", "profile": "shop"}"#, "profile"),
        (r#"{"channel": "facebook", "profile": "123456789012345678901234567890123"}"#, "profile"),
        (r#"{"channel": "mercadolibre"}"#, "channel"),
        (r#"{"channel": "x"}"#, "channel"),
    ] {
        let refused = service.post(path, body);
        assert_eq!(
            (refused.error(), refused.json()["param"].clone()),
            ((400, "invalid_parameter".to_owned()), json!(param)),
            "{body}"
        );
    }
    assert_eq!(service.post(path, r#"{"channel": "instagram"}"#).error(), (409, "provider_not_configured".to_owned()));
    let without = Service::start(connecting(false));
    let refused = without.post(path, r#"{"channel": "facebook"}"#);
    assert_eq!(refused.error(), (409, "provider_not_configured".to_owned()));
    assert_eq!(refused.json()["message"], "No profile of facebook can be connected to this service.");
}

#[test]
fn a_state_that_the_caller_did_not_begin_connects_nothing() {
    let service = Service::start(connecting(true));
    for query in ["code=c&state=stolen", "code=c", "?state=1&state=1"] {
        let body = json!({ "query": query }).to_string();
        let refused = service.post("/api/v1/social/profiles/complete", &body);
        assert_eq!(refused.error(), (400, "invalid_state".to_owned()), "{query}");
    }
}
