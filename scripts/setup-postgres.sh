#!/bin/sh
# Makes sure that the programs of a PostgreSQL server, version 14 or newer, are on this machine. Nothing is started
# and no system cluster is made: the service and the tests run private clusters of their own.
#
#   scripts/setup-postgres.sh              does nothing when a server is found; else, on Debian and its relatives,
#                                          installs the package as root, or downloads it below ~/.cache as another user
#   scripts/setup-postgres.sh --download   downloads below ~/.cache even when a server is installed
set -eu

project=business-analytics
oldest=14
target="${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/$project/postgres"

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# Whether a directory holds a server that is new enough.
usable() {
    [ -x "$1/postgres" ] && [ -x "$1/initdb" ] || return 1
    major=$("$1/postgres" --version 2>/dev/null | sed -n 's/^postgres (PostgreSQL) \([0-9][0-9]*\).*/\1/p')
    [ "${major:-0}" -ge "$oldest" ]
}

# The places that the service looks in, too.
find_server() {
    if [ -n "${PG_BIN_DIR:-}" ]; then
        usable "$PG_BIN_DIR" || die "PG_BIN_DIR=$PG_BIN_DIR holds no PostgreSQL server of version $oldest or newer: correct it, or unset it"
        return 0
    fi
    for directory in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin \
        /usr/local/opt/postgresql@*/bin /Applications/Postgres.app/Contents/Versions/*/bin "$target/bin"; do
        if usable "$directory"; then return 0; fi
    done
    in_path=$(command -v postgres || true)
    [ -n "$in_path" ] && usable "$(dirname "$(readlink -f "$in_path")")"
}

# As root: the distribution's package, without the cluster that it would make and start.
install_package() {
    say "Installing PostgreSQL with apt-get (a few minutes at most)..."
    export DEBIAN_FRONTEND=noninteractive
    apt="apt-get -q -y -o DPkg::Lock::Timeout=300"
    $apt update || say "note: not every package source answered; going on with the others"
    $apt install --no-install-recommends postgresql-common
    settings=/etc/postgresql-common/createcluster.conf
    cp -p "$settings" "$settings.before"
    # The file is the machine's, so it gets its old text back whatever happens.
    trap 'mv -f "$settings.before" "$settings"' EXIT
    printf '\ncreate_main_cluster = false\n' >>"$settings"
    $apt install --no-install-recommends postgresql
}

# As an ordinary user: the same packages, fetched and checked by apt-get in directories of its own, and unpacked.
download_package() {
    [ "$target" != /nonexistent/.cache/$project/postgres ] || die "HOME is not set: set it to a directory you can write to"
    # Debian's server reads time zones from there and nowhere else.
    [ -e /usr/share/zoneinfo/UTC ] || die "this machine has no time zones, and only root can install them: ask for the package tzdata, or for postgresql"
    mkdir -p "$(dirname "$target")" || die "cannot write to $(dirname "$target"): set XDG_CACHE_HOME to a directory you can write to"
    work=$(mktemp -d "$target.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/new/root" "$work/new/bin"
    say "Downloading PostgreSQL to $target (about 60 MB; no root needed)..."
    private="-q -o Dir::State=$work/state -o Dir::Cache=$work/cache -o Dir::State::Lists=$work/state/lists -o Debug::NoLocking=1"
    apt-get $private update >"$work/update.log" 2>&1 || say "note: not every package source answered; going on with the others"
    server=$(apt-cache $private depends postgresql 2>/dev/null | sed -n 's/^ *Depends: \(postgresql-[0-9]*\)$/\1/p' | head -n 1)
    [ -n "$server" ] || { cat "$work/update.log" >&2; die "apt-get knows no package postgresql: check the network, and the package sources in /etc/apt"; }
    # Of what the server needs, only libraries that the machine does not have.
    libraries=$(apt-get $private -s install --no-install-recommends "$server" | sed -n 's/^Inst \(lib[^ ]*\) .*/\1/p' | grep -v -e '-perl$' -e '-dev$' || true)
    client=postgresql-client-${server#postgresql-}
    # Word splitting is wanted: one word per package.
    # shellcheck disable=SC2086
    (cd "$work/debs" && apt-get $private download $(printf '%s\n' "$server" "$client" libpq5 $libraries | sort -u))
    for package in "$work"/debs/*.deb; do dpkg-deb -x "$package" "$work/new/root"; done
    write_wrappers "$work/new" "${server#postgresql-}"
    rm -rf "$target"
    mv "$work/new" "$target"
    check_download "$work"
}

# Programs that find the libraries beside them, in <target>/bin.
write_wrappers() {
    libraries=
    for directory in "$1"/root/usr/lib/*-linux-gnu* "$1"/root/lib/*-linux-gnu*; do
        if [ -d "$directory" ]; then libraries="$libraries${libraries:+:}$target${directory#"$1"}"; fi
    done
    for program in "$1/root/usr/lib/postgresql/$2/bin"/*; do
        name=$(basename "$program")
        cat >"$1/bin/$name" <<EOF
#!/bin/sh
LD_LIBRARY_PATH='$libraries' exec '$target/root/usr/lib/postgresql/$2/bin/$name' "\$@"
EOF
        chmod +x "$1/bin/$name"
    done
}

# A library too few shows only when the programs run.
check_download() {
    if ! "$target/bin/initdb" --no-sync -A reject -D "$1/trial" >"$1/trial.log" 2>&1; then
        cat "$1/trial.log" >&2
        rm -rf "$target"
        die "the downloaded PostgreSQL does not run here: ask for the package postgresql to be installed"
    fi
}

advise() {
    case $(uname -s) in
    Darwin) die "no PostgreSQL server was found: run 'brew install postgresql@17', then try again" ;;
    *) die "no PostgreSQL server of version $oldest or newer was found, and there is no apt-get: install it with your \
system's package manager (Fedora: dnf install postgresql-server; Alpine: apk add postgresql; Arch: pacman -S postgresql), \
or point PG_BIN_DIR at the directory of 'postgres' and 'initdb'" ;;
    esac
}

case ${1:-} in
--download) download_package ;;
'')
    if find_server; then exit 0; fi
    if ! command -v apt-get >/dev/null; then
        advise
    elif [ "$(id -u)" -eq 0 ]; then
        install_package
    else
        download_package
    fi
    find_server || die "PostgreSQL was installed but is not where it is looked for: point PG_BIN_DIR at its programs"
    ;;
*) die "usage: scripts/setup-postgres.sh [--download]" ;;
esac
say "PostgreSQL is ready."
