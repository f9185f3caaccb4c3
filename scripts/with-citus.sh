#!/bin/sh
# Runs a command with a throw-away Citus cluster: a coordinator and two workers, as `with-postgres` does with one server.
#
#   scripts/with-citus.sh cargo test -p store -p server -p blackbox
#   LOG=coordinator.log scripts/with-citus.sh cargo test -p store    # keeps the log, which has each statement that went to
#                                                                    # several shards, after "multi-task query"
#   DURABLE=1 SHARDS=32 scripts/with-citus.sh sh                     # to measure; TEST_DATABASE_URL is the coordinator
#
# Needs PostgreSQL with Citus built for it; PG_BIN_DIR names the folder of its programs, else pg_config says where they
# are. Ports: CITUS_PORT (56700) and the two after it.
set -eu
[ $# -gt 0 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
bin=${PG_BIN_DIR:-$(pg_config --bindir)}
port=${CITUS_PORT:-56700}
base=/dev/shm
if [ -n "${DURABLE:-}" ] || ! [ -w $base ]; then base=${TMPDIR:-/tmp}; fi
folder=$(mktemp -d "$base/business-analytics-citus-XXXXXX")
chmod 755 "$folder"

# Postgres refuses to run as root.
as_owner() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
[ "$(id -u)" != 0 ] || chown postgres "$folder"

stop() {
    for node in coordinator worker1 worker2; do
        as_owner "$bin/pg_ctl" -D "$folder/$node" -m immediate stop >/dev/null 2>&1 || true
    done
    if [ -n "${LOG:-}" ]; then cp "$folder/coordinator.log" "$LOG"; fi
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

start() { # NODE PORT
    as_owner "$bin/initdb" -D "$folder/$1" -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null
    cat >>"$folder/$1/postgresql.conf" <<SETTINGS
port = $2
listen_addresses = 'localhost'
unix_socket_directories = '$folder'
shared_preload_libraries = 'citus'
citus.node_conninfo = 'sslmode=disable'
citus.enable_statistics_collection = off
citus.shard_count = ${SHARDS:-8}
citus.multi_task_query_log_level = log
max_connections = 800
max_worker_processes = 200
max_prepared_transactions = 800
max_locks_per_transaction = 256
shared_buffers = 256MB
$([ -n "${DURABLE:-}" ] || printf 'fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n')
SETTINGS
    as_owner "$bin/pg_ctl" -D "$folder/$1" -l "$folder/$1.log" -w start >/dev/null || { cat "$folder/$1.log" >&2; exit 1; }
}
start coordinator "$port"
start worker1 $((port + 1))
start worker2 $((port + 2))

url() { echo "postgres://postgres@localhost:$1/postgres"; }
TEST_DATABASE_URL=$(url "$port")
TEST_CITUS_WORKERS="$(url $((port + 1))) $(url $((port + 2)))"
export TEST_DATABASE_URL TEST_CITUS_WORKERS
"$@"
