//! [`PrivacyStore`] on Postgres.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, IntegrationId, PrivacyRequestId, StoreError,
    accounts::Platform,
    audit::Entry,
    shops::{
        hooks::PrivacyRequest,
        privacy::{
            CustomerData, CustomerMessage, CustomerOrder, CustomerRefund, LoggedRequest, NewRequest, PrivacyStore,
            Redacted, RequestKind, TIME_LIMIT,
        },
    },
    social::Reason,
};
use rust_decimal::Decimal;
use time::OffsetDateTime;

use crate::{
    Store,
    analytics::places,
    database::{
        error::{Failure, parse},
        query::RunQueryDsl,
        statement::Scalar,
    },
    ingest::imports,
    people::audit,
    schema::{
        accounts, customer_days, customer_handles, customer_totals, customers, integrations, orders, privacy_requests,
        refunds, risks,
    },
};

statement!(
    /// The same hook is the same request.
    Log<'a>(
        account: i64 => BigInt,
        integration: i64 => BigInt,
        hook: i64 => BigInt,
        kind: &'static str => Text,
        customer: Option<&'a str> => Nullable<Text>,
        orders: &'a [String] => Array<Text>,
        received_at: OffsetDateTime => Timestamptz,
        due_at: OffsetDateTime => Timestamptz,
    ) -> Scalar<BigInt> = "
    INSERT INTO privacy_requests (account_id, integration_id, inbox_id, kind, customer, orders, received_at, due_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (account_id, inbox_id) DO UPDATE SET inbox_id = excluded.inbox_id RETURNING id"
);

statement!(
    Open() -> OpenRow = "
    SELECT r.id, r.account_id, r.integration_id, i.provider, r.kind, r.customer, r.received_at, r.due_at, r.done_at,
        r.redacted_customers, r.redacted_orders
    FROM privacy_requests r JOIN integrations i ON i.account_id = r.account_id AND i.id = r.integration_id
    WHERE r.done_at IS NULL ORDER BY r.due_at, r.account_id, r.id"
);

row!(
    struct OpenRow {
        id: i64 => BigInt,
        account_id: i64 => BigInt,
        integration_id: i64 => BigInt,
        provider: String => Text,
        kind: String => Text,
        customer: Option<String> => Nullable<Text>,
        received_at: OffsetDateTime => Timestamptz,
        due_at: OffsetDateTime => Timestamptz,
        done_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
        redacted_customers: i64 => BigInt,
        redacted_orders: i64 => BigInt,
    }
);

impl TryFrom<OpenRow> for LoggedRequest {
    type Error = StoreError;
    fn try_from(row: OpenRow) -> Result<Self, StoreError> {
        let OpenRow {
            id,
            account_id,
            integration_id,
            provider,
            kind,
            customer,
            received_at,
            due_at,
            done_at,
            redacted_customers,
            redacted_orders,
        } = row;
        Ok(Self {
            id: PrivacyRequestId(id),
            account: AccountId(account_id),
            integration: IntegrationId(integration_id),
            provider: parse(&provider, "platform")?,
            kind: parse(&kind, "kind of a privacy request")?,
            customer,
            received_at,
            due_at,
            done_at,
            customers: redacted_customers,
            orders: redacted_orders,
        })
    }
}

statement!(
    /// Customers of a platform behind the one of an id: these, or all; of a shop without those who bought in another one. Orders of
    /// files are of none.
    CustomerIds<'a>(
        account: i64 => BigInt,
        source: &'a str => Text,
        customers: Option<Vec<String>> => Nullable<Array<Text>>,
        shop: Option<i64> => Nullable<BigInt>,
        after: i64 => BigInt,
        limit: i64 => BigInt,
    ) -> Scalar<BigInt> = "
    SELECT id FROM customers
    WHERE account_id = $1 AND source = $2 AND ($3::text[] IS NULL OR external_id = ANY ($3)) AND ($4 IS NULL OR NOT EXISTS (
        SELECT FROM orders o WHERE o.account_id = $1 AND o.customer_id = customers.id AND o.integration_id <> $4))
        AND id > $5
    ORDER BY id LIMIT $6"
);

statement!(
    /// Keeps an import from bringing a customer back.
    Forget<'a>(account: i64 => BigInt, source: &'a str => Text, customer: &'a str => Text) -> () = "
    INSERT INTO forgotten_customers (account_id, source, external_id_hash)
    VALUES ($1, $2, sha256(convert_to($3, 'UTF8'))) ON CONFLICT DO NOTHING"
);

statement!(
    /// Marks the days of documents that are about to lose their buyer, in the order in which imports mark days.
    TouchDays<'a>(
        account: i64 => BigInt,
        ids: &'a [i64] => Array<BigInt>,
        source: &'a str => Text,
        orders: &'a [String] => Array<Text>,
    ) -> () = "
    INSERT INTO touched_days (account_id, day)
    SELECT $1::bigint, day FROM (
        SELECT (placed_at AT TIME ZONE timezone)::date AS day FROM orders JOIN accounts ON accounts.id = $1
        WHERE orders.account_id = $1 AND customer_id = ANY($2)
        UNION SELECT (placed_at AT TIME ZONE timezone)::date FROM orders JOIN accounts ON accounts.id = $1
        WHERE orders.account_id = $1 AND source = $3 AND external_id = ANY($4) AND customer_id IS NOT NULL
        UNION SELECT (refunded_at AT TIME ZONE timezone)::date FROM refunds JOIN accounts ON accounts.id = $1
        WHERE refunds.account_id = $1 AND customer_id = ANY($2)
    ) touched ORDER BY day
    ON CONFLICT (account_id, day) DO UPDATE SET day = EXCLUDED.day"
);

statement!(
    /// Takes the buyer out of orders. Without its hash an order that comes in again is written again, whatever it says.
    StripOrders<'a>(
        account: i64 => BigInt,
        ids: &'a [i64] => Array<BigInt>,
        source: &'a str => Text,
        orders: &'a [String] => Array<Text>,
    ) -> () = "
    UPDATE orders SET customer_id = NULL, content_hash = ''
    WHERE account_id = $1 AND customer_id IS NOT NULL
        AND (customer_id = ANY($2) OR (source = $3 AND external_id = ANY($4)))"
);

statement!(
    StripRefunds<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> () = "
    UPDATE refunds SET customer_id = NULL, content_hash = '' WHERE account_id = $1 AND customer_id = ANY($2)"
);

statement!(
    /// Wipes what was written in conversations with customers, and by them in those of others. As it counts as deleted, a change
    /// that the network tells of later does not bring it back. Waits for answers to it that are being settled.
    WipeMessages<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> () = "
    UPDATE conversation_messages SET body = NULL, author_external_id = NULL, is_undecided = false, vote_due_at = NULL,
        deleted_at = coalesce(deleted_at, now())
    WHERE account_id = $1 AND id IN (
        SELECT m.id FROM conversation_messages m
            JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id
        WHERE m.account_id = $1 AND c.customer_id = ANY($2)
        UNION SELECT m.id FROM conversation_messages m
            JOIN customer_handles h ON h.account_id = m.account_id AND h.channel = m.channel
                AND h.author_external_id = m.author_external_id
        WHERE m.account_id = $1 AND h.customer_id = ANY($2))"
);

statement!(
    /// Wipes the answers to them, and sends none that waits. One that may be on its way is wiped as it is settled.
    WipeAnswers<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>, reason: &'a str => Text) -> AnswerRow = "
    UPDATE auto_replies SET message = NULL, author_external_id = NULL, due_at = NULL, claim = claim + 1,
        state = CASE state WHEN 'reserved' THEN 'held' ELSE state END,
        reason = CASE WHEN state IN ('reserved', 'held') THEN $3 ELSE reason END
    WHERE account_id = $1 AND state NOT IN ('sending', 'unknown') AND (channel, comment_id) IN (
        SELECT r.channel, r.comment_id FROM auto_replies r
            JOIN conversations c ON c.account_id = r.account_id AND c.id = r.conversation_id
        WHERE r.account_id = $1 AND c.customer_id = ANY($2)
        UNION SELECT r.channel, r.comment_id FROM auto_replies r
            JOIN customer_handles h ON h.account_id = r.account_id AND h.channel = r.channel
                AND h.author_external_id = r.author_external_id
        WHERE r.account_id = $1 AND h.customer_id = ANY($2))
    RETURNING channel, comment_id, reply_id, sent_at"
);

row!(
    struct AnswerRow {
        channel: String => Text,
        comment_id: String => Text,
        reply_id: Option<String> => Nullable<Text>,
        sent_at: Option<OffsetDateTime> => Nullable<Timestamptz>,
    }
);

statement!(
    /// Wipes these answers as messages: those in conversations of others, and what was on its way a moment ago.
    WipeReplies<'a>(
        account: i64 => BigInt,
        channels: &'a [String] => Array<Text>,
        replies: &'a [String] => Array<Text>,
    ) -> () = "
    UPDATE conversation_messages SET body = NULL, deleted_at = coalesce(deleted_at, now())
    WHERE account_id = $1 AND (channel, external_id) IN (SELECT * FROM unnest($2::text[], $3::text[]))"
);

statement!(
    /// Wipes what receivers are told of these answers. The event stays, as do the deliveries that name it. It was made at the
    /// instant at which the answer was sent: only those of these instants are read, which an index by age finds.
    WipeEvents<'a>(
        account: i64 => BigInt,
        channels: &'a [String] => Array<Text>,
        comments: &'a [String] => Array<Text>,
        instants: &'a [OffsetDateTime] => Array<Timestamptz>,
    ) -> () = "
    UPDATE events SET body = convert_to(jsonb_set(jsonb_set(convert_from(body, 'UTF8')::jsonb,
        '{data,message}', to_jsonb(''::text)), '{data,username}', to_jsonb(''::text))::text, 'UTF8')
    FROM unnest($2::text[], $3::text[], $4::timestamptz[]) AS answer (channel, comment, sent_at)
    WHERE account_id = $1 AND kind = 'social.auto_reply_sent' AND created_at = ANY($4) AND created_at = sent_at
        AND convert_from(body, 'UTF8')::jsonb @>
            jsonb_build_object('data', jsonb_build_object('channel', channel, 'comment_id', comment))"
);

statement!(
    /// Ends the conversations, which name nobody any more.
    CloseConversations<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> () = "
    UPDATE conversations SET customer_id = NULL, author_external_id = NULL, username = NULL, status = 'closed',
        snoozed_until = NULL, waiting_since = NULL
    WHERE account_id = $1 AND customer_id = ANY($2)"
);

statement!(
    /// What a customer wrote anywhere, and what the shop answered to that. What others wrote, and answers to them, are theirs. Of
    /// what the shop wrote without it being known to whom, only what stands where nobody else wrote.
    Messages(account: i64 => BigInt, customer: i64 => BigInt) -> MessageRow = "
    WITH written AS MATERIALIZED (
        SELECT m.id, m.channel, m.external_id FROM conversation_messages m
            JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id
        WHERE m.account_id = $1 AND c.customer_id = $2 AND m.author_external_id = c.author_external_id
        UNION SELECT m.id, m.channel, m.external_id FROM conversation_messages m
            JOIN customer_handles h ON h.account_id = m.account_id AND h.channel = m.channel
                AND h.author_external_id = m.author_external_id
        WHERE m.account_id = $1 AND h.customer_id = $2)
    SELECT channel, author, sent_at, body FROM conversation_messages
    WHERE account_id = $1 AND body IS NOT NULL AND id IN (
        SELECT id FROM written
        UNION SELECT m.id FROM written w
            JOIN auto_replies r ON r.account_id = $1 AND r.channel = w.channel AND r.comment_id = w.external_id
            JOIN conversation_messages m ON m.account_id = $1 AND m.channel = r.channel AND m.external_id = r.reply_id
        UNION SELECT m.id FROM conversation_messages m
            JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id
        WHERE m.account_id = $1 AND c.customer_id = $2 AND m.direction = 'out'
            AND NOT EXISTS (SELECT FROM auto_replies r
                WHERE r.account_id = $1 AND r.conversation_id = c.id AND r.channel = m.channel AND r.reply_id = m.external_id)
            AND NOT EXISTS (SELECT FROM conversation_messages o
                WHERE o.account_id = $1 AND o.conversation_id = c.id AND o.direction = 'in'
                    AND o.author_external_id IS DISTINCT FROM c.author_external_id))
    ORDER BY sent_at, id"
);

row!(
    struct MessageRow {
        channel: String => Text,
        author: String => Text,
        sent_at: OffsetDateTime => Timestamptz,
        body: String => Text,
    }
);

impl TryFrom<MessageRow> for CustomerMessage {
    type Error = StoreError;
    fn try_from(row: MessageRow) -> Result<Self, StoreError> {
        let MessageRow { channel, author, sent_at, body: text } = row;
        Ok(Self { channel: parse(&channel, "channel")?, author: parse(&author, "author")?, sent_at, text })
    }
}

#[async_trait]
impl PrivacyStore for Store {
    async fn log(
        &self,
        account: AccountId,
        integration: IntegrationId,
        request: NewRequest,
    ) -> Result<PrivacyRequestId, StoreError> {
        let NewRequest { hook, request, received_at } = request;
        let (kind, customer, orders) = match &request {
            PrivacyRequest::Data { customer } => (RequestKind::Data, Some(customer.as_str()), [].as_slice()),
            PrivacyRequest::RedactCustomer { customer, orders } => {
                (RequestKind::RedactCustomer, Some(customer.as_str()), orders.as_slice())
            }
            PrivacyRequest::RedactShop => (RequestKind::RedactShop, None, [].as_slice()),
        };
        let log = Log {
            account: account.0,
            integration: integration.0,
            hook: hook.0,
            kind: kind.as_str(),
            customer,
            orders,
            received_at,
            due_at: received_at + TIME_LIMIT,
        };
        let id = self.run::<_, Failure>(async |connection| Ok(log.get_result(connection).await?)).await?;
        Ok(PrivacyRequestId(id))
    }

    async fn redact(
        &self,
        account: AccountId,
        id: PrivacyRequestId,
        now: OffsetDateTime,
    ) -> Result<Option<Redacted>, StoreError> {
        let mut after = 0;
        loop {
            let step =
                self.transact::<_, Failure>(async |connection| redact(connection, account, id, after, now).await);
            match step.await? {
                Step::Ended(redacted) => return Ok(redacted),
                Step::UpTo(last) => after = last,
            }
        }
    }

    async fn forget(
        &self,
        account: AccountId,
        source: Platform,
        customer: &str,
        note: Entry,
        now: OffsetDateTime,
    ) -> Result<Redacted, StoreError> {
        let redacted = self
            .transact::<_, Failure>(async |connection| {
                imports::lock(connection, account).await?;
                audit::add(connection, &note, now).await?;
                let (redacted, _) = forget(connection, account, source.as_str(), Some(customer), &[], None, 0).await?;
                Ok(redacted)
            })
            .await?;
        Ok(redacted)
    }

    async fn answered(
        &self,
        account: AccountId,
        id: PrivacyRequestId,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let answered = self
            .run::<_, Failure>(async |connection| {
                let open = privacy_requests::table
                    .find((account.0, id.0))
                    .filter(privacy_requests::kind.eq(RequestKind::Data.as_str()))
                    .filter(privacy_requests::done_at.is_null());
                let done = (privacy_requests::done_at.eq(now), privacy_requests::customer.eq(None::<String>));
                Ok(diesel::update(open).set(done).execute(connection).await?)
            })
            .await?;
        Ok(answered > 0)
    }

    async fn data_of(
        &self,
        account: AccountId,
        source: Platform,
        customer: &str,
    ) -> Result<Option<CustomerData>, StoreError> {
        let found = self
            .run::<_, Failure>(async |connection| {
                let names = known_as(connection, account, source.as_str(), customer).await?;
                let known = customers::table
                    .filter(customers::account_id.eq(account.0))
                    .filter(customers::source.eq(source.as_str()))
                    .filter(customers::external_id.eq_any(&names));
                let known: Vec<CustomerRow> = known.select(CustomerRow::as_select()).load(connection).await?;
                let ids: Vec<i64> = known.iter().map(|known| known.id).collect();
                let Some(known) = known.into_iter().find(|known| known.external_id == customer) else {
                    return Ok(None);
                };
                let of_customer = orders::table
                    .filter(orders::account_id.eq(account.0))
                    .filter(orders::customer_id.eq_any(&ids))
                    .order((orders::placed_at, orders::id))
                    .select((orders::external_id, orders::placed_at, orders::gross));
                let orders: Vec<(String, OffsetDateTime, Decimal)> = of_customer.load(connection).await?;
                let of_customer = refunds::table
                    .filter(refunds::account_id.eq(account.0))
                    .filter(refunds::customer_id.eq_any(&ids))
                    .order((refunds::refunded_at, refunds::id))
                    .select((refunds::external_id, refunds::refunded_at, refunds::amount));
                let refunds: Vec<(String, OffsetDateTime, Decimal)> = of_customer.load(connection).await?;
                let mut messages = Vec::new();
                for customer in ids {
                    let some: Vec<MessageRow> = Messages { account: account.0, customer }.load(connection).await?;
                    messages.extend(some);
                }
                messages.sort_by_key(|message| message.sent_at);
                Ok(Some((known, orders, refunds, messages)))
            })
            .await?;
        let Some((known, orders, refunds, messages)) = found else { return Ok(None) };
        let CustomerRow { id: _, external_id, email, name, city, country, created_at } = known;
        let order = |(external_id, placed_at, gross)| CustomerOrder { external_id, placed_at, gross };
        let refund = |(external_id, refunded_at, amount)| CustomerRefund { external_id, refunded_at, amount };
        Ok(Some(CustomerData {
            source,
            external_id,
            email,
            name,
            city,
            country,
            created_at,
            orders: orders.into_iter().map(order).collect(),
            refunds: refunds.into_iter().map(refund).collect(),
            messages: messages.into_iter().map(CustomerMessage::try_from).collect::<Result<_, _>>()?,
        }))
    }

    async fn open(&self) -> Result<Vec<LoggedRequest>, StoreError> {
        let rows: Vec<OpenRow> = self.run::<_, Failure>(async |connection| Ok(Open {}.load(connection).await?)).await?;
        rows.into_iter().map(LoggedRequest::try_from).collect()
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = customers, check_for_backend(diesel::pg::Pg))]
struct CustomerRow {
    id: i64,
    external_id: String,
    email: Option<String>,
    name: Option<String>,
    city: Option<String>,
    country: Option<String>,
    created_at: OffsetDateTime,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = privacy_requests, check_for_backend(diesel::pg::Pg))]
struct RequestRow {
    integration_id: i64,
    kind: String,
    customer: Option<String>,
    orders: Vec<String>,
    done_at: Option<OffsetDateTime>,
    redacted_customers: i64,
    redacted_orders: i64,
}

/// Customers that are forgotten in a transaction. Those of a large shop take many: each is short, and what is done stays done.
const STEP: i64 = 1_000;

enum Step {
    /// None where there is nothing to be redacted.
    Ended(Option<Redacted>),
    /// The id of the last customer; more may follow.
    UpTo(i64),
}

/// Forgets the next customers of a request, behind the one of an id.
async fn redact(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    id: PrivacyRequestId,
    after: i64,
    now: OffsetDateTime,
) -> Result<Step, Failure> {
    imports::lock(connection, account).await?;
    let request = privacy_requests::table.find((account.0, id.0));
    let row: Option<RequestRow> =
        request.for_no_key_update().select(RequestRow::as_select()).first(connection).await.optional()?;
    let Some(RequestRow { integration_id, kind, customer, orders, done_at, redacted_customers, redacted_orders }) = row
    else {
        return Ok(Step::Ended(None));
    };
    if parse::<RequestKind>(&kind, "kind of a privacy request")? == RequestKind::Data {
        return Ok(Step::Ended(None));
    }
    if done_at.is_some() {
        return Ok(Step::Ended(Some(Redacted { customers: redacted_customers, orders: redacted_orders })));
    }
    let source = integrations::table.find((account.0, integration_id)).select(integrations::provider);
    let source: String = source.first(connection).await?;
    // The request of a shop names no customer.
    let shop = customer.is_none().then_some(integration_id);
    let (some, last) = forget(connection, account, &source, customer.as_deref(), &orders, shop, after).await?;
    let redacted = Redacted { customers: redacted_customers + some.customers, orders: redacted_orders + some.orders };
    let counted = (
        privacy_requests::redacted_customers.eq(redacted.customers),
        privacy_requests::redacted_orders.eq(redacted.orders),
    );
    diesel::update(request).set(counted).execute(connection).await?;
    if let Some(last) = last.filter(|_| some.customers >= STEP) {
        return Ok(Step::UpTo(last));
    }
    let done = (privacy_requests::done_at.eq(now), privacy_requests::customer.eq(None::<String>));
    diesel::update(request).set(done).execute(connection).await?;
    Ok(Step::Ended(Some(redacted)))
}

/// Forgets a customer of a platform, or the next of all of them or of those of a shop, and takes the buyer out of some orders as
/// well. Imports are locked out. Gives the id of the last one, too.
async fn forget(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    source: &str,
    customer: Option<&str>,
    orders: &[String],
    shop: Option<i64>,
    after: i64,
) -> QueryResult<(Redacted, Option<i64>)> {
    let customers = match customer {
        Some(customer) => Some(known_as(connection, account, source, customer).await?),
        None => None,
    };
    for customer in customers.iter().flatten() {
        Forget { account: account.0, source, customer }.execute(connection).await?;
    }
    let next = CustomerIds { account: account.0, source, customers, shop, after, limit: STEP };
    let ids: Vec<i64> = next.load(connection).await?;
    TouchDays { account: account.0, ids: &ids, source, orders }.execute(connection).await?;
    // Results as of past days are computed on copies of the account, whose rows have the ids of the account's.
    let copies = accounts::table.filter(accounts::copy_of.eq(account.0)).select(accounts::id);
    for copy in copies.load(connection).await? {
        strip(connection, copy, &ids, source, orders).await?;
    }
    let stripped = strip(connection, account.0, &ids, source, orders).await?;
    Ok((Redacted { customers: count(ids.len()), orders: count(stripped) }, ids.last().copied()))
}

/// How a platform and its files know a customer: files without numbers, as Shopify's export, by the e-mail address.
async fn known_as(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    source: &str,
    customer: &str,
) -> QueryResult<Vec<String>> {
    let email = customers::table
        .filter(customers::account_id.eq(account.0))
        .filter(customers::source.eq(source))
        .filter(customers::external_id.eq(customer))
        .select(customers::email);
    let email: Option<Option<String>> = email.first(connection).await.optional()?;
    let address = email.flatten().map(|email| email.to_lowercase()).filter(|address| address != customer);
    Ok([Some(customer.to_owned()), address].into_iter().flatten().collect())
}

/// Removes customers with what was computed of them, who of the commenters they are, and what was written in conversations with
/// them; their documents keep their money. Returns how many orders lost their buyer.
async fn strip(
    connection: &mut AsyncPgConnection,
    account: i64,
    ids: &[i64],
    source: &str,
    orders: &[String],
) -> QueryResult<usize> {
    let stripped = StripOrders { account, ids, source, orders }.execute(connection).await?;
    StripRefunds { account, ids }.execute(connection).await?;
    macro_rules! clear {
        ($($table:ident: $customer:ident),*) => {
            $(diesel::delete($table::table.filter($table::account_id.eq(account)).filter($table::$customer.eq_any(ids)))
                .execute(connection)
                .await?;)*
        };
    }
    WipeMessages { account, ids }.execute(connection).await?;
    let wipe = WipeAnswers { account, ids, reason: Reason::Deleted.as_str() };
    let answers: Vec<AnswerRow> = wipe.load(connection).await?;
    let (mut channels, mut comments, mut replies, mut instants) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for AnswerRow { channel, comment_id, reply_id, sent_at } in answers {
        let (Some(reply), Some(sent_at)) = (reply_id, sent_at) else { continue };
        channels.push(channel);
        comments.push(comment_id);
        replies.push(reply);
        instants.push(sent_at);
    }
    if !channels.is_empty() {
        WipeReplies { account, channels: &channels, replies: &replies }.execute(connection).await?;
        let wipe = WipeEvents { account, channels: &channels, comments: &comments, instants: &instants };
        wipe.execute(connection).await?;
    }
    CloseConversations { account, ids }.execute(connection).await?;
    let of_them = risks::table.filter(risks::account_id.eq(account)).filter(risks::customer_id.eq_any(ids));
    let of_them: Vec<i64> = of_them.select(risks::id).load(connection).await?;
    places::remove_risks(connection, account, &of_them).await?;
    clear!(
        customer_days: customer_id, customer_totals: customer_id, customer_handles: customer_id, customers: id
    );
    Ok(stripped)
}

fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
