/*
 * Documents as JSON, byte for byte as Python's json.dumps() writes them.
 */
#include "base/doc.h"
#include "base/json_string.h"

#include <math.h>
#include <string.h>

static void write_string(const char *string, struct str *text)
{
    json_write_ascii_string(string, strlen(string), text);
}

/* Begins an indented line, unless the text is compact. */
static void write_line_start(int indent, int depth, struct str *text)
{
    if (indent < 0)
        return;
    str_append_char(text, '\n');
    str_append_repeated(text, ' ', (size_t)indent * (size_t)depth);
}

/* How a document is written. */
struct writing {
    int indent;
    const struct doc_items *items; /* NULL: none are made meanwhile */
    struct str *text;
};

static void write_value(const struct writing *writing, const struct doc *doc, int depth);

/* Separates a child from the one before it, and writes its key. */
static void begin_child(
    const struct writing *writing, const char *key, bool is_first, bool has_key, int depth)
{
    if (!is_first)
        str_append(writing->text, writing->indent < 0 ? ", " : ",");
    write_line_start(writing->indent, depth, writing->text);
    if (has_key) {
        write_string(key ? key : "", writing->text);
        str_append(writing->text, ": ");
    }
}

/* Writes the items of a list that is made while it is written. */
static void write_items(const struct writing *writing, int depth)
{
    const struct doc_items *items = writing->items;
    for (size_t i = 0; i < items->count && !writing->text->failed; i++) {
        struct doc *made = doc_create_array();
        if (made)
            items->add(items->user, i, made);
        if (doc_failed(made)) {
            writing->text->failed = true;
        } else {
            begin_child(writing, NULL, i == 0, false, depth);
            write_value(writing, made->first, depth);
        }
        doc_destroy(made);
    }
}

/* Writes a value and all that it contains. */
static void write_value(const struct writing *writing, const struct doc *doc, int depth)
{
    struct str *text = writing->text;
    switch (doc->kind) {
    case DOC_NULL:
        str_append(text, "null");
        break;
    case DOC_BOOL:
        str_append(text, doc->boolean ? "true" : "false");
        break;
    case DOC_INT:
        str_append_int64(text, doc->integer);
        break;
    case DOC_DOUBLE:
        if (isnan(doc->number))
            str_append(text, "NaN");
        else
            str_append_double(text, doc->number);
        break;
    case DOC_STRING:
        write_string(doc->string, text);
        break;
    case DOC_ARRAY:
    case DOC_OBJECT: {
        bool is_object = doc->kind == DOC_OBJECT;
        bool has_items = writing->items && writing->items->array == doc;
        str_append_char(writing->text, is_object ? '{' : '[');
        for (const struct doc *child = doc->first; child; child = child->next) {
            begin_child(writing, child->key, child == doc->first, is_object, depth + 1);
            write_value(writing, child, depth + 1);
        }
        if (has_items)
            write_items(writing, depth + 1);
        if (doc->first || (has_items && writing->items->count > 0))
            write_line_start(writing->indent, depth, writing->text);
        str_append_char(writing->text, is_object ? '}' : ']');
    }

    break;
    }
}

void doc_write_json(const struct doc *doc, int indent, struct str *text)
{
    write_value(&(struct writing){indent, NULL, text}, doc, 0);
}

void doc_finish_json_with(struct doc *root, const struct doc_items *items, struct str *text)
{
    if (!root || doc_failed(root))
        text->failed = true;
    else
        write_value(&(struct writing){1, items, text}, root, 0);
    doc_destroy(root);
}

void doc_finish_json(struct doc *root, struct str *text)
{
    doc_finish_json_with(root, NULL, text);
}
