#include "base/names.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Hashes by FNV-1a, eight bytes at a time, and mixes the bits at the end. */
uint64_t names_hash(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ length, word;
    for (; length >= 8; at += 8, length -= 8) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    word = 0;
    if (length > 0)
        memcpy(&word, at, length);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Returns the slot of a text, or the free one where it would go. */
static uint32_t *slot_of(const struct names *names, const char *text, size_t length, uint64_t hash)
{
    uint32_t mask = names->slot_count - 1;
    for (uint32_t slot = (uint32_t)hash & mask;; slot = (slot + 1) & mask) {
        uint32_t number = names->slots[slot];
        if (number == 0)
            return names->slots + slot;
        number--;
        if (names->hashes[number] == hash && strncmp(names->texts[number], text, length) == 0 &&
            names->texts[number][length] == '\0')
            return names->slots + slot;
    }
}

/* Doubles the slots, and puts all names into them. 0: out of memory. */
static int grow_slots(struct names *names)
{
    uint32_t count = names->slot_count ? names->slot_count * 2 : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return 0;
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t slot = (uint32_t)names->hashes[i] & (count - 1);
        while (slots[slot] != 0)
            slot = (slot + 1) & (count - 1);
        slots[slot] = i + 1;
    }
    free(names->slots);
    names->slots = slots;
    names->slot_count = count;
    return 1;
}

/* Doubles the space for texts. 0: out of memory. */
static int grow_texts(struct names *names)
{
    uint32_t capacity = names->capacity ? names->capacity * 2 : 32;
    if (!ARRAY_RESIZE(names->texts, capacity) || !ARRAY_RESIZE(names->hashes, capacity))
        return 0;
    names->capacity = capacity;
    return 1;
}

uint32_t names_find(const struct names *names, const char *text, size_t length)
{
    if (names->slot_count == 0)
        return NAMES_NONE;
    length = text ? strnlen(text, length) : 0;
    text = text ? text : "";
    uint32_t number = *slot_of(names, text, length, names_hash(text, length));
    return number ? number - 1 : NAMES_NONE;
}

uint32_t names_add(struct names *names, const char *text, size_t length)
{
    length = text ? strnlen(text, length) : 0; /* texts end with a NUL, so none can be in them */
    text = text ? text : "";
    uint64_t hash = names_hash(text, length);
    if (names->count * 2 >= names->slot_count && !grow_slots(names))
        return NAMES_NONE;
    uint32_t *slot = slot_of(names, text, length, hash);
    if (*slot != 0)
        return *slot - 1;
    if (names->count == names->capacity && !grow_texts(names))
        return NAMES_NONE;
    char *copy = strndup(text, length);
    if (!copy)
        return NAMES_NONE;
    names->texts[names->count] = copy;
    names->hashes[names->count] = hash;
    *slot = ++names->count;
    return names->count - 1;
}

void names_finish(struct names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    free(names->hashes);
    free(names->slots);
    *names = (struct names){0};
}
