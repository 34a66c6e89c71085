#!/usr/bin/env python3
"""Exactly once on a real broker: processes and brokers are killed, paused and woken, and the table's
topic is audited after each (topic_tool audit: folded table, progress records, group offsets against
a model of the source).

usage: exactly_once.py TIDEMARK TOPIC_TOOL KAFKA_FOLDER [CASE…]

KAFKA_FOLDER is the --dir of a running `scripts/kafka` cluster. TIDEMARK_SEED repeats a run,
TIDEMARK_ROWS makes it smaller. Prints a line a case and `N passed, N failed` last."""

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KAFKA = os.path.join(ROOT, "scripts", "kafka")
PARTITIONS = 4
KILLS = 20


class Failed(Exception):
    pass


def require(condition, message):
    if not condition:
        raise Failed(message)


class World:
    """What all cases share: programs, the broker, a folder, the processes to be ended."""

    def __init__(self, tidemark, tool, kafka_dir):
        self.tidemark = os.path.abspath(tidemark)
        self.tool_path = os.path.abspath(tool)
        self.kafka_dir = kafka_dir
        self.folder = tempfile.mkdtemp(prefix="tidemark-integration-")
        self.bootstrap = self.kafka("bootstrap").strip()
        self.seed = int(os.environ.get("TIDEMARK_SEED", random.randrange(1, 1_000_000)))
        self.random = random.Random(self.seed)
        self.rows = int(os.environ.get("TIDEMARK_ROWS", 1_000_000))
        self.processes = []

    def kafka(self, *arguments):
        command = [KAFKA, arguments[0], "--dir", self.kafka_dir, *arguments[1:]]
        done = subprocess.run(command, capture_output=True, text=True)
        require(done.returncode == 0, f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def spawn(self, command, **options):
        process = subprocess.Popen(command, text=True, **options)
        self.processes.append(process)
        return process

    def tool(self, name, *arguments):
        command = [self.tool_path, name, self.bootstrap, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        require(done.returncode == 0, f"topic_tool {name}: {done.stdout}{done.stderr}")
        return done.stdout.strip()

    def start_tool(self, name, *arguments):
        command = [self.tool_path, name, self.bootstrap, *map(str, arguments)]
        return self.spawn(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Pipeline:
    """A pipeline with topics of its own; several processes may run it."""

    count = 0

    def __init__(self, world, label, create=True):
        Pipeline.count += 1
        self.world = world
        self.name = f"{label}_{os.getpid()}_{Pipeline.count}"
        self.source = f"{self.name}_source"
        self.log = os.path.join(world.folder, f"{self.name}.log")
        if create:
            world.tool("create", self.source, PARTITIONS)

    def state(self, instance="a"):
        return os.path.join(self.world.folder, f"{self.name}.{instance}.state")

    def topology(self, instance="a", state=None, bootstrap=None):
        path = os.path.join(self.world.folder, f"{self.name}.{instance}.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"""\
pipeline: {self.name}
kafka: {{bootstrap: "{bootstrap or self.world.bootstrap}"}}
state: {{dir: "{state or self.state(instance)}", checkpoint_interval: 500ms}}
commit: {{interval: 50ms, max_rows: 20000}}
retry: {{max_attempts: 2, backoff: 200ms, backoff_max: 1s}}
sources:
  {self.source}:
    columns: k BIGINT, seq BIGINT, v STRING
tables:
  t: {{topic: {self.name}_table, partitions: 3}}
sql: |
  CREATE OR REFRESH STREAMING TABLE t
  FLOW REPLACE USING (k) SEQUENCE BY seq BY NAME
  SELECT * FROM STREAM({self.source});
""")
        return path

    def start(self, instance="a", **topology):
        with open(self.log, "a", encoding="utf-8") as log:
            return self.world.spawn([self.world.tidemark, "run",
                                     self.topology(instance, **topology)], stderr=log)

    def once(self, instance="a", timeout=60, **topology):
        """(exit code, stderr)"""
        command = [self.world.tidemark, "run", self.topology(instance, **topology), "--once"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stderr

    def finish(self, instance="a"):
        code, text = self.once(instance)
        require(code == 0, f"--once ended with {code}: {text}")

    def wipe(self, instance="a"):
        shutil.rmtree(self.state(instance), ignore_errors=True)

    def audit(self, *options):
        return self.world.tool("audit", self.name, "t", *options)

    def position(self):
        return int(self.world.tool("position", f"{self.name}.t", self.source))

    def wait_for_position(self, at_least, seconds):
        deadline = time.monotonic() + seconds
        while True:
            position = self.position()
            if position >= at_least:
                return position
            require(time.monotonic() < deadline,
                    f"position {position} after {seconds} s, not {at_least}:\n{self.last_lines()}")
            time.sleep(0.1)

    def last_lines(self, process_log_lines=8):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-process_log_lines:])


def stop(process, seconds):
    """SIGTERM; gives the exit code and how long it took."""
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    try:
        code = process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        raise Failed("SIGTERM: still there after 20 s") from None
    took = time.monotonic() - started
    require(code == 0, f"SIGTERM: exit code {code}")
    require(took <= seconds, f"SIGTERM took {took:.2f} s")
    return took


# ------------------------------------------------------------------------------------ the cases


def killed_at_random_moments(world):
    pipeline = Pipeline(world, "kills")
    # Rows flow for about as long as the lives take.
    feeder = world.start_tool("produce", pipeline.source, world.rows, world.seed,
                              world.rows // 55)
    wiped = 0
    position = 0
    for _ in range(KILLS):
        process = pipeline.start()
        if world.random.random() < 0.75:
            # In the middle of its work; the others die while they start.
            position = pipeline.wait_for_position(position + 1, 30)
            time.sleep(world.random.uniform(0, 0.8))
        else:
            time.sleep(world.random.uniform(0, 1.5))
        require(process.poll() is None, f"ended by itself:\n{pipeline.last_lines()}")
        process.kill()
        process.wait()
        if world.random.random() < 0.5:
            pipeline.wipe()
            wiped += 1
    require(feeder.wait() == 0, "the producer failed")
    pipeline.finish()
    return f"{KILLS} kills, {wiped} wipes; {pipeline.audit()}"


def broker_killed_and_restarted(world):
    pipeline = Pipeline(world, "broker")
    rows = world.rows // 4
    feeder = world.start_tool("produce", pipeline.source, rows, world.seed + 1, rows // 8)
    process = pipeline.start()
    pipeline.wait_for_position(rows // 8, 30)
    world.kafka("kill")
    time.sleep(2)
    require(process.poll() is None, f"ended with the broker:\n{pipeline.last_lines()}")
    world.kafka("restart")
    require(feeder.wait(timeout=90) == 0, "the producer failed")
    # The service heals without help.
    pipeline.wait_for_position(rows, 60)
    stop(process, 1.0)
    pipeline.finish()
    return pipeline.audit()


def woken_zombie(world):
    pipeline = Pipeline(world, "zombie")
    rows = world.rows // 5
    feeder = world.start_tool("produce", pipeline.source, rows, world.seed + 2, rows // 10)
    zombie = pipeline.start("a")
    before = pipeline.wait_for_position(rows // 10, 30)
    zombie.send_signal(signal.SIGSTOP)
    successor = pipeline.start("b")
    pipeline.wait_for_position(before + rows // 10, 30)
    zombie.send_signal(signal.SIGCONT)
    try:
        code = zombie.wait(timeout=30)
    except subprocess.TimeoutExpired:
        raise Failed(f"the zombie lives on:\n{pipeline.last_lines()}") from None
    text = pipeline.last_lines(12)
    require(code == 1, f"the zombie ended with {code}:\n{text}")
    named = re.search(r"taken over by process (\d+) on (\S+)", text)
    require(named is not None, f"the zombie does not say who took over:\n{text}")
    require(named.group(1) == str(successor.pid) and named.group(2) == socket.gethostname(),
            f"the zombie names {named.group(0)}, not process {successor.pid}")
    require(feeder.wait(timeout=60) == 0, "the producer failed")
    pipeline.wait_for_position(rows, 30)
    require(successor.poll() is None, f"the successor was fenced back:\n{pipeline.last_lines()}")
    stop(successor, 1.0)
    return pipeline.audit()


def idle_zombie(world):
    """The zombie has nothing to do when it wakes: it writes nothing, and goes with the next row."""
    pipeline = Pipeline(world, "idle")
    world.tool("produce", pipeline.source, 5000, world.seed, 0)
    zombie = pipeline.start("a")
    pipeline.wait_for_position(5000, 30)
    zombie.send_signal(signal.SIGSTOP)
    pipeline.finish("b")
    zombie.send_signal(signal.SIGCONT)
    world.tool("produce", pipeline.source, 5000, world.seed + 9, 0)
    require(zombie.wait(timeout=30) == 1, f"the zombie lives on:\n{pipeline.last_lines()}")
    require("taken over by process" in pipeline.last_lines(), pipeline.last_lines())
    pipeline.finish("b")
    return pipeline.audit()


def foreign_transaction(world):
    pipeline = Pipeline(world, "foreign")
    world.tool("produce", pipeline.source, 20_000, world.seed + 3, 0)
    for ending in ("commit", "abort"):
        holder = world.start_tool("hold", pipeline.source, 400, world.seed + 4)
        require(holder.stdout.readline() == "held\n", "the transaction could not be opened")
        world.tool("produce", pipeline.source, 10_000, world.seed + 5, 0)
        pipeline.finish()
        pipeline.audit()  # up to the last stable offset, and not beyond
        before = pipeline.position()
        holder.communicate(ending + "\n", timeout=30)
        require(holder.returncode == 0, "the foreign producer failed")
        pipeline.finish()
        require(pipeline.position() >= before + 10_000, "what came after was not read")
        result = pipeline.audit()
    return result


def stop_within_a_second(world):
    pipeline = Pipeline(world, "stop")
    rows = world.rows // 4
    feeder = world.start_tool("produce", pipeline.source, rows, world.seed + 6, rows // 5)
    process = pipeline.start()
    pipeline.wait_for_position(rows // 4, 30)
    busy = stop(process, 1.0)
    pipeline.audit("open")
    feeder.wait()
    process = pipeline.start()
    pipeline.wait_for_position(rows, 30)
    idle = stop(process, 1.0)
    process = pipeline.start()
    time.sleep(0.4)
    starting = stop(process, 1.0)
    process = pipeline.start()
    time.sleep(2)
    world.kafka("kill")
    time.sleep(1.5)
    away = stop(process, 1.0)
    process = pipeline.start()
    time.sleep(1.5)
    require(process.poll() is None, "a service that starts without its broker waits for it")
    waiting = stop(process, 1.0)
    world.kafka("restart")
    pipeline.finish()
    pipeline.audit()
    return (f"busy {busy:.2f} s, idle {idle:.2f} s, starting {starting:.2f} s, broker away "
            f"{away:.2f} s, never reached {waiting:.2f} s")


def messages_and_exit_codes(world):
    pipeline = Pipeline(world, "messages")
    world.tool("produce", pipeline.source, 1000, world.seed, 0)

    def expect(what, code, parts, instance="a", target=pipeline, **topology):
        started = time.monotonic()
        got, text = target.once(instance, **topology)
        require(got == code, f"{what}: exit code {got}, not {code}: {text}")
        for part in parts:
            require(part in text, f"{what}: '{part}' is not in: {text}")
        return time.monotonic() - started

    expect("good", 0, ["1000 records read"])
    expect("nothing new", 0, ["0 records read"])
    closed = socket.socket()
    closed.bind(("127.0.0.1", 0))
    nowhere = f"127.0.0.1:{closed.getsockname()[1]}"
    away = expect("broker away", 1, ["KAFKA_UNAVAILABLE", nowhere], "away", bootstrap=nowhere)
    missing = Pipeline(world, "missing", create=False)
    expect("topic missing", 1, ["KAFKA_TOPIC_NOT_FOUND", missing.source, "hint: create topic"],
           target=missing)
    locker = pipeline.start()
    time.sleep(1.5)
    expect("state locked", 1, ["STATE_LOCKED", pipeline.state(), str(locker.pid)])
    stop(locker, 1.0)
    blocked = os.path.join(world.folder, "a-file")
    with open(blocked, "w", encoding="utf-8") as file:
        file.write("in the way")
    expect("state unwritable", 1, ["STATE_UNWRITABLE", blocked, "hint:"], "blocked",
           state=os.path.join(blocked, "state"))
    done = subprocess.run([world.tidemark, "run"], capture_output=True, text=True)
    require(done.returncode == 2, f"run without a file: {done.returncode}")
    done = subprocess.run([world.tidemark, "run", "/nowhere.yaml"], capture_output=True, text=True)
    require(done.returncode == 2 and "/nowhere.yaml" in done.stderr, f"no file: {done.stderr}")
    return f"broker away told after {away:.1f} s"


CASES = [
    killed_at_random_moments,
    broker_killed_and_restarted,
    woken_zombie,
    idle_zombie,
    foreign_transaction,
    stop_within_a_second,
    messages_and_exit_codes,
]


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        return 2
    world = World(*sys.argv[1:4])
    wanted = sys.argv[4:]
    print(f"seed {world.seed} (TIDEMARK_SEED)", flush=True)
    passed = failed = 0
    try:
        for case in CASES:
            if wanted and case.__name__ not in wanted:
                continue
            started = time.monotonic()
            try:
                detail = case(world)
                passed += 1
                word = "ok    "
            except (Failed, subprocess.TimeoutExpired) as reason:
                detail = str(reason)
                failed += 1
                word = "FAILED"
            print(f"{word} {case.__name__} ({time.monotonic() - started:.0f} s): {detail}",
                  flush=True)
    finally:
        world.close()
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
