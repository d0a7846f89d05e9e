#include "session/latest.h"

#include "base/error.h"
#include "session/session_state.h"
#include "session/snapshot_copy.h"

#include <stddef.h>
#include <string.h>

/* GPUs that do not exist are not copied. */
static void copy_results(struct gput_results *to, const struct gput_results *from)
{
    memcpy(to, from, offsetof(struct gput_results, gpus) + from->n_gpus * sizeof from->gpus[0]);
}

void latest_init(struct latest *latest)
{
    pthread_mutex_init(&latest->lock, NULL);
}

void latest_finish(struct latest *latest)
{
    gput_snapshot_release(latest->snapshot);
    pthread_mutex_destroy(&latest->lock);
}

void latest_set_results(struct latest *latest, const struct gput_results *results)
{
    if (pthread_mutex_trylock(&latest->lock) != 0)
        return;
    copy_results(&latest->results, results);
    latest->number++;
    pthread_mutex_unlock(&latest->lock);
}

uint64_t latest_results(struct latest *latest, uint64_t known, struct gput_results *results)
{
    pthread_mutex_lock(&latest->lock);
    uint64_t number = latest->number;
    if (number > 0 && number != known)
        copy_results(results, &latest->results);
    pthread_mutex_unlock(&latest->lock);
    return number;
}

void latest_set_snapshot(struct latest *latest, struct gput_snapshot *snapshot)
{
    if (pthread_mutex_trylock(&latest->lock) == 0) {
        struct gput_snapshot *before = latest->snapshot;
        latest->snapshot = snapshot;
        snapshot = before;
        pthread_mutex_unlock(&latest->lock);
    }
    gput_snapshot_release(snapshot);
}

struct gput_snapshot *latest_snapshot(struct latest *latest)
{
    pthread_mutex_lock(&latest->lock);
    struct gput_snapshot *snapshot =
        latest->snapshot ? snapshot_copy_retain(latest->snapshot) : NULL;
    pthread_mutex_unlock(&latest->lock);
    return snapshot;
}

int gput_session_results_so_far(
    struct gput_session *session, struct gput_results *results, struct gput_error *error)
{
    TRY(session_check_owner(session, error));
    memset(results, 0, sizeof *results);
    if (latest_results(&session->latest, 0, results) == 0)
        return error_set(error, GPUT_ERROR_STATE, "Nothing was tracked yet.");
    return GPUT_OK;
}

int gput_session_latest_snapshot(
    struct gput_session *session, struct gput_snapshot **snapshot, struct gput_error *error)
{
    *snapshot = NULL;
    TRY(session_check_owner(session, error));
    if (!session->settings.options.snapshots)
        return error_set(error, GPUT_ERROR_STATE,
            "The snapshots of this session were not asked for: set the option `snapshots`.");
    *snapshot = latest_snapshot(&session->latest);
    return *snapshot ? GPUT_OK : error_set(error, GPUT_ERROR_STATE, "Nothing was tracked yet.");
}
