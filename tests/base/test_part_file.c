#include "base/part_file.h"

#include "files/temporary.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

FOLDER_TEST(a_complete_part_is_renamed)
{
    struct part_file part;
    const char *target = temporary("x");
    int fd;
    temporary_write(target, "old");
    assert_int_equal(part_file_create(target, "x", &part, &fd, NULL), GPUT_OK);
    assert_int_equal(write(fd, "new", 3), 3);
    close(fd);
    char *text = temporary_read(target);
    assert_string_equal(text, "old");
    free(text);
    assert_int_equal(part_file_keep(&part, target, "x", NULL), GPUT_OK);
    part_file_close(&part);
    text = temporary_read(target);
    assert_string_equal(text, "new");
    free(text);
    assert_int_equal(temporary_count(), 1);
}

FOLDER_TEST(a_part_that_is_not_kept_is_removed)
{
    struct part_file part;
    int fd;
    assert_int_equal(part_file_create(temporary("x"), "x", &part, &fd, NULL), GPUT_OK);
    assert_int_equal(temporary_count(), 1);
    close(fd);
    part_file_close(&part);
    assert_int_equal(temporary_count(), 0);
    struct gput_error error;
    assert_int_equal(
        part_file_create(temporary("none/x"), "none/x", &part, &fd, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "none/x"));
}

FOLDER_TEST(leftover_parts_are_removed_and_locked_ones_stay)
{
    struct part_file living, part;
    int fd;
    pid_t child = fork();
    if (child == 0) {
        part_file_create(temporary("x"), "x", &part, &fd, NULL);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    temporary_write(temporary("x.12-a.part"), "no part of ours");
    temporary_write(temporary("y.12-0.part"), "of another file");
    assert_int_equal(temporary_count(), 3);
    assert_int_equal(part_file_create(temporary("x"), "x", &living, &fd, NULL), GPUT_OK);
    close(fd);
    assert_int_equal(temporary_count(), 3); /* the leftover is removed */
    assert_int_equal(part_file_create(temporary("x"), "x", &part, &fd, NULL), GPUT_OK);
    close(fd);
    assert_int_equal(access(living.path, F_OK), 0);
    part_file_close(&living);
    part_file_close(&part);
    assert_int_equal(temporary_count(), 2);
}

RUN_TESTS(temporary_create, temporary_remove)
