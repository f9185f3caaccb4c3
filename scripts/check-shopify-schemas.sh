#!/bin/sh
# Holds the queries of the connector to Shopify, and the part of the schema in the project, to published schemas of the
# Admin API: scripts/check-shopify-schemas.sh PATH… (SDL, plain or gzip). The project keeps no copy of them.
set -eu
[ $# -gt 0 ] || { echo "usage: $0 SCHEMA.graphql[.gz]…" >&2; exit 2; }
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
for path in "$@"; do
    plain="$directory/$(basename "$path" .gz)"
    case $path in
        *.gz) gzip -dc "$path" > "$plain" ;;
        *) cp "$path" "$plain" ;;
    esac
done
cd "$(dirname "$0")/.."
"${CARGO:-cargo}" run -q -p devtools --example check-shopify-schemas -- "$directory"/*
