#!/bin/sh
# Makes the source archive of the last commit in FOLDER, with the page of HTML reports in it, and tries it: make-dist.sh FOLDER
# Who builds from it needs neither Node.js, npm nor a network. Two archives of one commit have the same bytes.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
version=$(sed -n "s/^ *version: '\([^']*\)',/\1/p" "$source/meson.build" | head -1)
name=gpu-tracker-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: "${SOURCE_DATE_EPOCH:=$(git -C "$source" log -1 --format=%ct)}"
export LC_ALL=C

mkdir "$work/$name"
git -C "$source" archive HEAD | tar -xf - -C "$work/$name"
# What npm installed is kept in the source folder; the page is built from the commit's own files.
[ ! -d "$source/web/node_modules" ] || cp -r "$source/web/node_modules" "$work/$name/web/"
"$work/$name/tools/report-page.sh"
rm -rf "$work/$name/web/node_modules"
"$work/$name/tools/components.py" "$version" >"$work/$name/components.cdx.json"
tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --format=gnu --mtime="@$SOURCE_DATE_EPOCH" \
    -cf - -C "$work" "$name" | gzip -9n >"$folder/$name.tar.gz"

# As somebody builds it who has no network.
rm -rf "${work:?}/$name"
tar -xzf "$folder/$name.tar.gz" -C "$work"
offline=
unshare --net true 2>/dev/null && offline="unshare --net"
# shellcheck disable=SC2086
(
    cd "$work/$name"
    { $offline meson setup build -Dtests=false -Dreport=enabled && $offline ninja -C build; } >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    build/gpu-tracker run -q --st 0.05 --report "$work/report.html" -- sleep 0.2
    grep -qi "<!doctype html>" "$work/report.html"
)
echo "$folder/$name.tar.gz: $(wc -c <"$folder/$name.tar.gz") bytes; builds${offline:+ without a network}"
