/*
 * Peaks between two scans, as kept by the kernel; as bounds where it is not known of which process.
 */
#include "session/ledger/ledger.h"

#include "base/text.h"

#include <math.h>

static void set_peak(struct gput_peak *peak, double bytes, double at_most_bytes, const char *source)
{
    peak->bytes = bytes;
    peak->at_most_bytes = at_most_bytes;
    text_fit(peak->source, sizeof peak->source, "%s", source);
}

static void set_exact(struct gput_peak *peak, double bytes, const char *source)
{
    set_peak(peak, bytes, bytes, source);
}

/* The same where it may be unbounded. */
static double not_below(double at_most, double min)
{
    return at_most < min ? min : at_most;
}

/* The kernel's counters of a peak may lag behind what was read before. */
static void raise_peak(struct gput_peak *peak, double seen_bytes)
{
    if (peak->bytes < seen_bytes)
        peak->bytes = seen_bytes;
    peak->at_most_bytes = not_below(peak->at_most_bytes, peak->bytes);
}

/*
 * Whether one peak is certainly above another. The kernel may give the same peak as different
 * figures in two places: RSS is the sum of three page counters (file, anonymous, shared), and each
 * may lag.
 */
static bool is_above(const struct ledger *ledger, double a, double b)
{
    return a > b + 3 * (double)ledger->snapshot->tree->view.lag_bytes;
}

/* ---- main ---- */

/* A process with memory has pages: 0 is what was read of it between two programs, or nothing. */
static double seen_of_main(const struct ledger *ledger)
{
    const struct process *main = ledger->log.main;
    return main && main->peak.rss_bytes > 0 ? (double)main->peak.rss_bytes : NAN;
}

/*
 * ru_maxrss is the peak up to the very end, across execve(), but of the largest of several: main, a
 * process that it collected, or our own forked copy before the first execve(). It is main's where
 * the others are excluded.
 */
static bool maxrss_is_of_main(const struct ledger *ledger, double maxrss_bytes)
{
    const struct process *main = process_tree_main(ledger->snapshot->tree);
    struct process_peaks others = process_log_descendants(&ledger->log);
    bool is_highest = others.has_all && others.unbounded == 0 &&
                      maxrss_bytes > (double)others.largest_upper_bound_bytes;
    return main && (is_highest || !process_has_collected(main)) &&
           maxrss_bytes > (double)ledger->collected.forked_rss_bytes;
}

/* VmHWM as last read, or a higher RSS polled since; NaN: it was not read. */
static double peak_hwm(const struct ledger *ledger)
{
    const struct process *main = ledger->log.main;
    if (!main || main->peak.hwm_bytes == 0)
        return NAN;
    uint64_t seen = main->peak.rss_bytes, kept = main->peak.hwm_bytes;
    return (double)(seen > kept ? seen : kept);
}

/* Fills in the peak of main by what the kernel gave when it ended. */
static void fill_ended_main(const struct ledger *ledger, struct gput_peak *peak)
{
    const struct process *main = ledger->log.main;
    double maxrss = (double)ledger->collected.main_usage.ru_maxrss * 1024;
    double known = main ? (double)main->peak.rss_bytes : 0;
    if (maxrss_is_of_main(ledger, maxrss))
        set_exact(peak, maxrss, "ru_maxrss, kept by the kernel to the end");
    else if (main && main->peak.trust == GPUT_PROCESS_PEAK_FINAL)
        set_exact(peak, known, "reported by the kernel when it ended (taskstats)");
    else if (known > 0)
        set_peak(peak, known, not_below(maxrss, known),
            "at least what was read of it (VmHWM) or reported when it ended; at most ru_maxrss of "
            "it and its children");
    else
        set_peak(peak, NAN, maxrss, "at most ru_maxrss; it ended before its VmHWM was read");
}

/* It lives, or it is collected elsewhere. */
static void fill_other_main(const struct ledger *ledger, struct gput_peak *peak)
{
    double kept = peak_hwm(ledger);
    const struct process *main = ledger->log.main;
    bool is_reported = main && process_has_last_record(main) && !main->history.has_replaced_memory;
    bool has_risen = main && main->peak.rss_bytes > process_baseline(main)->peak_bytes;
    if (isnan(kept))
        set_peak(peak, NAN, NAN, "its status file could not be read");
    else if (has_risen && is_reported)
        set_exact(peak, kept, "reported by the kernel when it ended (taskstats)");
    else if (has_risen)
        set_peak(peak, kept, NAN, "VmHWM, kept by the kernel, as last read");
    else if (is_reported)
        set_peak(peak, (double)main->peak.rss_bytes, kept,
            "at least the highest sample; at most what the kernel kept since it began, also before "
            "tracking (taskstats)");
    else
        set_peak(peak, (double)main->peak.rss_bytes, NAN,
            "the highest sample; the kernel's peak (VmHWM) is from before tracking");
}

void ledger_fill_main_peak(const struct ledger *ledger, struct gput_peak *peak)
{
    if (ledger->collected.has_main_usage)
        fill_ended_main(ledger, peak);
    else
        fill_other_main(ledger, peak);
    raise_peak(peak, seen_of_main(ledger));
}

/* ---- descendants ---- */

/* The highest RSS of any process that was waited for; NaN: not known, or it may be our own. */
static double largest_collected(const struct ledger *ledger)
{
    double bytes = (double)ledger->collected.counts.largest_rss_bytes;
    return ledger->collected.has_main_usage && bytes > (double)ledger->collected.forked_rss_bytes
               ? bytes
               : NAN;
}

/* `bound` is that of all processes. */
static void fill_descendants(
    const struct ledger *ledger, double bound, const struct gput_peak *main, struct gput_peak *peak)
{
    struct process_peaks peaks = process_log_descendants(&ledger->log);
    double seen = (double)peaks.largest_bytes,
           upper_bound = (double)peaks.largest_upper_bound_bytes;
    double collected = largest_collected(ledger);
    /* A peak above main's was never main's. */
    if (is_above(ledger, upper_bound, main->at_most_bytes) &&
        is_above(ledger, upper_bound, (double)peaks.before_bytes))
        seen = upper_bound;
    if (is_above(ledger, collected, main->at_most_bytes))
        seen = fmax(seen, collected);

    if (ledger_is_alone(ledger))
        set_exact(peak, 0, "there were none");
    else if (peaks.has_all && peaks.unbounded == 0 && seen >= upper_bound)
        set_exact(peak, seen,
            "RSS of the largest process, reported by the kernel when it ended (taskstats)");
    else if (peaks.has_all && peaks.unbounded == 0)
        set_peak(peak, seen, upper_bound,
            "largest process (taskstats); at most the peak of a fork, or of the parent after a "
            "vfork");
    else if (!isnan(bound))
        set_peak(peak, seen, not_below(bound, seen),
            "largest process: at least what was seen or reported; at most ru_maxrss of all "
            "processes waited for");
    else if (!ledger->collected.has_main_usage)
        set_peak(peak, seen, NAN, "RSS of the largest process (VmHWM), as of the last samples");
    else if (peaks.living > 0)
        set_peak(peak, seen, NAN,
            "largest process seen or reported; some are still running and are reported when they "
            "end");
    else
        set_peak(peak, seen, NAN,
            "largest process seen or reported; not proven that all were waited for");
}

/* ---- all together ---- */

/* `highest`: of samples and single processes; `at_least`: as far as that is certain. Together they
 * never had more than the sum of their peaks. */
static void fill_combined(const struct ledger *ledger, double bound, double highest,
    double at_least, const struct gput_peak *main, struct gput_peak *peak)
{
    struct process_peaks peaks = process_log_descendants(&ledger->log);
    double min = fmax(highest, main->bytes), sum = NAN;
    if (ledger->collected.has_main_usage)
        sum = process_log_peak_upper_bound(&ledger->log, main->at_most_bytes, bound);
    if (ledger_is_alone(ledger))
        set_peak(
            peak, min, not_below(main->at_most_bytes, min), "peak of main (no other processes)");
    else if (ledger->settings->mode != SESSION_LAUNCHED || !ledger->collected.has_main_usage)
        set_peak(peak, at_least, NAN, "at least: highest sample or single process");
    else if (!peaks.has_all)
        set_peak(peak, at_least, NAN,
            "at least: highest sample or single process; the ends of some processes were not "
            "reported");
    else if (isnan(sum))
        set_peak(peak, at_least, NAN,
            "at least: highest sample or single process; some may have had more before execve()");
    else
        set_peak(peak, at_least, not_below(sum, highest),
            "at least: highest sample or single process; at most: the sum of the peaks of "
            "processes that ran at the same time");
}

/* ---- all peaks ---- */

static void raise_to(double *max, double min)
{
    *max = fmax(*max, min);
}

/* A lower bound of what all had together; NaN: not known. */
static double max_at_once(const struct ledger *ledger, const struct gput_results *results)
{
    struct process_peaks peaks = process_log_descendants(&ledger->log);
    double bytes = ledger->between.at_least_bytes;
    raise_to(&bytes, ledger->between.group_bytes);
    if (results->peaks.descendants.bytes > 0)
        raise_to(&bytes, results->peaks.descendants.bytes);
    if (is_above(ledger, (double)peaks.largest_upper_bound_bytes, (double)peaks.before_bytes))
        raise_to(&bytes, (double)peaks.largest_upper_bound_bytes);
    raise_to(&bytes, seen_of_main(ledger));
    if (ledger->settings->mode != SESSION_LAUNCHED)
        return bytes;
    raise_to(&bytes, results->peaks.main.bytes);
    raise_to(&bytes, largest_collected(ledger));
    return bytes;
}

/* Peaks known to lie inside the session: maxima are at least that. */
static void raise_maxima(const struct ledger *ledger, double at_least, struct gput_results *results)
{
    const struct gput_peak *descendants = &results->peaks.descendants;
    if (descendants->bytes > 0 || descendants->at_most_bytes == 0)
        raise_to(&results->max[GPUT_DESCENDANTS_RAM], descendants->bytes);
    raise_to(&results->max[GPUT_COMBINED_RAM], at_least);
    /* For a process older than tracking: only if its peak rose since. */
    raise_to(&results->max[GPUT_MAIN_RAM], seen_of_main(ledger));
    if (ledger->settings->mode != SESSION_LAUNCHED)
        return;
    /* It had a thread, even when it ended before the first scan. */
    raise_to(&results->max[GPUT_MAIN_THREADS], 1);
    raise_to(&results->max[GPUT_COMBINED_THREADS], 1);
    raise_to(&results->max[GPUT_MAIN_RAM], results->peaks.main.bytes);
}

bool ledger_peaks_are_reset(const struct ledger *ledger)
{
    const struct process *main = ledger->log.main;
    bool has_fallen = main && ledger->collected.has_main_usage &&
                      is_above(ledger, (double)main->peak.hwm_bytes,
                          (double)ledger->collected.main_usage.ru_maxrss * 1024);
    return ledger->settings->options.rss_peaks_may_be_reset || has_fallen;
}

static void remove_upper_bounds(struct gput_results *results, const char *why)
{
    struct gput_peak *peaks[] = {
        &results->peaks.main, &results->peaks.descendants, &results->peaks.combined};
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++) {
        if (peaks[i]->at_most_bytes == 0)
            continue; /* there were none */
        set_peak(peaks[i], peaks[i]->bytes, NAN, why);
    }
}

void ledger_fill_peaks(
    const struct ledger *ledger, bool all_collected, struct gput_results *results)
{
    if (ledger->settings->mode == SESSION_MACHINE) {
        set_peak(&results->peaks.main, NAN, NAN, "no process is tracked");
        results->peaks.descendants = results->peaks.combined = results->peaks.control_group =
            results->peaks.limit_group = results->peaks.main;
        return;
    }
    const struct ram_between *between = &ledger->between;
    raise_to(&results->max[GPUT_MAIN_RAM], between->main_bytes);
    raise_to(&results->max[GPUT_DESCENDANTS_RAM], between->descendants_bytes);
    raise_to(&results->max[GPUT_COMBINED_RAM], between->combined_bytes);
    struct gput_peak *main = &results->peaks.main;
    ledger_fill_main_peak(ledger, main);
    raise_peak(main, results->max[GPUT_MAIN_RAM]);
    /* An upper bound for every process; NaN: not all peaks are proven to be in it. */
    bool is_known = ledger->collected.has_main_usage && all_collected;
    double bound = is_known ? (double)ledger->collected.counts.largest_rss_bytes : NAN;
    fill_descendants(ledger, bound, main, &results->peaks.descendants);
    double at_least = max_at_once(ledger, results);
    raise_maxima(ledger, at_least, results);
    fill_combined(
        ledger, bound, results->max[GPUT_COMBINED_RAM], at_least, main, &results->peaks.combined);
    if (ledger_peaks_are_reset(ledger))
        remove_upper_bounds(results,
            "at least what was seen: a program resets the peak that the kernel keeps of it");
    else if (ledger->snapshot->ram->hugetlb_bytes > 0)
        remove_upper_bounds(results,
            "at least what was seen: the peaks that the kernel keeps are without hugetlb pages");
    /*
     * A group is charged for page cache that it fills, and for a page of a file only if it was not
     * in RAM before: this bounds RSS neither from above nor from below. Nor does what is left of it
     * without page cache and the kernel's memory: how much of these there was at the moment of the
     * peak is in no counter (ram_between.h).
     */
    double charged =
        ledger->collected.has_main_usage ? ledger->collected.cgroup_usage.memory_peak_bytes : NAN;
    const char *why_not = ledger->cgroup->why_not;
    if (ledger->settings->mode != SESSION_LAUNCHED)
        set_peak(&results->peaks.control_group, NAN, NAN,
            "no control group holds exactly these processes");
    else if (!isnan(charged))
        set_exact(&results->peaks.control_group, charged,
            "charged to its own control group: RSS, page cache, kernel memory");
    else
        set_peak(&results->peaks.control_group, NAN, NAN,
            *why_not ? why_not : "its control group keeps no memory peak");
    limit_group_fill(
        &ledger->limit_group, results->peaks.control_group.bytes, &results->peaks.limit_group);
}
