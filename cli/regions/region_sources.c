#include "regions/region_sources.h"

#include "base/error.h"
#include "base/nearest.h"
#include "collector_folder.h"
#include "common/environment.h"
#include "options/arguments.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How a program is made to load a library. */
enum how {
    NAMED,     /* the variable is its path */
    PRELOADED, /* the variable is a list of libraries, to which it is appended */
    IMPORTED,  /* the variable is a list of folders, to which its folder is prepended */
};

static const struct source {
    const char *name;
    const char *file;
    const char *variable;
    enum how how;
    bool is_usual; /* enabled if no source is named */
} rows[REGION_SOURCES] = {
    [REGION_NVTX] = {"nvtx", "libgputracker-nvtx.so", "NVTX_INJECTION64_PATH", NAMED, true},
    [REGION_ITT] = {"itt", "libgputracker-itt.so", "INTEL_LIBITTNOTIFY64", NAMED, true},
    [REGION_OMPT] = {"ompt", "libgputracker-ompt.so", "OMP_TOOL_LIBRARIES", NAMED, true},
    [REGION_ROCTX] = {"roctx", "libgputracker-roctx.so", "LD_PRELOAD", PRELOADED, true},
    [REGION_MPI] = {"mpi", "libgputracker-mpi.so", "LD_PRELOAD", PRELOADED, false},
    [REGION_PYTHON] = {"python", "python/sitecustomize.py", "PYTHONPATH", IMPORTED, false},
};

/* Adds a pattern of Python functions. */
static int add_function(
    struct region_sources *sources, const char *pattern, struct gput_error *error)
{
    size_t used = strlen(sources->functions);
    if (!pattern[0])
        return error_set(error, GPUT_ERROR_INVALID,
            "--regions: after \"python:\" come functions, such as python:package.module.function "
            "or python:module.*");
    if (used + strlen(pattern) + 2 > sizeof sources->functions)
        return error_set(error, GPUT_ERROR_INVALID, "--regions: these are too many functions.");
    snprintf(sources->functions + used, sizeof sources->functions - used, "%s%s", used ? "," : "",
        pattern);
    sources->wanted[REGION_PYTHON] = true;
    return GPUT_OK;
}

/* Adds one source of the list. */
static int read_word(const char *word, struct region_sources *sources, struct gput_error *error)
{
    int choice = choice_find(REGION_SOURCE_WORDS, word);
    char question[NEAREST_QUESTION_SIZE], source[256];
    if (strncmp(word, "python", 6) == 0 && (word[6] == ':' || word[6] == '\0'))
        return add_function(sources, word[6] ? word + 7 : "", error);
    if (choice >= 0) {
        sources->wanted[choice] = true;
        return GPUT_OK;
    }
    if (sources->wanted[REGION_PYTHON])
        return add_function(sources, word, error);
    snprintf(source, sizeof source, "%.*s", (int)strcspn(word, ":"), word);
    return error_set(error, GPUT_ERROR_INVALID,
        "--regions: \"%.80s\" is not a source of regions%s Valid are: " REGION_SOURCE_WORDS, word,
        nearest_question(REGION_SOURCE_WORDS, source, question));
}

int region_sources_read(const char *list, struct region_sources *sources, struct gput_error *error)
{
    *sources = (struct region_sources){.are_named = list[0]};
    for (size_t i = 0; i < REGION_SOURCES; i++)
        sources->wanted[i] = !list[0] && rows[i].is_usual;
    while (*list) {
        char word[256];
        size_t length = strcspn(list, ",");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1),
            list);
        TRY(read_word(word, sources, error));
        list += length + (list[length] == ',');
    }
    return GPUT_OK;
}

/* ---- Paths of the libraries ---- */

/* Whether a folder has a library; `path` is set to its real path. */
static bool is_in(const char *folder, const char *library, char path[PATH_MAX])
{
    char joined[PATH_MAX];
    int length = snprintf(joined, sizeof joined, "%s/%s", folder, library);
    return length > 0 && (size_t)length < sizeof joined && realpath(joined, path) &&
           access(path, R_OK) == 0;
}

/* Whether the folder `below`, relative to this program, has a library. */
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

/* Finds a library in the folders where the build and the packages install it. */
static bool find_library(const char *library, char path[PATH_MAX])
{
    const char *named = environment_path("GPUT_COLLECTORS");
    if (named && named[0])
        return is_in(named, library, path);
    return is_near("collectors", library, path) ||
           is_near("../" COLLECTOR_LIBDIR "/gpu-tracker", library, path) ||
           is_in(COLLECTOR_PREFIX "/" COLLECTOR_LIBDIR "/gpu-tracker", library, path);
}

/* ---- The environment ---- */

/* Adds a path to a colon-separated list, at its end or its start. Returns false without memory. */
static bool add_to_list(const char *variable, const char *path, bool first)
{
    const char *there = getenv(variable);
    char *list;
    bool is_there = there && there[0];
    if (is_there && strstr(there, path))
        return true; /* an outer gpu-tracker has added it */
    if (asprintf(&list, "%s%s%s", !is_there || first ? path : there, is_there ? ":" : "",
            !is_there ? ""
            : first   ? there
                      : path) < 0)
        return false;
    bool is_set = setenv(variable, list, 1) == 0;
    free(list);
    return is_set;
}

/* Whether something prevents a source from being recorded; `why` is the reason. */
static bool is_taken(const struct source *row, const char *path, char *why, size_t size)
{
    const char *variable = row->variable, *there = getenv(variable);
    bool is_taken = row->how == NAMED && there && there[0] && strcmp(there, path) != 0;
    if (strcmp(row->name, "ompt") == 0 && !is_taken) {
        variable = "OMP_TOOL"; /* "disabled" prevents it */
        there = getenv(variable);
        is_taken = there && strcmp(there, "disabled") == 0;
    }
    if (is_taken)
        snprintf(why, size, "%s: not recorded, as %s is set already, to %.200s.", row->name,
            variable, there);
    return is_taken;
}

bool region_source_enable(size_t source, char *why, size_t size)
{
    char path[PATH_MAX];
    const struct source *row = &rows[source];
    if (!find_library(row->file, path)) {
        snprintf(why, size, "%s: this build has no %s.", row->name, row->file);
        return false;
    }
    if (is_taken(row, path, why, size))
        return false;
    if (row->how == PRELOADED && environment_is_untrusted()) {
        snprintf(why, size,
            "%s: not recorded, as this gpu-tracker has capabilities of its file: it does not know "
            "the command's LD_PRELOAD, which it would replace.",
            row->name);
        return false;
    }
    if (row->how != NAMED && strpbrk(path, row->how == PRELOADED ? ": " : ":")) {
        snprintf(why, size, "%s: not recorded, as %s cannot have the path %.300s.", row->name,
            row->variable, path);
        return false;
    }
    if (row->how == IMPORTED)
        *strrchr(path, '/') = '\0';
    bool is_set = row->how == NAMED ? setenv(row->variable, path, 1) == 0
                                    : add_to_list(row->variable, path, row->how == IMPORTED);
    if (!is_set)
        snprintf(why, size, "%s: not recorded because memory ran out.", row->name);
    return is_set;
}
