"""A site of the kind gridengine when something breaks: a node, the network, the qmaster, pleatd, and several of these at once.
Each job does what it has to do once, or is told why not, and afterwards nothing of it is anywhere.

Grid Engine itself ends nothing on a host of which it does not hear: it waits for it. That an agent there is silent is
noticed by pleatd."""

import contextlib
import json
import os
import pathlib
import re
import signal

import pytest

from clusters import wait_until
from clusters.pleat import ENDED, Counted, Pleat
from patience import PATIENCE

# an agent that is cut off ends soon what it runs
MORE = "agent_orphan_s = 2\n"


@contextlib.contextmanager
def pleat_of(grid, site="", **options):
    """One of its own, which leaves nothing."""
    pleat = Pleat(grid, f'kind = gridengine root = "{grid.dir}" queue = all.q {site}', ["qrsh"], **options)
    # Grid Engine gives a host of which it has not heard for a moment, and itself gives up after a minute: the next one is tried sooner
    conf = pleat.path("pleat.conf")
    conf.write_text(conf.read_text().replace("agent_s = 30", f"agent_s = {min(12 * PATIENCE, 30)}"))
    try:
        yield pleat
    except BaseException:
        print(pleat.log(), pleat.run("ps", "-a", check=False).stdout, grid.command("qstat", "-f", "-u", "*", check=False).stdout)
        for job in json.loads(pleat.run("ps", "-a", "--json", check=False).stdout)["jobs"]:
            print(pleat.run("why", str(job["job"]), check=False).stdout, pleat.run("events", str(job["job"]), check=False).stdout)
        raise
    finally:
        pleat.finish()
        for host in grid.nodes:  # of the jobs themselves
            wait_until(lambda host=host: not host.pids("sge_shepherd"), f"no job on {host.name}")
        grid.until_free()
        grid.world.run("rm", "-r", pleat.dir)


def restart(pleat):
    pleat.kill_daemon()
    pleat.run("info")


def until_why(pleat, job, text):
    wait_until(lambda: text in pleat.run("why", job).stdout, f"'{text}' is why: {pleat.run('why', job).stdout} {pleat.log()}")


def begins_elsewhere(job, name):
    wait_until(lambda: len(job.lines()) == 2, f"it runs on the other node: {job.pleat.log()}", limit_s=150)
    assert job.begun() != name
    assert "its allocation" in job.pleat.events(job.number), job.pleat.events(job.number)


def on_one_node(pleat):
    """A job that may begin twice, and one that may not, of the same node; its name."""
    pleat.run("site", "drain", "--node", "g2", "c1")
    jobs = Counted(pleat, "twice"), Counted(pleat, "once", "--no-requeue")
    assert {job.begun() for job in jobs} == {"g1"}
    pleat.run("site", "resume", "--node", "g2", "c1")
    return jobs


def test_a_node_crashes_and_pleatd_too(grid):
    """The job begins anew on the other one, and says why. One that must not begin twice ends with its node, with the reason."""
    with pleat_of(grid, name="crash", more=MORE) as pleat:
        job, once = on_one_node(pleat)
        host = grid.world["g1"]
        host.crash()
        try:
            restart(pleat)
            begins_elsewhere(job, "g1")
            shown = pleat.until(once.number, *ENDED)
            assert (shown["state"], shown["reason"]) == ("failed", "processors lost"), shown
            assert "its allocation" in pleat.events(once.number), pleat.events(once.number)
            job.ends()
        finally:
            host.boot()
            grid.start_node(host)
            grid.until_idle()


def test_a_node_is_cut_off(grid):
    """What ran there ends by itself, and then the job runs on the other one: Grid Engine itself never says that the node is gone."""
    with pleat_of(grid, name="node", more=MORE) as pleat:
        job = Counted(pleat, "island")
        name = job.begun()
        host = grid.world[name]
        host.cut()
        try:
            begins_elsewhere(job, name)
            wait_until(lambda: not host.pids("pleat-agent") and not host.pids("pleat-guard"), "nothing is left there")
        finally:
            host.join()
        job.ends()
        grid.until_idle()


def test_an_agent_hangs(grid):
    """It is connected, so its node is not cut off: Grid Engine ends what is there, and the job runs on."""
    with pleat_of(grid, name="hangs", more="agent_answer_s = 8\n") as pleat:
        job = Counted(pleat, "hangs")
        name = job.begun()
        [agent] = grid.world[name].pids("pleat-agent")
        os.kill(agent, signal.SIGSTOP)
        wait_until(lambda: len(job.lines()) == 2, f"it begins anew: {pleat.log()}", limit_s=150)
        assert "its agent does not answer" in pleat.events(job.number), pleat.events(job.number)
        assert "has not answered for 10 s: it is ended after 45 s" in pleat.log(), pleat.log()  # not before a cut would have shown
        wait_until(lambda: agent not in grid.world[name].pids("pleat-agent"), "nothing is left of it")
        job.ends()
        grid.until_idle()


def runs_on(host, job):
    """Its processes there."""
    found = []
    for pid in host.pids("sh"):
        with contextlib.suppress(OSError):
            if job.done.encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def test_a_node_is_cut_off_and_pleatd_is_killed(grid):
    """The next one does not know since when the node has been cut off. What ran there must not run twice: it begins on the other
    node when it has surely ended on this one."""
    with pleat_of(grid, name="both", more="agent_orphan_s = 40\n") as pleat:
        job = Counted(pleat, "both")
        name = job.begun()
        host = grid.world[name]
        host.cut()
        try:
            assert len(runs_on(host, job)) == 1
            restart(pleat)
            wait_until(lambda: len(job.lines()) == 2, f"it runs on the other node: {pleat.log()}", limit_s=300)
            assert runs_on(host, job) == [] and job.begun() != name
            assert "its node may be cut off: it is given up after 100 s" in pleat.events(job.number), pleat.events(job.number)
            assert "has not called for" in pleat.events(job.number), pleat.events(job.number)
        finally:
            host.join()
        job.ends()
        grid.until_idle()


def test_a_node_is_gone_before_the_cluster_has_noticed(grid):
    """Grid Engine gives it to a job, which it would start there for ever. The job is run elsewhere instead."""
    with pleat_of(grid, name="before", more=MORE) as pleat:
        pleat.run("site", "drain", "--node", "g1", "c1")
        host = grid.world["g2"]
        host.cut()
        try:
            job = Counted(pleat, "before")
            wait_until(lambda: re.search(r" t  .* 1 +$", grid.command("qstat", "-u", "*"), re.MULTILINE), "it is on its way to the node")
            pleat.run("site", "resume", "--node", "g1", "c1")
            assert job.begun() == "g1"
            assert "no agent has called from g2 in time" in pleat.events(job.number), pleat.events(job.number)
        finally:
            host.join()
        job.ends()
        assert len(job.lines()) == 2
        grid.until_idle()


def test_pleatd_is_cut_off(grid, slurms):
    """The agents keep their jobs, and tell afterwards what became of them: nothing is lost, nothing runs twice."""
    head = slurms[0].head
    grid.command("qconf", "-as", head.name)
    with pleat_of(grid, name="unnamed", head=head) as pleat:
        job = Counted(pleat, "unnamed")
        assert pleat.until(job.number, *ENDED)["state"] == "failed"
        assert "the site's option pe has to name one" in pleat.events(job.number), pleat.events(job.number)
    with pleat_of(grid, "pe = smp", name="cut", head=head) as pleat:
        ends, stays = Counted(pleat, "ends"), Counted(pleat, "stays")
        for job in (ends, stays):
            job.begun()
        head.cut()
        try:
            ends.let_go()
            wait_until(lambda: len(ends.lines()) == 2, "it ends while nobody hears of it")
            later = Counted(pleat, "later")
            until_why(pleat, later.number, "the site cannot be asked now")
        finally:
            head.join()
        for job in (ends, stays, later):
            job.begun()
            job.is_done_once()
        grid.until_empty()


def test_the_qmaster_is_killed_and_pleatd_too(grid):
    """What runs goes on and ends; what is submitted meanwhile waits, says why, and runs afterwards."""
    with pleat_of(grid, name="qmaster") as pleat:
        runs = Counted(pleat, "runs")
        runs.begun()
        grid.kill_qmaster()
        restart(pleat)
        later = Counted(pleat, "later")
        runs.let_go()
        wait_until(lambda: len(runs.lines()) == 2, "the job has gone on without a qmaster")
        until_why(pleat, later.number, "the site cannot be asked now")
        grid.start_qmaster()
        later.begun()
        for job in (runs, later):
            job.is_done_once()
        grid.until_empty()
