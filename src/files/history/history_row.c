#include "files/history/history_row.h"

#include "base/cleanup.h"
#include "model/results_columns.h"
#include "model/results_identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(ID, name, from, meaning) {name, GPUT_COLUMN_TEXT, NULL, from, meaning},
#define WHOLE(ID, name, unit, from, meaning) {name, GPUT_COLUMN_INT, unit, from, meaning},
#define NUMBER(ID, name, unit, from, meaning) {name, GPUT_COLUMN_DOUBLE, unit, from, meaning},
const struct history_column history_columns[HISTORY_COLUMN_COUNT] = {
    HISTORY_COLUMNS(TEXT, WHOLE, NUMBER)};
#undef TEXT
#undef WHOLE
#undef NUMBER

/* Names the form of a row, for readers of other versions. */
#define FORM "gpu_tracker_history_row"
#define FORM_VERSION 1

enum history_column_id history_column_find(const char *name)
{
    int id = 0;
    while (id < HISTORY_COLUMN_COUNT && strcmp(history_columns[id].name, name) != 0)
        id++;
    return (enum history_column_id)id;
}

static bool is_text(int id)
{
    return history_columns[id].type == GPUT_COLUMN_TEXT;
}

void history_row_init(struct history_row *row)
{
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        if (is_text(id))
            row->values[id].text = NULL;
        else
            row->values[id].number = NAN;
    }
}

void history_row_finish(struct history_row *row)
{
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        if (is_text(id))
            free(row->values[id].text);
    }
    history_row_init(row);
}

bool history_row_set_text(struct history_row *row, enum history_column_id id, const char *text)
{
    char *copy = text && text[0] ? strdup(text) : NULL;
    if (text && text[0] && !copy)
        return false;
    free(row->values[id].text);
    row->values[id].text = copy;
    return true;
}

int history_row_set_doc(struct history_row *row, enum history_column_id id, const struct doc *doc,
    struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    if (!doc || doc_failed(doc))
        return error_memory(error);
    doc_write_json(doc, -1, &text);
    return !text.failed && history_row_set_text(row, id, text.data) ? GPUT_OK : error_memory(error);
}

/* Whether the results say that the kernel counted all of the CPU time. */
static bool is_cpu_exact(const struct gput_results *results)
{
    for (uint32_t i = 0; i < results->n_sources; i++) {
        if (strcmp(results->sources[i].name, "kernel_cpu_time") == 0)
            return results->sources[i].state == GPUT_SOURCE_EXACT;
    }
    return false;
}

int history_row_fill(
    struct history_row *row, const struct gput_results *results, struct gput_error *error)
{
    size_t count, hint = 0;
    const struct results_list *record = results_lists(&count);
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        const char *from = history_columns[id].from;
        const struct results_column *column =
            from ? results_column_find(record, from, strlen(from), &hint) : NULL;
        if (!column)
            continue;
        if (!is_text(id))
            row->values[id].number = results_column_number(column, results);
        else if (!history_row_set_text(
                     row, (enum history_column_id)id, results_column_text(column, results)))
            return error_memory(error);
    }
    row->values[HISTORY_START_SECONDS].number = results_identity_seconds(results->identity.start);
    row->values[HISTORY_CORES].number = results->max[GPUT_CPU_COMBINED_SUM] / 100;
    if (isnan(row->values[HISTORY_RAM].number))
        row->values[HISTORY_RAM].number = results->max[GPUT_COMBINED_RAM];
    if (!isnan(row->values[HISTORY_CPU].number))
        row->values[HISTORY_CPU_IS_EXACT].number = is_cpu_exact(results);
    /* Set what the GPUs say together. A GPU that the command could not see is not among them. */
    double gpus = results->allowed.named_gpus, used = 0;
    if (isnan(gpus))
        gpus = results->allowed.gpus;
    if (isnan(gpus))
        gpus = results->static_data.n_expected_gpus;
    for (uint32_t i = 0; i < results->n_gpus; i++)
        used += results->gpus[i].max_combined_ram_bytes > 0;
    row->values[HISTORY_GPUS].number = gpus;
    if (gpus == 0 || !isnan(results->gpu_peaks.combined.bytes))
        row->values[HISTORY_GPUS_USED].number = used;
    row->values[HISTORY_GPU_SECONDS].number = gpus * results->elapsed_seconds;
    row->values[HISTORY_GPU_BUSY_SECONDS].number =
        gpus == 0 ? 0 : results->mean[GPUT_GPU_SUM_UTILIZATION] / 100 * results->elapsed_seconds;
    if (!results->limit.kind_name[0])
        return GPUT_OK;
    row->values[HISTORY_LIMIT_ENFORCED].number = results->limit.enforced;
    return history_row_set_text(row, HISTORY_LIMIT_PASSED, results->limit.kind_name)
               ? GPUT_OK
               : error_memory(error);
}

void history_row_write(const struct history_row *row, struct str *text)
{
    CLEANUP(doc_destroy_pointer) struct doc *root = doc_create_object();
    doc_add_int(root, FORM, FORM_VERSION);
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        const char *name = history_columns[id].name;
        double number = is_text(id) ? NAN : row->values[id].number;
        if (is_text(id) && row->values[id].text)
            doc_add_string(root, name, row->values[id].text);
        else if (history_columns[id].type == GPUT_COLUMN_INT && isfinite(number))
            doc_add_int(root, name, (int64_t)number);
        else if (isfinite(number))
            doc_add_double(root, name, number);
    }
    if (!root || doc_failed(root))
        text->failed = true;
    else
        doc_write_json(root, -1, text);
    str_append_char(text, '\n');
}

int history_row_read(struct history_row *row, const char *text, size_t length, const char *name,
    struct gput_error *error)
{
    CLEANUP(doc_destroy_pointer) struct doc *root = NULL;
    TRY(doc_read_json(text, length, name, &root, error));
    if (root->kind != DOC_OBJECT || doc_get_int(root, FORM) < 1)
        return error_set(error, GPUT_ERROR_FORMAT, "%s is no row of a history.", name);
    for (const struct doc *value = root->first; value; value = value->next) {
        enum history_column_id id = history_column_find(value->key);
        if (id == HISTORY_COLUMN_COUNT)
            continue;
        if (!is_text((int)id))
            row->values[id].number = doc_number(value);
        else if (!history_row_set_text(row, id, doc_string(value)))
            return error_memory(error);
    }
    if (!history_text(row, HISTORY_SESSION_ID))
        return error_set(error, GPUT_ERROR_FORMAT, "%s does not say of which session it is.", name);
    return GPUT_OK;
}
