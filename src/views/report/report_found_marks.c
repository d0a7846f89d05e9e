#include "views/report/report_found_marks.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "files/marks/block_path.h"
#include "files/marks/sub_tracking_file.h"
#include "machine/rank/rank.h"
#include "views/report/loaders/report_loader.h"
#include "views/report/loaders/report_marks.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The kernel gives starts of processes in hundredths of a second, and times of files by its tick.
 */
#define SLACK_NS (NS_PER_SECOND / 50)

struct found {
    char **paths; /* owned */
    size_t count;
};

static void found_finish(struct found *found)
{
    for (size_t i = 0; i < found->count; i++)
        free(found->paths[i]);
    free(found->paths);
}

/* Whether a file was written by what began at that time. */
static bool was_written_since(const char *path, int64_t ns)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    return (int64_t)info.st_mtim.tv_sec * NS_PER_SECOND + info.st_mtim.tv_nsec >= ns - SLACK_NS;
}

/* Whether the first mark is one of a process of the session. */
static bool is_of_session(const char *path, const struct gput_processes *processes)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct sub_tracking_reader *reader = NULL;
    struct sub_tracking_mark mark;
    size_t count = 0;
    bool is_of_session = false;
    if (names && sub_tracking_reader_open(path, names, &reader, NULL) == GPUT_OK)
        sub_tracking_reader_next(reader, &mark, 1, &count, NULL);
    for (size_t i = 0; count > 0 && i < gput_processes_count(processes) && !is_of_session; i++)
        is_of_session = gput_processes_get(processes, i)->pid == mark.process_id;
    sub_tracking_reader_close(reader);
    sub_tracking_names_destroy(names);
    return is_of_session;
}

/* The one name that a session's processes share; NULL: they do not, or no memory. */
static char *shared_name(const char *pattern)
{
    struct gput_rank *rank;
    char *path = NULL;
    if (block_path_has_process_id(pattern) || gput_rank_create(NULL, &rank, NULL) != GPUT_OK)
        return NULL;
    gput_rank_path(rank, pattern, &path, NULL);
    gput_rank_destroy(rank);
    return path;
}

/* Finds the sub-tracking files that the processes of a session wrote. Other files have such names
 * too: of other ranks, and of sessions at the same time. */
static int find(struct found *found, const char *pattern, const struct gput_processes *processes,
    struct gput_error *error)
{
    int64_t first_ns = INT64_MAX;
    glob_t names = {0};
    char *glob_pattern = rank_path_glob(pattern), *shared = shared_name(pattern);
    for (size_t i = 0; i < gput_processes_count(processes); i++) {
        const struct gput_process *process = gput_processes_get(processes, i);
        first_ns = process->start_ns < first_ns ? process->start_ns : first_ns;
    }
    bool failed = !glob_pattern || glob(glob_pattern, 0, NULL, &names) == GLOB_NOSPACE;
    for (size_t i = 0; i < names.gl_pathc && !failed; i++) {
        const char *path = names.gl_pathv[i];
        if (!was_written_since(path, first_ns) ||
            report_marks_loader.probe(path, false, NULL) != GPUT_OK ||
            !((shared && strcmp(path, shared) == 0) || is_of_session(path, processes)))
            continue;
        char *kept = strdup(path);
        failed = !kept || !ARRAY_EXTEND(found->paths, found->count);
        if (failed)
            free(kept);
        else
            found->paths[found->count++] = kept;
    }
    globfree(&names);
    free(glob_pattern);
    free(shared);
    return failed ? error_memory(error) : GPUT_OK;
}

int report_found_marks_add(
    struct report_session *session, const char *pattern, struct gput_error *error)
{
    CLEANUP(found_finish) struct found found = {0};
    struct gput_error reason;
    if (!pattern || !pattern[0] || !session->known.processes || doc_get(session->doc, "calls"))
        return GPUT_OK;
    TRY(find(&found, pattern, session->known.processes, error));
    int code = report_marks_add(session, found.paths, found.count, &reason);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    if (code != GPUT_OK)
        report_session_warn(session, reason.message);
    return GPUT_OK;
}
