/*
 * The container that a process runs in, as far as its control group and its mounts name one: those
 * of Docker, Podman, containerd, CRI-O and LXC, and pods of Kubernetes.
 */
#pragma once

#include <sys/types.h>

/* "": not known, or none. */
struct container {
    char cgroup[512]; /* path of the control group: "/user.slice/x.scope" */
    char id[80];
    char pod[80]; /* the id of a pod */
};

/* From the texts of /proc/PID/cgroup and /proc/PID/mountinfo. */
void container_parse(
    const char *cgroup_text, const char *mountinfo_text, struct container *container);

/* What cannot be read is not known. */
void container_read(const char *procfs, pid_t pid, struct container *container);
