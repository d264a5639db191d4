#!/usr/bin/env python3
"""Messages of libpleat-process against bare libzmq with the same encryption, and against Open MPI on this machine. The three take
turns. Then adding and stopping processes (live.py), also across hosts (hosts.py).
usage: measure.py --build DIRECTORY [--repeats N] [--percent P] [--processes N] [--requests N] [--json]"""

import argparse
import json
import os
import pathlib
import secrets
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True

import hosts
import live

CASES = {"latency_8": "us", "latency_65536": "us", "bandwidth_1024": "MB/s", "bandwidth_1048576": "MB/s"}


def serve(listener, count):
    """What an agent says to `count` processes: who they are, and where."""
    connections, addresses = {}, {}
    for _ in range(count):
        connection, _ = listener.accept()
        file = connection.makefile("rw")
        hello = json.loads(file.readline())
        connections[hello["process"]], addresses[hello["process"]] = (connection, file), hello["address"]
    known = [{"process": number, "state": "running", "address": address} for number, address in sorted(addresses.items())]
    for number, (_, file) in connections.items():
        file.write(json.dumps({"do": "welcome", "process": number, "parent": None, "state": "running", "processes": known}) + "\n")
        file.flush()
    for connection, file in connections.values():
        for _ in file:
            pass
        connection.close()


def results(children):
    texts = [child.communicate(timeout=300)[0] for child in children]
    if any(child.returncode for child in children):
        sys.exit("bench agent: a process failed")
    return {name: float(value) for name, value in (line.split() for line in "".join(texts).splitlines())}


def start(*words, **variables):
    return subprocess.Popen([str(word) for word in words], env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True)


def run_pleat(build, folder, percent):
    path, secret = f"{folder}/socket", f"{folder}/secret"
    pathlib.Path(secret).write_text(secrets.token_hex(32))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    thread = threading.Thread(target=serve, args=(listener, 2), daemon=True)
    thread.start()
    children = [start(build / "bench/bench_agent_pleat", percent, PLEAT_PROCESS=str(number), PLEAT_PROCESS_SOCKET=path,
                      PLEAT_PROCESS_SECRET=secret, PLEAT_PROCESS_HOST="ipc", PLEAT_PROCESS_DIR=folder) for number in (0, 1)]
    found = results(children)
    thread.join(10)
    listener.close()
    return found


def run_zmq(build, folder, percent):
    keys = subprocess.run([build / "bench/bench_agent_keys"], capture_output=True, text=True, check=True).stdout.splitlines()
    return results([start(build / "bench/bench_agent_zmq", percent, f"ipc://{folder}/bare", *keys, number) for number in (0, 1)])


def run_mpi(build, _, percent):
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return results([start("mpirun.openmpi", "-n", 2, "--oversubscribe", build / "bench/bench_agent_mpi", percent, **root)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--percent", type=int, default=100)
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if min(options.repeats, options.percent, options.processes, options.requests) < 1:
        parser.error("--repeats, --percent, --processes and --requests are at least 1")
    if options.processes > 1024:
        parser.error("--processes is at most 1024: no more requests of a job wait")
    build = options.build.resolve()
    ways = {"pleat": run_pleat, "zmq": run_zmq}
    if (build / "bench/bench_agent_mpi").exists() and shutil.which("mpirun.openmpi"):
        ways["mpi"] = run_mpi
    found = {way: {name: [] for name in CASES} for way in ways}
    for turn in range(options.repeats):
        order = list(ways)
        for way in order[turn % len(order):] + order[:turn % len(order)]:
            with tempfile.TemporaryDirectory(prefix="plb", dir="/tmp") as folder:
                for name, value in ways[way](build, folder, options.percent).items():
                    found[way][name].append(value)
    asked = live.measure(build, options.repeats, options.processes, options.requests)
    over = hosts.measure(build, options.repeats)
    rows = []
    for name, unit in CASES.items():
        for way in ways:
            if way != "pleat":
                value, baseline = (statistics.median(found[one][name]) for one in ("pleat", way))
                rows.append({"name": f"agent_{name}_against_{way}", "value": value, "unit": unit, "baseline": baseline,
                             "ratio": value / baseline, "goal": None, "met": None})
    if options.json:
        print("[\n" + ",\n".join(json.dumps(row) for row in rows + live.rows(asked) + hosts.rows(over)) + "\n]")
        return
    print(f"{'':20}" + "".join(f"{way:>30}" for way in ways) + "   medians [smallest .. largest]")
    for name, unit in CASES.items():
        cells = [f"{statistics.median(values):.4g} [{min(values):.4g} .. {max(values):.4g}]"
                 for values in (found[way][name] for way in ways)]
        print(f"{name:20}" + "".join(f"{cell:>30}" for cell in cells) + f"   {unit}")
    for row in rows:
        print(f"{row['name']}: {row['ratio']:.2f} times")
    print("\n" + live.table(asked, options.processes, options.requests))
    if over:
        print(hosts.table(over))


main()
