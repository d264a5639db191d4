"""A cluster that keeps accounts (slurmdbd, with a database that the test starts): what sites say of accounts and qualities of
service reaches Slurm, and what Slurm makes of that reaches the user."""

import json
import os

import pytest

import clusters
from clusters import wait_until
from clusters.accounts import PROGRAMS as ACCOUNTS_PROGRAMS
from clusters.accounts import Accounts
from clusters.pleat import APPS, ENDED, Counted, Pleat, go_file
from clusters.slurm import PROGRAMS, start_munge
from clusters.world import USER
from test_malleable import TIMES, ends, has, on, resized

# the account "limited" and the quality "small" have two processors each
KEPT = (("cluster", "a"), ("qos", "small", "GrpTRES=cpu=2"), ("qos", "secret"), ("account", "physics", "cluster=a"),
        ("account", "limited", "cluster=a", "GrpTRES=cpu=2"), ("account", "others", "cluster=a"),
        ("user", USER, "cluster=a", "account=physics,limited", "defaultaccount=physics", "qos=normal,small", "MaxJobs=50"))
SITE = 'site "{name}" {{ kind = slurm conf = "{conf}" agent_s = 30 limit_s = 600 {options} }}\n'
SITES = {"small": "account = physics qos = small", "words": "account = limited qos = small by = commands",
         "limited": "account = limited", "stranger": "account = others", "secret": "qos = secret by = commands"}


@pytest.fixture(scope="module", name="slurm")
def fixture_slurm():
    """Three hosts of two processors each; one has a feature."""
    why_not = clusters.cannot(*PROGRAMS, *ACCOUNTS_PROGRAMS)
    if why_not:
        pytest.skip(why_not)
    with clusters.World(clusters.Slurm.hosts("a", 3), build=os.environ["PLEAT_BUILD"]) as world:
        start_munge(world)
        accounts = Accounts(world["a0"])
        accounts.start()
        slurm = clusters.Slurm(world, "a", nodes=3, cpus=2, **accounts.settings)
        for what in KEPT:
            slurm.command("sacctmgr", "--immediate", "--quiet", "add", *what)
        slurm.start()
        slurm.until_idle()
        slurm.command("scontrol", "update", "nodename=a2", "availablefeatures=fast,large", "activefeatures=fast,large")
        yield slurm


@pytest.fixture(scope="module", name="pleat")
def fixture_pleat(slurm):
    others = "".join(SITE.format(name=name, conf=slurm.conf, options=options) for name, options in SITES.items())
    pleat = Pleat(slurm, f'kind = slurm conf = "{slurm.conf}" give_back = nodes', ["srun"], more=TIMES + others)
    yield pleat
    pleat.finish()


def test_they_are_passed_on(pleat):
    """As squeue has them while the jobs run, and the accounts afterwards. Where the site says nothing they are the user's."""
    wanted = {"c1": ("physics", "normal"), "small": ("physics", "small"), "words": ("limited", "small")}
    jobs = {site: Counted(pleat, f"passed-{site}", "--site", site) for site in wanted}
    for job in jobs.values():
        job.begun()
    seen = [line.split() for line in pleat.cluster.command("squeue", "-h", "-o", "%j %i %a %q").splitlines()]
    numbers = {site: [number for name, number, *_ in seen if f"-{site}:" in name] for site in wanted}
    assert sorted(tuple(of) for _, _, *of in seen) == sorted(wanted.values())
    for job in jobs.values():
        job.is_done_once()
    pleat.cluster.until_empty()

    def kept():
        """Commands can only cancel what is given back."""
        words = ("sacct", "-n", "-X", "-P", "-o", "JobID,Account,QOS,User,State")
        lines = pleat.cluster.command(*words, user=USER).splitlines()
        return all(any(line.startswith("|".join((*numbers[site], *of, USER, "CANCELLED" if site == "words" else "COMPLETED")))
                       for line in lines) for site, of in wanted.items())
    wait_until(kept, "the accounts have them")


@pytest.mark.parametrize("site, words", [("stranger", "nvalid account"), ("secret", "nvalid qos")])
def test_what_is_not_the_users_is_refused(pleat, site, words):
    """At once, in Slurm's words; `info` and `doctor` say so without a job."""
    job = pleat.submit("--site", site, "--", "true")
    ended = pleat.until(job, *ENDED)
    assert (ended["state"], ended["reason"]) == ("failed", "the site cannot claim this"), (ended, pleat.log())
    assert "Slurm gave no allocation: " in pleat.events(job) and words in pleat.events(job), pleat.events(job)
    told, facts = pleat.entries("info", site), pleat.ask("info", site)
    assert [text for label, text in told if label == "submitting"][0].startswith("Slurm would not take a job of yours: ")
    assert facts["batch"]["may"] is False and words in facts["batch"]["refusal"], facts
    checks = json.loads(pleat.run("doctor", "batch", "--json", check=False).stdout)["checks"]
    [check] = [check for check in checks if check["subject"] == f"{site} submitting"]
    assert check["state"] == "failed" and words in check["seen"], check


@pytest.mark.parametrize("site", ["small", "words", "limited"])
def test_a_limit_is_waited_for(pleat, site):
    """Of a quality, and of an account: there is room, but not for more of this one. The job says so, and runs afterwards."""
    first, second = (Counted(pleat, f"limit-{site}-{number}", "--site", site, "-n", "2", "--mpi", "none") for number in (1, 2))
    first.begun()
    wait_until(lambda: "a limit of its user, account or partition is reached there" in pleat.run("why", second.number).stdout,
               f"it waits for the limit: {pleat.run('why', second.number).stdout} {pleat.log()}")
    assert pleat.job(second.number)["site_queue"]["code"] == "limit"
    [reason] = [line.split()[1] for line in pleat.cluster.command("squeue", "-h", "-t", "PD", "-o", "%i %r").splitlines()]
    assert reason in ("QOSGrpCpuLimit", "AssocGrpCpuLimit"), reason
    other = Counted(pleat, f"beside-{site}", "--site", "c1", "-n", "2", "--mpi", "none")
    other.begun()  # others of the same user run beside it
    assert not second.lines()
    for job in (first, second, other):
        job.is_done_once()
    pleat.cluster.until_empty()


def test_a_growth_beyond_a_limit(pleat):
    """It is not given, the job computes on with what it has, and nothing of it stays in the queue."""
    go = go_file("go-limited")
    job = pleat.submit("--site", "small", "--initial", 2, "--min", 1, "--max", 4, "--", f"{APPS}/loop", "--until", go, "--pause", 10)
    on(pleat, job, "loop", 2)
    wait_until(lambda: "grow 2 -> 4" in pleat.events(job), f"it is to grow: {pleat.events(job)} {pleat.log()}")
    wait_until(lambda: pleat.job(job)["failed_resizes"] > 0, f"that is refused: {pleat.events(job)} {pleat.log()}")
    before = on(pleat, job, "loop", 2)
    iteration = pleat.job(job)["progress"]["iteration"]
    wait_until(lambda: pleat.job(job)["progress"]["iteration"] > iteration, "it computes")
    pleat.run("limits", job, "--max", 2)
    wait_until(lambda: list(pleat.cluster.jobs().values()) == ["RUNNING"], "nothing waits")
    assert on(pleat, job, "loop", 2) == before
    ends(pleat, job, go)


def test_nodes_are_given_back_again_and_again(pleat, slurm):
    """With accounts Slurm resizes a job more than once (test_give_back.py has it without)."""
    go = go_file("go-again")
    job = pleat.submit("--site", "c1", "--initial", 6, "--min", 1, "--max", 6, "--", f"{APPS}/loop", "--until", go, "--pause", 10)
    on(pleat, job, "loop", 6)
    has(pleat, ("a[1-3]", 6))
    for size, kept, left in ((4, "a[1-2]", "a3"), (2, "a1", "a2")):
        resized(pleat, job, "loop", size)
        has(pleat, (kept, size))
        wait_until(lambda host=left: slurm.states()[host] == "idle", f"{left} is idle")
        wait_until(lambda host=left: not slurm.world[host].pids("pleat-agent"), f"no agent is left on {left}")
    assert "keeps its" not in pleat.log(), pleat.log()
    there = resized(pleat, job, "loop", 4)
    assert sum(map(len, there.values())) == 4 and len(slurm.jobs()) == 2
    ends(pleat, job, go)


def test_what_the_cluster_offers(pleat):
    """`pleat info` of a site: partitions, features, accounts and qualities with their limits."""
    line = ["site", "small: slurm, 6 processors on 3 nodes: 0 used, 0 used by others, 6 free"]
    wait_until(lambda: line in pleat.entries("info", "small"), "it has heard that all is free")
    told, facts = pleat.entries("info", "small"), pleat.ask("info", "small")
    batch = facts["batch"]
    assert (facts["name"], facts["kind"], batch["cluster"]) == ("small", "slurm", "a")
    assert [part["name"] for part in batch["partitions"]] == ["main"]
    assert {node["name"]: node["features"] for node in facts["nodes"]} == {"a1": "", "a2": "fast,large", "a3": ""}
    assert {one["account"]: (one["default"], sorted(one["qos"]), one["limits"]) for one in batch["accounts"]} == {
        "physics": (True, ["normal", "small"], "MaxJobs=50"), "limited": (False, ["normal", "small"], "MaxJobs=50")}
    assert {one["name"]: one["limits"] for one in batch["qos"]}["small"] == "GrpTRES=cpu=2"
    assert batch["may"] is True and batch["no_accounts"] is None
    for line in (("cluster", f"a: Slurm {batch['version']}"),
                 ("partition", "main (default, asked by this site): up, 6 processors on 3 nodes (a[1-3])"),
                 ("features", "fast (1 node), large (1 node)"),
                 ("account", "physics (default): qos normal, small; limits: MaxJobs=50"),
                 ("account", "limited: qos normal, small; limits: MaxJobs=50"), ("qos", "small; limits: GrpTRES=cpu=2"),
                 ("submitting", "Slurm would take a job of one processor of yours")):
        assert list(line) in told, (line, told)
    assert "secret" not in str(told), told
