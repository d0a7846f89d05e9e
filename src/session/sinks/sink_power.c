/*
 * The sink that records power: lines for each measurement period, in the format of AIPowerMeter
 * (files/power/energy_recording.h).
 */
#include "base/error.h"
#include "base/wall_clock.h"
#include "files/power/energy_recording_writer.h"
#include "machine/gpu/set.h"
#include "session/sinks/recorded_period.h"
#include "session/sinks/sink.h"

#include <stdlib.h>

/* A line may be this much early rather than a whole tick late. */
#define EARLY_NS (NS_PER_SECOND / 100)
/* Dates have microseconds. */
#define NEXT_MOMENT_NS 1000

/* Output of the writer's thread. */
struct power_output {
    struct energy_recording_writer *recording;
    bool warned;
};

/* An item for the writer: the two lines of a period. */
struct power_item {
    int64_t start_ns, end_ns;
    struct doc *start; /* owned */
    struct doc *end;   /* owned; NULL: as at the start */
    bool ends_segment;
};

struct power_sink {
    struct sink sink;
    struct recorded_period period;
    bool has_lines;
    int64_t due_ns;             /* when the period ends */
    struct recorded_states max; /* of the sample with the most RAM in the period */
    uint64_t most_ram_bytes;
};

/* Makes the folder and opens its file, which the writer's thread has from here on. */
static int open_recording(struct sink *sink, struct gput_error *error)
{
    const struct gput_session_options *options = &sink->settings->options;
    struct power_output *output = calloc(1, sizeof *output);
    if (!output)
        return error_memory(error);
    int code = energy_recording_writer_create(sink->option, options->energy_driver,
        options->energy_continue, wall_clock_ns(), &output->recording, error);
    if (code == GPUT_OK)
        sink_writer_set_output(sink->writer, output);
    else
        free(output);
    return code;
}

/* ---- Its lines ---- */

/*
 * Puts two lines, so that an integral by trapezoids is what was counted: powers, which are means
 * over the period, at its beginning and at its end, each with the states of that moment. No two
 * lines are of the same moment. No line may be drawn across a time without figures, nor across a
 * change of the clock: the segment ends.
 */
static void put_period(struct power_sink *recording)
{
    struct period_powers powers = recorded_period_measure(&recording->period);
    struct power_item item = {
        .start_ns = recording->period.start.date_ns + (recording->has_lines ? NEXT_MOMENT_NS : 0),
        .end_ns = recorded_period_date_ns(&recording->period),
        .ends_segment = !recorded_period_goes_on(&recording->period) ||
                        recorded_period_was_suspended(&recording->period)};
    item.start = recorded_period_line(&recording->period, &powers, &recording->period.start);
    /* If all have ended by the end, it has the states of the sample with the most RAM. Without a
     * sample it has those of its start: their memory is unknown then, not 0. */
    if (recorded_period_has_memory(&recording->period))
        recorded_states_take(&recording->period, 0, &recording->max);
    if (recording->max.metrics)
        item.end = recorded_period_line(&recording->period, &powers, &recording->max);
    recording->has_lines = true;
    if (sink_put(&recording->sink, &item))
        return;
    doc_destroy(item.start);
    doc_destroy(item.end);
}

/* Whether the period ends with this tick. It can only where the machine's CPU time and the joules
 * were just read. */
static bool is_due(const struct power_sink *recording)
{
    const struct snapshot *snapshot = recording->period.snapshot;
    int64_t now_ns = snapshot->taken_ns;
    bool in_step = snapshot->system->since_ns == now_ns && now_ns > recording->period.since_ns;
    return in_step && (snapshot->is_last || now_ns >= recording->due_ns - EARLY_NS ||
                          !recorded_period_goes_on(&recording->period));
}

/* Takes a tick: it begins the first period, ends one, or is in the middle of one. */
static void record(struct sink *sink, const struct snapshot *snapshot)
{
    struct power_sink *recording = (struct power_sink *)sink;
    recording->period.snapshot = snapshot;
    gpu_usage_add(&recording->period.gpu_usage, &snapshot->gpu, 0);
    if (recording->period.since_ns == 0) {
        /* Warn once of powers that are missing in the whole recording, and why. */
        const struct energy_meter *meter = recording->period.snapshot->energy;
        char faults[GPUT_REASON_SIZE];
        const char *end = meter->cpu.remedy[0] ? "; an administrator can run: " : ".";
        if (!meter->cpu.uses_perf) {
            energy_counters_explain(&meter->cpu, faults, sizeof faults);
            if (energy_counters_are_missing(&meter->cpu))
                session_warn(recording->sink.settings,
                    "The recording goes on without the CPU's power%s: %s%s%s",
                    gpu_set_is_empty(recording->period.snapshot->gpus)
                        ? ", and no GPU was found (why: gpu-tracker doctor)"
                        : "",
                    meter->cpu.why_not, end, meter->cpu.remedy);
            else if (faults[0])
                session_warn(recording->sink.settings,
                    "The recording goes on without some of the CPU's power: %s%s%s", faults, end,
                    meter->cpu.remedy);
        }
        recorded_period_begin_first(&recording->period, sink->settings->start_ns);
        /* The first period is short: of a program that soon ends, too, memory is seen. */
        recording->due_ns = sink->settings->start_ns;
    } else if (is_due(recording)) {
        put_period(recording);
        recorded_period_begin(&recording->period);
        recorded_states_finish(&recording->max);
        /* Periods are counted from the start of the session, as ticks are. */
        int64_t period_ns = clock_ns_of_seconds(sink->settings->options.energy_period_seconds);
        int64_t late_ns = snapshot->taken_ns - (recording->due_ns - EARLY_NS);
        if (late_ns >= 0 && period_ns > 0)
            recording->due_ns += (late_ns / period_ns + 1) * period_ns;
    } else {
        /* The states with the most RAM are kept, in case all have ended at the period's end. */
        uint64_t ram_bytes = snapshot->ram->figures.combined.total;
        if (ram_bytes == 0 || (recording->max.metrics && ram_bytes <= recording->most_ram_bytes))
            return;
        recording->most_ram_bytes = ram_bytes;
        recorded_states_take(
            &recording->period, recorded_period_date_ns(&recording->period), &recording->max);
    }
}

static void close_recording(struct sink *sink)
{
    struct power_sink *recording = (struct power_sink *)sink;
    recorded_period_finish(&recording->period);
    recorded_states_finish(&recording->max);
}

/* ---- The writer's thread ---- */

static int write_line(struct power_output *output, int64_t date_ns, const struct doc *metrics,
    struct gput_error *error)
{
    if (!metrics || doc_failed(metrics))
        return error_memory(error);
    return energy_recording_writer_add(output->recording, date_ns, metrics, error);
}

/* Writes the two lines of a period. */
static void write_item(struct sink_writer *writer, void *user, void *bytes)
{
    struct power_output *output = user;
    struct power_item *item = bytes;
    struct gput_error error;
    int code = write_line(output, item->start_ns, item->start, &error);
    if (code == GPUT_OK)
        code = write_line(output, item->end_ns, item->end ? item->end : item->start, &error);
    if (code == GPUT_OK && item->ends_segment)
        code = energy_recording_writer_end_segment(output->recording, &error);
    bool has_failed = code != GPUT_OK;
    if (has_failed && !output->warned)
        sink_writer_warn(
            writer, "%s. Lines of the recording are being lost; tracking goes on.", error.message);
    output->warned |= has_failed;
    doc_destroy(item->start);
    doc_destroy(item->end);
}

/* Completes the recording and frees the output. */
static void end_recording(struct sink_writer *writer, void *user, const struct sink_end *end)
{
    struct power_output *output = user;
    struct gput_error error;
    (void)end;
    if (energy_recording_writer_finish(output->recording, &error) != GPUT_OK)
        sink_writer_warn(writer, "%s", error.message);
    free(output);
}

static const struct sink_writer_job job = {
    .item_size = sizeof(struct power_item),
    .max_items = 256,
    .timeout_seconds = SINK_TIMEOUT_SECONDS,
    .write = write_item,
    .end = end_recording,
};

const struct sink_class sink_power = {
    .name = "recording of power",
    .size = sizeof(struct power_sink),
    .option = offsetof(struct gput_session_options, energy_folder),
    .job = &job,
    .open = open_recording,
    .sample = record,
    .close = close_recording,
};
