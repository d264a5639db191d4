"""File systems, agents and daemons that do not answer: everything else goes on."""

import contextlib
import ctypes
import os
import shutil
import signal
import struct
import subprocess

import pytest

from conftest import CONFIG, LIMIT_S, PLEAT, Failure, breakable_agent, is_alive, until_file, wait_until, words_of

LIBC = ctypes.CDLL(None, use_errno=True)
INIT = 26  # of FUSE


@contextlib.contextmanager
def hung_file_system(place):
    """A FUSE file system that says hello and answers nothing that it is asked then, so that who asks cannot even be
    killed; afterwards it is gone, and who asked gets an error."""
    os.mkdir(place)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}".encode()
    if LIBC.mount(b"hung", place.encode(), b"fuse", 0, options):
        os.close(device)
        pytest.skip("FUSE cannot be mounted here")
    child = os.fork()
    if child == 0:
        while True:
            request = os.read(device, 1 << 20)
            _, opcode, unique = struct.unpack_from("IIQ", request)
            if opcode == INIT:
                body = struct.pack("IIIIHHIIHHIII", 7, 31, 65536, 0, 16, 12, 65536, 1, 0, 0, 0, 0, 0).ljust(64, b"\0")
                os.write(device, struct.pack("IiQ", 16 + len(body), 0, unique) + body)
    os.close(device)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        LIBC.umount2(place.encode(), 2)
        os.rmdir(place)


def spec(name, *argv, **more):
    return {"name": name, "argv": list(argv), "cwd": "/", "env": ["PATH=/usr/bin:/bin"], "runner": "plain", "mpi": "none",
            "kind": "rigid", "min": 1, "max": 1, **more}


@pytest.mark.skipif(os.geteuid() != 0 or not os.access("/dev/fuse", os.W_OK), reason="mounting takes root and FUSE")
def test_a_file_system_that_does_not_answer(pleat):
    pleat.configure("attempts = 1\nstart_s = 0.5\nkill_s = 0.5\n")
    place = pleat.path("hung")
    with contextlib.ExitStack() as readers, hung_file_system(place):
        hung = [pleat.call("submit", **spec(*each[0], **each[1]))["job"] for each in (
            (("directory", "true"), {"cwd": place}),
            (("output", "true"), {"output": f"{place}/out"}),
            (("input", "true"), {"input": f"{place}/in"}),
            (("program", f"{place}/program"), {}))]
        # commands that read what such a job writes say so, and neither hang nor let others wait
        once, follower = (readers.enter_context(pleat.popen(*words, hung[1])) for words in (["log"], ["log", "-f"]))
        for _ in range(3):  # the others are not disturbed, before those are given up and after
            job = pleat.call("submit", **spec("other", "sh", "-c", "exit 5"))["job"]
            assert pleat.wait_end(job)["exit_code"] == 5
        # some of them end when they are killed; those for which the kernel waits for an answer do not
        def stuck():
            return [each for each in hung
                    if "do not end although" in str(pleat.call("events", job=each, limit=1000)["events"])]
        wait_until(lambda: stuck() and all(each in stuck() or pleat.job(each)["state"] == "failed" for each in hung),
                   "each has ended, or is said to be stuck")
        assert all(pleat.job(each)["state"] == "finishing" for each in stuck())  # nobody gets their processors
        job = pleat.call("submit", **spec("other", "sh", "-c", "exit 6"))["job"]
        assert pleat.wait_end(job)["exit_code"] == 6
        out, err = once.communicate(timeout=LIMIT_S)
        assert (out, once.returncode) == ("", 1) and f"cannot read {place}/out" in err and "hangs" in err, err
        assert "waiting for it" in follower.stderr.readline()
        with open(f"/proc/{follower.pid}/task/{follower.pid}/children", encoding="ascii") as children:
            reader, = children.read().split()
        follower.kill()
    wait_until(lambda: not is_alive(int(reader)), "what read for one that was killed has ended")
    assert all(pleat.wait_end(each)["state"] == "failed" for each in hung)
    pleat.wait_free()


def test_what_is_no_file_is_not_read(pleat):
    """One that would never end, say."""
    number = pleat.call("submit", **spec("one", "echo", "x", output="/dev/zero", error="/dev/null"))["job"]
    pleat.wait_end(number)
    reading = pleat.popen("log", number)
    try:
        assert reading.stdout.read(1) == ""
        assert reading.wait(timeout=LIMIT_S) == 0
    finally:
        reading.kill()
        reading.wait()


def test_what_a_user_named_is_read_by_its_reader(pleat):
    """Not by pleatd: what is there, what comes, the end; also a file that is not there yet; no pipe."""
    go, file = pleat.path("go"), pleat.path("out-1")
    text = f'while [ ! -e {go} ]; do sleep 0.05; done; head -c 200000 /dev/zero; echo last'
    job = pleat.call("submit", **spec("one", "sh", "-c", f"echo first; {text}", output=pleat.path("out-%j"), error="/dev/null"))
    assert job["job"] == 1
    following = pleat.popen("log", "--follow", 1)
    assert following.stdout.readline() == "first\n"
    assert pleat.pleat("log", 1, check=0).stdout == "first\n"
    open(go, "w", encoding="ascii").close()
    out, err = following.communicate(timeout=LIMIT_S)
    assert (out, err, following.returncode) == ("\0" * 200000 + "last\n", "", 0)
    assert pleat.pleat("log", "--stderr", 1, check=0).stdout == ""
    with pytest.raises(Failure, match=f"writes its stdout to {file}, which pleatd does not read"):
        pleat.call("output", job=1)
    assert pleat.call("output", job=1, paths=True, offset=7) == {"path": file, "over": True, "offset": 7, "end": False}
    done = pleat.pleat("run", "--output", pleat.path("out-%j"), "--", "sh", "-c", "echo here; exit 3", check=3)
    assert done.stdout == "here\n"


def said(pleat, text):
    return [e for e in pleat.call("events", limit=4000)["events"] if e["kind"] == "daemon" and text in str(e)]


def test_a_stopped_agent_is_ended(pleat):
    pleat.configure("agent_answer_s = 1\n")
    job = pleat.submit("--min", 1, "--max", 1, *until_file(pleat.path("go")))
    pleat.wait_for(job, "running")
    agent = pleat.agent_pid()
    os.kill(agent, signal.SIGSTOP)
    wait_until(lambda: said(pleat, "did not answer, and is ended"), "it is said")
    wait_until(lambda: not is_alive(agent) and pleat.agent_pids(), "another agent")
    wait_until(lambda: pleat.job(job)["state"] == "running" and pleat.job(job)["attempt"] == 1, "the job runs again")
    # the same where a daemon finds one that is stopped: it knows it by its lock
    second = pleat.agent_pid()
    os.kill(second, signal.SIGSTOP)
    pleat.kill_daemon()
    wait_until(lambda: said(pleat, "did not answer, and is ended")[1:], "it is said again")
    wait_until(lambda: not is_alive(second), "it is gone")
    wait_until(lambda: pleat.job(job)["state"] == "running" and pleat.job(job)["attempt"] == 2, "the job runs again")
    open(pleat.path("go"), "w", encoding="ascii").close()
    assert pleat.wait_end(job)["exit_code"] == 7


def test_stop_force_ends_with_a_stopped_agent(pleat):
    pleat.configure("agent_answer_s = 0\n")
    job = pleat.submit("--min", 1, "--max", 1, "--", "sleep", "1000")
    pleat.wait_for(job, "running")
    pids = pleat.job_pids(job)
    os.kill(pleat.agent_pid(), signal.SIGSTOP)
    pleat.pleat("stop", "--force", check=0)
    assert pids and not [pid for pid in pids if is_alive(pid)]


def test_stop_force_ends_where_no_agent_can_be_started(pleat):
    """It says what is left, and the next daemon ends that."""
    pleat.configure()
    where = breakable_agent(pleat)
    submit = pleat.popen("submit", "--", "sleep", "300", program=str(where / "pleat"))
    job = int(submit.communicate()[0])
    pleat.wait_for(job, "running")
    (where / "broken").touch()
    os.kill(pleat.agent_pid(), signal.SIGKILL)
    wait_until((where / "tries").exists, "an agent has ended before it connected")
    pleat.connection.close()
    pleat.connection = None
    done = pleat.pleat("stop", "--force", check=1)
    assert "1 job was cancelled and not ended: no agent can be started" in done.stderr
    (where / "broken").unlink()
    assert pleat.wait_end(job)["state"] == "cancelled"
    assert pleat.job_pids() == []


def test_freezing_all_longer_than_every_deadline_loses_nothing(pleat):
    pleat.configure("agent_answer_s = 2\n")
    job = pleat.submit("--min", 1, "--max", 1, *until_file(pleat.path("go")))
    pleat.wait_for(job, "running")
    daemon, agent = pleat.daemon_pid(), pleat.agent_pid()
    main = next(pid for pid in pleat.job_pids(job) if "until-file" in words_of(pid))  # not what it starts to wait

    def freeze(*frozen):
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        subprocess.run(["sleep", "2.5"], check=True)  # longer than agent_answer_s, which is what is tested
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
        assert pleat.job(job)["state"] == "running" and pleat.job(job)["attempt"] == 0
    os.kill(main, signal.SIGSTOP)
    freeze(daemon)
    freeze(daemon, agent)
    assert pleat.job(job)["state"] == "running"
    os.kill(main, signal.SIGCONT)
    freeze(agent, daemon, main)
    open(pleat.path("go"), "w", encoding="ascii").close()
    assert pleat.wait_end(job)["exit_code"] == 7
    assert pleat.agent_pid() == agent and pleat.daemon_pid() == daemon


def test_a_socket_that_was_removed_comes_back(pleat):
    daemon = pleat.daemon_pid()
    os.unlink(pleat.socket)
    assert f'"pid": {daemon}' in pleat.pleat("info", "--json", check=0).stdout
    wait_until(lambda: os.path.exists(pleat.socket), "the socket")
    assert pleat.daemon_pid() == daemon


def test_another_runtime_directory_finds_the_same_daemon(tmp_path):
    """As over ssh or in cron; and one that was swept away, also for good."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PLEAT_", "XDG_"))}
    env |= {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    (tmp_path / "other").mkdir(mode=0o700)
    os.makedirs(tmp_path / "config" / "pleat")
    (tmp_path / "config" / "pleat" / "pleat.conf").write_text(CONFIG)

    def info(directory):
        done = subprocess.run([PLEAT, "info", "--json"], env=env | {"XDG_RUNTIME_DIR": str(directory)}, text=True,
                              capture_output=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, done.stderr
        return [line for line in done.stdout.split(",") if '"pid"' in line]

    first = info(runtime)
    try:
        assert info(tmp_path / "other") == first
        shutil.rmtree(runtime / "pleat")
        assert info(tmp_path / "other") == first
        wait_until(lambda: (runtime / "pleat" / "pleatd.sock").exists(), "the socket is there again")
        shutil.rmtree(runtime)
        runtime.write_text("no directory")
        wait_until(lambda: (tmp_path / "state" / "pleat" / "pleatd.sock").exists(), "it listens elsewhere")
        assert info(tmp_path / "other") == first
    finally:
        subprocess.run([PLEAT, "stop", "--force"], env=env | {"XDG_RUNTIME_DIR": str(tmp_path / "other")}, timeout=LIMIT_S,
                       check=True)


def test_pleat_run_goes_on_with_the_next_daemon(pleat):
    go, said = pleat.path("go"), 'echo one; echo other >&2; while [ ! -e "$1" ]; do sleep 0.05; done; echo two; exit 4'
    running = pleat.popen("run", "--", "sh", "-c", said, "run", go)
    wait_until(lambda: pleat.call("jobs", all=True)["jobs"], "the job")
    pleat.wait_for(1, "running")
    for _ in range(3):
        pleat.kill_daemon()  # the command starts another: nothing else does
        wait_until(pleat.listening, "a daemon")
        assert pleat.job(1)["state"] == "running"
    open(go, "w", encoding="ascii").close()
    out, err = running.communicate(timeout=LIMIT_S)
    assert (out, running.returncode) == ("one\ntwo\n", 4), err
    assert err == "other\n"


def test_a_submission_that_is_asked_again_is_one_job(pleat):
    one = pleat.call("submit", **spec("one", "true", token="first"))["job"]
    assert pleat.call("submit", **spec("one", "true", token="first", again=True))["job"] == one
    pleat.kill_daemon()
    assert pleat.call("submit", **spec("one", "true", token="first", again=True))["job"] == one
    two = pleat.call("submit", **spec("two", "true", token="second", again=True))["job"]
    assert two != one and pleat.wait_end(two)["state"] == "done"
    assert [job["job"] for job in pleat.call("jobs", all=True)["jobs"]] == [one, two]
    assert "token" not in pleat.job(one) and "again" not in pleat.job(two)


def test_an_array_that_is_asked_again_is_one_array(pleat):
    """However many tasks it has, and others came after it."""
    made = pleat.call("submit", **spec("many", "true", token="first", array="1-2500", hold=True))
    assert (made["job"], made["tasks"]) == (1, 2500)
    others = pleat.call("submit", **spec("others", "true", token="second", array="1-2500%7", hold=True))
    pleat.kill_daemon()
    for token, first in (("first", made), ("second", others)):
        assert pleat.call("submit", **spec("x", "true", token=token, array="1-2500", hold=True, again=True)) == first
    assert len(pleat.call("jobs", brief=True, limit=1, after=5000)["jobs"]) == 0
