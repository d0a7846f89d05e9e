/*
 * Training profiles and profiles of Python in a build without them (-Dtraining=false): refused.
 * report_profile.c, report_python.c and report_kineto.c are the other half of the choice.
 */
#include "views/report/loaders/report_kineto.h"
#include "views/report/loaders/report_loader.h"

#include "files/trace/trace_root.h"

int report_kineto_add(struct report_session *session, struct gput_error *error)
{
    (void)session, (void)error;
    return GPUT_OK;
}

int report_kineto_add_difference(
    struct doc *root, const char *const paths[2], const char *folder, struct gput_error *error)
{
    (void)root, (void)paths, (void)folder, (void)error;
    return GPUT_OK;
}

/* Refuses training profiles, and says why. */
static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    if (!is_folder || !trace_root_is(path))
        return report_session_refuse(path, error);
    return error_set(error, GPUT_ERROR_FORMAT,
        "%s is a training profile: this gpu-tracker was built without them (-Dtraining=false)",
        path);
}

static int probe_python(const char *path, bool is_folder, struct gput_error *error)
{
    (void)is_folder;
    return report_session_refuse(path, error);
}

const struct report_loader report_python_loader = {"python", probe_python, NULL};
const struct report_loader report_profile_loader = {"profile", probe, NULL};
