#include "machine/os/launcher.h"

#include "testing.h"

#include <sys/wait.h>
#include <unistd.h>

#define PARSE(text, address) hydra_parse(text, sizeof text - 1, address, sizeof address)

TEST(reads_the_address_of_mpiexec)
{
    char address[64];
    static const char of_a_proxy[] = "/usr/bin/hydra_pmi_proxy\0--control-port\0n1:34375\0--rmk\0";
    assert_true(PARSE(of_a_proxy, address));
    assert_string_equal(address, "n1:34375");
}

TEST(knows_no_address_of_other_programs)
{
    char address[64];
    static const char of_another[] = "/bin/sh\0--control-port\0n1:34375\0";
    static const char of_intel[] = "hydra_pmi_proxy\0--usize\0-1\0";
    static const char cut_off[] = "hydra_pmi_proxy\0--control-port\0n1:34";
    static const char without_value[] = "hydra_pmi_proxy\0--control-port\0";
    assert_false(PARSE(of_another, address));
    assert_false(PARSE(of_intel, address));
    assert_false(PARSE(cut_off, address));
    assert_false(PARSE(without_value, address));
    assert_false(hydra_parse("", 0, address, sizeof address));
}

/* tests/cli/test_ranks.py has one that is there. */
TEST(finds_none_above_a_process_that_has_ended)
{
    char address[64];
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(
        hydra_read(NULL, "/proc", pid, address, sizeof address, NULL), GPUT_ERROR_GONE);
}

RUN_TESTS(NULL, NULL)
