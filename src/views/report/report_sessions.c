#include "views/report/report_sessions.h"

#include "analysis/analyze/comparison.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/table.h"
#include "files/marks/block_path.h"
#include "files/marks/sub_tracking_file.h"
#include "machine/rank/rank.h"
#include "views/report/document/report_processes.h"
#include "views/report/document/report_session.h"
#include "views/report/loaders/report_kineto.h"
#include "views/report/loaders/report_loader.h"
#include "views/report/loaders/report_marks.h"
#include "views/report/report_cards.h"
#include "views/report/report_comparison.h"

#include <gputracker/processes.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

/*
 * Adds the marks of the session's processes. `pattern` (as of gput_blocks_open()) gives each
 * process the name of its file. Files that were not written since that process started are of
 * others. A file that cannot be read is skipped with a warning. Errors: GPUT_ERROR_MEMORY.
 */
static int add_found_marks(
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

/* The share of the work that is done when all is read. */
#define READ_SHARE 0.8

/* Turns an error into a warning where it is damage of a file that was found in a folder: that costs
 * the file alone. */
static int pardon(struct report_session *session, const struct report_planned *planned, int code,
    const struct gput_error *reason, struct gput_error *error)
{
    if (code == GPUT_OK)
        return GPUT_OK;
    if (planned->folder == 0 || code != GPUT_ERROR_FORMAT)
        return error_copy(error, reason);
    report_session_warn(session, reason->message);
    return GPUT_OK;
}

/* Says of a session that its file has no end of it. Results that are given may be of a session that
 * goes on. */
static void add_unfinished(struct report_session *session)
{
    const struct gput_results *read =
        session->results ? session->loaded_results : session->described;
    CLEANUP_STR struct str text = {0};
    if (!read || !read->identity.start[0] || read->identity.end[0])
        return;
    doc_add_bool(session->identity, "is_unfinished", true);
    str_printf(&text,
        "%s: the session did not finish: it was killed, or still runs. What it used after its last "
        "sample is not known.",
        session->path);
    report_session_warn(session, str_text(&text));
}

/* Reads all files of a session: its results, its samples and its marks. */
static int load_session(
    struct report_session *session, const struct report_planned *planned, struct gput_error *error)
{
    struct gput_error reason;
    int code = GPUT_OK;
    report_session_begin(session, planned->loader ? planned->loader->kind : "results");
    if (planned->results && !session->results)
        code = report_results_read(session, planned->results, &reason);
    TRY(pardon(session, planned, code, &reason, error));
    code = planned->loader ? planned->loader->load(session, &reason) : GPUT_OK;
    TRY(pardon(session, planned, code, &reason, error));
    code = report_marks_add(session, planned->marks, planned->n_marks, &reason);
    TRY(pardon(session, planned, code, &reason, error));
    TRY(add_found_marks(session, planned->given.blocks_pattern, error));
    if (session->curves_only)
        return GPUT_OK;

    /* Add the processes of a session that has just ended, unless its file has them. */
    CLEANUP(report_processes_finish) struct report_processes processes = {0};
    CLEANUP(gput_tables_destroy_pointer) struct gput_tables *tables = NULL;
    if (session->known.processes && !doc_get(session->doc, "process_list")) {
        TRY(gput_processes_tables(session->known.processes, &tables, error));
        report_processes_init(&processes, session);
        TRY(report_processes_add(&processes, gput_tables_find(tables, "processes"), error));
        TRY(report_processes_end(&processes, error));
    }

    add_unfinished(session);

    /* Add what the caller knows of the command: what it was, and how it ended. */
    const struct gput_results_render_options *known = &session->known;
    CLEANUP_STR struct str line = {0};
    for (const char *const *word = known->command; word && *word; word++) {
        str_append(&line, word == known->command ? "" : " ");
        str_append(&line, *word);
    }
    if (known->command)
        doc_add_string(session->identity, "command", str_text(&line));
    if (known->has_status && WIFEXITED(known->status))
        doc_add_int(session->identity, "exit_status", WEXITSTATUS(known->status));
    if (known->has_status && WIFSIGNALED(known->status))
        doc_add_int(session->identity, "signal", WTERMSIG(known->status));
    if (session->results)
        doc_add_double(session->identity, "seconds", session->results->elapsed_seconds);
    return report_cards_add(session, error);
}

/* Loads a session of the plan into the document, and adds it to what is compared. */
static int add_session(struct report_payload *payload, const struct gput_report_options *options,
    const struct report_plan *plan, size_t index, bool curves_only, const long *ranks,
    struct gput_comparison *comparison, struct gput_error *error)
{
    const struct report_planned *planned = &plan->sessions[index];
    struct report_session session = {
        .payload = payload,
        .options = options,
        .curves_only = curves_only,
        .known = gput_results_render_options_default(),
        .name = planned->name,
        .rank = ranks ? ranks[index] : REPORT_NO_RANK,
        .path = planned->path,
        .is_temporary = planned->given.is_temporary,
        .results = planned->given.results,
        .clock_offset_seconds = planned->given.clock_offset_seconds,
        .clock_note = planned->given.clock_note,
        .progress_from = READ_SHARE * (double)index / (double)plan->count,
        .progress_span = READ_SHARE / (double)plan->count,
    };
    int code = sized_read(&session.known, sizeof session.known, planned->given.report, error);
    if (code == GPUT_OK)
        code = load_session(&session, planned, error);
    if (code == GPUT_OK && plan->count > 1 && !curves_only)
        code = report_comparison_add(comparison, &session, error);
    report_session_end(&session);
    return code;
}

int report_sessions_add(struct report_payload *payload, const struct gput_report_options *options,
    const struct report_plan *plan, bool curves_only, struct gput_error *error)
{
    CLEANUP(gput_comparison_destroy_pointer)
    struct gput_comparison *comparison = comparison_create();
    CLEANUP_FREE long *ranks = NULL;
    if (!comparison)
        return error_memory(error);
    TRY(report_plan_ranks(plan, &ranks, error));
    for (size_t i = 0; i < plan->count; i++)
        TRY(add_session(payload, options, plan, i, curves_only, ranks, comparison, error));
    if (curves_only)
        return GPUT_OK;
    TRY(report_comparison_end(comparison, payload, options, error));

    /* Add what two traces differ in, as `gpu-tracker pytorch diff` has it. */
    const char *paths[2];
    if (plan->count != 2)
        return GPUT_OK;
    for (size_t i = 0; i < 2; i++) {
        const struct report_loader *loader = plan->sessions[i].loader;
        if (!loader || strcmp(loader->kind, "trace") != 0)
            return GPUT_OK; /* others are compared by their samples */
        paths[i] = plan->sessions[i].path;
    }
    return report_kineto_add_difference(payload->root, paths, payload->spool.folder, error);
}
