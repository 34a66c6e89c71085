#!/usr/bin/env python3
"""Random scenarios of streaming operations, with the table a model of their own expects.

usage: streaming_model.py --out FILE.yaml [--seed N] [--count M]

The model knows no batches: at each refresh it computes the query over all rows read so far. That is the
rule it tests: batch borders, epochs, restarts, lost state and shards never show in a result. What it keeps of
a refresh is only what the rules let show: the version of the static relation a row met, and how far the stream's
watermark was when a partition got its first row. Rules:
  late       a row whose event time is below the highest of the rows before it in its partition less the delay,
             or below what the stream's watermark was before its partition had rows. Late rows go only where a
             state forgets by the watermark: DISTINCT over the event time, joins with a time range on both sides
  watermark  of a stream: the least of its partitions that have rows, never going back; of a join: of both
  DISTINCT   over the whole stream, NULL = NULL, NaN = NaN, -0.0 = 0.0; LIMIT: so many rows since the flow began
  static     a row meets the version of the refresh that read it
  join       every pair that fulfils the condition; of an outer side also the rows without one: at once where key or
             event time is NULL, else when the watermark reached the full second behind time + reach
  the table  per key the rows of the highest sequence; NULL is lowest
"""
import argparse, json, random

SECOND = 1000000
NONE = -(1 << 70)  # no watermark yet
NOON = 12 * 3600
COLUMNS = [("n", "INT"), ("id", "INT"), ("ts", "TIMESTAMP"), ("v", "INT"), ("t", "STRING"), ("f", "DOUBLE"),
           ("tags", "ARRAY<STRING>"), ("ver", "INT")]
TYPES = dict(COLUMNS)
NAN = float("nan")

# (SQL of one alias `s`, Python on the row): TRUE, FALSE or None.
CONDITIONS = [
    ("{s}.v > 1", lambda r: None if r["v"] is None else r["v"] > 1),
    ("{s}.v IS NULL OR {s}.v <> 2", lambda r: r["v"] is None or r["v"] != 2),
    ("{s}.t <> 'x'", lambda r: None if r["t"] is None else r["t"] != "x"),
    ("{s}.t IN ('x', 'y')", lambda r: None if r["t"] is None else r["t"] in ("x", "y")),
    ("{s}.id IS NOT NULL", lambda r: r["id"] is not None),
]


def same(v):
    """Equal values are equal here: as DISTINCT, keys of the table and <=> see them."""
    if isinstance(v, list):
        return tuple(same(x) for x in v)
    return "NaN" if v != v else v + 0.0 if isinstance(v, float) else v


def time_text(us):
    seconds = us // SECOND
    days, seconds = divmod(seconds, 86400)
    text = f"2026-01-{1 + days:02d} {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return text + (f".{us % SECOND:06d}" if us % SECOND else "")


def written(type_, v):
    if v is None:
        return None
    if type_ == "TIMESTAMP":
        return time_text(v)
    if type_ == "WINDOW":
        return {"start": time_text(v[0]), "end": time_text(v[1])}
    if type_ == "DOUBLE":
        return "NaN" if v != v else repr(v)
    return v


# ------------------------------------------------------------------------------------------ streams

class Stream:
    def __init__(self, rnd, name, delay, parts, style):
        self.rnd, self.name, self.delay, self.parts, self.style = rnd, name, delay, parts, style
        self.clock = [NOON * SECOND] * parts
        self.open_parts = parts  # those that get rows so far
        self.fed = []  # (partition, row) in the order of the topic
        self.forget()

    def forget(self):
        """As before the first refresh, or a full one."""
        self.read = []  # (row, late, static version)
        self.position = 0
        self.highest = {}
        self.watermark = NONE

    def refresh(self, version):
        new = self.fed[self.position:]
        self.position = len(self.fed)
        held = self.watermark
        for partition, _ in new:
            self.highest.setdefault(partition, NONE)
        for partition, row in new:
            late = False
            if row["ts"] is not None and self.delay is not None:
                late = row["ts"] < max(self.highest[partition] - self.delay, held)
                self.highest[partition] = max(self.highest[partition], row["ts"])
            self.read.append((row, late, version))
        if self.highest and self.delay is not None:
            self.watermark = max(held, min(self.highest.values()) - self.delay)

    def draw_time(self, partition):
        rnd = self.rnd
        if rnd.random() < self.style["null_times"]:
            return None
        kind = rnd.random()
        clock = self.clock[partition]
        if kind < 0.45:
            clock += rnd.choice([0, 1, 5, 20, 60, self.style["leap"]]) * SECOND
            self.clock[partition] = clock
            time = clock
        else:
            back = [0, 1, 5, 10, 11, 30, 60, 61, 90, 120]
            if self.delay is not None and self.delay < 86400 * SECOND:
                back += [self.delay // SECOND, self.delay // SECOND + 1]
            time = clock - rnd.choice(back) * SECOND
        return time - time % SECOND + rnd.choice(self.style["fractions"])

    def draw(self, number):
        rnd = self.rnd
        partition = rnd.randrange(self.open_parts)
        zeros = [0.0, -0.0] if self.parts == 1 else [0.0]
        row = {"n": number, "id": rnd.choice([None, 1, 1, 2, 2, 3]), "ts": self.draw_time(partition),
               "v": rnd.choice([None, 1, 2, 3]), "t": rnd.choice([None, "x", "y", ""]),
               "f": rnd.choice([None, NAN, 1.5] + zeros), "tags": rnd.choice([None, [], ["p"], ["p", "q"], ["p", None, "p"]]),
               "ver": rnd.choice([None, 1, 1, 2, 3])}
        if self.fed and rnd.random() < 0.25:  # an equal row again, but for its number
            row = {**rnd.choice(self.fed)[1], "n": number}
        self.fed.append((partition, row))
        return {"row": [written(type_, row[name]) for name, type_ in COLUMNS], "partition": partition}

    def sql(self, alias):
        text = f"STREAM({self.name})"
        if self.delay is not None:
            text += f" WATERMARK ts DELAY OF INTERVAL {self.delay // SECOND} SECONDS"
        return f"{text} AS {alias}"


class Static:
    """Latest value per key; each refresh reads a version of it."""
    COLUMNS = [("k", "INT"), ("c", "STRING"), ("m", "INT")]

    def __init__(self, rnd):
        self.rnd, self.rows = rnd, {}

    def change(self):
        rnd, steps = self.rnd, []
        gone = [k for k in self.rows if rnd.random() < 0.3]
        if gone:
            steps.append({"delete": {"d": [[k] for k in gone]}})
            for k in gone:
                del self.rows[k]
        put = [{"k": k, "c": rnd.choice([None, "red", "blue"]), "m": rnd.choice([None, 1, 2, 3])}
               for k in (1, 2, 3, 4) if rnd.random() < 0.5]
        if put:
            steps.append({"upsert": {"d": [[r["k"], r["c"], r["m"]] for r in put]}})
            self.rows.update({r["k"]: r for r in put})
        return steps

    def version(self):
        return list(self.rows.values())


# ------------------------------------------------------------------------------------------ queries
# A query: .sql(), .columns [(name, type)], .rows() over all that was read.

def equals(a, b):
    return a is not None and b is not None and a == b


STATIC_ON = [
    ("{s}.id = d.k", lambda r, d: equals(r["id"], d["k"])),
    ("d.k = {s}.id AND d.m > 1", lambda r, d: equals(r["id"], d["k"]) and (d["m"] or 0) > 1),
    ("{s}.v = d.m", lambda r, d: equals(r["v"], d["m"])),
    ("{s}.id = d.k AND {s}.v >= d.m", lambda r, d: equals(r["id"], d["k"]) and None not in (r["v"], d["m"]) and r["v"] >= d["m"]),
    ("{s}.v <=> d.m AND {s}.id = d.k", lambda r, d: r["v"] == d["m"] and equals(r["id"], d["k"])),
]


class Branch:
    """SELECT of one stream: filter, static join, generator, window."""

    def __init__(self, rnd, stream, features, drops_late):
        self.rnd, self.stream, self.drops_late = rnd, stream, drops_late
        self.where = rnd.choice(CONDITIONS) if rnd.random() < 0.35 else None
        self.static = rnd.choice(["", "LEFT "]) if "static" in features else None
        self.on = rnd.choice(STATIC_ON)
        self.generator = rnd.choice(["item", "view", "pos", "posview"]) if "explode" in features else None
        self.length = rnd.choice([(10, "10 seconds"), (60, "1 minute"), (300, "5 minutes")]) if "window" in features else None
        self.shift = rnd.random() < 0.3  # v + 1 instead of v

    def extra(self):
        """Columns there are beside the stream's: (name, type, SQL)."""
        out = []
        if self.static is not None:
            out += [("c", "STRING", "d.c"), ("m", "INT", "d.m")]
        if self.generator in ("item", "view"):
            out.append(("tag", "STRING", "explode(s.tags)" if self.generator == "item" else "tag"))
        if self.generator in ("pos", "posview"):
            out += [("p", "INT", None if self.generator == "pos" else "p"), ("tag", "STRING", None if self.generator == "pos" else "tag")]
        if self.length:
            out.append(("w", "WINDOW", f"window(s.ts, '{self.length[1]}')"))
        return out

    def sql(self, names):
        extra = {n: x for n, _, x in self.extra()}
        items = []
        for n in names:
            if n in extra:
                if extra[n] is not None:
                    items.append(f"{extra[n]} AS {n}")
            else:
                items.append("s.v + 1 AS v" if n == "v" and self.shift else f"s.{n}")
        if self.generator == "pos":
            items.append("posexplode(s.tags) AS (p, tag)")
        text = f"SELECT {', '.join(items)} FROM {self.stream.sql('s')}"
        if self.static is not None:
            text += f" {self.static}JOIN d ON {self.on[0].format(s='s')}"
        if self.generator == "view":
            text += " LATERAL VIEW explode(s.tags) e AS tag"
        if self.generator == "posview":
            text += " LATERAL VIEW posexplode(s.tags) e AS p, tag"
        return text + (f" WHERE {self.where[0].format(s='s')}" if self.where else "")

    def rows(self):
        for row, late, version in self.stream.read:
            if late and self.drops_late:
                continue
            if self.where and self.where[1](row) is not True:
                continue
            out = {**row, "v": row["v"] + 1 if self.shift and row["v"] is not None else row["v"]}
            if self.length:
                if row["ts"] is None:  # Spark: a row without a time is in no window
                    continue
                size = self.length[0] * SECOND
                out["w"] = (row["ts"] - row["ts"] % size, row["ts"] - row["ts"] % size + size)
            met = [{}]
            if self.static is not None:
                met = [d for d in version if self.on[1](row, d)] or ([{"c": None, "m": None}] if self.static else [])
            for d in met:
                tags = list(enumerate(row["tags"] or [])) if self.generator else [(0, None)]
                for p, tag in tags:
                    yield {**out, **d, "p": p, "tag": tag}


class Join:
    """Two streams: INNER, LEFT, RIGHT, FULL; low <= b.ts - a.ts <= high, seconds."""

    def __init__(self, rnd, a, b, kind, low, high):
        self.rnd, self.a, self.b, self.kind, self.low, self.high = rnd, a, b, kind, low, high
        self.keys = rnd.choice([["="], ["="], ["=", "="], ["=", "<=>"]])
        self.strict = a.style["fractions"] == [500000] and rnd.random() < 0.7
        self.residual = rnd.choice([None, None, "a.v <= b.v", "a.v <> 3", "b.v <> 3"])
        self.form = rnd.randrange(4)
        self.where = rnd.choice([None, None, None, "b.n IS NULL", "a.v > 1", "a.v IS NULL OR b.v > 1", "b.t = 'x'"])
        self.bounded = low is not None and high is not None and a.delay is not None and b.delay is not None

    def range_sql(self):
        def plus(x, s):
            return x if s == 0 else f"{x} {'+' if s > 0 else '-'} INTERVAL {abs(s)} SECONDS"
        less = "<" if self.strict else "<="
        if self.form == 0 and not self.strict and self.low is not None and self.high is not None:
            return [f"b.ts BETWEEN {plus('a.ts', self.low)} AND {plus('a.ts', self.high)}"]
        out = []
        if self.low is not None:
            out.append([f"b.ts {less.replace('<', '>')} {plus('a.ts', self.low)}", f"{plus('a.ts', self.low)} {less} b.ts",
                        f"a.ts {less} {plus('b.ts', -self.low)}"][self.form % 3])
        if self.high is not None:
            out.append([f"b.ts {less} {plus('a.ts', self.high)}", f"{plus('b.ts', -self.high)} {less} a.ts",
                        f"a.ts {less.replace('<', '>')} {plus('b.ts', -self.high)}"][self.form % 3])
        return out

    def sql(self, items):
        on = [f"a.{n} {op} b.{n}" for n, op in zip(("id", "t"), self.keys)] + self.range_sql()
        if self.residual:
            on.append(self.residual)
        return (f"SELECT {items} FROM {self.a.sql('a')} {self.kind} JOIN {self.b.sql('b')} ON {' AND '.join(on)}" +
                (f" WHERE {self.where}" if self.where else ""))

    def matches(self, a, b):
        for n, op in zip(("id", "t"), self.keys):
            if not (equals(a[n], b[n]) if op == "=" else a[n] == b[n]):
                return False
        if self.low is not None or self.high is not None:
            if a["ts"] is None or b["ts"] is None:
                return False
            apart = b["ts"] - a["ts"]
            edge = 1 if self.strict else 0
            if self.low is not None and apart < self.low * SECOND + edge:
                return False
            if self.high is not None and apart > self.high * SECOND - edge:
                return False
        av, bv = a["v"], b["v"]
        return {None: True, "a.v <= b.v": None not in (av, bv) and (av or 0) <= (bv or 0), "a.v <> 3": av not in (None, 3),
                "b.v <> 3": bv not in (None, 3)}[self.residual]

    def comes_alone(self, row, reach):
        if row["ts"] is None or any(row[n] is None for n, op in zip(("id", "t"), self.keys) if op == "="):
            return True
        due = ((row["ts"] + max(reach, 0) * SECOND) // SECOND + 1) * SECOND
        return min(self.a.watermark, self.b.watermark) >= due

    def joined(self):
        sides = [[r for r, late, _ in s.read if not (late and self.bounded)] for s in (self.a, self.b)]
        nothing = {n: None for n, _ in COLUMNS}
        met = set()
        for a in sides[0]:
            hit = False
            for b in sides[1]:
                if self.matches(a, b):
                    hit = True
                    met.add(id(b))
                    yield a, b
            if not hit and self.kind in ("LEFT", "FULL") and self.comes_alone(a, self.high):
                yield a, nothing
        for b in sides[1]:
            if id(b) not in met and self.kind in ("RIGHT", "FULL") and self.comes_alone(b, -self.low):
                yield nothing, b

    def rows(self):
        for a, b in self.joined():
            av, bv = a["v"], b["v"]
            keep = {None: True, "b.n IS NULL": b["n"] is None, "a.v > 1": (av or 0) > 1,
                    "a.v IS NULL OR b.v > 1": av is None or (bv or 0) > 1, "b.t = 'x'": b["t"] == "x"}[self.where]
            if keep:
                yield {"an": a["n"], "bn": b["n"], "id": a["id"] if a["id"] is not None else b["id"], "ats": a["ts"],
                       "bts": b["ts"], "t": a["t"], "ver": a["ver"] if a["ver"] is not None else b["ver"]}


JOIN_ITEMS = {"an": ("INT", "a.n AS an"), "bn": ("INT", "b.n AS bn"), "id": ("INT", "coalesce(a.id, b.id) AS id"),
              "ats": ("TIMESTAMP", "a.ts AS ats"), "bts": ("TIMESTAMP", "b.ts AS bts"), "t": ("STRING", "a.t"),
              "ver": ("INT", "coalesce(a.ver, b.ver) AS ver")}


# ---------------------------------------------------------------------------------------- scenarios

class Case:
    KINDS = ["union", "union", "distinct", "distinct", "distinct", "static", "static", "window", "limit", "explode",
             "inner", "inner", "outer", "outer", "outer", "outer"]

    def __init__(self, rnd, number):
        self.rnd, self.number, self.rows_fed = rnd, number, 0
        self.kind = self.KINDS[number % len(self.KINDS)]
        self.style = {"null_times": rnd.choice([0, 0.05, 0.15]), "leap": rnd.choice([61, 121, 600]),
                      "fractions": rnd.choice([[0], [500000], [0, 0, 1, 500000, 999999]])}
        self.late_start = rnd.random() < 0.3  # a partition may get its first row after others moved on
        self.static = Static(rnd)
        self.limit, self.distinct, self.version = None, False, []
        getattr(self, "make_" + {"inner": "join", "outer": "join"}.get(self.kind, self.kind))()
        self.draw_table()

    def stream(self, name, delay):
        return Stream(self.rnd, name, delay, self.rnd.choice([1, 1, 2, 3]), self.style)

    def delay(self, chance):
        return self.rnd.choice([5, 10, 30]) * SECOND if self.rnd.random() < chance else None

    def make_branches(self, count, features, distinct):
        rnd = self.rnd
        self.distinct = distinct
        delays = [self.delay(0.5 if count == 1 or not distinct else 0) if "window" not in features else 10 * SECOND for _ in range(count)]
        self.streams = [self.stream(n, d) for n, d in zip("abc", delays)]
        if count > 1 and rnd.random() < 0.15:
            self.streams[1] = self.streams[0]  # one stream in two branches
        self.branches = [Branch(rnd, s, features, False) for s in self.streams]
        for b in self.branches[1:]:
            b.generator = self.branches[0].generator
        for b in self.branches:
            b.shift = b.shift and "window" not in features
        extra = [(n, t) for n, t, _ in self.branches[0].extra()]
        plain = [c for c in COLUMNS if c[0] not in ("tags", "ver")]
        if distinct:
            plain = [c for c in plain if c[0] != "n"]
        chosen = [c for c in plain if rnd.random() < 0.6 or c[0] in ("n", "id")]
        self.columns = chosen + extra + [("ver", "INT")]
        if distinct and any(n == "ts" for n, _ in chosen) and count == 1 and delays[0] is not None:
            self.branches[0].drops_late = True
        names = [n for n, _ in self.columns]
        if self.branches[0].generator == "pos":  # its columns come last
            names = [n for n in names if n not in ("p", "tag")] + ["p", "tag"]
            self.columns = [(n, dict(self.columns)[n]) for n in names]
        head = "SELECT DISTINCT" if distinct else "SELECT"
        texts = [b.sql(names) for b in self.branches]
        if count == 1:
            self.query = texts[0].replace("SELECT", head, 1)
        elif distinct:
            self.query = f"SELECT DISTINCT {', '.join(names)} FROM ({' UNION ALL '.join(texts)}) AS u"
        else:
            self.query = " UNION ALL ".join(texts)
        self.source = lambda: [r for b in self.branches for r in b.rows()]

    def make_union(self):
        features = [f for f in ("static", "explode") if self.rnd.random() < 0.25]
        self.make_branches(self.rnd.choice([2, 2, 3]), features, self.rnd.random() < 0.3)

    def make_distinct(self):
        self.make_branches(1, [f for f in ("static", "explode") if self.rnd.random() < 0.2], True)

    def make_static(self):
        self.make_branches(1, ["static"] + (["explode"] if self.rnd.random() < 0.2 else []), False)

    def make_window(self):
        self.make_branches(1, ["window"], False)

    def make_explode(self):
        self.make_branches(1, ["explode"], False)

    def make_limit(self):
        self.make_branches(self.rnd.choice([1, 1, 2]), ["static"] if self.rnd.random() < 0.2 else [], self.rnd.random() < 0.3)
        self.limit = self.rnd.choice([0, 1, 3, 7, 12])
        if len(self.branches) > 1 and not self.distinct:
            names = ", ".join(n for n, _ in self.columns)
            self.query = f"SELECT {names} FROM ({self.query}) AS u"
        self.query += f" LIMIT {self.limit}"

    def make_join(self):
        rnd = self.rnd
        kind = "INNER" if self.kind == "inner" else rnd.choice(["LEFT", "RIGHT", "FULL"])
        low, high = rnd.choice([(0, 60), (-10, 10), (-60, 0), (0, 0), (-60, -5), (5, 30), (-30, 90)])
        both = kind != "INNER" or rnd.random() < 0.5
        if not both:
            low = high = None
        a = self.stream("a", self.delay(1 if both else 0.3))
        b = self.stream("b", self.delay(1 if both else 0.3))
        self.streams = [a, b]
        if kind == "INNER" and rnd.random() < 0.1:
            self.streams[1] = b = a
        join = Join(rnd, a, b, kind, low, high)
        self.branches = []
        names = list(JOIN_ITEMS)
        self.distinct = rnd.random() < 0.3
        if self.distinct:
            names = [n for n in names if n not in ("an", "bn")] if rnd.random() < 0.5 else ["id", "ats", "ver"]
        self.columns = [(n, JOIN_ITEMS[n][0]) for n in names]
        self.query = join.sql(", ".join(JOIN_ITEMS[n][1] for n in names))
        if self.distinct:
            self.query = self.query.replace("SELECT", "SELECT DISTINCT", 1)
        self.source = lambda: list(join.rows())

    def draw_table(self):
        """The keys of the table; its sequence is `ver`."""
        names = [n for n, _ in self.columns]
        if self.limit is not None:
            self.keys = [n for n in names if n != "ver"] + ["ver"] if self.distinct else ["n"]
            if "w" in self.keys:
                self.keys.remove("w")
            return
        able = [n for n in names if n not in ("ver", "w", "f")]
        unique = [k for k in ("n", "an", "bn") if k in able]
        self.keys = unique if unique and self.rnd.random() < 0.5 else self.rnd.sample(able, self.rnd.choice([1, 1, min(2, len(able))]))

    def statement(self):
        return f"CREATE OR REFRESH STREAMING TABLE t FLOW REPLACE USING ({', '.join(self.keys)}) SEQUENCE BY ver BY NAME {self.query}"

    def refresh(self):
        version = self.static.version()
        for s in {s.name: s for s in self.streams}.values():
            s.refresh(version)

    def result(self):
        names = [n for n, _ in self.columns]
        rows = [[r[n] for n in names] for r in self.source()]
        if self.distinct:
            first = {}
            for r in rows:
                first.setdefault(tuple(same(v) for v in r), r)
            rows = list(first.values())
        return rows

    def table(self):
        names = [n for n, _ in self.columns]
        where, seq = [names.index(k) for k in self.keys], names.index("ver")
        best = {}
        for r in self.result():
            key = tuple(same(r[i]) for i in where)
            rank = (0,) if r[seq] is None else (1, r[seq])
            held = best.setdefault(key, (rank, []))
            if rank > held[0]:
                best[key] = (rank, [r])
            elif rank == held[0]:
                held[1].append(r)
        return [[written(t, v) for (_, t), v in zip(self.columns, r)] for _, rows in best.values() for r in rows]

    def expectation(self):
        if self.limit is None:
            return {"expect": {"t": self.table()}}
        count = min(self.limit, len(self.result()))
        return {"query": {"sql": "SELECT count(*) AS rows FROM t", "rows": [[count]]}}

    def feed(self, first):
        out = {}
        for s in {s.name: s for s in self.streams}.values():
            if not first and self.rnd.random() < 0.3:
                continue
            if self.late_start and s.parts > 1:
                s.open_parts = s.parts - 1 if first else s.rnd.choice([s.open_parts, s.parts])
            records = []
            for _ in range(self.rnd.choice([0, 1, 3, 6, 10])):
                self.rows_fed += 1
                records.append(s.draw(self.rows_fed))
            if first and not self.late_start:
                for p in sorted(set(range(s.parts)) - {q for q, _ in s.fed}):
                    s.rnd, parts = OnePartition(self.rnd, p, s.parts), s.parts
                    self.rows_fed += 1
                    records.append(s.draw(self.rows_fed))
                    s.rnd, s.parts = self.rnd, parts
            if records:
                out[s.name] = records
        return [{"feed": out}] if out else []

    def uses_static(self):
        return any(b.static is not None for b in self.branches)

    def scenario(self):
        steps = self.static.change() if self.uses_static() else []
        steps += self.feed(True) + [{"sql": self.statement()}]
        self.refresh()  # the statement's own
        steps.append(self.expectation())
        for _ in range(self.rnd.randint(2, 6)):
            if self.rnd.random() < 0.15:
                steps.append({"restart": self.rnd.choice([True, {"wipe_state": True}])})
            more = self.feed(False)
            if self.uses_static() and self.rnd.random() < 0.6:
                more = more + self.static.change() if self.rnd.random() < 0.5 else self.static.change() + more
            steps += more
            if self.rnd.random() < 0.08:
                for s in self.streams:
                    s.forget()
                steps.append({"refresh": "t", "full": True})
            else:
                steps.append({"refresh": "t"})
            self.refresh()
            steps.append(self.expectation())
        relations = {s.name: {"kind": "stream", "partitions": s.parts, "columns": [f"{n} {t}" for n, t in COLUMNS]}
                     for s in self.streams}
        if self.uses_static():
            relations["d"] = {"kind": "table", "key": ["k"], "columns": [f"{n} {t}" for n, t in Static.COLUMNS]}
        return {"id": f"streaming-{self.number}", "scenario": f"random {self.kind}", "relations": relations, "steps": steps}


class OnePartition:
    """Draws as the other, but this partition first."""

    def __init__(self, rnd, partition, parts):
        self.rnd, self.partition = rnd, partition

    def __getattr__(self, name):
        return getattr(self.rnd, name)

    def randrange(self, _):
        return self.partition


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    arguments = parser.parse_args()
    cases = [Case(random.Random(arguments.seed * 1000003 + n), n).scenario() for n in range(arguments.count)]
    with open(arguments.out, "w", encoding="utf8") as out:  # JSON is YAML; one scenario a line
        out.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in cases) + "\n]\n")


main()
