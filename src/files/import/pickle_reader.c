#include "files/import/pickle_reader.h"

#include "base/array.h"
#include "files/import/pickle_arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opcodes, named as in Python's pickle module. */
/* clang-format off */
enum opcode {
    MARK = '(', STOP = '.', POP = '0', POP_MARK = '1', DUP = '2', BININT = 'J', BININT1 = 'K',
    BININT2 = 'M', NONE = 'N', REDUCE = 'R', BINUNICODE = 'X', APPEND = 'a', BUILD = 'b',
    GLOBAL = 'c', DICT = 'd', EMPTY_DICT = '}', APPENDS = 'e', BINGET = 'h', LONG_BINGET = 'j',
    LIST = 'l', EMPTY_LIST = ']', BINPUT = 'q', LONG_BINPUT = 'r', SETITEM = 's', TUPLE = 't',
    EMPTY_TUPLE = ')', SETITEMS = 'u', BINFLOAT = 'G', BINSTRING = 'T', SHORT_BINSTRING = 'U',
    BINBYTES = 'B', SHORT_BINBYTES = 'C', PROTO = 0x80, NEWOBJ = 0x81, TUPLE1 = 0x85,
    TUPLE2 = 0x86, TUPLE3 = 0x87, NEWTRUE = 0x88, NEWFALSE = 0x89, LONG1 = 0x8a, LONG4 = 0x8b,
    SHORT_BINUNICODE = 0x8c, BINUNICODE8 = 0x8d, BINBYTES8 = 0x8e, EMPTY_SET = 0x8f,
    ADDITEMS = 0x90, FROZENSET = 0x91, NEWOBJ_EX = 0x92, STACK_GLOBAL = 0x93, MEMOIZE = 0x94,
    FRAME = 0x95, BYTEARRAY8 = 0x96, NEXT_BUFFER = 0x97, READONLY_BUFFER = 0x98,
};
/* clang-format on */

struct pickle {
    struct pickle_arena arena;
    struct pickle_value *root;
};

/* A growing list of values; on the stack a NULL is a mark. */
struct values {
    struct pickle_value **items;
    size_t count;
    size_t capacity;
};

struct reader {
    const unsigned char *start;
    const unsigned char *at;
    const unsigned char *end;
    const char *name;
    const struct pickle_class *classes;
    struct pickle *pickle;
    struct values stack;
    struct values memo;
    struct gput_error *error;
    bool stopped;
};

static int refuse(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse(struct reader *reader, const char *format, ...)
{
    char why[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return error_set(
        reader->error, GPUT_ERROR_FORMAT, "Pickle file %s cannot be read: %s.", reader->name, why);
}

static int refuse_short(struct reader *reader)
{
    return refuse(
        reader, "it is truncated or damaged at byte %zu", (size_t)(reader->at - reader->start));
}

/* Out of memory, or out of what a pickle may use. */
static int refuse_memory(struct reader *reader)
{
    if (reader->pickle->arena.total > reader->pickle->arena.max / 2)
        return refuse(reader, "its content is too large for results");
    return error_memory(reader->error);
}

/* ---- Values ---- */

static struct pickle_value *new_value(struct reader *reader, enum pickle_kind kind)
{
    struct pickle_value *value =
        pickle_arena_allocate(&reader->pickle->arena, sizeof(struct pickle_value));
    if (value)
        value->kind = kind;
    return value;
}

static bool values_push(struct values *values, struct pickle_value *value)
{
    if (!ARRAY_RESERVE(values->items, values->count, values->capacity))
        return false;
    values->items[values->count++] = value;
    return true;
}

static int push(struct reader *reader, struct pickle_value *value)
{
    if (!value)
        return refuse_memory(reader);
    return values_push(&reader->stack, value) ? GPUT_OK : error_memory(reader->error);
}

/* Takes the top of the stack; NULL when there is none above the last mark. */
static struct pickle_value *pop(struct reader *reader)
{
    if (reader->stack.count == 0 || !reader->stack.items[reader->stack.count - 1])
        return NULL;
    return reader->stack.items[--reader->stack.count];
}

static struct pickle_value *top(const struct reader *reader)
{
    return reader->stack.count > 0 ? reader->stack.items[reader->stack.count - 1] : NULL;
}

static bool list_add(
    struct reader *reader, struct pickle_value *list, struct pickle_value **items, size_t count)
{
    if (list->list.count + count > list->list.capacity) {
        size_t capacity = list->list.count + count;
        if (list->list.count > 0 && capacity < list->list.count * 2)
            capacity = list->list.count * 2;
        struct pickle_value **grown =
            pickle_arena_allocate(&reader->pickle->arena, capacity * sizeof(*grown));
        if (!grown)
            return false;
        if (list->list.count > 0)
            memcpy(grown, list->list.items, list->list.count * sizeof(*grown));
        list->list.items = grown;
        list->list.capacity = capacity;
    }
    if (count > 0)
        memcpy(list->list.items + list->list.count, items, count * sizeof(*items));
    list->list.count += count;
    return true;
}

/* The number of values above the last mark; SIZE_MAX when there is no mark. */
static size_t count_to_mark(const struct reader *reader)
{
    size_t i = reader->stack.count;
    while (i > 0 && reader->stack.items[i - 1])
        i--;
    return i > 0 ? reader->stack.count - i : SIZE_MAX;
}

/* ---- Bytes ---- */

static bool take(struct reader *reader, size_t size, const unsigned char **bytes)
{
    if (size > (size_t)(reader->end - reader->at))
        return false;
    *bytes = reader->at;
    reader->at += size;
    return true;
}

/* An unsigned little-endian number of `size` bytes. */
static bool parse_number(struct reader *reader, size_t size, uint64_t *number)
{
    const unsigned char *bytes;
    if (!take(reader, size, &bytes))
        return false;
    *number = 0;
    for (size_t i = size; i-- > 0;)
        *number = *number << 8 | bytes[i];
    return true;
}

/* Text or bytes after a length of `size` bytes. */
static int push_text(struct reader *reader, enum pickle_kind kind, size_t size)
{
    uint64_t length;
    const unsigned char *bytes;
    if (!parse_number(reader, size, &length) || !take(reader, length, &bytes))
        return refuse_short(reader);
    struct pickle_value *value = new_value(reader, kind);
    char *copy = pickle_arena_allocate(&reader->pickle->arena, length + 1);
    if (!value || !copy)
        return refuse_memory(reader);
    memcpy(copy, bytes, length);
    value->text.bytes = copy;
    value->text.length = length;
    return push(reader, value);
}

static int push_integer(struct reader *reader, int64_t integer)
{
    struct pickle_value *value = new_value(reader, PICKLE_INT);
    if (value)
        value->integer = integer;
    return push(reader, value);
}

static int push_bool(struct reader *reader, bool boolean)
{
    struct pickle_value *value = new_value(reader, PICKLE_BOOL);
    if (value)
        value->boolean = boolean;
    return push(reader, value);
}

static int read_integer(struct reader *reader, size_t size)
{
    uint64_t number;
    if (!parse_number(reader, size, &number))
        return refuse_short(reader);
    return push_integer(reader, size == 4 ? (int32_t)(uint32_t)number : (int64_t)number);
}

/* A signed number of any length; more than 8 bytes are not supported. */
static int read_long(struct reader *reader, size_t size)
{
    uint64_t length, number = 0;
    const unsigned char *bytes;
    if (!parse_number(reader, size, &length) || !take(reader, length, &bytes))
        return refuse_short(reader);
    if (length > 8)
        return refuse(reader, "a whole number in it is too large");
    for (size_t i = length; i-- > 0;)
        number = number << 8 | bytes[i];
    if (length > 0 && length < 8 && bytes[length - 1] & 0x80)
        number |= UINT64_MAX << (8 * length);
    return push_integer(reader, (int64_t)number);
}

/* Big-endian, unlike everything else. */
static int read_float(struct reader *reader)
{
    const unsigned char *bytes;
    if (!take(reader, 8, &bytes))
        return refuse_short(reader);
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    struct pickle_value *value = new_value(reader, PICKLE_FLOAT);
    if (value)
        memcpy(&value->number, &bits, sizeof bits);
    return push(reader, value);
}

/* ---- Containers ---- */

/* A tuple, list or dict of the topmost `count` values. */
static int collect(struct reader *reader, enum pickle_kind kind, size_t count)
{
    if (count > reader->stack.count || (kind == PICKLE_DICT && count % 2 != 0))
        return refuse_short(reader);
    struct pickle_value **items =
        count > 0 ? reader->stack.items + (reader->stack.count - count) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (!items[i])
            return refuse_short(reader);
    }
    struct pickle_value *value = new_value(reader, kind);
    if (!value || !list_add(reader, value, items, count))
        return refuse_memory(reader);
    reader->stack.count -= count;
    return push(reader, value);
}

static int collect_to_mark(struct reader *reader, enum pickle_kind kind)
{
    size_t count = count_to_mark(reader);
    if (count == SIZE_MAX)
        return refuse_short(reader);
    TRY(collect(reader, kind, count));
    struct pickle_value *value = reader->stack.items[--reader->stack.count];
    reader->stack.items[reader->stack.count - 1] = value; /* where the mark was */
    return GPUT_OK;
}

/* Adds the topmost `count` values to the list or dict below them (and below a mark). */
static int extend(struct reader *reader, enum pickle_kind kind, size_t count, size_t marks)
{
    if (count == SIZE_MAX || count + marks + 1 > reader->stack.count ||
        (kind == PICKLE_DICT && count % 2 != 0))
        return refuse_short(reader);
    size_t first = reader->stack.count - count;
    struct pickle_value *container = reader->stack.items[first - marks - 1];
    if (!container || container->kind != kind)
        return refuse(reader, "something is added to what is not a %s",
            kind == PICKLE_DICT ? "dict" : "list");
    for (size_t i = first; i < reader->stack.count; i++) {
        if (!reader->stack.items[i])
            return refuse_short(reader);
    }
    if (!list_add(reader, container, reader->stack.items + first, count))
        return refuse_memory(reader);
    reader->stack.count = first - marks;
    return GPUT_OK;
}

/* ---- Classes and objects ---- */

static int push_class(struct reader *reader, const char *module, const char *name)
{
    for (const struct pickle_class *known = reader->classes; known->module; known++) {
        if (strcmp(known->module, module) != 0 || strcmp(known->name, name) != 0)
            continue;
        struct pickle_value *value = new_value(reader, PICKLE_CLASS);
        if (value)
            value->class_id = (short)known->id;
        return push(reader, value);
    }
    return refuse(reader,
        "it names \"%.100s.%.100s\", which results do not need; nothing of it was run", module,
        name);
}

/* "module\nname\n" in the file itself. */
static int read_global(struct reader *reader)
{
    char words[2][256];
    for (int i = 0; i < 2; i++) {
        const unsigned char *line = reader->at;
        const unsigned char *end = memchr(line, '\n', (size_t)(reader->end - line));
        if (!end)
            return refuse_short(reader);
        size_t length = (size_t)(end - line);
        if (length >= sizeof words[i])
            length = sizeof words[i] - 1;
        memcpy(words[i], line, length);
        words[i][length] = '\0';
        reader->at = end + 1;
    }
    return push_class(reader, words[0], words[1]);
}

static int read_stack_global(struct reader *reader)
{
    const struct pickle_value *name = pop(reader);
    const struct pickle_value *module = pop(reader);
    if (!name || !module || name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT)
        return refuse_short(reader);
    return push_class(reader, module->text.bytes, name->text.bytes);
}

static int make_object(struct reader *reader, bool keywords)
{
    const struct pickle_value *ignored = keywords ? pop(reader) : NULL;
    struct pickle_value *arguments = pop(reader);
    const struct pickle_value *class = pop(reader);
    if (keywords && !ignored)
        return refuse_short(reader);
    if (!arguments || arguments->kind != PICKLE_TUPLE || !class)
        return refuse_short(reader);
    if (class->kind != PICKLE_CLASS)
        return refuse(reader, "it calls something that is not a class");
    struct pickle_value *object = new_value(reader, PICKLE_OBJECT);
    if (object) {
        object->class_id = class->class_id;
        object->object.arguments = arguments;
    }
    return push(reader, object);
}

static int build_object(struct reader *reader)
{
    struct pickle_value *state = pop(reader);
    struct pickle_value *object = top(reader);
    if (!state || !object)
        return refuse_short(reader);
    if (object->kind != PICKLE_OBJECT)
        return refuse(reader, "it gives a state to what is not an object");
    object->object.state = state;
    return GPUT_OK;
}

/* ---- Memo ---- */

static int memo_put(struct reader *reader, uint64_t index)
{
    struct pickle_value *value = top(reader);
    if (!value)
        return refuse_short(reader);
    if (index < reader->memo.count) {
        reader->memo.items[index] = value;
        return GPUT_OK;
    }
    if (index > (uint64_t)(reader->at - reader->start)) /* more than there can be values */
        return refuse(reader, "it numbers its values in a way that no Python does");
    while (reader->memo.count <= index) {
        if (!values_push(&reader->memo, NULL))
            return error_memory(reader->error);
    }
    reader->memo.items[index] = value;
    return GPUT_OK;
}

static int memo_get(struct reader *reader, size_t size)
{
    uint64_t index;
    if (!parse_number(reader, size, &index))
        return refuse_short(reader);
    if (index >= reader->memo.count || !reader->memo.items[index])
        return refuse_short(reader);
    return push(reader, reader->memo.items[index]);
}

static int memo_put_number(struct reader *reader, size_t size)
{
    uint64_t index;
    return parse_number(reader, size, &index) ? memo_put(reader, index) : refuse_short(reader);
}

/* ---- The program ---- */

static int drop_to_mark(struct reader *reader)
{
    size_t count = count_to_mark(reader);
    if (count == SIZE_MAX)
        return refuse_short(reader);
    reader->stack.count -= count + 1;
    return GPUT_OK;
}

static int set_mark(struct reader *reader)
{
    return values_push(&reader->stack, NULL) ? GPUT_OK : error_memory(reader->error);
}

static int check_protocol(struct reader *reader)
{
    uint64_t protocol;
    if (!parse_number(reader, 1, &protocol))
        return refuse_short(reader);
    if (protocol < 2 || protocol > 5)
        return refuse(reader, "protocol %d is unknown (2 to 5 are read)", (int)protocol);
    return GPUT_OK;
}

static int skip(struct reader *reader, size_t size)
{
    const unsigned char *bytes;
    return take(reader, size, &bytes) ? GPUT_OK : refuse_short(reader);
}

static int stop(struct reader *reader)
{
    reader->pickle->root = pop(reader);
    reader->stopped = true;
    return reader->pickle->root ? GPUT_OK : refuse_short(reader);
}

/* clang-format off */
static int run_scalar(struct reader *reader, int opcode)
{
    switch (opcode) {
    case NONE: return push(reader, new_value(reader, PICKLE_NONE));
    case NEWTRUE: return push_bool(reader, true);
    case NEWFALSE: return push_bool(reader, false);
    case BININT: return read_integer(reader, 4);
    case BININT1: return read_integer(reader, 1);
    case BININT2: return read_integer(reader, 2);
    case LONG1: return read_long(reader, 1);
    case LONG4: return read_long(reader, 4);
    case BINFLOAT: return read_float(reader);
    case SHORT_BINUNICODE: return push_text(reader, PICKLE_TEXT, 1);
    case BINUNICODE: return push_text(reader, PICKLE_TEXT, 4);
    case BINUNICODE8: return push_text(reader, PICKLE_TEXT, 8);
    case SHORT_BINSTRING:
    case SHORT_BINBYTES: return push_text(reader, PICKLE_BYTES, 1);
    case BINSTRING:
    case BINBYTES: return push_text(reader, PICKLE_BYTES, 4);
    case BINBYTES8:
    case BYTEARRAY8: return push_text(reader, PICKLE_BYTES, 8);
    default: return -1;
    }
}

static int run_container(struct reader *reader, int opcode)
{
    switch (opcode) {
    case EMPTY_TUPLE: return collect(reader, PICKLE_TUPLE, 0);
    case EMPTY_SET:
    case EMPTY_LIST: return collect(reader, PICKLE_LIST, 0);
    case EMPTY_DICT: return collect(reader, PICKLE_DICT, 0);
    case TUPLE1: return collect(reader, PICKLE_TUPLE, 1);
    case TUPLE2: return collect(reader, PICKLE_TUPLE, 2);
    case TUPLE3: return collect(reader, PICKLE_TUPLE, 3);
    case TUPLE: return collect_to_mark(reader, PICKLE_TUPLE);
    case FROZENSET:
    case LIST: return collect_to_mark(reader, PICKLE_LIST);
    case DICT: return collect_to_mark(reader, PICKLE_DICT);
    case APPEND: return extend(reader, PICKLE_LIST, 1, 0);
    case SETITEM: return extend(reader, PICKLE_DICT, 2, 0);
    case ADDITEMS:
    case APPENDS: return extend(reader, PICKLE_LIST, count_to_mark(reader), 1);
    case SETITEMS: return extend(reader, PICKLE_DICT, count_to_mark(reader), 1);
    default: return -1;
    }
}

static int run_other(struct reader *reader, int opcode)
{
    switch (opcode) {
    case PROTO: return check_protocol(reader);
    case FRAME: return skip(reader, 8);
    case STOP: return stop(reader);
    case MARK: return set_mark(reader);
    case POP_MARK: return drop_to_mark(reader);
    case POP:
        if (reader->stack.count == 0)
            return refuse_short(reader);
        reader->stack.count--;
        return GPUT_OK;
    case DUP: return top(reader) ? push(reader, top(reader)) : refuse_short(reader);
    case GLOBAL: return read_global(reader);
    case STACK_GLOBAL: return read_stack_global(reader);
    case REDUCE:
    case NEWOBJ: return make_object(reader, false);
    case NEWOBJ_EX: return make_object(reader, true);
    case BUILD: return build_object(reader);
    case MEMOIZE: return memo_put(reader, reader->memo.count);
    case BINPUT: return memo_put_number(reader, 1);
    case LONG_BINPUT: return memo_put_number(reader, 4);
    case BINGET: return memo_get(reader, 1);
    case LONG_BINGET: return memo_get(reader, 4);
    case NEXT_BUFFER:
    case READONLY_BUFFER: return refuse(reader, "part of it was kept outside the file");
    default: return -1;
    }
}
/* clang-format on */

static int run(struct reader *reader)
{
    if (reader->end - reader->start < 2 || *reader->at != PROTO)
        return refuse(reader, "it is not a pickle of protocol 2 to 5");
    while (!reader->stopped) {
        if (reader->at == reader->end)
            return refuse_short(reader);
        int opcode = *reader->at++;
        int code = run_scalar(reader, opcode);
        if (code < 0)
            code = run_container(reader, opcode);
        if (code < 0)
            code = run_other(reader, opcode);
        if (code < 0)
            return refuse(reader, "its opcode 0x%02x at byte %zu is not accepted", opcode,
                (size_t)(reader->at - reader->start) - 1);
        TRY(code);
    }
    return GPUT_OK;
}

/* What the values of a pickle of that length, at most PICKLE_FILE_MAX, may take. */
static size_t memory_for(size_t length)
{
    size_t bytes = PICKLE_MEMORY_MIN + PICKLE_MEMORY_PER_BYTE * length;
    return bytes < PICKLE_MEMORY_MAX ? bytes : PICKLE_MEMORY_MAX;
}

int pickle_read(const char *bytes, size_t length, const char *name,
    const struct pickle_class *classes, struct pickle **pickle, struct gput_error *error)
{
    struct reader reader = {
        .start = (const unsigned char *)bytes,
        .at = (const unsigned char *)bytes,
        .end = (const unsigned char *)bytes + length,
        .name = name,
        .classes = classes,
        .pickle = calloc(1, sizeof *reader.pickle),
        .error = error,
    };
    *pickle = NULL;
    if (!reader.pickle)
        return error_memory(error);
    reader.pickle->arena.max = memory_for(length);
    int code =
        length > PICKLE_FILE_MAX ? refuse(&reader, "it is too large for results") : run(&reader);
    free(reader.stack.items);
    free(reader.memo.items);
    if (code != GPUT_OK)
        pickle_destroy(reader.pickle);
    else
        *pickle = reader.pickle;
    return code;
}

void pickle_destroy(struct pickle *pickle)
{
    if (pickle)
        pickle_arena_finish(&pickle->arena);
    free(pickle);
}

const struct pickle_value *pickle_root(const struct pickle *pickle)
{
    return pickle->root;
}
