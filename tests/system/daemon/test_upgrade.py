"""Another version of pleatd over the log and the agent of this one, and back: nothing is taken for damage, jobs that
run go on, and what an older agent does not know is refused. The other versions are played: what the log says its writer
knew, and an agent whose features have other names."""

import os
import shutil
import sqlite3
import stat
import struct

import pytest

from conftest import BUILD, until_file, wait_until
from relaunching import program
from test_lost_specs import checksum
from test_nodes import divided, two_cpus
from test_spread import ends as spread_ends, on


def knows(pleat, text=None):
    """What the log says, and what it is to say. pleatd is not there."""
    with sqlite3.connect(pleat.log) as log:
        found = log.execute("SELECT value FROM meta WHERE key = 'knows'").fetchone()
        if text is not None:
            log.execute("INSERT OR REPLACE INTO meta VALUES ('knows', ?)", (text,))
    log.close()
    return found and found[0]


def words_with(text, name, more):
    words = text.split()
    at = words.index(name) + 1
    words[at] = str(int(words[at]) + more)
    return " ".join(words)


def ends(pleat):
    """pleatd ends; its jobs do not."""
    pleat.kill_daemon()
    pleat.connection = None


@pytest.mark.parametrize("newer", ["rules", "events", "parameters", "questions", "policies", "what is new"])
def test_an_older_pleatd_leaves_the_log_alone(pleat, newer):
    go = pleat.path("go")
    number = pleat.submit(*until_file(go))
    pleat.wait_for(number, "running")
    ends(pleat)
    own = knows(pleat)
    text = own + " novelties 1" if newer == "what is new" else words_with(own, newer, 1)
    knows(pleat, text)
    for _ in range(2):
        refused = pleat.pleat("ps")
        assert refused.returncode == 3 and "was written by a newer Pleat" in refused.stderr, refused.stderr
    assert knows(pleat, own) == text
    assert [name for name in os.listdir(pleat.dir) if "damaged" in name] == []
    assert pleat.job(number)["state"] == "running"
    open(go, "w", encoding="ascii").close()
    job = pleat.wait_end(number)
    assert (job["exit_code"], job["attempt"]) == (7, 0)


@pytest.mark.parametrize("before", [None, "events 1 rules 0", "", "events", "\x01 nonsense 3x 4"])
def test_a_newer_pleatd_goes_on_and_says_what_it_knows(pleat, before):
    number = pleat.submit("--", "true")
    pleat.wait_end(number)
    ends(pleat)
    own = knows(pleat)
    if before is None:
        with sqlite3.connect(pleat.log) as log:
            log.execute("DELETE FROM meta WHERE key = 'knows'")
        log.close()
    else:
        knows(pleat, before)
    assert pleat.job(number)["state"] == "done"
    ends(pleat)
    assert knows(pleat) == own


def old_agent(pleat, feature=b"cpus_per_task"):
    """A pleat-agent that does not know of a feature, which has another name there."""
    where = pleat.path("old/bin")
    os.makedirs(where)
    os.symlink(os.path.join(BUILD, "lib"), pleat.path("old/lib"))
    for name in os.listdir(os.path.join(BUILD, "bin")):
        os.symlink(os.path.join(BUILD, "bin", name), os.path.join(where, name))
    for name in "pleat", "pleatd", "pleat-agent":
        os.unlink(os.path.join(where, name))
        shutil.copy(os.path.join(BUILD, "bin", name), where)
    path = os.path.join(where, "pleat-agent")
    with open(path, "rb") as file:
        read = file.read()
    assert read.count(b"\0" + feature + b"\0") >= 1
    with open(path, "wb") as file:
        file.write(read.replace(b"\0" + feature + b"\0", b"\0" + feature.upper() + b"\0"))
    os.chmod(path, stat.S_IRWXU)
    return os.path.join(where, "pleat")


def test_a_newer_pleatd_with_an_older_agent(pleat):
    """The agent's jobs go on and end as ever, others are started by it; what it does not know is refused."""
    go = pleat.path("go")
    submit = pleat.popen("submit", *until_file(go), program=old_agent(pleat))
    number = int(submit.communicate()[0])
    wait_until(lambda: pleat.job_pids(number), "it runs")
    agent = pleat.agent_pid()
    ends(pleat)
    other = pleat.submit("--", "true")
    assert pleat.wait_end(other)["state"] == "done" and pleat.agent_pid() == agent
    refused = pleat.wait_end(pleat.submit("-n", 1, "-c", 2, "--", os.path.join(BUILD, "apps/ring")))
    said = " ".join(pleat.pleat("events", refused["job"], check=0).stdout.split())
    assert refused["state"] == "failed" and "the agent was started before Pleat was upgraded" in said, said
    assert pleat.job(number)["state"] == "running"
    open(go, "w", encoding="ascii").close()
    assert pleat.wait_end(number)["exit_code"] == 7
    pleat.pleat("stop", check=0)
    pleat.connection = None
    wait_until(lambda: not pleat.agent_pids(), "the older agent has ended with pleatd")


@two_cpus
def test_older_agents_have_one_part_at_a_time(pleat):
    """What such an agent has of a program on several nodes ends before the next of it starts there, and keeps the state."""
    divided(pleat, "apply_s = 60\nshrink_s = 60\nvacate_s = 60\nlifetime_s = 0\n")
    started = pleat.popen("submit", "--min", 3, "--max", 4, "--initial", 4, "--", program("loop", "openmpi"), "--pause", 2,
                          "--until", pleat.path("end"), program=old_agent(pleat, b"beside"))
    job = int(started.communicate()[0])
    on(pleat, job, "loop", [2, 2])
    for counts in ([2, 1], [2, 2]):
        pleat.pleat("limits", job, "--max", sum(counts), check=0)
        on(pleat, job, "loop", counts)
    shown = pleat.job(job)
    assert shown["attempt"] == 0 and [r["way"] for r in shown["history"]["resizes"]] == ["restart"] * 2, shown
    spread_ends(pleat, job)


def appended(pleat, *events):
    """The log as if these events had happened, too: (kind, component, the bytes of its union), as in src/model/event.h.
    pleatd is not there."""
    with sqlite3.connect(pleat.log) as log:
        seq, record = log.execute("SELECT seq, record FROM log ORDER BY seq DESC LIMIT 1").fetchone()
        for number, (kind, component, union) in enumerate(events, seq + 1):
            data = record[:8] + struct.pack("<HHI", kind, 0, component) + union.ljust(48, b"\0")
            log.execute("INSERT INTO log (seq, record, checksum) VALUES (?, ?, ?)", (number, data, checksum(number, data)))
    log.close()


def test_what_this_pleatd_does_not_carry_out(pleat):
    """The log of another Pleat has a job whose files are to be brought from another site. It fails with the name of what
    cannot be done, and does not wait for ever; others run."""
    pleat.call("site_add", site="store", options={"processors": "1"})
    number = pleat.submit("--hold", "--site", "local", "--", "true")
    ends(pleat)
    appended(pleat, (25, 0xffffffff, struct.pack("<qII", 1000, 1, 0)),  # LINK: 1000 bytes a second, from `store` to `local`
             (24, 0, struct.pack("<qII", 10 ** 9, 0, 1)))  # INPUT of the only component: a file at `store`
    assert pleat.job(number)["state"] == "queued"
    pleat.pleat("release", number, check=0)
    job = pleat.wait_end(number)
    said = " ".join(pleat.pleat("events", number, check=0).stdout.split())
    assert job["state"] == "failed" and "pleatd does not carry out 'stage' (effect 10)" in said, said
    assert pleat.wait_end(pleat.submit("--", "true"))["state"] == "done"
