#include "views/report/loaders/report_callers.h"

#include "base/cleanup.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SHARE (1.0 / 5000)
#define NO_NAME UINT32_MAX

/* A function as it is called by another one. */
struct callee {
    uint32_t caller, function;
    double seconds, left; /* left: of what no stack has yet */
};

struct callers {
    const struct cprofile *profile;
    struct report_calls *calls;
    struct callee *callees; /* by caller, of each the longest first; owned */
    size_t *first;          /* of each function, and after the last one; owned */
    uint32_t *names;        /* of each function in the calls, or NO_NAME; owned */
    double *shares; /* of each function in the stack, of its first call there; or 0; owned */
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

/* What of a function's time no function called. The callers of a recursive one count what is within
 * its own time again: its time is shared by primitive calls then, which is exact where all of them
 * came from outside, else a guess. */
static double seconds_from_outside(const struct profiled_function *function, bool *is_guess)
{
    const struct call_counts *counts = &function->counts;
    double seconds = counts->cumulative_seconds, calls = (double)counts->total_calls;
    double primitive = (double)counts->primitive_calls;
    bool is_recursive = counts->primitive_calls < counts->total_calls;
    for (size_t i = 0; i < function->caller_count; i++) {
        const struct call_counts *from = &function->callers[i].counts;
        calls -= fmax((double)from->primitive_calls, (double)from->total_calls);
        seconds -= from->cumulative_seconds;
    }
    *is_guess = is_recursive && calls > 0 && calls < primitive;
    if (!is_recursive)
        return seconds;
    return calls > 0 ? counts->cumulative_seconds * fmin(1, calls / primitive) : 0;
}

static double whole_of(const struct cprofile *profile)
{
    double seconds = 0;
    for (size_t i = 0; i < profile->function_count; i++)
        seconds += profile->functions[i].counts.total_seconds;
    return seconds;
}

/* By what guesses are to be multiplied for the whole to be that of the profile. */
static double guess_factor(const struct cprofile *profile)
{
    double known = 0, guessed = 0;
    for (size_t i = 0; i < profile->function_count; i++) {
        bool is_guess;
        double seconds = seconds_from_outside(&profile->functions[i], &is_guess);
        *(is_guess ? &guessed : &known) += seconds;
    }
    return guessed > 0 ? fmax(0, whole_of(profile) - known) / guessed : 1;
}

/* What was called from outside is "called" by a function after the last one: the profiler sees
 * only what began after itself. */
static void list_callees(struct callers *callers)
{
    const struct cprofile *profile = callers->profile;
    uint32_t outside = (uint32_t)profile->function_count;
    double factor = guess_factor(profile);
    for (uint32_t i = 0; i < profile->function_count; i++) {
        const struct profiled_function *function = &profile->functions[i];
        bool is_guess;
        double rest = seconds_from_outside(function, &is_guess) * (is_guess ? factor : 1);
        for (size_t j = 0; j < function->caller_count; j++) {
            const struct caller *caller = &function->callers[j];
            double seconds = caller->counts.cumulative_seconds;
            callers->callees[callers->count++] =
                (struct callee){caller->function, i, seconds, seconds};
        }
        callers->callees[callers->count++] = (struct callee){outside, i, rest, rest};
    }
    qsort(callers->callees, callers->count, sizeof *callers->callees, by_caller);
    for (size_t i = 0, function = 0; function <= (size_t)outside + 1; function++) {
        while (i < callers->count && callers->callees[i].caller < function)
            i++;
        callers->first[function] = i;
    }
}

/* Lists which functions each function calls. False without memory. */
static bool prepare(struct callers *callers)
{
    size_t functions = callers->profile->function_count, edges = functions;
    for (size_t i = 0; i < functions; i++)
        edges += callers->profile->functions[i].caller_count;
    callers->callees = malloc((edges + 1) * sizeof *callers->callees);
    callers->first = malloc((functions + 2) * sizeof *callers->first);
    callers->names = malloc((functions + 1) * sizeof *callers->names);
    callers->shares = calloc(functions + 1, sizeof *callers->shares);
    for (size_t i = 0; callers->names && i < functions; i++)
        callers->names[i] = NO_NAME;
    return callers->callees && callers->first && callers->names && callers->shares;
}

/* Of a file the last two parts of its path, as pyinstrument has it. */
void report_callers_name(const struct cprofile *profile, uint32_t function, struct str *name)
{
    CLEANUP_STR struct str text = {0};
    cprofile_append_name(profile, function, &text);
    const char *whole = str_text(&text), *at = whole + strcspn(whole, ":");
    for (int parts = 0; whole[0] == '/' && at > whole && (at[-1] != '/' || ++parts < 2);)
        at--;
    str_append(name, whole[0] == '/' ? at : whole);
    name->failed |= text.failed;
}

/* The number of the name of a function, which is made when it is asked for. */
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

static int add_callees(struct callers *callers, uint32_t function, double start, double end,
    unsigned depth, struct gput_error *error);

/* Adds a function, and below it what it called, each as long as its share of the time. */
static int add_call(struct callers *callers, uint32_t function, double start, double end,
    unsigned depth, struct gput_error *error)
{
    double whole = callers->profile->functions[function].counts.cumulative_seconds;
    double before = callers->shares[function];
    struct report_call call = {.start = start, .stop = end};
    TRY(name_of(callers, function, &call.name, error));
    TRY(report_calls_add(callers->calls, &call, error));
    if (depth >= REPORT_MAX_DEPTH || !(whole > 0))
        return GPUT_OK;
    if (!(before > 0))
        callers->shares[function] = (end - start) / whole;
    TRY(add_callees(callers, function, start, end, depth + 1, error));
    callers->shares[function] = before;
    return GPUT_OK;
}

/* What a function called from `start` to `end`, by its share of all of its time. In a recursion the
 * share is that of the outer call, as long as something is left that no stack has yet. What is
 * called by itself is not followed: its time is that of the outer call. */
static int add_callees(struct callers *callers, uint32_t function, double start, double end,
    unsigned depth, struct gput_error *error)
{
    for (size_t i = callers->first[function]; i < callers->first[function + 1]; i++) {
        struct callee *callee = &callers->callees[i];
        double seconds = fmin(callee->seconds * callers->shares[function], callee->left);
        seconds = fmin(seconds, end - start);
        if (!(seconds >= callers->min_seconds) || start + seconds > REPORT_LAST_SECOND ||
            callee->function == function)
            continue;
        callee->left -= seconds;
        TRY(add_call(callers, callee->function, start, start + seconds, depth, error));
        start += seconds;
    }
    return GPUT_OK;
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
        callers.min_seconds = fmax(whole_of(profile) * MIN_SHARE, 1e-9);
        callers.shares[profile->function_count] = 1;
        code = add_callees(&callers, (uint32_t)profile->function_count, 0, INFINITY, 0, error);
    }
    free(callers.callees);
    free(callers.first);
    free(callers.names);
    free(callers.shares);
    return code;
}
