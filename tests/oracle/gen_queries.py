#!/usr/bin/env python3
"""Random queries put together from relations, clauses and the calls of calls.py, over tables that have a column of every type.

usage: gen_queries.py --seed N --count M --out DIR
       gen_queries.py --coverage BINARY     functions of BINARY that nothing here draws

A query is drawn from the inside out: a relation (table, subquery, VALUES, range, join, LATERAL) gives columns of known types, of which a
SELECT makes others. What the rows' order would decide is left out: LIMIT needs an ORDER BY of all columns, row_number a key.
"""
import argparse
import json
import os
import random
import re
import subprocess

from calls import AGGREGATES, CALLS, ELSEWHERE, TEXT
from gen_cases import Dec, Gen, line, q

SCHEMA = [("id", "BIGINT"), ("k", "INT"), ("n", "INT"), ("big", "BIGINT"), ("x", "DOUBLE"), ("p", "DECIMAL(10,2)"), ("s", "STRING"), ("r", "STRING"), ("ok", "BOOLEAN"), ("d", "DATE"), ("ts", "TIMESTAMP"), ("xs", "ARRAY<INT>"), ("ss", "ARRAY<STRING>"),
          ("sm", "SMALLINT"), ("f", "FLOAT"), ("y", "BINARY"), ("nt", "TIMESTAMP_NTZ"), ("m", "MAP<STRING, INT>"), ("st", "STRUCT<a: INT, b: STRING>"), ("w", "DECIMAL(38,10)")]
COLUMNS = {"id": "id", "k": "int", "n": "int", "big": "big", "x": "dbl", "p": "dec", "s": "str", "r": "str", "ok": "bool", "d": "date", "ts": "ts", "xs": "ints", "ss": "strs", "sm": "small", "f": "flt", "y": "bin", "nt": "ntz", "m": "map", "st": "struct", "w": "wide"}
LITERALS = {
    "int": ["0", "1", "2", "3", "10", "-1", "CAST(NULL AS INT)", "5Y", "7S"], "id": ["1L", "7L"], "small": ["1S", "-3S", "100Y"], "big": ["0L", "9007199254740993L", "-5L", "CAST(3 AS BIGINT)"], "dbl": ["0.5D", "-3.5D", "0D", "1e3", "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)", "-0.0D", "1.25e-7D"],
    "flt": ["0.1F", "CAST('NaN' AS FLOAT)", "3F"], "dec": ["1.10", "0.05", "-7.5", "100.00", "12.345", "0.0"], "wide": ["12345678901234567890.5", "1.0000000001"], "str": [*TEXT[1:-1].split("|"), "'a'", "'abc'", "''", "NULL::STRING"], "str2": ["'1'", "'-12'", "'7'", "' 3 '"], "str3": ["'a'", "'b'", "'c'"], "strs2": ["array('1', '2')", "array('5', NULL)"],
    "bool": ["true", "false", "NULL::BOOLEAN"], "date": ["DATE'2024-02-29'", "DATE'2025-01-31'", "DATE'1969-12-31'", "DATE'1900-03-01'", "CAST(NULL AS DATE)"], "ts": ["TIMESTAMP'2024-12-31 23:59:59.999999'", "TIMESTAMP'2025-03-30 01:30:00'", "TIMESTAMP'1969-12-31 23:59:59.5'", "NULL::TIMESTAMP", "TIMESTAMP'2025-07-01 00:00:00+02:00'"],
    "ntz": ["TIMESTAMP_NTZ'2025-03-09 02:30:00'", "TIMESTAMP_NTZ'1970-01-01 00:00:00'"], "bin": ["X'41ff'", "X''", "CAST('été' AS BINARY)"], "ints": ["array(3, 1, NULL, 2)", "array()::ARRAY<INT>", "array(1, 1, 2)", "NULL::ARRAY<INT>"], "strs": ["array('b', 'a', NULL)", "array('', 'x')"], "map": ["map('a', 1, 'b', NULL)", "map()::MAP<STRING, INT>"],
    "struct": ["named_struct('a', 1, 'b', 'x')", "NULL::STRUCT<a: INT, b: STRING>"], "ym": ["INTERVAL '2' YEAR", "INTERVAL '-1-1' YEAR TO MONTH"], "dt": ["INTERVAL '1' DAY", "INTERVAL '-1 00:00:00.000001' DAY TO SECOND"],
    "json": [q(t) for t in ['{"a": 1, "b": [1, 2, 3], "c": {"d": 1.5}}', '{"a": "x", "b": "y"}', '[1, {"f": 2}]', '{"e": [{"f": 1}, {"f": "z"}]}', 'bad', '', '{"a": null}', '{"b": true, "a": 12}']],
    "url": [q(t) for t in ["https://u:p@spark.apache.org:8080/a/b.html?q=1&a=x%20y#frag", "http://h/", "ftp://h/p?zz", "no url", "mailto:a@b.c"]],
}
SCALAR = ["int", "str", "date", "ts", "dec", "bool", "dbl", "small", "big", "ntz", "bin", "flt", "wide", "id"]
NESTED = ["ints", "strs", "map", "struct"]
TARGETS = ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10,2)", "DECIMAL(3,0)", "DECIMAL(38,18)", "STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "ARRAY<INT>", "ARRAY<STRING>", "MAP<STRING, INT>", "STRUCT<a: INT, b: STRING>", "INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH", "INTERVAL HOUR", "INTERVAL MONTH"]
KINDS = {"calls": 24, "risky": 14, "casts": 8, "mistyped": 8, "select": 14, "group": 12, "windows": 12, "sets": 8, "lateral": 6, "refused": 3}


class Columns(dict):
    """What a relation gives: its columns by type, and the key that tells its rows apart ([] when there is none)."""

    key = []

    def flat(self):
        return [(ref, kind) for kind, refs in self.items() for ref in refs]


class Queries(Gen):
    def __init__(self, rnd):
        super().__init__(rnd)
        self.tables = 1
        self.names = 0

    # ---------------------------------------------------------------------------------------- data
    def value(self, t):
        r = self.r
        if t == "SMALLINT":
            return r.choice([0, 1, -1, 7, 100, -50])
        if t == "FLOAT":
            return r.choice([0.5, -1.25, 3.0, 0.1, 1e10])
        if t == "BINARY":
            return r.choice(["", "QQ==", "AP8=", "w6k=", "SGVsbG8="])
        if t == "TIMESTAMP_NTZ":
            return super().value("TIMESTAMP")[:-1]
        if t.startswith("MAP"):
            return {name: self.nullable("INT") for name in r.sample(["a", "b", "c", "x"], r.randint(0, 3))}
        if t.startswith("STRUCT"):
            return {"a": self.nullable("INT"), "b": self.nullable("STRING")}
        if t.startswith("DECIMAL(38"):
            return Wide(r.choice(["0", "1.5", "-2.0000000001", "99999999999999999999999999.9999999999", "12345678901234567.25", "-0.3333333333"]))
        return super().value(t)

    def rows(self, n):
        out = []
        for row in super().rows(n):
            row.update({c: self.nullable(t) for c, t in SCHEMA if c not in row and c in ("sm", "f", "y", "nt", "m", "st", "w")})
            out.append({c: row[c] for c, _ in SCHEMA if c in row})
        return out

    # --------------------------------------------------------------------------------- expressions
    def leaf(self, kind, columns):
        r = self.r
        pick = {"num": ["int", "int", "small", "big", "dbl", "dec", "flt"], "any": SCALAR + NESTED, "scalar": SCALAR}.get(kind)
        if pick:
            return self.leaf(r.choice(pick), columns)
        if kind in ("exact", "tiny"):
            names = ("n", "k", "p", "id", "x", "sm") if kind == "exact" else ("n", "k", "sm")
            refs = [c for c, t in columns.flat() if c.split(".")[-1] in names]
            return r.choice(refs) if refs else self.leaf("int", columns)
        refs = columns.get(kind) or (columns.get("str") if kind in ("json", "url") and r.random() < .15 else None)
        if refs and (kind not in LITERALS or r.random() < .75):
            return r.choice(refs)
        return r.choice(LITERALS[kind]) if kind in LITERALS else self.leaf("id", columns)

    def expression(self, kind, columns, depth=1):
        r = self.r
        if kind in ("num", "any", "scalar"):
            kind = r.choice({"num": ["int", "small", "big", "dbl", "dec", "flt"], "any": SCALAR + NESTED, "scalar": SCALAR}[kind])
        calls = [c for c in CALLS.get(kind, []) if c[0] != "!"]
        if depth <= 0 or not calls or r.random() < .15:
            return self.leaf(kind, columns)
        return self.fill(r.choice(calls), columns, depth - 1)

    def fill(self, text, columns, depth):
        """The text with its choices made and its holes filled."""
        text = re.sub("«(.*?)»", lambda m: self.choice(m.group(1)), text)
        some = lambda m: self.expression(m.group(1), columns, depth if self.r.random() < .4 else 0)
        return re.sub(r"\{(\w+)\}", some, text)

    def choice(self, text):
        return self.r.choice([t.replace("\0", "|") for t in text.replace("[|]", "\0").split("|")])

    def shown(self, kind, text):
        """Intervals are shown as text: rows are collected without them."""
        return f"CAST({text} AS STRING)" if kind in ("ym", "dt") else text

    def some_call(self, columns, depth):
        kind = self.r.choice([k for k in CALLS for _ in range(1 + len(CALLS[k]) // 12)])
        return self.shown(kind, self.expression(kind, columns, depth))

    # ----------------------------------------------------------------------------------- relations
    def alias(self):
        self.names += 1
        return f"q{self.names}"

    def table(self, alias=None):
        number = self.r.randint(0, 1)
        self.tables = max(self.tables, number + 1)
        alias = alias or self.alias()
        columns = Columns()
        for name, kind in COLUMNS.items():
            columns.setdefault(kind, []).append(f"{alias}.{name}")
        columns.key = [f"{alias}.id"]
        return f"t{number} {self.r.choice(['', 'AS '])}{alias}", columns

    def derived(self, depth):
        sql, kinds, key = self.select(depth)
        alias = self.alias()
        columns = Columns()
        for i, kind in enumerate(kinds):
            columns.setdefault(kind, []).append(f"{alias}.c{i}")
        columns.key = [f"{alias}.{name}" for name in key]
        return f"({sql}) {alias}", columns

    def relation(self, depth):
        r = self.r
        pick = r.random()
        if depth <= 0 or pick < .4:
            return self.table()
        if pick < .55:
            return self.derived(depth - 1)
        if pick < .62:
            alias = self.alias()
            columns = Columns(int=[f"{alias}.a"], str=[f"{alias}.b"])
            return f"{r.choice(['VALUES', '(VALUES'])} (1, 'a'), (2, NULL), (NULL, 'eu'){{}} {alias}(a, b)", columns
        if pick < .68:
            alias = self.alias()
            columns = Columns(id=[f"{alias}.id"])
            columns.key = [f"{alias}.id"]
            return f"range({r.choice(['4', '1, 9, 3', '5, 1, -2'])}) {alias}", columns
        return self.join(depth)

    def join(self, depth):
        r = self.r
        left, a = self.relation(depth - 1)
        right, b = self.relation(depth - 1)
        left, right = self.closed(left), self.closed(right)
        both = Columns({k: a.get(k, []) + b.get(k, []) for k in {**a, **b}})
        both.key = a.key + b.key if a.key and b.key else []
        kind = r.choice(["JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL OUTER JOIN", "FULL JOIN", "CROSS JOIN", ",", "LEFT SEMI JOIN", "SEMI JOIN", "ANTI JOIN", "LEFT ANTI JOIN"])
        if kind in (",", "CROSS JOIN"):
            return f"{left}{'' if kind == ',' else ' '}{kind} {right}", both
        shared = [k for k in ("int", "str", "date", "id", "bool", "small") if a.get(k) and b.get(k)]
        equal = [f"{r.choice(a[k])} {r.choice(['=', '=', '<=>'])} {r.choice(b[k])}" for k in r.sample(shared, min(len(shared), r.randint(1, 2)))] or ["true"]
        on = r.choice([" AND ".join(equal), " AND ".join(equal) + f" AND {self.expression('bool', both, 1)}", equal[0], f"{equal[0]} OR {self.expression('bool', both, 0)}", self.expression("bool", both, 1)])
        return f"{left} {kind} {right} ON {on}", a if "SEMI" in kind or "ANTI" in kind else both

    def closed(self, sql):
        """VALUES in parentheses or without."""
        return sql.replace("{}", ")" if "(VALUES" in sql else "")

    def source(self, depth):
        """FROM …, with LATERAL VIEW or LATERAL at times."""
        r = self.r
        sql, columns = self.relation(depth)
        sql = self.closed(sql)
        if r.random() < .12:
            alias, kind = self.alias(), r.choice(["ints", "strs", "map"])
            names = {"ints": ["v"], "strs": ["v"], "map": ["mk", "mv"]}[kind]
            call = r.choice(["explode", "explode_outer", "posexplode", "posexplode_outer"]) if kind != "map" else r.choice(["explode", "posexplode_outer"])
            more = ["pos"] if call.startswith("pos") else []
            sql += f" LATERAL VIEW {r.choice(['', 'OUTER '])}{call}({self.expression(kind, columns, 1)}) {alias} AS {', '.join(f'{alias}_{n}' for n in more + names)}"
            columns = self.with_columns(columns, [(f"{alias}.{alias}_{n}", "int" if n in ("pos", "mv") or kind == "ints" else "str") for n in more + names])
        return sql, columns

    def with_columns(self, columns, added):
        both = Columns({k: list(v) for k, v in columns.items()})
        for ref, kind in added:
            both.setdefault(kind, []).append(ref)
        return both

    # ------------------------------------------------------------------------------------- clauses
    def condition(self, columns, depth=1):
        return self.subquery(columns) if self.r.random() < .15 else self.expression("bool", columns, depth)

    def subquery(self, columns):
        """A condition with a subquery, correlated or not."""
        r = self.r
        self.tables = 2
        alias = self.alias()
        outer = self.leaf("int", columns)
        text = self.leaf("str", columns)
        inner = r.choice(["", f" WHERE {alias}.k = {outer}", f" WHERE {alias}.r = {text} AND {alias}.n > 0", f" WHERE {alias}.k = {outer} AND {alias}.r <=> {text}", f" WHERE {alias}.ok"])
        return r.choice([
            f"{r.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM t1 {alias}{inner})", f"{outer} {r.choice(['IN', 'NOT IN'])} (SELECT {alias}.n FROM t1 {alias}{inner})", f"{outer} >= (SELECT {r.choice(['min', 'max', 'count', 'avg'])}({alias}.k) FROM t1 {alias}{inner})",
            f"({outer}, {text}) {r.choice(['IN', 'NOT IN'])} (SELECT {alias}.k, {alias}.r FROM t1 {alias}{inner})", f"(SELECT count(*) FROM t1 {alias}{inner}) {r.choice(['=', '>', '<'])} {r.randint(0, 3)}",
            f"(EXISTS (SELECT * FROM t1 {alias}{inner}) {r.choice(['OR', 'AND'])} {self.expression('bool', columns, 0)})", f"(SELECT max({alias}.s) FROM t1 {alias}{inner}) IS NULL", f"coalesce((SELECT sum({alias}.n) FROM t1 {alias}{inner}), 0) > 5"])

    def where_of(self, columns, p=.4):
        return f" WHERE {self.condition(columns)}" if self.r.random() < p else ""

    def select(self, depth):
        """(SELECT … AS c0, … AS c1 …, the types of its columns, the names of columns that are a key)"""
        r = self.r
        pick = r.random()
        if pick < .25:
            return self.grouped(depth)
        source, columns = self.source(depth)
        if pick < .4 and columns.key:
            return self.windowed(source, columns)
        kinds = [r.choice(SCALAR + NESTED) for _ in range(r.randint(1, 4))]
        items, seen = [], columns
        for i, kind in enumerate(kinds):
            items.append(f"{self.expression(kind, seen, 1)} AS c{i}")
            if r.random() < .15:
                seen = self.with_columns(seen, [(f"c{i}", kind)])
        key = []
        if columns.key and r.random() < .6 and len(columns.key) < 3:
            key = [f"c{len(kinds) + i}" for i in range(len(columns.key))]
            items += [f"{ref} AS {name}" for ref, name in zip(columns.key, key)]
            kinds += ["id"] * len(key)
        distinct = r.choice(["DISTINCT ", "ALL ", "", "", "", "", "", ""])
        if distinct == "DISTINCT " and "map" in kinds and r.random() < .9:
            distinct = ""
        return f"SELECT {distinct}{', '.join(items)} FROM {source}{self.where_of(columns)}", kinds, key

    def grouped(self, depth):
        r = self.r
        source, columns = self.source(min(depth, 0) if r.random() < .6 else depth)
        if not any(c.split(".")[-1] == "id" for c, _ in columns.flat()):
            source, columns = self.table()
        id_ref = [c for c, _ in columns.flat() if c.endswith(".id")][0]
        kinds = [r.choice(["int", "str", "bool", "date", "int", "str", "small", "dec", "ts", "dbl"]) for _ in range(r.randint(0, 3))]
        keys = [self.leaf(k, columns) if r.random() < .6 else self.expression(k, columns, 1) for k in kinds]
        aggregates = [self.aggregate(columns, id_ref) for _ in range(r.randint(1, 3))]
        items = [f"{e} AS c{i}" for i, e in enumerate(keys)] + [f"{a} AS c{len(keys) + i}" for i, a in enumerate(aggregates)]
        listed = r.choice([", ".join(keys), ", ".join(str(i + 1) for i in range(len(keys))), ", ".join(f"c{i}" for i in range(len(keys)))])
        refs = {k.split(".")[-1]: k for k in keys if re.fullmatch(r"\w+\.\w+", k)}
        by = ""
        if keys:
            by = f" GROUP BY {r.choice([listed, listed, 'ALL'])}"
            if len(set(keys)) == len(keys) == len(refs) and r.random() < .5:
                some = f"({', '.join(keys[:2])})"
                by = " GROUP BY " + r.choice([f"ROLLUP({', '.join(keys)})", f"CUBE({', '.join(keys)})", f"GROUPING SETS (({', '.join(keys)}), ({keys[0]}), ())", f"GROUPING SETS ({some}, {keys[-1]}, ())", f"{', '.join(keys)} WITH {r.choice(['ROLLUP', 'CUBE'])}", f"{keys[0]}, ROLLUP({', '.join(keys)})"])
                items.append(f"{r.choice([f'grouping({keys[0]})', 'grouping_id()'])} AS g")
                having = ""
                return f"SELECT {', '.join(items)} FROM {source}{self.where_of(columns, .3)}{by}{having}", kinds + ["?"] * (len(items) - len(keys)), []
        having = r.choice(["", "", "", f" HAVING count(*) {r.choice(['>', '>=', '='])} {r.randint(0, 2)}", f" HAVING {self.fill('max({int}) > {int}', columns, 0)}" if not keys else " HAVING count(*) IS NOT NULL", f" HAVING c{len(keys)} IS NOT NULL"])
        return f"SELECT {', '.join(items)} FROM {source}{self.where_of(columns, .3)}{by}{having}", kinds + ["?"] * len(aggregates), []

    def aggregate(self, columns, id_ref):
        r = self.r
        unique = columns.key == [id_ref]
        texts = [t for t in AGGREGATES if unique or not re.search(r"\bid\b", t)]
        text = re.sub(r"(?<![\w.{])(id|n|k|big|r)(?![\w(])", lambda m: f"{id_ref[:-2]}{m.group(1)}" if f"{id_ref[:-2]}{m.group(1)}" in dict(columns.flat()) else id_ref, r.choice(texts))
        text = self.fill(text, columns, 0)
        if r.random() < .2 and re.fullmatch(r"\w+\((DISTINCT )?[^()]*\)", text):
            text += f" FILTER (WHERE {self.expression('bool', columns, 1)})"
        return text

    def frame(self, ordered_by_key):
        r = self.r
        bound = ["UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "2 FOLLOWING", "UNBOUNDED FOLLOWING"]
        low, high = sorted(r.sample(range(7), 2))
        if r.random() < .1:
            low = high = r.randint(1, 5)
        low, high = min(low, 5), max(high, 1)
        text = f"BETWEEN {bound[low]} AND {bound[high]}" if r.random() < .8 else bound[min(low, 3)]
        return f" {'ROWS' if ordered_by_key and r.random() < .6 else 'RANGE'} {text}"

    def call_over(self, columns):
        """A window function; what depends on the order within equal rows is ordered by the key."""
        r = self.r
        part = r.choice(["", "", f"PARTITION BY {self.leaf('str', columns)} ", f"PARTITION BY {self.leaf('int', columns)}, {self.leaf('bool', columns)} "])
        direction = lambda: r.choice(["", " ASC", " DESC"]) + r.choice(["", "", " NULLS FIRST", " NULLS LAST"])
        key = ", ".join(columns.key)
        total = f"ORDER BY {self.leaf('scalar', columns)}{direction()}, {key}" if r.random() < .5 else f"ORDER BY {key}{r.choice(['', ' DESC'])}"
        loose = f"ORDER BY {self.leaf('scalar', columns)}{direction()}"
        arg = self.leaf("any", columns)
        exact = self.leaf("exact", columns)
        rows = self.frame(True).replace("RANGE", "ROWS")
        calls = [
            f"row_number() OVER ({part}{total})", f"{r.choice(['rank', 'dense_rank', 'percent_rank', 'cume_dist'])}() OVER ({part}{loose})", f"ntile({r.randint(1, 4)}) OVER ({part}{total})",
            f"{r.choice(['lag', 'lead'])}({arg}{r.choice(['', ', 2', ', -1', ', 0'])}) OVER ({part}{total})", f"{r.choice(['lag', 'lead'])}({exact}, 1, {r.choice(['0', 'NULL'])}) OVER ({part}{total})", f"{r.choice(['lag', 'lead'])}({arg}, {r.randint(1, 2)}) IGNORE NULLS OVER ({part}{total})",
            f"{r.choice(['first_value', 'last_value', 'first', 'last', 'any_value'])}({arg}){r.choice(['', ' IGNORE NULLS', ' RESPECT NULLS'])} OVER ({part}{total}{r.choice(['', rows])})", f"nth_value({arg}, {r.randint(1, 3)}){r.choice(['', ' IGNORE NULLS'])} OVER ({part}{total}{rows})",
            f"{r.choice(['sum', 'avg', 'count', 'min', 'max', 'try_sum'])}({exact}) OVER ({part}{total}{r.choice(['', rows])})", f"{r.choice(['sum', 'count', 'min', 'max'])}({exact}) OVER ({part}{loose})", f"{r.choice(['sum', 'avg', 'count', 'max'])}({exact}) OVER ({part.strip()})", f"count(*) OVER ({part}{total}{rows})",
            f"{r.choice(['min', 'max'])}({self.leaf('scalar', columns)}) OVER ({part}{total}{rows})", f"collect_list({self.leaf('scalar', columns)}) OVER ({part}{total}{rows})", f"sort_array(collect_set({self.leaf('scalar', columns)}) OVER ({part}{total}{rows}))", f"count({arg}) FILTER (WHERE {self.leaf('bool', columns)}) OVER ({part}{total})",
            f"sum({exact}) OVER ({part}ORDER BY {self.leaf('int', columns)}{r.choice(['', ' DESC'])}{self.frame(False)})", f"{r.choice(['bool_or', 'every'])}({self.leaf('bool', columns)}) OVER ({part}{total}{rows})", f"max_by({arg}, {columns.key[0]}) OVER ({part}{total}{rows})",
            f"count(*) OVER ({part}ORDER BY {self.leaf('date', columns)} RANGE BETWEEN INTERVAL '{r.randint(1, 30)}' DAY PRECEDING AND {r.choice(['CURRENT ROW', 'INTERVAL 2 DAYS FOLLOWING', 'INTERVAL 1 MONTH FOLLOWING'])})", f"sum({exact}) OVER ({part}ORDER BY {self.leaf('ts', columns)} RANGE BETWEEN INTERVAL '{r.randint(1, 30)}' HOUR PRECEDING AND CURRENT ROW)",
            f"count(*) OVER ({part}ORDER BY {self.leaf('dec', columns)} RANGE BETWEEN 1.5 PRECEDING AND 10 FOLLOWING)", f"count(DISTINCT {exact}) OVER ({part.strip()})", f"round(stddev({self.leaf('tiny', columns)}) OVER ({part.strip()}), 5)", f"bit_xor({self.leaf('int', columns)}) OVER ({part}{total}{rows})"]
        return r.choice(calls)

    def windowed(self, source, columns):
        r = self.r
        calls = [self.call_over(columns) for _ in range(r.randint(1, 3))]
        items = [f"{c} AS c{i}" for i, c in enumerate(calls)]
        key = [f"c{len(calls) + i}" for i in range(len(columns.key))]
        items += [f"{ref} AS {name}" for ref, name in zip(columns.key, key)]
        tail = ""
        if r.random() < .15:
            tail = r.choice([f" QUALIFY row_number() OVER (PARTITION BY {self.leaf('int', columns)} ORDER BY {', '.join(columns.key)}) <= 2", " QUALIFY c0 IS NOT NULL", f" QUALIFY count(*) OVER (PARTITION BY {self.leaf('str', columns)}) > 1"])
        elif r.random() < .15:
            named = f"PARTITION BY {self.leaf('str', columns)} ORDER BY {', '.join(columns.key)}"
            items += ["sum(1) OVER w1 AS v0", r.choice(["max(1) OVER (w2) AS v1", "max(1) OVER w2 AS v1", "row_number() OVER (w1) AS v1"])]
            tail = f" WINDOW w1 AS ({named}), w2 AS {r.choice(['w1', '(w1)'])}"
            return f"SELECT {', '.join(items)} FROM {source}{self.where_of(columns, .2)}{tail}", ["?"] * len(calls) + ["id"] * len(key) + ["?", "?"], []
        return f"SELECT {', '.join(items)} FROM {source}{self.where_of(columns, .2)}{tail}", ["?"] * len(calls) + ["id"] * len(key), key

    def finish(self, sql, kinds):
        """ORDER BY all columns, LIMIT and OFFSET behind a query: (text, ordered?)"""
        r = self.r
        if r.random() < .6 or not kinds or any(k in ("map", "?", "other") for k in kinds):
            return sql, False
        direction = lambda: r.choice(["", " ASC", " DESC"]) + r.choice(["", "", " NULLS FIRST", " NULLS LAST"])
        name = lambda i: r.choice([str(i + 1), f"c{i}"])
        order = list(range(len(kinds)))
        r.shuffle(order)
        sql += " ORDER BY " + (r.choice(["ALL", "ALL DESC NULLS LAST"]) if r.random() < .1 else ", ".join(name(i) + direction() for i in order))
        return sql + r.choice(["", "", " LIMIT 5", " LIMIT 3 OFFSET 2", " OFFSET 4", " LIMIT 0", " LIMIT ALL", " LIMIT 2 + 1"]), True

    # ------------------------------------------------------------------------------------- queries
    def query(self):
        kind = self.r.choices(list(KINDS), KINDS.values())[0]
        sql, ordered = getattr(self, "draw_" + kind)()
        return sql, [kind], ordered, self.tables

    def columns_of_t0(self):
        columns = Columns()
        for name, kind in COLUMNS.items():
            columns.setdefault(kind, []).append(name)
        return columns

    def draw_calls(self):
        columns = self.columns_of_t0()
        items = ", ".join(f"{self.some_call(columns, 2)} AS c{i}" for i in range(self.r.randint(3, 6)))
        return f"SELECT id, {items} FROM t0{self.where_of(columns, .15)}", False

    def draw_risky(self):
        columns = self.columns_of_t0()
        kind = self.r.choice([k for k in CALLS for c in CALLS[k] if c[0] == "!"])
        call = self.fill(self.r.choice([c for c in CALLS[kind] if c[0] == "!"])[1:], columns, 0)
        where = self.r.choice(["", f" WHERE {self.leaf('int', columns)} > 0 AND {self.leaf('any', columns)} IS NOT NULL", f" WHERE id = {self.r.randint(1, 8)}", f" WHERE id = {self.r.randint(1, 8)}"])
        return f"SELECT id, {self.shown(kind, call)} AS c FROM t0{where}", False

    def draw_casts(self):
        r = self.r
        columns = self.columns_of_t0()
        items = []
        verb = r.choice(["CAST", "TRY_CAST", "TRY_CAST"])
        for i in range(1 if verb == "CAST" else 2):
            target, kind = r.choice(TARGETS), r.choice([*COLUMNS.values(), "ym", "dt"])
            text = f"{verb}({self.leaf(kind, columns)} AS {target})"
            items.append(f"{f'CAST({text} AS STRING)' if 'INTERVAL' in target else text} AS c{i}")
        where = r.choice(["", "", f" WHERE id = {r.randint(1, 8)}"])
        return f"SELECT id, {', '.join(items)} FROM t0{where}", False

    def draw_mistyped(self):
        """A call with a hole filled by some other type, or with an argument too many or too few."""
        r = self.r
        columns = self.columns_of_t0()
        kind = r.choice([k for k in CALLS for _ in range(1 + len(CALLS[k]) // 12)])
        text = r.choice(CALLS[kind]).lstrip("!")
        holes = re.findall(r"\{\w+\}", text)
        if holes and r.random() < .8:
            text = text.replace(r.choice(holes), self.leaf(r.choice([*COLUMNS.values(), "ym", "dt"]), columns), 1)
        elif text.endswith(")") and re.match(r"\w+\(", text):
            text = text[:-1] + r.choice([", 1)", ", 'a')", ", NULL)", ", 1, 2)"]) if r.random() < .6 else re.sub(r", [^,()]*\)$", ")", text)
        return f"SELECT id, CAST({self.fill(text, columns, 0)} AS STRING) AS c FROM t0 WHERE id = {r.randint(1, 8)}", False

    def draw_select(self):
        r = self.r
        sql, kinds, _ = self.select(2)
        if r.random() < .15:
            inner, inner_kinds, _ = self.select(1)
            name = r.choice(["a", "cte"])
            sql = f"WITH {name} AS ({inner}), b AS (SELECT * FROM {name}{r.choice(['', ' LIMIT 1000'])}) SELECT count(*) AS c0 FROM {name} JOIN b ON {name}.c0 <=> b.c0"
            return (sql, False) if inner_kinds[0] not in ("map", "?") else (f"WITH {name} AS ({inner}) SELECT * FROM {name}", False)
        if r.random() < .1:
            source, columns = self.table("z")
            dropped = r.sample([c for c, _ in SCHEMA if c not in ("m", "id")], r.randint(1, 4))
            return f"SELECT {r.choice([f'z.* EXCEPT ({dropped[0]})', '* EXCEPT (' + ', '.join(dropped) + ')', 'z.*', 'st.*, z.id', '*, k + 1 AS more'])} FROM {source}{self.where_of(columns)}", False
        return self.finish(sql, kinds)

    def draw_group(self):
        sql, kinds, _ = self.grouped(1)
        return sql, False

    def draw_windows(self):
        source, columns = self.relation(1)
        source = self.closed(source)
        if not columns.key:
            source, columns = self.table()
        sql, _, _ = self.windowed(source, columns)
        return sql, False

    def draw_sets(self):
        r = self.r
        kinds = [r.choice([k for k in SCALAR + ["ints", "struct"] if k != "bin"]) for _ in range(r.randint(1, 3))]
        wider = {"int": ["int", "small", "big", "dec"], "small": ["small", "int"], "dbl": ["dbl", "int", "flt"], "date": ["date", "ts"], "dec": ["dec", "int", "wide"], "flt": ["flt", "dbl"]}
        parts = []
        for _ in range(r.randint(2, 3)):
            source, columns = self.table()
            parts.append("SELECT " + ", ".join(f"{self.expression(r.choice(wider.get(k, [k])), columns, 1)} AS c{i}" for i, k in enumerate(kinds)) + f" FROM {source}{self.where_of(columns)}")
        operator = lambda: r.choice(["UNION", "UNION ALL", "UNION DISTINCT", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL", "MINUS", "EXCEPT DISTINCT"])
        sql = parts[0]
        for part in parts[1:]:
            sql = f"{sql} {operator()} {part}" if r.random() < .7 else f"({sql}) {operator()} ({part})"
        return self.finish(sql, kinds)

    def draw_lateral(self):
        r = self.r
        self.tables = 2
        join = r.choice([", LATERAL", " JOIN LATERAL", " LEFT JOIN LATERAL", " CROSS JOIN LATERAL"])
        on = r.choice(["", " ON true"]) if join in (" JOIN LATERAL", " LEFT JOIN LATERAL") else ""
        columns = self.columns_of_t0()
        generator = r.choice([f"explode({self.expression('ints', columns, 1)})", f"posexplode({self.expression('strs', columns, 1)})", "explode(m)", f"explode_outer({self.expression('ints', columns, 0)})", "inline(array(st, st))", "inline_outer(array(st))", "stack(2, k, n, 1, 2)", "json_tuple('{\"a\": 1, \"b\": [2]}', 'a', 'b', 'c')"])
        if generator == "explode(m)" and on:
            on = ""  # Spark refuses a MAP that a LATERAL generator names before ON
        two = generator.startswith(("pos", "explode(m", "inline", "stack"))
        names = "a, b" if two else "a, b, c" if generator.startswith("json") else "a"
        return r.choice([
            f"SELECT t0.id, g.* FROM t0{join} {generator} AS g({names}){on}",
            f"SELECT id, {generator}{r.choice(['', f' AS ({names})' if ',' in names else ' AS g'])} FROM t0",
            f"SELECT t0.id, {names} FROM t0 LATERAL VIEW {r.choice(['', 'OUTER '])}{generator} g AS {names}{self.where_of(columns, .3)}",
            f"SELECT t0.id, l.* FROM t0{join} (SELECT {r.choice(['max(z.n) AS a', 'count(*) AS a, sum(z.k) AS b', 'z.id AS a'])} FROM t1 z WHERE z.k = t0.k{r.choice(['', ' AND z.r = t0.r', ' AND z.n > 0'])}) l{on}",
            f"SELECT t0.id, l.c FROM t0{join} (SELECT t0.k + 1 AS c) l{on}",
            f"SELECT a.id AS i, b.id AS j, k FROM t0 a {r.choice(['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', 'LEFT SEMI JOIN'])} t1 b USING (k{r.choice(['', ', r'])})".replace("a.id AS i, b.id AS j", "id" if r.random() < .1 else "a.id AS i, b.id AS j"),
            f"SELECT * FROM (SELECT k, r, {self.expression('int', columns, 1)} AS u FROM t0) {r.choice(['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL OUTER JOIN', 'LEFT ANTI JOIN'])} (SELECT k, r, n FROM t1) USING ({r.choice(['k', 'r, k', 'k, r'])})",
            f"SELECT * FROM (SELECT k, s FROM t0) NATURAL {r.choice(['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', 'LEFT SEMI JOIN'])} (SELECT k, d FROM t1)",
            f"SELECT k, count(*) AS c, sum(v) AS s FROM t0 LATERAL VIEW OUTER explode(xs) e AS v GROUP BY {r.choice(['k', 'ALL', '1'])}"]), False

    def draw_refused(self):
        """A query with a mistake made in it."""
        r = self.r
        sql, _, _ = self.select(1)
        mistakes = [lambda t: re.sub(r"\b(q\d+)\.(\w+)", r"\1.no_\2", t, count=1), lambda t: re.sub(r"\b(q\d+)\.", "nope.", t, count=1), lambda t: t.replace(" FROM ", " FROM nowhere, ", 1), lambda t: t.replace("SELECT ", "SELECT sum(id), ", 1), lambda t: t.replace("SELECT ", "SELECT undefined_function(1), ", 1),
                    lambda t: t + " ORDER BY nope", lambda t: t + " ORDER BY 99", lambda t: t + " LIMIT -1", lambda t: t + " LIMIT 'a'", lambda t: t.replace(" WHERE ", " WHERE 1 AND ", 1) if " WHERE " in t else t + " WHERE 1", lambda t: t + " GROUP BY 77", lambda t: t + " UNION SELECT 1, 2, 3, 4, 5, 6, 7, 8", lambda t: t.replace("(", "", 1), lambda t: t.replace(")", "", 1),
                    lambda t: t.replace(" AS ", " AS AS ", 1), lambda t: "SELECT k, max(n) AS c0 FROM t0 GROUP BY k HAVING max(max(n)) > 1", lambda t: t.replace("SELECT ", "SELECT explode(array(1)), explode(array(2)), ", 1), lambda t: t.replace("SELECT ", "SELECT nope.*, ", 1), lambda t: t.replace("SELECT ", "SELECT rank(), ", 1), lambda t: t + " WHERE sum(1) > 0" if " WHERE " not in t else t + " AND sum(1) > 0",
                    lambda t: f"SELECT id FROM t0 WHERE k = ({t})", lambda t: f"SELECT id FROM t0 WHERE k IN ({t})", lambda t: f"SELECT 1 IN (SELECT k, n FROM t0) FROM t0 WHERE EXISTS ({t})", lambda t: t.replace("SELECT ", "SELECT 1 AS c0, 2 AS c0, c0, ", 1)]
        return r.choice(mistakes)(sql), False


class Wide(Dec):
    """A decimal written into JSON as it is."""

    def text(self):
        return self.c


def coverage(binary):
    """Functions that no call here holds."""
    text = " ".join([c for calls in CALLS.values() for c in calls] + AGGREGATES + [open(__file__, encoding="utf8").read()])
    text = re.sub("«(.*?)»", lambda m: m.group(1).replace("[|]", " ").replace("|", " "), text)
    listed = subprocess.run([binary, "functions"], capture_output=True, text=True, check=True).stdout
    names = [m.group(1) for m in re.finditer(r"^  ([a-z]\w*)(?= |$)", listed, re.M)]
    missing = [n for n in names if n not in ELSEWHERE and not re.search(rf"(?<!\w){n}(?!\w)", text, re.I)]
    print(f"{len(names)} functions, {len(names) - len(missing) - len(ELSEWHERE)} drawn, {len(ELSEWHERE)} left out with a reason, {len(missing)} forgotten: {missing}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    parser.add_argument("--count", type=int)
    parser.add_argument("--out")
    parser.add_argument("--coverage")
    options = parser.parse_args()
    if options.coverage:
        return coverage(options.coverage)
    schema = ", ".join(f"{c} {t}" for c, t in SCHEMA)
    for i in range(options.count):
        generator = Queries(random.Random(f"queries/{options.seed}/{i}"))
        sql, tags, ordered, tables = generator.query()
        name = f"q{options.seed}_{i:04d}_{tags[-1]}"
        folder = os.path.join(options.out, name)
        os.makedirs(folder, exist_ok=True)
        inputs = []
        for j in range(tables):
            rows = generator.rows(0 if generator.r.random() < .03 else generator.r.choice([8, 8, 12]))
            with open(os.path.join(folder, f"t{j}.jsonl"), "w", encoding="utf8") as out:
                out.writelines(line(row) for row in rows)
            inputs.append({"name": f"t{j}", "file": f"t{j}.jsonl", "schema": schema})
        with open(os.path.join(folder, "case.json"), "w", encoding="utf8") as out:
            json.dump({"name": name, "seed": options.seed, "tags": tags, "ordered": ordered, "query": sql, "tables": inputs}, out, ensure_ascii=False, indent=1)
            out.write("\n")
    print(f"{options.count} cases")
    return None


if __name__ == "__main__":
    main()
