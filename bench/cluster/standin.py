#!/usr/bin/env python3
"""usage: standin.py --nodes N --cpus C --from FIRST [--gives G] [--starts FILE] [OPTION...]

An adapter of a Slurm cluster that is not there (docs/protocol.md, "Adapters"), for bench/cluster/scale.py and tests: N nodes of C
processors, all of them somebody else's, so that each allocation waits in its queue, but for G at a time, which are given. Their
agents run on this machine; each start adds a line to FILE. Answers come at once. Other options are ignored."""

import argparse
import json
import os
import select
import subprocess
import sys

INVALID = -3  # PLEAT_E_INVALID
NODES_OF_ANSWER = 500
REASONS = ("Resources", "Priority")


class Cluster:
    def __init__(self, options):
        self.options = options
        self.jobs = {}
        self.count = 0
        self.agents = {}  # of each job that has been given
        self.nodes = [{"name": f"n{options.first + i}", "cpus": options.cpus, "used": options.cpus, "state": "used",
                       "memory_mb": 4096, "load": 1.0} for i in range(options.nodes)]

    def cluster(self, _params):
        main = {"name": "main", "default": True, "up": True, "nodes": "all", "node_count": self.options.nodes,
                "cpus": self.options.nodes * self.options.cpus, "exclusive": False, "accounts": "", "groups": "", "qos": ""}
        return {"cluster": "standin", "version": "0", "partitions": [main]}

    def ask_nodes(self, params):
        """A part of them, as of pleat-slurm (PLEAT_ADAPTER_NODES)."""
        first = params.get("from", 0)
        end = first + NODES_OF_ANSWER
        return {"nodes": self.nodes[first:end], "age_ms": 0} | ({"next": end} if end < len(self.nodes) else {})

    def allocate(self, params):
        self.count += 1
        number = self.count
        job = {"job": number, "name": f"{params['name']}.{number:08d}", "state": "pending", "nodes": [],
               "reason": REASONS[number > 1]}
        if sum(job["state"] == "running" for job in self.jobs.values()) < self.options.gives:
            node = self.nodes[number % len(self.nodes)]["name"]
            job |= {"state": "running", "nodes": [{"name": node, "cpus": params["count"]}]}
        self.jobs[number] = job
        return job

    def check(self, _params):
        return {}

    def run(self, params):
        """The agent of a job, as srun would start it on the job's node."""
        agent = subprocess.Popen(params["argv"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True)  # pylint: disable=consider-using-with
        with agent.stdin:
            agent.stdin.write(params["input"].encode())
        self.agents[params["job"]] = (agent, params["node"])
        if self.options.starts:
            with open(self.options.starts, "a", encoding="ascii") as file:
                print(params["job"], file=file)
        return {"pid": agent.pid}

    def release(self, params):
        agent, _ = self.agents.pop(params["job"], (None, None))
        if agent and agent.poll() is None:
            agent.terminate()
            agent.wait()
        return {"was_gone": self.jobs.pop(params["job"], None) is None}

    def ended(self):
        """Agents that have ended by themselves, as srun would tell it: a busy machine may let them call too late."""
        for job, (agent, node) in list(self.agents.items()):
            if agent.poll() is not None:
                del self.agents[job]
                yield {"job": job, "node": node, "code": max(agent.returncode, 0), "signal": max(-agent.returncode, 0), "text": ""}

    def ask_jobs(self, params):
        return {"jobs": [job for job in self.jobs.values() if job["name"].startswith(params["prefix"])]}


def lines():
    """Of the standard input, until its end; None where none has come for a second."""
    read = b""
    while True:
        if not select.select([0], [], [], 1)[0]:
            yield None
            continue
        more = os.read(0, 1 << 20)
        if not more:
            return
        *whole, read = (read + more).split(b"\n")
        yield from whole


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--cpus", type=int, required=True)
    parser.add_argument("--from", dest="first", type=int, required=True)
    parser.add_argument("--gives", type=int, default=0)
    parser.add_argument("--starts")
    options, _ = parser.parse_known_args()
    cluster = Cluster(options)
    answers = {"cluster": cluster.cluster, "nodes": cluster.ask_nodes, "allocate": cluster.allocate, "run": cluster.run, "check": cluster.check,
               "release": cluster.release, "jobs": cluster.ask_jobs}

    def say(message):
        sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
        sys.stdout.flush()

    say({"method": "hello", "params": {"protocol": 1, "role": "slurm", "version": "0", "by": "commands"}})
    for line in lines():
        for how in cluster.ended():
            say({"method": "run_ended", "params": how})
        request = json.loads(line or "{}")
        if "id" not in request:
            continue
        if request["method"] in answers:
            say({"id": request["id"], "result": answers[request["method"]](request.get("params", {}))})
        else:
            say({"id": request["id"], "error": {"code": INVALID, "name": "invalid", "text": f"no {request['method']} here"}})


main()
