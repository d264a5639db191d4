"""pleat mix: the file, and a run against a daemon played by the test."""

import itertools
import json
import os
import re
import signal
import subprocess
import threading

import pytest
from conftest import on_terminal
from fake_pleatd import Failure
from story import JOBS, SITES, history


def mix_file(cli, text, name="test.mix"):
    path = os.path.join(cli.path, name)
    with open(path, "w") as file:
        file.write(text)
    return path


@pytest.mark.parametrize("text, line, words", [
    ("", None, "has no jobs"),
    ("# nothing\n\n", None, "has no jobs"),
    ("0 a -- true\nsoon b -- true\n", 2, "'soon' is not a number"),
    ("-1 a -- true\n", 1, "AT (seconds after the start)"),
    ("nan a -- true\n", 1, "AT (seconds after the start)"),
    ("0\n", 1, "name is missing"),
    ("0 -n 2 -- true\n", 1, "'-n' cannot be the job's name"),
    ("0 a --\n", 1, "program is missing"),
    ("0 a -n 2\n", 1, "program is missing"),
    ("\n# x\n0 a -- 'true\n", 3, "a ' is not closed"),
    ('0 a -- "true\n', 1, 'a " is not closed'),
    ("0 a --mim 2 -- true\n", 1, "did you mean '--min'"),
    ("0 a --json -- true\n", 1, "unknown option '--json'"),
    ("0 a --help -- true\n", 1, "unknown option '--help'"),
    ("0 a --dir x -- true\n", 1, "unknown option '--dir'"),
    ("0 a --name b -- true\n", 1, "leave out --name"),
    ("0 a --min 3 --max 2 -- true\n", 1, "--min 3 is above --max 2"),
    ("0 a -- no-such-program\n", 1, "nor beside the mix file"),
    ("0 a -- ./no-such-program\n", 1, "no-such-program"),
    ("0 a -- /etc/passwd\n", 1, "cannot be executed"),
    ("0 a \\\n -n \\\n x -- true\n", 1, "'x' is not a whole number"),
    ("0 a --begin 14:30 --estimate 5s -- true\n", 1, "counts from the job's arrival on"),
    ("0 a -- true\n0 b --chdir /no/dir -- true", 2, "/no/dir"),
])
def test_errors_name_file_and_line(cli, text, line, words):
    path = mix_file(cli, text)
    with cli.fake({}) as fake:
        done = cli("mix", path)
        assert fake.requests == []
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"pleat: {path}:{line}: " if line else f"pleat: {path} ")


def test_a_file_that_is_not_there(cli):
    done = cli("mix", "/no/such.mix")
    assert done.returncode == 2 and "/no/such.mix" in done.stderr
    done = cli("mix", "/etc")
    assert done.returncode == 2 and "/etc" in done.stderr


class Machine:
    """Starts what is submitted at once, and ends it `lasts` seconds later (None: when cancelled)."""

    def __init__(self, lasts=0.05, result=b"RESULT ok\n", **ended):
        self.lasts, self.result, self.ended = lasts, result, ended
        self.seq = itertools.count(1)
        self.log, self.jobs, self.followers = [], {}, []
        self.lock = threading.RLock()
        self.active = {"approach": "pwa", "malleability": "egs"}

    def answers(self):
        return {"sites": SITES, "events": self.events, "follow": self.follow,
                "submit": self.submit, "cancel": self.cancel, "output": self.output,
                "jobs": self.list, "job": self.job,
                "info": lambda _p, _c: {"policies": dict(self.active)},
                "configure": self.configure}

    def configure(self, params, _):
        self.active.update(params["policies"])
        return {}

    def list(self, params, _):
        with self.lock:
            return {"jobs": [job for job in self.jobs.values() if job["job"] > params["after"]
                             and (params["all"] or job["state"] == "running")]}

    def job(self, params, _):
        with self.lock:
            return dict(self.jobs[params["job"]])

    def events(self, params, _):
        with self.lock:
            some = [e for e in self.log if e["seq"] > params["after"]]
            return {"events": some[:params["limit"]], "last": some[-1]["seq"] if some else 0}

    def follow(self, params, connection):
        with self.lock:
            assert params["after"] == (self.log[-1]["seq"] if self.log else 0)
            self.followers.append(connection)
            return {}

    def say(self, number, kind, **more):
        with self.lock:
            event = {"seq": next(self.seq), "time_s": 1.7e9 + 0.001 * len(self.log), "kind": kind,
                     "job": number, **more}
            self.log.append(event)
            for connection in self.followers:
                connection.notify(event)
            return event["time_s"]

    def submit(self, spec, _):
        with self.lock:
            number = len(self.jobs) + 1
            at = self.say(number, "state", **{"from": "new", "to": "queued", "reason": None})
            self.say(number, "slots", claim=number, purpose="run", state="held", count=spec["min"],
                     site="local", pieces=[{"node": 0, "first": number - 1, "count": spec["min"]}])
            self.say(number, "state", **{"from": "claiming", "to": "running", "reason": None})
            self.say(number, "size", processors=spec["min"])
            job = dict(JOBS[2], **{k: v for k, v in spec.items() if k != "env"})
            job.update(job=number, state="running", submit_s=at, start_s=at + 0.001, end_s=None,
                       history=history([(0, spec["min"])], []))
            self.jobs[number] = job
            if self.lasts is not None:
                threading.Timer(self.lasts, self.end, (number, "done")).start()
            return {"job": number, "warnings": []}

    def end(self, number, state):
        with self.lock:
            self.say(number, "slots", claim=number, purpose="run", state="free", count=1,
                     site="local", pieces=[])
            at = self.say(number, "state", **{"from": "running", "to": state, "reason": None})
            self.jobs[number].update(state=state, end_s=at, exit_code=0)
            self.jobs[number].update(self.ended)

    def cancel(self, params, _):
        self.end(params["job"], "cancelled")
        return {}

    def output(self, params, _):
        text = self.result[params["offset"]:]
        return {"offset": params["offset"] + len(text), "end": not text}, text


FILE = """# three jobs
0.02 'second one' -n 2 -- true --not-an-option "a  b" c\\ d '#x' # a comment
0    first -- \\
     true
0.04 third --min 1 --max 3 --moldable -- ./beside
"""


def with_program(cli):
    path = os.path.join(cli.path, "beside")
    with open(path, "w") as file:
        file.write("#!/bin/sh\n")
    os.chmod(path, 0o700)
    return mix_file(cli, FILE)


def test_a_run(cli):
    path = with_program(cli)
    machine = Machine()
    machine.say(None, "daemon", text="before")
    with cli.fake(machine.answers()) as fake:
        done = cli("mix", path, "--expect", "results", env={"COLUMNS": "120"})
        specs = fake.asked("submit")
    assert done.returncode == 0
    notes = done.stderr.splitlines()
    assert len(notes) == 1 and "not linked with an MPI" in notes[0]
    assert notes[0].startswith(f"pleat: {path}:2: ")
    assert [spec["name"] for spec in specs] == ["first", "second one", "third"]
    assert specs[1]["argv"][1:] == ["--not-an-option", "a  b", "c d", "#x"]
    assert specs[2]["argv"] == [os.path.join(cli.path, "beside")]  # a script: its text goes along
    assert specs[2]["script"].startswith("#!") and "script" not in specs[0]
    lines = done.stdout.splitlines()
    assert sum("running -> done" in line for line in lines) == 3
    table = lines.index("") + 1
    assert lines[table].split() == \
        "JOB NAME ARRIVED WAIT RUN RESPONSE SIZES RESIZES COST ENDED".split()
    assert all("exit 0, ok" in line for line in lines[table + 1:table + 4])
    assert "makespan" in lines[table + 5] and "A job 1 first" in done.stdout


def test_progress_on_a_terminal(cli):
    """A block of lines that is redrawn, no wider than the terminal."""
    with cli.fake(Machine(lasts=0.7).answers()):
        text, code = on_terminal(cli, "mix", with_program(cli), size=(24, 60))
    assert code == 0
    blocks = text.split("\033[4A")
    assert len(blocks) >= 2
    for block in blocks[1:]:
        lines = re.sub("\033\\[[0-9;]*[A-Za-z]", "", block.split("\033[J")[0]).splitlines()
        assert max(len(line.rstrip("\r")) for line in lines) < 60
    assert "first" in blocks[1] and "running" in blocks[1] and "8 processors" in blocks[1]


def test_json(cli):
    path = with_program(cli)
    with cli.fake(Machine().answers()):
        done = cli("mix", path, "--json", "--expect", "grown,results")
    report = json.loads(done.stdout)
    assert set(report) == {"file", "started_s", "makespan_s", "utilization", "processors", "jobs",
                           "unmet", "chart"}
    assert {"job", "name", "line", "arrival_s", "response_s", "resize_mean_s", "resize_total_s",
            "result", "history", "state"} <= set(report["jobs"][0])
    assert [job["line"] for job in report["jobs"]] == [3, 2, 5]
    assert report["unmet"] == ["no job grew"] and done.returncode == 1
    assert "no job grew" in done.stderr


@pytest.mark.parametrize("machine, words", [
    (Machine(result=b"RESULT wrong by 3\n"), "computed a wrong result"),
    (Machine(result=b"RESULT ok\nRESULT not ok?\n"), "computed a wrong result"),
    (Machine(state="failed", exit_code=3), "did not succeed: exit 3")])
def test_expectations(cli, machine, words):
    with cli.fake(machine.answers()):
        done = cli("mix", mix_file(cli, "0 a -- true\n"), "--expect", "results")
    assert done.returncode == 1 and words in done.stderr


def test_no_result_is_none(cli):
    with cli.fake(Machine(result=b"RESULTS are not RESULT lines\nx").answers()):
        done = cli("mix", mix_file(cli, "0 a -- true\n"), "--json")
    assert json.loads(done.stdout)["jobs"][0]["result"] in (None, "wrong")


def test_policies_are_restored(cli):
    machine = Machine()
    with cli.fake(machine.answers()) as fake:
        path = mix_file(cli, "0 a -- true\n")
        assert cli("mix", path, "--approach", "pra", "--malleability",
                   "none").returncode == 0
        assert fake.asked("configure") == [{"policies": {"approach": "pra", "malleability": "none"}},
                                           {"policies": {"approach": "pwa", "malleability": "egs"}}]


def test_a_mix_has_its_own_policies_for_what_programs_ask(cli):
    machine = Machine()
    with cli.fake(machine.answers()) as fake:
        done = cli("mix", mix_file(cli, "0 a -- true\n"), "--need", "voluntary", "--reward",
                   "grow-first")
        assert done.returncode == 0, done.stderr
        assert fake.asked("configure")[0] == {"policies": {"need": "voluntary",
                                                           "reward": "grow-first"}}


def test_a_policy_that_is_not_there(cli):
    def configure(_params, _connection):
        raise Failure(-4, "no approach policy 'x'")

    with cli.fake(dict(Machine().answers(), configure=configure)) as fake:
        done = cli("mix", mix_file(cli, "0 a -- true\n"), "--approach", "x")
        assert fake.asked("submit") == []
    assert done.returncode == 1 and "no approach policy" in done.stderr


def test_a_refused_job_ends_the_others(cli):
    machine = Machine(lasts=None)

    def submit(spec, connection):
        if spec["name"] == "big":
            raise Failure(-1, "this machine has 8 processors")
        return machine.submit(spec, connection)

    path = mix_file(cli, "0 a -- true\n0 big -n 99 -- true\n")
    with cli.fake(dict(machine.answers(), submit=submit)) as fake:
        done = cli("mix", path)
        assert fake.asked("cancel") == [{"job": 1}]
    assert done.returncode == 1 and "8 processors" in done.stderr and f"{path}:2" in done.stderr


def test_ctrl_c_cancels_all(cli):
    machine = Machine(lasts=None)
    path = mix_file(cli, "0 a -- true\n0 b -- true\n9999 never -- true\n")
    with cli.fake(machine.answers()) as fake:
        process = cli.start("mix", path, "--approach", "pra", stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
        for line in process.stdout:
            if "job 2 b: runs on" in line:
                break
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
        assert sorted(p["job"] for p in fake.asked("cancel")) == [1, 2]
        assert len(fake.asked("submit")) == 2 and machine.active["approach"] == "pwa"
    assert process.returncode == 130 and "not run" in out and "cancelled" in out


def test_time_scale(cli):
    with cli.fake(Machine().answers()) as fake:
        path = mix_file(cli, "0 a -- true\n1000 b -- true\n")
        assert cli("mix", path, "--time-scale", "0").returncode == 0
        assert len(fake.asked("submit")) == 2


def test_the_daemon_goes_away(cli):
    machine = Machine(lasts=None)

    def submit(spec, connection):
        machine.submit(spec, connection)
        connection.close()
        return {"job": 1}

    with cli.fake(dict(machine.answers(), submit=submit)):
        done = cli("mix", mix_file(cli, "0 a -- true\n"))
    assert done.returncode == 3 and "pleat: " in done.stderr


# ---- a trace and its parameter files ----

TRACE = "; a comment\n0 2{0} 1{1}\n1 0.5{0} 0{1}\n2 0{0} 1{1}\n".format(" -1" * 11, " -1" * 4)


def parameters(cli, **changed):
    """The arguments; an application is there as made for 2 and for 4 processes, another for any."""
    for name in ("cg.2", "cg.4", "any"):
        path = mix_file(cli, "#!/usr/bin/env true\n", name)
        os.chmod(path, 0o700)
    files = {"applications": f"mpirun -np N {cli.path}/cg.N -x N\n# not this\n$PLEAT_DIR/any ${{NOTHING}}$ 1\n",
             "counts": "4 2 2 2\n8 -1\n", "types": "1\n2\n", "trace": TRACE, **changed}
    return [word for name, text in files.items() if text is not None
            for word in ([f"--{name}"] if name != "trace" else []) + [mix_file(cli, text, name)]]


def test_a_trace(cli):
    """One program has no MPI, so its job is refused: with its line, and that of its application. The
    other one, a script, is right: its variables were found, and the launcher was left out."""
    done = cli("mix", *parameters(cli))
    assert done.returncode == 2 and "not linked with an MPI" in done.stderr
    assert f"{cli.path}/trace:3: {cli.path}/applications:1: --processes: '{cli.path}/cg.N'" in done.stderr


@pytest.mark.parametrize("changed, file, words", [
    ({"applications": "mpirun -np N\n"}, "applications:1", "no program"),
    ({"applications": "\n'cg\n"}, "applications:2", "not closed"),
    ({"applications": "# none\n"}, None, "has no applications"),
    ({"counts": "4 2\n"}, None, "has 1 lines, and there are 2 applications"),
    ({"counts": "4\n4\n4\n"}, "counts:3", "only 2 applications"),
    ({"counts": "4 x\n"}, "counts:1", "'x'"),
    ({"counts": "4 2 -1\n"}, "counts:1", "any number up"),
    ({"counts": "-1\n"}, "counts:1", "any number up"),
    ({"counts": "4 0\n"}, "counts:1", "above 0"),
    ({"types": "1\n3\n"}, "types:2", "the type"),
    ({"types": "1 2\n"}, "types:1", "one number"),
    ({"trace": "0 1 2\n"}, "trace:1", "3 fields"),
    ({"trace": TRACE.replace(" 1 -1", " 2 -1", 1)}, "trace:2", "the application (field 14)"),
    ({"trace": TRACE.replace("0.5", "soon")}, "trace:3", "the time of arrival"),
    ({"trace": "; nothing\n"}, None, "has no jobs"),
])
def test_mistakes_in_a_trace_or_its_files(cli, changed, file, words):
    if "trace" in changed:  # the jobs before the mistake have to be right
        ring = os.path.join(os.environ["PLEAT_BUILD"], "apps", "ring")
        changed = dict(changed, applications=f"{ring}\n{ring}\n")
    done = cli("mix", *parameters(cli, **changed))
    assert done.returncode == 2 and words in done.stderr, done.stderr
    assert file is None or f"{cli.path}/{file}: " in done.stderr, done.stderr


def test_files_without_applications(cli):
    done = cli("mix", "--counts", "x", "y")
    assert done.returncode == 2 and "need --applications" in done.stderr
