#include "keys.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

size_t keys_add(struct keys *keys, const char *bytes, size_t length)
{
    size_t space = sizeof keys->bytes - keys->length;
    size_t taken = length < space ? length : space;
    memcpy(keys->bytes + keys->length, bytes, taken);
    keys->length += taken;
    return taken;
}

static uint32_t take(struct keys *keys, size_t length, uint32_t key)
{
    keys->length -= length;
    memmove(keys->bytes, keys->bytes + length, keys->length);
    return key;
}

/* Returns the key of a sequence that ends with a letter, as "ESC [ A" does. */
static uint32_t key_of_letter(char letter)
{
    switch (letter) {
    case 'A':
        return KEY_UP;
    case 'B':
        return KEY_DOWN;
    case 'C':
        return KEY_RIGHT;
    case 'D':
        return KEY_LEFT;
    case 'H':
        return KEY_HOME;
    case 'F':
        return KEY_END;
    default:
        return KEY_OTHER;
    }
}

/* Returns the key of a sequence such as "ESC [ 5 ~". */
static uint32_t key_of_number(char digit)
{
    switch (digit) {
    case '1':
    case '7':
        return KEY_HOME;
    case '4':
    case '8':
        return KEY_END;
    case '5':
        return KEY_PAGE_UP;
    case '6':
        return KEY_PAGE_DOWN;
    default:
        return KEY_OTHER;
    }
}

/* A report of the mouse (SGR): "<button;column;row", then M, or m when a button is released. */
static uint32_t key_of_mouse(struct keys *keys, const char *text)
{
    int button, column, row;
    char end;
    if (sscanf(text, "<%9d;%9d;%9d%c", &button, &column, &row, &end) != 4 || end != 'M')
        return KEY_OTHER;
    keys->column = column - 1;
    keys->row = row - 1;
    return button == 0    ? KEY_CLICK
           : button == 64 ? KEY_WHEEL_UP
           : button == 65 ? KEY_WHEEL_DOWN
                          : KEY_OTHER;
}

/* CSI: parameters, then a letter. */
static uint32_t key_of_sequence(struct keys *keys, const char *text, size_t length)
{
    static const char synchronized[] = "?2026;";
    char last = text[length - 1], mouse[40];
    if (text[0] == '<' && length < sizeof mouse) {
        memcpy(mouse, text, length);
        mouse[length] = '\0';
        return key_of_mouse(keys, mouse);
    }
    if (last == 'y' && length > sizeof synchronized &&
        memcmp(text, synchronized, sizeof synchronized - 1) == 0) {
        char state = text[sizeof synchronized - 1];
        return state == '1' || state == '2' ? KEY_HAS_SYNCHRONIZED : KEY_OTHER;
    }
    if (last == '~' && length == 2)
        return key_of_number(text[0]);
    return length == 1 || text[0] == '1' ? key_of_letter(last) : KEY_OTHER;
}

/* After ESC [; 0: it is not whole yet. */
static size_t sequence_length(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] >= 0x40 && text[i] <= 0x7E)
            return i + 1;
    return 0;
}

/* Takes the key that begins with an escape character; KEY_NONE: more of it may follow. */
static uint32_t next_escape(struct keys *keys, bool is_over)
{
    if (keys->length == 1)
        return is_over ? take(keys, 1, KEY_ESCAPE) : KEY_NONE;
    char second = keys->bytes[1];
    if (second == 'O' && keys->length >= 3)
        return take(keys, 3, key_of_letter(keys->bytes[2]));
    if (second == '[') {
        size_t length = sequence_length(keys->bytes + 2, keys->length - 2);
        if (length > 0)
            return take(keys, 2 + length, key_of_sequence(keys, keys->bytes + 2, length));
    } else if (second != 'O') {
        return take(keys, 1, KEY_ESCAPE);
    }
    bool is_full = keys->length == sizeof keys->bytes;
    return is_over || is_full ? take(keys, keys->length, KEY_OTHER) : KEY_NONE;
}

/* The bytes that its first one announces. */
static size_t announced(unsigned char first)
{
    return first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

uint32_t keys_next(struct keys *keys, bool is_over)
{
    if (keys->length == 0)
        return KEY_NONE;
    if (keys->bytes[0] == '\033')
        return next_escape(keys, is_over);
    if (announced((unsigned char)keys->bytes[0]) > keys->length && !is_over)
        return KEY_NONE;
    const char *at = keys->bytes;
    uint32_t code = utf8_next(&at, keys->bytes + keys->length);
    size_t length = (size_t)(at - keys->bytes);
    if (code == '\n')
        code = KEY_ENTER;
    if (code == '\b')
        code = KEY_BACKSPACE;
    return take(keys, length, code == 0 || code == UTF8_REPLACEMENT ? KEY_OTHER : code);
}
