//! Making a new cluster with `initdb`.

use crate::{
    Error,
    account::Account,
    binaries::Binaries,
    error::IoContext,
    place::{Place, private_directory},
};
use std::fs;

/// Makes the cluster of `place` if it has none: under another name first, renamed when whole, so that a first start
/// killed halfway leaves nothing that looks like a cluster.
pub(crate) fn create_once(place: &Place, account: &Account, binaries: &Binaries, durable: bool) -> Result<(), Error> {
    if place.cluster_version().is_some() {
        return Ok(());
    }
    let data = place.data();
    let unfinished = place.directory().join("data.new");
    match fs::remove_dir_all(&unfinished) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e).cannot("remove", unfinished),
        _ => {}
    }
    private_directory(&unfinished, account)?;

    let mut initdb = account.command(&binaries.initdb());
    // The C locale sorts by bytes, the same on every machine.
    initdb
        .args(["--username=postgres", "--auth=peer", "--encoding=UTF8", "--locale=C"])
        .arg(if durable { "--data-checksums" } else { "--no-sync" })
        .arg("-D")
        .arg(&unfinished);
    let said = initdb.output().cannot("run", binaries.initdb())?;
    if !said.status.success() {
        let output = [said.stdout, said.stderr].concat();
        return Err(Error::Initdb { status: said.status, output: String::from_utf8_lossy(&output).trim().to_owned() });
    }
    fs::rename(&unfinished, &data).cannot("rename a new cluster to", data)?;
    if durable {
        // Else a loss of power could take the name back, and with it what has been committed since.
        let directory = place.directory();
        fs::File::open(directory).and_then(|opened| opened.sync_all()).cannot("write", directory)?;
    }
    Ok(())
}
