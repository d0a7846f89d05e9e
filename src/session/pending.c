/* Stands in, weakly, for parts that are about to land; goes with the last of them. */
#include "session/session_state.h"

#include "base/error.h"
__attribute__((weak)) int results_file_create(
    const char *path, struct results_file **file, struct gput_error *error)
{
    (void)path;
    (void)error;
    *file = NULL;
    return 0;
}
__attribute__((weak)) void results_file_update(
    struct results_file *file, const struct gput_results *results)
{
    (void)file;
    (void)results;
}
__attribute__((weak)) void results_file_remove(struct results_file *file)
{
    (void)file;
}
__attribute__((weak)) void results_file_close(struct results_file *file)
{
    (void)file;
}
__attribute__((weak)) int tracking_file_check_name(const char *path, struct gput_error *error)
{
    (void)path;
    (void)error;
    return 0;
}
__attribute__((weak)) int tracking_file_create(const char *path,
    const struct gput_static_data *static_data, bool overwrite, struct tracking_file **file,
    struct gput_error *error)
{
    (void)path;
    (void)static_data;
    (void)overwrite;
    (void)error;
    *file = NULL;
    return 0;
}
__attribute__((weak)) int tracking_file_write_row(struct tracking_file *file,
    const struct gput_sample *sample, int64_t now_ns, struct gput_error *error)
{
    (void)file;
    (void)sample;
    (void)now_ns;
    (void)error;
    return 0;
}
__attribute__((weak)) uint64_t tracking_file_rows_lost(const struct tracking_file *file)
{
    (void)file;
    return 0;
}
__attribute__((weak)) int tracking_file_finish(
    struct tracking_file *file, uint64_t *rows_lost, struct gput_error *error)
{
    (void)file;
    (void)rows_lost;
    (void)error;
    return 0;
}
__attribute__((weak)) int gput_results_render(const struct gput_results *results,
    enum gput_format format, char **text, struct gput_error *error)
{
    (void)results;
    (void)format;
    *text = NULL;
    return error_set(error, GPUT_ERROR_UNSUPPORTED, "Reports are about to land.");
}
__attribute__((weak)) int gput_results_load(
    const char *path, struct gput_results *results, struct gput_error *error)
{
    (void)results;
    return error_set(error, GPUT_ERROR_UNSUPPORTED, "Cannot load %s yet.", path);
}
