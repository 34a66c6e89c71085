#!/usr/bin/env python3
"""Chaos on three brokers: a paced input, one pipeline, and fault after fault from a plan that a seed
fixes. Brokers are killed, stopped, frozen, their leaders moved; the process is killed (half of the
times its state is lost), stopped, frozen beyond its transaction's time-out, and replaced while it
sleeps. Never is more than one broker away, so a majority is always there. At the end the audit
replays every epoch (topic_tool audit), and a table shows how long each fault held up progress.

usage: chaos.py TIDEMARK TOPIC_TOOL CHAOS_TOOL KAFKA_FOLDER [--seconds N] [--rate N] [--seed N]
                [--plan FAULTS] [--property NAME=VALUE]… [--keep FOLDER]

KAFKA_FOLDER is the --dir of a running `scripts/kafka` cluster of three nodes. --plan
KIND:TARGET:SECONDS[:wipe],… is gone through again and again instead of what the seed draws; a
target is a node, coordinator, progress or source (who leads them at that time). --property is one
of kafka.properties, debug=… raises the log level too. --keep keeps the logs.

Time without progress: from the fault to the next committed progress record; when there are several
gaps of more than a second before the next fault, their sum. A progress record bears the time at
which its epoch was written, so a commit that takes long counts as the gap behind it."""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from exactly_once import Failed, Pipeline, World, require, stop  # noqa: E402

GAP_MS = 1000
HEAL_SECONDS = 120  # no single fault may hold up progress for longer
OWN_PARTITIONS = 4  # of __transaction_state and __consumer_offsets (scripts/kafka)
SHORT_SECONDS = 180  # below, the plan is made of quick faults


def now_ms():
    return int(time.time() * 1000)


class Fault:
    """One line of the plan. `target` is a node, or whom to look for when it is time."""

    def __init__(self, kind, target="", seconds=0.0, wipe=False):
        self.kind, self.target, self.seconds, self.wipe = kind, target, seconds, wipe
        self.pause = 0.0  # before the next one
        self.node = 0
        self.struck_ms = 0
        self.from_ms = 0  # when progress was possible again: a frozen process makes none

    @property
    def label(self):
        """Faults with the same label are one row of the table."""
        words = self.kind.replace("_", " ")
        if self.kind in ("freeze_broker", "freeze_process"):
            words += f" {self.seconds:.0f} s"
        return words + (", state lost" if self.wipe else "")

    def __str__(self):
        parts = [self.kind]
        if self.target:
            parts.append(f"of {self.target}" if isinstance(self.target, str) else f"{self.target}")
        if self.node and self.node != self.target:
            parts.append(f"= node {self.node}")
        if self.seconds:
            parts.append(f"for {self.seconds:.1f} s")
        if self.wipe:
            parts.append("state lost")
        return " ".join(parts)


def draw_round(draw, short):
    """Every kind of fault once, some more than once with another target."""
    down = (lambda: draw.uniform(4, 6)) if short else (lambda: draw.uniform(10, 16))
    frozen = 5 if short else 65  # a transaction times out after 60 s
    faults = [
        Fault("kill_broker", "coordinator", down()),
        Fault("freeze_broker", "progress", draw.randint(3, 4)),
        Fault("kill_process", wipe=True),
        Fault("kill_both", draw.randint(1, 3), down(), draw.random() < 0.5),
        Fault("stop_broker", "source", down() / 2),
        Fault("zombie", "", frozen),
        Fault("elect"),
    ]
    if not short:
        faults += [
            Fault("kill_broker", "progress", down()),
            Fault("kill_broker", "source", down()),
            Fault("kill_broker", draw.randint(1, 3), draw.uniform(0, 2)),
            Fault("freeze_broker", "coordinator", 15),
            Fault("freeze_broker", draw.randint(1, 3), 15),
            Fault("stop_broker", "coordinator", down() / 2),
            Fault("kill_process"),
            Fault("stop_process", wipe=draw.random() < 0.5),
            Fault("kill_both", "coordinator", down(), draw.random() < 0.5),
            Fault("freeze_process", "", frozen),
            Fault("elect"),
        ]
    draw.shuffle(faults)
    for fault in faults:
        fault.pause = draw.uniform(1, 2) if short else draw.uniform(2, 5)
    return faults


def plan_of(text):
    """kill_broker:coordinator:10,kill_process::0:wipe"""
    for word in text.split(","):
        kind, target, seconds, wipe = (word.split(":") + ["", "", ""])[:4]
        target = int(target) if target.isdigit() else target
        fault = Fault(kind, target, float(seconds or 0), wipe == "wipe")
        fault.pause = 2.0
        yield fault


def endless_plan(seed, short, given):
    draw = random.Random(seed)
    while True:
        yield from plan_of(given) if given else draw_round(draw, short)


def java_hash(text):
    value = 0
    for char in text:
        value = (value * 31 + ord(char)) & 0xFFFFFFFF
    return value


class ChaosPipeline(Pipeline):
    """A log a process: which one said something matters here."""

    def __init__(self, world, label, properties):
        super().__init__(world, label)
        self.properties = properties
        self.instance = "s1"
        self.lives = 0
        self.process = None
        self.log_of = {}

    def topology(self, *arguments, **options):
        path = super().topology(*arguments, **options)
        with open(path, "r+", encoding="utf-8") as file:
            text = file.read()
            # commit and checkpoint as users have them
            text = re.sub("^(commit|retry): .*\n", "", text, flags=re.M)
            text = text.replace(", checkpoint_interval: 500ms", "")
            if any(text.startswith("debug:") for text in self.properties):
                text += "log: {level: debug}\n"
            properties = ", ".join(self.properties)
            text = text.replace('"}\n', f'", properties: {{{properties}}}}}\n', 1)
            file.seek(0)
            file.truncate()
            file.write(text)
        return path

    def spawn(self):
        self.lives += 1
        self.log = os.path.join(self.world.folder, f"tidemark-{self.lives:03d}.log")
        self.process = self.start(self.instance)
        self.log_of[self.process] = self.log

    def successor(self):
        self.instance = f"s{int(self.instance[1:]) + 1}"
        self.spawn()

    def text_of(self, process):
        with open(self.log_of[process], encoding="utf-8", errors="replace") as file:
            return file.read()


class Chaos:
    def __init__(self, world, chaos_tool, properties):
        self.world = world
        self.chaos_tool = os.path.abspath(chaos_tool)
        self.pipeline = ChaosPipeline(world, "chaos", properties)
        self.faults = []
        self.zombies = []
        self.feeder = None
        self.started = time.monotonic()

    def say(self, text):
        print(f"{time.monotonic() - self.started:6.1f} s  {text}", flush=True)

    # ------------------------------------------------------------------------ the cluster

    def ask(self, *arguments):
        command = [self.chaos_tool, arguments[0], self.world.bootstrap, *arguments[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90)
        return done.stdout.splitlines() if done.returncode == 0 else None

    def partitions(self, topic):
        """[(leader, replicas, in sync)], or None while that cannot be told."""
        lines = self.ask("leaders", topic)
        if lines is None:
            return None
        rows = sorted(tuple(map(int, line.split())) for line in lines)
        return [row[1:] for row in rows]

    def topics(self):
        name = self.pipeline.name
        return [f"{name}_source", f"{name}_table", f"{name}.progress", f"{name}.event_log",
                "__transaction_state", "__consumer_offsets"]

    def is_whole(self):
        for topic in self.topics():
            found = self.partitions(topic)
            if found is None or any(leader < 0 or replicas != in_sync
                                    for leader, replicas, in_sync in found):
                return False
        return True

    def wait_whole(self):
        """Replicas that are not in sync would make the next fault a loss of the majority."""
        deadline = time.monotonic() + HEAL_SECONDS
        while not self.is_whole():
            require(time.monotonic() < deadline,
                    f"the replicas are not in sync after {HEAL_SECONDS} s")
            time.sleep(0.1)

    def find(self, target):
        if isinstance(target, int):
            return target
        name = self.pipeline.name
        topic, partition = {
            "coordinator": ("__transaction_state", java_hash(f"{name}.t") % OWN_PARTITIONS),
            "progress": (f"{name}.progress", 0),
            "source": (f"{name}_source", 0),
        }[target]
        found = self.partitions(topic)
        require(found is not None and found[partition][0] > 0, f"{topic} has no leader")
        return found[partition][0]

    # ------------------------------------------------------------------------- the faults

    def kill_broker(self, fault):
        self.world.kafka("kill", str(fault.node))
        time.sleep(fault.seconds)
        self.world.kafka("restart", str(fault.node))

    def stop_broker(self, fault):
        self.world.kafka("stop", str(fault.node))
        time.sleep(fault.seconds)
        self.world.kafka("restart", str(fault.node))

    def freeze_broker(self, fault):
        self.world.kafka("pause", str(fault.node))
        time.sleep(fault.seconds)
        self.world.kafka("resume", str(fault.node))

    def elect(self, fault):
        del fault
        self.say("       " + self.world.kafka("elect").strip())

    def kill_process(self, fault):
        process = self.pipeline.process
        process.kill()
        process.wait()
        if fault.wipe:
            self.pipeline.wipe(self.pipeline.instance)
        self.pipeline.spawn()

    def stop_process(self, fault):
        # A commit under way may have to wait for brokers; they are all there.
        stop(self.pipeline.process, 10)
        if fault.wipe:
            self.pipeline.wipe(self.pipeline.instance)
        self.pipeline.spawn()

    def kill_both(self, fault):
        self.world.kafka("kill", str(fault.node))
        time.sleep(min(1.0, fault.seconds / 4))
        self.kill_process(fault)
        time.sleep(fault.seconds)
        self.world.kafka("restart", str(fault.node))

    def freeze_process(self, fault):
        process = self.pipeline.process
        process.send_signal(signal.SIGSTOP)
        time.sleep(fault.seconds)
        process.send_signal(signal.SIGCONT)
        fault.from_ms = now_ms()

    def zombie(self, fault):
        """It sleeps while its successor, and the faults, go on."""
        sleeper = self.pipeline.process
        sleeper.send_signal(signal.SIGSTOP)
        self.pipeline.successor()
        thread = threading.Thread(target=self.wake, args=(sleeper, fault.seconds))
        self.zombies.append([thread, "it has not woken"])
        thread.slot = self.zombies[-1]
        thread.start()

    def wake(self, sleeper, seconds):
        slot = threading.current_thread().slot
        time.sleep(seconds)
        sleeper.send_signal(signal.SIGCONT)
        try:
            code = sleeper.wait(timeout=HEAL_SECONDS)
        except subprocess.TimeoutExpired:
            slot[1] = "the zombie lives on"
            return
        text = self.pipeline.text_of(sleeper)
        named = re.search(r"taken over by process (\d+) on \S+", text)
        if code != 1 or named is None:
            slot[1] = f"the zombie ended with {code}: {text[-600:]}"
        elif int(named.group(1)) == sleeper.pid:
            slot[1] = "the zombie names itself"
        else:
            slot[1] = None

    # ---------------------------------------------------------------------------- the run

    def check_process(self):
        process = self.pipeline.process
        require(process.poll() is None,
                f"the process ended by itself with {process.poll()}:\n{self.pipeline.last_lines()}")

    def strike(self, fault):
        self.wait_whole()
        self.check_process()
        if fault.target:
            fault.node = self.find(fault.target)
        self.say(str(fault))
        fault.struck_ms = fault.from_ms = now_ms()
        self.faults.append(fault)
        getattr(self, fault.kind)(fault)
        # Whatever happened, it goes on by itself.
        before = self.position()
        deadline = time.monotonic() + HEAL_SECONDS
        while self.position() <= before and not self.all_is_read():
            self.check_process()
            require(time.monotonic() < deadline,
                    f"no progress for {HEAL_SECONDS} s after {fault}:\n{self.pipeline.last_lines()}")
            time.sleep(0.2)

    def position(self):
        try:
            return self.pipeline.position()
        except Failed:
            return -1  # brokers that are away: the next try tells

    def all_is_read(self):
        return self.feeder.poll() is not None and \
            self.position() >= int(self.world.tool("end", self.pipeline.source))

    def run(self, seconds, rate, given):
        world, pipeline = self.world, self.pipeline
        feeder = world.start_tool("produce", pipeline.source, seconds * rate, world.seed, rate)
        self.feeder = feeder
        pipeline.spawn()
        deadline = time.monotonic() + HEAL_SECONDS
        while self.position() < 1:
            self.check_process()
            require(time.monotonic() < deadline, f"it does not start:\n{pipeline.last_lines()}")
            time.sleep(0.1)
        end = time.monotonic() + seconds
        short = seconds < SHORT_SECONDS
        for fault in endless_plan(world.seed, short, given):
            # The last one must be over when the input ends, or nothing shows that it healed.
            if time.monotonic() + fault.seconds + fault.pause + 3 >= end:
                break
            self.strike(fault)
            time.sleep(fault.pause)
        self.say("no more faults")
        delivered, _ = feeder.communicate(timeout=seconds + HEAL_SECONDS)
        require(feeder.returncode == 0, "the input was not delivered")
        for thread, _ in self.zombies:
            thread.join()
        # A producer of the input that died knows less than the topic does.
        pipeline.wait_for_position(int(world.tool("end", pipeline.source)), HEAL_SECONDS)
        self.say("all input is read")
        self.check_process()
        self.wait_whole()
        stop(pipeline.process, 10)
        pipeline.finish(pipeline.instance)
        return int(delivered.split()[0])

    # ------------------------------------------------------------------------- the report

    def measure(self):
        """{label: [seconds]} and the longest gap outside of all faults is part of the fault before."""
        lines = self.ask("progress", self.pipeline.name)
        require(lines is not None, "the progress topic cannot be read")
        times = [int(line.split()[0]) for line in lines]
        seconds = {}
        for i, fault in enumerate(self.faults):
            until = self.faults[i + 1].struck_ms if i + 1 < len(self.faults) else times[-1]
            lost = first = 0
            previous = fault.from_ms
            for at in times:
                if at <= fault.from_ms:
                    continue
                gap = min(at, until) - previous
                first = first or gap
                previous = at
                lost += gap if gap > GAP_MS else 0
                if at >= until:
                    break
            fault.lost = max(lost, first) / 1000
            seconds.setdefault(fault.label, []).append(fault.lost)
        return seconds

    def report(self):
        seconds = self.measure()
        print("\nseconds without progress\n\n| fault | times | median | worst |\n| --- | --- | --- | --- |")
        for label in sorted(seconds):
            values = sorted(seconds[label])
            print(f"| {label} | {len(values)} | {values[len(values) // 2]:.1f} | {values[-1]:.1f} |")
        print()
        for fault in self.faults:
            print(f"    {fault.lost:5.1f} s  {fault}")
        print(flush=True)


def main():
    # Brokers must not stay frozen, nor processes behind.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs=4)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--rate", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=random.randrange(1, 1_000_000))
    parser.add_argument("--plan", default="")
    parser.add_argument("--keep", default="")
    parser.add_argument("--property", action="append", default=[])
    options = parser.parse_args()
    tidemark, topic_tool, chaos_tool, kafka_dir = options.programs
    os.environ["TIDEMARK_SEED"] = str(options.seed)
    world = World(tidemark, topic_tool, kafka_dir)
    print(f"seed {world.seed}", flush=True)
    problems = []
    chaos = None
    try:
        properties = [text.replace("=", ": ", 1) for text in options.property]
        chaos = Chaos(world, chaos_tool, properties)
        rows = chaos.run(options.seconds, options.rate, options.plan)
        problems += [problem for _, problem in chaos.zombies if problem is not None]
        chaos.report()
        result = chaos.pipeline.audit()
        print(f"audit: {result}")
        if int(result.split()[0]) < rows:
            problems.append(f"the source does not hold the {rows} rows that were delivered")
    except (Failed, subprocess.TimeoutExpired) as reason:
        problems.append(str(reason))
    finally:
        world.kafka("resume")
        if options.keep or problems:
            kept = options.keep or f"{world.folder}.kept"
            shutil.copytree(world.folder, kept, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("*.state"))
            print(f"logs: {kept}")
        world.close()
    for problem in problems:
        print(f"FAILED: {problem}")
    if problems:
        print(f"{len(problems)} failures, seed {world.seed}", flush=True)
    else:
        worst = max((fault.lost for fault in chaos.faults), default=0)
        print(f"{len(chaos.faults)} faults, {chaos.pipeline.lives} lives of the process, at most "
              f"{worst:.1f} s without progress, seed {world.seed}", flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
