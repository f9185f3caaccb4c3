//! The stories that the job `anomaly_detection` tells of its findings.

use std::collections::HashMap;

use diesel::{
    QueryResult,
    result::Error,
    sql_types::{Array, BigInt, Bool, Date as SqlDate, Jsonb, Nullable, Text},
};
use diesel_async::AsyncPgConnection;
use domain::{
    AccountId, AnomalyId, StoreError, StoryId,
    anomalies::Finding,
    insights::StoryFact,
    profit::DayRange,
    stories::{StoredStory, Story, StoryMember},
};
use serde_json::Value;
use time::Date;

use super::changed;
use crate::database::{error::parse, query::RunQueryDsl, statement::Scalar};

statement!(
    /// A story that is known from an earlier or a later day on than before stays the same row, and so does one of which more is
    /// known, unless what it was told as is still told.
    Move<'a>(
        account: i64 => BigInt,
        keys: &'a [String] => Array<Text>,
        firsts: &'a [Date] => Array<SqlDate>,
        lasts: &'a [Date] => Array<SqlDate>,
        earlier: &'a [Option<String>] => Array<Nullable<Text>>,
    ) -> () = "
    WITH v AS (SELECT * FROM unnest($2, $3, $4, $5) AS v(key, first_day, last_day, earlier))
    UPDATE stories s SET key = v.key, first_day = v.first_day FROM v
    WHERE s.account_id = $1 AND s.id = coalesce((
            SELECT min(o.id) FROM stories o
            WHERE o.account_id = $1 AND o.key = v.key AND o.first_day <= v.last_day AND o.last_day >= v.first_day), (
            SELECT min(o.id) FROM stories o
            WHERE o.account_id = $1 AND o.key = v.earlier AND o.first_day <= v.last_day AND o.last_day >= v.first_day
                AND NOT EXISTS (SELECT FROM v still
                    WHERE still.key = o.key AND still.first_day <= o.last_day AND still.last_day >= o.first_day)))
        AND NOT EXISTS (
            SELECT FROM stories o WHERE o.account_id = $1 AND o.key = v.key AND o.first_day = v.first_day)"
);

statement!(
    RemoveOthers<'a>(
        account: i64 => BigInt,
        keys: &'a [String] => Array<Text>,
        firsts: &'a [Date] => Array<SqlDate>,
        scored_first: Date => SqlDate,
        scored_last: Date => SqlDate,
    ) -> () = "
    WITH v AS (SELECT * FROM unnest($2, $3) AS v(key, first_day))
    DELETE FROM stories s WHERE s.account_id = $1 AND s.last_day >= $4 AND s.first_day <= $5
        AND NOT EXISTS (SELECT FROM v WHERE v.key = s.key AND v.first_day = s.first_day)"
);

statement!(
    Upsert<'a>(
        account: i64 => BigInt,
        keys: &'a [String] => Array<Text>,
        firsts: &'a [Date] => Array<SqlDate>,
        lasts: &'a [Date] => Array<SqlDate>,
        facts: &'a [Value] => Array<Jsonb>,
    ) -> Scalar<Bool> = "
    INSERT INTO stories AS old (account_id, key, first_day, last_day, facts)
    SELECT $1, v.* FROM unnest($2, $3, $4, $5) AS v(key, first_day, last_day, facts) ORDER BY v.first_day, v.key
    ON CONFLICT (account_id, key, first_day) DO UPDATE SET last_day = excluded.last_day, facts = excluded.facts
    WHERE (old.last_day, old.facts) IS DISTINCT FROM (excluded.last_day, excluded.facts) RETURNING true AS written"
);

statement!(
    Ids<'a>(
        account: i64 => BigInt,
        keys: &'a [String] => Array<Text>,
        firsts: &'a [Date] => Array<SqlDate>,
    ) -> IdRow = "
    SELECT s.id, s.key, s.first_day FROM unnest($2, $3) AS v(key, first_day)
    JOIN stories s ON s.account_id = $1 AND s.key = v.key AND s.first_day = v.first_day"
);

row!(
    struct IdRow {
        id: i64 => BigInt,
        key: String => Text,
        first_day: Date => SqlDate,
    }
);

/// The stories of an account with the ids that they are kept under.
pub(super) struct StoredStories {
    stories: Vec<(StoryId, Story)>,
    pub rows: usize,
}

impl StoredStories {
    /// The story that an anomaly belongs to.
    pub(super) fn of(&self, finding: &Finding) -> Option<StoryId> {
        self.stories.iter().find(|(_, story)| story.holds(finding)).map(|(id, _)| *id)
    }
}

/// Makes these the account's stories of the days that were scored; older ones stay.
pub(super) async fn replace(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    scored: DayRange,
    stories: Vec<Story>,
) -> QueryResult<StoredStories> {
    let account = account.0;
    let keys: Vec<String> = stories.iter().map(Story::key).collect();
    let firsts: Vec<Date> = stories.iter().map(|story| story.span.first).collect();
    let lasts: Vec<Date> = stories.iter().map(|story| story.span.last).collect();
    let facts = stories.iter().map(serde_json::to_value).collect::<Result<Vec<Value>, _>>();
    let facts = facts.map_err(|error| Error::SerializationError(error.into()))?;
    let earlier: Vec<Option<String>> = stories.iter().map(Story::earlier_key).collect();
    let moved = Move { account, keys: &keys, firsts: &firsts, lasts: &lasts, earlier: &earlier };
    let moved = moved.execute(connection).await?;
    let DayRange { first: scored_first, last: scored_last } = scored;
    let others = RemoveOthers { account, keys: &keys, firsts: &firsts, scored_first, scored_last };
    let removed = others.execute(connection).await?;
    let upsert = Upsert { account, keys: &keys, firsts: &firsts, lasts: &lasts, facts: &facts };
    let written = changed(upsert.load(connection).await?);
    let rows: Vec<IdRow> = Ids { account, keys: &keys, firsts: &firsts }.load(connection).await?;
    let ids: HashMap<(String, Date), StoryId> =
        rows.into_iter().map(|row| ((row.key, row.first_day), StoryId(row.id))).collect();
    let with_id = |story: Story| Some((*ids.get(&(story.key(), story.span.first))?, story));
    Ok(StoredStories { stories: stories.into_iter().filter_map(with_id).collect(), rows: moved + removed + written })
}

statement!(
    /// Those that were going on a while ago, or began later, and those that go on; after 35 days they are what is expected. One
    /// that ended later than that is among them as long as its insight is open: until its end is told.
    Recent(account: i64 => BigInt, since: Date => SqlDate, until: Date => SqlDate) -> StoryRow = "
    SELECT s.id, s.facts FROM stories s WHERE s.account_id = $1 AND (s.last_day >= $2
        OR (s.facts -> 'phase' = '\"open\"' AND s.first_day > $3 - 35)
        OR (s.facts -> 'phase' <> '\"open\"' AND EXISTS (
            SELECT FROM insights i WHERE i.account_id = $1 AND i.story_id = s.id AND i.status = 'open')))
        AND s.first_day <= $3 ORDER BY s.id"
);

statement!(
    ById<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> StoryRow =
        "SELECT id, facts FROM stories WHERE account_id = $1 AND id = ANY ($2)"
);

row!(
    pub(super) struct StoryRow {
        id: i64 => BigInt,
        facts: Value => Jsonb,
    }
);

statement!(
    /// The anomalies of stories, by day and metric; inferred causes are no members of their own.
    Members<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> MemberRow = "
    SELECT id, story_id AS story, metric, day, direction FROM anomalies
    WHERE account_id = $1 AND story_id = ANY ($2) AND kind = 'univariate' ORDER BY day, metric"
);

row!(
    struct MemberRow {
        id: i64 => BigInt,
        story: i64 => BigInt,
        metric: String => Text,
        day: Date => SqlDate,
        direction: String => Text,
    }
);

/// The stories that were going on since a day.
pub(super) async fn recent(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    days: DayRange,
) -> QueryResult<Vec<StoryRow>> {
    Recent { account: account.0, since: days.first, until: days.last }.load(connection).await
}

/// The stories of these ids with their anomalies, as far as they are still there.
pub(crate) async fn kept(
    connection: &mut AsyncPgConnection,
    account: AccountId,
    ids: &[i64],
) -> QueryResult<HashMap<StoryId, StoredStory>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<StoryRow> = ById { account: account.0, ids }.load(connection).await?;
    let members: Vec<MemberRow> = Members { account: account.0, ids }.load(connection).await?;
    of_rows(rows, members).map_err(|error| Error::DeserializationError(error.into()))
}

fn of_rows(rows: Vec<StoryRow>, members: Vec<MemberRow>) -> Result<HashMap<StoryId, StoredStory>, StoreError> {
    let mut kept = HashMap::new();
    for StoryFact { id, story } in rows.into_iter().filter_map(StoryRow::fact) {
        kept.insert(id, StoredStory { id, story, members: Vec::new() });
    }
    for MemberRow { id, story, metric, day, direction } in members {
        if let Some(kept) = kept.get_mut(&StoryId(story)) {
            let direction = parse(&direction, "direction")?;
            kept.members.push(StoryMember { anomaly: AnomalyId(id), metric, day, direction });
        }
    }
    Ok(kept)
}

impl StoryRow {
    /// The story; none where another version keeps one that this one cannot read: it is no reason to tell nothing else.
    pub(super) fn fact(self) -> Option<StoryFact> {
        let Self { id, facts } = self;
        Some(StoryFact { id: StoryId(id), story: serde_json::from_value(facts).ok()? })
    }
}
