//! The crates that may have `unsafe` code have every other lint of the workspace nevertheless.

use std::{fs, path::PathBuf};

use toml::{Table, Value};

/// The crates with a table of lints of their own; each says in its Cargo.toml what for.
const UNSAFE: [&str; 2] = ["connectors", "pgcluster"];

fn lints(manifest: &str, keys: &[&str]) -> Table {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(manifest);
    let whole: Value = toml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    keys.iter().fold(&whole, |value, key| &value[*key]).as_table().unwrap().clone()
}

#[test]
fn a_table_of_its_own_differs_from_the_workspaces_in_unsafe_code_alone() {
    let mut expected = lints("Cargo.toml", &["workspace", "lints"]);
    let forbidden = expected["rust"].as_table_mut().unwrap().insert("unsafe_code".to_owned(), "deny".into());
    assert_eq!(forbidden, Some("forbid".into()));
    for name in UNSAFE {
        assert_eq!(lints(&format!("crates/{name}/Cargo.toml"), &["lints"]), expected, "{name}");
    }
}
