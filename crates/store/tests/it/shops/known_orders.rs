//! Stored orders, page by page.

use domain::{
    IntegrationId,
    accounts::Platform,
    shops::known_orders::{KnownOrders, Position},
};
use time::macros::datetime;

use crate::{database::fresh, shop};

#[tokio::test]
async fn orders_of_a_connection_come_once_each_from_an_instant_on() {
    let db = fresh().await;
    let (mine, theirs) = (shop::account(&db.sql, "UTC").await, shop::account(&db.sql, "UTC").await);
    db.sql
        .execute(
            "INSERT INTO orders (account_id, source, external_id, placed_at, gross, units, content_hash,
                 integration_id)
             SELECT a, s, n, timestamptz '2026-03-01' + n / 3 * interval '1 day', 1, 1, '',
                 CASE WHEN s = 'shopify' AND n <> 5 THEN 1 WHEN s = 'tiendanube' THEN 2 END
             FROM unnest(ARRAY[$1, $2]::bigint[]) a, unnest(ARRAY['shopify', 'tiendanube']) s, generate_series(0, 9) n
             ORDER BY n, a, s",
            &[&mine.0, &theirs.0],
        )
        .await
        .unwrap();
    let (mut after, mut found) = (Position::before(datetime!(2026-03-02 0:00 UTC)), Vec::new());
    loop {
        let page = db.store.orders_after(mine, IntegrationId(1), after, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.position;
        found.extend(page.into_iter().map(|order| order.external_id));
    }
    assert_eq!(found, ["3", "4", "6", "7", "8", "9"], "not those of another connection or of a file");
    let asked = ["9", "10", "1"].map(str::to_owned);
    let mut known = db.store.known(mine, Platform::Shopify, &asked).await.unwrap();
    known.sort();
    assert_eq!(known, ["1", "9"]);
    assert_eq!(db.store.known(mine, Platform::Mercadolibre, &asked).await.unwrap(), Vec::<String>::new());
}
