#include "region_named.h"

#include "region_thread.h"

#include <string.h>

/* Maximum number of open ranges, and of slots that are tried for one. */
#define PLACES 65536
#define TRIES 64

static struct named {
    _Atomic int state;     /* NAMED_FREE, NAMED_CHANGES or NAMED_OPEN */
    _Atomic uint64_t hash; /* hash of the key */
    struct region_key key;
    uint64_t region;
} named[PLACES];

enum { NAMED_FREE, NAMED_CHANGES, NAMED_OPEN };

static uint64_t hash_of(const struct region_key *key)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof key->parts / sizeof *key->parts; i++)
        hash = (hash ^ key->parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

/* Returns the slot to try for a hash at that attempt. */
static struct named *place_of(uint64_t hash, unsigned tries)
{
    return &named[((hash >> 40) + tries) % PLACES];
}

void region_named_begin(struct regions *regions, struct region_domain *domain,
    const struct region_key *key, const char *text)
{
    uint64_t hash = hash_of(key);
    for (unsigned i = 0; i < TRIES; i++) {
        struct named *at = place_of(hash, i);
        int expected = NAMED_FREE;
        if (!atomic_compare_exchange_strong(&at->state, &expected, NAMED_CHANGES))
            continue;
        at->key = *key;
        at->region = region_start(regions, domain, text);
        atomic_store(&at->hash, hash);
        atomic_store_explicit(&at->state, NAMED_OPEN, memory_order_release);
        return;
    }
    regions_count(regions, 0, REGION_LEFT_OUT_BY_NUMBER);
}

/* Claims a slot if its region has that key. The hash is compared first, since the end of another
 * region misses a slot that is being changed. */
static bool take(struct named *at, uint64_t hash, const struct region_key *key)
{
    int expected = NAMED_OPEN;
    if (atomic_load(&at->hash) != hash ||
        !atomic_compare_exchange_strong(&at->state, &expected, NAMED_CHANGES))
        return false;
    if (memcmp(&at->key, key, sizeof *key) == 0)
        return true;
    atomic_store_explicit(&at->state, NAMED_OPEN, memory_order_release);
    return false;
}

void region_named_end(struct regions *regions, const struct region_key *key)
{
    uint64_t hash = hash_of(key);
    for (unsigned i = 0; i < TRIES; i++) {
        struct named *at = place_of(hash, i);
        if (!take(at, hash, key))
            continue;
        region_end(regions, at->region);
        atomic_store_explicit(&at->state, NAMED_FREE, memory_order_release);
        return;
    }
    regions_count(regions, 0, REGION_UNMATCHED_ENDS);
}
