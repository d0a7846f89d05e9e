#include "session/ledger/node_reader.h"

#include "base/clock.h"
#include "testing.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of this test alone. */
static char namespace_of_test[32];

static const char *variable(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "PMIX_NAMESPACE") == 0 ? namespace_of_test : NULL;
}

static const struct launcher of_rank_1 = {
    .name = "Open MPI", .rank = 1, .world_size = 4, .local_size = 2, .restarts = -1};

static void join(struct node_reader *reader, const struct launcher *launcher)
{
    snprintf(namespace_of_test, sizeof namespace_of_test, "test-%ld", (long)getpid());
    node_reader_init(reader);
    node_reader_join(reader, launcher, variable, NULL, NS_PER_SECOND);
}

TEST(reads_everything_alone)
{
    struct node_reader reader;
    char why[160];
    struct launcher of_one = {.name = "MPICH", .rank = 0, .world_size = 1, .local_size = 1};
    struct launcher of_none = {.rank = -1, .world_size = -1, .local_size = -1};
    join(&reader, &of_one);
    assert_true(reader.reads && !reader.is_shared);
    join(&reader, &of_none);
    assert_true(reader.reads && !reader.is_shared);
    assert_true(isnan(node_reader_seconds(&reader, 0, NS_PER_SECOND)));
    node_reader_explain(&reader, 0, why, sizeof why);
    assert_string_equal(why, "");
    node_reader_finish(&reader);
}

TEST(reads_all_the_time_where_it_was_the_first)
{
    struct node_reader reader;
    char why[160];
    join(&reader, &of_rank_1);
    assert_true(reader.reads && reader.is_shared);
    assert_true(node_reader_seconds(&reader, NS_PER_SECOND, 4 * NS_PER_SECOND) == 3);
    node_reader_explain(&reader, NS_PER_SECOND, why, sizeof why);
    assert_string_equal(why, "");
    node_reader_finish(&reader);
    assert_true(reader.reads); /* what the results say stays */
}

TEST(takes_over_when_the_other_has_ended)
{
    struct node_reader reader;
    char why[160], byte;
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    snprintf(namespace_of_test, sizeof namespace_of_test, "test-%ld", (long)getpid());
    pid_t other = fork();
    if (other == 0) {
        const struct launcher of_rank_0 = {
            .name = "Open MPI", .rank = 0, .world_size = 4, .local_size = 2, .restarts = -1};
        node_reader_init(&reader);
        node_reader_join(&reader, &of_rank_0, variable, NULL, 1);
        if (write(pipe_fds[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
    join(&reader, &of_rank_1);
    assert_false(reader.reads);
    assert_true(node_reader_seconds(&reader, NS_PER_SECOND, 4 * NS_PER_SECOND) == 0);
    node_reader_explain(&reader, NS_PER_SECOND, why, sizeof why);
    assert_non_null(
        strstr(why, "read by the tracker of another rank, one per machine (rank 0, process "));
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    node_reader_update(&reader, NS_PER_SECOND + NS_PER_SECOND / 2); /* too early to ask again */
    assert_false(reader.reads);
    node_reader_update(&reader, 3 * NS_PER_SECOND);
    assert_true(reader.reads);
    assert_true(node_reader_seconds(&reader, NS_PER_SECOND, 4 * NS_PER_SECOND) == 1);
    node_reader_explain(&reader, NS_PER_SECOND, why, sizeof why);
    assert_string_equal(why,
        "without the first 2.0 s: the tracker of another rank read it, and none did for up to the "
        "last 2.0 s of these");
    node_reader_finish(&reader);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

RUN_TESTS(NULL, NULL)
