#!/bin/sh
# Unpacks a minimal Debian into FOLDER: minimal-debian.sh RELEASE FOLDER
# Its packages are kept in ~/.cache/gpu-tracker for a week. Exits with 77 and the reason where it cannot be made.
set -eu
release=$1 root=$2
kept=${XDG_CACHE_HOME:-$HOME/.cache}/gpu-tracker/$release.tar

skip() {
    echo "minimal-debian.sh: skipped: $1" >&2
    exit 77
}

[ "$(id -u)" -eq 0 ] || skip "only root can make a minimal Debian"
maker=$(command -v mmdebstrap || command -v debootstrap) || skip "neither mmdebstrap nor debootstrap is installed"
mkdir -p "$root" "$(dirname "$kept")"
# Packages of an old one may be gone from the mirrors.
[ -n "$(find "$kept" -mtime -7 2>/dev/null)" ] || {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    "$maker" --variant=minbase "$release" "$work/new" >"$work/log" 2>&1 || {
        skip "a minimal Debian $release could not be made (is there a network?): $(grep '^E: ' "$work/log" | head -1)"
    }
    tar -C "$work/new" -cf "$work/new.tar" .
    mv "$work/new.tar" "$kept"
}
tar -C "$root" -xpf "$kept"
cp /etc/resolv.conf "$root/etc/resolv.conf"
