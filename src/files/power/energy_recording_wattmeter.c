/*
 * omegawatt.csv: an external wattmeter. The second line is the header: #timestamp, #frame_is_ok,
 * readings in watts. Rows whose frame is not ok are skipped, as is a truncated last row.
 */
#include "base/file.h"
#include "base/number.h"
#include "files/power/energy_recording.h"
#include "files/power/recording_date.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* more than a year of one reading a second */
#define MAX_BYTES ((size_t)1 << 30)

#define MAX_COLUMNS 64

/* Splits a line in place at any of `separators`, which may have blanks around them. */
static size_t split(char *line, const char *separators, char *cells[MAX_COLUMNS])
{
    size_t count = 0;
    bool blanks = strchr(separators, ' ') != NULL;
    for (char *at = line; at && count < MAX_COLUMNS;) {
        char *next = at + strcspn(at, separators);
        bool last = *next == '\0';
        *next = '\0';
        while (isspace((unsigned char)*at))
            at++;
        for (char *end = at + strlen(at); end > at && isspace((unsigned char)end[-1]);)
            *--end = '\0';
        if (*at || !blanks)
            cells[count++] = at;
        at = last ? NULL : next + 1;
    }
    return count;
}

struct table {
    char *columns[MAX_COLUMNS];
    size_t count;
    size_t time, ok; /* indexes; `count`: there is none */
    char separators[3];
};

static size_t find_column(const struct table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *column = table->columns[i];
        column += *column == '#';
        if (strcmp(column, name) == 0)
            return i;
    }
    return table->count;
}

static void read_header(struct table *table, char *line)
{
    const char *separators = strchr(line, ';')    ? ";"
                             : strchr(line, ',')  ? ","
                             : strchr(line, '\t') ? "\t"
                                                  : " ";
    strcpy(table->separators, separators);
    table->count = split(line, separators, table->columns);
    table->time = find_column(table, "timestamp");
    table->ok = find_column(table, "frame_is_ok");
}

static bool parse_number(const char *text, double *number)
{
    const char *end = text + strlen(text);
    return *text && number_parse_double(text, end, number) == end;
}

static bool is_ok(const char *text)
{
    double number;
    return parse_number(text, &number) ? number != 0 : tolower((unsigned char)*text) == 't';
}

static bool parse_time(const char *text, int64_t *time_us)
{
    double seconds;
    if (recording_date_parse(text, time_us))
        return true;
    if (!parse_number(text, &seconds) || !(fabs(seconds) < 9e9))
        return false;
    *time_us = recording_date_of_epoch_ns((int64_t)llround(seconds * 1e6) * 1000);
    return true;
}

static int add_row(
    struct recorded_series *series, const struct table *table, char *line, struct gput_error *error)
{
    char *cells[MAX_COLUMNS];
    int64_t time_us;
    double watts;
    size_t count = split(line, table->separators, cells);
    if (count < table->count || !parse_time(cells[table->time], &time_us))
        return GPUT_OK;
    if (table->ok < table->count && !is_ok(cells[table->ok]))
        return GPUT_OK;
    TRY(recorded_series_add(series, time_us, 0, error));
    for (size_t i = 0; i < table->count; i++) {
        if (i != table->time && i != table->ok && parse_number(cells[i], &watts))
            TRY(recorded_series_set(series, "wattmeter",
                table->columns[i] + (table->columns[i][0] == '#'), NULL, watts, error));
    }
    return GPUT_OK;
}

static int parse_lines(struct energy_record *record, char *text, struct gput_error *error)
{
    struct table table = {.count = 0};
    char *line = text;
    for (unsigned number = 1; line; number++) {
        char *end = strchr(line, '\n');
        if (!end && number > 2) { /* a truncated last row */
            if (*line)
                energy_record_warn(record,
                    "%.120s/omegawatt.csv: the last line is truncated and was skipped.",
                    record->folder);
            return GPUT_OK;
        }
        if (end)
            *end = '\0';
        if (number == 2) {
            read_header(&table, line);
            if (table.time == table.count)
                return error_set(error, GPUT_ERROR_FORMAT,
                    "%s/omegawatt.csv: its second line is not a header with a timestamp.",
                    record->folder);
        } else if (number > 2) {
            TRY(add_row(&record->series[RECORDED_WATTMETER], &table, line, error));
        }
        line = end ? end + 1 : NULL;
    }
    return GPUT_OK;
}

int energy_recording_read_wattmeter(
    struct energy_record *record, bool *found, struct gput_error *error)
{
    struct str path = {0}, content = {0};
    str_printf(&path, "%s/omegawatt.csv", record->folder);
    int code = path.failed ? error_memory(error)
                           : file_read_regular(path.data, MAX_BYTES, &content, error);
    *found = code == GPUT_OK;
    if (code == GPUT_OK && content.length > 0)
        code = parse_lines(record, content.data, error);
    str_finish(&content);
    str_finish(&path);
    return code == GPUT_ERROR_NOT_FOUND ? GPUT_OK : code;
}
