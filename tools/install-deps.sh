#!/bin/sh
# Installs the Debian or Ubuntu packages that building and testing need, only those that are missing.
# libisal-dev, which unpacks faster than zlib, is not in every distribution: it comes with others, where it is there.
#   --report        also Node.js and npm, which build the page of HTML reports
#   --report-tests  these and Chromium, in which the page is tested
set -eu
packages="gcc g++ libc6-dev binutils meson ninja-build pkg-config python3 python3-dev libcmocka-dev libjansson-dev libsqlite3-dev zlib1g-dev"
optional=libisal-dev
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
if ! command -v dpkg-query >/dev/null; then
    command -v meson >/dev/null && exit
    echo "There is no dpkg here, so nothing is installed. gpu-tracker is built with the equivalents of: $packages" >&2
    command -v dnf >/dev/null && echo "With dnf: sudo dnf install gcc gcc-c++ make meson ninja-build pkgconf-pkg-config python3-devel jansson-devel sqlite-devel zlib-devel libcmocka-devel" >&2
    command -v pacman >/dev/null && echo "With pacman: sudo pacman -S --needed base-devel meson ninja python jansson sqlite zlib cmocka" >&2
    echo "More: docs/install.md, Other distributions" >&2
    exit 1
fi
missing=
for package in $packages; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "Packages are missing, and only root may install them. Please ask for this line to be run as root:" >&2
        echo "apt-get update && apt-get install -y --no-install-recommends$missing" >&2
        exit 1
    }
    as_root=sudo
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/log

# Shows how far apt is: on a terminal in one line that changes, elsewhere in a line for every 25 packages.
show_progress() {
    unpacked=0 configured=0 packages=
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log"
        case $line in
        *" newly installed, "*) packages=$(echo "$line" | sed 's/.* \([0-9]*\) newly installed.*/\1/') ;;
        "Need to get "*) printf '  downloading %s, %s packages in all\n' "$(echo "$line" | sed 's/Need to get \(.*\) of archives.*/\1/')" "$packages" ;;
        "Unpacking "*) unpacked=$((unpacked + 1)) && show_count unpacked "$unpacked" ;;
        "Setting up "*) configured=$((configured + 1)) && show_count "set up" "$configured" ;;
        esac
    done
    [ ! -t 2 ] || printf '\r\033[K'
}

show_count() { # WHAT NUMBER
    if [ -t 2 ]; then
        printf '\r\033[K  %s: %s of %s packages' "$1" "$2" "$packages"
    elif [ $(($2 % 25)) -eq 0 ] || [ "$2" = "$packages" ]; then
        printf '  %s: %s of %s packages\n' "$1" "$2" "$packages"
    fi
}

install_all() {
    $as_root apt-get update || return
    for package in $optional; do
        ! apt-cache show "$package" >/dev/null 2>&1 || missing="$missing $package"
    done
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
}

echo "Installing Debian packages, which takes some minutes on a bare machine:$missing" >&2
{ install_all 2>&1 || touch "$folder/failed"; } | show_progress >&2
if [ -e "$folder/failed" ]; then
    cat "$log" >&2
    echo "These packages could not be installed:$missing" >&2
    exit 1
fi
