#include "store/energy_recording_writer.h"

#include "base/file.h"
#include "store/energy_recording_format.h"
#include "store/recording_date.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct energy_recording_writer {
    const struct energy_recording_format *format;
    void *file; /* the format's */
};

static const struct energy_recording_format *const formats[] = {
    [GPUT_ENERGY_JSON] = &energy_recording_json,
    [GPUT_ENERGY_SQLITE] = &energy_recording_sqlite,
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static int write_metadata(const char *folder, int64_t now_ns, struct gput_error *error)
{
    char date[RECORDING_DATE_SIZE];
    struct str path = {0}, text = {0};
    str_printf(&path, "%s/metadata.json", folder);
    recording_date_format(recording_date_of_epoch_ns(now_ns), date);
    str_printf(&text, "{\"description\": \"recorded by gpu-tracker\", \"date\": \"%s\"}\n", date);
    int code = path.failed || text.failed ? error_memory(error) : GPUT_OK;
    if (code == GPUT_OK && access(path.data, F_OK) != 0)
        code = file_write_atomic(path.data, text.data, text.length, error);
    str_finish(&path);
    str_finish(&text);
    return code;
}

static int name_file(const char *folder, const struct energy_recording_format *format,
    struct str *path, struct gput_error *error)
{
    str_clear(path);
    str_printf(path, "%s/%s", folder, format->file_name);
    return path->failed ? error_memory(error) : GPUT_OK;
}

/* A recording in any form is in the way of a new one. */
static int check_folder(const char *folder, struct gput_error *error)
{
    struct str path = {0};
    int code = GPUT_OK;
    for (size_t i = 0; i < COUNT_OF(formats) && code == GPUT_OK; i++) {
        code = name_file(folder, formats[i], &path, error);
        if (code == GPUT_OK && access(path.data, F_OK) == 0)
            code = error_set(error, GPUT_ERROR_EXISTS,
                "There is a recording in %s already. Give another folder, or --cont to add to it.",
                folder);
    }
    str_finish(&path);
    return code;
}

static int open_file(struct energy_recording_writer *writer, const char *folder, bool continues,
    struct gput_error *error)
{
    struct str path = {0};
    int code = name_file(folder, writer->format, &path, error);
    if (code == GPUT_OK)
        code = writer->format->open(path.data, continues, &writer->file, error);
    str_finish(&path);
    return code;
}

int energy_recording_writer_create(const char *folder, enum gput_energy_driver driver,
    bool continues, int64_t now_ns, struct energy_recording_writer **result,
    struct gput_error *error)
{
    *result = NULL;
    if ((size_t)driver >= COUNT_OF(formats))
        return error_set(error, GPUT_ERROR_INVALID, "There is no such form of a recording.");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set_errno(error, errno, "Cannot make the folder %s", folder);
    if (!continues)
        TRY(check_folder(folder, error));
    struct energy_recording_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_memory(error);
    writer->format = formats[driver];
    int code = open_file(writer, folder, continues, error);
    if (code == GPUT_OK)
        code = write_metadata(folder, now_ns, error);
    if (code == GPUT_OK)
        *result = writer;
    else
        energy_recording_writer_finish(writer, NULL);
    return code;
}

int energy_recording_writer_add(struct energy_recording_writer *writer, int64_t time_ns,
    const struct doc *metrics, struct gput_error *error)
{
    char date[RECORDING_DATE_SIZE];
    recording_date_format(recording_date_of_epoch_ns(time_ns), date);
    return writer->format->add(writer->file, date, metrics, error);
}

int energy_recording_writer_finish(struct energy_recording_writer *writer, struct gput_error *error)
{
    if (!writer)
        return GPUT_OK;
    int code = writer->file ? writer->format->finish(writer->file, error) : GPUT_OK;
    free(writer);
    return code;
}
