/*
 * Replaces timeline_root.c in a build without training profiles (-Dtraining=false): refuses them.
 */
#include "analysis/timeline/timeline_inputs.h"

/* Fails because this build cannot read training profiles. */
static int refuse(const char *path, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_INVALID,
        "%s belongs to a training profile: this gpu-tracker was built without them "
        "(-Dtraining=false)",
        path);
}

int timeline_add_root(struct timeline_inputs *inputs, const char *path, struct gput_error *error)
{
    (void)inputs;
    return refuse(path, error);
}

int timeline_add_framework_file(
    struct timeline_inputs *inputs, const struct trace_file *file, struct gput_error *error)
{
    (void)inputs;
    return refuse(file->path, error);
}
