/*
 * What can be measured on this machine, and how more could be: every source of figures with its
 * state, and the GPUs that were found. Nothing is tracked.
 *
 *     struct gput_doctor *doctor;
 *     if (gput_doctor_create(NULL, &doctor, &error) == GPUT_OK)
 *         for (size_t i = 0; i < gput_doctor_source_count(doctor); i++)
 *             printf("%s: %s\n", gput_doctor_source_name(doctor, i),
 *                 gput_doctor_source_reason(doctor, i));
 *     gput_doctor_destroy(doctor);
 */
#ifndef GPUTRACKER_DOCTOR_H
#define GPUTRACKER_DOCTOR_H

#include <gputracker/error.h>
#include <gputracker/format.h>
#include <gputracker/session.h>
#include <gputracker/table.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whether a source can be read. */
enum gput_doctor_state {
    GPUT_DOCTOR_AVAILABLE,   /**< everything that it provides */
    GPUT_DOCTOR_PARTLY,      /**< some of it is missing; `reason` says which */
    GPUT_DOCTOR_UNAVAILABLE, /**< nothing; `reason` says why */
};

/** "available", "partly" or "unavailable". Static text. */
GPUT_API const char *gput_doctor_state_name(enum gput_doctor_state state);

struct gput_doctor; /**< made by gput_doctor_create() */

/**
 * Checks all sources. Uses the roots, nvml_path, gpu_brand and gpu_ram_unit of `options`; NULL: the
 * defaults. Takes a moment, and seconds where a GPU driver is slow. A control group is made and
 * removed again to see whether that is allowed.
 *
 * On success the caller frees `*doctor` by gput_doctor_destroy(); on failure it is NULL. Errors:
 * GPUT_ERROR_INVALID (the brand), GPUT_ERROR_MEMORY. A source that does not work is not an error.
 */
GPUT_API int gput_doctor_create(const struct gput_session_options *options,
    struct gput_doctor **doctor, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_doctor_destroy(struct gput_doctor *doctor);

/** The number of sources. Texts of the functions below belong to `doctor`; at an index beyond the
 * last they are NULL, and the state is GPUT_DOCTOR_UNAVAILABLE. */
GPUT_API size_t gput_doctor_source_count(const struct gput_doctor *doctor);
/** In snake_case: "procfs", "nvml", "rapl" …. */
GPUT_API const char *gput_doctor_source_name(const struct gput_doctor *doctor, size_t index);
GPUT_API enum gput_doctor_state gput_doctor_source_state(
    const struct gput_doctor *doctor, size_t index);
/** The figures that it provides. */
GPUT_API const char *gput_doctor_source_gives(const struct gput_doctor *doctor, size_t index);
/** What was found, or the reason why something is missing. */
GPUT_API const char *gput_doctor_source_reason(const struct gput_doctor *doctor, size_t index);
/** The command or step that makes it available; "" when there is none, or no need. */
GPUT_API const char *gput_doctor_source_remedy(const struct gput_doctor *doctor, size_t index);

/**
 * The findings as tables: "sources" (name, state, gives, reason, remedy) and "gpus" (uuid, name,
 * vendor, pci_address, source, ram_capacity_bytes, missing, health), with a row for each that was
 * found.
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_doctor_tables(
    const struct gput_doctor *doctor, struct gput_tables **tables, struct gput_error *error);

/** The findings as text or JSON. Result and errors: see gputracker/format.h. */
GPUT_API int gput_doctor_render(const struct gput_doctor *doctor, enum gput_format format,
    char **bytes, size_t *length, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
