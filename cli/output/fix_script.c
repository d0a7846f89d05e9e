#include "output/fix_script.h"

#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int fix_script_write(const struct gput_doctor *doctor, char **text, struct gput_error *error)
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
