#include "analysis/timeline/timeline.h"

#include "base/json_scan.h"
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* An event in the sorter. The record is followed by the id, if the event has one, and then by its
 * texts, unless they are read again from a file. */
struct record_head {
    uint32_t thread;
    char type;
    char scope;
    char bind_point;
    bool has_id : 1;
    bool id_is_local : 1;
    bool placed : 1;
    bool not_ascii : 1; /* at least one text has bytes beyond ASCII */
};

struct copied_record {
    struct record_head head;
    uint32_t lengths[TEXT_COUNT];
};

struct placed_record {
    struct record_head head;
    uint64_t file : 16;
    uint64_t at : 48; /* offset of the event in the file */
    uint16_t length;
    uint16_t starts[TEXT_COUNT]; /* offsets of the texts in the event */
    uint16_t lengths[TEXT_COUNT];
};

int timeline_init(
    struct timeline *timeline, const char *folder, size_t memory_bytes, struct gput_error *error)
{
    *timeline = (struct timeline){
        .start_ns = INT64_MIN, .end_ns = INT64_MAX, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
    TRY(source_texts_create(&timeline->texts, error));
    return event_sorter_create(folder, memory_bytes, &timeline->sorter, error);
}

/* Returns the members of an event that a record keeps besides its texts. */
static struct record_head head_of(const struct timeline_event *event, bool placed)
{
    return (struct record_head){.thread = event->thread,
        .type = event->type,
        .scope = event->scope,
        .bind_point = event->bind_point,
        .has_id = event->has_id,
        .id_is_local = event->id_is_local,
        .placed = placed,
        .not_ascii =
            (event->name.flags | event->category.flags | event->args.flags) & JSON_NOT_ASCII};
}

static size_t id_size(const struct record_head *head)
{
    return head->has_id ? sizeof(uint64_t) : 0;
}

/* Reserves space for an event in the sorter. */
static void *reserve_record(struct timeline *timeline, const struct timeline_event *event,
    size_t length, struct gput_error *error)
{
    return (event->is_pair ? event_sorter_add_pair : event_sorter_add)(
        timeline->sorter, event->start_ns, event->duration_ns, length, error);
}

/* Adds an event with copies of its texts. Returns false with `error` set on failure. */
static bool add_copied(
    struct timeline *timeline, const struct timeline_event *event, struct gput_error *error)
{
    struct copied_record record = {.head = head_of(event, false)};
    size_t id = id_size(&record.head), length = sizeof record + id;
    for (int i = 0; i < TEXT_COUNT; i++) {
        record.lengths[i] = (uint32_t)event->texts[i].length;
        length += event->texts[i].length;
    }
    char *place = reserve_record(timeline, event, length, error);
    if (!place)
        return false;
    memcpy(place, &record, sizeof record);
    memcpy(place + sizeof record, &event->id, id);
    place += sizeof record + id;
    for (int i = 0; i < TEXT_COUNT; place += event->texts[i++].length)
        if (event->texts[i].length > 0)
            memcpy(place, event->texts[i].text, event->texts[i].length);
    return true;
}

/* Adds an event with the place of its text in the input. Returns false with `error` set on
 * failure. */
static bool add_placed(struct timeline *timeline, const struct timeline_event *event,
    const struct event_place *place, struct gput_error *error)
{
    struct record_head head = head_of(event, true);
    struct placed_record *record =
        reserve_record(timeline, event, sizeof *record + id_size(&head), error);
    if (!record)
        return false;
    memcpy(record + 1, &event->id, id_size(&head));
    *record = (struct placed_record){.head = head,
        .file = (uint16_t)place->file,
        .at = place->at & ((UINT64_C(1) << 48) - 1),
        .length = (uint16_t)place->length};
    for (int i = 0; i < TEXT_COUNT; i++) {
        if (event->texts[i].length == 0)
            continue;
        record->starts[i] = (uint16_t)(event->texts[i].text - place->text);
        record->lengths[i] = (uint16_t)event->texts[i].length;
    }
    return true;
}

/* Whether a place is known and small enough for a record. */
static bool can_be_placed(const struct event_place *place)
{
    return place && place->file < UINT16_MAX && place->length <= UINT16_MAX && place->at >> 48 == 0;
}

int timeline_add(struct timeline *timeline, const struct timeline_event *event,
    const struct event_place *place, struct gput_error *error)
{
    int64_t end_ns;
    bool is_time = !__builtin_add_overflow(event->start_ns, event->duration_ns, &end_ns);
    if (is_time && timeline->clock)
        trace_clock_add(timeline->clock, event->start_ns, end_ns);
    if (!is_time || end_ns < timeline->start_ns || event->start_ns > timeline->end_ns) {
        timeline->left_out++;
        return GPUT_OK;
    }
    bool added = can_be_placed(place) ? add_placed(timeline, event, place, error)
                                      : add_copied(timeline, event, error);
    if (!added)
        return error ? (int)error->code : GPUT_ERROR_IO;

    timeline->slices += event->type == 'X';
    timeline->counters += event->type == 'C';
    timeline->others += event->type != 'X' && event->type != 'C';
    if (event->start_ns < timeline->first_ns)
        timeline->first_ns = event->start_ns;
    if (end_ns > timeline->last_ns)
        timeline->last_ns = end_ns;

    return GPUT_OK;
}

int64_t timeline_ns_of_seconds(double seconds)
{
    return (int64_t)llround(seconds * 1e6) * 1000;
}

int timeline_add_counter(struct timeline *timeline, uint32_t thread, const char *name,
    double seconds, double value, struct gput_error *error)
{
    char number[NUMBER_TEXT_SIZE], args[NUMBER_TEXT_SIZE + sizeof "{\"value\": }"];
    int digits = (int)number_format_double(value, number);
    int length = snprintf(args, sizeof args, "{\"value\": %.*s}", digits, number);
    struct timeline_event event = {.type = 'C',
        .thread = thread,
        .start_ns = timeline_ns_of_seconds(seconds),
        .name = {name, strlen(name), 0},
        .args = {args, (size_t)length, 0}};
    return timeline_add(timeline, &event, NULL, error);
}

/* Sets the texts of an event from its record. */
static void unpack_copied(const struct copied_record *record, struct timeline_event *event)
{
    const char *text = (const char *)(record + 1) + id_size(&record->head);
    uint8_t flags = record->head.not_ascii ? JSON_NOT_ASCII : 0;
    for (int i = 0; i < TEXT_COUNT; i++) {
        event->texts[i] = (struct json_text){text, record->lengths[i], flags};
        text += record->lengths[i];
    }
}

/* Sets the texts of an event, read again from the input. */
static int unpack_placed(const struct placed_record *record, struct source_texts *texts,
    struct timeline_event *event, struct gput_error *error)
{
    const char *text;
    uint8_t flags = record->head.not_ascii ? JSON_NOT_ASCII : 0;
    TRY(source_texts_fetch(texts, record->file, record->at, record->length, &text, error));
    for (int i = 0; i < TEXT_COUNT; i++)
        event->texts[i] = (struct json_text){text + record->starts[i], record->lengths[i], flags};
    return GPUT_OK;
}

int timeline_take(struct timeline *timeline, struct timeline_record *record, bool *there,
    struct gput_error *error)
{
    struct sorted_record sorted;
    TRY(event_sorter_next(timeline->sorter, &sorted, there, error));
    if (!*there)
        return GPUT_OK;
    const struct record_head *head = sorted.bytes;
    *record = (struct timeline_record){.start_ns = sorted.start_ns,
        .duration_ns = sorted.duration_ns,
        .thread = head->thread,
        .type = head->type,
        .length = sorted.length,
        .text_length =
            head->placed ? ((const struct placed_record *)sorted.bytes)->length : sorted.length,
        .bytes = sorted.bytes};
    return GPUT_OK;
}

int timeline_read(const struct timeline_record *record, struct source_texts *texts,
    struct timeline_event *event, struct gput_error *error)
{
    const struct record_head *head = record->bytes;
    size_t fixed = head->placed ? sizeof(struct placed_record) : sizeof(struct copied_record);
    event->type = head->type;
    event->scope = head->scope;
    event->bind_point = head->bind_point;
    event->has_id = head->has_id;
    event->id_is_local = head->id_is_local;
    event->id = 0;
    memcpy(&event->id, (const char *)head + fixed, id_size(head));
    event->thread = head->thread;
    event->start_ns = record->start_ns;
    event->duration_ns = record->duration_ns;
    if (head->placed)
        return unpack_placed(record->bytes, texts, event, error);
    unpack_copied(record->bytes, event);
    return GPUT_OK;
}

int timeline_next(
    struct timeline *timeline, struct timeline_event *event, bool *there, struct gput_error *error)
{
    struct timeline_record record;
    TRY(timeline_take(timeline, &record, there, error));
    return *there ? timeline_read(&record, timeline->texts, event, error) : GPUT_OK;
}

void timeline_finish(struct timeline *timeline)
{
    event_sorter_destroy(timeline->sorter);
    source_texts_destroy(timeline->texts);
    timeline_tracks_finish(&timeline->tracks);
    timeline->sorter = NULL;
    timeline->texts = NULL;
}
