/*
 * Bytes as text (RFC 4648), with "=" at the end where they are not a multiple of three.
 */
#pragma once

#include <stddef.h>

/* The characters of that many bytes. */
#define BASE64_LENGTH(bytes) (((bytes) + 2) / 3 * 4)

/* Writes BASE64_LENGTH(length) characters, without a final 0. */
void base64_encode(const void *bytes, size_t length, char *text);
