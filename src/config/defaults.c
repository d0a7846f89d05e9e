/*
 * Reads a JSON file of options that only a front end knows, and passes each of them to it.
 */
#include <gputracker/config.h>

#include "base/doc.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>

/* Maximum size of a configuration. */
#define MAX_BYTES ((size_t)1 << 20)

/* What a visit of a file needs: its path for messages, and the caller's visitor. */
struct visit {
    const char *path;
    gput_config_visitor *visitor;
    void *user;
};

/* Visits one value like the option on a command line. */
static int visit_value(
    const struct visit *visit, const char *name, const struct doc *value, struct gput_error *error)
{
    char number[NUMBER_TEXT_SIZE];
    switch (value->kind) {
    case DOC_NULL:
        return GPUT_OK;
    case DOC_BOOL:
        return value->boolean ? visit->visitor(visit->user, name, NULL, error) : GPUT_OK;
    case DOC_INT:
        snprintf(number, sizeof number, "%" PRId64, value->integer);
        return visit->visitor(visit->user, name, number, error);
    case DOC_DOUBLE:
        number_format_double(value->number, number);
        return visit->visitor(visit->user, name, number, error);
    case DOC_STRING:
        return visit->visitor(visit->user, name, value->string, error);
    case DOC_ARRAY:
    case DOC_OBJECT:
        break;
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "Config file %s: \"%.100s\" must be a string, a number, true, false, or an array of these.",
        visit->path, name);
}

/* Visits all members; each item of a list is visited like an option of its own. */
static int visit_members(
    const struct visit *visit, const struct doc *root, struct gput_error *error)
{
    if (root->kind != DOC_OBJECT)
        return error_set(error, GPUT_ERROR_FORMAT,
            "Config file %s must hold one JSON object, for example {\"format\": \"full\"}.",
            visit->path);
    /* One of the two does something: a value that is no array, or each item of an array. */
    for (const struct doc *member = root->first; member; member = member->next) {
        if (member->kind != DOC_ARRAY)
            TRY(visit_value(visit, member->key, member, error));
        for (const struct doc *item = member->kind == DOC_ARRAY ? member->first : NULL; item;
             item = item->next)
            TRY(visit_value(visit, member->key, item, error));
    }
    return GPUT_OK;
}

int gput_config_visit(
    const char *path, gput_config_visitor *visitor, void *user, struct gput_error *error)
{
    const struct visit visit = {path, visitor, user};
    struct doc *root;
    TRY(doc_read_json_file(path, MAX_BYTES, &root, error));
    int code = visit_members(&visit, root, error);
    doc_destroy(root);
    return code;
}
