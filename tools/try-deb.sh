#!/bin/sh
# Installs the packages in FOLDER in a minimal Debian of their own, tries them, and removes them without a trace:
# tools/try-deb.sh FOLDER. Exits with 77 and the reason where such a system cannot be made.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
folder=$(cd "$1" && pwd)
root=$folder/root
. /etc/os-release
rm -rf "$root"
"$source/tools/minimal-debian.sh" "$VERSION_CODENAME" "$root"
mkdir "$root/packages"
cp "$folder"/*.deb "$root/packages"
rm -f "$root"/packages/*dbgsym*
cp "$source/examples/track-block.c" "$root/track-block.c"
trap 'rm -rf "$root"' EXIT
# The mount ends with its namespace, also where this is killed.
unshare --mount mount -t proc proc "$root/proc" || {
    echo "try-deb.sh: skipped: nothing can be mounted here" >&2
    exit 77
}
unshare --mount sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' sh "$root" sh -eux -c '
    export DEBIAN_FRONTEND=noninteractive
    apt-get update
    apt-get install -y --no-install-recommends ./packages/*.deb gcc libc6-dev pkg-config
    gpu-tracker run -- sh -c "exit 7" || test $? -eq 7
    python3 -c "import gpu_tracker; tracker = gpu_tracker.Tracker(); tracker.start(); tracker.stop(); print(tracker)"
    python3 -m gpu_tracker --version
    cc $(pkg-config --cflags gputracker) track-block.c $(pkg-config --libs gputracker) -o track-block -lpthread
    ./track-block
    # Whoever links the archive need not optimize at link time.
    cc -fno-lto track-block.c -l:libgputracker.a -ljansson -lz -lm -lpthread -o track-block-static
    test -z "$(ldd track-block-static | grep libgputracker)"
    ./track-block-static
    dpkg -L gpu-tracker libgputracker1 libgputracker-dev python3-gputracker >files
    apt-get purge -y gpu-tracker libgputracker1 libgputracker-dev python3-gputracker
    while read -r file; do case $file in *gpu*) test ! -e "$file" || { echo "left: $file"; exit 1; } ;; esac; done <files
'
