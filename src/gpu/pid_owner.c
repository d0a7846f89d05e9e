#include "gpu/pid_owner.h"

#include "os/proc_status.h"
#include "os/procfs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pid_owner_cache_finish(struct pid_owner_cache *book)
{
    free(book->aliases);
    free(book->known);
    outer_procfs_finish(&book->outer);
    *book = (struct pid_owner_cache){0};
}

static int compare_pids(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return (a > b) - (a < b);
}

static bool contains(const pid_t *pids, size_t count, pid_t pid)
{
    return count && bsearch(&pid, pids, count, sizeof *pids, compare_pids);
}

static enum pid_owner find_tracked(const struct gpu_tree *tree, pid_t pid)
{
    if (tree->main && pid == tree->main)
        return PID_OWNER_MAIN;
    if (contains(tree->descendants, tree->n_descendants, pid))
        return PID_OWNER_DESCENDANT;
    return PID_OWNER_UNKNOWN;
}

static bool exists(const char *procfs_root, pid_t pid)
{
    char path[PROCFS_PATH_SIZE];
    if (!procfs_path(procfs_root, pid, "", path))
        return false;
    if (access(path, F_OK) == 0)
        return true;
    /* With hidepid, processes of others are not in /proc, but still there. */
    return strcmp(procfs_root, "/proc") == 0 && kill(pid, 0) != 0 && errno == EPERM;
}

static void add_alias(struct pid_owner_cache *book, pid_t alias, pid_t pid)
{
    if (book->n_aliases == book->alias_capacity) {
        size_t capacity = book->alias_capacity ? book->alias_capacity * 2 : 8;
        struct pid_alias *grown = reallocarray(book->aliases, capacity, sizeof *grown);
        if (!grown)
            return;
        book->aliases = grown;
        book->alias_capacity = capacity;
    }
    book->aliases[book->n_aliases++] = (struct pid_alias){alias, pid};
}

static void read_aliases(struct pid_owner_cache *book, const char *procfs_root, pid_t pid)
{
    struct proc_status status;
    if (proc_status_read(procfs_root, pid, &status, NULL) != GPUT_OK)
        return;
    for (uint32_t i = 0; i < status.namespace_count; i++)
        if (status.namespace_pids[i] != pid)
            add_alias(book, status.namespace_pids[i], pid);
}

/* Keeps what is known of processes that are still tracked, and reads the new ones. */
static void fill(struct pid_owner_cache *book, const char *procfs_root, const struct gpu_tree *tree)
{
    if (book->filled && book->generation == tree->generation)
        return;
    size_t count = tree->n_descendants + 1, kept = 0;
    pid_t *pids = calloc(count, sizeof *pids);
    if (!pids)
        return;
    for (size_t i = 0; i < book->n_aliases; i++)
        if (find_tracked(tree, book->aliases[i].pid) != PID_OWNER_UNKNOWN)
            book->aliases[kept++] = book->aliases[i];
    book->n_aliases = kept;
    pids[0] = tree->main;
    if (tree->n_descendants)
        memcpy(pids + 1, tree->descendants, tree->n_descendants * sizeof *pids);
    for (size_t i = 0; i < count; i++)
        if (pids[i] > 0 && !contains(book->known, book->n_known, pids[i]))
            read_aliases(book, procfs_root, pids[i]);
    qsort(pids, count, sizeof *pids, compare_pids);
    free(book->known);
    book->known = pids;
    book->n_known = count;
    book->generation = tree->generation;
    book->filled = true;
}

/* The tracked process that has this pid in another namespace; 0: none, or none for sure. */
static pid_t find_alias(const struct pid_owner_cache *book, pid_t alias)
{
    pid_t match = 0;
    for (size_t i = 0; i < book->n_aliases; i++) {
        if (book->aliases[i].alias != alias)
            continue;
        /* Two namespaces can use one number. */
        if (match && match != book->aliases[i].pid)
            return 0;
        match = book->aliases[i].pid;
    }
    return match;
}

/* Our pid of a process that a procfs of an outer namespace has; 0: it has it, and it is none of
 * ours; -1: it does not have it. */
static pid_t find_in_outer(struct pid_owner_cache *book, const char *procfs_root, pid_t pid)
{
    if (!book->outer_sought)
        outer_procfs_find(procfs_root, &book->outer);
    book->outer_sought = true;
    return book->outer.root ? outer_procfs_translate(&book->outer, procfs_root, pid) : -1;
}

void pid_book_learn(struct pid_owner_cache *book, const char *procfs_root,
    const struct gpu_tree *tree, const struct gpu_process_list *list)
{
    for (size_t i = 0; i < list->count && !book->lists_outer; i++) {
        pid_t pid = list->entries[i].pid;
        book->lists_outer = !list->entries[i].client &&
                            find_tracked(tree, pid) == PID_OWNER_UNKNOWN &&
                            !exists(procfs_root, pid) && find_in_outer(book, procfs_root, pid) >= 0;
    }
}

/* Of a pid that some process in sight has, or has inside. */
static enum pid_owner find_inner(
    struct pid_owner_cache *book, const char *procfs_root, const struct gpu_tree *tree, pid_t *pid)
{
    enum pid_owner owner = find_tracked(tree, *pid);
    if (owner != PID_OWNER_UNKNOWN)
        return owner;
    if (exists(procfs_root, *pid))
        return PID_OWNER_STRANGER;
    fill(book, procfs_root, tree);
    *pid = find_alias(book, *pid);
    return *pid ? find_tracked(tree, *pid) : PID_OWNER_UNKNOWN;
}

bool pid_book_has_own_pids(const struct pid_owner_cache *book, const struct gpu_process *entry)
{
    return entry->client || !book->lists_outer;
}

enum pid_owner pid_owner_find(struct pid_owner_cache *book, const char *procfs_root,
    const struct gpu_tree *tree, const struct gpu_process *entry, pid_t *tracked)
{
    bool is_outer = !pid_book_has_own_pids(book, entry);
    pid_t ours = is_outer ? find_in_outer(book, procfs_root, entry->pid) : -1;
    enum pid_owner owner = ours > 0 ? find_tracked(tree, ours) : PID_OWNER_UNKNOWN;
    if (ours < 0) {
        ours = entry->pid;
        owner = find_inner(book, procfs_root, tree, &ours);
    } else if (owner == PID_OWNER_UNKNOWN) {
        owner = PID_OWNER_STRANGER;
    }
    if (tracked)
        *tracked = ours;
    return owner;
}
