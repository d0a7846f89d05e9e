#include "views/output/labels.h"

#include "base/array.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static bool is_letter(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
}

/* Whether Prometheus takes that name for a label. */
static bool is_label_name(const char *name)
{
    if (!is_letter(*name) || text_begins_with(name, "__"))
        return false;
    for (; *name; name++) {
        if (!is_letter(*name) && !(*name >= '0' && *name <= '9'))
            return false;
    }
    return true;
}

/* The label of that name, or NULL. */
static struct label *find(const struct labels *labels, const char *name)
{
    for (size_t i = 0; i < labels->count; i++) {
        if (strcmp(labels->items[i].name, name) == 0)
            return &labels->items[i];
    }
    return NULL;
}

const char *labels_get(const struct labels *labels, const char *name)
{
    const struct label *label = find(labels, name);
    return label ? label->value : NULL;
}

int labels_set(struct labels *labels, const char *name, const char *value)
{
    struct label *label = find(labels, name);
    char *copy = strdup(value);
    if (label && copy) {
        free(label->value);
        label->value = copy;
        return GPUT_OK;
    }
    struct label added = {copy ? strdup(name) : NULL, copy};
    if (!added.name || !ARRAY_EXTEND(labels->items, labels->count)) {
        free(added.name);
        free(copy);
        return GPUT_ERROR_MEMORY;
    }
    labels->items[labels->count++] = added;
    return GPUT_OK;
}

static int hex_digit(char byte)
{
    const char *digits = "0123456789abcdef", *found = strchr(digits, byte | 0x20);
    return byte && found ? (int)(found - digits) : -1;
}

/* "%2C" becomes ",", in place. */
static void decode(char *text)
{
    char *to = text;
    for (; *text; text++) {
        int high = *text == '%' ? hex_digit(text[1]) : -1;
        int low = high >= 0 ? hex_digit(text[2]) : -1;
        *to++ = low >= 0 && high + low > 0 ? (char)(high * 16 + low) : *text;
        text += low >= 0 && high + low > 0 ? 2 : 0;
    }
    *to = '\0';
}

/* Cuts the blanks off both ends of a text. */
static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t", text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* Adds a label of the list, "name=value", after it has checked both. */
static int add_pair(
    struct labels *labels, char *pair, enum labels_form form, struct gput_error *error)
{
    char *equals = strchr(pair, '=');
    if (equals)
        *equals = '\0';
    char *name = trim(pair), *value = equals ? trim(equals + 1) : NULL;
    if (form == LABELS_OF_OTEL && value) {
        decode(name);
        decode(value);
    }
    bool is_name = form == LABELS_OF_OTEL ? name[0] != '\0' : is_label_name(name);
    if (!value || !is_name)
        return error_set(error, GPUT_ERROR_INVALID,
            "\"%.100s\" is not NAME=VALUE%s. Several are separated by commas.", name,
            form == LABELS_OF_OTEL ? "" : " with a name of letters, digits and _");
    return labels_set(labels, name, value) == GPUT_OK ? GPUT_OK : error_memory(error);
}

int labels_add_list(
    struct labels *labels, const char *text, enum labels_form form, struct gput_error *error)
{
    char *copy = strdup(text ? text : ""), *rest = copy, *pair;
    int code = copy ? GPUT_OK : error_memory(error);
    while (code == GPUT_OK && (pair = strsep(&rest, ","))) {
        if (pair[strspn(pair, " \t")] != '\0')
            code = add_pair(labels, pair, form, error);
    }
    free(copy);
    return code;
}

void labels_finish(struct labels *labels)
{
    for (size_t i = 0; i < labels->count; i++) {
        free(labels->items[i].name);
        free(labels->items[i].value);
    }
    free(labels->items);
    *labels = (struct labels){0};
}
