#include "analysis/analyze/analysis_warnings.h"

#include "base/cleanup.h"
#include "base/str.h"

#define MAX_NAMED 3

/* Passes a warning on; an empty one is none. */
static void pass(const struct gput_analysis_options *options, const struct str *warning)
{
    if (warning->length > 0 && !warning->failed && options->warn)
        options->warn(options->user, str_text(warning));
}

/* Warns of calls outside of the time of the samples, and of those that did not end. */
static void warn_of_calls(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, const struct call_table *calls)
{
    uint64_t outside = 0, open = 0, n_named = 0, skipped = calls->n_skipped;
    CLEANUP_STR struct str names = {0}, about_outside = {0}, about_open = {0};
    for (size_t i = 0; i < analysis->n_blocks; i++) {
        const struct gput_code_block *block = &analysis->blocks[i];
        outside += block->num_outside_calls;
        open += block->num_open_calls;
        if (block->num_open_calls > 0 && ++n_named <= MAX_NAMED)
            str_printf(&names, "%s%.60s", n_named > 1 ? ", " : "", block->name);
    }
    if (outside > 0)
        str_printf(&about_outside,
            "%llu of %zu calls in %s stopped before the first sample of %s or started after its "
            "last: they count as calls, but what they used is not known.",
            (unsigned long long)outside, calls->n_calls, options->sub_tracking_file,
            options->tracking_file);
    pass(options, &about_outside);
    if (open > 0)
        str_printf(&about_open,
            "%llu call%s in %s did not end (%s%s): up to the last sample %s part of their block's "
            "time and figures, but not of its calls.",
            (unsigned long long)open, open > 1 ? "s" : "", options->sub_tracking_file,
            str_text(&names), n_named > MAX_NAMED ? " and others" : "",
            open > 1 ? "they are" : "it is");
    else if (skipped > 0)
        str_printf(&about_open,
            "%llu call%s in %s did not end, and %s skipped. --open-calls counts %s up to the last "
            "sample.",
            (unsigned long long)skipped, skipped > 1 ? "s" : "", options->sub_tracking_file,
            skipped > 1 ? "are" : "is", skipped > 1 ? "them" : "it");
    pass(options, &about_open);
}

void analysis_warn_of_gaps(const struct gput_analysis *analysis,
    const struct gput_analysis_options *options, const struct call_table *calls,
    uint64_t n_backward_rows)
{
    warn_of_calls(analysis, options, calls);
    /* Warn of samples that are earlier than the one before them, and of values that some lack. */
    CLEANUP_STR struct str names = {0}, about_order = {0}, about_values = {0};
    unsigned long long n_rows = analysis->num_timepoints;
    if (n_backward_rows > 0)
        str_printf(&about_order,
            "%llu of %llu samples in %s lie before the sample before them. If the system's time "
            "was set back, what code blocks used around that time is wrong.",
            (unsigned long long)n_backward_rows, n_rows, options->tracking_file);
    pass(options, &about_order);
    for (size_t i = 0; i < analysis->n_measurements; i++) {
        uint64_t missing = analysis->overall[i].n_missing;
        if (missing > 0 && missing < n_rows)
            str_printf(&names, "%s%s in %llu", names.length ? ", " : "", analysis->measurements[i],
                (unsigned long long)missing);
    }
    if (names.length && !names.failed)
        str_printf(&about_values,
            "Values are missing in some of the %llu samples of %s (%s): statistics are of the "
            "others, and none where those are all 0.",
            n_rows, options->tracking_file, str_text(&names));
    pass(options, &about_values);
}
