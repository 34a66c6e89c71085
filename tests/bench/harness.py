"""What race, limits and memory share: a folder and a broker of their own, the measuring programs, processes whose CPU
and memory are read from /proc, and the two engines. Everything that was started ends with the script, however it ends;
what a killed run left behind, the next one clears away.

Environment: TIDEMARK_BUILD      the build to measure (build/release)
             TIDEMARK_KAFKA_JARS as for scripts/kafka
"""
import ctypes
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("TIDEMARK_BUILD", os.path.join(ROOT, "build", "release")))
FOLDERS = os.path.join(ROOT, "build", "bench")
KAFKA = os.path.join(ROOT, "scripts", "kafka")
TOOL_TIMEOUT = 1800  # seconds; nothing takes a tenth of it
DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
TICKS = os.sysconf("SC_CLK_TCK")
LIBC = ctypes.CDLL(None)


class BenchError(Exception):
    """A run that cannot be measured; the message says why."""


def program(name):
    path = os.path.join(BUILD, name)
    if not os.access(path, os.X_OK):
        raise BenchError(f"{path} is not there: scripts/dev bench builds it, as does "
                         "cmake --build build/release --target tidemark bench")
    return path


def tail(path, lines=30):
    with open(path, encoding="utf8", errors="replace") as file:
        return "".join(file.readlines()[-lines:])


def fields(line):
    """The NAME=VALUE words of a line, numbers as such."""
    values = dict(word.split("=", 1) for word in line.split() if "=" in word)
    return {name: float(value) if re.fullmatch(r"-?[\d.]+", value) else value for name, value in values.items()}


def mib(size):
    """'256MiB' → 256."""
    match = re.fullmatch(r"(\d+)(MiB|GiB)", size)
    if match is None:
        raise BenchError(f"{size}: a size is written as 256MiB or 1GiB")
    return int(match.group(1)) * (1024 if match.group(2) == "GiB" else 1)


# ------------------------------------------------------------------------------------------------------- processes ----

class Process:
    """A running program; what it prints goes to a log file, or to `lines`."""

    def __init__(self, arguments, log, env=None, piped=False):
        self.name = os.path.basename(arguments[0])
        self.log = log
        self.lines = b""
        self.samples = []
        with open(log, "wb") as file:
            self.popen = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if piped else file, stderr=file,
                env={**os.environ, **(env or {})}, preexec_fn=lambda: LIBC.prctl(DEATH_SIGNAL, signal.SIGKILL))
        self.pid = self.popen.pid
        self.started = time.monotonic()

    def _status(self, name):
        with open(f"/proc/{self.pid}/status", encoding="utf8") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) / 1024
        raise BenchError(f"{self.name} ended: {self.end_text()}")

    def peak_mib(self):
        return self._status("VmHWM")

    def sample_memory(self):
        self.samples.append(self._status("VmRSS"))

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf8") as file:
            after_name = file.read().rsplit(")", 1)[1].split()
        return (int(after_name[11]) + int(after_name[12])) / TICKS

    def alive(self):
        return self.popen.poll() is None

    def end_text(self):
        return f"exit code {self.popen.poll()}; the end of {self.log}:\n{tail(self.log)}"

    def require_alive(self):
        if not self.alive():
            raise BenchError(f"{self.name} ended while it was measured: {self.end_text()}")

    def wait_end(self, timeout):
        try:
            return self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise BenchError(f"{self.name} did not end within {timeout} s; the end of {self.log}:\n{tail(self.log)}")

    def kill(self):
        if self.alive():
            self.popen.kill()
        self.popen.wait()

    def stop(self, timeout=60):
        if self.alive():
            self.popen.terminate()
        return self.wait_end(timeout)

    def read_line(self, seconds):
        """The next line of a piped program, None when there was none in time."""
        end = time.monotonic() + seconds
        while b"\n" not in self.lines:
            ready, _, _ = select.select([self.popen.stdout], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            read = os.read(self.popen.stdout.fileno(), 65536)
            if not read:
                self.popen.wait()
                raise BenchError(f"{self.name} said nothing more: {self.end_text()}")
            self.lines += read
        line, self.lines = self.lines.split(b"\n", 1)
        return line.decode()


# ------------------------------------------------------------------------------------------------------ the bench ----

class Bench:
    """A folder, a broker and what runs on it. To be used with `with`."""

    def __init__(self, what, keep=False):
        self.folder = os.path.join(FOLDERS, f"{what}-{os.getpid()}" + ("-kept" if keep else ""))
        self.keep = keep
        self.processes = []
        self.count = 0

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        clear_leftovers()
        os.makedirs(self.folder)
        try:
            self._kafka("start", "--throughput")
            self.bootstrap = self._kafka("bootstrap").strip()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
        if self.keep:
            print(f"kept: {self.folder} (end its broker with scripts/kafka stop --wipe --dir {self.folder}/kafka)")
            return
        self._kafka("stop", "--wipe")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _kafka(self, *arguments):
        return run_tool([KAFKA, *arguments, "--dir", os.path.join(self.folder, "kafka")])

    def start(self, arguments, env=None, piped=False):
        self.count += 1
        log = os.path.join(self.folder, f"{self.count:03}-{os.path.basename(arguments[0])}.log")
        self.processes = [process for process in self.processes if process.alive()]
        process = Process(arguments, log, env, piped)
        self.processes.append(process)
        return process

    def tool(self, name, *arguments):
        """Runs a measuring program to its end; what it printed."""
        return run_tool([program("bench_" + name), self.bootstrap, *map(str, arguments)])

    def watch(self, *arguments):
        return self.start([program("bench_watch"), self.bootstrap, *arguments], piped=True)

    def feed(self, topic, work, rows, **options):
        self.tool("feed", topic, work, rows, *(f"{name}={value}" for name, value in options.items() if value))

    def verify(self, source, output):
        try:
            verdict = fields(self.tool("verify", source, output))
        except BenchError as error:
            raise BenchError(f"wrong output in {output}: {error}")
        print(f"  {output}: {verdict['rows']:,.0f} rows of {verdict['keys']:,.0f} keys verified", flush=True)

    def make_topic(self, topic, partitions=4, **config):
        self.tool("topics", "create", partitions, topic, *(f"{name.replace('_', '.')}={value}"
                                                           for name, value in config.items()))

    def delete_topics(self, *topics):
        if not self.keep:
            self.tool("topics", "delete", *topics)


def run_tool(arguments):
    try:
        done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TOOL_TIMEOUT)
    except subprocess.TimeoutExpired:
        raise BenchError(f"{' '.join(arguments)}: did not end within {TOOL_TIMEOUT} s")
    if done.returncode != 0:
        raise BenchError(f"{os.path.basename(arguments[0])} {' '.join(arguments[1:])}: exit code {done.returncode}\n"
                         f"{done.stdout}{done.stderr}")
    return done.stdout


def clear_leftovers():
    """Brokers and files of runs that were killed."""
    for name in os.listdir(FOLDERS) if os.path.isdir(FOLDERS) else []:
        match = re.fullmatch(r"[a-z]+-(\d+)", name)
        path = os.path.join(FOLDERS, name)
        if match and not os.path.exists(f"/proc/{match.group(1)}"):
            subprocess.run([KAFKA, "stop", "--wipe", "--dir", os.path.join(path, "kafka")], capture_output=True)
            shutil.rmtree(path, ignore_errors=True)


def expect(watch, word, engine, timeout):
    """Waits for a watch to say `word`, while the engine (None: nobody) runs; its words behind."""
    end = time.monotonic() + timeout
    while True:
        line = watch.read_line(0.1)
        if engine is not None:
            engine.require_alive()
            engine.sample_memory()
        if line is not None and line.split()[0] == word:
            return [float(text) for text in line.split()[1:]]
        if line is None and time.monotonic() > end:
            about = "" if engine is None else f"; the end of {engine.log}:\n{tail(engine.log)}"
            raise BenchError(f"nothing was {word} within {timeout:.0f} s{about}")


# -------------------------------------------------------------------------------------------------------- engines ----

class Tidemark:
    """A topology with one table over one input, and its process."""
    name = "tidemark"
    columns = ("region STRING, customer_id BIGINT, seq BIGINT, amount DECIMAL(10,2), status STRING, "
               "updated_at TIMESTAMP, note STRING")

    def __init__(self, bench, label, source, memory="256MiB", partitions=4):
        self.bench = bench
        self.source = source
        self.pipeline = f"tidemark-{label}"
        self.output = f"{self.pipeline}.out"
        self.group = f"{self.pipeline}.t"
        self.topics = [self.output, *(f"{self.pipeline}.{name}" for name in ("progress", "event_log", "quarantine"))]
        self.state = os.path.join(bench.folder, f"state-{self.pipeline}")
        self.topology = os.path.join(bench.folder, f"{self.pipeline}.yaml")
        with open(self.topology, "w", encoding="utf8") as file:
            file.write(self.text(memory, partitions))

    def text(self, memory, partitions):
        return f"""pipeline: {self.pipeline}
kafka: {{bootstrap: "{self.bench.bootstrap}"}}
state: {{dir: "{self.state}", memory: {memory}}}
sources:
  w:
    topic: {self.source}
    columns: {self.columns}
tables:
  t: {{topic: "{self.output}", partitions: {partitions}}}
sql: |
  CREATE OR REFRESH STREAMING TABLE t
  FLOW REPLACE USING (region, customer_id) SEQUENCE BY seq BY NAME
  SELECT region, customer_id, seq, amount, status, updated_at, note FROM STREAM(w);
"""

    def prepare(self):
        """Makes its own topics when it starts."""

    def start(self, env=None):
        return self.bench.start([program("tidemark"), "run", self.topology], env)

    def stop_with_state(self, process):
        """Waits for a checkpoint, which comes every five seconds; the kill is none of its business."""
        time.sleep(8)
        process.kill()

    def restored(self, process):
        match = re.search(r"(\d+) records in ([\d.]+) s \((\d+) records/s\)", tail(process.log, 200))
        if match is None:
            raise BenchError(f"the log does not tell of a restore:\n{tail(process.log)}")
        return int(match.group(1)), int(match.group(3))

    def forget_members(self):
        """Is no member of a group: nothing to wait for."""

    def drop(self):
        shutil.rmtree(self.state, ignore_errors=True)
        self.bench.delete_topics(*self.topics)


class Streams:
    """Kafka Streams, `lean rocks eos` (peers/README.md), and its process."""
    name = "streams"

    def __init__(self, bench, label, source, session_ms=None):
        self.bench = bench
        self.source = source
        self.group = f"streams-{label}"
        self.output = f"{self.group}.out"
        self.topics = [self.output, f"{self.group}-s-changelog"]
        self.state = os.path.join(bench.folder, f"state-{self.group}")
        self.session_ms = session_ms
        self.classes = os.path.join(ROOT, "build", "peers")
        self.jars = run_tool([os.path.join(ROOT, "tests", "bench", "peers", "build.sh"), self.classes]).strip()

    def prepare(self):
        self.bench.make_topic(self.output, 4, cleanup_policy="compact")

    def start(self, env=None):
        session = [f"-Dsession={self.session_ms}"] if self.session_ms else []
        return self.bench.start(
            ["java", f"-Dbs={self.bench.bootstrap}", f"-Dstate={self.state}", *session, "-cp",
             f"{self.classes}/classes:{self.jars}/*", "ReplaceUsing", "lean", "rocks", "eos", "default", self.source,
             self.output, self.group], env)

    def stop_with_state(self, process):
        """A killed one would throw its state away: it is closed."""
        process.stop()

    def restored(self, process):
        with open(process.log, encoding="utf8") as file:
            match = re.search(r"RESTORED records=(\d+) seconds=([\d.]+)", file.read())
        if match is None:
            raise BenchError(f"Kafka Streams restored nothing:\n{tail(process.log)}")
        return int(match.group(1)), int(match.group(1)) / max(float(match.group(2)), 0.001)

    def forget_members(self):
        """Until the group has forgotten a killed member, a new one would only wait."""
        time.sleep((self.session_ms or 45000) / 1000 + 2)

    def drop(self):
        shutil.rmtree(self.state, ignore_errors=True)
        self.bench.delete_topics(*self.topics)


# --------------------------------------------------------------------------------------------------------- figures ----

class Figures:
    """Rounds of figures: (name, engine) → list, and how each is shown."""

    def __init__(self):
        self.values = {}
        self.more_is_better = {}

    def add(self, name, engine, value, more_is_better):
        self.values.setdefault(name, {}).setdefault(engine, []).append(value)
        self.more_is_better[name] = more_is_better
        print(f"  {engine} {name} {value:.4g}" if value < 1000 else f"  {engine} {name} {value:,.0f}", flush=True)

    def median(self, name, engine):
        values = self.values.get(name, {}).get(engine)
        return statistics.median(values) if values else None

    def worst(self, name, engine):
        values = self.values[name][engine]
        return min(values) if self.more_is_better[name] else max(values)

    def ratio(self, name):
        """tidemark by Kafka Streams, None when one is missing."""
        ours, theirs = self.median(name, "tidemark"), self.median(name, "streams")
        return ours / theirs if ours is not None and theirs else None


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def print_table(head, rows):
    """A Markdown table whose columns line up."""
    rows = [head, *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    for at, row in enumerate(rows):
        print("| " + " | ".join(cell.ljust(widths[i]) if i == 0 else cell.rjust(widths[i])
                                for i, cell in enumerate(row)) + " |")
        if at == 0:
            print("| " + " | ".join("-" * width for width in widths) + " |")


def main(run):
    """Runs a script's work; a failure is a message and exit code 1."""
    try:
        run()
    except BenchError as error:
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
