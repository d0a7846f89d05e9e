/*
 * A document as text for people: a name and its value a line, three spaces more a level.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"

/*
 * Appends the members of an object: "Max RAM:", "   System: 1984.791". Numbers are rounded to three
 * decimals, null is "n/a", items of an array stand on lines of their own after "- ", or after
 * their label.
 */
void doc_text_write(const struct doc *object, struct str *text);

/*
 * Appends what text calls a key: "max_ram" is "Max RAM", "n_expected_cores" "Number of expected
 * cores".
 */
void doc_text_label(const char *key, struct str *text);
