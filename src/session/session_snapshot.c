/*
 * Results so far, passed from the sampling thread to other threads. Neither waits for the other:
 * while a snapshot is being copied, the sampler skips and publishes the next one.
 */
#include "session/session_state.h"

#include "base/error.h"

#include <stddef.h>
#include <string.h>

/* GPUs that do not exist are not copied. */
static void copy_results(struct gput_results *to, const struct gput_results *from)
{
    memcpy(to, from, offsetof(struct gput_results, gpus) + from->n_gpus * sizeof from->gpus[0]);
}

void session_snapshot_publish(struct session_snapshot *snapshot, const struct gput_results *results)
{
    if (pthread_mutex_trylock(&snapshot->lock) != 0)
        return;
    copy_results(&snapshot->results, results);
    snapshot->number++;
    pthread_mutex_unlock(&snapshot->lock);
}

uint64_t session_snapshot_get(
    struct session_snapshot *snapshot, uint64_t known, struct gput_results *results)
{
    pthread_mutex_lock(&snapshot->lock);
    uint64_t number = snapshot->number;
    if (number > 0 && number != known)
        copy_results(results, &snapshot->results);
    pthread_mutex_unlock(&snapshot->lock);
    return number;
}

int gput_session_snapshot(
    struct gput_session *session, struct gput_results *results, struct gput_error *error)
{
    TRY(session_check_owner(session, error));
    memset(results, 0, sizeof *results);
    if (session_snapshot_get(&session->snapshot, 0, results) == 0)
        return error_set(error, GPUT_ERROR_STATE, "Nothing was tracked yet.");
    return GPUT_OK;
}
