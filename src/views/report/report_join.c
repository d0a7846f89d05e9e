#include "views/report/report_join.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/names.h"
#include "base/text.h"
#include "files/tracking/tracking_file.h"
#include "views/report/document/report_rank.h"
#include "views/report/report_origin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- Names ---- */

/* The length of a file name without its extension. */
static size_t stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (text_ends_with(name, PLAIN_CSV_EXTENSION))
        return strlen(name) - strlen(PLAIN_CSV_EXTENSION);
    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

/* How much of the name of a session `name` begins with: all of its stem, as a word; else 0. */
static size_t common_stem(const char *name, const char *session)
{
    size_t length = stem_length(session);
    bool continues = strncmp(name, session, length) == 0 && !isalnum((unsigned char)name[length]);
    return continues ? length : 0;
}

/* Whether a file belongs to one that was left out of the plan. */
static bool is_of_left_out(const struct report_plan *plan, const char *path, size_t folder)
{
    for (size_t i = 0; i < plan->left_out_count; i++) {
        const struct report_left_out *file = &plan->left_out[i];
        if (file->folder == folder &&
            common_stem(file_base_name(path), file_base_name(file->path)) > 0)
            return true;
    }
    return false;
}

static bool is_tracking(const struct report_planned *session)
{
    return session->loader == &report_tracking_loader;
}

/* The tracking file of the same folder that a file belongs to by its name: the one whose name it
 * continues the furthest, else the only one there is, else the only one of its rank. */
static struct report_planned *owner_by_name(
    struct report_plan *plan, const char *path, size_t folder)
{
    struct report_planned *only = NULL, *best = NULL, *of_rank = NULL;
    size_t count = 0, longest = 0, count_of_rank = 0;
    const char *name = file_base_name(path);
    long rank = report_rank_of(name);
    for (size_t i = 0; i < plan->count; i++) {
        struct report_planned *session = &plan->sessions[i];
        if (!is_tracking(session) || session->folder != folder)
            continue;
        const char *session_name = file_base_name(session->path);
        size_t common = common_stem(name, session_name);
        only = session;
        count++;
        if (common > longest) {
            longest = common;
            best = session;
        }
        if (rank != REPORT_NO_RANK && report_rank_of(session_name) == rank) {
            of_rank = session;
            count_of_rank++;
        }
    }
    if (best)
        return best;
    if (count == 1)
        return is_of_left_out(plan, path, folder) ? NULL : only;
    return count_of_rank == 1 ? of_rank : NULL;
}

struct report_planned *report_join_owner(struct report_plan *plan, const char *path)
{
    return owner_by_name(plan, path, 0);
}

/* ---- Sessions ---- */

/* What is in the tracking files. */
struct tracked {
    struct report_origin *origins; /* in the order of the plan; of other files nothing is known */
    struct names sessions;
    size_t *places; /* in the plan; by number of the session */
};

static void tracked_finish(struct tracked *tracked)
{
    names_finish(&tracked->sessions);
    free(tracked->places);
    free(tracked->origins);
}

/* Reads what the tracking files say of their sessions. Of several files of a session the most
 * complete one stands for it. */
static int find_tracked(
    const struct report_plan *plan, struct tracked *tracked, struct gput_error *error)
{
    tracked->origins = malloc((plan->count + 1) * sizeof *tracked->origins);
    tracked->places = malloc((plan->count + 1) * sizeof *tracked->places);
    if (!tracked->origins || !tracked->places)
        return error_memory(error);
    for (size_t i = 0; i < plan->count; i++) {
        struct report_origin *origin = &tracked->origins[i];
        uint32_t count = tracked->sessions.count;
        report_origin_init(origin);
        if (!is_tracking(&plan->sessions[i]))
            continue;
        report_origin_of_tracking(plan->sessions[i].path, origin);
        if (!origin->session[0])
            continue;
        uint32_t number = names_add(&tracked->sessions, origin->session, strlen(origin->session));
        if (number == NAMES_NONE)
            return error_memory(error);
        if (number == count ||
            report_origin_is_more_complete(origin, &tracked->origins[tracked->places[number]]))
            tracked->places[number] = i;
    }
    return GPUT_OK;
}

/* The session whose results a file has: by the session that it names, else by its own name. NULL
 * where that has results already, or is another session. */
static struct report_planned *owner_of_results(
    struct report_plan *plan, const struct tracked *tracked, const struct report_planned *results)
{
    struct report_origin origin;
    report_origin_of_results(results->path, &origin);
    uint32_t number = names_find(&tracked->sessions, origin.session, strlen(origin.session));
    struct report_planned *owner = number != NAMES_NONE
                                       ? &plan->sessions[tracked->places[number]]
                                       : owner_by_name(plan, results->path, results->folder);
    if (!owner || owner->results || owner->given.results)
        return NULL;
    return report_origin_fits(&origin, &tracked->origins[owner - plan->sessions]) ? owner : NULL;
}

/* The session of the sub-tracking file whose name that of a forked child continues. */
static struct report_planned *owner_of_parent(
    struct report_plan *plan, const struct report_planned *marks)
{
    const char *name = file_base_name(marks->path);
    for (size_t i = 0; i < plan->count; i++) {
        struct report_planned *session = &plan->sessions[i];
        for (size_t j = 0; session->folder == marks->folder && j < session->n_marks; j++) {
            if (common_stem(name, file_base_name(session->marks[j])) > 0)
                return session;
        }
    }
    return NULL;
}

/* The session whose process wrote a sub-tracking file: by the file's name, else by its process. */
static struct report_planned *owner_of_marks(
    struct report_plan *plan, const struct tracked *tracked, const struct report_planned *marks)
{
    struct report_planned *owner = owner_by_name(plan, marks->path, marks->folder);
    struct report_origin origin;
    size_t count = 0;
    if (owner)
        return owner;
    report_origin_of_marks(marks->path, &origin);
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->sessions[i].folder == marks->folder && tracked->origins[i].pid == origin.pid) {
            owner = &plan->sessions[i];
            count++;
        }
    }
    return count == 1 ? owner : NULL;
}

int report_join_marks(struct report_planned *session, char *path, struct gput_error *error)
{
    if (!path || !ARRAY_EXTEND(session->marks, session->n_marks)) {
        free(path);
        return error_memory(error);
    }
    session->marks[session->n_marks++] = path;
    return GPUT_OK;
}

/* The session that a file is of. `is_second`: the others have been joined. */
static struct report_planned *owner_of(struct report_plan *plan, const struct tracked *tracked,
    const struct report_planned *part, bool is_second)
{
    if (part->loader == &report_results_loader)
        return is_second ? NULL : owner_of_results(plan, tracked, part);
    if (part->loader == &report_marks_loader)
        return is_second ? owner_of_parent(plan, part) : owner_of_marks(plan, tracked, part);
    return NULL;
}

/* Gives results and marks to their sessions. The second time, when the others have been joined,
 * those of forked children. */
static int join_parts(struct report_plan *plan, const struct tracked *tracked, bool *are_joined,
    bool is_second, struct gput_error *error)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct report_planned *part = &plan->sessions[i];
        struct report_planned *owner =
            are_joined[i] ? NULL : owner_of(plan, tracked, part, is_second);
        if (!owner)
            continue;
        are_joined[i] = true;
        if (part->loader == &report_marks_loader)
            TRY(report_join_marks(owner, STEAL(part->path), error));
        else
            owner->results = STEAL(part->path);
    }
    return GPUT_OK;
}

/* Warns of marks that were named and match none of several sessions: they become a session without
 * figures. */
static void say_what_is_alone(const struct report_plan *plan)
{
    size_t sessions = 0;
    for (size_t i = 0; i < plan->count; i++)
        sessions += is_tracking(&plan->sessions[i]);
    for (size_t i = 0; plan->warn && sessions > 1 && i < plan->count; i++) {
        const struct report_planned *marks = &plan->sessions[i];
        char text[1024];
        if (marks->loader != &report_marks_loader || marks->folder != 0)
            continue;
        text_fit(text, sizeof text,
            "It is not clear which session the marks in %s belong to: they are shown as a session "
            "of their own. Give --stf once for each session, in the same order.",
            marks->path);
        plan->warn(plan->user, text);
    }
}

int report_join(struct report_plan *plan, struct gput_error *error)
{
    CLEANUP(tracked_finish) struct tracked tracked = {0};
    CLEANUP_FREE bool *are_joined = calloc(plan->count + 1, sizeof *are_joined);
    if (!are_joined)
        return error_memory(error);
    TRY(find_tracked(plan, &tracked, error));
    for (int pass = 0; pass < 2; pass++)
        TRY(join_parts(plan, &tracked, are_joined, pass > 0, error));
    size_t kept = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (!are_joined[i])
            plan->sessions[kept++] = plan->sessions[i];
    }
    plan->count = kept;
    say_what_is_alone(plan);
    return GPUT_OK;
}
