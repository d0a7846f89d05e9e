#include "files/trace/read_ahead.h"

#include "base/thread.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 4
#define BLOCK_SIZE (256u << 10)

struct block {
    size_t length; /* 0: the end, or what the error of the reader says */
    char bytes[BLOCK_SIZE];
};

struct read_ahead {
    read_ahead_read *read;
    void *user;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the counts, `code`, `error` and `stops` */
    pthread_cond_t moved;
    uint64_t filled, emptied; /* how many blocks were ever */
    bool stops;
    int code; /* of the block that is filled last */
    struct gput_error error;
    size_t taken; /* of the block that is being emptied; the taker's alone */
    struct block blocks[BLOCKS];
};

/* Waits for a block that can be filled; NULL: it is over. */
static struct block *wait_for_space(struct read_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    while (ahead->filled - ahead->emptied == BLOCKS && !ahead->stops)
        pthread_cond_wait(&ahead->moved, &ahead->lock);
    struct block *block = ahead->stops ? NULL : ahead->blocks + ahead->filled % BLOCKS;
    pthread_mutex_unlock(&ahead->lock);
    return block;
}

/* Fills block after block in the thread. What reads may give less at a time than a block takes. */
static void *read_on(void *user)
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

int read_ahead_start(
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
    int failure = thread_start(&made->thread, THREAD_STACK_BYTES, read_on, made);
    if (failure) {
        free(made);
        return error_set_errno(error, failure, "Cannot start a thread to read");
    }
    *ahead = made;
    return GPUT_OK;
}

int read_ahead_take(struct read_ahead *ahead, void *buffer, size_t capacity, size_t *length,
    struct gput_error *error)
{
    *length = 0;
    pthread_mutex_lock(&ahead->lock);
    while (ahead->filled == ahead->emptied)
        pthread_cond_wait(&ahead->moved, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);

    struct block *block = ahead->blocks + ahead->emptied % BLOCKS;
    size_t left = block->length - ahead->taken;
    if (left == 0) { /* the last block stays, so that it is the end, or the error, forever */
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

void read_ahead_stop(struct read_ahead *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->lock);
    ahead->stops = true;
    pthread_cond_signal(&ahead->moved);
    pthread_mutex_unlock(&ahead->lock);
    pthread_join(ahead->thread, NULL);
    pthread_cond_destroy(&ahead->moved);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}
