/*
 * What tests of collectors share: a process that attaches one and marks, and what its log has then.
 */
#pragma once

#include "base/wall_clock.h"
#include "files/marks/sub_tracking_file.h"
#include "files/marks/sub_tracking_names.h"
#include "region_status.h"
#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct recorded {
    char text[1024]; /* the first marks: "+name " for a start, "-name " for a stop */
    uint64_t starts, stops, unmatched, paused;
    uint64_t open_at_rest; /* calls that were open when the process said that it rests */
    int64_t rank;          /* of its process */
    char thread_name[256]; /* of its first thread */
    char categories[256];  /* each with a semicolon */
};

/* Of the wall clock, in memory that the process which marks shares; 0: none. */
#define MAX_RESTS 2
static int64_t *rests_ns;

/* Called by a process that marks, when none of its calls may be open: after this no call may end
 * that began before. */
static inline void rest(int number)
{
    usleep(2000); /* clocks are read a little apart */
    rests_ns[number] = wall_clock_ns();
    usleep(2000);
}

static inline int make_folder(void **state)
{
    *state = strdup("/tmp/gpu-tracker-test-XXXXXX");
    return mkdtemp(*state) && setenv("GPUT_REGIONS_FOLDER", *state, 1) == 0 ? 0 : -1;
}

static inline void remove_files(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL)
        unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

static inline int remove_folder(void **state)
{
    remove_files(*state);
    rmdir(*state);
    free(*state);
    return 0;
}

/* Runs both in a process; returns its exit status: 0, or 1 where it could not attach. */
static inline int run(bool (*attach)(void), void (*mark)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        bool is_attached = attach();
        if (is_attached)
            mark();
        _exit(!is_attached);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The path of the only file in a folder whose name ends so. */
static inline void find_file(const char *folder, const char *end, char path[4096])
{
    DIR *opened = opendir(folder);
    const struct dirent *entry;
    path[0] = '\0';
    while ((entry = readdir(opened)) != NULL) {
        size_t length = strlen(entry->d_name), wanted = strlen(end);
        if (length > wanted && strcmp(entry->d_name + length - wanted, end) == 0) {
            assert_int_equal(path[0], '\0');
            snprintf(path, 4096, "%s/%s", folder, entry->d_name);
        }
    }
    closedir(opened);
    assert_int_not_equal(path[0], '\0');
}

/* Its content, of that size; to be freed. */
static inline void *read_only_file(const char *folder, const char *end, size_t size)
{
    char path[4096];
    void *content = malloc(size);
    find_file(folder, end, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, content, size), (ssize_t)size);
    close(fd);
    return content;
}

/* Whether a call was open at one of the rests: until the next mark of its name and thread. */
static inline bool was_open_at_rest(
    const struct sub_tracking_mark *marks, size_t start, size_t count)
{
    size_t end = start + 1;
    while (end < count &&
           (marks[end].name != marks[start].name || marks[end].thread_id != marks[start].thread_id))
        end++;
    for (int i = 0; i < MAX_RESTS && end < count; i++) {
        if (marks[start].timestamp_ns < rests_ns[i] && rests_ns[i] < marks[end].timestamp_ns)
            return true;
    }
    return false;
}

static inline void read_marks(const char *path, struct recorded *recorded)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct sub_tracking_reader *reader;
    struct sub_tracking_mark marks[64];
    struct gput_error error;
    size_t count = 1, used = 0;
    assert_int_equal(sub_tracking_reader_open(path, names, &reader, &error), GPUT_OK);
    while (count > 0) {
        count = 0;
        assert_int_equal(sub_tracking_reader_next(reader, marks, 64, &count, &error), GPUT_OK);
        for (size_t i = 0; i < count; i++) {
            bool is_start = marks[i].position == SUB_TRACKING_START;
            const char *name = sub_tracking_names_text(names, marks[i].name);
            recorded->starts += is_start;
            recorded->stops += !is_start;
            recorded->open_at_rest += is_start && was_open_at_rest(marks, i, count);
            if (used < sizeof recorded->text - 1)
                used += (size_t)snprintf(recorded->text + used, sizeof recorded->text - used,
                    "%c%s ", is_start ? '+' : '-', name);
        }
    }
    struct sub_tracking_labels *labels = sub_tracking_reader_labels(reader);
    const char *name = sub_tracking_labels_thread(labels, marks[0].process_id, marks[0].process_id);
    recorded->rank = sub_tracking_labels_rank(labels, marks[0].process_id);
    for (size_t i = 0; i < labels->categories.count; i++) {
        size_t length = strlen(recorded->categories);
        snprintf(recorded->categories + length, sizeof recorded->categories - length, "%s;",
            names_text(&labels->categories, (uint32_t)i));
    }
    snprintf(recorded->thread_name, sizeof recorded->thread_name, "%s", name ? name : "");
    sub_tracking_reader_close(reader);
    sub_tracking_names_destroy(names);
}

/* What a process that attaches and marks leaves in the folder. */
static inline struct recorded record(const char *folder, bool (*attach)(void), void (*mark)(void))
{
    char path[4096];
    struct recorded recorded = {.text = ""};
    size_t size = MAX_RESTS * sizeof *rests_ns;
    rests_ns = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(rests_ns != MAP_FAILED);
    assert_int_equal(run(attach, mark), 0);
    find_file(folder, ".gputblocks", path);
    read_marks(path, &recorded);
    munmap(rests_ns, size);
    struct region_status *status = read_only_file(folder, ".status", sizeof *status);
    for (size_t i = 0; i < REGION_STATUS_SLOTS; i++)
        recorded.unmatched += status->slots[i].left_out[REGION_UNMATCHED_ENDS];
    for (size_t i = 0; i < REGION_STATUS_SLOTS; i++)
        recorded.paused += status->slots[i].left_out[REGION_LEFT_OUT_BY_PAUSE];
    free(status);
    return recorded;
}

static inline void mark_nothing(void) {}

/* Whether it could attach. */
static inline bool record_nothing(const char *folder, bool (*attach)(void))
{
    (void)folder;
    return run(attach, mark_nothing) == 0;
}
