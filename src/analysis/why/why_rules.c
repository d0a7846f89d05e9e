#include "analysis/why/why_rules.h"

#include "analysis/why/why_shares.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Threads that use less did nothing. */
#define IDLE_CORES 0.05
/* Cores that are used by so much are all in use. */
#define BUSY_PART 0.9
/* A wait for a CPU of this share also says that there are too few CPUs. */
#define MIN_CPU_WAIT_PERCENT 20

struct why_case {
    const struct gput_results *results;
    enum wall_cause cause;
    double percent;     /* of the row's cause */
    double cores;       /* that the command may use */
    double other_cores; /* that all but the main thread used, on average */
    char *text;
};

/* A quota is a cause of its own: what remains are the cores that it shares with others. */
static void explain_cpu(const struct why_case *why)
{
    bool has_quota = why->results->allowed.quota_cores > 0;
    double cores = has_quota ? why->results->static_data.system_core_count : why->cores;
    text_fit(why->text, WHY_TEXT_SIZE,
        "It waited for a CPU for %.0f %% of its time: the %g core%s were in use. Fewer threads or "
        "programs at once, or more cores.",
        why->percent, cores, cores == 1 ? "" : "s");
}

static void explain_quota(const struct why_case *why)
{
    text_fit(why->text, WHY_TEXT_SIZE,
        "Its CPU quota of %g cores held it for %.0f %% of its time: raise the quota, or use no "
        "more threads than that.",
        why->results->allowed.quota_cores, why->percent);
}

static void explain_storage(const struct why_case *why)
{
    text_fit(why->text, WHY_TEXT_SIZE,
        "It waited for storage for %.0f %% of its time: read ahead, read less often and more at "
        "once, or keep the files on a faster disk.",
        why->percent);
}

static void explain_paging(const struct why_case *why)
{
    text_fit(why->text, WHY_TEXT_SIZE,
        "It waited for pages of memory for %.0f %% of its time: more RAM, or less of it in use at "
        "once.",
        why->percent);
}

/* Explains a wait by its other threads and processes. */
static void explain_supply(const struct why_case *why)
{
    const struct gput_wall *others = &why->results->other_threads;
    const char *awaited = why->results->awaited;
    bool wait_too = others->seconds_of[WALL_CPU] > others->seconds_of[WALL_COMPUTING];
    bool are_busy = why->other_cores >= BUSY_PART * why->cores || wait_too ||
                    why_percent(&why->results->time_went, WALL_CPU) >= MIN_CPU_WAIT_PERCENT;
    const char *what = why->cause == WALL_PIPE ? "a pipe" : "a socket";
    /* A poll has a known other end only if it is for pipes of the command's own processes. */
    if (why->cause == WALL_POLL && !awaited[0])
        return;
    if (why->cause == WALL_POLL)
        what = "poll, for a pipe,";
    bool is_inside = awaited[0] && why->cause != WALL_SOCKET;
    if (why->other_cores < IDLE_CORES && is_inside)
        text_fit(why->text, WHY_TEXT_SIZE,
            "It slept in %s for %.0f %% of its time, and what it waited for did not run either: "
            "%.*s.",
            what, why->percent, (int)strcspn(awaited, ";"), awaited);
    else if (why->other_cores < IDLE_CORES)
        text_fit(why->text, WHY_TEXT_SIZE,
            "It slept in %s for %.0f %% of its time, and nothing else of the command ran: it "
            "waited for another program or machine.",
            what, why->percent);
    else
        text_fit(why->text, WHY_TEXT_SIZE,
            "It slept in %s for %.0f %% of its time, while its other threads and processes used "
            "%.1f of %g cores%s: %s",
            what, why->percent, why->other_cores, why->cores,
            wait_too ? ", and waited for a CPU for longer" : "",
            are_busy ? "more workers need more cores." : "more workers may feed it faster.");
}

static void explain_lock(const struct why_case *why)
{
    text_fit(why->text, WHY_TEXT_SIZE,
        "It waited for other threads (a lock, a join) for %.0f %% of its time, while these used "
        "%.1f of %g cores: threads that exclude each other gain nothing.",
        why->percent, why->other_cores, why->cores);
}

static void explain_timer(const struct why_case *why)
{
    text_fit(why->text, WHY_TEXT_SIZE,
        "It slept for a time of its own choice for %.0f %% of its time: sleep less, or wait for "
        "the event itself.",
        why->percent);
}

static void explain_stopped(const struct why_case *why)
{
    text_fit(why->text, WHY_TEXT_SIZE,
        "It was stopped (by a signal, a debugger or a freezer) for %.0f %% of its time.",
        why->percent);
}

/*
 * The rules, and all thresholds: a cause, from which share of the time of a session it is worth
 * saying, its sentence, and how many points more than the other ranks of a job a rank has that it
 * holds up. 0: programs choose to wait so, for each other.
 */
static const struct rule {
    enum wall_cause cause;
    double min_percent;
    double held_points;
    void (*explain)(const struct why_case *why);
} rules[] = {
    {WALL_CPU, MIN_CPU_WAIT_PERCENT, 20, explain_cpu},
    {WALL_QUOTA, 10, 20, explain_quota},
    {WALL_STORAGE, 20, 20, explain_storage},
    {WALL_PAGING, 10, 20, explain_paging},
    {WALL_PIPE, 30, 0, explain_supply},
    {WALL_SOCKET, 30, 0, explain_supply},
    {WALL_POLL, 30, 0, explain_supply},
    {WALL_LOCK, 30, 0, explain_lock},
    {WALL_TIMER, 50, 0, explain_timer},
    {WALL_STOPPED, 10, 20, explain_stopped},
};

/* An idle GPU is reported from this share of the time for which GPUs were read. */
#define MIN_IDLE_GPU_PERCENT 30.0
/* The same of the time for which one was slowed for one reason. */
#define MIN_SLOWED_GPU_PERCENT 10.0

double why_held_points(enum wall_cause cause)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].cause == cause && rules[i].held_points > 0)
            return rules[i].held_points;
    }
    return INFINITY;
}

/* While the GPU was idle, what did the main thread do? */
static bool explain_idle_gpu(const struct gput_results *results, char text[WHY_TEXT_SIZE])
{
    char did[128];
    const struct gput_wall *idle = &results->gpu_idle;
    double percent = 100 * idle->seconds / results->gpu_known_seconds;
    if (!(percent >= MIN_IDLE_GPU_PERCENT) || !why_is_telling(idle))
        return false;
    why_sentence(idle, 3, did, sizeof did);
    double cores = results->gpu_idle_others.seconds_of[WALL_COMPUTING] / idle->seconds;
    char others[64] = "";
    if (cores >= IDLE_CORES)
        text_fit(others, sizeof others, " Its other threads and processes used %.1f cores.", cores);
    text_fit(text, WHY_TEXT_SIZE,
        "The GPU was idle for %.0f %% of the time. Meanwhile the main thread was: %s.%s",
        fmin(percent, 100), did, others);
    return true;
}

/* The GPU that was slowed for the largest part of the time for which its driver was read. */
static bool explain_slowed_gpu(const struct gput_results *results, char text[WHY_TEXT_SIZE])
{
    double most = MIN_SLOWED_GPU_PERCENT;
    text[0] = '\0';
    for (uint32_t i = 0; i < results->n_gpus; i++) {
        const struct gput_gpu *gpu = &results->gpus[i];
        const struct {
            double seconds;
            const char *by, *remedy;
        } reasons[] = {
            {gpu->power_cap_seconds, "its power limit", "a higher limit lets it run faster"},
            {gpu->sync_boost_seconds, "the clocks of other cards", "look at the slowest of them"},
            {gpu->thermal_seconds, "its driver because of heat", "better cooling"},
            {gpu->hardware_thermal_seconds, "the chip because of heat", "better cooling"},
            {gpu->power_brake_seconds, "the power supply", "look at the machine's power"},
        };
        double known = gpu->last_reading_seconds - gpu->first_reading_seconds;
        for (size_t k = 0; gpu->selected && k < sizeof reasons / sizeof *reasons; k++) {
            double percent = 100 * reasons[k].seconds / known;
            if (!(percent >= most))
                continue;
            most = percent;
            text_fit(text, WHY_TEXT_SIZE, "GPU %u was slowed by %s for %.0f %% of the time: %s.",
                (unsigned)i, reasons[k].by, fmin(percent, 100), reasons[k].remedy);
        }
    }
    return text[0];
}

size_t why_advice(const struct gput_results *results, char texts[WHY_MAX_ADVICE][WHY_TEXT_SIZE])
{
    struct why_share shares[WALL_CAUSE_COUNT];
    const struct gput_wall *wall = &results->time_went;
    double allowed = results->static_data.allowed_cores;
    struct why_case why = {.results = results,
        .cores = isnan(allowed) ? results->static_data.system_core_count : allowed,
        .other_cores = fmax(results->other_threads.seconds_of[WALL_COMPUTING] / wall->seconds, 0)};
    size_t count = explain_idle_gpu(results, texts[0]) ? 1 : 0;
    count += explain_slowed_gpu(results, texts[count]) ? 1 : 0;
    size_t n_shares = why_is_telling(wall) ? why_shares(wall, shares) : 0;
    for (size_t i = 0; i < n_shares && count < WHY_MAX_ADVICE; i++) {
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
            if (rules[k].cause != shares[i].cause || shares[i].percent < rules[k].min_percent)
                continue;
            why.cause = shares[i].cause;
            why.percent = shares[i].percent;
            why.text = texts[count];
            why.text[0] = '\0';
            rules[k].explain(&why);
            count += why.text[0] != '\0';
        }
    }
    return count;
}
