#include "files/import/pickle_arena.h"

#include <stdalign.h>
#include <stdlib.h>

#define CHUNK_SIZE 65536
#define ALIGNMENT alignof(max_align_t)

struct pickle_arena_chunk {
    struct pickle_arena_chunk *next;
    max_align_t bytes[];
};

void pickle_arena_finish(struct pickle_arena *arena)
{
    while (arena->chunks) {
        struct pickle_arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    arena->next = NULL;
    arena->left = arena->total = 0;
}

static void *add_chunk(struct pickle_arena *arena, size_t size)
{
    if (arena->total > arena->max || size > arena->max - arena->total)
        return NULL;
    struct pickle_arena_chunk *chunk = calloc(1, sizeof *chunk + size);
    if (!chunk)
        return NULL;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->total += size;
    return chunk->bytes;
}

void *pickle_arena_allocate(struct pickle_arena *arena, size_t size)
{
    if (size > arena->max)
        return NULL;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > CHUNK_SIZE / 4) /* large pieces get a chunk of their own */
        return add_chunk(arena, size);
    if (size > arena->left) {
        arena->next = add_chunk(arena, CHUNK_SIZE);
        arena->left = arena->next ? CHUNK_SIZE : 0;
        if (!arena->next)
            return NULL;
    }
    void *piece = arena->next;
    arena->next += size;
    arena->left -= size;
    return piece;
}
