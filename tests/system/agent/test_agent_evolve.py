"""An agent that leads an evolving run, where the daemon, and the processes on other nodes, say what a test wants."""

import json
import os
import pathlib
import signal
import socket
import sys
import time

import pytest

from conftest import BUILD, INSTANCE, wait_until

PROCESS = pathlib.Path(__file__).resolve().parents[1] / "processes" / "process.py"
HERE = os.uname().machine
OTHER = "x86_64" if HERE == "aarch64" else "aarch64"


class Run:
    """Run 1, whose program has a name for each architecture."""

    def __init__(self, world, count=1, processes=None, **architectures):
        self.world, self.daemon, self.where = world, world.daemon, world.directory
        for name in (HERE, OTHER):
            program = self.where / f"program.{name}"
            program.write_text(f"#!/bin/sh\nexec {sys.executable} {PROCESS}\n")
            program.chmod(0o700)
        self.asked = 0
        world.start(1, str(self.where / "program.%{architecture}"), scratch=f"/dev/shm/pleat-{INSTANCE}-1",
                    processes={"count": count, "maximum": 16, "nodes": True, **(processes or {})},
                    env=["PATH=/usr/local/bin:/usr/bin:/bin", f"TEST_WHERE={self.where}"])
        self.daemon.call("architectures", run=1, **architectures)
        self.daemon.expect("started", 1)
        wait_until(lambda: self.heard("welcome"), "process 0 has said hello")

    def heard(self, what, **members):
        path = self.where / "0.log"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [line for line in lines if line.get("do") == what and members.items() <= line.items()]

    def tell(self, line):
        peer = socket.socket(socket.AF_UNIX)
        wait_until(lambda: (self.where / "0.sock").exists(), "process 0 listens")
        peer.connect(str(self.where / "0.sock"))
        peer.sendall(line.encode() + b"\n")
        peer.close()

    def add(self, **members):
        self.asked += 1
        self.tell(json.dumps({"do": "add", "number": self.asked, **members}))
        return wait_until(lambda: self.heard("added", number=self.asked), "it is answered")[0]

    def order(self, claim, part, site="there"):
        """A process is ordered on node 0 of another site; returns the number of the one that is wanted."""
        self.daemon.call("prepare", run=1, claim=claim, number=claim, node=0, site=site)
        wanted = self.daemon.expect("part_wanted", 1, part=part)
        assert (wanted["claim"], wanted["site"], wanted["node"]) == (claim, site, 0)
        return wanted["process"]["id"]

    def hello(self, part, number, address):
        self.daemon.call("part_told", run=1, part=part, ended=False)
        self.daemon.call("process_said", run=1, part=part, serial=1,
                         line={"do": "hello", "process": number, "pid": 1, "address": address})

    def prepare(self, claim, part):
        """A process is prepared on node 1."""
        self.daemon.call("prepare", run=1, claim=claim, number=claim, node=1)
        self.come(part, claim)
        self.daemon.expect("prepared", 1, claim=claim)

    def come(self, part, claim):
        """A process that is wanted on node 1 starts there, and says hello. Returns its number."""
        wanted = self.daemon.expect("part_wanted", 1, part=part)
        assert (wanted["claim"], wanted["node"]) == (claim, 1)
        number = wanted["process"]["id"]
        self.daemon.call("part_told", run=1, part=part, ended=False)
        self.daemon.call("process_said", run=1, part=part, serial=1,
                         line={"do": "hello", "process": number, "pid": 1, "address": f"tcp://192.0.2.1:{number}"})
        return number

    def told(self, part):
        """What a process there was told."""
        lines = [json.loads(params["line"])["do"] for params in self.daemon.seen("process_told", 1, part=part) if "line" in params]
        return [line for line in lines if line != "process"]

    def until_told(self, part, *lines):
        self.daemon.pump_until(lambda: self.told(part) == list(lines), f"part {part} was told {lines}")

    def end(self, left=True):
        """left: processes on node 1 are."""
        self.tell("EXIT 0")
        if left and self.daemon.seen("part_wanted", 1):
            self.daemon.pump_until(lambda: self.daemon.seen("part_unwanted", 1), "those that are left end")
        for params in self.daemon.seen("part_wanted", 1):
            self.daemon.call("part_told", run=1, part=params["part"], ended=True, code=0, signal=0)
        assert self.daemon.expect("exited", 1)["code"] == 0
        self.daemon.call("forget", run=1)


@pytest.fixture(name="run")
def fixture_run(linked):
    return Run(linked, machines={}, others=True)


def test_only_as_many_prepared_ones_end_as_requests_need(run):
    """They were prepared before it was known that their node has the architecture for which a request waits."""
    for part in (1, 2, 3):
        run.prepare(10 + part, part)
    for process in (4, 5):
        answer = run.add(arch=OTHER)
        assert (answer["process"], answer["ready"]) == (process, False)
    run.daemon.call("architectures", run=1, machines={"0": HERE, "1": OTHER}, others=False)
    for part in (1, 2):
        run.until_told(part, "welcome", "leave")
    # the next one takes what has stayed
    answer = run.add(arch=OTHER)
    assert (answer["process"], answer["ready"]) == (3, True)
    run.until_told(3, "welcome", "go")
    # the others come on the processors of those that have ended, without an order of the daemon's
    for part, new in ((1, 4), (2, 5)):
        run.daemon.call("part_told", run=1, part=part, ended=True, code=0, signal=0)
        assert run.come(new, 10 + part) == new
        run.daemon.expect("taken", 1, claim=10 + part)
    assert not run.daemon.seen("process_gone", 1)
    run.end()


def test_a_request_that_is_withdrawn_meanwhile(run):
    """What has ended for it is prepared again, since the daemon's order is for any process; and a later request that waits is not
    forgotten."""
    run.prepare(11, 1)
    assert run.add(arch=OTHER)["process"] == 2
    run.daemon.call("architectures", run=1, machines={"0": HERE, "1": OTHER}, others=False)
    run.until_told(1, "welcome", "leave")
    run.tell('{"do": "cancel", "number": 1}')
    wait_until(lambda: run.heard("done", number=1), "it is withdrawn")
    assert run.add(arch=OTHER) == {"do": "added", "number": 2, "process": 3, "ready": False}
    run.daemon.call("part_told", run=1, part=1, ended=True, code=0, signal=0)
    assert run.come(2, 11) == 3
    run.daemon.expect("taken", 1, claim=11)
    assert not run.daemon.seen("process_gone", 1)
    run.end()


def test_one_that_ends_for_a_request_is_lost_with_its_node(run):
    """Then another one ends for it."""
    for part in (1, 2):
        run.prepare(10 + part, part)
    assert run.add(arch=OTHER)["process"] == 3
    run.daemon.call("architectures", run=1, machines={"0": HERE, "1": OTHER}, others=False)
    run.until_told(1, "welcome", "leave")
    assert run.told(2) == ["welcome"]
    run.daemon.call("part_told", run=1, part=1, ended=True, lost=True)
    run.daemon.expect("process_gone", 1, claim=11)
    run.until_told(2, "welcome", "leave")
    run.daemon.call("part_told", run=1, part=2, ended=True, code=0, signal=0)
    assert run.come(3, 12) == 3
    run.daemon.expect("taken", 1, claim=12)
    run.end()


def takes(run, part, claim):
    """A process on another node is the application's."""
    run.prepare(claim, part)
    assert run.add()["ready"] is True
    run.until_told(part, "welcome", "go")
    run.daemon.expect("taken", 1, claim=claim)


@pytest.mark.parametrize("ends, reason, said", [({"code": 0, "signal": 0}, "stopped", "stopped"), ({"code": 0, "signal": 15}, "died", "died"),
                                                ({"lost": True}, "lost", "died")])
def test_one_leaves_before_its_site_takes_its_processor(run, ends, reason, said):
    """It has all of that time, and is not one of those that the application has announced. Whoever is too late is not counted as
    one that has left."""
    takes(run, 1, 11)
    takes(run, 2, 12)
    run.tell('{"do": "returning", "number": 90, "processes": 1}')
    wait_until(lambda: run.heard("done", number=90), "it is answered")
    for _ in range(2):  # the daemon may say it again
        run.daemon.call("leave", run=1, claim=11, within_ms=600000)
    run.until_told(1, "welcome", "go", "leave")
    assert len(run.daemon.seen("warning", 1)) == 1
    run.tell('{"do": "stop", "number": 91, "process": 2}')
    run.daemon.expect("part_unwanted", 1, part=2)  # the other one has less time
    assert not run.daemon.seen("part_unwanted", 1, part=1)
    run.daemon.call("part_told", run=1, part=1, ended=True, **ends)
    assert run.daemon.expect("process_gone", 1, claim=11)["reason"] == said
    wait_until(lambda: run.heard("process", state="gone", reason=reason), "the others hear it")
    assert run.daemon.seen("demanded", 1)[-1]["returning"] == 1
    run.daemon.call("leave", run=1, claim=11, within_ms=1000)  # late: it has gone
    run.daemon.call("part_told", run=1, part=2, ended=True, code=0, signal=0)
    run.daemon.expect("process_gone", 1, claim=12)
    run.daemon.expect("demanded", 1, returning=0)  # that one was
    run.end(left=False)


def test_one_that_does_not_leave_is_ended(run):
    takes(run, 1, 11)
    run.daemon.call("leave", run=1, claim=11, within_ms=0)
    run.until_told(1, "welcome", "go", "leave")
    run.daemon.expect("part_unwanted", 1, part=1)
    run.daemon.call("part_told", run=1, part=1, ended=True, code=0, signal=15)
    run.daemon.expect("process_gone", 1, claim=11)
    run.end(left=False)


@pytest.fixture(name="sites")
def fixture_sites(linked):
    return Run(linked, processes={"sites": "there,far"}, machines={}, others=True,
               sites={name: {"machines": {}, "others": True} for name in ("there", "far")})


@pytest.fixture(name="address")
def fixture_address():
    """Where a process at another site can be reached."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"tcp://127.0.0.1:{listener.getsockname()[1]}"


def demand(run, **members):
    return run.daemon.expect("demanded", 1, **members)


def test_requests_for_any_site_are_served_in_their_turn(sites, address):
    """By priority; of those of one priority, first what only that site can serve."""
    assert sites.add(site="*")["process"] == 1
    demand(sites, waiting=1, any=1, at={})
    assert sites.add(site="there")["process"] == 2
    demand(sites, waiting=2, any=1, at={"there": {"waiting": 1, "on": {}}})
    assert sites.add(site="*", priority=1)["process"] == 3
    demand(sites, waiting=3, any=2)
    for part, process in ((1, 3), (2, 2), (3, 1)):
        assert sites.order(10 + part, part) == process
        sites.hello(part, process, address)
        sites.daemon.expect("taken", 1, claim=10 + part)
        sites.until_told(part, "welcome")
    demand(sites, waiting=0, any=0, at={})
    sites.end()


def test_a_process_for_any_site_is_heard_when_it_is_reached(sites, address):
    """Before that its request can still be served elsewhere, and nobody hears of it."""
    assert sites.add(site="*")["process"] == 1
    assert sites.order(11, 1) == 1
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
    sites.hello(1, 1, nobody)
    sites.daemon.pump_until(lambda: sites.daemon.seen("part_unwanted", 1, part=1), "it is ended")
    sites.daemon.call("part_told", run=1, part=1, ended=True, code=0, signal=15)
    assert sites.daemon.expect("process_gone", 1, claim=11)["reason"] == "not started"
    assert not sites.daemon.seen("taken", 1) and sites.told(1) == []
    assert not sites.heard("process", process=1, state="running") and not sites.heard("process", process=1, state="gone")
    assert sites.order(12, 2, site="far") == 1
    sites.hello(2, 1, address)
    sites.daemon.expect("taken", 1, claim=12)
    wait_until(lambda: sites.heard("process", process=1, state="running"), "it is there")
    sites.end()


def test_another_site_that_cannot_start_it_does_not_end_the_request(sites, address):
    """However often, and also where its user could do something about that; for one that needs that site it does."""
    assert sites.add(site="*")["process"] == 1
    for part in range(1, 6):
        assert sites.order(10 + part, part) == 1
        sites.daemon.call("part_told", run=1, part=part, ended=True, failed=True, user_fault=part == 3, text="no such program",
                          code=0, signal=0)
        sites.daemon.expect("process_gone", 1, claim=10 + part)
    assert not sites.heard("process", process=1, state="gone")
    assert sites.order(16, 6) == 1
    sites.hello(6, 1, address)
    sites.daemon.expect("taken", 1, claim=16)
    assert sites.add(site="far")["process"] == 2
    assert sites.order(17, 7, site="far") == 2
    sites.daemon.call("part_told", run=1, part=7, ended=True, failed=True, user_fault=True, text="no such program", code=0, signal=0)
    wait_until(lambda: sites.heard("process", process=2, state="gone", reason="not started"), "its request is over")
    sites.end()


def test_what_is_prepared_at_another_site_is_for_any(sites, address):
    """One that is there before one that is just starting; and not for a request that needs no other site."""
    number = sites.order(11, 1)
    sites.hello(1, number, address)
    sites.daemon.expect("prepared", 1, claim=11)
    assert sites.add()["ready"] is False
    assert sites.add(site="*") == {"do": "added", "number": 2, "process": number, "ready": True}
    sites.daemon.expect("taken", 1, claim=11)
    sites.until_told(1, "welcome", "go")
    sites.end()


def test_the_list_of_all_processes_is_not_read_for_each_stop(world):
    """Processes that do not hear that they are to leave, since they are stopped, get SIGTERM, each at a time of its own."""
    lists = world.directory / "lists"
    world.first = world.agent(env={"LD_PRELOAD": os.path.join(BUILD, "tests", "agent-moments.so"), "LISTS": str(lists),
                                   "ASAN_OPTIONS": "verify_asan_link_order=0"})
    world.daemon.accept()
    run = Run(world, count=9, machines={}, others=True)
    pids = []
    for process in range(1, 9):
        log = world.directory / f"{process}.log"
        wait_until(lambda log=log: log.exists() and '"welcome"' in log.read_text(), "it has said hello")
        pids.append(json.loads(log.read_text().splitlines()[0])["pid"])
        os.kill(pids[-1], signal.SIGSTOP)
    for process in range(1, 9):
        run.asked += 1
        run.tell(json.dumps({"do": "stop", "number": run.asked, "process": process}))
        time.sleep(0.1)
    assert not run.heard("process", state="gone")
    before = lists.stat().st_size if lists.exists() else 0
    wait_until(lambda: len(run.heard("process", state="gone")) == 8, "they are gone")
    after = lists.stat().st_size if lists.exists() else 0
    assert after - before < 6, "it is read now and then, to look at the memory of all"
    assert not [pid for pid in pids if os.path.exists(f"/proc/{pid}")]
    run.end()
