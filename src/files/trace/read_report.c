#include "files/trace/read_report.h"

#include <inttypes.h>
#include <sys/stat.h>

void read_report_expect(struct read_report *report, const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0)
        report->bytes_total += (uint64_t)info.st_size;
}

void read_report_warn_text(const struct read_report *report, struct str *text)
{
    read_report_warn(
        report, text->failed ? "A warning is missing: no memory is left" : str_text(text));
    str_finish(text);
}

void read_report_warn_unusable(const struct read_report *report, const char *path, uint64_t count)
{
    struct str text = {0};
    if (count == 0)
        return;
    str_printf(&text, "%s: %" PRIu64 " event%s without a time, a duration or a partner %s skipped",
        path, count, count == 1 ? "" : "s", count == 1 ? "was" : "were");
    read_report_warn_text(report, &text);
}
