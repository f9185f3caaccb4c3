//! [`AccountReader`] on Postgres: every row of an account, over a connection of its own, as of one moment.

use std::pin::Pin;

use async_trait::async_trait;
use domain::{
    AccountId, StoreError,
    exports::{AccountReader, Lines},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::json;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use tokio_postgres::{Client, RowStream, types::ToSql};

use crate::{Connect, database::error::driver_error};

/// Tables that hold bytes of files: the files that were imported are in the rows that they became.
const LEFT_OUT: [&str; 4] = ["upload_pieces", "export_pieces", "exports", "idempotency_keys"];

/// Columns of bytes that hold what was sent and answered, and how they are written. The body of an event is JSON; an answer is
/// whatever came, cut anywhere.
const CONTENT: [(&str, &str, &str); 2] = [
    ("events", "body", "convert_from(t.body, 'UTF8')"),
    ("delivery_attempts", "answer", "translate(encode(t.answer, 'base64'), E'\\n', '')"),
];

/// The session may take as long as it does, and sees one moment.
const SETTINGS: &str = "SET TIME ZONE 'UTC'; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

session_statement!(
    after [""] =>
    /// Tables with rows of accounts, as they have to be written in a statement, and their columns of bytes. These hold secrets,
    /// sealed or hashed, and fingerprints, but for [`CONTENT`].
    TABLES() -> (name: Text, written: Text, bytes: Text) = "
    SELECT c.relname::text AS name, format('public.%I', c.relname) AS written,
        array_to_string(array(SELECT a.attname FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'bytea'::regtype), ',') AS bytes
    FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND NOT a.attisdropped)
    ORDER BY c.relname"
);

session_statement!(
    after [""] =>
    ACCOUNT(account: BigInt) -> (line: Text) = "
    SELECT jsonb_build_object('table', 'accounts', 'row', to_jsonb(a))::text AS line FROM accounts a WHERE a.id = $1"
);

session_statement!(
    after [""] =>
    /// Members of its user: who they are, and no password.
    MEMBERS(account: BigInt) -> (line: Text) = "
    SELECT jsonb_build_object('table', 'members', 'row', jsonb_build_object('email', p.email, 'name', p.name,
        'language', p.language, 'role', m.role, 'since', m.created_at))::text AS line
    FROM accounts a JOIN memberships m ON m.user_id = a.user_id JOIN people p ON p.id = m.person_id
    WHERE a.id = $1 ORDER BY p.id"
);

/// Reads accounts over connections of its own.
#[derive(Debug, Clone)]
pub struct RowReader {
    connect: Connect,
}

impl RowReader {
    pub const fn new(connect: Connect) -> Self {
        Self { connect }
    }

    async fn open(&self) -> Result<Client, StoreError> {
        let client = self.connect.client().await.map_err(driver_error)?;
        client.batch_execute(SETTINGS).await.map_err(driver_error)?;
        Ok(client)
    }
}

/// Every row of a table that the account has, without its columns of bytes, which the second parameter names, but for
/// [`CONTENT`].
fn statement(name: &str, written: &str) -> String {
    let content: String = CONTENT
        .iter()
        .filter(|(table, ..)| *table == name)
        .map(|(_, column, text)| format!(" || jsonb_build_object('{column}', {text})"))
        .collect();
    format!(
        "SELECT jsonb_build_object('table', '{name}', 'row', (to_jsonb(t) - string_to_array($2, ',')){content})::text AS line
        FROM {written} t WHERE account_id = $1"
    )
}

/// What is still to be read.
struct Reading {
    client: Client,
    account: i64,
    /// Statements, those of tables with the columns to leave out.
    left: std::vec::IntoIter<(String, Option<String>)>,
    rows: Option<Pin<Box<RowStream>>>,
}

impl Reading {
    async fn next(&mut self) -> Result<Option<String>, StoreError> {
        loop {
            if let Some(rows) = &mut self.rows {
                if let Some(row) = rows.try_next().await.map_err(driver_error)? {
                    return row.try_get("line").map(Some).map_err(driver_error);
                }
                self.rows = None;
            }
            let Some((statement, bytes)) = self.left.next() else { return Ok(None) };
            let of_table = bytes.as_ref().map(|bytes| bytes as &(dyn ToSql + Sync));
            let parameters: Vec<_> = [&self.account as &(dyn ToSql + Sync)].into_iter().chain(of_table).collect();
            let rows = self.client.query_raw(&statement, parameters).await.map_err(driver_error)?;
            self.rows = Some(Box::pin(rows));
        }
    }
}

#[async_trait]
impl AccountReader for RowReader {
    async fn lines(&self, account: AccountId, now: OffsetDateTime) -> Result<Lines, StoreError> {
        let client = self.open().await?;
        let mut statements = vec![(ACCOUNT.to_owned(), None), (MEMBERS.to_owned(), None)];
        for table in client.query(TABLES, &[]).await.map_err(driver_error)? {
            let (name, written): (String, String) = (table.get("name"), table.get("written"));
            if !LEFT_OUT.contains(&name.as_str()) {
                statements.push((statement(&name, &written), Some(table.get("bytes"))));
            }
        }
        let about = json!({ "account": account.0, "exported_at": now.format(&Rfc3339).unwrap_or_default() });
        let reading = Reading { client, account: account.0, left: statements.into_iter(), rows: None };
        let rows = stream::try_unfold(reading, |mut reading| async move {
            let line = reading.next().await?;
            Ok(line.map(|line| (line, reading)))
        });
        Ok(stream::iter([Ok(about.to_string())]).chain(rows).boxed())
    }
}
