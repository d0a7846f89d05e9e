#include "views/output/labels.h"

#include "testing.h"

#include <string.h>

TEST(later_ones_replace)
{
    struct labels labels = {0};
    assert_int_equal(
        labels_add_list(&labels, " a = 1 ,b=x=y,,a=2", LABELS_OF_PROMETHEUS, NULL), GPUT_OK);
    assert_int_equal(labels.count, 2);
    assert_string_equal(labels_get(&labels, "a"), "2");
    assert_string_equal(labels_get(&labels, "b"), "x=y");
    assert_null(labels_get(&labels, "c"));
    assert_int_equal(labels_add_list(&labels, NULL, LABELS_OF_OTEL, NULL), GPUT_OK);
    labels_finish(&labels);
}

TEST(those_of_opentelemetry_are_decoded)
{
    struct labels labels = {0};
    assert_int_equal(
        labels_add_list(&labels, "k8s.x=a%2Cb%20c%,d=%zz%00", LABELS_OF_OTEL, NULL), GPUT_OK);
    assert_string_equal(labels_get(&labels, "k8s.x"), "a,b c%");
    assert_string_equal(labels_get(&labels, "d"), "%zz%00");
    labels_finish(&labels);
}

TEST(names_are_checked)
{
    static const char *const wrong[] = {"a", "=x", "1a=x", "__a=x", "a.b=x", "a=1,b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct labels labels = {0};
        assert_int_equal(
            labels_add_list(&labels, wrong[i], LABELS_OF_PROMETHEUS, NULL), GPUT_ERROR_INVALID);
        labels_finish(&labels);
    }
}

RUN_TESTS(NULL, NULL)
