#!/bin/sh
# Removes what the last `make install` from BUILD installed, and the folders that were made for it: uninstall.sh BUILD
set -eu
log=$1/meson-logs/install-log.txt
[ -f "$log" ] || { echo "Nothing was installed from $1/." >&2; exit 1; }
# Folders are last there, inner ones first.
grep -v '^#' "$log" | while IFS= read -r path; do
    if [ -d "$path" ] && [ ! -L "$path" ]; then
        rmdir "$path" 2>/dev/null || true
        continue
    fi
    rm -f "$path"
    case $path in # what Python makes of it
    *.py) rm -rf "${path%/*}/__pycache__" ;;
    esac
    case $path in # of a second installation, whose log does not have them
    */gputracker/* | */gpu-tracker/*) rmdir "${path%/*}" "${path%/gpu-tracker/*}/gpu-tracker" 2>/dev/null || true ;;
    esac
done
[ "$(id -u)" -ne 0 ] || [ -n "${DESTDIR:-}" ] || PATH=$PATH:/usr/sbin:/sbin ldconfig
rm "$log"
