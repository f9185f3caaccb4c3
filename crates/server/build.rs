//! Tells the binary which commit it was built from.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-env-changed=BUILD_COMMIT");
    let given = std::env::var("BUILD_COMMIT").ok();
    let commit = given.or_else(from_git).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=BUILD_COMMIT={commit}");
}

fn from_git() -> Option<String> {
    let said = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let commit = String::from_utf8(said.stdout).ok()?;
    said.status.success().then(|| commit.trim().to_owned())
}
