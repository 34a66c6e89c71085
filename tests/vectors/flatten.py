#!/usr/bin/env python3
"""Writes the vectors of this folder as flat/*.txt, which the C tests read (tests/support/vectors.h).

Run it after a change of a *.yaml; needs PyYAML. One block a vector or relation:

    == ST-A01
    kind sql                      sql, expr, python, json, or relation
    expect accept                 or: reject <reason>
    stage analyze                 parse, analyze, run; absent when accepted
    error UNRESOLVED_COLUMN
    context pipeline              standalone, pipeline; absent = either
    parse_only                    names are placeholders
    session user=bob              path of keys joined by '/', value; '~' = null, '{}' = empty map
    column day=date               of relations, with relation=stream|table|target|function, owner=
    text
      the text, two blanks before each line
    .

The SQL of scenario steps (20_scenarios.yaml) becomes parse_only vectors S-RU-1/1, S-RU-1/2 …
"""
import json
import pathlib
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent


class Loader(yaml.SafeLoader):
    """Scalars stay text (1.10, NO, dates); true and false, and null, are read as such."""


Loader.yaml_implicit_resolvers = {}
for words, tag in ((("true", "false"), "bool"), (("null", "~"), "null")):
    for word in words:
        Loader.add_implicit_resolver(
            f"tag:yaml.org,2002:{tag}", __import__("re").compile(f"^(?:{word})$"), [word[0]])


def session_lines(value, path=()):
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from session_lines(inner, path + (str(key),))
        return
    if value is None:
        text = "~"
    elif isinstance(value, dict):
        text = "{}"
    elif isinstance(value, bool):
        text = "true" if value else "false"
    else:
        text = value if isinstance(value, str) else json.dumps(value)
    yield f"session {'/'.join(path)}={text}"


def text_lines(text):
    yield "text"
    for line in text.rstrip("\n").split("\n"):
        yield "  " + line
    yield "."


def vector_lines(vector):
    kind = next((k for k in ("sql", "expr", "python", "json") if k in vector), None)
    if kind is None:
        return
    yield f"== {vector['id']}"
    yield f"kind {kind}"
    expect = vector["expect"]
    yield "expect accept" if expect == "accept" else "expect reject " + expect.split(":", 1)[1].strip()
    for key in ("stage", "error", "context"):
        if key in vector:
            yield f"{key} {vector[key]}"
    if vector.get("parse_only"):
        yield "parse_only"
    yield from session_lines(vector["session"]) if "session" in vector else ()
    text = vector[kind]
    yield from text_lines(text if isinstance(text, str) else json.dumps(text))


def relation_lines(relation):
    yield f"== {relation['name']}"
    yield "kind relation"
    yield f"relation {relation['kind']}"
    if "owner" in relation:
        yield f"owner {relation['owner']}"
    for name, data_type in relation.get("columns", {}).items():
        yield f"column {name}={data_type}"


def scenario_lines(scenario):
    steps = scenario["steps"]
    number = 0
    for step in steps:
        if "sql" not in step:
            continue
        number += 1
        yield from vector_lines({"id": f"{scenario['id']}/{number}", "sql": step["sql"],
                                 "expect": "accept", "parse_only": True})


def block_lines(entry):
    if "steps" in entry:
        return scenario_lines(entry)
    if "expect" in entry:
        return vector_lines(entry)
    return relation_lines(entry)


def main():
    out = HERE / "flat"
    out.mkdir(exist_ok=True)
    for path in sorted(HERE.glob("*.yaml")):
        entries = yaml.load(path.read_text(encoding="utf-8"), Loader=Loader)
        lines = [line for entry in entries for line in block_lines(entry)]
        (out / (path.stem + ".txt")).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
