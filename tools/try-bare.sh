#!/bin/sh
# Runs the commands at the beginning of the README in a minimal Debian with a pid, a mount and a user namespace of its own:
# tools/try-bare.sh [RELEASE [TESTS [LOG]]]
#
# An ordinary user learns what to ask for; root installs it and builds; both install gpu-tracker, use it and remove it; the user tests. TESTS is as of `make test TESTS=…`; all without.
# LOG is where meson's testlog.json goes. What ccache has here is read there, so that one compiler compiles nothing twice.
# WHEN, in the environment, is a file: nothing is compiled before it is there.
# Exits with 77 and the reason where such a system cannot be made.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
release=${1:-bookworm}
tests=${2:-} log=${3:-}
cache=
! command -v ccache >/dev/null || cache=$(ccache --get-config cache_dir)

skip() {
    echo "try-bare.sh: skipped: $1" >&2
    exit 77
}

[ "$(id -u)" -eq 0 ] || skip "only root can make a minimal Debian"
unshare --user --pid --mount --fork true 2>/dev/null || skip "this machine allows no namespaces"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/root
"$source/tools/minimal-debian.sh" "$release" "$root"
mkdir -p "$root/home/user/gpu-tracker"
git -C "$source" archive "$(git -C "$source" stash create | grep . || echo HEAD)" | tar -x -C "$root/home/user/gpu-tracker"

cat >"$folder/inside.sh" <<'X'
set -eu
root=$1 tests=$2 cache=$3 when=$4
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount -t tmpfs -o mode=755 dev dev
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 shm dev/shm
for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr
echo user:x:1000:1000::/home/user:/bin/sh >>etc/passwd
echo user:x:1000: >>etc/group

as_root() {
    echo "== root: $*"
    # shellcheck disable=SC2086
    env -i $read_cache PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot . sh -c "cd /home/user/gpu-tracker && $*"
}

as_user() {
    echo "== user: $*"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/user chroot . \
        setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs sh -c "cd ~/gpu-tracker && $*"
}

read_cache=
as_root "apt-get update && apt-get install -y make" >setup 2>&1 || { cat setup; exit 1; }
as_user "make run" >asked 2>&1 && { echo "An ordinary user installed packages."; exit 1; }
grep -v '^make: ' asked
line=$(grep '^apt-get update && apt-get install ' asked) || { echo "The line to ask for is missing."; exit 1; }
if [ -d "$cache" ]; then
    mkdir ccache
    mount --bind "$cache" ccache && mount -o remount,bind,ro ccache
    as_root "apt-get install -y --no-install-recommends ccache" >setup 2>&1 || { cat setup; exit 1; }
    # The flags and the language of messages are part of what ccache looks up.
    read_cache="CCACHE_DIR=/ccache CCACHE_READONLY=1 CCACHE_TEMPDIR=/tmp CCACHE_NOHASHDIR=1 WERROR=true ${LANG:+LANG=$LANG}"
fi
as_root "make deps"
while [ -n "$when" ] && [ ! -e "$when" ]; do sleep 1; done
as_root "make run"
as_root "$line" >again 2>&1 || { cat again; exit 1; }
grep -q '^0 upgraded, 0 newly installed' again || { cat again; echo "The line is not what root installs."; exit 1; }
chown -R 1000:1000 home/user
as_user "make run"
cat >home/user/use <<'Y'
set -eu
gpu-tracker run -- sh -c "exit 7" || test $? -eq 7
gpu-tracker run --tf run.csv --regions=python:json.dumps -- python3 -c "import json; json.dumps(1)" 2>&1 | grep "python:json/dumps"
cc /home/user/gpu-tracker/examples/track-block.c $(pkg-config --cflags --libs gputracker) -o track-block
./track-block
rm -f run*.csv run* track-block
Y
# Into a folder of the user's, and into that of all, where the linkers have to find the library by themselves.
as_user "make install PREFIX=\$HOME/.local"
as_user 'cd && PATH=$HOME/.local/bin:$PATH PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig LD_LIBRARY_PATH=$HOME/.local/lib sh -x use'
as_user "make uninstall"
as_root "make install"
as_user 'cd && PATH=/usr/local/bin:$PATH sh -x use && ls /usr/local/share/man/man1/gpu-tracker.1'
as_root "make uninstall"
left=$(find home/user usr/local -path home/user/gpu-tracker -prune -o -name "*gpu*tracker*" -print) && [ -z "$left" ] || { echo "make uninstall left $left"; exit 1; }
as_root "make everything" # with what ccache has
chown -R 1000:1000 home/user
as_user "make test TESTS='$tests'"
X

# Every user keeps the number that it has outside; no process there may do more than here.
mkfifo "$folder/mapped"
unshare --user --pid --mount --fork --kill-child sh -c 'read -r _ <"$1" && exec sh "$2/inside.sh" "$2/root" "$3" "$4" "$5"' \
    - "$folder/mapped" "$folder" "$tests" "$cache" "${WHEN:-}" &
inside=$!
while [ "$(readlink "/proc/$inside/ns/user")" = "$(readlink /proc/self/ns/user)" ]; do sleep 0.1; done
echo "0 0 65536" >"/proc/$inside/uid_map"
echo "0 0 65536" >"/proc/$inside/gid_map"
echo >"$folder/mapped"
wait "$inside"
[ -z "$log" ] || cp "$root/home/user/gpu-tracker/build/meson-logs/testlog.json" "$log"
