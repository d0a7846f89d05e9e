#include "machine/os/system_stat.h"

#include "base/str.h"
#include "testing.h"

#include <stdio.h>
#include <unistd.h>

#define PAGE 4096

/* As the kernel reads /proc/PID/net/dev: whatever is asked for, a page at a time. */
ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    return lseek(fd, offset, SEEK_SET) < 0 ? -1 : read(fd, bytes, size < PAGE ? size : PAGE);
}

#define HEADER                                                                                     \
    "Inter-|   Receive                                                |  Transmit\n"               \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"

TEST(sums_interfaces_without_the_loopback)
{
    struct network_traffic traffic;
    assert_int_equal(
        network_traffic_parse(HEADER "    lo: 9000 1 0 0 0 0 0 0 9000 1 0 0 0 0 0 0\n"
                                     "  eth0: 1000 5 0 0 0 0 0 0 200 4 0 0 0 0 0 0\n"
                                     " wlan0:123456789012 5 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n",
            &traffic),
        GPUT_OK);
    assert_int_equal(traffic.received_bytes, 123456790012);
    assert_int_equal(traffic.sent_bytes, 203);
}

TEST(an_interface_may_be_called_almost_like_the_loopback)
{
    struct network_traffic traffic;
    assert_int_equal(network_traffic_parse(HEADER "lo0: 1 0 0 0 0 0 0 0 2 0\n", &traffic), GPUT_OK);
    assert_int_equal(traffic.received_bytes, 1);
    assert_int_equal(traffic.sent_bytes, 2);
}

TEST(skips_truncated_lines)
{
    struct network_traffic traffic;
    assert_int_equal(network_traffic_parse(HEADER "eth0: 10 0 0 0 0 0 0 0 20 0\n"
                                                  "eth1: 10 0 0 0",
                         &traffic),
        GPUT_OK);
    assert_int_equal(traffic.received_bytes, 10);
    assert_int_equal(network_traffic_parse(HEADER, &traffic), GPUT_OK);
    assert_int_equal(traffic.received_bytes, 0);
}

TEST(refuses_other_texts)
{
    struct network_traffic traffic;
    assert_int_equal(network_traffic_parse("", &traffic), GPUT_ERROR_FORMAT);
    assert_int_equal(network_traffic_parse("one\ntwo\neth0: 1\n", &traffic), GPUT_ERROR_FORMAT);
}

TEST(reads_more_interfaces_than_a_page_has)
{
    struct network_traffic traffic;
    struct str text = {0};
    FILE *file = tmpfile();
    str_append(&text, HEADER);
    for (int i = 0; i < 200; i++)
        str_printf(&text, "veth%d: 10 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0\n", i);
    assert_true(text.length > PAGE);
    assert_int_equal(write(fileno(file), str_text(&text), text.length), text.length);
    assert_int_equal(network_traffic_reread(fileno(file), &traffic), GPUT_OK);
    assert_int_equal(traffic.received_bytes, 2000);
    assert_int_equal(traffic.sent_bytes, 200);
    fclose(file);
    str_finish(&text);
}

RUN_TESTS(NULL, NULL)
