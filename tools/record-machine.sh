#!/bin/sh
# Records what the readers of src/machine/os need to see of this machine and some processes, as a fixture:
#
#     tools/record-machine.sh DIRECTORY NAME PID…
#
# makes DIRECTORY/procfs-NAME and DIRECTORY/sysfs-NAME, which stand for /proc and /sys. The first PID
# becomes "self". Look through the result before you commit it: paths and group names are in it. As
# root, all of it is there; as another user what may not be read is skipped, as readers then find it.
set -eu
[ $# -ge 3 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
procfs=$1/procfs-$2
sysfs=$1/sysfs-$2
main=$3
shift 2

# One file to one place; procfs files have no size, so that cp alone would not do on every system.
record() {
    [ -r "$1" ] || return 0
    mkdir -p "$(dirname "$2")"
    cat "$1" >"$2" 2>/dev/null || rm -f "$2"
}

for file in stat loadavg meminfo; do
    record "/proc/$file" "$procfs/$file"
done
record /sys/devices/system/cpu/online "$sysfs/devices/system/cpu/online"

# Figures of a group and of all above it, up to the mount point.
record_group() {
    mount_point=$1
    group=$2
    while :; do
        directory=$mount_point${group%/}
        for file in memory.max memory.high memory.swap.max memory.current memory.peak cpu.max cpu.stat \
            pids.max pids.current cpuset.cpus cpuset.cpus.effective \
            memory.limit_in_bytes memory.usage_in_bytes memory.max_usage_in_bytes cpu.cfs_quota_us \
            cpu.cfs_period_us cpuacct.usage cpuacct.stat cpuset.effective_cpus; do
            record "$directory/$file" "$sysfs${directory#/sys}/$file"
        done
        [ -n "${group#/}" ] || return 0
        group=${group%/*}
    done
}

record_groups() {
    while IFS=: read -r number controllers group; do
        controller=${controllers%%,*}
        [ "$number" = 0 ] && pattern=' - cgroup2 ' || pattern=" - cgroup .*[ ,]$controller\(,\|\$\)"
        mount_point=$(grep -- "$pattern" "/proc/self/mountinfo" | head -n 1 | cut -d' ' -f5)
        case $mount_point in
        /sys/*) record_group "$mount_point" "$group" ;;
        esac
    done <"/proc/$1/cgroup"
}

for pid; do
    for file in stat statm status smaps smaps_rollup io cgroup; do
        record "/proc/$pid/$file" "$procfs/$pid/$file"
    done
    for thread in "/proc/$pid/task"/*; do
        record "$thread/children" "$procfs/$pid/task/${thread##*/}/children"
    done
    record_groups "$pid"
done
# Only what concerns the readers: other mounts reveal more of a machine than is needed.
grep -e ' - cgroup' -e ' - proc ' -e ' - sysfs ' /proc/self/mountinfo >"$procfs/$main/mountinfo"
ln -sfn "$main" "$procfs/self"
