#include "base/str.h"
#include "files/trace/event_stream.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char array_form[] =
    "[\n"
    "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 0, \"args\": {\"name\": \"Step\"}},\n"
    "{\"name\": \"a\", \"ph\": \"X\", \"pid\": 0, \"tid\": 1, \"ts\": 1.5, \"dur\": 2, \"args\": "
    "{}},\n"
    "{\"name\": \"b\", \"ph\": \"X\", \"pid\": 0, \"tid\": 1, \"ts\": 4, \"dur\": 1},\n"
    "{}\n"
    "]\n";

static const char object_form[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"x\": {\"y\": []}}],\n"
    " \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 3, \"world_size\": 8},\n"
    " \"baseTimeNanoseconds\": 1700000000000000000,\n"
    " \"traceEvents\": [\n"
    "  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7,\n"
    "   \"ts\": 12.345, \"dur\": 0.001, \"args\": {\n \"stream\": 7 } } ],\n"
    " \"traceName\": \"x.json\"}\n";

struct outcome {
    uint64_t events;
    int64_t starts_ns; /* their sum */
    struct trace_header header;
    struct event_counts counts;
    char warning[256];
};

static struct outcome read_all(const void *bytes, size_t length)
{
    struct outcome outcome = {0};
    struct byte_source *source;
    struct event_stream *stream;
    struct trace_event event;
    bool there;
    assert_int_equal(byte_source_open_memory(bytes, length, &source, NULL), GPUT_OK);
    assert_int_equal(event_stream_open_source(source, "t.json", &stream, NULL), GPUT_OK);
    while (event_stream_next(stream, &event, &there, NULL) == GPUT_OK && there) {
        outcome.events++;
        outcome.starts_ns += event.has_start ? event.start_ns : 0;
    }
    outcome.header = *event_stream_header(stream);
    outcome.counts = *event_stream_counts(stream);
    const char *warning = event_stream_warning(stream);
    snprintf(outcome.warning, sizeof outcome.warning, "%s", warning ? warning : "");
    event_stream_close(stream);
    return outcome;
}

TEST(reads_the_array_form)
{
    struct outcome outcome = read_all(array_form, strlen(array_form));
    assert_int_equal(outcome.events, 3);
    assert_int_equal(outcome.starts_ns, 5500);
    assert_int_equal(outcome.counts.empty, 1);
    assert_string_equal(outcome.warning, "");
}

TEST(reads_the_object_form_with_its_header)
{
    struct outcome outcome = read_all(object_form, strlen(object_form));
    assert_int_equal(outcome.events, 1);
    assert_int_equal(outcome.starts_ns, 12345);
    assert_int_equal(outcome.header.base_time_ns, 1700000000000000000);
    assert_int_equal(outcome.header.rank, 3);
    assert_int_equal(outcome.header.world_size, 8);
    assert_string_equal(outcome.warning, "");
}

/* How many events end within the first `length` bytes. */
static uint64_t whole_events(const char *text, size_t length)
{
    static const char *const ends[] = {"\"Step\"}}", "\"args\": {}}", "\"dur\": 1}", "7 } }"};
    uint64_t count = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *found = strstr(text, ends[i]);
        count += found && (size_t)(found - text) + strlen(ends[i]) <= length;
    }
    return count;
}

TEST(keeps_every_whole_event_before_a_cut)
{
    const char *const texts[] = {array_form, object_form};
    for (size_t i = 0; i < 2; i++) {
        for (size_t length = 0; length + 3 < strlen(texts[i]); length++) {
            struct outcome outcome = read_all(texts[i], length);
            assert_int_equal(outcome.events, whole_events(texts[i], length));
            assert_true(outcome.counts.truncated);
            assert_non_null(strstr(outcome.warning, "t.json ends too early"));
            assert_int_equal(outcome.counts.damaged, 0);
        }
    }
}

TEST(skips_damage_and_counts_it)
{
    static const char damaged[] =
        "[{\"ph\": \"X\", \"ts\": 1},\n"
        "{\"ph\": \"X\", \"ts\": oops, \"args\": {\"a\": 1}},\n"
        "{\"ph\": \"X\", \"name\": \"line\nbreak\", \"ts\": 5},\n"
        "{\"ph\": \"X\", \"ts\": 3}, garbage, {\"ph\": \"X\", \"ts\": 4},\n"
        "{\"no type\": 1}]";
    struct outcome outcome = read_all(damaged, strlen(damaged));
    assert_int_equal(outcome.events, 4); /* a line end within a string is read */
    assert_int_equal(outcome.starts_ns, 13000);
    assert_int_equal(outcome.counts.damaged, 3);
    assert_non_null(strstr(outcome.warning, "t.json: 3 damaged places were skipped"));
}

TEST(a_backslash_that_escapes_nothing_is_no_damage)
{
    static const char text[] =
        "{\"traceName\": \"C:\\Users\\t\", \"distributedInfo\": {\"rank\": 2},\n"
        "\"traceEvents\": [{\"ph\": \"X\", \"ts\": 1},\n"
        "{\"ph\": \"X\", \"name\": \"C:\\Users\\k\", \"ts\": 5},\n"
        "{\"ph\": \"X\", \"ts\": 3}]}";
    struct outcome outcome = read_all(text, strlen(text));
    assert_int_equal(outcome.events, 3);
    assert_int_equal(outcome.starts_ns, 9000);
    assert_int_equal(outcome.header.rank, 2);
    assert_int_equal(outcome.counts.damaged, 0);
    assert_int_equal(outcome.counts.repaired, 2);
    assert_string_equal(outcome.warning,
        "t.json: 2 places were read with backslashes or control characters that are not escaped");
}

TEST(a_header_that_is_damaged_costs_no_events)
{
    static const char text[] =
        "{\"a\": oops, \"b\": 1, \"traceEvents\": [{\"ph\": \"X\", \"ts\": 1}], \"c\": oops}";
    struct outcome outcome = read_all(text, strlen(text));
    assert_int_equal(outcome.events, 1);
    assert_string_equal(outcome.warning, "t.json: 2 damaged places were skipped");
}

TEST(counts_what_follows_the_trace)
{
    static const char *const texts[] = {"[{\"ph\": \"X\", \"ts\": 1}]\n [{}]\n",
        "{\"traceEvents\": [], \"a\": 1}\n [{}]\n", "{\"traceEvents\": [] }\n [{}]\n",
        "[{\"ph\": \"X\", \"ts\": 1}]\n \n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct outcome outcome = read_all(texts[i], strlen(texts[i]));
        assert_int_equal(outcome.counts.after, i == 3 ? 0 : 5);
        assert_string_equal(outcome.warning,
            i == 3 ? "" : "t.json: 5 bytes were not read after the end of the trace");
    }
}

TEST(says_what_is_no_trace)
{
    assert_non_null(strstr(read_all("hello", 5).warning, "is not a trace"));
    assert_non_null(strstr(read_all("{\"a\": 1}", 8).warning, "no \"traceEvents\""));
    assert_non_null(strstr(read_all("", 0).warning, "ends too early"));
    assert_string_equal(read_all("[]", 2).warning, "");
}

static size_t pack(const char *text, size_t length, unsigned char *packed, size_t capacity)
{
    z_stream stream = {0};
    assert_int_equal(
        deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)(uintptr_t)text;
    stream.avail_in = (uInt)length;
    stream.next_out = packed;
    stream.avail_out = (uInt)capacity;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return capacity - stream.avail_out;
}

/* What is unpacked arrives member by member, so that each cut is where a window ends once. */
TEST(reads_gzip_of_several_members_cut_anywhere)
{
    unsigned char packed[4096];
    for (size_t cut = 0; cut <= strlen(object_form); cut++) {
        size_t first = pack(object_form, cut, packed, sizeof packed);
        size_t both = first + pack(object_form + cut, strlen(object_form) - cut, packed + first,
                                  sizeof packed - first);
        struct outcome outcome = read_all(packed, both);
        assert_int_equal(outcome.events, 1);
        assert_int_equal(outcome.starts_ns, 12345);
        assert_int_equal(outcome.header.world_size, 8);
        assert_string_equal(outcome.warning, "");
    }
}

TEST(uses_what_can_be_unpacked_of_broken_gzip)
{
    unsigned char packed[4096];
    size_t length = pack(array_form, strlen(array_form), packed, sizeof packed);
    struct outcome outcome = read_all(packed, length - 4); /* the check sum is cut */
    assert_int_equal(outcome.events, 3);
    assert_non_null(strstr(outcome.warning, "the packed data ends too early"));
    packed[length - 6] ^= 0x55; /* the check sum is wrong */
    outcome = read_all(packed, length);
    assert_int_equal(outcome.events, 3);
    assert_non_null(strstr(outcome.warning, "the packed data is damaged"));
}

TEST(reads_events_larger_than_its_window)
{
    struct str text = {0};
    str_append(&text, "[{\"ph\": \"X\", \"ts\": 1, \"name\": \"");
    str_append_repeated(&text, 'x', 3000000);
    str_append(&text, "\"}");
    for (int i = 0; i < 20000; i++)
        str_printf(&text, ",\n{\"ph\": \"X\", \"ts\": %d, \"name\": \"event %d\"}", i, i);
    str_append(&text, "]");
    struct outcome outcome = read_all(text.data, text.length);
    assert_int_equal(outcome.events, 20001);
    assert_int_equal(outcome.starts_ns, INT64_C(1000) * (1 + 19999 * 10000));
    assert_string_equal(outcome.warning, "");
    str_finish(&text);
}

TEST(reads_no_further_in_what_is_no_trace)
{
    struct event_stream *stream;
    struct trace_event event;
    bool there;
    assert_int_equal(event_stream_open("/dev/zero", &stream, NULL), GPUT_OK);
    assert_int_equal(event_stream_next(stream, &event, &there, NULL), GPUT_OK);
    assert_false(there);
    assert_non_null(strstr(event_stream_warning(stream), "is not a trace"));
    event_stream_close(stream);
}

/* ---- several threads ---- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* An event of one of several kinds, some of which hold what looks like events. */
static void append_event(struct str *text, uint32_t *random)
{
    uint32_t kind = next_random(random) % 1000, time = next_random(random);
    str_printf(text, "%*s{\"ph\": \"X\", \"ts\": %u.5, \"name\": \"", (int)(kind % 3), "", time);
    if (kind == 0)
        str_append_repeated(text, 'x', 700000);
    str_append(text, kind % 7 == 0 ? "},\\n{\\\"ph\\\": \\\"X\\\"}, \\\\" : "a{");
    str_append(text, "\", \"args\": {\"in\": [");
    for (uint32_t i = 0; i < (kind == 1 ? 20000 : kind % 4); i++)
        str_printf(text, "%s{\"ph\": \"X\", \"ts\": %u}", i > 0 ? ",\n" : "", i);
    str_append(text, "]}}");
    if (kind == 2)
        str_append(text, ", , {\"ph\": \"X\", \"ts\": oops}");
    if (kind == 3)
        str_append(text, ",{}, {\"no\": \"type\"}, {}");
    str_append(text, kind % 5 == 0 ? "," : ",\n");
}

static void make_trace(struct str *text, uint32_t seed, bool is_damaged)
{
    str_clear(text);
    str_append(text, "{\"traceEvents\": [");
    while (text->length < 6000000)
        append_event(text, &seed);
    str_append(text, "{}], \"traceEvents\": [{\"ph\": \"X\", \"ts\": 9}], \"end\": 1}");
    for (int i = 0; is_damaged && i < 30; i++)
        text->data[next_random(&seed) % text->length] = "\"{}[],x"[i % 7];
}

struct sum {
    uint64_t events, hash;
    struct event_counts counts;
    char warning[256];
};

static struct sum sum_up(const char *path, unsigned cores)
{
    struct sum sum = {0};
    struct event_stream *stream;
    struct trace_event event;
    bool there;
    assert_int_equal(event_stream_open(path, &stream, NULL), GPUT_OK);
    event_stream_use_cores(stream, cores);
    while (event_stream_next(stream, &event, &there, NULL) == GPUT_OK && there) {
        const uint64_t parts[] = {event_stream_place(stream), event.length,
            (uint64_t)event.start_ns, event.name.length, event.args.length};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            sum.hash = (sum.hash ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
        for (size_t i = 0; i < event.length; i += 64)
            sum.hash = (sum.hash ^ (unsigned char)event.text[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum.events++;
    }
    sum.counts = *event_stream_counts(stream);
    const char *warning = event_stream_warning(stream);
    snprintf(sum.warning, sizeof sum.warning, "%s", warning ? warning : "");
    event_stream_close(stream);
    return sum;
}

static void write_file(const char *path, const struct str *text, bool is_packed)
{
    gzFile file = gzopen(path, is_packed ? "wb1" : "wbT");
    assert_int_equal(gzfwrite(text->data, 1, text->length, file), text->length);
    assert_int_equal(gzclose(file), Z_OK);
}

/* Returns the number of events. */
static uint64_t compare_cores(const struct str *text, bool is_packed)
{
    static const unsigned cores[] = {2, 7};
    char path[] = "/tmp/gput-test-XXXXXX";
    close(mkstemp(path));
    write_file(path, text, is_packed);
    struct sum one = sum_up(path, 1);
    for (size_t i = 0; i < 2; i++) {
        struct sum several = sum_up(path, cores[i]);
        assert_int_equal(several.events, one.events);
        assert_int_equal(several.hash, one.hash);
        assert_memory_equal(&several.counts, &one.counts, sizeof one.counts);
        assert_string_equal(several.warning, one.warning);
    }
    unlink(path);
    return one.events;
}

TEST(several_threads_find_what_one_does)
{
    struct str text = {0};
    for (uint32_t seed = 1; seed <= 3; seed++) {
        make_trace(&text, seed, false);
        assert_true(compare_cores(&text, seed == 2) > 2000);
        text.length -= 2000000; /* truncated */
        compare_cores(&text, seed == 2);
        make_trace(&text, seed, true);
        compare_cores(&text, false);
    }
    str_finish(&text);
}

RUN_TESTS(NULL, NULL)
