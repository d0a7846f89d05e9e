/*
 * What a terminal sends: keys, and answers to questions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Keys without a character; all others are their code point. */
enum key {
    KEY_NONE = 0,
    KEY_TAB = 9,
    KEY_ENTER = 13,
    KEY_ESCAPE = 27,
    KEY_BACKSPACE = 127,
    KEY_UP = 0x110000,
    KEY_DOWN,
    KEY_LEFT,
    KEY_RIGHT,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_HOME,
    KEY_END,
    KEY_OTHER, /* one that means nothing here */
    KEY_CLICK, /* the mouse: where, the keys say */
    KEY_WHEEL_UP,
    KEY_WHEEL_DOWN,
    KEY_HAS_SYNCHRONIZED, /* answer: the terminal draws whole frames (mode 2026) */
};

/* What was received and is not a whole key yet. All zeroes is nothing. */
struct keys {
    char bytes[64];
    size_t length;
    int row, column; /* of the last key that is the mouse's, from 0 on */
};

/* Adds what was read; returns how much of it was taken. */
size_t keys_add(struct keys *keys, const char *bytes, size_t length);

/* Takes the next key; KEY_NONE: there is no whole one. `is_over`: nothing follows soon, so that
 * an escape character alone is the key of that name. */
uint32_t keys_next(struct keys *keys, bool is_over);
