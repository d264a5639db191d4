"""docs/first-job-on-slurm.md: all of its commands, in one shell, by a new user who has no rights, on a real cluster."""

import json
import os
import pathlib
import re
import shlex
import signal

from clusters import wait_until
from clusters.world import USER

TOP = pathlib.Path(__file__).resolve().parents[3]
GUIDE = TOP / "docs/first-job-on-slurm.md"
HOME = f"/media/home/{USER}"


def blocks():
    return re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def built_sources(world):
    """The sources as somebody else has built them: what may be read of them, and a place for the list of files."""
    build = pathlib.Path(os.environ["PLEAT_BUILD"]).resolve()
    world.run("install", "-d", "-o", USER, f"{HOME}/source", f"{HOME}/source/build",
              f"{HOME}/source/build/packaging")
    script = (build / "cmake_install.cmake").read_text()
    # what installing writes into the directory of the build, which is not this user's
    for written in ("${CMAKE_INSTALL_MANIFEST}", "install_local_manifest.txt", "packaging/pleatd.service"):
        script = script.replace(f'"{build}/{written}"', f'"{HOME}/source/build/{written}"')
    world.path(f"{HOME}/source/build/cmake_install.cmake").write_text(script)


def script():
    """Each command is shown before it runs; each must succeed."""
    lines = ["set -e", f"cd {HOME}/source"]
    for block in blocks():
        for line in block.splitlines():
            lines += [f"echo {shlex.quote('$ ' + line)}", line]
    return "\n".join(lines) + "\n"


def a_second_cluster_comes_and_goes(head, env, slurm):
    """While pleatd runs, and is killed: with it its job ends well, and its allocation and its helper program are gone."""
    def pleat(*words, check=True):
        return head.run(f"{HOME}/pleat/bin/pleat", *words, user=USER, env=env, check=check).stdout

    def names():
        return [site["name"] for site in json.loads(pleat("sites", "--json"))["sites"]]

    pleat("site", "add", "second", "kind=slurm", f"conf={slurm.conf}")
    assert pleat("run", "--site", "second", "hostname") in ("b1\n", "b2\n")
    go = f"{HOME}/go"
    job = pleat("submit", "--site", "second", "--", "sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done").strip()
    wait_until(lambda: json.loads(pleat("show", job, "--json"))["state"] == "running", "it runs at the second cluster")
    # of each node: ours, others', free; asked when somebody looks, with the age of what is shown
    other = slurm.command("sbatch", "--parsable", "-N1", "-n3", "-w", "b2", "-o", "/dev/null",
                          text_in="#!/bin/sh\nsleep 100000\n").strip()
    wait_until(lambda: slurm.jobs().get(other) == "RUNNING", "somebody else has processors")

    def nodes():
        found = [site for site in json.loads(pleat("sites", "--nodes", "--json"))["sites"] if site["name"] == "second"]
        return {node["name"]: node for node in found[0]["nodes"] or []}, found[0]["ago_s"]

    wait_until(lambda: nodes()[0].get("b2", {}).get("background") == 3, f"others' processors are shown: {nodes()}")
    known, ago_s = nodes()
    assert ago_s is not None and sum(node["used"] for node in known.values()) == 1, known
    assert all(node["processors"] == 4 == node["used"] + node["background"] + node["free"] and node["state"] == "ok"
               for node in known.values()), known
    slurm.command("scancel", other)
    refused = head.run(f"{HOME}/pleat/bin/pleat", "site", "remove", "second", user=USER, env=env, check=False)
    assert refused.returncode == 1 and "--drain" in refused.stderr, refused
    pleat("site", "remove", "--drain", "second")
    [pid] = head.pids("pleatd")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: pid not in head.pids(), "pleatd is gone")
    assert names() == ["cluster", "second"] and slurm.jobs()
    head.run("touch", go, user=USER)
    wait_until(lambda: names() == ["cluster"], "the second cluster is removed")
    slurm.until_empty()
    assert json.loads(pleat("show", job, "--json"))["state"] == "done"
    wait_until(lambda: len(head.pids("pleat-slurm")) == 1, "the helper program of the second cluster is gone")
    state = f"{HOME}/.local/state/pleat"
    wait_until(lambda: not head.run("sh", "-c", f"ls {state} | grep agent-second || :").stdout, "its keys are gone")


def test_every_command_works_for_a_new_user(world, slurms):
    slurm = slurms[0]
    head = slurm.head
    assert len(blocks()) >= 7
    built_sources(world)
    env = {"HOME": HOME, "USER": USER, "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **slurm.env}
    done = head.run("bash", "-c", script(), user=USER, env=env, check=False, text_in="")
    said = done.stdout
    assert done.returncode == 0, (said, done.stderr)
    parts = dict(re.findall(r"^\$ ([^\n]*)\n(.*?)(?=^\$ |\Z)", said, re.DOTALL | re.MULTILINE))
    sites = parts["pleat sites"].splitlines()
    assert len(sites) == 2 and sites[1].startswith("cluster") and " command " in sites[1], sites
    assert parts["pleat run hostname"] in ("a1\n", "a2\n")
    [row] = [line for line in parts["pleat ps"].splitlines() if "first" in line]
    assert " running " in row, row
    # at first, and when it has grown
    listed = [text.splitlines() for text in re.findall(r"^\$ squeue --me\n(.*?)(?=^\$ |\Z)", said, re.DOTALL | re.MULTILINE)]
    assert [len(lines) for lines in listed] == [2, 3], listed
    events = parts["pleat events $job"]
    assert all(f"runs on {size} processor" in events for size in (1, 2, 6)), events
    assert "4 processors for run: releasing" in events, events
    slurm.until_empty()
    a_second_cluster_comes_and_goes(head, env, slurms[1])
    stop = head.run("bash", user=USER, env=env, text_in=f"{HOME}/pleat/bin/pleat stop --force", check=False)
    assert stop.returncode == 0, stop.stderr
    for host in (head, *slurm.nodes):
        wait_until(lambda host=host: not [pid for name in ("pleatd", "pleat-agent", "pleat-slurm", "heat")
                                          for pid in host.pids(name)], f"nothing of it on {host.name}")
