/* Files of rows that wait for the history: a row, which is written and read back as it is, or a
 * message. */
#include "fuzz_text.h"

#include "base/cleanup.h"
#include "files/history/history_row.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(history_row_finish) struct history_row row;
    CLEANUP(history_row_finish) struct history_row again;
    CLEANUP_STR struct str text = {0}, other = {0};
    CLEANUP_FREE char *bytes = fuzz_text(data, size);
    struct gput_error error = {0};
    history_row_init(&row);
    history_row_init(&again);
    if (history_row_read(&row, bytes, size, "fuzz", &error) != GPUT_OK) {
        if (!error.message[0])
            abort();
        return 0;
    }
    history_row_write(&row, &text);
    if (history_row_read(&again, str_text(&text), text.length, "again", &error) != GPUT_OK)
        abort();
    history_row_write(&again, &other);
    if (strcmp(str_text(&text), str_text(&other)) != 0)
        abort();
    return 0;
}
