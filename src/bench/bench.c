#include "bench/bench_state.h"

#include "analysis/bench/bench_document.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/human.h"
#include "base/limit_rule.h"
#include "base/number.h"
#include "base/random.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/text.h"
#include "views/output/bench_render.h"

#include <gputracker/gputracker.h>
#include <gputracker/words.h>

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/*
 * The machine, as far as it explains a difference from another day.
 */
#define MAX_FILE_BYTES (1 << 20)

/* The rest of the line that begins so in /proc/cpuinfo, without the colon; NULL: there is none. */
static char *cpuinfo_value(const char *text, const char *name)
{
    const char *at = strstr(text, name), *colon = at ? strchr(at, ':') : NULL;
    if (!colon || memchr(at, '\n', (size_t)(colon - at)))
        return NULL;
    colon += 1 + strspn(colon + 1, " \t");
    return strndup(colon, strcspn(colon, "\n"));
}

/* A file of one line, without its end; NULL: it cannot be read. */
static char *read_line(const char *root, const char *path)
{
    char whole[512];
    CLEANUP_STR struct str text = {0};
    text_fit(whole, sizeof whole, "%s/%s", root, path);
    if (file_read_bounded(whole, MAX_FILE_BYTES, &text, NULL) != GPUT_OK)
        return NULL;
    return strndup(str_text(&text), strcspn(str_text(&text), "\n"));
}

/* "performance", or with whether the CPU may go beyond its nominal clock. */
static char *clock_policy(const char *sysfs_root)
{
    CLEANUP_FREE char *governor =
        read_line(sysfs_root, "devices/system/cpu/cpu0/cpufreq/scaling_governor");
    CLEANUP_FREE char *no_turbo = read_line(sysfs_root, "devices/system/cpu/intel_pstate/no_turbo");
    CLEANUP_FREE char *boost = read_line(sysfs_root, "devices/system/cpu/cpufreq/boost");
    bool has_turbo = (no_turbo && no_turbo[0] == '0') || (boost && boost[0] == '1');
    struct str text = {0};
    if (!governor)
        return NULL;
    str_printf(&text, "%s%s", governor,
        !no_turbo && !boost ? "" : (has_turbo ? ", with turbo" : ", without turbo"));
    return str_steal(&text);
}

/* Reads what of the machine explains a difference from another day. What is not known is NULL or
 * NaN. */
static void bench_machine_read(
    struct bench_machine *machine, const char *procfs_root, const char *sysfs_root)
{
    struct utsname names;
    char path[512];
    CLEANUP_STR struct str cpuinfo = {0};
    const char *procfs = procfs_root ? procfs_root : "/proc";
    const char *sysfs = sysfs_root ? sysfs_root : "/sys";
    text_fit(path, sizeof path, "%s/cpuinfo", procfs);
    if (uname(&names) == 0) {
        struct str kernel = {0};
        str_printf(&kernel, "%s %s", names.sysname, names.release);
        machine->kernel = str_steal(&kernel);
        machine->name = strdup(names.nodename);
    }
    if (file_read_bounded(path, MAX_FILE_BYTES, &cpuinfo, NULL) == GPUT_OK)
        machine->cpu_model = cpuinfo_value(str_text(&cpuinfo), "model name");
    machine->clock_policy = clock_policy(sysfs);
    CLEANUP_FREE char *load = read_line(procfs, "loadavg");
    machine->load = load ? strtod(load, NULL) : NAN;
    cpu_set_t allowed;
    machine->n_cores =
        sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : NAN;
    machine->ram_bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* Close enough for short commands. */
#define SAMPLE_INTERVAL_SECONDS 0.1
#define MAX_BASELINE_BYTES (256 << 20)

static const struct gput_bench_options default_options = {
    .size = sizeof default_options, .precision_percent = 1, .min_seconds = 3, .max_seconds = 60};

void gput_bench_options_init(struct gput_bench_options *options, size_t size)
{
    sized_init(options, size, &default_options, sizeof default_options);
}

void gput_bench_render_options_init(struct gput_bench_render_options *options, size_t size)
{
    static const struct gput_bench_render_options defaults = {.size = sizeof defaults};
    sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- Options ---- */

static int check_number(const char *noun, double value, double least, struct gput_error *error)
{
    if (value >= least && isfinite(value))
        return GPUT_OK;
    return error_set(
        error, GPUT_ERROR_INVALID, "The %s has to be a number, %g or more.", noun, least);
}

/* The texts of the options, which are copied. */
static const size_t texts[] = {offsetof(struct gput_bench_options, input),
    offsetof(struct gput_bench_options, setup), offsetof(struct gput_bench_options, prepare),
    offsetof(struct gput_bench_options, conclude), offsetof(struct gput_bench_options, cleanup),
    offsetof(struct gput_bench_options, work), offsetof(struct gput_bench_options, keep_folder)};

static const char **text_at(struct gput_bench_options *options, size_t index)
{
    return (const char **)((char *)options + texts[index]);
}

/* Copies the texts of the options. */
static int copy_texts(struct gput_bench_options *options, struct gput_error *error)
{
    struct gput_bench_options given = *options;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *text_at(options, i) = NULL;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = *text_at(&given, i);
        *text_at(options, i) = text ? strdup(text) : NULL;
        if (text && !*text_at(options, i))
            return error_memory(error);
    }
    return GPUT_OK;
}

/* Compiles the expression that finds the amount of work in the output. */
static int compile_work(struct gput_bench *bench, struct gput_error *error)
{
    if (!bench->options.work)
        return GPUT_OK;
    int failure = regcomp(&bench->work, bench->options.work, REG_EXTENDED);
    if (failure) {
        char reason[128];
        regerror(failure, &bench->work, reason, sizeof reason);
        return error_set(error, GPUT_ERROR_INVALID,
            "\"%.200s\" is not an extended regular expression: %s.", bench->options.work, reason);
    }
    bench->has_work = true;
    if (bench->work.re_nsub == 0)
        return error_set(error, GPUT_ERROR_INVALID,
            "The expression \"%.200s\" has no group: parentheses have to be around the number, as "
            "in 'tokens: ([0-9]+)'.",
            bench->options.work);
    return GPUT_OK;
}

/* Checks and copies the options, and begins the data with date, seed and machine. */
static int prepare(
    struct gput_bench *bench, const struct gput_bench_options *options, struct gput_error *error)
{
    struct gput_bench_options given = default_options;
    TRY(sized_read(&given, sizeof given, options, error));
    TRY(check_number("precision", given.precision_percent, 0.001, error));
    TRY(check_number("least time", given.min_seconds, 0, error));
    TRY(check_number("longest time", given.max_seconds, 0, error));
    TRY(check_number("timeout of a run", given.timeout_seconds, 0, error));
    if (given.input && access(given.input, R_OK) != 0)
        return error_set_errno(error, errno, "Cannot read the input %.300s", given.input);
    if (given.keep_folder && access(given.keep_folder, W_OK | X_OK) != 0 && errno != ENOENT)
        return error_set_errno(
            error, errno, "Cannot write to the folder %.300s", given.keep_folder);
    bench->options = given;
    TRY(copy_texts(&bench->options, error));
    bench->session_options = gput_session_options_default();
    bench->session_options.sleep_time_seconds = SAMPLE_INTERVAL_SECONDS;
    TRY(sized_read(&bench->session_options, sizeof bench->session_options, given.session, error));
    bench->options.session = &bench->session_options;
    TRY(compile_work(bench, error));
    struct bench_data *data = &bench->data;
    char date[32];
    time_t now = (time_t)(clock_realtime_ns() / NS_PER_SECOND);
    struct tm parts;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    data->date = strdup(date);
    data->version = strdup(gput_version());
    data->seed = bench->options.seed;
    if (data->seed == 0)
        random_fill(&data->seed, sizeof data->seed);
    data->seed = data->seed % 1000000 + (data->seed % 1000000 == 0);
    if (bench->options.seed)
        data->seed = bench->options.seed;
    data->is_in_order = bench->options.in_order;
    data->n_warmups = bench->options.n_warmups;
    data->precision_percent = bench->options.n_runs > 0 ? NAN : bench->options.precision_percent;
    bench_machine_read(
        &data->machine, bench->session_options.procfs_root, bench->session_options.sysfs_root);
    return data->date && data->version ? GPUT_OK : error_memory(error);
}

int gput_bench_create(
    const struct gput_bench_options *options, struct gput_bench **bench, struct gput_error *error)
{
    *bench = NULL;
    struct gput_bench *created = calloc(1, sizeof *created);
    if (!created)
        return error_memory(error);
    created->disturbances.stat_fd = -1;
    int code = prepare(created, options, error);
    if (code == GPUT_OK)
        *bench = created;
    else
        gput_bench_destroy(created);
    return code;
}

void gput_bench_destroy(struct gput_bench *bench)
{
    if (!bench)
        return;
    bench_commands_finish(bench);
    bench_data_finish(&bench->data);
    bench_data_finish(&bench->baseline);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free((char *)*text_at(&bench->options, i));
    if (bench->has_work)
        regfree(&bench->work);
    free(bench->baseline_name);
    free(bench->order.places);
    disturbances_finish(&bench->disturbances);
    free(bench);
}

/* ---- Runs of the caller ---- */

int gput_bench_add_run(struct gput_bench *bench, const struct gput_results *results,
    double wall_seconds, double work, struct gput_error *error)
{
    struct bench_order *order = &bench->order;
    if (!order->is_due)
        return error_set(
            error, GPUT_ERROR_STATE, "No run is due: gput_bench_next() says which variant runs.");
    struct bench_run *run =
        bench_data_add_run(&bench->data, order->places[order->next], order->block);
    if (!run)
        return error_memory(error);
    run->figures[BENCH_WORK] = work;
    bench_fill_run(bench, results, wall_seconds, run);
    /* A session does not know how its own process waited; the caller may. */
    run->figures[BENCH_WAIT] = bench->wait_seconds;
    run->figures[BENCH_WALL_WITHOUT_WAIT] =
        isnan(bench->wait_seconds) ? NAN : fmax(0, run->figures[BENCH_WALL] - bench->wait_seconds);
    struct disturbance_counts after;
    disturbances_read_thread(&bench->disturbances, &after);
    disturbances_fill_own(&bench->before, &after, run);
    run->at_seconds = clock_seconds_of_ns(clock_monotonic_ns() - order->began_ns);
    order->next++;
    order->is_due = false;
    bench->data.seconds = run->at_seconds;
    bench_fill_missing(bench, results);
    return GPUT_OK;
}

/* ---- Results ---- */

int gput_bench_load_baseline(struct gput_bench *bench, const char *path, struct gput_error *error)
{
    struct doc *doc;
    struct bench_data read;
    TRY(doc_read_json_file(path, MAX_BASELINE_BYTES, &doc, error));
    int code = bench_data_read(doc, path, &read, error);
    doc_destroy(doc);
    TRY(code);
    char *name = strdup(path);
    if (!name) {
        bench_data_finish(&read);
        return error_memory(error);
    }
    bench_data_finish(&bench->baseline);
    free(bench->baseline_name);
    bench->baseline = read;
    bench->baseline_name = name;
    return GPUT_OK;
}

/* The document of the results so far. The caller frees it. */
static int make_document(
    const struct gput_bench *bench, struct doc **document, struct gput_error *error)
{
    if (bench->data.n_runs == 0)
        return error_set(error, GPUT_ERROR_STATE, "Nothing has run, so there is no result.");
    /* Which runs count is a function of all runs. */
    bench_data_judge_runs((struct bench_data *)&bench->data);
    *document = bench_document(
        &bench->data, bench->baseline_name ? &bench->baseline : NULL, bench->baseline_name);
    return *document ? GPUT_OK : error_memory(error);
}

int gput_bench_render(const struct gput_bench *bench,
    const struct gput_bench_render_options *options, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct gput_bench_render_options given = gput_bench_render_options_default();
    struct doc *document = NULL;
    CLEANUP_STR struct str text = {0};
    *bytes = NULL;
    TRY(sized_read(&given, sizeof given, options, error));
    TRY(make_document(bench, &document, error));
    int code = bench_render(document, &given, format, &text, error);
    doc_destroy(document);
    TRY(code);
    return str_steal_bytes(&text, bytes, length, error);
}

/* ---- Rules ---- */

struct rule {
    enum bench_figure figure;
    struct limit_rule limit;
};

static int refuse_rule(const char *rule, const char *why, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_INVALID,
        "The rule \"%.150s\" is not valid: %s. A rule is like \"ram > +5%%\" or \"wall > 2.5\".",
        rule, why);
}

/* Parses a rule of --fail-if: a figure and a limit. */
static int parse_rule(const char *text, struct rule *rule, struct gput_error *error)
{
    char word[64];
    const char *at = text + strspn(text, " \t");
    size_t length = strcspn(at, " \t<>");
    text_fit(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), at);
    at += length + strspn(at + length, " \t");
    rule->figure = bench_figure_find(word);
    if (rule->figure == BENCH_FIGURE_COUNT) {
        /* Name figures that the unknown word may mean. */
        char near[GPUT_NEAREST_SIZE], why[GPUT_NEAREST_SIZE + 128];
        CLEANUP_STR struct str words = {0};
        str_append(&words, "wall cpu user system ram gpu_ram gpu energy");
        for (size_t i = 0; i < BENCH_FIGURE_COUNT; i++)
            str_printf(&words, " %s", bench_figures[i].key);
        gput_nearest_words(str_text(&words), word, near);
        text_fit(why, sizeof why, "there is no figure \"%.60s\"%s%s", word,
            near[0] ? "; did you mean " : " (wall, cpu, ram, gpu_ram, gpu, energy)", near);
        return refuse_rule(text, why, error);
    }
    const char *why = limit_rule_parse(at, &rule->limit);
    return why ? refuse_rule(text, why, error) : GPUT_OK;
}

/* A rule, the results that it is checked against, and what it is to say. */
struct rule_check {
    const struct rule *rule;
    const char *text;
    bool *holds;
    char *message; /* of `size` bytes */
    size_t size;
    size_t n_rows;               /* that have the figure */
    const struct doc *undecided; /* the first row that the runs do not decide; NULL: none */
    const struct doc *lacking;   /* the first variant without the figure; NULL: none */
};

/* Notes the first variant that no row of `comparisons` has the figure of. */
static void note_lacking(
    struct rule_check *check, const struct doc *variants, const struct doc *comparisons)
{
    const char *figure = bench_figures[check->rule->figure].key;
    for (const struct doc *variant = variants; variant && !check->lacking;
         variant = variant->next) {
        const struct doc *row = comparisons->first;
        while (
            row && (strcmp(doc_get_string(row, "figure"), figure) != 0 ||
                       strcmp(doc_get_string(row, "name"), doc_get_string(variant, "name")) != 0))
            row = row->next;
        if (!row)
            check->lacking = variant;
    }
}

/* Checks changes. A difference that is not beyond doubt decides nothing where it is beyond the
 * limit. */
static void check_changes(struct rule_check *check, const struct doc *comparisons)
{
    const struct limit_rule *limit = &check->rule->limit;
    for (const struct doc *row = comparisons->first; row && !*check->holds; row = row->next) {
        const char *verdict = doc_get_string(row, "verdict");
        double percent = doc_get_number(row, "change_percent");
        char change[HUMAN_SIZE], low[HUMAN_SIZE], high[HUMAN_SIZE];
        if (strcmp(doc_get_string(row, "figure"), bench_figures[check->rule->figure].key) != 0)
            continue;
        check->n_rows++;
        bool is_claimed = strcmp(verdict, "less") == 0 || strcmp(verdict, "more") == 0;
        double widest = fmax(
            fabs(doc_get_number(row, "low_percent")), fabs(doc_get_number(row, "high_percent")));
        bool is_same = strcmp(verdict, "same") == 0 && widest < BENCH_WIDE_PERCENT;
        *check->holds = limit_rule_holds(limit, is_claimed ? percent : 0);
        if (*check->holds)
            text_fit(check->message, check->size,
                "\"%.150s\" holds: %.200s has %s (%s to %s) against %.200s", check->text,
                doc_get_string(row, "name"), human_change(percent, change),
                human_change(doc_get_number(row, "low_percent"), low),
                human_change(doc_get_number(row, "high_percent"), high),
                doc_get_string(row, "base"));
        else if (!is_claimed && !is_same && !check->undecided &&
                 (isnan(percent) || limit_rule_holds(limit, percent)))
            check->undecided = row;
    }
}

/* The same of values. */
static void check_values(struct rule_check *check, const struct doc *variants)
{
    const struct bench_figure_info *info = &bench_figures[check->rule->figure];
    for (const struct doc *row = variants->first; row && !*check->holds; row = row->next) {
        const struct doc *summary = doc_get(doc_get(row, "figures"), info->key);
        double mean = summary ? doc_get_number(summary, "mean") : NAN;
        char value[HUMAN_SIZE];
        check->n_rows += summary != NULL;
        if (!summary && !check->lacking)
            check->lacking = row;
        *check->holds = limit_rule_holds(&check->rule->limit, mean);
        if (*check->holds)
            text_fit(check->message, check->size, "\"%.150s\" holds: %.200s has %s", check->text,
                doc_get_string(row, "name"),
                human_of_unit(bench_unit_name(info->unit), mean, value));
        else if (isnan(mean) && summary)
            check->undecided = row;
    }
}

/* Says why a rule could not be checked: a rule that is not decided is not kept, either. */
static int refuse_undecided(
    const struct gput_bench *bench, const struct rule_check *check, struct gput_error *error)
{
    const struct doc *row = check->undecided;
    const char *reason = bench->data.missing[check->rule->figure];
    const char *words = row && doc_get(row, "words") ? doc_get_string(row, "words") : NULL;
    if (words)
        return error_set(error, GPUT_ERROR_STATE,
            "The rule \"%.150s\" is not decided: %.100s: %.160s. More runs (-r), or fewer other "
            "programs meanwhile, would tell.",
            check->text, doc_get_string(row, "name"), words);
    if (!row)
        row = check->lacking;
    if (row == check->lacking && check->rule->limit.is_percent && bench->baseline_name && !reason)
        return error_set(error, GPUT_ERROR_STATE,
            "The rule \"%.150s\" cannot be checked: %.200s has no command \"%.100s\", or no such "
            "figure of it. Write that file anew (-o).",
            check->text, bench->baseline_name, doc_get_string(row, "name"));
    return error_set(error, GPUT_ERROR_STATE,
        "The rule \"%.150s\" cannot be checked: %.100s has no such figure%s%.200s.", check->text,
        row && check->n_rows > 0 ? doc_get_string(row, "name") : "the result", reason ? ": " : "",
        reason ? reason : "");
}

int gput_bench_check(const struct gput_bench *bench, const char *rule, bool *holds, char *message,
    size_t size, struct gput_error *error)
{
    struct rule parsed;
    struct doc *document;
    struct rule_check check = {&parsed, rule, holds, message, size, 0, NULL, NULL};
    *holds = false;
    TRY(parse_rule(rule, &parsed, error));
    bool is_change = parsed.limit.is_percent;
    if (is_change && !bench->baseline_name && bench->data.n_variants == 1)
        return error_set(error, GPUT_ERROR_INVALID,
            "The rule \"%.150s\" cannot be checked: there is nothing to compare with: give a "
            "second command, or --baseline FILE.",
            rule);
    if (is_change && bench->options.n_runs > 0 && bench->options.n_runs < BENCH_MIN_BLOCKS)
        return error_set(error, GPUT_ERROR_INVALID,
            "The rule \"%.150s\" cannot be checked: a change needs at least %d runs (-r) of each "
            "command.",
            rule, BENCH_MIN_BLOCKS);
    TRY(make_document(bench, &document, error));
    const struct doc *baseline = doc_get(document, "baseline");
    const struct doc *variants = doc_get(document, "variants");
    if (is_change) {
        const struct doc *comparisons = doc_get(baseline ? baseline : document, "comparisons");
        check_changes(&check, comparisons);
        note_lacking(&check, baseline ? variants->first : variants->first->next, comparisons);
    } else {
        check_values(&check, variants);
    }
    bool is_decided = *holds || (check.n_rows > 0 && !check.undecided && !check.lacking);
    int code = is_decided ? GPUT_OK : refuse_undecided(bench, &check, error);
    doc_destroy(document);
    return code;
}
