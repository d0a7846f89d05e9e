#!/bin/sh
# Builds the Debian packages of the last commit into FOLDER and tries them: tools/build-deb.sh FOLDER
# Exits with 77 and the reason where its tools or a minimal Debian cannot be had.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
packages="dpkg-dev debhelper dh-python lintian mmdebstrap libcmocka-dev"
missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
# shellcheck disable=SC2086
[ -z "$missing" ] || { apt-get update && apt-get install -y --no-install-recommends $missing; } >"$folder/log" 2>&1 || {
    echo "build-deb.sh: skipped:$missing cannot be installed here (is there a network, and are you root?)" >&2
    exit 77
}

rm -rf "$folder"/*
mkdir "$folder/source"
git -C "$source" archive HEAD | tar -xf - -C "$folder/source"
(cd "$folder/source" && SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct) dpkg-buildpackage --build=binary --no-sign)
lintian --fail-on error,warning "$folder"/*.changes

# What the command is linked with here, as CycloneDX.
version=$(dpkg-parsechangelog -l "$folder/source/debian/changelog" -S Version)
linked=$(dpkg-deb -f "$folder/gpu-tracker_$version"_*.deb Depends | tr ',' '\n' | sed 's/ *\([^ ]*\).*/\1/')
# shellcheck disable=SC2046,SC2086
"$source/tools/components.py" "$version" $(dpkg-query -W -f '${Package}=${Version}\n' $linked) >"$folder/components.cdx.json"

"$source/tools/try-deb.sh" "$folder"
ls -l "$folder"/*.deb
