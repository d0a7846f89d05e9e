#include "regions/region_logs.h"

#include "../../collectors/region_status.h"
#include "../../collectors/region_values.h"
#include "base/error.h"

#include <gputracker/sub_tracking.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), wanted = strlen(end);
    return length > wanted && strcmp(name + length - wanted, end) == 0;
}

static bool is_log(const char *name)
{
    return ends_with(name, ".gputblocks");
}

/* ---- The status of each process ---- */

/* Adds up the status that one process left. */
static void read_status(int folder, const char *name, struct region_logs_summary *summary)
{
    struct region_status status;
    int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    bool is_whole = read(fd, &status, sizeof status) == sizeof status;
    if (is_whole && strcmp(status.magic, REGION_STATUS_MAGIC) == 0 &&
        status.version == REGION_STATUS_VERSION) {
        summary->processes++;
        summary->has_ompt |= strncmp(status.source, "ompt", sizeof status.source) == 0;
        summary->has_mpi |= strncmp(status.source, "mpi", sizeof status.source) == 0;
        for (size_t i = 0; i < REGION_STATUS_SLOTS; i++) {
            const struct region_status_slot *slot = &status.slots[i];
            for (size_t reason = 0; reason < REGION_UNMATCHED_ENDS; reason++)
                summary->left_out[reason] += slot->left_out[reason];
            summary->unmatched += slot->left_out[REGION_UNMATCHED_ENDS];
        }
        if (status.failure[0] && !summary->failure[0])
            snprintf(summary->failure, sizeof summary->failure, "%.*s",
                (int)sizeof status.failure - 1, status.failure);
    } else if (!is_whole)
        snprintf(summary->failure, sizeof summary->failure,
            "it could not write its files (a full disk, ulimit -f).");
    close(fd);
}

/* ---- Numbers that regions announced ---- */

/* Converts the bits of a double. */
static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns the sums of that name, adding them when they are new. NULL: out of memory. */
static struct region_number *find_number(
    struct region_logs_summary *summary, const struct region_value *row)
{
    for (size_t i = 0; i < summary->n_numbers; i++) {
        if (strcmp(summary->numbers[i].name, row->name) == 0)
            return &summary->numbers[i];
    }
    size_t count = summary->n_numbers + 1;
    struct region_number *numbers = realloc(summary->numbers, count * sizeof *numbers);
    if (!numbers)
        return NULL;
    summary->numbers = numbers;
    summary->n_numbers = count;
    struct region_number *number = &numbers[count - 1];
    *number = (struct region_number){.min = double_of(row->min), .max = double_of(row->max)};
    snprintf(number->name, sizeof number->name, "%s", row->name);
    snprintf(number->unit, sizeof number->unit, "%s", row->unit);
    for (char *at = number->name; *at; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    }
    return number;
}

/* Adds the values of one process to the sums of their name. */
static void add_number(struct region_logs_summary *summary, struct region_value *row)
{
    row->name[sizeof row->name - 1] = row->unit[sizeof row->unit - 1] = '\0';
    struct region_number *number = row->is_written ? find_number(summary, row) : NULL;
    if (!number)
        return;
    number->count += row->count;
    number->sum += double_of(row->sum);
    if (double_of(row->min) < number->min)
        number->min = double_of(row->min);
    if (double_of(row->max) > number->max)
        number->max = double_of(row->max);
}

static int by_sum(const void *left, const void *right)
{
    const struct region_number *a = left, *b = right;
    return a->sum > b->sum ? -1 : a->sum < b->sum;
}

void region_logs_summary_finish(struct region_logs_summary *summary)
{
    free(summary->numbers);
    summary->numbers = NULL;
    summary->n_numbers = 0;
}

/* ---- The logs ---- */

struct logs {
    char **paths;
    size_t count;
    size_t capacity;
};

/* Adds a log to the list. Returns false without memory. */
static bool add_log(struct logs *logs, const char *folder, const char *name)
{
    if (logs->count == logs->capacity) {
        size_t capacity = logs->capacity ? logs->capacity * 2 : 16;
        char **paths = realloc(logs->paths, capacity * sizeof *paths);
        if (!paths)
            return false;
        logs->paths = paths;
        logs->capacity = capacity;
    }
    if (asprintf(&logs->paths[logs->count], "%s/%s", folder, name) < 0)
        return false;
    logs->count++;
    return true;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Whether a file is regular: the command may have made a pipe, and opening it would wait for a
 * writer. */
static bool is_regular(int folder, const char *name)
{
    struct stat info;
    return fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);
}

/* Finds the logs of all processes, and adds up their statuses and numbers. */
static int read_folder(const char *folder, struct logs *logs, struct region_logs_summary *summary,
    struct gput_error *error)
{
    DIR *opened = opendir(folder);
    const struct dirent *entry;
    bool failed = false;
    while (opened && !failed && (entry = readdir(opened)) != NULL) {
        if (is_log(entry->d_name) && !is_regular(dirfd(opened), entry->d_name)) {
            summary->replaced++;
        } else if (is_log(entry->d_name)) {
            failed = !add_log(logs, folder, entry->d_name);
            summary->has_regions |= strncmp(entry->d_name, "phases", 6) != 0;
        }
        if (ends_with(entry->d_name, ".status"))
            read_status(dirfd(opened), entry->d_name, summary);
        else if (ends_with(entry->d_name, ".values")) {
            /* Add the numbers of one process. */
            struct region_values *values = malloc(sizeof *values);
            int fd = openat(
                dirfd(opened), entry->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
            bool is_whole = values && fd >= 0 && read(fd, values, sizeof *values) == sizeof *values;
            if (is_whole && memcmp(values->magic, REGION_VALUES_MAGIC, sizeof values->magic) == 0 &&
                values->version == REGION_VALUES_VERSION) {
                for (uint32_t i = 0; i < values->used && i < REGION_VALUES_MAX; i++)
                    add_number(summary, &values->rows[i]);
            }
            if (fd >= 0)
                close(fd);
            free(values);
        }
    }
    if (opened)
        closedir(opened);
    if (failed)
        return error_memory(error);
    if (summary->n_numbers > 0)
        qsort(summary->numbers, summary->n_numbers, sizeof *summary->numbers, by_sum);
    if (logs->count > 0)
        qsort(logs->paths, logs->count, sizeof *logs->paths, by_name);
    return GPUT_OK;
}

int region_logs_merge(const char *folder, const char *path, void (*warn)(void *, const char *),
    void *user, struct region_logs_summary *summary, struct gput_error *error)
{
    struct logs logs = {0};
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    *summary = (struct region_logs_summary){0};
    options.mix = true;
    options.warn = warn;
    options.user = user;
    int code = read_folder(folder, &logs, summary, error);
    if (code == GPUT_OK && logs.count > 0)
        code = gput_sub_tracking_combine(
            path, (const char *const *)logs.paths, logs.count, &options, error);
    summary->logs = logs.count;
    for (size_t i = 0; i < logs.count; i++)
        free(logs.paths[i]);
    free(logs.paths);
    return code;
}

void region_logs_remove(const char *folder)
{
    DIR *opened = opendir(folder);
    const struct dirent *entry;
    while (opened && (entry = readdir(opened)) != NULL) {
        if (is_log(entry->d_name) || ends_with(entry->d_name, ".status") ||
            ends_with(entry->d_name, ".values") || ends_with(entry->d_name, ".fits"))
            unlinkat(dirfd(opened), entry->d_name, 0);
    }
    if (opened)
        closedir(opened);
}
