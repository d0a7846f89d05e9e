#include "session/sinks/latest.h"

#include "session/sampler/snapshot_copy.h"

#include <stdlib.h>

void latest_init(struct latest *latest)
{
    pthread_mutex_init(&latest->lock, NULL);
}

void latest_finish(struct latest *latest)
{
    gput_snapshot_release(latest->snapshot);
    gput_results_destroy(latest->results);
    gput_results_destroy(latest->next);
    pthread_mutex_destroy(&latest->lock);
}

struct gput_results *latest_next_results(struct latest *latest)
{
    if (!latest->next)
        latest->next = calloc(1, sizeof *latest->next);
    return latest->next;
}

void latest_publish_results(struct latest *latest)
{
    if (pthread_mutex_trylock(&latest->lock) != 0)
        return;
    struct gput_results *before = latest->results;
    latest->results = latest->next;
    latest->next = before;
    latest->number++;
    pthread_mutex_unlock(&latest->lock);
}

bool latest_has_results(struct latest *latest)
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
        number > 0 && number != known && results_copy(results, latest->results) == GPUT_OK;
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
