/*
 * Why regions that were asked for were not recorded.
 */
#pragma once

#include "regions/region_logs.h"
#include "regions/region_sources.h"
#include "track/notes.h"

#include <stdbool.h>

struct region_question {
    const struct region_sources *sources;
    const char *command;
    const char *folder; /* in which its processes have left what they did */
    bool is_answered;   /* a note has a reason already */
};

/* Notes the reasons: of a source that announced nothing, of functions that were not found, or that
 * nothing was announced at all. */
void region_reasons_note(struct region_question question, const struct region_logs_summary *summary,
    struct notes *notes);
