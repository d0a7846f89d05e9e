/* Calls as collapsed stacks, as flame graphs take them: a line a stack, "process;outer;inner 1500",
 * with the microseconds that are its own. */
#include "views/report/export/report_export.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/names.h"
#include "views/report/export/report_output.h"
#include "views/report/export/report_stacks.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_WHOLE 9007199254740992.0
#define NO_NODE UINT32_MAX

/* A stack: another one, and what is on top of it. */
struct node {
    uint32_t below, part;
    double seconds; /* of its own */
};

struct collapsed {
    bool is_one_of_several;    /* sessions */
    const struct doc *session; /* the one that is walked */
    struct names parts;        /* texts of processes and calls */
    uint32_t *calls;           /* the part of each name of the session; owned */
    size_t call_count;
    struct names keys;  /* a node's number is that of "below.part" */
    struct node *nodes; /* owned */
    size_t capacity;
    uint32_t root;  /* the thread */
    uint32_t stack; /* the one that is open */
    double since;
};

/* ---- Making stacks ---- */

/* What separates stacks and their parts becomes another character. */
static uint32_t part_of(struct collapsed *collapsed, const char *text)
{
    CLEANUP_STR struct str part = {0};
    for (; *text; text++)
        str_append_char(&part, *text == ';' ? ':' : (unsigned char)*text < ' ' ? ' ' : *text);
    uint32_t number =
        part.failed ? NAMES_NONE : names_add(&collapsed->parts, str_text(&part), part.length);
    return number;
}

static bool reserve_node(struct collapsed *collapsed, uint32_t number)
{
    return ARRAY_RESERVE(collapsed->nodes, number, collapsed->capacity);
}

/* The node of that part on another; NO_NODE without memory. */
static uint32_t node_on(struct collapsed *collapsed, uint32_t below, uint32_t part)
{
    char key[24];
    uint32_t count = collapsed->keys.count;
    if (part == NAMES_NONE)
        return NO_NODE;
    int length = snprintf(key, sizeof key, "%" PRIx32 ".%" PRIx32, below, part);
    uint32_t number = names_add(&collapsed->keys, key, (size_t)length);
    if (number == NAMES_NONE || number < count) /* it was there */
        return number;
    if (!reserve_node(collapsed, number))
        return NO_NODE;
    collapsed->nodes[number] = (struct node){below, part, 0};
    return number;
}

/* Begins the stacks of a thread, below a root that names it. */
static int begin_stacks(void *user, const struct report_stack *stack, struct gput_error *error)
{
    struct collapsed *collapsed = user;
    CLEANUP_STR struct str name = {0};
    str_printf(&name, "%s, thread %" PRId64, stack->process, stack->thread);
    uint32_t root = NO_NODE;
    bool failed = name.failed;
    if (collapsed->is_one_of_several) {
        const struct doc *session = doc_get(collapsed->session, "name");
        const char *text = session && session->string ? session->string : "";
        root = node_on(collapsed, NO_NODE, part_of(collapsed, text));
        failed = failed || root == NO_NODE;
    }
    root = node_on(collapsed, root, part_of(collapsed, str_text(&name)));
    collapsed->root = collapsed->stack = root;
    return failed || root == NO_NODE ? error_memory(error) : GPUT_OK;
}

/* Adds the time since the last change to the stack that it was spent in, and opens or closes a
 * call. */
static int change_stack(
    void *user, bool is_open, uint32_t name, double at, struct gput_error *error)
{
    struct collapsed *collapsed = user;
    double seconds = at - collapsed->since;
    collapsed->since = at;
    if (collapsed->stack != collapsed->root && seconds > 0)
        collapsed->nodes[collapsed->stack].seconds += seconds;
    if (!is_open) {
        collapsed->stack = collapsed->nodes[collapsed->stack].below;
        return GPUT_OK;
    }
    uint32_t part = name < collapsed->call_count ? collapsed->calls[name] : part_of(collapsed, "");
    collapsed->stack = node_on(collapsed, collapsed->stack, part);
    return collapsed->stack == NO_NODE ? error_memory(error) : GPUT_OK;
}

static int end_stacks(void *user, struct gput_error *error)
{
    (void)user, (void)error;
    return GPUT_OK;
}

/* Adds up the stacks of a session. */
static int add_stacks(struct collapsed *collapsed, const struct report_payload *payload,
    const struct doc *session, struct gput_error *error)
{
    const struct report_stack_visitor visitor = {begin_stacks, change_stack, end_stacks, collapsed};
    const struct doc *calls = doc_get(session, "calls");
    const struct doc *list = calls ? doc_get(calls, "names") : NULL;
    collapsed->session = session;
    collapsed->call_count = 0;
    free(collapsed->calls);
    collapsed->calls = list ? malloc((list->count + 1) * sizeof *collapsed->calls) : NULL;
    if (list && !collapsed->calls)
        return error_memory(error);
    for (const struct doc *name = list ? list->first : NULL; name; name = name->next)
        collapsed->calls[collapsed->call_count++] = part_of(collapsed, name->string);
    return report_stacks_walk(payload, session, &visitor, error);
}

/* ---- Writing them ---- */

/* Writes the line of a stack: its names from the outermost on, and its time. */
static int append_stack(
    const struct collapsed *collapsed, uint32_t number, struct str *text, struct gput_error *error)
{
    size_t depth = 0;
    for (uint32_t at = number; at != NO_NODE; at = collapsed->nodes[at].below)
        depth++;
    CLEANUP_FREE uint32_t *path = malloc(depth * sizeof *path);
    if (!path)
        return error_memory(error);
    for (uint32_t at = number, i = (uint32_t)depth; at != NO_NODE; at = collapsed->nodes[at].below)
        path[--i] = collapsed->nodes[at].part;
    for (size_t i = 0; i < depth; i++) {
        str_append(text, i > 0 ? ";" : "");
        str_append(text, names_text(&collapsed->parts, path[i]));
    }
    double seconds = collapsed->nodes[number].seconds;
    str_append_char(text, ' ');
    report_append_number(text, round(fmin(seconds * 1e6, MAX_WHOLE)), 0);
    str_append_char(text, '\n');
    return text->failed ? error_memory(error) : GPUT_OK;
}

static void collapsed_finish(struct collapsed *collapsed)
{
    names_finish(&collapsed->parts);
    names_finish(&collapsed->keys);
    free(collapsed->nodes);
    free(collapsed->calls);
}

int report_export_collapsed(const struct report_payload *payload, report_receiver *receive,
    void *user, struct gput_error *error)
{
    const struct doc *sessions = doc_get(payload->root, "sessions");
    CLEANUP(collapsed_finish)
    struct collapsed collapsed = {.is_one_of_several = sessions->count > 1};
    CLEANUP(report_output_finish)
    struct report_output output = {.receive = receive, .user = user};
    TRY(report_stacks_check(payload, error));
    for (const struct doc *session = sessions->first; session; session = session->next)
        TRY(add_stacks(&collapsed, payload, session, error));
    for (uint32_t i = 0; i < collapsed.keys.count; i++) {
        if (collapsed.nodes[i].seconds > 0)
            TRY(append_stack(&collapsed, i, &output.text, error));
        TRY(report_output_pass(&output, error));
    }
    return report_output_pass_rest(&output, error);
}
