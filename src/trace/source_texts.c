#include "trace/source_texts.h"

#include "base/file.h"
#include "trace/trace_event.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 200 /* descriptors: most systems give a process 1024 */
#define STRETCH_COUNT 64
#define LEAST_STRETCH (16u << 10)
#define MOST_STRETCH (224u << 10)

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
    size_t wanted; /* how much is read at once: more while reading goes on where it ended */
    size_t capacity;
    char *bytes;
    uint64_t used; /* when, counted in fetches that had to read */
};

struct source_texts {
    struct source_file files[MAX_FILES];
    uint32_t file_count;
    struct stretch stretches[STRETCH_COUNT];
    struct stretch *last;
    uint64_t reads;
};

int source_texts_create(struct source_texts **texts, struct gput_error *error)
{
    *texts = calloc(1, sizeof **texts);
    if (!*texts)
        return error_memory(error);
    (*texts)->last = (*texts)->stretches;
    for (size_t i = 0; i < STRETCH_COUNT; i++)
        (*texts)->stretches[i].file = SOURCE_NONE;
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

/* A text there would have come next, had the stretch been longer. */
static bool continues(const struct stretch *stretch, uint32_t file, uint64_t at)
{
    return stretch->file == file && at >= stretch->at &&
           at <= stretch->at + stretch->length + LEAST_STRETCH;
}

/* The stretch that holds the text, that goes on there, or that was not used for longest. */
static struct stretch *find(struct source_texts *texts, uint32_t file, uint64_t at, size_t length)
{
    struct stretch *oldest = texts->stretches, *before = NULL;
    for (size_t i = 0; i < STRETCH_COUNT; i++) {
        struct stretch *stretch = texts->stretches + i;
        if (holds(stretch, file, at, length))
            return stretch;
        if (continues(stretch, file, at))
            before = stretch;
        if (stretch->used < oldest->used)
            oldest = stretch;
    }
    if (before) {
        before->wanted = before->wanted * 2 < MOST_STRETCH ? before->wanted * 2 : MOST_STRETCH;
        return before;
    }
    oldest->wanted = LEAST_STRETCH;
    return oldest;
}

static void look_for_change(struct source_file *file)
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

static int read_stretch(
    struct source_texts *texts, struct stretch *stretch, size_t needed, struct gput_error *error)
{
    struct source_file *file = texts->files + stretch->file;
    look_for_change(file);
    TRY(file_read_at(file->fd, file->path, stretch->bytes, stretch->capacity - JSON_PADDING,
        stretch->at, &stretch->length, error));
    if (stretch->length < needed)
        return changed(file, error);
    memset(stretch->bytes + stretch->length, 0, JSON_PADDING);
    return GPUT_OK;
}

/* Has a stretch reach from a little before the text, for what is not quite in order, to behind it.
 */
static int move(struct source_texts *texts, struct stretch *stretch, uint32_t file, uint64_t at,
    size_t length, struct gput_error *error)
{
    uint64_t before = at < stretch->wanted / 8 ? at : stretch->wanted / 8;
    size_t needed = before + length;
    size_t capacity = (needed > stretch->wanted ? needed : stretch->wanted) + JSON_PADDING;
    stretch->file = SOURCE_NONE;
    if (capacity > stretch->capacity) {
        free(stretch->bytes);
        stretch->bytes = malloc(capacity);
        stretch->capacity = stretch->bytes ? capacity : 0;
        if (!stretch->bytes)
            return error_memory(error);
    }
    stretch->file = file;
    stretch->at = at - before;
    stretch->used = ++texts->reads;
    int code = read_stretch(texts, stretch, needed, error);
    if (code != GPUT_OK)
        stretch->file = SOURCE_NONE;
    return code;
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
    if (!holds(stretch, file, at, length)) {
        texts->last = stretch = find(texts, file, at, length);
        if (!holds(stretch, file, at, length))
            TRY(move(texts, stretch, file, at, length, error));
        stretch->used = texts->reads;
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
    for (size_t i = 0; i < STRETCH_COUNT; i++)
        free(texts->stretches[i].bytes);
    free(texts);
}
