/*
 * A block's name: its number in the name table, and its text.
 */
#ifndef BLOCKS_BLOCK_NAME_H
#define BLOCKS_BLOCK_NAME_H

#include <stdint.h>

struct block_name {
    uint32_t number;
    uint32_t length;
    const char *text;
};

#endif
