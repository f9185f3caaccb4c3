//! The next comment to be decided about, with what is known around it.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Bytea, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, ConversationId, MessageId, TemplateId,
    social::{
        RAID_WINDOW, Sent, Thread,
        replies::{Undecided, Waiting},
        votes::{Earlier, Vote},
    },
};
use time::{Duration, OffsetDateTime};

use crate::{
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
    },
    social::{settings, templates},
};

statement!(
    /// Of all accounts; locks nothing, as two workers that decide the same write it once.
    Next(after: i64 => BigInt) -> NextRow = "
    SELECT account_id, id FROM conversation_messages WHERE is_undecided AND vote_due_at IS NULL AND id > $1
    ORDER BY id LIMIT 1"
);

statement!(
    /// The same of those that wait for a vote.
    NextVote(now: OffsetDateTime => Timestamptz) -> NextRow = "
    SELECT account_id, id FROM conversation_messages WHERE is_undecided AND vote_due_at <= $1 ORDER BY vote_due_at LIMIT 1"
);

row!(
    struct NextRow {
        account_id: i64 => BigInt,
        id: i64 => BigInt,
    }
);

statement!(
    Comment(account: i64 => BigInt, id: i64 => BigInt) -> CommentRow = "
    SELECT m.channel, m.external_id, m.body, m.hidden, m.sent_at, m.author_external_id, c.id AS conversation_id, c.username,
        c.post_external_id, c.handling, c.status = 'open' AS is_open,
        EXISTS (SELECT FROM social_opt_outs o WHERE o.account_id = $1 AND o.channel = m.channel
            AND o.author_external_id = m.author_external_id) AS opted_out,
        EXISTS (SELECT FROM auto_replies r WHERE r.account_id = $1 AND r.conversation_id = c.id AND r.comment_id <> m.external_id
            AND r.author = 'bot' AND r.state IN ('reserved', 'sending', 'sent', 'unknown')) AS was_answered,
        EXISTS (SELECT FROM conversation_messages h WHERE h.account_id = $1 AND h.conversation_id = c.id
            AND h.author = 'human') AS has_human,
        a.ended_at IS NOT NULL AS is_token_dead, v.comment_hash AS vote_hash, v.verdict, v.template_id AS voted_template,
        r.finished_at AS vote_ended_at
    FROM conversation_messages m
    JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id
    JOIN social_accounts a ON a.account_id = c.account_id AND a.id = c.social_account_id
    LEFT JOIN social_votes v ON v.account_id = m.account_id AND v.channel = m.channel AND v.comment_id = m.external_id
    LEFT JOIN ai_runs r ON r.account_id = v.account_id AND r.id = v.run_id
    WHERE m.account_id = $1 AND m.id = $2 AND m.is_undecided"
);

row!(
    struct CommentRow {
        channel: String => Text,
        external_id: String => Text,
        body: Option<String> => Nullable<Text>,
        hidden: bool => Bool,
        sent_at: OffsetDateTime => Timestamptz,
        author_external_id: Option<String> => Nullable<Text>,
        conversation_id: i64 => BigInt,
        username: Option<String> => Nullable<Text>,
        post_external_id: Option<String> => Nullable<Text>,
        handling: String => Text,
        is_open: bool => Bool,
        opted_out: bool => Bool,
        was_answered: bool => Bool,
        has_human: bool => Bool,
        is_token_dead: bool => Bool,
        vote_hash: Option<Vec<u8>> => Nullable<Bytea>,
        verdict: Option<String> => Nullable<Text>,
        voted_template: Option<i64> => Nullable<BigInt>,
        vote_ended_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

statement!(
    /// Answers of the bot that count against the caps, and how many people wrote the same lately.
    Counts<'a>(
        account: i64 => BigInt,
        author: Option<&'a str> => Nullable<Text>,
        post: Option<&'a str> => Nullable<Text>,
        message: i64 => BigInt,
        day_ago: OffsetDateTime => Timestamptz,
        hour_ago: OffsetDateTime => Timestamptz,
        raid_since: OffsetDateTime => Timestamptz,
    ) -> CountsRow = "
    SELECT count(*) FILTER (WHERE author_external_id = $2) AS user_day,
        count(*) FILTER (WHERE reserved_at > $6 AND post_external_id = $3) AS post_hour,
        count(*) FILTER (WHERE reserved_at > $6) AS account_hour,
        (SELECT count(DISTINCT s.author_external_id) FROM conversation_messages m
            JOIN conversation_messages s ON s.account_id = m.account_id AND s.fingerprint = m.fingerprint
                AND s.sent_at > $7 AND s.direction = 'in'
            WHERE m.account_id = $1 AND m.id = $4) AS same_text_from
    FROM auto_replies
    WHERE account_id = $1 AND reserved_at > $5 AND author = 'bot' AND state IN ('reserved', 'sending', 'sent', 'unknown')"
);

row!(
    struct CountsRow {
        user_day: i64 => BigInt,
        post_hour: i64 => BigInt,
        account_hour: i64 => BigInt,
        same_text_from: i64 => BigInt,
    }
);

/// The comment that has waited longest for a decision of those after one of them.
pub(super) async fn next(connection: &mut AsyncPgConnection, after: MessageId) -> Result<Option<Waiting>, Failure> {
    let next: Option<NextRow> = Next { after: after.0 }.get_result(connection).await.optional()?;
    Ok(next.map(|NextRow { account_id, id }| Waiting { account: AccountId(account_id), message: MessageId(id) }))
}

/// The comment that has waited longest for a vote.
pub(in crate::social) async fn next_vote(
    connection: &mut AsyncPgConnection,
    now: OffsetDateTime,
) -> Result<Option<Undecided>, Failure> {
    let next: Option<NextRow> = NextVote { now }.get_result(connection).await.optional()?;
    let Some(NextRow { account_id, id }) = next else { return Ok(None) };
    find(connection, account_id, id, now).await
}

/// A comment that is to be decided about; `None` once it is.
pub(in crate::social) async fn find(
    connection: &mut AsyncPgConnection,
    account: i64,
    id: i64,
    now: OffsetDateTime,
) -> Result<Option<Undecided>, Failure> {
    let row: Option<CommentRow> = Comment { account, id }.get_result(connection).await.optional()?;
    let Some(row) = row else { return Ok(None) };
    let CommentRow {
        channel,
        external_id,
        body,
        hidden,
        sent_at,
        author_external_id,
        conversation_id,
        username,
        post_external_id,
        handling,
        is_open,
        opted_out,
        was_answered,
        has_human,
        is_token_dead,
        vote_hash,
        verdict,
        voted_template,
        vote_ended_at,
    } = row;
    let counts = Counts {
        account,
        author: author_external_id.as_deref(),
        post: post_external_id.as_deref(),
        message: id,
        day_ago: now - Duration::DAY,
        hour_ago: now - Duration::HOUR,
        raid_since: now - RAID_WINDOW,
    };
    let CountsRow { user_day, post_hour, account_hour, same_text_from } = counts.get_result(connection).await?;
    let (settings, blocked_at) = settings::current(connection, account).await?;
    Ok(Some(Undecided {
        account: AccountId(account),
        message: MessageId(id),
        channel: parse(&channel, "channel")?,
        comment_id: external_id,
        text: body,
        is_hidden: hidden,
        commented_at: sent_at,
        username,
        author_id: author_external_id,
        post_id: post_external_id,
        thread: Thread {
            conversation: ConversationId(conversation_id),
            handling: parse(&handling, "handling")?,
            is_open,
            opted_out,
            was_answered,
            has_human,
        },
        sent: Sent { user_day, post_hour, account_hour },
        same_text_from,
        settings,
        templates: templates::in_use(connection, account).await?,
        is_blocked: blocked_at.is_some(),
        is_token_dead,
        vote: vote_hash.map(|comment_hash| Earlier {
            comment_hash,
            came_to: came_to(verdict.is_some(), voted_template, vote_ended_at.is_some()),
        }),
    }))
}

/// What became of a vote. One that ended without a verdict gave no answer that counts.
fn came_to(is_answered: bool, template: Option<i64>, has_ended: bool) -> Option<Vote> {
    match template {
        Some(template) => Some(Vote::For(TemplateId(template))),
        None if is_answered => Some(Vote::ForNone),
        None => has_ended.then_some(Vote::Unusable),
    }
}
