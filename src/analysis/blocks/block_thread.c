#include "analysis/blocks/block_thread.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct block_thread *block_thread_create(void)
{
    struct block_thread *thread = calloc(1, sizeof *thread);
    if (thread)
        thread->writer.thread_id = (pid_t)syscall(SYS_gettid);
    return thread;
}

void block_thread_destroy(struct block_thread *thread)
{
    free(thread->open);
    free(thread->started);
    free(thread);
}

void block_thread_inherit(struct block_thread *thread)
{
    memset(thread->recent, 0, sizeof thread->recent);
    thread->inherited = thread->depth;
    thread->n_started = 0;
    block_losses_finish(&thread->writer.losses); /* losses of the parent process */
    thread->writer.recurses = false;
    thread->writer.thread_id = (pid_t)syscall(SYS_gettid);
}

bool block_thread_push_growing(struct block_thread *thread, const struct block_name *name)
{
    bool is_pushed = ARRAY_RESERVE(thread->open, thread->depth, thread->capacity);
    if (is_pushed)
        thread->open[thread->depth++] = (struct block_open){*name, 0};
    else
        thread->not_pushed++;
    return is_pushed;
}

enum block_thread_popped block_thread_pop_unusual(struct block_thread *thread)
{
    if (thread->not_pushed > 0) {
        thread->not_pushed--;
        return BLOCK_POPPED_UNMARKED;
    }
    if (thread->depth == 0)
        return BLOCK_NOTHING_OPEN;
    thread->inherited = --thread->depth;
    return BLOCK_POPPED_UNMARKED;
}

/* Finds a block that a single mark started; NULL: none of that name is open. */
static struct block_name *find_started(
    const struct block_thread *thread, const struct block_name *name)
{
    for (size_t i = 0; i < thread->n_started; i++)
        if (thread->started[i].text == name->text)
            return &thread->started[i];
    return NULL;
}

bool block_thread_has_open(const struct block_thread *thread, const struct block_name *name)
{
    for (size_t i = thread->depth; i > thread->inherited; i--)
        if (thread->open[i - 1].name.text == name->text)
            return true;
    return find_started(thread, name) != NULL;
}

/* Without memory the start is not recorded; thread ids may then be added too late for it. */
void block_thread_record_start(struct block_thread *thread, const struct block_name *name)
{
    if (ARRAY_RESERVE(thread->started, thread->n_started, thread->started_capacity))
        thread->started[thread->n_started++] = *name;
}

void block_thread_note_stop(struct block_thread *thread, const struct block_name *name)
{
    struct block_name *found = find_started(thread, name);
    if (found)
        *found = thread->started[--thread->n_started];
}
