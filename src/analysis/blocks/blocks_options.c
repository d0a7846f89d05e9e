#include "analysis/blocks/block_figures.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/sized.h"

#include <gputracker/blocks.h>

#include <stdio.h>
#include <string.h>

static const struct gput_blocks_options usual = {
    .size = sizeof usual, .limit_bytes = UINT64_C(1) << 30};

void gput_blocks_options_init(struct gput_blocks_options *options, size_t size)
{
    sized_init(options, size, &usual, sizeof usual);
}

static const struct gput_blocks_status no_status = {.size = sizeof no_status};

void gput_blocks_status_init(struct gput_blocks_status *status, size_t size)
{
    sized_init(status, size, &no_status, sizeof no_status);
}

/* Sets what a word of a list asks for. False: there is no such word. */
static bool read_word(struct gput_blocks_options *options, const char *word, size_t length)
{
    const struct {
        const char *word;
        bool *option;
    } words[] = {
        {"1", &options->exact},
        {"peak", &options->block_peaks},
        {"counters", &options->counters},
        {"gpu", &options->gpu_time},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strlen(words[i].word) == length && strncmp(words[i].word, word, length) == 0) {
            *words[i].option = true;
            return true;
        }
    }
    return false;
}

int gput_blocks_options_read_exact(
    struct gput_blocks_options *options, const char *list, struct gput_error *error)
{
    int code = GPUT_OK;
    bool is_wanted = list && *list && strcmp(list, "0") != 0;
    options->exact = options->energy = is_wanted;
    options->block_peaks = options->counters = options->gpu_time = false;
    for (size_t length; is_wanted && *list; list += length + (list[length] == ',')) {
        char word[80], question[NEAREST_QUESTION_SIZE];
        length = strcspn(list, ",");
        if (read_word(options, list, length) || code != GPUT_OK)
            continue;
        snprintf(
            word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), list);
        code = error_set(error, GPUT_ERROR_INVALID,
            "\"%s\" is not a kind of exact figures%s Valid are: 1, peak, counters, gpu.", word,
            nearest_question("1 peak counters gpu", word, question));
    }
    return code;
}

int gput_blocks_check(const struct gput_blocks_options *given, struct gput_error *error)
{
    struct gput_blocks_options options = gput_blocks_options_default();
    struct block_figures figures = {0};
    TRY(sized_read(&options, sizeof options, given, error));
    if (options.exact && options.block_peaks)
        TRY(block_figures_open_block_peaks(&figures, error));
    block_figures_close(&figures);
    if (options.exact && options.counters)
        TRY(block_counters_check(error));
    if (options.exact && options.gpu_time)
        TRY(own_gpu_time_check(options.procfs_root ? options.procfs_root : "/proc",
            options.sysfs_root ? options.sysfs_root : "/sys", error));
    return GPUT_OK;
}
