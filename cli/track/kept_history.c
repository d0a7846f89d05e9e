#include "track/kept_history.h"

#include "base/cleanup.h"
#include "base/command_name.h"
#include "base/error.h"
#include "base/str.h"
#include "common/environment.h"
#include "common/message.h"
#include "track/report.h"
#include "track/tracking.h"

#include <gputracker/history.h>

#include <stdio.h>
#include <stdlib.h>

int kept_history_begin(
    struct kept_history *history, const struct arguments *arguments, struct gput_error *error)
{
    char folder[PATH_MAX];
    struct gput_error ignored;
    size_t position = 0, count = 0;
    const char *named = secure_getenv("GPUT_HISTORY");
    if (arguments_have(arguments, OPTION_NO_HISTORY))
        return GPUT_OK;
    history->is_wanted =
        (named && named[0]) || arguments_have(arguments, OPTION_HISTORY) ||
        (history_place_find(folder, &ignored) == GPUT_OK && gput_history_is_on(folder));
    history->size_of = calloc(arguments->n_uses + 1, sizeof *history->size_of);
    if (!history->size_of)
        return error_memory(error);
    const char *path;
    while ((path = arguments_next(arguments, OPTION_SIZE_OF, &position)))
        history->size_of[count++] = (char *)path;
    return GPUT_OK;
}

void kept_history_finish(struct kept_history *history)
{
    free(history->size_of);
    *history = (struct kept_history){0};
}

static int add(const struct tracking *tracking, const struct gput_results *results,
    const char *const *command, struct gput_error *error)
{
    struct gput_history_entry entry = gput_history_entry_default();
    CLEANUP_STR struct str name = {0}, arguments = {0};
    const char *words[COMMAND_NAME_WORDS], *files[4] = {NULL};
    char folder[PATH_MAX];
    size_t count = 0;
    bool is_asked = tracking->options.command_lines;
    if (command) {
        command_name_of(command, words);
        /* Join words with blanks. */
        for (size_t i = 0; words[i]; i++)
            str_printf(&name, "%s%s", i ? " " : "", words[i]);
        /* Join the words of a command line as a shell reads them. */
        for (size_t i = 0; command[i]; i++) {
            if (i)
                str_append_char(&arguments, ' ');
            str_append_shell_word(&arguments, command[i]);
        }
    } else {
        str_append(is_asked ? &arguments : &name, gput_results_text(results, "identity.command"));
    }
    if (name.failed || arguments.failed)
        return error_memory(error);
    if (tracking->options.tracking_file && !tracking->html.temporary)
        files[count++] = tracking->options.tracking_file;
    if (report_is_file(tracking->output))
        files[count++] = tracking->output;
    if (tracking->html_path)
        files[count++] = tracking->html_path;
    entry.name = str_text(&name);
    entry.arguments = is_asked ? str_text(&arguments) : NULL;
    entry.size_of = (const char *const *)tracking->history.size_of;
    entry.files = files;
    TRY(history_place_find(folder, error));
    return gput_history_add(folder, results, &entry, error);
}

void kept_history_add(const struct tracking *tracking, const struct gput_results *results,
    const char *const *command, int stop_fd)
{
    struct gput_error error;
    char line[MESSAGE_LINE_SIZE];
    if (!tracking->history.is_wanted)
        return;
    if (environment_is_untrusted())
        environment_drop_rights();
    if (add(tracking, results, command, &error) == GPUT_OK || tracking->disable_logs)
        return;
    snprintf(line, sizeof line, "This session is not in the history: %.800s", error.message);
    message_warning_until(line, stop_fd);
}
