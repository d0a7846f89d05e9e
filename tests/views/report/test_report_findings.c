/* What the sessions of a report say together. Figures and endings of made-up sessions are tested
 * with the page that shows them (web/tests/sessions.test.mjs). */
#include "testing.h"
#include "views/report/report_findings.h"

#include <string.h>

/* A session of the rank, with a curve of the CPU: `early` for a second, then `late` for nine. */
static void add_rank(
    struct report_payload *payload, struct doc *sessions, int rank, double early, double late)
{
    struct gput_error error;
    struct report_column times, values;
    struct doc *session = doc_add_object(sessions, NULL);
    struct doc *identity = doc_add_object(session, "identity");
    doc_add_string(session, "name", "train");
    doc_add_int(identity, "rank", rank);
    doc_add_double(identity, "seconds", 10);
    doc_add_int(identity, "exit_status", 0);
    report_column_init(&times, &payload->spool, 1e-6);
    report_column_init(&values, &payload->spool, 0.001);
    assert_int_equal(report_column_add(&times, 1, &error), GPUT_OK);
    assert_int_equal(report_column_add(&values, early, &error), GPUT_OK);
    assert_int_equal(report_column_add(&times, 2, &error), GPUT_OK);
    assert_int_equal(report_column_add(&values, early, &error), GPUT_OK);
    assert_int_equal(report_column_add(&times, 11, &error), GPUT_OK);
    assert_int_equal(report_column_add(&values, late, &error), GPUT_OK);
    assert_int_equal(
        report_payload_add_column(payload, doc_add_array(session, "times"), NULL, &times, &error),
        GPUT_OK);
    struct doc *series = doc_add_object(doc_add_array(session, "series"), NULL);
    doc_add_string(series, "group", "cpu");
    doc_add_string(series, "scope", "combined");
    doc_add_string(series, "unit", "percent");
    doc_add_bool(series, "of_interval", true);
    assert_int_equal(
        report_payload_add_column(payload, series, "values", &values, &error), GPUT_OK);
}

TEST(the_busiest_rank_is_that_of_the_highest_mean_by_time)
{
    struct gput_error error;
    struct report_payload payload;
    assert_int_equal(report_payload_init(&payload, "/tmp", &error), GPUT_OK);
    struct doc *sessions = doc_add_array(payload.root, "sessions");
    add_rank(&payload, sessions, 0, 90, 50);
    add_rank(&payload, sessions, 1, 0, 90); /* by rows it would be the last one */
    add_rank(&payload, sessions, 2, 10, 50);
    assert_int_equal(report_findings_add(&payload, &error), GPUT_OK);
    const struct doc *busiest = doc_get(doc_get(payload.root, "findings"), "busiest");
    assert_non_null(busiest);
    assert_int_equal(doc_get_int(busiest, "session"), 1);
    assert_string_equal(doc_get_string(busiest, "group"), "cpu");
    assert_true(doc_get_number(busiest, "mean") > 73.5 && doc_get_number(busiest, "mean") < 73.7);
    assert_true(
        doc_get_number(busiest, "median") > 57.2 && doc_get_number(busiest, "median") < 57.4);
    report_payload_finish(&payload);
}

TEST(one_session_has_an_ending_and_nothing_to_compare)
{
    struct gput_error error;
    struct report_payload payload;
    assert_int_equal(report_payload_init(&payload, "/tmp", &error), GPUT_OK);
    struct doc *sessions = doc_add_array(payload.root, "sessions");
    add_rank(&payload, sessions, 0, 90, 50);
    assert_int_equal(report_findings_add(&payload, &error), GPUT_OK);
    assert_null(doc_get(payload.root, "findings"));
    const struct doc *ending = doc_get(sessions->first, "ending");
    assert_string_equal(doc_get_string(ending, "text"), "exit status 0");
    assert_true(doc_get(ending, "is_good")->boolean);
    report_payload_finish(&payload);
}

/* A session with two figures next to its wall time. */
static void add_session(struct doc *sessions, const char *name, double grown, double new)
{
    struct doc *session = doc_add_object(sessions, NULL);
    doc_add_string(session, "name", name);
    doc_add_double(doc_add_object(session, "identity"), "seconds", 10);
    struct doc *cards = doc_add_array(session, "cards");
    const double values[] = {grown, new};
    for (int i = 0; i < 2; i++) {
        struct doc *card = doc_add_object(cards, NULL);
        doc_add_string(card, "id", i == 0 ? "grown" : "new");
        doc_add_string(card, "label", i == 0 ? "Grown" : "New");
        doc_add_string(card, "unit", "bytes");
        doc_add_double(card, "value", values[i]);
    }
}

TEST(a_figure_that_grew_from_0_changed_most)
{
    struct gput_error error;
    struct report_payload payload;
    assert_int_equal(report_payload_init(&payload, "/tmp", &error), GPUT_OK);
    struct doc *sessions = doc_add_array(payload.root, "sessions");
    add_session(sessions, "a", 100, 0);
    add_session(sessions, "b", 300, 5);
    assert_int_equal(report_findings_add(&payload, &error), GPUT_OK);
    const struct doc *figures = doc_get(doc_get(payload.root, "findings"), "figures");
    const struct doc *figure = figures->first;
    while (figure && strcmp(doc_get_string(figure, "unit"), "bytes") != 0)
        figure = figure->next;
    assert_non_null(figure);
    assert_string_equal(doc_get_string(figure, "label"), "New");
    assert_string_equal(doc_get_string(figure->next, "label"), "Grown");
    report_payload_finish(&payload);
}

RUN_TESTS(NULL, NULL)
