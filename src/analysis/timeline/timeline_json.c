#include "analysis/timeline/output_file.h"
#include "analysis/timeline/timeline.h"
#include "base/cleanup.h"
#include "base/json_scan.h"
#include "base/json_string.h"
#include "base/number.h"
#include "base/ordered_jobs.h"
#include "base/str.h"
#include "base/utf8.h"
#include "files/trace/merged_mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- The line of an event ---- */

/* Writes the line of one event of a merged timeline. */

/* State kept between lines; zero at first. */
struct event_line_memory {
    struct str clean; /* texts made valid UTF-8; to be freed */
    int64_t second;   /* the last whole second that was written */
    size_t length;    /* number of its digits */
    char text[NUMBER_TEXT_SIZE];
};

/* Maximum length of a line without the texts of the event. */
#define LINE_OVERHEAD (4 * NUMBER_TEXT_SIZE + 160)

static char *put(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static char *put_int(char *at, int64_t value)
{
    return at + number_format_int64(value, at);
}

/* Writes up to three decimals. */
static char *put_decimals(char *at, unsigned thousandths)
{
    const char decimals[4] = {'.', (char)('0' + thousandths / 100),
        (char)('0' + thousandths / 10 % 10), (char)('0' + thousandths % 10)};
    memcpy(at, decimals, sizeof decimals);
    if (thousandths == 0)
        return at;
    return at + (decimals[3] != '0' ? 4 : decimals[2] != '0' ? 3 : 2);
}

/* Writes nanoseconds as microseconds, with decimals only where they are needed. */
static char *put_us(char *at, int64_t ns)
{
    int64_t us = ns / 1000, rest = ns % 1000;
    if (ns < 0) {
        *at++ = '-';
        us = -us;
        rest = -rest;
    }
    at = put_int(at, us);
    return put_decimals(at, (unsigned)rest);
}

/* Copies a text of an event. It may read and write up to 15 bytes beyond the end. */
static char *put_text(char *at, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i += 16)
        memcpy(at + i, text + i, 16);
    return at + length;
}

/* Copies up to a line break or `end`. Returns the length. May read and write beyond the end as
 * put_text() does. */
static size_t put_line(char *at, const char *text, const char *end)
{
    size_t length = (size_t)(end - text);
#ifdef __SSE2__
    const __m128i line_break = _mm_set1_epi8('\n');
    for (size_t i = 0; i < length; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(text + i));
        unsigned breaks = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, line_break));
        _mm_storeu_si128((__m128i *)(at + i), bytes);
        if (length - i < 16)
            breaks &= (1U << (length - i)) - 1;
        if (breaks != 0)
            return i + (unsigned)__builtin_ctz(breaks);
    }
#else
    const char *line_break = memchr(text, '\n', length);
    length = line_break ? (size_t)(line_break - text) : length;
    memcpy(at, text, length);
#endif
    return length;
}

/* Copies a value without line breaks and indentation, which only occur between its tokens. */
static char *put_on_one_line(char *at, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        size_t copied = put_line(at, text, end);
        at += copied;
        for (text += copied; text < end && (unsigned char)*text <= ' ';)
            text++;
    }
    return at;
}

/* Writes two digits at `at`, and returns the place after them. */
static char *put_two_digits(char *at, unsigned number)
{
    at[0] = (char)('0' + number / 10);
    at[1] = (char)('0' + number % 10);
    return at + 2;
}

/* Writes a time. Nearly all times are in the same second as the previous one. */
static char *put_moment(char *at, int64_t ns, struct event_line_memory *last)
{
    int64_t second = ns / 1000000000;
    unsigned rest = (unsigned)(ns % 1000000000);
    if (ns < 1000000000)
        return put_us(at, ns);
    if (second != last->second) {
        last->second = second;
        last->length = number_format_int64(second, last->text);
    }
    memcpy(at, last->text, sizeof last->text);
    at += last->length;
    at = put_two_digits(at, rest / 10000000);
    at = put_two_digits(at, rest / 100000 % 100);
    at = put_two_digits(at, rest / 1000 % 100);
    return put_decimals(at, rest % 1000);
}

/* Appends the line of an event, after that of another one. `heading` is common to all events of a
 * lane. */
static void event_line_append(struct str *out, struct timeline_event *event, const char *heading,
    size_t heading_length, struct event_line_memory *memory)
{
    if ((event->name.flags | event->category.flags | event->args.flags) & JSON_NOT_ASCII) {
        /* Make all texts valid UTF-8 if one is not ASCII. They are then in `clean`. */
        size_t starts[TEXT_COUNT];
        str_clear(&memory->clean);
        for (int i = 0; i < TEXT_COUNT; i++) {
            starts[i] = memory->clean.length;
            utf8_append(event->texts[i].text, event->texts[i].length, &memory->clean);
            event->texts[i].length = memory->clean.length - starts[i];
        }
        str_reserve(&memory->clean, JSON_PADDING);
        for (int i = 0; i < TEXT_COUNT; i++)
            event->texts[i].text = str_text(&memory->clean) + starts[i];
    }

    out->failed |= memory->clean.failed;
    const struct json_text *name = &event->name, *category = &event->category;
    if (!str_reserve(out, name->length + category->length + event->args.length + LINE_OVERHEAD))
        return;
    char *at = out->data + out->length;
    at = PUT(at, ",\n{\"name\": \"");
    at = put_text(at, name->text, name->length);
    if (category->length > 0) {
        at = PUT(at, "\", \"cat\": \"");
        at = put_text(at, category->text, category->length);
    }
    at = put_text(at, heading, heading_length);
    *at++ = event->type;
    at = PUT(at, "\", \"ts\": ");
    at = put_moment(at, event->start_ns, memory);
    if (event->type == 'X') {
        at = PUT(at, ", \"dur\": ");
        at = put_us(at, event->duration_ns);
    }

    /* Write the members that only few events have. */
    if (event->has_id) {
        /* Write the id as a number, or in hex if a double could not hold it exactly. */
        at = event->id_is_local ? PUT(at, ", \"id2\": {\"local\": ") : PUT(at, ", \"id\": ");
        if (event->id_is_local || event->id >> 53 != 0)
            at += sprintf(at, "\"0x%" PRIx64 "\"", event->id);
        else
            at = put_int(at, (int64_t)event->id);
        if (event->id_is_local)
            *at++ = '}';
    }

    if (event->bind_point) {
        at = PUT(at, ", \"bp\": \"");
        *at++ = event->bind_point;
        *at++ = '"';
    }
    if (event->scope) {
        at = PUT(at, ", \"s\": \"");
        *at++ = event->scope;
        *at++ = '"';
    }

    if (event->args.length > 0) {
        at = PUT(at, ", \"args\": ");
        at = put_on_one_line(at, event->args.text, event->args.length);
    }
    *at++ = '}';
    *at = '\0';
    out->length = (size_t)(at - out->data);
}

/* ---- The file ---- */

/* Begins an event that names a process or a thread. */
static void begin_metadata(struct str *out, bool *first, const char *what, int64_t pid, int64_t tid,
    const char *key, const char *text)
{
    /* One event a line, with a comma before all but the first. */
    str_append(out, *first ? "[\n" : ",\n");
    *first = false;

    str_printf(out, "{\"name\": \"%s\", \"ph\": \"M\", \"pid\": ", what);
    str_append_int64(out, pid);
    if (tid >= 0) {
        str_append(out, ", \"tid\": ");
        str_append_int64(out, tid);
    }
    str_printf(out, ", \"args\": {\"%s\": ", key);
    if (text)
        json_write_string(text, strlen(text), out);
    else
        str_append_int64(out, pid);
}

/* Writes an event that names a process or a thread. */
static void append_metadata(struct str *out, bool *first, const char *what, int64_t pid,
    int64_t tid, const char *key, const char *text)
{
    begin_metadata(out, first, what, pid, tid, key, text);
    str_append(out, "}}");
}

/* Writes the name, sort index and labels of a process when it first occurs. Returns its pid. */
static int64_t introduce_process(
    struct timeline_tracks *tracks, uint32_t number, struct str *out, bool *first)
{
    int64_t pid = timeline_process_number(tracks, number);
    struct timeline_process *process = tracks->processes + number;
    if (process->written)
        return pid;
    process->written = true;

    /* The name has further members for readers of gpu-tracker: the mark of a merged timeline, and
     * the process's origin. */
    const struct timeline_trace *trace =
        process->trace == TRACK_NONE ? NULL : tracks->traces + process->trace;
    begin_metadata(out, first, "process_name", process->pid, -1, "name", process->name);
    if (trace)
        merged_mark_append(out, process->trace, trace->name, trace->rank, trace->world_size);
    else
        merged_mark_append(out, -1, NULL, -1, -1);
    str_append(out, "}}");

    append_metadata(out, first, "process_sort_index", pid, -1, "sort_index", NULL);
    if (process->labels)
        append_metadata(out, first, "process_labels", pid, -1, "labels", process->labels);
    return pid;
}

/* ---- Writing by several threads ---- */

/* Maximum size of a job, except for its last event: about what output_file.h writes at once. */
#define JOB_EVENTS 4096
#define JOB_TEXT (320u << 10)
/* Below this number of events, one thread makes all lines. */
#define FEW_EVENTS 20000
/* Buffers that a huge event has made larger than this are freed. */
#define LARGE_BUFFER (4u << 20)

/* An event of a job. The job's bytes have its record, the text to write before it, and its
 * heading. */
struct planned_line {
    struct timeline_record record; /* `bytes` is set when the line is made */
    size_t before_length;
    size_t heading_length;
};

struct line_job {
    struct source_texts **texts; /* one for each thread */
    struct planned_line *lines;
    size_t count;
    size_t text_length; /* total length of all events */
    struct str bytes;
    struct str out;
    struct gzip_part part; /* `out` compressed, if the file is */
    bool packs;
    struct event_line_memory memory;
    int code;
    struct gput_error error;
};

static size_t padded(size_t length)
{
    return (length + 7) & ~(size_t)7;
}

/* Writes the lines of a job. */
static int make_lines(struct line_job *job, struct source_texts *texts, struct gput_error *error)
{
    const char *at = str_text(&job->bytes);
    for (size_t i = 0; i < job->count; i++) {
        struct planned_line *line = job->lines + i;
        struct timeline_event event;
        line->record.bytes = at;
        const char *before = at + padded(line->record.length);
        const char *heading = before + line->before_length;
        TRY(timeline_read(&line->record, texts, &event, error));
        str_append_bytes(&job->out, before, line->before_length);
        event_line_append(&job->out, &event, heading, line->heading_length, &job->memory);
        at = before + padded(line->before_length + line->heading_length);
    }
    return job->out.failed ? error_memory(error) : GPUT_OK;
}

/* Writes the lines of a job in a worker thread, and compresses them. */
static void run_job(void *user, unsigned thread)
{
    struct line_job *job = user;
    job->code = make_lines(job, job->texts[thread], &job->error);
    if (job->code == GPUT_OK && job->packs)
        job->code = gzip_part_pack(&job->out, &job->part, &job->error);
}

/* Frees a job. */
static void finish_job(void *user)
{
    struct line_job *job = user;
    free(job->lines);
    str_finish(&job->bytes);
    str_finish(&job->out);
    gzip_part_finish(&job->part);
    str_finish(&job->memory.clean);
}

/* The state of writing a timeline. */
struct writing {
    struct timeline *timeline;
    struct output_file file;
    struct ordered_jobs *jobs;
    struct source_texts **texts; /* one for each thread; the first is the timeline's own */
    unsigned threads;
    struct str before; /* text to write before the current event */
    bool first;        /* no event was written yet */
};

static void append_padded(struct str *bytes, const void *more, size_t length, size_t total)
{
    str_append_bytes(bytes, more, length);
    str_append_repeated(bytes, '\0', padded(total) - total);
}

/* Adds an event to the job, with all that depends on earlier events. */
static int plan_line(struct writing *writing, struct line_job *job,
    const struct timeline_record *record, struct gput_error *error)
{
    struct timeline_tracks *tracks = &writing->timeline->tracks;
    struct str *before = &writing->before;
    struct timeline_lane *lane = record->type == 'X'
                                     ? timeline_lane(tracks, record->thread, record->start_ns,
                                           record->start_ns + record->duration_ns)
                                     : timeline_first_lane(tracks, record->thread);
    if (!lane)
        return error_memory(error);
    const struct timeline_thread *thread = tracks->threads + record->thread;
    str_clear(before);
    int64_t pid = introduce_process(tracks, thread->process, before, &writing->first);

    /* Name a lane when it first occurs. */
    CLEANUP_STR struct str name = {0};
    if (!lane->written) {
        lane->written = true;
        if (thread->name)
            str_append(&name, thread->name);
        else
            str_printf(&name, "thread %lld", (long long)thread->number);
        if (lane != thread->lanes)
            str_printf(&name, " (%d)", (int)(lane - thread->lanes) + 1);
        append_metadata(
            before, &writing->first, "thread_name", pid, lane->tid, "name", str_text(&name));
        before->failed |= name.failed;
        lane->heading_length = (size_t)snprintf(lane->heading, sizeof lane->heading,
            "\", \"pid\": %" PRId64 ", \"tid\": %" PRId64 ", \"ph\": \"", pid, lane->tid);
    }

    job->lines[job->count++] = (struct planned_line){*record, before->length, lane->heading_length};
    job->text_length += record->text_length;
    append_padded(&job->bytes, record->bytes, record->length, record->length);
    str_append_bytes(&job->bytes, before->data, before->length);
    append_padded(
        &job->bytes, lane->heading, lane->heading_length, before->length + lane->heading_length);
    str_reserve(&job->bytes, JSON_PADDING);
    return job->bytes.failed || before->failed ? error_memory(error) : GPUT_OK;
}

/* Empties a job for the next events. */
static int start_job(struct writing *writing, struct line_job *job, struct gput_error *error)
{
    job->texts = writing->texts;
    job->packs = writing->file.packs;
    job->count = job->text_length = 0;
    str_clear(&job->bytes);
    str_clear(&job->out);
    if (!job->lines)
        job->lines = malloc(JOB_EVENTS * sizeof *job->lines);
    return job->lines ? GPUT_OK : error_memory(error);
}

/* Frees a buffer that has become too large to be kept. */
static void give_back_large(struct str *text)
{
    if (text->capacity > LARGE_BUFFER)
        str_finish(text);
}

/* Writes the lines of the oldest job. */
static int write_oldest(struct writing *writing, struct gput_error *error)
{
    struct line_job *job = ordered_jobs_take(writing->jobs);
    if (job->code != GPUT_OK) {
        if (error)
            *error = job->error;
        return job->code;
    }
    if (job->packs)
        TRY(output_file_add_part(&writing->file, &job->part, error));
    else
        TRY(output_file_add(&writing->file, &job->out, error));
    give_back_large(&job->out);
    give_back_large(&job->part.bytes);
    give_back_large(&job->bytes);
    ordered_jobs_release(writing->jobs);
    return GPUT_OK;
}

/* Returns a job that has space for events. */
static int open_job(struct writing *writing, struct line_job **job, struct gput_error *error)
{
    while ((*job = ordered_jobs_space(writing->jobs)) == NULL)
        TRY(write_oldest(writing, error));
    return start_job(writing, *job, error);
}

/* Writes all events in order, in jobs of several threads. */
static int write_all(struct writing *writing, struct gput_error *error)
{
    struct timeline_record record;
    struct line_job *job;
    bool there = true;
    TRY(open_job(writing, &job, error));
    for (uint64_t planned = 0; there; planned++) {
        uint64_t all =
            writing->timeline->slices + writing->timeline->counters + writing->timeline->others;
        double done = (double)planned / (double)all, from = writing->timeline->progress_from;
        if (writing->timeline->progress && planned % 4096 == 0)
            writing->timeline->progress(writing->timeline->user, from + (1 - from) * done);

        TRY(timeline_take(writing->timeline, &record, &there, error));
        if (there)
            TRY(plan_line(writing, job, &record, error));
        if (there && job->count < JOB_EVENTS && job->text_length < JOB_TEXT)
            continue;
        ordered_jobs_give(writing->jobs);
        if (there)
            TRY(open_job(writing, &job, error));
    }

    while (ordered_jobs_take(writing->jobs))
        TRY(write_oldest(writing, error));
    str_append(&writing->file.buffer, writing->first ? "[\n]\n" : "\n]\n");
    return GPUT_OK;
}

/* Starts the threads, each with its own reader of texts. */
static int start_threads(struct writing *writing, struct gput_error *error)
{
    static const struct job_class class = {sizeof(struct line_job), run_job, finish_job};
    const struct timeline *timeline = writing->timeline;
    bool is_few = timeline->slices + timeline->counters + timeline->others < FEW_EVENTS;
    writing->threads = is_few || timeline->cores == 0 ? 1 : timeline->cores;
    writing->texts = calloc(writing->threads, sizeof *writing->texts);
    if (!writing->texts)
        return error_memory(error);
    writing->texts[0] = timeline->texts;
    for (unsigned i = 1; i < writing->threads; i++)
        TRY(source_texts_share(timeline->texts, writing->threads, writing->texts + i, error));
    return ordered_jobs_create(writing->threads, 2, &class, &writing->jobs, error);
}

int timeline_write_json(struct timeline *timeline, const char *path, struct gput_error *error)
{
    struct writing writing = {.timeline = timeline, .first = true};
    TRY(output_file_open(path, &writing.file, error));
    int code = start_threads(&writing, error);
    if (code == GPUT_OK)
        code = write_all(&writing, error);
    ordered_jobs_destroy(writing.jobs);
    for (unsigned i = 1; writing.texts && i < writing.threads; i++)
        source_texts_destroy(writing.texts[i]);
    free(writing.texts);
    str_finish(&writing.before);

    if (code == GPUT_OK)
        return output_file_commit(&writing.file, error);
    output_file_discard(&writing.file);
    return code;
}
