#include "files/trace/unpacking.h"

#include "base/cleanup.h"
#include "files/trace/unpacker.h"

#include <stdlib.h>

struct unpacking {
    const struct unpacker_class *class;
    void *state;
    unpacking_read *read;
    void *user;
    unsigned char *buffer; /* the caller's */
    size_t capacity;
    const unsigned char *at; /* input that was read and is not used yet */
    size_t left;
    bool is_in_member; /* the data must not end here */
    bool has_ended;
    const char *damage;
};

/* Unpackers of one format are tried in this order. */
static const struct unpacker_class *const classes[] = {
    &unpacker_isal,
    &unpacker_zlib,
    &unpacker_zstd,
};

#define CLASSES (sizeof classes / sizeof *classes)

/* Whether bytes begin as that format does; all of its magic number must be there. */
static bool is_of_format(
    const struct unpacker_class *class, const unsigned char *bytes, size_t length)
{
    return length >= class->magic_length && class->begins(bytes, length);
}

bool unpacking_is_packed(const unsigned char *bytes, size_t length)
{
    for (size_t i = 0; i < CLASSES; i++)
        if (is_of_format(classes[i], bytes, length))
            return true;
    return false;
}

int unpacking_create(unsigned char *input, size_t length, size_t capacity, unpacking_read *read,
    void *user, struct unpacking **unpacking, struct gput_error *error)
{
    CLEANUP_FREE struct unpacking *made = calloc(1, sizeof *made);
    *unpacking = NULL;
    if (!made)
        return error_memory(error);
    *made = (struct unpacking){.read = read,
        .user = user,
        .buffer = input,
        .capacity = capacity,
        .at = input,
        .left = length,
        .is_in_member = true};
    /* Use the first unpacker of the format whose library is available. */
    int code = GPUT_ERROR_UNSUPPORTED;
    for (size_t i = 0; i < CLASSES && code == GPUT_ERROR_UNSUPPORTED; i++) {
        made->class = classes[i];
        if (is_of_format(classes[i], made->at, made->left))
            code = classes[i]->create(&made->state, error);
    }
    if (code == GPUT_OK)
        *unpacking = STEAL(made);
    return code;
}

/* Reads the next part of the file into the buffer, whose content was used. */
static int refill(struct unpacking *unpacking, struct gput_error *error)
{
    unpacking->at = unpacking->buffer;
    return unpacking->read(
        unpacking->user, unpacking->buffer, unpacking->capacity, &unpacking->left, error);
}

/* Ends unpacking; `damage` is NULL at the proper end. */
static void end(struct unpacking *unpacking, const char *damage)
{
    unpacking->has_ended = true;
    unpacking->damage = damage;
}

/* Unpacks as far as there is input and space, or moves on to the next member. */
static int step_on(
    struct unpacking *unpacking, unsigned char **out, size_t *space, struct gput_error *error)
{
    if (!unpacking->is_in_member) {
        /* Begin the next member, or end if there is none. */
        if (unpacking->left == 0)
            TRY(refill(unpacking, error));
        if (unpacking->left == 0) {
            end(unpacking, NULL);
        } else if (unpacking->class->begins(unpacking->at, unpacking->left)) {
            unpacking->class->next_member(unpacking->state);
            unpacking->is_in_member = true;
        } else {
            bool is_padding = unpacking->class->is_zero_padded && *unpacking->at == 0;
            end(unpacking, is_padding ? NULL : "is damaged");
        }
        return GPUT_OK;
    }

    struct unpack_step step = {unpacking->at, unpacking->left, *out, *space};
    enum unpack_status status = unpacking->class->unpack(unpacking->state, &step);
    size_t used = unpacking->left - step.in_length, given = *space - step.out_length;
    unpacking->at = step.in;
    unpacking->left = step.in_length;
    *out = step.out;
    *space = step.out_length;
    if (status == UNPACK_NO_MEMORY)
        return error_memory(error);
    if (status == UNPACK_MEMBER_ENDED) {
        unpacking->is_in_member = false;
        return GPUT_OK;
    }
    if (status == UNPACK_ON && (given > 0 || (used > 0 && unpacking->left > 0)))
        return GPUT_OK;
    if (status == UNPACK_DAMAGED || unpacking->left > 0) { /* no progress is possible */
        end(unpacking, "is damaged");
        return GPUT_OK;
    }
    TRY(refill(unpacking, error));
    if (unpacking->left == 0)
        end(unpacking, "ends too early");
    return GPUT_OK;
}

int unpacking_next(struct unpacking *unpacking, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error)
{
    unsigned char *out = buffer;
    size_t space = capacity;
    *length = 0;
    while (space == capacity && !unpacking->has_ended)
        TRY(step_on(unpacking, &out, &space, error));
    *length = capacity - space;
    return GPUT_OK;
}

const char *unpacking_damage(const struct unpacking *unpacking)
{
    return unpacking->damage;
}

void unpacking_destroy(struct unpacking *unpacking)
{
    if (!unpacking)
        return;
    unpacking->class->destroy(unpacking->state);
    free(unpacking);
}
