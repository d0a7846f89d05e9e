/*
 * Code blocks: named pieces of a program. Marks at their starts and stops are written to a
 * sub-tracking file; from it and the tracking file of the same run `gpu-tracker sub-track analyze`
 * computes what each block used.
 *
 *     GPUT_BLOCK("load") {
 *         load();
 *     }
 *
 *     gput_default_blocks_start("train");
 *     train();
 *     gput_default_blocks_stop();
 *
 * The first mark opens the file that the environment variable GPUT_BLOCKS_FILE names, or
 * `<pid>.csv`. Blocks may nest, a name may be used any number of times, any thread may mark, and
 * after fork() each process writes its own file. Marks survive when the program is killed.
 *
 * Formats, by extension:
 *
 *   .csv         readable by pandas and others; one write(2) a mark, a few microseconds a block
 *   .sqlite      table `data`; some tens of microseconds a block
 *   .gputblocks  a log of fixed-size records; under 100 ns a block, no system call, no lock
 *
 * A log takes 16 bytes a block (exact: 112; with peaks or counters 176, with GPU time 192), up to
 * `limit_bytes`. `gpu-tracker sub-track combine
 * --mix` converts it.
 *
 * The time of a mark is read as close to the block as possible: the cost of marking is outside of
 * the block, except reading the clock.
 *
 * Not to be called from signal handlers.
 */
#ifndef GPUTRACKER_BLOCKS_H
#define GPUTRACKER_BLOCKS_H

#include <gputracker/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which end of a block a mark is. The values are those of the column "position". */
enum gput_block_position {
    GPUT_BLOCK_START = 0, /**< the block starts */
    GPUT_BLOCK_STOP = 1,  /**< the block stops */
};

/** Options of a log. Sized: see gputracker/sized.h. */
struct gput_blocks_options {
    size_t size; /**< set by gput_blocks_options_default() */
    /** Replace an existing file. Default: that is an error. */
    bool overwrite;
    /** Record the kernel's counters at each mark: CPU time of thread and process, page faults, peak
     * RSS; costs about 2 us more a block. Default: no. */
    bool exact;
    /** With `exact`: also the energy counters of the CPU packages, where they can be read; costs
     * some microseconds more. Default: no. */
    bool energy;
    /** Append to a .csv or .sqlite file that another process created and shared
     * (gput_blocks_share()). Without one, and for a log, the process id is put before the
     * extension, as after a fork. Default: no. */
    bool join;
    /** .csv and .sqlite: have the columns thread_id and started_ns from the start. Default: they
     * are added when a second thread marks, or a block starts while it runs, so that concurrent
     * calls of one block can be distinguished. (A log always has them.) */
    bool thread_ids;
    /** .gputblocks: the maximum size of the file; further marks are lost. Default: 1 GiB (67
     * million calls). */
    uint64_t limit_bytes;
    /** Where /sys is; NULL: /sys. */
    const char *sysfs_root;
    /** PID to which the marks belong, with its first thread, when the caller marks for another
     * process. Not together with `exact`. 0: the calling process. */
    int64_t process_id;
    /** With `exact`: also the peak of RSS within each call, by all threads of the process. Each
     * mark reads the kernel's peak (VmHWM) and resets it (/proc/self/clear_refs). Other programs
     * then read a lower peak of the process. The marks, and all that is computed from them, have
     * the true one. Costs about 20 us more a block. Default: no. */
    bool block_peaks;
    /** With `exact`: also instructions, cycles and cache misses of the thread in user space
     * (perf_event_open(2)). For the first 64 threads. Costs 2 us more a block, and three
     * descriptors a thread. Default: no. */
    bool counters;
    /** With `exact`: also the time for which engines of GPUs were busy with the process, as the
     * drivers of its open cards count it (fdinfo): amdgpu, i915, xe and others, not NVIDIA's.
     * amdgpu does not count ROCm's queues. Costs some microseconds more a block, and a descriptor a
     * card. Default: no. */
    bool gpu_time;
    /** Where /proc is; NULL: /proc. */
    const char *procfs_root;
    /** Complete the name. In a parallel job, insert the rank as gput_rank_path() does. Where the
     * file exists, take the next free name as gput_rank_free_path() finds it;
     * gput_blocks_status.is_renamed says so. Default: no, an existing file is an error. */
    bool free_name;
};

/** Sets the defaults in a struct of that size; for gput_blocks_options_default(). */
GPUT_API void gput_blocks_options_init(struct gput_blocks_options *options, size_t size);

/** The defaults above. */
static inline struct gput_blocks_options gput_blocks_options_default(void)
{
    struct gput_blocks_options options;
    gput_blocks_options_init(&options, sizeof options);
    return options;
}

/** Sets the exact figures named by a list, as in GPUT_BLOCK_EXACT: "1" options.exact and
 * options.energy; "peak", "counters" and "gpu" also these. NULL, "" and "0": none of them. Errors:
 * GPUT_ERROR_INVALID (an unknown word, which is ignored). */
GPUT_API int gput_blocks_options_read_exact(
    struct gput_blocks_options *options, const char *list, struct gput_error *error);

/** Checks that the figures that these options add to `exact` can be read on this machine; a log
 * lacks them otherwise. Errors name the missing ones and the reason: GPUT_ERROR_PERMISSION (rights,
 * or kernel.perf_event_paranoid), GPUT_ERROR_NOT_FOUND (the machine has none), GPUT_ERROR_STATE (in
 * use by others), GPUT_ERROR_IO, GPUT_ERROR_MEMORY. */
GPUT_API int gput_blocks_check(const struct gput_blocks_options *options, struct gput_error *error);

/* ---- The default log of the process ---- */

/* It is the one state that belongs to the process, so that a block can be marked anywhere in a
 * program without passing a log. Explicit logs are below. */

/**
 * Opens the default log before the first mark; only needed for another file or other options than
 * those of the environment:
 *
 *   GPUT_BLOCKS_FILE       the path, with the placeholders of gput_rank_path(): `%p` stands for the
 *                          process id. Empty: marks do nothing.
 *   GPUT_BLOCKS_OVERWRITE  1: options.overwrite
 *   GPUT_BLOCK_EXACT       see gput_blocks_options_read_exact()
 *
 * `path` NULL: GPUT_BLOCKS_FILE, else `%p.csv`, with options.free_name; in a parallel job it has
 * the rank: `4711.r0.csv`. `options` NULL: those of the environment. Errors: as gput_blocks_open();
 * GPUT_ERROR_STATE when it is open already.
 */
GPUT_API int gput_default_blocks_open(
    const char *path, const struct gput_blocks_options *options, struct gput_error *error);

/** Completes and closes the default log. Not needed at the end of a program. No other thread may be
 * marking, or be ending after having marked. GPUT_OK when it was never opened. */
GPUT_API int gput_default_blocks_close(struct gput_error *error);

/**
 * Starts a block in the calling thread. The name is copied.
 *
 * Returns GPUT_OK or the reason why the mark was lost; programs may ignore it. Each start needs one
 * stop, also when the start failed. Errors: those of opening (at each call, if the file could not
 * be opened), GPUT_ERROR_INVALID (a name of more than 65,000 bytes), GPUT_ERROR_IO,
 * GPUT_ERROR_STATE (limit_bytes), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_default_blocks_start(const char *name);

/** Stops the block that the calling thread started last. GPUT_ERROR_STATE when there is none. */
GPUT_API int gput_default_blocks_stop(void);

/* ---- Explicit logs ---- */

/** A log of marks. It belongs to the caller; any number of threads may use it. */
struct gput_blocks;

/**
 * Opens a log at `path`, in which `%p` stands for the process id, and `%h`, `%r`, `%%` and so on
 * for what gput_rank_expand() says. After a fork the child writes to the same path with its own id,
 * or, when there is no `%p`, with its id before the extension: marks.csv, marks-4711.csv.
 *
 * Errors: GPUT_ERROR_INVALID (`Invalid file name: …`), GPUT_ERROR_EXISTS (`File x already exists.`;
 * see gput_blocks_options.overwrite), GPUT_ERROR_NOT_FOUND,
 * GPUT_ERROR_PERMISSION, GPUT_ERROR_IO, GPUT_ERROR_MEMORY. `*blocks` is NULL then.
 */
GPUT_API int gput_blocks_open(const char *path, const struct gput_blocks_options *options,
    struct gput_blocks **blocks, struct gput_error *error);

/** Completes the file and frees the log (NULL is fine). No other thread may use it, or be ending
 * after having used it. */
GPUT_API int gput_blocks_close(struct gput_blocks *blocks, struct gput_error *error);

/**
 * Lets other processes append to a .csv or .sqlite file. A child forked before the next mark (.csv:
 * any later child) writes to it instead of its own file. Any process can open it with
 * options.join. The file gets the columns of `thread_ids` now, which could not be added later. No
 * thread may mark or fork meanwhile. No effect on a .gputblocks log, of which each process has its
 * own.
 */
GPUT_API void gput_blocks_share(struct gput_blocks *blocks);

/** As gput_default_blocks_start() and gput_default_blocks_stop(), in that log. */
GPUT_API int gput_blocks_start(struct gput_blocks *blocks, const char *name);
GPUT_API int gput_blocks_stop(struct gput_blocks *blocks);

/** A single mark, for blocks that do not nest or that stop in another thread than they started.
 * Returns and errors: as gput_default_blocks_start(). */
GPUT_API int gput_blocks_mark(
    struct gput_blocks *blocks, const char *name, enum gput_block_position position);

/** A started call, to be passed to its stop. All zero: unknown. Final. */
struct gput_block_call {
    int64_t started_ns; /**< start time by the log's clock */
    uint64_t process;
};

/**
 * A start and a stop with an explicit call: calls of one block may overlap within a thread, as
 * those of tasks and coroutines do, and stop in another thread. Stopping a call of a parent process
 * writes no mark. `call` belongs to the caller. Returns and errors: as gput_default_blocks_start().
 */
GPUT_API int gput_blocks_start_call(
    struct gput_blocks *blocks, const char *name, struct gput_block_call *call);
GPUT_API int gput_blocks_stop_call(
    struct gput_blocks *blocks, const char *name, const struct gput_block_call *call);

/** Status of a log: its file and its lost marks. Sized: see gputracker/sized.h. */
struct gput_blocks_status {
    size_t size;     /**< set by gput_blocks_status_default() */
    char path[4096]; /**< the file of this process */
    /** Marks that could not be written. A call is in the file completely or not at all. If its
     * start is lost, so is its stop. A stop that could not be written is written when there is
     * space again. */
    uint64_t marks_lost;
    struct gput_error lost; /**< reason of the first loss; GPUT_OK: none */
    bool is_renamed; /**< the name existed; `path` is the next free one (options.free_name) */
};

/** Clears a struct of that size; for gput_blocks_status_default(). */
GPUT_API void gput_blocks_status_init(struct gput_blocks_status *status, size_t size);

/** An empty status. */
static inline struct gput_blocks_status gput_blocks_status_default(void)
{
    struct gput_blocks_status status;
    gput_blocks_status_init(&status, sizeof status);
    return status;
}

/** Reads the status of a log. */
GPUT_API void gput_blocks_read_status(
    struct gput_blocks *blocks, struct gput_blocks_status *status);

/** The same for the default log: all zero before the first mark. Only `lost` is set, without a
 * path, when it could not be opened. */
GPUT_API void gput_default_blocks_read_status(struct gput_blocks_status *status);

/* ---- Scopes ---- */

/**
 * A block that ends with its scope, also by break, return, goto, or an exception in C++. Created
 * by the macros below. Final.
 */
struct gput_block_scope {
    int running;
};

static inline struct gput_block_scope gput_block_scope_start(const char *name)
{
    struct gput_block_scope scope;
    scope.running = 1;
    gput_default_blocks_start(name);
    return scope;
}

static inline void gput_block_scope_stop(struct gput_block_scope *scope)
{
    (void)scope;
    gput_default_blocks_stop();
}

#define GPUT_BLOCK_TEXT_(token) #token
#define GPUT_BLOCK_TEXT(token) GPUT_BLOCK_TEXT_(token)
#define GPUT_BLOCK_JOIN_(first, second) first##second
#define GPUT_BLOCK_JOIN(first, second) GPUT_BLOCK_JOIN_(first, second)
#define GPUT_BLOCK_VARIABLE GPUT_BLOCK_JOIN(gput_block_scope_, __LINE__)

/** `GPUT_BLOCK("name") { … }` marks the statement that follows. A `break` or `continue` leaves it.
 */
#define GPUT_BLOCK(name)                                                                           \
    for (struct gput_block_scope GPUT_BLOCK_VARIABLE                                               \
         __attribute__((cleanup(gput_block_scope_stop))) = gput_block_scope_start(name);           \
         GPUT_BLOCK_VARIABLE.running; GPUT_BLOCK_VARIABLE.running = 0)

/** The same with the name `file:line`. */
#define GPUT_BLOCK_HERE() GPUT_BLOCK(__FILE__ ":" GPUT_BLOCK_TEXT(__LINE__))

/** `GPUT_BLOCK_SCOPE("name");` marks the rest of its scope. */
#define GPUT_BLOCK_SCOPE(name)                                                                     \
    struct gput_block_scope GPUT_BLOCK_VARIABLE                                                    \
        __attribute__((cleanup(gput_block_scope_stop), unused)) = gput_block_scope_start(name)

#ifdef __cplusplus
}
#endif

#endif
