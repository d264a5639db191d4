"""What the tests of chaos share: a private instance as in the tests of the daemon, a client that does not
give up, programs that write down when they begin and end, and what must be true of all of that."""

import collections
import contextlib
import importlib.util
import json
import os
import signal
import sys
import time

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


daemon_tests = _load("daemon_tests", os.path.join(HERE, "../daemon/conftest.py"))
from daemon_tests import *  # noqa: E402,F401,F403
from daemon_tests import BUILD, FINAL, Client, Failure, Instance, Lost, is_alive, pids_with, wait_until, words_of  # noqa: E402

RANKS = os.path.join(BUILD, "tests", "agent-ranks")

# Writes a line when it begins and one when it ends. While any process of a run has its descriptor of the lock, the
# next run of the same job finds it taken: then somebody runs twice. In a warm relaunch a run has a second generation for a
# while, known by a mailbox of its own: it takes the lock when the first one has gone. Who has the lock stands in a file,
# since of a process that is ending nothing can be read any more. $1: the file; then the program. A launcher may have given
# the program descriptors of its own, and says so in PMI_FD.
DIARY = r'''
file=$1; shift; rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}
fd=9; [ "${PMI_FD:-}" = 9 ] && fd=8
eval "exec $fd>>\"\$file.lock$rank\""
who() { echo "|PLEAT_RUN=$PLEAT_RUN|${PLEAT_MAILBOX:+PLEAT_MAILBOX=$PLEAT_MAILBOX|}" >"$file.who$rank"; }
if flock -n $fd; then who; else for open in /proc/[0-9]*/fd/[89]; do
  other=${open%/fd/*}
  [ "$open" -ef "$file.lock$rank" ] && [ $other != /proc/$$ ] || continue
  for attempt in 1 2 3; do # what reads it may be killed
    its="|$(cat $other/environ 2>/dev/null | tr '\0' '|')"
    case "$its" in *"|PLEAT_RUN="*) break ;; esac
  done
  case "$its" in *"|PLEAT_RUN="*) ;; *) its=$(cat "$file.who$rank" 2>/dev/null) ;; esac # it is ending
  case "$its" in
    *"|PLEAT_MAILBOX=$PLEAT_MAILBOX|"*) ;;
    *"|PLEAT_RUN=$PLEAT_RUN|"*) [ "${PLEAT_MAILBOX:-}" ] && { [ "$later" ] || { flock $fd; who; } & later=1; continue; } ;;
  esac
  echo "overlap $PLEAT_RUN with $(cat $other/stat $other/cmdline | tr '\0' ' ')" >>"$file"
done; fi
read up rest </proc/uptime; [ "$rank" = 0 ] && echo "begin $PLEAT_RUN $up $$" >>"$file"
"$@"; code=$?
read up rest </proc/uptime; [ "$rank" = 0 ] && echo "end $PLEAT_RUN $up $code $$" >>"$file"
exit $code
'''


def uptime():
    """What the diary writes: seconds since the machine was started."""
    with open("/proc/uptime", encoding="ascii") as file:
        return float(file.read().split()[0])


def diary(path, *words):
    return ["sh", "-c", DIARY, "diary", path, *map(str, words)]


class Diary:
    """What the program of a job wrote."""

    def __init__(self, path):
        self.begun, self.ended, self.overlaps = [], {}, []
        self.ends = []  # all of them: two generations of a run may end in any order
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                for line in file:
                    words = line.split()
                    if words[0] == "begin":
                        self.begun.append((words[1], float(words[2])))
                    elif words[0] == "end":
                        self.ends.append((words[1], float(words[2]), int(words[3])))
                        self.ended[words[1]] = int(words[3])
                    else:
                        self.overlaps.append(line)

    @property
    def successes(self):
        return [run for run, code in self.ended.items() if code == 0]

    def __repr__(self):
        return f"begun {self.begun} ended {self.ends}, {self.overlaps}"


class Stubborn:
    """Calls the daemon of an instance; starts another one when it dies, and asks again."""

    def __init__(self, instance):
        self.instance = instance
        self.client = None
        self.lost = 0  # how often an answer did not come
        self.crash_again = False  # or only the first daemon has crash points

    def connect(self):
        end = time.monotonic() + 60
        while True:
            try:
                self.client = Client(self.instance.socket)
                self.instance.instance_id = self.client.greeting["instance"]
                return
            except (OSError, Lost):
                assert time.monotonic() < end, "no daemon answers"
                self.instance.pleat("info")  # starts one where none runs; it may die at once
                self.forget_crash()

    def call(self, method, **params):
        while True:
            try:
                if self.client is None:
                    self.connect()
                return self.client.call(method, **params)
            except (Lost, OSError):
                self.lost += 1
                self.close()
                self.forget_crash()

    def forget_crash(self):
        if not self.crash_again:
            self.instance.env.pop("PLEAT_TEST_CRASH_AFTER", None)

    def close(self):
        if self.client is not None:
            self.client.close()
        self.client = None

    def submit(self, name, argv, least=1, most=None, **more):
        """The job's number. A submission whose answer was lost is looked for, and repeated only if it is not there."""
        most = least if most is None else most
        spec = dict(name=name, argv=argv, cwd="/", env=[f"{k}={v}" for k, v in self.instance.env.items()],
                    runner="plain", mpi="none", kind="rigid" if least == most else "malleable", min=least,
                    max=most, initial=0, sizes="any", asks=False, site=None, estimate_s=0)
        spec.update(more)
        while True:
            before = self.lost
            try:
                if self.client is None:
                    self.connect()
                return self.client.call("submit", **spec)["job"]
            except (Lost, OSError):
                self.lost += 1
                self.close()
                self.forget_crash()
            there = [job["job"] for job in self.call("jobs", all=True)["jobs"] if job["name"] == name]
            assert len(there) <= 1, there
            if there:
                return there[0]
            assert self.lost > before

    def job(self, number):
        return self.call("job", job=number)

    def try_call(self, method, **params):
        """As call; what the daemon says against a repeated request is not an error."""
        before = self.lost
        try:
            return self.call(method, **params)
        except Failure as failure:
            if self.lost == before:
                raise
            return failure

    def wait(self, number, what, condition, limit_s=20):
        def there():
            job = self.job(number)
            return job if condition(job) else None
        return wait_until(there, f"job {number}: {what}", limit_s)

    def wait_end(self, number, limit_s=20):
        return self.wait(number, "its end", lambda job: job["state"] in FINAL, limit_s)


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


def holders(directory):
    """Living processes that have a file of that directory open, or work in it."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        if int(name) == os.getpid():
            continue
        try:
            links = [os.readlink(f"/proc/{name}/cwd")]
            links += [os.readlink(f"/proc/{name}/fd/{fd}") for fd in os.listdir(f"/proc/{name}/fd")]
        except OSError:
            continue
        if any(link == directory or link.startswith(directory + "/") for link in links):
            found.append(int(name))
    return [pid for pid in found if is_alive(pid)]


def shared_memory():
    return set(os.listdir("/dev/shm"))


def check_slots(jobs):
    """No processor is two jobs'."""
    owner = {}
    for job in jobs:
        for piece in job["slots"]:
            for slot in range(piece["first"], piece["first"] + piece["count"]):
                key = (job["site"], piece["node"], slot)
                assert key not in owner, f"processor {key} is job {job['job']}'s and job {owner[key]}'s"
                owner[key] = job["job"]
    return owner


def check_nothing_left(instance, stubborn, processors=8):
    """All jobs are over: no process of theirs, no memory, no directory, no processor is in use."""
    wait_until(lambda: stubborn.call("sites")["sites"][0]["free"] == processors, "all processors are free")
    assert stubborn.call("sites")["sites"][0]["used"] == 0
    wait_until(lambda: not instance.job_pids_left(stubborn), "no process of a job is left", 20)
    mine = stubborn.client.greeting["instance"]
    wait_until(lambda: not [n for n in shared_memory() if mine in n], "no shared memory is left", 20)


class ChaosInstance(Instance):
    def job_pids_left(self, stubborn):
        mark = f"PLEAT_RUN={stubborn.client.greeting['instance']}:".encode()
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read() and is_alive(int(name)):
                        found.append(int(name))
            except OSError:
                pass
        return found

    def state_of_all(self, stubborn):
        """For the message of a test that fails."""
        lines = []
        for job in stubborn.call("jobs", all=True)["jobs"]:
            job = stubborn.job(job["job"])
            for stream in ("stdout", "stderr"):
                if os.path.exists(job[stream]):
                    with open(job[stream], encoding="utf-8", errors="replace") as file:
                        job[stream] = file.read()[-2000:]
            job.pop("argv")
            lines.append(json.dumps(job))
        return "\n".join(lines)

    def finish(self):
        super().finish()
        wait_until(lambda: not holders(self.dir),
                   f"nobody holds anything of {self.dir}: {[(p, words_of(p)) for p in holders(self.dir)]}", 20)


@contextlib.contextmanager
def chaos_instance(conf=None):
    """One, with that text in pleat.conf, which is ended well at the end; if it is not, its log is printed."""
    instance = ChaosInstance()
    if conf:
        instance.configure(conf)
    try:
        yield instance
        instance.finish()
    except BaseException:
        with open(instance.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
            print(file.read()[-20000:])
        raise
    finally:
        instance.clean()


def counted(states):
    return dict(collections.Counter(states))


def touch(path):
    with open(path, "w", encoding="ascii"):
        pass


@pytest.fixture
def pleat():  # in place of the one that came with daemon_tests
    with chaos_instance() as instance:
        yield instance
