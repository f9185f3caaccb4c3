//! [`ReplayStore`] on Postgres. A replay walks over the deliveries of its subscription in the order of events, a bounded number
//! in a step, whether they are sent again or not; where it stands is written in the transaction of each step, so it goes on there
//! after a crash, in whatever process.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{Array, BigInt, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, ReplayId, StoreError, SubscriptionId,
    audit::Entry,
    events::Instant,
    idempotency::{IdempotencyKey, Idempotent},
    webhooks::{
        delivery::Receiver,
        replay::{Replay, ReplayState, ReplayStore, Selection, StartError, may_start},
    },
};
use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{
    Store,
    accounts::lock,
    database::{
        error::{Failure, corrupt, parse},
        idempotency::{self, WriteError},
        query::RunQueryDsl,
    },
    people::audit,
    schema::webhook_replays as replays,
    webhooks::{
        deliveries::receiver,
        delivery_log::{event_after, event_before},
    },
};

/// Deliveries that are looked at in one statement to count those that a replay would send.
const COUNTED_AT_A_TIME: i64 = 10_000;

row!(
    struct AdvancedRow {
        account_id: i64 => BigInt,
        subscription_id: i64 => BigInt,
    }
);

row!(
    struct CountedRow {
        last: Option<i64> => Nullable<BigInt>,
        matching: i64 => BigInt,
    }
);

statement!(
    /// How many of the next deliveries between two events a replay would send, and the last of them. As in [`Advance`], the
    /// planner is not told the limit.
    CountNext(
        account: i64 => BigInt,
        subscription: i64 => BigInt,
        after: i64 => BigInt,
        before: i64 => BigInt,
        since: OffsetDateTime => Timestamptz,
        until: OffsetDateTime => Timestamptz,
        states: Vec<&'static str> => Array<Text>,
        limit: i64 => BigInt,
    ) -> CountedRow = "
    SELECT max(event_id) AS last,
        count(*) FILTER (WHERE created_at >= $5 AND created_at < $6 AND state = ANY ($7) AND NOT is_test) AS matching
    FROM (
        SELECT event_id, created_at, state, is_test FROM deliveries
        WHERE account_id = $1 AND subscription_id = $2 AND event_id > $3 AND event_id < $4
        ORDER BY event_id LIMIT (SELECT $8::bigint)
    ) AS looked_at"
);

statement!(
    /// Looks at the next deliveries of a running replay, and puts those that it is to send into the queue again; with none
    /// among the last that there are, the replay is done: others may come all the time. What is in the hands of a worker at this
    /// moment is passed over: it is being sent; so are tests, which were made for who asked for them. Nothing when another process
    /// is at this replay. The planner is not told how many it looks at: where it expects fewer, it would read all there are and
    /// sort them.
    Advance(
        now: OffsetDateTime => Timestamptz,
        account: i64 => BigInt,
        id: i64 => BigInt,
    ) -> AdvancedRow = "
    WITH replay AS MATERIALIZED (
        SELECT r.*, t.now, t.most FROM (SELECT $1::timestamptz AS now, 10000 AS most) AS t, webhook_replays r
        WHERE r.account_id = $2 AND r.id = $3 AND r.state = 'running' FOR UPDATE OF r SKIP LOCKED
    ), next AS MATERIALIZED (
        SELECT d.account_id, d.subscription_id, d.event_id, r.now
        FROM replay r CROSS JOIN LATERAL (
            SELECT * FROM (
                SELECT * FROM deliveries
                WHERE account_id = $2 AND subscription_id = r.subscription_id AND event_id > r.cursor
                ORDER BY event_id LIMIT r.most
            ) AS looked_at
            WHERE created_at >= r.since AND created_at < r.until AND state = ANY (r.states) AND NOT is_test
            ORDER BY event_id LIMIT 500
        ) AS d
    ), queued AS (
        UPDATE deliveries d
        SET state = 'pending', due_at = n.now, earlier_attempts = d.attempts, finished_at = NULL
        FROM next n
        WHERE d.account_id = $2 AND d.subscription_id = n.subscription_id AND d.event_id = n.event_id
            AND (d.leased_until IS NULL OR d.leased_until < n.now)
        RETURNING d.event_id
    ), step AS (
        SELECT (SELECT count(*) FROM queued) AS queued, coalesce(walked.last, (SELECT max(event_id) FROM next)) AS cursor,
            walked.seen < r.most AND NOT EXISTS (SELECT FROM next) AS is_over
        FROM replay r CROSS JOIN LATERAL (
            SELECT max(event_id) AS last, count(*) AS seen FROM (
                SELECT event_id FROM deliveries
                WHERE account_id = $2 AND subscription_id = r.subscription_id AND event_id > r.cursor
                    AND (SELECT count(*) FROM next) < 500
                ORDER BY event_id LIMIT r.most
            ) AS looked_at
        ) AS walked
    )
    UPDATE webhook_replays w
    SET cursor = coalesce(s.cursor, w.cursor), queued = w.queued + s.queued, advanced_at = r.now,
        state = CASE WHEN s.is_over THEN 'done' ELSE 'running' END,
        finished_at = CASE WHEN s.is_over THEN r.now END
    FROM replay r, step s
    WHERE w.account_id = $2 AND w.id = r.id
    RETURNING w.account_id, w.subscription_id"
);

/// Moves a replay on. Gives its receiver, none when it is not running or another process is at it.
pub(crate) async fn advance(
    connection: &mut AsyncPgConnection,
    account: i64,
    id: i64,
    now: OffsetDateTime,
) -> Result<Option<Receiver>, Failure> {
    let advance = Advance { now, account, id };
    let row: Option<AdvancedRow> = advance.get_result(connection).await.optional()?;
    Ok(row.map(|AdvancedRow { account_id, subscription_id }| receiver(account_id, subscription_id)))
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = replays, check_for_backend(diesel::pg::Pg))]
struct ReplayRow {
    id: i64,
    subscription_id: i64,
    since: OffsetDateTime,
    until: OffsetDateTime,
    states: Vec<String>,
    state: String,
    total: i64,
    queued: i64,
    created_at: OffsetDateTime,
    finished_at: Option<OffsetDateTime>,
}

impl ReplayRow {
    /// As it was when it began.
    fn into_started(self) -> Self {
        Self { state: ReplayState::Running.as_str().to_owned(), queued: 0, finished_at: None, ..self }
    }
}

impl TryFrom<ReplayRow> for Replay {
    type Error = StoreError;
    fn try_from(row: ReplayRow) -> Result<Self, StoreError> {
        let ReplayRow { id, subscription_id, since, until, states, state, total, queued, created_at, finished_at } =
            row;
        let states = states.iter().map(|state| parse(state, "delivery state")).collect::<Result<_, _>>()?;
        let selection = Selection { subscription: SubscriptionId(subscription_id), since, until, states };
        Ok(Self {
            id: ReplayId(id),
            selection,
            state: parse(&state, "replay state")?,
            total,
            queued,
            created_at,
            finished_at,
        })
    }
}

#[async_trait]
impl ReplayStore for Store {
    async fn count(&self, account: AccountId, selection: &Selection) -> Result<i64, StoreError> {
        Ok(self.walk(account, selection).await?.total)
    }

    async fn start(
        &self,
        account: AccountId,
        selection: Selection,
        idempotency: Option<IdempotencyKey>,
        note: Option<Entry>,
        now: OffsetDateTime,
    ) -> Result<Idempotent<Replay>, StartError> {
        let key = idempotency.as_ref();
        // Counting may take long: nothing is counted for what is refused, or was started before.
        let before = self
            .transact::<_, WriteError<StartError>>(async |connection| {
                started_before(connection, account, selection.subscription, key, now).await
            })
            .await;
        if let Some(row) = before.map_err(WriteError::into_refusal)? {
            return Ok(Idempotent { value: row.try_into()?, replayed: true });
        }
        let walk = self.walk(account, &selection).await?;
        let started = self
            .transact::<_, WriteError<StartError>>(async |connection| {
                start_once(connection, account, (&selection, walk), key, note, now).await
            })
            .await;
        let Idempotent { value, replayed } = started.map_err(WriteError::into_refusal)?;
        Ok(Idempotent { value: value.try_into()?, replayed })
    }

    async fn find(
        &self,
        account: AccountId,
        SubscriptionId(subscription): SubscriptionId,
        ReplayId(id): ReplayId,
    ) -> Result<Option<Replay>, StoreError> {
        let row: Option<ReplayRow> = self
            .run::<_, Failure>(async |connection| {
                let found = replays::table.find((account.0, id)).filter(replays::subscription_id.eq(subscription));
                Ok(found.select(ReplayRow::as_select()).first(connection).await.optional()?)
            })
            .await?;
        row.map(Replay::try_from).transpose()
    }

    async fn cancel(
        &self,
        account: AccountId,
        SubscriptionId(subscription): SubscriptionId,
        ReplayId(id): ReplayId,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let canceled = self
            .run::<_, Failure>(async |connection| {
                let running = replays::table
                    .find((account.0, id))
                    .filter(replays::subscription_id.eq(subscription))
                    .filter(replays::state.eq(ReplayState::Running.as_str()));
                let change = (replays::state.eq(ReplayState::Canceled.as_str()), replays::finished_at.eq(now));
                Ok(diesel::update(running).set(change).execute(connection).await?)
            })
            .await?;
        Ok(canceled == 1)
    }
}

/// What a replay has before it.
#[derive(Clone, Copy)]
struct Walk {
    /// The event that it begins behind.
    after: i64,
    /// Deliveries that it would send.
    total: i64,
}

impl Store {
    /// Counts what a replay would send, a bounded number of deliveries at a time: there may be millions, and few that match.
    async fn walk(&self, account: AccountId, selection: &Selection) -> Result<Walk, StoreError> {
        let (start, end) = self
            .run::<_, Failure>(async |connection| {
                let start = event_before(connection, account, selection.since).await?;
                Ok((start, event_after(connection, account, selection.until).await?))
            })
            .await?;
        let (mut after, mut total) = (start, 0);
        loop {
            let next = CountNext {
                account: account.0,
                subscription: selection.subscription.0,
                after,
                before: end,
                since: selection.since,
                until: selection.until,
                states: states(selection),
                limit: COUNTED_AT_A_TIME,
            };
            let CountedRow { last, matching } =
                self.run::<_, Failure>(async |connection| Ok(next.get_result(connection).await?)).await?;
            total += matching;
            let Some(last) = last else { return Ok(Walk { after: start, total }) };
            after = last;
        }
    }
}

/// What was started under the key. With `None` another may start, unless one does after the transaction.
async fn started_before(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    subscription: SubscriptionId,
    key: Option<&IdempotencyKey>,
    now: OffsetDateTime,
) -> Result<Option<ReplayRow>, WriteError<StartError>> {
    if let Some(key) = key
        && let Some(result) = idempotency::begin(connection, account, key, now).await?
    {
        let id = result.get("replay_id").and_then(Value::as_i64).ok_or_else(|| corrupt("idempotent result"))?;
        let row: ReplayRow =
            replays::table.find((account.0, id)).select(ReplayRow::as_select()).first(connection).await?;
        return Ok(Some(row.into_started()));
    }
    // Keeps two requests from both being the last that may start.
    lock(connection, account).await?;
    let running: Vec<i64> = replays::table
        .filter(replays::account_id.eq(account.0))
        .filter(replays::state.eq(ReplayState::Running.as_str()))
        .select(replays::subscription_id)
        .load(connection)
        .await?;
    let running: Vec<_> = running.into_iter().map(SubscriptionId).collect();
    may_start(subscription, &running).map_err(WriteError::Refused)?;
    Ok(None)
}

async fn start_once(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    (selection, walk): (&Selection, Walk),
    key: Option<&IdempotencyKey>,
    note: Option<Entry>,
    now: OffsetDateTime,
) -> Result<Idempotent<ReplayRow>, WriteError<StartError>> {
    if let Some(row) = started_before(connection, account, selection.subscription, key, now).await? {
        return Ok(Idempotent { value: row, replayed: true });
    }
    let row: ReplayRow = diesel::insert_into(replays::table)
        .values((
            replays::account_id.eq(account.0),
            replays::subscription_id.eq(selection.subscription.0),
            replays::since.eq(selection.since),
            replays::until.eq(selection.until),
            replays::states.eq(states(selection)),
            replays::state.eq(ReplayState::Running.as_str()),
            replays::total.eq(walk.total),
            replays::cursor.eq(walk.after),
            replays::created_at.eq(now),
        ))
        .returning(ReplayRow::as_returning())
        .get_result(connection)
        .await?;
    if let Some(key) = key {
        idempotency::finish(connection, account, key, json!({ "replay_id": row.id }), now).await?;
    }
    if let Some(note) = note {
        let Selection { since, until, .. } = selection;
        let (since, until) = (Instant(*since), Instant(*until));
        let what = json!({ "since": since, "until": until, "states": states(selection), "deliveries": walk.total });
        audit::add(connection, &Entry { after: Some(what), ..note }, now).await?;
    }
    Ok(Idempotent { value: row, replayed: false })
}

fn states(selection: &Selection) -> Vec<&'static str> {
    selection.states.iter().map(|state| state.as_str()).collect()
}
