#include "base/error.h"
#include "base/sized.h"
#include "blocks/block_figures.h"

#include <gputracker/blocks.h>

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

int gput_blocks_options_read_exact(
    struct gput_blocks_options *options, const char *list, struct gput_error *error)
{
    int code = GPUT_OK;
    bool is_wanted = list && *list && strcmp(list, "0") != 0, peaks = false, counters = false;
    for (size_t length; is_wanted && *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        bool is_peak = length == 4 && strncmp(list, "peak", 4) == 0;
        bool is_counters = length == 8 && strncmp(list, "counters", 8) == 0;
        peaks |= is_peak;
        counters |= is_counters;
        if (!is_peak && !is_counters && (length != 1 || *list != '1') && code == GPUT_OK)
            code = error_set(error, GPUT_ERROR_INVALID,
                "\"%.*s\" is no kind of exact figures. Valid are: 1, peak, counters.",
                (int)(length < 80 ? length : 80), list);
    }
    options->exact = options->energy = is_wanted;
    options->block_peaks = peaks;
    options->counters = counters;
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
    return options.exact && options.counters ? block_counters_check(error) : GPUT_OK;
}
