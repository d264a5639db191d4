"""Sites that come and go: pleatd killed between any two of its steps, and the log decided again."""

import os
import subprocess

from conftest import PLEATD, Client, Failure, Lost, loop, wait_until
from test_replay import replay

EXTRA = {"processors": "2", "background": "ignore"}


def sites(caller):
    return {site["name"]: site for site in caller.call("sites")["sites"]}


def reach(pleat):
    """A connection to a daemon that listens, else None; none is started."""
    try:
        return Client(pleat.socket)
    except (Lost, OSError):
        return None


def come_and_go(peer):
    """False: pleatd was killed meanwhile."""
    try:
        peer.call("site_add", site="extra", options=EXTRA)
        job = peer.call("submit", argv=["true"], cwd="/", env=["PATH=/usr/bin:/bin"],
                        min=1, max=1, kind="rigid", runner="plain", site="extra")["job"]
        peer.call("wait", job=job)
        peer.call("site_remove", site="extra", drain=True)
        wait_until(lambda: "extra" not in sites(peer), "the site is removed")
        return True
    except (Lost, OSError):
        return False


def files(pleat):
    return [name for name in os.listdir(pleat.dir) if name.startswith("agent-extra-")]


def test_killed_between_the_steps(pleat):
    """The site is there as it should be, or not there; it can be used, and removed."""
    seen, done = set(), False
    first = list(sites(pleat))
    pleat.kill_daemon()
    for step in range(1, 200):
        pleat.env["PLEAT_TEST_CRASH_AFTER"] = str(step)
        # agents inherit where it writes: nobody may wait for the end of that
        daemon = subprocess.Popen([PLEATD, "--dir", pleat.dir], env=pleat.env, cwd="/", stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        pleat.started.append(daemon)
        del pleat.env["PLEAT_TEST_CRASH_AFTER"]
        peer = wait_until(lambda: reach(pleat) or daemon.poll() is not None, "it ends, or listens")
        if isinstance(peer, Client):
            done = come_and_go(peer)
            peer.close()
        if daemon.poll() is None:
            daemon.kill()
        daemon.wait()
        left = sites(pleat)
        state = left["extra"]["state"] if "extra" in left else "absent"
        seen.add(state)
        assert list(left)[:len(first)] == first and state in ("absent", "ok", "leaving"), left
        if state == "ok":
            assert left["extra"]["processors"] == 2 and left["extra"]["from"] == "command"
            job = pleat.submit("--site", "extra", "--", "true")
            assert pleat.wait_end(job)["state"] == "done"
            wait_until(lambda: all(end for end in
                                   (j["end_s"] for j in pleat.call("jobs", all=True)["jobs"])), "all have ended")
            wait_until(lambda: sites(pleat)["extra"]["used"] == 0, "nothing is used there")
            pleat.call("site_remove", site="extra", drain=True)
        wait_until(lambda: "extra" not in sites(pleat), "the site is gone")
        wait_until(lambda: not files(pleat), "its files are gone")
        if done:
            break
        pleat.kill_daemon()
    assert done and {"absent", "ok"} <= seen, seen
    wait_until(lambda: len(pleat.agent_pids()) <= 1, "its agents are gone")


def test_the_same_decisions(pleat):
    """Sites that come and go and nodes that are drained are in the log, with what was decided by them."""
    pleat.call("site_add", site="two", options={"cpus": "0,0,0,0", "nodes": "2", "background": "ignore"})
    first = pleat.submit("--site", "two", *loop(smallest=1, more=["--initial", "1"], largest=2))
    wait_until(lambda: pleat.job(first)["processors"] == 2, "it has all of its node")
    nodes = {node["node"]: node["used"] for node in sites(pleat)["two"]["nodes"]}
    own = next(node for node, used in nodes.items() if used == 2)
    pleat.call("drain", site="two", node=1 - own)
    second = pleat.submit("--site", "two", "-n", "2", "--", "true")
    pleat.kill_daemon()
    assert pleat.job(second)["state"] == "queued" and pleat.job(first)["processors"] == 2
    pleat.call("undrain", site="two", node=1 - own)
    pleat.wait_end(second)
    try:
        pleat.call("site_remove", site="two")
        raise AssertionError("it has a job")
    except Failure:
        pass
    pleat.call("site_remove", site="two", drain=True)
    pleat.call("cancel", job=first)
    pleat.wait_end(first)
    wait_until(lambda: "two" not in sites(pleat), "it is removed")
    pleat.call("site_add", site="two", options=EXTRA)
    third = pleat.submit("--site", "two", "-n", "2", "--", "true")
    assert pleat.wait_end(third)["state"] == "done"
    code, text = replay(pleat)
    assert code == 0 and text.endswith("the same\n"), text
