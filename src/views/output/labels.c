#include "views/output/labels.h"

#include "base/array.h"
#include "base/text.h"
#include "model/results_identity.h"

#include <math.h>
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

/* ---- Labels of a session ---- */

/* Arguments are in the command only where they were asked for. */
static const char *const names[] = {"host", "boot_id", "clock", "user", "pid", "command", "version",
    "container", "pod", "cgroup", "launcher", "job_id", "task", "step", "run", "rank", "local_rank",
    "local_size", "world_size", "node", "node_rank", "node_count", "restarts"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Reads the value of a label; false where it is not known. */
static bool read_label(const struct results_column *column, const struct gput_results *results,
    struct session_label *label)
{
    size_t size = strcmp(label->name, "cgroup") == 0 ? SESSION_PATH_SIZE : SESSION_LABEL_SIZE;
    label->number = column->kind == RESULTS_TEXT ? NAN : results_column_number(column, results);
    if (column->kind == RESULTS_TEXT)
        text_fit(label->value, size, "%s", results_column_text(column, results));
    else if (isfinite(label->number))
        text_fit(label->value, sizeof label->value, "%.0f", label->number);
    else
        return false;
    return label->value[0] != '\0';
}

void session_labels_name(
    const struct gput_identity *identity, bool pids_are_inner, char *text, size_t size)
{
    bool has_start =
        (pids_are_inner || identity->container[0] || identity->pod[0]) && identity->start[0];
    char pid[32] = "";
    if (isfinite(identity->pid))
        text_fit(pid, sizeof pid, ":%.0f", identity->pid);
    text_fit(text, size, "%s%s%s%s", identity->host[0] ? identity->host : "unknown", pid,
        has_start ? "@" : "", has_start ? identity->start : "");
}

size_t session_labels_of(
    const struct gput_results *results, struct session_label labels[SESSION_LABELS])
{
    struct results_identity_column columns[RESULTS_IDENTITY_COLUMNS];
    size_t n_columns = results_identity_columns(columns), count = 0;
    for (size_t i = 0; results->identity.host[0] && i < COUNT_OF(names); i++) {
        size_t at = 0;
        while (at < n_columns && strcmp(columns[at].name, names[i]) != 0)
            at++;
        labels[count].name = names[i];
        count += at < n_columns && read_label(columns[at].column, results, &labels[count]);
    }
    return count;
}
