#!/usr/bin/env python3
"""usage: standin.py --nodes N --cpus C --from FIRST [OPTION...]

An adapter of a Slurm cluster that is not there (docs/protocol.md, "Adapters"), for bench/cluster/scale.py: N nodes of C processors,
all of them somebody else's, so that each allocation waits in its queue. Answers come at once. Other options are ignored."""

import argparse
import json
import sys

REASONS = ("Resources", "Priority")


class Cluster:
    def __init__(self, options):
        self.options = options
        self.jobs = {}
        self.nodes = [{"name": f"n{options.first + i}", "cpus": options.cpus, "used": options.cpus, "state": "used",
                       "memory_mb": 4096, "load": 1.0} for i in range(options.nodes)]

    def cluster(self, _params):
        main = {"name": "main", "default": True, "up": True, "nodes": "all", "node_count": self.options.nodes,
                "cpus": self.options.nodes * self.options.cpus, "exclusive": False, "accounts": "", "groups": "", "qos": ""}
        return {"cluster": "standin", "version": "0", "partitions": [main]}

    def ask_nodes(self, _params):
        return {"nodes": self.nodes, "age_ms": 0}

    def allocate(self, params):
        number = len(self.jobs) + 1
        job = {"job": number, "name": f"{params['name']}.{number:08d}", "state": "pending", "nodes": [],
               "reason": REASONS[number > 1]}
        self.jobs[number] = job
        return job

    def release(self, params):
        return {"was_gone": self.jobs.pop(params["job"], None) is None}

    def ask_jobs(self, params):
        return {"jobs": [job for job in self.jobs.values() if job["name"].startswith(params["prefix"])]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--cpus", type=int, required=True)
    parser.add_argument("--from", dest="first", type=int, required=True)
    options, _ = parser.parse_known_args()
    cluster = Cluster(options)
    answers = {"cluster": cluster.cluster, "nodes": cluster.ask_nodes, "allocate": cluster.allocate,
               "release": cluster.release, "jobs": cluster.ask_jobs}

    def say(message):
        sys.stdout.write(json.dumps(message, separators=(",", ":")) + "\n")
        sys.stdout.flush()

    say({"method": "hello", "params": {"protocol": 1, "role": "slurm", "version": "0", "by": "commands"}})
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        if request["method"] in answers:
            say({"id": request["id"], "result": answers[request["method"]](request.get("params", {}))})
        else:
            say({"id": request["id"], "error": {"name": "invalid", "text": f"no {request['method']} here"}})


main()
