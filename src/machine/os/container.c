#include "machine/os/container.h"

#include "base/str.h"
#include "base/text.h"
#include "machine/os/mountinfo.h"
#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <ctype.h>
#include <string.h>

#define ID_LENGTH 64  /* of Docker and those after it */
#define POD_LENGTH 36 /* of a UUID */

/* Returns how many hexadecimal digits a text begins with. */
static size_t hexadecimal_length(const char *text, size_t length)
{
    size_t digits = 0;
    while (digits < length && isxdigit((unsigned char)text[digits]))
        digits++;
    return digits;
}

/* Finds the container and the pod in each part of a path of control groups. */
static void find_in_path(const char *path, const char *end, struct container *container)
{
    while (path < end) {
        const char *slash = memchr(path, '/', (size_t)(end - path));
        size_t length = (size_t)((slash ? slash : end) - path);

        /* Find the 64 digits in "docker-0123….scope", "0123…" or "cri-containerd-0123….scope". */
        for (size_t at = 0; at < length; at++) {
            bool begins = at == 0 || path[at - 1] == '-' || path[at - 1] == ':';
            if (begins && hexadecimal_length(path + at, length - at) == ID_LENGTH)
                text_fit(container->id, sizeof container->id, "%.*s", ID_LENGTH, path + at);
        }

        /* LXC calls the group "lxc.payload.web". */
        static const char prefix[] = "lxc.payload.";
        size_t skipped = sizeof prefix - 1;
        if (length > skipped && strncmp(path, prefix, skipped) == 0)
            text_fit(container->id, sizeof container->id, "%.*s", (int)(length - skipped),
                path + skipped);

        /* Find the pod in "pod01234567-89ab-…" or "kubepods-burstable-pod01234567_89ab_….slice":
         * systemd writes "_" for "-". */
        for (size_t at = 0; at + 3 + POD_LENGTH <= length; at++) {
            const char *id = path + at + 3;
            if ((at > 0 && path[at - 1] != '-') || strncmp(path + at, "pod", 3) != 0 ||
                strspn(id, "0123456789abcdef-_") < POD_LENGTH)
                continue;
            text_fit(container->pod, sizeof container->pod, "%.*s", POD_LENGTH, id);
            for (char *byte = container->pod; *byte; byte++)
                *byte = *byte == '_' ? '-' : *byte;
        }

        path += length + 1;
    }
}

/* Returns whether a mount is a file of this container; mounts of other containers are visible to
 * those who run them. */
static bool is_own_file(const struct mountinfo_entry *entry)
{
    return mountinfo_is(entry->mount_point, "/etc/hosts") ||
           mountinfo_is(entry->mount_point, "/etc/hostname");
}

/* Finds the ids in mounts from outside, as a cgroup namespace hides them:
 * "/var/lib/docker/containers/0123…/hostname", "/var/lib/kubelet/pods/01234567-…/etc-hosts". */
static void find_in_mounts(const char *text, struct container *container)
{
    const char *end = text + strlen(text);
    struct mountinfo_entry entry;
    while (mountinfo_next(&text, end, &entry)) {
        const char *root = entry.root.start, *after = root + entry.root.length;
        if (!is_own_file(&entry))
            continue;
        const char *pods = memmem(root, entry.root.length, "/pods/", 6);
        if (memmem(root, entry.root.length, "containers/", 11) && !container->id[0])
            find_in_path(root, after, container);
        if (pods && !container->pod[0] && after - pods >= 6 + POD_LENGTH &&
            strspn(pods + 6, "0123456789abcdef-") == POD_LENGTH)
            text_fit(container->pod, sizeof container->pod, "%.*s", POD_LENGTH, pods + 6);
    }
}

void container_parse(
    const char *cgroup_text, const char *mountinfo_text, struct container *container)
{
    *container = (struct container){.id = ""};

    /* Take the path of version 2, "0::/path", or the first of version 1 that is not the root. */
    const char *text = cgroup_text;
    const char *end = text + strlen(text);
    struct scan_line line;
    while (scan_next_line(&text, end, &line)) {
        const char *path = memchr(line.start, '/', (size_t)(line.end - line.start));
        if (!path)
            continue;
        bool is_root = line.end - path <= 1;
        if (!container->cgroup[0] || (!is_root && strcmp(container->cgroup, "/") == 0))
            text_fit(
                container->cgroup, sizeof container->cgroup, "%.*s", (int)(line.end - path), path);
        find_in_path(path, line.end, container);
    }

    find_in_mounts(mountinfo_text, container);
}

void container_read(const char *procfs, pid_t pid, struct container *container)
{
    struct str groups = {0}, mounts = {0};
    procfs_read_all(procfs, pid, "cgroup", &groups, NULL);
    procfs_read_all(procfs, pid, "mountinfo", &mounts, NULL);
    container_parse(str_text(&groups), str_text(&mounts), container);
    str_finish(&groups);
    str_finish(&mounts);
}
