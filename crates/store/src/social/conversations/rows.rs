//! Rows of conversations and messages, and what they become.

use diesel::sql_types::{BigInt, Bool, Jsonb, Nullable, Numeric, Text, Timestamptz};
use domain::{
    ConversationId, CustomerId, MessageId, StoreError, TemplateId,
    social::conversations::{Conversation, LastMessage, Message, Post, Reply},
};
use rust_decimal::Decimal;
use serde::Deserialize;
use time::OffsetDateTime;

use crate::database::error::{corrupt, parse};

row!(
    pub(super) struct ConversationRow {
        id: i64 => BigInt,
        channel: String => Text,
        external_id: String => Text,
        post_external_id: Option<String> => Nullable<Text>,
        permalink: Option<String> => Nullable<Text>,
        ad_id: Option<String> => Nullable<Text>,
        username: Option<String> => Nullable<Text>,
        customer_id: Option<i64> => Nullable<BigInt>,
        is_vip: bool => Bool,
        status: String => Text,
        snoozed_until: Option<OffsetDateTime> => Nullable<Timestamptz>,
        handling: String => Text,
        category: Option<String> => Nullable<Text>,
        language: Option<String> => Nullable<Text>,
        messages_count: i64 => BigInt,
        waiting_since: Option<OffsetDateTime> => Nullable<Timestamptz>,
        created_at: OffsetDateTime => Timestamptz,
        position: i64 => BigInt,
        direction: String => Text,
        author: String => Text,
        body: Option<String> => Nullable<Text>,
        sent_at: OffsetDateTime => Timestamptz,
        state: Option<String> => Nullable<Text>,
        reason: Option<String> => Nullable<Text>,
        template_id: Option<i64> => Nullable<BigInt>,
        template_version: Option<i64> => Nullable<BigInt>,
        message: Option<String> => Nullable<Text>,
        reply_id: Option<String> => Nullable<Text>,
        confidence: Option<Decimal> => Nullable<Numeric>,
        decided_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        judged_correct: Option<bool> => Nullable<Bool>,
        rest: serde_json::Value => Jsonb,
    }
);

/// What would be more columns than a row of Diesel has.
#[derive(Deserialize)]
struct Rest {
    hits: Option<Vec<String>>,
    mode: Option<String>,
    actor: Option<String>,
    model_vote: Option<String>,
    opted_out: bool,
}

impl TryFrom<ConversationRow> for Conversation {
    type Error = StoreError;
    fn try_from(row: ConversationRow) -> Result<Self, StoreError> {
        let ConversationRow {
            id,
            channel,
            external_id,
            post_external_id,
            permalink,
            ad_id,
            username,
            customer_id,
            is_vip,
            status,
            snoozed_until,
            handling,
            category,
            language,
            messages_count,
            waiting_since,
            created_at,
            position,
            direction,
            author,
            body,
            sent_at,
            state,
            reason,
            template_id,
            template_version,
            message,
            reply_id,
            confidence,
            decided_at,
            judged_correct,
            rest,
        } = row;
        let rest = serde_json::from_value(rest).map_err(|_| corrupt("decision"))?;
        let Rest { hits, mode, actor, model_vote, opted_out } = rest;
        let missing = || corrupt("automatic answer");
        let reply = state.map(|state| {
            Ok::<_, StoreError>(Reply {
                state: parse(&state, "state of an answer")?,
                reason: reason.map(|reason| parse(&reason, "reason")).transpose()?,
                template: template_id.map(TemplateId),
                template_version,
                message,
                reply_id,
                confidence: confidence.ok_or_else(missing)?,
                hits: hits.unwrap_or_default(),
                model_vote: model_vote.map(|verdict| parse(&verdict, "vote")).transpose()?,
                mode: parse(&mode.ok_or_else(missing)?, "mode")?,
                actor: actor.ok_or_else(missing)?,
                decided_at: decided_at.ok_or_else(missing)?,
                judged_correct,
            })
        });
        Ok(Self {
            id: ConversationId(id),
            channel: parse(&channel, "channel")?,
            external_id,
            post: post_external_id.map(|external_id| Post { external_id, permalink, ad_id }),
            username,
            customer: customer_id.map(CustomerId),
            is_vip,
            opted_out,
            status: parse(&status, "status of a conversation")?,
            snoozed_until,
            handling: parse(&handling, "handling")?,
            category: category.map(|category| parse(&category, "category")).transpose()?,
            language: language.map(|language| parse(&language, "language")).transpose()?,
            last_message: LastMessage {
                direction: parse(&direction, "direction")?,
                author: parse(&author, "author")?,
                body,
                sent_at,
            },
            messages_count,
            waiting_since,
            reply: reply.transpose()?,
            created_at,
            position,
        })
    }
}

row!(
    pub(super) struct MessageRow {
        conversation_id: i64 => BigInt,
        id: i64 => BigInt,
        external_id: String => Text,
        direction: String => Text,
        author: String => Text,
        body: Option<String> => Nullable<Text>,
        hidden: bool => Bool,
        sent_at: OffsetDateTime => Timestamptz,
    }
);

impl MessageRow {
    /// The message, and the conversation that it is of.
    pub fn into_message(self) -> Result<(ConversationId, Message), StoreError> {
        let Self { conversation_id, id, external_id, direction, author, body, hidden, sent_at } = self;
        let message = Message {
            id: MessageId(id),
            external_id,
            direction: parse(&direction, "direction")?,
            author: parse(&author, "author")?,
            body,
            is_hidden: hidden,
            sent_at,
        };
        Ok((ConversationId(conversation_id), message))
    }
}
