#!/bin/sh
# Builds the container images from the archives of `make portable`, and starts them: tools/try-container.sh FOLDER
# The page that the image serves must have the machine's figures, and with the rights of the DaemonSet alone.
# Exits with 77 and the reason where containers cannot be started. `nvidia` is built on a minimal Debian that
# tools/try-bare.sh has left in ~/.cache/gpu-tracker, and left out without, or without the archive for glibc.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
archives=$(cd "$1" && pwd)
recipe=$source/packaging/container/Containerfile
bare=${XDG_CACHE_HOME:-$HOME/.cache}/gpu-tracker/bookworm.tar
name=gpu-tracker-try-$$
port=

skip() {
    echo "try-container.sh: skipped: $1" >&2
    exit 77
}

command -v podman >/dev/null || skip "podman is not installed"
folder=$(mktemp -d)
clean_up() {
    podman rm --force --ignore "$name" >/dev/null 2>&1 || true
    podman rmi --force "$name:static" "$name:nvidia" "$name:base" >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap clean_up EXIT

# As the recipe's user and rights of packaging/kubernetes/daemonset.yaml; its own limits, where more may not be set.
# shellcheck disable=SC2086
start() { # IMAGE [WORD…]
    podman $runtime run --name "$name" --network host --pid host --read-only --cap-drop ALL --cap-add PERFMON \
        --security-opt no-new-privileges --ulimit "nofile=$(ulimit -Sn):$(ulimit -Hn)" --ulimit nproc=4096:4096 "$@"
}

find_runtime() {
    for runtime in "" "--runtime runc --cgroup-manager cgroupfs" "--cgroup-manager cgroupfs"; do
        start --rm "$name:static" --version >"$folder/version" 2>"$folder/log" && return
        podman rm --force --ignore "$name" >/dev/null 2>&1 || true
    done
    skip "podman cannot start a container here: $(tail -1 "$folder/log")"
}

try() { # IMAGE
    start --detach "$1" serve --listen 127.0.0.1:0 >/dev/null
    for _ in $(seq 300); do
        port=$(podman logs "$name" 2>&1 | sed -n 's/.*127\.0\.0\.1:\([0-9]*\).*/\1/p' | head -1)
        [ -z "$port" ] || break
        sleep 0.1
    done
    python3 - "$port" <<'X'
import sys, urllib.request
page = urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/metrics", timeout=60).read().decode()
figures = dict(line.split(" ") for line in page.splitlines() if line.startswith("gputracker_") and "{" not in line)
assert float(figures["gputracker_system_cores"]) >= 1, page
assert float(figures["gputracker_system_memory_used_bytes"]) > 1e6, page
X
    podman rm --force --time 5 "$name" >/dev/null
    echo "$1: $(podman image inspect --format '{{.Size}}' "$1") bytes; starts and serves"
}

podman build --quiet -f "$recipe" --target static -t "$name:static" "$archives" >/dev/null
find_runtime
try "$name:static"
[ -f "$bare" ] || { echo "nvidia: not tried without $bare (tools/try-bare.sh)"; exit 0; }
ls "$archives"/gpu-tracker-*-linux-"$(uname -m)".tar.gz >/dev/null 2>&1 ||
    { echo "nvidia: not tried without the archive for glibc (make portable)"; exit 0; }
podman import --quiet "$bare" "$name:base" >/dev/null
podman build --quiet -f "$recipe" --build-arg "BASE=localhost/$name:base" --target nvidia -t "$name:nvidia" "$archives" >/dev/null
try "$name:nvidia"
