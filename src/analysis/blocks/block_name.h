/*
 * A block's name: its number in the name table, and its text.
 */
#pragma once

#include <stdint.h>

struct block_name {
    uint32_t number;
    uint32_t length;
    const char *text;
};
