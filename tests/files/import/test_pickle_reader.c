#include "base/str.h"
#include "files/import/pickle_reader.h"
#include "testing.h"

#include <string.h>

enum { THING = 1, OTHER };

static const struct pickle_class classes[] = {
    {"module", "Thing", THING},
    {"older_module", "Thing", THING},
    {"module", "other", OTHER},
    {NULL, NULL, 0},
};

/* Reads bytes that may hold NULs. */
#define READ(bytes, pickle, error)                                                                 \
    pickle_read(bytes, sizeof(bytes) - 1, "x.pkl", classes, pickle, error)

#define ASSERT_REFUSES(bytes, why)                                                                 \
    do {                                                                                           \
        struct pickle *pickle_;                                                                    \
        struct gput_error error_ = {0};                                                            \
        assert_int_equal(READ(bytes, &pickle_, &error_), GPUT_ERROR_FORMAT);                       \
        assert_null(pickle_);                                                                      \
        assert_string_equal(error_.message, "Pickle file x.pkl cannot be read: " why);             \
    } while (0)

static void scalars_are_read(void **state)
{
    (void)state;
    struct pickle *pickle;
    assert_int_equal(READ("\x80\x04(NK\xffM\x01\x02J\xff\xff\xff\xff\x8a\x00\x8a\x02\x00\xff"
                          "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80G?\xf8\x00\x00\x00\x00\x00\x00"
                          "\x88\x89\x8c\x03"
                          "a\x00z"
                          "X\x01\x00\x00\x00yC\x02\x00\x01t.",
                         &pickle, NULL),
        GPUT_OK);
    const struct pickle_value *root = pickle_root(pickle);
    assert_int_equal(root->kind, PICKLE_TUPLE);
    assert_int_equal(root->list.count, 13);
    static const int64_t integers[] = {0, 255, 513, -1, 0, -256, INT64_MIN};
    assert_int_equal(pickle_item(root, 0)->kind, PICKLE_NONE);
    for (size_t i = 1; i <= 6; i++)
        assert_true(pickle_item(root, i)->integer == integers[i]);
    assert_true(pickle_item(root, 7)->number == 1.5);
    assert_true(pickle_item(root, 8)->boolean && !pickle_item(root, 9)->boolean);
    assert_int_equal(pickle_item(root, 10)->text.length, 3);
    assert_memory_equal(pickle_item(root, 10)->text.bytes, "a\0z", 4);
    assert_string_equal(pickle_item(root, 11)->text.bytes, "y");
    assert_int_equal(pickle_item(root, 12)->kind, PICKLE_BYTES);
    assert_null(pickle_item(root, 13));
    pickle_destroy(pickle);
}

static void containers_grow_by_ones_and_by_many(void **state)
{
    (void)state;
    struct pickle *pickle;
    /* {"l": [1, 2, 3], "d": {}} with the list made first */
    assert_int_equal(READ("\x80\x02}(\x8c\x01l](K\x01K\x02"
                          "eK\x03"
                          "a\x8c\x01"
                          "d}u\x8c\x01l"
                          "Ns.",
                         &pickle, NULL),
        GPUT_OK);
    const struct pickle_value *root = pickle_root(pickle);
    assert_int_equal(root->list.count, 6);
    assert_int_equal(pickle_get(root, "l")->kind, PICKLE_NONE); /* the last one counts */
    assert_int_equal(root->list.items[1]->list.count, 3);
    assert_int_equal(pickle_get(root, "d")->kind, PICKLE_DICT);
    assert_null(pickle_get(root, "x"));
    assert_null(pickle_get(NULL, "x"));
    pickle_destroy(pickle);
}

static void no_key_is_looked_up_among_too_many(void **state)
{
    (void)state;
    for (int count = PICKLE_KEYS_MAX; count <= PICKLE_KEYS_MAX + 1; count++) {
        struct str text = {0};
        struct pickle *pickle;
        str_append(&text, "\x80\x04}(");
        for (int i = 0; i < count; i++)
            str_append(&text, "\x8c\x01kN");
        str_append(&text, "u.");
        assert_int_equal(pickle_read(text.data, text.length, "x", classes, &pickle, NULL), GPUT_OK);
        assert_int_equal(pickle_get(pickle_root(pickle), "k") != NULL, count == PICKLE_KEYS_MAX);
        pickle_destroy(pickle);
        str_finish(&text);
    }
}

static void a_budget_is_spent_for_good(void **state)
{
    (void)state;
    struct pickle_budget budget = pickle_budget_of(100);
    assert_true(budget.left < pickle_budget_of(101).left);
    budget.left = 3;
    assert_int_equal(pickle_spend(&budget, 2), GPUT_OK);
    assert_int_equal(pickle_spend(&budget, 2), GPUT_ERROR_FORMAT);
    assert_int_equal(pickle_spend(&budget, 0), GPUT_ERROR_FORMAT);
}

static void a_memo_gives_the_same_value_again(void **state)
{
    (void)state;
    struct pickle *pickle;
    assert_int_equal(READ("\x80\x04]\x94h\x00q\x05h\x05\x87.", &pickle, NULL), GPUT_OK);
    const struct pickle_value *root = pickle_root(pickle);
    assert_ptr_equal(pickle_item(root, 0), pickle_item(root, 1));
    assert_ptr_equal(pickle_item(root, 0), pickle_item(root, 2));
    pickle_destroy(pickle);
}

static void objects_are_class_arguments_and_state(void **state)
{
    (void)state;
    struct pickle *pickle;
    assert_int_equal(
        READ("\x80\x04\x8c\x06module\x8c\x05Thing\x93K\x01\x85R}b.", &pickle, NULL), GPUT_OK);
    const struct pickle_value *root = pickle_root(pickle);
    assert_true(pickle_is_object(root, THING));
    assert_false(pickle_is_object(root, OTHER));
    assert_int_equal(pickle_item(root->object.arguments, 0)->integer, 1);
    assert_int_equal(root->object.state->kind, PICKLE_DICT);
    pickle_destroy(pickle);
    assert_int_equal(READ("\x80\x02"
                          "colder_module\nThing\n)\x81.",
                         &pickle, NULL),
        GPUT_OK);
    assert_true(pickle_is_object(pickle_root(pickle), THING));
    assert_null(pickle_root(pickle)->object.state);
    pickle_destroy(pickle);
}

static void a_class_that_is_not_expected_is_refused_by_name(void **state)
{
    (void)state;
    ASSERT_REFUSES("\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
        "it names \"os.system\", which results do not need; nothing of it was run.");
    ASSERT_REFUSES("\x80\x02"
                   "cposix\nsystem\n(X\x04\x00\x00\x00truetR.",
        "it names \"posix.system\", which results do not need; nothing of it was run.");
    ASSERT_REFUSES("\x80\x04\x8c\x06module\x8c\x05thing\x93.",
        "it names \"module.thing\", which results do not need; nothing of it was run.");
}

static void what_is_no_pickle_of_ours_is_refused(void **state)
{
    (void)state;
    ASSERT_REFUSES("", "it is not a pickle of protocol 2 to 5.");
    ASSERT_REFUSES("(dp0\n.", "it is not a pickle of protocol 2 to 5.");
    ASSERT_REFUSES("\x80\x06N.", "protocol 6 is unknown (2 to 5 are read).");
    ASSERT_REFUSES("\x80\x04Pid\n.", "its opcode 0x50 at byte 2 is not accepted.");
    ASSERT_REFUSES("\x80\x05\x97.", "part of it was kept outside the file.");
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static const char whole[] = "\x80\x04\x95\x20\x00\x00\x00\x00\x00\x00\x00\x8c\x06module\x8c"
                                "\x05Thing\x93K\x01\x85R}(\x8c\x01"
                                "a](K\x01M\x01\x01"
                                "eub.";
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        char *copy = malloc(length + 1); /* so that reading past the end is seen */
        memcpy(copy, whole, length);
        struct pickle *pickle;
        assert_int_equal(pickle_read(copy, length, "x", classes, &pickle, NULL), GPUT_ERROR_FORMAT);
        free(copy);
    }
}

static void programs_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const char *const programs[] = {"\x80\x04.", "\x80\x04t.", "\x80\x04(.", "\x80\x04NNR.",
        "\x80\x04"
        "a.",
        "\x80\x04Na.", "\x80\x04NNa.", "\x80\x04(e.", "\x80\x04N(Ne.", "\x80\x04]Ns.",
        "\x80\x04}Ns.", "\x80\x04}(Nu.", "\x80\x04(Nd.", "\x80\x04\x85.", "\x80\x04N\x86.",
        "\x80\x04(\x85.", "\x80\x04h\x07.", "\x80\x04\x94.", "\x80\x04(\x94.", "\x80\x04NNb.",
        "\x80\x04)N\x93.", "\x80\x04]]\x93.",
        "\x80\x04"
        "2.",
        "\x80\x04"
        "0.",
        "\x80\x04"
        "1.",
        "\x80\x04)\x81.", "\x80\x04))R.", "\x80\x04\x8b\x09\x00\x00\x00"};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        struct pickle *pickle;
        if (pickle_read(programs[i], strlen(programs[i]), "x", classes, &pickle, NULL) !=
            GPUT_ERROR_FORMAT)
            fail_msg("program %zu was accepted", i);
    }
}

/* A length or a memo index beyond the file must not make the reader allocate it. */
static void sizes_beyond_the_file_are_refused(void **state)
{
    (void)state;
    ASSERT_REFUSES("\x80\x04X\xff\xff\xff\xff.", "it is truncated or damaged at byte 7.");
    ASSERT_REFUSES(
        "\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\xff.", "it is truncated or damaged at byte 11.");
    ASSERT_REFUSES(
        "\x80\x04Nr\xff\xff\xff\x7f.", "it numbers its values in a way that no Python does.");
    ASSERT_REFUSES("\x80\x04\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.",
        "a whole number in it is too large.");
}

/* Such values may take as much memory as the file allows, and not more. */
static void many_values_in_few_bytes_are_refused(void **state)
{
    (void)state;
    struct str text = {0};
    str_append(&text, "\x80\x04(");
    str_append_repeated(&text, ')', 100000);
    str_append(&text, "t.");
    struct pickle *pickle;
    struct gput_error error;
    assert_int_equal(
        pickle_read(text.data, text.length, "x", classes, &pickle, &error), GPUT_ERROR_FORMAT);
    assert_string_equal(
        error.message, "Pickle file x cannot be read: its content is too large for results.");
    str_finish(&text);
}

/* A million lists in each other, and a list that holds itself. */
static void depth_and_circles_are_only_data(void **state)
{
    (void)state;
    size_t depth = 1000000;
    struct str text = {0};
    str_append(&text, "\x80\x04");
    for (size_t i = 0; i < depth; i++)
        str_append(&text, "]\x95length__"); /* a frame's head, which means nothing here */
    str_append_repeated(&text, 'a', depth - 1);
    str_append_char(&text, '.');
    struct pickle *pickle;
    assert_int_equal(pickle_read(text.data, text.length, "x", classes, &pickle, NULL), GPUT_OK);
    pickle_destroy(pickle);
    str_finish(&text);
    assert_int_equal(READ("\x80\x04]\x94h\x00"
                          "a.",
                         &pickle, NULL),
        GPUT_OK);
    const struct pickle_value *root = pickle_root(pickle);
    assert_ptr_equal(pickle_item(root, 0), root);
    pickle_destroy(pickle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_are_read),
        cmocka_unit_test(containers_grow_by_ones_and_by_many),
        cmocka_unit_test(no_key_is_looked_up_among_too_many),
        cmocka_unit_test(a_budget_is_spent_for_good),
        cmocka_unit_test(a_memo_gives_the_same_value_again),
        cmocka_unit_test(objects_are_class_arguments_and_state),
        cmocka_unit_test(a_class_that_is_not_expected_is_refused_by_name),
        cmocka_unit_test(what_is_no_pickle_of_ours_is_refused),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(programs_that_make_no_sense_are_refused),
        cmocka_unit_test(sizes_beyond_the_file_are_refused),
        cmocka_unit_test(many_values_in_few_bytes_are_refused),
        cmocka_unit_test(depth_and_circles_are_only_data),
    };
    return cmocka_run_group_tests_name("files/import/pickle_reader", tests, NULL, NULL);
}
