#include "machine/gpu/drm_clients.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/order.h"
#include "machine/os/procfs.h"
#include "machine/os/sysfs.h"

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
/* A descriptor that was not a card can be reused for one: after this long all are read again. */
#define NOT_CARD_VALID_NS (3 * NS_PER_SECOND)
#define MAX_REMEMBERED_FD (1 << 20)
#define FDINFO_TEXT_SIZE 8192

/* A process, and which of its descriptors are known not to be a card. */
struct drm_process {
    pid_t pid;
    int64_t not_card_until_ns;
    uint8_t *not_card; /* one bit a descriptor; owned */
    size_t not_card_bytes;
    bool alive; /* tracked in this reading */
};

/* The busy times of a client's engines at a reading. */
struct drm_usage {
    uint32_t device;
    uint64_t client;
    int64_t read_ns;
    uint32_t n_engines;
    struct fdinfo_engine engines[FDINFO_MAX_ENGINES];
};

/* ---- memory ---- */

void drm_client_reader_finish(struct drm_client_reader *reader)
{
    for (size_t i = 0; i < reader->n_processes; i++)
        free(reader->processes[i].not_card);
    free(reader->processes);
    free(reader->usages);
    free(reader->fresh);
    if (reader->descriptors)
        pid_vector_finish(reader->descriptors);
    free(reader->descriptors);
    *reader = (struct drm_client_reader){0};
}

/* ---- descriptors ---- */

static bool is_known_not_card(const struct drm_process *process, pid_t fd)
{
    size_t byte = (size_t)fd / 8;
    return byte < process->not_card_bytes && process->not_card[byte] >> (fd % 8) & 1;
}

/* Remembers that a descriptor is none of a card, so that it is not looked at each time. */
static void mark_not_card(struct drm_process *process, pid_t fd)
{
    size_t byte = (size_t)fd / 8;
    if (fd >= MAX_REMEMBERED_FD)
        return;
    if (byte >= process->not_card_bytes) {
        size_t bytes = byte < 32 ? 32 : byte * 2;
        if (!ARRAY_RESIZE(process->not_card, bytes))
            return;
        memset(process->not_card + process->not_card_bytes, 0, bytes - process->not_card_bytes);
        process->not_card_bytes = bytes;
    }
    process->not_card[byte] |= (uint8_t)(1 << (fd % 8));
}

/* Finds what is remembered of a process, or begins to remember it. NULL without memory. */
static struct drm_process *process_of(struct drm_client_reader *reader, pid_t pid, int64_t now_ns)
{
    size_t place;
    PARTITION_POINT(place, reader->n_processes, reader->processes[place].pid < pid);
    if (place == reader->n_processes || reader->processes[place].pid != pid) {
        if (!ARRAY_RESERVE(reader->processes, reader->n_processes, reader->process_capacity))
            return NULL;
        struct drm_process *at = &reader->processes[place];
        memmove(at + 1, at, (reader->n_processes++ - place) * sizeof *at);
        *at = (struct drm_process){.pid = pid, .not_card_until_ns = now_ns + NOT_CARD_VALID_NS};
    }
    struct drm_process *process = &reader->processes[place];
    process->alive = true;
    if (now_ns >= process->not_card_until_ns) {
        if (process->not_card)
            memset(process->not_card, 0, process->not_card_bytes);
        process->not_card_until_ns = now_ns + NOT_CARD_VALID_NS;
    }
    return process;
}

enum { NO_CARD = -1, SOME_CARD = -2, NOTHING = -3 };

/* The target that a path below /dev/dri names; SOME_CARD when its number is not known. */
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

/* Returns what a descriptor refers to: the number of a target, or one of the enum above. */
static int classify(
    int folder, const char *name, const struct drm_target *targets, uint32_t n_targets)
{
    char path[256];
    struct stat stat;
    ssize_t length = readlinkat(folder, name, path, sizeof path - 1);
    if (length < 0)
        return errno == EINVAL ? SOME_CARD : NOTHING; /* EINVAL: recorded trees have no links */
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
    ORDER_BY(a->device, b->device);
    return ORDER(a->client, b->client);
}

/* NaN: not known, as after a reset of the device, from which its cycles count anew. */
static double engine_percent(
    const struct fdinfo_engine *now, const struct fdinfo_engine *before, int64_t elapsed_ns)
{
    double busy, all;
    if (now->total_cycles) {
        if (now->total_cycles < before->total_cycles)
            return NAN;
        busy = (double)(now->busy_cycles - before->busy_cycles);
        all = (double)(now->total_cycles - before->total_cycles);
    } else {
        busy = (double)(now->busy_ns - before->busy_ns);
        all = (double)elapsed_ns;
    }
    if (!(all > 0))
        return 0;
    double percent = 100 * busy / (all * now->capacity);
    return percent > 100 ? 100 : percent;
}

static const struct fdinfo_engine *find_engine(const struct drm_usage *usage, const char *name)
{
    for (uint32_t i = 0; usage && i < usage->n_engines; i++)
        if (strcmp(usage->engines[i].name, name) == 0)
            return &usage->engines[i];
    return NULL;
}

/*
 * Sets what an engine had counted before that the client had not used at the last reading: its own
 * time began at 0, and total cycles are those that another client has of it. False: none has it.
 */
static bool begin_engine(const struct drm_client_reader *reader, uint32_t device,
    const struct fdinfo_engine *engine, struct fdinfo_engine *before)
{
    *before = (struct fdinfo_engine){0};
    for (size_t i = 0; engine->total_cycles && i < reader->n_usages; i++) {
        const struct drm_usage *other = &reader->usages[i];
        const struct fdinfo_engine *same =
            other->device == device ? find_engine(other, engine->name) : NULL;
        if (same && same->total_cycles > before->total_cycles)
            before->total_cycles = same->total_cycles;
    }
    return !engine->total_cycles || before->total_cycles;
}

/* Some drivers do not list an engine that is not used, or not used at the moment. */
static void keep_unlisted(struct drm_usage *usage, const struct drm_usage *known)
{
    for (uint32_t i = 0; known && i < known->n_engines; i++)
        if (usage->n_engines < FDINFO_MAX_ENGINES && !find_engine(usage, known->engines[i].name))
            usage->engines[usage->n_engines++] = known->engines[i];
}

/* The utilization of the client's busiest engine since the last reading; NaN at the first one, and
 * where that of an engine is not known. Keeps the counters for the next. */
static double usage_percent(struct drm_client_reader *reader, uint32_t device, uint64_t client,
    const struct fdinfo *info, int64_t now_ns)
{
    struct drm_usage usage = {
        .device = device, .client = client, .read_ns = now_ns, .n_engines = info->n_engines};
    memcpy(usage.engines, info->engines, sizeof usage.engines);
    const struct drm_usage *known = NULL;
    if (reader->n_usages)
        known = bsearch(&usage, reader->usages, reader->n_usages, sizeof usage, compare_usages);
    int64_t since_ns = known ? known->read_ns : reader->read_ns;
    double busiest = reader->has_read && info->n_engines ? 0 : NAN;
    for (uint32_t i = 0; i < usage.n_engines; i++) {
        struct fdinfo_engine *engine = &usage.engines[i], begun;
        const struct fdinfo_engine *before = find_engine(known, engine->name);
        if (!before && begin_engine(reader, device, engine, &begun))
            before = &begun;
        if (before) {
            /* A counter may fall for a moment: the highest value is kept. */
            if (before->busy_ns > engine->busy_ns)
                engine->busy_ns = before->busy_ns;
            bool is_reset = engine->total_cycles < before->total_cycles;
            if (!is_reset && before->busy_cycles > engine->busy_cycles)
                engine->busy_cycles = before->busy_cycles;
        }
        double percent = before ? engine_percent(engine, before, now_ns - since_ns) : NAN;
        if (!(percent <= busiest))
            busiest = isnan(busiest) ? NAN : percent;
    }
    keep_unlisted(&usage, known);
    if (ARRAY_RESERVE(reader->fresh, reader->n_fresh, reader->fresh_capacity))
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
    size_t first; /* of the current process */
    pid_t pid;
    uint64_t shared_bytes[GPU_MAX_DEVICES]; /* of each device that counted so far, see ram_of() */
};

/* A client number made from the descriptor, which no client of another process has. */
static uint64_t descriptor_number(const struct reading *reading, pid_t fd)
{
    return UINT64_C(1) << 63 | (uint64_t)(uint32_t)reading->pid << 24 | ((uint32_t)fd & 0xffffff);
}

/* Adds an entry of unknown figures for a descriptor; -1: for any that the process may have. */
static void add_unknown(struct reading *reading, int target, pid_t fd)
{
    for (uint32_t i = 0; i < reading->n_targets; i++)
        if (target < 0 || (uint32_t)target == i)
            gpu_process_list_add(reading->list, (struct gpu_process){
                                                    .device = i,
                                                    .pid = reading->pid,
                                                    .client = descriptor_number(reading, fd),
                                                    .ram_bytes = NAN,
                                                    .sm_percent = NAN,
                                                });
}

/* After a file could not be opened: whether descriptors are used up. Then what processes use of the
 * cards is not known. */
static bool note_no_descriptors(struct reading *reading)
{
    static const char reason[] = "no more files could be opened to read the processes (ulimit -n)";
    if (errno != EMFILE && errno != ENFILE)
        return false;
    reading->list->lacks_descriptors = true;
    for (uint32_t i = 0; i < reading->n_targets; i++)
        reading->list->ram_missing[i] = reading->list->sm_missing[i] = reason;
    return true;
}

/* The card that a client is of, by its address, or by its driver. */
static int target_of_info(const struct reading *reading, const struct fdinfo *info)
{
    int of_driver = NO_CARD;
    for (uint32_t i = 0; i < reading->n_targets; i++) {
        const struct drm_target *target = &reading->targets[i];
        bool both_have_address = info->pci_address[0] && target->pci_address[0];
        if (both_have_address && strcmp(info->pci_address, target->pci_address) == 0)
            return (int)i;
        /* Where one of them has no address, it is the only card of that driver. */
        if (!both_have_address && (!target->driver[0] || strcmp(info->driver, target->driver) == 0))
            of_driver = of_driver == NO_CARD ? (int)i : SOME_CARD;
    }
    return of_driver >= 0 ? of_driver : NO_CARD;
}

static uint64_t client_number(const struct reading *reading, const struct fdinfo *info, pid_t fd)
{
    return info->has_client ? (info->client + 1) & INT64_MAX : descriptor_number(reading, fd);
}

static bool is_listed(const struct reading *reading, uint32_t device, uint64_t client)
{
    for (size_t i = reading->first; i < reading->list->count; i++)
        if (reading->list->entries[i].device == device &&
            reading->list->entries[i].client == client)
            return true;
    return false;
}

/* Reads what the kernel says of a descriptor. NULL: it is not of a DRM client. */
static const struct fdinfo *read_fdinfo(int folder, const char *name, struct fdinfo *info)
{
    char text[FDINFO_TEXT_SIZE];
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    errno = 0; /* from here on it is not for lack of descriptors */
    size_t length = 0;
    for (ssize_t got; length < sizeof text; length += (size_t)got)
        if ((got = read(fd, text + length, sizeof text - length)) <= 0)
            break;
    close(fd);
    return length && fdinfo_parse(text, length, info) == GPUT_OK ? info : NULL;
}

/*
 * The memory of a client that counts for its process. Buffers that several clients have count once:
 * as much as the client with most of them has. The kernel does not say which buffers these are, so
 * the sum over all clients is a lower bound.
 */
static double ram_of(
    struct reading *reading, uint32_t device, uint64_t client, const struct fdinfo *info)
{
    for (size_t i = 0; i < reading->list->count; i++) {
        const struct gpu_process *same = &reading->list->entries[i];
        if (same->device == device && same->client == client)
            return same->ram_bytes; /* it is inherited */
    }
    uint64_t shared, *counted = &reading->shared_bytes[device];
    uint64_t bytes = fdinfo_ram_bytes(info, reading->targets[device].integrated, &shared);
    bytes -= shared < *counted ? shared : *counted;
    if (shared > *counted)
        *counted = shared;
    return (double)bytes;
}

/* Reads a descriptor that is, or may be, a card. True when it belongs to a target. */
static bool read_client(struct reading *reading, int fdinfo_folder, pid_t fd, int target)
{
    char name[16];
    struct fdinfo info;
    snprintf(name, sizeof name, "%d", (int)fd);
    if (target >= 0 && reading->targets[target].suspended)
        return true;
    if (!read_fdinfo(fdinfo_folder, name, &info)) {
        if (note_no_descriptors(reading))
            return true; /* or not: it is read again */
        if (target >= 0)
            add_unknown(reading, target, fd);
        return target >= 0;
    }
    int named = target_of_info(reading, &info);
    if (named >= 0)
        target = named;
    if (target < 0)
        return false;
    uint32_t device = (uint32_t)target;
    uint64_t client = client_number(reading, &info, fd);
    if (is_listed(reading, device, client))
        return true;
    gpu_process_list_add(reading->list,
        (struct gpu_process){
            .device = device,
            .pid = reading->pid,
            .client = client,
            .ram_bytes = info.n_regions ? ram_of(reading, device, client, &info) : NAN,
            .sm_percent = usage_percent(reading->reader, device, client, &info, reading->now_ns),
        });
    return true;
}

/* Reads the descriptors of a process that are of cards. */
static void read_process_cards(struct reading *reading, struct drm_process *process, int folder,
    int fdinfo_folder, bool has_links)
{
    struct pid_vector *descriptors = reading->reader->descriptors;
    descriptors->count = 0;
    if (procfs_list_fd(folder, descriptors) != GPUT_OK)
        return;
    for (size_t i = 0; i < descriptors->count; i++) {
        char name[16];
        pid_t fd = descriptors->pids[i];
        if (is_known_not_card(process, fd))
            continue;
        snprintf(name, sizeof name, "%d", (int)fd);
        int target =
            has_links ? classify(folder, name, reading->targets, reading->n_targets) : SOME_CARD;
        if (target == NOTHING)
            continue;
        if (target == NO_CARD || !read_client(reading, fdinfo_folder, fd, target))
            mark_not_card(process, fd);
    }
}

static int open_folder(const char *procfs_root, pid_t pid, const char *name)
{
    char path[PROCFS_PATH_SIZE];
    if (!procfs_path(procfs_root, pid, name, path))
        return -1;
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Reads the clients of a process. One that may not be read counts as unknown. */
static void read_process(struct reading *reading, const char *procfs_root, pid_t pid)
{
    reading->pid = pid;
    reading->first = reading->list->count;
    int folder = open_folder(procfs_root, pid, "fd");
    bool refused = folder < 0 && (errno == EACCES || errno == EPERM);
    int fdinfo_folder = refused ? -1 : open_folder(procfs_root, pid, "fdinfo");
    refused |= fdinfo_folder < 0 && (errno == EACCES || errno == EPERM);
    if (folder < 0 || fdinfo_folder < 0)
        note_no_descriptors(reading);
    if (refused) {
        add_unknown(reading, SOME_CARD, -1);
    } else if (fdinfo_folder >= 0) {
        struct drm_process *process = process_of(reading->reader, pid, reading->now_ns);
        if (process)
            read_process_cards(
                reading, process, folder >= 0 ? folder : fdinfo_folder, fdinfo_folder, folder >= 0);
    }
    if (folder >= 0)
        close(folder);
    if (fdinfo_folder >= 0)
        close(fdinfo_folder);
}

static void sort_fresh(struct drm_client_reader *reader)
{
    if (reader->n_fresh > 1)
        qsort(reader->fresh, reader->n_fresh, sizeof *reader->fresh, compare_usages);
}

/* Clients that could not be read this time: of one that is taken for a new one all of its time
 * would be new. */
static void keep_unread(const struct reading *reading)
{
    struct drm_client_reader *reader = reading->reader;
    size_t n_read = reader->n_fresh;
    for (size_t i = 0; i < reader->n_usages; i++) {
        const struct drm_usage *usage = &reader->usages[i];
        if (!reading->list->lacks_descriptors && !reading->targets[usage->device].suspended)
            continue;
        if ((n_read == 0 ||
                !bsearch(usage, reader->fresh, n_read, sizeof *usage, compare_usages)) &&
            ARRAY_RESERVE(reader->fresh, reader->n_fresh, reader->fresh_capacity))
            reader->fresh[reader->n_fresh++] = *usage;
    }
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
    /* Forget processes that were not read since the last time. */
    size_t kept = 0;
    for (size_t i = 0; i < reader->n_processes; i++) {
        struct drm_process *process = &reader->processes[i];
        if (process->alive) {
            process->alive = false;
            reader->processes[kept++] = *process;
        } else {
            free(process->not_card);
        }
    }
    reader->n_processes = kept;
    sort_fresh(reader);
    keep_unread(&reading);
    sort_fresh(reader);
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

/* Says in `target` how descriptors of the card are recognized. */
static void set_target(struct drm_target *target, const struct drm_card *card)
{
    char folder[SYSFS_PATH_SIZE];
    target->card_number = (long)card->number;
    target->render_number = -1;
    memcpy(target->pci_address, card->pci_address, sizeof target->pci_address);
    memcpy(target->driver, card->driver, sizeof target->driver);
    if (sysfs_path(folder, card->folder, "drm"))
        target->render_number = sysfs_next_numbered(folder, "renderD", -1);
}

void *drm_gpus_create(const struct gpu_source_options *options, size_t size,
    drm_card_filter *is_wanted, const char *whose, struct gpu_source_status *status)
{
    struct drm_cards found;
    bool has_memory = drm_cards_find(options, is_wanted, &found);
    if (has_memory && found.count == 0) {
        drm_cards_explain_none(options, whose, &found, status);
        free(found.cards);
        return NULL;
    }
    status->n_skipped = found.n_skipped;
    struct drm_gpus *gpus = has_memory ? calloc(1, size) : NULL;
    struct drm_target *targets = gpus ? calloc(found.count, sizeof *targets) : NULL;
    if (!targets) {
        gpu_source_status_set(status, GPU_SOURCE_FAILED, "", "out of memory");
        free(found.cards);
        free(gpus);
        return NULL;
    }
    *gpus = (struct drm_gpus){
        .options = *options, .cards = found.cards, .count = found.count, .targets = targets};
    for (uint32_t i = 0; i < gpus->count; i++)
        set_target(&targets[i], &gpus->cards[i]);
    return gpus;
}

void drm_gpus_close(void *opaque)
{
    struct drm_gpus *gpus = opaque;
    drm_client_reader_finish(&gpus->reader);
    free(gpus->cards);
    free(gpus->targets);
    free(gpus);
}

void drm_gpus_read_processes(
    void *opaque, const struct gpu_tracked *tracked, bool whole, struct gpu_process_list *list)
{
    (void)whole;
    struct drm_gpus *gpus = opaque;
    for (uint32_t i = 0; i < gpus->count; i++) {
        gpus->targets[i].suspended = sysfs_is_suspended(gpus->cards[i].folder);
        if (gpus->targets[i].suspended)
            list->ram_missing[i] = list->sm_missing[i] = drm_card_suspended_reason;
    }
    drm_clients_read(&gpus->reader, gpus->options.procfs_root, tracked, gpus->targets, gpus->count,
        clock_monotonic_ns(), list);
}
