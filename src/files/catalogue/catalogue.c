#include "files/catalogue/catalogue.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/order.h"
#include "base/text.h"
#include "files/marks/sub_tracking_file.h"
#include "files/results/results_read.h"
#include "files/tracking/tracking_identity.h"
#include "files/tracking/tracking_reader.h"
#include "model/results_identity.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Older versions do not name the first sample: it may be this much before or after the times of
 * results. */
#define MAX_DIFFERENCE_SECONDS 2
/* Times of samples are in whole microseconds. */
#define SAME_SAMPLE_SECONDS 6e-7

/* ---- What a file says ---- */

void catalogue_file_init(
    struct catalogue_file *file, const char *path, enum catalogue_kind kind, size_t folder)
{
    *file = (struct catalogue_file){.path = path,
        .kind = kind,
        .folder = folder,
        .rank = NAN,
        .pid = NAN,
        .start = NAN,
        .end = NAN,
        .first_sample = NAN};
}

void catalogue_file_set(struct catalogue_file *file, const struct gput_results *results)
{
    const struct gput_identity *identity = &results->identity;
    file->pid = identity->pid;
    file->has_ended = identity->end[0] != '\0';
    if (!isnan(identity->rank))
        file->rank = identity->rank;
    if (identity->boot_id[0] && identity->start[0] && !isnan(identity->pid))
        text_fit(file->session, sizeof file->session, "%s %.0f %s", identity->boot_id,
            identity->pid, identity->start);
    if (file->kind == CATALOGUE_SAMPLES)
        return; /* their times are those of samples */
    file->first_sample =
        identity->first_sample[0] ? results_identity_seconds(identity->first_sample) : NAN;
    file->start = identity->start[0] ? results_identity_seconds(identity->start) : NAN;
    file->end = file->start + results->elapsed_seconds;
    file->extent = results->elapsed_seconds;
}

void catalogue_read_results(struct catalogue_file *file)
{
    struct gput_results results = {0};
    if (results_read(file->path, &results, NULL, NULL) == GPUT_OK)
        catalogue_file_set(file, &results);
    results_finish(&results);
}

void catalogue_read_samples(struct catalogue_file *file)
{
    struct tracking_reader *reader;
    struct gput_results described = {0};
    struct tracking_row row;
    struct stat info;
    size_t count = 0;
    if (tracking_reader_salvage(file->path, &reader, NULL) != GPUT_OK)
        return;
    results_forget(&described);
    if (tracking_identity_of(reader, file->path, &described, NULL) == GPUT_OK)
        catalogue_file_set(file, &described);
    if (tracking_reader_next(reader, &row, 1, &count, NULL) == GPUT_OK && count == 1)
        file->first_sample = file->start = file->end = row.timestamp;
    file->extent = stat(file->path, &info) == 0 ? (double)info.st_size : 0;
    results_finish(&described);
    tracking_reader_close(reader);
}

void catalogue_read_marks(struct catalogue_file *file)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct sub_tracking_reader *reader;
    struct sub_tracking_mark mark;
    size_t count = 0;
    if (names && sub_tracking_reader_salvage(file->path, names, &reader, NULL) == GPUT_OK) {
        if (sub_tracking_reader_next(reader, &mark, 1, &count, NULL) == GPUT_OK && count == 1) {
            file->pid = (double)mark.process_id;
            file->start = file->end = mark.timestamp;
        }
        sub_tracking_reader_close(reader);
    }
    sub_tracking_names_destroy(names);
}

/* ---- 1. By identity ---- */

/* Orders files so that the most complete one is first: a copy that was made later has more. */
static int by_extent(const struct catalogue_file *a, const struct catalogue_file *b)
{
    ORDER_BY(b->has_ended, a->has_ended);
    ORDER_BY(!(a->extent >= 0), !(b->extent >= 0));
    if (a->extent >= 0 && b->extent >= 0)
        ORDER_BY(b->extent, a->extent);
    return ORDER(a, b); /* as they were given */
}

/* Orders files by their session, those with samples first, then by what they know. */
static int by_session(const void *left, const void *right)
{
    const struct catalogue_file *a = *(struct catalogue_file *const *)left;
    const struct catalogue_file *b = *(struct catalogue_file *const *)right;
    ORDER_BY_TEXT(a->session, b->session);
    ORDER_BY(b->kind == CATALOGUE_SAMPLES, a->kind == CATALOGUE_SAMPLES);
    ORDER_BY(a->kind, b->kind);
    return by_extent(a, b);
}

/* Puts files with one identity together. Of several of a kind the first is the most complete. */
static void unite_by_identity(struct catalogue_file **order, size_t count)
{
    qsort(order, count, sizeof *order, by_session);
    for (size_t i = 1; i < count; i++) {
        const struct catalogue_file *before = order[i - 1];
        if (!order[i]->session[0] || strcmp(order[i]->session, before->session) != 0)
            continue;
        order[i]->of = before->of;
        order[i]->is_copy = order[i]->kind == before->kind;
    }
}

/* ---- 2 and 3. By samples ---- */

/* Orders files by their first sample, tracking files first; what has none is last. */
static int by_first_sample(const void *left, const void *right)
{
    const struct catalogue_file *a = *(struct catalogue_file *const *)left;
    const struct catalogue_file *b = *(struct catalogue_file *const *)right;
    ORDER_BY(!!isnan(a->first_sample), !!isnan(b->first_sample));
    if (!isnan(a->first_sample) && fabs(a->first_sample - b->first_sample) > SAME_SAMPLE_SECONDS)
        return ORDER(a->first_sample, b->first_sample);
    ORDER_BY(b->kind == CATALOGUE_SAMPLES, a->kind == CATALOGUE_SAMPLES);
    ORDER_BY(b->extent, a->extent);
    ORDER_BY(!a->session[0], !b->session[0]);
    return ORDER(a, b); /* as they were given */
}

/* Reads the samples of a file, unless its reader has done so. */
static void hash_samples(struct catalogue_file *file)
{
    struct tracking_reader *reader;
    struct tracking_samples samples;
    if (file->hash != 0 || tracking_reader_salvage(file->path, &reader, NULL) != GPUT_OK)
        return;
    if (tracking_samples_read(reader, &samples, NULL) == GPUT_OK) {
        file->hash = tracking_samples_hash(&samples);
        file->first_row = samples.first_row;
    }
    tracking_reader_close(reader);
}

/* Whether two files say that they are of different ranks. */
static bool are_of_other_ranks(const struct catalogue_file *a, const struct catalogue_file *b)
{
    return a->rank != b->rank && !isnan(a->rank) && !isnan(b->rank);
}

/* Whether a file has the samples of another one, or the first ones of them. */
static bool has_samples_of(struct catalogue_file *file, struct catalogue_file *original)
{
    if (are_of_other_ranks(file, original) || (file->session[0] && original->session[0]))
        return false;
    hash_samples(file);
    hash_samples(original);
    if (file->hash == 0 || file->first_row != original->first_row)
        return false;
    return file->hash == original->hash || tracking_samples_begin(file->path, original->path);
}

/* Returns the file that stands for the session of a file, so far. */
static size_t root_of(const struct catalogue_file *files, size_t file)
{
    while (files[file].of != file)
        file = files[file].of;
    return file;
}

/* Finds copies among tracking files with one first sample. The one with the most samples is the
 * original, whichever of them knows whose they are. */
static void unite_copies(
    struct catalogue_file *files, struct catalogue_file **list, size_t n_samples)
{
    for (size_t i = 1; i < n_samples; i++) {
        for (size_t k = 0; k < i && !list[i]->is_copy; k++) {
            if (list[k]->is_copy || !has_samples_of(list[i], list[k]))
                continue;
            list[i]->is_copy = true;
            if (list[i]->session[0]) /* others of its session are now of the longer file */
                text_fit(list[k]->session, sizeof list[k]->session, "%s", list[i]->session);
            files[root_of(files, list[i]->of)].of = root_of(files, list[k]->of);
        }
    }
}

/* Gives results the tracking file whose first sample they name, if no other can be meant. */
static void unite_by_first_sample(
    struct catalogue_file *files, struct catalogue_file **list, size_t count, size_t n_samples)
{
    for (size_t i = n_samples; i < count; i++) {
        struct catalogue_file *results = list[i], *found = NULL;
        bool is_found = files[root_of(files, results->of)].kind == CATALOGUE_SAMPLES;
        size_t candidates = 0;
        for (size_t k = 0; k < n_samples && !is_found; k++) {
            if (list[k]->session[0] || list[k]->is_copy || are_of_other_ranks(list[k], results))
                continue;
            found = list[k];
            candidates++;
        }
        for (size_t k = n_samples; k < count && candidates == 1; k++) {
            if (strcmp(list[k]->session, results->session) != 0 &&
                !are_of_other_ranks(list[k], found))
                candidates++; /* another session that began in the same microsecond */
        }
        if (candidates != 1 || is_found)
            continue;
        text_fit(found->session, sizeof found->session, "%s", results->session);
        files[root_of(files, results->of)].of = found->of;
    }
}

/* Walks over files with one first sample. */
static void unite_by_samples(
    struct catalogue_file *files, struct catalogue_file **order, size_t count)
{
    qsort(order, count, sizeof *order, by_first_sample);
    for (size_t first = 0, next; first < count && !isnan(order[first]->first_sample);
         first = next) {
        size_t n_samples = 0;
        for (next = first;
             next < count &&
             !(order[next]->first_sample > order[first]->first_sample + SAME_SAMPLE_SECONDS) &&
             !isnan(order[next]->first_sample);
             next++)
            n_samples += order[next]->kind == CATALOGUE_SAMPLES;
        if (next - first < 2 || n_samples == 0)
            continue;
        unite_copies(files, order + first, n_samples);
        unite_by_first_sample(files, order + first, next - first, n_samples);
    }
}

/* ---- 4. By names ---- */

/* Returns the length of a file name without its extension. */
static size_t stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (text_ends_with(name, PLAIN_CSV_EXTENSION))
        return strlen(name) - strlen(PLAIN_CSV_EXTENSION);
    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

/* Returns how much of the name of a session `name` begins with: all of its stem, as a word; else 0.
 */
static size_t common_stem(const char *name, const char *session)
{
    size_t length = stem_length(session);
    bool continues = strncmp(name, session, length) == 0 && !isalnum((unsigned char)name[length]);
    return continues ? length : 0;
}

/* Whether results can be of the session of a tracking file: nothing that is known of both says
 * otherwise. */
static bool fits(const struct catalogue_file *results, const struct catalogue_file *samples)
{
    if (results->session[0] && samples->session[0])
        return strcmp(results->session, samples->session) == 0;
    if (!isnan(results->first_sample))
        return false; /* it is not among those that are here */
    return !(samples->start < results->start - MAX_DIFFERENCE_SECONDS) &&
           !(samples->start > results->end + MAX_DIFFERENCE_SECONDS);
}

/* Finds the tracking file of the same folder that a file belongs to by its name: the one whose name
 * it continues the furthest, else the only one there is, else the only one of its rank. */
static size_t find_by_name(const struct catalogue_file *files, size_t count, const char *path,
    size_t folder, double rank, const struct catalogue_file *results)
{
    size_t only = count, best = count, of_rank = count, n_all = 0, n_of_rank = 0, longest = 0;
    const char *name = file_base_name(path);
    bool is_of_unreadable = false;
    for (size_t i = 0; i < count; i++) {
        if (files[i].folder != folder || files[i].is_copy)
            continue;
        size_t common = common_stem(name, file_base_name(files[i].path));
        is_of_unreadable |= files[i].kind == CATALOGUE_UNREADABLE && common > 0;
        if (files[i].kind != CATALOGUE_SAMPLES)
            continue;
        only = i;
        n_all++;
        if (common > longest) {
            longest = common;
            best = i;
        }
        if (!isnan(rank) && files[i].rank == rank) {
            of_rank = i;
            n_of_rank++;
        }
    }
    size_t found = best < count     ? best
                   : n_all == 1     ? (is_of_unreadable ? count : only)
                   : n_of_rank == 1 ? of_rank
                                    : count;
    return found < count && results && !fits(results, &files[found]) ? count : found;
}

size_t catalogue_find_by_name(
    const struct catalogue_file *files, size_t count, const char *path, size_t folder)
{
    return find_by_name(files, count, path, folder, NAN, NULL);
}

/* Whether a session has a file of a kind. */
static bool has_kind(const struct catalogue_file *files, size_t count, size_t of, unsigned kinds)
{
    for (size_t i = 0; i < count; i++) {
        if (files[i].of == of && (files[i].kind & kinds))
            return true;
    }
    return false;
}

/* Gives results that nothing else tells apart the tracking file that their name, or folder, says.
 */
static void unite_results_by_name(struct catalogue_file *files, size_t count)
{
    bool has_plain = false; /* samples of which no manifest says whose they are */
    for (size_t i = 0; i < count; i++)
        has_plain |= files[i].kind == CATALOGUE_SAMPLES && !files[i].session[0];
    for (size_t i = 0; i < count; i++) {
        bool is_results = files[i].kind & (CATALOGUE_REPORT | CATALOGUE_KEPT);
        if (!is_results || files[i].of != i || files[i].is_copy ||
            (files[i].session[0] && !has_plain) || !isnan(files[i].first_sample))
            continue;
        size_t owner =
            find_by_name(files, count, files[i].path, files[i].folder, files[i].rank, &files[i]);
        if (owner == count || has_kind(files, count, owner, CATALOGUE_REPORT | CATALOGUE_KEPT))
            continue;
        for (size_t k = 0; k < count; k++) {
            if (files[k].of == i)
                files[k].of = owner;
        }
    }
}

/* Finds the session whose process wrote a file of marks: by its name, else by its process. */
static size_t owner_of_marks(const struct catalogue_file *files, size_t count, size_t marks)
{
    const struct catalogue_file *file = &files[marks];
    size_t n_found = 0, found = count;
    size_t owner = find_by_name(files, count, file->path, file->folder, file->rank, NULL);
    if (owner < count)
        return owner;
    for (size_t i = 0; i < count; i++) {
        if (files[i].kind != CATALOGUE_SAMPLES || files[i].is_copy ||
            files[i].folder != file->folder || files[i].pid != file->pid)
            continue;
        found = i;
        n_found++;
    }
    return n_found == 1 ? found : count;
}

/* Finds the file of marks, of a session, whose name that of a forked child continues. */
static size_t owner_of_child(const struct catalogue_file *files, size_t count, size_t marks)
{
    const char *name = file_base_name(files[marks].path);
    for (size_t i = 0; i < count; i++) {
        if (files[i].kind == CATALOGUE_MARKS && files[i].of != i &&
            files[i].folder == files[marks].folder &&
            common_stem(name, file_base_name(files[i].path)) > 0)
            return files[i].of;
    }
    return count;
}

/* Gives files of marks to sessions: first those of the processes that were tracked, then those of
 * their forked children. */
static void unite_marks(struct catalogue_file *files, size_t count)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            if (files[i].kind != CATALOGUE_MARKS || files[i].of != i)
                continue;
            size_t owner =
                pass == 0 ? owner_of_marks(files, count, i) : owner_of_child(files, count, i);
            if (owner < count)
                files[i].of = files[owner].of;
        }
    }
}

int catalogue_unite(struct catalogue_file *files, size_t count, struct gput_error *error)
{
    CLEANUP_FREE struct catalogue_file **order = malloc((count + 1) * sizeof *order);
    if (!order)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        order[i] = &files[i];
        files[i].of = i;
        files[i].is_copy = false;
    }
    if (count < 2)
        return GPUT_OK;
    unite_by_identity(order, count);
    unite_by_samples(files, order, count);
    for (size_t i = 0; i < count; i++)
        files[i].of = root_of(files, i);
    unite_results_by_name(files, count);
    unite_marks(files, count);
    return GPUT_OK;
}
