"""Checkpoints: jobs that are stopped and go on at another size and with the other MPI, and all that can go wrong with
the file. The programs check their own results."""

import json
import os
import re
import signal

import pytest

from conftest import BUILD, Failure, is_alive, wait_until
from relaunching import LONG, MPICH, MPIS, computes, program, submit

HEAT = ("--n", "100", "--iterations", "200")


def result(text):
    found = re.findall(r"^RESULT ok sweeps=(\d+) ranks=(\d+) .*bits=(\w+)$", text, re.M)
    assert len(found) == 1, text
    return int(found[0][0]), int(found[0][1]), found[0][2]


def checkpoint(pleat, number, *words, check=0):
    return pleat.pleat("checkpoint", "--wait", *words, number, check=check)


def notes(pleat, number):
    events = pleat.call("events", job=number, after=0, limit=1000)["events"]
    return [event for event in events if event["kind"] == "checkpoint"]


def heat(pleat, mpi, size, *words, options=()):
    return pleat.submit("--malleable", "-n", size, *options, "--", program("heat", mpi), *HEAT, *words)


def goes_on(pleat, mpi, size, path):
    """Ranks and bits of the result of a job that goes on from that file."""
    number = heat(pleat, mpi, size, options=["--from", path])
    job = pleat.wait_end(number)
    assert job["state"] == "done" and job["from"] == path, (job, pleat.output(number, "stderr"))
    return result(pleat.output(number))


@pytest.mark.parametrize("mpi", MPIS)
def test_stopped_and_gone_on_with(pleat, mpi):
    """At fewer and at more ranks, and with the other MPI, to the same bits as without a stop."""
    pleat.configure(LONG)
    plain = heat(pleat, mpi, 1)
    assert pleat.wait_end(plain)["state"] == "done"
    whole = result(pleat.output(plain))
    number = heat(pleat, mpi, 4, "--pause", "20")
    computes(pleat, number, 4)
    path = pleat.path("c")
    said = checkpoint(pleat, number, "--stop", "--to", path).stdout
    at = int(re.search(r"at iteration (\d+)", said).group(1))
    assert 0 < at < 200 and "the job has stopped" in said
    job = pleat.wait_end(number)
    assert job["state"] == "cancelled" and f"--from {path}" in job["text"], job
    assert (job["checkpoint"]["path"], job["checkpoint"]["iteration"], job["checkpoint"]["processors"]) == (path, at, 4)
    assert "RESULT" not in pleat.output(number)  # its ranks left where it was written
    assert [note["iteration"] for note in notes(pleat, number)] == [at]
    assert os.stat(path).st_mode & 0o777 == 0o600 and not os.path.exists(path + ".part")
    shown = json.loads(pleat.pleat("checkpoint", "--verify", path, "--json", check=0).stdout)
    assert shown["iteration"] == at and shown["ranks"] == 4 and shown["verified"] is True
    assert [(one["name"], one["kind"], one["shape"], one["element_bytes"]) for one in shown["entries"]] == [
        ("plate", "rows", [100], 800), ("done", "value", [1], 8)]
    assert "plate" in pleat.pleat("checkpoint", "--show", path, check=0).stdout
    other = "openmpi" if mpi == "mpich" or not os.path.exists(MPICH) else "mpich"
    for at_mpi, size in ((mpi, 2), (mpi, 7), (other, 3)):
        assert goes_on(pleat, at_mpi, size, path) == (200, size, whole[2])


def test_it_goes_on_while_it_writes(pleat):
    """Several, in its directory and elsewhere, with resizes between them; the daemon dies meanwhile."""
    pleat.configure(LONG)
    number = submit(pleat, "openmpi", sizes=(2, 4), options=["--initial", "2"])
    computes(pleat, number, 4)  # the policy lets it grow
    assert f"pleat-{number}.checkpoint" in checkpoint(pleat, number).stdout
    os.mkdir(pleat.path("there"))
    pleat.pleat("shrink", "--wait", number, 1, check=0)
    assert f"there/pleat-{number}.checkpoint" in checkpoint(pleat, number, "--to", "there").stdout
    pleat.kill_daemon()
    wait_until(lambda: pleat.call("sites")["sites"][0]["state"] == "ok" and "progress" in pleat.job(number)
               and pleat.job(number)["progress"], "its agent is there again")
    said = json.loads(checkpoint(pleat, number, "--json").stdout)
    assert said["processors"] == pleat.job(number)["checkpoint"]["processors"]
    assert len(notes(pleat, number)) == 3  # an agent that tells of them again changes nothing
    assert "checkpoint" in pleat.pleat("show", number, check=0).stdout
    open(pleat.path("end"), "w", encoding="utf-8").close()
    assert pleat.wait_end(number)["state"] == "done"
    assert pleat.output(number).count("RESULT ok") == 1


def test_it_cannot_be_written(pleat):
    """The job goes on, and an older file stays."""
    pleat.configure(LONG)
    number = submit(pleat, "openmpi", sizes=(2, 2), options=["--malleable"])
    computes(pleat, number, 2)
    path = pleat.path("c")
    checkpoint(pleat, number, "--to", path)
    with open(path, "rb") as file:
        before = file.read()
    for to, why in ((pleat.path("no/c"), "No such file"), ("/dev/full", "that is no file"),
                    ("/proc/c", "cannot write")):
        said = checkpoint(pleat, number, "--to", to, check=1).stderr
        assert "not written" in said and why in said, said
    os.mkfifo(path + ".part")
    assert "something else" in checkpoint(pleat, number, "--to", path, check=1).stderr
    os.unlink(path + ".part")
    failed = [note["text"] for note in notes(pleat, number) if "text" in note]
    assert len(failed) == 4 and all(failed)
    with open(path, "rb") as file:
        assert file.read() == before
    assert pleat.pleat("checkpoint", "--to", "", number).returncode == 2
    with pytest.raises(Failure, match="absolute"):
        pleat.call("checkpoint", job=number, path="c")
    open(pleat.path("end"), "w", encoding="utf-8").close()
    assert pleat.wait_end(number)["state"] == "done"
    assert checkpoint(pleat, number, check=1).stderr.count("not running") == 1
    assert checkpoint(pleat, 99, check=4).returncode == 4


def test_no_adaptation_point_comes(pleat):
    """The command says so; Ctrl-C withdraws it, and so does the end of its patience."""
    pleat.configure(LONG)
    plain = pleat.submit("--", "sleep", "60")
    pleat.wait_for(plain, "running")
    assert "linked with libpleat" in checkpoint(pleat, plain, check=1).stderr
    number = submit(pleat, "openmpi", sizes=(2, 2), options=["--malleable"],
                    args=["--pause", "30000", "--until", pleat.path("end")])
    pleat.wait_for(number, "running")
    path = pleat.path(f"pleat-{number}.checkpoint")
    asked = waits(pleat, number)
    asked.send_signal(signal.SIGINT)
    assert asked.wait() == 130 and "withdrawn" in asked.stderr.read()
    said = pleat.pleat("checkpoint", "--timeout", "0.3s", number, check=1).stderr
    assert "no adaptation point" in said and "withdrawn" in said, said
    wait_until(lambda: notes(pleat, number), "that is noted")
    assert {note["text"] for note in notes(pleat, number)} == {"it was withdrawn"}
    first, second = pleat.client(), pleat.client()
    first.send({"id": 1, "method": "checkpoint", "params": {"job": number, "wait": True}})
    first.call("info")  # it is with the agent now, before what comes next
    with pytest.raises(Failure, match="wanted already"):
        second.call("checkpoint", job=number, wait=True)
    first.close()
    second.close()
    waiting = waits(pleat, number)
    pleat.pleat("cancel", number, plain, check=0)
    assert waiting.wait() == 1 and re.search("ended before it was written|not running", waiting.stderr.read())
    pleat.wait_end(number)
    assert not os.path.exists(path)


def waits(pleat, number):
    """`pleat checkpoint --wait`, once it has set what Ctrl-C does."""
    process = pleat.popen("checkpoint", "--wait", number)

    def catches():
        with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
            caught = int(re.search(r"SigCgt:\s*(\w+)", file.read()).group(1), 16)
        return caught >> (signal.SIGALRM - 1) & 1
    wait_until(catches, "it waits")
    return process


@pytest.mark.parametrize("mpi", MPIS)
def test_a_file_that_is_refused(pleat, mpi):
    pleat.configure(LONG)
    number = heat(pleat, mpi, 2, "--pause", "20")
    computes(pleat, number, 2)
    path = pleat.path("c")
    checkpoint(pleat, number, "--stop", "--to", path)
    pleat.wait_end(number)
    with open(path, "rb") as file:
        good = file.read()

    def refused(*words, at_submission, why):
        done = pleat.pleat("submit", "--malleable", "-n", 2, "--from", path, "--", *words)
        if at_submission:
            assert done.returncode in (1, 2, 125) and re.search(why, done.stderr), done.stderr
            return
        job = pleat.wait_end(int(done.stdout))
        assert job["state"] == "failed" and "RESULT" not in pleat.output(job["job"])
        assert re.search(why, pleat.output(job["job"], "stderr")), pleat.output(job["job"], "stderr")

    refused(program("heat", mpi), "--n", "101", at_submission=False, why="'plate' is rows of 100 .* rows of 101")
    refused(program("loop", mpi), at_submission=False, why="of another program.*heat")
    for change, at_submission, why in (
            (lambda b: b[:5000] + bytes([b[5000] ^ 1]) + b[5001:], False, "checksum of 'plate'"),
            (lambda b: b[:300] + bytes([b[300] ^ 1]) + b[301:], True, "checksum of its head"),
            (lambda b: b[:-1], True, "its end is missing"),
            (lambda b: b"", True, "not a checkpoint"),
            (lambda b: b"#!/bin/sh\n" * 100, True, "not a checkpoint")):
        with open(path, "wb") as file:
            file.write(change(good))
        refused(program("heat", mpi), *HEAT, at_submission=at_submission, why=why)
        if at_submission or "plate" in why:
            assert pleat.pleat("checkpoint", "--verify", path).returncode == 1
    os.unlink(path)
    refused(program("heat", mpi), *HEAT, at_submission=True, why="there is no checkpoint")
    with open(path, "wb") as file:
        file.write(good)
    done = pleat.pleat("submit", "--from", path, "--", "true")
    assert done.returncode == 2 or "linked with libpleat" in done.stderr


def test_killed_while_it_writes(pleat):
    """What was there before is whole, and the next one takes the place of what was left."""
    pleat.configure(LONG)
    path = pleat.path("c")
    number = pleat.submit("--malleable", "-n", 2, "--", os.path.join(BUILD, "apps", "heat"), "--n", "3000",
                          "--iterations", "100000")
    computes(pleat, number, 2)
    checkpoint(pleat, number, "--to", path)
    assert pleat.pleat("checkpoint", "--verify", path).returncode == 0
    with open(path, "rb") as file:
        before = file.read(4096)
    pleat.pleat("checkpoint", "--to", path, number, check=0)
    wait_until(lambda: os.path.exists(path + ".part") or len(notes(pleat, number)) > 1, "it is being written")
    ranks = pleat.rank_pids(number, os.path.join(BUILD, "apps", "heat"))
    for pid in ranks:
        os.kill(pid, signal.SIGKILL)
    pleat.wait_end(number)
    wait_until(lambda: not any(map(is_alive, ranks)), "its ranks are gone")
    assert pleat.pleat("checkpoint", "--verify", path).returncode == 0
    with open(path, "rb") as file:
        assert file.read(4096) == before or len(notes(pleat, number)) > 1
    again = pleat.submit("--malleable", "-n", 3, "--from", path, "--", os.path.join(BUILD, "apps", "heat"), "--n", "3000",
                         "--iterations", "100000")
    computes(pleat, again, 3)
    checkpoint(pleat, again, "--to", path, "--stop")
    pleat.wait_end(again)
    assert not os.path.exists(path + ".part")


def test_a_script(pleat):
    """The program of a script that wrote it goes on; the script's other programs begin anew."""
    pleat.configure(LONG)
    script = pleat.path("script")
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\npleat launch {program('heat', 'openmpi')} --n 50 --iterations 20 || exit 1\n"
                   f"exec pleat launch {program('heat', 'openmpi')} {' '.join(HEAT)} --pause 20\n")
    os.chmod(script, 0o700)
    pleat.env["PATH"] = os.path.join(BUILD, "bin") + ":" + pleat.env["PATH"]
    number = pleat.submit("--malleable", "-n", 2, "--", script)
    wait_until(lambda: os.path.exists(pleat.path(f"jobs/{number}/stdout")) and "RESULT" in pleat.output(number),
               "the first program is done")
    path = pleat.path("c")
    wait_until(lambda: pleat.pleat("checkpoint", "--wait", "--to", path, number).returncode == 0, "it is written")
    shown = json.loads(pleat.pleat("checkpoint", "--show", path, "--json", check=0).stdout)
    assert shown["launch"] == 2
    pleat.pleat("cancel", number, check=0)
    pleat.wait_end(number)
    again = pleat.submit("--malleable", "-n", 3, "--from", path, "--", script)
    assert pleat.wait_end(again)["state"] == "done", pleat.output(again, "stderr")
    text = pleat.output(again)
    assert text.count("RESULT ok") == 2 and "sweeps=20 ranks=3" in text and "sweeps=200 ranks=3" in text


def script_of(pleat, name, *lines):
    path = pleat.path(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + "\n".join(lines) + "\n")
    os.chmod(path, 0o700)
    return path


@pytest.mark.parametrize("mpi", MPIS)
def test_nothing_goes_on_from_it(pleat, mpi):
    """A job to which a file is given that none of its programs takes has failed, and says so, whatever it computed."""
    pleat.configure(LONG)
    pleat.env["PATH"] = os.path.join(BUILD, "bin") + ":" + pleat.env["PATH"]
    short = f"pleat launch {program('heat', mpi)} --n 100 --iterations 20"
    both = script_of(pleat, "both", short + " || exit 1", f"pleat launch {program('heat', mpi)} {' '.join(HEAT)} --pause 20")
    number = pleat.submit("--malleable", "-n", 2, "--", both)
    path = pleat.path("c")
    wait_until(lambda: os.path.exists(pleat.path(f"jobs/{number}/stdout")) and "RESULT" in pleat.output(number),
               "the first program is done")
    wait_until(lambda: pleat.pleat("checkpoint", "--wait", "--to", path, number).returncode == 0, "it is written")
    pleat.pleat("cancel", number, check=0)
    pleat.wait_end(number)

    def ends(script, at=path):
        again = pleat.submit("--malleable", "-n", 2, "--from", at, "--", script)
        return pleat.wait_end(again), pleat.output(again)

    for script, launches in ((script_of(pleat, "one", short), 1), (script_of(pleat, "none", "true"), 0),
                             (script_of(pleat, "other", short, "pleat launch -n 1 true"), 1)):
        job, text = ends(script)
        assert (job["state"], job["exit_code"]) == ("failed", 125), job
        assert text.count("RESULT ok") == launches
        said = "number 2 of a script wrote" if launches else "no 'pleat launch' of the script went on"
        assert said in job["text"] and path in job["text"], job
    # a program that takes no number of a launch would take the same file as the next one
    plain = "mpirun" if mpi == "openmpi" else "mpiexec.hydra"
    job, text = ends(script_of(pleat, "plain", f"{plain} -n 1 {program('heat', mpi)} {' '.join(HEAT)}"))
    assert job["state"] == "failed" and "sweeps=200" in text and "no 'pleat launch'" in job["text"], (job, text)
    # a program that has no session
    job, _ = ends(program("ring", mpi))
    assert job["state"] == "failed" and "the program never went on from" in job["text"], job
    # jobs that end so soon that their start and their end are told at once
    for job in [pleat.submit("--malleable", "-n", 1, "--from", path, "--", pleat.path("none")) for _ in range(12)]:
        assert "no 'pleat launch'" in (pleat.wait_end(job)["text"] or ""), pleat.job(job)
    # a script that ends otherwise keeps its own reason
    job, _ = ends(script_of(pleat, "fails", short, "exit 3"))
    assert (job["state"], job["exit_code"]) == ("failed", 3), job


@pytest.mark.parametrize("mpi", MPIS)
def test_of_a_program_given_to_a_script(pleat, mpi):
    """It is the first program's; the second one, although it is the same, does not take it again."""
    pleat.configure(LONG)
    pleat.env["PATH"] = os.path.join(BUILD, "bin") + ":" + pleat.env["PATH"]
    number = heat(pleat, mpi, 2, "--pause", "20")
    computes(pleat, number, 2)
    wait_until(lambda: "42 of 200 sweeps" in pleat.output(number), "it is beyond its first sweeps")
    path = pleat.path("c")
    checkpoint(pleat, number, "--stop", "--to", path)
    pleat.wait_end(number)
    line = f"pleat launch {program('heat', mpi)} {' '.join(HEAT)}"
    again = pleat.submit("--malleable", "-n", 2, "--from", path, "--", script_of(pleat, "twice", line, line))
    assert pleat.wait_end(again)["state"] == "done", pleat.output(again, "stderr")
    text = pleat.output(again)
    assert text.count("RESULT ok sweeps=200") == 2 and text.count("42 of 200 sweeps") == 1, text


@pytest.mark.parametrize("mpi", MPIS)
def test_of_a_later_session(pleat, mpi):
    """A program that is started again begins in its first session: it never finds there what a later one had."""
    pleat.configure(LONG)
    path, words = pleat.path("c"), [os.path.join(BUILD, "tests", "test-app-twice-" + mpi), "--until", pleat.path("end")]
    number = pleat.submit("--malleable", "-n", 2, "--", *words, "--iterations", 100)
    computes(pleat, number, 2)
    checkpoint(pleat, number, "--to", path)
    wait_until(lambda: "BEGUN session=2" in pleat.output(number), "it is in its second session")
    said = checkpoint(pleat, number, check=1).stderr
    assert "finished a session before this one" in said, said
    if mpi == "mpich":  # it can change its size in no other way than by being started again
        pleat.pleat("shrink", "--wait", number, 1)
        assert "finished a session before this one" in str(pleat.call("events", job=number, after=0, limit=1000))
    open(pleat.path("end"), "w", encoding="utf-8").close()
    again = pleat.submit("--malleable", "-n", 2, "--from", path, "--", *words, "--iterations", 100)
    for each in (number, again):
        assert pleat.wait_end(each)["state"] == "done", (pleat.job(each), pleat.output(each, "stderr"))
    found = re.findall(r"^RESULT ok session=(\d) computed=(\d+) of (\d+)$", pleat.output(again), re.M)
    assert [one[0] for one in found] == ["1", "2"] and int(found[0][1]) < 100, found
    assert found[1][1:] == ("100", "100"), found


@pytest.mark.parametrize("name", ["arrays", "items"])
def test_data_of_all_kinds(pleat, name):
    """Arrays of all distributions, data of changing size and of the program's own: checked element by element."""
    pleat.configure(LONG)
    mpis = [mpi for mpi in ("openmpi", "mpich") if os.path.exists(os.path.join(BUILD, "tests", f"test-app-{name}-{mpi}"))]
    path = pleat.path("c")
    number = pleat.submit("--malleable", "-n", 3, "--env", "PLEAT_CHECK=sums", "--",
                          os.path.join(BUILD, "tests", f"test-app-{name}-openmpi"), "--iterations", 1000000)
    computes(pleat, number, 3)
    checkpoint(pleat, number, "--stop", "--to", path)
    pleat.wait_end(number)
    shown = json.loads(pleat.pleat("checkpoint", "--verify", path, "--json", check=0).stdout)
    assert shown["verified"] and {"array", "items"} & {one["kind"] for one in shown["entries"]}
    for mpi, size in zip(mpis, (5, 2)):
        again = pleat.submit("--malleable", "-n", size, "--from", path, "--env", "PLEAT_CHECK=sums", "--",
                             os.path.join(BUILD, "tests", f"test-app-{name}-{mpi}"),
                             "--iterations", shown["iteration"] + 10)
        assert pleat.wait_end(again)["state"] == "done", pleat.output(again, "stderr")
        assert "RESULT ok" in pleat.output(again) and f"ranks={size}" in pleat.output(again)
