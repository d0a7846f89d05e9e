/*
 * The default log of the process: see <gputracker/blocks.h>. It is opened as the environment says.
 */
#include "base/error.h"
#include "base/sized.h"

#include <gputracker/blocks.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct {
    _Atomic(struct gput_blocks *) blocks; /* NULL: see `refusal` */
    _Atomic int refusal; /* what marks return without a log; GPUT_OK when switched off or before the
                            first mark */
    _Atomic bool is_decided;   /* true: opened, failed, switched off or closed; marks do not open
                                  it */
    pthread_mutex_t lock;      /* held to change these members */
    struct gput_error failure; /* the error of opening */
} process_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns the value of a variable; NULL: it is not set, or empty. */
static const char *root_of(const char *variable)
{
    const char *value = secure_getenv(variable);
    return value && *value ? value : NULL;
}

/* Opens the log, with the lock held; `path` NULL: as the environment says. */
static int open_default(
    const char *path, const struct gput_blocks_options *options, struct gput_error *error)
{
    process_log.failure = (struct gput_error){0};
    struct gput_blocks_options used = gput_blocks_options_default();
    /* secure_getenv(): a user who starts a setuid program must not choose which file it
     * overwrites. */
    const char *value = secure_getenv("GPUT_BLOCKS_OVERWRITE");
    used.overwrite = value && *value && strcmp(value, "0") != 0;
    used.procfs_root = root_of("GPUT_PROCFS");
    used.sysfs_root = root_of("GPUT_SYSFS");
    gput_blocks_options_read_exact(&used, secure_getenv("GPUT_BLOCK_EXACT"), NULL);
    struct gput_blocks *blocks = NULL;
    int code = options ? sized_read(&used, sizeof used, options, &process_log.failure) : GPUT_OK;
    if (!path) {
        path = secure_getenv("GPUT_BLOCKS_FILE");
        path = path ? path : "%p.csv";
        used.free_name = true;
    }
    if (code == GPUT_OK && *path)
        code = gput_blocks_open(path, &used, &blocks, &process_log.failure);
    if (code != GPUT_OK)
        error_copy(error, &process_log.failure);
    atomic_store(&process_log.refusal, code);
    atomic_store_explicit(&process_log.blocks, blocks, memory_order_release);
    atomic_store(&process_log.is_decided, true);
    return code;
}

int gput_default_blocks_open(
    const char *path, const struct gput_blocks_options *options, struct gput_error *error)
{
    pthread_mutex_lock(&process_log.lock);
    int code =
        atomic_load(&process_log.blocks)
            ? error_set(error, GPUT_ERROR_STATE, "Code blocks are already being written to a file.")
            : open_default(path, options, error);
    pthread_mutex_unlock(&process_log.lock);
    return code;
}

int gput_default_blocks_close(struct gput_error *error)
{
    pthread_mutex_lock(&process_log.lock);
    struct gput_blocks *blocks = atomic_exchange(&process_log.blocks, NULL);
    if (blocks)
        atomic_store(&process_log.refusal, GPUT_ERROR_STATE);
    int code = gput_blocks_close(blocks, error);
    pthread_mutex_unlock(&process_log.lock);
    return code;
}

/* Returns the log, which the first mark opens. NULL: there is none; `*code` is the reason (GPUT_OK:
 * it is switched off). */
static inline struct gput_blocks *default_blocks(int *code)
{
    struct gput_blocks *blocks = atomic_load_explicit(&process_log.blocks, memory_order_acquire);
    if (__builtin_expect(blocks != NULL, 1))
        return blocks;
    if (!atomic_load(&process_log.is_decided)) {
        pthread_mutex_lock(&process_log.lock);
        if (!atomic_load(&process_log.is_decided))
            open_default(NULL, NULL, NULL);
        pthread_mutex_unlock(&process_log.lock);
    }
    *code = atomic_load(&process_log.refusal);
    return atomic_load(&process_log.blocks);
}

int gput_default_blocks_start(const char *name)
{
    int code = GPUT_OK;
    struct gput_blocks *blocks = default_blocks(&code);
    return blocks ? gput_blocks_start(blocks, name) : code;
}

int gput_default_blocks_stop(void)
{
    int code = GPUT_OK;
    struct gput_blocks *blocks = default_blocks(&code);
    return blocks ? gput_blocks_stop(blocks) : code;
}

void gput_default_blocks_read_status(struct gput_blocks_status *status)
{
    struct gput_blocks_status none = gput_blocks_status_default();
    struct gput_blocks *blocks = atomic_load(&process_log.blocks);
    if (blocks) {
        gput_blocks_read_status(blocks, status);
        return;
    }
    pthread_mutex_lock(&process_log.lock);
    none.lost = process_log.failure;
    pthread_mutex_unlock(&process_log.lock);
    sized_write(status, &none, sizeof none);
}
