//! The statements that a request makes, as the server saw them, so that pgbench runs the same ones.

use crate::{cluster::Postgres, service::Service};

/// After this number of requests, each over a connection of its own, every thread of the service has had one.
const REQUESTS_BEFORE: usize = 32;

/// A statement and the values that it ran with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub text: String,
    /// As the server writes them: quoted, or NULL.
    pub values: Vec<String>,
}

/// What a GET with an already known key asks the database; nothing when it is answered from memory. `service` starts
/// the service on `database`.
///
/// # Errors
/// When the request fails.
pub async fn of_request(
    postgres: &Postgres,
    database: &str,
    service: impl AsyncFn() -> anyhow::Result<Service>,
    path: &str,
    key: &str,
) -> anyhow::Result<Vec<Statement>> {
    let begin = async || {
        let service = service().await?;
        // The first request looks the key up; the key is held once revocations are listened to.
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        // Each thread of the service opens a session of its own at the first request that it is handed.
        for _ in 0..REQUESTS_BEFORE {
            service.get(path, key).await?;
        }
        Ok(service)
    };
    let (service, found) =
        of_work(postgres, database, begin, async |service| service.get(path, key).await.map(drop)).await?;
    service.stop().await?;
    let opens_session = found.iter().any(|statement| statement.text.starts_with("SET "));
    anyhow::ensure!(!opens_session, "the statements that open a session are not those of a request: {found:?}");
    Ok(found)
}

/// What `work` asks the database in the sessions that `begin` opens, but for BEGIN and COMMIT.
///
/// # Errors
/// Those of both, and of the server.
pub async fn of_work<T>(
    postgres: &Postgres,
    database: &str,
    begin: impl AsyncFnOnce() -> anyhow::Result<T>,
    work: impl AsyncFnOnce(&T) -> anyhow::Result<()>,
) -> anyhow::Result<(T, Vec<Statement>)> {
    let admin = postgres.client("postgres").await?;
    admin.batch_execute(&format!("ALTER DATABASE {database} SET log_statement = 'all'")).await?;
    admin.batch_execute(&format!("ALTER DATABASE {database} SET log_error_verbosity = 'default'")).await?;
    // Sessions take the setting over when they begin.
    let begun = begin().await?;
    let before = postgres.log()?.len();
    work(&begun).await?;
    let log = postgres.log()?;
    admin.batch_execute(&format!("ALTER DATABASE {database} RESET ALL")).await?;
    Ok((begun, read(log.get(before..).unwrap_or_default())))
}

/// A pgbench script of the statements: `account` is drawn at random, every other value is as it was.
///
/// # Errors
/// When a statement has more values than were logged.
pub fn script(statements: &[Statement], account: i64, accounts: i64) -> anyhow::Result<String> {
    let mut script = draw_account(accounts);
    for statement in statements {
        script.push_str(&statement.with(&[(format!("'{account}'"), ":account")])?);
        script.push_str(";\n");
    }
    Ok(script)
}

/// The line of a script that draws an account.
#[must_use]
pub fn draw_account(accounts: i64) -> String {
    format!("\\set account random(1, {accounts})\n")
}

impl Statement {
    /// The statement in one line with its values, some of which are replaced.
    ///
    /// # Errors
    /// When there are more values than were logged.
    pub fn with(&self, replaced: &[(String, &str)]) -> anyhow::Result<String> {
        let mut text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        // From the last one, so that $1 does not take the beginning of $10.
        for (index, value) in self.values.iter().enumerate().rev() {
            let name = format!("${}", index + 1);
            anyhow::ensure!(text.contains(&name), "{name} is not in {text}");
            let other = replaced.iter().find(|(known, _)| known == value).map(|(_, other)| *other);
            text = text.replace(&name, other.unwrap_or(value));
        }
        Ok(text)
    }
}

/// The executed statements of a log.
fn read(log: &str) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    for entry in entries(log) {
        if let Some((_, text)) = entry.split_once("LOG:  execute ").and_then(|(_, rest)| rest.split_once(": ")) {
            found.push(Statement { text: text.to_owned(), values: Vec::new() });
        } else if let Some((_, values)) =
            entry.split_once("DETAIL:  parameters: ").or_else(|| entry.split_once("DETAIL:  Parameters: "))
            && let Some(statement) = found.last_mut()
        {
            statement.values = read_values(values);
        }
    }
    found
}

/// Entries of the log: lines that begin with a tab go on with the one before.
fn entries(log: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in log.lines() {
        match (line.strip_prefix('\t'), entries.last_mut()) {
            (Some(more), Some(entry)) => {
                entry.push('\n');
                entry.push_str(more);
            }
            _ => entries.push(line.to_owned()),
        }
    }
    entries
}

/// `$1 = 'a', $2 = NULL` in order. A quote within a text is doubled.
fn read_values(text: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut rest = text;
    while let Some((_, value)) = rest.split_once(" = ") {
        let end = if value.starts_with('\'') { end_of_text(value) } else { value.find(',').unwrap_or(value.len()) };
        let (value, after) = value.split_at(end);
        values.push(value.trim().to_owned());
        rest = after;
    }
    values
}

fn end_of_text(quoted: &str) -> usize {
    let mut at = 1;
    while let Some(found) = quoted.get(at..).and_then(|rest| rest.find('\'')) {
        at += found + 1;
        if !quoted.get(at..).is_some_and(|rest| rest.starts_with('\'')) {
            return at;
        }
        at += 1;
    }
    quoted.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "2026-01-01 00:00:00.000 UTC [7] LOG:  execute s1: SELECT a\n\tFROM t WHERE x = $1 AND y = $2 AND z = $3\n\
        2026-01-01 00:00:00.000 UTC [7] DETAIL:  parameters: $1 = '17', $2 = 'it''s, $3 = ', $3 = NULL\n\
        2026-01-01 00:00:00.000 UTC [7] LOG:  statement: \n";

    #[test]
    fn statements_are_read_with_their_values() {
        let found = read(LOG);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].values, ["'17'", "'it''s, $3 = '", "NULL"]);
    }

    #[test]
    fn the_account_is_drawn_and_the_rest_is_kept() {
        let statement = Statement {
            text: "SELECT 1 WHERE a = $1\n AND b = $2".to_owned(),
            values: vec!["'17'".to_owned(), "'26'".to_owned()],
        };
        assert_eq!(
            script(&[statement], 17, 1_000).unwrap(),
            "\\set account random(1, 1000)\nSELECT 1 WHERE a = :account AND b = '26';\n"
        );
    }
}
