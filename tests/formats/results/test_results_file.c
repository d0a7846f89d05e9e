#include "formats/results/results_file.h"
#include "formats/temporary.h"

#include <gputracker/results.h>

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

static struct gput_results make_results(double elapsed_seconds)
{
    struct gput_results results;
    memset(&results, 0, sizeof results);
    results.static_data.ram_unit = GPUT_MEGABYTES;
    results.static_data.allowed_cores = NAN;
    results.elapsed_seconds = elapsed_seconds;
    results.max[GPUT_MAIN_RAM] = 123456.0;
    results.n_sources = 1;
    strcpy(results.sources[0].name, "ram");
    strcpy(results.sources[0].reason, "because");
    return results;
}

static struct results_file *create(const char *path)
{
    struct results_file *file;
    struct gput_error error = {0};
    if (results_file_create(path, &file, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return file;
}

static void update(struct results_file *file, double elapsed_seconds)
{
    struct gput_results results = make_results(elapsed_seconds);
    results_file_update(file, &results);
}

static void assert_elapsed(const char *path, double elapsed_seconds)
{
    struct gput_results results;
    struct gput_error error = {0};
    if (gput_results_load(path, &results, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    assert_true(results.elapsed_seconds == elapsed_seconds);
}

static void the_latest_results_are_read_back(void **state)
{
    (void)state;
    const char *path = temporary("kept");
    struct results_file *file = create(path);
    for (int i = 1; i <= 5; i++) {
        update(file, i);
        assert_elapsed(path, i);
    }
    struct gput_results results;
    assert_int_equal(gput_results_load(path, &results, NULL), GPUT_OK);
    struct gput_results expected = make_results(5);
    assert_memory_equal(&results, &expected, sizeof results);
    results_file_close(file);
    assert_elapsed(path, 5);
}

static void a_regular_end_removes_the_file(void **state)
{
    (void)state;
    struct results_file *file = create(temporary("kept"));
    update(file, 1);
    assert_int_equal(temporary_count(), 1);
    results_file_remove(file);
    assert_int_equal(temporary_count(), 0);
    results_file_remove(NULL);
    results_file_close(NULL);
    results_file_update(NULL, NULL);
}

static void without_a_path_it_is_hidden_in_the_working_directory(void **state)
{
    (void)state;
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(temporary_folder), 0);
    struct results_file *file = create(NULL);
    struct results_file *other = create(NULL);
    assert_int_equal(chdir(before), 0); /* it is removed also after a change of directory */
    free(before);

    const char *name = strrchr(results_file_path(file), '/') + 1;
    assert_memory_equal(name, ".gpu-tracker_", 13);
    assert_int_equal(strlen(name), 13 + 36 + strlen(".results"));
    assert_int_equal(name[13 + 14], '4'); /* a random UUID */
    assert_string_not_equal(results_file_path(file), results_file_path(other));
    assert_int_equal(temporary_count(), 0);
    update(file, 1);
    update(other, 2);
    assert_int_equal(temporary_count(), 2);
    assert_elapsed(results_file_path(file), 1);
    results_file_remove(file);
    results_file_remove(other);
    assert_int_equal(temporary_count(), 0);
}

static void tracking_goes_on_without_a_hidden_file(void **state)
{
    (void)state;
    char *before = getcwd(NULL, 0);
    struct results_file *file;
    assert_int_equal(chdir("/proc"), 0); /* files cannot be created there, not even by root */
    int code = results_file_create(NULL, &file, NULL);
    assert_int_equal(chdir(before), 0);
    free(before);
    assert_int_equal(code, GPUT_OK);
    update(file, 1);
    results_file_remove(file);

    struct gput_error error = {0};
    assert_int_equal(results_file_create(temporary("none/x"), &file, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "none/x"));
}

static void other_files_are_never_replaced(void **state)
{
    (void)state;
    const char *path = temporary("thesis.tex");
    temporary_write(path, "\\documentclass{article}");
    struct results_file *file;
    struct gput_error error = {0};
    assert_int_equal(results_file_create(path, &file, &error), GPUT_ERROR_EXISTS);
    assert_null(file);
    assert_non_null(strstr(error.message, "thesis.tex"));
    char *text = temporary_read(path);
    assert_string_equal(text, "\\documentclass{article}");
    free(text);

    const char *ours = temporary("kept");
    file = create(ours);
    update(file, 1);
    results_file_close(file);
    file = create(ours); /* of an earlier session that died */
    update(file, 2);
    assert_elapsed(ours, 2);
    results_file_remove(file);
}

static void gpus_are_kept_and_only_used_ones_take_space(void **state)
{
    (void)state;
    const char *path = temporary("kept");
    struct gput_results results = make_results(1), loaded;
    struct results_file *file = create(path);
    results_file_update(file, &results);
    struct stat without, with;
    assert_int_equal(stat(path, &without), 0);
    assert_true((size_t)without.st_size < sizeof results);

    results.n_gpus = 2;
    strcpy(results.gpus[1].uuid, "GPU-bbbb");
    results.gpus[1].max_ram_bytes = 5e9;
    results.gpus[1].selected = true;
    results_file_update(file, &results); /* the second copy, at the end of the file */
    assert_int_equal(gput_results_load(path, &loaded, NULL), GPUT_OK);
    assert_memory_equal(&loaded, &results, sizeof results);
    assert_int_equal(stat(path, &with), 0);
    assert_int_equal(truncate(path, with.st_size - 1), 0); /* truncated: the first copy is read */
    assert_int_equal(gput_results_load(path, &loaded, NULL), GPUT_OK);
    assert_int_equal(loaded.n_gpus, 0);

    results.n_gpus = GPUT_MAX_GPUS + 1;
    results_file_update(file, &results);
    results_file_update(file, &results);
    assert_int_equal(gput_results_load(path, &loaded, NULL), GPUT_ERROR_FORMAT);
    results_file_remove(file);
}

/* Overwrites bytes of a file. */
static void damage(const char *path, off_t at, size_t length)
{
    char bytes[64];
    memset(bytes, 0x5a, sizeof bytes);
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, bytes, length, at), length);
    close(fd);
}

static off_t size_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_size;
}

static void dying_during_a_write_leaves_the_previous_results(void **state)
{
    (void)state;
    const char *path = temporary("kept");
    struct results_file *file = create(path);
    update(file, 1);
    off_t copy = size_of(path);
    update(file, 2);
    update(file, 3); /* in the place of 1 */
    results_file_close(file);
    damage(path, copy - 64, 64);
    assert_elapsed(path, 2);
    assert_int_equal(truncate(path, copy + 100), 0);
    struct gput_results results;
    assert_int_equal(gput_results_load(path, &results, NULL), GPUT_ERROR_FORMAT);
}

static void other_files_are_refused(void **state)
{
    (void)state;
    struct gput_results results;
    struct gput_error error = {0};
    assert_int_equal(gput_results_load(temporary("none"), &results, &error), GPUT_ERROR_NOT_FOUND);
    const char *path = temporary("other");
    temporary_write(path, "");
    assert_int_equal(gput_results_load(path, &results, &error), GPUT_ERROR_FORMAT);
    temporary_write(path, "some text that is longer than a magic number");
    assert_int_equal(gput_results_load(path, &results, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "is no resource usage file"));
    temporary_write(path, "gpu-tracker res\nand then nothing of ours");
    assert_int_equal(gput_results_load(path, &results, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "another version"));
}

static void invalid_figures_are_refused(void **state)
{
    (void)state;
    const char *path = temporary("kept");
    struct gput_results results = make_results(1), loaded;
    struct results_file *file = create(path);
    results.n_sources = GPUT_MAX_SOURCES + 1;
    results_file_update(file, &results);
    assert_int_equal(gput_results_load(path, &loaded, NULL), GPUT_ERROR_FORMAT);

    results = make_results(1);
    memset(results.sources[0].reason, 'x', sizeof results.sources[0].reason);
    results_file_update(file, &results);
    results_file_update(file, &results);
    assert_int_equal(gput_results_load(path, &loaded, NULL), GPUT_OK);
    assert_int_equal(strlen(loaded.sources[0].reason), sizeof loaded.sources[0].reason - 1);
    results_file_remove(file);
}

/* With a right checksum, which anybody can compute. */
static int load_with_word(
    struct results_file *file, size_t offset, int32_t word, struct gput_results *loaded)
{
    struct gput_results results = make_results(1);
    results.n_gpus = 1;
    memcpy((char *)&results + offset, &word, sizeof word);
    results_file_update(file, &results);
    results_file_update(file, &results);
    return gput_results_load(results_file_path(file), loaded, NULL);
}

static void an_invalid_enum_value_is_refused_with_a_right_checksum(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        int32_t values;
    } enums[] = {
        {offsetof(struct gput_results, static_data.ram_unit), GPUT_TERABYTES + 1},
        {offsetof(struct gput_results, static_data.gpu_ram_unit), GPUT_TERABYTES + 1},
        {offsetof(struct gput_results, static_data.time_unit), GPUT_DAYS + 1},
        {offsetof(struct gput_results, energy.unit), GPUT_KILOWATT_HOURS + 1},
        {offsetof(struct gput_results, sources[0].state), GPUT_SOURCE_UNAVAILABLE + 1},
    };
    struct gput_results loaded;
    struct results_file *file = create(temporary("kept"));
    for (size_t i = 0; i < sizeof enums / sizeof enums[0]; i++) {
        size_t at = enums[i].offset;
        assert_int_equal(load_with_word(file, at, enums[i].values - 1, &loaded), GPUT_OK);
        assert_int_equal(load_with_word(file, at, enums[i].values, &loaded), GPUT_ERROR_FORMAT);
        assert_int_equal(load_with_word(file, at, INT32_MAX, &loaded), GPUT_ERROR_FORMAT);
        assert_int_equal(load_with_word(file, at, -1, &loaded), GPUT_ERROR_FORMAT);
    }
    results_file_remove(file);
}

static void render_in_every_format(const struct gput_results *results)
{
    static const enum gput_format formats[] = {
        GPUT_TEXT, GPUT_JSON, GPUT_PICKLE, GPUT_PROMETHEUS, GPUT_OPENMETRICS};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char *bytes;
        assert_int_equal(gput_results_render(results, formats[i], &bytes, NULL, NULL), GPUT_OK);
        free(bytes);
    }
}

static void accepted_results_can_be_rendered_with_any_word_changed(void **state)
{
    (void)state;
    static const int32_t words[] = {-1, INT32_MAX, 0x41414141};
    struct gput_results loaded;
    struct results_file *file = create(temporary("kept"));
    size_t end = offsetof(struct gput_results, gpus[1]);
    for (size_t at = 0; at < end; at += sizeof words[0]) {
        if (at == offsetof(struct gput_results, sources[1])) /* these are not used */
            at = offsetof(struct gput_results, n_gpus);
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            if (load_with_word(file, at, words[i], &loaded) == GPUT_OK)
                render_in_every_format(&loaded);
        }
    }
    results_file_remove(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        temporary_test(an_invalid_enum_value_is_refused_with_a_right_checksum),
        temporary_test(accepted_results_can_be_rendered_with_any_word_changed),
        temporary_test(the_latest_results_are_read_back),
        temporary_test(a_regular_end_removes_the_file),
        temporary_test(without_a_path_it_is_hidden_in_the_working_directory),
        temporary_test(tracking_goes_on_without_a_hidden_file),
        temporary_test(other_files_are_never_replaced),
        temporary_test(gpus_are_kept_and_only_used_ones_take_space),
        temporary_test(dying_during_a_write_leaves_the_previous_results),
        temporary_test(other_files_are_refused),
        temporary_test(invalid_figures_are_refused),
    };
    return cmocka_run_group_tests_name(
        "store/results_file", tests, temporary_create, temporary_remove);
}
