//! The plan settings of a session.

use domain::{
    customers::{CustomerStore, Filter},
    page::PageRequest,
    tracking::{EventName, EventStore, Location, NewEvent},
};
use serde_json::Map;
use store::PoolOptions;
use time::{OffsetDateTime, macros::datetime};

use crate::{
    database::{Database, fresh},
    shop,
};

const NOW: OffsetDateTime = datetime!(2026-03-02 03:00 UTC);
const PAGES: i64 = 8;

/// Why a cluster has nothing to look at.
const PLANS: &str = "every statement is planned for its values, since they say where it goes";

/// How often the only connection of a store planned a page of customers for the actual values, and how often it used the
/// plan that it had. The session itself looks when it stores an event.
async fn plans(db: &Database, generic_plans: bool) -> (i64, i64) {
    let account = shop::account(&db.sql, "UTC").await;
    db.sql
        .execute(
            "INSERT INTO customers (account_id, source, external_id, created_at)
             SELECT $1, 'shopify', n::text, now() FROM generate_series(1, 20000) n",
            &[&account.0],
        )
        .await
        .unwrap();
    let look = "ANALYZE customers;
        CREATE TABLE seen AS SELECT statement, custom_plans, generic_plans FROM pg_prepared_statements WHERE false;
        CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
            INSERT INTO seen SELECT statement, custom_plans, generic_plans FROM pg_prepared_statements;
            RETURN NULL;
        END';
        CREATE TRIGGER look AFTER INSERT ON track_events FOR EACH ROW EXECUTE FUNCTION look();";
    db.sql.batch_execute(look).await.unwrap();
    let store = db.store_with(PoolOptions { max_connections: 1, generic_plans, ..testkit::patient() });
    for _ in 0..PAGES {
        let page = PageRequest { limit: 25, cursor: None };
        assert_eq!(CustomerStore::page(&store, account, Filter::default(), page).await.unwrap().found.items.len(), 25);
    }
    let event = NewEvent {
        name: EventName::parse("look".to_owned()).unwrap(),
        props: Map::new(),
        visitor_id: None,
        session_id: None,
        url: None,
        location: Location { country: None, region: None, city: None },
        occurred_at: NOW,
        received_at: NOW,
    };
    store.insert_many(account, vec![event]).await.unwrap();
    let seen = "SELECT custom_plans, generic_plans FROM seen WHERE statement LIKE '%FROM customers%'";
    let row = db.sql.query_one(seen, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test]
async fn a_list_is_planned_once_when_values_do_not_matter() {
    if testkit::skip_on_citus(PLANS) {
        return;
    }
    assert_eq!(plans(&fresh().await, true).await, (0, PAGES));
}

/// Why the setting is there: left to itself the server finds a plan for a known limit cheaper, whatever planning costs.
#[tokio::test]
async fn a_list_is_planned_every_time_otherwise() {
    if testkit::skip_on_citus(PLANS) {
        return;
    }
    assert_eq!(plans(&fresh().await, false).await, (PAGES, 0));
}
