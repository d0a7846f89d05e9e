#include "analysis/analyze/analysis_warnings.h"

#include "base/str.h"

#define MAX_NAMED 3

/* An empty text is not a warning. */
static void pass(const struct gput_analysis_options *options, struct str *warning)
{
    if (warning->length > 0 && !warning->failed && options->warn)
        options->warn(options->user, str_text(warning));
    str_finish(warning);
}

static void warn_of_outside_calls(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, size_t n_calls)
{
    uint64_t outside = 0;
    struct str warning = {0};
    for (size_t i = 0; i < analysis->n_blocks; i++)
        outside += analysis->blocks[i].num_outside_calls;
    if (outside > 0)
        str_printf(&warning,
            "%llu of %zu calls in %s stopped before the first sample of %s or started after its "
            "last: they count as calls, but what they used is not known.",
            (unsigned long long)outside, n_calls, options->sub_tracking_file,
            options->tracking_file);
    pass(options, &warning);
}

static void warn_of_open_calls(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, uint64_t n_skipped)
{
    uint64_t open = 0, named = 0;
    struct str names = {0}, warning = {0};
    for (size_t i = 0; i < analysis->n_blocks; i++) {
        const struct gput_code_block *block = &analysis->blocks[i];
        open += block->num_open_calls;
        if (block->num_open_calls > 0 && ++named <= MAX_NAMED)
            str_printf(&names, "%s%.60s", named > 1 ? ", " : "", block->name);
    }
    if (open > 0)
        str_printf(&warning,
            "%llu call%s in %s did not end (%s%s): up to the last sample %s part of their block's "
            "time and figures, but not of its calls.",
            (unsigned long long)open, open > 1 ? "s" : "", options->sub_tracking_file,
            str_text(&names), named > MAX_NAMED ? " and others" : "",
            open > 1 ? "they are" : "it is");
    else if (n_skipped > 0)
        str_printf(&warning,
            "%llu call%s in %s did not end, and %s skipped. --open-calls counts %s up to the last "
            "sample.",
            (unsigned long long)n_skipped, n_skipped > 1 ? "s" : "", options->sub_tracking_file,
            n_skipped > 1 ? "are" : "is", n_skipped > 1 ? "them" : "it");
    str_finish(&names);
    pass(options, &warning);
}

static void warn_of_backward_rows(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, uint64_t n_backward_rows)
{
    struct str warning = {0};
    if (n_backward_rows > 0)
        str_printf(&warning,
            "%llu of %llu samples in %s lie before the sample before them. If the system's time "
            "was set back, what code blocks used around that time is wrong.",
            (unsigned long long)n_backward_rows, (unsigned long long)analysis->num_timepoints,
            options->tracking_file);
    pass(options, &warning);
}

static void warn_of_missing_values(
    const struct gput_analysis *analysis, const struct gput_analysis_options *options)
{
    struct str names = {0}, warning = {0};
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        uint64_t missing = analysis->overall[i].n_missing;
        if (missing > 0 && missing < analysis->num_timepoints)
            str_printf(&names, "%s%s in %llu", names.length ? ", " : "", analysis->measurements[i],
                (unsigned long long)missing);
    }
    if (names.length && !names.failed)
        str_printf(&warning,
            "Values are missing in some of the %llu samples of %s (%s): statistics are of the "
            "others, and none where those are all 0.",
            (unsigned long long)analysis->num_timepoints, options->tracking_file, str_text(&names));
    pass(options, &warning);
    str_finish(&names);
}

void analysis_warn_of_gaps(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, const struct call_table *calls,
    uint64_t n_backward_rows)
{
    warn_of_outside_calls(analysis, options, calls->n_calls);
    warn_of_open_calls(analysis, options, calls->n_skipped);
    warn_of_backward_rows(analysis, options, n_backward_rows);
    warn_of_missing_values(analysis, options);
}
