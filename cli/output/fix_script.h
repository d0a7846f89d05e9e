/*
 * The remedies of gpu-tracker doctor as a shell script for an administrator.
 */
#pragma once

#include <gputracker/doctor.h>
#include <gputracker/error.h>

/*
 * A command for each source that one opens; what is not a command is a comment. On success the
 * caller frees *text by free(). Errors: GPUT_ERROR_MEMORY.
 */
int fix_script_write(const struct gput_doctor *doctor, char **text, struct gput_error *error);
