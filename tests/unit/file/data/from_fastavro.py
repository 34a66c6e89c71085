#!/usr/bin/env python3
"""Writes all_types_*.avro and all_types.jsonl (needs `pip install fastavro cramjam backports.zstd`). The values of the JSON lines are
written from the same numbers as the records, not read back."""
import datetime
import decimal
import json
import os

import fastavro

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = {"type": "record", "name": "R", "namespace": "x.y", "fields": [
    {"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}, {"name": "i", "type": "int"},
    {"name": "f", "type": "float"}, {"name": "d", "type": "double"}, {"name": "b", "type": "boolean"},
    {"name": "raw", "type": "bytes"}, {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "tu", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
    {"name": "loc", "type": {"type": "long", "logicalType": "local-timestamp-micros"}},
    {"name": "amt", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
    {"name": "fx", "type": {"type": "fixed", "name": "F16", "size": 16, "logicalType": "decimal", "precision": 38,
                            "scale": 0}},
    {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["A", "B"]}}, {"name": "e2", "type": "E"},
    {"name": "arr", "type": {"type": "array", "items": ["null", "int"]}},
    {"name": "m", "type": {"type": "map", "values": "double"}},
    {"name": "s", "type": {"type": "record", "name": "S", "fields": [
        {"name": "p", "type": "int"}, {"name": "q", "type": ["string", "null"]}]}},
    {"name": "u", "type": ["int", "long"]}]}


def times(i):
    utc = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    return (utc + datetime.timedelta(milliseconds=i), utc + datetime.timedelta(microseconds=i),
            datetime.datetime(1969, 12, 31, 12) + datetime.timedelta(microseconds=i))


def record(i):
    ts, tu, loc = times(i)
    return {"id": i, "name": None if i % 7 == 0 else f"n{i}", "i": -i, "f": i / 2, "d": i / 4, "b": i % 2 == 0,
            "raw": bytes([i % 256, 1]), "day": datetime.date(2026, 1, 1) + datetime.timedelta(days=i), "ts": ts,
            "tu": None if i % 5 == 0 else tu, "loc": loc, "amt": decimal.Decimal(i - 25) / 100,
            "fx": decimal.Decimal(-i * 10**20), "e": "AB"[i % 2], "e2": "BA"[i % 2], "arr": [i, None, i + 1][:i % 4],
            "m": {"k": i * 1.0} if i % 3 else {}, "s": {"p": i, "q": None if i % 2 else "x"},
            "u": i if i % 2 else i * 10**10}


def line(row):
    import base64
    out = dict(row)
    stamp = "%Y-%m-%dT%H:%M:%S.%f"
    out["raw"] = base64.b64encode(row["raw"]).decode()
    out["day"] = row["day"].isoformat()
    out["ts"] = row["ts"].strftime(stamp) + "Z"
    out["tu"] = row["tu"] and row["tu"].strftime(stamp) + "Z"
    out["loc"] = row["loc"].strftime(stamp)
    out["amt"] = "AMT"
    out["fx"] = int(row["fx"])
    text = json.dumps(out, separators=(",", ":"))
    return text.replace('"AMT"', f"{row['amt']:.2f}")


rows = [record(i) for i in range(60)]
for codec in ("null", "deflate", "snappy", "zstandard"):
    with open(f"{HERE}/all_types_{codec}.avro", "wb") as out:
        fastavro.writer(out, SCHEMA, rows, codec=codec, sync_interval=1500)
with open(f"{HERE}/all_types.jsonl", "w") as out:
    out.writelines(line(row) + "\n" for row in rows)
