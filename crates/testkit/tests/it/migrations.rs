//! Migrations that have landed are never edited: databases have run them.

use std::{collections::BTreeMap, fs, path::PathBuf};

use ring::digest::{SHA256, digest};

/// As sha256sum writes it. A change adds lines, by `make migrations`; one that changes a line edits a migration.
const SUMS: &str = "migrations.sha256";

#[test]
fn migrations_are_as_they_landed() {
    let top = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let recorded: BTreeMap<String, String> = fs::read_to_string(top.join(SUMS))
        .unwrap()
        .lines()
        .map(|line| line.split_once("  ").unwrap())
        .map(|(sum, file)| (file.to_owned(), sum.to_owned()))
        .collect();
    let mut present = BTreeMap::new();
    for migration in fs::read_dir(top.join("migrations")).unwrap() {
        let folder = migration.unwrap().path();
        for name in ["up.sql", "down.sql"] {
            let text = fs::read(folder.join(name)).unwrap();
            let file = format!("migrations/{}/{name}", folder.file_name().unwrap().to_str().unwrap());
            present.insert(file, hex::encode(digest(&SHA256, &text)));
        }
    }
    for (file, sum) in &recorded {
        assert_eq!(present.get(file), Some(sum), "{file} has landed: leave it as it was and write another migration");
    }
    let new: Vec<_> = present.keys().filter(|file| !recorded.contains_key(*file)).collect();
    assert!(new.is_empty(), "`make migrations` records {new:?} in {SUMS}");
}
