#include "views/report/loaders/report_loader.h"

#include "base/text.h"
#include "files/sqlite_library.h"
#include "views/report/loaders/report_non_session.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Reasons that are not in its content. */
static bool is_fault(int code)
{
    return code == GPUT_ERROR_MEMORY || code == GPUT_ERROR_FILES || code == GPUT_ERROR_PERMISSION;
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
        if (is_fault(code))
            return error_copy(error, &reason);
        if (code == GPUT_ERROR_FORMAT && damage.code == GPUT_OK)
            damage = reason; /* of the first whose name or beginning it has */
    }
    if (!is_folder && report_non_session_is(path, error))
        return GPUT_ERROR_FORMAT;
    if (damage.code != GPUT_OK)
        return error_copy(error, &damage);
    return report_session_refuse(path, error);
}
