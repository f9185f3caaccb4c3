//! Every statement has a declaration.

use std::{collections::BTreeMap, fs, path::Path};

/// Files with SQL that cannot be declared, and how many texts each has.
const ELSEWHERE: [(&str, usize); 12] = [
    // Parts of statements that are declared: `concat!` takes no constant, so a macro has the text.
    ("accounts/data_keys.rs", 1),
    ("analytics/daily/customers.rs", 1),
    ("analytics/results.rs", 1),
    ("integrations.rs", 1),
    ("social/conversations.rs", 1),
    // Put together for each job: a test beside it prepares each, and those of the lists with their queries.
    ("analytics/freshness.rs", 4),
    // Put together for the two kinds of documents: a test beside it prepares each.
    ("ingest/imports/merge.rs", 7),
    // COPY is not prepared. The other text is what a test expects.
    ("ingest/imports/copy.rs", 2),
    // Reads the rows of whatever tables are there.
    ("operations/account_rows.rs", 1),
    // Empties whatever tables are there.
    ("operations/eraser.rs", 1),
    // Counts the rows of whatever tables are there; a table is no parameter. The other reads a table that only Citus has.
    ("operations/backup.rs", 2),
    // Moves rows into a partition that the statement before makes.
    ("operations/maintenance.rs", 1),
];

/// What a text in SQL begins with that reads or writes rows.
const VERBS: [&str; 6] = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH ", "COPY "];

/// The string literals of a source outside of declarations of statements.
fn literals(source: &str) -> Vec<String> {
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
                if declared_until == 0 {
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
        let source = fs::read_to_string(&entry).unwrap();
        let texts = literals(&source).into_iter().filter(|text| {
            let text = text.trim_start().trim_start_matches('(');
            VERBS.iter().any(|verb| text.starts_with(verb))
        });
        let texts = texts.count();
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
    assert_eq!(literals(source), ["SELECT 3", "DELETE {}"]);
}
