"""How often programs are started: each start is written down by the program itself, and must be in the log,
whatever is killed meanwhile. Starts that the node cannot do, and agents that end before they connect."""

import concurrent.futures
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile

import pytest

from conftest import BUILD, FINAL, Instance, Lost, agents_with, is_alive, parent_of, pids_with, wait_until

UNKNOWN = "its agent died: it may have been started"


def marker(path, then):
    """A line for each start, on the disk before anything else happens."""
    return ["--", "sh", "-c", f'echo "$PLEAT_RUN" >> {path}; {then}']


def starts_logged(events):
    """Runs that began, and those of which nobody knows."""
    began = [e for e in events if e["kind"] == "state" and e["to"] == "running" and e["from"] == "claiming"]
    unknown = [e for e in events if e["kind"] == "state" and e["to"] == "finishing" and e["reason"] == UNKNOWN]
    return len(began) + len(unknown)


def markers(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return file.read().split()


def persistent(instance, ask):
    """The answer, whatever dies on the way."""
    def answer():
        try:
            return ask()
        except (Lost, OSError):
            instance.connection = None
            instance.pleat("info")  # starts the next daemon
            return None
    return wait_until(answer, "a daemon answers")


def settled(instance, number):
    """The job's end, and its events."""
    def end():
        job = persistent(instance, lambda: instance.job(number))
        return job if job["state"] in FINAL else None
    job = wait_until(end, f"the end of job {number}")
    return job, persistent(instance, lambda: instance.call("events", job=number, after=0, limit=1000))["events"]


KILL_AGENT = "kill -9 ${PLEAT_AGENT_PID%:*}; sleep 1000"


def check_counts(instance, number, path, attempts):
    job, events = settled(instance, number)
    wrote = markers(path)
    assert len(wrote) == len(set(wrote)), "a run was started twice"
    assert len(wrote) <= starts_logged(events) <= attempts, (wrote, job, events)
    return job, wrote


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_program_that_kills_its_agent(pleat, attempts):
    pleat.configure(f"attempts = {attempts}")
    path = pleat.path("marks")
    job, wrote = check_counts(pleat, pleat.submit(*marker(path, KILL_AGENT)), path, attempts)
    assert job["state"] == "failed" and job["attempt"] == attempts - 1
    assert len(wrote) == attempts


def test_at_most_once(pleat):
    path, script = pleat.path("marks"), pleat.path("job.sh")
    number = pleat.submit("--no-requeue", *marker(path, KILL_AGENT))
    job, wrote = check_counts(pleat, number, path, 1)
    assert job["state"] == "failed" and job["attempt"] == 0 and len(wrote) == 1
    with open(script, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\n#PLEAT --no-requeue\necho "$PLEAT_RUN" >> {path}.script\n{KILL_AGENT}\n')
    os.chmod(script, 0o700)
    job, wrote = check_counts(pleat, pleat.submit(script), path + ".script", 1)
    assert job["state"] == "failed" and len(wrote) == 1


def die_at(step):
    """Whether the daemon got that far."""
    instance = Instance()
    try:
        instance.configure("attempts = 2")
        path = instance.path("marks")
        instance.env["PLEAT_TEST_CRASH_AFTER"] = str(step)
        done = instance.pleat("submit", *marker(path, KILL_AGENT))
        instance.env.pop("PLEAT_TEST_CRASH_AFTER")
        if done.returncode and not persistent(instance, lambda: instance.call("jobs", all=True))["jobs"]:
            instance.submit(*marker(path, KILL_AGENT))  # it died before it had it
        check_counts(instance, 1, path, 2)
        with open(instance.path("pleatd.log"), encoding="utf-8", errors="replace") as file:
            reached = "crash point reached" in file.read()
        instance.finish()
        return reached
    finally:
        instance.clean()


def test_agent_and_daemon_die_at_every_step_of_a_start():
    """The program kills its agent, and the daemon dies at its n-th step: before and after the commit, the request to
    the agent, the word that it runs. They wait for each other's processes most of the time."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        reached = list(pool.map(die_at, range(1, 13)))
    assert sum(reached) > 6, "the daemon does not die any more: this says nothing"


def test_a_node_that_cannot_start_programs_for_a_while(pleat):
    """The agent has no descriptors left: nothing is failed for that, and all goes on by itself."""
    pleat.configure("pause_s = 0.1\npause_max_s = 0.5\nattempts = 1")
    first = pleat.submit("--", "sleep", "1000")
    pleat.wait_for(first, "running")
    agent = pleat.agent_pid()
    soft, hard = resource.prlimit(agent, resource.RLIMIT_NOFILE)
    resource.prlimit(agent, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{agent}/fd")), hard))
    numbers = [pleat.submit("--", "true") for _ in range(12)]

    def failed():
        return pleat.call("sites")["sites"][0]["failed_starts"] >= 14
    wait_until(failed, "starts fail")
    assert not [pleat.job(n) for n in numbers if pleat.job(n)["state"] in FINAL]
    wait_until(lambda: pleat.call("sites")["sites"][0]["state"] == "paused", "the site is paused")
    wait_until(lambda: any("could not start it" in str(pleat.job(n)["reason"]) for n in numbers), "it is said")
    wait_until(lambda: any(pleat.call("why", job=n).get("waiting") and
                           pleat.call("why", job=n)["waiting"]["code"] == "paused" for n in numbers), "why says it")
    resource.prlimit(agent, resource.RLIMIT_NOFILE, (soft, hard))
    for number in numbers:
        job = pleat.wait_end(number)
        assert (job["state"], job["exit_code"], job["attempt"]) == ("done", 0, 0), job
    assert pleat.call("sites")["sites"][0]["state"] == "ok"
    pleat.call("cancel", job=first)
    pleat.wait_end(first)


class Somebody:
    """A user of this machine that nobody else is, with a Pleat of his own: limits on processes do not
    hold for root."""

    def __init__(self, configuration):
        self.uid = next(uid for uid in range(52345, 60000)
                        if subprocess.run(["pgrep", "-U", str(uid)], stdout=subprocess.DEVNULL, check=False).returncode)
        self.place = tempfile.mkdtemp(prefix="pl-", dir="/tmp")
        self.state = os.path.join(self.place, "state")
        for name in ("pleat", "pleatd", "pleat-agent"):
            shutil.copy(os.path.join(BUILD, "bin", name), self.place)
        os.mkdir(self.state, 0o700)
        with open(os.path.join(self.state, "pleat.conf"), "w", encoding="ascii") as file:
            file.write(configuration)
        for path in (self.place, self.state, os.path.join(self.state, "pleat.conf")):
            os.chown(path, self.uid, self.uid)

    def run(self, *words):
        return subprocess.run(["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups",
                               *map(str, words)], timeout=60, text=True, cwd=self.place, check=True,
                              env={"PATH": "/usr/bin:/bin", "PLEAT_DIR": self.state}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE).stdout

    def pleat(self, *words):
        return self.run(os.path.join(self.place, "pleat"), *words)

    def may_have(self, pid, processes):
        """His soft limit, which he may raise again."""
        self.run("prlimit", f"--pid={pid}", f"--nproc={processes}:")

    def site(self):
        return json.loads(self.pleat("sites", "--json"))["sites"][0]

    def agent(self):
        found = agents_with(f"PLEAT_DIR={self.state}")
        return found[0] if found else None

    def end(self):
        self.pleat("stop", "--force")
        wait_until(lambda: not pids_with(f"PLEAT_DIR={self.state}"), "nothing of his is left")

    def clean(self):
        for pid in pids_with(f"PLEAT_DIR={self.state}"):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.place)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_user_who_may_have_no_more_processes():
    """RLIMIT_NPROC: a fork says EAGAIN. That is nobody's fault and does not last."""
    user = Somebody('site "local" { processors = 8 }\npause_s = 0.1\npause_max_s = 0.3\nattempts = 1\n')
    try:
        first = user.pleat("submit", "--", "sleep", 1000).strip()
        wait_until(lambda: json.loads(user.pleat("show", "--json", first))["state"] == "running", "the first runs")
        agent = user.agent()  # not before: what becomes its guard has the name of an agent at first
        user.may_have(agent, 1)
        numbers = [user.pleat("submit", "--", "true").strip() for _ in range(20)]
        wait_until(lambda: user.site()["failed_starts"] >= 5, "starts fail")
        assert json.loads(user.pleat("why", "--json", numbers[0]))["waiting"]["code"] == "paused"
        assert {job["state"] for job in json.loads(user.pleat("ps", "--all", "--json"))["jobs"]} <= {
            "running", "queued", "placed", "claiming"}
        hard = user.run("prlimit", f"--pid={agent}", "--nproc", "--output=HARD", "--noheadings").strip()
        user.may_have(agent, hard)
        user.pleat("wait", *numbers)  # 0: all are done
        states = {str(job["job"]): (job["state"], job["attempt"])
                  for job in json.loads(user.pleat("ps", "--all", "--json"))["jobs"]}
        assert [states[number] for number in numbers] == 20 * [("done", 0)]
        user.pleat("cancel", first)
        user.end()
    finally:
        user.clean()


def test_an_agent_that_ends_before_it_connects(pleat):
    """That is noticed when it happens, not when it should have connected."""
    where = pleat.path("bin")
    os.mkdir(where)
    for name in ("pleat", "pleatd"):
        shutil.copy(os.path.join(BUILD, "bin", name), where)
    with open(os.path.join(where, "pleat-agent"), "w", encoding="ascii") as file:
        file.write(f"""#!/bin/sh
echo x >> {where}/tries
[ $(wc -l < {where}/tries) -gt 2 ] || exit 1
exec {BUILD}/bin/pleat-agent "$@"
""")
    os.chmod(os.path.join(where, "pleat-agent"), 0o700)
    submit = pleat.popen("submit", "--", "true", program=os.path.join(where, "pleat"))
    number = int(submit.communicate()[0])
    job = pleat.wait_end(number)
    assert (job["state"], job["attempt"]) == ("done", 0)
    with open(pleat.path("pleatd.log"), encoding="utf-8") as file:
        said = file.read()
    assert said.count("before it connected") == 2 and "has not connected" not in said


def test_cancelled_while_no_agent_comes(pleat):
    where = pleat.path("bin")
    os.mkdir(where)
    for name in ("pleat", "pleatd"):
        shutil.copy(os.path.join(BUILD, "bin", name), where)
    os.symlink("/bin/false", os.path.join(where, "pleat-agent"))
    submit = pleat.popen("submit", "--", "true", program=os.path.join(where, "pleat"))
    number = int(submit.communicate()[0])
    pleat.wait_for(number, "claiming")
    pleat.call("cancel", job=number)
    assert pleat.wait_end(number)["state"] == "cancelled"
    pleat.wait_free()


def test_stopped_while_its_agent_starts(pleat):
    """An agent that has not called yet is not left behind, to look for its daemon."""
    where = pleat.path("bin")
    os.mkdir(where)
    for name in ("pleat", "pleatd"):
        shutil.copy(os.path.join(BUILD, "bin", name), where)
    with open(os.path.join(where, "pleat-agent"), "w", encoding="ascii") as file:
        file.write(f"""#!/bin/sh
echo $$ > {where}/started.new
mv {where}/started.new {where}/started
sleep 1
exec {BUILD}/bin/pleat-agent "$@"
""")
    os.chmod(os.path.join(where, "pleat-agent"), 0o700)
    pleat.popen("submit", "--", "true", program=os.path.join(where, "pleat")).communicate()
    wait_until(lambda: os.path.exists(os.path.join(where, "started")), "the agent is started")
    with open(os.path.join(where, "started"), encoding="ascii") as file:
        agent = int(file.read())
    stop = pleat.popen("stop", "--force", program=os.path.join(where, "pleat"))
    stop.communicate()
    assert stop.returncode == 0
    wait_until(lambda: not os.path.exists(f"/proc/{agent}"), "the agent ends")
    with open(pleat.path("pleatd.log"), encoding="utf-8") as file:
        assert "no daemon and nothing to do" not in file.read()


def test_stopped_while_its_agent_ends(pleat):
    """Whoever sees 'pleat stop' end may remove the directory: nothing writes there any more."""
    pleat.wait_end(pleat.submit("true"))
    with open(pleat.path("agent-local-0.lock"), encoding="ascii") as file:
        agent = int(file.read().split()[0])
    guard = parent_of(agent)
    os.kill(guard, signal.SIGSTOP)
    try:
        stop = pleat.popen("stop")
        wait_until(lambda: not is_alive(agent), "the agent has ended")
        with pytest.raises(subprocess.TimeoutExpired):
            stop.communicate(timeout=0.3)
    finally:
        os.kill(guard, signal.SIGCONT)
    stop.communicate()
    assert stop.returncode == 0
    assert not is_alive(guard)
