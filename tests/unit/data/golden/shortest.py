#!/usr/bin/env python3
"""Known answers for Double.toString and Float.toString (the specification of JDK 19 and later), worked
out with exact fractions and no floating-point text routine.

usage: shortest.py FOLDER     writes doubles.tsv and floats.tsv: bits in hex, text

The decimals that round to x are those between the middles to its neighbours, the middles included when
the significand is even. Of them: the shortest, but of two digits at least; of those the nearest to x.
"""
import random
import sys
from fractions import Fraction

KINDS = {"doubles": (53, 1074, 11), "floats": (24, 149, 8)}


def parts(bits, kind):
    p, emin, ebits = KINDS[kind]
    mantissa, exponent = bits & ((1 << (p - 1)) - 1), bits >> (p - 1)
    if exponent == 0:
        return mantissa, -emin
    return mantissa | 1 << (p - 1), exponent - 1 - emin


def shortest(bits, kind):
    p = KINDS[kind][0]
    m, e = parts(bits, kind)
    x = Fraction(m) * Fraction(2) ** e
    ulp = Fraction(2) ** e
    low = x - (ulp / 4 if m == 1 << (p - 1) and bits >> (p - 1) > 1 else ulp / 2)
    high = x + ulp / 2
    inside = (lambda d: low <= d <= high) if m % 2 == 0 else (lambda d: low < d < high)
    point = 0
    while Fraction(10) ** point <= x:
        point += 1
    while Fraction(10) ** (point - 1) > x:
        point -= 1
    # x = 0.ddd * 10^point; a candidate may be 10^point itself
    for n in range(2, 20):
        unit = Fraction(10) ** (point - n)
        k = x // unit
        found = [c for c in (k - 1, k, k + 1, k + 2) if c > 0 and inside(c * unit)]
        if found:
            best = min(found, key=lambda c: (abs(c * unit - x), c % 2))
            digits = str(best)
            if len(digits) > n:
                digits, point = digits[:-1], point + 1
            return x, digits, point
    raise AssertionError


def text(bits, kind):
    x, digits, point = shortest(bits, kind)
    digits = digits.rstrip("0")
    if Fraction(1, 1000) <= x < 10 ** 7:
        if point <= 0:
            return "0." + "0" * -point + digits
        digits = digits.ljust(point, "0")
        return digits[:point] + "." + (digits[point:] or "0")
    return digits[0] + "." + (digits[1:] or "0") + "E" + str(point - 1)


def samples(kind, rng):
    p, emin, ebits = KINDS[kind]
    top = (1 << ebits) - 1
    for exponent in range(0, top, 1 if kind == "floats" else 5):
        yield exponent << (p - 1)                                    # powers of two
        yield (exponent << (p - 1)) + 1
        yield (exponent << (p - 1)) | ((1 << (p - 1)) - 1)
    for n in range(1, 60):
        yield n                                                      # the smallest
    for _ in range(1500):
        yield rng.randrange(1, top << (p - 1))
    yield (top << (p - 1)) - 1


def main():
    folder = sys.argv[1]
    for kind in KINDS:
        rng = random.Random(11)
        p, emin, ebits = KINDS[kind]
        todo = list(samples(kind, rng))
        # Decimal texts of few digits: the nearest number to each
        for _ in range(600):
            value = Fraction(rng.randrange(1, 10 ** rng.randrange(1, 9))) * Fraction(10) ** rng.randrange(-12, 12)
            low, high = 1, ((1 << ebits) - 1) << (p - 1)
            while high - low > 1:
                middle = (low + high) // 2
                m, e = parts(middle, kind)
                low, high = (middle, high) if Fraction(m) * Fraction(2) ** e <= value else (low, middle)
            todo.append(low)
        with open(f"{folder}/{kind}.tsv", "w") as f:
            for bits in dict.fromkeys(b for b in todo if b > 0):
                f.write(f"{bits:x}\t{text(bits, kind)}\n")


main()
