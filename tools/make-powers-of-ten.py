#!/usr/bin/env python3
"""Prints src/base/powers_of_ten.c: the top 128 bits of every power of ten that a double can need."""

FIRST, LAST = -342, 324


def top_bits(exponent):
    """10**exponent without its power of two, normalized to 128 bits, the rest cut off."""
    if exponent >= 0:
        value = 10**exponent
        surplus = value.bit_length() - 128
        return value >> surplus if surplus > 0 else value << -surplus
    divisor = 10**-exponent
    value = (1 << (divisor.bit_length() + 128)) // divisor
    return value >> (value.bit_length() - 128)


def main():
    print("/* Made by tools/make-powers-of-ten.py. */")
    print('#include "base/powers_of_ten.h"\n')
    print("/* clang-format off */")
    print("const struct power_of_ten powers_of_ten[] = {")
    entries = []
    for exponent in range(FIRST, LAST + 1):
        bits = top_bits(exponent)
        entries.append(f"{{0x{bits >> 64:016x}, 0x{bits & (1 << 64) - 1:016x}}},")
    for i in range(0, len(entries), 2):
        print("    " + " ".join(entries[i : i + 2]))
    print("};")
    print("/* clang-format on */")


main()
