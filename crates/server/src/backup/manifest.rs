//! What a back-up holds, in its first part.

use std::collections::{BTreeMap, BTreeSet};

use delivery::seal::KeyRing;
use serde::{Deserialize, Serialize};
use store::backup::Contents;

/// The form of the file that is written and read.
pub const FORMAT: u32 = 1;

/// The list of what there is. All of it is of one moment of the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// RFC 3339, UTC.
    pub made_at: String,
    /// The program that made it.
    pub version: String,
    pub commit: String,
    /// The newest migration that was applied.
    pub schema_version: String,
    /// Major version of the database's server.
    pub server_version: u32,
    /// Major version of the `pg_dump` that was used.
    pub pg_dump_version: u32,
    /// The keys that secrets are sealed with.
    pub data_keys: Vec<KeyNote>,
    /// Rows by table.
    pub tables: BTreeMap<String, i64>,
}

/// One key that secrets are sealed with; never the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyNote {
    pub id: String,
    /// The value that it is known by, in hexadecimal; null when the database has none.
    pub check: Option<String>,
    /// Whether the key is in the back-up. Others come from the environment and have to be kept elsewhere.
    pub included: bool,
}

impl Manifest {
    pub fn rows(&self) -> i64 {
        self.tables.values().sum()
    }

    /// What tells this back-up from others.
    pub fn name(&self) -> String {
        format!("the back-up of {}, {} rows of schema {}", self.made_at, self.rows(), self.schema_version)
    }

    /// Whether a database holds exactly what was backed up.
    pub fn is_of(&self, contents: &Contents) -> bool {
        contents.schema_version.as_ref() == Some(&self.schema_version) && contents.rows == self.tables
    }

    /// The tables with another number of rows than were backed up: name, rows then, rows now.
    pub fn differences(&self, contents: &Contents) -> Vec<(String, i64, i64)> {
        let names: BTreeSet<&String> = self.tables.keys().chain(contents.rows.keys()).collect();
        let rows = |of: &BTreeMap<String, i64>, name: &String| of.get(name).copied().unwrap_or(0);
        let all = names.into_iter().map(|name| (name.clone(), rows(&self.tables, name), rows(&contents.rows, name)));
        all.filter(|(_, then, now)| then != now).collect()
    }

    /// The keys that are needed and not in `keys`, and those that are there under the same id but are others.
    pub fn compare_keys(&self, keys: Option<&KeyRing>) -> (Vec<String>, Vec<String>) {
        let known = keys.map(KeyRing::checks).unwrap_or_default();
        let (mut missing, mut others) = (Vec::new(), Vec::new());
        for note in &self.data_keys {
            match known.iter().find(|key| key.id == note.id) {
                None => missing.push(note.id.clone()),
                Some(key) if note.check.as_ref().is_some_and(|check| *check != hex::encode(&key.value)) => {
                    others.push(note.id.clone());
                }
                Some(_) => {}
            }
        }
        (missing, others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let ring = KeyRing::parse("a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap();
        let check = ring.checks().first().map(|key| hex::encode(&key.value));
        Manifest {
            format: FORMAT,
            made_at: "2026-05-01T00:00:00Z".to_owned(),
            version: "0.1.0".to_owned(),
            commit: "unknown".to_owned(),
            schema_version: "20261123000060".to_owned(),
            server_version: 15,
            pg_dump_version: 15,
            data_keys: vec![
                KeyNote { id: "a".to_owned(), check, included: false },
                KeyNote { id: "b".to_owned(), check: None, included: false },
            ],
            tables: [("accounts".to_owned(), 2), ("orders".to_owned(), 0)].into(),
        }
    }

    #[test]
    fn keys_that_are_missing_and_keys_that_are_others_are_told_apart() {
        let zeros = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        let ring = |text: &str| KeyRing::parse(text).unwrap();
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let manifest = manifest();
        assert_eq!(manifest.compare_keys(None), (names(&["a", "b"]), vec![]));
        assert_eq!(manifest.compare_keys(Some(&ring(&format!("a:{zeros},b:{zeros}")))), (vec![], vec![]));
        let changed = ring(&format!("a:{}", zeros.replacen('A', "B", 1)));
        assert_eq!(manifest.compare_keys(Some(&changed)), (names(&["b"]), names(&["a"])));
    }

    #[test]
    fn every_table_is_compared_whichever_side_has_it() {
        let rows: BTreeMap<_, _> = [("accounts".to_owned(), 1), ("stray".to_owned(), 4)].into();
        let contents = Contents { schema_version: None, rows, data_keys: BTreeMap::new() };
        let different = manifest().differences(&contents);
        assert_eq!(different, [("accounts".to_owned(), 2, 1), ("stray".to_owned(), 0, 4)]);
        assert!(!manifest().is_of(&contents));
    }
}
