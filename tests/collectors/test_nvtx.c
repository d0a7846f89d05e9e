/*
 * The NVTX collector, whose sources are part of this program: it is attached as the library of NVTX
 * does that, in a process of its own for each test, and its log is read afterwards.
 */
#include "nvtx-table.h"
#include "region_values.h"
#include "regions_log.h"

#include <dlfcn.h>
#include <pthread.h>

#define THREADS 8
#define RANGES 100000

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t));

static bool attach(void)
{
    return InitializeInjectionNvtx2(get_table) != 0;
}

static void mark_domains(void)
{
    void *domain = domain_create("train");
    struct attributes step = {.version = 3,
        .size = sizeof step,
        .category = 7,
        .payload_type = 2,
        .payload = (uint64_t)-5,
        .message_type = 3,
        .message = register_string(domain, "step")};
    name_category(domain, 7, "phase");
    domain_push(domain, &step);
    push_w(L"wide \u00e9");
    domain_pop(domain);
    step.payload = 15;
    step.category = 8;
    domain_push(domain, &step);
    step.category = 7;
    domain_push(domain, &step);
    domain_pop(domain);
    domain_pop(domain);
    pop_default();
    pop_default();           /* nothing is open */
    push_a("tensor [3, 4]"); /* which is not a category */
    push_a("sizes = [[3], [4]]");
    pop_default();
    pop_default();
    name_category(domain, 9, "a [b]");
    step.category = 9;
    step.payload_type = 0;
    domain_push(domain, &step);
    domain_pop(domain);
    step.category = 0;
    step.message = register_string(domain, "tensor [5]");
    domain_push(domain, &step);
    domain_pop(domain);
    step.version = 2;
    step.size = 20; /* too old for a message */
    domain_push(domain, &step);
    domain_pop(domain);
}

TEST_WITH(names_have_domains_and_categories, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, mark_domains);
    assert_string_equal(recorded.text,
        "+nvtx:train/step [phase] +nvtx:default/wide \u00e9 -nvtx:train/step [phase] "
        "+nvtx:train/step [8] +nvtx:train/step [phase] -nvtx:train/step [phase] "
        "-nvtx:train/step [8] -nvtx:default/wide \u00e9 +nvtx:default/tensor [3, 4] "
        "+nvtx:default/sizes = [[3], [4]] -nvtx:default/sizes = [[3], [4]] "
        "-nvtx:default/tensor [3, 4] +nvtx:train/step [a (b)] -nvtx:train/step [a (b)] "
        "+nvtx:train/tensor [5] -nvtx:train/tensor [5] +nvtx:train/ -nvtx:train/ ");
    assert_string_equal(
        recorded.categories, "nvtx:train [phase];nvtx:train [8];nvtx:train [a (b)];");
    assert_int_equal(recorded.unmatched, 1);
    struct region_values *values = read_only_file(*state, ".values", sizeof *values);
    assert_int_equal(values->used, 2);
    double sum;
    assert_string_equal(values->rows[0].name, "nvtx:train/step [phase]");
    assert_int_equal(values->rows[0].count, 2);
    memcpy(&sum, (void *)&values->rows[0].sum, sizeof sum);
    assert_true(sum == 10);
    memcpy(&sum, (void *)&values->rows[0].min, sizeof sum);
    assert_true(sum == -5);
    free(values);
}

static void *nest(void *unused)
{
    for (int i = 0; i < RANGES; i++) {
        push_a("outer");
        push_a("inner");
        pop_default();
        pop_default();
    }
    return unused;
}

static void nest_in_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, nest, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

TEST_WITH(each_range_of_many_threads_is_recorded, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, nest_in_threads);
    assert_int_equal(recorded.starts, 2 * THREADS * RANGES);
    assert_int_equal(recorded.stops, 2 * THREADS * RANGES);
}

static void *end_it(void *id)
{
    end_default(*(uint64_t *)id);
    end_default(*(uint64_t *)id); /* it is not open any more */
    return NULL;
}

static void start_and_end(void)
{
    pthread_t other;
    uint64_t first = start_a("first"), second = start_a("second");
    pthread_create(&other, NULL, end_it, &first);
    pthread_join(other, NULL);
    end_default(second);
    end_default(0);
    start_a("open");
}

TEST_WITH(ranges_end_in_other_threads, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, start_and_end);
    assert_int_equal(recorded.starts, 3);
    assert_int_equal(recorded.stops, 2);
}

TEST_WITH(without_a_folder_the_program_does_without, make_folder, remove_folder)
{
    setenv("GPUT_REGIONS_FOLDER", "/nonexistent", 1);
    assert_false(record_nothing(*state, attach));
    unsetenv("GPUT_REGIONS_FOLDER");
    assert_false(record_nothing(*state, attach));
}

RUN_TESTS(NULL, NULL)
