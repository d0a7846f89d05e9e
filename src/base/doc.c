#include "base/doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Makes a document of a kind, with a copy of its key. */
static struct doc *create(enum doc_kind kind, const char *key)
{
    size_t key_size = key ? strlen(key) + 1 : 0;
    struct doc *doc = calloc(1, sizeof *doc + key_size);
    if (doc) {
        doc->kind = kind;
        doc->key = key ? memcpy(doc + 1, key, key_size) : NULL;
    }
    return doc;
}

struct doc *doc_create_object(void)
{
    return create(DOC_OBJECT, NULL);
}

struct doc *doc_create_array(void)
{
    return create(DOC_ARRAY, NULL);
}

void doc_destroy(struct doc *doc)
{
    if (!doc)
        return;
    for (struct doc *child = doc->first; child;) {
        struct doc *next = child->next;
        doc_destroy(child);
        child = next;
    }
    free(doc->label);
    free(doc->string);
    free(doc);
}

/* Adds a child at the end. NULL and `failed` mean out of memory. */
static struct doc *add(struct doc *parent, const char *key, enum doc_kind kind)
{
    if (!parent)
        return NULL;
    struct doc *child = create(kind, key);
    if (!child) {
        parent->failed = true;
        return NULL;
    }
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->count++;
    return child;
}

struct doc *doc_add_object(struct doc *parent, const char *key)
{
    return add(parent, key, DOC_OBJECT);
}

struct doc *doc_add_array(struct doc *parent, const char *key)
{
    return add(parent, key, DOC_ARRAY);
}

struct doc *doc_add_null(struct doc *parent, const char *key)
{
    return add(parent, key, DOC_NULL);
}

struct doc *doc_add_bool(struct doc *parent, const char *key, bool value)
{
    struct doc *doc = add(parent, key, DOC_BOOL);
    if (doc)
        doc->boolean = value;
    return doc;
}

struct doc *doc_add_int(struct doc *parent, const char *key, int64_t value)
{
    struct doc *doc = add(parent, key, DOC_INT);
    if (doc)
        doc->integer = value;
    return doc;
}

struct doc *doc_add_double(struct doc *parent, const char *key, double value)
{
    struct doc *doc = add(parent, key, isfinite(value) ? DOC_DOUBLE : DOC_NULL);
    if (doc)
        doc->number = value;
    return doc;
}

struct doc *doc_add_nan(struct doc *parent, const char *key)
{
    struct doc *doc = add(parent, key, DOC_DOUBLE);
    if (doc)
        doc->number = NAN;
    return doc;
}

struct doc *doc_add_string(struct doc *parent, const char *key, const char *value)
{
    if (!parent)
        return NULL;
    char *string = strdup(value);
    struct doc *doc = string ? add(parent, key, DOC_STRING) : NULL;
    if (doc) {
        doc->string = string;
    } else {
        free(string);
        parent->failed = true;
    }
    return doc;
}

struct doc *doc_label(struct doc *doc, const char *label)
{
    if (!doc || !label)
        return doc;
    free(doc->label);
    doc->label = strdup(label);
    doc->failed |= !doc->label;
    return doc;
}

bool doc_failed(const struct doc *root)
{
    if (!root || root->failed)
        return true;
    for (const struct doc *child = root->first; child; child = child->next) {
        if (doc_failed(child))
            return true;
    }
    return false;
}

const struct doc *doc_get(const struct doc *object, const char *key)
{
    if (!object)
        return NULL;
    for (const struct doc *child = object->first; child; child = child->next) {
        if (child->key && strcmp(child->key, key) == 0)
            return child;
    }
    return NULL;
}

const struct doc *doc_first(const struct doc *list)
{
    return list ? list->first : NULL;
}

const struct doc *doc_item(const struct doc *array, size_t index)
{
    const struct doc *item = doc_first(array);
    while (item && index-- > 0)
        item = item->next;
    return item;
}

double doc_number(const struct doc *value)
{
    if (value && value->kind == DOC_INT)
        return (double)value->integer;
    return value && value->kind == DOC_DOUBLE ? value->number : NAN;
}

double doc_get_number(const struct doc *object, const char *key)
{
    return doc_number(doc_get(object, key));
}

int64_t doc_get_int(const struct doc *object, const char *key)
{
    const struct doc *value = doc_get(object, key);
    return value && value->kind == DOC_INT ? value->integer : 0;
}

const char *doc_string(const struct doc *value)
{
    return value && value->kind == DOC_STRING ? value->string : NULL;
}

const char *doc_get_string(const struct doc *object, const char *key)
{
    const char *string = doc_string(doc_get(object, key));
    return string ? string : "";
}

void doc_add_owned(struct doc *parent, const char *key, struct doc *object)
{
    struct doc *place = object ? doc_add_object(parent, key) : NULL;
    if (place) {
        place->failed = object->failed;
        place->first = object->first;
        place->last = object->last;
        place->count = object->count;
        object->first = NULL;
    }
    doc_destroy(object);
}

void doc_add_copy(struct doc *parent, const char *key, const struct doc *value)
{
    struct doc *copy = NULL;
    switch (value->kind) {
    case DOC_NULL:
        doc_add_null(parent, key);
        break;
    case DOC_BOOL:
        doc_add_bool(parent, key, value->boolean);
        break;
    case DOC_INT:
        doc_add_int(parent, key, value->integer);
        break;
    case DOC_DOUBLE:
        doc_add_double(parent, key, value->number);
        break;
    case DOC_STRING:
        doc_add_string(parent, key, value->string);
        break;
    case DOC_ARRAY:
        copy = doc_add_array(parent, key);
        break;
    case DOC_OBJECT:
        copy = doc_add_object(parent, key);
        break;
    }
    for (const struct doc *child = copy ? value->first : NULL; child; child = child->next)
        doc_add_copy(copy, child->key, child);
}

void doc_add_items(const struct doc_items *items)
{
    for (size_t i = 0; i < items->count; i++)
        items->add(items->user, i, items->array);
}
