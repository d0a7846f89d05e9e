#include "analysis/blocks/blocks_state.h"

#include "analysis/blocks/block_figures.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/sized.h"
#include "files/marks/block_path.h"
#include "files/marks/sub_tracking_columns.h"
#include "machine/rank/rank.h"

#include <gputracker/blocks.h>

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Maximum number of paths that a child tries for its file. */
#define MAX_PATHS 100

/* ---- The owner ---- */

/* A thread of the process is starting its part of the log. (0: the kernel wiped the page.) */
#define CHANGING (-1)

bool block_owner_open(struct block_owner *owner)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    owner->process = page;
    owner->wipes = madvise(page, bytes, MADV_WIPEONFORK) == 0;
    return true;
}

void block_owner_close(struct block_owner *owner)
{
    if (owner->process)
        munmap((void *)owner->process, (size_t)sysconf(_SC_PAGESIZE));
    owner->process = NULL;
}

/*
 * Returns true to the one thread of the process that is to start its part and to call
 * block_owner_set(); other threads wait until it did. Returns false when the process is the owner.
 */
static bool block_owner_claim(struct block_owner *owner)
{
    while (!block_owner_is_this(owner)) {
        pid_t seen = atomic_load(owner->process);
        if (seen == CHANGING)
            sched_yield();
        else if (atomic_compare_exchange_strong(owner->process, &seen, CHANGING))
            return true;
    }
    return false;
}

void block_owner_set(struct block_owner *owner)
{
    atomic_store_explicit(owner->process, getpid(), memory_order_release);
}

/* ---- Failures ---- */

int blocks_mark_lost(struct gput_blocks *blocks, const struct gput_error *reason)
{
    pthread_mutex_lock(&blocks->lock);
    if (atomic_fetch_add(&blocks->marks_lost, 1) == 0)
        blocks->lost = *reason;
    pthread_mutex_unlock(&blocks->lock);
    if (blocks->writer && blocks->writer->methods->count_lost)
        blocks->writer->methods->count_lost(blocks->writer, 1);
    return reason->code;
}

/* Counts a call that is missing from the file, or lacks its stop; the file has their number. */
void blocks_call_lost(struct gput_blocks *blocks)
{
    if (blocks->writer)
        sub_tracking_writer_lose_call(blocks->writer);
}

/* Writes the waiting stops in order, as long as there is space. */
void blocks_write_waiting_stops(struct gput_blocks *blocks, struct block_writer_thread *thread)
{
    struct block_losses *losses = &thread->losses;
    size_t kept = 0;
    for (; kept < losses->n_waiting; kept++) {
        struct block_waiting_stop *stop = &losses->waiting[kept];
        if (blocks->writer->methods->add(
                blocks->writer, &thread->cursor, &stop->name, &stop->row, NULL) != GPUT_OK)
            break;
        /* It was counted as lost before. */
        atomic_fetch_sub(&blocks->marks_lost, 1);
        if (blocks->writer->methods->count_lost)
            blocks->writer->methods->count_lost(blocks->writer, -1);
    }
    block_losses_drop_stops(losses, kept);
}

/* Called before a thread's state is freed. Stops that still wait are lost. */
void blocks_write_last_stops(struct gput_blocks *blocks, struct block_writer_thread *thread)
{
    blocks_write_waiting_stops(blocks, thread);
    for (size_t i = 0; i < thread->losses.n_waiting; i++)
        blocks_call_lost(blocks);
}

/* ---- The state of one process ---- */

/* Returns the path of the file, without what a child adds; the caller frees it. */
static int name_file(
    struct gput_blocks *blocks, const char *pattern, char **path, struct gput_error *error)
{
    struct gput_rank *rank;
    if (blocks->is_named) {
        *path = strdup(pattern);
        return *path ? GPUT_OK : error_memory(error);
    }
    TRY(gput_rank_create(NULL, &rank, error));
    int code = blocks->options.free_name ? rank_path_of_marks(rank, pattern, path, error)
                                         : gput_rank_expand(rank, pattern, path, error);
    gput_rank_destroy(rank);
    return code;
}

/* Opens the file at `path`, or joins the shared file there. Errors: those of
 * sub_tracking_writer_open() and _join(); GPUT_ERROR_INVALID (the extension). */
static int open_at(
    struct gput_blocks *blocks, const char *path, bool joins, struct gput_error *error)
{
    const struct gput_blocks_options *options = &blocks->options;
    struct sub_tracking_live live = {
        .process_id = options->process_id ? options->process_id : getpid(),
        .limit_bytes = options->limit_bytes,
        .overwrite = options->overwrite,
    };
    if (options->thread_ids)
        live.columns |= SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS;
    if (options->exact)
        live.columns |= SUB_TRACKING_COLUMNS_EXACT;
    if (options->exact && options->block_peaks)
        live.columns |= SUB_TRACKING_COLUMN_BLOCK_PEAK;
    if (options->exact && options->counters)
        live.columns |= SUB_TRACKING_COLUMNS_COUNTERS;
    if (options->exact && options->gpu_time)
        live.columns |= SUB_TRACKING_COLUMN_GPU;
    TRY(sub_tracking_writer_methods_find(path, &live.methods, error));
    return joins ? sub_tracking_writer_join(path, &live, &blocks->writer, error)
                 : sub_tracking_writer_open(path, &live, &blocks->writer, error);
}

/* Opens the first process's file. With the option `free_name`, `*path` may become the next free
 * name. */
static int open_first(struct gput_blocks *blocks, char **path, struct gput_error *error)
{
    int code = open_at(blocks, *path, false, error);
    for (unsigned tries = 1;
         blocks->options.free_name && code == GPUT_ERROR_EXISTS && tries < MAX_PATHS; tries++) {
        char *free_path;
        TRY(gput_rank_free_path(*path, &free_path, error));
        code = open_at(blocks, free_path, false, error);
        if (code == GPUT_OK) {
            blocks->is_renamed = true;
            free(*path);
            *path = free_path;
        } else {
            free(free_path);
        }
    }
    return code;
}

/* Opens the file of a child. It tries further names, as the process id may have been used
 * before. */
static int open_child(struct gput_blocks *blocks, const char *path, struct gput_error *error)
{
    int code = GPUT_ERROR_EXISTS;
    for (unsigned number = 0; code == GPUT_ERROR_EXISTS && number < MAX_PATHS; number++) {
        char *own = number > 0 || !blocks->has_process_id
                        ? block_path_with_process_id(path, getpid(), number)
                        : strdup(path);
        code = own ? open_at(blocks, own, false, error) : error_memory(error);
        free(own);
    }
    return code;
}

/* Opens the file of this process, and the sources of its exact figures. */
static int open_writer(
    struct gput_blocks *blocks, enum beginning beginning, struct gput_error *error)
{
    char *path = NULL;
    int code = GPUT_ERROR_EXISTS;
    TRY(name_file(blocks, beginning == BEGINS ? blocks->path : blocks->absolute, &path, error));
    if (beginning == JOINS && !blocks->has_process_id)
        code = open_at(blocks, path, true, NULL);
    if (code != GPUT_OK)
        code = beginning == BEGINS ? open_first(blocks, &path, error)
                                   : open_child(blocks, path, error);
    /* If the pattern has no process id, children derive their names from this one. */
    char *absolute = code == GPUT_OK && !blocks->is_named && !blocks->has_process_id
                         ? block_path_absolute(path)
                         : NULL;
    if (absolute) {
        free(blocks->absolute);
        blocks->absolute = absolute;
        blocks->is_named = true;
    }

    /* Exact figures that cannot be read are unknown in each mark. */
    const struct gput_blocks_options *options = &blocks->options;
    struct block_figures *figures = &blocks->figures;
    const char *procfs_root = options->procfs_root ? options->procfs_root : "/proc";
    const char *sysfs_root = options->sysfs_root ? options->sysfs_root : "/sys";
    if (code == GPUT_OK && options->exact) {
        block_figures_open_peak(figures);
        if (options->energy)
            block_figures_open_energy(figures, sysfs_root);
        if (options->gpu_time)
            own_gpu_time_open(procfs_root, sysfs_root, &figures->gpu_time, NULL);
        if (options->block_peaks)
            block_figures_open_block_peaks(figures, NULL);
        figures->has_counters = options->counters;
    }
    free(path);
    return code;
}

/* Starts a log for this process. */
int blocks_begin_process(
    struct gput_blocks *blocks, enum beginning beginning, struct gput_error *error)
{
    blocks->writer = NULL;
    blocks->threads = NULL;
    atomic_store(&blocks->n_published, 0);
    atomic_store(&blocks->marks_lost, 0);
    pthread_mutex_init(&blocks->lock, NULL);
    blocks->names = sub_tracking_names_create();
    if (!blocks->names)
        return error_memory(error);
    return open_writer(blocks, beginning, error);
}

/*
 * Ensures that the log is started for this process. A child joins the parent's file if that is
 * shared, else opens its own. The parent's other threads do not exist in the child, so memory that
 * they may have been changing is not used.
 */
void blocks_make_own(struct gput_blocks *blocks)
{
    if (!block_owner_claim(&blocks->owner))
        return;
    bool joins = blocks->writer && blocks->writer->shared;
    if (blocks->writer && !sub_tracking_writer_forget(blocks->writer))
        blocks->parents_writer = blocks->writer;
    block_figures_close(&blocks->figures);
    memset(&blocks->figures, 0, sizeof blocks->figures);
    blocks->parents_threads = blocks->threads;
    sub_tracking_names_destroy(blocks->names);
    blocks->generation++;
    blocks->lost = (struct gput_error){0};
    blocks_begin_process(blocks, joins ? JOINS : BEGINS_CHILD, &blocks->lost);
    block_owner_set(&blocks->owner);
}

/* ---- Threads ---- */

void blocks_release_thread(struct gput_blocks *blocks, struct block_writer_thread *thread)
{
    struct sub_tracking_writer *writer = blocks ? blocks->writer : NULL;
    if (writer && writer->methods->leave)
        writer->methods->leave(writer, &thread->cursor);
    block_figures_end_thread(writer ? &blocks->figures : NULL, &thread->figures);
    block_log_free_cursor(&thread->cursor);
    thread->plain_log = NULL;
    block_losses_finish(&thread->losses);
}

void blocks_place_row(const struct gput_blocks *blocks, const struct block_writer_thread *thread,
    enum sub_tracking_position position, int64_t time_ns, struct sub_tracking_mark *row)
{
    row->process_id = blocks->writer->process_id;
    row->thread_id = thread->thread_id;
    row->position = (uint8_t)position;
    row->started_ns = thread->started_ns != 0 ? thread->started_ns : SUB_TRACKING_UNKNOWN;
    row->timestamp_ns = time_ns;
    row->timestamp = sub_tracking_seconds_of_ns(time_ns);
}

/* Called when a thread ends. */
void blocks_leave_thread(void *pointer)
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
    if (joined && blocks->writer)
        blocks_write_last_stops(blocks, &thread->writer);
    blocks_release_thread(joined ? blocks : NULL, &thread->writer);
    block_thread_destroy(thread);
}

/* Adds a thread to the threads of this log. */
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

/* Finds or makes the thread's state: at its first mark, or its first one after a fork. Returns NULL
 * without memory. */
struct block_thread *blocks_find_thread(struct gput_blocks *blocks)
{
    blocks_make_own(blocks);
    struct block_thread *thread = pthread_getspecific(blocks->key);
    if (!thread) {
        thread = block_thread_create();
        if (!thread || pthread_setspecific(blocks->key, thread) != 0) {
            free(thread);
            return NULL;
        }
        if (blocks->options.process_id)
            thread->writer.thread_id = blocks->options.process_id;
        join(blocks, thread);
    } else if (thread->generation != blocks->generation) {
        blocks_release_thread(NULL, &thread->writer);
        block_thread_inherit(thread);
        join(blocks, thread);
    }
    return thread;
}

/* ---- Names ---- */

/* Adds all names up to that number to the file, in order. */
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
        if (blocks->writer->methods->add_name)
            code = blocks->writer->methods->add_name(blocks->writer, &name, error);
        if (code == GPUT_OK)
            atomic_store_explicit(&blocks->n_published, next + 1, memory_order_release);
    }
    pthread_mutex_unlock(&blocks->lock);
    return code;
}

int blocks_find_name(struct gput_blocks *blocks, struct block_thread *thread, const char *given,
    struct block_name *name, struct gput_error *error)
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

int blocks_no_thread(struct gput_blocks *blocks, bool is_start)
{
    struct gput_error reason;
    error_memory(&reason);
    if (is_start)
        blocks_call_lost(blocks);
    return blocks_mark_lost(blocks, &reason);
}

/* Returns the error of opening the file, for each mark. */
int blocks_no_writer(struct gput_blocks *blocks)
{
    atomic_fetch_add(&blocks->marks_lost, 1);
    return blocks->lost.code;
}

/* ---- Options ---- */

static const struct gput_blocks_options default_options = {
    .size = sizeof default_options, .limit_bytes = UINT64_C(1) << 30};

void gput_blocks_options_init(struct gput_blocks_options *options, size_t size)
{
    sized_init(options, size, &default_options, sizeof default_options);
}

static const struct gput_blocks_status no_status = {.size = sizeof no_status};

void gput_blocks_status_init(struct gput_blocks_status *status, size_t size)
{
    sized_init(status, size, &no_status, sizeof no_status);
}

/* Sets the option that a word of a list stands for. Returns false if there is no such word. */
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
