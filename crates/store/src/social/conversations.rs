//! [`ConversationStore`] on Postgres.

mod acts;
mod rows;

use std::cmp::Reverse;

use async_trait::async_trait;
use diesel::{
    dsl::{exists, not},
    pg::Pg,
    prelude::*,
    sql_types::{Array, BigInt},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, ConversationId, CustomerId, StoreError,
    audit::Entry,
    idempotency::{IdempotencyKey, Idempotent},
    page::{Page, PageRequest},
    social::{
        Handling, Status,
        conversations::{
            Act, ActError, By, ChangeError, Conversation, ConversationChange, ConversationFilter, ConversationStore,
            Judgement, LISTED_MESSAGES, Listing, Message, Summary,
        },
    },
};
use time::OffsetDateTime;

use self::{
    acts::Deed,
    rows::{ConversationRow, MessageRow},
};
use super::intake::take_over;
use crate::{
    Store,
    database::{
        error::{Failure, corrupt, parse},
        idempotency::WriteError,
        query::RunQueryDsl,
        transact::Rollback,
    },
    people::audit,
    schema::{auto_replies, conversations, customer_handles, customers},
};

/// The columns of a conversation, from where they are.
macro_rules! conversation_rows {
    ($condition:literal) => {
        concat!(
            "
    SELECT c.id, c.channel, c.external_id, c.post_external_id, p.permalink, p.ad_id, c.username, c.customer_id,
        coalesce(u.segment = 'vip', false) AS is_vip, c.status, c.snoozed_until, c.handling, c.category, c.language,
        c.messages_count, c.waiting_since, c.created_at, c.position, m.direction, m.author, m.body, m.sent_at, r.state, r.reason, r.template_id, r.template_version, r.message,
        r.reply_id, r.confidence, r.decided_at, r.judged_correct,
        jsonb_build_object('hits', r.hits, 'mode', r.mode, 'actor', r.actor, 'model_vote',
            (SELECT v.verdict FROM social_votes v WHERE v.account_id = c.account_id AND v.channel = r.channel
                AND v.comment_id = r.comment_id AND v.comment_hash = r.comment_hash), 'opted_out',
            EXISTS (SELECT FROM social_opt_outs o WHERE o.account_id = c.account_id AND o.channel = c.channel
                AND o.author_external_id = c.author_external_id)) AS rest
    FROM conversations c
    JOIN conversation_messages m ON m.account_id = c.account_id AND m.id = c.position
    LEFT JOIN social_posts p ON p.account_id = c.account_id AND p.channel = c.channel AND p.external_id = c.post_external_id
    LEFT JOIN customers u ON u.account_id = c.account_id AND u.id = c.customer_id
    LEFT JOIN auto_replies r ON r.account_id = c.account_id AND r.channel = c.channel AND r.comment_id = c.decided_comment_id
    WHERE c.account_id = $1 AND ",
            $condition
        )
    };
}

statement!(
    /// Conversations by their positions, in no order.
    Rows<'a>(account: i64 => BigInt, positions: &'a [i64] => Array<BigInt>) -> ConversationRow =
        conversation_rows!("c.position = ANY ($2)")
);

statement!(
    One(account: i64 => BigInt, id: i64 => BigInt) -> ConversationRow = conversation_rows!("c.id = $2")
);

statement!(
    /// A page of messages, the newest first.
    Messages(account: i64 => BigInt, id: i64 => BigInt, before: i64 => BigInt, limit: i64 => BigInt) -> MessageRow = "
    SELECT conversation_id, id, external_id, direction, author, body, hidden, sent_at FROM conversation_messages
    WHERE account_id = $1 AND conversation_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4"
);

statement!(
    /// The newest messages of each of some conversations.
    Newest<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>, limit: i64 => BigInt) -> MessageRow = "
    SELECT m.conversation_id, m.id, m.external_id, m.direction, m.author, m.body, m.hidden, m.sent_at
    FROM unnest($2::bigint[]) AS wanted (id) CROSS JOIN LATERAL (
        SELECT conversation_id, id, external_id, direction, author, body, hidden, sent_at FROM conversation_messages
        WHERE account_id = $1 AND conversation_id = wanted.id ORDER BY id DESC LIMIT $3) AS m"
);

statement!(
    Counts(account: i64 => BigInt) -> SummaryRow = "
    SELECT count(*) AS open, count(waiting_since) AS waiting,
        (SELECT count(*) FROM auto_replies r
            JOIN conversations c ON c.account_id = $1 AND c.id = r.conversation_id AND c.decided_comment_id = r.comment_id
            WHERE r.account_id = $1 AND r.state = 'held') AS held
    FROM conversations WHERE account_id = $1 AND status = 'open'"
);

row!(
    struct SummaryRow {
        open: i64 => BigInt,
        waiting: i64 => BigInt,
        held: i64 => BigInt,
    }
);

async fn one(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: ConversationId,
) -> Result<Option<Conversation>, Failure> {
    let row: Option<ConversationRow> = One { account: account.0, id: id.0 }.get_result(connection).await.optional()?;
    Ok(row.map(Conversation::try_from).transpose()?)
}

fn messages(rows: Vec<MessageRow>) -> Result<Vec<Message>, StoreError> {
    rows.into_iter().map(|row| Ok(row.into_message()?.1)).collect()
}

/// Where the conversations of a page stand. Conditions that are not asked for are not in the query: with them Postgres would
/// take it for one that finds little, and sort.
fn positions(
    account: AccountId,
    filter: ConversationFilter,
    page: PageRequest,
) -> conversations::BoxedQuery<'static, Pg, BigInt> {
    let ConversationFilter { channel, status, handling, category, vip, waiting, reply_state, updated_since } = filter;
    let mut query = conversations::table
        .filter(conversations::account_id.eq(account.0))
        .filter(conversations::position.lt(page.cursor.unwrap_or(i64::MAX)))
        .order(conversations::position.desc())
        .limit(page.limit + 1)
        .select(conversations::position)
        .into_boxed();
    if let Some(channel) = channel {
        query = query.filter(conversations::channel.eq(channel.as_str()));
    }
    if let Some(status) = status {
        query = query.filter(conversations::status.eq(status.as_str()));
    }
    if let Some(handling) = handling {
        query = query.filter(conversations::handling.eq(handling.as_str()));
    }
    if let Some(category) = category {
        query = query.filter(conversations::category.eq(category.as_str()));
    }
    if let Some(is_vip) = vip {
        let vips = customers::table
            .filter(customers::account_id.eq(conversations::account_id))
            .filter(customers::id.nullable().eq(conversations::customer_id))
            .filter(customers::segment.eq("vip"));
        query = if is_vip { query.filter(exists(vips)) } else { query.filter(not(exists(vips))) };
    }
    match waiting {
        Some(true) => query = query.filter(conversations::waiting_since.is_not_null()),
        Some(false) => query = query.filter(conversations::waiting_since.is_null()),
        None => {}
    }
    if let Some(state) = reply_state {
        let decided = auto_replies::table
            .filter(auto_replies::account_id.eq(conversations::account_id))
            .filter(auto_replies::channel.eq(conversations::channel))
            .filter(auto_replies::comment_id.nullable().eq(conversations::decided_comment_id))
            .filter(auto_replies::state.eq(state.as_str()));
        query = query.filter(exists(decided));
    }
    if let Some(since) = updated_since {
        query = query.filter(conversations::updated_at.ge(since));
    }
    query
}

async fn listing(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    filter: ConversationFilter,
    with_messages: bool,
    page: PageRequest,
) -> Result<Listing, Failure> {
    let positions: Vec<i64> = positions(account, filter, page).load(connection).await?;
    // Cut before the rows are read: one that moves up in between is not among them, and the list goes on all the same.
    let Page { items: positions, next_cursor } = Page::cut(positions, page.limit, |position| *position);
    let mut rows: Vec<ConversationRow> = Rows { account: account.0, positions: &positions }.load(connection).await?;
    rows.sort_unstable_by_key(|row| Reverse(row.position));
    let items = rows.into_iter().map(Conversation::try_from).collect::<Result<Vec<_>, _>>()?;
    let page = Page { items, next_cursor };
    let SummaryRow { open, waiting, held } = Counts { account: account.0 }.get_result(connection).await?;
    let mut of_each = vec![Vec::new(); page.items.len()];
    if with_messages {
        let ids: Vec<i64> = page.items.iter().map(|conversation| conversation.id.0).collect();
        let newest = Newest { account: account.0, ids: &ids, limit: LISTED_MESSAGES };
        let rows: Vec<MessageRow> = newest.load(connection).await?;
        for row in rows {
            let (conversation, message) = row.into_message()?;
            let at = ids.iter().position(|id| *id == conversation.0);
            if let Some(messages) = at.and_then(|at| of_each.get_mut(at)) {
                messages.push(message);
            }
        }
    }
    Ok(Listing { page, messages: of_each, summary: Summary { open, waiting, held } })
}

#[async_trait]
impl ConversationStore for Store {
    async fn page(
        &self,
        account: AccountId,
        filter: ConversationFilter,
        with_messages: bool,
        page: PageRequest,
    ) -> Result<Listing, StoreError> {
        let listed =
            self.run::<_, Failure>(async |connection| listing(connection, account, filter, with_messages, page).await);
        Ok(listed.await?)
    }

    async fn find(
        &self,
        account: AccountId,
        id: ConversationId,
        page: PageRequest,
    ) -> Result<Option<(Conversation, Page<Message>)>, StoreError> {
        let before = page.cursor.unwrap_or(i64::MAX);
        let wanted = Messages { account: account.0, id: id.0, before, limit: page.limit + 1 };
        let found = self
            .run::<_, Failure>(async |connection| {
                let Some(conversation) = one(connection, account, id).await? else { return Ok(None) };
                let rows: Vec<MessageRow> = wanted.load(connection).await?;
                Ok(Some((conversation, messages(rows)?)))
            })
            .await?;
        Ok(found
            .map(|(conversation, rows)| (conversation, Page::cut(rows, page.limit, |message: &Message| message.id.0))))
    }

    async fn change(
        &self,
        account: AccountId,
        id: ConversationId,
        change: ConversationChange,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Conversation, ChangeError> {
        let changed = self.transact::<_, Rollback<ChangeError>>(async |connection| {
            let changed = change_locked(connection, account, id, change, now).await?;
            audit::add_any(connection, note.as_ref(), now).await?;
            Ok(changed)
        });
        changed.await.map_err(Rollback::into_error)
    }

    async fn act(
        &self,
        account: AccountId,
        id: ConversationId,
        act: Act,
        by: By,
        key: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Conversation>, ActError> {
        let done = self.transact::<_, WriteError<ActError>>(async |connection| {
            acts::once(connection, account, id, Deed::Act(&act, &by), key.as_ref(), now).await
        });
        done.await.map_err(WriteError::into_refusal)
    }

    async fn judge(
        &self,
        account: AccountId,
        id: ConversationId,
        judgement: Judgement,
        note: Option<Entry>,
        key: Option<IdempotencyKey>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Conversation>, ActError> {
        let judged = self.transact::<_, WriteError<ActError>>(async |connection| {
            acts::once(connection, account, id, Deed::Judge(judgement, note.as_ref()), key.as_ref(), now).await
        });
        judged.await.map_err(WriteError::into_refusal)
    }
}

/// A conversation whose row is locked.
#[derive(Queryable, Selectable)]
#[diesel(table_name = conversations, check_for_backend(diesel::pg::Pg))]
struct Locked {
    status: String,
    snoozed_until: Option<OffsetDateTime>,
    channel: String,
    author_external_id: Option<String>,
    decided_comment_id: Option<String>,
}

async fn locked(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: ConversationId,
) -> Result<Option<Locked>, diesel::result::Error> {
    let row = conversations::table.find((account.0, id.0)).select(Locked::as_select()).for_update();
    row.first(connection).await.optional()
}

async fn change_locked(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: ConversationId,
    change: ConversationChange,
    now: OffsetDateTime,
) -> Result<Conversation, Rollback<ChangeError>> {
    let found = locked(connection, account, id).await?.ok_or(Rollback::Refused(ChangeError::NotFound))?;
    let Locked { status, snoozed_until, channel, author_external_id: author, decided_comment_id: _ } = found;
    let status: Status = parse(&status, "status of a conversation")?;
    let (status, snoozed_until) = change.status_after((status, snoozed_until), now).map_err(Rollback::Refused)?;
    let target = conversations::table.find((account.0, id.0));
    if let Some(customer) = change.customer {
        let commenter = (&*channel, author.as_deref());
        match customer {
            Some(customer) => link(connection, account, commenter, customer, now).await?,
            None => unlink(connection, account, commenter).await?,
        }
        let customer = customer.map(|customer| customer.0);
        diesel::update(target).set(conversations::customer_id.eq(customer)).execute(connection).await?;
    }
    if let Some(handling) = change.handling {
        diesel::update(target).set(conversations::handling.eq(handling.as_str())).execute(connection).await?;
    }
    if change.handling == Some(Handling::Human) || status != Status::Open {
        take_over(connection, account.0, id.0).await?;
    }
    diesel::update(target)
        .set((
            conversations::status.eq(status.as_str()),
            conversations::snoozed_until.eq(snoozed_until),
            conversations::updated_at.eq(now),
        ))
        .execute(connection)
        .await?;
    let found = one(connection, account, id).await.map_err(Rollback::Failed)?;
    Ok(found.ok_or_else(|| corrupt("changed conversation"))?)
}

/// Forgets which customer a commenter is. Other conversations keep theirs.
async fn unlink(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    (channel, author): (&str, Option<&str>),
) -> QueryResult<()> {
    let Some(author) = author else { return Ok(()) };
    diesel::delete(customer_handles::table.find((account.0, channel, author))).execute(connection).await?;
    Ok(())
}

/// Links a commenter to a customer, for this conversation and those to come.
async fn link(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    (channel, author): (&str, Option<&str>),
    customer: CustomerId,
    now: OffsetDateTime,
) -> Result<(), Rollback<ChangeError>> {
    let known = customers::table.find((account.0, customer.0)).select(customers::id);
    let known: Option<i64> = known.first(connection).await.optional()?;
    known.ok_or(Rollback::Refused(ChangeError::UnknownCustomer))?;
    let Some(author) = author else { return Ok(()) };
    let link = (
        customer_handles::customer_id.eq(customer.0),
        customer_handles::how.eq("manual"),
        customer_handles::linked_at.eq(now),
    );
    diesel::insert_into(customer_handles::table)
        .values((
            customer_handles::account_id.eq(account.0),
            customer_handles::channel.eq(channel),
            customer_handles::author_external_id.eq(author),
            link,
        ))
        .on_conflict((customer_handles::account_id, customer_handles::channel, customer_handles::author_external_id))
        .do_update()
        .set(link)
        .execute(connection)
        .await?;
    Ok(())
}
