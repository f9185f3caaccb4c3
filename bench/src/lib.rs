//! What the benchmarks of the running service share: a private Postgres with a data set, the `api` binary as a child,
//! load generators, measurements in pairs, and the report.
//!
//! A row is measured with its limits in the same run, in turns (A B A B …), and stands as the medians of the rounds.
//! While a sample is taken, the machine is watched: a sample during which something else used the processors is marked.

pub mod cluster;
pub mod dataset;
pub mod fastify;
pub mod from_memory;
pub mod haproxy;
pub mod load;
pub mod machine;
pub mod paced;
pub mod pgbench;
pub mod process;
pub mod report;
pub mod rounds;
pub mod service;
pub mod shops;
pub mod statements;
