#include "fix_script.h"

#include "message.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SUDO "sudo "
#define SETCAP "sudo setcap "

static void put_quoted(FILE *file, const char *text)
{
    fputc('\'', file);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", file);
        else
            fputc(*text, file);
    }
    fputc('\'', file);
}

/* A remedy may name more than one way, and what to do in a container: the first is the shortest. */
static int first_way_length(const char *command)
{
    size_t length = strlen(command);
    const char *ends[] = {strstr(command, ", or "), strstr(command, " (")};
    for (size_t i = 0; i < 2; i++) {
        if (ends[i] && (size_t)(ends[i] - command) < length)
            length = (size_t)(ends[i] - command);
    }
    return (int)length;
}

/* All in one: setcap replaces what a file has. */
static void put_capabilities(FILE *file, const struct gput_doctor *doctor)
{
    char program[PATH_MAX] = "", list[128] = "";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    for (size_t i = 0; i < gput_doctor_source_count(doctor); i++) {
        const char *remedy = gput_doctor_source_remedy(doctor, i);
        size_t used = strlen(list);
        if (strncmp(remedy, SETCAP, strlen(SETCAP)) != 0)
            continue;
        remedy += strlen(SETCAP);
        snprintf(list + used, sizeof list - used, "%s%.*s", used ? "," : "",
            (int)strcspn(remedy, "+ "), remedy);
    }
    if (!list[0])
        return;
    fprintf(file, "\n# Capabilities, instead of root. An update of the program removes them.\n");
    fprintf(file, "setcap %s+ep ", list);
    put_quoted(file, length > 0 ? program : "gpu-tracker");
    fputc('\n', file);
}

/* Capabilities are put_capabilities()'s. */
static void put_remedy(FILE *file, const struct gput_doctor *doctor, size_t index)
{
    const char *remedy = gput_doctor_source_remedy(doctor, index);
    if (!remedy[0] || strncmp(remedy, SETCAP, strlen(SETCAP)) == 0)
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
        return fail(error, GPUT_ERROR_MEMORY, "Out of memory.");
    bool has_remedies = false;
    fputs("#!/bin/sh\n# Makes available what gpu-tracker doctor found unavailable. Read it, then "
          "run it as root.\n",
        file);
    put_capabilities(file, doctor);
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
    return fail(error, GPUT_ERROR_MEMORY, "Out of memory.");
}
