#include "track/outputs.h"

#include "base/error.h"
#include "common/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NUMBER 1000000L

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
        free(output->wanted);
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

/* Gives an output its name. */
static void rename_output(struct output *output, char *place)
{
    free(output->place);
    output->place = place;
    if (!output->local) /* its writer goes on in the spool */
        *output->path = place;
}

/* Returns the position of %n in a name; NULL: it has none. */
static const char *find_number(const char *pattern)
{
    while ((pattern = strchr(pattern, '%')) != NULL && pattern[1] != '\0') {
        if (pattern[1] == 'n')
            return pattern;
        pattern += 2;
    }
    return NULL;
}

/* Makes the name that an output has with a number: x.2.json of x.json, x2.json of x%n.json. Without
 * %n, number 0 is the name that was wanted. Returns NULL if there is no memory. The name is the
 * caller's. */
static char *numbered_name(const struct outputs *outputs, const struct output *output, long number)
{
    struct gput_error ignored;
    char *name = NULL, *filled = NULL;
    if (!output->pattern) {
        if (number == 0)
            name = strdup(output->wanted);
        else if (gput_rank_numbered_path(output->wanted, number, &name, &ignored) != GPUT_OK)
            name = NULL;
        return name;
    }
    const char *rest = output->pattern;
    size_t length = 0;
    FILE *text = open_memstream(&filled, &length);
    for (const char *at; text && (at = find_number(rest)); rest = at + 2)
        fprintf(text, "%.*s%ld", (int)(at - rest), rest, number);
    if (text)
        fputs(rest, text);
    /* A name with a number of its own needs no rank in it. */
    if (!text || fclose(text) != 0 ||
        gput_rank_expand(outputs->own, filled, &name, &ignored) != GPUT_OK)
        name = NULL;
    free(filled);
    return name;
}

/* Gives an output the name that it has with a number, and makes folders that this name needs. */
static bool take_number(const struct outputs *outputs, struct output *output, long number)
{
    char *name = numbered_name(outputs, output, number);
    if (!name)
        return false;
    if (output->place && strcmp(name, output->place) == 0) {
        free(name);
        return true;
    }
    if (output->pattern && output->place)
        remove_folders(output->place, output->n_folders);
    rename_output(output, name);
    if (output->pattern)
        output->n_folders = make_folders(name, 0, false);
    return true;
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
    output->pattern = !is_shared(id) && is_file(expanded) && find_number(given) ? given : NULL;
    output->path = path;
    rename_output(output, expanded);
    output->wanted = strdup(expanded);
    if (!output->wanted)
        return error_memory(error);
    if (is_shared(id) && first_placeholder(given) < strlen(given))
        make_folders(expanded, first_placeholder(given), true); /* others may be about to use it */
    else if (!is_shared(id) && is_file(expanded))
        output->n_folders = make_folders(expanded, 0, false);
    while (output->pattern && outputs->pattern_number < MAX_NUMBER &&
           take_number(outputs, output, outputs->pattern_number) &&
           access(output->place, F_OK) == 0)
        outputs->pattern_number++;
    return GPUT_OK;
}

int outputs_name_after(struct outputs *outputs, enum output_id id, const char *file,
    const char *ending, const char **path, struct gput_error *error)
{
    char *place;
    const struct output *samples = &outputs->list[OUTPUT_SAMPLES];
    if (file == samples->place && !samples->pattern)
        file = samples->wanted; /* both have the same number later */
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    if (asprintf(&place, "%.*s%s", dot ? (int)(dot - file) : (int)strlen(file), file, ending) < 0)
        return error_memory(error);
    outputs->list[id].path = path;
    rename_output(&outputs->list[id], place);
    outputs->list[id].wanted = strdup(place);
    return outputs->list[id].wanted ? GPUT_OK : error_memory(error);
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

/* Whether a claim has failed because the name belongs to something else. */
static bool is_taken(int failure)
{
    return failure == EEXIST || failure == EBUSY;
}

/* Claims the name of an output. Results so far have a fixed name. The session makes its tracking
 * file itself, so of that one it is only found out whether the name is taken. Returns 0 or an
 * errno. */
static int claim(struct outputs *outputs, enum output_id id)
{
    struct output *output = &outputs->list[id];
    struct stat there;
    if (!is_file(output->place) || id == OUTPUT_RESULTS)
        return 0;
    if (id == OUTPUT_SAMPLES && !outputs->spool.folder) {
        bool may_be_there = outputs->overwrite || !takes_free_name(outputs, id);
        return !may_be_there && lstat(output->place, &there) == 0 ? EEXIST : 0;
    }
    return (id == OUTPUT_POWER ? claim_recording : claim_file)(
        output->place, replaces(outputs, id), &output->claim);
}

/* Whether an output can still have another name: it has a claim, and nothing was made there. */
static bool can_move(const struct output *output)
{
    return output->is_claimed && !output->is_made && !output->local && !output->is_skipped;
}

/*
 * Gives all outputs of a session that can still move the next number with which each of their names
 * is free, so that x.2.json and x.2.csv are of one session. Those with %n in their names count for
 * themselves. Returns false if there is none.
 */
static bool take_next_number(struct outputs *outputs, struct output *taken)
{
    long *number = taken->pattern ? &outputs->pattern_number : &outputs->number;
    bool is_free = false;
    taken->is_claimed = true;
    while (!is_free && ++*number < MAX_NUMBER) {
        is_free = true;
        for (enum output_id id = 0; id < OUTPUTS && is_free; id++) {
            struct output *output = &outputs->list[id];
            if (!can_move(output) || !output->pattern != !taken->pattern)
                continue;
            claim_release(&output->claim, output->place);
            if (!take_number(outputs, output, *number))
                return false;
            is_free = !is_taken(claim(outputs, id));
        }
    }
    return is_free;
}

static void warn(const struct outputs *outputs, const char *format, const char *a, const char *b)
{
    char text[MESSAGE_LINE_SIZE];
    snprintf(text, sizeof text, format, a, b, a);
    if (outputs->warn)
        outputs->warn(outputs->user, text);
}

void outputs_say_names(const struct outputs *outputs)
{
    for (enum output_id id = 0; id < OUTPUTS; id++) {
        const struct output *output = &outputs->list[id];
        if (!output->wanted || output->pattern || output->is_skipped || is_shared(id) ||
            strcmp(output->wanted, output->place) == 0)
            continue;
        warn(outputs,
            output->taken_by == EBUSY
                ? "Another tracker is writing to %.300s: writing %.300s instead."
            : output->taken_by == EEXIST
                ? "%.300s exists: writing %.300s (--overwrite replaces %.300s)."
                : "Instead of %.300s, %.300s is written: files of one session have one number.",
            output->wanted, output->place);
    }
}

void outputs_skip(struct outputs *outputs, enum output_id id)
{
    outputs->list[id].is_skipped = true;
    if (outputs->list[id].path)
        *outputs->list[id].path = id == OUTPUT_RESULTS ? "" : NULL;
}

/* Gives an output the number that its session has by now, and finds out whether the wanted name is
 * taken, too, for what is said. Returns false if there is no memory. */
static bool take_number_of_session(struct outputs *outputs, enum output_id id)
{
    struct output *output = &outputs->list[id];
    if (output->pattern)
        return take_number(outputs, output, outputs->pattern_number);
    if (outputs->number > 0) {
        int failure = claim(outputs, id);
        output->taken_by = is_taken(failure) ? failure : 0;
        claim_release(&output->claim, output->place);
    }
    return take_number(outputs, output, outputs->number);
}

int outputs_take(struct outputs *outputs, enum output_id id, output_maker *make, void *user,
    struct gput_error *error)
{
    struct output *output = &outputs->list[id];
    if (!output->path || !*output->path)
        return make ? make(user, error) : GPUT_OK;
    if (!output->is_claimed && !take_number_of_session(outputs, id))
        return error_memory(error);
    for (;;) {
        int code = GPUT_OK, failure = output->is_claimed ? 0 : claim(outputs, id);
        if (is_taken(failure)) {
            code = error_set(error, GPUT_ERROR_EXISTS,
                "File %.400s already exists. --overwrite replaces it.", output->place);
        } else {
            output->is_claimed = true;
            if (failure && !make) {
                /* Warn that the name cannot be claimed. A rank runs its command all the same, and a
                 * report is tried in any case. */
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
            if (make)
                code = make(user, error);
            output->is_made = make && code == GPUT_OK;
        }
        if (code != GPUT_ERROR_EXISTS || !takes_free_name(outputs, id))
            return code;
        bool is_in_use = failure == EBUSY || (failure == 0 && replaces(outputs, id));
        if (output->taken_by != EBUSY)
            output->taken_by = is_in_use ? EBUSY : EEXIST;
        if (!take_next_number(outputs, output))
            return code;
    }
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
    long number = output->pattern ? outputs->pattern_number : outputs->number;
    claim_release(&output->claim, output->place);
    do
        number++;
    while (number < MAX_NUMBER && take_number(outputs, output, number) &&
           is_taken(claim(outputs, id)));
    if (wanted && !output->pattern && strcmp(wanted, output->place) != 0)
        warn(outputs, "Something else is at %.300s by now: %.300s is written.", wanted,
            output->place);
    free(wanted);
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
