#include "base/file.h"
#include "base/json_text.h"
#include "base/padded.h"
#include "files/trace/merged_mark.h"
#include "testing.h"

#include <unistd.h>

/* The name of a process with that after it in its arguments, up to the next call. */
static const char *process_name(const char *mark)
{
    static char text[512];
    snprintf(text, sizeof text,
        "[{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, \"args\": {\"name\": \"p\"%s}}]",
        mark);
    return text;
}

static bool read_mark(const char *trace, struct merged_mark *mark)
{
    static char *text; /* the mark points into it */
    struct trace_event event;
    free(text);
    text = padded_copy(trace, strlen(trace));
    const char *at = text + 1;
    assert_int_equal(trace_event_scan(&at, text + strlen(trace), &event), JSON_OK);
    bool marked = merged_mark_read(&event, mark);
    if (!marked) {
        free(text);
        text = NULL;
    }
    return marked;
}

static void assert_reads_what_was_written(
    int64_t trace, const char *name, int64_t rank, int64_t world_size)
{
    struct merged_mark mark;
    struct str out = {0}, read = {0};
    merged_mark_append(&out, trace, name, rank, world_size);
    assert_true(read_mark(process_name(str_text(&out)), &mark));
    assert_int_equal(mark.trace, trace);
    assert_int_equal(mark.rank, rank);
    assert_int_equal(mark.world_size, world_size);
    if (name) {
        json_append_string(&mark.name, &read);
        assert_string_equal(str_text(&read), name);
    }
    str_finish(&out);
    str_finish(&read);
}

TEST(reads_what_was_written)
{
    assert_reads_what_was_written(0, "rank0.json", 0, 4);
    assert_reads_what_was_written(7, "a \"b\" \xc3\xa9.json", -1, -1);
    assert_reads_what_was_written(-1, NULL, -1, -1);
    struct merged_mark mark;
    assert_false(read_mark(process_name(""), &mark));
}

TEST(passes_over_what_is_no_mark_of_ours)
{
    struct merged_mark mark;
    assert_false(read_mark(process_name(", \"merged_by\": \"other\""), &mark));
    assert_false(read_mark(process_name(", \"merged_by\": 1"), &mark));
    assert_false(read_mark("[{\"name\": \"process_name\", \"ph\": \"X\", \"args\": {\"merged_by\": "
                           "\"gpu-tracker\"}}]",
        &mark));
    assert_true(read_mark(
        process_name(", \"merged_by\": \"gpu-tracker\", \"trace\": -5, \"trace_name\": \"a\""),
        &mark));
    assert_int_equal(mark.trace, -1);
    assert_true(read_mark(process_name(", \"merged_by\": \"gpu-tracker\", \"trace\": 5"), &mark));
    assert_int_equal(mark.trace, -1); /* without its name */
    assert_false(read_mark(process_name(""), &mark));
}

TEST(reads_the_beginning_of_a_file)
{
    char path[] = "/tmp/merged-mark-XXXXXX";
    close(mkstemp(path));
    const char *merged = process_name(", \"merged_by\": \"gpu-tracker\"");
    assert_false(merged_mark_is_in(path)); /* empty */
    assert_int_equal(file_write_atomic(path, merged, strlen(merged), NULL), GPUT_OK);
    assert_true(merged_mark_is_in(path));
    assert_int_equal(file_write_atomic(path, merged, strlen(merged) - 1, NULL), GPUT_OK);
    assert_true(merged_mark_is_in(path)); /* truncated after its first event */
    assert_int_equal(file_write_atomic(path, merged, strlen(merged) - 2, NULL), GPUT_OK);
    assert_false(merged_mark_is_in(path));
    unlink(path);
    assert_false(merged_mark_is_in(path));
    assert_false(merged_mark_is_in("/tmp"));
}

RUN_TESTS(NULL, NULL)
