#!/bin/sh
# Builds the Debian packages of the last commit into FOLDER and tries them: tools/build-deb.sh FOLDER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
packages="dpkg-dev debhelper dh-python lintian debootstrap"
missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
# shellcheck disable=SC2086
[ -z "$missing" ] || { apt-get update && apt-get install -y --no-install-recommends $missing; }

rm -rf "$folder"/*
mkdir "$folder/source"
git -C "$source" archive HEAD | tar -xf - -C "$folder/source"
(cd "$folder/source" && SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct) dpkg-buildpackage --build=binary --no-sign)
lintian --fail-on error,warning "$folder"/*.changes

"$source/tools/try-deb.sh" "$folder"
ls -l "$folder"/*.deb
