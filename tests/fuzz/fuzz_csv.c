/* CSV: records and cells stay inside the file, and their sizes agree. */
#include "base/csv.h"
#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_SIZE];
    int fd = fuzz_file(data, size, path);
    struct csv_reader *reader;
    if (csv_reader_open(path, &reader, NULL) != GPUT_OK)
        abort();
    struct csv_record record;
    bool end = false;
    size_t bytes = 0;
    while (csv_reader_next(reader, &record, &end, NULL) == GPUT_OK && !end) {
        struct csv_cell cells[4];
        size_t count = csv_count_cells(&record);
        bytes += (size_t)(record.end - record.text);
        if (csv_split(&record, cells, 4) != count)
            abort();
        for (size_t i = 0; i < count && i < 4; i++) {
            if (cells[i].text < record.text || cells[i].text + cells[i].length > record.end)
                abort();
        }
    }
    if (bytes > size)
        abort();
    csv_reader_close(reader);
    close(fd);
    return 0;
}
