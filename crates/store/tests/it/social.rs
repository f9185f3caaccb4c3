//! Templates, conversations and settings: what an account may do, and that no other account's are in reach.

use domain::{
    AccountId, CustomerId, MessageId, PersonId, TemplateId,
    accounts::AccountStore,
    audit::{Action, Actor, Area, AuditLog, Entry},
    idempotency::IdempotencyKey,
    page::PageRequest,
    social::{
        Category, Channel, Choice, Classified, Decision, Handling, Mode, Reason, ReplyState, Status, Tongue,
        channels::{Change, Comment},
        classify,
        conversations::{
            Act, ActError, By, ChangeError, Conversation, ConversationChange, ConversationFilter, ConversationStore,
            Judgement,
        },
        replies::{Connected, Intake, NewSocialAccount, Permit, ProfileStore, ReplyQueue, SocialAccount, Undecided},
        settings::{Settings, SettingsError, SettingsStore},
        templates::{
            self, CreateError, Links, NewTemplate, Step, Template, TemplateChange, TemplateFilter, TemplateState,
            TemplateStore,
        },
    },
};
use store::Retention;
use time::{Duration, OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh, refuse, until_waiting},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-03 12:00 UTC);
const PAGE: PageRequest = PageRequest { limit: 50, cursor: None };

fn new_template(text: &str) -> NewTemplate {
    NewTemplate {
        name: "Prices".into(),
        category: Category::PriceQuestion,
        language: Tongue::Spanish,
        variations: vec![text.into()],
    }
}

async fn create(db: &Database, account: AccountId, text: &str) -> Result<Template, CreateError> {
    Ok(TemplateStore::create(&*db.store, account, new_template(text), None, None, NOW).await?.value)
}

async fn change(
    db: &Database,
    account: AccountId,
    id: TemplateId,
    change: TemplateChange,
) -> Result<Template, templates::ChangeError> {
    TemplateStore::change(&*db.store, account, id, change, None, NOW).await
}

fn approve() -> TemplateChange {
    TemplateChange { step: Some(Step::Approve { by: "Ana".into(), seen: None }), ..TemplateChange::default() }
}

fn says(text: &str) -> TemplateChange {
    TemplateChange { variations: Some(vec![text.into()]), ..TemplateChange::default() }
}

async fn profile(db: &Database, account: AccountId, number: &str) -> SocialAccount {
    let new = NewSocialAccount {
        account,
        channel: Channel::Instagram,
        external_id: number.into(),
        app_scoped_id: None,
        handle: Some("shop".into()),
    };
    let Connected::Done(id) = db.store.connect(new, NOW).await.unwrap() else { panic!() };
    db.store.profile(account, id).await.unwrap().unwrap()
}

fn comment(id: &str, parent: Option<&str>, text: &str) -> Comment {
    Comment {
        external_id: id.into(),
        post_id: Some("18".into()),
        ad_id: None,
        parent_id: parent.map(Into::into),
        author_id: Some("1000001".into()),
        username: Some("ana".into()),
        text: text.into(),
        is_hidden: false,
        posted_at: Some(NOW),
    }
}

async fn posted(db: &Database, profile: &SocialAccount, comment: Comment) -> u64 {
    db.store.take_in(profile, vec![Change::Posted(comment)], NOW).await.unwrap()
}

/// The comment that has waited longest for a decision.
async fn next(db: &Database) -> Option<Undecided> {
    match db.store.next_undecided(MessageId(0)).await.unwrap() {
        Some(next) => db.store.undecided(next, NOW).await.unwrap(),
        None => None,
    }
}

/// Decides about everything that waits, as the worker would with this decision.
async fn decide_all(db: &Database, decision: Decision) {
    while let Some(undecided) = next(db).await {
        let classified: Classified = classify(undecided.text.as_deref().unwrap_or_default());
        db.store.decided(&undecided, &classified, decision.clone(), None, NOW).await.unwrap();
    }
}

fn held() -> Decision {
    Decision::Hold { reason: Reason::NoTemplate, choice: None, again_at: None }
}

async fn all(db: &Database, account: AccountId) -> Vec<Conversation> {
    let filter = ConversationFilter::default();
    ConversationStore::page(&*db.store, account, filter, false, PAGE).await.unwrap().page.items
}

#[tokio::test]
async fn a_change_is_a_new_draft_and_the_approved_version_serves_on() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let id = create(&db, account, "Hola").await.unwrap().id;
    let approved = change(&db, account, id, approve()).await.unwrap();
    assert_eq!((approved.state, approved.version, approved.approved_version), (TemplateState::Approved, 1, Some(1)));
    assert_eq!(approved.approved_by.as_deref(), Some("Ana"));
    let draft = change(&db, account, id, says("Buenas")).await.unwrap();
    assert_eq!((draft.state, draft.version, draft.approved_version), (TemplateState::Draft, 2, Some(1)));
    assert_eq!((draft.approved_by, draft.content.variations()), (None, &["Buenas".to_owned()][..]));
    let rows = db.sql.query("SELECT version, variations FROM reply_template_versions ORDER BY 1", &[]).await.unwrap();
    let versions: Vec<(i64, Vec<String>)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert_eq!(versions, [(1, vec!["Hola".to_owned()]), (2, vec!["Buenas".to_owned()])]);
    let again = change(&db, account, id, approve()).await.unwrap();
    assert_eq!((again.state, again.approved_version), (TemplateState::Approved, Some(2)));
    let retire = TemplateChange { step: Some(Step::Retire), ..TemplateChange::default() };
    assert_eq!(change(&db, account, id, retire).await.unwrap().state, TemplateState::Retired);
    assert!(matches!(change(&db, account, id, approve()).await, Err(templates::ChangeError::Transition)));
    assert!(matches!(db.store.delete(account, id, None, NOW).await, Err(templates::ChangeError::Transition)));
}

#[tokio::test]
async fn templates_are_the_accounts_own_and_lead_to_its_own_hosts() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let link = "Ver https://shop.example.com/";
    assert!(matches!(create(&db, account, link).await, Err(CreateError::Invalid(_))));
    let links = Links { own_hosts: vec!["shop.example.com".into()], link: None };
    db.store.put(account, Settings { links, ..Settings::default() }, None, NOW).await.unwrap();
    let id = create(&db, account, link).await.unwrap().id;
    assert!(matches!(create(&db, other, link).await, Err(CreateError::Invalid(_))));
    assert!(matches!(change(&db, other, id, approve()).await, Err(templates::ChangeError::NotFound)));
    assert!(matches!(db.store.delete(other, id, None, NOW).await, Err(templates::ChangeError::NotFound)));
    let found = TemplateStore::page(&*db.store, other, TemplateFilter::default(), PAGE).await.unwrap();
    assert_eq!(found.items, []);
    db.store.delete(account, id, None, NOW).await.unwrap();
    assert!(matches!(db.store.delete(account, id, None, NOW).await, Err(templates::ChangeError::NotFound)));
}

#[tokio::test]
async fn the_last_template_is_the_200th_and_a_key_makes_one() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let key = IdempotencyKey { path: "/".into(), key: "k".into(), request_hash: [1; 32] };
    let make = async || {
        TemplateStore::create(&*db.store, account, new_template("Hola"), None, Some(key.clone()), NOW).await.unwrap()
    };
    let (first, second) = (make().await, make().await);
    assert_eq!((first.value.id, first.replayed, second.replayed), (second.value.id, false, true));
    db.sql
        .execute(
            "INSERT INTO reply_templates (account_id, name, category, language, state, version, created_at, updated_at)
            SELECT $1, 'x', 'other', 'es', 'draft', 1, now(), now() FROM generate_series(1, 198)",
            &[&account.0],
        )
        .await
        .unwrap();
    create(&db, account, "Hola").await.unwrap();
    assert!(matches!(create(&db, account, "Hola").await, Err(CreateError::LimitReached)));
}

#[tokio::test]
async fn a_thread_moves_up_with_every_message_and_each_is_noted_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    assert_eq!(posted(&db, &profile, comment("1", None, "hola")).await, 1);
    assert_eq!(posted(&db, &profile, comment("2", None, "buenas")).await, 1);
    assert_eq!(posted(&db, &profile, comment("1", None, "hola")).await, 0, "told twice");
    assert_eq!(posted(&db, &profile, comment("3", Some("1"), "¿hay alguien?")).await, 1);
    let found = all(&db, account).await;
    let seen: Vec<_> = found.iter().map(|c| (c.external_id.as_str(), c.messages_count, c.waiting_since)).collect();
    assert_eq!(seen, [("1", 2, Some(NOW)), ("2", 1, Some(NOW))]);
    // The shop answers on the network itself.
    let own = Comment { author_id: Some("17".into()), ..comment("4", Some("1"), "¡Hola!") };
    assert_eq!(posted(&db, &profile, own).await, 1);
    let found = all(&db, account).await;
    assert_eq!((found[0].waiting_since, found[0].handling), (None, Handling::Human));
    let first = PageRequest { limit: 2, cursor: None };
    let (_, newest) = ConversationStore::find(&*db.store, account, found[0].id, first).await.unwrap().unwrap();
    let older = PageRequest { limit: 2, cursor: newest.next_cursor };
    let (_, older) = ConversationStore::find(&*db.store, account, found[0].id, older).await.unwrap().unwrap();
    let bodies: Vec<_> =
        newest.items.iter().chain(&older.items).map(|message| message.body.as_deref().unwrap()).collect();
    assert_eq!(bodies, ["¡Hola!", "¿hay alguien?", "hola"]);
    assert_eq!(older.next_cursor, None);
}

#[tokio::test]
async fn a_list_goes_on_though_a_thread_moves_up_while_it_is_read() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    for id in ["1", "2", "3"] {
        posted(&db, &profile, comment(id, None, "hola")).await;
    }
    let threads = all(&db, account).await;
    let (newest, moving) = (&threads[0], &threads[1]);
    posted(&db, &profile, comment("4", Some("2"), "¿hay alguien?")).await;
    let top = all(&db, account).await[0].position;
    // As before that message, which comes while the page is read.
    let place = "UPDATE conversations SET position = $1 WHERE account_id = $2 AND id = $3";
    db.sql.execute(place, &[&moving.position, &account.0, &moving.id.0]).await.unwrap();
    let other = db.session().await;
    other.batch_execute("BEGIN; LOCK TABLE social_posts IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let first = PageRequest { limit: 1, cursor: None };
    let listing = ConversationStore::page(&*db.store, account, ConversationFilter::default(), false, first);
    let arrival = async {
        until_waiting(&db.sql, 1).await;
        other.execute(place, &[&top, &account.0, &moving.id.0]).await.unwrap();
        other.batch_execute("COMMIT").await.unwrap();
    };
    let (listed, ()) = tokio::join!(listing, arrival);
    let page = listed.unwrap().page;
    let seen: Vec<_> = page.items.iter().map(|conversation| conversation.external_id.as_str()).collect();
    assert_eq!((seen, page.next_cursor), (vec!["3"], Some(newest.position)));
}

#[tokio::test]
async fn what_is_deleted_or_hidden_is_closed_and_wiped() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    posted(&db, &profile, comment("1", None, "hola")).await;
    posted(&db, &profile, comment("2", None, "hola")).await;
    let changes = vec![Change::Removed("1".into()), Change::Hidden("2".into()), Change::Removed("unknown".into())];
    db.store.take_in(&profile, changes, NOW).await.unwrap();
    let found = all(&db, account).await;
    assert!(found.iter().all(|c| c.status == Status::Closed && c.waiting_since.is_none()));
    let bodies: Vec<_> = found.iter().map(|c| c.last_message.body.as_deref()).collect();
    assert_eq!(bodies, [Some("hola"), None]);
    assert_eq!(next(&db).await, None);
}

/// Networks send hooks in any order, and more than once.
#[tokio::test]
async fn what_is_gone_stays_gone_in_whatever_order_it_is_told() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    let edited = |id: &str| Change::Edited { comment: comment(id, None, "adiós"), at: Some(NOW) };
    let told = |id: &str| [Change::Posted(comment(id, None, "hola")), edited(id), Change::Removed(id.into())];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for (at, order) in orders.into_iter().enumerate() {
        let id = at.to_string();
        for change in order.map(|at| told(&id)[at].clone()).into_iter().chain(told(&id)) {
            db.store.take_in(&profile, vec![change], NOW).await.unwrap();
            if order[0] == 2 {
                assert_eq!(next(&db).await, None, "{order:?}");
            }
        }
    }
    let found = all(&db, account).await;
    assert_eq!(found.len(), orders.len());
    for gone in found {
        let at: usize = gone.external_id.parse().unwrap();
        assert_eq!((gone.status, gone.last_message.body, gone.waiting_since), (Status::Closed, None, None), "{at}");
    }
    assert_eq!(next(&db).await, None);
}

#[tokio::test]
async fn what_no_text_of_the_database_can_hold_is_left_out_of_a_comment() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    let named = Comment {
        username: Some("an\0a".into()),
        author_id: Some("100\u{0}0001".into()),
        ..comment("1\0", None, "ho\0la")
    };
    assert_eq!(posted(&db, &profile, named.clone()).await, 1);
    assert_eq!(posted(&db, &profile, named.clone()).await, 0);
    let edited = Change::Edited { comment: Comment { text: "a\0diós".into(), ..named }, at: Some(NOW) };
    assert_eq!(db.store.take_in(&profile, vec![edited], NOW).await.unwrap(), 1);
    let found = all(&db, account).await.remove(0);
    let said = (found.external_id.as_str(), found.username.as_deref(), found.last_message.body.as_deref());
    assert_eq!(said, ("1", Some("ana"), Some("adiós")));
    assert_eq!(db.store.take_in(&profile, vec![Change::Removed("\u{0}1".into())], NOW).await.unwrap(), 1);
}

#[tokio::test]
async fn the_newest_text_stays_in_whatever_order_edits_are_told() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    let edited = |id: &str, text: &str, seconds: i64| Change::Edited {
        comment: comment(id, None, text),
        at: Some(NOW + Duration::seconds(seconds)),
    };
    let told =
        |id: &str| [Change::Posted(comment(id, None, "hola")), edited(id, "¿precio?", 1), edited(id, "¿talle?", 2)];
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for (place, order) in orders.into_iter().enumerate() {
        for at in order {
            db.store.take_in(&profile, vec![told(&place.to_string())[at].clone()], NOW).await.unwrap();
        }
    }
    let found = all(&db, account).await;
    assert_eq!(found.len(), orders.len());
    for conversation in found {
        assert_eq!(conversation.last_message.body.as_deref(), Some("¿talle?"), "{}", conversation.external_id);
    }
    let unsaid = Change::Edited { comment: comment("0", None, "gracias"), at: None };
    assert_eq!(db.store.take_in(&profile, vec![unsaid], NOW + Duration::MINUTE).await.unwrap(), 1);
}

#[tokio::test]
async fn what_is_shown_again_waits_for_an_answer_again() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    let take_in = async |change| db.store.take_in(&profile, vec![change], NOW).await.unwrap();
    take_in(Change::Hidden("1".into())).await;
    posted(&db, &profile, comment("1", None, "hola")).await;
    assert_eq!((all(&db, account).await[0].status, next(&db).await), (Status::Closed, None));
    assert_eq!(take_in(Change::Unhidden("1".into())).await, 1);
    let found = all(&db, account).await;
    assert_eq!((found[0].status, found[0].waiting_since), (Status::Open, Some(NOW)));
    assert_eq!(next(&db).await.unwrap().comment_id, "1");
    take_in(Change::Removed("1".into())).await;
    assert_eq!(take_in(Change::Unhidden("1".into())).await, 0, "it is deleted");
    assert_eq!(next(&db).await, None);
}

/// A network may know a profile by a number that it never told; a handle is the profile's where no other has the same.
#[tokio::test]
async fn what_the_shop_itself_writes_is_no_customers() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    let own = |id, parent| Comment {
        author_id: Some("9".into()),
        username: Some("Shop".into()),
        ..comment(id, parent, "¡Hola!")
    };
    assert_eq!(posted(&db, &profile, own("1", None)).await, 0);
    posted(&db, &profile, comment("2", None, "¿precio?")).await;
    posted(&db, &profile, own("3", Some("2"))).await;
    let found = all(&db, account).await;
    assert_eq!((found.len(), found[0].handling, found[0].waiting_since), (1, Handling::Human, None));
    // On Facebook a handle is a name, which others may have.
    let page = SocialAccount { channel: Channel::Facebook, ..profile };
    posted(&db, &page, own("4", None)).await;
    assert_eq!(all(&db, account).await[0].external_id, "4");
}

#[tokio::test]
async fn what_a_person_closes_snoozes_or_takes_is_not_answered_by_the_bot() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    let template = create(&db, account, "Hola").await.unwrap();
    let changes = [
        ConversationChange { status: Some(Status::Closed), ..ConversationChange::default() },
        ConversationChange {
            status: Some(Status::Snoozed),
            snoozed_until: Some(NOW + Duration::HOUR),
            ..ConversationChange::default()
        },
        ConversationChange { handling: Some(Handling::Human), ..ConversationChange::default() },
    ];
    for (at, taken) in changes.into_iter().enumerate() {
        posted(&db, &profile, comment(&at.to_string(), None, "¿precio?")).await;
        let choice = Choice { template: template.id, version: 1, message: "Hola".into() };
        decide_all(&db, Decision::Send { choice, due_at: NOW }).await;
        let found = all(&db, account).await.swap_remove(0);
        assert_eq!(found.reply.unwrap().state, ReplyState::Reserved);
        let changed = ConversationStore::change(&*db.store, account, found.id, taken, None, NOW).await.unwrap();
        let reply = changed.reply.unwrap();
        assert_eq!((reply.state, reply.reason), (ReplyState::Held, Some(Reason::HumanActive)));
    }
}

/// What is undecided, what waits for its time, and what a worker decides by what was so before.
#[tokio::test]
async fn the_bot_answers_only_in_open_conversations() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    db.store.put(account, Settings::default(), None, NOW).await.unwrap();
    db.sql.execute("UPDATE social_settings SET mode = 'auto' WHERE account_id = $1", &[&account.0]).await.unwrap();
    let template = create(&db, account, "Hola").await.unwrap();
    let choice = Choice { template: template.id, version: 1, message: "Hola".into() };
    posted(&db, &profile, comment("1", None, "¿precio?")).await;
    let before = next(&db).await.unwrap();
    assert!(before.thread.is_open);
    let later = Decision::Hold { reason: Reason::QuietHours, choice: Some(choice.clone()), again_at: Some(NOW) };
    decide_all(&db, later).await;
    let id = all(&db, account).await[0].id;
    let becomes = async |status| {
        let change = ConversationChange { status: Some(status), ..ConversationChange::default() };
        ConversationStore::change(&*db.store, account, id, change, None, NOW).await.unwrap()
    };
    becomes(Status::Closed).await;
    db.store.wake(NOW).await.unwrap();
    assert!(!next(&db).await.unwrap().thread.is_open);
    let send = Decision::Send { choice, due_at: NOW };
    db.store.decided(&before, &classify("¿precio?"), send, None, NOW).await.unwrap();
    assert_eq!(db.store.take_reply(NOW, vec![account]).await.unwrap(), None, "the account is busy");
    let reply = db.store.take_reply(NOW, vec![AccountId(account.0 + 1)]).await.unwrap().unwrap();
    assert_eq!(db.store.sending(&reply, NOW).await.unwrap(), Permit::Stopped(Reason::HumanActive));
    becomes(Status::Open).await;
    assert_eq!(db.store.sending(&reply, NOW).await.unwrap(), Permit::Granted);
}

#[tokio::test]
async fn no_other_accounts_conversation_or_customer_is_in_reach() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let profile = profile(&db, account, "17").await;
    let taken = NewSocialAccount {
        account: other,
        channel: Channel::Instagram,
        external_id: "17".into(),
        app_scoped_id: None,
        handle: None,
    };
    assert_eq!(db.store.connect(taken, NOW).await.unwrap(), Connected::Elsewhere);
    posted(&db, &profile, comment("1", None, "hola")).await;
    decide_all(&db, held()).await;
    let id = all(&db, account).await[0].id;
    assert_eq!(all(&db, other).await, []);
    assert_eq!(ConversationStore::find(&*db.store, other, id, PAGE).await.unwrap(), None);
    let close = ConversationChange { status: Some(Status::Closed), ..ConversationChange::default() };
    assert!(matches!(
        ConversationStore::change(&*db.store, other, id, close, None, NOW).await,
        Err(ChangeError::NotFound)
    ));
    let skip = db.store.act(other, id, Act::Skip, "ana".to_owned().into(), None, NOW).await;
    assert!(matches!(skip, Err(ActError::NotFound)));
    let judgement = Judgement { correct: true, category: None };
    assert!(matches!(db.store.judge(other, id, judgement, None, None, NOW).await, Err(ActError::NotFound)));
    let (mine, theirs) = (shop::customer(&db.sql, account, "a").await, shop::customer(&db.sql, other, "b").await);
    let link = |customer: Option<i64>| ConversationChange {
        customer: Some(customer.map(CustomerId)),
        ..ConversationChange::default()
    };
    let refused = ConversationStore::change(&*db.store, account, id, link(Some(theirs)), None, NOW).await;
    assert!(matches!(refused, Err(ChangeError::UnknownCustomer)));
    db.sql.execute("UPDATE customers SET segment = 'vip' WHERE id = $1", &[&mine]).await.unwrap();
    let linked = ConversationStore::change(&*db.store, account, id, link(Some(mine)), None, NOW).await.unwrap();
    assert_eq!((linked.customer, linked.is_vip), (Some(CustomerId(mine)), true));
    // Also what they write later.
    posted(&db, &profile, comment("2", None, "otra vez")).await;
    assert_eq!(all(&db, account).await[0].customer, Some(CustomerId(mine)));
    let unchanged = ConversationStore::change(&*db.store, account, id, close, None, NOW).await.unwrap();
    assert_eq!(unchanged.customer, Some(CustomerId(mine)));
    let unlinked = ConversationStore::change(&*db.store, account, id, link(None), None, NOW).await.unwrap();
    assert_eq!((unlinked.customer, unlinked.is_vip), (None, false));
    posted(&db, &profile, comment("3", None, "y otra")).await;
    assert_eq!(all(&db, account).await[0].customer, None);
}

#[tokio::test]
async fn only_what_is_held_is_skipped_and_a_key_acts_once() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    posted(&db, &profile, comment("1", None, "hola")).await;
    let id = all(&db, account).await[0].id;
    let act = async |act, key| db.store.act(account, id, act, "ana".to_owned().into(), key, NOW).await;
    assert!(matches!(act(Act::Skip, None).await, Err(ActError::Transition)), "nothing was decided yet");
    decide_all(&db, held()).await;
    assert!(matches!(act(Act::Approve(None), None).await, Err(ActError::Transition)), "there is nothing to send");
    let key = IdempotencyKey { path: "/".into(), key: "k".into(), request_hash: [1; 32] };
    assert!(!act(Act::Skip, Some(key.clone())).await.unwrap().replayed);
    let replayed = act(Act::Skip, Some(key)).await.unwrap();
    assert_eq!((replayed.replayed, replayed.value.reply.unwrap().state), (true, ReplyState::Skipped));
    assert!(matches!(act(Act::Skip, None).await, Err(ActError::Transition)));
    let sent = act(Act::Send("Hola".into()), None).await.unwrap().value;
    assert_eq!((sent.handling, sent.reply.unwrap().state), (Handling::Human, ReplyState::Reserved));
    assert!(matches!(act(Act::Send("Hola".into()), None).await, Err(ActError::Transition)), "one answer a comment");
}

#[tokio::test]
async fn a_person_sends_another_template_in_use_and_holds_what_waits_for_its_time() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let profile = profile(&db, account, "17").await;
    posted(&db, &profile, comment("1", None, "hola")).await;
    let theirs = create(&db, other, "Hola").await.unwrap().id;
    change(&db, other, theirs, approve()).await.unwrap();
    let linked = create(&db, account, "Ver {link}").await.unwrap().id;
    change(&db, account, linked, approve()).await.unwrap();
    let id = create(&db, account, "Hola {username}").await.unwrap().id;
    decide_all(&db, held()).await;
    let conversation = all(&db, account).await[0].id;
    let act = async |act| db.store.act(account, conversation, act, "Ana".to_owned().into(), None, NOW).await;
    for unused in [theirs, id, TemplateId(i64::MAX)] {
        assert!(matches!(act(Act::Approve(Some(unused))).await, Err(ActError::UnknownTemplate)), "{unused}");
    }
    assert!(matches!(act(Act::Approve(Some(linked))).await, Err(ActError::NoLink)));
    change(&db, account, id, approve()).await.unwrap();
    change(&db, account, id, says("Buenas")).await.unwrap();
    assert!(matches!(act(Act::Hold).await, Err(ActError::Transition)), "it waits for a person already");
    let sent = act(Act::Approve(Some(id))).await.unwrap().value.reply.unwrap();
    assert_eq!((sent.state, sent.template, sent.template_version), (ReplyState::Reserved, Some(id), Some(1)));
    assert_eq!((sent.message.as_deref(), sent.actor.as_str()), (Some("Hola ana"), "Ana"));
    let held = act(Act::Hold).await.unwrap().value.reply.unwrap();
    assert_eq!((held.state, held.reason), (ReplyState::Held, Some(Reason::NeedsApproval)));
    let filter = ConversationFilter { reply_state: Some(ReplyState::Held), ..ConversationFilter::default() };
    let listed =
        async |account| ConversationStore::page(&*db.store, account, filter, false, PAGE).await.unwrap().page.items;
    assert_eq!((listed(account).await.len(), listed(other).await.len()), (1, 0));
    act(Act::Skip).await.unwrap();
    assert_eq!(listed(account).await.len(), 0);
    assert!(matches!(act(Act::Hold).await, Err(ActError::Transition)));
}

#[tokio::test]
async fn versions_are_shown_the_newest_first_and_stopping_leaves_the_other_settings() {
    let db = fresh().await;
    let (account, other) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    let id = create(&db, account, "Hola").await.unwrap().id;
    change(&db, account, id, approve()).await.unwrap();
    change(&db, account, id, says("Buenas")).await.unwrap();
    let (template, versions) = TemplateStore::find(&*db.store, account, id, PAGE).await.unwrap().unwrap();
    assert_eq!((template.version, template.approved_version), (2, Some(1)));
    let said: Vec<_> = versions
        .items
        .iter()
        .map(|one| (one.version, one.variations[0].as_str(), one.approved_by.as_deref()))
        .collect();
    assert_eq!(said, [(2, "Buenas", None), (1, "Hola", Some("Ana"))]);
    let first = PageRequest { limit: 1, cursor: None };
    let (_, page) = TemplateStore::find(&*db.store, account, id, first).await.unwrap().unwrap();
    assert_eq!((page.items.len(), page.next_cursor), (1, Some(2)));
    assert!(TemplateStore::find(&*db.store, other, id, PAGE).await.unwrap().is_none());

    let stop_words = Settings { mode: Mode::Approve, opt_out_words: vec!["basta".into()], ..Settings::default() };
    db.store.put(account, stop_words.clone(), None, NOW).await.unwrap();
    let stopped = db.store.stop(account, None, NOW).await.unwrap().settings;
    assert_eq!(stopped, Settings { mode: Mode::Off, ..stop_words });
    assert_eq!(db.store.setup(account).await.unwrap().settings, stopped);
    assert_eq!(db.store.setup(other).await.unwrap().settings.mode, Mode::DryRun);
}

#[tokio::test]
async fn who_has_no_name_gets_no_answer_that_says_it() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    posted(&db, &profile, Comment { author_id: None, username: None, ..comment("1", None, "hola") }).await;
    let id = create(&db, account, "Hola {username}").await.unwrap().id;
    change(&db, account, id, approve()).await.unwrap();
    decide_all(&db, held()).await;
    let conversation = all(&db, account).await[0].id;
    let act = db.store.act(account, conversation, Act::Approve(Some(id)), "Ana".to_owned().into(), None, NOW).await;
    assert!(matches!(act, Err(ActError::NoName)));
}

#[tokio::test]
async fn who_waits_is_known_in_whatever_order_the_network_tells() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    let at = |id: &str, parent: Option<&str>, seconds: i64| Comment {
        posted_at: Some(NOW + Duration::seconds(seconds)),
        ..comment(id, parent, "hola")
    };
    let own = |id: &str, parent: Option<&str>, seconds: i64| Comment {
        author_id: Some("17".into()),
        username: Some("shop".into()),
        ..at(id, parent, seconds)
    };
    posted(&db, &profile, own("answer to a", Some("a"), 10)).await;
    posted(&db, &profile, at("a", None, 0)).await;
    posted(&db, &profile, at("b", None, 0)).await;
    posted(&db, &profile, at("after the answer to b", Some("b"), 20)).await;
    posted(&db, &profile, own("answer to b", Some("b"), 10)).await;
    let found = all(&db, account).await.into_iter();
    let mut waiting: Vec<_> = found.map(|found| (found.external_id, found.waiting_since)).collect();
    waiting.sort();
    assert_eq!(waiting, [("a".to_owned(), None), ("b".to_owned(), Some(NOW + Duration::seconds(20)))]);
}

/// All of them in one transaction would take longer than one may.
#[tokio::test]
async fn of_many_comments_those_that_were_taken_in_stay_though_a_later_one_fails() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    refuse(&db.sql, "INSERT ON conversation_messages", "NEW.external_id = '100'").await;
    let changes = (0..120).map(|number: i32| Change::Posted(comment(&number.to_string(), None, "hola"))).collect();
    assert!(db.store.take_in(&profile, changes, NOW).await.is_err());
    let taken = "SELECT count(*) FROM conversation_messages";
    assert_eq!(db.sql.query_one(taken, &[]).await.unwrap().get::<_, i64>(0), 100);
}

#[tokio::test]
async fn what_a_person_does_is_noted_with_it() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let user = AccountStore::find(&*db.store, account).await.unwrap().unwrap().user_id;
    let by = Actor::Person { id: PersonId(1), name: "Ana".into() };
    let note = |action| Some(Entry::new(user.clone(), by.clone(), action, None));
    let id = TemplateStore::create(&*db.store, account, new_template("Hola"), note(Action::TemplateCreated), None, NOW);
    let id = id.await.unwrap().value.id;
    TemplateStore::change(&*db.store, account, id, approve(), note(Action::TemplateApproved), NOW).await.unwrap();
    let profile = profile(&db, account, "17").await;
    posted(&db, &profile, comment("1", None, "hola")).await;
    decide_all(&db, held()).await;
    let conversation = all(&db, account).await[0].id;
    let unseen = By { decided_at: Some(NOW - Duration::HOUR), ..By::from("Ana".to_owned()) };
    let other_words = db.store.act(account, conversation, Act::Skip, unseen, None, NOW).await;
    assert!(matches!(other_words, Err(ActError::Transition)), "another answer was looked at");
    let ana = |action| By { actor: "Ana".into(), note: note(action), decided_at: None };
    let later = NOW + Duration::HOUR;
    db.store.act(account, conversation, Act::Skip, ana(Action::ReplySkipped), None, later).await.unwrap();
    let skipped = all(&db, account).await.remove(0).reply.unwrap();
    assert_eq!((skipped.actor.as_str(), skipped.decided_at), ("Ana", later), "who decided, and when");
    let again = db.store.act(account, conversation, Act::Skip, ana(Action::ReplySkipped), None, NOW).await;
    assert!(matches!(again, Err(ActError::Transition)));
    let judgement = Judgement { correct: true, category: None };
    let key = Some(IdempotencyKey { path: "/j".to_owned(), key: "k".to_owned(), request_hash: [1; 32] });
    for replayed in [false, true] {
        let entry = note(Action::ReplyJudged);
        let judged = db.store.judge(account, conversation, judgement, entry, key.clone(), NOW).await.unwrap();
        assert_eq!(judged.replayed, replayed);
    }
    db.store.stop(account, note(Action::RepliesStopped), NOW).await.unwrap();
    let noted = AuditLog::page(&*db.store, &user, Some(Area::Conversations), PAGE).await.unwrap().items;
    let actions: Vec<_> = noted.iter().rev().map(|noted| noted.action).collect();
    let expected = [
        Action::TemplateCreated,
        Action::TemplateApproved,
        Action::ReplySkipped,
        Action::ReplyJudged,
        Action::RepliesStopped,
    ];
    assert_eq!(actions, expected, "what is refused is not noted");
    assert!(noted.iter().all(|noted| noted.by == by));
}

#[tokio::test]
async fn auto_is_earned_by_a_hundred_judgements_and_lost_by_the_second_error() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    for number in 0..102 {
        posted(&db, &profile, comment(&number.to_string(), None, "hola")).await;
    }
    let template = create(&db, account, "Hola").await.unwrap().id;
    decide_all(&db, Decision::DryRun { choice: Choice { template, version: 1, message: "Hola".into() } }).await;
    let auto = || Settings { mode: Mode::Auto, ..Settings::default() };
    let mut ids: Vec<_> = ConversationStore::page(
        &*db.store,
        account,
        ConversationFilter::default(),
        false,
        PageRequest { limit: 102, cursor: None },
    )
    .await
    .unwrap()
    .page
    .items
    .into_iter()
    .map(|conversation| conversation.id)
    .collect();
    let mut judge = async |correct, minute| {
        let id = ids.pop().unwrap();
        db.store
            .judge(account, id, Judgement { correct, category: None }, None, None, NOW + Duration::minutes(minute))
            .await
            .unwrap();
    };
    for minute in 0..99 {
        judge(minute != 50, minute).await;
    }
    assert!(matches!(db.store.put(account, auto(), None, NOW).await, Err(SettingsError::GateClosed(_))));
    judge(true, 99).await;
    let setup = db.store.put(account, auto(), None, NOW).await.unwrap();
    assert_eq!((setup.settings.mode, setup.gate.judged, setup.gate.wrong), (Mode::Auto, 100, 1));
    judge(false, 100).await;
    let setup = db.store.setup(account).await.unwrap();
    assert_eq!((setup.settings.mode, setup.gate.wrong), (Mode::Approve, 2));
}

#[tokio::test]
async fn only_what_the_bot_proposed_earns_auto() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    let template = create(&db, account, "Hola").await.unwrap().id;
    let other = create(&db, account, "Buen día").await.unwrap().id;
    let choice = Choice { template, version: 1, message: "Hola".into() };
    change(&db, account, other, approve()).await.unwrap();
    let own = || Some(Act::Send("Buenas".into()));
    let held_for = |reason, choice| Decision::Hold { reason, choice, again_at: None };
    let approval = held_for(Reason::NeedsApproval, Some(choice.clone()));
    let cases = [
        (held(), None, true, (0, 0)),
        (held(), None, false, (0, 0)),
        (held_for(Reason::Complaint, Some(choice.clone())), None, true, (0, 0)),
        (held_for(Reason::TooOld, Some(choice.clone())), Some(Act::Skip), false, (0, 0)),
        (approval.clone(), None, true, (0, 0)),
        (approval.clone(), Some(Act::Skip), true, (0, 0)),
        (approval.clone(), own(), true, (0, 0)),
        (approval.clone(), Some(Act::Approve(Some(other))), true, (0, 0)),
        (held_for(Reason::LowConfidence, None), Some(Act::Approve(Some(other))), true, (0, 0)),
        (approval.clone(), Some(Act::Skip), false, (1, 1)),
        (approval.clone(), own(), false, (2, 2)),
        (approval.clone(), Some(Act::Approve(Some(other))), false, (3, 3)),
        (approval, Some(Act::Approve(None)), true, (4, 3)),
        (Decision::DryRun { choice: choice.clone() }, None, true, (5, 3)),
        (Decision::DryRun { choice: choice.clone() }, own(), false, (6, 4)),
        (Decision::Send { choice, due_at: NOW }, None, true, (7, 4)),
    ];
    for (at, (decision, act, correct, gate)) in cases.into_iter().enumerate() {
        posted(&db, &profile, comment(&at.to_string(), None, "hola")).await;
        decide_all(&db, decision).await;
        let id = all(&db, account).await.swap_remove(0).id;
        if let Some(act) = act {
            db.store.act(account, id, act, By::person("Ana", None, None), None, NOW).await.unwrap();
        }
        db.store.judge(account, id, Judgement { correct, category: None }, None, None, NOW).await.unwrap();
        let found = db.store.setup(account).await.unwrap().gate;
        assert_eq!((found.judged, found.wrong), gate, "case {at}");
    }
}

#[tokio::test]
async fn an_answer_that_a_newer_comment_took_the_place_of_waits_for_nobody() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    let waiting = async || {
        let filter = ConversationFilter::default();
        ConversationStore::page(&*db.store, account, filter, false, PAGE).await.unwrap().summary.held
    };
    for (id, parent) in [("1", None), ("2", Some("1")), ("3", None)] {
        posted(&db, &profile, comment(id, parent, "hola")).await;
        decide_all(&db, held()).await;
    }
    assert_eq!((all(&db, account).await.len(), waiting().await), (2, 2));
}

#[tokio::test]
async fn a_comment_that_was_passed_holds_up_none_behind_it() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    for id in ["1", "2"] {
        posted(&db, &profile, comment(id, None, "hola")).await;
    }
    let first = db.store.next_undecided(MessageId(0)).await.unwrap().unwrap();
    let second = db.store.next_undecided(first.message).await.unwrap().unwrap();
    assert_eq!(first.account, account);
    assert_eq!(db.store.undecided(second, NOW).await.unwrap().unwrap().comment_id, "2");
    assert_eq!(db.store.next_undecided(second.message).await.unwrap(), None);
    decide_all(&db, held()).await;
    assert_eq!(db.store.undecided(second, NOW).await.unwrap(), None, "it was decided about");
}

#[tokio::test]
async fn texts_are_wiped_after_180_days() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let profile = profile(&db, account, "17").await;
    posted(&db, &profile, comment("1", None, "hola")).await;
    decide_all(&db, held()).await;
    let keep = Retention { track_months: 12, delivery_months: 12 };
    db.store.maintain_at(NOW + Duration::days(180), keep).await.unwrap();
    assert_eq!(all(&db, account).await[0].last_message.body.as_deref(), Some("hola"));
    db.store.maintain_at(NOW + Duration::days(180) + Duration::SECOND, keep).await.unwrap();
    let found = all(&db, account).await.remove(0);
    assert_eq!((found.last_message.body, found.reply.unwrap().reason), (None, Some(Reason::NoTemplate)));
}

/// Shops that were connected before there were questions have them read, too; going back and forth again changes nothing.
#[tokio::test]
async fn the_profile_of_a_shop_that_is_connected_already_is_made() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/2026-11-25-000161_questions");
    let [up, down] = ["up", "down"].map(|name| std::fs::read_to_string(folder.join(format!("{name}.sql"))).unwrap());
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await.0;
    let connected = "INSERT INTO integrations (account_id, id, provider, shop, shop_id, connected_at, revoked_at)
        OVERRIDING SYSTEM VALUE
        VALUES ($1, 501, 'mercadolibre', 'a.example', '77', now(), NULL),
            ($1, 502, 'mercadolibre', 'b.example', '78', now(), now()), ($1, 503, 'shopify', 'c.example', 'c', now(), NULL)";
    db.sql.execute(connected, &[&account]).await.unwrap();
    for _ in 0..2 {
        db.sql.batch_execute(&down).await.unwrap();
        db.sql.batch_execute(&up).await.unwrap();
    }
    let profiles = "SELECT channel, external_id, integration_id, poll_due_at IS NOT NULL AND ended_at IS NULL
        FROM social_accounts WHERE account_id = $1";
    let rows = db.sql.query(profiles, &[&account]).await.unwrap();
    let found: Vec<(String, String, i64, bool)> =
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2), row.get(3))).collect();
    assert_eq!(found, [("mercadolibre".to_owned(), "77".to_owned(), 501, true)]);
}
