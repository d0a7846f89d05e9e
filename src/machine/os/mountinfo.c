#include "machine/os/mountinfo.h"

#include "base/number.h"
#include "base/str.h"
#include "base/text.h"
#include "machine/os/proc_stat.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes the next word of a line; an empty one at its end. */
static struct mountinfo_piece next_word(const char **position, const char *end)
{
    const char *start = *position;
    while (start < end && *start == ' ')
        start++;
    const char *stop = start;
    while (stop < end && *stop != ' ')
        stop++;
    *position = stop;
    return (struct mountinfo_piece){.start = start, .length = (size_t)(stop - start)};
}

/* Scans "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw"; any number of
 * words may precede the "-". */
static bool scan_entry(const struct scan_line *line, struct mountinfo_entry *entry)
{
    const char *position = line->start;

    for (int i = 0; i < 3; i++)
        next_word(&position, line->end);
    entry->root = next_word(&position, line->end);
    entry->mount_point = next_word(&position, line->end);
    struct mountinfo_piece word;
    do
        word = next_word(&position, line->end);
    while (word.length > 0 && !mountinfo_is(word, "-"));
    entry->type = next_word(&position, line->end);
    next_word(&position, line->end);
    entry->options = next_word(&position, line->end);
    return entry->options.length > 0;
}

bool mountinfo_next(const char **position, const char *end, struct mountinfo_entry *entry)
{
    struct scan_line line;

    while (scan_next_line(position, end, &line))
        if (scan_entry(&line, entry))
            return true;
    return false;
}

static bool is_octal(char byte)
{
    return byte >= '0' && byte <= '7';
}

char *mountinfo_unescape(struct mountinfo_piece piece)
{
    char *text = malloc(piece.length + 1);
    size_t length = 0;

    if (!text)
        return NULL;
    for (size_t i = 0; i < piece.length; i++) {
        const char *at = piece.start + i;
        if (*at == '\\' && piece.length - i >= 4 && is_octal(at[1]) && is_octal(at[2]) &&
            is_octal(at[3])) {
            text[length++] = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            i += 3;
        } else {
            text[length++] = *at;
        }
    }
    text[length] = '\0';
    return text;
}

bool mountinfo_is(struct mountinfo_piece piece, const char *text)
{
    return piece.length == strlen(text) && memcmp(piece.start, text, piece.length) == 0;
}

bool mountinfo_has_option(struct mountinfo_piece options, const char *option)
{
    size_t length = strlen(option);
    const char *end = options.start + options.length;

    for (const char *word = options.start; word < end;) {
        const char *comma = memchr(word, ',', (size_t)(end - word));
        const char *stop = comma ? comma : end;
        if ((size_t)(stop - word) == length && memcmp(word, option, length) == 0)
            return true;
        word = stop + 1;
    }
    return false;
}

/* ---- Containers ---- */

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

/* ---- A procfs further out ---- */

void outer_procfs_finish(struct outer_procfs *outer)
{
    free(outer->root);
    *outer = (struct outer_procfs){0};
}

/* Reads the target of a link; false when it does not exist or does not fit. */
static bool read_link(const char *root, pid_t pid, const char *file, char *target, size_t size)
{
    char path[PROCFS_PATH_SIZE];
    if (!procfs_path(root, pid, file, path))
        return false;
    ssize_t length = readlink(path, target, size - 1);
    if (length <= 0 || (size_t)length == size - 1)
        return false;
    target[length] = '\0';
    return true;
}

/* Reads the pid of this process in a procfs. False: it is not visible there. */
static bool read_self(const char *root, struct proc_status *status)
{
    char self[32];
    if (!read_link(root, PROCFS_SYSTEM, "self", self, sizeof self))
        return false;
    int64_t pid;
    return number_parse_int64(self, self + strlen(self), &pid) && pid > 0 &&
           proc_status_read(root, (pid_t)pid, status, NULL) == GPUT_OK;
}

/* Returns whether two procfs show the same process: all of these figures agree. Pids of two
 * namespaces may be equal. */
static bool is_same_process(const char *root, pid_t pid, const char *other_root, pid_t other_pid)
{
    struct proc_stat stat, other_stat;
    char space[64], other_space[64];
    if (proc_stat_read(root, pid, &stat, NULL) != GPUT_OK ||
        proc_stat_read(other_root, other_pid, &other_stat, NULL) != GPUT_OK ||
        stat.start_time_ticks != other_stat.start_time_ticks ||
        strcmp(stat.name, other_stat.name) != 0)
        return false;
    /* Not readable for processes of other users: those are not tracked. */
    return read_link(root, pid, "ns/pid", space, sizeof space) &&
           read_link(other_root, other_pid, "ns/pid", other_space, sizeof other_space) &&
           strcmp(space, other_space) == 0;
}

/* Returns how many levels `ours` is below the namespace of a procfs that shows us as `seen`; 0: it
 * is not below. */
static uint32_t depth_of(const struct proc_status *ours, const struct proc_status *seen)
{
    if (ours->namespace_count == 0 || seen->namespace_count <= ours->namespace_count)
        return 0;
    uint32_t depth = seen->namespace_count - ours->namespace_count;
    for (uint32_t i = 0; i < ours->namespace_count; i++)
        if (seen->namespace_pids[depth + i] != ours->namespace_pids[i])
            return 0;
    return depth;
}

void outer_procfs_find(const char *procfs_root, struct outer_procfs *outer)
{
    struct proc_status ours;
    struct mountinfo_entry entry;
    struct str text = {0};
    *outer = (struct outer_procfs){0};
    if (read_self(procfs_root, &ours) &&
        procfs_read_all(procfs_root, PROCFS_SYSTEM, "self/mountinfo", &text, NULL) == GPUT_OK) {
        const char *position = str_text(&text), *end = position + text.length;
        while (mountinfo_next(&position, end, &entry))
            if (mountinfo_is(entry.type, "proc") && mountinfo_is(entry.root, "/")) {
                /* Use a procfs mount when its namespace is further out than the best so far. */
                struct proc_status seen;
                char *root = mountinfo_unescape(entry.mount_point);
                uint32_t depth = root && read_self(root, &seen) ? depth_of(&ours, &seen) : 0;
                if (depth > outer->depth &&
                    is_same_process(procfs_root, ours.pid, root, seen.pid)) {
                    free(outer->root);
                    *outer = (struct outer_procfs){.root = root, .depth = depth};
                } else {
                    free(root);
                }
            }
    }
    str_finish(&text);
}

pid_t outer_procfs_translate(
    const struct outer_procfs *outer, const char *procfs_root, pid_t outer_pid)
{
    struct proc_status status;
    if (!outer->root || proc_status_read(outer->root, outer_pid, &status, NULL) != GPUT_OK)
        return -1;
    if (status.namespace_count <= outer->depth)
        return 0;
    pid_t pid = status.namespace_pids[outer->depth];
    return is_same_process(outer->root, outer_pid, procfs_root, pid) ? pid : 0;
}
