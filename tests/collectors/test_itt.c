/*
 * The ITT collector, whose sources are part of this program: it is attached as the parts of ITT do
 * that which are linked into programs, in a process of its own for each test.
 */
#include "regions_log.h"

#include <pthread.h>

struct api_function {
    const char *name;
    void **pointer;
    void *initial, *without_tool;
    int group;
};

struct api_table {
    unsigned char magic[8];
    unsigned long version[3];
    long states[3];
    pthread_mutex_t mutex;
    void *library, *error_handler;
    const char **library_path;
    struct api_function *functions;
};

struct id {
    unsigned long long parts[3];
};

void __itt_api_init(struct api_table *table, int groups);

/* One part of ITT; a program may have several. */
struct part {
    void *(*domain_create)(const char *);
    void *(*string_create)(const char *);
    void (*task_begin)(void *, struct id, struct id, void *);
    void (*task_end)(void *);
    void (*frame_begin)(void *, const struct id *);
    void (*frame_end)(void *, const struct id *);
    int (*event_create)(const char *, int);
    int (*event_start)(int);
    int (*event_end)(int);
    void (*region_begin)(void *, struct id, struct id, void *);
    void (*region_end)(void *, struct id);
    void (*pause)(void);
    void (*resume)(void);
    void (*set_thread_name)(const char *);
    void (*unknown)(void);
};

static struct part parts[2];

static void without_tool(void) {}

static void attach_part(struct part *part)
{
    struct api_function functions[] = {
        {"__itt_domain_create", (void **)&part->domain_create, NULL, NULL, 0},
        {"__itt_string_handle_create", (void **)&part->string_create, NULL, NULL, 0},
        {"__itt_task_begin", (void **)&part->task_begin, NULL, NULL, 0},
        {"__itt_task_end", (void **)&part->task_end, NULL, NULL, 0},
        {"__itt_frame_begin_v3", (void **)&part->frame_begin, NULL, NULL, 0},
        {"__itt_frame_end_v3", (void **)&part->frame_end, NULL, NULL, 0},
        {"__itt_event_create", (void **)&part->event_create, NULL, NULL, 0},
        {"__itt_event_start", (void **)&part->event_start, NULL, NULL, 0},
        {"__itt_event_end", (void **)&part->event_end, NULL, NULL, 0},
        {"__itt_region_begin", (void **)&part->region_begin, NULL, NULL, 0},
        {"__itt_region_end", (void **)&part->region_end, NULL, NULL, 0},
        {"__itt_pause", (void **)&part->pause, NULL, NULL, 0},
        {"__itt_resume", (void **)&part->resume, NULL, NULL, 0},
        {"__itt_thread_set_name", (void **)&part->set_thread_name, NULL, NULL, 0},
        {"__itt_what_is_new", (void **)&part->unknown, NULL, (void *)without_tool, 0},
        {NULL, NULL, NULL, NULL, 0},
    };
    struct api_table table = {.functions = functions};
    __itt_api_init(&table, -1);
}

static bool attach(void)
{
    attach_part(&parts[0]);
    attach_part(&parts[1]);
    return parts[0].task_begin && parts[0].unknown == without_tool;
}

static const struct id none;

static void mark_in_both(void)
{
    void *first = parts[0].domain_create("one"), *second = parts[1].domain_create("two");
    parts[0].task_begin(first, none, none, parts[0].string_create("outer"));
    parts[1].task_begin(second, none, none, parts[1].string_create("inner"));
    parts[0].task_end(first);
    parts[1].task_end(second);
    parts[1].task_end(second); /* nothing is open */
}

TEST_WITH(several_parts_share_a_log, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, mark_in_both);
    assert_string_equal(
        recorded.text, "+itt:one/outer +itt:two/inner -itt:one/outer -itt:two/inner ");
    assert_int_equal(recorded.unmatched, 1);
}

static void mark_by_id(void)
{
    const struct part *part = &parts[0];
    void *domain = part->domain_create("d");
    struct id id = {{1, 2, 3}}, other = {{1, 2, 4}};
    part->region_begin(domain, id, none, part->string_create("a"));
    part->region_begin(domain, other, none, part->string_create("b"));
    part->region_end(domain, id);
    part->region_end(domain, id); /* it is not open any more */
    part->region_end(domain, other);
    part->frame_begin(domain, NULL);
    part->frame_end(domain, NULL);
    int event = part->event_create("name and more", 4);
    part->event_start(event);
    part->event_end(event);
    part->event_start(event + 1);
}

TEST_WITH(regions_frames_and_events, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, mark_by_id);
    assert_string_equal(recorded.text, "+itt:d/a +itt:d/b -itt:d/a -itt:d/b +itt:d/frame "
                                       "-itt:d/frame +itt:event/name -itt:event/name ");
    assert_int_equal(recorded.unmatched, 1);
}

static void mark_between_pauses(void)
{
    const struct part *part = &parts[0];
    void *domain = part->domain_create("d");
    part->set_thread_name("loader");
    part->task_begin(domain, none, none, part->string_create("before"));
    part->pause();
    part->task_begin(domain, none, none, part->string_create("left out"));
    part->task_end(domain);
    part->task_end(domain);
    part->resume();
    part->task_begin(domain, none, none, part->string_create("after"));
    part->task_end(domain);
}

TEST_WITH(a_pause_leaves_out_what_begins_in_it, make_folder, remove_folder)
{
    unsetenv("PMI_RANK");
    struct recorded recorded = record(*state, attach, mark_between_pauses);
    assert_string_equal(recorded.text, "+itt:d/before -itt:d/before +itt:d/after -itt:d/after ");
    assert_int_equal(recorded.paused, 1);
    assert_int_equal(recorded.unmatched, 0);
}

TEST_WITH(a_log_has_the_rank_and_names_of_threads, make_folder, remove_folder)
{
    setenv("PMI_RANK", "3", 1);
    struct recorded recorded = record(*state, attach, mark_between_pauses);
    unsetenv("PMI_RANK");
    assert_int_equal(recorded.starts, 2);
    assert_int_equal(recorded.rank, 3);
    assert_string_equal(recorded.thread_name, "loader");
}

TEST_WITH(without_a_folder_nothing_is_called, make_folder, remove_folder)
{
    unsetenv("GPUT_REGIONS_FOLDER");
    assert_false(record_nothing(*state, attach));
}

RUN_TESTS(NULL, NULL)
