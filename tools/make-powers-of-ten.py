#!/usr/bin/env python3
"""Prints the source of src/base/powers_of_ten.h: the top 128 bits of every power of ten that a double can need."""

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


print('#include "base/powers_of_ten.h"\n\nconst struct power_of_ten powers_of_ten[] = {')
for exponent in range(FIRST, LAST + 1):
    bits = top_bits(exponent)
    print(f"    {{0x{bits >> 64:016x}, 0x{bits & (1 << 64) - 1:016x}}}, /* 10^{exponent} */")
print("};")
