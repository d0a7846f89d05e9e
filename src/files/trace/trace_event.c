#include "files/trace/trace_event.h"

enum trace_field trace_field_of(const struct json_value *key)
{
    static const struct {
        char key[5];
        enum trace_field field;
    } fields[] = {
        {"ph", TRACE_TYPE},
        {"ts", TRACE_START},
        {"dur", TRACE_DURATION},
        {"name", TRACE_NAME},
        {"cat", TRACE_CATEGORY},
        {"pid", TRACE_PID},
        {"tid", TRACE_TID},
        {"id", TRACE_ID},
        {"s", TRACE_SCOPE},
        {"bp", TRACE_BIND_POINT},
        {"args", TRACE_ARGS},
    };
    char word[5] = {0};
    if (key->length > 4)
        return TRACE_OTHER;
    memcpy(word, key->text, key->length);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (memcmp(word, fields[i].key, sizeof word) == 0)
            return fields[i].field;
    return TRACE_OTHER;
}

enum trace_field trace_args_field_of(const struct json_value *key)
{
    if (json_is(key, "step_num"))
        return TRACE_ARGS_STEP;
    if (json_is(key, "pid"))
        return TRACE_ARGS_PID;
    return json_is(key, "thread_id") ? TRACE_ARGS_THREAD : TRACE_OTHER;
}

void trace_event_complete(struct trace_event *event, const char *text, const char *end)
{
    const struct json_value *type = &event->type_text;
    event->text = text;
    event->length = (size_t)(end - text);
    event->start_ns = event->duration_ns = 0;
    event->type = type->kind == JSON_STRING && type->length == 1 ? *type->text : '\0';
    event->has_start = json_scaled_int64(&event->start, 3, &event->start_ns);
    event->has_duration = json_scaled_int64(&event->duration, 3, &event->duration_ns);
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
        enum trace_field field = trace_field_of(&key);
        event->values[field] = value;
        event->members++;
        if (field != TRACE_ARGS || value.kind != JSON_OBJECT)
            continue;
        struct json_walk walk = json_walk(&value);
        struct json_value name, argument;
        while (json_walk_member(&walk, &name, &argument))
            if (argument.kind != JSON_OBJECT && argument.kind != JSON_ARRAY)
                event->values[trace_args_field_of(&name)] = argument;
    }
    trace_event_complete(event, *at, here);
    *at = here;
    return JSON_OK;
}
