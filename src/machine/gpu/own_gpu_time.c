#include "machine/gpu/own_gpu_time.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "machine/gpu/drm_card.h"
#include "machine/gpu/fdinfo.h"
#include "machine/os/procfs.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAX_CLIENTS 64
#define SEARCH_AGAIN_NS (NS_PER_SECOND / 100)

/* An opening of a card by this process. */
struct client {
    pid_t fd;
    struct kept_file file; /* its fdinfo */
    char pci_address[PCI_ADDRESS_TEXT_SIZE];
    uint64_t id;
    bool is_open; /* found by the current search */
    int64_t busy_ns;
    int64_t read_ns; /* when the engines were read */
    uint32_t n_engines;
    struct fdinfo_engine engines[FDINFO_MAX_ENGINES];
};

struct own_gpu_time {
    pthread_mutex_t lock;                    /* of the members below */
    char descriptors[PROCFS_PATH_SIZE - 32]; /* the folder of descriptors */
    struct kept_file folder;                 /* the same, open */
    bool is_live;                            /* it is the kernel's, not a recorded one */
    char text[8192];                         /* of the fdinfo that is being read */
    struct fdinfo info;                      /* what it says */
    size_t n_clients;
    struct client clients[MAX_CLIENTS]; /* of further ones it is unknown */
    int64_t ended_ns;                   /* of clients that were closed */
    bool is_unknown;
    int64_t searched_ns; /* 0: never */
    int64_t n_descriptors;
};

/* ---- Which drivers report it ---- */

static bool is_gpu(const struct drm_card *card, const struct gpu_source_options *options)
{
    (void)options;
    return card->renders;
}

/* Whether a driver is known to report no GPU time in fdinfo. Others are read to find out. */
static bool is_silent(const char *driver)
{
    static const char *const silent[] = {"nouveau", "radeon", "lima", "virtio_gpu", "virtio-pci"};
    return text_is_among(driver, silent, sizeof silent / sizeof *silent) ||
           text_begins_with(driver, "nvidia");
}

/* Says why no driver reports the GPU time of this process. */
static int explain_none(
    const char *procfs_root, const struct drm_cards *cards, struct gput_error *error)
{
    char path[PROCFS_PATH_SIZE];
    if (procfs_path(procfs_root, PROCFS_SYSTEM, "driver/nvidia", path) && access(path, F_OK) == 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "NVIDIA's driver reports no GPU time to a program without privileges.");
    if (cards->count > 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "The GPU's driver (%s) reports no GPU time to a program.", cards->cards[0].driver);
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        "This machine has no GPU whose driver reports a program's GPU time to it.");
}

int own_gpu_time_check(const char *procfs_root, const char *sysfs_root, struct gput_error *error)
{
    struct gpu_source_options options = {.procfs_root = procfs_root, .sysfs_root = sysfs_root};
    struct drm_cards cards;
    bool has_memory = drm_cards_find(&options, is_gpu, &cards), is_reported = false;
    for (uint32_t i = 0; i < cards.count; i++)
        is_reported |= !is_silent(cards.cards[i].driver);
    int code = GPUT_OK;
    if (!has_memory)
        code = error_memory(error);
    else if (!is_reported)
        code = explain_none(procfs_root, &cards, error);
    free(cards.cards);
    return code;
}

/* ---- Counting ---- */

static struct fdinfo_engine *find_engine(struct client *client, const char *name)
{
    for (uint32_t i = 0; i < client->n_engines; i++)
        if (strcmp(client->engines[i].name, name) == 0)
            return &client->engines[i];
    return NULL;
}

/* Returns for how long an engine was busy since the last reading. Where cycles are counted, it
 * is their share of the time. */
static int64_t engine_ns(
    const struct fdinfo_engine *now, const struct fdinfo_engine *before, int64_t elapsed_ns)
{
    if (now->total_cycles == 0)
        return (int64_t)(now->busy_ns - (before ? before->busy_ns : 0));
    if (!before || now->total_cycles <= before->total_cycles ||
        now->busy_cycles < before->busy_cycles)
        return 0;
    return (int64_t)((double)(now->busy_cycles - before->busy_cycles) /
                     (double)(now->total_cycles - before->total_cycles) * (double)elapsed_ns);
}

/* Adds what the client's fdinfo says. A counter may fall for a moment: the highest value counts. */
static void count(struct client *client, struct fdinfo *info, int64_t now_ns)
{
    for (uint32_t i = 0; i < info->n_engines; i++) {
        struct fdinfo_engine *engine = &info->engines[i];
        struct fdinfo_engine *before = find_engine(client, engine->name);
        if (before && engine->busy_ns < before->busy_ns)
            engine->busy_ns = before->busy_ns;
        if (before || client->n_engines < FDINFO_MAX_ENGINES) {
            client->busy_ns += engine_ns(engine, before, now_ns - client->read_ns);
            *(before ? before : &client->engines[client->n_engines++]) = *engine;
        }
    }
    client->read_ns = now_ns;
}

/* Counts all cycles of a client that was opened since the last search, once their rate is known. */
static void count_from_zero(struct client *client)
{
    for (uint32_t i = 0; i < client->n_engines; i++)
        client->engines[i].busy_cycles = 0;
}

/* ---- Clients ---- */

/* Reads the fdinfo of a descriptor into `time->info`. */
static bool read_fdinfo(struct own_gpu_time *time, pid_t fd, struct kept_file *file)
{
    char path[PROCFS_PATH_SIZE];
    snprintf(path, sizeof path, "%sinfo/%d", time->descriptors, (int)fd);
    int info_fd = kept_file_fd(file, path, O_RDONLY);
    long length = info_fd >= 0 ? file_reread(info_fd, time->text, sizeof time->text) : -1;
    return length > 0 && fdinfo_parse(time->text, (size_t)length, &time->info) == GPUT_OK;
}

/* amdgpu leaves out engines that were never used. */
static bool reports_time(const struct fdinfo *info)
{
    return info->has_client && (info->n_engines > 0 || strcmp(info->driver, "amdgpu") == 0);
}

static bool is_client(const struct client *client, const struct fdinfo *info)
{
    return info->has_client && client->id == info->client &&
           strcmp(client->pci_address, info->pci_address) == 0;
}

static struct client *find_client(struct own_gpu_time *time)
{
    for (size_t i = 0; i < time->n_clients; i++)
        if (is_client(&time->clients[i], &time->info))
            return &time->clients[i];
    return NULL;
}

static struct client *add_client(struct own_gpu_time *time, int64_t now_ns)
{
    if (time->n_clients == MAX_CLIENTS)
        return NULL;
    struct client *client = &time->clients[time->n_clients++];
    *client = (struct client){.file.fd = -1, .id = time->info.client, .read_ns = now_ns};
    memcpy(client->pci_address, time->info.pci_address, sizeof client->pci_address);
    return client;
}

/* Counts what a descriptor of a card says. False: nothing. A descriptor that was duplicated is the
 * same client. */
static bool take_card(struct own_gpu_time *time, pid_t fd)
{
    struct kept_file file = {.fd = -1};
    bool is_reported = read_fdinfo(time, fd, &file) && reports_time(&time->info);
    int64_t now_ns = clock_monotonic_ns();
    struct client *known = is_reported ? find_client(time) : NULL;
    struct client *client = known || !is_reported ? known : add_client(time, now_ns);
    if (!client || client->is_open) {
        kept_file_close(&file);
        return client;
    }
    kept_file_close(&client->file);
    client->fd = fd;
    client->file = file;
    client->is_open = true;
    count(client, &time->info, now_ns);
    if (!known && time->searched_ns > 0)
        count_from_zero(client);
    return true;
}

/* ---- Searching ---- */

/* A device of a driver that counts elsewhere or not at all: NVIDIA's, ROCm's queues, WSL's GPUs.
 * nvidiactl is open also where only the driver is asked. */
static bool is_silent_device(const char *path)
{
    return (text_begins_with(path, "/dev/nvidia") && strcmp(path, "/dev/nvidiactl") != 0) ||
           strcmp(path, "/dev/kfd") == 0 || strcmp(path, "/dev/dxg") == 0;
}

/* Recognizes a device by its number, which costs a fifth of following the link. */
static bool is_device(pid_t fd)
{
    struct stat there;
    return fstat(fd, &there) == 0 && S_ISCHR(there.st_mode);
}

/* Notes a descriptor if it is one of a card. Returns false if its GPU time cannot be known. */
static bool take_descriptor(struct own_gpu_time *time, int folder, pid_t fd)
{
    char name[16], path[64];
    if (time->is_live && !is_device(fd))
        return true;
    snprintf(name, sizeof name, "%d", (int)fd);
    ssize_t length = readlinkat(folder, name, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    if (text_begins_with(path, "/dev/dri/"))
        return take_card(time, fd);
    return !is_silent_device(path);
}

static int folder_fd(struct own_gpu_time *time)
{
    return kept_file_fd(&time->folder, time->descriptors, O_RDONLY | O_DIRECTORY);
}

/* How many descriptors the process has, by Linux 6.2 and later. */
static int64_t count_descriptors(struct own_gpu_time *time)
{
    struct stat folder;
    return fstat(folder_fd(time), &folder) == 0 ? (int64_t)folder.st_size : -1;
}

/* Goes through the descriptors of this process: it adds new clients, and keeps the time of those
 * that were closed. */
static void search(struct own_gpu_time *time)
{
    struct pid_vector fds = {0};
    int folder = folder_fd(time);
    time->is_unknown = lseek(folder, 0, SEEK_SET) != 0 || procfs_list_fd(folder, &fds) != GPUT_OK;
    for (size_t i = 0; i < time->n_clients; i++)
        time->clients[i].is_open = false;
    for (size_t i = 0; i < fds.count; i++)
        time->is_unknown |= !take_descriptor(time, folder, fds.pids[i]);
    pid_vector_finish(&fds);
    size_t kept = 0;
    for (size_t i = 0; i < time->n_clients; i++) {
        struct client *client = &time->clients[i];
        if (client->is_open) {
            time->clients[kept++] = *client;
            continue;
        }
        time->ended_ns += client->busy_ns;
        kept_file_close(&client->file);
    }
    time->n_clients = kept;
    time->searched_ns = clock_monotonic_ns();
    time->n_descriptors = count_descriptors(time);
}

/* Counts the known clients. False: one is not where it was. */
static bool count_known(struct own_gpu_time *time)
{
    for (size_t i = 0; i < time->n_clients; i++) {
        struct client *client = &time->clients[i];
        if (!read_fdinfo(time, client->fd, &client->file) || !is_client(client, &time->info))
            return false;
        count(client, &time->info, clock_monotonic_ns());
    }
    return true;
}

int64_t own_gpu_time_read(struct own_gpu_time *time)
{
    pthread_mutex_lock(&time->lock);
    bool is_recent = time->n_descriptors == count_descriptors(time) &&
                     clock_monotonic_ns() - time->searched_ns < SEARCH_AGAIN_NS;
    if (!is_recent || !count_known(time))
        search(time);
    int64_t sum_ns = time->ended_ns;
    for (size_t i = 0; i < time->n_clients; i++)
        sum_ns += time->clients[i].busy_ns;
    if (time->is_unknown)
        sum_ns = OWN_GPU_TIME_UNKNOWN;
    pthread_mutex_unlock(&time->lock);
    return sum_ns;
}

/* ---- Opening and closing ---- */

int own_gpu_time_open(const char *procfs_root, const char *sysfs_root, struct own_gpu_time **time,
    struct gput_error *error)
{
    *time = NULL;
    TRY(own_gpu_time_check(procfs_root, sysfs_root, error));
    struct own_gpu_time *opened = calloc(1, sizeof *opened);
    if (!opened)
        return error_memory(error);
    size_t space = sizeof opened->descriptors;
    int length = snprintf(opened->descriptors, space, "%s/self/fd", procfs_root);
    if (length < 0 || (size_t)length >= space) {
        free(opened);
        return error_set(error, GPUT_ERROR_INVALID, "The path of procfs is too long.");
    }
    pthread_mutex_init(&opened->lock, NULL);
    opened->folder.fd = -1;
    struct statfs kind;
    opened->is_live = fstatfs(folder_fd(opened), &kind) == 0 && kind.f_type == PROC_SUPER_MAGIC;
    search(opened);
    *time = opened;
    return GPUT_OK;
}

void own_gpu_time_close(struct own_gpu_time *time)
{
    if (!time)
        return;
    for (size_t i = 0; i < time->n_clients; i++)
        kept_file_close(&time->clients[i].file);
    kept_file_close(&time->folder);
    pthread_mutex_destroy(&time->lock);
    free(time);
}
