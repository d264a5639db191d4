"""Followers of events that are slow, or stand still: no other client notices, and they get all events in the end."""

import io
import json
import sqlite3

from conftest import Client, wait_until

MANY, TEXT = 30000, "x" * 600  # 21 MB as they are sent: more than is kept for anybody who does not read
KB_MORE = 12 * 1024


def all_events(pleat):
    found, after = [], 0
    while True:
        answer = pleat.call("events", after=after, limit=1000)
        if not answer["events"]:
            return found
        found += answer["events"]
        after = answer["last"]


def take(peer, count):
    """The next `count` events of which the client is told."""
    with peer.socket.makefile("rb") as stream:  # nothing more is to come just now
        rest = io.BytesIO(peer.buffer)
        lines = list(rest)
        while len(lines) < count or not lines[-1].endswith(b"\n"):
            more = stream.readline()
            assert more, "the daemon closed the connection"
            if lines and not lines[-1].endswith(b"\n"):
                lines[-1] += more
            else:
                lines.append(more)
        assert len(lines) == count
        peer.buffer = b""
    messages = [json.loads(line) for line in lines]
    assert {message["method"] for message in messages} == {"event"}
    return [message["params"] for message in messages]


def memory_kb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def submit_and_wait(pleat, count):
    numbers = [pleat.submit("--", "true") for _ in range(count)]
    for number in numbers:
        pleat.wait_end(number)


def test_a_follower_that_stands_still(pleat):
    submit_and_wait(pleat, 1)
    pleat.pleat("stop", check=0)
    pleat.connection = None
    with sqlite3.connect(pleat.log) as log:
        last = log.execute("SELECT max(time_us) FROM note").fetchone()[0]
        log.executemany("INSERT INTO note (time_us, kind, job, component, data) VALUES (?, 'daemon', -1, -1, ?)",
                        ((last, json.dumps({"text": TEXT})) for _ in range(MANY)))
    log.close()
    pleat.pleat("info", check=0)
    pid = pleat.daemon_pid()
    before = memory_kb(pid)
    still = [Client(pleat.socket) for _ in range(2)]
    for one in still:
        assert one.call("follow", after=0) == {}
    submit_and_wait(pleat, 5)  # what happens meanwhile comes in its place
    assert memory_kb(pid) < before + KB_MORE
    expected = all_events(pleat)
    assert len(expected) > MANY
    got = take(still[0], len(expected))
    assert got == expected
    assert memory_kb(pid) < before + KB_MORE
    submit_and_wait(pleat, 1)  # from here on as it happens
    while (got[-1]["kind"], got[-1].get("to")) != ("state", "done"):
        got.append(still[0].read()["params"])
    assert [event["seq"] for event in got] == list(range(got[0]["seq"], got[0]["seq"] + len(got)))
    for one in still:
        one.close()
    wait_until(lambda: memory_kb(pid) < before + KB_MORE, "nothing is kept for whoever left")
