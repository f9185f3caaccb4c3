#!/bin/sh
# Holds a running service to its OpenAPI document with Schemathesis (https://schemathesis.readthedocs.io): once with a key
# that reads and writes, once without one. Starts a service with the demo shop and ends it; takes some minutes.
#
#   scripts/schemathesis.sh                                     # builds target/debug/api
#   API=/usr/bin/api EXAMPLES=200 scripts/schemathesis.sh       # a program with the feature `dev`, and more cases
#
# Needs Python 3.11 or newer with venv, and PyPI the first time. The reports stay in target/schemathesis.
set -eu
cd "$(dirname "$0")/.."
version=4.32.5
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/schemathesis"
folder=$(cd "$target/schemathesis" && pwd)
venv=${VENV:-$folder/venv}

if [ -z "${API:-}" ]; then
    ${CARGO:-cargo} build -p server --features dev --bin api
    API=$target/debug/api
fi
if ! "$venv/bin/schemathesis" --version 2>/dev/null | grep -q "$version"; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet "schemathesis==$version"
fi

rm -rf "$folder/run"
mkdir "$folder/run"
: >"$folder/run/service.log"
BAS_RATE_LIMIT_PER_MINUTE=10000000 BAS_LOG=warn BAS_DASHBOARD_LISTEN=127.0.0.1:0 "$API" up --data-dir "$folder/run/data" \
    --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 >"$folder/run/service.log" 2>&1 &
service=$!
trap 'kill $service 2>/dev/null; wait $service || true' EXIT
trap 'exit 130' INT TERM HUP

said() { sed -n "s/$1/\\1/p" "$folder/run/service.log"; }
until said '.*demo shop: \(svc_.*\)' | grep -q .; do
    kill -0 $service 2>/dev/null || { cat "$folder/run/service.log" >&2; exit 1; }
    sleep 1
done
address=$(said '.*API *http:\/\/\(.*\)\/api\/v1')
key=$(said '.*demo shop: \(svc_.*\)')

run() { # NAME ARGUMENT…
    report=$folder/$1.txt
    shift
    (cd "$folder/run" && SCHEMATHESIS_HOOKS="$hooks" "$venv/bin/schemathesis" --config-file "$config" run "http://$address/api/v1/openapi.json" \
        --phases examples,coverage,fuzzing,stateful --max-examples "${EXAMPLES:-50}" --continue-on-failure "$@") \
        >"$report" 2>&1 || { status=$?; cat "$report"; }
    tail -n 1 "$report"
}

hooks=$PWD/scripts/schemathesis-hooks.py
config=$PWD/scripts/schemathesis.toml
status=0
run with-key --header "Authorization: Bearer $key"
run without-key
exit $status
