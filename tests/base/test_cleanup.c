#include "base/cleanup.h"

#include "base/error.h"
#include "testing.h"

#include <fcntl.h>

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* Opens one of each kind and leaves with `code`, by TRY() where it is a failure. */
static int open_all(int code, int fds[2], char **kept)
{
    CLEANUP_FD int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), none = -1;
    CLEANUP_DIR DIR *folder = opendir("/");
    CLEANUP_FILE FILE *file = NULL;
    CLEANUP_STR struct str text = {0};
    CLEANUP_FREE char *word = strdup("kept");
    assert_true(fd >= 0 && folder && word && none < 0 && !file);
    fds[0] = fd;
    fds[1] = dirfd(folder);
    str_append(&text, "freed, as AddressSanitizer checks");
    errno = ENOTTY;
    TRY(code);
    *kept = STEAL(word);
    assert_null(word);
    return code;
}

TEST(variables_are_cleaned_up_however_the_block_ends)
{
    for (int code = GPUT_OK; code <= GPUT_ERROR_IO; code += GPUT_ERROR_IO) {
        int fds[2];
        char *kept = NULL;
        assert_int_equal(open_all(code, fds, &kept), code);
        assert_int_equal(errno, ENOTTY);
        assert_false(is_open(fds[0]) || is_open(fds[1]));
        assert_true(code != GPUT_OK ? !kept : strcmp(kept, "kept") == 0);
        free(kept);
    }
}

static int open_null(void)
{
    CLEANUP_FD int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return STEAL_FD(fd);
}

TEST(a_stolen_descriptor_stays_open)
{
    int fd = open_null();
    assert_true(is_open(fd));
    close(fd);
}

static int n_destroyed;

static void number_destroy(int *number)
{
    n_destroyed += *number;
}
CLEANUP_DEFINE(int, number_destroy)

TEST(a_destroy_function_is_called_unless_the_pointer_is_null)
{
    int number = 7;
    {
        CLEANUP(number_destroy_pointer) int *pointer = &number, *none = NULL;
        (void)none;
        assert_ptr_equal(pointer, &number);
    }
    assert_int_equal(n_destroyed, 7);
}

RUN_TESTS(NULL, NULL)
