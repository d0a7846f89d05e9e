#include "gpu/holdings.h"

#include <math.h>
#include <stdlib.h>

void gpu_holdings_clear(struct gpu_holdings *holdings)
{
    holdings->count = 0;
}

void gpu_holdings_finish(struct gpu_holdings *holdings)
{
    free(holdings->entries);
    free(holdings->uses);
    *holdings = (struct gpu_holdings){0};
}

static bool reserve(void **array, size_t *capacity, size_t count, size_t each)
{
    if (count < *capacity)
        return true;
    size_t larger = *capacity ? *capacity * 2 : 16;
    void *grown = reallocarray(*array, larger, each);
    if (!grown)
        return false;
    *array = grown;
    *capacity = larger;
    return true;
}

static void add_known(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}

static double larger(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

/* ---- uses: one for each client of a process on a device ---- */

static int compare_pids(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return (a > b) - (a < b);
}

static int compare_uses(const void *left, const void *right)
{
    const struct gpu_use *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

/* The tracked process that the driver means; 0: none. */
static pid_t tracked_pid(const struct gpu_process_list *list, const struct gpu_tree *tree,
    struct pid_owner_cache *book, const char *procfs_root, const struct gpu_process *entry)
{
    pid_t pid = entry->pid;
    /* Also when it has ended since. */
    if (pid_book_has_own_pids(book, entry) && gpu_process_list_has_asked(list, pid))
        return pid;
    enum pid_owner owner = pid_owner_find(book, procfs_root, tree, entry, &pid);
    return owner == PID_OWNER_MAIN || owner == PID_OWNER_DESCENDANT ? pid : 0;
}

static bool is_same_use(const struct gpu_process *a, const struct gpu_process *b)
{
    return a->device == b->device && a->client == b->client && a->pid == b->pid;
}

static void collect_uses(struct gpu_holdings *holdings, const struct gpu_process_list *list,
    const struct gpu_tree *tree, struct pid_owner_cache *book, const char *procfs_root)
{
    holdings->use_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct gpu_process *entry = &list->entries[i];
        struct gpu_use use = {.device = entry->device, .ram_bytes = entry->ram_bytes};
        while (i + 1 < list->count && is_same_use(entry, &list->entries[i + 1]))
            use.ram_bytes = larger(use.ram_bytes, list->entries[++i].ram_bytes);
        use.pid = tracked_pid(list, tree, book, procfs_root, entry);
        if (use.pid && reserve((void **)&holdings->uses, &holdings->use_capacity,
                           holdings->use_count, sizeof use))
            holdings->uses[holdings->use_count++] = use;
    }
    if (holdings->use_count > 1)
        qsort(holdings->uses, holdings->use_count, sizeof *holdings->uses, compare_uses);
}

/* ---- holdings ---- */

/* `uses` are those of one process. */
static void sum_up(struct gpu_holding *holding, const struct gpu_use *uses, size_t count,
    bool asked, const struct gpu_missing *missing, uint32_t n_devices)
{
    size_t at = 0;
    for (uint32_t device = 0; device < n_devices; device++) {
        bool tells = !missing[device].ram;
        holding->lacks_some |= missing[device].ram_may_be_held;
        if (tells && asked && (at == count || uses[at].device > device))
            add_known(&holding->ram_bytes, 0);
        for (; at < count && uses[at].device <= device; at++) {
            holding->lacks_some |= isnan(uses[at].ram_bytes);
            if (tells)
                add_known(&holding->ram_bytes, uses[at].ram_bytes);
        }
    }
}

void gpu_holdings_add(struct gpu_holdings *holdings, const struct gpu_process_list *list,
    const struct gpu_missing *missing, uint32_t n_devices, int64_t read_ns,
    const struct gpu_tree *tree, struct pid_owner_cache *book, const char *procfs_root)
{
    collect_uses(holdings, list, tree, book, procfs_root);
    const struct gpu_use *uses = holdings->uses;
    size_t use = 0, asked = 0;
    while (use < holdings->use_count || asked < list->n_asked) {
        bool has_use = use < holdings->use_count;
        pid_t pid = asked < list->n_asked ? list->asked[asked] : uses[use].pid;
        if (has_use && uses[use].pid < pid)
            pid = uses[use].pid;
        bool was_asked = asked < list->n_asked && list->asked[asked] == pid;
        asked += was_asked;
        size_t first = use;
        while (use < holdings->use_count && uses[use].pid == pid)
            use++;
        struct gpu_holding holding = {.pid = pid, .read_ns = read_ns, .ram_bytes = NAN};
        sum_up(&holding, uses + first, use - first, was_asked, missing, n_devices);
        if (reserve(
                (void **)&holdings->entries, &holdings->capacity, holdings->count, sizeof holding))
            holdings->entries[holdings->count++] = holding;
    }
}

static int compare_holdings(const void *left, const void *right)
{
    return compare_pids(
        &((const struct gpu_holding *)left)->pid, &((const struct gpu_holding *)right)->pid);
}

/* One entry of each process, with what all lists tell of it. */
static void merge(struct gpu_holdings *holdings)
{
    qsort(holdings->entries, holdings->count, sizeof *holdings->entries, compare_holdings);
    size_t kept = 0;
    for (size_t i = 1; i < holdings->count; i++) {
        struct gpu_holding *last = &holdings->entries[kept];
        const struct gpu_holding *next = &holdings->entries[i];
        if (next->pid != last->pid) {
            holdings->entries[++kept] = *next;
            continue;
        }
        add_known(&last->ram_bytes, next->ram_bytes);
        last->lacks_some |= next->lacks_some;
        if (next->read_ns < last->read_ns)
            last->read_ns = next->read_ns;
    }
    holdings->count = kept + 1;
}

void gpu_holdings_settle(struct gpu_holdings *holdings)
{
    if (holdings->count > 1)
        merge(holdings);
    /* That it holds at least 0 says nothing. */
    for (size_t i = 0; i < holdings->count; i++)
        if (holdings->entries[i].lacks_some && holdings->entries[i].ram_bytes == 0)
            holdings->entries[i].ram_bytes = NAN;
}
