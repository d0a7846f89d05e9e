#include "trace/source_texts.h"

#include "base/file.h"
#include "trace/trace_event.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 200 /* descriptors: most systems give a process 1024 */
#define MEMORY (14u << 20)
#define MAX_STRETCHES 4096
#define MIN_STRETCH (2u << 10)
#define MAX_STRETCH (224u << 10)

struct source_file {
    int fd;
    char *path;
    struct stat first; /* as it was taken in */
    bool changed;      /* it is no longer so */
};

/* A stretch of a file in memory. */
struct stretch {
    uint32_t file;
    uint64_t at;
    size_t length;
    size_t wanted; /* how much is read at once */
    size_t capacity;
    char *bytes;
    uint64_t read; /* which of all reads filled it */
    struct stretch *older, *newer;
};

struct source_texts {
    struct source_file files[MAX_FILES];
    uint32_t file_count;
    struct stretch stretches[MAX_STRETCHES];
    uint32_t made;                          /* how many of these were ever taken */
    struct stretch *unused;                 /* those of them that hold nothing, by `older` */
    struct stretch *ordered[MAX_STRETCHES]; /* all others by file and place */
    uint32_t count;
    struct stretch uses; /* the ring of these: `older` than it is the one used last */
    struct stretch *last;
    size_t held; /* bytes in memory */
    uint64_t reads;
};

int source_texts_create(struct source_texts **texts, struct gput_error *error)
{
    *texts = calloc(1, sizeof **texts);
    if (!*texts)
        return error_memory(error);
    (*texts)->uses.older = (*texts)->uses.newer = &(*texts)->uses;
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

static bool holds(const struct stretch *stretch, uint32_t file, uint64_t at, size_t length)
{
    return stretch->file == file && at >= stretch->at &&
           at + length <= stretch->at + stretch->length;
}

/* A text there would have come next, had the stretch been half as long again. */
static bool continues(const struct stretch *stretch, uint32_t file, uint64_t at)
{
    return stretch->file == file && at >= stretch->at &&
           at <= stretch->at + stretch->length + stretch->wanted / 2;
}

/* How many stretches begin there or before. */
static uint32_t count_before(const struct source_texts *texts, uint32_t file, uint64_t at)
{
    uint32_t low = 0, high = texts->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const struct stretch *stretch = texts->ordered[middle];
        if (stretch->file < file || (stretch->file == file && stretch->at <= at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void unlink_use(struct stretch *stretch)
{
    stretch->older->newer = stretch->newer;
    stretch->newer->older = stretch->older;
}

static void link_use(struct source_texts *texts, struct stretch *stretch)
{
    stretch->newer = &texts->uses;
    stretch->older = texts->uses.older;
    stretch->older->newer = stretch;
    texts->uses.older = stretch;
}

static void put_in_order(struct source_texts *texts, struct stretch *stretch)
{
    uint32_t place = count_before(texts, stretch->file, stretch->at);
    struct stretch **there = texts->ordered + place;
    memmove(there + 1, there, (texts->count++ - place) * sizeof *there);
    *there = stretch;
    link_use(texts, stretch);
}

static void take_out(struct source_texts *texts, struct stretch *stretch)
{
    uint32_t place = count_before(texts, stretch->file, stretch->at) - 1;
    while (texts->ordered[place] != stretch)
        place--;
    struct stretch **there = texts->ordered + place;
    memmove(there, there + 1, (--texts->count - place) * sizeof *there);
    unlink_use(stretch);
}

/* Of one that is not in order: it holds nothing from now on. */
static void empty(struct source_texts *texts, struct stretch *stretch)
{
    texts->held -= stretch->capacity;
    free(stretch->bytes);
    *stretch = (struct stretch){.older = texts->unused};
    texts->unused = stretch;
}

static void drop(struct source_texts *texts, struct stretch *stretch)
{
    take_out(texts, stretch);
    empty(texts, stretch);
}

/* One that holds nothing: if need be, the one that was not used for longest. */
static struct stretch *pop_unused(struct source_texts *texts)
{
    if (!texts->unused && texts->made < MAX_STRETCHES)
        return texts->stretches + texts->made++;
    if (!texts->unused)
        drop(texts, texts->uses.newer);
    struct stretch *stretch = texts->unused;
    texts->unused = stretch->older;
    return stretch;
}

/*
 * How much a stretch reads that goes on: more each time, but no more than lets all that are read
 * in turn be in memory, with a rest for what is read once. The more the others read in between, the
 * less space there is for it; since that again grows with what it reads at once, half of the way is
 * taken, as in Heron's square root.
 */
static size_t size_of_next(const struct source_texts *texts, const struct stretch *stretch)
{
    size_t room = MEMORY / 8 * 7 / (texts->reads - stretch->read + 1);
    size_t size = (stretch->wanted + room) / 2;
    size = size < stretch->wanted * 2 ? size : stretch->wanted * 2;
    size = size < MAX_STRETCH ? size : MAX_STRETCH;
    return size > MIN_STRETCH ? size : MIN_STRETCH;
}

static void check_for_change(struct source_file *file)
{
    struct stat now;
    file->changed = file->changed || fstat(file->fd, &now) != 0 ||
                    now.st_size != file->first.st_size ||
                    now.st_mtim.tv_sec != file->first.st_mtim.tv_sec ||
                    now.st_mtim.tv_nsec != file->first.st_mtim.tv_nsec;
}

static int changed(const struct source_file *file, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO,
        "%s was changed while it was read; try again when it is complete", file->path);
}

/* Has a stretch hold bytes from its place on, at least `needed` of `size`. */
static int read_stretch(struct source_texts *texts, struct stretch *stretch, size_t size,
    size_t needed, struct gput_error *error)
{
    struct source_file *file = texts->files + stretch->file;
    stretch->read = ++texts->reads;
    check_for_change(file);
    TRY(file_read_at(
        file->fd, file->path, stretch->bytes, size, stretch->at, &stretch->length, error));
    if (stretch->length < needed)
        return changed(file, error);
    memset(stretch->bytes + stretch->length, 0, JSON_PADDING);
    return GPUT_OK;
}

/* Gives a stretch that is not in order space for that many bytes; what was used long ago goes. */
static int make_room(
    struct source_texts *texts, struct stretch *stretch, size_t size, struct gput_error *error)
{
    size_t capacity = size + JSON_PADDING;
    if (capacity <= stretch->capacity && capacity >= stretch->capacity / 2)
        return GPUT_OK;
    texts->held -= stretch->capacity;
    free(stretch->bytes);
    stretch->capacity = 0;
    while (texts->count > 0 && texts->held + capacity > MEMORY)
        drop(texts, texts->uses.newer);
    stretch->bytes = malloc(capacity);
    if (!stretch->bytes)
        return error_memory(error);
    stretch->capacity = capacity;
    texts->held += capacity;
    return GPUT_OK;
}

/* Those that hold nothing else than this one does. */
static void drop_covered(struct source_texts *texts, const struct stretch *stretch)
{
    for (;;) {
        uint32_t next = count_before(texts, stretch->file, stretch->at);
        if (next == texts->count || texts->ordered[next]->file != stretch->file ||
            texts->ordered[next]->at + texts->ordered[next]->length > stretch->at + stretch->length)
            return;
        drop(texts, texts->ordered[next]);
    }
}

/* Has a stretch that is not in order reach from a little before the text, for what is not quite in
 * order, to after it. */
static int move(struct source_texts *texts, struct stretch *stretch, uint32_t file, uint64_t at,
    size_t length, struct gput_error *error)
{
    uint64_t before = at < stretch->wanted / 8 ? at : stretch->wanted / 8;
    size_t needed = before + length;
    size_t size = needed > stretch->wanted ? needed : stretch->wanted;
    stretch->file = file;
    stretch->at = at - before;
    int code = make_room(texts, stretch, size, error);
    if (code == GPUT_OK)
        code = read_stretch(texts, stretch, size, needed, error);
    if (code != GPUT_OK) {
        empty(texts, stretch);
        return code;
    }
    drop_covered(texts, stretch);
    put_in_order(texts, stretch);
    return GPUT_OK;
}

/* Finds the stretch that holds the text; reads on where it goes on, or anew. */
static int find(struct source_texts *texts, uint32_t file, uint64_t at, size_t length,
    struct stretch **found, struct gput_error *error)
{
    uint32_t before = count_before(texts, file, at);
    struct stretch *stretch = before > 0 ? texts->ordered[before - 1] : NULL;
    *found = stretch;
    if (stretch && holds(stretch, file, at, length)) {
        unlink_use(stretch);
        link_use(texts, stretch);
        return GPUT_OK;
    }
    if (stretch && continues(stretch, file, at)) {
        stretch->wanted = size_of_next(texts, stretch);
        take_out(texts, stretch);
    } else {
        *found = stretch = pop_unused(texts);
        stretch->wanted = MIN_STRETCH;
    }
    return move(texts, stretch, file, at, length, error);
}

static bool is_event(const char *text, size_t length)
{
    struct trace_event event;
    const char *at = text;
    return trace_event_scan(&at, text + length, &event) == JSON_OK && at == text + length;
}

int source_texts_fetch(struct source_texts *texts, uint32_t file, uint64_t at, size_t length,
    const char **text, struct gput_error *error)
{
    struct stretch *stretch = texts->last;
    if (!stretch || !holds(stretch, file, at, length)) {
        texts->last = NULL;
        TRY(find(texts, file, at, length, &stretch, error));
        texts->last = stretch;
    }
    *text = stretch->bytes + (at - stretch->at);
    if ((*text)[0] != '{' || (*text)[length - 1] != '}' ||
        (texts->files[file].changed && !is_event(*text, length)))
        return changed(texts->files + file, error);
    return GPUT_OK;
}

void source_texts_destroy(struct source_texts *texts)
{
    if (!texts)
        return;
    for (uint32_t i = 0; i < texts->file_count; i++) {
        close(texts->files[i].fd);
        free(texts->files[i].path);
    }
    for (uint32_t i = 0; i < texts->made; i++)
        free(texts->stretches[i].bytes);
    free(texts);
}
