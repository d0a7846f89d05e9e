#include "base/str.h"
#include "files/trace/unpacker.h"
#include "files/trace/unpacking.h"
#include "testing.h"

#include <string.h>
#include <zlib.h>

static void pack(const char *text, size_t length, struct str *packed)
{
    z_stream stream = {0};
    assert_int_equal(
        deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_true(str_reserve(packed, deflateBound(&stream, length)));
    stream.next_in = (unsigned char *)(uintptr_t)text;
    stream.avail_in = (uInt)length;
    stream.next_out = (unsigned char *)packed->data + packed->length;
    stream.avail_out = (uInt)deflateBound(&stream, length);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed->length += stream.total_out;
    deflateEnd(&stream);
}

/* Text that neither repeats itself nor is random. */
static void make_text(struct str *text)
{
    uint32_t state = 1;
    for (int i = 0; i < 4000; i++) {
        state = state * 1664525 + 1013904223;
        str_printf(text, "{\"name\": \"event %u\", \"ts\": %u},\n", state >> 28, state >> 8);
    }
}

/* All that a class unpacks of one member, by steps of these sizes. */
static enum unpack_status unpack(const struct unpacker_class *class, const struct str *packed,
    size_t length, size_t in_step, size_t out_step, struct str *text)
{
    void *state;
    enum unpack_status status = UNPACK_ON;
    assert_int_equal(class->create(&state, NULL), GPUT_OK);
    str_clear(text);
    for (size_t at = 0, moved = 1; status == UNPACK_ON && moved > 0;) {
        size_t in = length - at < in_step ? length - at : in_step;
        assert_true(str_reserve(text, out_step));
        struct unpack_step step = {(const unsigned char *)packed->data + at, in,
            (unsigned char *)text->data + text->length, out_step};
        status = class->unpack(state, &step);
        moved = in - step.in_length + out_step - step.out_length;
        at += in - step.in_length;
        text->length += out_step - step.out_length;
    }
    class->destroy(state);
    return status;
}

static void check_class(const struct unpacker_class *class)
{
    static const size_t steps[][2] = {{1, 7}, {1000, 1}, {17, 100000}, {131072, 262144}};
    struct str text = {0}, packed = {0}, got = {0};
    make_text(&text);
    pack(text.data, text.length, &packed);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_int_equal(unpack(class, &packed, packed.length, steps[i][0], steps[i][1], &got),
            UNPACK_MEMBER_ENDED);
        assert_int_equal(got.length, text.length);
        assert_memory_equal(got.data, text.data, text.length);
    }
    for (size_t length = 0; length < packed.length; length += packed.length / 20) {
        assert_int_equal(unpack(class, &packed, length, 131072, 4096, &got), UNPACK_ON);
        assert_memory_equal(got.data, text.data, got.length);
    }
    packed.data[packed.length - 6] ^= 0x55; /* the check sum */
    assert_int_equal(unpack(class, &packed, packed.length, 131072, 3, &got), UNPACK_DAMAGED);
    assert_int_equal(got.length, text.length);
    packed.data[packed.length / 2] ^= 0x55;
    assert_int_equal(unpack(class, &packed, packed.length, 131072, 3, &got), UNPACK_DAMAGED);
    assert_memory_equal(got.data, text.data, text.length / 3);
    str_finish(&text);
    str_finish(&packed);
    str_finish(&got);
}

TEST(zlib_unpacks_gzip_by_steps_of_any_size)
{
    check_class(&unpacker_zlib);
}

TEST(isal_unpacks_gzip_by_steps_of_any_size)
{
    void *unpacker;
    if (unpacker_isal.create(&unpacker, NULL) != GPUT_OK)
        SKIP("there is no ISA-L");
    unpacker_isal.destroy(unpacker);
    check_class(&unpacker_isal);
}

/* ---- members, by whichever class is chosen ---- */

struct input {
    const char *bytes;
    size_t left;
};

static int read_input(
    void *user, void *buffer, size_t capacity, size_t *length, struct gput_error *error)
{
    struct input *input = user;
    (void)error;
    *length = input->left < capacity ? input->left : capacity;
    memcpy(buffer, input->bytes, *length);
    input->bytes += *length;
    input->left -= *length;
    return GPUT_OK;
}

/* Returns what is wrong with it. */
static const char *unpack_members(const void *bytes, size_t length, struct str *text)
{
    unsigned char buffer[16];
    char part[32];
    struct input input = {bytes, length};
    struct unpacking *unpacking;
    struct gput_error error;
    size_t got;
    str_clear(text);
    read_input(&input, buffer, sizeof buffer, &got, NULL);
    assert_true(unpacking_is_packed(buffer, got));
    if (unpacking_create(buffer, got, sizeof buffer, read_input, &input, &unpacking, &error))
        return "its library is missing";
    do {
        assert_int_equal(unpacking_next(unpacking, part, sizeof part, &got, NULL), GPUT_OK);
        str_append_bytes(text, part, got);
    } while (got > 0);
    const char *damage = unpacking_damage(unpacking);
    unpacking_destroy(unpacking);
    return damage ? damage : "";
}

TEST(members_follow_each_other)
{
    struct str packed = {0}, text = {0};
    pack("first, ", 7, &packed);
    pack("", 0, &packed);
    pack("second", 6, &packed);
    assert_string_equal(unpack_members(packed.data, packed.length, &text), "");
    assert_string_equal(str_text(&text), "first, second");
    assert_string_equal(unpack_members(packed.data, packed.length - 1, &text), "ends too early");
    assert_string_equal(str_text(&text), "first, second");
    str_append_repeated(&packed, '\0', 100);
    assert_string_equal(unpack_members(packed.data, packed.length, &text), "");
    packed.data[packed.length - 100] = 'x';
    assert_string_equal(unpack_members(packed.data, packed.length, &text), "is damaged");
    assert_string_equal(str_text(&text), "first, second");
    str_finish(&packed);
    str_finish(&text);
}

TEST(unpacks_zstandard)
{
    /* printf abcabcabcabcabc | zstd; a frame that is skipped; printf x | zstd */
    static const unsigned char packed[] = {0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x4d, 0x00, 0x00,
        0x18, 0x61, 0x62, 0x63, 0x01, 0x00, 0x7e, 0x6e, 0x08, 0x48, 0xc3, 0xd3, 0x0e, 0x51, 0x2a,
        0x4d, 0x18, 0x03, 0x00, 0x00, 0x00, 0x78, 0x79, 0x7a, 0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58,
        0x09, 0x00, 0x00, 0x78, 0x23, 0x11, 0x04, 0x83};
    struct str text = {0};
    if (strstr(unpack_members(packed, sizeof packed, &text), "missing"))
        SKIP("there is no libzstd");
    assert_string_equal(unpack_members(packed, sizeof packed, &text), "");
    assert_string_equal(str_text(&text), "abcabcabcabcabcabcabcabcx");
    assert_string_equal(unpack_members(packed, sizeof packed - 1, &text), "ends too early");
    assert_string_equal(unpack_members(packed, 25, &text), "ends too early");
    unsigned char damaged[sizeof packed];
    memcpy(damaged, packed, sizeof packed);
    damaged[sizeof packed - 1] ^= 1; /* the check sum */
    assert_string_equal(unpack_members(damaged, sizeof damaged, &text), "is damaged");
    assert_true(text.length >= 24);
    str_finish(&text);
}

TEST(plain_text_is_not_packed)
{
    assert_false(unpacking_is_packed((const unsigned char *)"[{}]", 4));
    assert_false(unpacking_is_packed((const unsigned char *)"\x1f", 1));
    assert_false(unpacking_is_packed((const unsigned char *)"\x28\xb5\x2f", 3));
    assert_false(unpacking_is_packed((const unsigned char *)"", 0));
}

RUN_TESTS(NULL, NULL)
