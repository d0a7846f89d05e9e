/*
 * Reads JSON into documents, by jansson. Whole numbers beyond 64 bits, which Python writes and
 * jansson refuses, are read as doubles.
 */
#include "base/doc.h"
#include "base/file.h"
#include "base/number.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#define MAX_DEPTH 200

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* A text that jansson asks for piece by piece. */
struct pieces {
    const char *at, *end;
    bool out_of_memory;
};

/* Hands the next piece to jansson. Where memory runs out, it leaves out a character, and sets errno
 * to 0 when it converts the next number. So a piece ends with a number: what follows is asked for
 * before that is converted, and errno is seen here. */
static size_t next_piece(void *buffer, size_t size, void *user)
{
    struct pieces *pieces = user;
    pieces->out_of_memory |= errno == ENOMEM;
    if (pieces->out_of_memory)
        return (size_t)-1;
    size_t length = 0, left = (size_t)(pieces->end - pieces->at);
    while (length < size && length < left && !is_digit(pieces->at[length]))
        length++;
    while (length < size && length < left &&
           (is_digit(pieces->at[length]) || strchr(".eE+-", pieces->at[length])))
        length++;
    memcpy(buffer, pieces->at, length);
    pieces->at += length;
    return length;
}

/* Parses a text with jansson. */
static json_t *load_text(
    const char *text, size_t length, json_error_t *failure, bool *out_of_memory)
{
    struct pieces pieces = {text, text + length, false};
    errno = 0;
    json_t *json = json_load_callback(next_piece, &pieces, JSON_DECODE_ANY, failure);
    *out_of_memory = pieces.out_of_memory || errno == ENOMEM ||
                     (!json && json_error_code(failure) == json_error_out_of_memory);
    if (!*out_of_memory)
        return json;
    json_decref(json);
    return NULL;
}

/* Parses a text; a second attempt allows whole numbers that do not fit 64 bits. */
static json_t *load(const char *text, size_t length, json_error_t *failure, bool *out_of_memory)
{
    json_t *json = load_text(text, length, failure, out_of_memory);
    if (json || *out_of_memory || json_error_code(failure) != json_error_numeric_overflow)
        return json;
    struct str marked = {0};

    /* Copy the text and write ".0" after whole numbers that do not fit an int64_t. */
    const char *end = text + length;
    bool in_string = false;
    for (const char *at = text; at < end;) {
        const char *start = at++;
        if (in_string) {
            if (*start == '\\' && at < end)
                at++;
            in_string = *start != '"';
        } else if (*start == '"') {
            in_string = true;
        } else if (*start == '-' || is_digit(*start)) {
            while (at < end && is_digit(*at))
                at++;
            int64_t value;
            bool whole = at == end || (*at != '.' && *at != 'e' && *at != 'E');
            bool has_digits = is_digit(at[-1]);
            str_append_bytes(&marked, start, (size_t)(at - start));
            if (whole && has_digits && !number_parse_int64(start, at, &value))
                str_append(&marked, ".0");
            else if (!whole) { /* the text after it is not parsed */
                const char *rest = at;
                while (at < end && (is_digit(*at) || strchr(".eE+-", *at)))
                    at++;
                str_append_bytes(&marked, rest, (size_t)(at - rest));
            }
            continue;
        }
        str_append_bytes(&marked, start, (size_t)(at - start));
    }

    *out_of_memory = marked.failed;
    if (!marked.failed)
        json = load_text(str_text(&marked), marked.length, failure, out_of_memory);
    str_finish(&marked);
    return json;
}

/* Fills `doc`, whose kind is not set yet. False when the value is nested too deep; running out of
 * memory marks the document failed. */
static bool convert(json_t *json, struct doc *doc, int depth);

/* Converts the members of an object. False: out of memory. */
static bool convert_members(json_t *json, struct doc *doc, int depth)
{
    const char *key;
    json_t *value;
    doc->kind = DOC_OBJECT;
    json_object_foreach(json, key, value)
    {
        struct doc *member = doc_add_null(doc, key);
        if (member && !convert(value, member, depth))
            return false;
    }
    return true;
}

/* Converts the items of a list. False: out of memory. */
static bool convert_items(json_t *json, struct doc *doc, int depth)
{
    size_t i;
    json_t *value;
    doc->kind = DOC_ARRAY;
    json_array_foreach(json, i, value)
    {
        struct doc *item = doc_add_null(doc, NULL);
        if (item && !convert(value, item, depth))
            return false;
    }
    return true;
}

/* Converts a value of jansson into a document. False: out of memory, or nested too deeply. */
static bool convert(json_t *json, struct doc *doc, int depth)
{
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return depth < MAX_DEPTH && convert_members(json, doc, depth + 1);
    case JSON_ARRAY:
        return depth < MAX_DEPTH && convert_items(json, doc, depth + 1);
    case JSON_STRING:
        doc->kind = DOC_STRING;
        doc->string = strdup(json_string_value(json));
        doc->failed = !doc->string;
        return true;
    case JSON_INTEGER:
        doc->kind = DOC_INT;
        doc->integer = json_integer_value(json);
        return true;
    case JSON_REAL:
        doc->kind = DOC_DOUBLE;
        doc->number = json_real_value(json);
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        doc->kind = DOC_BOOL;
        doc->boolean = json_is_true(json);
        return true;
    default:
        return true;
    }
}

int doc_read_json(
    const char *text, size_t length, const char *name, struct doc **doc, struct gput_error *error)
{
    json_error_t failure;
    *doc = NULL;
    bool has_mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    size_t mark = has_mark ? 3 : 0;
    bool out_of_memory;
    json_t *json = load(text + mark, length - mark, &failure, &out_of_memory);
    if (out_of_memory)
        return error_memory(error);
    if (!json)
        return error_set(error, GPUT_ERROR_FORMAT, "%s is not valid JSON (line %d): %s", name,
            failure.line > 0 ? failure.line : 1, failure.text);

    struct doc *root = doc_create_object();
    bool shallow = true;
    if (root) {
        root->kind = DOC_NULL;
        shallow = convert(json, root, 0);
    }
    json_decref(json);
    if (root && shallow && !doc_failed(root)) {
        *doc = root;
        return GPUT_OK;
    }
    doc_destroy(root);
    return shallow ? error_memory(error)
                   : error_set(error, GPUT_ERROR_FORMAT,
                         "%s has values nested more than %d levels deep", name, MAX_DEPTH);
}

int doc_read_json_file(
    const char *path, size_t max_bytes, struct doc **doc, struct gput_error *error)
{
    struct str text = {0};
    *doc = NULL;
    int code = file_read_bounded(path, max_bytes, &text, error);
    if (code == GPUT_OK)
        code = doc_read_json(str_text(&text), text.length, path, doc, error);
    str_finish(&text);
    return code;
}

/* Returns the length of NaN, Infinity or -Infinity at `at`; 0: none is there. */
static size_t python_number_length(const char *at, const char *end)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - at) >= length && memcmp(at, words[i], length) == 0)
            return length;
    }
    return 0;
}

int doc_read_python_json(
    const char *text, size_t length, const char *name, struct doc **doc, struct gput_error *error)
{
    int code = doc_read_json(text, length, name, doc, error);
    if (code != GPUT_ERROR_FORMAT)
        return code;
    /* Search for Python's numbers only in files that are not valid JSON: most files have none. */
    struct str copy = {0};

    /* Copy the text with these replaced by null. */
    const char *end = text + length;
    bool in_string = false;
    for (const char *at = text; at < end;) {
        size_t taken = in_string ? 0 : python_number_length(at, end);
        if (taken) {
            str_append(&copy, "null");
            at += taken;
            continue;
        }
        if (in_string && *at == '\\' && at + 1 < end)
            str_append_char(&copy, *at++);
        else if (*at == '"')
            in_string = !in_string;
        str_append_char(&copy, *at++);
    }

    code = copy.failed ? error_memory(error)
                       : doc_read_json(str_text(&copy), copy.length, name, doc, error);
    str_finish(&copy);
    return code;
}
