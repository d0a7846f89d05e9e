/* Unpacks gzip by Intel's ISA-L. The build needs its header for the layout of the state; the
 * library is loaded when there is something to unpack. */
#include "base/cleanup.h"
#include "base/shared_library.h"
#include "files/trace/unpacker.h"

#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PATH "libisal.so.2"

struct unpacking {
    void (*init)(struct inflate_state *state);
    void (*reset)(struct inflate_state *state);
    int (*inflate)(struct inflate_state *state);
    bool is_damaged; /* only what was unpacked before the damage is still to be returned */
    struct inflate_state state;
};

/* Loads ISA-L and makes its state; fails where the library is missing or too old. */
static int create(void **state, struct gput_error *error)
{
    CLEANUP_FREE struct unpacking *unpacking = calloc(1, sizeof *unpacking);
    if (!unpacking)
        return error_memory(error);
    const struct shared_symbol symbols[] = {
        {"isal_inflate_init", &unpacking->init},
        {"isal_inflate_reset", &unpacking->reset},
        {"isal_inflate", &unpacking->inflate},
        {NULL, NULL},
    };
    if (shared_library_load(PATH, symbols))
        return error_set(error, GPUT_ERROR_UNSUPPORTED, "There is no usable " PATH);
    unpacking->init(&unpacking->state);
    unpacking->state.crc_flag = ISAL_GZIP;
    *state = STEAL(unpacking);
    return GPUT_OK;
}

/* Returns bytes from before the damage that did not fit into the output before. */
static enum unpack_status give_rest(struct inflate_state *state, struct unpack_step *step)
{
    size_t there = (size_t)(state->tmp_out_valid - state->tmp_out_processed);
    size_t given = there < step->out_length ? there : step->out_length;
    memcpy(step->out, state->tmp_out_buffer + state->tmp_out_processed, given);
    state->tmp_out_processed += (int32_t)given;
    step->out += given;
    step->out_length -= given;
    return given < there ? UNPACK_ON : UNPACK_DAMAGED;
}

/* Unpacks one step with ISA-L. */
static enum unpack_status unpack(void *user, struct unpack_step *step)
{
    struct unpacking *unpacking = user;
    struct inflate_state *state = &unpacking->state;
    if (unpacking->is_damaged)
        return give_rest(state, step);
    size_t in = step->in_length < UINT32_MAX ? step->in_length : UINT32_MAX;
    size_t out = step->out_length < UINT32_MAX ? step->out_length : UINT32_MAX;
    state->next_in = (uint8_t *)(uintptr_t)step->in;
    state->avail_in = (uint32_t)in;
    state->next_out = step->out;
    state->avail_out = (uint32_t)out;
    int result = unpacking->inflate(state);
    step->in += in - state->avail_in;
    step->in_length -= in - state->avail_in;
    step->out += out - state->avail_out;
    step->out_length -= out - state->avail_out;
    unpacking->is_damaged = result < 0 || result == ISAL_NEED_DICT;
    if (unpacking->is_damaged)
        return give_rest(state, step);
    return state->block_state == ISAL_BLOCK_FINISH ? UNPACK_MEMBER_ENDED : UNPACK_ON;
}

/* Prepares for the next member of a gzip file. */
static void next_member(void *user)
{
    struct unpacking *unpacking = user;
    unpacking->reset(&unpacking->state);
    unpacking->state.crc_flag = ISAL_GZIP;
}

const struct unpacker_class unpacker_isal = {.begins = unpacker_begins_gzip,
    .magic_length = 2,
    .is_zero_padded = true,
    .create = create,
    .unpack = unpack,
    .next_member = next_member,
    .destroy = free};
