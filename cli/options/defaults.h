/*
 * The config file of a user: defaults of options, by their long names, as
 * {"format": "full", "progress": true, "st": 0.5}.
 */
#pragma once

#include "options/arguments.h"

#include <gputracker/error.h>

/*
 * Puts what the file says before what was given on the command line, for a command that takes
 * defaults. The file is what GPUT_CONFIG names (empty: none), else gpu-tracker/config.json in
 * $XDG_CONFIG_HOME or ~/.config, where one is. Whatever the command line gives goes before it:
 *
 * - a repeatable option of the file yields to uses on the command line;
 * - the format is that of the screen: with -o, the extension decides as without a file;
 * - with --tconfig only what concerns the report is taken.
 *
 * Errors: GPUT_ERROR_INVALID and others that name the file.
 */
int defaults_read(struct arguments *arguments, struct gput_error *error);
