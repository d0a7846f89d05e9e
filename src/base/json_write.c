/*
 * Documents as JSON, byte for byte as Python's json.dumps() writes them.
 */
#include "base/doc.h"
#include "base/json_string.h"

#include <string.h>

static void write_string(const char *string, struct str *text)
{
    json_write_ascii_string(string, strlen(string), text);
}

static void write_line_start(int indent, int depth, struct str *text)
{
    if (indent < 0)
        return;
    str_append_char(text, '\n');
    str_append_repeated(text, ' ', (size_t)indent * (size_t)depth);
}

static void write_value(const struct doc *doc, int indent, int depth, struct str *text);

static void write_children(const struct doc *doc, int indent, int depth, struct str *text)
{
    bool object = doc->kind == DOC_OBJECT;
    str_append_char(text, object ? '{' : '[');
    for (const struct doc *child = doc->first; child; child = child->next) {
        write_line_start(indent, depth + 1, text);
        if (object) {
            write_string(child->key ? child->key : "", text);
            str_append(text, ": ");
        }
        write_value(child, indent, depth + 1, text);
        if (child->next)
            str_append(text, indent < 0 ? ", " : ",");
    }
    if (doc->first)
        write_line_start(indent, depth, text);
    str_append_char(text, object ? '}' : ']');
}

static void write_value(const struct doc *doc, int indent, int depth, struct str *text)
{
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
        str_append_double(text, doc->number);
        break;
    case DOC_STRING:
        write_string(doc->string, text);
        break;
    case DOC_ARRAY:
    case DOC_OBJECT:
        write_children(doc, indent, depth, text);
        break;
    }
}

void doc_write_json(const struct doc *doc, int indent, struct str *text)
{
    write_value(doc, indent, 0, text);
}

void doc_finish_json(struct doc *root, struct str *text)
{
    if (!root || doc_failed(root))
        text->failed = true;
    else
        doc_write_json(root, 1, text);
    doc_destroy(root);
}
