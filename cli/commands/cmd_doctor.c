/* gpu-tracker doctor: every source of figures, available or not, and how to open it. */
#include "base/error.h"
#include "common/environment.h"
#include "common/message.h"
#include "common/screen.h"
#include "help/help.h"
#include "options/arguments.h"
#include "track/report.h"

#include <gputracker/doctor.h>
#include <gputracker/error.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The remedies of gpu-tracker doctor as a shell script for an administrator.
 */
#define SUDO "sudo "

/* A remedy may name more than one way, and what to do in a container: the first is the shortest. A
 * path in quotes may have the same words. */
static int first_way_length(const char *command)
{
    const char *end = command;
    for (bool is_quoted = false; *end; end++) {
        if (!is_quoted && *end == '\\' && end[1])
            end++; /* a quote of the path itself */
        else
            is_quoted ^= *end == '\'';
        if (!is_quoted && (strncmp(end, ", or ", 5) == 0 || strncmp(end, " (", 2) == 0))
            break;
    }
    return (int)(end - command);
}

/* A remedy that is a command as one, any other as a comment: neither is for a line of its own. */
static void put_remedy(FILE *file, const struct gput_doctor *doctor, size_t index)
{
    const char *remedy = gput_doctor_source_remedy(doctor, index);
    if (!remedy[0])
        return;
    fprintf(file, "\n# %s: %s\n", gput_doctor_source_name(doctor, index),
        gput_doctor_source_gives(doctor, index));
    if (strncmp(remedy, SUDO, strlen(SUDO)) == 0) {
        remedy += strlen(SUDO);
        fprintf(file, "%.*s\n", first_way_length(remedy), remedy);
    } else {
        fprintf(file, "# by hand: %s\n", remedy);
    }
}

/*
 * A command for each source that one opens; what is not a command is a comment. On success the
 * caller frees *text by free(). Errors: GPUT_ERROR_MEMORY.
 */
static int fix_script_write(const struct gput_doctor *doctor, char **text, struct gput_error *error)
{
    size_t length;
    FILE *file = open_memstream(text, &length);
    if (!file)
        return error_memory(error);
    bool has_remedies = false;
    fputs("#!/bin/sh\n# Makes available what gpu-tracker doctor found unavailable. Read it, then "
          "run it as root.\n",
        file);
    for (size_t i = 0; i < gput_doctor_source_count(doctor); i++) {
        has_remedies |= gput_doctor_source_remedy(doctor, i)[0] != '\0';
        put_remedy(file, doctor, i);
    }
    if (!has_remedies)
        fputs("# No command would make more available.\n", file);
    if (fclose(file) == 0)
        return GPUT_OK;
    free(*text);
    *text = NULL;
    return error_memory(error);
}

/* Replaces findings for people by the same in lines that a terminal shows whole. */
static int wrap(char **text, size_t *length, struct gput_error *error)
{
    char *wrapped;
    FILE *file = open_memstream(&wrapped, length);
    if (!file)
        return error_memory(error);
    wrap_columns(file, *text, (int)screen_columns(STDOUT_FILENO, 80));
    bool failed = fclose(file) != 0;
    free(*text);
    *text = wrapped;
    return failed ? error_memory(error) : GPUT_OK;
}

/* Examines the sources, and writes the report or the script of remedies. */
static int examine(const struct arguments *arguments, struct gput_error *error)
{
    struct gput_session_options options = gput_session_options_default();
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    enum gput_format format;
    struct gput_doctor *doctor = NULL;
    char *text = NULL;
    size_t length;
    options.procfs_root = environment_path("GPUT_PROCFS");
    options.sysfs_root = environment_path("GPUT_SYSFS");
    options.nvml_path = environment_path("GPUT_NVML");
    options.gpu_brand = arguments_value(arguments, OPTION_GPU_BRAND);
    int code =
        report_read_format(arguments, OPTION_FORMAT, output, GPUT_FORMAT_TEXT, &format, error);
    if (code == GPUT_OK)
        code = report_check_output(output, error);
    if (code == GPUT_OK)
        code = gput_doctor_create(&options, &doctor, error);
    if (code == GPUT_OK && arguments_have(arguments, OPTION_FIX_SCRIPT)) {
        code = fix_script_write(doctor, &text, error);
        length = code == GPUT_OK ? strlen(text) : 0;
    } else if (code == GPUT_OK) {
        code = gput_doctor_render(doctor, format, &text, &length, error);
        if (code == GPUT_OK && format == GPUT_FORMAT_TEXT && !report_is_file(output))
            code = wrap(&text, &length, error);
    }
    if (code == GPUT_OK)
        code = report_write_bytes(output, STDOUT_FILENO, text, length, error);
    free(text);
    gput_doctor_destroy(doctor);
    return code;
}

int cmd_doctor(const struct arguments *arguments)
{
    struct gput_error error;
    return message_exit_status(examine(arguments, &error), &error, EXIT_FAILURE);
}
