#include "views/report/document/report_processes.h"

#include "base/table.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum kind { NUMBER, MOMENT, RAM, GPU_RAM };

/* Files have sizes in their unit, the list of a session that has just ended in bytes. */
static const struct figure {
    const char *key, *column, *other_column;
    enum kind kind;
    double step;
} figures[REPORT_PROCESS_FIGURES] = {
    {"pid", "pid", NULL, NUMBER, REPORT_STEP_WHOLE},
    {"parent", "parent", NULL, NUMBER, REPORT_STEP_WHOLE},
    {"start", "start_timestamp", NULL, MOMENT, REPORT_STEP_TIME},
    {"end", "end_timestamp", NULL, MOMENT, REPORT_STEP_TIME},
    {"cpu_seconds", "cpu_seconds", NULL, NUMBER, REPORT_STEP_TIME},
    {"peak_ram_bytes", "peak_ram", "peak_ram_bytes", RAM, REPORT_STEP_WHOLE},
    {"peak_gpu_ram_bytes", "peak_gpu_ram", "peak_gpu_ram_bytes", GPU_RAM, REPORT_STEP_WHOLE},
    {"read_bytes", "read_bytes", NULL, NUMBER, REPORT_STEP_WHOLE},
    {"write_bytes", "write_bytes", NULL, NUMBER, REPORT_STEP_WHOLE},
    {"exit_status", "exit_status", NULL, NUMBER, REPORT_STEP_WHOLE},
    {"signal", "signal", NULL, NUMBER, REPORT_STEP_WHOLE},
};

/* Signals that end processes; others have their number alone. */
static const struct {
    int number;
    const char *name;
} signals[] = {{SIGHUP, "SIGHUP"}, {SIGINT, "SIGINT"}, {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGKILL, "SIGKILL"},
    {SIGSEGV, "SIGSEGV"}, {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}};
#define N_SIGNALS (sizeof signals / sizeof *signals)

const char *report_signal_name(int64_t number)
{
    for (size_t i = 0; i < N_SIGNALS; i++) {
        if (signals[i].number == number)
            return signals[i].name;
    }
    return NULL;
}

struct place {
    size_t column;
    double factor;
};

void report_processes_init(struct report_processes *processes, struct report_session *session)
{
    struct report_spool *spool = &session->payload->spool;
    *processes = (struct report_processes){.session = session};
    report_column_init(&processes->name, spool, REPORT_STEP_WHOLE);
    for (int i = 0; i < REPORT_PROCESS_FIGURES; i++)
        report_column_init(&processes->figures[i], spool, figures[i].step);
}

int report_processes_add(
    struct report_processes *processes, const struct gput_table *part, struct gput_error *error)
{
    size_t name_column = table_cells_find(part, "name");
    struct place places[REPORT_PROCESS_FIGURES];
    for (int i = 0; i < REPORT_PROCESS_FIGURES; i++) {
        /* Find the column of a table that has a figure, and its unit. */
        const struct gput_static_data *data = &processes->session->static_data;
        struct place place = {table_cells_find(part, figures[i].column), 1};
        if (place.column != TABLE_NO_COLUMN && figures[i].kind == RAM)
            place.factor = 1 / gput_ram_unit_factor(data->ram_unit);
        else if (place.column != TABLE_NO_COLUMN && figures[i].kind == GPU_RAM)
            place.factor = 1 / gput_ram_unit_factor(data->gpu_ram_unit);
        else if (place.column == TABLE_NO_COLUMN && figures[i].other_column)
            place.column = table_cells_find(part, figures[i].other_column);
        places[i] = place;
    }
    for (size_t row = 0; row < gput_table_row_count(part); row++) {
        const char *text = table_cells_text(part, row, name_column);
        uint32_t name = names_add(&processes->names, text, strlen(text));
        if (name == NAMES_NONE)
            return error_memory(error);
        TRY(report_column_add(&processes->name, name, error));
        for (int i = 0; i < REPORT_PROCESS_FIGURES; i++) {
            double value = table_cells_number(part, row, places[i].column) * places[i].factor;
            if (figures[i].kind == MOMENT && fabs(value) < REPORT_LAST_SECOND)
                value = report_session_time(processes->session, value);
            TRY(report_column_add(&processes->figures[i], value, error));
        }
    }
    return GPUT_OK;
}

int report_processes_end(struct report_processes *processes, struct gput_error *error)
{
    struct report_payload *payload = processes->session->payload;
    if (processes->name.count == 0)
        return GPUT_OK;
    struct doc *object = doc_add_object(processes->session->doc, "process_list");
    report_payload_add_names(object, "names", &processes->names);
    TRY(report_payload_add_column(payload, object, "name", &processes->name, error));
    for (int i = 0; i < REPORT_PROCESS_FIGURES; i++)
        TRY(report_payload_add_column(
            payload, object, figures[i].key, &processes->figures[i], error));
    struct doc *named = doc_add_object(object, "signals");
    for (size_t i = 0; i < N_SIGNALS; i++) {
        char number[12];
        snprintf(number, sizeof number, "%d", signals[i].number);
        doc_add_string(named, number, signals[i].name);
    }
    return GPUT_OK;
}

void report_processes_finish(struct report_processes *processes)
{
    names_finish(&processes->names);
    report_column_finish(&processes->name);
    for (int i = 0; i < REPORT_PROCESS_FIGURES; i++)
        report_column_finish(&processes->figures[i]);
}
