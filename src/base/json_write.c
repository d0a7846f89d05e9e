/*
 * Documents as JSON, byte for byte as Python's json.dumps() writes them.
 */
#include "base/doc.h"
#include "base/number.h"

#include <string.h>

#define REPLACEMENT_CHARACTER 0xfffd

/* The next character of UTF-8 text; what is not valid UTF-8 becomes the replacement character, one
 * byte at a time. */
static uint32_t next_character(const unsigned char **text)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *at = *text;
    uint32_t first = *at++;
    *text = at;
    if (first < 0x80)
        return first;

    int more = first >= 0xf0 && first < 0xf8 ? 3 : first >= 0xe0 && first < 0xf0 ? 2 : 1;
    if (first < 0xc0 || first >= 0xf8)
        return REPLACEMENT_CHARACTER;
    uint32_t character = first & (0x3fu >> more);
    for (int i = 0; i < more; i++) {
        if ((*at & 0xc0) != 0x80)
            return REPLACEMENT_CHARACTER;
        character = character << 6 | (*at++ & 0x3f);
    }
    bool surrogate = character >= 0xd800 && character < 0xe000;
    if (character < least[more] || surrogate || character > 0x10ffff)
        return REPLACEMENT_CHARACTER;
    *text = at;
    return character;
}

static void write_escaped(uint32_t character, struct str *text)
{
    static const char letters[] = "\b\f\n\r\t\"\\";
    static const char names[] = "bfnrt\"\\";
    const char *letter = character < 0x80 ? strchr(letters, (int)character) : NULL;

    if (letter) {
        str_append_char(text, '\\');
        str_append_char(text, names[letter - letters]);
    } else if (character >= 0x10000) {
        uint32_t rest = character - 0x10000;
        str_printf(text, "\\u%04x\\u%04x", 0xd800 | rest >> 10, 0xdc00 | (rest & 0x3ff));
    } else
        str_printf(text, "\\u%04x", character);
}

static void write_string(const char *string, struct str *text)
{
    const unsigned char *at = (const unsigned char *)string;
    str_append_char(text, '"');
    while (*at) {
        const unsigned char *plain = at;
        while (*at >= ' ' && *at < 0x7f && *at != '"' && *at != '\\')
            at++;
        str_append_bytes(text, plain, (size_t)(at - plain));
        if (*at)
            write_escaped(next_character(&at), text);
    }
    str_append_char(text, '"');
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
    char number[NUMBER_TEXT_SIZE];
    switch (doc->kind) {
    case DOC_NULL:
        str_append(text, "null");
        break;
    case DOC_BOOL:
        str_append(text, doc->boolean ? "true" : "false");
        break;
    case DOC_INT:
        str_append_bytes(text, number, number_format_int64(doc->integer, number));
        break;
    case DOC_DOUBLE:
        str_append_bytes(text, number, number_format_double(doc->number, number));
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
