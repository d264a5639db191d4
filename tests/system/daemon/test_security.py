"""What others on the machine can see and do, and what a wild process of the user's own can break:
docs/security.md."""

import json
import os
import pathlib
import re
import resource
import shutil
import socket
import stat
import subprocess
import tempfile

import pytest

from conftest import BUILD, PLEAT, Client, Failure, loop, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[3]
NOBODY = 65534
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")


def as_user(uid, work):
    """What work() returns (something JSON has) in a child that is that user."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(receiver)
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(sender, json.dumps(work()).encode())
        except BaseException as error:  # the child must not go on as a copy of the test
            os.write(sender, json.dumps({"raised": repr(error)}).encode())
        finally:
            os._exit(0)
    os.close(sender)
    with os.fdopen(receiver) as file:
        said = json.load(file)
    os.waitpid(child, 0)
    assert not (isinstance(said, dict) and "raised" in said), said
    return said


# ---- files


def things(*tops):
    for top in tops:
        yield top
        for folder, folders, files in os.walk(top):
            for name in folders + files:
                yield os.path.join(folder, name)


def open_to_others(*tops):
    """What others could read, write or enter, once the directories above let them."""
    return [path for path in things(*tops) if os.lstat(path).st_mode & 0o077]


@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_whatever_the_umask_files_are_the_users_alone(pleat, mask):
    """A daemon that is started, and jobs that are submitted, under a umask that hides nothing."""
    os.remove(pleat.path("pleat.conf"))  # which the test made
    before = os.umask(mask)
    try:
        pleat.pleat("run", "--", "echo", "secret", check=0)
        job = pleat.submit(*loop(largest=2, more=["--initial", "2"]))
    finally:
        os.umask(before)
    pleat.wait_ranks(job, 2)
    pleat.call("info")
    shared = [os.path.join("/dev/shm", name) for name in os.listdir("/dev/shm")
              if pleat.instance_id in name]
    assert shared  # where the ranks of a running job meet
    below = [path for path in open_to_others(pleat.dir) if path != pleat.dir]
    assert below == []
    assert [path for path in shared if stat.S_IMODE(os.lstat(path).st_mode) != 0o700] == []
    assert stat.S_ISSOCK(os.lstat(pleat.socket).st_mode)
    pleat.pleat("cancel", job, check=0)


@as_root
def test_another_user_reads_nothing(pleat):
    """Even where the directory itself was opened: not the log with its environments, not outputs, not
    the memory that a job shares with its agent."""
    pleat.env["SECRET"] = "do not tell"
    pleat.pleat("run", "--", "echo", "secret", check=0)
    job = pleat.submit(*loop(largest=1, more=["--max", "2", "--initial", "1"]))
    pleat.wait_for(job, "running")
    rank = wait_until(lambda: pleat.rank_pids(job), "a rank")[0]
    agent = pleat.agent_pid()
    os.chmod(pleat.dir, 0o711)
    os.remove(pleat.path("pleat.conf"))
    paths = [path for path in things(pleat.dir) if path != pleat.dir]
    paths += [f"/proc/{pid}/environ" for pid in (rank, agent, pleat.daemon_pid())]
    paths += [f"/proc/{agent}/fd/{number}" for number in os.listdir(f"/proc/{agent}/fd")]
    paths += [path for name in os.listdir("/dev/shm") if pleat.instance_id in name
              for path in [os.path.join("/dev/shm", name)]]
    assert len(paths) > 15

    def readable():
        found = []
        for path in paths:
            try:
                if os.path.isdir(path):
                    os.listdir(path)
                else:
                    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
                found.append(path)
            except OSError:
                pass
            if path == pleat.socket:
                try:
                    socket.socket(socket.AF_UNIX).connect(path)
                    found.append(path)
                except PermissionError:
                    pass
        return found

    assert as_user(NOBODY, readable) == []
    os.chmod(pleat.dir, 0o700)
    pleat.pleat("cancel", job, check=0)


# ---- who is at the other end


def scratch_of_a_run(pleat):
    done = pleat.pleat("run", "--", os.path.join(pleat.dir, "where"), check=0)
    return done.stdout.strip()


def test_nobody_can_be_first_in_a_scratch_directory(pleat):
    """Its name does not follow from what others see: the instance, in the agent's arguments, and numbers."""
    script = pathlib.Path(pleat.dir, "where")
    script.write_text("#!/bin/sh\necho $PLEAT_SCRATCH\n")
    script.chmod(0o700)
    names, instance = [], pleat.call("info")["instance"]
    for _ in range(3):
        names.append(scratch_of_a_run(pleat))
        assert re.fullmatch(rf"/dev/shm/pleat-{instance}-[0-9a-f]{{16}}\+local\+0\+", names[-1])
        assert not os.path.exists(names[-1])
    assert len(set(names)) == 3
    before = [int(name.removesuffix("+local+0+")[-16:], 16) for name in names]
    assert max(before) > 1 << 32  # no counter, and nothing that is near one
    squatted = [f"/dev/shm/pleat-{instance}-{number}{mark}" for number in range(20) for mark in ("", "+local+0+")]
    try:
        for path in squatted:
            os.mkdir(path)
            if os.getuid() == 0:
                os.chown(path, NOBODY, NOBODY)
        assert scratch_of_a_run(pleat) not in squatted
    finally:
        for path in squatted:
            if os.path.isdir(path):
                os.rmdir(path)


@as_root
def test_a_daemon_of_another_user_is_not_talked_to(tmp_path):
    """A socket in the right place with the wrong one behind it gets not even a greeting."""
    place = tempfile.mkdtemp(prefix="pl-", dir="/tmp")
    os.chown(place, NOBODY, NOBODY)
    path = os.path.join(place, "pleatd.sock")
    listener = socket.socket(socket.AF_UNIX)
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        listener.bind(path)
        listener.listen()
    finally:
        os.seteuid(0)
        os.setegid(0)
    os.chown(place, 0, 0)
    listener.settimeout(60)
    env = {**os.environ, "PLEAT_DIR": place}
    try:
        for words in ([PLEAT, "ps"], [PLEAT, "submit", "--", "env"]):
            done = subprocess.run(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True, timeout=60, check=False)
            assert done.returncode == 3 and f"is served by user {NOBODY}" in done.stderr, done
            accepted, _ = listener.accept()
            assert accepted.recv(100) == b""
            accepted.close()
        agent = subprocess.Popen([os.path.join(BUILD, "bin", "pleat-agent"), "--daemon", path,
                                  "--instance", "0123456789abcdef", "--site", "local", "--node", "0"],
                                 env=env, stderr=subprocess.DEVNULL)
        try:
            accepted, _ = listener.accept()
            accepted.settimeout(60)
            try:
                accepted.sendall(b'{"method":"hello","params":{"protocol":1,"role":"daemon"}}\n')
                assert accepted.recv(100) == b""
            except (BrokenPipeError, ConnectionResetError):
                pass
            accepted.close()
        finally:
            agent.kill()
            agent.wait()
    finally:
        listener.close()
        shutil.rmtree(place)


# ---- places that others can get at first


class Programs:
    """Copies that any user can run, and a user who has nothing but /tmp."""

    def __init__(self, uid):
        self.uid = uid
        self.dir = tempfile.mkdtemp(prefix="pl-", dir="/tmp")
        os.chmod(self.dir, 0o755)
        for name in ("pleat", "pleatd", "pleat-agent"):
            shutil.copy(os.path.join(BUILD, "bin", name), self.dir)
        self.fallback = f"/tmp/pleat-{uid}"

    def pleat(self, *words, **env):
        def work():
            done = subprocess.run([os.path.join(self.dir, "pleat"), *words], timeout=60, text=True, cwd="/",
                                  env={"PATH": "/usr/bin:/bin", **env}, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
            return [done.returncode, done.stdout, done.stderr]
        return as_user(self.uid, work)

    def clear(self):
        if os.path.islink(self.fallback) or os.path.isfile(self.fallback):
            os.remove(self.fallback)
        shutil.rmtree(self.fallback, ignore_errors=True)


@pytest.fixture
def stranger():
    uid = next(uid for uid in range(54321, 64321) if not os.path.lexists(f"/tmp/pleat-{uid}"))
    made = Programs(uid)
    try:
        yield made
        made.pleat("stop", "--force")
    finally:
        made.clear()
        shutil.rmtree(made.dir)


@as_root
def test_without_any_directory_of_his_own_a_user_gets_one_in_tmp(stranger):
    code, out, said = stranger.pleat("info", "--json")
    assert code == 0, said
    assert json.loads(out)["socket"] == stranger.fallback + "/pleatd.sock"
    assert stat.S_IMODE(os.stat(stranger.fallback).st_mode) == 0o700
    assert open_to_others(stranger.fallback) == []
    assert stranger.pleat("stop")[0] == 0


@as_root
@pytest.mark.parametrize("trap", ["anothers", "writable", "link", "file"])
def test_a_trap_in_tmp_is_not_stepped_into(stranger, trap):
    own = os.path.join(stranger.dir, "own")
    os.mkdir(own, 0o700)
    os.chown(own, stranger.uid, stranger.uid)
    if trap == "link":  # to a directory of the victim's own, made by somebody else
        os.symlink(own, stranger.fallback)
        os.lchown(stranger.fallback, NOBODY, NOBODY)
    elif trap == "file":
        pathlib.Path(stranger.fallback).touch()
    else:
        os.mkdir(stranger.fallback)
        owner = NOBODY if trap == "anothers" else stranger.uid
        os.chown(stranger.fallback, owner, owner)
        os.chmod(stranger.fallback, 0o777)
    code, _, said = stranger.pleat("ps")
    assert code == 3 and stranger.fallback in said, said
    assert os.listdir(own) == []
    assert trap in ("link", "file") or os.listdir(stranger.fallback) == []


@as_root
def test_what_somebody_else_configured_is_not_read(stranger):
    """HOME is not known, other directories are: only the configuration would come from /tmp."""
    os.mkdir(stranger.fallback)
    pathlib.Path(stranger.fallback, "pleat.conf").write_text("approach = pra\n")
    os.chown(stranger.fallback, NOBODY, NOBODY)
    own = os.path.join(stranger.dir, "own")
    os.mkdir(own, 0o700)
    os.chown(own, stranger.uid, stranger.uid)
    code, _, said = stranger.pleat("info", XDG_RUNTIME_DIR=own, XDG_STATE_HOME=own)
    assert code == 3 and f"{stranger.fallback} belongs to user {NOBODY}" in said, said


@as_root
def test_the_runtime_directory_of_another_user_is_ignored(stranger):
    """As it is left in the environment after su."""
    left = os.path.join(stranger.dir, "run")
    os.mkdir(left, 0o777)
    os.chown(left, NOBODY, NOBODY)
    os.chmod(left, 0o777)
    code, out, said = stranger.pleat("info", "--json", XDG_RUNTIME_DIR=left)
    assert code == 0, said
    assert json.loads(out)["socket"] == stranger.fallback + "/pleatd.sock"
    assert os.listdir(left) == []
    assert stranger.pleat("stop", XDG_RUNTIME_DIR=left)[0] == 0


# ---- what a job's environment can do


def test_a_jobs_environment_cannot_pretend_to_be_of_another_run(pleat):
    """All variables by which processes find their agent, their memory and their run are the agent's."""
    text = "".join(path.read_text() for folder in ("agent", "shm")
                   for path in (ROOT / "src" / folder).glob("*.h"))
    names = set(re.findall(r'#define \w+_ENV\s+(?:\\\n\s*)?"(\w+)"', text))
    assert {"PLEAT_RUN", "PLEAT_NODE", "PLEAT_AGENT_PID", "PLEAT_MAILBOX", "PLEAT_DOORBELL"} <= names
    for name in names:
        pleat.env[name] = "smuggled"
    seen = pleat.pleat("run", "--", "env", check=0).stdout
    assert "PLEAT_RUN=" in seen and "smuggled" not in seen


# ---- one of the user's own processes runs wild


def peak_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def test_ten_thousand_connections(pleat):
    """Most are turned away with the reason; others are served all the time, and memory stays small."""
    pid = pleat.daemon_pid()
    other = Client(pleat.socket)
    code = """if True:
        import resource, socket, sys
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        kept, refused = [], 0
        for count in range(10000):
            peer = socket.socket(socket.AF_UNIX)
            peer.settimeout(60)
            peer.connect(sys.argv[1])
            line = peer.recv(65536)
            if b"has 128 connections" in line:
                refused += 1
                peer.close()
            else:
                kept.append(peer)
        print(len(kept), refused, flush=True)
        sys.stdin.read()
    """
    wild = subprocess.Popen(["python3", "-c", code, pleat.socket], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    try:
        said = wild.stdout.readline().split()
        assert said == ["128", "9872"]
        assert other.call("info")["pid"] == pid
        assert pleat.pleat("run", "--", "echo", "served", check=0).stdout == "served\n"
        assert peak_kb(pid) < 100 << 10
        assert len(os.listdir(f"/proc/{pid}/fd")) < 200
    finally:
        wild.stdin.close()
        wild.stdout.close()
        wild.wait()
    wait_until(lambda: len(os.listdir(f"/proc/{pid}/fd")) < 60, "they are forgotten")


def test_without_descriptors_the_daemon_goes_on(pleat):
    """Many processes, each with as many connections as it may have, and few descriptors for the daemon."""
    pid = pleat.daemon_pid()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (64, 64))
    peers = []
    for _ in range(100):
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(10)
        try:
            peer.connect(pleat.socket)
            peers.append(peer)
        except OSError:
            peer.close()
    for peer in peers:
        peer.close()
    wait_until(lambda: len(os.listdir(f"/proc/{pid}/fd")) < 40, "they are forgotten")
    assert pleat.pleat("run", "--", "echo", "served", check=0).stdout == "served\n"
    assert pleat.daemon_pid() == pid


def test_too_much_of_anything_is_refused(pleat):
    """A specification beyond a line of the protocol, a configuration beyond all reason."""
    done = pleat.pleat("submit", "--", "true", *["x" * 100000] * 11)
    assert done.returncode == 1 and done.stdout == "" and done.stderr.startswith("pleat: "), done
    spec = {"name": "n", "argv": ["true"], "cwd": "/", "env": [], "runner": "plain", "mpi": "none",
            "kind": "rigid", "min": 1, "max": 1, "initial": 0, "sizes": "any", "asks": False, "site": None,
            "estimate_s": 0}
    for member in ("name", "cwd", "site", "sizes", "runner"):
        with pytest.raises(Failure):
            pleat.call("submit", **{**spec, member: "x" * 500000})
    with pytest.raises(Failure, match="arguments have .* bytes"):
        pleat.call("submit", **{**spec, "argv": ["true", "\n" * 300000]})
    assert pleat.call("jobs")["jobs"] == []
    big = pleat.path("big.conf")
    with open(big, "w", encoding="ascii") as file:
        file.write("# nothing\n" * 200000)
    done = subprocess.run([os.path.join(BUILD, "bin", "pleatd"), "--config", big, "--check"],
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "more than 1048576 bytes" in done.stderr
    done = subprocess.run([os.path.join(BUILD, "bin", "pleatd"), "--config", "/dev/zero", "--check"],
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "more than 1048576 bytes" in done.stderr


def test_jobs_with_many_arguments_do_not_hide_the_others(pleat):
    """Each is about half an answer: they come in pages."""
    jobs = [pleat.submit("--", "sh", "-c", "sleep 1000", *["x" * 100000] * 5) for _ in range(3)]
    listed = json.loads(pleat.pleat("ps", "--json", check=0).stdout)["jobs"]
    assert [job["job"] for job in listed] == jobs
    assert pleat.pleat("show", jobs[0], check=0).stdout
