"""Sites of the kind slurm when something breaks: the controller, a node, the network, pleatd, and several of these at once.
Each job does what it has to do once, or is told why not, and afterwards nothing of it is anywhere."""

import contextlib
import os
import signal

import pytest

from clusters import wait_until
from clusters.pleat import APPS, ENDED, HOME, Counted, Pleat, go_file
from clusters.slurm import DEAD_SOON as SETTINGS  # noqa: F401
from patience import PATIENCE
from test_malleable import TIMES, on


def site_of(slurm, more=""):
    return f'kind = slurm conf = "{slurm.conf}" partition = main {more}'


@contextlib.contextmanager
def pleat_of(slurm, site="", **options):
    """One of its own, which leaves nothing."""
    pleat = Pleat(slurm, site_of(slurm, site), ["srun"], **options)
    try:
        yield pleat
    except BaseException:
        print(pleat.log(), pleat.run("ps", "-a", check=False).stdout, slurm.command("squeue", check=False), slurm.log()[-3000:])
        raise
    finally:
        slurm.thaw_controller()
        pleat.finish()
        pleat.cluster.world.run("rm", "-r", pleat.dir)


@pytest.fixture(name="pleat", scope="module")
def fixture_pleat(slurms):
    with pleat_of(slurms[0]) as pleat:
        yield pleat


def hold_all(slurm):
    job = slurm.command("sbatch", "--parsable", "-N2", "--exclusive", "-o", "/dev/null", text_in="#!/bin/sh\nsleep 100000\n")
    job = job.strip()
    wait_until(lambda: slurm.jobs().get(job) == "RUNNING", "somebody else has all of it")
    return job


def until_why(pleat, job, text):
    wait_until(lambda: text in pleat.run("why", job).stdout, f"'{text}' is why: {pleat.run('why', job).stdout} {pleat.log()}")


def restart(pleat):
    pleat.kill_daemon()
    pleat.run("info")


# ---- the controller ----


@pytest.mark.parametrize("fault", ["stopped", "killed", "frozen"])
def test_the_controller_is_away(pleat, fault):
    """A job that runs goes on and ends; one that is submitted meanwhile waits, says why, and runs afterwards. In the middle
    pleatd is killed."""
    slurm = pleat.cluster
    runs = Counted(pleat, "runs")
    runs.begun()
    {"frozen": slurm.freeze_controller, "killed": slurm.kill_controller, "stopped": slurm.stop_controller}[fault]()
    restart(pleat)
    later = Counted(pleat, "later")
    runs.let_go()
    wait_until(lambda: len(runs.lines()) == 2, "the job has gone on without a controller")
    pleat.until(runs.number, "done", "finishing")
    until_why(pleat, later.number, "the site cannot be asked now")
    if fault == "frozen":
        slurm.thaw_controller()
    else:
        slurm.start_controller()
    later.begun()
    for job in (runs, later):
        job.is_done_once()
    slurm.until_empty()


def test_cancelled_while_the_controller_is_frozen(pleat):
    """The allocation that it gives later, which nobody wants any more, is given back."""
    slurm = pleat.cluster
    slurm.freeze_controller()
    job = Counted(pleat, "unwanted")
    pleat.run("cancel", job.number)
    slurm.thaw_controller()
    assert pleat.until(job.number, *ENDED)["state"] == "cancelled"
    slurm.until_empty()
    assert not job.lines()


def test_an_allocation_comes_when_pleatd_is_gone(pleat):
    """It was in the queue when pleatd was killed, and runs when the next one comes. One that is not wanted any more goes."""
    slurm = pleat.cluster
    other = hold_all(slurm)
    job, unwanted = Counted(pleat, "came"), Counted(pleat, "not-wanted")
    wait_until(lambda: len(slurm.jobs()) == 3, "both wait in the queue")
    pleat.kill_daemon()
    slurm.command("scancel", other)
    wait_until(lambda: sorted(slurm.jobs().values()) == ["RUNNING", "RUNNING"], "both have been given")
    pleat.run("cancel", unwanted.number)
    assert pleat.until(unwanted.number, *ENDED)["state"] == "cancelled"
    job.is_done_once()
    assert not unwanted.lines()
    slurm.until_empty()


def test_the_controller_forgets_everything(pleat):
    """Its state is lost, and with it the allocation: the job is told so, and begins anew."""
    slurm = pleat.cluster
    job = Counted(pleat, "forgotten")
    job.begun()
    slurm.kill_controller()
    slurm.world.run("sh", "-c", f"rm -rf {slurm.dir}/state && mkdir {slurm.dir}/state")
    slurm.start_controller()
    wait_until(lambda: len(job.lines()) == 2, f"it begins anew: {pleat.log()}")
    assert "its allocation" in pleat.events(job.number), pleat.events(job.number)
    job.ends()
    slurm.until_idle()
    slurm.until_empty()


# ---- nodes ----


@contextlib.contextmanager
def crashed(slurm, name):
    host = slurm.world[name]
    host.crash()
    try:
        yield
    finally:
        host.boot()
        slurm.start_node(host)
        slurm.until_there()


def test_a_node_crashes_and_pleatd_too(pleat):
    """The job begins anew on the other one, and says why. One that must not begin twice ends with its node, with the reason."""
    slurm = pleat.cluster
    job, once = Counted(pleat, "crash"), Counted(pleat, "once", "--no-requeue")
    names = [job.begun(), once.begun()]
    assert names[0] == names[1]
    with crashed(slurm, names[0]):
        restart(pleat)
        wait_until(lambda: len(job.lines()) == 2, f"it runs on the other node: {pleat.log()}")
        assert job.begun() != names[0]
        assert "its allocation" in pleat.events(job.number), pleat.events(job.number)
        shown = pleat.until(once.number, *ENDED)
        assert (shown["state"], shown["reason"]) == ("failed", "processors lost"), shown
        assert "its allocation" in pleat.events(once.number), pleat.events(once.number)
        job.ends()


def test_one_of_the_nodes_of_a_rigid_job_crashes(pleat):
    """A job over several nodes loses all of them with one, and begins anew when there are as many again."""
    slurm = pleat.cluster
    go = go_file("wide")
    job = pleat.submit("-n", 6, "--", f"{APPS}/ring", "--iterations", 20, "--hold", go)
    wait_until(lambda: sum(len(host.pids("ring")) for host in slurm.nodes) == 6, f"six ranks: {pleat.log()}")
    with crashed(slurm, "a2"):
        wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it waits again: {pleat.log()}")
        assert "its allocation" in pleat.events(job), pleat.events(job)
    slurm.world.path(go).touch()
    assert pleat.until(job, *ENDED)["state"] == "done", (pleat.log(), pleat.output(job))
    slurm.until_empty()


@contextlib.contextmanager
def over_both(pleat, go):
    """Two malleable jobs, of one MPI each, which began on the first host and are on both: {number: program}"""
    programs = {"heat": f"{APPS}/heat", "loop": f"{APPS}/mpich/loop"}
    jobs = {pleat.submit("--initial", 2, "--min", 1, "--max", 4, "--", program, "--until", go, "--pause", 10): name
            for name, program in programs.items()}
    yield jobs
    pleat.cluster.world.path(go).touch()
    for job in jobs:
        assert pleat.until(job, *ENDED)["state"] == "done" and pleat.output(job).count("RESULT ok") == 1, pleat.output(job)


def test_a_node_of_malleable_jobs_crashes(slurms):
    """They go on on the other one, where they keep what they have, from their last checkpoint: without another turn in Slurm's
    queue. First it is the host onto which they grew, then the one on which they began and from which they are led."""
    slurm, other = slurms  # the module's own pleatd is on the first one's head
    with pleat_of(slurm, head=other.head, name="left", more=TIMES) as pleat, over_both(pleat, go_file("go-left")) as jobs:
        for attempt, victim in ((1, "a2"), (2, "a1")):
            there = {job: on(pleat, job, name, 4) for job, name in jobs.items()}
            assert all(sorted(ranks) == ["a1", "a2"] for ranks in there.values()), there
            before = {pid for ranks in there.values() for pids in ranks.values() for pid in pids}
            saved = {job: pleat.ask("checkpoint", "--wait", "--to", f"{HOME}/left-{job}", job)["iteration"] for job in jobs}
            kept = {job for job in slurm.jobs() if slurm.command("squeue", "-h", "-j", job, "-o", "%N").strip() != victim}
            assert len(kept) == 2, slurm.command("squeue")
            with crashed(slurm, victim):
                for job, name in jobs.items():
                    wait_until(lambda: pleat.job(job)["attempt"] == attempt, f"{name} is started again: {pleat.log()}")
                    left = on(pleat, job, name, 2)
                    assert victim not in left and not before & set(*left.values()), (before, left)
                    assert f"it goes on from its checkpoint of iteration {saved[job]}" in pleat.events(job), pleat.events(job)
                    wait_until(lambda: pleat.job(job)["progress"]["iteration"] > saved[job], f"{name} computes on")
                assert kept <= set(slurm.jobs()), (kept, slurm.jobs(), pleat.log())


def test_an_agent_dies_while_there_is_no_pleatd(slurms):
    """Nobody sees it end, and its allocation stays. The next pleatd waits for its call until an agent that was cut off would have
    ended what it ran; then the job begins anew, and one that must not begin twice ends with the reason."""
    slurm, other = slurms
    with pleat_of(slurm, head=other.head, name="dies", more=f"agent_orphan_s = {20 * PATIENCE}\n") as pleat:
        job, once = Counted(pleat, "alone"), Counted(pleat, "alone-once", "--no-requeue")
        for one in (job, once):
            one.begun()
        agents = [pid for host in slurm.nodes for pid in host.pids("pleat-agent")]
        assert len(agents) == 2
        stays = Counted(pleat, "stays")
        stays.begun()
        pleat.kill_daemon()
        for agent in agents:
            os.kill(agent, signal.SIGKILL)
        pleat.run("info")
        wait_until(lambda: len(job.lines()) == 2, f"it begins anew: {pleat.log()}", limit_s=180 + 20 * PATIENCE)
        shown = pleat.until(once.number, *ENDED)
        assert (shown["state"], shown["reason"]) == ("failed", "processors lost"), shown
        for one in (job, once):
            assert "has not called for" in pleat.events(one.number), pleat.events(one.number)
        job.ends()
        stays.is_done_once()
        slurm.until_empty()


# ---- the network ----


def test_pleatd_is_cut_off(slurms):
    """The agents keep their jobs, and tell afterwards what became of them: nothing is lost, nothing runs twice. In the
    middle pleatd is killed."""
    a, b = slurms
    with pleat_of(a, head=b.head, name="cut") as pleat:
        ends, stays = Counted(pleat, "ends"), Counted(pleat, "stays")
        for job in (ends, stays):
            job.begun()
        b.head.cut()
        try:
            ends.let_go()
            wait_until(lambda: len(ends.lines()) == 2, "it ends while nobody hears of it")
            restart(pleat)
            later = Counted(pleat, "later")
            until_why(pleat, later.number, "the site cannot be asked now")
        finally:
            b.head.join()
        for job in (ends, stays, later):
            job.begun()
            job.is_done_once()
        a.until_empty()


def test_a_node_is_cut_off(slurms):
    """Slurm gives the node up. What ran there ends by itself, while the job runs on the other one."""
    a, b = slurms
    with pleat_of(a, head=b.head, name="node", more="agent_orphan_s = 2\n") as pleat:
        job = Counted(pleat, "island")
        name = job.begun()
        host = a.world[name]
        host.cut()
        try:
            wait_until(lambda: len(job.lines()) == 2, f"it runs on the other node: {pleat.log()}")
            assert job.begun() != name
            wait_until(lambda: not host.pids("pleat-agent") and not host.pids("pleat-guard"), "nothing is left there")
        finally:
            host.join()
        job.ends()
        a.until_idle()


# ---- the time of an allocation ----


def test_the_time_of_an_allocation_is_seen_coming(slurms):
    """It is shortened in Slurm: the job gets its signal, is ended in time, says so, and waits again."""
    a, b = slurms
    with pleat_of(a, "limit_s = 600 leave_s = 30", head=b.head, name="time") as pleat:
        script = 'trap "echo signal >>$1" USR1; echo begin >>$1; while :; do sleep 0.1; done'
        out = f"{pleat.dir}/out"
        job = pleat.submit("--signal", "USR1@20s", "--", "sh", "-c", script, "time", out)
        shown = pleat.until(job, "running")
        wait_until(lambda: pleat.job(job)["until_s"], "its end is known")
        assert 540 < pleat.job(job)["until_s"] - shown["start_s"] <= 571, shown
        assert "ends by" in pleat.run("show", job).stdout
        [allocation] = a.jobs()
        a.command("scontrol", "update", f"JobId={allocation}", "TimeLimit=1")
        wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it is ended: {pleat.log()}", limit_s=120)
        assert pleat.path("out").read_text().split()[:2] == ["begin", "signal"]
        assert "the time of its processors is over" in pleat.run("why", job).stdout + pleat.events(job)
        assert "was ended by Slurm" not in pleat.log(), "Slurm was quicker"
        pleat.run("cancel", job)
        pleat.until(job, "cancelled")
        a.until_empty()
