#include "output/named_sessions.h"

#include "base/error.h"
#include "output/newest_file.h"
#include "output/output_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "rank0=path" is a session with a name, unless that is what its file is called. A slash before the
 * sign may be that of a path, as in "runs/lr=0.1.csv". */
static int read_session(
    const char *operand, char **name, struct gput_report_session *session, struct gput_error *error)
{
    const char *equals = strchr(operand, '=');
    *session = gput_report_session_default();
    session->path = operand;
    if (!equals || equals == operand || access(operand, F_OK) == 0)
        return GPUT_OK;
    if (memchr(operand, '/', (size_t)(equals - operand)) && access(equals + 1, F_OK) != 0)
        return GPUT_OK;
    *name = strndup(operand, (size_t)(equals - operand));
    if (!*name)
        return error_memory(error);
    session->name = *name;
    session->path = equals + 1;
    return GPUT_OK;
}

int named_sessions_read(struct named_sessions *read, const struct arguments *arguments,
    enum option_id output, struct gput_error *error)
{
    size_t count = (size_t)arguments->n_operands, capacity = count + 2;
    read->sessions = calloc(capacity, sizeof *read->sessions);
    read->list = calloc(capacity, sizeof *read->list);
    read->names = calloc(capacity, sizeof *read->names);
    if (!read->sessions || !read->list || !read->names)
        return error_memory(error);
    if (count == 0) {
        TRY(newest_file_of_samples(arguments->command->name, &read->newest, error));
        read->sessions[0] = gput_report_session_default();
        read->sessions[0].path = read->newest;
        read->list[0] = &read->sessions[0];
        read->count = 1;
        return output_files_keep(
            arguments_value(arguments, output), read->newest, "the session", error);
    }
    for (; read->count < count; read->count++) {
        struct gput_report_session *session = &read->sessions[read->count];
        char **name = &read->names[read->count];
        read->list[read->count] = session;
        TRY(read_session(arguments->operands[read->count], name, session, error));
        if (*name)
            TRY(output_files_keep(
                arguments_value(arguments, output), session->path, "a session", error));
    }
    return GPUT_OK;
}

void named_sessions_free(struct named_sessions *read)
{
    for (size_t i = 0; read->names && i <= read->count; i++) /* of the last, if it failed, too */
        free(read->names[i]);
    free(read->newest);
    free(read->names);
    free(read->list);
    free(read->sessions);
    *read = (struct named_sessions){0};
}
