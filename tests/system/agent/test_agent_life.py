"""The agent's own life: lost daemons, predecessors, locks, bad messages, its end."""

import os
import random
import select
import signal
import subprocess

import pytest

from conftest import INSTANCE, LIMIT_S, PATIENCE, Failure, Lost, children_of, is_alive, wait_until


def test_hello(world):
    agent = world.agent(instance="some-instance", node=4)
    hello = world.daemon.accept()
    assert hello["role"] == "agent"
    assert hello["protocol"] == 1
    assert (hello["instance"], hello["site"], hello["node"]) == ("some-instance", "local", 4)
    assert hello["pid"] == agent.pid
    assert hello["shared"] == "/dev/shm"


def test_requests_need_a_hello(world):
    world.agent()
    world.daemon.accept(hello=False)
    assert "hello" in world.daemon.fails("protocol", "list")
    world.daemon.send({"method": "hello", "params": {"protocol": 1, "role": "daemon"}})
    assert world.daemon.call("list")["runs"] == []


def test_wrong_daemons_are_left(world):
    world.agent()
    for hello in ({"protocol": 99, "role": "daemon"}, {"protocol": 1, "role": "client"}, {}):
        world.daemon.accept(hello=False)
        world.daemon.send({"method": "hello", "params": hello})
        try:
            while True:
                world.daemon.pump()
        except Lost:
            pass
    world.daemon.accept()
    assert world.daemon.call("list")["runs"] == []


def test_runs_survive_a_lost_daemon(linked):
    os.mkfifo(linked.directory / "fifo")
    linked.start(1, "bash", "-c", "read < fifo; exit 6")
    linked.start(2, "bash", "-c", "echo $$ > pids; sleep 1000")
    linked.start(3, "no-such-program")
    pid = linked.daemon.expect("started", 1)["pid"]
    linked.daemon.expect("started", 2)
    linked.daemon.expect("start_failed", 3)
    linked.daemon.drop()
    with open(linked.directory / "fifo", "w", encoding="ascii") as fifo:
        fifo.write("go\n")
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "run 1 has ended and was reaped")

    linked.daemon.notifications.clear()
    linked.daemon.accept()
    # before `list` the agent is silent: the second call would bring up what it said of the first
    linked.start(4, "true")
    linked.daemon.call("forget", run=99)
    assert linked.daemon.notifications == []
    runs = linked.daemon.call("list")["runs"]
    assert [(run["run"], run["state"]) for run in runs[:3]] == [
        (1, "exited"),
        (2, "running"),
        (3, "failed"),
    ]
    assert runs[0]["pid"] == pid
    assert linked.daemon.expect("exited", 1)["code"] == 6
    linked.daemon.expect("started", 2)
    linked.daemon.expect("start_failed", 3)
    linked.daemon.expect("exited", 4)
    for run in (1, 3, 4):
        linked.daemon.call("forget", run=run)
    linked.daemon.call("forget", run=1)
    linked.daemon.drop()
    linked.daemon.notifications.clear()
    linked.daemon.accept()
    assert [run["run"] for run in linked.daemon.call("list")["runs"]] == [2]
    linked.daemon.expect("started", 2)
    assert {params["run"] for _, params in linked.daemon.notifications} == {2}


def test_forget_needs_an_end(linked):
    linked.start(1, "sleep", "1000")
    assert "kill" in linked.daemon.fails("state", "forget", run=1)
    linked.daemon.call("kill", run=1)
    linked.daemon.expect("exited", 1)
    linked.daemon.call("forget", run=1)
    linked.daemon.fails("not found", "kill", run=1)
    linked.daemon.fails("not found", "signal", run=1, signal=15)


def test_list_comes_in_pages(linked):
    for run in range(1, 4):
        linked.start(run, "true")
        linked.daemon.expect("exited", run)
    assert [run["run"] for run in linked.daemon.call("list", after=2)["runs"]] == [3]
    assert linked.daemon.call("list", after=3) == {"runs": [], "more": False}
    linked.daemon.fails("invalid", "list", after=-1)


def test_bad_requests_are_answered(linked):
    linked.daemon.fails("unsupported", "dance")
    for method in ("start", "ask", "resize", "withdraw", "signal", "kill", "forget"):
        linked.daemon.fails("invalid", method)
    linked.start(1, "sleep", "1000")
    linked.daemon.expect("started", 1)
    for number in (0, -1, 65, "TERM"):
        linked.daemon.fails("invalid", "signal", run=1, signal=number)
    for grace in (-1, "1", 1e9):
        linked.daemon.fails("invalid", "kill", run=1, grace_s=grace)
    assert linked.daemon.call("list")["runs"][0]["state"] == "running"


def random_request(chance, directory, run):
    """A request in which some of the members are not what they should be."""
    wrong = [None, True, -1, 0, 1.5, 1 << 62, "x", "", "/", [], [1], ["A=b"], ["true"], {}, {"a": 1},
             "x" * 5000, "\u00e9", {"argv": ["true"], "env": []}, 65536]
    method = chance.choice(["start", "ask", "resize", "withdraw", "signal", "kill", "forget", "list",
                            "relaunch"])
    params = {"run": run, "job": str(run), "argv": ["true"], "env": ["A=b"], "cwd": str(directory),
              "stdout": f"{directory}/o", "stderr": f"{directory}/e", "mailbox_ranks": 2, "resize": 3,
              "offered": 2, "target": 2, "processes": 2, "mandatory": False, "grace_s": 0.1, "signal": 18,
              "after": 0, "linger_s": 0}
    for name in chance.sample(sorted(params), chance.randint(0, 4)):
        params[name] = chance.choice(wrong)
    if chance.random() < 0.2:
        del params[chance.choice(sorted(params))]
    if params.get("run") == 1:  # that one must go on
        params["run"] = 2
    return method, params


def test_requests_with_anything_in_them(linked, tmp_path):
    """Each is answered, whatever its members are; a run that they are not about goes on."""
    chance = random.Random(20261121)
    linked.start(1, "sleep", "1000")
    linked.daemon.expect("started", 1)
    answered = refused = 0
    for number in range(2000):
        method, params = random_request(chance, tmp_path, 2 + number % 50)
        try:
            linked.daemon.call(method, **params)
            answered += 1
        except Failure as failure:
            assert failure.text
            refused += 1
    assert answered > 100 and refused > 100
    runs = {run["run"]: run["state"] for run in linked.daemon.call("list")["runs"]}
    assert runs[1] == "running"


def test_garbage_costs_only_the_connection(linked):
    linked.start(1, "sleep", "1000")
    linked.daemon.expect("started", 1)
    for garbage in (
        b"hello\n",
        b"\x00\xff\n",
        b"[]\n",
        b"{}\n",
        b'{"id":{},"method":"list"}\n',
        b'{"id":1,"method":7}\n',
        b"[" * 100000 + b"\n",
        b"x" * (2 * 1024 * 1024),
    ):
        try:
            linked.daemon.connection.sendall(garbage)
            linked.daemon.connection.shutdown(1)
            while True:
                linked.daemon.pump()
        except (Lost, BrokenPipeError, ConnectionResetError):
            linked.daemon.drop()
        linked.daemon.accept()
        assert linked.daemon.call("list")["runs"][0]["state"] == "running"


def test_unexpected_messages_are_ignored(linked):
    linked.daemon.send({"method": "started", "params": {"run": 1}})
    linked.daemon.send({"id": 5, "result": {}})
    linked.daemon.send({"id": 5, "error": {"code": -1, "name": "invalid", "text": "x"}})
    assert linked.daemon.call("list")["runs"] == []


def test_strays_of_a_killed_agent_are_ended(world):
    first = world.agent()
    world.daemon.accept()
    stubborn = "trap '' TERM; echo $$ >> pids; while :; do sleep 1000 & wait; done"
    world.start(1, "bash", "-c", f"setsid bash -c \"{stubborn}\" & {stubborn}".replace("$$ ", "\\$\\$ ", 1))
    pids = world.pids("pids", 2)
    [(reaper, _)] = children_of(first.pid)
    os.kill(reaper, signal.SIGKILL)  # else it would end them
    wait_until(lambda: not is_alive(reaper), "it is gone")
    first.kill()
    first.wait()
    assert all(is_alive(pid) for pid in pids)

    # neither another instance nor another node has to do with them
    for options in ({"instance": INSTANCE + "2"}, {"instance": INSTANCE[:-1]}, {"node": 1}):
        other = world.agent(**options)
        world.daemon.accept()
        assert world.daemon.call("list")["runs"] == []
        world.daemon.call("quit")
        other.wait(30)
        assert all(is_alive(pid) for pid in pids)

    world.agent()
    world.daemon.accept()  # it calls only when they are gone
    assert not any(is_alive(pid) for pid in pids)
    assert f"which an earlier agent left ({INSTANCE}:1)" in world.log.read_text()


def test_a_living_agents_runs_are_no_strays(linked):
    linked.start(1, "sleep", "1000")
    pid = linked.daemon.expect("started", 1)["pid"]
    kept = linked.daemon.connection
    second = linked.agent()
    linked.daemon.accept()
    assert linked.daemon.call("list")["runs"] == []
    assert is_alive(pid)
    linked.daemon.call("quit")
    second.wait(30)
    linked.daemon.connection = kept
    assert linked.daemon.call("list")["runs"][0]["state"] == "running"


def place(world, run, node):
    """A directory of that run, as pleatd names them: with what the agent of the node has told of itself."""
    return f"/dev/shm/pleat-{INSTANCE}-{run:016x}{world.marks[node]}"


def holding(world, run, node=0, **options):
    """An agent with a run that keeps a file in its directory."""
    agent = world.agent(node=node, **options)
    world.marks = {**getattr(world, "marks", {}), node: world.daemon.accept()["mark"]}
    world.start(run, "sh", "-c", 'touch "$1/kept"; echo $$ >"$2"; exec sleep 1000', "holding", place(world, run, node),
                str(world.directory / f"pids{run}"), scratch=place(world, run, node))
    world.pids(f"pids{run}", 1)
    return agent


def test_the_guard_removes_what_a_killed_agent_had(world):
    guard = holding(world, 1, more=["--guarded"])
    [(agent, _)] = children_of(guard.pid)
    assert os.path.exists(place(world, 1, 0) + "/kept")
    os.kill(agent, signal.SIGKILL)
    assert guard.wait() == 128 + signal.SIGKILL
    world.agents.remove(guard)
    assert not os.path.exists(place(world, 1, 0))


@pytest.mark.parametrize("first", ["guard", "agent"])
def test_guard_and_agent_are_told_to_end(world, first):
    """As a batch system does with all processes: that is one request, and a run has its time to end."""
    guard = world.agent(more=["--guarded"])
    world.daemon.accept()
    world.start(1, "sh", "-c", 'trap "sleep 0.3; echo bye; exit 0" TERM; echo $$ >pids; while :; do sleep 0.05; done')
    world.pids("pids", 1)
    [(agent, _)] = children_of(guard.pid)
    told = [guard.pid, agent]
    for pid in told if first == "guard" else reversed(told):
        os.kill(pid, signal.SIGTERM)
    assert guard.wait() == 0
    assert world.output(1) == "bye\n"


def test_the_next_agent_of_a_host_removes_what_dead_ones_had(world):
    """Whatever the node of the dead agent; but nothing of a living agent, and nothing that others made."""
    dead = holding(world, 1, node=1)
    dead.kill()
    dead.wait()
    [pid] = world.pids("pids1", 1)
    holding(world, 2, node=2)
    others = [f"/dev/shm/pleat-{INSTANCE}x-1+local+9+", f"/dev/shm/pleat-{INSTANCE}-not-locked+local+9"]
    for other in others:
        os.mkdir(other)
    try:
        assert not os.path.exists(place(world, 1, 1)), "the second one has removed it"
        holding(world, 3, node=3)
        assert os.path.exists(place(world, 2, 2) + "/kept")
        assert all(os.path.isdir(other) for other in others)
    finally:
        for other in others:
            os.rmdir(other)
    wait_until(lambda: not is_alive(pid), "its reaper has ended the run")


def test_one_agent_per_node(world):
    state = world.directory / "state"
    world.agent(state=state)
    world.daemon.accept()
    second = subprocess.run(
        world.command(state=state), capture_output=True, text=True, check=False, timeout=30
    )
    assert second.returncode == 1
    assert "another agent serves node 0 of site local" in second.stderr
    other = world.agent(state=state, node=1)
    world.daemon.accept()
    world.daemon.call("quit")
    assert other.wait(30) == 0


def test_sigterm_ends_runs_and_agent(linked):
    linked.start(1, "bash", "-c", "trap 'echo ended; exit 2' TERM; echo $$ > pids; sleep 1000 & wait")
    pids = linked.pids("pids", 1)
    linked.first.send_signal(signal.SIGTERM)
    exited = linked.daemon.expect("exited", 1)
    assert (exited["code"], exited["lost"]) == (2, True), exited
    assert linked.first.wait(30) == 0
    assert linked.output(1) == "ended\n"
    assert not is_alive(pids[0])


@pytest.mark.parametrize("both", [True, False])
def test_a_run_is_told_to_end_before_its_agent_is(linked, both):
    """A batch system tells all processes of an allocation, one after the other: a program that exits with 0 then has not done its
    work. One of which only the reaper was told has."""
    linked.start(1, "bash", "-c", "trap 'echo ended; exit 0' TERM; echo $$ > pids; sleep 1000 & wait")
    [pid] = linked.pids("pids", 1)
    [(reaper, _)] = children_of(linked.first.pid)
    ends = select.poll()  # the agent waits for a second whether it is told, too: nobody is to look now and then
    ends.register(os.pidfd_open(reaper), select.POLLIN)
    os.kill(reaper, signal.SIGTERM)
    os.kill(pid, signal.SIGTERM)
    assert ends.poll(1000 * LIMIT_S * PATIENCE), "something is left of the run"
    if both:
        linked.first.send_signal(signal.SIGTERM)
    exited = linked.daemon.expect("exited", 1)
    assert (exited["code"], exited["lost"], exited["told"]) == (0, both, both), exited
    assert linked.output(1) == "ended\n"
    if both:
        assert linked.first.wait(30) == 0


def test_a_reaper_is_not_in_the_group_of_its_agent(linked):
    """A batch system that follows process groups does not tell the run to end, so it must not tell its reaper."""
    linked.start(1, "bash", "-c", "echo $$ > pids; sleep 1000")
    [pid] = linked.pids("pids", 1)
    [(reaper, _)] = children_of(linked.first.pid)
    assert os.getpgid(reaper) == reaper and os.getpgid(pid) == pid and os.getpgid(linked.first.pid) not in (reaper, pid)


SIGNALLED = "trap 'exit 0' USR1; trap : TERM; echo $$ > pids; while :; do sleep 0.02; done"


@pytest.mark.parametrize("ends, by", [("trap 'exit 0' TERM; echo $$ > pids; sleep 1000 & wait", None),
                                      ("trap '' TERM; echo $$ > pids; while [ ! -e go ]; do sleep 0.02; done", None),
                                      (SIGNALLED, {"method": "signal"}), (SIGNALLED, {"method": "limit_signal", "to": "all"})])
def test_a_held_run_is_told_to_end(world, ends, by):
    """With all of its allocation: a program that exits with 0 then has not done its work, unless it ignores that, or got another
    signal, after which it ends in time."""
    agent = world.agent(more=["--guarded", "--hold", "30"])
    world.daemon.accept()
    world.start(1, "bash", "-c", ends)
    [pid] = world.pids("pids", 1)
    [(inner, _)] = children_of(agent.pid)
    [(reaper, _)] = children_of(inner)
    os.kill(reaper, signal.SIGTERM)
    agent.send_signal(signal.SIGTERM)
    wait_until(lambda: "runs have" in world.log.read_text(), "it holds")
    os.kill(pid, signal.SIGTERM)
    (world.directory / "go").touch()
    if by:
        world.daemon.call(run=1, signal=int(signal.SIGUSR1), **by)
    exited = world.daemon.expect("exited", 1)
    assert (exited["code"], exited["lost"]) == (0, "exit 0' TERM" in ends), exited


LINGERS = 'trap "echo told; exit 3" TERM; echo $$ >pids; while [ ! -e go ]; do sleep 0.02; done; echo went'


def holds(world, seconds):
    """An agent whose node is taken away, as a batch system does: it holds its run."""
    agent = world.agent(more=["--guarded", "--hold", str(seconds)])
    world.daemon.accept()
    world.start(1, "sh", "-c", LINGERS)
    world.pids("pids", 1)
    agent.send_signal(signal.SIGTERM)
    wait_until(lambda: "runs have" in world.log.read_text(), "it holds")
    return agent


def test_a_run_is_held_until_it_has_left(world):
    agent = holds(world, 60)
    assert world.daemon.call("list")["runs"][0]["run"] == 1
    world.touch("go")
    exited = world.daemon.expect("exited", 1)
    assert (exited["code"], exited["signal"], exited["lost"]) == (0, 0, False), exited
    assert world.output(1) == "went\n" and agent.poll() is None
    world.daemon.call("forget", run=1)
    assert agent.wait(30) == 0 and "nothing is left here" in world.log.read_text()


@pytest.mark.parametrize("again", [False, True])
def test_a_run_is_held_for_a_while(world, again):
    """... or until the next signal: then it is ended, as it would be without that."""
    agent = holds(world, 60 if again else 1)
    if again:
        agent.send_signal(signal.SIGTERM)
    exited = world.daemon.expect("exited", 1)
    assert (exited["code"], exited["lost"]) == (3, True), exited
    assert agent.wait(30) == 0 and world.output(1) == "told\n"


def test_a_run_is_held_without_a_daemon_too(world):
    """One may come in time."""
    agent = world.agent(more=["--hold", "60"])
    world.daemon.accept()
    world.start(1, "sh", "-c", LINGERS)
    world.pids("pids", 1)
    world.daemon.drop()
    wait_until(lambda: "lost the daemon" in world.log.read_text(), "it is alone")
    agent.send_signal(signal.SIGTERM)
    wait_until(lambda: "runs have 60 s to leave" in world.log.read_text(), "it holds the run")
    world.daemon.accept()
    assert world.daemon.call("list")["runs"][0]["state"] == "running"
    world.touch("go")
    exited = world.daemon.expect("exited", 1)
    assert (exited["code"], exited["lost"]) == (0, False), exited
    assert world.output(1) == "went\n"
    world.daemon.call("forget", run=1)
    assert agent.wait(30) == 0


def test_hangup_and_lost_stderr_do_not_end_it(world):
    reader, writer = os.pipe()
    with subprocess.Popen(world.command(), stderr=writer, stdin=subprocess.DEVNULL) as agent:
        world.agents.append(agent)
        os.close(writer)
        os.close(reader)
        world.daemon.accept()
        agent.send_signal(signal.SIGHUP)
        world.daemon.drop()  # makes it log
        world.daemon.accept()
        assert world.daemon.call("list")["runs"] == []
        agent.terminate()
        assert agent.wait(30) == 0


def test_quit_waits_for_runs(linked):
    os.mkfifo(linked.directory / "fifo")
    linked.start(1, "bash", "-c", "read < fifo; exit 5")
    linked.daemon.call("quit")
    linked.daemon.fails("state", "start", run=2, argv=["true"], env=[], cwd="/", stdout="/dev/null", stderr="/dev/null")
    with open(linked.directory / "fifo", "w", encoding="ascii") as fifo:
        fifo.write("go\n")
    assert linked.daemon.expect("exited", 1)["code"] == 5
    assert linked.first.wait(30) == 0


def test_quit_without_runs(linked):
    assert linked.daemon.call("quit") == {}
    assert linked.first.wait(30) == 0


def test_idle_agent_without_daemon_ends(linked):
    """After 10 s without daemon and without work; one that has a run stays."""
    linked.start(1, "sleep", "1000")
    linked.daemon.expect("started", 1)
    linked.daemon.close()
    os.unlink(linked.daemon.path)
    lonely = linked.agent(node=1)
    assert lonely.wait(60) == 0
    assert linked.first.poll() is None
    linked.daemon.listen()
    linked.daemon.accept()
    assert linked.daemon.call("list")["runs"][0]["state"] == "running"
