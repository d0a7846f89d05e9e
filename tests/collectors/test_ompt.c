/*
 * The OMPT collector, whose sources are part of this program: it is started as OpenMP's runtimes do
 * that, in a process of its own for each test.
 */
#include "regions_log.h"

#include <pthread.h>

typedef void (*function)(void);

union ompt_data {
    uint64_t value;
    void *pointer;
};

struct start_result {
    int (*initialize)(function (*lookup)(const char *), int device, union ompt_data *data);
    void (*finalize)(union ompt_data *data);
    union ompt_data data;
};

struct start_result *ompt_start_tool(unsigned version, const char *runtime);

enum { PARALLEL_BEGIN = 3, PARALLEL_END = 4, IMPLICIT_TASK = 7, WORK = 20, SYNC = 23 };
enum { BEGIN = 1, END = 2 };

static function callbacks[64];

static int set_callback(int id, function callback)
{
    callbacks[id] = callback;
    return 5; /* always */
}

static function find(const char *name)
{
    return strcmp(name, "ompt_set_callback") == 0 ? (function)set_callback : NULL;
}

static function find_nothing(const char *name)
{
    (void)name;
    return NULL;
}

static bool attach(void)
{
    struct start_result *result = ompt_start_tool(201811, "a runtime");
    return result && result->initialize(find, 0, &result->data) == 1;
}

/* Not static: its name is that of the regions. */
void omp_part_of_a_program(void);

void omp_part_of_a_program(void) {}

/* What LLVM makes of the parts that threads run: since version 17, and before. */
void outlined(void) __asm__("solve.omp_outlined_debug__");
void nameless(void) __asm__(".omp_outlined._debug__");

void outlined(void) {}
void nameless(void) {}

typedef void parallel_begin(
    union ompt_data *, const void *, union ompt_data *, unsigned, int, const void *);
typedef void parallel_end(union ompt_data *, union ompt_data *, int, const void *);
typedef void implicit_task(int, union ompt_data *, union ompt_data *, unsigned, unsigned, int);
typedef void work_scope(int, int, union ompt_data *, union ompt_data *, uint64_t, const void *);
typedef void sync_scope(int, int, union ompt_data *, union ompt_data *, const void *);

static void mark_a_parallel_region(void)
{
    parallel_begin *begin = (parallel_begin *)callbacks[PARALLEL_BEGIN];
    parallel_end *end = (parallel_end *)callbacks[PARALLEL_END];
    implicit_task *task = (implicit_task *)callbacks[IMPLICIT_TASK];
    work_scope *work = (work_scope *)callbacks[WORK];
    sync_scope *sync = (sync_scope *)callbacks[SYNC];
    union ompt_data parallel = {0}, none = {0};
    task(BEGIN, NULL, &none, 1, 0, 1); /* the initial task */
    begin(&none, NULL, &parallel, 2, 0, NULL);
    task(BEGIN, &parallel, &none, 2, 0, 2);
    work(1, BEGIN, &parallel, &none, 100, NULL);
    work(1, END, &parallel, &none, 100, NULL);
    sync(99, BEGIN, &parallel, &none, NULL);
    sync(99, END, &parallel, &none, NULL);
    task(END, NULL, &none, 2, 0, 2);
    end(&parallel, &none, 0, NULL);
}

TEST_WITH(what_the_runtime_reports_is_nested, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, mark_a_parallel_region);
    assert_string_equal(recorded.text,
        "+ompt:parallel/unknown +ompt:task/unknown +ompt:work/loop in unknown "
        "-ompt:work/loop in unknown +ompt:sync/wait in unknown -ompt:sync/wait in unknown "
        "-ompt:task/unknown -ompt:parallel/unknown ");
    assert_int_equal(recorded.unmatched, 0);
}

struct meeting {
    pthread_barrier_t barrier;
    union ompt_data regions[2];
};

/* A worker of two regions: of the first it says that it is over when the second begins, of the
 * second never. */
static void *work_late(void *argument)
{
    implicit_task *task = (implicit_task *)callbacks[IMPLICIT_TASK];
    sync_scope *sync = (sync_scope *)callbacks[SYNC];
    struct meeting *meeting = argument;
    union ompt_data own = {0};
    for (int i = 0; i < 2; i++) {
        pthread_barrier_wait(&meeting->barrier); /* it begins */
        if (i > 0) {
            sync(2, END, NULL, &own, NULL);
            task(END, NULL, &own, 0, 1, 2);
        }
        task(BEGIN, &meeting->regions[i], &own, 2, 1, 2);
        sync(2, BEGIN, &meeting->regions[i], &own, NULL);
        pthread_barrier_wait(&meeting->barrier); /* all have arrived */
    }
    pthread_barrier_wait(&meeting->barrier); /* both are over */
    return NULL;
}

static void mark_regions_with_a_late_worker(void)
{
    parallel_begin *begin = (parallel_begin *)callbacks[PARALLEL_BEGIN];
    parallel_end *end = (parallel_end *)callbacks[PARALLEL_END];
    struct meeting meeting = {.regions = {{0}}};
    union ompt_data none = {0};
    pthread_t thread;
    pthread_barrier_init(&meeting.barrier, NULL, 2);
    pthread_create(&thread, NULL, work_late, &meeting);
    for (int i = 0; i < 2; i++) {
        begin(&none, NULL, &meeting.regions[i], 2, 0, (const char *)omp_part_of_a_program);
        pthread_barrier_wait(&meeting.barrier);
        pthread_barrier_wait(&meeting.barrier);
        end(&meeting.regions[i], &none, 0, NULL);
        rest(i);
    }
    pthread_barrier_wait(&meeting.barrier);
    pthread_join(thread, NULL);
}

TEST_WITH(what_a_worker_announces_late_ends_with_its_region, make_folder, remove_folder)
{
    for (int exact = 0; exact < 2; exact++) {
        if (exact)
            setenv("GPUT_BLOCK_EXACT", "1", 1);
        struct recorded recorded = record(*state, attach, mark_regions_with_a_late_worker);
        unsetenv("GPUT_BLOCK_EXACT");
        assert_int_equal(recorded.starts, 6);
        assert_int_equal(recorded.stops, 6);
        assert_int_equal(recorded.unmatched, 0);
        assert_non_null(strstr(recorded.text, "+ompt:sync/implicit barrier in omp_part"));
        assert_null(strstr(recorded.text, "unknown"));
        assert_int_equal(recorded.open_at_rest, 0);
        remove_files(*state);
    }
}

static void mark_named_work(void)
{
    work_scope *work = (work_scope *)callbacks[WORK];
    for (int i = 0; i < 2; i++) {
        work(2, BEGIN, NULL, NULL, 1, (const char *)omp_part_of_a_program);
        work(2, END, NULL, NULL, 1, (const char *)omp_part_of_a_program);
    }
    work(2, END, NULL, NULL, 1, NULL);
}

TEST_WITH(a_region_has_the_name_of_its_function, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, mark_named_work);
    assert_non_null(strstr(recorded.text, "+ompt:work/sections in omp_part_of_a_program"));
    assert_int_equal(recorded.starts, 2);
    assert_int_equal(recorded.unmatched, 1);
}

static void mark_outlined_loops(void)
{
    parallel_begin *begin = (parallel_begin *)callbacks[PARALLEL_BEGIN];
    work_scope *work = (work_scope *)callbacks[WORK];
    union ompt_data parallel = {0}, none = {0};
    begin(&none, NULL, &parallel, 1, 0, (const char *)omp_part_of_a_program);
    for (int kind = 9; kind <= 14; kind++) {
        work(kind, BEGIN, &parallel, &none, 1, (const char *)(kind == 12 ? nameless : outlined));
        work(kind, END, &parallel, &none, 1, NULL);
    }
}

TEST_WITH(loops_of_every_schedule_are_of_the_function_that_has_them, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, mark_outlined_loops);
    assert_string_equal(recorded.text,
        "+ompt:parallel/omp_part_of_a_program "
        "+ompt:work/work in solve -ompt:work/work in solve "
        "+ompt:work/loop in solve -ompt:work/loop in solve "
        "+ompt:work/loop in solve -ompt:work/loop in solve "
        "+ompt:work/loop in omp_part_of_a_program -ompt:work/loop in omp_part_of_a_program "
        "+ompt:work/loop in solve -ompt:work/loop in solve "
        "+ompt:work/work in solve -ompt:work/work in solve ");
}

static bool attach_without_callbacks(void)
{
    struct start_result *result = ompt_start_tool(201811, "an older one");
    return result && result->initialize(find_nothing, 0, &result->data) == 1;
}

TEST_WITH(a_runtime_without_callbacks_goes_on_alone, make_folder, remove_folder)
{
    assert_false(record_nothing(*state, attach_without_callbacks));
}

TEST_WITH(without_a_folder_the_runtime_goes_on_alone, make_folder, remove_folder)
{
    unsetenv("GPUT_REGIONS_FOLDER");
    assert_false(record_nothing(*state, attach));
}

RUN_TESTS(NULL, NULL)
