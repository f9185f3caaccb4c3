//! What people do about answers: approve, skip, answer in own words.

use diesel::{
    prelude::*,
    sql_types::{BigInt, Bytea, Nullable, Numeric, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, ConversationId, StoreError, TemplateId,
    audit::Entry,
    idempotency::{IdempotencyKey, Idempotent},
    social::{
        Channel, Classified, Handling, Mode, classify,
        conversations::{Act, ActError, By, Conversation, Judgement},
        templates::{has_contact, rendered, turn, usable_on},
    },
};
use rust_decimal::Decimal;
use serde_json::json;
use time::OffsetDateTime;

use super::{Locked, locked, one};
use crate::{
    accounts::lock,
    database::{
        error::parse,
        idempotency::{self, WriteError},
        query::RunQueryDsl,
    },
    people::audit,
    schema::{auto_replies, conversations},
    social::{settings, templates},
};

/// What a person does, with how it is noted.
pub(super) enum Deed<'a> {
    Act(&'a Act, &'a By),
    /// Says whether the newest decision was right.
    Judge(Judgement, Option<&'a Entry>),
}

/// Carries a deed out, and notes it under its key.
pub(super) async fn once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: ConversationId,
    deed: Deed<'_>,
    key: Option<&IdempotencyKey>,
    now: OffsetDateTime,
) -> Result<Idempotent<Conversation>, WriteError<ActError>> {
    let replayed = match key {
        Some(key) => idempotency::begin(connection, account, key, now).await?.is_some(),
        None => false,
    };
    if !replayed {
        match deed {
            Deed::Act(act, by) => carry_out(connection, account, id, (act, by), now).await?,
            Deed::Judge(judgement, note) => judge(connection, account, id, (judgement, note), now).await?,
        }
        if let Some(key) = key {
            idempotency::finish(connection, account, key, json!({ "conversation_id": id.0 }), now).await?;
        }
    }
    let found = one(connection, account, id).await.map_err(StoreError::from)?;
    Ok(Idempotent { value: found.ok_or(WriteError::Refused(ActError::NotFound))?, replayed })
}

async fn carry_out(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: ConversationId,
    (act, by): (&Act, &By),
    now: OffsetDateTime,
) -> Result<(), WriteError<ActError>> {
    let Some(Locked { channel, decided_comment_id, .. }) = locked(connection, account, id).await? else {
        return Err(WriteError::Refused(ActError::NotFound));
    };
    let actor = by.actor.as_str();
    match act {
        Act::Send(words) => send(connection, account, (&channel, id), words, actor, now).await?,
        act => {
            let comment = decided_comment_id.as_deref().ok_or(WriteError::Refused(ActError::Transition))?;
            if let Some(seen) = by.decided_at {
                let decision =
                    auto_replies::table.find((account.0, &channel, comment)).select(auto_replies::decided_at);
                if decision.first::<OffsetDateTime>(connection).await.optional()? != Some(seen) {
                    return Err(WriteError::Refused(ActError::Transition));
                }
            }
            decide(connection, account, (&channel, id, comment), act, actor, now).await?;
        }
    }
    audit::add_any(connection, by.note.as_ref(), now).await?;
    diesel::update(conversations::table.find((account.0, id.0)))
        .set(conversations::updated_at.eq(now))
        .execute(connection)
        .await?;
    Ok(())
}

async fn judge(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: ConversationId,
    (judgement, note): (Judgement, Option<&Entry>),
    now: OffsetDateTime,
) -> Result<(), WriteError<ActError>> {
    // Judgements are counted one after the other.
    lock(connection, account).await?;
    let Some(Locked { channel, decided_comment_id, .. }) = locked(connection, account, id).await? else {
        return Err(WriteError::Refused(ActError::NotFound));
    };
    let comment = decided_comment_id.ok_or(WriteError::Refused(ActError::Transition))?;
    if judgement.correct
        && let Some(category) = judgement.category
    {
        let decision = auto_replies::table.find((account.0, &channel, &comment)).select(auto_replies::category);
        let decided: Option<String> = decision.first(connection).await.optional()?;
        if decided.is_some_and(|decided| decided != category.as_str()) {
            return Err(WriteError::Refused(ActError::OtherCategory));
        }
    }
    let judged = diesel::update(auto_replies::table.find((account.0, channel, comment)))
        .filter(auto_replies::mode.ne(Mode::Off.as_str()))
        .set((
            auto_replies::judged_at.eq(now),
            auto_replies::judged_correct.eq(judgement.correct),
            auto_replies::judged_category.eq(judgement.category.map(|category| category.as_str())),
        ))
        .execute(connection)
        .await?;
    if judged == 0 {
        return Err(WriteError::Refused(ActError::Transition));
    }
    let gate = settings::gate(connection, account.0).await?;
    let (settings, _) = settings::current(connection, account.0).await.map_err(StoreError::from)?;
    if settings.mode == Mode::Auto && !gate.is_ready() {
        settings::fall_back(connection, account.0, None, now).await.map_err(StoreError::from)?;
    }
    audit::add_any(connection, note, now).await?;
    Ok(())
}

statement!(
    /// What is approved is the answer to the text that is there now.
    Approve<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        actor: &'a str => Text,
        now: OffsetDateTime => Timestamptz,
        template: Option<i64> => Nullable<BigInt>,
        version: Option<i64> => Nullable<BigInt>,
        message: Option<&'a str> => Nullable<Text>,
    ) -> () = "
    UPDATE auto_replies SET state = 'reserved', reason = NULL, actor = $4, decided_at = $5, reserved_at = $5, due_at = $5,
        attempts = 0, looks = 0, claim = claim + 1, template_id = coalesce($6, template_id),
        template_version = coalesce($7, template_version), message = coalesce($8, message),
        author = CASE WHEN $6 IS NULL THEN author ELSE 'bot' END,
        comment_hash = coalesce((SELECT m.fingerprint FROM conversation_messages m
            WHERE m.account_id = $1 AND m.channel = $2 AND m.external_id = $3), comment_hash)
    WHERE account_id = $1 AND channel = $2 AND comment_id = $3 AND state = 'held' AND coalesce($8, message) IS NOT NULL"
);

statement!(
    /// What waits for its time waits for a person from now on; what may have been sent stays as it is.
    Hold<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        actor: &'a str => Text,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE auto_replies SET state = 'held', reason = 'needs_approval', actor = $4, decided_at = $5, due_at = NULL,
        claim = claim + 1
    WHERE account_id = $1 AND channel = $2 AND comment_id = $3
        AND (state = 'reserved' OR state = 'held' AND due_at IS NOT NULL)"
);

statement!(
    Skip<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        actor: &'a str => Text,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    UPDATE auto_replies SET state = 'skipped', actor = $4, decided_at = $5, due_at = NULL, claim = claim + 1
    WHERE account_id = $1 AND channel = $2 AND comment_id = $3 AND state = 'held'"
);

/// Does to the decision about a comment what a person wants.
async fn decide(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    (channel, id, comment): (&str, ConversationId, &str),
    act: &Act,
    actor: &str,
    now: OffsetDateTime,
) -> Result<(), WriteError<ActError>> {
    let chosen = match act {
        Act::Approve(Some(template)) => Some(chosen(connection, account, (channel, id), *template).await?),
        _ => None,
    };
    let account = account.0;
    let moved = match act {
        Act::Skip => Skip { account, channel, comment, actor, now }.execute(connection).await?,
        Act::Hold => Hold { account, channel, comment, actor, now }.execute(connection).await?,
        _ => {
            let (template, version, message) = match &chosen {
                Some((template, version, message)) => (Some(*template), Some(*version), Some(message.as_str())),
                None => (None, None, None),
            };
            Approve { account, channel, comment, actor, now, template, version, message }.execute(connection).await?
        }
    };
    if moved == 0 { Err(WriteError::Refused(ActError::Transition)) } else { Ok(()) }
}

/// What a template in use says in a conversation: its number, version and text.
async fn chosen(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    (channel, id): (&str, ConversationId),
    wanted: TemplateId,
) -> Result<(i64, i64, String), WriteError<ActError>> {
    let channel: Channel = parse(channel, "channel")?;
    let in_use = templates::in_use(connection, account.0).await.map_err(StoreError::from)?;
    let unknown = || WriteError::Refused(ActError::UnknownTemplate);
    let template = in_use.into_iter().find(|template| template.id == wanted).ok_or_else(unknown)?;
    if usable_on(channel, &template.variations).is_empty() {
        return Err(WriteError::Refused(ActError::UnusableTemplate));
    }
    let (settings, _) = settings::current(connection, account.0).await.map_err(StoreError::from)?;
    let username = conversations::table.find((account.0, id.0)).select(conversations::username);
    let username: Option<String> = username.first(connection).await?;
    let said = |username: &str| rendered(channel, &template.variations, username, &settings.links);
    let texts = said(username.as_deref().unwrap_or_default());
    let message = texts.get(turn(id, texts.len())).ok_or_else(|| {
        // Somebody with a name could be answered.
        WriteError::Refused(if said("a").is_empty() { ActError::NoLink } else { ActError::NoName })
    })?;
    Ok((wanted.0, template.version, message.clone()))
}

statement!(
    /// The newest comment of a conversation.
    NewestComment(account: i64 => BigInt, id: i64 => BigInt) -> CommentRow = "
    SELECT m.external_id, m.body, m.author_external_id, m.fingerprint, c.post_external_id
    FROM conversation_messages m JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id
    WHERE m.account_id = $1 AND m.conversation_id = $2 AND m.direction = 'in' AND m.deleted_at IS NULL
    ORDER BY m.id DESC LIMIT 1"
);

row!(
    struct CommentRow {
        external_id: String => Text,
        body: Option<String> => Nullable<Text>,
        author_external_id: Option<String> => Nullable<Text>,
        fingerprint: Vec<u8> => Bytea,
        post_external_id: Option<String> => Nullable<Text>,
    }
);

statement!(
    /// What may have been sent stays as it is. Mode `off`, of a new row: the bot decided nothing that could be judged.
    Reserve<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        conversation: i64 => BigInt,
        actor: &'a str => Text,
        category: &'a str => Text,
        language: Option<&'a str> => Nullable<Text>,
        confidence: Decimal => Numeric,
        comment_hash: &'a [u8] => Bytea,
        message: &'a str => Text,
        author_id: Option<&'a str> => Nullable<Text>,
        post_id: Option<&'a str> => Nullable<Text>,
        now: OffsetDateTime => Timestamptz,
    ) -> () = "
    INSERT INTO auto_replies (account_id, channel, comment_id, conversation_id, state, author, actor, mode, category, language,
        confidence, hits, comment_hash, message, author_external_id, post_external_id, decided_at, reserved_at, due_at)
    VALUES ($1, $2, $3, $4, 'reserved', 'human', $5, 'off', $6, $7, $8, '{}', $9, $10, $11, $12, $13, $13, $13)
    ON CONFLICT (account_id, channel, comment_id) DO UPDATE SET state = 'reserved', reason = NULL, author = 'human', actor = $5,
        template_id = NULL, template_version = NULL, message = $10, decided_at = $13, reserved_at = $13, due_at = $13,
        attempts = 0, looks = 0, claim = auto_replies.claim + 1
    WHERE auto_replies.state IN ('held', 'failed', 'skipped', 'dry_run')"
);

/// Reserves a person's answer to the newest comment, in the place of what the bot decided unless that may have been sent.
async fn send(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    (channel, id): (&str, ConversationId),
    words: &str,
    actor: &str,
    now: OffsetDateTime,
) -> Result<(), WriteError<ActError>> {
    let network: Channel = parse(channel, "channel")?;
    if words.chars().count() > network.max_reply_chars() {
        return Err(WriteError::Refused(ActError::TooLong(network.max_reply_chars())));
    }
    if !network.takes_contacts() && has_contact(words) {
        return Err(WriteError::Refused(ActError::Contact));
    }
    let newest = NewestComment { account: account.0, id: id.0 };
    let row: Option<CommentRow> = newest.get_result(connection).await.optional()?;
    let comment = row.ok_or(WriteError::Refused(ActError::Transition))?;
    let CommentRow { external_id, body, author_external_id, fingerprint, post_external_id } = comment;
    let Classified { category, confidence, language, .. } = classify(body.as_deref().unwrap_or_default());
    let reserve = Reserve {
        account: account.0,
        channel,
        comment: &external_id,
        conversation: id.0,
        actor,
        category: category.as_str(),
        language: language.map(|language| language.as_str()),
        confidence,
        comment_hash: &fingerprint,
        message: words,
        author_id: author_external_id.as_deref(),
        post_id: post_external_id.as_deref(),
        now,
    };
    let reserved = reserve.execute(connection).await?;
    if reserved == 0 {
        return Err(WriteError::Refused(ActError::Transition));
    }
    diesel::update(conversations::table.find((account.0, id.0)))
        .set((conversations::handling.eq(Handling::Human.as_str()), conversations::decided_comment_id.eq(external_id)))
        .execute(connection)
        .await?;
    Ok(())
}
