#include "files/marks/sub_tracking_lost.h"

#include "base/number.h"
#include "files/marks/sub_tracking_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME "[gpu-tracker] lost calls: "
#define AT_LEAST "at least "

/* Makes one of the two rows, which has no figures. */
static struct sub_tracking_mark row_at(
    const struct sub_tracking_lost *lost, enum sub_tracking_position position, int64_t time_ns)
{
    struct sub_tracking_mark row = {
        .process_id = lost->process_id,
        .position = (uint8_t)position,
        .timestamp_ns = time_ns | 1, /* the text of an odd time has all nine decimals */
    };
    sub_tracking_mark_clear_figures(&row);
    row.thread_id = lost->process_id;
    row.timestamp = sub_tracking_seconds_of_ns(row.timestamp_ns);
    return row;
}

size_t sub_tracking_lost_rows(const struct sub_tracking_lost *lost,
    struct sub_tracking_mark rows[2], char name[SUB_TRACKING_LOST_NAME_SIZE])
{
    rows[0] = row_at(lost, SUB_TRACKING_START, lost->since_ns);
    rows[1] = row_at(lost, SUB_TRACKING_STOP, lost->until_ns);
    return (size_t)snprintf(name, SUB_TRACKING_LOST_NAME_SIZE, NAME "%s%010" PRIu64,
        lost->at_least ? AT_LEAST : "", lost->calls);
}

/* Whether the text begins so; moves on to what follows. */
static bool skip(const char **text, const char *end, const char *beginning)
{
    size_t length = strlen(beginning);
    if ((size_t)(end - *text) < length || memcmp(*text, beginning, length) != 0)
        return false;
    *text += length;
    return true;
}

bool sub_tracking_lost_parse(const char *name, size_t length, struct sub_tracking_lost *lost)
{
    const char *end = name + length;
    int64_t number = 0;
    if (!skip(&name, end, NAME))
        return false;
    bool at_least = skip(&name, end, AT_LEAST);
    if (number_parse_int64(name, end, &number) != end || number < 1)
        return false;
    lost->calls = (uint64_t)number;
    lost->at_least = at_least;
    return true;
}

void sub_tracking_lost_add(struct sub_tracking_lost *lost, const struct sub_tracking_lost *other)
{
    bool is_first = lost->calls == 0;
    lost->at_least |= other->at_least;
    if (other->calls == 0)
        return;
    if (is_first || other->since_ns < lost->since_ns)
        lost->since_ns = other->since_ns;
    if (is_first || other->until_ns > lost->until_ns)
        lost->until_ns = other->until_ns;
    lost->process_id = other->process_id;
    lost->calls += other->calls;
}
