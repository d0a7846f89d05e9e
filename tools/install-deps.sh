#!/bin/sh
# Installs the Debian or Ubuntu packages that building and testing need, only those that are missing.
#   --report        also Node.js and npm, which build the page of HTML reports
#   --report-tests  these and Chromium, in which the page is tested
set -eu
packages="gcc g++ libc6-dev binutils meson ninja-build pkg-config python3 python3-dev libcmocka-dev libjansson-dev libsqlite3-dev zlib1g-dev"
# Node.js may have come from elsewhere, with npm in it.
report_packages=
command -v node >/dev/null && command -v npm >/dev/null || report_packages="nodejs npm"
case "${1:-}" in
"") ;;
--report) packages="$packages $report_packages" ;;
--report-tests) packages="$packages $report_packages chromium" ;;
*)
    echo "Usage: tools/install-deps.sh [--report | --report-tests]" >&2
    exit 2
    ;;
esac
command -v dpkg-query >/dev/null || {
    echo "No dpkg here. Install the equivalents of: $packages" >&2
    exit 0
}
missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "Installing:$missing" >&2
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "Please install as root: apt-get install$missing" >&2
        exit 1
    }
    as_root=sudo
fi
log=$(mktemp)
if ! { $as_root apt-get update && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    exit 1
fi
rm -f "$log"
