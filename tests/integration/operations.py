#!/usr/bin/env python3
"""What operators use, on a running service: /metrics (read strictly), /healthz, /readyz, the log level, `tidemark
state`, systemd's notifications and unit, the Grafana dashboard, alert rules and README against the metrics there are.

usage: operations.py TIDEMARK KAFKA_FOLDER [CASE…]

KAFKA_FOLDER is the --dir of a running `scripts/kafka` cluster. A line a case, `N passed, N failed` last."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import exposition  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KAFKA = os.path.join(ROOT, "scripts", "kafka")
OPERATIONS = os.path.join(ROOT, "config", "operations")
PATIENCE_S = 60


class Failed(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Failed(message)


def wait_for(what, ask):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.05)
    raise Failed(f"never: {what}")


class Service:
    """One `tidemark run`; its log is read from a file."""

    def __init__(self, world, topology, **environment):
        self.log_path = os.path.join(world.folder, f"log-{time.monotonic_ns()}")
        self.log_file = open(self.log_path, "w")
        self.process = subprocess.Popen([world.tidemark, "run", topology], stdout=self.log_file, stderr=self.log_file,
                                        cwd=world.folder, env={**os.environ, **environment})

    def log(self):
        with open(self.log_path) as text:
            return text.read()

    def url(self):
        def look():
            found = re.search(r"API at (http://[^ :]+:\d+)", self.log())
            require(found or self.process.poll() is None, f"the service ended: {self.log()}")
            return found

        return wait_for("the address of the API in the log", look).group(1)

    def get(self, path, method="GET", body=None):
        """Status and text."""
        request = urllib.request.Request(self.url() + path, method=method, data=body)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metrics(self):
        status, text = self.get("/metrics")
        require(status == 200, f"/metrics: {status}")
        families = exposition.parse(text)
        exposition.check_naming(families, ("tidemark_", "process_"))
        return families

    def value(self, name, **labels):
        families = self.metrics()
        family = exposition.family_of(name, families)
        require(family is not None, f"no metric {name}")
        found = [value for sample, have, value in family.samples
                 if sample == name and all(have.get(label) == wanted for label, wanted in labels.items())]
        require(len(found) == 1, f"{len(found)} series of {name} {labels}")
        return found[0]

    def is_ready(self):
        return self.get("/readyz")[0] == 200

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=10)
        self.log_file.close()
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log_file.close()


class World:
    def __init__(self, tidemark, kafka_dir):
        self.tidemark = os.path.abspath(tidemark)
        self.kafka_dir = kafka_dir
        self.folder = tempfile.mkdtemp(prefix="tidemark-operations-")
        self.bootstrap = self.kafka("bootstrap").strip()
        self.count = 0

    def kafka(self, command, *arguments, text=None):
        done = subprocess.run([KAFKA, command, *arguments, "--dir", self.kafka_dir], capture_output=True, text=True,
                              input=text)
        require(done.returncode == 0, f"{command} {arguments}: {done.stderr}")
        return done.stdout

    def topology(self, listen="127.0.0.1:0", bootstrap=None, more=""):
        """A pipeline of its own; gives file and source topic."""
        self.count += 1
        name = f"ops{os.getpid()}x{self.count}"
        path = os.path.join(self.folder, f"{name}.yaml")
        with open(path, "w") as file:
            file.write(f"""pipeline: {name}
kafka: {{bootstrap: "{bootstrap or self.bootstrap}"}}
state: {{dir: ./state-{name}, checkpoint_interval: 1s}}
{"" if listen is None else f'api: {{listen: "{listen}"}}'}
{more}
sources:
  src: {{topic: {name}_src, columns: "k STRING, seq BIGINT, v STRING"}}
tables:
  t: {{topic: {name}_t, partitions: 3}}
sql: |
  CREATE OR REFRESH STREAMING TABLE t (CONSTRAINT has_v EXPECT (v IS NOT NULL) ON VIOLATION DROP ROW)
  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME
  SELECT * FROM STREAM(src);
""")
        return path, f"{name}_src"

    def state(self, topology, *arguments):
        done = subprocess.run([self.tidemark, "state", topology, "-o", "json", *arguments], capture_output=True,
                              text=True, cwd=self.folder, timeout=60)
        require(done.returncode == 0, f"state {arguments}: {done.returncode} {done.stderr}")
        return json.loads(done.stdout)

    def run(self, *arguments):
        return subprocess.run([self.tidemark, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=120)

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def service(world, topology, **environment):
    one = Service(world, topology, **environment)
    try:
        yield one
    finally:
        one.close()


def records(*rows):
    return "".join(row if isinstance(row, str) else json.dumps(dict(zip(("k", "seq", "v"), row))) + "\n" for row in rows)


# 3 rows in the table, 1 late, 1 dropped, 1 quarantined
INPUT = records(("a", 5, "x"), ("a", 4, "late"), ("b", 1, "y"), ("b", 1, "z"), ("c", 1, None), "no record\n")


def numbers_and_state(world):
    """Counts, lag, state report and readiness of one pipeline agree with its input; then all again from nothing."""
    topology, source = world.topology()
    world.kafka("create", source, "2")
    world.kafka("produce", source, text=INPUT)
    with service(world, topology) as one:
        wait_for("ready", one.is_ready)
        wait_for("six records", lambda: one.value("tidemark_rows_in_total") == 6)
        wait_for("no lag", lambda: any(value == 0 for _, _, value in one.metrics()["tidemark_lag_records"].samples))
        for name, labels, wanted in (
                ("tidemark_rows_applied_total", {}, 3), ("tidemark_rows_late_total", {}, 1),
                ("tidemark_rows_dropped_total", {}, 1), ("tidemark_rows_quarantined_total", {}, 1),
                ("tidemark_rows_out_total", {"change": "upsert"}, 3), ("tidemark_rows_out_total", {"change": "delete"}, 0),
                ("tidemark_expectation_rows_total", {"outcome": "failed"}, 1), ("tidemark_ready", {}, 1),
                ("tidemark_flow_state", {"state": "running"}, 1), ("tidemark_epochs_total", {"outcome": "aborted"}, 0)):
            got = one.value(name, **labels)
            require(got == wanted, f"{name} {labels} is {got}, not {wanted}")
        offsets = sum(value for _, _, value in one.metrics()["tidemark_source_partition_offset"].samples)
        require(offsets == 6, f"offsets are {offsets}")
        wait_for("a checkpoint", lambda: one.value("tidemark_checkpoints_total", outcome="written") >= 1)
        require(one.value("tidemark_state_bytes") > 0, "no bytes in the state")
        require(one.value("process_resident_memory_bytes") > 1e6, "no memory")
        wait_for("the state report to see the checkpoint", lambda: all(
            shard["offset"] is not None for shard in world.state(topology)["tables"][0]["shards"]))
        report = world.state(topology)
        require(report["owner_pid"] == one.process.pid, f"owner {report['owner_pid']}")
        require(sum(source["offset"] for source in report["tables"][0]["sources"]) == 6, str(report))
        require(all(source["lag"] == 0 for source in report["tables"][0]["sources"]), str(report))
        key = world.state(topology, "--key", "b")
        require(key["rows"] == [{"k": "b", "seq": 1, "v": "y"}, {"k": "b", "seq": 1, "v": "z"}], str(key))
        require(key["sequence"] == 1 and key["current"], str(key))
        # Rows that no checkpoint has yet are seen too.
        world.kafka("produce", source, text=records(("b", 2, "new")))
        wait_for("the seventh record", lambda: one.value("tidemark_rows_in_total") == 7)
        key = world.state(topology, "--key", '{"k": "b"}')
        require(key["rows"] == [{"k": "b", "seq": 2, "v": "new"}] and key["sequence"] == 2, str(key))
        require(world.state(topology, "--key", "nobody")["rows"] == [], "rows of an unknown key")
        require(world.run("state", topology, "--key", '{"x": 1}').returncode == 2, "a key of other columns")
        require(one.stop() == 0, "exit code of a stop")
    key = world.state(topology, "--key", "b")
    require(key["rows"] == [{"k": "b", "seq": 2, "v": "new"}], f"when nobody runs: {key}")
    require(world.state(topology)["owner_pid"] is None, "an owner although nobody runs")
    shutil.rmtree(os.path.join(world.folder, "state-" + os.path.basename(topology)[:-5]))
    key = world.state(topology, "--key", "a")
    require(key["rows"] == [{"k": "a", "seq": 5, "v": "x"}], f"without a state: {key}")
    with service(world, topology) as one:
        wait_for("ready", one.is_ready)
        done = one.value("tidemark_restore_records_done")
        require(done > 0 and done == one.value("tidemark_restore_records_expected"), f"restored {done}")
        require(one.value("tidemark_rows_in_total") == 0, "counters begin at 0")
    return "counts, lag, state, key, restore"


def a_dead_flow(world):
    topology, source = world.topology(more="retry: {max_attempts: 1, backoff: 10ms, backoff_max: 20ms}")
    with open(topology) as file:
        text = file.read()
    with open(topology, "w") as file:
        file.write(text.replace("src: {topic", "src: {on_error: fail, topic"))
    world.kafka("create", source, "1")
    with service(world, topology) as one:
        wait_for("ready", one.is_ready)
        require(one.get("/healthz")[0] == 200, "healthy before")
        world.kafka("produce", source, text="no record\n")
        code = one.process.wait(timeout=30)
        require(code == 1, f"a service all of whose flows are dead ends with {code}")
        require("MALFORMED_RECORD" in one.log(), "the reason is not in the log")
    return "the service ends with 1 and says why"


def without_kafka(world):
    """Kafka is away: alive, not ready, says so; `state` answers too. Every series of the dashboard is there already."""
    topology, _ = world.topology(bootstrap="127.0.0.1:1")
    with service(world, topology) as one:
        wait_for("what is waited for", lambda: "waiting_for_kafka" in one.get("/readyz")[1])
        status, text = one.get("/readyz")
        answer = json.loads(text)
        require(status == 503 and not answer["ready"] and "refused" in answer["detail"], text)
        require(answer["waiting_for"] == [{"flow": "t", "state": "waiting"}], text)
        require(one.get("/healthz")[0] == 200, "a service that waits is healthy")
        one.metrics()
        report = world.state(topology)
        require(report["kafka_error"] and report["tables"][0]["epoch"] is None, str(report))
        require(one.stop() == 0, "exit code of a stop")
    return "healthy, not ready, told why"


def log_lines(world):
    """JSON lines; the level changes by HTTP and by signals."""
    topology, _ = world.topology(bootstrap="127.0.0.1:1", more="log: {format: json, level: warn}")

    def levels(one):
        return [line["message"] for line in map(json.loads, one.log().splitlines()) if "log level is" in line["message"]]

    with service(world, topology) as one:
        wait_for("a line", lambda: one.log().count("\n") >= 1)
        one.process.send_signal(signal.SIGUSR1)
        wait_for("info", lambda: levels(one) == ["log level is info now"])
        one.process.send_signal(signal.SIGUSR1)
        wait_for("debug", lambda: levels(one)[-1:] == ["log level is debug now"])
        for wanted in ("info", "warn", "error", "error"):
            one.process.send_signal(signal.SIGUSR2)
            wait_for(wanted, lambda: levels(one)[-1:] == [f"log level is {wanted} now"])
            time.sleep(0.05)
        for line in one.log().splitlines():
            require(set(json.loads(line)) >= {"time", "level", "message"}, line)
    topology, _ = world.topology(bootstrap="127.0.0.1:1")
    with service(world, topology) as one:
        require(one.get("/log/level") == (200, "info\n"), "the level at first")
        require(one.get("/log/level?level=debug", "PUT") == (200, "debug\n"), "PUT")
        require(one.get("/log/level") == (200, "debug\n"), "the level after")
        require(one.get("/log/level", "PUT", b"loud")[0] == 400, "a wrong level")
        require(one.get("/log/level", "POST", b"info")[0] == 405, "POST")
    return "JSON, PUT, SIGUSR1, SIGUSR2"


def addresses(world):
    """An address that was asked for and cannot be had is an error in the user's file; the default one is not. One update
    listens nowhere."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        topology, source = world.topology(listen=f"127.0.0.1:{port}")
        done = world.run("run", topology)
        require(done.returncode == 1 and "API_LISTEN" in done.stderr and "another process has this port" in done.stderr
                and f"{os.path.basename(topology)}:4:" in done.stderr, done.stderr)
        world.kafka("create", source, "1")
        done = world.run("run", topology, "--once")
        require(done.returncode == 0, done.stderr)
        with contextlib.suppress(OSError):
            with socket.socket() as default:
                default.bind(("127.0.0.1", 8088))
                default.listen()
                default_is_taken(world)
    done = world.run("run", world.topology(listen="8088")[0])
    require(done.returncode == 2 and "CONFIG_INVALID_VALUE" in done.stderr, done.stderr)
    topology, _ = world.topology(listen="none", bootstrap="127.0.0.1:1")
    with service(world, topology) as one:
        wait_for("a line", lambda: "waiting for Kafka" in one.log())
        require("API at" not in one.log(), one.log())
    return "explicit, default, none, --once"


def default_is_taken(world):
    topology, _ = world.topology(listen=None, bootstrap="127.0.0.1:1")
    with service(world, topology) as one:
        wait_for("it goes on", lambda: "waiting for Kafka" in one.log())
        require("goes on without /metrics" in one.log() and "127.0.0.1:8088" in one.log(), one.log())


def notifications(world):
    """READY=1 comes when the service is ready and not before, STATUS tells what it waits for, STOPPING=1 at the end."""
    path = os.path.join(world.folder, "notify")
    topology, source = world.topology()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(path)
        listener.settimeout(PATIENCE_S)
        # Without its source topic the service does not get ready.
        with service(world, world.topology(bootstrap="127.0.0.1:1")[0], NOTIFY_SOCKET=path) as one:
            told = ""
            while "waiting for Kafka" not in told:
                told = listener.recv(4096).decode()
                require("READY" not in told, told)
            require(one.stop() == 0, "stop")
            listener.settimeout(0.5)
            with contextlib.suppress(socket.timeout):
                while True:
                    told = listener.recv(4096).decode()
                    require("READY" not in told, told)
        listener.settimeout(PATIENCE_S)
        world.kafka("create", source, "1")
        with service(world, topology, NOTIFY_SOCKET=path) as one:
            told = ""
            while "READY=1" not in told:
                told = listener.recv(4096).decode()
            require(told == "READY=1\nSTATUS=1 flow running", told)
            require(one.is_ready(), "READY before /readyz")
            one.process.send_signal(signal.SIGTERM)
            while "STOPPING=1" not in told:
                told = listener.recv(4096).decode()
            require(one.process.wait(timeout=10) == 0, "stop")
        require(world.run("run", os.path.join(world.folder, "nothing.yaml")).returncode == 2, "exit 2")
    return "READY, STATUS, STOPPING"


def expressions_of_files():
    """(where, expression) of dashboard and rules."""
    with open(os.path.join(OPERATIONS, "grafana-dashboard.json")) as file:
        dashboard = json.load(file)
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"panel '{panel['title']}'", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield f"variable {variable['name']}", re.sub(r",\s*[a-z]+\)$", ")", variable["query"]["query"])
    with open(os.path.join(OPERATIONS, "prometheus-rules.yaml")) as file:
        for expression in re.findall(r"^\s*expr: (.*)$", file.read(), re.M):
            yield "rule", expression


def check_expression(where, expression, series):
    """series: {sample name: [labels]} of a real service."""
    found, grouped = exposition.selectors(expression)
    require(found, f"{where}: no metric in {expression}")
    known = {"instance", "job"}
    for name, labels in found:
        require(name in series, f"{where}: there is no metric {name}")
        names = set().union(*series[name]) if series[name] else set()
        known |= names
        for label, (operator, value) in labels.items():
            require(label in names, f"{where}: {name} has no label {label}")
            values = {one[label] for one in series[name] if label in one}
            require(operator != "=" or value in values, f"{where}: {name} has no {label}=\"{value}\"")
    require(grouped <= known, f"{where}: groups by {grouped - known}")


def files_name_real_metrics(world):
    topology, source = world.topology()
    world.kafka("create", source, "2")
    world.kafka("produce", source, text=INPUT)
    with service(world, topology) as one:
        wait_for("six records", lambda: one.value("tidemark_rows_in_total") == 6)
        wait_for("lag", lambda: one.metrics()["tidemark_lag_records"].samples)
        families = one.metrics()
    series = {}
    for family in families.values():
        require(family.samples, f"{family.name} has no series")
        for name, labels, _ in family.samples:
            series.setdefault(name, []).append(labels)
    count = 0
    for where, expression in expressions_of_files():
        check_expression(where, expression, series)
        count += 1
    require(count > 25, f"only {count} expressions were found")
    with open(os.path.join(OPERATIONS, "README.md")) as file:
        named = set(re.findall(r"`(tidemark_[a-z_]+)`", file.read()))
    families_of_ours = {name for name in families if name.startswith("tidemark_")}
    require(named == families_of_ours, f"README against /metrics: {sorted(named ^ families_of_ours)}")
    # The check itself finds what is wrong.
    for wrong in ('tidemark_rows_into_total', 'tidemark_rows_in_total{table="t"}', 'sum by (topic) (tidemark_rows_in_total)',
                  'tidemark_flow_state{state="dead"}'):
        try:
            check_expression("planted", wrong, series)
        except Failed:
            continue
        raise Failed(f"not noticed: {wrong}")
    return f"{count} expressions, {len(families_of_ours)} families in the README"


def the_unit(world):
    """systemd accepts the unit; without systemd: its sections and what must be in it."""
    path = os.path.join(OPERATIONS, "tidemark@.service")
    with open(path) as file:
        text = file.read()
    section = None
    keys = {}
    for line in text.splitlines():
        if re.fullmatch(r"\[\w+\]", line):
            section = line[1:-1]
        elif line and not line.startswith("#"):
            require(section and re.fullmatch(r"[A-Za-z]+=.*", line), f"no setting: {line}")
            keys.setdefault((section, line.split("=")[0]), []).append(line.split("=", 1)[1])
    for key, wanted in ((("Service", "Type"), "notify"), (("Service", "Restart"), "on-failure"),
                        (("Service", "RestartPreventExitStatus"), "2"), (("Service", "TimeoutStartSec"), "infinity")):
        require(keys.get(key) == [wanted], f"{key} is {keys.get(key)}")
    require(set(section for section, _ in keys) == {"Unit", "Service", "Install"}, "sections")
    if shutil.which("systemd-analyze") is None:
        return "read only: there is no systemd-analyze"
    copy = os.path.join(world.folder, "tidemark@.service")
    with open(copy, "w") as file:
        file.write(text.replace("/usr/local/bin/tidemark", world.tidemark))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
    complaints = [line for line in done.stderr.splitlines() if "tidemark" in line]
    require(done.returncode == 0 and not complaints, done.stderr)
    with open(copy, "a") as file:
        file.write("[Service]\nRestartt=always\n")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True)
    require("Restartt" in done.stderr, "verify notices nothing")
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", path], capture_output=True,
                          text=True)
    require(done.returncode == 0, done.stdout[-300:] + done.stderr)
    return "verified by systemd-analyze; exposure below 2.0"


def the_reader(world):
    return f"{exposition.self_test()} texts"


CASES = [the_reader, the_unit, without_kafka, log_lines, addresses, notifications, numbers_and_state, a_dead_flow,
         files_name_real_metrics]


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    world = World(*sys.argv[1:3])
    passed = failed = 0
    try:
        for case in CASES:
            if sys.argv[3:] and case.__name__ not in sys.argv[3:]:
                continue
            started = time.monotonic()
            try:
                detail, word = case(world), "ok    "
                passed += 1
            except (Failed, exposition.Malformed, OSError, subprocess.TimeoutExpired) as reason:
                detail, word = f"{type(reason).__name__}: {reason}", "FAILED"
                failed += 1
            print(f"{word} {case.__name__} ({time.monotonic() - started:.0f} s): {detail}", flush=True)
    finally:
        world.close()
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
