//! A private Postgres cluster under a directory.
