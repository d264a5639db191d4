"""Requests that cross what is just under way."""
import time

TRIES = 200


def test_cancelled_as_it_is_given_its_processors(pleat):
    """A job gets its processors and is cancelled in one turn: it is not started any more, and ends all the same. The
    moment is met by trying: the cancel is sent while the turn that asks for the processors is being written."""
    pleat.call("info")
    spec = {"argv": ["/bin/true"], "cwd": "/", "env": ["PATH=/bin"], "runner": "plain", "mpi": "none",
            "kind": "rigid", "min": 1, "max": 1, "initial": 0, "sizes": "any", "asks": False,
            "site": None, "estimate_s": 0, "hold": True}
    jobs = [pleat.call("submit", **spec)["job"] for _ in range(TRIES)]
    client = pleat.client()
    for i, job in enumerate(jobs):
        client.send({"id": 2 * i + 1000, "method": "release", "params": {"job": job}})
        time.sleep(i % 20 * 0.0003)
        client.send({"id": 2 * i + 1001, "method": "cancel", "params": {"job": job}})
        client.answer(2 * i + 1001)
    for job in jobs:
        pleat.wait_end(job)
    pleat.wait_free()
