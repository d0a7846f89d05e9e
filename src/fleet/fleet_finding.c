#include "fleet/fleet.h"

#include "base/array.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fleet_find(struct gput_fleet *fleet, double job, const char *kind, const char *evidence,
    const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0 || !ARRAY_EXTEND(fleet->findings, fleet->n_findings)) {
        fleet->failed = true;
        if (length >= 0)
            free(text);
        return;
    }
    struct fleet_finding *finding = &fleet->findings[fleet->n_findings++];
    *finding = (struct fleet_finding){.job = job, .kind = kind, .text = text};
    finding->evidence = evidence ? strdup(evidence) : NULL;
    fleet->failed |= evidence && !finding->evidence;
}

void fleet_name_rank(const struct fleet_rank *rank, char *text, size_t size)
{
    const char *node = rank->node[0] ? rank->node : "a machine that is not known";
    if (isnan(rank->rank))
        text_fit(text, size, "%s on %s", rank->path, node);
    else
        text_fit(text, size, "rank %.0f on %s", rank->rank, node);
}

bool fleet_is_unfinished(const struct fleet_rank *rank)
{
    return isnan(rank->exit_status) && isnan(rank->signal) && isnan(rank->end);
}

double fleet_median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
