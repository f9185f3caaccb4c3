//! [`ReplyQueue`] on Postgres: answers on their way to the network.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bool, Bytea, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, ConversationId, SocialAccountId, StoreError,
    events::{Event, Instant, SocialAutoReplySent},
    social::{
        Author, Direction, Reason,
        replies::{LEASE, LOOK_INTERVAL, Permit, ReplyQueue, Settlement, TakenReply},
    },
};
use time::OffsetDateTime;

use super::intake::{NewMessage, insert};
use crate::{
    Store,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::reply_templates,
    webhooks::outbox,
};

statement!(
    /// The answer that is due first, but of no account that is busy. Locks nothing: it looks at every account.
    Due(now: OffsetDateTime => Timestamptz, busy: Vec<i64> => Array<BigInt>) -> DueRow = "
    SELECT account_id, channel, comment_id, claim FROM auto_replies
    WHERE due_at <= $1 AND account_id <> ALL ($2) AND state IN ('reserved', 'sending', 'unknown') ORDER BY due_at LIMIT 1"
);

row!(
    struct DueRow {
        account_id: i64 => BigInt,
        channel: String => Text,
        comment_id: String => Text,
        claim: i64 => BigInt,
    }
);

statement!(
    /// Of two workers that saw the same the second takes nothing. Who was sending and is not heard of may have sent.
    Take<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        claim: i64 => BigInt,
        until: OffsetDateTime => Timestamptz,
    ) -> ReplyRow = "
    UPDATE auto_replies r SET claim = r.claim + 1, due_at = $5,
        state = CASE r.state WHEN 'sending' THEN 'unknown' ELSE r.state END
    FROM conversations c
    WHERE r.account_id = $1 AND r.channel = $2 AND r.comment_id = $3 AND r.claim = $4
        AND c.account_id = r.account_id AND c.id = r.conversation_id
    RETURNING r.conversation_id, c.social_account_id, r.message, r.author, r.actor = 'bot' AS is_bots, r.comment_hash,
        r.reserved_at, r.claim, r.attempts, r.looks, r.state = 'unknown' AS is_unknown, r.may_retry, r.reason"
);

row!(
    struct ReplyRow {
        conversation_id: i64 => BigInt,
        social_account_id: i64 => BigInt,
        message: Option<String> => Nullable<Text>,
        author: String => Text,
        is_bots: bool => Bool,
        comment_hash: Vec<u8> => Bytea,
        reserved_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        claim: i64 => BigInt,
        attempts: i64 => BigInt,
        looks: i64 => BigInt,
        is_unknown: bool => Bool,
        may_retry: bool => Bool,
        reason: Option<String> => Nullable<Text>,
    }
);

statement!(
    /// What the bot decided by itself is sent only while it may answer by itself, in a thread that is open and still its own, and to
    /// nobody who asked to be left alone meanwhile.
    Sending<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        claim: i64 => BigInt,
        until: OffsetDateTime => Timestamptz,
    ) -> SendingRow = "
    UPDATE auto_replies r SET
        state = CASE WHEN g.is_granted THEN 'sending' ELSE r.state END,
        attempts = r.attempts + CASE WHEN g.is_granted THEN 1 ELSE 0 END, looks = 0, due_at = $5
    FROM (SELECT is_human, has_opted_out, actor <> 'bot' OR NOT is_human AND NOT has_opted_out
            AND coalesce((SELECT s.mode = 'auto' FROM social_settings s WHERE s.account_id = $1), false) AS is_granted
        FROM (SELECT d.actor, c.handling = 'human' OR c.status <> 'open' AS is_human,
                EXISTS (SELECT FROM social_opt_outs o WHERE o.account_id = $1 AND o.channel = $2
                    AND o.author_external_id = d.author_external_id) AS has_opted_out
            FROM auto_replies d JOIN conversations c ON c.account_id = d.account_id AND c.id = d.conversation_id
            WHERE d.account_id = $1 AND d.channel = $2 AND d.comment_id = $3) AS thread) AS g
    WHERE r.account_id = $1 AND r.channel = $2 AND r.comment_id = $3 AND r.claim = $4 AND r.state IN ('reserved', 'unknown')
    RETURNING g.is_granted, g.is_human, g.has_opted_out"
);

row!(
    struct SendingRow {
        is_granted: bool => Bool,
        is_human: bool => Bool,
        has_opted_out: bool => Bool,
    }
);

#[async_trait]
impl ReplyQueue for Store {
    async fn take_reply(&self, now: OffsetDateTime, busy: Vec<AccountId>) -> Result<Option<TakenReply>, StoreError> {
        let due = Due { now, busy: busy.into_iter().map(|account| account.0).collect() };
        let taken = self
            .run::<_, Failure>(async |connection| {
                let due: Option<DueRow> = due.get_result(connection).await.optional()?;
                let Some(DueRow { account_id, channel, comment_id, claim }) = due else { return Ok(None) };
                let take =
                    Take { account: account_id, channel: &channel, comment: &comment_id, claim, until: now + LEASE };
                let row: Option<ReplyRow> = take.get_result(connection).await.optional()?;
                Ok(row.map(|row| (account_id, channel, comment_id, row)))
            })
            .await?;
        let Some((account, channel, comment_id, row)) = taken else { return Ok(None) };
        let ReplyRow {
            conversation_id,
            social_account_id,
            message,
            author,
            is_bots,
            comment_hash,
            reserved_at,
            claim,
            attempts,
            looks,
            is_unknown,
            may_retry,
            reason,
        } = row;
        Ok(Some(TakenReply {
            account: AccountId(account),
            channel: parse(&channel, "channel")?,
            comment_id,
            conversation: ConversationId(conversation_id),
            profile: SocialAccountId(social_account_id),
            message: message.unwrap_or_default(),
            author: parse(&author, "author")?,
            is_bots,
            comment_hash,
            reserved_at: reserved_at.unwrap_or(now),
            claim,
            attempts,
            looks,
            is_unknown,
            may_retry,
            reason: reason.map(|reason| parse(&reason, "reason")).transpose()?,
        }))
    }

    async fn sending(&self, reply: &TakenReply, now: OffsetDateTime) -> Result<Permit, StoreError> {
        let sending = Sending {
            account: reply.account.0,
            channel: reply.channel.as_str(),
            comment: &reply.comment_id,
            claim: reply.claim,
            until: now + LEASE,
        };
        let row: Option<SendingRow> =
            self.run::<_, Failure>(async |connection| Ok(sending.get_result(connection).await.optional()?)).await?;
        Ok(match row {
            None => Permit::Superseded,
            Some(SendingRow { is_granted: true, .. }) => Permit::Granted,
            Some(SendingRow { has_opted_out: true, .. }) => Permit::Stopped(Reason::OptedOut),
            Some(SendingRow { is_human: true, .. }) => Permit::Stopped(Reason::HumanActive),
            Some(_) => Permit::Stopped(Reason::NeedsApproval),
        })
    }

    async fn settle(
        &self,
        reply: &TakenReply,
        settlement: Settlement,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let settled =
            self.transact::<_, Failure>(async |connection| settle(connection, reply, &settlement, now).await).await?;
        Ok(settled)
    }
}

statement!(
    /// Whether who wrote a comment was forgotten while it was answered: the answer knows them still. Who forgets them waits until
    /// this transaction ends.
    Forgotten<'a>(account: i64 => BigInt, channel: &'a str => Text, comment: &'a str => Text) -> Scalar<Bool> = "
    SELECT m.author_external_id IS NULL AND m.deleted_at IS NOT NULL AND r.author_external_id IS NOT NULL
    FROM conversation_messages m
    JOIN auto_replies r ON r.account_id = $1 AND r.channel = $2 AND r.comment_id = m.external_id
    WHERE m.account_id = $1 AND m.channel = $2 AND m.external_id = $3 FOR SHARE OF m"
);

statement!(
    Settle<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        claim: i64 => BigInt,
        state: Option<&'a str> => Nullable<Text>,
        reason: Option<&'a str> => Nullable<Text>,
        due_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        looks: i64 => BigInt,
        may_retry: bool => Bool,
        reply_id: Option<&'a str> => Nullable<Text>,
        recovered: bool => Bool,
        now: OffsetDateTime => Timestamptz,
        wipe: bool => Bool,
    ) -> SettledRow = "
    UPDATE auto_replies r SET state = coalesce($5, r.state), reason = $6, due_at = $7, looks = $8, may_retry = $9,
        reply_id = $10, recovered = $11, sent_at = CASE WHEN $10 IS NOT NULL THEN $12 END,
        message = CASE WHEN NOT $13 THEN r.message END,
        author_external_id = CASE WHEN NOT $13 THEN r.author_external_id END
    FROM conversations c LEFT JOIN customers u ON u.account_id = c.account_id AND u.id = c.customer_id
    WHERE r.account_id = $1 AND r.channel = $2 AND r.comment_id = $3 AND r.claim = $4
        AND r.state IN ('reserved', 'sending', 'unknown') AND c.account_id = r.account_id AND c.id = r.conversation_id
    RETURNING r.template_id, r.template_version, r.category, r.language, c.username,
        coalesce(u.segment = 'vip', false) AS is_vip"
);

row!(
    struct SettledRow {
        template_id: Option<i64> => Nullable<BigInt>,
        template_version: Option<i64> => Nullable<BigInt>,
        category: String => Text,
        language: Option<String> => Nullable<Text>,
        username: Option<String> => Nullable<Text>,
        is_vip: bool => Bool,
    }
);

async fn settle(
    connection: &mut AsyncPgConnection,
    reply: &TakenReply,
    settlement: &Settlement,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    let (channel, comment) = (reply.channel.as_str(), reply.comment_id.as_str());
    let forgotten = Forgotten { account: reply.account.0, channel, comment };
    let is_forgotten: Option<bool> = forgotten.get_result(connection).await.optional()?;
    let is_forgotten = is_forgotten.unwrap_or(false);
    let mut settle = Settle {
        account: reply.account.0,
        channel,
        comment,
        claim: reply.claim,
        state: None,
        reason: reply.reason.map(Reason::as_str),
        due_at: None,
        looks: reply.looks,
        may_retry: reply.may_retry,
        reply_id: None,
        recovered: false,
        now,
        wipe: false,
    };
    match settlement {
        Settlement::Sent { reply_id, recovered } => {
            (settle.state, settle.reason) = (Some("sent"), None);
            (settle.reply_id, settle.recovered) = (Some(reply_id.as_str()), *recovered);
        }
        Settlement::Unknown { may_retry, reason } => {
            (settle.state, settle.reason) = (Some("unknown"), reason.map(Reason::as_str));
            (settle.due_at, settle.looks, settle.may_retry) = (Some(now + LOOK_INTERVAL), 0, *may_retry);
        }
        Settlement::NotFound => (settle.due_at, settle.looks) = (Some(now + LOOK_INTERVAL), reply.looks + 1),
        Settlement::Later { due_at } => settle.due_at = Some(*due_at),
        // As one whose hour has come.
        Settlement::DecideAgain => {
            (settle.state, settle.reason) = (Some("held"), Some(Reason::NeedsApproval.as_str()));
            settle.due_at = Some(now);
        }
        Settlement::Held(reason) => (settle.state, settle.reason) = (Some("held"), Some(reason.as_str())),
        Settlement::Failed => settle.state = Some("failed"),
    }
    // One that is looked for is known by its text.
    settle.wipe = is_forgotten && settle.due_at.is_none();
    let row: Option<SettledRow> = settle.get_result(connection).await.optional()?;
    let Some(row) = row else { return Ok(false) };
    if let Settlement::Sent { reply_id, recovered } = settlement {
        let text = (!is_forgotten).then_some(reply.message.as_str());
        sent(connection, reply, (reply_id, text, *recovered), row, now).await?;
    }
    Ok(true)
}

/// Notes the message, counts the template, and tells receivers of an answer by template. No text: the person was forgotten.
async fn sent(
    connection: &mut AsyncPgConnection,
    reply: &TakenReply,
    (reply_id, text, recovered): (&str, Option<&str>, bool),
    row: SettledRow,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    let SettledRow { template_id, template_version, category, language, username, is_vip } = row;
    let message = NewMessage {
        external_id: reply_id,
        direction: Direction::Out,
        author: if template_id.is_some() { Author::Bot } else { Author::Human },
        author_id: None,
        body: text,
        is_hidden: false,
        sent_at: now,
        edited_at: None,
    };
    insert(connection, (reply.account, reply.channel), reply.conversation.0, message, now).await?;
    let (Some(template), Some(version)) = (template_id, template_version) else { return Ok(()) };
    diesel::update(reply_templates::table.find((reply.account.0, template)))
        .set(reply_templates::used_count.eq(reply_templates::used_count + 1))
        .execute(connection)
        .await?;
    let event = Event::from(SocialAutoReplySent {
        comment_id: reply.comment_id.clone(),
        reply_id: reply_id.to_owned(),
        message: text.unwrap_or_default().to_owned(),
        username: username.filter(|_| text.is_some()).unwrap_or_default(),
        category,
        template_id: template,
        is_vip,
        replied_at: Instant(now),
        channel: reply.channel,
        conversation_id: reply.conversation.0,
        template_version: version,
        language: language.map(|language| parse(&language, "language")).transpose()?,
        recovered,
    });
    outbox::emit(connection, reply.account, std::slice::from_ref(&event), now).await?;
    Ok(())
}
