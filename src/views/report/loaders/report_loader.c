#include "views/report/loaders/report_loader.h"

#include "base/file.h"
#include "base/text.h"
#include "files/sqlite_library.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int report_results_read(struct report_session *session, const char *path, struct gput_error *error)
{
    TRY(gput_results_load(path, &session->loaded_results, error));
    session->results = session->loaded_results;
    return GPUT_OK;
}

static int load(struct report_session *session, struct gput_error *error)
{
    return session->results ? GPUT_OK : report_results_read(session, session->path, error);
}

/* Whether a file has results. */
static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    struct gput_results *results;
    if (is_folder)
        return report_session_refuse(path, error);
    int code = gput_results_load(path, &results, error);
    gput_results_destroy(results);
    return code == GPUT_ERROR_MEMORY || code == GPUT_OK ? code : report_session_refuse(path, error);
}

const struct report_loader report_results_loader = {"results", probe, load};

#define ANALYSIS                                                                                   \
    "%s is an analysis of code blocks ('sub-track analyze'), which has no samples: name the "      \
    "tracking file that it was made of, and the sub-tracking file with --stf."
#define COMPARISON                                                                                 \
    "%s is a comparison ('sub-track compare'), which has no samples: name the tracking files of "  \
    "its sessions, which are compared likewise, or draw the comparison with 'sub-track compare "   \
    "-o comparison.svg'."

/* What such files begin with, but for space; in pickles, the name of a class near the beginning. */
static const struct {
    const char *beginning, *in_pickle, *message;
} kinds[] = {
    {"{\"overall\":", NULL, ANALYSIS},
    {"Overall:", NULL, ANALYSIS},
    {"code_block,process_id,", NULL, ANALYSIS},
    {NULL, "TrackingResults", ANALYSIS},
    {"{\"overall_resource_usage\":", NULL, COMPARISON},
    {"OverallResourceUsage:", NULL, COMPARISON},
    {"code_block,measurement,statistic,session,", NULL, COMPARISON},
    {NULL, "ComparisonResults", COMPARISON},
};

/* Whether a file is one of them, by its beginning; then the error says what to name instead. */
static bool is_non_session(const char *path, struct gput_error *error)
{
    char text[512], packed[64];
    size_t length = file_read_beginning(path, text, sizeof text);

    /* Leave out space. */
    size_t kept = 0;
    for (size_t i = 0; i < length && kept + 1 < sizeof packed; i++)
        if (!strchr(" \t\r\n", text[i]))
            packed[kept++] = text[i];
    packed[kept] = '\0';

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *beginning = kinds[i].beginning, *name = kinds[i].in_pickle;
        if (beginning ? text_begins_with(packed, beginning)
                      : memmem(text, length, name, strlen(name)) != NULL) {
            error_set(error, GPUT_ERROR_FORMAT, kinds[i].message, path);
            return true;
        }
    }
    return false;
}

/* Asked in this order. */
static const struct report_loader *const loaders[] = {
    &report_tracking_loader,
    &report_marks_loader,
    &report_results_loader,
    &report_profile_loader,
    &report_power_loader,
    &report_python_loader,
    &report_trace_loader,
};

/* Whether it is there, may be read, and is of a type that loaders ask. */
static int check(const char *path, bool *is_folder, struct gput_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return error_set_errno(error, errno, "Cannot open %s", path);
    *is_folder = S_ISDIR(info.st_mode);
    if (!*is_folder && !S_ISREG(info.st_mode))
        return error_set(error, GPUT_ERROR_FORMAT,
            "%s is neither a file nor a folder: a session has to be read more than once", path);
    if (access(path, R_OK) != 0)
        return error_set_errno(error, errno, "Cannot open %s", path);
    return text_ends_with(path, ".sqlite") ? sqlite_library_load(error) : GPUT_OK;
}

int report_loader_of(
    const char *path, const struct report_loader **loader, struct gput_error *error)
{
    bool is_folder = false;
    struct gput_error damage = {0};
    TRY(check(path, &is_folder, error));
    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++) {
        struct gput_error reason;
        int code = loaders[i]->probe(path, is_folder, &reason);
        *loader = loaders[i];
        if (code == GPUT_OK)
            return GPUT_OK;
        if (code == GPUT_ERROR_MEMORY || code == GPUT_ERROR_FILES || code == GPUT_ERROR_PERMISSION)
            return error_copy(error, &reason);
        if (code == GPUT_ERROR_FORMAT && damage.code == GPUT_OK)
            damage = reason; /* of the first whose name or beginning it has */
    }
    if (!is_folder && is_non_session(path, error))
        return GPUT_ERROR_FORMAT;
    if (damage.code != GPUT_OK)
        return error_copy(error, &damage);
    return report_session_refuse(path, error);
}
