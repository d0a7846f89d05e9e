#include "services/push/host_lookup.h"

#include "base/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How soon it is noticed that the request has to end earlier. */
#define STEP_NS (NS_PER_SECOND / 20)

static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};

/* What the thread works on. Whoever is last frees it. */
struct lookup {
    struct push_url url;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t done;
    bool has_ended, is_left;
    int failure, failure_errno;
    struct addrinfo *found; /* owned */
};

/* Frees a lookup; whoever finishes last, caller or thread, calls it. */
static void free_lookup(struct lookup *lookup)
{
    if (lookup->found)
        freeaddrinfo(lookup->found);
    pthread_cond_destroy(&lookup->done);
    pthread_mutex_destroy(&lookup->lock);
    free(lookup);
}

/* Looks a host up in a thread of its own, as getaddrinfo() may hang. */
static void *run(void *user)
{
    struct lookup *lookup = user;
    struct addrinfo *found = NULL;
    int failure = getaddrinfo(lookup->url.host, lookup->url.port, &hints, &found);
    int failure_errno = errno;
    pthread_mutex_lock(&lookup->lock);
    lookup->failure = failure;
    lookup->failure_errno = failure_errno;
    lookup->found = failure ? NULL : found;
    lookup->has_ended = true;
    bool is_left = lookup->is_left;
    pthread_cond_signal(&lookup->done);
    pthread_mutex_unlock(&lookup->lock);
    if (is_left)
        free_lookup(lookup);
    return NULL;
}

/* Makes a lookup of the host in an address. NULL: out of memory. */
static struct lookup *create_lookup(const struct push_url *url)
{
    struct lookup *lookup = calloc(1, sizeof *lookup);
    if (!lookup)
        return NULL;
    lookup->url = *url;
    pthread_mutex_init(&lookup->lock, NULL);
    if (thread_condition_init(&lookup->done) == 0)
        return lookup;
    pthread_mutex_destroy(&lookup->lock);
    free(lookup);
    return NULL;
}

/* False: its time is over, and the thread frees it. */
static bool await_lookup(const struct http_post *post, struct lookup *lookup)
{
    pthread_mutex_lock(&lookup->lock);
    while (!lookup->has_ended && http_post_remaining_ms(post) > 0) {
        struct timespec until = clock_timespec_of_ns(clock_monotonic_ns() + STEP_NS);
        pthread_cond_timedwait(&lookup->done, &lookup->lock, &until);
    }
    lookup->is_left = !lookup->has_ended;
    bool is_left = lookup->is_left;
    pthread_mutex_unlock(&lookup->lock);
    return !is_left;
}

/* Without a thread the caller waits as long as it takes. */
static bool start(struct lookup *lookup)
{
    return thread_start(NULL, THREAD_STACK_BYTES, run, lookup) == 0;
}

int host_lookup(const struct http_post *post, struct addrinfo **found, struct gput_error *error)
{
    struct addrinfo is_address = hints;
    is_address.ai_flags = AI_NUMERICHOST;
    if (getaddrinfo(post->url->host, post->url->port, &is_address, found) == 0)
        return GPUT_OK;
    struct lookup *lookup = create_lookup(post->url);
    if (!lookup)
        return error_memory(error);
    if (!start(lookup))
        run(lookup);
    if (!await_lookup(post, lookup))
        return error_set(error, GPUT_ERROR_NOT_FOUND, "%s: name servers did not answer in time",
            post->url->host);
    int failure = lookup->failure, failure_errno = lookup->failure_errno;
    *found = lookup->found;
    lookup->found = NULL;
    free_lookup(lookup);
    return failure ? error_set(error, GPUT_ERROR_NOT_FOUND, "%s: %s", post->url->host,
                         failure == EAI_SYSTEM ? strerror(failure_errno) : gai_strerror(failure))
                   : GPUT_OK;
}
