#include "files/trace/source_texts.h"

#include "base/file.h"
#include "files/trace/trace_event.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 200 /* descriptors, of which most systems allow a process 1024 */
#define MEMORY_BYTES (14u << 20)
#define MIN_SHARED_BYTES (2u << 20)
#define MAX_CHUNKS 4096
#define MIN_CHUNK_BYTES (2u << 10)
#define MAX_CHUNK_BYTES (224u << 10)

struct source_file {
    int fd;
    char *path;
    struct stat first; /* its state when it was added */
    bool changed;      /* it was changed since then */
};

/* A chunk of a file, in memory. */
struct chunk {
    uint32_t file;
    uint64_t at;
    size_t length;
    size_t wanted; /* bytes that one read asks for */
    size_t capacity;
    char *bytes;
    uint64_t read; /* number of the read that filled it */
    struct chunk *older, *newer;
};

struct source_texts {
    struct source_file files[MAX_FILES];
    uint32_t file_count;
    struct chunk chunks[MAX_CHUNKS];
    uint32_t made;                     /* number of chunks ever used */
    struct chunk *unused;              /* the empty ones, linked by `older` */
    struct chunk *ordered[MAX_CHUNKS]; /* all others by file and offset */
    uint32_t count;
    struct chunk uses; /* head of the ring of these in order of use; its `older` is the one used
                          last */
    struct chunk *last;
    size_t memory;  /* maximum bytes of all chunks */
    size_t held;    /* bytes in memory */
    bool is_shared; /* `files` belongs to another struct */
    uint64_t reads;
};

int source_texts_create(struct source_texts **texts, struct gput_error *error)
{
    *texts = calloc(1, sizeof **texts);
    if (!*texts)
        return error_memory(error);
    (*texts)->memory = MEMORY_BYTES;
    (*texts)->uses.older = (*texts)->uses.newer = &(*texts)->uses;
    return GPUT_OK;
}

int source_texts_share(const struct source_texts *texts, unsigned threads,
    struct source_texts **shared, struct gput_error *error)
{
    TRY(source_texts_create(shared, error));
    size_t memory = MEMORY_BYTES / threads;
    memcpy((*shared)->files, texts->files, sizeof texts->files);
    (*shared)->file_count = texts->file_count;
    (*shared)->memory = memory > MIN_SHARED_BYTES ? memory : MIN_SHARED_BYTES;
    (*shared)->is_shared = true;
    return GPUT_OK;
}

uint32_t source_texts_add(struct source_texts *texts, int fd, const char *path)
{
    struct source_file *file = texts->files + texts->file_count;
    if (fd < 0 || texts->file_count == MAX_FILES)
        return SOURCE_NONE;
    if (fstat(fd, &file->first) != 0 || !S_ISREG(file->first.st_mode))
        return SOURCE_NONE;
    *file = (struct source_file){.first = file->first, .path = strdup(path)};
    file->fd = file->path ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (file->fd < 0) {
        free(file->path);
        return SOURCE_NONE;
    }
    return texts->file_count++;
}

/* Whether a chunk contains a whole text. */
static bool holds(const struct chunk *chunk, uint32_t file, uint64_t at, size_t length)
{
    return chunk->file == file && at >= chunk->at && at + length <= chunk->at + chunk->length;
}

/* Counts the chunks that begin at that offset or before. */
static uint32_t count_before(const struct source_texts *texts, uint32_t file, uint64_t at)
{
    uint32_t low = 0, high = texts->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const struct chunk *chunk = texts->ordered[middle];
        if (chunk->file < file || (chunk->file == file && chunk->at <= at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Removes a chunk from the ring of uses. */
static void unlink_use(struct chunk *chunk)
{
    chunk->older->newer = chunk->newer;
    chunk->newer->older = chunk->older;
}

/* Adds a chunk to the ring as the one used last. */
static void link_use(struct source_texts *texts, struct chunk *chunk)
{
    chunk->newer = &texts->uses;
    chunk->older = texts->uses.older;
    chunk->older->newer = chunk;
    texts->uses.older = chunk;
}

/* Removes a chunk from the order and the ring. */
static void remove_chunk(struct source_texts *texts, struct chunk *chunk)
{
    uint32_t place = count_before(texts, chunk->file, chunk->at) - 1;
    while (texts->ordered[place] != chunk)
        place--;
    struct chunk **there = texts->ordered + place;
    memmove(there, there + 1, (--texts->count - place) * sizeof *there);
    unlink_use(chunk);
}

/* Frees the bytes of a chunk that is not in the order, and makes the chunk available. */
static void empty(struct source_texts *texts, struct chunk *chunk)
{
    texts->held -= chunk->capacity;
    free(chunk->bytes);
    *chunk = (struct chunk){.older = texts->unused};
    texts->unused = chunk;
}

/* Empties a chunk. */
static void drop(struct source_texts *texts, struct chunk *chunk)
{
    remove_chunk(texts, chunk);
    empty(texts, chunk);
}

/* Returns a chunk to be filled: an empty one, or the least recently used one. */
static struct chunk *pop_unused(struct source_texts *texts)
{
    if (!texts->unused && texts->made < MAX_CHUNKS)
        return texts->chunks + texts->made++;
    if (!texts->unused)
        drop(texts, texts->uses.newer);
    struct chunk *chunk = texts->unused;
    texts->unused = chunk->older;
    return chunk;
}

/* Sets the error for a file that was changed. Returns its code. */
static int changed(const struct source_file *file, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO,
        "%s was changed while it was read; try again when it is complete", file->path);
}

/* Reads `size` bytes into a chunk, from its offset on. Fails if there are fewer than `needed`. */
static int read_chunk(struct source_texts *texts, struct chunk *chunk, size_t size, size_t needed,
    struct gput_error *error)
{
    struct source_file *file = texts->files + chunk->file;
    struct stat now;
    chunk->read = ++texts->reads;
    file->changed = file->changed || fstat(file->fd, &now) != 0 ||
                    now.st_size != file->first.st_size ||
                    now.st_mtim.tv_sec != file->first.st_mtim.tv_sec ||
                    now.st_mtim.tv_nsec != file->first.st_mtim.tv_nsec;
    TRY(file_read_at(file->fd, file->path, chunk->bytes, size, chunk->at, &chunk->length, error));
    if (chunk->length < needed)
        return changed(file, error);
    memset(chunk->bytes + chunk->length, 0, JSON_PADDING);
    return GPUT_OK;
}

/* Allocates that many bytes for a chunk that is not in the order; drops the least recently used
 * ones if memory is short. */
static int make_space(
    struct source_texts *texts, struct chunk *chunk, size_t size, struct gput_error *error)
{
    size_t capacity = size + JSON_PADDING;
    if (capacity <= chunk->capacity && capacity >= chunk->capacity / 2)
        return GPUT_OK;
    texts->held -= chunk->capacity;
    free(chunk->bytes);
    chunk->capacity = 0;
    while (texts->count > 0 && texts->held + capacity > texts->memory)
        drop(texts, texts->uses.newer);
    chunk->bytes = malloc(capacity);
    if (!chunk->bytes)
        return error_memory(error);
    chunk->capacity = capacity;
    texts->held += capacity;
    return GPUT_OK;
}

/* Fills a chunk that is not in the order, and adds it. It begins a little before the text, since
 * reads may be slightly out of order, and includes the whole text. */
static int move(struct source_texts *texts, struct chunk *chunk, uint32_t file, uint64_t at,
    size_t length, struct gput_error *error)
{
    uint64_t before = at < chunk->wanted / 8 ? at : chunk->wanted / 8;
    size_t needed = before + length;
    size_t size = needed > chunk->wanted ? needed : chunk->wanted;
    chunk->file = file;
    chunk->at = at - before;
    int code = make_space(texts, chunk, size, error);
    if (code == GPUT_OK)
        code = read_chunk(texts, chunk, size, needed, error);
    if (code != GPUT_OK) {
        empty(texts, chunk);
        return code;
    }

    /* Drop chunks that this one contains entirely, and add it to the order. */
    uint32_t place = count_before(texts, chunk->file, chunk->at);
    while (place < texts->count && texts->ordered[place]->file == chunk->file &&
           texts->ordered[place]->at + texts->ordered[place]->length <= chunk->at + chunk->length) {
        drop(texts, texts->ordered[place]);
        place = count_before(texts, chunk->file, chunk->at);
    }
    struct chunk **there = texts->ordered + place;
    memmove(there + 1, there, (texts->count++ - place) * sizeof *there);
    *there = chunk;
    link_use(texts, chunk);
    return GPUT_OK;
}

/* Finds the chunk that contains the text; else extends the chunk before it, or reads a new one. */
static int find(struct source_texts *texts, uint32_t file, uint64_t at, size_t length,
    struct chunk **found, struct gput_error *error)
{
    uint32_t before = count_before(texts, file, at);
    struct chunk *chunk = before > 0 ? texts->ordered[before - 1] : NULL;
    *found = chunk;
    if (chunk && holds(chunk, file, at, length)) {
        unlink_use(chunk);
        link_use(texts, chunk);
        return GPUT_OK;
    }
    /* Whether the text begins at most half a chunk after the end of this chunk. */
    if (chunk && chunk->file == file && at >= chunk->at &&
        at <= chunk->at + chunk->length + chunk->wanted / 2) {
        /*
         * A chunk that is read sequentially reads more each time, up to a limit at which all chunks
         * that are read in turn fit into memory, with a rest for those that are read once. The more
         * the others read in between, the less space there is for this one. That in turn depends on
         * how much it reads at once, so the size moves half of the way, as in Heron's method for
         * square roots.
         */
        size_t space = texts->memory / 8 * 7 / (texts->reads - chunk->read + 1);
        size_t size = (chunk->wanted + space) / 2;
        size = size < chunk->wanted * 2 ? size : chunk->wanted * 2;
        size = size < MAX_CHUNK_BYTES ? size : MAX_CHUNK_BYTES;
        chunk->wanted = size > MIN_CHUNK_BYTES ? size : MIN_CHUNK_BYTES;

        remove_chunk(texts, chunk);
    } else {
        *found = chunk = pop_unused(texts);
        chunk->wanted = MIN_CHUNK_BYTES;
    }
    return move(texts, chunk, file, at, length, error);
}

int source_texts_fetch(struct source_texts *texts, uint32_t file, uint64_t at, size_t length,
    const char **text, struct gput_error *error)
{
    struct chunk *chunk = texts->last;
    if (!chunk || !holds(chunk, file, at, length)) {
        texts->last = NULL;
        TRY(find(texts, file, at, length, &chunk, error));
        texts->last = chunk;
    }
    *text = chunk->bytes + (at - chunk->at);
    struct trace_event event;
    const char *after = *text, *end = *text + length;
    bool is_event = **text == '{' && end[-1] == '}';
    if (is_event && texts->files[file].changed)
        is_event = trace_event_scan(&after, end, &event) == JSON_OK && after == end;
    return is_event ? GPUT_OK : changed(texts->files + file, error);
}

void source_texts_destroy(struct source_texts *texts)
{
    if (!texts)
        return;
    for (uint32_t i = 0; i < texts->file_count && !texts->is_shared; i++) {
        close(texts->files[i].fd);
        free(texts->files[i].path);
    }
    for (uint32_t i = 0; i < texts->made; i++)
        free(texts->chunks[i].bytes);
    free(texts);
}
