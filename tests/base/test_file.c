#include "base/file.h"
#include "base/file_target.h"
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test-file-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const char *in_folder(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void assert_content(const char *path, const char *expected)
{
    struct gput_error error = {0};
    struct str content = {0};
    assert_int_equal(file_read(path, &content, &error), GPUT_OK);
    assert_string_equal(str_text(&content), expected);
    str_finish(&content);
}

TEST(a_file_is_written_and_read_back)
{
    const char *path = in_folder("a");
    assert_int_equal(file_write_atomic(path, "first", 5, NULL), GPUT_OK);
    assert_content(path, "first");
    assert_int_equal(file_write_atomic(path, "second", 6, NULL), GPUT_OK);
    assert_content(path, "second");
    unlink(path);
}

TEST(a_file_gets_its_name_when_complete)
{
    struct file_writing writing;
    const char *path = in_folder("pieces");
    for (int whole = 0; whole < 2; whole++) {
        assert_int_equal(file_writing_begin(path, &writing, NULL), GPUT_OK);
        assert_int_equal(file_writing_add(&writing, "one ", 4, NULL), GPUT_OK);
        assert_int_equal(file_writing_add(&writing, "two", 3, NULL), GPUT_OK);
        assert_int_equal(access(path, F_OK), -1);
        if (whole)
            assert_int_equal(file_writing_end(&writing, NULL), GPUT_OK);
        else
            file_writing_discard(&writing);
    }
    assert_content(path, "one two");
    unlink(path); /* else the folder is not empty and cannot be removed at the end */
}

TEST(replacing_a_file_keeps_its_mode)
{
    const char *path = in_folder("mode");
    assert_int_equal(file_write_atomic(path, "a", 1, NULL), GPUT_OK);
    chmod(path, 0640);
    assert_int_equal(file_write_atomic(path, "b", 1, NULL), GPUT_OK);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    unlink(path);
}

TEST(a_failed_write_leaves_no_file)
{
    struct gput_error error = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/missing/file", folder);
    assert_int_equal(file_write_atomic(path, "x", 1, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, path));

    assert_int_equal(mkdir(in_folder("is-a-folder"), 0700), 0);
    assert_int_not_equal(file_write_atomic(in_folder("is-a-folder"), "x", 1, &error), GPUT_OK);
    rmdir(in_folder("is-a-folder"));

    int entries = 0;
    DIR *listing = opendir(folder);
    while (readdir(listing))
        entries++;
    closedir(listing);
    assert_int_equal(entries, 2); /* "." and ".." */
}

/* As with `-o /dev/stdout >>file`: the link in /proc or /dev is not replaced. */
TEST(an_open_file_is_appended_to_through_its_link)
{
    char link[64], path[] = "/tmp/gput-file-XXXXXX";
    int fd = mkstemp(path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    assert_int_equal(write(fd, "one ", 4), 4);
    assert_true(file_is_written_directly(link));
    assert_false(file_is_written_directly(path));
    assert_int_equal(file_write_atomic(link, "two", 3, NULL), GPUT_OK);
    assert_content(path, "one two");
    close(fd);
    unlink(path);
}

TEST(a_link_stays_and_its_target_is_written)
{
    char target[4096], *found;
    const char *link = in_folder("link");
    struct stat status;
    snprintf(target, sizeof target, "%s/target", folder);
    assert_int_equal(symlink("target", link), 0);
    for (int i = 0; i < 2; i++) { /* without and with an existing target */
        assert_false(file_is_written_directly(link));
        assert_int_equal(file_check(link, NULL), GPUT_OK);
        assert_int_equal(file_write_atomic(link, "new", 3, NULL), GPUT_OK);
        assert_int_equal(lstat(link, &status), 0);
        assert_true(S_ISLNK(status.st_mode));
        assert_content(target, "new");
    }
    assert_int_equal(file_target(link, &found, NULL), GPUT_OK);
    assert_string_equal(found, target);
    free(found);
    unlink(target);
    unlink(link);
}

TEST(links_that_do_not_resolve_are_errors)
{
    struct gput_error error = {0};
    const char *link = in_folder("circle");
    assert_int_equal(symlink("circle", link), 0);
    assert_int_not_equal(file_check(link, &error), GPUT_OK);
    assert_int_not_equal(file_write_atomic(link, "x", 1, &error), GPUT_OK);
    assert_non_null(strstr(error.message, link));
    unlink(link);
    assert_int_equal(symlink("missing/file", link), 0);
    assert_int_equal(file_check(link, &error), GPUT_ERROR_NOT_FOUND);
    assert_int_equal(file_write_atomic(link, "x", 1, &error), GPUT_ERROR_NOT_FOUND);
    unlink(link);
}

TEST(a_check_finds_paths_that_cannot_be_written)
{
    struct gput_error error = {0};
    assert_int_equal(file_check(in_folder("new"), NULL), GPUT_OK);
    assert_int_equal(file_check("/dev/full", NULL), GPUT_OK);
    assert_int_equal(file_check(folder, &error), GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "it is a folder"));
    assert_int_equal(file_check(in_folder("missing/file"), &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "missing/file"));
    assert_int_equal(access(in_folder("new"), F_OK), -1);
}

TEST(a_temporary_file_has_no_name)
{
    struct gput_error error = {0};
    char byte;
    int fd;
    assert_int_equal(file_open_temporary(folder, &fd, NULL), GPUT_OK);
    assert_int_equal(file_write_fd(fd, "it", "x", 1, NULL), GPUT_OK);
    assert_int_equal(pread(fd, &byte, 1, 0), 1);
    close(fd); /* else the folder is not empty and cannot be removed at the end */
    assert_int_equal(file_open_temporary(in_folder("missing"), &fd, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "missing"));
}

TEST(a_full_device_is_an_error)
{
    struct gput_error error = {0};
    assert_int_equal(file_write_atomic("/dev/full", "x", 1, &error), GPUT_ERROR_IO);
    assert_non_null(strstr(error.message, "/dev/full"));
}

TEST(a_missing_file_is_named)
{
    struct gput_error error = {0};
    struct str content = {0};
    assert_int_equal(file_read(in_folder("nothing"), &content, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "nothing"));
    str_finish(&content);
}

TEST(files_of_unknown_size_are_read_whole)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char block[10000];
    memset(block, 'x', sizeof block);
    assert_int_equal(file_write_fd(ends[1], "pipe", block, sizeof block, NULL), GPUT_OK);
    close(ends[1]);
    struct str content = {0};
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    assert_int_equal(file_read(path, &content, NULL), GPUT_OK);
    assert_int_equal(content.length, sizeof block);
    str_finish(&content);
    close(ends[0]);
}

TEST(an_open_file_is_read_again_from_its_start)
{
    const char *path = in_folder("again");
    assert_int_equal(file_write_atomic(path, "12345", 5, NULL), GPUT_OK);
    int fd = open(path, O_RDONLY);
    char buffer[8];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(file_reread(fd, buffer, sizeof buffer), 5);
        assert_string_equal(buffer, "12345");
    }
    assert_int_equal(file_reread(fd, buffer, 4), 3);
    assert_string_equal(buffer, "123");
    close(fd);
    unlink(path);
}

TEST(reads_from_anywhere_up_to_the_end)
{
    const char *path = in_folder("anywhere");
    assert_int_equal(file_write_atomic(path, "12345", 5, NULL), GPUT_OK);
    int fd = open(path, O_RDONLY);
    char bytes[4] = "";
    size_t got;
    assert_int_equal(file_read_at(fd, path, bytes, 2, 1, &got, NULL), GPUT_OK);
    assert_int_equal(got, 2);
    assert_string_equal(bytes, "23");
    assert_int_equal(file_read_at(fd, path, bytes, 3, 4, &got, NULL), GPUT_OK);
    assert_int_equal(got, 1);
    close(fd);
    struct gput_error error;
    assert_int_equal(file_read_at(fd, path, bytes, 3, 4, &got, &error), GPUT_ERROR_IO);
    assert_non_null(strstr(error.message, "Cannot read "));
    unlink(path);
}

TEST(names_have_one_order_in_any_locale)
{
    struct dirent upper = {.d_name = "B.csv"}, lower = {.d_name = "a.csv"};
    const struct dirent *left = &upper, *right = &lower;
    assert_true(file_by_name(&left, &right) < 0);
    if (!setlocale(LC_COLLATE, "de_DE.UTF-8") && !setlocale(LC_COLLATE, "en_US.UTF-8"))
        SKIP("no locale with an order of its own is installed");
    assert_true(alphasort(&left, &right) > 0);
    assert_true(file_by_name(&left, &right) < 0);
    setlocale(LC_COLLATE, "C");
}

/* A program may lower its limit of descriptors at any time: then poll() of a pipe is refused. */
TEST(a_full_pipe_that_cannot_be_waited_for_is_an_error)
{
    static const char bytes[1 << 20];
    struct file_writing writing;
    struct gput_error error = {0};
    struct rlimit before, none;
    char link[64];
    int pipe_fds[2], stop_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(pipe(stop_fds), 0);
    snprintf(link, sizeof link, "/proc/self/fd/%d", pipe_fds[1]);
    assert_int_equal(file_writing_begin_until(link, stop_fds[0], &writing, &error), GPUT_OK);
    getrlimit(RLIMIT_NOFILE, &before);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    /* Valgrind keeps limits to itself: there the writing would wait for ever. */
    bool is_refused = poll((struct pollfd[2]){{.fd = -1}, {.fd = -1}}, 2, 0) < 0;
    int code = is_refused ? file_writing_add(&writing, bytes, sizeof bytes, &error) : GPUT_OK;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    if (is_refused) {
        assert_int_not_equal(code, GPUT_OK);
        assert_int_equal(error.errno_value, EINVAL);
        assert_non_null(strstr(error.message, link));
    }
    file_writing_discard(&writing);
    for (int i = 0; i < 2; i++) {
        close(pipe_fds[i]);
        close(stop_fds[i]);
    }
}

RUN_TESTS(make_folder, remove_folder)
