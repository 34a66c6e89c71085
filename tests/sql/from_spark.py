#!/usr/bin/env python3
"""Writes the answers of Apache Spark into golden files (processor/testing/golden_file.h has their form).

usage: from_spark.py FILE.test…        needs pyspark 4.3.0 and Java 17

So that what is expected comes from Spark and never from our own output: write the tables and queries, run this,
then look at what `tidemark test` says. Error blocks get Spark's class; the place is where Spark's query context or
parser points, ours may be nearer to the mistake and is then put in by hand. ANSI mode, the session zone of the file (UTC), rows as Spark returns them.
"""
import math, re, struct, sys

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, functions as F, types as T


def split_columns(text):
    out, depth, cur = [], 0, ""
    for ch in text:
        depth += ch in "(<"
        depth -= ch in ")>"
        if ch == "," and depth == 0:
            out.append(cur.strip())
            cur = ""
        else:
            cur += ch
    return out + [cur.strip()]


def unescape(cell):
    if cell == "NULL":
        return None
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r", "\\": "\\", "_": ""}[m.group(1)], cell)


def escape(text, first):
    if text is None:
        return "NULL"
    guard = text in ("", "NULL") or (first and kind_of(text) is not None)
    body = text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return ("\\_" if guard else "") + body


def kind_of(line):
    for word in ("table ", "error [", "time_zone ", "clock "):
        if line.startswith(word):
            return word.strip(" [")
    if line in ("query", "query sorted"):
        return "query"
    if line == "" or line.startswith("#"):
        return "nothing"
    return "header" if line.startswith("----") else None


def type_text(t):
    if isinstance(t, T.ArrayType):
        return f"ARRAY<{type_text(t.elementType)}>"
    if isinstance(t, T.MapType):
        return f"MAP<{type_text(t.keyType)}, {type_text(t.valueType)}>"
    if isinstance(t, T.StructType):
        return "STRUCT<" + ", ".join(f"{name_text(f.name)}: {type_text(f.dataType)}" for f in t.fields) + ">"
    return {"void": "VOID"}.get(t.simpleString(), t.simpleString().upper())


def name_text(name):
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else "`" + name.replace("`", "``") + "`"


def make_table(spark, name, columns, rows):
    cols = []
    for c in split_columns(columns):
        m = re.match(r"`([^`]*)`\s+(.*)|(\S+)\s+(.*)", c, re.S)
        cols.append((m.group(1) or m.group(3), m.group(2) or m.group(4)))
    data = [[unescape(x) for x in r.split("\t")] for r in rows]
    for i, r in enumerate(data):
        assert len(r) == len(cols), (name, rows[i])
    df = spark.createDataFrame([tuple([i] + r) for i, r in enumerate(data)] or [],
                               T.StructType([T.StructField("#", T.IntegerType())] + [T.StructField(f"c{i}", T.StringType()) for i in range(len(cols))]))
    out = []
    for i, (n, t) in enumerate(cols):
        nested = t.upper().startswith(("ARRAY", "MAP", "STRUCT"))
        e = f"from_json(c{i}, '{t}')" if nested else f"unbase64(c{i})" if t.upper() == "BINARY" else f"CAST(c{i} AS {t})"
        out.append(f"{e} AS `{n}`")
    df.orderBy("#").selectExpr(*out).coalesce(1).localCheckpoint().createOrReplaceTempView(name)


def as_float(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def java_text(value, single):
    """Double.toString and Float.toString of JDK 19 and later: the shortest digits (older ones print more)."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    digits = next(f"{value:.{p}e}" for p in range(17) if (as_float(float(f"{value:.{p}e}")) if single else float(f"{value:.{p}e}")) == value)
    mantissa, exponent = digits.lstrip("-").split("e")
    sign, digits, exponent = "-" if math.copysign(1, value) < 0 else "", mantissa.replace(".", ""), int(exponent)
    digits = digits.rstrip("0") or "0"
    if value == 0:
        return sign + "0.0"
    if -3 <= exponent < 7:
        if exponent < 0:
            return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
        whole = digits[: exponent + 1].ljust(exponent + 1, "0")
        return f"{sign}{whole}.{digits[exponent + 1:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"


def printed(df):
    out = []
    for i, f in enumerate(df.schema.fields):
        if isinstance(f.dataType, (T.ArrayType, T.MapType, T.StructType)):
            out.append(f"to_json(`c{i}`)")
        elif isinstance(f.dataType, T.BinaryType):
            out.append(f"base64(`c{i}`)")
        elif isinstance(f.dataType, (T.DoubleType, T.FloatType)):
            out.append(f"`c{i}`")
        else:
            out.append(f"CAST(`c{i}` AS STRING)")
    rows = df.toDF(*[f"c{i}" for i in range(len(df.schema.fields))]).selectExpr(*out).collect()
    single = [isinstance(f.dataType, T.FloatType) for f in df.schema.fields]
    return [[java_text(v, single[i]) if isinstance(v, float) else v for i, v in enumerate(r)] for r in rows]


def place(sql, error):
    context = error.getQueryContext() if hasattr(error, "getQueryContext") else []
    starts = [c.startIndex() for c in context if c.startIndex() >= 0]
    m = re.search(r"\(line (\d+), pos (\d+)\)", str(error))
    if m:
        return f" {m.group(1)}:{int(m.group(2)) + 1}"
    if not starts:
        return ""
    before = sql[: starts[0]]
    return f" {before.count(chr(10)) + 1}:{len(before) - (before.rfind(chr(10)) + 1) + 1}"


def answer(spark, sql, sort):
    try:
        df = spark.sql(sql)
        rows = printed(df)
    except PySparkException as e:
        condition = e.getCondition() if hasattr(e, "getCondition") else e.getErrorClass()
        return [f"error [{condition}]{place(sql, e)}"] + sql.split("\n")
    lines = ["\t".join(escape(v, i == 0) for i, v in enumerate(r)) for r in rows]
    if sort:
        lines.sort(key=lambda s: s.encode())
    head = "---- " + ", ".join(f"{name_text(f.name)} {type_text(f.dataType)}" for f in df.schema.fields)
    return ["query sorted" if sort else "query"] + sql.split("\n") + [head] + lines


def run(spark, path):
    lines = open(path, encoding="utf8").read().split("\n")
    if lines[-1] == "":
        lines.pop()
    out, i = [], 0
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    while i < len(lines):
        kind, begin = kind_of(lines[i]), i
        i += 1
        if kind == "nothing":
            out.append(lines[begin])
            continue
        if kind in ("time_zone", "clock"):
            if kind == "time_zone":
                spark.conf.set("spark.sql.session.timeZone", lines[begin].split()[1])
            out.append(lines[begin])
            continue
        body = []
        while i < len(lines) and kind_of(lines[i]) in (None, "header"):
            body.append(lines[i])
            i += 1
        if kind == "table":
            m = re.match(r"table (\S+)\s*\((.*)\)$", lines[begin])
            make_table(spark, m.group(1), m.group(2), body)
            out += lines[begin:i]
            continue
        heads = [k for k, x in enumerate(body) if kind_of(x) == "header"]
        sql = "\n".join(body[: heads[0]] if heads else body)
        out += answer(spark, sql, lines[begin] == "query sorted")
    open(path, "w", encoding="utf8").write("\n".join(out) + "\n")


def main():
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.ansi.enabled", "true")
             .config("spark.sql.jsonGenerator.ignoreNullFields", "false").config("spark.sql.shuffle.partitions", "1").getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    for path in sys.argv[1:]:
        run(spark, path)


main()
