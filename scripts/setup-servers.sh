#!/bin/sh
# Makes sure that the servers which some tests put around the service are on this machine: redis-server, haproxy and
# pgbouncer, and a Chromium with its driver and a font to look at the dashboard with. Where they are missing, Debian's packages are fetched and unpacked below ~/.cache: no root is needed, no
# system service is made or started. For root that is below /var/cache: pgbouncer runs as another account, which may not
# enter root's home. Where that cannot be done, the tests that need them say so and are skipped; hence
# this script always succeeds.
set -u
umask 022

project=business-analytics
shared=/var/cache
if [ "$(id -u)" -eq 0 ]; then cache=$shared; else cache="${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}"; fi
target="$cache/$project/servers"

say() { printf '%s\n' "$*" >&2; }

# The places that the tests look in, too.
found() { PATH="$PATH:/usr/sbin:/usr/local/sbin:$shared/$project/servers/bin:$target/bin" command -v "$1" >/dev/null; }

# Browser and driver have to be of one version: they come together.
found_browser() {
    found chromedriver || return 1
    [ -n "${CHROME:-}" ] || found chromium || found google-chrome || found chromium-browser || found chromium-headless-shell
}

# The programs that are missing, by the names of their packages.
missing() {
    found redis-server || echo redis-tools
    found haproxy || echo haproxy
    found pgbouncer || echo pgbouncer
    found_browser || echo chromium-headless-shell chromium-common chromium-driver fonts-dejavu-core
}

give_up() {
    say "note: $*: the tests that need $(missing | tr '\n' ' ')will be skipped"
    exit 0
}

# Fetched and checked by apt-get in directories of its own.
download() {
    mkdir -p "$target/bin" 2>/dev/null || give_up "cannot write to $target"
    work=$(mktemp -d "$target/work.XXXXXX") || give_up "cannot write to $target"
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/debs" "$target/root"
    say "Downloading $(missing | tr '\n' ' ')to $target (a few MB, a browser about 100; no root needed)..."
    private="-q -o Dir::State=$work/state -o Dir::Cache=$work/cache -o Dir::State::Lists=$work/state/lists -o Debug::NoLocking=1"
    # Word splitting is wanted here and below: one word per option and package.
    # shellcheck disable=SC2086
    apt-get $private update >"$work/log" 2>&1 || say "note: not every package source answered; going on with the others"
    for package in $(missing); do
        # Of what the server needs, only libraries that the machine does not have.
        # shellcheck disable=SC2086
        needed=$(apt-get $private -s install --no-install-recommends "$package" 2>>"$work/log" |
            sed -n 's/^Inst \(lib[^ ]*\|lua-[^ ]*\) .*/\1/p' | grep -v -e '-perl$' -e '-dev$')
        # shellcheck disable=SC2086
        (cd "$work/debs" && apt-get $private download "$package" $needed) >>"$work/log" 2>&1 ||
            say "note: $package could not be fetched: $(tail -n 1 "$work/log")"
    done
    for package in "$work"/debs/*.deb; do
        if [ -f "$package" ]; then dpkg-deb -x "$package" "$target/root"; fi
    done
    wrap redis-server usr/bin/redis-check-rdb
    wrap haproxy usr/sbin/haproxy
    wrap pgbouncer usr/sbin/pgbouncer
    fonts
    wrap chromedriver usr/bin/chromedriver
    wrap chromium-headless-shell usr/lib/chromium/chromium-headless-shell
}

# The browser finds the font that came with it, beside those of the machine.
fonts() {
    [ -d "$target/root/usr/share/fonts" ] || return 0
    cat >"$target/root/fonts.conf" <<-END
	<?xml version="1.0"?>
	<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
	<fontconfig>
	<dir>/usr/share/fonts</dir><dir>$target/root/usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir>
	</fontconfig>
	END
}

# A program that finds the libraries beside it, if it runs here: `wrap NAME FILE`. Debian's redis-server is one file
# with redis-check-rdb and knows by its name which of them to be.
wrap() {
    [ -f "$target/root/$2" ] || return 0
    libraries=
    # Some libraries keep others in a folder of their own (libpulse).
    for directory in "$target"/root/usr/lib/*-linux-gnu* "$target"/root/lib/*-linux-gnu* "$target"/root/usr/lib/*-linux-gnu*/pulseaudio; do
        if [ -d "$directory" ]; then libraries="$libraries${libraries:+:}$directory"; fi
    done
    file=$(dirname "$target/root/$2")/$1
    [ -e "$file" ] || ln -s "$(basename "$2")" "$file"
    # Only haproxy does not know the long option, and the browser takes the short one for a wish to start.
    if ! LD_LIBRARY_PATH="$libraries" "$file" --version >/dev/null 2>&1 &&
        { [ "$1" != haproxy ] || ! LD_LIBRARY_PATH="$libraries" "$file" -v >/dev/null 2>&1; }; then
        say "note: the downloaded $1 does not run here"
        return 0
    fi
    settings="LD_LIBRARY_PATH='$libraries'"
    if [ -f "$target/root/fonts.conf" ]; then settings="$settings FONTCONFIG_FILE='$target/root/fonts.conf'"; fi
    printf '#!/bin/sh\n%s exec %s "$@"\n' "$settings" "'$file'" >"$target/bin/$1"
    chmod +x "$target/bin/$1"
}

[ -n "$(missing)" ] || exit 0
command -v apt-get >/dev/null || give_up "there is no apt-get here"
[ "$target" != "/nonexistent/.cache/$project/servers" ] || give_up "HOME is not set"
download
[ -z "$(missing)" ] || give_up "not everything could be fetched"
say "The servers for the tests are ready."
