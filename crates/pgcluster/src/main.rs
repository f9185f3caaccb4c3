//! `private-postgres DIRECTORY`: runs the cluster of that directory until its standard input ends or it is stopped,
//! and prints its address when it is up. For looking into a cluster by hand, and for the tests of this crate.

use std::{
    io::{Read, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        eprintln!("usage: private-postgres DIRECTORY   (ends with its standard input: press Ctrl-D)");
        return ExitCode::from(2);
    };
    match run(directory.into()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(directory: std::path::PathBuf) -> Result<(), Box<dyn std::error::Error>> {
    let cluster = pgcluster::Cluster::start(&pgcluster::Options {
        root: directory,
        durable: true,
        max_connections: 100,
        bin_dir: std::env::var_os("PG_BIN_DIR").map(Into::into),
    })?;
    println!("{}", cluster.url());
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    cluster.stop()?;
    Ok(())
}
