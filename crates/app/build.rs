//! Gives the computation of the jobs a fingerprint: results that another source, or other dependencies, made are stale.

use std::{
    collections::hash_map::DefaultHasher,
    fs,
    hash::{Hash, Hasher},
    io,
    path::Path,
};

/// What the results of jobs follow from, but for the data. Too much is harmless: what was computed today is computed once
/// more. Statements of the store are not among it: sums that other statements make have another version.
pub const SOURCES: [&str; 5] = ["src/jobs.rs", "src/jobs", "../analytics/src", "../domain/src", "../../Cargo.lock"];

fn main() -> io::Result<()> {
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
    }
    println!("cargo:rustc-env=COMPUTATION={}", fingerprint(&SOURCES)?);
    Ok(())
}

/// 16 hexadecimal digits that change with any file of the sources.
pub fn fingerprint(sources: &[&str]) -> io::Result<String> {
    let mut hasher = DefaultHasher::new();
    for source in sources {
        add(&mut hasher, Path::new(source))?;
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn add(hasher: &mut DefaultHasher, path: &Path) -> io::Result<()> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        return entries.iter().try_for_each(|entry| add(hasher, entry));
    }
    path.file_name().hash(hasher);
    fs::read(path)?.hash(hasher);
    Ok(())
}
