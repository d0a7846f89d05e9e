#include "views/report/report_common_blocks.h"

#include "base/array.h"
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

/* More than these are counted. */
#define MAX_NAMED 5

struct block_use {
    size_t run_count;
    const char *session; /* the first that has it */
};

struct block_uses {
    struct names names;
    struct block_use *uses; /* by number of the name; owned */
    size_t run_count;       /* of all sessions */
    size_t common_count;
};

/* Whether all runs have a code block. */
static bool is_common(const struct block_uses *uses, uint32_t number)
{
    return uses->uses[number].run_count == uses->run_count;
}

/* Counts in how many runs each code block is. */
static int count_uses(
    const struct gput_comparison *comparison, struct block_uses *uses, struct gput_error *error)
{
    for (size_t i = 0; i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        for (size_t k = 0; k < session->n_runs; k++) {
            const struct gput_analysis *run = session->runs[k];
            uses->run_count++;
            for (size_t b = 0; b < run->n_blocks; b++) {
                const char *name = run->blocks[b].name;
                uint32_t count = uses->names.count;
                uint32_t number = names_add(&uses->names, name, strlen(name));
                if (number == NAMES_NONE || (number == count && !ARRAY_EXTEND(uses->uses, count)))
                    return error_memory(error);
                if (number == count)
                    uses->uses[number] = (struct block_use){.session = session->name};
                uses->uses[number].run_count++;
            }
        }
    }
    for (uint32_t i = 0; i < uses->names.count; i++)
        uses->common_count += is_common(uses, i);
    return GPUT_OK;
}

/* Drops the code blocks of a run that not all sessions have. */
static int leave_common(
    const struct block_uses *uses, struct gput_analysis *run, struct gput_error *error)
{
    struct gput_code_block *rest = malloc((run->n_blocks + 1) * sizeof *rest);
    size_t kept_count = 0, rest_count = 0;
    if (!rest)
        return error_memory(error);
    for (size_t i = 0; i < run->n_blocks; i++) {
        const char *name = run->blocks[i].name;
        if (is_common(uses, names_find(&uses->names, name, strlen(name))))
            run->blocks[kept_count++] = run->blocks[i];
        else
            rest[rest_count++] = run->blocks[i];
    }
    run->n_blocks = kept_count;
    analysis_destroy_blocks(rest, rest_count);
    return GPUT_OK;
}

/* Says which code blocks are not compared. */
static void say_rest(const struct block_uses *uses, struct str *rest)
{
    size_t named_count = 0, rest_count = uses->names.count - uses->common_count;
    str_append(rest, "Code blocks that not all sessions have are not compared: ");
    for (uint32_t i = 0; i < uses->names.count && named_count < MAX_NAMED; i++) {
        if (is_common(uses, i))
            continue;
        str_printf(rest, "%s\"%.120s\" (in %.60s)", named_count > 0 ? ", " : "",
            names_text(&uses->names, i), uses->uses[i].session);
        named_count++;
    }
    if (rest_count > named_count)
        str_printf(rest, " and %zu more", rest_count - named_count);
    str_append(rest, ".");
}

int report_common_blocks_keep(
    struct gput_comparison *comparison, struct str *rest, struct gput_error *error)
{
    struct block_uses uses = {0};
    int code = count_uses(comparison, &uses, error);
    for (size_t i = 0; uses.common_count > 0 && i < comparison->n_sessions; i++) {
        const struct comparison_session *session = &comparison->sessions[i];
        for (size_t k = 0; code == GPUT_OK && k < session->n_runs; k++)
            code = leave_common(&uses, session->runs[k], error);
    }
    if (code == GPUT_OK && uses.common_count > 0)
        say_rest(&uses, rest);
    names_finish(&uses.names);
    free(uses.uses);
    return code == GPUT_OK && rest->failed ? error_memory(error) : code;
}
