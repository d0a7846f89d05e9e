/* Calls as stacks for speedscope (https://www.speedscope.app): its own format, evented. */
#include "views/report/export/report_export.h"

#include "base/cleanup.h"
#include "base/json_string.h"
#include "views/report/export/report_output.h"
#include "views/report/export/report_stacks.h"

#include <inttypes.h>
#include <string.h>

static const struct doc *sessions_of(const struct report_payload *payload)
{
    return doc_get(payload->root, "sessions");
}

struct speedscope {
    struct report_output output;
    const struct doc *session;
    uint32_t first_frame; /* of the session's names among all */
    bool has_profile, has_event;
};

static void append_string(struct str *text, const char *string)
{
    json_write_ascii_string(string, strlen(string), text);
}

/* The names of all sessions, one after the other. */
static int append_frames(
    struct report_output *output, const struct report_payload *payload, struct gput_error *error)
{
    bool is_first = true;
    for (const struct doc *session = sessions_of(payload)->first; session;
         session = session->next) {
        const struct doc *calls = doc_get(session, "calls");
        const struct doc *names = calls ? doc_get(calls, "names") : NULL;
        for (const struct doc *name = names ? names->first : NULL; name; name = name->next) {
            str_append(&output->text, is_first ? "{\"name\": " : ", {\"name\": ");
            append_string(&output->text, name->string);
            str_append_char(&output->text, '}');
            is_first = false;
            TRY(report_output_pass(output, error));
        }
    }
    return GPUT_OK;
}

/* Begins the profile of a thread. */
static int begin_profile(void *user, const struct report_stack *stack, struct gput_error *error)
{
    struct speedscope *speedscope = user;
    struct str *text = &speedscope->output.text;
    CLEANUP_STR struct str name = {0};
    str_printf(&name, "%s: %s, thread %" PRId64, doc_get_string(speedscope->session, "name"),
        stack->process, stack->thread);
    if (stack->number > 0)
        str_printf(&name, ", overlapping %" PRIu32, stack->number);
    str_append(text, speedscope->has_profile ? ",\n" : "\n");
    str_append(text, "{\"type\": \"evented\", \"name\": ");
    append_string(text, str_text(&name));
    str_append(text, ", \"unit\": \"seconds\", \"startValue\": ");
    report_append_number(text, stack->begin, 9);
    str_append(text, ", \"endValue\": ");
    report_append_number(text, stack->end, 9);
    str_append(text, ", \"events\": [");
    speedscope->has_profile = true;
    speedscope->has_event = false;
    text->failed |= name.failed;
    return report_output_pass(&speedscope->output, error);
}

/* Writes that a call opens or closes. */
static int add_event(void *user, bool is_open, uint32_t name, double at, struct gput_error *error)
{
    struct speedscope *speedscope = user;
    struct str *text = &speedscope->output.text;
    str_printf(text,
        "%s{\"type\": \"%c\", \"frame\": %" PRIu32 ", \"at\": ", speedscope->has_event ? "," : "",
        is_open ? 'O' : 'C', speedscope->first_frame + name);
    report_append_number(text, at, 9);
    str_append_char(text, '}');
    speedscope->has_event = true;
    return report_output_pass(&speedscope->output, error);
}

static int end_profile(void *user, struct gput_error *error)
{
    struct speedscope *speedscope = user;
    str_append(&speedscope->output.text, "]}");
    return report_output_pass(&speedscope->output, error);
}

static void speedscope_finish(struct speedscope *speedscope)
{
    report_output_finish(&speedscope->output);
}

int report_export_speedscope(const struct report_payload *payload, report_receiver *receive,
    void *user, struct gput_error *error)
{
    CLEANUP(speedscope_finish)
    struct speedscope speedscope = {.output = {.receive = receive, .user = user}};
    struct str *text = &speedscope.output.text;
    TRY(report_stacks_check(payload, error));
    str_append(text,
        "{\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\": ");
    append_string(text, doc_get_string(payload->root, "generator"));
    str_append(text, ", \"name\": ");
    append_string(text, doc_get_string(payload->root, "title"));
    str_append(text, ",\n\"shared\": {\"frames\": [");
    TRY(append_frames(&speedscope.output, payload, error));
    str_append(text, "]},\n\"profiles\": [");

    const struct report_stack_visitor visitor = {
        begin_profile, add_event, end_profile, &speedscope};
    const struct doc *session = sessions_of(payload)->first;
    for (; session; session = session->next) {
        const struct doc *calls = doc_get(session, "calls");
        speedscope.session = session;
        TRY(report_stacks_walk(payload, session, &visitor, error));
        if (calls)
            speedscope.first_frame += (uint32_t)doc_get(calls, "names")->count;
    }
    str_append(text, "\n]}\n");
    return report_output_pass_rest(&speedscope.output, error);
}
