"""What earlier runs of a program asked for, kept from run to run: the next one has it ready. What is said of buffers."""
import shutil

import pytest

from conftest import BUFFERED, CONFIG, Evolving, wait_until

PERIODIC = CONFIG + "buffer = periodic\nbuffer_level = 0\nbuffer_derived = 1\nbuffer_review_s = 1000\nbuffer_pending = 1\n"


def start(pleat, program, most):
    """A run with logs of its own."""
    shutil.rmtree(pleat.path("where"), ignore_errors=True)
    return Evolving(pleat, "--max", most, "--program", program)


def buffer_of(pleat, job):
    return pleat.job(job.job)["buffer"]


def ask_at_100(pleat, ready):
    """A run that asks for a process at iteration 100. Whether that is ready is what is tested."""
    job = start(pleat, "asks-at-100", 4)
    job.say(0, "iteration", iteration=97, mean_us=100000000)
    if ready:
        wait_until(lambda: buffer_of(pleat, job)["prepared"] == 1, "one is prepared in time")
    else:
        wait_until(lambda: pleat.job(job.job)["buffer"]["requests"] == 0, "it runs")
    job.say(0, "iteration", iteration=100, mean_us=100000000)
    assert job.add()["ready"] == ready
    wait_until(lambda: buffer_of(pleat, job)["requests"] == 1, "pleatd knows of the request")
    job.wait(1, "welcome", state="running" if not ready else "prepared")
    assert job.end()["state"] == "done"
    pleat.wait_free()
    assert buffer_of(pleat, job)["satisfied"] == ready
    return job


@pytest.mark.parametrize("policy", ["periodic-prediction", "combined"])
def test_the_second_run_has_at_once_what_the_first_one_waited_for(pleat, policy):
    pleat.configure(text=CONFIG + f"buffer = {policy}\nbuffer_level = 0\nbuffer_review_s = 1000\n")
    ask_at_100(pleat, False)
    known, = pleat.call("programs")["programs"]
    assert known["program"] == "asks-at-100"
    assert known["demand"]["asked"] == [{"iteration": 100, "requests": 1}]
    assert (known["demand"]["executions"], known["demand"]["most"], known["demand"]["satisfaction"]) == (1, 1, 0)
    assert known["demand"]["iteration_s"] == 100
    # also over a restart
    pleat.pleat("stop", check=0)
    pleat.connection = None
    ask_at_100(pleat, True)
    known, = pleat.call("programs")["programs"]
    assert (known["demand"]["executions"], known["demand"]["requests"], known["demand"]["satisfaction"]) == (2, 2, 0.5)
    table = pleat.pleat("history", "--program", "asks-*", check=0).stdout
    row = next(line for line in table.splitlines() if line.startswith("asks-at-100"))
    assert " 50.0 % " in row and "100: 1" in row, table
    # forgotten with the rest
    assert "1 forgotten" in pleat.pleat("history", "--program", "asks-at-100", "--clear", check=0).stdout
    assert pleat.call("programs")["programs"] == []
    job = ask_at_100(pleat, False)
    pleat.pleat("stop", check=0)
    pleat.connection = None
    # and the policies decide all of that again as they did
    said = pleat.pleat("sim", "--replay", pleat.log, check=0).stdout
    assert "the same" in said, said
    assert pleat.job(job.job)["state"] == "done"


@pytest.mark.parametrize("own", [0, 1])
def test_a_request_takes_what_is_on_its_way_or_has_its_own(pleat, own):
    # one process is prepared as the job begins, and no other one after that: the next review is far away
    pleat.configure(text=CONFIG.replace("processors = 8", "processors = 8 claim_delay_s = 2") +
                    f"buffer = periodic\nbuffer_level = 1\nbuffer_review_s = 1000\nbuffer_pending = 1\nbuffer_own = {own}\n")
    job = start(pleat, "asks", 4)
    assert not job.add()["ready"]
    shown = wait_until(lambda: buffer_of(pleat, job)["requests"] and buffer_of(pleat, job), "pleatd knows of the request")
    assert (shown["prepared"], shown["waiting"]) == (0, 1)
    wait_until(lambda: buffer_of(pleat, job)["coming"] == 1 + own, "there is one on its way, and with buffer_own another")
    job.wait(1, "welcome", state="running")
    wait_until(lambda: buffer_of(pleat, job)["prepared"] == own and buffer_of(pleat, job)["coming"] == 0, "the other one stays")
    assert job.end()["state"] == "done"


def test_one_that_fails_teaches_nothing(pleat):
    pleat.configure(text=CONFIG + "buffer = periodic-prediction\n")
    job = start(pleat, "fails", 4)
    job.add()
    job.size(2)
    assert job.end(3)["state"] == "failed"
    assert pleat.call("programs")["programs"] == []


def test_the_level_is_the_most_requests_in_a_row(pleat):
    pleat.configure(text=PERIODIC)
    first = start(pleat, "rows", 6)
    first.wait(0, "welcome")
    for _ in range(3):
        assert not first.add()["ready"]
    first.size(4)
    assert first.end()["state"] == "done"
    pleat.wait_free()
    second = start(pleat, "rows", 6)
    wait_until(lambda: buffer_of(pleat, second)["prepared"] == 3, "three are prepared from its start on")
    for process in (1, 2, 3):
        second.wait(process, "welcome")
        assert second.add()["ready"]
    second.size(4)
    assert second.end()["state"] == "done"
    pleat.wait_free()
    assert buffer_of(pleat, second)["satisfaction"] == 1
    # of another program nothing is known
    other = start(pleat, "others", 6)
    other.wait(0, "welcome")
    assert buffer_of(pleat, other)["prepared"] == buffer_of(pleat, other)["coming"] == 0
    assert other.end()["state"] == "done"


def buffer_why(pleat, job, **members):
    """Waits until `why` says that of the job's buffer; returns all that it says, and as text."""
    def there():
        found = pleat.call("why", job=job.job)["size"]["buffer"]
        return found if all(found[name] == value for name, value in members.items()) else None
    found = wait_until(there, f"why says {members}; it says {pleat.call('why', job=job.job)['size']['buffer']}")
    return found, " ".join(pleat.pleat("why", job.job, check=0).stdout.split())


def test_why_says_to_whom_a_prepared_processor_went(pleat):
    pleat.configure(text=BUFFERED)
    job = Evolving(pleat, "-n", 3, "--max", 8)
    job.wait(3, "welcome", state="prepared")
    found, text = buffer_why(pleat, job, prepared=1)
    assert (found["policy"], found["level"], found["reclaimed"], found["waits"]) == ("periodic", 1, 0, None)
    assert "its size is its program's" in text and "1 prepared, 0 coming; policy periodic, level 1" in text, text
    other = pleat.submit("-n", 5, "--", "sleep", "1000")
    pleat.wait_for(other, "running")
    found, text = buffer_why(pleat, job, reclaimed=1, prepared=0)
    assert found["reclaimed_for"] == other
    assert f"1 processor of its buffer went to jobs that waited, the last one to job {other} at" in text, text
    job.add()
    found, text = buffer_why(pleat, job, waiting=1, waits="none free")
    assert "1 waits: no processor is free" in text, text
    pleat.pleat("cancel", other, check=0)
    job.size(4)
    assert job.end()["state"] == "done"


def test_why_requests_wait_at_the_maximum(pleat):
    job = start(pleat, "small", 1)
    job.add()
    job.add()
    found, text = buffer_why(pleat, job, waiting=2, waits="maximum")
    assert (found["policy"], found["maximum"]) == ("none", 1)
    assert "nothing is prepared in advance (buffer policy none)" in text and "2 wait: it has its maximum, 1" in text, text
    assert job.end()["state"] == "done"


def test_why_what_earlier_runs_asked_for(pleat):
    pleat.configure(text=CONFIG + "buffer = periodic-prediction\nbuffer_level = 0\n")
    ask_at_100(pleat, False)
    job = start(pleat, "asks-at-100", 4)
    job.say(0, "iteration", iteration=97, mean_us=100000000)
    found, text = buffer_why(pleat, job, prepared=1)
    assert (found["executions"], found["from"], found["to"], found["expected"]) == (1, 98, 103, 1)
    assert "1 earlier run asked for 1 on average in iterations 98 to 103" in text, text
    assert job.end()["state"] == "done"
