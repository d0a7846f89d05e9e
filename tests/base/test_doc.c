#include "base/doc.h"
#include "testing.h"

#include <math.h>
#include <string.h>

TEST(members_keep_their_order_and_are_found_by_name)
{
    struct doc *root = doc_create_object();
    doc_add_int(root, "zeta", 1);
    struct doc *inner = doc_label(doc_add_object(root, "alpha"), "The alpha");
    doc_add_string(inner, "text", "hello");
    doc_add_bool(doc_add_array(root, "list"), NULL, true);

    assert_int_equal(root->count, 3);
    assert_string_equal(root->first->key, "zeta");
    assert_string_equal(root->last->key, "list");
    assert_string_equal(doc_get(root, "alpha")->label, "The alpha");
    assert_string_equal(doc_get(doc_get(root, "alpha"), "text")->string, "hello");
    assert_true(doc_get(root, "list")->first->boolean);
    assert_null(doc_get(root, "missing"));
    assert_null(doc_get(doc_get(root, "missing"), "deeper"));
    assert_false(doc_failed(root));
    doc_destroy(root);
}

TEST(numbers_that_are_not_finite_are_null)
{
    struct doc *root = doc_create_array();
    assert_int_equal(doc_add_double(root, NULL, NAN)->kind, DOC_NULL);
    assert_int_equal(doc_add_double(root, NULL, INFINITY)->kind, DOC_NULL);
    assert_int_equal(doc_add_double(root, NULL, 0.0)->kind, DOC_DOUBLE);
    doc_destroy(root);
}

TEST(values_are_read_by_kind)
{
    struct doc *root = doc_create_object();
    doc_add_int(root, "whole", 3);
    doc_add_double(root, "half", 0.5);
    doc_add_string(root, "text", "hello");

    assert_true(doc_get_number(root, "whole") == 3);
    assert_true(doc_get_number(root, "half") == 0.5);
    assert_true(isnan(doc_get_number(root, "text")));
    assert_true(isnan(doc_get_number(root, "missing")));
    assert_int_equal(doc_get_int(root, "whole"), 3);
    assert_int_equal(doc_get_int(root, "half"), 0);
    assert_string_equal(doc_get_string(root, "text"), "hello");
    assert_string_equal(doc_get_string(root, "whole"), "");
    assert_null(doc_string(doc_get(root, "whole")));
    assert_null(doc_string(NULL));
    doc_destroy(root);
}

TEST(a_copy_has_all_of_its_value)
{
    struct doc *root = doc_create_object();
    struct doc *list = doc_add_array(root, "list");
    doc_add_bool(list, NULL, true);
    doc_add_null(list, NULL);
    doc_add_string(doc_add_object(list, NULL), "text", "hello");
    doc_add_copy(root, "again", list);

    const struct doc *copy = doc_get(root, "again");
    assert_int_equal(copy->count, 3);
    assert_true(doc_item(copy, 0)->boolean);
    assert_int_equal(doc_item(copy, 1)->kind, DOC_NULL);
    assert_string_equal(doc_get_string(doc_item(copy, 2), "text"), "hello");
    assert_null(doc_item(copy, 3));
    doc_destroy(root);
}

TEST(appending_to_null_returns_null)
{
    assert_null(doc_label(doc_add_int(doc_add_object(NULL, "a"), "b", 1), "c"));
    assert_true(doc_failed(NULL));
    doc_destroy(NULL);
}

TEST(a_failure_in_a_child_shows_at_the_root)
{
    struct doc *root = doc_create_object();
    struct doc *inner = doc_add_object(doc_add_object(root, "a"), "b");
    inner->failed = true;
    assert_true(doc_failed(root));
    doc_destroy(root);
}

RUN_TESTS(NULL, NULL)
