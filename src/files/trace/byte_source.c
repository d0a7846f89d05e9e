#include "files/trace/byte_source.h"

#include "base/error.h"
#include "base/thread.h"
#include "files/trace/unpacking.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Reading ahead ---- */

/* A thread calls a function that reads bytes while the previous bytes are processed. It uses a few
 * blocks of memory, however much is read. */

struct read_ahead;

/* Reads up to `capacity` bytes; `*length` is 0 at the end. */
typedef int read_ahead_read(
    void *user, void *buffer, size_t capacity, size_t *length, struct gput_error *error);

#define BLOCKS 4
#define BLOCK_SIZE (256u << 10)

struct block {
    size_t length; /* 0: the end, or an error, which is in `code` */
    char bytes[BLOCK_SIZE];
};

struct read_ahead {
    read_ahead_read *read;
    void *user;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the counts, `code`, `error` and `stops` */
    pthread_cond_t moved;
    uint64_t filled, emptied; /* number of blocks ever filled, and ever emptied */
    bool stops;
    int code; /* result for the block that was filled last */
    struct gput_error error;
    size_t taken; /* bytes already used of the block that is being emptied; only the consumer's */
    struct block blocks[BLOCKS];
};

/* Waits for a block that can be filled. Returns NULL when reading is to stop. */
static struct block *wait_for_space(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    while (ahead->filled - ahead->emptied == BLOCKS && !ahead->stops)
        pthread_cond_wait(&ahead->moved, &ahead->lock);
    struct block *block = ahead->stops ? NULL : ahead->blocks + ahead->filled % BLOCKS;
    pthread_mutex_unlock(&ahead->lock);
    return block;
}

/* Runs in the thread and fills block after block. `read` may return fewer bytes than a block has
 * space for. */
static void *read_blocks(void *user)
{
    struct read_ahead *ahead = user;
    struct block *block;
    bool is_over = false;
    while (!is_over && (block = wait_for_space(ahead)) != NULL) {
        struct gput_error error;
        size_t got = 1;
        int code = GPUT_OK;
        block->length = 0;
        while (code == GPUT_OK && got > 0 && block->length < BLOCK_SIZE) {
            code = ahead->read(ahead->user, block->bytes + block->length,
                BLOCK_SIZE - block->length, &got, &error);
            block->length += code == GPUT_OK ? got : 0;
        }
        is_over = code != GPUT_OK || block->length < BLOCK_SIZE;
        pthread_mutex_lock(&ahead->lock);
        ahead->code = code;
        if (code != GPUT_OK)
            ahead->error = error;
        ahead->filled++;
        pthread_cond_signal(&ahead->moved);
        pthread_mutex_unlock(&ahead->lock);
    }
    return NULL;
}

/* Starts a thread, which alone calls `read` from now on until it is stopped. */
static int read_ahead_start(
    read_ahead_read *read, void *user, struct read_ahead **ahead, struct gput_error *error)
{
    struct read_ahead *made = malloc(sizeof *made);
    *ahead = NULL;
    if (!made)
        return error_memory(error);
    memset(made, 0, offsetof(struct read_ahead, blocks));
    made->read = read;
    made->user = user;
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->moved, NULL);
    int failure = thread_start(&made->thread, THREAD_STACK_BYTES, read_blocks, made);
    if (failure) {
        free(made);
        return error_set_errno(error, failure, "Cannot start a thread to read");
    }
    *ahead = made;
    return GPUT_OK;
}

/* Copies bytes that were read ahead. An error of `read` comes after the bytes before it. */
static int read_ahead_take(struct read_ahead *ahead, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error)
{
    *length = 0;
    pthread_mutex_lock(&ahead->lock);
    while (ahead->filled == ahead->emptied)
        pthread_cond_wait(&ahead->moved, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);

    struct block *block = ahead->blocks + ahead->emptied % BLOCKS;
    size_t left = block->length - ahead->taken;
    if (left == 0) { /* the last block is kept, so that each further call returns the end or the
                        error */
        if (ahead->code != GPUT_OK && error)
            *error = ahead->error;
        return ahead->code;
    }
    *length = left < capacity ? left : capacity;
    memcpy(buffer, block->bytes + ahead->taken, *length);
    ahead->taken += *length;

    if (ahead->taken == BLOCK_SIZE) {
        pthread_mutex_lock(&ahead->lock);
        ahead->emptied++;
        ahead->taken = 0;
        pthread_cond_signal(&ahead->moved);
        pthread_mutex_unlock(&ahead->lock);
    }
    return GPUT_OK;
}

/* ---- The source ---- */

#define INPUT_SIZE (128 * 1024)
/* Bytes to unpack before a thread is worth while. */
#define SMALL (1u << 20)

struct byte_source {
    char *name;
    int fd;                      /* -1: from memory */
    const unsigned char *memory; /* the rest of it */
    size_t memory_left;
    _Atomic uint64_t bytes_read;
    unsigned char *input; /* the beginning of the file, later what is being unpacked */
    size_t input_at, input_length;
    struct unpacking *unpacking; /* NULL: the file is not packed */
    bool may_read_ahead;
    uint64_t unpacked;
    struct read_ahead *ahead; /* owns all above except bytes_read */
    bool has_ended;           /* there are no more bytes */
    const char *damage;
};

/* Reads bytes from the file or from memory, without unpacking. */
static int read_raw(
    void *user, void *buffer, size_t capacity, size_t *length, struct gput_error *error)
{
    struct byte_source *source = user;
    if (source->fd < 0) {
        *length = capacity < source->memory_left ? capacity : source->memory_left;
        if (*length > 0)
            memcpy(buffer, source->memory, *length);
        source->memory += *length;
        source->memory_left -= *length;
        return GPUT_OK;
    }
    for (;;) {
        ssize_t got = read(source->fd, buffer, capacity);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_errno(error, errno, "Cannot read %s", source->name);
        *length = (size_t)got;
        atomic_fetch_add_explicit(&source->bytes_read, *length, memory_order_relaxed);
        return GPUT_OK;
    }
}

/* Makes an empty source. */
static int create(const char *name, struct byte_source **source, struct gput_error *error)
{
    *source = calloc(1, sizeof **source);
    if (!*source)
        return error_memory(error);
    (*source)->fd = -1;
    (*source)->name = strdup(name);
    if (!(*source)->name) {
        byte_source_close(*source);
        *source = NULL;
        return error_memory(error);
    }
    return GPUT_OK;
}

/* Reads the beginning of a source and finds out whether it is packed. */
static int start(struct byte_source *source, struct gput_error *error)
{
    struct gput_error why;
    source->input = malloc(INPUT_SIZE);
    if (!source->input)
        return error_memory(error);
    TRY(read_raw(source, source->input, INPUT_SIZE, &source->input_length, error));
    if (!unpacking_is_packed(source->input, source->input_length))
        return GPUT_OK;
    int code = unpacking_create(source->input, source->input_length, INPUT_SIZE, read_raw, source,
        &source->unpacking, &why);
    return code == GPUT_OK
               ? GPUT_OK
               : error_set(error, why.code, "Cannot read %s: %s", source->name, why.message);
}

int byte_source_open(const char *path, struct byte_source **source, struct gput_error *error)
{
    *source = NULL;
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(error, errno, "Cannot open %s", path);
    posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    CLEANUP(byte_source_close_pointer) struct byte_source *made = NULL;
    TRY(create(path, &made, error));
    made->fd = STEAL_FD(fd);
    TRY(start(made, error));
    *source = STEAL(made);
    return GPUT_OK;
}

int byte_source_open_memory(
    const void *bytes, size_t length, struct byte_source **source, struct gput_error *error)
{
    *source = NULL;
    CLEANUP(byte_source_close_pointer) struct byte_source *made = NULL;
    TRY(create("memory", &made, error));
    made->memory = bytes;
    made->memory_left = length;
    TRY(start(made, error));
    *source = STEAL(made);
    return GPUT_OK;
}

/* Unpacks in the thread that reads ahead. */
static int unpack(
    void *user, void *buffer, size_t capacity, size_t *length, struct gput_error *error)
{
    return unpacking_next(user, buffer, capacity, length, error);
}

void byte_source_read_ahead(struct byte_source *source)
{
    source->may_read_ahead = source->unpacking;
}

int byte_source_read(struct byte_source *source, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error)
{
    *length = 0;
    if (source->has_ended || capacity == 0)
        return GPUT_OK;
    if (source->unpacking) {
        /* Return what was unpacked, by this thread or ahead of it. */
        if (source->may_read_ahead && source->unpacked >= SMALL) {
            source->may_read_ahead = false; /* without a thread, this one keeps unpacking */
            read_ahead_start(unpack, source->unpacking, &source->ahead, NULL);
        }
        if (source->ahead)
            TRY(read_ahead_take(source->ahead, buffer, capacity, length, error));
        else
            TRY(unpacking_next(source->unpacking, buffer, capacity, length, error));
        source->unpacked += *length;
        source->has_ended = *length == 0;
        if (source->has_ended)
            source->damage = unpacking_damage(source->unpacking);
        return GPUT_OK;
    }

    size_t kept = source->input_length - source->input_at;
    if (kept == 0)
        return read_raw(source, buffer, capacity, length, error);
    *length = kept < capacity ? kept : capacity;
    memcpy(buffer, source->input + source->input_at, *length);
    source->input_at += *length;
    return GPUT_OK;
}

int byte_source_move(struct byte_source *source, uint64_t place, struct gput_error *error)
{
    source->input_at = source->input_length;
    if (lseek(source->fd, (off_t)place, SEEK_SET) < 0)
        return error_set_errno(error, errno, "Cannot read %s", source->name);
    return GPUT_OK;
}

const char *byte_source_damage(const struct byte_source *source)
{
    return source->damage;
}

uint64_t byte_source_bytes_read(const struct byte_source *source)
{
    return atomic_load_explicit(&source->bytes_read, memory_order_relaxed);
}

int byte_source_plain_fd(const struct byte_source *source)
{
    return source->unpacking ? -1 : source->fd;
}

void byte_source_close(struct byte_source *source)
{
    if (!source)
        return;

    /* Stop the thread that reads ahead, once its current call has returned. */
    struct read_ahead *ahead = source->ahead;
    if (ahead) {
        pthread_mutex_lock(&ahead->lock);
        ahead->stops = true;
        pthread_cond_signal(&ahead->moved);
        pthread_mutex_unlock(&ahead->lock);
        pthread_join(ahead->thread, NULL);
        pthread_cond_destroy(&ahead->moved);
        pthread_mutex_destroy(&ahead->lock);
        free(ahead);
    }

    unpacking_destroy(source->unpacking);
    if (source->fd >= 0)
        close(source->fd);
    free(source->input);
    free(source->name);
    free(source);
}
