#include "trace/read_report.h"

#include "base/str.h"

#include <inttypes.h>
#include <sys/stat.h>

void read_report_expect(struct read_report *report, const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0)
        report->bytes_total += (uint64_t)info.st_size;
}

void read_report_warn_unusable(const struct read_report *report, const char *path, uint64_t count)
{
    struct str text = {0};
    if (count == 0)
        return;
    str_printf(&text, "%s: %" PRIu64 " event%s without a time, a duration or a partner %s left out",
        path, count, count == 1 ? "" : "s", count == 1 ? "was" : "were");
    if (!text.failed)
        read_report_warn(report, str_text(&text));
    str_finish(&text);
}
