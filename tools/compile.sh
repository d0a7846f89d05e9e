#!/bin/sh
# Runs ninja in a build folder and shows how far it is; what it prints is shown only if it fails, or lacks a part:
# compile.sh BUILD [TARGET...]
# (ninja's own --quiet is not in that of Ubuntu 22.04.)
set -eu
build=$1
shift
steps=$(ninja -C "$build" -n "$@" | grep -c '^\[') || exit 0 # nothing to do
[ "$steps" -lt 20 ] || echo "Building in $build/: $steps steps" >&2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

show_progress() {
    next=25
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$folder/log"
        case $line in
        [0-9]*%*) ;;
        *) continue ;;
        esac
        percent=${line%%%*}
        if [ -t 2 ]; then
            printf '\r\033[K  %s %%' "$percent"
        elif [ "$steps" -ge 20 ] && [ "$percent" -ge "$next" ]; then
            echo "  $percent %"
            next=$((next + 25))
        fi
    done
    [ ! -t 2 ] || printf '\r\033[K'
}

{ NINJA_STATUS='%p ' ninja -C "$build" "$@" 2>&1 || touch "$folder/failed"; } | sed -u 's/^ *//' | show_progress >&2
if [ -e "$folder/failed" ]; then
    cat "$folder/log" >&2
    exit 1
fi
grep '^HTML reports are not built in: ' "$folder/log" >&2 || true
