//! [`Intake`] on Postgres: comments are taken in, and decided about.

mod comments;
mod undecided;

pub(super) use comments::{NewMessage, insert, take_over};
pub(super) use undecided::{find, next_vote};

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Bytea, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    MessageId, StoreError,
    social::{
        Classified, Decision, Reason, ReplyState,
        channels::{Change, Comment},
        fingerprint_of,
        replies::{Intake, SocialAccount, Undecided, Waiting},
        votes::Counted,
    },
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use super::votes;
use crate::{
    Store,
    database::{error::Failure, query::RunQueryDsl},
    schema::{conversations, social_accounts, social_opt_outs},
};

/// Changes of a transaction: a thousand would take longer than a transaction may.
const CHANGES: usize = 50;

#[async_trait]
impl Intake for Store {
    async fn take_in(
        &self,
        profile: &SocialAccount,
        changes: Vec<Change>,
        now: OffsetDateTime,
    ) -> Result<u64, StoreError> {
        let changes: Vec<Change> = changes.into_iter().map(storable).collect();
        let mut news = 0;
        for some in changes.chunks(CHANGES) {
            news += self
                .transact::<_, Failure>(async |connection| {
                    let mut news = 0;
                    for change in some {
                        news += u64::from(comments::take_in(connection, profile, change, now).await?);
                    }
                    if news > 0 {
                        diesel::update(social_accounts::table.find((profile.account.0, profile.id.0)))
                            .set(social_accounts::last_event_at.eq(now))
                            .execute(connection)
                            .await?;
                    }
                    Ok(news)
                })
                .await?;
        }
        Ok(news)
    }

    async fn next_undecided(&self, after: MessageId) -> Result<Option<Waiting>, StoreError> {
        Ok(self.run::<_, Failure>(async |connection| undecided::next(connection, after).await).await?)
    }

    async fn undecided(&self, comment: Waiting, now: OffsetDateTime) -> Result<Option<Undecided>, StoreError> {
        let (account, id) = (comment.account.0, comment.message.0);
        Ok(self.run::<_, Failure>(async |connection| find(connection, account, id, now).await).await?)
    }

    async fn decided(
        &self,
        of: &Undecided,
        classified: &Classified,
        decision: Decision,
        vote: Option<Counted>,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        self.transact::<_, Failure>(async |connection| {
            if let Some(vote) = &vote
                && !votes::end(connection, of, vote, now).await?
            {
                return Ok(());
            }
            write(connection, of, classified, &decision, now).await
        })
        .await?;
        Ok(())
    }

    async fn wake(&self, now: OffsetDateTime) -> Result<(), StoreError> {
        self.run::<_, Failure>(async |connection| {
            Unsnooze { now }.execute(connection).await?;
            let due: Vec<DueRow> = Due { now }.load(connection).await?;
            for DueRow { account_id, channel, comment_id } in due {
                Again { account: account_id, channel: &channel, comment: &comment_id }.execute(connection).await?;
                Waited { account: account_id, channel: &channel, comment: &comment_id }.execute(connection).await?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }
}

/// The change without U+0000, which Postgres cannot hold: all that came with it would wait for ever.
fn storable(mut change: Change) -> Change {
    let strip = |text: &mut String| text.retain(|c| c != '\0');
    match &mut change {
        Change::Posted(comment) | Change::Edited { comment, at: _ } => {
            let Comment {
                external_id,
                post_id,
                ad_id,
                parent_id,
                author_id,
                username,
                text,
                is_hidden: _,
                posted_at: _,
            } = comment;
            let known = [post_id, ad_id, parent_id, author_id, username].into_iter().flatten();
            known.chain([external_id, text]).for_each(strip);
        }
        Change::Removed(id) | Change::Hidden(id) | Change::Unhidden(id) => strip(id),
    }
    change
}

statement!(
    Unsnooze(now: OffsetDateTime => Timestamptz) -> () = "
    UPDATE conversations SET status = 'open', snoozed_until = NULL, updated_at = $1
    WHERE status = 'snoozed' AND snoozed_until <= $1"
);

statement!(
    /// Answers that waited for their time. Locks nothing: it looks at every account.
    Due(now: OffsetDateTime => Timestamptz) -> DueRow = "
    SELECT account_id, channel, comment_id FROM auto_replies WHERE due_at <= $1 AND state = 'held' ORDER BY due_at LIMIT 100"
);

row!(
    struct DueRow {
        account_id: i64 => BigInt,
        channel: String => Text,
        comment_id: String => Text,
    }
);

statement!(
    Again<'a>(account: i64 => BigInt, channel: &'a str => Text, comment: &'a str => Text) -> () = "
    UPDATE conversation_messages SET is_undecided = true
    WHERE account_id = $1 AND channel = $2 AND external_id = $3 AND deleted_at IS NULL"
);

statement!(
    Waited<'a>(account: i64 => BigInt, channel: &'a str => Text, comment: &'a str => Text) -> () = "
    UPDATE auto_replies SET due_at = NULL WHERE account_id = $1 AND channel = $2 AND comment_id = $3 AND state = 'held'"
);

statement!(
    /// One row a comment. What a person decided, or may have been sent, stays.
    Reserve<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        conversation: i64 => BigInt,
        state: &'a str => Text,
        reason: Option<&'a str> => Nullable<Text>,
        mode: &'a str => Text,
        category: &'a str => Text,
        language: Option<&'a str> => Nullable<Text>,
        confidence: Decimal => Numeric,
        hits: &'a [&'static str] => Array<Text>,
        comment_hash: Vec<u8> => Bytea,
        template: Option<i64> => Nullable<BigInt>,
        version: Option<i64> => Nullable<BigInt>,
        message: Option<&'a str> => Nullable<Text>,
        author_id: Option<&'a str> => Nullable<Text>,
        post_id: Option<&'a str> => Nullable<Text>,
        now: OffsetDateTime => Timestamptz,
        due_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        reserved_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        proposed: Option<i64> => Nullable<BigInt>,
    ) -> () = "
    INSERT INTO auto_replies (account_id, channel, comment_id, conversation_id, state, reason, author, actor, mode, category,
        language, confidence, hits, comment_hash, template_id, template_version, message, author_external_id, post_external_id,
        decided_at, due_at, reserved_at, proposed_template_id)
    VALUES ($1, $2, $3, $4, $5, $6, 'bot', 'bot', $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
    ON CONFLICT (account_id, channel, comment_id) DO UPDATE SET state = $5, reason = $6, mode = $7, category = $8,
        language = $9, confidence = $10, hits = $11, comment_hash = $12, template_id = $13, template_version = $14, message = $15,
        decided_at = $18, due_at = $19, reserved_at = $20, proposed_template_id = $21, claim = auto_replies.claim + 1
    WHERE auto_replies.state IN ('held', 'dry_run') AND auto_replies.actor = 'bot'"
);

statement!(
    /// A comment is decided about once, as the text that it was decided about. It stays undecided while it waits for a vote.
    Close(
        account: i64 => BigInt,
        id: i64 => BigInt,
        fingerprint: Option<Vec<u8>> => Nullable<Bytea>,
        vote_due_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    ) -> () = "
    UPDATE conversation_messages SET is_undecided = $4 IS NOT NULL, vote_due_at = $4
    WHERE account_id = $1 AND id = $2 AND is_undecided AND ($3::bytea IS NULL OR fingerprint = $3)"
);

async fn write(
    connection: &mut AsyncPgConnection,
    of: &Undecided,
    classified: &Classified,
    decision: &Decision,
    now: OffsetDateTime,
) -> Result<(), Failure> {
    let account = of.account.0;
    let close = Close {
        account,
        id: of.message.0,
        fingerprint: of.text.as_deref().map(|text| fingerprint_of(text).to_vec()),
        vote_due_at: matches!(decision, Decision::Ask { .. }).then_some(now),
    };
    let is_asked = close.vote_due_at.is_some();
    if close.execute(connection).await? == 0 || is_asked {
        return Ok(());
    }
    let conversation = conversations::table.find((account, of.thread.conversation.0));
    diesel::update(conversation)
        .set((
            conversations::category.eq(classified.category.as_str()),
            conversations::language.eq(classified.language.map(|language| language.as_str())),
            conversations::updated_at.eq(now),
        ))
        .execute(connection)
        .await?;
    let (state, reason, choice, due_at) = match decision {
        Decision::None | Decision::Ask { .. } => return Ok(()),
        Decision::Send { choice, due_at } => (ReplyState::Reserved, None, Some(choice), Some(*due_at)),
        Decision::DryRun { choice } => (ReplyState::DryRun, None, Some(choice), None),
        Decision::Hold { reason, choice, again_at } => (ReplyState::Held, Some(*reason), choice.as_ref(), *again_at),
    };
    let reserve = Reserve {
        account,
        channel: of.channel.as_str(),
        comment: &of.comment_id,
        conversation: of.thread.conversation.0,
        state: state.as_str(),
        reason: reason.map(Reason::as_str),
        mode: of.settings.mode.as_str(),
        category: classified.category.as_str(),
        language: classified.language.map(|language| language.as_str()),
        confidence: classified.confidence,
        hits: &classified.hits,
        comment_hash: fingerprint_of(of.text.as_deref().unwrap_or_default()).to_vec(),
        template: choice.map(|choice| choice.template.0),
        version: choice.map(|choice| choice.version),
        message: choice.map(|choice| choice.message.as_str()),
        author_id: of.author_id.as_deref(),
        post_id: of.post_id.as_deref(),
        now,
        due_at,
        reserved_at: (state == ReplyState::Reserved).then_some(now),
        proposed: decision.proposal().map(|choice| choice.template.0),
    };
    reserve.execute(connection).await?;
    diesel::update(conversation).set(conversations::decided_comment_id.eq(&of.comment_id)).execute(connection).await?;
    if let (Some(Reason::OptedOut), Some(author)) = (reason, &of.author_id) {
        diesel::insert_into(social_opt_outs::table)
            .values((
                social_opt_outs::account_id.eq(account),
                social_opt_outs::channel.eq(of.channel.as_str()),
                social_opt_outs::author_external_id.eq(author),
                social_opt_outs::opted_out_at.eq(now),
            ))
            .on_conflict_do_nothing()
            .execute(connection)
            .await?;
    }
    Ok(())
}
