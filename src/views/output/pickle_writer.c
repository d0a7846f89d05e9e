#include "views/output/pickle_writer.h"

#include "base/utf8.h"

#include <string.h>

static void append_number(struct str *text, uint64_t number, int size)
{
    for (int i = 0; i < size; i++)
        str_append_char(text, (char)(number >> (8 * i)));
}

void pickle_begin(struct str *text)
{
    str_append_bytes(text, "\x80\x04", 2);
}

void pickle_end(struct str *text)
{
    str_append_char(text, '.');
}

static void pickle_none(struct str *text)
{
    str_append_char(text, 'N');
}

void pickle_bool(struct str *text, bool value)
{
    str_append_char(text, value ? '\x88' : '\x89');
}

void pickle_int(struct str *text, int64_t value)
{
    if (value == (int32_t)value) {
        str_append_char(text, 'J');
        append_number(text, (uint64_t)value, 4);
    } else {
        str_append_bytes(text, "\x8a\x08", 2);
        append_number(text, (uint64_t)value, 8);
    }
}

void pickle_float(struct str *text, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    str_append_char(text, 'G');
    for (int i = 7; i >= 0; i--)
        str_append_char(text, (char)(bits >> (8 * i)));
}

void pickle_text(struct str *text, const char *value)
{
    size_t start = text->length;
    str_append_bytes(text, "X\0\0\0\0", 5);
    utf8_append(value, strlen(value), text);
    if (text->failed)
        return;
    size_t length = text->length - start - 5;
    for (int i = 0; i < 4; i++)
        text->data[start + 1 + (size_t)i] = (char)(length >> (8 * i));
}

void pickle_list_begin(struct str *text)
{
    str_append(text, "](");
}

void pickle_list_end(struct str *text)
{
    str_append_char(text, 'e');
}

void pickle_dict_begin(struct str *text)
{
    str_append(text, "}(");
}

void pickle_dict_end(struct str *text)
{
    str_append_char(text, 'u');
}

static void append_class(struct str *text, const char *module, const char *name)
{
    pickle_text(text, module);
    pickle_text(text, name);
    str_append_char(text, '\x93');
}

void pickle_object_begin(struct str *text, const char *module, const char *name)
{
    append_class(text, module, name);
    str_append_bytes(text, ")\x81", 2);
    pickle_dict_begin(text);
}

void pickle_object_end(struct str *text)
{
    pickle_dict_end(text);
    str_append_char(text, 'b');
}

void pickle_call_begin(struct str *text, const char *module, const char *name)
{
    append_class(text, module, name);
    str_append_char(text, '(');
}

void pickle_call_end(struct str *text)
{
    str_append(text, "tR");
}

void pickle_members(struct str *text, const struct doc *doc)
{
    for (const struct doc *item = doc->first; item; item = item->next) {
        if (doc->kind == DOC_OBJECT)
            pickle_text(text, item->key);
        pickle_doc(text, item);
    }
}

void pickle_doc(struct str *text, const struct doc *doc)
{
    switch (doc->kind) {
    case DOC_NULL:
        pickle_none(text);
        break;
    case DOC_BOOL:
        pickle_bool(text, doc->boolean);
        break;
    case DOC_INT:
        pickle_int(text, doc->integer);
        break;
    case DOC_DOUBLE:
        pickle_float(text, doc->number);
        break;
    case DOC_STRING:
        pickle_text(text, doc->string);
        break;
    case DOC_ARRAY:
        pickle_list_begin(text);
        pickle_members(text, doc);
        pickle_list_end(text);
        break;
    case DOC_OBJECT:
        pickle_dict_begin(text);
        pickle_members(text, doc);
        pickle_dict_end(text);
        break;
    }
}

void pickle_series(
    struct str *text, const char *const *names, const double *values, size_t count, bool integers)
{
    pickle_call_begin(text, "pandas", "Series");
    pickle_list_begin(text);
    for (size_t i = 0; i < count; i++) {
        if (integers)
            pickle_int(text, (int64_t)values[i]);
        else
            pickle_float(text, values[i]);
    }
    pickle_list_end(text);
    pickle_list_begin(text);
    for (size_t i = 0; i < count; i++)
        pickle_text(text, names[i]);
    pickle_list_end(text);
    pickle_call_end(text);
}
