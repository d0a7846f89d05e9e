/*
 * Renders the findings of gput_doctor_create(): one by one, as tables, text and JSON.
 */
#include "doctor/findings.h"

#include "base/doc.h"
#include "base/error.h"
#include "base/number.h"
#include "base/screen.h"
#include "base/str.h"
#include "base/table.h"

#include <math.h>
#include <string.h>

const char *gput_doctor_state_name(enum gput_doctor_state state)
{
    static const char *const names[] = {"available", "partly", "unavailable"};
    return names[state];
}

/* ---- One by one ---- */

size_t gput_doctor_source_count(const struct gput_doctor *doctor)
{
    return doctor->n_sources;
}

const char *gput_doctor_source_name(const struct gput_doctor *doctor, size_t index)
{
    return index < doctor->n_sources ? doctor->sources[index].name : NULL;
}

enum gput_doctor_state gput_doctor_source_state(const struct gput_doctor *doctor, size_t index)
{
    return index < doctor->n_sources ? doctor->sources[index].state : GPUT_DOCTOR_UNAVAILABLE;
}

const char *gput_doctor_source_gives(const struct gput_doctor *doctor, size_t index)
{
    return index < doctor->n_sources ? doctor->sources[index].gives : NULL;
}

const char *gput_doctor_source_reason(const struct gput_doctor *doctor, size_t index)
{
    return index < doctor->n_sources ? doctor->sources[index].reason : NULL;
}

const char *gput_doctor_source_remedy(const struct gput_doctor *doctor, size_t index)
{
    return index < doctor->n_sources ? doctor->sources[index].remedy : NULL;
}

/* ---- Tables ---- */

/* Adds columns of text. */
static void add_texts(struct gput_table *table, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        table_add_column(table, names[i], GPUT_COLUMN_TEXT);
}

/* Adds a cell of text. An empty text becomes a missing value. */
static void put_text(struct gput_table *table, const char *text)
{
    table_put_text(table, text[0] ? text : NULL);
}

/* Adds the table of GPUs. */
static void add_gpus(struct gput_tables *tables, const struct gput_doctor *doctor)
{
    static const char *const names[] = {"uuid", "name", "vendor", "pci_address", "source"};
    struct gput_table *table = tables_add(tables, "gpus");
    add_texts(table, names, sizeof names / sizeof *names);
    table_add_column(table, "ram_capacity_bytes", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "missing", GPUT_COLUMN_TEXT);
    table_add_column(table, "health", GPUT_COLUMN_TEXT);
    for (uint32_t i = 0; i < doctor->n_gpus; i++) {
        const struct gput_doctor_gpu *gpu = &doctor->gpus[i];
        put_text(table, gpu->uuid);
        put_text(table, gpu->name);
        put_text(table, gpu->vendor);
        put_text(table, gpu->pci_address);
        put_text(table, gpu->source);
        table_put_double(table, gpu->ram_capacity_bytes);
        put_text(table, gpu->missing);
        put_text(table, gpu->health);
    }
}

int gput_doctor_tables(
    const struct gput_doctor *doctor, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    static const char *const names[] = {"name", "state", "gives", "reason", "remedy"};
    struct gput_table *table = tables_add(building, "sources");
    add_texts(table, names, sizeof names / sizeof *names);
    for (uint32_t i = 0; i < doctor->n_sources; i++) {
        const struct gput_doctor_source *source = &doctor->sources[i];
        put_text(table, source->name);
        put_text(table, gput_doctor_state_name(source->state));
        put_text(table, source->gives);
        put_text(table, source->reason);
        put_text(table, source->remedy);
    }

    add_gpus(building, doctor);
    return tables_finish_building(building, tables, error);
}

/* ---- JSON ---- */

/* Writes the sources and the GPUs as JSON. */
static int write_json(const struct gput_doctor *doctor, enum gput_ram_unit ram_unit,
    struct str *text, struct gput_error *error)
{
    struct doc *root = doc_create_object();
    doc_add_string(root, "summary", doctor->summary);
    struct doc *sources = doc_add_object(root, "sources");
    for (uint32_t i = 0; i < doctor->n_sources; i++) {
        const struct gput_doctor_source *source = &doctor->sources[i];
        struct doc *doc = doc_add_object(sources, source->name);
        doc_add_string(doc, "state", gput_doctor_state_name(source->state));
        doc_add_string(doc, "gives", source->gives);
        doc_add_string(doc, "reason", source->reason);
        if (source->remedy[0])
            doc_add_string(doc, "remedy", source->remedy);
        else
            doc_add_null(doc, "remedy");
    }

    struct doc *gpus = doc_add_array(root, "gpus");
    for (uint32_t i = 0; i < doctor->n_gpus; i++) {
        const struct gput_doctor_gpu *gpu = &doctor->gpus[i];
        struct doc *doc = doc_add_object(gpus, NULL);
        doc_add_string(doc, "uuid", gpu->uuid);
        doc_add_string(doc, "name", gpu->name);
        doc_add_string(doc, "vendor", gpu->vendor);
        doc_add_string(doc, "pci_address", gpu->pci_address);
        doc_add_string(doc, "source", gpu->source);
        doc_add_string(doc, "unit", gput_ram_unit_name(ram_unit));
        doc_add_double(
            doc, "ram_capacity", gpu->ram_capacity_bytes * gput_ram_unit_factor(ram_unit));
        if (gpu->missing[0])
            doc_add_string(doc, "missing", gpu->missing);
        if (gpu->health[0])
            doc_add_string(doc, "health", gpu->health);
    }

    /* Without memory the document may be incomplete. */
    bool failed = doc_failed(root);
    if (!failed) {
        doc_write_json(root, 1, text);
        str_append_char(text, '\n');
    }
    doc_destroy(root);
    return failed ? error_memory(error) : GPUT_OK;
}

/* ---- Text ---- */

/* Writes a word, padded with blanks to a width. */
static void pad(struct str *text, const char *word, size_t width)
{
    size_t length = strlen(word);
    str_append(text, word);
    str_append_repeated(text, ' ', length < width ? width - length : 0);
}

/* Returns the length of the longest name of a source. */
static size_t longest_name(const struct gput_doctor *doctor)
{
    size_t longest = 0;
    for (uint32_t i = 0; i < doctor->n_sources; i++) {
        size_t length = strlen(doctor->sources[i].name);
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Writes the summary, then the sources and the GPUs. */
static void write_text(
    const struct gput_doctor *doctor, enum gput_ram_unit ram_unit, struct str *text)
{
    size_t width = longest_name(doctor) + 2;
    str_printf(text, "%s\n\n", doctor->summary);
    for (uint32_t i = 0; i < doctor->n_sources; i++) {
        const struct gput_doctor_source *source = &doctor->sources[i];
        size_t state_width = strlen(gput_doctor_state_name(GPUT_DOCTOR_UNAVAILABLE)) + 2;
        pad(text, source->name, width);
        pad(text, gput_doctor_state_name(source->state), state_width);
        str_printf(text, "%s\n", source->gives);
        str_append_repeated(text, ' ', width + state_width);
        str_printf(text, "%s\n", source->reason);
        if (source->remedy[0]) {
            str_append_repeated(text, ' ', width + state_width);
            str_printf(text, "To open it: %s\n", source->remedy);
        }
    }

    for (uint32_t i = 0; i < doctor->n_gpus; i++) {
        const struct gput_doctor_gpu *gpu = &doctor->gpus[i];
        char capacity[NUMBER_TEXT_SIZE];
        str_printf(text, "\nGPU %u: %s\n", i, gpu->name);
        str_printf(text, "   UUID: %s\n", gpu->uuid);
        if (gpu->pci_address[0])
            str_printf(text, "   PCI address: %s\n", gpu->pci_address);
        if (isnan(gpu->ram_capacity_bytes)) {
            str_append(text, "   RAM capacity: n/a\n");
        } else {
            size_t length = number_format_rounded(
                gpu->ram_capacity_bytes * gput_ram_unit_factor(ram_unit), 3, capacity);
            str_append(text, "   RAM capacity: ");
            str_append_bytes(text, capacity, length);
            str_printf(text, " %s\n", gput_ram_unit_name(ram_unit));
        }
        str_printf(text, "   Source: %s\n", gpu->source);
        if (gpu->missing[0])
            str_printf(text, "   Missing: %s\n", gpu->missing);
        if (gpu->health[0])
            str_printf(text, "   Health: %s\n", gpu->health);
    }
}

int gput_doctor_render(const struct gput_doctor *doctor, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    struct str rendered = {0};
    *bytes = NULL;
    if (format == GPUT_FORMAT_JSON)
        TRY(write_json(doctor, doctor->ram_unit, &rendered, error));
    else if (format == GPUT_FORMAT_TEXT) {
        write_text(doctor, doctor->ram_unit, &rendered);
        screen_sanitize(&rendered, 0);
    } else
        return error_set(
            error, GPUT_ERROR_INVALID, "The doctor's findings are written as text or JSON only.");
    return str_steal_bytes(&rendered, bytes, length, error);
}
