#!/usr/bin/env python3
"""Random REPLACE USING scenarios over every type, with the table a model of their own expects.

usage: types_model.py --out FILE.yaml [--seed N] [--count M]

Keys and sequences are of any type that has an order (nested ones too), values of any type JSON brings. Records
come as typed rows or as JSON text of this file's own making (fields shuffled, left out, unknown ones added, broken
ones between). The query computes: some of its expressions fail on some rows, which then belong to quarantine and
not to the table. Expectations and WHERE may fail as well. Rules of the model, from spec/decisions.md:
  WHERE, then the projection, then the assignment to the target's types; an error in any of them removes the row
  an expectation that is not TRUE, or raises an error, is a violation: DROP removes the row, else it is counted
  per key (NULL equals NULL, NaN equals NaN, -0.0 equals 0.0) the rows of the highest sequence stay; NULL is lowest
"""
import argparse, base64, datetime, decimal, json, random

INT_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
NAN, INF = float("nan"), float("inf")
EPOCH = datetime.datetime(1970, 1, 1)


class Failed(Exception):
    """An expression raised an error on this row."""


# ------------------------------------------------------------------------------------------- types
# A type is ("INT",), ("DECIMAL", p, s), ("ARRAY", t), ("MAP", k, v), ("STRUCT", [(name, t)]).

def sql_type(t):
    if t[0] == "DECIMAL":
        return f"DECIMAL({t[1]},{t[2]})"
    if t[0] == "ARRAY":
        return f"ARRAY<{sql_type(t[1])}>"
    if t[0] == "MAP":
        return f"MAP<{sql_type(t[1])}, {sql_type(t[2])}>"
    if t[0] == "STRUCT":
        return "STRUCT<" + ", ".join(f"{n}: {sql_type(x)}" for n, x in t[1]) + ">"
    return t[0]


SCALARS = ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "STRING", "BINARY", "DATE",
           "TIMESTAMP", "TIMESTAMP_NTZ"]


def any_type(rnd, depth, ordered):
    kinds = SCALARS + ([] if depth == 0 else ["ARRAY", "STRUCT"] + ([] if ordered else ["MAP", "ARRAY", "STRUCT"]))
    kind = rnd.choice(kinds)
    if kind == "DECIMAL":
        p = rnd.choice([1, 5, 9, 10, 18, 19, 38])
        return (kind, p, rnd.choice([0, min(2, p), p]))
    if kind == "ARRAY":
        return (kind, any_type(rnd, depth - 1, ordered))
    if kind == "MAP":
        return (kind, rnd.choice([("STRING",), ("INT",), ("DATE",), ("BIGINT",)]), any_type(rnd, depth - 1, ordered))
    if kind == "STRUCT":
        return (kind, [(f"f{i}", any_type(rnd, depth - 1, ordered)) for i in range(rnd.randint(1, 3))])
    return (kind,)


TEXTS = ["", "a", "A", "ab", "z", "é", "日本", "😀", "null", "1", "12", "x\ty", 'q"q', "back\\slash", "new\nline", " pad ", "0x1F",
         "~", "true", "NaN", "-", "#no", "{a}", "\u0001", "\u007f", "a\u0000b"]
BYTES = [b"", b"\0", b"\0\0", b"\xff", b"\xff\xff", b"a", b"\0\xff", bytes(range(16))]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.25, 1e10, NAN, INF, -INF, 3.0, 16777216.0, 0.125]
DOUBLES = FLOATS + [1e300, -1e300, 5e-324, 0.1, 1 / 3, 9007199254740993.0, 1.7976931348623157e308]


def any_value(rnd, t, nulls=0.12, few=False):
    """`few` makes values that meet each other often."""
    if rnd.random() < nulls:
        return None
    k = t[0]
    if k == "BOOLEAN":
        return rnd.random() < 0.5
    if k in INT_BITS:
        top = 1 << (INT_BITS[k] - 1)
        pool = [0, 1, 2, 3, -1, 7, 10, top - 1, -top]
        return rnd.choice(pool[:5] if few else pool)
    if k == "FLOAT":
        return rnd.choice(FLOATS)
    if k == "DOUBLE":
        return rnd.choice(FLOATS if few else DOUBLES)
    if k == "DECIMAL":
        top = 10 ** t[1] - 1
        return rnd.choice([0, 1, -1, 5, top, -top] + ([] if few else [top // 3, top // 7, -(top // 9)]))  # unscaled
    if k == "STRING":
        return rnd.choice(TEXTS[:6] if few else TEXTS)
    if k == "BINARY":
        return rnd.choice(BYTES)
    if k == "DATE":
        return rnd.choice(["2026-01-01", "2026-02-28", "1969-12-31", "0001-01-01", "9999-12-31", "2024-02-29"])
    if k in ("TIMESTAMP", "TIMESTAMP_NTZ"):
        pool = [0, 1, -1, 999999, 1767225600000000, 1767225600000001, -62135596800000000, 253402300799999999]
        return rnd.choice(pool[:6] if few else pool)
    if k == "ARRAY":
        return [any_value(rnd, t[1], nulls, few) for _ in range(rnd.choice([0, 1, 1, 2, 3]))]
    if k == "MAP":
        keys = []
        for _ in range(rnd.choice([0, 1, 2, 3])):
            key = any_value(rnd, t[1], 0, False)
            if key not in keys:
                keys.append(key)
        return [(key, any_value(rnd, t[2], nulls, few)) for key in keys]
    return tuple(any_value(rnd, x, nulls, few) for _, x in t[1])


def order(t, v):
    """Sorts as the engine must: NULL first, NaN last, -0.0 as 0.0, text by bytes."""
    if v is None:
        return (0,)
    k = t[0]
    if k in ("FLOAT", "DOUBLE"):
        return (1, 1, 0.0) if v != v else (1, 0, v + 0.0)
    if k == "STRING":
        return (1, v.encode())
    if k == "ARRAY":
        return (1, tuple(order(t[1], x) for x in v))
    if k == "STRUCT":
        return (1, tuple(order(x, y) for (_, x), y in zip(t[1], v)))
    return (1, v)


def instant(v, end):
    return (EPOCH + datetime.timedelta(microseconds=v)).strftime("%Y-%m-%dT%H:%M:%S.%f").zfill(26) + end


def decimal_text(t, v):
    with decimal.localcontext() as c:
        c.prec = 60
        return format(decimal.Decimal(v).scaleb(-t[2]), "f")


def float_json(v):
    return '"NaN"' if v != v else '"Infinity"' if v == INF else '"-Infinity"' if v == -INF else repr(v)


def json_text(t, v, rnd):
    """JSON as a producer might write it."""
    if v is None:
        return "null"
    k = t[0]
    if k == "BOOLEAN":
        return "true" if v else "false"
    if k in INT_BITS:
        return f"{v}.0" if rnd.random() < 0.1 else f"{v}e0" if rnd.random() < 0.05 else str(v)
    if k in ("FLOAT", "DOUBLE"):
        return float_json(v)
    if k == "DECIMAL":
        return decimal_text(t, v)
    if k == "STRING":
        return json.dumps(v, ensure_ascii=rnd.random() < 0.5)
    if k == "BINARY":
        return '"' + base64.b64encode(v).decode() + '"'
    if k == "DATE":
        return f'"{v}"'
    if k == "TIMESTAMP":
        return '"' + instant(v, rnd.choice(["Z", "+00:00"])) + '"'
    if k == "TIMESTAMP_NTZ":
        return '"' + instant(v, "") + '"'
    if k == "ARRAY":
        return "[" + ", ".join(json_text(t[1], x, rnd) for x in v) + "]"
    if k == "MAP":
        if t[1][0] == "STRING" and rnd.random() < 0.7:
            return "{" + ", ".join(f"{json_text(t[1], a, rnd)}: {json_text(t[2], b, rnd)}" for a, b in v) + "}"
        return "[" + ", ".join(f"[{json_text(t[1], a, rnd)}, {json_text(t[2], b, rnd)}]" for a, b in v) + "]"
    fields = [f'"{n}": {json_text(x, y, rnd)}' for (n, x), y in zip(t[1], v)]
    rnd.shuffle(fields)
    return "{" + ", ".join(fields) + "}"


def yaml_value(t, v):
    """The value as a scenario gives it: JSON whose scalars are texts."""
    if v is None:
        return None
    k = t[0]
    if k == "BOOLEAN":
        return v
    if k in ("FLOAT", "DOUBLE"):
        return float_json(v).strip('"')
    if k == "DECIMAL":
        return decimal_text(t, v)
    if k == "BINARY":
        return base64.b64encode(v).decode()
    if k == "TIMESTAMP":
        return instant(v, "Z")
    if k == "TIMESTAMP_NTZ":
        return instant(v, "")
    if k == "ARRAY":
        return [yaml_value(t[1], x) for x in v]
    if k == "MAP":
        return [[yaml_value(t[1], a), yaml_value(t[2], b)] for a, b in v]
    if k == "STRUCT":
        return [yaml_value(x, y) for (_, x), y in zip(t[1], v)]
    return v


# ------------------------------------------------------------------------------------- expressions
# (SQL, type, Python on the source row): `i` INT, `j` BIGINT, `s` STRING stand in every source.

def checked(kind, v):
    if v is None:
        return None
    top = 1 << (INT_BITS[kind] - 1)
    if not -top <= v < top:
        raise Failed
    return v


def div(a, b):
    if a is None or b is None:
        return None
    if b == 0:
        raise Failed
    return checked("BIGINT", abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def mod(a, b):
    if a is None or b is None:
        return None
    if b == 0:
        raise Failed
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def to_int(s):
    if s is None:
        return None
    try:
        text = s.strip(" \t\n\0\1\x7f")
        if not text.lstrip("+-").isdigit() or not text.isascii():
            raise Failed
        return checked("INT", int(text))
    except ValueError:
        raise Failed


def both(f):
    return lambda *xs: None if any(x is None for x in xs) else f(*xs)


I, B, S, L = ("INT",), ("BIGINT",), ("STRING",), ("BOOLEAN",)
EXPRESSIONS = [
    ("i + 1", I, lambda r: checked("INT", both(lambda a: a + 1)(r["i"]))),
    ("i * j", B, lambda r: checked("BIGINT", both(lambda a, b: a * b)(r["i"], r["j"]))),
    ("100 div i", B, lambda r: div(100, r["i"])),
    ("j % i", B, lambda r: mod(r["j"], r["i"])),
    ("-i", I, lambda r: checked("INT", both(lambda a: -a)(r["i"]))),
    ("CAST(s AS INT)", I, lambda r: to_int(r["s"])),
    ("CAST(j AS SMALLINT)", ("SMALLINT",), lambda r: checked("SMALLINT", r["j"])),
    ("CAST(i AS STRING)", S, lambda r: both(str)(r["i"])),
    ("CAST(i AS DECIMAL(12,2))", ("DECIMAL", 12, 2), lambda r: both(lambda a: a * 100)(r["i"])),
    ("CASE WHEN i > 2 THEN 'big' WHEN i IS NULL THEN NULL ELSE 'small' END", S,
     lambda r: None if r["i"] is None else "big" if r["i"] > 2 else "small"),
    ("CASE WHEN i = 0 THEN -1 ELSE 10 div i END", B, lambda r: -1 if r["i"] == 0 else div(10, r["i"])),
    ("CASE s WHEN 'a' THEN i WHEN 'A' THEN 1 div 0 ELSE 5 END", B,
     lambda r: r["i"] if r["s"] == "a" else div(1, 0) if r["s"] == "A" else 5),
    ("coalesce(s, CAST(i AS STRING), 'none')", S,
     lambda r: r["s"] if r["s"] is not None else str(r["i"]) if r["i"] is not None else "none"),
    ("coalesce(i, CAST(s AS INT))", I, lambda r: r["i"] if r["i"] is not None else to_int(r["s"])),
    ("concat(s, '|', CAST(j AS STRING))", S, lambda r: both(lambda a, b: f"{a}|{b}")(r["s"], r["j"])),
    ("length(s)", I, lambda r: both(len)(r["s"])),
    ("s IN ('a', 'z', NULL)", L, lambda r: None if r["s"] is None or r["s"] not in ("a", "z") else True),
    ("i BETWEEN 0 AND 3", L, lambda r: both(lambda a: 0 <= a <= 3)(r["i"])),
    ("i <=> j", L, lambda r: r["i"] == r["j"]),
    ("nullif(i, 1)", I, lambda r: None if r["i"] == 1 else r["i"]),
    ("CAST(NULL AS DATE)", ("DATE",), lambda r: None),
]


def logic_and(a, b):
    """SQL's AND, whose right side is not asked for when the left one is FALSE."""
    left = a()
    if left is False:
        return False
    right = b()
    return False if right is False else None if left is None or right is None else True


CONDITIONS = [
    ("i > 0", lambda r: both(lambda a: a > 0)(r["i"])),
    ("i IS NOT NULL", lambda r: r["i"] is not None),
    ("s <> 'a'", lambda r: both(lambda a: a != "a")(r["s"])),
    ("10 div i > 2", lambda r: both(lambda a: a > 2)(div(10, r["i"]))),
    ("i <> 0 AND 10 div i > 2", lambda r: logic_and(lambda: both(lambda a: a != 0)(r["i"]),
                                                    lambda: both(lambda a: a > 2)(div(10, r["i"])))),
    ("CAST(s AS INT) > 1", lambda r: both(lambda a: a > 1)(to_int(r["s"]))),
    ("NOT (j < 2)", lambda r: both(lambda a: not a < 2)(r["j"])),
    ("CASE WHEN i = 1 THEN TRUE WHEN i = 2 THEN FALSE END", lambda r: {1: True, 2: False}.get(r["i"])),
]


# ---------------------------------------------------------------------------------------- scenario

class Case:
    def __init__(self, rnd, number):
        self.rnd = rnd
        self.number = number
        self.keys = [(f"k{i}", any_type(rnd, rnd.choice([0, 0, 0, 1, 2]), True)) for i in range(rnd.choice([1, 1, 2]))]
        self.seq = ("q", any_type(rnd, rnd.choice([0, 0, 0, 1, 2]), True))
        values = [(f"v{i}", any_type(rnd, 2, False)) for i in range(rnd.randint(1, 4))]
        self.source = self.keys + [self.seq] + values + [("i", I), ("j", B), ("s", S)]
        rnd.shuffle(self.source)
        self.where = rnd.choice(CONDITIONS) if rnd.random() < 0.4 else None
        self.items = [(n, t, None, None) for n, t in self.source]  # name, type, SQL, Python
        for x in range(rnd.choice([0, 1, 2, 3])):
            sql, t, f = rnd.choice(EXPRESSIONS)
            self.items.append((f"e{x}", t, sql, f))
        rnd.shuffle(self.items)
        self.target = [(n, t) for n, t, _, _ in self.items]
        self.declared = rnd.random() < 0.4
        if self.declared:
            self.target = [self.assigned(n, t) for n, t in self.target]
            self.target.insert(rnd.randrange(len(self.target) + 1), ("extra", any_type(rnd, 2, False)))
            rnd.shuffle(self.target)
        self.expectations = [(f"c{x}", *rnd.choice(CONDITIONS), rnd.random() < 0.6)
                             for x in range(rnd.choice([0, 0, 1, 2]))]
        self.table = {}

    def assigned(self, n, t):
        """Some columns are stored under another type than the query gives."""
        if n in ("i", "j", "s") or self.rnd.random() < 0.7:
            return n, t
        return n, {"TINYINT": B, "SMALLINT": I, "INT": B, "BIGINT": I, "FLOAT": ("DOUBLE",)}.get(t[0], t)

    def statement(self):
        specification = []
        if self.declared:
            specification += [f"{n} {sql_type(t)}" for n, t in self.target]
        specification += [f"CONSTRAINT {n} EXPECT ({c})" + (" ON VIOLATION DROP ROW" if d else "")
                          for n, c, _, d in self.expectations]
        items = ", ".join(n if sql is None else f"{sql} AS {n}" for n, _, sql, _ in self.items)
        return ("CREATE OR REFRESH STREAMING TABLE t" + (f" ({', '.join(specification)})" if specification else "") +
                f" FLOW REPLACE USING ({', '.join(n for n, _ in self.keys)}) SEQUENCE BY q BY NAME SELECT {items} "
                "FROM STREAM(src)" + (f" WHERE {self.where[0]}" if self.where else ""))

    def project(self, row):
        """None when WHERE leaves the row out; Failed when the row goes to quarantine."""
        if self.where and self.where[1](row) is not True:
            return None
        given = {n: row[n] if f is None else f(row) for n, _, _, f in self.items}
        types = {n: t for n, t, _, _ in self.items}
        out = {}
        for n, t in self.target:
            v = given.get(n)
            if n in given and t != types[n] and t[0] in INT_BITS:
                v = checked(t[0], v)
            out[n] = v
        return out

    def judge(self, out, quality):
        dropped = False
        for name, _, f, drop in self.expectations:
            try:
                good = f(out) is True
            except Failed:
                good = False
            count = quality[name]
            count["passed" if good else "failed"] += 1
            if not good and drop:
                dropped = True
                count["dropped"] += 1
        return not dropped

    def apply(self, row, quality):
        try:
            out = self.project(row)
        except Failed:
            return False
        if out is None or not self.judge(out, quality):
            return True
        types = dict(self.target)
        key = tuple(order(types[n], out[n]) for n, _ in self.keys)
        sequence = order(types["q"], out["q"])
        top, rows = self.table.get(key, (None, []))
        if top is None or sequence > top:
            self.table[key] = (sequence, [out])
        elif sequence == top:
            rows.append(out)
        return True

    def row(self):
        few = {n for n, _ in self.keys} | {"q"}
        return {n: any_value(self.rnd, t, 0.15, n in few) for n, t in self.source}

    def record(self, row):
        """The row as it is fed, and as it is read (fields left out are NULL)."""
        if self.rnd.random() < 0.5:
            return [yaml_value(t, row[n]) for n, t in self.source], row
        fields, read = [], {}
        for n, t in self.source:
            read[n] = row[n]
            if row[n] is None and self.rnd.random() < 0.5:
                continue
            name = n.upper() if self.rnd.random() < 0.1 else n
            fields.append(f'"{name}": {json_text(t, row[n], self.rnd)}')
        if self.rnd.random() < 0.2:
            fields.append('"unknown": {"a": [1, {"b": null}]}')
        self.rnd.shuffle(fields)
        return {"raw": "{" + ",".join(fields) + "}"}, read

    BROKEN = ["", "{", "[]", "null", "7", '{"i": 1.5}', '{"i": "1"}', '{"j": 9223372036854775808}', '{"s": "\\ud800"}',
              '{"i": 1} x', '{"i": 2147483648}', '{"i": 1,}', "{'i': 1}", '{"i": tru}', '{"i": 01}']

    def scenario(self):
        steps = [{"sql": self.statement()}]
        for _ in range(self.rnd.randint(1, 5)):
            records, quality = [], {n: dict(passed=0, failed=0, dropped=0) for n, *_ in self.expectations}
            for _ in range(self.rnd.choice([1, 3, 6, 12])):
                if self.rnd.random() < 0.05:
                    records.append({"raw": self.rnd.choice(self.BROKEN)})
                    continue
                record, read = self.record(self.row())
                records.append(record)
                self.apply(read, quality)
            steps += [{"feed": {"src": records}}, {"refresh": "t"}]
            if quality and any(sum(q.values()) for q in quality.values()):
                steps.append({"quality": {"t": quality}})
            rows = [out for _, rows in self.table.values() for out in rows]
            steps.append({"expect": {"t": [[yaml_value(t, out[n]) for n, t in self.target] for out in rows]}})
        return {"id": f"types-{self.number}", "scenario": "random types, keys, sequence and query",
                "relations": {"src": {"kind": "stream", "partitions": self.rnd.choice([1, 1, 3]),
                                      "columns": ", ".join(f"{n} {sql_type(t)}" for n, t in self.source)}},
                "steps": steps}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    arguments = parser.parse_args()
    cases = [Case(random.Random(arguments.seed * 1000003 + n), n).scenario() for n in range(arguments.count)]
    # JSON is YAML but for surrogate pairs and DEL; one scenario a line.
    lines = [json.dumps(c, ensure_ascii=False).replace("\x7f", "\\u007f") for c in cases]
    with open(arguments.out, "w", encoding="utf8") as out:
        out.write("[\n" + ",\n".join(lines) + "\n]\n")


main()
