#include "region-sources.h"

#include "choice.h"
#include "message.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct source {
    const char *name;
    const char *library;
    const char *variable; /* which names the library */
} sources[REGION_SOURCES] = {
    {"nvtx", "libgputracker-nvtx.so", "NVTX_INJECTION64_PATH"},
    {"itt", "libgputracker-itt.so", "INTEL_LIBITTNOTIFY64"},
};

static int read_word(const char *word, bool wanted[REGION_SOURCES], struct gput_error *error)
{
    int choice = choice_find(REGION_SOURCE_WORDS, word);
    char near[80], question[112] = ".";
    if (choice >= 0) {
        wanted[choice] = true;
        return GPUT_OK;
    }
    choice_suggest(REGION_SOURCE_WORDS, word, "", near, sizeof near);
    if (near[0])
        snprintf(question, sizeof question, ": did you mean %s?", near);
    return fail(error, GPUT_ERROR_INVALID,
        "--regions: \"%.80s\" is not a source of regions%s Valid are: " REGION_SOURCE_WORDS, word,
        question);
}

int region_sources_read(const char *list, bool wanted[REGION_SOURCES], struct gput_error *error)
{
    for (size_t i = 0; i < REGION_SOURCES; i++)
        wanted[i] = !list[0];
    while (*list) {
        char word[128];
        size_t length = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
            list);
        int code = read_word(word, wanted, error);
        if (code != GPUT_OK)
            return code;
        list += length + (list[length] == ',');
    }
    return GPUT_OK;
}

/* ---- Where the libraries are ---- */

static bool is_in(const char *folder, const char *library, char path[PATH_MAX])
{
    char joined[PATH_MAX];
    int length = snprintf(joined, sizeof joined, "%s/%s", folder, library);
    return length > 0 && (size_t)length < sizeof joined && realpath(joined, path) &&
           access(path, R_OK) == 0;
}

/* In `below`, as seen from the folder of this program. */
static bool is_near(const char *below, const char *library, char path[PATH_MAX])
{
    char program[PATH_MAX], folder[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    snprintf(folder, sizeof folder, "%s/%s", program, below);
    return is_in(folder, library, path);
}

/* The build tree and the Python package have them in a folder next to the command. */
static bool find_library(const char *library, char path[PATH_MAX])
{
    const char *named = getenv("GPUT_COLLECTORS");
    if (named && named[0])
        return is_in(named, library, path);
    return is_near("collectors", library, path) ||
           is_near("../" COLLECTOR_LIBDIR "/gpu-tracker", library, path) ||
           is_in(COLLECTOR_PREFIX "/" COLLECTOR_LIBDIR "/gpu-tracker", library, path);
}

bool region_source_enable(size_t source, char *why, size_t size)
{
    char path[PATH_MAX];
    const struct source *row = &sources[source];
    if (!find_library(row->library, path)) {
        snprintf(why, size, "%s: this build has no %s.", row->name, row->library);
        return false;
    }
    const char *there = getenv(row->variable);
    if (there && there[0] && strcmp(there, path) != 0) {
        snprintf(why, size, "%s: not recorded, as %s is set already, to %.200s.", row->name,
            row->variable, there);
        return false;
    }
    if (setenv(row->variable, path, 1) == 0)
        return true;
    snprintf(why, size, "%s: not recorded, for want of memory.", row->name);
    return false;
}
