#include "files/trace/trace_clock.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/order.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#define HOUR_NS (3600 * NS_PER_SECOND)
#define DAY_NS (24 * HOUR_NS)

/* Maximum number of inputs that a message names, and of gaps between inputs that get their own
 * message. */
#define MAX_NAMED 20
#define MAX_GAPS 3

void trace_clock_begin(struct trace_clock *clock, const char *name)
{
    *clock = (struct trace_clock){.name = name,
        .first_ns = INT64_MAX,
        .last_ns = INT64_MIN,
        .limit_ns = (int64_t)time(NULL) * NS_PER_SECOND + DAY_NS};
}

/* Appends a moment: "2026-11-29 12:00:00". */
static void append_moment(int64_t ns, struct str *text)
{
    time_t seconds = (time_t)(ns / NS_PER_SECOND);
    struct tm parts;
    char moment[32];
    if (gmtime_r(&seconds, &parts) && strftime(moment, sizeof moment, "%F %T", &parts) > 0)
        str_append(text, moment);
}

/* Appends a length of time: "3 days", "5 hours". */
static void append_length(int64_t ns, struct str *text)
{
    bool is_days = ns >= 2 * DAY_NS;
    int64_t count = ns / (is_days ? DAY_NS : HOUR_NS);
    str_printf(text, "%" PRId64 " %s%s", count, is_days ? "day" : "hour", count == 1 ? "" : "s");
}

static int by_start(const void *left, const void *right)
{
    const struct trace_clock *a = left, *b = right;
    return ORDER(a->first_ns, b->first_ns);
}

/* Warns of inputs that begin long after all earlier ones have ended. */
static void warn_of_gaps(
    const struct trace_clock *clocks, size_t count, const struct read_report *report)
{
    const struct trace_clock *last = NULL;
    size_t gaps = 0;
    for (size_t i = 0; i < count; i++) {
        const struct trace_clock *clock = &clocks[i];
        if (clock->absolute == 0)
            continue;
        if (last && clock->first_ns - last->last_ns > HOUR_NS && gaps++ < MAX_GAPS) {
            /* Ask whether both inputs are of one run. */
            struct str text = {0};
            str_printf(&text, "%s begins ", clock->name);
            append_length(clock->first_ns - last->last_ns, &text);
            str_printf(&text, " after %s ended (", last->name);
            append_moment(clock->first_ns, &text);
            str_append(&text, " and ");
            append_moment(last->last_ns, &text);
            str_append(&text, " UTC): are they of one run, and on one clock?");
            read_report_warn_text(report, &text);
        }
        if (!last || clock->last_ns > last->last_ns)
            last = clock;
    }
    if (gaps > MAX_GAPS) {
        struct str text = {0};
        str_printf(&text, "So do %zu more input%s, after others ended", gaps - MAX_GAPS,
            gaps - MAX_GAPS == 1 ? "" : "s");
        read_report_warn_text(report, &text);
    }
}

void trace_clocks_warn(struct trace_clock *clocks, size_t count, const struct read_report *report)
{
    for (size_t i = 0; i < count; i++) {
        /* Warn of times of one input that cannot all be true. */
        const struct trace_clock *clock = &clocks[i];
        uint64_t all = clock->absolute + clock->relative + clock->in_future;
        struct str text = {0};
        if (clock->relative > 0 && clock->relative < all) {
            str_printf(&text,
                "%s: %" PRIu64 " of %" PRIu64
                " events have times before the year 2000: they are not on the clock of the others",
                clock->name, clock->relative, all);
            read_report_warn_text(report, &text);
        }
        if (clock->in_future > 0) {
            str_printf(&text,
                "%s: %" PRIu64 " of %" PRIu64 " events have times in the future: a clock is wrong",
                clock->name, clock->in_future, all);
            read_report_warn_text(report, &text);
        }
        if (clock->absolute > 0 && clock->last_ns - clock->first_ns > 366 * DAY_NS) {
            str_printf(&text, "%s: its events are spread over ", clock->name);
            append_length(clock->last_ns - clock->first_ns, &text);
            str_append(&text, ": some of their times cannot be true");
            read_report_warn_text(report, &text);
        }
    }

    /* Warn of inputs whose times do not count from the epoch. */
    CLEANUP_STR struct str names = {0};
    struct str text = {0};
    size_t relative = 0;
    for (size_t i = 0; i < count; i++)
        if (clocks[i].relative > 0 && clocks[i].absolute + clocks[i].in_future == 0 &&
            relative++ < MAX_NAMED)
            str_printf(&names, "%s%s", relative > 1 ? ", " : "", clocks[i].name);
    if (relative > 0 && count > 1) {
        str_printf(&text, "%s%s %s no absolute times: %s", str_text(&names),
            relative > MAX_NAMED ? ", ..." : "", relative == 1 ? "has" : "have",
            relative < count ? "what is in it does not line up with the other inputs"
                             : "they line up only if all of them count from one moment");
        text.failed |= names.failed;
        read_report_warn_text(report, &text);
    }

    if (count > 0)
        qsort(clocks, count, sizeof *clocks, by_start);
    warn_of_gaps(clocks, count, report);
}
