#!/usr/bin/env python3
"""More random SELECT cases: every clause and function family that gen_cases.py leaves out.

usage: gen_more.py --seed N --count M --out DIR

The same data and the same kind of case folders; spark_oracle.py answers them, compare.py compares. What depends on the order of
evaluation (sums of doubles, collect_list without ORDER BY) is not drawn, or is sorted within the query.
"""
import argparse
import json
import os
import random

from gen_cases import PCT, SCHEMA, Gen, line, q

SIMPLE = ["id", "k", "n", "x", "p", "s", "r", "ok", "d", "ts"]
KINDS = {"joins": 14, "sets": 10, "subqueries": 14, "grouping": 10, "windows": 16, "aggregates": 16, "alias": 6, "order": 8, "values": 4,
         "nested": 6, "lateral": 5, "conditions": 6}


class More(Gen):
    """Adds kinds of queries; expressions come from Gen and from functions()."""

    no_errors = True

    # ------------------------------------------------------------------ functions, one family each
    def functions(self, pre=""):
        r, c = self.r, lambda name: pre + name
        text = lambda: r.choice([c("s"), c("r"), q(r.choice(["a,b,,c", "Hello World", "x1y22z333", "", "été"]))])
        number = lambda: r.choice([c("k"), c("n"), "7", "-3"])
        array = lambda: r.choice([c("xs"), "array(3, 1, NULL, 2)", f"array({c('k')}, {c('n')})"])
        texts = lambda: r.choice([c("ss"), f"array({c('s')}, {c('r')}, 'b')", f"split({c('s')}, '')"])
        date = lambda: r.choice([c("d"), "DATE'2024-02-29'", f"CAST({c('ts')} AS DATE)"])
        time = lambda: r.choice([c("ts"), "TIMESTAMP'2024-12-31 23:59:59.999999'", f"CAST({c('d')} AS TIMESTAMP)"])
        pairs = lambda: r.choice([f"map('a', {c('k')}, 'b', {c('n')})", f"map({c('id')}, {c('s')})", "map(1, 'x', 2, NULL)"])
        families = {
            "higher": lambda: r.choice([
                f"transform({array()}, v -> v * 2)", f"transform({array()}, (v, i) -> coalesce(v, 0) + i)", f"filter({array()}, v -> v > 1)",
                f"exists({array()}, v -> v = {number()})", f"forall({array()}, v -> v IS NULL OR v < 100)",
                f"aggregate({array()}, 0L, (a, v) -> a + coalesce(v, 0))", f"aggregate({array()}, 1L, (a, v) -> a * 2 + coalesce(v, 1), a -> a - 1)",
                f"zip_with({array()}, array(1, 2), (a, b) -> coalesce(a, 0) - b)", f"map_filter({pairs()}, (a, b) -> b IS NOT NULL)",
                f"transform_values(map('a', {c('k')}), (a, b) -> b + 1)", f"transform({texts()}, v -> upper(v) || {text()})",
                f"array_sort({array()}, (a, b) -> CASE WHEN a < b THEN 1 WHEN a > b THEN -1 ELSE 0 END)"]),
            "array": lambda: r.choice([
                f"array_distinct({array()})", f"array_union({array()}, {array()})", f"array_intersect({array()}, {array()})",
                f"array_except({array()}, {array()})", f"array_join({texts()}, '-')", f"array_join({texts()}, '-', '?')", f"array_max({array()})",
                f"array_min({array()})", f"array_position({array()}, 2)", f"array_remove({array()}, 1)", f"array_repeat({number()}, 2)",
                f"arrays_overlap({array()}, {array()})", f"arrays_zip({array()}, {texts()})", f"flatten(array({array()}, {array()}))",
                f"slice({array()}, 1, 2)", f"sort_array({array()}, false)", f"sort_array({texts()})", f"array_compact({array()})",
                f"array_append({array()}, 9)", f"array_prepend({array()}, 9)", f"array_insert({array()}, 2, 8)", f"sequence(1, {r.choice([3, 5])})",
                f"sequence(5, 1, -2)", f"reverse({array()})", f"concat({array()}, {array()})", f"size({array()})", f"cardinality({texts()})",
                f"try_element_at({array()}, {r.choice([1, -1, 9])})", f"get({array()}, 0)", f"array_size({array()})"]),
            "map": lambda: r.choice([
                f"map_keys({pairs()})", f"map_values({pairs()})", f"map_entries({pairs()})", f"map_contains_key(map('a', {c('k')}), 'a')",
                f"map_from_arrays(array('x', 'y'), array({c('k')}, {c('n')}))", f"map_concat(map('a', {c('k')}), map('b', {c('n')}))",
                f"str_to_map({q('a:1,b:2')})", f"element_at(map('a', {c('k')}), 'a')", f"map('a', {c('k')})['b']", f"size({pairs()})"]),
            "struct": lambda: r.choice([
                f"struct({c('k')}, {c('s')})", f"named_struct('a', {c('k')}, 'b', {c('d')})", f"named_struct('a', {c('k')}).a",
                f"struct({c('k')} AS a, array({c('n')}) AS b).b[0]", f"to_json(named_struct('a', {c('k')}, 'b', {c('s')}))"]),
            "json": lambda: r.choice([
                f"to_json(struct({c('id')}, {c('s')}, {c('d')}))", f"to_json({array()})", f"to_json(map('a', {c('n')}))",
                "from_json('{\"a\": 1, \"b\": [1, 2]}', 'a INT, b ARRAY<INT>')", "from_json('{\"a\": \"x\"}', 'a INT')", "from_json('nonsense', 'a INT')",
                f"from_json(concat('{{\"a\":', coalesce({c('k')}, 0), '}}'), 'a BIGINT').a", "get_json_object('{\"a\": {\"b\": [1, 2, 3]}}', '$.a.b[1]')",
                "get_json_object('{\"a\": \"x\"}', '$.a')", "json_array_length('[1, 2, 3]')", "json_object_keys('{\"a\": 1, \"b\": 2}')",
                "schema_of_json('{\"a\": 1, \"b\": [1.5]}')"]),
            "hash": lambda: r.choice([
                f"md5({c('s')})", f"sha1({c('s')})", f"sha2({c('s')}, {r.choice([0, 224, 256, 384, 512])})", f"crc32({c('s')})",
                f"hash({c('k')}, {c('s')})", f"hash({r.choice(SIMPLE)})".replace("(", "(" + pre, 1), f"xxhash64({c('id')}, {c('d')})",
                f"xxhash64({c('x')}, {c('p')}, {c('ts')})", f"hash({c('xs')})"]),
            "text": lambda: r.choice([
                f"regexp_replace({text()}, '[a-z]+', '#')", f"regexp_extract({text()}, '([0-9]+)', 1)", f"regexp_extract_all({text()}, '([0-9])', 1)",
                f"regexp_count({text()}, 'l')", f"regexp_like({text()}, '^[A-Z]')", f"({text()} RLIKE 'o')", f"({text()} ILIKE '%A%')",
                f"levenshtein({text()}, 'abc')", f"soundex({text()})", f"substring_index({text()}, ',', {r.choice([1, -1, 2])})",
                f"overlay({text()} PLACING 'ZZ' FROM 2)", f"position('a' IN {text()})", f"locate('l', {text()}, 3)", f"ltrim({text()})",
                f"rtrim('d', {text()})", f"btrim({text()}, 'H')", f"trim(BOTH 'x' FROM {text()})", f"ascii({text()})", f"char({r.randint(33, 120)})",
                f"hex({text()})", f"unhex('4142')", f"base64(CAST({text()} AS BINARY))", f"encode({text()}, 'UTF-8')", f"decode(encode({text()}, 'UTF-8'), 'UTF-8')",
                f"split({text()}, ',')", f"split({text()}, ',', 2)", f"split_part({text()}, ',', {r.choice([1, 2, -1])})", f"find_in_set('b', 'a,b,c')",
                f"format_string('%s-%d', {text()}, {number()})", f"format_number({c('p')}, {r.choice([0, 1, 2])})", f"bit_length({text()})",
                f"octet_length({text()})", f"char_length({text()})", f"right({text()}, 2)", f"elt(2, {text()}, 'b')", f"space(2) || {text()}",
                f"endswith({text()}, 'd')", f"replace({text()}, 'l')", f"concat_ws('/', {texts()}, {text()})", f"({text()} LIKE ANY ('a%', '%o%'))"]),
            "math": lambda: r.choice([
                f"pmod({number()}, 5)", f"sign({c('x')})", f"power({number()}, 2)", f"cbrt(27.0)", f"exp(0)", f"ln(1)", f"log10(100)", f"log2(8)",
                f"factorial({r.randint(0, 20)})", f"hypot(3, 4)", f"bin({number()})", f"conv('ff', 16, 10)", f"greatest({number()}, {c('x')})",
                f"width_bucket({c('x')}, 0, 100, 5)", f"({number()} & 6)", f"({number()} | 1)", f"({number()} ^ 3)", f"~{c('k')}", f"shiftleft({c('k')}, 2)",
                f"bit_count({c('n')})", f"try_divide({c('n')}, {c('k')})", f"try_add({c('big')}, 1)", f"try_multiply({c('big')}, 2)",
                f"try_subtract({c('big')}, {c('id')})", f"ceil({c('p')}, 1)", f"floor({c('x')}, -1)", f"round({c('p')}, {r.choice([-1, 0, 1])})", f"bround({c('x')}, 1)",
                f"mod({number()}, 3)", f"rint({c('x')})", f"degrees(0)", f"isnan({c('x')})", f"nanvl({c('x')}, 0)", f"positive({c('n')})", f"e()", f"pi()"]),
            "time": lambda: r.choice([
                f"date_format({time()}, {q(r.choice(['yyyy-MM-dd HH:mm:ss.SSS', 'EEE, d MMM yyyy', 'h:mm a', 'DDD', 'yy/M/d']))})",
                f"date_trunc({q(r.choice(['YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'SECOND', 'MILLISECOND']))}, {time()})",
                f"months_between({date()}, {date()})", f"make_timestamp(2025, 1, {r.randint(1, 28)}, 12, 30, 45.5)", f"from_unixtime({r.randint(0, 10**9)})",
                f"unix_timestamp({time()})", f"unix_date({date()})", f"unix_micros({time()})", f"timestamp_millis({r.randint(0, 10**12)})",
                f"date_from_unix_date({r.randint(-1000, 20000)})", f"from_utc_timestamp({time()}, 'Asia/Tokyo')", f"to_utc_timestamp({time()}, 'Europe/Oslo')",
                f"datediff({date()}, {date()})", f"timestampdiff({r.choice(['MONTH', 'DAY', 'HOUR', 'SECOND', 'YEAR'])}, {time()}, {time()})",
                f"timestampadd({r.choice(['MONTH', 'DAY', 'HOUR'])}, {r.choice([1, -1, 40])}, {time()})", f"dayname({date()})", f"monthname({date()})",
                f"extract({r.choice(['DOW', 'DOY', 'WEEK', 'YEAROFWEEK', 'QUARTER', 'DAYOFWEEK_ISO'])} FROM {date()})", f"extract(SECOND FROM {time()})",
                f"date_part('HOUR', {time()})", f"to_timestamp('2025-03-04 05:06:07', 'yyyy-MM-dd HH:mm:ss')", f"to_date('04/03/2025', 'dd/MM/yyyy')",
                f"try_to_timestamp({c('s')}, 'yyyy-MM-dd')", f"CAST(({date()} - {date()}) AS STRING)", f"CAST(({time()} - {time()}) AS STRING)", f"({time()} + INTERVAL '1 02:03:04' DAY TO SECOND)",
                f"({date()} + INTERVAL '1-2' YEAR TO MONTH)", f"CAST(INTERVAL '3' DAY * {c('k')} AS STRING)", f"CAST(make_dt_interval({c('k')}, 2, 3, 4.5) AS STRING)", f"CAST(make_ym_interval(1, {c('k')}) AS STRING)",
                f"extract(HOUR FROM ({time()} - TIMESTAMP'2025-01-01 00:00:00'))", f"trunc({date()}, 'decade')", f"next_day({date()}, 'FRI')",
                f"CAST({time()} AS TIMESTAMP_NTZ)", f"last_day({date()})", f"weekofyear({date()})"]),
            "cast": lambda: r.choice([
                f"CAST({c('x')} AS STRING)", f"CAST({c('p')} AS STRING)", f"CAST({c('xs')} AS STRING)", f"CAST({c('d')} AS TIMESTAMP)", f"TRY_CAST({c('s')} AS {r.choice(['INT', 'DOUBLE', 'DATE', 'BOOLEAN', 'DECIMAL(5,1)', 'TIMESTAMP'])})",
                f"CAST({c('k')} AS {r.choice(['BOOLEAN', 'TINYINT', 'FLOAT', 'DECIMAL(20,5)'])})", f"CAST({c('ts')} AS {r.choice(['BIGINT', 'DOUBLE', 'STRING'])})",
                f"CAST({c('ok')} AS {r.choice(['INT', 'STRING', 'DOUBLE'])})", f"CAST({c('xs')} AS ARRAY<STRING>)", f"CAST(named_struct('a', {c('k')}) AS STRUCT<b: STRING>)",
                f"CAST({c('x')} AS DECIMAL(20,3))", f"CAST({c('p')} AS DOUBLE)", f"typeof({r.choice(SIMPLE)})".replace("(", "(" + pre, 1), f"CAST(map('a', {c('k')}) AS STRING)",
                f"CAST({c('id')} AS STRING)", f"INT({c('x')})", f"{c('k')}::BIGINT"]),
            "condition": lambda: r.choice([
                f"nvl2({c('k')}, 'yes', 'no')", f"ifnull({c('s')}, 'none')", f"nullifzero({c('k')})", f"zeroifnull({c('k')})", f"equal_null({c('k')}, {c('n')})",
                f"decode({c('k')}, 1, 'one', 2, 'two', 'many')", f"CASE {c('r')} WHEN 'eu' THEN 1 WHEN 'us' THEN 2 END", f"({c('k')} IS DISTINCT FROM {c('n')})",
                f"coalesce({c('k')}, {c('x')}, 0)", f"isnull({c('s')})", f"isnotnull({c('d')})"]),
        }
        return families[r.choice(sorted(families))]()

    def item(self, pre=""):
        return self.functions(pre) if self.r.random() < .8 else self.any_expr(self.r.randint(0, 2), pre)

    def items(self, count, pre=""):
        return ", ".join(f"{self.item(pre)} AS c{i}" for i in range(count))

    # ---------------------------------------------------------------------------------- aggregates
    def more_agg(self, pre=""):
        r, c = self.r, lambda name: pre + name
        call = r.choice([
            lambda: f"{r.choice(['MIN', 'MAX'])}({c(r.choice(SIMPLE))})", lambda: f"SUM({c(r.choice(['n', 'p', 'x']))})", lambda: f"AVG({c(r.choice(['n', 'p', 'x']))})",
            lambda: f"SUM(DISTINCT {c(r.choice(['n', 'p']))})", lambda: f"AVG(DISTINCT {c('n')})", lambda: f"COUNT(DISTINCT {c('k')}, {c('r')})",
            lambda: f"bool_and({c('ok')})", lambda: f"bool_or({c('ok')})", lambda: f"every({c('k')} > 0)", lambda: f"bit_and({c('n')})", lambda: f"bit_or({c('n')})", lambda: f"bit_xor({c('n')})",
            lambda: f"min_by({c('s')}, {c('id')})", lambda: f"max_by({c('d')}, {c('id')})", lambda: f"sort_array(collect_list({c('n')}))",
            lambda: f"sort_array(collect_set({c('r')}))", lambda: f"approx_count_distinct({c('k')})", lambda: f"percentile({c('n')}, 0.5)",
            lambda: f"percentile({c('n')}, array(0.25, 0.75))", lambda: f"median({c('n')})", lambda: f"percentile_cont(0.5) WITHIN GROUP (ORDER BY {c('n')})",
            lambda: f"percentile_disc(0.5) WITHIN GROUP (ORDER BY {c('n')})", lambda: f"round(stddev({c('n')}), 6)", lambda: f"round(var_pop({c('n')}), 6)",
            lambda: f"round(corr({c('n')}, {c('k')}), 6)", lambda: f"round(covar_samp({c('n')}, {c('k')}), 6)", lambda: f"round(skewness({c('n')}), 6)", lambda: f"count_if({c('ok')})",
            lambda: f"try_sum({c('big')})", lambda: f"any_value({c('r')}) IS NULL OR true", lambda: f"COUNT({c('s')}) FILTER (WHERE {c('k')} > 1)",
            lambda: f"array_size(array_agg({c('k')}))", lambda: f"listagg({c('r')}, ',') WITHIN GROUP (ORDER BY {c('r')})", lambda: f"COUNT(*) * 2 + MAX({c('id')})"])
        return call()

    # -------------------------------------------------------------------------------------- windows
    def window_call(self):
        r = self.r
        order = r.choice(["id", "id DESC", "k, id", "d NULLS LAST, id", "n DESC NULLS FIRST, id", "ts, id"])
        part = r.choice(["", "PARTITION BY r ", "PARTITION BY k ", "PARTITION BY r, ok "])
        frame = r.choice(["", "", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
                          " ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING", " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"])
        over = f"OVER ({part}ORDER BY {order}{frame})"
        plain = f"OVER ({part}ORDER BY {order})"
        range_over = f"OVER ({part}ORDER BY id RANGE BETWEEN {r.choice([1, 2])} PRECEDING AND {r.choice(['CURRENT ROW', '2 FOLLOWING'])})"
        day_over = f"OVER ({part}ORDER BY d RANGE BETWEEN INTERVAL '3' DAY PRECEDING AND CURRENT ROW)"
        return r.choice([
            f"ROW_NUMBER() {plain}", f"RANK() OVER ({part}ORDER BY k)", f"DENSE_RANK() OVER ({part}ORDER BY k DESC)", f"PERCENT_RANK() OVER ({part}ORDER BY k)",
            f"CUME_DIST() OVER ({part}ORDER BY k)", f"NTILE(3) {plain}", f"LAG(n) {plain}", f"LAG(s, 2, 'none') {plain}", f"LEAD(d) {plain}", f"LEAD(n, 1, 0) {plain}",
            f"SUM(n) {over}", f"COUNT(*) {over}", f"COUNT(s) {over}", f"MIN(n) {over}", f"MAX(d) {over}", f"AVG(p) {over}", f"FIRST_VALUE(s) {over}", f"LAST_VALUE(n) {over}",
            f"NTH_VALUE(n, 2) {over}", f"SUM(n) {range_over}", f"COUNT(*) {day_over}", f"SUM(p) OVER ({part.strip()})", f"MAX(x) OVER ({part.strip()})",
            f"FIRST_VALUE(n) IGNORE NULLS {over}", f"LAST_VALUE(k, true) {over}", f"LAG(k) IGNORE NULLS {plain}", f"collect_list(k) {over}", f"COUNT(n) FILTER (WHERE ok) {over}"])

    # -------------------------------------------------------------------------------------- queries
    def query(self):
        if self.r.random() < .35:
            return f"SELECT id, {self.items(self.r.randint(1, 4))} FROM t0{self.where(p=.3)}", ["functions"], False, 1
        kind = self.r.choices(list(KINDS), KINDS.values())[0]
        sql, ordered, tables = getattr(self, kind)()
        return sql, [kind], ordered, tables

    def conditions(self):
        r = self.r
        where = r.choice([f"NOT ({self.expr('BOOLEAN', 2)})", f"{self.expr('BOOLEAN', 1)} AND {self.expr('BOOLEAN', 1)} OR {self.expr('BOOLEAN', 1)}",
                          f"s LIKE {q(PCT)} OR r IN ('eu', NULL)", "k BETWEEN 1 AND n", "(k, r) IN ((1, 'eu'), (2, 'us'))", "ok IS NOT FALSE AND NOT (k <=> n)"])
        return f"SELECT id FROM t0 WHERE {where}", False, 1

    def joins(self):
        r = self.r
        on = r.choice(["a.k = b.k", "a.id = b.id AND a.n > b.n", "a.k <=> b.k AND a.r = b.r", "a.n < b.n", "a.k = b.k OR a.r = b.r", "upper(a.r) = upper(b.r)", "a.k + 1 = b.k"])
        kind = r.choice(["FULL OUTER JOIN", "RIGHT JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN"])
        columns = f"a.id AS aid, {self.item('a.')} AS c"
        if kind in ("LEFT SEMI JOIN", "LEFT ANTI JOIN"):
            return f"SELECT {columns} FROM t0 a {kind} t1 b ON {on}", False, 2
        if kind == "CROSS JOIN":
            return f"SELECT a.id AS aid, b.id AS bid FROM t0 a, t1 b{r.choice(['', ' WHERE a.k = b.k', ' WHERE a.n > b.n AND a.r = b.r'])}", False, 2
        if r.random() < .2:
            return f"SELECT * FROM (SELECT id, k, r FROM t0) a {kind} (SELECT k, n FROM t1) b USING (k)", False, 2
        if r.random() < .1:
            return f"SELECT * FROM (SELECT k, s FROM t0) NATURAL {kind} (SELECT k, d FROM t1)", False, 2
        if r.random() < .2:
            return f"SELECT a.id, b.id AS b, c.id AS c FROM t0 a {kind} t1 b ON {on} {r.choice(['JOIN', 'LEFT JOIN'])} t0 c ON b.id = c.id", False, 2
        return f"SELECT {columns}, b.id AS bid, b.s AS bs FROM t0 a {kind} t1 b ON {on}", False, 2

    def sets(self):
        r = self.r
        columns = r.choice(["k", "k, r", "r, ok", "n", "d", "xs", "k, NULL AS z"])
        op = lambda: r.choice(["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL", "MINUS"])
        sql = f"SELECT {columns} FROM t0 {op()} SELECT {columns} FROM t1"
        if r.random() < .4:
            sql += f" {op()} SELECT {columns} FROM t0 WHERE id > 3"
        if r.random() < .3:
            sql = f"SELECT * FROM ({sql}) LIMIT 1000"
        return sql, False, 2

    def subqueries(self):
        r = self.r
        return r.choice([
            "SELECT id, (SELECT MAX(n) FROM t1) AS m FROM t0", "SELECT id, (SELECT COUNT(*) FROM t1 b WHERE b.k = a.k) AS c FROM t0 a",
            "SELECT id, (SELECT SUM(b.n) FROM t1 b WHERE b.k = a.k AND b.r = a.r) AS c FROM t0 a", "SELECT id FROM t0 WHERE k IN (SELECT k FROM t1)",
            "SELECT id FROM t0 WHERE k NOT IN (SELECT k FROM t1)", "SELECT id FROM t0 WHERE k NOT IN (SELECT k FROM t1 WHERE k IS NOT NULL)",
            "SELECT id FROM t0 a WHERE EXISTS (SELECT 1 FROM t1 b WHERE b.k = a.k AND b.n > 0)", "SELECT id FROM t0 a WHERE NOT EXISTS (SELECT 1 FROM t1 b WHERE b.r = a.r)",
            "SELECT id, k IN (SELECT k FROM t1) AS z FROM t0", "SELECT id FROM t0 a WHERE n > (SELECT AVG(n) FROM t1 b WHERE b.r = a.r)",
            "SELECT id FROM t0 WHERE (k, r) IN (SELECT k, r FROM t1)", "SELECT id FROM t0 a WHERE EXISTS (SELECT 1 FROM t1 b WHERE b.k = a.k) OR ok",
            "SELECT id, CASE WHEN EXISTS (SELECT 1 FROM t1 b WHERE b.id = a.id AND b.ok) THEN 'y' ELSE 'n' END AS z FROM t0 a",
            "SELECT k, COUNT(*) AS c FROM t0 GROUP BY k HAVING COUNT(*) > (SELECT COUNT(*) / 8 FROM t1)", "SELECT id FROM t0 WHERE n = (SELECT MIN(n) FROM t0)",
            "SELECT id FROM t0 a WHERE k IN (SELECT b.k FROM t1 b WHERE b.r = a.r)", "SELECT id FROM t0 a WHERE k NOT IN (SELECT b.k FROM t1 b WHERE b.r = a.r)",
            "WITH q AS (SELECT k, SUM(n) AS s FROM t1 GROUP BY k) SELECT a.id, (SELECT s FROM q WHERE q.k = a.k) AS v FROM t0 a"]), False, 2

    def grouping(self):
        r = self.r
        by = r.choice(["ROLLUP(k, r)", "CUBE(k, r)", "GROUPING SETS ((k, r), (k), ())", "k, ROLLUP(r, ok)", "GROUPING SETS ((k), (r))", "k, r WITH ROLLUP", "CUBE(r, ok), k"])
        names = [c for c in ("k", "r", "ok") if c in by.replace("GROUPING", "").replace("ROLLUP", "").replace("CUBE", "").replace(",", " ").replace("(", " ").replace(")", " ").split()]
        extra = r.choice(["", ", " + ", ".join(f"grouping({c}) AS g{c}" for c in names), ", grouping_id() AS gid"])
        return f"SELECT {', '.join(names)}{extra}, COUNT(*) AS c, SUM(n) AS s FROM t0{self.where(p=.3)} GROUP BY {by}{r.choice(['', ' HAVING COUNT(*) > 1'])}", False, 1

    def windows(self):
        r = self.r
        calls = ", ".join(f"{self.window_call()} AS w{i}" for i in range(r.randint(1, 3)))
        if r.random() < .15:
            return f"SELECT id, k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY id) AS w FROM t0 QUALIFY w = 1", False, 1
        if r.random() < .15:
            return "SELECT k, SUM(SUM(n)) OVER (ORDER BY k) AS w, RANK() OVER (ORDER BY COUNT(*) DESC, k) AS v FROM t0 GROUP BY k", False, 1
        if r.random() < .15:
            return "SELECT id, SUM(n) OVER w AS a, COUNT(*) OVER (w ROWS UNBOUNDED PRECEDING) AS b FROM t0 WINDOW w AS (PARTITION BY r ORDER BY id)", False, 1
        return f"SELECT id, {calls} FROM t0{self.where(p=.3)}", False, 1

    def aggregates(self):
        r = self.r
        calls = ", ".join(f"{self.more_agg()} AS a{i}" for i in range(r.randint(1, 4)))
        if r.random() < .3:
            return f"SELECT {calls} FROM t0{self.where(p=.5)}", False, 1
        keys = r.sample(["k", "r", "ok", "d", "n % 2", "date_trunc('MONTH', ts)", "s IS NULL", "xs"], r.randint(1, 2))
        selected = ", ".join(f"{key} AS g{i}" for i, key in enumerate(keys))
        return f"SELECT {selected}, {calls} FROM t0{self.where(p=.3)} GROUP BY {', '.join(keys)}", False, 1

    def alias(self):
        return self.r.choice([
            "SELECT k + 1 AS a, a * 2 AS b, b - a AS c FROM t0", "SELECT upper(s) AS u, length(u) AS l, u || l AS z FROM t0",
            "SELECT r, SUM(n) AS t, t * 2 AS u FROM t0 GROUP BY r", "SELECT n AS k, k + 1 AS z FROM t0", "SELECT id AS x1, x1 + 1 AS x2 FROM t0 WHERE id > 2",
            "SELECT COUNT(*) AS c, c + 1 AS d FROM t0"]), False, 1

    def order(self):
        r = self.r
        keys = r.choice(["id", "k NULLS LAST, id", "n DESC, id DESC", "r, id", "2 DESC, 1", "ok DESC NULLS LAST, id", "length(s), id", "abs(n) DESC NULLS FIRST, id"])
        tail = r.choice(["", " LIMIT 5", " LIMIT 3 OFFSET 2", " OFFSET 4", " LIMIT ALL"])
        return f"SELECT id, k, n, r, ok, s FROM t0{self.where(p=.4)} ORDER BY {keys}{tail}", True, 1

    def values(self):
        return self.r.choice([
            "SELECT * FROM VALUES (1, 'a'), (2, NULL), (NULL, 'c') AS v(x, y)", "VALUES (1, 2.5), (3, 4)", "SELECT id, id % 3 AS m FROM range(10)",
            "SELECT * FROM range(1, 10, 3)", "SELECT a.x, t0.id FROM VALUES (1), (2) AS a(x) JOIN t0 ON t0.k = a.x", "SELECT x, COUNT(*) FROM VALUES (1), (1), (NULL) AS v(x) GROUP BY x"]), False, 1

    def nested(self):
        return self.r.choice([
            "SELECT k, collect_list(n) AS l FROM (SELECT * FROM t0 ORDER BY id) GROUP BY k HAVING false",
            "SELECT a.k, a.c, b.c AS d FROM (SELECT k, COUNT(*) AS c FROM t0 GROUP BY k) a FULL JOIN (SELECT k, COUNT(*) AS c FROM t1 GROUP BY k) b ON a.k = b.k",
            "WITH a AS (SELECT k, n FROM t0), b AS (SELECT k, SUM(n) AS s FROM a GROUP BY k) SELECT a.k, a.n, b.s FROM a LEFT JOIN b ON a.k <=> b.k",
            "SELECT DISTINCT r, ok FROM (SELECT r, ok FROM t0 UNION ALL SELECT r, ok FROM t1)", "SELECT MAX(c) AS m FROM (SELECT k, COUNT(*) AS c FROM t0 GROUP BY k)",
            "SELECT * FROM (SELECT k, n, ROW_NUMBER() OVER (PARTITION BY k ORDER BY n, id) AS w FROM t0) WHERE w <= 2"]), False, 2

    def lateral(self):
        return self.r.choice([
            "SELECT a.id, l.m FROM t0 a, LATERAL (SELECT MAX(n) AS m FROM t1 b WHERE b.k = a.k) l", "SELECT id, v FROM t0, LATERAL explode(xs) AS e(v)",
            "SELECT id, inline(array(struct(1, 'a'), struct(2, 'b'))) FROM t0", "SELECT id, stack(2, k, n, 1, 2) AS (a, b) FROM t0",
            "SELECT id, kk, vv FROM t0 LATERAL VIEW explode(map('a', k, 'b', n)) e AS kk, vv", "SELECT id, x1, y1 FROM t0 LATERAL VIEW explode(xs) a AS x1 LATERAL VIEW explode(ss) b AS y1"]), False, 2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--out", required=True)
    options = parser.parse_args()
    schema = ", ".join(f"{c} {t}" for c, t in SCHEMA)
    for i in range(options.count):
        generator = More(random.Random(f"more/{options.seed}/{i}"))
        sql, tags, ordered, tables = generator.query()
        name = f"m{options.seed}_{i:04d}_{tags[-1]}"
        folder = os.path.join(options.out, name)
        os.makedirs(folder, exist_ok=True)
        inputs = []
        for j in range(tables):
            rows = generator.rows(0 if generator.r.random() < .04 else generator.r.choice([8, 12, 20]))
            with open(os.path.join(folder, f"t{j}.jsonl"), "w", encoding="utf8") as out:
                out.writelines(line(row) for row in rows)
            inputs.append({"name": f"t{j}", "file": f"t{j}.jsonl", "schema": schema})
        with open(os.path.join(folder, "case.json"), "w", encoding="utf8") as out:
            json.dump({"name": name, "seed": options.seed, "tags": tags, "ordered": ordered, "query": sql, "tables": inputs}, out, ensure_ascii=False, indent=1)
            out.write("\n")
    print(f"{options.count} cases")


if __name__ == "__main__":
    main()
