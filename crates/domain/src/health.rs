//! Is the database there, and does its schema fit this program?

use std::{collections::BTreeSet, fmt, str::FromStr, time::Duration};

use crate::error::StoreError;

/// A database that takes longer for a round trip is slow.
pub const SLOW_AFTER: Duration = Duration::from_millis(250);

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait::async_trait]
pub trait Health: Send + Sync {
    /// One round trip to the database, and how long it took.
    async fn ping(&self) -> Result<Duration, StoreError>;

    /// Whether the schema of the database fits this program.
    async fn schema(&self) -> Result<Schema, StoreError>;
}

/// A released version of the program: major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version([u32; 3]);

impl FromStr for Version {
    type Err = ();

    /// Reads `1.2.3`; what follows a hyphen says how the version was built.
    fn from_str(text: &str) -> Result<Self, ()> {
        let release = text.split_once('-').map_or(text, |(release, _)| release);
        let numbers: Vec<u32> = release.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| ())?;
        numbers.try_into().map(Self).map_err(|_| ())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// A migration of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// What the database remembers it by.
    pub version: String,
    pub name: String,
}

/// A migration that versions before `minimum` cannot work with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The migration's version.
    pub migration: String,
    pub minimum: Version,
}

/// How the schema of a database fits a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schema {
    /// All migrations of the program have run, and no others.
    Current,
    /// Migrations of a later version, named by theirs, have run as well. None of them rules this program out: a schema is
    /// first added to, then the program is deployed, and then what nobody needs any more is taken away.
    Newer { unknown: Vec<String> },
    /// Migrations of the program have not run.
    Outdated { missing: Vec<String> },
    /// A migration has run that this program cannot work with.
    TooNew { requirement: Requirement, own: Version },
}

impl Schema {
    /// Compares the migrations of a program of the version `own` with the versions of those that have run.
    pub fn compare(
        known: &[Migration],
        applied: &BTreeSet<String>,
        requirements: Vec<Requirement>,
        own: Version,
    ) -> Self {
        let highest = requirements.into_iter().max_by_key(|requirement| requirement.minimum);
        if let Some(requirement) = highest.filter(|requirement| requirement.minimum > own) {
            return Self::TooNew { requirement, own };
        }
        let missing = known.iter().filter(|migration| !applied.contains(&migration.version));
        let missing: Vec<String> = missing.map(|migration| migration.name.clone()).collect();
        if !missing.is_empty() {
            return Self::Outdated { missing };
        }
        let known: BTreeSet<&str> = known.iter().map(|migration| migration.version.as_str()).collect();
        let unknown: Vec<String> =
            applied.iter().filter(|version| !known.contains(version.as_str())).cloned().collect();
        if unknown.is_empty() { Self::Current } else { Self::Newer { unknown } }
    }

    /// Why the program cannot work with the database, and what to do, for operators; `None` where it can.
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Current | Self::Newer { .. } => None,
            Self::Outdated { missing } => Some(format!(
                "the database lacks migrations of this version ({}): run `api migrate`",
                first_few(missing)
            )),
            Self::TooNew { requirement: Requirement { migration, minimum }, own } => Some(format!(
                "migration {migration} of the database needs version {minimum} or later and this is {own}: deploy that \
                 version"
            )),
        }
    }
}

/// The first few, and how many more there are: an empty database lacks all, and `/ready` is asked every second.
fn first_few(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    fn compare(applied: &[&str], minimum: Option<&str>) -> Schema {
        let known = ["1", "2"].map(|version| Migration { version: version.into(), name: format!("{version}_name") });
        let applied = applied.iter().map(|version| (*version).to_owned()).collect();
        let requirement = |minimum| Requirement { migration: "3".into(), minimum: version(minimum) };
        Schema::compare(&known, &applied, minimum.map(requirement).into_iter().collect(), version("1.2.3"))
    }

    #[rstest]
    #[case("0.9.9", "0.10.0")]
    #[case("1.2.3", "1.2.4")]
    #[case("9.9.9", "10.0.0")]
    fn versions_are_compared_by_number(#[case] lower: &str, #[case] higher: &str) {
        assert!(version(lower) < version(higher));
        assert_eq!(version(lower).to_string(), lower);
    }

    #[test]
    fn a_build_of_a_version_is_that_version_and_anything_else_is_none() {
        assert_eq!(version("1.2.3-rc.1"), version("1.2.3"));
        for text in ["", "1", "1.2", "1.2.3.4", "a.b.c", "1.2.-3", "1.2.99999999999"] {
            assert_eq!(text.parse::<Version>(), Err(()), "{text}");
        }
    }

    #[test]
    fn what_has_run_is_what_the_program_knows() {
        assert_eq!(compare(&["1", "2"], None), Schema::Current);
        assert_eq!(Schema::Current.problem(), None);
    }

    #[test]
    fn a_missing_migration_is_named_with_what_to_do() {
        let outdated = compare(&["1"], None);
        assert_eq!(outdated, Schema::Outdated { missing: vec!["2_name".into()] });
        let problem = outdated.problem().unwrap();
        assert!(problem.contains("2_name") && problem.contains("`api migrate`"), "{problem}");
        let names = |count: usize| (1..=count).map(|number| format!("{number}_name")).collect::<Vec<_>>();
        for (count, said) in [(3, "(1_name, 2_name, 3_name)"), (91, "(1_name, 2_name, 3_name and 88 more)")] {
            let problem = Schema::Outdated { missing: names(count) }.problem().unwrap();
            assert!(problem.contains(said), "{problem}");
        }
        assert!(matches!(compare(&[], None), Schema::Outdated { missing } if missing.len() == 2));
    }

    #[test]
    fn a_later_migration_is_worked_with_unless_it_needs_a_later_version() {
        let newer = Schema::Newer { unknown: vec!["3".into()] };
        assert_eq!(newer.problem(), None);
        for minimum in [None, Some("1.2.3"), Some("0.9.0")] {
            assert_eq!(compare(&["1", "2", "3"], minimum), newer, "{minimum:?}");
        }
        let problem = compare(&["1", "2", "3"], Some("1.10.0")).problem().unwrap();
        assert!(problem.contains("1.10.0") && problem.contains("1.2.3"), "{problem}");
        assert!(matches!(compare(&["1"], Some("2.0.0")), Schema::TooNew { .. }));
    }
}
