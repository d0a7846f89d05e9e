#include "analysis/timeline/timeline_inputs.h"
#include "analysis/timeline/timeline_readings.h"
#include "base/json_string.h"
#include "files/trace/framework_events.h"
#include "files/trace/json_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KNOWN_THREADS 512

struct adding {
    struct timeline_inputs *inputs;
    struct timeline_readings readings;
    struct str text;
    /* Of the current file: */
    struct {
        const char *phase; /* NULL: not used */
        int64_t tid;
        uint32_t thread;
    } known[KNOWN_THREADS];
    uint32_t source;    /* its node; NAMES_NONE: not yet known */
    uint32_t text_file; /* source_texts_add() */
};

/* Finds the track of an event of a framework. */
static int resolve_thread(struct adding *adding, const struct framework_event *event,
    uint32_t *thread, struct gput_error *error)
{
    struct timeline_tracks *tracks = &adding->inputs->timeline->tracks;
    uint32_t process = timeline_process(tracks, event->phase, event->phase);
    if (process == TRACK_NONE)
        return error_memory(error);
    *thread = timeline_thread(tracks, process, adding->source, event->tid);
    if (*thread == TRACK_NONE)
        return error_memory(error);
    if (!tracks->threads[*thread].name && event->node[0] != '\0' &&
        !timeline_thread_rename(tracks, *thread, event->node))
        return error_memory(error);
    return GPUT_OK;
}

/* The texts of an event can be used as they stand in the file. */
static bool is_clean(const struct framework_event *event)
{
    const struct trace_event *written = event->written;
    return written && !(written->name.flags & JSON_ESCAPED) &&
           !(written->args.flags & JSON_HAS_NAN);
}

/* Adds an event as its file has it, so that nothing of it is lost. */
static int add_as_written(struct adding *adding, const struct framework_event *event,
    struct timeline_event *slice, struct gput_error *error)
{
    const struct trace_event *written = event->written;
    const struct json_value *name = &written->name, *args = &written->args;
    struct event_place place = {.file = adding->text_file,
        .at = event_stream_place(event->stream),
        .text = written->text,
        .length = written->length};
    slice->name = (struct json_text){name->text, name->length, name->flags};
    if (args->kind == JSON_OBJECT)
        slice->args = (struct json_text){args->text, args->length, args->flags};
    return timeline_add(adding->inputs->timeline, slice, &place, error);
}

/* Adds an event of a framework, or notes which step it is of. */
static int add_event(void *user, const struct framework_event *event, struct gput_error *error)
{
    struct adding *adding = user;
    struct str *text = &adding->text;
    if (adding->inputs->search) {
        step_search_note(adding->inputs->search, event->step, event->start_ns);
        return GPUT_OK;
    }
    struct timeline_event slice = {.type = 'X',
        .start_ns = event->start_ns,
        .duration_ns = event->end_ns - event->start_ns,
        .is_pair = !event->written};
    if (adding->source == NAMES_NONE) {
        /* Look up with the first event what is the same for all events of a file. */
        struct timeline_inputs *inputs = adding->inputs;
        memset(adding->known, 0, sizeof adding->known);
        adding->text_file = source_texts_add(inputs->timeline->texts,
            event_stream_plain_fd(event->stream), event_stream_name(event->stream));
        adding->source = names_add(&inputs->sources, event->node, strlen(event->node));
        TRY(adding->source == NAMES_NONE ? error_memory(error) : GPUT_OK);
    }

    /* Find the track of the event. It is nearly always one of the few that were used last; the same
     * phase of a file is the same text. */
    size_t slot = ((uintptr_t)event->phase / 2 + (uint64_t)event->tid) % KNOWN_THREADS;
    if (adding->known[slot].phase != event->phase || adding->known[slot].tid != event->tid) {
        TRY(resolve_thread(adding, event, &adding->known[slot].thread, error));
        adding->known[slot].phase = event->phase;
        adding->known[slot].tid = event->tid;
    }
    slice.thread = adding->known[slot].thread;

    if (is_clean(event))
        return add_as_written(adding, event, &slice, error);
    str_clear(text);
    json_write_string(event->name, event->name_length, text);
    size_t name_length = text->length;
    if (event->args.kind == JSON_OBJECT)
        json_write_value(&event->args, text);
    if (text->failed)
        return error_memory(error);
    slice.name = (struct json_text){text->data + 1, name_length - 2, 0};
    slice.args = (struct json_text){text->data + name_length, text->length - name_length, 0};
    return timeline_add(adding->inputs->timeline, &slice, NULL, error);
}

static int add_reading(void *user, const struct system_reading *reading, struct gput_error *error)
{
    struct adding *adding = user;
    return timeline_readings_collect(&adding->readings, reading, &adding->inputs->low, error);
}

/* Adds a file of a training profile, as its kind says. */
static int add_file(struct adding *adding, const struct trace_file *file, struct gput_error *error)
{
    struct timeline_inputs *inputs = adding->inputs;
    switch (file->kind) {
    case TRACE_FILE_SYSTEM:
        return inputs->search || inputs->without_readings
                   ? GPUT_OK
                   : system_metrics_read(file->path, add_reading, adding, &inputs->report, error);
    case TRACE_FILE_EVENTS:
    case TRACE_FILE_TENSORFLOW:
        adding->source = NAMES_NONE;
        return framework_events_read(file, add_event, adding, &inputs->report, error);
    default:
        return GPUT_OK;
    }
}

/* Adds the files that were chosen. */
static int add_chosen(struct adding *adding, const struct trace_root *root, const bool *chosen,
    struct gput_error *error)
{
    struct stat info;
    for (size_t i = 0; i < root->count; i++)
        if (chosen[i] && stat(root->files[i].path, &info) == 0)
            adding->inputs->report.bytes_total += (uint64_t)info.st_size;
    for (size_t i = 0; i < root->count; i++)
        if (chosen[i] && trace_file_is_readable(root->files + i, &adding->inputs->report))
            TRY(add_file(adding, root->files + i, error));

    /* Warn of missing readings only if the metric was asked for: many machines have no GPU. */
    const char *metric = adding->inputs->low.metric;
    if (metric && strcmp(metric, DEFAULT_LOW_METRIC) != 0 && !adding->readings.has_metric &&
        adding->readings.count != 0) {
        struct str text = {0};
        str_printf(&text, "There are no readings of %s, so no moment is marked as low", metric);
        read_report_warn_text(&adding->inputs->report, &text);
    }

    return timeline_readings_add(&adding->readings, adding->inputs->timeline, error);
}

int timeline_add_root(struct timeline_inputs *inputs, const char *path, struct gput_error *error)
{
    struct adding adding = {.inputs = inputs};
    struct trace_root root;
    struct trace_choice choice = inputs->choice;
    if (inputs->search) { /* steps are of the whole, whatever of it is merged */
        choice.suffixes = &inputs->search->suffix;
        choice.n_suffixes = inputs->search->suffix != NULL;
    }
    TRY(trace_root_read(path, &root, error));
    bool *chosen = calloc(root.count + 1, sizeof *chosen);
    int code = chosen ? GPUT_OK : error_memory(error);
    if (code == GPUT_OK) {
        trace_root_choose(&root, &choice, chosen);
        code = add_chosen(&adding, &root, chosen, error);
    }
    free(chosen);
    trace_root_finish(&root);
    timeline_readings_finish(&adding.readings);
    str_finish(&adding.text);
    return code;
}

int timeline_add_framework_file(
    struct timeline_inputs *inputs, const struct trace_file *file, struct gput_error *error)
{
    struct adding adding = {.inputs = inputs};
    int code = add_file(&adding, file, error);
    str_finish(&adding.text);
    return code;
}
