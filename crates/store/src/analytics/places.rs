//! Removes rows of lists, and keeps where they were in the order for a while: a cursor names the last row of a page, and the list
//! goes on behind it although it is gone.

use diesel::{
    prelude::*,
    result::Error,
    sql_types::{Array, BigInt},
};
use diesel_async::AsyncPgConnection;

use crate::{
    database::query::RunQueryDsl,
    schema::{anomalies, inventory_items, risks},
};

statement!(
    KeepAnomalies<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> () = "
    INSERT INTO gone_places (account_id, list, id, detected_at)
    SELECT account_id, 'anomalies', id, detected_at FROM anomalies WHERE account_id = $1 AND id = ANY($2)"
);

statement!(
    /// An item may be back, with its id, and go again.
    KeepItems<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> () = "
    INSERT INTO gone_places (account_id, list, id, rank, amount, name)
    SELECT account_id, 'inventory', id, urgency, days_rank, sku FROM inventory_items WHERE account_id = $1 AND id = ANY($2)
    ON CONFLICT (account_id, list, id) DO UPDATE SET
        rank = excluded.rank, amount = excluded.amount, name = excluded.name, gone_at = excluded.gone_at"
);

statement!(
    KeepRisks<'a>(account: i64 => BigInt, ids: &'a [i64] => Array<BigInt>) -> () = "
    INSERT INTO gone_places (account_id, list, id, rank, amount)
    SELECT account_id, 'risks', id, severity_rank, expected_rank FROM risks WHERE account_id = $1 AND id = ANY($2)"
);

statement!(
    /// Nobody is on a page of two days ago.
    Forget(account: i64 => BigInt) -> () = "
    DELETE FROM gone_places WHERE account_id = $1 AND gone_at < now() - interval '2 days'"
);

macro_rules! removal {
    ($name:ident of $table:ident, $keep:ident) => {
        /// Removes these rows of the account. Returns how many there were.
        pub(crate) async fn $name(
            connection: &mut AsyncPgConnection,
            account: i64,
            ids: &[i64],
        ) -> Result<usize, Error> {
            if ids.is_empty() {
                return Ok(0);
            }
            Forget { account }.execute(connection).await?;
            $keep { account, ids }.execute(connection).await?;
            let removed = $table::table.filter($table::account_id.eq(account)).filter($table::id.eq_any(ids));
            diesel::delete(removed).execute(connection).await
        }
    };
}

removal!(remove_anomalies of anomalies, KeepAnomalies);
removal!(remove_items of inventory_items, KeepItems);
removal!(remove_risks of risks, KeepRisks);
