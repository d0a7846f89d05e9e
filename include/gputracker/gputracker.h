/*
 * gpu-tracker: what a program really used.
 *
 * This header includes the whole public API. Each of its parts can be included alone.
 */
#ifndef GPUTRACKER_GPUTRACKER_H
#define GPUTRACKER_GPUTRACKER_H

#include <gputracker/analysis.h>
#include <gputracker/arrow.h>
#include <gputracker/blocks.h>
#include <gputracker/comparison.h>
#include <gputracker/config.h>
#include <gputracker/cores.h>
#include <gputracker/doctor.h>
#include <gputracker/energy.h>
#include <gputracker/energy_recording.h>
#include <gputracker/error.h>
#include <gputracker/file.h>
#include <gputracker/fleet.h>
#include <gputracker/format.h>
#include <gputracker/job.h>
#include <gputracker/limits.h>
#include <gputracker/measurement.h>
#include <gputracker/perfetto.h>
#include <gputracker/plot.h>
#include <gputracker/processes.h>
#include <gputracker/profile.h>
#include <gputracker/recorded.h>
#include <gputracker/report.h>
#include <gputracker/results.h>
#include <gputracker/screen.h>
#include <gputracker/session.h>
#include <gputracker/sized.h>
#include <gputracker/snapshot.h>
#include <gputracker/sub_tracking.h>
#include <gputracker/summary.h>
#include <gputracker/table.h>
#include <gputracker/timeline.h>
#include <gputracker/units.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library, "1.0.0". Static text. */
GPUT_API const char *gput_version(void);

#ifdef __cplusplus
}
#endif

#endif
