//! Orders of a connected shop: documents as a file has them, and what the shop says is gone.

use domain::imports::{ImportError, Rows, ShopDocument, ShopSource, ShopSummary, Target};
use futures_util::StreamExt;

use super::{
    Importer,
    copy::CopyBuffer,
    documents, gone_orders, refunds,
    session::{Scope, Session, Transaction},
    staging::{self, Staging},
};

#[cfg(test)]
use super::{costs, merge, session::DAYS_TABLE};

/// Orders are numbered as they come.
const TABLES: &str = "
    CREATE TEMPORARY TABLE import_shop_orders (no bigint, order_id text, is_voided boolean, is_whole boolean,
        is_there boolean);
    CREATE TEMPORARY TABLE import_shop_parts (part bigint, shop_order bigint);";

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, refunds::TABLES, TABLES, DAYS_TABLE] =>
    /// An order that was read twice, since it moved between pages, counts as it was read last.
    DROP_OLDER_PARTS() -> () = "DELETE FROM import_parts
    USING import_shop_parts part
    JOIN (SELECT no, max(no) OVER (PARTITION BY order_id) AS newest FROM import_shop_orders) came
        ON came.no = part.shop_order
    WHERE part.part = import_parts.no AND came.no < came.newest"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, refunds::TABLES, TABLES, DAYS_TABLE] =>
    DROP_OLDER_ORDERS() -> () = "DELETE FROM import_shop_orders older USING import_shop_orders newer
    WHERE newer.order_id = older.order_id AND newer.no > older.no"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, refunds::TABLES, TABLES, DAYS_TABLE] =>
    /// What a file or another shop brought is not gone because this shop does not know it.
    KEEP_OTHERS(account: BigInt, source: Text, integration: BigInt) -> () = "DELETE FROM import_shop_orders came
    WHERE NOT came.is_there AND NOT EXISTS (SELECT FROM orders WHERE orders.account_id = $1 AND orders.source = $2
        AND orders.external_id = came.order_id AND orders.integration_id = $3)"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, refunds::TABLES, TABLES, DAYS_TABLE] =>
    /// Orders that a file brought before are the connection's from now on.
    MARK_ORDERS(account: BigInt, integration: BigInt) -> () = "UPDATE orders SET integration_id = $2 FROM import_orders came
    WHERE orders.account_id = $1 AND orders.id = came.id AND orders.integration_id IS DISTINCT FROM $2"
);

session_statement!(
    after [staging::TABLES, merge::TABLES, costs::TABLES, refunds::TABLES, TABLES, DAYS_TABLE] =>
    /// Refunds of an order are those by its identifier and a day; the index of them has the same terms.
    GATHER_GONE_REFUNDS(account: BigInt, source: Text) -> () = "INSERT INTO import_gone_refunds
    SELECT known.id, known.refunded_at FROM import_shop_orders came
    JOIN refunds known ON known.account_id = $1 AND known.source = $2 AND left(known.external_id, -11) = came.order_id
        AND known.external_id ~ '/[0-9]{4}-[0-9]{2}-[0-9]{2}$'
    WHERE (came.is_whole OR came.is_voided)
        AND NOT EXISTS (SELECT FROM import_refunds named WHERE named.external_id = known.external_id)"
);

session_statement!(
    after [gone_orders::TABLES, TABLES, DAYS_TABLE] =>
    GATHER_GONE_ORDERS(account: BigInt, source: Text) -> () = "INSERT INTO import_gone_orders
    SELECT known.id, known.placed_at FROM import_shop_orders came
    JOIN orders known ON known.account_id = $1 AND known.source = $2 AND known.external_id = came.order_id
    WHERE came.is_voided"
);

pub(super) async fn import(
    importer: &Importer,
    target: Target,
    source: ShopSource,
    mut rows: Rows<ShopDocument>,
) -> Result<ShopSummary, ImportError> {
    let mut session = Session::open(importer, &format!("{}{TABLES}", documents::tables())).await?;
    session.require(target.account).await?;
    let mut staged = Staged::new();
    while let Some(batch) = rows.next().await {
        for document in &batch? {
            staged.add(document);
        }
        staged.documents.send_full(&session).await?;
        for buffer in [&mut staged.orders, &mut staged.parts] {
            session.send_full(buffer).await?;
        }
    }
    staged.documents.send_rest(&session).await?;
    for buffer in [&mut staged.orders, &mut staged.parts] {
        session.send(buffer).await?;
    }
    let (mut summary, days) =
        session.merge(target, async |transaction, scope| merge_all(transaction, scope, source).await).await?;
    summary.documents.days_touched = days;
    Ok(summary)
}

/// Documents on their way into the session's tables, and which order each part is of.
struct Staged {
    documents: Staging,
    orders: CopyBuffer,
    parts: CopyBuffer,
    order_no: i64,
}

impl Staged {
    fn new() -> Self {
        Self {
            documents: Staging::new(),
            orders: CopyBuffer::new("import_shop_orders"),
            parts: CopyBuffer::new("import_shop_parts"),
            order_no: 0,
        }
    }

    fn add(&mut self, document: &ShopDocument) {
        let ShopDocument { order_id, parts, is_whole, is_there } = document;
        self.order_no += 1;
        self.orders
            .row()
            .plain(self.order_no)
            .text(order_id)
            .plain(parts.is_empty())
            .plain(is_whole)
            .plain(is_there)
            .end();
        for part in parts {
            let part = self.documents.add(part);
            self.parts.row().plain(part).plain(self.order_no).end();
        }
    }
}

async fn merge_all(
    transaction: &Transaction<'_>,
    scope: &Scope,
    ShopSource { platform, integration }: ShopSource,
) -> Result<ShopSummary, tokio_postgres::Error> {
    transaction.batch_execute("ANALYZE import_shop_orders; ANALYZE import_shop_parts").await?;
    if transaction.execute(DROP_OLDER_PARTS, &[]).await? > 0 {
        staging::forget_dropped(transaction).await?;
    }
    transaction.execute(DROP_OLDER_ORDERS, &[]).await?;
    let documents = documents::merge_all(transaction, scope, platform).await?;
    let (account, source) = (scope.account, platform.as_str());
    transaction.execute(MARK_ORDERS, &[&account, &integration.0]).await?;
    transaction.execute(KEEP_OTHERS, &[&account, &source, &integration.0]).await?;
    transaction.execute(GATHER_GONE_REFUNDS, &[&account, &source]).await?;
    transaction.execute(GATHER_GONE_ORDERS, &[&account, &source]).await?;
    let refunds_removed = refunds::delete_gathered(transaction, scope).await?;
    let orders_removed = gone_orders::delete_gathered(transaction, scope).await?;
    Ok(ShopSummary { documents, orders_removed, refunds_removed })
}
