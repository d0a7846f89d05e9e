#include "files/results/results_codec.h"
#include "files/results/results_file.h"
#include "files/temporary.h"
#include "results.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

static void write_copy(struct results_file *file, const struct gput_results *results)
{
    static uint64_t number;
    struct str copy = {0};
    results_encode(results, ++number, &copy);
    results_file_write(file, &copy);
    str_finish(&copy);
}

static struct gput_results make_results(double elapsed_seconds)
{
    struct gput_results results;
    memset(&results, 0, sizeof results);
    results.static_data.ram_unit = GPUT_RAM_UNIT_MEGABYTES;
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
    write_copy(file, &results);
}

static void assert_elapsed(const char *path, double elapsed_seconds)
{
    struct gput_results results;
    struct gput_error error = {0};
    if (results_load_by_value(path, &results, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    assert_true(results.elapsed_seconds == elapsed_seconds);
}

FOLDER_TEST(the_latest_results_are_read_back)
{
    const char *path = temporary("kept");
    struct results_file *file = create(path);
    for (int i = 1; i <= 5; i++) {
        update(file, i);
        assert_elapsed(path, i);
    }
    struct gput_results results;
    assert_int_equal(results_load_by_value(path, &results, NULL), GPUT_OK);
    assert_int_equal(results.static_data.ram_unit, GPUT_RAM_UNIT_MEGABYTES);
    assert_true(results.max[GPUT_MAIN_RAM] == 123456.0);
    assert_string_equal(results.sources[0].reason, "because");
    results_file_close(file);
    assert_elapsed(path, 5);
}

FOLDER_TEST(a_regular_end_removes_the_file)
{
    struct results_file *file = create(temporary("kept"));
    update(file, 1);
    assert_int_equal(temporary_count(), 1);
    results_file_remove(file);
    assert_int_equal(temporary_count(), 0);
    results_file_remove(NULL);
    results_file_close(NULL);
    results_file_write(NULL, NULL);
}

FOLDER_TEST(without_a_path_it_is_hidden_in_the_working_directory)
{
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(temporary_folder), 0);
    struct results_file *file = create(NULL);
    struct results_file *other = create(NULL);
    assert_int_equal(chdir(before), 0); /* it is removed also after a change of directory */
    free(before);

    const char *name = strrchr(results_file_path(file), '/') + 1;
    assert_memory_equal(name, ".gpu-tracker_", 13);
    assert_int_equal(strlen(name), 13 + 36 + strlen(".pkl"));
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

FOLDER_TEST(tracking_goes_on_without_a_hidden_file)
{
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

FOLDER_TEST(other_files_are_never_replaced)
{
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

/* What it takes on disk: there is much space between the copies. */
static size_t disk_bytes(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (size_t)status.st_blocks * 512;
}

FOLDER_TEST(any_number_of_gpus_is_kept)
{
    enum { GPUS = 300 };
    const char *path = temporary("kept");
    struct gput_results *loaded, results = make_results(1);
    struct results_file *file = create(path);
    write_copy(file, &results);
    write_copy(file, &results);
    assert_true(disk_bytes(path) <= 64 * 1024);

    assert_int_equal(results_reserve_gpus(&results, GPUS), GPUT_OK);
    memset(results.gpus, 0, GPUS * sizeof *results.gpus);
    results.n_gpus = GPUS;
    strcpy(results.gpus[GPUS - 1].uuid, "GPU-last");
    write_copy(file, &results);
    assert_int_equal(gput_results_load(path, &loaded, NULL), GPUT_OK);
    assert_int_equal(gput_results_gpu_count(loaded), GPUS);
    assert_string_equal(gput_results_gpu_text(loaded, GPUS - 1, "uuid"), "GPU-last");
    gput_results_destroy(loaded);
    results_finish(&results);
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

FOLDER_TEST(dying_during_a_write_leaves_the_previous_results)
{
    const char *path = temporary("kept");
    struct results_file *file = create(path);
    update(file, 1);
    struct gput_results results = make_results(1);
    struct str copy = {0};
    results_encode(&results, 1, &copy);
    update(file, 2);
    update(file, 3); /* in the place of 1 */
    results_file_close(file);
    damage(path, (off_t)(RESULTS_HEAD_SIZE + copy.length - 64), 64);
    str_finish(&copy);
    assert_elapsed(path, 2);
    assert_int_equal(truncate(path, (off_t)RESULTS_COPY_DISTANCE + 100), 0);
    assert_int_equal(results_load_by_value(path, &results, NULL), GPUT_ERROR_FORMAT);
}

FOLDER_TEST(other_files_are_refused)
{
    struct gput_results results;
    struct gput_error error = {0};
    assert_int_equal(
        results_load_by_value(temporary("none"), &results, &error), GPUT_ERROR_NOT_FOUND);
    const char *path = temporary("other");
    temporary_write(path, "");
    assert_int_equal(results_load_by_value(path, &results, &error), GPUT_ERROR_FORMAT);
    temporary_write(path, "some text that is longer than a magic number");
    assert_int_equal(results_load_by_value(path, &results, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "is not a resource usage file"));
    temporary_write(path, "gpu-tracker res\nand then nothing of ours");
    assert_int_equal(results_load_by_value(path, &results, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "another version"));
}

RUN_TESTS(temporary_create, temporary_remove)
