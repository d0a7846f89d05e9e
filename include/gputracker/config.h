/*
 * Options of a session from a JSON file.
 *
 *     struct gput_config *config;
 *     if (gput_config_load("tracking.json", &config, &error) == GPUT_OK) {
 *         struct gput_session_options options = gput_session_options_default();
 *         gput_config_options(config, &options);
 *         gput_session_create(&options, &session, &error);
 *         gput_config_destroy(config); // a session copies what it needs
 *     }
 */
#ifndef GPUTRACKER_CONFIG_H
#define GPUTRACKER_CONFIG_H

#include <gputracker/error.h>
#include <gputracker/session.h>

#include <stdbool.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_config; /**< contents of a config file */

/**
 * Reads a JSON object whose members are named as the arguments of the Python Tracker class. All are
 * optional, and null stands for the default:
 *
 * - sleep_time, ram_unit, gpu_ram_unit, time_unit, energy_unit;
 * - n_expected_cores, gpu_uuids (an array of strings), gpu_brand, process_id, disable_logs;
 * - resource_usage_file, tracking_file, energy_folder, overwrite;
 * - listen, textfile_folder, otlp, remote_write, labels, push_interval, push_timeout;
 * - processes, command_lines, gpu_parts, ram_mode ("adaptive", "exact" or "totals");
 * - carbon_intensity: grams for a kWh, or the code of a country;
 * - limits: an object, as {"ram": "8GB", "seconds": 90} (see gput_limits_parse()); enforce;
 * - own_process, n_join_attempts, join_timeout: checked and ignored; log_to, history: null, else
 * refused.
 *
 * On success the caller frees `*config` by gput_config_destroy(); on failure it is NULL. Errors
 * name the file and the member. They are GPUT_ERROR_NOT_FOUND or another when the file cannot be
 * read, GPUT_ERROR_FORMAT (no JSON object), GPUT_ERROR_INVALID (an unknown member, a wrong type, an
 * invalid value), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_config_load(
    const char *path, struct gput_config **config, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_config_destroy(struct gput_config *config);

/** The defaults, overridden by the members of the file. Strings and limits belong to the config. */
GPUT_API void gput_config_options(
    const struct gput_config *config, struct gput_session_options *options);

/** A copy of the limits of these options, for the caller to change. */
GPUT_API void gput_config_limits(const struct gput_config *config, struct gput_limits *limits);

/** "disable_logs": print no warnings; default false. */
GPUT_API bool gput_config_disables_logs(const struct gput_config *config);

/** "process_id": the process to attach to; 0: not given. */
GPUT_API pid_t gput_config_process_id(const struct gput_config *config);

/**
 * Called with each member of a config file. `value` is its text: a number as JSON writes it, and
 * NULL for true. It is valid during the call. Any result but GPUT_OK ends the reading; set `error`
 * then.
 */
typedef int gput_config_visitor(
    void *user, const char *name, const char *value, struct gput_error *error);

/**
 * Reads a JSON object whose members have a meaning to the front end, such as the defaults of its
 * own options. Calls `visitor` for each member in order, and for each item of an array; false and
 * null are skipped. Errors, which name the file: those of gput_config_load(), GPUT_ERROR_INVALID
 * for an object in the object, and what `visitor` returned.
 */
GPUT_API int gput_config_visit(
    const char *path, gput_config_visitor *visitor, void *user, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
