#include "output/table_files.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "output/python_package.h"

#include <stdlib.h>
#include <string.h>

static const struct python_module module = {"_table_files", "writes Parquet and Arrow files",
    "Install it there with pyarrow (pip install gputracker pyarrow), or name a Python that has "
    "both",
    "The same tables as text: -f csv."};

static void add_file(const char ***word, const char *kind, const char *name, const char *path)
{
    *(*word)++ = kind;
    *(*word)++ = name ? name : "";
    *(*word)++ = path;
}

int table_files_execute(const struct gput_report_options *options, const char *format,
    const char *path, struct gput_error *error)
{
    if (strcmp(path, "-") == 0)
        return error_set(error, GPUT_ERROR_INVALID,
            "-o names a folder for the tables, or a file x.%s for the samples.", format);
    size_t files = options->n_sessions + options->n_sub_tracking_files;
    CLEANUP_FREE const char **words = calloc(2 + 3 * files + 1, sizeof *words);
    const char **word = words;
    if (!words)
        return error_memory(error);
    *word++ = format;
    *word++ = path;
    for (size_t i = 0; i < options->n_sessions; i++)
        add_file(&word, "session", options->sessions[i]->name, options->sessions[i]->path);
    for (size_t i = 0; i < options->n_sub_tracking_files; i++)
        add_file(&word, "stf", NULL, options->sub_tracking_files[i]);
    return python_package_execute(&module, words, error);
}
