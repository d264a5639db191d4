"""pleat run: output, exit codes, and being interrupted."""

import os
import signal
import subprocess
import threading
import time

import pytest
from fake_pleatd import Failure, Hang
from story import JOBS


class Job:
    """A job of the fake daemon: writes, then ends when told."""

    def __init__(self, out=b"", err=b"", **ended):
        self.streams = {"stdout": out, "stderr": err}
        self.ended = dict(JOBS[2], job=5, **ended)
        self.over = threading.Event()
        self.spec = None

    def answers(self):
        return {"submit": self.submit, "output": self.output, "wait": self.wait,
                "cancel": self.cancel}

    def submit(self, params, _):
        self.spec = params
        return {"job": 5, "warnings": ["a word of warning"]}

    def output(self, params, _):
        text = self.streams[params["stream"]][params["offset"]:]
        if not text and not self.over.wait(30):
            raise Hang
        return {"offset": params["offset"] + len(text), "end": not text}, text

    def wait(self, _params, _connection):
        assert self.over.wait(30)
        return {"jobs": [self.ended]}

    def cancel(self, _params, _connection):
        self.ended = dict(self.ended, state="cancelled", reason="cancelled", signal=15,
                          exit_code=None)
        self.over.set()
        return {}


def run(cli, job, *args):
    job.over.set()
    with cli.fake(job.answers()):
        return cli("run", *(args or ["true"]))


def test_output_and_environment(cli):
    job = Job(b"out\n", b"err\n")
    done = run(cli, job, "--name", "x", "-n", "1", "--estimate", "2.5s", "--chdir", "/", "sh", "-c", "1")
    assert (done.returncode, done.stdout) == (0, "out\n")
    assert sorted(done.stderr.splitlines()) == ["err", "pleat: a word of warning"]
    spec = job.spec
    assert spec["argv"][0].endswith("/sh") and spec["argv"][1:] == ["-c", "1"]
    assert spec["cwd"] == "/" and spec["name"] == "x" and spec["estimate_s"] == 2.5
    assert (spec["kind"], spec["runner"], spec["mpi"], spec["site"]) == ("rigid", "plain", "none", None)
    assert f"PLEAT_DIR={cli.path}" in spec["env"]


def test_times_and_priority(cli):
    job = Job()
    run(cli, job, "true")
    assert (job.spec["priority"], job.spec["deadline_in_s"], job.spec["begin_in_s"]) == (0, 0, 0)
    for text, seconds in (("1.5e2s", 150), ("90s", 90), ("15min", 900), ("15m", 900),
                          ("2h", 7200), ("1.5d", 129600), ("2-12", 216000)):
        job = Job()
        run(cli, job, "--estimate", text, "--begin", text, "--deadline", text, "--priority", "-3",
            "true")
        assert job.spec["estimate_s"] == job.spec["begin_in_s"] == seconds
        assert job.spec["deadline_in_s"] == seconds and job.spec["priority"] == -3
    run(cli, job, "--estimate", "1:30:00", "--time-limit", "1-02:03:04", "true")
    assert (job.spec["estimate_s"], job.spec["limit_s"]) == (5400, 93784)


def test_times_of_the_day(cli):
    """The next such time: within a day from now on, and it is that time then."""
    for text in ("00:00", "23:59", "14:30:15"):
        job = Job()
        before = time.time()
        run(cli, job, "--deadline", text, "true")
        ahead = job.spec["deadline_in_s"]
        moments = {time.strftime("%H:%M:%S", time.localtime(now + ahead))
                   for now in (int(before), int(before) + 1, int(time.time()))}
        assert 0 < ahead <= 25 * 3600 and (text + ":00")[:8] in moments


def test_moldable_is_said(cli):
    job = Job()
    done = run(cli, job, "--min", "1", "--max", "4", "true")
    assert "not linked with libpleat" in done.stderr and job.spec["kind"] == "moldable"
    assert "libpleat" not in run(cli, Job(), "--max", "4", "--moldable", "true").stderr


def test_text_that_is_not_utf8(cli):
    job = Job()
    job.over.set()
    with cli.fake(job.answers()):
        bad = os.fsdecode(b"\xff")
        done = cli("run", "true", bad)
        assert done.returncode == 2 and "argument 1" in done.stderr and job.spec is None
        done = cli("run", "true", env={"ODD": bad})
        assert done.returncode == 0 and "variable ODD is left out" in done.stderr
        assert not [v for v in job.spec["env"] if v.startswith("ODD=")]


@pytest.mark.parametrize("ended, code", [
    (dict(exit_code=0), 0), (dict(state="failed", exit_code=7), 7),
    (dict(state="failed", exit_code=0, signal=9), 137),
    (dict(state="cancelled", reason="cancelled", signal=15), 130),
    (dict(state="failed", reason="could not be started", start_s=None, exit_code=127), 127),
    (dict(state="failed", reason="could not be started", start_s=None, exit_code=126), 126),
    (dict(state="failed", reason="could not be started", start_s=None, exit_code=125), 125),
    (dict(state="failed", reason="could not be started", start_s=None, exit_code=0), 125),
    (dict(state="failed", reason="the node could not start it", start_s=None, exit_code=0), 125),
    (dict(state="failed", reason="stuck in a resize", exit_code=0), 125),
])
def test_exit_codes(cli, ended, code):
    done = run(cli, Job(**ended))
    assert done.returncode == code
    if ended.get("state") and ended.get("exit_code") != 7:
        assert "pleat: job 5: " in done.stderr


def test_the_daemon_goes_away(cli):
    def gone(_params, connection):
        connection.close()
        raise Hang

    with cli.fake(dict(Job().answers(), output=gone)):
        done = cli("run", "true")
    assert done.returncode == 3 and "pleat: " in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels(cli, number):
    job = Job(b"first\n")
    with cli.fake(job.answers()) as fake:
        process = cli.start("run", "true", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "first\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
        assert fake.asked("cancel") == [{"job": 5, "now": False}]
    assert process.returncode == 128 + number and "job 5: cancelled" in err
    assert "job 5 is told to end (SIGTERM), and killed if it has not in 3 s" in err


def test_a_second_signal_kills_and_a_third_leaves(cli):
    job = Job(b"first\n")
    with cli.fake(dict(job.answers(), cancel={})) as fake:  # it does not end
        process = cli.start("run", "true", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "first\n"
        process.stderr.readline()  # a warning of the daemon
        process.send_signal(signal.SIGINT)
        assert "Ctrl-C again kills it at once" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert "is being killed; Ctrl-C again leaves" in process.stderr.readline()
        assert fake.asked("cancel") == [{"job": 5, "now": False}, {"job": 5, "now": True}]
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        job.over.set()
    assert process.returncode == 130
    assert not [name for name in os.listdir(cli.path) if name.startswith("stdin-")]


def test_a_job_that_ended_meanwhile_is_no_failure(cli):
    job = Job(b"first\n", exit_code=0)

    def cancel(_params, _connection):
        job.over.set()
        raise Failure(-6, "job 5 has ended")

    with cli.fake(dict(job.answers(), cancel=cancel)):
        process = cli.start("run", "true", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "first\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "has ended" not in err


def test_a_closed_pipe_cancels(cli):
    job = Job(b"nobody reads this\n")
    with cli.fake(job.answers()) as fake:
        reader, writer = os.pipe()
        os.close(reader)
        process = cli.start("run", "true", stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        _, err = process.communicate(timeout=30)
        assert fake.asked("cancel") == [{"job": 5, "now": False}]
    assert process.returncode == 128 + signal.SIGPIPE and "cannot write" not in err


def test_a_full_disk_cancels(cli):
    job = Job(b"x" * 100)
    with cli.fake(job.answers()) as fake, open("/dev/full", "w") as full:
        done = cli("run", "true", stdout=full)
        assert fake.asked("cancel") == [{"job": 5, "now": False}]
    assert done.returncode == 1 and "No space left" in done.stderr
