#include "track/outputs.h"

#include "common/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME_TRIES = 100 };

/* "-" is the standard output. */
static bool is_file(const char *path)
{
    return path[0] && strcmp(path, "-") != 0 && strncmp(path, "/dev/", 5) != 0;
}

static bool is_shared(enum output_id id)
{
    return id == OUTPUT_TEXTFILE || id == OUTPUT_SPOOL;
}

void outputs_init(struct outputs *outputs)
{
    *outputs = (struct outputs){0};
    for (size_t i = 0; i < OUTPUTS; i++)
        outputs->list[i].claim = CLAIM_NONE;
}

/* ---- Folders ---- */

/* Where the part of a pattern begins that has the first placeholder; its end: there is none. */
static size_t first_placeholder(const char *pattern)
{
    const char *percent = strchr(pattern, '%');
    while (percent && percent[1] == '%')
        percent = strchr(percent + 2, '%');
    if (!percent)
        return strlen(pattern);
    while (percent > pattern && percent[-1] != '/')
        percent--;
    return (size_t)(percent - pattern);
}

/* Makes the folders of a path that are missing, from a position in it on; `is_folder`: the path is
 * one itself. Returns how many, one in the other. */
static size_t make_folders(char *path, size_t from, bool is_folder)
{
    size_t n_made = 0;
    for (char *slash = strchr(path + (from ? from : 1), '/'); slash;
         slash = strchr(slash + 1, '/')) {
        if (slash[1] == '/' || slash[1] == '\0')
            continue;
        *slash = '\0';
        n_made += mkdir(path, 0777) == 0 || n_made > 0;
        *slash = '/';
    }
    if (is_folder)
        n_made += mkdir(path, 0777) == 0;
    return n_made;
}

/* From the inmost one on. */
static void remove_folders(char *path, size_t count)
{
    for (char *slash = strrchr(path, '/'); slash && count > 0; slash = strrchr(path, '/')) {
        bool is_name = slash[1] != '\0' && slash[1] != '/';
        *slash = '\0';
        if (is_name && rmdir(path) != 0)
            break;
        count -= is_name;
    }
}

void outputs_finish(struct outputs *outputs)
{
    spool_finish(&outputs->spool);
    for (size_t i = 0; i < OUTPUTS; i++) {
        struct output *output = &outputs->list[i];
        free(output->local); /* also of results so far, which have no place */
        if (!output->place)
            continue;
        claim_release(&output->claim, output->place);
        remove_folders(output->place, output->n_folders);
        free(output->place);
    }
    gput_rank_destroy(outputs->own);
    outputs_init(outputs);
}

/* ---- Names ---- */

static bool is_rank_of_many(const struct gput_rank *rank)
{
    return gput_rank_number(rank) >= 0 && gput_rank_world_size(rank) != 1;
}

bool outputs_are_many(const struct outputs *outputs)
{
    return outputs->own && (gput_rank_element(outputs->own) || is_rank_of_many(outputs->own));
}

bool outputs_are_in_job(const struct outputs *outputs)
{
    return outputs->own && (gput_rank_job_id(outputs->own) || outputs_are_many(outputs));
}

int outputs_find_rank(struct outputs *outputs, struct gput_error *error)
{
    return outputs->own ? GPUT_OK : gput_rank_create(NULL, &outputs->own, error);
}

static bool has_number(const char *pattern)
{
    while ((pattern = strchr(pattern, '%')) != NULL && pattern[1] != '\0') {
        if (pattern[1] == 'n')
            return true;
        pattern += 2;
    }
    return false;
}

/* Gives an output its name. */
static void rename_output(struct output *output, char *place)
{
    free(output->place);
    output->place = place;
    *output->path = place;
}

int outputs_name(
    struct outputs *outputs, enum output_id id, const char **path, struct gput_error *error)
{
    struct output *output = &outputs->list[id];
    const char *given = *path;
    char *expanded;
    if (!given || !given[0])
        return GPUT_OK;
    TRY(outputs_find_rank(outputs, error));
    TRY(is_shared(id) ? gput_rank_expand(outputs->own, given, &expanded, error)
                      : gput_rank_path(outputs->own, given, &expanded, error));
    output->has_rank =
        outputs_are_many(outputs) && !strchr(given, '%') && strcmp(given, expanded) != 0;
    output->pattern = !is_shared(id) && has_number(given) ? given : NULL;
    output->path = path;
    rename_output(output, expanded);
    if (is_shared(id) && first_placeholder(given) < strlen(given))
        make_folders(expanded, first_placeholder(given), true); /* others may be about to use it */
    else if (!is_shared(id) && is_file(expanded))
        output->n_folders = make_folders(expanded, 0, false);
    return GPUT_OK;
}

int outputs_name_after(struct outputs *outputs, enum output_id id, const char *file,
    const char *ending, const char **path, struct gput_error *error)
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    char *place;
    if (asprintf(&place, "%.*s%s", dot ? (int)(dot - file) : (int)strlen(file), file, ending) < 0)
        return fail(error, GPUT_ERROR_MEMORY, "Out of memory.");
    outputs->list[id].path = path;
    rename_output(&outputs->list[id], place);
    return GPUT_OK;
}

/* The next name where one is taken: that of the next number where it has one. */
static bool take_next_name(struct outputs *outputs, struct output *output)
{
    struct gput_error ignored;
    char *next;
    int code = output->pattern ? gput_rank_path(outputs->own, output->pattern, &next, &ignored)
                               : gput_rank_free_path(output->place, &next, &ignored);
    if (code == GPUT_OK)
        rename_output(output, next);
    return code == GPUT_OK;
}

/* ---- Claims ---- */

/* Whether an existing file is replaced. */
static bool replaces(const struct outputs *outputs, enum output_id id)
{
    return outputs->overwrite ||
           (outputs->is_older_form && id == OUTPUT_REPORT && !outputs_are_in_job(outputs));
}

/* Whether an output has another name where its own is taken. */
static bool takes_free_name(const struct outputs *outputs, enum output_id id)
{
    return !outputs->is_older_form || id != OUTPUT_SAMPLES || outputs_are_in_job(outputs) ||
           outputs->list[id].pattern;
}

/* Results so far are of one name, and the session makes its tracking file itself. */
static int claim(struct outputs *outputs, enum output_id id)
{
    struct output *output = &outputs->list[id];
    bool is_made_by_session = id == OUTPUT_SAMPLES && !outputs->spool.folder;
    if (!is_file(output->place) || is_made_by_session || id == OUTPUT_RESULTS)
        return 0;
    return (id == OUTPUT_POWER ? claim_recording : claim_file)(
        output->place, replaces(outputs, id), &output->claim);
}

static void warn(const struct outputs *outputs, const char *format, const char *a, const char *b)
{
    char text[MESSAGE_LINE_SIZE];
    snprintf(text, sizeof text, format, a, b, a);
    if (outputs->warn)
        outputs->warn(outputs->user, text);
}

/* Says that an output has another name than the one that was wanted, which the caller has. */
static void say_name(
    const struct outputs *outputs, enum output_id id, char *wanted, const char *format)
{
    const struct output *output = &outputs->list[id];
    if (wanted && !output->pattern && strcmp(wanted, output->place) != 0)
        warn(outputs, format, wanted, output->place);
    free(wanted);
}

void outputs_skip(struct outputs *outputs, enum output_id id)
{
    outputs->list[id].is_skipped = true;
    if (outputs->list[id].path)
        *outputs->list[id].path = id == OUTPUT_RESULTS ? "" : NULL;
}

/* Of what cannot be claimed, for which a rank runs its command all the same. A report is tried in
 * any case. */
static void take_failure(struct outputs *outputs, enum output_id id, int failure)
{
    struct output *output = &outputs->list[id];
    bool are_many = outputs_are_many(outputs);
    output->has_rank = false;
    if (id == OUTPUT_POWER && are_many)
        warn(outputs, "%.400s: %.200s (the command runs without it).", output->place,
            strerror(failure));
    else if (id == OUTPUT_SAMPLES || (are_many && id != OUTPUT_REPORT))
        warn(outputs, "%.400s: %.200s. It is tried again at the end.", output->place,
            strerror(failure));
    if (id == OUTPUT_POWER && are_many)
        outputs_skip(outputs, id);
}

int outputs_take(struct outputs *outputs, enum output_id id, output_maker *make, void *user,
    struct gput_error *error)
{
    struct output *output = &outputs->list[id];
    bool is_in_use = false;
    int code = GPUT_OK;
    if (!output->path || !*output->path)
        return make ? make(user, error) : GPUT_OK;
    char *wanted = strdup(output->place);
    for (int tries = 0; tries <= MAX_NAME_TRIES; tries++) {
        int failure = claim(outputs, id);
        bool is_taken = failure == EEXIST || failure == EBUSY;
        is_in_use |= failure == EBUSY;
        if (is_taken)
            code = fail(error, GPUT_ERROR_EXISTS,
                "File %.400s already exists. --overwrite replaces it.", output->place);
        else if (failure && !make)
            take_failure(outputs, id, failure);
        if (!is_taken)
            code = make ? make(user, error) : GPUT_OK;
        is_in_use |= code == GPUT_ERROR_EXISTS && replaces(outputs, id);
        if (code != GPUT_ERROR_EXISTS || !takes_free_name(outputs, id))
            break;
        claim_release(&output->claim, output->place);
        if (!take_next_name(outputs, output))
            break;
    }
    if (code == GPUT_OK)
        say_name(outputs, id, wanted,
            is_in_use ? "Another tracker is writing to %.300s: %.300s is written."
                      : "%.300s exists: %.300s is written (--overwrite replaces %.300s).");
    else
        free(wanted);
    return code;
}

const char *outputs_place(const struct outputs *outputs, enum output_id id)
{
    const struct output *output = &outputs->list[id];
    return output->is_skipped ? NULL : output->place;
}

/* ---- The end ---- */

int outputs_spool(struct outputs *outputs, struct gput_error *error)
{
    for (enum output_id id = OUTPUT_SAMPLES; id <= OUTPUT_RESULTS; id++) {
        struct output *output = &outputs->list[id];
        bool is_wanted = output->place ? is_file(output->place)
                                       : id == OUTPUT_RESULTS && output->path && !*output->path;
        if (!outputs->spool.folder || output->is_skipped || !is_wanted)
            continue;
        TRY(spool_place(&outputs->spool, (size_t)id, output->place, &output->local, error));
        *output->path = output->local;
    }
    return GPUT_OK;
}

void outputs_settle(struct outputs *outputs, enum output_id id)
{
    struct output *output = &outputs->list[id];
    struct stat there;
    if (!output->place || !is_file(output->place) || output->is_skipped || id == OUTPUT_RESULTS)
        return;
    make_folders(output->place, 0, false);
    if (output->claim.fd < 0 || id == OUTPUT_POWER || claim_holds(&output->claim, output->place) ||
        stat(output->place, &there) != 0)
        return;
    if (S_ISREG(there.st_mode) && (there.st_size == 0 || replaces(outputs, id)))
        return;
    char *wanted = strdup(output->place);
    const char **path = output->path, *kept = NULL;
    output->path = output->local ? &kept : path; /* its writer goes on in the spool */
    claim_release(&output->claim, output->place);
    for (int tries = 0; tries < MAX_NAME_TRIES && take_next_name(outputs, output); tries++)
        if (claim(outputs, id) == 0)
            break;
    output->path = path;
    say_name(outputs, id, wanted, "Something else is at %.300s by now: %.300s is written.");
}

bool outputs_deliver(struct outputs *outputs)
{
    bool are_moved = true;
    for (enum output_id id = OUTPUT_SAMPLES; id <= OUTPUT_RESULTS; id++) {
        struct output *output = &outputs->list[id];
        if (!output->local)
            continue;
        outputs_settle(outputs, id);
        are_moved &= spool_move(output->local, output->place, outputs->warn, outputs->user);
    }
    if (are_moved)
        spool_remove_note(&outputs->spool);
    return are_moved;
}

/* ---- What is said of it ---- */

/* "task 3, rank 1 (Open MPI) writes " */
static size_t describe_writer(const struct gput_rank *rank, char *text, size_t size)
{
    size_t used = 0;
    const char *element = gput_rank_element(rank);
    bool is_rank = is_rank_of_many(rank);
    if (element)
        used += (size_t)snprintf(text, size, "task %.40s%s", element, is_rank ? ", " : "");
    if (is_rank)
        used += (size_t)snprintf(text + used, size - used, "rank %ld (%s)", gput_rank_number(rank),
            gput_rank_launcher(rank));
    return used + (size_t)snprintf(text + used, size - used, " writes ");
}

void outputs_describe(const struct outputs *outputs, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < OUTPUTS && used < size; i++) {
        const struct output *output = &outputs->list[i];
        if (!output->has_rank || output->is_skipped)
            continue;
        if (used == 0)
            used += describe_writer(outputs->own, text, size);
        else
            used += (size_t)snprintf(text + used, size - used, ", ");
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s", output->place);
    }
}
