/*
 * Tracks a command, and prints all that the library knows of it afterwards, without a report:
 *
 *     cc print-results.c $(pkg-config --cflags --libs gputracker) -lm -o print-results
 *     ./print-results make -j4
 */
#include <gputracker/gputracker.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Which sources of figures this machine has, and why others are missing. */
static int print_machine(struct gput_error *error)
{
    struct gput_doctor *doctor;
    int code = gput_doctor_create(NULL, &doctor, error);
    if (code != GPUT_OK)
        return code;
    for (size_t i = 0; i < gput_doctor_source_count(doctor); i++)
        printf("machine %s: %s: %s\n", gput_doctor_source_name(doctor, i),
            gput_doctor_state_name(gput_doctor_source_state(doctor, i)),
            gput_doctor_source_reason(doctor, i));
    struct gput_tables *tables;
    code = gput_doctor_tables(doctor, &tables, error);
    for (size_t i = 0; code == GPUT_OK && i < gput_tables_count(tables); i++) {
        const struct gput_table *table = gput_tables_get(tables, i);
        printf("machine has %zu rows of %s\n", gput_table_row_count(table), gput_table_name(table));
    }
    if (code == GPUT_OK)
        gput_tables_destroy(tables);
    gput_doctor_destroy(doctor);
    return code;
}

/* Which process of a parallel job this is. */
static int print_rank(struct gput_error *error)
{
    struct gput_rank *rank;
    int code = gput_rank_create(NULL, &rank, error);
    if (code != GPUT_OK)
        return code;
    printf("rank %ld, local rank %ld on %s, %ld restarts\n", gput_rank_number(rank),
        gput_rank_local_number(rank), gput_rank_host(rank), gput_rank_restarts(rank));
    gput_rank_destroy(rank);
    return GPUT_OK;
}

/* Peak, mean and last value of each measurement, sizes in the unit of the session. */
static void print_measurements(const struct gput_results *results)
{
    enum gput_ram_unit unit = gput_results_ram_unit(results);
    const struct gput_measurement *measurement;
    for (int id = 0; (measurement = gput_measurement((enum gput_measurement_id)id)); id++) {
        bool is_size = measurement->quantity == GPUT_QUANTITY_RAM;
        double factor = is_size ? gput_ram_unit_factor(unit) : 1;
        printf("%s: max %g, mean %g, last %g %s\n", measurement->name,
            gput_results_max(results, measurement->id) * factor,
            gput_results_mean(results, measurement->id) * factor,
            gput_results_now(results, measurement->id) * factor,
            is_size ? gput_ram_unit_name(unit) : "");
    }
    enum gput_time_unit time = gput_results_time_unit(results);
    printf("time: %g %s\n", gput_results_seconds(results) / gput_time_unit_seconds(time),
        gput_time_unit_name(time));
}

/* Joules by domain of the machine, and what they emit by the mean of a country's grid. */
static int print_energy(const struct gput_results *results, struct gput_error *error)
{
    const char *name;
    for (int figure = 0; (name = gput_energy_figure_name((enum gput_energy_figure)figure));
         figure++)
        printf("energy %s: %g joules\n", name,
            gput_results_energy(results, (enum gput_energy_figure)figure));
    const struct gput_carbon_intensity *grid;
    int code = gput_carbon_intensity_find("FR", &grid, error);
    if (code != GPUT_OK)
        return code;
    enum gput_energy_unit unit = GPUT_ENERGY_UNIT_KILOWATT_HOURS;
    double joules = gput_results_energy(results, GPUT_ENERGY_COMBINED);
    double amount = (isnan(joules) ? 0 : joules) / gput_energy_unit_joules(unit);
    printf("%g %s emit %g grams (%s)\n", amount, gput_energy_unit_name(unit), amount * grid->grams,
        gput_carbon_intensity_source());
    return GPUT_OK;
}

/* Every column that has a figure; the same names are in JSON and SQLite. */
static void print_columns(const struct gput_results *results)
{
    for (size_t i = 0; i < gput_results_column_count(); i++) {
        const struct gput_results_column *column = gput_results_column(i);
        double number = gput_results_number(results, column->name);
        const char *text = gput_results_text(results, column->name);
        if (!isnan(number))
            printf("%s: %g %s\n", column->name, number, column->unit ? column->unit : "");
        else if (text[0])
            printf("%s: %s\n", column->name, text);
    }
}

static void print_gpus_and_sources(const struct gput_results *results)
{
    for (size_t i = 0; i < gput_results_gpu_count(results); i++)
        printf("GPU %s: %g bytes at most\n", gput_results_gpu_text(results, i, "uuid"),
            gput_results_gpu_number(results, i, "max_combined_ram_bytes"));
    for (size_t i = 0; i < gput_results_source_count(results); i++)
        printf("source %s: %s: %s\n", gput_results_source_name(results, i),
            gput_source_state_name(gput_results_source_state(results, i)),
            gput_results_source_reason(results, i));
}

static int print_processes(struct gput_session *session, struct gput_error *error)
{
    struct gput_processes *processes;
    int code = gput_session_processes(session, &processes, error);
    if (code != GPUT_OK)
        return code;
    for (size_t i = 0; i < gput_processes_count(processes); i++) {
        const struct gput_process *process = gput_processes_get(processes, i);
        const char *end = gput_process_end_name(process), *least = gput_process_at_least(process);
        printf("process %s: %g s, peak %s, end %s, at least: %s\n", process->name,
            process->cpu_seconds, gput_process_peak_name(process->peak), end ? end : "none",
            least ? least : "nothing");
    }
    gput_processes_destroy(processes);
    return GPUT_OK;
}

/* The same as tables: a record is one row of named values. */
static int print_tables(const struct gput_results *results, struct gput_error *error)
{
    struct gput_tables *tables;
    int code = gput_results_tables(results, &tables, error);
    if (code != GPUT_OK)
        return code;
    for (size_t i = 0; i < gput_tables_count(tables); i++) {
        const struct gput_table *table = gput_tables_get(tables, i);
        printf("table %s: %s of %zu columns\n", gput_table_name(table),
            gput_table_is_record(table) ? "a record" : "rows", gput_table_column_count(table));
    }
    gput_tables_destroy(tables);
    return GPUT_OK;
}

/* What is known at the last tick: the processes of each GPU. */
static void print_snapshot(struct gput_session *session)
{
    struct gput_snapshot *snapshot;
    if (gput_session_latest_snapshot(session, &snapshot, NULL) != GPUT_OK)
        return;
    printf("tick %llu\n", (unsigned long long)gput_snapshot_number(snapshot));
    for (size_t i = 0; i < gput_snapshot_gpu_count(snapshot); i++)
        printf("GPU %zu: %zu processes\n", i, gput_snapshot_gpu_user_count(snapshot, i));
    gput_snapshot_release(snapshot);
}

static int print_all(struct gput_session *session, struct gput_error *error)
{
    struct gput_results *results;
    print_snapshot(session);
    int code = gput_session_results(session, &results, error);
    if (code != GPUT_OK)
        return code;
    print_measurements(results);
    print_columns(results);
    print_gpus_and_sources(results);
    code = print_energy(results, error);
    if (code == GPUT_OK)
        code = print_processes(session, error);
    if (code == GPUT_OK)
        code = print_tables(results, error);
    gput_results_destroy(results);
    return code;
}

static int track(char **command, struct gput_session **session, struct gput_error *error)
{
    bool has_ended = false;
    int status, code;
    struct gput_session_options options = gput_session_options_default();
    options.processes = true;
    options.snapshots = true;
    options.no_other_children = true;
    code = gput_session_option_set(&options, "sleep_time", "0.05", error);
    if (code == GPUT_OK)
        code = gput_session_create(&options, session, error);
    if (code == GPUT_OK)
        code = gput_session_launch(*session, command, error);
    while (code == GPUT_OK && !has_ended)
        code = gput_session_wait(*session, -1, &has_ended, &status, error);
    return code == GPUT_OK ? gput_session_stop(*session, error) : code;
}

int main(int argc, char **argv)
{
    struct gput_error error = {0};
    struct gput_session *session = NULL;
    if (argc < 2) {
        fprintf(stderr, "Usage: print-results COMMAND [ARGUMENT...]\n");
        return EXIT_FAILURE;
    }
    int code = print_machine(&error);
    if (code == GPUT_OK)
        code = print_rank(&error);
    if (code == GPUT_OK)
        code = track(argv + 1, &session, &error);
    if (code == GPUT_OK)
        code = print_all(session, &error);
    if (code != GPUT_OK)
        fprintf(stderr, "print-results: %s\n", error.message);
    gput_session_destroy(session);
    return code == GPUT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
