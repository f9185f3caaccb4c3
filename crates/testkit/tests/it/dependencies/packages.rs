//! Others' packages: none that `deny.toml` bans, none under a licence it does not list, none from elsewhere.

use super::{Package, assert_none, licence::accepts, metadata, toml_file};
use semver::{Version, VersionReq};
use serde::Deserialize;
use std::process::Command;

const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[derive(Deserialize)]
struct Deny {
    bans: Bans,
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

/// A banned package, `name` or `name@<versions>`.
#[derive(Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    what: String,
    reason: String,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: Version,
    /// None for our own crates.
    source: Option<String>,
}

impl Ban {
    fn hits(&self, package: &Locked) -> bool {
        match self.what.split_once('@') {
            None => self.what == package.name,
            Some((name, versions)) => {
                name == package.name && VersionReq::parse(versions).unwrap().matches(&package.version)
            }
        }
    }
}

#[test]
fn no_banned_package_and_none_from_elsewhere_is_in_the_lock_file() {
    let bans = toml_file::<Deny>("deny.toml").bans.deny;
    let mut faults = Vec::new();
    for package in toml_file::<Lock>("Cargo.lock").package {
        let Locked { name, version, source } = &package;
        for ban in bans.iter().filter(|ban| ban.hits(&package)) {
            faults
                .push(format!("{name} {version} is banned: {} (`cargo tree -i {name}` shows who uses it)", ban.reason));
        }
        if let Some(source) = source.as_deref().filter(|source| *source != REGISTRY) {
            faults.push(format!("{name} {version} comes from {source}: use a version published on crates.io"));
        }
    }
    assert_none(&faults);
}

#[test]
fn every_package_is_under_a_licence_that_may_be_used() {
    let allow = toml_file::<Deny>("deny.toml").licenses.allow;
    // Packages for other systems are not downloaded, so their licences are unknown here.
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let about = Command::new(rustc).arg("-vV").output().unwrap();
    let about = String::from_utf8(about.stdout).unwrap();
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let packages: Vec<Package> = metadata(&["--filter-platform", host]);
    assert!(packages.len() > 100, "the whole graph is looked at, not the workspace alone");
    let mut faults = Vec::new();
    for package in packages {
        let licence = package.license.unwrap_or_default();
        if !accepts(&licence, &allow) {
            faults.push(format!(
                "{} is under \"{licence}\", which deny.toml does not allow: replace it (`cargo tree -i {0}` shows who \
                 uses it), or have the licence accepted there",
                package.name
            ));
        }
    }
    assert_none(&faults);
}

#[test]
fn a_ban_may_name_versions() {
    let locked = |version: &str| Locked { name: "x".to_owned(), version: version.parse().unwrap(), source: None };
    let ban = |what: &str| Ban { what: what.to_owned(), reason: String::new() };
    assert!(ban("x").hits(&locked("9.0.0")));
    assert!(ban("x@<3.20.0").hits(&locked("3.19.9")));
    assert!(!ban("x@<3.20.0").hits(&locked("3.20.0")));
    assert!(!ban("y").hits(&locked("1.0.0")));
}
