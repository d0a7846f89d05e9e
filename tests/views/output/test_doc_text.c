#include "testing.h"
#include "views/output/doc_text.h"

#include <math.h>

static void assert_label(const char *key, const char *expected)
{
    struct str text = {0};
    doc_text_label(key, &text);
    assert_string_equal(str_text(&text), expected);
    str_finish(&text);
}

TEST(labels_are_made_from_keys)
{
    assert_label("max_ram", "Max RAM");
    assert_label("total_rss", "Total RSS");
    assert_label("n_expected_cores", "Number of expected cores");
    assert_label("main_n_threads", "Main number of threads");
    assert_label("n_expected_gpus", "Number of expected GPUs");
    assert_label("gpu_percentages", "GPU percentages");
    assert_label("cpu_utilization", "CPU utilization");
    assert_label("system_gpu_count", "System GPU count");
    assert_label("_odd__key_", "Odd key");
    assert_label("", "");
}

TEST(values_are_written_for_people)
{
    struct doc *root = doc_create_object();
    doc_add_double(root, "rounded", 873.8529279999999);
    doc_add_double(root, "whole", 67000.0004);
    doc_add_double(root, "small", 0.0001);
    doc_add_double(root, "kept", 0.000123456)->keeps_small = true;
    doc_add_double(root, "tiny", -9.5e-300)->keeps_small = true;
    doc_add_double(root, "large", 1234.56789)->keeps_small = true;
    doc_add_double(root, "none", 0)->keeps_small = true;
    doc_add_double(root, "missing", NAN);
    doc_add_int(root, "count", 12);
    doc_add_bool(root, "yes_or_no", true);
    doc_add_string(root, "unit", "megabytes");
    doc_label(doc_add_int(root, "named", 1), "Its own name");
    struct doc *inner = doc_add_object(doc_add_object(root, "outer"), "inner");
    doc_add_bool(inner, "leaf", false);
    doc_add_object(root, "nothing");
    struct doc *list = doc_add_array(root, "list");
    doc_add_int(list, NULL, 1);
    doc_add_int(doc_add_object(list, NULL), "two", 2);

    struct str text = {0};
    doc_text_write(root, &text);
    assert_string_equal(str_text(&text), "Rounded: 873.853\n"
                                         "Whole: 67000.0\n"
                                         "Small: 0.0\n"
                                         "Kept: 0.000123\n"
                                         "Tiny: -9.5e-300\n"
                                         "Large: 1234.568\n"
                                         "None: 0.0\n"
                                         "Missing: n/a\n"
                                         "Count: 12\n"
                                         "Yes or no: yes\n"
                                         "Unit: megabytes\n"
                                         "Its own name: 1\n"
                                         "Outer:\n"
                                         "   Inner:\n"
                                         "      Leaf: no\n"
                                         "Nothing: none\n"
                                         "List:\n"
                                         "   - 1\n"
                                         "   -\n"
                                         "      Two: 2\n");
    str_finish(&text);
    doc_destroy(root);
}

RUN_TESTS(NULL, NULL)
