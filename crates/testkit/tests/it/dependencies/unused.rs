//! Dependencies that a crate names and does not use, and versions in the workspace that no crate uses.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{assert_none, metadata, toml_file};

/// Dependencies that are named for a feature of theirs alone: the crate, the dependency, and what for.
const FOR_A_FEATURE: &[(&str, &str, &str)] = &[];

#[derive(Deserialize)]
struct Manifest {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Named>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    src_path: PathBuf,
}

#[derive(Deserialize)]
struct Named {
    name: String,
    /// What the crate calls it, where that is another name.
    rename: Option<String>,
}

impl Named {
    fn identifier(&self) -> String {
        self.rename.as_ref().unwrap_or(&self.name).replace('-', "_")
    }
}

#[derive(Deserialize)]
struct Workspace {
    workspace: Inherited,
}

#[derive(Deserialize)]
struct Inherited {
    dependencies: BTreeMap<String, toml::Value>,
}

/// The code of a crate, without comments.
fn code_in(folder: &Path, code: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Another crate may stand below, and what was built.
        if path.is_dir() && !path.join("Cargo.toml").exists() && !path.ends_with("target") {
            code_in(&path, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            code.extend(lines.flat_map(|line| [line, "\n"]));
        }
    }
}

/// Whether a path begins with the crate's name, or an import is of the crate itself.
fn uses(code: &str, identifier: &str) -> bool {
    let is_word = |text: char| text.is_ascii_alphanumeric() || text == '_';
    code.match_indices(identifier).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + identifier.len()..]);
        !before.ends_with(is_word)
            && (after.starts_with("::") || (before.ends_with("use ") && !after.starts_with(is_word)))
    })
}

#[test]
fn every_dependency_is_used() {
    let mut faults = Vec::new();
    for Manifest { name, manifest_path, dependencies, targets } in metadata(&["--no-deps"]) {
        let mut code = String::new();
        let folder = manifest_path.parent().unwrap();
        code_in(folder, &mut code);
        // An executable may be built from the source of another crate.
        for Target { src_path } in targets {
            if !src_path.canonicalize().unwrap().starts_with(folder.canonicalize().unwrap()) {
                code.push_str(&fs::read_to_string(src_path).unwrap());
            }
        }
        for dependency in dependencies {
            let excused = FOR_A_FEATURE.iter().any(|(krate, named, _)| *krate == name && *named == dependency.name);
            if !excused && !uses(&code, &dependency.identifier()) {
                faults.push(format!("`{name}` does not use `{}`: take it out of its Cargo.toml", dependency.name));
            }
        }
    }
    assert_none(&faults);
}

#[test]
fn every_version_of_the_workspace_is_inherited() {
    let named: Vec<String> =
        metadata::<Manifest>(&["--no-deps"]).into_iter().flat_map(|p| p.dependencies).map(|d| d.name).collect();
    let faults: Vec<String> = toml_file::<Workspace>("Cargo.toml")
        .workspace
        .dependencies
        .into_keys()
        .filter(|name| !named.contains(name))
        .map(|name| format!("no crate depends on `{name}`: take it out of the workspace's Cargo.toml"))
        .collect();
    assert_none(&faults);
}

#[test]
fn a_crate_is_used_by_a_path_or_an_import() {
    assert!(uses("use time::Date;", "time") && uses("x(tokio_util::y)", "tokio_util") && uses("use hex;", "hex"));
    assert!(!uses("let time = runtime::x(time_of::day, &time);", "time"));
}
