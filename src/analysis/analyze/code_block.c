#include "analysis/analyze/code_block.h"

#include <math.h>

size_t gput_code_block_part_count(const struct gput_code_block *block)
{
    return block->n_parts;
}

const struct gput_code_block *gput_code_block_part(
    const struct gput_code_block *block, size_t index)
{
    return index < block->n_parts ? &block->parts[index] : NULL;
}

const char *gput_code_block_name(const struct gput_code_block *block)
{
    return block->name;
}

const char *gput_code_block_category(const struct gput_code_block *block)
{
    return block->category;
}

int64_t gput_code_block_process(const struct gput_code_block *block)
{
    return block->process_id;
}

int64_t gput_code_block_thread(const struct gput_code_block *block)
{
    return block->thread_id;
}

int64_t gput_code_block_rank(const struct gput_code_block *block)
{
    return block->rank >= 0 ? block->rank : -1;
}

const char *gput_code_block_thread_name(const struct gput_code_block *block)
{
    return block->thread_name;
}

uint64_t gput_code_block_calls(const struct gput_code_block *block)
{
    return block->num_calls;
}

uint64_t gput_code_block_non_empty_calls(const struct gput_code_block *block)
{
    return block->num_non_empty_calls;
}

uint64_t gput_code_block_outside_calls(const struct gput_code_block *block)
{
    return block->num_outside_calls;
}

uint64_t gput_code_block_timepoints(const struct gput_code_block *block)
{
    return block->num_timepoints;
}

const struct gput_statistics *gput_code_block_compute_time(const struct gput_code_block *block)
{
    return &block->compute_time;
}

double gput_code_block_compute_time_total(const struct gput_code_block *block)
{
    return block->compute_time_total;
}

const struct gput_statistics *gput_code_block_usage(
    const struct gput_code_block *block, size_t measurement)
{
    return measurement < block->n_measurements ? &block->resource_usage[measurement] : NULL;
}

double gput_code_block_energy(const struct gput_code_block *block, enum gput_energy_figure figure)
{
    return (size_t)figure < GPUT_ENERGY_FIGURE_COUNT ? block->energy[figure] : NAN;
}

double gput_code_block_exact_figure(
    const struct gput_code_block *block, enum gput_exact_figure figure)
{
    return (size_t)figure < GPUT_EXACT_FIGURE_COUNT ? block->exact[figure] : NAN;
}

const struct gput_percentiles *gput_code_block_usage_percentiles(
    const struct gput_code_block *block, size_t measurement)
{
    bool is_there = block->percentiles && measurement < block->n_measurements;
    return is_there ? &block->percentiles[measurement] : NULL;
}

const struct gput_percentiles *gput_code_block_compute_time_percentiles(
    const struct gput_code_block *block)
{
    return block->percentiles ? &block->compute_time_percentiles : NULL;
}

double gput_code_block_self_time(const struct gput_code_block *block)
{
    return block->self_time_total;
}
