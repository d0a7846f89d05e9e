#include "analysis/analyze/block_groups.h"
#include "marks.h"

static const struct sub_tracking_labels no_labels;

static void check(const char *marks, enum gput_grouping grouping, const char *expected)
{
    struct marked_calls marked;
    struct block_groups groups;
    char text[256] = "";
    assert_int_equal(pair_marks(&marked, marks, false), GPUT_OK);
    assert_int_equal(
        block_groups_init(&groups, &marked.table, &no_labels, grouping, NULL), GPUT_OK);
    for (size_t i = 0; i < marked.table.n_blocks; i++) {
        strcat(text, groups.names[groups.group_of[i]]);
        strcat(text, ";");
    }
    assert_string_equal(text, expected);
    block_groups_finish(&groups);
    forget_calls(&marked);
}

#define BLOCK(name) name " 1 0 1;" name " 1 1 2;"

TEST(blocks_of_one_source_or_domain_are_together)
{
    const char *marks = BLOCK("nvtx:b/x") BLOCK("nvtx-b:y") BLOCK("nvtx:a/z/1") BLOCK("nvtx:n");
    check(marks, GPUT_GROUP_NONE, "nvtx-b:y;nvtx:a/z/1;nvtx:b/x;nvtx:n;");
    check(marks, GPUT_GROUP_SOURCE, "nvtx-b;nvtx;nvtx;nvtx;");
    check(marks, GPUT_GROUP_DOMAIN, "nvtx-b;nvtx:a;nvtx:b;nvtx;");
}

TEST(printed_names_have_no_domain_and_marks_in_code_no_source)
{
    const char *marks =
        BLOCK("token:a/b") BLOCK("train.py:12") BLOCK("load") BLOCK("1:x") BLOCK(":y");
    check(marks, GPUT_GROUP_DOMAIN, "(no source);(no source);(no source);token;(no source);");
}

TEST(without_blocks_there_are_no_groups)
{
    struct block_groups groups;
    struct call_table table = {0};
    assert_int_equal(
        block_groups_init(&groups, &table, &no_labels, GPUT_GROUP_SOURCE, NULL), GPUT_OK);
    assert_int_equal(groups.count, 0);
    block_groups_finish(&groups);
}

RUN_TESTS(NULL, NULL)
