#include "gpu/drm_clients.h"

#include "base/clock.h"
#include "os/procfs.h"
#include "os/sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DRM_MAJOR 226
/* A descriptor that was no card can be closed and opened as one: after this long all are polled
 * again. */
#define REMEMBER_NS (3 * NS_PER_SECOND)
#define MAX_REMEMBERED_FD (1 << 20)
#define FDINFO_TEXT_SIZE 8192

/* A process, and which of its descriptors are known to be no card. */
struct drm_holder {
    pid_t pid;
    int64_t forget_ns;
    uint8_t *not_card; /* one bit a descriptor; owned */
    size_t not_card_bytes;
    bool alive; /* tracked in this reading */
};

/* How busy a client's engines had been by the time of a reading. */
struct drm_usage {
    uint32_t device;
    uint64_t client;
    uint32_t n_engines;
    struct fdinfo_engine engines[FDINFO_MAX_ENGINES];
};

/* ---- memory ---- */

void drm_client_reader_finish(struct drm_client_reader *reader)
{
    for (size_t i = 0; i < reader->n_holders; i++)
        free(reader->holders[i].not_card);
    free(reader->holders);
    free(reader->usages);
    free(reader->fresh);
    if (reader->descriptors)
        pid_vector_finish(reader->descriptors);
    free(reader->descriptors);
    *reader = (struct drm_client_reader){0};
}

/* Reserves space for one more element at the end; false without memory. */
static bool reserve(void **array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    size_t more = *capacity ? *capacity * 2 : 16;
    void *grown = reallocarray(*array, more, size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = more;
    return true;
}

/* ---- descriptors ---- */

static bool is_known_no_card(const struct drm_holder *holder, pid_t fd)
{
    size_t byte = (size_t)fd / 8;
    return byte < holder->not_card_bytes && holder->not_card[byte] >> (fd % 8) & 1;
}

static void remember_no_card(struct drm_holder *holder, pid_t fd)
{
    size_t byte = (size_t)fd / 8;
    if (fd >= MAX_REMEMBERED_FD)
        return;
    if (byte >= holder->not_card_bytes) {
        size_t bytes = byte < 32 ? 32 : byte * 2;
        uint8_t *grown = realloc(holder->not_card, bytes);
        if (!grown)
            return;
        memset(grown + holder->not_card_bytes, 0, bytes - holder->not_card_bytes);
        holder->not_card = grown;
        holder->not_card_bytes = bytes;
    }
    holder->not_card[byte] |= (uint8_t)(1 << (fd % 8));
}

static struct drm_holder *holder_of(struct drm_client_reader *reader, pid_t pid, int64_t now_ns)
{
    size_t low = 0, high = reader->n_holders;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (reader->holders[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == reader->n_holders || reader->holders[low].pid != pid) {
        if (!reserve((void **)&reader->holders, reader->n_holders, &reader->holder_capacity,
                sizeof *reader->holders))
            return NULL;
        struct drm_holder *at = &reader->holders[low];
        memmove(at + 1, at, (reader->n_holders++ - low) * sizeof *at);
        *at = (struct drm_holder){.pid = pid, .forget_ns = now_ns + REMEMBER_NS};
    }
    struct drm_holder *holder = &reader->holders[low];
    holder->alive = true;
    if (now_ns >= holder->forget_ns) {
        if (holder->not_card)
            memset(holder->not_card, 0, holder->not_card_bytes);
        holder->forget_ns = now_ns + REMEMBER_NS;
    }
    return holder;
}

static void forget_ended(struct drm_client_reader *reader)
{
    size_t kept = 0;
    for (size_t i = 0; i < reader->n_holders; i++) {
        struct drm_holder *holder = &reader->holders[i];
        if (holder->alive) {
            holder->alive = false;
            reader->holders[kept++] = *holder;
        } else {
            free(holder->not_card);
        }
    }
    reader->n_holders = kept;
}

enum { NO_CARD = -1, SOME_CARD = -2, NOTHING = -3 };

/* The target that a path below /dev/dri names; SOME_CARD when the numbers do not tell. */
static int target_of_path(const char *path, const struct drm_target *targets, uint32_t n_targets)
{
    long number;
    bool render = sscanf(path, "/dev/dri/renderD%ld", &number) == 1;
    if (!render && sscanf(path, "/dev/dri/card%ld", &number) != 1)
        return SOME_CARD;
    bool all_known = true;
    for (uint32_t i = 0; i < n_targets; i++) {
        if (number == (render ? targets[i].render_number : targets[i].card_number))
            return (int)i;
        all_known &= !render || targets[i].render_number >= 0;
    }
    return all_known ? NO_CARD : SOME_CARD;
}

/* What a descriptor is: the number of a target, or one of the enum above. */
static int classify(
    int folder, const char *name, const struct drm_target *targets, uint32_t n_targets)
{
    char path[256];
    struct stat stat;
    ssize_t length = readlinkat(folder, name, path, sizeof path - 1);
    if (length < 0)
        return errno == EINVAL ? SOME_CARD : NOTHING; /* EINVAL: a recorded tree without links */
    path[length] = '\0';
    if (strncmp(path, "/dev/dri/", 9) == 0)
        return target_of_path(path, targets, n_targets);
    if (strncmp(path, "/dev/", 5) == 0 && fstatat(folder, name, &stat, 0) == 0 &&
        S_ISCHR(stat.st_mode) && major(stat.st_rdev) == DRM_MAJOR)
        return SOME_CARD;
    return NO_CARD;
}

/* ---- engines ---- */

static int compare_usages(const void *left, const void *right)
{
    const struct drm_usage *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->client > b->client) - (a->client < b->client);
}

static double engine_percent(
    const struct fdinfo_engine *now, const struct fdinfo_engine *before, int64_t elapsed_ns)
{
    double busy, all;
    if (now->total_cycles) {
        uint64_t total_before = before ? before->total_cycles : 0;
        uint64_t busy_before = before ? before->busy_cycles : 0;
        if (now->total_cycles <= total_before || now->busy_cycles < busy_before)
            return 0;
        busy = (double)(now->busy_cycles - busy_before);
        all = (double)(now->total_cycles - total_before);
    } else {
        uint64_t busy_before = before ? before->busy_ns : 0;
        if (now->busy_ns < busy_before || elapsed_ns <= 0)
            return 0;
        busy = (double)(now->busy_ns - busy_before);
        all = (double)elapsed_ns;
    }
    double percent = 100 * busy / (all * now->capacity);
    return percent > 100 ? 100 : percent;
}

/* How busy the client's busiest engine was since the last reading; NaN at the first one. Keeps the
 * counters for the next. */
static double usage_percent(struct drm_client_reader *reader, uint32_t device, uint64_t client,
    const struct fdinfo *info, int64_t now_ns)
{
    struct drm_usage usage = {.device = device, .client = client, .n_engines = info->n_engines};
    memcpy(usage.engines, info->engines, sizeof usage.engines);
    struct drm_usage *before = NULL;
    if (reader->n_usages)
        before = bsearch(&usage, reader->usages, reader->n_usages, sizeof usage, compare_usages);
    double busiest = reader->has_read && info->n_engines ? 0 : NAN;
    for (uint32_t i = 0; i < usage.n_engines; i++) {
        struct fdinfo_engine *engine = &usage.engines[i];
        const struct fdinfo_engine *old = NULL;
        for (uint32_t j = 0; before && j < before->n_engines && !old; j++)
            if (strcmp(before->engines[j].name, engine->name) == 0)
                old = &before->engines[j];
        /* Cycles run on without the client: a new one has nothing to be compared with. */
        bool comparable = old || (!before && !engine->total_cycles);
        double percent = comparable ? engine_percent(engine, old, now_ns - reader->read_ns) : 0;
        if (percent > busiest)
            busiest = percent;
        /* A counter may dip for a moment: the highest is kept. */
        if (old && old->busy_ns > engine->busy_ns)
            engine->busy_ns = old->busy_ns;
    }
    if (reserve((void **)&reader->fresh, reader->n_fresh, &reader->fresh_capacity, sizeof usage))
        reader->fresh[reader->n_fresh++] = usage;
    return busiest;
}

/* ---- reading ---- */

struct reading {
    struct drm_client_reader *reader;
    const struct drm_target *targets;
    uint32_t n_targets;
    int64_t now_ns;
    struct gpu_process_list *list;
    size_t first; /* entry of the process at hand */
    pid_t pid;
};

/* Clients of other processes cannot have this number: it is the descriptor's own. */
static uint64_t own_number(const struct reading *reading, pid_t fd)
{
    return UINT64_C(1) << 63 | (uint64_t)(uint32_t)reading->pid << 24 | ((uint32_t)fd & 0xffffff);
}

/* What is not known of a descriptor; -1: of any that the process may have. */
static void add_unknown(struct reading *reading, int target, pid_t fd)
{
    for (uint32_t i = 0; i < reading->n_targets; i++)
        if (target < 0 || (uint32_t)target == i)
            gpu_process_list_add(reading->list, (struct gpu_process){
                                                    .device = i,
                                                    .pid = reading->pid,
                                                    .client = own_number(reading, fd),
                                                    .ram_bytes = NAN,
                                                    .sm_percent = NAN,
                                                });
}

static int target_of_info(const struct reading *reading, const struct fdinfo *info)
{
    int of_driver = NO_CARD;
    for (uint32_t i = 0; i < reading->n_targets; i++) {
        const struct drm_target *target = &reading->targets[i];
        bool both_have_address = info->pci_address[0] && target->pci_address[0];
        if (both_have_address && strcmp(info->pci_address, target->pci_address) == 0)
            return (int)i;
        /* Where one of them has no address, the only card of that driver is meant. */
        if (!both_have_address && (!target->driver[0] || strcmp(info->driver, target->driver) == 0))
            of_driver = of_driver == NO_CARD ? (int)i : SOME_CARD;
    }
    return of_driver >= 0 ? of_driver : NO_CARD;
}

static uint64_t client_number(const struct reading *reading, const struct fdinfo *info, pid_t fd)
{
    return info->has_client ? (info->client + 1) & INT64_MAX : own_number(reading, fd);
}

static bool is_listed(const struct reading *reading, uint32_t device, uint64_t client)
{
    for (size_t i = reading->first; i < reading->list->count; i++)
        if (reading->list->entries[i].device == device &&
            reading->list->entries[i].client == client)
            return true;
    return false;
}

static const struct fdinfo *read_fdinfo(int folder, const char *name, struct fdinfo *info)
{
    char text[FDINFO_TEXT_SIZE];
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    size_t length = 0;
    for (ssize_t got; length < sizeof text; length += (size_t)got)
        if ((got = read(fd, text + length, sizeof text - length)) <= 0)
            break;
    close(fd);
    return length && fdinfo_parse(text, length, info) == GPUT_OK ? info : NULL;
}

/* One descriptor that is, or may be, a card. True when it is one of a target's. */
static bool read_client(struct reading *reading, int fdinfo_folder, pid_t fd, int target)
{
    char name[16];
    struct fdinfo info;
    snprintf(name, sizeof name, "%d", (int)fd);
    if (target >= 0 && reading->targets[target].suspended)
        return true;
    if (!read_fdinfo(fdinfo_folder, name, &info)) {
        if (target >= 0)
            add_unknown(reading, target, fd);
        return target >= 0;
    }
    int told = target_of_info(reading, &info);
    if (told >= 0)
        target = told;
    if (target < 0)
        return false;
    uint32_t device = (uint32_t)target;
    uint64_t client = client_number(reading, &info, fd);
    if (is_listed(reading, device, client))
        return true;
    double ram = (double)fdinfo_ram_bytes(&info, reading->targets[target].integrated);
    gpu_process_list_add(reading->list,
        (struct gpu_process){
            .device = device,
            .pid = reading->pid,
            .client = client,
            .ram_bytes = info.n_regions ? ram : NAN,
            .sm_percent = usage_percent(reading->reader, device, client, &info, reading->now_ns),
        });
    return true;
}

static void read_holder(struct reading *reading, struct drm_holder *holder, int folder,
    int fdinfo_folder, bool has_links)
{
    struct pid_vector *descriptors = reading->reader->descriptors;
    descriptors->count = 0;
    if (procfs_list_fd(folder, descriptors) != GPUT_OK)
        return;
    for (size_t i = 0; i < descriptors->count; i++) {
        char name[16];
        pid_t fd = descriptors->pids[i];
        if (is_known_no_card(holder, fd))
            continue;
        snprintf(name, sizeof name, "%d", (int)fd);
        int target =
            has_links ? classify(folder, name, reading->targets, reading->n_targets) : SOME_CARD;
        if (target == NOTHING)
            continue;
        if (target == NO_CARD || !read_client(reading, fdinfo_folder, fd, target))
            remember_no_card(holder, fd);
    }
}

static int open_folder(const char *procfs_root, pid_t pid, const char *name)
{
    char path[PROCFS_PATH_SIZE];
    if (!procfs_path(procfs_root, pid, name, path))
        return -1;
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void read_process(struct reading *reading, const char *procfs_root, pid_t pid)
{
    reading->pid = pid;
    reading->first = reading->list->count;
    int folder = open_folder(procfs_root, pid, "fd");
    bool refused = folder < 0 && (errno == EACCES || errno == EPERM);
    int fdinfo_folder = refused ? -1 : open_folder(procfs_root, pid, "fdinfo");
    refused |= fdinfo_folder < 0 && (errno == EACCES || errno == EPERM);
    if (refused) {
        add_unknown(reading, SOME_CARD, -1);
    } else if (fdinfo_folder >= 0) {
        struct drm_holder *holder = holder_of(reading->reader, pid, reading->now_ns);
        if (holder)
            read_holder(
                reading, holder, folder >= 0 ? folder : fdinfo_folder, fdinfo_folder, folder >= 0);
    }
    if (folder >= 0)
        close(folder);
    if (fdinfo_folder >= 0)
        close(fdinfo_folder);
}

void drm_target_init(struct drm_target *target, const struct drm_card *card, bool integrated)
{
    char folder[SYSFS_PATH_SIZE];
    *target = (struct drm_target){
        .card_number = (long)card->number,
        .render_number = -1,
        .integrated = integrated,
    };
    memcpy(target->pci_address, card->pci_address, sizeof target->pci_address);
    memcpy(target->driver, card->driver, sizeof target->driver);
    if (sysfs_path(folder, card->folder, "drm"))
        target->render_number = sysfs_next_numbered(folder, "renderD", -1);
}

void drm_target_check(struct drm_target *target, const struct drm_card *card, uint32_t number,
    struct gpu_process_list *list)
{
    target->suspended = sysfs_is_suspended(card->folder);
    if (target->suspended)
        list->ram_missing[number] = list->sm_missing[number] = drm_card_asleep;
}

void drm_clients_read(struct drm_client_reader *reader, const char *procfs_root,
    const struct gpu_tracked *tracked, const struct drm_target *targets, uint32_t n_targets,
    int64_t now_ns, struct gpu_process_list *list)
{
    struct reading reading = {
        .reader = reader,
        .targets = targets,
        .n_targets = n_targets,
        .now_ns = now_ns,
        .list = list,
    };
    if (!reader->descriptors && !(reader->descriptors = calloc(1, sizeof *reader->descriptors)))
        return;
    list->only_tracked = true;
    reader->n_fresh = 0;
    for (size_t i = 0; i < tracked->count; i++)
        read_process(&reading, procfs_root, tracked->pids[i]);
    forget_ended(reader);
    if (reader->n_fresh > 1)
        qsort(reader->fresh, reader->n_fresh, sizeof *reader->fresh, compare_usages);
    struct drm_usage *old = reader->usages;
    size_t old_capacity = reader->usage_capacity;
    reader->usages = reader->fresh;
    reader->n_usages = reader->n_fresh;
    reader->usage_capacity = reader->fresh_capacity;
    reader->fresh = old;
    reader->fresh_capacity = old_capacity;
    reader->read_ns = now_ns;
    reader->has_read = reader->has_read || tracked->count > 0;
}
