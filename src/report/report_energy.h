/*
 * The table energy_data of a tracking file: power between its rows, from joules since the start.
 */
#ifndef REPORT_REPORT_ENERGY_H
#define REPORT_REPORT_ENERGY_H

#include "base/error.h"
#include "report/report_session.h"

#include <gputracker/energy.h>

struct report_energy {
    struct report_session *session;
    bool is_known; /* a row was added */
    struct report_column time;
    struct report_column watts[GPUT_ENERGY_FIGURE_COUNT];
    double last_time; /* of the row before; NaN: there was none */
    double last_joules[GPUT_ENERGY_FIGURE_COUNT];
};

void report_energy_init(struct report_energy *energy, struct report_session *session);

/* Adds rows of the table. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_energy_add(
    struct report_energy *energy, const struct gput_table *part, struct gput_error *error);

/* Adds the curves to the session. */
int report_energy_end(struct report_energy *energy, struct gput_error *error);
void report_energy_finish(struct report_energy *energy);

#endif
