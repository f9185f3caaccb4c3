//! [`Eraser`] on Postgres: every row of every table that names an account, over a connection of its own.

use std::collections::BTreeSet;

use async_trait::async_trait;
use domain::{StoreError, UserId, erasure::Eraser};
use time::OffsetDateTime;
use tokio_postgres::{Client, Transaction};

use crate::{Connect, database::error::driver_error};

/// Rows that one statement removes, and commits: killed, it has lost no more than that, and vacuum need not wait for all of it.
const BATCH: u64 = 50_000;

/// Removing a large account takes as long as it does, and is done by one process at a time: two would both take the amounts
/// of a ledger over.
const SETTINGS: &str = "SET TIME ZONE 'UTC'; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
    SELECT pg_advisory_lock(hashtextextended('erasure of users', 0))";

session_statement!(
    after [""] =>
    /// Both accounts, and copies of them as of a day.
    ACCOUNTS(user: Text) -> (id: BigInt) = "SELECT id FROM accounts WHERE user_id = $1 ORDER BY id"
);

session_statement!(
    after [""] =>
    /// Tables with rows of accounts, and which of their rows an account's are, up to the account. `owner_id` is the account
    /// where it is what a key from outside leads to: a payment, a shop, a profile. The months of a table come before the whole of
    /// it, which has what moved into another month meanwhile.
    TABLES() -> (name: Text, rows: Text) = "
    SELECT c.relname::text AS name, format('public.%I WHERE %I = ', c.relname, a.attname) AS rows
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('account_id', 'owner_id') AND NOT a.attisdropped
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
    ORDER BY c.relispartition DESC, c.relname"
);

session_statement!(
    after [""] =>
    /// Which tables refer to which.
    REFERENCES() -> (referring: Text, referred: Text) = "
    SELECT DISTINCT a.relname::text AS referring, b.relname::text AS referred
    FROM pg_constraint k JOIN pg_class a ON a.oid = k.conrelid JOIN pg_class b ON b.oid = k.confrelid
    WHERE k.contype = 'f' AND k.conparentid = 0 AND a.oid <> b.oid AND k.connamespace = 'public'::regnamespace"
);

session_statement!(
    after [""] =>
    /// Every writer of a ledger locks its balance first: until this transaction ends, none writes.
    HOLD_BALANCE(account: BigInt) -> (account_id: BigInt) = "
    SELECT account_id FROM credit_balances WHERE account_id = $1 FOR UPDATE"
);

session_statement!(
    after [""] =>
    /// The amounts stay, and nothing that says whose they were. Those of the sandbox are no money.
    CLOSE_LEDGER(account: BigInt, now: Timestamptz) -> () = "
    INSERT INTO closed_ledger (kind, amount, created_at, closed_at)
    SELECT kind, amount, created_at, $2 FROM credit_transactions
    WHERE account_id = $1 AND EXISTS (SELECT FROM accounts WHERE id = $1 AND mode = 'live')"
);

session_statement!(
    after [""] =>
    /// All of it at once: its rows refer to each other, and their amounts have gone over.
    EMPTY_LEDGER(account: BigInt) -> () = "DELETE FROM credit_transactions WHERE account_id = $1"
);

session_statements!(
    /// What ends with the user, in this order: it ends in one transaction, with the accounts.
    OF_USER(user: Text) = [
        "DELETE FROM accounts WHERE user_id = $1 AND copy_of IS NOT NULL",
        "DELETE FROM accounts WHERE user_id = $1",
        "DELETE FROM sessions WHERE user_id = $1",
        "DELETE FROM links WHERE user_id = $1",
        "DELETE FROM mails WHERE facts->>'user' = $1",
        "DELETE FROM erasures WHERE user_id = $1",
    ]
);

session_statement!(
    after [""] =>
    /// Members, who are looked at once they are none any more.
    LEAVE(user: Text) -> (person_id: BigInt) = "DELETE FROM memberships WHERE user_id = $1 RETURNING person_id"
);

session_statement!(
    after [""] =>
    /// Who ever did something there: those who were removed are no members who could [`LEAVE`].
    ACTED(account: BigInt) -> (person_id: BigInt) = "
    SELECT DISTINCT person_id FROM audit_entries WHERE account_id = $1 AND person_id IS NOT NULL"
);

session_statements!(
    /// What ends with a person who belongs to nobody, in this order.
    OF_PERSON(person: BigInt) = [
        "DELETE FROM sessions WHERE person_id = $1",
        "DELETE FROM links WHERE person_id = $1",
        "DELETE FROM devices WHERE person_id = $1",
        "DELETE FROM challenges WHERE person_id = $1",
        "DELETE FROM recovery_codes WHERE person_id = $1",
        "DELETE FROM second_factors WHERE person_id = $1",
        "DELETE FROM people WHERE id = $1",
    ]
);

session_statement!(
    after [""] =>
    /// The user, once nobody is a member any more.
    USER(user: Text) -> () = "DELETE FROM users WHERE id = $1"
);

session_statement!(
    after [""] =>
    BELONGS(person: BigInt) -> (belongs: Bool) = "
    SELECT EXISTS (SELECT FROM memberships WHERE person_id = $1) AS belongs"
);

/// Erases users over a connection of its own.
#[derive(Debug, Clone)]
pub struct RowEraser {
    connect: Connect,
}

impl RowEraser {
    pub const fn new(connect: Connect) -> Self {
        Self { connect }
    }

    async fn open(&self) -> Result<Client, StoreError> {
        let client = self.connect.client().await.map_err(driver_error)?;
        client.batch_execute(SETTINGS).await.map_err(driver_error)?;
        Ok(client)
    }
}

/// Tables in an order in which none is emptied before what refers to it.
fn ordered(tables: Vec<(String, String)>, references: &[(String, String)]) -> Vec<(String, String)> {
    let (mut left, mut ordered) = (tables, Vec::new());
    while !left.is_empty() {
        let names: BTreeSet<&String> = left.iter().map(|(name, _)| name).collect();
        let is_free = |name: &String| {
            !references.iter().any(|(referring, referred)| referred == name && names.contains(referring))
        };
        let (free, held): (Vec<_>, Vec<_>) = left.iter().cloned().partition(|(name, _)| is_free(name));
        // Tables that refer to each other in a circle: the database says so when the first of them is emptied.
        let (free, held) = if free.is_empty() { (held, free) } else { (free, held) };
        ordered.extend(free);
        left = held;
    }
    ordered
}

/// The ledger before the balance, as if it referred to it: the balance is what the writers of the ledger wait for.
fn ledger_first() -> (String, String) {
    ("credit_transactions".to_owned(), "credit_balances".to_owned())
}

/// Removes the ledger of an account; its amounts go over into the books in the same transaction.
async fn close_ledger(client: &mut Client, account: i64, now: OffsetDateTime) -> Result<u64, tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    // What was written between the two statements would be removed without having been taken over.
    transaction.query_opt(HOLD_BALANCE, &[&account]).await?;
    transaction.execute(CLOSE_LEDGER, &[&account, &now]).await?;
    let removed = transaction.execute(EMPTY_LEDGER, &[&account]).await?;
    transaction.commit().await?;
    Ok(removed)
}

/// Empties a table of an account.
async fn empty(
    client: &mut Client,
    (name, rows): (String, String),
    account: i64,
    now: OffsetDateTime,
) -> Result<u64, tokio_postgres::Error> {
    if name == "credit_transactions" {
        return close_ledger(client, account, now).await;
    }
    let batch = format!("DELETE FROM {rows}$1 AND ctid = ANY (ARRAY(SELECT ctid FROM {rows}$1 LIMIT {BATCH}))");
    let batch = client.prepare(&batch).await?;
    let mut removed = 0;
    loop {
        // Fewer than a batch may be all, or some were changed meanwhile and are elsewhere now.
        match client.execute(&batch, &[&account]).await? {
            0 => return Ok(removed),
            count => removed += count,
        }
    }
}

async fn remove(client: &mut Client, account: i64, now: OffsetDateTime) -> Result<u64, tokio_postgres::Error> {
    let pair = |row: &tokio_postgres::Row| (row.get::<_, String>(0), row.get::<_, String>(1));
    let tables = client.query(TABLES, &[]).await?.iter().map(pair).collect();
    let mut references: Vec<_> = client.query(REFERENCES, &[]).await?.iter().map(pair).collect();
    references.push(ledger_first());
    let mut rows = 0;
    for table in ordered(tables, &references) {
        rows += empty(client, table, account, now).await?;
    }
    Ok(rows)
}

/// Erases a person, unless they belong to somebody.
async fn end_person(transaction: &Transaction<'_>, person: i64) -> Result<u64, tokio_postgres::Error> {
    if transaction.query_one(BELONGS, &[&person]).await?.get(0) {
        return Ok(0);
    }
    let mut rows = 0;
    for statement in OF_PERSON {
        rows += transaction.execute(*statement, &[&person]).await?;
    }
    Ok(rows)
}

/// Erases the people who were removed from an account and belong to nobody since, while its audit log still names them.
async fn end_former(client: &mut Client, account: i64) -> Result<u64, tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    let mut rows = 0;
    for person in transaction.query(ACTED, &[&account]).await? {
        rows += end_person(&transaction, person.get(0)).await?;
    }
    transaction.commit().await?;
    Ok(rows)
}

async fn end(client: &mut Client, user: &str) -> Result<u64, tokio_postgres::Error> {
    let transaction = client.transaction().await?;
    let mut rows = 0;
    for statement in OF_USER {
        rows += transaction.execute(*statement, &[&user]).await?;
    }
    for person in transaction.query(LEAVE, &[&user]).await? {
        rows += end_person(&transaction, person.get(0)).await?;
    }
    rows += transaction.execute(USER, &[&user]).await?;
    transaction.commit().await?;
    Ok(rows)
}

#[async_trait]
impl Eraser for RowEraser {
    async fn erase(&self, user: &UserId, now: OffsetDateTime) -> Result<u64, StoreError> {
        let mut client = self.open().await?;
        let accounts = client.query(ACCOUNTS, &[&user.as_str()]).await.map_err(driver_error)?;
        let mut rows = 0;
        for account in accounts {
            let account = account.get(0);
            rows += end_former(&mut client, account).await.map_err(driver_error)?;
            rows += remove(&mut client, account, now).await.map_err(driver_error)?;
        }
        // What a job wrote meanwhile refers to the account, which then stays until the next time.
        Ok(rows + end(&mut client, user.as_str()).await.map_err(driver_error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_refers_to_a_table_comes_before_it() {
        let table = |name: &str| (name.to_owned(), format!("public.{name} WHERE account_id = "));
        let refers = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        let tables = vec![table("customers"), table("lines"), table("orders")];
        let references = [refers("orders", "customers"), refers("lines", "orders"), refers("orders", "accounts")];
        let names: Vec<_> = ordered(tables, &references).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["lines", "orders", "customers"]);
    }

    #[test]
    fn the_balance_is_there_until_the_ledger_is_empty() {
        let tables = ["credit_balances", "credit_transactions"].map(|name| (name.to_owned(), String::new()));
        let names: Vec<_> = ordered(tables.into(), &[ledger_first()]).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["credit_transactions", "credit_balances"]);
    }

    #[test]
    fn a_circle_does_not_hold_it_up() {
        let tables = vec![("a".to_owned(), String::new()), ("b".to_owned(), String::new())];
        let circle = [("a".to_owned(), "b".to_owned()), ("b".to_owned(), "a".to_owned())];
        assert_eq!(ordered(tables, &circle).len(), 2);
    }
}
