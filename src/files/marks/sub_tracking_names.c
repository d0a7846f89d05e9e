#include "files/marks/sub_tracking_names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Names live in segments that double in size and never move: segment k holds 64 << k of them. */
#define FIRST_SEGMENT_BITS 6
#define SEGMENTS 25

struct entry {
    uint32_t hash;
    uint32_t length;
    char text[];
};

/* Open addressing; a slot holds the number of a name plus one. Replaced by a larger one when half
 * full; replaced ones are kept, since a thread may still be reading them. */
struct index {
    struct index *replaced;
    size_t mask;
    _Atomic uint32_t slots[];
};

typedef struct entry *entry_pointer;

struct sub_tracking_names {
    pthread_mutex_t adding;
    _Atomic(struct index *) index;
    _Atomic uint32_t count;
    atomic_bool lacks_one; /* that could not be added */
    _Atomic(_Atomic(entry_pointer) *) segments[SEGMENTS];
};

static _Atomic(entry_pointer) *entry_slot(const struct sub_tracking_names *names, uint32_t name)
{
    uint32_t shifted = name + (1u << FIRST_SEGMENT_BITS);
    unsigned top = 31 - (unsigned)__builtin_clz(shifted);
    _Atomic(entry_pointer) *segment =
        atomic_load_explicit(&names->segments[top - FIRST_SEGMENT_BITS], memory_order_acquire);
    return segment + (shifted - (1u << top));
}

static const struct entry *entry_of(const struct sub_tracking_names *names, uint32_t name)
{
    return atomic_load_explicit(entry_slot(names, name), memory_order_acquire);
}

/* Hashes a name, eight bytes at a time. */
static uint32_t hash_bytes(const char *bytes, size_t length)
{
    uint64_t hash = length * UINT64_C(0x9e3779b97f4a7c15);
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    uint64_t rest = 0;
    memcpy(&rest, bytes, length);
    hash = (hash ^ rest) * UINT64_C(0xff51afd7ed558ccd);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Creates an empty index that replaces another one. NULL without memory. */
static struct index *index_create(size_t slots, struct index *replaced)
{
    struct index *index = calloc(1, sizeof *index + slots * sizeof index->slots[0]);
    if (index) {
        index->mask = slots - 1;
        index->replaced = replaced;
    }
    return index;
}

struct sub_tracking_names *sub_tracking_names_create(void)
{
    struct sub_tracking_names *names = calloc(1, sizeof *names);
    struct index *index = index_create(128, NULL);
    if (!names || !index) {
        free(names);
        free(index);
        return NULL;
    }
    pthread_mutex_init(&names->adding, NULL);
    atomic_init(&names->index, index);
    return names;
}

void sub_tracking_names_destroy(struct sub_tracking_names *names)
{
    if (!names)
        return;
    uint32_t count = atomic_load(&names->count);
    for (uint32_t i = 0; i < count; i++)
        free(atomic_load(entry_slot(names, i)));
    for (unsigned i = 0; i < SEGMENTS; i++)
        free(atomic_load(&names->segments[i]));
    for (struct index *index = atomic_load(&names->index); index;) {
        struct index *replaced = index->replaced;
        free(index);
        index = replaced;
    }
    pthread_mutex_destroy(&names->adding);
    free(names);
}

/* Finds a name without a lock; SUB_TRACKING_NO_NAME: it is new. */
static uint32_t find(
    const struct sub_tracking_names *names, const char *name, size_t length, uint32_t hash)
{
    const struct index *index = atomic_load_explicit(&names->index, memory_order_acquire);
    for (size_t i = hash & index->mask;; i = (i + 1) & index->mask) {
        uint32_t slot = atomic_load_explicit(&index->slots[i], memory_order_acquire);
        if (slot == 0)
            return SUB_TRACKING_NO_NAME;
        const struct entry *entry = entry_of(names, slot - 1);
        if (entry->hash == hash && entry->length == length &&
            memcmp(entry->text, name, length) == 0)
            return slot - 1;
    }
}

/* Puts a name into the first free slot of its hash. */
static void index_insert(struct index *index, uint32_t hash, uint32_t name)
{
    size_t i = hash & index->mask;
    while (atomic_load_explicit(&index->slots[i], memory_order_relaxed) != 0)
        i = (i + 1) & index->mask;
    atomic_store_explicit(&index->slots[i], name + 1, memory_order_release);
}

/* Keeps the index at most half full for one name more. */
static bool reserve_slot(struct sub_tracking_names *names, uint32_t count)
{
    struct index *index = atomic_load(&names->index);
    if ((size_t)count * 2 < index->mask)
        return true;
    struct index *larger = index_create((index->mask + 1) * 2, index);
    if (!larger)
        return false;
    for (uint32_t i = 0; i < count; i++)
        index_insert(larger, entry_of(names, i)->hash, i);
    atomic_store_explicit(&names->index, larger, memory_order_release);
    return true;
}

/* Adds a name, with `adding` held. */
static uint32_t insert(
    struct sub_tracking_names *names, const char *name, size_t length, uint32_t hash)
{
    uint32_t count = atomic_load(&names->count);
    if (count >= SUB_TRACKING_NAMES_MAX || !reserve_slot(names, count))
        return SUB_TRACKING_NO_NAME;
    unsigned top = 31 - (unsigned)__builtin_clz(count + (1u << FIRST_SEGMENT_BITS));
    _Atomic(_Atomic(entry_pointer) *) *segment = &names->segments[top - FIRST_SEGMENT_BITS];
    if (!atomic_load(segment)) {
        _Atomic(entry_pointer) *created = calloc((size_t)1 << top, sizeof *created);
        if (!created)
            return SUB_TRACKING_NO_NAME;
        atomic_store_explicit(segment, created, memory_order_release);
    }
    struct entry *entry = malloc(sizeof *entry + length + 1);
    if (!entry)
        return SUB_TRACKING_NO_NAME;
    entry->hash = hash;
    entry->length = (uint32_t)length;
    memcpy(entry->text, name, length);
    entry->text[length] = '\0';
    atomic_store_explicit(entry_slot(names, count), entry, memory_order_release);
    atomic_store_explicit(&names->count, count + 1, memory_order_release);
    index_insert(atomic_load(&names->index), hash, count);
    return count;
}

uint32_t sub_tracking_names_add(struct sub_tracking_names *names, const char *name, size_t length)
{
    length = strnlen(name, length < UINT32_MAX ? length : UINT32_MAX - 1);
    uint32_t hash = hash_bytes(name, length);
    uint32_t found = find(names, name, length, hash);
    if (found != SUB_TRACKING_NO_NAME)
        return found;
    pthread_mutex_lock(&names->adding);
    found = find(names, name, length, hash);
    if (found == SUB_TRACKING_NO_NAME)
        found = insert(names, name, length, hash);
    if (found == SUB_TRACKING_NO_NAME)
        atomic_store(&names->lacks_one, true);
    pthread_mutex_unlock(&names->adding);
    return found;
}

bool sub_tracking_names_lack(const struct sub_tracking_names *names)
{
    return atomic_load(&names->lacks_one);
}

uint32_t sub_tracking_names_count(const struct sub_tracking_names *names)
{
    return atomic_load_explicit(&names->count, memory_order_acquire);
}

const char *sub_tracking_names_text(const struct sub_tracking_names *names, uint32_t name)
{
    return entry_of(names, name)->text;
}

size_t sub_tracking_names_length(const struct sub_tracking_names *names, uint32_t name)
{
    return entry_of(names, name)->length;
}
