"""pleat-slurm with two real clusters: allocations come, wait, end from outside; controllers fall silent, and are back."""

import contextlib
import json
import random
import re
import shutil
import socket
import subprocess

import pytest

from clusters import wait_until
from clusters.adapter import PROGRAMS, Adapter, Refused
from clusters.slurm import IMPATIENT as SETTINGS  # noqa: F401
from clusters.world import SHARED, USER

WAYS = ("libslurm", "commands")
PROGRAM = f"{PROGRAMS}/pleat-slurm"
SECRET = "pleat-1-a-0:5e4a\n"


@contextlib.contextmanager
def speaking(slurm, way="libslurm", *options, **more):
    adapter = Adapter(slurm, *(["--commands"] if way == "commands" else []), *options, **more)
    try:
        assert adapter.hello["role"] == "slurm" and adapter.hello["by"] == way
        yield adapter
    finally:
        adapter.kill()


@pytest.fixture(name="a")
def fixture_a(slurms):
    yield slurms[0]
    slurms[0].must_be_empty()


@pytest.fixture(name="b")
def fixture_b(slurms):
    yield slurms[1]
    slurms[1].must_be_empty()


def until_granted(adapter, job):
    """With commands, or where it had to wait."""
    return job if job["state"] == "running" else adapter.notice("granted", job=job["job"])


# ---- what is there ----

@pytest.mark.parametrize("way", WAYS)
def test_says_what_the_cluster_offers(a, way):
    with speaking(a, way) as adapter:
        cluster = adapter.ask("cluster")
        assert cluster["cluster"] == "a" and cluster["version"].startswith("2") and cluster["kill_wait_s"] == 1
        assert cluster["partitions"] == [
            {"name": "main", "default": True, "up": True, "nodes": "a[1-2]", "node_count": 2, "cpus": 8,
             "exclusive": False, "accounts": "", "groups": "", "qos": ""},
            {"name": "short", "default": False, "up": True, "nodes": "a[1-2]", "node_count": 2, "cpus": 8,
             "max_minutes": 10, "default_minutes": 5, "max_nodes": 1, "exclusive": False, "accounts": "", "groups": "",
             "qos": ""}]
        nodes = adapter.ask("nodes")
        assert [(node["name"], node["cpus"], node["used"], node["state"], node["memory_mb"])
                for node in nodes["nodes"]] == [("a1", 4, 0, "idle", 1000), ("a2", 4, 0, "idle", 1000)]
        a.command("scontrol", "update", "nodename=a2", "state=drain", "reason=a test of State=IDLE")
        job = until_granted(adapter, adapter.allocate(count=3))

        def as_it_is():
            return [(node["used"], node["state"]) for node in adapter.ask("nodes")["nodes"]]

        wait_until(lambda: as_it_is() == [(3, "used"), (0, "drained")], "the nodes are shown so")
        adapter.release(job)
        a.command("scontrol", "update", "nodename=a2", "state=resume")
        wait_until(lambda: as_it_is() == [(0, "idle"), (0, "idle")], "the nodes are idle")


def test_two_clusters_at_once(a, b):
    with speaking(a) as one, speaking(b) as other:
        jobs = [adapter.allocate(count=2) for adapter in (one, other)]
        assert [job["nodes"] for job in jobs] == [[{"name": "a1", "cpus": 2}], [{"name": "b1", "cpus": 2}]]
        one.release(jobs[0])
        other.release(jobs[1])


# ---- allocations ----

@pytest.mark.parametrize("way", WAYS)
def test_allocates_and_releases(a, way):
    with speaking(a, way) as adapter:
        job = adapter.allocate("pleat-7-claim-12", count=3)
        assert job["name"].startswith("pleat-7-claim-12.") and job["job"] > 0
        job = until_granted(adapter, job)
        assert job["nodes"] == [{"name": "a1", "cpus": 3}], job
        several = until_granted(adapter, adapter.allocate(count=5, nodes=2))
        assert sorted(node["name"] for node in several["nodes"]) == ["a1", "a2"]
        assert sum(node["cpus"] for node in several["nodes"]) == 5, several
        assert adapter.release(job) == {"was_gone": False}
        assert adapter.release(several) == {"was_gone": False}
        assert adapter.release(job) == {"was_gone": True}
        a.until_empty()
        assert not [notice for notice in adapter.notices if notice[0] == "ended"], "it was us who ended them"


@pytest.mark.parametrize("way", WAYS)
def test_some_nodes_are_taken_back(a, way):
    with speaking(a, way) as adapter:
        job = until_granted(adapter, adapter.allocate(count=6, nodes=2))
        for wrong, name in (({"job": job["job"] + 1}, "not found"), ({"name": "another"}, "not found"),
                            ({"nodes": []}, "invalid"), ({"nodes": ["a[1-2]"]}, "invalid"), ({"nodes": "a1"}, "invalid")):
            with pytest.raises(Refused) as refused:
                adapter.ask("keep", **({"job": job["job"], "name": job["name"], "nodes": ["a1"]} | wrong))
            assert refused.value.name == name, (wrong, refused.value)
        adapter.ask("keep", job=job["job"], name=job["name"], nodes=["a1"])
        assert a.command("squeue", "-h", "-o", "%N").split() == ["a1"]
        adapter.ask("run", job=job["job"], node="a1", argv=["true"])
        assert adapter.notice("run_ended", job=job["job"])["code"] == 0
        assert adapter.release(job) == {"was_gone": False}


@pytest.mark.parametrize("way", WAYS)
def test_passes_on_what_is_wished(a, way):
    with speaking(a, way) as adapter:
        job = adapter.allocate(nodes=1, count=2, partition="short", minutes=3, memory_mb=200, exclusive=True)
        granted = until_granted(adapter, job)
        assert granted["nodes"] == [{"name": "a1", "cpus": 4}], "not the whole node"
        shown = a.command("scontrol", "show", "job", job["job"])
        for part in ("Partition=short", "TimeLimit=00:03:00", "MinMemoryNode=200M", f"UserId={USER}"):
            assert part in shown, (part, shown)
        adapter.release(job)
        for wish in ({"partition": "no such"}, {"constraint": "fast"}, {"memory_mb": 100000}):
            with pytest.raises(Refused) as refused:
                adapter.allocate(**wish)
            assert refused.value.name == "invalid" and refused.value.text, refused.value
        # Slurm lets such a one wait, since its configuration could change
        job = adapter.allocate(count=9)
        assert adapter.notice("pending", job=job["job"], never=True)["reason"].startswith("Partition")
        adapter.release(job)


@pytest.mark.parametrize("way", WAYS)
def test_an_account_and_a_constraint_are_passed_on(a, way):
    a.command("scontrol", "update", "NodeName=a2", "AvailableFeatures=quick", "ActiveFeatures=quick")
    try:
        with speaking(a, way) as adapter:
            job = adapter.allocate(nodes=1, count=1, account="physics", constraint="quick")
            assert [node["name"] for node in until_granted(adapter, job)["nodes"]] == ["a2"]
            shown = a.command("scontrol", "show", "job", job["job"])
            assert "Account=physics" in shown and "Features=quick" in shown, shown
            adapter.release(job)
    finally:
        a.command("scontrol", "update", "NodeName=a2", "AvailableFeatures=", "ActiveFeatures=")


@pytest.mark.parametrize("way", WAYS)
def test_near_another_one_where_there_is_room(a, way):
    with speaking(a, way) as adapter:
        jobs = [adapter.allocate(count=3, near="a2")]
        assert jobs[0]["nodes"][0]["name"] == "a2"
        jobs.append(adapter.allocate(count=1, near="a2"))
        assert jobs[1]["nodes"][0]["name"] == "a2"
        jobs.append(adapter.allocate(count=1, near="a2"))
        jobs[2] = until_granted(adapter, jobs[2])
        assert jobs[2]["nodes"][0]["name"] == "a1", "it waits for that node"
        for job in jobs:
            adapter.release(job)


@pytest.mark.parametrize("way", WAYS)
def test_on_one_node_alone(a, way):
    """Where others have its processors it is refused now, or waits for it."""
    with speaking(a, way) as adapter:
        full = until_granted(adapter, adapter.allocate(count=4, nodes=1, on="a2"))
        assert full["nodes"] == [{"name": "a2", "cpus": 4}], full
        with pytest.raises(Refused) as refused:
            adapter.allocate(count=1, nodes=1, on="a2", now=True)
        assert refused.value.name == "busy"
        waiting = adapter.allocate(count=1, nodes=1, on="a2")
        assert waiting["state"] == "pending", waiting
        adapter.release(full)
        assert until_granted(adapter, waiting)["nodes"] == [{"name": "a2", "cpus": 1}]
        adapter.release(waiting)
        with pytest.raises(Refused) as refused:
            adapter.allocate(count=1, on="a2")
        assert refused.value.name == "invalid"


@pytest.mark.parametrize("way", WAYS)
def test_few_nodes_and_now(a, way):
    with speaking(a, way) as adapter:
        jobs = [adapter.allocate(count=1, near="a1"), adapter.allocate(count=4, few=True)]
        assert [job["nodes"] for job in jobs] == [[{"name": "a1", "cpus": 1}], [{"name": "a2", "cpus": 4}]], jobs
        jobs.append(adapter.allocate(count=3, now=True))
        assert jobs[2]["state"] == "running" and jobs[2]["nodes"] == [{"name": "a1", "cpus": 3}], jobs
        adapter.release(jobs[1])
        wait_until(lambda: str(jobs[1]["job"]) not in a.jobs(), "its processors are free")
        a_few = adapter.allocate(count=4, few=True, now=True)
        assert a_few["nodes"] == [{"name": "a2", "cpus": 4}], a_few
        for job in (jobs[0], jobs[2], a_few):
            adapter.release(job)


@pytest.mark.parametrize("way", WAYS)
def test_waits_in_the_queue_and_then_gets_it(a, way):
    with speaking(a, way) as adapter:
        holder = until_granted(adapter, adapter.allocate(count=8, minutes=5))
        with pytest.raises(Refused) as refused:
            adapter.allocate(count=2, now=True)
        assert refused.value.name == "busy"
        waiting = adapter.allocate(count=2)
        assert waiting["state"] == "pending" and waiting["nodes"] == []
        told = adapter.notice("pending", job=waiting["job"])
        assert told["reason"] in ("Priority", "Resources", "None"), told
        # Slurm's own estimate, once it has made one: when the holder's time is over
        while "start" not in told:
            told = adapter.notice("pending", job=waiting["job"])
        assert told["start"] > 1_000_000_000, told
        adapter.release(holder)
        granted = adapter.notice("granted", job=waiting["job"])
        [node] = granted["nodes"]  # whichever of them Slurm has cleaned up first
        assert node["name"] in ("a1", "a2") and node["cpus"] == 2 and granted["name"] == waiting["name"], granted
        adapter.release(waiting)


def test_what_waits_can_be_given_up(a):
    with speaking(a) as adapter:
        holder = adapter.allocate(count=8)
        waiting = adapter.allocate(count=1)
        assert adapter.release(waiting) == {"was_gone": False}
        adapter.release(holder)


@pytest.mark.parametrize("way", WAYS)
def test_tells_what_ended_from_outside(a, way):
    with speaking(a, way) as adapter:
        job = until_granted(adapter, adapter.allocate(count=1))
        a.command("scancel", job["job"])
        ended = adapter.notice("ended", job=job["job"])
        assert ended["name"] == job["name"] and ended["why"] in ("CANCELLED", "COMPLETING"), ended
        assert adapter.release(job) == {"was_gone": True}
        waiting = adapter.allocate(count=8, partition="main")
        until_granted(adapter, waiting)
        # a node is declared dead
        a.command("scontrol", "update", "nodename=a2", "state=down", "reason=a test")
        ended = adapter.notice("ended", job=waiting["job"])
        assert ended["why"] in ("NODE_FAIL", "COMPLETING", "CANCELLED"), ended
        # its slurmd says that it is there, and has it back sooner or later
        a.command("scontrol", "update", "nodename=a2", "state=resume", check=False)
        a.until_idle()


def test_only_jobs_of_that_name_are_released(a):
    """A controller that has lost its state begins to count from 1."""
    other = a.command("sbatch", "--parsable", "-J", "mine", "-o", "/dev/null", user=USER,
                      text_in="#!/bin/sh\nexec sleep 100000\n").strip()
    for way in WAYS:
        with speaking(a, way) as adapter:
            assert adapter.ask("release", job=int(other), name="pleat-1.00000000") == {"was_gone": True}
            assert list(a.jobs()) == [other]
    a.command("scancel", other)
    a.until_empty()


# ---- programs in them ----

def test_starts_a_program_in_an_allocation(a):
    script = 'read -r line; echo "$SECRET $(hostname) $# $line" >"$OUT"; read -r line || exec sleep 100000'
    with speaking(a) as adapter:
        job = adapter.allocate(count=2, near="a2")
        adapter.ask("run", job=job["job"], node="a2", argv=["sh", "-c", script, "sh", "two words", "$x;y"],
                    environment={"SECRET": "not for all", "OUT": "/media/home/tester/ran"}, input="not for all\n")
        out = a.world.path("/media/home/tester/ran")
        wait_until(lambda: out.exists() and out.read_text() == "not for all a2 2 not for all\n", "it runs there")
        # nobody reads it in a command line
        for host in (a.head, *a.nodes):
            for pid in host.pids():
                with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
                    assert b"not for all" not in file.read()
        # it outlives the one who started it
        adapter.kill()
        with speaking(a) as adapter:
            [found] = adapter.ask("jobs", prefix="pleat-test-1")["jobs"]
            assert found["nodes"] == job["nodes"] and found["state"] == "running"
            assert len(a.nodes[1].pids("sleep")) == 2  # the first one is the host's own
            adapter.release(found)
            wait_until(lambda: len(a.nodes[1].pids("sleep")) == 1, "the program has ended")
            a.until_empty()
        wait_until(lambda: not a.head.pids("srun"), "srun has ended")


def what_a_node_gets(a, adapter, **wanted):
    """The input of a program there, as srun carried it."""
    job = until_granted(adapter, adapter.allocate())
    out = a.world.path("/media/home/tester/got")
    adapter.ask("run", job=job["job"], node=job["nodes"][0]["name"], argv=["sh", "-c", 'cat >"$0"', "/media/home/tester/got"],
                input=SECRET, **wanted)
    ended = adapter.notice("run_ended", job=job["job"])
    assert ended["code"] == 0, ended
    adapter.release(job)
    got = out.read_text()
    out.unlink()
    return got


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_is_sealed_on_its_way(a, way):
    """Only this user opens it, once on each host; as it is only where that is wished."""
    with speaking(a, way) as adapter:
        got = what_a_node_gets(a, adapter, secret=True)
        kind, socket, credential = got.split()
        assert kind == "munge" and socket.endswith("/munge/socket") and credential.startswith("MUNGE:"), got
        open_it = ["unmunge", "-S", socket, "-m", "/dev/null"]
        for user, code, said in ((None, 18, ""), (USER, 0, SECRET), (USER, 17, SECRET)):
            done = a.head.run(*open_it, user=user, text_in=credential, check=False)
            assert done.returncode == code and (code == 17 or done.stdout == said), (user, done)
        assert what_a_node_gets(a, adapter) == SECRET
    with speaking(a, way, "--no-munge") as adapter:
        assert what_a_node_gets(a, adapter, secret=True) == SECRET


@pytest.mark.parametrize("way", WAYS)
def test_without_a_sealed_secret_nothing_is_started(a, way):
    """srun is started while munge seals. It ends where that fails, without its input; and the next one gets its own."""
    with speaking(a, way) as adapter:
        job = until_granted(adapter, adapter.allocate())
        got = a.world.path("/media/home/tester/got")
        wanted = {"job": job["job"], "node": job["nodes"][0]["name"], "secret": True,
                  "argv": ["sh", "-c", 'cat >"$0.new" && test -s "$0.new" && mv "$0.new" "$0"', "/media/home/tester/got"]}
        socket = a.world.path(f"{SHARED}/munge/socket")
        elsewhere = socket.with_name("elsewhere")
        with pytest.raises(Refused) as refused:
            adapter.ask("run", input="x" * 5000 + "\n", **wanted)
        assert refused.value.name == "too big", refused.value
        socket.rename(elsewhere)
        try:
            with pytest.raises(Refused) as refused:
                adapter.ask("run", input=SECRET, **wanted)
        finally:
            elsewhere.rename(socket)
        assert "munge cannot seal a key" in refused.value.text, refused.value
        wait_until(lambda: not re.search("^[^Z ]+ +srun$", a.head.run("ps", "-eo", "stat,comm").stdout, re.M), "no srun is left")
        assert not [notice for notice in adapter.notices if notice[0] == "run_ended"], "they were refused"
        assert not got.exists(), got.read_text()
        adapter.ask("run", input=SECRET, **wanted)
        ended = adapter.notice("run_ended", job=job["job"])
        assert ended["code"] == 0 and got.read_text().startswith("munge "), ended
        adapter.release(job)
        got.unlink()


def test_an_srun_that_ends_while_its_secret_is_sealed(a):
    """The request is refused, and says what srun said; that it has ended is not told as well."""
    own = a.world.path("/media/home/tester/own")
    own.mkdir()
    own.chmod(0o777)
    (own / "srun").write_text('#!/bin/sh\necho "srun: error: no such luck" >&2\ntouch "${0%srun}ended"\nexit 1\n')
    (own / "srun").chmod(0o755)
    munged = a.world.path(f"{SHARED}/munge/socket")
    elsewhere = munged.with_name("elsewhere")
    with speaking(a, "commands", PATH="/media/home/tester/own:/usr/bin:/bin") as adapter:
        job = until_granted(adapter, adapter.allocate())
        munged.rename(elsewhere)
        try:
            with socket.socket(socket.AF_UNIX) as deaf:
                deaf.bind(str(munged))
                munged.chmod(0o777)
                deaf.listen()
                deaf.settimeout(60)
                number = adapter.begin("run", job=job["job"], node=job["nodes"][0]["name"], secret=True, input=SECRET, argv=["cat"])
                sealing = deaf.accept()[0]
                wait_until((own / "ended").exists, "srun is over")
                while adapter.take(0.5):
                    pass
                assert number not in adapter.answers
                elsewhere.rename(munged)  # where it asks again
                sealing.close()
        finally:
            if elsewhere.exists():
                elsewhere.rename(munged)
        with pytest.raises(Refused) as refused:
            adapter.answer(number)
        assert refused.value.text == "srun has ended at once: srun: error: no such luck"
        while adapter.take(0.5):
            pass
        assert not [notice for notice in adapter.notices if notice[0] == "run_ended"]
        adapter.release(job)
    shutil.rmtree(own)


def test_an_agent_says_why_it_cannot_open_its_key(a):
    with speaking(a) as adapter:
        sealed = what_a_node_gets(a, adapter, secret=True)
    agent = [f"{PROGRAMS}/pleat-agent", "--connect", "127.0.0.1:9", "--key-fd", "0", "--instance", "x", "--site", "a", "--node", "1"]
    kind, socket, credential = sealed.split()
    for line, why in ((sealed, "not of the form IDENTITY:KEY"), (sealed, "munge cannot open the key: Replayed credential"),
                      (f"{kind} {socket} {credential[:-9]}AAAAAAAA:", "munge cannot open the key: "),
                      (f"{kind} /no/munged {credential}", "munge cannot open the key: "),
                      (f"{kind} here {credential}", "not of the form munge SOCKET CREDENTIAL"),
                      (f"{kind} {socket}", "not of the form munge SOCKET CREDENTIAL"), ("munge ", "not of the form munge")):
        done = a.head.run(*agent, user=USER, text_in=line, check=False)
        assert done.returncode == 1 and why in done.stderr, (line, done)


def test_says_why_a_program_does_not_start(a):
    with speaking(a) as adapter:
        job = adapter.allocate()
        adapter.ask("run", job=job["job"], node="a1", argv=["/no/such/program"])
        ended = adapter.notice("run_ended", job=job["job"])
        assert ended["code"] == 2 and "srun: error: a1: task 0" in ended["text"], ended
        adapter.ask("run", job=job["job"], node="a1", argv=["sh", "-c", "exit 3"])
        assert adapter.notice("run_ended", job=job["job"])["code"] == 3
        for node in ("a[1-2]", "a1,a2", "/etc/passwd", "-w", "", "a\n1"):
            with pytest.raises(Refused) as refused:
                adapter.ask("run", job=job["job"], node=node, argv=["true"])
            assert refused.value.name == "invalid"
        adapter.release(job)


# ---- a controller in trouble ----

@pytest.mark.parametrize("way", WAYS)
def test_a_controller_that_dies_and_is_back(b, way):
    with speaking(b, way) as adapter:
        job = until_granted(adapter, adapter.allocate(count=1))
        b.kill_controller()
        said = adapter.notice("controller", answers=False)
        assert said["text"]
        with pytest.raises(Refused) as refused:
            adapter.allocate(count=1)
        assert refused.value.name == "closed", refused.value
        b.start_controller()
        adapter.notice("controller", answers=True)
        # what it did not write before it died may be lost: then that is what is told
        if str(job["job"]) in b.jobs():
            adapter.release(job)
        else:
            assert adapter.notice("ended", job=job["job"])["why"] == "GONE"
        b.until_empty()


def test_a_controller_that_is_too_late(b):
    """It carries out what it was asked after we have given it up: nobody wants that any more."""
    with speaking(b, "libslurm", "--limit", "1000") as adapter:
        adapter.release(adapter.allocate())
        b.freeze_controller()
        requests = [adapter.begin("allocate", name=f"late-{index}", count=1) for index in range(3)]
        for request in requests:
            with pytest.raises(Refused) as refused:
                adapter.answer(request)
            assert refused.value.name == "timeout", refused.value
        # it is asked nothing meanwhile, but answers what needs no controller
        with pytest.raises(Refused) as refused:
            adapter.ask("allocate", count=1)
        assert refused.value.name == "invalid"
        b.thaw_controller()
        job = until_granted(adapter, wait_until(lambda: try_to_allocate(adapter), "it answers again"))
        wait_until(lambda: list(b.jobs()) == [str(job["job"])], "what came too late is gone")
        adapter.release(job)
        b.until_empty()


def try_to_allocate(adapter):
    try:
        return adapter.allocate("wanted")
    except Refused:
        return None


def questions(slurm):
    """How often the controller was asked for a user's jobs."""
    counts = re.findall(r"REQUEST_JOB_USER_INFO .* count:(\d+)", slurm.command("sdiag"))
    return int(counts[0]) if counts else 0


def test_asks_no_more_than_once_an_interval_and_not_while_there_is_nothing(a):
    with speaking(a, interval_ms=1000) as adapter:
        before = questions(a)
        jobs = [adapter.allocate(f"many-{index}") for index in range(8)]
        waiting = [adapter.allocate(f"waiting-{index}") for index in range(20)]
        for job in waiting:
            adapter.notice("pending", job=job["job"])
        # one question was enough for all of them
        assert 1 <= questions(a) - before <= 3
        for job in waiting + jobs:
            adapter.release(job)
        a.until_empty()
    with speaking(a, interval_ms=10) as adapter:
        job = adapter.allocate()
        before = questions(a)
        wait_until(lambda: questions(a) > before + 3, "it asks while a job is watched")
        adapter.release(job)
        a.until_empty()
        before = questions(a)
        for _ in range(20):  # each takes several milliseconds
            adapter.ask("cluster")
            a.jobs()
        assert questions(a) - before <= 1  # one may have been under way


def test_commands_that_answer_nonsense(a):
    """Nothing of it is believed, or reaches a shell."""
    fake = a.world.path("/media/home/tester/fake")
    fake.mkdir()
    answers = {"squeue": ["garbage", "1|RUNNING|None|1|2|4|a[1-|x", "1|RUNNING|None|1|2|-4|a1|x", "$(touch /tmp/x)"],
               "sbatch": ["", "0", "-5", "99999999999", "12 34", "; rm"]}
    for name in answers:
        (fake / name).write_text("#!/bin/sh\nprintf '%s\\n' \"$ANSWER\"\n")
        (fake / name).chmod(0o755)
    for name, texts in answers.items():
        for text in texts:
            with speaking(a, "commands", PATH="/media/home/tester/fake:/usr/bin:/bin", ANSWER=text) as adapter:
                with pytest.raises(Refused) as refused:
                    adapter.ask("jobs", prefix="x") if name == "squeue" else adapter.allocate()
                assert refused.value.name == "protocol", (name, text, refused.value)
    (fake / "scontrol").write_text("#!/bin/sh\nprintf '%s\\n' \"$ANSWER\"\n")
    (fake / "scontrol").chmod(0o755)
    for text in ("", "garbage", "NodeName=", "NodeName=a1", "PartitionName= x", "NodeName=a1 CPUTot=4\nx", "a NodeName=a1 CPUTot=4"):
        with speaking(a, "commands", PATH="/media/home/tester/fake:/usr/bin:/bin", ANSWER=text) as adapter:
            with pytest.raises(Refused) as refused:
                adapter.ask("nodes")
            assert refused.value.name == "protocol", (text, refused.value)
    with speaking(a, "commands", PATH="/nowhere") as adapter:
        with pytest.raises(Refused) as refused:
            adapter.ask("nodes")
        assert "scontrol" in refused.value.text


def test_a_large_cluster(a):
    """More nodes than a line has room for come in several answers, all of one look."""
    fake = a.world.path("/media/home/tester/large")
    fake.mkdir()
    (fake / "scontrol").write_text("""#!/bin/sh
i=0
while [ $i -lt 4500 ]; do
    echo "NodeName=node-of-a-large-cluster-whose-nodes-have-long-names-which-make-all-answers-long-too-$i CPUTot=4 CPUAlloc=1 \
CPULoad=0.5 State=MIXED RealMemory=1000"
    i=$((i + 1))
done
""")
    (fake / "scontrol").chmod(0o755)
    with speaking(a, "commands", PATH="/media/home/tester/large:/usr/bin:/bin") as adapter:
        answers = [adapter.ask("nodes")]
        while "next" in answers[-1]:
            answers.append(adapter.ask("nodes", **{"from": answers[-1]["next"]}))
        assert [len(answer["nodes"]) for answer in answers] == 9 * [500]
        assert len({node["name"] for answer in answers for node in answer["nodes"]}) == 4500
        with pytest.raises(Refused) as refused:
            adapter.ask("nodes", **{"from": -1})
        assert refused.value.name == "invalid"


# ---- what it is told ----

def test_refuses_what_makes_no_sense(a):
    with speaking(a) as adapter:
        for method, params in (
                ("allocate", {}), ("allocate", {"name": "x"}), ("allocate", {"name": "x y", "count": 1}),
                ("allocate", {"name": "-x", "count": 1}), ("allocate", {"name": "x" * 101, "count": 1}),
                ("allocate", {"name": "x", "count": -1}), ("allocate", {"name": "x", "count": 1, "partition": "a\nb"}),
                ("allocate", {"name": "x", "count": 1, "qos": "-q"}), ("allocate", {"name": "x", "exclusive": True}),
                ("release", {}), ("release", {"job": 0, "name": "x"}), ("release", {"job": 1, "name": "x,y"}),
                ("jobs", {}), ("jobs", {"prefix": "a b"}), ("run", {"job": 1, "node": "a1"}),
                ("run", {"job": 1, "node": "a1", "argv": []}), ("run", {"job": 1, "node": "a1", "argv": [1]}),
                ("run", {"job": 1, "node": "a1", "argv": ["x"], "environment": {"A=B": "x"}})):
            with pytest.raises(Refused) as refused:
                adapter.ask(method, **params)
            assert refused.value.name == "invalid", (method, params, refused.value)
        with pytest.raises(Refused) as refused:
            adapter.ask("submit")
        assert refused.value.name == "unsupported"
        assert adapter.ask("cluster")["cluster"] == "a"


def test_answers_whatever_it_is_told(a):
    """Each request has one answer, whatever is in it. Nothing of it reaches the cluster: no command is found."""
    chance = random.Random(18)
    values = [None, True, 0, -1, 1, 2 ** 31, 2 ** 63 - 1, 1.5, "", "a1", "-x", "a" * 300, "\n", "\u00e9", [], ["x"], {}, {"A": "b"}]
    members = ["name", "count", "nodes", "near", "minutes", "memory_mb", "partition", "account", "qos", "constraint",
               "reservation", "exclusive", "few", "now", "job", "prefix", "node", "argv", "environment", "other"]
    right = {"name": "x", "count": 1, "job": 1, "prefix": "x", "node": "a1", "argv": ["x"]}
    with speaking(a, "commands", PATH="/nowhere") as adapter:
        for _ in range(500):
            params = right | {chance.choice(members): chance.choice(values) for _ in range(chance.randrange(4))}
            method = chance.choice(["cluster", "nodes", "allocate", "release", "keep", "jobs", "run", "hello", "\u00e9"])
            with pytest.raises(Refused) as refused:
                pytest.fail(f"{method} {params} is answered {adapter.ask(method, **params)}")
            assert refused.value.text
        assert adapter.answers == {} and not [notice for notice in adapter.notices if notice[0] != "controller"]
    assert a.jobs() == {}


def test_ends_with_its_input_and_says_what_is_wrong(a):
    adapter = Adapter(a)
    assert adapter.end() == 0
    run = [PROGRAM, "--conf", a.conf]
    for said in ("{}\n", "garbage\n", '{"id":1,"method":"nodes"}\n', "\xff\n"):
        done = a.head.run(*run, user=USER, text_in=said, check=False)
        assert done.returncode == 1 and "pleat-slurm: " in done.stderr, done
        assert json.loads(done.stdout.splitlines()[-1])["id"] == 0, done
    for words, why in ((["--conf", "/no/such/file"], "cannot read"), (["--conf", "slurm.conf"], "absolute"),
                       (["--interval", "0"], "no number"), (["x"], "unexpected")):
        done = a.head.run(PROGRAM, *words, user=USER, check=False, text_in="")
        assert done.returncode in (1, 2) and why in done.stderr, done
    done = subprocess.run(a.head.enter(PROGRAM, "--conf", a.conf), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False, timeout=60)
    assert done.returncode == 1 and "no pipe" in done.stderr, done
