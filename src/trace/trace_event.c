#include "trace/trace_event.h"

static bool key_is(const struct json_value *key, const char *name, size_t length)
{
    return memcmp(key->text, name, length) == 0;
}

static struct json_value *field_of_short_key(
    struct trace_event *event, const struct json_value *key, struct json_value *type)
{
    switch (key->length) {
    case 1:
        return *key->text == 's' ? &event->scope : NULL;
    case 2:
        if (key_is(key, "ph", 2))
            return type;
        if (key_is(key, "id", 2))
            return &event->id;
        return key_is(key, "bp", 2) ? &event->bind_point : NULL;
    case 3:
        if (key_is(key, "pid", 3))
            return &event->pid;
        if (key_is(key, "tid", 3))
            return &event->tid;
        return key_is(key, "cat", 3) ? &event->category : NULL;
    case 4:
        if (key_is(key, "name", 4))
            return &event->name;
        return key_is(key, "args", 4) ? &event->args : NULL;
    default:
        return NULL;
    }
}

static void take_member(
    struct trace_event *event, const struct json_value *key, const struct json_value *value)
{
    struct json_value type = {.kind = JSON_NONE};
    struct json_value *field = field_of_short_key(event, key, &type);
    if (field)
        *field = *value;
    else if (key->length == 2 && key_is(key, "ts", 2))
        event->has_start = json_scaled_int64(value, 3, &event->start_ns);
    else if (key->length == 3 && key_is(key, "dur", 3))
        event->has_duration = json_scaled_int64(value, 3, &event->duration_ns);
    if (type.kind == JSON_STRING && type.length == 1)
        event->type = *type.text;
}

enum json_status trace_event_scan(const char **at, const char *end, struct trace_event *event)
{
    *event = (struct trace_event){0};
    const char *here = json_skip_space(*at + 1);
    bool last = *here == '}' && here < end;
    here += last;
    while (!last) {
        struct json_value key, value;
        here = json_skip_space(here);
        enum json_status status = json_scan_member(&here, end, &key, &value, &last);
        if (status != JSON_OK)
            return status;
        take_member(event, &key, &value);
        event->members++;
    }
    *at = here;
    return JSON_OK;
}
