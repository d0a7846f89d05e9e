/* Folders of power recordings: the first byte says which file the rest is. What is accepted can be
 * summed up, printed and drawn. */
#include "fuzz_folder.h"

#include <gputracker/energy_recording.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_file(const char *folder, const char *file, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *stream = fopen(path, "w");
    if (!stream || (size && fwrite(bytes, 1, size, stream) != size))
        abort();
    fclose(stream);
}

static void use(struct gput_energy_recording *recording)
{
    char *text;
    if (gput_energy_recording_render(recording, NULL, GPUT_FORMAT_TEXT, &text, NULL, NULL) ==
        GPUT_OK)
        free(text);
    if (gput_energy_recording_render(recording, NULL, GPUT_FORMAT_JSON, &text, NULL, NULL) ==
        GPUT_OK)
        free(text);
    struct gput_tables *tables;
    struct gput_energy_window window;
    const char *of_gpus = "per_gpu_attributable_power";
    if (gput_energy_recording_render_curves(
            recording, &of_gpus, 1, NULL, GPUT_FORMAT_CSV, &text, NULL, NULL) == GPUT_OK)
        free(text);
    gput_energy_recording_parse_window(recording, "1", "1688142734", &window, NULL);
    for (size_t i = 0; i < gput_energy_recording_metric_count(recording) && i < 3; i++) {
        const char *name = gput_energy_recording_metric_name(recording, i);
        if (gput_energy_recording_render_curves(
                recording, &name, 1, NULL, GPUT_FORMAT_SVG, &text, NULL, NULL) == GPUT_OK)
            free(text);
        if (gput_energy_recording_tables(recording, &name, 1, NULL, &tables, NULL) == GPUT_OK)
            gput_tables_destroy(tables);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const files[] = {"power_metrics.json", "omegawatt.csv", "results_exp.json"};
    static const char line[] = "{\"date\": \"2023-06-30 16:32:14\", \"metrics\": {}}\n";
    static char folder[64];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "%s/fuzz-energy-XXXXXX", fuzz_folder());
        if (!mkdtemp(folder))
            abort();
    }
    if (size == 0)
        return 0;
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    write_file(folder, files[0], line, sizeof line - 1);
    write_file(folder, files[data[0] % 3], data + 1, size - 1);
    struct gput_energy_recording *recording;
    if (gput_energy_recording_load(folder, &recording, NULL) == GPUT_OK)
        use(recording);
    gput_energy_recording_destroy(recording);
    return 0;
}
