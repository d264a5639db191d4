"""Sites of the kind slurm when something breaks: the controller, a node, the network, pleatd, and all of that at once. Each
job does what it has to do once or is told why not, and afterwards nothing of it is anywhere."""

import contextlib
import os
import signal

import pytest

from clusters import wait_until
from clusters.world import USER
from test_site import APPS, BIN, ENDED, HOME, Pleat, hold_all

SITE = 'site "{site}" {{ kind = slurm conf = "{conf}" partition = main agent_s = 30 limit_s = 600 {more} }}\n'
SETTINGS = "idle_exit_s = 0\nbackoff_s = 0.5\ntry_s = 0.1\n"


class Own(Pleat):
    """A pleatd of its own, with sites of these clusters; its agents keep their jobs for orphan_s."""

    def __init__(self, slurms, head=None, orphan_s=600, more=""):
        self.slurm, self.slurms, self.head = slurms[0], slurms, head or slurms[0].head
        self.dir = f"{HOME}/own"
        self.env = {"PLEAT_DIR": self.dir, "PATH": f"{BIN}:/usr/bin:/bin", "PLEAT_TEST_PROGRESS_MS": "50"}
        self.head.run("sh", "-c", f"rm -rf {self.dir} && install -d -m 700 {self.dir}", user=USER)
        sites = "".join(SITE.format(site=f"c{index}", conf=slurm.conf, more=more) for index, slurm in enumerate(slurms, 1))
        self.path("pleat.conf").write_text(f"{sites}{SETTINGS}agent_orphan_s = {orphan_s}\n")

    def finish(self):
        for slurm in self.slurms[1:]:
            slurm.until_idle()
        super().finish()
        for slurm in self.slurms[1:]:
            slurm.until_empty()

    def events(self, number=None):
        said = self.run("events", *([number] if number else []), "--json", check=False).stdout
        return said

    def start(self):
        """Another pleatd, after the one before was killed."""
        self.run("info")

    def until_log(self, text):
        wait_until(lambda: text in self.log(), f"'{text}' is in the log: {self.log()}")

    def write(self, name, text=""):
        self.slurm.world.path(f"{HOME}/{name}").write_text(text)

    def read(self, name):
        path = self.slurm.world.path(f"{HOME}/{name}")
        return path.read_text() if path.exists() else ""


@contextlib.contextmanager
def pleat_of(slurms, **options):
    pleat = Own(slurms, **options)
    try:
        yield pleat
    except BaseException:
        print(pleat.log(), pleat.run("ps", "-a", check=False).stdout, pleat.events()[-4000:])
        for slurm in slurms:
            print(slurm.command("sinfo", "-N", "-l", check=False), slurm.command("squeue", check=False), slurm.log()[-3000:])
        raise
    finally:
        for slurm in slurms:
            slurm.thaw_controller()
        pleat.finish()


@pytest.fixture(name="pleat")
def fixture_pleat(slurms):
    with pleat_of(slurms[:1]) as pleat:
        yield pleat


def counted(name):
    """A command that writes a line when it begins, waits for a file, and writes another one."""
    done, go = f"{HOME}/{name}.done", f"{HOME}/{name}.go"
    script = 'echo "begin $(hostname)" >>"$1"; while [ ! -e "$2" ]; do sleep 0.05; done; echo end >>"$1"'
    return ["--", "sh", "-c", script, "counted", done, go]


def submit_counted(pleat, name, *options):
    for end in ("done", "go"):
        pleat.slurm.world.path(f"{HOME}/{name}.{end}").unlink(missing_ok=True)
    return pleat.submit(*options, *counted(name))


def let_go(pleat, name):
    pleat.write(f"{name}.go")


def lines(pleat, name):
    return pleat.read(f"{name}.done").split("\n")[:-1]


# ---- the controller ----


@pytest.mark.parametrize("fault", ["stopped", "killed", "frozen"])
@pytest.mark.parametrize("restart", [False, True], ids=["", "pleatd-killed"])
def test_the_controller_is_away(pleat, fault, restart):
    """A job that runs goes on and ends; one that is submitted meanwhile waits, says why, and runs afterwards."""
    slurm = pleat.slurm
    job = submit_counted(pleat, "runs")
    pleat.until(job, "running")
    if fault == "frozen":
        slurm.freeze_controller()
    elif fault == "killed":
        slurm.kill_controller()
    else:
        slurm.stop_controller()
    if restart:
        pleat.kill_daemon()
        pleat.start()
    later = submit_counted(pleat, "later")
    wait_until(lambda: "the site cannot be asked now" in pleat.run("why", later).stdout,
               f"it says that the site cannot be asked: {pleat.run('why', later).stdout} {pleat.log()}")
    let_go(pleat, "runs")
    wait_until(lambda: len(lines(pleat, "runs")) == 2, "the job has gone on without a controller")
    wait_until(lambda: pleat.job(job)["state"] in (*ENDED, "finishing"), "and pleatd knows that")
    if fault == "frozen":
        slurm.thaw_controller()
    else:
        slurm.start_controller()
    assert pleat.until(job, *ENDED)["state"] == "done"
    pleat.until(later, "running")
    assert len(slurm.jobs()) == 1, slurm.jobs()
    let_go(pleat, "later")
    assert pleat.until(later, *ENDED)["state"] == "done"
    assert len(lines(pleat, "runs")) == len(lines(pleat, "later")) == 2, "something was done twice"
    slurm.until_empty()


def test_cancelled_while_the_controller_is_frozen(pleat):
    """The allocation that it gives later, which nobody wants any more, is given back."""
    slurm = pleat.slurm
    slurm.freeze_controller()
    job = submit_counted(pleat, "unwanted")
    wait_until(lambda: "waits in the queue of site c1" in pleat.run("why", job).stdout, "its claim waits")
    pleat.run("cancel", job)
    slurm.thaw_controller()
    assert pleat.until(job, *ENDED)["state"] == "cancelled"
    assert not pleat.read("unwanted.done")
    slurm.until_empty()


def test_an_allocation_comes_when_pleatd_is_gone(pleat):
    """It was in the queue when pleatd was killed, and runs when the next one comes, or does not yet."""
    slurm = pleat.slurm
    other = hold_all(slurm)
    job, unwanted = submit_counted(pleat, "came"), submit_counted(pleat, "unwanted")
    wait_until(lambda: len(slurm.jobs()) == 3, "both wait in the queue")
    pleat.kill_daemon()
    slurm.command("scancel", other)
    wait_until(lambda: sorted(slurm.jobs().values()) == ["RUNNING", "RUNNING"], "both have been given")
    pleat.run("cancel", unwanted)
    assert pleat.until(unwanted, *ENDED)["state"] == "cancelled"
    let_go(pleat, "came")
    assert pleat.until(job, *ENDED)["state"] == "done"
    assert len(lines(pleat, "came")) == 2 and not pleat.read("unwanted.done")
    slurm.until_empty()


def test_the_controller_forgets_everything(slurms):
    """Its state is lost, and with it the allocation: the job is told so, and begins anew."""
    with pleat_of(slurms[:1]) as pleat:
        slurm = pleat.slurm
        job = submit_counted(pleat, "forgotten")
        pleat.until(job, "running")
        slurm.kill_controller()
        slurm.world.run("sh", "-c", f"rm -rf {slurm.dir}/state && mkdir {slurm.dir}/state")
        slurm.start_controller()
        wait_until(lambda: pleat.job(job)["attempt"] == 1, pleat.log())
        assert "allocation" in pleat.run("why", job).stdout + pleat.events(job)
        pleat.until(job, "running")
        let_go(pleat, "forgotten")
        assert pleat.until(job, *ENDED)["state"] == "done"
        slurm.until_idle()


# ---- nodes ----


@pytest.mark.parametrize("restart", [False, True], ids=["", "pleatd-killed"])
def test_a_node_crashes(pleat, restart):
    """The job begins anew on the other one, and says why."""
    slurm = pleat.slurm
    job = submit_counted(pleat, "crash")
    pleat.until(job, "running")
    [host] = [host for host in slurm.nodes if lines(pleat, "crash") == [f"begin {host.name}"]]
    if restart:
        pleat.kill_daemon()
    host.crash()
    if restart:
        pleat.start()
    try:
        wait_until(lambda: pleat.job(job)["attempt"] == 1, pleat.log())
        pleat.until(job, "running")
        wait_until(lambda: len(lines(pleat, "crash")) == 2, "it runs on the other node")
        other = [other.name for other in slurm.nodes if other is not host]
        assert lines(pleat, "crash")[1] == f"begin {other[0]}"
        said = pleat.run("why", job).stdout + pleat.events(job)
        assert "its allocation" in said, said
        let_go(pleat, "crash")
        assert pleat.until(job, *ENDED)["state"] == "done"
    finally:
        host.boot()
        slurm.start_node(host)
    slurm.until_idle()


def test_a_job_that_must_not_begin_twice_ends_with_its_node(pleat):
    slurm = pleat.slurm
    job = submit_counted(pleat, "once", "--no-requeue")
    pleat.until(job, "running")
    [host] = [host for host in slurm.nodes if lines(pleat, "once") == [f"begin {host.name}"]]
    host.crash()
    try:
        shown = pleat.until(job, *ENDED)
        assert (shown["state"], shown["reason"]) == ("failed", "processors lost")
        assert "its allocation" in shown["text"] and host.name in shown["text"], shown
    finally:
        host.boot()
        slurm.start_node(host)
    slurm.until_idle()


def test_an_agent_that_hangs(pleat):
    """It is connected, and does not answer: its node is given up, and the job begins anew elsewhere."""
    slurm = pleat.slurm
    job = submit_counted(pleat, "hangs")
    pleat.until(job, "running")
    [agent] = [pid for host in slurm.nodes for pid in host.pids("pleat-agent")]
    os.kill(agent, signal.SIGSTOP)
    wait_until(lambda: pleat.job(job)["attempt"] == 1, pleat.log(), limit_s=180)
    said = pleat.run("why", job).stdout + pleat.events(job)
    assert "its agent does not answer" in said, said
    pleat.until(job, "running")
    let_go(pleat, "hangs")
    assert pleat.until(job, *ENDED)["state"] == "done"
    slurm.until_empty()


# ---- the network between pleatd and the cluster ----


@pytest.mark.parametrize("restart", [False, True], ids=["", "pleatd-killed"])
def test_pleatd_is_cut_off(slurms, restart):
    """The agents keep their jobs, and tell afterwards what became of them: nothing is lost, nothing runs twice."""
    a, b = slurms
    with pleat_of([a], head=b.head) as pleat:
        ends, stays = submit_counted(pleat, "ends"), submit_counted(pleat, "stays")
        for job in (ends, stays):
            pleat.until(job, "running")
        b.head.cut()
        if restart:
            pleat.kill_daemon()
            pleat.start()
        let_go(pleat, "ends")
        wait_until(lambda: len(lines(pleat, "ends")) == 2, "it ends while nobody hears of it")
        pleat.until_log("cannot be asked")
        later = submit_counted(pleat, "later")
        b.head.join()
        assert pleat.until(ends, *ENDED)["state"] == "done"
        for name, job in (("stays", stays), ("later", later)):
            pleat.until(job, "running")
            let_go(pleat, name)
            shown = pleat.until(job, *ENDED)
            assert (shown["state"], shown["attempt"]) == ("done", 0), shown
            assert len(lines(pleat, name)) == 2
        a.until_empty()


def test_pleatd_is_cut_off_for_too_long(slurms):
    """The agent ends its job, and itself; when the way is there again the job begins anew: it never runs twice at a time."""
    a, b = slurms
    with pleat_of([a], head=b.head, orphan_s=3) as pleat:
        job = submit_counted(pleat, "orphan")
        pleat.until(job, "running")
        b.head.cut()
        wait_until(lambda: not [pid for host in a.nodes for pid in host.pids("pleat-agent")], "the agent has ended")
        assert not [pid for host in a.nodes for pid in host.pids("sh") if host.pids("sh") and False]
        b.head.join()
        wait_until(lambda: pleat.job(job)["attempt"] == 1, pleat.log())
        pleat.until(job, "running")
        let_go(pleat, "orphan")
        assert pleat.until(job, *ENDED)["state"] == "done"
        assert [line.split()[0] for line in lines(pleat, "orphan")] == ["begin", "begin", "end"]
        a.until_empty()


# ---- two clusters ----


def test_two_clusters_are_two_sites(slurms):
    """What happens to one of them is nothing to the other."""
    with pleat_of(slurms) as pleat:
        jobs = [pleat.submit("--site", site, "--", "hostname") for site in ("c1", "c2")]
        for job, name in zip(jobs, "ab"):
            assert pleat.until(job, *ENDED)["state"] == "done"
            assert pleat.output(job)[0] == name
        slurms[1].freeze_controller()
        stuck = pleat.submit("--site", "c2", "--", "hostname")
        goes = pleat.submit("--site", "c1", "--", "hostname")
        assert pleat.until(goes, *ENDED)["state"] == "done"
        assert pleat.job(stuck)["state"] not in ENDED
        slurms[1].thaw_controller()
        assert pleat.until(stuck, *ENDED)["state"] == "done"


# ---- the time of an allocation ----


def test_the_time_of_an_allocation_is_seen_coming(pleat):
    """It is shortened in Slurm: the job gets its signal, is ended in time, says so, and waits again."""
    slurm = pleat.slurm
    script = f'trap "echo signal >>{HOME}/time.done" USR1; echo begin >>{HOME}/time.done; while :; do sleep 0.1; done'
    pleat.write("time.done")
    job = pleat.submit("--signal", "B:USR1@20", "--", "sh", "-c", script)
    shown = pleat.until(job, "running")
    wait_until(lambda: pleat.job(job)["until_s"], "its end is known")
    assert 540 < pleat.job(job)["until_s"] - shown["start_s"] <= 571, shown
    assert "ends by" in pleat.run("show", job).stdout
    [allocation] = slurm.jobs()
    slurm.command("scontrol", "update", f"JobId={allocation}", "TimeLimit=1")
    wait_until(lambda: pleat.job(job)["attempt"] == 1, f"it is ended: {pleat.log()}", limit_s=120)
    assert lines(pleat, "time")[:2] == ["begin", "signal"]
    assert "the time of its processors is over" in pleat.run("why", job).stdout
    assert "was ended by Slurm" not in pleat.log(), "Slurm was quicker"
    pleat.run("cancel", job)
    pleat.until(job, "cancelled")
    slurm.until_empty()


# ---- what was asked for in another way ----


def test_by_commands_and_whole_nodes(slurms):
    with pleat_of(slurms[:1], more="by = commands whole = nodes") as pleat:
        slurm = pleat.slurm
        job = submit_counted(pleat, "whole")
        pleat.until(job, "running")
        states = slurm.states()
        assert sorted(states.values()) == ["allocated", "idle"], states
        second = submit_counted(pleat, "second")
        pleat.until(second, "running")
        let_go(pleat, "whole")
        assert pleat.until(job, *ENDED)["state"] == "done"
        pleat.run("cancel", second)
        assert pleat.until(second, *ENDED)["state"] == "cancelled"
        slurm.until_empty()
        slurm.stop_controller()
        waits = submit_counted(pleat, "waits")
        wait_until(lambda: "the site cannot be asked now" in pleat.run("why", waits).stdout, pleat.log())
        slurm.start_controller()
        pleat.until(waits, "running")
        let_go(pleat, "waits")
        assert pleat.until(waits, *ENDED)["state"] == "done"
        slurm.until_empty()


def test_mpich_jobs(pleat):
    job = pleat.submit("-n", 3, "--", f"{APPS}/mpich/ring", "--iterations", 20)
    assert pleat.until(job, *ENDED)["state"] == "done", pleat.output(job)
    assert pleat.output(job).startswith("RESULT ok") and "ranks=3" in pleat.output(job)
    pleat.slurm.until_empty()


@pytest.mark.parametrize("app", ["loop", "mpich/loop"])
def test_malleable_jobs_shrink_and_grow_back(pleat, app):
    job = pleat.submit("--min", 1, "--max", 4, "--initial", 4, "--", f"{APPS}/{app}", "--iterations", 1000000, "--pause", 20)
    pleat.until(job, "running")
    for size in (2, 4):
        pleat.run("resize", job, size)
        wait_until(lambda size=size: pleat.job(job)["processors"] == size and pleat.job(job)["state"] == "running",
                   f"it has {size}: {pleat.log()} {pleat.job(job)}")
    pleat.run("cancel", job)
    assert pleat.until(job, *ENDED)["state"] == "cancelled"
    pleat.slurm.until_empty()
