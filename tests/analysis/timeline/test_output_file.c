#include "analysis/timeline/output_file.h"
#include "base/file.h"
#include "testing.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/gput-output-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "%s/out", mkdtemp(folder) ? folder : "");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails when anything was left behind */
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *open_folder = opendir(folder);
    struct dirent *entry;
    while ((entry = readdir(open_folder)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(open_folder);
    return count;
}

TEST(appears_when_it_is_whole)
{
    struct output_file file;
    struct str content = {0}, expected = {0};
    assert_int_equal(output_file_open(path, &file, NULL), GPUT_OK);
    for (int i = 0; i < 200000; i++) {
        str_printf(&file.buffer, "%09d\n", i);
        str_printf(&expected, "%09d\n", i);
        assert_int_equal(output_file_flow(&file, NULL), GPUT_OK);
    }
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(output_file_commit(&file, NULL), GPUT_OK);
    assert_int_equal(file_read(path, &content, NULL), GPUT_OK);
    assert_int_equal(content.length, expected.length);
    assert_memory_equal(content.data, expected.data, expected.length);
    str_finish(&content);
    str_finish(&expected);
    assert_int_equal(files_in_folder(), 1);
}

TEST(replaces_a_file_and_keeps_its_mode)
{
    struct output_file file;
    struct stat info;
    assert_int_equal(file_write_atomic(path, "old", 3, NULL), GPUT_OK);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(output_file_open(path, &file, NULL), GPUT_OK);
    str_append(&file.buffer, "new");
    assert_int_equal(output_file_commit(&file, NULL), GPUT_OK);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(info.st_size, 3);
}

TEST(leaves_nothing_when_given_up)
{
    struct output_file file;
    unlink(path);
    assert_int_equal(output_file_open(path, &file, NULL), GPUT_OK);
    str_append_repeated(&file.buffer, 'x', 1000000);
    assert_int_equal(output_file_flow(&file, NULL), GPUT_OK);
    output_file_discard(&file);
    assert_int_equal(files_in_folder(), 0);
}

TEST(names_what_it_cannot_write)
{
    struct output_file file;
    struct gput_error error;
    assert_int_equal(output_file_open("/nowhere/out", &file, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "/nowhere/out"));
    assert_int_equal(output_file_open("/dev/full", &file, NULL), GPUT_OK);
    str_append(&file.buffer, "x");
    assert_int_equal(output_file_commit(&file, &error), GPUT_ERROR_IO);
    char full[] = "/tmp/gput-full-XXXXXX/x.gz"; /* what is packed is held back for long */
    *strrchr(full, '/') = '\0';
    assert_non_null(mkdtemp(full));
    full[strlen(full)] = '/';
    assert_int_equal(symlink("/dev/full", full), 0);
    assert_int_equal(output_file_open(full, &file, NULL), GPUT_OK);
    str_append(&file.buffer, "x");
    assert_int_equal(output_file_commit(&file, &error), GPUT_ERROR_IO);
    assert_non_null(strstr(error.message, "x.gz: No space left"));
    unlink(full);
    *strrchr(full, '/') = '\0';
    rmdir(full);
}

/* The content of a file that is packed. */
static void unpack(const char *packed, struct str *content)
{
    char bytes[4096];
    int got;
    gzFile file = gzopen(packed, "rb");
    assert_non_null(file);
    while ((got = gzread(file, bytes, sizeof bytes)) > 0)
        str_append_bytes(content, bytes, (size_t)got);
    assert_int_equal(got, 0);
    assert_int_equal(gzclose(file), Z_OK); /* the check and the length are right */
}

/* Text, and parts that other threads have packed, in the order in which they came. */
TEST(parts_and_text_are_one_packed_file)
{
    struct output_file file;
    struct gzip_part part = {0};
    struct str text = {0}, content = {0}, expected = {0};
    char packed[80];
    snprintf(packed, sizeof packed, "%s.gz", path);
    assert_int_equal(output_file_open(packed, &file, NULL), GPUT_OK);
    assert_true(file.packs);
    for (int i = 0; i < 300; i++) {
        str_clear(&text);
        for (int j = 0; j < i * 7; j++)
            str_printf(&text, "%d %d\n", i, j * j % 977);
        str_append_bytes(&expected, str_text(&text), text.length);
        if (i % 3 == 0) {
            str_append_bytes(&file.buffer, str_text(&text), text.length);
            assert_int_equal(output_file_flow(&file, NULL), GPUT_OK);
        } else {
            assert_int_equal(gzip_part_pack(&text, &part, NULL), GPUT_OK);
            assert_int_equal(output_file_add_part(&file, &part, NULL), GPUT_OK);
        }
    }
    assert_int_equal(output_file_commit(&file, NULL), GPUT_OK);
    unpack(packed, &content);
    assert_int_equal(content.length, expected.length);
    assert_memory_equal(content.data, expected.data, expected.length);
    gzip_part_finish(&part);
    str_finish(&text);
    str_finish(&content);
    str_finish(&expected);
    unlink(packed);
}

TEST(a_packed_file_can_be_empty)
{
    struct output_file file;
    struct str content = {0};
    char packed[80];
    snprintf(packed, sizeof packed, "%s.gz", path);
    assert_int_equal(output_file_open(packed, &file, NULL), GPUT_OK);
    assert_int_equal(output_file_commit(&file, NULL), GPUT_OK);
    unpack(packed, &content);
    assert_int_equal(content.length, 0);
    str_finish(&content);
    unlink(packed);
}

/* Written after the caller's back: reported by one of the next calls, at the end at the latest. */
TEST(reports_later_what_a_thread_could_not_write)
{
    struct output_file file;
    struct gput_error error;
    for (int buffers = 1; buffers <= 3; buffers++) {
        int code = GPUT_OK;
        assert_int_equal(output_file_open("/dev/full", &file, NULL), GPUT_OK);
        for (int i = 0; i < buffers && code == GPUT_OK; i++) {
            str_append_repeated(&file.buffer, 'x', 1000000);
            code = output_file_flow(&file, &error);
        }
        assert_int_equal(code, buffers == 1 ? GPUT_OK : GPUT_ERROR_IO);
        if (code == GPUT_OK)
            code = output_file_commit(&file, &error);
        assert_int_equal(code, GPUT_ERROR_IO);
        assert_string_equal(error.message, "Cannot write /dev/full: No space left on device");
        output_file_discard(&file);
    }
}

TEST(leaves_nothing_of_what_was_packed)
{
    struct output_file file;
    char packed[80];
    snprintf(packed, sizeof packed, "%s.gz", path);
    assert_int_equal(output_file_open(packed, &file, NULL), GPUT_OK);
    str_append_repeated(&file.buffer, 'x', 1000000);
    assert_int_equal(output_file_flow(&file, NULL), GPUT_OK);
    output_file_discard(&file);
    assert_int_equal(files_in_folder(), 0);
}

RUN_TESTS(make_folder, remove_folder)
