/*
 * Where the time of a session went, as a page of text.
 */
#include "analysis/why/why_rules.h"
#include "analysis/why/why_shares.h"
#include "base/cleanup.h"
#include "base/human.h"
#include "base/screen.h"
#include "base/str.h"
#include "model/results.h"

#include <gputracker/results.h>

#include <math.h>
#include <string.h>

/* Smaller shares are left out. */
#define MIN_PERCENT 0.5

/* Writes a heading with the time that is divided below it. */
static void write_heading(struct str *text, const char *title, double seconds, const char *more)
{
    char figure[HUMAN_SIZE];
    str_printf(text, "%s  %s%s\n", title, human_seconds(seconds, figure), more);
}

/* Writes a line for each cause. */
static void write_shares(struct str *text, const struct gput_wall *wall)
{
    struct why_share shares[WALL_CAUSE_COUNT];
    size_t count = why_shares(wall, shares);
    char figure[HUMAN_SIZE];
    for (size_t i = 0; i < count; i++) {
        if (shares[i].percent < MIN_PERCENT)
            continue;
        str_printf(text, "  %-20s %3.0f %%  %8s", why_word(shares[i].cause), shares[i].percent,
            human_seconds(wall->seconds_of[shares[i].cause], figure));
        if (shares[i].half_width > 0)
            str_printf(text, "  sampled, ± %.*f points", shares[i].half_width < 1 ? 1 : 0,
                shares[i].half_width);
        str_append_char(text, '\n');
    }
}

/* True where main did the same as its path: it waited for no child of which more is known. */
static bool is_same(const struct gput_wall *left, const struct gput_wall *right)
{
    for (int i = 0; i < WALL_CAUSE_COUNT; i++) {
        if (fabs(left->seconds_of[i] - right->seconds_of[i]) > 0.005 * left->seconds)
            return false;
    }
    return true;
}

/* How long some tasks waited, by the kernel. */
static void write_pressure(
    struct str *text, const char *whose, const struct gput_pressure *pressure)
{
    if (isnan(pressure->some_seconds[PRESSURE_CPU]))
        return;
    str_printf(text, "  %-20s", whose);
    for (int i = 0; i < PRESSURE_COUNT; i++) {
        char figure[HUMAN_SIZE];
        str_printf(text, "  %8s",
            isnan(pressure->some_seconds[i]) ? "n/a"
                                             : human_seconds(pressure->some_seconds[i], figure));
    }
    str_append_char(text, '\n');
}

/* How sure it is. */
static void write_sources(struct str *text, const struct gput_results *results)
{
    static const char *const names[] = {"time_went", "run_queue"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct gput_source *source = results_find_source(results, names[i]);
        if (source)
            str_printf(text, "%s%s: %s. %s\n", i == 0 ? "\n" : "", names[i],
                gput_source_state_name(source->state), source->reason);
    }
}

/* Writes the whole page. */
static void write_page(struct str *text, const struct gput_results *results)
{
    const struct gput_wall *path = &results->time_went, *main = &results->main_thread;
    if (!(path->seconds > 0)) {
        str_append(text, "It is not known where the time went.\n");
        write_sources(text, results);
        return;
    }
    bool has_children = !is_same(path, main);
    write_heading(text, "Where the time went", path->seconds,
        has_children ? ": the main thread, and its children while it waited for them" : "");
    write_shares(text, path);
    if (has_children) {
        write_heading(text, "\nMain thread alone", main->seconds, "");
        write_shares(text, main);
    }
    if (results->other_threads.seconds > 0.001) {
        write_heading(
            text, "\nAll other threads", results->other_threads.seconds, ", their times added up");
        write_shares(text, &results->other_threads);
    }
    if (results->programs[0])
        str_printf(text, "\nPrograms, by time on a CPU: %s\n", results->programs);
    if (results->awaited[0])
        str_printf(text, "\nWaited for: %s\n", results->awaited);
    double known = results->gpu_known_seconds, idle = results->gpu_idle.seconds;
    if (known > 0) {
        idle = fmax(idle, 0); /* NaN: it never was */
        str_printf(text, "\nGPU  idle for %.0f %% of the time, busy for %.0f %%\n",
            fmin(100 * idle / known, 100), fmax(100 - 100 * idle / known, 0));
        if (idle > 0) {
            str_append(text, "While no GPU was busy, the main thread:\n");
            write_shares(text, &results->gpu_idle);
        }
        if (results->gpu_idle_others.seconds > 0) {
            str_append(text, "and all other threads, their times added up:\n");
            write_shares(text, &results->gpu_idle_others);
        }
        for (uint32_t i = 0; i < results->n_gpus; i++) {
            const struct gput_gpu *gpu = &results->gpus[i];
            if (gpu->selected && gpu->slowed_by[0])
                str_printf(text, "GPU %u was slowed by: %s\n", (unsigned)i, gpu->slowed_by);
        }
    }

    const struct gput_pressure *group = &results->group_pressure;
    const struct gput_pressure *system = &results->system_pressure;
    if (!(isnan(group->some_seconds[PRESSURE_CPU]) && isnan(system->some_seconds[PRESSURE_CPU]))) {
        str_printf(
            text, "\n%-22s  %8s  %8s  %8s\n", "Some task waited for", "a CPU", "memory", "storage");
        write_pressure(text, "of this command", group);
        write_pressure(text, "of the machine", system);
    }

    char texts[WHY_MAX_ADVICE][WHY_TEXT_SIZE];
    size_t count = why_advice(results, texts);
    if (!why_is_telling(&results->time_went))
        str_append(text, "\nThe evidence is thin: the command was short, or there were few samples "
                         "(--st 0.1 takes more).\n");
    for (size_t i = 0; i < count; i++)
        str_printf(text, "%s%s\n", i == 0 ? "\nAdvice\n  " : "  ", texts[i]);

    write_sources(text, results);
}

int gput_results_why(
    const struct gput_results *results, char **bytes, size_t *length, struct gput_error *error)
{
    struct str text = {0};
    *bytes = NULL;
    *length = 0;
    write_page(&text, results);
    screen_sanitize(&text, 0);
    return str_steal_bytes(&text, bytes, length, error);
}
