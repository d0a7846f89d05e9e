#include "views/output/summary_gpus.h"

#include "base/cleanup.h"
#include "base/human.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_SHOWN_GPUS 8

/* What the lines have: figures that one GPU has, another says to be missing. */
struct form {
    bool is_long, has_use, has_power;
};

/* Appends what belongs to the figure of a GPU: its peak, how busy it was, and its mean power. */
static void describe(const struct gput_results *results, const struct gput_gpu *gpu,
    const struct form *form, struct str *text)
{
    char whole[HUMAN_SIZE], watts[HUMAN_SIZE];
    double late_seconds = results->gpu_peaks.late_list_seconds;
    str_append(text, "peak");
    if (isnan(gpu->max_combined_ram_bytes))
        str_append(text, form->is_long ? ", by whoever used it," : " (all users)");
    else if (late_seconds > 0)
        str_printf(text, ", at least: the driver's list was %.1f s late,", late_seconds);
    str_printf(text, " of %s", human_bytes(gpu->ram_capacity_bytes, whole));
    if (form->has_use && isnan(gpu->max_utilization_percent))
        str_append(text, "; busy n/a");
    else if (form->has_use)
        str_printf(text,
            form->is_long ? "; busy: mean %.0f %%, max %.0f %%" : "; busy %.0f %% (max %.0f %%)",
            gpu->mean_utilization_percent, gpu->max_utilization_percent);
    if (form->has_power && isnan(gpu->mean_power_watts))
        str_append(text, "; power n/a");
    else if (form->has_power)
        str_printf(text, "; %s", human_watts(gpu->mean_power_watts, watts));
    if (form->is_long)
        str_printf(text, "  %s", gpu->name);
}

/* The index of the next GPU that is shown, from this one on; n_gpus: there is none. */
static uint32_t next_shown(const struct gput_results *results, uint32_t index)
{
    while (index < results->n_gpus && !results->gpus[index].selected)
        index++;
    return index;
}

/* Finds the longest form that fits the screen for all GPUs, so that their rows look alike. */
static struct form find_form(const struct summary *summary)
{
    const struct gput_results *results = summary->results;
    struct form form = {.is_long = true};
    unsigned shown = 0;
    for (uint32_t i = next_shown(results, 0); i < results->n_gpus && shown < MAX_SHOWN_GPUS;
         i = next_shown(results, i + 1), shown++) {
        form.has_use |= !isnan(results->gpus[i].max_utilization_percent);
        form.has_power |= !isnan(results->gpus[i].mean_power_watts);
    }
    shown = 0;
    for (uint32_t i = next_shown(results, 0); i < results->n_gpus && shown < MAX_SHOWN_GPUS;
         i = next_shown(results, i + 1), shown++) {
        CLEANUP_STR struct str text = {0};
        describe(
            results, &results->gpus[i], &(struct form){true, form.has_use, form.has_power}, &text);
        form.is_long &= summary_fits(summary, &text);
    }
    return form;
}

/* Writes the row of a GPU. */
static void write_gpu(struct summary *summary, uint32_t index, const struct form *form)
{
    const struct gput_gpu *gpu = &summary->results->gpus[index];
    bool is_of_command = !isnan(gpu->max_combined_ram_bytes);
    char label[32], figure[HUMAN_SIZE];
    CLEANUP_STR struct str text = {0};
    snprintf(label, sizeof label, "GPU %u", (unsigned)index);
    human_bytes(is_of_command ? gpu->max_combined_ram_bytes : gpu->max_ram_bytes, figure);
    describe(summary->results, gpu, form, &text);
    summary_row(summary, label, figure, "%s", str_text(&text));
    summary->text->failed |= text.failed;
    /* Say how busy parts of the chip were, if asked; what slowed the card, what got worse on it. */
    const struct {
        const char *what, *text;
    } troubles[] = {
        {"parts:", gpu->parts},
        {"slowed by", strcmp(gpu->slowed_by, "nothing") == 0 ? "" : gpu->slowed_by},
        {"health:", gpu->health},
    };
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++) {
        if (troubles[i].text[0])
            summary_row(summary, "", "", "%s %s", troubles[i].what, troubles[i].text);
    }
}

/* Of reports that have no single GPU, as those of the older gpu_tracker. */
static void write_all_gpus(struct summary *summary)
{
    const struct gput_results *results = summary->results;
    double mean = results->mean[GPUT_GPU_HARDWARE_UTILIZATION];
    double peak = results->max[GPUT_COMBINED_GPU_RAM];
    char figure[HUMAN_SIZE], capacity[HUMAN_SIZE], busy[64] = "";
    if (results->n_gpus > 0 || !(results->static_data.system_gpu_count > 0) ||
        (isnan(mean) && isnan(peak)))
        return;
    if (!isnan(mean))
        snprintf(busy, sizeof busy, "; busy: mean %.0f %%, max %.0f %%", mean,
            results->max[GPUT_GPU_HARDWARE_UTILIZATION]);
    summary_row(summary, "GPUs", human_bytes(peak, figure), "peak of RAM, of %s in all%s",
        human_bytes(results->static_data.gpu_ram_system_capacity_bytes, capacity), busy);
}

void summary_gpus_write(struct summary *summary)
{
    const struct gput_results *results = summary->results;
    write_all_gpus(summary);
    struct form form = find_form(summary);
    unsigned shown = 0, more = 0;
    for (uint32_t i = next_shown(results, 0); i < results->n_gpus; i = next_shown(results, i + 1)) {
        if (shown < MAX_SHOWN_GPUS) {
            write_gpu(summary, i, &form);
            shown++;
        } else {
            more++;
        }
    }
    if (more) {
        char text[48];
        snprintf(text, sizeof text, "and %u more: -f full", more);
        str_printf(summary->text, "  %-*s ", SUMMARY_LABEL_WIDTH, "GPUs");
        summary_append_wrapped(summary, text, SUMMARY_LABEL_COLUMN);
        str_append_char(summary->text, '\n');
    }
}
