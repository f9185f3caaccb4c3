//! Servers that only tests use, found on the machine or where `scripts/setup-servers.sh` unpacks them.

use std::{env, path::PathBuf};

/// Where the script unpacks them: as root, where other accounts may enter as well.
fn unpacked() -> impl Iterator<Item = PathBuf> {
    let own = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    [Some(PathBuf::from("/var/cache")), own]
        .into_iter()
        .flatten()
        .map(|cache| cache.join("business-analytics/servers/bin"))
}

/// The program; none where set-up could not provide it. The reason is printed, for a test that has to be skipped.
pub fn program(name: &str) -> Option<PathBuf> {
    let found = found(name);
    if found.is_none() {
        eprintln!("SKIPPED: {name} is not on this machine; `scripts/setup-servers.sh` says why");
    }
    found
}

/// The program, if it is on this machine.
pub fn found(name: &str) -> Option<PathBuf> {
    let search = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&search).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]).chain(unpacked());
    let mut paths = folders.map(|folder| folder.join(name));
    paths.find(|path| path.is_file())
}
