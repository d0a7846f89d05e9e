#include "services/serve/http_request.h"

#include "testing.h"

#include <string.h>

static bool is_served(const char *host, const char *names)
{
    return host_name_is_served(host, strlen(host), names);
}

TEST(addresses_and_localhost_are_served)
{
    static const char *const hosts[] = {"127.0.0.1", "127.0.0.1:5001", "10.1.2.3:80", "[::1]",
        "[::1]:5001", "::1", "[fe80::1%25eth0]:5001", "localhost", "LocalHost:5001", "localhost.",
        ""};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        if (!is_served(hosts[i], ""))
            fail_msg("%s", hosts[i]);
}

TEST(other_names_are_not)
{
    static const char *const hosts[] = {"evil.example", "evil.example:5001",
        "localhost.evil.example", "evil-localhost", "127.0.0.1.evil.example", "127.0.0.1evil",
        "[evil.example]", "[::1", "1", "*", ",", "trainer,evil", ".", "0x7f.1.evil:80"};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
        if (is_served(hosts[i], "trainer,box"))
            fail_msg("%s", hosts[i]);
}

TEST(names_that_are_listed_are_served)
{
    assert_true(is_served("trainer:5001", "trainer,box.example.org"));
    assert_true(is_served("BOX.example.org", "trainer,box.example.org"));
    assert_true(is_served("box.example.org.:80", "trainer,box.example.org"));
    assert_false(is_served("box", "trainer,box.example.org"));
    assert_false(is_served("box.example.org", ",,"));
    assert_true(is_served("anything", "trainer,*"));
}

RUN_TESTS(NULL, NULL)
