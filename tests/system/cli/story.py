"""What a daemon would say of a small job mix: two malleable jobs that grow, are shrunk for a rigid one
that waits, and grow back."""

T0 = 1_700_000_000.0


def job(number, name, submit, start, end, **more):
    made = {
        "job": number, "name": name, "argv": ["/bin/" + name], "cwd": "/tmp", "runner": "malleable",
        "mpi": "openmpi", "kind": "malleable", "min": 2, "max": 8, "initial": 0, "sizes": "any",
        "asks": False, "site": "local", "estimate_s": 0.0,
        "priority": 0, "deadline_s": None, "begin_s": None, "state": "done", "reason": "exited",
        "processors": 0, "processes": 0, "target": 0, "submit_s": T0 + submit,
        "start_s": T0 + start, "end_s": T0 + end, "wait_s": start - submit, "run_s": end - start,
        "exit_code": 0, "signal": None, "attempt": 1, "slots": [], "grown": 0, "shrunk": 0,
        "failed_resizes": 0, "resize_s": 0.4, "progress": {"iteration": 120, "iteration_s": 0.05},
        "stdout": "/tmp/out", "stderr": "/tmp/err", "text": None}
    made.update(more)
    return made


def history(sizes, resizes):
    return {
        "sizes": [{"time_s": T0 + at, "processors": n} for at, n in sizes],
        "resizes": [{"resize": i + 1, "from": a, "to": b, "mandatory": b < a, "by": "policy",
                     "waiter": 3 if b < a else None, "outcome": "shrunk" if b < a else "grown",
                     "begun_s": T0 + at, "end_s": T0 + at + 0.4, "wait_s": 0.1,
                     "processes_s": 0.15, "redistribute_s": 0.02, "total_s": 0.3,
                     "bytes": 1048576} for i, (at, a, b) in enumerate(resizes)]}


JOBS = [
    job(1, "heat", 0, 0.3, 40, grown=2, shrunk=1,
        history=history([(0.3, 2), (2.5, 4), (12.6, 2), (31.5, 4)], [(1.5, 2, 4), (12, 4, 2), (31, 2, 4)])),
    job(2, "matmul <&\"x\">", 1, 1.3, 38, grown=1, shrunk=1,
        history=history([(1.3, 2), (3.5, 4), (13.2, 2)], [(3, 2, 4), (12, 4, 2)])),
    job(3, "rigid4", 12, 13.5, 30, kind="rigid", runner="mpi", min=4, max=4, wait_s=1.5,
        history=history([(13.5, 4)], [])),
    job(4, "late", 25, 35, 36, kind="rigid", runner="plain", min=1, max=1,
        state="failed", exit_code=3, progress=None, history=history([(35, 1)], [])),
]


def _events():
    seq = 0

    def event(at, number, kind, **more):
        nonlocal seq
        seq += 1
        return dict(seq=seq, time_s=T0 + at, kind=kind, job=number, **more)

    def slots(at, number, claim, purpose, state, first, count):
        pieces = [{"node": 0, "first": first, "count": count}] if state == "held" else []
        return event(at, number, "slots", claim=claim, purpose=purpose, state=state, count=count,
                     site="local", pieces=pieces)

    def state(at, number, was, now, reason=None):
        return event(at, number, "state", **{"from": was, "to": now, "reason": reason})

    return [
        event(0, None, "daemon", text="started"),
        state(0, 1, "new", "queued"),
        slots(0, 1, 1, "run", "requested", 0, 2), slots(0.1, 1, 1, "run", "held", 0, 2),
        state(0.3, 1, "claiming", "running"), event(0.3, 1, "size", processors=2),
        state(1, 2, "new", "queued"), slots(1.1, 2, 2, "run", "held", 2, 2),
        state(1.3, 2, "claiming", "running"), event(1.3, 2, "size", processors=2),
        slots(1.6, 1, 3, "growth", "held", 4, 2),
        event(1.6, 1, "resize", resize=1, step="granted", outcome=None, offered=4, accepted=4,
              mandatory=False, by="policy", waiter=None, **{"from": 2, "to": 4}),
        slots(2.5, 1, 3, "run", "held", 4, 2), event(2.5, 1, "size", processors=4),
        event(2.6, 1, "resize", resize=1, step="ended", outcome="grown", offered=4, accepted=4,
              mandatory=False, by="policy", waiter=None, total_s=0.3, wait_s=0.1, processes_s=0.15,
              redistribute_s=0.02, bytes=1048576, **{"from": 2, "to": 4}),
        slots(3.0, 2, 4, "growth", "held", 6, 2), slots(3.5, 2, 4, "run", "held", 6, 2),
        event(3.5, 2, "size", processors=4),
        state(12, 3, "new", "queued"),
        slots(12.6, 3, 3, "earmark", "held", 4, 2), event(12.6, 1, "size", processors=2),
        slots(13.2, 3, 4, "earmark", "held", 6, 2), event(13.2, 2, "size", processors=2),
        slots(13.3, 3, 3, "run", "held", 4, 2), slots(13.3, 3, 4, "run", "held", 6, 2),
        state(13.5, 3, "claiming", "running"), event(13.5, 3, "size", processors=4),
        state(25, 4, "new", "queued"),
        slots(30, 3, 3, "run", "releasing", 4, 2), slots(30, 3, 4, "run", "releasing", 6, 2),
        slots(30.2, 3, 3, "run", "free", 4, 2), slots(30.3, 3, 4, "run", "free", 6, 2),
        state(30.3, 3, "finishing", "done"),
        slots(31, 1, 5, "growth", "held", 4, 2), slots(31.5, 1, 5, "run", "held", 4, 2),
        event(31.5, 1, "size", processors=4),
        slots(34.9, 4, 6, "run", "held", 6, 1), state(35, 4, "claiming", "running"),
        slots(36, 4, 6, "run", "free", 6, 1), state(36, 4, "finishing", "failed", "exited"),
        slots(38, 2, 2, "run", "free", 2, 2), state(38, 2, "finishing", "done", "exited"),
        slots(40, 1, 1, "run", "free", 0, 2), slots(40, 1, 5, "run", "free", 4, 2),
        state(40, 1, "finishing", "done", "exited"),
    ]


EVENTS = _events()

SITES = {"sites": [{"name": "local", "processors": 8, "free": 8, "used": 0, "background": 0,
                    "threshold": 0, "oversubscribed": True, "cpus": 2}]}

NODES = {"sites": [
    {"name": "local", "kind": "local", "poll_s": 1.0, "ago_s": 0.2, "looking": False, "nodes": [
        {"name": "0", "processors": 8, "used": 3, "background": 1, "free": 4, "state": "ok"}]},
    {"name": "cluster", "kind": "slurm", "poll_s": 30.0, "ago_s": 12.0, "looking": False, "nodes": [
        {"name": "node-with-a-long-name-001.cluster.example.org", "processors": 128, "used": 0, "background": 64,
         "free": 64, "state": "ok"},
        {"name": "node-with-a-long-name-002.cluster.example.org", "processors": 128, "used": 0, "background": 0,
         "free": 0, "state": "reserved"}]},
    {"name": "far", "kind": "slurm", "poll_s": 30.0, "ago_s": None, "looking": False, "nodes": None}]}


def events(params, _connection):
    some = [e for e in EVENTS if e["seq"] > params.get("after", 0)]
    if "job" in params:
        some = [e for e in some if e["job"] == params["job"]]
    return {"events": some[:params.get("limit", 1000)], "last": EVENTS[-1]["seq"]}


def answers():
    return {"jobs": {"jobs": [{k: v for k, v in j.items() if k != "history"} for j in JOBS]},
            "job": lambda params, _: JOBS[params["job"] - 1], "sites": SITES, "nodes": NODES, "events": events}
