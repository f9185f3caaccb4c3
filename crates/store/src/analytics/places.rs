//! Removes rows of lists, and keeps where they were in the order for a while: a cursor names the last row of a page, and the list
//! goes on behind it although it is gone.

use diesel::{
    result::Error,
    sql_types::{Array, BigInt},
};
use diesel_async::AsyncPgConnection;

use crate::database::query::RunQueryDsl;

statement!(
    RemoveAnomalies<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> () = "
    WITH gone AS (DELETE FROM anomalies WHERE account_id = $1 AND id = ANY($2) RETURNING account_id, id, detected_at)
    INSERT INTO gone_places (account_id, list, id, detected_at)
    SELECT account_id, 'anomalies', id, detected_at FROM gone"
);

statement!(
    /// An item may be back, with its id, and go again.
    RemoveItems<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> () = "
    WITH gone AS (
        DELETE FROM inventory_items WHERE account_id = $1 AND id = ANY($2)
        RETURNING account_id, id, urgency, days_rank, sku
    )
    INSERT INTO gone_places (account_id, list, id, rank, amount, name)
    SELECT account_id, 'inventory', id, urgency, days_rank, sku FROM gone
    ON CONFLICT (account_id, list, id) DO UPDATE SET
        rank = excluded.rank, amount = excluded.amount, name = excluded.name, gone_at = excluded.gone_at"
);

statement!(
    RemoveRisks<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> () = "
    WITH gone AS (
        DELETE FROM risks WHERE account_id = $1 AND id = ANY($2) RETURNING account_id, id, severity_rank, expected_rank
    )
    INSERT INTO gone_places (account_id, list, id, rank, amount)
    SELECT account_id, 'risks', id, severity_rank, expected_rank FROM gone"
);

statement!(
    /// Nobody is on a page of two days ago.
    Forget(account: i64 => BigInt) -> () = "
    DELETE FROM gone_places WHERE account_id = $1 AND gone_at < now() - interval '2 days'"
);

macro_rules! removal {
    ($name:ident by $remove:ident) => {
        /// Removes these rows of the account. Returns how many there were: another may have removed one meanwhile.
        pub(crate) async fn $name(
            connection: &mut AsyncPgConnection,
            account: i64,
            ids: &[i64],
        ) -> Result<usize, Error> {
            if ids.is_empty() {
                return Ok(0);
            }
            Forget { account }.execute(connection).await?;
            $remove { account, ids }.execute(connection).await
        }
    };
}

removal!(remove_anomalies by RemoveAnomalies);
removal!(remove_items by RemoveItems);
removal!(remove_risks by RemoveRisks);
