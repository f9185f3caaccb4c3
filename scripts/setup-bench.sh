#!/bin/sh
# Makes sure that the programs that `make bench` measures with are on this machine: wrk, pgbench, haproxy, node and
# npm. Nothing else needs them. On Debian and its relatives they are installed as root; elsewhere it says what is missing.
set -eu

missing=
for program in wrk pgbench haproxy node npm; do
    command -v $program >/dev/null || missing="$missing $program"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
    printf 'error: make bench needs%s: install them (Debian, as root: apt-get install wrk postgresql haproxy nodejs npm)\n' "$missing" >&2
    exit 1
fi
packages=
for program in $missing; do
    case $program in
    pgbench) packages="$packages postgresql" ;;
    node) packages="$packages nodejs" ;;
    *) packages="$packages $program" ;;
    esac
done
export DEBIAN_FRONTEND=noninteractive
apt-get -q -y -o DPkg::Lock::Timeout=300 update || true
# Word splitting is wanted: one word per package.
# shellcheck disable=SC2086
apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $packages
