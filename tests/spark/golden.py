#!/usr/bin/env python3
"""Runs Apache Spark's own SQL test files through `tidemark query` and compares names, types, rows and errors.

usage: golden.py BINARY FOLDER [--only FILE] [--jobs N] [--verbose] [--list FILE]

FOLDER holds inputs/ and results/ as `tests/spark/fetch` brings them. Only plain queries count (SELECT, VALUES, WITH, FROM, TABLE).
Views and tables that a file makes become a WITH clause of the queries that use them. A pair is skipped by rule, never by name:

    setting     the file or a SET before it changes how Spark works
    relation    it reads a relation that was made in a way unknown here
    syntax      our parser does not know the form (grammar of this project)
    function    our catalog does not know the function
    not yet     we say so

Differences that stand are listed, with the reason, in differences.tsv beside this file; others fail the run.
Prints a line a file and ends with `N passed, N failed, N skipped`.
"""
import argparse
import base64
import collections
import concurrent.futures
import csv
import datetime as dt
import json
import os
import re
import subprocess
import sys
import zoneinfo

HERE = os.path.dirname(os.path.abspath(__file__))
ZONE = "America/Los_Angeles"
QUERY_WORDS = ("select", "values", "with", "from", "table", "(")
# Settings that change nothing here, with the value they must have.
HARMLESS = re.compile(
    r"spark\.sql\.(codegen|optimizer|adaptive|shuffle|autoBroadcast|cbo|execution|crossJoin|legacy\.createHiveTable|join\.|"
    r"ansi\.enabled\s*=\s*true|maxSinglePartition|exchange|requireAllClusterKeys|window)", re.I)

Pair = collections.namedtuple("Pair", "sql schema output number")
Case = collections.namedtuple("Case", "file pair sql skip")


def pairs_of(path):
    with open(path, encoding="utf8", newline="") as file:
        text = file.read()
    blocks = re.split(r"^-- !query\n", text, flags=re.M)[1:]
    pairs = []
    for number, block in enumerate(blocks, 1):
        sql, rest = block.split("\n-- !query schema\n", 1)
        schema, output = rest.split("\n-- !query output\n", 1)
        pairs.append(Pair(sql.strip(), schema.strip(), output.rstrip("\n"), number))
    return pairs


# ------------------------------------------------------------------ relations a file makes

BUILT_IN = {
    "testdata": "SELECT CAST(id AS INT) AS key, CAST(id AS STRING) AS value FROM range(1, 101)",
    "arraydata": "SELECT * FROM VALUES (array(1, 2, 3), array(array(1, 2, 3))), (array(2, 3, 4), array(array(2, 3, 4))) AS x(arraycol, nestedarraycol)",
    "mapdata": "SELECT * FROM VALUES (map(1, 'a1', 2, 'b1', 3, 'c1', 4, 'd1', 5, 'e1')), (map(1, 'a2', 2, 'b2', 3, 'c2', 4, 'd2')), "
               "(map(1, 'a3', 2, 'b3', 3, 'c3')), (map(1, 'a4', 2, 'b4')), (map(1, 'a5')) AS x(mapcol)",
}
UNKNOWN_RELATIONS = {"aggtest", "onek", "tenk1"}  # read from data files of Spark's own


class Relations:
    """Views and tables of one file, as queries."""

    def __init__(self):
        self.queries = dict(BUILT_IN)
        self.tables = {}
        self.unknown = set(UNKNOWN_RELATIONS)
        self.several_schemas = False

    def learn(self, sql):
        flat = strip_comments(sql)
        if re.match(r"(use|create\s+(database|schema))\b", flat, re.I):
            self.several_schemas = True
        for pattern, action in ((VIEW, self.view), (TABLE_AS, self.table_as), (TABLE, self.table), (INSERT, self.insert), (TRUNCATE, self.truncate), (DROP, self.drop)):
            match = pattern.match(flat)
            if match:
                action(match)
                return
        match = re.match(r"(?:create|alter|cache|insert|load)\b.*?\b(?:view|table|into)\s+(?:if\s+not\s+exists\s+)?([\w.`]+)", flat, re.I | re.S)
        if match:
            self.forget(match.group(1))

    def forget(self, name):
        name = name.strip("`").lower()
        self.queries.pop(name, None)
        self.unknown.add(name)

    def put(self, name, query):
        self.unknown.discard(name)
        self.queries[name] = query

    def view(self, match):
        name = match.group("name").strip("`").lower()
        columns = match.group("columns")
        self.tables.pop(name, None)
        if "." in name:
            self.unknown.add(name)
            return
        query = match.group("query")
        self.put(name, f"SELECT * FROM ({query}) AS x{columns}" if columns else query)

    def table_as(self, match):
        self.put(match.group("name").strip("`").lower(), match.group("query"))

    def table(self, match):
        name = match.group("name").strip("`").lower()
        columns = [c.strip().split(None, 1) for c in split_commas(match.group("columns"))]
        if any(len(c) != 2 for c in columns) or re.search(r"\b(char|varchar|default|generated)\b", match.group("columns"), re.I):
            self.forget(name)
            return
        columns = [(c, re.sub(r"\s+(not\s+null|comment\s.*)$", "", t, flags=re.I)) for c, t in columns]
        self.tables[name] = (columns, [])
        self.make_table(name)

    def make_table(self, name):
        columns, sources = self.tables[name]
        # Each INSERT is cast by itself: decimals of several would first be brought to one scale.
        casts = ", ".join(f"CAST(c{i} AS {t}) AS {c}" for i, (c, t) in enumerate(columns))
        if not sources:
            nulls = ", ".join(f"CAST(NULL AS {t}) AS {c}" for c, t in columns)
            self.put(name, f"SELECT {nulls} WHERE false")
            return
        names = ", ".join(f"c{i}" for i in range(len(columns)))
        self.put(name, " UNION ALL ".join(f"SELECT {casts} FROM ({s}) AS s({names})" for s in sources))

    def insert(self, match):
        name = match.group("name").strip("`").lower()
        if name not in self.tables or match.group("columns"):
            self.forget(name)
            return
        if match.group("how").lower() == "overwrite":
            self.tables[name][1].clear()
        self.tables[name][1].append(match.group("query"))
        self.make_table(name)

    def truncate(self, match):
        name = match.group("name").strip("`").lower()
        if name in self.tables:
            self.tables[name][1].clear()
            self.make_table(name)

    def drop(self, match):
        name = match.group("name").strip("`").lower()
        self.queries.pop(name, None)
        self.tables.pop(name, None)
        if name in BUILT_IN:
            self.queries[name] = BUILT_IN[name]

    def used_by(self, sql, seen=None):
        """Names of views the text uses, those they need first."""
        order = []
        seen = set() if seen is None else seen
        words = {w.lower() for w in re.findall(r"[A-Za-z_]\w*", sql)}
        for name in sorted(words & (set(self.queries) | self.unknown) - seen):
            seen.add(name)
            if name in self.queries:
                order += self.used_by(self.queries[name], seen)
            order.append(name)
        return order

    def complete(self, sql):
        """The statement with its views in front; None when one is not known."""
        names = self.used_by(strip_comments(sql))
        if any(n in self.unknown for n in names) or (self.several_schemas and names):
            return None
        flat = strip_comments(sql).lstrip()
        own = {m.lower() for m in re.findall(r"([A-Za-z_]\w*)\s*(?:\([^()]*\)\s*)?as\s*\(", flat, re.I)} if flat[:4].lower() == "with" else set()
        names = [n for n in names if n not in own]
        if not names:
            return flat
        views = ", ".join(f"{n} AS ({self.queries[n]})" for n in names)
        if flat[:4].lower() == "with":
            return f"WITH {views}, {flat[4:].lstrip()}"
        return f"WITH {views}\n{flat}"


VIEW = re.compile(r"create\s+(?:or\s+replace\s+)?(?:global\s+)?(?:local\s+)?(?:temp(?:orary)?\s+)?view\s+(?P<name>[\w.`]+)\s*"
                  r"(?P<columns>\([^()]*\))?\s*as\s+(?P<query>.*)$", re.I | re.S)
TABLE_AS = re.compile(r"create\s+(?:or\s+replace\s+)?table\s+(?P<name>[\w`]+)\s*(?:using\s+\w+\s*)?as\s+(?P<query>.*)$", re.I | re.S)
TABLE = re.compile(r"create\s+(?:or\s+replace\s+)?table\s+(?P<name>[\w`]+)\s*\((?P<columns>.*)\)\s*(?:using\s+\w+)?\s*$", re.I | re.S)
INSERT = re.compile(r"insert\s+(?P<how>into|overwrite)\s+(?:table\s+)?(?P<name>[\w`]+)\s*(?P<columns>\([\w\s,]+\)\s*(?=values|select))?\s*(?P<query>(?:values|select|\().*)$", re.I | re.S)
TRUNCATE = re.compile(r"truncate\s+table\s+(?P<name>[\w`]+)\s*$", re.I)
DROP = re.compile(r"drop\s+(?:view|table)\s+(?:if\s+exists\s+)?(?P<name>[\w`]+)\s*$", re.I)


def strip_comments(sql):
    out, i = [], 0
    while i < len(sql):
        c = sql[i]
        if c in "'\"`":
            end = i + 1
            while end < len(sql) and sql[end] != c:
                end += 2 if sql[end] == "\\" and c != "`" else 1
            out.append(sql[i:end + 1])
            i = end + 1
        elif sql.startswith("--", i):
            end = sql.find("\n", i)
            i = len(sql) if end < 0 else end
        elif sql.startswith("/*", i) and not sql.startswith("/*+", i):
            end = sql.find("*/", i)
            i = len(sql) if end < 0 else end + 2
        else:
            out.append(c)
            i += 1
    return "".join(out).strip()


def split_commas(text):
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "(<") - (c in ")>")
        if c == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += c
    return parts + [current]


# ------------------------------------------------------------------------- cases of a file

def settings_of(path):
    with open(path, encoding="utf8") as file:
        text = file.read()
    return [s for line in re.findall(r"^--SET (.*)$", text, re.M) for s in line.split(",") if not HARMLESS.match(s.strip())]


def cases_of(folder, file):
    relations = Relations()
    changed = bool(settings_of(os.path.join(folder, "inputs", file + ".sql")))
    for pair in pairs_of(os.path.join(folder, "results", file + ".sql.out")):
        flat = strip_comments(pair.sql)
        word = re.match(r"\(|\w+", flat)
        word = word.group(0).lower() if word else ""
        if word == "set":
            match = re.match(r"set\s+(.*)$", flat, re.I | re.S)
            changed = changed or not HARMLESS.match(match.group(1).strip() if match else "")
        elif word == "reset":
            changed = False
        elif word in QUERY_WORDS:
            setting = changed or re.search(r":interval[,>]", pair.schema) is not None  # the old type of intervals
            sql = None if setting else relations.complete(pair.sql)
            yield Case(file, pair, sql, "setting" if setting else "relation" if sql is None else None)
        elif expected_error(pair) is None:
            relations.learn(pair.sql)


# ------------------------------------------------------------ our rows in Spark's own form

class Number(str):
    """A JSON number with its digits."""


def split_type(text):
    match = re.match(r"^(array|map|struct)<(.*)>$", text, re.S)
    return (match.group(1), split_commas(match.group(2))) if match else (text, [])


def local_time(text, utc):
    match = re.match(r"^([+-]?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{6})Z?$", text)
    if utc and 1 <= int(match.group(1)) <= 9999:
        parts = [int(g) for g in match.groups()]
        moment = dt.datetime(*parts, tzinfo=dt.timezone.utc)
        text = moment.astimezone(zoneinfo.ZoneInfo(ZONE)).strftime("%Y-%m-%dT%H:%M:%S.%f")
        text = text if len(text) == 26 else text.rjust(26, "0")
    text = text.rstrip("Z").replace("T", " ")
    return re.sub(r"\.?0+$", "", text) if "." in text else text


def interval(text, kind):
    """INTERVAL '1-2' YEAR TO MONTH -> 1-2, INTERVAL '3 04' DAY TO HOUR -> 3 04:00:00.000000000"""
    match = re.match(r"INTERVAL '([^']*)' (\w+)(?: TO (\w+))?$", text)
    value, first = match.group(1), match.group(2)
    sign = "-" if value.startswith("-") else ""
    value = value.lstrip("+-")
    if first in ("YEAR", "MONTH"):
        parts = value.split("-") if match.group(3) else ([value, "0"] if first == "YEAR" else ["0", value])
        months = int(parts[0]) * 12 + int(parts[1])
        return f"{sign}{months // 12}-{months % 12}"
    days, rest = value.split(" ") if " " in value else ((value, "") if first == "DAY" else ("0", value))
    fields = rest.split(":") if rest else []
    order = ["HOUR", "MINUTE", "SECOND"]
    at = {"DAY": 0, "HOUR": 0, "MINUTE": 1, "SECOND": 2}[first]
    seconds = dict.fromkeys(order, "0")
    for name, field in zip(order[at:], fields):
        seconds[name] = field
    whole, _, fraction = seconds["SECOND"].partition(".")
    total = int(seconds["HOUR"]) * 3600 + int(seconds["MINUTE"]) * 60 + int(whole)
    return (f"{sign}{int(days) + total // 86400} {total % 86400 // 3600:02d}:{total % 3600 // 60:02d}:{total % 60:02d}."
            f"{fraction.ljust(9, '0')}")


def shown(value, kind, nested=False):
    if value is None:
        return "null" if nested else "NULL"
    base, inner = split_type(kind)
    if base == "array":
        return "[" + ",".join(shown(v, inner[0], True) for v in value) + "]"
    if base == "struct":
        pairs = value if isinstance(value, list) else list(value.items())
        fields = [f.split(":", 1) for f in inner]
        return "{" + ",".join(f'"{n}":{shown(v, t, True)}' for (n, t), (_, v) in zip(fields, pairs)) + "}"
    if base == "map":
        pairs = [(p[0], p[1]) for p in value]
        return "{" + ",".join(sorted(f"{shown(k, inner[0], True)}:{shown(v, inner[1], True)}" for k, v in pairs)) + "}"
    if base.startswith("interval"):
        return interval(value, base)
    if base == "timestamp":
        return local_time(value, True)
    if base == "timestamp_ntz":
        return local_time(value, False)
    if base == "binary":
        text = base64.b64decode(value).decode("utf8", "replace")
        return text
    if base == "boolean":
        return "true" if value else "false"
    if base == "string":
        return f'"{value}"' if nested else value
    return str(value)


TYPE = re.compile(r":(array<|map<|struct<|(?:void|boolean|tinyint|smallint|int|bigint|float|double|decimal\(\d+,\d+\)|string|binary|date|"
                  r"timestamp_ntz|timestamp|interval [a-z ]+?|variant)(?=,|$))")


def split_fields(schema):
    """(name, type) of struct<name:type,…>, whose names may hold any characters."""
    text = schema[len("struct<"):-1]
    fields, start, i = [], 0, 0
    while i < len(text):
        match = TYPE.match(text, i)
        if not match:
            i += 1
            continue
        end = match.end()
        if match.group(1).endswith("<"):
            depth = 1
            while depth > 0 and end < len(text):
                depth += (text[end] == "<") - (text[end] == ">")
                end += 1
        if end == len(text) or text[end] == ",":
            fields.append((text[start:i], text[i + 1:end]))
            start = i = end + 1
        else:
            i += 1
    return fields


def rows_text(lines, types):
    rows = []
    for line in lines:
        row = json.loads(line, object_pairs_hook=lambda p: p, parse_int=Number, parse_float=Number)
        rows.append("\t".join(shown(v, t) for (_, v), t in zip(row, types)))
    return rows


# ------------------------------------------------------------------------------ comparison

def is_ordered(sql):
    flat = strip_comments(sql)
    depth, tail = 0, ""
    for c in flat:
        depth += (c == "(") - (c == ")")
        tail += c if depth == 0 else " "
    return re.search(r"\border\s+by\b", tail, re.I) is not None  # SORT BY sorts parts, Spark's test sorts its rows again


def lines_of(text):
    """Spark's files show expression numbers, #12, as #x, wherever such text stands."""
    return [re.sub(r"#\d+", "#x", line.rstrip()) for line in text.split("\n")]


def expected_error(pair):
    if pair.schema != "struct<>" or not re.match(r"^[\w.$]+(Exception|Error)\b", pair.output):
        return None
    match = re.search(r"\{.*\}", pair.output, re.S)
    try:
        found = json.loads(match.group(0)) if match else {}
    except ValueError:
        found = {}
    return found.get("errorClass") or "", found.get("sqlState") or ""


def our_error(stderr):
    match = re.search(r"\[([A-Z][A-Z0-9_.]+)\]", stderr)
    state = re.search(r"SQLSTATE: (\w+)", stderr)
    return match.group(1) if match else "", state.group(1) if state else ""


def cut_schema(text):
    """The first line, whose names may hold line breaks, and the rows."""
    match = re.match(r"(struct<.*?>)\n(?=\{|$(?!\n))", text, re.S)
    return match.group(1), text[match.end():].split("\n")[:-1]


def judge(case, done):
    """(verdict, what is seen): equal, different, or skipped for a reason."""
    wanted = expected_error(case.pair)
    if done.returncode != 0:
        name, state = our_error(done.stderr)
        if name == "NOT_YET":
            return "not yet", done.stderr.split("\n")[0]
        if wanted is not None:
            same = wanted[0] == name and (not wanted[1] or wanted[1] == state) or wanted[0] == "" or wanted[0].startswith("_LEGACY")
            return ("equal", "") if same else ("different", f"[{name}] {state}, Spark says [{wanted[0]}] {wanted[1]}")
        if name in ("UNRESOLVED_ROUTINE", "UNRESOLVABLE_TABLE_VALUED_FUNCTION"):
            return "function", done.stderr.split("\n")[0]
        if name in ("PARSE_SYNTAX_ERROR", "UNSUPPORTED_CLAUSE", "UNSUPPORTED_FEATURE", "UNSUPPORTED_TYPED_LITERAL"):
            return "syntax", done.stderr.split("\n")[0]
        return "different", done.stderr.split("\n")[0] or f"exit {done.returncode}"
    if wanted is not None:
        return "different", f"no error, Spark says [{wanted[0]}]"
    schema, lines = cut_schema(done.stdout)
    if schema != case.pair.schema:
        return "different", f"{schema}, Spark has {case.pair.schema}"
    try:
        rows = rows_text(lines, [t for _, t in split_fields(schema)])
    except Exception as error:  # what cannot be shown in Spark's form is a difference to look at
        return "different", f"cannot be shown: {error!r}"
    mine, theirs = lines_of("\n".join(rows)), lines_of(case.pair.output)
    if mine == theirs or (not is_ordered(case.pair.sql) and sorted(mine) == sorted(theirs)):
        return "equal", ""
    return "different", f"rows {rows[:4]}, Spark has {theirs[:4]}"


def run(binary, case):
    if case.skip:
        return case.skip, ""
    try:
        done = subprocess.run([binary, "query", "--schema", "-o", "jsonl", "--time-zone", ZONE, case.sql], capture_output=True,
                              timeout=60, stdin=subprocess.DEVNULL, check=False)
        done.stdout, done.stderr = done.stdout.decode("utf8"), done.stderr.decode("utf8")  # no change of line ends
    except subprocess.TimeoutExpired:
        return "different", "no answer in 60 s"
    return judge(case, done)


def known_differences():
    path = os.path.join(HERE, "differences.tsv")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf8") as lines:
        return {(r["file"], int(r["pair"])): r["reason"] for r in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("folder")
    parser.add_argument("--only")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", action="store_true", help="skipped pairs too")
    parser.add_argument("--list", help="write every pair's verdict there, tab-separated")
    options = parser.parse_args()
    with open(os.path.join(HERE, "INDEX.tsv"), encoding="utf8") as index:
        files = [row["file"] for row in csv.DictReader(index, delimiter="\t")]
    files = [f for f in files if options.only is None or f == options.only]
    known, total, failed, listed = known_differences(), collections.Counter(), 0, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for file in files:
            cases = list(cases_of(options.folder, file))
            verdicts = list(pool.map(lambda c: run(options.binary, c), cases))
            count = collections.Counter(v for v, _ in verdicts)
            total += count
            print(f"{file}: {count['equal']} equal, {count['different']} different, "
                  f"{len(cases) - count['equal'] - count['different']} skipped", flush=True)
            for case, (verdict, seen) in zip(cases, verdicts):
                reason = known.pop((file, case.pair.number), None)
                listed.append((file, case.pair.number, verdict, seen, " ".join(case.pair.sql.split())))
                if verdict == "different" and reason is None:
                    failed += 1
                if (verdict == "different" and reason is None) or (options.verbose and verdict != "equal"):
                    print(f"  {case.pair.number} {verdict}: {seen}\n    {' '.join(case.pair.sql.split())[:300]}")
    if options.list:
        with open(options.list, "w", encoding="utf8") as out:
            for row in listed:
                out.write("\t".join(str(c).replace("\t", " ").replace("\n", " ") for c in row) + "\n")
    run_count = total["equal"] + total["different"]
    skipped = sum(total.values()) - run_count
    print(f"{sum(total.values())} plain queries: {run_count} run, {total['equal']} equal, {total['different']} different "
          f"({total['different'] - failed} of them explained); skipped: "
          + ", ".join(f"{n} {k}" for k, n in sorted(total.items()) if k not in ("equal", "different")))
    if sum(total.values()):
        print(f"{100 * run_count / sum(total.values()):.1f} % run, {100 * total['equal'] / max(run_count, 1):.1f} % of those equal")
    print(f"{run_count - failed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
