#!/usr/bin/env python3
"""Asks Apache Spark 4 (pip install pyspark==4.3.0) for the expected values of the data room's tests.

usage: from_spark.py FOLDER     writes casts.tsv errors.tsv decimals.tsv zones.tsv prints.tsv there

Texts are escaped: \\t \\n \\\\ and \\xNN for other bytes outside printable ASCII; NULL is \\N.
"""
import itertools
import random
import sys

from pyspark.sql import SparkSession

ZONE = "America/New_York"


def esc(text):
    if text is None:
        return "\\N"
    out = []
    for b in text.encode("utf-8", "surrogateescape"):
        c = chr(b)
        out.append({"\\": "\\\\", "\t": "\\t", "\n": "\\n"}.get(c) or (c if 32 <= b < 127 else f"\\x{b:02x}"))
    return "".join(out)


def write(folder, name, rows):
    with open(f"{folder}/{name}.tsv", "w") as f:
        for row in rows:
            f.write("\t".join(esc(x) for x in row) + "\n")


BOOLEANS = "t true y yes 1 f false n no 0 T TRUE True tRuE YES Y N No oui on off 2 '' TRUEE".split() + [
    " true ", "\ttrue\n", "\x1ftrue\x7f", "\x00true", "tr ue", "", " ", "\u00a0true"]
INTEGERS = ["0", "-0", "+0", "1", "-1", "+1", "127", "128", "-128", "-129", "32767", "32768", "-32768", "-32769",
            "2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808",
            "-9223372036854775808", "-9223372036854775809", "99999999999999999999", "00000000000000000000012",
            "1.5", "1.0", "1.", ".5", "1e2", "0x10", "1_000", "1,000", "", " ", "+", "-", "--1", "+-1", " 12 ", "\t12\n",
            "\x0012\x1f", "12\x7f", "1 2", "abc", "12abc", "\u0661", "1L", "\u00a012", "-\u00a012"]
DOUBLES = ["0", "-0", "0.0", "-0.0", "1", "1.", ".5", "-.5", ".", "1.5", "1e10", "1E10", "1e+10", "1e-10", "1e", "1e+", "e5",
           "1.5e3", "1e400", "-1e400", "1e-400", "NaN", "nan", "NAN", "-NaN", "+NaN", "-nan", "Infinity", "-Infinity", "+Infinity",
           "infinity", "INFINITY", "inf", "-inf", "+inf", "INF", "infinit", "1d", "1D", "1f", "1.5F", "1dd", "1L", "d", "0x1p3",
           "0x1.8p1", "0x1.8", "0X.8P-2d", "0xp1", " 1.5 ", "\t1.5\n", "\x001.5\x1f", "1.5\x7f", "1 .5", "1.5.5", "1_0", "1,5",
           "", " ", "+", "-", "++1", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "1.7976931348623157e308",
           "1.7976931348623159e308", "123456789012345678", "9007199254740993", "0.1", "3.4028235e38", "3.4028236e38", "1e-46",
           "16777217", "16777219", "1.00000005960464477540", "1.00000005960464477539", "0.30000000000000004", "1e23", "8.41e21",
           "9e0", "00001.50000", "1e0000000000000000000000005", "1e99999999999", "0e99999999999", "nand", "Infinityd", "NaNd"]
DECIMALS = ["0", "-0", "1", "-1", "123.45", "123.455", "123.454", "-123.455", "-123.454", "123.4549999", "0.005", "0.004", "-0.005",
            "999.99", "999.994", "999.995", "1000", "-999.995", "99999.99", "1e2", "1E2", "1e-2", "1e-3", "5e-3", "4.9e-3", "1e400",
            "1e-400", "0e999999999", "0e-999999999", "1e5", "1e37", "1e38", "1e39", ".5", "5.", ".", "", " ", "+1", "+-1", " 1.5 ",
            "\t1.5\n", "1.5\x7f", "abc", "1.5d", "NaN", "Infinity", "1e", "1e+", "1e+2", "0x10", "1_0", "1,5", "1 5",
            "00000000000000000000000000000000000000000000000001.5", "0.00000000000000000000000000000000000000000000000001",
            "99999999999999999999999999999999999999", "999999999999999999999999999999999999999", "12345678901234567890.123456789",
            "-99999999999999999999999999999999999999", "99999999999999999999999999999999999999.4", "99999999999999999999999999999999999999.5",
            "0.99999999999999999999999999999999999999", "0.999999999999999999999999999999999999995", "0.123456789012345678901234567890123456785"]
DATES = ["2024", "2024-1", "2024-01", "2024-1-5", "2024-01-05", "2024-01-05T12", "2024-01-05T", "2024-01-05 ", "2024-01-05 garbage",
         "2024-01-05Tgarbage", "2024-01-05x", "2024-01-05-", "2024-01-5T1", "2024-", "2024-1-", "2024-13-01", "2024-00-01", "2024-01-00",
         "2024-01-32", "2024-02-29", "2023-02-29", "2100-02-29", "2000-02-29", "1900-02-29", "2024-001-01", "2024-01-001", "202", "20240105",
         "2024 ", "2024T", "2024-01T", "2024-01 x", " 2024-01-05", "\t2024-01-05\n", "\x002024-01-05\x1f", "2024-01-05\x7f", "0001-01-01", "0000-01-01",
         "-0001-01-01", "+2024-01-05", "-2024-01-05", "+-2024-01-05", "9999-12-31", "10000-01-01", "+10000-01-01", "99999-01-01", "999999-01-01",
         "1234567-01-01", "5881580-07-11", "5881580-07-12", "-5877641-06-23", "-5877641-06-22", "9999999-01-01", "12345678-01-01", "", " ", "abc",
         "2024/01/05", "05-01-2024", "2024-1-05", "1582-10-10", "1582-10-04", "0004-02-29", "2024-01-05t12", "2024-1-5T12:30:45Z", "2024-01-05  ", "+", "-"]
TIMES = ["2024-01-05 12:30:45", "2024-01-05T12:30:45", "2024-01-05t12:30:45", "2024-01-05 12:30:45.1", "2024-01-05 12:30:45.123456",
         "2024-01-05 12:30:45.123456789", "2024-01-05 12:30:45.9999999", "1960-01-05 12:30:45.9999999", "2024-01-05 12:30:45.", "2024-01-05 12:30",
         "2024-01-05 12:3", "2024-01-05 12:", "2024-01-05 12", "2024-01-05 1", "2024-01-05 1:2:3", "2024-01-05 1:2:", "2024-01-05 24:00:00",
         "2024-01-05 23:59:60", "2024-01-05 23:60:00", "2024-01-05 12:30:45Z", "2024-01-05 12:30:45 Z", "2024-01-05 12:30:45  Z ", "2024-01-05T12:30:45.5Z",
         "2024-01-05 12:30Z", "2024-01-05 12:30+02:00", "2024-01-05 12Z", "2024-01-05Z", "2024-01-05+02:00", "2024-01-05 12:30:45+02:00",
         "2024-01-05 12:30:45 +02:00", "2024-01-05 12:30:45+2:00", "2024-01-05 12:30:45+02:3", "2024-01-05 12:30:45+2", "2024-01-05 12:30:45+02",
         "2024-01-05 12:30:45+0230", "2024-01-05 12:30:45+023045", "2024-01-05 12:30:45+02:30:45", "2024-01-05 12:30:45+18:00", "2024-01-05 12:30:45+18:01",
         "2024-01-05 12:30:45-18:00", "2024-01-05 12:30:45+19", "2024-01-05 12:30:45+02:60", "2024-01-05 12:30:45+", "2024-01-05 12:30:45-7:30",
         "2024-01-05 12:30:45.123+7:3", "2024-01-05 12:30:45UTC", "2024-01-05 12:30:45 UTC", "2024-01-05 12:30:45 utc", "2024-01-05 12:30:45 GMT+2",
         "2024-01-05 12:30:45 GMT+02:00", "2024-01-05 12:30:45 UTC+02:00", "2024-01-05 12:30:45 UTC-2:30", "2024-01-05 12:30:45 UT+1", "2024-01-05 12:30:45 UT",
         "2024-01-05 12:30:45 GMT", "2024-01-05 12:30:45 GMT0", "2024-01-05 12:30:45 Europe/Oslo", "2024-07-05 12:30:45 Europe/Oslo", "2024-07-05 12:30:45Europe/Oslo",
         "2024-07-05 12:30:45.5Europe/Oslo", "2024-07-05 12:30:45 europe/oslo", "2024-07-05 12:30:45 America/Los_Angeles", "2024-07-05 12:30:45 PST",
         "2024-07-05 12:30:45 EST", "2024-07-05 12:30:45 MST", "2024-07-05 12:30:45 HST", "2024-07-05 12:30:45 CST", "2024-07-05 12:30:45 IST", "2024-07-05 12:30:45 CET", "2024-07-05 12:30:45 EST5EDT",
         "2024-07-05 12:30:45 Etc/GMT+2", "2024-07-05 12:30:45 Etc/Unknown", "2024-07-05 12:30:45 Nowhere/Land", "2024-07-05 12:30:45 Asia/Kolkata", "2024-07-05 12:30:45 Zulu",
         "2024-07-05 12:30:45 ZZ", "2024-07-05 12:30:45 z", "2024-07-05 12:30:45 X", "2024-07-05 12:30:45 Europe/Oslo x", "2024-07-05 12:30:45 PST8PDT", "2024-07-05 12:30:45 ROC", "2024-07-05 12:30:45 SystemV/PST8",
         "2024-07-05 12:30:45 UTC+", "2024-07-05 12:30:45 UTCx", "2024-07-05 12:30:45 GMT+25", "2024-07-05 12:30:45 Asia/Calcutta", "2024-07-05 12:30:45 US/Pacific",
         "2024-03-10 02:30:00", "2024-11-03 01:30:00", "2024-03-10 01:59:59.999999", "2024-03-10 03:00:00", "2024-11-03 00:59:59", "2024-11-03 02:00:00",
         "2024-03-31 02:30:00 Europe/Oslo", "2024-10-27 02:30:00 Europe/Oslo", "1883-11-18 12:00:00", "1883-11-18 11:59:00", "1800-01-01 00:00:00", "1800-01-01 00:00:00 Europe/Oslo",
         "0001-01-01 00:00:00", "0000-01-01 00:00:00", "-0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "10000-01-01 00:00:00", "294247-01-10 04:00:54.775807Z",
         "294247-01-10 04:00:54.775808Z", "-290308-12-21 19:59:05.224192Z", "-290308-12-21 19:59:05.224191Z", "999999-01-01 00:00:00", "1234567-01-01 00:00:00", "2024-02-30 00:00:00",
         "2024-01-05 12:30:45 ", " 2024-01-05 12:30:45", "2024-01-05  12:30:45", "2024-01-05 T12:30:45", "2024-01-05 123:30:45", "2024-01-05 12:300:45", "2024-01-05 12:30:450",
         "2024-01-05 12:30:45,5", "2024-01-05 12.30", "2024-01-05 -1:30:00", "abc", "", " ", "2024-01-05T12:30:45.123456+02:00", "2024-01-05T12:30:45.123456 +02:00 ",
         "2024-01-05 12:30:45.12345678901234567890", "2024-01-05 12:30:45.-5", "2024-01-05 12:30:45 :", "2024-1-5 1:2:3.4-1:0", "2024", "2024-1", "2024-1-5", "2024T", "2024-01 12:00",
         "2024-01-05T", "2024-01-05 12:30:45\x00", "+2024-01-05 12:30:45", "2024-01-05 12:30:45 +02:00:00", "2024-01-05 12:30:45 GMT+02:00:30", "2024-01-05 12:30:45 GMT+0230", "1582-10-10 00:00:00Z"]
YEAR_MONTH = ["1-2", "-1-2", "+1-2", "1-11", "1-12", "1", "-3", "178956970-7", "178956970-8", "-178956970-8", "-178956970-9", "INTERVAL '1-2' YEAR TO MONTH",
              "interval '-1-2' year to month", "INTERVAL -'-1-2' YEAR TO MONTH", "INTERVAL '5' YEAR", "INTERVAL '5' MONTH", "interval -'5' month", "", "abc", "1 2", " 1-2 ", "INTERVAL '1-2'",
              "178956971", "2147483647", "2147483648", "-2147483648", "-2147483649", "INTERVAL  '1-2'  YEAR  TO  MONTH", "0-0", "0", "-0-0", "00-01"]
DAY_TIME = ["1 02:03:04", "-1 02:03:04.5", "+1 02:03:04.123456", "1 02:03:04.123456789", "1 2:3:4", "1 24:00:00", "1 23:60:00", "1 23:59:60", "1", "-1", "02:03", "-02:03:04", "100:03:04.5", "3:4.5",
            "4.5", "-4.000001", "100", "INTERVAL '1 02:03:04.5' DAY TO SECOND", "interval -'1 02:03:04' day to second", "INTERVAL '5' DAY", "INTERVAL '5' HOUR", "INTERVAL '5' MINUTE", "INTERVAL '5.5' SECOND",
            "106751991 04:00:54.775807", "106751991 04:00:54.775808", "-106751991 04:00:54.775808", "-106751991 04:00:54.775809", "106751992", "", "abc", "1 02", "1 02:03", "0 00:00:00", "9223372036854.775807", "2562047788", "153722867280",
            "1 02:03:04.", "0.000001", "1 002:03:04", "61", "25:00", "61:00"]
INTERVAL_TYPES = {"INTERVAL YEAR TO MONTH": YEAR_MONTH, "INTERVAL YEAR": YEAR_MONTH, "INTERVAL MONTH": YEAR_MONTH}
FIELDS = ["DAY", "HOUR", "MINUTE", "SECOND"]
for i, j in itertools.combinations_with_replacement(range(4), 2):
    INTERVAL_TYPES["INTERVAL " + (FIELDS[i] if i == j else f"{FIELDS[i]} TO {FIELDS[j]}")] = DAY_TIME

CASTS = {"BOOLEAN": BOOLEANS, "TINYINT": INTEGERS, "SMALLINT": INTEGERS, "INT": INTEGERS, "BIGINT": INTEGERS, "FLOAT": DOUBLES, "DOUBLE": DOUBLES,
         "DECIMAL(5,2)": DECIMALS, "DECIMAL(38,0)": DECIMALS, "DECIMAL(38,38)": DECIMALS, "DECIMAL(38,18)": DECIMALS, "DECIMAL(7,2)": DECIMALS,
         "DATE": DATES, "TIMESTAMP": TIMES + DATES, "TIMESTAMP_NTZ": TIMES + DATES, **INTERVAL_TYPES}


def casts(spark):
    """type, text, CAST(CAST(text AS type) AS STRING) or \\N when the cast fails."""
    rows = []
    for kind, texts in CASTS.items():
        texts = [t for t in dict.fromkeys(texts)]
        frame = spark.createDataFrame([(i, t) for i, t in enumerate(texts)], "i INT, t STRING")
        got = frame.selectExpr("i", f"CAST(TRY_CAST(t AS {kind}) AS STRING) AS v") if not kind.startswith("INTERVAL") else None
        if got is not None:
            rows += [(kind, texts[r.i], r.v) for r in got.orderBy("i").collect()]
            continue
        for t in texts:
            try:
                quoted = t.replace("\\", "\\\\").replace("'", "\\'")
                rows.append((kind, t, spark.sql(f"SELECT CAST(CAST('{quoted}' AS {kind}) AS STRING) v").collect()[0].v))
            except Exception:
                rows.append((kind, t, None))
    return rows


def errors(spark):
    """type, text, [CLASS] message SQLSTATE."""
    rows = []
    for kind, text in [("INT", "x"), ("INT", "it's \\ \"so\""), ("BIGINT", "1.5"), ("DOUBLE", "x"), ("BOOLEAN", "maybe"), ("DECIMAL(5,2)", "x"),
                       ("DECIMAL(5,2)", "1000"), ("DECIMAL(5,2)", " -1e3 "), ("DECIMAL(5,2)", "999.995"), ("DECIMAL(38,0)", "1e38"), ("DECIMAL(38,0)", "1e400"), ("DATE", "2024-13"), ("TIMESTAMP", "noon"),
                       ("TIMESTAMP_NTZ", ""), ("INTERVAL YEAR TO MONTH", "1-13"), ("INTERVAL DAY TO SECOND", "x"), ("TINYINT", "128"), ("DECIMAL(5,2)", "123456789.123456")]:
        frame = spark.createDataFrame([(text,)], "t STRING")
        try:
            frame.selectExpr(f"CAST(CAST(t AS {kind}) AS STRING)").collect()
            rows.append((kind, text, None))
        except Exception as e:
            message = str(e).split("JVM stacktrace")[0].split("== SQL")[0].split("\n")[0]
            rows.append((kind, text, message.strip()))
    for zone in ["Europe/Olso", "+25:00"]:
        try:
            spark.sql(f"SELECT from_utc_timestamp(TIMESTAMP'2024-01-01 00:00:00', '{zone}')").collect()
        except Exception as e:
            rows.append(("ZONE", zone, str(e).split("\n")[0]))
    return rows


def decimal_text(rng, p, s):
    n = rng.choice([p, p, p, rng.randint(1, p)])
    digits = rng.choice(["".join(rng.choice("0123456789") for _ in range(n)), "9" * n, "1" + "0" * (n - 1), "45" * (n // 2), "5" * n, "2" + "5" * (n - 1)]) or "7"
    digits = digits.zfill(s + 1)
    text = digits[: len(digits) - s] + ("." + digits[len(digits) - s:] if s else "")
    return rng.choice(["", "-"]) + text


def decimals(spark):
    """operator, a, type of a, b, type of b, result type, result or \\N."""
    rng = random.Random(20260301)
    cases = []
    for i in range(600):
        p1 = rng.choice([38, 38, rng.randint(1, 38)])
        p2 = rng.choice([38, 38, rng.randint(1, 38)])
        s1, s2 = rng.choice([p1, 0, rng.randint(0, p1)]), rng.choice([p2, 0, rng.randint(0, p2)])
        cases.append(("*" if i % 2 else "/", decimal_text(rng, p1, s1), f"{p1},{s1}", decimal_text(rng, p2, s2), f"{p2},{s2}"))
    cases += [("/", "0." + "0" * 37 + "9", "38,38", "20", "2,0"), ("/", "0." + "0" * 37 + "1", "38,38", "7", "1,0"), ("/", "0." + "0" * 37 + "9", "38,38", "-20", "2,0"),
              ("/", "1", "1,0", "3", "1,0"), ("/", "2", "1,0", "3", "1,0"), ("*", "1.5", "2,1", "1.5", "2,1")]
    # Products whose digits beyond the result go on with 49…5: rounding twice would show.
    while len(cases) < 618:
        a, b = (rng.randrange(4 * 10 ** 37, 10 ** 38) for _ in range(2))
        digits = str(a * b).zfill(76)
        if digits[0] != "0" and digits[37:39] == "49" and digits[39] >= "5":
            cases.append(("*", f"0.{a}", "38,38", f"0.{b}", "38,38"))
    out = []
    for at in range(0, len(cases), 100):
        part = cases[at:at + 100]
        columns = []
        for j, (op, a, ta, b, tb) in enumerate(part):
            f = "try_multiply" if op == "*" else "try_divide"
            columns.append(f"CAST({f}(CAST('{a}' AS DECIMAL({ta})), CAST('{b}' AS DECIMAL({tb}))) AS STRING) v{j}")
            columns.append(f"typeof(CAST('{a}' AS DECIMAL({ta})) {op} CAST('{b}' AS DECIMAL({tb}))) t{j}")
        try:
            row = spark.sql("SELECT " + ", ".join(columns)).collect()[0]
        except Exception as e:
            print(at, str(e)[:500])
            continue
        for j, (op, a, ta, b, tb) in enumerate(part):
            if float(b) != 0:
                out.append((op, a, ta, b, tb, row[f"t{j}"][8:-1], row[f"v{j}"]))
    return out


# No zone whose rules changed lately (Africa/Cairo 2023, Asia/Gaza, Africa/Casablanca): Java and ICU come with their own zone data.
ZONES = ["UTC", "America/New_York", "Europe/Oslo", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns", "America/Sao_Paulo", 
         "Europe/Dublin", "Europe/London", "Asia/Tehran", "America/Los_Angeles", "Pacific/Chatham", "Antarctica/Troll", "Asia/Tokyo", "Europe/Moscow", "America/Caracas",
         "Pacific/Kiritimati", "Africa/Monrovia", "Europe/Amsterdam", "Asia/Pyongyang", "GMT+2", "+05:30", "-07:15:30", "America/Argentina/Buenos_Aires", "Etc/GMT-14"]


def zones(spark):
    """zone, microseconds UTC, local microseconds of that instant, instant of those local microseconds taken as local time."""
    rng = random.Random(7)
    rows = []
    for zone in ZONES:
        for lo, hi, count in [(-3786825600, -1577923200, 12), (-1577923200, 0, 30), (0, 2145916800, 60), (2145916800, 4102444800, 12), (4102444800, 60000000000, 12), (-62135596800, -3786825600, 4)]:
            rows += [(zone, rng.randrange(lo, hi) * 1000000 + rng.randrange(1000000)) for _ in range(count)]
    # Around every hour of two days of change, New York and Oslo
    for zone, base in [("America/New_York", 1710046800), ("America/New_York", 1730595600), ("Europe/Oslo", 1711839600), ("Europe/Oslo", 1729980000), ("Australia/Lord_Howe", 1712404800), ("Pacific/Apia", 1325152800)]:
        for step in range(-8, 120):
            rows.append((zone, (base + step * 900) * 1000000))
    frame = spark.createDataFrame(rows, "z STRING, us BIGINT").coalesce(1)
    got = frame.selectExpr("z", "us", "unix_micros(from_utc_timestamp(timestamp_micros(us), z)) AS local", "unix_micros(to_utc_timestamp(timestamp_micros(us), z)) AS back").collect()
    return [(r.z, str(r.us), str(r.local), str(r.back)) for r in got]


def prints(spark):
    """DATE or TIMESTAMP, number, text; DOUBLE ones come from shortest.py."""
    days = [0, 1, -1, 19000, -719162, -719163, -719528, -719529, 2932896, 2932897, 3000000, 36890725, -36890725, 2147483647, -2147483648, -141428, -141427, 11016, 59, 60]
    frame = spark.createDataFrame([(d,) for d in days], "d INT").coalesce(1)
    rows = [("DATE", str(r.d), r.v) for r in frame.selectExpr("d", "CAST(date_add(DATE'1970-01-01', d) AS STRING) v").collect()]
    us = [0, 1, -1, 10, 100000, -100000, 999999, -86400000001, 1709983800000000, -62135596800000000, -62135596800000001, 253402300799999999, 253402300800000000, 9223372036854775807, -9223372036854775808, 1730611800000000, -12219292800000001]
    frame = spark.createDataFrame([(u,) for u in us], "u BIGINT").coalesce(1)
    rows += [("TIMESTAMP", str(r.u), r.v) for r in frame.selectExpr("u", "CAST(timestamp_micros(u) AS STRING) v").collect()]
    for kind, expr in [("VALUE", e) for e in [
            "array(1, 2, NULL)", "array('a', '', NULL)", "named_struct('a', 1, 'b', 'x', 'c', CAST(NULL AS INT))", "map('k', 1, 'l', NULL)", "array()", "array(1.5D, 1e10D, double('NaN'))",
            "array(true, false)", "array(DATE'2024-01-05')", "array(TIMESTAMP'2024-01-05 12:30:45.5')", "named_struct('a', array(1), 'b', named_struct('c', 1.50BD))", "X'616263'"]]:
        rows.append((kind, expr, spark.sql(f"SELECT CAST({expr} AS STRING) v").collect()[0].v))
    return rows


def main():
    folder = sys.argv[1]
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", ZONE)
             .config("spark.sql.shuffle.partitions", "1").getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    for name, make in [("errors", errors), ("casts", casts), ("zones", zones), ("prints", prints), ("decimals", decimals)]:
        if name == "zones":
            spark.conf.set("spark.sql.session.timeZone", "UTC")
        if name == "prints":
            spark.conf.set("spark.sql.session.timeZone", ZONE)
        try:
            rows = make(spark)
            write(folder, name, rows)
            print(name, len(rows))
        except Exception as e:
            print(name, "FAILED", str(e)[:1000])


main()
