/* Any lines as paths below a trace root, the first bytes as the stretch of time that is asked for.
 */
#include "files/trace/trace_root.h"

#include "fuzz_text.h"

static void hold_in_order(const struct trace_root *root)
{
    for (size_t i = 0; i < root->count; i++) {
        const struct trace_file *file = root->files + i;
        if (file->time_us < 0 && file->kind != TRACE_FILE_TENSORFLOW)
            __builtin_trap();
        if (i > 0 && file->kind < file[-1].kind)
            __builtin_trap();
    }
}

static void choose(const struct trace_root *root, const struct trace_choice *choice)
{
    bool *chosen = calloc(root->count + 1, sizeof *chosen);
    if (!chosen)
        abort();
    trace_root_choose(root, choice, chosen);
    for (size_t i = 0; i < root->count; i++) /* all of it: every file but those of other suffixes */
        if (choice->start_us == INT64_MIN && choice->end_us == INT64_MAX && !choice->n_suffixes &&
            !chosen[i])
            __builtin_trap();
    free(chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_root root = {0};
    struct trace_choice choice = {INT64_MIN, INT64_MAX, trace_suffixes, 0};
    int64_t start_us, end_us, times[2];
    char *text = fuzz_text(data, size), *rest = text, *line;
    while ((line = strsep(&rest, "\n")) != NULL) {
        trace_root_metadata_times(line, &start_us, &end_us);
        if (trace_root_add(&root, line, *line == '1', NULL) != GPUT_OK)
            __builtin_trap();
    }
    trace_root_sort(&root);
    hold_in_order(&root);
    choose(&root, &choice);
    choice.n_suffixes = 2;
    if (size >= sizeof times) {
        memcpy(times, data, sizeof times);
        choice.start_us = times[0];
        choice.end_us = times[1];
    }
    choose(&root, &choice);
    trace_root_finish(&root);
    free(text);
    return 0;
}
