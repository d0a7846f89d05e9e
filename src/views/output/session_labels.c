#include "views/output/session_labels.h"

#include "base/text.h"
#include "model/results_identity.h"

#include <math.h>
#include <string.h>

/* Arguments are in the command only where they were asked for. */
static const char *const names[] = {"host", "boot_id", "clock", "user", "pid", "command", "version",
    "container", "pod", "cgroup", "launcher", "job_id", "task", "step", "run", "rank", "local_rank",
    "local_size", "world_size", "node", "node_rank", "node_count", "restarts"};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The column of that name, or NULL. */
static const struct results_column *find(
    const struct results_identity_column *columns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(columns[i].name, name) == 0)
            return columns[i].column;
    }
    return NULL;
}

/* False: it is not known. */
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
        const struct results_column *column = find(columns, n_columns, names[i]);
        labels[count].name = names[i];
        count += column && read_label(column, results, &labels[count]);
    }
    return count;
}
