#include "base/error.h"
#include "base/sized.h"
#include "blocks/block_owner.h"
#include "blocks/block_path.h"
#include "blocks/block_sink.h"
#include "blocks/block_thread.h"
#include "formats/marks/sub_tracking_names.h"

#include <gputracker/blocks.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most paths that a child tries for its file. */
#define MAX_PATHS 100

struct gput_blocks {
    struct block_owner owner; /* the process that this log writes for */

    char *path;     /* as given, with `%p` */
    char *absolute; /* absolute: a child may have another working directory */
    struct gput_blocks_options options;
    char *sysfs_root;  /* owned copy */
    pthread_key_t key; /* each thread's struct block_thread */

    /* In a child: memory of its parent that must not be freed here. Referenced, so that leak
     * checkers do not report it. */
    struct block_sink *parents_sink;
    struct block_thread *parents_threads;

    /* State of the owner; a child starts with new state. */
    uint64_t generation;
    struct block_sink *sink; /* NULL when it could not be opened: see `lost` */
    struct sub_tracking_names *names;
    _Atomic uint32_t n_published; /* names that were added to the sink */
    pthread_mutex_t lock;         /* of the members below, and of publishing names */
    struct block_thread *threads;
    _Atomic uint64_t marks_lost;
    struct gput_error lost; /* the first error */
};

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

/* ---- Failures ---- */

static int mark_lost(struct gput_blocks *blocks, const struct gput_error *reason)
{
    pthread_mutex_lock(&blocks->lock);
    if (atomic_fetch_add(&blocks->marks_lost, 1) == 0)
        blocks->lost = *reason;
    pthread_mutex_unlock(&blocks->lock);
    if (blocks->sink && blocks->sink->methods->count_lost)
        blocks->sink->methods->count_lost(blocks->sink, 1);
    return reason->code;
}

/* A call will not be in the file, or without its stop; the file says how many there are. */
static void call_lost(struct gput_blocks *blocks)
{
    if (blocks->sink)
        blocks->sink->methods->lose_call(blocks->sink);
}

/* A mark that was counted as lost was written later. */
static void mark_recovered(struct gput_blocks *blocks)
{
    atomic_fetch_sub(&blocks->marks_lost, 1);
    if (blocks->sink->methods->count_lost)
        blocks->sink->methods->count_lost(blocks->sink, -1);
}

/* Writes the waiting stops in their order, as long as there is space. */
static void write_waiting_stops(struct gput_blocks *blocks, struct block_sink_thread *thread)
{
    struct block_losses *losses = &thread->losses;
    size_t kept = 0;
    for (; kept < losses->n_waiting; kept++) {
        struct block_waiting_stop *stop = &losses->waiting[kept];
        if (blocks->sink->methods->keep(blocks->sink, thread, &stop->name, &stop->row, NULL))
            break;
        mark_recovered(blocks);
    }
    block_losses_drop_stops(losses, kept);
}

/* Before a thread's state is freed: what still waits is lost. */
static void write_last_stops(struct gput_blocks *blocks, struct block_sink_thread *thread)
{
    write_waiting_stops(blocks, thread);
    for (size_t i = 0; i < thread->losses.n_waiting; i++)
        call_lost(blocks);
}

/* ---- The state of one process ---- */

/* How a process gets its file. */
enum beginning {
    BEGINS,       /* creates it at the path */
    BEGINS_CHILD, /* creates it with its process id in the name */
    JOINS,        /* joins the shared one at the path, else as BEGINS_CHILD */
};

/* Tries the path, and for a child further ones: its process id may have been used before. */
static int open_sink(struct gput_blocks *blocks, enum beginning beginning, struct gput_error *error)
{
    bool child = beginning != BEGINS;
    bool has_process_id = block_path_has_process_id(blocks->path);
    const char *pattern = child ? blocks->absolute : blocks->path;
    int code = GPUT_ERROR_EXISTS;
    if (beginning == JOINS && !has_process_id &&
        block_sink_join(blocks->absolute, &blocks->options, &blocks->sink, NULL) == GPUT_OK)
        return GPUT_OK;
    for (unsigned number = 0; code == GPUT_ERROR_EXISTS && number < MAX_PATHS; number++) {
        char *path = block_path_expand(pattern, getpid());
        if (path && child && (number > 0 || !has_process_id)) {
            char *own = block_path_with_process_id(path, getpid(), number);
            free(path);
            path = own;
        }
        code = path ? block_sink_open(path, &blocks->options, &blocks->sink, error)
                    : error_memory(error);
        free(path);
        if (!child)
            break;
    }
    return code;
}

/* Starts a log for this process. */
static int begin_process(
    struct gput_blocks *blocks, enum beginning beginning, struct gput_error *error)
{
    blocks->sink = NULL;
    blocks->threads = NULL;
    atomic_store(&blocks->n_published, 0);
    atomic_store(&blocks->marks_lost, 0);
    pthread_mutex_init(&blocks->lock, NULL);
    blocks->names = sub_tracking_names_create();
    if (!blocks->names)
        return error_memory(error);
    return open_sink(blocks, beginning, error);
}

/*
 * In a child: joins the parent's file if that is shared, else opens its own. Other threads of the
 * parent do not exist here; memory that they may have been changing is not used.
 */
static void start_in_child(struct gput_blocks *blocks)
{
    bool joins = blocks->sink && blocks->sink->shared;
    if (blocks->sink && !blocks->sink->methods->forget)
        blocks->parents_sink = blocks->sink;
    else if (blocks->sink)
        block_sink_abandon(blocks->sink);
    blocks->parents_threads = blocks->threads;
    sub_tracking_names_destroy(blocks->names);
    blocks->generation++;
    blocks->lost = (struct gput_error){0};
    begin_process(blocks, joins ? JOINS : BEGINS_CHILD, &blocks->lost);
}

/* Ensures that the log is started for this process. */
static void make_own(struct gput_blocks *blocks)
{
    if (!block_owner_claim(&blocks->owner))
        return;
    start_in_child(blocks);
    block_owner_set(&blocks->owner);
}

/* ---- Threads ---- */

/* Called when a thread ends. */
static void leave(void *pointer)
{
    struct block_thread *thread = pointer;
    struct gput_blocks *blocks = thread->blocks;
    bool joined = block_owner_is_this(&blocks->owner) && thread->generation == blocks->generation;
    if (joined) {
        pthread_mutex_lock(&blocks->lock);
        if (thread->previous)
            thread->previous->next = thread->next;
        else
            blocks->threads = thread->next;
        if (thread->next)
            thread->next->previous = thread->previous;
        pthread_mutex_unlock(&blocks->lock);
    }
    if (joined && blocks->sink)
        write_last_stops(blocks, &thread->sink);
    block_sink_end_thread(joined ? blocks->sink : NULL, &thread->sink);
    block_thread_destroy(thread);
}

static void join(struct gput_blocks *blocks, struct block_thread *thread)
{
    pthread_mutex_lock(&blocks->lock);
    thread->blocks = blocks;
    thread->generation = blocks->generation;
    thread->previous = NULL;
    thread->next = blocks->threads;
    if (thread->next)
        thread->next->previous = thread;
    blocks->threads = thread;
    pthread_mutex_unlock(&blocks->lock);
}

/* The slow path to the thread's state: at its first mark, here or after a fork. NULL without
 * memory. */
static __attribute__((noinline)) struct block_thread *find_thread(struct gput_blocks *blocks)
{
    make_own(blocks);
    struct block_thread *thread = pthread_getspecific(blocks->key);
    if (!thread) {
        thread = block_thread_create();
        if (!thread || pthread_setspecific(blocks->key, thread) != 0) {
            free(thread);
            return NULL;
        }
        join(blocks, thread);
    } else if (thread->generation != blocks->generation) {
        block_sink_end_thread(NULL, &thread->sink);
        block_thread_inherit(thread);
        join(blocks, thread);
    }
    return thread;
}

static inline struct block_thread *this_thread(struct gput_blocks *blocks)
{
    struct block_thread *thread = pthread_getspecific(blocks->key);
    if (thread && block_owner_is_this(&blocks->owner) && thread->generation == blocks->generation)
        return thread;
    return find_thread(blocks);
}

/* ---- Names ---- */

/* Adds all names up to that number to the sink, in their order. */
static int publish(struct gput_blocks *blocks, uint32_t number, struct gput_error *error)
{
    int code = GPUT_OK;
    pthread_mutex_lock(&blocks->lock);
    for (uint32_t next; code == GPUT_OK && (next = atomic_load(&blocks->n_published)) <= number;) {
        struct block_name name = {
            .number = next,
            .length = (uint32_t)sub_tracking_names_length(blocks->names, next),
            .text = sub_tracking_names_text(blocks->names, next),
        };
        if (blocks->sink->methods->add_name)
            code = blocks->sink->methods->add_name(blocks->sink, &name, error);
        if (code == GPUT_OK)
            atomic_store_explicit(&blocks->n_published, next + 1, memory_order_release);
    }
    pthread_mutex_unlock(&blocks->lock);
    return code;
}

static __attribute__((noinline)) int find_name(struct gput_blocks *blocks,
    struct block_thread *thread, const char *given, struct block_name *name,
    struct gput_error *error)
{
    size_t length = given ? strnlen(given, BLOCK_LOG_NAME_MAX + 1) : 0;
    if (!given || length > BLOCK_LOG_NAME_MAX)
        return error_set(error, GPUT_ERROR_INVALID,
            "The name of a code block must be a text of at most %d bytes.", BLOCK_LOG_NAME_MAX);
    name->number = sub_tracking_names_add(blocks->names, given, length);
    if (name->number == SUB_TRACKING_NO_NAME)
        return error_memory(error);
    if (name->number >= atomic_load_explicit(&blocks->n_published, memory_order_acquire))
        TRY(publish(blocks, name->number, error));
    name->length = (uint32_t)length;
    name->text = sub_tracking_names_text(blocks->names, name->number);
    *block_thread_recent(thread, given) = (struct block_recent_name){given, *name};
    return GPUT_OK;
}

static inline int name_of(struct gput_blocks *blocks, struct block_thread *thread,
    const char *given, struct block_name *name, struct gput_error *error)
{
    const struct block_recent_name *recent = block_thread_recent(thread, given);
    if (recent->given == given && given && strcmp(recent->name.text, given) == 0) {
        *name = recent->name;
        return GPUT_OK;
    }
    return find_name(blocks, thread, given, name, error);
}

/* ---- Marks ---- */

static int no_thread(struct gput_blocks *blocks, bool is_start)
{
    struct gput_error reason;
    error_memory(&reason);
    if (is_start)
        call_lost(blocks);
    return mark_lost(blocks, &reason);
}

/* The error of opening, returned by each mark. */
static int no_sink(struct gput_blocks *blocks)
{
    atomic_fetch_add(&blocks->marks_lost, 1);
    return blocks->lost.code;
}

/* How a stop finds its start. */
enum pairing {
    LIKE_BRACKETS, /* the latest one of its name */
    BY_CALL,       /* the given one */
    UNKNOWN_CALL,  /* a given one that could not be written */
};

static int mark_failed(struct gput_blocks *blocks, struct block_sink_thread *thread,
    const struct block_name *name, enum sub_tracking_position position,
    const struct gput_error *reason)
{
    bool waits = position == SUB_TRACKING_STOP && reason->code != GPUT_ERROR_STATE &&
                 block_losses_add_stop(&thread->losses, name, &thread->row);
    if (position == SUB_TRACKING_START)
        block_losses_add_start(&thread->losses, name->number);
    if (!waits)
        call_lost(blocks);
    return mark_lost(blocks, reason);
}

/* Marks after losses: calls are in the file completely or not at all. */
static __attribute__((noinline)) int mark_after_losses(struct gput_blocks *blocks,
    struct block_sink_thread *thread, const struct block_name *name,
    enum sub_tracking_position position, enum pairing pairing)
{
    struct gput_error reason;
    struct block_losses *losses = &thread->losses;
    if (position == SUB_TRACKING_STOP && pairing != BY_CALL &&
        block_losses_remove_start(losses, name->number, pairing == UNKNOWN_CALL)) {
        error_set(&reason, GPUT_ERROR_IO, "The start of this call could not be kept.");
        return mark_lost(blocks, &reason);
    }
    write_waiting_stops(blocks, thread);
    int code = blocks->sink->methods->mark(blocks->sink, thread, name, position, &reason);
    if (code != GPUT_OK)
        return mark_failed(blocks, thread, name, position, &reason);
    if (position == SUB_TRACKING_START && pairing == LIKE_BRACKETS)
        block_losses_count_start(losses, name->number);
    return GPUT_OK;
}

static inline int mark(struct gput_blocks *blocks, struct block_thread *thread,
    const struct block_name *name, enum sub_tracking_position position, enum pairing pairing)
{
    struct gput_error reason;
    struct block_sink_thread *at = &thread->sink;
    if (__builtin_expect(block_losses_any(&at->losses), 0))
        return mark_after_losses(blocks, at, name, position, pairing);
    int code = blocks->sink->methods->mark(blocks->sink, at, name, position, &reason);
    return code == GPUT_OK ? GPUT_OK : mark_failed(blocks, at, name, position, &reason);
}

/* Whether the file has no thread ids yet: the second of two nested calls of a block adds them. */
static inline bool lacks_thread_ids(const struct gput_blocks *blocks)
{
    return !atomic_load_explicit(&blocks->sink->thread_ids_decided, memory_order_relaxed);
}

/* To be called before a single mark is written. */
static void record_mark(
    struct block_thread *thread, const struct block_name *name, enum gput_block_position position)
{
    thread->sink.recurses = position == GPUT_BLOCK_START && block_thread_has_open(thread, name);
    if (position == GPUT_BLOCK_STOP)
        block_thread_note_stop(thread, name);
    else if (!thread->sink.recurses)
        block_thread_record_start(thread, name);
}

int gput_blocks_begin(struct gput_blocks *blocks, const char *given)
{
    struct block_thread *thread = this_thread(blocks);
    if (!thread)
        return no_thread(blocks, true);
    struct block_name name = {0};
    struct gput_error reason;
    int code = blocks->sink ? name_of(blocks, thread, given, &name, &reason) : no_sink(blocks);
    if (blocks->sink && code == GPUT_OK)
        thread->sink.recurses = lacks_thread_ids(blocks) && block_thread_has_open(thread, &name);
    bool is_pushed = block_thread_push(thread, &name);
    if (!blocks->sink)
        return code;
    if (code == GPUT_OK && !is_pushed)
        code = error_memory(&reason);
    if (code != GPUT_OK) {
        call_lost(blocks);
        return mark_lost(blocks, &reason);
    }
    return mark(blocks, thread, &name, SUB_TRACKING_START, LIKE_BRACKETS);
}

int gput_blocks_end(struct gput_blocks *blocks)
{
    struct block_thread *thread = this_thread(blocks);
    const struct block_name *name = NULL;
    switch (thread ? block_thread_pop(thread, &name) : BLOCK_NOTHING_OPEN) {
    case BLOCK_POPPED:
        return mark(blocks, thread, name, SUB_TRACKING_STOP, LIKE_BRACKETS);
    case BLOCK_POPPED_UNMARKED:
        return GPUT_OK;
    default:
        return GPUT_ERROR_STATE;
    }
}

/* The name of a block could not be written. */
static int name_lost(struct gput_blocks *blocks, struct block_thread *thread,
    const struct block_name *name, enum gput_block_position position,
    const struct gput_error *reason)
{
    if (position == GPUT_BLOCK_START && name->number != SUB_TRACKING_NO_NAME)
        block_losses_add_start(&thread->sink.losses, name->number);
    if (position == GPUT_BLOCK_START)
        call_lost(blocks);
    return mark_lost(blocks, reason);
}

static int single_mark(struct gput_blocks *blocks, struct block_thread *thread, const char *given,
    enum gput_block_position position, enum pairing pairing)
{
    if (!blocks->sink)
        return no_sink(blocks);
    struct block_name name = {.number = SUB_TRACKING_NO_NAME};
    struct gput_error reason;
    if (name_of(blocks, thread, given, &name, &reason) != GPUT_OK)
        return name_lost(blocks, thread, &name, position, &reason);
    if (lacks_thread_ids(blocks))
        record_mark(thread, &name, position);
    return mark(blocks, thread, &name, (enum sub_tracking_position)position, pairing);
}

int gput_blocks_mark(
    struct gput_blocks *blocks, const char *given, enum gput_block_position position)
{
    struct block_thread *thread = this_thread(blocks);
    if (!thread)
        return no_thread(blocks, position == GPUT_BLOCK_START);
    if (position != GPUT_BLOCK_START && position != GPUT_BLOCK_STOP)
        return GPUT_ERROR_INVALID;
    return single_mark(blocks, thread, given, position, LIKE_BRACKETS);
}

int gput_blocks_start(struct gput_blocks *blocks, const char *given, struct gput_block_call *call)
{
    *call = (struct gput_block_call){0};
    struct block_thread *thread = this_thread(blocks);
    if (!thread)
        return no_thread(blocks, true);
    int code = single_mark(blocks, thread, given, GPUT_BLOCK_START, BY_CALL);
    if (code == GPUT_OK)
        *call = (struct gput_block_call){thread->sink.marked_ns, blocks->generation + 1};
    return code;
}

/* When the start is the thread's previous mark, pairing is unambiguous without its time. */
int gput_blocks_stop(
    struct gput_blocks *blocks, const char *given, const struct gput_block_call *call)
{
    struct block_thread *thread = this_thread(blocks);
    if (!thread)
        return no_thread(blocks, false);
    if (call->process != 0 && call->process != blocks->generation + 1)
        return GPUT_OK; /* started by the parent process */
    if (call->started_ns != thread->sink.marked_ns)
        thread->sink.started_ns = call->started_ns;
    int code = single_mark(
        blocks, thread, given, GPUT_BLOCK_STOP, call->process == 0 ? UNKNOWN_CALL : BY_CALL);
    thread->sink.started_ns = 0;
    return code;
}

/* ---- Opening and closing ---- */

static void free_blocks(struct gput_blocks *blocks)
{
    block_owner_close(&blocks->owner);
    sub_tracking_names_destroy(blocks->names);
    free(blocks->sysfs_root);
    free(blocks->path);
    free(blocks->absolute);
    free(blocks);
}

static int copy_setup(struct gput_blocks *blocks, const char *path,
    const struct gput_blocks_options *options, struct gput_error *error)
{
    blocks->options = options ? *options : gput_blocks_options_default();
    if (blocks->options.limit_bytes == 0)
        blocks->options.limit_bytes = gput_blocks_options_default().limit_bytes;
    if (blocks->options.sysfs_root) {
        blocks->sysfs_root = strdup(blocks->options.sysfs_root);
        blocks->options.sysfs_root = blocks->sysfs_root;
        if (!blocks->sysfs_root)
            return error_memory(error);
    }
    blocks->path = strdup(path);
    blocks->absolute = block_path_absolute(path);
    if (!blocks->path || !blocks->absolute || !block_owner_open(&blocks->owner))
        return error_memory(error);
    return GPUT_OK;
}

int gput_blocks_open(const char *path, const struct gput_blocks_options *options,
    struct gput_blocks **blocks, struct gput_error *error)
{
    *blocks = NULL;
    struct gput_blocks *created = calloc(1, sizeof *created);
    if (!created)
        return error_memory(error);
    int code = copy_setup(created, path, options, error);
    if (code == GPUT_OK)
        code = begin_process(created, created->options.join ? JOINS : BEGINS, error);
    if (code == GPUT_OK && pthread_key_create(&created->key, leave) != 0) {
        block_sink_close(created->sink, NULL);
        code = error_memory(error);
    }
    if (code != GPUT_OK) {
        free_blocks(created);
        return code;
    }
    block_owner_set(&created->owner);
    *blocks = created;
    return GPUT_OK;
}

int gput_blocks_close(struct gput_blocks *blocks, struct gput_error *error)
{
    if (!blocks)
        return GPUT_OK;
    struct block_thread *mine = pthread_getspecific(blocks->key);
    bool own = block_owner_is_this(&blocks->owner);
    pthread_key_delete(blocks->key);
    if (mine && (!own || mine->generation != blocks->generation)) {
        block_sink_end_thread(NULL, &mine->sink);
        block_thread_destroy(mine);
    }
    while (own && blocks->threads) {
        struct block_thread *thread = blocks->threads;
        blocks->threads = thread->next;
        if (blocks->sink)
            write_last_stops(blocks, &thread->sink);
        block_sink_end_thread(blocks->sink, &thread->sink);
        block_thread_destroy(thread);
    }
    int code = GPUT_OK;
    if (blocks->sink && own)
        code = block_sink_close(blocks->sink, error);
    else if (blocks->sink)
        block_sink_abandon(blocks->sink);
    pthread_mutex_destroy(&blocks->lock);
    free_blocks(blocks);
    return code;
}

void gput_blocks_share(struct gput_blocks *blocks)
{
    make_own(blocks);
    if (blocks->sink && blocks->sink->methods->share)
        blocks->sink->methods->share(blocks->sink);
}

void gput_blocks_read_status(struct gput_blocks *blocks, struct gput_blocks_status *status)
{
    struct gput_blocks_status now = no_status;
    make_own(blocks);
    struct block_thread *thread = pthread_getspecific(blocks->key);
    if (thread && blocks->sink && thread->generation == blocks->generation)
        write_waiting_stops(blocks, &thread->sink);
    pthread_mutex_lock(&blocks->lock);
    now.marks_lost = atomic_load(&blocks->marks_lost);
    now.lost = blocks->lost;
    snprintf(now.path, sizeof now.path, "%s", blocks->sink ? blocks->sink->path : "");
    pthread_mutex_unlock(&blocks->lock);
    sized_write(status, &now, sizeof now);
}
