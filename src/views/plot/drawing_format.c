#include "views/plot/drawing_format.h"

#include "base/cleanup.h"

static const struct drawing_format formats[] = {
    {GPUT_FORMAT_SVG, drawing_write_svg},
    {GPUT_FORMAT_PDF, drawing_write_pdf},
    {GPUT_FORMAT_PNG, drawing_write_png},
};

/* Finds the row of a format; NULL: drawings have no such format. */
static const struct drawing_format *find_format(enum gput_format format)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (formats[i].format == format)
            return &formats[i];
    }
    return NULL;
}

bool drawing_has_format(enum gput_format format)
{
    return find_format(format);
}

int drawing_render(const struct drawing *drawing, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    const struct drawing_format *found = find_format(format);
    CLEANUP_STR struct str written = {0};
    *bytes = NULL;
    if (!found)
        return error_set(error, GPUT_ERROR_INVALID, "A picture is " DRAWING_FORMATS ".");
    int code = drawing->failed ? error_memory(error) : found->write(drawing, &written, error);
    if (code == GPUT_OK)
        return str_steal_bytes(&written, bytes, length, error);
    return code;
}
