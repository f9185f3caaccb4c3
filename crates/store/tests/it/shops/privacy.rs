//! Forgetting buyers: nothing of them stays or comes back, and no money is lost.

use domain::{
    AccountId, InboxId, IntegrationId, PrivacyRequestId, UserId,
    accounts::Platform,
    audit::{Action, Actor, Entry},
    daily::DailyStore,
    events::{Event, EventKind, Outbox, SocialAutoReplySent},
    imports::{Buyer, DocumentKind, DocumentPart, ImportStore, Line, ShopDocument, ShopSource, Target},
    integrations::RevokeReason,
    profit::DayRange,
    shops::{
        connections::{ConnectionStore, Revocation},
        hooks::PrivacyRequest,
        privacy::{NewRequest, PrivacyStore, Redacted, RequestKind, TIME_LIMIT},
    },
    social::{
        Author, Channel,
        replies::{ReplyQueue, Settlement},
    },
};
use futures_util::{StreamExt, stream};
use rust_decimal::{Decimal, dec};
use serde_json::Value;
use store::Importer;
use time::{
    Duration, OffsetDateTime,
    macros::{date, datetime},
};

use super::{NOW, connect};
use crate::{
    database::{Database, fresh},
    shop,
};

const DAY: OffsetDateTime = datetime!(2026-04-01 10:00 UTC);

fn document(kind: DocumentKind, id: &str, at: OffsetDateTime, buyer: &str, price: Decimal) -> DocumentPart {
    let buyer = Buyer {
        external_id: buyer.into(),
        email: Some(format!("{buyer}@example.com")),
        name: Some(buyer.to_uppercase()),
        city: Some("Quito".into()),
    };
    let line = Line {
        sku: "MUG".into(),
        is_product: true,
        name: None,
        category: None,
        quantity: 1,
        unit_price: price,
        unit_cost: None,
    };
    DocumentPart {
        kind,
        external_id: id.into(),
        at,
        buyer: Some(buyer),
        country: None,
        fees: None,
        shipping: None,
        lines: vec![line],
    }
}

/// Two buyers; ana has two orders and a refund.
fn documents() -> Vec<DocumentPart> {
    vec![
        document(DocumentKind::Order, "1", DAY, "ana", dec!(10)),
        document(DocumentKind::Order, "2", DAY + Duration::DAY, "ana", dec!(20)),
        document(DocumentKind::Refund, "R", DAY + Duration::days(2), "ana", dec!(5)),
        document(DocumentKind::Order, "3", DAY, "bob", dec!(40)),
    ]
}

async fn import(db: &Database, account: AccountId, parts: Vec<DocumentPart>) {
    let importer = Importer::new(db.connect());
    let target = Target { account, now: NOW, dry_run: false };
    importer
        .documents(target, Platform::Shopify, stream::iter([Ok(parts.into_iter().map(Into::into).collect())]).boxed())
        .await
        .unwrap();
}

async fn connected(db: &Database) -> (AccountId, IntegrationId) {
    let account = shop::account(&db.sql, "UTC").await;
    let id = connect(&db.store, account, Platform::Shopify, &account.to_string(), NOW).await.unwrap();
    import(db, account, documents()).await;
    (account, id)
}

async fn log(
    db: &Database,
    (account, id): (AccountId, IntegrationId),
    hook: i64,
    request: PrivacyRequest,
) -> PrivacyRequestId {
    let request = NewRequest { hook: InboxId(hook), request, received_at: NOW };
    PrivacyStore::log(&*db.store, account, id, request).await.unwrap()
}

fn forget(customer: &str, orders: &[&str]) -> PrivacyRequest {
    let orders = orders.iter().map(|order| (*order).to_owned()).collect();
    PrivacyRequest::RedactCustomer { customer: customer.into(), orders }
}

/// The days' (gross revenue, refunds, customers, new customers), once they are summed up.
async fn days(db: &Database, account: AccountId) -> Vec<(Decimal, Decimal, i64, i64)> {
    db.store.roll_up(account, &"UTC".parse().unwrap(), NOW).await.unwrap().unwrap();
    let range = DayRange { first: date!(2026 - 04 - 01), last: date!(2026 - 04 - 03) };
    let days = db.store.series(account, range).await.unwrap();
    days.into_iter().map(|day| (day.gross_revenue, day.refunds, day.customers, day.new_customers)).collect()
}

async fn count(db: &Database, account: AccountId, from: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {from} AND account_id = $1");
    db.sql.query_one(&sql, &[&account.0]).await.unwrap().get(0)
}

#[tokio::test]
async fn who_is_forgotten_is_gone_everywhere_while_the_money_stays() {
    let db = fresh().await;
    let (mine, theirs) = (connected(&db).await, connected(&db).await);
    let before = days(&db, mine.0).await;
    assert_eq!(before, [(dec!(50), dec!(0), 2, 2), (dec!(20), dec!(0), 1, 0), (dec!(0), dec!(5), 0, 0),]);
    let request = log(&db, mine, 1, forget("ana", &[])).await;
    assert_eq!(log(&db, mine, 1, forget("ana", &[])).await, request, "the same hook");
    assert_eq!(db.store.redact(theirs.0, request, NOW).await.unwrap(), None);
    let redacted = db.store.redact(mine.0, request, NOW).await.unwrap();
    assert_eq!(redacted, Some(Redacted { customers: 1, orders: 2 }));
    assert_eq!(db.store.redact(mine.0, request, NOW).await.unwrap(), redacted, "once more");
    assert_eq!(PrivacyStore::data_of(&*db.store, mine.0, Platform::Shopify, "ana").await.unwrap(), None);
    for kept in ["customers WHERE external_id = 'ana'", "orders WHERE customer_id IS NULL AND external_id = '3'"] {
        assert_eq!(count(&db, mine.0, kept).await, 0, "{kept}");
    }
    assert_eq!(
        days(&db, mine.0).await,
        [(dec!(50), dec!(0), 1, 1), (dec!(20), dec!(0), 0, 0), (dec!(0), dec!(5), 0, 0),]
    );
    for table in ["customer_days", "customer_totals"] {
        assert_eq!(count(&db, mine.0, &format!("{table} WHERE true")).await, 1, "{table}: bob's");
    }
    assert!(PrivacyStore::data_of(&*db.store, theirs.0, Platform::Shopify, "ana").await.unwrap().is_some());
    assert_eq!(count(&db, theirs.0, "customers WHERE true").await, 2);

    // The orders come in again, by file or sync, with the buyer still in them.
    import(&db, mine.0, documents()).await;
    assert_eq!(count(&db, mine.0, "customers WHERE external_id = 'ana'").await, 0);
    assert_eq!(count(&db, mine.0, "orders WHERE customer_id IS NULL").await, 2);
    assert_eq!(count(&db, mine.0, "orders WHERE customer_id IS NOT NULL").await, 1);
    import(&db, theirs.0, documents()).await;
    assert_eq!(count(&db, theirs.0, "orders WHERE customer_id IS NULL").await, 0);
}

/// Shopify's export of orders has no numbers of customers: it knows ana by her address.
#[tokio::test]
async fn a_buyer_is_given_out_and_forgotten_as_whom_files_know_by_the_same_address_too() {
    let db = fresh().await;
    let mine = connected(&db).await;
    let by_address = || {
        let document = document(DocumentKind::Order, "9", DAY, "ana@example.com", dec!(30));
        let buyer = document.buyer.map(|buyer| Buyer { email: Some("Ana@example.com".into()), ..buyer });
        vec![DocumentPart { buyer, ..document }]
    };
    import(&db, mine.0, by_address()).await;
    let data = PrivacyStore::data_of(&*db.store, mine.0, Platform::Shopify, "ana").await.unwrap().unwrap();
    let orders: Vec<_> = data.orders.iter().map(|order| order.external_id.as_str()).collect();
    assert_eq!((data.external_id.as_str(), orders), ("ana", vec!["1", "9", "2"]));
    let request = log(&db, mine, 1, forget("ana", &[])).await;
    let redacted = db.store.redact(mine.0, request, NOW).await.unwrap();
    assert_eq!(redacted, Some(Redacted { customers: 2, orders: 3 }));
    import(&db, mine.0, by_address()).await;
    assert_eq!(count(&db, mine.0, "customers WHERE external_id <> 'bob'").await, 0);
    assert_eq!(count(&db, mine.0, "orders WHERE customer_id IS NOT NULL").await, 1);
}

/// A conversation with each buyer, who wrote in it and in the others' and is to be answered.
async fn talk(db: &Database, AccountId(account): AccountId) {
    let talk = format!(
        "INSERT INTO conversations (account_id, channel, external_id, social_account_id, customer_id, username,
             author_external_id, position, messages_count, created_at, updated_at)
         SELECT account_id, 'instagram', 'c' || id, 1, id, external_id, 'a' || id, 0, 0, now(), now()
         FROM customers WHERE account_id = {account};
         INSERT INTO conversation_messages (account_id, conversation_id, channel, external_id, direction, author,
             author_external_id, body, fingerprint, hidden, sent_at, is_undecided)
         SELECT account_id, id, channel, external_id, 'in', 'customer', author_external_id, 'hola', sha256('hola'), false, now(), true
         FROM conversations WHERE account_id = {account};
         INSERT INTO auto_replies (account_id, channel, comment_id, conversation_id, state, author, actor, mode, category,
             confidence, hits, comment_hash, message, author_external_id, decided_at, reserved_at, due_at)
         SELECT account_id, channel, external_id, id, 'reserved', 'bot', 'bot', 'auto', 'praise', 1, '{{}}', '', 'Hola ' || username,
             author_external_id, now(), now(), now()
         FROM conversations WHERE account_id = {account};
         INSERT INTO conversation_messages (account_id, conversation_id, channel, external_id, direction, author,
             author_external_id, body, fingerprint, hidden, sent_at)
         SELECT c.account_id, c.id, c.channel, 'under ' || c.external_id || other.external_id, 'in', 'customer',
             other.author_external_id, 'soy ' || other.username, sha256('yo'), false, now()
         FROM conversations c JOIN conversations other ON other.account_id = c.account_id AND other.id <> c.id
         WHERE c.account_id = {account};
         INSERT INTO customer_handles (account_id, channel, author_external_id, customer_id, how, linked_at)
         SELECT account_id, 'instagram', 'a' || id, id, 'manual', now() FROM customers WHERE account_id = {account}"
    );
    db.sql.batch_execute(&talk).await.unwrap();
}

async fn user(db: &Database, account: AccountId) -> UserId {
    let row = db.sql.query_one("SELECT user_id FROM accounts WHERE id = $1", &[&account.0]).await.unwrap();
    row.get::<_, String>(0).parse().unwrap()
}

/// A buyer of a file, whom no platform speaks for; and who of the commenters they are.
#[tokio::test]
async fn a_shop_forgets_a_buyer_by_itself() {
    let db = fresh().await;
    let (mine, theirs) = (connected(&db).await.0, connected(&db).await.0);
    talk(&db, mine).await;
    talk(&db, theirs).await;
    let user = user(&db, mine).await;
    let forget = async || {
        let note = Entry::new(user.clone(), Actor::Operator, Action::CustomerForgotten, None);
        PrivacyStore::forget(&*db.store, mine, Platform::Shopify, "ana", note, NOW).await.unwrap()
    };
    assert_eq!(forget().await, Redacted { customers: 1, orders: 2 });
    assert_eq!(forget().await, Redacted::default(), "once more");
    assert_eq!(count(&db, mine, "customers WHERE external_id = 'ana'").await, 0);
    for kept in [
        "customer_handles WHERE true",
        "conversations WHERE customer_id IS NOT NULL",
        "conversations WHERE username IS NOT NULL",
        "conversations WHERE author_external_id IS NOT NULL AND status = 'open'",
        "conversation_messages WHERE author_external_id IS NOT NULL AND is_undecided",
        "auto_replies WHERE message IS NOT NULL AND author_external_id IS NOT NULL",
        "auto_replies WHERE state = 'reserved' AND due_at IS NOT NULL",
    ] {
        assert_eq!((count(&db, mine, kept).await, count(&db, theirs, kept).await), (1, 2), "{kept}");
    }
    // Of two comments and one by the other buyer under each.
    let texts = "conversation_messages WHERE body IS NOT NULL AND deleted_at IS NULL";
    assert_eq!((count(&db, mine, texts).await, count(&db, theirs, texts).await), (1, 4));
    import(&db, mine, documents()).await;
    assert_eq!(count(&db, mine, "customers WHERE external_id = 'ana'").await, 0);
    let noted = "SELECT count(*) FROM audit_entries WHERE account_id = $1 AND action = 'customer_forgotten'";
    assert_eq!(db.sql.query_one(noted, &[&mine.0]).await.unwrap().get::<_, i64>(0), 2);
}

/// Who was answered with which text, as receivers are told.
async fn told(db: &Database, account: AccountId) -> Vec<(String, String)> {
    let bodies = "SELECT body FROM events WHERE account_id = $1 AND kind = 'social.auto_reply_sent' ORDER BY id";
    let read = |body: &[u8]| {
        let body: Value = serde_json::from_slice(body).unwrap();
        let text = |field: &str| body["data"][field].as_str().unwrap().to_owned();
        assert_eq!((body["event"].as_str(), &*text("channel")), (Some("social.auto_reply_sent"), "instagram"));
        (text("username"), text("message"))
    };
    db.sql.query(bodies, &[&account.0]).await.unwrap().iter().map(|row| read(row.get(0))).collect()
}

#[tokio::test]
async fn what_receivers_are_told_of_answers_forgets_as_well() {
    let db = fresh().await;
    let (mine, theirs) = (connected(&db).await.0, connected(&db).await.0);
    for account in [mine, theirs] {
        talk(&db, account).await;
        let send = "UPDATE auto_replies SET state = 'sent', due_at = NULL, reply_id = 'r' || comment_id, sent_at = $2
            WHERE account_id = $1 RETURNING comment_id, message";
        for row in db.sql.query(send, &[&account.0, &NOW]).await.unwrap() {
            let (comment_id, message): (String, String) = (row.get(0), row.get(1));
            let username = message.strip_prefix("Hola ").unwrap().to_owned();
            let Event::SocialAutoReplySent(sample) = Event::sample(EventKind::SocialAutoReplySent) else {
                unreachable!()
            };
            let event = SocialAutoReplySent { comment_id, message, username, ..sample };
            db.store.emit(account, &[event.into()], NOW).await.unwrap();
        }
    }
    let of = |name: &str| (name.to_owned(), format!("Hola {name}"));
    let sorted = async |account| {
        let mut told = told(&db, account).await;
        told.sort_unstable();
        told
    };
    assert_eq!(sorted(mine).await, [of("ana"), of("bob")]);
    let note = Entry::new(user(&db, mine).await, Actor::Operator, Action::CustomerForgotten, None);
    PrivacyStore::forget(&*db.store, mine, Platform::Shopify, "ana", note, NOW).await.unwrap();
    assert_eq!(sorted(mine).await, [(String::new(), String::new()), of("bob")]);
    assert_eq!(sorted(theirs).await, [of("ana"), of("bob")]);
}

/// All events of a busy shop would take longer than a statement may: one that is read of another instant shows it by its body.
#[tokio::test]
async fn of_events_those_of_the_instants_of_answers_alone_are_read() {
    let db = fresh().await;
    let mine = connected(&db).await.0;
    talk(&db, mine).await;
    answer(&db, mine).await;
    let unreadable = "INSERT INTO events (account_id, kind, body, created_at)
        SELECT account_id, 'social.auto_reply_sent', 'no JSON', max(sent_at) + interval '1 microsecond'
        FROM auto_replies WHERE account_id = $1 GROUP BY account_id";
    assert_eq!(db.sql.execute(unreadable, &[&mine.0]).await.unwrap(), 1);
    let note = Entry::new(user(&db, mine).await, Actor::Operator, Action::CustomerForgotten, None);
    let forgotten = PrivacyStore::forget(&*db.store, mine, Platform::Shopify, "ana", note, NOW).await.unwrap();
    assert_eq!(forgotten.customers, 1);
}

/// A worker sends it meanwhile.
#[tokio::test]
async fn an_answer_on_its_way_brings_back_nothing_of_who_was_forgotten() {
    let db = fresh().await;
    let mine = connected(&db).await.0;
    talk(&db, mine).await;
    let send =
        "UPDATE auto_replies SET state = 'sending', due_at = CASE WHEN message = 'Hola ana' THEN $2::timestamptz END,
        template_id = 1, template_version = 1 WHERE account_id = $1";
    db.sql.execute(send, &[&mine.0, &NOW]).await.unwrap();
    let taken = db.store.take_reply(NOW, Vec::new()).await.unwrap().unwrap();
    assert_eq!(taken.message, "Hola ana");
    let note = Entry::new(user(&db, mine).await, Actor::Operator, Action::CustomerForgotten, None);
    PrivacyStore::forget(&*db.store, mine, Platform::Shopify, "ana", note, NOW).await.unwrap();
    let sent = Settlement::Sent { reply_id: "r".into(), recovered: false };
    assert!(db.store.settle(&taken, sent, NOW).await.unwrap());
    assert_eq!(told(&db, mine).await, [(String::new(), String::new())]);
    for noted in [
        "conversation_messages WHERE external_id = 'r' AND body IS NULL AND deleted_at IS NOT NULL",
        "auto_replies WHERE reply_id = 'r' AND state = 'sent' AND message IS NULL AND author_external_id IS NULL",
    ] {
        assert_eq!(count(&db, mine, noted).await, 1, "{noted}");
    }
}

#[tokio::test]
async fn an_answer_to_a_comment_without_an_author_is_kept_though_the_comment_was_removed() {
    let db = fresh().await;
    let mine = connected(&db).await.0;
    talk(&db, mine).await;
    let send =
        "UPDATE auto_replies SET state = 'sending', due_at = CASE WHEN message = 'Hola ana' THEN $2::timestamptz END,
        template_id = 1, template_version = 1, author_external_id = NULL WHERE account_id = $1";
    db.sql.execute(send, &[&mine.0, &NOW]).await.unwrap();
    let taken = db.store.take_reply(NOW, Vec::new()).await.unwrap().unwrap();
    let removed = "UPDATE conversation_messages SET author_external_id = NULL, body = NULL, deleted_at = $2 WHERE account_id = $1";
    db.sql.execute(removed, &[&mine.0, &NOW]).await.unwrap();
    let sent = Settlement::Sent { reply_id: "r".into(), recovered: false };
    assert!(db.store.settle(&taken, sent, NOW).await.unwrap());
    assert_eq!(count(&db, mine, "conversation_messages WHERE external_id = 'r' AND body = 'Hola ana'").await, 1);
}

/// Every comment is answered, that under another's as well.
async fn answer(db: &Database, AccountId(account): AccountId) {
    let answer = format!(
        "INSERT INTO auto_replies (account_id, channel, comment_id, conversation_id, state, author, actor, mode, category,
             confidence, hits, comment_hash, message, author_external_id, decided_at, reserved_at, reply_id, sent_at)
         SELECT m.account_id, m.channel, m.external_id, m.conversation_id, 'sent', 'bot', 'bot', 'auto', 'praise', 1, '{{}}', '',
             'Hola ' || u.external_id || CASE WHEN m.external_id LIKE 'under %' THEN ' otra vez' ELSE '' END,
             m.author_external_id, now(), now(), 'r ' || m.external_id, now()
         FROM conversation_messages m JOIN customers u ON u.account_id = m.account_id AND 'a' || u.id = m.author_external_id
         WHERE m.account_id = {account}
         ON CONFLICT (account_id, channel, comment_id) DO UPDATE SET state = 'sent', due_at = NULL,
             reply_id = EXCLUDED.reply_id, sent_at = EXCLUDED.sent_at;
         INSERT INTO conversation_messages (account_id, conversation_id, channel, external_id, direction, author, body,
             fingerprint, sent_at)
         SELECT account_id, conversation_id, channel, reply_id, 'out', 'bot', message, sha256('hola'), now()
         FROM auto_replies WHERE account_id = {account}"
    );
    db.sql.batch_execute(&answer).await.unwrap();
}

#[tokio::test]
async fn answers_to_who_is_forgotten_are_wiped_under_others_comments_as_well() {
    let db = fresh().await;
    let mine = connected(&db).await.0;
    talk(&db, mine).await;
    answer(&db, mine).await;
    let note = Entry::new(user(&db, mine).await, Actor::Operator, Action::CustomerForgotten, None);
    PrivacyStore::forget(&*db.store, mine, Platform::Shopify, "ana", note, NOW).await.unwrap();
    let left =
        "SELECT string_agg(body, ', ' ORDER BY body COLLATE \"C\") FROM conversation_messages WHERE account_id = $1";
    let left: String = db.sql.query_one(left, &[&mine.0]).await.unwrap().get(0);
    assert_eq!(left, "Hola bob, hola");
}

#[tokio::test]
async fn all_that_is_kept_of_a_buyer_is_given_out_and_nothing_of_others() {
    let db = fresh().await;
    let mine = connected(&db).await.0;
    talk(&db, mine).await;
    answer(&db, mine).await;
    // The shop writes at the network itself, where bob wrote as well, and where nobody but ana did.
    let alone = format!(
        "INSERT INTO conversations (account_id, channel, external_id, social_account_id, customer_id, author_external_id,
             position, messages_count, created_at, updated_at)
         SELECT account_id, channel, 'alone', 1, customer_id, author_external_id, 0, 0, now(), now()
         FROM conversations WHERE account_id = {0} AND username = 'ana';
         INSERT INTO conversation_messages (account_id, conversation_id, channel, external_id, direction, author, body,
             fingerprint, sent_at)
         SELECT c.account_id, c.id, c.channel, 'written ' || c.id, 'out', 'human',
             CASE c.external_id WHEN 'alone' THEN 'De nada' ELSE 'Gracias a todos' END, sha256('x'), now()
         FROM conversations c JOIN customers u ON u.account_id = c.account_id AND u.id = c.customer_id
         WHERE c.account_id = {0} AND u.external_id = 'ana'",
        mine.0
    );
    db.sql.batch_execute(&alone).await.unwrap();
    let kept = PrivacyStore::data_of(&*db.store, mine, Platform::Shopify, "ana").await.unwrap().unwrap();
    let refunds: Vec<_> = kept.refunds.iter().map(|refund| (refund.external_id.as_str(), refund.amount)).collect();
    assert_eq!(refunds, [("R", dec!(5))]);
    assert_eq!(kept.refunds[0].refunded_at, DAY + Duration::days(2));
    let mut messages: Vec<_> = kept.messages.iter().map(|message| (message.text.as_str(), message.author)).collect();
    messages.sort_unstable_by_key(|(text, _)| *text);
    let expected = [
        ("De nada", Author::Human),
        ("Hola ana", Author::Bot),
        ("Hola ana otra vez", Author::Bot),
        ("hola", Author::Customer),
        ("soy ana", Author::Customer),
    ];
    assert_eq!(messages, expected);
    assert!(kept.messages.iter().all(|message| message.channel == Channel::Instagram));
}

#[tokio::test]
async fn named_orders_lose_their_buyer_and_a_shop_all_of_them() {
    let db = fresh().await;
    let mine = connected(&db).await;
    let unknown = log(&db, mine, 1, forget("nobody", &["3"])).await;
    let redacted = db.store.redact(mine.0, unknown, NOW).await.unwrap();
    assert_eq!(redacted, Some(Redacted { customers: 0, orders: 1 }));
    let shop = log(&db, mine, 2, PrivacyRequest::RedactShop).await;
    let redacted = db.store.redact(mine.0, shop, NOW).await.unwrap();
    assert_eq!(redacted, Some(Redacted { customers: 2, orders: 2 }));
    assert_eq!(count(&db, mine.0, "customers WHERE true").await, 0);
    assert_eq!(
        days(&db, mine.0).await,
        [(dec!(50), dec!(0), 0, 0), (dec!(20), dec!(0), 0, 0), (dec!(0), dec!(5), 0, 0),]
    );
    // A shop that is connected again later gives its buyers again.
    import(&db, mine.0, documents()).await;
    assert_eq!(count(&db, mine.0, "orders WHERE customer_id IS NOT NULL").await, 3);
}

/// Imports orders that a connection read, each with its buyer.
async fn read(db: &Database, (account, integration): (AccountId, IntegrationId), orders: &[(&str, &str)]) {
    let whole = |(id, buyer): &(&str, &str)| ShopDocument {
        order_id: (*id).to_owned(),
        parts: vec![document(DocumentKind::Order, id, DAY, buyer, dec!(10))],
        is_whole: true,
        is_there: true,
    };
    let documents: Vec<ShopDocument> = orders.iter().map(whole).collect();
    let target = Target { account, now: NOW, dry_run: false };
    let source = ShopSource { platform: Platform::Shopify, integration };
    Importer::new(db.connect()).shop_documents(target, source, stream::iter([Ok(documents)]).boxed()).await.unwrap();
}

/// The platform asks weeks after the app was removed; by then the owner may have another shop there.
#[tokio::test]
async fn a_shop_is_forgotten_without_the_buyers_of_the_one_that_was_connected_since() {
    let db = fresh().await;
    let account = shop::account(&db.sql, "UTC").await;
    let old = connect(&db.store, account, Platform::Shopify, "old", NOW).await.unwrap();
    read(&db, (account, old), &[("1", "ana"), ("2", "bob")]).await;
    let end = Revocation { reason: RevokeReason::Uninstalled, generation: None, now: NOW };
    db.store.revoke(account, old, end, None).await.unwrap();
    let new = connect(&db.store, account, Platform::Shopify, "new", NOW).await.unwrap();
    read(&db, (account, new), &[("3", "bob"), ("4", "cleo")]).await;
    import(&db, account, vec![document(DocumentKind::Order, "5", DAY, "dan", dec!(10))]).await;

    let request = log(&db, (account, old), 1, PrivacyRequest::RedactShop).await;
    let redacted = db.store.redact(account, request, NOW).await.unwrap();
    assert_eq!(redacted, Some(Redacted { customers: 2, orders: 2 }), "ana, and dan who came by file");
    assert_eq!(count(&db, account, "customers WHERE external_id IN ('bob', 'cleo')").await, 2);
    assert_eq!(count(&db, account, "orders WHERE customer_id IS NULL AND external_id IN ('1', '5')").await, 2);
    assert_eq!(count(&db, account, "orders WHERE customer_id IS NOT NULL").await, 3);
}

#[tokio::test]
async fn copies_of_the_account_as_of_a_day_forget_as_well() {
    let db = fresh().await;
    let mine = connected(&db).await;
    let copy: i64 = db
        .sql
        .query_one(
            "INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, created_at, copy_of, as_of)
             SELECT user_id, mode, name, plan, currency, timezone, created_at, id, '2026-04-02' FROM accounts WHERE id = $1
             RETURNING id",
            &[&mine.0.0],
        )
        .await
        .unwrap()
        .get(0);
    for table in ["customers", "orders"] {
        let rows = format!("SELECT copy_rows($1, $2, '{table}', 'true', '2026-04-02', now())");
        db.sql.execute(&rows, &[&mine.0.0, &copy]).await.unwrap();
    }
    let request = log(&db, mine, 1, forget("ana", &[])).await;
    let redacted = db.store.redact(mine.0, request, NOW).await.unwrap();
    assert_eq!(redacted, Some(Redacted { customers: 1, orders: 2 }));
    assert_eq!(count(&db, AccountId(copy), "customers WHERE true").await, 1);
    assert_eq!(count(&db, AccountId(copy), "orders WHERE customer_id IS NULL").await, 2);
}

#[tokio::test]
async fn a_large_shop_is_forgotten_in_steps() {
    let db = fresh().await;
    let mine = connected(&db).await;
    let before = count(&db, mine.0, "customers WHERE source = 'shopify'").await;
    let many = "INSERT INTO customers (account_id, source, external_id, created_at)
        SELECT $1, 'shopify', 'many' || n, now() FROM generate_series(1, 2500) n";
    db.sql.execute(many, &[&mine.0.0]).await.unwrap();
    let request = log(&db, mine, 1, PrivacyRequest::RedactShop).await;
    let redacted = db.store.redact(mine.0, request, NOW).await.unwrap().unwrap();
    assert_eq!(redacted.customers, 2_500 + before);
    assert_eq!(count(&db, mine.0, "customers WHERE source = 'shopify'").await, 0);
    assert_eq!(db.store.redact(mine.0, request, NOW).await.unwrap(), Some(redacted), "as it was counted");
}

#[tokio::test]
async fn open_requests_are_listed_by_when_they_are_due_and_data_is_answered_per_customer() {
    let db = fresh().await;
    let (mine, theirs) = (connected(&db).await, connected(&db).await);
    let data = log(&db, mine, 5, PrivacyRequest::Data { customer: "ana".into() }).await;
    let shop = log(&db, theirs, 5, PrivacyRequest::RedactShop).await;
    let open = db.store.open().await.unwrap();
    let listed: Vec<_> = open.iter().map(|request| (request.account, request.id, request.kind)).collect();
    assert_eq!(listed, [(mine.0, data, RequestKind::Data), (theirs.0, shop, RequestKind::RedactShop)]);
    assert_eq!((open[0].due_at, open[0].provider), (NOW + TIME_LIMIT, Platform::Shopify));
    assert_eq!(open[0].customer.as_deref(), Some("ana"));

    let kept = PrivacyStore::data_of(&*db.store, mine.0, Platform::Shopify, "ana").await.unwrap().unwrap();
    assert_eq!((kept.email.as_deref(), kept.name.as_deref()), (Some("ana@example.com"), Some("ANA")));
    assert_eq!((kept.city.as_deref(), kept.created_at), (Some("Quito"), DAY));
    let orders: Vec<_> = kept.orders.iter().map(|order| (order.external_id.as_str(), order.gross)).collect();
    assert_eq!(orders, [("1", dec!(10)), ("2", dec!(20))]);
    assert_eq!(PrivacyStore::data_of(&*db.store, mine.0, Platform::Tiendanube, "ana").await.unwrap(), None);

    assert_eq!(db.store.redact(mine.0, data, NOW).await.unwrap(), None, "it asks for data");
    assert!(!db.store.answered(theirs.0, data, NOW).await.unwrap());
    assert!(db.store.answered(mine.0, data, NOW).await.unwrap());
    assert!(!db.store.answered(mine.0, data, NOW).await.unwrap());
    assert!(!db.store.answered(theirs.0, shop, NOW).await.unwrap());
    assert_eq!(db.store.open().await.unwrap().len(), 1);
}
