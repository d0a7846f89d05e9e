#include "report/report_found_marks.h"

#include "base/array.h"
#include "base/clock.h"
#include "blocks/block_path.h"
#include "report/report_loader.h"
#include "report/report_marks.h"

#include <stdlib.h>
#include <sys/stat.h>

/* The kernel gives starts of processes in hundredths of a second, and times of files by its tick.
 */
#define SLACK_NS (NS_PER_SECOND / 50)

struct found {
    char **paths; /* owned */
    size_t count;
};

static void finish(struct found *found)
{
    for (size_t i = 0; i < found->count; i++)
        free(found->paths[i]);
    free(found->paths);
}

static bool was_written_since(const char *path, int64_t ns)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return false;
    return (int64_t)info.st_mtim.tv_sec * NS_PER_SECOND + info.st_mtim.tv_nsec >= ns - SLACK_NS;
}

/* Takes the path, NULL for want of memory. */
static int add_if_written(
    struct found *found, char *path, int64_t since_ns, struct gput_error *error)
{
    struct gput_error no_matter; /* other files have such names too */
    bool is_wanted = path && was_written_since(path, since_ns) &&
                     report_marks_loader.probe(path, false, &no_matter) == GPUT_OK;
    bool failed = !path || (is_wanted && !ARRAY_EXTEND(found->paths, found->count));
    if (is_wanted && !failed) {
        found->paths[found->count++] = path;
        return GPUT_OK;
    }
    free(path);
    return failed ? error_memory(error) : GPUT_OK;
}

static int find(struct found *found, const char *pattern, const struct gput_processes *processes,
    struct gput_error *error)
{
    bool is_shared = !block_path_has_process_id(pattern);
    size_t count = gput_processes_count(processes);
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct gput_process *process = gput_processes_get(processes, i);
        if (process->start_ns < first_ns)
            first_ns = process->start_ns;
        /* A fork of the writer adds its own id where the pattern has none. */
        TRY(add_if_written(found,
            is_shared ? block_path_with_process_id(pattern, process->pid, 0)
                      : block_path_expand(pattern, process->pid),
            process->start_ns, error));
    }
    return is_shared && count > 0
               ? add_if_written(found, block_path_expand(pattern, 0), first_ns, error)
               : GPUT_OK;
}

int report_found_marks_add(
    struct report_session *session, const char *pattern, struct gput_error *error)
{
    struct found found = {0};
    struct gput_error reason;
    if (!pattern || !pattern[0] || !session->known.processes || doc_get(session->doc, "calls"))
        return GPUT_OK;
    int code = find(&found, pattern, session->known.processes, error);
    if (code == GPUT_OK)
        code = report_marks_add(session, found.paths, found.count, &reason);
    finish(&found);
    if (code == GPUT_OK || code == GPUT_ERROR_MEMORY)
        return code == GPUT_OK ? GPUT_OK : error_memory(error);
    report_session_warn(session, reason.message);
    return GPUT_OK;
}
