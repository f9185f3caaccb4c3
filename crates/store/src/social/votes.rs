//! [`VoteStore`] on Postgres: votes are reserved with their debit, and end with the decision that goes by them.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    sql_types::{BigInt, Bool, Bytea, Nullable, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{
    RunId, StoreError,
    ai::{LEASE_SECONDS, Outcome, RequestError, RunClaim, Usage},
    credits::CreditAmount,
    idempotency::IdempotencyError,
    social::{
        fingerprint_of,
        replies::Undecided,
        votes::{Ballot, Counted, FEATURE, Verdict, VotePermit, VoteStore},
    },
};
use serde_json::{Map, json};
use time::{Duration, OffsetDateTime};

use super::intake::{find, next_vote};
use crate::{
    Store,
    ai::{Charge, begin_paid, end_run},
    credits::posting,
    database::{
        error::{Failure, corrupt},
        idempotency::WriteError,
        query::RunQueryDsl,
        statement::Scalar,
    },
    schema::social_votes as votes,
};

/// When a vote that another worker is at is looked at again.
const LOOK_AGAIN: Duration = Duration::seconds(30);

statement!(
    /// The comment, if it is still to be decided about and the same text. Locked, so that no one else decides meanwhile.
    Hold(account: i64 => BigInt, id: i64 => BigInt, fingerprint: Vec<u8> => Bytea) -> Scalar<BigInt> = "
    SELECT id FROM conversation_messages WHERE account_id = $1 AND id = $2 AND is_undecided AND fingerprint = $3 FOR UPDATE"
);

statement!(
    /// The vote that a comment had. Leases are kept by the database's clock, which all processes share.
    Reserved<'a>(account: i64 => BigInt, channel: &'a str => Text, comment: &'a str => Text) -> ReservedRow = "
    SELECT r.id AS run_id, r.claim, r.state = 'running' AS is_running, coalesce(r.lease_until >= now(), false) AS is_held
    FROM social_votes v JOIN ai_runs r ON r.account_id = v.account_id AND r.id = v.run_id
    WHERE v.account_id = $1 AND v.channel = $2 AND v.comment_id = $3"
);

row!(
    struct ReservedRow {
        run_id: i64 => BigInt,
        claim: i64 => BigInt,
        is_running: bool => Bool,
        is_held: bool => Bool,
    }
);

statement!(
    Postpone(account: i64 => BigInt, id: i64 => BigInt, until: OffsetDateTime => Timestamptz) -> () = "
    UPDATE conversation_messages SET vote_due_at = $3 WHERE account_id = $1 AND id = $2"
);

statement!(
    Answered<'a>(
        account: i64 => BigInt,
        channel: &'a str => Text,
        comment: &'a str => Text,
        verdict: &'a str => Text,
        template: Option<i64> => Nullable<BigInt>,
    ) -> () = "
    UPDATE social_votes SET verdict = $4, template_id = $5 WHERE account_id = $1 AND channel = $2 AND comment_id = $3"
);

fn hash_of(of: &Undecided) -> Vec<u8> {
    fingerprint_of(of.text.as_deref().unwrap_or_default()).to_vec()
}

#[async_trait]
impl VoteStore for Store {
    async fn waiting(&self, now: OffsetDateTime) -> Result<Option<Undecided>, StoreError> {
        Ok(self.run::<_, Failure>(async |connection| next_vote(connection, now).await).await?)
    }

    async fn again(&self, of: &Undecided, now: OffsetDateTime) -> Result<Option<Undecided>, StoreError> {
        let (account, id) = (of.account.0, of.message.0);
        let found = self.run::<_, Failure>(async |connection| find(connection, account, id, now).await).await?;
        Ok(found.filter(|found| found.text == of.text))
    }

    async fn open(
        &self,
        of: &Undecided,
        price: CreditAmount,
        model: &str,
        bound: Usage,
        now: OffsetDateTime,
    ) -> Result<VotePermit, StoreError> {
        let permit = self
            .transact::<_, WriteError<RequestError>>(async |connection| {
                open(connection, of, price, (model, &bound), now).await
            })
            .await;
        match self.refused(of.account, permit, now).await {
            Ok(permit) => Ok(permit),
            Err(RequestError::Paused) => Ok(VotePermit::Paused),
            Err(RequestError::Insufficient { .. }) => Ok(VotePermit::Unpaid),
            Err(RequestError::Idempotency(IdempotencyError::Store(error))) => Err(error),
            Err(RequestError::Idempotency(error)) => Err(StoreError::Internal(error.into())),
        }
    }
}

/// [`VoteStore::open`], in the caller's transaction. What is refused ends it.
async fn open(
    connection: &mut AsyncPgConnection,
    of: &Undecided,
    price: CreditAmount,
    call: (&str, &Usage),
    now: OffsetDateTime,
) -> Result<VotePermit, WriteError<RequestError>> {
    let (account, id, channel) = (of.account.0, of.message.0, of.channel.as_str());
    // The balance first, as everywhere.
    posting::lock(connection, of.account).await?;
    let hold = Hold { account, id, fingerprint: hash_of(of) };
    if hold.get_result::<i64>(connection).await.optional()?.is_none() {
        return Ok(VotePermit::Elsewhere);
    }
    let reserved = Reserved { account, channel, comment: &of.comment_id };
    let reserved: Option<ReservedRow> = reserved.get_result(connection).await.optional()?;
    if let Some(ReservedRow { run_id, claim, is_running, is_held }) = reserved {
        if is_held {
            Postpone { account, id, until: now + LOOK_AGAIN }.execute(connection).await?;
            return Ok(VotePermit::Elsewhere);
        }
        if is_running {
            // Its process died, and the reaper has not been here yet.
            let dead = RunClaim { account: of.account, run: RunId(run_id), number: claim };
            end_run(connection, &dead, Outcome::Interrupted, Some("the process ended"), now).await?;
        }
        return Ok(VotePermit::Spent);
    }
    let about = [("channel", json!(channel)), ("comment_id", json!(of.comment_id))];
    let about = Map::from_iter(about.map(|(name, value)| (name.to_owned(), value)));
    let (run, call) = begin_paid(connection, of.account, Charge { feature: FEATURE, price, about }, call, now).await?;
    diesel::insert_into(votes::table)
        .values((
            votes::account_id.eq(account),
            votes::channel.eq(channel),
            votes::comment_id.eq(&of.comment_id),
            votes::run_id.eq(run.run.0),
            votes::comment_hash.eq(hash_of(of)),
            votes::reserved_at.eq(now),
        ))
        .execute(connection)
        .await?;
    // Whoever finds it due again finds a worker that died.
    Postpone { account, id, until: now + Duration::seconds(LEASE_SECONDS) }.execute(connection).await?;
    Ok(VotePermit::Granted(Ballot { run, call }))
}

/// Ends a vote with the decision that goes by it, in the caller's transaction: paid for if the comment is still to be decided
/// about and the answer counts, else refunded. Whether the decision may be written.
pub(super) async fn end(
    connection: &mut AsyncPgConnection,
    of: &Undecided,
    vote: &Counted,
    now: OffsetDateTime,
) -> Result<bool, Failure> {
    posting::lock(connection, of.account).await?;
    let hold = Hold { account: of.account.0, id: of.message.0, fingerprint: hash_of(of) };
    let is_open = hold.get_result::<i64>(connection).await.optional()?.is_some();
    let (outcome, reason) = match vote.answer {
        Ok(_) if is_open => (Outcome::Voted, None),
        Ok(_) => (Outcome::Failed, Some("the comment was decided about or changed")),
        Err(reason) => (Outcome::Failed, Some(reason)),
    };
    if !end_run(connection, &vote.run, outcome, reason, now).await? {
        return Ok(false);
    }
    if let (true, Ok(template)) = (is_open, vote.answer) {
        let answered = Answered {
            account: of.account.0,
            channel: of.channel.as_str(),
            comment: &of.comment_id,
            verdict: if template.is_some() { Verdict::Template } else { Verdict::None }.as_str(),
            template: template.map(|template| template.0),
        };
        if answered.execute(connection).await? != 1 {
            return Err(corrupt("vote").into());
        }
    }
    Ok(is_open)
}
