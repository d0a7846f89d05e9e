#include "machine/os/proc_list.h"

#include "base/array.h"
#include "base/order.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int compare_entries(const void *left, const void *right)
{
    const struct proc_list_entry *a = left, *b = right;
    return ORDER(a->pid, b->pid);
}

int proc_list_read(const char *root, struct proc_list *list, struct gput_error *error)
{
    list->count = 0;
    list->scratch.count = 0;
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(error, errno, "Cannot list %s", root);
    int code = procfs_list_fd(fd, &list->scratch);
    close(fd);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    if (code != GPUT_OK)
        return error_set(error, GPUT_ERROR_IO, "Cannot list %s.", root);

    size_t count = list->scratch.count;
    if (count > list->capacity) {
        if (!ARRAY_RESIZE(list->entries, count))
            return error_memory(error);
        list->capacity = count;
    }

    for (size_t i = 0; i < list->scratch.count; i++) {
        struct proc_stat stat;
        if (proc_stat_read(root, list->scratch.pids[i], &stat, NULL) != GPUT_OK)
            continue;
        list->entries[list->count++] = (struct proc_list_entry){
            .pid = list->scratch.pids[i],
            .ppid = stat.ppid,
        };
    }
    /* procfs lists in order already; other file systems need not. */
    if (list->count > 1)
        qsort(list->entries, list->count, sizeof *list->entries, compare_entries);
    return GPUT_OK;
}

int proc_list_children(const struct proc_list *list, pid_t ppid, struct pid_vector *children)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].ppid == ppid)
            TRY(pid_vector_append(children, list->entries[i].pid));
    return GPUT_OK;
}

void proc_list_finish(struct proc_list *list)
{
    free(list->entries);
    pid_vector_finish(&list->scratch);
    *list = (struct proc_list){0};
}
