/*
 * /proc/PID/mountinfo: what is mounted where, as that process sees it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A piece of the text that is read; not terminated. */
struct mountinfo_piece {
    const char *start;
    size_t length;
};

struct mountinfo_entry {
    struct mountinfo_piece root;        /* the mounted part of the file system: "/" is all of it */
    struct mountinfo_piece mount_point; /* both are escaped: see mountinfo_unescape() */
    struct mountinfo_piece type;        /* "cgroup2" */
    struct mountinfo_piece options;     /* of the file system: "rw,cpu,cpuacct" */
};

/* The next mount of the text from `*position` to `end`; false after the last. Invalid lines are
 * skipped. */
bool mountinfo_next(const char **position, const char *end, struct mountinfo_entry *entry);

/* The piece as a string that the caller frees, with escapes such as \040 decoded. NULL without
 * memory. */
char *mountinfo_unescape(struct mountinfo_piece piece);

/* Whether a list such as "rw,cpu,cpuacct" contains that word. */
bool mountinfo_has_option(struct mountinfo_piece options, const char *option);

/* Whether the piece is that text. */
bool mountinfo_is(struct mountinfo_piece piece, const char *text);

/*
 * The container that a process runs in, as far as its control group and its mounts name one: those
 * of Docker, Podman, containerd, CRI-O and LXC, and pods of Kubernetes.
 */

/* "": not known, or none. */
struct container {
    char cgroup[512]; /* path of the control group: "/user.slice/x.scope" */
    char id[80];
    char pod[80]; /* the id of a pod */
};

/* From the texts of /proc/PID/cgroup and /proc/PID/mountinfo. */
void container_parse(
    const char *cgroup_text, const char *mountinfo_text, struct container *container);

/* Figures that cannot be read are unknown. */
void container_read(const char *procfs, pid_t pid, struct container *container);

/*
 * A mounted procfs of an outer pid namespace, as in containers with the host's /proc (-v
 * /proc:/host/proc): it translates pids of the host to ours.
 */

/* All zeroes: none. */
struct outer_procfs {
    char *root;     /* owned; NULL: none is mounted, or none is readable */
    uint32_t depth; /* how many levels our namespace is below its own */
};

/* Searches the mounts of this process and uses the outermost one. `procfs_root` is the procfs whose
 * pids are meant by "ours". Release with outer_procfs_finish(). */
void outer_procfs_find(const char *procfs_root, struct outer_procfs *outer);

void outer_procfs_finish(struct outer_procfs *outer);

/*
 * The process of `procfs_root` that has `outer_pid` in the outer namespace, verified by start time
 * and namespace. 0: that process is not visible in `procfs_root`; -1: the outer procfs has no such
 * process.
 */
pid_t outer_procfs_translate(
    const struct outer_procfs *outer, const char *procfs_root, pid_t outer_pid);
