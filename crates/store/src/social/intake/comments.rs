//! One change of a comment, taken in.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId,
    social::{
        Author, Channel, Direction, Handling, Reason, Status,
        channels::{Change, Comment},
        fingerprint_of,
        replies::SocialAccount,
    },
};
use time::OffsetDateTime;

use crate::{
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
    schema::{conversation_messages as messages, conversations, customer_handles, social_posts, social_removals},
};

/// Takes a change in; whether it was news.
pub(super) async fn take_in(
    connection: &mut AsyncPgConnection,
    profile: &SocialAccount,
    change: &Change,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    match change {
        Change::Posted(comment) => posted(connection, profile, comment, None, now).await,
        Change::Edited { comment, at } => {
            let at = at.unwrap_or(now);
            if edited(connection, profile, comment, at, now).await? > 0 {
                return Ok(true);
            }
            posted(connection, profile, comment, Some(at), now).await
        }
        Change::Removed(id) => removal(connection, profile, id, Reason::Deleted, now).await,
        Change::Hidden(id) => removal(connection, profile, id, Reason::Hidden, now).await,
        Change::Unhidden(id) => unhidden(connection, profile, id, now).await,
    }
}

async fn posted(
    connection: &mut AsyncPgConnection,
    profile: &SocialAccount,
    comment: &Comment,
    edited_at: Option<OffsetDateTime>,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let is_own = profile.is_own(comment.author_id.as_deref(), comment.username.as_deref());
    let Some(conversation) = thread(connection, profile, comment, is_own, now).await? else { return Ok(false) };
    if is_own && is_ours(connection, profile, conversation, comment).await? {
        // The bot's answer comes back as a comment: it is settled by the worker that sent it.
        return Ok(false);
    }
    let (direction, author) = if is_own { (Direction::Out, Author::Human) } else { (Direction::In, Author::Customer) };
    let sent_at = comment.posted_at.unwrap_or(now);
    let message = NewMessage {
        external_id: &comment.external_id,
        direction,
        author,
        author_id: comment.author_id.as_deref(),
        body: Some(&comment.text),
        is_hidden: comment.is_hidden,
        sent_at,
        edited_at,
    };
    let is_new = insert(connection, (profile.account, profile.channel), conversation, message, now).await?;
    if is_new && let Some(reason) = removed_before(connection, profile, &comment.external_id).await? {
        gone(connection, profile, &comment.external_id, reason, now).await?;
    }
    if is_new && is_own {
        if profile.channel.takes_one_answer() {
            settled(connection, profile.account.0, conversation, Reason::HumanActive.as_str()).await?;
        } else {
            take_over(connection, profile.account.0, conversation).await?;
        }
        diesel::update(conversations::table.find((profile.account.0, conversation)))
            .set(conversations::handling.eq(Handling::Human.as_str()))
            .execute(connection)
            .await?;
    }
    Ok(is_new)
}

statement!(
    /// What was reserved in a thread waits for a person from now on.
    TakeOver<'a>(account: i64 => BigInt, conversation: i64 => BigInt, reason: &'a str => Text) -> () = "
    UPDATE auto_replies SET state = 'held', reason = $3, due_at = NULL, claim = claim + 1
    WHERE account_id = $1 AND conversation_id = $2 AND state = 'reserved' AND actor = 'bot'"
);

/// A person acts in a thread: the bot's answer that has not been sent is theirs to decide.
pub(in crate::social) async fn take_over(
    connection: &mut AsyncPgConnection,
    account: i64,
    conversation: i64,
) -> diesel::QueryResult<()> {
    TakeOver { account, conversation, reason: Reason::HumanActive.as_str() }.execute(connection).await?;
    Ok(())
}

statement!(
    /// What was to be answered has its answer.
    SkipAnswered<'a>(account: i64 => BigInt, conversation: i64 => BigInt, reason: &'a str => Text) -> () = "
    UPDATE auto_replies SET state = 'skipped', reason = $3, due_at = NULL, claim = claim + 1
    WHERE account_id = $1 AND conversation_id = $2 AND state IN ('reserved', 'held')"
);

/// Somebody of the shop gave the one answer that there can be: nothing is left to decide.
async fn settled(
    connection: &mut AsyncPgConnection,
    account: i64,
    conversation: i64,
    reason: &str,
) -> Result<(), Failure> {
    SkipAnswered { account, conversation, reason }.execute(connection).await?;
    diesel::update(messages::table)
        .filter(messages::account_id.eq(account))
        .filter(messages::conversation_id.eq(conversation))
        .filter(messages::is_undecided)
        .set(messages::is_undecided.eq(false))
        .execute(connection)
        .await?;
    Ok(())
}

statement!(
    /// Whether an answer with this text was or is being sent in the thread.
    Echo<'a>(account: i64 => BigInt, conversation: i64 => BigInt, text: &'a str => Text, id: &'a str => Text)
        -> Scalar<diesel::sql_types::Bool> = "
    SELECT EXISTS (SELECT FROM auto_replies WHERE account_id = $1 AND conversation_id = $2
        AND (reply_id = $4 OR (message = $3 AND state IN ('sending', 'unknown'))))"
);

async fn is_ours(
    connection: &mut AsyncPgConnection,
    profile: &SocialAccount,
    conversation: i64,
    comment: &Comment,
) -> Result<bool, Failure> {
    let echo = Echo { account: profile.account.0, conversation, text: &comment.text, id: &comment.external_id };
    Ok(echo.get_result(connection).await?)
}

statement!(
    /// The thread that a comment stands in: its own, or that of the comment which it answers.
    ThreadOf<'a>(account: i64 => BigInt, channel: &'a str => Text, id: &'a str => Text) -> Scalar<BigInt> = "
    SELECT conversation_id FROM conversation_messages WHERE account_id = $1 AND channel = $2 AND external_id = $3"
);

/// The conversation of a comment, made if it begins one. `None`: an own post's comment that answers nobody.
async fn thread(
    connection: &mut AsyncPgConnection,
    profile: &SocialAccount,
    comment: &Comment,
    is_own: bool,
    now: OffsetDateTime,
) -> Result<Option<i64>, Failure> {
    let (account, channel) = (profile.account.0, profile.channel.as_str());
    let first = comment.parent_id.as_deref().unwrap_or(&comment.external_id);
    let known = ThreadOf { account, channel, id: first };
    let known: Option<i64> = known.get_result(connection).await.optional()?;
    if known.is_some() {
        return Ok(known);
    }
    if is_own && comment.parent_id.is_none() {
        return Ok(None);
    }
    if let Some(post) = &comment.post_id {
        diesel::insert_into(social_posts::table)
            .values((
                social_posts::account_id.eq(account),
                social_posts::channel.eq(channel),
                social_posts::external_id.eq(post),
                social_posts::ad_id.eq(&comment.ad_id),
            ))
            .on_conflict_do_nothing()
            .execute(connection)
            .await?;
    }
    let author = comment.author_id.as_deref().filter(|_| !is_own);
    let customer = match author {
        Some(author) => {
            let link = customer_handles::table.find((account, channel, author)).select(customer_handles::customer_id);
            link.first::<i64>(connection).await.optional()?
        }
        None => None,
    };
    diesel::insert_into(conversations::table)
        .values((
            (conversations::account_id.eq(account), conversations::channel.eq(channel)),
            conversations::external_id.eq(first),
            conversations::social_account_id.eq(profile.id.0),
            conversations::post_external_id.eq(&comment.post_id),
            conversations::author_external_id.eq(author),
            conversations::username.eq(comment.username.as_deref().filter(|_| !is_own)),
            conversations::customer_id.eq(customer),
            conversations::position.eq(0),
            conversations::messages_count.eq(0),
            conversations::created_at.eq(now),
            conversations::updated_at.eq(now),
        ))
        .on_conflict_do_nothing()
        .execute(connection)
        .await?;
    let made = conversations::table
        .filter(conversations::account_id.eq(account))
        .filter(conversations::channel.eq(channel))
        .filter(conversations::external_id.eq(first))
        .select(conversations::id)
        .for_update();
    Ok(Some(made.first(connection).await?))
}

/// A message that is to be noted.
pub(in crate::social) struct NewMessage<'a> {
    pub external_id: &'a str,
    pub direction: Direction,
    pub author: Author,
    pub author_id: Option<&'a str>,
    /// None: it is not to be kept, nor to be brought back by a change that the network tells of.
    pub body: Option<&'a str>,
    pub is_hidden: bool,
    pub sent_at: OffsetDateTime,
    /// Since when it has its text, where the network told that it was edited.
    pub edited_at: Option<OffsetDateTime>,
}

/// Notes a message, and moves its conversation up. False when it was noted before.
pub(in crate::social) async fn insert(
    connection: &mut AsyncPgConnection,
    (account, channel): (AccountId, Channel),
    conversation: i64,
    message: NewMessage<'_>,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let NewMessage { external_id, direction, author, author_id, body, is_hidden, sent_at, edited_at } = message;
    let id: Option<i64> = diesel::insert_into(messages::table)
        .values((
            (messages::account_id.eq(account.0), messages::channel.eq(channel.as_str())),
            messages::conversation_id.eq(conversation),
            messages::external_id.eq(external_id),
            messages::direction.eq(direction.as_str()),
            messages::author.eq(author.as_str()),
            messages::author_external_id.eq(author_id),
            messages::fingerprint.eq(fingerprint_of(body.unwrap_or_default()).to_vec()),
            messages::deleted_at.eq(body.is_none().then_some(now)),
            messages::body.eq(body),
            messages::hidden.eq(is_hidden),
            messages::sent_at.eq(sent_at),
            messages::edited_at.eq(edited_at),
            messages::is_undecided.eq(direction == Direction::In),
        ))
        .on_conflict_do_nothing()
        .returning(messages::id)
        .get_result(connection)
        .await
        .optional()?;
    let Some(id) = id else { return Ok(false) };
    let moved = MoveUp {
        account: account.0,
        conversation,
        message: id,
        sent_at,
        is_in: direction == Direction::In,
        status: Status::Open.as_str(),
        now,
    };
    moved.execute(connection).await?;
    Ok(true)
}

statement!(
    /// Who writes in a closed or snoozed conversation opens it; who answers leaves it as it is. Networks tell of things in any order:
    /// what a person answered later does not wait, and an answer is none to what was written after it.
    MoveUp<'a>(
        account: i64 => BigInt,
        conversation: i64 => BigInt,
        message: i64 => BigInt,
        sent_at: OffsetDateTime => Timestamptz,
        is_in: bool => Bool,
        status: &'a str => Text,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE conversations SET position = $3, messages_count = messages_count + 1, updated_at = $7,
        waiting_since = CASE
            WHEN $5 AND EXISTS (SELECT FROM conversation_messages m WHERE m.account_id = $1 AND m.conversation_id = $2
                AND m.author = 'human' AND m.sent_at >= $4) THEN waiting_since
            WHEN $5 THEN coalesce(waiting_since, $4)
            WHEN waiting_since IS NOT NULL THEN (SELECT min(m.sent_at) FROM conversation_messages m WHERE m.account_id = $1
                AND m.conversation_id = $2 AND m.direction = 'in' AND m.deleted_at IS NULL AND NOT m.hidden AND m.sent_at > $4)
        END,
        status = CASE WHEN $5 THEN $6 ELSE status END, snoozed_until = CASE WHEN NOT $5 THEN snoozed_until END
    WHERE account_id = $1 AND id = $2"
);

statement!(
    /// An answer to the text before is no answer to the new one, unless it may have been sent.
    Reconsider<'a>(account: i64 => BigInt, channel: &'a str => Text, comment: &'a str => Text) -> () = "
    UPDATE auto_replies SET state = 'held', reason = 'needs_approval', due_at = NULL, claim = claim + 1
    WHERE account_id = $1 AND channel = $2 AND comment_id = $3 AND state IN ('reserved', 'held', 'dry_run') AND actor = 'bot'"
);

/// The message that a comment is.
#[diesel::dsl::auto_type(no_type_alias)]
fn message<'a>(account: i64, channel: &'a str, comment: &'a str) -> _ {
    messages::table
        .filter(messages::account_id.eq(account))
        .filter(messages::channel.eq(channel))
        .filter(messages::external_id.eq(comment))
}

/// A comment has another text since `at`, unless it has one that is newer: networks tell of things in any order.
async fn edited(
    connection: &mut AsyncPgConnection,
    profile: &SocialAccount,
    comment: &Comment,
    at: OffsetDateTime,
    now: OffsetDateTime,
) -> Result<usize, Failure> {
    let (account, channel) = (profile.account.0, profile.channel.as_str());
    let text = comment.text.as_str();
    let found = diesel::update(message(account, channel, &comment.external_id))
        .filter(messages::deleted_at.is_null())
        .filter(messages::edited_at.is_null().or(messages::edited_at.le(at)))
        .set((
            messages::edited_at.eq(at),
            messages::fingerprint.eq(fingerprint_of(text).to_vec()),
            messages::body.eq(text),
            messages::is_undecided.eq(messages::direction.eq(Direction::In.as_str())),
            messages::vote_due_at.eq(None::<OffsetDateTime>),
        ))
        .execute(connection)
        .await?;
    if found > 0 {
        Reconsider { account, channel, comment: &comment.external_id }.execute(connection).await?;
        Touch { account, channel, comment: &comment.external_id, now }.execute(connection).await?;
    }
    Ok(found)
}

statement!(
    Touch<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE conversations SET updated_at = $4 WHERE account_id = $1 AND id = (
        SELECT conversation_id FROM conversation_messages WHERE account_id = $1 AND channel = $2 AND external_id = $3)"
);

statement!(
    /// A thread whose first comment is gone is closed.
    Close<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE conversations SET status = 'closed', snoozed_until = NULL, waiting_since = NULL, updated_at = $4
    WHERE account_id = $1 AND channel = $2 AND external_id = $3"
);

statement!(
    HoldGone<'a>(account: i64 => BigInt, channel: &'a str => Text, comment: &'a str => Text, reason: &'a str => Text) -> () = "
    UPDATE auto_replies SET state = 'held', reason = $4, due_at = NULL, claim = claim + 1
    WHERE account_id = $1 AND channel = $2 AND comment_id = $3 AND state IN ('reserved', 'held', 'dry_run')"
);

/// Why a comment that is told of for the first time is gone already.
async fn removed_before(
    connection: &mut AsyncPgConnection,
    profile: &SocialAccount,
    comment: &str,
) -> Result<Option<Reason>, Failure> {
    let key = (profile.account.0, profile.channel.as_str(), comment);
    let removal = diesel::delete(social_removals::table.find(key)).returning(social_removals::is_deleted);
    let is_deleted: Option<bool> = removal.get_result(connection).await.optional()?;
    Ok(is_deleted.map(|is_deleted| if is_deleted { Reason::Deleted } else { Reason::Hidden }))
}

/// A comment was deleted or hidden. Networks tell of things in any order: of a comment that is not known yet it is remembered.
/// Deleted is more than hidden.
async fn removal(
    connection: &mut AsyncPgConnection,
    profile: &SocialAccount,
    comment: &str,
    reason: Reason,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    use social_removals::{account_id, channel, comment_id, is_deleted, table, told_at};
    let (account, network) = (profile.account.0, profile.channel.as_str());
    let known = ThreadOf { account, channel: network, id: comment };
    if known.get_result::<i64>(connection).await.optional()?.is_some() {
        return gone(connection, profile, comment, reason, now).await;
    }
    let deleted = reason == Reason::Deleted;
    diesel::insert_into(table)
        .values((
            account_id.eq(account),
            channel.eq(network),
            comment_id.eq(comment),
            is_deleted.eq(deleted),
            told_at.eq(now),
        ))
        .on_conflict((account_id, channel, comment_id))
        .do_update()
        .set(is_deleted.eq(is_deleted.or(deleted.into_sql::<Bool>())))
        .execute(connection)
        .await?;
    Ok(false)
}

statement!(
    /// A thread that waits for an answer again since its first comment is shown again.
    Reopen<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        sent_at: OffsetDateTime => Timestamptz,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE conversations SET status = 'open', snoozed_until = NULL, waiting_since = coalesce(waiting_since, $4), updated_at = $5
    WHERE account_id = $1 AND channel = $2 AND external_id = $3"
);

/// A comment is hidden no longer: it is decided about as if it were new.
async fn unhidden(
    connection: &mut AsyncPgConnection,
    profile: &SocialAccount,
    comment: &str,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let (account, channel) = (profile.account.0, profile.channel.as_str());
    let removal = social_removals::table.find((account, channel, comment));
    diesel::delete(removal.filter(social_removals::is_deleted.eq(false))).execute(connection).await?;
    let sent_at: Option<OffsetDateTime> = diesel::update(message(account, channel, comment))
        .filter(messages::hidden.eq(true))
        .filter(messages::deleted_at.is_null())
        .set((messages::hidden.eq(false), messages::is_undecided.eq(messages::direction.eq(Direction::In.as_str()))))
        .returning(messages::sent_at)
        .get_result(connection)
        .await
        .optional()?;
    let Some(sent_at) = sent_at else { return Ok(false) };
    Touch { account, channel, comment, now }.execute(connection).await?;
    Reopen { account, channel, comment, sent_at, now }.execute(connection).await?;
    Ok(true)
}

/// A known comment was deleted or hidden. Hearing so again changes nothing.
async fn gone(
    connection: &mut AsyncPgConnection,
    profile: &SocialAccount,
    comment: &str,
    reason: Reason,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let (account, channel) = (profile.account.0, profile.channel.as_str());
    let target = diesel::update(message(account, channel, comment));
    let found = if reason == Reason::Deleted {
        let wiped = (messages::body.eq(None::<String>), messages::deleted_at.eq(now), messages::is_undecided.eq(false));
        target.filter(messages::deleted_at.is_null()).set(wiped).execute(connection).await?
    } else {
        let hidden = (messages::hidden.eq(true), messages::is_undecided.eq(false));
        target.filter(messages::hidden.eq(false)).set(hidden).execute(connection).await?
    };
    if found == 0 {
        return Ok(false);
    }
    HoldGone { account, channel, comment, reason: reason.as_str() }.execute(connection).await?;
    Touch { account, channel, comment, now }.execute(connection).await?;
    Close { account, channel, comment, now }.execute(connection).await?;
    Ok(true)
}
