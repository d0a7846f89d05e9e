#include "views/report/export/report_stacks.h"

#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A call of the name at that place: a letter. Process 0 and thread 7 unless said otherwise. */
struct given {
    uint32_t name;
    double start, stop;
    uint32_t process;
};

static void add_column(struct report_payload *payload, struct doc *calls, const char *key,
    const double *values, size_t count)
{
    struct report_column column;
    report_column_init(&column, &payload->spool, 1e-7);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(report_column_add(&column, values[i], NULL), GPUT_OK);
    assert_int_equal(report_payload_add_column(payload, calls, key, &column, NULL), GPUT_OK);
}

/* A session with these calls in a new payload. */
static struct doc *make_session(
    struct report_payload *payload, const struct given *given, size_t count)
{
    static const char *const keys[] = {"start", "stop", "name", "process", "thread"};
    double values[5][16];
    assert_int_equal(report_payload_init(payload, "/tmp", NULL), GPUT_OK);
    struct doc *session = doc_add_object(payload->root, "session");
    struct doc *calls = doc_add_object(session, "calls");
    struct doc *processes = doc_add_array(calls, "processes");
    doc_add_string(doc_add_object(processes, NULL), "label", "one");
    doc_add_string(doc_add_object(processes, NULL), "label", "two");
    for (size_t i = 0; i < count; i++) {
        values[0][i] = given[i].start;
        values[1][i] = given[i].stop;
        values[2][i] = given[i].name;
        values[3][i] = given[i].process;
        values[4][i] = 7;
    }
    for (size_t key = 0; key < 5; key++)
        add_column(payload, calls, keys[key], values[key], count);
    return session;
}

static int note_stack(void *user, const struct report_stack *stack, struct gput_error *error)
{
    (void)error;
    sprintf((char *)user + strlen(user), "%s %d.%d %g-%g:", stack->process, (int)stack->thread,
        (int)stack->number, stack->begin, stack->end);
    return GPUT_OK;
}

static int note_call(void *user, bool is_open, uint32_t name, double at, struct gput_error *error)
{
    (void)error;
    sprintf((char *)user + strlen(user), " %c%c%g", is_open ? '+' : '-', (char)('a' + name), at);
    return GPUT_OK;
}

static int note_end(void *user, struct gput_error *error)
{
    (void)error;
    strcat(user, ";");
    return GPUT_OK;
}

static void assert_stacks(const struct given *given, size_t count, const char *expected)
{
    char text[1024] = "";
    struct report_payload payload;
    const struct report_stack_visitor visitor = {note_stack, note_call, note_end, text};
    const struct doc *session = make_session(&payload, given, count);
    assert_int_equal(report_stacks_walk(&payload, session, &visitor, NULL), GPUT_OK);
    assert_string_equal(text, expected);
    report_payload_finish(&payload);
}

#define ASSERT_STACKS(given, expected) assert_stacks(given, sizeof given / sizeof *given, expected)

TEST(nested_calls_are_brackets)
{
    const struct given calls[] = {{0, 1, 9, 0}, {1, 2, 4, 0}, {2, 2, 3, 0}, {1, 5, 9, 0}};
    ASSERT_STACKS(calls, "one 7.0 0-9: +a1 +b2 +c2 -c3 -b4 +b5 -b9 -a9;");
}

TEST(threads_come_one_after_the_other)
{
    const struct given calls[] = {{0, 1, 2, 1}, {1, 1.5, 3, 0}, {0, 4, 5, 1}};
    ASSERT_STACKS(calls, "one 7.0 0-5: +b1.5 -b3;two 7.0 0-5: +a1 -a2 +a4 -a5;");
}

/* a stops while b, which started later, goes on. */
TEST(what_overlaps_has_stacks_of_its_own)
{
    const struct given calls[] = {{0, 0, 5, 0}, {1, 2, 8, 0}};
    ASSERT_STACKS(calls, "one 7.0 0-8: +a0 -a5;one 7.1 0-8: +b2 -b8;");
}

TEST(a_stack_is_used_again)
{
    const struct given calls[] = {
        {0, 0, 5, 0}, {1, 2, 8, 0}, {2, 3, 4, 0}, {3, 4, 7, 0}, {4, 6, 9, 0}};
    ASSERT_STACKS(calls, "one 7.0 0-9: +a0 +c3 -c4 -a5 +e6 -e9;one 7.1 0-9: +b2 +d4 -d7 -b8;");
}

/* As traces with rounded times have it. */
TEST(a_call_that_stops_a_little_late_is_nested)
{
    const struct given calls[] = {{0, 0, 5, 0}, {1, 2, 5.0000008, 0}, {2, 5, 6, 0}};
    ASSERT_STACKS(calls, "one 7.0 0-6: +a0 +b2 -b5 -a5 +c5 -c6;");
}

TEST(calls_without_a_length_disturb_none)
{
    const struct given calls[] = {{0, 0, 5, 0}, {1, 2, 2, 0}, {2, 2, 2, 0}, {3, 3, 5, 0}};
    ASSERT_STACKS(calls, "one 7.0 0-5: +a0 +b2 -b2 +c2 -c2 +d3 -d5 -a5;");
}

TEST(a_call_that_has_not_ended_goes_on_to_the_end)
{
    const struct given calls[] = {{0, 0, NAN, 0}, {1, 2, 8, 0}};
    ASSERT_STACKS(calls, "one 7.0 0-8: +a0 +b2 -b8 -a8;");
}

TEST(a_session_without_calls_has_no_stacks)
{
    char text[16] = "";
    struct doc *session = doc_create_object();
    const struct report_stack_visitor visitor = {note_stack, note_call, note_end, text};
    assert_int_equal(report_stacks_walk(NULL, session, &visitor, NULL), GPUT_OK);
    assert_string_equal(text, "");
    doc_destroy(session);
}

RUN_TESTS(NULL, NULL)
