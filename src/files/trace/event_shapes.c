#include "files/trace/event_shapes.h"

#include "base/json_fast.h"

#include <stdlib.h>

#define MAX_SEPARATORS 2048
#define MAX_TEXT (64u << 10)
#define MAX_SEPARATOR_LENGTH 1024
#define MAX_SIBLINGS 32
#define MAX_MISSES 8192 /* number of unlearned events after which all shapes are forgotten */

/* The text between two values of an event, before the first one, or after the last one. */
struct separator {
    const char *text;
    uint16_t length;
    uint16_t args_open;  /* offset at which the arguments begin; NOWHERE: not in it */
    uint16_t args_close; /* offset after the end of the arguments; NOWHERE: not in it */
    uint16_t last_bytes; /* mask of its last 16 bytes or fewer, a bit each */
    uint8_t flags;       /* flags of the keys in it */
    uint8_t field;       /* enum trace_field of the value after it */
    bool ends;           /* the event ends with it */
    bool plain;          /* true: it neither ends the event nor begins or ends the arguments, nor
                            has flags */
    uint32_t members;    /* number of members of the event, if the event ends with it */
    uint32_t next;       /* the next alternative at this place; 0: none */
    uint32_t child;      /* the first separator that may follow the value after it; 0: none */
};

#define NOWHERE UINT16_MAX

struct event_shapes {
    struct separator separators[MAX_SEPARATORS]; /* the first is the root, which has no text */
    uint32_t count;
    char texts[MAX_TEXT + 16];
    size_t text_length;
    uint32_t misses; /* events that could not be learned */
};

/* Forgets all learned shapes. */
static void forget(struct event_shapes *shapes)
{
    shapes->separators[0] = (struct separator){0};
    shapes->count = 1;
    shapes->text_length = 0;
    shapes->misses = 0;
}

struct event_shapes *event_shapes_create(void)
{
    struct event_shapes *shapes = malloc(sizeof *shapes);
    if (shapes)
        forget(shapes);
    return shapes;
}

void event_shapes_destroy(struct event_shapes *shapes)
{
    free(shapes);
}

#ifdef __SSE2__
/* Compares 16 bytes, and returns a bit for each that is the same. */
static inline unsigned same_bytes(const char *left, const char *right)
{
    __m128i a = _mm_loadu_si128((const __m128i *)left);
    __m128i b = _mm_loadu_si128((const __m128i *)right);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(a, b));
}

/* Returns whether a separator is at `at`. The padding after the text is zero, which no separator
 * contains, so the comparison ends there. */
static inline bool is_at(const struct separator *separator, const char *at)
{
    const char *text = separator->text;
    for (int left = separator->length; left > 16; left -= 16, text += 16, at += 16)
        if (same_bytes(at, text) != 0xffff)
            return false;
    return (~same_bytes(at, text) & separator->last_bytes) == 0;
}
#else
static inline bool is_at(const struct separator *separator, const char *at)
{
    return strncmp(separator->text, at, separator->length) == 0;
}
#endif

/* Returns the separator at `at`, one of those that may follow the value after `separator`. NULL:
 * none of them. */
static inline const struct separator *separator_at(
    const struct event_shapes *shapes, const struct separator *separator, const char *at)
{
    for (uint32_t next = separator->child; next != 0; next = separator->next) {
        separator = shapes->separators + next;
        if (is_at(separator, at))
            return separator;
    }
    return NULL;
}

/* Scans a value. The separator that must follow it is checked later. */
static inline bool scan_value(
    const char **at, const char *end, struct json_value *value, uint8_t *flags)
{
    const char *start = *at, *after;
    if (*start == '"' && (after = json_fast_string(start + 1)) != NULL) {
        *value = (struct json_value){start + 1, (uint32_t)(after - start - 1), JSON_STRING, 0};
        *at = after + 1;
        return true;
    }
    if ((after = json_fast_digits(start)) != NULL) {
        *value = (struct json_value){start, (uint32_t)(after - start), JSON_NUMBER, 0};
        *at = after;
        return true;
    }
    bool whole = json_scan_scalar(at, end, value) == JSON_OK;
    *flags |= value->flags;
    return whole;
}

bool event_shapes_scan(
    struct event_shapes *shapes, const char **at, const char *end, struct trace_event *event)
{
    const char *here = *at, *args = NULL;
    uint8_t flags = 0;
    if (!shapes)
        return false;
    for (int i = 0; i < TRACE_FIELD_COUNT; i++)
        memset(event->values + i, 0, sizeof event->values[i]);
    const struct separator *separator = shapes->separators;
    for (;;) {
        separator = separator_at(shapes, separator, here);
        if (!separator)
            return false;
        if (!separator->plain) {
            if (separator->args_open != NOWHERE) {
                args = here + separator->args_open;
                flags = 0;
            }
            flags |= separator->flags;
            if (separator->args_close != NOWHERE)
                event->args = (struct json_value){
                    args, (uint32_t)(here + separator->args_close - args), JSON_OBJECT, flags};
            if (separator->ends)
                break;
        }
        here += separator->length;
        if (!scan_value(&here, end, event->values + separator->field, &flags))
            return false;
    }
    event->members = separator->members;
    here += separator->length;
    trace_event_complete(event, *at, here);
    *at = here;
    return true;
}

/* A valid event that is being added to the tree. */
struct learning {
    struct event_shapes *shapes;
    uint32_t last;         /* the separator before the current value */
    const char *start;     /* start of the next separator */
    struct separator next; /* what is known so far about the next separator */
    int depth;             /* number of open arrays and objects */
    bool in_args;
    bool had_args;
};

/* Finds the separator between the last value and `end`, or adds it. Returns false when it cannot be
 * added. */
static bool add_separator(struct learning *learning, const char *end)
{
    struct event_shapes *shapes = learning->shapes;
    size_t length = (size_t)(end - learning->start);
    uint32_t siblings = 0, *place = &shapes->separators[learning->last].child;
    for (; *place != 0; place = &shapes->separators[*place].next, siblings++) {
        struct separator *known = shapes->separators + *place;
        if (known->length == length && memcmp(known->text, learning->start, length) == 0) {
            learning->last = *place;
            return true;
        }
    }
    if (length > MAX_SEPARATOR_LENGTH || siblings == MAX_SIBLINGS)
        return false;
    if (shapes->count == MAX_SEPARATORS || shapes->text_length + length > MAX_TEXT)
        return false;
    char *text = shapes->texts + shapes->text_length;
    memcpy(text, learning->start, length);
    shapes->text_length += length;
    learning->next.text = text;
    learning->next.length = (uint16_t)length;
    learning->next.last_bytes = (uint16_t)((1u << ((length - 1) % 16 + 1)) - 1);
    learning->next.plain = !learning->next.ends && learning->next.flags == 0 &&
                           learning->next.args_open == NOWHERE &&
                           learning->next.args_close == NOWHERE;
    shapes->separators[shapes->count] = learning->next;
    learning->last = *place = shapes->count++;
    return true;
}

/* Begins a separator at `at`. */
static void start_separator(struct learning *learning, const char *at)
{
    learning->start = at;
    learning->next = (struct separator){.args_open = NOWHERE, .args_close = NOWHERE};
}

/* Enters an object or list. Only the brace of the arguments matters. */
static bool open_container(struct learning *learning, const char *at, enum trace_field field)
{
    if (learning->depth++ == 1 && field != TRACE_OTHER) {
        if (field != TRACE_ARGS || *at != '{' || learning->had_args)
            return false; /* rare: let such events always be scanned in full */
        learning->in_args = learning->had_args = true;
        learning->next.args_open = (uint16_t)(at - learning->start);
        learning->next.flags = 0;
    }
    return true;
}

/* Leaves an object or list, and notes where the arguments end. */
static void close_container(struct learning *learning, const char *at)
{
    if (--learning->depth == 1 && learning->in_args) {
        learning->in_args = false;
        learning->next.args_close = (uint16_t)(at + 1 - learning->start);
    }
}

/* Returns whether the current value is a member of the event or of its arguments. */
static bool is_member(const struct learning *learning)
{
    return learning->depth == 1 || (learning->depth == 2 && learning->in_args);
}

/* Walks over the tokens of a valid event and adds the separators between its values. */
static bool learn(struct learning *learning, const char *at, const char *end, size_t members)
{
    enum trace_field field = TRACE_OTHER; /* field of the last key */
    while (at < end) {
        struct json_value scalar;
        const char *token = at;
        if (at - learning->start > MAX_SEPARATOR_LENGTH)
            return false;
        if (*at == '{' || *at == '[') {
            if (!open_container(learning, at++, field))
                return false;
            continue;
        }
        if (*at == '}' || *at == ']') {
            close_container(learning, at++);
            continue;
        }
        if (*at == ',' || *at == ':' || (unsigned char)*at <= ' ') {
            at++;
            continue;
        }
        if (json_fast_scalar(&at, end, &scalar) != JSON_OK)
            return false;
        if (scalar.kind == JSON_STRING && *json_skip_space(at) == ':') { /* a key */
            learning->next.flags |= learning->in_args ? scalar.flags : 0;
            field = learning->depth == 1 ? trace_field_of(&scalar) : trace_args_field_of(&scalar);
            continue;
        }
        learning->next.field = is_member(learning) ? (uint8_t)field : TRACE_OTHER;
        if (!add_separator(learning, token))
            return false;
        start_separator(learning, at);
    }
    learning->next.ends = true;
    learning->next.members = (uint32_t)members;
    return add_separator(learning, end);
}

void event_shapes_learn(struct event_shapes *shapes, const struct trace_event *event)
{
    if (!shapes)
        return;
    struct learning learning = {.shapes = shapes};
    start_separator(&learning, event->text);
    if (event->members > 0 &&
        !learn(&learning, event->text, event->text + event->length, event->members) &&
        ++shapes->misses == MAX_MISSES)
        forget(shapes);
}
