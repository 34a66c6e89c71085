#!/usr/bin/env python3
"""Writes powers_of_ten.def (double_text.c says what for): processor/data/powers_of_ten.py > processor/data/powers_of_ten.def"""
from fractions import Fraction

HEAD = """/* Powers of ten as the printing of doubles wants them: for k = -324 … 292 in turn P(high, low), the
 * high and the low 63 bits of floor(10^-k * 2^r) + 1, where r is such that it has 126 bits. Written
 * by powers_of_ten.py. */"""


def bits_of_power(k):
    power = Fraction(10) ** -k
    shift = 125 - (power.numerator.bit_length() - power.denominator.bit_length())
    scaled = power * Fraction(2) ** shift
    while scaled >= 2 ** 126:
        scaled /= 2
    while scaled < 2 ** 125:
        scaled *= 2
    return scaled.numerator // scaled.denominator + 1


print(HEAD)
for k in range(-324, 293):
    g = bits_of_power(k)
    print(f"P(0x{g >> 63:016X}, 0x{g & (1 << 63) - 1:016X})")
