/*
 * The results of a session: maxima and means, the machine's constants, the kernel's own peaks and
 * totals, the tracker's own cost, and a state for every source.
 *
 *     struct gput_results *results;
 *     if (gput_session_results(session, &results, &error) == GPUT_OK) {
 *         double peak = gput_results_max(results, GPUT_COMBINED_RAM);
 *         double cpu = gput_results_number(results, "accounting.cpu_seconds.kernel");
 *         printf("%.0f bytes, %.3f s of CPU time\n", peak, cpu);
 *         gput_results_destroy(results);
 *     }
 *
 * Figures are in base units: bytes, seconds, percent, joules, watts. NaN: not known, and a source
 * says why. Results never change after they were made, except by the functions that say so.
 */
#ifndef GPUTRACKER_RESULTS_H
#define GPUTRACKER_RESULTS_H

#include <gputracker/energy.h>
#include <gputracker/error.h>
#include <gputracker/format.h>
#include <gputracker/measurement.h>
#include <gputracker/table.h>
#include <gputracker/units.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_processes;
struct gput_results; /**< made by gput_session_results() and the like */

/**
 * Reads the results of a session: its report in JSON, or what it kept while it ran (its resource
 * usage file), for example after the tracker was killed. The column "identity.end" is empty where
 * the session had not ended. Of regions, only the time in MPI calls is read. Our Python package
 * reads pickles of the older Python gpu_tracker as data, without running code in them, and makes a
 * report in JSON of them. Of such a report, the figures that a pickle lacks are NaN, and the source
 * "older_file" says so.
 *
 * On success the caller frees `*results` by gput_results_destroy(); on failure it is NULL. Errors:
 * GPUT_ERROR_NOT_FOUND, GPUT_ERROR_FORMAT when the file is none of these, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_results_load(
    const char *path, struct gput_results **results, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_results_destroy(struct gput_results *results);

/* ---- Figures that most programs want ---- */

/** Wall time from the start to the last sample. */
GPUT_API double gput_results_seconds(const struct gput_results *results);

/** The highest sampled figure; for total RAM the kernel's peaks count, too. NaN when it was never
 * read. */
GPUT_API double gput_results_max(
    const struct gput_results *results, enum gput_measurement_id measurement);

/**
 * The mean. CPU percents are weighted by time, so that percent x time is CPU time. All others (GPU
 * utilization, RAM, threads) are means over all rows of the tracking file, as in an analysis of it.
 * NaN when it was never read.
 */
GPUT_API double gput_results_mean(
    const struct gput_results *results, enum gput_measurement_id measurement);

/** The figure of the last sample, the column "now.…": for monitoring a session while it runs. */
GPUT_API double gput_results_now(
    const struct gput_results *results, enum gput_measurement_id measurement);

/** Joules over the session, by the machine's counters and the shares of the tracked processes; see
 * gputracker/energy.h. NaN: not available on this machine, and the source "cpu_energy" or
 * "gpu_energy" says why. */
GPUT_API double gput_results_energy(
    const struct gput_results *results, enum gput_energy_figure figure);

/** Whether the command was ended because it exceeded a limit. The table "limits_passed" of
 * gput_results_tables() lists the limits, also those that were only warned of. */
GPUT_API bool gput_results_was_ended(const struct gput_results *results);

/* ---- All figures, by their columns ---- */

/**
 * A column of the results: one figure or text. Shared: see gputracker/sized.h. Names are paths:
 * "max.main_ram", "peaks.combined_at_most_bytes", "accounting.cpu_seconds.kernel". They keep their
 * meaning; new ones are added.
 */
struct gput_results_column {
    const char *name;
    const char *unit; /**< "bytes", "seconds", "percent", "joules", "watts", "grams"; NULL: a count,
                           a flag (0 or 1), a share or a text */
    const char *source;  /**< name of the source that tells how reliable it is, if the results have
                            that source; NULL: none */
    const char *meaning; /**< what it is, in a few words */
    enum gput_column_type type;
};

/** The number of columns, and one of them; NULL: no such index. Static. */
GPUT_API size_t gput_results_column_count(void);
GPUT_API const struct gput_results_column *gput_results_column(size_t index);

/** The figure of that column; counts and flags as well. NaN: it is not known, or there is no such
 * column. */
GPUT_API double gput_results_number(const struct gput_results *results, const char *column);

/**
 * Writes the manifest of a session that has ended next to a file that it wrote, as
 * "PATH.session.json". It identifies the session and has its figures. Reports in JSON and tracking
 * files have one already; other files do not say which session they are from. Writes nothing where
 * PATH is no regular file. Errors: GPUT_ERROR_EXISTS (a file of that name that is no manifest),
 * those of files.
 */
GPUT_API int gput_results_write_manifest(
    const struct gput_results *results, const char *path, struct gput_error *error);

/** The text of that column, which belongs to the results. "": none, or there is no such column. */
GPUT_API const char *gput_results_text(const struct gput_results *results, const char *column);

/**
 * The number of GPUs (or MIG instances) of the session, and figures and texts of one over the whole
 * session. The names are those of the columns of the table "gpus" of gput_results_tables(): "uuid",
 * "max_combined_ram_bytes" …. A figure is NaN when it could not be read; "missing" then says why.
 * RAM of processes is what the tracked processes held on this GPU; 0 only where that is known, NaN
 * where its driver may have hidden them.
 */
GPUT_API size_t gput_results_gpu_count(const struct gput_results *results);
GPUT_API double gput_results_gpu_number(
    const struct gput_results *results, size_t gpu, const char *column);
GPUT_API const char *gput_results_gpu_text(
    const struct gput_results *results, size_t gpu, const char *column);

/**
 * Everything as tables, in base units:
 *
 * - "results", a record with the columns above;
 * - "gpus", a row each;
 * - "sources": name, state, reason;
 * - "limits_passed", in the order in which they were exceeded: kind_name, value, at_seconds,
 * enforced.
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_results_tables(
    const struct gput_results *results, struct gput_tables **tables, struct gput_error *error);

/* ---- The units that reports show, as the session's options had them ---- */

/** Unit of sizes. The figures above are in base units in any case. */
GPUT_API enum gput_ram_unit gput_results_ram_unit(const struct gput_results *results);
/** Unit of GPU RAM. */
GPUT_API enum gput_ram_unit gput_results_gpu_ram_unit(const struct gput_results *results);
/** Unit of wall time. */
GPUT_API enum gput_time_unit gput_results_time_unit(const struct gput_results *results);

/** Changes these units, for reports that are rendered afterwards. */
GPUT_API void gput_results_set_units(struct gput_results *results, enum gput_ram_unit ram,
    enum gput_ram_unit gpu_ram, enum gput_time_unit time);

/* ---- Sources: where figures come from ---- */

/** Reliability of a figure. */
enum gput_source_state {
    GPUT_SOURCE_EXACT,       /**< the kernel or the device counted it */
    GPUT_SOURCE_SAMPLED,     /**< seen at ticks: what happened between them may be missed */
    GPUT_SOURCE_UNAVAILABLE, /**< not available here; its reason says why */
};

/** "exact", "sampled" or "unavailable". Static text. */
GPUT_API const char *gput_source_state_name(enum gput_source_state state);

/** The number of sources. At an index beyond the last one, texts of the functions below are NULL,
 * and the state is GPUT_SOURCE_UNAVAILABLE. */
GPUT_API size_t gput_results_source_count(const struct gput_results *results);
/** Its name in snake_case: "ram", "cpu_time", "gpu" …. Texts belong to the results. */
GPUT_API const char *gput_results_source_name(const struct gput_results *results, size_t index);
/** How far its figures can be trusted over this session: exact only where nothing was missed. */
GPUT_API enum gput_source_state gput_results_source_state(
    const struct gput_results *results, size_t index);
/** Where its figures come from, or why they are missing: a text for people. */
GPUT_API const char *gput_results_source_reason(const struct gput_results *results, size_t index);

/** Adds a source of the caller's own, which reports then show. Copies both texts: 31 bytes of the
 * name and 511 of the reason. Errors: GPUT_ERROR_STATE when the results have 32 sources already; a
 * session adds some 20 of its own. */
GPUT_API int gput_results_add_source(struct gput_results *results, const char *name,
    enum gput_source_state state, const char *reason, struct gput_error *error);

/* ---- Reports ---- */

/** Options of a report, and what the results lack. Sized: see gputracker/sized.h. */
struct gput_results_render_options {
    size_t size; /**< set by gput_results_render_options_default() */
    /** The processes of the session. JSON has them as "processes" and "other_processes". Text has a
     * tree after the rest, and a summary at most 20 of them. Advice takes them into account. NULL:
     * not known. */
    const struct gput_processes *processes;
    /* Of a summary alone: */
    const char *const
        *command; /**< the command with its arguments, NULL at the end; NULL: not shown */
    bool has_status;
    int status; /**< wait(2) status of the command */
    bool color; /**< ANSI escape sequences, for a terminal */
    /** Maximum width in columns of a line, and of a summary's command; 0: not cut. */
    unsigned width;
    /** What regions of the command used: in JSON a member "regions", in summary and text a table of
     * those that took longest. NULL: none. */
    const struct gput_analysis *regions;
    /** Sentences about them, NULL at the end; NULL: none. */
    const char *const *region_notes;
    /** A timeline of traces that were asked for while the command ran, in JSON
     * "torch_trace.file"; NULL: none. */
    const char *torch_trace;
    /** Sentences about them, NULL at the end; NULL: none. */
    const char *const *torch_notes;
    const char *labels; /**< "job=train,team=vision": of all metrics; NULL: none */
    /** Final state ("is still running", "has ended") of a process that was attached to, which has
     * no `command`, for a summary. The first line then names the process. NULL: not shown. */
    const char *attached;
    /** In JSON, figures that the older gpu_tracker has are 0 where they are not known: programs for
     * it do not expect null. */
    bool has_older_zeroes;
    /** In full text, show figures in units that fit them: "31.4 MB", "1.27 s". RAM, GPU RAM, wall
     * time and energy are in the session's unit where that is not the default, or where the flag
     * below says to keep it. */
    bool fits_units;
    bool keeps_ram_unit;
    bool keeps_gpu_ram_unit;
    bool keeps_time_unit;
    bool keeps_energy_unit;
};

/** Sets the defaults, all zero, in a struct of that size; for
 * gput_results_render_options_default(). */
GPUT_API void gput_results_render_options_init(
    struct gput_results_render_options *options, size_t size);

/** Nothing but the results. */
static inline struct gput_results_render_options gput_results_render_options_default(void)
{
    struct gput_results_render_options options;
    gput_results_render_options_init(&options, sizeof options);
    return options;
}

/**
 * The report of a session:
 *
 * - text; or a summary in suitable units (1 GB is 1e9 bytes), where lower bounds say "at least";
 * - JSON;
 * - one line, or metrics for Prometheus, of what is known now. An HTTP server of your own can serve
 *   them by gput_session_results_so_far(). A figure that is not known is omitted.
 *
 * `options` may be NULL. Result and errors: see gputracker/format.h.
 */
GPUT_API int gput_results_render(const struct gput_results *results,
    const struct gput_results_render_options *options, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error);

/**
 * Renders where the time of a session went, as a page of text: the time of the main thread, with
 * what its children did while it waited for them; of that thread alone; of all others together; and
 * of the main thread while no GPU was busy. Each has its shares and their possible error; advice
 * follows. The columns "time_went.…", "main_thread.…", "other_threads.…" and "gpu_idle.…" have the
 * figures. Where they are not known the page says why. Result and errors: see gputracker/format.h.
 */
GPUT_API int gput_results_why(
    const struct gput_results *results, char **bytes, size_t *length, struct gput_error *error);

/** Kinds of values of a report. */
enum gput_results_value_kind {
    GPUT_VALUE_NULL, /**< not known */
    GPUT_VALUE_BOOL,
    GPUT_VALUE_INT,
    GPUT_VALUE_DOUBLE,
    GPUT_VALUE_TEXT,
    GPUT_VALUE_OBJECT, /**< contains the values that follow, with keys, up to its END */
    GPUT_VALUE_LIST,   /**< likewise, without keys */
    GPUT_VALUE_END,
};

/** A value of a report. Shared: see gputracker/sized.h. Valid during the call. */
struct gput_results_value {
    enum gput_results_value_kind kind;
    const char *key;  /**< NULL: in a list, an END, or the whole */
    int64_t integer;  /**< of INT; of BOOL 0 or 1 */
    double number;    /**< of DOUBLE */
    const char *text; /**< of TEXT: UTF-8 */
};

/** Called with each value. Any result but GPUT_OK ends the visit; set `error` then. */
typedef int gput_results_visitor(
    void *user, const struct gput_results_value *value, struct gput_error *error);

/**
 * The report in JSON as values, for languages with dictionaries of their own: calls `visitor` for
 * each in order, the whole (an object) first. `options` may be NULL. Errors: GPUT_ERROR_MEMORY, and
 * what `visitor` returned.
 */
GPUT_API int gput_results_visit(const struct gput_results *results,
    const struct gput_results_render_options *options, gput_results_visitor *visitor, void *user,
    struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
