/* Errors of NVIDIA's cards in the kernel's log. */
#include "machine/gpu/nvidia_module.h"
#include "testing.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static void append(const char *path, const char *text)
{
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

TEST(lines_of_drivers_old_and_new_are_read)
{
    static const struct {
        const char *line;
        uint32_t domain, bus, xid; /* 0: it is none */
    } rows[] = {
        {"4,1234,5678,-;NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', GPU has fallen off the "
         "bus.",
            0, 0x41, 79},
        {"NVRM: Xid (0001:0a:00): 13, Graphics SM Warp Exception", 1, 0x0a, 13},
        {"NVRM: Xid (PCI:0000:41:00): ", 0, 0, 0},
        {"NVRM: Xid (PCI:zz", 0, 0, 0},
        {"NVRM: loading NVIDIA UNIX x86_64 Kernel Module", 0, 0, 0},
        {"", 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pci_address address;
        uint32_t xid = 0;
        bool is_one = xid_parse(rows[i].line, strlen(rows[i].line), &address, &xid);
        assert_int_equal(is_one, rows[i].xid != 0);
        if (is_one) {
            assert_int_equal(address.domain, rows[i].domain);
            assert_int_equal(address.bus, rows[i].bus);
            assert_int_equal(xid, rows[i].xid);
        }
    }
}

/* A file stands for the log: several records may come at once then. */
TEST(errors_since_the_log_was_opened_count_for_their_card)
{
    char path[] = "/tmp/xid-log-XXXXXX";
    struct xid_log log;
    struct card_reading reading;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    append(path, "4,1,1,-;NVRM: Xid (PCI:0000:41:00): 31, from before\n");
    xid_log_open(&log, path);
    xid_log_update(&log);
    card_reading_clear(&reading, "not read");
    xid_log_fill(&log, "0000:41:00.0", &reading);
    assert_true(reading.values[CARD_XID_ERRORS] == 0);
    assert_true(isnan(reading.values[CARD_LAST_XID]));
    append(path, "4,2,2,-;NVRM: Xid (PCI:0000:41:00): 48, one\n4,3,3,-;usb 1-1: new device\n"
                 "4,4,4,-;NVRM: Xid (PCI:0000:42:00): 13, of another\n"
                 "4,5,5,-;NVRM: Xid (PCI:0000:41:00): 79, two\n");
    xid_log_update(&log);
    xid_log_fill(&log, "0000:41:00.0", &reading);
    assert_true(reading.values[CARD_XID_ERRORS] == 2);
    assert_true(reading.values[CARD_LAST_XID] == 79);
    assert_null(reading.missing[CARD_XID_ERRORS]);
    xid_log_close(&log);
    unlink(path);
}

TEST(a_log_that_cannot_be_read_is_no_zero)
{
    struct xid_log log;
    struct card_reading reading;
    xid_log_open(&log, "/nonexistent/kmsg");
    xid_log_update(&log);
    card_reading_clear(&reading, "not read");
    xid_log_fill(&log, "0000:41:00.0", &reading);
    assert_true(isnan(reading.values[CARD_XID_ERRORS]));
    assert_non_null(strstr(reading.missing[CARD_XID_ERRORS], "dmesg_restrict"));
    xid_log_close(&log);
}

RUN_TESTS(NULL, NULL)
