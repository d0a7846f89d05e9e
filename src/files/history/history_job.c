#include "files/history/history_job.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_ROW_BYTES (1 << 20)
#define MAX_AGE_SECONDS (30 * 24 * 3600)
#define ROW_EXTENSION ".json"

/* Appends a text as it can be in the name of a file. */
static void append_plain(struct str *path, const char *text)
{
    for (const char *at = text ? text : ""; *at; at++) {
        bool is_plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                        (*at >= 'A' && *at <= 'Z') || *at == '-';
        str_append_char(path, is_plain ? *at : '_');
    }
}

/* Composes the folder of the job; false: the ranks have no id in common. A job that was started
 * again has another one: rows of ranks that ended before are not of it. */
static bool compose_folder(struct str *path, const struct history_folder *folder,
    const struct history_row *row, double restarts)
{
    static const enum history_column_id ids[] = {
        HISTORY_LAUNCHER, HISTORY_JOB_ID, HISTORY_TASK, HISTORY_STEP, HISTORY_RUN};
    str_printf(path, "%s/history.jobs/", folder->path);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        append_plain(path, history_text(row, ids[i]));
        str_append_char(path, '.');
    }
    str_printf(path, "%.0f", history_number(row, HISTORY_WORLD_SIZE));
    if (restarts > 0)
        str_printf(path, ".again%.0f", restarts);
    return history_text(row, HISTORY_JOB_ID) || history_text(row, HISTORY_RUN);
}

/* How the figures of ranks are put together; all others are those of the first rank. */
enum rule { RULE_SUM, RULE_MAX, RULE_MIN };
static const struct {
    enum history_column_id id;
    enum rule rule;
} rules[] = {
    {HISTORY_START_SECONDS, RULE_MIN},
    {HISTORY_EXIT_STATUS, RULE_MAX},
    {HISTORY_SIGNAL, RULE_MAX},
    {HISTORY_OOM_KILLED, RULE_MAX}, /* ranks may be in one control group */
    {HISTORY_LIMIT_ENFORCED, RULE_MAX},
    {HISTORY_CPU, RULE_SUM},
    {HISTORY_CPU_IS_EXACT, RULE_MIN},
    {HISTORY_USER_CPU, RULE_SUM},
    {HISTORY_SYSTEM_CPU, RULE_SUM},
    {HISTORY_CORES, RULE_MAX},
    {HISTORY_THREADS, RULE_MAX},
    {HISTORY_RAM, RULE_MAX},
    {HISTORY_GPUS_USED, RULE_MAX},
    {HISTORY_GPU_RAM, RULE_MAX},
    {HISTORY_GPU_SECONDS, RULE_SUM},
    {HISTORY_GPU_BUSY_SECONDS, RULE_SUM},
    {HISTORY_ENERGY, RULE_SUM},
    {HISTORY_STORAGE_READ, RULE_SUM},
    {HISTORY_STORAGE_WRITTEN, RULE_SUM},
    {HISTORY_PROCESSES, RULE_SUM},
};

/* Puts another rank's figures into a row. What one of them does not know, a sum does not know. */
static void add_figures(struct history_row *job, const struct history_row *rank)
{
    double end = history_number(job, HISTORY_START_SECONDS) + history_number(job, HISTORY_WALL);
    double other = history_number(rank, HISTORY_START_SECONDS) + history_number(rank, HISTORY_WALL);
    const char *last = history_text(rank, HISTORY_END);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        double *value = &job->values[rules[i].id].number;
        double more = history_number(rank, rules[i].id);
        *value = rules[i].rule == RULE_SUM   ? *value + more
                 : rules[i].rule == RULE_MAX ? fmax(*value, more)
                                             : fmin(*value, more);
    }
    job->values[HISTORY_WALL].number =
        fmax(end, other) - history_number(job, HISTORY_START_SECONDS);
    if (other > end && last)
        history_row_set_text(job, HISTORY_END, last);
    if (!history_text(job, HISTORY_LIMIT_PASSED))
        history_row_set_text(job, HISTORY_LIMIT_PASSED, history_text(rank, HISTORY_LIMIT_PASSED));
}

/* Sets what the ranks of the fullest machine may have needed together, and how many machines there
 * are. The peaks of ranks need not coincide, and ranks share pages: their sum is an upper bound. */
static void set_node_figures(struct history_row *job, const struct history_row *ranks, size_t count)
{
    double most = 0, n_nodes = 0;
    for (size_t i = 0; i < count; i++) {
        const char *host = history_text(&ranks[i], HISTORY_BOOT_ID);
        double sum = 0;
        bool is_first = true;
        for (size_t j = 0; j < count; j++) {
            const char *other = history_text(&ranks[j], HISTORY_BOOT_ID);
            if (strcmp(host ? host : "", other ? other : "") != 0)
                continue;
            is_first &= j >= i;
            sum += history_number(&ranks[j], HISTORY_RAM);
        }
        n_nodes += is_first;
        most = sum > most || isnan(sum) ? sum : most; /* of one that is not known, none is */
    }
    job->values[HISTORY_NODE_RAM].number = most;
    job->values[HISTORY_RAM_AT_MOST].number = NAN;
    job->values[HISTORY_GROUP_RAM].number = NAN;
    job->values[HISTORY_MACHINE_ENERGY].number = NAN;
    job->values[HISTORY_GPU_RAM_AT_MOST].number = NAN;
    job->values[HISTORY_NODES].number = n_nodes;
    job->values[HISTORY_RANKS].number = (double)count;
}

/* Reads the rows of a folder; the caller finishes each, and frees the array. */
static int read_ranks(const char *path, struct dirent **entries, size_t count,
    struct history_row *ranks, struct gput_error *error)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP_STR struct str name = {0}, text = {0};
        str_printf(&name, "%s/%s", path, entries[i]->d_name);
        if (name.failed)
            return error_memory(error);
        TRY(file_read_regular(name.data, MAX_ROW_BYTES, &text, error));
        TRY(history_row_read(&ranks[i], str_text(&text), text.length, name.data, error));
    }
    return GPUT_OK;
}

/* Removes a folder of rows. */
static void remove_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, file_is_visible, NULL);
    for (int i = 0; i < count; i++) {
        CLEANUP_STR struct str name = {0};
        str_printf(&name, "%s/%s", path, entries[i]->d_name);
        if (!name.failed)
            unlink(name.data);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    rmdir(path);
}

/* Makes the row that of the job, of all rows in the folder. */
static int make_job(const char *path, struct dirent **entries, size_t count,
    struct history_row *row, struct gput_error *error)
{
    CLEANUP_FREE struct history_row *ranks = calloc(count, sizeof *ranks);
    CLEANUP_STR struct str id = {0};
    if (!ranks)
        return error_memory(error);
    for (size_t i = 0; i < count; i++)
        history_row_init(&ranks[i]);
    int code = read_ranks(path, entries, count, ranks, error);
    if (code == GPUT_OK) {
        str_printf(&id, "job-%s", history_text(&ranks[0], HISTORY_SESSION_ID));
        history_row_finish(row);
        *row = ranks[0];
        history_row_init(&ranks[0]);
        struct history_row first = *row; /* its figures, before the others are added */
        for (size_t i = 1; i < count; i++)
            add_figures(row, &ranks[i]);
        first.values[HISTORY_LIMIT_PASSED].text = NULL;
        ranks[0] = first;
        set_node_figures(row, ranks, count);
        history_row_init(&ranks[0]);
        if (id.failed || !history_row_set_text(row, HISTORY_SESSION_ID, id.data))
            code = error_memory(error);
    }
    for (size_t i = 0; i < count; i++)
        history_row_finish(&ranks[i]);
    return code;
}

/* Whether a file is the row of a rank. */
static int is_row(const struct dirent *entry)
{
    return text_ends_with(entry->d_name, ROW_EXTENSION);
}

/* Makes the job's row where all ranks are there and no other one does so at this moment: the one
 * that renames the folder. */
static int complete(const char *path, struct history_row *row, enum history_job_part *part,
    struct gput_error *error)
{
    CLEANUP_STR struct str own = {0};
    struct dirent **entries;
    int count = scandir(path, &entries, is_row, file_by_name), code = GPUT_OK;
    if (count < 0)
        return errno == ENOENT ? GPUT_OK : error_set_errno(error, errno, "Cannot read %s", path);
    str_printf(&own, "%s.%ld.done", path, (long)getpid());
    if (count >= history_number(row, HISTORY_WORLD_SIZE) && !own.failed &&
        rename(path, own.data) == 0) {
        code = make_job(own.data, entries, (size_t)count, row, error);
        if (code == GPUT_OK)
            *part = HISTORY_JOB_COMPLETE;
        remove_folder(own.data);
    }
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
    return code;
}

int history_job_add(const struct history_folder *folder, struct history_row *row, double rank,
    double restarts, enum history_job_part *part, struct gput_error *error)
{
    CLEANUP_STR struct str path = {0}, name = {0}, text = {0};
    *part = HISTORY_NO_RANK;
    if (isnan(rank) || history_number(row, HISTORY_WORLD_SIZE) <= 1)
        return GPUT_OK;
    *part = HISTORY_WAITS;
    if (isnan(history_number(row, HISTORY_WORLD_SIZE)) ||
        !compose_folder(&path, folder, row, restarts))
        return GPUT_OK;
    str_printf(&name, "%s/%08.0f" ROW_EXTENSION, str_text(&path), rank);
    history_row_write(row, &text);
    if (path.failed || name.failed || text.failed)
        return error_memory(error);
    TRY(history_folder_make(path.data, error));
    TRY(history_folder_write(name.data, text.data, text.length, error));
    return complete(path.data, row, part, error);
}

void history_job_forget_old(const struct history_folder *folder)
{
    CLEANUP_STR struct str jobs = {0};
    struct dirent **entries;
    str_printf(&jobs, "%s/history.jobs", folder->path);
    int count = jobs.failed ? -1 : scandir(jobs.data, &entries, file_is_visible, NULL);
    for (int i = 0; i < count; i++) {
        CLEANUP_STR struct str path = {0};
        struct stat info;
        str_printf(&path, "%s/%s", jobs.data, entries[i]->d_name);
        if (!path.failed && stat(path.data, &info) == 0 &&
            time(NULL) - info.st_mtime > MAX_AGE_SECONDS)
            remove_folder(path.data);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}
