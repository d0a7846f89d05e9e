#!/usr/bin/env python3
"""Makes src/base/utf8_columns.h: how many columns of a terminal a code point takes.

    tools/make-utf8-columns.py >src/base/utf8_columns.h

From Python's copy of the Unicode Character Database: wide and fullwidth characters (East Asian Width W and F) take two
columns; combining marks, format characters and the vowels of Hangul syllables none; all others one.
"""

import sys
import unicodedata


def columns(code):
    character = chr(code)
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf", "Zl", "Zp") and code != 0xAD or 0x1160 <= code <= 0x11FF:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def ranges(wanted):
    """Yields first and last of each run of code points that take so many columns."""
    first = None
    for code in range(0x300, sys.maxunicode + 2):
        is_one = code <= sys.maxunicode and columns(code) == wanted
        if is_one and first is None:
            first = code
        elif not is_one and first is not None:
            yield first, code - 1
            first = None


def main():
    print(f"/* Made by tools/make-utf8-columns.py from Unicode {unicodedata.unidata_version}. */")
    print("#pragma once\n\n#include <stdint.h>\n")
    print("struct code_point_range {\n    uint32_t first, last;\n};\n\n/* clang-format off */")
    for name, wanted in ("no_columns", 0), ("two_columns", 2):
        print(f"static const struct code_point_range {name}[] = {{")
        rows = [f"{{0x{first:x}, 0x{last:x}}}," for first, last in ranges(wanted)]
        for at in range(0, len(rows), 5):
            print("    " + " ".join(rows[at : at + 5]))
        print("};\n")
    print("/* clang-format on */")


if __name__ == "__main__":
    main()
