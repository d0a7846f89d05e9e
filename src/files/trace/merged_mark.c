#include "files/trace/merged_mark.h"

#include "base/json_string.h"
#include "files/trace/event_stream.h"

#include <inttypes.h>
#include <sys/stat.h>

#define KEY "merged_by"
#define WRITER "gpu-tracker"

void merged_mark_append(
    struct str *out, int64_t trace, const char *name, int64_t rank, int64_t world_size)
{
    str_append(out, ", \"" KEY "\": \"" WRITER "\"");
    if (!name)
        return;
    str_printf(out, ", \"trace\": %" PRId64 ", \"trace_name\": ", trace);
    json_write_string(name, strlen(name), out);
    if (rank >= 0)
        str_printf(out, ", \"rank\": %" PRId64, rank);
    if (world_size >= 0)
        str_printf(out, ", \"world_size\": %" PRId64, world_size);
}

/* Returns a number of the arguments; -1: it is missing or negative. */
static int64_t number_of(const struct json_value *args, const char *name)
{
    struct json_value value = json_member(args, name);
    int64_t number;
    return json_int64(&value, &number) && number >= 0 ? number : -1;
}

bool merged_mark_read(const struct trace_event *event, struct merged_mark *mark)
{
    struct json_value writer = {0};
    if (event->type == 'M' && json_is(&event->name, "process_name"))
        writer = json_member(&event->args, KEY);
    if (!json_is(&writer, WRITER))
        return false;
    *mark = (struct merged_mark){.trace = number_of(&event->args, "trace"),
        .name = json_member(&event->args, "trace_name"),
        .rank = number_of(&event->args, "rank"),
        .world_size = number_of(&event->args, "world_size")};
    if (mark->name.kind != JSON_STRING)
        mark->trace = -1;
    return true;
}

bool merged_mark_is_in(const char *path)
{
    CLEANUP(event_stream_close_pointer) struct event_stream *stream = NULL;
    struct trace_event event;
    struct merged_mark mark;
    struct stat info;
    bool there;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) ||
        event_stream_open(path, &stream, NULL) != GPUT_OK)
        return false;
    return event_stream_next(stream, &event, &there, NULL) == GPUT_OK && there &&
           merged_mark_read(&event, &mark);
}
