#!/bin/sh
# Runs the commands at the beginning of the README in a minimal Debian with a pid, a mount and a user namespace of its own:
# tools/try-bare.sh [RELEASE [TESTS]]
#
# An ordinary user learns what to ask for; root installs it and builds; the user tests. TESTS is as of `make test TESTS=…`; all without.
# Exits with 77 and the reason where such a system cannot be made.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
release=${1:-bookworm}
tests=${2:-}

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
root=$1 tests=$2
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
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot . sh -c "cd /home/user/gpu-tracker && $*"
}

as_user() {
    echo "== user: $*"
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/home/user chroot . \
        setpriv --reuid 1000 --regid 1000 --clear-groups --no-new-privs sh -c "cd ~/gpu-tracker && $*"
}

as_root "apt-get update && apt-get install -y make" >setup 2>&1 || { cat setup; exit 1; }
as_user "make run" >asked 2>&1 && { echo "An ordinary user installed packages."; exit 1; }
grep -v '^make: ' asked
line=$(grep '^apt-get update && apt-get install ' asked) || { echo "The line to ask for is missing."; exit 1; }
as_root "make run"
as_root "$line" >again 2>&1 || { cat again; exit 1; }
grep -q '^0 upgraded, 0 newly installed' again || { cat again; echo "The line is not what root installs."; exit 1; }
chown -R 1000:1000 home/user
as_user "make run"
as_user "make test TESTS='$tests'"
X

# Every user keeps the number that it has outside; no process there may do more than here.
mkfifo "$folder/mapped"
unshare --user --pid --mount --fork --kill-child sh -c 'read -r _ <"$1" && exec sh "$2/inside.sh" "$2/root" "$3"' \
    - "$folder/mapped" "$folder" "$tests" &
inside=$!
while [ "$(readlink "/proc/$inside/ns/user")" = "$(readlink /proc/self/ns/user)" ]; do sleep 0.1; done
echo "0 0 65536" >"/proc/$inside/uid_map"
echo "0 0 65536" >"/proc/$inside/gid_map"
echo >"$folder/mapped"
wait "$inside"
