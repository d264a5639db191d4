"""pleat-gridengine with a real cluster: allocations come, wait, end from outside; the qmaster falls silent, and is back."""

import contextlib
import json
import random
import subprocess

import pytest

from clusters import wait_until
from clusters.adapter import PROGRAMS, Adapter, Refused
from clusters.world import USER

PROGRAM = f"{PROGRAMS}/pleat-gridengine"
HOME = f"/media/home/{USER}"


@contextlib.contextmanager
def speaking(grid, *options, **more):
    adapter = Adapter(grid, *options, **more)
    try:
        assert adapter.hello["role"] == "gridengine" and adapter.hello["by"] == "commands"
        yield adapter
    finally:
        adapter.kill()


@pytest.fixture(name="g")
def fixture_g(grid):
    yield grid
    try:
        grid.until_empty()  # no test leaves a job
    finally:
        if grid.jobs():  # those after it are not to suffer
            end(grid, *grid.jobs())
            grid.until_empty()


def allocate(adapter, name="pleat-test-1", **wish):
    """On one node, if not said otherwise."""
    return adapter.allocate(name, **({"nodes": 1} | wish))


def granted(adapter, **wish):
    job = allocate(adapter, **wish)
    assert job["state"] == "pending" and job["nodes"] == []
    return adapter.notice("granted", job=job["job"])


def hold_all(grid):
    """Somebody else has all of it."""
    jobs = [grid.submit("-pe", "smp", grid.cpus) for _ in grid.nodes]
    wait_until(lambda: [grid.jobs().get(job) for job in jobs] == ["r"] * len(jobs), "all of it is taken")
    return jobs


def end(grid, *jobs):
    grid.command("qdel", ",".join(jobs))


# ---- what is there ----

def test_says_what_the_cluster_offers(g):
    with speaking(g) as adapter:
        cluster = adapter.ask("cluster")
        assert cluster["cluster"] == "g" and cluster["version"].startswith("SGE 8"), cluster
        assert cluster["partitions"] == [{"name": "all.q", "default": False, "up": True, "cpus": 8, "exclusive": False}]
        nodes = adapter.ask("nodes")["nodes"]
        assert [(node["name"], node["cpus"], node["used"], node["state"]) for node in nodes] == \
            [("g1", 4, 0, "idle"), ("g2", 4, 0, "idle")], nodes
        assert all(node["memory_mb"] > 100 for node in nodes), nodes
        g.command("qmod", "-d", "all.q@g2")
        job = granted(adapter, count=3)

        def as_it_is():
            return [(node["used"], node["state"]) for node in adapter.ask("nodes")["nodes"]]

        wait_until(lambda: as_it_is() == [(3, "used"), (0, "drained")], "the nodes are shown so")
        adapter.release(job)
        g.command("qmod", "-e", "all.q@g2")
        wait_until(lambda: as_it_is() == [(0, "idle"), (0, "idle")], "the nodes are idle")


# ---- allocations ----

def test_allocates_and_releases(g):
    with speaking(g) as adapter:
        job = granted(adapter, name="pleat-7-c1:3:12", count=3)
        assert job["name"].startswith("pleat-7-c1:3:12.") and job["job"] > 0
        [node] = job["nodes"]
        assert node["cpus"] == 3 and node["name"] in ("g1", "g2"), job
        other = granted(adapter, count=4)
        assert {"g1", "g2"} == {node["name"], other["nodes"][0]["name"]} and other["nodes"][0]["cpus"] == 4
        [found] = adapter.ask("jobs", prefix="pleat-7-c1:")["jobs"]
        assert (found["job"], found["name"], found["nodes"]) == (job["job"], job["name"], job["nodes"])
        assert adapter.release(job) == {"was_gone": False}
        assert adapter.release(other) == {"was_gone": False}
        # it is in qstat for seconds yet, and over for us
        assert adapter.release(job) == {"was_gone": True}
        g.until_empty()
        assert not [notice for notice in adapter.notices if notice[0] == "ended"], "it was us who ended them"


def test_on_several_nodes(g):
    with speaking(g) as adapter:
        job = granted(adapter, count=6, nodes=0)
        assert {node["name"]: node["cpus"] for node in job["nodes"]} in ({"g1": 4, "g2": 2}, {"g1": 2, "g2": 4}), job
        for node in job["nodes"]:
            out = g.world.path(f"{HOME}/on-{node['name']}")
            adapter.ask("run", job=job["job"], node=node["name"], argv=["sh", "-c", 'hostname >"$0"', f"{HOME}/{out.name}"])
            wait_until(lambda out=out: out.exists() and out.read_text(), "it runs there")
            assert out.read_text() == node["name"] + "\n"
            out.unlink()
        # one node has room for a few more, so these are there, though they might be apart
        few = granted(adapter, count=2, nodes=0, few=True)
        assert [node["cpus"] for node in few["nodes"]] == [2], few
        adapter.release(few)
        with pytest.raises(Refused) as refused:  # two are free
            allocate(adapter, count=3, nodes=0, now=True)
        assert refused.value.name == "busy", refused.value
        with pytest.raises(Refused) as refused:
            allocate(adapter, count=3, nodes=1, now=True)
        assert refused.value.name == "busy", refused.value

        def at_once():
            try:
                return granted(adapter, count=1, nodes=1, now=True)
            except Refused as error:  # Grid Engine shows what was released as taken for some seconds
                assert error.name == "busy", error
                return None
        adapter.release(wait_until(at_once, "what was released is free again"))
        adapter.release(job)
        with pytest.raises(Refused) as refused:
            allocate(adapter, count=9, nodes=0)
        assert refused.value.name == "invalid" and "no suitable queues" in refused.value.text


def test_passes_on_what_is_wished(g):
    g.add_queue("short.q", slots=2)
    g.command("qconf", "-Aprj", g.write("project", "name work\noticket 0\nfshare 0\nacl NONE\nxacl NONE\n"))
    with speaking(g) as adapter:
        wish = {"count": 2, "nodes": 1, "queue": "short.q", "project": "work", "account": "team.1", "minutes": 3,
                "memory_mb": 201, "resources": "arch=lx-amd64", "pe": "smp"}
        job = granted(adapter, **wish)
        assert job["end"] == job["start"] + 180, job
        shown = g.command("qstat", "-j", job["job"])
        lines = dict(line.split(":", 1) for line in shown.splitlines() if ":" in line)
        lines = {name: value.strip() for name, value in lines.items()}
        assert lines["owner"] == USER and lines["hard_queue_list"] == "short.q" and lines["project"] == "work"
        assert lines["account"] == "team.1" and lines["parallel environment"] == "smp range: 2"
        for resource in ("h_rt=180", "h_vmem=101M", "arch=lx-amd64"):
            assert resource in lines["hard resource_list"], shown
        adapter.release(job)
    g.until_empty()
    wait_until(lambda: g.command("qconf", "-dq", "short.q", check=False).returncode == 0, "the queue can be removed")
    g.command("qconf", "-dprj", "work")


def test_refuses_what_can_never_be(g):
    with speaking(g) as adapter:
        for wish, part in (({"queue": "nope"}, "nope"), ({"pe": "nope"}, "nope"), ({"project": "nope"}, "nope"),
                           ({"resources": "nope=1"}, "nope"), ({"count": 5}, "no suitable queues"),
                           ({"pe": "anywhere"}, "$pe_slots"), ({"pe": "closed"}, "control_slaves"),
                           ({"pe_nodes": "smp", "nodes": 0, "count": 5}, "$fill_up")):
            with pytest.raises(Refused) as refused:
                allocate(adapter, **wish)
            assert refused.value.name == "invalid" and part in refused.value.text, (wish, refused.value)
        for wish in ({"nodes": 2, "count": 2}, {"exclusive": True}):
            with pytest.raises(Refused) as refused:
                allocate(adapter, **wish)
            assert refused.value.name == "unsupported", (wish, refused.value)
    assert g.jobs() == {}


def test_without_a_parallel_environment_it_says_what_is_missing(g):
    with speaking(g) as adapter:
        shown = g.command("qconf", "-sp", "smp")
        g.command("qconf", "-Mp", g.write("environment-smp", shown.replace("TRUE", "FALSE")))
        with pytest.raises(Refused) as refused:
            allocate(adapter)
        assert refused.value.name == "invalid" and "control_slaves TRUE" in refused.value.text
        g.command("qconf", "-Mp", g.write("environment-smp", shown))
        adapter.release(granted(adapter))


def test_on_one_node_alone(g):
    with speaking(g) as adapter:
        jobs = [granted(adapter, count=1, nodes=1, on="g2"), granted(adapter, count=1, nodes=1, on="g1")]
        assert [job["nodes"][0]["name"] for job in jobs] == ["g2", "g1"], jobs
        for job in jobs:
            adapter.release(job)


def test_near_another_one_where_there_is_room(g):
    g.until_free()
    with speaking(g) as adapter:
        jobs = [granted(adapter, count=3, near="g2"), granted(adapter, count=1, near="g2")]
        assert [job["nodes"][0]["name"] for job in jobs] == ["g2", "g2"]
        jobs.append(granted(adapter, count=1, near="g2"))
        assert jobs[2]["nodes"][0]["name"] == "g1", "it waits for that node"
        for job in jobs:
            adapter.release(job)


def test_waits_in_the_queue_with_a_reason_and_then_gets_it(g):
    with speaking(g) as adapter:
        others = hold_all(g)
        first = allocate(adapter, count=4)
        adapter.notice("pending", job=first["job"], reason="Resources")
        second = allocate(adapter, "pleat-test-2", count=4)
        adapter.notice("pending", job=second["job"], reason="Priority")
        end(g, others[0])
        assert adapter.notice("granted", job=first["job"])["name"] == first["name"]
        adapter.notice("pending", job=second["job"], reason="Resources")
        held = allocate(adapter, "pleat-test-3")
        g.command("qhold", held["job"])
        adapter.notice("pending", job=held["job"], reason="Held")
        for job in (held, second, first):
            adapter.release(job)
        end(g, others[1])
        g.until_empty()
        assert not [notice for notice in adapter.notices if notice[0] == "ended"]


def test_where_no_queue_takes_jobs_that_is_the_reason(g):
    with speaking(g) as adapter:
        g.command("qmod", "-d", "all.q")
        job = allocate(adapter)
        adapter.notice("pending", job=job["job"], reason="Down")
        g.command("qmod", "-e", "all.q")
        adapter.release(adapter.notice("granted", job=job["job"]))


def test_tells_what_ended_from_outside(g):
    with speaking(g) as adapter:
        job = granted(adapter)
        end(g, str(job["job"]))
        ended = adapter.notice("ended", job=job["job"])
        assert ended["name"] == job["name"] and ended["why"] in ("DELETED", "GONE"), ended
        assert adapter.release(job) == {"was_gone": True}


def test_only_jobs_of_that_name_are_released(g):
    """Numbers begin again some day; and what is not ours is not touched."""
    other = g.submit("-N", "mine", user=USER)
    with speaking(g) as adapter:
        assert adapter.ask("release", job=int(other), name="pleat-1.00000000") == {"was_gone": True}
        assert list(g.jobs()) == [other]
        assert adapter.ask("jobs", prefix="pleat-")["jobs"] == []
    end(g, other)


def test_names_of_others_are_only_text(g):
    """In qstat's XML there are names of other users' jobs. (Grid Engine takes no blanks, brackets or backticks in them.)"""
    others = [g.submit("-N", name) for name in ("a<b&c", "x'\">]]>")]
    with speaking(g) as adapter:
        hold = hold_all_but(g, others)
        job = allocate(adapter, count=4)
        adapter.notice("pending", job=job["job"])
        assert [found["job"] for found in adapter.ask("jobs", prefix="pleat-")["jobs"]] == [job["job"]]
        adapter.release(job)
    end(g, *others, *hold)


def hold_all_but(grid, _others):
    """So much that a job of four cannot start."""
    jobs = [grid.submit("-pe", "smp", 1) for _ in grid.nodes]
    wait_until(lambda: all(state == "r" for state in grid.jobs().values()), "all of them run")
    return jobs


# ---- programs in them ----

def test_starts_a_program_in_an_allocation(g):
    script = 'read -r line; echo "$(hostname)|$1|$2|$3|$line" >"$OUT$4"; read -r line || exec sleep 100000'
    words = ["two  words", "$HOME`id`;y", "it's"]
    out = g.world.path(f"{HOME}/ran")
    with speaking(g) as adapter:
        job = granted(adapter, count=2)
        node = job["nodes"][0]["name"]
        adapter.ask("run", job=job["job"], node=node, argv=["sh", "-c", script, "sh", *words, f"{HOME}/ran"],
                    input="not for all\n")
        wait_until(lambda: out.exists() and out.read_text() == f"{node}|two  words|$HOME`id`;y|it's|not for all\n",
                   f"it runs there: {out.read_text() if out.exists() else None}")
        # nobody reads it in a command line, an environment or a file of Grid Engine's
        for host in (g.head, *g.nodes):
            for pid in host.pids():
                for part in ("cmdline", "environ"):
                    with contextlib.suppress(OSError), open(f"/proc/{pid}/{part}", "rb") as file:
                        assert b"not for all" not in file.read(), (host.name, pid, part)
        found = g.world.run("grep", "-rls", "not for all", g.dir, check=False).stdout
        assert found == "", found
        assert "not for all" not in g.command("qstat", "-j", job["job"])
        # it outlives the one who started it
        adapter.kill()
        with speaking(g) as adapter:
            [found] = adapter.ask("jobs", prefix="pleat-test-1")["jobs"]
            assert found["nodes"] == job["nodes"] and found["state"] == "running"
            sleeps = len(g.world[node].pids("sleep"))  # the host's own, the job's, and this one
            assert sleeps == 3
            adapter.release(found)
            wait_until(lambda: len(g.world[node].pids("sleep")) == 1, "the program has ended, and the job")
            g.until_empty()
        wait_until(lambda: not g.head.pids("qrsh"), "qrsh has ended")
    out.unlink()


def test_says_why_a_program_does_not_start(g):
    with speaking(g) as adapter:
        job = granted(adapter)
        node = job["nodes"][0]["name"]
        adapter.ask("run", job=job["job"], node=node, argv=["/no/such/program"])
        ended = adapter.notice("run_ended", job=job["job"])
        assert ended["code"] != 0 and "/no/such/program" in ended["text"], ended
        adapter.ask("run", job=job["job"], node=node, argv=["sh", "-c", "exit 3"])
        assert adapter.notice("run_ended", job=job["job"])["code"] == 3
        for wrong in ("g[1-2]", "g1,g2", "/etc/passwd", "-w", "", "g\n1", "all.q@g1"):
            with pytest.raises(Refused) as refused:
                adapter.ask("run", job=job["job"], node=wrong, argv=["true"])
            assert refused.value.name == "invalid"
        with pytest.raises(Refused) as refused:
            adapter.ask("run", job=job["job"], node=node, argv=["true"], environment={"SECRET": "x"})
        assert refused.value.name == "unsupported"
        adapter.release(job)


# ---- a qmaster in trouble ----

def test_a_qmaster_that_dies_and_is_back(g):
    with speaking(g) as adapter:
        job = granted(adapter)
        g.kill_qmaster()
        assert adapter.notice("controller", answers=False)["text"]
        with pytest.raises(Refused) as refused:
            allocate(adapter)
        assert refused.value.name == "closed", refused.value
        g.start_qmaster()
        adapter.notice("controller", answers=True)
        assert g.jobs() == {str(job["job"]): "r"}
        assert adapter.release(job) == {"was_gone": False}


def test_a_qmaster_that_is_too_late(g):
    """It carries out what it was asked after we have given it up: nobody wants that any more."""
    with speaking(g, "--limit", "10000") as adapter:
        adapter.release(granted(adapter))
        g.until_empty()
        g.freeze_qmaster()
        request = adapter.begin("allocate", name="late-1", count=1)
        with pytest.raises(Refused) as refused:
            adapter.answer(request)
        assert refused.value.name == "timeout", refused.value
        g.thaw_qmaster()
        job = wait_until(lambda: try_to_allocate(adapter), "it answers again")
        adapter.notice("granted", job=job["job"])
        wait_until(lambda: list(g.jobs()) == [str(job["job"])], "what came too late is gone")
        adapter.release(job)


def try_to_allocate(adapter):
    try:
        return allocate(adapter, "wanted")
    except Refused:
        return None


def test_commands_that_answer_nonsense(g):
    """Nothing of it is believed, or reaches a shell."""
    fake = g.world.path(f"{HOME}/fake")
    fake.mkdir()
    deep = "<a>" * 100 + "</a>" * 100
    answers = {"qstat": ["", "garbage", "<a>", "<a></b>", "<?xml version='1.0'?><a>&x;</a>", deep,
                         "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>"],
               "qsub": ["", "0", "-5", "99999999999999999999", "x12", "; rm"]}
    for name in answers:
        (fake / name).write_text("#!/bin/sh\nprintf '%s\\n' \"$ANSWER\"\n")
        (fake / name).chmod(0o755)
    for name, texts in answers.items():
        for text in texts:
            with speaking(g, PATH=f"{HOME}/fake:/usr/bin:/bin", ANSWER=text) as adapter:
                with pytest.raises(Refused) as refused:
                    adapter.ask("jobs", prefix="x") if name == "qstat" else allocate(adapter)
                assert refused.value.name == "protocol", (name, text, refused.value)
    with speaking(g, PATH="/nowhere") as adapter:
        with pytest.raises(Refused) as refused:
            adapter.ask("nodes")
        assert "qhost" in refused.value.text
    for name in answers:
        (fake / name).unlink()
    fake.rmdir()


# ---- what it is told ----

def test_refuses_what_makes_no_sense(g):
    with speaking(g) as adapter:
        for method, params in (
                ("allocate", {}), ("allocate", {"name": "x"}), ("allocate", {"name": "x y", "count": 1}),
                ("allocate", {"name": "x=y", "count": 1}), ("allocate", {"name": "x", "count": 1, "queue": "a\nb"}),
                ("allocate", {"name": "x", "count": 1, "pe": "-q"}), ("allocate", {"name": "x", "count": 1, "near": "*"}),
                ("allocate", {"name": "x", "count": 1, "nodes": 1, "on": "*"}),
                ("release", {}), ("release", {"job": 0, "name": "x"}), ("jobs", {"prefix": "a b"}),
                ("run", {"job": 1, "node": "g1"}), ("run", {"job": 1, "node": "g1", "argv": [1]})):
            with pytest.raises(Refused) as refused:
                adapter.ask(method, **params)
            assert refused.value.name == "invalid", (method, params, refused.value)
        assert adapter.ask("cluster")["cluster"] == "g"


def test_answers_whatever_it_is_told(g):
    """Each request has one answer, whatever is in it. Nothing of it reaches the cluster: no command is found."""
    chance = random.Random(18)
    values = [None, True, 0, -1, 1, 2 ** 31, 2 ** 63 - 1, 1.5, "", "g1", "-x", "a" * 300, "\n", "\u00e9", [], ["x"], {}, {"A": "b"}]
    members = ["name", "count", "nodes", "near", "on", "minutes", "memory_mb", "queue", "pe", "pe_nodes", "project", "account", "resources",
               "exclusive", "now", "job", "prefix", "node", "argv", "environment", "other"]
    right = {"name": "x", "count": 1, "job": 1, "prefix": "x", "node": "g1", "argv": ["x"]}
    with speaking(g, PATH="/nowhere") as adapter:
        for _ in range(300):
            params = right | {chance.choice(members): chance.choice(values) for _ in range(chance.randrange(4))}
            method = chance.choice(["cluster", "nodes", "allocate", "release", "jobs", "run", "hello", "\u00e9"])
            with pytest.raises(Refused) as refused:
                pytest.fail(f"{method} {params} is answered {adapter.ask(method, **params)}")
            assert refused.value.text
    assert g.jobs() == {}


def test_ends_with_its_input_and_says_what_is_wrong(g):
    adapter = Adapter(g)
    assert adapter.end() == 0
    done = g.head.run(PROGRAM, *g.adapter[1:], user=USER, text_in="garbage\n", check=False)
    assert done.returncode == 1 and "pleat-gridengine: " in done.stderr, done
    assert json.loads(done.stdout.splitlines()[-1])["id"] == 0, done
    for words, why in ((["--root", "/no/such"], "cannot read"), (["--root", "x"], "absolute"), (["--cell", "a/b"], "cell"),
                       (["--qmaster-port", "0"], "port"), (["--interval", "0"], "no number"), (["x"], "unexpected")):
        done = g.head.run(PROGRAM, *words, user=USER, check=False, text_in="")
        assert done.returncode in (1, 2) and why in done.stderr, done
    done = subprocess.run(g.head.enter(PROGRAM), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                          timeout=60)
    assert done.returncode == 1 and "no pipe" in done.stderr, done
