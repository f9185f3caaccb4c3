//! Conversations, templates, settings and hooks of networks over HTTP.

use std::sync::Arc;

use api::State;
use domain::{
    ConversationId, CustomerId, TemplateId,
    idempotency::Idempotent,
    page::Page,
    social::{
        Author, Category, Channel, Direction, Gate, Handling, Mode, Reason, ReplyState, Status, Tongue,
        channels::{HookRefused, ParsedHook, SocialInbox},
        conversations::{
            Act, ActError, ChangeError, Conversation, ConversationChange, LastMessage, Listing, MockConversationStore,
            Post, Reply, Summary,
        },
        replies::MockHookLog,
        settings::{MockSettingsStore, Settings, SettingsError, Setup},
        templates::{self, Content, CreateError, MockTemplateStore, Template, TemplateState},
    },
};
use rstest::rstest;
use rust_decimal::dec;
use serde_json::{Value, json};

use crate::support::{ACCOUNT, Answer, BOTH, NOW, READ, Service, bearer, state};

fn conversation() -> Conversation {
    Conversation {
        id: ConversationId(5),
        channel: Channel::Instagram,
        external_id: "1789".into(),
        post: Some(Post { external_id: "1800".into(), permalink: None, ad_id: None }),
        username: Some("ana".into()),
        customer: None,
        is_vip: false,
        opted_out: false,
        status: Status::Open,
        snoozed_until: None,
        handling: Handling::Bot,
        category: Some(Category::ShippingQuestion),
        language: Some(Tongue::Spanish),
        last_message: LastMessage {
            direction: Direction::In,
            author: Author::Customer,
            body: Some("¿Envían a Córdoba?".into()),
            sent_at: NOW,
        },
        messages_count: 1,
        waiting_since: Some(NOW),
        reply: Some(Reply {
            state: ReplyState::Held,
            reason: Some(Reason::NeedsApproval),
            template: Some(TemplateId(5)),
            template_version: Some(2),
            message: Some("¡Hola!".into()),
            reply_id: None,
            confidence: dec!(0.9700),
            hits: vec!["envian".into()],
            model_vote: None,
            mode: Mode::Approve,
            actor: "bot".into(),
            decided_at: NOW,
            judged_correct: None,
        }),
        created_at: NOW,
        position: 8_812,
    }
}

fn template() -> Template {
    Template {
        id: TemplateId(5),
        content: Content::stored("Prices".into(), Category::PriceQuestion, Tongue::Spanish, vec!["¡Hola!".into()]),
        state: TemplateState::Draft,
        version: 1,
        approved_version: None,
        approved_by: None,
        approved_at: None,
        used_count: 0,
        created_at: NOW,
        updated_at: NOW,
    }
}

fn with_conversations(set: impl FnOnce(&mut MockConversationStore)) -> Service {
    let mut conversations = MockConversationStore::new();
    set(&mut conversations);
    Service::start(State { conversations: Arc::new(conversations), ..state() })
}

fn with_templates(set: impl FnOnce(&mut MockTemplateStore)) -> Service {
    let mut reply_templates = MockTemplateStore::new();
    set(&mut reply_templates);
    Service::start(State { reply_templates: Arc::new(reply_templates), ..state() })
}

fn with_settings(set: impl FnOnce(&mut MockSettingsStore)) -> Service {
    let mut social_settings = MockSettingsStore::new();
    set(&mut social_settings);
    Service::start(State { social_settings: Arc::new(social_settings), ..state() })
}

fn send(service: Service, method: &str, path: &str, body: &str) -> Answer {
    let token = bearer(BOTH);
    service.send(
        method,
        path,
        &[("Authorization", &token), ("Content-Type", "application/json")],
        Some(body.as_bytes()),
    )
}

#[test]
fn a_list_shows_conversations_with_their_answers_and_counts_all() {
    let service = with_conversations(|conversations| {
        conversations
            .expect_page()
            .withf(|account, filter, with_messages, page| {
                *account == ACCOUNT
                    && filter.channel == Some(Channel::Instagram)
                    && filter.waiting == Some(true)
                    && filter.vip == Some(false)
                    && filter.reply_state == Some(ReplyState::Held)
                    && *with_messages
                    && page.limit == 2
            })
            .returning(|_, _, _, _| {
                Ok(Listing {
                    page: Page { items: vec![conversation()], next_cursor: Some(8_812) },
                    messages: vec![vec![]],
                    summary: Summary { open: 12, waiting: 4, held: 2 },
                })
            });
    });
    let path = "/api/v1/conversations?channel=instagram&waiting=true&vip=0&reply_state=held&include=messages&limit=2";
    let answer = service.get(path, READ);
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("private, no-cache")));
    let body = answer.json();
    assert_eq!(body["summary"], json!({"open": 12, "waiting": 4, "held": 2}));
    assert_eq!(body["pagination"], json!({"limit": 2, "next_cursor": 8812, "has_more": true}));
    assert_eq!(
        body["data"][0],
        json!({
            "id": 5, "channel": "instagram", "external_id": "1789",
            "post": {"external_id": "1800", "permalink": null, "ad_id": null}, "username": "ana", "customer_id": null,
            "is_vip": false, "opted_out": false, "status": "open", "snoozed_until": null, "handling": "bot", "category": "shipping_question",
            "language": "es",
            "last_message": {"direction": "in", "author": "customer", "body": "¿Envían a Córdoba?", "at": "2026-05-02T12:00:30Z"},
            "messages_count": 1, "waiting_since": "2026-05-02T12:00:30Z",
            "auto_reply": {"state": "held", "reason": "needs_approval", "template_id": 5, "template_version": 2,
                "message": "¡Hola!", "reply_id": null, "confidence": 0.97, "hits": ["envian"], "model_vote": null,
                "mode": "approve", "decided_by": "bot", "decided_at": "2026-05-02T12:00:30Z",
                "judged_correct": null},
            "created_at": "2026-05-02T12:00:30Z", "position": 8812, "messages": []
        })
    );
}

#[rstest]
#[case("channel=whatsapp", "channel", Some(json!(["instagram", "facebook", "mercadolibre"])))]
#[case("status=done", "status", Some(json!(["open", "snoozed", "closed"])))]
#[case("handling=nobody", "handling", Some(json!(["bot", "human"])))]
#[case("vip=maybe", "vip", Some(json!(["1", "0", "true", "false"])))]
#[case("reply_state=maybe", "reply_state", Some(json!(ReplyState::NAMES)))]
#[case("include=posts", "include", Some(json!(["messages"])))]
#[case("updated_since=yesterday", "updated_since", None)]
#[case("updated_since=9999-12-31T23:59:59Z", "updated_since", None)]
#[case("cursor=0", "cursor", None)]
#[case("cursor=abc", "cursor", None)]
#[case("channel=instagram%00", "channel", None)]
#[case("limit=0", "limit", None)]
fn a_filter_that_cannot_be_is_refused_by_name(
    #[case] query: &str,
    #[case] param: &str,
    #[case] allowed: Option<Value>,
) {
    let answer = with_conversations(|_| {}).get(&format!("/api/v1/conversations?{query}"), READ);
    assert_eq!(answer.error(), (400, "invalid_parameter".into()));
    assert_eq!(answer.json()["param"], param);
    if let Some(allowed) = allowed {
        assert_eq!(answer.json()["allowed"], allowed);
    }
}

#[rstest]
#[case("PATCH", "", r#"{"status":"paused"}"#, "invalid_parameter", "status")]
#[case("PATCH", "", r#"{"customer_id":"7"}"#, "invalid_parameter", "customer_id")]
#[case("PATCH", "", r#"{"snoozed_until":"soon"}"#, "invalid_parameter", "snoozed_until")]
#[case("POST", "/reply", r#"{}"#, "missing_parameter", "action")]
#[case("POST", "/reply", r#"{"action":"shout"}"#, "invalid_parameter", "action")]
#[case("POST", "/reply", r#"{"action":"send"}"#, "missing_parameter", "message")]
#[case("POST", "/reply", r#"{"action":"send","message":7}"#, "invalid_parameter", "message")]
#[case("POST", "/reply", r#"{"action":"send","message":"  "}"#, "invalid_parameter", "message")]
#[case("POST", "/reply", r#"{"action":"send","message":"a\u0000"}"#, "invalid_parameter", "message")]
#[case("POST", "/reply", r#"{"action":"send","message":"a\u0007"}"#, "invalid_parameter", "message")]
#[case("POST", "/reply", r#"{"action":"approve","message":"hola"}"#, "invalid_parameter", "message")]
#[case("POST", "/reply", r#"{"action":"skip","template_id":7}"#, "invalid_parameter", "template_id")]
#[case("POST", "/judgement", r#"{"correct":"yes"}"#, "invalid_parameter", "correct")]
#[case("POST", "/judgement", r#"{}"#, "missing_parameter", "correct")]
#[case("POST", "/judgement", r#"{"correct":true,"category":"love"}"#, "invalid_parameter", "category")]
fn a_body_that_cannot_be_is_refused_by_name(
    #[case] method: &str,
    #[case] path: &str,
    #[case] body: &str,
    #[case] code: &str,
    #[case] param: &str,
) {
    let answer = send(with_conversations(|_| {}), method, &format!("/api/v1/conversations/5{path}"), body);
    assert_eq!((answer.error(), answer.json()["param"].clone()), ((400, code.into()), json!(param)));
}

#[test]
fn words_are_counted_in_characters() {
    let service = || {
        with_conversations(|conversations| {
            conversations.expect_act().returning(|_, _, act, _, _, _| {
                assert!(matches!(act, Act::Send(words) if words.chars().count() == 2_200));
                Ok(Idempotent { value: conversation(), replayed: false })
            });
        })
    };
    let reply = |count: usize| json!({"action": "send", "message": "ñ".repeat(count)}).to_string();
    assert_eq!(send(service(), "POST", "/api/v1/conversations/5/reply", &reply(2_200)).status, 200);
    let answer = send(service(), "POST", "/api/v1/conversations/5/reply", &reply(2_201));
    assert_eq!(answer.error(), (400, "invalid_parameter".into()));
}

/// Status and code of a refusal, which says more than the code does.
fn refusal(answer: &Answer) -> (u16, String) {
    let said = answer.json()["message"].clone();
    assert_ne!(said, "The resource is not in a state that allows this.");
    answer.error()
}

#[test]
fn refusals_of_the_store_are_told_apart() {
    let reply = |error: fn() -> ActError| {
        let service = with_conversations(|conversations| {
            conversations.expect_act().returning(move |_, _, _, _, _, _| Err(error()));
        });
        refusal(&send(service, "POST", "/api/v1/conversations/5/reply", r#"{"action":"approve"}"#))
    };
    assert_eq!(reply(|| ActError::NotFound), (404, "not_found".into()));
    assert_eq!(reply(|| ActError::Transition), (409, "invalid_transition".into()));
    let refused: [fn() -> ActError; 6] = [
        || ActError::TooLong(2_000),
        || ActError::Contact,
        || ActError::UnknownTemplate,
        || ActError::UnusableTemplate,
        || ActError::NoLink,
        || ActError::NoName,
    ];
    for refused in refused {
        assert_eq!(reply(refused), (400, "invalid_parameter".into()));
    }
    let change = |error: fn() -> ChangeError| {
        let service = with_conversations(|conversations| {
            conversations.expect_change().returning(move |_, _, _, _, _| Err(error()));
        });
        refusal(&send(service, "PATCH", "/api/v1/conversations/5", r#"{"customer_id":7}"#))
    };
    assert_eq!(change(|| ChangeError::UnknownCustomer), (400, "invalid_parameter".into()));
    assert_eq!(change(|| ChangeError::NotFound), (404, "not_found".into()));
    assert_eq!(change(|| ChangeError::Transition), (409, "invalid_transition".into()));
    assert_eq!(with_conversations(|_| {}).get("/api/v1/conversations/x", READ).error(), (404, "not_found".into()));
}

#[rstest]
#[case("{}", None)]
#[case(r#"{"customer_id":null}"#, Some(None))]
#[case(r#"{"customer_id":7}"#, Some(Some(CustomerId(7))))]
fn a_customer_that_is_null_is_unlinked_and_one_that_is_left_out_stays(
    #[case] body: &str,
    #[case] customer: Option<Option<CustomerId>>,
) {
    let service = with_conversations(move |conversations| {
        conversations.expect_change().times(1).returning(move |_, _, change, _, _| {
            assert_eq!(change, ConversationChange { customer, ..ConversationChange::default() });
            Ok(conversation())
        });
    });
    assert_eq!(send(service, "PATCH", "/api/v1/conversations/5", body).status, 200);
}

#[test]
fn a_template_is_created_as_a_draft_and_its_faults_are_told() {
    let wanted = json!({"name": "Prices", "category": "price_question", "language": "es", "variations": ["¡Hola!"]});
    let create = |result: fn() -> Result<Idempotent<Template>, CreateError>, body: &Value| {
        let service = with_templates(|templates| {
            templates.expect_create().returning(move |_, _, _, _, _| result());
        });
        send(service, "POST", "/api/v1/reply-templates", &body.to_string())
    };
    let made = create(|| Ok(Idempotent { value: template(), replayed: false }), &wanted);
    assert_eq!(
        (made.status, made.json()["state"].clone(), made.json()["version"].clone()),
        (200, json!("draft"), json!(1))
    );
    let full = create(|| Err(CreateError::LimitReached), &wanted);
    assert_eq!(full.error(), (409, "template_limit_reached".into()));
    let foreign = || {
        let invalid = templates::InvalidContent::Variation(templates::VariationRefused::ForeignLink);
        Err(CreateError::Invalid(invalid))
    };
    let refused = create(foreign, &wanted);
    assert_eq!((refused.error(), refused.json()["param"].clone()), ((400, "invalid_body".into()), json!("variations")));
    for (field, value, code) in [
        ("language", json!("fr"), "invalid_parameter"),
        ("category", json!("hate"), "invalid_parameter"),
        ("variations", json!("hola"), "invalid_parameter"),
        ("variations", json!([7]), "invalid_parameter"),
        ("name", json!(null), "missing_parameter"),
    ] {
        let mut body = wanted.clone();
        body[field] = value;
        let answer = create(|| unreachable!(), &body);
        assert_eq!((answer.error(), answer.json()["param"].clone()), ((400, code.into()), json!(field)));
    }
}

#[test]
fn a_template_is_shown_with_its_versions() {
    let version = |version| templates::Version {
        version,
        category: Category::PriceQuestion,
        language: Tongue::Spanish,
        variations: vec![format!("¡Hola {version}!")],
        approved_by: None,
        approved_at: None,
        created_at: NOW,
    };
    let service = with_templates(|templates| {
        templates
            .expect_find()
            .withf(|account, id, page| (*account, *id, page.limit) == (ACCOUNT, TemplateId(5), 1))
            .returning(move |_, _, _| Ok(Some((template(), Page { items: vec![version(2)], next_cursor: Some(2) }))));
    });
    let body = service.get("/api/v1/reply-templates/5?limit=1", READ).json();
    assert_eq!((&body["name"], &body["versions"][0]["variations"]), (&json!("Prices"), &json!(["¡Hola 2!"])));
    assert_eq!(body["pagination"], json!({"limit": 1, "next_cursor": 2, "has_more": true}));
    let service = with_templates(|templates| {
        templates.expect_find().returning(|_, _, _| Ok(None));
    });
    assert_eq!(service.get("/api/v1/reply-templates/5", READ).error(), (404, "not_found".into()));
}

#[test]
fn an_approval_may_name_another_template() {
    let service = with_conversations(|conversations| {
        conversations
            .expect_act()
            .withf(|_, _, act, by, _, _| *act == Act::Approve(Some(TemplateId(7))) && by.note.is_none())
            .returning(|_, _, _, _, _, _| Ok(Idempotent { value: conversation(), replayed: false }));
    });
    let body = r#"{"action":"approve","template_id":7}"#;
    assert_eq!(send(service, "POST", "/api/v1/conversations/5/reply", body).status, 200);
}

#[rstest]
#[case(r#"{"state":"approved"}"#, "missing_parameter", "approved_by")]
#[case(r#"{"approved_by":"Ana"}"#, "invalid_parameter", "approved_by")]
#[case(r#"{"state":"approved","approved_by":" "}"#, "invalid_parameter", "approved_by")]
#[case(r#"{"state":"approved","approved_by":"a\u0000"}"#, "invalid_parameter", "approved_by")]
#[case(r#"{"state":"draft"}"#, "invalid_parameter", "state")]
fn an_approval_names_a_person(#[case] body: &str, #[case] code: &str, #[case] param: &str) {
    let answer = send(with_templates(|_| {}), "PATCH", "/api/v1/reply-templates/5", body);
    assert_eq!((answer.error(), answer.json()["param"].clone()), ((400, code.into()), json!(param)));
}

#[test]
fn a_template_in_use_is_not_deleted() {
    let service = with_templates(|templates| {
        templates.expect_delete().returning(|_, _, _, _| Err(templates::ChangeError::Transition));
    });
    let answer = send(service, "DELETE", "/api/v1/reply-templates/5", "");
    assert_eq!(refusal(&answer), (409, "invalid_transition".into()));
}

#[test]
fn settings_are_shown_with_the_gate_and_auto_is_refused_before_it() {
    let service = with_settings(|settings| {
        settings.expect_setup().returning(|_| {
            Ok(Setup { settings: Settings::default(), gate: Gate { judged: 100, wrong: 1 }, blocked_at: None })
        });
    });
    let body = service.get("/api/v1/social/settings", READ).json();
    assert_eq!((&body["mode"], &body["threshold"]), (&json!("dry_run"), &json!(0.95)));
    assert_eq!(
        body["auto_gate"],
        json!({"judged": 100, "wrong": 1, "ready": true, "needed": 0, "upper_bound": 0.0545})
    );
    assert_eq!(
        (&body["model_vote"], &body["model_vote_credits"]),
        (&json!(false), &json!(1)),
        "off, and what it costs"
    );
    let service = with_settings(|settings| {
        settings
            .expect_put()
            .withf(|_, settings, _, _| settings.model_vote)
            .returning(|_, settings, _, _| Ok(Setup { settings, gate: Gate::default(), blocked_at: None }));
    });
    let switched = send(service, "PUT", "/api/v1/social/settings", r#"{"mode":"approve","model_vote":true}"#);
    assert_eq!((switched.status, &switched.json()["model_vote"]), (200, &json!(true)));
    let service = with_settings(|settings| {
        settings.expect_put().returning(|_, _, _, _| Err(SettingsError::GateClosed(Gate { judged: 3, wrong: 0 })));
    });
    let settings = r#"{"mode":"auto","caps":{"per_user_day":3.0,"per_post_hour":30,"per_account_hour":60}}"#;
    let answer = send(service, "PUT", "/api/v1/social/settings", settings);
    assert_eq!((answer.error(), answer.json()["param"].clone()), ((409, "invalid_transition".into()), json!("mode")));
}

#[rstest]
#[case(r#"{}"#, "mode")]
#[case(r#"{"mode":"on"}"#, "mode")]
#[case(r#"{"mode":"off","threshold":0.4}"#, "threshold")]
#[case(r#"{"mode":"off","threshold":"high"}"#, "threshold")]
#[case(r#"{"mode":"off","business_hours":[{"day":"mon","from":"25:00","to":"18:00"}]}"#, "business_hours")]
#[case(r#"{"mode":"off","business_hours":[{"day":"monday","from":"09:00","to":"18:00"}]}"#, "business_hours")]
#[case(r#"{"mode":"off","business_hours":[{"day":"mon","from":"18:00","to":"09:00"}]}"#, "business_hours")]
#[case(r#"{"mode":"off","caps":{"per_user_day":-1,"per_post_hour":1,"per_account_hour":1}}"#, "caps")]
#[case(r#"{"mode":"off","caps":[]}"#, "caps")]
#[case(r#"{"mode":"off","caps":{"per_user_day":1.5,"per_post_hour":1,"per_account_hour":1}}"#, "caps")]
#[case(r#"{"mode":"off","categories_auto":["complaint"]}"#, "categories_auto")]
#[case(r#"{"mode":"off","categories_auto":["love"]}"#, "categories_auto")]
#[case(r#"{"mode":"off","opt_out_words":["a\u0000"]}"#, "opt_out_words")]
#[case(r#"{"mode":"off","own_hosts":["http://a.example"]}"#, "own_hosts")]
#[case(r#"{"mode":"off","link":"https://evil.example/"}"#, "link")]
#[case(r#"{"mode":"off","model_vote":"yes"}"#, "model_vote")]
fn settings_that_cannot_be_are_refused_by_name(#[case] body: &str, #[case] param: &str) {
    let answer = send(with_settings(|_| {}), "PUT", "/api/v1/social/settings", body);
    assert_eq!((answer.status, answer.json()["param"].clone()), (400, json!(param)), "{}", answer.text());
}

/// Takes what is signed `good`.
struct App;

impl SocialInbox for App {
    fn confirms(&self, verify_token: &str) -> bool {
        verify_token == "token"
    }
    fn verify(&self, _: &[u8], signature: Option<&str>) -> Result<(), HookRefused> {
        match signature {
            Some("good") => Ok(()),
            Some(_) => Err(HookRefused::Forged),
            None => Err(HookRefused::Unsigned),
        }
    }
    fn parse(&self, _: &[u8]) -> ParsedHook {
        ParsedHook::default()
    }
}

fn with_app(stored: usize) -> Service {
    let mut hooks = MockHookLog::new();
    hooks.expect_receive().withf(|body, _| body == b"{ \"a\": 1 }").times(stored).returning(|_, _| Ok(()));
    Service::start(State { social_app: Some(Arc::new(App)), social_hooks: Arc::new(hooks), ..state() })
}

#[test]
fn a_subscription_is_confirmed_by_its_challenge() {
    let path = "/hooks/social/meta?hub.mode=subscribe&hub.verify_token=token&hub.challenge=11581";
    let answer = with_app(0).send("GET", path, &[], None);
    assert_eq!((answer.status, answer.text().as_str()), (200, "11581"));
    assert!(answer.header("content-type").unwrap().starts_with("text/plain"));
    for path in [
        "/hooks/social/meta?hub.mode=subscribe&hub.verify_token=other&hub.challenge=1",
        "/hooks/social/meta?hub.mode=unsubscribe&hub.verify_token=token&hub.challenge=1",
        "/hooks/social/meta?hub.mode=subscribe&hub.verify_token=token",
        "/hooks/social/meta?hub.mode=subscribe&hub.verify_token=token&hub.verify_token=token&hub.challenge=1",
    ] {
        assert_eq!(with_app(0).send("GET", path, &[], None).error(), (403, "subscription_refused".into()), "{path}");
    }
}

#[test]
fn a_hook_is_stored_as_it_came_if_its_signature_is_right() {
    let post = |service: Service, signatures: &[&str], body: &[u8]| {
        let headers: Vec<_> = signatures.iter().map(|value| ("X-Hub-Signature-256", *value)).collect();
        service.send("POST", "/hooks/social/meta", &headers, Some(body))
    };
    let body = b"{ \"a\": 1 }";
    let answer = post(with_app(1), &["good"], body);
    assert_eq!((answer.status, answer.text().as_str()), (200, "{}"));
    for (signatures, reason) in [(&["bad"][..], "mismatch"), (&[], "malformed"), (&["good", "good"], "malformed")] {
        let answer = post(with_app(0), signatures, body);
        assert_eq!(
            (answer.error(), answer.json()["reason"].clone()),
            ((401, "invalid_signature".into()), json!(reason))
        );
    }
    assert_eq!(post(with_app(0), &["good"], &vec![b' '; (1 << 20) + 1]).error().0, 413);
    assert_eq!(post(Service::start(state()), &["good"], body).error(), (404, "not_found".into()));
}
