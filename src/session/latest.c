#include "session/latest.h"

#include "base/error.h"
#include "session/session_state.h"
#include "session/snapshot_copy.h"

#include <stdlib.h>

void latest_init(struct latest *latest)
{
    pthread_mutex_init(&latest->lock, NULL);
}

void latest_finish(struct latest *latest)
{
    gput_snapshot_release(latest->snapshot);
    results_finish(&latest->results);
    pthread_mutex_destroy(&latest->lock);
}

void latest_set_results(struct latest *latest, const struct gput_results *results)
{
    if (pthread_mutex_trylock(&latest->lock) != 0)
        return;
    if (results_copy(&latest->results, results) == GPUT_OK)
        latest->number++;
    pthread_mutex_unlock(&latest->lock);
}

static bool has_results(struct latest *latest)
{
    pthread_mutex_lock(&latest->lock);
    bool has_some = latest->number > 0;
    pthread_mutex_unlock(&latest->lock);
    return has_some;
}

uint64_t latest_results(struct latest *latest, uint64_t known, struct gput_results *results)
{
    pthread_mutex_lock(&latest->lock);
    uint64_t number = latest->number;
    bool is_copied =
        number > 0 && number != known && results_copy(results, &latest->results) == GPUT_OK;
    pthread_mutex_unlock(&latest->lock);
    return is_copied ? number : known;
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
    struct gput_session *session, struct gput_results **results, struct gput_error *error)
{
    *results = NULL;
    TRY(session_check_owner(session, error));
    if (!has_results(&session->latest))
        return error_set(error, GPUT_ERROR_STATE, "Nothing was tracked yet.");
    struct gput_results *copy = calloc(1, sizeof *copy);
    if (!copy || latest_results(&session->latest, 0, copy) == 0) {
        gput_results_destroy(copy);
        return error_memory(error);
    }
    *results = copy;
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
