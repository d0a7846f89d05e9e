#include "report/loaders/report_callers.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SHARE (1.0 / 5000)
#define NO_NAME UINT32_MAX

/* A function as it is called by another one. */
struct callee {
    uint32_t caller, function;
    double seconds;
};

struct callers {
    const struct cprofile *profile;
    struct report_calls *calls;
    struct callee *callees; /* by caller, of each the longest first; owned */
    size_t *first;          /* of each function, and behind the last one; owned */
    uint32_t *names;        /* of each function in the calls, or NO_NAME; owned */
    bool *open;             /* whether it is in the stack at hand; owned */
    size_t count;
    double min_seconds;
};

static int by_caller(const void *left, const void *right)
{
    const struct callee *a = left, *b = right;
    ORDER_BY(a->caller, b->caller);
    ORDER_BY(b->seconds, a->seconds);
    return ORDER(a->function, b->function);
}

/* What of a function's time no function called is "called" by a function behind the last one: the
 * profiler sees only what began after itself. */
static void list_callees(struct callers *callers)
{
    const struct cprofile *profile = callers->profile;
    uint32_t outside = (uint32_t)profile->function_count;
    for (uint32_t i = 0; i < profile->function_count; i++) {
        const struct profiled_function *function = &profile->functions[i];
        double rest = function->counts.cumulative_seconds;
        for (size_t j = 0; j < function->caller_count; j++) {
            const struct caller *caller = &function->callers[j];
            callers->callees[callers->count++] =
                (struct callee){caller->function, i, caller->counts.cumulative_seconds};
            rest -= caller->counts.cumulative_seconds;
        }
        callers->callees[callers->count++] = (struct callee){outside, i, rest};
    }
    qsort(callers->callees, callers->count, sizeof *callers->callees, by_caller);
    for (size_t i = 0, function = 0; function <= (size_t)outside + 1; function++) {
        while (i < callers->count && callers->callees[i].caller < function)
            i++;
        callers->first[function] = i;
    }
}

static bool prepare(struct callers *callers)
{
    size_t functions = callers->profile->function_count, edges = functions;
    for (size_t i = 0; i < functions; i++)
        edges += callers->profile->functions[i].caller_count;
    callers->callees = malloc((edges + 1) * sizeof *callers->callees);
    callers->first = malloc((functions + 2) * sizeof *callers->first);
    callers->names = malloc((functions + 1) * sizeof *callers->names);
    callers->open = calloc(functions + 1, sizeof *callers->open);
    for (size_t i = 0; callers->names && i < functions; i++)
        callers->names[i] = NO_NAME;
    return callers->callees && callers->first && callers->names && callers->open;
}

/* Of a file the last two parts of its path, as pyinstrument has it. */
void report_callers_name(const struct cprofile *profile, uint32_t function, struct str *name)
{
    struct str text = {0};
    cprofile_append_name(profile, function, &text);
    const char *whole = str_text(&text), *at = whole + strcspn(whole, ":");
    for (int parts = 0; whole[0] == '/' && at > whole && (at[-1] != '/' || ++parts < 2);)
        at--;
    str_append(name, whole[0] == '/' ? at : whole);
    name->failed |= text.failed;
    str_finish(&text);
}

static int name_of(
    struct callers *callers, uint32_t function, uint32_t *name, struct gput_error *error)
{
    struct str text = {0};
    *name = callers->names[function];
    if (*name != NO_NAME)
        return GPUT_OK;
    report_callers_name(callers->profile, function, &text);
    *name =
        text.failed ? NAMES_NONE : names_add(&callers->calls->names, str_text(&text), text.length);
    str_finish(&text);
    callers->names[function] = *name;
    return *name == NAMES_NONE ? error_memory(error) : GPUT_OK;
}

/* What a function called in `seconds` that it took, of all that it took. Recursion is not followed:
 * its time is that of the outer call. */
static int add_callees(struct callers *callers, uint32_t function, double share, double start,
    double end, unsigned depth, struct gput_error *error)
{
    for (size_t i = callers->first[function]; i < callers->first[function + 1]; i++) {
        const struct callee *callee = &callers->callees[i];
        double seconds = fmin(callee->seconds * share, end - start);
        double whole = callers->profile->functions[callee->function].counts.cumulative_seconds;
        uint32_t name;
        if (!(seconds >= callers->min_seconds) || start + seconds > REPORT_LAST_SECOND ||
            callers->open[callee->function])
            continue;
        TRY(name_of(callers, callee->function, &name, error));
        TRY(report_calls_add(callers->calls, name, 0, 0, 0, start, start + seconds, error));
        callers->open[callee->function] = true;
        if (depth < REPORT_MAX_DEPTH && whole > 0)
            TRY(add_callees(callers, callee->function, seconds / whole, start, start + seconds,
                depth + 1, error));
        callers->open[callee->function] = false;
        start += seconds;
    }
    return GPUT_OK;
}

static double whole_of(const struct callers *callers)
{
    double seconds = 0;
    for (size_t i = 0; i < callers->profile->function_count; i++)
        seconds += callers->profile->functions[i].counts.total_seconds;
    return seconds;
}

int report_callers_add(
    struct report_calls *calls, const struct cprofile *profile, struct gput_error *error)
{
    struct callers callers = {.profile = profile, .calls = calls};
    int code = GPUT_OK;
    if (!prepare(&callers)) {
        code = error_memory(error);
    } else {
        list_callees(&callers);
        callers.min_seconds = fmax(whole_of(&callers) * MIN_SHARE, 1e-9);
        code = add_callees(&callers, (uint32_t)profile->function_count, 1, 0, INFINITY, 0, error);
    }
    free(callers.callees);
    free(callers.first);
    free(callers.names);
    free(callers.open);
    return code;
}
