//! What the crates may depend on: which of ours may use which, which packages, licences and sources of others, and none
//! that they do not use. Within the dashboard, what its layers may name.

mod arrows;
mod licence;
mod packages;
mod pages;
mod unused;

use serde::{Deserialize, de::DeserializeOwned};
use std::{path::PathBuf, process::Command};

/// What `cargo metadata` tells of a package.
#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    license: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or none for an ordinary one.
    kind: Option<String>,
}

/// The top of the repository.
fn top() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn metadata<P: DeserializeOwned>(arguments: &[&str]) -> Vec<P> {
    #[derive(Deserialize)]
    struct Metadata<P> {
        packages: Vec<P>,
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version=1", "--locked"]).args(arguments).current_dir(top());
    let said = command.output().unwrap();
    assert!(said.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&said.stderr));
    serde_json::from_slice::<Metadata<P>>(&said.stdout).unwrap().packages
}

fn toml_file<T: DeserializeOwned>(name: &str) -> T {
    toml::from_str(&std::fs::read_to_string(top().join(name)).unwrap()).unwrap()
}

/// Fails with one fault per line.
fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "\n  {}\n", faults.join("\n  "));
}
