//! Every statement has a declaration.

use std::{collections::BTreeMap, fs, path::Path};

/// Files with SQL that cannot be declared, and how many texts each has.
const ELSEWHERE: [(&str, usize); 23] = [
    // Parts of statements that are declared: `concat!` takes no constant, so a macro has the text.
    ("accounts/data_keys.rs", 1),
    ("analytics/daily/costs.rs", 1),
    ("analytics/daily/customers.rs", 1),
    ("analytics/results/customers.rs", 1),
    ("integrations.rs", 1),
    ("social/conversations.rs", 1),
    ("webhooks/deliveries/record.rs", 1),
    // Conditions in queries of the builder, and how each of them ends.
    ("analytics/anomalies.rs", 2),
    ("analytics/customers.rs", 1),
    ("analytics/inventory.rs", 2),
    ("analytics/risks.rs", 1),
    ("database/statement.rs", 1),
    // Conditions that a function of the database puts into a statement for each table: its test copies them all.
    ("analytics/as_of.rs", 4),
    // Put together for each job: a test beside it prepares each, and those of the lists with their queries.
    ("analytics/freshness.rs", 11),
    // Put together for the two kinds of documents: a test beside it prepares each.
    ("ingest/imports/merge.rs", 7),
    // COPY is not prepared. The other text is what a test expects.
    ("ingest/imports/copy.rs", 2),
    // Reads the rows of whatever tables are there.
    ("operations/account_rows.rs", 1),
    // Empties whatever tables are there. The other takes a lock along with the settings of a session.
    ("operations/eraser.rs", 2),
    // Counts the rows of whatever tables are there; a table is no parameter. The other reads a table that only Citus has.
    ("operations/backup.rs", 2),
    // Moves rows into a partition that the statement before makes.
    ("operations/maintenance.rs", 1),
    // What every session begins with, several statements at once.
    ("database/pool.rs", 1),
    // Asks for nothing: whether there is an answer.
    ("database/runs.rs", 1),
    // What Postgres says of an error, in a test.
    ("database/sqlstate.rs", 1),
];

/// What a text in SQL that reads or writes rows has among its words.
const VERBS: [&str; 6] = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "COPY"];

/// Whether a text reads or writes rows, or begins with a row, as a comparison or a value does.
fn is_sql(text: &str) -> bool {
    let mut words = text.split(|char: char| !char.is_alphanumeric() && char != '_');
    text.trim_start().starts_with('(') || words.any(|word| VERBS.contains(&word))
}

/// Whether a text that comes next, as it is or with values put in, is what the query builder is to take as SQL.
fn is_taken_as_sql(before: &str) -> bool {
    let before = before.trim_end();
    let before = before.strip_suffix("format!(").map_or(before, |before| before.trim_end_matches('&').trim_end());
    let Some(call) = before.strip_suffix('(') else { return false };
    let is_typed = call.rsplit_once("sql::<").is_some_and(|(_, types)| types.ends_with('>') && !types.contains(">("));
    is_typed || call.ends_with("sql") || call.ends_with("sql_query")
}

/// The string literals in SQL of a source outside of declarations of statements.
fn texts(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut declared_until = 0;
    let mut depth = 0;
    let mut rest = source.char_indices().peekable();
    while let Some((at, char)) = rest.next() {
        match char {
            '/' if source[at..].starts_with("//") => while rest.next_if(|(_, char)| *char != '\n').is_some() {},
            '\'' if source[at..].starts_with("'\"'") => {
                rest.next();
                rest.next();
            }
            '"' => {
                let mut text = String::new();
                while let Some((_, char)) = rest.next() {
                    match char {
                        '\\' => {
                            rest.next();
                        }
                        '"' => break,
                        _ => text.push(char),
                    }
                }
                if declared_until == 0 && (is_sql(&text) || is_taken_as_sql(&source[..at])) {
                    found.push(text);
                }
            }
            '(' => {
                if declared_until == 0
                    && (source[..at].ends_with("statement!") || source[..at].ends_with("statements!"))
                {
                    declared_until = depth + 1;
                }
                depth += 1;
            }
            ')' => {
                if depth == declared_until {
                    declared_until = 0;
                }
                depth -= 1;
            }
            _ => {}
        }
    }
    found
}

fn count(folder: &Path, root: &Path, counts: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() && !entry.ends_with("statement") {
            count(&entry, root, counts);
        }
        if entry.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let texts = texts(&fs::read_to_string(&entry).unwrap()).len();
        if texts > 0 {
            let name = entry.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            counts.insert(name, texts);
        }
    }
}

/// A statement that is not declared is not checked: declare it by `statement!`, or say above where it is.
#[test]
fn every_text_in_sql_is_declared_or_named_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut counts = BTreeMap::new();
    count(&root, &root, &mut counts);
    let named: BTreeMap<String, usize> = ELSEWHERE.iter().map(|(file, texts)| ((*file).to_owned(), *texts)).collect();
    assert_eq!(counts, named);
}

#[test]
fn texts_outside_of_declarations_are_found() {
    let source = r#"
        statement!(A() -> () = "SELECT 1 (" "x)");
        let quote = '"'; // "SELECT 2
        run("SELECT \"3\"");
        page_statement!(B(), "AND (");
        format!("DELETE {}", 4)"#;
    assert_eq!(texts(source), ["SELECT 3", "DELETE {}"]);
}

#[test]
fn texts_that_begin_with_no_verb_are_found() {
    let source = r#"
        filter("(day, id) > ($1, $2)");
        set("day = (SELECT max(day) FROM days)");
        sql::<Nullable<BigInt>>("now() - $1").bind::<Text, _>("a name").sql(" + 1");
        sql_query(&format!("VACUUM {}", table));
        sql(
            "to_regclass($1)",
        );
        say("updated: select what to delete with a copy, if (any)");"#;
    assert_eq!(
        texts(source),
        [
            "(day, id) > ($1, $2)",
            "day = (SELECT max(day) FROM days)",
            "now() - $1",
            " + 1",
            "VACUUM {}",
            "to_regclass($1)"
        ]
    );
}
