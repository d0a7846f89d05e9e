#include "analysis/bench/bench_document.h"

#include "base/human.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define DOCUMENT_VERSION 1
#define BENCH_WORDS_SIZE 160
/* A command is said to have changed meanwhile from here on. */
#define DRIFT_RUNS 4 /* in each half */
#define DRIFT_P 0.001
#define DRIFT_PERCENT 5
/* CPU time that varies more than this is worth a sentence; that of shorter runs does by itself. */
#define CLOCK_RUNS 5
#define CLOCK_PERCENT 5
#define CLOCK_LEAST_SECONDS 0.02

/* Percent with as many digits as say something: "0.03", "0.4", "12". Returns `text`. */
static const char *format_percent(double percent, char text[32])
{
    double size = fabs(percent);
    text_fit(text, 32, size < 0.0995 ? "%.2f" : size < 9.95 ? "%.1f" : "%.0f", size);
    return text;
}

/* "5.1 % less", "21 times as much". Returns `text`. */
static const char *format_change(double percent, char text[BENCH_WORDS_SIZE])
{
    char size[HUMAN_SIZE];
    if (percent >= HUMAN_TIMES_PERCENT) {
        text_fit(text, BENCH_WORDS_SIZE, "%s as much", human_change(percent, size));
    } else {
        format_percent(percent, size);
        text_fit(text, BENCH_WORDS_SIZE, "%s %% %s", size, percent < 0 ? "less" : "more");
    }
    return text;
}

/* "same within 0.4 %", "5.1 % less, ± 0.6": the verdict in words. Returns `text`. */
static const char *words_of(
    const struct bench_change *change, enum bench_verdict verdict, char text[BENCH_WORDS_SIZE])
{
    char size[BENCH_WORDS_SIZE], half[32], low[HUMAN_SIZE], high[HUMAN_SIZE];
    double most = fmax(fabs(change->low), fabs(change->high));
    bool is_times = change->percent >= HUMAN_TIMES_PERCENT;
    format_change(change->percent, size);
    format_percent((change->high - change->low) / (is_times ? 200 : 2), half);
    switch (verdict) {
    case BENCH_SAME:
        if (most == 0)
            text_fit(text, BENCH_WORDS_SIZE, "the same");
        else if (most >= BENCH_WIDE_PERCENT)
            text_fit(text, BENCH_WORDS_SIZE, "no difference seen, but up to %s is possible",
                format_change(change->high >= -change->low ? change->high : change->low, size));
        else
            text_fit(text, BENCH_WORDS_SIZE, "same within %s %%", format_percent(most, half));
        break;
    case BENCH_LESS:
    case BENCH_MORE:
        text_fit(text, BENCH_WORDS_SIZE, strcmp(half, "0.00") == 0 ? "%s" : "%s, ± %s", size, half);
        break;
    case BENCH_PERHAPS:
        text_fit(text, BENCH_WORDS_SIZE, "perhaps %s (%s to %s): more runs would tell", size,
            human_change(change->low, low), human_change(change->high, high));
        break;
    case BENCH_NOISY:
        text_fit(text, BENCH_WORDS_SIZE, "cannot tell: %s, but equal runs differed as much", size);
        break;
    case BENCH_UNKNOWN:
        if (change->n < 3 && !isnan(change->percent))
            text_fit(text, BENCH_WORDS_SIZE, "%s, of too few runs to tell", size);
        else
            text_fit(text, BENCH_WORDS_SIZE, "cannot be compared");
        break;
    }
    return text;
}

/* The values of one figure, with room for them. */
struct builder {
    const struct bench_data *data, *baseline;
    struct doc *root;
    double *base, *other; /* room for all runs or blocks of either */
    bool has_figure[BENCH_FIGURE_COUNT];
    struct bench_change nulls[BENCH_FIGURE_COUNT];
};

static void add_text(struct doc *object, const char *key, const char *text)
{
    if (text)
        doc_add_string(object, key, text);
    else
        doc_add_null(object, key);
}

/* Adds a change with its interval and its verdict. */
static void add_change(
    struct doc *object, const struct bench_change *change, enum bench_verdict verdict)
{
    char words[BENCH_WORDS_SIZE];
    doc_add_int(object, "n", (int64_t)change->n);
    doc_add_double(object, "change_percent", change->percent);
    doc_add_double(object, "low_percent", change->low);
    doc_add_double(object, "high_percent", change->high);
    doc_add_double(object, "ratio", 1 + change->percent / 100);
    doc_add_double(object, "p_value", change->p_value);
    doc_add_string(object, "verdict", bench_verdict_name(verdict));
    doc_add_string(object, "words", words_of(change, verdict, words));
}

/* Adds what the benchmark is: version, date, seed, order. */
static void add_head(struct builder *builder)
{
    const struct bench_data *data = builder->data;
    struct doc *head = doc_add_object(builder->root, "bench");
    doc_add_int(head, "format", DOCUMENT_VERSION);
    add_text(head, "version", data->version);
    add_text(head, "date", data->date);
    doc_add_string(head, "order", data->is_in_order ? "as given" : "randomized blocks");
    doc_add_int(head, "seed", (int64_t)(data->seed & INT64_MAX));
    doc_add_int(head, "warmups", data->n_warmups);
    doc_add_double(head, "precision_percent", data->precision_percent);
    doc_add_double(head, "seconds", data->seconds);
    add_text(head, "stopped_by", data->stopped_by);
    add_text(head, "failure", data->failure);
    struct doc *machine = doc_add_object(builder->root, "machine");
    add_text(machine, "name", data->machine.name);
    add_text(machine, "cpu_model", data->machine.cpu_model);
    doc_add_double(machine, "cores", data->machine.n_cores);
    add_text(machine, "clock_policy", data->machine.clock_policy);
    add_text(machine, "kernel", data->machine.kernel);
    doc_add_double(machine, "ram_bytes", data->machine.ram_bytes);
    add_text(machine, "gpus", data->machine.gpus);
    doc_add_double(machine, "load", data->machine.load);
}

/* The figures that some run has, and why the others are missing. */
static void add_figures(struct builder *builder)
{
    const struct bench_data *data = builder->data;
    struct doc *figures = doc_add_array(builder->root, "figures");
    struct doc *missing = doc_add_array(builder->root, "missing");
    for (size_t i = 0; i < BENCH_FIGURE_COUNT; i++) {
        const struct bench_figure_info *info = &bench_figures[i];
        for (size_t k = 0; k < data->n_runs; k++)
            builder->has_figure[i] |= !isnan(data->runs[k].figures[i]);
        if (!builder->has_figure[i] && (info->is_optional || !data->missing[i]))
            continue;
        struct doc *row = doc_add_object(builder->has_figure[i] ? figures : missing, NULL);
        doc_add_string(row, "figure", info->key);
        const char *label =
            data->has_calls && info->label_of_calls ? info->label_of_calls : info->label;
        doc_add_string(row, "label", label + strspn(label, " "));
        if (!builder->has_figure[i]) {
            doc_add_string(row, "reason", data->missing[i]);
            continue;
        }
        add_text(row, "unit", bench_unit_name(info->unit));
        doc_add_string(row, "meaning", info->meaning);
        doc_add_bool(row, "is_detail", info->is_detail);
        doc_add_bool(row, "is_part", info->label[0] == ' ');
        doc_add_bool(row, "is_of_machine", info->is_of_machine);
        doc_add_bool(row, "is_bound", info->is_bound);
    }
}

/* Adds the mean, interval and spread of a figure of a variant. */
static void add_summary(
    struct builder *builder, size_t variant, enum bench_figure figure, struct doc *object)
{
    struct bench_summary summary;
    size_t count = bench_data_values(builder->data, variant, figure, builder->base);
    bench_summarize(builder->base, count, &summary);
    struct doc *row = doc_add_object(object, bench_figures[figure].key);
    doc_add_int(row, "n", (int64_t)summary.n);
    doc_add_double(row, "mean", summary.mean);
    doc_add_double(row, "low", summary.low);
    doc_add_double(row, "high", summary.high);
    doc_add_double(row, "sd", summary.sd);
    doc_add_double(row, "spread_percent", summary.mean > 0 ? 100 * summary.sd / summary.mean : NAN);
    doc_add_double(row, "median", summary.median);
    doc_add_double(row, "min", summary.min);
    doc_add_double(row, "max", summary.max);
}

/* Adds the variants, each with the summaries of its figures. */
static void add_variants(struct builder *builder)
{
    const struct bench_data *data = builder->data;
    struct doc *variants = doc_add_array(builder->root, "variants");
    for (size_t i = 0; i < data->n_variants; i++) {
        size_t n_counted, n_failed = 0;
        struct doc *row = doc_add_object(variants, NULL);
        doc_add_string(row, "name", data->variants[i].name);
        doc_add_string(row, "command", data->variants[i].command);
        struct doc *parameters = doc_add_object(row, "parameters");
        for (size_t k = 0; k < data->variants[i].n_parameters; k++)
            doc_add_string(parameters, data->variants[i].parameters[k].name,
                data->variants[i].parameters[k].value);
        doc_add_int(row, "runs", (int64_t)bench_data_count_runs(data, i, &n_counted));
        doc_add_int(row, "runs_that_count", (int64_t)n_counted);
        for (size_t k = 0; k < data->n_runs; k++)
            n_failed += data->runs[k].variant == i && data->runs[k].status > 0;
        doc_add_int(row, "runs_that_failed", (int64_t)n_failed);
        struct doc *figures = doc_add_object(row, "figures");
        for (size_t k = 0; k < BENCH_FIGURE_COUNT; k++) {
            if (builder->has_figure[k])
                add_summary(builder, i, (enum bench_figure)k, figures);
        }
    }
}

/* The first variant's runs against each other, in the order in which they ran. */
static void add_null(struct builder *builder)
{
    struct doc *array = doc_add_array(builder->root, "null");
    for (size_t i = 0; i < BENCH_FIGURE_COUNT; i++) {
        size_t count = bench_data_values(builder->data, 0, (enum bench_figure)i, builder->base);
        struct bench_change *change = &builder->nulls[i];
        bench_compare_null(builder->base, count, change);
        if (!builder->has_figure[i] || bench_figures[i].is_of_machine)
            continue;
        struct doc *row = doc_add_object(array, NULL);
        doc_add_string(row, "figure", bench_figures[i].key);
        doc_add_int(row, "n", (int64_t)change->n);
        doc_add_double(row, "change_percent", change->percent);
        doc_add_double(row, "low_percent", change->low);
        doc_add_double(row, "high_percent", change->high);
        doc_add_double(row, "p_value", change->p_value);
        doc_add_bool(row, "is_quiet", !bench_null_is_loud(change));
    }
}

static bool is_compared(const struct builder *builder, size_t figure)
{
    return builder->has_figure[figure] && !bench_figures[figure].is_of_machine &&
           !bench_figures[figure].is_bound;
}

/* Adds the comparisons of each variant with the first one. */
static void add_comparisons(struct builder *builder)
{
    struct doc *array = doc_add_array(builder->root, "comparisons");
    size_t n_blocks = bench_data_block_count(builder->data);
    for (size_t variant = 1; variant < builder->data->n_variants; variant++) {
        for (size_t i = 0; i < BENCH_FIGURE_COUNT; i++) {
            struct bench_change change;
            if (!is_compared(builder, i))
                continue;
            bench_data_blocks(builder->data, 0, (enum bench_figure)i, builder->base);
            bench_data_blocks(builder->data, variant, (enum bench_figure)i, builder->other);
            bench_compare_blocks(builder->base, builder->other, n_blocks, &change);
            struct doc *row = doc_add_object(array, NULL);
            doc_add_int(row, "variant", (int64_t)variant);
            doc_add_string(row, "name", builder->data->variants[variant].name);
            doc_add_string(row, "base", builder->data->variants[0].name);
            doc_add_string(row, "figure", bench_figures[i].key);
            add_change(row, &change, bench_judge(&change, &builder->nulls[i]));
        }
    }
}

/* ---- Another day ---- */

/* The variant of the baseline that is compared: of the same name, of the same command, or the only
 * one there is where there is one here, too. */
static size_t find_in_baseline(const struct builder *builder, size_t variant)
{
    const struct bench_data *baseline = builder->baseline;
    const struct bench_variant *wanted = &builder->data->variants[variant];
    for (size_t i = 0; i < baseline->n_variants; i++) {
        if (strcmp(baseline->variants[i].name, wanted->name) == 0)
            return i;
    }
    for (size_t i = 0; i < baseline->n_variants; i++) {
        if (strcmp(baseline->variants[i].command, wanted->command) == 0)
            return i;
    }
    return baseline->n_variants == 1 && builder->data->n_variants == 1 ? 0 : SIZE_MAX;
}

/* Adds one property in which the machines of two benchmarks differ. */
static void add_machine_difference(
    struct doc *array, const char *what, const char *before, const char *now)
{
    if (!before || !now || strcmp(before, now) == 0)
        return;
    struct doc *row = doc_add_object(array, NULL);
    doc_add_string(row, "what", what);
    doc_add_string(row, "before", before);
    doc_add_string(row, "now", now);
}

/* Adds all properties in which the machine differs from that of the baseline. */
static void add_machine_differences(const struct builder *builder, struct doc *object)
{
    const struct bench_machine *before = &builder->baseline->machine;
    const struct bench_machine *now = &builder->data->machine;
    char cores[2][32];
    struct doc *array = doc_add_array(object, "machine_differs");
    text_fit(cores[0], sizeof cores[0], "%g", before->n_cores);
    text_fit(cores[1], sizeof cores[1], "%g", now->n_cores);
    add_machine_difference(array, "host", before->name, now->name);
    add_machine_difference(array, "CPU model", before->cpu_model, now->cpu_model);
    if (!isnan(before->n_cores) && !isnan(now->n_cores))
        add_machine_difference(array, "allowed cores", cores[0], cores[1]);
    add_machine_difference(array, "clock policy", before->clock_policy, now->clock_policy);
    add_machine_difference(array, "kernel", before->kernel, now->kernel);
    add_machine_difference(array, "GPUs", before->gpus, now->gpus);
}

/* Adds the comparison with a baseline, where there is one. */
static void add_baseline(struct builder *builder, const char *name)
{
    if (!builder->baseline)
        return;
    struct doc *object = doc_add_object(builder->root, "baseline");
    doc_add_string(object, "file", name);
    add_text(object, "date", builder->baseline->date);
    add_machine_differences(builder, object);
    struct doc *array = doc_add_array(object, "comparisons");
    for (size_t variant = 0; variant < builder->data->n_variants; variant++) {
        size_t before = find_in_baseline(builder, variant);
        for (size_t i = 0; before != SIZE_MAX && i < BENCH_FIGURE_COUNT; i++) {
            struct bench_change change;
            if (!is_compared(builder, i))
                continue;
            enum bench_figure figure = (enum bench_figure)i;
            size_t n_base = bench_data_values(builder->baseline, before, figure, builder->base);
            size_t n_now = bench_data_values(builder->data, variant, figure, builder->other);
            bench_compare_groups(builder->base, n_base, builder->other, n_now, &change);
            struct doc *row = doc_add_object(array, NULL);
            doc_add_int(row, "variant", (int64_t)variant);
            doc_add_string(row, "name", builder->data->variants[variant].name);
            doc_add_string(row, "base", builder->baseline->variants[before].name);
            doc_add_string(row, "figure", bench_figures[i].key);
            add_change(row, &change, bench_judge(&change, &builder->nulls[i]));
        }
    }
}

/* ---- What disturbed the runs ---- */

/* How often one cause disturbed runs: those in which it is known, was noticed, and those left
 * out for it. */
struct cause_count {
    size_t n_known, n_noticed, n_left_out;
    double most; /* 0: in none */
};

/* Counts the runs that a cause disturbed. */
static struct cause_count count_cause(const struct bench_data *data, enum bench_cause cause)
{
    struct cause_count count = {0};
    for (size_t i = 0; i < data->n_runs; i++) {
        double value = data->runs[i].causes[cause];
        count.n_known += !isnan(value);
        count.n_noticed += value >= bench_causes[cause].noticeable;
        count.n_left_out += data->runs[i].left_out == cause;
        count.most = fmax(count.most, value);
    }
    return count;
}

/* Adds what disturbed runs, cause by cause. */
static void add_causes(struct builder *builder)
{
    struct doc *array = doc_add_array(builder->root, "causes");
    for (size_t i = 0; i < BENCH_CAUSE_COUNT; i++) {
        const struct bench_cause_info *info = &bench_causes[i];
        struct cause_count count = count_cause(builder->data, (enum bench_cause)i);
        struct doc *row = doc_add_object(array, NULL);
        doc_add_string(row, "cause", info->key);
        doc_add_string(row, "label", info->label);
        doc_add_bool(row, "is_share", info->is_share);
        doc_add_int(row, "runs_known", (int64_t)count.n_known);
        doc_add_int(row, "runs_disturbed", (int64_t)count.n_noticed);
        doc_add_int(row, "runs_left_out", (int64_t)count.n_left_out);
        doc_add_double(row, "most", count.n_known > 0 ? count.most : NAN);
        doc_add_string(row, "remedy", info->remedy);
    }
}

/* Adds every run with its figures and disturbances. */
static void add_runs(struct builder *builder)
{
    const struct bench_data *data = builder->data;
    struct doc *array = doc_add_array(builder->root, "runs");
    for (size_t i = 0; i < data->n_runs; i++) {
        const struct bench_run *run = &data->runs[i];
        struct doc *row = doc_add_object(array, NULL);
        doc_add_int(row, "variant", (int64_t)run->variant);
        doc_add_int(row, "block", (int64_t)run->block);
        doc_add_double(row, "at_seconds", run->at_seconds);
        if (run->status < 0)
            doc_add_null(row, "exit_status");
        else
            doc_add_int(row, "exit_status",
                WIFSIGNALED(run->status) ? 128 + WTERMSIG(run->status) : WEXITSTATUS(run->status));
        if (run->timed_out)
            doc_add_bool(row, "timed_out", true);
        add_text(row, "left_out",
            run->left_out == BENCH_CAUSE_COUNT ? NULL : bench_causes[run->left_out].key);
        struct doc *figures = doc_add_object(row, "figures");
        for (size_t k = 0; k < BENCH_FIGURE_COUNT; k++) {
            if (builder->has_figure[k])
                doc_add_double(figures, bench_figures[k].key, run->figures[k]);
        }
        struct doc *causes = doc_add_object(row, "causes");
        for (size_t k = 0; k < BENCH_CAUSE_COUNT; k++)
            doc_add_double(causes, bench_causes[k].key, run->causes[k]);
    }
}

/* ---- Sentences ---- */

/* Why it ended, and how exact the first variant is by then. */
static void add_end_note(const struct builder *builder, struct doc *notes)
{
    const struct bench_data *data = builder->data;
    struct bench_summary summary;
    char text[512];
    const char *stopped_by = data->stopped_by ? data->stopped_by : "";
    size_t count = bench_data_values(data, 0, BENCH_WALL, builder->base);
    bench_summarize(builder->base, count, &summary);
    double half = bench_half_width_percent(&summary);
    if (strcmp(stopped_by, "time") == 0 && !isnan(data->precision_percent))
        text_fit(text, sizeof text,
            "Time was up (--max-time) before wall time and RAM were known to ± %g %% "
            "(--precision); "
            "wall time is known to ± %.2g %%.",
            data->precision_percent, half);
    else if (strcmp(stopped_by, "interrupt") == 0)
        text_fit(text, sizeof text, "It was interrupted: these are the runs until then.");
    else if (strcmp(stopped_by, "failure") == 0)
        text_fit(text, sizeof text, "A run failed: these are the runs before it.");
    else
        return;
    doc_add_string(notes, NULL, text);
}

/* Adds notes on what disturbed runs, what would help, and whether the machine is quiet enough
 * for the question. */
static void add_noise_notes(const struct builder *builder, struct doc *notes)
{
    const struct bench_data *data = builder->data;
    char text[512];
    for (size_t i = 0; i < BENCH_CAUSE_COUNT; i++) {
        const struct bench_cause_info *info = &bench_causes[i];
        struct cause_count count = count_cause(data, (enum bench_cause)i);
        char size[64] = "", left_out[64] = "";
        if (count.n_noticed == 0)
            continue;
        if (info->is_share)
            text_fit(size, sizeof size, ", up to %.0f %% of a run", 100 * count.most);
        if (count.n_left_out > 0)
            text_fit(left_out, sizeof left_out, "; %zu left out of the figures", count.n_left_out);
        text_fit(text, sizeof text, "%zu of %zu runs were disturbed (%s%s)%s. What helps: %s.",
            count.n_noticed, data->n_runs, info->label, size, left_out, info->remedy);
        doc_add_string(notes, NULL, text);
    }
    if (bench_null_is_loud(&builder->nulls[BENCH_WALL])) {
        const struct bench_change *null = &builder->nulls[BENCH_WALL];
        text_fit(text, sizeof text,
            "The machine is too busy for small differences of wall time: equal runs of %.100s "
            "differed by %.1f %%.",
            data->variants[0].name, fabs(null->percent));
        doc_add_string(notes, NULL, text);
    }
}

/* Whether a command itself became another one meanwhile: the later half of its runs against the
 * earlier one. Nothing of wall time, which others disturb. */
static void add_drift_notes(const struct builder *builder, struct doc *notes)
{
    static const enum bench_figure figures[] = {BENCH_CPU, BENCH_RAM};
    const struct bench_data *data = builder->data;
    for (size_t i = 0; i < data->n_variants; i++) {
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            struct bench_change change;
            char text[512], words[BENCH_WORDS_SIZE];
            size_t n = bench_data_values(data, i, figures[k], builder->base), half = n / 2;
            bench_compare_groups(builder->base, half, builder->base + half, n - half, &change);
            if (half < DRIFT_RUNS || !(change.p_value < DRIFT_P) ||
                fabs(change.percent) < DRIFT_PERCENT)
                continue;
            text_fit(text, sizeof text,
                "%.100s changed while it was measured: %s is %s in its later runs.",
                data->variants[i].name, bench_figures[figures[k]].label,
                format_change(change.percent, words));
            doc_add_string(notes, NULL, text);
        }
    }
}

/* Which commands the baseline lacks: they are compared with nothing. */
static void add_baseline_notes(const struct builder *builder, const char *name, struct doc *notes)
{
    for (size_t i = 0; builder->baseline && i < builder->data->n_variants; i++) {
        char text[512];
        if (find_in_baseline(builder, i) != SIZE_MAX)
            continue;
        text_fit(text, sizeof text,
            "%.200s has no command \"%.200s\": it is compared with nothing.", name,
            builder->data->variants[i].name);
        doc_add_string(notes, NULL, text);
    }
}

/* The standard deviation of a figure of a variant, in percent of its mean; NaN: not known. */
static double spread_percent(
    const struct builder *builder, size_t variant, enum bench_figure figure, double *mean)
{
    struct bench_summary summary;
    size_t count = bench_data_values(builder->data, variant, figure, builder->base);
    bench_summarize(builder->base, count, &summary);
    *mean = summary.mean;
    return count >= CLOCK_RUNS && summary.mean > 0 ? 100 * summary.sd / summary.mean : NAN;
}

/* Whether CPU time itself varies, so that small differences of it stay unseen: of the variant whose
 * CPU time varies most. Counted instructions tell whether the work varies. */
static void add_clock_note(const struct builder *builder, struct doc *notes)
{
    const struct bench_data *data = builder->data;
    size_t widest = 0;
    double most = 0, mean;
    char text[512];
    for (size_t i = 0; i < data->n_variants; i++) {
        double spread = spread_percent(builder, i, BENCH_CPU, &mean);
        if (spread <= most || mean < CLOCK_LEAST_SECONDS || isnan(spread))
            continue;
        most = spread;
        widest = i;
    }
    if (most < CLOCK_PERCENT)
        return;
    double of_work = spread_percent(builder, widest, BENCH_INSTRUCTIONS, &mean);
    if (of_work > most / 4)
        return; /* its work varies as well */
    const char *name = data->variants[widest].name;
    if (isnan(of_work))
        text_fit(text, sizeof text,
            "CPU time of %.100s varies by %.0f %% from run to run. Where its work does not, that "
            "is "
            "the clock of the CPU, or others who share its core. What helps: a fixed clock, more "
            "runs (-r), or a machine that counts instructions.",
            name, most);
    else
        text_fit(text, sizeof text,
            "CPU time of %.100s varies by %.0f %% from run to run, and its instructions by %.1f "
            "%%: "
            "that is the clock of the CPU, or others who share its core. What helps: compare "
            "instructions (--details), a fixed clock, or more runs (-r).",
            name, most, of_work);
    doc_add_string(notes, NULL, text);
}

struct doc *bench_document(
    const struct bench_data *data, const struct bench_data *baseline, const char *baseline_name)
{
    size_t room = data->n_runs + bench_data_block_count(data) + (baseline ? baseline->n_runs : 0);
    struct builder builder = {.data = data, .baseline = baseline};
    CLEANUP_FREE double *base = malloc((room + 1) * sizeof *base);
    CLEANUP_FREE double *other = malloc((room + 1) * sizeof *other);
    builder.base = base;
    builder.other = other;
    builder.root = base && other ? doc_create_object() : NULL;
    if (!builder.root)
        return NULL;
    add_head(&builder);
    add_figures(&builder);
    add_variants(&builder);
    add_null(&builder);
    add_comparisons(&builder);
    add_baseline(&builder, baseline_name);
    add_causes(&builder);
    add_runs(&builder);
    struct doc *notes = doc_add_array(builder.root, "notes");
    add_end_note(&builder, notes);
    add_noise_notes(&builder, notes);
    add_drift_notes(&builder, notes);
    add_clock_note(&builder, notes);
    add_baseline_notes(&builder, baseline_name, notes);
    if (doc_failed(builder.root)) {
        doc_destroy(builder.root);
        return NULL;
    }
    return builder.root;
}
