/*
 * gpu-tracker: what a program really used.
 *
 * This header includes the whole public API. Each of its parts can be included alone:
 *
 *   measure     session.h, limits.h; snapshot.h while it runs
 *   results     results.h, processes.h, summary.h, measurement.h, units.h
 *   code blocks blocks.h and sub_tracking.h to mark them; analysis.h, comparison.h; recorded.h for
 *               the samples, marks and calls themselves
 *   repeat      bench.h
 *   energy      energy.h, energy_recording.h
 *   many ranks  rank.h, jobs.h
 *   history     history.h, size.h
 *   send        push.h
 *   training    profile.h, timeline.h, perfetto.h
 *   show        report.h (HTML), plot.h (pictures), table.h, arrow.h, format.h;
 *               file.h, words.h
 *   set up      config.h, doctor.h
 *   now         gpus.h
 *   everywhere  error.h, sized.h; cores.h for what reads large files
 *
 * A function that can fail returns GPUT_OK or a code of error.h, and says why in its last
 * parameter, which may be NULL. The caller frees what a function makes for it (_create, _load) by
 * the _destroy of the same name. Texts that accessors return belong to the object. Figures
 * are in bytes, seconds, joules and percent; NaN is a figure that is not known.
 *
 * Different objects may be used in different threads. One object is used by one thread at a time,
 * unless its header says otherwise; what is only read may be read by any number.
 */
#ifndef GPUTRACKER_GPUTRACKER_H
#define GPUTRACKER_GPUTRACKER_H

#include <gputracker/analysis.h>
#include <gputracker/arrow.h>
#include <gputracker/bench.h>
#include <gputracker/blocks.h>
#include <gputracker/comparison.h>
#include <gputracker/config.h>
#include <gputracker/cores.h>
#include <gputracker/doctor.h>
#include <gputracker/energy.h>
#include <gputracker/energy_recording.h>
#include <gputracker/error.h>
#include <gputracker/file.h>
#include <gputracker/format.h>
#include <gputracker/gpus.h>
#include <gputracker/history.h>
#include <gputracker/jobs.h>
#include <gputracker/limits.h>
#include <gputracker/measurement.h>
#include <gputracker/perfetto.h>
#include <gputracker/plot.h>
#include <gputracker/processes.h>
#include <gputracker/profile.h>
#include <gputracker/push.h>
#include <gputracker/rank.h>
#include <gputracker/recorded.h>
#include <gputracker/report.h>
#include <gputracker/results.h>
#include <gputracker/session.h>
#include <gputracker/size.h>
#include <gputracker/sized.h>
#include <gputracker/snapshot.h>
#include <gputracker/sub_tracking.h>
#include <gputracker/summary.h>
#include <gputracker/table.h>
#include <gputracker/timeline.h>
#include <gputracker/units.h>
#include <gputracker/words.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The version of the library, "1.0.0". Static text. */
GPUT_API const char *gput_version(void);

#ifdef __cplusplus
}
#endif

#endif
