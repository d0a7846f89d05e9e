#include "analysis/training/pytorch/kineto_ranks.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/str.h"
#include "files/trace/trace_root.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of ranks or traces that a message names. */
#define MAX_NAMED 20

int kineto_ranks_append(
    struct kineto_ranks *ranks, struct kineto_rank **rank, struct gput_error *error)
{
    if (!ARRAY_EXTEND(ranks->all, ranks->count))
        return error_memory(error);
    *rank = ranks->all + ranks->count++;
    **rank = (struct kineto_rank){.rank = -1, .world_size = -1, .trace = -1};
    return GPUT_OK;
}

/* Adds each file as a rank. */
static int add_files(
    struct kineto_ranks *ranks, struct trace_paths *files, struct gput_error *error)
{
    struct kineto_rank *rank = NULL;
    for (size_t i = 0; i < files->count; i++) {
        TRY(kineto_ranks_append(ranks, &rank, error));
        rank->path = files->paths[i];
        files->paths[i] = NULL;
    }
    return GPUT_OK;
}

int kineto_ranks_add(struct kineto_ranks *ranks, const char *path, const struct read_report *report,
    struct gput_error *error)
{
    struct trace_paths files = {0};
    int code = trace_paths_add(&files, path, report, error);
    if (code == GPUT_OK)
        code = add_files(ranks, &files, error);
    trace_paths_finish(&files);
    if (code == GPUT_ERROR_FORMAT)
        return error_set(error, code,
            "There are no trace files (.json, .json.gz, .json.zst) in %s: this view is of traces "
            "of PyTorch's "
            "profiler%s",
            path, trace_root_is(path) ? ", and that is the trace root of a training profile" : "");
    return code;
}

void kineto_ranks_finish(struct kineto_ranks *ranks)
{
    for (uint32_t i = 0; i < ranks->count; i++)
        free(ranks->all[i].path);
    free(ranks->all);
    names_finish(&ranks->unknown);
    free(ranks->unknown_counts);
    *ranks = (struct kineto_ranks){0};
}

bool kineto_ranks_count_unknown(struct kineto_ranks *ranks, const char *category, uint64_t count)
{
    uint32_t before = ranks->unknown.count;
    uint32_t number = names_add(&ranks->unknown, category, strlen(category));
    if (number == NAMES_NONE)
        return false;
    if (number == before) {
        if (!ARRAY_EXTEND(ranks->unknown_counts, before))
            return false;
        ranks->unknown_counts[number] = 0;
    }
    ranks->unknown_counts[number] += count;
    return true;
}

void kineto_ranks_append_unknown(const struct kineto_ranks *ranks, struct str *text)
{
    uint32_t count = ranks->unknown.count;
    for (uint32_t i = 0; i < count && i < MAX_NAMED; i++)
        str_printf(text, "%s%s (%" PRIu64 ")", i > 0 ? ", " : "", names_text(&ranks->unknown, i),
            ranks->unknown_counts[i]);
    if (count > MAX_NAMED)
        str_printf(text, ", and %" PRIu32 " other categories", count - MAX_NAMED);
}

void kineto_ranks_warn_of_categories(
    const struct kineto_ranks *ranks, const struct read_report *report)
{
    struct str text = {0};
    if (ranks->unknown.count == 0)
        return;
    str_append(&text, KINETO_CATEGORIES_LEFT_OUT);
    kineto_ranks_append_unknown(ranks, &text);
    read_report_warn_text(report, &text);
}

int64_t kineto_rank_number(const struct kineto_rank *rank)
{
    return rank->rank >= 0 ? rank->rank : INT64_MIN;
}

void kineto_ranks_warn_of_idle(const struct kineto_ranks *ranks, const struct read_report *report)
{
    for (uint32_t i = 0; i < ranks->count; i++) {
        const struct kineto_rank *rank = ranks->all + i;
        const char *understood = rank->unknown_count > 0 ? " that are understood" : "";
        struct str text = {0};
        if (rank->span_count > 0)
            continue;
        if (rank->rank >= 0)
            str_printf(&text, "Rank %" PRId64 " has no GPU events%s: %s", rank->rank, understood,
                rank->path);
        else
            str_printf(&text, "%s has no GPU events%s", rank->path, understood);
        read_report_warn_text(report, &text);
    }
}

void kineto_ranks_warn_of_unknown(
    const struct kineto_ranks *ranks, const struct read_report *report)
{
    CLEANUP_STR struct str paths = {0};
    struct str text = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < ranks->count && ranks->count > 1; i++)
        if (ranks->all[i].rank < 0 && count++ < MAX_NAMED)
            str_printf(&paths, "%s%s", count > 1 ? ", " : "", ranks->all[i].path);
    if (count > 0) {
        str_printf(&text,
            "%" PRIu32 " of %" PRIu32 " traces %s not name %s rank (distributedInfo): %s%s", count,
            ranks->count, count == 1 ? "does" : "do", count == 1 ? "its" : "their",
            str_text(&paths), count > MAX_NAMED ? ", ..." : "");
        text.failed |= paths.failed;
        read_report_warn_text(report, &text);
    }
}

void kineto_ranks_warn_of_repeated(
    const struct kineto_ranks *ranks, const struct read_report *report)
{
    for (uint32_t i = 0; i < ranks->count; i++) {
        const struct kineto_rank *first = ranks->all + i;
        uint32_t others = 0, earlier = 0;
        const char *other = NULL;
        for (uint32_t j = 0; j < ranks->count && first->rank >= 0; j++)
            if (j != i && ranks->all[j].rank == first->rank) {
                earlier += j < i;
                others++;
                other = other ? other : ranks->all[j].path;
            }
        if (others == 0 || earlier > 0)
            continue;
        struct str text = {0};
        str_printf(&text,
            "Rank %" PRId64 " has %" PRIu32
            " traces, and events in several of them count several times: %s, %s%s",
            first->rank, others + 1, first->path, other, others > 1 ? ", ..." : "");
        read_report_warn_text(report, &text);
    }
}

void kineto_ranks_warn_of_impossible(
    const struct kineto_ranks *ranks, const struct read_report *report)
{
    for (uint32_t i = 0; i < ranks->count; i++) {
        const struct kineto_rank *rank = ranks->all + i;
        struct str text = {0};
        if (rank->world_size < 0 || rank->rank < rank->world_size)
            continue;
        str_printf(&text,
            "%s says that it is rank %" PRId64 " of %" PRId64 ", but ranks are counted from 0",
            rank->path, rank->rank, rank->world_size);
        read_report_warn_text(report, &text);
    }
}

/* Whether there is a trace of that rank. */
static bool has_rank(const struct kineto_ranks *ranks, int64_t rank)
{
    for (uint32_t i = 0; i < ranks->count; i++)
        if (ranks->all[i].rank == rank)
            return true;
    return false;
}

void kineto_ranks_warn_of_missing(
    const struct kineto_ranks *ranks, const char *where, const struct read_report *report)
{
    CLEANUP_STR struct str numbers = {0};
    struct str text = {0};
    int64_t world = -1, missing = 0;
    uint32_t unknown = 0;
    for (uint32_t i = 0; i < ranks->count; i++) {
        unknown += ranks->all[i].rank < 0;
        if (ranks->all[i].world_size > world)
            world = ranks->all[i].world_size;
    }
    for (int64_t rank = 0; rank < world && rank < 100000; rank++)
        if (!has_rank(ranks, rank) && missing++ < MAX_NAMED)
            str_printf(&numbers, "%s%" PRId64, numbers.length > 0 ? ", " : "", rank);
    if (missing > 0) {
        str_printf(&text, "%" PRId64 " of %" PRId64 " ranks %s missing%s: %s%s", missing, world,
            missing == 1 ? "is" : "are", where, str_text(&numbers),
            missing > MAX_NAMED ? ", ..." : "");
        text.failed |= numbers.failed;
        if (unknown > 0)
            str_printf(&text, "; %" PRIu32 " trace%s of unknown rank may be of these", unknown,
                unknown == 1 ? "" : "s");
        read_report_warn_text(report, &text);
    }
}

/* Orders traces by rank. */
static int by_number(const void *left, const void *right)
{
    const struct kineto_rank *a = left, *b = right;
    return ORDER(a->rank, b->rank);
}

/* Appends the ranks of a side, such as "ranks 0, 1" or "1 trace of unknown rank". */
static void append_ranks(const struct kineto_rank *ranks, uint32_t count, struct str *text)
{
    uint32_t unknown = 0;
    while (unknown < count && ranks[unknown].rank < 0)
        unknown++;
    if (unknown > 0)
        str_printf(text, "%" PRIu32 " trace%s of unknown rank%s", unknown, unknown == 1 ? "" : "s",
            unknown < count ? " and " : "");
    for (uint32_t i = unknown; i < count && i < unknown + MAX_NAMED; i++)
        str_printf(text, "%s%" PRId64,
            i > unknown            ? ", "
            : count - unknown == 1 ? "rank "
                                   : "ranks ",
            ranks[i].rank);
    if (count > unknown + MAX_NAMED)
        str_append(text, ", ...");
}

void kineto_ranks_warn_of_difference(const struct kineto_ranks *ranks,
    const struct kineto_ranks *others, const struct read_report *report)
{
    struct str text = {0};
    bool same = ranks->count == others->count;
    qsort(ranks->all, ranks->count, sizeof *ranks->all, by_number);
    qsort(others->all, others->count, sizeof *others->all, by_number);
    for (uint32_t i = 0; i < ranks->count && same; i++)
        same = ranks->all[i].rank == others->all[i].rank;
    if (same)
        return;
    str_append(&text, "Different ranks are compared: ");
    append_ranks(ranks->all, ranks->count, &text);
    str_append(&text, " with ");
    append_ranks(others->all, others->count, &text);
    read_report_warn_text(report, &text);
}
