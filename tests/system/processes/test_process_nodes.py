"""Evolving jobs with processes on two nodes: two agents on this machine, each with CPUs of its own."""
import os
import signal

from conftest import KEPT, NODES, Evolving, daemon, is_alive, wait_until

LIVE = os.path.join(daemon.BUILD, "tests", "process-live")
FLOW = os.path.join(daemon.BUILD, "apps", "flow")


def environment(pid):
    with open(f"/proc/{pid}/environ", "rb") as file:
        return dict(entry.split(b"=", 1) for entry in file.read().split(b"\0") if b"=" in entry)


def node_of(pid):
    return int(environment(pid)[b"PLEAT_NODE"].split(b":")[1])


def agent_of(pid):
    return int(environment(pid)[b"PLEAT_AGENT_PID"].split(b":")[0])


def spread(pleat, text="", count=2, *options):
    """A job that fills the node that leads it, so that what it adds is on the other one."""
    pleat.configure(text=NODES + text)
    job = Evolving(pleat, "-n", count, "--max", 4, *options)
    for process in range(count):
        job.wait(process, "welcome")
    return job


def test_an_added_process_is_on_another_node(pleat):
    """It has a processor there, and the run's secret in a file of its own; it hears of the others, and they of it."""
    job = spread(pleat)
    assert {node_of(job.pid(process)) for process in range(2)} == {0}
    answer = job.add()
    assert (answer["process"], answer["ready"]) == (2, False)
    welcome = job.wait(2, "welcome", state="running")
    assert {about["process"] for about in welcome["processes"]} == {0, 1, 2}
    there = job.pid(2)
    assert node_of(there) == 1 and len(os.sched_getaffinity(there)) == 1
    assert agent_of(there) != agent_of(job.pid(0))
    begun = job.wait(2, "begun")
    assert (begun["secret"], begun["socket"]) == ("0o600", "0o600")
    paths = [environment(job.pid(process))[b"PLEAT_PROCESS_SECRET"] for process in (0, 2)]
    assert paths[0] != paths[1] and open(paths[0], "rb").read() == open(paths[1], "rb").read()
    for name, value in environment(there).items():
        assert open(paths[0], "rb").read().strip() not in value, name
    hosts = [environment(job.pid(process))[b"PLEAT_PROCESS_HOST"] for process in (0, 2)]
    assert b"ipc" not in hosts
    job.wait(0, "process", process=2, state="running")
    job.size(3)
    shown = pleat.job(job.job)
    assert {slots["node"] for slots in shown["slots"]} == {0, 1}, shown["slots"]
    assert job.end()["state"] == "done"
    pleat.wait_free(4)
    assert not is_alive(there) and not os.path.exists(paths[1])
    wait_until(lambda: sorted(pleat.output(job.job).splitlines()) == [f"process {n}" for n in range(3)], f"all have written: {pleat.output(job.job)!r}", 10)


def test_one_of_another_node_asks(pleat):
    """What it says goes to the agent that leads, and is answered, once."""
    job = spread(pleat)
    job.add()
    job.wait(2, "welcome", state="running")
    assert job.add(2)["process"] == 3
    job.wait(3, "welcome", state="running", parent=2)
    assert node_of(job.pid(3)) == 1
    number = job.say(3, "group", name="far", join=True)
    job.wait(3, "done", number=number)
    assert job.wait(0, "process", process=3, state="running", groups=["far"])
    number = job.say(2, "stop", process=3)
    job.wait(2, "done", number=number)
    assert job.wait(1, "process", process=3, state="gone")["reason"] == "stopped"
    job.size(3)
    job.tell(2, "EXIT 3")
    assert job.wait(0, "process", process=2, state="gone")["code"] == 3
    job.size(2)
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_one_is_prepared_on_another_node(pleat):
    """It is handed over at once, and another one that is not needed is ended."""
    job = spread(pleat, KEPT)
    job.wait(2, "welcome", state="prepared")
    assert node_of(job.pid(2)) == 1
    assert job.add()["ready"] is True
    job.wait(2, "go", parent=0)
    job.wait(3, "welcome", state="prepared")
    number = job.say(2, "add")
    assert job.wait(2, "added", number=number)["ready"] is True
    job.wait(3, "go", parent=2)
    job.size(4)
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_a_program_of_its_own_on_another_node(pleat):
    job = spread(pleat, KEPT)
    job.wait(2, "welcome", state="prepared")
    there = job.pid(2)
    path = pleat.path("own")
    job.add(argv=["/bin/sh", "-c", f'echo "$OWN $PLEAT_NODE" > {path}.tmp; mv {path}.tmp {path}; sleep 1000'],
            env=["OWN=mine", f"TEST_WHERE={job.where}"])
    wait_until(lambda: os.path.exists(path), "its program runs")
    assert open(path, encoding="utf-8").read() == "mine local:1\n"
    assert not is_alive(there)
    job.wait(0, "process", process=2, state="running")
    number = job.say(0, "stop", process=2)
    job.wait(0, "done", number=number)
    job.wait(0, "process", process=2, state="gone", reason="stopped")
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_a_wish_for_a_node(pleat):
    """It is met by what is prepared there, and never by one elsewhere."""
    job = spread(pleat, KEPT)
    job.wait(2, "welcome", state="prepared")
    for wish in ({"node": "0"}, {"node": os.uname().nodename}):
        assert "no process is prepared now where" in job.add(**wish)["text"]
    assert "site 'there' is not possible" in job.add(site="there")["text"]
    assert "no process of the architecture 'vax'" in job.add(arch="vax")["text"]
    assert "on node 'nowhere' is not possible" in job.add(node="nowhere")["text"]
    assert "no process is prepared now where" in job.add(node="7")["text"]
    answer = job.add(node="1", site="local")
    assert (answer["process"], answer["ready"]) == (2, True)
    job.wait(2, "go")
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_a_program_that_is_not_there(pleat):
    """Its user's fault: it is not tried again."""
    job = spread(pleat)
    job.add(argv=["/nowhere/program"])
    job.wait(0, "process", process=2, state="gone", reason="not started")
    job.size(2)
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_pleatd_is_killed_while_processes_are_on_two_nodes(pleat):
    """What is said meanwhile is said again when it is back; nothing is done twice."""
    job = spread(pleat)
    job.add()
    job.wait(2, "welcome", state="running")
    job.size(3)
    pids = [job.pid(process) for process in range(3)]
    pleat.kill_daemon()
    first = job.say(2, "add")
    second = job.say(0, "stop", process=1)
    job.wait(0, "done", number=second)
    pleat.call("info")
    wait_until(lambda: len([line for line in job.heard(2) if line.get("do") == "welcome"]) > 1, "it is welcome again")
    job.tell(2, f'{{"do":"add","number":{first}}}') # as the library does when it was not answered
    assert job.wait(2, "added", number=first)["process"] == 3
    job.tell(2, f'{{"do":"add","number":{first}}}')
    wait_until(lambda: len([line for line in job.heard(2) if line.get("do") == "added"]) >= 2, "it is answered again")
    assert {line["process"] for line in job.heard(2) if line.get("do") == "added"} == {3}
    job.wait(3, "welcome", state="running")
    job.size(3)
    assert [is_alive(pid) for pid in pids] == [True, False, True]
    assert job.end()["state"] == "done"
    pleat.wait_free(4)
    assert not any(is_alive(pid) for pid in pids)


def test_pleatd_is_killed_while_a_job_on_two_nodes_ends(pleat):
    job = spread(pleat)
    job.add()
    job.wait(2, "welcome", state="running")
    job.size(3)
    there = job.pid(2)
    pleat.call("info")
    pleat.kill_daemon()
    job.tell(0, "EXIT 0")
    assert pleat.wait_end(job.job)["state"] == "done"
    pleat.wait_free(4)
    assert not is_alive(there)


def test_the_agent_of_another_node_is_killed(pleat):
    """What it had started is lost, which the others hear; the run goes on, and gets another one."""
    job = spread(pleat, KEPT)
    job.wait(2, "welcome", state="prepared")
    job.add()
    job.wait(2, "go")
    job.wait(3, "welcome", state="prepared")
    job.size(3)
    pids = [job.pid(2), job.pid(3)]
    os.kill(agent_of(pids[0]), signal.SIGKILL)
    assert job.wait(0, "process", process=2, state="gone")["reason"] == "lost"
    wait_until(lambda: not any(is_alive(pid) for pid in pids), "its processes are gone")
    job.size(2)
    job.wait(4, "welcome", state="prepared")
    assert node_of(job.pid(4)) == 1
    assert job.end()["state"] == "done"
    assert pleat.job(job.job)["attempt"] == 0
    pleat.wait_free(4)


def test_the_agent_that_leads_is_killed(pleat):
    """The run is over, also on the other node; the job starts anew."""
    job = spread(pleat)
    job.add()
    job.wait(2, "welcome", state="running")
    job.size(3)
    pids = [job.pid(process) for process in range(3)]
    os.kill(agent_of(pids[0]), signal.SIGKILL)
    wait_until(lambda: not any(is_alive(pid) for pid in pids), "its processes are gone")
    wait_until(lambda: pleat.job(job.job)["attempt"] == 1 and pleat.job(job.job)["state"] == "running", "it runs again")
    wait_until(lambda: job.pid(0) not in pids, "its first process has begun anew")
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_it_can_be_kept_to_one_node(pleat):
    job = spread(pleat, "", 2, "--one-node")
    assert job.add()["ready"] is False
    other = pleat.submit("-n", 2, "--", "true") # on the other node
    assert pleat.wait_end(other)["state"] == "done"
    assert pleat.job(job.job)["processors"] == 2
    assert b"PLEAT_PROCESS_HOST" in environment(job.pid(0))
    assert environment(job.pid(0))[b"PLEAT_PROCESS_HOST"] == b"ipc"
    assert job.end()["state"] == "done"
    pleat.wait_free(4)


def test_a_stubborn_process_on_another_node(pleat):
    """Nothing of a run is left when it has ended."""
    job = spread(pleat)
    job.add()
    job.wait(2, "welcome", state="running")
    job.size(3)
    job.is_stubborn(2)
    there = job.pid(2)
    assert job.end()["state"] == "done"
    assert not is_alive(there)
    pleat.wait_free(4)


def nodes_used(pleat, number):
    return {node_of(pid) for pid in pleat.job_pids(number)}


def test_a_program_of_the_library_over_two_nodes(pleat):
    """Work goes to processes that come and go on both, with messages between them."""
    pleat.configure(text=NODES + KEPT)
    go = pleat.path("go")
    number = pleat.submit("--evolving", "-n", 2, "--max", 4, "--", LIVE, 2, 6, "wait", go)
    pleat.wait_for(number, "running")
    wait_until(lambda: pleat.job(number)["buffer"]["prepared"] == 1, "one is prepared")
    assert nodes_used(pleat, number) == {0, 1}
    open(go, "w", encoding="ascii").close()
    assert pleat.wait_end(number)["state"] == "done", (pleat.output(number), pleat.output(number, "stderr"))
    assert pleat.output(number).startswith("12 results, ") and pleat.output(number, "stderr") == ""
    pleat.wait_free(4)
    assert pleat.job(number)["buffer"]["requests"] == 12


def test_pleatd_dies_while_a_program_works_on_two_nodes(pleat):
    pleat.configure(text=NODES + KEPT)
    number = pleat.submit("--evolving", "-n", 2, "--max", 4, "--", LIVE, 2, 10)
    pleat.wait_for(number, "running")
    for requests in (4, 10):
        wait_until(lambda: (pleat.job(number)["buffer"] or {"requests": 99})["requests"] >= requests, "it has asked")
        if pleat.job(number)["state"] == "running":
            pleat.kill_daemon()
            pleat.call("info")
    ended = pleat.wait_end(number)
    assert ended["state"] == "done", ended
    assert pleat.output(number).startswith("20 results, ")
    pleat.wait_free(4)


def test_flow_over_two_nodes(pleat):
    """It computes there what one process computes, to the last bit."""
    pleat.configure(text=NODES)
    number = pleat.submit("--evolving", "-n", 2, "--max", 4, "--", FLOW, "--objects", 600, "--pretend", 3)
    seen = set()
    wait_until(lambda: seen.update(nodes_used(pleat, number)) or seen == {0, 1} or
               pleat.job(number)["state"] in ("done", "failed", "cancelled"), "it is on both nodes")
    assert seen == {0, 1}, (pleat.output(number), pleat.output(number, "stderr"))
    assert pleat.wait_end(number)["state"] == "done", (pleat.output(number), pleat.output(number, "stderr"))
    assert "RESULT ok cells=" in pleat.output(number)
    pleat.wait_free(4)
