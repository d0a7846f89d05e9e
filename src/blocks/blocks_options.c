#include "base/sized.h"

#include <gputracker/blocks.h>

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
