/*
 * What tests of marks share: logs in every format, marks from threads, and reading back.
 */
#pragma once

#include "files/marks/sub_tracking_file.h"
#include "files/temporary.h"

#include <gputracker/blocks.h>

#include <pthread.h>

struct content {
    struct sub_tracking_names *names;
    struct sub_tracking_mark *rows;
    size_t count;
    char warning[512];
    struct sub_tracking_lost lost;
};

static inline struct content read_file(const char *path)
{
    struct content content = {.names = sub_tracking_names_create()};
    content.rows = malloc(200000 * sizeof *content.rows);
    struct sub_tracking_reader *reader;
    struct gput_error error;
    if (sub_tracking_reader_open(path, content.names, &reader, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    size_t got;
    do {
        assert_int_equal(sub_tracking_reader_next(reader, content.rows + content.count,
                             200000 - content.count, &got, &error),
            GPUT_OK);
        content.count += got;
    } while (got > 0);
    const char *warning = sub_tracking_reader_warning(reader);
    snprintf(content.warning, sizeof content.warning, "%s", warning ? warning : "");
    content.lost = *sub_tracking_reader_lost(reader);
    sub_tracking_reader_close(reader);
    return content;
}

static inline void free_content(struct content *content)
{
    sub_tracking_names_destroy(content->names);
    free(content->rows);
}

static inline void assert_row(
    const struct content *content, size_t i, const char *name, int position)
{
    assert_true(i < content->count);
    assert_string_equal(sub_tracking_names_text(content->names, content->rows[i].name), name);
    assert_int_equal(content->rows[i].position, position);
    if (i > 0)
        assert_true(content->rows[i].timestamp_ns >= content->rows[i - 1].timestamp_ns);
}

/* Each thread's starts and stops of a name take turns, and no start is left open. */
static inline void assert_paired(const struct content *content, size_t pairs)
{
    enum { MAX_THREADS = 64 };
    int64_t threads[MAX_THREADS];
    int open[MAX_THREADS] = {0};
    size_t n_threads = 0;
    size_t stops = 0;
    for (size_t i = 0; i < content->count; i++) {
        const struct sub_tracking_mark *row = &content->rows[i];
        size_t t = 0;
        while (t < n_threads && threads[t] != row->thread_id)
            t++;
        if (t == n_threads)
            threads[n_threads++] = row->thread_id;
        open[t] += row->position == SUB_TRACKING_START ? 1 : -1;
        assert_in_range(open[t], 0, 1);
        stops += row->position;
    }
    assert_int_equal(stops, pairs);
    assert_int_equal(content->count, pairs * 2);
}

static const char *const files[] = {"marks.csv", "marks.sqlite", "marks.gputblocks"};

static inline struct gput_blocks *open_blocks(const char *path, struct gput_blocks_options options)
{
    struct gput_blocks *blocks;
    struct gput_error error;
    if (gput_blocks_open(path, &options, &blocks, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return blocks;
}

/* ---- Marks from threads ---- */

enum { THREADS = 8, PAIRS_EACH = 1500 };

static inline void *mark_many(void *pointer)
{
    for (int i = 0; i < PAIRS_EACH; i++) {
        char name[32];
        snprintf(name, sizeof name, "block %d", i % 50);
        gput_blocks_start(pointer, name);
        gput_blocks_stop(pointer);
    }
    return NULL;
}

static inline void mark_from_threads(struct gput_blocks *blocks)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, mark_many, blocks), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
