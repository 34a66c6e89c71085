#!/usr/bin/env python3
"""A topology that changes between two deployments, by the commands people use: `validate --against-running`, `run
--once`, `refresh [--full]`, `state`. What the definitions mean is tested on the model (unit/run/redefinition.c,
pipeline/redefinition.yaml); here a real broker holds them.

usage: redefinition.py TIDEMARK KAFKA_FOLDER [CASE…]

KAFKA_FOLDER is the --dir of a running `scripts/kafka` cluster. A line a case, `N passed, N failed` last."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KAFKA = os.path.join(ROOT, "scripts", "kafka")
BY_K = "FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME SELECT * FROM STREAM(src)"


class Failed(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Failed(message)


class Pipeline:
    """One pipeline in topics and a folder of its own."""

    def __init__(self, tidemark, kafka_dir, label):
        self.tidemark = os.path.abspath(tidemark)
        self.kafka_dir = kafka_dir
        self.folder = tempfile.mkdtemp(prefix="tidemark-redefinition-")
        self.name = f"redef{os.getpid()}{label}"
        self.bootstrap = self.kafka("bootstrap").strip()
        self.kafka("create", f"{self.name}_src", "2")

    def kafka(self, command, *arguments, text=None):
        done = subprocess.run([KAFKA, command, *arguments, "--dir", self.kafka_dir], capture_output=True, text=True,
                              input=text)
        require(done.returncode == 0, f"{command} {arguments}: {done.stderr}")
        return done.stdout

    def feed(self, *rows):
        self.kafka("produce", f"{self.name}_src",
                   text="".join(json.dumps(dict(zip(("k", "seq", "v"), row))) + "\n" for row in rows))

    def define(self, sql):
        with open(os.path.join(self.folder, "t.yaml"), "w") as file:
            file.write(f"""pipeline: {self.name}
kafka: {{bootstrap: "{self.bootstrap}"}}
state: {{dir: ./state}}
sources:
  src: {{topic: {self.name}_src, columns: "k STRING, seq BIGINT, v INT"}}
tables:
  t: {{topic: {self.name}_t, partitions: 2}}
sql: |
  {sql};
""")

    def call(self, *arguments, code=0, says=""):
        done = subprocess.run([self.tidemark, arguments[0], "t.yaml", *arguments[1:]], capture_output=True, text=True,
                              cwd=self.folder, timeout=120, stdin=subprocess.DEVNULL)
        text = done.stdout + done.stderr
        require(done.returncode == code, f"{arguments}: code {done.returncode} instead of {code}: {text}")
        require(says in text, f"{arguments}: nothing of {says!r} in: {text}")
        return text

    def rows(self):
        """The table as a reader of its topic sees it: its rows by message key."""
        folded = {}
        for line in self.kafka("read", f"{self.name}_t").splitlines():
            fields = line.split("  ")
            if fields[2] == "(tombstone)":
                folded.pop(fields[1], None)
            else:
                folded[fields[1]] = json.loads(fields[2])
        return folded

    def expect(self, expected):
        actual = self.rows()
        require(actual == expected, f"the table is {actual}, not {expected}")

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def columns_come_and_stay(pipeline):
    pipeline.feed(("a", 1, 1), ("b", 1, 2))
    pipeline.define(f"CREATE OR REFRESH STREAMING TABLE t COMMENT 'c' {BY_K}")
    pipeline.call("validate", "--against-running", says="has not run yet")
    pipeline.call("run", "--once")
    pipeline.call("validate", "--against-running", says="t: unchanged")
    pipeline.define("CREATE OR REFRESH STREAMING TABLE t FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME "
                    "SELECT k, CAST(seq AS DECIMAL(20,1)) AS seq, upper(k) AS w FROM STREAM(src)")
    text = pipeline.call("validate", "--against-running", says="t: compatible")
    for part in ("column `v` stays", "column `seq` widens from BIGINT to DECIMAL(20,1)", "column w STRING is new",
                 "no longer there: COMMENT"):
        require(part in text, f"nothing of {part!r} in: {text}")
    pipeline.feed(("b", 2, 3))
    pipeline.call("run", "--once", says="removes: COMMENT")
    pipeline.expect({'{"k":"a"}': {"k": "a", "seq": 1, "v": 1},
                     '{"k":"b"}': {"k": "b", "seq": 2.0, "v": None, "w": "B"}})
    text = pipeline.call("state", "--key", "b", "-o", "json")
    require('"v":null' in text.replace(" ", ""), f"state does not show the column that stays: {text}")
    shutil.rmtree(os.path.join(pipeline.folder, "state"))
    pipeline.feed(("a", 1, 4))
    pipeline.call("run", "--once")
    pipeline.expect({'{"k":"a"}': {"k": "a", "seq": 1, "v": 1},
                     '{"k":"a","_row":1}': {"k": "a", "seq": 1.0, "v": None, "w": "A"},
                     '{"k":"b"}': {"k": "b", "seq": 2.0, "v": None, "w": "B"}})


def other_keys_need_a_full_refresh(pipeline):
    pipeline.feed(("a", 1, 7), ("b", 2, 7), ("c", 3, 8))
    pipeline.define(f"CREATE OR REFRESH STREAMING TABLE t {BY_K}")
    pipeline.call("run", "--once")
    pipeline.define("CREATE OR REFRESH STREAMING TABLE t FLOW REPLACE USING (v) SEQUENCE BY seq BY NAME "
                    "SELECT v, seq FROM STREAM(src)")
    pipeline.call("validate", "--against-running", code=1, says="t: needs a full refresh")
    pipeline.call("run", "--once", code=1, says="refresh T.yaml t --full")
    pipeline.call("refresh", code=1, says="KEY_SCHEMA_DRIFT")
    pipeline.call("refresh", "nobody", "--full", code=1, says="TABLE_OR_VIEW_NOT_FOUND")
    pipeline.call("refresh", "t", "--full", "--dry-run", says="nothing was done")
    require(len(pipeline.rows()) == 3, "a dry run changed the table")
    pipeline.call("refresh", "T", "--full", says="t: 3 records read")
    pipeline.expect({'{"v":7}': {"v": 7, "seq": 2}, '{"v":8}': {"v": 8, "seq": 3}})
    pipeline.call("validate", "--against-running", says="t: unchanged")
    shutil.rmtree(os.path.join(pipeline.folder, "state"))
    pipeline.feed(("d", 4, 8))
    pipeline.call("run", "--once")
    pipeline.expect({'{"v":7}': {"v": 7, "seq": 2}, '{"v":8}': {"v": 8, "seq": 4}})


def a_full_refresh_that_is_forbidden(pipeline):
    pipeline.feed(("a", 1, 7))
    pipeline.define(f"CREATE OR REFRESH STREAMING TABLE t TBLPROPERTIES (pipelines.reset.allowed = 'false') {BY_K}")
    pipeline.call("run", "--once")
    pipeline.call("refresh", "--full", "--yes", code=1, says="RESET_NOT_ALLOWED")
    pipeline.call("refresh", "t", says="t: 0 records read")
    pipeline.expect({'{"k":"a"}': {"k": "a", "seq": 1, "v": 7}})


CASES = [columns_come_and_stay, other_keys_need_a_full_refresh, a_full_refresh_that_is_forbidden]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    passed = failed = 0
    for number, case in enumerate(CASES):
        if sys.argv[3:] and case.__name__ not in sys.argv[3:]:
            continue
        pipeline = Pipeline(sys.argv[1], sys.argv[2], number)
        try:
            case(pipeline)
            passed += 1
            print(f"ok     {case.__name__}", flush=True)
        except Failed as error:
            failed += 1
            print(f"FAILED {case.__name__}: {error}", flush=True)
        finally:
            pipeline.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
