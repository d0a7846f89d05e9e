#include "formats/marks/sub_tracking_lost.h"

#include "base/number.h"
#include "formats/marks/sub_tracking_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME "[gpu-tracker] lost calls: "

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
    return (size_t)snprintf(name, SUB_TRACKING_LOST_NAME_SIZE, NAME "%010" PRIu64, lost->calls);
}

bool sub_tracking_lost_parse(const char *name, size_t length, uint64_t *calls)
{
    const size_t prefix = sizeof NAME - 1;
    int64_t number = 0;
    if (length <= prefix || memcmp(name, NAME, prefix) != 0 ||
        number_parse_int64(name + prefix, name + length, &number) != name + length || number <= 0)
        return false;
    *calls = (uint64_t)number;
    return true;
}

void sub_tracking_lost_add(struct sub_tracking_lost *lost, const struct sub_tracking_lost *other)
{
    if (other->calls == 0)
        return;
    if (lost->calls == 0 || other->since_ns < lost->since_ns)
        lost->since_ns = other->since_ns;
    if (lost->calls == 0 || other->until_ns > lost->until_ns)
        lost->until_ns = other->until_ns;
    lost->process_id = other->process_id;
    lost->calls += other->calls;
}
