#include "files/power/energy_recording.h"

#include "base/file.h"

#include <sys/stat.h>

/* Such files have a few lines. */
#define MAX_BYTES ((size_t)64 << 20)

/* Reads a small file of one JSON value. *doc stays NULL when there is no file. */
static int read_doc(const struct energy_record *record, const char *file, struct doc **doc,
    struct gput_error *error)
{
    struct str path = {0}, content = {0};
    str_printf(&path, "%s/%s", record->folder, file);
    int code = path.failed ? error_memory(error)
                           : file_read_regular(path.data, MAX_BYTES, &content, error);
    if (code == GPUT_OK)
        code = doc_read_python_json(content.data, content.length, str_text(&path), doc, error);
    str_finish(&content);
    str_finish(&path);
    return code == GPUT_ERROR_NOT_FOUND ? GPUT_OK : code;
}

/* The same for an optional file: errors except running out of memory become warnings. */
static int try_doc(
    struct energy_record *record, const char *file, struct doc **doc, struct gput_error *error)
{
    struct gput_error reason;
    int code = read_doc(record, file, doc, &reason);
    if (code == GPUT_ERROR_MEMORY)
        return error_copy(error, &reason);
    if (code != GPUT_OK)
        energy_record_warn(record, "%.200s", reason.message);
    return GPUT_OK;
}

static int read_folder(struct energy_record *record, struct gput_error *error)
{
    bool has_power, has_sqlite, has_wattmeter;
    struct stat status;
    if (stat(record->folder, &status) != 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "There is no folder %s.", record->folder);
    if (!S_ISDIR(status.st_mode))
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "%s is a file: name the folder of a recording of power.", record->folder);
    TRY(energy_recording_read_power(record, &has_power, error));
    TRY(energy_recording_read_sqlite(record, &has_sqlite, error));
    TRY(energy_recording_read_wattmeter(record, &has_wattmeter, error));
    if (!has_power && !has_sqlite && !has_wattmeter)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no recording of power in %s: no power_metrics.json or .sqlite, and no "
            "omegawatt.csv.",
            record->folder);
    TRY(try_doc(record, "metadata.json", &record->metadata, error));
    TRY(try_doc(record, "model_summary.json", &record->model, error));
    TRY(try_doc(record, "results_exp.json", &record->experiment, error));
    return record->experiment ? energy_recording_read_experiment(record, error) : GPUT_OK;
}

int energy_recording_read(
    const char *folder, struct energy_record **result, struct gput_error *error)
{
    *result = NULL;
    struct energy_record *record = energy_record_create(folder);
    if (!record)
        return error_memory(error);
    int code = read_folder(record, error);
    size_t n_implausible = 0;
    for (int i = 0; i < RECORDED_SERIES; i++)
        n_implausible += record->series[i].n_implausible;
    if (n_implausible > 0)
        energy_record_warn(record,
            "%.120s: %zu power%s below 0 W or above 100 kW %s not plausible, and left out.", folder,
            n_implausible, n_implausible == 1 ? "" : "s", n_implausible == 1 ? "is" : "are");
    energy_record_end_warnings(record);
    if (code == GPUT_OK)
        *result = record;
    else
        energy_record_destroy(record);
    return code;
}
