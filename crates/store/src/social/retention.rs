//! Wipes what people wrote once it was kept long enough, and hooks that were read.

use diesel::sql_types::Timestamptz;
use diesel_async::AsyncPgConnection;
use domain::social::{conversations::KEEP_TEXT, replies::KEEP_HOOKS};
use time::OffsetDateTime;

use crate::database::query::RunQueryDsl;

statement!(
    WipeMessages(before: OffsetDateTime => Timestamptz) -> () = "
    UPDATE conversation_messages SET body = NULL WHERE sent_at < $1 AND body IS NOT NULL"
);

statement!(
    WipeAnswers(before: OffsetDateTime => Timestamptz) -> () = "
    UPDATE auto_replies SET message = NULL WHERE decided_at < $1 AND message IS NOT NULL"
);

statement!(
    ForgetHooks(before: OffsetDateTime => Timestamptz) -> () = "
    DELETE FROM social_hooks WHERE received_at < $1"
);

statement!(
    /// A hook that may still come is as old as those that are kept.
    ForgetRemovals(before: OffsetDateTime => Timestamptz) -> () = "
    DELETE FROM social_removals WHERE told_at < $1"
);

/// As of `now`. Of all accounts.
pub(crate) async fn prune(connection: &mut AsyncPgConnection, now: OffsetDateTime) -> diesel::QueryResult<()> {
    WipeMessages { before: now - KEEP_TEXT }.execute(connection).await?;
    WipeAnswers { before: now - KEEP_TEXT }.execute(connection).await?;
    ForgetHooks { before: now - KEEP_HOOKS }.execute(connection).await?;
    ForgetRemovals { before: now - KEEP_HOOKS }.execute(connection).await?;
    Ok(())
}
