#include "fleet/fleet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Why a file that was named alone has no results. */
static bool is_reason(const struct gput_fleet *fleet, const char *path)
{
    return fleet->n_findings == 1 && fleet->findings[0].text &&
           strncmp(fleet->findings[0].text, path, strlen(path)) == 0 &&
           fleet->findings[0].text[strlen(path)] == ' ';
}

static int make(
    struct gput_fleet *fleet, const char *const *paths, size_t count, struct gput_error *error)
{
    for (size_t i = 0; i < count; i++)
        TRY(fleet_read(fleet, paths[i], error));
    if (!fleet->failed && fleet->n_ranks == 0 && count == 1 && is_reason(fleet, paths[0]))
        return error_set(error, GPUT_ERROR_INVALID, "%s",
            fleet->findings[0].evidence ? fleet->findings[0].evidence : fleet->findings[0].text);
    if (!fleet->failed && fleet->n_ranks == 0)
        return error_set(error, GPUT_ERROR_INVALID,
            "There are no results of sessions in %.400s%s. Name reports in JSON (-o x.json), "
            "tracking files (--tf), or folders with them.",
            count > 0 ? paths[0] : "nothing", count > 1 ? " and the others" : "");
    if (fleet->mark_files > 0)
        fleet_find(fleet, NAN, "marks", "gpu-tracker sub-track analyze shows their code blocks",
            fleet->mark_files > 1 ? "%s and %.0f more have marks of code blocks"
                                  : "%s has marks of code blocks",
            fleet->mark_file ? fleet->mark_file : "", fleet->mark_files - 1);
    if (!fleet->failed)
        fleet_sort(fleet);
    for (size_t i = 0; i < fleet->n_jobs && !fleet->failed; i++) {
        fleet_compare_clocks(fleet, &fleet->jobs[i]);
        fleet_add_up(fleet, &fleet->jobs[i]);
        fleet_advise(fleet, &fleet->jobs[i]);
    }
    return fleet->failed ? error_memory(error) : GPUT_OK;
}

int gput_fleet_create(
    const char *const *paths, size_t count, struct gput_fleet **fleet, struct gput_error *error)
{
    *fleet = NULL;
    struct gput_fleet *made = calloc(1, sizeof *made);
    int code = made ? make(made, paths, count, error) : error_memory(error);
    if (code == GPUT_OK)
        *fleet = made;
    else
        gput_fleet_destroy(made);
    return code;
}

void gput_fleet_destroy(struct gput_fleet *fleet)
{
    if (!fleet)
        return;
    for (size_t i = 0; i < fleet->n_ranks; i++)
        free(fleet->ranks[i].path);
    for (size_t i = 0; i < fleet->n_findings; i++) {
        free(fleet->findings[i].text);
        free(fleet->findings[i].evidence);
    }
    free(fleet->mark_file);
    free(fleet->ranks);
    free(fleet->gpus);
    free(fleet->jobs);
    free(fleet->machines);
    free(fleet->findings);
    free(fleet);
}
