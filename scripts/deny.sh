#!/bin/sh
# Runs cargo-deny over deny.toml, where it is installed. Advisories are checked where their database can be fetched. Says what was
# left out.
set -eu

if ! command -v cargo-deny >/dev/null; then
    echo 'note: cargo-deny is not installed (cargo install --locked cargo-deny): advisories are not checked' >&2
    exit 0
fi
cargo deny check bans licenses sources
if cargo deny fetch db >/dev/null 2>&1; then
    cargo deny check advisories
else
    echo 'note: the advisory database cannot be fetched from here: advisories are not checked' >&2
fi
