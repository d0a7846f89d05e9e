#include "phase_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Size of the hash table: a power of two, above the number of names. */
#define SLOTS 32768

int phase_log_open(struct phase_log *log, const char *path, pid_t pid, struct gput_error *error)
{
    struct gput_blocks_options options = gput_blocks_options_default();
    options.process_id = pid;
    log->hashes = calloc(SLOTS, sizeof *log->hashes);
    return gput_blocks_open(path, &options, &log->blocks, error);
}

/* Returns the FNV-1a hash of a name, never 0. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

/* Whether a name is known or can be added, which it is then. */
static bool has_space(struct phase_log *log, const char *name)
{
    uint64_t hash = hash_of(name);
    size_t slot = hash & (SLOTS - 1);
    if (!log->hashes)
        return false;
    while (log->hashes[slot] && log->hashes[slot] != hash)
        slot = (slot + 1) & (SLOTS - 1);
    if (log->hashes[slot] == hash)
        return true;
    if (log->n_names == PHASE_LOG_NAMES)
        return false;
    log->hashes[slot] = hash;
    log->n_names++;
    return true;
}

/* Ends the current phase, if there is one. */
static void end_phase(struct phase_log *log)
{
    if (log->current[0])
        gput_blocks_stop_call(log->blocks, log->current, &log->call);
    log->current[0] = '\0';
}

void phase_log_begin(struct phase_log *log, const char *name, bool is_redrawn)
{
    char block[sizeof log->current];
    pthread_mutex_lock(&log->lock);
    bool is_known = log->blocks && has_space(log, name);
    snprintf(block, sizeof block, "token:%s", is_known ? name : "(other names)");
    if (log->blocks && !(is_redrawn && strcmp(block, log->current) == 0)) {
        end_phase(log);
        memcpy(log->current, block, sizeof block);
        gput_blocks_start_call(log->blocks, log->current, &log->call);
        log->n_phases++;
    }
    pthread_mutex_unlock(&log->lock);
}

void phase_log_close(struct phase_log *log)
{
    pthread_mutex_lock(&log->lock);
    struct gput_blocks *blocks = log->blocks;
    if (blocks)
        end_phase(log);
    log->blocks = NULL;
    free(log->hashes);
    log->hashes = NULL;
    pthread_mutex_unlock(&log->lock);
    gput_blocks_close(blocks, NULL);
}
