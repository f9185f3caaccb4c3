//! [`AsOfStore`] on Postgres: accounts that are copies of others as of a day.

use async_trait::async_trait;
use diesel::{
    prelude::*,
    result::Error,
    sql_types::{BigInt, Bool, Date as SqlDate, Jsonb, Text, Timestamptz},
};
use diesel_async::AsyncPgConnection;
use domain::{AccountId, StoreError, accounts::Account, as_of::AsOfStore, jobs::JobName};
use serde_json::Value;
use time::{Date, OffsetDateTime};

use crate::{
    Store,
    accounts::AccountRow,
    database::{error::Failure, query::RunQueryDsl, statement::Scalar},
    ingest::imports,
    schema::{
        accounts, ad_accounts, ad_days, ad_entities, ad_spend, anomalies, campaign_creatives, creatives, customer_days,
        customer_totals, customers, daily_breakdowns, daily_metrics, events, expenses, gone_places, insights,
        inventory_items, job_results, job_runs, metric_days, orders, product_costs, product_days, products,
        profit_snapshots, refunds, reorder_suggestions, risks, stock_levels, stories,
    },
};

/// What is copied, in an order that foreign keys allow, and which rows. Days are summed up already, so of most documents only
/// the newest are needed, which freshness is told by. Of the orders verdicts on creatives need how their values spread.
const COPIED: [(&str, &str); 17] = [
    (
        "customers",
        "(created_at < $4 OR EXISTS (SELECT FROM customer_days d
            WHERE d.account_id = $1 AND d.customer_id = customers.id AND d.day <= $3))",
    ),
    ("products", "true"),
    // Later ones say that a cost in the catalogue was not known yet, and go then.
    ("product_costs", "true"),
    ("stock_levels", "day <= $3"),
    ("daily_metrics", "day <= $3"),
    ("daily_breakdowns", "day <= $3"),
    ("product_days", "day <= $3"),
    ("customer_days", "day <= $3"),
    ("orders", "placed_at < $4"),
    ("refunds", "refunded_at = (SELECT max(refunded_at) FROM refunds WHERE account_id = $1 AND refunded_at < $4)"),
    ("ad_spend", "day = (SELECT max(day) FROM ad_spend WHERE account_id = $1 AND day <= $3)"),
    ("expenses", "day = (SELECT max(day) FROM expenses WHERE account_id = $1 AND day <= $3)"),
    ("ad_accounts", "true"),
    ("ad_entities", "true"),
    ("ad_days", "day <= $3"),
    ("creatives", "true"),
    // That they had won; what is found of them as of the day takes the place of the rest.
    ("campaign_creatives", "won_at < $4"),
];

statement!(
    /// Waits for a step of a roll-up of the account, and keeps others from beginning: each day's sums are of one state. All days
    /// are, as they are rolled up before, unless what they depend on has changed since.
    LockSums(account: i64 => BigInt) -> Scalar<Bool> =
        "SELECT pg_advisory_xact_lock(726300, hashint8($1)) IS NULL"
);

statement!(
    InsertCopy(account: i64 => BigInt, as_of: Date => SqlDate) -> Scalar<BigInt> = "
    INSERT INTO accounts (user_id, mode, name, plan, currency, timezone, fee_rate, fee_fixed, shipping_per_order,
        cogs_ratio, created_at, holiday_country, language, country, copy_of, as_of)
    SELECT user_id, mode, name, plan, currency, timezone, fee_rate, fee_fixed, shipping_per_order,
        cogs_ratio, created_at, holiday_country, language, country, id, $2
    FROM accounts WHERE id = $1 AND copy_of IS NULL RETURNING id"
);

statement!(
    CopyRows(
        source: i64 => BigInt,
        target: i64 => BigInt,
        table: &'static str => Text,
        condition: &'static str => Text,
        day: Date => SqlDate,
        until: OffsetDateTime => Timestamptz,
    ) -> Scalar<Bool> = "SELECT copy_rows($1, $2, $3::regclass, $4, $5, $6) IS NULL"
);

statement!(
    /// Sums up the days of every customer of a copy, which are those of the account up to its day.
    SumUpCustomers(copy: i64 => BigInt) -> () = "
    INSERT INTO customer_totals (account_id, customer_id, days, orders, gross, refunds, first_at, last_at)
    SELECT $1, customer_id, count(*) FILTER (WHERE orders > 0), sum(orders)::bigint, sum(gross), sum(refunds),
        min(first_at), max(last_at)
    FROM customer_days WHERE account_id = $1 GROUP BY customer_id HAVING sum(orders) > 0"
);

statement!(
    /// Stock and costs of products as they were known by the end of the day; a cost in the catalogue alone has no past. What is
    /// not stocked any more was on days of which its shop told a level, as it does every night.
    EndProducts(copy: i64 => BigInt, day: Date => SqlDate) -> () = "
    UPDATE products SET current_stock = (SELECT stock FROM stock_levels l
            WHERE l.account_id = $1 AND l.product_id = products.id AND (products.current_stock IS NOT NULL OR l.day = $2)
            ORDER BY l.day DESC LIMIT 1),
        unit_cost = coalesce((SELECT c.unit_cost FROM product_costs c WHERE c.account_id = $1
                AND c.product_id = products.id AND c.valid_from <= $2 ORDER BY c.valid_from DESC LIMIT 1),
            CASE WHEN NOT EXISTS (SELECT FROM product_costs c WHERE c.account_id = $1 AND c.product_id = products.id)
                THEN unit_cost END)
    WHERE account_id = $1"
);

statement!(
    ForgetLaterCosts(copy: i64 => BigInt, day: Date => SqlDate) -> () =
        "DELETE FROM product_costs WHERE account_id = $1 AND valid_from > $2"
);

statement!(
    /// Forgets that winners were seen after the day.
    EndSeen(copy: i64 => BigInt, day: Date => SqlDate) -> () = "
    UPDATE campaign_creatives SET last_seen = least(last_seen, $2) WHERE account_id = $1"
);

statement!(
    /// The rows of the results of a job, without what only the store needs.
    ResultRows(copy: i64 => BigInt, job: &'static str => Text) -> Scalar<Jsonb> = "
    SELECT row - '{account_id,content_hash,fingerprint,days_rank,expected_rank,severity_rank,urgency,
        email_at,name_at,city_at,country_at}'::text[] FROM (
        SELECT to_jsonb(r) AS row, r.id AS place FROM customers r WHERE r.account_id = $1 AND $2 = 'customer_metrics'
        UNION ALL SELECT to_jsonb(r), r.snapshot_date - date '1970-01-01' FROM profit_snapshots r
            WHERE r.account_id = $1 AND $2 = 'profit_snapshots'
        UNION ALL SELECT to_jsonb(r), r.id FROM inventory_items r WHERE r.account_id = $1 AND $2 = 'inventory_velocity'
        UNION ALL SELECT to_jsonb(r), r.id FROM reorder_suggestions r WHERE r.account_id = $1 AND $2 = 'smart_reorder'
        UNION ALL SELECT to_jsonb(r), r.id FROM anomalies r WHERE r.account_id = $1 AND $2 = 'anomaly_detection'
        UNION ALL SELECT to_jsonb(r), r.id FROM insights r WHERE r.account_id = $1 AND $2 = 'insight_generation'
        UNION ALL SELECT to_jsonb(r), r.id FROM risks r WHERE r.account_id = $1 AND $2 = 'risk_assessment'
        UNION ALL SELECT to_jsonb(r), r.id FROM campaign_creatives r WHERE r.account_id = $1 AND $2 = 'creative_winners'
    ) found ORDER BY place"
);

#[async_trait]
impl AsOfStore for Store {
    async fn copy(
        &self,
        account: AccountId,
        as_of: Date,
        until: OffsetDateTime,
    ) -> Result<Option<Account>, StoreError> {
        let copy = self
            .job_transaction(async |connection| {
                // An order is copied with its customer. An import can take long: meanwhile days are still summed up.
                imports::lock(connection, account).await?;
                let _: bool = LockSums { account: account.0 }.get_result(connection).await?;
                let copy: Option<i64> =
                    InsertCopy { account: account.0, as_of }.get_result(connection).await.optional()?;
                let Some(copy) = copy else { return Ok(None) };
                for (table, condition) in COPIED {
                    let rows = CopyRows { source: account.0, target: copy, table, condition, day: as_of, until };
                    let _: bool = rows.get_result(connection).await?;
                }
                SumUpCustomers { copy }.execute(connection).await?;
                EndProducts { copy, day: as_of }.execute(connection).await?;
                ForgetLaterCosts { copy, day: as_of }.execute(connection).await?;
                EndSeen { copy, day: as_of }.execute(connection).await?;
                accounts::table.find(copy).select(AccountRow::as_select()).first(connection).await.optional()
            })
            .await?;
        copy.map(Account::try_from).transpose()
    }

    async fn publish(&self, copy: AccountId) -> Result<(), StoreError> {
        self.job_transaction(async |connection| {
            let (account, as_of): (Option<i64>, Option<Date>) = diesel::update(accounts::table.find(copy.0))
                .set(accounts::published.eq(true))
                .returning((accounts::copy_of, accounts::as_of))
                .get_result(connection)
                .await?;
            let earlier: Vec<i64> = accounts::table
                .filter(accounts::copy_of.eq(account))
                .filter(accounts::as_of.eq(as_of))
                .filter(accounts::id.lt(copy.0))
                .select(accounts::id)
                .load(connection)
                .await?;
            for earlier in earlier {
                remove(connection, earlier).await?;
            }
            Ok(())
        })
        .await
    }

    async fn find(&self, account: AccountId, as_of: Date) -> Result<Option<AccountId>, StoreError> {
        let found: Option<i64> = self
            .run::<_, Failure>(async |connection| {
                let copies = accounts::table.filter(accounts::copy_of.eq(account.0)).filter(accounts::as_of.eq(as_of));
                let newest = copies.filter(accounts::published).order(accounts::id.desc()).select(accounts::id);
                Ok(newest.first(connection).await.optional()?)
            })
            .await?;
        Ok(found.map(AccountId))
    }

    async fn rows(&self, copy: AccountId, job: JobName) -> Result<Vec<Value>, StoreError> {
        let rows = ResultRows { copy: copy.0, job: job.as_str() };
        self.job_transaction(async |connection| rows.load(connection).await).await
    }
}

/// Removes a copy with everything in it.
async fn remove(connection: &mut AsyncPgConnection, copy: i64) -> Result<(), Error> {
    macro_rules! clear {
        ($($table:ident),*) => {
            $(diesel::delete($table::table.filter($table::account_id.eq(copy))).execute(connection).await?;)*
        };
    }
    clear!(
        profit_snapshots,
        reorder_suggestions,
        inventory_items,
        anomalies,
        metric_days,
        stories,
        insights,
        risks,
        gone_places,
        events,
        job_results,
        job_runs
    );
    clear!(campaign_creatives, creatives, ad_days, ad_entities, ad_accounts);
    clear!(orders, refunds, ad_spend, expenses, customer_totals, customer_days, product_days, daily_breakdowns);
    clear!(daily_metrics, stock_levels, product_costs, products, customers);
    diesel::delete(accounts::table.find(copy)).execute(connection).await?;
    Ok(())
}
