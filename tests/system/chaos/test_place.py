"""The log is removed, or another file is put in its place, while pleatd runs; or it is lost while an agent lives."""

import glob
import os
import shutil
import signal

import pytest

from conftest import Diary, Stubborn, check_nothing_left, diary, is_alive, touch, until_file, wait_until


def displace(pleat, how):
    if how == "removed":
        os.unlink(pleat.log)
        os.unlink(pleat.log + "-wal")
    elif how == "without its write-ahead log":
        os.unlink(pleat.log + "-wal")
    elif how == "moved away":
        os.rename(pleat.log, pleat.path("elsewhere"))
    else:
        shutil.copy(pleat.log, pleat.path("other"))
        os.rename(pleat.path("other"), pleat.log)


@pytest.mark.parametrize("how, asks", [("removed", True), ("removed", False), ("without its write-ahead log", True),
                                       ("moved away", True), ("replaced", True), ("replaced", False)])
def test_log_is_displaced(pleat, how, asks):
    """Whether something is to be written just then, or pleatd looks by itself: all is on the disk again, also what
    was acknowledged since."""
    daemon = Stubborn(pleat)
    go, wrote = pleat.path("go"), pleat.path("d-job")
    job = daemon.submit("job", diary(wrote, *until_file(go)[1:]), 4)
    daemon.wait(job, "runs", lambda j: j["state"] == "running" and os.path.exists(wrote))
    ended = daemon.submit("ended", ["true"])
    daemon.wait_end(ended)
    displace(pleat, how)
    last = daemon.submit("last", ["true"], 8) if asks else ended
    said = "was removed or replaced while pleatd ran"

    def told():
        with open(pleat.path("pleatd.log"), encoding="utf-8") as file:
            return said in file.read()

    wait_until(told, "pleatd has noticed")
    assert any(said in event["text"] for event in daemon.call("events", limit=1000)["events"] if event["kind"] == "daemon")
    daemon.close()
    pleat.kill_daemon()  # what was acknowledged is on the disk
    states = {j["job"]: j["state"] for j in daemon.call("jobs", all=True)["jobs"]}
    assert states == {job: "running", ended: "done", last: "queued"} | ({} if asks else {ended: "done"}), states
    touch(go)
    assert daemon.wait_end(job)["exit_code"] == 7
    assert daemon.wait_end(last)["state"] == "done"
    assert len(Diary(wrote).begun) == 1
    check_nothing_left(pleat, daemon)
    daemon.close()


def test_nothing_is_acknowledged_that_has_no_place(pleat):
    """There is no directory to write the log into any more: requests wait or are refused, until there is one."""
    daemon = Stubborn(pleat)
    daemon.wait_end(daemon.submit("first", ["true"]))
    for name in glob.glob(glob.escape(pleat.log) + "*"):
        os.unlink(name)
    os.mkdir(pleat.log + ".salvage")  # in the way of a new log
    touch(pleat.log + ".salvage/x")
    wait_until(lambda: daemon.call("info")["holding"], "pleatd says that the log is not there")
    assert "removed or replaced" in daemon.call("info")["holding"]
    refused = pleat.pleat("submit", "--", "true", check=1)
    assert "refused until it can" in refused.stderr
    shutil.rmtree(pleat.log + ".salvage")
    wait_until(lambda: not daemon.call("info")["holding"], "it can be written again")
    assert daemon.wait_end(daemon.submit("second", ["true"]))["state"] == "done"
    daemon.close()
    pleat.kill_daemon()
    assert [job["name"] for job in daemon.call("jobs", all=True)["jobs"]] == ["first", "second"]
    daemon.close()


def test_the_whole_directory_is_removed(pleat, tmp_path):
    """A user cleans up too much. Running jobs go on, and all files that pleatd needs are made again, with everything
    that was acknowledged before. The configuration is its user's to write again."""
    daemon = Stubborn(pleat)
    go, wrote = str(tmp_path / "go"), str(tmp_path / "d-job")
    job = daemon.submit("job", diary(wrote, *until_file(go)[1:]), 1)
    daemon.wait(job, "runs", lambda j: j["state"] == "running" and os.path.exists(wrote))
    shutil.rmtree(pleat.dir)
    for name in ("log.sqlite", "pleatd.lock", "pleatd.sock", "agent-local-0.lock"):
        wait_until(lambda name=name: os.path.exists(pleat.path(name)), f"{name} is there again")
    pleat.configure()
    assert daemon.wait_end(daemon.submit("second", ["true"]))["state"] == "done"
    daemon.close()
    pleat.kill_daemon()
    assert [(j["name"], j["state"]) for j in daemon.call("jobs", all=True)["jobs"]] == [("job", "running"), ("second", "done")]
    touch(go)
    assert daemon.wait_end(job)["exit_code"] == 7
    assert len(Diary(wrote).begun) == 1
    agents = pleat.agent_pids()
    assert len(agents) == 1, agents  # the one that was there: no second one was started beside it
    check_nothing_left(pleat, daemon)
    daemon.close()


@pytest.mark.parametrize("asks", ["a job", "stop"])
def test_log_and_mark_are_lost_while_the_agent_lives(pleat, asks):
    """The new instance knows nothing of what the agent runs: that is ended, the agent too, and another one serves."""
    go = pleat.path("go")
    number = pleat.submit(*until_file(go))
    pleat.wait_for(number, "running")
    left = wait_until(lambda: os.path.exists(go + ".runs") and pleat.job_pids(number), "it runs")
    before, agent = pleat.instance_id, pleat.agent_pid()
    pleat.kill_daemon(signal.SIGKILL)
    for name in [pleat.path("log.mark"), *glob.glob(glob.escape(pleat.log) + "*")]:
        os.unlink(name)
    if asks == "stop":
        pleat.submit("--", "sleep", "1000")
        assert pleat.call("info")["instance"] != before
        pleat.pleat("stop", "--force", check=0)
    else:
        later = pleat.submit("--", "true")
        assert later == number + 1, "the directory of a job is there"
        assert pleat.wait_end(later)["state"] == "done"
        assert pleat.call("info")["instance"] != before
        assert pleat.agent_pid() != agent
    wait_until(lambda: not is_alive(agent) and not any(is_alive(pid) for pid in left), "what nobody knows is ended")
