//! The data that the service is measured on: accounts with keys, customers, orders, figures of the jobs, subscriptions.
//!
//! Customers come in batches of a hundred an account, as imports bring them. Everything is made up by the database
//! from the numbers of the rows, so that every run has the same data.

use domain::{accounts::Mode, keys::ApiKey};
use ring::digest::{SHA256, digest};
use tokio_postgres::Client;

/// Customers that an account gets at a time.
const BATCH: i64 = 100;

/// How much there is.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    pub accounts: i64,
    /// Customers of each account.
    pub customers: i64,
    /// Customers of the one account that the whole list is streamed from.
    pub largest: i64,
}

impl Size {
    /// A million customers over a thousand accounts, and another million in one.
    pub const FULL: Self = Self { accounts: 1_000, customers: 1_000, largest: 1_000_000 };
    /// For a look at whether everything works.
    pub const QUICK: Self = Self { accounts: 100, customers: 200, largest: 20_000 };
}

/// An account and the key that opens it.
#[derive(Debug, Clone)]
pub struct Account {
    pub id: i64,
    pub key: String,
}

/// What was loaded.
#[derive(Debug, Clone)]
pub struct Dataset {
    pub size: Size,
    /// The ordinary accounts.
    pub accounts: Vec<Account>,
    /// An account with ten times the customers of the others.
    pub tenfold: Account,
    /// The account with [`Size::largest`] customers.
    pub largest: Account,
}

impl Dataset {
    /// Loads the data into an empty database.
    ///
    /// # Errors
    /// When a statement fails.
    pub async fn load(client: &Client, size: Size) -> anyhow::Result<Self> {
        let (tenfold, largest) = (account(size.accounts + 1), account(size.accounts + 2));
        let accounts: Vec<Account> = (1..=size.accounts).map(account).collect();
        let all: Vec<&Account> = accounts.iter().chain([&tenfold, &largest]).collect();
        client.batch_execute("SET synchronous_commit = off").await?;
        insert_accounts(client, &all).await?;
        let mut loaded = 0;
        while loaded < size.customers {
            let until = (loaded + BATCH).min(size.customers);
            insert_customers(client, (1, size.accounts), loaded, until).await?;
            loaded = until;
        }
        insert_customers(client, (tenfold.id, tenfold.id), 0, size.customers * 10).await?;
        if size.largest > 0 {
            insert_customers(client, (largest.id, largest.id), 0, size.largest).await?;
        }
        client.batch_execute(&figures(largest.id)).await?;
        client.batch_execute("VACUUM ANALYZE").await?;
        client.batch_execute("CHECKPOINT").await?;
        Ok(Self { size, accounts, tenfold, largest })
    }

    /// The keys of the ordinary accounts.
    #[must_use]
    pub fn keys(&self) -> Vec<&str> {
        self.accounts.iter().map(|account| account.key.as_str()).collect()
    }
}

/// The account of that number with a key that is the same in every run.
fn account(id: i64) -> Account {
    let blocks = (0u32..4).flat_map(|block| {
        let seed = format!("{id} {block}");
        digest(&SHA256, seed.as_bytes()).as_ref().to_vec()
    });
    Account { id, key: ApiKey::generate(Mode::Live, blocks).expose().to_owned() }
}

async fn insert_accounts(client: &Client, accounts: &[&Account]) -> anyhow::Result<()> {
    let ids: Vec<i64> = accounts.iter().map(|account| account.id).collect();
    let hashes: Vec<Vec<u8>> =
        accounts.iter().map(|account| digest(&SHA256, account.key.as_bytes()).as_ref().to_vec()).collect();
    let users = "INSERT INTO users (id, created_at)
        SELECT 'user_' || lpad(id::text, 24, '0'), now() - interval '2 years' FROM unnest($1::bigint[]) AS id";
    client.execute(users, &[&ids]).await?;
    let rows = "INSERT INTO accounts (id, user_id, mode, name, plan, currency, timezone, created_at)
        OVERRIDING SYSTEM VALUE
        SELECT id, 'user_' || lpad(id::text, 24, '0'), 'live', 'Shop ' || id, 'scale', 'USD', 'UTC',
            now() - interval '2 years'
        FROM unnest($1::bigint[]) AS id";
    client.execute(rows, &[&ids]).await?;
    client.execute("SELECT setval(pg_get_serial_sequence('accounts', 'id'), max(id)) FROM accounts", &[]).await?;
    let keys = "INSERT INTO api_keys (hash, account_id, name, prefix, scopes, created_at)
        SELECT hash, id, 'bench', 'svc_live_xxx', '{read,write}', now()
        FROM unnest($1::bigint[], $2::bytea[]) AS key (id, hash)";
    client.execute(keys, &[&ids, &hashes]).await?;
    Ok(())
}

async fn insert_customers(client: &Client, accounts: (i64, i64), from: i64, to: i64) -> anyhow::Result<()> {
    let insert = "INSERT INTO customers (account_id, source, external_id, email, name, city, country, created_at,
            orders_count, revenue_total, ltv_estimate, aov, segment, churn_score, first_purchase_at, last_purchase_at)
        SELECT a, (ARRAY['shopify', 'tiendanube', 'mercadolibre'])[1 + c % 3], (6000000000 + c)::text,
            'customer' || c || '@shop' || a || '.example', 'Customer ' || c || ' of ' || a,
            (ARRAY['Santos', 'Córdoba', 'Monterrey', 'Bogotá'])[1 + c % 4], (ARRAY['BR', 'AR', 'MX', 'CO'])[1 + c % 4],
            now() - interval '1 year' + c * interval '1 minute', c % 9 + 1, (c % 977) * 1.25, (c % 1231) * 2.75,
            (c % 977) * 1.25 / (c % 9 + 1),
            (ARRAY['vip', 'loyal', 'promising', 'new', 'at_risk', 'dormant'])[1 + c % 6], (c % 97) / 97.0,
            now() - interval '300 days', now() - (c % 90) * interval '1 day'
        FROM generate_series($1::bigint, $2::bigint) AS a, generate_series($3::bigint, $4::bigint) AS c ORDER BY a, c";
    client.execute(insert, &[&accounts.0, &accounts.1, &(from + 1), &to]).await?;
    Ok(())
}

/// What else an account has; the largest one has customers only.
fn figures(largest: i64) -> String {
    format!(
        "INSERT INTO orders (account_id, source, external_id, placed_at, gross, units, content_hash)
            SELECT id, 'shopify', n::text, now() - n * interval '6 hours', n, 1, '\\x00'
            FROM accounts, generate_series(1, 100) AS n WHERE id <> {largest} ORDER BY 1;
        INSERT INTO refunds (account_id, source, external_id, refunded_at, amount, units, content_hash)
            SELECT id, 'shopify', n::text, now() - n * interval '3 days', n, 1, '\\x00'
            FROM accounts, generate_series(1, 10) AS n WHERE id <> {largest} ORDER BY 1;
        INSERT INTO ad_spend (account_id, day, platform, campaign, spend)
            SELECT id, current_date - n, 'meta', 'brand', 40 + n
            FROM accounts, generate_series(1, 30) AS n WHERE id <> {largest} ORDER BY 1;
        INSERT INTO expenses (account_id, day, category, description, occurrence, amount)
            SELECT id, current_date - 30 * n, 'rent', 'office', 1, 900
            FROM accounts, generate_series(1, 3) AS n WHERE id <> {largest} ORDER BY 1;
        INSERT INTO job_runs (account_id, job, as_of, state, claim, lease_until, started_at, finished_at)
            SELECT id, job, current_date - n, 'done', 1, now(), now() - n * interval '1 day', now() - n * interval '1 day'
            FROM accounts, generate_series(1, 5) AS n, unnest(ARRAY['customer_metrics', 'profit_snapshots',
                'inventory_velocity', 'smart_reorder', 'anomaly_detection', 'insight_generation']) AS job
            WHERE id <> {largest} ORDER BY 1;
        INSERT INTO profit_snapshots (account_id, snapshot_date, gross_revenue, refunds, ad_spend, cogs_estimate,
                fees_estimate, shipping_estimate, extra_expenses, purchase_count, computed_at)
            SELECT id, current_date - n, 1000 + n, n, 40 + n, 400 + n * 0.37, 29.5, 80.25, 30, 25 + n % 7, now()
            FROM accounts, generate_series(0, 89) AS n WHERE id <> {largest} ORDER BY 1;
        INSERT INTO webhook_subscriptions (account_id, url, events, sealed_secret, created_at)
            SELECT id, 'https://receiver.example/hooks/' || n, ARRAY['credits.low', 'anomaly.detected'], '\\x00', now()
            FROM accounts, generate_series(1, 3) AS n WHERE id <> {largest} ORDER BY 1;"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    #[test]
    fn every_account_has_a_well_formed_key_of_its_own() {
        let keys: Vec<String> = (1..50).map(|id| account(id).key).collect();
        assert!(keys.iter().all(|key| key.parse::<ApiKey>().is_ok()));
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
