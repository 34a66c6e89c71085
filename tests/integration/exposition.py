"""A strict reader of Prometheus' text format 0.0.4 and of the metric names in PromQL, written from their
documentation (exposition_formats.md, practices/naming) and sharing nothing with the product.

As a program it reads a text from standard input and says what is wrong; `--self-test` checks the reader."""

import math
import re
import sys

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
TYPES = ("counter", "gauge", "histogram", "summary", "untyped")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}


class Malformed(Exception):
    pass


def require(condition, line, message):
    if not condition:
        raise Malformed(f"{message}: {line!r}")


class Family:
    def __init__(self, name):
        self.name, self.help, self.type = name, None, None
        self.samples = []  # (name, {label: value}, value)


def parse_labels(line, at):
    """At the opening brace; gives the labels and the place behind the closing one."""
    labels = {}
    at += 1
    while line[at:at + 1] != "}":
        name = LABEL.match(line, at)
        require(name, line, "a label name is expected")
        at = name.end()
        require(line[at:at + 2] == '="', line, "=\" is expected")
        at += 2
        value = ""
        while line[at:at + 1] != '"':
            require(at < len(line), line, "a label value does not end")
            if line[at] == "\\":
                require(line[at + 1:at + 2] in ("\\", '"', "n"), line, "an unknown escape")
                value += {"\\": "\\", '"': '"', "n": "\n"}[line[at + 1]]
                at += 2
            else:
                value += line[at]
                at += 1
        at += 1
        require(name.group() not in labels, line, "a label twice")
        require(not name.group().startswith("__"), line, "a reserved label")
        labels[name.group()] = value
        if line[at:at + 1] == ",":
            at += 1
            require(line[at:at + 1] != "}", line, "a comma before the end")
        else:
            require(line[at:at + 1] == "}", line, "a comma or } is expected")
    return labels, at + 1


def parse_sample(line):
    name = NAME.match(line)
    require(name, line, "a metric name is expected")
    at, labels = name.end(), {}
    if line[at:at + 1] == "{":
        labels, at = parse_labels(line, at)
    rest = line[at:]
    require(re.fullmatch(r" [^ ]+( -?[0-9]+)?", rest), line, "one value is expected")
    text = rest.split(" ")[1]
    require(re.fullmatch(r"[+-]?(Inf|NaN|[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?)", text), line, "no number")
    return name.group(), labels, float(text)


def family_of(name, families):
    """The family a sample belongs to by its name."""
    if name in families:
        return families[name]
    for suffix in ("_bucket", "_sum", "_count"):
        base = name[:-len(suffix)] if name.endswith(suffix) else ""
        if base in families and suffix in SUFFIXES.get(families[base].type, ()):
            return families[base]
    return None


def parse(text):
    """{name: Family}; Malformed when the text is not as the format wants it."""
    require(text.endswith("\n"), text[-40:], "the last line has no end")
    families, current, seen = {}, None, set()
    for line in text[:-1].split("\n"):
        require(line != "", line, "an empty line")
        if line.startswith("#"):
            comment = re.fullmatch(r"# (HELP|TYPE) ([^ ]+) (.+)", line)
            require(comment, line, "a comment that is neither HELP nor TYPE")
            kind, name, rest = comment.groups()
            require(NAME.fullmatch(name), line, "no metric name")
            if kind == "HELP":
                require(name not in families, line, "a family twice")
                current = families[name] = Family(name)
                current.help = rest
            else:
                require(current is not None and current.name == name, line, "TYPE without its HELP")
                require(current.type is None and not current.samples, line, "TYPE too late")
                require(rest in TYPES, line, "an unknown type")
                current.type = rest
            continue
        name, labels, value = parse_sample(line)
        family = family_of(name, families)
        require(family is not None, line, "a sample of no family")
        require(family is current, line, "a family is torn apart")
        require(family.type is not None, line, "no TYPE")
        key = (name, tuple(sorted(labels.items())))
        require(key not in seen, line, "a series twice")
        seen.add(key)
        family.samples.append((name, labels, value))
    return families


def check_histogram(family):
    series = {}
    for name, labels, value in family.samples:
        rest = tuple(sorted(item for item in labels.items() if item[0] != "le"))
        series.setdefault(rest, {"buckets": [], "other": {}})
        if name.endswith("_bucket"):
            require("le" in labels, name, "a bucket without le")
            series[rest]["buckets"].append((float(labels["le"]), value))
        else:
            require("le" not in labels, name, "le where no bucket is")
            series[rest]["other"][name[len(family.name):]] = value
    for rest, one in series.items():
        bounds = [bound for bound, _ in one["buckets"]]
        counts = [count for _, count in one["buckets"]]
        require(bounds == sorted(set(bounds)) and math.isinf(bounds[-1]), rest, "bounds are not in order up to +Inf")
        require(counts == sorted(counts), rest, "buckets do not cumulate")
        require(one["other"].get("_count") == counts[-1], rest, "_count is not the last bucket")
        require("_sum" in one["other"], rest, "no _sum")


def check_naming(families, prefixes):
    """What Prometheus asks of names: a prefix, base units, _total for counters and for them alone."""
    for name, family in families.items():
        require(name.startswith(prefixes), name, "an unknown prefix")
        require(name == name.lower() and ":" not in name, name, "not lower case, or a colon")
        require((family.type == "counter") == name.endswith("_total"), name, "_total is for counters")
        require(not re.search(r"_(ms|us|ns|millis\w*|micro\w*|minutes|hours|kb|kib|mb|mib|percent)(_|$)", name),
                name, "not a base unit")
        require(len(family.help) > 5 or family.name.endswith("_info"), name, "no help")
        if family.type == "histogram":
            check_histogram(family)
        for sample, labels, value in family.samples:
            if family.type != "gauge":
                require(value >= 0, sample, "a count below 0")
            require(all(LABEL.fullmatch(label) for label in labels), sample, "a label")


# ------------------------------------------------------------------------------- PromQL names ----

WORDS = set("""by without on ignoring group_left group_right and or unless bool offset sum avg min max count topk bottomk
quantile stddev rate irate increase delta histogram_quantile time abs clamp_min clamp_max label_values label_replace changes
vector scalar""".split())


def selectors(expression):
    """[(metric, {label: (operator, value)})] of a PromQL expression, and the labels it groups by."""
    found, grouped = [], set()
    text = expression
    for group in re.finditer(r"\b(?:by|on|without|ignoring)\s*\(([^)]*)\)", text):
        grouped.update(label.strip() for label in group.group(1).split(",") if label.strip())
    bare = re.sub(r"\b(?:by|on|without|ignoring)\s*\([^)]*\)", " ", text)
    bare = re.sub(r"\[[^\]]*\]", " ", bare)
    for match in re.finditer(r"([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\{[^}]*\})?", bare):
        name, braces = match.groups()
        before = bare[:match.start()]
        if name in WORDS or before.count('"') % 2 == 1 or before.count("{") > before.count("}"):
            continue
        labels = {}
        for label, operator, value in re.findall(r'([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*"([^"]*)"', braces or ""):
            labels[label] = (operator, value)
        found.append((name, labels))
    return found, grouped


# --------------------------------------------------------------------------------- self test ----

GOOD = """# HELP a_total Counts something.
# TYPE a_total counter
a_total{x="y \\\\ \\" \\n"} 1
a_total{x="z"} 2.5e+06
# HELP b_seconds Takes some time.
# TYPE b_seconds histogram
b_seconds_bucket{le="0.1"} 1
b_seconds_bucket{le="+Inf"} 2
b_seconds_sum 0.25
b_seconds_count 2
"""
BAD = [
    ("+Inf\"} 2", "+Inf\"} 0"), ("b_seconds_count 2", "b_seconds_count 3"), ("b_seconds_sum 0.25\n", ""),
    ("a_total{x=\"z\"} 2.5e+06", "a_total{x=\"z\"} x"), ("a_total{x=\"z\"}", "a_total{x=\"z\",}"),
    ("a_total{x=\"z\"}", "a_total{x=\"y \\\\ \\\" \\n\"}"), ("# TYPE a_total counter\n", ""), ("{x=\"z\"}", "{x=z}"),
    ("# TYPE a_total counter", "# TYPE a_total gauge"), ("# HELP a_total", "# HELP  a_total"), ("\n# HELP b", "\n\n# HELP b"),
    ("b_seconds_count 2\n", "b_seconds_count 2"), ("b_seconds_count 2\n", "b_seconds_count 2\na_total 1\n"),
    ("{x=\"z\"}", "{x=\"\\z\"}"), ("{x=\"z\"}", "{x=\"z\",x=\"z\"}"), ("b_seconds", "b_ms"), ("{le=\"+Inf\"} 2\n", "{le=\"5\"} 2\n"),
]


def self_test():
    families = parse(GOOD)
    check_naming(families, ("a_", "b_"))
    assert families["a_total"].samples[0] == ("a_total", {"x": 'y \\ " \n'}, 1.0)
    for old, new in BAD:
        assert old in GOOD, old
        text = GOOD.replace(old, new)
        try:
            check_naming(parse(text), ("a_", "b_"))
        except Malformed:
            continue
        raise AssertionError(f"taken although wrong: {old!r} -> {new!r}")
    found, grouped = selectors('histogram_quantile(0.5, sum by (flow, le) (rate(b_bucket{a=~"$x",b="c"}[5m]))) and on (job) d > 3')
    assert found == [("b_bucket", {"a": ("=~", "$x"), "b": ("=", "c")}), ("d", {})], found
    assert grouped == {"flow", "le", "job"}, grouped
    return len(BAD) + 2


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        print(f"{self_test()} passed, 0 failed")
    else:
        check_naming(parse(sys.stdin.read()), ("tidemark_", "process_"))
