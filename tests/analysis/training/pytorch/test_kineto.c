#include <gputracker/profile.h>

#include "testing.h"

#include <math.h>
#include <string.h>

static char warning[256];

static void warn(void *user, const char *message)
{
    (void)user;
    snprintf(warning, sizeof warning, "%s", message);
}

static struct gput_tables *make(
    enum gput_kineto_view view, const char *const *paths, size_t count, size_t limit)
{
    struct gput_kineto_options options = {
        .size = sizeof options, .paths = paths, .n_paths = count, .limit = limit, .warn = warn};
    struct gput_tables *tables;
    struct gput_error error = {0};
    warning[0] = '\0';
    if (gput_kineto_tables(view, &options, &tables, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return tables;
}

/* Takes a path out of a text, wherever it is. */
static void remove_path(char *text, const char *path)
{
    size_t length = strlen(path);
    for (char *at = text; (at = strstr(at, path)) != NULL;)
        memmove(at, at + length, strlen(at + length) + 1);
}

/* The rendered CSV of the only table, without the folder of the fixtures. */
static void assert_csv(struct gput_tables *tables, const char *expected)
{
    char *text;
    assert_int_equal(gput_tables_render(tables, GPUT_FORMAT_CSV, &text, NULL, NULL), GPUT_OK);
    remove_path(text, fixture("trace-kineto"));
    remove_path(text, fixture("trace-cpu"));
    assert_string_equal(text, expected);
    free(text);
    gput_tables_destroy(tables);
}

TEST(breaks_time_down_by_rank_and_gpu)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", fixture("trace-kineto"));
    const char *const paths[] = {path};
    struct gput_tables *tables = make(GPUT_KINETO_BREAKDOWN, paths, 1, 0);
    assert_string_equal(
        warning, "1 of 3 ranks is missing: 2; 1 trace of unknown rank may be of these");
    assert_csv(tables,
        "rank,trace,gpu,span_us,idle_us,compute_us,non_compute_us,communication_us,memory_us,"
        "communication_overlap_us,memory_overlap_us,idle_%,compute_%,non_compute_%,"
        "communication_overlap_%,memory_overlap_%\n"
        "0,/rank0.json,0,320.0,20.0,170.0,130.0,200.0,20.0,70.0,0.0,6.25,53.125,40.625,35.0,0.0\n"
        "1,/rank1.json,0,320.0,50.0,170.0,100.0,150.0,20.0,70.0,0.0,15.625,53.125,31.25,"
        "46.666666666666664,0.0\n");
}

TEST(sums_up_kernels_with_the_rest)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", fixture("trace-kineto/rank0.json"));
    const char *const paths[] = {path};
    assert_csv(make(GPUT_KINETO_KERNELS, paths, 1, 2),
        "name,work,count,total_us,mean_us,min_us,max_us,share_%\n"
        "ncclDevKernel_AllReduce,communication,1,200.0,200.0,200.0,200.0,51.28205128205128\n"
        "sgemm,compute,2,140.0,70.0,40.0,100.0,35.8974358974359\n"
        "others,,2,50.0,25.0,20.0,30.0,12.82051282051282\n");
}

TEST(says_why_streams_were_idle)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", fixture("trace-kineto/rank0.json"));
    const char *const paths[] = {path};
    assert_csv(make(GPUT_KINETO_IDLE, paths, 1, 0),
        "rank,trace,gpu,stream,span_us,idle_us,host_wait_us,kernel_wait_us,other_us,unknown_us,"
        "host_wait_%,kernel_wait_%,other_%,unknown_%\n"
        "0,/rank0.json,0,7,320.0,130.0,109.5,20.5,0.0,0.0,84.23076923076923,"
        "15.769230769230768,0.0,0.0\n"
        "0,/rank0.json,0,20,200.0,0.0,0.0,0.0,0.0,0.0,,,,\n");
}

TEST(spans_that_do_not_fit_into_memory_give_the_same)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", fixture("trace-kineto"));
    const char *const paths[] = {path};
    for (int view = GPUT_KINETO_BREAKDOWN; view <= GPUT_KINETO_IDLE; view++) {
        const struct gput_kineto_options options = {
            .size = sizeof options, .paths = paths, .n_paths = 1, .memory_bytes = 1};
        struct gput_tables *tables = make((enum gput_kineto_view)view, paths, 1, 0);
        char *expected;
        assert_int_equal(
            gput_tables_render(tables, GPUT_FORMAT_CSV, &expected, NULL, NULL), GPUT_OK);
        remove_path(expected, path);
        gput_tables_destroy(tables);
        assert_int_equal(
            gput_kineto_tables((enum gput_kineto_view)view, &options, &tables, NULL), GPUT_OK);
        assert_csv(tables, expected);
        free(expected);
    }
}

TEST(compares_two_traces)
{
    static char first[4096], second[4096];
    snprintf(first, sizeof first, "%s", fixture("trace-kineto/rank0.json"));
    snprintf(second, sizeof second, "%s", fixture("trace-kineto/rank1.json"));
    const char *const paths[] = {first, second};
    assert_csv(make(GPUT_KINETO_DIFF, paths, 2, 1),
        "category,name,count_a,count_b,count_change,total_a_us,total_b_us,total_change_us\n"
        "kernel,ncclDevKernel_AllReduce,1,1,0,200.0,150.0,-50.0\n");
}

TEST(shows_the_cpu_where_there_is_no_gpu)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", fixture("trace-cpu/rank0.json"));
    const char *const paths[] = {path};
    struct gput_tables *tables = make(GPUT_KINETO_KERNELS, paths, 1, 3);
    assert_string_equal(gput_table_name(gput_tables_get(tables, 0)), "operators");
    assert_string_equal(warning, "There is no GPU activity: this is what the CPU did");
    assert_csv(tables, "name,count,own_us,total_us,mean_own_us,max_us,own_share_%\n"
                       "aten::addmm,2,70.0,70.0,35.0,50.0,31.818181818181817\n"
                       "aten::stack,1,40.0,40.0,40.0,40.0,18.181818181818183\n"
                       "aten::mm,1,40.0,40.0,40.0,40.0,18.181818181818183\n"
                       "others,3,70.0,180.0,23.333333333333332,100.0,31.818181818181817\n");
    tables = make(GPUT_KINETO_BREAKDOWN, paths, 1, 0);
    assert_csv(tables,
        "rank,trace,process,thread,span_us,operators_us,data_loading_us,other_us,operators_%,"
        "data_loading_%,other_%\n"
        "0,/rank0.json,7,1,320.0,120.0,100.0,100.0,37.5,31.25,31.25\n"
        "0,/rank0.json,7,2,60.0,60.0,0.0,0.0,100.0,0.0,0.0\n");
    tables = make(GPUT_KINETO_IDLE, paths, 1, 0);
    assert_csv(tables,
        "rank,trace,process,thread,span_us,idle_us,data_loading_us,other_us,longest_us,idle_%,"
        "gaps\n"
        "0,/rank0.json,7,1,320.0,160.0,60.0,100.0,100.0,50.0,2\n"
        "0,/rank0.json,7,2,60.0,0.0,0.0,0.0,0.0,0.0,0\n");
}

TEST(says_when_there_is_nothing)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", fixture("trace-kineto/overlap.json"));
    const char *const paths[] = {path};
    struct gput_kineto_options options = {.size = sizeof options, .paths = paths, .n_paths = 1};
    struct gput_tables *tables;
    struct gput_error error;
    assert_int_equal(
        gput_kineto_tables(GPUT_KINETO_KERNELS, &options, &tables, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "no activity of GPUs and CPUs"));
    assert_int_equal(
        gput_kineto_tables(GPUT_KINETO_DIFF, &options, &tables, &error), GPUT_ERROR_INVALID);
}

RUN_TESTS(NULL, NULL)
