/*
 * Writing pickles (protocol 4) that Python loads with its own classes.
 *
 * Data frames and series are written as a call of their constructor with plain lists. So they load
 * with every pandas, where a copy of its inner state would tie them to one.
 *
 * A value is written by one call, or between a begin and an end. All append to `text`, which turns
 * failed without memory.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void pickle_begin(struct str *text); /* of the file */
void pickle_end(struct str *text);

void pickle_bool(struct str *text, bool value);
void pickle_int(struct str *text, int64_t value);
void pickle_float(struct str *text, double value);
void pickle_text(struct str *text, const char *value); /* invalid UTF-8 becomes U+FFFD */

void pickle_list_begin(struct str *text); /* the items follow */
void pickle_list_end(struct str *text);
void pickle_dict_begin(struct str *text); /* keys and values follow by turns */
void pickle_dict_end(struct str *text);

/* An object of a class, made without arguments; its attributes follow as names and values. */
void pickle_object_begin(struct str *text, const char *module, const char *name);
void pickle_object_end(struct str *text);

/* What calling a class with arguments gives; the arguments follow. */
void pickle_call_begin(struct str *text, const char *module, const char *name);
void pickle_call_end(struct str *text);

/* A document: dictionaries, lists, texts, numbers. */
void pickle_doc(struct str *text, const struct doc *doc);

/* The items of a list, or the names and values of an object, as a part of what has been begun. */
void pickle_members(struct str *text, const struct doc *doc);

/* A pandas series of numbers, written as integers or as floats. */
void pickle_series(
    struct str *text, const char *const *names, const double *values, size_t count, bool integers);
