#include <gputracker/profile.h>

#include "analysis/training/python/python_profiles.h"
#include "base/file.h"
#include "base/sized.h"
#include "files/import/cprofile.h"
#include "files/import/pyinstrument.h"
#include "files/trace/read_report.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Profiles of whole programs have some megabytes. */
#define MAX_BYTES ((size_t)1 << 30)

static const enum cprofile_order orders[] = {
    [GPUT_PYTHON_TOTTIME] = CPROFILE_BY_TOTAL_TIME,
    [GPUT_PYTHON_CUMTIME] = CPROFILE_BY_CUMULATIVE_TIME,
    [GPUT_PYTHON_PCALLS] = CPROFILE_BY_PRIMITIVE_CALLS,
    [GPUT_PYTHON_NCALLS] = CPROFILE_BY_TOTAL_CALLS,
};

/* What was added up. */
struct sum {
    struct cprofile cprofile;
    struct pyinstrument pyinstrument;
    size_t dumps;
    size_t sessions;
    struct str files; /* a line for each dump, as pstats has it */
};

/* One that cannot be read leaves the sum as it was. */
static int add_file(struct sum *sum, const struct python_profile *profile, struct gput_error *error)
{
    struct str content = {0};
    int code = file_read_bounded(profile->path, MAX_BYTES, &content, error);
    if (code == GPUT_OK && profile->pyinstrument) {
        code = pyinstrument_add(
            &sum->pyinstrument, str_text(&content), content.length, profile->path, error);
        sum->sessions += code == GPUT_OK;
    } else if (code == GPUT_OK) {
        code =
            cprofile_add(&sum->cprofile, str_text(&content), content.length, profile->path, error);
        sum->dumps += code == GPUT_OK;
        if (code == GPUT_OK) {
            /* "Tue Aug  4 23:56:16 2020    path" */
            struct stat info;
            char date[32] = "";
            if (stat(profile->path, &info) == 0 && ctime_r(&info.st_mtime, date))
                date[strcspn(date, "\n")] = '\0';
            str_printf(&sum->files, "%s    %s\n", date, profile->path);
        }
    }
    str_finish(&content);
    return code;
}

static void warn(const struct gput_python_options *options, struct str *text)
{
    const struct read_report report = {.warn = options->warn, .user = options->user};
    read_report_warn_text(&report, text);
}

/* Warns that a profile was skipped. */
static void warn_of_skipped(
    const struct gput_python_options *options, const struct gput_error *skipped)
{
    struct str text = {0};
    if (skipped->code == GPUT_OK)
        return;
    str_printf(&text, "%s; this profile is skipped", skipped->message);
    warn(options, &text);
}

/* Adds up the files of one kind, dumps of cProfile when there are any, else sessions. Those that
 * cannot be read are skipped, unless that leaves nothing. */
static int add_files(const struct python_profiles *profiles, struct sum *sum,
    const struct gput_python_options *options, struct gput_error *error)
{
    bool dumps = false;
    struct gput_error one, skipped = {.code = GPUT_OK};
    for (size_t i = 0; i < profiles->count; i++)
        dumps = dumps || !profiles->profiles[i].pyinstrument;
    if (options->pyinstrument)
        dumps = false;
    /* Warn of files of the other kind that were named, not found in a folder. */
    static const char *const kinds[] = {"dumps of cProfile", "sessions of pyinstrument"};
    for (size_t i = 0; options->warn && i < profiles->count; i++) {
        const struct python_profile *profile = profiles->profiles + i;
        struct str text = {0};
        if (!profile->named || profile->pyinstrument != dumps)
            continue;
        str_printf(&text,
            "%s is skipped: %s are not added up with %s; \"--profiler %s\" shows them",
            profile->path, kinds[dumps], kinds[!dumps], dumps ? "pyinstrument" : "cprofile");
        warn(options, &text);
    }
    for (size_t i = 0; i < profiles->count; i++) {
        /* pstats.Stats(a, b, c) adds a, then c, then b: the order of equals depends on it. */
        const struct python_profile *next = profiles->profiles + (i ? profiles->count - i : 0);
        if (next->pyinstrument == dumps)
            continue;
        int code = add_file(sum, next, &one);
        if (options->progress)
            options->progress(options->user, (double)(i + 1) / (double)profiles->count);
        if (code == GPUT_ERROR_MEMORY)
            return error_memory(error);
        if (code == GPUT_OK)
            continue;
        warn_of_skipped(options, &skipped);
        skipped = one;
    }
    if (sum->dumps + sum->sessions > 0)
        warn_of_skipped(options, &skipped);
    else if (skipped.code != GPUT_OK)
        return error_copy(error, &skipped);
    else
        return error_set(error, GPUT_ERROR_NOT_FOUND, "No Python profile matches the selection");
    return GPUT_OK;
}

/* What the folders of a profile do not contain is missing. */
static void put_text(struct gput_table *table, const char *text)
{
    table_put_text(table, text[0] ? text : NULL);
}

/* Puts the mode, step, phase and time of a moment. */
static void put_moment(struct gput_table *table, const struct profile_moment *moment)
{
    put_text(table, moment->mode);
    /* The step is missing if a profile begins before the first one, or lasts to the end of the
     * program. */
    if (isfinite(moment->step) && moment->step >= 0)
        table_put_int(table, (int64_t)moment->step);
    else
        table_put_missing(table);
    put_text(table, moment->phase);
    table_put_double(table, moment->time_us);
}

static const struct gput_python_options usual = {.size = sizeof usual, .start = NAN, .end = NAN};

void gput_python_options_init(struct gput_python_options *options, size_t size)
{
    sized_init(options, size, &usual, sizeof usual);
}

int gput_python_profile_tables(
    const struct gput_python_options *given, struct gput_tables **tables, struct gput_error *error)
{
    static const struct {
        const char *name;
        enum gput_column_type type;
    } columns[] = {{"profiler_name", GPUT_COLUMN_TEXT}, {"framework", GPUT_COLUMN_TEXT},
        {"node_id", GPUT_COLUMN_TEXT}, {"start_mode", GPUT_COLUMN_TEXT},
        {"start_step", GPUT_COLUMN_INT}, {"start_phase", GPUT_COLUMN_TEXT},
        {"start_time_since_epoch_in_micros", GPUT_COLUMN_DOUBLE}, {"end_mode", GPUT_COLUMN_TEXT},
        {"end_step", GPUT_COLUMN_INT}, {"end_phase", GPUT_COLUMN_TEXT},
        {"end_time_since_epoch_in_micros", GPUT_COLUMN_DOUBLE}, {"stats_path", GPUT_COLUMN_TEXT}};
    struct python_profiles profiles;
    struct gput_python_options options = usual;
    *tables = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    struct gput_tables *made = tables_create();
    int code = made ? python_profiles_find(&options, &profiles, error) : error_memory(error);
    if (!made)
        return code;
    struct gput_table *table = tables_add(made, "profiles");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_add_column(table, columns[i].name, columns[i].type);
    for (size_t i = 0; code == GPUT_OK && i < profiles.count; i++) {
        const struct python_profile *profile = profiles.profiles + i;
        table_put_text(table, profile->pyinstrument ? "pyinstrument" : "cprofile");
        put_text(table, profile->framework);
        put_text(table, profile->node);
        put_moment(table, &profile->start);
        put_moment(table, &profile->end);
        table_put_text(table, profile->path);
    }
    python_profiles_finish(&profiles);
    if (code == GPUT_OK)
        return tables_finish_building(made, tables, error);
    gput_tables_destroy(made);
    return code;
}

/* Renders the functions that were added up. */
static int render_sum(const struct sum *sum, const struct gput_python_options *options,
    enum gput_format format, char **bytes, size_t *length, struct gput_error *error)
{
    struct str out = {0};
    size_t limit = options->limit ? options->limit : 10;
    bool by_total = options->by == GPUT_PYTHON_CUMTIME;
    if (sum->dumps > 0 && format == GPUT_FORMAT_TEXT) {
        str_append_bytes(&out, sum->files.data, sum->files.length);
        out.failed |= sum->files.failed;
        str_append_char(&out, '\n');
        int code = cprofile_print(&sum->cprofile, orders[options->by], limit, &out, error);
        if (code != GPUT_OK) {
            str_finish(&out);
            return code;
        }
        return str_steal_bytes(&out, bytes, length, error);
    }
    struct gput_tables *made = tables_create(), *tables = NULL;
    if (!made)
        return error_memory(error);
    int code = sum->dumps > 0
                   ? cprofile_put(&sum->cprofile, orders[options->by], limit, made, error)
                   : pyinstrument_put(&sum->pyinstrument, by_total, limit, made, error);
    if (code != GPUT_OK) {
        gput_tables_destroy(made);
        return code;
    }
    TRY(tables_finish_building(made, &tables, error));
    if (format == GPUT_FORMAT_CSV)
        code = gput_tables_select(tables, "functions", error);
    if (code == GPUT_OK)
        code = gput_tables_render(tables, format, bytes, length, error);
    gput_tables_destroy(tables);
    return code;
}

static void sum_finish(struct sum *sum)
{
    cprofile_finish(&sum->cprofile);
    pyinstrument_finish(&sum->pyinstrument);
    str_finish(&sum->files);
}

/* Adds up all that fits. The sum is to be finished, also after a failure. */
static int sum_up(
    const struct gput_python_options *options, struct sum *sum, struct gput_error *error)
{
    struct python_profiles profiles;
    *sum = (struct sum){0};
    int code = python_profiles_find(options, &profiles, error);
    if (code == GPUT_OK)
        code = add_files(&profiles, sum, options, error);
    python_profiles_finish(&profiles);
    return code;
}

int gput_python_render(const struct gput_python_options *given, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error)
{
    struct sum sum;
    struct gput_python_options options = usual;
    *bytes = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    if ((size_t)options.by >= sizeof orders / sizeof *orders)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such order of functions");
    int code = sum_up(&options, &sum, error);
    if (code == GPUT_OK)
        code = render_sum(&sum, &options, format, bytes, length, error);
    sum_finish(&sum);
    return code;
}

int gput_python_function_tables(
    const struct gput_python_options *given, struct gput_tables **tables, struct gput_error *error)
{
    struct sum sum;
    struct gput_tables *made = NULL;
    struct gput_python_options options = usual;
    *tables = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    int code = sum_up(&options, &sum, error);
    if (code == GPUT_OK && sum.dumps == 0)
        code = error_set(error, GPUT_ERROR_NOT_FOUND,
            "No cProfile dump matches the selection, only pyinstrument sessions");
    if (code == GPUT_OK && !(made = tables_create()))
        code = error_memory(error);
    if (code == GPUT_OK)
        code = cprofile_put_all(&sum.cprofile, made, error);
    sum_finish(&sum);
    if (code == GPUT_OK)
        return tables_finish_building(made, tables, error);
    gput_tables_destroy(made);
    return code;
}
