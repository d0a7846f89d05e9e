#include "formats/results/results_file.h"

#include "base/file.h"
#include "base/file_limit.h"
#include "base/file_target.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC "gpu-tracker res\n"
#define FORMAT_VERSION 1
#define COPIES 2

/* A copy in the file; results are stored as in memory, so that only the same version on the same
 * architecture reads them. */
struct copy {
    char magic[16];
    uint32_t format_version;
    uint32_t size;     /* of the results */
    uint32_t checksum; /* CRC-32 of all that follows it */
    char version[20];  /* of gpu-tracker */
    uint64_t number;   /* number of the update: the higher of two valid copies is the later */
    struct gput_results results;
};

struct results_file {
    char *path;
    int fd;
    uint64_t updates;
    struct copy copy; /* the last one */
};

/* Bytes of results up to the last used GPU: unused ones are most of the struct. */
static size_t bytes_of_results(const struct gput_results *results)
{
    uint32_t gpus = results->n_gpus < GPUT_MAX_GPUS ? results->n_gpus : GPUT_MAX_GPUS;
    return offsetof(struct gput_results, gpus) + gpus * sizeof results->gpus[0];
}

static size_t used_bytes(const struct copy *copy)
{
    return offsetof(struct copy, results) + bytes_of_results(&copy->results);
}

static uint32_t checksum_of(const struct copy *copy)
{
    size_t start = offsetof(struct copy, version);
    return (uint32_t)crc32(0, (const Bytef *)copy + start, (uInt)(used_bytes(copy) - start));
}

/* ---- Writing ---- */

/* A random (version 4) UUID. */
static void append_uuid(struct str *text)
{
    unsigned char bytes[16] = {0};
    (void)!getrandom(bytes, sizeof bytes, 0);
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof bytes; i++) {
        str_append(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
        str_printf(text, "%02x", bytes[i]);
    }
}

/* The absolute path; NULL without memory. */
static char *absolute_path(const char *path)
{
    struct str text = {0};
    if (!path || path[0] != '/') {
        char *folder = getcwd(NULL, 0);
        if (folder)
            str_printf(&text, "%s/", folder);
        free(folder);
    }
    if (path)
        str_append(&text, path);
    else {
        str_append(&text, ".gpu-tracker_");
        append_uuid(&text);
        str_append(&text, ".results");
    }
    return str_steal(&text);
}

/*
 * Truncates an existing file of ours, which may be replaced. A new or empty file is not truncated:
 * ext4 takes that for a replacement, and close() would wait for the disk.
 */
static int empty(const struct results_file *file, struct gput_error *error)
{
    char magic[sizeof MAGIC] = "";
    ssize_t got = pread(file->fd, magic, sizeof MAGIC - 1, 0);
    if (got == 0)
        return GPUT_OK;
    if (got != sizeof MAGIC - 1 || memcmp(magic, MAGIC, sizeof MAGIC - 1) != 0)
        return error_set(error, GPUT_ERROR_EXISTS,
            "File %s already exists and is no resource usage file. Please name another one.",
            file->path);
    if (ftruncate(file->fd, 0) != 0)
        return error_set_errno(error, errno, "Cannot write %s", file->path);
    return GPUT_OK;
}

static int open_file(struct results_file *file, int how, struct gput_error *error)
{
    return file_target_open(file->path, O_RDWR | O_CREAT | how, 0600, &file->fd, error);
}

static void begin_copy(struct copy *copy)
{
    memcpy(copy->magic, MAGIC, sizeof copy->magic);
    strncpy(copy->version, GPUT_VERSION, sizeof copy->version - 1);
    copy->format_version = FORMAT_VERSION;
    copy->size = sizeof copy->results;
}

int results_file_create(const char *path, struct results_file **file, struct gput_error *error)
{
    *file = NULL;
    struct results_file *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->fd = -1;
    made->path = absolute_path(path);
    begin_copy(&made->copy);
    int code = made->path ? GPUT_OK : error_memory(error);
    if (code == GPUT_OK && path)
        code = open_file(made, 0, error);
    if (code == GPUT_OK && path)
        code = empty(made, error);
    if (code == GPUT_OK)
        *file = made;
    else
        results_file_close(made);
    return code;
}

const char *results_file_path(const struct results_file *file)
{
    return file->path;
}

void results_file_update(struct results_file *file, const struct gput_results *results)
{
    if (!file || (file->fd < 0 && open_file(file, O_EXCL, NULL) != GPUT_OK))
        return;
    struct copy *copy = &file->copy;
    copy->number = file->updates + 1;
    memcpy(&copy->results, results, bytes_of_results(results));
    copy->checksum = checksum_of(copy);

    off_t at = (off_t)(file->updates % COPIES * sizeof *copy);
    size_t length = used_bytes(copy);
    struct file_limit limit;
    file_limit_block_signal(&limit);
    if (pwrite(file->fd, copy, length, at) == (ssize_t)length)
        file->updates++;
    file_limit_unblock_signal(&limit);
}

void results_file_remove(struct results_file *file)
{
    if (file && file->fd >= 0)
        unlink(file->path);
    results_file_close(file);
}

void results_file_close(struct results_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    free(file);
}

/* ---- Reading ---- */

static bool copy_is_whole(const struct copy *copy)
{
    return memcmp(copy->magic, MAGIC, sizeof copy->magic) == 0 &&
           copy->format_version == FORMAT_VERSION && copy->size == sizeof copy->results &&
           strncmp(copy->version, GPUT_VERSION, sizeof copy->version) == 0 &&
           copy->checksum == checksum_of(copy);
}

static void terminate(char *text, size_t size)
{
    text[size - 1] = '\0';
}

/* A byte of a file that is read as a bool: values other than 0 and 1 are undefined behaviour. */
static bool is_bool(const bool *flag)
{
    unsigned char byte;
    memcpy(&byte, flag, 1);
    return byte <= 1;
}

static bool units_are_sane(const struct gput_results *results)
{
    const struct gput_static_data *data = &results->static_data;
    return (unsigned)data->ram_unit <= GPUT_TERABYTES &&
           (unsigned)data->gpu_ram_unit <= GPUT_TERABYTES &&
           (unsigned)data->time_unit <= GPUT_DAYS &&
           (unsigned)results->energy.unit <= GPUT_KILOWATT_HOURS;
}

static bool limits_are_sane(struct gput_results *results)
{
    bool sane = is_bool(&results->limit.enforced);
    terminate(results->limit.kind_name, sizeof results->limit.kind_name);
    for (uint32_t i = 0; i < results->n_later_limits; i++) {
        struct gput_limit_passed *limit = &results->later_limits[i];
        terminate(limit->kind_name, sizeof limit->kind_name);
        sane &= is_bool(&limit->enforced);
    }
    return sane;
}

static bool sources_are_sane(struct gput_results *results)
{
    bool sane = true;
    for (uint32_t i = 0; i < results->n_sources; i++) {
        struct gput_source *source = &results->sources[i];
        terminate(source->name, sizeof source->name);
        terminate(source->reason, sizeof source->reason);
        sane &= (unsigned)source->state <= GPUT_SOURCE_UNAVAILABLE;
    }
    return sane;
}

static bool gpus_are_sane(struct gput_results *results)
{
    bool sane = true;
    for (uint32_t i = 0; i < results->n_gpus; i++) {
        struct gput_gpu *gpu = &results->gpus[i];
        terminate(gpu->uuid, sizeof gpu->uuid);
        terminate(gpu->name, sizeof gpu->name);
        terminate(gpu->vendor, sizeof gpu->vendor);
        terminate(gpu->pci_address, sizeof gpu->pci_address);
        terminate(gpu->missing, sizeof gpu->missing);
        sane &= is_bool(&gpu->selected);
    }
    return sane;
}

static void terminate_texts(struct gput_results *results)
{
    terminate(results->peaks.main.source, sizeof results->peaks.main.source);
    terminate(results->peaks.descendants.source, sizeof results->peaks.descendants.source);
    terminate(results->peaks.combined.source, sizeof results->peaks.combined.source);
    terminate(results->peaks.control_group.source, sizeof results->peaks.control_group.source);
    terminate(results->gpu_peaks.main.source, sizeof results->gpu_peaks.main.source);
    terminate(results->gpu_peaks.descendants.source, sizeof results->gpu_peaks.descendants.source);
    terminate(results->gpu_peaks.combined.source, sizeof results->gpu_peaks.combined.source);
    terminate(results->accounting.processes_missed_reason,
        sizeof results->accounting.processes_missed_reason);
    terminate(results->energy.co2e_source, sizeof results->energy.co2e_source);
}

/*
 * The checksum proves that the bytes are as written, not that we wrote them. Each member of struct
 * gput_results that is an index, a count or an enum is checked here, and each text terminated:
 * later code does not check them.
 */
static bool results_are_sane(struct gput_results *results)
{
    if (results->n_later_limits > GPUT_LIMIT_KINDS - 1 || results->n_sources > GPUT_MAX_SOURCES ||
        results->n_gpus > GPUT_MAX_GPUS || !units_are_sane(results))
        return false;
    terminate_texts(results);
    return limits_are_sane(results) && sources_are_sane(results) && gpus_are_sane(results);
}

int results_file_parse(const char *path, const struct str *content, struct gput_results *results,
    struct gput_error *error)
{
    uint64_t best = 0;
    if (content->length < sizeof MAGIC - 1 || memcmp(content->data, MAGIC, sizeof MAGIC - 1) != 0)
        return error_set(
            error, GPUT_ERROR_FORMAT, "%s is no resource usage file of gpu-tracker.", path);
    for (size_t i = 0, at = 0; i < COPIES && at < content->length; i++, at += sizeof(struct copy)) {
        struct copy copy = {0};
        size_t length = content->length - at;
        memcpy(&copy, content->data + at, length < sizeof copy ? length : sizeof copy);
        if (length >= used_bytes(&copy) && copy_is_whole(&copy) && copy.number > best &&
            results_are_sane(&copy.results)) {
            best = copy.number;
            *results = copy.results;
        }
    }
    if (best == 0)
        return error_set(error, GPUT_ERROR_FORMAT,
            "%s holds no results that gpu-tracker " GPUT_VERSION
            " can read: it is damaged, or another version wrote it.",
            path);
    return GPUT_OK;
}
